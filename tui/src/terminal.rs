//! The terminal: acquired, and restored in every case.
//!
//! The dashboard is drawn on stderr, so that stdout stays free for results. The terminal is restored when [`Screen`] is
//! dropped, when any thread panics, and by [`restore`], which a signal handler may call. The only
//! global state of this crate is whether the terminal is acquired, because a process has one terminal.

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

/// True while the dashboard has the terminal.
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

/// True if the dashboard's terminal has disappeared: its window was closed, or the connection to it was lost. Waiting
/// for keys may then block for ever.
#[must_use]
pub fn has_gone() -> bool {
    is_taken() && !is_there()
}

/// Restores the terminal, if the dashboard has it.
pub fn restore() {
    if TAKEN.swap(false, Ordering::AcqRel) {
        // Errors are ignored: a terminal that has disappeared need not be restored.
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
    /// Acquires the terminal.
    ///
    /// # Errors
    /// When stderr is not a terminal, or the terminal fails.
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

    /// Draws the dashboard, unless the terminal has been restored.
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
