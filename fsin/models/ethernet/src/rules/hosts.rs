//! Hosts: they cut messages into frames, and put them together again; and the record of what they send and receive.
//!
//! The queue of a host has no bound: a source that must not run ahead waits for the notice that a message is sent.
//!
//! Decision: docs/decisions/0147-recovery.md.

use std::collections::{HashMap, VecDeque};

use fsin_core::network::{Injected, Notices};
use fsin_core::stats::{Distribution, Receipt, Recorder};
use trgen::rng::mix2;
use trgen::{Cycle, Delivery, Message, NodeId};

use super::frame::{Control, Frame, GAP_BITS, MAX_WIRE, NONE, bit_time, wire_bytes};
use super::slab::Slab;
use super::window::{Connection, Counters, Sent};
use super::wiring::Wiring;
use crate::capture::Content;
use crate::details::Totals;
use crate::params::{Params, Recovery};

/// What a frame carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Load {
    /// A frame of a message, and the number of its segment where there are windows.
    Data { message: u32, index: u64, number: u64 },
    /// All segments of a connection below a number have been received.
    Acknowledgement { connection: u32, number: u64 },
}

/// A frame that a host has sent, of which copies are under way.
#[derive(Clone, Copy, Debug)]
struct Unit {
    /// What the frame carries.
    load: Load,
    /// Key of the frame's draws of errors.
    key: u64,
    /// Number of copies under way: more than one where the frame was flooded.
    copies: u32,
    /// True if a copy has come to the destination.
    is_received: bool,
    /// Number of times that its content was lost before.
    losses: u32,
}

/// A message under way.
#[derive(Clone, Copy, Debug)]
struct Underway {
    message: Message,
    /// \[ps\] Time at which the message was offered.
    offered: u64,
    /// Number of its first frame among the data frames of its source.
    sequence: u64,
    /// \[frames\] Number of frames of the message.
    frames: u64,
    /// \[frames\] Frames received so far.
    received: u64,
    /// \[frames\] Frames lost for good.
    lost: u64,
    /// \[bytes\] Total by which the lost frames are shorter than full ones.
    lost_short: u64,
    /// \[frames\] With windows: frames that have not been acknowledged.
    open: u64,
    /// \[frames\] Frames of the message that are under way or wait to be sent again.
    references: u64,
    /// True if the source has been told that the message is sent.
    is_sent: bool,
    /// True if its delivery has been reported.
    is_delivered: bool,
    /// With windows: the connection.
    connection: u32,
}

/// A frame that waits to be sent.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// What the frame carries.
    load: Load,
    /// True if the frame was sent before.
    is_again: bool,
    /// Number of times that its content was lost before.
    losses: u32,
}

/// The state of a host.
#[derive(Clone, Default, Debug)]
struct Host {
    /// Number of data frames of all messages accepted so far, without retransmissions.
    sequence: u64,
    /// Number of all frames sent.
    serial: u64,
    /// \[ps\] Time of the longest frame, and of the gap behind it, on the link of the host.
    slot: u64,
    /// Frames that wait: retransmissions, segments and acknowledgements.
    frames: VecDeque<Waiting>,
    /// Frames that were lost several times, each with the time \[ps\] at which it is sent again.
    delayed: Vec<(u64, Waiting)>,
    /// Messages that have not been cut into frames completely.
    messages: VecDeque<u32>,
    /// Number of the next frame of the first message.
    next: u64,
    /// The message whose last frame is in transmission.
    ending: Option<u32>,
}

/// All hosts.
#[derive(Debug)]
pub(crate) struct Hosts {
    params: Params,
    /// \[links\] Links on each route that are not links of the topology.
    hidden_hops: u64,
    hosts: Vec<Host>,
    /// Frames of which copies are under way.
    units: Slab<Unit>,
    messages: Slab<Underway>,
    /// Connections, if there are windows.
    connections: Vec<Connection>,
    /// By source and destination: the connection.
    known: HashMap<(u32, u32), u32>,
    pub(crate) recorder: Recorder,
    /// \[ps\] Latencies of messages.
    pub(crate) message_latency: Distribution,
    pub(crate) totals: Totals,
    /// Counters of all connections.
    counters: Counters,
    /// \[frames\] Frames of accepted messages that have been neither received nor lost for good.
    pub(crate) in_flight: u64,
    /// \[frames\] By source: data frames received for the first time, and data frames dropped by queues.
    pub(crate) fates: Vec<[u64; 2]>,
    /// \[frames\] Frames that queues have dropped since a frame last reached its destination.
    pub(crate) dropped_in_vain: u64,
    /// \[ps\] Time at which a frame last reached its destination for the first time.
    pub(crate) last_received: u64,
    /// Hosts that may have become able to send.
    pub(crate) ready: Vec<u32>,
    /// Connections whose deadline may have changed.
    pub(crate) timers: Vec<u32>,
    /// Hosts to be [woken](Self::wake), each with the time \[ps\].
    pub(crate) wakes: Vec<(u32, u64)>,
    /// Scratch memory for what a connection sends and completes.
    scratch: (Vec<Sent>, Vec<u32>),
}

