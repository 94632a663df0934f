//! The handshakes in progress.
//!
//! Their number is bounded, by [`MOST`] and by the system's limit of open files. At the bound the oldest one gives way to
//! a connection that waits, so that connections without a guest cannot keep a guest out: first those that have not said
//! who they are. Each has [`GRACE`] before that.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::task::{AbortHandle, Id};

/// Largest number of concurrent handshakes, each of which holds at most a frame of 32 KiB.
pub(super) const MOST: usize = 4096;
/// Age from which a handshake gives way to a connection that waits.
const GRACE: Duration = Duration::from_millis(100);

/// A handshake in progress.
#[derive(Debug)]
struct Handshake {
    since: Instant,
    /// The address of the peer.
    from: String,
    /// True once the peer has said who it is.
    is_named: Arc<AtomicBool>,
    task: AbortHandle,
}

/// The handshakes in progress, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Pending(Vec<Handshake>);

impl Pending {
    /// True if no further handshake may begin.
    pub(super) const fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }

    /// Adds a handshake with the peer at address `from`.
    pub(super) fn push(&mut self, task: AbortHandle, from: String, is_named: Arc<AtomicBool>) {
        self.0.push(Handshake { since: Instant::now(), from, is_named, task });
    }

    /// Removes a handshake that has ended.
    pub(super) fn remove(&mut self, task: Id) {
        self.0.retain(|handshake| handshake.task.id() != task);
    }

    /// Ends the handshake that gives way, and describes it; `None` if each is younger than [`GRACE`].
    pub(super) fn make_room(&mut self) -> Option<String> {
        let is_old = |handshake: &&Handshake| handshake.since.elapsed() >= GRACE;
        let unnamed = self.0.iter().position(|one| is_old(&one) && !one.is_named.load(Ordering::Relaxed));
        let at = unnamed.or_else(|| self.0.iter().position(|one| is_old(&one)))?;
        let Handshake { since, from, task, .. } = self.0.remove(at);
        task.abort();
        let waited = since.elapsed().as_secs_f64();
        Some(format!(
            "refused a connection from {from}: its handshake was not over after {waited:.1} s, and others wait"
        ))
    }
}
