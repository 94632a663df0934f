//! The fast engine: events of flits and credits, and routers with something to do.
//!
//! When a flit is granted the switch everything up to the next router is known: the crossbar takes a fixed time, the
//! queue of the output sends one flit a cycle in order, the link takes a fixed time; and the same of its credit. So a
//! grant puts two events into a ring of lists, one for each of the next cycles, and nothing is done for the flit in
//! between.
//!
//! # A cycle
//! 1. Flits and credits that are due: buffers fill, masks of VCs that may be granted something change.
//! 2. Sources that have a flit and a credit send.
//! 3. Routers with a bit in some mask step: VC allocation among heads, switch allocation among ports, by masks.
//!
//! # Which routers sleep, and why waking is complete
//! A router sleeps if no VC requests the switch and no head finds a VC that it may be given. What can change that wakes
//! it: a flit that comes to the front, a credit for a VC that has none, a timer of a stage with a delay; an output VC
//! is released by the router's own steps, after which it stays awake. Where availability depends on credits, each
//! credit wakes a router whose heads need VCs.
//!
//! A body flit that comes to an empty buffer, with a credit, requests the switch in the same cycle. It does not enter
//! the buffer unless another flit contends with it.
//!
//! Stalls are counted when they end, as the number of steps since they began.
//!
//! # Options that are off
//! Most networks are direct (`direct::is_direct`): buffers of their own, allocators by masks, no priorities, no second
//! flit of an input or output in a cycle. There is code of its own for them, in which the questions of the other options
//! are not asked. Decision: docs/decisions/0600-direct-networks.md.
//!
//! # Parts and threads
//! Nothing that a router or a source sends is due before two cycles later. So the routers are divided into parts of
//! consecutive numbers with their endpoints, each simulated on a thread of its own, and what leaves a part is taken
//! from its ring a cycle early and posted: the caller's thread exchanges mail between cycles. A packet travels with its
//! head; the flits that follow it through a VC are of the packet that came last. Draws belong to packets, and the order
//! of entries in a ring affects no result, so neither does the partitioning.
//!
//! The caller's thread keeps what exists once: messages under way, the record, the source. A source needs to know what
//! was sent and received in a cycle, which steps 1 and 2 tell; it draws the next messages while the threads finish
//! step 3 ([`Engine::settle`] waits for them).
//!
//! Decision: docs/decisions/0095-threads.md.
//!
//! # Agreement
//! The [reference engine](crate::reference) defines every result; property tests hold that digests and all statistics
//! are equal, bit for bit.

use std::sync::Arc;

use fsin_core::engine::Engine;
use fsin_core::messages::Messages;
use fsin_core::network::{Deadlock, Injected, Measure, NetworkFailure, Notices, QueueFigures, RouterEvents};
use fsin_core::parallel::{Division, MAX_THREADS, Partitioned};
use fsin_core::topology::Topology;
use fsin_core::view::Occupancy;
use fsin_core::wait::{Place, cyclic_wait};
use trgen::catalog::SpecError;
use trgen::{Cycle, Message, NodeId};

use crate::params::Params;
use crate::rules::details::Details;
use crate::rules::interface::Unsent;
use crate::rules::routes::Routes;
use crate::rules::sinks::Sinks;
use crate::rules::whole::Whole;
use crate::rules::wiring::Wiring;
use crate::{Detailed, Prepared};

mod allocate;
mod direct;
mod mail;
mod part;
mod sets;
mod state;
mod step;
mod waiting;
mod wide;

use part::Part;
use waiting::Awaited;

/// \[flit hops\] Number of flit hops in a cycle from which on it pays to wake the threads.
const HOPS_WORTH_THREADS: u64 = 160;

/// An empty network, simulated by `threads` threads (1 to [`MAX_THREADS`]), but by at most one for each router. The
/// results do not depend on `threads`.
///
/// # Errors
/// Settings that are out of range or do not fit the topology, and routings that are not free of deadlock, unless
/// [`Params::unsafe_routing`].
pub fn build(topology: &dyn Topology, params: Params, threads: usize) -> Result<Box<dyn Detailed>, SpecError> {
    build_for(topology, params, threads, HOPS_WORTH_THREADS)
}

