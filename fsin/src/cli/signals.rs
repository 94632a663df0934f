//! The signal that ended the command, and the exit status that follows from it.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_usize;

use crate::cli::Exit;

/// The last signal to end, by its number; 0 while there was none.
static SIGNAL: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

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

/// Keeps the number of the last signal to end. Each goes on to its handler.
///
/// # Errors
/// If the system refuses.
pub(crate) fn note() -> io::Result<()> {
    let number = SIGNAL.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        register_usize(signal, Arc::clone(number), signal as usize)?;
    }
    Ok(())
}

/// Ends the process at once, without its temporary folders: no value is dropped.
pub(crate) fn leave(status: i32) -> ! {
    fsin_archives::scratch::remove_all();
    std::process::exit(status)
}
