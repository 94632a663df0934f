//! Hosts: they cut messages into frames, and put them together again; and the record of what they send and receive.
//!
//! The queue of a host has no bound: a source that must not run ahead waits for the notice that a message is sent.
//!
//! Decision: docs/decisions/0147-recovery.md.

use std::collections::{HashMap, VecDeque};

use fsin_core::messages::{Messages, Payload, Underway};
use fsin_core::network::{Injected, Notices};
use fsin_core::slab::Slab;
use fsin_core::stats::{Distribution, Receipt};
use trgen::rng::mix2;
use trgen::{Cycle, Message, NodeId};

use super::alive::Alive;
use super::flows::{Flows, Next};
use super::frame::{CONTROL, Control, Frame, NONE, Trimmed, bit_time};
use super::reach::Reach;
use super::roce::Reply;
use super::spray::{Item, Piece, Said, Spray, Stuck};
use super::uncut::Uncut;
use super::window::{Connection, Counters, Sent};
use super::wiring::Wiring;
use crate::capture::Content;
use crate::cc::{Signal, Stamp};
use crate::details::Totals;
use crate::params::{Params, Transport};

/// What a frame carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Load {
    /// A frame of a message, and the number of its segment where there are windows.
    Data { message: u32, index: u64, number: u64 },
    /// All segments of a connection below a number have been received; with the mark that is returned.
    Acknowledgement { connection: u32, number: u64, is_marked: bool },
    /// The answer of a receiver with a connection for each message, and the stamps that it returns, or [`NONE`].
    Reply { flow: u32, stamps: u32, expected: u64, is_negative: bool, is_marked: bool },
    /// A data frame of a connection that sprays: its index among the data frames and its sequence number; `more` holds
    /// the credit requested, and in the two lowest bits whether it was sent again and whether it requests an
    /// acknowledgement.
    Piece { flow: u32, index: u32, number: u32, more: u64 },
    /// A control frame of such a connection.
    Words { flow: u32, words: u32 },
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
    /// Number of changes of links before it was sent.
    changes: u32,
}

/// What is kept of a message under way beside what every model keeps. A message is held for each of its frames that are
/// under way or wait to be sent again and, with windows, for each that has not been acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// Number of its first frame among the data frames of its source.
    sequence: u64,
    /// The connection, of transports that have connections.
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
#[derive(Clone, Debug)]
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
    queue: Uncut,
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
    pub(crate) messages: Messages<Origin>,
    /// Connections, if there are windows.
    connections: Vec<Connection>,
    /// By source and destination: the connection.
    known: HashMap<(u32, u32), u32>,
    /// \[b/s\] By host: the rate of its link, where there are windows.
    line_rates: Vec<u64>,
    /// Connections for each message, if the transport has these.
    flows: Option<Box<Flows>>,
    /// Connections that spray, if the transport has these.
    spray: Option<Box<Spray>>,
    /// Connections that waited for a frame that was lost for good.
    pub(crate) stuck: Vec<Stuck>,
    /// By frame under way: what switches have added to it, where these add stamps.
    stamps: Vec<Vec<Stamp>>,
    /// The stamps that answers return.
    returned: Slab<Vec<Stamp>>,
    /// Memory of stamps that are used no more.
    spare: Vec<Vec<Stamp>>,
    /// True if switches add stamps to data frames.
    takes_stamps: bool,
    /// True if acknowledgements are control frames.
    acks_in_control: bool,
    /// \[ps\] Latencies of messages.
    pub(crate) message_latency: Distribution,
    pub(crate) totals: Totals,
    /// Counters of all connections.
    counters: Counters,
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
    /// By host: the part of the network in which it is, whose hosts it can reach; empty if it can reach all.
    pub(crate) parts: Vec<u32>,
    /// Number of changes of links up to now.
    pub(crate) changes: u32,
    /// Scratch memory for what a connection sends and completes.
    scratch: (Vec<Sent>, Vec<(u32, bool)>),
}

