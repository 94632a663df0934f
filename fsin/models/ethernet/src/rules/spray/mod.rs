//! Hosts whose transport sprays the frames of a message over paths: Ultra Ethernet (UEC) and NDP.
//!
//! The state machines of both ends are in files of their own and do not depend on the network or the engine. This file
//! connects them: a connection for each message, the ports of hosts, the pacers of receivers, and the control frames
//! that the ends exchange.
//!
//! Decision: docs/decisions/0430-transports-that-spray.md.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use fsin_core::slab::Slab;
use trgen::Message;
use trgen::rng::mix2;

use super::alive::Alive;
use super::frame::{NONE, Trimmed};
use super::wiring::Wiring;
use crate::params::{Params, Transport};
use crate::transport::{Answered, Connections};

pub(crate) mod balancer;
mod ndp;
mod nscc;
mod own;
mod pacer;
mod port;
mod receiver;
mod sender;
mod trips;

use balancer::{Balancer, Balancing, Fate, Rule};
use pacer::{Credit, Pull};
use port::{Key, Levels, Turns};
use receiver::{Acknowledgement, Arrival};
pub(crate) use sender::Piece;

pub(crate) use trips::Trips;

/// \[time-outs\] Silence after which a connection with nothing outstanding sends a request again.
const SILENCE: u64 = 100;
/// Number of entropies of pulls.
const PULL_ENTROPIES: u16 = 128;
/// The entropy of the pulls of NDP.
const NDP_PULL: u16 = u16::MAX;

/// Content of a control frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    Acknowledged(Acknowledgement),
    /// A frame was trimmed.
    Trimmed {
        number: u32,
        is_marked: bool,
        is_last_hop: bool,
    },
    /// \[quanta\] Total credit granted so far.
    Pull {
        given: u64,
    },
    /// A request to send, with a number of its own.
    Request {
        number: u32,
    },
    /// NDP: the lowest number not yet received, a trimmed frame if there is one, and a pull if it is carried along.
    Answer {
        expected: u32,
        trimmed: Option<u32>,
        pull: Option<u64>,
    },
    /// A transport from outside: an answer to a frame.
    Own {
        answer: u64,
        is_marked: bool,
        trimmed: Trimmed,
    },
}

/// A control frame: its content and its entropy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Words {
    pub(crate) said: Said,
    pub(crate) entropy: u16,
}

impl Words {
    /// A number for observers: the frame that is expected or referred to, or the credit granted.
    pub(crate) const fn number(&self) -> u64 {
        match self.said {
            Said::Acknowledged(Acknowledgement { expected, .. }) | Said::Answer { expected, .. } => expected as u64,
            Said::Trimmed { number, .. } | Said::Request { number } => number as u64,
            Said::Pull { given } => given,
            Said::Own { answer, .. } => answer,
        }
    }
}

/// A frame that a host sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Item {
    /// Data of a connection.
    Piece { flow: u32, piece: Piece, entropy: u16 },
    /// A control frame of an end of a connection, by its handle.
    Words { flow: u32, words: u32 },
}

/// Both ends of a connection.
#[derive(Debug)]
enum Ends {
    Uec { sender: Box<sender::Sender>, receiver: receiver::Receiver },
    Ndp { sender: ndp::Sender, receiver: ndp::Receiver, back: Box<Balancer> },
    Own(Box<own::Own>),
}

impl Ends {
    /// True if a frame may be sent at a turn at the port.
    #[inline]
    fn may_send(&self, of: &sender::Constants) -> bool {
        match self {
            Self::Uec { sender, .. } => sender.may_send(of),
            Self::Ndp { .. } => false,
            Self::Own(own) => own.may_send(),
        }
    }

    /// \[ps\] When the next time-out expires; the greatest number if none does.
    #[inline]
    fn deadline(&mut self, of: &sender::Constants) -> u64 {
        match self {
            Self::Uec { sender, .. } => sender.deadline(of),
            Self::Ndp { .. } => u64::MAX,
            Self::Own(own) => own.deadline(),
        }
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) message: u32,
    pub(crate) source: u32,
    pub(crate) destination: u32,
    pub(crate) class: u8,
    /// Number of its message, by which NDP orders connections.
    number: u64,
    ends: Ends,
    balancer: Balancer,
    credit: Credit,
    /// The entropy of its last pull.
    pull_entropy: u16,
    /// True while it waits at the port of its source.
    is_waiting: bool,
    /// \[ps\] When its source checks its time-out; `u64::MAX` if no check is scheduled.
    armed: u64,
    /// \[ps\] When its source last sent or heard something.
    heard: u64,
    /// Number of frames of both ends that are under way or waiting.
    underway: u32,
    pub(crate) is_over: bool,
    /// False once its handle may have been reused.
    is_live: bool,
    /// The port at which a frame of it was lost, or [`NONE`].
    lost_at: u32,
}

