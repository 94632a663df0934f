//! `graph:shortest`: shortest paths of any network of switches, all of them or some alternatives.
//!
//! The n-th hop between switches uses channels of class n. A packet waits for channels of higher numbers than the one
//! that it holds, so there is no deadlock.

use std::sync::Arc;

use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, SpecError};
use trgen::phrase;
use trgen::rng::mix2;

use super::links::{FAR, Links};
use super::{Candidate, Departure, SwitchRouting, Visit, classes, next_switch};
use crate::router::RouterParams;
use crate::routing::{Avoidance, Choice, Requests, Row, Serves, Vcs};
use fsin_core::topology::Port;
use fsin_core::topology::switched::{Fabric, Rails, Switched};

pub(in crate::routing) const ROW: Row = Row {
    component: Component {
        name: "graph:shortest",
        about: "any network of switches: shortest paths, adaptive among {alternatives} links; the n-th hop between switches \
                is on channel class n; V >= longest path between switches",
        parameters: &[],
        source: "Gunther, Prevention of deadlocks in packet-switched data transport systems, TCOM 29(4), 1981",
    },
    aliases: &["shortest-path", "shortest"],
    serves: Serves::Switched,
    vcs: Vcs::AtLeast(1),
    dimensions: None,
    avoidance: Avoidance::Order,
    dead_links: true,
    requests: Requests::Switched { choice: Choice::Open, alternatives: true },
};

/// Routing function on shortest paths, with a class of channels for each hop.
#[derive(Debug)]
pub(in crate::routing) struct ShortestPaths {
    /// Links between switches.
    links: Links,
    /// \[hops\] Distance, by destination switch and present switch.
    distances: Vec<u16>,
    /// The channels of each class, as masks.
    classes: Vec<u32>,
    /// Maximum number of links of a switch over which packets to one destination are spread.
    alternatives: usize,
    /// The rule for changes of rails of a machine of two levels.
    rails: Option<Arc<Rails>>,
}

impl SwitchRouting for ShortestPaths {
    fn new(params: &RouterParams, network: &Switched) -> Result<Self, SpecError> {
        let (vcs, fabric) = (params.vcs, network.fabric());
        let links = Links::new(fabric)?;
        let nics = fabric.nics();
        let past_others = |to: usize| links.distances(to, move |_, next| nics.admit(next as usize, to));
        let distances: Vec<u16> = (0..links.count()).flat_map(past_others).collect();
        // Packets travel only between switches with endpoints, and distances decrease on the way.
        let mut homes = vec![false; links.count()];
        for endpoint in (0..fabric.endpoints()).map(NodeId::at) {
            homes[links.number(fabric.home(endpoint).0)] = true;
        }
        let pairs = distances
            .iter()
            .enumerate()
            .filter(|&(pair, _)| homes[pair / links.count()] && homes[pair % links.count()]);
        let longest = pairs.map(|(_, &hops)| hops).filter(|&hops| hops != FAR).max().unwrap_or(0);
        let needed = usize::from(longest).max(1);
        if vcs < needed {
            return Err(SpecError::new(
                ErrorKind::Malformed,
                phrase![
                    ["routing" => params.routing.name()],
                    " needs a virtual channel for each hop between switches, {needed} in this network, ",
                    ["vcs"],
                    " is {vcs}"
                ],
                phrase!["use ", ["vcs" => needed], " or more"],
            ));
        }
        let alternatives = if params.alternatives == 0 { usize::MAX } else { params.alternatives as usize };
        let rails = network.rails().cloned();
        Ok(Self { links, distances, classes: classes(needed, vcs), alternatives, rails })
    }

    fn last_channels(&self, _visit: &Visit<'_>, all: u32) -> u32 {
        all
    }

    fn single_candidate(&self, _fabric: &Fabric, _visit: &Visit<'_>, _home: NodeId) -> Option<Candidate> {
        None
    }

    fn candidates(
        &self,
        fabric: &Fabric,
        visit: &Visit<'_>,
        home: NodeId,
        _all: u32,
        mut add_candidate: impl FnMut(Candidate),
    ) {
        let (here, to) = (self.links.number(visit.node), self.links.number(home));
        let row = &self.distances[to * self.links.count()..][..self.links.count()];
        let is_nearer = |next: usize| row[next] < row[here] && fabric.nics().admit(next, to);
        let all = || self.links.to[here].iter().filter(|&&(_, next)| is_nearer(next as usize));
        let keeps = |next: u32| {
            let there = NodeId(next + fabric.endpoints() as u32);
            self.rails.as_ref().is_none_or(|rails| rails.keep(visit.node, there, home))
        };
        // Dead links may leave none that keeps to the rule.
        let keep_to_rule = self.rails.is_some() && all().any(|&(_, next)| keeps(next));
        let nearer = || all().filter(|&&(_, next)| !keep_to_rule || keeps(next));
        let rank = |port: Port| mix2(mix2(here as u64, to as u64), port.0.into());
        let vcs = self.classes[(visit.state[0] as usize).min(self.classes.len() - 1)];
        for &(port, _) in nearer() {
            let is_among = self.alternatives == usize::MAX
                || nearer().filter(|&&(other, _)| rank(other) < rank(port)).count() < self.alternatives;
            if is_among {
                add_candidate(Candidate { port, vcs, tier: 0, hops: 1, bubble: false });
            }
        }
    }

    fn may_weigh(&self) -> bool {
        false
    }

    fn weighs(&self, _visit: &Visit<'_>) -> bool {
        false
    }

    #[inline(never)]
    fn hop(&self, fabric: &Fabric, at: &Departure, port: Port, state: &mut [i16]) {
        state[0] += i16::from(next_switch(fabric, at.node, port).is_some());
    }
}
