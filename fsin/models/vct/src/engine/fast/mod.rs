//! The fast engine: packets instead of phits, changes instead of cycles.
//!
//! A started packet never pauses, so when a link takes its header in cycle s everything else is known: its header can
//! be routed at the next node from s + 1 on, its tail leaves in s + L - 1, and from s + L on the link, the output
//! channel and the space are free. The engine therefore does one thing when a header starts and one when its tail
//! leaves, and nothing for the phits in between.
//!
//! # A cycle
//! 1. Interfaces that may have something to send put a packet into a source buffer; where nothing keeps it there, into
//!    the injection queue.
//! 2. Headers that crossed a link in the previous cycle stand in their queues. Source buffers that may still have
//!    something to move fill their injection queues.
//! 3. At nodes where something may have changed: heads that are awake ask and outputs are given away (phase A of the
//!    model); a free link takes the header of a packet that is given one of its channels. Then links that have become
//!    free take headers of packets that wait for them (its phase B).
//! 4. Tails that leave in this cycle, from a ring of lists: space, channels and links become free, packets arrive.
//!
//! Each step visits a list. A cycle in which all lists are empty is skipped.
//!
//! Step 3 does both phases node by node, although phase B of one node comes before phase A of another. It may, because
//! a node looks at nothing but its own queues, channels and links, and what it changes elsewhere waits until the next
//! cycle: a header stands in the neighbour's queue from then on. What step 4 returns to a neighbour, space, is not
//! looked at before the next step 3.
//!
//! # Parts and threads
//! Since nodes meet only between cycles, the network can be cut into parts of consecutive nodes that go through their
//! cycles on threads of their own. What crosses a border is put into a mail box and opened at the beginning of the next
//! cycle. What the whole network has once (messages under way, the record) stays with the caller's thread, which hands
//! messages to the parts before a cycle and reads their reports after it. The order of entries cannot be seen in any
//! list, so the cut cannot be seen in the results.
//!
//! What a source must know of a cycle, what has been sent and what has been consumed at its end, is known when step 1
//! is over, but for packets of one phit. Where threads are at work the caller gets it then, and draws the messages of
//! the next cycle while they do the rest ([`Network::settle`] waits for it). For that, the first part, which is the
//! caller's, has fewer nodes.
//!
//! # What a node knows of its neighbour
//! A sender keeps the space behind each of its output channels itself, as credits in packets: one is spent when a
//! header starts, one comes back when a tail leaves the neighbour's queue. A packet **fits** behind a channel that has
//! a credit. Whole packets nearly suffice: with k packets there, one arriving with a phits and one departing that has
//! lost d, L phits fit behind the last place exactly if d >= a, that is if the one began to depart no later than the
//! other began to arrive. Where that header takes its place this is seen, and the sender is told
//! (`Router::keeps_room`); across a border the sender knows which queues packets are leaving, and sees it itself. A
//! channel is **open** if a packet fits behind it and none owns it. Where a routing compares free space phit by phit,
//! the sender is also told when a header begins to leave that queue.
//!
//! # Which heads sleep, and why waking is complete
//! A head does not look at ownership (`router::request`), but only what is open can be granted. A head that was not
//! granted anything sleeps if nothing that it might ask for is open. What it might ask for depends on few things only,
//! and each wakes it:
//! - an output channel of a port that it would take opens (a tail releases it, or a credit comes back);
//! - the bubble opens: room in this node's own queue of the ring that it wants to enter. Room grows only when a tail
//!   leaves that queue (`Router::has_room` shows that the beginning of a departure never makes room by itself);
//! - for a packet that leaves an injection queue where there is a local restriction: room in this node's own queues of
//!   the channels that it would take, and where that holds at congested nodes only, that its node no longer is;
//! - the channels fill up that it asks for in vain while another one is open (`Wait::OpeningOrFilling`);
//! - its own draws, and free space that is compared phit by phit: while one of the channels among which it chooses is
//!   open, it stays awake (`Wait::Poll`). So does a head that lost an arbitration.
//!
//! Heads of `bubble:smart` change what they ask for in every cycle, owned or not. They wait together, and what they
//! would have asked for meanwhile is computed when something opens (`bets`).
//!
//! # Wires
//! With delays of links or routers a header takes its place in the neighbour's queue in the next cycle, as without, and
//! stands there only when it has come: until then it waits in a ring. Nothing else changes, since room is reserved when
//! phits are sent (`router::wires`).
//!
//! # Agreement
//! The [reference engine](super::reference) defines every result; property tests hold that digests and all statistics
//! are equal, bit for bit.

