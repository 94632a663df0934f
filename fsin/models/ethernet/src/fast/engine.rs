//! The fast engine as the common part of both engines sees it.

use std::collections::VecDeque;

use fsin_core::network::Notices;

use super::side::HostSide;
use super::state::Line;
use super::{COMPLETE, Fast, KIND};
use crate::engine::{Base, Events, PortSnapshot};
use crate::rules::frame::NONE;
use crate::rules::lengths::Lengths;
use crate::rules::managed;
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
        self.resume_port(port);
    }

    fn is_moving(&self) -> bool {
        self.moving > self.stops
    }

    fn port(&self, port: usize) -> PortSnapshot {
        let (now, state) = (self.base.now, &self.ports[port]);
        let area = if self.base.params.has_queues() {
            state.area + self.waiting(port) as u128 * u128::from(now - state.changed)
        } else {
            let ahead = state.line.iter().map(|one| u128::from(one.begin.saturating_sub(now)));
            state.area - ahead.sum::<u128>()
        };
        PortSnapshot {
            counts: state.counts,
            waiting: self.waiting(port),
            area,
            ready: self.ready(port),
            paused: self.paused(port),
            has_control: self.has_control(port),
        }
    }

    fn lengths(&self, port: usize) -> Option<Lengths> {
        let mut lengths = self.base.lengths.get(port)?.clone();
        match self.base.params.has_queues() {
            true => lengths.spend(self.waiting(port), self.base.now),
            false => lengths.catch_up(self.base.now),
        }
        Some(lengths)
    }

    fn holds(&self, input: usize, output: usize, class: u8) -> bool {
        self.has_held(input, output, class)
    }

    fn copies(&self) -> u64 {
        let mut count = self.calendar.all().filter(|event| event.order & KIND == COMPLETE).count() as u64;
        for (port, state) in self.ports.iter().enumerate() {
            count += self.managed.as_ref().map_or(0, |managed| u64::from(managed.queues[port].waiting()));
            let frames = state.line.iter().map(|one| &self.frames[one.slot].frame);
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
        if self.managed.is_some() {
            self.stops -= line.iter().filter(|one| self.is_stop(one.slot)).count() as u64;
        }
        line
    }

    /// Empties the queue of a port whose link has died, on which the frames of `line` were. Returns the frames that
    /// waited with flow control; without it, they are in the line.
    pub(super) fn cut_queue(&mut self, port: usize, line: &Line) -> VecDeque<u32> {
        if self.managed.is_some() {
            let now = self.base.now;
            let state = &mut self.ports[port];
            state.line.clear();
            state.begun = 0;
            if let Some(one) = line.iter().find(|one| one.begin >= now) {
                state.free_at = one.begin;
            }
            return managed::cut(self, port).into();
        }
        let (now, state) = (self.base.now, &mut self.ports[port]);
        state.line.clear();
        let waiting = std::mem::take(&mut state.queue);
        (state.begun, state.is_paused, state.told_pause) = (0, false, false);
        if let Some(one) = line.iter().find(|one| one.begin >= now) {
            state.free_at = one.begin;
        }
        if self.base.params.pause {
            state.area += waiting.len() as u128 * u128::from(now - state.changed);
            state.changed = now;
        } else {
            state.area -= line.iter().map(|one| u128::from(one.begin.saturating_sub(now))).sum::<u128>();
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
        line.into_iter().for_each(|one| self.lose_on_dead_link(one.slot, notices));
    }

    /// Loses the frames that waited for a link which has died.
    pub(super) fn lose_queue(&mut self, waiting: VecDeque<u32>, notices: &mut Notices) {
        for slot in waiting {
            match self.managed.is_some() {
                true => managed::release(self, slot),
                false => self.release(self.frames[slot].held),
            }
            self.lose_on_dead_link(slot, notices);
        }
    }

    /// True if a frame that came through `input` waits at `output` of the same switch.
    pub(super) fn has_held(&self, input: usize, output: usize, class: u8) -> bool {
        let is_it = |slot: u32| {
            let held = self.frames[slot].held;
            held != NONE && self.input_of(held) as usize == input
        };
        match &self.managed {
            Some(managed) => managed.queues[output].of(class).any(is_it),
            None => self.ports[output].queue.iter().any(|&slot| is_it(slot)),
        }
    }

    /// Lets a port send whose link has been repaired.
    pub(super) fn resume_port(&mut self, port: usize) {
        match self.managed.is_some() {
            true => managed::resume(self, port),
            false => self.send(port),
        }
    }

    /// \[frames\] Frames that wait at a port.
    fn waiting(&self, port: usize) -> usize {
        match &self.managed {
            Some(managed) => managed.queues[port].waiting() as usize,
            None => self.ports[port].waiting(self.base.now),
        }
    }

    /// Classes with frames that wait at a port; without classes, the first for all.
    pub(super) fn ready(&self, port: usize) -> u16 {
        match &self.managed {
            Some(managed) => managed.queues[port].ready(),
            None => u16::from(self.waiting(port) > 0),
        }
    }

    /// Classes that the other end of a port has paused.
    pub(super) fn paused(&self, port: usize) -> u16 {
        match &self.managed {
            Some(managed) => managed.queues[port].paused,
            None if self.ports[port].is_paused => u16::MAX,
            None => 0,
        }
    }

    /// True if a port has a PAUSE frame to send by which the other end may go on, or any without classes.
    pub(super) fn has_control(&self, port: usize) -> bool {
        let state = &self.ports[port];
        let has = match &self.managed {
            Some(managed) => managed.queues[port].has_resume(),
            None => state.wants_pause != state.told_pause,
        };
        has && !self.base.alive.is_dead(port)
    }
}
