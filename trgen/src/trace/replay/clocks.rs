//! The completion of a program over networks without contention, found while it runs over another network.
//!
//! If no receive accepts messages of several senders or tags, the n-th receive of a sender and tag gets the n-th such
//! message over every network. So tasks, requests and messages carry, beside the time of the run, the times that they
//! would have over two networks in which every message is alone: one that delivers at once, and one in which a rule
//! gives the times of each message. What a run does is thereby never looked at; its order of events is one of those in
//! which [`completion_alone`](super::Replay::completion_alone) could follow the tasks.
//!
//! Decision: docs/decisions/0590-clocks-that-travel.md.

use std::fmt;
use std::sync::Arc;

use super::{Replay, Times};
use crate::hashing::Table;
use crate::message::Message;
use crate::trace::program::{Event, Receive, Request, TagFilter};
use crate::units::{Cycle, TaskId};

/// The times of each message over a network in which it is alone.
pub type TimesAlone = Arc<dyn Fn(&Message) -> Times + Send + Sync>;

/// \[cycle\] A time over either network: the one that delivers at once, and that of the rule.
pub(super) type Both = [u64; 2];

/// Requests with numbers below this are kept in a vector.
const MOST: u32 = 1 << 16;

/// Greater of two times over each network.
fn later(one: Both, other: Both) -> Both {
    [one[0].max(other[0]), one[1].max(other[1])]
}

/// The clocks of a task.
#[derive(Clone, Debug)]
struct OfTask {
    /// When its next event begins.
    now: Both,
    /// When it was active last; 0 before.
    active: Both,
    /// By request: the first cycle in which a wait for it is over; 0 for others.
    few: Vec<Both>,
    /// Those of other requests.
    others: Table<Request, Both>,
}

impl OfTask {
    fn end(&mut self, request: Request) -> &mut Both {
        if request.0 >= MOST {
            return self.others.entry(request).or_default();
        }
        let at = request.0 as usize;
        if at >= self.few.len() {
            self.few.resize(at + 1, [0; 2]);
        }
        &mut self.few[at]
    }

    /// Goes on at this time, or at its own if that is later.
    fn go_on(&mut self, at: Both) {
        self.now = later(self.now, at);
        self.active = self.now;
    }
}

/// The clocks of all tasks.
#[derive(Clone)]
pub(super) struct Clocks {
    rule: Option<TimesAlone>,
    is_continuous: bool,
    tasks: Vec<OfTask>,
    /// By pair: when its last message can be received. Later ones cannot be received before.
    last: Vec<Both>,
    /// When the last of the tasks that have finished did so.
    finished: Both,
    /// The last arrival over the network.
    arrived: Both,
}

impl fmt::Debug for Clocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clocks").field("tasks", &self.tasks).finish_non_exhaustive()
    }
}

/// True if a receive accepts messages of one sender and tag only.
fn is_one(receive: &Receive) -> bool {
    receive.from.is_some() && matches!(receive.tag, TagFilter::Exactly(_))
}

impl Clocks {
    /// A task computes for so many cycles.
    pub(super) fn compute(&mut self, id: TaskId, cycles: u64) {
        let Some(others) = cycles.checked_sub(1) else { return };
        let task = &mut self.tasks[id.index()];
        for (now, active) in task.now.iter_mut().zip(&mut task.active) {
            let begin = now.saturating_add(u64::from(*active == *now || self.is_continuous));
            *now = begin.saturating_add(others);
            *active = *now;
        }
    }

    /// A task does something that is not computing.
    pub(super) fn act(&mut self, id: TaskId) {
        let task = &mut self.tasks[id.index()];
        task.active = task.now;
    }

