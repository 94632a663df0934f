//! The end of the network, which a program that computes does not notice.

use std::time::Duration;

use adapters::guest::Lifeline;

use crate::host;
use crate::threads;
use crate::world;

/// How long the program may take to notice by itself.
const GRACE: Duration = Duration::from_secs(2);

/// Ends this process when the network is gone: the command cannot end a process of another host that computes. If the thread for it
/// cannot be started, the program notices at its next call.
pub(crate) fn watch(lifeline: Lifeline) {
    threads::start(move || {
        lifeline.wait();
        std::thread::sleep(GRACE);
        if !world::has_left() {
            host::fail("the simulated network is gone");
        }
    });
}