impl Hosts {
    pub(crate) fn new(params: &Params, wiring: &Wiring) -> Self {
        let hosts = wiring.hosts;
        let host = |host| {
            let link = &wiring.links[wiring.host_port(host)];
            Host { slot: bit_time(8 * MAX_WIRE + GAP_BITS, link.rate), ..Host::default() }
        };
        Self {
            params: params.clone(),
            hidden_hops: wiring.hidden_hops(),
            hosts: (0..hosts as u32).map(host).collect(),
            units: Slab::new(),
            messages: Slab::new(),
            connections: Vec::new(),
            known: HashMap::new(),
            recorder: Recorder::new(hosts),
            message_latency: Distribution::default(),
            totals: Totals::default(),
            counters: Counters::default(),
            in_flight: 0,
            fates: vec![[0; 2]; hosts],
            dropped_in_vain: 0,
            last_received: 0,
            ready: Vec::new(),
            timers: Vec::new(),
            wakes: Vec::new(),
            scratch: (Vec::new(), Vec::new()),
        }
    }

    /// Accepts a message at time `now`. The host may then be able to send.
    pub(crate) fn inject(&mut self, message: Message, now: u64) -> Injected {
        let Message { source, destination, bytes, .. } = message;
        let frames = self.params.frames_of(bytes);
        self.recorder.generated(frames);
        let short = (frames * u64::from(self.params.payload())).saturating_sub(bytes);
        self.recorder.short().generated += short;
        let is_known = destination.index() < self.hosts.len() && source.index() < self.hosts.len();
        if !is_known || source == destination {
            self.recorder.dropped(frames);
            self.recorder.short().dropped += short;
            return Injected::Dropped;
        }
        let is_window = self.params.recovery == Recovery::Window;
        let connection = if is_window { self.connection(source.0, destination.0) } else { NONE };
        let host = &mut self.hosts[source.index()];
        let slot = self.messages.store(Underway {
            message,
            offered: now,
            sequence: host.sequence,
            frames,
            received: 0,
            lost: 0,
            lost_short: 0,
            open: if is_window { frames } else { 0 },
            references: 0,
            is_sent: false,
            is_delivered: false,
            connection,
        });
        host.sequence += frames;
        self.in_flight += frames;
        if is_window {
            self.connections[connection as usize].push(slot, bytes, frames);
            self.on_connection(connection, |connection, params, counters, out, _| {
                connection.send(params, now, counters, out);
            });
        } else {
            host.messages.push_back(slot);
            self.ready.push(source.0);
        }
        Injected::Accepted
    }

    /// The connection between two hosts, which is opened at its first use.
    fn connection(&mut self, source: u32, destination: u32) -> u32 {
        *self.known.entry((source, destination)).or_insert_with(|| {
            self.connections.push(Connection::new(&self.params, source, destination));
            self.connections.len() as u32 - 1
        })
    }

    /// Calls `act` with a connection, and hands the frames that it sends to the port of its host.
    fn on_connection(
        &mut self,
        number: u32,
        act: impl FnOnce(&mut Connection, &Params, &mut Counters, &mut Vec<Sent>, &mut Vec<u32>),
    ) {
        let connection = &mut self.connections[number as usize];
        let (mut out, mut done) = std::mem::take(&mut self.scratch);
        act(connection, &self.params, &mut self.counters, &mut out, &mut done);
        let source = connection.source;
        for Sent { message, index, number, is_again } in out.drain(..) {
            let load = Load::Data { message, index, number };
            self.messages[message].references += 1;
            self.hosts[source as usize].frames.push_back(Waiting { load, is_again, losses: 0 });
        }
        self.ready.push(source);
        self.timers.push(number);
        for message in done.drain(..) {
            self.messages[message].open -= 1;
            self.release_if_over(message);
        }
        self.scratch = (out, done);
    }

    /// The hosts of a connection, and \[ps\] the time at which its timer expires.
    pub(crate) fn timer(&self, connection: u32) -> (u32, u32, Option<u64>) {
        let Connection { source, destination, deadline, .. } = self.connections[connection as usize];
        (source, destination, deadline)
    }

