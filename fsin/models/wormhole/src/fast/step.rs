//! One step of a router: VC allocation and switch allocation by masks, and what they change.

use super::Fast;
use super::state::{ENDPOINT, InPort, NOBODY, NOT_HELD, Routers, State, is_by_masks, unpack};
use super::wheel::{bits, first_from};
use crate::params::{Allocator as Kind, Hold, Params};
use crate::rules::allocator::Request;
use crate::rules::routes::{ByKey, Candidate, Head, Outputs, Tier, select};
use crate::rules::wiring::End;

/// A head that requests output VCs.
#[derive(Clone, Copy, Debug)]
struct Needy {
    /// Input VC, by its number in the router.
    input: u16,
    port: u8,
    /// VCs of the port that it requests: available ones, not none.
    vcs: u32,
    /// Those that picked it.
    granted: u32,
    /// The output VC that it wins.
    won: u16,
    /// It was granted the switch, too.
    is_granted: bool,
}

/// A grant of the switch that is used.
#[derive(Clone, Copy, Debug)]
struct Grant {
    input: u16,
    output: u16,
    is_speculative: bool,
}

/// Lists and masks of a step, for their memory.
#[derive(Debug)]
pub(super) struct Scratch {
    heads: Vec<Needy>,
    grants: Vec<Grant>,
    pub(super) candidates: Vec<Candidate>,
    requests: Vec<Request>,
    /// By input port: VCs that request the switch as a speculation.
    speculative: Vec<u32>,
    /// By input port and output port: the candidate.
    candidate: Vec<u8>,
    /// By input port: output ports that it requests, and those that picked it.
    outs: Vec<u64>,
    /// By output port: input ports that request it.
    ins: Vec<u64>,
    pairs: Vec<(u8, u8)>,
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
            ins: vec![0; ports],
            pairs: Vec::new(),
        }
    }
}

/// The output VCs of a router as a head sees them that needs one.
struct Local<'a, const P: usize, const V: usize> {
    params: &'a Params,
    routers: &'a Routers<P, V>,
    router: usize,
    /// \[flits\] Of the head's packet.
    flits: u32,
}

impl<const P: usize, const V: usize> Local<'_, P, V> {
    fn credits_of(&self, port: usize, vcs: u32) -> impl Iterator<Item = (usize, u32)> {
        let first = self.routers.first_vc(self.routers.first_port(self.router) + port);
        bits(vcs.into()).map(move |vc| (vc, self.routers.outputs[first + vc].credits.into()))
    }
}

impl<const P: usize, const V: usize> Outputs for Local<'_, P, V> {
    fn available(&self, port: usize, vcs: u32, tier: Tier) -> u32 {
        let Params { buffer, wait_for_tail_credit, vc_busy_when_full, .. } = *self.params;
        let free = self.routers.out_ports[self.routers.first_port(self.router) + port].free & vcs;
        let suits = |credits: u32| {
            (!wait_for_tail_credit || credits == buffer)
                && (!vc_busy_when_full || credits > 0)
                && (tier != Tier::Adaptive || credits == buffer || credits >= self.flits)
        };
        self.credits_of(port, free).filter(|&(_, credits)| suits(credits)).fold(0, |mask, (vc, _)| mask | 1 << vc)
    }

    fn credits(&self, port: usize, vcs: u32) -> u32 {
        self.credits_of(port, vcs).map(|(_, credits)| credits).sum()
    }

    fn ahead(&self, port: usize, vcs: u32) -> u32 {
        self.credits_of(port, vcs).map(|(_, credits)| self.params.buffer - credits).sum()
    }
}

/// How far `number` is after `start`, cyclically below `count`.
#[inline(always)]
const fn after(number: usize, start: usize, count: usize) -> usize {
    if number >= start { number - start } else { number + count - start }
}

/// The number after `number`, cyclically below `count`.
#[inline(always)]
const fn next(number: usize, count: usize) -> usize {
    if number + 1 == count { 0 } else { number + 1 }
}

