//! The one interface between traffic and networks.
//!
//! # How a source and a network are coupled
//!
//! A run is a sequence of cycles. In each cycle in which the source or the network is active, the coupling loop
//!
//! 1. calls [`TrGen::generate`] once, if [`TrGen::next`] named this cycle (or an earlier one);
//! 2. offers every message of the [`Outbox`] to the network: first those refused before, then the new ones, each node's
//!    messages in the order in which they were generated;
//! 3. lets the network simulate the cycle;
//! 4. passes this cycle's notices to the source: [`TrGen::sent`] for every message that the node has sent completely,
//!    [`TrGen::delivered`] for every message that has arrived in full, and [`TrGen::dropped`] for every message that
//!    is lost. A message is sent before it is delivered or lost, and its source hears nothing of it after that: the
//!    number may be used again. Notices that the source does not [read](TrGen::reads) may be left out.
//!
//! Then it calls [`TrGen::next`] again. Cycles in which the source has nothing to generate and the network is empty are
//! skipped; `next` therefore distinguishes three cases:
//!
//! - [`Next::At`]: call `generate` in this cycle, and not before (an earlier call must do no harm);
//! - [`Next::Waiting`]: nothing to generate until a message is sent, delivered or lost. If the network is empty too,
//!   nothing will ever happen again: the run ends as a **deadlock of the traffic**, and [`TrGen::waits`] explains it;
//! - [`Next::Done`]: nothing more will be generated, whatever is delivered.
//!
//! # Back-pressure
//!
//! A node's network interface accepts messages one after another. When it is full it refuses; the message stays in the
//! outbox and is offered again, in order, before any newer message of that node, until it is accepted. A **throttled**
//! source waits for [`TrGen::sent`] before it draws the node's next message, so that nothing is ever refused; an
//! **open-loop** source keeps drawing. The source makes this choice: the network only reports when a message has gone.
//!
//! While global congestion control blocks injection no message is *drawn*: the loop offers messages to the source first
//! ([`TrGen::take_back`]), and to the network only if the source does not take them back.
//!
//! # Failure
//!
//! Generating may fail: a guest vanishes, a trace is cut short. [`TrGen::generate`] then returns an error, the run
//! ends, and the measurements so far are reported as incomplete.
//!
//! # Randomness
//!
//! A source owns one generator per (run seed, node, purpose), from [`crate::rng::stream`], and no other: the draws of
//! one node never depend on another node, on the order of visits, or on the date.
//!
//! Decision: docs/decisions/0007-back-pressure.md.

use std::collections::VecDeque;

use crate::message::{Delivery, Message};
use crate::recurrence::State;
use crate::units::{Cycle, NodeId, Picoseconds};

/// When to call [`TrGen::generate`] next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// In this cycle. Never a cycle for which [`TrGen::generate`] has already been called.
    At(Cycle),
    /// After a message has been sent, delivered or lost.
    Waiting,
    /// Never again.
    Done,
}

/// Why a party waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum WaitCause {
    /// It waits for a message to arrive.
    Message,
    /// It waits until its own message is received (rendezvous).
    Receiver,
    /// It waits until the network accepts its message.
    Network,
    /// It waits for a message that the network has lost.
    Loss,
    /// It waits for others to begin what it has begun, while it has no room to begin what is ready next: parties with room
    /// for few operations that begin them in different orders can wait for each other in a circle.
    Order,
}

/// A party that waits. [Displayed](std::fmt::Display) by its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// Why it waits.
    pub cause: WaitCause,
    /// Who waits for what, in a line.
    pub text: String,
}

impl std::fmt::Display for Wait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Wait {
    /// The wait for messages that the network has lost, if there are any.
    #[must_use]
    pub fn for_lost(count: u64) -> Option<Self> {
        let text = match count {
            0 => return None,
            1 => "1 message was lost by the network, and nobody sends it again".to_owned(),
            _ => format!("{count} messages were lost by the network, and nobody sends them again"),
        };
        Some(Self { cause: WaitCause::Loss, text })
    }
}

/// Why a source cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct SourceError {
    /// The fault, the party concerned, and the remedy.
    pub what: String,
    /// True if the fault lies in the input: a file that cannot be used. False if something failed during the run.
    pub of_input: bool,
}

impl SourceError {
    /// The error of an input that cannot be used.
    #[must_use]
    pub fn of_input(what: impl Into<String>) -> Self {
        Self { what: what.into(), of_input: true }
    }

    /// The error of something that failed during the run.
    #[must_use]
    pub fn of_run(what: impl Into<String>) -> Self {
        Self { what: what.into(), of_input: false }
    }
}

