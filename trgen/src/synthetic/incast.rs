//! Incasts: at the points of a Poisson process several nodes send to one at once.
//!
//! An event takes a node that is not silent, whose destination by the pattern is the receiver, and other nodes, drawn
//! evenly and without repetition, which send to it too. Events are open-loop.

use super::bundle::Part;
use super::draw::{below, ln, positive_unit};
use super::size::Law;
use super::spatial::Pattern;
use crate::message::{Delivery, Message};
use crate::rng::{Purpose, Stream, stream};
use crate::source::{Next, Outbox, SourceError, TrGen};
use crate::units::{Cycle, NodeId};

/// A source of incasts.
#[derive(Debug)]
pub(super) struct Incasts {
    pattern: Box<dyn Pattern>,
    law: Box<dyn Law>,
    phit_bytes: u64,
    /// Number of nodes that send in an event.
    senders: usize,
    /// \[events/cycle\] Of the whole network.
    rate: f64,
    /// Nodes that are not silent.
    speakers: Vec<NodeId>,
    /// All nodes, in the order in which the last event left them.
    order: Vec<u32>,
    /// \[cycle\] Time of the next event.
    time: f64,
    /// By node: number of its next message, and the stream of its sizes.
    nodes: Vec<(u64, Stream)>,
    /// Streams of times, and of nodes.
    draws: [Stream; 2],
}

impl Incasts {
    /// `rate` is the number of events in a cycle; there are more nodes than `senders`.
    pub(super) fn new(
        pattern: Box<dyn Pattern>,
        law: Box<dyn Law>,
        phit_bytes: u32,
        senders: usize,
        rate: f64,
        seed: u64,
    ) -> Self {
        let count = pattern.nodes();
        let speakers = (0..count).map(NodeId::at).filter(|&node| !pattern.is_silent(node)).collect();
        let nodes = (0..count).map(|node| (0, stream(seed, node as u64, Purpose::Size))).collect();
        let draws = [Purpose::Temporal, Purpose::Spatial].map(|purpose| stream(seed, 0, purpose));
        let order = (0..count as u32).collect();
        let phit_bytes = u64::from(phit_bytes);
        let mut new = Self { pattern, law, phit_bytes, senders, rate, speakers, order, time: 0.0, nodes, draws };
        new.wait();
        new
    }

    /// Draws the time of the next event.
    fn wait(&mut self) {
        self.time += -ln(positive_unit(&mut self.draws[0])) / self.rate;
    }

    /// The cycle of the next event; none without nodes or load.
    fn next_cycle(&self) -> Option<Cycle> {
        // Arrivals in (t-1, t] belong to cycle t. The conversion saturates.
        let is_never = self.rate == 0.0 || self.speakers.is_empty();
        (!is_never).then(|| Cycle((self.time.ceil() as u64).max(1))).filter(|&cycle| cycle < Cycle::NEVER)
    }

    /// Sends a message.
    fn send(&mut self, source: NodeId, destination: NodeId, out: &mut Outbox) {
        let (sequence, sizes) = &mut self.nodes[source.index()];
        let bytes = self.law.phits(sizes).saturating_mul(self.phit_bytes);
        out.push_to_any(Message { id: *sequence, source, destination, bytes, class: 0 });
        *sequence += 1;
    }

    /// Generates the messages of an event.
    fn event(&mut self, out: &mut Outbox) {
        let first = self.speakers[below(self.speakers.len() as u32, &mut self.draws[1]) as usize];
        let Some(receiver) = self.pattern.destination(first, &mut self.draws[1]) else { return };
        self.send(first, receiver, out);
        // The first places of a permutation that is drawn as far as needed.
        let (mut sent, mut place) = (1, 0);
        while sent < self.senders && place < self.order.len() {
            let rest = (self.order.len() - place) as u32;
            self.order.swap(place, place + below(rest, &mut self.draws[1]) as usize);
            let other = NodeId(self.order[place]);
            place += 1;
            if other != first && other != receiver {
                self.send(other, receiver, out);
                sent += 1;
            }
        }
    }
}

impl Part for Incasts {
    /// All nodes may be drawn.
    fn is_silent(&self, _: NodeId) -> bool {
        self.next_cycle().is_none()
    }
}

impl TrGen for Incasts {
    fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        while self.next_cycle().is_some_and(|cycle| cycle <= now) {
            self.event(out);
            self.wait();
        }
        Ok(())
    }

    fn sent(&mut self, _: Cycle, _: &Message) {}

    fn delivered(&mut self, _: Cycle, _: &Delivery) {}

    fn dropped(&mut self, _: Cycle, _: &Message) {}

    fn next(&self) -> Next {
        self.next_cycle().map_or(Next::Done, Next::At)
    }
}
