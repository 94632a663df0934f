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

use crate::capture::Direction;
use crate::cc::Stamp;
use crate::engine::{Base, Events, PortSnapshot, Simulated};
use crate::params::{Params, Switching};
use crate::rules::frame::{CONTROL, Control, Frame, NONE};
use crate::rules::lengths::Lengths;
use crate::rules::managed::{self, Managed, Ports, Timer};
use crate::rules::port::{Counts, is_of_hosts};
use crate::rules::tally;
use crate::rules::wait::loop_through;
use crate::rules::wiring::Wiring;
use crate::{Ethernet, Prepared};

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
    /// The last bit of a frame has left a port with classes, before the gap.
    Sent { port: usize, unit: u32 },
    /// A timer of a port and a class.
    OfPort { port: usize, class: u8, timer: Timer, epoch: u32 },
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
            // After ports that become free.
            Self::Sent { port, .. } => (0, 1 << 61 | port as u64, 0, 0),
            Self::OfPort { port, class, timer, .. } => (4, port as u64, class.into(), timer as u64),
        }
    }
}

impl EventKind {
    /// True if the event is the arrival of a frame or of the end of a frame.
    const fn is_arrival(&self) -> bool {
        matches!(self, Self::Arrive { .. } | Self::Complete { .. })
    }

