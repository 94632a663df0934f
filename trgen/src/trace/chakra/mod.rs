//! Chakra execution traces: what each rank of a training step computes and communicates, as a graph of nodes.
//!
//! A node computes, sends, receives, or takes part in a collective of a group of ranks. [`wire`] decodes the files,
//! [`groups`] the groups; `dag` checks dependencies; [`collective`] states the messages of collectives; [`replay`]
//! executes a trace over a network.
//!
//! Source: Sridharan and others, *Chakra: Advancing Performance Benchmarking and Co-design using Standardized Execution
//! Traces*, 2023; schema 0.0.4 of MLCommons.

pub mod collective;
mod dag;
pub mod groups;
pub mod replay;
pub mod wire;

use std::collections::BTreeMap;

use collective::Layout;

pub use crate::trace::kind::CollectiveKind;
pub use dag::{DagError, Dependencies};

/// The work of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Nothing that takes time: metadata, and calls on the host that describe a collective of the device.
    Nothing,
    /// Computes, or moves data between memories.
    Compute {
        /// \[us\] Recorded duration; 0 if none was recorded.
        micros: u64,
        /// Number of operations; 0 if unknown.
        operations: u64,
        /// \[bytes\] Size of its tensors; 0 if unknown.
        tensor: u64,
    },
    /// Sends a message.
    Send {
        /// Receiving rank.
        to: u32,
        /// Tag.
        tag: i64,
        /// \[bytes\] Size.
        bytes: u64,
    },
    /// Receives a message.
    Receive {
        /// Sending rank.
        from: u32,
        /// Tag.
        tag: i64,
    },
    /// Takes part in a collective.
    Collective {
        /// Kind.
        kind: CollectiveKind,
        /// Index in [`Trace::groups`].
        group: u32,
        /// \[bytes\] The contribution of a rank to an all-gather; the whole vector of any other collective.
        bytes: u64,
    },
}

/// A node of a rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Number in the file.
    pub id: u64,
    /// Name in the file.
    pub name: Box<str>,
    /// What it does.
    pub work: Work,
    /// Numbers of the nodes whose data it needs.
    pub data: Box<[u64]>,
    /// Numbers of the nodes that control it.
    pub control: Box<[u64]>,
}

/// A group of ranks that communicate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Name in the trace.
    pub name: Box<str>,
    /// Its ranks, in their order within the group.
    pub ranks: Box<[u32]>,
}

/// A trace: the nodes of each rank, by ascending number.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Trace {
    /// Nodes of each rank.
    pub ranks: Vec<Vec<Node>>,
    /// Groups of the collectives.
    pub groups: Vec<Group>,
}

/// Counts of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Nodes of all kinds.
    pub nodes: u64,
    /// Computations.
    pub computations: u64,
    /// Computations without a recorded duration.
    pub untimed: u64,
    /// Sends.
    pub sends: u64,
    /// Receives.
    pub receives: u64,
    /// Takings part in collectives.
    pub collectives: u64,
    /// \[bytes\] Size of the messages sent.
    pub sent_bytes: u64,
    /// \[bytes\] Sum of the sizes of collectives.
    pub collective_bytes: u64,
    /// Number of operations of the computations.
    pub operations: u64,
    /// \[bytes\] Tensors of the computations.
    pub tensor_bytes: u64,
    /// Dependencies of both kinds.
    pub dependencies: u64,
}

impl Trace {
    /// Calls `send` with receiving rank and size \[bytes\] of every message that a rank sends in collectives of this layout.
    /// Groups to which it does not belong count for nothing.
    ///
    /// # Panics
    /// When there is no such rank.
    pub fn sends_of_collectives(&self, layout: &Layout, rank: u32, mut send: impl FnMut(u32, u64)) {
        for node in &self.ranks[rank as usize] {
            let Work::Collective { kind, group, bytes } = node.work else { continue };
            let Some(part) = layout.part(kind, group, rank, bytes) else { continue };
            for taken in 0..=part.arrivals() {
                part.sends(taken, |_, place, bytes| send(layout.rank(group, place), bytes));
            }
        }
    }

    /// Messages and bytes that each rank sends, by receiving rank, with collectives of this layout.
    #[must_use]
    pub fn traffic(&self, layout: &Layout) -> Vec<BTreeMap<u32, (u64, u64)>> {
        let row = |(rank, nodes): (u32, &Vec<Node>)| {
            let mut row: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
            let mut add = |to: u32, bytes: u64| {
                let (messages, sum) = row.entry(to).or_default();
                *messages += 1;
                *sum = sum.saturating_add(bytes);
            };
            for node in nodes {
                if let Work::Send { to, bytes, .. } = node.work {
                    add(to, bytes);
                }
            }
            self.sends_of_collectives(layout, rank, add);
            row
        };
        (0_u32..).zip(&self.ranks).map(row).collect()
    }

    /// Counts of one rank.
    ///
    /// # Panics
    /// When there is no such rank.
    #[must_use]
    pub fn counts(&self, rank: usize) -> Counts {
        let mut counts = Counts::default();
        for node in &self.ranks[rank] {
            counts.nodes += 1;
            counts.dependencies += (node.data.len() + node.control.len()) as u64;
            match node.work {
                Work::Nothing => {}
                Work::Compute { micros, operations, tensor } => {
                    counts.computations += 1;
                    counts.untimed += u64::from(micros == 0);
                    counts.operations = counts.operations.saturating_add(operations);
                    counts.tensor_bytes = counts.tensor_bytes.saturating_add(tensor);
                }
                Work::Send { bytes, .. } => {
                    counts.sends += 1;
                    counts.sent_bytes = counts.sent_bytes.saturating_add(bytes);
                }
                Work::Receive { .. } => counts.receives += 1,
                Work::Collective { bytes, .. } => {
                    counts.collectives += 1;
                    counts.collective_bytes = counts.collective_bytes.saturating_add(bytes);
                }
            }
        }
        counts
    }
}
