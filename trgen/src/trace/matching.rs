//! MPI's matching of receives with messages, for one task.
//!
//! A receive takes the earliest message that it accepts, a message goes to the earliest receive that accepts it. The
//! messages of one sender must be passed in the order in which they were sent (MPI's non-overtaking rule);
//! [`Replay`](super::replay::Replay) ensures this, whatever the order of their deliveries.
//!
//! Decision: docs/decisions/0004-message-order.md.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use super::program::{Receive, Request, Tag, TagFilter};
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

impl Envelope {
    const fn key(&self) -> Key {
        (self.from, self.tag)
    }
}

impl Posted {
    /// The only messages that the receive accepts, if they have one sender and one tag.
    fn key(&self) -> Option<Key> {
        match self.receive.tag {
            TagFilter::Exactly(tag) => Some((self.receive.from?, tag)),
            TagFilter::AnyIn(_) => None,
        }
    }

    /// True if the receive matches a message.
    fn accepts(&self, envelope: &Envelope) -> bool {
        self.receive.from.is_none_or(|from| from == envelope.from) && self.receive.tag.accepts(envelope.tag)
    }
}

/// The sender and the tag of a message, and of a receive that accepts no others.
type Key = (TaskId, Tag);

/// Items in their order, which are found by their keys too.
#[derive(Clone, Debug)]
struct Line<T> {
    /// By number: the items. Numbers grow.
    items: BTreeMap<u64, T>,
    /// Keys with the numbers of their items.
    keys: BTreeSet<(Key, u64)>,
    /// The number of the next item.
    next: u64,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { items: BTreeMap::new(), keys: BTreeSet::new(), next: 0 }
    }
}

impl<T> Line<T> {
    /// Appends an item, which has a key or none.
    fn push(&mut self, key: Option<Key>, item: T) {
        if let Some(key) = key {
            self.keys.insert((key, self.next));
        }
        self.items.insert(self.next, item);
        self.next += 1;
    }

    /// The number of the first item with a key.
    fn first(&self, key: Key) -> Option<u64> {
        self.keys.range((key, 0)..=(key, u64::MAX)).next().map(|&(_, number)| number)
    }

    /// Removes an item with its key.
    fn remove(&mut self, key: Option<Key>, number: u64) -> Option<T> {
        if let Some(key) = key {
            self.keys.remove(&(key, number));
        }
        self.items.remove(&number)
    }
}

/// Receives that wait for messages, and messages that wait for receives; either type may carry additional data.
#[derive(Clone, Debug)]
pub struct Mailbox<P = Posted, E = Envelope> {
    /// Receives without a message, in the order of posting; those that accept several keys have none.
    posted: Line<P>,
    /// Numbers of the receives without a key.
    open: BTreeSet<u64>,
    /// Messages without a receive, in order of arrival.
    unexpected: Line<E>,
}

impl<P, E> Default for Mailbox<P, E> {
    fn default() -> Self {
        Self { posted: Line::default(), open: BTreeSet::new(), unexpected: Line::default() }
    }
}

impl<P: Borrow<Posted>, E: Borrow<Envelope>> Mailbox<P, E> {
    /// Posts a receive. If a matching message is present, removes and returns the message instead.
    pub fn post(&mut self, posted: P) -> Option<E> {
        let key = posted.borrow().key();
        let found = match key {
            Some(key) => self.unexpected.first(key),
            None => {
                let mut messages = self.unexpected.items.iter();
                messages.find(|(_, message)| posted.borrow().accepts((*message).borrow())).map(|(&number, _)| number)
            }
        };
        let Some(number) = found else {
            if key.is_none() {
                self.open.insert(self.posted.next);
            }
            self.posted.push(key, posted);
            return None;
        };
        let key = key.or_else(|| self.unexpected.items.get(&number).map(|message| message.borrow().key()));
        self.unexpected.remove(key, number)
    }

    /// Passes a message. If a matching receive is waiting, removes and returns the receive.
    pub fn arrive(&mut self, envelope: E) -> Option<P> {
        let key = envelope.borrow().key();
        let of_key = self.posted.first(key);
        let accepts =
            |number: &&u64| self.posted.items.get(number).is_some_and(|p| p.borrow().accepts(envelope.borrow()));
        let open = self.open.iter().take_while(|&&number| of_key.is_none_or(|first| number < first)).find(accepts);
        match (open.copied(), of_key) {
            (Some(number), _) => {
                self.open.remove(&number);
                self.posted.remove(None, number)
            }
            (None, Some(number)) => self.posted.remove(Some(key), number),
            (None, None) => {
                self.unexpected.push(Some(key), envelope);
                None
            }
        }
    }

    /// The mailbox with its receives and messages replaced, in their order.
    #[must_use]
    pub fn replaced(self, receive: impl Fn(P) -> P, message: impl Fn(E) -> E) -> Self {
        let mut mailbox = Self::default();
        for posted in self.posted.items.into_values().map(receive) {
            let key = posted.borrow().key();
            if key.is_none() {
                mailbox.open.insert(mailbox.posted.next);
            }
            mailbox.posted.push(key, posted);
        }
        for envelope in self.unexpected.items.into_values().map(message) {
            mailbox.unexpected.push(Some(envelope.borrow().key()), envelope);
        }
        mailbox
    }

    /// Number of unreceived messages.
    #[must_use]
    pub fn unexpected(&self) -> usize {
        self.unexpected.items.len()
    }

    /// Unreceived messages, in order of arrival.
    pub fn unreceived(&self) -> impl Iterator<Item = &E> {
        self.unexpected.items.values()
    }

    /// Unmatched receives, in the order of posting.
    pub fn unserved(&self) -> impl Iterator<Item = &P> {
        self.posted.items.values()
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

    /// Random receives and messages match as in a search one by one.
    #[test]
    fn keys_find_what_a_search_finds() {
        let mut mailbox = Mailbox::default();
        let (mut posted, mut unexpected): (Vec<Posted>, Vec<Envelope>) = (Vec::new(), Vec::new());
        for step in 0..20_000u64 {
            let draw = |what: u64, bound: u32| crate::rng::pick(crate::rng::mix2(step, what), bound);
            let (from, label) = (draw(1, 4), i64::from(draw(2, 3)));
            if draw(0, 2) == 0 {
                let from = (draw(3, 5) > 0).then_some(from);
                let asked = receive(from, (draw(4, 5) > 0).then_some(label), step as u32);
                let at = unexpected.iter().position(|message| asked.accepts(message));
                assert_eq!(mailbox.post(asked), at.map(|at| unexpected.remove(at)));
                posted.extend(at.is_none().then_some(asked));
            } else {
                let sent = Envelope { announced: Some(step as u32), ..message(from, label) };
                let at = posted.iter().position(|asked| asked.accepts(&sent));
                assert_eq!(mailbox.arrive(sent), at.map(|at| posted.remove(at)));
                unexpected.extend(at.is_none().then_some(sent));
            }
            assert!(step % 100 > 0 || mailbox.unserved().eq(&posted) && mailbox.unreceived().eq(&unexpected));
            if step % 1000 == 0 {
                mailbox = mailbox.replaced(|posted| posted, |envelope| envelope);
            }
        }
        assert!(!unexpected.is_empty() || !posted.is_empty());
    }

    #[test]
    fn contexts_never_mix() {
        let mut mailbox = Mailbox::default();
        mailbox.arrive(Envelope { from: TaskId(0), tag: Tag::collective(1), announced: None });
        assert_eq!(mailbox.post(receive(None, None, 0)), None);
        assert_eq!(mailbox.unexpected(), 1);
    }
}
