//! Any network of switches, by tables of distances.
//!
//! `graph:shortest` takes shortest paths, all of them or some alternatives. The n-th hop between switches uses channels
//! of class n. A packet waits for channels of higher numbers than the one that it holds, so there is no deadlock.
//!
//! `graph:updown` orders the switches, from the one with most links on, by distance and then by number. A packet goes
//! up to switches that come earlier, any number of times, and then down; never up again. It takes the shortest of all
//! such paths. Up channels wait for channels of switches further up, or for down channels, and these for those further
//! down: one channel suffices to exclude deadlock. (Schroeder et al., Autonet, JSAC 9(8), 1991.)

use std::collections::VecDeque;

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::rng::mix2;

use super::{Visit, Way, classes};
use fsin_core::topology::Port;
use fsin_core::topology::switched::Fabric;

/// Maximum number of switches: tables have an entry for each pair.
const MAX_SWITCHES: usize = 8192;

/// Greater than any distance.
const FAR: u16 = u16::MAX;

/// Links between switches, which are numbered from 0 here.
#[derive(Debug)]
struct Links {
    endpoints: usize,
    /// By switch: its ports and the switches that they lead to.
    to: Vec<Vec<(Port, u32)>>,
}

impl Links {
    fn new(fabric: &Fabric) -> Result<Self, SpecError> {
        let switches = fabric.nodes() - fabric.endpoints();
        if switches > MAX_SWITCHES {
            let what =
                format!("routings by tables are for networks of at most {MAX_SWITCHES} switches, here are {switches}");
            return Err(SpecError::new(
                ErrorKind::TooLarge,
                what,
                phrase!["use ", ["routing"], " of the topology's own"],
            ));
        }
        let to = (fabric.endpoints()..fabric.nodes()).map(NodeId::at).map(|switch| {
            let ports = (0..=u8::MAX).map(Port).take_while(|port| port.index() < fabric.ports());
            let linked = ports.filter_map(|port| Some((port, fabric.neighbour(switch, port)?)));
            linked
                .filter(|(_, there)| there.index() >= fabric.endpoints())
                .map(|(port, there)| (port, (there.index() - fabric.endpoints()) as u32))
                .collect()
        });
        Ok(Self { endpoints: fabric.endpoints(), to: to.collect() })
    }

    fn count(&self) -> usize {
        self.to.len()
    }

    fn number(&self, switch: NodeId) -> usize {
        switch.index() - self.endpoints
    }

    /// \[hops\] From each switch to `to`, by links that `may` be taken from one switch to the next.
    fn distances(&self, to: usize, may: impl Fn(u32, u32) -> bool) -> Vec<u16> {
        let mut distances = vec![FAR; self.count()];
        distances[to] = 0;
        let mut reached = VecDeque::from([to as u32]);
        while let Some(here) = reached.pop_front() {
            for &(_, before) in &self.to[here as usize] {
                if distances[before as usize] == FAR && may(before, here) {
                    distances[before as usize] = distances[here as usize] + 1;
                    reached.push_back(before);
                }
            }
        }
        distances
    }
}

/// Routing function on shortest paths, with a class of channels for each hop.
#[derive(Debug)]
pub(super) struct Shortest {
    links: Links,
    /// By destination switch and switch.
    distances: Vec<u16>,
    classes: Vec<u32>,
    alternatives: usize,
}

impl Shortest {
    /// `alternatives` is the number of a switch's links that packets to one destination are spread over; 0 for all.
    pub(super) fn new(fabric: &Fabric, vcs: usize, alternatives: u32) -> Result<Self, SpecError> {
        let links = Links::new(fabric)?;
        let distances: Vec<u16> = (0..links.count()).flat_map(|to| links.distances(to, |_, _| true)).collect();
        // Packets travel only between switches with endpoints, and distances decrease on the way.
        let mut homes = vec![false; links.count()];
        for endpoint in (0..fabric.endpoints()).map(NodeId::at) {
            homes[links.number(fabric.home(endpoint).0)] = true;
        }
        let pairs = distances
            .iter()
            .enumerate()
            .filter(|&(pair, _)| homes[pair / links.count()] && homes[pair % links.count()]);
        let longest = pairs.map(|(_, &hops)| hops).max().unwrap_or(0);
        let alternatives = if alternatives == 0 { usize::MAX } else { alternatives as usize };
        Ok(Self { links, distances, classes: classes(usize::from(longest).max(1), vcs), alternatives })
    }

