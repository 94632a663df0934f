//! The queue of everything that is to happen, in order of time and number.
//!
//! Nearly always what enters is not earlier than what was taken out last. So entries lie in **buckets** by the highest
//! hexadecimal digit in which their time differs from the last one taken, and by what that digit is (a radix heap; Ahuja,
//! Mehlhorn, Orlin, Tarjan, *Faster Algorithms for the Shortest Path Problem*, J. ACM 1990): entering is one push, and an
//! entry moves to a nearer bucket at most once for each digit. A bucket keeps the order in which entries came, which is that
//! of their numbers but for the few that enter a second time. What does enter at an earlier time (on a CPU that is behind
//! others of its host) goes into a heap of its own.

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

/// Bits of a digit of a time.
const BITS: u32 = 4;
/// Digits of a time.
const DIGITS: usize = 16;
/// Values of a digit.
const VALUES: usize = 1 << BITS;

/// Everything that is to happen.
#[derive(Clone, Debug)]
pub(super) struct Agenda {
    /// Root operations: their time is zero, their number their position. All of them come before anything else.
    roots: Vec<(u32, u32)>,
    roots_taken: usize,
    /// Time of what was taken last from below.
    now: u64,
    /// Of this time, by number, from `current_taken` on.
    current: Vec<Entry>,
    current_taken: usize,
    /// Buckets, by digit and its value: times that differ from `now` in this digit and in none above it.
    later: Vec<Vec<Entry>>,
    /// Which buckets of each digit hold something, by value.
    filled: [u16; DIGITS],
    /// Which digits have such buckets.
    digits: u16,
    earlier: BinaryHeap<Reverse<Entry>>,
}

impl Default for Agenda {
    fn default() -> Self {
        Self {
            roots: Vec::new(),
            roots_taken: 0,
            now: 0,
            current: Vec::new(),
            current_taken: 0,
            later: vec![Vec::new(); DIGITS * VALUES],
            filled: [0; DIGITS],
            digits: 0,
            earlier: BinaryHeap::new(),
        }
    }
}

impl Agenda {
    /// Puts in an operation of time zero, before anything else; its number is how many came before it.
    pub(super) fn push_root(&mut self, host: u32, node: u32) {
        self.roots.push((host, node));
    }

    pub(super) fn push(&mut self, entry: Entry) {
        match entry.time.cmp(&self.now) {
            std::cmp::Ordering::Greater => self.put(entry),
            std::cmp::Ordering::Equal => self.put_now(entry),
            std::cmp::Ordering::Less => self.earlier.push(Reverse(entry)),
        }
    }

    /// Into the bucket of a later time.
    fn put(&mut self, entry: Entry) {
        let digit = (entry.time ^ self.now).ilog2() / BITS;
        let value = (entry.time >> (digit * BITS)) as usize % VALUES;
        let digit = digit as usize;
        self.digits |= 1 << digit;
        self.filled[digit] |= 1 << value;
        self.later[digit * VALUES + value].push(entry);
    }

    fn put_now(&mut self, entry: Entry) {
        if self.current.last().is_some_and(|last| last.number > entry.number) {
            let place = self.current[self.current_taken..].partition_point(|other| other.number < entry.number);
            self.current.insert(self.current_taken + place, entry);
        } else {
            self.current.push(entry);
        }
    }

    /// Time of what comes next.
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
        let (digit, value) = self.first_bucket()?;
        self.later[digit * VALUES + value].iter().map(|entry| entry.time).min()
    }

    /// Digit and value of the bucket of the times that come next.
    fn first_bucket(&self) -> Option<(usize, usize)> {
        if self.digits == 0 {
            return None;
        }
        let digit = self.digits.trailing_zeros() as usize;
        Some((digit, self.filled[digit].trailing_zeros() as usize))
    }

    pub(super) fn pop(&mut self) -> Option<Entry> {
        if let Some(&(host, node)) = self.roots.get(self.roots_taken) {
            let number = self.roots_taken as u64;
            self.roots_taken += 1;
            return Some(Entry { time: 0, number, item: Item::Operation { host, node } });
        }
        if let Some(Reverse(entry)) = self.earlier.pop() {
            return Some(entry);
        }
        if self.current_taken == self.current.len() {
            self.advance()?;
        }
        let entry = self.current[self.current_taken];
        self.current_taken += 1;
        Some(entry)
    }

    /// Goes on to the next time at which there is something; nothing is left of the present one.
    fn advance(&mut self) -> Option<()> {
        self.current.clear();
        self.current_taken = 0;
        let (digit, value) = self.first_bucket()?;
        self.filled[digit] &= !(1 << value);
        if self.filled[digit] == 0 {
            self.digits &= !(1 << digit);
        }
        let place = digit * VALUES + value;
        if digit == 0 {
            // All of one time. The room is kept.
            std::mem::swap(&mut self.current, &mut self.later[place]);
            self.now = self.current.first()?.time;
        } else {
            let mut bucket = std::mem::take(&mut self.later[place]);
            self.now = bucket.iter().map(|entry| entry.time).min()?;
            for entry in bucket.drain(..) {
                if entry.time == self.now {
                    self.current.push(entry);
                } else {
                    self.put(entry);
                }
            }
            self.later[place] = bucket;
        }
        if !self.current.is_sorted_by_key(|entry| entry.number) {
            self.current.sort_unstable_by_key(|entry| entry.number);
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
        /// Whatever enters, before or after the time that was reached: always the least of what is there.
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
                    // Numbers mostly ascend; a time may lie before the last one.
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
