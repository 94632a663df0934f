//! Direct networks with dead links: the routes that remain for packets.
//!
//! Deterministic routes and escape routes stay the same, so no new cycle of waiting packets can arise. A packet takes
//! an adaptive channel only where the escape route from the next node on is alive. So a packet under way can always
//! proceed, as without faults. A packet whose own escape route is dead may start on an adaptive channel only. It waits
//! for one in its injection queue, where no other packet depends on it. Routes are minimal: pairs of nodes without such
//! a route cannot send to each other.
//!
//! Decision: docs/decisions/0073-dead-links.md.

use std::sync::Arc;

use trgen::NodeId;

use super::RouterParams;
use crate::routing::Order;
use fsin_core::failures::LostPairs;
use fsin_core::topology::{Offsets, Port, Shape, Topology};

/// In [`Reachability::neighbours`]: no live link.
const NOWHERE: u32 = u32::MAX;

/// Reachability in a direct network with dead links, for one routing.
#[derive(Clone, Debug)]
pub struct Reachability {
    shape: Shape,
    /// Order of dimensions of deterministic routes.
    order: Order,
    /// True if packets may leave the deterministic route.
    is_adaptive: bool,
    /// By node and port: the node at the other end; [`NOWHERE`] if the link is dead or missing.
    neighbours: Arc<[u32]>,
}

impl Reachability {
    /// `None` if all links of the network are always alive, for a network of switches, and for routes that go round
    /// dead links.
    #[must_use]
    pub fn new(params: &RouterParams, topology: &dyn Topology) -> Option<Self> {
        let is_whole = topology.faults() == 0 && params.timetable.is_empty();
        if is_whole || topology.switched().is_some() || params.routing.goes_round() {
            return None;
        }
        let shape = topology.shape();
        let places = (0..topology.nodes()).flat_map(|node| (0..shape.ports()).map(move |port| (node, port)));
        let neighbours = places
            .map(|(node, port)| topology.neighbour(NodeId::at(node), Port::at(port)).map_or(NOWHERE, |there| there.0));
        let is_adaptive = params.routing.leaves_order(params.vcs);
        Some(Self { shape, order: params.order, is_adaptive, neighbours: neighbours.collect() })
    }

    /// The node at the other end of a port; `None` if the link is dead or missing.
    fn next(&self, node: NodeId, port: Port) -> Option<NodeId> {
        let there = self.neighbours[node.index() * self.shape.ports() + port.index()];
        (there != NOWHERE).then_some(NodeId(there))
    }

    /// Updates the hops to go of a packet that leaves through `port`.
    fn hop(&self, offsets: &mut [i16], port: Port) {
        let (dimension, positive) = self.shape.direction(port);
        offsets[dimension] -= if positive { 1 } else { -1 };
    }

    /// True if the deterministic route with these hops to go is alive.
    #[must_use]
    pub fn is_alive(&self, node: NodeId, offsets: &[i16]) -> bool {
        let mut here = node;
        let mut rest = [0i16; fsin_core::topology::MAX_DIMENSIONS];
        let rest = &mut rest[..self.shape.dimensions];
        rest.copy_from_slice(offsets);
        while let Some(port) = self.order.next(self.shape, rest) {
            let Some(there) = self.next(here, port) else { return false };
            self.hop(rest, port);
            here = there;
        }
        true
    }

    /// True if an adaptive channel of this port leads to a node from which the escape route is alive.
    #[must_use]
    pub fn leads_on(&self, node: NodeId, port: Port, offsets: &[i16]) -> bool {
        let Some(there) = self.next(node, port) else { return false };
        let mut rest = [0i16; fsin_core::topology::MAX_DIMENSIONS];
        let rest = &mut rest[..self.shape.dimensions];
        rest.copy_from_slice(offsets);
        self.hop(rest, port);
        self.is_alive(there, rest)
    }

    /// True if a packet with these hops to go can leave its source and will arrive.
    fn can_set_out(&self, node: NodeId, offsets: &[i16]) -> bool {
        let profitable = || {
            let to_go = (0..self.shape.dimensions).filter(|&dimension| offsets[dimension] != 0);
            to_go.map(|dimension| self.shape.port(dimension, offsets[dimension] > 0))
        };
        self.is_alive(node, offsets) || self.is_adaptive && profitable().any(|port| self.leads_on(node, port, offsets))
    }

    /// The given route, if a packet can take it; else the first of all minimal routes that it can take.
    #[must_use]
    pub fn usable(&self, topology: &dyn Topology, from: NodeId, to: NodeId, route: Offsets) -> Option<Offsets> {
        let usable = |route: &Offsets| self.can_set_out(from, &route[..self.shape.dimensions]);
        if usable(&route) { Some(route) } else { topology.routes(from, to).into_iter().find(usable) }
    }

    /// True if packets of this pair can arrive.
    #[must_use]
    pub fn reaches(&self, topology: &dyn Topology, from: NodeId, to: NodeId) -> bool {
        self.usable(topology, from, to, topology.offsets(from, to, &mut |_| true)).is_some()
    }

    /// Counts the unreachable pairs, and lists up to `named` of them.
    #[must_use]
    pub fn lost(&self, topology: &dyn Topology, named: usize) -> LostPairs {
        let nodes = topology.nodes();
        let mut lost = LostPairs { count: 0, of: nodes * (nodes - 1), some: Vec::new() };
        for from in (0..nodes).map(NodeId::at) {
            for to in (0..nodes).map(NodeId::at).filter(|&to| to != from) {
                if !self.reaches(topology, from, to) {
                    lost.count += 1;
                    if lost.some.len() < named {
                        lost.some.push((from, to));
                    }
                }
            }
        }
        lost
    }
}
