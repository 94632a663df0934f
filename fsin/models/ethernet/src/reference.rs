//! The reference engine: the definition of the model, as simple as possible.
//!
//! All events are in one list. The earliest one is next. Of those at the same time, ports become free first, then
//! frames arrive, then frames that cut-through switches could not forward at once are complete, then timers expire;
//! each kind in the order of port numbers, or of the hosts of a connection. The immediate effects of an event are part
//! of it.

use std::collections::VecDeque;

use fsin_core::network::{Notices, Storm};
use fsin_core::topology::Topology;
use trgen::catalog::SpecError;
use trgen::{Cycle, NodeId};

use crate::Ethernet;
use crate::capture::Direction;
use crate::engine::{Base, Events, PortSnapshot, Simulated};
use crate::params::{Params, Switching};
use crate::rules::frame::{Control, Frame, NONE};
use crate::rules::lengths::Lengths;
use crate::rules::port::{Counts, is_of_hosts};
use crate::rules::wait::loop_through;

/// The kind of an event, with its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EventKind {
    /// A port has ended its transmission and the gap after it.
    Free { port: usize },
    /// A frame has arrived over the link that leaves through a port; at a cut-through switch, its header has.
    Arrive { port: usize, frame: Frame, rank: u32 },
    /// The end of a frame whose header arrived earlier has arrived; the frame can be sent through an output.
    Complete { input: usize, output: usize, frame: Frame, held: usize, rank: u32 },
    /// The timer of a connection between two hosts expires.
    Timer { connection: u32, hosts: (u32, u32) },
    /// A host sends frames again that were lost several times.
    Wake { host: u32 },
}

impl EventKind {
    /// The order of events at the same time: the least is first. Arrivals have a rank, which is 0 of all unless a hash
    /// orders them.
    fn order(&self) -> (u8, u64, u64, u64) {
        match *self {
            Self::Free { port } => (0, port as u64, 0, 0),
            Self::Arrive { port, rank, .. } => (1, rank.into(), port as u64, 0),
            Self::Complete { input, output, rank, .. } => (2, output as u64, rank.into(), input as u64),
            Self::Wake { host } => (3, host.into(), host.into(), 0),
            Self::Timer { hosts: (source, destination), .. } => (3, source.into(), destination.into(), 0),
        }
    }
}

impl EventKind {
    /// True if the event is the arrival of a frame or of the end of a frame.
    const fn is_moving(&self) -> bool {
        matches!(self, Self::Arrive { .. } | Self::Complete { .. })
    }
}

/// An event.
#[derive(Clone, Copy, Debug)]
struct Event {
    /// \[ps\] Time of the event.
    at: u64,
    /// What happens.
    kind: EventKind,
}

/// A frame in a switch. It occupies a place of its input until all its copies have left.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// The port through which it came.
    input: usize,
    /// Number of copies that have not left.
    copies: usize,
}

/// The state of a port.
#[derive(Clone, Default, Debug)]
struct PortState {
    /// The output queue of a switch: frames, each with its index in [`Reference::held`].
    queue: VecDeque<(Frame, usize)>,
    /// True during a transmission and the gap after it.
    is_busy: bool,
    /// True if the other end has sent a PAUSE frame.
    is_paused: bool,
    /// True if this end wants the other end to be paused.
    wants_pause: bool,
    /// True if this end has last told the other end to pause.
    told_pause: bool,
    /// \[frames\] Frames in the switch that came through this port.
    inside: u64,
    /// \[ps\] Time at which a frame last entered the queue.
    entered: u64,
    /// What is counted at the port.
    counts: Counts,
    /// \[frames x ps\] Length of the queue, summed over time.
    area: u128,
    /// \[ps\] Time at which the length of the queue last changed.
    changed: u64,
}

/// The engine that defines the model.
#[derive(Debug)]
struct Reference {
    base: Base,
    /// All events to come, in any order.
    events: Vec<Event>,
    ports: Vec<PortState>,
    /// Frames in switches.
    held: Vec<Held>,
}