/// The notices that a source reads. Losses are passed to every source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reads {
    /// True if the source reads [`TrGen::sent`].
    pub sent: bool,
    /// True if the source reads [`TrGen::delivered`].
    pub delivered: bool,
}

impl Reads {
    /// Every notice.
    pub const ALL: Self = Self { sent: true, delivered: true };

    /// The notices that one source or another reads.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self { sent: self.sent || other.sent, delivered: self.delivered || other.delivered }
    }
}

impl Default for Reads {
    fn default() -> Self {
        Self::ALL
    }
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

    /// The notices that this source reads. What it generates is the same if the others are left out. Never changes.
    fn reads(&self) -> Reads {
        Reads::ALL
    }

    /// Called when the last packet of `message` has entered the source buffer in cycle `now`: the sender may go on.
    fn sent(&mut self, now: Cycle, message: &Message);

    /// Called when congestion control forbids generation in cycle `now`. Takes back a message that has just been
    /// generated, as if it had not been drawn, and returns true. A source whose messages must be sent in any case
    /// returns false; they wait at the interface of their node.
    fn take_back(&mut self, _now: Cycle, _message: &Message) -> bool {
        false
    }

    /// The class of messages that nodes refuse at times, as [`take_refusals`](Self::take_refusals) says; `None` if they
    /// take whatever arrives. Never changes.
    fn refusable(&self) -> Option<u8> {
        None
    }

    /// Tells `each` every node that has begun or ceased to refuse messages of the [class](Self::refusable) since the
    /// last call: true if it takes them again. A message that is refused waits in the network. All nodes take them at
    /// first. Called once in each turn of the loop, after [`generate`](Self::generate).
    fn take_refusals(&mut self, _each: &mut dyn FnMut(NodeId, bool)) {}

    /// Called from time to time during the simulation, even when there is nothing to generate: a source that depends on
    /// the world outside the run checks that its peer is still there. May change the answer of [`next`](Self::next).
    ///
    /// # Errors
    /// When the source cannot go on.
    fn attend(&mut self) -> Result<(), SourceError> {
        Ok(())
    }

    /// Called when a message has arrived in full in cycle `now`.
    fn delivered(&mut self, now: Cycle, delivery: &Delivery);

    /// Called when the source of a message knows, in cycle `now`, that it has arrived in full: by its acknowledgement, or, in a
    /// network without these, at once.
    fn known(&mut self, _now: Cycle, _message: &Message) {}

    /// Called when the network has lost a message in cycle `now`, at its injection or later: it will never be
    /// delivered. The network has reported it as [sent](Self::sent) before.
    fn dropped(&mut self, now: Cycle, message: &Message);

    /// When to call [`generate`](Self::generate) next.
    fn next(&self) -> Next;

    /// A counter that increases when measurement is to start anew. The loop reads it after each
    /// [`generate`](Self::generate); a change takes effect before the messages of that cycle enter the network. Always
    /// 0 in a source without measurement phases.
    fn phase(&self) -> u64 {
        0
    }

    /// Nodes that will never send (the fixed points of a permutation, nodes without a task). They lower the offered
    /// load of a run, and its report says so.
    fn silent_nodes(&self) -> usize {
        0
    }

    /// \[phits\] Load that nodes have not generated up to cycle `now` because they waited for the network to take a
    /// message: the time that each waited, times the load that it offers. `None` for sources without an offered load,
    /// and where what they would have sent is not known; 0 for sources that never wait.
    fn held_back_phits(&self, _now: Cycle) -> Option<f64> {
        None
    }

    /// The number of rounds that the source has begun, of a source that does the same in each; `None` of others. A
    /// change is the time to compare [states](Self::state).
    fn round(&self) -> Option<u64> {
        None
    }

    /// Writes the state of the source at the beginning of the cycle at which `into` stands, to which the network has
    /// written its own before, with every message under way. Returns false if states cannot be compared.
    fn state(&self, _into: &mut State) -> bool {
        false
    }

    /// Begins a period that may be [repeated](Self::repeat).
    fn begin_period(&mut self) {}

    /// How often what has happened since [`begin_period`](Self::begin_period) may be repeated before something ends.
    fn periods_left(&self) -> u64 {
        0
    }

    /// Puts the source into the state after `times` repetitions of what has happened since
    /// [`begin_period`](Self::begin_period), which take so many cycles together. Its [state](Self::state) is the same
    /// before and after, and as it was when the period began.
    fn repeat(&mut self, _times: u64, _cycles: u64) {}

