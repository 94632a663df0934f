//! The interfaces of hosts whose transport has a connection for each message: whose frame is next, and when.
//!
//! An interface serves the connections in turn, from the one after the last served, that have data, are not paused, are
//! within their windows, and whose time has come. After a frame the time of its connection is the start of sending, the
//! frame at the rate of the connection, and the gap at the rate of the link.
//!
//! Decisions: docs/decisions/0390-families-of-hosts.md, docs/decisions/0581-windows-and-acknowledgements.md.

use fsin_core::slab::Slab;
use trgen::Message;
use trgen::rng::mix2;

use super::frame::{NONE, bit_time};
use super::reach::Reach;
use super::roce::{Manner, Receiver, Reply, Sender};
use super::wiring::Wiring;
use crate::cc::{Acknowledged, CongestionControl, Environment, Machine, Stamp};
use crate::params::{InFlight, Params};
use crate::switch::headrooms_of_switches;

/// A connection.
#[derive(Debug)]
pub(crate) struct Flow {
    /// The slot of its message.
    pub(crate) message: u32,
    pub(crate) source: u32,
    pub(crate) destination: u32,
    /// Traffic class.
    pub(crate) class: u8,
    /// What tells it from others of the same hosts, for switches that choose among links.
    pub(crate) entropy: u16,
    /// \[bytes\] Length of the message.
    bytes: u64,
    /// Number of frames of the message.
    frames: u64,
    sender: Sender,
    receiver: Receiver,
    control: Machine,
    /// \[ps\] When its next frame may be sent.
    next_at: u64,
    /// \[bytes\] Its last frame.
    last: u32,
    /// \[ps\] When its time-out expires; the greatest number if it is off.
    deadline: u64,
    /// Time-outs since something was last acknowledged.
    timeouts: u64,
    /// Number of the connection at its host, for draws.
    serial: u64,
    /// Its place among the turns of its host.
    place: u32,
    /// Frames and answers under way.
    underway: u32,
    /// True once all has been acknowledged.
    is_over: bool,
}

impl Flow {
    /// \[bytes\] Data in the first `frames` frames, of at most `mtu` bytes each.
    const fn data(&self, frames: u64, mtu: u64) -> u64 {
        let bytes = frames * mtu;
        if bytes < self.bytes { bytes } else { self.bytes }
    }

    /// \[bytes\] Data sent and not acknowledged.
    const fn flight(&self, mtu: u64) -> u64 {
        self.data(self.sender.next, mtu) - self.data(self.sender.acknowledged, mtu)
    }
}

/// A connection in the turns of its host.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// \[ps\] When it may send; the greatest number if that does not depend on time.
    at: u64,
    flow: u32,
    class: u8,
}

/// What a host is woken for: the turn of a connection.
const TURN: usize = 0;
/// What a host is woken for: a time-out.
const TIMEOUT: usize = 1;

/// The interface of a host.
#[derive(Clone, Debug)]
struct Interface {
    /// \[b/s\] Rate of the link.
    rate: u64,
    /// \[ps\] Gap between two frames of the link.
    gap: u64,
    /// Connections that are not over, in the order of their beginnings.
    turns: Vec<Turn>,
    /// The place that is next.
    next: usize,
    /// \[ps\] When the host will be woken for a turn, and for a time-out; the greatest number if it will not.
    wakes_at: [u64; 2],
    /// Number of connections so far.
    begun: u64,
}

/// The frame that is next, or when to ask again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// The number of a frame of a connection, and whether it was sent before.
    Frame { flow: u32, number: u64, is_again: bool },
    /// The host is to be woken at a time \[ps\].
    Wake(u64),
    /// Nothing to do, or the host will be woken.
    Nothing,
}

/// All connections.
#[derive(Debug)]
pub(crate) struct Flows {
    flows: Slab<Flow>,
    hosts: Vec<Interface>,
    manner: Manner,
    in_flight: InFlight,
    /// \[bytes\] Data of a full frame.
    mtu: u64,
    /// \[ps\] Time-out; `None` if there is none.
    rto: Option<u64>,
    /// Round trip and product of the whole network.
    reach: Reach,
    /// Seed of all draws.
    seed: u64,
}

