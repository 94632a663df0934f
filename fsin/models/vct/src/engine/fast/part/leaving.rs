//! Step 4: tail departures and the resources that they release.

use super::super::mask::Mask;
use super::super::moves::Ahead;
use super::super::state::Router;
use super::{Abroad, Event, Left, Works};
use crate::router::layout::Layout;
use crate::router::request::WakeCondition;

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Works<L, M, D, Q, P> {
    /// Step 4: the tails that leave in this cycle.
    #[inline(always)]
    pub(super) fn leave_all<const DENSE: bool>(&mut self, routers: &mut [Router<M, Q, P>]) {
        let tails = self.crossing.take(self.clock);
        self.freed.reset(tails.len());
        match self.is_far {
            true => self.leave_far::<DENSE>(routers, &tails),
            false => self.leave_some::<DENSE>(routers, &tails),
        }
        self.crossing.restore(self.clock, tails);
        let events = self.ring.take(self.clock);
        for &event in &events {
            match event {
                Event::Consumed { node, behind, input, packet } => {
                    // Tails of packets that began to leave in this cycle have not been reported yet.
                    if self.rules.tail == 0 {
                        self.report.received.push(self.packets[packet].receipt(self.clock));
                    }
                    self.packets.release(packet);
                    let router = &mut routers[node as usize];
                    let woken = if self.rules.ejection_ports > 0 { self.consumed(node) } else { M::EMPTY };
                    if self.departed::<DENSE>(router, node, input.into(), woken) {
                        self.credit_behind::<DENSE>(routers, behind, input);
                    }
                }
                Event::Injected { node } => {
                    let endpoint = &mut self.endpoints[node as usize];
                    endpoint.serial_busy = false;
                    let injector = endpoint.serial.into();
                    self.release_sender(node, injector);
                    self.wake_buffers(node);
                }
            }
        }
        self.ring.restore(self.clock, events);
        if self.pacing.is_some() {
            self.leave_paced(routers);
        }
    }

    /// The tails that leave over links in this cycle, or some of them.
    #[inline(never)]
    pub(super) fn leave_some<const DENSE: bool>(&mut self, routers: &mut [Router<M, Q, P>], tails: &[Left]) {
        for &Left { node, behind, output, input } in tails {
            let router = &mut routers[node as usize];
            let woken = self.release::<DENSE>(router, node, output.into());
            if self.departed::<DENSE>(router, node, input.into(), woken) {
                self.credit_behind::<DENSE>(routers, behind, input);
            }
        }
    }

    /// Reports the packets whose ejection ends with this cycle. Packets of one phit that begin ejection in this cycle
    /// are reported by step 4.
    #[inline(never)]
    pub(super) fn receive_all(&mut self) {
        if self.rules.tail == 0 {
            return;
        }
        for event in self.ring.due(self.clock) {
            if let Event::Consumed { packet, .. } = event {
                self.report.received.push(self.packets[*packet].receipt(self.clock));
            }
        }
    }

    /// Frees the output channel and the link through which a tail has left. Returns the inputs to wake.
    #[inline(always)]
    pub(super) fn release<const DENSE: bool>(&mut self, router: &mut Router<M, Q, P>, node: u32, output: usize) -> M {
        let port = self.rules.port_of(output);
        self.freed.add((node, port as u8), self.waiting(router, port) != 0);
        let opens = router.release(output);
        if DENSE {
            // `departed` notes it.
            return M::EMPTY;
        }
        if opens { self.opened(router, node, output) } else { M::EMPTY }
    }

    /// Handles the opening of an output channel. Returns the inputs to wake.
    #[inline(always)]
    fn opened(&mut self, router: &Router<M, Q, P>, node: u32, output: usize) -> M {
        let port = self.rules.port_of(output);
        if !router.has_sleepers(M::EMPTY) {
            return M::EMPTY;
        }
        match self.bets.get(node as usize) {
            Some(bets) => M::bit_if(Router::<M, Q, P>::NO_INPUT, bets.candidates(output)),
            None => self.woken(router, node, port, self.kind(output)),
        }
    }

    /// Frees an ejection port after a tail has left. Returns the inputs to wake.
    fn consumed(&mut self, node: u32) -> M {
        let endpoint = &mut self.endpoints[node as usize];
        endpoint.consuming -= 1;
        if endpoint.arrived.is_empty() { M::EMPTY } else { M::bit(Router::<M, Q, P>::NO_INPUT) }
    }

    /// Handles a tail that has left a queue: the next head can be routed, and the queue has room for one more packet.
    /// `woken` are inputs that wake for another reason. Returns whether the upstream node must be sent a credit.
    #[inline(always)]
    pub(super) fn departed<const DENSE: bool>(
        &mut self,
        router: &mut Router<M, Q, P>,
        node: u32,
        input: usize,
        mut woken: M,
    ) -> bool {
        let rules = &self.rules;
        let is_next = router.depart(input);
        woken = woken | M::bit_if(input, is_next);
        if rules.keeps_since {
            self.since[node as usize * Q + input] = self.clock + 1;
        }
        let transit = input < rules.outputs();
        if DENSE {
            self.note_outputs(router, node);
            self.note_queue(router, node, input, is_next);
        } else if transit && router.has_sleepers(woken) {
            // The bubble of this ring may have opened for heads that want to enter the ring here.
            if let Some(bets) = self.bets.get(node as usize) {
                let may_enter = router.open().has(input) && bets.wants_escape(input);
                woken = woken | M::bit_if(Router::<M, Q, P>::NO_INPUT, may_enter);
            } else {
                let (port, is_restricted) = (rules.port_of(input), rules.lbr > 0);
                woken = woken | self.woken(router, node, port, WakeCondition::Deterministic);
                if is_restricted {
                    woken = woken | self.woken(router, node, port, WakeCondition::Adaptive);
                }
            }
        }
        if !DENSE {
            self.wake(router, node, woken);
        }
        let rules = &self.rules;
        if !transit {
            let injector = input - rules.outputs();
            if !self.buffers[node as usize * rules.injectors + injector].waiting.is_empty() {
                self.wake_buffer(node, injector);
            }
        }
        transit
    }

    /// Returns a credit to the upstream node of a transit queue.
    #[inline(always)]
    pub(super) fn credit_behind<const DENSE: bool>(
        &mut self,
        routers: &mut [Router<M, Q, P>],
        behind: u32,
        input: u16,
    ) {
        match routers.get_mut(behind as usize) {
            Some(router) => self.credit::<DENSE>(router, behind, input.into(), self.clock + 1),
            None => {
                let Abroad { part, node } = self.border[(behind - self.own) as usize];
                self.outbox[part as usize].credits.push((node, input));
            }
        }
    }

    /// Gives an output channel one more credit from cycle `next` on.
    #[inline(always)]
    pub(super) fn credit<const DENSE: bool>(
        &mut self,
        router: &mut Router<M, Q, P>,
        node: u32,
        output: usize,
        next: u64,
    ) {
        if DENSE {
            router.credit(output);
            return self.note_outputs(router, node);
        }
        if !router.fitting().has(output) {
            self.before_change(router, node, output, next);
        }
        let rules = &self.rules;
        if rules.compares_space {
            self.ahead[node as usize * Q + output].departed = Ahead::NEVER;
        }
        if router.credit(output) {
            let woken = self.opened(router, node, output);
            self.wake(router, node, woken);
        }
    }

    /// Brings bets up to date before cycle `next`, from which on it may have changed whether a packet fits behind an
    /// output channel.
    #[inline(always)]
    pub(super) fn before_change(&mut self, router: &Router<M, Q, P>, node: u32, output: usize, next: u64) {
        if router.has_sleepers(M::EMPTY)
            && let Some(bets) = self.bets.get_mut(node as usize)
            && bets.depends_on(output)
        {
            bets.advance(&self.rules, router.fitting(), next);
        }
    }

    /// Takes the heads that sleep for channels of this kind of a port. The caller wakes them.
    #[inline(always)]
    pub(super) fn woken(&mut self, router: &Router<M, Q, P>, node: u32, port: usize, kind: WakeCondition) -> M {
        let place = self.rules.place(node, port);
        self.gates[place].wake(kind) & router.unrouted
    }
}
