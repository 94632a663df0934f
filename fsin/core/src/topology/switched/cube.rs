//! Indirect cubes and concentrated meshes: switches in a torus or a mesh, and several endpoints at each.
//!
//! Ports of a switch have the numbers of a torus, dimension by dimension, + before -, followed by one for each
//! endpoint. So a packet that goes straight stays in the queues of one port, as the bubble requires.

use trgen::NodeId;
use trgen::catalog::{Component, Parameter, SpecError};

use super::lattice::{Lattice, Limits};
use super::{Link, Plan, Switched};
use crate::topology::{Kind, Port, Row, table::both_ways};

/// Row of `icube`.
pub(in crate::topology) const ICUBE: Row = Row {
    component: Component {
        name: "icube",
        about: "indirect cube: switches in a torus, and several endpoints at each: icube:4x4:2; two hops more than the torus",
        parameters: &[
            Parameter {
                name: "sizes",
                about: "switches in each dimension, separated by x",
                range: "1 to 16 sizes of 1..=32767",
                default: "",
            },
            Parameter {
                name: "endpoints",
                about: "after a second colon, of each switch: a number, or a tile such as 2x2 of the grid of all endpoints, which \
                        are then numbered row by row; `:spaced` behind a tile makes links between switches as long, in cycles, \
                        as endpoints lie between them",
                range: "1 to 200",
                default: "",
            },
        ],
        source: "FSIN (INSEE), icube; concentration: Dally and Towles, Principles and Practices of Interconnection \
                 Networks, 2004, section 3.3",
    },
    kind: Kind::Switched,
    example: "icube:4x4:2",
    build: |words, ways| both_ways(parse("icube", words, true)?, ways),
};

/// Row of `cmesh`.
pub(in crate::topology) const CMESH: Row = Row {
    component: Component {
        name: "cmesh",
        about: "concentrated mesh: switches in a mesh, and several endpoints at each: cmesh:4x4:4; no express links; two hops more \
                than the mesh",
        parameters: ICUBE.component.parameters,
        source: "Balfour and Dally, Design tradeoffs for tiled CMP on-chip networks, ICS 2006",
    },
    kind: Kind::Switched,
    example: "cmesh:4x4:4",
    build: |words, ways| both_ways(parse("cmesh", words, false)?, ways),
};

/// An indirect cube or a concentrated mesh.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cube {
    /// Coordinates of the switches.
    pub lattice: Lattice,
    /// True if every dimension is a ring, false if it is a line.
    pub wraps: bool,
}

impl Cube {
    /// The port of a switch that leads along a dimension.
    #[must_use]
    #[inline]
    pub const fn port(&self, dimension: usize, positive: bool) -> Port {
        Port::at(2 * dimension + !positive as usize)
    }

    /// The port number of each directed link: the port of the torus at a switch; at an endpoint, the number of its
    /// switch's port.
    fn colours(&self, links: &[Link]) -> Vec<u32> {
        let (endpoints, ring_ports) = (self.lattice.endpoints, 2 * self.lattice.sizes.len() as u32);
        // Ports to endpoints follow those of the torus.
        let port = |place: u32| if place < endpoints { ring_ports + place } else { place - endpoints };
        let both = links.iter().flat_map(|link| {
            let [(one, here), (_, there)] = link.ends;
            if one < self.lattice.first { [port(there); 2] } else { [port(here), port(there)] }
        });
        both.collect()
    }
}

impl Plan for Cube {
    fn group(&self, _switch: NodeId) -> Option<u32> {
        None
    }

    fn hops(&self, _from: NodeId, _to: NodeId) -> Option<u32> {
        None
    }

    fn top_subtrees(&self) -> Option<usize> {
        None
    }
}

/// Limits of sizes and endpoints.
const LIMITS: Limits = Limits { example: ICUBE.example, dimensions: 16, sizes: 1..=32_767, endpoints: 1..=200 };

/// Parses `4x4:2`: sizes, and endpoints of each switch.
fn parse(name: &str, words: &str, wraps: bool) -> Result<Switched, SpecError> {
    let spec = format!("{name}:{words}");
    let example = if wraps { ICUBE.example } else { CMESH.example };
    let lattice = Lattice::parse(&spec, words, &Limits { example, ..LIMITS })?;
    let mut links = lattice.endpoint_links();
    for (switch, dimension, own, stride) in lattice.rows() {
        let is_last = own + 1 == lattice.sizes[dimension];
        let next = if is_last { switch - own * stride } else { switch + stride };
        let place = lattice.endpoints + 2 * dimension as u32;
        // A ring of one switch has no link.
        if next != switch && (wraps || !is_last) {
            links.push(Link::new([(switch, place), (next, place + 1)]));
        }
    }
    let (endpoints, nodes) = (lattice.first as usize, lattice.nodes);
    let plan = Cube { lattice, wraps };
    let colours = plan.colours(&links);
    let lattice = plan.lattice.clone();
    Ok(lattice.lay_out(Switched::new(spec, endpoints, nodes, &links, Some(colours), plan)?))
}
