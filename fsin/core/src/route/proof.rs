//! Freedom from deadlock: the channel dependency graph of a routing function, and a search for cycles in it.
//!
//! A channel is an output and a virtual channel. A dependency leads from the channel that a packet holds to each
//! channel that it may wait for next (Dally and Seitz, TC 36(5), 1987). With adaptive routing only escape channels
//! count, and a dependency leads from the last escape channel that the packet used to every escape channel that it may
//! request later, with any number of adaptive hops between them (Duato, TPDS 6(10), 1995: the extended graph, with its
//! indirect dependencies). Without a cycle there is no deadlock. Endpoints take every packet that comes. Every pair of
//! routers with endpoints, every random choice of a route and every decision is followed.
//!
//! A ring that packets enter only if they leave a bubble there never fills up: its channels count as one, and going on
//! in it is no dependency (Puente et al., JPDC 61(9), 2001). Bubbles are for virtual cut-through, where a blocked
//! packet is whole in one buffer: in an adaptive channel it holds no escape channel, and there are no indirect
//! dependencies (Duato, TPDS 7(8), 1996).

use std::collections::HashSet;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;

use super::channels::Masks;
use super::{
    Build, ChannelPolicy, Choice, Draw, Function, Hop, Name, Phase, Routers, RoutingFunction, Row, Tier, Visit,
};
use crate::topology;

/// \[channels\] Networks with more channels are not searched: the classes are trusted as each routing states them.
const MOST_CHANNELS: usize = 1 << 20;

/// \[routes\] The search ends after so many routes, each from a source to a destination with one combination of
/// choices. The routes that are left are trusted as each routing states them.
const MOST_ROUTES: usize = 1 << 21;

/// \[pairs\] Networks with more pairs of routers with endpoints are proven by their
/// [specimens](RoutingFunction::specimens), if they have any.
const MOST_PAIRS: usize = 1 << 10;

/// The networks to search in place of this one; `None` to search it itself.
#[must_use]
pub fn specimens(network: &impl Network, function: &Function) -> Option<Vec<(String, usize)>> {
    let mut homes: Vec<usize> = (0..network.endpoints()).map(|endpoint| network.home(endpoint)).collect();
    homes.sort_unstable();
    homes.dedup();
    if homes.len() * homes.len() > MOST_PAIRS { function.specimens() } else { None }
}

/// Refuses a routing whose channels may wait for each other in a cycle, by following every route of the network or, if
/// it is large, of its specimens. `function` is that of `build`, `name` the routing's in the model that carries it, and
/// `remedy` what a user can do about it.
///
/// # Errors
/// Such a cycle.
pub fn prove(build: &Build<'_>, function: &Function, name: &str, remedy: Phrase) -> Result<(), SpecError> {
    let routers = Routers::of(build.topology);
    let Some(specimens) = specimens(&routers, function) else {
        return search(build, &routers, function, name, remedy);
    };
    for (spec, ways) in specimens {
        let specimen = topology::parse(&spec, ways)?;
        let row = row_of(build.row, &spec)?;
        let build = Build { row, topology: &*specimen, ..*build };
        search(&build, &Routers::of(&*specimen), &build.function()?, name, remedy.clone())?;
    }
    Ok(())
}

/// The row of a specimen: that of the network, or one of the same name, since a ring stands for a grid of switches too.
///
/// # Errors
/// A specimen that no row of this name serves.
fn row_of<'a>(row: &'a Row, spec: &str) -> Result<&'a Row, SpecError> {
    if row.serves.includes(spec) {
        return Ok(row);
    }
    let name = row.component.name;
    Name::parse(name)?.row(spec).ok_or_else(|| {
        let what = phrase![
            ["routing" => name],
            (" is to be proven in {spec}, which stands for networks of {}, and no routing of this name serves it", row.serves)
        ];
        let remedy = "let `specimens` of the routing function name networks that it serves, or return None";
        SpecError::new(ErrorKind::Conflict, what, remedy).of("routing")
    })
}

