//! Upper bound of the load that a network can carry under the pattern of an experiment, whatever its routing.
//!
//! Four capacities bound it: that of the links, or of the ejection port, through which the busiest destination
//! receives; that of the links through which the busiest source sends; that of the links across a cut, in each direction
//! (the middle of the node numbers, of each dimension, the surroundings of a switch, a link that alone joins two parts,
//! and of uniform traffic the border of a subtree); and that of all links together, over minimal routes. A link carries
//! no more than its rate, and than the room behind it allows in a round trip. Destinations must be known exactly: the
//! uniform pattern, hot spots, stated demands, and those that send each node to one other.

use std::sync::Arc;

use fsin_core::family::{Rates, capacities};
use fsin_core::topology::{Capacities, Distances, Survey, Topology, cuts};
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
    /// What limits the load: `ejection`, `injection`, `cut` or `links`.
    pub by: &'static str,
}

impl LoadBound {
    /// The least of the bounds; `None` where none is known.
    #[must_use]
    pub fn of(experiment: &Experiment) -> Option<Self> {
        let (topology, rates) = (experiment.topology()?, experiment.network.rates()?);
        let config = experiment.workload.sources()?;
        let word = config.pattern.pattern().ok()?.word();
        let flows = match word {
            Some("demands") => Flows::of_demands(config.demands.as_deref()?)?,
            _ => Flows::of(&*spatial::read(&config.pattern, config.context(config.seed)).ok()?)?,
        };
        let (link, capacities) = (rates.link, capacities(&*experiment.network, &**topology));
        let mut bounds = vec![
            flows.ejection(&capacities, &rates),
            flows.injection(&capacities, link),
            flows.cut(&**topology, &capacities, link),
            flows.links(topology, &capacities, link),
        ];
        if word == Some("uniform") {
            let bound = Survey::with(&**topology, &capacities).uniform_load_bound;
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

    /// The flows of stated demands: at load 1 the nodes that send offer 1 in the mean.
    fn of_demands(demands: &[Vec<(u32, f64)>]) -> Option<Self> {
        let nodes = demands.len();
        let sums = demands.iter().map(|row| row.iter().map(|(_, value)| value).sum::<f64>());
        let (total, senders) = (sums.clone().sum::<f64>(), sums.filter(|&sum| sum > 0.0).count());
        if !(2..=MOST_NODES).contains(&nodes) || senders == 0 {
            return None;
        }
        let row = |demands: &Vec<(u32, f64)>| {
            let mut row = vec![0.0; nodes];
            demands.iter().for_each(|&(to, value)| row[to as usize] += value * senders as f64 / total);
            row
        };
        Some(Self(demands.iter().map(row).collect()))
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
    fn ejection(&self, capacities: &Capacities, rates: &Rates) -> Option<LoadBound> {
        let entering = capacities.entering();
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

    /// What the busiest source sends to others over its links, of which the fastest carries `link` phits/cycle.
    fn injection(&self, capacities: &Capacities, link: f64) -> Option<LoadBound> {
        let mut sent = vec![0.0; self.0.len()];
        self.all().filter(|&(from, to, _)| from != to).for_each(|(from, _, share)| sent[from] += share);
        let bounds =
            sent.iter().zip(capacities.leaving()).map(|(&sent, links)| Self::bound("injection", links * link, sent));
        bounds.flatten().min_by(|a, b| a.load.total_cmp(&b.load))
    }

    /// What crosses a cut of links, of which the fastest carries `link` phits/cycle.
    fn cut(&self, topology: &dyn Topology, capacities: &Capacities, link: f64) -> Option<LoadBound> {
        let bounds = cuts(topology, capacities).into_iter().flat_map(|cut| {
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
    fn links(&self, topology: &Arc<dyn Topology>, capacities: &Capacities, link: f64) -> Option<LoadBound> {
        let distances = Distances::many(Arc::clone(topology))?;
        let links = capacities.total();
        let hops = |(from, to, share): (usize, usize, f64)| match share > 0.0 {
            true => share * f64::from(distances.hops(NodeId::at(from), NodeId::at(to))),
            false => 0.0,
        };
        Self::bound("links", links * link, self.all().map(hops).sum())
    }
}
