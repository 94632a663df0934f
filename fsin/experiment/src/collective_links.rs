//! Bounds of the collectives of a run: the rates of their nodes, and the load of the links between these.
//!
//! # How the model departs from reality, and who could notice
//! Loads of links are those of the whole run, so a link that several collectives use at different times has the load of
//! all of them. Links between the nodes of a group are those on shortest paths over links that carried packets, so a
//! detour around a dead link counts, and the dead link does not.
//!
//! Decision: docs/decisions/0502-what-bounds-collectives.md.

use std::collections::HashMap;

use trgen::NodeId;
use trgen::trace::timeline::CollectiveRecord;

use super::resolve::Experiment;
use fsin_core::family::capacities;
use fsin_core::topology::{Capacities, Topology, node_name};

/// Maximum number of steps of the search for links between nodes, for each group: a node times a link. Larger groups
/// have no such link.
const MOST_STEPS: usize = 1 << 28;

/// Bounds of a collective.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Confines {
    /// \[bytes/ns\] Mean rate at which the nodes of its ranks send; `None` where ranks share a node, and where it is
    /// not known.
    pub rate: Option<f64>,
    /// The link with the highest load on paths between its nodes: its name, and the share of the run in which it
    /// carried packets; `None` if links were not counted, or are too many.
    pub fullest: Option<(String, f64)>,
}

/// A directed link that carried packets.
struct Link {
    from: usize,
    to: usize,
    /// Share of its capacity over the run.
    load: f64,
}

/// The bounds of each of these collectives. `places` has the node of each rank, `crossings` the packets by router and
/// port, which may be empty, of a run of `cycles`.
pub(super) fn confines(
    experiment: &Experiment,
    records: &[CollectiveRecord],
    places: &[NodeId],
    crossings: &[u64],
    cycles: u64,
) -> Vec<Confines> {
    let (Some(topology), false) = (experiment.topology(), records.is_empty() || places.is_empty()) else {
        return vec![Confines::default(); records.len()];
    };
    let capacities = capacities(&*experiment.network, &**topology);
    let is_counted = !crossings.is_empty() && cycles > 0 && experiment.network.packets_are_payload();
    let links = if is_counted { carrying(experiment, &capacities, crossings, cycles) } else { Vec::new() };
    let rates = rates(experiment, &capacities);
    let mut known: HashMap<Vec<usize>, Confines> = HashMap::new();
    let mut of = |record: &CollectiveRecord| {
        let nodes = record.parts.iter().filter_map(|part| places.get(part.rank as usize));
        let mut nodes: Vec<usize> = nodes.map(|node| node.index()).collect();
        nodes.sort_unstable();
        let confine = |nodes: &Vec<usize>| {
            let alone = nodes.windows(2).all(|pair| pair[0] != pair[1]) && nodes.len() == record.size as usize;
            let sum = rates.as_ref().filter(|_| alone).map(|rates| nodes.iter().map(|&node| rates[node]).sum::<f64>());
            let fullest = fullest_between(&links, topology.nodes(), nodes).map(|link| {
                (format!("{} to {}", named(&**topology, link.from), named(&**topology, link.to)), link.load)
            });
            Confines { rate: sum.map(|sum| sum / nodes.len().max(1) as f64), fullest }
        };
        known.entry(nodes).or_insert_with_key(confine).clone()
    };
    records.iter().map(&mut of).collect()
}

/// The name of a router for readers; without a name, its kind and number.
fn named(topology: &dyn Topology, router: usize) -> String {
    let name = node_name(topology, NodeId::at(router));
    match name.parse::<usize>() {
        Ok(number) if router < topology.endpoints() => format!("node {number}"),
        Ok(number) => format!("switch {number}"),
        Err(_) => name,
    }
}

/// \[bytes/ns\] By endpoint: the rate at which it sends.
fn rates(experiment: &Experiment, capacities: &Capacities) -> Option<Vec<f64>> {
    let rates = experiment.network.rates()?;
    let bytes = experiment.units.packet_bytes() as f64 / f64::from(experiment.units.packet_phits);
    let bytes_per_ns = bytes / (experiment.cycle_seconds * 1e9);
    let of = |(node, own): (usize, &f64)| own.min(capacities.of_node(node).sum::<f64>() * rates.link) * bytes_per_ns;
    Some(rates.injection.iter().enumerate().map(of).collect())
}

