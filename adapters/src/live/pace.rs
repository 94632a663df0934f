//! Virtual time held to the clock on the wall, for guests that live in real time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::clock::Time;

/// How long a sleep lasts at most before somebody is asked whether to go on.
const NAP: Duration = Duration::from_millis(100);

/// Virtual time runs `thousandths / 1000` times slower than the wall's.
#[derive(Debug)]
pub(super) struct Pace {
    thousandths: u32,
    /// When virtual time began.
    epoch: Option<Instant>,
    /// \[ps\] The most, of virtual time, that a grant came after its time on the wall.
    pub(super) behind_max: Time,
}

impl Pace {
    pub(super) fn new(thousandths: u32) -> Self {
        Self { thousandths, epoch: None, behind_max: 0 }
    }

    /// Sleeps until the wall has come to virtual time `time`, unless `stop` becomes true; if it is past it, says so in the
    /// record.
    pub(super) fn hold(&mut self, time: Time, stop: &AtomicBool) {
        let epoch = *self.epoch.get_or_insert_with(Instant::now);
        let due = on_the_wall(time, self.thousandths);
        loop {
            let elapsed = epoch.elapsed();
            match due.checked_sub(elapsed) {
                Some(left) if !left.is_zero() && !stop.load(Ordering::Relaxed) => thread::sleep(left.min(NAP)),
                _ => {
                    let behind = virtual_time(elapsed.saturating_sub(due), self.thousandths);
                    self.behind_max = self.behind_max.max(behind);
                    return;
                }
            }
        }
    }
}

/// How long a span of virtual time lasts on the wall.
pub(crate) fn on_the_wall(time: Time, thousandths: u32) -> Duration {
    let nanoseconds = u128::from(time) * u128::from(thousandths) / 1_000_000;
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}

/// \[ps\] How much virtual time passes meanwhile.
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
        let never = AtomicBool::new(false);
        pace.hold(0, &never);
        thread::sleep(Duration::from_millis(5));
        pace.hold(1_000_000_000, &never);
        assert!(pace.behind_max >= 4_000_000_000, "5 ms have passed instead of 1 ms: {}", pace.behind_max);
    }
}
