//! One network on several threads: the hosts on the caller's thread, and parts of the switches ahead of them.
//!
//! Sources react to what hosts tell them at once, so hosts and sources stay together on one thread, and in the order of
//! time. Switches act on each other and on hosts through links only, and whatever crosses a link takes at least the
//! time of its shortest frame (of a header, where the other end is a cut-through switch) and its propagation delay: the
//! lookahead. The other way there is none: a host can learn at the same instant that a switch has dropped its frame,
//! and send it again. So switches are simulated first.
//!
//! # Windows
//! Hosts have been simulated up to time H, switches up to a later time S: hosts know all that comes to them, and all
//! losses, up to S. While hosts are simulated from H to S, threads simulate the switches from S to S'. What hosts send
//! meanwhile reaches switches no earlier than a lookahead after H, what parts of switches send each other no earlier
//! than a lookahead after S; S' is the earlier of both. Where nothing happens at H or S, the next event takes its
//! place. Where threads are at work, a window is half a lookahead at most: after a longer one the next would be empty,
//! and hosts and switches would be simulated by turns.
//!
//! # What is exact
//! Each part simulates its events in the order of the whole network's, and hosts take arrivals and losses in that order
//! too. What ports count (frames, lengths of queues) is kept by the moment of its event, and counted when the clock of
//! hosts has passed it: so results at any instant, and after any failure, are those of one thread.
//!
//! Links die and are repaired between two windows. A deadlock of flow control is found at the instant when the last
//! frame leaves the links: where no frame is known to be on a link during a whole window, all events are simulated one
//! by one, on the caller's thread.
//!
//! Decision: docs/decisions/0305-ethernet-on-threads.md.

use std::collections::VecDeque;

use fsin_core::network::Notices;
use fsin_core::parallel::{Division, Partitioned};

use super::Fast;
use super::border::{Border, Crossing, HERE};
use super::side::HostSide;
use crate::engine::Base;
use crate::params::{Params, Switching};
use crate::rules::hosts::Hosts;
use crate::rules::wiring::Link;

mod apart;
mod engine;
mod part;
mod shares;

use apart::{Apart, Fate, Moment};
use part::{Part, Report};

/// Number of events of switches in a window, on average of the last two, from which on it pays to wake the threads.
pub(crate) const EVENTS_WORTH_THREADS: u64 = 24;

/// \[ps\] The time that a frame takes at least from the beginning of its transmission until it arrives, or its header.
fn lookahead(link: &Link, params: &Params) -> u64 {
    let whole = link.time(params.frames.shortest() as u16);
    let is_by_header = params.switching == Switching::CutThrough && link.is_to_switch;
    link.delay + if is_by_header { whole.min(link.header()) } else { whole }
}

/// The engine of a network on several threads.
#[derive(Debug)]
pub(super) struct Divided {
    /// The hosts.
    hosts: Fast<Hosts>,
    /// The switches.
    parts: Partitioned<Part>,
    /// By device: the part of a switch; the number of parts for a host.
    sides: Vec<u32>,
    /// What has become of copies of frames and hosts have to be told later, in order.
    fates: VecDeque<(Moment, Fate)>,
    /// \[ps\] Hosts can be simulated up to this time.
    bound: u64,
    /// \[ps\] Switches are simulated up to this time, or are being.
    ahead: u64,
    /// \[ps\] The least time that a frame takes from a host to a switch, and from one part to another.
    lookahead: [u64; 2],
    /// Number of events in a window, on average of two, from which on threads are woken for the next one.
    worth: u64,
    /// Number of events of switches in the last window, and in the one before.
    events: [u64; 2],
    /// The last moment of which hosts have been told something.
    last: Moment,
    /// \[ps\] Where all events are simulated one by one: those before this time have been.
    one_by_one: Option<u64>,
}

impl Divided {
    /// An empty network on `threads` threads, at least 2, of which no more are used than there are switches and hosts
    /// to divide.
    pub(super) fn new(mut base: Base, threads: usize, worth: u64) -> Self {
        let parts = threads.clamp(2, base.wiring.switches + 1);
        let sides = shares::sides(&mut base, parts);
        let side_of = |device: u32| sides[device as usize];
        let border = |own: u32| {
            let there = |link: &Link| Some(side_of(link.device)).filter(|&side| side != own).unwrap_or(HERE);
            Some(Box::new(Border::new(base.wiring.links.iter().map(there).collect(), parts + 1)))
        };
        let least = |from_hosts: bool| {
            let crosses = |link: &&Link| {
                base.wiring.is_host(link.owner) == from_hosts && side_of(link.owner) != side_of(link.device)
            };
            let crossing = base.wiring.links.iter().filter(crosses);
            crossing.map(|link| lookahead(link, &base.params)).min().unwrap_or(u64::MAX)
        };
        let lookahead = [least(true), least(false)];
        let ports = base.wiring.links.len();
        let part = |own: usize| {
            let mut fast = Fast::new(base.with_hosts(Apart::new(ports)));
            fast.border = border(own as u32);
            Box::new(Part::new(fast, parts))
        };
        let division = Division::new(parts, parts, false);
        let parts_of_switches = (0..parts).map(part).collect();
        let of_hosts = border(parts as u32);
        let mut hosts = Fast::new(base);
        hosts.border = of_hosts;
        Self {
            hosts,
            parts: Partitioned::new(division, parts_of_switches),
            sides,
            fates: VecDeque::new(),
            bound: 0,
            ahead: 0,
            lookahead,
            worth,
            events: [0; 2],
            last: (0, 0),
            one_by_one: None,
        }
    }

