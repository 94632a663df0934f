//! Partitioning of a network into ranges of consecutive nodes.

use std::collections::HashMap;

use trgen::NodeId;

use super::chain::NONE;
use super::mask::Mask;
use super::part::{Abroad, Part};
use super::rules::Rules;
use super::state::{Gate, Router};
use crate::router::layout::Layout;
use fsin_core::parallel::Division;
use fsin_core::topology::Port;

/// Builds the partitions of a topology.
pub(super) fn cut<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize>(
    rules: &Rules<L>,
    division: Division,
) -> Vec<Box<Part<L, M, D, Q, P>>> {
    let topology = &*rules.topology;
    let count = topology.nodes();
    let parts = division.parts;
    let size = |part: usize| division.size_of(part);

    // Numbers of nodes are those of the whole network at first; `Border` translates them below.
    let empty = Router::new(rules.outputs() + rules.injectors, rules.queue_packets as usize, rules.layout.vcs());
    let mut routers: Vec<Vec<Router<M, Q, P>>> = (0..parts).map(|part| vec![empty; size(part)]).collect();
    let ports = rules.layout.shape().ports();
    let mut gates: Vec<Vec<Gate<M>>> = (0..parts).map(|part| vec![Gate::EMPTY; size(part) * ports]).collect();
    for node in 0..count {
        for port in 0..ports {
            if let Some(next) = topology.neighbour(NodeId::at(node), Port::at(port)) {
                let (part, index) = division.place_of(node);
                let router = &mut routers[part][index];
                router.downstream[port] = next.0;
                router.connect(M::of_word(rules.layout.all_vcs().into(), port * rules.layout.vcs()));
                let (part, index) = division.place_of(next.index());
                gates[part][rules.place(index as u32, port)].upstream = node as u32;
            }
        }
    }

    let translated = routers.into_iter().zip(gates).enumerate().map(|(part, (mut routers, mut gates))| {
        let first = division.first_of(part);
        let mut border = Border { first, own: size(part), division, known: HashMap::new(), list: Vec::new() };
        let downstream = routers.iter_mut().flat_map(|router| &mut router.downstream);
        let upstream = gates.iter_mut().map(|gate| &mut gate.upstream);
        for node in downstream.chain(upstream).filter(|node| **node != NONE) {
            *node = border.number(*node as usize);
        }
        Box::new(Part::new(rules.clone(), first as u32, routers, gates, border.list, parts))
    });
    translated.collect()
}

/// The nodes outside a partition to which its links lead.
struct Border {
    /// Number of the partition's first node in the whole network.
    first: usize,
    /// Number of nodes of the partition.
    own: usize,
    /// The partitions of the network.
    division: Division,
    /// Index in the partition of each outside node found so far, by its number in the whole network.
    known: HashMap<usize, u32>,
    /// The outside nodes found so far, in the order of their indices.
    list: Vec<Abroad>,
}

impl Border {
    /// The index in the partition of a node of the network. The partition's own nodes come first, outside nodes follow.
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
