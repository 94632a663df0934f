//! Links between routers and distances on them, and shortest paths of any network.
//!
//! The n-th hop of `shortest` uses channels of class n. A packet waits for channels of higher numbers than the one that
//! it holds, so there is no deadlock. `oblivious` draws each hop of a packet among those of `shortest`.
//!
//! Decision: docs/decisions/0612-oblivious.md.

use std::collections::VecDeque;
use std::sync::Arc;

use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, SpecError};
use trgen::phrase;
use trgen::rng::mix2;

use super::table::{Build, Choice, Function, Row, Serves};
use super::{ChannelPolicy, Draw, Hop, Phase, RoutingFunction, Visit};
use crate::topology::Topology;
use crate::topology::switched::{Nics, Rails};

/// Any shortest path.
pub static ROW: Row = Row {
    component: Component {
        name: "shortest",
        about: "any network: shortest paths, adaptive among {alternatives} links; the n-th hop between routers is on channel \
                class n; without classes free of deadlock in few networks",
        parameters: &[],
        source: "Gunther, Prevention of deadlocks in packet-switched data transport systems, TCOM 29(4), 1981",
    },
    aliases: &["shortest-path", "graph:shortest", "adaptive"],
    serves: Serves::Every,
    policy: ChannelPolicy::ByHop,
    why: "one for each hop between routers",
    choice: Choice::Any,
    build: |build| Ok(Function::Shortest(Shortest::new(build)?)),
};

/// A shortest path that each packet draws.
pub(super) static OBLIVIOUS: Row = Row {
    component: Component {
        name: "oblivious",
        about: "networks of switches: shortest paths, each hop of a packet drawn among those that lead nearer, whatever the queues; \
                the n-th hop between routers is on channel class n; without classes free of deadlock in few networks",
        parameters: &[],
        source: "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, chapter 9",
    },
    aliases: &["random-shortest"],
    serves: Serves::Switches,
    build: |build| Ok(Function::Oblivious(Oblivious(Shortest::new(build)?))),
    ..ROW
};

/// A distance greater than any other: no path leads there.
pub const FAR: u16 = u16::MAX;

/// Maximum number of routers: tables have an entry for each pair.
const MAX_ROUTERS: usize = 8192;

/// By router: its ports to other routers, each with the router that it leads to.
pub type Links = Vec<Vec<(u32, u32)>>;

/// The links between the routers of a topology that lead both ways. Dead links are left out.
///
/// # Errors
/// More routers than tables of distances are made for; nodes of a direct network that cannot be reached in this way.
pub fn links(topology: &dyn Topology) -> Result<Links, SpecError> {
    let links = links_in_parts(topology)?;
    if topology.switched().is_none() {
        let reached = distances(&links, 0, |_, _| true);
        if let Some(lost) = reached.iter().position(|&hops| hops == FAR) {
            let what = format!("no links of {} that work both ways lead from node 0 to node {lost}", topology.spec());
            let remedy =
                phrase!["use ", ["ways" => 2], ", fewer dead links, or a ", ["routing"], " of the topology's own"];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("routing"));
        }
    }
    Ok(links)
}

/// The same links, where routers may be cut off.
fn links_in_parts(topology: &dyn Topology) -> Result<Links, SpecError> {
    let first = if topology.switched().is_some() { topology.endpoints() } else { 0 };
    let count = topology.nodes() - first;
    if count > MAX_ROUTERS {
        let what = format!("routings by tables are for networks of at most {MAX_ROUTERS} routers, here are {count}");
        let remedy = phrase!["use a ", ["routing"], " of the topology's own"];
        return Err(SpecError::new(ErrorKind::TooLarge, what, remedy).of("routing"));
    }
    if topology.switched().is_some_and(|network| network.fabric().leads_one_way()) {
        let what = format!("the links of {} lead one way, and routings by tables need both", topology.spec());
        let remedy = phrase!["use a ", ["routing"], " of the topology's own"];
        return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("routing"));
    }
    let of = |router: usize| {
        let node = NodeId::at(router + first);
        let linked = topology.ports_of(node).filter_map(move |port| Some((port.0, topology.neighbour(node, port)?)));
        linked.filter(|(_, there)| there.index() >= first).map(|(port, there)| (port, (there.index() - first) as u32))
    };
    let mut links: Links = (0..count).map(|router| of(router).collect()).collect();
    if topology.switched().is_none() {
        let all = links.clone();
        for (router, own) in links.iter_mut().enumerate() {
            own.retain(|&(_, there)| all[there as usize].iter().any(|&(_, back)| back as usize == router));
        }
    }
    Ok(links)
}

/// The links for a routing function.
pub(super) fn links_for(build: &Build<'_>) -> Result<Links, SpecError> {
    if build.may_be_parted { links_in_parts(build.topology) } else { links(build.topology) }
}

/// \[hops\] By router: its distance to router `to`, past the interfaces of other hosts; [`FAR`] if no such path leads
/// there. Links must lead both ways.
#[must_use]
pub fn distances_past(links: &Links, nics: &Nics, to: usize) -> Vec<u16> {
    distances(links, to, |_, next| nics.admit(next as usize, to))
}

/// \[hops\] By router: its distance to router `to`, over links for which `is_allowed(from, to)`; [`FAR`] if no such
/// path leads there. Links must lead both ways.
#[must_use]
pub(super) fn distances(links: &Links, to: usize, is_allowed: impl Fn(u32, u32) -> bool) -> Vec<u16> {
    let mut distances = vec![FAR; links.len()];
    distances[to] = 0;
    let mut reached = VecDeque::from([to as u32]);
    while let Some(here) = reached.pop_front() {
        for &(_, before) in &links[here as usize] {
            if distances[before as usize] == FAR && is_allowed(before, here) {
                distances[before as usize] = distances[here as usize] + 1;
                reached.push_back(before);
            }
        }
    }
    distances
}

