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
//! Stalls are counted when they end, as the number of steps since they began.
//!
//! # Agreement
//! The [reference engine](crate::reference) defines every result; property tests hold that digests and all statistics
//! are equal, bit for bit.

use std::collections::VecDeque;

use fsin_core::network::{Deadlock, Injected, Measure, Network, NetworkFailure, Notices};
use fsin_core::stats::Recorder;
use fsin_core::topology::Topology;
use fsin_core::view::{Occupancy, View};
use trgen::{Cycle, Message};

use crate::Detailed;
use crate::params::{Hold, Params};
use crate::rules::details::{Details, Stalls};
use crate::rules::interface::{Endpoints, sort};
use crate::rules::routes::{BuildError, ByKey, Candidate, Routes};
use crate::rules::wiring::{End, Wiring};
use fsin_core::wait::{Place, cyclic_wait};

mod allocate;
mod state;
mod step;
mod wheel;

use allocate::Scratch;
use state::{ENDPOINT, Input, NOBODY, Routers, State, is_by_masks, pack, unpack};
use wheel::{Set, Wheel, bits};

/// An empty network.
///
/// # Errors
/// Settings that are out of range or do not fit the topology, and routings that are not free of deadlock, unless
/// [`Params::unsafe_routing`].
pub fn build(topology: &dyn Topology, params: Params) -> Result<Box<dyn Detailed>, BuildError> {
    let (wiring, routes) = crate::prepare(topology, &params)?;
    // Sizes for which the compiler makes code of their own.
    Ok(match (wiring.ports, params.vcs) {
        (..=8, ..=2) => Box::new(Fast::<8, 2>::new(params, wiring, routes)),
        (..=8, ..=4) => Box::new(Fast::<8, 4>::new(params, wiring, routes)),
        (..=8, ..=8) => Box::new(Fast::<8, 8>::new(params, wiring, routes)),
        (..=16, ..=4) => Box::new(Fast::<16, 4>::new(params, wiring, routes)),
        (..=16, ..) => Box::new(Fast::<16, 32>::new(params, wiring, routes)),
        (_, ..=4) => Box::new(Fast::<64, 4>::new(params, wiring, routes)),
        _ => Box::new(Fast::<64, 32>::new(params, wiring, routes)),
    })
}

/// The engine that visits what can move, for routers of at most `P` ports of `V` VCs.
#[derive(Debug)]
struct Fast<const P: usize, const V: usize> {
    params: Params,
    wiring: Wiring,
    routes: Routes,
    clock: u64,
    routers: Routers<P, V>,
    ends: Endpoints,
    /// Sources that may be able to send.
    sources: Set,
    /// Input VC or endpoint, flit.
    arrivals: Wheel<(u32, u32)>,
    /// Output VC; or [`ENDPOINT`] and its number x V + VC.
    credits: Wheel<u32>,
    /// By step: input VCs whose front may go on.
    timers: Wheel<u32>,
    stalls: Stalls,
    flit_hops: u64,
    /// By VC: sum of the cycles in which flits left buffers, less those in which they came.
    occupancy: [u64; V],
    /// One step a cycle.
    is_in_step: bool,
    last_moved: u64,
    /// \[packets\] By router and output port; empty while nobody looks.
    crossed: Vec<u64>,
    /// By router and output port, where the queues of outputs are bounded: the steps after which flits come, and the
    /// cycles in which they leave.
    queued: Vec<VecDeque<(u64, u64)>>,
    /// \[steps\] From a head's coming to the front to the first step in which it can be given an output VC.
    head_delay: u64,
    /// What a head requests depends on the state of its router.
    is_adaptive: bool,
    /// Flit by flit, allocators by masks, queues of outputs without bound: a lone request needs no matching.
    is_plain: bool,
    /// Besides, one step a cycle, and flits request the switch in the step of their arrival.
    is_lean: bool,
    /// Which VCs are available depends on credits.
    heeds_credits: bool,
    scratch: Scratch,
}

