//! Replay: the programs of communicating tasks as a source of traffic.
//!
//! Each task runs its events one after another. Computing takes time; a send ends when its last packet has entered the
//! source buffer (**eager**: it does not wait for the receiver); a receive ends in the cycle after the one in which the
//! matching message has arrived in full. Everything else takes no time, so a task may execute many events in one cycle.
//!
//! Computing begins in the cycle after the end of the preceding receive (or wait, send, computing), and takes whole
//! cycles: each time is rounded down individually. The following event may begin in the last of these cycles. The
//! answer to a received message is therefore sent n cycles after the receive ended, where computing takes n. A task
//! that begins with n cycles of computing sends in cycle n, and one that computes after a blocking send is ready n
//! cycles after the last packet went. Where a cycle is a picosecond it is an instant of continuous time
//! ([`Pace::is_continuous`]): n cycles of computing end n cycles after the instant at which they begin, whatever was
//! before.
//!
//! # How the model departs from reality, and who could notice
//! - Software overheads (o of LogGP) are zero: latency-bound codes look faster than on a machine.
//! - Messages between the same two tasks are received in the order in which they were sent. Where an adaptive network
//!   lets a later one overtake, it waits for the earlier one to be complete; an MPI library would wait only for its
//!   envelope.
//! - Messages within a node take no time and are always eager.
//!
//! Sends are eager unless a [`Protocol`] says otherwise. A message above its limit is announced by an empty one; when a
//! matching receive has been posted, the receiver answers with an empty one, and the data follow (**rendezvous**). The
//! send ends when the last packet of the data has entered the source buffer.
//!
//! Decisions: docs/decisions/0004-message-order.md, docs/decisions/0010-computation-times.md.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

#[cfg(feature = "formats")]
use super::container::Reader;
use super::flow::Flow;
use super::matching::Posted;
use super::program::{Event, Program, Receive, Rounds, TagFilter};
use super::slow::Slow;
use super::timeline::{Called, Doing, Passage, Span, Timeline};
use crate::clock::Clock;
use crate::message::{Delivery, Message};
use crate::recurrence::State as RunState;
use crate::source::{Activity, Next, Outbox, SourceError, TaskActivity, TrGen, Wait};
use crate::units::{Cycle, NodeId, TaskId};

mod agenda;
mod alone;
mod clocks;
mod deferred;
mod lists;
mod messages;
mod report;
mod requests;
mod rounds;
mod steps;
mod task;

use agenda::Agenda;
use clocks::Clocks;
use deferred::Deferred;
use lists::{Lists, PairNumbers};
use messages::{InFlight, Pair, Part, Rendezvous};
use report::{PostedReceive, SentMessage};
use rounds::Period;
use steps::Steps;
use task::{Outstanding, State, Task};

pub use alone::{Rule, Times};
pub use clocks::TimesAlone;
pub use report::{Misfits, ReplayReport, SHOWN, TaskReport, wanted};

/// Lengths of cycles and computations.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pace {
    /// Length of a network cycle.
    pub cycle: Clock,
    /// Factor on every compute event: 0 removes computing, 1 keeps it.
    pub compute_scale: f64,
}

impl Pace {
    /// True if cycles are instants of continuous time, a picosecond apart, and not spans in which events begin and end.
    #[must_use]
    pub fn is_continuous(self) -> bool {
        self.cycle == Clock::whole(1)
    }
}

/// Protocol of sends.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Protocol {
    /// \[bytes\] Size of the largest eager message; `None` if all are eager.
    pub eager_limit: Option<u64>,
}

