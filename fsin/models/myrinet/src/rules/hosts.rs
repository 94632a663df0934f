//! Hosts: they cut messages into packets, and put them together again; and the record of what they send and receive.
//!
//! The queue of a host has no bound: a source that must not run ahead waits for the notice that a message is sent.

use std::collections::VecDeque;

use fsin_core::failures::Reconfiguration;
use fsin_core::messages::{Messages, Payload, SendQueue, Underway};
use fsin_core::network::{Injected, Notices};
use fsin_core::slab::Slab;
use fsin_core::stats::{Distribution, Receipt};
use trgen::{Cycle, Message};

use super::routes::{Route, Routes};
use super::wires::{NONE, Wires};
use crate::details::Totals;
use crate::params::{AROUND, Params, TICKS};
use crate::{Event, EventKind};

/// A packet that has begun, until its last character has arrived or has been removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Packet {
    /// The message to which the packet belongs.
    message: u32,
    /// Number of the packet among the packets of its message.
    index: u64,
    pub(crate) source: u32,
    pub(crate) destination: u32,
    /// Index of the table of routes that the packet uses: 1 for routes around dead links.
    table: u8,
    pub(crate) route: Route,
    /// \[characters\] Length with route and GAP. Character 0 selects the output at the first switch.
    pub(crate) length: u32,
    /// Number among all packets of the run. It distinguishes packets that have had the same handle.
    pub(crate) serial: u64,
    /// False after the packet has been removed.
    pub(crate) is_alive: bool,
    /// True if its CRC has come to the destination.
    pub(crate) is_delivered: bool,
    /// True if its GAP has left its host.
    has_left: bool,
    /// True if its GAP has come to its destination.
    is_over: bool,
    /// True if its GAP has left the last switch.
    pub(crate) has_passed: bool,
}

impl Packet {
    /// Index of the CRC, the last character that the message needs.
    pub(crate) const fn crc(&self) -> u32 {
        self.length - 2
    }

    /// Index of the GAP, the last character.
    pub(crate) const fn gap(&self) -> u32 {
        self.length - 1
    }
}

/// Why a packet is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Loss {
    TooOld,
    DeadLink,
}

/// The state of a host.
#[derive(Clone, Default, Debug)]
struct Host {
    /// Number of packets of all messages accepted so far.
    sequence: u64,
    /// Messages that have not been cut into packets completely.
    queue: SendQueue,
}

/// All hosts.
#[derive(Debug)]
pub(crate) struct Hosts {
    params: Params,
    /// \[links\] Links on each route that are not links of the topology.
    hidden_hops: u64,
    /// By number: the state of the host.
    hosts: Vec<Host>,
    /// Messages under way, each with the number of its first packet among the packets of its source.
    pub(crate) messages: Messages<u64>,
    /// Packets that have begun.
    packets: Slab<Packet>,
    /// Number of packets begun in the run.
    serial: u64,
    /// Tables of routes: the first, and a second one for the time after dead links have been seen, if there are any.
    routes: Vec<Routes>,
    /// Routes to come.
    pub(crate) reconfiguration: Reconfiguration<Routes>,
    /// \[ticks\] Time at which dead links are seen.
    seen_at: u64,
    /// By time: \[ticks\] the deadline of a packet, its handle and its serial number.
    deadlines: VecDeque<(u64, u32, u64)>,
    /// \[ps\] Latencies of messages.
    pub(crate) message_latency: Distribution,
    /// Counts of the whole network.
    pub(crate) totals: Totals,
    /// Events for a test; `None` unless a test observes them.
    pub(crate) events: Option<Vec<Event>>,
}

impl Hosts {
    pub(crate) fn new(
        params: &Params,
        wires: &Wires,
        routes: Vec<Routes>,
        reconfiguration: Reconfiguration<Routes>,
    ) -> Self {
        Self {
            params: params.clone(),
            hidden_hops: wires.hidden_hops(),
            hosts: vec![Host::default(); wires.hosts],
            messages: Messages::new(wires.hosts),
            packets: Slab::new(),
            serial: 0,
            routes,
            reconfiguration,
            seen_at: if params.faults == 0 { u64::MAX } else { 2 * params.beat * TICKS },
            deadlines: VecDeque::new(),
            message_latency: Distribution::default(),
            totals: Totals::default(),
            events: None,
        }
    }

