//! A part of a network: consecutive routers, their endpoints, and the simulation of one cycle of them.
//!
//! Decision: docs/decisions/0095-threads.md.

use std::collections::VecDeque;
use std::sync::Arc;

use fsin_core::parallel::{Division, Partition};
use fsin_core::ring::Ring;
use fsin_core::topology::switched::PacedLink;
use trgen::Cycle;

use super::allocate::Scratch;
use super::direct::{has_rare, is_in_step, is_lean, is_plain};
use super::mail::Mail;
use super::sets::{Set, bits};
use super::state::{ABROAD, ENDPOINT, Input, NO_FLIT, NO_VC, Routers, State, pack, unpack, uses_masks};
use crate::params::Params;
use crate::rules::batch::Batch;
use crate::rules::buffers::Pool;
use crate::rules::details::{Details, Stalls};
use crate::rules::interface::{Endpoints, Flit, Unsent};
use crate::rules::outages::Arriving;
use crate::rules::routes::{ByKey, Candidate, Routes};
use crate::rules::sinks::Sinks;
use crate::rules::whole::Report;
use crate::rules::wiring::Wiring;

/// Consecutive routers of at most `P` ports of `V` VCs, and all their state; all of it for a network that is or is not
/// [direct](super::direct::is_direct). Routers and endpoints have local numbers, from 0.
#[derive(Debug)]
pub(super) struct Part<const P: usize, const V: usize, const DIRECT: bool> {
    pub(super) params: Params,
    pub(super) wiring: Arc<Wiring>,
    pub(super) routes: Arc<Routes>,
    /// The ranges of routers of the parts.
    division: Division,
    /// Number of the part.
    number: usize,
    /// Number of the part's first router in the network.
    pub(super) first: usize,
    /// The present cycle.
    pub(super) clock: u64,
    pub(super) routers: Routers<P, V>,
    /// The endpoints of the part.
    pub(super) ends: Endpoints,
    /// Messages accepted since the last cycle.
    pub(super) accepted: Vec<Unsent>,
    /// By endpoint: the first input VC to which its flits go, and the cycles that they take.
    homes: Vec<(u32, u32)>,
    /// Endpoints that may be able to send.
    sources: Set,
    /// By cycle: flits that arrive, each with its target, which is an input VC of this part, an endpoint, or an input
    /// VC of another part or behind a link that is dead at times, by its number in the network.
    pub(super) arrivals: Ring<(u32, u32)>,
    /// By cycle: flits that come to endpoints which may refuse messages, each with its output VC; in [`arrivals`] if
    /// they take whatever arrives.
    ///
    /// [`arrivals`]: Self::arrivals
    pub(super) ejected: Ring<(u32, u32)>,
    /// The sinks of the endpoints, if they may refuse messages.
    pub(super) sinks: Option<Box<Sinks>>,
    /// By cycle: credits that arrive, as the output VC; or as [`ENDPOINT`] plus endpoint x V + VC; or as [`ABROAD`]
    /// plus an output VC of another part.
    pub(super) credits: Ring<u32>,
    /// By step: input VCs whose front may request something from then on.
    pub(super) timers: Ring<u32>,
    /// By part: mail from it.
    pub(super) inbox: Vec<Mail>,
    /// By part: mail to it.
    pub(super) outbox: Vec<Mail>,
    /// By input VC: the packet whose flits come from another part. Empty if there is one part only.
    coming: Vec<u32>,
    /// Packets that come off links which are dead at times.
    arriving: Arriving,
    /// Stalls that have ended.
    pub(super) stalls: Stalls,
    /// \[flits x routers\] Grants of the switch that were used so far.
    pub(super) flit_hops: u64,
    /// By VC: sum of the cycles in which flits left buffers, less those in which they came.
    pub(super) occupancy: [u64; V],
    /// By router and output port: the next buffer, where VCs share it; else empty.
    pub(super) pools: Vec<Pool>,
    /// \[flits\] The most that a VC can hold.
    pub(super) deepest: u32,
    /// True if a flit with a credit may find no room at its output or in the next buffer.
    pub(super) may_be_full: bool,
    /// True if the switch has more inputs or outputs than the router has ports.
    pub(super) is_widened: bool,
    /// By router and input of the switch, where it has more than the router has ports: the VC with which the search for
    /// a candidate begins; and by router and input port: the step of the last credit. Else empty.
    pub(super) next_vcs: Vec<u8>,
    pub(super) last_credits: Vec<u64>,
    /// True if a router makes one step a cycle, and every link passes a flit in each cycle: none waits for its link.
    pub(super) is_in_step: bool,
    /// By router and output port: its link, where some links pass less than a flit in each cycle; else empty.
    pub(super) links: Vec<PacedLink>,
    /// \[cycle\] The last cycle in which a flit moved.
    pub(super) last_moved: u64,
    /// \[packets\] By router and output port; empty unless the loads of links are observed.
    pub(super) crossed: Vec<u64>,
    /// \[flits\] By router, input port and output port; empty unless events are counted. All flits of a packet are
    /// counted when its head passes.
    pub(super) traversed: Vec<u64>,
    /// By router and output port, if output queues are bounded: the step after which each flit enters the queue, and
    /// the cycle in which it leaves.
    pub(super) queued: Vec<VecDeque<(u64, u64)>>,
    /// \[steps\] From a head's coming to the front to the first step in which it can be given an output VC.
    head_delay: u64,
    /// True if a head's request depends on the state of its router.
    pub(super) is_adaptive: bool,
    /// True if the phase of a packet may change with a hop.
    pub(super) has_phases: bool,
    /// Whether the network [is plain](is_plain), and [lean](is_lean).
    pub(super) is_plain: bool,
    pub(super) is_lean: bool,
    /// True if packets on channel 0 stay there.
    pub(super) keeps_channel_0: bool,
    /// \[steps\] Delays of route computation and switch traversal, where these are in batches.
    route_batch: Option<u64>,
    /// True with a batch of route computation, or where packets keep the number of their hops.
    has_rare: bool,
    pub(super) traverse_batch: Option<u64>,
    /// By router: the last batches of both. Empty without batches.
    pub(super) batches: Vec<(Batch, Batch)>,
    /// True if switch allocation is an operation on masks.
    pub(super) masks_ports: bool,
    /// True if credits decide which VCs are available.
    pub(super) heeds_credits: bool,
    /// Scratch memory of a step.
    pub(super) scratch: Scratch,
}