impl Hosts {
    pub(crate) fn new(params: &Params, wiring: &Wiring, alive: &Alive) -> Self {
        let hosts = wiring.hosts;
        let host = |host| {
            let link = &wiring.links[wiring.host_port(host)];
            Host {
                sequence: 0,
                serial: 0,
                slot: bit_time(8 * params.frames.of(params.frames.mtu) + params.frames.gap, link.rate),
                frames: VecDeque::new(),
                delayed: Vec::new(),
                queue: Uncut::new(params.interface),
                ending: None,
            }
        };
        let is_roce = params.transport == Transport::Roce;
        let reach = if params.needs_reach() { Reach::new(params, wiring, alive) } else { Reach::default() };
        let is_window = params.transport == Transport::Window;
        let line_rates = (0..hosts as u32).filter(|_| is_window).map(|host| wiring.links[wiring.host_port(host)].rate);
        Self {
            line_rates: line_rates.collect(),
            stuck: Vec::new(),
            spray: params.transport.sprays().then(|| Box::new(Spray::new(params, wiring, alive))),
            flows: is_roce.then(|| Box::new(Flows::new(params, wiring, reach))),
            stamps: Vec::new(),
            returned: Slab::new(),
            spare: Vec::new(),
            takes_stamps: is_roce && params.needs(Signal::Stamps),
            acks_in_control: params.acks_in_control(),
            params: params.clone(),
            hidden_hops: wiring.hidden_hops(),
            hosts: (0..hosts as u32).map(host).collect(),
            units: Slab::new(),
            messages: Messages::new(hosts),
            connections: Vec::new(),
            known: HashMap::new(),
            message_latency: Distribution::default(),
            totals: Totals::default(),
            counters: Counters::default(),
            fates: vec![[0; 2]; hosts],
            dropped_in_vain: 0,
            last_received: 0,
            ready: Vec::new(),
            timers: Vec::new(),
            wakes: Vec::new(),
            parts: alive.parts.clone(),
            changes: 0,
            scratch: (Vec::new(), Vec::new()),
        }
    }

    /// Accepts a message at time `now`. The host may then be able to send.
    pub(crate) fn inject(&mut self, message: Message, now: u64) -> Injected {
        let Message { source, destination, bytes, class, .. } = message;
        // Class 0 is that of sources without classes of their own, where the setting is not 0.
        let message = Message { class: if class == 0 { self.params.switch.class } else { class }, ..message };
        let (frames, short) = (self.payload().packets_of(bytes), self.payload().short(bytes));
        let is_known = destination.index() < self.hosts.len() && source.index() < self.hosts.len();
        if is_known && !self.has_route(source, destination) {
            self.totals.messages_lost += 1;
            return self.messages.drop_at_source(frames, short);
        }
        // Connections that spray count frames in 32 bits.
        let is_too_long = self.spray.is_some() && frames >= 1 << 31;
        if !is_known || source == destination || is_too_long {
            return self.messages.drop_at_source(frames, short);
        }
        let is_window = self.params.transport == Transport::Window;
        let connection = if is_window { self.connection(source.0, destination.0) } else { NONE };
        let host = &mut self.hosts[source.index()];
        let mut origin = Origin { sequence: host.sequence, connection };
        host.sequence += frames;
        if let Some(flows) = &mut self.flows {
            // The connection knows the message by its slot, and the message its connection.
            origin.connection = flows.begin(&self.params, &message, frames, now);
            let slot = self.messages.accept(message, frames, short, Cycle(now), origin);
            flows.carry(origin.connection, slot);
            self.messages.hold(slot, 1);
            self.ready.push(source.0);
            return Injected::Accepted;
        }
        if let Some(spray) = &mut self.spray {
            origin.connection = spray.begin(&message);
            let slot = self.messages.accept(message, frames, short, Cycle(now), origin);
            self.messages.hold(slot, 1);
            spray.start(origin.connection, slot, now);
            self.take_of_spray();
            return Injected::Accepted;
        }
        let slot = self.messages.accept(message, frames, short, Cycle(now), origin);
        if is_window {
            self.messages.hold(slot, frames);
            self.connections[connection as usize].push(slot, message.class, bytes, frames);
            self.on_connection(connection, now, |connection, params, counters, out, _| {
                connection.send(params, now, counters, out);
            });
        } else {
            host.queue.push(slot, destination, frames);
            self.ready.push(source.0);
        }
        Injected::Accepted
    }

    /// Collects the results of connections that spray: hosts that may send, wake-ups, and connections that have ended.
    #[inline]
    fn take_of_spray(&mut self) {
        let Some(spray) = &mut self.spray else { return };
        self.ready.append(&mut spray.touched);
        self.wakes.append(&mut spray.wakes);
        while let Some(flow) = spray.done.pop() {
            if let Some(message) = spray.ended(flow) {
                self.messages.let_go(message);
            }
        }
    }