impl Flow {
    /// Number of data frames that were never sent.
    fn unsent(&self) -> u32 {
        match &self.ends {
            Ends::Uec { sender, .. } => sender.unsent(),
            Ends::Ndp { sender, .. } => sender.unsent(),
            Ends::Own(own) => own.unsent,
        }
    }

    const fn key(&self, handle: u32) -> Key {
        (self.number, handle)
    }
}

/// What waits at the port of a host.
#[derive(Clone, Debug)]
enum Port {
    Uec(Turns<Item>),
    Ndp(Levels<Item>),
}

/// A host.
#[derive(Clone, Debug)]
struct Host {
    /// Index of the constants of hosts of its rate.
    kind: usize,
    /// Frames that bypass the queues of the port, since it was idle.
    out: VecDeque<Item>,
    /// \[ps\] When its port is free.
    busy_until: u64,
    port: Port,
    /// Scheduled checks of time-outs: \[ps\] the time, and the connection.
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    /// \[ps\] When it will be woken; `u64::MAX` if no wake-up is scheduled.
    wakes_at: u64,
    pacer: pacer::Pacer,
    pulls: ndp::Pacer,
    /// \[ps\] Time of a quantum, or between two pulls.
    gap: u64,
    /// Number of connections begun so far.
    begun: u64,
}

/// A connection that waits for a frame that was lost for good.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stuck {
    pub(crate) message: u32,
    pub(crate) source: u32,
    pub(crate) destination: u32,
    /// The port at which a frame was lost, or [`NONE`].
    pub(crate) lost_at: u32,
    /// Data frames that have not arrived, and whether they were never sent.
    pub(crate) missing: Vec<(u32, bool)>,
}

/// Outcome of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Outcome {
    /// The data had not arrived before.
    pub(crate) is_new: bool,
    /// The source now knows that all data have arrived.
    pub(crate) is_over: bool,
}

/// All connections and hosts.
#[derive(Debug)]
pub(crate) struct Spray {
    flows: Slab<Flow>,
    /// One more than the largest handle so far.
    begun: u32,
    hosts: Vec<Host>,
    words: Slab<Words>,
    /// Constants of the hosts of each rate.
    kinds: Vec<sender::Constants>,
    trips: Trips,
    balancing: Balancing,
    /// \[bytes\] Data after which a receiver acknowledges.
    ack_every: u64,
    /// \[frames\] NDP: frames that are sent before any answer.
    initial_window: u64,
    /// \[bytes\] A full frame.
    frame: u32,
    /// \[bytes\] Data in it.
    payload: u32,
    is_ndp: bool,
    /// What opens connections of a transport from outside.
    connections: Option<Connections>,
    has_credits: bool,
    trims: bool,
    /// \[ps\] Time without any frame from the other end after which a connection with nothing outstanding sends a
    /// request again.
    silence: u64,
    seed: u64,
    /// \[ps\] By host: transmission times of a full data frame and of a control frame on its link.
    times: Vec<[u64; 2]>,
    /// \[b/s\] and \[ps\] By host: rate and gap of its link.
    links: Vec<(u64, u64)>,
    /// \[bytes\] Control frames on the wire, and the shortest frame.
    said_bytes: u32,
    least: u32,
    /// Hosts that may have become able to send.
    pub(crate) touched: Vec<u32>,
    /// Hosts to be woken, each with the time \[ps\].
    pub(crate) wakes: Vec<(u32, u64)>,
    /// Connections of which a frame or timer is finished; call [`ended`](Self::ended) once for each entry.
    pub(crate) done: Vec<u32>,
    /// Number of time-outs.
    pub(crate) timeouts: u64,
}

