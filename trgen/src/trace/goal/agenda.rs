//! The queue of future events, in order of time and number.
//!
//! A new entry is nearly always at or shortly after the time of the last removed one: a CPU is free again after some
//! thousand units of time. Entries of the near future are therefore kept in a wheel ([`Wheel`]), and move to it from a
//! radix heap ([`Far`]) as their time approaches. Entries at an earlier time (on a CPU that lags behind others of its
//! host) go into a separate heap.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::far::Far;
use super::wheel::{Numbered, Wheel, block_of};

/// An item of the agenda.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Item {
    /// Operation `node` of `host` is ready to start.
    Operation { host: u32, node: u32 },
    /// The message of send operation `node` of `host` arrives at its destination.
    Message { host: u32, node: u32 },
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

/// All future events.
#[derive(Clone, Default, Debug)]
pub(super) struct Agenda {
    /// Root operations, by host and node. Their time is zero, and their number is their position. They precede all
    /// other entries.
    roots: Vec<(u32, u32)>,
    /// Number of roots removed so far.
    roots_taken: usize,
    /// Time of the last entry removed from the structures below.
    now: u64,
    /// Entries of the current time, sorted by number; those from index `current_taken` on remain. While any remains,
    /// the wheel holds no entry of this time.
    current: Vec<Numbered>,
    current_taken: usize,
    /// Entries of the near future.
    near: Wheel,
    /// Entries beyond the wheel.
    far: Far,
    /// Entries before the current time.
    earlier: BinaryHeap<Reverse<Entry>>,
}

impl Agenda {
    /// An agenda with these operations, by host and node, at time zero; their numbers are their positions.
    pub(super) fn new(roots: Vec<(u32, u32)>) -> Self {
        Self { roots, ..Self::default() }
    }

    /// Inserts an entry.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        let now = entry.time == self.now && self.current_taken < self.current.len();
        if entry.time < self.now || now || !self.near.reaches(entry.time) {
            self.push_elsewhere(entry);
        } else {
            self.near.push(entry);
        }
    }

    /// Inserts an entry that does not go to the wheel.
    #[inline(never)]
    fn push_elsewhere(&mut self, entry: Entry) {
        match entry.time.cmp(&self.now) {
            Ordering::Less => self.earlier.push(Reverse(entry)),
            Ordering::Equal => self.push_now(Numbered { number: entry.number, item: entry.item }),
            Ordering::Greater => self.far.push(entry),
        }
    }

    /// Inserts among the remaining entries of the current time.
    fn push_now(&mut self, entry: Numbered) {
        if self.current.last().is_none_or(|last| last.number < entry.number) {
            return self.current.push(entry);
        }
        match self.current[self.current_taken..].partition_point(|other| other.number < entry.number) {
            // The entry precedes all remaining ones. It takes the place of a removed entry, so that no other is moved.
            0 if self.current_taken > 0 => {
                self.current_taken -= 1;
                self.current[self.current_taken] = entry;
            }
            place => self.current.insert(self.current_taken + place, entry),
        }
    }

    /// Time of the next entry.
    pub(super) fn next_time(&self) -> Option<u64> {
        if self.roots_taken < self.roots.len() {
            return Some(0);
        }
        if let Some(Reverse(entry)) = self.earlier.peek() {
            return Some(entry.time);
        }
        if self.current_taken < self.current.len() {
            return Some(self.now);
        }
        self.near.next_time().or_else(|| self.far.next_time())
    }

    /// Removes the next entry. Called once for every event.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Entry> {
        if let Some(&(host, node)) = self.roots.get(self.roots_taken) {
            let number = self.roots_taken as u64;
            self.roots_taken += 1;
            return Some(Entry { time: 0, number, item: Item::Operation { host, node } });
        }
        if !self.earlier.is_empty() {
            return self.earlier.pop().map(|Reverse(entry)| entry);
        }
        if let Some(&Numbered { number, item }) = self.current.get(self.current_taken) {
            self.current_taken += 1;
            return Some(Entry { time: self.now, number, item });
        }
        if !self.near.is_due() {
            self.advance()?;
        }
        self.current.clear();
        let entry = self.near.take(&mut self.current)?;
        // If the time has several entries, the returned one is the first of `current`.
        self.current_taken = usize::from(!self.current.is_empty());
        self.now = entry.time;
        Some(entry)
    }

    /// Advances the wheel to the next nonempty block; `None` if there is none.
    fn advance(&mut self) -> Option<()> {
        while !self.near.is_due() {
            let block = if self.near.is_empty() { block_of(self.far.next_time()?) } else { self.near.block() + 1 };
            self.near.set_block(block);
            let near = &mut self.near;
            self.far.take_until(near.last_block(), &mut |entry| near.push(entry));
        }
        Some(())
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
            let mut agenda = Agenda::default();
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
