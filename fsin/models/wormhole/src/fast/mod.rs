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
//! # Parts and threads
//! Nothing that a router or a source sends is due before two cycles later. So the routers are divided into parts of
//! consecutive numbers with their endpoints, each simulated on a thread of its own, and what leaves a part is taken
//! from its ring a cycle early and posted: the caller's thread exchanges mail between cycles. A packet travels with its
//! head; the flits that follow it through a VC are of the packet that came last. Draws belong to packets, and the order
//! of entries in a ring affects no result, so neither does the partitioning.
//!
//! The caller's thread keeps what exists once: messages under way, the record, the source. A source needs to know what
//! was sent and received in a cycle, which steps 1 and 2 tell; it draws the next messages while the threads finish
//! step 3 ([`Network::settle`] waits for them).
//!
//! Decision: docs/decisions/0095-threads.md.
//!
//! # Agreement
//! The [reference engine](crate::reference) defines every result; property tests hold that digests and all statistics
//! are equal, bit for bit.

use std::sync::Arc;

use fsin_core::network::{Deadlock, Injected, Measure, Network, NetworkFailure, Notices, STEPS};
use fsin_core::parallel::{Division, MAX_THREADS, Pool, Work};
use fsin_core::stats::Recorder;
use fsin_core::topology::Topology;
use fsin_core::view::{Occupancy, View};
use fsin_core::wait::{Place, cyclic_wait};
use trgen::{Cycle, Message};

use crate::Detailed;
use crate::params::Params;
use crate::rules::details::Details;
use crate::rules::interface::Unsent;
use crate::rules::routes::{BuildError, Routes};
use crate::rules::whole::{Report, Whole, sort};
use crate::rules::wiring::Wiring;

mod allocate;
mod mail;
mod part;
mod state;
mod step;
mod wheel;

use part::Part;

/// \[flit hops\] Number of flit hops in a cycle from which on it pays to wake the threads.
const HOPS_WORTH_THREADS: u64 = 160;

/// Text of the panic if a caller reads the state of a network that is not [settled](Network::settle).
const UNSETTLED: &str = "a network is settled before its state is read";

/// An empty network, simulated by `threads` threads (1 to [`MAX_THREADS`]), but by at most one for each router. The
/// results do not depend on `threads`.
///
/// # Errors
/// Settings that are out of range or do not fit the topology, and routings that are not free of deadlock, unless
/// [`Params::unsafe_routing`].
pub fn build(topology: &dyn Topology, params: Params, threads: usize) -> Result<Box<dyn Detailed>, BuildError> {
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
) -> Result<Box<dyn Detailed>, BuildError> {
    let (wiring, routes) = crate::prepare(topology, &params)?;
    let threads = threads.min(MAX_THREADS);
    // Sizes for which the compiler makes code of their own.
    macro_rules! network {
        ($ports:literal, $vcs:literal) => {
            Box::new(Fast::<$ports, $vcs>::new(&params, wiring, routes, threads, worth))
        };
    }
    Ok(match (wiring.ports, params.vcs) {
        (..=8, ..=2) => network!(8, 2),
        (..=8, ..=4) => network!(8, 4),
        (..=8, ..=8) => network!(8, 8),
        (..=16, ..=4) => network!(16, 4),
        (..=16, ..) => network!(16, 32),
        (_, ..=4) => network!(64, 4),
        _ => network!(64, 32),
    })
}

/// The engine that visits what can move, for routers of at most `P` ports of `V` VCs.
#[derive(Debug)]
struct Fast<const P: usize, const V: usize> {
    /// \[cycles\] Time without any movement of a flit after which the network counts as being in deadlock.
    watchdog_cycles: u64,
    /// Number of VCs of each port.
    vcs: usize,
    wiring: Arc<Wiring>,
    /// The present cycle.
    clock: u64,
    /// The ranges of routers of the parts.
    division: Division,
    /// The parts in the order of their routers; while threads are at work, only the part of the caller's thread.
    parts: Vec<Box<Part<P, V>>>,
    /// By endpoint: its part, and its number in that part.
    places: Vec<(u32, u32)>,
    /// By part: messages that its endpoints receive in the next cycle.
    accepted: Vec<Vec<Unsent>>,
    /// The threads; `None` if there is one only.
    pool: Option<Pool<Part<P, V>, Report>>,
    /// \[flit hops\] Number in the last cycle from which on threads are woken in this one.
    worth: u64,
    /// \[flit hops\] Number so far.
    flit_hops: u64,
    /// By worker: an emptied report of the beginning of a cycle, kept to reuse its memory.
    begun: Vec<Report>,
    /// A cycle whose notices have been given and whose remainder is still in progress.
    unfinished: Option<u64>,
    /// Messages in flight, and statistics.
    whole: Whole,
    /// \[cycle\] The last cycle in which a flit has moved, or a message has entered an empty network.
    last_moved: u64,
}