    /// Handles the expiry of a connection's timer.
    pub(crate) fn time_out(&mut self, connection: u32, now: u64) {
        self.on_connection(connection, |connection, params, counters, out, _| {
            connection.time_out(params, now, counters, out);
        });
    }

    /// True if a host has a frame to send.
    #[inline]
    pub(crate) fn has_next(&self, host: u32) -> bool {
        let host = &self.hosts[host as usize];
        !host.frames.is_empty() || !host.messages.is_empty()
    }

    /// True if a host has the last frame of a message in transmission.
    #[inline]
    pub(crate) fn is_ending(&self, host: u32) -> bool {
        self.hosts[host as usize].ending.is_some()
    }

    /// \[frames\] Frames that wait at a host.
    pub(crate) fn waiting(&self, host: u32) -> u64 {
        let host = &self.hosts[host as usize];
        let cut = host.messages.iter().map(|&message| self.messages[message].frames).sum::<u64>();
        (host.frames.len() + host.delayed.len()) as u64 + cut - if host.messages.is_empty() { 0 } else { host.next }
    }

    /// The next frame that a host sends, at time `now`, and the key of its draws; `None` if there is none.
    pub(crate) fn next(&mut self, number: u32, now: u64) -> Option<(Frame, u64)> {
        let host = &mut self.hosts[number as usize];
        let Waiting { load, is_again, losses } = match host.frames.pop_front() {
            Some(waiting) => waiting,
            None => {
                let &message = host.messages.front()?;
                let index = host.next;
                host.next += 1;
                if host.next == self.messages[message].frames {
                    host.messages.pop_front();
                    host.next = 0;
                }
                self.messages[message].references += 1;
                Waiting { load: Load::Data { message, index, number: index }, is_again: false, losses: 0 }
            }
        };
        let key = mix2(u64::from(number), host.serial);
        host.serial += 1;
        self.totals.frames_sent += 1;
        let (destination, payload) = match load {
            Load::Data { message, index, .. } => {
                let Underway { message: whole, offered, frames, .. } = self.messages[message];
                if is_again {
                    self.totals.sent_again += 1;
                } else {
                    self.recorder.injected(1);
                    self.recorder.departed(now - offered);
                    if index + 1 == frames {
                        host.ending = Some(message);
                    }
                    let short = self.short_of(&whole, index);
                    self.recorder.short().injected += short;
                }
                let header = if self.params.recovery == Recovery::Window { self.params.segment_header } else { 0 };
                (whole.destination.0, self.bytes_of(&whole, index) + header)
            }
            Load::Acknowledgement { connection, .. } => {
                self.totals.acknowledgements += 1;
                (self.connections[connection as usize].source, self.params.ack_bytes)
            }
        };
        let unit = self.units.store(Unit { load, key, copies: 1, is_received: false, losses });
        let bytes = wire_bytes(payload) as u16;
        self.totals.bytes_sent += u64::from(bytes);
        let (damaged_by, hops, control) = (NONE, 0, Control::No);
        Some((Frame { unit, source: number, destination, damaged_by, bytes, hops, control }, key))
    }

    /// \[bytes\] Data of a message in its frame number `index`.
    fn bytes_of(&self, message: &Message, index: u64) -> u32 {
        let most = u64::from(self.params.payload());
        (message.bytes - index * most).min(most) as u32
    }

    /// The key of the draws of a frame.
    #[inline]
    pub(crate) fn key(&self, unit: u32) -> u64 {
        self.units[unit].key
    }

    /// Records that a host has ended a transmission and its port is free.
    pub(crate) fn transmitted(&mut self, host: u32, notices: &mut Notices) {
        let Some(slot) = self.hosts[host as usize].ending.take() else { return };
        let underway = &mut self.messages[slot];
        underway.is_sent = true;
        notices.sent.push(underway.message);
        // A lost frame counts as in flight until its source has been told.
        if underway.lost > 0 {
            notices.dropped.push(underway.message);
            self.recorder.dropped_inside(underway.lost);
            self.recorder.short().dropped += underway.lost_short;
            self.in_flight -= underway.lost;
        }
        self.release_if_over(slot);
    }

    /// Records that a frame has been copied, to leave through `copies` more ports.
    #[inline]
    pub(crate) fn copy(&mut self, unit: u32, copies: u32) {
        self.units[unit].copies += copies;
        self.totals.copies_made += u64::from(copies);
    }