    /// A frame is lost at a port for good.
    pub(crate) fn lost_at(&mut self, unit: u32, port: usize) {
        if let (Load::Piece { flow, .. } | Load::Words { flow, .. }, Some(spray)) =
            (self.units[unit].load, &mut self.spray)
        {
            spray.lost_at(flow, port as u32);
        }
    }

    /// Gives up connections that still wait when no event is left, and counts their messages as lost. Returns whether
    /// there were any.
    #[cold]
    pub(crate) fn abandon(&mut self, notices: &mut Notices) -> bool {
        let Some(spray) = &mut self.spray else { return false };
        let stuck = spray.take_stuck();
        for Stuck { message, missing, .. } in &stuck {
            let bytes = self.messages.get(*message).message.bytes;
            for &(number, is_unsent) in missing {
                let short = self.payload().short_of(bytes, number.into());
                if is_unsent {
                    self.messages.recorder.injected(1);
                    self.messages.recorder.short().injected += short;
                }
                self.totals.messages_lost += u64::from(self.messages.lose(*message, short, notices));
            }
            if missing.iter().any(|(_, is_unsent)| *is_unsent) {
                self.messages.sent(*message, notices);
            }
            if missing.is_empty() && self.params.is_acked {
                self.messages.never_acknowledged();
            }
            self.messages.let_go(*message);
        }
        let is_any = !stuck.is_empty();
        self.stuck.extend(stuck);
        is_any
    }

    /// True if a route leads from one host to another.
    #[inline]
    fn has_route(&self, source: NodeId, destination: NodeId) -> bool {
        self.parts.is_empty() || self.parts[source.index()] == self.parts[destination.index()]
    }

    /// Loses all frames that wait at a host, whose link has died, and those of its messages. With windows there are none:
    /// no host is cut off.
    pub(crate) fn lose_all(&mut self, number: u32, now: u64, notices: &mut Notices) {
        let host = &mut self.hosts[number as usize];
        let delayed = std::mem::take(&mut host.delayed);
        host.frames.extend(delayed.into_iter().map(|(_, waiting)| waiting));
        let ending = host.ending;
        while let Some((frame, _)) = self.next(number, now, 0) {
            // The one in transmission ends later.
            let host = &mut self.hosts[number as usize];
            let sent = host.ending.filter(|_| host.ending != ending);
            host.ending = ending;
            self.lose_on_dead_link(frame.unit, now, notices);
            if let Some(message) = sent {
                self.messages.sent(message, notices);
            }
        }
    }

    /// Handles a copy that is lost because a link is dead.
    pub(crate) fn lose_on_dead_link(&mut self, unit: u32, now: u64, notices: &mut Notices) {
        self.totals.lost_on_dead_links += 1;
        self.end_copy(unit, now, notices);
    }

    /// The connection between two hosts, which is opened at its first use.
    fn connection(&mut self, source: u32, destination: u32) -> u32 {
        *self.known.entry((source, destination)).or_insert_with(|| {
            let rate = self.line_rates[source as usize];
            self.connections.push(Connection::new(&self.params, source, destination, rate));
            self.connections.len() as u32 - 1
        })
    }

