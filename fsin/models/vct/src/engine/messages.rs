//! Messages at the interfaces of their nodes.

use fsin_core::interface::Pending;
use trgen::{Cycle, Message, NodeId};

/// Identifies a message that is under way.
pub(super) type Slot = u32;

/// A message at the interface of its node. Some of its packets have not entered a source buffer yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unsent {
    /// Identifies the message.
    pub(super) slot: Slot,
    pub(super) destination: NodeId,
    /// Cycle in which the source offered the message.
    pub(super) offered: Cycle,
    /// \[packets\] Packets that have not entered a source buffer yet.
    pub(super) packets: u64,
    /// True if the message has more than one packet.
    pub(super) is_long: bool,
}

impl Pending for Unsent {
    #[inline]
    fn destination(&self) -> NodeId {
        self.destination
    }
}

impl Unsent {
    /// The message in `slot`, none of it sent.
    pub(super) const fn new(slot: Slot, message: &Message, packets: u64, now: Cycle) -> Self {
        Self { slot, destination: message.destination, offered: now, packets, is_long: packets > 1 }
    }

    /// The message without its next packet; `None` if that is the last.
    pub(super) fn rest(&self) -> Option<Self> {
        (self.packets > 1).then(|| Self { packets: self.packets - 1, ..*self })
    }
}
