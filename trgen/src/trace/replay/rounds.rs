//! The state of a replay in rounds, and the repetition of a period of whole rounds.
//!
//! The rounds of all tasks are counted from that of one of them, the leader, so that a task may be ahead or behind. The
//! numbers of messages in the network, of rendezvous and of receives are handles: what is written is their content.
//! Their order matters only where one of several requests is waited for, and such programs have no leader.
//!
//! Decision: docs/decisions/0280-repetition.md.

use super::messages::{InFlight, Part, Rendezvous};
use super::report::{PostedReceive, SentMessage};
use super::steps::Steps;
use super::task::{Outstanding, State, Task};
use super::{Replay, TaskReport};
use crate::recurrence::State as RunState;
use crate::trace::program::{Receive, Request, Send, Tag, TagFilter};
use crate::units::TaskId;

/// What has been counted when a period begins.
#[derive(Clone, Debug)]
pub(super) struct Period {
    /// The round of the leader.
    round: u64,
    reports: Vec<TaskReport>,
    /// Number and size \[bytes\] of the messages from one task to another.
    sent: Vec<(u64, u64)>,
}

/// Writes parts of a replay into a state.
struct Writer<'a> {
    into: &'a mut RunState,
    /// The label by which those of the leader's round are greater than those of the first round.
    label: i64,
}

impl Writer<'_> {
    fn tag(&mut self, Tag { context, label }: Tag) {
        self.into.put(context.into());
        self.into.put(label.wrapping_sub(self.label) as u64);
    }

    fn send(&mut self, &Send { to, tag, bytes }: &Send) {
        self.into.put(to.0.into());
        self.into.put(bytes);
        self.tag(tag);
    }

    fn receive(&mut self, &Receive { from, tag, bytes }: &Receive) {
        self.into.put_option(from.map(|from| from.0.into()));
        self.into.put(bytes);
        match tag {
            TagFilter::Exactly(tag) => {
                self.into.put(0);
                self.tag(tag);
            }
            TagFilter::AnyIn(context) => [1, context.into()].into_iter().for_each(|word| self.into.put(word)),
        }
    }

    fn request(&mut self, request: Option<Request>) {
        self.into.put_option(request.map(|request| request.0.into()));
    }

    fn requests(&mut self, requests: impl Iterator<Item = Request>) {
        let mut all: Vec<u32> = requests.map(|request| request.0).collect();
        all.sort_unstable();
        self.into.put(all.len() as u64);
        all.into_iter().for_each(|request| self.into.put(request.into()));
    }
}

impl Replay {
    /// The label by which those of the leader's round are greater than those of the first round.
    fn label(&self) -> i64 {
        let Some(leader) = self.leader else { return 0 };
        match self.tasks[leader].steps {
            Steps::Memory { round, labels, .. } => (round as i64).wrapping_mul(labels),
            #[cfg(feature = "formats")]
            Steps::Stored { .. } => 0,
        }
    }

    /// Writes the state; false if it cannot be compared, or something has begun to end.
    pub(super) fn write_state(&self, into: &mut RunState) -> bool {
        let Some(leader) = self.leader else { return false };
        let is_over = |task: &Task| task.state == State::Finished && task.steps.progress().1 > 0;
        if self.timeline.is_kept() || self.lost > 0 || self.misfits.count > 0 || self.tasks.iter().any(is_over) {
            return false;
        }
        // Every message under way has been mentioned by the network.
        let messages = into.messages().to_vec();
        if self.in_flight.len() - self.vacant.len() != messages.len() {
            return false;
        }
        let first = self.tasks[leader].steps.round();
        let mut writer = Writer { into, label: self.label() };
        for id in messages {
            self.write_message(&self.in_flight[id as usize], &mut writer);
        }
        let agenda = self.agenda.all();
        writer.into.put(agenda.len() as u64);
        for (due, task) in agenda {
            writer.into.put_time(due);
            writer.into.put(task.0.into());
        }
        writer.into.put(self.replies.len() as u64);
        for (due, message, bytes) in &self.replies {
            writer.into.put_time(*due);
            writer.into.put(*bytes);
            self.write_message(message, &mut writer);
        }
        self.write_pairs(&mut writer);
        for id in 0..self.tasks.len() {
            self.write_task(TaskId::at(id), first, &mut writer);
        }
        true
    }

    /// Writes a message between two tasks.
    fn write_message(&self, message: &InFlight, writer: &mut Writer<'_>) {
        let &InFlight { from, to, tag, size, pair, sequence, request, part, event: _, arrival: _ } = message;
        for word in [from.0.into(), to.0.into(), size] {
            writer.into.put(word);
        }
        writer.tag(tag);
        writer.request(request);
        let (word, number) = match part {
            Part::Eager => (0, None),
            Part::Announcement(number) => (1, Some(number)),
            Part::Answer(number) => (2, Some(number)),
            Part::Data(number) => (3, Some(number)),
        };
        writer.into.put(word);
        // An answer goes the other way, and has pair and number of its announcement.
        writer.into.put(sequence.wrapping_sub(self.pairs[pair as usize].released));
        self.write_rendezvous(number, writer);
    }

