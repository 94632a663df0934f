//! Patterns that prefer some nodes.
//!
//! A node that is itself among the preferred ones sends its preferred share to the *others* of them, so that the share
//! of such traffic is the one asked for; if there are no others, that share is uniform.

use super::uniform::any_other;
use super::{Built, Entry, Pattern, Site};
use crate::catalog::{Component, Parameter};
use crate::rng::Stream;
use crate::synthetic::draw::{below, chance};
use crate::synthetic::expr::Call;
use crate::units::NodeId;

pub(super) static HOTREGION: Entry = Entry {
    component: Component {
        name: "hotregion",
        about: "with probability 1/4 any of the first floor(N/8) nodes, else any other node",
        parameters: &[],
        source: "FSIN, Universidad del Pais Vasco (2017)",
    },
    aliases: &[],
    build: |call, site| {
        let nodes = site.nodes();
        if nodes < 8 {
            return Err(call.refuse_all(
                &format!("`hotregion` prefers an eighth of the nodes, and an eighth of {nodes} is none"),
                "a network of 8 nodes or more, or `hotspot(0.25, 0)`",
            ));
        }
        Ok(Hot::new(nodes, 0.25, (0..nodes / 8).collect()))
    },
};

pub(super) static HOTSPOT: Entry = Entry {
    component: Component {
        name: "hotspot",
        about: "with probability h one of the nodes listed, else any other node",
        parameters: &[
            Parameter { name: "h", about: "share of hot traffic", range: "0..=1", default: "" },
            Parameter { name: "nodes...", about: "the hot nodes", range: "0..N-1, each once", default: "0" },
        ],
        source: "Pfister and Norton, Hot Spot Contention and Combining in Multistage Networks (1985)",
    },
    aliases: &[],
    build: hotspot,
};

fn hotspot(call: &Call, site: Site) -> Built {
    let nodes = site.nodes();
    let share = call.number("h", 0.0..=1.0)?;
    let mut hot = Vec::new();
    for &argument in call.rest() {
        let node = argument.integer().and_then(|node| u32::try_from(node).ok()).filter(|&node| node < nodes);
        let node = node.ok_or_else(|| {
            call.refuse(argument, &format!("`{argument}` is not a node"), format!("a node: 0 to {}", nodes - 1))
        })?;
        hot.push(node);
        if hot[..hot.len() - 1].contains(&node) {
            return Err(call.refuse(argument, &format!("node {node} is listed twice"), "list each hot node once"));
        }
    }
    if hot.is_empty() {
        hot.push(0);
    }
    hot.sort_unstable();
    Ok(Hot::new(nodes, share, hot))
}

#[derive(Debug)]
struct Hot {
    nodes: u32,
    share: f64,
    /// The preferred nodes in ascending order; at least one.
    hot: Vec<u32>,
}

impl Hot {
    fn new(nodes: u32, share: f64, hot: Vec<u32>) -> Box<Self> {
        Box::new(Self { nodes, share, hot })
    }
}

impl Pattern for Hot {
    fn nodes(&self) -> usize {
        self.nodes as usize
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        if self.is_silent(source) {
            return None;
        }
        if chance(self.share, rng) {
            let count = self.hot.len() as u32;
            match self.hot.binary_search(&source.0) {
                Err(_) => return Some(NodeId(self.hot[below(count, rng) as usize])),
                Ok(own) if count > 1 => {
                    let other = any_other(NodeId(own as u32), count, rng);
                    return Some(NodeId(self.hot[other.index()]));
                }
                Ok(_) => {}
            }
        }
        Some(any_other(source, self.nodes, rng))
    }

    fn is_silent(&self, _: NodeId) -> bool {
        self.nodes == 1
    }
}
