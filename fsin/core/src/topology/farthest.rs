//! How far apart the endpoints of a network are, in the time that a packet takes on each link.

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
}

impl Spans {
    /// The links of a topology, each with the time that `time` gives it; `None` for one that carries nothing.
    #[must_use]
    pub fn of(topology: &dyn Topology, time: impl Fn(NodeId, Port) -> Option<u64>) -> Self {
        let (nodes, ends, ports) = (topology.nodes(), topology.endpoints(), topology.shape().ports());
        let switched = topology.switched();
        let nics = switched.map(|network| network.fabric().nics());
        let is_barred = |node: usize| node >= ends && nics.is_some_and(|nics| nics.bar(node - ends));
        let passes = (0..nodes).map(|node| switched.is_none() || node >= ends && !is_barred(node)).collect();
        let links = |node: usize| {
            let from = NodeId::at(node);
            let link = |port| Some((topology.neighbour(from, port)?.0, time(from, port)?));
            (0..ports).filter_map(move |port| link(Port(port as u8))).collect::<Vec<_>>()
        };
        let is_alike = switched.is_none() && topology.is_vertex_transitive() && topology.faults() == 0;
        Self { is_alike, ..Self::new(ends, (0..nodes).map(links), passes) }
    }

    /// The links of a wiring, each with the time that `time` gives the port through which it leaves; `None` for one
    /// that carries nothing.
    #[must_use]
    pub fn of_wiring(wiring: &Wiring, time: impl Fn(usize) -> Option<u64>) -> Self {
        let devices = wiring.hosts + wiring.switches;
        let passes = (0..devices).map(|device| device >= wiring.hosts).collect();
        let links = |device: usize| {
            let link = |port: usize| Some((wiring.links()[port].device, time(port)?));
            wiring.ports(device).filter_map(link).collect::<Vec<_>>()
        };
        Self::new(wiring.hosts, (0..devices).map(links), passes)
    }

    fn new(ends: usize, of_devices: impl Iterator<Item = Vec<(u32, u64)>>, passes: Vec<bool>) -> Self {
        let (mut starts, mut links) = (vec![0], Vec::new());
        for mut own in of_devices {
            links.append(&mut own);
            starts.push(links.len());
        }
        Self { ends, starts, links, passes, is_alike: false }
    }

    /// The greatest time from one endpoint to another over the quickest route, of the pairs that have one. In a network
    /// that is too large for a search from every endpoint, that of the pairs that a few searches find, each from the
    /// endpoint farthest from the one before: seldom less, and never more.
    #[must_use]
    pub fn farthest(&self) -> u64 {
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
    fn times_are_those_of_the_quickest_route() {
        // Rings of dimension 0 take 10 a hop, those of dimension 1 take 1.
        let time = |_, port: Port| Some(if port.0 < 2 { 10 } else { 1 });
        assert_eq!(farthest("torus:7x5", time), 3 * 10 + 2);
        assert_eq!(farthest("mesh:5x3", time), 4 * 10 + 2);
        // Without the links in - direction of dimension 0 the ring is gone round.
        assert_eq!(farthest("torus:7x5", |node, port| time(node, port).filter(|_| port.0 != 1)), 6 * 10 + 2);
    }
}
