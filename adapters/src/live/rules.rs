//! Settings of a run of guests.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::region::Region;
use crate::clock::{Clock, Time};
use crate::endpoint::Terms;

/// Overheads between a guest and the network interface of its node, and the response of the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overheads {
    /// \[ps\] Time from a guest's injection until the message enters the network.
    pub send: Time,
    /// \[ps\] Time from the network's delivery until the message reaches the guest.
    pub receive: Time,
    /// \[cycles\] Shortest response of the network: from an injection to the end of the first cycle in which it can
    /// affect a delivery. 1 for routers, the delay for a network of constant delay.
    pub response: u64,
}

impl Overheads {
    /// \[ps\] The interference horizon: an injection affects nothing that a guest sees within this time.
    #[must_use]
    pub fn horizon(&self, clock: Clock) -> Time {
        self.send.saturating_add(self.receive).saturating_add(clock.span(self.response.max(1)))
    }
}

/// Policy for a guest that is lost: it dies, stalls, or breaks the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LostGuest {
    /// End the run.
    Abort,
    /// Go on without it; messages to it travel but are not handed over.
    DropNode,
    /// Stop: virtual time ends where it is, and the other guests keep their state for inspection until the user
    /// interrupts the run.
    Freeze,
}

/// The first grant of stepped guests, which can cover the time in which they boot or set up.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum WarmUp {
    /// It is a step, as later ones.
    #[default]
    None,
    /// It lasts until this time \[ps\].
    Until(Time),
    /// It has no end: each guest ends it by setting a mark or waiting for a message.
    Mark,
}

/// Rules for guests.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The terms of the run, which guests know from the handshake.
    pub terms: Terms,
    /// Overheads between them and the network.
    pub overheads: Overheads,
    /// Policy for lost guests.
    pub lost: LostGuest,
    /// How long the network waits for a guest before it warns the user.
    pub warn: Duration,
    /// How long the network waits for a guest that makes no progress, before the guest is lost.
    pub hold: Duration,
    /// \[bytes\] Limit of the payloads of messages in flight, over all guests.
    pub payload_limit: u64,
    /// Ends the run when it becomes true.
    pub stop: &'static AtomicBool,
    /// The first grant of stepped guests.
    pub warm_up: WarmUp,
    /// The measured part of the run; `None` for all of it.
    pub region: Option<Region>,
    /// Number of nodes of the network.
    pub network_nodes: usize,
    /// The node of the network for each node of the guests, if several of them share one. The response of the network
    /// ([`Overheads::response`]) is 1 then, as messages within a node take one cycle.
    pub places: Option<Vec<trgen::NodeId>>,
    /// \[ps\] Interval between running digests; 0 for none.
    pub digest_every: Time,
}