/// A program in execution on the nodes of a network.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Number of nodes of the network.
    nodes: usize,
    pace: Pace,
    protocol: Protocol,
    tasks: Vec<Task>,
    /// Number of tasks that have not finished.
    unfinished: usize,
    silent_nodes: usize,
    agenda: Agenda,
    /// By message id: the messages in the network.
    in_flight: Vec<InFlight>,
    /// Message ids that are not in use.
    vacant: Vec<usize>,
    /// Messages from one task to another.
    pairs: Vec<Pair>,
    /// By sender and receiver: the number of their pair.
    pair_numbers: PairNumbers,
    /// Messages without a receive, in the lists of pairs.
    messages: Lists<SentMessage>,
    /// Receives without a message, in the lists of pairs.
    receives: Lists<PostedReceive>,
    /// Times over other networks; `None` where they are not kept, or cannot be.
    clocks: Option<Box<Clocks>>,
    /// Number of messages in the whole program.
    messages_in_all: u64,
    /// By number: rendezvous that are not complete.
    announced: Vec<Rendezvous>,
    /// Numbers of rendezvous that are not in use.
    vacant_announced: Vec<u32>,
    /// Answers and data that are sent once their cycle has come, in order of cycles: cycle, message, size \[bytes\].
    replies: VecDeque<(Cycle, InFlight, u64)>,
    /// Deferred sends whose requests have completed, with the cycles in which they begin, in the order of these.
    released: VecDeque<(Cycle, TaskId, Deferred)>,
    misfits: Misfits,
    /// Number of messages that the network has lost.
    lost: u64,
    timeline: Timeline,
    /// What the messages of collectives belong to, for the timeline.
    called: Arc<Called>,
    /// The task by which rounds are counted; `None` where states are not compared.
    leader: Option<usize>,
    /// What had been counted when the present period began.
    period: Option<Box<Period>>,
}

impl Replay {
    /// A replay of `program` with task i on node `placement[i]` of a network of `nodes` nodes; all sends are eager.
    ///
    /// # Errors
    /// A placement of another length, or on nodes that do not exist; a send or receive whose peer does not exist.
    pub fn new(program: Program, placement: &[NodeId], nodes: usize, pace: Pace) -> Result<Self, SourceError> {
        Self::in_rounds(Rounds::once(program), placement, nodes, pace)
    }

