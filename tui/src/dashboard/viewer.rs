//! A run of another process.

use std::io::BufRead;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

use super::{News, Source};
use crate::app::Command;
use crate::stream::{Reader, StreamError};
use crate::view::{RunState, Snapshot};

/// Largest number of snapshots queued for display. If the viewer is slow, further ones wait in the connection.
const WAITING: usize = 4;

/// A run of another process. The user's keys do not affect it; they only freeze the display.
#[derive(Debug)]
pub struct Viewer {
    snapshots: Receiver<Result<Snapshot, StreamError>>,
    /// The last snapshot that has arrived.
    last: Option<Arc<Snapshot>>,
    /// True while the display is frozen.
    held: bool,
    /// The cycle at which the display will be frozen.
    until: Option<u64>,
    /// Number of snapshots to show while the display is frozen.
    steps: u64,
    /// True once the stream has ended.
    over: bool,
    /// True if the last snapshot must be shown again, because the display has been frozen or released.
    again: bool,
}

impl Viewer {
    /// Reads the snapshots of a stream on a separate thread.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn new(mut reader: Reader<impl BufRead + Send + 'static>) -> std::io::Result<Self> {
        let (sender, snapshots) = sync_channel(WAITING);
        thread::Builder::new().name("viewer".to_owned()).spawn(move || {
            loop {
                let next = reader.next_snapshot().transpose();
                let end = !matches!(next, Some(Ok(_)));
                if let Some(next) = next
                    && sender.send(next).is_err()
                {
                    return;
                }
                if end {
                    return;
                }
            }
        })?;
        Ok(Self { snapshots, last: None, held: false, until: None, steps: 0, over: false, again: false })
    }

    /// A snapshot for display, marked as paused if the display is frozen.
    fn marked(&self, snapshot: &Snapshot) -> Snapshot {
        let paused = self.held && snapshot.state != RunState::Ended;
        Snapshot { state: if paused { RunState::Paused } else { snapshot.state }, ..snapshot.clone() }
    }
}

impl Source for Viewer {
    fn poll(&mut self) -> News {
        if self.over {
            return News::Nothing;
        }
        if let Some(last) = self.last.as_ref().filter(|_| std::mem::take(&mut self.again)) {
            return News::Snapshot(Arc::new(self.marked(last)));
        }
        let next = match self.snapshots.try_recv() {
            Ok(next) => next,
            Err(TryRecvError::Empty) => return News::Nothing,
            Err(TryRecvError::Disconnected) => {
                self.over = true;
                return match &self.last {
                    Some(last) if last.state == RunState::Ended => News::Nothing,
                    Some(last) => News::Lost(format!("the connection was lost at cycle {}", last.cycle)),
                    None => News::Lost("the connection was lost before the first snapshot".to_owned()),
                };
            }
        };
        let snapshot = match next {
            Ok(snapshot) => Arc::new(snapshot),
            Err(error) => {
                self.over = true;
                return News::Lost(format!("the stream broke: {error}"));
            }
        };
        self.last = Some(Arc::clone(&snapshot));
        if self.held && self.steps == 0 && snapshot.state != RunState::Ended {
            return News::Nothing;
        }
        self.steps = self.steps.saturating_sub(1);
        if self.until.is_some_and(|until| snapshot.cycle >= until) {
            self.until = None;
            self.held = true;
        }
        News::Snapshot(Arc::new(self.marked(&snapshot)))
    }

    fn command(&mut self, command: Command) -> Option<String> {
        match command {
            Command::Pause => (self.held, self.again) = (true, true),
            Command::Resume => (self.held, self.again) = (false, true),
            Command::Step(snapshots) => (self.held, self.steps) = (true, snapshots.min(10)),
            Command::RunTo(cycle) => (self.held, self.until) = (false, Some(cycle)),
            Command::Limit(_) => return Some("a viewer does not steer the run: its speed is not limited".to_owned()),
            Command::Watch(_) | Command::Quit | Command::Leave | Command::Abort => {}
        }
        self.held.then(|| "the picture is held; the run goes on (p: follow it)".to_owned())
    }
}