    /// The pending waits, one line per waiting party. Called when no further event is possible.
    fn waits(&self) -> Vec<Wait> {
        Vec::new()
    }

    /// Current activity of the parties of the source, without side effects.
    fn activity(&self) -> Activity {
        Activity::Nodes
    }
}

/// Current activity of the parties of a source, for display.
#[derive(Clone, PartialEq, Default, Debug)]
pub enum Activity {
    /// Nodes that send; the network's counters describe them.
    #[default]
    Nodes,
    /// The tasks of an application.
    Tasks(Vec<TaskActivity>),
    /// Several applications that start and end during the run.
    Jobs(JobsActivity),
    /// Running guest programs.
    Guests(Vec<GuestActivity>),
}

/// State of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskState {
    /// It computes, or continues in this cycle.
    Computing,
    /// It is blocked in a send.
    Sending,
    /// It is blocked in a receive.
    Receiving,
    /// It is blocked in a wait for requests.
    Waiting,
    /// It has completed its program.
    Finished,
}

/// Progress of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskActivity {
    /// The node on which it runs.
    pub node: NodeId,
    /// Its state.
    pub state: TaskState,
    /// Number of events begun.
    pub done: u64,
    /// Number of events in its program.
    pub events: u64,
    /// \[bytes\] Total size of the messages sent so far.
    pub sent_bytes: u64,
}

/// Progress of several applications. Every job is counted once: as future, waiting, running, or ended.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct JobsActivity {
    /// Number of jobs that have not arrived yet.
    pub coming: usize,
    /// Number of jobs that wait for nodes.
    pub waiting: usize,
    /// Number of jobs that run.
    pub running: usize,
    /// Number of jobs that have ended.
    pub ended: usize,
    /// The running jobs, in order of their start; if none is running, those that ended last.
    pub listed: Vec<JobActivity>,
}

/// One of several applications.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobActivity {
    /// Its number among all jobs, from 0.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: Vec<TaskActivity>,
}

/// State of a live guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuestActivity {
    /// Its name.
    pub name: String,
    /// Its nodes.
    pub nodes: Vec<NodeId>,
    /// Its activity, in a word or two.
    pub state: String,
    /// False once it has left or was lost.
    pub connected: bool,
    /// \[ps\] The last known value of its clock.
    pub clock: Picoseconds,
    /// Number of messages injected.
    pub injected: u64,
    /// Number of notices (deliveries and completed sends) passed to it.
    pub notices: u64,
    /// Number of messages that it handed over after their injection time.
    pub late: u64,
}

/// Holds the messages of a source until the network accepts them.
///
/// Messages of one node leave in the order in which they were pushed; messages of different nodes do not wait for each
/// other.
#[derive(Debug)]
pub struct Outbox {
    nodes: usize,
    /// Messages not offered yet.
    fresh: Vec<Message>,
    /// Per node: messages refused, or queued behind a refused one. Empty before the first refusal.
    refused: Vec<VecDeque<Message>>,
    /// Nodes with refused messages, in order of their first refusal.
    waiting: Vec<u32>,
    /// By node: true if one of its messages has been [sent](Self::sent) since its last offers.
    has_sent: Vec<bool>,
    /// True if there may be such a node.
    any_has_sent: bool,
}

impl Outbox {
    /// An empty outbox for `nodes` nodes.
    #[must_use]
    pub const fn new(nodes: usize) -> Self {
        Self {
            nodes,
            fresh: Vec::new(),
            refused: Vec::new(),
            waiting: Vec::new(),
            has_sent: Vec::new(),
            any_has_sent: false,
        }
    }

    /// Appends a message to another node.
    ///
    /// # Panics
    /// When source or destination is not a node, or both are the same: the source has a bug.
    pub fn push(&mut self, message: Message) {
        assert_ne!(message.source, message.destination, "a message to its own node takes no network");
        self.push_to_any(message);
    }

    /// Appends a message that may go to its own node. Only for sources that know that their network carries such
    /// messages, as [`Config::carries_to_itself`](crate::synthetic::Config::carries_to_itself) says, and for those that
    /// pass on the messages of others.
    ///
    /// # Panics
    /// When source or destination is not a node: the source has a bug.
    pub fn push_to_any(&mut self, message: Message) {
        assert!(message.destination.index() < self.nodes, "{message:?} goes to a node that does not exist");
        assert!(message.source.index() < self.nodes, "{message:?} comes from a node that does not exist");
        self.fresh.push(message);
    }

