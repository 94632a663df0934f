//! Completion of requests.

use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::*;
use crate::arguments;
use crate::engine::completion::{cancel, finish};
use crate::engine::mail::Awaited;
use crate::engine::requests::{General, Request, Requests, State, What};
use crate::engine::waiting::{self, Until};
use crate::error::{Error, Outcome, error};
use crate::world::{POLL, World};

/// Returns an error if the handle is neither null nor that of a request.
fn check_handle(requests: &Requests, handle: c_int) -> Outcome {
    if handle == REQUEST_NULL || requests.get(handle).is_some() {
        return Ok(());
    }
    error(ERR_REQUEST, format!("{handle:#x} is not a request"))
}

/// An array of requests of the program, each of which is checked.
unsafe fn handles<'a>(requests: &Requests, from: Ip, count: c_int) -> Outcome<&'a mut [c_int]> {
    if count < 0 {
        return error(ERR_COUNT, format!("count {count} is negative"));
    }
    if count > 0 && from.is_null() {
        return arguments::missing("requests");
    }
    // SAFETY: the array of the program.
    let all: &mut [c_int] =
        if count == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(from, count as usize) } };
    all.iter().try_for_each(|&handle| check_handle(requests, handle))?;
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
unsafe fn finish_all(world: &mut World, all: &mut [c_int], statuses: *mut Status) -> Outcome {
    let mut first: Option<Error> = None;
    for (index, request) in all.iter_mut().enumerate() {
        let mut status = Status::EMPTY;
        if let Err(failure) = finish(world, request, &mut status) {
            status.error = failure.class;
            first.get_or_insert(failure);
        }
        unsafe { put_nth(statuses, index, &status) };
    }
    in_statuses(first)
}

/// The error of a call that finishes several requests: the error of each is in its status.
fn in_statuses(first: Option<Error>) -> Outcome {
    first.map_or(Ok(()), |first| Err(Error { class: ERR_IN_STATUS, ..first }))
}

/// Waits until one of these requests has ended, and returns its index; `None` if none is active.
fn wait_any(world: &mut World, all: &[c_int]) -> Option<usize> {
    let pending: Vec<c_int> = all.iter().copied().filter(|&handle| world.requests.is_active(handle)).collect();
    if pending.is_empty() {
        world.charge();
        return None;
    }
    let until = if let [one] = pending[..] { Until::Over(one) } else { Until::Any };
    waiting::wait(world, Awaited::Requests(pending), until, |world| world.requests.first_over(all).is_some());
    world.requests.first_over(all)
}

