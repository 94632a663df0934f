//! Requests and replies: a node that receives a request answers to the one that sent it.
//!
//! Requests follow process, pattern and size law of the traffic and are of class 0. Replies have a size law of their own
//! and are of class 1, which networks with classes keep apart from requests. Some of the requests may be writes, of class
//! 2, with size laws of their own and replies of class 3. A reply is generated `service` cycles after
//! its request has arrived in full, in the order of these arrivals and at most one a cycle; if throttled, only when the
//! node's last reply has been sent.
//!
//! With a bound, a node that has so many replies to send, or more, refuses requests: they wait in the network until it has
//! sent one. If replies share channels with requests, these may hold up the replies that would make room for them: a
//! protocol deadlock.
//!
//! # How the model departs from reality, and who could notice
//! Without a bound, replies queue before the network in any number. With one, a node may exceed it by the requests that it
//! had begun to take when it reached it, at most one for each channel of its ports of ejection.
//!
//! Decision: docs/decisions/0212-requests-and-replies.md.

use std::collections::{HashMap, VecDeque};

use super::bundle::{Part, earlier};
use super::draw::chance;
use super::due::DueNodes;
use super::size::Law;
use super::source::{Mode, Synthetic};
use crate::message::{Delivery, Message};
use crate::rng::{Purpose, Stream, stream};
use crate::source::{Next, Outbox, SourceError, TrGen, Wait, WaitCause};
use crate::units::{Cycle, NodeId};

/// Times from the generation of requests to the arrivals of their replies in full.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RoundTrips {
    /// Number of replies that have arrived.
    pub count: u64,
    /// \[cycles\] Sum of their times.
    pub sum: u128,
    /// \[cycles\] The least time; 0 without any.
    pub least: u64,
    /// \[cycles\] The greatest time.
    pub greatest: u64,
}

impl RoundTrips {
    /// \[cycles\] Mean time; `None` without any.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    fn add(&mut self, cycles: u64) {
        self.least = if self.count == 0 { cycles } else { self.least.min(cycles) };
        self.greatest = self.greatest.max(cycles);
        self.count += 1;
        self.sum += u128::from(cycles);
    }
}

/// The classes of requests and replies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kinds;

impl Kinds {
    /// The class of a request: 0, or 2 of a write.
    pub(super) const fn request(is_write: bool) -> u8 {
        2 * is_write as u8
    }

    /// The class of a reply: 1, or 3 of one to a write.
    pub(super) const fn reply(is_write: bool) -> u8 {
        1 + 2 * is_write as u8
    }

    /// True of the classes of requests.
    pub(super) const fn is_request(class: u8) -> bool {
        class.is_multiple_of(2)
    }

    /// True of the classes of writes and the replies to them.
    pub(super) const fn is_write(class: u8) -> bool {
        class >= 2
    }
}

/// A reply that a node has yet to send.
#[derive(Clone, Copy, Debug)]
struct Owed {
    /// When it can be generated.
    ready: Cycle,
    requester: NodeId,
    /// When its request was generated.
    asked: Cycle,
    /// True if the request was a write.
    is_write: bool,
}

/// Requests that write.
#[derive(Debug)]
pub(super) struct WriteLaws {
    /// Share of the requests.
    pub(super) fraction: f64,
    /// Their sizes.
    pub(super) request: Box<dyn Law>,
    /// The sizes of their replies.
    pub(super) reply: Box<dyn Law>,
}

/// The replies of a node.
#[derive(Debug)]
struct Node {
    /// Stream of sizes.
    size: Stream,
    /// Stream of the kinds of requests, and of the sizes of writes.
    kind: Stream,
    /// Number of the next reply.
    sequence: u64,
    owed: VecDeque<Owed>,
    /// Throttled: true until its last reply has been sent.
    is_blocked: bool,
    /// Number of replies that it has yet to send: of those owed, and of those that wait at its interface.
    unsent: u64,
}

/// A source of requests, and their replies. Requests have even ids, replies odd ones.
#[derive(Debug)]
pub(super) struct Replies {
    requests: Synthetic,
    law: Box<dyn Law>,
    /// `None` if all requests are alike.
    writes: Option<WriteLaws>,
    phit_bytes: u64,
    mode: Mode,
    /// \[cycles\] From the arrival of a request to its reply, at least 1.
    service: u64,
    /// Number of replies to send from which on a node refuses requests; `None` if it never does.
    room: Option<u64>,
    /// Nodes that have begun or ceased to refuse since they were last told.
    changed: Vec<NodeId>,
    nodes: Vec<Node>,
    calendar: DueNodes,
    /// By sender and id: when the request of a message under way was generated.
    asked: HashMap<(NodeId, u64), Cycle>,
    round_trips: RoundTrips,
    /// Number of blocked nodes.
    blocked: usize,
    /// Number of replies owed by all nodes.
    owed: usize,
    /// Requests generated in one call.
    scratch: Outbox,
}

impl Replies {
    /// A reply is generated `service` cycles after its request has arrived; nodes that have `room` replies to send refuse
    /// requests. `seed` is that of the sizes of replies.
    pub(super) fn new(
        requests: Synthetic,
        (law, writes): (Box<dyn Law>, Option<WriteLaws>),
        phit_bytes: u32,
        mode: Mode,
        (service, room): (u64, Option<u64>),
        seed: u64,
    ) -> Self {
        let count = requests.nodes();
        let node = |index: usize| Node {
            size: stream(seed, index as u64, Purpose::Size),
            kind: stream(seed, index as u64, Purpose::Reaction),
            sequence: 0,
            owed: VecDeque::new(),
            is_blocked: false,
            unsent: 0,
        };
        Self {
            law,
            writes,
            phit_bytes: u64::from(phit_bytes),
            mode,
            service,
            room,
            changed: Vec::new(),
            nodes: (0..count).map(node).collect(),
            calendar: DueNodes::new(),
            asked: HashMap::new(),
            round_trips: RoundTrips::default(),
            blocked: 0,
            owed: 0,
            scratch: Outbox::new(count),
            requests,
        }
    }

