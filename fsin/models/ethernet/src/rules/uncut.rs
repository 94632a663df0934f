//! The messages of a host that have not been cut into frames completely, and whose frame comes next.
//!
//! Decision: docs/decisions/0202-interfaces.md.

use fsin_core::interface::{Interface, Lane, Pending};
use fsin_core::messages::{Messages, SendQueue};
use trgen::NodeId;

/// What is left of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    /// The slot of the message.
    slot: u32,
    /// The host that it is sent to.
    destination: NodeId,
    /// \[frames\] Number of its next frame, and of all its frames.
    next: u64,
    frames: u64,
}

impl Pending for Rest {
    fn destination(&self) -> NodeId {
        self.destination
    }
}

/// The messages of a host.
#[derive(Clone, Debug)]
pub(super) enum Uncut {
    /// One after another.
    Serial(SendQueue),
    /// Several in progress, to different hosts, whose frames take turns.
    Interleaved(Box<Lane<Rest>>),
}

impl Uncut {
    /// No message. A host has one link, so that an interface for each link is one for all.
    pub(super) fn new(interface: Interface) -> Self {
        match interface {
            Interface::Serial | Interface::PerPort => Self::Serial(SendQueue::default()),
            Interface::Interleaved(most) => Self::Interleaved(Box::new(Lane::new(most))),
        }
    }

    /// Appends a message of so many frames.
    #[inline]
    pub(super) fn push(&mut self, slot: u32, destination: NodeId, frames: u64) {
        match self {
            Self::Serial(queue) => queue.push(slot),
            Self::Interleaved(lane) => lane.push(Rest { slot, destination, next: 0, frames }),
        }
    }

    /// True if all frames have been sent.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Serial(queue) => queue.is_empty(),
            Self::Interleaved(lane) => lane.is_empty(),
        }
    }

    /// Takes the next frame of a message that `may` send, given its slot: that slot, and the number of the frame there.
    #[inline]
    pub(super) fn pop<X>(&mut self, messages: &Messages<X>, may: impl Fn(u32) -> bool) -> Option<(u32, u64)> {
        match self {
            Self::Serial(queue) => queue.peek().filter(|&slot| may(slot)).and_then(|_| queue.pop(messages)),
            Self::Interleaved(lane) => {
                let rest = |of: &Rest| (of.next + 1 < of.frames).then_some(Rest { next: of.next + 1, ..*of });
                lane.next(|of| may(of.slot).then_some(()), rest).map(|((), of)| (of.slot, of.next))
            }
        }
    }

    /// True if a message is there that `may` send, given its slot.
    pub(super) fn may_send(&self, may: impl Fn(u32) -> bool) -> bool {
        match self {
            Self::Serial(queue) => queue.peek().is_some_and(may),
            Self::Interleaved(lane) => lane.all().any(|of| may(of.slot)),
        }
    }

    /// \[frames\] Frames that wait.
    pub(super) fn waiting<X>(&self, messages: &Messages<X>) -> u64 {
        match self {
            Self::Serial(queue) => queue.waiting(messages),
            Self::Interleaved(lane) => lane.all().map(|of| of.frames - of.next).sum(),
        }
    }
}
