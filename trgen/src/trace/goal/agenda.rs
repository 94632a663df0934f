//! The queue of future events, in order of time and number.
//!
//! A CPU is free again, and a message arrives, after some thousand units of time: nearly all entries go straight to the
//! list of their time in a calendar of days of one unit. Where ranks work in lockstep, thousands have the same time;
//! they come in the order of their numbers, except for the few that are inserted a second time. An entry may be at an
//! earlier time than the last one removed, on a CPU that lags behind others of its host.

use crate::calendar::{Calendar, Event};

/// An item of the agenda.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Item {
    /// Operation `node` of `host` is ready to start.
    Operation { host: u32, node: u32 },
    /// The message of send operation `node` of `host` arrives at its destination.
    Message { host: u32, node: u32 },
    /// The message of send operation `node` of `host` has arrived, and belongs to operation `receive` of its destination
    /// (graphs with streams).
    Matched { host: u32, node: u32, receive: u32 },
    /// Operation `node` of `host` ends (graphs with streams).
    Finish { host: u32, node: u32 },
    /// The first of the items that wait in `queue` of `host` tries again to get its resources.
    Retry { host: u32, queue: u32 },
}

/// An item with its time and number, which determine the order of removal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Entry {
    /// \[ticks\]
    pub(super) time: u64,
    /// Distinguishes entries at the same time: the lower number is removed first.
    pub(super) number: u64,
    pub(super) item: Item,
}

impl Event for Entry {
    #[inline(always)]
    fn time(&self) -> u64 {
        self.time
    }
}

/// All future events.
#[derive(Clone, Debug)]
pub(super) struct Agenda {
    /// Root operations, by host and node. Their time is zero, and their number is their position. They precede all
    /// other entries.
    roots: Vec<(u32, u32)>,
    /// Number of roots removed so far.
    roots_taken: usize,
    /// All other entries.
    entries: Calendar<Entry>,
}

impl Agenda {
    /// An agenda with these operations, by host and node, at time zero; their numbers are their positions.
    pub(super) fn new(roots: Vec<(u32, u32)>) -> Self {
        Self { roots, roots_taken: 0, entries: Calendar::new(1, 1) }
    }

    /// Inserts an entry.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        self.entries.add(entry);
    }

    /// Time of the next entry.
    pub(super) fn next_time(&self) -> Option<u64> {
        if self.roots_taken < self.roots.len() { Some(0) } else { self.entries.next_time() }
    }

    /// Removes the next entry. Called once for every event.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Entry> {
        if let Some(&(host, node)) = self.roots.get(self.roots_taken) {
            let number = self.roots_taken as u64;
            self.roots_taken += 1;
            return Some(Entry { time: 0, number, item: Item::Operation { host, node } });
        }
        self.entries.pop()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// With entries before and after the current time, removal always yields the least entry.
        #[test]
        fn the_least_comes_first(steps in proptest::collection::vec((0..3_u8, 0..50_u64, 0..40_u32), 0..300)) {
            let mut agenda = Agenda::new(Vec::new());
            let mut plain = BTreeSet::new();
            let mut numbers: Vec<u64> = (0..300).collect();
            let mut now = 0_u64;
            for (what, gap, shift) in steps {
                if what == 0 {
                    prop_assert_eq!(agenda.next_time(), plain.first().map(|entry: &Entry| entry.time));
                    let popped = agenda.pop();
                    prop_assert_eq!(popped, plain.pop_first());
                    now = popped.map_or(now, |entry| entry.time);
                } else {
                    // Numbers mostly ascend; a time may precede the last one.
                    let number = numbers.remove(if what == 1 { 0 } else { gap as usize % numbers.len().min(8) });
                    let time = if gap < 3 { now.saturating_sub(gap) } else { now.saturating_add(gap << shift) };
                    let entry = Entry { time, number, item: Item::Operation { host: shift, node: 0 } };
                    agenda.push(entry);
                    plain.insert(entry);
                }
            }
            while let Some(entry) = plain.pop_first() {
                prop_assert_eq!(agenda.pop(), Some(entry));
            }
            prop_assert_eq!(agenda.pop(), None);
        }
    }
}
