//! Shots: bursts that the whole machine shares.
//!
//! In a shot every node sends the same number of messages, generated at full speed. The next shot begins in the cycle
//! after the arrival of the last message. The length of a shot counts both its first cycle and the cycle of that
//! arrival. Silent nodes send nothing.

use super::pending::PendingSends;
use crate::message::{Delivery, Message};
use crate::source::{Next, Outbox, SourceError, TrGen, Wait};
use crate::units::{Cycle, NodeId};

/// A shot that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shot {
    /// \[cycle\] The first cycle in which messages were generated.
    pub start: Cycle,
    /// \[cycles\] Length, from `start` to the cycle of the last arrival, both counted.
    pub cycles: u64,
    /// Number of messages that all nodes sent together.
    pub messages: u64,
}

/// A number of shots, one after another.
#[derive(Debug)]
pub(super) struct Shots {
    /// Messages of the current shot that have not been generated.
    pending: PendingSends,
    /// Number of messages that every node sends in a shot.
    messages_per_node: u64,
    /// Number of shots that have not begun.
    remaining: u64,
    /// \[cycle\] The first cycle of the current shot.
    start: Cycle,
    /// Number of messages in the current shot.
    messages: u64,
    /// Number of messages of the current shot that have not been delivered yet.
    missing: u64,
    /// The shots that have ended, in order.
    ended: Vec<Shot>,
}

impl Shots {
    pub(super) fn new(pending: PendingSends, messages_per_node: u64, shots: u64) -> Self {
        let mut source = Self {
            pending,
            messages_per_node,
            remaining: shots,
            start: Cycle::FIRST,
            messages: 0,
            missing: 0,
            ended: Vec::new(),
        };
        source.begin(Cycle::FIRST);
        source
    }

    /// Begins the next shot in cycle `start`, if one remains.
    fn begin(&mut self, start: Cycle) {
        if self.remaining == 0 {
            return;
        }
        self.remaining -= 1;
        self.start = start;
        self.messages = (0..self.pending.nodes())
            .map(|node| self.pending.enqueue(NodeId::at(node), self.messages_per_node, start - 1))
            .sum();
        self.missing = self.messages;
        if self.messages == 0 {
            // All nodes are silent.
            self.remaining = 0;
        }
    }

    pub(super) fn is_silent(&self, node: NodeId) -> bool {
        self.pending.is_silent(node)
    }

    pub(super) fn ended(&self) -> &[Shot] {
        &self.ended
    }

    /// Counts a message that has arrived or is lost; the last one ends the shot.
    fn account_for_one(&mut self, now: Cycle) {
        self.missing = self.missing.saturating_sub(1);
        if self.missing == 0 && self.messages > 0 {
            self.ended.push(Shot { start: self.start, cycles: now.since(self.start) + 1, messages: self.messages });
            self.messages = 0;
            self.begin(now.next());
        }
    }
}

impl TrGen for Shots {
    fn nodes(&self) -> usize {
        self.pending.nodes()
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        self.pending.generate(now, out);
        Ok(())
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        self.pending.sent(now, message.source);
    }

    fn delivered(&mut self, now: Cycle, _: &Delivery) {
        self.account_for_one(now);
    }

    fn dropped(&mut self, now: Cycle, _: &Message) {
        self.account_for_one(now);
    }

    fn next(&self) -> Next {
        match self.pending.next() {
            Next::Done if self.missing > 0 => Next::Waiting,
            next => next,
        }
    }

    fn silent_nodes(&self) -> usize {
        (0..self.pending.nodes()).filter(|&node| self.pending.is_silent(NodeId::at(node))).count()
    }

    fn waits(&self) -> Vec<Wait> {
        self.pending.waits()
    }
}