/// An empty network.
///
/// # Errors
/// Settings that are out of range or do not fit the topology.
pub fn build(topology: &dyn Topology, params: Params) -> Result<Box<dyn Ethernet>, SpecError> {
    let base = Base::new(topology, params)?;
    let ports = vec![PortState::default(); base.wiring.links.len()];
    Ok(Box::new(Simulated(Reference { base, events: Vec::new(), ports, held: Vec::new() })))
}

impl Reference {
    /// Adds an event.
    fn add(&mut self, at: u64, kind: EventKind) {
        self.events.push(Event { at, kind });
    }

    /// Index in `events` of the next event.
    fn next_event(&self) -> Option<usize> {
        (0..self.events.len()).min_by_key(|&at| (self.events[at].at, self.events[at].kind.order()))
    }

    /// Executes an event.
    fn execute(&mut self, kind: EventKind, notices: &mut Notices) {
        match kind {
            EventKind::Free { port } => {
                self.ports[port].is_busy = false;
                let owner = self.base.wiring.links[port].owner;
                if self.base.wiring.is_host(owner) {
                    self.base.hosts.transmitted(owner, notices);
                }
                self.send(port);
            }
            EventKind::Arrive { port, frame, .. } => self.arrive(port, frame, notices),
            EventKind::Complete { output, frame, held, .. } => match frame.damaged_by {
                NONE => self.enqueue(output, frame, held, notices),
                by => {
                    self.ports[by as usize].counts.damaged += 1;
                    self.release(held);
                    self.base.hosts.lose(frame.unit, self.base.now, notices);
                }
            },
            EventKind::Timer { connection, .. } => self.base.hosts.time_out(connection, self.base.now),
            EventKind::Wake { host } => self.base.hosts.wake(host, self.base.now),
        }
        self.serve();
    }

    /// Lets hosts send that may have become able to, and sets the timers of connections.
    fn serve(&mut self) {
        for connection in std::mem::take(&mut self.base.hosts.timers) {
            self.events
                .retain(|event| !matches!(event.kind, EventKind::Timer { connection: of, .. } if of == connection));
            let (source, destination, deadline) = self.base.hosts.timer(connection);
            if let Some(at) = deadline {
                self.add(at, EventKind::Timer { connection, hosts: (source, destination) });
            }
        }
        for host in std::mem::take(&mut self.base.hosts.ready) {
            self.send(self.base.wiring.host_port(host));
        }
        // A host that has nothing to send yet may ask for it.
        for (host, at) in std::mem::take(&mut self.base.hosts.wakes) {
            self.add(at, EventKind::Wake { host });
        }
    }

    /// Begins the next transmission of a port, if it can.
    fn send(&mut self, port: usize) {
        let state = &mut self.ports[port];
        if state.is_busy || self.base.alive.is_dead(port) {
            return;
        }
        if state.wants_pause != state.told_pause {
            state.told_pause = state.wants_pause;
            self.base.pauses += 1;
            let frame = Frame::pause(&self.base.params.frames, state.told_pause);
            return self.transmit(port, frame, 0);
        }
        if state.is_paused {
            return;
        }
        let owner = self.base.wiring.links[port].owner;
        if self.base.wiring.is_host(owner) {
            if let Some((frame, key)) = self.base.hosts.next(owner, self.base.now, 0) {
                self.transmit(port, frame, key);
            }
            return;
        }
        self.change_queue(port);
        if let Some((frame, held)) = self.ports[port].queue.pop_front() {
            let key = self.base.hosts.key(frame.unit);
            self.transmit(port, frame, key);
            self.release(held);
        }
    }

    /// Transmits a frame through a port.
    fn transmit(&mut self, port: usize, mut frame: Frame, key: u64) {
        let link = self.base.wiring.links[port];
        let time = link.time(frame.bytes);
        if is_of_hosts(&frame) {
            frame.hops = frame.hops.saturating_add(1);
            if frame.damaged_by == NONE && self.base.errors.damage(port as u32, key, frame.hops) {
                frame.damaged_by = port as u32;
            }
        }
        self.base.taps.show(&self.base.wiring, &self.base.hosts, port, &frame, Direction::Sent, self.base.now);
        self.ports[port].is_busy = true;
        self.add(self.base.now.saturating_add(time + link.gap), EventKind::Free { port });
        let is_cut = self.base.params.switching == Switching::CutThrough && link.is_to_switch && is_of_hosts(&frame);
        let until_seen = if is_cut { link.header() } else { time };
        let at = self.base.now.saturating_add(until_seen + link.delay);
        let rank = self.base.ties.rank(&link, port as u32, at);
        self.add(at, EventKind::Arrive { port, frame, rank });
    }

