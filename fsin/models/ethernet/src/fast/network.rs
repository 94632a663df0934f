//! The fast engine as a network.

use fsin_core::network::{Deadlock, Injected, Measure, Network, NetworkFailure, Notices};
use fsin_core::stats::{Distribution, Recorder};
use fsin_core::view::{Occupancy, View};
use trgen::{Cycle, Message};

use super::{COMPLETE, Fast, KIND, PortState};
use crate::capture::{Capture, Site};
use crate::rules::hosts::sort;
use crate::rules::port::{self, Taps, is_of_hosts};
use crate::rules::wait::cyclic_wait;
use crate::{Details, Ethernet, Totals};

impl Fast {
    /// True if no frame is on a link, none can be sent, and some wait at paused ports: they will wait for ever.
    #[cold]
    fn is_deadlocked(&self) -> bool {
        let owner = |port: usize| self.wiring.links[port].owner;
        let waits = |(port, state): (usize, &PortState)| {
            !state.queue.is_empty() || state.is_host && self.hosts.has_next(owner(port))
        };
        let can_send = |(port, state): (usize, &PortState)| {
            let is_ending = state.is_host && self.hosts.is_ending(owner(port));
            state.wants_pause != state.told_pause || is_ending || !state.is_paused && waits((port, state))
        };
        let mut ports = self.ports.iter().enumerate();
        !ports.clone().any(can_send) && ports.any(waits)
    }

    #[cold]
    fn deadlock(&self) -> NetworkFailure {
        let is_blocked = |port: usize| self.ports[port].is_paused && !self.ports[port].queue.is_empty();
        let from = |input: usize, output: usize| {
            let mut queue = self.ports[output].queue.iter();
            queue.any(|&slot| self.held[self.frames[slot].held].input as usize == input)
        };
        let cycle = cyclic_wait(&self.wiring, is_blocked, from);
        Deadlock { since: Cycle(self.last_moved), in_flight: self.hosts.in_flight, cycle }.into()
    }
}

impl Network for Fast {
    fn nodes(&self) -> usize {
        self.wiring.hosts
    }

    fn clock(&self) -> Cycle {
        Cycle(self.now + 1)
    }

    fn inject(&mut self, message: Message) -> Injected {
        let outcome = self.hosts.inject(message, self.now);
        self.serve_hosts();
        outcome
    }

    fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        notices.clear();
        loop {
            if self.params.pause && self.moving == 0 && self.hosts.in_flight > 0 && self.failure.is_none() {
                let is_deadlocked = self.is_deadlocked();
                self.failure = is_deadlocked.then(|| self.deadlock());
            }
            if let Some(failure) = &self.failure {
                sort(notices);
                return Err(failure.clone());
            }
            match self.calendar.next_at() {
                Some(at) if at < until.0 && (notices.is_empty() || at <= self.now) => self.now = at,
                _ => break,
            }
            if let Some(event) = self.calendar.pop() {
                self.happen(&event, notices);
            }
        }
        if notices.is_empty() {
            self.now = self.now.max(until.0.saturating_sub(1));
        } else {
            sort(notices);
        }
        Ok(())
    }

    fn in_flight(&self) -> u64 {
        self.hosts.in_flight
    }

    fn recorder(&self) -> &Recorder {
        &self.hosts.recorder
    }

    fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.hosts.recorder
    }

    fn measures(&self) -> Vec<(&'static Measure, f64)> {
        self.details().measures(&self.hosts.message_latency)
    }

    fn view(&self) -> Option<&dyn View> {
        Some(self)
    }

    fn observe(&mut self) {
        self.hosts.recorder.observe();
        self.crossed.resize(self.ports.len(), 0);
    }
}

impl Ethernet for Fast {
    fn details(&self) -> Details {
        let ports = self.ports.iter().map(|state| (&state.counts, self.area(state)));
        let totals = Totals { pauses: self.pauses, ..self.hosts.totals() };
        port::details(&self.wiring, self.now, totals, ports)
    }

    fn message_latency(&self) -> &Distribution {
        &self.hosts.message_latency
    }

    fn copies_in_flight(&self) -> u64 {
        let mut count = 0;
        self.calendar.visit(|event| count += u64::from(event.order & KIND == COMPLETE));
        for state in &self.ports {
            let frames = state.line.iter().map(|&(_, slot)| &self.frames[slot].frame);
            count += (frames.filter(|frame| is_of_hosts(frame)).count() + state.queue.len()) as u64;
        }
        count
    }

    fn capture(&mut self, sites: &[Site], observer: Box<dyn Capture>) {
        self.taps = Taps::new(&self.wiring, sites, observer);
    }
}

impl View for Fast {
    fn occupancy(&self, into: &mut Occupancy) {
        self.wiring.show(|port| self.ports[port].waiting(self.now) as u32, &self.crossed, into);
        into.waiting.extend((0..self.wiring.hosts as u32).map(|host| self.hosts.waiting(host)));
    }
}