impl<const P: usize, const V: usize, const DIRECT: bool> Partition for Part<P, V, DIRECT> {
    type Report = Report;
    type Mail = Mail;
    type Accepted = Unsent;

    /// Simulates the part of a cycle that sources must know before the next one: arrivals of flits and credits, and
    /// sources that send.
    fn begin_cycle(&mut self) {
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
                let (part, input) = self.place_of_vc(target & !ABROAD);
                if part == self.number {
                    self.come_off(input as usize, unpack(flit));
                    self.arrive(input as usize, flit, step);
                } else {
                    self.post(part, input, flit);
                }
            }
        }
        self.arrivals.restore(now, due);
        if self.sinks.is_some() {
            self.take_from_sinks();
        }
        self.open_flits(step);
        let due = self.credits.take(now);
        for &target in &due {
            if target & ENDPOINT == 0 {
                self.credit(target as usize, step);
            } else if target & ABROAD == ENDPOINT {
                let (endpoint, vc) = self.routers.split((target & !ENDPOINT) as usize);
                self.ends.credit(endpoint, vc);
                self.sources.insert(self.ends.sender(endpoint));
            } else {
                let (part, output) = self.place_of_vc(target & !ABROAD);
                self.outbox[part].credits.push(output);
            }
        }
        self.credits.restore(now, due);
        self.open_credits(step);
        self.inject_flits();
    }

    /// Simulates the rest of the cycle: the steps of the routers.
    fn end_cycle(&mut self) {
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

    fn accepted(&mut self) -> &mut Vec<Unsent> {
        &mut self.accepted
    }

    fn report(&mut self) -> &mut Report {
        &mut self.ends.report
    }

    fn mail(&mut self) -> (&mut [Mail], &mut [Mail]) {
        (&mut self.inbox, &mut self.outbox)
    }
}

