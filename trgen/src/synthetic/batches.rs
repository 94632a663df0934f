//! Batches: as [shots](super::shots), with a bound on the requests of a node that are on their way, or with replies.
//!
//! In a batch every node makes a number of messages, at most one request a cycle while fewer than `outstanding` of its
//! requests are on their way: not arrived, or not answered where there are replies. Replies are made in the cycle after
//! the arrival of their requests and count among the messages of the node that makes them, which makes those too that
//! are due after the last one of its number. A batch ends with the last arrival, and the next one begins in the cycle
//! after that. A throttled node makes nothing while a message of its waits to be sent.
//!
//! Source: BookSim 2, `sim_type = batch`; Jiang and others, ISPASS 2013.
//!
//! Decision: docs/decisions/0553-batches.md.

use std::collections::VecDeque;

use super::draw::chance;
use super::due::DueNodes;
use super::reply::{Kinds, WriteLaws};
use super::shots::Shot;
use super::size::Law;
use super::source::Mode;
use super::spatial::Pattern;
use crate::message::{Delivery, Message};
use crate::rng::{Purpose, Stream, stream};
use crate::source::{Next, Outbox, Reads, SourceError, TrGen, Wait};
use crate::units::{Cycle, NodeId};

/// A node and its streams.
#[derive(Debug)]
struct Node {
    /// Stream of destinations.
    spatial: Stream,
    /// Stream of sizes.
    size: Stream,
    /// Stream of kinds of requests, and of the sizes of writes.
    kind: Stream,
    /// Number of the next message.
    sequence: u64,
    /// Messages of this batch that it has made.
    made: u64,
    /// Its requests that are on their way.
    under_way: u64,
    /// Replies that it has to make: to whom, and whether to a write.
    owed: VecDeque<(NodeId, bool)>,
    /// True if its next cycle is in the calendar.
    is_due: bool,
    /// Throttled: its messages that have not been sent.
    unsent: u64,
}

/// The laws of a batch.
#[derive(Debug)]
pub(super) struct BatchLaws {
    /// Sizes of requests.
    pub(super) request: Box<dyn Law>,
    /// Sizes of replies; `None` without replies.
    pub(super) reply: Option<Box<dyn Law>>,
    /// `None` if all requests are alike.
    pub(super) writes: Option<WriteLaws>,
}

/// A number of batches, one after another.
#[derive(Debug)]
pub(super) struct Batches {
    pattern: Box<dyn Pattern>,
    laws: BatchLaws,
    phit_bytes: u64,
    mode: Mode,
    /// Messages of a node in a batch.
    messages: u64,
    /// The most requests of a node that are on their way.
    outstanding: u64,
    nodes: Vec<Node>,
    calendar: DueNodes,
    /// Number of batches that have not begun.
    remaining: u64,
    /// \[cycle\] The first cycle of this batch.
    start: Cycle,
    /// Messages of this batch that have been made.
    made: u64,
    /// Nodes that have not made all of theirs.
    unfinished: usize,
    /// Messages on their way, and replies to make.
    missing: u64,
    ended: Vec<Shot>,
}

impl Batches {
    /// Batches of `messages` messages of each node, with at most `outstanding` requests on their way.
    pub(super) fn new(
        pattern: Box<dyn Pattern>,
        laws: BatchLaws,
        phit_bytes: u32,
        mode: Mode,
        (messages, outstanding): (u64, u64),
        batches: u64,
        seed: u64,
    ) -> Self {
        let count = pattern.nodes();
        let node = |index: usize| Node {
            spatial: stream(seed, index as u64, Purpose::Spatial),
            size: stream(seed, index as u64, Purpose::Size),
            kind: stream(seed, index as u64, Purpose::Reaction),
            sequence: 0,
            made: 0,
            under_way: 0,
            owed: VecDeque::new(),
            is_due: false,
            unsent: 0,
        };
        let mut source = Self {
            pattern,
            laws,
            phit_bytes: u64::from(phit_bytes),
            mode,
            messages,
            outstanding,
            nodes: (0..count).map(node).collect(),
            calendar: DueNodes::new(),
            remaining: batches,
            start: Cycle::FIRST,
            made: 0,
            unfinished: 0,
            missing: 0,
            ended: Vec::new(),
        };
        source.begin(Cycle::FIRST);
        source
    }

    /// Begins the next batch in cycle `start`, if one remains.
    fn begin(&mut self, start: Cycle) {
        let senders: Vec<NodeId> =
            (0..self.nodes.len()).map(NodeId::at).filter(|&node| !self.pattern.is_silent(node)).collect();
        if self.remaining == 0 || senders.is_empty() || self.messages == 0 {
            self.remaining = 0;
            return;
        }
        self.remaining -= 1;
        (self.start, self.made, self.unfinished) = (start, 0, senders.len());
        self.nodes.iter_mut().for_each(|node| node.made = 0);
        senders.into_iter().for_each(|node| self.schedule(node, start));
    }

