//! The reference engine as a network.

use fsin_core::network::{Deadlock, Injected, Measure, Network, NetworkFailure, Notices};
use fsin_core::stats::{Distribution, Recorder};
use fsin_core::view::{Occupancy, View};
use trgen::{Cycle, Message};

use super::{Reference, What};
use crate::capture::{Capture, Site};
use crate::rules::hosts::sort;
use crate::rules::port::{self, Taps, is_of_hosts};
use crate::rules::wait::cyclic_wait;
use crate::{Details, Ethernet};

impl Reference {
    /// True if no frame is on a link, none can be sent, and some wait at paused ports: they will wait for ever.
    fn is_deadlocked(&self) -> bool {
        let is_moving = |what: &What| matches!(what, What::Arrive { .. } | What::Complete { .. });
        if !self.params.pause || self.hosts.in_flight == 0 || self.events.iter().any(|event| is_moving(&event.what)) {
            return false;
        }
        let owner = |port: usize| Some(self.wiring.links[port].owner).filter(|&owner| self.wiring.is_host(owner));
        let waits = |port: usize| {
            !self.ports[port].queue.is_empty() || owner(port).is_some_and(|host| self.hosts.has_next(host))
        };
        let can_send = |port: usize| {
            let state = &self.ports[port];
            let is_ending = owner(port).is_some_and(|host| self.hosts.is_ending(host));
            state.wants_pause != state.told_pause || is_ending || !state.is_paused && waits(port)
        };
        let ports = 0..self.ports.len();
        !ports.clone().any(can_send) && ports.into_iter().any(waits)
    }

    fn deadlock(&self) -> NetworkFailure {
        let is_blocked = |port: usize| self.ports[port].is_paused && !self.ports[port].queue.is_empty();
        let from = |input: usize, output: usize| {
            self.ports[output].queue.iter().any(|&(_, held)| self.held[held].input == input)
        };
        let cycle = cyclic_wait(&self.wiring, is_blocked, from);
        Deadlock { since: Cycle(self.last_moved), in_flight: self.hosts.in_flight, cycle }.into()
    }
}

impl Network for Reference {
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
            if self.failure.is_none() && self.is_deadlocked() {
                self.failure = Some(self.deadlock());
            }
            if let Some(failure) = &self.failure {
                sort(notices);
                return Err(failure.clone());
            }
            let next = self.next_event().filter(|&next| self.events[next].at < until.0);
            let Some(next) = next.filter(|&next| notices.is_empty() || self.events[next].at <= self.now) else { break };
            let event = self.events.swap_remove(next);
            self.now = event.at;
            if matches!(event.what, What::Arrive { .. } | What::Complete { .. }) {
                self.last_moved = event.at;
            }
            self.happen(event.what, notices);
        }
        if notices.is_empty() {
            self.now = self.now.max(until.0.saturating_sub(1));
        }
        sort(notices);
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

impl Ethernet for Reference {
    fn details(&self) -> Details {
        let ports = self.ports.iter().map(|state| {
            let since = u128::from(self.now - state.changed);
            (&state.counts, state.area + state.queue.len() as u128 * since)
        });
        let totals = crate::Totals { pauses: self.pauses, ..self.hosts.totals() };
        port::details(&self.wiring, self.now, totals, ports)
    }

    fn message_latency(&self) -> &Distribution {
        &self.hosts.message_latency
    }

    fn copies_in_flight(&self) -> u64 {
        let underway = self.events.iter().filter(|event| match &event.what {
            What::Arrive { frame, .. } | What::Complete { frame, .. } => is_of_hosts(frame),
            What::Free { .. } | What::Timer { .. } | What::Wake { .. } => false,
        });
        let waiting: usize = self.ports.iter().map(|state| state.queue.len()).sum();
        (underway.count() + waiting) as u64
    }

    fn capture(&mut self, sites: &[Site], observer: Box<dyn Capture>) {
        self.taps = Taps::new(&self.wiring, sites, observer);
    }
}

impl View for Reference {
    fn occupancy(&self, into: &mut Occupancy) {
        self.wiring.show(|port| self.ports[port].queue.len() as u32, &self.crossed, into);
        into.waiting.extend((0..self.wiring.hosts as u32).map(|host| self.hosts.waiting(host)));
    }
}
