//! The fast engine: packets instead of phits, changes instead of cycles.
//!
//! A started packet never pauses. So when a link takes its header in cycle s, everything else is known: the header can
//! be routed at the next node from s + 1 on, the tail leaves in s + L - 1, and from s + L on the link, the output
//! channel and the space are free. The engine therefore does one thing when a header starts and one when its tail
//! leaves, and nothing for the phits in between.
//!
//! # A cycle
//! 1. Interfaces that may have something to send put a packet into a source buffer, or into the injection queue if the
//!    packet would leave the buffer in this cycle. An idle one does so when it accepts a message, before the cycle
//!    begins, where nothing can stop it then.
//! 2. Headers that crossed a link in the previous cycle enter their queues. Source buffers that may have something to
//!    move fill their injection queues.
//! 3. At nodes where something may have changed, route computation for heads that are awake and allocation of outputs
//!    (phase A of the model). A free link takes the header of a packet that is granted one of its channels. Then links
//!    that have become free take headers of packets that wait for them (phase B).
//! 4. Tails that leave in this cycle, from a calendar queue: space, channels and links become free, packets arrive.
//!
//! Each step visits a list. A cycle in which all lists are empty is skipped.
//!
//! Step 3 does both phases node by node, although phase B of one node comes before phase A of another. This is correct
//! because a node reads only its own queues, channels and links, and its changes elsewhere take effect in the next
//! cycle: a header enters the neighbour's queue then. Credits that step 4 returns to a neighbour are not read before
//! the next step 3.
//!
//! # Parts and threads
//! Nodes interact only between cycles. So the network can be partitioned into ranges of consecutive nodes, each
//! simulated on a thread of its own. Events that cross the cut go into a mailbox, which is opened at the beginning of
//! the next cycle. The global state (messages under way, the record) stays with the caller's thread, which hands
//! messages to the partitions before a cycle and reads their reports after it. The order of entries affects no result
//! in any list, so neither does the partitioning.
//!
//! A source must know which packets a cycle has sent, and which have been ejected at its end. Both are known when step
//! 1 is over, except for packets of one phit. With threads at work, the caller gets this report then, and draws the
//! messages of the next cycle while the threads finish the present one ([`Engine::settle`] waits for them). For that,
//! the first partition, which is the caller's, has fewer nodes.
//!
//! # Credits: what a node knows of its neighbour
//! A sender counts the space behind each of its output channels itself, as credits in packets. A header that starts
//! spends one; a tail that leaves the neighbour's queue returns one. A packet **fits** behind a channel that has a
//! credit. Whole packets are nearly exact. The exception is a full queue of k packets in which the last packet is
//! arriving, with a phits so far, while the first is departing and has lost d phits. Then L more phits fit exactly if
//! d >= a, which means that the first began to depart no later than the last began to arrive. The node at which the
//! last header enters its queue detects this case and tells the sender
//! (`Router::keeps_room`). Across a cut the sender knows which remote queues packets are leaving, and detects it
//! itself. A channel is **open** if a packet fits behind it and none owns it. Where a routing compares free space phit
//! by phit, the sender is also told when a header begins to leave that queue.
//!
//! # Wake-up conditions: which heads sleep, and why waking is complete
//! A head ignores ownership (`router::request`), but only an open channel can be granted. A head without a grant sleeps
//! if none of its candidate channels is open. Its request depends on few things only, and each is a wake-up condition:
//! - an output channel of a port that it would take opens: a tail releases it, or a credit comes back;
//! - the bubble opens: room in this node's own queue of the ring that it wants to enter. Room grows only when a tail
//!   leaves that queue (`Router::has_room` shows that the beginning of a departure never makes room by itself);
//! - for a packet that leaves an injection queue under a local bubble restriction: room in this node's own queues of
//!   the channels that it would take, or the end of congestion where the restriction holds at congested nodes only;
//! - the channels fill up that it requests in vain while another one is open (`Wait::OpeningOrFilling`);
//! - its own draws, and free space that is compared phit by phit: while one of its candidate channels is open, it stays
//!   awake (`Wait::Poll`), or until that channel may be the roomiest (`part/space.rs`). A head that weighs its
//!   candidates, and one that lost an arbitration, stay awake too.
//!
//! Heads of `bubble:smart` change their requests in every cycle, whether channels are owned or not. They wait together,
//! and their requests are brought up to date when a channel opens (`bets`).
//!
//! # Where many heads wait
//! Sleeping pays while few heads wait. Where many do, those of `bubble:smart` are treated in every cycle, eight routers
//! at once by vectors, and no head is woken (`dense`, `part/crowd.rs`). A partition changes from one treatment to the
//! other between cycles, by the numbers of its waiting heads and of its hops. Both give the same results.
//!
//! # Wires
//! With delays of links or routers, a header takes its place in the neighbour's queue in the next cycle, as without
//! delays. It can be routed only when it has arrived; until then it waits in a calendar queue. Nothing else changes,
//! since room is reserved when phits are sent (`router::hop_delays`).
//!
//! # Long messages
//! Each packet is an event of its own at every hop, unless the whole network repeats itself from packet to packet: then
//! such periods are passed at once (`trains.rs`).
//!
//! # Agreement
//! The [reference engine](super::reference) defines every result. Property tests check that digests and all statistics
//! are equal, bit for bit.