    /// Number of channel classes needed.
    pub(super) fn classes(&self) -> usize {
        self.classes.len()
    }

    pub(super) fn ways(&self, visit: &Visit<'_>, home: NodeId, mut see: impl FnMut(Way)) {
        let (here, to) = (self.links.number(visit.node), self.links.number(home));
        let row = &self.distances[to * self.links.count()..][..self.links.count()];
        let nearer = || self.links.to[here].iter().filter(|&&(_, next)| row[next as usize] < row[here]);
        let rank = |port: Port| mix2(mix2(here as u64, to as u64), port.0.into());
        let vcs = self.classes[(visit.state[0] as usize).min(self.classes.len() - 1)];
        for &(port, _) in nearer() {
            let is_among = self.alternatives == usize::MAX
                || nearer().filter(|&&(other, _)| rank(other) < rank(port)).count() < self.alternatives;
            if is_among {
                see(Way { port, vcs, tier: 0, hops: 1, bubble: false });
            }
        }
    }
}

/// Routing function up, then down.
#[derive(Debug)]
pub(super) struct UpDown {
    links: Links,
    /// By switch: its position in the order.
    order: Vec<u32>,
    /// By destination switch and switch: distance up and down, and down only.
    any: Vec<u16>,
    down: Vec<u16>,
}

impl UpDown {
    pub(super) fn new(fabric: &Fabric) -> Result<Self, SpecError> {
        let links = Links::new(fabric)?;
        let count = links.count();
        let root = (0..count).max_by_key(|&switch| (links.to[switch].len(), std::cmp::Reverse(switch))).unwrap_or(0);
        let depths = links.distances(root, |_, _| true);
        let mut sorted: Vec<u32> = (0..count as u32).collect();
        sorted.sort_unstable_by_key(|&switch| (depths[switch as usize], switch));
        let mut order = vec![0; count];
        for (position, &switch) in sorted.iter().enumerate() {
            order[switch as usize] = position as u32;
        }
        let (mut any, mut down) = (Vec::new(), Vec::new());
        for to in 0..count {
            let downwards = links.distances(to, |from, to| order[from as usize] < order[to as usize]);
            let mut both = downwards.clone();
            // A packet that goes up first meets switches whose distance is known already.
            for &switch in &sorted {
                let ups = links.to[switch as usize].iter().map(|&(_, next)| next as usize);
                let ups = ups.filter(|&next| order[next] < order[switch as usize]);
                let best = ups.map(|next| both[next].saturating_add(1)).min().unwrap_or(FAR);
                both[switch as usize] = both[switch as usize].min(best);
            }
            any.extend(both);
            down.extend(downwards);
        }
        Ok(Self { links, order, any, down })
    }

    fn is_down(&self, from: usize, to: usize) -> bool {
        self.order[from] < self.order[to]
    }

    pub(super) fn ways(&self, vcs: u32, visit: &Visit<'_>, home: NodeId, mut see: impl FnMut(Way)) {
        let (here, to) = (self.links.number(visit.node), self.links.number(home));
        let row = |table: &[u16], switch: usize| u32::from(table[to * self.links.count() + switch]);
        let goes_down = visit.state[0] != 0;
        let left = row(if goes_down { &self.down } else { &self.any }, here);
        for &(port, next) in &self.links.to[here] {
            let next = next as usize;
            let rest = match self.is_down(here, next) {
                true => row(&self.down, next),
                false if goes_down => continue,
                false => row(&self.any, next),
            };
            if rest + 1 == left {
                see(Way { port, vcs, tier: 0, hops: 1, bubble: false });
            }
        }
    }

    pub(super) fn hop(&self, node: NodeId, next: NodeId, state: &mut [i16]) {
        if self.is_down(self.links.number(node), self.links.number(next)) {
            state[0] = 1;
        }
    }
}
