//! Channels and slack buffers: runs of characters in place of characters.

use std::collections::VecDeque;

use crate::rules::wires::NONE;

/// Characters that follow each other without a pause, on a channel or into a buffer: one in each character time from
/// `start` on. A run goes on to the end of the packet unless it is interrupted.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Run {
    /// False if there is no run.
    pub(super) is_on: bool,
    /// \[ticks\] Time of its first character.
    pub(super) start: u64,
    /// Index in the packet of its first character.
    pub(super) first: u32,
    /// \[characters\] Length of the packet, its GAP included.
    pub(super) length: u32,
}

impl Run {
    /// \[characters\] Number of characters up to instant `at`, including it. `character` is the time of a character.
    #[inline(always)]
    pub(super) fn until(&self, at: u64, character: u64) -> u32 {
        if !self.is_on || at < self.start {
            return 0;
        }
        let count = (at - self.start) / character + 1;
        count.min(u64::from(self.length - self.first)) as u32
    }

    /// \[characters\] Number of characters before instant `at`.
    #[inline(always)]
    pub(super) fn before(&self, at: u64, character: u64) -> u32 {
        if at == 0 { 0 } else { self.until(at - 1, character) }
    }

    /// \[ticks\] Time of the packet's character `index`, which must not come before the run.
    #[inline(always)]
    pub(super) const fn time(&self, index: u32, character: u64) -> u64 {
        self.start + (index - self.first) as u64 * character
    }

    /// \[ticks\] Sum of the times of the run's first `count` characters.
    #[inline(always)]
    pub(super) const fn sum(&self, count: u32, character: u64) -> i128 {
        let count = count as u64;
        count as i128 * self.start as i128 + (character * (count * count.saturating_sub(1) / 2)) as i128
    }
}

/// The channel that leaves through a port.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Output {
    /// The run that the channel sends.
    pub(super) run: Run,
    /// \[ticks\] Time at which the channel is free, if it has no run.
    pub(super) free: u64,
    /// \[ticks\] Time of the last try that was scheduled.
    pub(super) tried: u64,
    /// Version of the run: it distinguishes events of this run from events of former runs.
    pub(super) version: u32,
    /// The packet that passes through the channel; [`NONE`] if there is none.
    pub(super) packet: u32,
    /// Index of the packet's next character, if there is no run.
    pub(super) next: u32,
    /// \[characters\] Length of the packet, its GAP included.
    pub(super) length: u32,
    /// At a switch: the input from which the packet comes.
    pub(super) input: u32,
    /// \[ticks\] Time from which the packet's first character may be sent.
    pub(super) opens: u64,
    /// True if the packet's first character has begun.
    pub(super) has_begun: bool,
    /// The input that was granted the output last.
    pub(super) granted: u32,
    /// True if the other end has sent STOP.
    pub(super) is_stopped: bool,
    /// True if the input of this port wants its sender to stop.
    pub(super) wants_stop: bool,
    /// True if STOP, and not GO, was the last mark sent for the input of this port.
    pub(super) told_stop: bool,
    /// True if a BEAT is due.
    pub(super) has_beat: bool,
    /// \[ticks\] Time at which the channel was last stopped.
    pub(super) stopped_at: u64,
    /// \[ticks\] Time for which the channel was stopped, without the present stop.
    pub(super) stopped: u64,
    /// \[characters\] Characters of packets and GAPs sent.
    pub(super) moved: u64,
    /// Number of STOPs sent.
    pub(super) stops: u64,
    /// Number of GOs sent.
    pub(super) gos: u64,
}

impl Output {
    pub(super) const fn new() -> Self {
        let run = Run { is_on: false, start: 0, first: 0, length: 0 };
        Self {
            run,
            free: 0,
            tried: 0,
            version: 0,
            packet: NONE,
            next: 0,
            length: 0,
            input: NONE,
            opens: 0,
            has_begun: false,
            granted: NONE,
            is_stopped: false,
            wants_stop: false,
            told_stop: false,
            has_beat: false,
            stopped_at: 0,
            stopped: 0,
            moved: 0,
            stops: 0,
            gos: 0,
        }
    }
}

/// A packet in a slack buffer. Some of its characters may not have arrived yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) packet: u32,
    /// Index of its first character here, which selects the output.
    pub(super) first: u32,
    /// \[characters\] Length of the packet, its GAP included.
    pub(super) length: u32,
    /// The output that it selects.
    pub(super) wants: u32,
    /// \[ticks\] Time from which the first character may be read, so that the packet asks for its output.
    pub(super) asks: u64,
}

/// The input of a port: the slack buffer of a switch.
#[derive(Clone, Default, Debug)]
pub(super) struct Input {
    /// Packets in the buffer. The first one is being read. Only the last one may be incomplete.
    pub(super) queue: VecDeque<Waiting>,
    /// The output to which the first packet is connected; [`NONE`] if there is none.
    pub(super) output: u32,
    /// The run in which the last packet arrives.
    pub(super) run: Run,
    /// If there is no run: the characters of the last packet with lower indices have arrived.
    pub(super) closed: u32,
    /// \[characters\] Number held, without the effect of the present runs of arrivals and departures.
    pub(super) base: i64,
    /// \[characters x ticks\] Sum of departure times less sum of arrival times, without the present runs.
    pub(super) area: i128,
    /// \[characters\] The most that the buffer has held up to `since`.
    pub(super) max: u32,
    /// \[ticks\] Time up to which the maximum is known.
    pub(super) since: u64,
    /// \[ticks\] Time at which the buffer will cross a mark, as far as is known; [`u64::MAX`] if it will not.
    pub(super) crosses: u64,
    /// True if the input is in the list of inputs that have changed.
    pub(super) is_listed: bool,
    /// Version of the arrivals of CRCs, which distinguishes events of this run from events of former ones. Such events
    /// are of hosts, and of switches behind links that are dead at times.
    pub(super) version: u32,
}