/// The same, by following every route.
fn search(
    build: &Build<'_>,
    routers: &Routers<'_>,
    function: &Function,
    name: &str,
    remedy: Phrase,
) -> Result<(), SpecError> {
    let (policy, vcs, choice) = (build.policy, build.vcs, build.row.choice);
    let masks = Masks::of_function(policy, function, vcs);
    let Some(cycle) = (Routed { network: routers, function, choice, policy, masks: &masks, vcs }).cycle() else {
        return Ok(());
    };
    let (count, round, spec) = (cycle.len(), routers.round(&cycle), build.topology.spec());
    let what = phrase![
        ["routing" => name],
        (" is not free of deadlock in {spec}: {count} channels may wait for each other in a cycle, {round}")
    ];
    Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("routing"))
}

/// A channel: the router and the output that it leaves, and its number there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OutputChannel {
    /// The router.
    pub router: usize,
    /// The output port.
    pub port: usize,
    /// The virtual channel.
    pub vc: usize,
}

/// The channel dependency graph. Channels have numbers from 0.
#[derive(Clone, Debug)]
pub struct ChannelGraph {
    /// By channel: the channels that packets on it may wait for.
    next: Vec<Vec<u32>>,
}

impl ChannelGraph {
    /// A graph of so many channels without dependencies.
    #[must_use]
    pub fn new(channels: usize) -> Self {
        Self { next: vec![Vec::new(); channels] }
    }

    /// Adds a dependency.
    pub fn depend(&mut self, held: usize, wanted: usize) {
        let next = &mut self.next[held];
        if !next.contains(&(wanted as u32)) {
            next.push(wanted as u32);
        }
    }

    /// True if packets on a channel may wait for another one.
    #[must_use]
    pub fn depends(&self, held: usize, wanted: usize) -> bool {
        self.next[held].contains(&(wanted as u32))
    }

    /// Number of dependencies.
    #[must_use]
    pub fn dependencies(&self) -> usize {
        self.next.iter().map(Vec::len).sum()
    }

    /// A cycle of channels, if the graph has one: each waits for the next one, and the last for the first. The search
    /// is depth first, without recursion.
    #[must_use]
    pub fn cycle(&self) -> Option<Vec<usize>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            No,
            OnPath,
            Done,
        }
        let mut seen = vec![Seen::No; self.next.len()];
        for start in 0..self.next.len() {
            if seen[start] != Seen::No {
                continue;
            }
            let mut path = vec![(start, 0)];
            seen[start] = Seen::OnPath;
            while let Some((channel, at)) = path.last_mut() {
                let Some(&next) = self.next[*channel].get(*at) else {
                    seen[*channel] = Seen::Done;
                    path.pop();
                    continue;
                };
                *at += 1;
                let next = next as usize;
                match seen[next] {
                    Seen::OnPath => {
                        let begin = path.iter().position(|&(channel, _)| channel == next).unwrap_or(0);
                        return Some(path[begin..].iter().map(|&(channel, _)| channel).collect());
                    }
                    Seen::No => {
                        seen[next] = Seen::OnPath;
                        path.push((next, 0));
                    }
                    Seen::Done => {}
                }
            }
        }
        None
    }
}

/// Routers and the links between them.
pub trait Network {
    /// Number of routers.
    fn routers(&self) -> usize;
    /// Number of output ports of each router.
    fn ports(&self) -> usize;
    /// Number of endpoints.
    fn endpoints(&self) -> usize;
    /// The router at which packets of an endpoint enter the network.
    fn entry(&self, endpoint: usize) -> usize;
    /// The router with a link to an endpoint: its entry too, unless links lead one way.
    fn home(&self, endpoint: usize) -> usize;
    /// The router at the other end of an output; `None` for an endpoint, or nothing.
    fn next(&self, router: usize, port: usize) -> Option<usize>;
}

/// A routing function with its channels, in a network.
#[derive(Debug)]
pub struct Routed<'a, N> {
    /// The network.
    pub network: &'a N,
    /// The function.
    pub function: &'a Function,
    /// True if phases are decided at the first router.
    pub choice: Choice,
    /// What the channels are used for.
    pub policy: ChannelPolicy,
    /// The channels of each class.
    pub masks: &'a Masks,
    /// Number of channels of each output.
    pub vcs: usize,
}