    /// A replay of all rounds of a program. Its memory does not depend on their number.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn in_rounds(rounds: Rounds, placement: &[NodeId], nodes: usize, pace: Pace) -> Result<Self, SourceError> {
        let Rounds { first: program, count: rounds, labels } = rounds;
        let count = program.tasks.len();
        let (mut talks, mut sent) = (Vec::new(), 0u64);
        // By task: whether a receive accepts messages of several senders or tags.
        let mut is_open = vec![false; count];
        for (index, events) in program.tasks.iter().enumerate() {
            let mut sends = false;
            for (step, event) in events.iter().enumerate() {
                let peer = match event {
                    Event::Send(send) | Event::Isend(send, _) => {
                        (sends, sent) = (true, sent + 1);
                        Some(send.to)
                    }
                    Event::Recv(receive) | Event::Irecv(receive, _) => {
                        is_open[index] |= receive.from.is_none() || matches!(receive.tag, TagFilter::AnyIn(_));
                        receive.from
                    }
                    _ => None,
                };
                if let Some(peer) = peer.filter(|peer| peer.index() >= count) {
                    let what =
                        format!("event {} of task {index} names task {peer}, but there are {count} tasks", step + 1);
                    return Err(SourceError::of_input(what));
                }
            }
            talks.push(sends);
        }
        let is_free = |event: &Event| matches!(event, Event::WaitAny(_) | Event::After(_));
        let is_free = program.tasks.iter().flatten().any(is_free);
        let steps = |events| Steps::Memory { events, position: 0, round: 0, rounds, labels };
        let steps = program.tasks.into_iter().map(steps).collect();
        let mut replay = Self::from_steps(steps, &talks, placement, nodes, pace)?;
        replay.messages_in_all = sent.saturating_mul(rounds);
        for (task, is_open) in replay.tasks.iter_mut().zip(is_open) {
            task.has_mailbox = is_open;
        }
        let leader = replay.tasks.iter().position(|task| task.steps.progress().1 > 0);
        Ok(Self { leader: leader.filter(|_| rounds > 1 && !is_free), ..replay })
    }

    /// A replay of the programs of a container, which are read block by block during the run.
    ///
    /// # Errors
    /// As [`new`](Self::new); a damaged block ends the run later.
    #[cfg(feature = "formats")]
    pub fn stored(container: &Reader, placement: &[NodeId], nodes: usize, pace: Pace) -> Result<Self, SourceError> {
        if container.header().content != super::container::Content::Programs {
            return Err(SourceError::of_input("the container holds graphs, not programs"));
        }
        let summaries = container.summaries();
        let talks: Vec<bool> = summaries.iter().map(|task| task.messages > 0).collect();
        let steps = summaries.iter().enumerate().map(|(task, summary)| Steps::Stored {
            cursor: Box::new(container.cursor(task)),
            position: 0,
            total: summary.rows,
        });
        let replay = Self::from_steps(steps.collect(), &talks, placement, nodes, pace)?;
        let messages_in_all = summaries.iter().map(|task| task.messages).sum();
        Ok(Self { messages_in_all, ..replay })
    }

    /// A replay of these programs; `talks` tells which tasks send messages.
    fn from_steps(
        steps: Vec<Steps>,
        talks: &[bool],
        placement: &[NodeId],
        nodes: usize,
        pace: Pace,
    ) -> Result<Self, SourceError> {
        let fault = |what: String| Err(SourceError::of_input(what));
        let count = steps.len();
        if placement.len() != count {
            return fault(format!("{count} tasks, but the placement is of {}", placement.len()));
        }
        if let Some(node) = placement.iter().find(|node| node.index() >= nodes) {
            return fault(format!("the placement names node {node}, but there are {nodes} nodes"));
        }
        let mut sends = vec![false; nodes];
        for (node, _) in placement.iter().zip(talks).filter(|&(_, &talks)| talks) {
            sends[node.index()] = true;
        }
        let tasks = steps.into_iter().zip(placement).map(|(steps, &node)| Task::new(node, steps)).collect();
        Ok(Self {
            nodes,
            pace,
            protocol: Protocol::default(),
            unfinished: count,
            silent_nodes: sends.iter().filter(|&&sends| !sends).count(),
            agenda: Agenda::new(count),
            tasks,
            in_flight: Vec::new(),
            vacant: Vec::new(),
            pairs: Vec::new(),
            pair_numbers: PairNumbers::new(count),
            messages: Lists::default(),
            receives: Lists::default(),
            clocks: None,
            messages_in_all: 0,
            announced: Vec::new(),
            vacant_announced: Vec::new(),
            replies: VecDeque::new(),
            released: VecDeque::new(),
            misfits: Misfits::default(),
            lost: 0,
            timeline: Timeline::default(),
            called: Arc::default(),
            leader: None,
            period: None,
        })
    }

    /// Sets the protocol. Call before the replay begins.
    #[must_use]
    pub fn with_protocol(self, protocol: Protocol) -> Self {
        // A receiver may have to answer: only nodes without a task are known to be silent.
        let silent_nodes = match protocol.eager_limit {
            Some(_) => {
                let used: HashSet<NodeId> = self.tasks.iter().map(|task| task.node).collect();
                self.nodes - used.len()
            }
            None => self.silent_nodes,
        };
        Self { protocol, silent_nodes, ..self }
    }

    /// Makes the computations of some tasks slow. Call before the replay begins.
    #[must_use]
    pub fn with_slow(mut self, slow: &Slow) -> Self {
        for (rank, factor) in slow.ranks() {
            if let Some(task) = self.tasks.get_mut(rank as usize) {
                task.slowness = factor;
            }
        }
        self
    }

    /// Names the collectives of the programs, for the timeline.
    #[must_use]
    pub fn with_calls(self, called: Arc<Called>) -> Self {
        Self { called, ..self }
    }

    /// Keeps what every task does over time from now on.
    pub fn record(&mut self) {
        self.timeline.record();
    }

    /// What the tasks did over time, as far as it is kept.
    #[must_use]
    pub const fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Keeps what a task did from the begin of a cycle to the begin of another.
    fn note(&mut self, task: TaskId, doing: Doing, begin: Cycle, end: Cycle, name: impl FnOnce() -> String) {
        let ps = |at: Cycle| self.pace.cycle.span(at.since(Cycle::FIRST));
        self.timeline.add(|| Span { rank: task.0, doing, name: name(), begin: ps(begin), end: ps(end) });
    }

    /// Keeps that a message begins.
    fn note_sent(&mut self, message: &InFlight, now: Cycle) {
        let &InFlight { from, to, tag, size: bytes, pair, sequence, .. } = message;
        let sent = self.pace.cycle.span(now.since(Cycle::FIRST));
        let collective = self.called.name(tag);
        let passage = || Passage { from: from.0, to: to.0, sent, arrived: None, bytes, collective };
        self.timeline.sent((pair, sequence), passage);
    }

    /// Keeps that a message has arrived before the begin of a cycle.
    fn note_arrived(&mut self, message: &InFlight, resume: Cycle) {
        let clock = self.pace.cycle;
        self.timeline.arrived((message.pair, message.sequence), || clock.span(resume.since(Cycle::FIRST)));
    }

    /// Keeps for what a task was blocked, which continues now.
    fn note_blocked(&mut self, id: TaskId, now: Cycle) {
        let task = &self.tasks[id.index()];
        let (doing, name) = match &task.state {
            State::Sending(send, _) => (Doing::Sending, format!("send to {}", send.to)),
            State::Receiving(receive) => {
                (Doing::Receiving, receive.from.map_or("receive".to_owned(), |from| format!("receive from {from}")))
            }
            State::WaitingOne(_) | State::Waiting(..) | State::WaitingAny(_) => (Doing::Waiting, "wait".to_owned()),
            State::Running | State::Finished => return,
        };
        let begin = task.blocked_since.max(task.computed_until);
        self.note(id, doing, begin, now, || name);
    }

    /// Current activity of each task.
    pub(crate) fn tasks_now(&self) -> Vec<TaskActivity> {
        self.tasks.iter().map(Task::activity).collect()
    }

    /// The node of each task.
    #[must_use]
    pub fn places(&self) -> Vec<NodeId> {
        self.tasks.iter().map(|task| task.node).collect()
    }

    /// Statistics of each task so far.
    #[must_use]
    pub fn report(&self) -> ReplayReport {
        let in_mailboxes: usize = self.tasks.iter().map(|task| task.mailbox.unexpected()).sum();
        let unreceived = (in_mailboxes + self.messages.count) as u64;
        let (alone, unmatched) = self.leftovers(SHOWN);
        ReplayReport {
            tasks: self.tasks.iter().map(|task: &Task| task.report).collect(),
            unreceived,
            unserved: alone - unreceived,
            unmatched,
            misfits: self.misfits.clone(),
            unfinished: self.unfinished,
        }
    }

    /// Messages sent so far, pair by pair in no particular order.
    pub fn flows(&self) -> impl Iterator<Item = Flow> + '_ {
        let node = |task: TaskId| self.tasks[task.index()].node;
        let flow = move |pair: &Pair| Flow {
            from: node(pair.ends.0),
            to: node(pair.ends.1),
            bytes: pair.bytes,
            messages: pair.sent,
        };
        self.pairs.iter().filter(|pair| pair.sent > 0).map(flow)
    }

    /// Receives so far whose buffer was too small for the message.
    #[must_use]
    pub const fn misfits(&self) -> &Misfits {
        &self.misfits
    }

    /// Descriptions of unmatched receives and unreceived messages: their number, and the first `shown` of them.
    #[must_use]
    pub fn leftovers(&self, shown: usize) -> (u64, Vec<String>) {
        let mut count = 0;
        let mut lines = Vec::new();
        for id in (0..self.tasks.len()).map(TaskId::at) {
            let (receives, messages) = self.waiting(id);
            let receives = receives.iter().map(|posted| {
                format!("task {id}: a receive got no message: {}", report::wanted(&posted.posted.receive))
            });
            let messages = messages.iter().map(|SentMessage { envelope, .. }| {
                let tag = TagFilter::Exactly(envelope.tag);
                let message = Receive { from: Some(envelope.from), tag, bytes: 0 };
                format!("task {id}: nobody received a message {}", report::wanted(&message))
            });
            for line in receives.chain(messages) {
                count += 1;
                if lines.len() < shown {
                    lines.push(line);
                }
            }
        }
        (count, lines)
    }

    /// Runs a task until it blocks, computes or ends.
    fn run(&mut self, id: TaskId, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        if self.timeline.is_kept() {
            self.note_blocked(id, now);
        }
        let task = &mut self.tasks[id.index()];
        if task.state == State::Finished {
            return Ok(());
        }
        if !matches!(task.state, State::Running | State::Sending(..)) {
            // The event that it waited for has happened in this cycle.
            task.last_active = Some(now);
        }
        let state = std::mem::replace(&mut task.state, State::Running);
        if let Some(clocks) = &mut self.clocks {
            match &state {
                State::WaitingOne(request) => clocks.wait(id, std::slice::from_ref(request)),
                State::Waiting(requests, _) => clocks.wait(id, requests),
                _ => {}
            }
        }
        loop {
            let task = &mut self.tasks[id.index()];
            let Some(event) = task.steps.next()? else {
                task.state = State::Finished;
                task.report.finished = Some(now);
                self.unfinished -= 1;
                if let Some(clocks) = &mut self.clocks {
                    clocks.finish(id);
                }
                return Ok(());
            };
            if let Event::Compute(time) = event {
                let before = task.report.compute_cycles;
                let last = task.compute(time, self.pace, now);
                let cycles = task.report.compute_cycles - before;
                if let Some(clocks) = &mut self.clocks {
                    clocks.compute(id, cycles);
                }
                if let Some(last) = last {
                    let end = last.next();
                    task.computed_until = end;
                    self.note(id, Doing::Computing, Cycle(end.0 - cycles), end, String::new);
                    if last > now {
                        self.agenda.add(last, id);
                        return Ok(());
                    }
                }
                continue;
            }
            task.last_active = Some(now);
            if self.clocks.is_some() {
                self.clock_event(id, &event);
            }
            let task = &mut self.tasks[id.index()];
            match event {
                Event::Compute(_) => {}
                Event::Send(send) => {
                    let event = task.steps.progress().0;
                    if self.send(id, &send, (None, event), now, out) {
                        return self.block(id, State::Sending(send, self.is_announced(&send)), now);
                    }
                }
                Event::Isend(send, request) => {
                    let deferred = Deferred { send, request, event: task.steps.progress().0 };
                    let under_way = task.deferred.defer(deferred, &task.requests)
                        || self.send(id, &send, (Some(request), deferred.event), now, out);
                    let what = Outstanding::Send(send, self.is_announced(&send));
                    self.tasks[id.index()].requests.start(request, what, !under_way);
                }
                Event::After(requests) => task.deferred.after(requests),
                Event::Recv(receive) => {
                    let posted = Posted { receive, request: None };
                    let asked = PostedReceive { posted, event: task.steps.progress().0 };
                    let found = self.post(id, asked);
                    if !self.match_posted(found, &asked, id, now) {
                        return self.block(id, State::Receiving(receive), now);
                    }
                }
                Event::Irecv(receive, request) => {
                    let posted = Posted { receive, request: Some(request) };
                    let asked = PostedReceive { posted, event: task.steps.progress().0 };
                    let found = self.post(id, asked);
                    let over = self.match_posted(found, &asked, id, now);
                    self.tasks[id.index()].requests.start(request, Outstanding::Receive(receive), over);
                }
                Event::Wait(request) => {
                    if task.requests.wait(request) {
                        return self.block(id, State::WaitingOne(request), now);
                    }
                    if let Some(clocks) = &mut self.clocks {
                        clocks.wait(id, &[request]);
                    }
                }
                Event::WaitAll(requests) => {
                    let open = task.wait_all(&requests);
                    if open > 0 {
                        return self.block(id, State::Waiting(requests, open), now);
                    }
                    if let Some(clocks) = &mut self.clocks {
                        clocks.wait(id, &requests);
                    }
                }
                Event::WaitAny(requests) => {
                    if task.wait_any(&requests) {
                        return self.block(id, State::WaitingAny(requests), now);
                    }
                }
            }
        }
    }

    /// Blocks a task.
    fn block(&mut self, id: TaskId, state: State, now: Cycle) -> Result<(), SourceError> {
        let task = &mut self.tasks[id.index()];
        task.state = state;
        task.blocked_since = now;
        Ok(())
    }
}