impl Flows {
    pub(crate) fn new(params: &Params, wiring: &Wiring, reach: Reach) -> Self {
        let host = |host| {
            let link = &wiring.links[wiring.host_port(host)];
            Interface { rate: link.rate, gap: link.gap, turns: Vec::new(), next: 0, wakes_at: [u64::MAX; 2], begun: 0 }
        };
        Self {
            flows: Slab::new(),
            hosts: (0..wiring.hosts as u32).map(host).collect(),
            manner: Manner { every: params.ack_every, cnp_interval: params.cnp_interval() },
            in_flight: params.in_flight,
            mtu: params.frames.mtu.into(),
            rto: params.rto(headrooms_of_switches(params, wiring).is_some_and(|(_, short)| short.is_some())),
            reach,
            seed: params.seed,
        }
    }

    /// Begins the connection of a message of `frames` frames at time `now`; returns its handle.
    pub(crate) fn begin(&mut self, params: &Params, message: &Message, frames: u64, now: u64) -> u32 {
        let (source, destination) = (message.source.0, message.destination.0);
        let host = &mut self.hosts[message.source.index()];
        let environment = Environment {
            line_rate: host.rate,
            segment: self.mtu,
            initial_window: params.initial_window.into(),
            dup_acks: params.dup_acks.into(),
            round_trip: self.reach.round_trip,
            product: self.reach.product,
        };
        let control = params.control.as_ref().map_or(Machine::None, |control| control.begin(&environment));
        host.begun += 1;
        let entropy = mix2(host.begun, source.into()) as u16;
        let flow = self.flows.store(Flow {
            message: NONE,
            source,
            destination,
            class: message.class,
            entropy: entropy.max(1),
            bytes: message.bytes,
            frames,
            sender: Sender::default(),
            receiver: Receiver::default(),
            control,
            next_at: now,
            last: 0,
            deadline: u64::MAX,
            timeouts: 0,
            serial: host.begun,
            place: host.turns.len() as u32,
            underway: 0,
            is_over: false,
        });
        host.turns.push(Turn { at: now, flow, class: message.class });
        flow
    }

    /// Says by which slot a connection knows its message.
    pub(crate) fn carry(&mut self, flow: u32, slot: u32) {
        self.flows[flow].message = slot;
    }

    /// A connection.
    #[inline]
    pub(crate) fn get(&self, flow: u32) -> &Flow {
        &self.flows[flow]
    }

    /// True if a host has a frame to send, now or later.
    #[inline]
    pub(crate) fn has_next(&self, host: u32) -> bool {
        self.hosts[host as usize].turns.iter().any(|turn| turn.at < u64::MAX)
    }

    /// \[frames\] Frames of a host that have not been sent.
    pub(crate) fn waiting(&self, host: u32) -> u64 {
        let flows = self.hosts[host as usize].turns.iter().map(|turn| &self.flows[turn.flow]);
        flows.map(|flow| flow.frames - flow.sender.next).sum()
    }

    /// \[bytes\] The window of a connection: its own, and that of the setting.
    fn window(&mut self, flow: u32, now: u64) -> u64 {
        let Self { flows, hosts, in_flight, reach, .. } = self;
        let flow = &mut flows[flow];
        let own = flow.control.window(now);
        let product = reach.product;
        own.min(match in_flight {
            InFlight::None => u64::MAX,
            InFlight::Bdp => product,
            InFlight::BdpScaled => {
                let line = hosts[flow.source as usize].rate;
                let rate = flow.control.rate(now).min(line);
                (u128::from(product) * u128::from(rate) / u128::from(line)).max(1) as u64
            }
        })
    }

    /// True if the window of a connection permits another frame. It holds as many frames as one acknowledgement is for in
    /// any case: with fewer, sender and receiver would wait for each other.
    fn is_open(&mut self, handle: u32, now: u64) -> bool {
        let flow = &self.flows[handle];
        let frames = flow.sender.next - flow.sender.acknowledged;
        let flight = flow.flight(self.mtu);
        frames < u64::from(self.manner.every) || flight < self.window(handle, now)
    }

