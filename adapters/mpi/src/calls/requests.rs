//! Completion of requests.

use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::*;
use crate::calls::messages::{IGNORED, wait};
use crate::engine::{self, Awaited, Request, State, Until, What};
use crate::world::{Error, Outcome, POLL, error, w};

/// Returns an error if the handle is neither null nor that of a request.
fn check_handle(handle: c_int) -> Outcome {
    if handle == REQUEST_NULL || w().requests.get(handle).is_some() {
        return Ok(());
    }
    error(ERR_REQUEST, format!("{handle:#x} is not a request"))
}

/// True for a request that is neither null nor an inactive persistent one.
fn is_active(handle: c_int) -> bool {
    match w().requests.get(handle) {
        Some(Request { what: What::Persistent { active, .. }, .. }) => active.is_some(),
        other => other.is_some(),
    }
}

/// An array of requests of the program, each of which is checked.
unsafe fn handles<'a>(from: Ip, count: c_int) -> Outcome<&'a mut [c_int]> {
    if count < 0 {
        return error(ERR_COUNT, format!("count {count} is negative"));
    }
    // SAFETY: the array of the program.
    let all: &mut [c_int] =
        if count == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(from, count as usize) } };
    all.iter().try_for_each(|&handle| check_handle(handle))?;
    Ok(all)
}

/// Writes status `index` of an array of the program, unless the array is null or `MPI_STATUSES_IGNORE`, which is 1.
unsafe fn put_nth(to: *mut Status, index: usize, status: &Status) {
    if to as usize > 1 {
        // SAFETY: the array of the program.
        unsafe { *to.add(index) = *status };
    }
}

/// Finishes all of these requests, which have ended, and writes their statuses.
unsafe fn finish_all(all: &mut [c_int], statuses: *mut Status) -> Outcome {
    let mut first: Option<Error> = None;
    for (index, request) in all.iter_mut().enumerate() {
        let mut status = Status::EMPTY;
        if let Err(failure) = engine::finish(request, &mut status) {
            status.error = failure.class;
            first.get_or_insert(failure);
        }
        unsafe { put_nth(statuses, index, &status) };
    }
    // With statuses, the error of each request is in its status, and the call reports only that there is one.
    first.map_or(Ok(()), |first| {
        Err(if statuses as usize > 1 { Error { class: ERR_IN_STATUS, ..first } } else { first })
    })
}

/// Index of the first of these requests that is active and has ended.
fn first_over(all: &[c_int]) -> Option<usize> {
    all.iter().position(|&handle| is_active(handle) && engine::is_over(handle))
}

/// Waits until one of these requests has ended, and returns its index; `None` if none is active.
fn wait_any(all: &[c_int]) -> Option<usize> {
    if !all.iter().any(|&handle| is_active(handle)) {
        w().charge();
        return None;
    }
    let pending: Vec<c_int> = all.iter().copied().filter(|&handle| is_active(handle)).collect();
    let until = if let [one] = pending[..] { Until::Over(one) } else { Until::Any };
    engine::wait(Awaited::Requests(pending), until, || first_over(all).is_some());
    first_over(all)
}

/// Finishes those of these requests that have ended: writes their number, their indices and their statuses. Called by
/// `MPI_Waitsome` and `MPI_Testsome`.
unsafe fn finish_some(all: &mut [c_int], count: Ip, indices: Ip, statuses: *mut Status) -> Outcome {
    let (mut found, mut first) = (0, None);
    for (index, request) in all.iter_mut().enumerate() {
        if !is_active(*request) || !engine::is_over(*request) {
            continue;
        }
        let mut status = Status::EMPTY;
        if let Err(failure) = engine::finish(request, &mut status) {
            status.error = failure.class;
            first.get_or_insert(failure);
        }
        // SAFETY: the arrays of the program.
        unsafe {
            *indices.add(found) = index as c_int;
            put_nth(statuses, found, &status);
        }
        found += 1;
    }
    unsafe { put(count, found as c_int) };
    first.map_or(Ok(()), Err)
}

/// Processes the events up to now and returns whether `is_over` is true. An unsuccessful test takes [`POLL`] of virtual
/// time.
fn test(is_over: impl Fn() -> bool) -> bool {
    w().charge();
    engine::catch_up();
    if is_over() {
        return true;
    }
    engine::poll();
    if is_over() {
        return true;
    }
    w().pay(POLL);
    false
}

/// Starts the operation of a persistent request.
fn start(handle: c_int) -> Outcome {
    let begin = match w().requests.get(handle) {
        Some(Request { what: What::Persistent { begin, active: None }, .. }) => Rc::clone(begin),
        Some(Request { what: What::Persistent { .. }, .. }) => {
            return error(ERR_REQUEST, "the persistent request has been started already");
        }
        _ => return error(ERR_REQUEST, format!("{handle:#x} is not a persistent request")),
    };
    let begun = begin()?;
    if let Some(Request { what: What::Persistent { active, .. }, .. }) = w().requests.get_mut(handle) {
        *active = Some(begun);
    }
    Ok(())
}