/// The random choices of a route: one combination after the other.
#[derive(Default)]
struct Script {
    /// By choice: its label, the bound below which it lies, and the present value.
    choices: Vec<(u32, u32, u32)>,
}

impl Draw for Script {
    fn draw(&mut self, label: u32, bound: u32) -> u32 {
        let known = |&&(known, limit, _): &&(u32, u32, u32)| (known, limit) == (label, bound);
        if let Some(&(_, _, choice)) = self.choices.iter().find(known) {
            return choice;
        }
        self.choices.push((label, bound, 0));
        0
    }
}

impl Script {
    /// Goes on to the next combination. False if there is none.
    fn advance(&mut self) -> bool {
        while let Some((label, bound, choice)) = self.choices.pop() {
            if choice + 1 < bound {
                self.choices.push((label, bound, choice + 1));
                return true;
            }
        }
        false
    }
}

/// A packet at a router.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    /// The router at which the packet is.
    router: usize,
    /// State of the route.
    phase: Phase,
    /// The output (router x ports + port) and its channels (a mask) through which the packet came. With an adaptive
    /// routing, the last escape channels that it used; with bubbles, none in an adaptive channel.
    held: Option<(usize, u32)>,
}

impl<N: Network> Routed<'_, N> {
    /// A cycle of channels that may wait for each other, by following every route of the network; `None` if there is
    /// none.
    #[must_use]
    pub fn cycle(&self) -> Option<Vec<OutputChannel>> {
        self.cycle_of(&self.graph()?)
    }

    /// A cycle of the [graph](Self::graph) of these routes.
    #[must_use]
    pub fn cycle_of(&self, graph: &ChannelGraph) -> Option<Vec<OutputChannel>> {
        let (ports, vcs) = (self.network.ports(), self.vcs);
        let found = graph.cycle()?;
        let channel = |number: usize| {
            let output = number / vcs;
            OutputChannel { router: output / ports, port: output % ports, vc: number % vcs }
        };
        Some(found.into_iter().map(channel).collect())
    }

    /// The dependencies of every route of the network. `None` if it has more than a million channels. Channel `vc` of
    /// output `port` of a router has number (router x ports + port) x channels + vc.
    #[must_use]
    pub fn graph(&self) -> Option<ChannelGraph> {
        let network = self.network;
        let channels = network.routers() * network.ports() * self.vcs;
        // Routes that a file gives are trusted in nothing.
        let is_given = self.function.channels().is_some();
        if channels > MOST_CHANNELS && !is_given {
            return None;
        }
        // Endpoints with the same routers have the same routes, up to choices that are followed; not so in a table.
        // Those with a home in common have an entry in common, in all networks.
        let mut seen = vec![false; network.routers()];
        let is_first = |&endpoint: &usize| is_given || !std::mem::replace(&mut seen[network.home(endpoint)], true);
        let ends: Vec<usize> = (0..network.endpoints()).filter(is_first).collect();
        let mut graph = ChannelGraph::new(channels);
        let pairs = ends.iter().flat_map(|&source| ends.iter().map(move |&destination| (source, destination)));
        let mut left = if is_given { usize::MAX } else { MOST_ROUTES };
        let mut walk = Walk { routed: self, graph: &mut graph, states: HashSet::new(), hops: Vec::new() };
        for (source, destination) in pairs.filter(|(source, destination)| source != destination) {
            left = left.saturating_sub(walk.every_choice(source, destination, left));
            if left == 0 {
                break;
            }
        }
        Some(graph)
    }
}

/// The search for dependencies: it follows routes and adds what it finds to the graph.
struct Walk<'a, 'b, N> {
    routed: &'a Routed<'b, N>,
    graph: &'a mut ChannelGraph,
    /// The states that the present route has reached.
    states: HashSet<State>,
    hops: Vec<Hop>,
}

