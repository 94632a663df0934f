//! Phase B: ejection, and phits on links.

use trgen::{Cycle, NodeId};

use super::{Grant, Phit, Reference};
use crate::router::arbitration::round_robin;
use crate::router::request::OutputVc;
use fsin_core::network::Notices;
use fsin_core::stats::Receipt;
use fsin_core::topology::Port;

impl Reference {
    /// Phase B, 1: packets drain that have arrived at their destination.
    pub(super) fn consume(&mut self, node: usize, notices: &mut Notices) {
        let tail = self.params.packet_phits - 1;
        for queue in 0..self.nodes[node].queues.len() {
            let this = &mut self.nodes[node];
            if this.grants[queue] != Some(Grant::Consumption) {
                continue;
            }
            let Some(phit) = this.queues[queue].pop_front_if(|phit| phit.ready <= self.clock) else { continue };
            self.last_moved = self.last_moved.max(self.clock);
            if phit.index != tail {
                continue;
            }
            this.grants[queue] = None;
            this.held[queue] -= 1;
            let packet = &self.packets[phit.packet];
            let receipt = Receipt {
                source: packet.source,
                destination: packet.destination,
                sequence: packet.sequence,
                latency: self.clock.since(packet.start),
                hops: packet.hops,
            };
            self.messages.arrive(packet.message, self.clock, &receipt, 0, notices);
            self.in_network -= u64::from(packet.hops > 0);
            self.vacant.push(phit.packet);
        }
    }

    /// Phase B, 2: every link that is free moves one phit into the neighbour's queue.
    pub(super) fn move_phits(&mut self, node: usize) {
        for port in (0..self.shape.ports()).map(Port::at) {
            if !self.nodes[node].links[port.index()].is_ending {
                self.move_phit(node, port);
            }
            let this = &mut self.nodes[node];
            let link = &mut this.links[port.index()];
            if link.is_ending
                && link.paced.next() <= self.clock.next().0
                && let Some(vc) = link.current.take()
            {
                link.is_ending = false;
                this.owner[OutputVc { port, vc }.index(self.params.vcs)] = None;
            }
        }
    }

    /// Moves a phit over a link, if one is ready and the link can begin it.
    fn move_phit(&mut self, node: usize, port: Port) {
        let vcs = self.params.vcs;
        let outputs = self.outputs();
        let this = &mut self.nodes[node];
        let link = &mut this.links[port.index()];
        if link.paced.next() > self.clock.0 {
            return;
        }
        let vc = link.current.or_else(|| {
            let owned = |vc: usize| this.owner[OutputVc { port, vc: vc as u8 }.index(vcs)].is_some();
            round_robin(vcs, link.last as usize, owned).map(|vc| vc as u8)
        });
        let Some(vc) = vc else { return };
        let output = OutputVc { port, vc };
        let Some(queue) = this.owner[output.index(vcs)] else { return };
        let Some(phit) = this.queues[queue].pop_front_if(|phit| phit.ready <= self.clock) else { return };
        (link.current, link.last) = (Some(vc), vc);
        link.paced.begin(self.clock.0);
        let neighbour = self.topology.neighbour(NodeId::at(node), port);
        let neighbour = neighbour.expect("an output is granted only if space_ahead saw a neighbour");
        // Phits advance on the link for so many cycles.
        let wire = u64::from(self.hop_delays.to(neighbour.index(), port.index()));
        self.last_moved = self.last_moved.max(self.clock + wire);
        let ready = self.clock.next() + wire;
        if phit.index == 0 {
            let packet = &mut self.packets[phit.packet];
            if queue >= outputs {
                self.messages.recorder.departed(self.clock.since(packet.start));
                self.in_network += 1;
            }
            packet.ready = ready;
            self.requests.hop(NodeId::at(node), packet.destination, packet.key, port, &mut packet.offsets);
            packet.hops += 1;
            self.messages.recorder.hops(1);
            if let Some(crossed) = self.crossed.get_mut(node * self.shape.ports() + port.index()) {
                *crossed += 1;
            }
        }
        if let Some(outage) = self.outages.get(&(NodeId::at(node), port)) {
            let off = Cycle(self.clock.0 + wire);
            if phit.index == 0 {
                link.off = off;
            }
            if phit.index == self.params.packet_phits - 1 && outage.meets(link.off.0, off.0) {
                let packet = &self.packets[phit.packet];
                self.messages.damage(packet.source, packet.sequence);
            }
        }
        if phit.index == self.params.packet_phits - 1 {
            link.is_ending = true;
            this.grants[queue] = None;
            this.held[queue] -= 1;
        }
        let there = &mut self.nodes[neighbour.index()];
        there.held[output.index(vcs)] += u32::from(phit.index == 0);
        there.queues[output.index(vcs)].push_back(Phit { ready, ..phit });
    }
}
