//! VC allocation and switch allocation of a router. For some allocators they are computed with operations on masks.

use std::cmp::Reverse;

use super::part::Part;
use super::sets::{bits, first_from};
use super::state::{InPort, Input, NO_VC, NOT_HELD, Routers, State};
use crate::params::{Allocator as Kind, Hold, Params};
use crate::rules::allocator::Request;
use crate::rules::buffers::Pool;
use crate::rules::interface::Endpoints;
use crate::rules::priority::{self, Front, Priority};
use crate::rules::routes::{ByKey, Candidate, Outputs, Tier, select};

/// The request of a head for output VCs, in this step.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeadRequest {
    /// Local number of its input VC.
    pub(super) input: u16,
    /// The output port that it requests.
    pub(super) port: u8,
    /// The available VCs of that port that the head requests, as a mask that is not 0.
    pub(super) vcs: u32,
    /// The requested VCs that have picked this head, as a mask.
    pub(super) granted: u32,
    /// Local number of the output VC that it has won; [`NO_VC`] if it has won none.
    pub(super) won: u16,
    /// True if the head was also granted the switch in this step.
    pub(super) is_granted: bool,
}

/// A grant of the switch that moves a flit. VCs have their local numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grant {
    /// The input VC.
    pub(super) input: u16,
    /// The output VC.
    pub(super) output: u16,
    /// True if the head requested the switch in the same step as the output VC.
    pub(super) is_speculative: bool,
}

/// Lists and masks of a step, kept from step to step to save allocations.
#[derive(Debug)]
pub(super) struct Scratch {
    /// Requests for output VCs.
    pub(super) heads: Vec<HeadRequest>,
    pub(super) grants: Vec<Grant>,
    /// Scratch memory of the routing function.
    pub(super) candidates: Vec<Candidate>,
    /// Requests for an allocator that does not use masks.
    pub(super) requests: Vec<Request>,
    /// By input port: VCs that request the switch speculatively, as a mask.
    pub(super) speculative: Vec<u32>,
    /// By input port and output port: the VC of the input port that requests the output port.
    pub(super) candidate: Vec<u8>,
    /// By input port: first the output ports that it requests, then the output ports that have picked it, as masks.
    pub(super) outs: Vec<u64>,
    /// By input port: the output ports that it requests without speculation, as a mask.
    pub(super) certain: Vec<u64>,
    /// By output port: input ports that request it, as a mask.
    pub(super) ins: Vec<u64>,
    /// By output port: input ports that have picked it without speculation, as a mask.
    pub(super) certain_ins: Vec<u64>,
    /// Matched input ports, each with its output port.
    pub(super) pairs: Vec<(u8, u8)>,
    /// By listed head: the priority of its request, where heads contend and requests have any.
    ranks: Vec<i64>,
}

impl Scratch {
    pub(super) fn new(ports: usize) -> Self {
        Self {
            heads: Vec::new(),
            grants: Vec::new(),
            candidates: Vec::new(),
            requests: Vec::new(),
            speculative: vec![0; ports],
            candidate: vec![0; ports * ports],
            outs: vec![0; ports],
            certain: vec![0; ports],
            ins: vec![0; ports],
            certain_ins: vec![0; ports],
            pairs: Vec::new(),
            ranks: Vec::new(),
        }
    }
}

/// The output VCs of a router, as a head that needs one sees them.
struct HeadView<'a, const P: usize, const V: usize> {
    params: &'a Params,
    routers: &'a Routers<P, V>,
    router: usize,
    /// \[flits\] Length of the packet whose head this is.
    flits: u32,
    /// By output port: the next buffer, where VCs share it; else empty.
    pools: &'a [Pool],
    /// \[flits\] The most that a VC can hold.
    deepest: u32,
}

impl<const P: usize, const V: usize> HeadView<'_, P, V> {
    /// The VCs in the mask `vcs` of a port, with their credits in flits.
    fn credits_of(&self, port: usize, vcs: u32) -> impl Iterator<Item = (usize, u32)> {
        let outputs = &self.routers.all[self.router].outputs[port];
        bits(vcs.into()).map(move |vc| (vc, outputs[vc].credits.into()))
    }

    /// \[flits\] Places that a VC of a port with so many credits may take.
    fn room(&self, port: usize, vc: usize, credits: u32) -> u32 {
        self.pools.get(port).map_or(credits, |pool| pool.room(vc))
    }
}