    /// Calls `act` with a connection at time `now`, and hands the frames that it sends to the port of its host.
    fn on_connection(
        &mut self,
        number: u32,
        now: u64,
        act: impl FnOnce(&mut Connection, &Params, &mut Counters, &mut Vec<Sent>, &mut Vec<(u32, bool)>),
    ) {
        let connection = &mut self.connections[number as usize];
        let (mut out, mut done) = std::mem::take(&mut self.scratch);
        act(connection, &self.params, &mut self.counters, &mut out, &mut done);
        let source = connection.source;
        for Sent { message, index, number, is_again } in out.drain(..) {
            let load = Load::Data { message, index, number };
            self.messages.hold(message, 1);
            self.hosts[source as usize].frames.push_back(Waiting { load, is_again, losses: 0 });
        }
        self.ready.push(source);
        self.timers.push(number);
        for (message, is_last) in done.drain(..) {
            if is_last && self.params.is_acked {
                self.messages.acknowledge(message, Cycle(now));
            }
            self.messages.let_go(message);
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
        self.on_connection(connection, now, |connection, params, counters, out, _| {
            connection.time_out(params, now, counters, out);
        });
    }

    /// True if a host has a frame to send, now or at a known time.
    #[inline]
    pub(crate) fn has_next(&self, host: u32) -> bool {
        let state = &self.hosts[host as usize];
        !state.frames.is_empty()
            || !state.queue.is_empty()
            || self.flows.as_ref().is_some_and(|flows| flows.has_next(host))
            || self.spray.as_ref().is_some_and(|spray| spray.has_next(host))
    }

    /// True if a host has a frame to send that need not wait for a class in `paused`, a bit for each; or cannot tell.
    pub(crate) fn can_send(&self, host: u32, paused: u8) -> bool {
        if paused == 0 || !self.has_next(host) {
            return self.has_next(host);
        }
        let state = &self.hosts[host as usize];
        state.frames.iter().any(|waiting| !Self::must_wait(self.class_of(waiting.load), paused))
            || state.queue.may_send(|slot| !Self::must_wait(self.messages.get(slot).message.class, paused))
            || self.flows.as_ref().is_some_and(|flows| flows.can_send(host, paused))
    }

    /// True if a host has the last frame of a message in transmission.
    #[inline]
    pub(crate) fn is_ending(&self, host: u32) -> bool {
        self.hosts[host as usize].ending.is_some()
    }

    /// \[frames\] Frames that wait at a host.
    pub(crate) fn waiting(&self, host: u32) -> u64 {
        let of_flows = self.flows.as_ref().map_or(0, |flows| flows.waiting(host));
        let of_flows = of_flows + self.spray.as_ref().map_or(0, |spray| spray.waiting(host));
        let host = &self.hosts[host as usize];
        (host.frames.len() + host.delayed.len()) as u64 + host.queue.waiting(&self.messages) + of_flows
    }

    /// The class of a frame with this load.
    #[inline]
    fn class_of(&self, load: Load) -> u8 {
        match load {
            Load::Data { message, .. } => self.messages.get(message).message.class,
            Load::Acknowledgement { .. } | Load::Reply { .. } if self.acks_in_control => CONTROL,
            Load::Acknowledgement { connection, .. } => self.connections[connection as usize].class,
            Load::Reply { flow, .. } => self.flows.as_ref().map_or(CONTROL, |flows| flows.get(flow).class),
            Load::Piece { flow, .. } => self.spray.as_ref().map_or(0, |spray| spray.get(flow).class),
            Load::Words { .. } => CONTROL,
        }
    }

    /// True if a frame of a class must wait, where the classes in `paused` must, a bit for each.
    #[inline]
    const fn must_wait(class: u8, paused: u8) -> bool {
        class < CONTROL && paused >> class & 1 == 1
    }

    /// Takes the next frame that waits at a host and is not paused: retransmissions, segments and acknowledgements.
    #[inline]
    fn next_waiting(&mut self, number: u32, paused: u8) -> Option<Waiting> {
        if paused == 0 {
            return self.hosts[number as usize].frames.pop_front();
        }
        let frames = &self.hosts[number as usize].frames;
        let at = frames.iter().position(|waiting| !Self::must_wait(self.class_of(waiting.load), paused))?;
        self.hosts[number as usize].frames.remove(at)
    }

    /// Takes the next frame of the messages of a host that is not paused. Asks to be woken where one is due later.
    fn next_of_messages(&mut self, number: u32, now: u64, paused: u8) -> Option<Waiting> {
        if let Some(flows) = &mut self.flows {
            return match flows.next(number, now, paused) {
                Next::Frame { flow, number, is_again } => {
                    let message = flows.get(flow).message;
                    self.messages.hold(message, 1);
                    Some(Waiting { load: Load::Data { message, index: number, number }, is_again, losses: 0 })
                }
                Next::Wake(at) => {
                    self.wakes.push((number, at));
                    None
                }
                Next::Nothing => None,
            };
        }
        let messages = &self.messages;
        let may = |slot: u32| paused == 0 || !Self::must_wait(messages.get(slot).message.class, paused);
        let (message, index) = self.hosts[number as usize].queue.pop(messages, may)?;
        self.messages.hold(message, 1);
        Some(Waiting { load: Load::Data { message, index, number: index }, is_again: false, losses: 0 })
    }

    /// The next frame that a host sends, at time `now`, and the key of its draws; `None` if there is none. Classes in
    /// `paused`, a bit for each, must wait.
    pub(crate) fn next(&mut self, number: u32, now: u64, paused: u8) -> Option<(Frame, u64)> {
        if self.spray.is_some() {
            return self.next_of_spray(number, now);
        }
        let Waiting { load, is_again, losses } =
            self.next_waiting(number, paused).or_else(|| self.next_of_messages(number, now, paused))?;
        let class = self.class_of(load);
        let host = &mut self.hosts[number as usize];
        let key = mix2(u64::from(number), host.serial);
        host.serial += 1;
        self.totals.frames_sent += 1;
        let mut entropy = 0;
        let (destination, bytes) = match load {
            Load::Data { message, index, .. } => {
                let Underway { message: whole, offered, packets: frames, .. } = *self.messages.get(message);
                let payload = Payload(self.params.payload());
                if is_again {
                    self.totals.sent_again += 1;
                } else {
                    let recorder = &mut self.messages.recorder;
                    recorder.injected(1);
                    recorder.departed(now - offered.0);
                    recorder.short().injected += payload.short_of(whole.bytes, index);
                    if index + 1 == frames {
                        host.ending = Some(message);
                    }
                }
                let header = if self.params.transport == Transport::Window { self.params.segment_header } else { 0 };
                (whole.destination.0, self.params.frames.of(payload.bytes_of(whole.bytes, index) + header))
            }
            Load::Acknowledgement { connection, .. } => {
                self.totals.acknowledgements += 1;
                (self.connections[connection as usize].source, self.params.frames.of_ack(self.params.ack_bytes))
            }
            // Of `next_of_spray`.
            Load::Piece { .. } | Load::Words { .. } => return None,
            Load::Reply { flow, .. } => {
                self.totals.acknowledgements += 1;
                let source = match &self.flows {
                    Some(flows) => {
                        entropy = flows.get(flow).entropy;
                        flows.get(flow).source
                    }
                    None => NONE,
                };
                (source, self.params.frames.of_ack(self.params.ack_bytes))
            }
        };
        let mut takes_stamps = false;
        if let Some(flows) = &mut self.flows
            && let Load::Data { message, .. } = load
        {
            let flow = self.messages.get(message).more.connection;
            self.wakes.extend(flows.sent(flow, bytes, now).map(|at| (number, at)));
            entropy = flows.get(flow).entropy;
            takes_stamps = self.takes_stamps;
        }
        let changes = self.changes;
        let unit = self.units.store(Unit { load, key, copies: 1, is_received: false, losses, changes });
        if takes_stamps {
            let at = unit as usize;
            if self.stamps.len() <= at {
                self.stamps.resize_with(at + 1, Vec::new);
            }
            self.stamps[at] = self.spare.pop().unwrap_or_default();
        }
        let bytes = bytes as u16;
        self.totals.bytes_sent += u64::from(bytes);
        let (damaged_by, hops, control, is_marked) = (NONE, 0, Control::No, false);
        let source = number;
        let frame = Frame {
            unit,
            source,
            destination,
            damaged_by,
            bytes,
            hops,
            entropy,
            class,
            is_marked,
            takes_marks: matches!(load, Load::Data { .. }),
            takes_stamps,
            trimmed: Trimmed::No,
            control,
        };
        Some((frame, key))
    }

    /// [`next`](Self::next) of connections that spray.
    fn next_of_spray(&mut self, number: u32, now: u64) -> Option<(Frame, u64)> {
        let spray = self.spray.as_mut()?;
        let next = spray.next(number, now);
        let Some((item, bytes)) = next else {
            self.take_of_spray();
            return None;
        };
        let key = mix2(u64::from(number), self.hosts[number as usize].serial);
        self.hosts[number as usize].serial += 1;
        self.totals.frames_sent += 1;
        self.totals.bytes_sent += u64::from(bytes);
        let (load, destination, class, entropy) = match item {
            Item::Piece { flow, piece, entropy } => {
                let of = spray.get(flow);
                if piece.is_again {
                    self.totals.sent_again += 1;
                } else {
                    let Underway { message: whole, offered, .. } = *self.messages.get(of.message);
                    let recorder = &mut self.messages.recorder;
                    recorder.injected(1);
                    recorder.departed(now - offered.0);
                    recorder.short().injected +=
                        Payload(self.params.payload()).short_of(whole.bytes, piece.index.into());
                    if piece.is_last {
                        self.hosts[number as usize].ending = Some(of.message);
                    }
                }
                let more = piece.target << 2 | u64::from(piece.is_again) << 1 | u64::from(piece.asks);
                let load = Load::Piece { flow, index: piece.index, number: piece.number, more };
                (load, of.destination, of.class, entropy)
            }
            Item::Words { flow, words } => {
                let (of, said) = (spray.get(flow), spray.words(words));
                match said.said {
                    Said::Acknowledged(_) | Said::Answer { trimmed: None, .. } => self.totals.acknowledgements += 1,
                    Said::Trimmed { .. } | Said::Answer { .. } => self.totals.negative_acknowledgements += 1,
                    Said::Pull { .. } => self.totals.pulls += 1,
                    Said::Request { .. } => self.totals.requests += 1,
                }
                let to = if of.source == number { of.destination } else { of.source };
                (Load::Words { flow, words }, to, CONTROL, said.entropy)
            }
        };
        self.take_of_spray();
        let changes = self.changes;
        let unit = self.units.store(Unit { load, key, copies: 1, is_received: false, losses: 0, changes });
        let is_data = matches!(load, Load::Piece { .. });
        let frame = Frame {
            unit,
            bytes: bytes as u16,
            entropy,
            class,
            takes_marks: is_data,
            ..Frame::between(number, destination)
        };
        Some((frame, key))
    }

    /// \[bytes\] Data of a full frame.
    const fn payload(&self) -> Payload {
        Payload(self.params.payload())
    }

    /// The key of the draws of a frame.
    #[inline]
    pub(crate) fn key(&self, unit: u32) -> u64 {
        self.units[unit].key
    }

    /// Number of changes of links since a frame was sent.
    #[inline]
    pub(crate) fn changes_since(&self, unit: u32) -> u32 {
        self.changes - self.units[unit].changes
    }

    /// Records that a host has ended a transmission and its port is free.
    pub(crate) fn transmitted(&mut self, host: u32, notices: &mut Notices) {
        if let Some(slot) = self.hosts[host as usize].ending.take() {
            self.messages.sent(slot, notices);
        }
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
            Load::Data { message, index, .. } if is_first && self.flows.is_some() => {
                self.frame_of_flow(message, index, frame, now, notices);
            }
            Load::Reply { flow, stamps, expected, is_negative, is_marked } if is_first => {
                self.answered(flow, stamps, &Reply { expected, is_negative, is_marked }, now);
            }
            Load::Piece { flow, index, number, more } if is_first => {
                self.piece(flow, [index, number], more, frame, now, notices);
            }
            Load::Words { flow, words } if is_first => {
                let Some(spray) = &mut self.spray else { return };
                if spray.hear(flow, words, now).is_over && self.params.is_acked {
                    self.messages.acknowledge(spray.get(flow).message, Cycle(now));
                }
                self.take_of_spray();
            }
            Load::Data { message, index, number } if is_first => {
                let connection = self.messages.get(message).more.connection;
                if connection == NONE {
                    if self.receive(message, index, frame, now) {
                        self.deliver(message, now, notices);
                    }
                } else {
                    self.segment(message, index, number, frame, now, notices);
                }
            }
            Load::Acknowledgement { connection, number, is_marked } if is_first => {
                self.on_connection(connection, now, |connection, params, counters, out, done| {
                    connection.acknowledge(params, (number, is_marked), now, counters, done, out);
                });
            }
            _ => self.totals.duplicates += 1,
        }
        self.end_copy(frame.unit, now, notices);
    }

