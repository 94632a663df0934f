//! How long a queue has had which length.

use std::collections::VecDeque;

use crate::details::BINS;

/// Times by length of a queue, in bins of powers of two.
#[derive(Clone, Default, Debug)]
pub(crate) struct Lengths {
    /// \[ps\] Times, without that since the last change.
    pub(crate) bins: [u64; BINS],
    /// \[ps\] When the length last changed.
    changed: u64,
    /// \[ps\] When frames that wait begin to be sent, where that is known.
    begins: VecDeque<u64>,
}

impl Lengths {
    /// The queue has had a length until now.
    pub(crate) fn spend(&mut self, length: usize, now: u64) {
        let bin = (usize::BITS - length.leading_zeros()) as usize;
        self.bins[bin.min(BINS - 1)] += now - self.changed;
        self.changed = now;
    }

    /// Follows the queue up to now, where it is known when frames leave it.
    pub(crate) fn catch_up(&mut self, now: u64) {
        while let Some(&begin) = self.begins.front().filter(|&&begin| begin <= now) {
            self.spend(self.begins.len(), begin);
            self.begins.pop_front();
        }
        self.spend(self.begins.len(), now);
    }

    /// A frame waits from now until it begins to be sent.
    pub(crate) fn wait(&mut self, now: u64, begin: u64) {
        self.catch_up(now);
        self.begins.push_back(begin);
    }
}