impl Spray {
    pub(crate) fn new(params: &Params, wiring: &Wiring, alive: &Alive) -> Self {
        let trips = Trips::new(params, wiring, alive);
        let spraying = &params.spraying;
        let frames = params.frames;
        let frame = frames.of(frames.mtu);
        let (header, payload) = (frame - frames.mtu, frames.mtu);
        let is_ndp = params.transport == Transport::Ndp;
        let (has_window, has_credits) = params.congestion_of_uec();
        let trims = params.switch.trim.is_some_and(|trim| trim.mode.trims());
        let mut rates: Vec<u64> = Vec::new();
        let said_bytes = frames.of_ack(params.ack_bytes);
        let link = |host: usize| &wiring.links[wiring.host_port(host as u32)];
        let mut hosts = Vec::new();
        for host in 0..wiring.hosts {
            let rate = link(host).rate;
            let kind = rates.iter().position(|&known| known == rate).unwrap_or_else(|| {
                rates.push(rate);
                rates.len() - 1
            });
            hosts.push(Host {
                kind,
                out: VecDeque::new(),
                busy_until: 0,
                port: if is_ndp { Port::Ndp(Levels::new()) } else { Port::Uec(Turns::new()) },
                timers: BinaryHeap::new(),
                wakes_at: u64::MAX,
                pacer: pacer::Pacer::default(),
                pulls: ndp::Pacer::default(),
                gap: if is_ndp { ndp::pull_gap(frame, rate) } else { pacer::quantum_time(rate) },
                begun: 0,
            });
        }
        let kind = |&rate: &u64| {
            let round_trip = trips.network(rate);
            let product = sender::product(round_trip, rate);
            let queue = params.room_of_rate(&trips, rate);
            let waits = 6.0 * 8.0 * queue as f64 * 1e12 / rate as f64;
            sender::Constants {
                frame: frame.into(),
                header: header.into(),
                rate,
                round_trip,
                most: sender::largest_window(round_trip, rate),
                rto: (15e6 + waits) as u64,
                has_window,
                has_credits,
                base_on_trim: spraying.base_on_trim,
                nscc: nscc::Constants::new(frame.into(), payload.into(), round_trip, product, trims, params.qa_gate()),
            }
        };
        let kinds: Vec<sender::Constants> = rates.iter().map(kind).collect();
        let times = (0..wiring.hosts).map(|host| [frame, said_bytes].map(|bytes| link(host).time(bytes as u16)));
        Self {
            flows: Slab::new(),
            begun: 0,
            words: Slab::new(),
            silence: kinds.iter().map(|of| of.rto).max().unwrap_or(0).saturating_mul(SILENCE),
            times: times.collect(),
            links: (0..wiring.hosts).map(|host| (link(host).rate, link(host).gap)).collect(),
            hosts,
            kinds,
            trips,
            balancing: params.balancing,
            ack_every: spraying.ack_every,
            initial_window: spraying.initial_window,
            frame,
            payload,
            is_ndp,
            connections: params.connections.clone(),
            has_credits,
            trims,
            seed: params.seed,
            said_bytes,
            least: frames.min,
            touched: Vec::new(),
            wakes: Vec::new(),
            done: Vec::new(),
            timeouts: 0,
        }
    }

    /// Begins the connection of a message; it sends nothing before it is [started](Self::start).
    pub(crate) fn begin(&mut self, message: &Message) -> u32 {
        let (source, destination) = (message.source.0, message.destination.0);
        let host = &mut self.hosts[source as usize];
        host.begun += 1;
        let seed = mix2(mix2(self.seed, source.into()), host.begun);
        let balancer = Balancer::new(self.balancing, seed);
        let ends = if self.is_ndp {
            let frames = message.bytes.div_ceil(self.payload.into()).max(1) as u32;
            let sender = ndp::Sender::new(frames, self.initial_window);
            let back = Box::new(Balancer::new(self.balancing, mix2(seed, 1)));
            Ends::Ndp { sender, receiver: ndp::Receiver::default(), back }
        } else if let Some(connections) = &self.connections {
            let of = &self.kinds[host.kind];
            Ends::Own(Box::new(own::Own::new(connections, message.bytes, of)))
        } else {
            let of = &self.kinds[host.kind];
            let base = self.trips.pair(source, destination, of.rate);
            let sender = Box::new(sender::Sender::new(message.bytes, base, of));
            Ends::Uec { sender, receiver: receiver::Receiver::default() }
        };
        let is_cycle = self.balancing.rule == Rule::Cycle;
        let handle = self.flows.store(Flow {
            message: NONE,
            source,
            destination,
            class: message.class,
            number: message.id,
            ends,
            balancer: if is_cycle { balancer.beginning_second() } else { balancer },
            credit: Credit::default(),
            pull_entropy: 0,
            is_waiting: false,
            armed: u64::MAX,
            heard: 0,
            underway: 0,
            is_over: false,
            is_live: true,
            lost_at: NONE,
        });
        self.begun = self.begun.max(handle + 1);
        handle
    }