    /// Handles a segment that has come to the receiver of its connection.
    fn segment(&mut self, slot: u32, index: u64, number: u64, frame: &Frame, now: u64, notices: &mut Notices) {
        let id = self.messages.get(slot).more.connection;
        let mut complete = Vec::new();
        let connection = &mut self.connections[id as usize];
        let before = connection.expected();
        let is_new = connection.receive(number, &mut complete);
        let is_end = !complete.is_empty();
        let answers = connection.answers(&self.params, frame.is_marked, is_new, is_end, before);
        let receiver = connection.destination;
        if is_new {
            self.receive(slot, index, frame, now);
        } else {
            self.totals.duplicates += 1;
        }
        for message in complete {
            self.deliver(message, now, notices);
        }
        for (number, is_marked) in answers.into_iter().flatten() {
            let load = Load::Acknowledgement { connection: id, number, is_marked };
            self.hosts[receiver as usize].frames.push_back(Waiting { load, is_again: false, losses: 0 });
        }
        self.ready.push(receiver);
    }

    /// Handles a data frame, whole or trimmed, of a connection that sprays. `numbers` are its index among the data
    /// frames and its sequence number.
    fn piece(&mut self, flow: u32, numbers: [u32; 2], more: u64, frame: &Frame, now: u64, notices: &mut Notices) {
        let Some(spray) = &mut self.spray else { return };
        let [index, number] = numbers;
        let piece = Piece {
            number,
            index,
            bytes: 0,
            asks: more & 1 == 1,
            is_again: more >> 1 & 1 == 1,
            target: more >> 2,
            is_last: false,
        };
        let message = spray.get(flow).message;
        let outcome = spray.data(flow, &piece, frame.entropy, (frame.is_marked, frame.trimmed), now);
        self.take_of_spray();
        if outcome.is_new {
            if self.receive(message, index.into(), frame, now) {
                self.deliver(message, now, notices);
            }
        } else if frame.trimmed == Trimmed::No {
            self.totals.duplicates += 1;
        }
    }

