//! What is to happen later than the wheel reaches: a radix heap of its blocks.
//!
//! Entries lie in **buckets** by the highest hexadecimal digit in which their block differs from the last one that has been
//! moved to the wheel, and by what that digit is. Entering is one push, and an entry moves to a nearer bucket at most once
//! for each digit.
//!
//! Source: Ahuja, Mehlhorn, Orlin, Tarjan, *Faster Algorithms for the Shortest Path Problem*, J. ACM 1990.

use super::agenda::Entry;
use super::wheel::block_of;

/// Bits of a digit of a block's number.
const BITS: u32 = 4;
/// Digits of a block's number.
const DIGITS: usize = 16;
/// Values of a digit.
const VALUES: usize = 1 << BITS;

/// Entries of later blocks.
#[derive(Clone, Debug)]
pub(super) struct Far {
    /// All entries are of later blocks than this one.
    last: u64,
    /// Buckets, by digit and its value: blocks that differ from `last` in this digit and in none above it.
    buckets: Vec<Vec<Entry>>,
    /// Which buckets of each digit hold something, by value.
    filled: [u16; DIGITS],
    /// Which digits have such buckets.
    digits: u16,
}

impl Default for Far {
    fn default() -> Self {
        Self { last: 0, buckets: vec![Vec::new(); DIGITS * VALUES], filled: [0; DIGITS], digits: 0 }
    }
}

/// The highest digit in which two numbers differ.
const fn highest(one: u64, other: u64) -> usize {
    ((one ^ other).ilog2() / BITS) as usize
}

/// A digit of a number.
const fn value(number: u64, digit: usize) -> usize {
    (number >> (digit as u32 * BITS)) as usize % VALUES
}

impl Far {
    /// Adds an entry of a block after the last one that was moved.
    pub(super) fn push(&mut self, entry: Entry) {
        let block = block_of(entry.time);
        let digit = highest(block, self.last);
        let value = value(block, digit);
        self.digits |= 1 << digit;
        self.filled[digit] |= 1 << value;
        self.buckets[digit * VALUES + value].push(entry);
    }

    /// Time of what comes next.
    pub(super) fn next_time(&self) -> Option<u64> {
        if self.digits == 0 {
            return None;
        }
        let digit = self.digits.trailing_zeros() as usize;
        let value = self.filled[digit].trailing_zeros() as usize;
        self.buckets[digit * VALUES + value].iter().map(|entry| entry.time).min()
    }

    /// Moves the entries of all blocks up to `last`, in the order in which they came within each time.
    pub(super) fn take_until(&mut self, last: u64, near: &mut impl FnMut(Entry)) {
        let before = std::mem::replace(&mut self.last, last);
        if self.digits == 0 || before == last {
            return;
        }
        // Buckets of lower digits, and of lower values of this one, are moved as they are.
        let highest = highest(before, last);
        let same = value(last, highest);
        for digit in 0..=highest {
            while self.filled[digit] != 0 {
                let value = self.filled[digit].trailing_zeros() as usize;
                if digit == highest && value >= same {
                    break;
                }
                self.empty(digit, value, near, last);
            }
        }
        if self.filled[highest] & 1 << same != 0 {
            self.empty(highest, same, near, last);
        }
    }

    /// Empties a bucket; what is later than `last` goes into buckets of lower digits.
    fn empty(&mut self, digit: usize, value: usize, near: &mut impl FnMut(Entry), last: u64) {
        self.filled[digit] &= !(1 << value);
        if self.filled[digit] == 0 {
            self.digits &= !(1 << digit);
        }
        let mut bucket = std::mem::take(&mut self.buckets[digit * VALUES + value]);
        for entry in bucket.drain(..) {
            if block_of(entry.time) <= last { near(entry) } else { self.push(entry) }
        }
        // The room is kept.
        self.buckets[digit * VALUES + value] = bucket;
    }
}
