//! Topologies: which node is whose neighbour, and which way is short.

use std::fmt::Debug;

use trgen::catalog::{Component, Parameter, Refusal};
use trgen::{Geometry, NodeId};

mod grid;

pub use grid::Grid;

/// Most dimensions that a topology can have: a hypercube of a million nodes.
pub const MAX_DIMENSIONS: usize = 20;

/// Hops still to go in each dimension, signed by direction; 0 beyond the topology's dimensions.
pub type Offsets = [i16; MAX_DIMENSIONS];

/// A directed link of a node: dimension and way.
///
/// Ports are numbered dimension by dimension, + before - (and only + with one-way links). A packet that leaves through a
/// port arrives at the neighbour in the transit queues of the same number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Port(pub u8);

impl Port {
    /// Position in a table of a node's ports.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The shape of a direct network: every node has a router and the same number of ports.
pub trait Topology: Debug + Send + Sync {
    /// The specification that builds this topology again, such as `torus:16x16`.
    fn spec(&self) -> String;

    /// Dimensions, sizes and numbering of the nodes.
    fn geometry(&self) -> &Geometry;

    /// Ways of each dimension: 1 (only +) or 2 (+ and -).
    fn ways(&self) -> usize;

    /// The node at the other end of a port; `None` at the border of a mesh.
    fn neighbour(&self, node: NodeId, port: Port) -> Option<NodeId>;

    /// A minimal route as offsets. Where both directions are equally long, `positive(dimension)` says which to take.
    fn offsets(&self, from: NodeId, to: NodeId, positive: &mut dyn FnMut(usize) -> bool) -> Offsets;

    /// Number of nodes.
    fn nodes(&self) -> usize {
        self.geometry().nodes()
    }

    /// Dimensions and ways: all that port arithmetic needs.
    fn shape(&self) -> Shape {
        Shape { dimensions: self.geometry().sizes().len(), ways: self.ways() }
    }
}

/// How many dimensions, and how many ways in each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// 1 to [`MAX_DIMENSIONS`].
    pub dimensions: usize,
    /// 1 or 2.
    pub ways: usize,
}

impl Shape {
    /// Ports of each node.
    #[must_use]
    pub const fn ports(self) -> usize {
        self.dimensions * self.ways
    }

    /// The port of a dimension and direction.
    #[must_use]
    #[inline]
    pub fn port(self, dimension: usize, positive: bool) -> Port {
        let way = usize::from(!positive);
        debug_assert!(way < self.ways);
        Port((dimension * self.ways + way) as u8)
    }

    /// The dimension of a port, and whether it leads in + direction.
    #[must_use]
    #[inline]
    pub const fn direction(self, port: Port) -> (usize, bool) {
        // One way or two: no division is needed.
        (port.index() >> (self.ways - 1), port.index() & (self.ways - 1) == 0)
    }
}

const SIZES: Parameter = Parameter {
    name: "sizes",
    about: "nodes in each dimension, dimension 0 first, separated by x",
    range: "1 to 20 sizes of 1..=32767",
    default: "",
};

/// Every topology that `--topology` knows.
pub const TOPOLOGIES: &[Component] = &[
    Component {
        name: "torus",
        about: "k-ary n-cube: a grid whose every dimension closes to a ring",
        parameters: &[SIZES],
        source: "Dally and Seitz, The Torus Routing Chip, 1986",
    },
    Component {
        name: "mesh",
        about: "a grid without wrap-around links; border nodes have fewer neighbours",
        parameters: &[SIZES],
        source: "Duato, Yalamanchili, Ni, Interconnection Networks, 2003, section 1.6",
    },
];

/// Builds the topology that `spec` names, such as `torus:8x8x8`, with `ways` links per dimension and node.
///
/// # Errors
/// An unknown name, sizes that do not parse or are out of range, more than 2^31 nodes, ways that the topology lacks.
pub fn parse(spec: &str, ways: usize) -> Result<Box<dyn Topology>, Refusal> {
    let (name, sizes) = spec.split_once(':').unwrap_or((spec, ""));
    let wraps = match name {
        "torus" => true,
        "mesh" => false,
        _ => {
            let known: Vec<&str> = TOPOLOGIES.iter().map(|component| component.name).collect();
            return Err(Refusal::unknown("topology", name, &known));
        }
    };
    Ok(Box::new(Grid::parse(name, sizes, wraps, ways)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_directions_are_inverse() {
        for ways in [1, 2] {
            let shape = parse("torus:4x4x4", ways).unwrap().shape();
            for port in 0..shape.ports() {
                let (dimension, positive) = shape.direction(Port(port as u8));
                assert_eq!(shape.port(dimension, positive), Port(port as u8));
            }
        }
    }

    #[test]
    fn refusals_name_the_remedy() {
        for (spec, ways, expected) in [
            ("tours:4x4", 2, "did you mean `torus`?"),
            ("torus:16x0", 2, "1 to 32767"),
            ("torus", 2, "torus:8x8"),
            ("torus:", 2, "torus:8x8"),
            ("torus:4x", 2, "torus:8x8"),
            ("torus:4xfour", 2, "torus:8x8"),
            ("torus:32767x32767x32767", 2, "fewer"),
            ("mesh:4x4", 1, "--ways 2"),
            ("torus:4x4", 3, "1 or 2"),
        ] {
            let refusal = parse(spec, ways).unwrap_err();
            assert!(refusal.remedy().contains(expected), "{spec}: {refusal}: {}", refusal.remedy());
        }
    }
}