    /// Starts a connection, whose message has a slot.
    pub(crate) fn start(&mut self, handle: u32, slot: u32, now: u64) {
        self.flows[handle].message = slot;
        if self.is_ndp {
            self.send_due(handle);
            if let Ends::Ndp { sender, .. } = &mut self.flows[handle].ends {
                sender.begun();
            }
        } else {
            self.ask(handle, now);
            if let Ends::Own(own) = &mut self.flows[handle].ends {
                own.begun(now);
                self.arm(handle);
            }
        }
    }

    #[inline]
    pub(crate) fn get(&self, flow: u32) -> &Flow {
        &self.flows[flow]
    }

    #[inline]
    pub(crate) fn words(&self, handle: u32) -> &Words {
        &self.words[handle]
    }

    /// True if a host has a frame to send.
    #[inline]
    pub(crate) fn has_next(&self, host: u32) -> bool {
        let host = &self.hosts[host as usize];
        !host.out.is_empty()
            || match &host.port {
                Port::Uec(turns) => !turns.is_empty(),
                Port::Ndp(levels) => !levels.is_empty(),
            }
    }

    /// \[frames\] Frames that wait at a host: control frames, and data frames that were never sent.
    pub(crate) fn waiting(&self, host: u32) -> u64 {
        let of = &self.hosts[host as usize];
        let at_port = match &of.port {
            Port::Uec(turns) => turns.controls.len() + of.out.len(),
            Port::Ndp(levels) => return (levels.len() + of.out.len()) as u64,
        };
        let of_flows = match &of.port {
            Port::Uec(turns) => turns.flows.iter().map(|&flow| u64::from(self.flows[flow].unsent())).sum(),
            Port::Ndp(_) => 0,
        };
        at_port as u64 + of_flows
    }

    fn is_idle(&self, host: u32, now: u64) -> bool {
        let host = &self.hosts[host as usize];
        host.out.is_empty() && host.busy_until <= now
    }

    /// UEC: lets a connection send, or join the list of its port, if it may.
    fn ask(&mut self, handle: u32, now: u64) {
        let flow = &self.flows[handle];
        let (source, is_waiting) = (flow.source, flow.is_waiting);
        let of = &self.kinds[self.hosts[source as usize].kind];
        if is_waiting || !flow.ends.may_send(of) {
            return;
        }
        if self.is_idle(source, now) {
            let sharing = self.waiting_flows(source);
            let item = self.take(handle, sharing, now);
            self.hosts[source as usize].out.extend(item);
            self.touched.push(source);
            self.join(handle);
        } else {
            self.join(handle);
            self.touched.push(source);
        }
    }

    fn waiting_flows(&self, host: u32) -> usize {
        match &self.hosts[host as usize].port {
            Port::Uec(turns) => turns.flows.len(),
            Port::Ndp(_) => 0,
        }
    }

    /// UEC: a connection that may send joins the end of the list of its port.
    fn join(&mut self, handle: u32) {
        let flow = &mut self.flows[handle];
        let host = &mut self.hosts[flow.source as usize];
        let Port::Uec(turns) = &mut host.port else { return };
        if !flow.is_waiting && flow.ends.may_send(&self.kinds[host.kind]) {
            flow.is_waiting = true;
            flow.underway += 1;
            turns.flows.push_back(handle);
        }
    }

    /// UEC: takes the next frame of a connection, which may send.
    fn take(&mut self, handle: u32, sharing: usize, now: u64) -> Option<Item> {
        let flow = &mut self.flows[handle];
        let of = &self.kinds[self.hosts[flow.source as usize].kind];
        let (piece, entropy) = match &mut flow.ends {
            Ends::Uec { sender, .. } => {
                let entropy = flow.balancer.next(sender.window_frames(of));
                (sender.send(now, sharing, of), entropy)
            }
            Ends::Own(own) => (own.send(now)?, flow.balancer.next(u64::MAX)),
            Ends::Ndp { .. } => return None,
        };
        flow.underway += 1;
        flow.heard = now;
        self.arm(handle);
        Some(Item::Piece { flow: handle, piece, entropy })
    }

    /// Schedules the check of the time-out of a connection.
    fn arm(&mut self, handle: u32) {
        let flow = &mut self.flows[handle];
        let host = &mut self.hosts[flow.source as usize];
        let deadline = flow.ends.deadline(&self.kinds[host.kind]);
        if deadline < flow.armed {
            flow.armed = deadline;
            flow.underway += 1;
            host.timers.push(Reverse((deadline, handle)));
            let source = flow.source;
            self.wake_at(source, deadline);
        }
    }