impl<const P: usize, const V: usize> Fast<P, V> {
    fn new(params: Params, wiring: Wiring, routes: Routes) -> Self {
        // Each flit in the queue of an output holds one of its credits, and each credit that waits to be sent is a free
        // slot of the buffers of its port.
        let slots = u64::from(params.buffer) * params.vcs as u64;
        let queue = if params.speedup.is_one() { 0 } else { slots };
        let link = u64::from(wiring.longest().max(1)) + 1;
        let longest = u64::from(params.traverse_delay) + queue + link;
        let stages = params.head_delay() + u64::from(params.switch_alloc_delay) + 2;
        let is_adaptive = routes.is_adaptive() || routes.decides();
        let routers = Routers::new(&params, &wiring);
        let queues = if params.output_queue.is_some() { wiring.routers * P } else { 0 };
        let is_lean = params.speedup.is_one() && params.switch_alloc_delay == 1;
        let by_masks = is_by_masks(params.vc_allocator) && is_by_masks(params.switch_allocator);
        Self {
            clock: Cycle::FIRST.0,
            routers,
            ends: Endpoints::new(&params, wiring.endpoints, wiring.links_of_endpoint()),
            sources: Set::new(wiring.endpoints),
            arrivals: Wheel::new(longest),
            credits: Wheel::new(longest + link + u64::from(params.credit_delay)),
            timers: Wheel::new(stages),
            stalls: Stalls::default(),
            flit_hops: 0,
            occupancy: [0; V],
            is_in_step: params.speedup.is_one(),
            last_moved: 0,
            crossed: Vec::new(),
            queued: vec![VecDeque::new(); queues],
            head_delay: params.head_delay(),
            is_adaptive,
            is_plain: by_masks && params.hold == Hold::Flit && params.output_queue.is_none(),
            is_lean,
            heeds_credits: is_adaptive || params.wait_for_tail_credit || params.vc_busy_when_full,
            scratch: Scratch::new(wiring.ports),
            params,
            wiring,
            routes,
        }
    }

    /// Stalls, those included that have not ended.
    fn stalls_so_far(&self) -> Stalls {
        let step = self.params.speedup.before(self.clock);
        let mut stalls = self.stalls;
        for (at, (input, port)) in self.routers.inputs().enumerate() {
            let lasts = step.saturating_sub(input.since);
            let (vc, requests) = (at % V, port.requests);
            match input.state {
                State::NeedsVc => stalls.no_vc += lasts,
                State::Active if input.len > 0 && requests >> vc & 1 != 0 => stalls.lost_switch += lasts,
                State::Active if input.len > 0 => stalls.no_credit += lasts,
                _ => {}
            }
        }
        stalls
    }

    /// One cycle.
    fn cycle(&mut self, notices: &mut Notices) {
        let now = self.clock;
        let steps = self.params.speedup.before(now)..self.params.speedup.before(now + 1);
        let due = self.arrivals.take(now);
        for &(target, flit) in &due {
            if target & ENDPOINT != 0 {
                self.ends.receive(unpack(flit), now, notices);
            } else {
                self.arrive(target as usize, flit, steps.start);
            }
        }
        self.arrivals.restore(now, due);
        let due = self.credits.take(now);
        for &target in &due {
            if target & ENDPOINT != 0 {
                let (endpoint, vc) = self.routers.split((target & !ENDPOINT) as usize);
                self.ends.credit(endpoint, vc);
                self.sources.insert(endpoint);
            } else {
                self.credit(target as usize, steps.start);
            }
        }
        self.credits.restore(now, due);
        self.inject_flits(notices);
        for step in steps {
            let due = self.timers.take(step);
            for &input in &due {
                self.wake(input as usize, step);
            }
            self.timers.restore(step, due);
            for word in 0..self.routers.active.words() {
                for bit in bits(self.routers.active.word(word)) {
                    self.step(word * 64 + bit, step);
                }
            }
        }
        sort(notices);
    }

    fn inject_flits(&mut self, notices: &mut Notices) {
        let now = self.clock;
        for word in 0..self.sources.words() {
            for bit in bits(self.sources.word(word)) {
                let endpoint = word * 64 + bit;
                let sent = self.ends.send(endpoint, now, notices);
                if let Some((flit, vc)) = sent {
                    let (router, port) = self.wiring.home(endpoint);
                    let due = now + u64::from(self.wiring.back(router, port).delay) + 1;
                    let first = self.routers.first_vc(router * P + port);
                    let target = first + usize::from(vc);
                    self.arrivals.add(due, (target as u32, pack(flit)));
                    self.last_moved = self.last_moved.max(due);
                }
                if sent.is_none() || !self.ends.has_flits(endpoint) {
                    self.sources.remove(endpoint);
                }
            }
        }
    }

