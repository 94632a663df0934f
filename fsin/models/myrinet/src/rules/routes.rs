//! Routes, which the sender writes at the head of a packet: a character for each switch.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use fsin_core::failures::parts;
use fsin_core::route::proof::ChannelGraph;
use fsin_core::route::{ShortestPaths, UpDown};
use fsin_core::topology::switched::Nics;
use fsin_core::topology::{Port, Topology};
use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::rng::{mix2, pick};

use super::wires::Wires;
use crate::params::{Params, Routing};

/// Maximum number of switches: tables have an entry for each pair.
const MAX_SWITCHES: usize = 8_192;

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

/// How routes are found.
#[derive(Debug)]
enum Scheme {
    UpDown(UpDown),
    Shortest(ShortestPaths),
    DimensionOrder(Arc<dyn Topology>),
}

/// The routes of all pairs of hosts, found when they are first used.
#[derive(Debug)]
pub(crate) struct Routes {
    /// How routes are found.
    scheme: Scheme,
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
    /// The routes of a network that use the links of `topology`, all or some of those of `wires`. They avoid dead links
    /// if `sees_dead`.
    pub(crate) fn new(
        topology: &Arc<dyn Topology>,
        wires: &Wires,
        params: &Params,
        sees_dead: bool,
    ) -> Result<Self, SpecError> {
        let is_left = |port: usize| {
            let link = &wires.links()[port];
            let is_there = || topology.neighbour(wires.node(link.owner as usize), Port(link.number as u8)).is_some();
            !(sees_dead && wires.dead[port]) && (params.timetable.is_empty() || !link.is_visible || is_there())
        };
        if wires.switches > MAX_SWITCHES {
            let what = format!("{} has {} switches", topology.spec(), wires.switches);
            return Err(SpecError::new(ErrorKind::TooLarge, what, format!("use at most {MAX_SWITCHES}")).of("topology"));
        }
        if let Some(network) = topology.switched() {
            network.check_rails(&phrase![["network" => "myrinet"]])?;
        }
        let links = wires.links_between_switches(is_left);
        let near = |switch: usize| links[switch].iter().map(|&(_, next)| next as usize).collect();
        let nics = Nics::of(&**topology).among((0..wires.hosts).map(|host| wires.home(host).0), near);
        let scheme = match params.routing {
            Routing::UpDown => Scheme::UpDown(UpDown::new(links, &nics)),
            Routing::Shortest => Scheme::Shortest(ShortestPaths::new(links, nics)),
            Routing::DimensionOrder if !params.timetable.is_empty() => {
                let what = phrase![["routing" => params.routing.name()], " cannot avoid dead links"];
                let remedy = phrase!["use ", ["routing" => "updown"], ", which goes round them"];
                return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("routing"));
            }
            Routing::DimensionOrder if topology.is_grid() => Scheme::DimensionOrder(Arc::clone(topology)),
            Routing::DimensionOrder => {
                let what = phrase![["routing" => params.routing.name()], (" is not for {}", topology.spec())];
                let remedy = phrase!["use ", ["routing" => "updown"]];
                return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("routing"));
            }
        };
        let parts = if params.timetable.is_empty() { Vec::new() } else { parts(&**topology, &HashSet::new()) };
        Ok(Self { scheme, seed: params.seed, known: HashMap::new(), ports: Vec::new(), parts })
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
        let mut has_gone_down = false;
        while switch != last {
            let (port, next) = self.next(wires, switch, last, has_gone_down, mix2(key, switch as u64));
            if let Scheme::UpDown(table) = &self.scheme {
                has_gone_down |= table.is_down(switch, next);
            }
            self.ports.push(port);
            switch = next;
        }
        self.ports.push(exit as u32);
        let route = Route { start, switches: self.ports.len() as u32 - start };
        self.known.insert((source, destination), route);
        route
    }

    /// The port through which a route to switch `to` leaves `switch`, and the next switch. `key` draws one of several.
    fn next(&self, wires: &Wires, switch: usize, to: usize, has_gone_down: bool, key: u64) -> (u32, usize) {
        let ports: Vec<(u32, u32)> = match &self.scheme {
            Scheme::UpDown(table) => table.next(switch, to, has_gone_down).collect(),
            Scheme::Shortest(table) => table.next(switch, to).collect(),
            Scheme::DimensionOrder(topology) => {
                let shape = topology.shape();
                let mut tie = |dimension: usize| pick(mix2(key, dimension as u64), 2) == 0;
                let offsets = topology.offsets(NodeId::at(switch), NodeId::at(to), &mut tie);
                let port = topology.usual().order.next(shape, &offsets[..shape.dimensions]);
                let number = port.map_or(0, |port| port.0.into());
                let mut ports = wires.ports(wires.hosts + switch);
                let port = ports.find(|&port| wires.links()[port].number == number);
                port.map(|port| (port as u32, wires.switch(wires.links()[port].device) as u32)).into_iter().collect()
            }
        };
        // There is a port, since switches are asked only for hosts that they reach.
        let (port, next) = ports[pick(key, ports.len() as u32) as usize];
        (port, next as usize)
    }

    /// The output port at switch number `at` (from 0) of a route.
    #[inline(always)]
    pub(crate) fn port(&self, route: Route, at: u32) -> u32 {
        self.ports[(route.start + at) as usize]
    }

    /// Refuses routings whose channels can wait for each other in a cycle (Dally and Seitz, TC 36(5), 1987). Up*/down*
    /// has no such cycles.
    pub(crate) fn check(&mut self, wires: &Wires, params: &Params) -> Result<(), SpecError> {
        if params.unsafe_routing || params.routing == Routing::UpDown {
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
    use super::*;

    fn checked(spec: &str, routing: Routing) -> Result<(), SpecError> {
        let topology: Arc<dyn Topology> = fsin_core::topology::parse(spec, 2).unwrap().into();
        let params = Params { routing, ..Params::default() };
        let wires = Wires::new(&*topology, &params, true)?;
        Routes::new(&topology, &wires, &params, false)?.check(&wires, &params)
    }

    #[test]
    fn cyclic_routes_are_refused() {
        for (spec, routing, is_free) in [
            ("torus:5x4", Routing::UpDown, true),
            ("torus:5x4", Routing::DimensionOrder, false),
            ("torus:5", Routing::Shortest, false),
            ("mesh:4x4", Routing::DimensionOrder, true),
            ("hypercube:4", Routing::DimensionOrder, true),
            ("fattree:2,3", Routing::Shortest, true),
            ("fattree:4,2", Routing::DimensionOrder, false),
        ] {
            assert_eq!(checked(spec, routing).is_ok(), is_free, "{spec} {routing:?}");
        }
        let error = checked("torus:5", Routing::Shortest).unwrap_err();
        assert!(error.to_string().contains("5 channels may wait for each other in a cycle"), "{error}");
    }

    #[test]
    fn routes_arrive() {
        for spec in ["torus:4x3", "fattree:3,3", "dragonfly:p=2,a=4,h=2", "fattree:6,1"] {
            for routing in [Routing::UpDown, Routing::Shortest] {
                let topology: Arc<dyn Topology> = fsin_core::topology::parse(spec, 2).unwrap().into();
                let params = Params { routing, ..Params::default() };
                let wires = Wires::new(&*topology, &params, true).unwrap();
                let mut routes = Routes::new(&topology, &wires, &params, false).unwrap();
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
