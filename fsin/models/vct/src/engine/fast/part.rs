//! A partition of a network, and the simulation of one cycle of it.
//!
//! Decision: docs/decisions/0095-threads.md.

use trgen::NodeId;

use super::bets::Bets;
use super::chain::{Chain, NONE};
use super::dense::Dense;
use super::mask::Mask;

use super::moves::{Ahead, Moves, Stamp};
use super::rules::Rules;
use super::state::{Buffer, Endpoint, Gate, List, Packet, Router, Sender, Waiting};
use super::trains::Sights;
use crate::engine::messages::Unsent;
use crate::router::congestion::Timer;
use crate::router::layout::{Inputs as _, Layout};
use crate::router::request::{OutputVc, WakeCondition};
use crate::router::{Inject, Interface};
use fsin_core::interface::Lane;
use fsin_core::parallel::{Division, Partition};
use fsin_core::ring::Ring;
use fsin_core::slab::Slab;
use fsin_core::view::Occupancy;

mod arriving;
mod crowd;
mod deciding;
mod fetching;
mod filling;
mod lanes;
mod leaving;
mod local_view;
mod mail;
mod pacing;
pub(super) mod repetition;
mod sending;
mod space;
pub(super) mod trains;

use lanes::InLane;
use local_view::{LocalView, head};
pub(super) use mail::{Abroad, Mail, Report};
use pacing::Pacing;
use space::Comparison;

/// A tail that leaves an input of a node of the partition at the end of a cycle, through an output channel. If the
/// input is a transit queue, its packet came from node `behind`.
#[derive(Clone, Copy, Debug)]
struct Left {
    /// The node that the tail leaves.
    node: u32,
    /// The upstream node of the packet; undefined for an injection queue.
    behind: u32,
    /// The output channel through which the tail leaves.
    output: u16,
    /// The input that the tail leaves.
    input: u16,
}

/// Another event at the end of a cycle in which a tail has moved, at a node of the partition.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The tail of the packet that was leaving this input has been ejected.
    Consumed { node: u32, behind: u32, input: u16, packet: u32 },
    /// Serial injection has moved a tail.
    Injected { node: u32 },
}

/// Consecutive nodes and all their state. Nodes have local numbers, from 0.
#[derive(Debug)]
pub(super) struct Part<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> {
    pub(super) routers: Vec<Router<M, Q, P>>,
    pub(super) works: Works<L, M, D, Q, P>,
}

