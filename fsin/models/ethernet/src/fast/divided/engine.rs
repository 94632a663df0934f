//! A network on several threads, as the common part of engines sees it.

use std::borrow::Cow;

use fsin_core::network::Notices;

use super::Divided;
use super::apart::Apart;
use crate::engine::{Base, Events, PortSnapshot};
use crate::fast::Fast;
use crate::rules::lengths::Lengths;
use crate::rules::port::Counts;
use crate::rules::tally::Tally;

impl Divided {
    /// Some number, summed over hosts and switches.
    fn sum(&self, of_hosts: u64, of_part: impl Fn(&Fast<Apart>) -> u64) -> u64 {
        of_hosts + self.parts.parts().iter().map(|part| of_part(&part.fast)).sum::<u64>()
    }

    /// What is counted at a port: at its device, and where its link ends.
    fn counts(&self, port: usize) -> Counts {
        let mut sum = self.hosts.ports[port].counts;
        for part in self.parts.parts() {
            let Counts { frames, busy, dropped, tied, trimmed, damaged, longest } = part.fast.ports[port].counts;
            sum.frames += frames;
            sum.busy += busy;
            sum.dropped += dropped;
            sum.tied += tied;
            sum.trimmed += trimmed;
            sum.damaged += damaged;
            sum.longest = sum.longest.max(longest);
        }
        sum
    }
}

impl Events for Divided {
    const LOOKS_AHEAD: bool = false;

    fn base(&self) -> &Base {
        &self.hosts.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.hosts.base
    }

    fn next_at(&mut self, until: u64) -> Option<u64> {
        let until = until.min(self.hosts.base.alive.next_at().unwrap_or(u64::MAX));
        loop {
            if let Some(done) = self.one_by_one {
                let ((at, _), _) = self.next_of_all().filter(|((at, _), _)| *at < until)?;
                // Windows begin at a new instant, and only where there is time for them.
                if at < done || self.latest() < at.saturating_add(self.lookahead[0]) {
                    self.one_by_one = Some(at + 1);
                    return Some(at);
                }
                (self.one_by_one, self.bound, self.ahead) = (None, at, at);
            }
            let next = self.next_of_hosts().map(|(at, _)| at).filter(|&at| at < until.min(self.bound));
            if next.is_some() || until <= self.bound || !self.begin_window(until - 1) {
                return next;
            }
        }
    }

    fn step(&mut self, notices: &mut Notices) {
        if self.one_by_one.is_some() { self.step_one(notices) } else { self.step_hosts(notices) }
    }

    fn serve_hosts(&mut self) {
        self.hosts.serve_hosts();
        if self.one_by_one.is_some() {
            self.deliver();
        }
    }

    fn settle(&mut self) {
        self.collect();
        let base = &self.hosts.base;
        // A failure ends the run within an instant.
        self.catch_up(if base.failure.is_some() { self.last } else { (base.now, u64::MAX) });
    }

    fn count_crossings(&mut self) {
        let ports = self.hosts.base.wiring.links.len();
        self.hosts.base.crossed.resize(ports, 0);
        self.parts.parts_mut().iter_mut().for_each(|part| part.fast.base.crossed.resize(ports, 0));
    }

    fn renew(&mut self) {
        self.deliver();
        let base = &self.hosts.base;
        // A deadlock that the change makes is found at once: what the change itself counts belongs to the run.
        self.last = (base.now, 0);
        for part in self.parts.parts_mut() {
            let of_part = &mut part.fast.base;
            of_part.now = base.now;
            of_part.alive.advance();
            of_part.tables.clone_from(&base.tables);
            of_part.hosts.changes = base.hosts.changes;
            of_part.hosts.moment = (base.now, 0);
        }
    }

    fn cut(&mut self, port: usize, notices: &mut Notices) {
        let (here, there) = (self.part_of(port), self.part_of_device(self.hosts.base.wiring.links[port].device));
        // Frames on the link are at its end.
        let line = match there {
            Some(part) => self.parts.parts_mut()[part].fast.take_line(port),
            None => self.hosts.take_line(port),
        };
        let waiting = match here {
            Some(part) => self.parts.parts_mut()[part].fast.cut_queue(port, &line),
            None => self.hosts.cut_queue(port, &line),
        };
        match there {
            Some(part) => {
                self.parts.parts_mut()[part].fast.lose_line(line, notices);
                self.tell_of(part, notices);
            }
            None => self.hosts.lose_line(line, notices),
        }
        if let Some(part) = here {
            self.parts.parts_mut()[part].fast.lose_queue(waiting, notices);
            self.tell_of(part, notices);
        }
        self.deliver();
        // Frames that were known to be on a link may be gone.
        let now = self.hosts.base.now;
        let borders =
            self.parts.parts_mut().iter_mut().map(|part| &mut part.fast.border).chain([&mut self.hosts.border]);
        borders.flatten().for_each(|border| border.latest = border.latest.min(now));
    }