    /// As [`arm`](Self::arm), at a given time.
    fn arm_at(&mut self, handle: u32, at: u64) {
        let flow = &mut self.flows[handle];
        if at < flow.armed {
            flow.armed = at;
            flow.underway += 1;
            let source = flow.source;
            self.hosts[source as usize].timers.push(Reverse((at, handle)));
            self.wake_at(source, at);
        }
    }

    fn wake_at(&mut self, host: u32, at: u64) {
        let of = &mut self.hosts[host as usize];
        if at < of.wakes_at {
            of.wakes_at = at;
            self.wakes.push((host, at));
        }
    }

    /// Puts a control frame of a connection into the port of a host.
    fn say(&mut self, handle: u32, host: u32, words: Words, now: u64) {
        let is_idle = self.is_idle(host, now);
        let flow = &mut self.flows[handle];
        flow.underway += 1;
        let key = flow.key(handle);
        let is_high = !matches!(words.said, Said::Answer { trimmed: Some(_), .. });
        let item = Item::Words { flow: handle, words: self.words.store(words) };
        let of = &mut self.hosts[host as usize];
        match &mut of.port {
            Port::Uec(_) if is_idle => of.out.push_back(item),
            Port::Uec(turns) => turns.controls.push_back(item),
            Port::Ndp(levels) => levels.push(is_high, key, item),
        }
        self.touched.push(host);
    }

    /// The next frame of a host, whose port is free at time `now`, with its size \[bytes\].
    pub(crate) fn next(&mut self, number: u32, now: u64) -> Option<(Item, u32)> {
        let item = self.next_item(number, now)?;
        let (bytes, time) = match &item {
            Item::Words { .. } => (self.said_bytes, self.times[number as usize][1]),
            Item::Piece { piece, .. } if piece.bytes == self.frame => (self.frame, self.times[number as usize][0]),
            Item::Piece { piece, .. } => {
                let bytes = piece.bytes.max(self.least);
                (bytes, super::frame::bit_time(8 * bytes, self.links[number as usize].0))
            }
        };
        let gap = self.links[number as usize].1;
        self.hosts[number as usize].busy_until = now.saturating_add(time + gap);
        Some((item, bytes))
    }

    fn next_item(&mut self, number: u32, now: u64) -> Option<Item> {
        let host = &mut self.hosts[number as usize];
        if let Some(item) = host.out.pop_front() {
            return Some(item);
        }
        let turns = match &mut host.port {
            Port::Ndp(levels) => return levels.pop(),
            Port::Uec(turns) => turns,
        };
        if turns.is_empty() {
            return None;
        }
        if !turns.is_of_flows() {
            return turns.controls.pop_front();
        }
        loop {
            let host = &mut self.hosts[number as usize];
            let Port::Uec(turns) = &mut host.port else { return None };
            let Some(handle) = turns.flows.pop_front() else { return turns.controls.pop_front() };
            let sharing = turns.flows.len() + 1;
            let flow = &mut self.flows[handle];
            flow.is_waiting = false;
            self.done.push(handle);
            if flow.ends.may_send(&self.kinds[host.kind]) {
                let item = self.take(handle, sharing, now);
                self.join(handle);
                return item;
            }
            self.watch(handle, now);
        }
    }

    /// NDP: the frames of a connection that are due go to the port.
    fn send_due(&mut self, handle: u32) {
        let flow = &mut self.flows[handle];
        let (key, source) = (flow.key(handle), flow.source);
        let Ends::Ndp { sender, .. } = &mut flow.ends else { return };
        let host = &mut self.hosts[source as usize];
        let Port::Ndp(levels) = &mut host.port else { return };
        while let Some((number, is_again)) = sender.send() {
            let is_last = !is_again && number + 1 == sender.frames;
            let bytes = self.frame;
            let piece = Piece { number, index: number, bytes, asks: false, is_again, target: 0, is_last };
            flow.underway += 1;
            let entropy = flow.balancer.next(u64::MAX);
            levels.push(false, key, Item::Piece { flow: handle, piece, entropy });
        }
        self.touched.push(source);
    }