/// [`build`] with another break-even: `worth` is the number of flit hops in a cycle from which on threads are woken.
/// For tests: the results do not depend on it.
///
/// # Errors
/// As [`build`].
pub fn build_for(
    topology: &dyn Topology,
    params: Params,
    threads: usize,
    worth: u64,
) -> Result<Box<dyn Detailed>, SpecError> {
    let prepared = crate::prepare(topology, &params)?;
    // An endpoint sends into all subnets, which are not in one part if there are several.
    let threads = if params.subnets > 1 { 1 } else { threads.min(MAX_THREADS) };
    // Sizes for which the compiler makes code of their own.
    macro_rules! network {
        ($ports:literal, $vcs:literal, $direct:literal) => {
            Box::new(Fast::<$ports, $vcs, $direct>::new(&params, prepared, threads, worth))
        };
    }
    let is_direct = direct::is_direct(&params, &prepared.wiring);
    Ok(match (is_direct, prepared.wiring.ports, params.vcs) {
        (true, ..=8, ..=2) => network!(8, 2, true),
        (true, ..=8, ..=4) => network!(8, 4, true),
        (true, ..=8, ..=8) => network!(8, 8, true),
        (true, ..=16, ..=4) => network!(16, 4, true),
        (true, ..=16, ..) => network!(16, 32, true),
        (true, _, ..=4) => network!(64, 4, true),
        (true, ..) => network!(64, 32, true),
        (false, ..=8, ..=4) => network!(8, 4, false),
        (false, ..=8, ..=16) => network!(8, 16, false),
        (false, ..=16, ..=8) => network!(16, 8, false),
        (false, ..) => network!(64, 32, false),
    })
}

/// The engine that visits what can move, for routers of at most `P` ports of `V` VCs, [direct](direct::is_direct) or not.
#[derive(Debug)]
struct Fast<const P: usize, const V: usize, const DIRECT: bool> {
    /// \[cycles\] Time without any movement of a flit after which the network counts as being in deadlock.
    watchdog_cycles: u64,
    /// Number of VCs of each port.
    vcs: usize,
    params: Params,
    wiring: Arc<Wiring>,
    routes: Arc<Routes>,
    /// The present cycle.
    clock: u64,
    /// The parts, and their threads.
    parts: Partitioned<Part<P, V, DIRECT>>,
    /// By tap: its part, and its number in that part.
    places: Vec<(u32, u32)>,
    /// \[flit hops\] Number in the last cycle from which on threads are woken in this one.
    worth: u64,
    /// \[flit hops\] Number so far.
    flit_hops: u64,
    /// Messages in flight, and statistics.
    whole: Whole,
    /// Nodes that take or refuse messages from the next cycle on.
    admitted: Vec<(NodeId, bool)>,
    /// \[cycle\] The last cycle in which a flit has moved, or a message has entered an empty network.
    last_moved: u64,
}

impl<const P: usize, const V: usize, const DIRECT: bool> Fast<P, V, DIRECT> {
    fn new(params: &Params, prepared: Prepared, threads: usize, worth: u64) -> Self {
        let Prepared { wiring, routes, reconfiguration } = prepared;
        let division = Division::new(wiring.routers, threads, true);
        let mut endpoints = vec![Vec::new(); division.parts];
        let place = |endpoint: usize| {
            let part = division.part_of(wiring.entry(endpoint).0);
            endpoints[part].push(endpoint as u32);
            (part as u32, endpoints[part].len() as u32 - 1)
        };
        let places = (0..wiring.taps()).map(place).collect();
        let whole = Whole::new(params, wiring.endpoints, reconfiguration);
        let wiring = Arc::new(wiring);
        let part = |(part, endpoints)| Box::new(Part::new(params, &wiring, &routes, (division, part), endpoints));
        let parts = endpoints.into_iter().enumerate().map(part).collect();
        Self {
            watchdog_cycles: params.watchdog_cycles,
            vcs: params.vcs,
            clock: Cycle::FIRST.0,
            places,
            parts: Partitioned::new(division, parts),
            worth,
            flit_hops: 0,
            whole,
            admitted: Vec::new(),
            last_moved: 0,
            params: params.clone(),
            wiring,
            routes,
        }
    }

    /// Simulates the cycle at which the clock stands, or as much of it as its notices need.
    fn cycle(&mut self, notices: &mut Notices) {
        let now = self.clock;
        let mut is_worth = false;
        self.parts.parts_mut().iter_mut().for_each(|part| part.clock = now);
        if self.parts.has_threads() {
            let hops = self.parts.parts().iter().map(|part| part.flit_hops).sum();
            is_worth = hops - std::mem::replace(&mut self.flit_hops, hops) >= self.worth;
        }
        // The watchdog cannot fire in this cycle, whatever its remainder does.
        let is_watched_over = now.saturating_sub(self.last_moved) < self.watchdog_cycles;
        let whole = &mut self.whole;
        self.parts.cycle(now, is_worth, is_watched_over, &mut |report, now| whole.read(report, now, notices));
        if !self.parts.is_unfinished() {
            self.note_moves();
        }
    }

