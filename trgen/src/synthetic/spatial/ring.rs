//! Nodes by their distance on a torus with the sizes of the grid: every node has the same number of others at each
//! distance.
//!
//! Patterns by distance treat the grid as a torus even if the network is a mesh: only in a torus does every node have
//! equally many others at each distance. On a mesh the paths are longer than the distance requested.

use crate::Geometry;
use crate::units::NodeId;

/// The nodes other than node 0, sorted by their distance from it. Each serves as a step from any node.
#[derive(Clone, Debug)]
pub(super) struct Rings {
    geometry: Geometry,
    /// Nodes at distance 1, then those at 2, ..., each in ascending order.
    steps: Vec<u32>,
    /// Per distance from 0: the end of the nodes at this distance in `steps`.
    ends: Vec<usize>,
}

impl Rings {
    pub(super) fn new(geometry: &Geometry) -> Self {
        let distance = |node: u32| -> u32 {
            let steps = geometry.coordinates(NodeId(node));
            steps.iter().zip(geometry.sizes()).map(|(&x, &size)| x.min(size - x)).sum()
        };
        let mut keyed: Vec<(u32, u32)> = (1..geometry.nodes() as u32).map(|node| (distance(node), node)).collect();
        keyed.sort_unstable();
        let mut ends = vec![0];
        for (at, &(distance, _)) in keyed.iter().enumerate() {
            ends.resize(distance as usize + 1, at);
            ends[distance as usize] = at + 1;
        }
        Self { geometry: geometry.clone(), steps: keyed.into_iter().map(|(_, node)| node).collect(), ends }
    }

    /// \[hops\] The largest distance; 0 for a single node.
    pub(super) fn farthest(&self) -> usize {
        self.ends.len() - 1
    }

    /// Number of other nodes; their indices are `0..len`, in order of distance.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Indices of the nodes at a distance \[hops\], from 1 to [`farthest`](Self::farthest).
    pub(super) fn indices_at(&self, distance: usize) -> std::ops::Range<usize> {
        self.ends[distance - 1]..self.ends[distance]
    }

    /// The node at an index, as seen from `source`.
    pub(super) fn node(&self, source: NodeId, index: usize) -> NodeId {
        translated(&self.geometry, source, NodeId(self.steps[index]))
    }
}

/// The node whose position relative to `source` is that of `step` relative to node 0, with wrap-around.
pub(super) fn translated(geometry: &Geometry, source: NodeId, step: NodeId) -> NodeId {
    let (mut from, mut by, mut stride, mut to) = (source.0, step.0, 1, 0);
    for &size in geometry.sizes() {
        to += super::offset::add(from % size, by % size, size) * stride;
        from /= size;
        by /= size;
        // The product of all sizes fits 32 bits, and the last product is not used.
        stride = stride.wrapping_mul(size);
    }
    NodeId(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_hold_every_other_node_once_at_its_distance() {
        for sizes in [&[1][..], &[2], &[5], &[4, 4], &[2, 3, 4], &[16, 1]] {
            let geometry = Geometry::new(sizes).unwrap();
            let rings = Rings::new(&geometry);
            assert_eq!(rings.len(), geometry.nodes() - 1);
            let diameter: u32 = sizes.iter().map(|size| size / 2).sum();
            assert_eq!(rings.farthest(), diameter as usize);
            for source in (0..geometry.nodes()).map(NodeId::at) {
                let mut seen = vec![source];
                for distance in 1..=rings.farthest() {
                    for place in rings.indices_at(distance) {
                        let to = rings.node(source, place);
                        let (a, b) = (geometry.coordinates(source), geometry.coordinates(to));
                        let hops = |((a, b), &size): ((&u32, &u32), &u32)| a.abs_diff(*b).min(size - a.abs_diff(*b));
                        let far: u32 = a.iter().zip(&b).zip(sizes).map(hops).sum();
                        assert_eq!(far as usize, distance);
                        seen.push(to);
                    }
                }
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen.len(), geometry.nodes());
            }
        }
    }
}
