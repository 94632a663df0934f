//! Links to devices that are simulated elsewhere.

use super::Fast;
use super::side::HostSide;
use super::state::{Carried, OnLink};
use crate::rules::frame::NONE;

/// The side of a device that is simulated here.
pub(super) const HERE: u32 = u32::MAX;

/// A frame on a link to a device that is simulated elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    /// The port through which it leaves.
    pub(super) port: u32,
    /// \[ps\] Time at which its transmission begins.
    pub(super) begin: u64,
    /// \[ps\] When it, or its header, arrives.
    pub(super) at: u64,
    pub(super) carried: Carried,
}

/// Links to devices that are simulated elsewhere.
#[derive(Debug)]
pub(super) struct Border {
    /// By port: where the device at the other end is simulated, or [`HERE`].
    pub(super) sides: Vec<u32>,
    /// By side: the frames on their way there since they were last taken.
    pub(super) sent: Vec<Vec<Crossing>>,
    /// \[ps\] Time at which the first of the frames sent to any side arrives; the greatest number if none was sent
    /// since this was last reset.
    pub(super) first: u64,
    /// \[ps\] Time up to which a frame is on a link, as far as is known here.
    pub(super) latest: u64,
}

impl Border {
    pub(super) fn new(sides: Vec<u32>, count: usize) -> Self {
        Self { sides, sent: vec![Vec::new(); count], first: u64::MAX, latest: 0 }
    }
}

impl<H: HostSide> Fast<H> {
    /// Notes when a frame arrives and, if that is elsewhere, hands it over; returns whether it does.
    pub(super) fn hand_over(&mut self, port: usize, OnLink { begin, at, slot }: OnLink) -> bool {
        let is_stop = self.is_stop(slot);
        let Some(border) = &mut self.border else { return false };
        if !is_stop {
            border.latest = border.latest.max(at);
        }
        let side = border.sides[port];
        if side == HERE {
            return false;
        }
        border.first = border.first.min(at);
        border.sent[side as usize].push(Crossing { port: port as u32, begin, at, carried: self.frames[slot] });
        self.frames.release(slot);
        // Only the frames that wait count here.
        let (now, state) = (self.base.now, &mut self.ports[port]);
        while state.line.front().is_some_and(|one| one.begin <= now) {
            state.line.pop_front();
            state.begun = state.begun.saturating_sub(1);
        }
        if begin > now {
            state.line.push_back(OnLink { begin, at, slot: NONE });
        }
        true
    }

    /// Takes over a frame that is on its way to a device here.
    pub(super) fn take_over(&mut self, Crossing { port, begin, at, carried }: Crossing) {
        let (port, slot) = (port as usize, self.frames.store(carried));
        self.moving += 1;
        self.count_stop(slot);
        self.put_on_link(port, self.base.wiring.links[port].device, OnLink { begin, at, slot });
    }
}
