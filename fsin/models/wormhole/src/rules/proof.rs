//! Freedom from deadlock: the channel dependency graph of a routing function, and a search for cycles in it.
//!
//! A channel is an output VC. A dependency leads from the channel that a packet holds to each channel that it may wait
//! for next (Dally and Seitz, TC 36(5), 1987). With adaptive routing only escape channels count, and a dependency leads
//! from the last escape channel that the packet used to every escape channel that it may request later, with any number
//! of adaptive hops between them (Duato, TPDS 6(10), 1995: the extended graph, with its indirect dependencies).
//! Without a cycle there is no deadlock. Message classes share no channel, and endpoints take every flit that
//! comes, so that the channels of one class stand for all. Every pair of endpoints, every random choice of a route and
//! every decision is followed. Grids are proven ring by ring.

use std::collections::HashSet;

use fsin_core::topology::{self, Topology};

use super::routes::{BuildError, Candidate, Draw, Head, Ring, Routes, Tier};
use super::wiring::{End, Wiring};
use crate::params::Params;

/// \[nodes\] Rings are proven up to this size. Classes and directions depend only on the order of two coordinates and
/// on the halves of a ring, so longer rings depend in the same way.
const LONGEST_RING: u32 = 64;

/// \[channels\] Networks with more channels are not searched: the classes are trusted as each routing states them.
const MOST_CHANNELS: usize = 1 << 20;

/// \[routes\] The search ends after so many routes, each from a source to a destination with one combination of
/// choices. The routes that are left are trusted as each routing states them.
const MOST_ROUTES: usize = 1 << 21;

/// Refuses a routing whose channels can wait for each other in a cycle.
pub(crate) fn check(params: &Params, routes: &Routes, wiring: &Wiring) -> Result<(), BuildError> {
    let Some(rings) = routes.rings() else { return explore(params, routes, wiring) };
    let distinct: HashSet<Ring> = rings.into_iter().filter(|ring| ring.size > 1).collect();
    for ring in distinct {
        let parity = ring.size % 2;
        let size = if ring.size > LONGEST_RING { LONGEST_RING - parity } else { ring.size };
        let topology = match ring.ways {
            1 if ring.size == 2 => continue,
            ways => topology::parse(&Ring { size, ..ring }.spec(), ways)?,
        };
        check_all(params, &*topology)?;
    }
    Ok(())
}

/// Refuses a routing whose channels can wait for each other in a cycle, by following every route of the network.
pub(crate) fn check_all(params: &Params, topology: &dyn Topology) -> Result<(), BuildError> {
    let wiring = Wiring::new(topology, params.link_delay);
    let routes = Routes::new(params, topology, &wiring)?;
    explore(params, &routes, &wiring)
}

/// Follows every route of a network, and refuses the routing if the dependencies have a cycle.
fn explore(params: &Params, routes: &Routes, wiring: &Wiring) -> Result<(), BuildError> {
    let channels = wiring.routers * wiring.ports * params.vcs;
    // Endpoints of the same router have the same routes.
    let mut ends: Vec<usize> = Vec::new();
    let mut seen = vec![false; wiring.routers];
    for endpoint in 0..wiring.endpoints {
        if !std::mem::replace(&mut seen[wiring.home(endpoint).0], true) {
            ends.push(endpoint);
        }
    }
    if channels > MOST_CHANNELS {
        return Ok(());
    }
    let mut graph = Graph { next: vec![Vec::new(); channels] };
    let pairs = ends.iter().flat_map(|&source| ends.iter().map(move |&destination| (source, destination)));
    let mut left = MOST_ROUTES;
    for (source, destination) in pairs.filter(|(source, destination)| source != destination) {
        let followed = Walk { params, routes, wiring, graph: &mut graph }.every_choice(source, destination, left);
        left = left.saturating_sub(followed);
        if left == 0 {
            break;
        }
    }
    match graph.cycle() {
        None => Ok(()),
        Some(cycle) => {
            let named = cycle.into_iter().filter_map(|channel| {
                let (output, vc) = (channel / params.vcs, channel % params.vcs);
                match wiring.out(output / wiring.ports, output % wiring.ports).end {
                    End::Router { router, port } => Some(wiring.input(router as usize, port.into(), vc)),
                    _ => None,
                }
            });
            Err(BuildError::Cycle { routing: params.routing.name(), cycle: named.collect() })
        }
    }
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
    phase: u8,
    /// The output (router x ports + port) and its VCs (a mask) through which the packet came. With an adaptive routing,
    /// the last escape channels that it used.
    held: Option<(usize, u32)>,
}

