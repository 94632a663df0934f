//! Arrivals: mail from other partitions, and headers that enter queues.

use super::super::mask::Mask;
use super::super::moves::Stamp;
use super::super::state::Router;
use super::Works;
use super::mail::Mail;
use crate::router::layout::Layout;

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Works<L, M, D, Q, P> {
    /// Processes the events of the previous cycle in other partitions.
    #[inline(never)]
    pub(super) fn open_mail<const DENSE: bool>(&mut self, routers: &mut [Router<M, Q, P>]) {
        for from in 0..self.inbox.len() {
            if self.inbox[from].len() == 0 {
                continue;
            }
            let mut mail = std::mem::replace(&mut self.inbox[from], Mail::new());
            for (node, input, mut packet) in mail.headers.drain(..) {
                packet.behind = self.gates[self.rules.place(node, self.rules.port_of(input.into()))].upstream;
                let packet = self.packets.store(packet);
                self.headers.push((node, input, packet));
                if let Some(pacing) = &mut self.pacing {
                    pacing.receive(packet, &mut mail.times);
                }
            }
            // A packet of one phit departs and is gone in the same cycle.
            for (node, output) in mail.departures.drain(..) {
                self.leaving_beyond[node as usize].insert(output.into());
                if let Some(ahead) = self.ahead.get_mut(node as usize * Q + usize::from(output)) {
                    ahead.departed = self.clock - 1;
                }
            }
            for (node, output) in mail.credits.drain(..) {
                self.leaving_beyond[node as usize].erase(output.into());
                self.credit::<DENSE>(&mut routers[node as usize], node, output.into(), self.clock);
            }
            self.inbox[from] = mail;
        }
        for at in 0..self.filled_beyond.len() {
            let (node, output) = self.filled_beyond[at];
            if self.leaving_beyond[node as usize].has(output.into()) && !self.rules.is_paced {
                routers[node as usize].fits(output.into());
                if DENSE {
                    self.note_outputs(&routers[node as usize], node);
                }
            }
        }
        self.filled_beyond.clear();
    }

    /// Step 2: headers that were sent in the previous cycle take their places in queues; those that have crossed a
    /// delayed link can be routed.
    #[inline(always)]
    pub(super) fn enter_all<const DENSE: bool>(&mut self, routers: &mut [Router<M, Q, P>]) {
        let mut headers = std::mem::take(&mut self.headers);
        match self.is_far {
            true => self.enter_far::<DENSE>(routers, &headers),
            false => self.enter_some::<DENSE>(routers, &headers),
        }
        headers.clear();
        self.headers = headers;
        if self.rules.hop_delays.longest() > 0 {
            let come = self.wire.take(self.clock);
            for &(node, input, packet) in &come {
                self.enter_header(&mut routers[node as usize], node, input.into(), packet);
            }
            self.wire.restore(self.clock, come);
        }
    }

    /// As [`enter_all`](Self::enter_all), for headers that were sent in the previous cycle.
    #[inline(never)]
    pub(super) fn enter_some<const DENSE: bool>(
        &mut self,
        routers: &mut [Router<M, Q, P>],
        headers: &[(u32, u16, u32)],
    ) {
        let has_delays = self.rules.hop_delays.longest() > 0;
        let plain = !(has_delays || self.rules.keeps_moves || self.rules.keeps_since);
        for &(node, input, packet) in headers {
            let (router, input) = (&mut routers[node as usize], usize::from(input));
            router.reserve(input);
            if router.keeps_room(input, self.rules.full_queue) {
                let behind = self.gates[self.rules.place(node, self.rules.port_of(input))].upstream;
                if let Some(sender) = routers.get_mut(behind as usize) {
                    sender.fits(input);
                    if DENSE {
                        self.note_outputs(&routers[behind as usize], behind);
                    }
                }
            }
            let router = &mut routers[node as usize];
            if plain {
                let asks = router.enter_header(&mut self.packets, input, packet);
                if DENSE {
                    self.note_queue(router, node, input, asks);
                    continue;
                }
                self.wake(router, node, M::bit_if(input, asks));
                continue;
            }
            if DENSE {
                self.note_queue(router, node, input, false);
            }
            if self.rules.is_paced {
                router.leave_no_room(input);
            }
            self.arrived(node, input, self.clock - 1);
            let wire = if has_delays { self.wire_to(node, input) } else { 0 };
            if wire == 0 {
                self.enter_header(router, node, input, packet);
            } else {
                self.wire.add(self.clock + wire, (node, input as u16, packet));
            }
        }
    }

    /// \[cycles\] Remaining link delay of a header that was sent in the previous cycle to a queue.
    fn wire_to(&mut self, node: u32, input: usize) -> u64 {
        let port = self.rules.port_of(input);
        let wire = self.rules.hop_delays.to((self.first + node) as usize, port).into();
        self.moves_until(self.clock - 1 + self.rules.tail + wire);
        wire
    }

    /// Records that the first phit of a packet took its place in a queue in cycle `at`.
    #[inline(always)]
    pub(super) fn arrived(&mut self, node: u32, input: usize, at: u64) {
        if let Some(moves) = self.moves.get_mut(node as usize * Q + input) {
            moves.arrived = Stamp::new(at);
        }
    }

    /// Puts a header that has arrived into its queue, which has room for the packet.
    #[inline(always)]
    pub(super) fn enter_header(&mut self, router: &mut Router<M, Q, P>, node: u32, input: usize, packet: u32) {
        if router.enter_header(&mut self.packets, input, packet) {
            if L::IS_DENSE && self.is_dense() {
                self.note_queue(router, node, input, true);
            } else {
                self.wake(router, node, M::bit(input));
            }
            if self.rules.keeps_since {
                self.since[node as usize * Q + input] = self.clock;
            }
        }
    }
}
