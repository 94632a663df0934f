//! The program of each task: a trace without its timestamps.
//!
//! # How the model departs from reality, and who could notice
//! A program is fixed when the run starts. A task that would have taken another branch because a message came earlier
//! (a master that distributes work) takes the recorded one; a study of dynamic load balancing should drive the network
//! live instead.

use crate::units::{Picoseconds, TaskId};

/// The matching key of a message, beside its source: the program's own tag, in a context.
///
/// Contexts separate messages that must never match: point-to-point messages ([`Tag::POINT_TO_POINT`]), the messages of
/// expanded collectives ([`Tag::COLLECTIVE`]), communicators.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tag {
    /// Communicator or purpose.
    pub context: u32,
    /// The program's own number.
    pub label: i64,
}

impl Tag {
    /// Context of the program's own messages on the world communicator.
    pub const POINT_TO_POINT: u32 = 0;
    /// Context of the messages of an expanded collective.
    pub const COLLECTIVE: u32 = 1;

    /// Context of the program's own messages on a communicator, by number of the communicator; 0 is the world. The next
    /// context is that of the communicator's expanded collectives.
    #[must_use]
    pub const fn context_of(communicator: u32) -> u32 {
        communicator.wrapping_mul(2)
    }

    /// True for a message of an expanded collective, on whatever communicator.
    #[must_use]
    pub const fn is_collective(self) -> bool {
        self.context % 2 == 1
    }

    /// A tag of a point-to-point message.
    #[must_use]
    pub const fn user(label: i64) -> Self {
        Self { context: Self::POINT_TO_POINT, label }
    }

    /// A tag of an expanded collective; `label` is the running number of the collective in its communicator.
    #[must_use]
    pub const fn collective(label: i64) -> Self {
        Self { context: Self::COLLECTIVE, label }
    }
}

/// The tags that a receive accepts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TagFilter {
    /// Exactly this one.
    Exactly(Tag),
    /// Any label of this context (`MPI_ANY_TAG`).
    AnyIn(u32),
}

impl TagFilter {
    /// The filter with a label that is greater by so much, if it accepts one label only.
    #[must_use]
    pub const fn relabelled(self, by: i64) -> Self {
        match self {
            Self::Exactly(Tag { context, label }) => Self::Exactly(Tag { context, label: label.wrapping_add(by) }),
            Self::AnyIn(_) => self,
        }
    }

    /// The context of the accepted tags.
    #[must_use]
    pub const fn context(self) -> u32 {
        match self {
            Self::Exactly(tag) => tag.context,
            Self::AnyIn(context) => context,
        }
    }

    /// True if a message of this tag is accepted.
    #[must_use]
    pub fn accepts(self, tag: Tag) -> bool {
        match self {
            Self::Exactly(wanted) => wanted == tag,
            Self::AnyIn(context) => context == tag.context,
        }
    }
}

/// Identifies an outstanding non-blocking operation of one task. Free for reuse after its wait.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Request(pub u32);

/// A message to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Send {
    /// Receiving task; may be the sender itself (such a message uses no network and takes no time).
    pub to: TaskId,
    /// Matching key.
    pub tag: Tag,
    /// \[bytes\] Payload, 0 allowed.
    pub bytes: u64,
}

/// A message to receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Receive {
    /// Sending task; `None` for any (`MPI_ANY_SOURCE`).
    pub from: Option<TaskId>,
    /// Accepted tags.
    pub tag: TagFilter,
    /// \[bytes\] Size of the receive buffer, as recorded; matching ignores it.
    pub bytes: u64,
}

/// One event of a task. Events run one after another; a blocking event ends before the next begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// Computes for this time.
    Compute(Picoseconds),
    /// Sends, and blocks until the message has been sent.
    Send(Send),
    /// Starts a send; the request completes when the message has been sent.
    Isend(Send, Request),
    /// Blocks until a matching message has arrived.
    Recv(Receive),
    /// Posts a receive; the request completes when a matching message has arrived.
    Irecv(Receive, Request),
    /// Lets the non-blocking sends that follow begin once all of these have completed, each by itself: the task goes on.
    /// They hold until the next such event; an empty list lets them begin at once. A request that is not outstanding is
    /// complete, and none counts as waited for.
    After(Box<[Request]>),
    /// Blocks until the request has completed. A request that is not outstanding is complete.
    Wait(Request),
    /// Blocks until all of these have completed.
    WaitAll(Box<[Request]>),
    /// Blocks until one of these has completed that no wait has accounted for yet. It counts as waited for, and may
    /// differ from the one in the recording. If none of these is left, the wait returns at once.
    WaitAny(Box<[Request]>),
}

impl Event {
    /// The event with labels of its messages that are greater by so much.
    #[must_use]
    pub fn relabelled(&self, by: i64) -> Self {
        let mut event = self.clone();
        match &mut event {
            Self::Send(send) | Self::Isend(send, _) => send.tag.label = send.tag.label.wrapping_add(by),
            Self::Recv(receive) | Self::Irecv(receive, _) => receive.tag = receive.tag.relabelled(by),
            Self::Compute(_) | Self::After(_) | Self::Wait(_) | Self::WaitAll(_) | Self::WaitAny(_) => {}
        }
        event
    }
}

/// A program that does the same in each of its rounds, with other labels of messages.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Rounds {
    /// The first round.
    pub first: Program,
    /// Number of rounds.
    pub count: u64,
    /// Difference of the labels of a message in one round and in the next.
    pub labels: i64,
}

impl Rounds {
    /// A program that does everything once.
    #[must_use]
    pub const fn once(program: Program) -> Self {
        Self { first: program, count: 1, labels: 0 }
    }

    /// The program with the events of all rounds.
    #[must_use]
    pub fn unrolled(self) -> Program {
        let Self { first, count, labels } = self;
        if count == 1 {
            return first;
        }
        let all = |events: Vec<Event>| {
            let mut all = Vec::with_capacity(events.len() * count as usize);
            for round in 0..count as i64 {
                all.extend(events.iter().map(|event| event.relabelled(round.wrapping_mul(labels))));
            }
            all
        };
        Program { tasks: first.tasks.into_iter().map(all).collect() }
    }
}

/// The programs of all tasks of one application.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Program {
    /// Events of each task.
    pub tasks: Vec<Vec<Event>>,
}

/// Totals of a program.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Totals {
    /// Messages sent by point-to-point operations of the program.
    pub point_to_point_messages: u64,
    /// \[bytes\] Payload of these messages.
    pub point_to_point_bytes: u64,
    /// Messages of expanded collectives.
    pub collective_messages: u64,
    /// \[bytes\] Payload of these messages.
    pub collective_bytes: u64,
    /// Computing time of all tasks.
    pub compute: Picoseconds,
}

impl Program {
    /// A program of `tasks` tasks without events.
    #[must_use]
    pub fn new(tasks: usize) -> Self {
        Self { tasks: vec![Vec::new(); tasks] }
    }

    /// Counts messages, bytes and computing time.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for event in self.tasks.iter().flatten() {
            match event {
                Event::Send(send) | Event::Isend(send, _) if send.tag.is_collective() => {
                    totals.collective_messages += 1;
                    totals.collective_bytes = totals.collective_bytes.saturating_add(send.bytes);
                }
                Event::Send(send) | Event::Isend(send, _) => {
                    totals.point_to_point_messages += 1;
                    totals.point_to_point_bytes = totals.point_to_point_bytes.saturating_add(send.bytes);
                }
                Event::Compute(time) => totals.compute.0 = totals.compute.0.saturating_add(time.0),
                _ => {}
            }
        }
        totals
    }
}