    /// Handles a frame that has come to the receiver of a message's own connection.
    fn frame_of_flow(&mut self, slot: u32, index: u64, frame: &Frame, now: u64, notices: &mut Notices) {
        let flow = self.messages.get(slot).more.connection;
        let Some(flows) = &mut self.flows else { return };
        let (is_new, reply) = flows.receive(flow, index, frame.is_marked, now);
        let receiver = flows.get(flow).destination;
        if let Some(Reply { expected, is_negative, is_marked }) = reply {
            let stamps = if self.takes_stamps {
                self.returned.store(std::mem::take(&mut self.stamps[frame.unit as usize]))
            } else {
                NONE
            };
            let load = Load::Reply { flow, stamps, expected, is_negative, is_marked };
            self.hosts[receiver as usize].frames.push_back(Waiting { load, is_again: false, losses: 0 });
            self.ready.push(receiver);
        }
        if !is_new {
            self.totals.duplicates += 1;
        } else if self.receive(slot, index, frame, now) {
            self.deliver(slot, now, notices);
        }
    }

    /// Handles an answer that has come to the sender of a message's own connection.
    fn answered(&mut self, flow: u32, stamps: u32, reply: &Reply, now: u64) {
        let Some(flows) = &mut self.flows else { return };
        let (message, source) = (flows.get(flow).message, flows.get(flow).source);
        let returned = if stamps == NONE { &[][..] } else { &self.returned[stamps][..] };
        let is_over = flows.answered(flow, reply, returned, now);
        self.ready.push(source);
        if is_over {
            if self.params.is_acked {
                self.messages.acknowledge(message, Cycle(now));
            }
            self.messages.let_go(message);
        }
    }

