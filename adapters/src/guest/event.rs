//! What a guest is told.

use bytes::Bytes;

use crate::clock::Time;
use crate::protocol::Deliver;

/// A message that has arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// \[ps\] When.
    pub time: Time,
    /// Which of the guest's endpoints it is for.
    pub endpoint: u16,
    /// Node that it came from.
    pub source: u32,
    /// Number among the messages of that node, from 0.
    pub source_sequence: u64,
    /// The sender's name for it.
    pub cookie: u64,
    /// \[ps\] When it was sent.
    pub sent: Time,
    /// \[ps\] How late it is handed over; 0 in exact mode.
    pub late: Time,
    /// \[bytes\] Its size in the model.
    pub size: u64,
    /// What it carries.
    pub payload: Bytes,
}

impl Arrival {
    pub(super) fn new(endpoint: u16, time: Time, deliver: Deliver) -> Self {
        let Deliver { source, source_sequence, cookie, injected, late, size, payload } = deliver;
        Self { time, endpoint, source, source_sequence, cookie, sent: injected, late, size, payload }
    }
}

/// What a guest is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A message has arrived.
    Message(Arrival),
    /// A message that asked for it has left the guest's hands.
    Sent {
        /// \[ps\] When.
        time: Time,
        /// The guest's name for it.
        cookie: u64,
    },
}

impl Event {
    pub(super) const fn time(&self) -> Time {
        match self {
            Self::Message(arrival) => arrival.time,
            Self::Sent { time, .. } => *time,
        }
    }
}
