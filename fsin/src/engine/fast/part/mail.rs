//! What parts tell each other, and the whole.

use super::super::state::Packet;

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

    pub(super) fn is_empty(&self) -> bool {
        self.headers.is_empty() && self.departures.is_empty() && self.credits.is_empty()
    }
}

/// What a part tells the whole at the end of a cycle.
#[derive(Default, Debug)]
pub(in crate::engine::fast) struct Report {
    /// Packets that have been consumed; the whole gives their handles back.
    pub(in crate::engine::fast) consumed: Vec<u32>,
    /// \[cycles\] From its start, of each packet whose header has left its injection queue.
    pub(in crate::engine::fast) waited: Vec<u64>,
    /// Nodes whose interface was held up by full source buffers and is no longer.
    pub(in crate::engine::fast) relieved: Vec<u32>,
    /// Headers that have crossed a link.
    pub(in crate::engine::fast) hops: u64,
    /// Some header has begun to move.
    pub(in crate::engine::fast) moved: bool,
    /// \[cycle\] In which the last phit that is on a wire moves there for the last time; 0 without delays.
    pub(in crate::engine::fast) arrives: u64,
}

/// A node beyond the border of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine::fast) struct Abroad {
    pub(in crate::engine::fast) part: u32,
    pub(in crate::engine::fast) node: u32,
}