use std::sync::Arc;

use trgen::recurrence::State;
use trgen::{Cycle, Message, NodeId};

use super::messages::Unsent;
use super::wait::channel;
use crate::router::congestion::GlobalControl;
use crate::router::layout::{Direct, Layout, Switches, TwoWay};
use crate::router::request::{RouteRules, WORD};
use crate::router::{CheckedParams, MAX_QUEUES, RouterParams};
use fsin_core::engine::Engine;
use fsin_core::failures::Reconfiguration;
use fsin_core::messages::Messages;
use fsin_core::network::{Deadlock, Injected, Measure, Network, NetworkFailure, Notices};
use fsin_core::parallel::{Division, MAX_THREADS, Partitioned};
use fsin_core::topology::{MAX_DIMENSIONS, STATE_WORDS, Shape, Topology};
use fsin_core::view::Occupancy;
use fsin_core::wait::{Place, cyclic_wait};

mod bets;
mod chain;
mod cut;
mod dense;
mod mask;
mod moves;
mod part;
mod ride;
mod rules;
mod state;
mod trains;
mod whole;

use cut::cut;
use mask::{Mask, Words};
use part::Part;
use part::repetition::compares;
use part::trains::may_pass;
use rules::Rules;
use state::{Gate, Router};
use trains::Trains;
use whole::Whole;

/// Number of work items in a cycle from which on it pays to wake the threads.
const WORK_WORTH_THREADS: usize = 96;

