//! Sets of numbers, and searches in masks.

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
