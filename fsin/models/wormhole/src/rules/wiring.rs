//! Routers, and what their ports are linked with.
//!
//! In a direct network each node is a router, and its last ports lead to its own endpoint, one for each tap. In a
//! network of switches the switches are the routers, and endpoints hang at their ports.

use std::sync::Arc;

use trgen::NodeId;

use super::outages::Outages;
use crate::params::Params;
use fsin_core::network::{Channel, EventEnd, EventPort, RouterEvents};
use fsin_core::topology::switched::{Attribute, Pace, PacedLink, Switched, Uses};
use fsin_core::topology::{Port, Shape, Topology};
use fsin_core::view::Occupancy;

/// \[cycles\] Delay of the link between a direct node and its own router, beyond one cycle.
const OWN_DELAY: u32 = 1;

/// The attributes of links that this model uses. Times are converted to cycles before, and rates to paces.
pub(crate) const LINKS: Uses =
    Uses { model: "wormhole", attributes: &[Attribute::Cycles, Attribute::Pace], any_ports: false };

/// What is at the other end of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// Nothing: the border of a mesh, a port that a switch lacks.
    Nothing,
    /// A router, by its number and port.
    Router { router: u32, port: u8 },
    /// A tap of an endpoint: number of the endpoint x [`own`](Wiring::own) + tap.
    Endpoint(u32),
}

/// One direction of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wire {
    /// What the link leads to.
    pub(crate) end: End,
    /// \[cycles\] Delay: what is sent in cycle t is received in cycle t + delay + 1. It includes the cycles beyond one
    /// that a flit takes to cross a slow link.
    pub(crate) delay: u32,
}

/// The links where some pass less than a flit in each cycle.
#[derive(Clone, Debug)]
pub(crate) struct Paced {
    /// By router and output port.
    pub(crate) out: Vec<PacedLink>,
    /// By tap: the link from the endpoint to its router.
    pub(crate) from_taps: Vec<PacedLink>,
    /// \[cycles\] Time that a flit takes to cross the slowest link.
    pub(crate) longest: u32,
}

/// The routers, and the links between their ports.
#[derive(Clone, Debug)]
pub(crate) struct Wiring {
    /// Number of routers, of all subnets together. Those of a subnet follow each other.
    pub(crate) routers: usize,
    /// Number of routers of a subnet.
    pub(crate) of_subnet: usize,
    /// Number of ports of each router.
    pub(crate) ports: usize,
    /// Number of endpoints.
    pub(crate) endpoints: usize,
    /// Number of taps of an endpoint, in all subnets: pairs of an input port and an output port of its routers.
    pub(crate) own: usize,
    shape: Shape,
    /// By router and output port: the link that leaves through it.
    out: Vec<Wire>,
    /// By router and input port: where its flits come from, and its credits go to. Credits take as long as the flits of
    /// the same link, in the other direction.
    back: Vec<Wire>,
    /// By tap: the router that its link leads to, and the input port there at which its flits arrive.
    entries: Vec<(u32, u8)>,
    /// By tap: the router with a link to it, and the output port of that link.
    exits: Vec<(u32, u8)>,
    /// `None` if every link passes a flit in each cycle.
    pub(crate) paced: Option<Paced>,
    /// Links that are dead at times.
    pub(crate) outages: Arc<Outages>,
}

