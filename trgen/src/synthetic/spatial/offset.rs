//! Patterns with the same offset for every node, along the grid or the numbering.

use super::Entry;
use super::fixed::Fixed;
use crate::Geometry;
use crate::catalog::{Component, Parameter};
use crate::units::NodeId;

pub(super) static TORNADO: Entry = Entry {
    component: Component {
        name: "tornado",
        about: "almost half way round every dimension: x sends to (x + ceil(k/2) - 1) mod k; endpoints of switches are one dimension",
        parameters: &[],
        source: "Dally and Towles, Principles and Practices of Interconnection Networks (2004), 3.2",
    },
    aliases: &[],
    build: |_, context| Ok(shift_coordinates(context.geometry, |size| size.div_ceil(2) - 1)),
};

pub(super) static TORNADO_FSIN: Entry = Entry {
    component: Component {
        name: "tornado-fsin",
        about: "node i sends to (i + floor((k-1)/2)) mod N, k the size of dimension 0: does not wrap inside the row",
        parameters: &[],
        source: "FSIN, Universidad del Pais Vasco (2017)",
    },
    aliases: &[],
    build: |_, context| {
        let by = (context.geometry.sizes()[0] - 1) / 2;
        Ok(along_the_numbering(context.nodes(), by))
    },
};

pub(super) static NEIGHBOR: Entry = Entry {
    component: Component {
        name: "neighbor",
        about: "d further in dimension 0, wrapping inside the row",
        parameters: &[Parameter {
            name: "d",
            about: "distance [hops in dimension 0]",
            range: "whole number, negative for the other way",
            default: "1",
        }],
        source: "Dally and Towles, Principles and Practices of Interconnection Networks (2004), 3.2",
    },
    aliases: &[],
    build: |call, context| {
        let size = context.geometry.sizes()[0];
        let by = call.integer("d", ANY)?.rem_euclid(i64::from(size)) as u32;
        Ok(Fixed::new(context.nodes(), |node| node - node % size + add(node % size, by, size)))
    },
};

pub(super) static NEIGHBOR_ALL: Entry = Entry {
    component: Component {
        name: "neighbor-all",
        about: "1 further in every dimension, wrapping",
        parameters: &[],
        source: "BookSim 2, pattern neighbor",
    },
    aliases: &[],
    build: |_, context| Ok(shift_coordinates(context.geometry, |size| 1 % size)),
};

pub(super) static SHIFT: Entry = Entry {
    component: Component {
        name: "shift",
        about: "node i sends to (i + s) mod N",
        parameters: &[Parameter {
            name: "s",
            about: "distance [nodes]",
            range: "whole number, negative for the other way",
            default: "1",
        }],
        source: "a rotation of the numbering; with s = N/2 it loads the bisection",
    },
    aliases: &[],
    build: |call, context| {
        let nodes = context.nodes();
        let by = call.integer("s", ANY)?.rem_euclid(i64::from(nodes)) as u32;
        Ok(along_the_numbering(nodes, by))
    },
};

/// Range of offsets. They wrap, so that all values are meaningful.
const ANY: std::ops::RangeInclusive<i64> = -(1 << 53)..=1 << 53;

/// (a + b) mod `modulus` for a, b < `modulus`, without overflow.
pub(super) const fn add(a: u32, b: u32, modulus: u32) -> u32 {
    ((a as u64 + b as u64) % modulus as u64) as u32
}

/// Every node sends to the node whose number is `by` larger, modulo the number of nodes.
fn along_the_numbering(nodes: u32, by: u32) -> Box<Fixed> {
    Fixed::new(nodes, |node| add(node, by, nodes))
}

/// Every node adds to each of its coordinates an amount that depends only on the size of the dimension, modulo that
/// size.
fn shift_coordinates(geometry: &Geometry, by: impl Fn(u32) -> u32) -> Box<Fixed> {
    Fixed::new(geometry.nodes() as u32, |node| {
        let moved: Vec<u32> = geometry
            .coordinates(NodeId(node))
            .iter()
            .zip(geometry.sizes())
            .map(|(&x, &size)| add(x, by(size), size))
            .collect();
        geometry.node(&moved).0
    })
}