    /// A task sends a message of a pair over the network, or within its node (`None`). Returns when it can be received.
    pub(super) fn send(
        &mut self,
        from: TaskId,
        pair: u32,
        message: Option<&Message>,
        request: Option<Request>,
    ) -> Both {
        let task = &mut self.tasks[from.index()];
        let (mut sent, mut arrival) = (task.now, task.now);
        if let Some(message) = message {
            let of_rule = self.rule.as_ref().map_or((0, 0), |rule| rule(message));
            for (k, (leaves, arrives)) in [(0, 0), of_rule].into_iter().enumerate() {
                // An event without duration is visible at the end of the cycle, like one that takes a cycle.
                arrival[k] = task.now[k].saturating_add(arrives.max(1));
                sent[k] = task.now[k].saturating_add(leaves.min(arrives).max(1));
                self.arrived[k] = self.arrived[k].max(arrival[k] - 1);
            }
        }
        match request {
            // Nothing changes for it until then, so computing may begin in that cycle.
            None => task.now = sent,
            Some(request) => *task.end(request) = sent,
        }
        let at = pair as usize;
        if at >= self.last.len() {
            self.last.resize(at + 1, [0; 2]);
        }
        self.last[at] = later(self.last[at], arrival);
        self.last[at]
    }

    /// A receive of a task gets a message that can be received from `arrival` on.
    pub(super) fn receive(&mut self, id: TaskId, request: Option<Request>, arrival: Both) {
        let task = &mut self.tasks[id.index()];
        match request {
            None => task.go_on(arrival),
            Some(request) => *task.end(request) = arrival,
        }
    }

    /// A task has waited for all of these requests.
    pub(super) fn wait(&mut self, id: TaskId, requests: &[Request]) {
        let task = &mut self.tasks[id.index()];
        let ends = requests.iter().map(|&request| std::mem::take(task.end(request)));
        let last = ends.fold([0; 2], later);
        task.go_on(last);
    }

    /// A task has ended.
    pub(super) fn finish(&mut self, id: TaskId) {
        self.finished = later(self.finished, self.tasks[id.index()].now);
    }
}

impl Replay {
    /// Notes that a task begins an event that is not computing; gives the clocks up where they cannot tell its times.
    pub(super) fn clock_event(&mut self, id: TaskId, event: &Event) {
        let requests = &self.tasks[id.index()].requests;
        let is_clear = match event {
            Event::Recv(receive) => is_one(receive),
            // A request that is named anew would be two operations of one name.
            Event::Irecv(receive, request) => is_one(receive) && !requests.is_known(*request),
            Event::Isend(_, request) => !requests.is_known(*request),
            Event::After(_) | Event::WaitAny(_) => false,
            Event::Compute(_) | Event::Send(_) | Event::Wait(_) | Event::WaitAll(_) => true,
        };
        match &mut self.clocks {
            Some(clocks) if is_clear => clocks.act(id),
            clocks => *clocks = None,
        }
    }

    /// True if the program, which has not begun, has at most `most` messages, and none is announced first.
    #[must_use]
    pub fn may_keep_clocks(&self, most: u64) -> bool {
        self.protocol.eager_limit.is_none() && self.messages_in_all <= most
    }

    /// Finds the completion over networks without contention while the program runs: see
    /// [`completions_alone`](Self::completions_alone). Call before the replay begins, and only if it
    /// [may](Self::may_keep_clocks).
    pub fn keep_clocks(&mut self, rule: Option<TimesAlone>) {
        let task = OfTask { now: [Cycle::FIRST.0; 2], active: [0; 2], few: Vec::new(), others: Table::default() };
        self.clocks = Some(Box::new(Clocks {
            rule,
            is_continuous: self.pace.is_continuous(),
            tasks: vec![task; self.tasks.len()],
            last: Vec::new(),
            finished: [0; 2],
            arrived: [0; 2],
        }));
    }

    /// The cycle after the last one of this program, which has ended, over a network that delivers at once, and over one
    /// in which the rule given to [`keep_clocks`](Self::keep_clocks) gives the times of each message (`None` without a
    /// rule). `None` where clocks are not kept, and where they cannot tell: a receive accepted several senders or tags,
    /// the program waited for one of several requests, let sends wait by themselves, or named a request anew before it
    /// waited for it, or parts of the run were skipped.
    #[must_use]
    pub fn completions_alone(&self) -> Option<(Cycle, Option<Cycle>)> {
        let clocks = self.clocks.as_ref().filter(|_| self.unfinished == 0)?;
        let [at_once, of_rule] = later(clocks.finished, clocks.arrived).map(|last| Cycle(last.saturating_add(1)));
        (at_once.max(of_rule) < Cycle::LAST).then(|| (at_once, clocks.rule.as_ref().map(|_| of_rule)))
    }
}
