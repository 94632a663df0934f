//! The watcher of a run: serves snapshot requests and executes the user's commands.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use tui::app::Command;
use tui::feed::Feed;
use tui::view::RunState;

use super::{Recorder, Sampler};
use fsin_core::run::ENDED;
use fsin_core::watch::{Glimpse, Watch};

/// Approximate interval between two polls.
const POLL_INTERVAL: Duration = Duration::from_millis(4);
/// \[cycles\] Interval between the first two polls, while the speed of the run is unknown.
const FIRST: u64 = 16;
/// \[cycles\] Longest interval between two polls. While anything happens, polls come earlier than in that many cycles:
/// a cycle may be a picosecond.
const LONGEST: u64 = 1 << 60;
/// Wall-clock time between two snapshots divided by the time that taking a snapshot costs: the run is slowed down by at
/// most 2 %.
const COST_RATIO: u32 = 50;
/// Interval at which a pause checks whether it should end.
const PATIENCE: Duration = Duration::from_millis(50);

/// Watcher of a run: see the [module](super).
#[derive(Debug)]
pub struct Watcher<'a> {
    feed: Arc<Feed>,
    /// Commands of the user.
    commands: Receiver<Command>,
    /// Ends a pause when it becomes true.
    stop: &'a AtomicBool,
    sampler: Sampler,
    recorder: Option<Recorder>,
    /// The cycle at which the run pauses.
    hold: Option<u64>,
    /// Speed limit \[cycles/s\], and the time and cycle at which it was set.
    limit: Option<(u64, Instant, u64)>,
    /// Time and clock of the last poll.
    last: Option<(Instant, u64)>,
    /// \[cycles\] Interval to the next poll.
    slice: u64,
    /// Earliest time of the next snapshot.
    next_snapshot: Option<Instant>,
}

impl<'a> Watcher<'a> {
    /// Shows the run on `feed`, and executes `commands`. A pause ends when `stop` is true, or when all senders of
    /// commands are gone.
    #[must_use]
    pub fn new(feed: Arc<Feed>, commands: Receiver<Command>, stop: &'a AtomicBool) -> Self {
        Self {
            feed,
            commands,
            stop,
            sampler: Sampler::default(),
            recorder: None,
            hold: None,
            limit: None,
            last: None,
            slice: FIRST,
            next_snapshot: None,
        }
    }

    /// Also records the run.
    #[must_use]
    pub fn recorded(self, recorder: Option<Recorder>) -> Self {
        Self { recorder, ..self }
    }

    /// Ends the recording, if there is one.
    ///
    /// # Errors
    /// When part of it could not be written.
    pub fn close_recording(&mut self) -> std::io::Result<()> {
        self.recorder.take().map_or(Ok(()), Recorder::close)
    }

    /// Executes a command in cycle `clock`.
    fn execute(&mut self, command: Command, clock: u64) {
        match command {
            Command::Pause => self.hold = Some(clock),
            Command::Resume => self.hold = None,
            Command::Step(cycles) => self.hold = Some(clock.saturating_add(cycles)),
            Command::RunTo(cycle) => self.hold = Some(cycle),
            Command::Limit(limit) => self.limit = limit.map(|limit| (limit.max(1), Instant::now(), clock)),
            // This command concerns the dashboard, which shows another run.
            Command::Watch(_) => {}
            // The dashboard sets the stop flag; here only the pause ends.
            Command::Quit | Command::Leave | Command::Abort => self.hold = None,
        }
    }

    /// Waits for a command, at most for `patience`, and executes it.
    fn wait(&mut self, patience: Duration, clock: u64) {
        match self.commands.recv_timeout(patience) {
            Ok(command) => self.execute(command, clock),
            Err(RecvTimeoutError::Timeout) => {}
            // All senders are gone: no command can end the pause.
            Err(RecvTimeoutError::Disconnected) => (self.hold, self.limit) = (None, None),
        }
    }