    /// The part to which a port belongs; `None` for a port of a host.
    fn part_of(&self, port: usize) -> Option<usize> {
        self.part_of_device(self.hosts.base.wiring.links[port].owner)
    }

    /// The part to which a device belongs; `None` for a host.
    fn part_of_device(&self, device: u32) -> Option<usize> {
        let side = self.sides[device as usize] as usize;
        (side < self.parts.division().parts).then_some(side)
    }

    /// The next moment at which something happens at a host, or it is told something.
    fn next_of_hosts(&mut self) -> Option<Moment> {
        let told = self.fates.front().map(|(moment, _)| *moment);
        self.hosts.calendar.first().map(|event| (event.at, event.order)).into_iter().chain(told).min()
    }

    /// Waits for the switches, and takes what they report.
    fn collect(&mut self) {
        let Self { hosts, parts, events, fates, .. } = self;
        let mut fresh = Vec::new();
        parts.settle(&mut |report, _| read(report, hosts, &mut fresh, &mut events[0]));
        append(fates, fresh);
    }

    /// Lets hosts be simulated up to the time that switches have reached, and begins to simulate the switches in the
    /// next window. No message is injected before time `least`. Returns false if nothing happens any more.
    fn begin_window(&mut self, least: u64) -> bool {
        self.collect();
        self.bound = self.ahead;
        let at_hosts = self.next_of_hosts().map_or(u64::MAX, |(at, _)| at);
        let sent = self.hosts.border.as_ref().map_or(u64::MAX, |border| border.first);
        let of_parts = self.parts.parts().iter().filter_map(|part| part.next()).min();
        let at_switches = of_parts.unwrap_or(u64::MAX).min(sent);
        if at_hosts.min(at_switches) == u64::MAX {
            return false;
        }
        let base = &self.hosts.base;
        let hosts_send = at_hosts.min(at_switches).min(least);
        let change = base.alive.next_at().unwrap_or(u64::MAX);
        let [from_hosts, between] = self.lookahead;
        let mut until = hosts_send.saturating_add(from_hosts).min(at_switches.saturating_add(between)).min(change);
        let is_worth = self.events.iter().sum::<u64>() >= self.worth.saturating_mul(2);
        if is_worth {
            // Hosts and switches advance at the same time only if no window takes the whole lookahead.
            let begin = self.ahead.max(at_hosts.min(at_switches));
            until = until.min(begin.saturating_add(from_hosts.div_ceil(2)));
        }
        if base.can_pause {
            let latest = self.latest();
            until = until.min(latest);
            // Nothing is left to do before that time, and the clock has reached it.
            if latest <= self.ahead && at_hosts >= self.bound && least >= self.bound {
                self.deliver();
                self.one_by_one = Some(self.bound);
                return true;
            }
        }
        if until > self.ahead {
            self.run_switches(until, is_worth);
        }
        true
    }

    /// Begins to simulate the switches up to time `until`, on all threads if that `is_worth` it.
    fn run_switches(&mut self, until: u64, is_worth: bool) {
        self.ahead = until;
        let Self { hosts, parts, events, fates, .. } = self;
        for part in parts.parts_mut() {
            (part.until, part.passed) = (until, (hosts.base.now, 0));
        }
        if let Some(border) = &mut hosts.border {
            border.first = u64::MAX;
            for ((_, accepted), sent) in parts.with_accepted_mut().zip(&mut border.sent) {
                accepted.append(sent);
            }
        }
        *events = [0, events[0]];
        let mut fresh = Vec::new();
        parts.cycle(until, is_worth, true, &mut |report, _| read(report, hosts, &mut fresh, &mut events[0]));
        append(fates, fresh);
    }

    /// The border of a part, or of the hosts, whose number is that of the parts. The parts must be on the caller's
    /// thread.
    fn border(&mut self, side: usize) -> Option<&mut Border> {
        match self.parts.parts_mut().get_mut(side) {
            Some(part) => part.fast.border.as_deref_mut(),
            None => self.hosts.border.as_deref_mut(),
        }
    }

    /// \[ps\] Time up to which a frame is on a link, as far as is known.
    fn latest(&self) -> u64 {
        let borders = self.parts.parts().iter().map(|part| &part.fast.border).chain([&self.hosts.border]);
        borders.flatten().map(|border| border.latest).max().unwrap_or(0)
    }

