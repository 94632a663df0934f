//! Messages between the tasks of a replay: sending, rendezvous, arrival in order, completion.

use std::collections::BTreeMap;

use super::Replay;
use super::clocks::Both;
use super::lists::List;
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
    /// The announcement of the data of the rendezvous with this number.
    Announcement(u32),
    /// The receiver's answer to the announcement.
    Answer(u32),
    /// The data of the rendezvous.
    Data(u32),
}

/// A message in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    pub(super) from: TaskId,
    pub(super) to: TaskId,
    pub(super) tag: Tag,
    /// \[bytes\] Size given in its send.
    pub(super) size: u64,
    /// The event that sends it, from 1.
    pub(super) event: usize,
    /// The pair of tasks to which it belongs: from the sender to the receiver of the data.
    pub(super) pair: u32,
    /// Number among the messages of this pair.
    pub(super) sequence: u64,
    /// The sender's request; `None` for a blocking send.
    pub(super) request: Option<Request>,
    pub(super) part: Part,
    /// When it can be received over other networks, where clocks are kept.
    pub(super) arrival: Both,
}

/// A message that was announced and has not arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rendezvous {
    /// The announcement, as it was sent.
    pub(super) announcement: InFlight,
    /// \[bytes\] Size of the data.
    pub(super) bytes: u64,
    /// The receiver's request, once a receive has been found; `None` for a blocking receive.
    pub(super) receiver: Option<Request>,
}

/// Messages from one task to another, in the order of sending.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// Sender and receiver.
    pub(super) ends: (TaskId, TaskId),
    /// Number of messages sent.
    pub(super) sent: u64,
    /// \[bytes\] Size of these messages.
    pub(super) bytes: u64,
    /// Number of messages that have been passed to the receiver's mailbox, in the order of sending.
    pub(super) released: u64,
    /// By sequence number: messages that have arrived before an earlier one.
    pub(super) early: BTreeMap<u64, SentMessage>,
    /// Messages without a receive, unless the receiver has a mailbox.
    pub(super) messages: List,
    /// Receives without a message, unless the receiver has a mailbox.
    pub(super) receives: List,
}

impl Pair {
    fn new(ends: (TaskId, TaskId)) -> Self {
        let (messages, receives) = (List::EMPTY, List::EMPTY);
        Self { ends, sent: 0, bytes: 0, released: 0, early: BTreeMap::new(), messages, receives }
    }
}

impl Replay {
    /// Continues after a receive was posted, which `found` a message or none. True if that completes the receive. If
    /// the message was announced, its data are requested.
    pub(super) fn match_posted(
        &mut self,
        found: Option<SentMessage>,
        posted: &PostedReceive,
        id: TaskId,
        now: Cycle,
    ) -> bool {
        let Some(message) = found else { return false };
        self.misfits.check(id, posted, &message);
        match message.envelope.announced {
            Some(number) => {
                self.answer(number, posted.posted.request, now);
                false
            }
            None => {
                self.tasks[id.index()].report.received += 1;
                if let Some(clocks) = &mut self.clocks {
                    clocks.receive(id, posted.posted.request, message.arrival);
                }
                true
            }
        }
    }

    /// The number of the pair of a sender and a receiver.
    pub(super) fn pair_number(&mut self, from: TaskId, to: TaskId) -> u32 {
        let next = self.pairs.len() as u32;
        let number = self.pair_numbers.number(from, to, next);
        if number == next {
            self.pairs.push(Pair::new((from, to)));
            self.tasks[to.index()].incoming.push(number);
        }
        number
    }

    /// Answers an announced message that a receive has matched: the answer is sent in cycle `when`.
    pub(super) fn answer(&mut self, number: u32, receiver: Option<Request>, when: Cycle) {
        let rendezvous = &mut self.announced[number as usize];
        rendezvous.receiver = receiver;
        let announcement = rendezvous.announcement;
        let answer =
            InFlight { from: announcement.to, to: announcement.from, part: Part::Answer(number), ..announcement };
        self.replies.push_back((when, answer, 0));
    }

    /// True for a message that is announced first, unless it stays in its node.
    pub(super) fn is_announced(&self, send: &Send) -> bool {
        self.protocol.eager_limit.is_some_and(|limit| send.bytes > limit)
    }

