//! Ctrl-C: the first one ends the run with partial results, the second one ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{Complaint, Exit};

/// True once the user has asked to stop.
static STOP: AtomicBool = AtomicBool::new(false);

/// What the first Ctrl-C is answered by commands that simulate one network.
pub(crate) const OF_A_RUN: &str = "stopping at the end of this cycle; again to stop at once, without results";
/// The same of commands that have no results of their own.
pub(crate) const OF_NOTHING: &str = "stopping; again to stop at once";

/// Begins to listen; the flag that is returned becomes true at the first Ctrl-C (or termination signal), which is answered
/// with `first`.
pub(crate) fn listen(first: impl Into<String>) -> Result<&'static AtomicBool, Complaint> {
    let first = first.into();
    ctrlc::set_handler(move || {
        if STOP.swap(true, Ordering::Relaxed) {
            tui::terminal::restore();
            std::process::exit(Exit::Interrupted as i32);
        }
        if tui::terminal::is_taken() {
            // The dashboard says so.
            return;
        }
        super::output::tell(&first);
    })
    .map_err(|error| {
        Complaint::new(Exit::Failed, format!("cannot listen for Ctrl-C: {error}"), "run it from an ordinary shell")
    })?;
    Ok(&STOP)
}

/// The flag that becomes true at the first Ctrl-C, for those who do not begin to listen themselves.
pub(crate) fn flag() -> &'static AtomicBool {
    &STOP
}
