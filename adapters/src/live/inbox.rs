//! Notices waiting for a guest.

use bytes::Bytes;

use crate::clock::Time;
use crate::protocol::{Body, Deliver};

/// Sort key of the notices to a guest: time, kind, source node, sequence number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct NoticeKey {
    /// \[ps\] Time of the notice. A message is handed over at this time.
    pub(super) time: Time,
    /// True for a message, false for a Done, which precedes the messages of the same time.
    pub(super) delivery: bool,
    /// Source node of the message.
    pub(super) source: u32,
    /// Number of the message among those of its source.
    pub(super) sequence: u64,
}

/// A notice to a guest.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    /// Index of the guest's connection that receives it.
    pub(super) link: usize,
    /// Index of the guest's node among those of the connection.
    pub(super) endpoint: u16,
    /// The sender's identifier of the message.
    pub(super) cookie: u64,
    /// The message; `None` for a Done.
    pub(super) arrived: Option<Arrived>,
}

/// A message that has arrived.
#[derive(Clone, Debug)]
pub(super) struct Arrived {
    /// \[ps\] Time of its injection.
    pub(super) injected: Time,
    /// \[ps\] Time from its arrival to the end of the quantum, before which it is not handed over.
    pub(super) deferred: Time,
    /// \[bytes\] Size in the model.
    pub(super) size: u64,
    pub(super) payload: Bytes,
    /// True if it was injected during measurement.
    pub(super) measured: bool,
}

impl Notice {
    /// The frame of the notice, which is handed over `late` picoseconds after its arrival.
    pub(super) fn body(self, key: &NoticeKey, late: Time) -> Body {
        match self.arrived {
            None => Body::Done { cookie: self.cookie },
            Some(arrived) => Body::Deliver(Deliver {
                source: key.source,
                source_sequence: key.sequence,
                cookie: self.cookie,
                injected: arrived.injected,
                late,
                size: arrived.size,
                payload: arrived.payload,
            }),
        }
    }
}