    /// Processes a frame that has arrived.
    fn arrive(&mut self, port: usize, frame: Frame, notices: &mut Notices) {
        let link = self.base.wiring.links[port];
        let input = link.peer as usize;
        let counts = &mut self.ports[port].counts;
        counts.frames += 1;
        counts.busy += link.time(frame.bytes);
        if link.is_visible {
            self.base.hosts.messages.recorder.hops(1);
            if let Some(crossed) = self.base.crossed.get_mut(port) {
                *crossed += 1;
            }
        }
        self.base.taps.show(&self.base.wiring, &self.base.hosts, input, &frame, Direction::Received, self.base.now);
        if frame.control != Control::No {
            self.ports[input].is_paused = frame.control == Control::Off;
            return self.send(input);
        }
        let is_cut = self.base.params.switching == Switching::CutThrough && link.is_to_switch;
        if frame.damaged_by != NONE && !is_cut {
            self.ports[frame.damaged_by as usize].counts.damaged += 1;
            return self.base.hosts.lose(frame.unit, self.base.now, notices);
        }
        if !link.is_to_switch {
            return self.base.hosts.arrive(link.device, &frame, self.base.now, notices);
        }
        if self.base.circulates(&frame, self.base.hosts.changes_since(frame.unit)) {
            self.base.failure.get_or_insert_with(|| {
                let storm = Storm {
                    at: Cycle(self.base.now),
                    source_node: NodeId(frame.source),
                    forwarded: u64::from(frame.hops) - 1,
                    cycle: loop_through(&self.base.wiring, input),
                };
                storm.into()
            });
            return self.base.hosts.filter(frame.unit, self.base.now, notices);
        }
        let mut outputs = Vec::new();
        let is_outdated = self.base.hosts.changes_since(frame.unit) > 0;
        let Base { tables, wiring, now, .. } = &mut self.base;
        let only = tables.forward(wiring, input, &frame, is_outdated, *now, &mut outputs);
        outputs.extend(only);
        if outputs.is_empty() {
            return self.base.hosts.filter(frame.unit, self.base.now, notices);
        }
        if self.base.params.pause && self.ports[input].inside >= self.base.params.port_queue.into() {
            self.ports[input].counts.dropped += 1;
            return self.base.hosts.drop_copy(frame.unit, self.base.now, notices);
        }
        self.base.hosts.copy(frame.unit, outputs.len() as u32 - 1);
        let held = self.held.len();
        self.held.push(Held { input, copies: outputs.len() });
        self.ports[input].inside += 1;
        for output in outputs {
            let output = output as usize;
            if is_cut && self.base.wiring.links[output].rate > link.rate {
                let rest = link.time(frame.bytes) - link.header();
                let at = self.base.now.saturating_add(rest);
                let rank = self.base.ties.rank(&link, port as u32, at);
                self.add(at, EventKind::Complete { input, output, frame, held, rank });
            } else {
                self.enqueue(output, frame, held, notices);
            }
        }
        let state = &mut self.ports[input];
        if self.base.params.pause && state.inside >= self.base.params.xoff.into() {
            state.wants_pause = true;
            self.send(input);
        }
    }

    /// Puts a frame into the queue of an output, or drops it.
    fn enqueue(&mut self, output: usize, frame: Frame, held: usize, notices: &mut Notices) {
        // The link has died while the end of the frame was coming.
        if self.base.alive.is_dead(output) {
            self.release(held);
            return self.base.hosts.lose_on_dead_link(frame.unit, self.base.now, notices);
        }
        self.change_queue(output);
        let state = &mut self.ports[output];
        if !self.base.params.pause && state.queue.len() >= self.base.wiring.rooms[output] as usize {
            state.counts.dropped += 1;
            state.counts.tied += u64::from(state.entered == self.base.now);
            self.release(held);
            return self.base.hosts.drop_copy(frame.unit, self.base.now, notices);
        }
        state.queue.push_back((frame, held));
        state.entered = self.base.now;
        self.send(output);
        let state = &mut self.ports[output];
        state.counts.longest = state.counts.longest.max(state.queue.len() as u64);
    }