    /// Writes a rendezvous, to which only one message or entry refers at a time.
    fn write_rendezvous(&self, number: Option<u32>, writer: &mut Writer<'_>) {
        writer.into.put(number.is_some().into());
        let Some(&Rendezvous { announcement, bytes, receiver }) =
            number.and_then(|number| self.announced.get(number as usize))
        else {
            return;
        };
        let InFlight { from, to, tag, size, pair, sequence, request, .. } = announcement;
        for word in [from.0.into(), to.0.into(), size, bytes] {
            writer.into.put(word);
        }
        writer.into.put(sequence.wrapping_sub(self.pairs[pair as usize].released));
        writer.tag(tag);
        writer.request(request);
        writer.request(receiver);
    }

    /// Writes what is under way between pairs of tasks.
    fn write_pairs(&self, writer: &mut Writer<'_>) {
        let mut open: Vec<_> =
            self.pairs.iter().filter(|pair| pair.sent != pair.released || !pair.early.is_empty()).collect();
        open.sort_unstable_by_key(|pair| pair.ends);
        writer.into.put(open.len() as u64);
        for pair in open {
            let (from, to) = pair.ends;
            for word in [from.0.into(), to.0.into(), pair.sent - pair.released, pair.early.len() as u64] {
                writer.into.put(word);
            }
            for (number, sent) in &pair.early {
                writer.into.put(number.wrapping_sub(pair.released));
                self.write_sent(sent, writer);
            }
        }
    }

    /// Writes a message that has arrived.
    fn write_sent(&self, sent: &SentMessage, writer: &mut Writer<'_>) {
        writer.into.put(sent.envelope.from.0.into());
        writer.into.put(sent.bytes);
        writer.tag(sent.envelope.tag);
        self.write_rendezvous(sent.envelope.announced, writer);
    }

    /// Writes a task; rounds count from `first`.
    fn write_task(&self, id: TaskId, first: u64, writer: &mut Writer<'_>) {
        let task = &self.tasks[id.index()];
        if let Steps::Memory { events, position, round, .. } = &task.steps
            && !events.is_empty()
        {
            writer.into.put(*position as u64);
            writer.into.put(round.wrapping_sub(first));
        }
        match &task.state {
            State::Running => writer.into.put(0),
            State::Sending(send, is_announced) => {
                writer.into.put(if *is_announced { 2 } else { 1 });
                writer.send(send);
            }
            State::Receiving(receive) => {
                writer.into.put(3);
                writer.receive(receive);
            }
            State::WaitingOne(_) | State::Waiting(..) | State::WaitingAny(_) => {
                writer.into.put(if matches!(task.state, State::WaitingAny(_)) { 5 } else { 4 });
                writer.requests(task.open());
            }
            State::Finished => writer.into.put(6),
        }
        if !matches!(task.state, State::Running | State::Finished) {
            writer.into.put_time(task.blocked_since);
        }
        // A task is active in no cycle before the present one.
        writer
            .into
            .put(task.last_active.map_or(0, |last| last.0.saturating_sub(writer.into.now().0.saturating_sub(1))));
        let (receives, messages) = self.waiting(id);
        writer.into.put(receives.len() as u64);
        for PostedReceive { posted, event: _ } in &receives {
            writer.receive(&posted.receive);
            writer.request(posted.request);
        }
        writer.into.put(messages.len() as u64);
        messages.iter().for_each(|sent| self.write_sent(sent, writer));
        let requests = task.requests.all();
        let outstanding: Vec<_> = requests.iter().filter_map(|(request, what)| Some((request, (*what)?))).collect();
        writer.into.put(outstanding.len() as u64);
        for (request, what) in outstanding {
            writer.into.put(request.0.into());
            match what {
                Outstanding::Receive(receive) => {
                    writer.into.put(0);
                    writer.receive(&receive);
                }
                Outstanding::Send(send, is_announced) => {
                    writer.into.put(if is_announced { 2 } else { 1 });
                    writer.send(&send);
                }
            }
        }
        writer.requests(requests.iter().filter(|(_, what)| what.is_none()).map(|(request, _)| *request));
    }

    /// What has been counted so far.
    pub(super) fn counted(&self) -> Period {
        Period {
            round: self.leader.map_or(0, |leader| self.tasks[leader].steps.round()),
            reports: self.tasks.iter().map(|task| task.report).collect(),
            sent: self.pairs.iter().map(|pair| (pair.sent, pair.bytes)).collect(),
        }
    }

