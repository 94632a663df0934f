//! Routes, which the sender writes at the head of a packet: a character for each switch.

use std::collections::{HashMap, HashSet};

use fsin_core::failures::parts;
use fsin_core::route::proof::ChannelGraph;
use fsin_core::route::{
    Build, Carries, ChannelPolicy, Choice, Draw, Function, Name, ROUTINGS, RoutingFunction as _, Row, Serves, Visit,
    named,
};
use fsin_core::topology::{Port, Topology};
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::rng::{mix2, pick};

use super::wires::Wires;
use crate::params::Params;

/// The routings that the model carries, up*/down* first, which is the default: those with one hop and no escape, and of
/// those for any network one route for each pair of hosts. Adaptive ones would be something else under their name.
/// There are no virtual channels, so that the classes of a routing come to nothing, and [`Routes::check`] says whether
/// it is free of deadlock without them.
pub(crate) fn carried() -> Vec<Carries> {
    let fits = |row: &&Row| {
        let has_one_route = row.choice == Choice::One || row.choice == Choice::Any && row.serves == Serves::Every;
        has_one_route && !row.policy.is_escape() && row.policy != ChannelPolicy::Given && row.serves.lead_back()
    };
    let mut rows: Vec<&Row> = ROUTINGS.rows().iter().copied().filter(fits).collect();
    rows.sort_by_key(|row| row.component.name != Name::UPDOWN.name());
    rows.into_iter().map(|row| Carries { row, policy: ChannelPolicy::Free }).collect()
}

/// Maximum number of hosts of a network whose routes are followed one by one to prove that they do not deadlock.
const MAX_PROVEN: usize = 4_096;

/// Maximum number of channels of a cycle that an error names.
const NAMED: usize = 8;

/// A route: a range of [`Routes::ports`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Route {
    /// Index of its first port in [`Routes::ports`].
    start: u32,
    /// Number of switches, which is also the number of characters of the route.
    pub(crate) switches: u32,
}

/// The draws of a route: each belongs to the switch at which it is made first.
struct Draws {
    /// Random stream of (seed, source, destination).
    key: u64,
    /// The present switch.
    here: usize,
    /// The labels so far, with what was drawn.
    drawn: Vec<(u32, u32)>,
}

impl Draw for Draws {
    fn draw(&mut self, label: u32, bound: u32) -> u32 {
        if let Some(&(_, drawn)) = self.drawn.iter().find(|(known, _)| *known == label) {
            return drawn;
        }
        let drawn = pick(mix2(mix2(self.key, self.here as u64), label.into()), bound);
        self.drawn.push((label, drawn));
        drawn
    }
}

/// The routes of all pairs of hosts, found when they are first used.
#[derive(Debug)]
pub(crate) struct Routes {
    function: Function,
    /// True if the channels of the function are in an order in every network.
    is_proven: bool,
    /// Seed of the run.
    seed: u64,
    /// By source and destination: the routes found so far.
    known: HashMap<(u32, u32), Route>,
    /// Output ports of all routes found so far, route after route.
    ports: Vec<u32>,
    /// By host: the part of the network in which it is; empty if no link dies or is repaired during the run.
    parts: Vec<u32>,
}

impl Routes {
    /// The routes of a network that use the links of `topology`, all or some of those of [`Wires`].
    pub(crate) fn new(topology: &dyn Topology, params: &Params) -> Result<Self, SpecError> {
        let may_be_parted = !params.timetable.is_empty();
        let Carries { row, policy } = named(&carried(), params.routing, topology, may_be_parted)?;
        let function = Build { may_be_parted, ..Build::new(row, topology, 1, policy) }.function()?;
        let has_no_classes = row.policy == ChannelPolicy::Free;
        let is_proven = has_no_classes && function.specimens().is_some_and(|specimens| specimens.is_empty());
        let parts = if may_be_parted { parts(topology, &HashSet::new()) } else { Vec::new() };
        Ok(Self { function, is_proven, seed: params.seed, known: HashMap::new(), ports: Vec::new(), parts })
    }

    /// True if a route leads from one host to another.
    pub(crate) fn reach(&self, source: u32, destination: u32) -> bool {
        self.parts.get(source as usize) == self.parts.get(destination as usize)
    }

    /// The route between two different hosts, of which one reaches the other.
    pub(crate) fn between(&mut self, wires: &Wires, source: u32, destination: u32) -> Route {
        if let Some(&route) = self.known.get(&(source, destination)) {
            return route;
        }
        let start = self.ports.len() as u32;
        let (mut switch, _) = wires.home(source as usize);
        let (last, exit) = wires.home(destination as usize);
        let key = mix2(self.seed, u64::from(source) << 32 | u64::from(destination));
        let mut draw = Draws { key, here: switch, drawn: Vec::new() };
        let mut at = Visit { source, destination, first: switch, here: switch, home: last, phase: 0 };
        let mut hops = Vec::new();
        while switch != last {
            (draw.here, at.here) = (switch, switch);
            hops.clear();
            self.function.hops(&at, &mut draw, |hop| hops.push(Port(hop.port)));
            // There is a hop, since routes are asked for only between hosts that reach each other.
            let hop = hops[pick(mix2(key, switch as u64), hops.len() as u32) as usize];
            let port = wires.port_of(wires.node(wires.hosts + switch), hop).expect("hops leave through linked ports");
            switch = wires.switch(wires.links()[port].device);
            at.phase = self.function.hop(&at, switch, &mut draw);
            self.ports.push(port as u32);
        }
        self.ports.push(exit as u32);
        let route = Route { start, switches: self.ports.len() as u32 - start };
        self.known.insert((source, destination), route);
        route
    }