impl<const P: usize, const V: usize> Outputs for HeadView<'_, P, V> {
    fn available(&self, port: usize, vcs: u32, tier: Tier) -> u32 {
        let Params { wait_for_tail_credit, vc_busy_when_full, .. } = *self.params;
        let free = self.routers.all[self.router].out_ports[port].free & vcs;
        let suits = |vc: usize, credits: u32| {
            let room = self.room(port, vc, credits);
            (!wait_for_tail_credit || credits == self.deepest)
                && (!vc_busy_when_full || room > 0)
                && (tier != Tier::Adaptive || credits == self.deepest || room >= self.flits)
        };
        self.credits_of(port, free).filter(|&(vc, credits)| suits(vc, credits)).fold(0, |mask, (vc, _)| mask | 1 << vc)
    }

    fn credits(&self, port: usize, vcs: u32) -> u32 {
        self.credits_of(port, vcs).map(|(vc, credits)| self.room(port, vc, credits)).sum()
    }

    fn occupancy(&self, port: usize, vcs: u32) -> u32 {
        self.credits_of(port, vcs).map(|(_, credits)| self.deepest - credits).sum()
    }
}

/// Distance from `start` to `number` in the cyclic order of the numbers below `count`.
#[inline(always)]
const fn cyclic_distance(number: usize, start: usize, count: usize) -> usize {
    if number >= start { number - start } else { number + count - start }
}

/// The positions of the bits of a mask in cyclic order, beginning with `start`.
#[inline(always)]
fn bits_from(mask: u32, start: usize) -> impl Iterator<Item = usize> {
    bits(mask.rotate_right(start as u32).into()).map(move |bit| (bit + start) & 31)
}

/// The priority of the flit at the front of an input VC.
pub(super) fn priority_of<const P: usize, const V: usize>(
    params: &Params,
    routers: &Routers<P, V>,
    ends: &Endpoints,
    input: usize,
) -> i64 {
    let this = routers.input(input);
    let arrived = routers.arrived.get(routers.place(input, this.first)).copied().unwrap_or(0);
    let hops = routers.hops.get(input).copied().unwrap_or(0);
    let seen = Front { arrived, waiting: this.len.into(), hops };
    priority::of(params, &ends.packets[routers.front(input).packet], seen)
}

impl<const P: usize, const V: usize, const DIRECT: bool> Part<P, V, DIRECT> {
    /// Lists the heads of a router that request an available VC.
    #[inline]
    pub(super) fn collect_heads(&mut self, router: usize) {
        for port in bits(self.routers.all[router].needs) {
            for vc in bits(self.routers.all[router].in_ports[port % P].needs.into()) {
                let local = self.routers.first_vc(port) + vc;
                let (to, vcs) = self.request(router, local);
                if vcs != 0 {
                    let input = local as u16;
                    self.scratch.heads.push(HeadRequest {
                        input,
                        port: to,
                        vcs,
                        granted: 0,
                        won: NO_VC,
                        is_granted: false,
                    });
                }
            }
        }
    }

    /// The output port and the available VCs that a head requests.
    #[inline]
    fn request(&mut self, router: usize, local: usize) -> (u8, u32) {
        if !self.heeds_credits {
            let this = &self.routers.all[router];
            let input = this.input(local);
            return (input.port, this.out_ports[usize::from(input.port) % P].free & input.vcs);
        }
        self.request_by_credits(router, local)
    }

