//! How long a guest holds its turn without progress.
//!
//! A guest makes **progress** when one of its messages is accepted, or when a turn begins at least one cycle of the
//! network later than the turn in which it last made progress (a stepped guest: later at all, since its grants end
//! where the endpoint says). Everything else that a guest may send in its turn promises nothing: parts of messages,
//! marks, names of sources, later times until which it is busy, ends of turns at the same time.
//!
//! A guest is lost when the network has waited for it for longer than a limit, over all its turns since its last
//! progress. Only waiting counts: while the network simulates, waits for the wall clock, or waits for other guests, the
//! guest holds nothing up. A wait ends in progress or in a loss, so results do not depend on the limit in any other way.
//!
//! Decision: docs/decisions/0152-progress-of-guests.md.

use std::time::{Duration, Instant};

use crate::clock::Time;

/// The wait for a guest since its last progress.
#[derive(Debug, Default)]
pub(super) struct Hold {
    /// Duration of the waits that have ended.
    before: Duration,
    /// Beginning of the present wait.
    since: Option<Instant>,
    /// True if the guest has made progress since the clock was last read. The clock is not read for each message.
    progressed: bool,
    /// \[ps\] Beginning of the turn that counted as progress last.
    reached: Option<Time>,
}

impl Hold {
    /// The network begins to wait for the guest.
    pub(super) fn begin(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }

    /// The network does not wait for the guest any more.
    pub(super) fn end(&mut self) {
        self.before = self.duration();
        self.since = None;
    }

    /// The guest has made progress.
    pub(super) const fn progress(&mut self) {
        self.progressed = true;
    }

    /// A turn of the guest begins at `from`, which is progress if that is at least `least` \[ps\] later than before.
    pub(super) fn turn(&mut self, from: Time, least: Time) {
        if self.reached.is_none_or(|reached| from.saturating_sub(reached) >= least.max(1)) {
            self.reached = Some(from);
            self.progress();
        }
    }

    /// Duration of all waits since the last progress.
    pub(super) fn duration(&mut self) -> Duration {
        if std::mem::take(&mut self.progressed) {
            self.before = Duration::ZERO;
            self.since = self.since.map(|_| Instant::now());
        }
        self.before + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a wait of a moment adds.
    fn wait(hold: &mut Hold) -> Duration {
        hold.begin();
        std::thread::sleep(Duration::from_millis(2));
        hold.end();
        hold.duration()
    }

    #[test]
    fn waits_add_up_until_there_is_progress() {
        let mut hold = Hold::default();
        let first = wait(&mut hold);
        assert!(first >= Duration::from_millis(2));
        assert!(wait(&mut hold) >= first + Duration::from_millis(2), "the second wait is added");
        hold.progress();
        assert_eq!(hold.duration(), Duration::ZERO);
    }

    #[test]
    fn turns_are_progress_when_time_has_passed() {
        let mut hold = Hold::default();
        hold.turn(0, 100);
        assert_eq!(hold.duration(), Duration::ZERO);
        wait(&mut hold);
        for from in [0, 1, 50, 99] {
            hold.turn(from, 100);
            assert!(hold.duration() > Duration::ZERO, "a turn at {from} ps promises nothing");
        }
        hold.turn(100, 100);
        assert_eq!(hold.duration(), Duration::ZERO, "many short steps make a long one");
        wait(&mut hold);
        hold.turn(101, 0);
        assert_eq!(hold.duration(), Duration::ZERO, "any later time");
        wait(&mut hold);
        hold.turn(101, 0);
        assert!(hold.duration() > Duration::ZERO);
    }
}
