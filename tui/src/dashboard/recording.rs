//! A recording.

use std::io::{BufRead, Seek};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{News, Source};
use crate::app::Command;
use crate::stream::{Reader, StreamError};
use crate::view::{RunState, Snapshot};

/// Longest time between two snapshots. Longer pauses of the recorded run are shortened to it.
const LONGEST: Duration = Duration::from_secs(2);

/// The notice on a recording that ends at this cycle, before its run does.
#[must_use]
pub fn cut_off(cycle: u64) -> String {
    format!("the recording ends at cycle {cycle}, before its run does: the file was cut, or its run killed")
}

/// A recording, played at the pace at which it was made.
pub struct Recording<R> {
    reader: Reader<R>,
    /// Position of the first snapshot.
    start: u64,
    /// The displayed snapshot, and when it was shown.
    shown: Option<(Arc<Snapshot>, Instant)>,
    /// The next snapshot.
    next: Option<Snapshot>,
    /// True while the recording is paused.
    held: bool,
    /// The cycle up to which the recording is played without pauses.
    until: Option<u64>,
    /// Number of snapshots to show before the next pause.
    steps: u64,
    /// Speed-up over the recorded run, as a power of two.
    pace: i32,
    /// The error to report.
    broken: Option<StreamError>,
    /// True if the displayed snapshot must be shown again, because the recording has been paused or resumed.
    again: bool,
}

impl<R: BufRead + Seek> Recording<R> {
    /// Plays from the first snapshot on.
    ///
    /// # Errors
    /// When the recording cannot be read, or has no snapshot.
    pub fn new(mut reader: Reader<R>) -> Result<Self, StreamError> {
        let start = reader.position()?;
        let next = reader.next_snapshot()?;
        if next.is_none() {
            return Err(StreamError::Empty);
        }
        let shown = None;
        Ok(Self { reader, start, shown, next, held: false, until: None, steps: 0, pace: 0, broken: None, again: false })
    }

    /// True if the next snapshot must be shown now.
    fn is_due(&self) -> bool {
        let (Some((shown, since)), Some(next)) = (&self.shown, &self.next) else { return true };
        let gap = (next.elapsed_seconds - shown.elapsed_seconds).max(0.0) * 0.5f64.powi(self.pace);
        self.steps > 0
            || self.until.is_some_and(|until| next.cycle <= until)
            || (!self.held && since.elapsed() >= Duration::try_from_secs_f64(gap).unwrap_or(LONGEST).min(LONGEST))
    }

    /// A snapshot for display, with its state changed if the recording is paused.
    fn marked(&self, snapshot: &Snapshot) -> Snapshot {
        let mut marked = snapshot.clone();
        if snapshot.state == RunState::Ended {
            return marked;
        }
        if self.next.is_none() && self.broken.is_none() {
            // The recording ends before its run.
            marked.state = RunState::Paused;
            marked.phase = "cut off here".to_owned();
            marked.log.push(cut_off(snapshot.cycle));
        } else if self.held && self.steps == 0 && self.until.is_none() {
            marked.state = RunState::Paused;
        }
        marked
    }

    /// Returns to the first snapshot.
    fn rewind(&mut self) -> Result<(), StreamError> {
        self.reader.seek(self.start)?;
        self.next = self.reader.next_snapshot()?;
        Ok(())
    }
}

impl<R: BufRead + Seek> Source for Recording<R> {
    fn poll(&mut self) -> News {
        if let Some(error) = self.broken.take() {
            return News::Lost(format!("the recording is damaged: {error}"));
        }
        if let Some((shown, _)) = self.shown.as_ref().filter(|_| std::mem::take(&mut self.again)) {
            return News::Snapshot(Arc::new(self.marked(shown)));
        }
        if !self.is_due() {
            return News::Nothing;
        }
        let Some(next) = self.next.take() else { return News::Nothing };
        match self.reader.next_snapshot() {
            Ok(following) => self.next = following,
            Err(error) => self.broken = Some(error),
        }
        self.steps = self.steps.saturating_sub(1);
        if self.until.is_some_and(|until| self.next.as_ref().is_none_or(|next| next.cycle > until)) {
            self.until = None;
        }
        let next = Arc::new(next);
        self.shown = Some((Arc::clone(&next), Instant::now()));
        News::Snapshot(Arc::new(self.marked(&next)))
    }

    fn command(&mut self, command: Command) -> Option<String> {
        match command {
            Command::Pause => {
                (self.held, self.again) = (true, true);
                return Some("held (p: go on, s: the next snapshot, g: to a cycle)".to_owned());
            }
            Command::Resume => (self.held, self.again) = (false, true),
            Command::Step(number) => (self.held, self.steps) = (true, if number > 1 { 10 } else { 1 }),
            Command::RunTo(cycle) => {
                let now = self.shown.as_ref().map_or(0, |(shown, _)| shown.cycle);
                if cycle < now
                    && let Err(error) = self.rewind()
                {
                    self.broken = Some(error);
                }
                (self.held, self.until) = (true, Some(cycle));
            }
            Command::Limit(None) => self.pace = (self.pace + 1).min(10),
            Command::Limit(Some(_)) => self.pace = (self.pace - 1).max(-10),
            Command::Watch(_) | Command::Quit | Command::Leave | Command::Abort => {}
        }
        match command {
            Command::Limit(_) => Some(format!("{} times the pace of the run", 2f64.powi(self.pace))),
            _ => None,
        }
    }
}
