//! The one interface between traffic and networks.
//!
//! # How a source and a network are coupled
//!
//! A run is a sequence of cycles. In each cycle that somebody has asked for, the coupling loop
//!
//! 1. calls [`TrGen::generate`] once, if [`TrGen::next`] asked for this cycle (or an earlier one);
//! 2. offers every message of the [`Outbox`] to the network: those that were refused before, then the others, those of each
//!    node in the order in which they were put there;
//! 3. lets the network live through the cycle;
//! 4. tells the source of this cycle's notices: [`TrGen::sent`] for every message that has left the source's hands, and
//!    [`TrGen::delivered`] for every message that has arrived in full.
//!
//! Then it asks [`TrGen::next`] again. Cycles in which the source wants nothing and the network holds nothing are
//! skipped; that is why `next` tells three things apart:
//!
//! - [`Next::At`]: call me then, and not before (an earlier call must do no harm);
//! - [`Next::Waiting`]: nothing to say until something is sent or delivered. If the network is empty too, nothing will
//!   ever happen again: the run ends as a **deadlock of the traffic**, and [`TrGen::waits`] says who waits for what;
//! - [`Next::Done`]: nothing more will be generated, whatever is delivered.
//!
//! # Back-pressure
//!
//! A node's network interface takes messages one after another. When it is full it refuses; the message stays in the
//! outbox and is offered again, in order, before anything newer of that node, until it is taken. A **throttled** source
//! waits for [`TrGen::sent`] before it draws the node's next message, so that nothing is ever refused; an **open-loop**
//! source draws on regardless. Both are the source's choice: the network only ever says when a message went.
//!
//! While global congestion control is tripped nothing is *drawn*: the loop offers messages to the source first
//! ([`TrGen::take_back`]), and to the network only if the source does not take them back.
//!
//! # Failure
//!
//! Generating may fail: a guest vanishes, a trace breaks off. [`TrGen::generate`] then returns an error, the run ends,
//! and what was measured so far is reported as incomplete.
//!
//! # Randomness
//!
//! A source owns one generator per (run seed, node, purpose), from [`crate::rng::stream`], and none besides: what one
//! node draws never depends on another node, on the order of visits, or on the date.

use std::collections::VecDeque;

use crate::message::{Delivery, Message};
use crate::units::{Cycle, NodeId, Picoseconds};

/// When a source wants to be called next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// At this cycle. Never a cycle for which [`TrGen::generate`] has already been called.
    At(Cycle),
    /// After something has been sent or delivered.
    Waiting,
    /// Never again.
    Done,
}

/// Why a source cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct SourceError {
    /// What happened, to whom, and what to do about it.
    pub what: String,
}

/// A source of traffic. See the [module](self) for the contract.
pub trait TrGen: Send {
    /// Number of nodes that this source addresses: messages go from and to nodes 0 to N-1.
    fn nodes(&self) -> usize;

    /// Puts the messages of cycle `now` into `out`.
    ///
    /// # Errors
    /// When the source cannot go on; the run then ends with partial results.
    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError>;

    /// The last packet of `message` has entered the source buffer in cycle `now`: the sender is free of it.
    fn sent(&mut self, now: Cycle, message: &Message);

    /// Congestion control keeps nodes from generating in cycle `now`: takes a message back that has just been generated, as if it
    /// had not been drawn, and returns true. A source whose messages must be sent in any case returns false; they wait at the
    /// interface of their node.
    fn take_back(&mut self, _now: Cycle, _message: &Message) -> bool {
        false
    }

    /// Called now and then while the network simulates, also when there is nothing to generate: a source that depends on
    /// something outside of the run looks whether that is still there. It may change what [`next`](Self::next) says.
    ///
    /// # Errors
    /// When the source cannot go on.
    fn attend(&mut self) -> Result<(), SourceError> {
        Ok(())
    }

    /// A message has arrived in full in cycle `now`.
    fn delivered(&mut self, now: Cycle, delivery: &Delivery);

    /// When to call [`generate`](Self::generate) next.
    fn next(&self) -> Next;

    /// Counts up when what is measured of a run is to begin anew: asked after each [`generate`](Self::generate), and a change
    /// takes effect before the messages of that cycle enter the network. 0 in a source that wants nothing of the kind.
    fn phase(&self) -> u64 {
        0
    }

    /// Nodes that will never send, whatever happens (the fixed points of a permutation, nodes without a task). The
    /// offered load of a run is lower for them, and its report says so.
    fn silent_nodes(&self) -> usize {
        0
    }

    /// Who waits for what, one line each: asked when nothing can ever happen again.
    fn waits(&self) -> Vec<String> {
        Vec::new()
    }

    /// What its parties are doing now. Looking changes nothing.
    fn activity(&self) -> Activity {
        Activity::Nodes
    }
}

/// What the parties of a source are doing now, for who looks at a run.
#[derive(Clone, PartialEq, Default, Debug)]
pub enum Activity {
    /// Nodes that send; the network's counts say the rest.
    #[default]
    Nodes,
    /// The tasks of an application.
    Tasks(Vec<TaskActivity>),
    /// Several applications that come and go.
    Jobs(JobsActivity),
    /// Programs that run now.
    Guests(Vec<GuestActivity>),
}

/// What a task is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskState {
    /// It computes, or goes on in this cycle.
    Computing,
    /// It is blocked in a send.
    Sending,
    /// It is blocked in a receive.
    Receiving,
    /// It is blocked in a wait for requests.
    Waiting,
    /// It has done everything.
    Finished,
}