impl TrGen for Replay {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        while let Some((_, in_flight, bytes)) = self.replies.pop_front_if(|(due, ..)| *due <= now) {
            self.emit(in_flight, bytes, out);
        }
        loop {
            self.send_released(now, out);
            let Some(task) = self.agenda.take(now) else { break };
            self.run(task, now, out)?;
        }
        // Replies that the tasks have just caused are sent in the same cycle.
        while let Some((_, in_flight, bytes)) = self.replies.pop_front_if(|(due, ..)| *due <= now) {
            self.emit(in_flight, bytes, out);
        }
        Ok(())
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        let InFlight { from, request, part, .. } = self.in_flight[message.id as usize];
        if matches!(part, Part::Eager | Part::Data(_)) {
            self.send_completed(from, request, now.next());
        }
    }

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        let id = delivery.message.id as usize;
        let in_flight = self.in_flight[id];
        self.vacant.push(id);
        match in_flight.part {
            Part::Eager | Part::Announcement(_) => self.arrive(&in_flight, now.next()),
            Part::Answer(number) => {
                let Rendezvous { announcement, bytes, .. } = self.announced[number as usize];
                self.replies.push_back((now.next(), InFlight { part: Part::Data(number), ..announcement }, bytes));
            }
            Part::Data(number) => {
                let receiver = self.announced[number as usize].receiver;
                self.vacant_announced.push(number);
                self.note_arrived(&in_flight, now.next());
                self.receive_completed(in_flight.to, receiver, now.next());
            }
        }
    }

    fn dropped(&mut self, _: Cycle, message: &Message) {
        self.vacant.push(message.id as usize);
        self.lost += 1;
    }

    fn next(&self) -> Next {
        let task = self.agenda.next();
        let reply = self.replies.front().map(|&(due, ..)| due);
        let released = self.released.front().map(|&(due, ..)| due);
        match task.into_iter().chain(reply).chain(released).min() {
            Some(due) => Next::At(due),
            None if self.unfinished == 0 => Next::Done,
            None => Next::Waiting,
        }
    }

    fn silent_nodes(&self) -> usize {
        self.silent_nodes
    }

    fn round(&self) -> Option<u64> {
        self.leader.map(|leader| self.tasks[leader].steps.round())
    }

    fn state(&self, into: &mut RunState) -> bool {
        self.write_state(into)
    }

    fn begin_period(&mut self) {
        self.period = Some(Box::new(self.counted()));
    }

    fn periods_left(&self) -> u64 {
        self.most_repetitions()
    }

    fn repeat(&mut self, times: u64, cycles: u64) {
        self.repeat_period(times, cycles);
    }

    fn waits(&self) -> Vec<Wait> {
        let tasks = self.tasks.iter().enumerate().filter_map(|(id, task)| task.waits_for(id));
        tasks.chain(Wait::for_lost(self.lost)).collect()
    }

    fn activity(&self) -> Activity {
        Activity::Tasks(self.tasks_now())
    }
}
