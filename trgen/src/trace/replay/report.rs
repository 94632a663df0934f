//! The report of a replay on its tasks.

use std::borrow::Borrow;

use super::clocks::Both;
use super::task::Outstanding;
use crate::source::WaitCause;
use crate::trace::matching::{Envelope, Posted};
use crate::trace::program::{Receive, Send, Tag, TagFilter};
use crate::units::{Cycle, TaskId};

/// Statistics of one task.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TaskReport {
    /// \[cycles\] Time spent computing.
    pub compute_cycles: u64,
    /// \[ps\] Time during which it computes, where ranks count in less than cycles and that is known.
    pub computing: Option<u64>,
    /// \[ps\] End of its last event, where ranks count in less than cycles; `None` before.
    pub ended: Option<u64>,
    /// \[cycles\] Time blocked in sends.
    pub blocked_on_send_cycles: u64,
    /// \[cycles\] Time blocked in receives.
    pub blocked_on_receive_cycles: u64,
    /// \[cycles\] Time blocked in waits for requests.
    pub blocked_on_wait_cycles: u64,
    /// Messages sent by point-to-point operations.
    pub sent_point_to_point: u64,
    /// Messages sent by expanded collectives.
    pub sent_collective: u64,
    /// \[bytes\] Total size of the messages sent.
    pub sent_bytes: u64,
    /// Messages received.
    pub received: u64,
    /// \[cycle\] End of its last event; `None` before.
    pub finished: Option<Cycle>,
}

impl TaskReport {
    /// Counts a message that the task sends.
    pub(super) fn count_sent(&mut self, send: &Send) {
        if send.tag.is_collective() {
            self.sent_collective += 1
        } else {
            self.sent_point_to_point += 1
        }
        self.sent_bytes = self.sent_bytes.saturating_add(send.bytes);
    }

    /// Counts once more, `times` times, what has been counted since the report was `earlier`.
    pub(super) fn repeat_since(&mut self, earlier: &Self, times: u64) {
        let again = |now: &mut u64, before: u64| *now = now.saturating_add(times.saturating_mul(*now - before));
        again(&mut self.compute_cycles, earlier.compute_cycles);
        again(&mut self.blocked_on_send_cycles, earlier.blocked_on_send_cycles);
        again(&mut self.blocked_on_receive_cycles, earlier.blocked_on_receive_cycles);
        again(&mut self.blocked_on_wait_cycles, earlier.blocked_on_wait_cycles);
        again(&mut self.sent_point_to_point, earlier.sent_point_to_point);
        again(&mut self.sent_collective, earlier.sent_collective);
        again(&mut self.sent_bytes, earlier.sent_bytes);
        again(&mut self.received, earlier.received);
    }
}

/// Statistics of all tasks.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ReplayReport {
    /// Statistics of each task.
    pub tasks: Vec<TaskReport>,
    /// Messages that have arrived but were not received.
    pub unreceived: u64,
    /// Receives that were posted but never matched.
    pub unserved: u64,
    /// Descriptions of the first unmatched receives and unreceived messages, at most [`SHOWN`].
    pub unmatched: Vec<String>,
    /// Receives whose buffer was too small for the message.
    pub misfits: Misfits,
    /// Tasks that have not finished.
    pub unfinished: usize,
}

/// A receive, and the number of the event that posts it, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PostedReceive {
    pub(super) posted: Posted,
    pub(super) event: usize,
}

/// A message, its size \[bytes\], and the number of the event that sends it, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SentMessage {
    pub(super) envelope: Envelope,
    pub(super) bytes: u64,
    pub(super) event: usize,
    /// When it can be received over other networks, where clocks are kept.
    pub(super) arrival: Both,
}

impl Borrow<Posted> for PostedReceive {
    fn borrow(&self) -> &Posted {
        &self.posted
    }
}

impl Borrow<Envelope> for SentMessage {
    fn borrow(&self) -> &Envelope {
        &self.envelope
    }
}

