//! Events beyond the reach of the wheel: a radix heap of its blocks.
//!
//! Entries are in **buckets** by the highest hexadecimal digit in which their block differs from the last block moved
//! to the wheel, and by the value of that digit. Insertion is one push, and an entry moves to a nearer bucket at most
//! once per digit.
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
    /// The last block moved; all entries belong to later ones.
    last: u64,
    /// Buckets, by digit and value: blocks that differ from `last` in this digit and in no higher one.
    buckets: Vec<Vec<Entry>>,
    /// Nonempty buckets of each digit: one bit per value.
    filled: [u16; DIGITS],
    /// Digits with nonempty buckets: one bit per digit.
    digits: u16,
}

impl Default for Far {
    fn default() -> Self {
        Self { last: 0, buckets: vec![Vec::new(); DIGITS * VALUES], filled: [0; DIGITS], digits: 0 }
    }
}

/// The highest digit in which two different numbers differ.
const fn highest_difference(one: u64, other: u64) -> usize {
    ((one ^ other).ilog2() / BITS) as usize
}

/// The value of a digit of a number.
const fn digit_value(number: u64, digit: usize) -> usize {
    (number >> (digit as u32 * BITS)) as usize % VALUES
}

impl Far {
    /// Adds an entry of a block after the last one moved.
    pub(super) fn push(&mut self, entry: Entry) {
        let block = block_of(entry.time);
        let digit = highest_difference(block, self.last);
        let value = digit_value(block, digit);
        self.digits |= 1 << digit;
        self.filled[digit] |= 1 << value;
        self.buckets[digit * VALUES + value].push(entry);
    }

    /// Time of the next entry.
    pub(super) fn next_time(&self) -> Option<u64> {
        if self.digits == 0 {
            return None;
        }
        let digit = self.digits.trailing_zeros() as usize;
        let value = self.filled[digit].trailing_zeros() as usize;
        self.buckets[digit * VALUES + value].iter().map(|entry| entry.time).min()
    }

    /// Passes the entries of all blocks up to `last` to `near`, in order of insertion within each time.
    pub(super) fn take_until(&mut self, last: u64, near: &mut impl FnMut(Entry)) {
        let before = std::mem::replace(&mut self.last, last);
        if self.digits == 0 || before == last {
            return;
        }
        // Buckets of lower digits, and of lower values of the highest digit, are moved as a whole.
        let highest = highest_difference(before, last);
        let same = digit_value(last, highest);
        for digit in 0..=highest {
            while self.filled[digit] != 0 {
                let value = self.filled[digit].trailing_zeros() as usize;
                if digit == highest && value >= same {
                    break;
                }
                self.empty_bucket(digit, value, near, last);
            }
        }
        if self.filled[highest] & 1 << same != 0 {
            self.empty_bucket(highest, same, near, last);
        }
    }

    /// Empties a bucket; entries later than `last` go into buckets of lower digits.
    fn empty_bucket(&mut self, digit: usize, value: usize, near: &mut impl FnMut(Entry), last: u64) {
        self.filled[digit] &= !(1 << value);
        if self.filled[digit] == 0 {
            self.digits &= !(1 << digit);
        }
        let mut bucket = std::mem::take(&mut self.buckets[digit * VALUES + value]);
        for entry in bucket.drain(..) {
            if block_of(entry.time) <= last { near(entry) } else { self.push(entry) }
        }
        // The allocation is kept.
        self.buckets[digit * VALUES + value] = bucket;
    }
}
