//! A part of a network, and one cycle of it.

use super::ring::Ring;
use super::rules::Rules;
use super::state::{Ahead, Buffer, Chain, Endpoint, NONE, Packet, Router, Sleepers, Stamp};
use crate::router::congestion::Timer;
use crate::router::layout::Layout;
use crate::router::request::OutputVc;
use crate::view::Occupancy;

mod arriving;
mod deciding;
mod filling;
mod leaving;
mod mail;
mod near;

pub(super) use mail::{Abroad, Mail, Report};
use near::{Near, head};

/// The bit of [`Router::awake`] that stands for no input.
const NO_INPUT: u64 = 1 << 63;

/// At the end of a cycle the tail of the packet that owns an output channel has left an input, at a node of the part.
#[derive(Clone, Copy, Debug)]
struct Left {
    node: u32,
    output: u8,
    input: u8,
}

/// What else happens at the end of a cycle, when a tail has moved, at a node of the part.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The tail of the packet that was leaving this input has been consumed.
    Consumed { node: u32, input: u8, packet: u32 },
    /// Serial injection has moved a tail.
    Injected { node: u32 },
}

/// Some of the nodes, with consecutive numbers, and all that belongs to them. Nodes have numbers of the part's own, from
/// 0.
#[derive(Debug)]
pub(super) struct Part<L, const D: usize, const Q: usize, const P: usize> {
    pub(super) rules: Rules<L>,
    /// The number of its first node in the network.
    pub(super) first: u32,
    pub(super) clock: u64,
    /// \[cycle\] The last that was simulated, and the last in which stamps were kept from growing too old.
    previous: u64,
    capped: u64,
    pub(super) routers: Vec<Router<Q, P>>,
    pub(super) endpoints: Vec<Endpoint>,
    /// By node and port.
    sleepers: Vec<Sleepers>,
    /// By node and lane; empty where nobody asks.
    ahead: Vec<Ahead>,
    /// \[cycle\] In which the header at the head of a queue first asks, by node and lane; empty where nobody asks.
    since: Vec<u64>,
    /// The nodes whose numbers come after those of its own.
    border: Vec<Abroad>,
    /// By node and injector.
    pub(super) buffers: Vec<Buffer>,
    pub(super) packets: Vec<Packet<D>>,
    pub(super) vacant: Vec<u32>,
    /// Headers that crossed a link in the previous cycle: node, queue and packet.
    headers: Vec<(u32, u8, u32)>,
    /// Headers that are on a wire, by the cycle in which they come.
    wire: Ring<(u32, u8, u32)>,
    /// By node; empty where nobody asks.
    timers: Vec<Timer>,
    /// Nodes with heads to look at, and with source buffers to look at.
    looking: Vec<u32>,
    injecting: Vec<u32>,
    /// Kept for its memory.
    looked: Vec<u32>,
    /// What tails will do: those that cross a link, and the others.
    crossing: Ring<Left>,
    ring: Ring<Event>,
    /// By output: the inputs that ask for it, while a node decides.
    asking: [u64; 64],
    /// By part: what comes from it, and what goes to it.
    pub(super) inbox: Vec<Mail<D>>,
    pub(super) outbox: Vec<Mail<D>>,
    pub(super) report: Report,
    /// \[packets\] Headers that crossed each link, by node and port; empty while nobody looks.
    pub(super) crossed: Vec<u64>,
}

impl<L: Layout, const D: usize, const Q: usize, const P: usize> Part<L, D, Q, P> {
    /// Nodes from number `first` on, as many as there are `routers`, of a network of `parts` parts.
    pub(super) fn new(
        rules: Rules<L>,
        first: u32,
        routers: Vec<Router<Q, P>>,
        border: Vec<Abroad>,
        parts: usize,
    ) -> Self {
        let inputs = rules.outputs() + rules.injectors;
        let count = routers.len();
        let endpoint = Endpoint {
            arrived: 0,
            last_consumed: inputs as u8 - 1,
            consuming: false,
            injecting: false,
            held_up: false,
            serial: 0,
            serial_busy: false,
        };
        Self {
            first,
            clock: 0,
            previous: 0,
            capped: 0,
            routers,
            endpoints: vec![endpoint; count],
            sleepers: vec![[0; 2]; count * P],
            ahead: vec![Ahead::EMPTY; if rules.compares_space { count * Q } else { 0 }],
            since: vec![0; if rules.keeps_since { count * Q } else { 0 }],
            border,
            buffers: vec![Buffer { waiting: Chain::EMPTY, count: 0 }; count * rules.injectors],
            packets: Vec::new(),
            vacant: Vec::new(),
            headers: Vec::new(),
            wire: Ring::new(rules.wires.longest().into()),
            timers: rules.timeouts.map_or(Vec::new(), |limits| vec![Timer::new(limits, rules.outputs()); count]),
            looking: Vec::new(),
            injecting: Vec::new(),
            looked: Vec::new(),
            crossing: Ring::new(rules.tail),
            ring: Ring::new(rules.tail),
            asking: [0; 64],
            inbox: (0..parts).map(|_| Mail::new()).collect(),
            outbox: (0..parts).map(|_| Mail::new()).collect(),
            report: Report::default(),
            crossed: Vec::new(),
            rules,
        }
    }

    /// Places to look at in the next cycle.
    pub(super) fn work(&self) -> usize {
        let mail: usize = self.inbox.iter().map(|mail| mail.headers.len() + mail.credits.len()).sum();
        self.looking.len() + self.injecting.len() + self.headers.len() + mail
    }