impl<const P: usize, const V: usize> Fast<P, V> {
    fn new(params: &Params, wiring: Wiring, routes: Routes, threads: usize, worth: u64) -> Self {
        let division = Division::new(wiring.routers, threads, true);
        let mut endpoints = vec![Vec::new(); division.parts];
        let place = |endpoint: usize| {
            let part = division.part_of(wiring.home(endpoint).0);
            endpoints[part].push(endpoint as u32);
            (part as u32, endpoints[part].len() as u32 - 1)
        };
        let places = (0..wiring.endpoints).map(place).collect();
        let whole = Whole::new(params, wiring.endpoints);
        let (wiring, routes) = (Arc::new(wiring), Arc::new(routes));
        let part = |(part, endpoints)| Box::new(Part::new(params, &wiring, &routes, (division, part), endpoints));
        let parts: Vec<_> = endpoints.into_iter().enumerate().map(part).collect();
        let work = Work { begin: Part::begin_cycle_apart, end: Part::end_cycle };
        Self {
            watchdog_cycles: params.watchdog_cycles,
            vcs: params.vcs,
            clock: Cycle::FIRST.0,
            division,
            places,
            accepted: vec![Vec::new(); parts.len()],
            pool: (parts.len() > 1).then(|| Pool::new(parts.len() - 1, work)),
            parts,
            worth,
            flit_hops: 0,
            begun: Vec::new(),
            unfinished: None,
            whole,
            last_moved: 0,
            wiring,
        }
    }

    /// Simulates the cycle at which the clock stands, or as much of it as its notices need.
    fn step(&mut self, notices: &mut Notices) {
        let now = self.clock;
        for (part, accepted) in self.parts.iter_mut().zip(&mut self.accepted) {
            part.clock = now;
            std::mem::swap(&mut part.accepted, accepted);
        }
        if let Some(pool) = &self.pool {
            let hops = self.parts.iter().map(|part| part.flit_hops).sum();
            if hops - std::mem::replace(&mut self.flit_hops, hops) >= self.worth {
                let kept = self.parts.len() - pool.len();
                self.parts.drain(kept..).enumerate().for_each(|(worker, part)| pool.give(worker, part));
            }
        }
        self.parts.iter_mut().for_each(|part| part.begin_cycle());
        // The watchdog cannot fire in this cycle, whatever its remainder does.
        let is_watched_over = now.saturating_sub(self.last_moved) < self.watchdog_cycles;
        let goes_on = self.parts.len() < self.division.parts && is_watched_over;
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
        sort(notices);
    }

    /// Completes cycle `now`.
    fn finish(&mut self, now: u64, notices: &mut Notices) {
        self.parts.iter_mut().for_each(|part| part.end_cycle());
        let workers = self.division.parts - self.parts.len();
        if let Some(pool) = &self.pool {
            self.parts.extend((0..workers).map(|worker| pool.fetch(worker)));
        }
        self.read_own_reports(now, notices);
        let kept = self.parts.len() - workers;
        for (part, empty) in self.parts[kept..].iter_mut().zip(self.begun.drain(..)) {
            part.ends.report = empty;
        }
        for to in 1..self.parts.len() {
            let (before, after) = self.parts.split_at_mut(to);
            let here = &mut after[0];
            for (from, there) in before.iter_mut().enumerate() {
                std::mem::swap(&mut there.outbox[to], &mut here.inbox[from]);
                std::mem::swap(&mut here.outbox[from], &mut there.inbox[to]);
            }
        }
        let moved = self.parts.iter().map(|part| part.last_moved).max();
        self.last_moved = self.last_moved.max(moved.unwrap_or(0));
    }

