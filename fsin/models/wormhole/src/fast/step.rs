//! One step of a router: what is granted, and what that changes.

use super::Fast;
use super::allocate::{Grant, Needy, next};
use super::state::{ENDPOINT, NOBODY, NOT_HELD, State, unpack};
use super::wheel::bits;
use crate::params::Hold;
use crate::rules::routes::ByKey;

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
    pub(super) fn turn(&mut self, router: usize, from: usize, to: usize, vc: usize) {
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
