//! Receives without a message and messages without a receive, in a list for each pair of tasks.
//!
//! A receive that names its sender and one tag can only meet a message of one pair, and programs nearly always receive
//! the messages of a pair in the order in which they were sent: the first one of the list. A task with receives that
//! accept more, or that takes messages in quite another order, has a [`Mailbox`](crate::trace::matching::Mailbox)
//! instead, from then on.
//!
//! Decision: docs/decisions/0591-lists-of-pairs.md.

use std::collections::BTreeMap;

use super::Replay;
use super::report::{PostedReceive, SentMessage};
use crate::hashing::Table;
use crate::trace::matching::Mailbox;
use crate::trace::program::TagFilter;
use crate::units::TaskId;

/// In place of a handle: there is none.
const NONE: u32 = u32::MAX;

/// \[items\] So many items of a list are looked at; then the task gets a mailbox.
const FAR: usize = 64;

/// Largest number of tasks whose pairs are numbered in a table of all.
const TABLED: usize = 2048;

/// A list of items.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    first: u32,
    last: u32,
}

impl List {
    pub(super) const EMPTY: Self = Self { first: NONE, last: NONE };
}

/// An item of a list.
#[derive(Clone, Debug)]
struct Linked<T> {
    item: T,
    /// Its number among all items, by which they are ordered.
    number: u64,
    /// The next item of the list, or of the vacant places.
    next: u32,
}

/// The items of many lists.
#[derive(Clone, Debug)]
pub(super) struct Lists<T> {
    places: Vec<Linked<T>>,
    /// The first vacant place.
    vacant: u32,
    /// \[items\] Number of items in all lists.
    pub(super) count: usize,
    /// The number of the next item.
    next: u64,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { places: Vec::new(), vacant: NONE, count: 0, next: 0 }
    }
}

impl<T: Copy> Lists<T> {
    /// Appends an item to a list.
    pub(super) fn push(&mut self, list: &mut List, item: T) {
        let linked = Linked { item, number: self.next, next: NONE };
        (self.next, self.count) = (self.next + 1, self.count + 1);
        let at = self.vacant;
        let at = match self.places.get_mut(at as usize) {
            Some(place) => {
                self.vacant = place.next;
                *place = linked;
                at
            }
            None => {
                self.places.push(linked);
                (self.places.len() - 1) as u32
            }
        };
        match self.places.get_mut(list.last as usize) {
            Some(last) => last.next = at,
            None => list.first = at,
        }
        list.last = at;
    }

    /// Takes the first item that fits. `Err` if that is not known after [`FAR`] items.
    fn take(&mut self, list: &mut List, fits: impl Fn(&T) -> bool) -> Result<Option<T>, ()> {
        let (mut before, mut at) = (NONE, list.first);
        for _ in 0..FAR {
            let Some(place) = self.places.get_mut(at as usize) else { return Ok(None) };
            let (item, next) = (place.item, place.next);
            if !fits(&item) {
                (before, at) = (at, next);
                continue;
            }
            place.next = std::mem::replace(&mut self.vacant, at);
            match self.places.get_mut(before as usize) {
                Some(before) => before.next = next,
                None => list.first = next,
            }
            if next == NONE {
                list.last = before;
            }
            self.count -= 1;
            return Ok(Some(item));
        }
        Err(())
    }

    /// The items of a list in their order, with their numbers.
    fn iter(&self, list: List) -> impl Iterator<Item = (u64, T)> {
        let place = |at: u32| self.places.get(at as usize);
        std::iter::successors(place(list.first), move |linked| place(linked.next))
            .map(|linked| (linked.number, linked.item))
    }

    /// Changes the items of a list.
    pub(super) fn change(&mut self, list: List, each: impl Fn(T) -> T) {
        let mut at = list.first;
        while let Some(linked) = self.places.get_mut(at as usize) {
            linked.item = each(linked.item);
            at = linked.next;
        }
    }

    /// Removes all items of a list.
    fn clear(&mut self, list: &mut List) {
        while let Ok(Some(_)) = self.take(list, |_| true) {}
    }
}

/// The numbers of pairs of tasks.
#[derive(Clone, Debug)]
pub(super) struct PairNumbers {
    /// Number of tasks of which all pairs are in the table; 0 if there is none.
    tabled: usize,
    /// By sender and receiver: 1 more than the number of the pair, or 0.
    table: Vec<u32>,
    others: Table<(TaskId, TaskId), u32>,
}

impl PairNumbers {
    pub(super) fn new(tasks: usize) -> Self {
        let tabled = if tasks <= TABLED { tasks } else { 0 };
        Self { tabled, table: vec![0; tabled * tabled], others: Table::default() }
    }

    /// The number of a pair, which is `next` if it has none yet.
    #[inline]
    pub(super) fn number(&mut self, from: TaskId, to: TaskId, next: u32) -> u32 {
        if self.tabled == 0 {
            return *self.others.entry((from, to)).or_insert(next);
        }
        let place = &mut self.table[from.index() * self.tabled + to.index()];
        if *place == 0 {
            *place = next + 1;
        }
        *place - 1
    }
}

