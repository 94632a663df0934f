//! Virtual time tied to the wall clock, for guests that live in real time.

use std::thread;
use std::time::{Duration, Instant};

use crate::clock::Time;

/// Longest sleep of [`Pace::has_come`], after which its caller checks whether to go on.
const NAP: Duration = Duration::from_millis(100);

/// Ties virtual time to the wall clock: it runs `thousandths / 1000` times slower.
#[derive(Debug)]
pub(super) struct Pace {
    /// Wall-clock time divided by virtual time, in thousandths.
    thousandths: u32,
    /// Wall-clock time at which virtual time began.
    epoch: Option<Instant>,
    /// The lag of all grants.
    behind: Behind,
    /// \[ps\] The lag that was reported last.
    reported: Time,
}

/// Lag of virtual time behind the wall clock, over all grants.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Behind {
    /// \[ps\] Greatest lag of a grant.
    pub max: Time,
    /// \[ps\] Virtual time of that grant.
    pub at: Time,
    /// \[ps\] Sum over all grants.
    sum: u128,
    /// Number of grants.
    grants: u64,
}

impl Behind {
    /// \[ps\] Mean over all grants; `None` without grants.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.grants > 0).then(|| self.sum as f64 / self.grants as f64)
    }

    /// Records a grant at `time` with lag `behind`.
    fn record(&mut self, time: Time, behind: Time) {
        if behind > self.max {
            (self.max, self.at) = (behind, time);
        }
        self.sum += u128::from(behind);
        self.grants += 1;
    }
}

/// \[ps\] Shortest lag that is reported during the run. It is reported again whenever it has doubled.
const FIRST_REPORTED: Time = 1_000_000_000_000;

impl Pace {
    pub(super) fn new(thousandths: u32) -> Self {
        Self { thousandths, epoch: None, behind: Behind::default(), reported: FIRST_REPORTED / 2 }
    }

    /// Sleeps for a moment if the wall clock has not reached virtual time `time`; returns true and records the lag once
    /// it has.
    pub(super) fn has_come(&mut self, time: Time) -> bool {
        let epoch = *self.epoch.get_or_insert_with(Instant::now);
        let (due, elapsed) = (on_the_wall(time, self.thousandths), epoch.elapsed());
        if let Some(left) = due.checked_sub(elapsed).filter(|left| !left.is_zero()) {
            thread::sleep(left.min(NAP));
            return epoch.elapsed() >= due && self.has_come(time);
        }
        self.behind.record(time, virtual_time(elapsed.saturating_sub(due), self.thousandths));
        true
    }

    /// \[ps\] Virtual time by the wall clock.
    pub(super) fn now(&mut self) -> Time {
        virtual_time(self.epoch.get_or_insert_with(Instant::now).elapsed(), self.thousandths)
    }

    /// Wall-clock time that is left until virtual time `time`; zero if it has come.
    pub(super) fn until(&mut self, time: Time) -> Duration {
        let epoch = *self.epoch.get_or_insert_with(Instant::now);
        on_the_wall(time, self.thousandths).saturating_sub(epoch.elapsed())
    }

    /// Lag of the grants so far.
    pub(super) const fn behind(&self) -> Behind {
        self.behind
    }

    /// \[ps\] The greatest lag so far, if it is at least twice the lag that was reported last.
    pub(super) fn worth_telling(&mut self) -> Option<Time> {
        let behind = self.behind.max;
        (behind / 2 >= self.reported).then(|| std::mem::replace(&mut self.reported, behind)).map(|_| behind)
    }
}

/// Wall-clock duration of a span of virtual time.
pub(crate) fn on_the_wall(time: Time, thousandths: u32) -> Duration {
    let nanoseconds = u128::from(time) * u128::from(thousandths) / 1_000_000;
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}

/// \[ps\] Virtual time that passes in a span of wall-clock time.
pub(crate) fn virtual_time(wall: Duration, thousandths: u32) -> Time {
    let picoseconds = wall.as_nanos() * 1_000_000 / u128::from(thousandths.max(1));
    Time::try_from(picoseconds).unwrap_or(Time::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_of_ten_makes_ten_real_seconds_of_one() {
        assert_eq!(on_the_wall(1_000_000_000_000, 10_000), Duration::from_secs(10));
        assert_eq!(virtual_time(Duration::from_secs(10), 10_000), 1_000_000_000_000);
        assert_eq!(on_the_wall(1_000_000, 1_000), Duration::from_micros(1));
    }

    #[test]
    fn what_comes_too_late_is_written_down() {
        let mut pace = Pace::new(1000);
        assert!(pace.has_come(0));
        thread::sleep(Duration::from_millis(5));
        assert!(pace.has_come(1_000_000_000));
        let behind = pace.behind();
        assert!(behind.max >= 4_000_000_000, "5 ms have passed instead of 1 ms: {}", behind.max);
        assert_eq!(behind.at, 1_000_000_000);
        assert!(behind.mean().is_some_and(|mean| (behind.max / 2) as f64 <= mean && mean <= behind.max as f64));
        assert!(!pace.has_come(3_600_000_000_000_000), "an hour has not");
    }

    #[test]
    fn a_second_behind_is_told_and_then_each_doubling() {
        let mut pace = Pace::new(1000);
        let mut told = Vec::new();
        for behind in [1, 999, 1000, 1500, 1999, 2000, 3600, 8000, 8000] {
            pace.behind.record(0, behind * 1_000_000_000);
            told.extend(pace.worth_telling().map(|behind| behind / 1_000_000_000));
        }
        assert_eq!(told, [1000, 2000, 8000]);
    }
}
