//! Step 4: tails leave, and what they held is free.

use super::super::state::{Ahead, NO_INPUT, Router};
use super::{Abroad, Event, Left, Works};
use crate::router::layout::Layout;

impl<L: Layout, const D: usize, const Q: usize, const P: usize> Works<L, D, Q, P> {
    /// Step 4: the tails that leave in this cycle.
    #[inline(never)]
    pub(super) fn leave_all(&mut self, routers: &mut [Router<Q, P>]) {
        let tails = self.crossing.turn(self.clock);
        for &Left { node, behind, output, input } in &tails {
            let router = &mut routers[node as usize];
            let woken = self.release(router, node, output.into());
            if self.departed(router, node, input.into(), woken) {
                self.credit_behind(routers, behind, input);
            }
        }
        self.crossing.keep(self.clock, tails);
        let events = self.ring.turn(self.clock);
        for &event in &events {
            match event {
                Event::Consumed { node, behind, input, packet } => {
                    self.report.consumed.push(packet);
                    let router = &mut routers[node as usize];
                    let woken = if self.rules.single_consumption { self.consumed(node) } else { 0 };
                    if self.departed(router, node, input.into(), woken) {
                        self.credit_behind(routers, behind, input);
                    }
                }
                Event::Injected { node } => {
                    self.endpoints[node as usize].serial_busy = false;
                    self.wake_buffers(node);
                }
            }
        }
        self.ring.keep(self.clock, events);
    }

    /// A tail has left through an output channel: channel and link are free. Returns the inputs that are to be looked at.
    #[inline(always)]
    fn release(&mut self, router: &mut Router<Q, P>, node: u32, output: usize) -> u64 {
        let rules = &self.rules;
        let port = rules.port_of(output);
        if router.granted.mask() & rules.layout.channels(port) != 0 {
            self.freed.push((node, port as u8));
        }
        if router.release(output, port) && router.has_sleepers(0) {
            let sleepers = &mut self.sleepers[node as usize * P + port][rules.kind(output)];
            return std::mem::take(sleepers) & router.unrouted.mask();
        }
        0
    }

    /// A tail has left through the single consumption port. Returns the inputs that are to be looked at.
    fn consumed(&mut self, node: u32) -> u64 {
        let endpoint = &mut self.endpoints[node as usize];
        endpoint.consuming = false;
        if endpoint.arrived != 0 { NO_INPUT } else { 0 }
    }

    /// A tail has left a queue: the next head can be routed, and there is room for one more packet. `woken` are inputs that
    /// are to be looked at for another reason. Returns whether the node behind is to be told of the room.
    #[inline(always)]
    fn departed(&mut self, router: &mut Router<Q, P>, node: u32, input: usize, mut woken: u64) -> bool {
        let rules = &self.rules;
        let is_next = router.depart(input);
        woken |= u64::from(is_next) << input;
        if rules.keeps_since && is_next {
            self.since[node as usize * Q + input] = self.clock + 1;
        }
        let transit = input < rules.outputs();
        if transit && router.has_sleepers(woken) {
            // The bubble of this ring may have opened for those who want to enter it here.
            let sleepers = &mut self.sleepers[node as usize * P + rules.port_of(input)];
            woken |= std::mem::take(&mut sleepers[1]) & router.unrouted.mask();
            if rules.lbr > 0 {
                woken |= std::mem::take(&mut sleepers[0]) & router.unrouted.mask();
            }
        }
        self.wake(router, node, woken);
        let rules = &self.rules;
        if !transit && !self.buffers[node as usize * rules.injectors + input - rules.outputs()].waiting.is_empty() {
            self.wake_buffers(node);
        }
        transit
    }

    /// Tells the node behind a transit queue that there is room for one more packet.
    #[inline(always)]
    fn credit_behind(&mut self, routers: &mut [Router<Q, P>], behind: u32, input: u8) {
        match routers.get_mut(behind as usize) {
            Some(router) => self.credit(router, behind, input.into()),
            None => {
                let Abroad { part, node } = self.border[(behind - self.own) as usize];
                self.outbox[part as usize].credits.push((node, input));
            }
        }
    }

    /// There is room for one more packet behind an output channel.
    #[inline(always)]
    pub(super) fn credit(&mut self, router: &mut Router<Q, P>, node: u32, output: usize) {
        let rules = &self.rules;
        if rules.compares_space {
            self.ahead[node as usize * Q + output].departed = Ahead::NEVER;
        }
        if router.credit(output) && router.has_sleepers(0) {
            let sleepers = &mut self.sleepers[node as usize * P + rules.port_of(output)][rules.kind(output)];
            let woken = std::mem::take(sleepers) & router.unrouted.mask();
            self.wake(router, node, woken);
        }
    }
}
