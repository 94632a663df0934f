//! Errors of MPI, as calls return them.

use std::ffi::c_int;

/// An error of MPI: its class, its description, and the communicator whose error handler is called; `None` for that of
/// the call.
#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) class: c_int,
    pub(crate) text: String,
    pub(crate) comm: Option<c_int>,
}

/// The result of a call.
pub(crate) type Outcome<T = ()> = Result<T, Error>;

/// An error of the communicator of the call.
pub(crate) fn error<T>(class: c_int, text: impl Into<String>) -> Outcome<T> {
    Err(Error { class, text: text.into(), comm: None })
}

/// What a program cannot continue after: its description, and the exit code of the process.
#[derive(Debug)]
pub(crate) struct Fatal {
    pub(crate) text: String,
    pub(crate) code: c_int,
}