use std::sync::Arc;

use trgen::{Cycle, Message, NodeId};

use super::messages::Unsent;
use super::wait::{Place, channel, cyclic_wait};
use crate::router::congestion::GlobalControl;
use crate::router::layout::{Direct, Layout, Switches, TwoWay};
use crate::router::request::WORD;
use crate::router::{CheckedParams, MAX_QUEUES, RouterParams, SourceQueue};
use fsin_core::network::{Deadlock, Injected, Network, Notices};
use fsin_core::stats::Recorder;
use fsin_core::topology::{MAX_DIMENSIONS, STATE_WORDS, Shape, Topology};
use fsin_core::view::{Occupancy, View};

mod bets;
mod chain;
mod cut;
mod mask;
mod part;
mod pool;
mod ring;
mod rules;
mod state;
mod whole;

use cut::{Division, cut};
use mask::{Mask, Words};
use part::{Accepted, Part, Report};
use pool::{Pool, Work};
use rules::Rules;
use state::{Gate, Router};
use whole::Whole;

/// Most threads.
pub const MAX_THREADS: usize = 256;

/// Places to look at in a cycle from which on it pays to wake the threads.
const WORTH_THREADS: usize = 96;

/// What callers have to keep.
const UNSETTLED: &str = "a network is settled before somebody looks at it";

/// Does something for the layout, the kind of masks, and the dimensions, queues and ports that are enough for the
/// routers of a shape. Usual sizes of routers have code of their own.
macro_rules! by_size {
    ($shape:expr, $vcs:expr, $injectors:expr, $packets:expr, $go:ident) => {{
        let (shape, vcs) = ($shape, $vcs);
        let small = $packets <= u8::MAX.into();
        // A mask has a bit for each queue, and one for other use.
        let queues = shape.ports() * vcs + $injectors;
        if shape.is_switched() {
            let switches = Switches::new(shape, vcs);
            match (queues, shape.ports(), small) {
                (..=16, ..=16, true) => $go!(switches, u32, STATE_WORDS, 16, 16),
                (..=31, ..=16, true) => $go!(switches, u32, STATE_WORDS, 31, 16),
                (..=WORD, ..=24, _) => $go!(switches, u64, STATE_WORDS, WORD, 24),
                (..=WORD, ..) => $go!(switches, u64, STATE_WORDS, WORD, WORD),
                (..=127, ..=64, _) => $go!(switches, Words<2>, STATE_WORDS, 127, 64),
                (..=255, ..) => $go!(switches, Words<4>, STATE_WORDS, 255, 255),
                _ => $go!(switches, Words<16>, STATE_WORDS, MAX_QUEUES, 255),
            }
        } else {
            let any = Direct::new(shape, vcs);
            match (shape.dimensions, shape.ways, vcs, queues, small) {
                (2, 2, 1, 5, true) => $go!(TwoWay::<2, 1>, u32, 2, 5, 4),
                (2, 2, 2, 9, true) => $go!(TwoWay::<2, 2>, u32, 2, 9, 4),
                (2, 2, 3, 13, true) => $go!(TwoWay::<2, 3>, u32, 2, 13, 4),
                (3, 2, 3, 19, true) => $go!(TwoWay::<3, 3>, u32, 3, 19, 6),
                (..=4, _, _, ..=16, true) => $go!(any, u32, 4, 16, 8),
                (..=4, _, _, ..=31, true) => $go!(any, u32, 4, 31, 8),
                (..=4, _, _, ..=WORD, _) => $go!(any, u64, 4, WORD, 8),
                (_, _, _, ..=WORD, _) => $go!(any, u64, MAX_DIMENSIONS, WORD, 40),
                (_, _, _, ..=127, _) => $go!(any, Words<2>, MAX_DIMENSIONS, 127, 40),
                (_, _, _, ..=255, _) => $go!(any, Words<4>, MAX_DIMENSIONS, 255, 40),
                _ => $go!(any, Words<16>, MAX_DIMENSIONS, MAX_QUEUES, 40),
            }
        }
    }};
}

const _: () = assert!(MAX_QUEUES < <Words<16> as Mask>::SIZE && WORD < <u64 as Mask>::SIZE && 31 < <u32 as Mask>::SIZE);
const _: () = assert!(2 * MAX_DIMENSIONS <= 40);

