//! Operations of the program: their state, completion and cancellation.

use std::ffi::c_int;
use std::rc::Rc;

use super::mail::{Owner, unpost};
use super::waiting::poll;
use crate::abi::*;
use crate::collective::{self, Running};
use crate::datatype::Type;
use crate::world::{Error, Outcome, error, w};

/// State of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Pending,
    Done,
}

/// The operation of a request.
pub(crate) enum What {
    /// A send of `bytes` bytes to a rank of the world.
    Send { to: usize, tag: i64, context: u64, bytes: u64, synchronous: bool },
    /// A receive of `count` values at address `buffer`; `from` and `tag` are `None` for wildcards.
    Receive { buffer: usize, count: i64, ty: Rc<Type>, from: Option<usize>, tag: Option<i64>, comm: c_int },
    /// A collective; `None` while it executes.
    Collective(Option<Box<Running>>),
    /// A generalized request: query, free and cancel functions, and their argument.
    General { query: usize, free: usize, cancel: usize, extra: usize },
    /// A persistent request: a function that begins its operation, and the request of the operation in progress.
    Persistent { begin: Rc<dyn Fn() -> Outcome<c_int>>, active: Option<c_int> },
    /// Several operations, by their requests.
    Several(Vec<c_int>),
    /// No operation: it ended before the request was made.
    Nothing,
}

/// An operation in progress.
pub(crate) struct Request {
    /// Its operation.
    pub(crate) what: What,
    pub(crate) state: State,
    pub(crate) status: Status,
    /// Released by the program before its end.
    pub(crate) freed: bool,
    /// The number of its operation in the log, until the wait for it has been recorded.
    pub(crate) number: Option<u32>,
    /// Description of the error with which it has ended.
    pub(crate) failure: Option<String>,
}

impl Request {
    pub(crate) fn new(what: What, state: State) -> Self {
        Self { what, state, status: Status::EMPTY, freed: false, number: None, failure: None }
    }

    /// A request whose operation has ended already.
    pub(crate) fn done(status: Status) -> Self {
        Self { status, ..Self::new(What::Nothing, State::Done) }
    }
}

/// Ends the send of `owner`, because its message has left or its receiver has answered a synchronous message.
pub(super) fn complete(owner: Owner) {
    w().mail.ended.push(owner.request());
    match owner {
        Owner::Part(handle, slot) => collective::departed(handle, slot),
        Owner::Request(handle) => {
            if let Some(request) = w().requests.get_mut(handle) {
                request.state = State::Done;
            }
            release(handle);
        }
    }
}

/// Removes a request if the program has released it and it has ended.
pub(super) fn release(handle: c_int) {
    if w().requests.get(handle).is_some_and(|request| request.freed && request.state == State::Done) {
        w().requests.remove(handle);
    }
}

/// For a persistent request the request of its operation in progress; for another request the request itself.
pub(super) fn actual(handle: c_int) -> c_int {
    match w().requests.get(handle) {
        Some(Request { what: What::Persistent { active: Some(active), .. }, .. }) => *active,
        _ => handle,
    }
}

/// True if the request of this handle has ended, or has not begun.
pub(crate) fn is_over(handle: c_int) -> bool {
    match w().requests.get(actual(handle)) {
        None => true,
        Some(Request { what: What::Several(all), .. }) => all.iter().all(|&one| is_over(one)),
        Some(request) => request.state != State::Pending,
    }
}

/// The other rank of a send or receive.
pub(super) fn peer(handle: c_int) -> Option<usize> {
    match &w().requests.get(actual(handle))?.what {
        What::Send { to, .. } => Some(*to),
        What::Receive { from, .. } => *from,
        _ => None,
    }
}

/// The requests that a wait for this request consists of, if it is a collective or stands for several operations.
pub(super) fn parts(handle: c_int) -> Option<Vec<c_int>> {
    match &w().requests.get(actual(handle))?.what {
        What::Collective(_) => Some(vec![actual(handle)]),
        What::Several(all) => Some(all.clone()),
        _ => None,
    }
}

/// Returns an ended request to the program: writes its status, and frees it or makes it inactive.
pub(crate) fn finish(handle: &mut c_int, status: &mut Status) -> Outcome {
    let Some(request) = w().requests.get_mut(*handle) else {
        *status = Status::EMPTY;
        return Ok(());
    };
    if let What::Persistent { active, .. } = &mut request.what {
        *status = Status::EMPTY;
        return match active.take() {
            Some(mut active) => finish(&mut active, status),
            None => Ok(()),
        };
    }
    if let What::Several(all) = &mut request.what {
        let mut all = std::mem::take(all);
        w().requests.remove(*handle);
        *handle = REQUEST_NULL;
        let mut outcome = Ok(());
        for one in &mut all {
            outcome = outcome.and(finish(one, status));
        }
        return outcome;
    }
    *status = request.status;
    let failure = request.failure.take();
    let comm = match &request.what {
        What::Receive { comm, .. } => *comm,
        _ => COMM_WORLD,
    };
    let number = request.number.take();
    let general = match request.what {
        What::General { query, free, extra, .. } => Some((query, free, extra)),
        _ => None,
    };
    w().requests.remove(*handle);
    *handle = REQUEST_NULL;
    if let (Some(number), Some(log)) = (number, &mut w().log) {
        log.wait(number);
    }
    if let Some((query, free, extra)) = general {
        type Query = unsafe extern "C" fn(usize, *mut Status) -> c_int;
        type Free = unsafe extern "C" fn(usize) -> c_int;
        // SAFETY: the functions that the program has given with `MPI_Grequest_start`.
        unsafe {
            std::mem::transmute::<usize, Query>(query)(extra, status);
            std::mem::transmute::<usize, Free>(free)(extra);
        }
    }
    match failure {
        Some(text) => Err(Error { class: ERR_TRUNCATE, text, comm }),
        None => Ok(()),
    }
}

/// Cancels a request, if that is possible.
pub(crate) fn cancel(handle: c_int) -> Outcome {
    let handle = actual(handle);
    let Some(request) = w().requests.get_mut(handle) else { return error(ERR_REQUEST, "no such request") };
    if let What::General { cancel, extra, .. } = request.what {
        type Cancel = unsafe extern "C" fn(usize, c_int) -> c_int;
        let is_over = c_int::from(request.state == State::Done);
        // SAFETY: the function that the program has given with `MPI_Grequest_start`.
        unsafe { std::mem::transmute::<usize, Cancel>(cancel)(extra, is_over) };
        return Ok(());
    }
    // A message that has been sent is in the network: only receives can be taken back.
    if matches!(request.what, What::Receive { .. }) && request.state == State::Pending {
        poll();
        if unpost(Owner::Request(handle))
            && let Some(request) = w().requests.get_mut(handle)
        {
            request.status = Status::EMPTY;
            request.status.cancel(true);
            request.state = State::Done;
            if let (Some(number), Some(log)) = (request.number.take(), &mut w().log) {
                log.cancelled(number);
            }
        }
    }
    Ok(())
}
