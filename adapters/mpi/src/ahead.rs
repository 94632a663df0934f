//! Announces, while the program computes, until when it will send nothing, so that other ranks compute at the same
//! time.
//!
//! While a rank computes, the network cannot advance beyond the rank's time. A separate thread notices that the program
//! has not made a call for a while, and announces the earliest time of its next call. With a fixed time of computing
//! this is the end of the computing; with measured computing it is the time that has been used so far. This changes no
//! result, only which ranks run at once.

use std::ffi::c_int;
use std::thread;
use std::time::Duration;

use crate::entry;
use crate::host;
use crate::settings::Compute;
use crate::threads;

/// Shortest and longest interval between two checks of the program: short while it computes, longer while it makes
/// calls.
const SHORTEST: Duration = Duration::from_micros(250);
/// See [`SHORTEST`].
const LONGEST: Duration = Duration::from_millis(4);

/// Starts the thread, if there is something to announce.
pub(crate) fn begin(compute: Compute) {
    let Some(clock) = host::of_this_thread().filter(|_| compute != Compute::None) else { return };
    // If the thread cannot be started, ranks compute one after another.
    threads::start(move || watch(compute, clock));
}

/// The outcome of an announcement.
enum Announced {
    Yes,
    /// The program makes calls.
    NotNow,
    /// Nothing can be announced any more.
    Never,
}

/// The loop of the thread. `clock` is the clock of the processor time of the program's thread.
fn watch(compute: Compute, clock: c_int) {
    // Number of calls at the last check and at the last announcement, and the time until the next check.
    let (mut seen, mut announced, mut pause) = (0, u64::MAX, SHORTEST);
    loop {
        thread::sleep(pause);
        let calls = entry::calls();
        if calls != seen {
            (seen, pause) = (calls, (pause * 2).min(LONGEST));
            continue;
        }
        if matches!(compute, Compute::Fixed(_)) && announced == calls {
            // The fixed time has been announced already: nothing more is known until the next call.
            pause = LONGEST;
            continue;
        }
        match announce(compute, clock, calls) {
            Announced::Yes => (announced, pause) = (calls, SHORTEST),
            Announced::NotNow => pause = (pause * 2).min(LONGEST),
            Announced::Never => return,
        }
    }
}

/// Announces the earliest time of the next call, unless the program has made a call since there were `calls`.
fn announce(compute: Compute, clock: c_int, calls: u64) -> Announced {
    // If the state is in use, the program waits in a call.
    let announced = entry::try_with(|world| {
        if entry::calls() != calls {
            return Announced::NotNow;
        }
        let more = match compute {
            Compute::None => return Announced::Never,
            Compute::Fixed(time) => time,
            Compute::Measured(factor) => match host::processor_of(clock) {
                Some(now) => (world.uncharged(now) as f64 * factor) as u64,
                None => return Announced::Never,
            },
        };
        let until = world.now().saturating_add(more);
        // If this fails, the run has ended. The next call of the program finds that out.
        match world.guest.as_mut().map(|guest| guest.busy(until)) {
            Some(Ok(())) => Announced::Yes,
            _ => Announced::Never,
        }
    });
    announced.unwrap_or(Announced::NotNow)
}