impl Wiring {
    pub(crate) fn new(topology: &dyn Topology, params: &Params) -> Self {
        let (shape, link_delay) = (topology.shape(), params.link_delay);
        let own_ports = if shape.is_switched() { 1 } else { params.own_ports(shape.ports()) };
        let (endpoints, subnets) = (topology.endpoints(), params.subnets);
        // With several subnets an endpoint has one tap in each of them.
        let own = own_ports * subnets;
        let first = if shape.is_switched() { endpoints } else { 0 };
        let of_subnet = topology.nodes() - first;
        let routers = of_subnet * subnets;
        let ports = shape.ports() + if shape.is_switched() { 0 } else { own_ports };
        let nothing = Wire { end: End::Nothing, delay: 0 };
        let network = topology.switched().filter(|network| network.is_paced());
        let pace = |node, port| network.map_or(Pace::FULL, |network| network.pace(node, port));
        let delay_of = |node, port| link_delay + topology.wire(node, port) + pace(node, port).crossing() - 1;
        let mut new = Self {
            routers,
            of_subnet,
            ports,
            endpoints,
            shape,
            out: vec![nothing; routers * ports],
            back: vec![nothing; routers * ports],
            own,
            entries: vec![(0, 0); endpoints * own],
            exits: vec![(0, 0); endpoints * own],
            paced: network.map(|network| Paced::new(network, routers, ports)),
            outages: Arc::default(),
        };
        for router in 0..routers {
            let (subnet, node) = (router / of_subnet, NodeId::at(router % of_subnet + first));
            let before = subnet * of_subnet;
            for port in 0..shape.ports() {
                let Some(there) = topology.neighbour(node, Port::at(port)) else { continue };
                let delay = delay_of(node, Port::at(port));
                if there.index() < first {
                    new.eject(there.index() * own + subnet, router, (port, delay));
                    continue;
                }
                let (to, at) = ((before + there.index() - first) as u32, new.arrives_at(port));
                new.out[router * ports + port] = Wire { end: End::Router { router: to, port: at }, delay };
                let back = Wire { end: End::Router { router: router as u32, port: port as u8 }, delay };
                new.back[to as usize * ports + usize::from(at)] = back;
            }
            if !shape.is_switched() {
                for tap in 0..own_ports {
                    let (port, of_node) = (shape.ports() + tap, node.index() * own + subnet * own_ports + tap);
                    new.inject(of_node, router, (port, OWN_DELAY));
                    new.eject(of_node, router, (port, OWN_DELAY));
                }
            }
        }
        for endpoint in (0..first).map(NodeId::at) {
            // The way from the endpoint may have another number than that to it, and lead to another switch.
            for port in (0..shape.ports()).map(Port::at) {
                let Some(there) = topology.neighbour(endpoint, port) else { continue };
                for subnet in 0..subnets {
                    let router = subnet * of_subnet + there.index() - first;
                    new.inject(endpoint.index() * own + subnet, router, (port.index(), delay_of(endpoint, port)));
                }
                if let Some(paced) = &mut new.paced {
                    paced.from_taps[endpoint.index()] = PacedLink::new(pace(endpoint, port));
                }
            }
        }
        new.outages = Arc::new(Outages::new(&params.timetable, &new));
        new
    }

    /// Links a tap with an input port of a router.
    fn inject(&mut self, tap: usize, router: usize, (input, delay): (usize, u32)) {
        self.back[router * self.ports + input] = Wire { end: End::Endpoint(tap as u32), delay };
        self.entries[tap] = (router as u32, input as u8);
    }

    /// Links an output port of a router with a tap.
    fn eject(&mut self, tap: usize, router: usize, (output, delay): (usize, u32)) {
        self.out[router * self.ports + output] = Wire { end: End::Endpoint(tap as u32), delay };
        self.exits[tap] = (router as u32, output as u8);
    }

    /// The input port of the next router at which flits arrive that leave through output port `port`. In a direct
    /// network it is the port of the side that they come from, in a network of switches the port of the link.
    fn arrives_at(&self, port: usize) -> u8 {
        let opposite = !self.shape.is_switched() && self.shape.ways == 2;
        (if opposite { port ^ 1 } else { port }) as u8
    }

    /// The link on which flits leave through an output port.
    #[inline(always)]
    pub(crate) fn out(&self, router: usize, port: usize) -> Wire {
        self.out[router * self.ports + port]
    }

    /// The link on which an input port sends credits.
    #[inline(always)]
    pub(crate) fn back(&self, router: usize, port: usize) -> Wire {
        self.back[router * self.ports + port]
    }

