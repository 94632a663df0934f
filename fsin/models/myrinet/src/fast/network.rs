//! The fast engine as a network.

use fsin_core::network::{Injected, Measure, Network, NetworkFailure, Notices, STEPS};
use fsin_core::stats::{Distribution, Recorder};
use fsin_core::view::{Occupancy, View};
use trgen::{Cycle, Message};

use super::Fast;
use crate::params::{END, TICKS};
use crate::rules::hosts::sort;
use crate::{Details, Event, Myrinet, PortDetails};

impl Fast {
    /// In an empty network, accounts for all BEATs up to time `until` \[ticks\] at once.
    fn skip_beats(&mut self, until: u64) {
        let period = self.params.beat * TICKS;
        if self.next_beat > until || self.calendar.next_at() < u64::MAX || self.hosts.in_flight > 0 {
            return;
        }
        let count = (until - self.next_beat) / period + 1;
        let last = self.next_beat + (count - 1) * period;
        self.next_beat = last + period;
        self.hosts.totals.beats += count * self.outputs.len() as u64;
        self.outputs.iter_mut().for_each(|output| output.free = last + self.character);
    }
}

impl Network for Fast {
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
            self.try_start(self.wires.host_port(message.source.0), self.now);
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
        self.crossed.resize(self.outputs.len(), 0);
    }
}

impl Myrinet for Fast {
    fn details(&self) -> Details {
        let (now, character) = (self.now, self.character);
        let ports = self.outputs.iter().zip(&self.inputs);
        let ports = self.wires.links().iter().zip(ports).map(|(link, (output, input))| {
            let run = self.departures(input);
            let come = input.run.sum(input.run.until(now, character), character);
            let gone = run.sum(run.until(now, character), character);
            let area = input.area - come + gone + i128::from(self.held(input, now)) * i128::from(now);
            PortDetails {
                node: self.wires.node(link.owner as usize),
                is_host: self.wires.is_host(link.owner),
                port: link.number.into(),
                moved: output.moved + u64::from(output.run.until(now, character)),
                stops: output.stops,
                gos: output.gos,
                stopped: output.stopped + if output.is_stopped { now - output.stopped_at } else { 0 },
                slack_max: input.max.max(self.max_held(input, now + 1)),
                slack_area: area.unsigned_abs(),
            }
        });
        let (elapsed, totals) = (now, self.hosts.totals);
        Details { elapsed, character, totals, ports: ports.collect() }
    }

    fn message_latency(&self) -> &Distribution {
        &self.hosts.message_latency
    }

    fn events(&mut self) -> Vec<Event> {
        self.hosts.events.replace(Vec::new()).unwrap_or_default()
    }
}

impl View for Fast {
    fn occupancy(&self, into: &mut Occupancy) {
        self.wires.show(|port| self.held(&self.inputs[port], self.now) as u32, &self.crossed, into);
        into.waiting.extend((0..self.wires.hosts as u32).map(|host| self.hosts.waiting(host)));
    }
}