/// Receives of messages larger than their buffer, which an MPI library reports as truncation errors; a replay
/// continues.
///
/// Within a collective both sides know the size, so that a smaller message is an error too. Some formats leave the size
/// of a receive unknown there, or that of a receive from any source: it is 0 then, and ignored.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Misfits {
    /// Number of such receives.
    pub count: u64,
    /// Descriptions of the first 16: both places and both sizes.
    pub shown: Vec<String>,
}

/// Number of described items of each kind.
pub const SHOWN: usize = 16;

impl Misfits {
    /// Checks a message that has been matched with a receive of task `id`.
    pub(super) fn check(&mut self, id: TaskId, posted: &PostedReceive, message: &SentMessage) {
        let receive = &posted.posted.receive;
        let &SentMessage { envelope: Envelope { from, tag, .. }, bytes, event, arrival: _ } = message;
        let is_collective = tag.is_collective();
        let is_open = receive.bytes == 0 && (is_collective || receive.from.is_none());
        let fits = if is_collective { bytes == receive.bytes } else { bytes <= receive.bytes };
        if fits || is_open {
            return;
        }
        self.add(receive.bytes, bytes, || {
            let collective = if is_collective { format!(" in collective {}", tag.label) } else { String::new() };
            (format!("task {id}, event {}", posted.event), format!("task {from}, event {event}{collective}"))
        });
    }

    /// A warning for the user, if there are any.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let first = self.shown.first()?;
        let receives = if self.count == 1 { "receive does" } else { "receives do" };
        Some(format!(
            "{} {receives} not fit the message: MPI refuses a receive that is smaller (truncation), and a replay goes on; the \
             first: {first}",
            self.count
        ))
    }

    /// Adds the receives of another replay.
    pub fn append(&mut self, other: Self) {
        self.count += other.count;
        self.shown.extend(other.shown);
        self.shown.truncate(SHOWN);
    }

    /// Counts a receive with buffer size `room` that gets `bytes`; `places` are those of the receive and of the send.
    pub(crate) fn add(&mut self, room: u64, bytes: u64, places: impl FnOnce() -> (String, String)) {
        self.count += 1;
        if self.shown.len() < SHOWN {
            let (receive, send) = places();
            let unit = |bytes| if bytes == 1 { "byte" } else { "bytes" };
            let (room_unit, unit) = (unit(room), unit(bytes));
            self.shown.push(format!("{receive}: a receive of {room} {room_unit} gets {bytes} {unit} from {send}"));
        }
    }
}

/// What a receive waits for, in words.
#[must_use]
pub fn wanted(receive: &Receive) -> String {
    let from = receive.from.map_or_else(|| "from any task".to_owned(), |task| format!("from task {task}"));
    let tag = match receive.tag {
        TagFilter::Exactly(tag) if tag.is_collective() => format!("of collective {}", tag.label),
        TagFilter::Exactly(Tag { label, .. }) => format!("with tag {label}"),
        TagFilter::AnyIn(_) => "with any tag".to_owned(),
    };
    format!("{from} {tag}")
}

/// The cause for which a send waits, and its description. `is_announced` is true if the send does not end before its
/// message is received (rendezvous).
pub(super) fn send_wait(send: &Send, is_announced: bool) -> (WaitCause, String) {
    let Send { to, tag, .. } = send;
    let name = if tag.is_collective() { "of collective" } else { "with tag" };
    if is_announced {
        (WaitCause::Receiver, format!("task {to} to receive its message {name} {}", tag.label))
    } else {
        (WaitCause::Network, format!("its send to task {to} to be taken by the network"))
    }
}

/// The cause for which an outstanding request waits, and its description.
pub(super) fn request_wait(outstanding: Option<Outstanding>) -> (WaitCause, String) {
    match outstanding {
        Some(Outstanding::Receive(receive)) => (WaitCause::Message, format!("a message {}", wanted(&receive))),
        Some(Outstanding::Send(send, is_announced)) => send_wait(&send, is_announced),
        None => (WaitCause::Message, "a request".to_owned()),
    }
}
