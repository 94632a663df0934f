//! Sets of queues, channels or ports of a router, as bit masks: half a word for usual routers, several words for large
//! ones.
//!
//! Decision: docs/decisions/0090-masks.md.

use std::fmt::Debug;
use std::ops::{BitAnd, BitOr, Not};

/// Compact integers: indices of a router's queues, and packet counts of a queue.
pub(super) trait Small: Copy + PartialEq + Debug + Send + Sync + 'static {
    /// Converts a number, which must be in range.
    fn of(number: usize) -> Self;

    /// The number.
    fn get(self) -> usize;

    /// The number plus one.
    #[inline(always)]
    fn increase(&mut self) {
        *self = Self::of(self.get() + 1);
    }

    /// The number less one.
    #[inline(always)]
    fn decrease(&mut self) {
        *self = Self::of(self.get() - 1);
    }
}

macro_rules! small {
    ($($number:ty),*) => {$(
        impl Small for $number {
            #[inline(always)]
            fn of(number: usize) -> Self {
                debug_assert!(number <= <$number>::MAX.into(), "{number}");
                number as Self
            }

            #[inline(always)]
            fn get(self) -> usize {
                self.into()
            }
        }
    )*};
}

small!(u8, u16);

/// A set of numbers from 0 to [`SIZE`](Self::SIZE) - 1.
pub(super) trait Mask:
    Copy + PartialEq + Debug + Send + Sync + 'static + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    /// Holds the index of a member, and the number of packets in a queue of a router with such masks.
    type Small: Small;

    /// Number of possible members.
    const SIZE: usize;

    /// The empty set.
    const EMPTY: Self;

    /// The singleton set.
    fn bit(member: usize) -> Self;

    /// The singleton set if `is_present`, else the empty set. Computed without a branch, since the branch would
    /// mispredict.
    fn bit_if(member: usize, is_present: bool) -> Self;

    /// The set given by the bits of a word, the lowest bit for member `first`. Bits for members not below
    /// [`SIZE`](Self::SIZE) are lost.
    fn of_word(word: u64, first: usize) -> Self;

    /// The members from `first` on as a word, `first` as the lowest bit.
    fn word(self, first: usize) -> u64;

    /// The least member; undefined for the empty set.
    fn least(self) -> usize;

    /// Adds a member.
    fn insert(&mut self, member: usize);

    /// Removes a member.
    fn erase(&mut self, member: usize);

    #[inline(always)]
    fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

    #[inline(always)]
    fn has(self, member: usize) -> bool {
        self.word(member) & 1 != 0
    }

    /// The set of all numbers below `count`.
    fn below(count: usize) -> Self;

    /// The set without its least member. It must not be empty.
    #[inline(always)]
    fn rest(mut self) -> Self {
        self.erase(self.least());
        self
    }

    /// The first member after `last`, cyclically: round robin. The set must not be empty.
    #[inline(always)]
    fn after(self, last: usize) -> usize {
        let above = self & !Self::below(last + 1);
        if above.is_empty() { self.least() } else { above.least() }
    }
}

macro_rules! mask_of_one_word {
    ($word:ty, $small:ty) => {
        impl Mask for $word {
            type Small = $small;

            const SIZE: usize = <$word>::BITS as usize;
            const EMPTY: Self = 0;

            #[inline(always)]
            fn bit(member: usize) -> Self {
                1 << member
            }

            #[inline(always)]
            fn bit_if(member: usize, is_present: bool) -> Self {
                Self::from(is_present) << member
            }

            #[inline(always)]
            fn of_word(word: u64, first: usize) -> Self {
                (word << first) as Self
            }

            #[inline(always)]
            fn word(self, first: usize) -> u64 {
                (self >> first).into()
            }

            #[inline(always)]
            fn least(self) -> usize {
                self.trailing_zeros() as usize
            }

            #[inline(always)]
            fn insert(&mut self, member: usize) {
                *self |= 1 << member;
            }

            #[inline(always)]
            fn erase(&mut self, member: usize) {
                *self &= !(1 << member);
            }

            #[inline(always)]
            fn has(self, member: usize) -> bool {
                self & 1 << member != 0
            }

            #[inline(always)]
            fn below(count: usize) -> Self {
                if count < Self::SIZE { (1 << count) - 1 } else { Self::MAX }
            }

            #[inline(always)]
            fn rest(self) -> Self {
                self & self.wrapping_sub(1)
            }

            #[inline(always)]
            fn after(self, last: usize) -> usize {
                let above = self & ((Self::MAX << last) << 1);
                if above == 0 { self.least() } else { above.least() }
            }
        }
    };
}

mask_of_one_word!(u32, u8);
mask_of_one_word!(u64, u16);

/// A set in `N` words, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Words<const N: usize>([u64; N]);

impl<const N: usize> Words<N> {
    /// Combines two sets word by word with `combine`.
    #[inline(always)]
    fn each(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|index| combine(self.0[index], other.0[index])))
    }
}

impl<const N: usize> BitAnd for Words<N> {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        self.each(other, |one, other| one & other)
    }
}

impl<const N: usize> BitOr for Words<N> {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self.each(other, |one, other| one | other)
    }
}

impl<const N: usize> Not for Words<N> {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}

impl<const N: usize> Mask for Words<N> {
    type Small = u16;

    const SIZE: usize = 64 * N;
    const EMPTY: Self = Self([0; N]);

    #[inline(always)]
    fn bit(member: usize) -> Self {
        Self::bit_if(member, true)
    }

