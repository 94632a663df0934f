//! Traffic of one half of the network.

use super::uniform::any_other;
use super::{Entry, Pattern};
use crate::Geometry;
use crate::catalog::Component;
use crate::rng::Stream;
use crate::units::NodeId;

pub(super) static SEMI: Entry = Entry {
    component: Component {
        name: "semi",
        about: "nodes with x < X/2 send to any other of them, all equally likely; the others are silent",
        parameters: &[],
        source: "FSIN, Universidad del Pais Vasco (2017)",
    },
    aliases: &[],
    build: |_, site| Ok(Box::new(Semi { geometry: site.geometry.clone() })),
};

#[derive(Debug)]
struct Semi {
    geometry: Geometry,
}

impl Semi {
    /// Size of dimension 0, and how much of it sends.
    fn row(&self) -> (u32, u32) {
        let size = self.geometry.sizes()[0];
        (size, size.div_ceil(2))
    }

    fn senders(&self) -> u32 {
        let (size, half) = self.row();
        self.geometry.nodes() as u32 / size * half
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
        source.0 % size >= half || self.senders() == 1
    }
}
