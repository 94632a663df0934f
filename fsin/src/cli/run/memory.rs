//! Monitors the memory of the process, and reports exhaustion.
//!
//! A system without memory ends a process without advice. That a network fits is checked before it is built; what grows
//! during the run, such as messages that wait at saturated nodes, is monitored.

use std::thread;
use std::time::Duration;

use fsin::experiment::memory::{Limit, bytes_in_file, control_groups, limits};

use crate::cli::{Complaint, Exit, diagnostic};

/// \[bytes\] A gibibyte.
const GIB: f64 = (1 << 30) as f64;

/// Interval between two checks of the memory left.
const PERIOD: Duration = Duration::from_millis(100);

/// \[bytes\] A process with less memory does not cause a shortage, and is not checked.
const SMALL: u64 = 64 << 20;

/// Monitors the memory of this process from now on, and ends it with an error when memory is nearly exhausted, where
/// the system reports the amount (Linux).
pub(crate) fn watch() {
    let monitor = || {
        let groups = control_groups();
        while let Some(own) = bytes_in_file("/proc/self/status", "VmRSS:") {
            if own >= SMALL
                && let Some(limit) = limits(&groups).iter().find(|limit| is_exhausted(limit, own))
            {
                end_process(limit, own);
            }
            thread::sleep(PERIOD);
        }
    };
    // Without a thread there is no monitoring, as on other systems.
    let _ = thread::Builder::new().name("memory".to_owned()).spawn(monitor);
}

/// True if little memory is left and this process, which holds `own` bytes, is a cause. If others exhaust the memory,
/// the system chooses which of them to end.
fn is_exhausted(limit: &Limit, own: u64) -> bool {
    let reserve = (limit.bytes / 16).min(512 << 20);
    limit.left < reserve && own > limit.bytes / 4
}

/// Ends the process, which holds `own` bytes, with an error.
fn end_process(limit: &Limit, own: u64) -> ! {
    crate::cli::watch::looking::terminal::restore();
    let gib = |bytes: u64| bytes as f64 / GIB;
    let what = format!(
        "out of memory: this process holds {:.2} GiB, and {} {:.2} GiB, of which {:.2} are left; the run has ended without results",
        gib(own),
        limit.whose,
        gib(limit.bytes),
        gib(limit.left)
    );
    let remedy = "beyond saturation the messages that wait grow as long as the run lasts: lower --load, or run for fewer cycles; else \
                  use a smaller network or trace, or fewer --jobs at the same time";
    diagnostic::show(&Complaint::new(Exit::Failed, what, remedy));
    crate::cli::signals::leave(Exit::Failed as i32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_little_is_not_ended_for_others() {
        const MIB: u64 = 1 << 20;
        let limit = |left: u64| Limit { bytes: 4096 * MIB, left: left * MIB, whose: "this machine has" };
        assert!(is_exhausted(&limit(200), 2000 * MIB));
        assert!(!is_exhausted(&limit(300), 2000 * MIB), "there is enough left");
        assert!(!is_exhausted(&limit(200), 1000 * MIB), "others hold it");
    }
}
