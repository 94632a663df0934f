//! Ctrl-C, and other signals to end: the first one ends the run with partial results, the second one ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{Complaint, Exit, signals};

/// True once the user has requested a stop.
static STOP: AtomicBool = AtomicBool::new(false);

/// True while there are no results to keep: a trace is being read, a network is being built.
static LOADING: AtomicBool = AtomicBool::new(false);

/// Call this before results exist: until [`loaded`] is called, the first Ctrl-C ends the process at once.
pub(crate) fn loading() {
    LOADING.store(true, Ordering::Relaxed);
}

/// Call this when results exist: from now on the first Ctrl-C preserves them.
pub(crate) fn loaded() {
    if LOADING.load(Ordering::Relaxed) {
        LOADING.store(false, Ordering::Relaxed);
    }
}

/// Message at the first Ctrl-C, for commands that simulate one network.
pub(crate) const OF_A_RUN: &str = "stopping at the end of this cycle; again to stop at once, without results";
/// Message at the first Ctrl-C, for commands without results of their own.
#[cfg(feature = "tui")]
pub(crate) const OF_NOTHING: &str = "stopping; again to stop at once";

/// Installs the handler; the returned flag becomes true at the first Ctrl-C (or termination signal), which prints
/// `first`.
pub(crate) fn listen(first: impl Into<String>) -> Result<&'static AtomicBool, Complaint> {
    let first = first.into();
    let failed = |error: &dyn std::fmt::Display| {
        Complaint::new(Exit::Failed, format!("cannot listen for Ctrl-C: {error}"), "run it from an ordinary shell")
    };
    ctrlc::set_handler(move || {
        if STOP.swap(true, Ordering::Relaxed) || LOADING.load(Ordering::Relaxed) {
            super::watch::looking::terminal::restore();
            signals::leave(signals::status());
        }
        if super::watch::looking::terminal::is_taken() {
            // The dashboard shows that the run is stopping.
            return;
        }
        super::output::tell(&first);
    })
    .map_err(|error| failed(&error))?;
    // Which signal it was: each leaves its number, and goes on to the handler.
    signals::note().map_err(|error| failed(&error))?;
    Ok(&STOP)
}

/// The flag that becomes true at the first Ctrl-C, without installing the handler.
pub(crate) fn flag() -> &'static AtomicBool {
    &STOP
}
