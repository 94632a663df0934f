//! What a run keeps of single nodes, flows, messages and packets, where that is asked for.
//!
//! The record of a run passes on what happens; nothing of it changes a result. Nodes, flows and messages begin anew
//! when the measurement does, the packets are those of the whole run.

use std::collections::{BTreeMap, HashMap};

use trgen::{Cycle, Delivery, Message, NodeId};

use super::{Moments, Receipt};

/// What a run keeps beside its totals.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Keep {
    /// Figures of each node.
    pub nodes: bool,
    /// Figures of each pair of source and destination.
    pub flows: bool,
    /// The time that each message takes.
    pub messages: bool,
    /// Each packet that arrives, until it is [taken](super::Recorder::take_arrivals).
    pub packets: bool,
}

impl Keep {
    /// True if anything is kept.
    #[must_use]
    pub const fn any(self) -> bool {
        self.nodes || self.flows || self.messages || self.packets
    }
}

/// Traffic of a node or flow since the start of the measurement.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Share {
    /// \[messages\] That the source of traffic generated.
    pub offered_messages: u64,
    /// \[bytes\] Of these messages.
    pub offered_bytes: u64,
    /// \[messages\] That arrived in full.
    pub delivered_messages: u64,
    /// \[bytes\] Of these messages.
    pub delivered_bytes: u64,
    /// \[cycles\] Latencies of the packets that arrived.
    pub latency: Moments,
    /// \[links\] Path lengths of the packets that arrived.
    pub hops: Moments,
}

/// A node since the start of the measurement.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct NodeDetails {
    /// What it sends.
    pub sent: Share,
    /// \[packets\] That it received.
    pub packets_received: u64,
    /// \[bytes\] Of messages that it received in full.
    pub bytes_received: u64,
}

/// A message that has arrived in full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completed {
    /// The message.
    pub message: Message,
    /// \[cycle\] When the source of traffic generated it.
    pub generated: Cycle,
    /// \[cycle\] When its last phit was consumed.
    pub delivered: Cycle,
    /// \[cycle\] When its source knew; `None` in a model without acknowledgements, and before.
    pub acknowledged: Option<Cycle>,
}

/// A packet that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// \[cycle\] When its last phit was consumed.
    pub at: Cycle,
    /// The packet.
    pub packet: Receipt,
}

/// What is kept of nodes, flows, messages and packets.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Details {
    /// What is kept at all.
    keep: Keep,
    /// By number of the node; empty if not kept.
    nodes: Vec<NodeDetails>,
    /// By source and destination.
    flows: BTreeMap<(NodeId, NodeId), Share>,
    /// Messages generated and not delivered, by source and handle: when they were generated.
    underway: HashMap<(NodeId, u64), Cycle>,
    /// Messages delivered since the start of the measurement.
    completed: Vec<Completed>,
    /// Packets that have arrived and were not taken.
    arrivals: Vec<Arrival>,
}

impl Details {
    /// Empty details of `nodes` nodes.
    pub(super) fn new(nodes: usize, keep: Keep) -> Self {
        let nodes = if keep.nodes { vec![NodeDetails::default(); nodes] } else { Vec::new() };
        Self { keep, nodes, ..Self::default() }
    }

    /// Starts the measurement.
    pub(super) fn begin(&mut self) {
        self.nodes.fill(NodeDetails::default());
        self.flows.clear();
        self.completed.clear();
    }

    /// The shares that a message or packet from `source` to `destination` belongs to.
    fn shares(&mut self, source: NodeId, destination: NodeId) -> impl Iterator<Item = &mut Share> {
        let of_node = self.nodes.get_mut(source.index()).map(|node| &mut node.sent);
        let of_flow = self.keep.flows.then(|| self.flows.entry((source, destination)).or_default());
        of_node.into_iter().chain(of_flow)
    }

    pub(super) fn received(&mut self, now: Cycle, packet: &Receipt) {
        for share in self.shares(packet.source, packet.destination) {
            share.latency.record(packet.latency);
            share.hops.record(packet.hops);
        }
        if let Some(node) = self.nodes.get_mut(packet.destination.index()) {
            node.packets_received += 1;
        }
        if self.keep.packets {
            self.arrivals.push(Arrival { at: now, packet: *packet });
        }
    }

    /// As [`received`](Self::received), for packets that arrive together. Their numbers follow that of `packet`.
    pub(super) fn received_together(&mut self, now: Cycle, packet: &Receipt, packets: u64) {
        for share in self.shares(packet.source, packet.destination) {
            share.latency.record_many(packet.latency, packets);
            share.hops.record_many(packet.hops, packets);
        }
        if let Some(node) = self.nodes.get_mut(packet.destination.index()) {
            node.packets_received += packets;
        }
        if self.keep.packets {
            let numbers = (0..packets).map(|index| packet.sequence.wrapping_add(index));
            let arrival = |sequence| Arrival { at: now, packet: Receipt { sequence, ..*packet } };
            self.arrivals.extend(numbers.map(arrival));
        }
    }

