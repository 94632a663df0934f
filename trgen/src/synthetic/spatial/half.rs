//! Traffic within one half of a plane of the network.

use super::uniform::any_other;
use super::{Entry, Pattern};
use crate::Geometry;
use crate::catalog::Component;
use crate::rng::Stream;
use crate::units::NodeId;

pub(super) static SEMI: Entry = Entry {
    component: Component {
        name: "semi",
        about: "nodes with x < floor(X/2), of the plane z = 0 where there are more dimensions than two, send to any other of them, \
                all equally likely; the others are silent",
        parameters: &[],
        source: "FSIN, Universidad del Pais Vasco (2017)",
    },
    aliases: &[],
    build: |_, context| Ok(Box::new(Semi { geometry: context.geometry.clone() })),
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

    /// Number of nodes that send.
    fn senders(&self) -> u32 {
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
        // Senders are numbered row by row.
        let (size, half) = self.row();
        let own = source.0 / size * half + source.0 % size;
        let other = any_other(NodeId(own), self.senders(), rng).0;
        Some(NodeId(other / half * size + other % half))
    }

    fn is_silent(&self, source: NodeId) -> bool {
        let (size, half) = self.row();
        // A single sender has no destination, and rows of one node have no senders.
        source.0 >= self.plane() || source.0 % size >= half || self.senders() < 2
    }
}
