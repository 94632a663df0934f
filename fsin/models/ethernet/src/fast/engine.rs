//! The fast engine as the common part of both engines sees it.

use std::collections::VecDeque;

use fsin_core::network::Notices;

use super::side::HostSide;
use super::state::Line;
use super::{COMPLETE, Fast, KIND};
use crate::engine::{Base, Events, PortSnapshot};
use crate::rules::lengths::Lengths;
use crate::rules::port::is_of_hosts;

impl Events for Fast {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    #[inline]
    fn next_at(&mut self, _until: u64) -> Option<u64> {
        self.calendar.first().map(|event| event.at)
    }

    #[inline]
    fn step(&mut self, notices: &mut Notices) {
        if let Some(event) = self.calendar.pop() {
            self.process(&event, notices);
        }
    }

    fn serve_hosts(&mut self) {
        self.serve_all();
    }

    fn cut(&mut self, port: usize, notices: &mut Notices) {
        let line = self.take_line(port);
        let waiting = self.cut_queue(port, &line);
        self.lose_line(line, notices);
        self.lose_queue(waiting, notices);
    }

    fn resume(&mut self, port: usize) {
        self.send(port);
    }

    fn is_moving(&self) -> bool {
        self.moving > 0
    }

    fn port(&self, port: usize) -> PortSnapshot {
        let (now, state) = (self.base.now, &self.ports[port]);
        let area = if self.base.params.pause {
            state.area + state.queue.len() as u128 * u128::from(now - state.changed)
        } else {
            let ahead = state.line.iter().map(|(begin, _)| u128::from(begin.saturating_sub(now)));
            state.area - ahead.sum::<u128>()
        };
        PortSnapshot {
            counts: state.counts,
            waiting: state.waiting(now),
            area,
            is_paused: state.is_paused,
            has_control: state.wants_pause != state.told_pause && !self.base.alive.is_dead(port),
        }
    }

    fn lengths(&self, port: usize) -> Option<Lengths> {
        let mut lengths = self.base.lengths.get(port)?.clone();
        match self.base.params.pause {
            true => lengths.spend(self.ports[port].queue.len(), self.base.now),
            false => lengths.catch_up(self.base.now),
        }
        Some(lengths)
    }

    fn holds(&self, input: usize, output: usize) -> bool {
        self.has_held(input, output)
    }

    fn copies(&self) -> u64 {
        let mut count = self.calendar.all().filter(|event| event.order & KIND == COMPLETE).count() as u64;
        for state in &self.ports {
            let frames = state.line.iter().map(|&(_, slot)| &self.frames[slot].frame);
            count += (frames.filter(|frame| is_of_hosts(frame)).count() + state.queue.len()) as u64;
        }
        count
    }
}

impl<H: HostSide> Fast<H> {
    /// Takes all frames from the link of a port.
    pub(super) fn take_line(&mut self, port: usize) -> Line {
        let line = std::mem::take(&mut self.ports[port].line);
        self.moving -= line.len() as u64;
        line
    }

    /// Empties the queue of a port whose link has died, on which the frames of `line` were. Returns the frames that
    /// waited with flow control; without it, they are in the line.
    pub(super) fn cut_queue(&mut self, port: usize, line: &Line) -> VecDeque<u32> {
        let (now, state) = (self.base.now, &mut self.ports[port]);
        state.line.clear();
        let waiting = std::mem::take(&mut state.queue);
        (state.begun, state.is_paused, state.told_pause) = (0, false, false);
        if let Some(&(begin, _)) = line.iter().find(|(begin, _)| *begin >= now) {
            state.free_at = begin;
        }
        if self.base.params.pause {
            state.area += waiting.len() as u128 * u128::from(now - state.changed);
            state.changed = now;
        } else {
            state.area -= line.iter().map(|(begin, _)| u128::from(begin.saturating_sub(now))).sum::<u128>();
        }
        if let Some(lengths) = self.base.lengths.get_mut(port) {
            if self.base.params.pause {
                lengths.spend(waiting.len(), now);
            } else {
                lengths.clear(now);
            }
        }
        self.base.hosts.emptied(port);
        waiting
    }

    /// Loses the frames that were on a link which has died, those that left first before others.
    pub(super) fn lose_line(&mut self, line: Line, notices: &mut Notices) {
        line.into_iter().for_each(|(_, slot)| self.lose_on_dead_link(slot, notices));
    }

    /// Loses the frames that waited for a link which has died.
    pub(super) fn lose_queue(&mut self, waiting: VecDeque<u32>, notices: &mut Notices) {
        for slot in waiting {
            self.release(self.frames[slot].held);
            self.lose_on_dead_link(slot, notices);
        }
    }

    /// True if a frame that came through `input` waits at `output` of the same switch.
    pub(super) fn has_held(&self, input: usize, output: usize) -> bool {
        let mut queue = self.ports[output].queue.iter();
        queue.any(|&slot| self.held[self.frames[slot].held].input as usize == input)
    }
}
