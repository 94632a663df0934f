//! Returns operations that have ended to the program, and cancels operations.

use std::ffi::c_int;

use super::mail::Owner;
use super::requests::{General, Request, State, What};
use super::waiting::{poll, wait_for};
use crate::abi::*;
use crate::error::{Error, Outcome, error};
use crate::world::World;

/// Returns an ended request to the program: writes its status, and frees it or makes it inactive.
pub(crate) fn finish(world: &mut World, handle: &mut c_int, status: &mut Status) -> Outcome {
    let Some(request) = world.requests.get_mut(*handle) else {
        *status = Status::EMPTY;
        return Ok(());
    };
    if let What::Persistent { active } = &mut request.what {
        *status = Status::EMPTY;
        return match active.take() {
            Some(mut active) => finish(world, &mut active, status),
            None => Ok(()),
        };
    }
    let Some(request) = world.requests.remove(*handle) else { return Ok(()) };
    *handle = REQUEST_NULL;
    if let What::Several(mut all) = request.what {
        let mut outcome = Ok(());
        for one in &mut all {
            outcome = outcome.and(finish(world, one, status));
        }
        return outcome;
    }
    *status = request.status;
    world.log_wait(request.number);
    if let What::General(General { query, free, extra, .. }) = request.what {
        type Query = unsafe extern "C" fn(usize, *mut Status) -> c_int;
        type Free = unsafe extern "C" fn(usize) -> c_int;
        // SAFETY: the functions that the program has given with `MPI_Grequest_start`.
        let codes = world.lend(|| unsafe {
            [std::mem::transmute::<F, Query>(query)(extra, status), std::mem::transmute::<F, Free>(free)(extra)]
        });
        if let Some(code) = codes.into_iter().find(|&code| code != SUCCESS) {
            return error(code, "a function of a generalized request has failed");
        }
    }
    match request.failure {
        Some((class, text)) => Err(Error { class, text, comm: request.comm }),
        None => Ok(()),
    }
}

/// Cancels a request, if that is possible.
pub(crate) fn cancel(world: &mut World, handle: c_int) -> Outcome {
    let handle = world.requests.actual(handle);
    let Some(request) = world.requests.get(handle) else { return error(ERR_REQUEST, "no such request") };
    if let What::General(General { cancel, extra, .. }) = request.what {
        type Cancel = unsafe extern "C" fn(usize, c_int) -> c_int;
        let is_over = c_int::from(request.state == State::Done);
        // SAFETY: the function that the program has given with `MPI_Grequest_start`.
        let code = world.lend(|| unsafe { std::mem::transmute::<F, Cancel>(cancel)(extra, is_over) });
        return if code == SUCCESS { Ok(()) } else { error(code, "the cancel function of a request has failed") };
    }
    // A message that has been sent is in the network: only receives can be taken back.
    if matches!(request, Request { what: What::Receive { .. }, state: State::Pending, .. }) {
        poll(world);
        if world.mail.unpost(Owner::Request(handle))
            && let Some(request) = world.requests.get_mut(handle)
        {
            request.status = Status::EMPTY;
            request.status.cancel(true);
            request.state = State::Done;
            if let (Some(number), Some(log)) = (request.number.take(), &mut world.log) {
                log.cancelled(number);
            }
        }
    }
    Ok(())
}

/// Takes back a receive that has just begun, because the call has an error.
pub(crate) fn withdraw(world: &mut World, handle: c_int) {
    world.mail.unpost(Owner::Request(handle));
    if let Some(number) = world.requests.remove(handle).and_then(|request| request.number)
        && let Some(log) = &mut world.log
    {
        log.cancelled(number);
    }
}

/// Waits for a request, frees it and writes its status.
pub(crate) fn wait(world: &mut World, mut request: c_int, status: *mut Status) -> Outcome {
    wait_for(world, request);
    let mut ended = Status::EMPTY;
    let outcome = finish(world, &mut request, &mut ended);
    // SAFETY: the status of the program.
    unsafe { put_status(status, &ended) };
    outcome
}

/// `MPI_STATUS_IGNORE`, for waits that need no status.
pub(crate) const IGNORED: *mut Status = std::ptr::without_provenance_mut(1);

/// Waits for a request that the library has made itself.
pub(crate) fn wait_own(world: &mut World, request: c_int) -> Outcome {
    wait(world, request, IGNORED)
}