    fn resume(&mut self, port: usize) {
        match self.part_of(port) {
            Some(part) => self.parts.parts_mut()[part].fast.resume_port(port),
            None => self.hosts.resume_port(port),
        }
        self.deliver();
    }

    /// In windows some frame is always on a link.
    fn is_moving(&self) -> bool {
        self.one_by_one.is_none() || self.sum(self.hosts.moving - self.hosts.stops, |part| part.moving - part.stops) > 0
    }

    fn port(&self, port: usize) -> PortSnapshot {
        let counts = self.counts(port);
        let Some(part) = self.part_of(port) else {
            return PortSnapshot { counts, ..self.hosts.port(port) };
        };
        let fast = &self.parts.parts()[part].fast;
        let (now, state, apart) = (self.hosts.base.now, &fast.ports[port], &fast.base.hosts);
        let (waiting, area) = if fast.base.params.has_queues() {
            let length = apart.lengths[port];
            (length, state.area + length as u128 * u128::from(now - state.changed))
        } else {
            let ahead = apart.begins[port].iter().filter(|&&begin| begin > now);
            (ahead.clone().count(), state.area - ahead.map(|begin| u128::from(begin - now)).sum::<u128>())
        };
        PortSnapshot {
            counts,
            waiting,
            area,
            ready: fast.ready(port),
            paused: fast.paused(port),
            has_control: fast.has_control(port),
        }
    }

    fn pauses(&self) -> u64 {
        self.sum(self.hosts.base.pauses, |part| part.base.pauses)
    }

    fn crossed(&self) -> Cow<'_, [u64]> {
        let mut sum = self.hosts.base.crossed.clone();
        for part in self.parts.parts() {
            sum.iter_mut().zip(&part.fast.base.crossed).for_each(|(sum, more)| *sum += more);
        }
        Cow::Owned(sum)
    }

    fn lengths(&self, port: usize) -> Option<Lengths> {
        let Some(part) = self.part_of(port) else { return self.hosts.lengths(port) };
        let fast = &self.parts.parts()[part].fast;
        let mut lengths = fast.base.lengths.get(port)?.clone();
        match fast.base.params.has_queues() {
            true => lengths.spend(fast.base.hosts.lengths[port], self.hosts.base.now),
            false => lengths.catch_up(self.hosts.base.now),
        }
        Some(lengths)
    }

    fn holds(&self, input: usize, output: usize, class: u8) -> bool {
        self.part_of(output).is_some_and(|part| self.parts.parts()[part].fast.has_held(input, output, class))
    }

    /// Of each port and switch, what its part has counted.
    fn tally(&self) -> Cow<'_, Tally> {
        let mut all = self.hosts.base.tally.clone();
        let wiring = &self.hosts.base.wiring;
        for (port, of) in all.ports.iter_mut().enumerate() {
            if let Some(part) = self.part_of(port) {
                *of = self.parts.parts()[part].fast.base.tally.ports[port];
            }
        }
        for (switch, of) in all.switches.iter_mut().enumerate() {
            if let Some(part) = self.part_of_device((wiring.hosts + switch) as u32) {
                *of = self.parts.parts()[part].fast.base.tally.switches[switch];
            }
        }
        Cow::Owned(all)
    }

    /// Those that were sent or copied, and have come to no end: switches are ahead of the clock.
    fn copies(&self) -> u64 {
        let totals = self.hosts.base.hosts.totals();
        let at_ports: u64 = (0..self.hosts.ports.len())
            .map(|port| self.counts(port))
            .map(|counts| counts.dropped + counts.damaged)
            .sum();
        let ended = totals.frames_received + totals.copies_filtered + totals.lost_on_dead_links + at_ports;
        totals.frames_sent + totals.copies_made - ended
    }
}
