//! Announces, while the program computes, until when it will send nothing, so that other ranks compute at the same
//! time.
//!
//! While a rank computes, the network cannot advance beyond the rank's time. A separate thread notices that the program
//! has not made a call for a while, and announces the earliest time of its next call. With a fixed time of computing
//! this is the end of the computing; with measured computing it is the time that has been used so far. This changes no
//! result, only which ranks run at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::clock;
use crate::world::{Compute, inside, w};

/// Held by the thread of the program during calls.
static TURN: Mutex<()> = Mutex::new(());
/// Number of calls so far.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// Shortest and longest interval between two checks of the program: short while it computes, longer while it makes
/// calls.
const SHORTEST: Duration = Duration::from_micros(250);
/// See [`SHORTEST`].
const LONGEST: Duration = Duration::from_millis(4);

/// Called at the beginning of a call. No announcement is made until the result is dropped, at the end of the call.
pub(crate) fn hold() -> MutexGuard<'static, ()> {
    CALLS.fetch_add(1, Ordering::Relaxed);
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the thread, if there is something to announce.
pub(crate) fn begin(compute: Compute) {
    let clock = clock::of_this_thread();
    if compute == Compute::None || clock.is_none() {
        return;
    }
    // If the thread cannot be started, ranks compute one after another.
    let _ =
        thread::Builder::new().name("fsin-mpi".to_owned()).spawn(move || inside(|| watch(compute, clock.unwrap_or(0))));
}

/// The loop of the thread. `clock` is the clock of the processor time of the program's thread.
fn watch(compute: Compute, clock: std::ffi::c_int) {
    // Number of calls at the last check and at the last announcement, and the time until the next check.
    let (mut seen, mut announced, mut pause) = (0, u64::MAX, SHORTEST);
    loop {
        thread::sleep(pause);
        let calls = CALLS.load(Ordering::Relaxed);
        if calls != seen {
            (seen, pause) = (calls, (pause * 2).min(LONGEST));
            continue;
        }
        // If the lock is held, the program waits in a call.
        let Ok(_turn) = TURN.try_lock() else {
            pause = (pause * 2).min(LONGEST);
            continue;
        };
        if CALLS.load(Ordering::Relaxed) != calls {
            continue;
        }
        pause = SHORTEST;
        let world = w();
        let more = match compute {
            Compute::Fixed(time) if announced != calls => time,
            Compute::Measured(factor) => {
                let Some(now) = clock::processor_of(clock) else { return };
                let used = world.used + now.saturating_sub(world.left);
                (used as f64 * factor) as u64
            }
            // The fixed time has been announced already: nothing more is known until the next call.
            _ => {
                pause = LONGEST;
                continue;
            }
        };
        announced = calls;
        let until = world.now().saturating_add(more);
        let Some(guest) = &mut world.guest else { return };
        // If this fails, the run has ended. The next call of the program finds that out.
        if guest.busy(until).is_err() {
            return;
        }
    }
}