/// A task now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskActivity {
    /// Where it runs.
    pub node: NodeId,
    /// What it is doing.
    pub state: TaskState,
    /// Events that it has begun.
    pub done: u64,
    /// Events of its program.
    pub events: u64,
    /// \[bytes\] Sent.
    pub sent_bytes: u64,
}

/// Several applications now. Every job is counted once: it is to come, waits, runs, or has ended.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct JobsActivity {
    /// Jobs that have not arrived.
    pub coming: usize,
    /// Jobs that wait for nodes.
    pub waiting: usize,
    /// Jobs that run.
    pub running: usize,
    /// Jobs that have ended.
    pub ended: usize,
    /// The jobs that run, in the order in which they began; where none does, those that ended last.
    pub listed: Vec<JobActivity>,
}

/// An application of several now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobActivity {
    /// Its number among all jobs, from 0.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: Vec<TaskActivity>,
}

/// A live guest now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuestActivity {
    /// Its name.
    pub name: String,
    /// Its nodes.
    pub nodes: Vec<NodeId>,
    /// What it is doing, in a word or two.
    pub state: String,
    /// False once it has left or was lost.
    pub connected: bool,
    /// \[ps\] Where its clock is known to be.
    pub clock: Picoseconds,
    /// Messages that it injected.
    pub injected: u64,
    /// Deliveries and ends of sends that it was told of.
    pub notices: u64,
    /// Messages handed over late.
    pub late: u64,
}

/// Where a source puts its messages, and where they stay until the network takes them.
///
/// Messages of one node leave in the order in which they came; messages of different nodes do not wait for each other.
#[derive(Debug)]
pub struct Outbox {
    nodes: usize,
    /// Messages that have not been offered yet.
    fresh: Vec<Message>,
    /// What waits since the network refused it or an earlier message of its node, by node; empty before the first time.
    refused: Vec<VecDeque<Message>>,
    /// Nodes of which something was refused, in the order in which that began.
    waiting: Vec<u32>,
}

impl Outbox {
    /// An empty outbox for `nodes` nodes.
    #[must_use]
    pub const fn new(nodes: usize) -> Self {
        Self { nodes, fresh: Vec::new(), refused: Vec::new(), waiting: Vec::new() }
    }

    /// Puts a message behind all that its source has put there.
    ///
    /// # Panics
    /// When source or destination is not a node, or both are the same: a source that does this is broken.
    pub fn push(&mut self, message: Message) {
        assert!(message.destination.index() < self.nodes, "{message:?} goes to a node that does not exist");
        assert!(message.source.index() < self.nodes, "{message:?} comes from a node that does not exist");
        assert_ne!(message.source, message.destination, "a message to its own node takes no network");
        self.fresh.push(message);
    }

    /// True if no message waits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.fresh.is_empty() && self.waiting.is_empty()
    }

    /// Messages that wait, of all nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        let refused = self.waiting.iter().map(|&node| self.refused[node as usize].len()).sum::<usize>();
        refused + self.fresh.len()
    }

    /// Offers every waiting message, those of each node in order, to `take`, which returns false to refuse it; the rest of
    /// that node then waits for the next time.
    pub fn offer(&mut self, mut take: impl FnMut(Message) -> bool) {
        let refused = &mut self.refused;
        self.waiting.retain(|&node| {
            let queue = &mut refused[node as usize];
            while let Some(&message) = queue.front() {
                if !take(message) {
                    return true;
                }
                queue.pop_front();
            }
            false
        });
        for message in self.fresh.drain(..) {
            let node = message.source.index();
            // While nobody waits no queue needs to be looked at.
            let waits = !self.waiting.is_empty() && !self.refused[node].is_empty();
            if waits || !take(message) {
                if self.refused.is_empty() {
                    self.refused.resize(self.nodes, VecDeque::new());
                }
                if !waits {
                    self.waiting.push(message.source.0);
                }
                self.refused[node].push_back(message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use rand::Rng as _;

    /// Against a plain queue for each node, with a network that takes some.
    #[test]
    fn an_outbox_is_a_queue_for_each_node() {
        const NODES: usize = 5;
        let mut rng = stream(7, 0, Purpose::Setup);
        let mut draw = |bound: u64| rng.next_u64() % bound;
        let mut out = Outbox::new(NODES);
        let mut queues: Vec<VecDeque<Message>> = vec![VecDeque::new(); NODES];
        for id in 0..3_000 {
            if draw(3) > 0 {
                let source = draw(NODES as u64) as u32;
                let destination = NodeId((source + 1) % NODES as u32);
                let message = Message { id, source: NodeId(source), destination, bytes: 1 };
                out.push(message);
                queues[source as usize].push_back(message);
                continue;
            }
            let mut refused = [false; NODES];
            out.offer(|message| {
                let node = message.source.index();
                assert!(!refused[node], "who was refused waits for the next time");
                assert_eq!(queues[node].front(), Some(&message));
                if draw(2) == 0 {
                    refused[node] = true;
                    return false;
                }
                queues[node].pop_front();
                true
            });
            assert!(queues.iter().zip(refused).all(|(queue, refused)| refused || queue.is_empty()), "all are offered");
            let waiting: usize = queues.iter().map(VecDeque::len).sum();
            assert_eq!((out.len(), out.is_empty()), (waiting, waiting == 0));
        }
    }
}
