//! Who waits for a busy CPU or network interface, and the queue of everything that is to happen.
//!
//! An item that finds its resources busy is put back with the time at which they will be free and keeps its number. With
//! thousands of items waiting for one CPU, each would be taken out and put back whenever any of them gets it. Items that
//! need the same resources are therefore kept together in a **queue by number**, and only the first of them stands in
//! the agenda. The order in which items get their resources is the same: putting back has no effect, and a time at which
//! an item was to look again is never later than that at which its resources are free, since those times only grow.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What is in the agenda.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Item {
    /// Operation `node` of `host` wants to start.
    Operation { host: u32, node: u32 },
    /// The message of send operation `node` of `host` arrives at its destination.
    Message { host: u32, node: u32 },
    /// The first of a queue of waiting items of `host` looks again.
    Look { host: u32, queue: u32 },
}

/// An item with its time and number; items are taken in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Entry {
    pub(super) time: u64,
    pub(super) number: u64,
    pub(super) item: Item,
}

/// Everything that is to happen, in order of time and number.
///
/// What enters with time and number not below those of the last such entry goes into a plain queue: at the start every
/// root operation enters at time zero, which can be millions.
#[derive(Clone, Default, Debug)]
pub(super) struct Agenda {
    heap: BinaryHeap<Reverse<Entry>>,
    /// Sorted, taken from `taken` on.
    roots: Vec<Entry>,
    taken: usize,
}

impl Agenda {
    /// Puts in an item of time zero, before anything was taken out; numbers ascend.
    pub(super) fn push_root(&mut self, entry: Entry) {
        self.roots.push(entry);
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.heap.push(Reverse(entry));
    }

    pub(super) fn peek(&self) -> Option<&Entry> {
        let root = self.roots.get(self.taken);
        match (root, self.heap.peek()) {
            (Some(root), Some(Reverse(other))) => Some(root.min(other)),
            (root, other) => root.or_else(|| other.map(|Reverse(entry)| entry)),
        }
    }

    pub(super) fn pop(&mut self) -> Option<Entry> {
        let Some(root) = self.roots.get(self.taken) else { return self.heap.pop().map(|Reverse(entry)| entry) };
        if self.heap.peek().is_some_and(|Reverse(other)| other < root) {
            return self.heap.pop().map(|Reverse(entry)| entry);
        }
        let root = *root;
        self.taken += 1;
        Some(root)
    }
}

/// The resources that an item needs, on its host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Needs {
    pub(super) cpu: u8,
    pub(super) nic: Nic,
}

/// The side of a network interface that an item needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Nic {
    None,
    Sending(u8),
    Receiving(u8),
}

/// Items of one host that need the same resources, by number.
#[derive(Clone, Debug)]
pub(super) struct WaitQueue {
    pub(super) needs: Needs,
    items: BinaryHeap<Reverse<(u64, Item)>>,
    /// Where in the agenda the queue stands; other entries of it there are void.
    entry: Option<(u64, u64)>,
}

impl WaitQueue {
    pub(super) fn new(needs: Needs) -> Self {
        Self { needs, items: BinaryHeap::new(), entry: None }
    }

    /// Adds an item; what to put into the agenda, if the queue must be looked at earlier than it would be.
    pub(super) fn add(&mut self, number: u64, item: Item, free: u64) -> Option<(u64, u64)> {
        self.items.push(Reverse((number, item)));
        let at = (free, number);
        // An entry of an earlier time will look again, and find whoever is first then.
        if self.entry.is_some_and(|entry| entry <= at) {
            return None;
        }
        self.entry = Some(at);
        Some(at)
    }

    /// True if the entry of the agenda that was taken out is the one that counts.
    pub(super) fn is_due(&self, time: u64, number: u64) -> bool {
        self.entry == Some((time, number))
    }

    /// The number of the first item.
    pub(super) fn first(&self) -> Option<u64> {
        self.items.peek().map(|Reverse((number, _))| *number)
    }

    /// Takes the first item.
    pub(super) fn take(&mut self) -> Option<(u64, Item)> {
        self.items.pop().map(|Reverse(first)| first)
    }

    /// Says when to look at the first item again; what to put into the agenda.
    pub(super) fn look_again(&mut self, free: u64) -> Option<(u64, u64)> {
        self.entry = self.first().map(|number| (free, number));
        self.entry
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}