    /// True if a frame that waits may be able to move afterwards. A pause frame that stops a class lets nothing move.
    fn is_moving(&self) -> bool {
        match self {
            Self::Arrive { frame, .. } => frame.control != Control::Off || frame.class == CONTROL,
            Self::OfPort { timer, .. } => timer.may_free(),
            _ => self.is_arrival(),
        }
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
    /// What ports with classes have.
    managed: Option<Box<Managed<Waiting>>>,
}

/// A frame in the queue of a port with classes, with its index in [`Reference::held`], or [`NOT_HELD`].
type Waiting = (Frame, usize);

/// Of a frame that its input does not hold.
const NOT_HELD: usize = usize::MAX;

/// An empty network.
///
/// # Errors
/// Settings that are out of range or do not fit the topology.
pub fn build(topology: &dyn Topology, params: Params) -> Result<Box<dyn Ethernet>, SpecError> {
    Ok(build_prepared(crate::prepare(topology, &params)?, params))
}

/// As [`build`], of a network that has been prepared with these parameters.
pub(crate) fn build_prepared(prepared: Prepared, params: Params) -> Box<dyn Ethernet> {
    let base = Base::new(prepared, params);
    let ports = vec![PortState::default(); base.wiring.links.len()];
    let managed = Managed::new(&base.params, &base.wiring, &base.alive);
    Box::new(Simulated(Reference { base, events: Vec::new(), ports, held: Vec::new(), managed }))
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
                NONE if self.managed.is_some() => managed::enqueue(self, output, (frame, held), notices),
                NONE => self.enqueue(output, frame, held, notices),
                by => {
                    self.ports[by as usize].counts.damaged += 1;
                    self.release(held);
                    self.base.hosts.lose(frame.unit, self.base.now, notices);
                }
            },
            EventKind::Timer { connection, .. } => self.base.hosts.time_out(connection, self.base.now),
            EventKind::Wake { host } => self.base.hosts.wake(host, self.base.now),
            EventKind::Sent { port, unit } => self.sent(port, unit),
            EventKind::OfPort { port, class, timer, epoch } => {
                managed::expire(self, port, class, timer, epoch, notices)
            }
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
        if self.managed.is_some() {
            return managed::send(self, port);
        }
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
        let rank = self.base.ties.rank(link.device, port as u32, at);
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
            if self.managed.is_some() {
                return managed::pause_arrived(self, input, frame.class, frame.control == Control::Off);
            }
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
        let (managed, at) = (&self.managed, *now);
        let length = |port: usize| managed.as_ref().map_or(0, |managed| managed.length(port, at));
        let only = tables.forward(wiring, input, &frame, is_outdated, at, &mut outputs, length);
        outputs.extend(only);
        if outputs.is_empty() {
            return self.base.hosts.filter(frame.unit, self.base.now, notices);
        }
        if self.managed.is_some() {
            let mut entry = (frame, NOT_HELD);
            if managed::arrive(self, input, &mut entry, outputs.len() as u32, notices) {
                self.base.hosts.copy(frame.unit, outputs.len() as u32 - 1);
                for output in outputs {
                    self.pass_on_managed(input, port, output as usize, entry, notices);
                }
            }
            return;
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
            let latency = self.base.params.switch_latency;
            let is_faster = is_cut && self.base.wiring.links[output].rate > link.rate;
            if is_faster || latency > 0 {
                let rest = if is_faster { link.time(frame.bytes) - link.header() } else { 0 } + latency;
                let at = self.base.now.saturating_add(rest);
                let rank = self.base.ties.rank(link.device, port as u32, at);
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

    /// Lets a frame leave a switch with classes through an output, after the latency of the switch.
    fn pass_on_managed(&mut self, input: usize, port: usize, output: usize, entry: Waiting, notices: &mut Notices) {
        let latency = self.base.params.switch_latency;
        if latency == 0 {
            return managed::enqueue(self, output, entry, notices);
        }
        let at = self.base.now.saturating_add(latency);
        let rank = self.base.ties.rank(self.base.wiring.links[port].device, port as u32, at);
        let (frame, held) = entry;
        self.add(at, EventKind::Complete { input, output, frame, held, rank });
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
        self.spend(port, self.ports[port].queue.len());
    }

    /// Adds the time since the last change of a queue, in which it had `length` frames, to the sums over time.
    fn spend(&mut self, port: usize, length: usize) {
        let now = self.base.now;
        let state = &mut self.ports[port];
        if let Some(lengths) = self.base.lengths.get_mut(port) {
            lengths.spend(length, now);
        }
        state.area += length as u128 * u128::from(now - state.changed);
        state.changed = now;
    }

    /// \[frames\] Frames that wait at a port.
    fn waiting(&self, port: usize) -> usize {
        match &self.managed {
            Some(managed) => managed.queues[port].waiting() as usize,
            None => self.ports[port].queue.len(),
        }
    }

    /// The last bit of a frame has left a port.
    fn sent(&mut self, port: usize, unit: u32) {
        let is_it = |event: &Event| matches!(event.kind, EventKind::Arrive { port: of, frame, .. } if of == port && frame.unit == unit);
        // It is lost if the link has died.
        let Some(at) = self.events.iter().position(is_it) else { return };
        let EventKind::Arrive { frame, .. } = self.events[at].kind else { return };
        let mut entry = (frame, NOT_HELD);
        managed::mark_sent(self, port, &mut entry);
        if let EventKind::Arrive { frame, .. } = &mut self.events[at].kind {
            *frame = entry.0;
        }
    }
}

impl Ports for Reference {
    type Entry = Waiting;

    fn managed(&mut self) -> &mut Managed<Waiting> {
        self.managed.as_mut().expect("ports are managed wherever this is called")
    }

    fn wiring(&self) -> &Wiring {
        &self.base.wiring
    }

    fn now(&self) -> u64 {
        self.base.now
    }

    fn frame(&self, (frame, _): Waiting) -> Frame {
        frame
    }

    fn key(&self, (frame, _): Waiting) -> u64 {
        self.base.hosts.key(frame.unit)
    }

    fn mark(&mut self, (frame, _): &mut Waiting) {
        frame.is_marked = true;
    }

    fn trim(&mut self, (frame, _): &mut Waiting, bytes: u16, is_last_hop: bool) {
        frame.trim(bytes, is_last_hop);
    }

    fn stamp(&mut self, (frame, _): Waiting, stamp: Stamp) {
        self.base.hosts.stamp(frame.unit, stamp);
    }

    fn is_dead(&self, port: usize) -> bool {
        self.base.alive.is_dead(port)
    }

    fn is_free(&self, port: usize) -> bool {
        !self.ports[port].is_busy
    }

    /// Every transmission ends in an event.
    fn wait(&mut self, _port: usize) {}

    fn transmit(&mut self, port: usize, entry: Waiting) {
        let (frame, key) = (entry.0, self.key(entry));
        self.managed().sent[port] += u64::from(frame.bytes);
        Self::transmit(self, port, frame, key);
    }

    fn transmit_pause(&mut self, port: usize, class: u8, is_off: bool) {
        let frame = Frame::pause_of(&self.base.params.frames, class, is_off);
        self.managed().sent[port] += u64::from(frame.bytes);
        Self::transmit(self, port, frame, 0);
    }

    fn send_of_host(&mut self, port: usize) {
        let owner = self.base.wiring.links[port].owner;
        let paused = self.managed().queues[port].paused as u8;
        if self.base.wiring.is_host(owner)
            && let Some((frame, key)) = self.base.hosts.next(owner, self.base.now, paused)
        {
            Self::transmit(self, port, frame, key);
        }
    }

    fn set_timer(&mut self, at: u64, port: usize, class: u8, timer: Timer, epoch: u32) {
        self.add(at, EventKind::OfPort { port, class, timer, epoch });
    }

    fn mark_when_sent(&mut self, port: usize, (frame, _): Waiting) {
        let at = self.base.now.saturating_add(self.base.wiring.links[port].time(frame.bytes));
        self.add(at, EventKind::Sent { port, unit: frame.unit });
    }

    fn hold(&mut self, (_, held): &mut Waiting, input: usize, copies: u32) {
        *held = self.held.len();
        self.held.push(Held { input, copies: copies as usize });
    }

    fn let_go(&mut self, (_, held): Waiting) -> Option<usize> {
        let held = self.held.get_mut(held)?;
        held.copies -= 1;
        (held.copies == 0).then_some(held.input)
    }

    fn drop_copy(&mut self, (frame, _): Waiting, notices: &mut Notices) {
        self.base.hosts.drop_copy(frame.unit, self.base.now, notices);
    }

    fn lose_on_dead_link(&mut self, (frame, _): Waiting, notices: &mut Notices) {
        self.base.hosts.lose_on_dead_link(frame.unit, self.base.now, notices);
    }

    fn lost_at(&mut self, port: usize, (frame, _): Waiting) {
        self.base.hosts.lost_at(frame.unit, port);
    }

    fn count_dropped(&mut self, port: usize, is_tied: bool) {
        let counts = &mut self.ports[port].counts;
        counts.dropped += 1;
        counts.tied += u64::from(is_tied);
    }

    fn count_trimmed(&mut self, port: usize) {
        self.ports[port].counts.trimmed += 1;
    }

    fn count_joins(&mut self, port: usize, length: u32) {
        self.spend(port, length as usize);
        let counts = &mut self.ports[port].counts;
        counts.longest = counts.longest.max(u64::from(length) + 1);
    }

    fn count_leaves(&mut self, port: usize, length: u32) {
        self.spend(port, length as usize);
    }

    fn count_pause(&mut self, _port: usize) {
        self.base.pauses += 1;
    }

    fn tally(&mut self, port: usize, event: tally::Event) {
        self.base.tally.count(port, self.base.now, event);
    }

    fn is_tied(&self, port: usize) -> bool {
        self.ports[port].entered == self.base.now
    }

    fn enters(&mut self, port: usize) {
        self.ports[port].entered = self.base.now;
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
        if event.kind.is_arrival() {
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
        let waiting: Vec<Waiting> = if self.managed.is_some() {
            managed::cut(self, port)
        } else {
            self.change_queue(port);
            let state = &mut self.ports[port];
            (state.is_paused, state.told_pause) = (false, false);
            std::mem::take(&mut state.queue).into()
        };
        for event in lost {
            if let EventKind::Arrive { frame, .. } = event.kind
                && is_of_hosts(&frame)
            {
                self.base.hosts.lose_on_dead_link(frame.unit, self.base.now, notices);
            }
        }
        for (frame, held) in waiting {
            match self.managed.is_some() {
                true => managed::release(self, (frame, held)),
                false => self.release(held),
            }
            self.base.hosts.lose_on_dead_link(frame.unit, self.base.now, notices);
        }
    }

    fn resume(&mut self, port: usize) {
        match self.managed.is_some() {
            true => managed::resume(self, port),
            false => self.send(port),
        }
    }

    fn is_moving(&self) -> bool {
        self.events.iter().any(|event| event.kind.is_moving())
    }

    fn port(&self, port: usize) -> PortSnapshot {
        let state = &self.ports[port];
        let waiting = self.waiting(port);
        let (ready, paused, has_control) = match &self.managed {
            Some(managed) => {
                let queues = &managed.queues[port];
                (queues.ready(), queues.paused, queues.has_resume())
            }
            None => {
                let paused = if state.is_paused { u16::MAX } else { 0 };
                (u16::from(waiting > 0), paused, state.wants_pause != state.told_pause)
            }
        };
        PortSnapshot {
            counts: state.counts,
            waiting,
            area: state.area + waiting as u128 * u128::from(self.base.now - state.changed),
            ready,
            paused,
            has_control: has_control && !self.base.alive.is_dead(port),
        }
    }

    fn lengths(&self, port: usize) -> Option<Lengths> {
        let mut lengths = self.base.lengths.get(port)?.clone();
        lengths.spend(self.waiting(port), self.base.now);
        Some(lengths)
    }

    fn holds(&self, input: usize, output: usize, class: u8) -> bool {
        let is_it = |(_, held): Waiting| self.held.get(held).is_some_and(|held| held.input == input);
        match &self.managed {
            Some(managed) => managed.queues[output].of(class).any(is_it),
            None => self.ports[output].queue.iter().any(|&entry| is_it(entry)),
        }
    }

    fn copies(&self) -> u64 {
        let underway = self.events.iter().filter(|event| match &event.kind {
            EventKind::Arrive { frame, .. } | EventKind::Complete { frame, .. } => is_of_hosts(frame),
            _ => false,
        });
        let waiting: usize = (0..self.ports.len()).map(|port| self.waiting(port)).sum();
        (underway.count() + waiting) as u64
    }
}
