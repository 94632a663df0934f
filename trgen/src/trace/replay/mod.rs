//! Replay: the programs of communicating tasks as a source of traffic.
//!
//! Each task runs its events one after another. Compute takes time; a send ends when its last packet has entered the
//! source buffer (**eager**: nobody waits for the receiver); a receive ends in the cycle after the one in which the
//! matching message has arrived in full. Everything else takes no time, so a task may do many things in one cycle.
//!
//! # How the model departs from reality, and who could notice
//! - Software overheads (o of LogGP) are nil: latency-bound codes look faster than on a machine.
//! - Messages between the same two tasks are seen in the order in which they were sent. Where an adaptive network lets a
//!   later one overtake, it waits for the earlier one to be complete; an MPI library would wait only for its envelope.
//! - Messages within a node take no time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::matching::{Envelope, Mailbox, Posted};
use super::program::{Event, Program, Request, Send, Tag};
use crate::message::{Delivery, Message};
use crate::source::{Next, Outbox, SourceError, TrGen};
use crate::units::{Cycle, NodeId, Picoseconds, TaskId};

mod report;

pub use report::{ReplayReport, TaskReport};

/// How long things take.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pace {
    /// \[ps\] Of one network cycle; at least 1.
    pub cycle: Picoseconds,
    /// Factor on every compute event: 0 removes computing, 1 keeps it.
    pub compute_scale: f64,
}

/// What a task is doing.
#[derive(Clone, PartialEq, Eq, Debug)]
enum State {
    /// Goes on with its next event in the cycle for which it is scheduled.
    Running,
    /// Its blocking send has not left its hands.
    Sending,
    /// Its blocking receive has not been served.
    Receiving,
    /// These requests have not all completed.
    Waiting(Vec<Request>),
    /// All events are done.
    Finished,
}

#[derive(Clone, Debug)]
struct Task {
    node: NodeId,
    events: Vec<Event>,
    /// The next event.
    position: usize,
    state: State,
    mailbox: Mailbox,
    outstanding: HashSet<Request>,
    /// \[ps\] Of computing that did not fill a cycle.
    carry: u64,
    /// \[cycle\] When it began to block.
    blocked_since: Cycle,
    report: TaskReport,
}

/// A message on its way.
#[derive(Clone, Copy, Debug)]
struct Underway {
    from: TaskId,
    to: TaskId,
    tag: Tag,
    /// Number among the messages from this sender to this receiver.
    sequence: u64,
    /// The sender's request; `None` for a blocking send.
    request: Option<Request>,
}

/// Messages from one task to another, in the order of sending.
#[derive(Clone, Default, Debug)]
struct Pair {
    sent: u64,
    seen: u64,
    /// Arrived before an earlier one.
    early: HashMap<u64, Envelope>,
}

/// A program under way on the nodes of a network.
#[derive(Clone, Debug)]
pub struct Replay {
    nodes: usize,
    pace: Pace,
    tasks: Vec<Task>,
    unfinished: usize,
    silent_nodes: usize,
    /// Tasks that go on, and when.
    agenda: BinaryHeap<Reverse<(Cycle, TaskId)>>,
    underway: Vec<Underway>,
    vacant: Vec<usize>,
    pairs: HashMap<(TaskId, TaskId), Pair>,
}

