//! The fast engine: a calendar of arrivals, and of ports only when a frame waits for them.
//!
//! What happens on a link is known when a transmission begins, so that a frame that waits nowhere costs one event for
//! each link. A port knows when it will be free; an event says so only if there is something to do then. Timers of
//! connections are not moved: one that goes off too early is set again.
//!
//! # Agreement
//! The [reference engine](crate::reference) defines every result; property tests hold that digests and all statistics
//! are equal, bit for bit.

use std::collections::VecDeque;

use fsin_core::network::{NetworkFailure, Notices, Storm};
use fsin_core::topology::Topology;
use trgen::catalog::SpecError;
use trgen::{Cycle, NodeId};

use crate::Ethernet;
use crate::capture::Direction;
use crate::params::{Params, Switching};
use crate::rules::forwarding::Tables;
use crate::rules::frame::{Control, Errors, Frame, MAX_WIRE, NONE, bit_time};
use crate::rules::hosts::Hosts;
use crate::rules::port::{Counts, Taps};
use crate::rules::slab::Slab;
use crate::rules::wait::loop_through;
use crate::rules::wiring::Wiring;

mod calendar;
mod network;

use calendar::{Calendar, Event};

/// An empty network.
///
/// # Errors
/// Settings that are out of range or do not fit the topology.
pub fn build(topology: &dyn Topology, params: Params) -> Result<Box<dyn Ethernet>, SpecError> {
    let (wiring, tables) = crate::prepare(topology, &params)?;
    Ok(Box::new(Fast::new(params, wiring, tables)))
}

// What the order of an event begins with: its kind. Then comes the port; the output and the input; the hosts.
const FREE: u64 = 0;
const ARRIVE: u64 = 1 << 62;
const COMPLETE: u64 = 2 << 62;
const TIMER: u64 = 3 << 62;
const KIND: u64 = 3 << 62;

/// \[bits\] Of an input behind an output, in the order of an event.
const INPUT_BITS: u32 = 31;
/// \[bits\] Of a host behind another one.
const HOST_BITS: u32 = 24;

/// A frame in a switch, until all its copies have left.
#[derive(Clone, Copy, Debug)]
struct Held {
    input: u32,
    copies: u32,
}

#[derive(Clone, Default, Debug)]
struct PortState {
    /// \[ps\] When its transmission and the gap behind it end.
    free_at: u64,
    /// An event will come when it is free.
    is_scheduled: bool,
    is_paused: bool,
    wants_pause: bool,
    told_pause: bool,
    is_host: bool,
    /// Frames in the switch that came through this port, with flow control.
    inside: u32,
    /// Frames and their [`Held`], which is [`NONE`] without flow control.
    queue: VecDeque<(Frame, u32)>,
    counts: Counts,
    area: u128,
    changed: u64,
}

#[derive(Debug)]
struct Fast {
    params: Params,
    wiring: Wiring,
    tables: Tables,
    errors: Errors,
    hosts: Hosts,
    now: u64,
    calendar: Calendar,
    /// Frames on links, and such of which the ends are on links.
    moving: u64,
    ports: Vec<PortState>,
    held: Slab<Held>,
    /// By connection: the instant of its next timer event.
    timers: Vec<u64>,
    pauses: u64,
    crossed: Vec<u64>,
    taps: Taps,
    failure: Option<NetworkFailure>,
    last_moved: u64,
    is_cut: bool,
    outputs: Vec<u32>,
}

impl Fast {
    fn new(params: Params, wiring: Wiring, tables: Tables) -> Self {
        let times = wiring.links.iter().map(|link| bit_time(8 * MAX_WIRE, link.rate));
        let span = wiring.links.iter().zip(times.clone()).map(|(link, time)| time + link.gap + link.delay).max();
        let ports: Vec<PortState> = wiring
            .links
            .iter()
            .map(|link| PortState { is_host: wiring.is_host(link.owner), ..PortState::default() })
            .collect();
        let spacing = times.min().unwrap_or(1) / (ports.len() as u64).max(1);
        Self {
            errors: Errors::new(params.seed, params.per),
            hosts: Hosts::new(&params, wiring.hosts, wiring.hidden_hops()),
            now: 0,
            calendar: Calendar::new(span.unwrap_or(1), spacing),
            moving: 0,
            ports,
            held: Slab::new(),
            timers: Vec::new(),
            pauses: 0,
            crossed: Vec::new(),
            taps: Taps::default(),
            failure: None,
            last_moved: 0,
            is_cut: params.switching == Switching::CutThrough,
            outputs: Vec::new(),
            params,
            wiring,
            tables,
        }
    }

