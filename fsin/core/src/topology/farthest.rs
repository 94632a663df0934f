//! How far apart the endpoints of a network are, in the time that a packet takes on each link.
//!
//! Decision: docs/decisions/0470-costs-beside-a-run.md.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use trgen::NodeId;

use super::{Port, Topology};
use crate::wiring::Wiring;

/// \[sources x links\] Greatest cost of a search from every endpoint.
const MOST: usize = 1 << 20;
/// Number of searches in a larger network, each from the endpoint that was farthest in the one before.
const SWEEPS: usize = 4;

/// The links that leave each device, with the time that each takes.
#[derive(Debug)]
pub struct Spans {
    /// Number of endpoints, which are the first devices.
    ends: usize,
    /// By device: where its links begin in `links`; then their number.
    starts: Vec<usize>,
    /// Device at the other end, and time.
    links: Vec<(u32, u64)>,
    /// By device: true if routes lead through it.
    passes: Vec<bool>,
    /// True if the network looks the same from every endpoint.
    is_alike: bool,
    /// The greatest time, where a formula gives it.
    known: Option<u64>,
}

impl Spans {
    /// The links of a topology, each with the time that `time` gives it; `None` for one that carries nothing. In a
    /// direct network the time depends on the port alone.
    #[must_use]
    pub fn of(topology: &dyn Topology, time: impl Fn(NodeId, Port) -> Option<u64>) -> Self {
        let (nodes, ends) = (topology.nodes(), topology.endpoints());
        let switched = topology.switched();
        if switched.is_none() && topology.is_grid() && topology.faults() == 0 {
            let known = Some(across_grid(topology, time));
            return Self { ends, starts: Vec::new(), links: Vec::new(), passes: Vec::new(), is_alike: true, known };
        }
        let nics = switched.map(|network| network.fabric().nics());
        let is_barred = |node: usize| node >= ends && nics.is_some_and(|nics| nics.bar(node - ends));
        let passes = (0..nodes).map(|node| switched.is_none() || node >= ends && !is_barred(node)).collect();
        let links = |node: usize, links: &mut Vec<(u32, u64)>| {
            let from = NodeId::at(node);
            let link = |port| Some((topology.neighbour(from, port)?.0, time(from, port)?));
            links.extend(topology.ports_of(from).filter_map(link));
        };
        let is_alike = switched.is_none() && topology.is_vertex_transitive() && topology.faults() == 0;
        Self { is_alike, ..Self::new(ends, links, passes) }
    }

    /// The links of a wiring, each with the time that `time` gives the port through which it leaves; `None` for one
    /// that carries nothing.
    #[must_use]
    pub fn of_wiring(wiring: &Wiring, time: impl Fn(usize) -> Option<u64>) -> Self {
        let devices = wiring.hosts + wiring.switches;
        let passes = (0..devices).map(|device| device >= wiring.hosts).collect();
        let links = |device: usize, links: &mut Vec<(u32, u64)>| {
            let link = |port: usize| Some((wiring.links()[port].device, time(port)?));
            links.extend(wiring.ports(device).filter_map(link));
        };
        Self::new(wiring.hosts, links, passes)
    }

    /// Calls `add` for each device, which adds its links.
    fn new(ends: usize, add: impl Fn(usize, &mut Vec<(u32, u64)>), passes: Vec<bool>) -> Self {
        let (mut starts, mut links) = (Vec::with_capacity(passes.len() + 1), Vec::new());
        starts.push(0);
        for device in 0..passes.len() {
            add(device, &mut links);
            starts.push(links.len());
        }
        Self { ends, starts, links, passes, is_alike: false, known: None }
    }

    /// The greatest time from one endpoint to another over the quickest route, of the pairs that have one. In a network
    /// that is too large for a search from every endpoint, that of the pairs that a few searches find, each from the
    /// endpoint farthest from the one before: seldom less, and never more.
    #[must_use]
    pub fn farthest(&self) -> u64 {
        if let Some(known) = self.known {
            return known;
        }
        let has_one_time = self.links.windows(2).all(|pair| pair[0].1 == pair[1].1);
        let from = |source: usize| if has_one_time { self.in_hops(source) } else { self.in_time(source) };
        if self.is_alike {
            return from(0).1;
        }
        if self.ends.saturating_mul(self.links.len()) <= MOST {
            return (0..self.ends).map(|source| from(source).1).max().unwrap_or(0);
        }
        let (mut source, mut greatest) = (0, 0);
        for _ in 0..SWEEPS {
            let (farthest, time) = from(source);
            (source, greatest) = (farthest, greatest.max(time));
        }
        greatest
    }

    /// The endpoint that is farthest from `source`, and the time to it. All links take the same time.
    fn in_hops(&self, source: usize) -> (usize, u64) {
        let each = self.links.first().map_or(0, |&(_, time)| time);
        let mut hops = vec![u64::MAX; self.passes.len()];
        hops[source] = 0;
        let mut reached = VecDeque::from([source]);
        while let Some(here) = reached.pop_front() {
            if !self.passes[here] && here != source {
                continue;
            }
            for &(there, _) in &self.links[self.starts[here]..self.starts[here + 1]] {
                if hops[there as usize] == u64::MAX {
                    hops[there as usize] = hops[here] + 1;
                    reached.push_back(there as usize);
                }
            }
        }
        let (farthest, hops) = self.last(&hops);
        (farthest, hops.saturating_mul(each))
    }

