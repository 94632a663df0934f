//! Communicating pairs of tasks, and their cost by node.

use std::fmt::Debug;

use crate::trace::matrix::Matrix;
use crate::units::NodeId;

/// Distances between nodes.
pub trait Distance: Debug + Send + Sync {
    /// \[hops\] Length of a shortest route; 0 from a node to itself, 1 or more between different nodes.
    fn hops(&self, from: NodeId, to: NodeId) -> u32;
}

/// \[bytes x hops\] Cost of flows between nodes: the sum of bytes times hops of a shortest route (Agarwal, Sharma,
/// Kalé, Topology-aware task mapping for reducing communication contention on large parallel machines, IPDPS 2006).
pub fn hop_bytes(flows: impl IntoIterator<Item = (NodeId, NodeId, u64)>, distance: &dyn Distance) -> u128 {
    let cost = |(from, to, bytes): (NodeId, NodeId, u64)| match from == to || bytes == 0 {
        true => 0,
        false => u128::from(bytes) * u128::from(distance.hops(from, to)),
    };
    flows.into_iter().map(cost).sum()
}

/// The traffic of a task with one partner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Partner {
    pub(super) task: u32,
    /// \[bytes\] Data sent to the partner.
    pub(super) sent: u64,
    /// \[bytes\] Data received from the partner.
    pub(super) received: u64,
}

impl Partner {
    /// \[bytes x hops\] Cost of a task at `here` with its partner at `there`.
    pub(super) fn cost(&self, here: NodeId, there: NodeId, distance: &dyn Distance) -> u128 {
        let part = |bytes: u64, from, to| match bytes {
            0 => 0,
            _ => u128::from(bytes) * u128::from(distance.hops(from, to)),
        };
        part(self.sent, here, there) + part(self.received, there, here)
    }

    /// \[bytes\] Data sent and received.
    pub(super) fn bytes(&self) -> u128 {
        u128::from(self.sent) + u128::from(self.received)
    }
}

/// The partners of each task; no task is its own partner, or a partner of one with which it exchanges no bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Partners {
    /// By task: index of its first partner in `all`; then the length of `all`.
    starts: Vec<usize>,
    /// The partners of all tasks, task by task.
    all: Vec<Partner>,
}

impl Partners {
    /// The partners by a communication matrix.
    pub(super) fn new(matrix: &Matrix) -> Self {
        let pairs = matrix.pairs().iter().filter(|pair| pair.source != pair.destination && pair.bytes > 0);
        let mut entries: Vec<(u32, Partner)> = pairs
            .flat_map(|pair| {
                let there = Partner { task: pair.destination, sent: pair.bytes, received: 0 };
                let back = Partner { task: pair.source, sent: 0, received: pair.bytes };
                [(pair.source, there), (pair.destination, back)]
            })
            .collect();
        entries.sort_unstable_by_key(|(task, partner)| (*task, partner.task));
        entries.dedup_by(|(task, next), (known, partner)| {
            let same = task == known && next.task == partner.task;
            if same {
                partner.sent = partner.sent.saturating_add(next.sent);
                partner.received = partner.received.saturating_add(next.received);
            }
            same
        });
        let tasks = matrix.tasks() as u32;
        let starts = (0..=tasks).map(|task| entries.partition_point(|(of, _)| *of < task)).collect();
        Self { starts, all: entries.into_iter().map(|(_, partner)| partner).collect() }
    }

    /// Number of tasks.
    pub(super) fn tasks(&self) -> usize {
        self.starts.len() - 1
    }

    /// The partners of a task, in the order of their numbers; none if there is no such task.
    pub(super) fn partners_of(&self, task: u32) -> &[Partner] {
        let task = task as usize;
        match (self.starts.get(task), self.starts.get(task + 1)) {
            (Some(&first), Some(&end)) => &self.all[first..end],
            _ => &[],
        }
    }

    /// \[bytes\] Data sent and received by a task.
    pub(super) fn traffic(&self, task: u32) -> u128 {
        self.partners_of(task).iter().map(Partner::bytes).sum()
    }
}