    /// Data of a connection, or the header of a frame whose data were cut off, have come to its destination.
    pub(crate) fn data(
        &mut self,
        handle: u32,
        piece: &Piece,
        entropy: u16,
        marks: (bool, Trimmed),
        now: u64,
    ) -> Outcome {
        if self.is_ndp {
            return self.data_of_ndp(handle, piece, marks.1, now);
        }
        let (is_marked, trimmed) = marks;
        let flow = &mut self.flows[handle];
        let destination = flow.destination;
        let of = &self.kinds[self.hosts[flow.source as usize].kind];
        if let Ends::Own(own) = &mut flow.ends {
            let (is_new, said) = own.arrived(piece.number, is_marked, trimmed, now);
            if let Some(said) = said {
                self.say(handle, destination, Words { said, entropy }, now);
            }
            return Outcome { is_new, is_over: false };
        }
        let Ends::Uec { sender, receiver } = &mut flow.ends else { return Outcome::default() };
        let Piece { number, asks, is_again, target, .. } = *piece;
        let bytes = sender.size(piece.index, of) as u32;
        let arrival = Arrival { number, bytes, is_marked, is_again, asks };
        let (is_new, said) = match trimmed {
            Trimmed::No => receiver.receive(&arrival, self.ack_every),
            _ => (false, receiver.trimmed(&arrival)),
        };
        let said = match (said, trimmed) {
            (Some(said), _) => Some(Said::Acknowledged(said)),
            (None, Trimmed::No) => None,
            (None, _) => Some(Said::Trimmed { number, is_marked, is_last_hop: trimmed == Trimmed::LastHop }),
        };
        if let Some(said) = said {
            self.say(handle, destination, Words { said, entropy }, now);
        }
        if self.has_credits {
            self.request(handle, target, trimmed != Trimmed::No, now);
        }
        Outcome { is_new, is_over: false }
    }

    /// A connection requests credit from the pacer of its destination.
    fn request(&mut self, handle: u32, target: u64, must: bool, now: u64) {
        let flow = &mut self.flows[handle];
        let destination = flow.destination;
        self.hosts[destination as usize].pacer.request(handle, &mut flow.credit, target, must);
        if self.hosts[destination as usize].pacer.next_at.is_none() {
            self.serve(destination, now);
        }
    }

    /// The pacer of a host grants credit, or waits for a request if no connection is listed.
    fn serve(&mut self, number: u32, now: u64) {
        let host = &mut self.hosts[number as usize];
        host.pacer.next_at = None;
        let Some(handle) = host.pacer.next() else { return };
        let flow = &mut self.flows[handle];
        let most = self.kinds[host.kind].most;
        let Some(Pull { given, .. }) = host.pacer.serve(&mut flow.credit, now, host.gap, most) else { return };
        let next_at = host.pacer.next_at;
        flow.pull_entropy = (flow.pull_entropy + 1) % PULL_ENTROPIES;
        let words = Words { said: Said::Pull { given }, entropy: flow.pull_entropy };
        self.say(handle, number, words, now);
        if let Some(at) = next_at {
            self.wake_at(number, at);
        }
    }

    fn data_of_ndp(&mut self, handle: u32, piece: &Piece, trimmed: Trimmed, now: u64) -> Outcome {
        let flow = &mut self.flows[handle];
        let (destination, key) = (flow.destination, flow.key(handle));
        let Ends::Ndp { sender, receiver, back } = &mut flow.ends else { return Outcome::default() };
        let is_trimmed = trimmed != Trimmed::No;
        let is_new = !is_trimmed && receiver.receive(piece.number);
        receiver.pulls += 1;
        let (expected, pull) = (receiver.expected, receiver.pulls);
        let entropy = back.next(u64::MAX);
        let is_whole = expected >= sender.frames;
        let host = &mut self.hosts[destination as usize];
        if is_whole {
            flow.underway -= host.pulls.forget(key);
        }
        let carries = host.pulls.carries(now, host.gap);
        // A complete message needs no more pulls.
        if !carries && !is_whole {
            host.pulls.wait(key, pull, now, host.gap);
            flow.underway += 1;
        }
        let next_at = host.pulls.next_at;
        let trimmed = is_trimmed.then_some(piece.number);
        let said = Said::Answer { expected, trimmed, pull: carries.then_some(pull) };
        self.say(handle, destination, Words { said, entropy }, now);
        if let Some(at) = next_at {
            self.wake_at(destination, at);
        }
        Outcome { is_new, is_over: false }
    }