    /// \[rounds\] Length of the period since [`counted`](Self::counted).
    fn period_rounds(&self) -> u64 {
        let now = self.leader.map_or(0, |leader| self.tasks[leader].steps.round());
        self.period.as_ref().map_or(0, |period| now - period.round)
    }

    /// How often the present period may be repeated before some task is in its last round.
    pub(super) fn most_repetitions(&self) -> u64 {
        let left = self.tasks.iter().filter_map(|task| match &task.steps {
            Steps::Memory { events, round, rounds, .. } if !events.is_empty() => Some(rounds - 1 - round),
            _ => None,
        });
        left.min().unwrap_or(0).checked_div(self.period_rounds()).unwrap_or(0)
    }

    /// Repeats the present period so often; that takes so many cycles.
    pub(super) fn repeat_period(&mut self, times: u64, cycles: u64) {
        let more = times * self.period_rounds();
        let Some(period) = self.period.take() else { return };
        // Over other networks the times of what is skipped may differ.
        self.clocks = None;
        let labels = self.tasks.iter().find_map(|task| match task.steps {
            Steps::Memory { labels, .. } if labels != 0 => Some(labels),
            _ => None,
        });
        let by = (more as i64).wrapping_mul(labels.unwrap_or(0));
        // Number of the events of a task in the rounds that are added.
        let events: Vec<usize> = self.tasks.iter().map(|task| task.steps.events_of_rounds(more)).collect();
        // By pair: the messages that are added.
        let mut added = Vec::new();
        for (number, pair) in self.pairs.iter_mut().enumerate() {
            let (sent, bytes) = period.sent.get(number).copied().unwrap_or_default();
            let messages = times * (pair.sent - sent);
            pair.sent += messages;
            pair.released += messages;
            pair.bytes = pair.bytes.saturating_add(times.saturating_mul(pair.bytes - bytes));
            let later = |sent: SentMessage| later_sent(sent, by, &events);
            pair.early = std::mem::take(&mut pair.early)
                .into_iter()
                .map(|(number, sent)| (number + messages, later(sent)))
                .collect();
            added.push(messages);
            self.messages.change(pair.messages, later);
            let of_receiver = events.get(pair.ends.1.index()).copied().unwrap_or(0);
            self.receives.change(pair.receives, |posted| later_posted(posted, by, of_receiver));
        }
        let later = |message: &mut InFlight| {
            // The event of an answer is that of its announcement.
            let sender = if matches!(message.part, Part::Answer(_)) { message.to } else { message.from };
            message.sequence += added.get(message.pair as usize).copied().unwrap_or(0);
            message.event += events.get(sender.index()).copied().unwrap_or(0);
            message.tag.label = message.tag.label.wrapping_add(by);
        };
        self.in_flight.iter_mut().for_each(later);
        self.replies.iter_mut().for_each(|(due, message, _)| {
            due.0 += cycles;
            later(message);
        });
        self.announced.iter_mut().for_each(|rendezvous| later(&mut rendezvous.announcement));
        self.agenda.pass(cycles);
        for ((task, earlier), &events_added) in self.tasks.iter_mut().zip(&period.reports).zip(&events) {
            task.report.repeat_since(earlier, times);
            task.steps.add_rounds(more);
            task.last_active = task.last_active.map(|last| last + cycles);
            task.computed_until += cycles;
            task.blocked_since += cycles;
            match &mut task.state {
                State::Sending(send, _) => send.tag.label = send.tag.label.wrapping_add(by),
                State::Receiving(receive) => receive.tag = receive.tag.relabelled(by),
                State::Running | State::WaitingOne(_) | State::Waiting(..) | State::WaitingAny(_) | State::Finished => {
                }
            }
            task.requests.change(|outstanding| match outstanding {
                Outstanding::Receive(receive) => receive.tag = receive.tag.relabelled(by),
                Outstanding::Send(send, _) => send.tag.label = send.tag.label.wrapping_add(by),
            });
            if task.has_mailbox {
                let receive = |posted: PostedReceive| later_posted(posted, by, events_added);
                let mailbox = std::mem::take(&mut *task.mailbox);
                *task.mailbox = mailbox.replaced(receive, |sent| later_sent(sent, by, &events));
            }
        }
    }
}

/// A receive, of a later round.
fn later_posted(mut posted: PostedReceive, by: i64, events: usize) -> PostedReceive {
    posted.posted.receive.tag = posted.posted.receive.tag.relabelled(by);
    posted.event += events;
    posted
}

/// A message that has arrived, of a later round.
fn later_sent(mut sent: SentMessage, by: i64, events: &[usize]) -> SentMessage {
    sent.envelope.tag.label = sent.envelope.tag.label.wrapping_add(by);
    sent.event += events.get(sent.envelope.from.index()).copied().unwrap_or(0);
    sent
}
