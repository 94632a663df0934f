//! HyperX and flattened butterflies: switches in a grid, fully connected along each dimension.

use trgen::NodeId;
use trgen::catalog::{Component, Parameter, SpecError};

use super::lattice::{Lattice, Limits};
use super::{Link, Plan, Switched};
use crate::topology::{Kind, Row, table::both_ways};

/// Row of `hyperx`.
pub(in crate::topology) const HYPERX: Row = Row {
    component: Component {
        name: "hyperx",
        about: "switches in a grid, all of a row linked with each other in every dimension, and endpoints at each: \
                hyperx:4x4:4; with as many endpoints as a row a flattened butterfly; \
                diameter n + 2, bisection S k / 4 links each way of S switches, k the smallest and even",
        parameters: &[
            Parameter {
                name: "sizes",
                about: "switches in each dimension, separated by x",
                range: "1 to 15 sizes of 1..=254",
                default: "",
            },
            Parameter {
                name: "endpoints",
                about: "after a second colon, of each switch: a number, or a tile such as 2x2 of the grid of all endpoints, which \
                        are then numbered row by row; `:spaced` behind a tile makes links between switches as long, in cycles, \
                        as endpoints lie between them",
                range: "1 to 254",
                default: "",
            },
        ],
        source: "Ahn, Binkert, Davis, McLaren, Schreiber, HyperX: topology, routing, and packaging of efficient \
                 large-scale networks, SC 2009; Kim, Balfour, Dally, Flattened butterfly topology, MICRO 2007",
    },
    kind: Kind::Switched,
    example: "hyperx:4x4:4",
    build: |words, ways| both_ways(parse(words)?, ways),
};

/// A HyperX with one link between any two switches of a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hyperx {
    /// Coordinates of the switches.
    pub lattice: Lattice,
}

impl Hyperx {
    /// The index, among the links of a switch with coordinate `own` in a dimension, of the link to coordinate `other`.
    #[must_use]
    #[inline]
    pub fn place(&self, dimension: usize, own: u32, other: u32) -> usize {
        let before: u32 = self.lattice.sizes[..dimension].iter().map(|size| size - 1).sum();
        (self.lattice.endpoints + before + other - u32::from(other > own)) as usize
    }
}

impl Plan for Hyperx {
    fn group(&self, _switch: NodeId) -> Option<u32> {
        None
    }

    fn dimension(&self, one: NodeId, other: NodeId) -> Option<usize> {
        self.lattice.dimension(one, other)
    }

    fn hops(&self, _from: NodeId, _to: NodeId) -> Option<u32> {
        None
    }

    fn top_subtrees(&self) -> Option<usize> {
        None
    }
}

/// Limits of sizes and endpoints. Each dimension is a bit of a packet's state.
const LIMITS: Limits = Limits { example: "hyperx:4x4:4", dimensions: 15, sizes: 1..=254, endpoints: 1..=254 };

/// Parses `4x4:4`: sizes, and endpoints of each switch.
fn parse(words: &str) -> Result<Switched, SpecError> {
    let spec = format!("hyperx:{words}");
    let plan = Hyperx { lattice: Lattice::parse(&spec, words, &LIMITS)? };
    let mut links = plan.lattice.endpoint_links();
    for (switch, dimension, own, stride) in plan.lattice.rows() {
        for other in own + 1..plan.lattice.sizes[dimension] {
            let end = |node, own, other| (node, plan.place(dimension, own, other) as u32);
            let there = switch + (other - own) * stride;
            links.push(Link::new([end(switch, own, other), end(there, other, own)]));
        }
    }
    let lattice = plan.lattice.clone();
    Ok(lattice.lay_out(Switched::new(spec, lattice.first as usize, lattice.nodes, &links, None, plan)?))
}
