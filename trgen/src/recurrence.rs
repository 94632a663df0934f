//! States of sources and networks, written so that equal futures have equal words.
//!
//! A run whose whole state recurs repeats itself: what follows the second occurrence is what followed the first one, as
//! much later as the two are apart. Times are therefore written relative to the present cycle, and messages by the
//! order in which they are mentioned, since their numbers are handles that are used again. What has been counted so
//! far, and numbers from which nothing but the name of a packet follows, are no part of the state.
//!
//! Two states with the same words have the same future if whoever writes them writes **everything** on which what it
//! does depends, lengths of lists included. States with different words may still have the same future; then nothing is
//! found.
//!
//! Decision: docs/decisions/0280-repetition.md.

use std::collections::HashMap;

use crate::units::Cycle;

/// The state of a run at the beginning of a cycle.
#[derive(Clone, Default, Debug)]
pub struct State {
    now: u64,
    words: Vec<u64>,
    /// By message: its number in the order of mention.
    names: HashMap<u64, u64>,
    /// The messages in the order of their first mention.
    messages: Vec<u64>,
}

impl State {
    /// An empty state at the beginning of cycle `now`.
    #[must_use]
    pub fn new(now: Cycle) -> Self {
        Self { now: now.0, ..Self::default() }
    }

    /// The cycle at whose beginning the state is written.
    #[must_use]
    pub const fn now(&self) -> Cycle {
        Cycle(self.now)
    }

    /// Writes a number that does not depend on the time.
    #[inline]
    pub fn put(&mut self, word: u64) {
        self.words.push(word);
    }

    /// Writes a number that does not depend on the time, or that there is none.
    pub fn put_option(&mut self, word: Option<u64>) {
        self.put(word.is_some().into());
        self.put(word.unwrap_or(0));
    }

    /// Writes a time, before or after the present cycle.
    #[inline]
    pub fn put_time(&mut self, cycle: Cycle) {
        self.words.push(cycle.0.wrapping_sub(self.now));
    }

    /// Writes a message of this number, by the order of mention.
    pub fn put_message(&mut self, id: u64) {
        let next = self.messages.len() as u64;
        let name = *self.names.entry(id).or_insert(next);
        if name == next {
            self.messages.push(id);
        }
        self.put(name);
    }

    /// The messages in the order of their first mention.
    #[must_use]
    pub fn messages(&self) -> &[u64] {
        &self.messages
    }

    /// What has been written.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// What has been written, as its owner.
    #[must_use]
    pub fn into_words(self) -> Vec<u64> {
        self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_equal_whenever_they_occur_and_whatever_the_numbers_of_their_messages() {
        let written = |now: u64, due: u64, ids: [u64; 3]| {
            let mut state = State::new(Cycle(now));
            state.put(7);
            state.put_time(Cycle(due));
            ids.iter().for_each(|&id| state.put_message(id));
            state.into_words()
        };
        assert_eq!(written(100, 103, [5, 9, 5]), written(2000, 2003, [1, 0, 1]));
        assert_eq!(written(100, 90, [5, 9, 5]), written(200, 190, [9, 5, 9]));
        assert_ne!(written(100, 103, [5, 9, 5]), written(2000, 2004, [1, 0, 1]));
        assert_ne!(written(100, 103, [5, 9, 5]), written(100, 103, [5, 9, 9]));
    }
}
