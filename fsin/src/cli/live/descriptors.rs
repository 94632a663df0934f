//! Descriptors: checks at the start that the system allows as many open files as a run needs.
//!
//! A run that exceeds the limit cannot accept its last guests, and would wait for them without an end.

use std::fs;

use rustix::process::{Resource, getrlimit, setrlimit};

use crate::cli::{Complaint, Exit};

/// Files that a run opens besides those of its guests, at most: the socket, the runtime, logs, captures, results,
/// viewers, libraries.
const OWN: u64 = 24;

/// Number of open files at present.
fn open() -> u64 {
    // Elsewhere than on Linux: the standard streams.
    fs::read_dir("/proc/self/fd").map_or(3, |all| all.count() as u64)
}

/// Raises the limit of open files to `more` than those of the run itself, at most to the hard limit. Returns the number
/// needed and the hard limit if that is too low.
pub(crate) fn raise(more: u64) -> Result<(), (u64, u64)> {
    let needed = open() + OWN + more;
    let mut limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.unwrap_or(u64::MAX);
    if limit.current.is_some_and(|current| current < needed.min(allowed)) {
        limit.current = Some(needed.min(allowed));
        // An error leaves the limit as it is, which is checked below.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    let current = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    if current < needed { Err((needed, current)) } else { Ok(()) }
}

/// Raises the limit of open files for a run that needs `more` files than those of the run itself. `what` needs them.
///
/// # Errors
/// The hard limit is too low.
pub(crate) fn reserve(more: u64, what: &str) -> Result<(), Complaint> {
    raise(more).map_err(|(needed, allowed)| {
        let what = format!("{what}: {needed} open files are needed, and the system allows {allowed}");
        let remedy = format!("raise the limit, also the hard one (ulimit -n {needed}), or use fewer");
        Complaint::new(Exit::Failed, what, remedy)
    })
}
