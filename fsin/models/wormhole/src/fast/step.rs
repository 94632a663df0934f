//! One step of a router: what is granted, and what that changes.

use super::allocate::{Grant, HeadRequest};
use super::part::Part;
use super::sets::bits;
use super::state::{ABROAD, ENDPOINT, InPort, NO_FLIT, NO_VC, NOT_HELD, OutPort, Router, Routers, State, unpack};
use crate::params::{Hold, Speedup};
use crate::rules::routes::ByKey;

impl<const P: usize, const V: usize, const DIRECT: bool> Part<P, V, DIRECT> {
    /// One step of a router that may have something to do.
    #[inline]
    pub(super) fn step(&mut self, router: usize, step: u64) {
        self.scratch.heads.clear();
        if self.routers.all[router].needs != 0 {
            self.collect_heads(router);
        }
        if self.scratch.heads.is_empty() && self.routers.all[router].requests == 0 {
            self.sleep(router);
        } else if (DIRECT || self.is_plain) && self.are_apart(router) {
            for from in bits(self.routers.all[router].requests) {
                self.pass(router, from % P, step);
            }
            for at in 0..self.scratch.heads.len() {
                self.head_alone(router, self.scratch.heads[at], step);
            }
            let Router { requests, needs, .. } = self.routers.all[router];
            if requests | needs == 0 {
                self.routers.active.remove(router);
            }
        } else {
            self.buffer_fresh(router, step);
            self.step_of_many(router, step);
        }
    }

    /// True if no two requests or heads are at the same input port or request the same output port.
    #[inline]
    fn are_apart(&self, router: usize) -> bool {
        let Router { inputs, in_ports, requests, .. } = &self.routers.all[router];
        let mut ins = *requests;
        if self.scratch.heads.is_empty() && ins.is_power_of_two() {
            return in_ports[ins.trailing_zeros() as usize % P].requests.is_power_of_two();
        }
        let mut outs = 0u64;
        for from in bits(ins) {
            let mask = in_ports[from % P].requests;
            let to = 1 << inputs[from % P][mask.trailing_zeros() as usize % V].port;
            if !mask.is_power_of_two() || outs & to != 0 {
                return false;
            }
            outs |= to;
        }
        for head in &self.scratch.heads {
            let (from, to) = (1 << (usize::from(head.input) / V), 1 << head.port);
            if ins & from != 0 || outs & to != 0 {
                return false;
            }
            ins |= from;
            outs |= to;
        }
        true
    }

    /// Grants the only request of input port `from`, with which no other request or head competes.
    #[inline(always)]
    fn pass(&mut self, router: usize, from: usize, step: u64) {
        let Router { inputs, in_ports, .. } = &self.routers.all[router];
        let vc = in_ports[from].requests.trailing_zeros() as usize % V;
        let (input, output) = ((from * V + vc) as u16, inputs[from][vc].output);
        if DIRECT || self.is_lean {
            self.pass_lean(router, (from, vc), output.into(), false);
        } else {
            self.advance_switch_pointers(router, from, usize::from(output) / V, vc);
            self.grant(router, Grant { input, output, is_speculative: false }, step);
        }
    }

