//! Patterns that visit the other nodes in turn.

use super::{Entry, Pattern};
use crate::catalog::Component;
use crate::rng::Stream;
use crate::synthetic::draw::below;
use crate::units::NodeId;

pub(super) static DISTRIBUTE: Entry = Entry {
    component: Component {
        name: "distribute",
        about: "round robin over the other nodes, from i+1",
        parameters: &[],
        source: "FSIN, Universidad del Pais Vasco (2017)",
    },
    aliases: &[],
    build: |_, context| Ok(Box::new(Robin { next: vec![0; context.geometry.nodes()] })),
};

pub(super) static RSDIST: Entry = Entry {
    component: Component {
        name: "rsdist",
        about: "round robin over the other nodes, from one that each node draws",
        parameters: &[],
        source: "FSIN, Universidad del Pais Vasco (2017)",
    },
    aliases: &[],
    build: |_, context| Ok(Box::new(Robin { next: vec![UNDRAWN; context.geometry.nodes()] })),
};

/// A start that has not been drawn yet from the node's own stream.
const UNDRAWN: u32 = u32::MAX;

/// The patterns `distribute` and `rsdist`.
#[derive(Debug)]
struct Robin {
    /// Per node i: offset of the next destination from i+1, 0 to N-2; or [`UNDRAWN`].
    next: Vec<u32>,
}

impl Pattern for Robin {
    fn nodes(&self) -> usize {
        self.next.len()
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        if self.is_silent(source) {
            return None;
        }
        let nodes = self.next.len() as u64;
        let next = &mut self.next[source.index()];
        if *next == UNDRAWN {
            *next = below(nodes as u32 - 1, rng);
        }
        let destination = (u64::from(source.0) + 1 + u64::from(*next)) % nodes;
        *next = if u64::from(*next) + 2 == nodes { 0 } else { *next + 1 };
        Some(NodeId(destination as u32))
    }

    fn is_silent(&self, _: NodeId) -> bool {
        self.next.len() == 1
    }
}
