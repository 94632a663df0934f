//! The LogGOPS host model: it executes a graph, apart from the network between the hosts.
//!
//! Each host has CPUs and network interfaces, with the numbers that the operations use. Sending s bytes occupies the
//! CPU for o + (s-1) O and the sending side of the interface for g + (s-1) G; so does receiving, on arrival of the
//! message, whether or not a receive has been posted. The sender's operation of a message above S bytes remains
//! unfinished until the message is received (rendezvous). Every event has a time and a number. Ties are broken by
//! number, that is, in order of insertion; operations that become ready together are inserted sends first, then
//! receives, then calculations.
//!
//! # How the model departs from reality, and who could notice
//! - A rendezvous has no extra round trip: data travel at once, and only the sender's operation ends late.
//! - A receive costs nothing when it is posted, and CPU time when its message arrives, even if the host is not waiting
//!   for it.
//! - A dependent operation is inserted at the time at which its CPU is free, which may be earlier than now; with
//!   several CPUs per host it can start before the end of the operation on which it depends.
//!
//! All this is as in LogGOPSim, so that results agree to the unit.
//!
//! Source: Hoefler, Schneider, Lumsdaine, *LogGOPSim: Simulating Large-Scale Applications in the LogGOPS Model*, LSAP
//! 2010.
//!
//! Decision: docs/decisions/0122-ticks.md.

pub use super::progress::{Done, Remains};

use super::agenda::{Agenda, Entry, Item};
use super::pending::{self, Pending};
use super::progress::picoseconds;
use super::resources::Resources;
use super::waiting::{Needs, Nic, WaitQueue};
use super::{Graph, Kind, NEXT, Node, Rank, STARTED};
use crate::trace::replay::Misfits;
use crate::trace::timeline::{Busy, Doing, Timeline};
use crate::units::Cycle;

/// Parameters of a host, in the time unit of the graph (ns by convention).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostParams {
    /// \[time units\] o: CPU time per message sent or received.
    pub overhead: u64,
    /// \[time units\] g: time of a network interface per message.
    pub gap: u64,
    /// \[ticks/byte\] G: time of a network interface, and of the receiving CPU if G exceeds O; 0 if a simulated network
    /// replaces it.
    pub gap_per_byte: u64,
    /// \[ticks/byte\] O: CPU time.
    pub overhead_per_byte: u64,
    /// Ticks per time unit, at least 1. G and O are whole numbers of ticks, so that a G of 0.04 is 4 with 100 ticks per
    /// unit. Hosts count in ticks; no time is ever rounded.
    pub ticks: u64,
    /// \[bytes\] S: size of the largest eager message.
    pub rendezvous: u64,
    /// The rules of graphs with streams ([`streams`](super::streams)) instead of the classic ones.
    pub streams: bool,
}

impl Default for HostParams {
    /// LogGOPSim's defaults: o 1500, g 1000, G 6, O 0, S 65535.
    fn default() -> Self {
        Self {
            overhead: 1500,
            gap: 1000,
            gap_per_byte: 6,
            overhead_per_byte: 0,
            rendezvous: 65_535,
            ticks: 1,
            streams: false,
        }
    }
}

/// The transport of messages between hosts.
pub trait Wire {
    /// A message leaves its host at time `leaves` \[ticks\] (its send started at `leaves` - o).
    ///
    /// Returns its arrival time, if it is already known; otherwise [`Hosts::arrive`] is called later.
    fn carry(&mut self, leaves: u64, host: u32, node: u32, operation: &Node) -> Option<u64>;
}

/// Receives, messages and operations that wait at a host.
#[derive(Clone, Default, Debug)]
pub(super) struct Host {
    /// Receives waiting for their message.
    pub(super) posted: Pending,
    /// Messages without a posted receive.
    pub(super) unexpected: Pending,
    /// Operations and messages that wait for resources: one queue for each combination of resources.
    queues: Vec<WaitQueue>,
    /// \[ticks\] Its calculations.
    pub(super) busy: Busy,
}

impl Host {
    /// A host of a graph in which receives with any tag match tags below `own`.
    fn new(own: u32) -> Self {
        Self { posted: Pending::new(own), unexpected: Pending::new(own), ..Self::default() }
    }

    /// Puts a host at which nothing waits back to its beginning.
    fn begin_anew(&mut self, own: u32) {
        for pending in [&mut self.posted, &mut self.unexpected] {
            if pending.len() > 0 {
                *pending = Pending::new(own);
            }
        }
        self.queues.clear();
        self.busy = Busy::default();
    }
}

