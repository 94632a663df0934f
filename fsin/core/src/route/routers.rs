//! The routers of a topology, their links and their endpoints, as routes see them.

use std::ops::Range;

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use super::proof;
use crate::topology::{Outputs, Port, Topology, node_name};

/// Maximum number of routers of a network whose routes are in a table.
const MAX_ROUTERS: usize = 8192;

/// In [`Routers::next`]: no router.
const NOWHERE: u32 = u32::MAX;

/// Routers, the links between them, and the router of each endpoint. In a direct network each node is a router with an
/// endpoint of its own.
#[derive(Debug)]
pub struct Routers<'a> {
    /// The network.
    pub topology: &'a dyn Topology,
    /// Number of the first router among the nodes of the topology: 0 in a direct network.
    pub first: usize,
    ports: usize,
    /// The ports of all nodes in one row.
    outputs: Outputs,
    /// By output of a router: the router at the other end; [`NOWHERE`] for an endpoint, or nothing.
    next: Vec<u32>,
    /// By endpoint: the router at which its packets enter the network, and the one from which a link leads to it.
    entries: Vec<u32>,
    homes: Vec<u32>,
}

impl<'a> Routers<'a> {
    /// The routers of a topology. Dead links are left out.
    ///
    /// # Errors
    /// More routers than tables of routes are made for.
    pub fn new(topology: &'a dyn Topology) -> Result<Self, SpecError> {
        let new = Self::of(topology);
        let count = proof::Network::routers(&new);
        if count > MAX_ROUTERS {
            let what = format!("tables of routes are for networks of at most {MAX_ROUTERS} routers, here are {count}");
            let remedy = phrase!["use a ", ["routing"], " of the topology's own"];
            return Err(SpecError::new(ErrorKind::TooLarge, what, remedy));
        }
        Ok(new)
    }

    /// The same, of a network of any size.
    pub(super) fn of(topology: &'a dyn Topology) -> Self {
        let first = if topology.switched().is_some() { topology.endpoints() } else { 0 };
        let count = topology.nodes() - first;
        let ports = topology.shape().ports();
        let outputs = topology.outputs();
        let link = |(router, port): (NodeId, Port)| {
            let there = topology.neighbour(router, port).and_then(|there| there.index().checked_sub(first));
            there.map_or(NOWHERE, |there| there as u32)
        };
        let routers = (first..topology.nodes()).map(NodeId::at);
        let next =
            routers.flat_map(|router| topology.ports_of(router).map(move |port| (router, port))).map(link).collect();
        let (entries, homes) = match topology.switched() {
            None => ((0..count as u32).collect(), (0..count as u32).collect()),
            Some(network) => {
                let fabric = network.fabric();
                let number = |router: NodeId| (router.index() - first) as u32;
                let endpoints = || (0..topology.endpoints()).map(NodeId::at);
                let homes = endpoints().map(|endpoint| number(fabric.home(endpoint).0)).collect();
                (endpoints().map(|endpoint| number(fabric.entry(endpoint))).collect(), homes)
            }
        };
        Self { topology, first, ports, outputs, next, entries, homes }
    }

    /// The ports of a router that lead to another router, each with that router, in order.
    pub fn links(&self, router: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let own = self.next[self.outputs_of(router)].iter().enumerate();
        own.filter(|&(_, &there)| there != NOWHERE).map(|(port, &there)| (port, there as usize))
    }

    /// The places of the ports of a router in `next`.
    fn outputs_of(&self, router: usize) -> Range<usize> {
        let (first, own) = (self.outputs.first(self.first), self.outputs.of(router + self.first));
        own.start - first..own.end - first
    }

    /// The name of a router for readers: that of the description of the network, or its number among the nodes.
    #[must_use]
    pub fn name(&self, router: usize) -> String {
        node_name(self.topology, NodeId::at(router + self.first))
    }

    /// The name of an endpoint.
    #[must_use]
    pub fn endpoint_name(&self, endpoint: usize) -> String {
        node_name(self.topology, NodeId::at(endpoint))
    }

    /// The routers that a cycle of channels leaves, from the least number on, as `0>4>8>0`.
    #[must_use]
    pub fn round(&self, cycle: &[proof::OutputChannel]) -> String {
        let mut round: Vec<usize> = cycle.iter().map(|channel| channel.router).collect();
        let least = (0..round.len()).min_by_key(|&at| round[at]).unwrap_or(0);
        round.rotate_left(least);
        round.extend(round.first().copied());
        round.into_iter().map(|router| self.name(router)).collect::<Vec<_>>().join(">")
    }

    /// True if two links of a router lead to the same router, so that the next router does not tell which one is meant.
    #[must_use]
    pub fn has_parallel_links(&self) -> bool {
        (0..proof::Network::routers(self)).any(|router| {
            let mut ends: Vec<usize> = self.links(router).map(|(_, there)| there).collect();
            ends.sort_unstable();
            ends.array_windows().any(|[one, other]| one == other)
        })
    }
}

impl proof::Network for Routers<'_> {
    fn routers(&self) -> usize {
        self.topology.nodes() - self.first
    }

    fn ports(&self) -> usize {
        self.ports
    }

    fn endpoints(&self) -> usize {
        self.homes.len()
    }

    fn entry(&self, endpoint: usize) -> usize {
        self.entries[endpoint] as usize
    }

    fn home(&self, endpoint: usize) -> usize {
        self.homes[endpoint] as usize
    }

    fn next(&self, router: usize, port: usize) -> Option<usize> {
        let next = self.next[self.outputs_of(router).start + port];
        (next != NOWHERE).then_some(next as usize)
    }
}