    /// Makes the failures and repairs before the next cycle, and lets new routes take effect if the network is empty.
    #[cold]
    fn reconfigure(&mut self, notices: &mut Notices) {
        let is_held = self.whole.change(self.clock);
        if !is_held {
            return;
        }
        let routes = self.whole.renew(self.clock);
        let whole = &mut self.whole;
        for (part, accepted) in self.parts.with_accepted_mut() {
            part.ends.is_held = routes.is_none();
            let Some(routes) = &routes else { continue };
            let is_lost = |unsent: &Unsent| whole.is_lost(unsent, routes);
            let mut lost = part.ends.give_up(is_lost);
            lost.extend(accepted.extract_if(.., |unsent| is_lost(unsent)));
            lost.iter().for_each(|unsent| whole.abandon(unsent, notices));
            part.resume(routes);
        }
        if let Some(routes) = routes {
            self.routes = routes;
        }
    }

    /// Updates the last cycle in which a flit has moved.
    #[inline]
    fn note_moves(&mut self) {
        let moved = self.parts.parts().iter().map(|part| part.last_moved).max();
        self.last_moved = self.last_moved.max(moved.unwrap_or(0));
    }

    /// The next cycle in which something happens, from the clock on.
    fn next_event(&self) -> Option<u64> {
        if self.parts.accepted().iter().any(|messages| !messages.is_empty()) {
            return Some(self.clock);
        }
        self.parts.parts().iter().filter_map(|part| part.next_event(self.clock)).min()
    }

    /// The part of a router. All parts must be on the caller's thread.
    fn part_of(&self, router: usize) -> &Part<P, V, DIRECT> {
        &self.parts.parts()[self.parts.division().part_of(router)]
    }

    /// The report of a deadlock, with a cycle of buffers that wait for each other.
    fn deadlock(&self) -> Deadlock {
        let first = self.parts.parts().iter().find_map(|part| part.first_waiting());
        let waits_for = |place: Place| match self.part_of(place.0).waits_for(place)? {
            Awaited::Room(place) => Some(self.part_of(place.0).occupied(place)),
            Awaited::Node(node) => self.wiring.taps_of(node).find_map(|tap| {
                let (part, number) = self.places[tap];
                let vc = self.parts.parts()[part as usize].ends.sends_into(number as usize)?;
                let (router, port) = self.wiring.entry(tap);
                Some((router, port * self.vcs + vc))
            }),
        };
        let cycle: Vec<Place> = cyclic_wait(first, waits_for);
        let channel = |(router, vc): Place| self.wiring.input(router, vc / self.vcs, vc % self.vcs);
        Deadlock {
            since: Cycle(self.last_moved),
            in_flight: self.whole.messages.in_flight(),
            cycle: cycle.into_iter().map(channel).collect(),
            refusing: self.refusing(),
        }
    }

    /// Nodes that refuse a packet which has come to them.
    fn refusing(&self) -> Vec<NodeId> {
        self.parts.parts().iter().flat_map(|part| part.refusing()).collect()
    }

    /// True if a node that refuses a packet has nothing of another class to send: it works on that.
    fn awaits_node(&self) -> bool {
        let has_other = |tap: usize| {
            let part = &self.parts.parts()[self.places[tap].0 as usize];
            let class = part.sinks.as_ref().map_or(0, |sinks| sinks.class);
            part.ends.has_other_than(self.places[tap].1 as usize, class)
        };
        self.refusing().into_iter().any(|node| !self.wiring.taps_of(node).any(has_other))
    }
}

