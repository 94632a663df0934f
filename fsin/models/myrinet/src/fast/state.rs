//! Channels and slack buffers: runs of characters in place of characters.

use std::collections::VecDeque;

use crate::rules::wires::NONE;

/// Characters that follow each other without a pause, on a channel or into a buffer: one a character time from `start`
/// on. It goes on to the end of the packet until it is known to be interrupted.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Run {
    /// False if there is none.
    pub(super) is_on: bool,
    /// \[ticks\]
    pub(super) start: u64,
    /// The first of its characters, in the packet.
    pub(super) first: u32,
    /// \[characters\] Length of the packet, its GAP included.
    pub(super) length: u32,
}

impl Run {
    /// \[characters\] Up to an instant, and including it.
    #[inline(always)]
    pub(super) fn until(&self, at: u64, character: u64) -> u32 {
        if !self.is_on || at < self.start {
            return 0;
        }
        let count = (at - self.start) / character + 1;
        count.min(u64::from(self.length - self.first)) as u32
    }

    /// \[characters\] Before an instant.
    #[inline(always)]
    pub(super) fn before(&self, at: u64, character: u64) -> u32 {
        if at == 0 { 0 } else { self.until(at - 1, character) }
    }

    /// \[ticks\] When a character of the packet is due, which is none of those before the run.
    #[inline(always)]
    pub(super) const fn time(&self, index: u32, character: u64) -> u64 {
        self.start + (index - self.first) as u64 * character
    }

    /// \[ticks\] The sum of the instants of its first characters.
    #[inline(always)]
    pub(super) const fn sum(&self, count: u32, character: u64) -> i128 {
        let count = count as u64;
        count as i128 * self.start as i128 + (character * (count * count.saturating_sub(1) / 2)) as i128
    }
}

/// The channel that leaves through a port.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Output {
    pub(super) run: Run,
    /// \[ticks\] When it is free, if it has no run.
    pub(super) free: u64,
    /// \[ticks\] For when it has last been made to try again.
    pub(super) tried: u64,
    /// Of runs: tells their events from those of former ones.
    pub(super) version: u32,
    /// The packet that passes, or [`NONE`], and the next character of it if there is no run.
    pub(super) packet: u32,
    pub(super) next: u32,
    pub(super) length: u32,
    /// The input from which it comes, in a switch.
    pub(super) input: u32,
    /// \[ticks\] When its first character may be sent.
    pub(super) opens: u64,
    pub(super) has_begun: bool,
    pub(super) granted: u32,
    pub(super) is_stopped: bool,
    pub(super) wants_stop: bool,
    pub(super) told_stop: bool,
    pub(super) has_beat: bool,
    pub(super) stopped_at: u64,
    pub(super) stopped: u64,
    pub(super) moved: u64,
    pub(super) stops: u64,
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

/// A packet of which characters have come to an input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) packet: u32,
    /// Its first character here, which selects the output.
    pub(super) first: u32,
    pub(super) length: u32,
    /// The output that it selects.
    pub(super) wants: u32,
    /// \[ticks\] When the first character may be read.
    pub(super) asks: u64,
}

/// The input of a port: the slack buffer of a switch.
#[derive(Clone, Default, Debug)]
pub(super) struct Input {
    /// Packets in the buffer, the one that is being read first. Only the last one may be incomplete.
    pub(super) queue: VecDeque<Waiting>,
    /// The output to which the first one is connected, or [`NONE`].
    pub(super) output: u32,
    /// Arrivals of the last packet.
    pub(super) run: Run,
    /// Characters of the last packet before this one have come, if there is no run.
    pub(super) closed: u32,
    /// \[characters\] Held, but for the runs of arrivals and departures.
    pub(super) base: i64,
    /// \[characters x ticks\] Departures less arrivals, but for runs.
    pub(super) area: i128,
    pub(super) max: u32,
    /// \[ticks\] Up to when the maximum is known.
    pub(super) since: u64,
    /// \[ticks\] When it will cross a mark, as far as is known.
    pub(super) crosses: u64,
    pub(super) is_listed: bool,
    /// Of deliveries at a host.
    pub(super) version: u32,
}
