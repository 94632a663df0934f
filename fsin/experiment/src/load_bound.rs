//! Upper bound of the load that a network can carry under the pattern of an experiment, whatever its routing.
//!
//! Three capacities bound it: that of the links, or of the ejection port, through which the busiest destination
//! receives; that of the links across a cut (the middle of the node numbers, of each dimension, and of uniform traffic
//! the border of a subtree); and that of all links together, over minimal routes. Destinations must be known exactly:
//! the uniform pattern, hot spots, and those that send each node to one other.

use std::sync::Arc;

use fsin_core::family::Rates;
use fsin_core::topology::{Distances, Survey, Topology, capacity, cuts, links_of};
use trgen::NodeId;
use trgen::synthetic::spatial::{self, Pattern};
use trgen::trace::placement::Distance;

use super::resolve::Experiment;

/// Maximum number of nodes for which the destinations of all are added up.
const MOST_NODES: usize = 1024;

/// An upper bound of the load of every node that sends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoadBound {
    /// \[load\] The bound, in the unit of the network's loads.
    pub load: f64,
    /// What limits the load: `ejection`, `cut` or `links`.
    pub by: &'static str,
}

impl LoadBound {
    /// The least of the bounds; `None` where none is known.
    #[must_use]
    pub fn of(experiment: &Experiment) -> Option<Self> {
        let (topology, rates) = (experiment.topology()?, experiment.network.rates()?);
        let config = experiment.workload.sources()?;
        let pattern = spatial::parse(&config.pattern, &config.geometry, config.seed).ok()?;
        let flows = Flows::of(&*pattern)?;
        let link = rates.link;
        let mut bounds =
            vec![flows.ejection(&**topology, &rates), flows.cut(&**topology, link), flows.links(topology, link)];
        if config.pattern == "uniform" {
            let bound = Survey::of(&**topology).uniform_load_bound;
            bounds.push(bound.map(|load| Self { load: load * link, by: "cut" }));
        }
        let least = bounds.into_iter().flatten().min_by(|a, b| a.load.total_cmp(&b.load))?;
        // Sums of shares such as 1/7 are not exact.
        Some(Self { load: (least.load / experiment.units.capacity * 1e12).round() / 1e12, ..least })
    }
}

/// The share of each node's messages that goes to each other node.
struct Flows(Vec<Vec<f64>>);

impl Flows {
    fn of(pattern: &dyn Pattern) -> Option<Self> {
        let nodes = pattern.nodes();
        if !(2..=MOST_NODES).contains(&nodes) {
            return None;
        }
        (0..nodes).map(|node| pattern.shares(NodeId::at(node))).collect::<Option<_>>().map(Self)
    }

    /// Every flow: source, destination, and share.
    fn all(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let row = |(source, shares): (usize, &Vec<f64>)| {
            shares.iter().enumerate().map(move |(destination, &share)| (source, destination, share)).collect::<Vec<_>>()
        };
        self.0.iter().enumerate().flat_map(row)
    }

    /// A bound, if `demand` (a multiple of the load) takes up `capacity` (phits/cycle).
    fn bound(by: &'static str, capacity: f64, demand: f64) -> Option<LoadBound> {
        (demand > 1e-12).then(|| LoadBound { load: capacity / demand, by })
    }

    /// What the busiest destination receives.
    fn ejection(&self, topology: &dyn Topology, rates: &Rates) -> Option<LoadBound> {
        let mut entering = vec![0.0; topology.nodes()];
        links_of(topology).iter().flatten().for_each(|&there| entering[there] += 1.0);
        // By destination: what it receives from itself, over no link, and from others.
        let mut received = vec![[0.0; 2]; self.0.len()];
        for (source, destination, share) in self.all() {
            received[destination][usize::from(source != destination)] += share;
        }
        let bounds =
            received.iter().zip(&entering).zip(&rates.ejection).flat_map(|((&[own, others], &links), &port)| {
                [Self::bound("ejection", port, own + others), Self::bound("ejection", links * rates.link, others)]
            });
        bounds.flatten().min_by(|a, b| a.load.total_cmp(&b.load))
    }

    /// What crosses a cut of links, of which the fastest carries `link` phits/cycle.
    fn cut(&self, topology: &dyn Topology, link: f64) -> Option<LoadBound> {
        let bounds = cuts(topology).into_iter().flat_map(|cut| {
            let across = |up: bool| -> f64 {
                let crosses = |&(from, to, _): &(usize, usize, f64)| cut.is_lower[from] == up && cut.is_lower[to] != up;
                self.all().filter(crosses).map(|(.., share)| share).sum()
            };
            [(true, cut.upwards), (false, cut.downwards)]
                .map(|(up, links)| Self::bound("cut", links * link, across(up)))
        });
        bounds.flatten().min_by(|a, b| a.load.total_cmp(&b.load))
    }

    /// What all links, of which the fastest carries `link` phits/cycle, carry over minimal routes.
    fn links(&self, topology: &Arc<dyn Topology>, link: f64) -> Option<LoadBound> {
        let distances = Distances::many(Arc::clone(topology))?;
        let links = capacity(&**topology);
        let hops = |(from, to, share): (usize, usize, f64)| match share > 0.0 {
            true => share * f64::from(distances.hops(NodeId::at(from), NodeId::at(to))),
            false => 0.0,
        };
        Self::bound("links", links * link, self.all().map(hops).sum())
    }
}