/// The bits of a mask, from `start` on, cyclically.
#[inline(always)]
fn bits_from(mask: u32, start: usize) -> impl Iterator<Item = usize> {
    bits(mask.rotate_right(start as u32).into()).map(move |bit| (bit + start) & 31)
}

impl<const P: usize, const V: usize> Fast<P, V> {
    /// One step of a router that may have something to do.
    #[inline]
    pub(super) fn step(&mut self, router: usize, step: u64) {
        self.scratch.heads.clear();
        if self.routers.needs[router] != 0 {
            self.collect_heads(router);
        }
        if self.scratch.heads.is_empty() && self.routers.requests[router] == 0 {
            self.sleep(router);
        } else if self.is_plain && self.are_apart(router) {
            let first = self.routers.first_port(router);
            for from in bits(self.routers.requests[router]) {
                let vc = self.routers.in_ports[first + from].requests.trailing_zeros() as usize;
                self.pass(router, from, vc, step);
            }
            for at in 0..self.scratch.heads.len() {
                self.head_alone(router, self.scratch.heads[at], step);
            }
        } else {
            self.step_of_many(router, step);
        }
    }

    /// True if no two requests or heads are at the same input port or request the same output port.
    #[inline]
    fn are_apart(&self, router: usize) -> bool {
        let (base_port, base) = (self.routers.first_port(router), self.routers.base(router));
        let mut ins = self.routers.requests[router];
        let mut outs = 0u64;
        for from in bits(ins) {
            let mask = self.routers.in_ports[base_port + from].requests;
            let vc = mask.trailing_zeros() as usize;
            let to = 1 << self.routers.inputs[base + self.routers.first_vc(from) + vc].port;
            if !mask.is_power_of_two() || outs & to != 0 {
                return false;
            }
            outs |= to;
        }
        for head in &self.scratch.heads {
            let (from, to) = (1 << self.routers.split(head.input.into()).0, 1 << head.port);
            if ins & from != 0 || outs & to != 0 {
                return false;
            }
            ins |= from;
            outs |= to;
        }
        true
    }

    /// A router that has nothing to do, until something wakes it.
    #[inline]
    fn sleep(&mut self, router: usize) {
        self.routers.active.remove(router);
        if self.params.hold == Hold::Packet {
            let first = self.routers.first_port(router);
            self.routers.in_ports[first..first + P].iter_mut().for_each(|port| port.held = NOT_HELD);
        }
    }

    /// The only request for its ports is granted.
    #[inline]
    fn pass(&mut self, router: usize, from: usize, vc: usize, step: u64) {
        let local = self.routers.first_vc(from) + vc;
        let input = &self.routers.inputs[self.routers.base(router) + local];
        let grant = Grant { input: local as u16, output: input.output, is_speculative: false };
        self.turn(router, from, input.port.into(), vc);
        self.grant(router, grant, step);
    }

    /// The only head that requests its ports.
    #[inline]
    fn head_alone(&mut self, router: usize, mut head: Needy, step: u64) {
        let base = self.routers.base(router);
        let output = self.pick_vc(base, &head, head.vcs);
        head.won = output as u16;
        self.turn_vc(base, &head);
        if self.params.speculative {
            let first = base + self.routers.first_vc(head.port.into());
            let has_credit = |vc: usize| self.routers.outputs[first + vc].credits > 0;
            if bits(head.vcs.into()).any(has_credit) {
                let (from, vc) = self.routers.split(head.input.into());
                head.is_granted = self.routers.outputs[base + output].credits > 0;
                self.turn(router, from, head.port.into(), vc);
                self.stalls.misspeculated += u64::from(!head.is_granted);
            }
            self.stalls.no_credit += u64::from(!head.is_granted);
        }
        self.own(base, &head, step);
        if head.is_granted {
            self.grant(router, Grant { input: head.input, output: head.won, is_speculative: true }, step);
        }
    }

