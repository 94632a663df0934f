//! What is known of a guest at one time: its state, and the moments that it has labelled.

use crate::clock::Time;

/// State of a guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Its turn has ended; it injects nothing before `next`, unless a message arrives.
    Stopped {
        /// \[ps\] The earliest time of its next injection.
        next: Time,
    },
    /// It has the turn.
    Running {
        /// \[ps\] End of its grant; [`FOREVER`](crate::clock::FOREVER) for causal guests.
        until: Time,
    },
    /// It has said goodbye.
    Left,
    /// It died, stalled or broke the protocol.
    Lost {
        /// The description of the loss.
        why: String,
    },
}

/// A moment labelled by a guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// \[ps\] Its time.
    pub time: Time,
    /// Its label.
    pub label: String,
}