    /// Accepts a message at instant `now`. Its host may then be able to send.
    pub(crate) fn inject(&mut self, message: Message, now: u64) -> Injected {
        let Message { source, destination, bytes, .. } = message;
        let (packets, short) = (self.payload().packets_of(bytes), self.payload().short(bytes));
        let is_known = destination.index() < self.hosts.len() && source.index() < self.hosts.len();
        if !is_known || source == destination {
            return self.messages.drop_at_source(packets, short);
        }
        if !self.reconfiguration.is_held() && !self.routes[0].reach(source.0, destination.0) {
            self.totals.messages_lost += 1;
            return self.messages.drop_at_source(packets, short);
        }
        let host = &mut self.hosts[source.index()];
        let offered = Cycle(now / TICKS);
        host.queue.push(self.messages.accept(message, packets, short, offered, host.sequence));
        host.sequence += packets;
        Injected::Accepted
    }

    /// \[bytes\] Data of a full packet.
    const fn payload(&self) -> Payload {
        Payload(self.params.payload)
    }

    /// \[packets\] Packets that wait at a host.
    pub(crate) fn waiting(&self, host: u32) -> u64 {
        self.hosts[host as usize].queue.waiting(&self.messages)
    }

    /// Begins the next packet of a host at instant `now`, and returns its handle; [`NONE`] if the host has no packet.
    pub(crate) fn begin(&mut self, number: u32, now: u64, wires: &Wires) -> u32 {
        if self.reconfiguration.is_held() {
            return NONE;
        }
        let Some((slot, index)) = self.hosts[number as usize].queue.pop(&self.messages) else { return NONE };
        let Underway { message, offered, .. } = *self.messages.get(slot);
        let destination = message.destination.0;
        let table = u8::from(now >= self.seen_at);
        let route = self.routes[usize::from(table)].between(wires, number, destination);
        let payload = self.payload().bytes_of(message.bytes, index);
        self.serial += 1;
        let (serial, length) = (self.serial, route.switches + payload + AROUND + 1);
        let packet = self.packets.store(Packet {
            message: slot,
            index,
            source: number,
            destination,
            table,
            route,
            length,
            serial,
            is_alive: true,
            is_delivered: false,
            has_left: false,
            is_over: false,
            has_passed: false,
        });
        let recorder = &mut self.messages.recorder;
        recorder.injected(1);
        recorder.short().injected += u64::from(self.params.payload - payload);
        recorder.departed(picoseconds(now - ticks(offered)));
        let deadline = now.saturating_add(self.params.timeout * TICKS);
        self.deadlines.push_back((deadline, packet, serial));
        packet
    }

    /// Makes the failures and repairs at instant `now`, before all else at that instant.
    pub(crate) fn change(&mut self, now: u64) {
        while self.reconfiguration.change(cycle_at(now)) {
            self.messages.recorder.mark(Cycle(cycle_at(now)));
        }
    }

    /// Lets new routes take effect at instant `now` if links have changed and the CRC of every packet has arrived.
    /// Returns true if so.
    pub(crate) fn renew(&mut self, now: u64, notices: &mut Notices) -> bool {
        // Packets that are removed do not arrive.
        if self.messages.begun() > self.totals.timeouts + self.totals.lost_on_dead_links {
            return false;
        }
        let Some(routes) = self.reconfiguration.renew(cycle_at(now)) else { return false };
        for (source, host) in (0..).zip(&mut self.hosts) {
            let messages = &self.messages;
            let is_lost = |slot: u32| !routes.reach(source, messages.get(slot).message.destination.0);
            for (slot, first) in host.queue.give_up(is_lost) {
                let Underway { message, packets, .. } = *self.messages.get(slot);
                let short = Payload(self.params.payload).short(message.bytes);
                let is_first = self.messages.abandon(slot, packets - first, short, notices);
                self.totals.messages_lost += u64::from(is_first);
            }
        }
        self.routes[0] = routes;
        true
    }

    /// Records that a dead link has damaged a packet.
    pub(crate) fn damage(&mut self, handle: u32) {
        let Packet { message: slot, index, .. } = self.packets[handle];
        let Underway { message, more: sequence, .. } = *self.messages.get(slot);
        self.messages.damage(message.source, sequence + index);
    }

    /// A packet by its handle.
    #[inline(always)]
    pub(crate) fn packet(&self, handle: u32) -> &Packet {
        &self.packets[handle]
    }

    /// The output port for which a packet asks at switch number `at` of its route.
    #[inline(always)]
    pub(crate) fn output(&self, packet: &Packet, at: u32) -> u32 {
        self.routes[usize::from(packet.table)].port(packet.route, at)
    }

    /// Records that the GAP of a packet has left its host, or that the packet has been removed there.
    pub(crate) fn sent(&mut self, handle: u32, notices: &mut Notices) {
        self.packets[handle].has_left = true;
        let Packet { message: slot, index, is_over, .. } = self.packets[handle];
        if is_over {
            self.release(handle);
        }
        if index + 1 == self.messages.get(slot).packets {
            self.messages.sent(slot, notices);
        }
    }