    /// The output port and the available VCs that a head requests, for a routing that depends on credits.
    #[inline(never)]
    fn request_by_credits(&mut self, router: usize, local: usize) -> (u8, u32) {
        let input_vc = self.routers.base(router) + local;
        let input = *self.routers.input(input_vc);
        let number = self.routers.front(input_vc).packet;
        let packet = &self.ends.packets[number];
        let pools = if DIRECT { None } else { self.pools.get(router * P..(router + 1) * P) };
        let view = HeadView {
            params: &self.params,
            routers: &self.routers,
            router,
            flits: packet.flits,
            pools: pools.unwrap_or_default(),
            deepest: self.deepest,
        };
        if !self.is_adaptive {
            return (input.port, view.available(input.port.into(), input.vcs, Tier::Free));
        }
        let key = packet.key;
        let (port, vc) = self.routers.split(local);
        let mut head = packet.head((port, vc));
        let place = self.place_of(router);
        // What a head keeps at this router it has chosen in an earlier step.
        let is_lasting = self.routes.is_lasting();
        if is_lasting && input.vcs != 0 {
            return (input.port, view.available(input.port.into(), input.vcs, Tier::Free));
        }
        if self.routes.decides() && self.wiring.comes_from(self.first + router, port, head.source) {
            head.phase = self.routes.decide(place, &head, &mut ByKey(key), &view);
        }
        self.routes.candidates(place, &head, &mut ByKey(key), &mut self.scratch.candidates);
        let mut kept = 0;
        if is_lasting && let Some(settled) = self.routes.settle(&self.scratch.candidates, &view) {
            kept = settled.vcs;
            self.scratch.candidates.clear();
            self.scratch.candidates.push(settled);
        }
        let (port, mask) = select(&self.scratch.candidates, trgen::rng::mix2(key, (self.first + router) as u64), &view);
        self.ends.packets[number].phase = head.phase;
        let input = self.routers.input_mut(input_vc);
        (input.port, input.vcs) = (port, kept);
        (port, mask)
    }

    /// Matches the listed heads with output VCs.
    pub(super) fn allocate_vcs(&mut self, router: usize) {
        match self.params.vc_allocator {
            Kind::Islip { iterations: 1 } => self.islip_vcs(router),
            Kind::Separable => self.separable_vcs(router),
            _ => self.other_vcs(router),
        }
    }

    /// The local number of the first of the VCs `vcs` of a head's port, counted from the pointer of its input VC.
    #[inline(always)]
    pub(super) fn pick_vc(&self, router: usize, head: &HeadRequest, vcs: u32) -> usize {
        let first = self.routers.first_vc(head.port.into());
        let pointer = usize::from(self.routers.all[router].input(head.input.into()).accept);
        let start = pointer.wrapping_sub(first);
        first + first_from(vcs.into(), if start < self.routers.vcs { start } else { 0 })
    }

    /// Moves the pointers of VC allocation past a head and the output VC that it has won.
    #[inline(always)]
    pub(super) fn advance_vc_pointers(&mut self, router: usize, head: &HeadRequest) {
        let this = &mut self.routers.all[router];
        this.input_mut(head.input.into()).accept = head.won + 1;
        this.output_mut(head.won.into()).grant = head.input + 1;
    }

    /// The index of the first head for which `asks` holds, counted from the pointer of an output VC.
    #[inline(always)]
    fn pick_head(&self, router: usize, output: usize, asks: impl Fn(&HeadRequest) -> bool) -> Option<usize> {
        let count = self.routers.vcs_of_router();
        let pointer = usize::from(self.routers.all[router].output(output).grant);
        let mut best = None;
        let mut least = usize::MAX;
        for (at, head) in self.scratch.heads.iter().enumerate() {
            let distance = cyclic_distance(head.input.into(), pointer, count);
            if asks(head) && distance < least {
                (best, least) = (Some(at), distance);
            }
        }
        best
    }

    /// VC allocation by iSLIP with one iteration.
    fn islip_vcs(&mut self, router: usize) {
        let mut seen = 0u64;
        for at in 0..self.scratch.heads.len() {
            let port = self.scratch.heads[at].port;
            if seen >> port & 1 != 0 {
                continue;
            }
            seen |= 1 << port;
            let others = &self.scratch.heads[at + 1..];
            if others.iter().all(|head| head.port != port) {
                // Every VC that it requests picks it.
                self.scratch.heads[at].granted = self.scratch.heads[at].vcs;
                continue;
            }
            let of_port = self.scratch.heads.iter().filter(|head| head.port == port);
            let union = of_port.fold(0, |union, head| union | head.vcs);
            for vc in bits(union.into()) {
                let asks = |head: &HeadRequest| head.port == port && head.vcs >> vc & 1 != 0;
                if let Some(picked) = self.pick_head(router, self.routers.first_vc(port.into()) + vc, asks) {
                    self.scratch.heads[picked].granted |= 1 << vc;
                }
            }
        }
        for at in 0..self.scratch.heads.len() {
            let mut head = self.scratch.heads[at];
            if head.granted != 0 {
                head.won = self.pick_vc(router, &head, head.granted) as u16;
                self.scratch.heads[at].won = head.won;
                self.advance_vc_pointers(router, &head);
            }
        }
    }

