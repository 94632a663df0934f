//! The shape of the network, as far as traffic depends on it.
//!
//! Decision: docs/decisions/0461-names-of-nodes.md.

use std::collections::HashMap;
use std::sync::Arc;

use crate::units::NodeId;

/// Names of nodes, as the file of a network has them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeNames {
    /// By name of a host, or of a switch with one endpoint.
    pub endpoints: HashMap<String, NodeId>,
    /// By number of a node in a file that numbers its nodes: its endpoint, `None` for a switch.
    pub numbers: Option<Vec<Option<u32>>>,
}

/// Dimensions and sizes of a grid of nodes. Node i has coordinates x = i mod X, y = (i / X) mod Y, ...
///
/// Patterns such as tornado and placements such as `row` are defined on coordinates, the placement `shuffle` on the
/// leaf switches of trees. Nodes of a network that is read from a file have the names of that file. Traffic depends on
/// nothing else of a topology (wrap-around, directions, links).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Sizes, dimension 0 first.
    sizes: Vec<u32>,
    /// Number of consecutive nodes that share a leaf switch; 1 if there are no leaf switches.
    leaf: u32,
    /// Number of consecutive nodes that a network of their own joins; 1 if there are no such groups.
    group: u32,
    /// Names of nodes, if the network has names.
    names: Option<Arc<NodeNames>>,
}

impl Geometry {
    /// A grid of these sizes, dimension 0 first. `None` if there is no dimension, a size is 0, or the product exceeds
    /// 2^32-1.
    #[must_use]
    pub fn new(sizes: &[u32]) -> Option<Self> {
        let nodes = sizes.iter().try_fold(1u32, |product, &size| product.checked_mul(size))?;
        (nodes > 0 && !sizes.is_empty()).then(|| Self { sizes: sizes.to_vec(), leaf: 1, group: 1, names: None })
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

    /// The same nodes with names.
    #[must_use]
    pub fn with_names(self, names: NodeNames) -> Self {
        Self { names: Some(Arc::new(names)), ..self }
    }

    /// The node of a word: the number of an endpoint, or a name.
    ///
    /// # Errors
    /// The word, and what nodes there are.
    pub fn find(&self, word: &str) -> Result<NodeId, String> {
        let number = word.parse::<u32>().ok().filter(|&number| (number as usize) < self.nodes());
        let named = || self.names.as_ref()?.endpoints.get(word).copied();
        number.map(NodeId).or_else(named).ok_or_else(|| self.unknown(word))
    }

    /// The node of a word in a list that was written for the file of the network. If the file numbers its nodes, a
    /// number is one of these; otherwise a name takes precedence over the number of an endpoint.
    ///
    /// # Errors
    /// The word, and the reason why it is not a node.
    pub fn find_listed(&self, word: &str) -> Result<NodeId, String> {
        let number = word.parse::<u32>().ok();
        let names = self.names.as_deref();
        if let (Some(numbers), Some(number)) = (names.and_then(|names| names.numbers.as_deref()), number) {
            return match numbers.get(number as usize) {
                Some(Some(endpoint)) => Ok(NodeId(*endpoint)),
                Some(None) => Err(format!("node {number} of the network's file is a switch")),
                None => Err(format!("node {number}, and the network's file has {} nodes", numbers.len())),
            };
        }
        let named = names.and_then(|names| names.endpoints.get(word).copied());
        named.or(number.map(NodeId)).ok_or_else(|| self.unknown(word))
    }

    /// The names of nodes that have one.
    #[must_use]
    pub fn names(&self) -> HashMap<NodeId, &str> {
        let all = self.names.iter().flat_map(|names| &names.endpoints);
        all.map(|(name, &node)| (node, name.as_str())).collect()
    }

    /// The error message for a word that is not a node.
    fn unknown(&self, word: &str) -> String {
        let what: String = word.chars().take(40).collect();
        let most = self.nodes() - 1;
        match self.names {
            Some(_) => format!(
                "`{what}` is not a node: no number from 0 to {most}, and no name of a host or of a switch with one endpoint"
            ),
            None => format!("`{what}` is not a node: no number from 0 to {most}"),
        }
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
    fn nodes_are_found_by_number_and_by_name() {
        let plain = Geometry::new(&[3]).unwrap();
        assert_eq!(plain.find("2"), Ok(NodeId(2)));
        assert!(plain.find("3").is_err() && plain.find("Ulm").is_err());
        let endpoints = [("Ulm".to_owned(), NodeId(1)), ("2".to_owned(), NodeId(0))].into();
        let named = plain.clone().with_names(NodeNames { endpoints, numbers: None });
        // In a pattern a number is an endpoint; in a list a name takes precedence.
        assert_eq!((named.find("Ulm"), named.find("2")), (Ok(NodeId(1)), Ok(NodeId(2))));
        assert_eq!((named.find_listed("2"), named.find_listed("1")), (Ok(NodeId(0)), Ok(NodeId(1))));
        let counted = plain.with_names(NodeNames { numbers: Some(vec![None, Some(0)]), ..NodeNames::default() });
        assert_eq!(counted.find_listed("1"), Ok(NodeId(0)));
        assert!(counted.find_listed("0").is_err() && counted.find_listed("2").is_err());
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