/// Runs an expression with the layout, the kind of mask, and the numbers of dimensions, queues and ports that suffice
/// for the routers of a shape. Usual sizes of routers have code of their own.
macro_rules! by_size {
    ($shape:expr, $vcs:expr, $injectors:expr, $packets:expr, $go:ident) => {{
        let (shape, vcs) = ($shape, $vcs);
        // An injection queue may hold one more: a packet that follows one that is leaving.
        let small = $packets < u8::MAX.into();
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
                // Slices of pods: an injector for each port.
                (2, 2, 3, 16, true) => $go!(TwoWay::<2, 3>, u32, 2, 16, 4),
                (3, 2, 3, 24, true) => $go!(TwoWay::<3, 3>, u32, 3, 24, 6),
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

/// An empty network of a topology for which `params` were checked, simulated by `threads` threads (1 to
/// [`MAX_THREADS`]), but by at most one per node. The results do not depend on `threads`.
///
/// `None` if there are 2^31 nodes or more.
#[must_use]
pub fn build(
    topology: impl Into<Arc<dyn Topology>>,
    params: CheckedParams,
    threads: usize,
) -> Option<Box<dyn Network>> {
    build_for_size(topology.into(), params, threads, WORK_WORTH_THREADS)
}

/// [`build`] with another break-even: `worth` is the number of work items in a cycle from which on threads are woken.
/// For tests: the results do not depend on it.
#[must_use]
pub fn build_for(
    topology: impl Into<Arc<dyn Topology>>,
    params: CheckedParams,
    threads: usize,
    worth: usize,
) -> Option<Box<dyn Network>> {
    build_for_size(topology.into(), params, threads, worth)
}

/// The engine for the routers of this topology. (Not generic, so that all engines are compiled in this crate.)
fn build_for_size(
    topology: Arc<dyn Topology>,
    params: CheckedParams,
    threads: usize,
    worth: usize,
) -> Option<Box<dyn Network>> {
    // Unit tests of this crate build no engine, so that none is compiled for them: compiling all layouts once more
    // would take minutes.
    if cfg!(test) {
        return None;
    }
    macro_rules! network {
        ($layout:expr, $mask:ty, $dimensions:expr, $queues:expr, $ports:expr) => {{
            type Engine<L> = Fast<L, $mask, { $dimensions }, { $queues }, { $ports }>;
            Some(Box::new(Engine::new($layout, topology, params, threads, worth)?))
        }};
    }
    let RouterParams { vcs, injectors, queue_packets, .. } = *params;
    by_size!(topology.shape(), vcs, injectors, queue_packets, network)
}

/// \[bytes\] Minimum for each node of an empty network whose routers have passed [`RouterParams::check`].
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
/// The partitions simulate interfaces, routers and links. The [`Whole`] is the global state: messages under way, and
/// the record.
#[derive(Debug)]
struct Fast<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> {
    rules: Rules<L>,
    /// The present cycle.
    clock: u64,
    /// The partitions, and their threads.
    parts: Partitioned<Part<L, M, D, Q, P>>,
    /// Number of work items in a cycle from which on threads are woken.
    worth: usize,
    /// The global state.
    whole: Whole,
    /// Congestion control of the whole network; `None` if there is none.
    control: Option<GlobalControl>,
    /// The rules after failures and repairs of links.
    reconfiguration: Reconfiguration<RouteRules<L>>,
    /// True if nothing at the beginning of a cycle can keep a message from being sent: neither congestion control nor a
    /// change of links.
    may_send_at_once: bool,
    /// Whether the direction of a message was drawn since states were compared last; `None` if they never were.
    has_drawn: Option<bool>,
    /// The search for periods that can be passed; `None` where every cycle is simulated.
    trains: Option<Box<Trains>>,
    /// \[cycles\] Passed in periods before the search ended.
    passed: u64,
    /// True if a deadlock was found in the cycle at which the clock stands. That cycle is over.
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
        let reconfiguration = Reconfiguration::new(RouteRules::later(&params, layout, &*topology));
        let rules = Rules::new(params, layout, topology);
        // Indices of nodes, remote ones included, have 32 bits.
        u32::try_from(count.checked_mul(2)?).ok()?;
        let division = Division::new(count, threads.min(MAX_THREADS), rules.tail > 0);
        let parts = cut(&rules, division);
        Some(Self {
            rules,
            clock: Cycle::FIRST.0,
            parts: Partitioned::new(division, parts),
            worth,
            whole: Whole::new(endpoints),
            may_send_at_once: control.is_none() && !reconfiguration.is_planned(),
            control,
            reconfiguration,
            has_drawn: None,
            trains: None,
            passed: 0,
            has_failed: false,
        })
    }

    /// True if a message of this node has been sent before the cycle at which the clock stands: it keeps its place at
    /// the interface until then, as all that are sent in it.
    #[inline(always)]
    fn has_sent_at_once(&mut self, node: usize) -> bool {
        let (clock, may) = (self.clock, self.may_send_at_once);
        may && self.parts.only_mut().is_some_and(|part| part.has_sent_at_once(clock, node))
    }

    /// Simulates the cycle at which the clock stands, or as much of it as its notices need.
    fn cycle(&mut self, notices: &mut Notices) {
        let (now, in_network) = (self.clock, self.whole.in_network);
        let is_tripped = self.control.as_mut().is_some_and(|control| control.is_tripped(now, in_network));
        let is_stopped = is_tripped || self.reconfiguration.is_held();
        for part in self.parts.parts_mut() {
            (part.works.clock, part.works.is_stopped) = (now, is_stopped);
        }
        let is_worth = std::mem::take(&mut self.whole.work) >= self.worth;
        // The watchdog cannot fire in this cycle, whatever its remainder does.
        let is_watched_over = now.saturating_sub(self.whole.moves_until) < self.rules.watchdog_cycles;
        let (whole, may_go_on) = (&mut self.whole, self.rules.tail > 0 && is_watched_over);
        match notices.reads.sent {
            true => notices.sent.append(&mut whole.sent_at_once),
            false => whole.sent_at_once.clear(),
        }
        self.parts.cycle(now, is_worth, may_go_on, &mut |report, now| whole.read(report, now, notices));
    }

    /// Makes the failures and repairs before the next cycle, and lets new routes take effect if the network is empty.
    #[cold]
    fn reconfigure(&mut self, notices: &mut Notices) {
        while self.reconfiguration.change(self.clock) {
            self.whole.messages.recorder.mark(Cycle(self.clock));
        }
        if self.whole.messages.begun() > 0 {
            return;
        }
        let Some(requests) = self.reconfiguration.renew(self.clock) else { return };
        let topology = &*self.rules.topology;
        for (part, accepted) in self.parts.with_accepted_mut() {
            // Messages belong to the link with which their route begins when they are accepted.
            part.works.enter_now(accepted);
            part.works.rules.requests = requests.clone();
            let first = part.works.first;
            let is_lost =
                |node: u32, message: &Unsent| !requests.reaches(topology, NodeId(first + node), message.destination);
            for (node, Unsent { slot, packets, .. }) in part.works.give_up(is_lost) {
                self.whole.unsent[(first + node) as usize] -= 1;
                self.whole.messages.abandon(slot, packets, 0, notices);
            }
            part.works.renew_lanes();
        }
        self.rules.requests = requests;
    }

    /// The report of a deadlock, with a cycle of queues that wait for each other.
    fn deadlock(&self) -> Deadlock {
        let (shape, vcs) = (self.rules.layout.shape(), self.rules.vcs);
        let blocked = self.parts.parts().iter().find_map(|part| {
            let node = part.routers.iter().position(|router| !router.unrouted.is_empty())?;
            Some((part.works.first as usize + node, part.routers[node].unrouted.least()))
        });
        let cycle = cyclic_wait(blocked, |place| self.waits_for(place));
        Deadlock {
            since: Cycle(self.whole.moves_until),
            in_flight: self.whole.messages.in_flight(),
            cycle: cycle.into_iter().map(|place| channel(place, shape, vcs)).collect(),
            refusing: Vec::new(),
        }
    }

    /// The queue whose lack of room blocks the head of this queue.
    fn waits_for(&self, (node, input): Place) -> Option<Place> {
        let part = &*self.parts.parts()[self.parts.division().part_of(node)];
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

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Engine for Fast<L, M, D, Q, P> {
    type More = ();

    fn messages(&self) -> &Messages {
        &self.whole.messages
    }

    fn messages_mut(&mut self) -> &mut Messages {
        &mut self.whole.messages
    }

    fn clock(&self) -> Cycle {
        Cycle(self.clock)
    }

    fn inject(&mut self, message: Message) -> Injected {
        let packets = self.rules.packets_of(message.bytes);
        if !self.reconfiguration.is_held()
            && !self.rules.requests.reaches(&*self.rules.topology, message.source, message.destination)
        {
            return self.whole.messages.drop_at_source(packets, 0);
        }
        let source = message.source.index();
        let (unsent, room) = (self.whole.unsent[source], self.rules.interface_room);
        if unsent >= room || unsent + 1 == room && self.has_sent_at_once(source) {
            return Injected::Refused;
        }
        let now = Cycle(self.clock);
        if self.whole.messages.in_flight() == 0 {
            self.whole.moves_until = self.clock;
        }
        let slot = self.whole.messages.accept(message, packets, 0, now, ());
        if self.has_drawn == Some(false) {
            self.has_drawn = Some(self.rules.draws_direction(message.source, message.destination));
        }
        self.whole.work += 1;
        if let Some(trains) = &mut self.trains {
            trains.disturb(self.clock);
        }
        let unsent = Unsent::new(slot, &message, packets, now);
        if self.may_send_at_once
            && let Some(part) = self.parts.only_mut()
        {
            if part.accept_now(self.clock, source as u32, &unsent) {
                self.whole.messages.sent_at_once(slot);
                self.whole.sent_at_once.push(message);
                return Injected::Accepted;
            }
        } else {
            let (part, node) = self.parts.division().place_of(source);
            self.parts.accept(part, (node as u32, unsent));
        }
        self.whole.unsent[source] += 1;
        Injected::Accepted
    }

    fn refuses_until_sent(&self) -> bool {
        !self.reconfiguration.is_planned()
    }

    fn holds_back(&mut self) -> bool {
        if self.control.is_none() {
            return false;
        }
        self.settle();
        let (now, packets) = (self.clock, self.whole.in_network);
        self.control.as_mut().is_some_and(|control| control.is_tripped(now, packets))
    }

    fn withhold(&mut self, message: &Message) {
        let packets = self.rules.packets_of(message.bytes);
        self.whole.messages.recorder.withheld(packets);
    }

    fn step(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        self.settle();
        if self.reconfiguration.is_planned() {
            self.reconfigure(notices);
        }
        let mut until = Cycle(self.reconfiguration.next_change(until.0));
        if let Some(trains) = &self.trains {
            if trains.is_due(self.clock) && notices.is_empty() && self.look_for_trains(until.0) {
                return Ok(());
            }
            until = until.min(Cycle(self.trains.as_ref().map_or(u64::MAX, |trains| trains.end())));
        }
        if self.whole.messages.in_flight() == 0 && notices.is_empty() {
            self.clock = until.0;
            return Ok(());
        }
        if self.whole.work == 0 && notices.is_empty() {
            // Nothing changes until the next tail leaves or the next header arrives. If there is no such event, nothing
            // ever changes.
            let events = self.parts.parts().iter().filter_map(|part| part.next_event(self.clock));
            let next = events.min().unwrap_or(u64::MAX);
            let fires = self.whole.moves_until + self.rules.watchdog_cycles;
            if next > fires && fires < until.0 {
                self.clock = self.clock.max(fires);
                self.has_failed = true;
                return Err(self.deadlock().into());
            }
            if next >= until.0 {
                self.clock = until.0;
                return Ok(());
            }
            self.clock = next;
        }
        self.cycle(notices);
        let is_over = !self.parts.is_unfinished();
        if is_over && self.clock.saturating_sub(self.whole.moves_until) >= self.rules.watchdog_cycles {
            self.has_failed = true;
            return Err(self.deadlock().into());
        }
        self.clock += 1;
        Ok(())
    }

    fn settle(&mut self) {
        // The source has all reports of that cycle that it needs.
        let whole = &mut self.whole;
        self.parts.settle(&mut |report, now| whole.read(report, now, &mut Notices::default()));
    }

    fn write_state(&mut self, into: &mut State) -> bool {
        if !compares(&self.rules) || self.control.is_some() || self.reconfiguration.is_planned() {
            return false;
        }
        // From now on messages whose direction is drawn are noticed.
        let had_draws = self.has_drawn.replace(false);
        if had_draws != Some(false) || self.has_failed || self.parts.accepted().iter().any(|new| !new.is_empty()) {
            return false;
        }
        self.parts.parts_mut().iter_mut().for_each(|part| part.keep_apart());
        let Whole { messages, unsent, sent_at_once, in_network, work, moves_until } = &self.whole;
        let [part] = self.parts.parts() else { return false };
        if !sent_at_once.is_empty() {
            return false;
        }
        into.put(*in_network);
        into.put(*work as u64);
        into.put_time(Cycle(*moves_until));
        unsent.iter().for_each(|&count| into.put(count.into()));
        part.write_state(into, messages)
    }

    fn pass_periods(&mut self, cycles: u64, packets: &[u64]) {
        self.clock += cycles;
        self.whole.moves_until += cycles;
        self.whole.messages.pass(cycles);
        self.parts.parts_mut().iter_mut().for_each(|part| part.pass_periods(cycles, packets));
    }

    fn figures(&self) -> Vec<(&'static Measure, f64)> {
        self.reconfiguration.measures()
    }

    fn let_skip(&mut self, digest: bool) {
        if !may_pass(&self.rules) || self.control.is_some() || self.reconfiguration.is_planned() {
            return;
        }
        if self.parts.only_mut().is_some() {
            let (cycles, rules) = (self.rules.tail + 1, &self.rules);
            let settling = cycles * u64::from(rules.injection_queue_packets + rules.queue_packets + 2);
            self.trains = Some(Box::new(Trains::new(digest, cycles, settling)));
        }
    }

    fn cycles_skipped(&self) -> u64 {
        self.passed + self.trains.as_ref().map_or(0, |trains| trains.passed)
    }

    fn count_crossings(&mut self) {
        // Observers see every cycle.
        if let Some(trains) = self.trains.take() {
            self.passed += trains.passed;
            self.parts.parts_mut().iter_mut().for_each(|part| drop(part.end_sights()));
        }
        self.parts.parts_mut().iter_mut().for_each(|part| part.works.observe());
    }

    fn show(&self, into: &mut Occupancy) {
        into.reset(self.rules.topology.nodes(), self.rules.layout.shape().ports());
        for part in self.parts.parts() {
            part.occupancy(into);
        }
        for (part, accepted) in self.parts.accepted().iter().enumerate() {
            let first = self.parts.division().first_of(part);
            accepted.iter().for_each(|(node, message)| into.waiting[first + *node as usize] += message.packets);
        }
        for part in self.parts.parts() {
            part.take_moving(self.clock + u64::from(self.has_failed), self.parts.division(), into);
        }
    }
}