    /// Delivers all frames that are on their way between hosts and parts. The parts must be on the caller's thread.
    fn deliver(&mut self) {
        self.parts.parts_mut().iter_mut().for_each(|part| part.open());
        for from in 0..=self.parts.division().parts {
            let Some(border) = self.border(from) else { continue };
            border.first = u64::MAX;
            let mut sent = std::mem::take(&mut border.sent);
            for (to, list) in sent.iter_mut().enumerate() {
                match self.parts.parts_mut().get_mut(to) {
                    Some(part) => list.drain(..).for_each(|crossing| part.fast.take_over(crossing)),
                    None => list.drain(..).for_each(|crossing| self.hosts.take_over(crossing)),
                }
            }
            // Emptied, with its memory.
            if let Some(border) = self.border(from) {
                border.sent = sent;
            }
        }
    }

    /// Counts what ports have counted up to a moment. The parts must be on the caller's thread.
    fn catch_up(&mut self, until: Moment) {
        for part in self.parts.parts_mut() {
            part.fast.catch_up(until);
            self.hosts.base.hosts.messages.recorder.hops(std::mem::take(&mut part.fast.base.hosts.hops));
        }
    }

    /// Tells hosts what has become of a copy of a frame.
    fn tell(&mut self, fate: Fate, now: u64, notices: &mut Notices) {
        let base = &mut self.hosts.base;
        match fate {
            Fate::Copied { unit, copies } => base.hosts.copy(unit, copies),
            Fate::Filtered { unit } => base.hosts.filter(unit, now, notices),
            Fate::Lost { unit } => base.hosts.lose(unit, now, notices),
            Fate::LostOnDeadLink { unit } => base.hosts.lose_on_dead_link(unit, now, notices),
            Fate::Stamped { unit, stamp } => base.hosts.stamp(unit, *stamp),
            Fate::Dropped { unit } => base.hosts.drop_copy(unit, now, notices),
            Fate::Failure(failure) => Hosts::fail(base, *failure),
        }
    }

    /// Tells hosts what part `part` has to tell them of the present instant.
    fn tell_of(&mut self, part: usize, notices: &mut Notices) {
        let now = self.hosts.base.now;
        for (_, fate) in std::mem::take(&mut self.parts.parts_mut()[part].fast.base.hosts.fates) {
            self.tell(fate, now, notices);
        }
    }

    /// Simulates the next moment of hosts.
    fn step_hosts(&mut self, notices: &mut Notices) {
        let Some(moment) = self.next_of_hosts() else { return };
        self.last = moment;
        if self.fates.front().is_none_or(|(told, _)| *told != moment) {
            if let Some(event) = self.hosts.calendar.pop() {
                self.hosts.process(&event, notices);
            }
            return;
        }
        while let Some((_, fate)) = self.fates.pop_front_if(|(told, _)| *told == moment) {
            self.tell(fate, moment.0, notices);
        }
        Hosts::serve(&mut self.hosts);
    }

    /// The next moment of the whole network, and the part in which it is; `None` for hosts. All frames must be
    /// [delivered](Self::deliver).
    fn next_of_all(&mut self) -> Option<(Moment, Option<usize>)> {
        let of_hosts = self.next_of_hosts().map(|moment| (moment, None));
        let parts = self.parts.parts_mut().iter_mut().enumerate();
        let of_parts = parts.filter_map(|(number, part)| {
            let event = part.fast.calendar.first()?;
            Some(((event.at, event.order), Some(number)))
        });
        of_parts.chain(of_hosts).min_by_key(|(moment, _)| *moment)
    }

    /// Simulates the next event of the whole network.
    fn step_one(&mut self, notices: &mut Notices) {
        match self.next_of_all() {
            Some((moment, Some(number))) => {
                self.last = moment;
                let part = &mut self.parts.parts_mut()[number];
                part.step(u64::MAX);
                let moved = part.fast.base.last_moved;
                self.hosts.base.last_moved = self.hosts.base.last_moved.max(moved);
                self.tell_of(number, notices);
                Hosts::serve(&mut self.hosts);
            }
            _ => self.step_hosts(notices),
        }
        self.deliver();
        self.catch_up((u64::MAX, u64::MAX));
    }
}

/// Takes a report: the frames for hosts, what they are to be told, and the number of events.
fn read(report: &mut Report, hosts: &mut Fast, fates: &mut Vec<(Moment, Fate)>, events: &mut u64) {
    fates.append(&mut report.fates);
    report.frames.drain(..).for_each(|crossing: Crossing| hosts.take_over(crossing));
    *events += std::mem::take(&mut report.events);
}

/// Appends what parts have told of a window, in the order of moments.
fn append(fates: &mut VecDeque<(Moment, Fate)>, mut fresh: Vec<(Moment, Fate)>) {
    // Of one moment, what happens stays in its order.
    fresh.sort_by_key(|(moment, _)| *moment);
    fates.extend(fresh);
}
