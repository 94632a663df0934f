//! What one part of a network sends to another one at the end of a cycle.

use crate::rules::interface::{Flit, Packet};

/// Flits and credits that are due in the next cycle. VCs have the numbers of the receiving part.
#[derive(Debug, Default)]
pub(super) struct Mail {
    /// Flits, each with the input VC that it enters. The handles of packets in them are invalid: the receiver makes its
    /// own.
    pub(super) flits: Vec<(u32, Flit)>,
    /// The packets of the heads among the flits, in the same order.
    pub(super) packets: Vec<Packet>,
    /// Output VCs that receive a credit.
    pub(super) credits: Vec<u32>,
}

impl Mail {
    /// True if nothing is due.
    pub(super) const fn is_empty(&self) -> bool {
        self.flits.is_empty() && self.credits.is_empty()
    }
}