impl Replay {
    /// `program` with task i on node `placement[i]` of a network of `nodes` nodes.
    ///
    /// # Errors
    /// A placement of another length, or on nodes that do not exist; a send or receive whose peer does not exist.
    pub fn new(program: Program, placement: &[NodeId], nodes: usize, pace: Pace) -> Result<Self, SourceError> {
        let fault = |what: String| Err(SourceError { what });
        let count = program.tasks.len();
        if placement.len() != count {
            return fault(format!("{count} tasks, but the placement is of {}", placement.len()));
        }
        if let Some(node) = placement.iter().find(|node| node.index() >= nodes) {
            return fault(format!("the placement names node {node}, but there are {nodes} nodes"));
        }
        let mut sends = vec![false; nodes];
        for (index, events) in program.tasks.iter().enumerate() {
            for (step, event) in events.iter().enumerate() {
                let peer = match event {
                    Event::Send(send) | Event::Isend(send, _) => {
                        sends[placement[index].index()] = true;
                        Some(send.to)
                    }
                    Event::Recv(receive) | Event::Irecv(receive, _) => receive.from,
                    _ => None,
                };
                if let Some(peer) = peer.filter(|peer| peer.index() >= count) {
                    return fault(format!(
                        "event {step} of task {index} names task {peer}, but there are {count} tasks"
                    ));
                }
            }
        }
        let tasks: Vec<Task> = program
            .tasks
            .into_iter()
            .zip(placement)
            .map(|(events, &node)| Task {
                node,
                events,
                position: 0,
                state: State::Running,
                mailbox: Mailbox::default(),
                outstanding: HashSet::new(),
                carry: 0,
                blocked_since: Cycle::FIRST,
                report: TaskReport::default(),
            })
            .collect();
        Ok(Self {
            nodes,
            pace,
            unfinished: count,
            silent_nodes: sends.iter().filter(|&&sends| !sends).count(),
            agenda: (0..count).map(|task| Reverse((Cycle::FIRST, TaskId::at(task)))).collect(),
            tasks,
            underway: Vec::new(),
            vacant: Vec::new(),
            pairs: HashMap::new(),
        })
    }

    /// What each task did so far.
    #[must_use]
    pub fn report(&self) -> ReplayReport {
        ReplayReport {
            tasks: self.tasks.iter().map(|task| task.report).collect(),
            unreceived: self.tasks.iter().map(|task| task.mailbox.unexpected() as u64).sum(),
            unfinished: self.unfinished,
        }
    }

    /// Runs a task until it blocks, computes or ends.
    fn run(&mut self, id: TaskId, now: Cycle, out: &mut Outbox) {
        let task = &mut self.tasks[id.index()];
        if task.state == State::Finished {
            return;
        }
        if task.state != State::Running {
            task.state = State::Running;
        }
        loop {
            let task = &mut self.tasks[id.index()];
            let Some(event) = task.events.get(task.position) else {
                task.state = State::Finished;
                task.report.finished = Some(now);
                self.unfinished -= 1;
                return;
            };
            let event = event.clone();
            task.position += 1;
            match event {
                Event::Compute(time) => {
                    let cycles = task.cycles(time, self.pace);
                    if cycles > 0 {
                        task.report.compute_cycles += cycles;
                        self.agenda.push(Reverse((now + cycles, id)));
                        return;
                    }
                }
                Event::Send(send) => {
                    if self.send(id, &send, None, now, out) {
                        self.block(id, State::Sending, now);
                        return;
                    }
                }
                Event::Isend(send, request) => {
                    if self.send(id, &send, Some(request), now, out) {
                        self.tasks[id.index()].outstanding.insert(request);
                    }
                }
                Event::Recv(receive) => {
                    if task.mailbox.post(Posted { receive, request: None }).is_none() {
                        self.block(id, State::Receiving, now);
                        return;
                    }
                    task.report.received += 1;
                }
                Event::Irecv(receive, request) => {
                    if task.mailbox.post(Posted { receive, request: Some(request) }).is_none() {
                        task.outstanding.insert(request);
                    } else {
                        task.report.received += 1;
                    }
                }
                Event::Wait(request) => {
                    if task.outstanding.contains(&request) {
                        self.block(id, State::Waiting(vec![request]), now);
                        return;
                    }
                }
                Event::WaitAll(requests) => {
                    let open: Vec<Request> =
                        requests.iter().copied().filter(|request| task.outstanding.contains(request)).collect();
                    if !open.is_empty() {
                        self.block(id, State::Waiting(open), now);
                        return;
                    }
                }
            }
        }
    }

    fn block(&mut self, id: TaskId, state: State, now: Cycle) {
        let task = &mut self.tasks[id.index()];
        task.state = state;
        task.blocked_since = now;
    }

    /// Sends; false if the message has already left the task's hands (it stays in the node).
    fn send(&mut self, from: TaskId, send: &Send, request: Option<Request>, now: Cycle, out: &mut Outbox) -> bool {
        let task = &mut self.tasks[from.index()];
        task.report.count_sent(send);
        let source = task.node;
        let destination = self.tasks[send.to.index()].node;
        let pair = self.pairs.entry((from, send.to)).or_default();
        let underway = Underway { from, to: send.to, tag: send.tag, sequence: pair.sent, request };
        pair.sent += 1;
        if source == destination {
            self.arrive(&underway, now);
            return false;
        }
        let id = match self.vacant.pop() {
            Some(id) => {
                self.underway[id] = underway;
                id
            }
            None => {
                self.underway.push(underway);
                self.underway.len() - 1
            }
        };
        out.push(Message { id: id as u64, source, destination, bytes: send.bytes });
        true
    }