    /// The endpoint that is farthest from `source`, and the time to it.
    fn in_time(&self, source: usize) -> (usize, u64) {
        let mut times = vec![u64::MAX; self.passes.len()];
        times[source] = 0;
        let mut next = BinaryHeap::from([Reverse((0, source))]);
        while let Some(Reverse((time, here))) = next.pop() {
            if time > times[here] || !self.passes[here] && here != source {
                continue;
            }
            for &(there, more) in &self.links[self.starts[here]..self.starts[here + 1]] {
                let (there, then) = (there as usize, time.saturating_add(more));
                if then < times[there] {
                    times[there] = then;
                    next.push(Reverse((then, there)));
                }
            }
        }
        self.last(&times)
    }

    /// The endpoint that is reached last, of those that are reached.
    fn last(&self, times: &[u64]) -> (usize, u64) {
        let reached = times[..self.ends].iter().copied().enumerate().filter(|&(_, time)| time < u64::MAX);
        reached.max_by_key(|&(end, time)| (time, Reverse(end))).unwrap_or((0, 0))
    }
}

/// The greatest time between two nodes of a whole grid: in each dimension that of the two coordinates that are farthest
/// apart, over the quicker of the two ways, since dimensions do not depend on each other.
fn across_grid(topology: &dyn Topology, time: impl Fn(NodeId, Port) -> Option<u64>) -> u64 {
    let (shape, sizes) = (topology.shape(), topology.geometry().sizes());
    let is_ring = topology.is_vertex_transitive();
    // The first node has a link in + direction in every dimension that has any, the last one in - direction.
    let (first, last) = (NodeId(0), NodeId::at(topology.nodes() - 1));
    let hop = |dimension: usize, positive: bool| {
        let (node, port) = (if positive { first } else { last }, shape.port(dimension, positive));
        topology.neighbour(node, port)?;
        time(node, port)
    };
    let in_dimension = |(dimension, &size): (usize, &u32)| {
        let (up, down) = (hop(dimension, true), (shape.ways > 1).then(|| hop(dimension, false)).flatten());
        let over = |each: Option<u64>, hops: u32| Some(each?.saturating_mul(hops.into()));
        let farthest = match is_ring {
            // A coordinate ahead by some hops is behind by the others.
            true => {
                (1..size).filter_map(|ahead| over(up, ahead).into_iter().chain(over(down, size - ahead)).min()).max()
            }
            false => over(up, size - 1).into_iter().chain(over(down, size - 1)).max(),
        };
        farthest.unwrap_or(0)
    };
    sizes.iter().enumerate().map(in_dimension).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::parse;

    /// The greatest number of hops between two endpoints, at `time` each.
    fn farthest(spec: &str, time: impl Fn(NodeId, Port) -> Option<u64>) -> u64 {
        Spans::of(&*parse(spec, 2).unwrap(), time).farthest()
    }

    #[test]
    fn the_farthest_endpoints_are_those_of_formulas() {
        for (spec, hops) in [
            ("torus:7x5", 5),
            ("torus:8x6x4", 9),
            ("mesh:7x3", 8),
            ("hypercube:5", 5),
            ("star:9", 2),
            ("fattree:3,3", 6),
            // 128 x 16 383 steps: too many for a search from every node, and found from a corner.
            ("mesh:90x91", 179),
        ] {
            assert_eq!(farthest(spec, |_, _| Some(1)), hops, "{spec}");
        }
    }

    #[test]
    fn the_formula_of_grids_is_what_searches_find() {
        for spec in ["torus:7x5", "torus:2x9x3", "torus:6", "torus:1x4", "mesh:7x3", "mesh:4x1x5", "hypercube:5"] {
            let topology = parse(spec, 2).unwrap();
            let ways = topology.shape().ways;
            // Ports of unlike time, and one way that is missing in a dimension.
            for missing in [usize::MAX, 1, 2] {
                let time = |_: NodeId, port: Port| {
                    let is_there = ways == 1 || port.index() != missing;
                    is_there.then(|| [7, 5, 11, 3, 20, 1][port.index() % 6])
                };
                let add = |node: usize, links: &mut Vec<(u32, u64)>| {
                    let ports = (0..topology.shape().ports()).map(Port::at);
                    links.extend(ports.filter_map(|port| {
                        Some((topology.neighbour(NodeId::at(node), port)?.0, time(NodeId::at(node), port)?))
                    }));
                };
                let searched = Spans::new(topology.nodes(), add, vec![true; topology.nodes()]).farthest();
                assert_eq!(Spans::of(&*topology, time).farthest(), searched, "{spec} without port {missing}");
            }
        }
    }

    #[test]
    fn times_are_those_of_the_quickest_route() {
        // Rings of dimension 0 take 10 a hop, those of dimension 1 take 1.
        let time = |_, port: Port| Some(if port.0 < 2 { 10 } else { 1 });
        assert_eq!(farthest("torus:7x5", time), 3 * 10 + 2);
        assert_eq!(farthest("mesh:5x3", time), 4 * 10 + 2);
        // Without the links in - direction of dimension 0 the ring is gone round.
        assert_eq!(farthest("torus:7x5", |node, port| time(node, port).filter(|_| port.0 != 1)), 6 * 10 + 2);
    }
}
