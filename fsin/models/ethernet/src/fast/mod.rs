//! The fast engine: a calendar of arrivals, and of ports only where they must be asked again.
//!
//! What happens on a link is known when a transmission begins. Without flow control nothing can change the queue of a
//! switch's port, so that the transmission of a frame is known as soon as it enters the queue: a frame costs one event
//! for each link. Of the arrivals through a link, which come in their order, only the next one is in the calendar.
//! Hosts are asked for the next frame when their ports are free, and so are ports with flow control. Timers of
//! connections are not moved: one that goes off too early is set again.
//!
//! On several threads, hosts and parts of the switches are engines of this kind, each for its own devices: frames on
//! links to devices elsewhere are handed over (`border`), and switches tell hosts which frames they have copied,
//! filtered or dropped (`divided`).
//!
//! # Agreement
//! The [reference engine](crate::reference) defines every result; property tests hold that digests and all statistics
//! are equal, bit for bit.

use fsin_core::network::{Notices, Storm};
use fsin_core::parallel::MAX_THREADS;
use fsin_core::topology::Topology;
use trgen::calendar::Calendar;
use trgen::catalog::SpecError;
use trgen::{Cycle, NodeId};

use crate::capture::Direction;
use crate::engine::{Base, Simulated};
use crate::params::{Params, Switching};
use crate::rules::frame::{Control, Frame, NONE};
use crate::rules::hosts::Hosts;
use crate::rules::managed::{self as ports, Managed};
use crate::rules::port::is_of_hosts;
use crate::rules::wait::loop_through;
use crate::rules::wiring::Link;
use crate::switch::MarkAt;
use crate::{Ethernet, Prepared};
use fsin_core::slab::Slab;

mod border;
mod counting;
mod divided;
mod engine;
mod event;
mod managed;
mod side;
mod state;

use border::Border;
use counting::note;
use divided::Divided;
pub(crate) use divided::EVENTS_WORTH_THREADS;
use event::Event;
use managed::{OF_PORT, SENT};
use side::HostSide;
use state::{Carried, Counted, Held, ONLY, OnLink, PortState};

/// An empty network, simulated by `threads` threads (1 to [`MAX_THREADS`]), but by at most one for each switch and one
/// for the hosts. The results do not depend on `threads`.
///
/// # Errors
/// Settings that are out of range or do not fit the topology.
pub fn build(topology: &dyn Topology, params: Params, threads: usize) -> Result<Box<dyn Ethernet>, SpecError> {
    build_for(topology, params, threads, EVENTS_WORTH_THREADS)
}

/// [`build`] with another break-even: `worth` is the number of events of switches in a window of time from which on
/// threads are woken for the next one. For tests: the results do not depend on it.
///
/// # Errors
/// As [`build`].
pub fn build_for(
    topology: &dyn Topology,
    params: Params,
    threads: usize,
    worth: u64,
) -> Result<Box<dyn Ethernet>, SpecError> {
    Ok(build_prepared(crate::prepare(topology, &params)?, params, threads, worth))
}

/// As [`build_for`], of a network that has been prepared with these parameters.
pub(crate) fn build_prepared(prepared: Prepared, params: Params, threads: usize, worth: u64) -> Box<dyn Ethernet> {
    let base = Base::new(prepared, params);
    // Queues of two levels and spreads with state read the present state of ports: on one thread alone.
    let is_one = base.params.is_of_one_thread();
    match threads {
        _ if is_one => Box::new(Simulated(Fast::new(base))),
        ..2 => Box::new(Simulated(Fast::new(base))),
        _ => Box::new(Simulated(Divided::new(base, threads.min(MAX_THREADS), worth))),
    }
}