impl<const P: usize, const V: usize, const DIRECT: bool> Part<P, V, DIRECT> {
    /// Builds part number `part`. `endpoints` are the numbers of its endpoints in the network.
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
        let slots = u64::from(params.port_buffer());
        let queue = match &wiring.paced {
            Some(paced) => slots * u64::from(paced.longest),
            None if params.speedup.is_one() && params.traverse_batch().is_none() && !params.is_widened() => 0,
            None => slots,
        };
        let link = u64::from(wiring.longest().max(1)) + 1;
        // A flit waits at most for one earlier batch.
        let longest = 2 * u64::from(params.traverse_delay) + queue + link;
        let stages = u64::from(params.route_delay) + params.head_delay() + u64::from(params.switch_alloc_delay) + 2;
        let is_adaptive = routes.is_adaptive() || routes.decides();
        let routers = Routers::new(params, wiring, &locals, &endpoints);
        let queues = if params.output_queue.is_some() { count * P } else { 0 };
        let has_batches = params.route_batch().or(params.traverse_batch()).is_some();
        let out = wiring.paced.as_ref().map_or(&[][..], |paced| &paced.out);
        let home = |&endpoint: &u32| {
            let (router, port) = wiring.entry(endpoint as usize);
            let target = match wiring.outages.have(router, port) {
                true => ABROAD | ((router * P + port) * V) as u32,
                false => (((router - first) * P + port) * V) as u32,
            };
            (target, wiring.back(router, port).delay + 1)
        };
        let mail = || (0..division.parts).map(|_| Mail::default()).collect();
        Self {
            division,
            number: part,
            first,
            arriving: Arriving::new(Arc::clone(&wiring.outages)),
            clock: Cycle::FIRST.0,
            routers,
            accepted: Vec::new(),
            homes: endpoints.iter().map(home).collect(),
            sources: Set::new(endpoints.len()),
            arrivals: Ring::new(longest),
            ejected: Ring::new(longest),
            sinks: None,
            credits: Ring::new(longest + link + u64::from(params.credit_delay)),
            timers: Ring::new(stages),
            inbox: mail(),
            outbox: mail(),
            coming: vec![0; if division.parts > 1 { count * P * V } else { 0 }],
            stalls: Stalls::default(),
            flit_hops: 0,
            occupancy: [0; V],
            pools: if params.shares_buffers() { vec![Pool::new(params); count * P] } else { Vec::new() },
            deepest: params.deepest(),
            may_be_full: params.output_queue.is_some() || params.shares_buffers(),
            is_widened: params.is_widened(),
            next_vcs: match params.is_widened() {
                true => (0..count * P * params.input_speedup).map(|at| (at % params.input_speedup) as u8).collect(),
                false => Vec::new(),
            },
            last_credits: vec![u64::MAX; if params.is_widened() { count * P } else { 0 }],
            is_in_step: is_in_step(params, wiring),
            links: out.get(locals.start * wiring.ports..locals.end * wiring.ports).map_or_else(Vec::new, <[_]>::to_vec),
            last_moved: 0,
            crossed: Vec::new(),
            traversed: Vec::new(),
            queued: vec![VecDeque::new(); queues],
            head_delay: params.head_delay(),
            is_adaptive,
            has_phases: routes.has_phases(),
            is_plain: is_plain(params),
            is_lean: is_lean(params, wiring),
            keeps_channel_0: params.keeps_channel_0(),
            has_rare: has_rare(params),
            route_batch: params.route_batch(),
            traverse_batch: params.traverse_batch(),
            batches: vec![<(Batch, Batch)>::default(); if has_batches { count } else { 0 }],
            masks_ports: uses_masks(params.switch_allocator),
            heeds_credits: is_adaptive || params.wait_for_tail_credit || params.vc_busy_when_full,
            scratch: Scratch::new(wiring.ports),
            ends: Endpoints::new(params, endpoints, wiring),
            params: params.clone(),
            wiring: Arc::clone(wiring),
            routes: Arc::clone(routes),
        }
    }

    /// The number of a router in its subnet, by which routes know it.
    #[inline(always)]
    pub(super) fn place_of(&self, router: usize) -> usize {
        let router = self.first + router;
        if DIRECT { router } else { self.routes.in_subnet(router) }
    }

    /// The part that a VC of the network belongs to, and its number there.
    fn place_of_vc(&self, vc: u32) -> (usize, u32) {
        let part = self.division.part_of(self.routers.router_of(vc as usize));
        (part, vc - self.routers.base(self.division.first_of(part)) as u32)
    }

    /// Records the arrival of a flit, if its link is dead at times.
    fn come_off(&mut self, input: usize, flit: Flit) {
        let router = self.routers.router_of(input);
        let (port, vc) = self.routers.split(input - self.routers.base(router));
        if self.arriving.is_damaged((self.first + router, port, vc), flit, self.clock) {
            let identity = self.ends.packets[flit.packet].identity();
            self.ends.report.damaged.push(identity);
        }
    }

    /// Lets new routes take effect in an empty network, and endpoints begin packets again.
    pub(super) fn resume(&mut self, routes: &Arc<Routes>) {
        self.routes = Arc::clone(routes);
        for endpoint in 0..self.homes.len() {
            if self.ends.has_flits(endpoint) {
                self.sources.insert(endpoint);
            }
        }
    }

    /// Sends a flit to another part, where it is due in the next cycle. A head takes its packet along.
    fn post(&mut self, part: usize, input: u32, flit: u32) {
        let (mail, flit) = (&mut self.outbox[part], unpack(flit));
        if flit.is_head {
            mail.packets.push(self.ends.packets[flit.packet]);
        }
        if flit.is_tail {
            self.ends.packets.release(flit.packet);
        }
        mail.flits.push((input, flit));
    }

    /// Puts the flits from other parts into their buffers.
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
                self.come_off(input as usize, flit);
                self.arrive(input as usize, pack(flit), step);
            }
            drop(packets);
            self.inbox[from] = mail;
        }
    }

    /// Counts the credits from other parts.
    fn open_credits(&mut self, step: u64) {
        for from in 0..self.inbox.len() {
            let mut credits = std::mem::take(&mut self.inbox[from].credits);
            credits.drain(..).for_each(|output| self.credit(output as usize, step));
            self.inbox[from].credits = credits;
        }
    }

    /// Lets the endpoints send that may be able to.
    fn inject_flits(&mut self) {
        let now = self.clock;
        for word in 0..self.sources.words() {
            for bit in bits(self.sources.word(word)) {
                let endpoint = word * 64 + bit;
                let sent = self.ends.send(endpoint, now);
                if let Some((flit, vc, subnet)) = sent {
                    let (first, delay) = self.homes[endpoint + usize::from(subnet)];
                    let due = now + u64::from(delay);
                    self.arrivals.add(due, (first + u32::from(vc), pack(flit)));
                    self.last_moved = self.last_moved.max(due);
                }
                let is_done = match sent {
                    Some(_) => !self.ends.has_flits(endpoint),
                    None => !self.ends.waits_for_link(endpoint, now),
                };
                if is_done {
                    self.sources.remove(endpoint);
                }
            }
        }
    }

    /// Lets endpoints that may refuse messages take flits from their sinks, which send the credits in this cycle.
    #[cold]
    fn take_from_sinks(&mut self) {
        let now = self.clock;
        let Some(sinks) = &mut self.sinks else { return };
        let due = self.ejected.take(now);
        due.iter().for_each(|&(output, flit)| sinks.arrive(output as usize, unpack(flit)));
        self.ejected.restore(now, due);
        for (output, flit) in sinks.take(&self.ends.packets) {
            self.ends.receive(flit, now);
            let (router, port) = (self.routers.router_of(output), self.routers.split(output).0 % P);
            let delay = u64::from(self.routers.all[router].out_ports[port].delay);
            self.credits.add(now + delay + u64::from(self.params.credit_delay), output as u32);
            self.last_moved = self.last_moved.max(now);
        }
    }

    /// Puts a flit into its buffer.
    #[inline]
    fn arrive(&mut self, input: usize, flit: u32, step: u64) {
        let now = self.clock;
        let routers = &mut self.routers;
        let router = routers.router_of(input);
        let this = &mut routers.all[router];
        let state_of_input = this.input_mut(input);
        let Input { first, len, state, output, .. } = *state_of_input;
        if DIRECT && len == 0 && state == State::Active && this.output(output.into()).credits > 0 {
            // The flit leaves in this cycle, unless another flit contends.
            this.in_ports[input / V % P].fresh = flit;
            routers.request(input);
            return;
        }
        let state_of_input = this.input_mut(input);
        state_of_input.len = len + 1;
        if len == 0 {
            state_of_input.since = step;
        }
        let has_credit = this.output(output.into()).credits > 0;
        let place = routers.place(input, first.wrapping_add(len));
        routers.flits[place] = flit;
        if !DIRECT && let Some(arrived) = routers.arrived.get_mut(place) {
            *arrived = now;
        }
        let waiting = &mut self.occupancy[input % V];
        *waiting = waiting.wrapping_sub(now);
        let is_pipelined = !DIRECT && !routers.ready.is_empty();
        if is_pipelined {
            routers.ready[place] = step + u64::from(self.params.switch_alloc_delay) - 1;
        }
        let flit = unpack(flit);
        if flit.is_head {
            let packet = &mut self.ends.packets[flit.packet];
            packet.link_cycles += packet.end_stage(now);
        }
        match state {
            State::Idle => self.begin(input, flit.packet, step, step),
            State::Active if len == 0 && is_pipelined => self.start_flit(input, step),
            State::Active if len == 0 && has_credit => routers.request(input),
            _ => {}
        }
    }

    /// Puts the fresh flits of a router into their buffers, because other flits contend.
    pub(super) fn buffer_fresh(&mut self, router: usize, step: u64) {
        for port in bits(self.routers.all[router].requests) {
            let in_port = &mut self.routers.all[router].in_ports[port % P];
            let flit = std::mem::replace(&mut in_port.fresh, NO_FLIT);
            if flit == NO_FLIT {
                continue;
            }
            // One of the VCs that request the switch has an empty buffer.
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

    /// In networks with batches or counts of hops: prepares a packet that has come to the front of an input VC. Returns
    /// the step in which it may request VCs.
    #[cold]
    fn begin_rarely(&mut self, input: usize, packet: u32, from: u64) -> u64 {
        if let Some(hops) = self.routers.hops.get_mut(input) {
            *hops = self.ends.packets[packet].hops;
        }
        match self.route_batch {
            Some(delay) => {
                self.batches[self.routers.router_of(input)].0.join(from, delay) + 1 + self.head_delay - delay
            }
            None => from + self.head_delay,
        }
    }

    /// Starts the first stage of the head that has come to the front of an input VC. The stage begins in step `from`;
    /// `next` is the next step.
    #[inline(always)]
    pub(super) fn begin(&mut self, input: usize, packet: u32, from: u64, next: u64) {
        let router = self.routers.router_of(input);
        let place = self.place_of(router);
        let from =
            if !DIRECT && self.has_rare { self.begin_rarely(input, packet, from) } else { from + self.head_delay };
        let this = self.routers.input_mut(input);
        this.state = State::NeedsVc;
        this.since = from;
        if !self.is_adaptive {
            let packet = &self.ends.packets[packet];
            let head = packet.head((input / V % P, input % V));
            let draw = &mut ByKey(packet.key);
            let Candidate { port, vcs, .. } = self.routes.only(place, &head, draw, &mut self.scratch.candidates);
            (this.port, this.vcs) = (port, vcs);
        } else {
            this.vcs = 0;
        }
        if from <= next {
            self.routers.need(input);
        } else {
            self.timers.add(from, input as u32);
        }
    }

    /// Starts the flit that has come to the front of an input VC which has an output VC; `next` is the next step.
    #[inline]
    pub(super) fn start_flit(&mut self, input: usize, next: u64) {
        let routers = &mut self.routers;
        let place = routers.place(input, routers.input(input).first);
        let ready = if DIRECT { next } else { routers.ready.get(place).copied().unwrap_or(next) };
        let router = routers.router_of(input);
        let router = &mut routers.all[router];
        let this = router.input_mut(input);
        if ready > next {
            this.state = State::Waiting;
            this.since = ready;
            router.withdraw_request(input);
            self.timers.add(ready, input as u32);
            return;
        }
        this.since = next;
        self.request_switch(input);
    }

    /// Lets the front of an input VC request the switch, if its output VC has a credit.
    #[inline]
    pub(super) fn request_switch(&mut self, input: usize) {
        let routers = &mut self.routers;
        let router = routers.router_of(input);
        let this = &mut routers.all[router];
        if this.output(this.input(input).output.into()).credits > 0 {
            routers.request(input);
        } else {
            this.withdraw_request(input);
        }
    }

    /// Handles the timer of an input VC.
    fn wake(&mut self, input: usize, step: u64) {
        let this = self.routers.input_mut(input);
        match this.state {
            State::NeedsVc => self.routers.need(input),
            _ => {
                (this.state, this.since) = (State::Active, step);
                self.request_switch(input);
            }
        }
    }

    /// Gives an output VC the credit that has come back.
    #[inline]
    fn credit(&mut self, output: usize, step: u64) {
        let routers = &mut self.routers;
        let router = routers.router_of(output);
        let this = &mut routers.all[router];
        let has_needs = this.needs != 0;
        if !DIRECT && let Some(pool) = self.pools.get_mut(output / V) {
            pool.credit(output % V);
        }
        let out = this.output_mut(output);
        out.credits += 1;
        let (credits, owner) = (out.credits, out.owner);
        if credits == 1 && owner != NO_VC {
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
        if let Some(sinks) = &self.sinks {
            if sinks.can_take(&self.ends.packets) {
                return Some(now);
            }
            let events = [self.arrivals.next(now), self.ejected.next(now), self.credits.next(now)];
            return events.into_iter().flatten().min();
        }
        let (flits, credits) = (self.arrivals.next(now), self.credits.next(now));
        flits.into_iter().chain(credits).min()
    }

    /// Adds the counts of this part until cycle `now` to `into`.
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

    /// Stalls until cycle `now`, including those that have not ended.
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

    /// \[flits\] Number of flits in the buffers of an input port.
    pub(super) fn flits(&self, router: usize, port: usize) -> u32 {
        self.routers.all[router].inputs[port].iter().map(|input| u32::from(input.len)).sum()
    }
}