    /// Computes anew when a connection may send.
    fn renew(&mut self, handle: u32, now: u64) {
        let flow = &self.flows[handle];
        let at = if flow.is_over || flow.sender.next >= flow.frames {
            u64::MAX
        } else if self.is_open(handle, now) {
            self.flows[handle].next_at
        } else if self.in_flight == InFlight::BdpScaled {
            // The window grows with the rate.
            self.flows[handle].control.changes_at().map_or(u64::MAX, |at| at.max(now) + 1)
        } else {
            u64::MAX
        };
        let flow = &self.flows[handle];
        if !flow.is_over {
            self.hosts[flow.source as usize].turns[flow.place as usize].at = at;
        }
    }

    /// True if a connection of a host has its turn, now or later, whose class is not in `paused`, a bit for each.
    pub(crate) fn can_send(&self, host: u32, paused: u8) -> bool {
        self.hosts[host as usize].turns.iter().any(|turn| paused >> turn.class & 1 == 0)
    }

    /// The next frame of a host at time `now`. Classes in `paused`, a bit for each, must wait.
    pub(crate) fn next(&mut self, host: u32, now: u64, paused: u8) -> Next {
        let interface = &self.hosts[host as usize];
        let count = interface.turns.len();
        let (mut found, mut soonest) = (None, u64::MAX);
        for step in 0..count {
            let mut place = interface.next + step;
            if place >= count {
                place -= count;
            }
            let turn = interface.turns[place];
            if turn.at <= now {
                if paused >> turn.class & 1 == 0 {
                    found = Some((place, turn.flow));
                    break;
                }
            } else {
                soonest = soonest.min(turn.at);
            }
        }
        let Some((place, handle)) = found else {
            return self.wake_at(host, TURN, soonest).map_or(Next::Nothing, Next::Wake);
        };
        if self.in_flight == InFlight::BdpScaled {
            // The time may be that of a new rate.
            if !self.is_open(handle, now) || self.flows[handle].next_at > now {
                self.renew(handle, now);
                return self.next(host, now, paused);
            }
        }
        let interface = &mut self.hosts[host as usize];
        interface.next = if place + 1 >= count { 0 } else { place + 1 };
        let (number, is_again) = self.flows[handle].sender.send();
        Next::Frame { flow: handle, number, is_again }
    }

    /// Notes that a host is to be woken at a time for a [`TURN`] or a [`TIMEOUT`]; `None` if it will be before.
    fn wake_at(&mut self, host: u32, what_for: usize, at: u64) -> Option<u64> {
        let interface = &mut self.hosts[host as usize];
        let is_earlier = at < interface.wakes_at[what_for];
        if is_earlier {
            interface.wakes_at[what_for] = at;
        }
        is_earlier.then_some(at)
    }

    /// Is told that a frame of a connection, `bytes` long on the wire, begins to be sent. Returns when its host is to
    /// be woken, if that is new.
    pub(crate) fn sent(&mut self, handle: u32, bytes: u32, now: u64) -> Option<u64> {
        let flow = &mut self.flows[handle];
        let interface = &self.hosts[flow.source as usize];
        let rate = flow.control.rate(now).clamp(1, interface.rate);
        flow.next_at = now.saturating_add(bit_time(8 * bytes, rate)).saturating_add(interface.gap);
        flow.last = bytes;
        flow.underway += 1;
        flow.control.sent(now, bytes);
        let mut wakes_at = None;
        if let Some(rto) = self.rto
            && flow.deadline == u64::MAX
        {
            flow.deadline = now.saturating_add(rto);
            let (host, at) = (flow.source, flow.deadline);
            wakes_at = self.wake_at(host, TIMEOUT, at);
        }
        self.renew(handle, now);
        wakes_at
    }

    /// Handles a frame that has come to the receiver of a connection. Returns whether it is the expected one, and the
    /// answer, which is under way from then on.
    pub(crate) fn receive(&mut self, handle: u32, number: u64, is_marked: bool, now: u64) -> (bool, Option<Reply>) {
        let flow = &mut self.flows[handle];
        let (is_new, reply) = flow.receiver.receive(number, flow.frames, is_marked, now, &self.manner);
        flow.underway += u32::from(reply.is_some());
        (is_new, reply)
    }