impl<const P: usize, const V: usize, const DIRECT: bool> Engine for Fast<P, V, DIRECT> {
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
        if self.whole.messages.in_flight() == 0 {
            self.last_moved = self.last_moved.max(self.clock);
        }
        if !self.whole.reconfiguration.is_held() && !self.routes.reach(message.source.0, message.destination.0) {
            return self.whole.drop_at_source(&message);
        }
        let class = self.params.class_of(&message);
        let (part, endpoint) = self.places[self.routes.tap(message.source.0, message.destination.0, class)];
        self.parts.accept(part as usize, self.whole.inject(&message, endpoint, self.clock));
        Injected::Accepted
    }

    fn let_refuse(&mut self, class: u8) -> bool {
        self.settle();
        for part in self.parts.parts_mut() {
            part.sinks = Some(Box::new(Sinks::new(class, self.wiring.endpoints)));
        }
        true
    }

    fn admit(&mut self, node: NodeId, admits: bool) {
        // Threads may be at work on the last cycle.
        self.admitted.push((node, admits));
    }

    fn step(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        self.settle();
        for (node, admits) in self.admitted.drain(..) {
            let sinks = self.parts.parts_mut().iter_mut().filter_map(|part| part.sinks.as_mut());
            sinks.for_each(|sinks| sinks.admit(node, admits));
        }
        if self.whole.reconfiguration.is_planned() {
            self.reconfigure(notices);
        }
        let until = self.whole.reconfiguration.next_change(until.0);
        let has_packets = self.whole.messages.in_flight() > 0;
        let limit = if has_packets { self.last_moved.saturating_add(self.watchdog_cycles) } else { u64::MAX };
        if notices.is_empty() {
            self.clock = self.next_event().unwrap_or(u64::MAX).min(limit.max(self.clock)).min(until);
        }
        if self.clock == until {
            return Ok(());
        }
        self.cycle(notices);
        let is_over = !self.parts.is_unfinished();
        let mut is_stuck = is_over && self.clock.saturating_sub(self.last_moved) >= self.watchdog_cycles;
        if is_stuck && self.awaits_node() {
            (self.last_moved, is_stuck) = (self.clock, false);
        }
        self.clock += 1;
        if is_stuck && self.whole.messages.in_flight() > 0 {
            return Err(self.deadlock().into());
        }
        Ok(())
    }

    fn settle(&mut self) {
        if self.parts.is_unfinished() {
            // The source has all reports of that cycle that it needs.
            let whole = &mut self.whole;
            self.parts.settle(&mut |report, now| whole.read(report, now, &mut Notices::default()));
            self.note_moves();
        }
    }

    fn count_crossings(&mut self) {
        for part in self.parts.parts_mut() {
            part.crossed.resize(part.routers.all.len() * self.wiring.ports, 0);
        }
    }

    fn count_events(&mut self) {
        let ports = self.wiring.ports;
        for part in self.parts.parts_mut() {
            // Crossings are counted as well, so that the cycle loop tests one condition for both.
            part.crossed.resize(part.routers.all.len() * ports, 0);
            part.traversed.resize(part.routers.all.len() * ports * ports, 0);
        }
    }

    fn events(&self) -> Option<Vec<RouterEvents>> {
        let traversed: Vec<u64> = self.parts.parts().iter().flat_map(|part| &part.traversed).copied().collect();
        self.wiring.events(&traversed)
    }

    fn show(&self, into: &mut Occupancy) {
        let flits = |router: usize, port: usize| {
            let part = self.part_of(router);
            part.flits(router - part.first, port)
        };
        let crossed: Vec<u64> = self.parts.parts().iter().flat_map(|part| &part.crossed).copied().collect();
        self.wiring.show(flits, &crossed, into);
        let waiting = |&(part, number): &(u32, u32)| {
            let ends = &self.parts.parts()[part as usize].ends;
            let accepted = self.parts.accepted()[part as usize].iter().filter(|unsent| unsent.endpoint == number);
            ends.waiting(number as usize) + accepted.map(|unsent| ends.packets_of(unsent)).sum::<u64>()
        };
        into.waiting.extend(self.places.chunks(self.wiring.own).map(|taps| taps.iter().map(waiting).sum::<u64>()));
    }

    fn begin_figures(&mut self) {
        self.parts.parts_mut().iter_mut().for_each(|part| part.traversed.fill(0));
        let counts = self.count();
        self.whole.begin(counts);
    }

    fn figures(&self) -> Vec<(&'static Measure, f64)> {
        self.whole.figures(&self.count())
    }

    fn queue_figures(&self) -> Option<QueueFigures> {
        self.whole.class_figures()
    }
}

impl<const P: usize, const V: usize, const DIRECT: bool> Fast<P, V, DIRECT> {
    /// The counts of this model.
    fn count(&self) -> Details {
        let mut details = Details { stages: self.whole.stages, occupancy: vec![0; self.vcs], ..Details::default() };
        self.parts.parts().iter().for_each(|part| part.count(self.clock, &mut details));
        details
    }
}

impl<const P: usize, const V: usize, const DIRECT: bool> Detailed for Fast<P, V, DIRECT> {
    fn details(&mut self) -> Details {
        self.settle();
        self.count()
    }
}