    /// The index of the head of the largest priority for which `asks` holds; of equals the first, counted from the pointer
    /// of an output VC.
    fn pick_ranked_head(&self, router: usize, output: usize, asks: impl Fn(&HeadRequest) -> bool) -> Option<usize> {
        let count = self.routers.vcs_of_router();
        let pointer = usize::from(self.routers.all[router].output(output).grant);
        let key = |(at, head): &(usize, &HeadRequest)| {
            (Reverse(self.scratch.ranks[*at]), cyclic_distance(head.input.into(), pointer, count))
        };
        self.scratch.heads.iter().enumerate().filter(|(_, head)| asks(head)).min_by_key(key).map(|(at, _)| at)
    }

    /// Looks up the priorities of all heads, unless that has been done in this step.
    fn rank_heads(&mut self, router: usize) {
        let base = self.routers.base(router);
        let Self { params, routers, ends, scratch, .. } = self;
        if scratch.ranks.is_empty() {
            let rank = |head: &HeadRequest| priority_of(params, routers, ends, base + usize::from(head.input));
            scratch.ranks.extend(scratch.heads.iter().map(rank));
        }
    }

    /// Separable VC allocation.
    fn separable_vcs(&mut self, router: usize) {
        for at in 0..self.scratch.heads.len() {
            let head = self.scratch.heads[at];
            let output = self.pick_vc(router, &head, head.vcs);
            self.scratch.heads[at].granted = 1 << (output - self.routers.first_vc(head.port.into()));
        }
        let has_priorities = !DIRECT && self.params.priority != Priority::None;
        // Priorities are looked up once heads contend.
        self.scratch.ranks.clear();
        for at in 0..self.scratch.heads.len() {
            let HeadRequest { port, granted, .. } = self.scratch.heads[at];
            if granted == 0 {
                // It has lost to an earlier head that picked the same VC, or won against it.
                continue;
            }
            let output = self.routers.first_vc(port.into()) + granted.trailing_zeros() as usize;
            let asks = |head: &HeadRequest| head.port == port && head.granted == granted;
            let mut winner = Some(at);
            if self.scratch.heads[at + 1..].iter().any(asks) {
                winner = match has_priorities {
                    true => {
                        self.rank_heads(router);
                        self.pick_ranked_head(router, output, asks)
                    }
                    false => self.pick_head(router, output, asks),
                };
                self.scratch.heads[at..].iter_mut().filter(|head| asks(head)).for_each(|head| head.granted = 0);
            }
            if let Some(winner) = winner {
                self.scratch.heads[winner].won = output as u16;
            }
        }
        for at in 0..self.scratch.heads.len() {
            let head = self.scratch.heads[at];
            if head.won != NO_VC {
                self.advance_vc_pointers(router, &head);
            }
        }
    }

    /// VC allocation by an allocator that does not use masks.
    fn other_vcs(&mut self, router: usize) {
        let base = self.routers.base(router);
        let requests = &mut self.scratch.requests;
        requests.clear();
        for head in &self.scratch.heads {
            let input = base + usize::from(head.input);
            let created = self.ends.packets[self.routers.front(input).packet].start;
            let rank = priority_of(&self.params, &self.routers, &self.ends, input);
            let resources = bits(head.vcs.into()).map(|vc| usize::from(head.port) * self.routers.vcs + vc);
            let requester = self.routers.to_model_number(head.input.into());
            requests.extend(resources.map(|resource| Request { requester, resource, created, own: 0, rank }));
        }
        let given = self.routers.vc_allocators[router].allocate(requests);
        for head in &mut self.scratch.heads {
            let won = given[self.routers.to_model_number(head.input.into())];
            head.won = won.map_or(NO_VC, |output| self.routers.to_local_number(output) as u16);
        }
    }

    /// True if an output VC, by its local number, has a place in the next buffer.
    #[inline(always)]
    pub(super) fn has_place(&self, router: usize, output: usize) -> bool {
        self.routers.all[router].output(output).credits > 0
            && (DIRECT || self.pools.get(router * P + output / V % P).is_none_or(|pool| pool.room(output % V) > 0))
    }

    /// True if any of these VCs of an output port has a place in the next buffer.
    #[inline(always)]
    fn has_places(&self, router: usize, port: usize, vcs: u32) -> bool {
        if DIRECT || self.pools.is_empty() {
            return self.routers.all[router].has_credit(port, vcs);
        }
        bits(vcs.into()).any(|vc| self.has_place(router, port * V + vc))
    }