/// The links that carried packets.
fn carrying(experiment: &Experiment, capacities: &Capacities, crossings: &[u64], cycles: u64) -> Vec<Link> {
    let Some(topology) = experiment.topology() else { return Vec::new() };
    let outputs = topology.outputs();
    let mut links = Vec::new();
    for from in 0..topology.nodes() {
        let ports = topology.ports_of(NodeId::at(from));
        let present = ports.filter_map(|port| Some((port, topology.neighbour(NodeId::at(from), port)?.index())));
        for ((port, to), parts) in present.zip(capacities.of_node(from)) {
            let packets = crossings.get(outputs.at(from, port.index())).copied().unwrap_or(0);
            if packets > 0 && parts > 0.0 {
                let load = packets as f64 * experiment.load_of_a_packet() / (cycles as f64 * parts);
                links.push(Link { from, to, load });
            }
        }
    }
    links
}

/// The link with the highest load on shortest paths between these nodes; the first of several.
fn fullest_between<'a>(links: &'a [Link], routers: usize, nodes: &[usize]) -> Option<&'a Link> {
    if nodes.len().saturating_mul(links.len()) > MOST_STEPS {
        return None;
    }
    let mut leaving = vec![Vec::new(); routers];
    let mut entering = vec![Vec::new(); routers];
    for (number, link) in links.iter().enumerate() {
        leaving[link.from].push(link.to);
        entering[link.to].push((number, link.from));
    }
    let mut is_between = vec![false; links.len()];
    for &start in nodes {
        // Routers by their distance from the start. From the farthest on, each that leads to a node of the group
        // passes that on to those before it.
        let (order, distances) = hops(&leaving, start);
        let mut leads = vec![false; routers];
        nodes.iter().for_each(|&node| leads[node] = true);
        for &at in order.iter().rev().filter(|&&at| at != start) {
            if !leads[at] {
                continue;
            }
            for &(number, before) in &entering[at] {
                if distances[before].is_some_and(|distance| Some(distance + 1) == distances[at]) {
                    is_between[number] = true;
                    leads[before] = true;
                }
            }
        }
    }
    let between = links.iter().zip(&is_between).filter(|(_, is_between)| **is_between).map(|(link, _)| link);
    between.reduce(|most, one| if one.load > most.load { one } else { most })
}

/// The routers that can be reached from `start`, by distance; and by router its distance, `None` if it is not reached.
fn hops(leaving: &[Vec<usize>], start: usize) -> (Vec<usize>, Vec<Option<u32>>) {
    let mut distances = vec![None; leaving.len()];
    distances[start] = Some(0);
    let (mut order, mut at) = (vec![start], 0);
    while let Some(&router) = order.get(at) {
        at += 1;
        let next_distance = distances[router].map(|distance| distance + 1);
        for &next in &leaving[router] {
            if distances[next].is_none() {
                distances[next] = next_distance;
                order.push(next);
            }
        }
    }
    (order, distances)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_link_is_one_between_the_nodes() {
        // A ring of six: 0 and 2 are two hops apart, and the fullest link of all is on the other side.
        let link = |from: usize, to: usize, load| Link { from, to, load };
        let links = [
            link(0, 1, 0.2),
            link(1, 2, 0.3),
            link(2, 3, 0.5),
            link(3, 4, 0.9),
            link(4, 5, 0.1),
            link(5, 0, 0.1),
            link(2, 1, 0.1),
            link(1, 0, 0.1),
        ];
        let fullest = |nodes: &[usize]| fullest_between(&links, 6, nodes).map(|link| (link.from, link.to));
        assert_eq!(fullest(&[0, 2]), Some((1, 2)));
        assert_eq!(fullest(&[0, 1]), Some((0, 1)));
        assert_eq!(fullest(&[2, 4]), Some((3, 4)));
        assert_eq!(fullest(&[3]), None, "nothing is between a node and itself");
        assert_eq!(fullest_between(&[], 6, &[0, 2]).map(|link| link.from), None);
    }
}
