//! Snapshots from the simulator to its viewers, taken only on request.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::view::Snapshot;

/// Largest number of log lines in a snapshot.
const LOG_LINES: usize = 200;

/// The latest snapshot, and a flag that requests a newer one. Shared by the simulator and all viewers.
///
/// A viewer requests a snapshot and blocks; the simulator polls one flag. No viewer can make the simulator wait: it
/// replaces the latest snapshot whether or not it has been read.
#[derive(Debug, Default)]
pub struct Feed {
    /// True if a snapshot has been requested since the last one.
    wanted: AtomicBool,
    latest: Mutex<Latest>,
    /// Notified of every snapshot and of the end.
    changed: Condvar,
}

/// The latest snapshot, the log and the state of the feed.
#[derive(Debug, Default)]
struct Latest {
    /// Number of snapshots so far, which identifies the latest one.
    number: u64,
    snapshot: Option<Arc<Snapshot>>,
    /// The last lines of the log.
    log: VecDeque<String>,
    /// True if no snapshot will follow.
    closed: bool,
}

impl Feed {
    /// A feed without snapshots and requests.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Locks the latest snapshot.
    fn latest(&self) -> MutexGuard<'_, Latest> {
        // A thread that has panicked leaves the contents consistent: they are consistent after each statement.
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests a snapshot.
    pub fn ask(&self) {
        self.wanted.store(true, Ordering::Release);
    }

    /// True if a snapshot has been requested since the last one.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Acquire)
    }

    /// Publishes a snapshot to all viewers, with the log so far added.
    pub fn publish(&self, mut snapshot: Snapshot) {
        self.wanted.store(false, Ordering::Release);
        let mut latest = self.latest();
        snapshot.log = latest.log.iter().cloned().collect();
        latest.number += 1;
        latest.snapshot = Some(Arc::new(snapshot));
        drop(latest);
        self.changed.notify_all();
    }

    /// Adds a line to the log, which appears in the next snapshot.
    pub fn log(&self, line: impl Into<String>) {
        let mut latest = self.latest();
        if latest.log.len() == LOG_LINES {
            latest.log.pop_front();
        }
        latest.log.push_back(line.into());
    }

    /// Declares that no snapshot will follow.
    pub fn close(&self) {
        self.latest().closed = true;
        self.changed.notify_all();
    }

    /// True if no snapshot will follow.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.latest().closed
    }

    /// The latest snapshot with its number, if that is above `seen`; waits for one until the time limit, or until the
    /// feed is closed.
    #[must_use]
    pub fn newer(&self, seen: u64, patience: Duration) -> Option<(u64, Arc<Snapshot>)> {
        let waits = |latest: &mut Latest| latest.number <= seen && !latest.closed;
        let (latest, _) =
            self.changed.wait_timeout_while(self.latest(), patience, waits).unwrap_or_else(PoisonError::into_inner);
        let snapshot = latest.snapshot.as_ref().filter(|_| latest.number > seen)?;
        Some((latest.number, Arc::clone(snapshot)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asked_for_once_and_shown_to_all() {
        let feed = Feed::new();
        assert!(!feed.is_wanted());
        feed.ask();
        assert!(feed.is_wanted());
        feed.log("something happened");
        feed.publish(Snapshot { cycle: 7, ..Snapshot::default() });
        assert!(!feed.is_wanted());
        for _ in 0..2 {
            let (number, snapshot) = feed.newer(0, Duration::ZERO).unwrap();
            assert_eq!((number, snapshot.cycle, snapshot.log.len()), (1, 7, 1));
        }
        assert!(feed.newer(1, Duration::ZERO).is_none());
        feed.close();
        assert!(feed.newer(1, Duration::from_secs(3600)).is_none(), "nobody waits for what will not come");
    }
}