    /// Pointers of switch allocation move past an input port, an output port and a VC.
    #[inline(always)]
    fn turn(&mut self, router: usize, from: usize, to: usize, vc: usize) {
        let (first, ports) = (self.routers.first_port(router), self.routers.ports);
        let in_port = &mut self.routers.in_ports[first + from];
        in_port.accept = next(to, ports) as u8;
        in_port.next_vc = next(vc, self.routers.vcs) as u8;
        self.routers.out_ports[first + to].grant = next(from, ports) as u8;
    }

    /// Any number of heads and requests.
    fn step_of_many(&mut self, router: usize, step: u64) {
        if !self.scratch.heads.is_empty() {
            self.allocate_vcs(router);
        }
        self.allocate_switch(router, step);
        self.apply(router, step);
    }

    /// Heads that request an available VC.
    #[inline]
    fn collect_heads(&mut self, router: usize) {
        let first = self.routers.first_port(router);
        for port in bits(self.routers.needs[router]) {
            for vc in bits(self.routers.in_ports[first + port].needs.into()) {
                let local = self.routers.first_vc(port) + vc;
                let (to, vcs) = self.request(router, local);
                if vcs != 0 {
                    let input = local as u16;
                    self.scratch.heads.push(Needy { input, port: to, vcs, granted: 0, won: NOBODY, is_granted: false });
                }
            }
        }
    }

    /// The output port and the available VCs that a head requests.
    #[inline]
    fn request(&mut self, router: usize, local: usize) -> (u8, u32) {
        let input = &self.routers.inputs[self.routers.base(router) + local];
        if !self.heeds_credits {
            let out_port = &self.routers.out_ports[self.routers.first_port(router) + usize::from(input.port)];
            return (input.port, out_port.free & input.vcs);
        }
        self.request_by_credits(router, local)
    }

    /// The same where it depends on credits.
    #[inline(never)]
    fn request_by_credits(&mut self, router: usize, local: usize) -> (u8, u32) {
        let at = self.routers.base(router) + local;
        let input = self.routers.inputs[at];
        let number = self.routers.front(at).packet;
        let packet = &self.ends.packets[number];
        let view = Local { params: &self.params, routers: &self.routers, router, flits: packet.flits };
        if !self.is_adaptive {
            return (input.port, view.available(input.port.into(), input.vcs, Tier::Free));
        }
        let key = packet.key;
        let mut head = Head { source: packet.source, destination: packet.destination, phase: packet.phase };
        let (port, _) = self.routers.split(local);
        if self.routes.decides() && self.wiring.back(router, port).end == End::Endpoint(head.source) {
            head.phase = self.routes.decide(router, &head, &mut ByKey(key), &view);
        }
        self.routes.candidates(router, &head, &mut ByKey(key), &mut self.scratch.candidates);
        let (port, mask) = select(&self.scratch.candidates, trgen::rng::mix2(key, router as u64), &view);
        self.ends.packets[number].phase = head.phase;
        self.routers.inputs[at].port = port;
        (port, mask)
    }

    /// Gives output VCs to heads.
    fn allocate_vcs(&mut self, router: usize) {
        match self.params.vc_allocator {
            Kind::Islip { iterations: 1 } => self.islip_vcs(router),
            Kind::Separable => self.separable_vcs(router),
            _ => self.other_vcs(router),
        }
    }

    /// The first of some VCs of a port, from the pointer of an input VC on.
    #[inline(always)]
    fn pick_vc(&self, base: usize, head: &Needy, vcs: u32) -> usize {
        let first = self.routers.first_vc(head.port.into());
        let pointer = usize::from(self.routers.vc_accept[base + usize::from(head.input)]);
        let start = pointer.wrapping_sub(first);
        first + first_from(vcs.into(), if start < self.routers.vcs { start } else { 0 })
    }

    /// Pointers of VC allocation move past a head and the output VC that it wins.
    #[inline(always)]
    fn turn_vc(&mut self, base: usize, head: &Needy) {
        self.routers.vc_accept[base + usize::from(head.input)] = head.won + 1;
        self.routers.vc_grant[base + usize::from(head.won)] = head.input + 1;
    }

