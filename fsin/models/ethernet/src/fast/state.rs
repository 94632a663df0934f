//! Frames under way, and ports.

use std::collections::VecDeque;

use crate::rules::frame::Frame;
use crate::rules::port::Counts;
use crate::rules::tally;

/// A frame in a switch, until all its copies have left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// The port through which the frame came.
    pub(super) input: u32,
    pub(super) copies: u32,
}

/// In [`Carried::held`]: it is the only copy of its frame. Most frames have only one, and need no record.
pub(super) const ONLY: u32 = 1 << 31;

/// A copy of a frame under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    pub(super) frame: Frame,
    /// With flow control: its index in [`Fast::held`](super::Fast::held), or [`ONLY`] and the port through which it
    /// came.
    pub(super) held: u32,
    /// Number of changes of links before it was sent.
    pub(super) changes: u32,
    /// Key of its draws.
    pub(super) key: u64,
}

/// What is counted at a port. No other result depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Counted {
    /// A frame has come through the link that leaves through the port, which it occupied for `time` \[ps\].
    Arrived { time: u64, is_visible: bool },
    /// The link has damaged a frame.
    Damaged,
    /// A frame was dropped, perhaps because another one took the last place at the same instant.
    Dropped { is_tied: bool },
    /// The data of a frame were cut off.
    Trimmed,
    /// Without flow control: a frame joins a queue of `length` frames, which it leaves at time `begin` \[ps\].
    Waits { begin: u64, length: u32 },
    /// With flow control: a frame joins a queue of `length` frames.
    Joins { length: u32 },
    /// With flow control: a frame leaves a queue of `length` frames.
    Leaves { length: u32 },
    /// A PAUSE frame is sent.
    Pauses,
    /// Something of a class.
    OfClass(tally::Event),
}

/// A frame on a link, or known to be sent later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OnLink {
    /// \[ps\] When its transmission begins.
    pub(super) begin: u64,
    /// \[ps\] When it, or its header, arrives.
    pub(super) at: u64,
    pub(super) slot: u32,
}

/// Frames on a link, and those known to be sent later.
pub(super) type Line = VecDeque<OnLink>;

/// The state of a port.
#[derive(Clone, Default, Debug)]
pub(super) struct PortState {
    /// \[ps\] Time at which the transmission and the gap behind it end. Without flow control, the time for the last
    /// frame in the queue.
    pub(super) free_at: u64,
    /// True if an event is scheduled for the time at which the port is free.
    pub(super) is_scheduled: bool,
    /// True if the other end has sent a PAUSE frame.
    pub(super) is_paused: bool,
    /// True if this end wants the other end to be paused.
    pub(super) wants_pause: bool,
    /// True if this end has last told the other end to pause.
    pub(super) told_pause: bool,
    pub(super) is_host: bool,
    /// \[frames\] With flow control: frames in the switch that came through this port.
    pub(super) inside: u32,
    /// \[ps\] Without flow control: time at which a frame last entered the queue.
    pub(super) entered: u64,
    /// Frames whose transmission has begun or is known, until they arrive. Only the arrival of the first one is in the
    /// calendar.
    pub(super) line: Line,
    /// \[frames\] Frames at the front of `line` whose transmission is known to have begun: all of them after
    /// [`waiting_now`](Self::waiting_now).
    pub(super) begun: usize,
    /// With flow control: frames that wait.
    pub(super) queue: VecDeque<u32>,
    pub(super) counts: Counts,
    /// \[frames x ps\] Length of the queue, summed over time. Without flow control it includes the known waiting times
    /// to come.
    pub(super) area: u128,
    /// \[ps\] With flow control: time up to which `area` is counted.
    pub(super) changed: u64,
}

impl PortState {
    /// \[frames\] Frames that wait at a port of a switch without flow control. Each frame of the line is passed once,
    /// however long the link.
    #[inline(always)]
    pub(super) fn waiting_now(&mut self, now: u64) -> usize {
        while self.line.get(self.begun).is_some_and(|one| one.begin <= now) {
            self.begun += 1;
        }
        self.line.len() - self.begun
    }

    /// \[frames\] Frames that wait at a port of a switch.
    #[inline(always)]
    pub(super) fn waiting(&self, now: u64) -> usize {
        let begun = self.line.iter().take_while(|one| one.begin <= now);
        self.line.len() - begun.count() + self.queue.len()
    }
}
