//! Step 4: tails leave, and what they held is free.

use super::super::state::{Ahead, NOBODY, Router};
use super::{Abroad, Event, Left, NO_INPUT, Works};
use crate::router::layout::Layout;

impl<L: Layout, const D: usize, const Q: usize, const P: usize> Works<L, D, Q, P> {
    /// Step 4: the tails that leave in this cycle.
    pub(super) fn leave_all(&mut self, routers: &mut [Router<Q, P>]) {
        let tails = self.crossing.turn(self.clock);
        for &Left { node, output, input } in &tails {
            let router = &mut routers[node as usize];
            let woken = self.release(router, node, output.into());
            if let Some(behind) = self.departed(router, node, input.into(), woken) {
                self.credit_behind(routers, behind, input);
            }
        }
        self.crossing.keep(self.clock, tails);
        let events = self.ring.turn(self.clock);
        for &event in &events {
            match event {
                Event::Consumed { node, input, packet } => {
                    self.report.consumed.push(packet);
                    let router = &mut routers[node as usize];
                    let woken = if self.rules.single_consumption { self.consumed(node) } else { 0 };
                    if let Some(behind) = self.departed(router, node, input.into(), woken) {
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
        let mut woken = 0;
        router.busy &= !(1 << port);
        if router.granted & rules.layout.channels(port) != 0 {
            router.freed |= 1 << port;
            woken = NO_INPUT;
        }
        let lane = &mut router.lanes[output];
        lane.owner = NOBODY;
        if lane.credits > 0 {
            router.open |= 1 << output;
            if router.has_sleepers(0) {
                let sleepers = &mut self.sleepers[node as usize * P + port][rules.kind(output)];
                woken |= std::mem::take(sleepers) & router.unrouted;
            }
        }
        woken
    }

    /// A tail has left through the single consumption port. Returns the inputs that are to be looked at.
    fn consumed(&mut self, node: u32) -> u64 {
        let endpoint = &mut self.endpoints[node as usize];
        endpoint.consuming = false;
        if endpoint.arrived != 0 { NO_INPUT } else { 0 }
    }

    /// A tail has left a queue: the next head can be routed, and there is room for one more packet. `woken` are inputs that
    /// are to be looked at for another reason. Returns the node that is to be told of the room, in the part's numbers.
    #[inline(always)]
    fn departed(&mut self, router: &mut Router<Q, P>, node: u32, input: usize, mut woken: u64) -> Option<u32> {
        let rules = &self.rules;
        let lane = &mut router.lanes[input];
        lane.count -= 1;
        router.leaving &= !(1 << input);
        if !lane.waiting.is_empty() {
            router.unrouted |= 1 << input;
            woken |= 1 << input;
            if rules.keeps_since {
                self.since[node as usize * Q + input] = self.clock + 1;
            }
        }
        let transit = input < rules.outputs();
        let port = rules.port_of(input);
        if transit && router.has_sleepers(woken) {
            // The bubble of this ring may have opened for those who want to enter it here.
            let sleepers = &mut self.sleepers[node as usize * P + port];
            woken |= std::mem::take(&mut sleepers[1]) & router.unrouted;
            if rules.lbr > 0 {
                woken |= std::mem::take(&mut sleepers[0]) & router.unrouted;
            }
        }
        if woken != 0 {
            self.wake(router, node, woken);
        }
        if transit {
            return Some(router.links[port].upstream);
        }
        let rules = &self.rules;
        if !self.buffers[node as usize * rules.injectors + input - rules.outputs()].waiting.is_empty() {
            self.wake_buffers(node);
        }
        None
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
        let lane = &mut router.lanes[output];
        lane.credits += 1;
        if lane.credits == 1 && lane.owner == NOBODY {
            router.open |= 1 << output;
            if router.has_sleepers(0) {
                let sleepers = &mut self.sleepers[node as usize * P + rules.port_of(output)][rules.kind(output)];
                let woken = std::mem::take(sleepers) & router.unrouted;
                if woken != 0 {
                    self.wake(router, node, woken);
                }
            }
        }
    }
}