    /// Times of the replies that have arrived.
    pub(super) const fn round_trips(&self) -> &RoundTrips {
        &self.round_trips
    }

    /// Counts a reply more, or one less, that a node has yet to send.
    fn count_unsent(&mut self, id: NodeId, is_more: bool) {
        let unsent = &mut self.nodes[id.index()].unsent;
        *unsent = if is_more { *unsent + 1 } else { *unsent - 1 };
        if self.room.is_some_and(|room| *unsent + u64::from(!is_more) == room) {
            self.changed.push(id);
        }
    }

    /// Makes a node due for its next reply, in cycle `from` or later.
    fn schedule(&mut self, id: NodeId, from: Cycle) {
        let node = &self.nodes[id.index()];
        if let Some(owed) = node.owed.front().filter(|_| !node.is_blocked) {
            self.calendar.insert(owed.ready.max(from), id);
        }
    }

    /// Generates the reply of a node that is due.
    fn reply(&mut self, source: NodeId, now: Cycle, out: &mut Outbox) {
        let node = &mut self.nodes[source.index()];
        let Some(Owed { requester, asked, is_write, .. }) = node.owed.pop_front() else { return };
        let law = match &mut self.writes {
            Some(writes) if is_write => &mut writes.reply,
            _ => &mut self.law,
        };
        let bytes = law.phits(&mut node.size).saturating_mul(self.phit_bytes);
        let id = 2 * node.sequence + 1;
        node.sequence += 1;
        node.is_blocked = self.mode == Mode::Throttled;
        self.blocked += usize::from(node.is_blocked);
        self.owed -= 1;
        self.asked.insert((source, id), asked);
        let class = Kinds::reply(is_write);
        out.push_to_any(Message { id, source, destination: requester, bytes, class });
        self.schedule(source, now.next());
    }
}

impl Part for Replies {
    fn is_silent(&self, node: NodeId) -> bool {
        self.requests.is_silent(node)
    }
}

impl TrGen for Replies {
    fn nodes(&self) -> usize {
        self.requests.nodes()
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        self.requests.generate(now, &mut self.scratch)?;
        let Self { asked, writes, nodes, phit_bytes, .. } = self;
        self.scratch.offer(|message| {
            let mut message = Message { id: 2 * message.id, ..message };
            if let Some(writes) = writes {
                let rng = &mut nodes[message.source.index()].kind;
                if chance(writes.fraction, rng) {
                    message.class = Kinds::request(true);
                    message.bytes = writes.request.phits(rng).saturating_mul(*phit_bytes);
                }
            }
            asked.insert((message.source, message.id), now);
            out.push_to_any(message);
            true
        });
        while let Some((_, node)) = self.calendar.take(now) {
            self.reply(node, now, out);
        }
        Ok(())
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        if message.id.is_multiple_of(2) {
            self.requests.sent(now, &Message { id: message.id / 2, ..*message });
            return;
        }
        self.count_unsent(message.source, false);
        if std::mem::take(&mut self.nodes[message.source.index()].is_blocked) {
            self.blocked -= 1;
            self.schedule(message.source, now.next());
        }
    }

    fn take_back(&mut self, now: Cycle, message: &Message) -> bool {
        let is_request = message.id.is_multiple_of(2);
        let taken = is_request && self.requests.take_back(now, &Message { id: message.id / 2, ..*message });
        if taken {
            self.asked.remove(&(message.source, message.id));
        }
        taken
    }

    fn refusable(&self) -> Option<u8> {
        self.room.map(|_| 0)
    }

    fn take_refusals(&mut self, each: &mut dyn FnMut(NodeId, bool)) {
        for node in self.changed.drain(..) {
            each(node, self.room.is_none_or(|room| self.nodes[node.index()].unsent < room));
        }
    }

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        let Message { id, source, destination, class, .. } = delivery.message;
        let Some(asked) = self.asked.remove(&(source, id)) else { return };
        if id.is_multiple_of(2) {
            self.count_unsent(destination, true);
            let node = &mut self.nodes[destination.index()];
            self.owed += 1;
            let is_write = Kinds::is_write(class);
            node.owed.push_back(Owed { ready: now + self.service, requester: source, asked, is_write });
            if node.owed.len() == 1 {
                self.schedule(destination, now.next());
            }
        } else {
            self.round_trips.add(now.since(asked));
        }
    }

    fn dropped(&mut self, now: Cycle, message: &Message) {
        self.asked.remove(&(message.source, message.id));
        if message.id.is_multiple_of(2) {
            self.requests.dropped(now, &Message { id: message.id / 2, ..*message });
        }
    }

    fn next(&self) -> Next {
        let replies = match self.calendar.next() {
            Some(cycle) => Next::At(cycle),
            None if self.asked.is_empty() && self.owed == 0 && self.blocked == 0 => Next::Done,
            None => Next::Waiting,
        };
        earlier(self.requests.next(), replies)
    }

    fn silent_nodes(&self) -> usize {
        self.requests.silent_nodes()
    }

    fn waits(&self) -> Vec<Wait> {
        let blocked = self.nodes.iter().enumerate().filter(|(_, node)| node.is_blocked);
        let text = |(index, node): (usize, &Node)| {
            format!("node {index} waits for the network to take a reply and owes {} more", node.owed.len())
        };
        let own = blocked.map(|one| Wait { cause: WaitCause::Network, text: text(one) });
        self.requests.waits().into_iter().chain(own).collect()
    }
}