    /// Handles a copy that has come to a host.
    pub(crate) fn arrive(&mut self, host: u32, frame: &Frame, now: u64, notices: &mut Notices) {
        if frame.destination != host {
            return self.filter(frame.unit, now, notices);
        }
        self.totals.frames_received += 1;
        self.totals.bytes_received += u64::from(frame.bytes);
        let unit = &mut self.units[frame.unit];
        let is_first = !std::mem::replace(&mut unit.is_received, true);
        let load = unit.load;
        match load {
            Load::Data { message, index, number } if is_first => {
                let connection = self.messages[message].connection;
                if connection == NONE {
                    self.receive(message, index, frame, now);
                    if self.messages[message].received == self.messages[message].frames {
                        self.deliver(message, now, notices);
                    }
                } else {
                    self.segment(message, index, number, frame, now, notices);
                }
            }
            Load::Acknowledgement { connection, number } if is_first => {
                self.on_connection(connection, |connection, params, counters, out, done| {
                    connection.acknowledge(params, number, now, counters, done, out);
                });
            }
            _ => self.totals.duplicates += 1,
        }
        self.end_copy(frame.unit, now, notices);
    }

    /// Handles a segment that has come to the receiver of its connection.
    fn segment(&mut self, slot: u32, index: u64, number: u64, frame: &Frame, now: u64, notices: &mut Notices) {
        let id = self.messages[slot].connection;
        let mut complete = Vec::new();
        let connection = &mut self.connections[id as usize];
        let is_new = connection.receive(number, &mut complete);
        let (expected, receiver) = (connection.expected(), connection.destination);
        if is_new {
            self.receive(slot, index, frame, now);
        } else {
            self.totals.duplicates += 1;
        }
        for message in complete {
            self.deliver(message, now, notices);
        }
        let load = Load::Acknowledgement { connection: id, number: expected };
        self.hosts[receiver as usize].frames.push_back(Waiting { load, is_again: false, losses: 0 });
        self.ready.push(receiver);
    }

    /// \[bytes\] Number by which a frame of a message is shorter than a full one.
    fn short_of(&self, message: &Message, index: u64) -> u64 {
        u64::from(self.params.payload() - self.bytes_of(message, index))
    }

    /// Records the first arrival of a frame of a message.
    fn receive(&mut self, slot: u32, index: u64, frame: &Frame, now: u64) {
        let underway = &mut self.messages[slot];
        underway.received += 1;
        (self.dropped_in_vain, self.last_received) = (0, now);
        let Underway { message, offered, sequence, .. } = *underway;
        self.fates[message.source.index()][0] += 1;
        self.totals.payload_received += u64::from(self.bytes_of(&message, index));
        let receipt = Receipt {
            source: message.source,
            destination: message.destination,
            sequence: sequence + index,
            latency: now - offered,
            hops: u64::from(frame.hops).saturating_sub(self.hidden_hops),
        };
        self.recorder.received(Cycle(now), &receipt);
        let short = self.short_of(&message, index);
        self.recorder.short().received += short;
        self.in_flight -= 1;
    }

    /// Reports the delivery of a message whose frames have all arrived.
    fn deliver(&mut self, slot: u32, now: u64, notices: &mut Notices) {
        let underway = &mut self.messages[slot];
        underway.is_delivered = true;
        self.message_latency.record(now - underway.offered);
        // The clock that stands at cycle c is instant c - 1.
        let (offered, delivered) = (Cycle(underway.offered + 1), Cycle(now));
        notices.delivered.push(Delivery { message: underway.message, offered, delivered });
    }

    /// Handles a copy that goes no further, or has come to a host that it is not for.
    pub(crate) fn filter(&mut self, unit: u32, now: u64, notices: &mut Notices) {
        self.totals.copies_filtered += 1;
        self.end_copy(unit, now, notices);
    }

    /// Handles a lost copy.
    pub(crate) fn lose(&mut self, unit: u32, now: u64, notices: &mut Notices) {
        self.end_copy(unit, now, notices);
    }

    /// Handles a copy that found a queue full.
    pub(crate) fn drop_copy(&mut self, unit: u32, now: u64, notices: &mut Notices) {
        self.dropped_in_vain += 1;
        if let Load::Data { message, .. } = self.units[unit].load {
            self.fates[self.messages[message].message.source.index()][1] += 1;
        }
        self.end_copy(unit, now, notices);
    }

