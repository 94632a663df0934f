//! Cutting a network into parts of consecutive nodes.

use std::collections::HashMap;

use trgen::NodeId;

use super::chain::NONE;
use super::mask::Mask;
use super::part::{Abroad, Part};
use super::rules::Rules;
use super::state::Router;
use crate::router::layout::Layout;
use crate::topology::Port;

/// All nodes of a topology, in parts of `span` nodes; the last may have fewer.
pub(super) fn cut<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize>(
    rules: &Rules<L>,
    span: usize,
) -> Vec<Box<Part<L, M, D, Q, P>>> {
    let topology = &*rules.topology;
    let count = topology.nodes();
    let parts = count.div_ceil(span);
    let own = |part: usize| span.min(count - part * span);

    // Numbers are those of the whole network at first.
    let empty = Router::new(rules.outputs() + rules.injectors, rules.queue_packets as u16, rules.layout.vcs());
    let mut routers: Vec<Vec<Router<M, Q, P>>> = (0..parts).map(|part| vec![empty; own(part)]).collect();
    let mut upstream: Vec<Vec<u32>> =
        (0..parts).map(|part| vec![NONE; own(part) * rules.layout.shape().ports()]).collect();
    for node in 0..count {
        for port in 0..rules.layout.shape().ports() {
            if let Some(next) = topology.neighbour(NodeId::at(node), Port(port as u8)) {
                let router = &mut routers[node / span][node % span];
                router.downstream[port] = next.0;
                router.open = router.open | M::of_word(rules.layout.all_vcs().into(), port * rules.layout.vcs());
                upstream[next.index() / span][rules.place((next.index() % span) as u32, port)] = node as u32;
            }
        }
    }

    let translated = routers.into_iter().zip(upstream).enumerate().map(|(part, (mut routers, mut upstream))| {
        let mut border = Border { first: part * span, own: own(part), span, known: HashMap::new(), list: Vec::new() };
        let downstream = routers.iter_mut().flat_map(|router| &mut router.downstream);
        for node in downstream.chain(&mut upstream).filter(|node| **node != NONE) {
            *node = border.number(*node as usize);
        }
        Box::new(Part::new(rules.clone(), (part * span) as u32, routers, upstream, border.list, parts))
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
