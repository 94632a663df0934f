//! Names with their numbers, in little more memory than their text.

use std::hash::{BuildHasher, Hash, RandomState};

/// Makes room for another item, and a quarter more: lists of a million items do not take twice their size.
pub(super) fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 4 + 16);
    }
}

/// In [`Slots`]: nothing.
const EMPTY: u32 = u32::MAX;

/// A table of numbers by the hashes of what they stand for, with linear probing. Its order depends on nothing that
/// anybody sees.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    /// The length is a power of two, or 0.
    slots: Vec<u32>,
    /// How many are taken.
    count: usize,
    hasher: RandomState,
}

impl Slots {
    pub(super) fn hash(&self, of: impl Hash) -> u64 {
        self.hasher.hash_one(of)
    }

    /// The number with this hash for which `is` holds.
    pub(super) fn find(&self, hash: u64, is: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = hash as usize & mask;
        while self.slots[slot] != EMPTY {
            if is(self.slots[slot]) {
                return Some(self.slots[slot]);
            }
            slot = (slot + 1) & mask;
        }
        None
    }

    /// Adds a number that is not there yet; `hash_of` gives the hash of those that are.
    pub(super) fn add(&mut self, number: u32, hash: u64, hash_of: impl Fn(&Self, u32) -> u64) {
        if 4 * (self.count + 1) > 3 * self.slots.len() {
            let length = (2 * self.slots.len()).max(16);
            // A table at a time: numbers come out of the old one before the new one takes memory.
            let mut all = std::mem::take(&mut self.slots);
            all.retain(|&number| number != EMPTY);
            all.shrink_to_fit();
            self.slots = vec![EMPTY; length];
            for number in all {
                self.put(number, hash_of(self, number));
            }
        }
        self.put(number, hash);
        self.count += 1;
    }

    fn put(&mut self, number: u32, hash: u64) {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot] != EMPTY {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = number;
    }
}

/// Names, numbered in order of first appearance.
///
/// All names are one text, and a table of numbers finds them: a map of strings takes ten times as much for short names,
/// of which a file may have a million.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    text: String,
    /// \[bytes\] By name: its end in the text.
    ends: Vec<u32>,
    slots: Slots,
}

impl Labels {
    /// Number of names.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name of a number; empty for a number that no name has.
    #[must_use]
    pub fn name(&self, number: u32) -> &str {
        let number = number as usize;
        let begin = number.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).map(|&end| end as usize));
        let end = self.ends.get(number).map(|&end| end as usize);
        begin.zip(end).and_then(|(begin, end)| self.text.get(begin..end)).unwrap_or("")
    }

    /// The number of a name, if it is known.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<u32> {
        self.slots.find(self.slots.hash(name), |number| self.name(number) == name)
    }

    /// The number of a name, which is added if it is new.
    pub fn number(&mut self, name: &str) -> u32 {
        let hash = self.slots.hash(name);
        if let Some(number) = self.slots.find(hash, |number| self.name(number) == name) {
            return number;
        }
        let number = self.ends.len() as u32;
        self.text.push_str(name);
        make_room(&mut self.ends);
        self.ends.push(self.text.len() as u32);
        let mut slots = std::mem::take(&mut self.slots);
        slots.add(number, hash, |slots, number| slots.hash(self.name(number)));
        self.slots = slots;
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_numbers_in_order_of_appearance() {
        let mut labels = Labels::default();
        assert_eq!((labels.get("a"), labels.name(0), labels.len()), (None, "", 0));
        let names: Vec<String> = (0..1000).map(|number| format!("n{}", number * number % 997)).collect();
        let mut first: Vec<&str> = Vec::new();
        for name in &names {
            if !first.contains(&name.as_str()) {
                first.push(name);
            }
            let expected = first.iter().position(|known| known == name);
            assert_eq!(Some(labels.number(name) as usize), expected);
        }
        assert_eq!(labels.number(""), first.len() as u32);
        for (number, name) in first.iter().enumerate() {
            assert_eq!((labels.get(name), labels.name(number as u32)), (Some(number as u32), *name));
        }
        assert_eq!((labels.get("n"), labels.get(""), labels.name(99_999)), (None, Some(first.len() as u32), ""));
    }
}
