//! Slices of pods: tori by the names of their maker, with the routes and interfaces of such machines.
//!
//! # How the model departs from reality, and who could notice
//! The order in which the routes of a real slice take their hops is not published. Routes that begin with the longest
//! axis, whose links are the busiest, keep packets on other links from queueing behind those that wait for it; in
//! another order a slice carries less.
//!
//! Decision: docs/decisions/0251-slices.md.

use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};
use trgen::{Geometry, NodeId};

use super::grid::{Grid, SIZES};
use super::twisted::{sizes, twisted};
use super::{Kind, Offsets, Port, Row, Shape, Topology, Usual};
use crate::interface::Interface;
use crate::route::Order;

/// Row of `tpu`.
pub(super) const TPU: Row = Row {
    component: Component {
        name: "tpu",
        about: "slice of a pod by its name, tpu:4x4x8 or tpu:4x4x8_twisted: the torus:... of these sizes, or the twisted:... that joins \
                two or four cubes of the shortest side, which results name; routes begin with the longest axis (order=long), and each \
                link has an injector (interface=per-port), unless told otherwise",
        parameters: &[
            SIZES,
            Parameter {
                name: "_twisted",
                about: "after the sizes, of slices n x 2n, n x n x 2n and n x 2n x 2n with n a multiple of 4: wraps of the shorter axes \
                        shift the longer ones by n",
                range: "",
                default: "",
            },
        ],
        source: "Jouppi et al., TPU v4: An Optically Reconfigurable Supercomputer, ISCA 2023; Camara et al., Twisted torus topologies for \
                 enhanced interconnection networks, TPDS 21(12), 2010",
    },
    kind: Kind::Direct,
    example: "tpu:4x4x8_twisted",
    build: slice,
};

/// A slice.
#[derive(Debug)]
struct Slice<T> {
    /// The torus or twisted torus that it is.
    torus: T,
}

impl<T: Topology> Topology for Slice<T> {
    fn spec(&self) -> String {
        self.torus.spec()
    }

    fn geometry(&self) -> &Geometry {
        self.torus.geometry()
    }

    fn ways(&self) -> usize {
        self.torus.ways()
    }

    fn neighbour(&self, node: NodeId, port: Port) -> Option<NodeId> {
        self.torus.neighbour(node, port)
    }

    fn offsets(&self, from: NodeId, to: NodeId, positive: &mut dyn FnMut(usize) -> bool) -> Offsets {
        self.torus.offsets(from, to, positive)
    }

    fn routes(&self, from: NodeId, to: NodeId) -> Vec<Offsets> {
        self.torus.routes(from, to)
    }

    fn is_grid(&self) -> bool {
        self.torus.is_grid()
    }

    fn is_vertex_transitive(&self) -> bool {
        self.torus.is_vertex_transitive()
    }

    fn usual(&self) -> Usual {
        Usual { order: Order::longest_first(self.geometry().sizes()), interface: Interface::PerPort }
    }

    fn shape(&self) -> Shape {
        self.torus.shape()
    }
}

/// Parses `4x4x8`, or `4x4x8_twisted`: the torus or twisted torus that it means.
fn slice(words: &str, ways: usize) -> Result<Box<dyn Topology>, SpecError> {
    let Some(given) = words.strip_suffix("_twisted") else {
        return Ok(Box::new(Slice { torus: Grid::parse("torus", words, true, ways)? }));
    };
    let spec = format!("tpu:{words}");
    let geometry = sizes(&spec, given, "tpu:4x4x8_twisted")?;
    let n = geometry.sizes()[0];
    let skews = match *geometry.sizes() {
        [_, y] if y == 2 * n => format!("xy={n}"),
        [_, y, z] if y == n && z == 2 * n => format!("xz={n},yz={n}"),
        [_, y, z] if y == 2 * n && z == 2 * n => format!("xy={n},xz={n}"),
        _ => String::new(),
    };
    if skews.is_empty() || !n.is_multiple_of(4) {
        let what = format!("a slice `{spec}` does not twist");
        let remedy = "slices that do are n x 2n, n x n x 2n and n x 2n x 2n with n a multiple of 4, shortest axis first; any torus twists as \
                      twisted:SIZES:SKEWS";
        return Err(SpecError::new(ErrorKind::Conflict, what, remedy));
    }
    Ok(Box::new(Slice { torus: twisted(&format!("{given}:{skews}"), ways)? }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::parse;

    #[test]
    fn a_slice_is_its_torus_with_routes_that_begin_with_the_longest_axis() {
        for (name, spec, dimensions) in [
            ("tpu:4x4x8", "torus:4x4x8", vec![2, 0, 1]),
            ("tpu:4x8", "torus:4x8", vec![1, 0]),
            ("tpu:8x4", "torus:8x4", vec![0, 1]),
            ("tpu:4x8x8_twisted", "twisted:4x8x8:xy=4,xz=4", vec![1, 2, 0]),
        ] {
            let (slice, torus) = (parse(name, 2).unwrap(), parse(spec, 2).unwrap());
            assert_eq!((slice.spec(), slice.geometry()), (torus.spec(), torus.geometry()));
            let Usual { order, interface } = slice.usual();
            assert_eq!((order.dimensions(dimensions.len()), interface), (dimensions, Interface::PerPort));
            assert_eq!(torus.usual(), Usual { order: Order::Dimension, interface: Interface::Serial });
        }
    }
}
