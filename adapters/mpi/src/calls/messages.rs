//! Point-to-point communication.

use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::*;
use crate::communicator;
use crate::datatype;
use crate::engine::{self, ANSWERS, Awaited, Message, Owner, Request, State, Until, What};
use crate::world::{Error, Outcome, POLL, error, w};

/// Modes of sends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Standard, buffered and ready: a receive is not waited for.
    Standard,
    /// The send ends when its receive has begun.
    Synchronous,
}

/// For `map_err`: assigns an error to a communicator, whose error handler will be called.
fn with_comm(comm: c_int) -> impl Fn(Error) -> Error {
    move |failure| Error { comm, ..failure }
}

/// The tag of a send.
fn tag_of(tag: c_int) -> Outcome<i64> {
    if tag < 0 { error(ERR_TAG, format!("tag {tag} is not 0 to {TAG_UB}")) } else { Ok(tag.into()) }
}

/// The source, as a rank of the world, and the tag of a receive; `None` for a wildcard.
fn filter(comm: &communicator::Comm, source: c_int, tag: c_int) -> Outcome<(Option<usize>, Option<i64>)> {
    let source = if source == ANY_SOURCE { None } else { Some(comm.world_of(source)?) };
    let tag = if tag == ANY_TAG { None } else { Some(tag_of(tag)?) };
    Ok((source, tag))
}

/// A count of the program; an error if it is negative.
fn count_of(count: i64) -> Outcome<i64> {
    if count < 0 { error(ERR_COUNT, format!("count {count} is negative")) } else { Ok(count) }
}

/// A send that has begun: its request, or `None` if it has ended already.
pub(crate) type Begun = Option<c_int>;

/// Begins a send of the program's own messages, which are in lane 0.
pub(crate) unsafe fn send(buffer: P, count: i64, handle: I, to: I, tag: I, comm: I, mode: Mode) -> Outcome<Begun> {
    // SAFETY: as the caller's.
    unsafe { send_in(0, (buffer, count, handle), to, tag, comm, mode) }
}

/// Begins a send whose messages match receives of the same lane only.
pub(crate) unsafe fn send_in(
    lane: u64,
    (buffer, count, handle): (P, i64, I),
    to: I,
    tag: I,
    comm: I,
    mode: Mode,
) -> Outcome<Begun> {
    w().charge();
    let found = communicator::get(comm)?;
    if to == PROC_NULL {
        return Ok(None);
    }
    let (to, tag) = (found.world_of(to).map_err(with_comm(comm))?, tag_of(tag).map_err(with_comm(comm))?);
    let (ty, count) = (datatype::get(handle).map_err(with_comm(comm))?, count_of(count).map_err(with_comm(comm))?);
    let (bytes, context) = (ty.bytes(count), found.context ^ lane);
    let mut data = Vec::new();
    if ty.is_contiguous() {
        // SAFETY: the buffer of the program.
        data.extend_from_slice(unsafe { slice(buffer.cast::<u8>(), bytes as usize) });
    } else {
        // SAFETY: the buffer of the program.
        unsafe { ty.pack(buffer, count, &mut data) };
    }
    let synchronous = mode == Mode::Synchronous;
    let request = w().requests.add(Request::new(What::Send { to, tag, context, bytes, synchronous }, State::Pending));
    let owner = (!synchronous).then_some(Owner::Request(request));
    // The receive of the answer is recorded before the message is sent: a message to this rank itself is answered at
    // once.
    let number =
        synchronous.then(|| w().log.as_mut().map(|log| log.receive(Some(to), Some(tag), context ^ ANSWERS, 0)));
    let left = engine::transmit(engine::kind_of(synchronous), to, (context, tag), request as u64, &data, bytes, owner);
    let sent = w().log.as_ref().map(|log| log.last);
    let Some(pending) = w().requests.get_mut(request) else { return error(ERR_REQUEST, "no such request") };
    if left && !synchronous {
        w().requests.remove(request);
        return Ok(None);
    }
    pending.number = number.unwrap_or(sent);
    Ok(Some(request))
}

/// Returns the request of a send. If the send has ended already, the request is new and complete.
pub(crate) fn request_of(begun: Begun) -> c_int {
    begun.unwrap_or_else(|| w().requests.add(Request::done(Status::EMPTY)))
}

/// Begins a receive of the program's own messages, which are in lane 0.
pub(crate) fn receive(buffer: M, count: i64, handle: I, from: I, tag: I, comm: I) -> Outcome<c_int> {
    receive_in(0, (buffer, count, handle), from, tag, comm)
}

