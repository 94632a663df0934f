//! Incasts and multicasts: at the points of a Poisson process several nodes send to one at once, or one to several.
//!
//! An event takes a node that is not silent and its destination by the pattern. In an incast, other nodes send to that
//! destination too; in a multicast, the node sends a copy of its message to other nodes too. They are drawn evenly and
//! without repetition. Events are open-loop.

use super::bundle::Part;
use super::draw::{below, ln, positive_unit};
use super::size::Law;
use super::spatial::Pattern;
use crate::message::{Delivery, Message};
use crate::rng::{Purpose, Stream, stream};
use crate::source::{Next, Outbox, SourceError, TrGen};
use crate::units::{Cycle, NodeId};

/// Which side of an event has several nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// Several nodes send a message each to one.
    Incast,
    /// One node sends copies of a message to several, one after the other.
    Multicast,
}

/// A source of incasts or multicasts.
#[derive(Debug)]
pub(super) struct Groups {
    group: Group,
    pattern: Box<dyn Pattern>,
    law: Box<dyn Law>,
    phit_bytes: u64,
    /// Number of messages of an event.
    members: usize,
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

impl Groups {
    /// Events of `members` messages, `rate` of them in a cycle; there are more nodes than `members`.
    pub(super) fn new(
        pattern: Box<dyn Pattern>,
        law: Box<dyn Law>,
        phit_bytes: u32,
        (group, members): (Group, usize),
        rate: f64,
        seed: u64,
    ) -> Self {
        let count = pattern.nodes();
        let speakers = (0..count).map(NodeId::at).filter(|&node| !pattern.is_silent(node)).collect();
        let nodes = (0..count).map(|node| (0, stream(seed, node as u64, Purpose::Size))).collect();
        let draws = [Purpose::Temporal, Purpose::Spatial].map(|purpose| stream(seed, 0, purpose));
        let order = (0..count as u32).collect();
        let phit_bytes = u64::from(phit_bytes);
        let mut new = Self { group, pattern, law, phit_bytes, members, rate, speakers, order, time: 0.0, nodes, draws };
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

    /// \[bytes\] Draws the size of a message.
    fn size(&mut self, source: NodeId) -> u64 {
        self.law.phits(&mut self.nodes[source.index()].1).saturating_mul(self.phit_bytes)
    }

    /// Sends a message.
    fn send(&mut self, source: NodeId, destination: NodeId, bytes: u64, out: &mut Outbox) {
        let sequence = &mut self.nodes[source.index()].0;
        out.push_to_any(Message { id: *sequence, source, destination, bytes, class: 0 });
        *sequence += 1;
    }

    /// Generates the messages of an event.
    fn event(&mut self, out: &mut Outbox) {
        let first = self.speakers[below(self.speakers.len() as u32, &mut self.draws[1]) as usize];
        let Some(destination) = self.pattern.destination(first, &mut self.draws[1]) else { return };
        let bytes = self.size(first);
        self.send(first, destination, bytes, out);
        // The first places of a permutation that is drawn as far as needed.
        let (mut sent, mut place) = (1, 0);
        while sent < self.members && place < self.order.len() {
            let rest = (self.order.len() - place) as u32;
            self.order.swap(place, place + below(rest, &mut self.draws[1]) as usize);
            let other = NodeId(self.order[place]);
            place += 1;
            if other == first || other == destination {
                continue;
            }
            match self.group {
                Group::Incast => {
                    let bytes = self.size(other);
                    self.send(other, destination, bytes, out);
                }
                Group::Multicast => self.send(first, other, bytes, out),
            }
            sent += 1;
        }
    }
}

impl Part for Groups {
    /// All nodes may be drawn.
    fn is_silent(&self, _: NodeId) -> bool {
        self.next_cycle().is_none()
    }
}

impl TrGen for Groups {
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
