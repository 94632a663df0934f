//! Traffic within one half of a plane of the network.

use super::uniform::any_other;
use super::{Entry, Pattern};
use crate::Geometry;
use crate::catalog::{Component, ErrorKind};
use crate::rng::Stream;
use crate::synthetic::draw::below;
use crate::units::NodeId;

pub(super) static SEMI: Entry = Entry {
    component: Component {
        name: "semi",
        about: "nodes with x < floor(X/2) send to any other of them in the plane where all coordinates but x and y are 0, all equally \
                likely; the others are silent; not on trees",
        parameters: &[],
        source: "FSIN, Universidad del Pais Vasco (2017)",
    },
    aliases: &[],
    build: |call, context| {
        if context.geometry.leaf() > 1 {
            let problem = "`semi` is defined by the x of nodes in a grid, which endpoints of a tree do not have";
            let remedy = "use a grid, or `map(grid:4x4, semi)` with sizes of your own";
            return Err(call.refuse_all(problem, remedy).of_kind(ErrorKind::Unsupported));
        }
        Ok(Box::new(Semi { geometry: context.geometry.clone() }))
    },
};

/// The pattern `semi`.
#[derive(Debug)]
struct Semi {
    geometry: Geometry,
}

impl Semi {
    /// Size of dimension 0, and the number of senders in it.
    fn row(&self) -> (u32, u32) {
        let size = self.geometry.sizes()[0];
        (size, size / 2)
    }

    /// Number of nodes of the plane of dimensions 0 and 1, which have the lowest numbers.
    fn plane(&self) -> u32 {
        self.geometry.sizes().iter().take(2).product()
    }

    /// Number of nodes that receive: the senders of the plane.
    fn receivers(&self) -> u32 {
        let (size, half) = self.row();
        self.plane() / size * half
    }
}

impl Pattern for Semi {
    fn nodes(&self) -> usize {
        self.geometry.nodes()
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        if self.is_silent(source) {
            return None;
        }
        // Receivers are numbered row by row.
        let (size, half) = self.row();
        let receivers = self.receivers();
        let drawn = if source.0 < self.plane() {
            any_other(NodeId(source.0 / size * half + source.0 % size), receivers, rng).0
        } else {
            below(receivers, rng)
        };
        Some(NodeId(drawn / half * size + drawn % half))
    }

    fn is_silent(&self, source: NodeId) -> bool {
        let (size, half) = self.row();
        // Rows of one node have no senders, and the only receiver has no destination.
        source.0 % size >= half || (source.0 < self.plane() && self.receivers() < 2)
    }
}