    /// Takes a snapshot, publishes it, and records it if that is due.
    fn take_snapshot(&mut self, glimpse: &Glimpse<'_>, state: RunState) {
        let before = Instant::now();
        let limit = self.limit.map(|(limit, ..)| limit);
        let snapshot = self.sampler.sample(glimpse, state, limit);
        if let Some(recorder) = &mut self.recorder
            && (state == RunState::Ended || recorder.is_due(snapshot.cycle))
        {
            recorder.keep(&snapshot);
        }
        self.feed.publish(snapshot);
        let now = Instant::now();
        self.next_snapshot = Some(now + (now - before) * COST_RATIO);
    }

    /// True if a snapshot is to be taken in cycle `clock`.
    fn is_wanted(&self, clock: u64, now: Instant) -> bool {
        let may_cost = self.next_snapshot.is_none_or(|next| now >= next);
        let is_recorded = self.recorder.as_ref().is_some_and(|recorder| match recorder.next(clock) {
            Some(_) => recorder.is_due(clock),
            None => may_cost && recorder.is_due(clock),
        });
        is_recorded || (may_cost && self.feed.is_wanted())
    }

    /// True if the run is to pause in cycle `clock`.
    fn is_held(&self, clock: u64) -> bool {
        self.hold.is_some_and(|hold| clock >= hold) && !self.stop.load(Ordering::Relaxed)
    }

    /// Pauses the run until a command or `stop` ends the pause.
    fn pause(&mut self, glimpse: &Glimpse<'_>) {
        let clock = glimpse.progress.clock.0;
        self.take_snapshot(glimpse, RunState::Paused);
        while self.is_held(clock) {
            let limit = self.limit;
            self.wait(PATIENCE, clock);
            if limit != self.limit {
                self.take_snapshot(glimpse, RunState::Paused);
            }
        }
        self.sampler.resume(clock);
        if let Some((_, since, from)) = &mut self.limit {
            (*since, *from) = (Instant::now(), clock);
        }
        (self.last, self.slice) = (None, FIRST);
        // The end of a pause is shown at once. A step is shown at its end, by the next pause.
        if self.hold.is_none() {
            self.take_snapshot(glimpse, RunState::Running);
        }
    }

    /// Waits until the speed limit permits the simulated cycles.
    fn brake(&mut self, clock: u64) {
        while let Some((limit, since, from)) = self.limit {
            let due = (clock - from) as f64 / limit as f64;
            let early = due - since.elapsed().as_secs_f64();
            if early <= 0.0 || self.is_held(clock) || self.stop.load(Ordering::Relaxed) {
                return;
            }
            self.wait(PATIENCE.min(Duration::from_secs_f64(early)), clock);
        }
    }

    /// Number of cycles to the next poll.
    fn next(&mut self, clock: u64, now: Instant) -> u64 {
        if let Some((then, before)) = self.last {
            let (cycles, time) = (clock.saturating_sub(before), now.duration_since(then));
            let reached = cycles as f64 / time.as_secs_f64().max(1e-9) * POLL_INTERVAL.as_secs_f64();
            // The interval at most doubles, because the run may have been faster than usual in the last one.
            self.slice = (reached as u64).min(self.slice.saturating_mul(2)).clamp(1, LONGEST);
        }
        self.last = Some((Instant::now(), clock));
        let to_hold = self.hold.map(|hold| hold.saturating_sub(clock));
        let to_limit = self.limit.map(|(limit, ..)| (limit / 20).max(1));
        let to_keep = self.recorder.as_ref().and_then(|recorder| recorder.next(clock));
        [to_hold, to_limit, to_keep].into_iter().flatten().fold(self.slice, u64::min)
    }
}

impl Watch for Watcher<'_> {
    fn look(&mut self, glimpse: Glimpse<'_>) -> u64 {
        let clock = glimpse.progress.clock.0;
        if glimpse.progress.phase == ENDED {
            self.take_snapshot(&glimpse, RunState::Ended);
            return LONGEST;
        }
        loop {
            match self.commands.try_recv() {
                Ok(command) => self.execute(command, clock),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    (self.hold, self.limit) = (None, None);
                    break;
                }
            }
        }
        self.brake(clock);
        let now = Instant::now();
        if self.is_held(clock) {
            self.pause(&glimpse);
        } else if self.is_wanted(clock, now) {
            self.take_snapshot(&glimpse, RunState::Running);
        }
        self.next(clock, now)
    }
}
