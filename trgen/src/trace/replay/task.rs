//! What one task of a replay is doing.

use std::collections::{HashMap, HashSet};

use super::report::{Asked, Told};
use super::steps::Steps;
use super::{Pace, TaskReport, report};
use crate::source::{TaskActivity, TaskState, Wait, WaitCause};
use crate::trace::matching::Mailbox;
use crate::trace::program::{Receive, Request, Send};
use crate::units::{Cycle, NodeId, Picoseconds};

/// What a task is doing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Goes on with its next event in the cycle for which it is scheduled.
    Running,
    /// Its blocking send has not left its hands; true if it waits for its receiver.
    Sending(Send, bool),
    /// This blocking receive has not been served.
    Receiving(Receive),
    /// These requests have not all completed.
    Waiting(Vec<Request>),
    /// None of these requests has completed.
    WaitingAny(Vec<Request>),
    /// All events are done.
    Finished,
}

/// What a request stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outstanding {
    Receive(Receive),
    /// True if it waits for its receiver.
    Send(Send, bool),
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) node: NodeId,
    pub(super) steps: Steps,
    pub(super) state: State,
    pub(super) mailbox: Mailbox<Asked, Told>,
    pub(super) outstanding: HashMap<Request, Outstanding>,
    /// Completed, and no wait has accounted for it.
    pub(super) completed: HashSet<Request>,
    /// \[cycle\] The last one in which it did something, a send apart: that is over in the cycle in which its last packet
    /// enters the source buffer. Computing begins after it.
    pub(super) busy: Option<Cycle>,
    /// \[cycle\] When it began to block.
    pub(super) blocked_since: Cycle,
    pub(super) report: TaskReport,
}

impl Task {
    pub(super) fn new(node: NodeId, steps: Steps) -> Self {
        Self {
            node,
            steps,
            state: State::Running,
            mailbox: Mailbox::default(),
            outstanding: HashMap::new(),
            completed: HashSet::new(),
            busy: None,
            blocked_since: Cycle::FIRST,
            report: TaskReport::default(),
        }
    }

    /// Computes from cycle `now` on, or from the next one if it has been busy in `now`, in whole cycles: what does not fill one is
    /// lost. Returns the last of them, in which the next event may begin; `None` if the time is less than a cycle.
    pub(super) fn compute(&mut self, time: Picoseconds, pace: Pace, now: Cycle) -> Option<Cycle> {
        let scaled =
            if pace.compute_scale == 1.0 { time.0 } else { (time.0 as f64 * pace.compute_scale).round() as u64 };
        let cycles = scaled / pace.cycle.0;
        let others = cycles.checked_sub(1)?;
        self.report.compute_cycles += cycles;
        let first = if self.busy == Some(now) { now.next() } else { now };
        let last = first + others;
        self.busy = Some(last);
        Some(last)
    }

    /// A request begins; true if it is over already.
    pub(super) fn begin(&mut self, request: Request, what: Outstanding, over: bool) {
        if over {
            self.outstanding.remove(&request);
            self.completed.insert(request);
        } else {
            self.completed.remove(&request);
            self.outstanding.insert(request, what);
        }
    }

    /// Those of these requests that are outstanding; the others are waited for with this.
    pub(super) fn wait_all(&mut self, requests: &[Request]) -> Vec<Request> {
        for request in requests {
            self.completed.remove(request);
        }
        requests.iter().copied().filter(|request| self.outstanding.contains_key(request)).collect()
    }

    /// Accounts for the first of these requests that has completed; else those that are outstanding, of which there may
    /// be none.
    pub(super) fn wait_any(&mut self, requests: &[Request]) -> Vec<Request> {
        if requests.iter().any(|request| self.completed.remove(request)) {
            return Vec::new();
        }
        requests.iter().copied().filter(|request| self.outstanding.contains_key(request)).collect()
    }

    pub(super) fn activity(&self) -> TaskActivity {
        let (done, events) = self.steps.progress();
        let state = match self.state {
            State::Running => TaskState::Computing,
            State::Sending(..) => TaskState::Sending,
            State::Receiving(_) => TaskState::Receiving,
            State::Waiting(_) | State::WaitingAny(_) => TaskState::Waiting,
            State::Finished => TaskState::Finished,
        };
        TaskActivity { node: self.node, state, done: done as u64, events, sent_bytes: self.report.sent_bytes }
    }

    pub(super) fn waits_for(&self, id: usize) -> Option<Wait> {
        /// Requests that are told in words.
        const SHOWN: usize = 4;
        let (position, total) = self.steps.progress();
        let step = format!("task {id} on node {}, event {position} of {total}", self.node);
        let (cause, what) = match &self.state {
            State::Running | State::Finished => return None,
            State::Sending(send, is_announced) => report::hoped(send, *is_announced),
            State::Receiving(receive) => (WaitCause::Message, format!("a message {}", report::wanted(receive))),
            State::Waiting(open) | State::WaitingAny(open) => {
                let any = if matches!(self.state, State::WaitingAny(_)) { "any of: " } else { "" };
                let all = || open.iter().map(|request| report::request(self.outstanding.get(request)));
                // A receiver that does not come is the cause that something can be done about.
                let causes = || all().map(|(cause, _)| cause);
                let cause = causes().find(|&cause| cause == WaitCause::Receiver).or_else(|| causes().next());
                let names: Vec<String> = all().take(SHOWN).map(|(_, name)| name).collect();
                let more = open.len().saturating_sub(names.len());
                let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
                (cause.unwrap_or(WaitCause::Message), format!("{any}{}{tail}", names.join(", ")))
            }
        };
        Some(Wait { cause, text: format!("{step}: waits for {what}") })
    }
}
