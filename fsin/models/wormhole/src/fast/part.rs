//! A part of a network: consecutive routers, their endpoints, and the simulation of one cycle of them.
//!
//! Decision: docs/decisions/0095-threads.md.

use std::collections::VecDeque;
use std::sync::Arc;

use fsin_core::parallel::Division;
use fsin_core::wait::Place;
use trgen::Cycle;

use super::allocate::Scratch;
use super::mail::Mail;
use super::state::{ABROAD, ENDPOINT, Input, NO_FLIT, NOBODY, Routers, State, is_by_masks, pack, unpack};
use super::wheel::{Set, Wheel, bits};
use crate::params::{Hold, Params};
use crate::rules::details::{Details, Stalls};
use crate::rules::interface::{Endpoints, Unsent};
use crate::rules::routes::{ByKey, Candidate, Routes};
use crate::rules::whole::Report;
use crate::rules::wiring::{End, Wiring};

/// Consecutive routers of at most `P` ports of `V` VCs, and all their state. Routers and endpoints have local numbers,
/// from 0.
#[derive(Debug)]
pub(super) struct Part<const P: usize, const V: usize> {
    pub(super) params: Params,
    pub(super) wiring: Arc<Wiring>,
    pub(super) routes: Arc<Routes>,
    division: Division,
    /// The number of the first router.
    pub(super) first: usize,
    pub(super) clock: u64,
    pub(super) routers: Routers<P, V>,
    pub(super) ends: Endpoints,
    /// Messages that have been accepted since the last cycle.
    pub(super) accepted: Vec<Unsent>,
    /// By endpoint: the first input VC that its flits go to, and the cycles that they take.
    homes: Vec<(u32, u32)>,
    /// Sources that may be able to send.
    sources: Set,
    /// Input VC, endpoint or input VC elsewhere; flit.
    pub(super) arrivals: Wheel<(u32, u32)>,
    /// Output VC; [`ENDPOINT`] and its number x V + VC; or [`ABROAD`] and an output VC elsewhere.
    pub(super) credits: Wheel<u32>,
    /// By step: input VCs whose front may go on.
    pub(super) timers: Wheel<u32>,
    /// By part: what comes from it, and what goes to it.
    pub(super) inbox: Vec<Mail>,
    pub(super) outbox: Vec<Mail>,
    /// By input VC: the packet whose flits come from another part; empty without other parts.
    coming: Vec<u32>,
    pub(super) stalls: Stalls,
    pub(super) flit_hops: u64,
    /// By VC: sum of the cycles in which flits left buffers, less those in which they came.
    pub(super) occupancy: [u64; V],
    /// One step a cycle.
    pub(super) is_in_step: bool,
    pub(super) last_moved: u64,
    /// \[packets\] By router and output port; empty unless the loads of links are observed.
    pub(super) crossed: Vec<u64>,
    /// By router and output port, where the queues of outputs are bounded: the steps after which flits come, and the
    /// cycles in which they leave.
    pub(super) queued: Vec<VecDeque<(u64, u64)>>,
    /// \[steps\] From a head's coming to the front to the first step in which it can be given an output VC.
    head_delay: u64,
    /// What a head requests depends on the state of its router.
    pub(super) is_adaptive: bool,
    /// Flit by flit, allocators by masks, queues of outputs without bound: a lone request needs no matching.
    pub(super) is_plain: bool,
    /// Besides, one step a cycle, and flits request the switch in the step of their arrival.
    pub(super) is_lean: bool,
    /// Both.
    is_direct: bool,
    /// Which VCs are available depends on credits.
    pub(super) heeds_credits: bool,
    pub(super) scratch: Scratch,
}

