//! The fast engine: packets instead of phits, changes instead of cycles.
//!
//! A started packet never pauses, so when a link takes its header in cycle s everything else is known: its header can be
//! routed at the next node from s + 1 on, its tail leaves in s + L - 1, and from s + L on the link, the output channel and
//! the space are free. The engine therefore does one thing when a header starts and one when its tail leaves, and
//! nothing for the phits in between.
//!
//! # A cycle
//! 1. Interfaces that may have something to send put a packet into a source buffer; where nothing keeps it there, into the
//!    injection queue.
//! 2. Headers that crossed a link in the previous cycle stand in their queues. Source buffers that may still have something
//!    to move fill their injection queues.
//! 3. At nodes where something may have changed: heads that are awake ask and outputs are given away (phase A of the
//!    model); a free link takes the header of a packet that is given one of its channels. Then links that have become free
//!    take headers of packets that wait for them (its phase B).
//! 4. Tails that leave in this cycle, from a ring of lists: space, channels and links become free, packets arrive.
//!
//! Each step visits a list. A cycle in which all lists are empty is skipped.
//!
//! Step 3 does both phases node by node, although phase B of one node comes before phase A of another. It may, because a
//! node looks at nothing but its own queues, channels and links, and what it changes elsewhere waits until the next
//! cycle: a header stands in the neighbour's queue from then on. What step 4 returns to a neighbour, space, is not looked
//! at before the next step 3.
//!
//! # Parts and threads
//! Since nodes meet only between cycles, the network can be cut into parts of consecutive nodes that go through their
//! cycles on threads of their own. What crosses a border is put into a mail box and opened at the beginning of the next
//! cycle. What the whole network has once (messages under way, the record) stays with the caller's thread, which hands
//! messages to the parts before a cycle and reads their reports after it. The order of entries cannot be seen in any
//! list, so the cut cannot be seen in the results.
//!
//! # What a node knows of its neighbour
//! A sender keeps the space behind each of its output channels itself, as credits in packets: one is spent when a header
//! starts, one comes back when a tail leaves the neighbour's queue. An output channel is **open** if nobody owns it and it
//! has a credit. Whole packets suffice: a channel that nobody owns has no packet arriving behind it, so L phits fit
//! exactly if fewer packets than the queue's capacity are there (one that is departing still counts: its last phit has
//! not left). Where a routing compares free space phit by phit, the sender is also told when a header begins to leave
//! that queue.
//!
//! # Who sleeps, and why waking is complete
//! A head that asked for nothing sleeps. What it could ask for depends on few things only, and each wakes it:
//! - an output channel of a port that it would take opens (somebody's tail releases it, or a credit comes back);
//! - the bubble opens: room in this node's own queue of the ring that it wants to enter. Room grows only when a tail
//!   leaves that queue (`Router::has_room` shows that the beginning of a departure never makes room by itself);
//! - for a packet that leaves an injection queue where there is a local restriction: room in this node's own queues of the
//!   channels that it would take, and where that holds at congested nodes only, that its node no longer is;
//! - its own draws, which are functions of the packet and the node, and some of the cycle, for which see below.
//!
//! A head that asked and was refused stays awake, since what it asked for has just been taken. So does a head that may
//! change its mind without an event, while some channel that it may ask for is open (`Requests::may_change_its_mind`):
//! `bubble:shortest` compares free space phit by phit, and `bubble:smart` draws anew in every cycle.
//!
//! # Wires
//! With delays of links or routers a header takes its place in the neighbour's queue in the next cycle, as without, and
//! stands there only when it has come: until then it waits in a ring. Nothing else changes, since room is reserved when
//! phits are sent (`router::wires`).
//!
//! # Agreement
//! The [reference engine](super::reference) defines every result; property tests hold that digests and all statistics
//! are equal, bit for bit.

use trgen::{Cycle, Message, NodeId};

