//! Partitioning of a network into ranges of consecutive nodes.

use std::collections::HashMap;

use trgen::NodeId;

use super::chain::NONE;
use super::mask::Mask;
use super::part::{Abroad, Part};
use super::rules::Rules;
use super::state::{Gate, Router};
use crate::router::layout::Layout;
use fsin_core::topology::Port;

/// The assignment of nodes to partitions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    pub(super) parts: usize,
    /// \[nodes\] Size of the first partition.
    first: usize,
    /// \[nodes\] Size of every other partition.
    span: usize,
}

impl Division {
    /// Divides `nodes` nodes (at least 1) into `threads` partitions, but at most one per node. The first partition is
    /// smaller if its thread has something `else_to_do` meanwhile: source, messages and record. That work takes about
    /// an eighth of the time of one thread. A sixteenth was measured to be best, since nodes of larger partitions are
    /// dearer.
    pub(super) fn new(nodes: usize, threads: usize, else_to_do: bool) -> Self {
        let parts = threads.clamp(1, nodes);
        if parts == 1 {
            return Self { parts, first: nodes, span: nodes };
        }
        let span = if else_to_do { (nodes * 16).div_ceil(parts * 15) } else { nodes.div_ceil(parts) };
        let span = span.min((nodes - 1) / (parts - 1));
        Self { parts, first: nodes - (parts - 1) * span, span }
    }

    /// The partition of a node.
    pub(super) fn part_of(self, node: usize) -> usize {
        node.checked_sub(self.first).map_or(0, |beyond| 1 + beyond / self.span)
    }

    /// The first node of a partition.
    pub(super) fn first_of(self, part: usize) -> usize {
        part.checked_sub(1).map_or(0, |before| self.first + before * self.span)
    }

    /// \[nodes\] Size of a partition.
    fn size_of(self, part: usize) -> usize {
        if part == 0 { self.first } else { self.span }
    }

    /// The partition of a node, and its index there.
    fn place_of(self, node: usize) -> (usize, usize) {
        let part = self.part_of(node);
        (part, node - self.first_of(part))
    }
}

/// Builds the partitions of a topology.
pub(super) fn cut<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize>(
    rules: &Rules<L>,
    division: Division,
) -> Vec<Box<Part<L, M, D, Q, P>>> {
    let topology = &*rules.topology;
    let count = topology.nodes();
    let parts = division.parts;
    let own = |part: usize| division.size_of(part);

    // Node numbers are global at first.
    let empty = Router::new(rules.outputs() + rules.injectors, rules.queue_packets as usize, rules.layout.vcs());
    let mut routers: Vec<Vec<Router<M, Q, P>>> = (0..parts).map(|part| vec![empty; own(part)]).collect();
    let ports = rules.layout.shape().ports();
    let mut gates: Vec<Vec<Gate<M>>> = (0..parts).map(|part| vec![Gate::EMPTY; own(part) * ports]).collect();
    for node in 0..count {
        for port in 0..ports {
            if let Some(next) = topology.neighbour(NodeId::at(node), Port(port as u8)) {
                let (part, own) = division.place_of(node);
                let router = &mut routers[part][own];
                router.downstream[port] = next.0;
                router.connect(M::of_word(rules.layout.all_vcs().into(), port * rules.layout.vcs()));
                let (part, own) = division.place_of(next.index());
                gates[part][rules.place(own as u32, port)].upstream = node as u32;
            }
        }
    }

    let translated = routers.into_iter().zip(gates).enumerate().map(|(part, (mut routers, mut gates))| {
        let first = division.first_of(part);
        let mut border = Border { first, own: own(part), division, known: HashMap::new(), list: Vec::new() };
        let downstream = routers.iter_mut().flat_map(|router| &mut router.downstream);
        let upstream = gates.iter_mut().map(|gate| &mut gate.upstream);
        for node in downstream.chain(upstream).filter(|node| **node != NONE) {
            *node = border.number(*node as usize);
        }
        Box::new(Part::new(rules.clone(), first as u32, routers, gates, border.list, parts))
    });
    translated.collect()
}

/// The nodes outside a partition that its links lead to.
struct Border {
    first: usize,
    own: usize,
    division: Division,
    known: HashMap<usize, u32>,
    list: Vec<Abroad>,
}

impl Border {
    /// A node's index in the partition; the partition's own nodes come first.
    fn number(&mut self, node: usize) -> u32 {
        if (self.first..self.first + self.own).contains(&node) {
            return (node - self.first) as u32;
        }
        let (own, division, list) = (self.own, self.division, &mut self.list);
        *self.known.entry(node).or_insert_with(|| {
            let (part, node) = division.place_of(node);
            list.push(Abroad { part: part as u32, node: node as u32 });
            (own + list.len() - 1) as u32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_belongs_to_one_part_and_no_part_is_empty() {
        for nodes in 1..80 {
            for threads in 1..12 {
                for else_to_do in [false, true] {
                    let division = Division::new(nodes, threads, else_to_do);
                    assert_eq!(division.parts, threads.min(nodes));
                    let mut next = 0;
                    for part in 0..division.parts {
                        assert_eq!(division.first_of(part), next);
                        assert!(division.size_of(part) > 0);
                        for own in 0..division.size_of(part) {
                            assert_eq!(division.place_of(next), (part, own), "{division:?}");
                            next += 1;
                        }
                    }
                    assert_eq!(next, nodes);
                }
            }
        }
        let division = Division::new(4096, 2, true);
        assert_eq!((division.first, division.span), (1911, 2185), "7/15 and 8/15");
    }
}
