//! Source buffers and injection queues: the end of step 1, and step 2.

use super::super::mask::Mask;
use super::super::state::{Packet, Router};
use super::{Event, Works};
use crate::router::Inject;
use crate::router::layout::Layout;

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Works<L, M, D, Q, P> {
    /// Step 1: puts a packet into a source buffer of a node. If step 2 would move it to the injection queue in this
    /// cycle, it goes there at once.
    #[inline(always)]
    pub(super) fn buffer(&mut self, router: &mut Router<M, Q, P>, node: u32, injector: usize, packet: Packet<D>) {
        let handle = self.packets.store(packet);
        let input = self.rules.outputs() + injector;
        let is_empty = self.buffers[node as usize * self.rules.injectors + injector].waiting.is_empty();
        if is_empty && self.rules.inject == Inject::Parallel && self.has_room(router, injector) {
            return self.inject(router, node, input, handle, self.arrival_when_moved_at_once());
        }
        let buffer = &mut self.buffers[node as usize * self.rules.injectors + injector];
        buffer.waiting.push(&mut self.packets, handle);
        buffer.count += 1;
        // Otherwise the packet waits until the injection queue has room.
        if self.rules.inject == Inject::Serial {
            self.wake_buffers(node);
        }
    }

    /// The injector of a packet with these hops to go at a node.
    pub(super) fn injector(&self, router: &Router<M, Q, P>, node: usize, offsets: &[i16]) -> usize {
        let rules = &self.rules;
        let buffered = |injector: usize| self.buffers[node * rules.injectors + injector].count;
        let has_room = |injector: usize| self.buffer_has_room(node, injector);
        rules.injection.injector((rules.order, rules.layout.shape()), offsets, rules.injectors, has_room, |injector| {
            let queue = rules.outputs() + injector;
            let leaving = router.leaving.has(queue) && !rules.is_paced;
            let (moves, count) = (self.moves.get(node * Q + queue), router.count(queue));
            let length = rules.packet_phits;
            // Phits that have not reached the injection queue yet occupy the buffer.
            let phits = moves.map_or(0, |moves| moves.phits_to_leave(count, leaving, length, self.clock));
            u32::from(buffered(injector)) * length + phits
        })
    }

    /// True if a source buffer has room for one more packet. A packet that is moving out, phit by phit, needs its place
    /// until its tail has moved.
    #[inline(always)]
    pub(super) fn buffer_has_room(&self, node: usize, injector: usize) -> bool {
        let (rules, endpoint) = (&self.rules, &self.endpoints[node]);
        let is_moving = endpoint.serial_busy && usize::from(endpoint.serial) == injector;
        let buffered = self.buffers[node * rules.injectors + injector].count;
        u32::from(buffered) + u32::from(is_moving) < rules.injection_queue_packets
    }

    /// Step 2: source buffers that may have a packet to move fill their injection queues.
    #[inline(never)]
    pub(super) fn fill_all(&mut self, routers: &mut [Router<M, Q, P>]) {
        let mut injecting = std::mem::take(&mut self.injecting);
        for &node in &injecting {
            self.endpoints[node as usize].injecting = false;
            self.fill(&mut routers[node as usize], node);
        }
        // Filling makes no other buffer ready.
        injecting.clear();
        self.injecting = injecting;
    }

    /// Moves packets from the source buffers of a node to its injection queues.
    fn fill(&mut self, router: &mut Router<M, Q, P>, node: u32) {
        match self.rules.inject {
            Inject::Parallel => match self.fillable.get_mut(node as usize) {
                Some(fillable) => {
                    let mut left = std::mem::take(fillable);
                    while left != 0 {
                        self.fill_queue(router, node, left.trailing_zeros() as usize);
                        left &= left - 1;
                    }
                }
                None => self.fill_queue(router, node, 0),
            },
            Inject::Serial => {
                if self.endpoints[node as usize].serial_busy {
                    return;
                }
                let ready = (0..self.rules.injectors)
                    .filter(|&injector| self.can_fill(router, node, injector))
                    .fold(0u64, |ready, injector| ready | 1 << injector);
                if ready != 0 {
                    let endpoint = &mut self.endpoints[node as usize];
                    let injector = ready.after(endpoint.serial.into()) as u8;
                    endpoint.serial = injector;
                    endpoint.serial_busy = true;
                    self.enter_injection_queue(router, node, injector.into(), self.clock);
                    self.ring.add(self.clock + self.rules.tail, Event::Injected { node });
                }
            }
        }
    }

    /// Moves packets from a source buffer of a node to its injection queue, as many as have room there.
    #[inline(always)]
    fn fill_queue(&mut self, router: &mut Router<M, Q, P>, node: u32, injector: usize) {
        while self.can_fill(router, node, injector) {
            self.enter_injection_queue(router, node, injector, self.arrival_when_moved_at_once());
        }
    }

    /// True if a packet waits in this source buffer and the injection queue has room for it.
    fn can_fill(&self, router: &Router<M, Q, P>, node: u32, injector: usize) -> bool {
        let buffer = &self.buffers[node as usize * self.rules.injectors + injector];
        !buffer.waiting.is_empty() && self.has_room(router, injector)
    }

    /// True if an injection queue has room for a packet: for all of it, or, if it moves phit by phit, for its first
    /// phit. Then a full queue has room if a packet is leaving it, since that goes on doing so: a phit in each cycle,
    /// unless links are slower.
    #[inline(always)]
    fn has_room(&self, router: &Router<M, Q, P>, injector: usize) -> bool {
        let (rules, queue) = (&self.rules, self.rules.outputs() + injector);
        let count = router.count(queue);
        count < rules.queue_packets
            || (rules.inject == Inject::Serial && count == rules.full_queue && router.leaving.has(queue))
    }

    /// \[cycle\] The cycle in which the first phit of a packet counts as arrived if all its phits move at once in this
    /// cycle.
    #[inline(always)]
    fn arrival_when_moved_at_once(&self) -> u64 {
        self.clock.wrapping_sub(self.rules.tail + 1)
    }

    /// Puts a packet into an injection queue. Its first phit arrives in cycle `arrived`.
    #[inline(always)]
    fn inject(&mut self, router: &mut Router<M, Q, P>, node: u32, input: usize, packet: u32, arrived: u64) {
        router.reserve(input);
        self.arrived(node, input, arrived);
        self.enter_header(router, node, input, packet);
    }

    /// Moves the front packet of a source buffer to the injection queue. Its first phit arrives in cycle `arrived`.
    fn enter_injection_queue(&mut self, router: &mut Router<M, Q, P>, node: u32, injector: usize, arrived: u64) {
        let buffer = &mut self.buffers[node as usize * self.rules.injectors + injector];
        let packet = buffer.waiting.first();
        buffer.waiting.pop(&mut self.packets[packet]);
        buffer.count -= 1;
        // A packet that moves phit by phit leaves its place in the buffer with its tail.
        if self.rules.inject == Inject::Parallel {
            self.release_sender(node, injector);
        }
        self.inject(router, node, self.rules.outputs() + injector, packet, arrived);
    }

    /// Schedules the interface of a node if it holds a packet that found no room in the source buffers, of which this one
    /// has room again.
    #[inline(always)]
    pub(super) fn release_sender(&mut self, node: u32, injector: usize) {
        if let Some(due) = self.due.get_mut(node as usize) {
            if !self.lanes[node as usize][injector].is_empty() {
                *due |= 1 << injector;
                self.wake_sender(node);
            }
            return;
        }
        if std::mem::replace(&mut self.endpoints[node as usize].held_up, false) {
            self.wake_sender(node);
        }
    }

    /// Schedules a source buffer of a node for the next step 2: a packet has left its injection queue.
    #[inline(always)]
    pub(super) fn wake_buffer(&mut self, node: u32, injector: usize) {
        if let Some(fillable) = self.fillable.get_mut(node as usize) {
            *fillable |= 1 << injector;
        }
        self.wake_buffers(node);
    }

    /// Schedules the source buffers of a node for the next step 2.
    pub(super) fn wake_buffers(&mut self, node: u32) {
        let endpoint = &mut self.endpoints[node as usize];
        if !endpoint.injecting {
            endpoint.injecting = true;
            self.injecting.push(node);
        }
    }
}
