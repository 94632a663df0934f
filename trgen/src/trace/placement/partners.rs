//! Who talks to whom, and what it costs where.

use std::fmt::Debug;

use crate::trace::matrix::Matrix;
use crate::units::NodeId;

/// How far apart nodes are.
pub trait Distance: Debug + Send + Sync {
    /// \[hops\] Of a shortest route; 0 from a node to itself, 1 or more between different nodes.
    fn hops(&self, from: NodeId, to: NodeId) -> u32;
}

/// \[bytes x hops\] Of flows from node to node: the sum over all of them of bytes times hops of a shortest route (Agarwal,
/// Sharma, Kalé, Topology-aware task mapping for reducing communication contention on large parallel machines, IPDPS 2006).
pub fn hop_bytes(flows: impl IntoIterator<Item = (NodeId, NodeId, u64)>, distance: &dyn Distance) -> u128 {
    let cost = |(from, to, bytes): (NodeId, NodeId, u64)| match from == to || bytes == 0 {
        true => 0,
        false => u128::from(bytes) * u128::from(distance.hops(from, to)),
    };
    flows.into_iter().map(cost).sum()
}

/// What a task exchanges with another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Partner {
    pub(super) task: u32,
    /// \[bytes\] To it.
    pub(super) sent: u64,
    /// \[bytes\] From it.
    pub(super) received: u64,
}

impl Partner {
    /// \[bytes x hops\] Of a task here whose partner is there.
    pub(super) fn cost(&self, here: NodeId, there: NodeId, distance: &dyn Distance) -> u128 {
        let part = |bytes: u64, from, to| match bytes {
            0 => 0,
            _ => u128::from(bytes) * u128::from(distance.hops(from, to)),
        };
        part(self.sent, here, there) + part(self.received, there, here)
    }

    /// \[bytes\] Both ways.
    pub(super) fn bytes(&self) -> u128 {
        u128::from(self.sent) + u128::from(self.received)
    }
}

/// The partners of each task; nobody is a partner of itself, or of one with whom it exchanges no byte.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Partners {
    /// By task: where its partners begin; then the end of all.
    starts: Vec<usize>,
    all: Vec<Partner>,
}

impl Partners {
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

    pub(super) fn tasks(&self) -> usize {
        self.starts.len() - 1
    }

    /// Those of a task, by number; none of what is no task.
    pub(super) fn of(&self, task: u32) -> &[Partner] {
        let task = task as usize;
        match (self.starts.get(task), self.starts.get(task + 1)) {
            (Some(&first), Some(&end)) => &self.all[first..end],
            _ => &[],
        }
    }

    /// \[bytes\] That a task sends and receives.
    pub(super) fn traffic(&self, task: u32) -> u128 {
        self.of(task).iter().map(Partner::bytes).sum()
    }
}
