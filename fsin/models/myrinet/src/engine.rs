//! Both engines as networks: the state that they share, and the passing of time from instant to instant.

use std::sync::Arc;

use fsin_core::engine::Engine;
use fsin_core::messages::Messages;
use fsin_core::network::{Injected, Measure, NetworkFailure, Notices};
use fsin_core::stats::Distribution;
use fsin_core::topology::Topology;
use fsin_core::view::Occupancy;
use trgen::catalog::SpecError;
use trgen::{Cycle, Message};

use crate::params::{END, Params, TICKS};
use crate::rules::damage::Arriving;
use crate::rules::hosts::Hosts;
use crate::rules::wires::Wires;
use crate::{Details, Event, Myrinet, PortDetails};

/// The state that every engine has.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) params: Params,
    pub(crate) wires: Wires,
    pub(crate) hosts: Hosts,
    /// \[ps\] Time up to which everything is simulated.
    clock: u64,
    /// \[ticks\] The same time as `clock`, but never later than the end of time.
    now: u64,
    /// \[ticks\] Time of a character where all links have one rate, else that of usual links.
    pub(crate) character: u64,
    /// \[ticks\] Where all links have one rate: time from the arrival of a character at a switch until it may leave.
    pub(crate) ready: u64,
    /// \[ticks\] Time of the next BEATs.
    pub(crate) next_beat: u64,
    /// Packets that come off links which are dead at times.
    pub(crate) arriving: Arriving,
    /// \[packets\] By port: packets on its link, if that is a link of the topology, since observation began.
    crossed: Vec<u64>,
}

impl Base {
    /// The state of an empty network. Checks the sizes of slack buffers if `is_checked`.
    pub(crate) fn new(topology: &Arc<dyn Topology>, params: Params, is_checked: bool) -> Result<Self, SpecError> {
        let (wires, hosts) = crate::prepare(topology, &params, is_checked)?;
        let usual = params.character();
        let character = if wires.are_alike() { wires.characters.first().copied().unwrap_or(usual) } else { usual };
        Ok(Self {
            hosts,
            clock: 0,
            now: 0,
            character,
            ready: if params.store_character { character } else { 0 },
            next_beat: params.beat * TICKS,
            arriving: Arriving::default(),
            crossed: Vec::new(),
            params,
            wires,
        })
    }

    /// Counts a packet whose first character has begun on a link.
    pub(crate) fn cross(&mut self, port: usize) {
        if self.wires.links()[port].is_visible && !self.wires.dead[port] {
            self.hosts.messages.recorder.hops(1);
            if let Some(crossed) = self.crossed.get_mut(port) {
                *crossed += 1;
            }
        }
    }
}

/// An engine: what happens at an instant. The methods of [`Simulated`] call it.
pub(crate) trait Instants: std::fmt::Debug + Send {
    fn base(&self) -> &Base;

    fn base_mut(&mut self) -> &mut Base;

    /// \[ticks\] The next instant for which an event is scheduled; [`u64::MAX`] if there is none.
    fn next_event(&mut self) -> u64;

    /// Simulates everything that happens at an instant.
    fn process(&mut self, at: u64, notices: &mut Notices);

    /// Lets the channel of a host begin what it has to send, if it is free.
    fn begin(&mut self, port: usize, at: u64);

    /// Records that all channels of the empty network have begun a BEAT at instant `at`.
    fn free_all(&mut self, at: u64);

    /// The counts of a port up to instant `now`; `of` has its place.
    fn port(&self, port: usize, now: u64, of: PortDetails) -> PortDetails;

    /// \[characters\] Content of the slack buffer of a port at instant `now`.
    fn held(&self, port: usize, now: u64) -> u32;
}

/// An engine in simulated time.
#[derive(Debug)]
pub(crate) struct Simulated<E>(pub(crate) E);

impl<E: Instants> Simulated<E> {
    /// In an empty network, accounts for all BEATs up to time `until` \[ticks\] at once.
    fn skip_beats(&mut self, until: u64) {
        let base = self.0.base();
        if base.next_beat > until || base.hosts.messages.in_flight() > 0 || self.0.next_event() < u64::MAX {
            return;
        }
        let base = self.0.base_mut();
        let period = base.params.beat * TICKS;
        let count = (until - base.next_beat) / period + 1;
        let last = base.next_beat + (count - 1) * period;
        base.next_beat = last + period;
        base.hosts.totals.beats += count * base.wires.links().len() as u64;
        self.0.free_all(last);
    }