    /// A message has arrived; whoever it frees goes on in cycle `resume`.
    fn arrive(&mut self, message: &Underway, resume: Cycle) {
        let Some(pair) = self.pairs.get_mut(&(message.from, message.to)) else { return };
        pair.early.insert(message.sequence, Envelope { from: message.from, tag: message.tag });
        let mut visible = Vec::new();
        while let Some(envelope) = pair.early.remove(&pair.seen) {
            pair.seen += 1;
            visible.push(envelope);
        }
        for envelope in visible {
            let task = &mut self.tasks[message.to.index()];
            let Some(posted) = task.mailbox.arrive(envelope) else { continue };
            task.report.received += 1;
            match posted.request {
                Some(request) => self.complete(message.to, request, resume),
                None => {
                    task.report.blocked_on_receive_cycles += resume.since(task.blocked_since);
                    self.agenda.push(Reverse((resume, message.to)));
                }
            }
        }
    }

    /// A request has completed.
    fn complete(&mut self, id: TaskId, request: Request, resume: Cycle) {
        let task = &mut self.tasks[id.index()];
        task.outstanding.remove(&request);
        if let State::Waiting(open) = &mut task.state {
            let waited = open.len();
            open.retain(|&other| other != request);
            if waited > 0 && open.is_empty() {
                task.report.blocked_on_wait_cycles += resume.since(task.blocked_since);
                self.agenda.push(Reverse((resume, id)));
            }
        }
    }
}

impl Task {
    /// Whole cycles of a compute event; the rest is carried to the next one, so that rounding does not add up.
    fn cycles(&mut self, time: Picoseconds, pace: Pace) -> u64 {
        let scaled =
            if pace.compute_scale == 1.0 { time.0 } else { (time.0 as f64 * pace.compute_scale).round() as u64 };
        let total = scaled.saturating_add(self.carry);
        self.carry = total % pace.cycle.0;
        total / pace.cycle.0
    }

    fn waits_for(&self, id: usize) -> Option<String> {
        let step = format!("task {id} on node {}, event {} of {}", self.node, self.position, self.events.len());
        let what = match &self.state {
            State::Running | State::Finished => return None,
            State::Sending => "its send to be taken by the network".to_owned(),
            State::Receiving => match self.events.get(self.position.checked_sub(1)?) {
                Some(Event::Recv(receive)) => format!("a message {}", report::wanted(receive)),
                _ => "a message".to_owned(),
            },
            State::Waiting(open) => {
                let names: Vec<String> = open
                    .iter()
                    .take(4)
                    .map(|&request| report::request(&self.events[..self.position], request))
                    .collect();
                let more = open.len().saturating_sub(names.len());
                let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("{}{tail}", names.join(", "))
            }
        };
        Some(format!("{step}: waits for {what}"))
    }
}

impl TrGen for Replay {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        while let Some(&Reverse((due, task))) = self.agenda.peek() {
            if due > now {
                break;
            }
            self.agenda.pop();
            self.run(task, now, out);
        }
        Ok(())
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        let Underway { from, request, .. } = self.underway[message.id as usize];
        match request {
            Some(request) => self.complete(from, request, now.next()),
            None => {
                let task = &mut self.tasks[from.index()];
                task.report.blocked_on_send_cycles += now.next().since(task.blocked_since);
                self.agenda.push(Reverse((now.next(), from)));
            }
        }
    }

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        let id = delivery.message.id as usize;
        let underway = self.underway[id];
        self.vacant.push(id);
        self.arrive(&underway, now.next());
    }

    fn next(&self) -> Next {
        match self.agenda.peek() {
            Some(&Reverse((due, _))) => Next::At(due),
            None if self.unfinished == 0 => Next::Done,
            None => Next::Waiting,
        }
    }

    fn silent_nodes(&self) -> usize {
        self.silent_nodes
    }

    fn waits(&self) -> Vec<String> {
        self.tasks.iter().enumerate().filter_map(|(id, task)| task.waits_for(id)).collect()
    }
}
