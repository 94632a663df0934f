//! What parts tell each other, and the whole.

use super::super::state::Packet;
use crate::engine::messages::Slot;
use fsin_core::stats::{Moments, Receipt};

/// What one part tells another at the end of a cycle. Nodes are the receiver's.
#[derive(Debug)]
pub(in crate::engine::fast) struct Mail<const D: usize> {
    /// Headers that have crossed a link, and the queues that they enter.
    pub(super) headers: Vec<(u32, u16, Packet<D>)>,
    /// Output channels behind which a header has begun to depart.
    pub(super) departures: Vec<(u32, u16)>,
    /// Output channels behind which there is room for one more packet.
    pub(super) credits: Vec<(u32, u16)>,
}

impl<const D: usize> Mail<D> {
    pub(super) const fn new() -> Self {
        Self { headers: Vec::new(), departures: Vec::new(), credits: Vec::new() }
    }

    /// Things that it says.
    pub(super) const fn len(&self) -> usize {
        self.headers.len() + self.departures.len() + self.credits.len()
    }
}

/// What a part tells the whole at the end of a cycle.
#[derive(Default, Debug)]
pub(in crate::engine::fast) struct Report {
    /// Packets that have entered a source buffer.
    pub(in crate::engine::fast) injected: u64,
    /// Messages whose last packet has.
    pub(in crate::engine::fast) sent: Vec<Slot>,
    /// Packets that have been consumed, with their messages.
    pub(in crate::engine::fast) received: Vec<(Slot, Receipt)>,
    /// \[cycles\] From its start, of each packet whose header has left its injection queue.
    pub(in crate::engine::fast) waited: Moments,
    /// Headers that have crossed a link.
    pub(in crate::engine::fast) hops: u64,
    /// \[cycle\] The last in which something moves that began to move, or took its place, in this one; 0 if nothing
    /// did.
    pub(in crate::engine::fast) moves_until: u64,
    /// Places to look at in the next cycle, here and in the parts that mail goes to.
    pub(in crate::engine::fast) work: usize,
}

/// A node beyond the border of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine::fast) struct Abroad {
    pub(in crate::engine::fast) part: u32,
    pub(in crate::engine::fast) node: u32,
}