mpi! {
    fn MPI_Wait(request: Ip, status: *mut Status) {
        check_handle(*request)?;
        let mut ended = Status::EMPTY;
        engine::wait_for(*request);
        let outcome = engine::finish(&mut *request, &mut ended);
        put_status(status, &ended);
        outcome
    }
    fn MPI_Waitall(count: c_int, requests: Ip, statuses: *mut Status) {
        let all = handles(requests, count)?;
        w().charge();
        for index in 0..all.len() {
            let one = all[index];
            if !engine::is_over(one) {
                engine::wait(Awaited::Requests(all[index..].to_vec()), Until::Over(one), || engine::is_over(one));
            }
        }
        finish_all(all, statuses)
    }
    fn MPI_Waitany(count: c_int, requests: Ip, index: Ip, status: *mut Status) {
        let all = handles(requests, count)?;
        let Some(found) = wait_any(all) else {
            put(index, UNDEFINED);
            put_status(status, &Status::EMPTY);
            return Ok(());
        };
        let mut ended = Status::EMPTY;
        let outcome = engine::finish(&mut all[found], &mut ended);
        put(index, found as c_int);
        put_status(status, &ended);
        outcome
    }
    fn MPI_Waitsome(count: c_int, requests: Ip, found: Ip, indices: Ip, statuses: *mut Status) {
        let all = handles(requests, count)?;
        if wait_any(all).is_none() {
            put(found, UNDEFINED);
            return Ok(());
        }
        finish_some(all, found, indices, statuses)
    }
    fn MPI_Test(request: Ip, flag: Ip, status: *mut Status) {
        check_handle(*request)?;
        let handle = *request;
        let is_over = test(|| engine::is_over(handle));
        put(flag, c_int::from(is_over));
        if !is_over {
            return Ok(());
        }
        let mut ended = Status::EMPTY;
        let outcome = engine::finish(&mut *request, &mut ended);
        put_status(status, &ended);
        outcome
    }
    fn MPI_Testall(count: c_int, requests: Ip, flag: Ip, statuses: *mut Status) {
        let all = handles(requests, count)?;
        let is_over = test(|| all.iter().all(|&handle| engine::is_over(handle)));
        put(flag, c_int::from(is_over));
        if is_over { finish_all(all, statuses) } else { Ok(()) }
    }
    fn MPI_Testany(count: c_int, requests: Ip, index: Ip, flag: Ip, status: *mut Status) {
        let all = handles(requests, count)?;
        put(index, UNDEFINED);
        if !all.iter().any(|&handle| is_active(handle)) {
            put(flag, 1);
            put_status(status, &Status::EMPTY);
            return Ok(());
        }
        test(|| first_over(all).is_some());
        let found = first_over(all);
        put(flag, c_int::from(found.is_some()));
        let Some(found) = found else { return Ok(()) };
        let mut ended = Status::EMPTY;
        let outcome = engine::finish(&mut all[found], &mut ended);
        put(index, found as c_int);
        put_status(status, &ended);
        outcome
    }
    fn MPI_Testsome(count: c_int, requests: Ip, found: Ip, indices: Ip, statuses: *mut Status) {
        let all = handles(requests, count)?;
        if !all.iter().any(|&handle| is_active(handle)) {
            put(found, UNDEFINED);
            return Ok(());
        }
        test(|| first_over(all).is_some());
        finish_some(all, found, indices, statuses)
    }
    fn MPI_Request_get_status(request: c_int, flag: Ip, status: *mut Status) {
        check_handle(request)?;
        let is_over = test(|| engine::is_over(request));
        put(flag, c_int::from(is_over));
        if is_over {
            let ended = w().requests.get(request).map_or(Status::EMPTY, |request| request.status);
            put_status(status, &ended);
        }
        Ok(())
    }
    fn MPI_Request_free(request: Ip) {
        check_handle(*request)?;
        if let Some(Request { what: What::Persistent { active, .. }, .. }) = w().requests.get(*request) {
            let active = *active;
            w().requests.remove(*request);
            if let Some(inner) = active.and_then(|active| w().requests.get_mut(active)) {
                inner.freed = true;
            }
        } else if engine::is_over(*request) {
            engine::finish(&mut *request, &mut Status { ..Status::EMPTY })?;
        } else if let Some(found) = w().requests.get_mut(*request) {
            found.freed = true;
        }
        *request = REQUEST_NULL;
        Ok(())
    }
    fn MPI_Cancel(request: Ip) {
        check_handle(*request)?;
        engine::cancel(*request)
    }
    fn MPI_Test_cancelled(status: *const Status, flag: Ip) {
        put(flag, c_int::from((*status).is_cancelled()));
        Ok(())
    }
    fn MPI_Start(request: Ip) {
        start(*request)
    }
    fn MPI_Startall(count: c_int, requests: Ip) {
        handles(requests, count)?.iter().try_for_each(|&request| start(request))
    }
    fn MPI_Grequest_start(query: usize, free: usize, cancel: usize, extra: usize, request: Ip) {
        put(request, w().requests.add(Request::new(What::General { query, free, cancel, extra }, State::Pending)));
        Ok(())
    }
    fn MPI_Grequest_complete(request: c_int) {
        match w().requests.get_mut(request) {
            Some(found) => found.state = State::Done,
            None => return error(ERR_REQUEST, format!("{request:#x} is not a request")),
        }
        Ok(())
    }
}

/// Waits for a request that the library has made itself.
pub(crate) fn wait_own(request: c_int) -> Outcome {
    wait(request, IGNORED)
}
