//! The ports of all nodes in one row, for tables of what leaves through each of them.
//!
//! Decision: docs/decisions/0540-any-number-of-ports.md.

use std::ops::Range;
use std::sync::Arc;

use trgen::NodeId;

use super::Port;

/// The ports of a node, in order.
#[derive(Clone, Debug)]
pub struct Ports(Range<u32>);

impl Ports {
    /// This many ports.
    pub(crate) const fn new(count: usize) -> Self {
        Self(0..count as u32)
    }
}

impl Iterator for Ports {
    type Item = Port;

    #[inline]
    fn next(&mut self) -> Option<Port> {
        self.0.next().map(Port)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Ports {}

/// The ports of all nodes in one row, node by node: each node has as many as the others or, where a switch has very
/// many links, as many as it has links.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Outputs {
    nodes: usize,
    /// Number of ports of each node, or the greatest.
    ports: usize,
    /// By node: the place of its first port; then the number of all. `None` if all have the same number.
    starts: Option<Arc<[u32]>>,
}

impl Outputs {
    /// Nodes with the same number of ports.
    #[must_use]
    pub const fn alike(nodes: usize, ports: usize) -> Self {
        Self { nodes, ports, starts: None }
    }

    /// Nodes whose first ports are at these places; the last number is that of all ports.
    pub(super) fn unlike(ports: usize, starts: Arc<[u32]>) -> Self {
        Self { nodes: starts.len().saturating_sub(1), ports, starts: Some(starts) }
    }

    /// True if all nodes have the same number of ports.
    #[must_use]
    pub const fn are_alike(&self) -> bool {
        self.starts.is_none()
    }

    /// Number of ports of all nodes.
    #[must_use]
    pub fn count(&self) -> usize {
        self.first(self.nodes)
    }

    /// The place of the first port of a node.
    #[must_use]
    #[inline]
    pub fn first(&self, node: usize) -> usize {
        self.starts.as_ref().map_or(node * self.ports, |starts| starts[node] as usize)
    }

    /// The place of a port.
    #[must_use]
    #[inline]
    pub fn at(&self, node: usize, port: usize) -> usize {
        self.first(node) + port
    }

    /// The places of the ports of a node.
    #[must_use]
    pub fn of(&self, node: usize) -> Range<usize> {
        self.first(node)..self.first(node + 1)
    }

    /// The node and port at a place.
    #[must_use]
    pub fn end(&self, at: usize) -> (NodeId, Port) {
        let node = match &self.starts {
            None => at / self.ports.max(1),
            Some(starts) => starts.partition_point(|&start| start as usize <= at).saturating_sub(1),
        };
        (NodeId::at(node), Port::at(at - self.first(node)))
    }

    /// Every node and port, in order.
    pub fn all(&self) -> impl Iterator<Item = (NodeId, Port)> + '_ {
        (0..self.nodes).flat_map(|node| Ports::new(self.of(node).len()).map(move |port| (NodeId::at(node), port)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::parse;

    #[test]
    fn places_and_ports_are_inverse() {
        for spec in ["torus:4x3", "fattree:3,2", "star:255", "star:256", "star:1000", "fattree:300,2"] {
            let topology = parse(spec, 2).unwrap();
            let outputs = topology.outputs();
            let mut expected = 0;
            for (node, port) in outputs.all() {
                assert_eq!(outputs.at(node.index(), port.index()), expected, "{spec}");
                assert_eq!(outputs.end(expected), (node, port), "{spec}");
                expected += 1;
            }
            assert_eq!(expected, outputs.count(), "{spec}");
            assert!(
                (0..topology.nodes())
                    .all(|node| { topology.ports_of(NodeId::at(node)).len() == outputs.of(node).len() })
            );
            // A table of all ports is never much larger than the number of links of a switch with very many.
            let links = outputs.all().filter(|&(node, port)| topology.neighbour(node, port).is_some()).count();
            assert!(topology.shape().ports() <= 255 || outputs.count() == links, "{spec}: {links}");
        }
    }
}