    pub(super) fn is_silent(&self, node: NodeId) -> bool {
        self.pattern.is_silent(node)
    }

    /// The batches that have ended.
    pub(super) fn ended(&self) -> &[Shot] {
        &self.ended
    }

    /// True if a node may make a request.
    fn may_ask(&self, id: NodeId) -> bool {
        let node = &self.nodes[id.index()];
        node.made < self.messages && node.under_way < self.outstanding && !self.pattern.is_silent(id)
    }

    /// Makes a node due in cycle `at`, if it has anything to make then.
    fn schedule(&mut self, id: NodeId, at: Cycle) {
        let has_more = !self.nodes[id.index()].owed.is_empty() || self.may_ask(id);
        let node = &mut self.nodes[id.index()];
        if has_more && node.unsent == 0 && !std::mem::replace(&mut node.is_due, true) {
            self.calendar.insert(at, id);
        }
    }

    /// Makes a message of a node.
    fn make(&mut self, source: NodeId, destination: NodeId, bytes: u64, class: u8, out: &mut Outbox) {
        let node = &mut self.nodes[source.index()];
        let id = node.sequence;
        node.sequence += 1;
        node.made += 1;
        node.unsent += u64::from(self.mode == Mode::Throttled);
        if node.made == self.messages && !self.pattern.is_silent(source) {
            self.unfinished -= 1;
        }
        self.made += 1;
        self.missing += 1;
        out.push_to_any(Message { id, source, destination, bytes: bytes.saturating_mul(self.phit_bytes), class });
    }

    /// Makes what a node has to make in a cycle: its replies, and a request.
    fn emit(&mut self, id: NodeId, now: Cycle, out: &mut Outbox) {
        self.nodes[id.index()].is_due = false;
        while let Some((requester, is_write)) = self.nodes[id.index()].owed.pop_front() {
            self.missing -= 1;
            let node = &mut self.nodes[id.index()];
            let phits = match (&mut self.laws.writes, &mut self.laws.reply) {
                (Some(writes), _) if is_write => writes.reply.phits(&mut node.kind),
                (_, Some(law)) => law.phits(&mut node.size),
                (_, None) => continue,
            };
            self.make(id, requester, phits, Kinds::reply(is_write), out);
        }
        if self.nodes[id.index()].unsent == 0 && self.may_ask(id) {
            let node = &mut self.nodes[id.index()];
            // A node that the pattern gives no destination sends nothing more.
            let Some(destination) = self.pattern.destination(id, &mut node.spatial) else { return };
            let is_write = self.laws.writes.as_ref().is_some_and(|writes| chance(writes.fraction, &mut node.kind));
            let phits = match &mut self.laws.writes {
                Some(writes) if is_write => writes.request.phits(&mut node.kind),
                _ => self.laws.request.phits(&mut node.size),
            };
            node.under_way += 1;
            self.make(id, destination, phits, Kinds::request(is_write), out);
        }
        self.schedule(id, now.next());
    }

    /// Accounts for a message that has arrived or is lost in cycle `now`.
    fn account(&mut self, now: Cycle, message: &Message, has_arrived: bool) {
        self.missing -= 1;
        let is_request = Kinds::is_request(message.class);
        if is_request && has_arrived && self.laws.reply.is_some() {
            self.missing += 1;
            let owed = (message.source, Kinds::is_write(message.class));
            self.nodes[message.destination.index()].owed.push_back(owed);
            self.schedule(message.destination, now.next());
        } else {
            let requester = if is_request { message.source } else { message.destination };
            let node = &mut self.nodes[requester.index()];
            node.under_way = node.under_way.saturating_sub(1);
            self.schedule(requester, now.next());
        }
        if self.missing == 0 && self.unfinished == 0 {
            self.ended.push(Shot { start: self.start, cycles: now.since(self.start) + 1, messages: self.made });
            self.begin(now.next());
        }
    }
}

impl TrGen for Batches {
    fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        while let Some((cycle, node)) = self.calendar.take(now) {
            self.emit(node, cycle, out);
        }
        Ok(())
    }

    fn reads(&self) -> Reads {
        Reads { sent: self.mode == Mode::Throttled, delivered: true }
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        if self.mode == Mode::Throttled {
            self.nodes[message.source.index()].unsent -= 1;
            self.schedule(message.source, now.next());
        }
    }

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        self.account(now, &delivery.message, true);
    }

    fn dropped(&mut self, now: Cycle, message: &Message) {
        self.account(now, message, false);
    }

    fn next(&self) -> Next {
        match self.calendar.next() {
            Some(cycle) => Next::At(cycle),
            None if self.missing > 0 => Next::Waiting,
            None => Next::Done,
        }
    }

    fn silent_nodes(&self) -> usize {
        (0..self.nodes.len()).filter(|&node| self.is_silent(NodeId::at(node))).count()
    }

    fn waits(&self) -> Vec<Wait> {
        Vec::new()
    }
}
