//! What waits to be told to a guest.

use bytes::Bytes;

use crate::clock::Time;
use crate::protocol::{Body, Deliver};

/// Its place among the notices to a guest: time, kind, source node, number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Place {
    /// \[ps\] When the guest sees it.
    pub(super) time: Time,
    /// A Done comes before the deliveries of its time.
    pub(super) delivery: bool,
    pub(super) source: u32,
    pub(super) sequence: u64,
}

/// Something that a guest is told.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    /// Which of the guest's connections is told.
    pub(super) link: usize,
    pub(super) endpoint: u16,
    pub(super) cookie: u64,
    /// What arrived; `None` for a Done.
    pub(super) arrived: Option<Arrived>,
}

/// A message that has arrived.
#[derive(Clone, Debug)]
pub(super) struct Arrived {
    pub(super) injected: Time,
    pub(super) size: u64,
    pub(super) payload: Bytes,
    /// True if it was injected while the run was measured.
    pub(super) measured: bool,
}

impl Notice {
    /// The frame that says so, `late` after its time.
    pub(super) fn body(self, place: &Place, late: Time) -> Body {
        match self.arrived {
            None => Body::Done { cookie: self.cookie },
            Some(arrived) => Body::Deliver(Deliver {
                source: place.source,
                source_sequence: place.sequence,
                cookie: self.cookie,
                injected: arrived.injected,
                late,
                size: arrived.size,
                payload: arrived.payload,
            }),
        }
    }
}
