//! What comes: mail from other parts, and headers that take their places in queues.

use super::super::state::Packet;
use super::Part;
use super::mail::Mail;
use crate::router::layout::Layout;

impl<L: Layout, const D: usize, const Q: usize, const P: usize> Part<L, D, Q, P> {
    /// What other parts did in the previous cycle.
    pub(super) fn open_mail(&mut self) {
        for from in 0..self.inbox.len() {
            if self.inbox[from].is_empty() {
                continue;
            }
            let mut mail = std::mem::replace(&mut self.inbox[from], Mail::new());
            for (node, input, packet) in mail.headers.drain(..) {
                let packet = self.store(packet);
                self.headers.push((node, input, packet));
            }
            // A packet of one phit departs and is gone in the same cycle.
            for (node, output) in mail.departures.drain(..) {
                self.ahead[node as usize * Q + usize::from(output)].departed = self.clock - 1;
            }
            for (node, output) in mail.credits.drain(..) {
                self.credit(node as usize, output.into());
            }
            self.inbox[from] = mail;
        }
    }

    pub(super) fn store(&mut self, packet: Packet<D>) -> u32 {
        if let Some(handle) = self.vacant.pop() {
            self.packets[handle as usize] = packet;
            handle
        } else {
            self.packets.push(packet);
            (self.packets.len() - 1) as u32
        }
    }

    /// Headers that were sent in the previous cycle stand in their queues.
    #[inline(always)]
    pub(super) fn enter_all(&mut self, headers: &[(u32, u8, u32)]) {
        let (clock, keeps_since) = (self.clock, self.rules.keeps_since);
        let (routers, packets) = (&mut self.routers[..], &mut self.packets[..]);
        for &(node, input, packet) in headers {
            let router = &mut routers[node as usize];
            let input = usize::from(input);
            let lane = &mut router.lanes[input];
            lane.reserve(clock - 1);
            if lane.stand(packets, packet) && router.leaving & 1 << input == 0 {
                router.unrouted |= 1 << input;
                if router.wake(1 << input) {
                    self.looking.push(node);
                }
                if keeps_since {
                    self.since[node as usize * Q + input] = clock;
                }
            }
        }
    }

    /// Headers that were sent in the previous cycle take their places; those that have come off the wire stand there.
    pub(super) fn receive(&mut self, headers: &[(u32, u8, u32)]) {
        for &(node, input, packet) in headers {
            let port = self.rules.port_of(input.into());
            let wire: u64 = self.rules.wires.to(self.first as usize + node as usize, port).into();
            self.report.arrives = self.report.arrives.max(self.clock - 1 + self.rules.tail + wire);
            if wire == 0 {
                self.enter(node as usize, input.into(), packet, self.clock - 1);
            } else {
                self.routers[node as usize].lanes[usize::from(input)].reserve(self.clock - 1);
                self.wire.put(self.clock + wire, (node, input, packet));
            }
        }
        let come = self.wire.turn(self.clock);
        for &(node, input, packet) in &come {
            self.stand(node as usize, input.into(), packet);
        }
        self.wire.keep(self.clock, come);
    }

    /// A packet, whose first phit took its place in cycle `arrived`, stands in a queue.
    pub(super) fn enter(&mut self, node: usize, input: usize, packet: u32, arrived: u64) {
        self.routers[node].lanes[input].reserve(arrived);
        self.stand(node, input, packet);
    }

    /// A header has come to a queue, in which its packet has room.
    pub(super) fn stand(&mut self, node: usize, input: usize, packet: u32) {
        let router = &mut self.routers[node];
        if router.lanes[input].stand(&mut self.packets, packet) && router.leaving & 1 << input == 0 {
            router.unrouted |= 1 << input;
            if router.wake(1 << input) {
                self.looking.push(node as u32);
            }
            if self.rules.keeps_since {
                self.since[node * Q + input] = self.clock;
            }
        }
    }
}
