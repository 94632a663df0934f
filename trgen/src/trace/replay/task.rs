//! State of one task of a replay.

use super::deferred::Deferrals;
use super::report::{PostedReceive, SentMessage};
use super::requests::Requests;
use super::steps::Steps;
use super::{Pace, TaskReport, report};
use crate::source::{TaskActivity, TaskState, Wait, WaitCause};
use crate::trace::matching::Mailbox;
use crate::trace::program::{Receive, Request, Send};
use crate::units::{Cycle, NodeId, Picoseconds};

/// State of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Continues with its next event in its scheduled cycle.
    Running,
    /// In a blocking send; true if it waits for its receiver.
    Sending(Send, bool),
    /// In a blocking receive.
    Receiving(Receive),
    /// Waits until this request has completed.
    WaitingOne(Request),
    /// Waits until the awaited ones of these requests have completed; the number of those that are left.
    Waiting(Box<[Request]>, usize),
    /// Waits until one of the awaited ones of these requests has completed.
    WaitingAny(Box<[Request]>),
    /// All events are done.
    Finished,
}

/// The operation of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outstanding {
    Receive(Receive),
    /// True if it waits for its receiver.
    Send(Send, bool),
}

/// A task.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) node: NodeId,
    /// Factor of its computing times.
    pub(super) slowness: f64,
    /// The program and the position in it.
    pub(super) steps: Steps,
    pub(super) state: State,
    /// True if receives and messages that are not matched yet are in the mailbox, and not in the lists of pairs.
    pub(super) has_mailbox: bool,
    /// Receives and messages that are not matched yet, if it has one.
    pub(super) mailbox: Box<Mailbox<PostedReceive, SentMessage>>,
    /// The pairs in which it receives.
    pub(super) incoming: Vec<u32>,
    /// Requests that have not been waited for.
    pub(super) requests: Requests,
    /// Sends that wait for requests.
    pub(super) deferred: Deferrals,
    /// \[cycle\] The last cycle in which the task was active; computing begins after it. A send does not count here: it
    /// ends in the cycle in which its last packet enters the source buffer.
    pub(super) last_active: Option<Cycle>,
    /// \[cycle\] The first cycle after its last computation.
    pub(super) computed_until: Cycle,
    /// \[cycle\] The cycle in which the task blocked last.
    pub(super) blocked_since: Cycle,
    pub(super) report: TaskReport,
}

impl Task {
    pub(super) fn new(node: NodeId, steps: Steps) -> Self {
        Self {
            node,
            slowness: 1.0,
            steps,
            state: State::Running,
            has_mailbox: false,
            mailbox: Box::default(),
            incoming: Vec::new(),
            requests: Requests::default(),
            deferred: Deferrals::default(),
            last_active: None,
            computed_until: Cycle::FIRST,
            blocked_since: Cycle::FIRST,
            report: TaskReport::default(),
        }
    }

    /// Computes for whole cycles (the remainder is dropped), from cycle `now` on, or from the next one if the task has
    /// been active in `now`. Returns the last of them, in which the next event may begin; `None` if the time is less
    /// than a cycle.
    pub(super) fn compute(&mut self, time: Picoseconds, pace: Pace, now: Cycle) -> Option<Cycle> {
        let scale = pace.compute_scale * self.slowness;
        let scaled = if scale == 1.0 { time.0 } else { (time.0 as f64 * scale).round() as u64 };
        let cycles = pace.cycle.cycles_within(scaled);
        let others = cycles.checked_sub(1)?;
        self.report.compute_cycles += cycles;
        let first = if self.last_active == Some(now) || pace.is_continuous() { now.next() } else { now };
        let last = first + others;
        self.last_active = Some(last);
        Some(last)
    }

    /// Waits for these requests; returns the number of those that are outstanding. The others count as waited for.
    pub(super) fn wait_all(&mut self, requests: &[Request]) -> usize {
        requests.iter().filter(|&&request| self.requests.wait(request)).count()
    }

    /// Marks the first of these requests that has completed as waited for; otherwise waits for those that are
    /// outstanding. True if there are any.
    pub(super) fn wait_any(&mut self, requests: &[Request]) -> bool {
        match requests.iter().find(|&&request| self.requests.is_completed(request)) {
            Some(&over) => {
                self.requests.wait(over);
                false
            }
            None => self.wait_all(requests) > 0,
        }
    }

    /// The requests that the task waits for, in the order in which its program names them.
    pub(super) fn open(&self) -> impl Iterator<Item = Request> + '_ {
        let all: &[Request] = match &self.state {
            State::WaitingOne(request) => std::slice::from_ref(request),
            State::Waiting(requests, _) | State::WaitingAny(requests) => requests,
            State::Running | State::Sending(..) | State::Receiving(_) | State::Finished => &[],
        };
        all.iter().copied().filter(|&request| self.requests.is_awaited(request))
    }

    /// The present activity of the task, for display.
    pub(super) fn activity(&self) -> TaskActivity {
        let (done, events) = self.steps.progress();
        let state = match self.state {
            State::Running => TaskState::Computing,
            State::Sending(..) => TaskState::Sending,
            State::Receiving(_) => TaskState::Receiving,
            State::WaitingOne(_) | State::Waiting(..) | State::WaitingAny(_) => TaskState::Waiting,
            State::Finished => TaskState::Finished,
        };
        TaskActivity { node: self.node, state, done: done as u64, events, sent_bytes: self.report.sent_bytes }
    }

    /// The wait of the task, with its place in the program; `None` if it does not wait.
    pub(super) fn waits_for(&self, id: usize) -> Option<Wait> {
        /// Largest number of requests that are described.
        const SHOWN: usize = 4;
        let (position, total) = self.steps.progress();
        let step = format!("task {id} on node {}, event {position} of {total}", self.node);
        let (cause, what) = match &self.state {
            State::Running | State::Finished => return None,
            State::Sending(send, is_announced) => report::send_wait(send, *is_announced),
            State::Receiving(receive) => (WaitCause::Message, format!("a message {}", report::wanted(receive))),
            State::WaitingOne(_) | State::Waiting(..) | State::WaitingAny(_) => {
                let any = if matches!(self.state, State::WaitingAny(_)) { "any of: " } else { "" };
                let all = || self.open().map(|request| report::request_wait(self.requests.outstanding(request)));
                // Prefer the cause that the user can remove: a receiver that does not receive.
                let causes = || all().map(|(cause, _)| cause);
                let cause = causes().find(|&cause| cause == WaitCause::Receiver).or_else(|| causes().next());
                let names: Vec<String> = all().take(SHOWN).map(|(_, name)| name).collect();
                let more = self.open().count().saturating_sub(names.len());
                let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
                (cause.unwrap_or(WaitCause::Message), format!("{any}{}{tail}", names.join(", ")))
            }
        };
        Some(Wait { cause, text: format!("{step}: waits for {what}") })
    }
}