    fn happen(&mut self, event: &Event, notices: &mut Notices) {
        match event.order & KIND {
            FREE => {
                let port = event.order as usize;
                self.ports[port].is_scheduled = false;
                if self.ports[port].is_host {
                    self.hosts.transmitted(self.wiring.links[port].owner, notices);
                }
                self.send(port);
            }
            ARRIVE => {
                self.moving -= 1;
                self.last_moved = event.at;
                self.arrive((event.order & !KIND) as usize, event.frame, notices);
            }
            COMPLETE => {
                self.moving -= 1;
                self.last_moved = event.at;
                let (output, frame) = ((event.order & !KIND) >> INPUT_BITS, event.frame);
                match frame.damaged_by {
                    NONE => self.enqueue(output as usize, frame, event.handle, notices),
                    by => {
                        self.ports[by as usize].counts.damaged += 1;
                        self.release(event.handle);
                        self.hosts.lose(frame.unit, notices);
                    }
                }
            }
            _ => self.timer(event.handle),
        }
        if !self.hosts.timers.is_empty() || !self.hosts.ready.is_empty() {
            self.serve_hosts();
        }
    }

    /// A timer event: the deadline may have moved, or gone.
    fn timer(&mut self, connection: u32) {
        if self.timers[connection as usize] != self.now {
            return;
        }
        self.timers[connection as usize] = u64::MAX;
        match self.hosts.timer(connection) {
            (_, _, Some(deadline)) if deadline <= self.now => self.hosts.time_out(connection, self.now),
            _ => self.hosts.timers.push(connection),
        }
    }

    /// Lets hosts send that may have become able to, and sets timers.
    fn serve_hosts(&mut self) {
        while let Some(connection) = self.hosts.timers.pop() {
            let at = connection as usize;
            if self.timers.len() <= at {
                self.timers.resize(at + 1, u64::MAX);
            }
            let (source, destination, deadline) = self.hosts.timer(connection);
            if let Some(deadline) = deadline.filter(|&deadline| deadline < self.timers[at]) {
                self.timers[at] = deadline;
                let order = TIMER | u64::from(source) << HOST_BITS | u64::from(destination);
                self.calendar.add(Event { at: deadline, order, frame: Frame::pause(false), handle: connection });
            }
        }
        let mut ready = std::mem::take(&mut self.hosts.ready);
        for host in ready.drain(..) {
            self.send(self.wiring.host_port(host));
        }
        self.hosts.ready = ready;
    }

    /// Begins the next transmission of a port, or sees to it that it begins when the port is free.
    fn send(&mut self, port: usize) {
        let state = &mut self.ports[port];
        let has_control = state.wants_pause != state.told_pause;
        if state.free_at > self.now {
            if !state.is_scheduled && (has_control || !state.is_paused) {
                let owner = self.wiring.links[port].owner;
                let has_more = !state.queue.is_empty() || state.is_host && self.hosts.has_next(owner);
                if has_control || has_more {
                    self.schedule(port);
                }
            }
            return;
        }
        if has_control {
            state.told_pause = state.wants_pause;
            let frame = Frame::pause(state.told_pause);
            self.pauses += 1;
            self.transmit(port, frame, 0);
            return self.send(port);
        }
        if state.is_paused {
            return;
        }
        if state.is_host {
            let owner = self.wiring.links[port].owner;
            if let Some((frame, key)) = self.hosts.next(owner, self.now) {
                self.transmit(port, frame, key);
                if self.hosts.is_ending(owner) || self.hosts.has_next(owner) {
                    self.schedule(port);
                }
            }
            return;
        }
        let length = state.queue.len();
        if let Some((frame, held)) = state.queue.pop_front() {
            state.area += length as u128 * u128::from(self.now - state.changed);
            state.changed = self.now;
            let key = self.key(&frame);
            self.transmit(port, frame, key);
            if length > 1 {
                self.schedule(port);
            }
            self.release(held);
        }
    }

    /// The key of a frame's draws, if there are any.
    #[inline(always)]
    fn key(&self, frame: &Frame) -> u64 {
        if self.params.per > 0.0 { self.hosts.key(frame.unit) } else { 0 }
    }

    fn schedule(&mut self, port: usize) {
        let state = &mut self.ports[port];
        if !state.is_scheduled {
            state.is_scheduled = true;
            let event =
                Event { at: state.free_at, order: FREE | port as u64, frame: Frame::pause(false), handle: NONE };
            self.calendar.add(event);
        }
    }

    fn transmit(&mut self, port: usize, mut frame: Frame, key: u64) {
        let link = &self.wiring.links[port];
        let time = link.time(frame.bytes);
        let is_control = frame.control != Control::No;
        if !is_control {
            frame.hops = frame.hops.saturating_add(1);
            if frame.damaged_by == NONE && self.errors.damage(port as u32, key, frame.hops) {
                frame.damaged_by = port as u32;
            }
        }
        self.taps.show(&self.wiring, &self.hosts, port, &frame, Direction::Sent, self.now);
        let state = &mut self.ports[port];
        state.counts.frames += 1;
        state.counts.busy += time;
        state.free_at = self.now.saturating_add(time + link.gap);
        if link.is_visible {
            self.hosts.recorder.hops(1);
            if let Some(crossed) = self.crossed.get_mut(port) {
                *crossed += 1;
            }
        }
        let until_seen = if self.is_cut && link.is_to_switch && !is_control { link.header } else { time };
        self.moving += 1;
        let at = self.now.saturating_add(until_seen + link.delay);
        self.calendar.add(Event { at, order: ARRIVE | port as u64, frame, handle: NONE });
    }