/// Begins a receive of messages of a lane.
pub(crate) fn receive_in(lane: u64, (buffer, count, handle): (M, i64, I), from: I, tag: I, comm: I) -> Outcome<c_int> {
    w().charge();
    let found = communicator::get(comm)?;
    if from == PROC_NULL {
        return Ok(w().requests.add(Request::done(Status::NOBODY)));
    }
    let (from, tag) = filter(found, from, tag).map_err(with_comm(comm))?;
    let (ty, count) = (datatype::get(handle).map_err(with_comm(comm))?, count_of(count).map_err(with_comm(comm))?);
    let bytes = ty.bytes(count);
    let what = What::Receive { buffer: buffer as usize, count, ty: Rc::new(ty), from, tag, comm };
    let request = w().requests.add(Request::new(what, State::Pending));
    if let Some(message) = engine::post(Owner::Request(request), from, tag, found.context ^ lane, bytes) {
        engine::deliver(Owner::Request(request), message);
    }
    Ok(request)
}

/// Waits for a request, frees it and writes its status.
pub(crate) fn wait(mut request: c_int, status: *mut Status) -> Outcome {
    engine::wait_for(request);
    let mut ended = Status::EMPTY;
    let outcome = engine::finish(&mut request, &mut ended);
    // SAFETY: the status of the program.
    unsafe { put_status(status, &ended) };
    outcome
}

/// `MPI_STATUS_IGNORE`, for waits whose status nobody reads.
pub(crate) const IGNORED: *mut Status = std::ptr::without_provenance_mut(1);

/// Sends and waits until the program may reuse its buffer.
unsafe fn blocking_send(buffer: P, count: i64, ty: I, to: I, tag: I, comm: I, mode: Mode) -> Outcome {
    match unsafe { send(buffer, count, ty, to, tag, comm, mode) }? {
        Some(request) => wait(request, IGNORED),
        None => Ok(()),
    }
}

/// Begins a receive and a send; returns the requests of the send and of the receive. The tuples are: buffer, count,
/// datatype, the other rank, tag.
unsafe fn sendrecv(sent: (P, i64, I, I, I), received: (M, i64, I, I, I), comm: I) -> Outcome<(c_int, c_int)> {
    let (to, count, ty, from, tag) = received;
    let receiving = receive(to, count, ty, from, tag, comm)?;
    let (buffer, count, ty, to, tag) = sent;
    let sending = request_of(unsafe { send(buffer, count, ty, to, tag, comm, Mode::Standard) }?);
    Ok((sending, receiving))
}