    /// True if somebody is to be looked at in the next cycle.
    pub(super) fn has_work(&self) -> bool {
        !(self.looking.is_empty() && self.injecting.is_empty() && self.headers.is_empty())
            || self.inbox.iter().any(|mail| !mail.is_empty())
    }

    /// The output whose lack of room keeps a queue's head where it is: true if it is the neighbour's, false if it is
    /// the bubble in the node's own.
    pub(super) fn waits_for(&self, node: usize, input: usize) -> Option<(OutputVc, bool)> {
        let router = &self.routers[node];
        if router.unrouted & 1 << input == 0 {
            return None;
        }
        let packet = &self.packets[router.lanes[input].waiting.first() as usize];
        let head = head(&self.rules, self.first + node as u32, input, packet, self.clock);
        let output = self.rules.requests.last_resort(&head)?;
        if router.links[output.port.index()].downstream == NONE {
            return None;
        }
        let full = router.lanes[output.index(self.rules.layout.vcs())].credits == 0;
        let waits = full || !self.rules.requests.bubble_open(&head, output, &self.near(node));
        waits.then_some((output, full))
    }

    /// Writes down what the routers hold before cycle `now`; `into` is of the whole network.
    pub(super) fn occupancy(&self, now: u64, into: &mut Occupancy) {
        let (rules, length) = (&self.rules, self.rules.packet_phits);
        let (ports, vcs) = (rules.layout.shape().ports(), rules.layout.vcs());
        for (node, router) in self.routers.iter().enumerate() {
            let number = self.first as usize + node;
            let phits = |lane: usize| router.lanes[lane].phits(router.leaving & 1 << lane != 0, length, now);
            for port in 0..ports {
                into.transit[number * ports + port] = (port * vcs..(port + 1) * vcs).map(phits).sum();
            }
            into.injection[number] = (rules.outputs()..rules.outputs() + rules.injectors).map(phits).sum();
            if !self.crossed.is_empty() {
                into.crossed.extend_from_slice(&self.crossed[node * P..node * P + ports]);
            }
        }
        // Headers of the previous cycle, which will stand in their queues in the next one.
        let arriving = self.inbox.iter().flat_map(|mail| &mail.headers).map(|&(node, input, _)| (node, input));
        for (node, input) in arriving.chain(self.headers.iter().map(|&(node, input, _)| (node, input))) {
            into.transit[(self.first + node) as usize * ports + rules.port_of(input.into())] += 1;
        }
    }

    /// \[packets\] In the source buffers of a node.
    pub(super) fn buffered(&self, node: usize) -> u64 {
        let injectors = self.rules.injectors;
        self.buffers[node * injectors..(node + 1) * injectors].iter().map(|buffer| u64::from(buffer.count)).sum()
    }

    /// The first cycle from `now` on in which a tail leaves, or a header comes off a wire.
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        let (crossing, other) = (self.crossing.next(now), self.ring.next(now));
        crossing.into_iter().chain(other).chain(self.wire.next(now)).min()
    }

    /// One cycle, but for step 1.
    pub(super) fn cycle(&mut self) {
        if self.clock - self.capped >= Stamp::OLD {
            for lane in self.routers.iter_mut().flat_map(|router| &mut router.lanes) {
                lane.arrived.cap(self.previous, self.clock);
                lane.departed.cap(self.previous, self.clock);
            }
            self.capped = self.clock;
        }
        self.previous = self.clock;
        self.open_mail();
        let mut headers = std::mem::take(&mut self.headers);
        if self.rules.wires.longest() == 0 {
            self.enter_all(&headers);
        } else {
            self.receive(&headers);
        }
        headers.clear();
        self.headers = headers;

        if !self.injecting.is_empty() {
            let mut injecting = std::mem::take(&mut self.injecting);
            for &node in &injecting {
                self.endpoints[node as usize].injecting = false;
                self.fill(node as usize);
            }
            // Filling wakes no buffers.
            injecting.clear();
            self.injecting = injecting;
        }
        // Who is woken from here on is looked at in the next cycle.
        std::mem::swap(&mut self.looking, &mut self.looked);
        let mut looked = std::mem::take(&mut self.looked);
        for &node in &looked {
            self.decide(node as usize);
        }
        looked.clear();
        self.looked = looked;

        let headers = self.headers.len() + self.outbox.iter().map(|mail| mail.headers.len()).sum::<usize>();
        self.report.hops += headers as u64;
        self.report.moved |= headers > 0;

        let tails = self.crossing.turn(self.clock);
        for &Left { node, output, input } in &tails {
            self.left(node as usize, output.into(), input.into());
        }
        self.crossing.keep(self.clock, tails);
        let events = self.ring.turn(self.clock);
        for &event in &events {
            match event {
                Event::Consumed { node, input, packet } => {
                    self.report.consumed.push(packet);
                    self.consumed(node as usize, input.into());
                }
                Event::Injected { node } => {
                    self.endpoints[node as usize].serial_busy = false;
                    self.wake_buffers(node as usize);
                }
            }
        }
        self.ring.keep(self.clock, events);
    }

    #[inline(always)]
    fn near(&self, node: usize) -> Near<'_, L, Q, P> {
        let (ahead, timers) = (&self.ahead, &self.timers);
        Near { rules: &self.rules, router: &self.routers[node], node, ahead, timers, now: self.clock }
    }
}
