//! Conditions that every graph must meet, whatever its origin.

use super::Rank;

/// Most operations, and most dependencies, of a rank.
pub(super) const MAX_NODES: usize = 1 << 30;

/// Why operations do not form an executable graph.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GraphError {
    /// A message goes to or comes from a rank that does not exist.
    #[error("operation {node} of rank {rank} names rank {peer}, but there are {ranks} ranks")]
    Peer {
        /// The rank of the operation.
        rank: usize,
        /// Number of the operation in the rank, from 0.
        node: usize,
        /// The rank named.
        peer: u32,
        /// Number of ranks.
        ranks: usize,
    },
    /// A message or calculation is larger than any sensible one.
    #[error("a size of {size}, more than {limit}")]
    Size {
        /// The size found.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// More operations or dependencies than can be numbered.
    #[error("more than {MAX_NODES} operations or dependencies in one rank")]
    TooManyNodes,
    /// A dependency names an operation that does not exist.
    #[error("a dependency names operation {number}, but the rank has {nodes}")]
    NoSuchNode {
        /// The number.
        number: u32,
        /// Number of operations.
        nodes: usize,
    },
    /// Operations wait for each other in a cycle.
    #[error("dependencies form a circle of {} operations: {}", .circle.len(), shown(.circle))]
    Cycle {
        /// The cycle: each operation waits for the previous one, the first for the last. Numbers from 0.
        circle: Vec<u32>,
    },
}

/// Lists the first operations of a cycle, counted from 1 as in the text.
fn shown(circle: &[u32]) -> String {
    const SHOWN: usize = 8;
    let names: Vec<String> = circle.iter().take(SHOWN).map(|node| (u64::from(*node) + 1).to_string()).collect();
    let more = if circle.len() > SHOWN { ", ..." } else { "" };
    format!("number {}{more} of the rank", names.join(", "))
}

/// Rejects dependencies that form a cycle.
pub(super) fn acyclic(rank: &Rank) -> Result<(), GraphError> {
    let all_follow = (0..).zip(&rank.nodes).all(|(number, node)| {
        rank.on_finish(node).iter().chain(rank.on_start(node)).all(|&dependent| dependent > number)
    });
    if all_follow {
        return Ok(());
    }
    let mut waits: Vec<u32> = rank.nodes.iter().map(|node| node.waits_for).collect();
    let mut ready: Vec<u32> = (0..waits.len() as u32).filter(|&node| waits[node as usize] == 0).collect();
    let mut done = 0;
    while let Some(number) = ready.pop() {
        done += 1;
        let node = &rank.nodes[number as usize];
        for &dependent in rank.on_finish(node).iter().chain(rank.on_start(node)) {
            let left = &mut waits[dependent as usize];
            *left -= 1;
            if *left == 0 {
                ready.push(dependent);
            }
        }
    }
    if done == waits.len() {
        return Ok(());
    }
    Err(GraphError::Cycle { circle: circle(rank, &waits) })
}

/// Finds one cycle among the operations that still wait. `waits` is the number of unmet dependencies by operation.
fn circle(rank: &Rank, waits: &[u32]) -> Vec<u32> {
    // For each waiting operation, one of the waiting operations that it depends on. Following these from operation to
    // operation leads into a cycle.
    let mut cause: Vec<Option<u32>> = vec![None; waits.len()];
    for (number, node) in rank.nodes.iter().enumerate().filter(|&(number, _)| waits[number] > 0) {
        for &dependent in rank.on_finish(node).iter().chain(rank.on_start(node)) {
            cause[dependent as usize] = Some(number as u32);
        }
    }
    let mut seen = vec![false; waits.len()];
    let Some(mut at) = waits.iter().position(|&left| left > 0) else { return Vec::new() };
    while !std::mem::replace(&mut seen[at], true) {
        match cause[at] {
            Some(next) => at = next as usize,
            None => return vec![at as u32],
        }
    }
    let mut circle = vec![at as u32];
    let mut next = cause[at];
    while let Some(node) = next.filter(|&node| node as usize != at) {
        circle.push(node);
        next = cause[node as usize];
    }
    circle.reverse();
    circle
}
