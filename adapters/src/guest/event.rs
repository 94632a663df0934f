//! Events that a guest receives.

use bytes::Bytes;

use crate::clock::Time;
use crate::protocol::Deliver;

/// A message that has arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// \[ps\] When it arrived; in other modes than the exact one, when it was handed over, which is `late` later.
    pub time: Time,
    /// Index of the guest's endpoint to which it is addressed.
    pub endpoint: u16,
    /// Source node.
    pub source: u32,
    /// Sequence number among the messages of that node, from 0.
    pub source_sequence: u64,
    /// The sender's identifier of the message.
    pub cookie: u64,
    /// \[ps\] When its sender injected it.
    pub sent: Time,
    /// \[ps\] Lateness of its hand-over; 0 in exact mode.
    pub late: Time,
    /// \[bytes\] Its size in the model.
    pub size: u64,
    /// Its payload.
    pub payload: Bytes,
}

impl Arrival {
    /// The message of a Deliver frame for `endpoint` with the time `time`.
    pub(super) fn new(endpoint: u16, time: Time, deliver: Deliver) -> Self {
        let Deliver { source, source_sequence, cookie, injected, late, size, payload } = deliver;
        Self { time, endpoint, source, source_sequence, cookie, sent: injected, late, size, payload }
    }
}

/// An event for a guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A message has arrived.
    Message(Arrival),
    /// A message that was injected with [`notify`](crate::protocol::Inject::notify) has left the guest's node.
    Sent {
        /// \[ps\] When it left.
        time: Time,
        /// The guest's identifier of the message.
        cookie: u64,
    },
}

impl Event {
    /// \[ps\] Time of the event.
    pub(super) const fn time(&self) -> Time {
        match self {
            Self::Message(arrival) => arrival.time,
            Self::Sent { time, .. } => *time,
        }
    }
}