    /// The output port at switch number `at` (from 0) of a route.
    #[inline(always)]
    pub(crate) fn port(&self, route: Route, at: u32) -> u32 {
        self.ports[(route.start + at) as usize]
    }

    /// Refuses routings whose channels can wait for each other in a cycle (Dally and Seitz, TC 36(5), 1987).
    pub(crate) fn check(&mut self, wires: &Wires, params: &Params) -> Result<(), SpecError> {
        if params.unsafe_routing || self.is_proven {
            return Ok(());
        }
        let remedy = phrase![
            "use ",
            ["routing" => "updown"],
            "; ",
            ["unsafe-routing"],
            " runs it all the same: timeouts then break deadlocks, and lose packets"
        ];
        if wires.hosts > MAX_PROVEN {
            let what = phrase![
                ["routing" => params.routing.name()],
                (" is proven free of deadlock for at most {MAX_PROVEN} hosts, and here are {}", wires.hosts)
            ];
            return Err(SpecError::new(ErrorKind::TooLarge, what, remedy).of("routing"));
        }
        let mut waits = ChannelGraph::new(wires.links().len());
        let hosts = wires.hosts as u32;
        for (source, destination) in (0..hosts).flat_map(|source| (0..hosts).map(move |to| (source, to))) {
            if source == destination || !self.reach(source, destination) {
                continue;
            }
            let route = self.between(wires, source, destination);
            for at in 1..route.switches {
                waits.depend(self.port(route, at - 1) as usize, self.port(route, at) as usize);
            }
        }
        let Some(cycle) = waits.cycle() else { return Ok(()) };
        let named = |&port: &usize| {
            let link = &wires.links()[port];
            format!("node {} port {}", wires.node(link.owner as usize), link.number)
        };
        let mut names: Vec<String> = cycle.iter().take(NAMED).map(named).collect();
        if cycle.len() > NAMED {
            names.push("...".to_owned());
        }
        let what = phrase![
            ["routing" => params.routing.name()],
            (
                " is not free of deadlock here: {} channels may wait for each other in a cycle: {}",
                cycle.len(),
                names.join(", ")
            )
        ];
        Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("routing"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn checked(spec: &str, routing: Name) -> Result<(), SpecError> {
        let topology: Arc<dyn Topology> = fsin_core::topology::parse(spec, 2).unwrap().into();
        let params = Params { routing, ..Params::default() };
        let wires = Wires::new(&*topology, &params, true)?;
        Routes::new(&*topology, &params)?.check(&wires, &params)
    }

    #[test]
    fn cyclic_routes_are_refused() {
        for (spec, routing, is_free) in [
            ("torus:5x4", Name::UPDOWN, true),
            ("torus:5x4", Name::DOR, false),
            ("torus:5", Name::SHORTEST, false),
            ("mesh:4x4", Name::DOR, true),
            ("hypercube:4", Name::DOR, true),
            ("fattree:2,3", Name::SHORTEST, true),
            ("fattree:4,2", Name::DOR, false),
            ("fattree:4,2", Name::STATIC, true),
            ("hyperx:3x3:2", Name::DOR, true),
            ("dragonfly:p=1,a=3,h=1", Name::MINIMAL, false),
        ] {
            assert_eq!(checked(spec, routing).is_ok(), is_free, "{spec} {}", routing.name());
        }
        let error = checked("torus:5", Name::SHORTEST).unwrap_err();
        assert!(error.to_string().contains("5 channels may wait for each other in a cycle"), "{error}");
    }

    #[test]
    fn routes_arrive() {
        for spec in ["torus:4x3", "fattree:3,3", "dragonfly:p=2,a=4,h=2", "fattree:6,1"] {
            for routing in [Name::UPDOWN, Name::SHORTEST] {
                let topology: Arc<dyn Topology> = fsin_core::topology::parse(spec, 2).unwrap().into();
                let params = Params { routing, ..Params::default() };
                let wires = Wires::new(&*topology, &params, true).unwrap();
                let mut routes = Routes::new(&*topology, &params).unwrap();
                let hosts = wires.hosts as u32;
                for (source, destination) in (0..hosts).flat_map(|one| (0..hosts).map(move |other| (one, other))) {
                    if source == destination {
                        continue;
                    }
                    let route = routes.between(&wires, source, destination);
                    let mut device = wires.links()[wires.host_port(source)].device;
                    for at in 0..route.switches {
                        let link = &wires.links()[routes.port(route, at) as usize];
                        assert_eq!(link.owner, device, "{spec}");
                        device = link.device;
                    }
                    assert_eq!(device, destination, "{spec}");
                }
            }
        }
    }
}
