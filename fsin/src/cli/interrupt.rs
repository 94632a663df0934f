//! Ctrl-C, and other signals to end: the first one ends the run with partial results, the second one ends the process.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_usize;

use super::{Complaint, Exit};

/// True once the user has requested a stop.
static STOP: AtomicBool = AtomicBool::new(false);

/// True while there are no results to keep: a trace is being read, a network is being built.
static LOADING: AtomicBool = AtomicBool::new(false);

/// The last signal to end, by its number; 0 while there was none.
static SIGNAL: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

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

/// Exit status of a command that was interrupted, as a shell gives it: 128 plus the number of the signal. Without one
/// it is that of Ctrl-C.
pub(crate) fn status() -> i32 {
    match SIGNAL.get().map_or(0, |signal| signal.load(Ordering::Relaxed)) {
        0 => Exit::Interrupted as i32,
        signal => 128 + signal as i32,
    }
}

/// True if an exit status is that of a command of ours that was interrupted.
pub(crate) fn is_status(code: Option<i32>) -> bool {
    code.is_some_and(|code| [SIGINT, SIGTERM, SIGHUP].into_iter().any(|signal| code == 128 + signal))
}

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
            std::process::exit(status());
        }
        if super::watch::looking::terminal::is_taken() {
            // The dashboard shows that the run is stopping.
            return;
        }
        super::output::tell(&first);
    })
    .map_err(|error| failed(&error))?;
    // Which signal it was: each leaves its number, and goes on to the handler.
    let number = SIGNAL.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        register_usize(signal, Arc::clone(number), signal as usize).map_err(|error| failed(&error))?;
    }
    Ok(&STOP)
}

/// The flag that becomes true at the first Ctrl-C, without installing the handler.
pub(crate) fn flag() -> &'static AtomicBool {
    &STOP
}
