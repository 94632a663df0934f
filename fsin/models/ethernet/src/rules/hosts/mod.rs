//! Hosts: they cut messages into frames, and put them together again; and the record of what they send and receive.
//!
//! The queue of a host has no bound: a source that must not run ahead waits for the notice that a message is sent.
//!
//! Decision: docs/decisions/0147-recovery.md.

use std::collections::{HashMap, VecDeque};

use fsin_core::messages::{Messages, Payload};
use fsin_core::network::Injected;
use fsin_core::slab::Slab;
use fsin_core::stats::Distribution;
use trgen::{Cycle, Message, NodeId};

use super::alive::Alive;
use super::flows::Flows;
use super::frame::{NONE, bit_time};
use super::reach::Reach;
use super::spray::{Spray, Stuck};
use super::uncut::Uncut;
use super::window::{Connection, Counters, Sent};
use super::wiring::Wiring;
use crate::cc::{Signal, Stamp};
use crate::details::Totals;
use crate::params::{Params, Transport};

mod content;
mod lose;
mod receive;
mod send;
mod spraying;
mod windows;

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
    /// \[ps\] When a copy of a frame was last received, filtered or lost.
    last_ended: u64,
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
            last_ended: 0,
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

    /// True if a route leads from one host to another.
    #[inline]
    fn has_route(&self, source: NodeId, destination: NodeId) -> bool {
        self.parts.is_empty() || self.parts[source.index()] == self.parts[destination.index()]
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

    /// Records that a frame has been copied, to leave through `copies` more ports.
    #[inline]
    pub(crate) fn copy(&mut self, unit: u32, copies: u32) {
        self.units[unit].copies += copies;
        self.totals.copies_made += u64::from(copies);
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
}