    /// Among heads, the first from the pointer of an output VC on.
    #[inline(always)]
    fn pick_head(&self, base: usize, output: usize, asks: impl Fn(&Needy) -> bool) -> Option<usize> {
        let count = self.routers.of_router();
        let pointer = usize::from(self.routers.vc_grant[base + output]);
        let mut best = None;
        let mut least = usize::MAX;
        for (at, head) in self.scratch.heads.iter().enumerate() {
            let distance = after(head.input.into(), pointer, count);
            if asks(head) && distance < least {
                (best, least) = (Some(at), distance);
            }
        }
        best
    }

    fn islip_vcs(&mut self, router: usize) {
        let base = self.routers.base(router);
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
                let asks = |head: &Needy| head.port == port && head.vcs >> vc & 1 != 0;
                if let Some(picked) = self.pick_head(base, self.routers.first_vc(port.into()) + vc, asks) {
                    self.scratch.heads[picked].granted |= 1 << vc;
                }
            }
        }
        for at in 0..self.scratch.heads.len() {
            let mut head = self.scratch.heads[at];
            if head.granted != 0 {
                head.won = self.pick_vc(base, &head, head.granted) as u16;
                self.scratch.heads[at].won = head.won;
                self.turn_vc(base, &head);
            }
        }
    }

    fn separable_vcs(&mut self, router: usize) {
        let base = self.routers.base(router);
        for at in 0..self.scratch.heads.len() {
            let head = self.scratch.heads[at];
            let output = self.pick_vc(base, &head, head.vcs);
            self.scratch.heads[at].granted = 1 << (output - self.routers.first_vc(head.port.into()));
        }
        for at in 0..self.scratch.heads.len() {
            let Needy { port, granted, .. } = self.scratch.heads[at];
            let output = self.routers.first_vc(port.into()) + granted.trailing_zeros() as usize;
            let asks = |head: &Needy| head.port == port && head.granted == granted;
            // Of those that picked the same one, the winner meets itself once.
            if self.pick_head(base, output, asks) == Some(at) {
                self.scratch.heads[at].won = output as u16;
            }
        }
        for at in 0..self.scratch.heads.len() {
            let head = self.scratch.heads[at];
            if head.won != NOBODY {
                self.turn_vc(base, &head);
            }
        }
    }

    /// By an allocator that has no masks.
    fn other_vcs(&mut self, router: usize) {
        let base = self.routers.base(router);
        let requests = &mut self.scratch.requests;
        requests.clear();
        for head in &self.scratch.heads {
            let created = self.ends.packets[self.routers.front(base + usize::from(head.input)).packet].start;
            let resources = bits(head.vcs.into()).map(|vc| usize::from(head.port) * self.routers.vcs + vc);
            let requester = self.routers.plain(head.input.into());
            requests.extend(resources.map(|resource| Request { requester, resource, created }));
        }
        let given = self.routers.vc_allocators[router].allocate(requests);
        for head in &mut self.scratch.heads {
            let won = given[self.routers.plain(head.input.into())];
            head.won = won.map_or(NOBODY, |output| self.routers.padded(output) as u16);
        }
    }

    /// True if the queue of an output takes grants in this step.
    #[inline(always)]
    fn has_room(&mut self, out_port: usize, step: u64) -> bool {
        match self.params.output_queue {
            None => true,
            Some(bound) => {
                let queue = &mut self.queued[out_port];
                while queue.front().is_some_and(|&(_, leaves)| leaves < self.clock) {
                    queue.pop_front();
                }
                queue.iter().filter(|&&(enters, _)| enters < step).count() < bound as usize
            }
        }
    }

    /// Gives output ports to input ports.
    fn allocate_switch(&mut self, router: usize, step: u64) {
        let ports = self.routers.ports;
        let (base_port, base) = (self.routers.first_port(router), self.routers.base(router));
        self.scratch.grants.clear();
        let mut asking = self.routers.requests[router];
        if self.params.speculative {
            for at in 0..self.scratch.heads.len() {
                let Needy { input, port, vcs: mask, .. } = self.scratch.heads[at];
                let first = base + self.routers.first_vc(port.into());
                let has_credit = bits(mask.into()).any(|vc| self.routers.outputs[first + vc].credits > 0);
                if has_credit && self.has_room(base_port + usize::from(port), step) {
                    let (from, vc) = self.routers.split(input.into());
                    self.scratch.speculative[from] |= 1 << vc;
                    asking |= 1 << from;
                }
            }
        }
        let mut busy_outputs = 0u64;
        if self.params.hold == Hold::Packet {
            (asking, busy_outputs) = self.keep_connections(router, asking, step);
        }
        let mut wanted = 0u64;
        let mut asked = 0u64;
        for from in bits(asking) {
            let InPort { requests, next_vc, .. } = self.routers.in_ports[base_port + from];
            let speculative = std::mem::take(&mut self.scratch.speculative[from]);
            let (start, first) = (usize::from(next_vc), base + self.routers.first_vc(from));
            let mut outs = 0u64;
            // Requests of flits that have a VC come before speculations.
            for vc in bits_from(requests, start) {
                let to = usize::from(self.routers.inputs[first + vc].port);
                if self.params.output_queue.is_some() && !self.has_room(base_port + to, step) {
                    self.routers.inputs[first + vc].since += 1;
                    self.stalls.no_credit += 1;
                } else if (outs | busy_outputs) >> to & 1 == 0 {
                    outs |= 1 << to;
                    self.scratch.candidate[from * ports + to] = vc as u8;
                    self.scratch.ins[to] |= 1 << from;
                }
            }
            for vc in bits_from(speculative, start) {
                let to = usize::from(self.routers.inputs[first + vc].port);
                if (outs | busy_outputs) >> to & 1 == 0 {
                    outs |= 1 << to;
                    self.scratch.candidate[from * ports + to] = vc as u8;
                    self.scratch.ins[to] |= 1 << from;
                }
            }
            self.scratch.outs[from] = outs;
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
            if is_by_masks(self.params.switch_allocator) {
                self.turn(router, from, to, vc);
            } else {
                self.routers.in_ports[base_port + from].next_vc = next(vc, self.routers.vcs) as u8;
            }
            let input = (self.routers.first_vc(from) + vc) as u16;
            let this = &self.routers.inputs[base + usize::from(input)];
            if this.state == State::Active {
                self.scratch.grants.push(Grant { input, output: this.output, is_speculative: false });
                continue;
            }
            let head = self.scratch.heads.iter_mut().find(|head| head.input == input);
            match head.filter(|head| head.won != NOBODY) {
                Some(head) if self.routers.outputs[base + usize::from(head.won)].credits > 0 => {
                    head.is_granted = true;
                    self.scratch.grants.push(Grant { input, output: head.won, is_speculative: true });
                }
                _ => self.stalls.misspeculated += 1,
            }
        }
    }

    /// Connections that are kept come before all others. Returns the input ports that go on asking, and output ports that
    /// are busy.
    fn keep_connections(&mut self, router: usize, mut asking: u64, step: u64) -> (u64, u64) {
        let (base_port, base) = (self.routers.first_port(router), self.routers.base(router));
        let mut busy_outputs = 0;
        for from in 0..self.routers.ports {
            let InPort { held, requests, .. } = self.routers.in_ports[base_port + from];
            if held == NOT_HELD {
                continue;
            }
            let local = self.routers.first_vc(from) + usize::from(held);
            let input = self.routers.inputs[base + local];
            if requests >> held & 1 == 0 || !self.has_room(base_port + usize::from(input.port), step) {
                self.routers.in_ports[base_port + from].held = NOT_HELD;
                continue;
            }
            let grant = Grant { input: local as u16, output: input.output, is_speculative: false };
            self.scratch.grants.push(grant);
            busy_outputs |= 1 << input.port;
            asking &= !(1 << from);
            self.scratch.speculative[from] = 0;
            if self.params.output_queue.is_none() {
                continue;
            }
            // The other flits of this port stand before full queues all the same.
            for vc in bits(requests.into()) {
                let at = base + self.routers.first_vc(from) + vc;
                let to = usize::from(self.routers.inputs[at].port);
                if !self.has_room(base_port + to, step) {
                    self.routers.inputs[at].since += 1;
                    self.stalls.no_credit += 1;
                }
            }
        }
        (asking, busy_outputs)
    }

    /// Matches the input ports `asked` with the output ports `wanted`; requests are in the scratch masks, of which those
    /// of outputs come out empty.
    fn match_ports(&mut self, router: usize, asked: u64, wanted: u64) {
        let ports = self.routers.ports;
        let base = self.routers.first_port(router);
        let Scratch { outs, ins, pairs, candidate, requests, .. } = &mut self.scratch;
        pairs.clear();
        let mut picked = 0u64;
        match self.params.switch_allocator {
            Kind::Islip { iterations: 1 } => {
                for from in bits(asked) {
                    outs[from] = 0;
                }
                for to in bits(wanted) {
                    let from = first_from(std::mem::take(&mut ins[to]), self.routers.out_ports[base + to].grant.into());
                    outs[from] |= 1 << to;
                    picked |= 1 << from;
                }
                for from in bits(picked) {
                    let to = first_from(outs[from], self.routers.in_ports[base + from].accept.into());
                    pairs.push((from as u8, to as u8));
                }
            }
            Kind::Separable => {
                for to in bits(wanted) {
                    ins[to] = 0;
                }
                for from in bits(asked) {
                    let to = first_from(outs[from], self.routers.in_ports[base + from].accept.into());
                    ins[to] |= 1 << from;
                    picked |= 1 << to;
                }
                for to in bits(picked) {
                    let from = first_from(std::mem::take(&mut ins[to]), self.routers.out_ports[base + to].grant.into());
                    pairs.push((from as u8, to as u8));
                }
            }
            _ => {
                requests.clear();
                for from in bits(asked) {
                    for to in bits(outs[from]) {
                        let vc = usize::from(candidate[from * ports + to]);
                        let front = self.routers.front(self.routers.first_vc(base + from) + vc);
                        let created = self.ends.packets[front.packet].start;
                        requests.push(Request { requester: from, resource: to, created });
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

    /// What the step changes.
    fn apply(&mut self, router: usize, step: u64) {
        let (base_port, base) = (self.routers.first_port(router), self.routers.base(router));
        for at in 0..self.scratch.heads.len() {
            let head = self.scratch.heads[at];
            if head.won == NOBODY {
                continue;
            }
            if self.params.speculative && !head.is_granted {
                let has_credit = self.routers.outputs[base + usize::from(head.won)].credits > 0;
                if has_credit && self.has_room(base_port + usize::from(head.port), step) {
                    self.stalls.lost_switch += 1;
                } else {
                    self.stalls.no_credit += 1;
                }
            }
            self.own(base, &head, step);
        }
        for at in 0..self.scratch.grants.len() {
            let grant = self.scratch.grants[at];
            self.grant(router, grant, step);
        }
    }

    /// A head has won an output VC.
    #[inline]
    fn own(&mut self, base: usize, head: &Needy, step: u64) {
        let at = base + usize::from(head.input);
        let output = base + usize::from(head.won);
        let front = self.routers.front(at);
        let packet = &mut self.ends.packets[front.packet];
        packet.vc_cycles += packet.lap(self.clock);
        self.routers.need_no_more(at);
        let input = &mut self.routers.inputs[at];
        self.stalls.no_vc += step - input.since;
        if head.is_granted && front.is_tail {
            // It is released in the same step.
            return;
        }
        input.output = head.won;
        self.routers.outputs[output].owner = head.input;
        let (port, vc) = self.routers.split(output);
        self.routers.out_ports[port].free &= !(1 << vc);
        let delay = self.params.switch_delay();
        let input = &mut self.routers.inputs[at];
        input.since = step + delay;
        if delay > 1 {
            input.state = State::Later;
            self.timers.add(step + delay, at as u32);
            return;
        }
        input.state = State::Active;
        if !head.is_granted {
            self.ask(at);
        }
    }

    /// \[cycle\] Of a step.
    #[inline(always)]
    fn cycle_of(&self, step: u64) -> u64 {
        if self.is_in_step {
            return step;
        }
        let speedup = self.params.speedup;
        let mut cycle = self.clock;
        while speedup.before(cycle + 1) <= step {
            cycle += 1;
        }
        cycle
    }

    /// A flit is granted the switch.
    #[inline]
    fn grant(&mut self, router: usize, grant: Grant, step: u64) {
        let now = self.clock;
        let base = self.routers.base(router);
        let at = base + usize::from(grant.input);
        let output = base + usize::from(grant.output);
        let routers = &mut self.routers;
        let (from, vc) = routers.split(at);
        let (port, out_vc) = routers.split(output);

        let place = routers.place(at, routers.inputs[at].first);
        let input = &mut routers.inputs[at];
        let word = routers.flits[place];
        input.first = input.first.wrapping_add(1);
        input.len -= 1;
        let left = input.len;
        if !grant.is_speculative {
            self.stalls.lost_switch += step - input.since;
        }
        let credits = &mut routers.outputs[output].credits;
        *credits -= 1;
        let credits = *credits;
        self.flit_hops += 1;
        let waiting = &mut self.occupancy[vc % V];
        *waiting = waiting.wrapping_add(now);

        let in_port = &mut routers.in_ports[from];
        in_port.sent = now.max(in_port.sent + 1);
        self.credits.add(in_port.sent + u64::from(in_port.delay), in_port.back + vc as u32);

        let enters = step + u64::from(self.params.traverse_delay);
        let flit = unpack(word);
        if self.params.hold == Hold::Packet {
            in_port.held = if flit.is_tail { NOT_HELD } else { vc as u8 };
        }
        let crossed = self.cycle_of(enters);
        let out_port = &mut self.routers.out_ports[port];
        let leaves = crossed.max(out_port.left + 1);
        out_port.left = leaves;
        let (target, delay) = (out_port.target, u64::from(out_port.delay));
        let due = leaves + delay;
        self.last_moved = self.last_moved.max(due);
        if let Some(queue) = self.queued.get_mut(port) {
            queue.push_back((enters, leaves));
        }
        let is_last = target & ENDPOINT != 0;
        if is_last {
            self.arrivals.add(due, (target, word));
            let back = due + delay + u64::from(self.params.credit_delay);
            self.credits.add(back, output as u32);
        } else {
            self.arrivals.add(due, (target + out_vc as u32, word));
        }
        if flit.is_head {
            let packet = &mut self.ends.packets[flit.packet];
            packet.switch_cycles += packet.lap(now);
            packet.traversal_cycles += packet.lap(leaves);
            self.ends.head_leaves(flit.packet, is_last);
            if !self.crossed.is_empty() {
                let local = port - self.routers.first_port(router);
                self.crossed[router * self.routers.ports + local] += 1;
            }
            if self.is_adaptive && !is_last {
                let packet = &mut self.ends.packets[flit.packet];
                let there = self.routers.router_of(target as usize);
                packet.phase = self.routes.hop(router, there, packet.phase, &mut ByKey(packet.key));
            }
        }
        if flit.is_tail {
            if !grant.is_speculative {
                self.routers.outputs[output].owner = NOBODY;
                self.routers.out_ports[port].free |= 1 << out_vc;
                self.routers.request_no_more(at);
            }
            if left > 0 {
                let packet = self.routers.front(at).packet;
                self.begin(at, packet, step + 1, step + 1);
            } else {
                self.routers.inputs[at].state = State::Idle;
            }
        } else if left == 0 {
            self.routers.request_no_more(at);
        } else if !self.routers.ready.is_empty() {
            self.stand(at, step + 1);
        } else {
            self.routers.inputs[at].since = step + 1;
            if credits == 0 {
                self.routers.request_no_more(at);
            } else if grant.is_speculative {
                self.routers.request(at);
            }
        }
    }
}
