//! Running digests, which show where two supposedly identical runs diverge.

use trgen::Cycle;

use crate::clock::{Clock, Time};

/// Largest number of rows. When there are more, every second one is dropped.
const ROWS: usize = 1 << 14;

/// The digest of everything before a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waymark {
    /// \[ps\] The moment.
    pub time: Time,
    /// Digest of all injections and deliveries in cycles that begin before this moment.
    pub digest: u64,
}

/// Digests at regular moments; moments without events since the previous one are omitted.
#[derive(Debug)]
pub(super) struct Trail {
    /// \[ps\] Interval between moments.
    every: Time,
    clock: Clock,
    /// \[ps\] The next moment.
    next: Time,
    /// The digests so far, in the order of their moments.
    rows: Vec<Waymark>,
}

impl Trail {
    pub(super) fn new(every: Time, clock: Clock) -> Self {
        let every = every.max(1);
        Self { every, clock, next: every, rows: Vec::new() }
    }

    /// Records `digest` if a moment has passed. Call this before any event of `cycle` enters the digest.
    pub(super) fn record(&mut self, cycle: Cycle, digest: u64) {
        let begin = self.clock.span(cycle.0.saturating_sub(1));
        if begin < self.next {
            return;
        }
        let time = begin - begin % self.every;
        self.next = time.saturating_add(self.every);
        if self.rows.last().map_or(0, |last| last.digest) != digest {
            // Several moments may have passed: the digest is the same for all of them, and the last one is recorded.
            self.rows.push(Waymark { time, digest });
        }
        if self.rows.len() > ROWS {
            self.every = self.every.saturating_mul(2);
            let every = self.every;
            self.rows.retain(|row| row.time % every == 0);
            self.next = (time - time % every).saturating_add(every);
        }
    }

    pub(super) fn rows(&self) -> &[Waymark] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_for_each_moment_before_which_something_happened() {
        let mut trail = Trail::new(100, Clock::new(10, 1).unwrap());
        for (cycle, digest) in [(1, 0), (5, 7), (11, 8), (12, 9), (90, 9), (91, 9), (300, 10)] {
            trail.record(Cycle(cycle), digest);
        }
        let rows: Vec<(u64, u64)> = trail.rows().iter().map(|row| (row.time, row.digest)).collect();
        assert_eq!(rows, [(100, 8), (800, 9), (2900, 10)]);
    }

    #[test]
    fn a_long_run_has_fewer_rows_and_the_same_moments() {
        let mut trail = Trail::new(1, Clock::new(1, 1).unwrap());
        for cycle in 1..100_000 {
            trail.record(Cycle(cycle), cycle);
        }
        assert!(trail.rows().len() <= ROWS && trail.rows().len() > ROWS / 4);
        assert!(trail.rows().iter().all(|row| row.digest == row.time + 1), "digests stay with their moments");
    }
}
