//! Events to come, in the order of instants and, within an instant, of kinds.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What happens, in the order within an instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    /// A run of characters has been interrupted: through the channel of a port, the next one does not arrive.
    End,
    /// A run of characters begins to arrive through the channel of a port.
    Start,
    /// The CRC of a packet arrives at a host, at the input of a port.
    Deliver,
    /// STOP (1) or GO (0) has come through the channel of a port.
    Mark,
    /// The channel of a port has sent a GAP.
    Finish,
    /// The head of an input may ask for an output.
    Ask,
    /// The channel of a port has sent all that had come before its input's run was interrupted.
    Starve,
    /// The channel of a port may begin something.
    Try,
    /// The buffer of an input crosses a mark.
    Look,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Happening {
    pub(super) at: u64,
    pub(super) kind: Kind,
    pub(super) port: u32,
    pub(super) packet: u32,
    /// A character, a version, or STOP.
    pub(super) index: u32,
    pub(super) serial: u64,
}

impl Ord for Happening {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.kind).cmp(&(other.at, other.kind))
    }
}

impl PartialOrd for Happening {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// All events to come.
#[derive(Default, Debug)]
pub(super) struct Calendar {
    heap: BinaryHeap<Reverse<Happening>>,
}

impl Calendar {
    #[inline]
    pub(super) fn add(&mut self, happening: Happening) {
        self.heap.push(Reverse(happening));
    }

    /// An event of a port alone.
    #[inline]
    pub(super) fn add_for(&mut self, at: u64, kind: Kind, port: u32, index: u32) {
        self.add(Happening { at, kind, port, packet: u32::MAX, index, serial: 0 });
    }

    #[inline]
    pub(super) fn next_at(&self) -> u64 {
        self.heap.peek().map_or(u64::MAX, |Reverse(next)| next.at)
    }

    /// The next event of an instant, of this kind or an earlier one.
    #[inline]
    pub(super) fn pop(&mut self, at: u64, until: Kind) -> Option<Happening> {
        let Reverse(next) = self.heap.peek()?;
        if next.at > at || next.kind > until {
            return None;
        }
        self.heap.pop().map(|Reverse(next)| next)
    }
}