    /// True if a flit that has an output VC can be granted the switch in this step: the VC has a place in the next
    /// buffer, and the queue of the output has room.
    #[inline(always)]
    pub(super) fn can_take(&mut self, router: usize, output: usize, step: u64) -> bool {
        self.has_place(router, output) && self.has_room(router * P + output / V % P, step)
    }

    /// True if the first channel of the class of a head is free with a credit at a port, and one of the others as well.
    #[cold]
    pub(super) fn has_both(&self, router: usize, port: usize, input: usize) -> bool {
        let packet = self.routers.front(self.routers.base(router) + input).packet;
        let (first, of_class) = self.params.vcs_of(self.ends.packets[packet].class);
        let free = self.routers.all[router].out_ports[port % P].free;
        let is_free = |vc: usize| free >> vc & 1 != 0 && self.has_place(router, port * V + vc);
        is_free(first) && (first + 1..first + of_class).any(is_free)
    }

    /// True if an output port may be given grants in this step, by the length of its queue.
    #[inline(always)]
    pub(super) fn has_room(&mut self, out_port: usize, step: u64) -> bool {
        match self.params.output_queue {
            Some(bound) if !DIRECT => {
                let queue = &mut self.queued[out_port];
                while queue.front().is_some_and(|&(_, leaves)| leaves < self.clock) {
                    queue.pop_front();
                }
                queue.iter().filter(|&&(enters, _)| enters < step).count() < bound as usize
            }
            _ => true,
        }
    }

    /// Matches input ports with output ports.
    pub(super) fn allocate_switch(&mut self, router: usize, step: u64) {
        let ports = self.routers.ports;
        let base_port = router * P;
        self.scratch.grants.clear();
        let mut asking = self.routers.all[router].requests;
        if self.params.speculative {
            for at in 0..self.scratch.heads.len() {
                let HeadRequest { input, port, vcs: mask, .. } = self.scratch.heads[at];
                if self.has_places(router, port.into(), mask) && self.has_room(base_port + usize::from(port), step) {
                    let (from, vc) = self.routers.split(input.into());
                    self.scratch.speculative[from] |= 1 << vc;
                    asking |= 1 << from;
                }
            }
        }
        let mut busy_outputs = 0u64;
        if !DIRECT && self.params.hold == Hold::Packet {
            (asking, busy_outputs) = self.keep_connections(router, asking, step);
        }
        if !DIRECT && self.is_widened {
            return self.allocate_wide_switch(router, asking, step);
        }
        let has_priorities = !DIRECT && self.params.priority != Priority::None;
        let mut wanted = 0u64;
        let mut asked = 0u64;
        for from in bits(asking) {
            let InPort { requests, next_vc, .. } = self.routers.all[router].in_ports[from % P];
            let speculative = std::mem::take(&mut self.scratch.speculative[from]);
            let start = usize::from(next_vc);
            let mut outs = 0u64;
            // Requests of flits that have a VC precede speculative ones.
            for vc in bits_from(requests, start) {
                let Input { port, output, .. } = self.routers.all[router].inputs[from % P][vc % V];
                let to = usize::from(port);
                if !DIRECT && self.may_be_full && !self.can_take(router, output.into(), step) {
                    self.routers.all[router].inputs[from % P][vc % V].since += 1;
                    self.stalls.no_credit += 1;
                } else if (outs | busy_outputs) >> to & 1 == 0 {
                    outs |= 1 << to;
                    self.scratch.candidate[from * ports + to] = vc as u8;
                    self.scratch.ins[to] |= 1 << from;
                } else if has_priorities && busy_outputs >> to & 1 == 0 {
                    self.prefer(router, (from, to), vc);
                }
            }
            let certain = outs;
            for vc in bits_from(speculative, start) {
                let to = usize::from(self.routers.all[router].inputs[from % P][vc % V].port);
                if (outs | busy_outputs) >> to & 1 == 0 {
                    outs |= 1 << to;
                    self.scratch.candidate[from * ports + to] = vc as u8;
                    self.scratch.ins[to] |= 1 << from;
                } else if has_priorities && (busy_outputs | certain) >> to & 1 == 0 {
                    self.prefer(router, (from, to), vc);
                }
            }
            self.scratch.outs[from] = outs;
            if self.params.speculative {
                self.scratch.certain[from] = certain;
            }
            wanted |= outs;
            asked |= u64::from(outs != 0) << from;
        }
        if asked == 0 {
            return;
        }
        self.match_ports(router, asked, wanted);
        for at in 0..self.scratch.pairs.len() {
            let (from, to) = (usize::from(self.scratch.pairs[at].0), usize::from(self.scratch.pairs[at].1));
            let vc = usize::from(self.scratch.candidate[from * ports + to]);
            if DIRECT || self.masks_ports {
                self.advance_switch_pointers(router, from, to, vc);
            } else {
                self.routers.all[router].in_ports[from].next_vc = (vc + 1) as u8;
            }
            self.use_grant(router, (self.routers.first_vc(from) + vc) as u16, to);
        }
    }