    /// Sends a message with a request or none, by the event of this number; false if it is already complete (it stays in
    /// the node).
    pub(super) fn send(
        &mut self,
        from: TaskId,
        send: &Send,
        (request, event): (Option<Request>, usize),
        now: Cycle,
        out: &mut Outbox,
    ) -> bool {
        let task = &mut self.tasks[from.index()];
        task.report.count_sent(send);
        let source = task.node;
        let destination = self.tasks[send.to.index()].node;
        let number = self.pair_number(from, send.to);
        let pair = &mut self.pairs[number as usize];
        let &Send { to, tag, bytes: size } = send;
        let (sequence, part) = (pair.sent, Part::Eager);
        pair.sent += 1;
        pair.bytes = pair.bytes.saturating_add(send.bytes);
        let arrival = self.clocks.as_mut().map_or([0; 2], |clocks| {
            let message = Message { id: 0, source, destination, bytes: size, class: 0 };
            clocks.send(from, number, (source != destination).then_some(&message), request)
        });
        let mut in_flight = InFlight { from, to, tag, size, event, pair: number, sequence, request, part, arrival };
        if self.timeline.is_kept() {
            self.note_sent(&in_flight, now);
        }
        if source == destination {
            self.arrive(&in_flight, now);
            return false;
        }
        if !self.is_announced(send) {
            self.emit(in_flight, send.bytes, out);
            return true;
        }
        let number = self.vacant_announced.pop().unwrap_or(self.announced.len() as u32);
        in_flight.part = Part::Announcement(number);
        let rendezvous = Rendezvous { announcement: in_flight, bytes: send.bytes, receiver: None };
        match self.announced.get_mut(number as usize) {
            Some(vacant) => *vacant = rendezvous,
            None => self.announced.push(rendezvous),
        }
        self.emit(in_flight, 0, out);
        true
    }

    /// Passes a message to the network.
    pub(super) fn emit(&mut self, in_flight: InFlight, bytes: u64, out: &mut Outbox) {
        let (source, destination) = (self.tasks[in_flight.from.index()].node, self.tasks[in_flight.to.index()].node);
        let id = match self.vacant.pop() {
            Some(id) => {
                self.in_flight[id] = in_flight;
                id
            }
            None => {
                self.in_flight.push(in_flight);
                self.in_flight.len() - 1
            }
        };
        out.push(Message { id: id as u64, source, destination, bytes, class: 0 });
    }

    /// Processes the arrival of a message, or of its announcement. A task that it unblocks continues in cycle `resume`.
    pub(super) fn arrive(&mut self, message: &InFlight, resume: Cycle) {
        if message.part == Part::Eager {
            self.note_arrived(message, resume);
        }
        let pair = &mut self.pairs[message.pair as usize];
        let announced = match message.part {
            Part::Announcement(number) => Some(number),
            _ => None,
        };
        let &InFlight { from, tag, size: bytes, event, arrival, pair: number, .. } = message;
        let envelope = Envelope { from, tag, announced };
        let sent = SentMessage { envelope, bytes, event, arrival };
        if message.sequence != pair.released {
            pair.early.insert(message.sequence, sent);
            return;
        }
        pair.released += 1;
        let mut later = Vec::new();
        while !pair.early.is_empty()
            && let Some(message) = pair.early.remove(&pair.released)
        {
            pair.released += 1;
            later.push(message);
        }
        self.deliver(number, message.to, sent, resume);
        later.into_iter().for_each(|sent| self.deliver(number, message.to, sent, resume));
    }

    /// Passes a message of a pair to its receiver.
    fn deliver(&mut self, pair: u32, to: TaskId, sent: SentMessage, resume: Cycle) {
        let Some(receive) = self.pass(pair, to, sent) else { return };
        self.misfits.check(to, &receive, &sent);
        let request = receive.posted.request;
        match sent.envelope.announced {
            Some(number) => self.answer(number, request, resume),
            None => {
                if let Some(clocks) = &mut self.clocks {
                    clocks.receive(to, request, sent.arrival);
                }
                self.receive_completed(to, request, resume);
            }
        }
    }

    /// Records that a receive has completed; a task that it unblocks continues in cycle `resume`.
    pub(super) fn receive_completed(&mut self, id: TaskId, request: Option<Request>, resume: Cycle) {
        let task = &mut self.tasks[id.index()];
        task.report.received += 1;
        match request {
            Some(request) => self.complete_request(id, request, resume),
            None => {
                task.report.blocked_on_receive_cycles += resume.since(task.blocked_since);
                self.agenda.add(resume, id);
            }
        }
    }

    /// Records that a send has completed; a task that it unblocks continues in cycle `resume`.
    pub(super) fn send_completed(&mut self, id: TaskId, request: Option<Request>, resume: Cycle) {
        match request {
            Some(request) => self.complete_request(id, request, resume),
            None => {
                let task = &mut self.tasks[id.index()];
                task.report.blocked_on_send_cycles += resume.since(task.blocked_since);
                self.agenda.add(resume, id);
            }
        }
    }

    /// Records that a request has completed; a task that it unblocks continues in cycle `resume`.
    pub(super) fn complete_request(&mut self, id: TaskId, request: Request, resume: Cycle) {
        let task = &mut self.tasks[id.index()];
        let is_awaited = task.requests.complete(request);
        task.deferred.complete(request, |deferred| self.released.push_back((resume, id, deferred)));
        if !is_awaited {
            return;
        }
        let over = match &mut task.state {
            State::Waiting(_, open) => {
                *open -= 1;
                *open == 0
            }
            State::WaitingAny(requests) => {
                requests.iter().for_each(|&other| task.requests.leave(other));
                true
            }
            _ => true,
        };
        if over {
            task.report.blocked_on_wait_cycles += resume.since(task.blocked_since);
            self.agenda.add(resume, id);
        }
    }
}
