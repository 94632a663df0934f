//! Calendar queues of items that become due in a later cycle or step, and sets of numbers.

/// A ring of lists, one for each of the next cycles.
#[derive(Debug)]
pub(super) struct Wheel<T> {
    /// By cycle modulo the number of slots: the items due.
    slots: Vec<Vec<T>>,
}

impl<T> Wheel<T> {
    /// A wheel for delays of up to `longest`.
    pub(super) fn new(longest: u64) -> Self {
        let size = (longest as usize + 2).next_power_of_two();
        Self { slots: (0..size).map(|_| Vec::new()).collect() }
    }

    /// Index of the slot for a cycle.
    #[inline(always)]
    fn slot(&self, time: u64) -> usize {
        time as usize & (self.slots.len() - 1)
    }

    /// Adds an item that is due at `time`: later than now, by no more than the longest delay.
    #[inline(always)]
    pub(super) fn add(&mut self, time: u64, item: T) {
        let slot = self.slot(time);
        self.slots[slot].push(item);
    }

    /// Takes the list of the items due now. The caller [returns](Self::restore) it, to reuse its memory.
    #[inline(always)]
    pub(super) fn take(&mut self, now: u64) -> Vec<T> {
        let slot = self.slot(now);
        std::mem::take(&mut self.slots[slot])
    }

    /// Takes back a list from [`take`](Self::take), and empties it.
    #[inline(always)]
    pub(super) fn restore(&mut self, now: u64, mut due: Vec<T>) {
        due.clear();
        let slot = self.slot(now);
        self.slots[slot] = due;
    }

    /// True if no item is due.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.iter().all(Vec::is_empty)
    }

    /// The first time from `now` on at which an item is due; `None` if there is none.
    pub(super) fn next(&self, now: u64) -> Option<u64> {
        (now..now + self.slots.len() as u64).find(|&time| !self.slots[self.slot(time)].is_empty())
    }
}

/// A set of numbers that is visited in their order.
#[derive(Debug)]
pub(super) struct Set {
    /// The numbers of the set, as bits of words.
    words: Vec<u64>,
}

impl Set {
    pub(super) fn new(size: usize) -> Self {
        Self { words: vec![0; size.div_ceil(64)] }
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, number: usize) {
        self.words[number / 64] |= 1 << (number % 64);
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, number: usize) {
        self.words[number / 64] &= !(1 << (number % 64));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Number of words.
    pub(super) const fn words(&self) -> usize {
        self.words.len()
    }

    /// Word `at` of the set: the numbers 64 x `at` to 64 x `at` + 63, as bits.
    #[inline(always)]
    pub(super) fn word(&self, at: usize) -> u64 {
        self.words[at]
    }
}

/// The positions of the bits that are set in a mask, in ascending order.
#[inline(always)]
pub(super) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let bit = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(bit)
    })
}

/// The position of the first bit that is set in a mask at or after `start` (0 to 64), cyclically. The mask must not be
/// empty.
#[inline(always)]
pub(super) fn first_from(mask: u64, start: usize) -> usize {
    let later = mask & u64::MAX.wrapping_shl(start as u32);
    (if later != 0 { later } else { mask }).trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_gives_what_is_due() {
        let mut wheel = Wheel::new(5);
        wheel.add(3, 'a');
        wheel.add(5, 'b');
        wheel.add(3, 'c');
        assert_eq!(wheel.next(1), Some(3));
        let due = wheel.take(3);
        assert_eq!(due, ['a', 'c']);
        wheel.restore(3, due);
        assert_eq!((wheel.next(4), wheel.is_empty()), (Some(5), false));
        assert_eq!(wheel.take(5), ['b']);
        assert_eq!((wheel.next(6), wheel.is_empty()), (None, true));
    }

    #[test]
    fn searches_go_round() {
        assert_eq!(bits(0b1010_0001).collect::<Vec<_>>(), [0, 5, 7]);
        assert_eq!([0, 1, 5, 6, 8].map(|start| first_from(0b1010_0001, start)), [0, 5, 5, 7, 0]);
        assert_eq!((first_from(1 << 63 | 2, 64), first_from(1 << 63 | 2, 63)), (1, 63));
        let mut set = Set::new(70);
        set.insert(69);
        set.insert(69);
        assert_eq!((set.is_empty(), set.word(1), set.words()), (false, 1 << 5, 2));
        set.remove(69);
        assert!(set.is_empty());
    }
}