    /// Reads the reports of the parts on the caller's thread.
    fn read_own_reports(&mut self, now: u64, notices: &mut Notices) {
        for part in &mut self.parts {
            self.whole.read(&mut part.ends.report, now, notices);
        }
    }

    /// The next cycle in which something happens, from the clock on.
    fn next_event(&self) -> Option<u64> {
        if self.accepted.iter().any(|messages| !messages.is_empty()) {
            return Some(self.clock);
        }
        self.parts.iter().filter_map(|part| part.next_event(self.clock)).min()
    }

    /// The part of a router. All parts must be on the caller's thread.
    fn part_of(&self, router: usize) -> &Part<P, V> {
        &self.parts[self.division.part_of(router)]
    }

    /// The report of a deadlock, with a cycle of buffers that wait for each other.
    fn deadlock(&self) -> Deadlock {
        let first = self.parts.iter().find_map(|part| part.first_waiting());
        let cycle: Vec<Place> = cyclic_wait(first, |place| self.part_of(place.0).waits_for(place));
        let channel = |(router, vc): Place| self.wiring.input(router, vc / self.vcs, vc % self.vcs);
        Deadlock {
            since: Cycle(self.last_moved),
            in_flight: self.whole.in_flight,
            cycle: cycle.into_iter().map(channel).collect(),
        }
    }
}

impl<const P: usize, const V: usize> Network for Fast<P, V> {
    fn nodes(&self) -> usize {
        self.wiring.endpoints
    }

    fn clock(&self) -> Cycle {
        Cycle(self.clock)
    }

    fn inject(&mut self, message: Message) -> Injected {
        if self.whole.in_flight == 0 {
            self.last_moved = self.last_moved.max(self.clock);
        }
        let (part, endpoint) = self.places[message.source.index()];
        self.accepted[part as usize].push(self.whole.inject(&message, endpoint, self.clock));
        Injected::Accepted
    }

    fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        notices.clear();
        let mut steps = 0;
        while self.clock < until.0 {
            self.settle();
            let has_packets = self.whole.in_flight > 0;
            let limit = if has_packets { self.last_moved.saturating_add(self.watchdog_cycles) } else { u64::MAX };
            let next = self.next_event().unwrap_or(u64::MAX).min(limit.max(self.clock)).min(until.0);
            if next > self.clock {
                self.clock = next;
                continue;
            }
            self.step(notices);
            let is_over = self.unfinished.is_none();
            let is_stuck = is_over && self.clock.saturating_sub(self.last_moved) >= self.watchdog_cycles;
            self.clock += 1;
            if is_stuck && self.whole.in_flight > 0 {
                return Err(self.deadlock().into());
            }
            steps += 1;
            if !notices.is_empty() || steps >= STEPS {
                break;
            }
        }
        Ok(())
    }

    fn settle(&mut self) {
        if let Some(cycle) = self.unfinished.take() {
            // The source has all reports of that cycle that it needs.
            self.finish(cycle, &mut Notices::default());
        }
    }

    fn measures(&self) -> Vec<(&'static Measure, f64)> {
        self.details().measures(self.recorder().totals().received)
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
            part.crossed.resize(part.routers.all.len() * self.wiring.ports, 0);
        }
    }
}

impl<const P: usize, const V: usize> Detailed for Fast<P, V> {
    fn details(&self) -> Details {
        assert!(self.unfinished.is_none(), "{UNSETTLED}");
        let mut details = Details { stages: self.whole.stages, occupancy: vec![0; self.vcs], ..Details::default() };
        self.parts.iter().for_each(|part| part.count(self.clock, &mut details));
        details
    }
}

impl<const P: usize, const V: usize> View for Fast<P, V> {
    fn occupancy(&self, into: &mut Occupancy) {
        let flits = |router: usize, port: usize| {
            let part = self.part_of(router);
            part.flits(router - part.first, port)
        };
        let crossed: Vec<u64> = self.parts.iter().flat_map(|part| &part.crossed).copied().collect();
        self.wiring.show(flits, &crossed, into);
        let waiting = |&(part, number): &(u32, u32)| {
            let ends = &self.parts[part as usize].ends;
            let accepted = self.accepted[part as usize].iter().filter(|unsent| unsent.endpoint == number);
            ends.waiting(number as usize) + accepted.map(|unsent| ends.packets_of(unsent)).sum::<u64>()
        };
        into.waiting.extend(self.places.iter().map(waiting));
    }
}
