//! Step 1 and 2: source buffers and injection queues.

use super::super::state::{Packet, after};
use super::{Event, Part};
use crate::router::Inject;
use crate::router::layout::Layout;

impl<L: Layout, const D: usize, const Q: usize, const P: usize> Part<L, D, Q, P> {
    /// A packet comes into a source buffer of a node.
    pub(in crate::engine::fast) fn buffer(&mut self, node: usize, injector: usize, packet: Packet<D>) {
        let handle = self.store(packet);
        let buffer = &mut self.buffers[node * self.rules.injectors + injector];
        buffer.waiting.push(&mut self.packets, handle);
        buffer.count += 1;
        self.wake_buffers(node);
    }

    /// The injector of a packet with so many hops to go.
    pub(in crate::engine::fast) fn injector(&self, node: usize, offsets: &[i16]) -> usize {
        let rules = &self.rules;
        let buffered = |injector: usize| self.buffers[node * rules.injectors + injector].count;
        rules.injection.injector(
            (rules.order, rules.layout.shape()),
            offsets,
            rules.injectors,
            |injector| u32::from(buffered(injector)) < rules.injection_queue_packets,
            |injector| {
                let (router, lane) = (&self.routers[node], rules.outputs() + injector);
                let leaving = router.leaving & 1 << lane != 0;
                (buffered(injector), router.lanes[lane].phits(leaving, rules.packet_phits, self.clock))
            },
        )
    }

    /// Step 2: from the source buffers to the injection queues.
    pub(super) fn fill(&mut self, node: usize) {
        match self.rules.inject {
            Inject::Parallel => {
                for injector in 0..self.rules.injectors {
                    while self.can_fill(node, injector) {
                        let past = self.clock.wrapping_sub(self.rules.tail + 1);
                        self.enter_injection_queue(node, injector, past);
                    }
                }
            }
            Inject::Serial => {
                if self.endpoints[node].serial_busy {
                    return;
                }
                let ready = (0..self.rules.injectors)
                    .filter(|&injector| self.can_fill(node, injector))
                    .fold(0u64, |ready, injector| ready | 1 << injector);
                if ready != 0 {
                    let injector = after(ready, self.endpoints[node].serial);
                    self.endpoints[node].serial = injector;
                    self.endpoints[node].serial_busy = true;
                    self.enter_injection_queue(node, injector.into(), self.clock);
                    self.ring.enter(Event::Injected { node: node as u32 });
                }
            }
        }
    }

    /// True if a packet waits in this source buffer and the injection queue has room for it.
    pub(super) fn can_fill(&self, node: usize, injector: usize) -> bool {
        let rules = &self.rules;
        !self.buffers[node * rules.injectors + injector].waiting.is_empty()
            && u32::from(self.routers[node].lanes[rules.outputs() + injector].count) < rules.queue_packets
    }

    /// `arrived` is the cycle of the first phit, that of a packet's length ago if all phits move at once.
    pub(super) fn enter_injection_queue(&mut self, node: usize, injector: usize, arrived: u64) {
        let buffer = &mut self.buffers[node * self.rules.injectors + injector];
        let packet = buffer.waiting.first();
        buffer.waiting.pop(&self.packets[packet as usize]);
        buffer.count -= 1;
        let endpoint = &mut self.endpoints[node];
        if endpoint.held_up {
            endpoint.held_up = false;
            self.report.relieved.push(node as u32);
        }
        self.enter(node, self.rules.outputs() + injector, packet, arrived);
    }

    pub(super) fn wake_buffers(&mut self, node: usize) {
        if !self.endpoints[node].injecting {
            self.endpoints[node].injecting = true;
            self.injecting.push(node as u32);
        }
    }
}