    /// [`pass`](Self::pass) for a lean engine, with the round-robin pointers: each port sends at most one flit a cycle,
    /// so no flit waits for its link, and flits need no stage before they request the switch.
    #[inline(always)]
    fn pass_lean(&mut self, router: usize, (from, vc): (usize, usize), output: usize, is_speculative: bool) {
        let now = self.clock;
        let input_vc = (router * P + from) * V + vc;
        let (to, out_vc) = (output / V % P, output % V);
        let Routers { all, flits, ring_shift, place_mask, .. } = &mut self.routers;
        let Router { requests, inputs, outputs, in_ports, out_ports, .. } = &mut all[router];
        let this = &mut inputs.as_flattened_mut()[input_vc % (P * V)];
        let output_vc = &mut outputs.as_flattened_mut()[output % (P * V)];
        let (in_port, out_port) = (&mut in_ports[from], &mut out_ports[to]);
        advance_switch_pointers(in_port, out_port, (from, to, vc));

        let fresh = std::mem::replace(&mut in_port.fresh, NO_FLIT);
        let (word, left) = if fresh != NO_FLIT {
            (fresh, 0)
        } else {
            let word = flits[input_vc << *ring_shift | usize::from(this.first & *place_mask)];
            if !is_speculative {
                self.stalls.lost_switch += now - this.since;
            }
            this.first = this.first.wrapping_add(1);
            this.len -= 1;
            this.since = now + 1;
            self.occupancy[vc] = self.occupancy[vc].wrapping_add(now);
            (word, this.len)
        };
        output_vc.credits -= 1;
        self.flit_hops += 1;

        let flit = unpack(word);
        if flit.is_tail {
            if !is_speculative {
                output_vc.owner = NO_VC;
                out_port.free |= 1 << out_vc;
            }
            if left == 0 {
                this.state = State::Idle;
            }
        }
        let goes_on = !flit.is_tail && left > 0 && output_vc.credits > 0;
        if is_speculative == goes_on {
            // The input port has no other request.
            in_port.requests = u32::from(goes_on) << vc;
            *requests = *requests & !(1 << from) | u64::from(goes_on) << from;
        }

        let leaves = now + u64::from(self.params.traverse_delay);
        let (target, delay) = (out_port.target, u64::from(out_port.delay));
        self.credits.add(now + u64::from(in_port.delay), in_port.back + vc as u32);
        self.last_moved = self.last_moved.max(leaves + delay);
        if target & ABROAD != ENDPOINT {
            self.arrivals.add(leaves + delay, (target + out_vc as u32, word));
        } else if self.sinks.is_some() {
            self.ejected.add(leaves + delay, ((router * (P * V) + output) as u32, word));
        } else {
            self.arrivals.add(leaves + delay, (target, word));
            let back = leaves + 2 * delay + u64::from(self.params.credit_delay);
            self.credits.add(back, (router * (P * V) + output) as u32);
        }
        if flit.is_head {
            self.head_leaves(router, (from, to), flit.packet, leaves, target);
        }
        if flit.is_tail && left > 0 {
            self.next_comes(input_vc, true, now + 1);
        }
    }

    /// Makes a router inactive until something wakes it.
    #[inline]
    fn sleep(&mut self, router: usize) {
        self.routers.active.remove(router);
        if !DIRECT && self.params.hold == Hold::Packet {
            self.routers.all[router].in_ports.iter_mut().for_each(|port| port.held = NOT_HELD);
        }
    }

    /// Gives an output VC to a head with which no other head or request competes, and the switch too if it speculates.
    #[inline]
    fn head_alone(&mut self, router: usize, mut head: HeadRequest, step: u64) {
        let output = self.pick_vc(router, &head, head.vcs);
        head.won = output as u16;
        self.advance_vc_pointers(router, &head);
        let (from, vc) = (usize::from(head.input) / V % P, usize::from(head.input) % V);
        if self.params.speculative {
            let this = &self.routers.all[router];
            head.is_granted = this.output(output).credits > 0;
            if head.is_granted || this.has_credit(head.port.into(), head.vcs) {
                self.advance_switch_pointers(router, from, head.port.into(), vc);
                self.stalls.misspeculated += u64::from(!head.is_granted);
            }
            self.stalls.no_credit += u64::from(!head.is_granted);
        }
        self.assign_output_vc(router, &head, step);
        if !head.is_granted {
            return;
        }
        if DIRECT || self.is_lean {
            self.pass_lean(router, (from, vc), output, true);
        } else {
            self.grant(router, Grant { input: head.input, output: head.won, is_speculative: true }, step);
        }
    }

    /// Moves the round-robin pointers of switch allocation past an input port, an output port and a VC.
    #[inline(always)]
    pub(super) fn advance_switch_pointers(&mut self, router: usize, from: usize, to: usize, vc: usize) {
        let Router { in_ports, out_ports, .. } = &mut self.routers.all[router];
        advance_switch_pointers(&mut in_ports[from % P], &mut out_ports[to % P], (from, to, vc));
    }

    /// A step with any number of heads and requests.
    fn step_of_many(&mut self, router: usize, step: u64) {
        if !self.scratch.heads.is_empty() {
            self.allocate_vcs(router);
        }
        self.allocate_switch(router, step);
        self.apply(router, step);
    }