    /// Lists the grant of the switch to an input VC towards an output port, unless it is of no use.
    #[inline(always)]
    pub(super) fn use_grant(&mut self, router: usize, input: u16, to: usize) {
        let this = self.routers.all[router].input(input.into());
        if this.state == State::Active {
            self.scratch.grants.push(Grant { input, output: this.output, is_speculative: false });
            return;
        }
        let has_both = DIRECT || !self.keeps_channel_0 || self.has_both(router, to, input.into());
        let head = self.scratch.heads.iter().position(|head| head.input == input && head.won != NO_VC);
        match head.filter(|&at| has_both && self.has_place(router, self.scratch.heads[at].won.into())) {
            Some(at) => {
                let head = &mut self.scratch.heads[at];
                head.is_granted = true;
                self.scratch.grants.push(Grant { input, output: head.won, is_speculative: true });
            }
            None => self.stalls.misspeculated += 1,
        }
    }

    /// Makes another VC the candidate of an input port for an output port, if its priority is larger.
    fn prefer(&mut self, router: usize, (from, to): (usize, usize), vc: usize) {
        let first = self.routers.first_vc(router * P + from);
        let candidate = &mut self.scratch.candidate[from * self.routers.ports + to];
        let rank = |vc: usize| priority_of(&self.params, &self.routers, &self.ends, first + vc);
        if rank(vc) > rank(usize::from(*candidate)) {
            *candidate = vc as u8;
        }
    }

    /// Grants the connections that are kept, which precede all other requests. `asking` are the input ports with
    /// requests, as a mask. Returns the input ports that still have requests, and the output ports that are busy, as
    /// masks.
    fn keep_connections(&mut self, router: usize, mut asking: u64, step: u64) -> (u64, u64) {
        let mut busy_outputs = 0;
        for from in 0..self.routers.ports {
            let InPort { held, requests, .. } = self.routers.all[router].in_ports[from];
            if held == NOT_HELD {
                continue;
            }
            let local = self.routers.first_vc(from) + usize::from(held);
            let input = *self.routers.all[router].input(local);
            if requests >> held & 1 == 0 || !self.can_take(router, input.output.into(), step) {
                self.routers.all[router].in_ports[from].held = NOT_HELD;
                continue;
            }
            let grant = Grant { input: local as u16, output: input.output, is_speculative: false };
            self.scratch.grants.push(grant);
            busy_outputs |= 1 << input.port;
            asking &= !(1 << from);
            self.scratch.speculative[from] = 0;
            if !self.may_be_full {
                continue;
            }
            // The other requests of this port count as waiting for full buffers, as without the connection.
            for vc in bits(requests.into()) {
                let output = self.routers.all[router].inputs[from][vc].output;
                if !self.can_take(router, output.into(), step) {
                    self.routers.all[router].inputs[from][vc].since += 1;
                    self.stalls.no_credit += 1;
                }
            }
        }
        (asking, busy_outputs)
    }