impl<N: Network> Walk<'_, '_, N> {
    /// Follows at most `most` routes from a source to a destination. Returns the number of routes followed.
    fn every_choice(&mut self, source: usize, destination: usize, most: usize) -> usize {
        let mut script = Script::default();
        let network = self.routed.network;
        let (first, home) = (network.entry(source), network.home(destination));
        let at = Visit { source: source as u32, destination: destination as u32, first, here: first, home, phase: 0 };
        for count in 1..=most {
            self.states.clear();
            let decisions = match self.routed.choice {
                choice if choice.is_at_first_router() => self.routed.function.decisions(&at, &mut script),
                _ => super::Decisions::only(0),
            };
            for phase in decisions.all() {
                self.follow(&Visit { phase, ..at }, &mut script);
            }
            if !script.advance() {
                return count;
            }
        }
        most
    }

    /// Follows a packet from its first router on, through all states that are not known.
    fn follow(&mut self, first: &Visit, script: &mut Script) {
        let (network, function) = (self.routed.network, self.routed.function);
        let mut left = vec![State { router: first.here, phase: first.phase, held: None }];
        while let Some(state) = left.pop() {
            let at = Visit { here: state.router, phase: state.phase, ..*first };
            if (state.router == first.home && function.arrives(&at)) || !self.states.insert(state) {
                continue;
            }
            self.hops.clear();
            function.hops(&at, script, |hop| self.hops.push(hop));
            for hop in &self.hops {
                let Some(next) = network.next(state.router, hop.port as usize) else { continue };
                let output = state.router * network.ports() + hop.port as usize;
                let mut held = state.held;
                if hop.tier != Tier::Adaptive {
                    let wanted = (output, self.routed.masks.of(*hop));
                    if let Some(before) = held {
                        self.routed.depend(self.graph, before, wanted);
                    }
                    held = Some(wanted);
                } else if self.routed.policy.has_bubble() {
                    held = None;
                }
                let phase = function.hop(&at, next, script);
                left.push(State { router: next, phase, held });
            }
        }
    }
}

impl<N: Network> Routed<'_, N> {
    /// Adds dependencies from each of the channels of an output to each of the channels of another output.
    fn depend(&self, graph: &mut ChannelGraph, (from, from_vcs): (usize, u32), (to, to_vcs): (usize, u32)) {
        let channels = |output: usize, mask: u32| {
            (0..self.vcs).filter(move |vc| mask >> vc & 1 != 0).map(move |vc| output * self.vcs + vc)
        };
        let (held, wanted) = match self.policy.has_bubble() {
            // Going on in a ring is no dependency.
            true if self.ring(from) == self.ring(to) => return,
            true => (self.ring(from), self.ring(to)),
            false => (from, to),
        };
        for one in channels(held, from_vcs) {
            for other in channels(wanted, to_vcs) {
                graph.depend(one, other);
            }
        }
    }

    /// The output that stands for all those of its ring: the least one that leads on through the same port.
    fn ring(&self, output: usize) -> usize {
        let ports = self.network.ports();
        let (first, port) = (output / ports, output % ports);
        let (mut least, mut at) = (first, first);
        while let Some(next) = self.network.next(at, port).filter(|&next| next != first) {
            (least, at) = (least.min(next), next);
        }
        least * ports + port
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::ROUTINGS;
    use crate::topology::TOPOLOGIES;

    /// Every specimen has a row that serves it, so that no proof leaves one out.
    #[test]
    fn a_row_serves_every_specimen() {
        let examples = || TOPOLOGIES.rows().iter().map(|row| row.example).filter(|spec| !spec.starts_with("graph:"));
        let mut count = 0;
        for row in ROUTINGS.standard().iter().filter(|row| row.policy != ChannelPolicy::Given) {
            for spec in examples().filter(|spec| row.serves.includes(spec)) {
                let topology = topology::parse(spec, 2).unwrap();
                let Ok(function) = Build::new(row, &*topology, 32, row.policy).function() else { continue };
                for (specimen, _) in function.specimens().into_iter().flatten() {
                    let name = row.component.name;
                    assert!(row_of(row, &specimen).is_ok(), "{name} in {spec}: no row of {name} serves {specimen}");
                    count += 1;
                }
            }
        }
        assert!(count > 20, "{count} specimens");
        let fly = ROUTINGS.find("destination-tag").unwrap();
        let refusal = row_of(fly, "torus:4").unwrap_err();
        assert!(refusal.to_string().starts_with("routing destination-tag is to be proven in torus:4"), "{refusal}");
    }
}