/// Shortest paths over links, past the interfaces of other hosts, by distances between all routers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShortestPaths {
    links: Links,
    /// \[hops\] Distance, by destination and present router.
    distances: Vec<u16>,
    nics: Nics,
}

impl ShortestPaths {
    /// The table, with an entry for each pair of routers.
    #[must_use]
    pub fn new(links: Links, nics: Nics) -> Self {
        let distances = (0..links.len()).flat_map(|to| distances_past(&links, &nics, to)).collect();
        Self { links, distances, nics }
    }

    /// The ports of a router that lead nearer to router `to`, each with the router behind it.
    pub fn next(&self, router: usize, to: usize) -> impl Iterator<Item = (u32, u32)> {
        let row = &self.distances[to * self.links.len()..][..self.links.len()];
        let is_nearer = move |next: usize| row[next] < row[router] && self.nics.admit(next, to);
        self.links[router].iter().copied().filter(move |&(_, next)| is_nearer(next as usize))
    }
}

/// Routes on shortest paths. The phase of a packet counts its hops.
#[derive(Debug)]
pub struct Shortest {
    paths: ShortestPaths,
    /// \[hops\] The longest route between routers of endpoints.
    longest: usize,
    /// True if there is a channel for each class.
    has_all_classes: bool,
    /// Maximum number of links of a router over which packets to one destination are spread; 0 for all.
    alternatives: usize,
    /// The rule for changes of rails, and the number of the first router in the network.
    rails: Option<(Arc<Rails>, usize)>,
}

impl Shortest {
    fn new(build: &Build<'_>) -> Result<Self, SpecError> {
        let links = links_for(build)?;
        let count = links.len();
        let paths = ShortestPaths::new(links, Nics::of(build.topology));
        // Packets travel only between routers with endpoints, and distances decrease on the way.
        let homes = build.homes();
        let pairs = paths.distances.iter().enumerate().filter(|&(pair, _)| homes[pair / count] && homes[pair % count]);
        let longest = pairs.map(|(_, &hops)| hops).filter(|&hops| hops != FAR).max().map_or(0, usize::from);
        if longest >= 255 {
            let what = format!("routes of {} have up to {longest} hops", build.topology.spec());
            return Err(
                SpecError::new(ErrorKind::TooLarge, what, phrase!["use ", ["routing" => "updown"]]).of("routing")
            );
        }
        let network = build.topology.switched();
        let rails = network.and_then(|network| Some((Arc::clone(network.rails()?), network.fabric().endpoints())));
        Ok(Self { paths, longest, has_all_classes: build.vcs >= longest, alternatives: build.alternatives, rails })
    }

    /// True if a link keeps to the rule for changes of rails.
    fn keeps(&self, at: &Visit, next: u32) -> bool {
        self.rails.as_ref().is_none_or(|(rails, first)| {
            let [here, there, home] = [at.here, next as usize, at.home].map(|router| NodeId::at(router + first));
            rails.keep(here, there, home)
        })
    }
}

impl RoutingFunction for Shortest {
    fn classes(&self) -> usize {
        self.longest.max(1)
    }

    fn hops(&self, at: &Visit, _: &mut impl Draw, mut add: impl FnMut(Hop)) {
        let all = || self.paths.next(at.here, at.home);
        // Dead links may leave none that keeps to the rule.
        let keep_to_rule = self.rails.is_some() && all().any(|(_, next)| self.keeps(at, next));
        let nearer = || all().filter(|&(_, next)| !keep_to_rule || self.keeps(at, next)).map(|(port, _)| port);
        let rank = |port: u32| mix2(mix2(at.here as u64, at.home as u64), port.into());
        let class = 1 + (at.phase as usize).min(self.classes() - 1) as u8;
        for port in nearer() {
            let is_among = self.alternatives == 0
                || nearer().filter(|&other| rank(other) < rank(port)).count() < self.alternatives;
            if is_among {
                add(Hop::of_class(port, class));
            }
        }
    }

    fn hop(&self, at: &Visit, _: usize, _: &mut impl Draw) -> Phase {
        at.phase + 1
    }

    /// None is needed where each class has channels of its own: classes ascend along every route.
    fn specimens(&self) -> Option<Vec<(String, usize)>> {
        self.has_all_classes.then(Vec::new)
    }
}

/// Shortest paths of which each packet draws one, hop by hop.
#[derive(Debug)]
pub struct Oblivious(Shortest);

impl RoutingFunction for Oblivious {
    fn classes(&self) -> usize {
        self.0.classes()
    }

    fn hops(&self, at: &Visit, draw: &mut impl Draw, mut add: impl FnMut(Hop)) {
        let (mut count, mut drawn) = (0, None);
        self.0.hops(at, draw, |_| count += 1);
        // The phase counts hops, so that every hop has a draw of its own, and keeps it while the packet waits.
        let chosen = draw.draw(at.phase.into(), count.max(1));
        let mut number = 0;
        self.0.hops(at, draw, |hop| {
            if number == chosen {
                drawn = Some(hop);
            }
            number += 1;
        });
        drawn.into_iter().for_each(&mut add);
    }

    fn hop(&self, at: &Visit, next: usize, draw: &mut impl Draw) -> Phase {
        self.0.hop(at, next, draw)
    }

    fn specimens(&self) -> Option<Vec<(String, usize)>> {
        self.0.specimens()
    }
}