    /// Handles an answer that has come to the sender of a connection. Returns true if the connection is over now.
    pub(crate) fn answered(&mut self, handle: u32, reply: &Reply, stamps: &[Stamp], now: u64) -> bool {
        let mtu = self.mtu;
        let flow = &mut self.flows[handle];
        if flow.is_over {
            return false;
        }
        let (before, flight) = (flow.data(flow.sender.acknowledged, mtu), flow.flight(mtu));
        let is_new = flow.sender.answered(reply);
        let offset = flow.data(flow.sender.acknowledged, mtu);
        let is_last = flow.sender.acknowledged >= flow.frames;
        let line = self.hosts[flow.source as usize].rate;
        let old = flow.control.rate(now).clamp(1, line);
        if reply.is_negative {
            flow.control.lost(now, flight);
        }
        flow.control.acknowledged(&Acknowledged {
            now,
            bytes: offset - before,
            offset,
            next: flow.data(flow.sender.next, mtu),
            flight,
            is_marked: reply.is_marked,
            stamps,
            round_trip: None,
            is_last,
        });
        if flow.control.moves_next() {
            let new = flow.control.rate(now).clamp(1, line);
            let time = |rate| bit_time(8 * flow.last, rate);
            if new != old {
                flow.next_at = (flow.next_at + time(new)).saturating_sub(time(old));
            }
        }
        if let Some(rto) = self.rto {
            if flow.sender.next == flow.sender.acknowledged {
                flow.deadline = u64::MAX;
            } else if is_new {
                (flow.deadline, flow.timeouts) = (now.saturating_add(rto), 0);
            }
        }
        if is_last {
            flow.is_over = true;
            let (source, place) = (flow.source, flow.place as usize);
            self.remove(source, place);
        } else {
            self.renew(handle, now);
        }
        is_last
    }

    /// Takes a connection out of the turns of its host.
    fn remove(&mut self, host: u32, place: usize) {
        let interface = &mut self.hosts[host as usize];
        interface.turns.remove(place);
        if interface.next > place {
            interface.next -= 1;
        }
        if interface.next >= interface.turns.len() {
            interface.next = 0;
        }
        for (at, turn) in interface.turns.iter().enumerate().skip(place) {
            self.flows[turn.flow].place = at as u32;
        }
    }

    /// A frame or an answer of a connection is under way no more.
    pub(crate) fn ended(&mut self, handle: u32) {
        let flow = &mut self.flows[handle];
        flow.underway -= 1;
        if flow.is_over && flow.underway == 0 {
            self.flows.release(handle);
        }
    }

    /// A host is woken: connections whose time-out has expired go back. Returns their number, and when the host is to
    /// be woken for the next one, if that is new.
    ///
    /// A time-out that follows another one lasts up to twice as long, by a draw: connections that lose their frames at
    /// the same instants would do so again and again.
    pub(crate) fn wake(&mut self, host: u32, now: u64) -> (u64, Option<u64>) {
        let interface = &mut self.hosts[host as usize];
        let is_due = interface.wakes_at.map(|at| at <= now);
        for what_for in [TURN, TIMEOUT].into_iter().filter(|&what_for| is_due[what_for]) {
            interface.wakes_at[what_for] = u64::MAX;
        }
        let Some(rto) = self.rto.filter(|_| is_due[TIMEOUT]) else { return (0, None) };
        let (mut expired, mut soonest) = (0, u64::MAX);
        for place in 0..self.hosts[host as usize].turns.len() {
            let handle = self.hosts[host as usize].turns[place].flow;
            let mtu = self.mtu;
            let flow = &mut self.flows[handle];
            if flow.deadline <= now {
                expired += 1;
                let flight = flow.flight(mtu);
                flow.sender.go_back();
                flow.control.timed_out(now, flight);
                flow.timeouts += 1;
                let draw = u128::from(mix2(mix2(mix2(self.seed, host.into()), flow.serial), flow.timeouts));
                let longer = (draw * u128::from(rto)) >> 64;
                flow.deadline = now.saturating_add(rto).saturating_add(longer as u64);
                self.renew(handle, now);
            }
            soonest = soonest.min(self.flows[handle].deadline);
        }
        (expired, self.wake_at(host, TIMEOUT, soonest))
    }
}
