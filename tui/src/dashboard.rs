//! The loop of the dashboard: takes snapshots and keys, draws frames.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossterm::event::{self, Event};

use crate::app::{App, Command};
use crate::terminal::{Screen, is_taken};
use crate::view::{About, Change, Snapshot};

mod live;
mod recording;
mod sweeping;
mod viewer;

pub use live::Live;
pub use recording::{Recording, cut_off};
pub use sweeping::Sweeping;
pub use viewer::Viewer;

/// Polling interval of keys and snapshots.
const TICK: Duration = Duration::from_millis(50);
/// How long a notice hides the state of the run.
const NOTICE: Duration = Duration::from_secs(4);
/// Shortest time between two frames.
const FRAME: Duration = Duration::from_millis(100);

/// Result of polling a source.
#[derive(Clone, PartialEq, Debug)]
pub enum News {
    /// Nothing new.
    Nothing,
    /// A snapshot.
    Snapshot(Arc<Snapshot>),
    /// Another run, to which later snapshots belong.
    Run(Arc<About>),
    /// The sweep has changed.
    Sweep(Change),
    /// Nothing more will come; the dashboard should close.
    Over,
    /// The connection is broken.
    Lost(String),
}

/// A source of snapshots and a receiver of commands.
pub trait Source {
    /// The next item. Does not block.
    fn poll(&mut self) -> News;

    /// Handles a command. Returns a notice for the user.
    fn command(&mut self, command: Command) -> Option<String>;
}

/// How the dashboard ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The user has left, or the source is over.
    Left,
    /// The user wants the process to end at once.
    Aborted,
    /// The connection was lost.
    Lost(String),
}

/// Shows a run until the user leaves, the source is over, or `stop` becomes true. A run of this process is shown until
/// its source reports the end, also after `stop` has become true.
///
/// # Errors
/// When the terminal fails.
pub fn show(app: &mut App, source: &mut dyn Source, stop: &AtomicBool) -> io::Result<Ending> {
    let mut screen = Screen::take()?;
    let mut drawn: Option<Instant> = None;
    let mut noticed: Option<Instant> = None;
    let mut dirty = true;
    loop {
        loop {
            match source.poll() {
                News::Nothing => break,
                News::Snapshot(snapshot) => {
                    app.push(snapshot);
                    dirty = true;
                }
                News::Run(about) => app.begin(about),
                News::Sweep(change) => {
                    if let Some(sweep) = &mut app.sweep {
                        sweep.apply(change);
                    }
                    dirty = true;
                }
                News::Over => return Ok(Ending::Left),
                News::Lost(why) => return Ok(Ending::Lost(why)),
            }
        }
        if stop.load(Ordering::Relaxed) {
            if app.mode != crate::app::Mode::Live {
                return Ok(Ending::Left);
            }
            dirty |= !std::mem::replace(&mut app.quitting, true);
        }
        if !is_taken() {
            // Another thread has panicked, or the process is about to end.
            return Ok(Ending::Left);
        }
        match noticed {
            _ if app.notice.is_none() => noticed = None,
            None => noticed = Some(Instant::now()),
            Some(since) if since.elapsed() >= NOTICE => (app.notice, dirty) = (None, true),
            Some(_) => {}
        }
        if dirty && drawn.is_none_or(|at| at.elapsed() >= FRAME) {
            screen.draw(app)?;
            drawn = Some(Instant::now());
            dirty = false;
        }
        let mut patience = TICK;
        while event::poll(patience)? {
            // With a timeout of zero the terminal would not be polled.
            patience = Duration::from_millis(1);
            match event::read()? {
                Event::Key(key) => {
                    // Redraw at once after a key.
                    (dirty, drawn, noticed) = (true, None, None);
                    match app.key(key) {
                        Some(Command::Leave) => return Ok(Ending::Left),
                        Some(Command::Abort) => return Ok(Ending::Aborted),
                        Some(command) => {
                            let notice = source.command(command);
                            app.notice = notice.or(app.notice.take());
                        }
                        None => {}
                    }
                }
                // Drawing detects the new size and redraws everything. (Clearing first would query the cursor position,
                // which some terminals answer late or never.)
                Event::Resize(..) => (dirty, drawn) = (true, None),
                _ => {}
            }
        }
    }
}