/// Kind of an event, in the two highest bits of its order: a port becomes free. Then follows the number of the port.
const FREE: u64 = 0;
/// Kind of an event: a frame arrives. Then follow its rank among the frames of the instant, and the number of the port.
const ARRIVE: u64 = 1 << 62;
/// Kind of an event: the end of a frame arrives. Then follow the output and the input.
const COMPLETE: u64 = 2 << 62;
/// Kind of an event: a timer. Then follow the hosts of a connection, or twice the host that is woken.
const TIMER: u64 = 3 << 62;
/// Mask of the number of a port.
const PORT: u64 = (1 << INPUT_BITS) - 1;
/// Mask of the kind.
const KIND: u64 = 3 << 62;

/// \[bits\] Width of the number of the input, behind that of the output, in the order of an event.
const INPUT_BITS: u32 = 31;
/// \[bits\] Width of the number of the second host in the order of an event.
const HOST_BITS: u32 = 24;
/// Mask of the second host.
const HOST: u64 = (1 << HOST_BITS) - 1;

/// The engine, of a whole network, or of some of its devices: hosts or switches.
#[derive(Debug)]
struct Fast<H = Hosts> {
    base: Base<H>,
    calendar: Calendar<Event>,
    frames: Slab<Carried>,
    /// Number of frames, and of ends of frames, on links.
    moving: u64,
    ports: Vec<PortState>,
    held: Slab<Held>,
    /// \[ps\] By connection: the time of its next timer event.
    timers: Vec<u64>,
    /// What ports with classes have.
    managed: Option<Box<Managed<u32>>>,
    /// Number of pause frames on links that stop a class.
    stops: u64,
    /// True if a frame that has arrived at a switch is sent by the queue of its port alone: whole, without flow control
    /// and classes.
    is_plain: bool,
    /// True if marks at the end of transmission are decided by the event that frees the port.
    marks_at_free: bool,
    /// True if switches forward frames by their headers.
    is_cut_through: bool,
    /// Scratch memory for the ports through which a frame leaves a switch.
    outputs: Vec<u32>,
    /// Links to devices that are simulated elsewhere; `None` if all are here.
    border: Option<Box<Border>>,
}

impl<H: HostSide> Fast<H> {
    fn new(base: Base<H>) -> Self {
        let (links, frames) = (&base.wiring.links, base.params.frames);
        let times = |bytes: u32| links.iter().map(move |link| (link, link.time(bytes as u16)));
        let span = times(frames.longest()).map(|(link, time)| time + link.gap + link.delay).max().unwrap_or(1);
        let shortest = times(frames.shortest()).map(|(link, time)| time + link.gap).min().unwrap_or(1);
        let is_host = |owner| base.wiring.is_host(owner);
        let ports = links.iter().map(|link| PortState { is_host: is_host(link.owner), ..PortState::default() });
        let ports: Vec<PortState> = ports.collect();
        let is_cut_through = base.params.switching == Switching::CutThrough;
        let managed = Managed::new(&base.params, &base.wiring, &base.alive);
        Self {
            is_plain: !base.params.pause && !is_cut_through && managed.is_none() && base.params.switch_latency == 0,
            marks_at_free: base.params.switch.trim.is_some()
                && base.params.switch.mark_at == MarkAt::Sent
                && base.params.frames.gap == 0,
            managed,
            stops: 0,
            calendar: Calendar::new(span, shortest / (ports.len() as u64).max(1)),
            frames: Slab::new(),
            moving: 0,
            ports,
            held: Slab::new(),
            timers: Vec::new(),
            is_cut_through,
            outputs: Vec::new(),
            border: None,
            base,
        }
    }

    fn process(&mut self, event: &Event, notices: &mut Notices) {
        match event.order & KIND {
            FREE => self.free(event.order, event.handle, notices),
            ARRIVE if self.is_of_the_past(event) => return,
            ARRIVE => {
                self.moving -= 1;
                self.base.last_moved = event.at;
                self.arrive((event.order & PORT) as usize, event.handle, notices);
            }
            COMPLETE => {
                self.moving -= 1;
                self.base.last_moved = event.at;
                let output = ((event.order & !KIND) >> INPUT_BITS) as usize;
                let Carried { frame, held, .. } = self.frames[event.handle];
                match frame.damaged_by {
                    NONE if self.managed.is_some() => ports::enqueue(self, output, event.handle, notices),
                    NONE => self.enqueue(output, event.handle, notices),
                    by => {
                        note(&mut self.ports[by as usize], &mut self.base, by as usize, Counted::Damaged);
                        self.release(held);
                        self.lose(event.handle, notices);
                    }
                }
            }
            _ if event.order & OF_PORT != 0 => self.expire_of_port(event, notices),
            _ => H::expire(self, event),
        }
        H::serve(self);
    }