/// The waiting items of a task: receives in the order of posting, messages in the order of arrival.
type Waiting = (Vec<PostedReceive>, Vec<SentMessage>);

impl Replay {
    /// Posts a receive of a task. If a matching message is present, removes and returns it instead.
    pub(super) fn post(&mut self, id: TaskId, asked: PostedReceive) -> Option<SentMessage> {
        let receive = &asked.posted.receive;
        if let (false, Some(from), TagFilter::Exactly(tag)) =
            (self.tasks[id.index()].has_mailbox, receive.from, receive.tag)
        {
            let number = self.pair_number(from, id);
            let pair = &mut self.pairs[number as usize];
            match self.messages.take(&mut pair.messages, |message| message.envelope.tag == tag) {
                Ok(None) => {
                    self.receives.push(&mut pair.receives, asked);
                    return None;
                }
                Ok(found) => return found,
                Err(()) => {}
            }
        }
        self.give_mailbox(id);
        self.tasks[id.index()].mailbox.post(asked)
    }

    /// Passes a message of a pair to its receiver. If a matching receive is waiting, removes and returns it.
    pub(super) fn pass(&mut self, number: u32, to: TaskId, sent: SentMessage) -> Option<PostedReceive> {
        if !self.tasks[to.index()].has_mailbox {
            let pair = &mut self.pairs[number as usize];
            let wanted = TagFilter::Exactly(sent.envelope.tag);
            match self.receives.take(&mut pair.receives, |asked| asked.posted.receive.tag == wanted) {
                Ok(None) => {
                    self.messages.push(&mut pair.messages, sent);
                    return None;
                }
                Ok(found) => return found,
                Err(()) => {}
            }
        }
        self.give_mailbox(to);
        self.tasks[to.index()].mailbox.arrive(sent)
    }

    /// Gives a task a mailbox with what is in its lists.
    fn give_mailbox(&mut self, id: TaskId) {
        if self.tasks[id.index()].has_mailbox {
            return;
        }
        let (receives, messages) = self.waiting(id);
        for &number in &self.tasks[id.index()].incoming {
            let pair = &mut self.pairs[number as usize];
            self.receives.clear(&mut pair.receives);
            self.messages.clear(&mut pair.messages);
        }
        let task = &mut self.tasks[id.index()];
        task.has_mailbox = true;
        *task.mailbox = Mailbox::of(receives, messages);
    }

    /// What waits at a task.
    pub(super) fn waiting(&self, id: TaskId) -> Waiting {
        let task = &self.tasks[id.index()];
        if task.has_mailbox {
            return (task.mailbox.unserved().copied().collect(), task.mailbox.unreceived().copied().collect());
        }
        let pairs = || task.incoming.iter().map(|&number| &self.pairs[number as usize]);
        let receives: BTreeMap<u64, PostedReceive> =
            pairs().flat_map(|pair| self.receives.iter(pair.receives)).collect();
        let messages: BTreeMap<u64, SentMessage> = pairs().flat_map(|pair| self.messages.iter(pair.messages)).collect();
        (receives.into_values().collect(), messages.into_values().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_orders_and_reuse_places() {
        let mut all = Lists::<u64>::default();
        let mut lists = [List::EMPTY; 3];
        let mut plain: [Vec<u64>; 3] = Default::default();
        for step in 0..5_000u64 {
            let draw = |what: u64, bound: u64| crate::rng::mix2(step, what) % bound;
            let which = draw(0, 3) as usize;
            if draw(1, 20) < 11 {
                all.push(&mut lists[which], step % 7);
                plain[which].push(step % 7);
            } else {
                let wanted = draw(2, 7);
                let at = plain[which].iter().position(|&item| item == wanted);
                match all.take(&mut lists[which], |&item| item == wanted) {
                    Ok(found) => assert_eq!(found, at.map(|at| plain[which].remove(at))),
                    Err(()) => assert!(at.is_none_or(|at| at >= FAR) && plain[which].len() >= FAR),
                }
            }
            if step % 1_000 == 0 {
                all.clear(&mut lists[which]);
                plain[which].clear();
            }
            assert!(lists.iter().zip(&plain).all(|(&list, items)| {
                let numbers: Vec<u64> = all.iter(list).map(|(number, _)| number).collect();
                numbers.is_sorted() && all.iter(list).map(|(_, item)| item).eq(items.iter().copied())
            }));
            assert_eq!(all.count, plain.iter().map(Vec::len).sum::<usize>());
        }
        assert!(all.places.len() < 1_500);
    }

    #[test]
    fn pairs_are_numbered_alike_by_table_and_by_hash() {
        for tasks in [3, TABLED + 1] {
            let mut numbers = PairNumbers::new(tasks);
            let pairs = [(0, 1), (1, 0), (0, 1), (2, 2), (1, 0), (0, 2)];
            let mut next = 0;
            let found = pairs.map(|(from, to)| {
                let number = numbers.number(TaskId(from), TaskId(to), next);
                next = next.max(number + 1);
                number
            });
            assert_eq!(found, [0, 1, 0, 2, 1, 3]);
        }
    }
}
