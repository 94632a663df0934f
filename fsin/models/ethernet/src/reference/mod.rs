//! The reference engine: what the model is, as plainly as it can be said.
//!
//! All events stand in one list. The next one is the earliest; of those at the same instant, ports become free first,
//! then frames arrive, then frames that cut-through switches could not forward at once are complete, then timers go
//! off; each in the order of port numbers, or of the hosts of a connection. What an event causes at once belongs to it.

use std::collections::VecDeque;

use fsin_core::network::{NetworkFailure, Notices, Storm};
use fsin_core::topology::Topology;
use trgen::catalog::SpecError;
use trgen::{Cycle, NodeId};

use crate::capture::Direction;
use crate::params::{Params, Switching};
use crate::rules::forwarding::Tables;
use crate::rules::frame::{Control, Errors, Frame, NONE};
use crate::rules::hosts::Hosts;
use crate::rules::port::{Counts, Taps, is_of_hosts};
use crate::rules::wait::loop_through;
use crate::rules::wiring::Wiring;

mod network;

/// What happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    /// A port has ended its transmission and the gap behind it.
    Free { port: usize },
    /// A frame has come through the link that leaves through a port; to a cut-through switch, its header.
    Arrive { port: usize, frame: Frame },
    /// A frame, whose header came earlier, has come to its end, and can go on through an output.
    Complete { input: usize, output: usize, frame: Frame, held: usize },
    /// The timer of a connection between two hosts goes off.
    Timer { connection: u32, hosts: (u32, u32) },
    /// A host sends frames again that were lost several times.
    Wake { host: u32 },
}