use super::messages::{Messages, Unsent};
use super::wait::{Place, channel, cyclic_wait};
use crate::network::{Deadlock, Injected, Network, Notices};
use crate::router::congestion::GlobalControl;
use crate::router::layout::{Direct, Layout, Switches, TwoWay};
use crate::router::request::WORD;
use crate::router::{MAX_QUEUES, RouterParams, SourceQueue};
use crate::stats::Recorder;
use crate::topology::{MAX_DIMENSIONS, STATE_WORDS, Shape, Topology};
use crate::view::{Occupancy, View};

mod chain;
mod cut;
mod mask;
mod part;
mod pool;
mod ring;
mod rules;
mod state;

use cut::cut;
use mask::{Mask, Words};
use part::Part;
use pool::Pool;
use rules::Rules;
use state::{Router, Sleepers};

/// Most threads.
pub const MAX_THREADS: usize = 256;

/// Places to look at in a cycle from which on it pays to wake the threads.
const WORTH_THREADS: usize = 96;

/// Does something for the layout, the kind of masks, and the dimensions, queues and ports that are enough for the routers of a
/// shape. Usual sizes of routers have code of their own.
macro_rules! by_size {
    ($shape:expr, $vcs:expr, $injectors:expr, $go:ident) => {{
        let (shape, vcs) = ($shape, $vcs);
        // A mask has a bit for each queue, and one for other use.
        let queues = shape.ports() * vcs + $injectors;
        if shape.is_switched() {
            let switches = Switches::new(shape, vcs);
            match (queues, shape.ports()) {
                (..=16, ..=16) => $go!(switches, u64, STATE_WORDS, 16, 16),
                (..=32, ..=16) => $go!(switches, u64, STATE_WORDS, 32, 16),
                (..=WORD, ..=24) => $go!(switches, u64, STATE_WORDS, WORD, 24),
                (..=WORD, _) => $go!(switches, u64, STATE_WORDS, WORD, WORD),
                (..=127, ..=64) => $go!(switches, Words<2>, STATE_WORDS, 127, 64),
                (..=255, _) => $go!(switches, Words<4>, STATE_WORDS, 255, 255),
                _ => $go!(switches, Words<16>, STATE_WORDS, MAX_QUEUES, 255),
            }
        } else {
            let any = Direct::new(shape, vcs);
            match (shape.dimensions, shape.ways, vcs, queues, shape.ports()) {
                (2, 2, 1, 5, _) => $go!(TwoWay::<2, 1>, u64, 2, 5, 4),
                (2, 2, 2, 9, _) => $go!(TwoWay::<2, 2>, u64, 2, 9, 4),
                (2, 2, 3, 13, _) => $go!(TwoWay::<2, 3>, u64, 2, 13, 4),
                (3, 2, 3, 19, _) => $go!(TwoWay::<3, 3>, u64, 3, 19, 6),
                (..=4, _, _, ..=16, ..=8) => $go!(any, u64, 4, 16, 8),
                (..=4, _, _, ..=WORD, ..=8) => $go!(any, u64, 4, WORD, 8),
                (_, _, _, ..=WORD, _) => $go!(any, u64, MAX_DIMENSIONS, WORD, 40),
                (_, _, _, ..=127, _) => $go!(any, Words<2>, MAX_DIMENSIONS, 127, 40),
                (_, _, _, ..=255, _) => $go!(any, Words<4>, MAX_DIMENSIONS, 255, 40),
                _ => $go!(any, Words<16>, MAX_DIMENSIONS, MAX_QUEUES, 40),
            }
        }
    }};
}

const _: () = assert!(MAX_QUEUES < <Words<16> as Mask>::SIZE && WORD < <u64 as Mask>::SIZE && 2 * MAX_DIMENSIONS <= 40);

/// An empty network that `threads` threads (1 to [`MAX_THREADS`]) simulate. `params` must have passed
/// [`RouterParams::check`] for this topology. The results do not depend on `threads`; there are never more than nodes.
///
/// `None` if there are 2^31 nodes or more.
#[must_use]
pub fn build(topology: Box<dyn Topology>, params: RouterParams, threads: usize) -> Option<Box<dyn Network>> {
    macro_rules! network {
        ($layout:expr, $mask:ty, $dimensions:expr, $queues:expr, $ports:expr) => {{
            type Engine<L> = Fast<L, $mask, { $dimensions }, { $queues }, { $ports }>;
            Some(Box::new(Engine::new($layout, topology, params, threads)?))
        }};
    }
    by_size!(topology.shape(), params.vcs, params.injectors, network)
}