large! {
    fn MPI_Send / MPI_Send_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I) {
        blocking_send(buffer, count.into(), ty, to, tag, comm, Mode::Standard)
    }
    fn MPI_Ssend / MPI_Ssend_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I) {
        blocking_send(buffer, count.into(), ty, to, tag, comm, Mode::Synchronous)
    }
    fn MPI_Rsend / MPI_Rsend_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I) {
        blocking_send(buffer, count.into(), ty, to, tag, comm, Mode::Standard)
    }
    fn MPI_Bsend / MPI_Bsend_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I) {
        // The message has been copied: the program does not wait, and the request frees itself at its end.
        let begun = send(buffer, count.into(), ty, to, tag, comm, Mode::Standard)?;
        if let Some(request) = begun.and_then(|begun| w().requests.get_mut(begun)) {
            request.freed = true;
        }
        Ok(())
    }
    fn MPI_Recv / MPI_Recv_c(buffer: M, count: N, ty: I, from: I, tag: I, comm: I, status: *mut Status) {
        wait(receive(buffer, count.into(), ty, from, tag, comm)?, status)
    }
    fn MPI_Isend / MPI_Isend_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        put(request, request_of(send(buffer, count.into(), ty, to, tag, comm, Mode::Standard)?));
        Ok(())
    }
    fn MPI_Issend / MPI_Issend_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        put(request, request_of(send(buffer, count.into(), ty, to, tag, comm, Mode::Synchronous)?));
        Ok(())
    }
    fn MPI_Irsend / MPI_Irsend_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        put(request, request_of(send(buffer, count.into(), ty, to, tag, comm, Mode::Standard)?));
        Ok(())
    }
    fn MPI_Ibsend / MPI_Ibsend_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        put(request, request_of(send(buffer, count.into(), ty, to, tag, comm, Mode::Standard)?));
        Ok(())
    }
    fn MPI_Irecv / MPI_Irecv_c(buffer: M, count: N, ty: I, from: I, tag: I, comm: I, request: Ip) {
        put(request, receive(buffer, count.into(), ty, from, tag, comm)?);
        Ok(())
    }
    fn MPI_Sendrecv / MPI_Sendrecv_c(
        buffer: P, sent: N, sent_type: I, to: I, sent_tag: I,
        into: M, count: N, ty: I, from: I, tag: I, comm: I, status: *mut Status,
    ) {
        let (sending, receiving) = sendrecv(
            (buffer, sent.into(), sent_type, to, sent_tag),
            (into, count.into(), ty, from, tag),
            comm,
        )?;
        let received = wait(receiving, status);
        wait(sending, IGNORED)?;
        received
    }
    fn MPI_Sendrecv_replace / MPI_Sendrecv_replace_c(
        buffer: M, count: N, ty: I, to: I, sent_tag: I, from: I, tag: I, comm: I, status: *mut Status,
    ) {
        // The data are copied when they are sent, before anything is received.
        let sending = request_of(send(buffer, count.into(), ty, to, sent_tag, comm, Mode::Standard)?);
        let received = wait(receive(buffer, count.into(), ty, from, tag, comm)?, status);
        wait(sending, IGNORED)?;
        received
    }
    fn MPI_Isendrecv / MPI_Isendrecv_c(
        buffer: P, sent: N, sent_type: I, to: I, sent_tag: I,
        into: M, count: N, ty: I, from: I, tag: I, comm: I, request: Ip,
    ) {
        let (sending, receiving) = sendrecv(
            (buffer, sent.into(), sent_type, to, sent_tag),
            (into, count.into(), ty, from, tag),
            comm,
        )?;
        // The status is that of the receive.
        put(request, together(vec![sending, receiving]));
        Ok(())
    }
    fn MPI_Isendrecv_replace / MPI_Isendrecv_replace_c(
        buffer: M, count: N, ty: I, to: I, sent_tag: I, from: I, tag: I, comm: I, request: Ip,
    ) {
        let sending = request_of(send(buffer, count.into(), ty, to, sent_tag, comm, Mode::Standard)?);
        let receiving = receive(buffer, count.into(), ty, from, tag, comm)?;
        put(request, together(vec![sending, receiving]));
        Ok(())
    }
    fn MPI_Send_init / MPI_Send_init_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        let begin = move || Ok(request_of(send(buffer, count.into(), ty, to, tag, comm, Mode::Standard)?));
        put(request, persistent(begin));
        Ok(())
    }
    fn MPI_Ssend_init / MPI_Ssend_init_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        let begin = move || Ok(request_of(send(buffer, count.into(), ty, to, tag, comm, Mode::Synchronous)?));
        put(request, persistent(begin));
        Ok(())
    }
    fn MPI_Rsend_init / MPI_Rsend_init_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        let begin = move || Ok(request_of(send(buffer, count.into(), ty, to, tag, comm, Mode::Standard)?));
        put(request, persistent(begin));
        Ok(())
    }
    fn MPI_Bsend_init / MPI_Bsend_init_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        let begin = move || Ok(request_of(send(buffer, count.into(), ty, to, tag, comm, Mode::Standard)?));
        put(request, persistent(begin));
        Ok(())
    }
    fn MPI_Recv_init / MPI_Recv_init_c(buffer: M, count: N, ty: I, from: I, tag: I, comm: I, request: Ip) {
        put(request, persistent(move || receive(buffer, count.into(), ty, from, tag, comm)));
        Ok(())
    }
    fn MPI_Mrecv / MPI_Mrecv_c(buffer: M, count: N, ty: I, message: Ip, status: *mut Status) {
        let (ended, failure) = receive_matched(buffer, count.into(), ty, message)?;
        put_status(status, &ended);
        failure.map_or(Ok(()), |text| error(ERR_TRUNCATE, text))
    }
    fn MPI_Imrecv / MPI_Imrecv_c(buffer: M, count: N, ty: I, message: Ip, request: Ip) {
        let (ended, failure) = receive_matched(buffer, count.into(), ty, message)?;
        put(request, w().requests.add(Request { failure, ..Request::done(ended) }));
        Ok(())
    }
    fn MPI_Buffer_attach / MPI_Buffer_attach_c(buffer: M, size: N) {
        w().buffer = (buffer as usize, size.into());
        Ok(())
    }
    fn MPI_Buffer_detach / MPI_Buffer_detach_c(buffer: *mut M, size: *mut N) {
        let (at, length) = std::mem::take(&mut w().buffer);
        put(buffer, at as M);
        put(size, length as N);
        Ok(())
    }
}

/// One request for several, which ends when all of them have ended.
pub(crate) fn together(all: Vec<c_int>) -> c_int {
    w().requests.add(Request::new(What::Several(all), State::Done))
}