    fn arrive(&mut self, port: usize, frame: Frame, notices: &mut Notices) {
        let link = self.wiring.links[port];
        let input = link.peer as usize;
        self.taps.show(&self.wiring, &self.hosts, input, &frame, Direction::Received, self.now);
        if frame.control != Control::No {
            self.ports[input].is_paused = frame.control == Control::Off;
            return self.send(input);
        }
        let is_cut = self.is_cut && link.is_to_switch;
        if frame.damaged_by != NONE && !is_cut {
            self.ports[frame.damaged_by as usize].counts.damaged += 1;
            return self.hosts.lose(frame.unit, notices);
        }
        if !link.is_to_switch {
            return self.hosts.arrive(link.device, &frame, self.now, notices);
        }
        if usize::from(frame.hops) > self.wiring.switches {
            self.storm(input, &frame);
            return self.hosts.filter(frame.unit, notices);
        }
        let mut outputs = std::mem::take(&mut self.outputs);
        self.tables.forward(&self.wiring, input, &frame, self.now, &mut outputs);
        self.pass_on(&link, input, frame, &outputs, notices);
        self.outputs = outputs;
    }

    #[cold]
    fn storm(&mut self, input: usize, frame: &Frame) {
        let (at, forwarded) = (Cycle(self.now), u64::from(frame.hops) - 1);
        let cycle = loop_through(&self.wiring, input);
        self.failure.get_or_insert(Storm { at, source_node: NodeId(frame.source), forwarded, cycle }.into());
    }

    /// A frame, or its header, is in a switch, and leaves it through some ports.
    fn pass_on(
        &mut self,
        link: &crate::rules::wiring::Link,
        input: usize,
        frame: Frame,
        outputs: &[u32],
        notices: &mut Notices,
    ) {
        if outputs.is_empty() {
            return self.hosts.filter(frame.unit, notices);
        }
        let copies = outputs.len() as u32;
        let mut held = NONE;
        if self.params.pause {
            let state = &mut self.ports[input];
            if state.inside >= self.params.port_queue {
                state.counts.dropped += 1;
                return self.hosts.lose(frame.unit, notices);
            }
            state.inside += 1;
            held = self.held.store(Held { input: input as u32, copies });
        }
        if copies > 1 {
            self.hosts.copy(frame.unit, copies - 1);
        }
        for &output in outputs {
            if self.is_cut && self.wiring.links[output as usize].rate > link.rate {
                let at = self.now.saturating_add(link.time(frame.bytes) - link.header);
                let order = COMPLETE | u64::from(output) << INPUT_BITS | input as u64;
                self.moving += 1;
                self.calendar.add(Event { at, order, frame, handle: held });
            } else {
                self.enqueue(output as usize, frame, held, notices);
            }
        }
        if self.params.pause {
            let state = &mut self.ports[input];
            if state.inside >= self.params.xoff && !state.wants_pause {
                state.wants_pause = true;
                self.send(input);
            }
        }
    }

    /// Transmits a frame through an output, puts it into its queue, or drops it.
    #[inline]
    fn enqueue(&mut self, output: usize, frame: Frame, held: u32, notices: &mut Notices) {
        let state = &mut self.ports[output];
        let length = state.queue.len();
        if length == 0 && state.free_at <= self.now && !state.is_paused && state.wants_pause == state.told_pause {
            let key = self.key(&frame);
            self.transmit(output, frame, key);
            return self.release(held);
        }
        if !self.params.pause && length >= self.params.port_queue as usize {
            state.counts.dropped += 1;
            return self.hosts.lose(frame.unit, notices);
        }
        state.area += length as u128 * u128::from(self.now - state.changed);
        state.changed = self.now;
        state.queue.push_back((frame, held));
        state.counts.longest = state.counts.longest.max(length as u64 + 1);
        if !state.is_scheduled {
            self.send(output);
        }
    }

    /// A copy has left a switch.
    #[inline]
    fn release(&mut self, held: u32) {
        if held == NONE {
            return;
        }
        let this = &mut self.held[held];
        this.copies -= 1;
        if this.copies > 0 {
            return;
        }
        let input = this.input as usize;
        self.held.release(held);
        let state = &mut self.ports[input];
        state.inside -= 1;
        if state.wants_pause && state.inside <= self.params.xon {
            state.wants_pause = false;
            self.send(input);
        }
    }
}
