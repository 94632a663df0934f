//! Any network of switches: up*/down*, by tables of distances.
//!
//! Switches are ordered by their distance from the one with most links, and then by number. Up channels wait for
//! channels of switches further up, or for down channels, and these for those further down: no cycle, with one VC
//! already.

use std::collections::VecDeque;

use fsin_core::topology::{Port, Topology};
use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, SpecError};
use trgen::phrase;

use super::row::{Choice, Function, Networks, Row, Vcs, Visit, Wake};
use super::{Candidate, Draw, Head, Ring, Tier, fabric, mask};
use crate::params::{Params, Routing};

pub(super) static UPDOWN: Row = Row {
    component: Component {
        name: "updown",
        about: "any network of switches: up to switches nearer the root, then down",
        parameters: &[],
        source: "Schroeder et al., Autonet, IEEE JSAC 9(8), 1991",
    },
    routing: Routing::UpDown,
    networks: Networks::Switches,
    vcs: Vcs::of(1, ""),
    wake: Wake::Credits,
    choice: Choice::Never,
};

/// Most switches: tables have an entry for each pair.
const MAX_SWITCHES: usize = 8192;

const FAR: u16 = u16::MAX;

/// Phase of a packet that has gone down.
const DOWN: u8 = 1;

/// Up, then down, on shortest such paths.
#[derive(Debug)]
pub(super) struct UpDown {
    all: u32,
    /// By switch: ports and the switches that they lead to.
    links: Vec<Vec<(u8, u32)>>,
    /// By switch: its position in the order.
    order: Vec<u32>,
    /// By destination's switch and switch: \[hops\] up and down, and down only.
    any: Vec<u16>,
    down: Vec<u16>,
}

impl Function for UpDown {
    fn new(_: &'static Row, params: &Params, topology: &dyn Topology) -> Result<Self, SpecError> {
        let fabric = fabric(topology)?;
        let count = fabric.nodes() - fabric.endpoints();
        if count > MAX_SWITCHES {
            let what = phrase![["routing" => "updown"], " takes networks of at most {MAX_SWITCHES} switches, here are {count}"];
            let remedy = phrase!["use a ", ["routing"], " of the topology's own"];
            return Err(SpecError::new(ErrorKind::TooLarge, what, remedy).of("routing"));
        }
        let links: Vec<Vec<(u8, u32)>> = (fabric.endpoints()..fabric.nodes())
            .map(|switch| {
                let ports = (0..fabric.ports()).map(|port| Port(port as u8));
                let linked = ports.filter_map(|port| Some((port.0, fabric.neighbour(NodeId::at(switch), port)?)));
                let switches = linked.filter(|(_, there)| there.index() >= fabric.endpoints());
                switches.map(|(port, there)| (port, (there.index() - fabric.endpoints()) as u32)).collect()
            })
            .collect();
        let root = (0..count).max_by_key(|&switch| (links[switch].len(), std::cmp::Reverse(switch))).unwrap_or(0);
        let depths = distances(&links, root, |_, _| true);
        let mut sorted: Vec<u32> = (0..count as u32).collect();
        sorted.sort_unstable_by_key(|&switch| (depths[switch as usize], switch));
        let mut order = vec![0; count];
        for (position, &switch) in sorted.iter().enumerate() {
            order[switch as usize] = position as u32;
        }
        let (mut any, mut down) = (Vec::new(), Vec::new());
        for to in 0..count {
            let downwards = distances(&links, to, |from, to| order[from as usize] < order[to as usize]);
            let mut both = downwards.clone();
            // In this order, the distance of every switch further up is known.
            for &switch in &sorted {
                let ups = links[switch as usize].iter().map(|&(_, next)| next as usize);
                let ups = ups.filter(|&next| order[next] < order[switch as usize]);
                let best = ups.map(|next| both[next].saturating_add(1)).min().unwrap_or(FAR);
                both[switch as usize] = both[switch as usize].min(best);
            }
            any.extend(both);
            down.extend(downwards);
        }
        Ok(Self { all: mask(params.vcs), links, order, any, down })
    }

    fn candidates(&self, at: Visit, head: &Head, _: &mut impl Draw, into: &mut Vec<Candidate>) {
        let (router, to) = (at.here, at.home);
        let row = |table: &[u16], switch: usize| u32::from(table[to * self.links.len() + switch]);
        let left = row(if head.phase == DOWN { &self.down } else { &self.any }, router);
        for &(port, next) in &self.links[router] {
            let next = next as usize;
            let rest = match self.is_down(router, next) {
                true => row(&self.down, next),
                false if head.phase == DOWN => continue,
                false => row(&self.any, next),
            };
            if rest + 1 == left {
                into.push(Candidate { port, vcs: self.all, tier: Tier::Free });
            }
        }
    }

    fn decisions(&self, _: Visit, head: &Head, _: &mut impl Draw) -> Vec<u8> {
        vec![head.phase]
    }

    fn decide(&self, _: Visit, head: &Head, _: &mut impl Draw, _: impl Fn(Candidate) -> u32) -> u8 {
        head.phase
    }

    fn hop(&self, router: usize, next: usize, phase: u8, _: &mut impl Draw) -> u8 {
        if self.is_down(router, next) { DOWN } else { phase }
    }

    fn rings(&self) -> Option<Vec<Ring>> {
        None
    }
}

impl UpDown {
    fn is_down(&self, from: usize, to: usize) -> bool {
        self.order[from] < self.order[to]
    }
}

/// \[hops\] From each switch to `to`, by links that `may` be taken from one switch to the next.
fn distances(links: &[Vec<(u8, u32)>], to: usize, may: impl Fn(u32, u32) -> bool) -> Vec<u16> {
    let mut distances = vec![FAR; links.len()];
    distances[to] = 0;
    let mut reached = VecDeque::from([to as u32]);
    while let Some(here) = reached.pop_front() {
        for &(_, before) in &links[here as usize] {
            if distances[before as usize] == FAR && may(before, here) {
                distances[before as usize] = distances[here as usize] + 1;
                reached.push_back(before);
            }
        }
    }
    distances
}