    /// Handles a port that is free, or the observed beginning of a transmission that was known before.
    fn free(&mut self, order: u64, frame: u32, notices: &mut Notices) {
        let port = (order & PORT) as usize;
        if frame != NONE {
            if order & SENT != 0 {
                return self.sent(port, frame);
            }
            if !self.base.alive.is_always()
                && !self.ports[port].line.iter().any(|one| (one.begin, one.slot) == (self.base.now, frame))
            {
                return;
            }
            let now = self.base.now;
            return H::show(&mut self.base, port, &self.frames[frame].frame, Direction::Sent, now);
        }
        self.ports[port].is_scheduled = false;
        if self.marks_at_free {
            self.mark_last(port);
        }
        if self.ports[port].is_host {
            self.base.hosts.transmitted(self.base.wiring.links[port].owner, notices);
        }
        self.send(port);
    }

    fn lose(&mut self, slot: u32, notices: &mut Notices) {
        self.base.hosts.lose(self.frames[slot].frame.unit, self.base.now, notices);
        self.frames.release(slot);
    }

    /// Handles a frame that is lost because a link is dead.
    fn lose_on_dead_link(&mut self, slot: u32, notices: &mut Notices) {
        let frame = self.frames[slot].frame;
        if is_of_hosts(&frame) {
            self.base.hosts.lose_on_dead_link(frame.unit, self.base.now, notices);
        }
        self.frames.release(slot);
    }

    /// Begins the next transmission of a port. If the port is not free, schedules this for when it is.
    fn send(&mut self, port: usize) {
        if self.managed.is_some() {
            return match self.ports[port].is_host {
                true => self.send_of_managed_host(port),
                false => ports::send(self, port),
            };
        }
        let state = &mut self.ports[port];
        // At the same instant ports become free in the order of their numbers.
        if state.is_scheduled || self.base.alive.is_dead(port) {
            return;
        }
        let has_control = state.wants_pause != state.told_pause;
        if state.free_at > self.base.now {
            let owner = self.base.wiring.links[port].owner;
            let has_more = !state.queue.is_empty() || state.is_host && self.base.hosts.has_next(owner);
            if has_control || has_more && !state.is_paused {
                self.schedule(port);
            }
            return;
        }
        if has_control {
            state.told_pause = state.wants_pause;
            let frame = Frame::pause(&self.base.params.frames, state.told_pause);
            note(state, &mut self.base, port, Counted::Pauses);
            let slot = self.frames.store(Carried { frame, held: NONE, changes: 0, key: 0 });
            self.transmit(port, slot, self.base.now);
            return self.send(port);
        }
        if state.is_paused {
            return;
        }
        if state.is_host {
            return H::send_next(self, port, 0);
        }
        let length = state.queue.len();
        if let Some(slot) = state.queue.pop_front() {
            note(state, &mut self.base, port, Counted::Leaves { length: length as u32 });
            let held = self.frames[slot].held;
            self.transmit(port, slot, self.base.now);
            if length > 1 {
                self.schedule(port);
            }
            self.release(held);
        }
    }

    /// Schedules an event for the time at which a port is free.
    fn schedule(&mut self, port: usize) {
        let state = &mut self.ports[port];
        if !state.is_scheduled {
            state.is_scheduled = true;
            self.calendar.add(Event { at: state.free_at, order: FREE | port as u64, handle: NONE });
        }
    }

