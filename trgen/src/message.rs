//! Messages handed to a network, and their deliveries.

use crate::units::{Cycle, NodeId};

/// A message from one node to another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Message {
    /// Handle chosen by the source of traffic. The network returns it in [`TrGen::sent`](crate::TrGen::sent) and
    /// [`TrGen::delivered`](crate::TrGen::delivered).
    pub id: u64,
    /// Sending node.
    pub source: NodeId,
    /// Receiving node. The sending one only if the network carries messages of a node to itself, and the source has
    /// been told so ([`Outbox::push_to_any`](crate::Outbox::push_to_any)); else they do not use the network.
    pub destination: NodeId,
    /// \[bytes\] Payload. The network cuts it into packets; a message of 0 bytes is one packet.
    pub bytes: u64,
    /// Traffic class, from 0: models with classes keep messages of different classes apart (virtual channels,
    /// priorities); others treat all alike. 1 for reactions to messages, else 0.
    pub class: u8,
}

/// A message that has arrived in full.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Delivery {
    /// The message as it was offered.
    pub message: Message,
    /// \[cycle\] When the message was offered to the network; where cycles are units of continuous time, the time since
    /// the start of the run.
    pub offered: Cycle,
    /// \[cycle\] When its last phit was consumed, likewise.
    pub delivered: Cycle,
}
