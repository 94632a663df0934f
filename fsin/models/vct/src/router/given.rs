//! Routes of a table in a direct network, whose packets carry the hops to go in each dimension.
//!
//! A path must not go in both directions of a dimension: then the hops to go say how many have been made, and with them
//! which one is next.

use std::sync::Arc;

use fsin_core::route::proof::prove;
use fsin_core::route::{Build, RouteTable, Routers, rows};
use fsin_core::topology::{MAX_DIMENSIONS, Offsets, Port, Shape, Topology};
use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use super::RouterParams;
use super::request::Head;
use crate::routing::Routing;

/// The paths of a table.
#[derive(Debug)]
pub(super) struct GivenPaths {
    table: RouteTable,
    /// By source and destination: number of hops.
    lengths: Vec<u16>,
    nodes: usize,
}

impl GivenPaths {
    /// The paths, where the routing is that of a table; they have been [checked](check).
    pub(super) fn new(params: &RouterParams, topology: &dyn Topology) -> Option<Self> {
        let table = params.routes.as_ref().filter(|_| params.routing == Routing::DirectRoutes)?;
        let routers = Routers::new(topology).ok()?;
        let table = table.to_paths(&routers).ok()?;
        let nodes = topology.nodes();
        let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
        let lengths = pairs.map(|pair| table.path(&routers, pair).count() as u16).collect();
        Some(Self { table, lengths, nodes })
    }

    /// Hop number `count` of a path: its port and channels.
    #[inline]
    pub(super) fn hop(&self, from: NodeId, to: NodeId, count: usize) -> Option<(Port, Option<u32>)> {
        let (port, channels) = self.table.hop_of_pair((from.index(), to.index()), count)?;
        Some((Port(port), channels))
    }

    /// Number of hops that a packet has made.
    #[inline]
    pub(super) fn made(&self, head: &Head<'_>) -> usize {
        let left: usize = head.offsets.iter().map(|hops| usize::from(hops.unsigned_abs())).sum();
        usize::from(self.lengths[head.source.index() * self.nodes + head.destination.index()]).saturating_sub(left)
    }

    /// The hops to go in each dimension.
    pub(super) fn offsets(&self, shape: Shape, from: NodeId, to: NodeId) -> Offsets {
        let mut offsets = [0; MAX_DIMENSIONS];
        for count in 0.. {
            let Some((port, _)) = self.hop(from, to, count) else { break };
            let (dimension, is_positive) = shape.direction(port);
            offsets[dimension] += if is_positive { 1 } else { -1 };
        }
        offsets
    }
}

/// Refuses a table that packets of this model cannot follow, and channels that may wait for each other in a cycle.
///
/// # Errors
/// No table, or what is wrong with it.
pub(super) fn check(params: &RouterParams, topology: &dyn Topology) -> Result<(), SpecError> {
    let routers = Routers::new(topology)?;
    let routes: Option<&Arc<RouteTable>> = params.routes.as_ref();
    let build = Build { routes, ..Build::new(&rows::ROUTES, topology, params.vcs, rows::ROUTES.policy) };
    let remedy = phrase!["use more ", ["vcs"], " or another ", ["routing"]];
    prove(&build, &build.function()?, params.routing.name(), remedy)?;
    let Some(table) = routes else { return Ok(()) };
    if table.has_choices() {
        let what = phrase![["routes"], " gives several next hops, and this model takes one in a direct network"];
        let remedy = phrase!["leave one for each node and destination, or use ", ["network" => "wormhole"]];
        return Err(SpecError::new(ErrorKind::Unsupported, what, remedy).of("routes"));
    }
    let (shape, nodes) = (topology.shape(), topology.nodes());
    for pair in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
        let mut taken = [0_u8; MAX_DIMENSIONS];
        for (_, port, _) in table.path(&routers, pair) {
            let (dimension, is_positive) = shape.direction(Port(port));
            taken[dimension] |= if is_positive { 1 } else { 2 };
        }
        if taken.contains(&3) {
            let (from, to) = pair;
            let what = phrase![["routes"], (": the path from {from} to {to} goes in both directions of a dimension")];
            let remedy = phrase!["use ", ["network" => "wormhole"], ", which takes every path"];
            return Err(SpecError::new(ErrorKind::Unsupported, what, remedy).of("routes"));
        }
    }
    Ok(())
}
