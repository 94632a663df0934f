//! Cutting a network into parts of consecutive nodes.

use std::collections::HashMap;

use trgen::NodeId;

use super::part::{Abroad, Part};
use super::rules::Rules;
use super::state::{Link, NONE, Node};
use crate::topology::{Port, Topology};

/// All nodes of a topology, in parts of `span` nodes; the last may have fewer.
pub(super) fn cut<const D: usize>(topology: &dyn Topology, rules: &Rules, span: usize) -> Vec<Box<Part<D>>> {
    let count = topology.nodes();
    let parts = count.div_ceil(span);
    let own = |part: usize| span.min(count - part * span);

    // Numbers are those of the whole network at first.
    let none = Link { sleepers: [0; 2], downstream: NONE, upstream: NONE, last_vc: rules.vcs as u8 - 1 };
    let mut links: Vec<Vec<Link>> = (0..parts).map(|part| vec![none; rules.link(own(part), 0)]).collect();
    let mut nodes: Vec<Vec<Node>> = (0..parts).map(|part| Vec::with_capacity(own(part))).collect();
    for node in 0..count {
        let mut open = 0;
        for port in 0..rules.shape.ports() {
            if let Some(next) = topology.neighbour(NodeId::at(node), Port(port as u8)) {
                links[node / span][rules.link(node % span, port)].downstream = next.0;
                links[next.index() / span][rules.link(next.index() % span, port)].upstream = node as u32;
                open |= ((1u64 << rules.vcs) - 1) << (port * rules.vcs);
            }
        }
        nodes[node / span].push(Node { unrouted: 0, awake: 0, open, granted: 0, busy: 0, freed: 0 });
    }

    let translated = links.into_iter().zip(nodes).enumerate().map(|(part, (mut links, nodes))| {
        let mut border = Border { first: part * span, own: own(part), span, known: HashMap::new(), list: Vec::new() };
        for link in &mut links {
            for node in [&mut link.downstream, &mut link.upstream] {
                if *node != NONE {
                    *node = border.number(*node as usize);
                }
            }
        }
        Box::new(Part::new(rules.clone(), (part * span) as u32, nodes, links, border.list, parts))
    });
    translated.collect()
}

/// The nodes beyond the border of a part.
struct Border {
    first: usize,
    own: usize,
    span: usize,
    known: HashMap<usize, u32>,
    list: Vec<Abroad>,
}

impl Border {
    /// A node's number in the part: its own come first.
    fn number(&mut self, node: usize) -> u32 {
        if (self.first..self.first + self.own).contains(&node) {
            return (node - self.first) as u32;
        }
        let (own, span, list) = (self.own, self.span, &mut self.list);
        *self.known.entry(node).or_insert_with(|| {
            list.push(Abroad { part: (node / span) as u32, node: (node % span) as u32 });
            (own + list.len() - 1) as u32
        })
    }
}