/// A persistent request; each start begins an operation.
pub(crate) fn persistent(begin: impl Fn() -> Outcome<c_int> + 'static) -> c_int {
    let what = What::Persistent { begin: Rc::new(begin), active: None };
    w().requests.add(Request::new(what, State::Done))
}

/// Receives a message that a matching probe has taken out of the queue. Returns its status, and a description if it has
/// been truncated.
fn receive_matched(buffer: M, count: i64, ty: I, message: Ip) -> Outcome<(Status, Option<String>)> {
    w().charge();
    // SAFETY: the handle of the program.
    let handle = unsafe { *message };
    // SAFETY: as above.
    unsafe { *message = MESSAGE_NULL };
    if handle == MESSAGE_NO_PROC {
        return Ok((Status::NOBODY, None));
    }
    let Some((taken, comm)) = w().mail.probed.remove(&handle) else {
        return error(ERR_REQUEST, format!("{handle:#x} is not a message"));
    };
    let ty = datatype::get(ty)?;
    if taken.kind == engine::kind_of(true) {
        engine::answer(&taken);
    }
    w().statistics.received += 1;
    Ok(engine::receive(&taken, buffer as usize, count, &ty, comm))
}

/// The status that a probe reports for a message.
fn status_of(message: &Message, comm: c_int) -> Status {
    let rank = communicator::get(comm).ok().and_then(|comm| comm.rank_of(message.source));
    let mut status = Status { tag: message.tag as c_int, ..Status::EMPTY };
    status.source = rank.map_or(ANY_SOURCE, |rank| rank as c_int);
    status.set_bytes(message.data.len() as u64);
    status
}

/// Searches for a message, and waits for it if `blocks`. Returns its position in the queue of unexpected messages and
/// its status.
fn probe(from: I, tag: I, comm: I, blocks: bool) -> Outcome<Option<(usize, Status)>> {
    let found = communicator::get(comm)?;
    let ((source, tag), context) = (filter(found, from, tag).map_err(with_comm(comm))?, found.context);
    if blocks {
        let awaited = Awaited::Probe { source, tag, context };
        let until = source.map_or(Until::Any, Until::From);
        engine::wait(awaited, until, || engine::find(source, tag, context).is_some());
    } else {
        engine::poll();
    }
    let position = engine::find(source, tag, context);
    if position.is_none() {
        w().pay(POLL);
    }
    Ok(position.map(|position| (position, status_of(engine::found(position), comm))))
}

/// Takes a message out of the queue of unexpected messages and returns a handle for it.
fn handle_of(position: usize, comm: c_int) -> c_int {
    let Some(mut message) = engine::take_out(position) else { return MESSAGE_NULL };
    if let Some(log) = &mut w().log {
        let number = log.receive(Some(message.source), Some(message.tag), message.context, message.data.len() as u64);
        log.wait(number);
    }
    message.data = message.data.clone();
    let mail = &mut w().mail;
    let handle = 0xac80_0000_u32 as c_int | mail.next_probed;
    mail.next_probed += 1;
    mail.probed.insert(handle, (message, comm));
    handle
}

mpi! {
    fn MPI_Probe(from: I, tag: I, comm: I, status: *mut Status) {
        if from == PROC_NULL {
            put_status(status, &Status::NOBODY);
        } else if let Some((_, found)) = probe(from, tag, comm, true)? {
            put_status(status, &found);
        }
        Ok(())
    }
    fn MPI_Iprobe(from: I, tag: I, comm: I, flag: Ip, status: *mut Status) {
        let found = if from == PROC_NULL { Some((0, Status::NOBODY)) } else { probe(from, tag, comm, false)? };
        put(flag, c_int::from(found.is_some()));
        found.iter().for_each(|(_, found)| put_status(status, found));
        Ok(())
    }
    fn MPI_Mprobe(from: I, tag: I, comm: I, message: Ip, status: *mut Status) {
        if from == PROC_NULL {
            put(message, MESSAGE_NO_PROC);
            put_status(status, &Status::NOBODY);
        } else if let Some((position, found)) = probe(from, tag, comm, true)? {
            put(message, handle_of(position, comm));
            put_status(status, &found);
        }
        Ok(())
    }
    fn MPI_Improbe(from: I, tag: I, comm: I, flag: Ip, message: Ip, status: *mut Status) {
        put(flag, 1);
        if from == PROC_NULL {
            put(message, MESSAGE_NO_PROC);
            put_status(status, &Status::NOBODY);
        } else if let Some((position, found)) = probe(from, tag, comm, false)? {
            put(message, handle_of(position, comm));
            put_status(status, &found);
        } else {
            put(flag, 0);
            put(message, MESSAGE_NULL);
        }
        Ok(())
    }
}
