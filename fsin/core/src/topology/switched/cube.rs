//! Indirect cubes and concentrated meshes: switches in a torus or a mesh, and several endpoints at each.
//!
//! Ports of a switch have the numbers of a torus, dimension by dimension, + before -, followed by one for each
//! endpoint. So a packet that goes straight stays in the queues of one port, as the bubble requires.
//!
//! # Express links
//! In a mesh, the ports of the border that would lead outward have no link. With `:express` there is one along the
//! border in their place: in the first and the last row from x to x + ceil(k / 2), where k is the number of switches of
//! a row, and in the first and the last column likewise. In a row of an odd number of switches, which Balfour and Dally
//! do not have, the one in the middle has none. Their ports follow those of the mesh: one along x, one along y.
//!
//! Decision: docs/decisions/0601-express-links.md.

use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};

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
        about: "concentrated mesh: switches in a mesh, and several endpoints at each: cmesh:4x4:4; two hops more than the mesh; with \
                `:express` at the end, links along the border over half a row or column",
        parameters: &[
            ICUBE.component.parameters[0],
            ICUBE.component.parameters[1],
            Parameter {
                name: "express",
                about: "`:express` at the end: ports at the border of a mesh of two dimensions, which lead nowhere, have links along it: \
                        in the first and last row from each switch of one half to the one ceil(k/2) further on, in the first and last \
                        column likewise",
                range: "sizes of 3 or more",
                default: "",
            },
        ],
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
    /// True if switches at the border have express links along it.
    pub is_express: bool,
}

impl Cube {
    /// The port of a switch that leads along a dimension.
    #[must_use]
    #[inline]
    pub const fn port(&self, dimension: usize, positive: bool) -> Port {
        Port::at(2 * dimension + !positive as usize)
    }

    /// The port of express links along the first of two dimensions, behind those of the mesh; that along the second one
    /// follows. (Those of the mesh that lead outward cannot be theirs: a link has one number at both of its ends, by
    /// which the ports that links come in at are known too.)
    const EXPRESS: u32 = 4;

    /// \[switches\] How far the express links of a dimension reach.
    #[must_use]
    #[inline]
    pub const fn reach(size: u32) -> u32 {
        size.div_ceil(2)
    }

    /// The port of the express link of a switch along a dimension of a mesh of two dimensions with such `sizes`, if the
    /// switch is at the border and the link reaches no further than coordinate `to`.
    #[must_use]
    #[inline]
    pub const fn express(sizes: [u32; 2], dimension: usize, at: [u32; 2], to: u32) -> Option<u32> {
        let across = 1 - dimension;
        if at[dimension].abs_diff(to) < Self::reach(sizes[dimension]) {
            None
        } else if at[across] == 0 || at[across] + 1 == sizes[across] {
            Some(Self::EXPRESS + dimension as u32)
        } else {
            None
        }
    }

    /// The express links of the switches.
    fn express_links(&self) -> Vec<Link> {
        let [across, along] = [self.lattice.sizes[0], self.lattice.sizes[1]];
        let number = |x: u32, y: u32| self.lattice.first + y * across + x;
        let place = |dimension: u32| self.lattice.endpoints + Self::EXPRESS + dimension;
        let mut links = Vec::new();
        for is_last in [false, true] {
            for x in 0..across / 2 {
                let y = if is_last { along - 1 } else { 0 };
                let at = place(0);
                links.push(Link::new([(number(x, y), at), (number(x + Self::reach(across), y), at)]));
            }
            for y in 0..along / 2 {
                let x = if is_last { across - 1 } else { 0 };
                let at = place(1);
                links.push(Link::new([(number(x, y), at), (number(x, y + Self::reach(along)), at)]));
            }
        }
        links
    }

    /// The port number of each directed link: the port of the torus at a switch; at an endpoint, the number of its
    /// switch's port.
    fn colours(&self, links: &[Link]) -> Vec<u32> {
        let dimensions = self.lattice.sizes.len() as u32;
        let (endpoints, ring_ports) = (self.lattice.endpoints, dimensions * if self.is_express { 3 } else { 2 });
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

/// Limits of sizes and endpoints.
const LIMITS: Limits = Limits { example: ICUBE.example, dimensions: 16, sizes: 1..=32_767, endpoints: 1..=200 };

/// \[switches\] The shortest row with express links: those of a shorter one would be beside its other links.
const EXPRESS_ROW: u32 = 3;

/// Parses `4x4:2`: sizes, and endpoints of each switch; or `4x4:2:express`, of a mesh.
fn parse(name: &str, words: &str, wraps: bool) -> Result<Switched, SpecError> {
    let spec = format!("{name}:{words}");
    let example = if wraps { ICUBE.example } else { CMESH.example };
    let (words, is_express) = match words.strip_suffix(":express") {
        Some(words) if !wraps => (words, true),
        _ => (words, false),
    };
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
    if is_express && (lattice.sizes.len() != 2 || lattice.sizes.iter().any(|&size| size < EXPRESS_ROW)) {
        let what = format!("`{spec}`: express links are of two dimensions, each of {EXPRESS_ROW} switches or more");
        let remedy = "write sizes such as cmesh:4x4:4:express, or leave :express out";
        return Err(SpecError::new(ErrorKind::Malformed, what, remedy));
    }
    let (endpoints, nodes) = (lattice.first as usize, lattice.nodes);
    let plan = Cube { lattice, wraps, is_express };
    if is_express {
        links.extend(plan.express_links());
    }
    let colours = plan.colours(&links);
    let lattice = plan.lattice.clone();
    Ok(lattice.lay_out(Switched::new(spec, endpoints, nodes, &links, Some(colours), plan)?))
}
