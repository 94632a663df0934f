//! Messages between the tasks of a replay: sending, rendezvous, arrival in order, completion.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::Replay;
use super::report::{PostedReceive, SentMessage};
use super::task::State;
use crate::message::Message;
use crate::source::Outbox;
use crate::trace::matching::Envelope;
use crate::trace::program::{Request, Send, Tag};
use crate::units::{Cycle, TaskId};

/// Purpose of a message in the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// The message itself, sent eagerly.
    Eager,
    /// The announcement of the data of this rendezvous.
    Announcement(u32),
    /// The receiver's answer.
    Answer(u32),
    /// The data.
    Data(u32),
}

/// A message in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Underway {
    pub(super) from: TaskId,
    pub(super) to: TaskId,
    pub(super) tag: Tag,
    /// \[bytes\] Size given in its send.
    pub(super) size: u64,
    /// The event that sends it, from 1.
    pub(super) event: usize,
    /// Number among the messages from this sender to this receiver.
    pub(super) sequence: u64,
    /// The sender's request; `None` for a blocking send.
    pub(super) request: Option<Request>,
    pub(super) part: Part,
}

/// A message that was announced and has not arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rendezvous {
    pub(super) announcement: Underway,
    pub(super) bytes: u64,
    /// The receiver's request, once a receive has been found; `None` for a blocking receive.
    pub(super) receiver: Option<Request>,
}

/// Messages from one task to another, in the order of sending.
#[derive(Clone, Default, Debug)]
pub(super) struct Pair {
    /// Number of messages sent.
    pub(super) sent: u64,
    /// \[bytes\] Size of these messages.
    pub(super) bytes: u64,
    /// Number of messages that the receiver has been shown.
    pub(super) seen: u64,
    /// By sequence number: messages that have arrived before an earlier one.
    pub(super) early: HashMap<u64, SentMessage>,
}

impl Replay {
    /// A receive was posted and may have `found` a message; true if that completes it. Announced data are requested.
    pub(super) fn found(&mut self, found: Option<SentMessage>, posted: &PostedReceive, id: TaskId, now: Cycle) -> bool {
        let Some(message) = found else { return false };
        self.misfits.check(id, posted, &message);
        match message.envelope.announced {
            Some(number) => {
                self.answer(number, posted.posted.request, now);
                false
            }
            None => {
                self.tasks[id.index()].report.received += 1;
                true
            }
        }
    }

    /// A receive matches an announced message: the answer is sent in cycle `when`.
    pub(super) fn answer(&mut self, number: u32, receiver: Option<Request>, when: Cycle) {
        let rendezvous = &mut self.announced[number as usize];
        rendezvous.receiver = receiver;
        let announcement = rendezvous.announcement;
        let answer =
            Underway { from: announcement.to, to: announcement.from, part: Part::Answer(number), ..announcement };
        self.replies.push_back((when, answer, 0));
    }

    /// True for a message that is announced first, unless it stays in its node.
    pub(super) fn is_announced(&self, send: &Send) -> bool {
        self.protocol.eager_limit.is_some_and(|limit| send.bytes > limit)
    }

    /// Sends; false if the message is already complete (it stays in the node).
    pub(super) fn send(
        &mut self,
        from: TaskId,
        send: &Send,
        request: Option<Request>,
        now: Cycle,
        out: &mut Outbox,
    ) -> bool {
        let task = &mut self.tasks[from.index()];
        task.report.count_sent(send);
        let (source, event) = (task.node, task.steps.progress().0);
        let destination = self.tasks[send.to.index()].node;
        let pair = self.pairs.entry((from, send.to)).or_default();
        let &Send { to, tag, bytes: size } = send;
        let mut underway = Underway { from, to, tag, size, event, sequence: pair.sent, request, part: Part::Eager };
        pair.sent += 1;
        pair.bytes = pair.bytes.saturating_add(send.bytes);
        if source == destination {
            self.arrive(&underway, now);
            return false;
        }
        if !self.is_announced(send) {
            self.emit(underway, send.bytes, out);
            return true;
        }
        let number = self.vacant_announced.pop().unwrap_or(self.announced.len() as u32);
        underway.part = Part::Announcement(number);
        let rendezvous = Rendezvous { announcement: underway, bytes: send.bytes, receiver: None };
        match self.announced.get_mut(number as usize) {
            Some(vacant) => *vacant = rendezvous,
            None => self.announced.push(rendezvous),
        }
        self.emit(underway, 0, out);
        true
    }

    /// Passes a message to the network.
    pub(super) fn emit(&mut self, underway: Underway, bytes: u64, out: &mut Outbox) {
        let (source, destination) = (self.tasks[underway.from.index()].node, self.tasks[underway.to.index()].node);
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
        out.push(Message { id: id as u64, source, destination, bytes, class: 0 });
    }

    /// A message, or the announcement of one, has arrived; a task that it unblocks continues in cycle `resume`.
    pub(super) fn arrive(&mut self, message: &Underway, resume: Cycle) {
        let Some(pair) = self.pairs.get_mut(&(message.from, message.to)) else { return };
        let announced = match message.part {
            Part::Announcement(number) => Some(number),
            _ => None,
        };
        let &Underway { from, tag, size: bytes, event, .. } = message;
        let envelope = Envelope { from, tag, announced };
        pair.early.insert(message.sequence, SentMessage { envelope, bytes, event });
        let mut visible = Vec::new();
        while let Some(message) = pair.early.remove(&pair.seen) {
            pair.seen += 1;
            visible.push(message);
        }
        for sent in visible {
            let task = &mut self.tasks[message.to.index()];
            let Some(receive) = task.mailbox.arrive(sent) else { continue };
            self.misfits.check(message.to, &receive, &sent);
            let request = receive.posted.request;
            match sent.envelope.announced {
                Some(number) => self.answer(number, request, resume),
                None => self.received(message.to, request, resume),
            }
        }
    }

    /// A receive has completed.
    pub(super) fn received(&mut self, id: TaskId, request: Option<Request>, resume: Cycle) {
        let task = &mut self.tasks[id.index()];
        task.report.received += 1;
        match request {
            Some(request) => self.complete(id, request, resume),
            None => {
                task.report.blocked_on_receive_cycles += resume.since(task.blocked_since);
                self.agenda.push(Reverse((resume, id)));
            }
        }
    }

    /// A send has completed.
    pub(super) fn left(&mut self, id: TaskId, request: Option<Request>, resume: Cycle) {
        match request {
            Some(request) => self.complete(id, request, resume),
            None => {
                let task = &mut self.tasks[id.index()];
                task.report.blocked_on_send_cycles += resume.since(task.blocked_since);
                self.agenda.push(Reverse((resume, id)));
            }
        }
    }

    /// A request has completed.
    pub(super) fn complete(&mut self, id: TaskId, request: Request, resume: Cycle) {
        let task = &mut self.tasks[id.index()];
        task.outstanding.remove(&request);
        let over = match &mut task.state {
            State::Waiting(open) if open.contains(&request) => {
                open.retain(|&other| other != request);
                open.is_empty()
            }
            State::WaitingAny(open) if open.contains(&request) => {
                open.clear();
                true
            }
            _ => {
                task.completed.insert(request);
                false
            }
        };
        if over {
            task.report.blocked_on_wait_cycles += resume.since(task.blocked_since);
            self.agenda.push(Reverse((resume, id)));
        }
    }
}