/// All hosts during the execution of a graph.
#[derive(Clone, Debug)]
pub struct Hosts {
    /// The graph; `waits_for` of its operations counts down to zero.
    pub(super) graph: Graph,
    pub(super) params: HostParams,
    pub(super) resources: Resources,
    pub(super) hosts: Vec<Host>,
    pub(super) agenda: Agenda,
    /// \[ticks\] Time of the event in progress.
    now: u64,
    /// Number of the next event.
    next_number: u64,
    /// Number of operations that have not started.
    pub(super) unstarted: u64,
    /// Number of receives waiting for a message.
    pub(super) unserved: u64,
    /// Operations that became ready during the current event.
    ready: Vec<(u32, u32)>,
    /// Receives whose buffer was too small for the message.
    misfits: Misfits,
    /// True if an event would come after the [end of the clock](CLOCK_END); none follows.
    is_past_end: bool,
    pub(super) timeline: Timeline,
}

/// \[ticks\] The end of the clock: later times are not computed.
pub const CLOCK_END: u64 = Cycle::LAST.0;

/// \[ps\] A time unit.
pub(super) const PER_UNIT: u128 = 1000;

impl Hosts {
    /// Hosts at time zero, with the root operations of each ready.
    #[must_use]
    pub fn new(mut graph: Graph, params: HostParams) -> Self {
        let count = graph.ranks().len();
        let (cpu, nic) = graph.highest_resources();
        let (cpus, nics) = (usize::from(cpu) + 1, usize::from(nic) + 1);
        let ticks = params.ticks.max(1);
        let params = HostParams {
            overhead: params.overhead.saturating_mul(ticks),
            gap: params.gap.saturating_mul(ticks),
            ticks,
            ..params
        };
        graph.count_in_ticks(ticks);
        let resources = Resources::new(count, cpus, nics);
        let unstarted = graph.ranks().iter().map(|rank| rank.nodes().len() as u64).sum();
        // The number of the event of a root operation is its position.
        let roots = std::mem::take(&mut graph.roots);
        let next_number = roots.len() as u64;
        let agenda = Agenda::new(roots);
        Self {
            hosts: vec![Host::new(graph.own_tags_below()); count],
            graph,
            params,
            resources,
            agenda,
            now: 0,
            next_number,
            unstarted,
            unserved: 0,
            ready: Vec::new(),
            misfits: Misfits::default(),
            is_past_end: false,
            timeline: Timeline::default(),
        }
    }

    /// Puts hosts that have executed their graph back to its beginning. What they did over time is not recorded again.
    pub fn begin_anew(&mut self) {
        self.graph.begin_anew();
        let unstarted = self.graph.ranks().iter().map(|rank| rank.nodes().len() as u64).sum();
        let roots = std::mem::take(&mut self.graph.roots);
        let own = self.graph.own_tags_below();
        self.next_number = roots.len() as u64;
        self.agenda = Agenda::new(roots);
        // Their memory is used again.
        self.hosts.iter_mut().for_each(|host| host.begin_anew(own));
        self.resources.begin_anew();
        (self.now, self.unstarted, self.unserved, self.is_past_end) = (0, unstarted, 0, false);
        self.ready.clear();
        self.misfits = Misfits::default();
        self.timeline = Timeline::default();
    }

    /// Receives so far whose buffer was too small for the message.
    #[must_use]
    pub const fn misfits(&self) -> &Misfits {
        &self.misfits
    }

    /// The graph in execution; `waits_for` of an operation is its number of unmet dependencies, or [`STARTED`].
    #[must_use]
    pub const fn graph(&self) -> &Graph {
        &self.graph
    }

    /// True if the execution has ended because an event or the end of an operation is beyond the [end of the
    /// clock](CLOCK_END).
    #[must_use]
    pub fn is_past_end(&self) -> bool {
        self.is_past_end || self.finish().into_iter().any(|time| time > CLOCK_END)
    }

    /// True if an event was beyond the [end of the clock](CLOCK_END), so that none follows.
    pub(super) const fn has_met_end(&self) -> bool {
        self.is_past_end
    }

