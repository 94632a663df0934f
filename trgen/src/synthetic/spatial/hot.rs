//! Patterns that prefer some nodes.
//!
//! A preferred node sends its preferred share to the *other* preferred nodes, so that this traffic has the requested
//! share; if there are no others, that share is uniform.
//!
//! The region of `hotregion` is an eighth of the nodes, N/8, without rounding: where 8 does not divide N, the last node
//! of the region belongs to it in part, and is chosen proportionally less often than the others.

use super::uniform::{any_other, shares_of_any_other};
use super::{Built, Entry, Pattern, PatternContext, TO_ITSELF};
use crate::catalog::{Component, Parameter};
use crate::rng::Stream;
use crate::synthetic::draw::{below, chance};
use crate::synthetic::expr::Call;
use crate::units::NodeId;

pub(super) static HOTREGION: Entry = Entry {
    component: Component {
        name: "hotregion",
        about: "with probability 1/4 node floor(u N/8), u uniform in [0,1), drawn again while it is the source: the first eighth \
                of the nodes, the last of them more rarely where 8 does not divide N; else any other node",
        parameters: &[],
        source: "FSIN, Universidad del Pais Vasco (2017)",
    },
    aliases: &[],
    build: |call, context| {
        let nodes = context.nodes();
        if nodes < 8 {
            return Err(call.refuse_all(
                &format!("`hotregion` prefers an eighth of the nodes, and an eighth of {nodes} is less than one"),
                "a network of 8 nodes or more, or `hotspot(0.25, 0)`",
            ));
        }
        Ok(Box::new(Region { nodes }))
    },
};

/// Probability of a destination in the hot region.
const REGION_SHARE: f64 = 0.25;

/// The pattern `hotregion`.
#[derive(Debug)]
struct Region {
    /// At least 8.
    nodes: u32,
}

impl Region {
    /// A hot destination other than `source`; `None` if there is no other, as with 8 nodes.
    ///
    /// With t = floor(u N), which is uniform in 0..N, floor(u N/8) = floor(t/8). Node i has the eight numbers t from 8
    /// i on, the last node the remaining ones. Repeating the draw while it gives the source equals one draw among the
    /// others' numbers.
    fn hot(&self, source: u32, rng: &mut Stream) -> Option<u32> {
        // The first number of the source; N if it has none, as nodes beyond N/8.
        let first = source.saturating_mul(8).min(self.nodes);
        // How many numbers the source has.
        let own = (self.nodes - first).min(8);
        let others = self.nodes - own;
        if others == 0 {
            return None;
        }
        let drawn = below(others, rng);
        Some(if drawn < first { drawn } else { drawn + own } / 8)
    }
}

impl Pattern for Region {
    fn nodes(&self) -> usize {
        self.nodes as usize
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        let hot = if chance(REGION_SHARE, rng) { self.hot(source.0, rng) } else { None };
        Some(hot.map_or_else(|| any_other(source, self.nodes, rng), NodeId))
    }

    fn is_silent(&self, _: NodeId) -> bool {
        false
    }
}

pub(super) static HOTSPOT: Entry = Entry {
    component: Component {
        name: "hotspot",
        about: "with probability h one of the nodes listed, else any other node; with self=true both draws may give the sender",
        parameters: &[
            Parameter { name: "h", about: "share of hot traffic", range: "0..=1", default: "" },
            Parameter {
                name: "nodes...",
                about: "the hot nodes",
                range: "0..N-1, or names of the network's file, each once",
                default: "0",
            },
            TO_ITSELF,
        ],
        source: "Pfister and Norton, Hot Spot Contention and Combining in Multistage Networks (1985)",
    },
    aliases: &[],
    build: hotspot,
};

/// Builds the pattern `hotspot`.
fn hotspot(call: &Call, context: PatternContext) -> Built {
    let nodes = context.nodes();
    let share = call.number("h", 0.0..=1.0)?;
    let mut hot = Vec::new();
    for &argument in call.rest() {
        let word = argument.integer().map_or_else(|| argument.name.clone(), |number| number.to_string());
        let found = context.geometry.find(&word);
        let node = found.map_err(|why| call.refuse(argument, &why, format!("a node: 0 to {}", nodes - 1)))?.0;
        hot.push(node);
        if hot[..hot.len() - 1].contains(&node) {
            return Err(call.refuse(argument, &format!("node {node} is listed twice"), "list each hot node once"));
        }
    }
    if hot.is_empty() {
        hot.push(0);
    }
    hot.sort_unstable();
    Ok(Box::new(Hot { nodes, share, hot, is_any: context.sends_to_itself(call)? }))
}

/// The pattern `hotspot`.
#[derive(Debug)]
struct Hot {
    nodes: u32,
    /// Probability of a preferred destination.
    share: f64,
    /// The preferred nodes in ascending order; at least one.
    hot: Vec<u32>,
    /// True if the sender may be drawn too.
    is_any: bool,
}

impl Pattern for Hot {
    fn nodes(&self) -> usize {
        self.nodes as usize
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        if self.is_silent(source) {
            return None;
        }
        if self.is_any {
            return Some(NodeId(match chance(self.share, rng) {
                true => self.hot[below(self.hot.len() as u32, rng) as usize],
                false => below(self.nodes, rng),
            }));
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

    fn shares(&self, source: NodeId) -> Option<Vec<f64>> {
        if self.is_any {
            let mut shares = vec![(1.0 - self.share) / f64::from(self.nodes); self.nodes as usize];
            self.hot.iter().for_each(|&node| shares[node as usize] += self.share / self.hot.len() as f64);
            return Some(shares);
        }
        let mut shares = shares_of_any_other(source, self.nodes);
        let others = self.hot.iter().filter(|&&node| node != source.0).count() as f64;
        if others > 0.0 {
            shares.iter_mut().for_each(|share| *share *= 1.0 - self.share);
            let hot = self.hot.iter().filter(|&&node| node != source.0);
            hot.for_each(|&node| shares[node as usize] += self.share / others);
        }
        Some(shares)
    }

    fn is_silent(&self, _: NodeId) -> bool {
        self.nodes == 1 && !self.is_any
    }
}
