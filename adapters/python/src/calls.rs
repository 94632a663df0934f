//! Work on a thread of its own, which Ctrl-C ends and which reports its progress.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::fault::Fault;

/// Interval between two looks for signals.
const INTERVAL: Duration = Duration::from_millis(50);

/// What the working thread says.
enum Said<T> {
    /// So many of so many parts are done.
    Progress(usize, usize),
    /// The work has ended.
    Ended(Result<T, Fault>),
}

/// The connection of the work with its caller.
#[derive(Clone)]
pub(crate) struct Call<T> {
    stop: Arc<AtomicBool>,
    sender: Sender<Said<T>>,
}

impl<T> Call<T> {
    /// Ends the work when it becomes true.
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// Reports that so many of so many parts are done.
    pub(crate) fn progress(&self, done: usize, all: usize) {
        // A caller that has gone is not interested.
        let _ = self.sender.send(Said::Progress(done, all));
    }
}

/// Runs `work` on a thread of its own, while this one waits without the lock of the interpreter; `tell` is called with
/// every progress.
///
/// # Errors
/// The fault of the work; an exception of a signal handler, such as `KeyboardInterrupt`, or of `tell`. The work is then
/// asked to stop, and not waited for: reading a large file may take longer than a user wants to wait.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    tell: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Call<T>) -> Result<T, Fault> + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    let call = Call { stop: Arc::new(AtomicBool::new(false)), sender };
    let stop = Arc::clone(&call.stop);
    let run = move || {
        let ended = catch_unwind(AssertUnwindSafe(|| work(&call))).unwrap_or_else(|panic| {
            let message = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            let what = format!("the simulator panicked: {}", message.unwrap_or("without a message"));
            Err(Fault::new(what, "this is a defect of fsin: please report it with the experiment"))
        });
        let _ = call.sender.send(Said::Ended(ended));
    };
    let begun = thread::Builder::new().name("fsin".to_owned()).spawn(run);
    begun.map_err(|error| Fault::new(format!("cannot start a thread: {error}"), "end other processes"))?;
    loop {
        let said;
        (receiver, said) = py.detach(move || {
            let said = receiver.recv_timeout(INTERVAL);
            (receiver, said)
        });
        let heard = match said {
            Ok(Said::Ended(ended)) => return Ok(ended?),
            Ok(Said::Progress(done, all)) => tell.map_or(Ok(()), |tell| tell.call1((done, all)).map(|_| ())),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => {
                Err(Fault::new("the thread of the work has gone", "this is a defect of fsin: please report it").into())
            }
        };
        if let Err(error) = heard.and_then(|()| py.check_signals()) {
            stop.store(true, Ordering::Relaxed);
            return Err(error);
        }
    }
}
