//! MPI's matching of receives with messages, for one task.
//!
//! A receive takes the earliest message that it accepts, a message goes to the earliest receive that accepts it. The
//! messages of one sender must be passed in the order in which they were sent (MPI's non-overtaking rule);
//! [`Replay`](super::replay::Replay) ensures this, whatever the order of their deliveries.
//!
//! Decision: docs/decisions/0004-message-order.md.

use std::borrow::Borrow;
use std::collections::VecDeque;

use super::program::{Receive, Request, Tag};
use crate::units::TaskId;

/// A message that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// Sending task.
    pub from: TaskId,
    /// The sender's tag.
    pub tag: Tag,
    /// The sender's handle of a message whose data have not been sent yet (rendezvous); `None` if the data have
    /// arrived.
    pub announced: Option<u32>,
}

/// A receive that has been posted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Posted {
    /// The messages that it accepts.
    pub receive: Receive,
    /// The request to complete; `None` for a blocking receive.
    pub request: Option<Request>,
}

impl Posted {
    /// True if the receive matches a message.
    fn accepts(&self, envelope: &Envelope) -> bool {
        self.receive.from.is_none_or(|from| from == envelope.from) && self.receive.tag.accepts(envelope.tag)
    }
}

/// Receives that wait for messages, and messages that wait for receives; either type may carry additional data.
#[derive(Clone, Debug)]
pub struct Mailbox<P = Posted, E = Envelope> {
    /// Receives without a message, in the order of posting.
    posted: VecDeque<P>,
    /// Messages without a receive, in order of arrival.
    unexpected: VecDeque<E>,
}

impl<P, E> Default for Mailbox<P, E> {
    fn default() -> Self {
        Self { posted: VecDeque::new(), unexpected: VecDeque::new() }
    }
}

impl<P: Borrow<Posted>, E: Borrow<Envelope>> Mailbox<P, E> {
    /// Posts a receive. If a matching message is present, removes and returns the message instead.
    pub fn post(&mut self, posted: P) -> Option<E> {
        match self.unexpected.iter().position(|envelope| posted.borrow().accepts(envelope.borrow())) {
            Some(position) => self.unexpected.remove(position),
            None => {
                self.posted.push_back(posted);
                None
            }
        }
    }

    /// Passes a message. If a matching receive is waiting, removes and returns the receive.
    pub fn arrive(&mut self, envelope: E) -> Option<P> {
        match self.posted.iter().position(|posted| posted.borrow().accepts(envelope.borrow())) {
            Some(position) => self.posted.remove(position),
            None => {
                self.unexpected.push_back(envelope);
                None
            }
        }
    }

    /// Number of unreceived messages.
    #[must_use]
    pub fn unexpected(&self) -> usize {
        self.unexpected.len()
    }

    /// Unreceived messages, in order of arrival.
    pub fn unreceived(&self) -> impl Iterator<Item = &E> {
        self.unexpected.iter()
    }

    /// Unmatched receives, in the order of posting.
    pub fn unserved(&self) -> impl Iterator<Item = &P> {
        self.posted.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::program::TagFilter;

    fn message(from: u32, label: i64) -> Envelope {
        Envelope { from: TaskId(from), tag: Tag::user(label), announced: None }
    }

    fn receive(from: Option<u32>, label: Option<i64>, request: u32) -> Posted {
        let tag = label.map_or(TagFilter::AnyIn(0), |label| TagFilter::Exactly(Tag::user(label)));
        Posted { receive: Receive { from: from.map(TaskId), tag, bytes: 0 }, request: Some(Request(request)) }
    }

    #[test]
    fn the_earliest_that_fits_wins_on_both_sides() {
        let mut mailbox = Mailbox::default();
        assert_eq!(mailbox.arrive(message(1, 7)), None);
        assert_eq!(mailbox.arrive(message(2, 7)), None);
        assert_eq!(mailbox.post(receive(None, Some(7), 0)), Some(message(1, 7)), "wildcards take in arrival order");
        assert_eq!(mailbox.post(receive(Some(3), None, 1)), None);
        assert_eq!(mailbox.post(receive(None, None, 2)), Some(message(2, 7)));
        assert_eq!(mailbox.post(receive(None, None, 3)), None);
        assert_eq!(mailbox.arrive(message(3, 9)).unwrap().request, Some(Request(1)), "posted first, matched first");
        assert_eq!(mailbox.arrive(message(3, 9)).unwrap().request, Some(Request(3)));
        assert_eq!(mailbox.unexpected(), 0);
    }

    #[test]
    fn contexts_never_mix() {
        let mut mailbox = Mailbox::default();
        mailbox.arrive(Envelope { from: TaskId(0), tag: Tag::collective(1), announced: None });
        assert_eq!(mailbox.post(receive(None, None, 0)), None);
        assert_eq!(mailbox.unexpected(), 1);
    }
}
