//! Dependencies of a rank: what each node waits for, checked before a run.

use std::collections::HashMap;

use super::Node;

/// The dependencies that count.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Dependencies {
    /// Those of data and of control.
    #[default]
    All,
    /// Those of data alone. Recorders of programs in Python write the nesting of calls as control.
    Data,
}

/// Dependencies by which a rank could never end.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DagError {
    /// A node that waits for itself.
    #[error("rank {rank}: node {node} waits for itself ({kind})")]
    Itself {
        /// The rank.
        rank: usize,
        /// Number and name.
        node: String,
        /// Kind of the dependency.
        kind: &'static str,
    },
    /// A node that waits for one that is not in the file.
    #[error("rank {rank}: node {node} waits for node {missing} ({kind}), which the file lacks")]
    Missing {
        /// The rank.
        rank: usize,
        /// Number and name.
        node: String,
        /// The number that no node has.
        missing: u64,
        /// Kind of the dependency.
        kind: &'static str,
    },
    /// Nodes that wait for each other.
    #[error("rank {rank}: {}{} wait for each other", .nodes.join(", "), if *.more > 0 { format!(" and {more} more") } else { String::new() })]
    Circle {
        /// The rank.
        rank: usize,
        /// Numbers and names of the first nodes, each waiting for the next one.
        nodes: Vec<String>,
        /// Number of nodes not named.
        more: usize,
    },
}

/// What a node waits for and what waits for it.
#[derive(Clone, Default, Debug)]
pub(super) struct Dag {
    /// Number of unmet dependencies of each node.
    pub(super) waits: Vec<u32>,
    /// Index in `dependents` of the first dependent of each node, and one past the last.
    first: Vec<u32>,
    dependents: Vec<u32>,
}

/// Number and name of a node.
pub(super) fn named(node: &Node) -> String {
    format!("{} `{}`", node.id, node.name.escape_debug())
}

impl Dag {
    /// The dependencies of a rank, whose nodes come by ascending number.
    pub(super) fn new(rank: usize, nodes: &[Node], which: Dependencies) -> Result<Self, DagError> {
        let index: HashMap<u64, u32> = (0_u32..).zip(nodes).map(|(index, node)| (node.id, index)).collect();
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let mut waits = vec![0_u32; nodes.len()];
        for (number, node) in (0_u32..).zip(nodes) {
            let control = if which == Dependencies::All { &node.control[..] } else { &[] };
            let begin = edges.len();
            for (kind, list) in [("data_deps", &node.data[..]), ("ctrl_deps", control)] {
                for id in list {
                    let Some(&other) = index.get(id) else {
                        return Err(DagError::Missing { rank, node: named(node), missing: *id, kind });
                    };
                    if other == number {
                        return Err(DagError::Itself { rank, node: named(node), kind });
                    }
                    edges.push((other, number));
                }
            }
            edges[begin..].sort_unstable();
            let mut kept = begin;
            for at in begin..edges.len() {
                if kept == begin || edges[kept - 1] != edges[at] {
                    edges[kept] = edges[at];
                    kept += 1;
                }
            }
            edges.truncate(kept);
            waits[number as usize] = (kept - begin) as u32;
        }
        let mut first = vec![0_u32; nodes.len() + 1];
        edges.iter().for_each(|&(other, _)| first[other as usize + 1] += 1);
        (1..first.len()).for_each(|at| first[at] += first[at - 1]);
        let mut next = first.clone();
        let mut dependents = vec![0; edges.len()];
        for (other, number) in edges {
            let at = &mut next[other as usize];
            dependents[*at as usize] = number;
            *at += 1;
        }
        let dag = Self { waits, first, dependents };
        dag.acyclic(rank, nodes)?;
        Ok(dag)
    }

    /// The nodes that wait for this one.
    pub(super) fn dependents(&self, node: u32) -> std::ops::Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }

    /// The dependent at a position of [`dependents`](Self::dependents).
    pub(super) fn dependent(&self, at: usize) -> u32 {
        self.dependents[at]
    }

    /// Takes nodes away whose dependencies are met, until none is left or all that are left wait for each other.
    fn acyclic(&self, rank: usize, nodes: &[Node]) -> Result<(), DagError> {
        const SHOWN: usize = 8;
        let mut waits = self.waits.clone();
        let mut ready: Vec<u32> = (0..nodes.len() as u32).filter(|&node| waits[node as usize] == 0).collect();
        let mut taken = 0;
        while let Some(node) = ready.pop() {
            taken += 1;
            for at in self.dependents(node) {
                let dependent = self.dependents[at];
                waits[dependent as usize] -= 1;
                if waits[dependent as usize] == 0 {
                    ready.push(dependent);
                }
            }
        }
        if taken == nodes.len() {
            return Ok(());
        }
        // What is left: walk from a node to one that it waits for, until a node comes twice.
        let mut waits_for = vec![u32::MAX; nodes.len()];
        for node in (0..nodes.len() as u32).filter(|&node| waits[node as usize] > 0) {
            for at in self.dependents(node) {
                waits_for[self.dependents[at] as usize] = node;
            }
        }
        let mut node = (0..nodes.len()).find(|&node| waits[node] > 0).unwrap_or_default();
        for _ in 0..nodes.len() {
            node = waits_for[node] as usize;
        }
        let mut circle = vec![node];
        while waits_for[circle[circle.len() - 1]] as usize != node {
            circle.push(waits_for[circle[circle.len() - 1]] as usize);
        }
        let least = circle.iter().enumerate().min_by_key(|&(_, &node)| node).map_or(0, |(place, _)| place);
        circle.rotate_left(least);
        let mut circle: Vec<String> = circle.into_iter().map(|node| named(&nodes[node])).collect();
        let more = circle.len().saturating_sub(SHOWN);
        circle.truncate(SHOWN);
        Err(DagError::Circle { rank, nodes: circle, more })
    }
}
