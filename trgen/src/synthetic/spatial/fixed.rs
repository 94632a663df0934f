//! Patterns that send each node to one other node for the whole run.

use super::Pattern;
use crate::rng::Stream;
use crate::units::NodeId;

/// A table of destinations; a node that maps to itself is silent, or sends to itself. 4 bytes per node.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    destinations: Vec<NodeId>,
    /// True if a node that maps to itself sends to itself.
    to_itself: bool,
}

impl Fixed {
    /// The pattern in which node i sends to `destination(i)`.
    pub(super) fn new(nodes: u32, destination: impl Fn(u32) -> u32) -> Box<Self> {
        let destinations = (0..nodes).map(|node| NodeId(destination(node))).collect();
        Box::new(Self { destinations, to_itself: false })
    }

    /// The same pattern; with `to_itself`, nodes that map to themselves send to themselves.
    pub(super) fn sending(mut self: Box<Self>, to_itself: bool) -> Box<Self> {
        self.to_itself = to_itself;
        self
    }
}

impl Pattern for Fixed {
    fn nodes(&self) -> usize {
        self.destinations.len()
    }

    fn destination(&mut self, source: NodeId, _: &mut Stream) -> Option<NodeId> {
        let destination = self.destinations[source.index()];
        (self.to_itself || destination != source).then_some(destination)
    }

    fn is_silent(&self, source: NodeId) -> bool {
        !self.to_itself && self.destinations[source.index()] == source
    }

    fn map(&self) -> Option<Vec<NodeId>> {
        Some(self.destinations.clone())
    }
}