    /// A control frame has arrived at the other end of a connection.
    pub(crate) fn hear(&mut self, handle: u32, words: u32, now: u64) -> Outcome {
        let Words { said, entropy } = self.words[words];
        let trims = self.trims;
        let flow = &mut self.flows[handle];
        let kind = self.hosts[flow.source as usize].kind;
        let of = &self.kinds[kind];
        let mut is_over = false;
        flow.heard = now;
        match (&mut flow.ends, said) {
            (Ends::Uec { sender, .. }, Said::Acknowledged(said)) => {
                let fate = if said.is_marked { Fate::Marked } else { Fate::Clear };
                let balancer = &mut flow.balancer;
                is_over = sender.acknowledged(&said, now, of, || balancer.learn(entropy, fate, now, trims));
                flow.is_over |= is_over;
                if !is_over {
                    self.ask(handle, now);
                }
            }
            (Ends::Uec { sender, .. }, Said::Trimmed { number, is_marked, is_last_hop }) => {
                if sender.trimmed(number, is_last_hop, now, of) {
                    self.ask(handle, now);
                    let trimmed = if is_last_hop { Trimmed::LastHop } else { Trimmed::Midway };
                    self.flows[handle].balancer.learn(entropy, Fate::of(trimmed, is_marked), now, trims);
                }
                self.ask(handle, now);
            }
            (Ends::Uec { sender, .. }, Said::Pull { given }) => {
                sender.pulled(given, of);
                self.ask(handle, now);
            }
            (Ends::Uec { receiver, .. }, Said::Request { number }) => {
                let said = Said::Acknowledged(receiver.requested(number));
                let destination = flow.destination;
                self.say(handle, destination, Words { said, entropy }, now);
                if self.has_credits {
                    self.request(handle, 0, true, now);
                }
            }
            (Ends::Ndp { sender, .. }, Said::Answer { expected, trimmed, pull }) => {
                is_over = sender.acknowledged(expected);
                flow.is_over |= is_over;
                if let Some(number) = trimmed.filter(|_| !sender.is_over) {
                    sender.trimmed(number);
                    flow.balancer.skip();
                }
                if let Some(pull) = pull {
                    sender.pulled(pull);
                }
                self.send_due(handle);
            }
            (Ends::Own(own), Said::Own { answer, is_marked, trimmed }) => {
                flow.balancer.learn(entropy, Fate::of(trimmed, is_marked), now, trims);
                is_over = own.answered(&Answered { now, answer, is_marked });
                flow.is_over |= is_over;
                if !is_over {
                    self.ask(handle, now);
                    self.arm(handle);
                }
            }
            (Ends::Ndp { sender, .. }, Said::Pull { given }) => {
                sender.pulled(given);
                self.send_due(handle);
            }
            _ => {}
        }
        if !is_over {
            self.watch(handle, now);
        }
        Outcome { is_new: false, is_over }
    }

    /// Schedules a check after a long silence for a connection that is not complete and has nothing outstanding, so
    /// that no time-out would wake it.
    fn watch(&mut self, handle: u32, now: u64) {
        let flow = &mut self.flows[handle];
        if let Ends::Uec { sender, .. } = &flow.ends
            && flow.armed == u64::MAX
            && !flow.is_waiting
            && sender.is_silent()
        {
            self.arm_at(handle, now.saturating_add(self.silence));
        }
    }

    /// Wakes a host: handles its time-outs, and lets its pacer send.
    pub(crate) fn wake(&mut self, number: u32, now: u64) {
        let host = &mut self.hosts[number as usize];
        if host.wakes_at <= now {
            host.wakes_at = u64::MAX;
        }
        while let Some(&Reverse((at, handle))) = self.hosts[number as usize].timers.peek() {
            if at > now {
                break;
            }
            self.hosts[number as usize].timers.pop();
            let flow = &mut self.flows[handle];
            if at == flow.armed {
                flow.armed = u64::MAX;
                self.look(handle, now);
            }
            self.done.push(handle);
        }
        let host = &mut self.hosts[number as usize];
        if host.pacer.next_at.is_some_and(|at| at <= now) {
            self.serve(number, now);
        }
        let host = &mut self.hosts[number as usize];
        if host.pulls.next_at.is_some_and(|at| at <= now)
            && let Some((handle, pull)) = host.pulls.expire(now, host.gap)
        {
            let words = Words { said: Said::Pull { given: pull }, entropy: NDP_PULL };
            self.say(handle, number, words, now);
            self.done.push(handle);
        }
        let host = &self.hosts[number as usize];
        let timer = host.timers.peek().map(|Reverse((at, _))| *at);
        let next = timer.into_iter().chain(host.pacer.next_at).chain(host.pulls.next_at).min();
        if let Some(at) = next {
            self.wake_at(number, at);
        }
    }