/// The state of a partition beside its routers, and its operations on one router at a time.
#[derive(Debug)]
pub(super) struct Works<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> {
    pub(super) rules: Rules<L>,
    /// The global number of the partition's first node.
    pub(super) first: u32,
    /// Number of nodes of the partition. Numbers from this one on denote remote nodes.
    own: u32,
    /// True if what a list needs is fetched for several entries at once: see [`fetching`].
    is_far: bool,
    /// The present cycle.
    pub(super) clock: u64,
    /// The last cycle simulated.
    previous: u64,
    /// \[cycle\] The last cycle in which the ages of stamps were capped.
    capped: u64,
    /// Messages accepted since the last cycle, with the nodes that send them.
    accepted: Vec<(u32, Unsent)>,
    /// True if injection is stopped in this cycle.
    pub(super) is_stopped: bool,
    /// By endpoint: its packet numbering and pending messages.
    senders: Vec<Sender>,
    /// By endpoint: the lanes of its interface. Empty where interfaces are serial, whose messages are in `senders`.
    lanes: Vec<Vec<Lane<InLane<D>>>>,
    /// By endpoint, where each of up to 64 ports has a lane: those that may be able to send a packet, as a mask. The others
    /// are empty, or their source buffer is full, and says when it is not. Empty for other interfaces.
    due: Vec<u64>,
    /// Nodes whose interface may have something to send.
    sending: Vec<u32>,
    /// Messages at the interfaces of nodes.
    unsent: Slab<Waiting>,
    /// By endpoint: its state for its own traffic.
    endpoints: Vec<Endpoint<M>>,
    /// By node and queue: free space ahead, phit by phit. Empty unless a routing compares free space.
    ahead: Vec<Ahead>,
    /// By the first port of the candidates: the last comparison of free space. Empty unless heads compare it by masks.
    comparisons: Vec<Comparison>,
    /// Heads that are to compare free space again, by node and input.
    dozing: Ring<(u32, u16)>,
    /// By node: outputs whose remote queue a packet is leaving. Empty without remote nodes.
    leaving_beyond: Vec<M>,
    /// Node and output of each remote queue that a header of the previous cycle has filled.
    filled_beyond: Vec<(u32, u16)>,
    /// By node: blocked heads and their bets; empty except for plain `bubble:smart`.
    bets: Vec<Bets<M, D, P>>,
    /// The blocked heads of all nodes, while they are not in `bets`.
    dense: Dense<L::Inputs, D, Q, P>,
    /// True if the rules permit to treat blocked heads densely.
    may_be_dense: bool,
    /// Blocked heads of all nodes.
    waiting_heads: usize,
    /// By node and queue: bets of the heads of `bubble:smart` that are not in `bets`.
    single_bets: Vec<u8>,
    /// By input: the bet of a new head, during the allocation of a node.
    new_bets: [u8; Q],
    /// \[cycle\] By node and queue: the cycle of the first request of the header at the head of the queue. Empty unless
    /// arbiters need it.
    since: Vec<u64>,
    /// By node and queue: its last packet movements. Empty unless the rules need the phits of a queue.
    moves: Vec<Moves>,
    /// By node and port: its rarely used state.
    gates: Vec<Gate<M>>,
    /// Remote nodes; their numbers follow those of the partition's own.
    border: Vec<Abroad>,
    /// By node and injector: the source buffer.
    buffers: Vec<Buffer>,
    /// All packets at nodes of the partition.
    packets: Slab<Packet<D>>,
    /// Headers that crossed a link in the previous cycle: node, queue and packet.
    headers: Vec<(u32, u16, u32)>,
    /// Headers on delayed links, by their cycle of arrival: node, queue and packet.
    wire: Ring<(u32, u16, u32)>,
    /// By node: its congestion timer. Empty without timeouts.
    timers: Vec<Timer>,
    /// Nodes with heads to examine in the next step 3.
    looking: List<u32>,
    /// Nodes with source buffers to examine in the next step 2.
    injecting: Vec<u32>,
    /// By node, where several source buffers move packets at once: those to examine, as a mask. Empty elsewhere.
    fillable: Vec<u64>,
    /// The list that `looking` is swapped with, kept to reuse its memory.
    looked: List<u32>,
    /// Node and port of each link that has become free while packets wait for it.
    freed: List<(u32, u8)>,
    /// Pending tail departures over links.
    crossing: Ring<Left>,
    /// Pending tail departures that do not cross a link.
    ring: Ring<Event>,
    /// In place of `crossing` where links are paced; `None` if every link passes a phit in each cycle.
    pacing: Option<Box<Pacing>>,
    /// By output: the inputs that request it, during the allocation of a node.
    asking: Vec<M>,
    /// By output channel: whether it wakes heads that sleep for deterministic channels. The others wake those that
    /// sleep for adaptive channels.
    deterministic: M,
    /// By partition: mail from it.
    pub(super) inbox: Vec<Mail<D>>,
    /// By partition: mail to it.
    pub(super) outbox: Vec<Mail<D>>,
    /// What the global state must know of this cycle.
    pub(super) report: Report,
    /// \[packets\] Headers that crossed each link, by node and port; empty unless link statistics are enabled.
    crossed: Vec<u64>,
    /// The headers that have left nodes in the present period, while a period is looked at: then `is_watched` is true.
    sights: Option<Box<Sights>>,
    /// True if headers leave more records than routers need, for link statistics or for the rules. Where heads of
    /// switches compare space, that is usual, and they are not watched for it.
    is_watched: bool,
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Works<L, M, D, Q, P> {
    /// A partition of nodes from number `first` on, as many as `gates` has, in a network of `parts` partitions.
    fn new(rules: Rules<L>, first: u32, gates: Vec<Gate<M>>, border: Vec<Abroad>, parts: usize) -> Self {
        let inputs = rules.outputs() + rules.injectors;
        let count = gates.len() / rules.layout.shape().ports();
        let endpoints = rules.topology.endpoints().saturating_sub(first as usize);
        let endpoint = Endpoint {
            arrived: M::EMPTY,
            last_consumed: inputs as u16 - 1,
            consuming: 0,
            injecting: false,
            held_up: false,
            serial: 0,
            serial_busy: false,
        };
        let lanes = vec![Lane::new(rules.interface.in_progress()); rules.interface.lanes(rules.layout.shape().ports())];
        let keeps_due = rules.interface == Interface::PerPort && lanes.len() <= 64;
        let mut deterministic = M::EMPTY;
        (0..rules.outputs())
            .filter(|&output| rules.is_deterministic(output))
            .for_each(|output| deterministic.insert(output));
        let pacing = rules.is_paced.then(|| Box::new(Pacing::new(&rules, first as usize, count)));
        let mut looking = List::EMPTY;
        looking.reset(count);
        Self {
            first,
            own: count as u32,
            is_far: fetching::is_far::<M, D, Q, P>(count),
            clock: 0,
            previous: 0,
            capped: 0,
            accepted: Vec::new(),
            is_stopped: false,
            senders: (0..endpoints.min(count))
                .map(|node| Sender::new(rules.seed, NodeId::at(first as usize + node)))
                .collect(),
            lanes: vec![lanes; if rules.interface == Interface::Serial { 0 } else { endpoints.min(count) }],
            due: vec![0; if keeps_due { endpoints.min(count) } else { 0 }],
            sending: Vec::new(),
            unsent: Slab::new(),
            endpoints: vec![endpoint; count],
            ahead: vec![Ahead::EMPTY; if rules.compares_space { count * Q } else { 0 }],
            comparisons: vec![Comparison::NONE; if rules.requests.masks_space() { P } else { 0 }],
            dozing: Ring::new(if rules.requests.masks_space() { space::LONGEST } else { 0 }),
            leaving_beyond: vec![M::EMPTY; if border.is_empty() { 0 } else { count }],
            filled_beyond: Vec::new(),
            bets: (0..if rules.requests.is_plain() { count } else { 0 })
                .map(|node| Bets::new(rules.seed, NodeId::at(first as usize + node)))
                .collect(),
            dense: Dense::new(std::array::from_fn(|dimension| {
                L::Inputs::of(Bets::<M, D, P>::inputs_of_dimension(&rules, dimension).word(0))
            })),
            may_be_dense: rules.may_be_dense(),
            waiting_heads: 0,
            single_bets: vec![0; if rules.requests.keeps_bets() && !rules.requests.is_plain() { count * Q } else { 0 }],
            new_bets: [0; Q],
            since: vec![0; if rules.keeps_since { count * Q } else { 0 }],
            moves: vec![Moves::NONE; if rules.keeps_moves { count * Q } else { 0 }],
            gates,
            border,
            buffers: vec![Buffer { waiting: Chain::EMPTY, count: 0 }; count * rules.injectors],
            packets: Slab::new(),
            headers: Vec::new(),
            wire: Ring::new(rules.hop_delays.longest().into()),
            timers: rules.timeouts.map_or(Vec::new(), |limits| vec![Timer::new(limits, rules.outputs()); count]),
            looking,
            injecting: Vec::new(),
            fillable: vec![0; if rules.injectors > 1 && rules.inject == Inject::Parallel { count } else { 0 }],
            looked: List::EMPTY,
            freed: List::EMPTY,
            crossing: Ring::new(rules.tail),
            ring: Ring::new(pacing.as_ref().map_or(rules.tail, |pacing| pacing.longest())),
            pacing,
            asking: vec![M::EMPTY; Q],
            deterministic,
            inbox: (0..parts).map(|_| Mail::new()).collect(),
            outbox: (0..parts).map(|_| Mail::new()).collect(),
            report: Report::default(),
            crossed: Vec::new(),
            sights: None,
            is_watched: (rules.compares_space && !rules.layout.is_switched())
                || rules.keeps_moves
                || rules.inject == Inject::Serial
                || rules.is_paced
                || !rules.outages.is_empty(),
            rules,
        }
    }

    /// Enables link statistics: counts from now on the headers that cross each link.
    pub(super) fn observe(&mut self) {
        self.crossed.resize(self.gates.len(), 0);
        self.is_watched = true;
    }

    /// Caps the ages of stamps.
    fn begin_cycle(&mut self) {
        if self.clock - self.capped >= Stamp::OLD {
            for Moves { arrived, departed } in &mut self.moves {
                arrived.cap(self.previous, self.clock);
                departed.cap(self.previous, self.clock);
            }
            self.capped = self.clock;
        }
        self.previous = self.clock;
    }

    /// Number of work items of the next cycle, after this one.
    fn work(&self) -> usize {
        let mail = self.outbox.iter().map(Mail::len).sum::<usize>();
        // Waiting heads make their bets in every cycle.
        let heads = if self.is_dense() { self.waiting_heads + self.dense.ejecting.len() } else { 0 };
        let lists =
            [self.sending.len(), self.looking.len(), self.freed.len(), self.injecting.len(), self.headers.len()];
        lists.iter().sum::<usize>() + mail + heads
    }

    /// Steps 2 to 4; `DENSE` if heads are treated densely.
    #[inline(always)]
    fn go_on<const DENSE: bool>(&mut self, routers: &mut [Router<M, Q, P>]) {
        if !self.border.is_empty() {
            self.open_mail::<DENSE>(routers);
        }
        self.enter_all::<DENSE>(routers);
        if !self.injecting.is_empty() {
            self.fill_all(routers);
        }
        if L::MAY_BE_SWITCHED && self.rules.requests.masks_space() {
            self.wake_dozing(routers);
        }
        if DENSE {
            self.decide_crowd(routers);
        } else {
            self.decide_all(routers);
        }
        self.start_freed::<DENSE>(routers);
        self.leave_all::<DENSE>(routers);
    }

    /// Records that some phit moves as late as in cycle `cycle`.
    #[inline(always)]
    fn moves_until(&mut self, cycle: u64) {
        self.report.moves_until = self.report.moves_until.max(cycle);
    }

    /// \[packets\] Number of packets in the source buffers of a node.
    fn buffered(&self, node: usize) -> u64 {
        let injectors = self.rules.injectors;
        self.buffers[node * injectors..(node + 1) * injectors].iter().map(|buffer| u64::from(buffer.count)).sum()
    }

    /// True if the link of a port carries no packet and no granted packet waits for it. A new packet must take turns
    /// with the channels that wait.
    #[inline(always)]
    fn is_free(&self, router: &Router<M, Q, P>, port: usize) -> bool {
        self.channels_of(router.owned, port) == 0
    }

    /// The channels of a port whose packets wait for the link, as a mask.
    #[inline(always)]
    fn waiting(&self, router: &Router<M, Q, P>, port: usize) -> u64 {
        self.channels_of(router.granted, port)
    }

    /// The channels of a port among the output channels `outputs`, as a mask from the port's first channel on.
    #[inline(always)]
    fn channels_of(&self, outputs: M, port: usize) -> u64 {
        let layout = self.rules.layout;
        outputs.word(port * layout.vcs()) & u64::from(layout.all_vcs())
    }

    /// The kind of condition under which sleeping heads wait for an output channel.
    #[inline(always)]
    fn kind(&self, output: usize) -> WakeCondition {
        if self.deterministic.has(output) { WakeCondition::Deterministic } else { WakeCondition::Adaptive }
    }

    /// The local view of a head at a node.
    #[inline(always)]
    fn local_view<'a>(&'a self, router: &'a Router<M, Q, P>, node: u32) -> LocalView<'a, L, M, Q, P> {
        let (ahead, timers) = (&self.ahead, &self.timers);
        LocalView { rules: &self.rules, router, node: node as usize, ahead, timers, now: self.clock }
    }

    /// Wakes these inputs of a router.
    #[inline(always)]
    fn wake(&mut self, router: &mut Router<M, Q, P>, node: u32, inputs: M) {
        self.looking.add(node, router.wake(inputs));
    }
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Part<L, M, D, Q, P> {
    /// A partition of nodes from number `first` on, as many as there are `routers`, in a network of `parts` partitions.
    pub(super) fn new(
        rules: Rules<L>,
        first: u32,
        routers: Vec<Router<M, Q, P>>,
        gates: Vec<Gate<M>>,
        border: Vec<Abroad>,
        parts: usize,
    ) -> Self {
        let works = Works::new(rules, first, gates, border, parts);
        Self { routers, works }
    }

    /// Keeps the blocked heads of each node in its set from now on, before the next cycle.
    pub(super) fn keep_apart(&mut self) {
        let works = &mut self.works;
        works.may_be_dense = false;
        if L::IS_DENSE && works.is_dense() {
            // A message may have been accepted for a later cycle, in which no head waited before.
            works.clock = works.clock.max(works.previous + 1);
            works.end_dense(&mut self.routers);
        }
    }

    /// The output whose lack of room blocks the head of a queue. The flag is true if the neighbour's queue lacks room,
    /// and false if the bubble in the node's own queue does.
    pub(super) fn waits_for(&self, node: usize, input: usize) -> Option<(OutputVc, bool)> {
        let (router, works) = (&self.routers[node], &self.works);
        if !router.unrouted.has(input) {
            return None;
        }
        let (rules, number) = (&works.rules, works.first + node as u32);
        let packet = &works.packets[router.head(input)];
        let head = head(rules, number, input, packet, works.clock);
        let output = rules.requests.blocking_channel(&head)?;
        if router.downstream[output.port.index()] == NONE {
            return None;
        }
        let full = router.room_behind(output.index(rules.layout.vcs())) == 0;
        let waits = full || !rules.requests.bubble_open(&head, output, &works.local_view(router, node as u32));
        waits.then_some((output, full))
    }

    /// Records the occupancy of the routers before the next cycle, counting each packet as a whole; `into` covers the
    /// whole network.
    pub(super) fn occupancy(&self, into: &mut Occupancy) {
        let (works, rules) = (&self.works, &self.works.rules);
        let (ports, vcs, length) = (rules.layout.shape().ports(), rules.layout.vcs(), rules.packet_phits);
        let first = works.first as usize;
        for (node, router) in self.routers.iter().enumerate() {
            let phits = |queue: usize| router.count(queue) * length;
            for port in 0..ports {
                into.transit[(first + node) * ports + port] = (port * vcs..(port + 1) * vcs).map(phits).sum();
            }
            into.waiting.push(works.waiting_at(node));
            into.injection[first + node] = (rules.outputs()..rules.outputs() + rules.injectors).map(phits).sum();
            if !works.crossed.is_empty() {
                into.crossed.extend_from_slice(&works.crossed[node * ports..(node + 1) * ports]);
            }
        }
        // Headers that will enter their queues in the next cycle count too.
        let arriving = works.inbox.iter().flat_map(|mail| &mail.headers).map(|&(node, input, _)| (node, input));
        for (node, input) in arriving.chain(works.headers.iter().map(|&(node, input, _)| (node, input))) {
            into.transit[(first + node as usize) * ports + rules.port_of(input.into())] += length;
        }
    }

    /// Corrects the occupancy that all partitions have recorded by moving packets: subtracts the phits that have left a
    /// queue of this partition before cycle `now`, and those that have not reached the next queue. Where links are
    /// paced, packets count as wholes.
    pub(super) fn take_moving(&self, now: u64, division: Division, into: &mut Occupancy) {
        let (works, rules) = (&self.works, &self.works.rules);
        if rules.is_paced {
            return;
        }
        let (ports, length, first) = (rules.layout.shape().ports(), rules.packet_phits, works.first as usize);
        let left = |into: &mut Occupancy, node: u32, input: u16, phits: u32| {
            let (node, input) = (first + node as usize, usize::from(input));
            match input < rules.outputs() {
                true => into.transit[node * ports + rules.port_of(input)] -= phits,
                false => into.injection[node] -= phits,
            }
        };
        for (at, event) in works.crossing.entries(now) {
            let phits = length - 1 - (at - now) as u32;
            left(into, event.node, event.input, phits);
            let port = rules.port_of(event.output.into());
            let next = self.routers[event.node as usize].downstream[port] as usize;
            let next = match next.checked_sub(self.routers.len()) {
                None => first + next,
                Some(beyond) => {
                    let Abroad { part, node } = works.border[beyond];
                    division.first_of(part as usize) + node as usize
                }
            };
            into.transit[next * ports + port] -= length - phits;
        }
        for (at, event) in works.ring.entries(now) {
            let phits = length - 1 - (at - now) as u32;
            match event {
                Event::Consumed { node, input, .. } => left(into, *node, *input, phits),
                Event::Injected { node } => into.injection[first + *node as usize] -= length - phits,
            }
        }
    }

    /// The first cycle from `now` on in which a tail leaves, or a header arrives from a link.
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        let works = &self.works;
        let (crossing, other) = (works.crossing.next(now), works.ring.next(now));
        let paced = works.pacing.as_ref().and_then(|pacing| pacing.next(now));
        let waking = works.wire.next(now).into_iter().chain(works.dozing.next(now));
        crossing.into_iter().chain(other).chain(waking).chain(paced).min()
    }
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Partition for Part<L, M, D, Q, P> {
    type Report = Report;
    type Mail = Mail<D>;
    type Accepted = (u32, Unsent);

    /// The part of a cycle that sources must know before the next cycle: step 1. It reports the packets sent, and those
    /// whose ejection ends with this cycle.
    fn begin_cycle(&mut self) {
        let (routers, works) = (&mut self.routers[..], &mut self.works);
        works.begin_cycle();
        if !(works.accepted.is_empty() && works.sending.is_empty()) {
            works.send_all(routers);
        }
        works.receive_all();
    }

    /// Simulates the rest of the cycle: steps 2 to 4.
    fn end_cycle(&mut self) {
        let (routers, works) = (&mut self.routers[..], &mut self.works);
        works.choose_treatment(routers);
        // The constant first: what cannot be is not compiled.
        if L::IS_DENSE && works.is_dense() {
            works.go_on::<true>(routers);
        } else {
            works.go_on::<false>(routers);
        }
        works.report.work = works.work();
    }

    fn accepted(&mut self) -> &mut Vec<(u32, Unsent)> {
        &mut self.works.accepted
    }

    fn report(&mut self) -> &mut Report {
        &mut self.works.report
    }

    fn mail(&mut self) -> (&mut [Mail<D>], &mut [Mail<D>]) {
        (&mut self.works.inbox, &mut self.works.outbox)
    }
}