    /// Records a transmission that begins at `begin`, now or later.
    #[inline]
    fn transmit(&mut self, port: usize, slot: u32, begin: u64) {
        let link = &self.base.wiring.links[port];
        let Carried { frame, key, .. } = &mut self.frames[slot];
        let time = link.time(frame.bytes);
        let is_control = frame.control != Control::No;
        if !is_control {
            frame.hops = frame.hops.saturating_add(1);
            if frame.damaged_by == NONE && self.base.errors.damage(port as u32, *key, frame.hops) {
                frame.damaged_by = port as u32;
            }
        }
        let is_by_header = self.is_cut_through && link.is_to_switch && !is_control;
        let at = begin.saturating_add(if is_by_header { link.header() } else { time } + link.delay);
        let device = link.device;
        self.ports[port].free_at = begin.saturating_add(time + link.gap);
        if self.base.taps.are_at(link.owner) {
            self.show_sent(port, slot, begin);
        }
        let one = OnLink { begin, at, slot };
        if self.border.is_some() && self.hand_over(port, one) {
            return;
        }
        self.moving += 1;
        if is_control {
            self.count_stop(slot);
        }
        self.put_on_link(port, device, one);
    }

    /// Puts a frame on the link of a port.
    #[inline(always)]
    fn put_on_link(&mut self, port: usize, device: u32, one: OnLink) {
        let line = &mut self.ports[port].line;
        line.push_back(one);
        if line.len() == 1 {
            self.schedule_arrival(port, device, one);
        }
    }

    /// Shows a frame that begins to be sent to the observer.
    #[cold]
    fn show_sent(&mut self, port: usize, slot: u32, begin: u64) {
        if begin > self.base.now {
            self.calendar.add(Event { at: begin, order: FREE | port as u64, handle: slot });
        } else {
            H::show(&mut self.base, port, &self.frames[slot].frame, Direction::Sent, begin);
        }
    }

    /// Counts a pause frame on a link here that stops a class: it lets nothing move.
    fn count_stop(&mut self, slot: u32) {
        self.stops += u64::from(self.is_stop(slot));
    }

    /// True for a pause frame that stops a class.
    fn is_stop(&self, slot: u32) -> bool {
        self.managed.is_some() && self.frames[slot].frame.control == Control::Off
    }

    /// True if the frame of an arrival was lost when its link died.
    #[inline(always)]
    fn is_of_the_past(&self, event: &Event) -> bool {
        if self.base.alive.is_always() {
            return false;
        }
        let port = (event.order & PORT) as usize;
        self.ports[port].line.front().is_none_or(|one| (one.slot, one.at) != (event.handle, event.at))
    }

    /// Puts the arrival of a frame, or of its header, at the device of a link into the calendar.
    #[inline(always)]
    fn schedule_arrival(&mut self, port: usize, device: u32, OnLink { at, slot, .. }: OnLink) {
        let order = ARRIVE | u64::from(self.base.ties.rank(device, port as u32, at)) << INPUT_BITS | port as u64;
        self.calendar.add(Event { at, order, handle: slot });
    }