    /// \[ticks\] The next instant at which something happens; at the latest that after which no BEAT is skipped.
    #[inline]
    fn next_instant(&mut self, end: u64) -> u64 {
        self.skip_beats(end);
        let base = self.0.base_mut();
        let deadline = base.hosts.next_deadline().unwrap_or(u64::MAX).min(base.next_beat);
        let change = base.hosts.reconfiguration.next_change(u64::MAX);
        let change = if change < u64::MAX { (change - 1).saturating_mul(TICKS) } else { u64::MAX };
        self.0.next_event().min(deadline).min(change)
    }

    /// Simulates everything that happens at an instant, where links die and are repaired during the run.
    #[cold]
    fn process_planned(&mut self, at: u64, notices: &mut Notices) {
        self.0.base_mut().hosts.change(at);
        self.0.process(at, notices);
        if self.0.base_mut().hosts.renew(at, notices) {
            for host in 0..self.0.base().wires.hosts as u32 {
                let port = self.0.base().wires.host_port(host);
                self.0.begin(port, at);
            }
        }
    }
}

impl<E: Instants> Engine for Simulated<E> {
    type More = u64;

    fn messages(&self) -> &Messages<u64> {
        &self.0.base().hosts.messages
    }

    fn messages_mut(&mut self) -> &mut Messages<u64> {
        &mut self.0.base_mut().hosts.messages
    }

    fn clock(&self) -> Cycle {
        Cycle(self.0.base().clock + 1)
    }

    fn last(&self) -> Cycle {
        Cycle(END / TICKS)
    }

    /// A cycle is a picosecond, and figures count them from 0.
    fn instant(&self, clock: Cycle) -> Cycle {
        clock - 1
    }

    fn inject(&mut self, message: Message) -> Injected {
        let base = self.0.base_mut();
        let (outcome, now) = (base.hosts.inject(message, base.now), base.now);
        if outcome == Injected::Accepted {
            let port = base.wires.host_port(message.source.0);
            self.0.begin(port, now);
        }
        outcome
    }

    fn step(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        let clock = until.0 - 1;
        let end = clock.saturating_mul(TICKS).min(END);
        let mut at = self.next_instant(end);
        if at > end {
            let base = self.0.base_mut();
            (base.now, base.clock) = (end, clock);
            return Ok(());
        }
        let end = at.next_multiple_of(TICKS).min(end);
        while at <= end {
            match self.0.base().hosts.reconfiguration.is_planned() {
                true => self.process_planned(at, notices),
                false => self.0.process(at, notices),
            }
            at = self.next_instant(end);
        }
        let base = self.0.base_mut();
        (base.now, base.clock) = (end, end / TICKS);
        Ok(())
    }

    fn count_crossings(&mut self) {
        let base = self.0.base_mut();
        base.crossed.resize(base.wires.links().len(), 0);
    }

    fn show(&self, into: &mut Occupancy) {
        let Base { wires, hosts, crossed, now, .. } = self.0.base();
        wires.show(|port| self.0.held(port, *now), crossed, into);
        into.waiting.extend((0..wires.hosts as u32).map(|host| hosts.waiting(host)));
    }

    fn figures(&self) -> Vec<(&'static Measure, f64)> {
        let mut figures = self.details().measures(self.message_latency());
        figures.extend(self.0.base().hosts.reconfiguration.measures());
        figures
    }
}

impl<E: Instants> Myrinet for Simulated<E> {
    fn details(&self) -> Details {
        let Base { wires, hosts, now, character, .. } = self.0.base();
        let ports = wires.links().iter().enumerate().map(|(port, link)| {
            let (node, is_host) = (wires.node(link.owner as usize), wires.is_host(link.owner));
            let character = wires.characters[port];
            let of = PortDetails { node, is_host, port: link.number as usize, character, ..PortDetails::default() };
            self.0.port(port, *now, of)
        });
        Details { elapsed: *now, character: *character, totals: hosts.totals, ports: ports.collect() }
    }

    fn message_latency(&self) -> &Distribution {
        &self.0.base().hosts.message_latency
    }

    fn events(&mut self) -> Vec<Event> {
        self.0.base_mut().hosts.events.replace(Vec::new()).unwrap_or_default()
    }
}
