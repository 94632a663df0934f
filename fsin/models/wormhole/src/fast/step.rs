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
    /// Input VC, as port x VCs + VC.
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
struct Local<'a> {
    params: &'a Params,
    routers: &'a Routers,
    router: usize,
    /// \[flits\] Of the head's packet.
    flits: u32,
}

impl Local<'_> {
    fn credits_of(&self, port: usize, vcs: u32) -> impl Iterator<Item = (usize, u32)> {
        let first = (self.router * self.routers.ports + port) * self.routers.vcs;
        bits(vcs.into()).map(move |vc| (vc, self.routers.outputs[first + vc].credits.into()))
    }
}

impl Outputs for Local<'_> {
    fn available(&self, port: usize, vcs: u32, tier: Tier) -> u32 {
        let Params { buffer, wait_for_tail_credit, vc_busy_when_full, .. } = *self.params;
        let free = self.routers.out_ports[self.router * self.routers.ports + port].free & vcs;
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

impl Fast {
    /// One step of a router that may have something to do.
    #[inline]
    pub(super) fn step(&mut self, router: usize, step: u64) {
        self.scratch.heads.clear();
        if self.routers.needs[router] != 0 {
            self.collect_heads(router);
        }
        if self.scratch.heads.is_empty() {
            if self.routers.requests[router] == 0 {
                self.routers.active.remove(router);
                if self.params.hold == Hold::Packet {
                    let ports = self.routers.ports;
                    let in_ports = &mut self.routers.in_ports[router * ports..][..ports];
                    in_ports.iter_mut().for_each(|port| port.held = NOT_HELD);
                }
                return;
            }
        } else {
            self.allocate_vcs(router);
        }
        self.allocate_switch(router, step);
        self.apply(router, step);
    }

    /// Heads that request an available VC.
    fn collect_heads(&mut self, router: usize) {
        let (ports, vcs) = (self.routers.ports, self.routers.vcs);
        for port in bits(self.routers.needs[router]) {
            for vc in bits(self.routers.in_ports[router * ports + port].needs.into()) {
                let local = port * vcs + vc;
                let (to, mask) = self.request(router, local);
                if mask != 0 {
                    let head =
                        Needy { input: local as u16, port: to, vcs: mask, granted: 0, won: NOBODY, is_granted: false };
                    self.scratch.heads.push(head);
                }
            }
        }
    }

    /// The output port and the available VCs that a head requests.
    #[inline]
    fn request(&mut self, router: usize, local: usize) -> (u8, u32) {
        let (ports, vcs) = (self.routers.ports, self.routers.vcs);
        let at = router * ports * vcs + local;
        let input = self.routers.inputs[at];
        if !self.heeds_credits {
            return (input.port, self.routers.out_ports[router * ports + usize::from(input.port)].free & input.vcs);
        }
        let number = self.routers.front(at).packet;
        let packet = &self.ends.packets[number];
        let view = Local { params: &self.params, routers: &self.routers, router, flits: packet.flits };
        if !self.is_adaptive {
            return (input.port, view.available(input.port.into(), input.vcs, Tier::Free));
        }
        let key = packet.key;
        let mut head = Head { source: packet.source, destination: packet.destination, phase: packet.phase };
        if self.routes.decides() && self.wiring.back(router, local / vcs).end == End::Endpoint(head.source) {
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
        let count = self.routers.vcs;
        let first = usize::from(head.port) * count;
        let pointer = usize::from(self.routers.vc_accept[base + usize::from(head.input)]);
        let start = pointer.wrapping_sub(first);
        first + first_from(vcs.into(), if start < count { start } else { 0 })
    }

    /// A head wins an output VC: both pointers move past it.
    #[inline(always)]
    fn win_vc(&mut self, base: usize, at: usize, output: usize) {
        let count = self.routers.ports * self.routers.vcs;
        let head = &mut self.scratch.heads[at];
        head.won = output as u16;
        self.routers.vc_accept[base + usize::from(head.input)] = next(output, count) as u16;
        self.routers.vc_grant[base + output] = next(head.input.into(), count) as u16;
    }

    /// Among heads, the first from the pointer of an output VC on.
    #[inline(always)]
    fn pick_head(&self, base: usize, output: usize, asks: impl Fn(&Needy) -> bool) -> Option<usize> {
        let count = self.routers.ports * self.routers.vcs;
        let pointer = usize::from(self.routers.vc_grant[base + output]);
        let asking = self.scratch.heads.iter().enumerate().filter(|(_, head)| asks(head));
        asking.min_by_key(|(_, head)| after(head.input.into(), pointer, count)).map(|(at, _)| at)
    }

    fn islip_vcs(&mut self, router: usize) {
        let vcs = self.routers.vcs;
        let base = router * self.routers.ports * vcs;
        if let [head] = self.scratch.heads[..] {
            let output = self.pick_vc(base, &head, head.vcs);
            self.win_vc(base, 0, output);
            return;
        }
        let mut seen = 0u64;
        for at in 0..self.scratch.heads.len() {
            let port = self.scratch.heads[at].port;
            if seen >> port & 1 != 0 {
                continue;
            }
            seen |= 1 << port;
            let of_port = self.scratch.heads.iter().filter(|head| head.port == port);
            let union = of_port.fold(0, |union, head| union | head.vcs);
            for vc in bits(union.into()) {
                let asks = |head: &Needy| head.port == port && head.vcs >> vc & 1 != 0;
                if let Some(picked) = self.pick_head(base, usize::from(port) * vcs + vc, asks) {
                    self.scratch.heads[picked].granted |= 1 << vc;
                }
            }
        }
        for at in 0..self.scratch.heads.len() {
            let head = self.scratch.heads[at];
            if head.granted != 0 {
                let output = self.pick_vc(base, &head, head.granted);
                self.win_vc(base, at, output);
            }
        }
    }

    fn separable_vcs(&mut self, router: usize) {
        let vcs = self.routers.vcs;
        let base = router * self.routers.ports * vcs;
        for at in 0..self.scratch.heads.len() {
            let head = self.scratch.heads[at];
            let output = self.pick_vc(base, &head, head.vcs);
            self.scratch.heads[at].granted = 1 << (output - usize::from(head.port) * vcs);
        }
        for at in 0..self.scratch.heads.len() {
            let Needy { port, granted, .. } = self.scratch.heads[at];
            let output = usize::from(port) * vcs + granted.trailing_zeros() as usize;
            let asks = |head: &Needy| head.port == port && head.granted == granted;
            // Of those that picked the same one, the winner meets itself once.
            if self.pick_head(base, output, asks) == Some(at) {
                self.scratch.heads[at].won = output as u16;
            }
        }
        for at in 0..self.scratch.heads.len() {
            let won = self.scratch.heads[at].won;
            if won != NOBODY {
                self.win_vc(base, at, won.into());
            }
        }
    }

    /// By an allocator that has no masks.
    fn other_vcs(&mut self, router: usize) {
        let vcs = self.routers.vcs;
        let base = router * self.routers.ports * vcs;
        let requests = &mut self.scratch.requests;
        requests.clear();
        for head in &self.scratch.heads {
            let created = self.ends.packets[self.routers.front(base + usize::from(head.input)).packet].start;
            let resources = bits(head.vcs.into()).map(|vc| usize::from(head.port) * vcs + vc);
            let requester = head.input.into();
            requests.extend(resources.map(|resource| Request { requester, resource, created }));
        }
        let given = self.routers.vc_allocators[router].allocate(requests);
        for head in &mut self.scratch.heads {
            head.won = given[usize::from(head.input)].map_or(NOBODY, |output| output as u16);
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
        let (ports, vcs) = (self.routers.ports, self.routers.vcs);
        let (base_port, base) = (router * ports, router * ports * vcs);
        self.scratch.grants.clear();
        let mut asking = self.routers.requests[router];
        if self.params.speculative {
            for at in 0..self.scratch.heads.len() {
                let Needy { input, port, vcs: mask, .. } = self.scratch.heads[at];
                let first = base + usize::from(port) * vcs;
                let has_credit = bits(mask.into()).any(|vc| self.routers.outputs[first + vc].credits > 0);
                if has_credit && self.has_room(base_port + usize::from(port), step) {
                    let from = usize::from(input) / vcs;
                    self.scratch.speculative[from] |= 1 << (usize::from(input) - from * vcs);
                    asking |= 1 << from;
                }
            }
        }
        let mut busy_outputs = 0u64;
        if self.params.hold == Hold::Packet {
            for from in 0..ports {
                let InPort { held, requests, .. } = self.routers.in_ports[base_port + from];
                if held == NOT_HELD {
                    continue;
                }
                let local = from * vcs + usize::from(held);
                let input = self.routers.inputs[base + local];
                let goes_on = requests >> held & 1 != 0 && self.has_room(base_port + usize::from(input.port), step);
                if goes_on {
                    let grant = Grant { input: local as u16, output: input.output, is_speculative: false };
                    self.scratch.grants.push(grant);
                    busy_outputs |= 1 << input.port;
                    asking &= !(1 << from);
                    self.count_full(base, from, step);
                    self.scratch.speculative[from] = 0;
                } else {
                    self.routers.in_ports[base_port + from].held = NOT_HELD;
                }
            }
        }
        let mut wanted = 0u64;
        let mut asked = 0u64;
        for from in bits(asking) {
            let in_port = self.routers.in_ports[base_port + from];
            let speculative = std::mem::take(&mut self.scratch.speculative[from]);
            let start = usize::from(in_port.next_vc);
            let mut outs = 0u64;
            // Requests of flits that have a VC come before speculations.
            for (is_real, mask) in [(true, in_port.requests), (false, speculative)] {
                let late = mask & (u32::MAX << start);
                for part in [late, mask ^ late] {
                    for vc in bits(part.into()) {
                        let input = &self.routers.inputs[base + from * vcs + vc];
                        let to = usize::from(input.port);
                        if is_real && self.params.output_queue.is_some() && !self.has_room(base_port + to, step) {
                            self.routers.inputs[base + from * vcs + vc].since += 1;
                            self.stalls.no_credit += 1;
                            continue;
                        }
                        if outs >> to & 1 == 0 && busy_outputs >> to & 1 == 0 {
                            outs |= 1 << to;
                            self.scratch.candidate[from * ports + to] = vc as u8;
                            self.scratch.ins[to] |= 1 << from;
                        }
                    }
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
            let (from, to) = self.scratch.pairs[at];
            let vc = self.scratch.candidate[usize::from(from) * ports + usize::from(to)];
            self.routers.in_ports[base_port + usize::from(from)].next_vc = next(vc.into(), vcs) as u8;
            let input = u16::from(from) * vcs as u16 + u16::from(vc);
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

    /// Counts the flits of an input port that stand before a full output queue.
    fn count_full(&mut self, base: usize, from: usize, step: u64) {
        if self.params.output_queue.is_none() {
            return;
        }
        let (ports, vcs) = (self.routers.ports, self.routers.vcs);
        for vc in bits(self.routers.in_ports[base / vcs + from].requests.into()) {
            let at = base + from * vcs + vc;
            let to = usize::from(self.routers.inputs[at].port);
            if !self.has_room(base / (ports * vcs) * ports + to, step) {
                self.routers.inputs[at].since += 1;
                self.stalls.no_credit += 1;
            }
        }
    }

    /// Matches the input ports `asked` with the output ports `wanted`; requests are in the scratch masks, which come out
    /// empty.
    fn match_ports(&mut self, router: usize, asked: u64, wanted: u64) {
        let ports = self.routers.ports;
        let base = router * ports;
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
                        let front = self.routers.front((base + from) * self.routers.vcs + vc);
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
                return;
            }
        }
        debug_assert!(is_by_masks(self.params.switch_allocator));
        for &(from, to) in pairs.iter() {
            self.routers.in_ports[base + usize::from(from)].accept = next(to.into(), ports) as u8;
            self.routers.out_ports[base + usize::from(to)].grant = next(from.into(), ports) as u8;
        }
    }

    /// What the step changes.
    fn apply(&mut self, router: usize, step: u64) {
        let (ports, vcs) = (self.routers.ports, self.routers.vcs);
        let base = router * ports * vcs;
        for at in 0..self.scratch.heads.len() {
            let head = self.scratch.heads[at];
            if head.won == NOBODY {
                continue;
            }
            if self.params.speculative && !head.is_granted {
                let has_credit = self.routers.outputs[base + usize::from(head.won)].credits > 0;
                if has_credit && self.has_room(router * ports + usize::from(head.port), step) {
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
    fn own(&mut self, base: usize, head: &Needy, step: u64) {
        let at = base + usize::from(head.input);
        let output = base + usize::from(head.won);
        let vcs = self.routers.vcs;
        let input = &mut self.routers.inputs[at];
        self.stalls.no_vc += step - input.since;
        input.output = head.won;
        self.routers.outputs[output].owner = head.input;
        self.routers.out_ports[output / vcs].free &= !(1 << (output % vcs));
        self.routers.need_no_more(at);
        let packet = &mut self.ends.packets[self.routers.front(at).packet];
        packet.vc_cycles += packet.lap(self.clock);
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
        let speedup = self.params.speedup;
        if speedup.is_one() {
            return step;
        }
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
        let (ports, vcs) = (self.routers.ports, self.routers.vcs);
        let base = router * ports * vcs;
        let at = base + usize::from(grant.input);
        let (from, vc) = (usize::from(grant.input) / vcs, usize::from(grant.input) % vcs);
        let output = base + usize::from(grant.output);
        let (port, out_vc) = (output / vcs, output % vcs);
        let routers = &mut self.routers;

        let input = &mut routers.inputs[at];
        let word = routers.flits[at * routers.ring + usize::from(input.first)];
        input.first = (input.first + 1) & (routers.ring as u16 - 1);
        input.len -= 1;
        let left = input.len;
        if !grant.is_speculative {
            self.stalls.lost_switch += step - input.since;
        }
        routers.outputs[output].credits -= 1;
        self.flit_hops += 1;
        let (sum, flits) = &mut self.occupancy[vc];
        (*sum, *flits) = (sum.wrapping_add(now), *flits - 1);

        let in_port = &mut routers.in_ports[router * ports + from];
        in_port.sent = now.max(in_port.sent + 1);
        self.credits.add(in_port.sent + u64::from(in_port.delay), (in_port.back, vc as u8));

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
            self.credits.add(back, ((port * vcs) as u32, out_vc as u8));
        } else {
            self.arrivals.add(due, (target + out_vc as u32, word));
        }
        if flit.is_head {
            let packet = &mut self.ends.packets[flit.packet];
            packet.switch_cycles += packet.lap(now);
            packet.traversal_cycles += packet.lap(leaves);
            self.ends.head_leaves(flit.packet, is_last);
            if let Some(crossed) = self.crossed.get_mut(port) {
                *crossed += 1;
            }
            if self.is_adaptive && !is_last {
                let packet = &mut self.ends.packets[flit.packet];
                let there = target as usize / (ports * vcs);
                packet.phase = self.routes.hop(router, there, packet.phase, &mut ByKey(packet.key));
            }
        }
        if flit.is_tail {
            self.routers.outputs[output].owner = NOBODY;
            self.routers.out_ports[port].free |= 1 << out_vc;
            self.routers.request_no_more(at);
            if left > 0 {
                self.begin(at, step + 1, step + 1);
            } else {
                self.routers.inputs[at].state = State::Idle;
            }
        } else if left > 0 {
            self.stand(at, step + 1);
        } else {
            self.routers.request_no_more(at);
        }
    }
}
