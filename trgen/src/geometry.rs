//! The shape of the network, as far as traffic depends on it.

use crate::units::NodeId;

/// Dimensions and sizes of a grid of nodes. Node i has coordinates x = i mod X, y = (i / X) mod Y, ...
///
/// Patterns such as tornado and placements such as `row` are defined on coordinates, the placement `shuffle` on the
/// leaf switches of trees. Traffic knows nothing else of a topology (wrap-around, directions, links).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Sizes, dimension 0 first.
    sizes: Vec<u32>,
    /// Number of consecutive nodes that share a leaf switch; 1 if there are no leaf switches.
    leaf: u32,
    /// Number of consecutive nodes that a network of their own joins; 1 if there are no such groups.
    group: u32,
}

impl Geometry {
    /// A grid of these sizes, dimension 0 first. `None` if there is no dimension, a size is 0, or the product exceeds
    /// 2^32-1.
    #[must_use]
    pub fn new(sizes: &[u32]) -> Option<Self> {
        let nodes = sizes.iter().try_fold(1u32, |product, &size| product.checked_mul(size))?;
        (nodes > 0 && !sizes.is_empty()).then(|| Self { sizes: sizes.to_vec(), leaf: 1, group: 1 })
    }

    /// The same nodes as endpoints of a tree, with `leaf` consecutive nodes per leaf switch. `None` if `leaf` does not
    /// divide the number of nodes.
    #[must_use]
    pub fn with_leaf(self, leaf: u32) -> Option<Self> {
        let fits = leaf > 0 && self.nodes().is_multiple_of(leaf as usize);
        fits.then_some(Self { leaf, ..self })
    }

    /// The same nodes in groups of `group` consecutive ones, each with a network of its own: the GPUs of a server. `None`
    /// if `group` does not divide the number of nodes.
    #[must_use]
    pub fn with_group(self, group: u32) -> Option<Self> {
        let fits = group > 0 && self.nodes().is_multiple_of(group as usize);
        fits.then_some(Self { group, ..self })
    }

    /// Nodes of each group that has a network of its own; 1 in networks of one level.
    #[must_use]
    pub const fn group(&self) -> u32 {
        self.group
    }

    /// Nodes on each leaf switch of a tree; 1 in other networks.
    #[must_use]
    pub const fn leaf(&self) -> u32 {
        self.leaf
    }

    /// Sizes, dimension 0 first.
    #[must_use]
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Number of nodes: the product of the sizes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.sizes.iter().map(|&size| size as usize).product()
    }

    /// Coordinates of a node, dimension 0 first.
    #[must_use]
    pub fn coordinates(&self, node: NodeId) -> Vec<u32> {
        let mut rest = node.0;
        self.sizes
            .iter()
            .map(|&size| {
                let coordinate = rest % size;
                rest /= size;
                coordinate
            })
            .collect()
    }

    /// The node at these coordinates, dimension 0 first, each taken modulo its size.
    #[must_use]
    pub fn node(&self, coordinates: &[u32]) -> NodeId {
        let index = self.sizes.iter().zip(coordinates).rev().fold(0u32, |index, (&size, &c)| index * size + c % size);
        NodeId(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_and_nodes_are_inverse() {
        let grid = Geometry::new(&[4, 3, 5]).unwrap();
        assert_eq!(grid.nodes(), 60);
        assert_eq!(grid.coordinates(NodeId(17)), [1, 1, 1]);
        for node in 0..60 {
            assert_eq!(grid.node(&grid.coordinates(NodeId(node))), NodeId(node));
        }
    }

    #[test]
    fn impossible_grids_are_refused() {
        assert_eq!(Geometry::new(&[]), None);
        assert_eq!(Geometry::new(&[4, 0]), None);
        assert_eq!(Geometry::new(&[1 << 16, 1 << 16, 2]), None);
        let line = Geometry::new(&[12]).unwrap();
        assert_eq!((line.leaf(), line.clone().with_leaf(4).map(|tree| tree.leaf())), (1, Some(4)));
        assert_eq!((line.clone().with_leaf(5), line.clone().with_leaf(0)), (None, None));
        assert_eq!((line.group(), line.clone().with_group(4).map(|machine| machine.group())), (1, Some(4)));
        assert_eq!((line.clone().with_group(5), line.with_group(0)), (None, None));
    }
}
