//! Step 1: network interfaces cut messages into packets.
//!
//! Decision: docs/decisions/0310-unread-notices.md.

use trgen::NodeId;

use super::super::chain::{Chain, NONE};
use super::super::mask::Mask;
use super::super::state::{Packet, Router, Sender, Waiting};
use super::{Part, Works};
use crate::engine::messages::{Slot, Unsent};
use crate::router::layout::{Layout, is_switched};
use crate::router::request::{injector_key, packet_key, source_key};
use crate::router::{Inject, Injection, SourceQueue};

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Part<L, M, D, Q, P> {
    /// Begins step 1 of cycle `now` for a message that is accepted before it: [`Works::accept`].
    pub(in crate::engine::fast) fn accept_now(&mut self, now: u64, node: u32, message: &Unsent) -> bool {
        self.works.clock = now;
        self.works.accept(&mut self.routers, node, message)
    }

    /// True if all of a message of a node has been sent in cycle `now`, and nothing waits behind it.
    #[inline(always)]
    pub(in crate::engine::fast) fn has_sent_at_once(&self, now: u64, node: usize) -> bool {
        self.works.senders.get(node).is_some_and(|sender| sender.tried == now && sender.waiting.is_empty())
    }
}

impl Sender {
    pub(super) const fn new(seed: u64, node: NodeId) -> Self {
        Self { sequence: 0, key: source_key(seed, node), waiting: Chain::EMPTY, tried: 0, is_sending: false }
    }
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Works<L, M, D, Q, P> {
    /// \[packets\] Packets at the interface of a node and in its source buffers.
    pub(super) fn waiting_at(&self, node: usize) -> u64 {
        let interface = self.senders.get(node).map_or(Chain::EMPTY, |sender| sender.waiting);
        let unsent: u64 = interface.all(&self.unsent).map(|waiting| waiting.message.packets).sum();
        unsent + self.in_lanes(node) + self.buffered(node)
    }

    /// Puts a message behind the others at the interface of its node.
    fn enter_message(&mut self, node: u32, message: Unsent) {
        if self.lanes.is_empty() {
            let waiting = self.unsent.store(Waiting { next: NONE, message });
            self.senders[node as usize].waiting.push(&mut self.unsent, waiting);
        } else {
            self.enter_lane(node, message);
        }
    }

    /// Puts messages into the interfaces of their nodes before the next cycle.
    pub(in crate::engine::fast) fn enter_now(&mut self, accepted: &mut Vec<(u32, Unsent)>) {
        for (node, message) in accepted.drain(..) {
            self.enter_message(node, message);
            self.wake_sender(node);
        }
    }

    /// Removes the messages from interfaces that are lost at their nodes, and returns them with these.
    pub(in crate::engine::fast) fn give_up(&mut self, is_lost: impl Fn(u32, &Unsent) -> bool) -> Vec<(u32, Unsent)> {
        let mut lost = Vec::new();
        for (sender, node) in self.senders.iter_mut().zip(0..) {
            let mut kept = Chain::EMPTY;
            while !sender.waiting.is_empty() {
                let first = sender.waiting.first();
                sender.waiting.pop(&mut self.unsent[first]);
                let message = self.unsent[first].message;
                if is_lost(node, &message) {
                    self.unsent.release(first);
                    lost.push((node, message));
                } else {
                    kept.push(&mut self.unsent, first);
                }
            }
            sender.waiting = kept;
        }
        for (lanes, node) in self.lanes.iter_mut().zip(0..) {
            for lane in lanes {
                let messages = lane.all().map(|of| of.message);
                lost.extend(messages.filter(|message| is_lost(node, message)).map(|message| (node, message)));
                lane.retain(|of| !is_lost(node, &of.message));
            }
        }
        lost
    }

    /// Schedules the interface of a node for the next step 1.
    #[inline(always)]
    pub(super) fn wake_sender(&mut self, node: u32) {
        let sender = &mut self.senders[node as usize];
        if !std::mem::replace(&mut sender.is_sending, true) {
            self.sending.push(node);
        }
    }

    /// Step 1: new messages and scheduled interfaces put packets into source buffers.
    #[inline(never)]
    pub(super) fn send_all(&mut self, routers: &mut [Router<M, Q, P>]) {
        let mut accepted = std::mem::take(&mut self.accepted);
        for (node, message) in accepted.drain(..) {
            if self.accept(routers, node, &message) {
                self.report.sent.push(message.slot);
            }
        }
        self.accepted = accepted;
        if self.is_stopped {
            return;
        }
        // Interfaces that have more to send are appended meanwhile.
        let count = self.sending.len();
        for index in 0..count {
            let node = self.sending[index];
            self.senders[node as usize].is_sending = false;
            self.send_next(&mut routers[node as usize], node);
        }
        self.sending.drain(..count);
    }

    /// Gives a message to the interface of its node, which sends a packet of it at once if it is idle and has room.
    /// Returns true if that was all of the message.
    #[inline(always)]
    fn accept(&mut self, routers: &mut [Router<M, Q, P>], node: u32, message: &Unsent) -> bool {
        let Sender { waiting, tried, is_sending, .. } = self.senders[node as usize];
        let is_idle = waiting.is_empty() && !is_sending && tried != self.clock;
        if !is_idle || !self.lanes.is_empty() || self.is_stopped {
            self.enter_message(node, *message);
            self.wake_sender(node);
            return false;
        }
        if !self.send_packet(&mut routers[node as usize], node, message) {
            self.enter_message(node, *message);
            return false;
        }
        let rest = message.rest();
        if let Some(rest) = rest {
            self.enter_message(node, rest);
            self.wake_sender(node);
        }
        rest.is_none()
    }

    /// Sends a packet of the front message of a scheduled interface, unless it has sent one in this cycle.
    #[inline(always)]
    fn send_next(&mut self, router: &mut Router<M, Q, P>, node: u32) {
        let Sender { waiting, tried, .. } = self.senders[node as usize];
        if waiting.is_empty() {
            return self.send_from_lanes(router, node);
        }
        if tried == self.clock {
            return self.wake_sender(node);
        }
        let message = self.unsent[waiting.first()].message;
        if self.send_packet(router, node, &message) {
            self.sent(node, message.slot, message.packets - 1);
        }
    }

    /// Puts one packet of a message into an injector's source buffer if it fits, or straight into the injection queue,
    /// and returns true. Otherwise schedules the interface for the time when it may fit.
    #[inline(never)]
    fn send_packet(&mut self, router: &mut Router<M, Q, P>, node: u32, message: &Unsent) -> bool {
        let rules = &self.rules;
        let sender = &mut self.senders[node as usize];
        let (source, sequence, key) =
            (NodeId(self.first + node), sender.sequence, packet_key(sender.key, sender.sequence));
        sender.tried = self.clock;
        let (injector, draws) = self.injector_of(router, node, message, key);
        if !self.buffer_has_room(node as usize, injector) {
            if self.tries_again(router, node, message, (key, draws)) {
                self.wake_sender(node);
            } else {
                self.endpoints[node as usize].held_up = true;
            }
            return false;
        }
        let offsets = if is_switched!(rules.layout, L) {
            [0; D]
        } else {
            let route = rules.requests.route(&*rules.topology, source, message.destination, key);
            std::array::from_fn(|dimension| route[dimension])
        };
        let packet = self.packet(node, message, (key, sequence), offsets);
        self.buffer(router, node, injector, packet);
        self.report.injected += 1;
        self.senders[node as usize].sequence += 1;
        true
    }

    /// The injector of the next packet of a message, and how many directions were drawn to choose it, the most if it
    /// depends on more; `key` is that of the packet.
    #[inline(always)]
    pub(super) fn injector_of(&self, router: &Router<M, Q, P>, node: u32, message: &Unsent, key: u64) -> (usize, u32) {
        let rules = &self.rules;
        match (rules.injectors, rules.injection) {
            (1, Injection::Shortest) => (0, 0),
            (_, Injection::Shortest) => (self.injector(router, node as usize, &[]), u32::MAX),
            _ => {
                let (source, key) = (NodeId(self.first + node), injector_key(key, self.clock));
                let (way, draws) = rules.requests.drawn_route(&*rules.topology, source, message.destination, key);
                let injector = self.injector(router, node as usize, &way[..rules.layout.shape().dimensions]);
                (injector, if rules.injection.compares() { u32::MAX } else { draws })
            }
        }
    }

    /// True if a packet that found no room, with this key and after so many draws, may find some in the next cycle
    /// although no packet leaves a source buffer. Otherwise the buffer releases the interface when a packet leaves it.
    pub(super) fn tries_again(
        &self,
        router: &Router<M, Q, P>,
        node: u32,
        message: &Unsent,
        (key, draws): (u64, u32),
    ) -> bool {
        let rules = &self.rules;
        let has_room = |injector| self.buffer_has_room(node as usize, injector);
        if !rules.tries_injectors || rules.inject == Inject::Serial {
            return rules.tries_injectors;
        }
        let (source, key) = (NodeId(self.first + node), injector_key(key, self.clock));
        let other = || rules.requests.other_route(&*rules.topology, source, message.destination, key);
        match (draws == 1).then(other).flatten() {
            Some(way) => has_room(self.injector(router, node as usize, &way[..rules.layout.shape().dimensions])),
            None => draws > 0 && (0..rules.injectors).any(has_room),
        }
    }

    /// A packet of a message, with its random stream, its number and its hops to go.
    #[inline(always)]
    pub(super) fn packet(
        &self,
        node: u32,
        message: &Unsent,
        (key, sequence): (u64, u64),
        offsets: [i16; D],
    ) -> Packet<D> {
        let Unsent { slot, destination, offered, is_long, .. } = *message;
        let mut packet = Packet::new(self.first + node, destination.0, slot, is_long);
        (packet.key, packet.sequence, packet.offsets) = (key, sequence, offsets);
        packet.candidates = self.rules.requests.candidates(&offsets, is_long);
        packet.start = match self.rules.source_queue {
            SourceQueue::Throttled => self.clock,
            SourceQueue::Open => offered.0,
        };
        packet
    }

    /// Updates the front message after one of its packets has been sent; `left` packets remain.
    #[inline(always)]
    fn sent(&mut self, node: u32, slot: Slot, left: u64) {
        let sender = &mut self.senders[node as usize];
        let front = sender.waiting.first();
        self.unsent[front].message.packets = left;
        if left == 0 {
            sender.waiting.pop(&mut self.unsent[front]);
            self.unsent.release(front);
            self.report.sent.push(slot);
        }
        if !sender.waiting.is_empty() {
            self.wake_sender(node);
        }
    }
}
