//! Step 4: tails leave, and what they held is free.

use super::super::state::{Ahead, NOBODY};
use super::{Abroad, NO_INPUT, Part};
use crate::router::layout::Layout;

impl<L: Layout, const D: usize, const Q: usize, const P: usize> Part<L, D, Q, P> {
    /// Step 4: a tail has left an input through an output channel: channel and link are free.
    #[inline(always)]
    pub(super) fn left(&mut self, node: usize, output: usize, input: usize) {
        let rules = &self.rules;
        let port = rules.port_of(output);
        let router = &mut self.routers[node];
        router.busy &= !(1 << port);
        let mut woken = 0;
        if router.granted & rules.layout.channels(port) != 0 {
            router.freed |= 1 << port;
            woken = NO_INPUT;
        }
        let lane = &mut router.lanes[output];
        lane.owner = NOBODY;
        if lane.credits > 0 {
            router.open |= 1 << output;
            if router.has_sleepers(0) {
                let sleepers = &mut self.sleepers[node * P + port][rules.kind(output)];
                woken |= std::mem::take(sleepers) & router.unrouted;
            }
        }
        self.departed(node, input, woken);
    }

    /// Step 4: a tail has been consumed.
    pub(super) fn consumed(&mut self, node: usize, input: usize) {
        let router = &mut self.routers[node];
        let this = &mut self.endpoints[node];
        if this.consuming {
            this.consuming = false;
            if this.arrived != 0 && router.wake(NO_INPUT) {
                self.looking.push(node as u32);
            }
        }
        self.departed(node, input, 0);
    }

    /// A tail has left a queue: the next head can be routed, and there is room for one more packet. `woken` are inputs that
    /// are to be looked at for another reason.
    #[inline(always)]
    pub(super) fn departed(&mut self, node: usize, input: usize, mut woken: u64) {
        let rules = &self.rules;
        let router = &mut self.routers[node];
        let lane = &mut router.lanes[input];
        lane.count -= 1;
        router.leaving &= !(1 << input);
        if !lane.waiting.is_empty() {
            router.unrouted |= 1 << input;
            woken |= 1 << input;
            if rules.keeps_since {
                self.since[node * Q + input] = self.clock + 1;
            }
        }
        let outputs = rules.outputs();
        let port = rules.port_of(input);
        if input < outputs && router.has_sleepers(woken) {
            // The bubble of this ring may have opened for those who want to enter it here.
            let sleepers = &mut self.sleepers[node * P + port];
            woken |= std::mem::take(&mut sleepers[1]) & router.unrouted;
            if rules.lbr > 0 {
                woken |= std::mem::take(&mut sleepers[0]) & router.unrouted;
            }
        }
        if woken != 0 && router.wake(woken) {
            self.looking.push(node as u32);
        }
        if input >= outputs {
            if !self.buffers[node * rules.injectors + input - outputs].waiting.is_empty() {
                self.wake_buffers(node);
            }
            return;
        }
        let behind = router.links[port].upstream as usize;
        if behind < self.routers.len() {
            self.credit(behind, input);
        } else {
            let Abroad { part, node } = self.border[behind - self.routers.len()];
            self.outbox[part as usize].credits.push((node, input as u8));
        }
    }

    /// There is room for one more packet behind an output channel.
    #[inline(always)]
    pub(super) fn credit(&mut self, node: usize, output: usize) {
        let rules = &self.rules;
        if rules.compares_space {
            self.ahead[node * Q + output].departed = Ahead::NEVER;
        }
        let router = &mut self.routers[node];
        let lane = &mut router.lanes[output];
        lane.credits += 1;
        if lane.credits == 1 && lane.owner == NOBODY {
            router.open |= 1 << output;
            if router.has_sleepers(0) {
                let (port, kind) = (rules.port_of(output), rules.kind(output));
                self.wake_sleepers(node, port, kind);
            }
        }
    }

    /// Wakes the heads that sleep at a link until an adaptive (0) or deterministic (1) channel opens.
    pub(super) fn wake_sleepers(&mut self, node: usize, port: usize, kind: usize) {
        let router = &mut self.routers[node];
        let woken = std::mem::take(&mut self.sleepers[node * P + port][kind]) & router.unrouted;
        if woken != 0 && router.wake(woken) {
            self.looking.push(node as u32);
        }
    }
}
