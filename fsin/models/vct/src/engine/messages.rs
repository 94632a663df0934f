//! Messages between a source and the routers: from the cycle in which they are offered to that in which they have
//! arrived.

use trgen::{Cycle, Delivery, Message, NodeId};

use fsin_core::network::Notices;
use fsin_core::slab::Slab;

/// Identifies a message that is under way.
pub(super) type Slot = u32;

/// A message that is being sent or received.
#[derive(Clone, Copy, Debug)]
struct Underway {
    message: Message,
    /// Cycle in which the source offered the message.
    offered: Cycle,
    /// \[packets\] Packets of the message that have not been ejected yet.
    to_receive: u64,
}

/// The messages that are under way in a network.
#[derive(Debug)]
pub(super) struct Messages {
    underway: Slab<Underway>,
}

impl Messages {
    pub(super) const fn new() -> Self {
        Self { underway: Slab::new() }
    }

    /// Adds a message of `packets` packets (at least 1) that is offered in cycle `now`.
    pub(super) fn enter(&mut self, message: Message, packets: u64, now: Cycle) -> Slot {
        self.underway.store(Underway { message, offered: now, to_receive: packets })
    }

    /// The message in a slot.
    pub(super) fn get(&self, slot: Slot) -> Message {
        self.underway[slot].message
    }

    /// A packet of the message in `slot` has been ejected completely.
    pub(super) fn packet_received(&mut self, slot: Slot, now: Cycle, notices: &mut Notices) {
        let underway = &mut self.underway[slot];
        underway.to_receive -= 1;
        if underway.to_receive == 0 {
            notices.delivered.push(Delivery { message: underway.message, offered: underway.offered, delivered: now });
            self.underway.release(slot);
        }
    }
}

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

impl Unsent {
    /// The message in `slot`, none of it sent.
    pub(super) const fn new(slot: Slot, message: &Message, packets: u64, now: Cycle) -> Self {
        Self { slot, destination: message.destination, offered: now, packets, is_long: packets > 1 }
    }
}