/// An empty network that `threads` threads (1 to [`MAX_THREADS`]) simulate, of a topology for which
/// `params` were checked. The results do not depend on `threads`; there are never more than nodes.
///
/// `None` if there are 2^31 nodes or more.
#[must_use]
pub fn build(
    topology: impl Into<Arc<dyn Topology>>,
    params: CheckedParams,
    threads: usize,
) -> Option<Box<dyn Network>> {
    of_size(topology.into(), params, threads, WORTH_THREADS)
}

/// The same, where threads are woken in every cycle in which there are so many places to look at; by default where it
/// pays. For tests: the results do not depend on it.
#[must_use]
pub fn build_for(
    topology: impl Into<Arc<dyn Topology>>,
    params: CheckedParams,
    threads: usize,
    worth: usize,
) -> Option<Box<dyn Network>> {
    of_size(topology.into(), params, threads, worth)
}

/// The engine for the routers of this topology. (Not generic, so that all engines are compiled in this crate.)
fn of_size(
    topology: Arc<dyn Topology>,
    params: CheckedParams,
    threads: usize,
    worth: usize,
) -> Option<Box<dyn Network>> {
    macro_rules! network {
        ($layout:expr, $mask:ty, $dimensions:expr, $queues:expr, $ports:expr) => {{
            type Engine<L> = Fast<L, $mask, { $dimensions }, { $queues }, { $ports }>;
            Some(Box::new(Engine::new($layout, topology, params, threads, worth)?))
        }};
    }
    let RouterParams { vcs, injectors, queue_packets, .. } = *params;
    by_size!(topology.shape(), vcs, injectors, queue_packets, network)
}

/// \[bytes\] At least, of each node of an empty network whose routers have passed [`RouterParams::check`].
#[must_use]
pub fn node_bytes(shape: Shape, vcs: usize, injectors: usize, queue_packets: u32) -> usize {
    macro_rules! bytes {
        ($layout:expr, $mask:ty, $dimensions:expr, $queues:expr, $ports:expr) => {{
            let _ = $layout;
            size_of::<Router<$mask, { $queues }, { $ports }>>() + shape.ports() * size_of::<Gate<$mask>>()
        }};
    }
    by_size!(shape, vcs, injectors, queue_packets, bytes)
}