    /// The router with a link to an endpoint, and the output port of that link, the first of them.
    #[inline(always)]
    pub(crate) fn exit(&self, endpoint: usize) -> (usize, u8) {
        let (router, port) = self.exits[endpoint * self.own];
        (router as usize, port)
    }

    /// The router with a link to a tap, and the output port of that link.
    pub(crate) fn exit_of(&self, tap: usize) -> (usize, usize) {
        let (router, port) = self.exits[tap];
        (router as usize, port.into())
    }

    /// The taps of an endpoint.
    pub(crate) fn taps_of(&self, endpoint: NodeId) -> std::ops::Range<usize> {
        let first = endpoint.index() * self.own;
        first..first + self.own
    }

    /// True if flits at an input port come from this endpoint.
    #[inline(always)]
    pub(crate) fn comes_from(&self, router: usize, port: usize, endpoint: u32) -> bool {
        matches!(self.back(router, port).end, End::Endpoint(tap) if tap as usize / self.own == endpoint as usize)
    }

    /// Number of taps of all endpoints.
    pub(crate) fn taps(&self) -> usize {
        self.entries.len()
    }

    /// The router that the link of a tap leads to, and the input port there at which its flits arrive.
    #[inline(always)]
    pub(crate) fn entry(&self, tap: usize) -> (usize, usize) {
        let (router, port) = self.entries[tap];
        (router as usize, port.into())
    }

    /// \[cycles\] The longest delay of a link.
    pub(crate) fn longest(&self) -> u32 {
        self.out.iter().chain(&self.back).map(|wire| wire.delay).max().unwrap_or(0)
    }

    /// Number of links of the topology between an endpoint and its router.
    pub(crate) const fn links_of_endpoint(&self) -> u64 {
        self.shape.is_switched() as u64
    }

    /// True if every packet passes links of endpoints that are links of the topology.
    pub(crate) const fn is_switched(&self) -> bool {
        self.shape.is_switched()
    }

    /// The number that users know a router by.
    pub(crate) fn node(&self, router: usize) -> NodeId {
        let router = router % self.of_subnet;
        NodeId::at(if self.is_switched() { self.endpoints + router } else { router })
    }

    /// The router that users know by this number; `None` for an endpoint of a network of switches.
    pub(crate) fn router(&self, node: NodeId) -> Option<usize> {
        node.index().checked_sub(if self.is_switched() { self.endpoints } else { 0 })
    }

    /// Writes the flits in buffers, by input port, and the packets that outputs have sent. Does not write what waits at
    /// sources.
    pub(crate) fn show(&self, flits: impl Fn(usize, usize) -> u32, crossed: &[u64], into: &mut Occupancy) {
        let (ports, nodes) = (self.shape.ports(), self.of_subnet + if self.is_switched() { self.endpoints } else { 0 });
        into.reset(nodes, ports);
        if !crossed.is_empty() {
            into.crossed.resize(nodes * ports, 0);
        }
        for (router, port) in (0..self.routers).flat_map(|router| (0..self.ports).map(move |port| (router, port))) {
            let node = self.node(router).index();
            match self.back(router, port).end {
                End::Router { port: sent, .. } => into.transit[node * ports + usize::from(sent)] += flits(router, port),
                End::Endpoint(tap) => into.injection[tap as usize / self.own] += flits(router, port),
                End::Nothing => {}
            }
            if let Some(&packets) = crossed.get(router * self.ports + port)
                && port < ports
            {
                into.crossed[node * ports + port] += packets;
            }
        }
    }