    /// Records that the CRC of a packet has come to its destination.
    pub(crate) fn deliver(&mut self, handle: u32, now: u64, notices: &mut Notices) {
        self.packets[handle].is_delivered = true;
        let Packet { message: slot, index, route, source, destination, .. } = self.packets[handle];
        let Underway { message, offered, more: sequence, .. } = *self.messages.get(slot);
        let latency = picoseconds(now - ticks(offered));
        let receipt = Receipt {
            source: message.source,
            destination: message.destination,
            sequence: sequence + index,
            latency,
            hops: u64::from(route.switches + 1).saturating_sub(self.hidden_hops),
        };
        let cycle = Cycle(now.div_ceil(TICKS));
        let short = self.payload().short_of(message.bytes, index);
        if self.messages.discards(&receipt) {
            self.totals.messages_lost += u64::from(self.messages.lose(slot, short, notices));
            return self.note(now, EventKind::Lost { source, destination, sequence: sequence + index });
        }
        self.totals.payload_received += u64::from(self.payload().bytes_of(message.bytes, index));
        if self.messages.receive(slot, cycle, &receipt, short) {
            self.message_latency.record(latency);
            self.messages.deliver(slot, cycle, notices);
        }
        self.note(now, EventKind::Arrived { source, destination, sequence: sequence + index });
    }

    /// Records that a packet has been removed from the network.
    pub(crate) fn lose(&mut self, handle: u32, why: Loss, now: u64, notices: &mut Notices) {
        let Packet { message: slot, index, source, destination, .. } = self.packets[handle];
        match why {
            Loss::TooOld => self.totals.timeouts += 1,
            Loss::DeadLink => self.totals.lost_on_dead_links += 1,
        }
        let Underway { message, more: sequence, .. } = *self.messages.get(slot);
        let short = self.payload().short_of(message.bytes, index);
        self.totals.messages_lost += u64::from(self.messages.lose(slot, short, notices));
        self.note(now, EventKind::Lost { source, destination, sequence: sequence + index });
        self.release(handle);
    }

    /// Records that the GAP of a packet has come to its destination.
    pub(crate) fn gap_arrived(&mut self, handle: u32) {
        let packet = &mut self.packets[handle];
        packet.is_over = true;
        if packet.has_left {
            self.release(handle);
        }
    }

    /// Records that the GAP of a packet has left the last switch. The packet is over when also its CRC has arrived,
    /// which may be later.
    pub(crate) fn gap_passed(&mut self, handle: u32) {
        self.packets[handle].has_passed = true;
        if self.packets[handle].is_delivered {
            self.gap_arrived(handle);
        }
    }

    /// The packet with this handle, if it has this serial number and has not been removed.
    #[inline(always)]
    pub(crate) fn alive(&self, handle: u32, serial: u64) -> Option<&Packet> {
        Some(&self.packets[handle]).filter(|packet| packet.serial == serial && packet.is_alive)
    }

    /// Frees the handle of a packet.
    fn release(&mut self, handle: u32) {
        self.packets[handle].is_alive = false;
        self.packets.release(handle);
    }

    /// True if a packet that has begun has neither arrived nor been removed.
    #[inline(always)]
    fn is_open(&self, handle: u32, serial: u64) -> bool {
        let packet = &self.packets[handle];
        packet.serial == serial && packet.is_alive && !packet.is_delivered
    }

    /// \[ticks\] The next instant at which a packet is too old.
    #[inline]
    pub(crate) fn next_deadline(&mut self) -> Option<u64> {
        while let Some(&(deadline, packet, serial)) = self.deadlines.front() {
            if self.is_open(packet, serial) {
                return Some(deadline);
            }
            self.deadlines.pop_front();
        }
        None
    }

    /// The handle of a packet that is too old at instant `now`, if there is one.
    pub(crate) fn too_old(&mut self, now: u64) -> Option<u32> {
        self.next_deadline().filter(|&deadline| deadline <= now)?;
        self.deadlines.pop_front().map(|(_, packet, _)| packet)
    }

    /// Records an event for a test.
    #[inline]
    pub(crate) fn note(&mut self, at: u64, kind: EventKind) {
        if let Some(events) = &mut self.events {
            events.push(Event { at, kind });
        }
    }
}

/// \[cycle\] The cycle in which an instant is, or with which it begins.
pub(crate) const fn cycle_at(now: u64) -> u64 {
    now / TICKS + 1
}

/// \[ps\] Time of `ticks` ticks, rounded to the nearest.
const fn picoseconds(ticks: u64) -> u64 {
    (ticks + TICKS / 2) / TICKS
}

/// \[ticks\] Time of an instant in picoseconds.
const fn ticks(instant: Cycle) -> u64 {
    instant.0 * TICKS
}
