//! What is checked before a trace is executed.

use std::collections::{BTreeMap, HashSet};

use super::super::dag::{DagError, named};
use super::super::{Trace, Work};
use crate::catalog::SpecError;
use crate::source::SourceError;

/// A trace that cannot be executed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Dependencies that cannot be met.
    #[error(transparent)]
    Dag(#[from] DagError),
    /// A message or group with a rank that the trace lacks.
    #[error("rank {rank}: node {node} names rank {other}, and the trace has {ranks}")]
    NoSuchRank {
        /// The rank.
        rank: usize,
        /// Number and name.
        node: String,
        /// The rank that does not exist.
        other: u32,
        /// Number of ranks.
        ranks: usize,
    },
    /// A collective of a group to which the rank does not belong.
    #[error(
        "rank {rank}: node {node} takes part in a collective of group `{group}`, to which the rank does not belong"
    )]
    NotInGroup {
        /// The rank.
        rank: usize,
        /// Number and name.
        node: String,
        /// Name of the group.
        group: String,
    },
    /// Ranks of a group with different numbers of collectives.
    #[error("group `{group}`: rank {a} takes part in {count_a} collectives, rank {b} in {count_b}")]
    Uneven {
        /// Name of the group.
        group: String,
        /// A rank.
        a: u32,
        /// Its number of collectives.
        count_a: usize,
        /// Another rank.
        b: u32,
        /// Its number of collectives.
        count_b: usize,
    },
    /// A group for which an algorithm is not defined.
    #[error("{0}")]
    Algorithm(String),
    /// Slow ranks that do not exist, or compute nothing.
    #[error(transparent)]
    Slow(SpecError),
    /// A placement that does not fit.
    #[error(transparent)]
    Placement(#[from] SourceError),
}

/// Checks ranks and groups.
pub(super) fn check(trace: &Trace) -> Result<(), ReplayError> {
    let count = trace.ranks.len();
    let members: Vec<HashSet<u32>> = trace.groups.iter().map(|group| group.ranks.iter().copied().collect()).collect();
    let mut taken: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
    for (rank, nodes) in trace.ranks.iter().enumerate() {
        for node in nodes {
            let beyond = |other: u32| Err(ReplayError::NoSuchRank { rank, node: named(node), other, ranks: count });
            match node.work {
                Work::Send { to: other, .. } | Work::Receive { from: other, .. } if other as usize >= count => {
                    return beyond(other);
                }
                Work::Collective { group, .. } => {
                    let ranks = &trace.groups[group as usize].ranks;
                    if let Some(&other) = ranks.iter().find(|&&other| other as usize >= count) {
                        return beyond(other);
                    }
                    if !members[group as usize].contains(&(rank as u32)) {
                        let group = trace.groups[group as usize].name.to_string();
                        return Err(ReplayError::NotInGroup { rank, node: named(node), group });
                    }
                    *taken.entry(group).or_default().entry(rank as u32).or_default() += 1;
                }
                _ => {}
            }
        }
    }
    for (group, counts) in taken {
        let members = &trace.groups[group as usize];
        let of = |rank: u32| counts.get(&rank).copied().unwrap_or_default();
        let first = members.ranks[0];
        if let Some(&other) = members.ranks.iter().find(|&&rank| of(rank) != of(first)) {
            let group = members.name.to_string();
            return Err(ReplayError::Uneven { group, a: first, count_a: of(first), b: other, count_b: of(other) });
        }
    }
    Ok(())
}
