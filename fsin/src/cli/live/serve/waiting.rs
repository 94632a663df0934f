//! The wait for all guests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tui::feed::Feed;
use tui::view::{Snapshot, Sources};

/// Shows the number of connected guests while others are missing.
pub(in crate::cli) struct Waiting {
    /// The feed of the dashboard, if there is one.
    board: Option<Arc<Feed>>,
    /// Number of nodes that need a guest.
    wanted: usize,
    /// When the wait began.
    since: Instant,
    /// When a number of missing nodes was shown last, and this number.
    shown: Option<(Instant, usize)>,
}

impl Waiting {
    pub(in crate::cli) fn new(board: Option<Arc<Feed>>, wanted: usize) -> Self {
        let mut waiting = Self { board, wanted, since: Instant::now(), shown: None };
        waiting.show(wanted);
        waiting
    }

    /// Shows the number of missing nodes if it has changed, and otherwise twice a second.
    fn show(&mut self, missing: usize) {
        let due = |(at, before): (Instant, usize)| before != missing || at.elapsed() >= Duration::from_millis(500);
        let Some(board) = self.board.as_ref().filter(|_| self.shown.is_none_or(due)) else { return };
        self.shown = Some((Instant::now(), missing));
        board.publish(Snapshot {
            phase: format!("waiting for guests: {} of {} nodes have one", self.wanted - missing, self.wanted),
            cycle: 1,
            elapsed_seconds: self.since.elapsed().as_secs_f64(),
            sources: Sources::Guests(Vec::new()),
            ..Snapshot::default()
        });
    }

    /// Called from time to time with the number of nodes without a guest. Returns false once the user wants to stop.
    pub(in crate::cli) fn go_on(&mut self, missing: usize, stop: &AtomicBool) -> bool {
        self.show(missing.min(self.wanted));
        !stop.load(Ordering::Relaxed)
    }
}
