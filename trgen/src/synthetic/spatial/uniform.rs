//! The uniform pattern.

use super::{Entry, Pattern, TO_ITSELF};
use crate::catalog::Component;
use crate::rng::Stream;
use crate::synthetic::draw::below;
use crate::units::NodeId;

pub(super) static UNIFORM: Entry = Entry {
    component: Component {
        name: "uniform",
        about: "any other node, all equally likely; with self=true any node",
        parameters: &[TO_ITSELF],
        source: "Dally and Towles, Principles and Practices of Interconnection Networks (2004), 3.2",
    },
    aliases: &[],
    build: |call, context| Ok(Box::new(Uniform { nodes: context.nodes(), is_any: context.sends_to_itself(call)? })),
};

#[derive(Debug)]
struct Uniform {
    nodes: u32,
    /// True if the sender may be drawn too.
    is_any: bool,
}

/// Draws a node from 0 to `nodes`-1 other than `source`, all equally likely. `nodes` must be at least 2, and `source`
/// one of them.
pub(super) fn any_other(source: NodeId, nodes: u32, rng: &mut Stream) -> NodeId {
    let draw = below(nodes - 1, rng);
    NodeId(draw + u32::from(draw >= source.0))
}

/// Share of each node among the destinations drawn by [`any_other`].
pub(super) fn shares_of_any_other(source: NodeId, nodes: u32) -> Vec<f64> {
    let share = |node| if node == source.0 { 0.0 } else { 1.0 / f64::from(nodes - 1) };
    (0..nodes).map(share).collect()
}

impl Pattern for Uniform {
    fn nodes(&self) -> usize {
        self.nodes as usize
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        match self.is_any {
            true => Some(NodeId(below(self.nodes, rng))),
            false => (self.nodes > 1).then(|| any_other(source, self.nodes, rng)),
        }
    }

    fn shares(&self, source: NodeId) -> Option<Vec<f64>> {
        let nodes = self.nodes as usize;
        Some(if self.is_any { vec![1.0 / nodes as f64; nodes] } else { shares_of_any_other(source, self.nodes) })
    }

    fn is_silent(&self, _: NodeId) -> bool {
        self.nodes == 1 && !self.is_any
    }
}