impl<const P: usize, const V: usize> Part<P, V> {
    /// Part number `part`; `endpoints` are the numbers of its endpoints.
    pub(super) fn new(
        params: &Params,
        wiring: &Arc<Wiring>,
        routes: &Arc<Routes>,
        (division, part): (Division, usize),
        endpoints: Vec<u32>,
    ) -> Self {
        let (first, count) = (division.first_of(part), division.size_of(part));
        let locals = first..first + count;
        // Each flit in the queue of an output holds one of its credits, and each credit that waits to be sent is a free
        // slot of the buffers of its port.
        let slots = u64::from(params.buffer) * params.vcs as u64;
        let queue = if params.speedup.is_one() { 0 } else { slots };
        let link = u64::from(wiring.longest().max(1)) + 1;
        let longest = u64::from(params.traverse_delay) + queue + link;
        let stages = params.head_delay() + u64::from(params.switch_alloc_delay) + 2;
        let is_adaptive = routes.is_adaptive() || routes.decides();
        let routers = Routers::new(params, wiring, &locals, &endpoints);
        let queues = if params.output_queue.is_some() { count * P } else { 0 };
        let by_masks = is_by_masks(params.vc_allocator) && is_by_masks(params.switch_allocator);
        let is_plain = by_masks && params.hold == Hold::Flit && params.output_queue.is_none();
        let is_lean = params.speedup.is_one() && params.switch_alloc_delay == 1;
        let home = |&endpoint: &u32| {
            let (router, port) = wiring.home(endpoint as usize);
            let target = ((router - first) * P + port) * V;
            (target as u32, wiring.back(router, port).delay + 1)
        };
        let mail = || (0..division.parts).map(|_| Mail::default()).collect();
        Self {
            division,
            first,
            clock: Cycle::FIRST.0,
            routers,
            accepted: Vec::new(),
            homes: endpoints.iter().map(home).collect(),
            sources: Set::new(endpoints.len()),
            arrivals: Wheel::new(longest),
            credits: Wheel::new(longest + link + u64::from(params.credit_delay)),
            timers: Wheel::new(stages),
            inbox: mail(),
            outbox: mail(),
            coming: vec![0; if division.parts > 1 { count * P * V } else { 0 }],
            stalls: Stalls::default(),
            flit_hops: 0,
            occupancy: [0; V],
            is_in_step: params.speedup.is_one(),
            last_moved: 0,
            crossed: Vec::new(),
            queued: vec![VecDeque::new(); queues],
            head_delay: params.head_delay(),
            is_adaptive,
            is_plain,
            is_lean,
            is_direct: is_plain && is_lean,
            heeds_credits: is_adaptive || params.wait_for_tail_credit || params.vc_busy_when_full,
            scratch: Scratch::new(wiring.ports),
            ends: Endpoints::new(params, endpoints, wiring.links_of_endpoint()),
            params: params.clone(),
            wiring: Arc::clone(wiring),
            routes: Arc::clone(routes),
        }
    }

    /// The part of a cycle that sources must know before the next one: flits and credits that are due, and sources that
    /// send.
    pub(super) fn begin_cycle(&mut self) {
        let now = self.clock;
        let step = self.params.speedup.before(now);
        for unsent in self.accepted.drain(..) {
            self.sources.insert(unsent.endpoint as usize);
            self.ends.accept(unsent);
        }
        let due = self.arrivals.take(now);
        for &(target, flit) in &due {
            if target & ENDPOINT == 0 {
                self.arrive(target as usize, flit, step);
            } else if target & ABROAD == ENDPOINT {
                self.ends.receive(unpack(flit), now);
            } else {
                self.post(target & !ABROAD, flit);
            }
        }
        self.arrivals.restore(now, due);
        self.open_flits(step);
        let due = self.credits.take(now);
        for &target in &due {
            if target & ENDPOINT == 0 {
                self.credit(target as usize, step);
            } else if target & ABROAD == ENDPOINT {
                let (endpoint, vc) = self.routers.split((target & !ENDPOINT) as usize);
                self.ends.credit(endpoint, vc);
                self.sources.insert(endpoint);
            } else {
                let (part, output) = self.elsewhere(target & !ABROAD);
                self.outbox[part].credits.push(output);
            }
        }
        self.credits.restore(now, due);
        self.open_credits(step);
        self.inject_flits();
    }