    /// A flit enters its buffer.
    #[inline]
    fn arrive(&mut self, input: usize, flit: u32, step: u64) {
        let now = self.clock;
        let routers = &mut self.routers;
        let router = routers.router_of(input);
        let this = &mut routers.all[router];
        let own = this.input_mut(input);
        let Input { first, len, state, output, .. } = *own;
        own.len = len + 1;
        if len == 0 {
            own.since = step;
        }
        let has_credit = this.output(output.into()).credits > 0;
        let place = routers.place(input, first.wrapping_add(len));
        routers.flits[place] = flit;
        let waiting = &mut self.occupancy[input % V];
        *waiting = waiting.wrapping_sub(now);
        let is_pipelined = !routers.ready.is_empty();
        if is_pipelined {
            routers.ready[place] = step + u64::from(self.params.switch_alloc_delay) - 1;
        }
        let flit = unpack(flit);
        if flit.is_head {
            let packet = &mut self.ends.packets[flit.packet];
            packet.link_cycles += packet.lap(now);
        }
        match state {
            State::Idle => self.begin(input, flit.packet, step, step),
            State::Active if len == 0 && is_pipelined => self.stand(input, step),
            State::Active if len == 0 && has_credit => routers.request(input),
            _ => {}
        }
    }

    /// The head of a packet has come to the front of an input VC, and enters its first stage in step `from`; `next` is
    /// the next step.
    #[inline(always)]
    fn begin(&mut self, input: usize, packet: u32, from: u64, next: u64) {
        let from = from + self.head_delay;
        let router = self.routers.router_of(input);
        let this = self.routers.input_mut(input);
        this.state = State::NeedsVc;
        this.since = from;
        if !self.is_adaptive {
            let packet = &self.ends.packets[packet];
            let head = packet.head();
            let draw = &mut ByKey(packet.key);
            let Candidate { port, vcs, .. } = self.routes.only(router, &head, draw, &mut self.scratch.candidates);
            (this.port, this.vcs) = (port, vcs);
        }
        if from <= next {
            self.routers.need(input);
        } else {
            self.timers.add(from, input as u32);
        }
    }

    /// A flit has come to the front of an input VC that has an output VC; `next` is the next step.
    #[inline]
    fn stand(&mut self, input: usize, next: u64) {
        let routers = &mut self.routers;
        let place = routers.place(input, routers.input(input).first);
        let ready = routers.ready.get(place).copied().unwrap_or(next);
        let router = routers.router_of(input);
        let router = &mut routers.all[router];
        let this = router.input_mut(input);
        if ready > next {
            this.state = State::Later;
            this.since = ready;
            router.request_no_more(input);
            self.timers.add(ready, input as u32);
            return;
        }
        this.since = next;
        self.ask(input);
    }

    /// The front of an input VC requests the switch, if its output VC has a credit.
    #[inline]
    fn ask(&mut self, input: usize) {
        let routers = &mut self.routers;
        let router = routers.router_of(input);
        let this = &mut routers.all[router];
        if this.output(this.input(input).output.into()).credits > 0 {
            routers.request(input);
        } else {
            this.request_no_more(input);
        }
    }

    /// A timer has gone off.
    fn wake(&mut self, input: usize, step: u64) {
        let this = self.routers.input_mut(input);
        match this.state {
            State::NeedsVc => self.routers.need(input),
            _ => {
                (this.state, this.since) = (State::Active, step);
                self.ask(input);
            }
        }
    }

    /// A credit has come back.
    #[inline]
    fn credit(&mut self, output: usize, step: u64) {
        let routers = &mut self.routers;
        let router = routers.router_of(output);
        let this = &mut routers.all[router];
        let has_needs = this.needs != 0;
        let out = this.output_mut(output);
        out.credits += 1;
        let (credits, owner) = (out.credits, out.owner);
        if credits == 1 && owner != NOBODY {
            let input = usize::from(owner);
            let owner = this.input_mut(input);
            if owner.state == State::Active && owner.len > 0 {
                self.stalls.no_credit += step - owner.since;
                owner.since = step;
                routers.request(routers.base(router) + input);
            }
        }
        if self.heeds_credits && has_needs {
            routers.active.insert(router);
        }
    }