    /// Handles a frame, or its header, that has come through the link of a port.
    fn arrive(&mut self, port: usize, slot: u32, notices: &mut Notices) {
        let Carried { frame, changes, .. } = self.frames[slot];
        let link = &self.base.wiring.links[port];
        let &Link { peer, device, is_to_switch, is_visible, .. } = link;
        let time = link.time(frame.bytes);
        let state = &mut self.ports[port];
        state.line.pop_front();
        state.begun = state.begun.saturating_sub(1);
        let next = state.line.front().copied();
        note(state, &mut self.base, port, Counted::Arrived { time, is_visible });
        if let Some(next) = next {
            self.schedule_arrival(port, device, next);
        }
        let (input, now) = (peer as usize, self.base.now);
        H::show(&mut self.base, input, &frame, Direction::Received, now);
        if frame.control != Control::No {
            if self.managed.is_some() {
                return self.pause_of_class(input, slot);
            }
            self.ports[input].is_paused = frame.control == Control::Off;
            self.frames.release(slot);
            return self.send(input);
        }
        if frame.damaged_by != NONE && !(self.is_cut_through && is_to_switch) {
            let by = frame.damaged_by as usize;
            note(&mut self.ports[by], &mut self.base, by, Counted::Damaged);
            return self.lose(slot, notices);
        }
        if !is_to_switch {
            self.base.hosts.arrive(device, &frame, now, notices);
            return self.frames.release(slot);
        }
        let changes = self.base.hosts.changes() - changes;
        if self.base.circulates(&frame, changes) {
            return self.report_storm(input, slot, notices);
        }
        let wiring = &self.base.wiring;
        let managed = &self.managed;
        let length = |port: usize| managed.as_ref().map_or(0, |managed| managed.length(port, now));
        match self.base.tables.forward(wiring, input, &frame, changes > 0, now, &mut self.outputs, length) {
            Some(output) if self.is_plain => self.enqueue(output as usize, slot, notices),
            Some(output) if self.managed.is_some() => self.pass_through(input, slot, output as usize, notices),
            Some(output) => self.pass_on(port, slot, &[output], notices),
            None => {
                let outputs = std::mem::take(&mut self.outputs);
                self.pass_on(port, slot, &outputs, notices);
                self.outputs = outputs;
            }
        }
    }

    /// Ends the run: a frame has circulated in a loop.
    #[cold]
    fn report_storm(&mut self, input: usize, slot: u32, notices: &mut Notices) {
        let frame = self.frames[slot].frame;
        let (at, forwarded) = (Cycle(self.base.now), u64::from(frame.hops) - 1);
        let cycle = loop_through(&self.base.wiring, input);
        H::fail(&mut self.base, Storm { at, source_node: NodeId(frame.source), forwarded, cycle }.into());
        self.base.hosts.filter(frame.unit, self.base.now, notices);
        self.frames.release(slot);
    }

    /// Lets a frame that is in a switch, with its header at least, leave through some ports.
    fn pass_on(&mut self, port: usize, slot: u32, outputs: &[u32], notices: &mut Notices) {
        let input = self.base.wiring.links[port].peer as usize;
        if self.managed.is_some() {
            return self.pass_on_managed(input, slot, outputs, notices);
        }
        let unit = self.frames[slot].frame.unit;
        let Some((&last, others)) = outputs.split_last() else {
            self.frames.release(slot);
            return self.base.hosts.filter(unit, self.base.now, notices);
        };
        if self.base.params.pause {
            let state = &mut self.ports[input];
            if state.inside >= self.base.params.port_queue {
                note(state, &mut self.base, input, Counted::Dropped { is_tied: false });
                self.base.hosts.drop_copy(self.frames[slot].frame.unit, self.base.now, notices);
                return self.frames.release(slot);
            }
            state.inside += 1;
            self.frames[slot].held = self.hold_for(input, outputs.len() as u32);
        }
        if !others.is_empty() {
            self.base.hosts.copy(unit, others.len() as u32);
        }
        for &output in others {
            let copy = self.frames.store(self.frames[slot]);
            self.pass_on_to(port, copy, output as usize, notices);
        }
        self.pass_on_to(port, slot, last as usize, notices);
        if self.base.params.pause {
            let state = &mut self.ports[input];
            if state.inside >= self.base.params.xoff && !state.wants_pause {
                state.wants_pause = true;
                self.send(input);
            }
        }
    }

    /// Lets a frame leave a switch through an output. A cut-through switch first waits for the end of a frame that
    /// would leave faster than it comes.
    fn pass_on_to(&mut self, port: usize, slot: u32, output: usize, notices: &mut Notices) {
        let link = &self.base.wiring.links[port];
        let is_faster = self.is_cut_through && self.base.wiring.links[output].rate > link.rate;
        let latency = self.base.params.switch_latency;
        if !is_faster && latency == 0 {
            return self.enqueue(output, slot, notices);
        }
        let rest = if is_faster { link.time(self.frames[slot].frame.bytes) - link.header() } else { 0 };
        self.delay(port, output, slot, rest + latency);
    }

