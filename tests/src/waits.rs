//! What waits for what, as pairs.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use fsin::route::proof::ChannelGraph;

/// True if the pairs, each of a channel that is held and one that is asked for, form no cycle.
#[must_use]
pub fn is_acyclic<C: Copy + Eq + Hash>(pairs: &HashSet<(C, C)>) -> bool {
    let mut numbers: HashMap<C, usize> = HashMap::new();
    let mut number = |channel: C| {
        let next = numbers.len();
        *numbers.entry(channel).or_insert(next)
    };
    let numbered: Vec<_> = pairs.iter().map(|&(held, asked)| (number(held), number(asked))).collect();
    let mut graph = ChannelGraph::new(numbers.len());
    numbered.into_iter().for_each(|(held, asked)| graph.depend(held, asked));
    graph.cycle().is_none()
}
