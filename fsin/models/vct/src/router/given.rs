//! Routes of a table in a direct network, whose packets carry the hops to go in each dimension: those of a file, or one
//! for each pair of nodes of a routing for any network, which may go round dead links.
//!
//! The net hops to go in each dimension say where on its path a packet is, since no path comes to a router again. Where
//! a path keeps to one direction of each dimension, their sum is the number of hops to go.
//!
//! Decision: docs/decisions/0291-any-network.md.

use fsin_core::route::proof::prove;
use fsin_core::route::{self, Build, Carries, Masks, RouteTable, Routers, follow};
use fsin_core::topology::{MAX_DIMENSIONS, Offsets, Port, Shape, Topology};
use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use super::RouterParams;
use super::request::Head;

/// In [`GivenPaths::lengths`]: a path that goes in both directions of a dimension.
const WINDING: u16 = u16::MAX;

/// The paths of a table.
#[derive(Debug)]
pub(super) struct GivenPaths {
    table: RouteTable,
    /// \[hops\] By source and destination: length of the path; [`WINDING`] if the hops to go do not tell it.
    lengths: Vec<u16>,
    nodes: usize,
}

/// What the routing function is built from.
fn build<'a>(params: &'a RouterParams, row: &'static route::Row, topology: &'a dyn Topology) -> Build<'a> {
    Build {
        routes: params.routes.as_ref(),
        may_be_parted: topology.faults() > 0 || !params.timetable.is_empty(),
        ..Build::new(row, topology, params.vcs, row.policy)
    }
}

impl GivenPaths {
    /// The paths, where the routing has one for each pair; they have been [checked](check).
    pub(super) fn new(params: &RouterParams, topology: &dyn Topology) -> Option<Self> {
        let row = params.routing.follows()?;
        let routers = Routers::new(topology).ok()?;
        let table = match &params.routes {
            Some(table) => table.to_paths(&routers).ok()?,
            None => {
                let function = build(params, row, topology).function().ok()?;
                let masks = Masks::of_function(row.policy, &function, params.vcs);
                follow(&routers, &function, row.choice, &masks, params.seed).ok()?.table
            }
        };
        let nodes = topology.nodes();
        let mut paths = Self { table, lengths: Vec::with_capacity(nodes * nodes), nodes };
        for pair in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
            let length = paths.table.path(&routers, pair).count() as u16;
            let offsets = paths.offsets(topology.shape(), NodeId::at(pair.0), NodeId::at(pair.1));
            paths.lengths.push(if sum(&offsets) == usize::from(length) { length } else { WINDING });
        }
        Some(paths)
    }

    /// Hop number `count` of a path: its port and channels.
    #[inline]
    pub(super) fn hop(&self, from: NodeId, to: NodeId, count: usize) -> Option<(Port, Option<u32>)> {
        let (port, channels) = self.table.hop_of_pair((from.index(), to.index()), count)?;
        Some((Port(port), channels))
    }

    /// Number of hops that a packet has made.
    #[inline]
    pub(super) fn made(&self, shape: Shape, head: &Head<'_>) -> usize {
        match self.lengths[head.source.index() * self.nodes + head.destination.index()] {
            WINDING => self.made_in_turns(shape, head),
            length => usize::from(length).saturating_sub(sum(head.offsets)),
        }
    }

    /// The same, on a path whose hops to go do not tell their number.
    #[inline(never)]
    fn made_in_turns(&self, shape: Shape, head: &Head<'_>) -> usize {
        let mut left = self.offsets(shape, head.source, head.destination);
        let mut made = 0;
        while left[..head.offsets.len()] != *head.offsets {
            let Some((port, _)) = self.hop(head.source, head.destination, made) else { break };
            let (dimension, is_positive) = shape.direction(port);
            left[dimension] -= if is_positive { 1 } else { -1 };
            made += 1;
        }
        made
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

/// \[hops\] The sum over all dimensions.
fn sum(offsets: &[i16]) -> usize {
    offsets.iter().map(|hops| usize::from(hops.unsigned_abs())).sum()
}

/// Refuses a table that packets of this model cannot follow, and channels that may wait for each other in a cycle.
///
/// # Errors
/// No table, or what is wrong with it; too few channels; links that lead one way.
pub(super) fn check(params: &RouterParams, row: &'static route::Row, topology: &dyn Topology) -> Result<(), SpecError> {
    let routers = Routers::new(topology)?;
    if row.serves == route::Serves::Every && params.routes.is_none() {
        both_ways(params, topology)?;
    }
    let build = build(params, row, topology);
    let (function, name) = (build.function()?, params.routing.name());
    let least = Carries::new(row).least(&function);
    if params.vcs < least {
        let what = phrase![["routing" => name], " needs {least} virtual channels, one for each hop, ", ["vcs"], (" is {}", params.vcs)];
        return Err(SpecError::new(ErrorKind::Malformed, what, phrase!["use ", ["vcs" => least], " or more"]));
    }
    let remedy = phrase!["use more ", ["vcs"], " or another ", ["routing"]];
    prove(&build, &function, name, remedy)?;
    if params.routes.as_ref().is_some_and(|table| table.has_choices()) {
        let what = phrase![["routes"], " gives several next hops, and this model takes one in a direct network"];
        let remedy = phrase!["leave one for each node and destination, or use ", ["network" => "wormhole"]];
        return Err(SpecError::new(ErrorKind::Unsupported, what, remedy).of("routes"));
    }
    if params.routes.is_none() {
        let masks = Masks::of_function(row.policy, &function, params.vcs);
        follow(&routers, &function, row.choice, &masks, params.seed)?;
    }
    Ok(())
}

/// Refuses links that are dead in one direction only.
fn both_ways(params: &RouterParams, topology: &dyn Topology) -> Result<(), SpecError> {
    let shape = topology.shape();
    let outputs = (0..topology.nodes()).flat_map(|node| (0..shape.ports()).map(move |port| (node, Port::at(port))));
    for (node, port) in outputs {
        let here = NodeId::at(node);
        let Some(there) = topology.neighbour(here, port) else { continue };
        if (0..shape.ports()).all(|back| topology.neighbour(there, Port::at(back)) != Some(here)) {
            let name = params.routing.name();
            let what = phrase![["routing" => name], (" needs links that lead both ways, and that from {node} to {there} does not lead back")];
            return Err(SpecError::new(ErrorKind::Conflict, what, "").of("routing"));
        }
    }
    Ok(())
}