    /// Releases a copy of a frame, which has left the switch or is dropped.
    fn release(&mut self, held: usize) {
        self.held[held].copies -= 1;
        if self.held[held].copies > 0 {
            return;
        }
        let input = self.held[held].input;
        let inside = &mut self.ports[input];
        inside.inside -= 1;
        if inside.wants_pause && inside.inside <= self.base.params.xon.into() {
            inside.wants_pause = false;
            self.send(input);
        }
    }

    /// Adds the length of a queue since its last change to the sums over time. Called before each change.
    fn change_queue(&mut self, port: usize) {
        let now = self.base.now;
        let state = &mut self.ports[port];
        if let Some(lengths) = self.base.lengths.get_mut(port) {
            lengths.spend(state.queue.len(), now);
        }
        state.area += state.queue.len() as u128 * u128::from(now - state.changed);
        state.changed = now;
    }
}

impl Events for Reference {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn next_at(&mut self, _until: u64) -> Option<u64> {
        self.next_event().map(|next| self.events[next].at)
    }

    fn step(&mut self, notices: &mut Notices) {
        let Some(next) = self.next_event() else { return };
        let event = self.events.swap_remove(next);
        if event.kind.is_moving() {
            self.base.last_moved = event.at;
        }
        self.execute(event.kind, notices);
    }

    fn serve_hosts(&mut self) {
        self.serve();
    }

    fn cut(&mut self, port: usize, notices: &mut Notices) {
        let is_on_it = |event: &mut Event| matches!(event.kind, EventKind::Arrive { port: of, .. } if of == port);
        let mut lost: Vec<Event> = self.events.extract_if(.., is_on_it).collect();
        lost.sort_by_key(|event| event.at);
        self.change_queue(port);
        let state = &mut self.ports[port];
        (state.is_paused, state.told_pause) = (false, false);
        let waiting = std::mem::take(&mut state.queue);
        for event in lost {
            if let EventKind::Arrive { frame, .. } = event.kind
                && is_of_hosts(&frame)
            {
                self.base.hosts.lose_on_dead_link(frame.unit, self.base.now, notices);
            }
        }
        for (frame, held) in waiting {
            self.release(held);
            self.base.hosts.lose_on_dead_link(frame.unit, self.base.now, notices);
        }
    }

    fn resume(&mut self, port: usize) {
        self.send(port);
    }

    fn is_moving(&self) -> bool {
        self.events.iter().any(|event| event.kind.is_moving())
    }

    fn port(&self, port: usize) -> PortSnapshot {
        let state = &self.ports[port];
        let waiting = state.queue.len();
        PortSnapshot {
            counts: state.counts,
            waiting,
            area: state.area + waiting as u128 * u128::from(self.base.now - state.changed),
            is_paused: state.is_paused,
            has_control: state.wants_pause != state.told_pause && !self.base.alive.is_dead(port),
        }
    }

    fn lengths(&self, port: usize) -> Option<Lengths> {
        let mut lengths = self.base.lengths.get(port)?.clone();
        lengths.spend(self.ports[port].queue.len(), self.base.now);
        Some(lengths)
    }

    fn holds(&self, input: usize, output: usize) -> bool {
        self.ports[output].queue.iter().any(|&(_, held)| self.held[held].input == input)
    }

    fn copies(&self) -> u64 {
        let underway = self.events.iter().filter(|event| match &event.kind {
            EventKind::Arrive { frame, .. } | EventKind::Complete { frame, .. } => is_of_hosts(frame),
            EventKind::Free { .. } | EventKind::Timer { .. } | EventKind::Wake { .. } => false,
        });
        let waiting: usize = self.ports.iter().map(|state| state.queue.len()).sum();
        (underway.count() + waiting) as u64
    }
}
