//! The properties of a topology as data.

use fsin_core::topology::{Capacities, Survey, Topology};
use serde_json::{Map, Value, json};

/// \[nodes\] Largest network that is surveyed: that takes gigabytes of memory.
const MOST_NODES: usize = 1 << 24;

/// The properties of a topology, by the names of `fsin topology --format json`.
#[must_use]
pub fn surveyed(topology: &dyn Topology) -> Map<String, Value> {
    surveyed_with(topology, &Capacities::of(topology))
}

/// The same with these capacities of links.
#[must_use]
pub fn surveyed_with(topology: &dyn Topology, capacities: &Capacities) -> Map<String, Value> {
    let survey = Survey::with(topology, capacities);
    let figures = json!({
        "schema": 1,
        "topology": topology.spec(),
        "ways": topology.ways(),
        "nodes": survey.nodes,
        "switches": survey.switches,
        "links": survey.links,
        "degree_min": survey.degree_min,
        "degree_max": survey.degree_max,
        "diameter_hops": survey.diameter,
        "distance_mean_hops": survey.distance_mean,
        "distances_counted_from": survey.counted,
        "pairs": survey.pairs(),
        "hops_all_pairs": survey.hops(),
        "all_to_all_link_load_mean": survey.exchange_load(),
        "middle_links": survey.middle_links,
        "uniform_load_bound_phits_per_node_cycle": survey.uniform_load_bound,
    });
    let Value::Object(figures) = figures else { return Map::new() };
    figures
}

/// Refuses a network that is too large for [`surveyed`].
///
/// # Errors
/// What is wrong, and the remedy.
pub fn check_size(topology: &dyn Topology) -> Result<(), (String, String)> {
    let nodes = topology.nodes();
    if nodes > MOST_NODES {
        let what = format!("the {nodes} nodes of {} are too many to be counted", topology.spec());
        return Err((what, format!("use at most {MOST_NODES} nodes")));
    }
    Ok(())
}
