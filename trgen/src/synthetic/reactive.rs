//! Traffic in which receptions cause messages.
//!
//! With some probability, a reception makes its node send some messages; they go to the destinations of the pattern, at
//! full speed, and their receptions may cause more. The number caused is a hash of the received message and does not
//! depend on the order of deliveries.
//!
//! # How the model departs from reality, and who could notice
//! A reaction goes to a destination of the pattern, not back to the sender: `request-reply` answers.
//! Reactions and the node's other messages wait for the network independently. Reactions are of traffic class 1.

use super::bundle::{Part, earlier};
use super::pending::PendingSends;
use super::source::Synthetic;
use super::temporal::Reaction;
use crate::message::{Delivery, Message};
use crate::rng::{Purpose, mix, mix2, pick};
use crate::source::{Next, Outbox, SourceError, TrGen, Wait};
use crate::units::{Cycle, NodeId};

/// A source and the reactions to it. Messages of the source have even ids, reactions odd ones.
#[derive(Debug)]
pub(super) struct Reactive {
    /// The source of the messages that no reception causes.
    base: Synthetic,
    /// Messages that receptions have caused.
    pending: PendingSends,
    reaction: Reaction,
    /// Hash of run seed and purpose, from which the number of caused messages is derived.
    key: u64,
    /// Number of messages generated and not yet delivered.
    in_flight: u64,
    /// Messages generated in one call.
    scratch: Outbox,
}

impl Reactive {
    pub(super) fn new(base: Synthetic, pending: PendingSends, reaction: Reaction, seed: u64) -> Self {
        let scratch = Outbox::new(base.nodes());
        Self { base, pending, reaction, key: mix2(seed, Purpose::Reaction as u64), in_flight: 0, scratch }
    }

    /// Number of messages that the reception of `message` causes.
    fn caused(&self, message: &Message) -> u64 {
        let Reaction { probability, min, max } = self.reaction;
        let key = mix2(mix2(self.key, u64::from(message.source.0)), message.id);
        let draw = (key >> 11) as f64 / (1u64 << 53) as f64;
        if draw < probability { u64::from(min + pick(mix(!key), max - min + 1)) } else { 0 }
    }
}

impl Part for Reactive {
    fn is_silent(&self, node: NodeId) -> bool {
        self.base.is_silent(node)
    }
}

impl TrGen for Reactive {
    fn nodes(&self) -> usize {
        self.base.nodes()
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        self.base.generate(now, &mut self.scratch)?;
        for class in 0..2 {
            if class == 1 {
                self.pending.generate(now, &mut self.scratch);
            }
            let in_flight = &mut self.in_flight;
            self.scratch.offer(|message| {
                *in_flight += 1;
                out.push_to_any(Message { id: 2 * message.id + u64::from(class), class, ..message });
                true
            });
        }
        Ok(())
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        if message.id.is_multiple_of(2) {
            self.base.sent(now, &Message { id: message.id / 2, ..*message });
        } else {
            self.pending.sent(now, message.source);
        }
    }

    fn take_back(&mut self, now: Cycle, message: &Message) -> bool {
        let is_drawn = message.id.is_multiple_of(2);
        let taken = is_drawn && self.base.take_back(now, &Message { id: message.id / 2, ..*message });
        self.in_flight -= u64::from(taken);
        taken
    }

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let caused = self.caused(&delivery.message);
        self.pending.enqueue(delivery.message.destination, caused, now);
    }

    fn dropped(&mut self, now: Cycle, message: &Message) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if message.id.is_multiple_of(2) {
            self.base.dropped(now, &Message { id: message.id / 2, ..*message });
        }
    }

    fn next(&self) -> Next {
        match earlier(self.base.next(), self.pending.next()) {
            Next::Done if self.in_flight > 0 => Next::Waiting,
            next => next,
        }
    }

    fn silent_nodes(&self) -> usize {
        self.base.silent_nodes()
    }

    fn waits(&self) -> Vec<Wait> {
        [self.base.waits(), self.pending.waits()].concat()
    }
}