    /// The same; returns the report of the endpoints.
    pub(super) fn begin_cycle_apart(&mut self) -> Report {
        self.begin_cycle();
        std::mem::take(&mut self.ends.report)
    }

    /// The rest of the cycle: steps of the routers.
    pub(super) fn end_cycle(&mut self) {
        let now = self.clock;
        for step in self.params.speedup.before(now)..self.params.speedup.before(now + 1) {
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
    }

    /// The part of a VC elsewhere, and its number there.
    fn elsewhere(&self, vc: u32) -> (usize, u32) {
        let part = self.division.part_of(self.routers.router_of(vc as usize));
        (part, vc - self.routers.base(self.division.first_of(part)) as u32)
    }

    /// A flit leaves for another part, where it is due in the next cycle. The first one takes its packet along.
    fn post(&mut self, target: u32, flit: u32) {
        let (part, input) = self.elsewhere(target);
        let (mail, flit) = (&mut self.outbox[part], unpack(flit));
        if flit.is_head {
            mail.packets.push(self.ends.packets[flit.packet]);
        }
        if flit.is_tail {
            self.ends.packets.release(flit.packet);
        }
        mail.flits.push((input, flit));
    }

    /// Flits that come from other parts enter their buffers.
    fn open_flits(&mut self, step: u64) {
        for from in 0..self.inbox.len() {
            if self.inbox[from].flits.is_empty() {
                continue;
            }
            self.last_moved = self.last_moved.max(self.clock);
            let mut mail = std::mem::take(&mut self.inbox[from]);
            let mut packets = mail.packets.drain(..);
            for (input, mut flit) in mail.flits.drain(..) {
                let coming = &mut self.coming[input as usize];
                if let Some(packet) = if flit.is_head { packets.next() } else { None } {
                    *coming = self.ends.packets.store(packet);
                }
                flit.packet = *coming;
                self.arrive(input as usize, pack(flit), step);
            }
            drop(packets);
            self.inbox[from] = mail;
        }
    }

    /// Credits that come from other parts are counted.
    fn open_credits(&mut self, step: u64) {
        for from in 0..self.inbox.len() {
            let mut credits = std::mem::take(&mut self.inbox[from].credits);
            credits.drain(..).for_each(|output| self.credit(output as usize, step));
            self.inbox[from].credits = credits;
        }
    }

    fn inject_flits(&mut self) {
        let now = self.clock;
        for word in 0..self.sources.words() {
            for bit in bits(self.sources.word(word)) {
                let endpoint = word * 64 + bit;
                let sent = self.ends.send(endpoint, now);
                if let Some((flit, vc)) = sent {
                    let (first, delay) = self.homes[endpoint];
                    let due = now + u64::from(delay);
                    self.arrivals.add(due, (first + u32::from(vc), pack(flit)));
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
        if self.is_direct && len == 0 && state == State::Active && this.output(output.into()).credits > 0 {
            // It leaves in this cycle, unless another flit contends.
            this.in_ports[input / V % P].fresh = flit;
            routers.request(input);
            return;
        }
        let own = this.input_mut(input);
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

    /// Fresh flits of a router enter their buffers: there are others that contend.
    pub(super) fn buffer_fresh(&mut self, router: usize, step: u64) {
        for port in bits(self.routers.all[router].requests) {
            let in_port = &mut self.routers.all[router].in_ports[port % P];
            let flit = std::mem::replace(&mut in_port.fresh, NO_FLIT);
            if flit == NO_FLIT {
                continue;
            }
            // Of the VCs that request the switch, one has an empty buffer.
            let requests = in_port.requests;
            let first = self.routers.first_vc(router * P + port);
            let is_empty = |vc: &usize| self.routers.input(first + vc).len == 0;
            let Some(vc) = bits(requests.into()).find(is_empty) else { continue };
            let place = self.routers.place(first + vc, self.routers.input(first + vc).first);
            self.routers.flits[place] = flit;
            let own = self.routers.input_mut(first + vc);
            (own.len, own.since) = (1, step);
            self.occupancy[vc] = self.occupancy[vc].wrapping_sub(self.clock);
        }
    }

    /// The head of a packet has come to the front of an input VC, and enters its first stage in step `from`; `next` is
    /// the next step.
    #[inline(always)]
    pub(super) fn begin(&mut self, input: usize, packet: u32, from: u64, next: u64) {
        let from = from + self.head_delay;
        let router = self.routers.router_of(input);
        let this = self.routers.input_mut(input);
        this.state = State::NeedsVc;
        this.since = from;
        if !self.is_adaptive {
            let packet = &self.ends.packets[packet];
            let head = packet.head();
            let draw = &mut ByKey(packet.key);
            let Candidate { port, vcs, .. } =
                self.routes.only(self.first + router, &head, draw, &mut self.scratch.candidates);
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
    pub(super) fn stand(&mut self, input: usize, next: u64) {
        let routers = &mut self.routers;
        let place = routers.place(input, routers.input(input).first);
        let ready = routers.ready.get(place).copied().unwrap_or(next);
        let router = routers.router_of(input);
        let router = &mut routers.all[router];
        let this = router.input_mut(input);
        if ready > next {
            this.state = State::Later;
            this.since = ready;
            router.withdraw_request(input);
            self.timers.add(ready, input as u32);
            return;
        }
        this.since = next;
        self.ask(input);
    }

    /// The front of an input VC requests the switch, if its output VC has a credit.
    #[inline]
    pub(super) fn ask(&mut self, input: usize) {
        let routers = &mut self.routers;
        let router = routers.router_of(input);
        let this = &mut routers.all[router];
        if this.output(this.input(input).output.into()).credits > 0 {
            routers.request(input);
        } else {
            this.withdraw_request(input);
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

    /// The next cycle in which something happens, from `now` on.
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        if !self.routers.active.is_empty() || !self.sources.is_empty() || !self.timers.is_empty() {
            return Some(now);
        }
        if !self.accepted.is_empty() || !self.inbox.iter().all(Mail::is_empty) {
            return Some(now);
        }
        let (flits, credits) = (self.arrivals.next(now), self.credits.next(now));
        flits.into_iter().chain(credits).min()
    }

    /// The first router, by its number in the network, and input VC with a flit.
    pub(super) fn first_waiting(&self) -> Option<Place> {
        let at = self.routers.inputs().position(|(input, _)| input.len > 0)?;
        let router = self.routers.router_of(at);
        Some((self.first + router, self.routers.plain(at - self.routers.base(router))))
    }

    /// What the front of an input VC waits for; routers by their numbers in the network.
    pub(super) fn waits_for(&self, (router, input): Place) -> Option<Place> {
        let vcs = self.params.vcs;
        let at = self.routers.base(router - self.first) + self.routers.padded(input);
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

    /// Adds what has been counted here until cycle `now`.
    pub(super) fn count(&self, now: u64, into: &mut Details) {
        into.stalls.add(&self.stalls_so_far(now));
        into.flits_sent += self.ends.flits_sent;
        into.flits_received += self.ends.flits_received;
        into.flit_hops += self.flit_hops;
        for (vc, sum) in into.occupancy.iter_mut().enumerate() {
            let buffers = self.routers.inputs().skip(vc).step_by(V);
            let flits: u64 = buffers.map(|(input, _)| u64::from(input.len)).sum();
            *sum = sum.wrapping_add(self.occupancy[vc]).wrapping_add(flits.wrapping_mul(now));
        }
    }

    /// Stalls, those included that have not ended.
    fn stalls_so_far(&self, now: u64) -> Stalls {
        let step = self.params.speedup.before(now);
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

    /// \[flits\] In the buffers of an input port.
    pub(super) fn flits(&self, router: usize, port: usize) -> u32 {
        self.routers.all[router].inputs[port].iter().map(|input| u32::from(input.len)).sum()
    }
}
