//! Hosts whose transport sprays the frames of a message over paths: Ultra Ethernet (UEC) and NDP.
//!
//! The state machines of both ends are in files of their own and do not depend on the network or the engine. This file
//! connects them: a connection for each message, the ports of hosts, the pacers of receivers, and the control frames
//! that the ends exchange; [`sending`], [`hearing`] and [`waking`] are what a host does at its turn, at an arrival, and
//! when a timer expires.
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
use crate::transport::Connections;

pub(crate) mod balancer;
mod hearing;
mod ndp;
mod nscc;
mod own;
mod pacer;
mod port;
mod receiver;
mod sender;
mod sending;
mod trips;
mod waking;

use balancer::{Balancer, Balancing, Rule};
use pacer::Credit;
use port::{Key, Levels, Turns};
use receiver::Acknowledgement;
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

    /// Releases a control frame that has arrived or was lost.
    pub(crate) fn forget(&mut self, words: u32) {
        self.words.release(words);
    }
}