/// The search for dependencies: it follows routes and adds what it finds to the graph.
struct Walk<'a> {
    params: &'a Params,
    routes: &'a Routes,
    wiring: &'a Wiring,
    graph: &'a mut Graph,
}

impl Walk<'_> {
    /// Follows at most `most` routes from a source to a destination. Returns the number of routes followed.
    fn every_choice(&mut self, source: usize, destination: usize, most: usize) -> usize {
        let mut script = Script::default();
        let mut seen = HashSet::new();
        for count in 1..=most {
            let head = Head { source: source as u32, destination: destination as u32, phase: 0, class: 0 };
            let router = self.wiring.home(source).0;
            let phases = match self.routes.decides() {
                true => self.routes.decisions(router, &head, &mut script),
                false => vec![0],
            };
            seen.clear();
            for phase in phases {
                self.follow(&head, State { router, phase, held: None }, &mut script, &mut seen);
            }
            if !script.advance() {
                return count;
            }
        }
        most
    }

    /// Follows a packet from the state `first` on, with the choices of `script`, through all states that are not in
    /// `seen`.
    fn follow(&mut self, head: &Head, first: State, script: &mut Script, seen: &mut HashSet<State>) {
        let mut left = vec![first];
        let mut candidates: Vec<Candidate> = Vec::new();
        while let Some(state) = left.pop() {
            if !seen.insert(state) {
                continue;
            }
            let here = Head { phase: state.phase, ..*head };
            self.routes.candidates(state.router, &here, script, &mut candidates);
            for candidate in &candidates {
                let port = usize::from(candidate.port);
                let End::Router { router: next, .. } = self.wiring.out(state.router, port).end else { continue };
                let output = state.router * self.wiring.ports + port;
                let mut held = state.held;
                if candidate.tier != Tier::Adaptive {
                    if let Some(before) = held {
                        self.graph.depend(self.params.vcs, before, (output, candidate.vcs));
                    }
                    held = Some((output, candidate.vcs));
                }
                let phase = self.routes.hop(state.router, next as usize, state.phase, script);
                left.push(State { router: next as usize, phase, held });
            }
        }
    }
}

/// The channel dependency graph.
struct Graph {
    /// By channel: the channels that packets on it may wait for.
    next: Vec<Vec<u32>>,
}

impl Graph {
    /// Adds dependencies from each of the VCs of an output to each of the VCs of another output.
    fn depend(&mut self, vcs: usize, (from, from_vcs): (usize, u32), (to, to_vcs): (usize, u32)) {
        let channels =
            |output: usize, mask: u32| (0..vcs).filter(move |vc| mask >> vc & 1 != 0).map(move |vc| output * vcs + vc);
        for one in channels(from, from_vcs) {
            for other in channels(to, to_vcs) {
                let next = &mut self.next[one];
                if !next.contains(&(other as u32)) {
                    next.push(other as u32);
                }
            }
        }
    }