/// \[bytes\] At least, of each node of an empty network whose routers have passed [`RouterParams::check`].
#[must_use]
pub fn node_bytes(shape: Shape, vcs: usize, injectors: usize) -> usize {
    macro_rules! bytes {
        ($layout:expr, $mask:ty, $dimensions:expr, $queues:expr, $ports:expr) => {{
            let _ = $layout;
            size_of::<Router<$mask, { $queues }, { $ports }>>() + shape.ports() * size_of::<(Sleepers<$mask>, u32)>()
        }};
    }
    by_size!(shape, vcs, injectors, bytes)
}

/// The packet-by-packet engine of the functional router, for topologies of at most `D` dimensions and routers of at most
/// `Q` queues and `P` ports.
///
/// The parts simulate interfaces, routers and links. The whole holds what is there once: the clock, the messages under way, the
/// record.
#[derive(Debug)]
struct Fast<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> {
    rules: Rules<L>,
    clock: u64,
    /// In the order of their nodes.
    parts: Vec<Box<Part<L, M, D, Q, P>>>,
    /// \[nodes\] Of each part but the last.
    span: usize,
    pool: Option<Pool<Part<L, M, D, Q, P>>>,
    messages: Messages,
    /// By endpoint: its interface takes no message before it has sent the one that it has.
    is_full: Vec<bool>,
    recorder: Recorder,
    in_flight: u64,
    /// \[packets\] Whose header has left its injection queue, and whose tail has not been consumed.
    in_network: u64,
    control: Option<GlobalControl>,
    /// Places to look at in the next cycle.
    work: usize,
    /// \[cycle\] The last in which a phit moves, as known so far.
    moves_until: u64,
    /// A deadlock was found in the cycle at which the clock stands, which is over.
    has_failed: bool,
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Fast<L, M, D, Q, P> {
    fn new(layout: L, topology: Box<dyn Topology>, params: RouterParams, threads: usize) -> Option<Self> {
        let count = topology.nodes();
        let endpoints = topology.endpoints();
        let control = GlobalControl::new(&params, &*topology);
        let rules = Rules::new(params, layout, topology.into());
        // Nodes, and those beyond a border, have numbers of 32 bits.
        u32::try_from(count.checked_mul(2)?).ok()?;
        let span = count.div_ceil(threads.clamp(1, MAX_THREADS));
        let parts = cut(&rules, span);
        let pool = (parts.len() > 1).then(|| Pool::new(parts.len() - 1, Part::cycle));
        Some(Self {
            rules,
            clock: Cycle::FIRST.0,
            parts,
            span,
            pool,
            messages: Messages::new(),
            is_full: vec![false; endpoints],
            recorder: Recorder::new(endpoints),
            in_flight: 0,
            in_network: 0,
            control,
            work: 0,
            moves_until: Cycle::FIRST.0,
            has_failed: false,
        })
    }

    /// Simulates the cycle at which the clock stands.
    fn step(&mut self, notices: &mut Notices) {
        let (now, in_network) = (self.clock, self.in_network);
        let is_stopped = self.control.as_mut().is_some_and(|control| control.is_tripped(now, in_network));
        for part in &mut self.parts {
            (part.works.clock, part.works.is_stopped) = (now, is_stopped);
        }
        let work = std::mem::take(&mut self.work);
        let pool = self.pool.take_if(|_| work >= WORTH_THREADS);
        // The caller's thread does what there are no workers for: the first part, as a rule.
        let own = self.parts.len() - pool.as_ref().map_or(0, Pool::len);
        if let Some(pool) = &pool {
            self.parts.drain(own..).enumerate().for_each(|(worker, part)| pool.give(worker, part));
        }
        for part in 0..own {
            self.parts[part].cycle();
            self.read_report(part, notices);
        }
        if let Some(pool) = pool {
            for worker in 0..pool.len() {
                self.parts.push(pool.fetch(worker));
                self.read_report(own + worker, notices);
            }
            self.pool = Some(pool);
        }
        self.exchange_mail();
        if notices.sent.len() > 1 {
            notices.sent.sort_unstable_by_key(|message| message.source);
        }
        if notices.delivered.len() > 1 {
            notices.delivered.sort_unstable_by_key(|delivery| {
                (delivery.message.destination, delivery.message.source, delivery.message.id)
            });
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

    /// Writes down what a part did in this cycle.
    fn read_report(&mut self, part: usize, notices: &mut Notices) {
        let now = Cycle(self.clock);
        let report = &mut self.parts[part].works.report;
        if std::mem::take(&mut report.moved) {
            self.moves_until = self.moves_until.max(self.clock + self.rules.tail);
        }
        self.moves_until = self.moves_until.max(std::mem::take(&mut report.arrives));
        let waited = std::mem::take(&mut report.waited);
        self.in_network += waited.count();
        self.recorder.departed_after(&waited);
        self.work += report.work;
        self.recorder.hops(std::mem::take(&mut report.hops));
        self.recorder.injected(std::mem::take(&mut report.injected));
        for slot in report.sent.drain(..) {
            let message = self.messages.get(slot);
            self.is_full[message.source.index()] = false;
            notices.sent.push(message);
        }
        for (slot, receipt) in report.received.drain(..) {
            self.recorder.received(now, &receipt);
            self.in_network -= u64::from(receipt.hops > 0);
            self.messages.packet_received(slot, now, notices);
            self.in_flight -= 1;
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
            since: Cycle(self.moves_until),
            in_flight: self.in_flight,
            cycle: cycle.into_iter().map(|place| channel(place, shape, vcs)).collect(),
        }
    }

    /// The queue whose lack of room keeps this queue's head where it is.
    fn waits_for(&self, (node, input): Place) -> Option<Place> {
        let part = &*self.parts[node / self.span];
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
        self.is_full.len()
    }

    fn clock(&self) -> Cycle {
        Cycle(self.clock)
    }

    fn inject(&mut self, message: Message) -> Injected {
        let packets = self.rules.packets_of(message.bytes);
        if !self.rules.requests.reaches(&*self.rules.topology, message.source, message.destination) {
            self.recorder.generated(packets);
            self.recorder.dropped(packets);
            return Injected::Dropped;
        }
        let source = message.source.index();
        if self.is_full[source] {
            return Injected::Refused;
        }
        let now = Cycle(self.clock);
        let slot = self.messages.enter(message, packets, now);
        self.is_full[source] = self.rules.source_queue == SourceQueue::Throttled;
        let part = &mut self.parts[source / self.span].works;
        part.accepted.push((message.source.0 - part.first, Unsent::new(slot, &message, packets, now)));
        self.work += 1;
        if self.in_flight == 0 {
            self.moves_until = self.clock;
        }
        self.in_flight += packets;
        self.recorder.generated(packets);
        Injected::Accepted
    }

    fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), Deadlock> {
        notices.clear();
        while self.clock < until.0 {
            if self.in_flight == 0 {
                self.clock = until.0;
                break;
            }
            if self.work == 0 {
                // Nothing changes until the next tail leaves; if none will, nothing ever does.
                let events = self.parts.iter().filter_map(|part| part.next_event(self.clock));
                let next = events.min().unwrap_or(u64::MAX);
                let fires = self.moves_until + self.rules.watchdog_cycles;
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
            if self.clock.saturating_sub(self.moves_until) >= self.rules.watchdog_cycles {
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

    fn in_flight(&self) -> u64 {
        self.in_flight
    }

    fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    fn view(&self) -> Option<&dyn View> {
        Some(self)
    }

    fn observe(&mut self) {
        self.recorder.observe();
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
        for part in &self.parts {
            part.take_moving(self.clock + u64::from(self.has_failed), self.span, into);
        }
    }
}