    pub(super) fn offered(&mut self, now: Cycle, message: &Message) {
        for share in self.shares(message.source, message.destination) {
            share.offered_messages += 1;
            share.offered_bytes += message.bytes;
        }
        if self.keep.messages {
            self.underway.insert((message.source, message.id), now);
        }
    }

    pub(super) fn delivered(&mut self, delivery: &Delivery) {
        let message = delivery.message;
        for share in self.shares(message.source, message.destination) {
            share.delivered_messages += 1;
            share.delivered_bytes += message.bytes;
        }
        if let Some(node) = self.nodes.get_mut(message.destination.index()) {
            node.bytes_received += message.bytes;
        }
        if self.keep.messages {
            // A message that did not come through the loop was offered when it was generated.
            let generated = self.underway.remove(&(message.source, message.id)).unwrap_or(delivery.offered);
            self.completed.push(Completed { message, generated, delivered: delivery.delivered, acknowledged: None });
        }
    }

    pub(super) fn acknowledged(&mut self, message: &Message, at: Cycle) {
        // It has arrived a short time ago.
        let is_it = |one: &&mut Completed| (one.message.source, one.message.id) == (message.source, message.id);
        if let Some(one) = self.completed.iter_mut().rev().find(is_it) {
            one.acknowledged = Some(at);
        }
    }

    pub(super) fn dropped(&mut self, message: &Message) {
        self.underway.remove(&(message.source, message.id));
    }

    pub(super) fn take_arrivals(&mut self) -> Vec<Arrival> {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        // Within a cycle the order is that of the engine.
        let place = |arrival: &Arrival| {
            let Receipt { source, destination, sequence, .. } = arrival.packet;
            (arrival.at, source, destination, sequence)
        };
        arrivals.sort_unstable_by_key(place);
        arrivals
    }

    /// What is kept.
    #[must_use]
    pub const fn keep(&self) -> Keep {
        self.keep
    }

    /// Each node, by number; empty if not kept.
    #[must_use]
    pub fn nodes(&self) -> &[NodeDetails] {
        &self.nodes
    }

    /// Each flow with traffic since the start of the measurement, by source and destination; empty if not kept.
    pub fn flows(&self) -> impl Iterator<Item = (NodeId, NodeId, &Share)> {
        self.flows.iter().map(|(&(source, destination), share)| (source, destination, share))
    }

    /// \[messages\] Generated, and neither delivered nor lost; 0 if messages are not kept.
    #[must_use]
    pub fn unfinished(&self) -> u64 {
        self.underway.len() as u64
    }

    /// The messages delivered since the start of the measurement, ordered by delivery, source and handle; empty if not
    /// kept.
    #[must_use]
    pub fn completed(&self) -> Vec<Completed> {
        let mut completed = self.completed.clone();
        completed.sort_unstable_by_key(|one| (one.delivered, one.message.source, one.message.id));
        completed
    }
}

#[cfg(test)]
mod tests {
    use super::super::Recorder;
    use super::*;

    #[test]
    fn nothing_is_kept_unless_it_is_asked_for() {
        let message = Message { id: 7, source: NodeId(1), destination: NodeId(2), bytes: 90, class: 0 };
        let packet = Receipt { source: NodeId(1), destination: NodeId(2), sequence: 0, latency: 5, hops: 2 };
        let delivery = Delivery { message, offered: Cycle(3), delivered: Cycle(9) };
        let run = |keep: Keep| {
            let mut recorder = Recorder::new(4);
            recorder.keep(keep);
            recorder.offered(Cycle(1), &message);
            recorder.received(Cycle(9), &packet);
            recorder.delivered(&delivery);
            recorder
        };
        assert_eq!(run(Keep::default()).details(), None);
        let mut all = run(Keep { nodes: true, flows: true, messages: true, packets: true });
        let details = all.details().unwrap();
        let share = details.nodes()[1].sent;
        assert_eq!((share.offered_messages, share.offered_bytes, share.delivered_bytes), (1, 90, 90));
        assert_eq!((share.latency.mean(), details.nodes()[2].packets_received), (Some(5.0), 1));
        assert_eq!(details.flows().collect::<Vec<_>>(), [(NodeId(1), NodeId(2), &share)]);
        assert_eq!(
            details.completed(),
            [Completed { message, generated: Cycle(1), delivered: Cycle(9), acknowledged: None }]
        );
        let mut all_acked = all.clone();
        all_acked.acknowledged(&message, Cycle(12));
        assert_eq!(all_acked.details().unwrap().completed()[0].acknowledged, Some(Cycle(12)));
        all.begin();
        let details = all.details().unwrap();
        assert!(details.completed().is_empty() && details.flows().next().is_none());
        assert_eq!(details.nodes()[1], NodeDetails::default());
        assert_eq!(all.take_arrivals(), [Arrival { at: Cycle(9), packet }], "packets are of the whole run");
        assert_eq!(all.take_arrivals(), []);
        let nodes = run(Keep { nodes: true, ..Keep::default() });
        assert!(nodes.details().unwrap().flows().next().is_none());
    }
}
