//! A run of this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use super::{News, Source};
use crate::app::Command;
use crate::feed::Feed;
use crate::view::RunState;

/// Interval between snapshot requests.
const PERIOD: Duration = Duration::from_millis(100);

/// A run of this process: requests snapshots from its feed, and passes on the user's commands.
#[derive(Debug)]
pub struct Live<'a> {
    feed: Arc<Feed>,
    commands: Sender<Command>,
    /// Set when the user wants the run to end.
    stop: &'a AtomicBool,
    /// Number of the latest snapshot that has been shown.
    seen: u64,
    /// When a snapshot was requested last.
    asked: Option<Instant>,
}

impl<'a> Live<'a> {
    /// Reads from `feed`, and sends to `commands`. `stop` is set when the user wants the run to end.
    #[must_use]
    pub const fn new(feed: Arc<Feed>, commands: Sender<Command>, stop: &'a AtomicBool) -> Self {
        Self { feed, commands, stop, seen: 0, asked: None }
    }
}

impl Source for Live<'_> {
    fn poll(&mut self) -> News {
        if let Some((number, snapshot)) = self.feed.newer(self.seen, Duration::ZERO) {
            self.seen = number;
            return News::Snapshot(snapshot);
        }
        if self.feed.is_closed() {
            // After a request to end, close at once.
            return if self.stop.load(Ordering::Relaxed) { News::Over } else { News::Nothing };
        }
        if self.asked.is_none_or(|asked| asked.elapsed() >= PERIOD) {
            self.asked = Some(Instant::now());
            self.feed.ask();
        }
        News::Nothing
    }

    fn command(&mut self, command: Command) -> Option<String> {
        if command == Command::Quit {
            self.stop.store(true, Ordering::Relaxed);
        }
        let over = self.feed.is_closed() || self.commands.send(command).is_err();
        // Request a snapshot soon, to show the effect.
        self.asked = None;
        let ended = self.feed.newer(0, Duration::ZERO).is_some_and(|(_, last)| last.state == RunState::Ended);
        (over || ended).then(|| "the run is over; q leaves".to_owned())
    }
}