    /// A cycle of channels, if the graph has one. The search is depth first, without recursion.
    fn cycle(&self) -> Option<Vec<usize>> {
        const UNSEEN: u8 = 0;
        const ON_PATH: u8 = 1;
        const DONE: u8 = 2;
        let mut state = vec![UNSEEN; self.next.len()];
        for start in 0..self.next.len() {
            if state[start] != UNSEEN {
                continue;
            }
            let mut path = vec![(start, 0)];
            state[start] = ON_PATH;
            while let Some((channel, at)) = path.last_mut() {
                let Some(&next) = self.next[*channel].get(*at) else {
                    state[*channel] = DONE;
                    path.pop();
                    continue;
                };
                *at += 1;
                let next = next as usize;
                match state[next] {
                    ON_PATH => {
                        let begin = path.iter().position(|&(channel, _)| channel == next).unwrap_or(0);
                        return Some(path[begin..].iter().map(|&(channel, _)| channel).collect());
                    }
                    UNSEEN => {
                        state[next] = ON_PATH;
                        path.push((next, 0));
                    }
                    _ => {}
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Routing, VcClasses};

    fn verdict(spec: &str, ways: usize, params: &Params) -> Result<(), BuildError> {
        check_all(params, &*topology::parse(spec, ways).unwrap())
    }

    #[test]
    fn what_each_routing_states_holds() {
        use Routing::{Adaptive, DimensionOrder, Minimal, Ugal, UpDown, Valiant};
        for (spec, routing, vcs) in [
            ("mesh:4x3", DimensionOrder, 1),
            ("torus:5x4", DimensionOrder, 2),
            ("torus:4x4", DimensionOrder, 3),
            ("torus:3x3x3", DimensionOrder, 2),
            ("hypercube:4", DimensionOrder, 1),
            ("mesh:4x4", Adaptive, 2),
            ("torus:4x5", Adaptive, 3),
            ("hypercube:3", Adaptive, 2),
            ("fattree:2,3", Adaptive, 1),
            ("thintree:4,2,2", Minimal, 1),
            ("slimtree:4,2,2", Minimal, 1),
            ("dragonfly:p=1,a=3,h=1", Minimal, 2),
            ("dragonfly:p=1,a=3,h=2,g=4", Valiant, 3),
            ("dragonfly:p=1,a=4,h=1", Ugal, 3),
            ("hyperx:3x4:1", Minimal, 1),
            ("hyperx:3x3:2", Adaptive, 2),
            ("hyperx:3x3:1", Valiant, 2),
            ("hyperx:3x2:1", Ugal, 4),
            ("rrg:s=10,d=3,p=1", UpDown, 1),
            ("hyperx:3x3:1", UpDown, 1),
        ] {
            let params = Params { routing, vcs, ..Params::default() };
            assert_eq!(verdict(spec, 2, &params), Ok(()), "{spec} {}", routing.name());
        }
        for vc_classes in [VcClasses::Dateline, VcClasses::Balanced, VcClasses::PerDimension] {
            for size in 3..=9 {
                let spec = format!("torus:{size}");
                assert_eq!(verdict(&spec, 2, &Params { vc_classes, ..Params::default() }), Ok(()), "{spec}");
            }
        }
    }

    #[test]
    fn missing_classes_close_a_cycle() {
        let unsafe_routing = Params { unsafe_routing: true, ..Params::default() };
        for (spec, ways, params) in [
            ("torus:4", 2, Params { vcs: 1, ..unsafe_routing.clone() }),
            ("torus:4", 1, Params { vc_classes: VcClasses::PerDimension, ..unsafe_routing.clone() }),
            ("dragonfly:p=1,a=3,h=1", 2, Params { vcs: 1, routing: Routing::Minimal, ..unsafe_routing.clone() }),
            ("hyperx:3x3:1", 2, Params { vcs: 1, routing: Routing::Valiant, ..unsafe_routing }),
        ] {
            let BuildError::Cycle { cycle, .. } = verdict(spec, ways, &params).unwrap_err() else {
                panic!("{spec}: a cycle is named")
            };
            assert!(cycle.len() > 1, "{spec}");
        }
        let one_way = Params { vc_classes: VcClasses::Dateline, ..Params::default() };
        assert_eq!(verdict("torus:4", 1, &one_way), Ok(()));
    }

    /// The argument of `grid`: ring by ring gives the verdict of the whole.
    #[test]
    fn rings_speak_for_their_grid() {
        for (spec, ways) in [("torus:4x3", 2), ("torus:3x5", 2), ("mesh:3x4", 2), ("torus:3x3", 1)] {
            for vcs in 1..=3 {
                for vc_classes in [VcClasses::Dateline, VcClasses::Balanced, VcClasses::PerDimension] {
                    for routing in [Routing::DimensionOrder, Routing::Adaptive] {
                        let params = Params { vcs, vc_classes, routing, unsafe_routing: true, ..Params::default() };
                        let topology = topology::parse(spec, ways).unwrap();
                        let wiring = Wiring::new(&*topology, 1);
                        let routes = Routes::new(&params, &*topology, &wiring).unwrap();
                        let by_rings = check(&params, &routes, &wiring).is_ok();
                        assert_eq!(by_rings, verdict(spec, ways, &params).is_ok(), "{spec} {params:?}");
                    }
                }
            }
        }
    }
}
