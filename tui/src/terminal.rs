//! The terminal: taken, and given back as it was, whatever happens.
//!
//! The dashboard is drawn on stderr, so that stdout stays for results. The terminal is restored when [`Screen`] goes, when
//! any thread panics, and by [`restore`], which a handler of signals may call. Whether it is taken is the one global
//! state of this crate: a process has one terminal.

use std::io::{self, BufWriter, IsTerminal, Stderr, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{execute, style};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use crate::app::App;
use crate::screens;

/// True while the terminal is taken.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// True if stderr is a terminal on which keys can be read.
#[must_use]
pub fn is_there() -> bool {
    io::stderr().is_terminal() && io::stdin().is_terminal()
}

/// True while the dashboard has the terminal.
#[must_use]
pub fn is_taken() -> bool {
    TAKEN.load(Ordering::Acquire)
}

/// True if the terminal that the dashboard has is there no more: its window was closed, or the connection to it was lost.
/// Who waits for keys then may wait for ever.
#[must_use]
pub fn has_gone() -> bool {
    is_taken() && !is_there()
}

/// Gives the terminal back, if it is taken.
pub fn restore() {
    if TAKEN.swap(false, Ordering::AcqRel) {
        // A terminal that has gone needs no restoring.
        let _ = disable_raw_mode();
        let mut out = io::stderr();
        let _ = execute!(out, style::ResetColor, LeaveAlternateScreen, Show);
        let _ = out.flush();
    }
}

/// The terminal while the dashboard has it.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stderr>>>,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When it is none, or fails.
    pub fn take() -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                before(panic);
            }));
        });
        let terminal = Terminal::new(CrosstermBackend::new(BufWriter::new(io::stderr())))?;
        TAKEN.store(true, Ordering::Release);
        let screen = Self { terminal };
        enable_raw_mode()?;
        execute!(io::stderr(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    /// Draws what the user is looking at, unless the terminal has been given back.
    ///
    /// # Errors
    /// When the terminal fails.
    pub fn draw(&mut self, app: &App) -> io::Result<()> {
        if is_taken() {
            self.terminal.draw(|frame| screens::draw(app, frame.area(), frame.buffer_mut()))?;
        }
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}