/// The packet-by-packet engine of the functional router, for topologies of at most `D` dimensions and routers of at
/// most `Q` queues and `P` ports.
///
/// The parts simulate interfaces, routers and links. What is there once, the messages under way and the record, is the
/// [`Whole`]'s.
#[derive(Debug)]
struct Fast<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> {
    rules: Rules<L>,
    clock: u64,
    division: Division,
    /// In the order of their nodes; while threads are at work, those that the caller's thread simulates.
    parts: Vec<Box<Part<L, M, D, Q, P>>>,
    /// By part: messages for the next cycle.
    accepted: Vec<Accepted>,
    pool: Option<Pool<Part<L, M, D, Q, P>, Report>>,
    /// \[places to look at\] In a cycle from which on threads are woken.
    worth: usize,
    /// By worker: what it told of the beginning of the present cycle, emptied, for its memory.
    begun: Vec<Report>,
    /// \[cycle\] Whose notices have been given, and whose rest is being done.
    unfinished: Option<u64>,
    whole: Whole,
    control: Option<GlobalControl>,
    /// A deadlock was found in the cycle at which the clock stands, which is over.
    has_failed: bool,
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Fast<L, M, D, Q, P> {
    fn new(
        layout: L,
        topology: Arc<dyn Topology>,
        params: CheckedParams,
        threads: usize,
        worth: usize,
    ) -> Option<Self> {
        let count = topology.nodes();
        let endpoints = topology.endpoints();
        let control = GlobalControl::new(&params, &*topology);
        let rules = Rules::new(params, layout, topology);
        // Nodes, and those beyond a border, have numbers of 32 bits.
        u32::try_from(count.checked_mul(2)?).ok()?;
        let division = Division::new(count, threads.min(MAX_THREADS), rules.tail > 0);
        let parts = cut(&rules, division);
        let work = Work { begin: Part::begin_cycle_apart, end: Part::end_cycle };
        let pool = (parts.len() > 1).then(|| Pool::new(parts.len() - 1, work));
        Some(Self {
            rules,
            clock: Cycle::FIRST.0,
            division,
            accepted: vec![Accepted::new(); parts.len()],
            parts,
            pool,
            worth,
            begun: Vec::new(),
            unfinished: None,
            whole: Whole::new(endpoints),
            control,
            has_failed: false,
        })
    }

    /// Simulates the cycle at which the clock stands, or as much of it as its notices need.
    fn step(&mut self, notices: &mut Notices) {
        let now = self.clock;
        self.hand_out();
        self.parts.iter_mut().for_each(|part| part.begin_cycle());
        // In this cycle the watchdog does not fire, whatever the rest brings.
        let is_watched_over = now.saturating_sub(self.whole.moves_until) < self.rules.watchdog_cycles;
        let goes_on = self.parts.len() < self.division.parts && self.rules.tail > 0 && is_watched_over;
        if goes_on {
            self.read_own_reports(now, notices);
        }
        for worker in 0..self.division.parts - self.parts.len() {
            let Some(mut report) = self.pool.as_ref().map(|pool| pool.begun(worker)) else { break };
            self.whole.read(&mut report, now, notices);
            self.begun.push(report);
        }
        if goes_on {
            self.unfinished = Some(now);
        } else {
            self.finish(now, notices);
        }
        if notices.sent.len() > 1 {
            notices.sent.sort_unstable_by_key(|message| message.source);
        }
        if notices.delivered.len() > 1 {
            notices.delivered.sort_unstable_by_key(|delivery| {
                (delivery.message.destination, delivery.message.source, delivery.message.id)
            });
        }
    }

    /// Tells parts what the cycle needs, and gives those to workers for which there are any, if it pays. The caller's
    /// thread does the others: the first part, as a rule.
    fn hand_out(&mut self) {
        let (now, in_network) = (self.clock, self.whole.in_network);
        let is_stopped = self.control.as_mut().is_some_and(|control| control.is_tripped(now, in_network));
        for (part, accepted) in self.parts.iter_mut().zip(&mut self.accepted) {
            (part.works.clock, part.works.is_stopped) = (now, is_stopped);
            std::mem::swap(&mut part.works.accepted, accepted);
        }
        let work = std::mem::take(&mut self.whole.work);
        if let Some(pool) = self.pool.as_ref().filter(|_| work >= self.worth) {
            let own = self.parts.len() - pool.len();
            self.parts.drain(own..).enumerate().for_each(|(worker, part)| pool.give(worker, part));
        }
    }

    /// The rest of cycle `now`.
    fn finish(&mut self, now: u64, notices: &mut Notices) {
        self.parts.iter_mut().for_each(|part| part.end_cycle());
        let workers = self.division.parts - self.parts.len();
        if let Some(pool) = &self.pool {
            self.parts.extend((0..workers).map(|worker| pool.fetch(worker)));
        }
        self.read_own_reports(now, notices);
        let own = self.parts.len() - workers;
        for (part, empty) in self.parts[own..].iter_mut().zip(self.begun.drain(..)) {
            part.works.report = empty;
        }
        self.exchange_mail();
    }

    /// Reads what the parts tell that are here.
    fn read_own_reports(&mut self, now: u64, notices: &mut Notices) {
        for part in &mut self.parts {
            self.whole.read(&mut part.works.report, now, notices);
        }
    }

    fn exchange_mail(&mut self) {
        for to in 1..self.parts.len() {
            let (before, after) = self.parts.split_at_mut(to);
            let here = &mut after[0].works;
            for (from, there) in before.iter_mut().enumerate() {
                std::mem::swap(&mut there.works.outbox[to], &mut here.inbox[from]);
                std::mem::swap(&mut here.outbox[from], &mut there.works.inbox[to]);
            }
        }
    }

    fn deadlock(&self) -> Deadlock {
        let (shape, vcs) = (self.rules.layout.shape(), self.rules.vcs);
        let blocked = self.parts.iter().find_map(|part| {
            let node = part.routers.iter().position(|router| !router.unrouted.is_empty())?;
            Some((part.works.first as usize + node, part.routers[node].unrouted.least()))
        });
        let cycle = cyclic_wait(blocked, |place| self.waits_for(place));
        Deadlock {
            since: Cycle(self.whole.moves_until),
            in_flight: self.whole.in_flight,
            cycle: cycle.into_iter().map(|place| channel(place, shape, vcs)).collect(),
        }
    }

    /// The queue whose lack of room keeps this queue's head where it is.
    fn waits_for(&self, (node, input): Place) -> Option<Place> {
        let part = &*self.parts[self.division.part_of(node)];
        let local = node - part.works.first as usize;
        let (output, full) = part.waits_for(local, input)?;
        let index = output.index(self.rules.vcs);
        if !full {
            return Some((node, index));
        }
        let next = self.rules.topology.neighbour(NodeId::at(node), output.port)?;
        Some((next.index(), index))
    }
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Network for Fast<L, M, D, Q, P> {
    fn nodes(&self) -> usize {
        self.whole.is_full.len()
    }

    fn clock(&self) -> Cycle {
        Cycle(self.clock)
    }

    fn inject(&mut self, message: Message) -> Injected {
        let packets = self.rules.packets_of(message.bytes);
        if !self.rules.requests.reaches(&*self.rules.topology, message.source, message.destination) {
            self.whole.recorder.generated(packets);
            self.whole.recorder.dropped(packets);
            return Injected::Dropped;
        }
        let source = message.source.index();
        if self.whole.is_full[source] {
            return Injected::Refused;
        }
        let now = Cycle(self.clock);
        let slot = self.whole.messages.enter(message, packets, now);
        self.whole.is_full[source] = self.rules.source_queue == SourceQueue::Throttled;
        let part = self.division.part_of(source);
        let node = (source - self.division.first_of(part)) as u32;
        self.accepted[part].push((node, Unsent::new(slot, &message, packets, now)));
        self.whole.work += 1;
        if self.whole.in_flight == 0 {
            self.whole.moves_until = self.clock;
        }
        self.whole.in_flight += packets;
        self.whole.recorder.generated(packets);
        Injected::Accepted
    }

    fn holds_back(&mut self) -> bool {
        if self.control.is_none() {
            return false;
        }
        self.settle();
        let (now, packets) = (self.clock, self.whole.in_network);
        self.control.as_mut().is_some_and(|control| control.is_tripped(now, packets))
    }

    fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), Deadlock> {
        notices.clear();
        while self.clock < until.0 {
            self.settle();
            if self.whole.in_flight == 0 {
                self.clock = until.0;
                break;
            }
            if self.whole.work == 0 {
                // Nothing changes until the next tail leaves; if none will, nothing ever does.
                let events = self.parts.iter().filter_map(|part| part.next_event(self.clock));
                let next = events.min().unwrap_or(u64::MAX);
                let fires = self.whole.moves_until + self.rules.watchdog_cycles;
                if next > fires && fires < until.0 {
                    self.clock = self.clock.max(fires);
                    self.has_failed = true;
                    return Err(self.deadlock());
                }
                if next >= until.0 {
                    self.clock = until.0;
                    break;
                }
                self.clock = next;
            }
            self.step(notices);
            if self.unfinished.is_none()
                && self.clock.saturating_sub(self.whole.moves_until) >= self.rules.watchdog_cycles
            {
                self.has_failed = true;
                return Err(self.deadlock());
            }
            self.clock += 1;
            if !notices.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn settle(&mut self) {
        if let Some(cycle) = self.unfinished.take() {
            // All that a source must know of it has been told.
            self.finish(cycle, &mut Notices::default());
        }
    }

    fn in_flight(&self) -> u64 {
        self.whole.in_flight
    }

    fn recorder(&self) -> &Recorder {
        assert!(self.unfinished.is_none(), "{UNSETTLED}");
        &self.whole.recorder
    }

    fn recorder_mut(&mut self) -> &mut Recorder {
        self.settle();
        &mut self.whole.recorder
    }

    fn view(&self) -> Option<&dyn View> {
        assert!(self.unfinished.is_none(), "{UNSETTLED}");
        Some(self)
    }

    fn observe(&mut self) {
        self.settle();
        self.whole.recorder.observe();
        for part in &mut self.parts {
            part.works.observe();
        }
    }
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> View for Fast<L, M, D, Q, P> {
    fn occupancy(&self, into: &mut Occupancy) {
        into.reset(self.rules.topology.nodes(), self.rules.layout.shape().ports());
        for part in &self.parts {
            part.occupancy(into);
        }
        for (part, accepted) in self.accepted.iter().enumerate() {
            let first = self.division.first_of(part);
            accepted.iter().for_each(|(node, message)| into.waiting[first + *node as usize] += message.packets);
        }
        for part in &self.parts {
            part.take_moving(self.clock + u64::from(self.has_failed), self.division, into);
        }
    }
}