    /// Number of events so far: operations and messages.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.next_number
    }

    /// Operations that have not started yet.
    #[must_use]
    pub const fn unstarted(&self) -> u64 {
        self.unstarted
    }

    /// True if every operation has started and every receive has its message.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.unstarted == 0 && self.unserved == 0
    }

    /// Ticks per time unit of the graph.
    #[must_use]
    pub const fn ticks(&self) -> u64 {
        self.params.ticks
    }

    /// \[ticks\] The end of each host: the latest time of its CPUs.
    #[must_use]
    pub fn finish(&self) -> Vec<u64> {
        self.resources.finish()
    }

    /// \[ticks\] Time of the next event, if any.
    #[must_use]
    pub fn next_time(&self) -> Option<u64> {
        self.agenda.next_time()
    }

    /// Announces that a message for which [`Wire::carry`] returned no time arrives at `time` \[ticks\].
    pub fn arrive(&mut self, time: u64, host: u32, node: u32) {
        self.arrive_until(time, time, host, node);
    }

    /// The same, of a message that may be taken from `time` on and whose last byte arrives at `full`.
    fn arrive_until(&mut self, time: u64, full: u64, host: u32, node: u32) {
        let number = self.new_number();
        let ticks = self.params.ticks;
        self.timeline.arrived((host, node.into()), || picoseconds(full, ticks));
        self.agenda.push(Entry { time, number, item: Item::Message { host, node } });
    }

    /// Executes the next event. False if there is none.
    pub fn step(&mut self, wire: &mut dyn Wire) -> bool {
        self.step_over(wire)
    }

    /// As [`step`](Self::step), for a transport whose type is known.
    pub fn step_over<W: Wire + ?Sized>(&mut self, wire: &mut W) -> bool {
        let Some(Entry { time, number, item }) = self.agenda.pop() else { return false };
        if time > CLOCK_END {
            self.is_past_end = true;
            return false;
        }
        self.now = time;
        match item {
            Item::Operation { host, node } => {
                let operation = self.node(host, node);
                match operation.kind {
                    Kind::Recv => self.receive(time, host, node, &operation),
                    _ => {
                        let needs = needs(&operation);
                        let free = self.resources.free(host, needs);
                        if free > time {
                            self.enqueue(host, needs, number, item, free);
                        } else {
                            self.start(time, host, node, &operation, wire);
                        }
                    }
                }
            }
            Item::Message { host, node } if self.params.streams => self.match_message(time, number, host, node),
            Item::Message { host, node } => {
                let operation = self.node(host, node);
                let needs = Needs { cpu: operation.cpu, nic: Nic::Receiving(operation.nic) };
                let free = self.resources.free(operation.peer, needs);
                if free > time {
                    self.enqueue(operation.peer, needs, number, item, free);
                } else {
                    self.take_message(time, host, node, &operation);
                }
            }
            Item::Matched { host, node, receive } => self.take_matched(time, host, node, receive),
            Item::Finish { host, node } => self.finish_operation(host, node),
            Item::Retry { host, queue } => self.retry(time, number, host, queue, wire),
        }
        true
    }

    /// An operation of a host.
    pub(super) fn node(&self, host: u32, node: u32) -> Node {
        self.graph.ranks()[host as usize].nodes()[node as usize]
    }

    /// A new number for an event.
    pub(super) fn new_number(&mut self) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        number
    }

    /// Makes an item wait until its resources are free, which are so at time `free` \[ticks\] at the earliest.
    pub(super) fn enqueue(&mut self, host: u32, needs: Needs, number: u64, item: Item, free: u64) {
        let queues = &mut self.hosts[host as usize].queues;
        let queue = match queues.iter().position(|queue| queue.needs == needs) {
            Some(queue) => queue,
            None => {
                queues.push(WaitQueue::new(needs));
                queues.len() - 1
            }
        };
        let at = queues[queue].add(number, item, free);
        self.schedule_retry(at, host, queue as u32);
    }

    /// Inserts an event that retries the first item of a queue, if a time and number are given.
    fn schedule_retry(&mut self, at: Option<(u64, u64)>, host: u32, queue: u32) {
        if let Some((time, number)) = at {
            self.agenda.push(Entry { time, number, item: Item::Retry { host, queue } });
        }
    }

    /// Starts the first item of a queue if its resources are free; otherwise it waits further.
    fn retry<W: Wire + ?Sized>(&mut self, time: u64, number: u64, host: u32, index: u32, wire: &mut W) {
        let queue = &mut self.hosts[host as usize].queues[index as usize];
        if !queue.is_due(time, number) {
            return;
        }
        let free = self.resources.free(host, queue.needs);
        if free > time || queue.first() != Some(number) {
            let at = queue.reschedule(free.max(time));
            self.schedule_retry(at, host, index);
            return;
        }
        let Some((_, item)) = queue.take() else { return };
        match item {
            Item::Operation { host, node } => {
                let operation = self.node(host, node);
                self.start(time, host, node, &operation, wire);
            }
            Item::Message { host, node } => {
                let operation = self.node(host, node);
                self.take_message(time, host, node, &operation);
            }
            Item::Matched { host, node, receive } => self.take_matched(time, host, node, receive),
            Item::Finish { .. } | Item::Retry { .. } => {}
        }
        let queue = &mut self.hosts[host as usize].queues[index as usize];
        let at = if queue.is_empty() {
            queue.reschedule(0)
        } else {
            let free = self.resources.free(host, queue.needs);
            queue.reschedule(free.max(time))
        };
        self.schedule_retry(at, host, index);
    }

    /// Starts a calculation or send, whose resources are free.
    fn start<W: Wire + ?Sized>(&mut self, now: u64, host: u32, node: u32, operation: &Node, wire: &mut W) {
        if self.params.streams {
            return self.start_in_stream(now, host, node, operation, wire);
        }
        self.mark_started(host, node);
        match operation.kind {
            Kind::Send => {
                let rest = operation.size.max(1) - 1;
                let params = &self.params;
                let busy = params.overhead.saturating_add(rest.saturating_mul(params.overhead_per_byte));
                let taken = params.gap.saturating_add(rest.saturating_mul(params.gap_per_byte));
                self.resources.take_cpu(host, operation.cpu, now.saturating_add(busy));
                self.resources.take_sending(host, operation.nic, now.saturating_add(taken));
                self.note(host, Doing::Sending, now, now.saturating_add(busy), || {
                    format!("send to {}", operation.peer)
                });
                self.note_sent(host, node, operation, now);
                let leaves = now.saturating_add(self.params.overhead);
                let eager = operation.size <= self.params.rendezvous;
                if let Some(arrival) = wire.carry(leaves, host, node, operation) {
                    // Its first byte: the others follow while the receiver takes it.
                    let full = arrival.saturating_add(rest.saturating_mul(self.params.gap_per_byte));
                    self.arrive_until(arrival, full, host, node);
                }
                self.release_started(host, operation);
                if eager {
                    self.release_finished(host, node, operation);
                }
            }
            _ => {
                self.resources.take_cpu(host, operation.cpu, now.saturating_add(operation.size));
                self.note_calculation(host, node, now, now.saturating_add(operation.size));
                self.release_started(host, operation);
                self.release_finished(host, node, operation);
            }
        }
        self.schedule_ready();
    }

    /// Marks an operation as started.
    #[inline]
    pub(super) fn mark_started(&mut self, host: u32, node: u32) {
        self.unstarted -= 1;
        self.graph.ranks[host as usize].nodes[node as usize].waits_for = STARTED;
    }

    /// Records that a receive got a message that is larger than its buffer.
    #[cold]
    pub(super) fn record_misfit(&mut self, sender: u32, send: u32, receiver: u32, receive: u32) {
        let (bytes, room) = (self.node(sender, send).size, self.node(receiver, receive).size);
        let place = |rank, operation| format!("rank {rank}, operation {}", operation + 1);
        self.misfits.add(room, bytes, || (place(receiver, receive), place(sender, send)));
    }

    /// Starts a receive: it takes a message that has arrived, or is posted.
    fn receive(&mut self, now: u64, host: u32, node: u32, operation: &Node) {
        if self.params.streams {
            return self.receive_in_stream(now, host, node, operation);
        }
        self.mark_started(host, node);
        self.release_started(host, operation);
        match self.hosts[host as usize].unexpected.take(operation.peer, operation.tag) {
            Some(message) => {
                if operation.size < self.node(message.peer, message.operation).size {
                    self.record_misfit(message.peer, message.operation, host, node);
                }
                self.release_finished(host, node, operation);
                if operation.size > self.params.rendezvous {
                    let send = self.node(message.peer, message.operation);
                    self.resources.hold_sender(message.peer, operation.cpu, operation.nic, now);
                    // An eager send has finished long ago.
                    if send.size > self.params.rendezvous {
                        self.release_finished(message.peer, message.operation, &send);
                    }
                }
            }
            None => {
                let receive = pending::Entry { peer: operation.peer, tag: operation.tag, operation: node };
                self.hosts[host as usize].posted.push(receive);
                self.unserved += 1;
            }
        }
        self.schedule_ready();
    }

    /// Takes the message of a send that has arrived; the resources of its destination are free.
    fn take_message(&mut self, now: u64, from: u32, node: u32, send: &Node) {
        let host = send.peer;
        let rest = send.size.max(1) - 1;
        let params = self.params;
        let per_byte = params.overhead_per_byte.max(params.gap_per_byte);
        let busy = params.overhead.saturating_add(rest.saturating_mul(per_byte));
        let taken = params.gap.saturating_add(rest.saturating_mul(params.gap_per_byte));
        self.resources.take_cpu(host, send.cpu, now.saturating_add(busy));
        self.resources.take_receiving(host, send.nic, now.saturating_add(taken));
        self.note(host, Doing::Receiving, now, now.saturating_add(busy), || format!("receive from {from}"));
        match self.hosts[host as usize].posted.take(from, send.tag) {
            Some(posted) => {
                self.unserved -= 1;
                let receive = self.node(host, posted.operation);
                if receive.size < send.size {
                    self.record_misfit(from, node, host, posted.operation);
                }
                self.release_finished(host, posted.operation, &receive);
                if send.size > params.rendezvous {
                    self.resources.hold_sender(from, send.cpu, send.nic, now);
                    self.release_finished(from, node, send);
                }
            }
            None => {
                let message = pending::Entry { peer: from, tag: send.tag, operation: node };
                self.hosts[host as usize].unexpected.push(message);
            }
        }
        self.schedule_ready();
    }

    /// Meets the dependencies of the operations that wait for the start of this one.
    pub(super) fn release_started(&mut self, host: u32, operation: &Node) {
        if operation.on_start > 0 {
            let starts = self.graph.ranks[host as usize].starts(operation);
            self.release(host, operation.first + operation.finishes(), starts);
        }
    }

    /// Meets the dependencies of the operations that wait for the end of this one.
    #[inline]
    pub(super) fn release_finished(&mut self, host: u32, node: u32, operation: &Node) {
        if operation.on_finish & NEXT == 0 {
            self.release(host, operation.first, operation.on_finish);
            return;
        }
        let left = &mut self.graph.ranks[host as usize].nodes[node as usize + 1].waits_for;
        *left -= 1;
        if *left == 0 {
            self.ready.push((host, node + 1));
        }
    }

    /// Meets one dependency of each of `count` dependents, from edge `first` on.
    #[inline]
    fn release(&mut self, host: u32, first: u32, count: u32) {
        let Rank { nodes, edges, .. } = &mut self.graph.ranks[host as usize];
        for &dependent in &edges[first as usize..][..count as usize] {
            let left = &mut nodes[dependent as usize].waits_for;
            *left -= 1;
            if *left == 0 {
                self.ready.push((host, dependent));
            }
        }
    }

    /// Inserts the operations that became ready, host by host, sends first, then receives, then calculations.
    #[inline]
    pub(super) fn schedule_ready(&mut self) {
        match self.ready.as_slice() {
            [] => {}
            &[(host, node)] => {
                self.ready.clear();
                self.schedule_operation(host, node);
            }
            _ => self.schedule_several(),
        }
    }

    /// Inserts several operations.
    #[inline(never)]
    fn schedule_several(&mut self) {
        let mut ready = std::mem::take(&mut self.ready);
        ready.sort_by_key(|&(host, node)| (host, self.node(host, node).kind));
        ready.drain(..).for_each(|(host, node)| self.schedule_operation(host, node));
        self.ready = ready;
    }

    /// Inserts an operation at the time at which its resources are free; by the rules of streams now, when it is ready.
    fn schedule_operation(&mut self, host: u32, node: u32) {
        let operation = &self.graph.ranks[host as usize].nodes[node as usize];
        let free = self.resources.free(host, needs(operation));
        let time = if self.params.streams { self.now } else { free };
        let number = self.new_number();
        self.agenda.push(Entry { time, number, item: Item::Operation { host, node } });
    }
}

/// The resources that an operation needs to start. A receive needs none; it is inserted when its CPU is free.
fn needs(operation: &Node) -> Needs {
    let nic = if operation.kind == Kind::Send { Nic::Sending(operation.nic) } else { Nic::None };
    Needs { cpu: operation.cpu, nic }
}