    /// A switch adds a stamp to a frame.
    #[inline]
    pub(crate) fn stamp(&mut self, unit: u32, stamp: Stamp) {
        if let Some(stamps) = self.stamps.get_mut(unit as usize) {
            stamps.push(stamp);
        }
    }

    /// Records the first arrival of a frame of a message. Returns true if all frames of the message have arrived.
    fn receive(&mut self, slot: u32, index: u64, frame: &Frame, now: u64) -> bool {
        (self.dropped_in_vain, self.last_received) = (0, now);
        let Underway { message, offered, more: Origin { sequence, .. }, .. } = *self.messages.get(slot);
        self.fates[message.source.index()][0] += 1;
        self.totals.payload_received += u64::from(self.payload().bytes_of(message.bytes, index));
        let receipt = Receipt {
            source: message.source,
            destination: message.destination,
            sequence: sequence + index,
            latency: now - offered.0,
            hops: u64::from(frame.hops).saturating_sub(self.hidden_hops),
        };
        self.messages.receive(slot, Cycle(now), &receipt, self.payload().short_of(message.bytes, index))
    }

    /// Reports the delivery of a message whose frames have all arrived.
    fn deliver(&mut self, slot: u32, now: u64, notices: &mut Notices) {
        self.message_latency.record(now - self.messages.get(slot).offered.0);
        self.messages.deliver(slot, Cycle(now), notices);
        if self.params.is_acked {
            self.messages.await_acknowledgement();
        }
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
            self.fates[self.messages.get(message).message.source.index()][1] += 1;
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
        if let (Some(flows), Load::Reply { flow, stamps, .. }) = (&mut self.flows, load) {
            flows.ended(flow);
            if stamps != NONE {
                let mut stamps_of_reply = std::mem::take(&mut self.returned[stamps]);
                stamps_of_reply.clear();
                self.spare.push(stamps_of_reply);
                self.returned.release(stamps);
            }
        }
        if let (Some(spray), Load::Piece { flow, .. } | Load::Words { flow, .. }) = (&mut self.spray, load) {
            if let Load::Words { words, .. } = load {
                spray.forget(words);
            }
            if let Some(message) = spray.ended(flow) {
                self.messages.let_go(message);
            }
            return;
        }
        let Load::Data { message, index, .. } = load else { return };
        if let Some(flows) = &mut self.flows {
            flows.ended(self.messages.get(message).more.connection);
        }
        let whole = self.messages.get(message).message;
        match self.params.transport {
            _ if is_received => {}
            Transport::Oracle | Transport::Backoff if self.has_route(whole.source, whole.destination) => {
                let waiting = Waiting { load, is_again: true, losses: losses + 1 };
                return self.send_again(whole.source.0, waiting, key, now);
            }
            // The sender finds out by acknowledgements.
            Transport::Window | Transport::Roce | Transport::Uec | Transport::Ndp => {}
            Transport::None | Transport::Oracle | Transport::Backoff => {
                let short = self.payload().short_of(whole.bytes, index);
                self.totals.messages_lost += u64::from(self.messages.lose(message, short, notices));
            }
        }
        self.messages.let_go(message);
    }

