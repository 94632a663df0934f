//! The reference engine as a network.

use fsin_core::network::{Injected, Measure, Network, NetworkFailure, Notices, STEPS};
use fsin_core::stats::{Distribution, Recorder};
use fsin_core::view::{Occupancy, View};
use trgen::{Cycle, Message};

use super::Reference;
use crate::params::{END, TICKS};
use crate::rules::hosts::sort;
use crate::{Details, Event, Myrinet, PortDetails};

impl Reference {
    /// In an empty network, accounts for all BEATs up to time `until` \[ticks\] at once.
    fn skip_beats(&mut self, until: u64) {
        let period = self.params.beat * TICKS;
        if self.next_beat > until || !self.events.is_empty() || self.hosts.in_flight > 0 {
            return;
        }
        let count = (until - self.next_beat) / period + 1;
        let last = self.next_beat + (count - 1) * period;
        self.next_beat = last + period;
        self.hosts.totals.beats += count * self.ports.len() as u64;
        self.ports.iter_mut().for_each(|port| port.free = last + self.character);
    }
}

impl Network for Reference {
    fn nodes(&self) -> usize {
        self.wires.hosts
    }

    fn clock(&self) -> Cycle {
        Cycle(self.clock + 1)
    }

    fn last(&self) -> Cycle {
        Cycle(END / TICKS)
    }

    fn inject(&mut self, message: Message) -> Injected {
        let outcome = self.hosts.inject(message, self.now);
        if outcome == Injected::Accepted {
            self.send(self.wires.host_port(message.source.0), self.now);
        }
        outcome
    }

    fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        notices.clear();
        let mut clock = self.clock.max(until.0.saturating_sub(1));
        let mut end = clock.saturating_mul(TICKS).min(END);
        let mut instants = 0;
        loop {
            self.skip_beats(end);
            let at = self.next_instant();
            if at > end {
                break;
            }
            self.process_instant(at, notices);
            instants += 1;
            if !notices.is_empty() || instants >= STEPS {
                end = end.min(at.next_multiple_of(TICKS));
                clock = end / TICKS;
            }
        }
        (self.now, self.clock) = (end, clock);
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

impl Myrinet for Reference {
    fn details(&self) -> Details {
        let ports = self.wires.links().iter().zip(&self.ports).map(|(link, port)| PortDetails {
            node: self.wires.node(link.owner as usize),
            is_host: self.wires.is_host(link.owner),
            port: link.number.into(),
            moved: port.moved,
            stops: port.stops,
            gos: port.gos,
            stopped: port.stopped + if port.is_stopped { self.now - port.stopped_at } else { 0 },
            slack_max: port.slack_max,
            slack_area: (port.area + port.slack.len() as i128 * i128::from(self.now)).unsigned_abs(),
        });
        let (elapsed, character, totals) = (self.now, self.character, self.hosts.totals);
        Details { elapsed, character, totals, ports: ports.collect() }
    }

    fn message_latency(&self) -> &Distribution {
        &self.hosts.message_latency
    }

    fn events(&mut self) -> Vec<Event> {
        self.hosts.events.replace(Vec::new()).unwrap_or_default()
    }
}

impl View for Reference {
    fn occupancy(&self, into: &mut Occupancy) {
        self.wires.show(|port| self.ports[port].slack.len() as u32, &self.crossed, into);
        into.waiting.extend((0..self.wires.hosts as u32).map(|host| self.hosts.waiting(host)));
    }
}
