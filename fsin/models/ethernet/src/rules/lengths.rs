//! The times for which a queue had each length.

use std::collections::VecDeque;

use crate::details::BINS;

/// Times for which a queue had each length, in bins of powers of two.
#[derive(Clone, Default, Debug)]
pub(crate) struct Lengths {
    /// \[ps\] By bin: the time, without the time since the last change.
    pub(crate) bins: [u64; BINS],
    /// \[ps\] Time at which the length last changed.
    changed: u64,
    /// \[ps\] Times at which the waiting frames begin to be sent, where these are known.
    begins: VecDeque<u64>,
}

impl Lengths {
    /// Adds the time since the last change, in which the queue had length `length`.
    pub(crate) fn spend(&mut self, length: usize, now: u64) {
        let bin = (usize::BITS - length.leading_zeros()) as usize;
        self.bins[bin.min(BINS - 1)] += now - self.changed;
        self.changed = now;
    }

    /// Adds the times up to `now`, where it is known when frames leave the queue.
    pub(crate) fn catch_up(&mut self, now: u64) {
        while let Some(&begin) = self.begins.front().filter(|&&begin| begin <= now) {
            self.spend(self.begins.len(), begin);
            self.begins.pop_front();
        }
        self.spend(self.begins.len(), now);
    }

    /// Removes all frames that wait.
    pub(crate) fn clear(&mut self, now: u64) {
        self.catch_up(now);
        self.begins.clear();
    }

    /// Adds a frame that waits from `now` until it begins to be sent.
    pub(crate) fn wait(&mut self, now: u64, begin: u64) {
        self.catch_up(now);
        self.begins.push_back(begin);
    }
}