/// Finishes those of these requests that have ended: writes their number, their indices and their statuses. Called by
/// `MPI_Waitsome` and `MPI_Testsome`.
unsafe fn finish_some(world: &mut World, all: &mut [c_int], count: Ip, indices: Ip, statuses: *mut Status) -> Outcome {
    let (mut found, mut first) = (0, None);
    for (index, request) in all.iter_mut().enumerate() {
        if !world.requests.is_active(*request) || !world.requests.is_over(*request) {
            continue;
        }
        let mut status = Status::EMPTY;
        if let Err(failure) = finish(world, request, &mut status) {
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
    in_statuses(first)
}

/// Processes the events up to now and returns whether `is_over` is true. An unsuccessful test takes [`POLL`] of virtual
/// time.
pub(super) fn test(world: &mut World, is_over: impl Fn(&Requests) -> bool) -> bool {
    world.charge();
    waiting::catch_up(world);
    if is_over(&world.requests) {
        return true;
    }
    waiting::poll(world);
    if is_over(&world.requests) {
        return true;
    }
    world.pay(POLL);
    false
}

/// Starts the operation of a persistent request.
fn start(world: &mut World, handle: c_int) -> Outcome {
    let begin = match (world.requests.get(handle), world.begins.get(&handle)) {
        (Some(Request { what: What::Persistent { active: None }, .. }), Some((begin, _))) => Rc::clone(begin),
        (Some(Request { what: What::Persistent { .. }, .. }), _) => {
            return error(ERR_REQUEST, "the persistent request has been started already");
        }
        _ => return error(ERR_REQUEST, format!("{handle:#x} is not a persistent request")),
    };
    let begun = begin(world)?;
    if let Some(Request { what: What::Persistent { active }, .. }) = world.requests.get_mut(handle) {
        *active = Some(begun);
    }
    Ok(())
}

mpi! {
    |world|
    fn MPI_Wait(request: Ip, status: *mut Status) {
        check_handle(&world.requests, *request)?;
        let mut ended = Status::EMPTY;
        waiting::wait_for(world, *request);
        let outcome = finish(world, &mut *request, &mut ended);
        put_status(status, &ended);
        outcome
    }
    fn MPI_Waitall(count: c_int, requests: Ip, statuses: *mut Status) {
        let all = handles(&world.requests, requests, count)?;
        world.charge();
        for index in 0..all.len() {
            let one = all[index];
            if !world.requests.is_over(one) {
                let awaited = Awaited::Requests(all[index..].to_vec());
                waiting::wait(world, awaited, Until::Over(one), |world| world.requests.is_over(one));
            }
        }
        finish_all(world, all, statuses)
    }
    fn MPI_Waitany(count: c_int, requests: Ip, index: Ip, status: *mut Status) {
        let all = handles(&world.requests, requests, count)?;
        let Some(found) = wait_any(world, all) else {
            put(index, UNDEFINED);
            put_status(status, &Status::EMPTY);
            return Ok(());
        };
        let mut ended = Status::EMPTY;
        let outcome = finish(world, &mut all[found], &mut ended);
        put(index, found as c_int);
        put_status(status, &ended);
        outcome
    }
    fn MPI_Waitsome(count: c_int, requests: Ip, found: Ip, indices: Ip, statuses: *mut Status) {
        let all = handles(&world.requests, requests, count)?;
        if indices.is_null() && !all.is_empty() {
            return arguments::missing("indices");
        }
        if wait_any(world, all).is_none() {
            put(found, UNDEFINED);
            return Ok(());
        }
        finish_some(world, all, found, indices, statuses)
    }
    fn MPI_Test(request: Ip, flag: Ip, status: *mut Status) {
        check_handle(&world.requests, *request)?;
        let handle = *request;
        let is_over = test(world, |requests| requests.is_over(handle));
        put(flag, c_int::from(is_over));
        if !is_over {
            return Ok(());
        }
        let mut ended = Status::EMPTY;
        let outcome = finish(world, &mut *request, &mut ended);
        put_status(status, &ended);
        outcome
    }
    fn MPI_Testall(count: c_int, requests: Ip, flag: Ip, statuses: *mut Status) {
        let all = handles(&world.requests, requests, count)?;
        let is_over = test(world, |requests| all.iter().all(|&handle| requests.is_over(handle)));
        put(flag, c_int::from(is_over));
        if is_over { finish_all(world, all, statuses) } else { Ok(()) }
    }
    fn MPI_Testany(count: c_int, requests: Ip, index: Ip, flag: Ip, status: *mut Status) {
        let all = handles(&world.requests, requests, count)?;
        put(index, UNDEFINED);
        if !all.iter().any(|&handle| world.requests.is_active(handle)) {
            put(flag, 1);
            put_status(status, &Status::EMPTY);
            return Ok(());
        }
        test(world, |requests| requests.first_over(all).is_some());
        let found = world.requests.first_over(all);
        put(flag, c_int::from(found.is_some()));
        let Some(found) = found else { return Ok(()) };
        let mut ended = Status::EMPTY;
        let outcome = finish(world, &mut all[found], &mut ended);
        put(index, found as c_int);
        put_status(status, &ended);
        outcome
    }
    fn MPI_Testsome(count: c_int, requests: Ip, found: Ip, indices: Ip, statuses: *mut Status) {
        let all = handles(&world.requests, requests, count)?;
        if !all.iter().any(|&handle| world.requests.is_active(handle)) {
            put(found, UNDEFINED);
            return Ok(());
        }
        if indices.is_null() {
            return arguments::missing("indices");
        }
        test(world, |requests| requests.first_over(all).is_some());
        finish_some(world, all, found, indices, statuses)
    }
    fn MPI_Request_get_status(request: c_int, flag: Ip, status: *mut Status) {
        check_handle(&world.requests, request)?;
        let is_over = test(world, |requests| requests.is_over(request));
        put(flag, c_int::from(is_over));
        if is_over {
            let ended = world.requests.get(request).map_or(Status::EMPTY, |request| request.status);
            put_status(status, &ended);
        }
        Ok(())
    }
    fn MPI_Request_free(request: Ip) {
        if *request == REQUEST_NULL {
            return error(ERR_REQUEST, "the request is MPI_REQUEST_NULL");
        }
        check_handle(&world.requests, *request)?;
        if let Some(&Request { what: What::Persistent { active }, .. }) = world.requests.get(*request) {
            world.requests.remove(*request);
            if let Some((_, comm)) = world.begins.remove(&*request) {
                world.comms.release(comm);
            }
            if let Some(inner) = active.and_then(|active| world.requests.get_mut(active)) {
                inner.freed = true;
            }
        } else if world.requests.is_over(*request) {
            finish(world, &mut *request, &mut Status { ..Status::EMPTY })?;
        } else if let Some(found) = world.requests.get_mut(*request) {
            found.freed = true;
        }
        *request = REQUEST_NULL;
        Ok(())
    }
    fn MPI_Cancel(request: Ip) {
        check_handle(&world.requests, *request)?;
        cancel(world, *request)
    }
    fn MPI_Test_cancelled(given: *const Status, flag: Ip) {
        put(flag, c_int::from((*given).is_cancelled()));
        Ok(())
    }
    fn MPI_Start(request: Ip) {
        start(world, *request)
    }
    fn MPI_Startall(count: c_int, requests: Ip) {
        handles(&world.requests, requests, count)?.iter().try_for_each(|&request| start(world, request))
    }
    fn MPI_Grequest_start(query: F, free: F, cancel: F, extra: usize, request: Ip) {
        [query, free, cancel].into_iter().try_for_each(arguments::function)?;
        let what = What::General(General { query, free, cancel, extra });
        put(request, world.requests.add(Request::new(what, State::Pending)));
        Ok(())
    }
    fn MPI_Grequest_complete(request: c_int) {
        match world.requests.get_mut(request) {
            Some(found) if matches!(found.what, What::General(_)) => found.state = State::Done,
            _ => return error(ERR_REQUEST, format!("{request:#x} is not a request")),
        }
        Ok(())
    }
}
