//! Work on a thread of its own, which Ctrl-C ends, which reports its progress, and which has Python called by the thread
//! that waits for it.
//!
//! Code of Python runs on the caller's thread alone: Ctrl-C interrupts it as any other, a debugger stops in it, and no thread
//! of ours is inside the interpreter when the process ends, which Python would end in the midst of frames of Rust.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::fault::Fault;

/// Interval between two looks for signals.
const INTERVAL: Duration = Duration::from_millis(50);

/// A call of Python, which returns the exception that was raised.
type Errand = Box<dyn FnOnce(Python<'_>) -> Option<PyErr> + Send>;

/// Passes an errand to the thread that waits for the work; false if that has gone.
type Caller = Arc<dyn Fn(Errand) -> bool + Send + Sync>;

/// What the working thread says.
enum Said<T> {
    /// So many of so many parts are done.
    Progress(usize, usize),
    /// The work needs a call of Python.
    Errand(Errand),
    /// The work has ended.
    Ended(Result<T, Fault>),
}

thread_local! {
    /// The caller of the work that this thread does.
    static CALLER: RefCell<Option<Caller>> = RefCell::default();
}

/// The connection of the work with its caller.
pub(crate) struct Call<T> {
    stop: Arc<AtomicBool>,
    sender: Sender<Said<T>>,
}

impl<T: Send + 'static> Call<T> {
    /// Ends the work when it becomes true.
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// Reports that so many of so many parts are done.
    pub(crate) fn progress(&self, done: usize, all: usize) {
        // A caller that has gone is not interested.
        let _ = self.sender.send(Said::Progress(done, all));
    }

    /// Does a part of the work on this thread, whose calls of Python the caller performs.
    pub(crate) fn part<R>(&self, work: impl FnOnce() -> R) -> R {
        let sender = self.sender.clone();
        CALLER.set(Some(Arc::new(move |errand| sender.send(Said::Errand(errand)).is_ok())));
        let result = work();
        CALLER.set(None);
        result
    }
}

/// Calls Python: on the thread that waits for the work of this one, or on this one if none does. `call` fails with an
/// exception, and what is told of it.
///
/// # Errors
/// What is told; the caller keeps the exception.
pub(crate) fn call_python<R: Send + 'static>(
    call: impl FnOnce(Python<'_>) -> Result<R, (String, PyErr)> + Send + 'static,
) -> Result<R, String> {
    let Some(caller) = CALLER.with_borrow(Option::clone) else {
        return Python::attach(|py| call(py).map_err(|(told, _)| told));
    };
    let (sender, receiver) = sync_channel(1);
    let errand = Box::new(move |py: Python<'_>| {
        let (answer, raised) = match call(py) {
            Ok(answer) => (Ok(answer), None),
            Err((told, error)) => (Err(told), Some(error)),
        };
        // Work that has gone is not interested.
        let _ = sender.send(answer);
        raised
    });
    // A caller that goes drops the errand, and with it the sender.
    let answer = caller(errand).then(|| receiver.recv().ok()).flatten();
    answer.unwrap_or_else(|| Err("the caller has gone".to_owned()))
}

/// Work that has ended.
pub(crate) struct Ended<T> {
    /// What it returned.
    pub(crate) value: T,
    /// The first exception that was raised by a call of Python.
    pub(crate) raised: Option<PyErr>,
}

/// Runs `work` on a thread of its own, while this one waits without the lock of the interpreter, and performs the calls of
/// Python that the work needs; `tell` is called with every progress.
///
/// # Errors
/// The fault of the work, with the exception that caused it; an exception of a signal handler, such as `KeyboardInterrupt`,
/// or of `tell`. The work is then asked to stop, and not waited for: reading a large file may take longer than a user wants
/// to wait.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    tell: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Call<T>) -> Result<T, Fault> + Send + 'static,
) -> PyResult<Ended<T>> {
    let (sender, mut receiver) = channel();
    let call = Call { stop: Arc::new(AtomicBool::new(false)), sender };
    let stop = Arc::clone(&call.stop);
    let run = move || {
        let worked = catch_unwind(AssertUnwindSafe(|| call.part(|| work(&call))));
        let ended = worked.unwrap_or_else(|panic| {
            let message = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            let what = format!("the simulator panicked: {}", message.unwrap_or("without a message"));
            Err(Fault::new(what, "this is a defect of fsin: please report it with the experiment"))
        });
        let _ = call.sender.send(Said::Ended(ended));
    };
    let begun = thread::Builder::new().name("fsin".to_owned()).spawn(run);
    begun.map_err(|error| Fault::new(format!("cannot start a thread: {error}"), "end other processes"))?;
    let mut raised: Option<PyErr> = None;
    loop {
        let said;
        (receiver, said) = py.detach(move || {
            let said = receiver.recv_timeout(INTERVAL);
            (receiver, said)
        });
        let heard = match said {
            Ok(Said::Ended(Ok(value))) => return Ok(Ended { value, raised }),
            Ok(Said::Ended(Err(fault))) => {
                let error = PyErr::from(fault);
                if raised.is_some() {
                    error.set_cause(py, raised);
                }
                return Err(error);
            }
            Ok(Said::Progress(done, all)) => tell.map_or(Ok(()), |tell| tell.call1((done, all)).map(|_| ())),
            Ok(Said::Errand(errand)) => match errand(py) {
                // An interrupt, or the end of the program, is for the caller alone.
                Some(error) if !error.is_instance_of::<PyException>(py) => Err(error),
                error => {
                    raised = raised.or(error);
                    Ok(())
                }
            },
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
