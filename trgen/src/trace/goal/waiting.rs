//! Items waiting for a busy CPU or network interface.
//!
//! By the rules of the model, an item that finds its resources busy returns to the agenda, at the time at which they
//! will be free and with the same number. With thousands of items waiting for one CPU, each would be removed and
//! reinserted whenever any of them gets it. Items that need the same resources are therefore kept together in a **queue
//! by number**, and only the first is in the agenda. The order in which items get their resources is the same:
//! reinsertion has no effect, and the retry time of an item is never later than the time at which its resources are
//! free, since those times only increase.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::agenda::Item;

/// The resources that an item needs, on its host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Needs {
    pub(super) cpu: u8,
    pub(super) nic: Nic,
}

/// The side of a network interface that an item needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Nic {
    /// No network interface.
    None,
    /// The sending side of the interface with this number.
    Sending(u8),
    /// The receiving side of the interface with this number.
    Receiving(u8),
}

/// Items of one host that need the same resources, by number.
#[derive(Clone, Debug)]
pub(super) struct WaitQueue {
    pub(super) needs: Needs,
    /// Items that came in the order of their numbers, as nearly all do.
    in_order: VecDeque<(u64, Item)>,
    /// All other items.
    others: BinaryHeap<Reverse<(u64, Item)>>,
    /// Time and number of the queue's valid entry in the agenda; its other entries there are void.
    entry: Option<(u64, u64)>,
}

impl WaitQueue {
    /// A queue without items.
    pub(super) fn new(needs: Needs) -> Self {
        Self { needs, in_order: VecDeque::new(), others: BinaryHeap::new(), entry: None }
    }

    /// Adds an item whose resources are free at time `free` \[ticks\] at the earliest. Returns a new entry for the
    /// agenda, if the queue must be checked earlier than planned.
    pub(super) fn add(&mut self, number: u64, item: Item, free: u64) -> Option<(u64, u64)> {
        match self.in_order.back() {
            Some(&(last, _)) if last > number => self.others.push(Reverse((number, item))),
            _ => self.in_order.push_back((number, item)),
        }
        let at = (free, number);
        // An earlier entry will check the queue anyway, and find the item that is first then.
        if self.entry.is_some_and(|entry| entry <= at) {
            return None;
        }
        self.entry = Some(at);
        Some(at)
    }

    /// True if the entry removed from the agenda is the valid one.
    pub(super) fn is_due(&self, time: u64, number: u64) -> bool {
        self.entry == Some((time, number))
    }

    /// The number of the first item.
    pub(super) fn first(&self) -> Option<u64> {
        let other = self.others.peek().map(|Reverse((number, _))| *number);
        match (self.in_order.front(), other) {
            (Some(&(number, _)), Some(other)) => Some(number.min(other)),
            (Some(&(number, _)), None) => Some(number),
            (None, other) => other,
        }
    }

    /// Removes the first item.
    pub(super) fn take(&mut self) -> Option<(u64, Item)> {
        let first = self.first()?;
        if self.in_order.front().is_some_and(|&(number, _)| number == first) {
            return self.in_order.pop_front();
        }
        self.others.pop().map(|Reverse(first)| first)
    }

    /// Schedules the next check of the first item at time `free` \[ticks\]; returns the entry for the agenda. `None`
    /// for an empty queue.
    pub(super) fn reschedule(&mut self, free: u64) -> Option<(u64, u64)> {
        self.entry = self.first().map(|number| (free, number));
        self.entry
    }

    pub(super) fn is_empty(&self) -> bool {
        self.in_order.is_empty() && self.others.is_empty()
    }
}