    /// Removes a copy. If no copy is left and none was received, the frame is lost.
    fn end_copy(&mut self, unit: u32, now: u64, notices: &mut Notices) {
        let state = &mut self.units[unit];
        state.copies -= 1;
        if state.copies > 0 {
            return;
        }
        let Unit { load, is_received, key, losses, .. } = *state;
        self.units.release(unit);
        let Load::Data { message, index, .. } = load else { return };
        self.messages[message].references -= 1;
        match self.params.recovery {
            _ if is_received => {}
            Recovery::Oracle | Recovery::Backoff => {
                self.messages[message].references += 1;
                let host = self.messages[message].message.source.0;
                self.send_again(host, Waiting { load, is_again: true, losses: losses + 1 }, key, now);
            }
            // The sender finds out by its window.
            Recovery::Window => {}
            Recovery::None => {
                let short = self.short_of(&self.messages[message].message, index);
                let underway = &mut self.messages[message];
                underway.lost += 1;
                underway.lost_short += short;
                if underway.is_sent {
                    self.recorder.dropped_inside(1);
                    self.recorder.short().dropped += short;
                    self.in_flight -= 1;
                }
                if underway.lost == 1 {
                    self.totals.messages_lost += 1;
                    if underway.is_sent {
                        notices.dropped.push(underway.message);
                    }
                }
            }
        }
        self.release_if_over(message);
    }

    /// Sends a frame again, behind what its host has ready. The oracle does so at once. With backoff, a frame that is
    /// lost again waits for a drawn time of up to 1, 2, 4, ... 1 024 times that of the longest frame on the link of the
    /// host.
    fn send_again(&mut self, host: u32, waiting: Waiting, key: u64, now: u64) {
        let sender = &mut self.hosts[host as usize];
        if self.params.recovery == Recovery::Oracle || waiting.losses == 1 {
            sender.frames.push_back(waiting);
            self.ready.push(host);
            return;
        }
        let longest = sender.slot << (waiting.losses - 2).min(10);
        let draw = u128::from(mix2(mix2(self.params.seed, key), waiting.losses.into()));
        let at = now.saturating_add(1 + ((draw * u128::from(longest)) >> 64) as u64);
        sender.delayed.push((at, waiting));
        self.wakes.push((host, at));
    }

    /// Makes the delayed frames of a host ready that are due at time `now`.
    pub(crate) fn wake(&mut self, host: u32, now: u64) {
        let sender = &mut self.hosts[host as usize];
        let due = sender.delayed.extract_if(.., |(at, _)| *at <= now).map(|(_, waiting)| waiting);
        sender.frames.extend(due);
        self.ready.push(host);
    }

    /// Frees the slot of a message of which no frame is left.
    fn release_if_over(&mut self, slot: u32) {
        let Underway { frames, received, lost, open, references, is_sent, is_delivered, .. } = self.messages[slot];
        let is_resolved = received + lost == frames && (is_delivered || lost > 0);
        if is_resolved && is_sent && open == 0 && references == 0 {
            self.messages.release(slot);
        }
    }

    /// The counts of the whole network, with those of connections.
    pub(crate) fn totals(&self) -> Totals {
        Totals {
            retransmissions: match self.params.recovery {
                Recovery::Window => self.counters.retransmissions,
                Recovery::Oracle | Recovery::Backoff | Recovery::None => self.totals.sent_again,
            },
            fast_retransmits: self.counters.fast_retransmits,
            timeouts: self.counters.timeouts,
            ..self.totals
        }
    }

    /// The content of a frame, for an observer.
    pub(crate) fn content(&self, frame: &Frame) -> Content {
        if frame.control != Control::No {
            return Content::Pause { is_off: frame.control == Control::Off };
        }
        match self.units[frame.unit].load {
            Load::Data { message, index, number } => {
                let whole = self.messages[message].message;
                let (offset, bytes) = (index * u64::from(self.params.payload()), self.bytes_of(&whole, index));
                let segment = (self.params.recovery == Recovery::Window).then_some(number);
                Content::Data { message: whole, offset, bytes, segment }
            }
            Load::Acknowledgement { connection, number } => {
                let sender_side = &self.connections[connection as usize];
                Content::Acknowledgement {
                    from: NodeId(sender_side.destination),
                    to: NodeId(sender_side.source),
                    number,
                }
            }
        }
    }
}

/// Sorts notices into the order in which every network gives them.
pub(crate) fn sort(notices: &mut Notices) {
    notices.sent.sort_by_key(|message| message.source);
    notices.dropped.sort_by_key(|message| (message.source, message.id));
    notices
        .delivered
        .sort_by_key(|delivery| (delivery.message.destination, delivery.message.source, delivery.message.id));
}