    /// Sends a frame again, behind what its host has ready. The oracle does so at once. With backoff, a frame that is
    /// lost again waits for a drawn time of up to 1, 2, 4, ... 1 024 times that of the longest frame on the link of the
    /// host.
    fn send_again(&mut self, host: u32, waiting: Waiting, key: u64, now: u64) {
        let sender = &mut self.hosts[host as usize];
        if self.params.transport == Transport::Oracle || waiting.losses == 1 {
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
        if let Some(flows) = &mut self.flows {
            let (expired, next) = flows.wake(host, now);
            self.counters.timeouts += expired;
            self.wakes.extend(next.map(|at| (host, at)));
        }
        if let Some(spray) = &mut self.spray {
            spray.wake(host, now);
            self.take_of_spray();
        }
        self.ready.push(host);
    }

    /// The counts of the whole network, with those of connections.
    pub(crate) fn totals(&self) -> Totals {
        Totals {
            retransmissions: match self.params.transport {
                Transport::Window => self.counters.retransmissions,
                _ => self.totals.sent_again,
            },
            fast_retransmits: self.counters.fast_retransmits,
            timeouts: self.counters.timeouts + self.spray.as_ref().map_or(0, |spray| spray.timeouts),
            ..self.totals
        }
    }

    /// The content of a frame, for an observer.
    pub(crate) fn content(&self, frame: &Frame) -> Content {
        if frame.control != Control::No {
            return Content::Pause {
                is_off: frame.control == Control::Off,
                class: Some(frame.class).filter(|&class| class != CONTROL),
            };
        }
        match self.units[frame.unit].load {
            Load::Data { message, index, number } => {
                let whole = self.messages.get(message).message;
                let payload = self.payload();
                let (offset, bytes) = (index * u64::from(payload.0), payload.bytes_of(whole.bytes, index));
                let segment = self.params.transport.acknowledges().then_some(number);
                Content::Data { message: whole, offset, bytes, segment }
            }
            Load::Piece { flow, index, number, .. } => {
                let of = self.spray.as_ref().map_or(NONE, |spray| spray.get(flow).message);
                let whole = self.messages.get(of).message;
                let payload = self.payload();
                let (offset, bytes) =
                    (u64::from(index) * u64::from(payload.0), payload.bytes_of(whole.bytes, index.into()));
                let bytes = if frame.trimmed == Trimmed::No { bytes } else { 0 };
                Content::Data { message: whole, offset, bytes, segment: Some(number.into()) }
            }
            Load::Words { words, .. } => {
                let number = self.spray.as_ref().map_or(0, |spray| spray.words(words).number());
                Content::Acknowledgement { from: NodeId(frame.source), to: NodeId(frame.destination), number }
            }
            Load::Reply { flow, expected, .. } => {
                let [from, to] = self.flows.as_ref().map_or([NONE; 2], |flows| {
                    let flow = flows.get(flow);
                    [flow.destination, flow.source]
                });
                Content::Acknowledgement { from: NodeId(from), to: NodeId(to), number: expected }
            }
            Load::Acknowledgement { connection, number, .. } => {
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
