//! Vertex-transitive networks whose hops commute: Cayley graphs of abelian groups.
//!
//! Nodes are the cells of a box. A dimension is a step, the same at every node; a step that leaves the box wraps to the
//! opposite side, perhaps shifted. So the links of a dimension form disjoint rings, and a route is the number of hops
//! in each dimension, in any order: the router needs nothing else. The minimal routes depend only on the difference of
//! two nodes, and are looked up in a table.
//!
//! Decision: docs/decisions/0033-commuting-hops.md.

use trgen::catalog::{ErrorKind, SpecError};
use trgen::{Geometry, NodeId};

use super::{MAX_DIMENSIONS, Offsets, Port, Shape, Topology};

/// Maximum number of nodes: the table of routes has an entry for each.
pub(super) const MAX_NODES: usize = 1 << 24;

/// Maximum number of minimal routes that the table keeps for a pair of nodes. Packets draw one of these unless the
/// route is [fixed](FixedRoute).
const MAX_ROUTES: usize = 32;

/// \[hops\] Maximum route length: offsets have 16 bits.
const MAX_HOPS: u32 = 32_767;

/// In [`Cayley::neighbours`]: no node.
const NOWHERE: u32 = u32::MAX;

/// The step of a dimension.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Step {
    /// By coordinate: the increment.
    pub(super) by: Vec<i64>,
    /// True if two such steps return to the start and one link serves both directions: there is no - direction.
    pub(super) is_across: bool,
}

/// By coordinate: the shifts of the other coordinates where it wraps.
pub(super) type Shifts = Vec<Vec<i64>>;

/// A network whose nodes are the cells of a box and all look the same.
#[derive(Clone, Debug)]
pub struct Cayley {
    /// The specification.
    spec: String,
    /// Dimensions and sizes of the box.
    geometry: Geometry,
    /// By coordinate: the shifts of the other coordinates where it wraps.
    shifts: Shifts,
    /// The coordinates in an order in which each one comes before those that it shifts.
    order: Vec<usize>,
    /// Number of dimensions: of steps, not of the box.
    dimensions: usize,
    /// Number of directions of each dimension: 1 or 2.
    ways: usize,
    /// By node and port: the node at the other end; [`NOWHERE`] if there is no link.
    neighbours: Vec<u32>,
    /// By difference of nodes: the index of its first route; then the number of all routes.
    starts: Vec<u32>,
    /// \[hops\] By route and dimension: the hops to go.
    routes: Vec<i16>,
    /// The function that gives the route where several are minimal; `None` if packets draw one.
    fixed: Option<FixedRoute>,
}

/// Gives the route between two nodes of a box, for links in this number of directions.
pub(super) type FixedRoute = fn(&Geometry, usize, NodeId, NodeId) -> Offsets;

impl Cayley {
    /// The network of these steps. `order` holds every coordinate, before those that it shifts; every node must be
    /// reachable.
    ///
    /// # Errors
    /// Routes of more than [`MAX_HOPS`] hops.
    pub(super) fn new(
        spec: String,
        geometry: Geometry,
        (shifts, order): (Shifts, Vec<usize>),
        steps: &[Step],
        ways: usize,
    ) -> Result<Self, SpecError> {
        let mut new = Self {
            spec,
            geometry,
            shifts,
            order,
            dimensions: steps.len(),
            ways,
            neighbours: Vec::new(),
            starts: Vec::new(),
            routes: Vec::new(),
            fixed: None,
        };
        for node in 0..new.geometry.nodes() {
            let here = new.geometry.coordinates(NodeId::at(node));
            for step in steps {
                for sign in [1, -1].into_iter().take(ways) {
                    let there =
                        new.node(here.iter().zip(&step.by).map(|(&at, by)| i64::from(at) + sign * by).collect());
                    // A ring of one node has no link, and no packet needs one.
                    let none = there == NodeId::at(node) || (sign < 0 && step.is_across);
                    new.neighbours.push(if none { NOWHERE } else { there.0 });
                }
            }
        }
        if new.find_routes() > MAX_HOPS {
            let what = format!("routes in `{}` are longer than {MAX_HOPS} hops", new.spec);
            return Err(SpecError::new(ErrorKind::TooLarge, what, "use fewer nodes, longer jumps, or links both ways"));
        }
        Ok(new)
    }

    /// This network, with packets that take the routes given by `route` instead of random ones.
    pub(super) fn with_fixed(self, route: FixedRoute) -> Self {
        Self { fixed: Some(route), ..self }
    }

