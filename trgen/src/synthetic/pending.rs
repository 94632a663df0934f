//! Pending messages that nodes send at full speed.

use super::due::DueNodes;
use super::size::Law;
use super::source::Mode;
use super::spatial::Pattern;
use crate::message::Message;
use crate::rng::{Purpose, Stream, stream};
use crate::source::{Next, Outbox, Wait, WaitCause};
use crate::units::{Cycle, NodeId};

/// State of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// It has nothing to send.
    Idle,
    /// Its next message is in the calendar.
    Due,
    /// Throttled: it waits until its last message has been sent.
    Blocked,
}

/// State of a node and its streams.
#[derive(Debug)]
struct Node {
    /// Stream of destinations.
    spatial: Stream,
    /// Stream of message sizes.
    size: Stream,
    /// Number of the next message.
    sequence: u64,
    /// Number of messages still to be generated.
    unsent: u64,
    state: State,
}

/// Messages that each node still has to send: one per cycle, or, if throttled, one whenever the last has been sent.
#[derive(Debug)]
pub(super) struct PendingSends {
    pattern: Box<dyn Pattern>,
    law: Box<dyn Law>,
    mode: Mode,
    phit_bytes: u64,
    nodes: Vec<Node>,
    calendar: DueNodes,
    /// Number of blocked nodes.
    blocked: usize,
}

impl PendingSends {
    pub(super) fn new(pattern: Box<dyn Pattern>, law: Box<dyn Law>, phit_bytes: u32, mode: Mode, seed: u64) -> Self {
        let count = pattern.nodes();
        let node = |index: usize| Node {
            spatial: stream(seed, index as u64, Purpose::Spatial),
            size: stream(seed, index as u64, Purpose::Size),
            sequence: 0,
            unsent: 0,
            state: State::Idle,
        };
        Self {
            pattern,
            law,
            mode,
            phit_bytes: u64::from(phit_bytes),
            nodes: (0..count).map(node).collect(),
            calendar: DueNodes::new(),
            blocked: 0,
        }
    }

    pub(super) fn nodes(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn is_silent(&self, node: NodeId) -> bool {
        self.pattern.is_silent(node)
    }

    /// Adds `messages` to those that a node has to send, from the cycle after `now` on. Silent nodes send nothing.
    /// Returns the number added.
    pub(super) fn enqueue(&mut self, id: NodeId, messages: u64, now: Cycle) -> u64 {
        if messages == 0 || self.is_silent(id) {
            return 0;
        }
        let node = &mut self.nodes[id.index()];
        node.unsent += messages;
        if node.state == State::Idle {
            node.state = State::Due;
            self.calendar.insert(now.next(), id);
        }
        messages
    }

    /// Generates the messages due up to cycle `now`.
    pub(super) fn generate(&mut self, now: Cycle, out: &mut Outbox) {
        while let Some((cycle, id)) = self.calendar.take(now) {
            self.emit(id, cycle, out);
        }
    }

    /// Generates one message of a node in the cycle in which it is due.
    fn emit(&mut self, id: NodeId, cycle: Cycle, out: &mut Outbox) {
        let node = &mut self.nodes[id.index()];
        let Some(destination) = self.pattern.destination(id, &mut node.spatial) else {
            node.state = State::Idle;
            return;
        };
        let bytes = self.law.phits(&mut node.size).saturating_mul(self.phit_bytes);
        // A pattern refuses to name the sender if the network does not carry that.
        out.push_to_any(Message { id: node.sequence, source: id, destination, bytes, class: 0 });
        node.sequence += 1;
        node.unsent -= 1;
        match self.mode {
            Mode::Throttled => {
                node.state = State::Blocked;
                self.blocked += 1;
            }
            Mode::Open => self.schedule_next(id, cycle),
        }
    }

    /// Makes a node that is free in cycle `now` due in the next cycle, or idle if it has nothing to send.
    fn schedule_next(&mut self, id: NodeId, now: Cycle) {
        let node = &mut self.nodes[id.index()];
        if node.unsent > 0 {
            node.state = State::Due;
            self.calendar.insert(now.next(), id);
        } else {
            node.state = State::Idle;
        }
    }

    /// Called when the last message of a node has been sent: unblocks a throttled node.
    pub(super) fn sent(&mut self, now: Cycle, id: NodeId) {
        if self.nodes[id.index()].state == State::Blocked {
            self.blocked -= 1;
            self.schedule_next(id, now);
        }
    }

    /// [`Next::Done`] once every message has been sent.
    pub(super) fn next(&self) -> Next {
        match self.calendar.next() {
            Some(cycle) => Next::At(cycle),
            None if self.blocked > 0 => Next::Waiting,
            None => Next::Done,
        }
    }

    pub(super) fn waits(&self) -> Vec<Wait> {
        let blocked = self.nodes.iter().enumerate().filter(|(_, node)| node.state == State::Blocked);
        blocked
            .map(|(index, node)| {
                let text =
                    format!("node {index} waits for the network to take a message and owes {} more", node.unsent);
                Wait { cause: WaitCause::Network, text }
            })
            .collect()
    }
}