    /// The next cycle in which something happens, from the clock on.
    fn next_event(&self) -> Option<u64> {
        if !self.routers.active.is_empty() || !self.sources.is_empty() || !self.timers.is_empty() {
            return Some(self.clock);
        }
        let (flits, credits) = (self.arrivals.next(self.clock), self.credits.next(self.clock));
        flits.into_iter().chain(credits).min()
    }

    fn waits_for(&self, (router, input): Place) -> Option<Place> {
        let vcs = self.params.vcs;
        let at = self.routers.base(router) + self.routers.padded(input);
        let this = self.routers.input(at);
        let (port, vc) = match this.state {
            _ if this.len == 0 => return None,
            State::Active | State::Later => self.routers.split(this.output.into()),
            _ => {
                let packet = &self.ends.packets[self.routers.front(at).packet];
                let head = packet.head();
                let mut candidates = Vec::new();
                self.routes.candidates(router, &head, &mut ByKey(packet.key), &mut candidates);
                let last = candidates.last()?;
                (usize::from(last.port), last.vcs.trailing_zeros() as usize)
            }
        };
        match self.wiring.out(router, port).end {
            End::Router { router, port } => Some((router as usize, usize::from(port) * vcs + vc)),
            _ => None,
        }
    }

    fn deadlock(&self) -> Deadlock {
        let vcs = self.params.vcs;
        let first = self.routers.inputs().position(|(input, _)| input.len > 0);
        let first = first.map(|at| {
            let router = self.routers.router_of(at);
            (router, self.routers.plain(at - self.routers.base(router)))
        });
        let cycle = cyclic_wait(first, |place| self.waits_for(place));
        Deadlock {
            since: Cycle(self.last_moved),
            in_flight: self.ends.in_flight,
            cycle: cycle.into_iter().map(|(router, vc)| self.wiring.input(router, vc / vcs, vc % vcs)).collect(),
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
        if self.ends.in_flight == 0 {
            self.last_moved = self.last_moved.max(self.clock);
        }
        self.sources.insert(message.source.index());
        self.ends.inject(message, self.clock)
    }

    fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        notices.clear();
        while self.clock < until.0 {
            let has_packets = self.ends.in_flight > 0;
            let limit =
                if has_packets { self.last_moved.saturating_add(self.params.watchdog_cycles) } else { u64::MAX };
            let next = self.next_event().unwrap_or(u64::MAX).min(limit.max(self.clock)).min(until.0);
            if next > self.clock {
                self.clock = next;
                continue;
            }
            self.cycle(notices);
            let is_stuck = self.clock.saturating_sub(self.last_moved) >= self.params.watchdog_cycles;
            self.clock += 1;
            if is_stuck && self.ends.in_flight > 0 {
                return Err(self.deadlock().into());
            }
            if !notices.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn measures(&self) -> Vec<(&'static Measure, f64)> {
        self.details().measures(self.recorder().totals().received)
    }

    fn in_flight(&self) -> u64 {
        self.ends.in_flight
    }

    fn recorder(&self) -> &Recorder {
        &self.ends.recorder
    }

    fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.ends.recorder
    }

    fn view(&self) -> Option<&dyn View> {
        Some(self)
    }

    fn observe(&mut self) {
        self.ends.recorder.observe();
        self.crossed.resize(self.wiring.routers * self.wiring.ports, 0);
    }
}

impl<const P: usize, const V: usize> Detailed for Fast<P, V> {
    fn details(&self) -> Details {
        let now = self.clock;
        Details {
            stalls: self.stalls_so_far(),
            stages: self.ends.stages,
            flits_sent: self.ends.flits_sent,
            flits_received: self.ends.flits_received,
            flit_hops: self.flit_hops,
            occupancy: (0..self.params.vcs)
                .map(|vc| {
                    let buffers = self.routers.inputs().skip(vc).step_by(V);
                    let flits: u64 = buffers.map(|(input, _)| u64::from(input.len)).sum();
                    self.occupancy[vc].wrapping_add(flits.wrapping_mul(now))
                })
                .collect(),
        }
    }
}

impl<const P: usize, const V: usize> View for Fast<P, V> {
    fn occupancy(&self, into: &mut Occupancy) {
        let flits = |router: usize, port: usize| {
            self.routers.all[router].inputs[port].iter().map(|input| u32::from(input.len)).sum()
        };
        self.wiring.show(flits, &self.crossed, into);
        into.waiting.extend((0..self.wiring.endpoints).map(|endpoint| self.ends.waiting(endpoint)));
    }
}