    /// Applies the grants of the step to the state.
    fn apply(&mut self, router: usize, step: u64) {
        if self.params.speculative {
            // Before a head has its VC, which may leave less room in a buffer that VCs share.
            for at in 0..self.scratch.heads.len() {
                let HeadRequest { won, is_granted, .. } = self.scratch.heads[at];
                if won == NO_VC || is_granted {
                    continue;
                }
                if self.can_take(router, won.into(), step) {
                    self.stalls.lost_switch += 1;
                } else {
                    self.stalls.no_credit += 1;
                }
            }
        }
        for at in 0..self.scratch.heads.len() {
            let head = self.scratch.heads[at];
            if head.won != NO_VC {
                self.assign_output_vc(router, &head, step);
            }
        }
        for at in 0..self.scratch.grants.len() {
            let grant = self.scratch.grants[at];
            self.grant(router, grant, step);
        }
    }

    /// Gives a head the output VC that it has won.
    #[inline(always)]
    fn assign_output_vc(&mut self, router: usize, head: &HeadRequest, step: u64) {
        let (local, output) = (usize::from(head.input), usize::from(head.won));
        let input_vc = self.routers.base(router) + local;
        let front = self.routers.front(input_vc);
        let packet = &mut self.ends.packets[front.packet];
        packet.vc_cycles += packet.end_stage(self.clock);
        let this = &mut self.routers.all[router];
        this.withdraw_need(local);
        if !DIRECT && let Some(pool) = self.pools.get_mut(router * P + output / V % P) {
            pool.own(output % V);
        }
        let input = this.input_mut(local);
        self.stalls.no_vc += step - input.since;
        if head.is_granted && front.is_tail {
            // The output VC is released in the same step.
            return;
        }
        let delay = self.params.switch_delay();
        input.output = head.won;
        input.since = step + delay;
        input.state = if delay > 1 { State::Waiting } else { State::Active };
        this.output_mut(output).owner = head.input;
        this.out_ports[output / V % P].free &= !(1 << (output % V));
        if delay > 1 {
            self.timers.add(step + delay, input_vc as u32);
        } else if !head.is_granted {
            self.request_switch(input_vc);
        }
    }

    /// Sends a flit that is granted the switch.
    #[inline]
    fn grant(&mut self, router: usize, grant: Grant, step: u64) {
        let now = self.clock;
        let base = self.routers.base(router);
        let (input, output) = (usize::from(grant.input), usize::from(grant.output));
        let (from, vc) = (input / V % P, input % V);
        let (to, out_vc) = (output / V % P, output % V);

        let input_vc = base + input;
        let own_router = &mut self.routers.all[router];
        let this = &mut own_router.inputs[from][vc];
        let ring = input_vc << self.routers.ring_shift;
        let word = self.routers.flits[ring | usize::from(this.first & self.routers.place_mask)];
        this.first = this.first.wrapping_add(1);
        this.len -= 1;
        let left = this.len;
        if !grant.is_speculative {
            self.stalls.lost_switch += step - this.since;
        }
        this.since = step + 1;
        let output_vc = &mut own_router.outputs[to][out_vc];
        output_vc.credits -= 1;
        let credits = output_vc.credits;
        if !DIRECT && let Some(pool) = self.pools.get_mut(router * P + to) {
            pool.send(out_vc, unpack(word).is_tail);
        }
        self.flit_hops += 1;
        let waiting = &mut self.occupancy[vc];
        *waiting = waiting.wrapping_add(now);

        let in_port = &mut own_router.in_ports[from];
        // A direct network sends every credit and every flit at once. The credits of a step go together where the
        // switch has several inputs for a port.
        if DIRECT {
            in_port.sent = now;
        } else if !self.is_widened || std::mem::replace(&mut self.last_credits[router * P + from], step) != step {
            in_port.sent = now.max(in_port.sent + 1);
        }
        self.credits.add(in_port.sent + u64::from(in_port.delay), in_port.back + vc as u32);

        let enters = match self.traverse_batch {
            Some(delay) if !DIRECT => self.batches[router].1.join(step + 1, delay),
            _ => step + u64::from(self.params.traverse_delay),
        };
        let flit = unpack(word);
        if !DIRECT && self.params.hold == Hold::Packet {
            in_port.held = if flit.is_tail { NOT_HELD } else { vc as u8 };
        }
        let crossed = match DIRECT || self.is_in_step {
            true => enters,
            false => {
                let crossed = cycle_of(self.params.speedup, now, enters);
                self.links.get_mut(router * self.routers.ports + to).map_or(crossed, |link| {
                    let leaves = crossed.max(link.next());
                    link.begin(leaves);
                    leaves
                })
            }
        };
        let out_port = &mut own_router.out_ports[to];
        let leaves = if DIRECT { crossed } else { crossed.max(out_port.left + 1) };
        out_port.left = leaves;
        let (target, delay) = (out_port.target, u64::from(out_port.delay));
        let due = leaves + delay;
        self.last_moved = self.last_moved.max(due);
        if !DIRECT && let Some(queue) = self.queued.get_mut(router * P + to) {
            queue.push_back((enters, leaves));
        }
        if target & ABROAD == ENDPOINT && self.sinks.is_some() {
            self.ejected.add(due, ((base + output) as u32, word));
        } else if target & ABROAD == ENDPOINT {
            self.arrivals.add(due, (target, word));
            let back = due + delay + u64::from(self.params.credit_delay);
            self.credits.add(back, (base + output) as u32);
        } else {
            self.arrivals.add(due, (target + out_vc as u32, word));
        }
        if flit.is_tail {
            if !grant.is_speculative {
                output_vc.owner = NO_VC;
                out_port.free |= 1 << out_vc;
                in_port.requests &= !(1 << vc);
            }
            if left == 0 {
                this.state = State::Idle;
            }
        } else if left > 0 && (DIRECT || self.routers.ready.is_empty()) {
            match credits {
                0 => in_port.requests &= !(1 << vc),
                // A speculation did not request the switch before.
                _ => in_port.requests |= 1 << vc,
            }
        } else if left == 0 {
            in_port.requests &= !(1 << vc);
        }
        let has_requests = u64::from(in_port.requests != 0) << from;
        own_router.requests = own_router.requests & !(1 << from) | has_requests;
        if flit.is_head {
            self.head_leaves(router, (from, to), flit.packet, leaves, target);
        }
        if left > 0 && (flit.is_tail || !DIRECT && !self.routers.ready.is_empty()) {
            self.next_comes(input_vc, flit.is_tail, step + 1);
        }
    }