    /// Matches the input ports `asked` with the output ports `wanted`, given as masks. The requests are in `outs` and
    /// `ins` of the scratch memory; `ins` is cleared.
    fn match_ports(&mut self, router: usize, asked: u64, wanted: u64) {
        let ports = self.routers.ports;
        let has_priorities = !DIRECT && self.params.priority != Priority::None;
        let this = &self.routers.all[router];
        let Scratch { outs, certain, ins, certain_ins, pairs, candidate, requests, .. } = &mut self.scratch;
        pairs.clear();
        let mut picked = 0u64;
        match self.params.switch_allocator {
            Kind::Islip { iterations: 1 } => {
                for from in bits(asked) {
                    outs[from] = 0;
                }
                for to in bits(wanted) {
                    let from = first_from(std::mem::take(&mut ins[to]), this.out_ports[to % P].grant.into());
                    outs[from] |= 1 << to;
                    picked |= 1 << from;
                }
                for from in bits(picked) {
                    let to = first_from(outs[from], this.in_ports[from % P].accept.into());
                    pairs.push((from as u8, to as u8));
                }
            }
            Kind::Separable if has_priorities => {
                for to in bits(wanted) {
                    ins[to] = 0;
                }
                let rank = |from: usize, to: usize| {
                    let input = self.routers.first_vc(router * P + from) + usize::from(candidate[from * ports + to]);
                    let rank = priority_of(&self.params, &self.routers, &self.ends, input);
                    let is_certain = self.routers.input(input).state == State::Active;
                    Reverse(if is_certain { rank } else { priority::speculative(rank) })
                };
                // Priorities are looked up where requests contend.
                for from in bits(asked) {
                    let mut to = outs[from].trailing_zeros() as usize;
                    if !outs[from].is_power_of_two() {
                        let start = usize::from(this.in_ports[from % P].accept);
                        let key = |&to: &usize| (rank(from, to), cyclic_distance(to, start, P));
                        let Some(preferred) = bits(outs[from]).min_by_key(key) else { continue };
                        to = preferred;
                    }
                    ins[to] |= 1 << from;
                    picked |= 1 << to;
                }
                for to in bits(picked) {
                    let asking = std::mem::take(&mut ins[to]);
                    let mut from = asking.trailing_zeros() as usize;
                    if !asking.is_power_of_two() {
                        let start = usize::from(this.out_ports[to % P].grant);
                        let key = |&from: &usize| (rank(from, to), cyclic_distance(from, start, P));
                        let Some(preferred) = bits(asking).min_by_key(key) else { continue };
                        from = preferred;
                    }
                    pairs.push((from as u8, to as u8));
                }
            }
            Kind::Separable if !self.params.speculative => {
                for to in bits(wanted) {
                    ins[to] = 0;
                }
                for from in bits(asked) {
                    let to = first_from(outs[from], this.in_ports[from % P].accept.into());
                    ins[to] |= 1 << from;
                    picked |= 1 << to;
                }
                for to in bits(picked) {
                    let from = first_from(std::mem::take(&mut ins[to]), this.out_ports[to % P].grant.into());
                    pairs.push((from as u8, to as u8));
                }
            }
            Kind::Separable => {
                for to in bits(wanted) {
                    ins[to] = 0;
                }
                // Both ports prefer what is no speculation.
                for from in bits(asked) {
                    let preferred = if certain[from] != 0 { certain[from] } else { outs[from] };
                    let to = first_from(preferred, this.in_ports[from % P].accept.into());
                    ins[to] |= 1 << from;
                    certain_ins[to] |= u64::from(certain[from] != 0) << from;
                    picked |= 1 << to;
                }
                for to in bits(picked) {
                    let (all, sure) = (std::mem::take(&mut ins[to]), std::mem::take(&mut certain_ins[to]));
                    let from = first_from(if sure != 0 { sure } else { all }, this.out_ports[to % P].grant.into());
                    pairs.push((from as u8, to as u8));
                }
            }
            _ => {
                requests.clear();
                for from in bits(asked) {
                    for to in bits(outs[from]) {
                        let vc = usize::from(candidate[from * ports + to]);
                        let input = self.routers.first_vc(router * P + from) + vc;
                        let created = self.ends.packets[self.routers.front(input).packet].start;
                        let mut rank = 0;
                        if has_priorities {
                            rank = priority_of(&self.params, &self.routers, &self.ends, input);
                        }
                        if self.routers.input(input).state != State::Active {
                            rank = priority::speculative(rank);
                        }
                        requests.push(Request { requester: from, resource: to, created, own: rank, rank });
                    }
                }
                for to in bits(wanted) {
                    ins[to] = 0;
                }
                let given = self.routers.switch_allocators[router].allocate(requests);
                let given = given.iter().enumerate().filter_map(|(from, to)| Some((from as u8, (*to)? as u8)));
                pairs.extend(given);
            }
        }
    }
}
