//! Threads of this library itself, which are none of the program. They make no calls, but what they hold others may wait for.

use std::sync::mpsc;
use std::thread;

use super::{lock, still};
use crate::inside;

/// Starts a thread of this library and waits until it has begun, so that it is looked at from its beginning. If it cannot be started,
/// the work is not done.
pub(crate) fn start(work: impl FnOnce() + Send + 'static) {
    let (begins, has_begun) = mpsc::channel::<()>();
    let body = move || {
        inside::inside(|| {
            lock().own.push(still::number_of_this_thread());
            drop(begins);
            work();
        });
    };
    if thread::Builder::new().name("fsin-mpi".to_owned()).spawn(body).is_ok() {
        // It has begun when it gives up its end.
        let _ = has_begun.recv();
    }
}