    /// Accounts for a head that has been granted the switch and leaves towards `target` in cycle `leaves`.
    #[inline]
    fn head_leaves(&mut self, router: usize, (from, to): (usize, usize), number: u32, leaves: u64, target: u32) {
        let is_last = target & ABROAD == ENDPOINT;
        let packet = &mut self.ends.packets[number];
        packet.switch_cycles += packet.end_stage(self.clock);
        packet.traversal_cycles += packet.end_stage(leaves);
        if self.has_phases && !is_last {
            let first_here = if target & ENDPOINT == 0 { self.first } else { 0 };
            let there = first_here + self.routers.router_of((target & !ABROAD) as usize);
            let [here, there] = [self.first + router, there].map(|router| match DIRECT {
                true => router,
                false => self.routes.in_subnet(router),
            });
            packet.phase = self.routes.hop(here, there, &packet.head((0, 0)), &mut ByKey(packet.key));
        }
        self.ends.head_leaves(number, is_last);
        if !self.crossed.is_empty() {
            let ports = self.routers.ports;
            self.crossed[router * ports + to] += 1;
            if let Some(traversed) = self.traversed.get_mut((router * ports + from) * ports + to) {
                *traversed += u64::from(self.ends.packets[number].flits);
            }
        }
    }

    /// Prepares the flit that comes to the front of an input VC. `is_head` says whether it is a head: it is if the flit
    /// that has left is a tail.
    #[inline(never)]
    fn next_comes(&mut self, input_vc: usize, is_head: bool, next: u64) {
        if is_head {
            let packet = self.routers.front(input_vc).packet;
            self.begin(input_vc, packet, next, next);
        } else {
            self.start_flit(input_vc, next);
        }
    }
}

/// Moves the round-robin pointers of switch allocation past an input port, an output port and a VC. A search that
/// begins beyond the last number begins with the first.
#[inline(always)]
const fn advance_switch_pointers(in_port: &mut InPort, out_port: &mut OutPort, (from, to, vc): (usize, usize, usize)) {
    in_port.accept = (to + 1) as u8;
    in_port.next_vc = (vc + 1) as u8;
    out_port.grant = (from + 1) as u8;
}

/// \[cycle\] The cycle in which a step is made, which is `cycle` or a later one.
fn cycle_of(speedup: Speedup, mut cycle: u64, step: u64) -> u64 {
    while speedup.before(cycle + 1) <= step {
        cycle += 1;
    }
    cycle
}
