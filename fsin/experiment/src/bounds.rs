//! Lower bounds of a program's completion time in any network with these links: the greatest bound is the bottleneck.
//!
//! Every bound counts whole packets, as the network does, and assumes minimal routes and evenly spread load.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use trgen::NodeId;
use trgen::trace::placement::hop_bytes;

use super::execute::{Trouble, run};
use super::resolve::Experiment;
use super::workload::{Driven, Driver};
use fsin_core::topology::{Distances, Topology, cuts, links_of};
use fsin_models::ConstantDelay;

/// Maximum number of messages for which the critical path is computed: computing it takes as long as reading and
/// replaying the program again.
const MOST_MESSAGES: u64 = 1 << 20;

/// \[cycles\] Lower bounds of a program's completion; `None` where unknown.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Bounds {
    /// Time in which the node that sends most puts its phits on its outgoing links.
    pub injection: Option<u64>,
    /// Time in which the node that receives most takes its phits from its incoming links.
    pub ejection: Option<u64>,
    /// Time in which the phits that cross a middle of the network in one direction cross it, spread over the links
    /// there. Middles are that of the node numbers and, in a direct network, that of each dimension.
    pub bisection: Option<u64>,
    /// Time in which all links carry all phits over their minimal routes, evenly spread.
    pub links: Option<u64>,
    /// Completion time over a zero-latency network: computation and dependencies.
    pub critical_path: Option<u64>,
}

impl Bounds {
    /// The bounds with their names.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, Option<u64>); 5] {
        [
            ("injection", self.injection),
            ("ejection", self.ejection),
            ("bisection", self.bisection),
            ("links", self.links),
            ("critical path", self.critical_path),
        ]
    }

    /// The greatest bound, with its name; ties go to the first.
    #[must_use]
    pub fn binding(&self) -> Option<(&'static str, u64)> {
        let known = self.named().into_iter().filter_map(|(name, cycles)| Some((name, cycles?)));
        known.fold(None, |most: Option<(&str, u64)>, one| Some(most.filter(|most| most.1 >= one.1).unwrap_or(one)))
    }

    /// The bounds of a completed program that sent `messages` messages.
    pub(super) fn of(
        experiment: &Experiment,
        driven: &dyn Driven,
        messages: u64,
        stop: &AtomicBool,
    ) -> Result<Option<Self>, Trouble> {
        let Some(flows) = driven.flows().filter(|_| !driven.has_background()) else { return Ok(None) };
        let units = experiment.units;
        let phits = |bytes: u64| units.packets_of(bytes).saturating_mul(u64::from(units.packet_phits));
        let flows: Vec<(NodeId, NodeId, u64)> = flows
            .into_iter()
            .filter(|(from, to, _)| from != to)
            .map(|(from, to, bytes)| (from, to, phits(bytes)))
            .collect();
        let mut bounds = Self::default();
        if let Some(topology) = experiment.topology().filter(|_| experiment.network.counts_phits()) {
            bounds = Self::of_flows(&**topology, &flows);
            let links = links_of(&**topology).iter().map(Vec::len).sum::<usize>() as u128;
            bounds.links = Distances::few(Arc::clone(topology))
                .filter(|_| links > 0)
                .and_then(|distances| u64::try_from(hop_bytes(flows.iter().copied(), &distances).div_ceil(links)).ok());
        }
        if messages <= MOST_MESSAGES {
            bounds.critical_path = critical_path(experiment, stop)?;
        }
        Ok(Some(bounds))
    }

    /// Injection, ejection and bisection of phits between nodes.
    fn of_flows(topology: &dyn Topology, flows: &[(NodeId, NodeId, u64)]) -> Self {
        let leaving = links_of(topology);
        let mut entering = vec![0u64; leaving.len()];
        for &there in leaving.iter().flatten() {
            entering[there] += 1;
        }
        let (mut sent, mut received) = (vec![0u64; leaving.len()], vec![0u64; leaving.len()]);
        for &(from, to, phits) in flows {
            sent[from.index()] += phits;
            received[to.index()] += phits;
        }
        let most = |phits: &[u64], links: &dyn Fn(usize) -> u64| {
            let busy = phits.iter().enumerate().filter(|&(node, _)| links(node) > 0);
            busy.map(|(node, phits)| phits.div_ceil(links(node))).max()
        };
        let across = |is_lower: &[bool], up: bool| -> u64 {
            let crosses = |(from, to): (NodeId, NodeId)| is_lower[from.index()] == up && is_lower[to.index()] != up;
            flows.iter().filter(|(from, to, _)| crosses((*from, *to))).map(|(.., phits)| *phits).sum()
        };
        let bisection = cuts(topology).into_iter().flat_map(|cut| {
            let [up, down] = [(true, cut.upwards), (false, cut.downwards)]
                .map(|(up, links)| (links > 0).then(|| across(&cut.is_lower, up).div_ceil(links as u64)));
            [up, down]
        });
        Self {
            injection: most(&sent, &|node| leaving[node].len() as u64),
            ejection: most(&received, &|node| entering[node]),
            bisection: bisection.flatten().max(),
            links: None,
            critical_path: None,
        }
    }
}

/// \[cycles\] Completion over a zero-latency network; `None` if the run was stopped.
fn critical_path(experiment: &Experiment, stop: &AtomicBool) -> Result<Option<u64>, Trouble> {
    // Where tasks are makes no difference to a network without distances, and finding out where may take long.
    let mut experiment = experiment.clone();
    experiment.placement = "consecutive".to_owned();
    let mut driver = Driver::new(&experiment, experiment.geometry())?;
    let mut network = ConstantDelay::new(experiment.geometry().nodes(), 0);
    let coupled = fsin_core::couple::Coupled::new(driver.source(), &mut network, stop);
    let outcome = run(&experiment, coupled, &mut |_| {});
    Ok(outcome.completion.filter(|_| outcome.complete).map(|cycle| cycle.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsin_core::topology::parse;

    fn of(spec: &str, flows: &[(u32, u32, u64)]) -> Bounds {
        let flows: Vec<_> = flows.iter().map(|&(from, to, phits)| (NodeId(from), NodeId(to), phits)).collect();
        Bounds::of_flows(&*parse(spec, 2).unwrap(), &flows)
    }

    #[test]
    fn bounds_are_those_counted_by_hand() {
        // A ring of eight: two links leave each node, and two cross its middle each way.
        let ring = of("torus:8", &[(0, 4, 100), (1, 5, 60), (7, 0, 11)]);
        assert_eq!((ring.injection, ring.ejection, ring.bisection), (Some(50), Some(50), Some(80)));
        // A mesh of 4 x 2: four links cross the middle of its rows, two that of its columns.
        let mesh = of("mesh:4x2", &[(0, 3, 10), (4, 7, 10)]);
        assert_eq!((mesh.injection, mesh.bisection), (Some(5), Some(10)));
        // An endpoint has one link, and a thin tree of 2 x 2 endpoints one between its halves.
        let tree = of("thintree:2,1,2", &[(0, 2, 30), (1, 3, 30), (3, 0, 7)]);
        assert_eq!((tree.injection, tree.ejection, tree.bisection), (Some(30), Some(30), Some(60)));
        assert_eq!(of("torus:8", &[]).binding(), Some(("injection", 0)));
    }

    #[test]
    fn the_greatest_binds() {
        let bounds = Bounds { injection: Some(5), bisection: Some(9), critical_path: Some(9), ..Bounds::default() };
        assert_eq!((bounds.binding(), Bounds::default().binding()), (Some(("bisection", 9)), None));
    }
}