    /// The flits through each router, by router, input port and output port; `None` if they are not counted. In a
    /// network of switches ports without a link are left out; in a direct one the border has idle links.
    pub(crate) fn events(&self, traversed: &[u64]) -> Option<Vec<RouterEvents>> {
        if traversed.is_empty() {
            return None;
        }
        let longest = self.longest().max(1);
        let port_of = |wire: Wire, port: usize| {
            let end = match wire.end {
                End::Nothing => EventEnd::Nothing,
                End::Router { .. } => EventEnd::Router,
                End::Endpoint(_) => EventEnd::Endpoint,
            };
            let delay = if end == EventEnd::Nothing { longest } else { wire.delay };
            (end != EventEnd::Nothing || !self.is_switched()).then_some(EventPort { port: port as u8, end, delay })
        };
        let events = |router: usize| {
            let mut inputs: Vec<EventPort> =
                (0..self.ports).filter_map(|port| port_of(self.back(router, port), port)).collect();
            let mut outputs: Vec<EventPort> =
                (0..self.ports).filter_map(|port| port_of(self.out(router, port), port)).collect();
            if self.is_switched() {
                // As BookSim numbers them: wires of its switches are longer to the later half of the ports.
                inputs.sort_by_key(|port| port.end != EventEnd::Endpoint);
                outputs.sort_by_key(|port| port.end != EventEnd::Endpoint);
            }
            let count = |input: &EventPort, output: &EventPort| {
                traversed[(router * self.ports + usize::from(input.port)) * self.ports + usize::from(output.port)]
            };
            let traversals =
                inputs.iter().flat_map(|input| outputs.iter().map(move |output| count(input, output))).collect();
            RouterEvents { node: self.node(router), inputs, outputs, traversals }
        };
        Some((0..self.routers).map(events).collect())
    }

    /// The buffer of a VC at an input port, as users know it.
    pub(crate) fn input(&self, router: usize, port: usize, vc: usize) -> Channel {
        let node = self.node(router);
        match self.back(router, port).end {
            End::Endpoint(tap) if self.own > 1 => {
                Channel::Injection { node: NodeId::at(tap as usize / self.own), injector: tap as usize % self.own }
            }
            End::Endpoint(endpoint) => Channel::Injection { node: NodeId(endpoint), injector: vc },
            _ if self.is_switched() => Channel::Switch { node, port, vc },
            End::Router { port, .. } => {
                let (dimension, positive) = self.shape.direction(Port(port.into()));
                Channel::Transit { node, dimension, positive, vc }
            }
            End::Nothing => Channel::Switch { node, port, vc },
        }
    }
}

impl Paced {
    /// The links of the switches; those of endpoints have full pace.
    fn new(network: &Switched, switches: usize, ports: usize) -> Self {
        let first = network.endpoints();
        let pace = |at: usize| network.pace(NodeId::at(first + at / ports), Port::at(at % ports));
        Self {
            out: (0..switches * ports).map(|at| PacedLink::new(pace(at))).collect(),
            from_taps: vec![PacedLink::new(Pace::FULL); first],
            longest: network.longest_crossing(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_arrives_and_credits_go_back() {
        for spec in ["torus:4x3", "mesh:3x3", "hypercube:3", "fattree:2,3", "dragonfly:p=1,a=2,h=1", "hyperx:3x2:2"] {
            let topology = fsin_core::topology::parse(spec, 2).unwrap();
            let wiring = Wiring::new(&*topology, &Params::default());
            let mut endpoints = 0;
            for (router, port) in
                (0..wiring.routers).flat_map(|router| (0..wiring.ports).map(move |port| (router, port)))
            {
                match wiring.out(router, port).end {
                    End::Router { router: to, port: at } => {
                        let back = End::Router { router: router as u32, port: port as u8 };
                        assert_eq!(wiring.back(to as usize, at.into()).end, back, "{spec}");
                    }
                    End::Endpoint(endpoint) => {
                        endpoints += 1;
                        assert_eq!(wiring.exit(endpoint as usize), (router, port as u8), "{spec}");
                        let (home, input) = wiring.entry(endpoint as usize);
                        assert_eq!((home, wiring.back(home, input).end), (router, End::Endpoint(endpoint)), "{spec}");
                    }
                    End::Nothing => {}
                }
            }
            assert_eq!(endpoints, topology.endpoints(), "{spec}");
        }
    }
}