impl What {
    /// Of events at the same instant, the one with the least comes first.
    fn order(&self) -> (u8, u64, u64) {
        match *self {
            Self::Free { port } => (0, port as u64, 0),
            Self::Arrive { port, .. } => (1, port as u64, 0),
            Self::Complete { input, output, .. } => (2, output as u64, input as u64),
            Self::Wake { host } => (3, host.into(), host.into()),
            Self::Timer { hosts: (source, destination), .. } => (3, source.into(), destination.into()),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Event {
    at: u64,
    what: What,
}

/// A frame in a switch, until all its copies have left: it occupies a place of its input.
#[derive(Clone, Copy, Debug)]
struct Held {
    input: usize,
    copies: usize,
}

#[derive(Clone, Default, Debug)]
struct PortState {
    /// Of a switch: frames, and the places that they occupy.
    queue: VecDeque<(Frame, usize)>,
    is_busy: bool,
    /// The other end has sent a PAUSE frame.
    is_paused: bool,
    /// This end wants the other end to be paused, and has told it so.
    wants_pause: bool,
    told_pause: bool,
    /// Frames in the switch that came through this port.
    inside: u64,
    counts: Counts,
    area: u128,
    /// When the length of the queue last changed.
    changed: u64,
}

/// The engine that defines the model.
#[derive(Debug)]
pub struct Reference {
    params: Params,
    wiring: Wiring,
    tables: Tables,
    errors: Errors,
    hosts: Hosts,
    /// Instant of the clock, or of the event that happens.
    now: u64,
    events: Vec<Event>,
    ports: Vec<PortState>,
    held: Vec<Held>,
    pauses: u64,
    /// Frames on links of the topology since observation began, by port.
    crossed: Vec<u64>,
    taps: Taps,
    failure: Option<NetworkFailure>,
    /// Instant at which a frame last arrived.
    last_moved: u64,
}

impl Reference {
    /// An empty network.
    ///
    /// # Errors
    /// Settings that are out of range or do not fit the topology.
    pub fn new(topology: &dyn Topology, params: Params) -> Result<Self, SpecError> {
        let (wiring, tables) = crate::prepare(topology, &params)?;
        Ok(Self {
            errors: Errors::new(params.seed, params.per),
            hosts: Hosts::new(&params, wiring.hosts, wiring.hidden_hops()),
            now: 0,
            events: Vec::new(),
            ports: vec![PortState::default(); wiring.links.len()],
            held: Vec::new(),
            pauses: 0,
            crossed: Vec::new(),
            taps: Taps::default(),
            failure: None,
            last_moved: 0,
            params,
            wiring,
            tables,
        })
    }

    fn add(&mut self, at: u64, what: What) {
        self.events.push(Event { at, what });
    }

    /// The position of the next event.
    fn next_event(&self) -> Option<usize> {
        (0..self.events.len()).min_by_key(|&at| (self.events[at].at, self.events[at].what.order()))
    }

    fn happen(&mut self, what: What, notices: &mut Notices) {
        match what {
            What::Free { port } => {
                self.ports[port].is_busy = false;
                let owner = self.wiring.links[port].owner;
                if self.wiring.is_host(owner) {
                    self.hosts.transmitted(owner, notices);
                }
                self.send(port);
            }
            What::Arrive { port, frame } => self.arrive(port, frame, notices),
            What::Complete { output, frame, held, .. } => match frame.damaged_by {
                NONE => self.enqueue(output, frame, held, notices),
                by => {
                    self.ports[by as usize].counts.damaged += 1;
                    self.release(held);
                    self.hosts.lose(frame.unit, self.now, notices);
                }
            },
            What::Timer { connection, .. } => self.hosts.time_out(connection, self.now),
            What::Wake { host } => self.hosts.wake(host, self.now),
        }
        self.serve_hosts();
    }

    /// Lets hosts send that may have become able to, and sets timers.
    fn serve_hosts(&mut self) {
        for connection in std::mem::take(&mut self.hosts.timers) {
            self.events.retain(|event| !matches!(event.what, What::Timer { connection: of, .. } if of == connection));
            let (source, destination, deadline) = self.hosts.timer(connection);
            if let Some(at) = deadline {
                self.add(at, What::Timer { connection, hosts: (source, destination) });
            }
        }
        for (host, at) in std::mem::take(&mut self.hosts.wakes) {
            self.add(at, What::Wake { host });
        }
        for host in std::mem::take(&mut self.hosts.ready) {
            self.send(self.wiring.host_port(host));
        }
    }

    /// Begins the next transmission of a port, if it can.
    fn send(&mut self, port: usize) {
        let state = &mut self.ports[port];
        if state.is_busy {
            return;
        }
        if state.wants_pause != state.told_pause {
            state.told_pause = state.wants_pause;
            self.pauses += 1;
            let frame = Frame::pause(state.told_pause);
            return self.transmit(port, frame, 0);
        }
        if state.is_paused {
            return;
        }
        let owner = self.wiring.links[port].owner;
        if self.wiring.is_host(owner) {
            if let Some((frame, key)) = self.hosts.next(owner, self.now) {
                self.transmit(port, frame, key);
            }
            return;
        }
        self.change_queue(port);
        if let Some((frame, held)) = self.ports[port].queue.pop_front() {
            let key = self.hosts.key(frame.unit);
            self.transmit(port, frame, key);
            self.release(held);
        }
    }

    fn transmit(&mut self, port: usize, mut frame: Frame, key: u64) {
        let link = self.wiring.links[port];
        let time = link.time(frame.bytes);
        if is_of_hosts(&frame) {
            frame.hops = frame.hops.saturating_add(1);
            if frame.damaged_by == NONE && self.errors.damage(port as u32, key, frame.hops) {
                frame.damaged_by = port as u32;
            }
        }
        self.taps.show(&self.wiring, &self.hosts, port, &frame, Direction::Sent, self.now);
        self.ports[port].is_busy = true;
        self.add(self.now.saturating_add(time + link.gap), What::Free { port });
        let is_cut = self.params.switching == Switching::CutThrough && link.is_to_switch && is_of_hosts(&frame);
        let until_seen = if is_cut { link.header } else { time };
        self.add(self.now.saturating_add(until_seen + link.delay), What::Arrive { port, frame });
    }

    fn arrive(&mut self, port: usize, frame: Frame, notices: &mut Notices) {
        let link = self.wiring.links[port];
        let input = link.peer as usize;
        let counts = &mut self.ports[port].counts;
        counts.frames += 1;
        counts.busy += link.time(frame.bytes);
        if link.is_visible {
            self.hosts.recorder.hops(1);
            if let Some(crossed) = self.crossed.get_mut(port) {
                *crossed += 1;
            }
        }
        self.taps.show(&self.wiring, &self.hosts, input, &frame, Direction::Received, self.now);
        if frame.control != Control::No {
            self.ports[input].is_paused = frame.control == Control::Off;
            return self.send(input);
        }
        let is_cut = self.params.switching == Switching::CutThrough && link.is_to_switch;
        if frame.damaged_by != NONE && !is_cut {
            self.ports[frame.damaged_by as usize].counts.damaged += 1;
            return self.hosts.lose(frame.unit, self.now, notices);
        }
        if !link.is_to_switch {
            return self.hosts.arrive(link.device, &frame, self.now, notices);
        }
        // A route without loops passes each switch once.
        if usize::from(frame.hops) > self.wiring.switches {
            self.failure.get_or_insert_with(|| {
                let storm = Storm {
                    at: Cycle(self.now),
                    source_node: NodeId(frame.source),
                    forwarded: u64::from(frame.hops) - 1,
                    cycle: loop_through(&self.wiring, input),
                };
                storm.into()
            });
            return self.hosts.filter(frame.unit, self.now, notices);
        }
        let mut outputs = Vec::new();
        let only = self.tables.forward(&self.wiring, link.device, input, &frame, self.now, &mut outputs);
        outputs.extend(only);
        if outputs.is_empty() {
            return self.hosts.filter(frame.unit, self.now, notices);
        }
        if self.params.pause && self.ports[input].inside >= self.params.port_queue.into() {
            self.ports[input].counts.dropped += 1;
            return self.hosts.lose(frame.unit, self.now, notices);
        }
        self.hosts.copy(frame.unit, outputs.len() as u32 - 1);
        let held = self.held.len();
        self.held.push(Held { input, copies: outputs.len() });
        self.ports[input].inside += 1;
        for output in outputs {
            let output = output as usize;
            if is_cut && self.wiring.links[output].rate > link.rate {
                let rest = link.time(frame.bytes) - link.header;
                self.add(self.now.saturating_add(rest), What::Complete { input, output, frame, held });
            } else {
                self.enqueue(output, frame, held, notices);
            }
        }
        let state = &mut self.ports[input];
        if self.params.pause && state.inside >= self.params.xoff.into() {
            state.wants_pause = true;
            self.send(input);
        }
    }

    /// Puts a frame into the queue of an output, or drops it.
    fn enqueue(&mut self, output: usize, frame: Frame, held: usize, notices: &mut Notices) {
        self.change_queue(output);
        let state = &mut self.ports[output];
        if !self.params.pause && state.queue.len() >= self.wiring.rooms[output] as usize {
            state.counts.dropped += 1;
            self.release(held);
            return self.hosts.lose(frame.unit, self.now, notices);
        }
        state.queue.push_back((frame, held));
        self.send(output);
        let state = &mut self.ports[output];
        state.counts.longest = state.counts.longest.max(state.queue.len() as u64);
    }

    /// A copy has left a switch.
    fn release(&mut self, held: usize) {
        self.held[held].copies -= 1;
        if self.held[held].copies > 0 {
            return;
        }
        let input = self.held[held].input;
        let inside = &mut self.ports[input];
        inside.inside -= 1;
        if inside.wants_pause && inside.inside <= self.params.xon.into() {
            inside.wants_pause = false;
            self.send(input);
        }
    }

    /// Sums up the length of a queue over time, before it changes.
    fn change_queue(&mut self, port: usize) {
        let now = self.now;
        let state = &mut self.ports[port];
        state.area += state.queue.len() as u128 * u128::from(now - state.changed);
        state.changed = now;
    }
}
