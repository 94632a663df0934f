//! What one part of a network sends another one.

use crate::rules::interface::{Flit, Packet};

/// What is due in the next cycle. VCs have the numbers of the receiver.
#[derive(Debug, Default)]
pub(super) struct Mail {
    /// Input VCs and the flits that they take. Handles of packets mean nothing here.
    pub(super) flits: Vec<(u32, Flit)>,
    /// Of the heads among the flits, in their order.
    pub(super) packets: Vec<Packet>,
    /// Output VCs that get a credit.
    pub(super) credits: Vec<u32>,
}

impl Mail {
    pub(super) const fn is_empty(&self) -> bool {
        self.flits.is_empty() && self.credits.is_empty()
    }
}