    /// The node with these coordinates, which may lie outside the box and are then wrapped.
    fn node(&self, mut at: Vec<i64>) -> NodeId {
        for &wrapping in &self.order {
            let size = i64::from(self.geometry.sizes()[wrapping]);
            let turns = at[wrapping].div_euclid(size);
            at[wrapping] -= turns * size;
            for (coordinate, shift) in at.iter_mut().zip(&self.shifts[wrapping]) {
                *coordinate += turns * shift;
            }
        }
        let inside: Vec<u32> = at.iter().map(|&coordinate| coordinate as u32).collect();
        self.geometry.node(&inside)
    }

    /// The indices of the first route of a pair of nodes and of the one after its last.
    fn routes_between(&self, from: NodeId, to: NodeId) -> (usize, usize) {
        let (from, to) = (self.geometry.coordinates(from), self.geometry.coordinates(to));
        let ahead = to.iter().zip(&from).map(|(&to, &from)| i64::from(to) - i64::from(from)).collect();
        let difference = self.node(ahead).index();
        (self.starts[difference] as usize, self.starts[difference + 1] as usize)
    }

    /// The route with this index.
    fn route(&self, number: usize) -> Offsets {
        let mut offsets = [0i16; MAX_DIMENSIONS];
        let route = number * self.dimensions;
        offsets[..self.dimensions].copy_from_slice(&self.routes[route..route + self.dimensions]);
        offsets
    }

    /// Fills the table of routes, breadth first from node 0: the routes of a node are those of its predecessors, plus a
    /// hop. Returns the length of the longest route, or a length beyond the limit.
    fn find_routes(&mut self) -> u32 {
        let nodes = self.geometry.nodes();
        let shape = self.shape();
        let mut distance = vec![u32::MAX; nodes];
        let mut routes: Vec<Vec<Vec<i16>>> = vec![Vec::new(); nodes];
        distance[0] = 0;
        routes[0].push(vec![0; self.dimensions]);
        let mut reached = vec![0usize];
        let mut next = 0;
        while let Some(&here) = reached.get(next) {
            next += 1;
            for port in (0..shape.ports()).map(Port::at) {
                let there = self.neighbours[here * shape.ports() + port.index()];
                if there == NOWHERE {
                    continue;
                }
                let there = there as usize;
                if distance[there] == u32::MAX {
                    distance[there] = distance[here] + 1;
                    if distance[there] > MAX_HOPS {
                        return distance[there];
                    }
                    reached.push(there);
                }
                if distance[there] != distance[here] + 1 {
                    continue;
                }
                let (dimension, positive) = shape.direction(port);
                for route in 0..routes[here].len() {
                    let mut longer = routes[here][route].clone();
                    longer[dimension] += if positive { 1 } else { -1 };
                    if routes[there].len() < MAX_ROUTES && !routes[there].contains(&longer) {
                        routes[there].push(longer);
                    }
                }
            }
        }
        self.starts.push(0);
        for known in routes {
            self.starts.push(self.starts.last().copied().unwrap_or(0) + known.len() as u32);
            self.routes.extend(known.into_iter().flatten());
        }
        reached.last().map_or(0, |&last| distance[last])
    }
}

impl Topology for Cayley {
    fn spec(&self) -> String {
        self.spec.clone()
    }

    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn ways(&self) -> usize {
        self.ways
    }

    fn is_vertex_transitive(&self) -> bool {
        true
    }

    fn routes(&self, from: NodeId, to: NodeId) -> Vec<Offsets> {
        let (start, end) = self.routes_between(from, to);
        (start..end).map(|route| self.route(route)).collect()
    }

    fn shape(&self) -> Shape {
        Shape::direct(self.dimensions, self.ways)
    }

    fn neighbour(&self, node: NodeId, port: Port) -> Option<NodeId> {
        let neighbour = self.neighbours[node.index() * self.shape().ports() + port.index()];
        (neighbour != NOWHERE).then_some(NodeId(neighbour))
    }

    fn offsets(&self, from: NodeId, to: NodeId, positive: &mut dyn FnMut(usize) -> bool) -> Offsets {
        if let Some(route) = self.fixed {
            return route(&self.geometry, self.ways, from, to);
        }
        let (start, end) = self.routes_between(from, to);
        // Among several routes, the one given by 16 draws.
        let chosen = match end - start {
            1 => 0,
            count => ((0..16).fold(0, |draws, bit| draws << 1 | usize::from(positive(bit))) * count) >> 16,
        };
        self.route(start + chosen)
    }
}