    /// Lets a frame that has arrived through the link of a port enter the queue of an output after a time \[ps\].
    fn delay(&mut self, port: usize, output: usize, slot: u32, time: u64) {
        let link = &self.base.wiring.links[port];
        let at = self.base.now.saturating_add(time);
        // The input itself, or its rank by the hash, which differs from those of the others.
        let rank = if self.base.ties.is_hash() { self.base.ties.rank(link.device, port as u32, at) } else { link.peer };
        let order = COMPLETE | (output as u64) << INPUT_BITS | u64::from(rank);
        self.moving += 1;
        self.calendar.add(Event { at, order, handle: slot });
    }

    /// Transmits a frame through an output, puts it into its queue, or drops it.
    #[inline]
    fn enqueue(&mut self, output: usize, slot: u32, notices: &mut Notices) {
        // The link has died while the end of the frame was coming.
        if self.base.alive.is_dead(output) {
            self.release(self.frames[slot].held);
            return self.lose_on_dead_link(slot, notices);
        }
        if self.base.params.pause {
            return self.enqueue_held(output, slot);
        }
        let (now, state) = (self.base.now, &mut self.ports[output]);
        let mut begin = now;
        if state.free_at > now {
            begin = state.free_at;
            let length = state.waiting_now(now);
            if length >= self.base.wiring.rooms[output] as usize {
                let is_tied = state.entered == now;
                note(state, &mut self.base, output, Counted::Dropped { is_tied });
                self.base.hosts.drop_copy(self.frames[slot].frame.unit, self.base.now, notices);
                return self.frames.release(slot);
            }
            note(state, &mut self.base, output, Counted::Waits { begin, length: length as u32 });
        }
        state.entered = now;
        self.transmit(output, slot, begin);
    }

    /// Puts a frame into the queue of an output, with flow control, by which nothing is dropped.
    fn enqueue_held(&mut self, output: usize, slot: u32) {
        let (now, state) = (self.base.now, &mut self.ports[output]);
        let length = state.queue.len();
        if length == 0 && state.free_at <= now && !state.is_paused && state.wants_pause == state.told_pause {
            let held = self.frames[slot].held;
            self.transmit(output, slot, now);
            return self.release(held);
        }
        state.queue.push_back(slot);
        note(state, &mut self.base, output, Counted::Joins { length: length as u32 });
        if !state.is_scheduled {
            self.send(output);
        }
    }

    /// Keeps of a frame that came through an input that so many copies of it are in the switch.
    #[inline]
    fn hold_for(&mut self, input: usize, copies: u32) -> u32 {
        let input = input as u32;
        if copies == 1 { ONLY | input } else { self.held.store(Held { input, copies }) }
    }

    /// The input through which a frame came that is [held](Self::hold_for).
    fn input_of(&self, held: u32) -> u32 {
        if held >= ONLY { held & !ONLY } else { self.held[held].input }
    }

    /// A copy has left. The input, if it was the last one of a frame that was held.
    #[inline]
    fn let_go_of(&mut self, held: u32) -> Option<usize> {
        if held == NONE {
            return None;
        }
        if held >= ONLY {
            return Some((held & !ONLY) as usize);
        }
        let this = &mut self.held[held];
        this.copies -= 1;
        if this.copies > 0 {
            return None;
        }
        let input = this.input as usize;
        self.held.release(held);
        Some(input)
    }

    /// Releases a copy that has left a switch.
    #[inline]
    fn release(&mut self, held: u32) {
        let Some(input) = self.let_go_of(held) else { return };
        let state = &mut self.ports[input];
        state.inside -= 1;
        if state.wants_pause && state.inside <= self.base.params.xon {
            state.wants_pause = false;
            self.send(input);
        }
    }
}
