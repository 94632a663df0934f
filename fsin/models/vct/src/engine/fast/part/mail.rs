//! Messages between partitions, and their reports to the global state.

use std::collections::VecDeque;

use super::super::state::Packet;
use crate::engine::messages::Slot;
use fsin_core::stats::{Moments, Receipt};
use trgen::NodeId;

/// Events that one partition sends another at the end of a cycle. Node numbers are the receiver's.
#[derive(Debug)]
pub(in crate::engine::fast) struct Mail<const D: usize> {
    /// Headers that have crossed a link: node and queue that they enter, and the packet.
    pub(super) headers: Vec<(u32, u16, Packet<D>)>,
    /// \[cycle\] Where links are paced, by header and phit: the first cycle in which the phit can leave the next node.
    pub(super) times: VecDeque<u64>,
    /// Node and number of each output channel behind which a header has begun to depart.
    pub(super) departures: Vec<(u32, u16)>,
    /// Node and number of each output channel that receives a credit.
    pub(super) credits: Vec<(u32, u16)>,
}

impl<const D: usize> Mail<D> {
    pub(super) const fn new() -> Self {
        Self { headers: Vec::new(), times: VecDeque::new(), departures: Vec::new(), credits: Vec::new() }
    }

    /// Number of events.
    pub(super) const fn len(&self) -> usize {
        self.headers.len() + self.departures.len() + self.credits.len()
    }
}

/// A partition's report to the global state at the end of a cycle.
#[derive(Default, Debug)]
pub(in crate::engine::fast) struct Report {
    /// \[packets\] Packets that have entered a source buffer.
    pub(in crate::engine::fast) injected: u64,
    /// Messages whose last packet has entered a source buffer.
    pub(in crate::engine::fast) sent: Vec<Slot>,
    /// Ejected packets, with their messages.
    pub(in crate::engine::fast) received: Vec<(Slot, Receipt)>,
    /// Packets that a dead link has damaged, by their source and their number there.
    pub(in crate::engine::fast) damaged: Vec<(NodeId, u64)>,
    /// \[cycles\] Times from a packet's start to its header's departure from the injection queue.
    pub(in crate::engine::fast) waited: Moments,
    /// \[hops\] Headers that have crossed a link.
    pub(in crate::engine::fast) hops: u64,
    /// \[cycle\] The last cycle in which a phit moves because of moves and transfers that began in this cycle; 0 if
    /// none began.
    pub(in crate::engine::fast) moves_until: u64,
    /// Work items of the next cycle, here and in the partitions that receive events.
    pub(in crate::engine::fast) work: usize,
}

/// A node outside a partition, at the other end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine::fast) struct Abroad {
    /// The partition of the node.
    pub(in crate::engine::fast) part: u32,
    /// The node's number in that partition.
    pub(in crate::engine::fast) node: u32,
}