    /// Checks whether the time-out of a connection has expired.
    fn look(&mut self, handle: u32, now: u64) {
        let flow = &mut self.flows[handle];
        let (source, kind) = (flow.source, self.hosts[flow.source as usize].kind);
        let of = &self.kinds[kind];
        if let Ends::Own(own) = &mut flow.ends {
            if !flow.is_over && own.deadline() <= now {
                self.timeouts += 1;
                flow.balancer.learn(0, Fate::TimedOut, now, self.trims);
                own.expired(now);
                self.ask(handle, now);
            }
            return self.arm(handle);
        }
        let Ends::Uec { sender, .. } = &mut flow.ends else { return };
        if sender.is_over {
            return;
        }
        let deadline = sender.deadline(of);
        if deadline == u64::MAX {
            let end = flow.heard.saturating_add(self.silence);
            return if end > now { self.arm_at(handle, end) } else { self.end_silence(handle, now) };
        }
        if deadline > now {
            return self.arm(handle);
        }
        self.timeouts += 1;
        flow.balancer.learn(0, Fate::TimedOut, now, self.trims);
        let Some(expired) = sender.timed_out(of) else { return };
        if sender.may_repeat(of) {
            self.ask(handle, now);
        }
        let flow = &mut self.flows[handle];
        let Ends::Uec { sender, .. } = &mut flow.ends else { return };
        let of = &self.kinds[kind];
        if sender.must_request(expired, of)
            && let Some(number) = sender.request(now, of)
        {
            let words = Words { said: Said::Request { number }, entropy: 0 };
            self.say(handle, source, words, now);
        }
        self.arm(handle);
        self.watch(handle, now);
    }

    /// Sends a request again after a long silence: a request, a pull or an acknowledgement was lost.
    fn end_silence(&mut self, handle: u32, now: u64) {
        let flow = &mut self.flows[handle];
        let source = flow.source;
        let of = &self.kinds[self.hosts[source as usize].kind];
        let Ends::Uec { sender, .. } = &mut flow.ends else { return };
        if flow.is_waiting {
            return self.arm_at(handle, now.saturating_add(self.silence));
        }
        let number = sender.lost_request(now).or_else(|| sender.request(now, of));
        if let Some(number) = number {
            self.timeouts += 1;
            let words = Words { said: Said::Request { number }, entropy: 0 };
            self.say(handle, source, words, now);
        }
        self.arm_at(handle, now.saturating_add(self.silence));
    }

    /// A frame or timer of a connection is finished. Returns the message if the connection is released with it.
    pub(crate) fn ended(&mut self, handle: u32) -> Option<u32> {
        let flow = &mut self.flows[handle];
        flow.underway -= 1;
        if !flow.is_over || flow.underway > 0 || flow.credit.listed > 0 {
            return None;
        }
        let message = flow.message;
        flow.is_live = false;
        self.flows.release(handle);
        Some(message)
    }

    /// A frame of a connection was lost at a port.
    pub(crate) fn lost_at(&mut self, handle: u32, port: u32) {
        self.flows[handle].lost_at = port;
    }

    /// Takes the connections that still wait when no event is left: NDP has no time-out, and a transport from outside
    /// may have none, so a lost frame blocks them for good.
    pub(crate) fn take_stuck(&mut self) -> Vec<Stuck> {
        let mut stuck = Vec::new();
        for handle in 0..self.begun {
            let flow = &mut self.flows[handle];
            if !flow.is_live || flow.is_over {
                continue;
            }
            let missing = match &flow.ends {
                Ends::Ndp { sender, receiver, .. } => {
                    let missing = (0..sender.frames).filter(|&number| !receiver.has(number));
                    missing.map(|number| (number, sender.is_unsent(number))).collect()
                }
                Ends::Own(own) => own.missing(),
                // Its time-outs never end.
                Ends::Uec { .. } => continue,
            };
            let Flow { message, source, destination, lost_at, .. } = *flow;
            stuck.push(Stuck { message, source, destination, lost_at, missing });
            (flow.is_over, flow.is_live) = (true, false);
            self.flows.release(handle);
        }
        stuck
    }

    /// \[ps\] How long nothing must have moved before connections are [given up](Self::take_stuck).
    pub(crate) const fn patience(&self) -> u64 {
        self.silence
    }

    /// Releases a control frame that has arrived or was lost.
    pub(crate) fn forget(&mut self, words: u32) {
        self.words.release(words);
    }
}
