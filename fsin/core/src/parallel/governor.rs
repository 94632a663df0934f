//! Whether threads are worth waking: by what cycles take with and without them.
//!
//! Threads that meet twice in a cycle are fast where each has a core to itself. Beside another process one of them
//! waits for its turn, and all others for it. So the time of cycles on threads is compared with that of cycles on the
//! caller's thread alone: windows of the better way alternate with short trials of the other one, which become rarer
//! while they find nothing. A window on threads ends at once when the same cycles would have taken less time alone.
//!
//! No result depends on it: it reads the wall clock, and the choice changes nothing but time.
//!
//! Decision: docs/decisions/0281-threads-that-give-way.md.

use std::time::{Duration, Instant};

/// Length of a trial.
const TRIAL: Duration = Duration::from_millis(1);
/// Length of the first window after a change.
const SHORTEST: Duration = Duration::from_millis(10);
/// Length of windows after trials that found nothing.
const LONGEST: Duration = Duration::from_millis(400);
/// Loss of time after which a window on threads ends at once.
const MOST_LOST: Duration = Duration::from_micros(300);
/// Fewest cycles of a window.
const FEWEST: u32 = 8;
/// Share of the time by which the other way must be better.
const BETTER: f64 = 0.97;

/// Chooses, cycle by cycle.
#[derive(Debug)]
pub(super) struct Governor {
    /// True if the present window is on threads.
    on_threads: bool,
    /// True if the present window is a trial.
    is_trial: bool,
    /// Beginning of the present window; `None` before the first cycle.
    begin: Option<Instant>,
    /// Cycles in the present window.
    cycles: u32,
    /// Time after which the present window ends.
    length: Duration,
    /// Length of the next window that is no trial.
    stay: Duration,
    /// \[ns\] Time of a cycle in the last window of the other way; infinite if there was none.
    other: f64,
}

impl Governor {
    pub(super) const fn new() -> Self {
        Self {
            on_threads: true,
            is_trial: false,
            begin: None,
            cycles: 0,
            length: TRIAL,
            stay: SHORTEST,
            other: f64::INFINITY,
        }
    }

    /// True if the cycle that begins now is to be simulated on threads.
    pub(super) fn uses_threads(&mut self, now: Instant) -> bool {
        let elapsed = now.duration_since(*self.begin.get_or_insert(now));
        let cycle = elapsed.as_nanos() as f64 / f64::from(self.cycles.max(1));
        let alone = self.other * f64::from(self.cycles) + MOST_LOST.as_nanos() as f64;
        if self.on_threads && elapsed.as_nanos() as f64 > alone {
            self.begin_window(now, false, false, cycle);
        } else if elapsed >= self.length && self.cycles >= FEWEST {
            if !self.is_trial {
                self.begin_window(now, !self.on_threads, true, cycle);
            } else if cycle < self.other * BETTER {
                self.stay = SHORTEST;
                // What has just been tried goes on, and the other way keeps its time.
                let other = self.other;
                self.begin_window(now, self.on_threads, false, other);
            } else {
                self.begin_window(now, !self.on_threads, false, cycle);
            }
        }
        self.cycles += 1;
        self.on_threads
    }

    /// Begins a window; a cycle of the way that is not its own takes `other` ns.
    fn begin_window(&mut self, now: Instant, on_threads: bool, is_trial: bool, other: f64) {
        if is_trial {
            self.length = TRIAL;
        } else {
            self.length = self.stay;
            self.stay = (self.stay * 2).min(LONGEST);
        }
        (self.on_threads, self.is_trial, self.begin, self.cycles, self.other) =
            (on_threads, is_trial, Some(now), 0, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time of so many cycles, and the share of them on threads. A cycle takes 20 us alone, and on threads as long as
    /// `threads` says of the time.
    fn run(cycles: u32, threads: impl Fn(Duration) -> Duration) -> (Duration, f64) {
        let (start, mut governor) = (Instant::now(), Governor::new());
        let (mut time, mut on_threads) = (Duration::ZERO, 0);
        for _ in 0..cycles {
            if governor.uses_threads(start + time) {
                time += threads(time);
                on_threads += 1;
            } else {
                time += Duration::from_micros(20);
            }
        }
        (time, f64::from(on_threads) / f64::from(cycles))
    }

    #[test]
    fn threads_that_help_are_used() {
        let (time, share) = run(100_000, |_| Duration::from_micros(11));
        assert!(share > 0.98 && time < Duration::from_micros(1_150_000), "{share} {time:?}");
    }

    #[test]
    fn threads_that_do_not_help_are_left_alone() {
        let (time, share) = run(100_000, |_| Duration::from_micros(24));
        assert!(share < 0.02 && time < Duration::from_micros(2_020_000), "{share} {time:?}");
    }

    /// Every other 4 ms a thread waits for its core to the end of them: nine tenths of the speed of one thread.
    #[test]
    fn threads_without_a_core_cost_less_than_a_tenth() {
        let slice = Duration::from_millis(4).as_nanos();
        let threads = |time: Duration| match time.as_nanos() / slice % 2 {
            0 => Duration::from_micros(11),
            _ => Duration::from_nanos((slice - time.as_nanos() % slice) as u64) + Duration::from_micros(11),
        };
        let (time, share) = run(400_000, threads);
        assert!(time < Duration::from_micros(8_000_000 * 10 / 9), "{share} {time:?}");
    }

    /// A neighbour that goes away: threads are used again.
    #[test]
    fn threads_return_when_they_help_again() {
        let gone = Duration::from_secs(2);
        let (_, share) = run(500_000, |time| Duration::from_micros(if time < gone { 300 } else { 11 }));
        assert!(share > 0.6, "{share}");
    }
}
