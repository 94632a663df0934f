//! MPI's matching of receives with messages, for one task.
//!
//! A receive takes the earliest message that it accepts, a message goes to the earliest receive that accepts it. The
//! messages of one sender must be passed in the order in which they were sent (MPI's non-overtaking rule);
//! [`Replay`](super::replay::Replay) ensures this, whatever the order of their deliveries.
//!
//! Decision: docs/decisions/0004-message-order.md.

use std::borrow::Borrow;
use std::collections::{BTreeSet, VecDeque};

use super::program::{Receive, Request, Tag, TagFilter};
use crate::hashing::Table;
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

/// In [`Slot::next`]: no other item has the key.
const NONE: u64 = u64::MAX;

/// Place of an item in its line.
#[derive(Clone, Debug)]
struct Slot<T> {
    /// Number of the item.
    number: u64,
    /// Number of the next item with the same key, or [`NONE`].
    next: u64,
    /// The item, until it is removed.
    item: Option<T>,
}

/// Items in their order, which are found by their keys too. An item with a key is removed before later ones with the
/// same key.
#[derive(Clone, Debug)]
struct Line<T> {
    /// The items by their numbers, which grow, among items that were removed.
    slots: VecDeque<Slot<T>>,
    /// \[items\] Number of items.
    count: usize,
    /// By key: the numbers of the first and the last item with it.
    keys: Table<Key, (u64, u64)>,
    /// The number of the next item.
    next: u64,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { slots: VecDeque::new(), count: 0, keys: Table::default(), next: 0 }
    }
}

impl<T> Line<T> {
    /// \[slots\] Number of removed items that a line may keep beside as many as it has.
    const GONE: usize = 64;

    /// Appends an item, which has a key or none.
    fn push(&mut self, key: Option<Key>, item: T) {
        let number = self.next;
        if let Some(key) = key {
            let mut last = None;
            self.keys
                .entry(key)
                .and_modify(|ends| last = Some(std::mem::replace(&mut ends.1, number)))
                .or_insert((number, number));
            if let Some(at) = last.and_then(|last| self.place(last)) {
                self.slots[at].next = number;
            }
        }
        self.slots.push_back(Slot { number, next: NONE, item: Some(item) });
        self.count += 1;
        self.next += 1;
    }

    /// Index of the slot of an item.
    fn place(&self, number: u64) -> Option<usize> {
        // Where nothing was removed from the midst, numbers follow one another.
        let guess = number.checked_sub(self.slots.front()?.number)? as usize;
        match self.slots.get(guess) {
            Some(slot) if slot.number == number => Some(guess),
            _ => self.slots.binary_search_by_key(&number, |slot| slot.number).ok(),
        }
    }

    /// The number of the first item with a key.
    fn first(&self, key: Key) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        self.keys.get(&key).map(|&(first, _)| first)
    }

    /// An item.
    fn get(&self, number: u64) -> Option<&T> {
        self.slots[self.place(number)?].item.as_ref()
    }

    /// The items in their order, with their numbers.
    fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.slots.iter().filter_map(|slot| Some((slot.number, slot.item.as_ref()?)))
    }

    /// The items in their order.
    fn into_items(self) -> impl Iterator<Item = T> {
        self.slots.into_iter().filter_map(|slot| slot.item)
    }

    /// Removes an item, which is the first one with its key, if it has one.
    fn remove(&mut self, key: Option<Key>, number: u64) -> Option<T> {
        let at = self.place(number)?;
        let item = self.slots[at].item.take()?;
        if let Some(key) = key {
            match self.slots[at].next {
                NONE => {
                    self.keys.remove(&key);
                }
                next => {
                    self.keys.entry(key).and_modify(|ends| ends.0 = next);
                }
            }
        }
        self.count -= 1;
        while self.slots.front().is_some_and(|slot| slot.item.is_none()) {
            self.slots.pop_front();
        }
        if self.slots.len() > 2 * self.count + Self::GONE {
            self.slots.retain(|slot| slot.item.is_some());
        }
        Some(item)
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
                let mut messages = self.unexpected.iter();
                messages.find(|(_, message)| posted.borrow().accepts((*message).borrow())).map(|(number, _)| number)
            }
        };
        let Some(number) = found else {
            if key.is_none() {
                self.open.insert(self.posted.next);
            }
            self.posted.push(key, posted);
            return None;
        };
        let key = key.or_else(|| self.unexpected.get(number).map(|message| message.borrow().key()));
        self.unexpected.remove(key, number)
    }

    /// Passes a message. If a matching receive is waiting, removes and returns the receive.
    pub fn arrive(&mut self, envelope: E) -> Option<P> {
        let key = envelope.borrow().key();
        let of_key = self.posted.first(key);
        let accepts = |number: &&u64| self.posted.get(**number).is_some_and(|p| p.borrow().accepts(envelope.borrow()));
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
        Self::of(self.posted.into_items().map(receive), self.unexpected.into_items().map(message))
    }

    /// A mailbox with these receives and messages, of which none match, in the order of posting and of arrival.
    #[must_use]
    pub fn of(receives: impl IntoIterator<Item = P>, messages: impl IntoIterator<Item = E>) -> Self {
        let mut mailbox = Self::default();
        for posted in receives {
            let key = posted.borrow().key();
            if key.is_none() {
                mailbox.open.insert(mailbox.posted.next);
            }
            mailbox.posted.push(key, posted);
        }
        for envelope in messages {
            mailbox.unexpected.push(Some(envelope.borrow().key()), envelope);
        }
        mailbox
    }

    /// Number of unreceived messages.
    #[must_use]
    pub fn unexpected(&self) -> usize {
        self.unexpected.count
    }

    /// Unreceived messages, in order of arrival.
    pub fn unreceived(&self) -> impl Iterator<Item = &E> {
        self.unexpected.iter().map(|(_, message)| message)
    }

    /// Unmatched receives, in the order of posting.
    pub fn unserved(&self) -> impl Iterator<Item = &P> {
        self.posted.iter().map(|(_, posted)| posted)
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
            // A receive that nothing matches stays at the front of a line from which much is removed.
            if step == 10 {
                let never = receive(Some(9), Some(9), 0);
                assert_eq!(mailbox.post(never), None);
                posted.push(never);
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
