//! What a run of guests depends on.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::region::Region;
use crate::clock::{Clock, Time};
use crate::endpoint::Terms;

/// What lies between a guest and the network's interface of its node, and what is known of the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overheads {
    /// \[ps\] From a guest's injection to the network.
    pub send: Time,
    /// \[ps\] From the network's delivery to the guest.
    pub receive: Time,
    /// \[cycles\] That the network needs at least, from an injection to the end of the first cycle in which a delivery
    /// can be different for it: 1 for routers, the delay for a network of constant delay.
    pub response: u64,
}

impl Overheads {
    /// \[ps\] The interference horizon: an injection changes nothing that a guest sees earlier than this after it.
    #[must_use]
    pub fn horizon(&self, clock: Clock) -> Time {
        self.send.saturating_add(self.receive).saturating_add(clock.span(self.response.max(1)))
    }
}

/// What to do about a guest that is lost: it dies, stalls, or breaks the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LostGuest {
    /// End the run.
    Abort,
    /// Go on without it; messages to it travel and are not handed over.
    DropNode,
    /// Stand still: virtual time ends where it is, the other guests keep their state and can be looked at, until somebody
    /// interrupts the run.
    Freeze,
}

/// How stepped guests begin: without steps, while they boot or set up.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum WarmUp {
    /// With steps from the start.
    #[default]
    None,
    /// \[ps\] With one grant up to this time.
    Until(Time),
    /// With one grant for ever, which each guest ends itself by setting a mark or waiting for a message.
    Mark,
}

/// How to deal with guests.
#[derive(Clone, Debug)]
pub struct Rules {
    /// What guests have been told.
    pub terms: Terms,
    /// What lies between them and the network.
    pub overheads: Overheads,
    /// What to do about lost ones.
    pub lost: LostGuest,
    /// How long the network waits before it says for whom.
    pub warn: Duration,
    /// \[bytes\] Carried by messages on their way, of all guests.
    pub payload_limit: u64,
    /// Ends the run when it becomes true.
    pub stop: &'static AtomicBool,
    /// How stepped guests begin.
    pub warm_up: WarmUp,
    /// What of the run is measured; everything without one.
    pub region: Option<Region>,
    /// \[ps\] Between running digests; 0 for none.
    pub digest_every: Time,
}