    /// True if no message is waiting.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.fresh.is_empty() && self.waiting.is_empty()
    }

    /// The messages that have been pushed since the last offer, in their order.
    #[must_use]
    pub fn fresh(&self) -> &[Message] {
        &self.fresh
    }

    /// Number of messages waiting, over all nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        let refused = self.waiting.iter().map(|&node| self.refused[node as usize].len()).sum::<usize>();
        refused + self.fresh.len()
    }

    /// Offers every waiting message to `take`, each node's messages in order. `take` returns false to refuse a message;
    /// the rest of that node's messages then wait for the next call.
    pub fn offer(&mut self, take: impl FnMut(Message) -> bool) {
        self.offer_some(true, take);
    }

    /// Notes that a message of a node has been sent, which may make room for one that was refused.
    #[inline]
    pub fn sent(&mut self, node: NodeId) {
        if let Some(has_sent) = self.has_sent.get_mut(node.index()) {
            (*has_sent, self.any_has_sent) = (true, true);
        }
    }

    /// As [`offer`](Self::offer), but messages that were refused are offered only if one of their node has been
    /// [sent](Self::sent) since the last call: for networks that refuse until then.
    pub fn offer_after_sent(&mut self, take: impl FnMut(Message) -> bool) {
        self.offer_some(false, take);
    }

    /// Offers all new messages, and the refused ones of all nodes (`all`) or of nodes that have sent a message since.
    fn offer_some(&mut self, all: bool, mut take: impl FnMut(Message) -> bool) {
        let Self { nodes, fresh, refused, waiting, has_sent, any_has_sent } = self;
        if all || *any_has_sent {
            waiting.retain(|&node| {
                if !all && !has_sent[node as usize] {
                    return true;
                }
                let queue = &mut refused[node as usize];
                while let Some(&message) = queue.front() {
                    if !take(message) {
                        return true;
                    }
                    queue.pop_front();
                }
                false
            });
            if std::mem::take(any_has_sent) {
                has_sent.fill(false);
            }
        }
        for message in fresh.drain(..) {
            let node = message.source.index();
            // Without refused messages there is no queue to inspect.
            let waits = !waiting.is_empty() && !refused[node].is_empty();
            if waits || !take(message) {
                if refused.is_empty() {
                    refused.resize(*nodes, VecDeque::new());
                    has_sent.resize(*nodes, false);
                }
                if !waits {
                    waiting.push(message.source.0);
                }
                refused[node].push_back(message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use rand::Rng as _;

    /// Compared with a plain queue per node, over a network that accepts only some messages.
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
                let message = Message { id, source: NodeId(source), destination, bytes: 1, class: 0 };
                out.push(message);
                queues[source as usize].push_back(message);
                continue;
            }
            let mut refused = [false; NODES];
            out.offer(|message| {
                let node = message.source.index();
                assert!(!refused[node], "a node whose message was refused waits for the next call");
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

    /// Over a network whose nodes take a message at a time, offers after one has been sent take the same messages in
    /// the same order as offers in every cycle.
    #[test]
    fn offers_after_sent_take_what_offers_in_every_cycle_take() {
        const NODES: usize = 7;
        let mut rng = stream(8, 0, Purpose::Setup);
        let (mut one, mut other) = (Outbox::new(NODES), Outbox::new(NODES));
        let mut busy = [[false; NODES]; 2];
        let (mut asked, mut taken) = ([0, 0], 0);
        for cycle in 0..4_000 {
            for id in 0..rng.next_u64() % 3 {
                let source = (rng.next_u64() % NODES as u64) as u32;
                let destination = NodeId((source + 1) % NODES as u32);
                let message = Message { id: 4 * cycle + id, source: NodeId(source), destination, bytes: 1, class: 0 };
                one.push(message);
                other.push(message);
            }
            let mut lists = [Vec::new(), Vec::new()];
            for (which, list) in lists.iter_mut().enumerate() {
                let take = |message: Message| {
                    asked[which] += 1;
                    let is_free = !std::mem::replace(&mut busy[which][message.source.index()], true);
                    list.extend(is_free.then_some(message));
                    is_free
                };
                if which == 0 { one.offer(take) } else { other.offer_after_sent(take) }
            }
            assert_eq!(lists[0], lists[1], "{cycle}");
            taken += lists[0].len();
            for node in 0..NODES {
                if rng.next_u64().is_multiple_of(8) && busy[0][node] {
                    busy.iter_mut().for_each(|busy| busy[node] = false);
                    other.sent(NodeId::at(node));
                }
            }
        }
        assert!(taken > 2_000 && asked[1] < asked[0] / 2, "{taken} {asked:?}");
    }
}