    #[inline(always)]
    fn bit_if(member: usize, is_present: bool) -> Self {
        let mut mask = Self::EMPTY;
        mask.0[member / 64] = u64::from(is_present) << (member % 64);
        mask
    }

    #[inline]
    fn of_word(word: u64, first: usize) -> Self {
        let (at, shift) = (first / 64, first % 64);
        let mut mask = Self::EMPTY;
        mask.0[at] = word << shift;
        if let Some(next) = mask.0.get_mut(at + 1)
            && shift > 0
        {
            *next = word >> (64 - shift);
        }
        mask
    }

    #[inline]
    fn word(self, first: usize) -> u64 {
        let (at, shift) = (first / 64, first % 64);
        let next = if shift == 0 { 0 } else { self.0.get(at + 1).map_or(0, |next| next << (64 - shift)) };
        self.0[at] >> shift | next
    }

    #[inline]
    fn least(self) -> usize {
        let at = self.0.iter().position(|&word| word != 0).unwrap_or(0);
        64 * at + self.0[at].trailing_zeros() as usize
    }

    #[inline(always)]
    fn insert(&mut self, member: usize) {
        self.0[member / 64] |= 1 << (member % 64);
    }

    #[inline(always)]
    fn erase(&mut self, member: usize) {
        self.0[member / 64] &= !(1 << (member % 64));
    }

    #[inline(always)]
    fn has(self, member: usize) -> bool {
        self.0[member / 64] & 1 << (member % 64) != 0
    }

    #[inline]
    fn below(count: usize) -> Self {
        Self(std::array::from_fn(|index| u64::below(count.saturating_sub(64 * index).min(64))))
    }
}

/// Iterator over the members, from the least.
pub(super) struct Members<M>(pub(super) M);

impl<M: Mask> Iterator for Members<M> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0.is_empty() {
            return None;
        }
        let member = self.0.least();
        self.0 = self.0.rest();
        Some(member)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;
    use crate::router::arbitration::round_robin;

    #[test]
    fn round_robin_by_masks_is_round_robin() {
        for mask in 1..256u64 {
            for last in 0..8 {
                let expected = round_robin(8, last, |input| mask & 1 << input != 0);
                assert_eq!(Some(mask.after(last)), expected, "{mask:b} after {last}");
            }
        }
        assert_eq!((1u64 << 63).after(63), 63);
    }

    fn of<M: Mask>(members: impl IntoIterator<Item = usize>) -> M {
        members.into_iter().fold(M::EMPTY, |mask, member| mask | M::bit(member))
    }

    /// Every operation on masks agrees with the same operation on sets.
    fn agrees<M: Mask>(one: &BTreeSet<usize>, other: &BTreeSet<usize>, at: usize) {
        let (one, other): (Vec<usize>, Vec<usize>) = (one.iter().copied().collect(), other.iter().copied().collect());
        let (a, b) = (of::<M>(one.iter().copied()), of::<M>(other.iter().copied()));
        let members = |mask: M| Members(mask).collect::<Vec<_>>();
        let sorted = |numbers: &mut dyn Iterator<Item = usize>| numbers.collect::<Vec<_>>();
        assert_eq!(members(a), one);
        assert_eq!(members(a & b), sorted(&mut one.iter().copied().filter(|member| other.contains(member))));
        assert_eq!(members(a & !b), sorted(&mut one.iter().copied().filter(|member| !other.contains(member))));
        let union: BTreeSet<_> = one.iter().chain(&other).copied().collect();
        assert_eq!(members(a | b), sorted(&mut union.into_iter()));
        assert_eq!(members(a & M::below(at)), sorted(&mut one.iter().copied().filter(|&member| member < at)));
        assert_eq!(M::below(M::SIZE), !M::EMPTY);
        assert_eq!((a.has(at), a.is_empty()), (one.contains(&at), one.is_empty()));
        let word = |first: usize| {
            let bits = one.iter().filter(|&&member| (first..first + 64).contains(&member));
            bits.fold(0u64, |word, member| word | 1 << (member - first))
        };
        assert_eq!(a.word(at), word(at));
        let words = (0..M::SIZE).step_by(64).fold(M::EMPTY, |mask, first| mask | M::of_word(word(first), first));
        assert_eq!(words, a);
        assert_eq!(M::of_word(a.word(at), at), a & !M::below(at) & M::below(at + 64));
        assert_eq!((M::bit_if(at, true), M::bit_if(at, false)), (M::bit(at), M::EMPTY));
        let mut changed = a;
        changed.insert(at);
        assert_eq!(changed, a | M::bit(at));
        changed.erase(at);
        assert_eq!(changed, a & !M::bit(at));
        if let Some(&first) = one.first() {
            assert_eq!((a.least(), members(a.rest())), (first, one[1..].to_vec()));
            let after = one.iter().copied().find(|&member| member > at).unwrap_or(first);
            assert_eq!(a.after(at), after);
        }
    }

    proptest! {
        #[test]
        fn masks_are_sets(one in btree_set(0..64usize, 0..20), other in btree_set(0..64usize, 0..20), at in 0..64usize) {
            agrees::<u64>(&one, &other, at);
        }

        #[test]
        fn masks_of_half_a_word_are_sets(
            one in btree_set(0..32usize, 0..20),
            other in btree_set(0..32usize, 0..20),
            at in 0..32usize,
        ) {
            agrees::<u32>(&one, &other, at);
        }

        #[test]
        fn masks_of_words_are_sets(
            one in btree_set(0..192usize, 0..40),
            other in btree_set(0..192usize, 0..40),
            at in 0..192usize,
        ) {
            agrees::<Words<3>>(&one, &other, at);
        }
    }
}
