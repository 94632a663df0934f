//! Point-to-point communication.

use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::*;
use crate::arguments;
use crate::communicator::Comm;
use crate::datatype::Type;
use crate::engine::completion::{wait, wait_own, withdraw};
use crate::engine::delivery::{self, Outgoing, transmit};
use crate::engine::mail::{ANSWERS, Awaited, Letter, Message, OWN, Owner, kind_of};
use crate::engine::requests::{Request, State, What};
use crate::engine::waiting::{self, Until};
use crate::error::{Outcome, error};
use crate::world::{Begin, POLL, World};

/// Modes of sends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Standard, buffered and ready: a receive is not waited for.
    Standard,
    /// The send ends when its receive has begun.
    Synchronous,
    /// A short message of the library itself, which is never a rendezvous.
    Own,
}

/// The tag of a send.
pub(crate) fn tag_of(tag: c_int) -> Outcome<i64> {
    if tag < 0 { error(ERR_TAG, format!("tag {tag} is not 0 to {TAG_UB}")) } else { Ok(tag.into()) }
}

/// The source, as a rank of the world, and the tag of a receive; `None` for a wildcard.
fn filter(comm: &Comm, source: c_int, tag: c_int) -> Outcome<(Option<usize>, Option<i64>)> {
    let source = if source == ANY_SOURCE { None } else { Some(comm.world_of(source)?) };
    let tag = if tag == ANY_TAG { None } else { Some(tag_of(tag)?) };
    Ok((source, tag))
}

/// The values of a message: address, count and datatype.
pub(crate) type Values<A> = (A, i64, Rc<Type>);

/// The values of a buffer of the program, which are checked.
pub(crate) fn values<A: Copy>(
    world: &World,
    (buffer, count, handle): (A, i64, I),
    address: usize,
) -> Outcome<Values<A>> {
    let ty = world.types.committed(handle)?;
    arguments::buffer(address, count, &ty)?;
    Ok((buffer, count, ty))
}

/// What separates messages from others of their communicator with the same tag.
#[derive(Clone, Copy)]
pub(crate) struct Lane {
    /// Bits that change the context.
    pub(crate) bits: u64,
    /// A number that messages of equal tags must share; at most 2^31.
    pub(crate) number: u64,
}

impl Lane {
    /// The lane of the program's own messages.
    pub(crate) const PROGRAM: Self = Self { bits: 0, number: 0 };

    /// A tag of the program together with the number, as messages have it. The lower 32 bits are the tag.
    const fn tag(self, tag: i64) -> i64 {
        tag | (self.number << 32) as i64
    }
}

/// A send that has begun: its request, or `None` if it has ended already.
pub(crate) type Begun = Option<c_int>;

/// Begins a send of the program's own messages, which are in lane 0.
pub(crate) unsafe fn send(
    world: &mut World,
    buffer: (P, i64, I),
    to: I,
    tag: I,
    comm: I,
    mode: Mode,
) -> Outcome<Begun> {
    world.comms.get(comm)?;
    let values = values(world, buffer, buffer.0 as usize)?;
    if to == PROC_NULL {
        tag_of(tag)?;
        world.charge();
        return Ok(None);
    }
    // SAFETY: as the caller's.
    unsafe { send_in(world, Lane::PROGRAM, values, to, tag, comm, mode) }
}

/// Begins a send whose messages match receives of the same lane only.
pub(crate) unsafe fn send_in(
    world: &mut World,
    lane: Lane,
    (buffer, count, ty): Values<P>,
    to: I,
    tag: I,
    comm: I,
    mode: Mode,
) -> Outcome<Begun> {
    world.charge();
    let found = world.comms.get(comm)?;
    if to == PROC_NULL {
        return Ok(None);
    }
    let (to, tag) = (found.world_of(to)?, lane.tag(tag_of(tag)?));
    let (bytes, context) = (ty.bytes(count), found.context ^ lane.bits);
    let mut data = Letter::empty();
    // SAFETY: the buffer of the program.
    unsafe { ty.pack(buffer, count, data.end()) }?;
    let rendezvous = mode != Mode::Own && delivery::needs_receive(world, to, bytes);
    // A rendezvous is synchronous.
    let synchronous = mode == Mode::Synchronous && !rendezvous;
    let what = What::Send { to, tag, context, bytes, synchronous, rendezvous };
    let request = world.requests.add(Request::new(what, State::Pending));
    let owner = (!synchronous).then_some(Owner::Request(request));
    // The receive of the answer is recorded before the message is sent: a message to this rank itself is answered at
    // once.
    let number =
        synchronous.then(|| world.log.as_mut().map(|log| log.receive(Some(to), Some(tag), context ^ ANSWERS, 0)));
    let (kind, note) = (if mode == Mode::Own { OWN } else { kind_of(synchronous) }, request as u64);
    let left = transmit(world, Outgoing { kind, to, context, tag, note, bytes, of: None }, data, owner);
    let sent = world.last_logged();
    if left && !synchronous {
        world.requests.remove(request);
        return Ok(None);
    }
    let Some(pending) = world.requests.get_mut(request) else { return error(ERR_REQUEST, "no such request") };
    pending.number = number.unwrap_or(sent);
    Ok(Some(request))
}

/// Returns the request of a send. If the send has ended already, the request is new and complete.
pub(crate) fn request_of(world: &mut World, begun: Begun) -> c_int {
    begun.unwrap_or_else(|| world.requests.add(Request::done(Status::EMPTY)))
}

/// Begins a send and returns its request.
unsafe fn isend(world: &mut World, buffer: (P, i64, I), to: I, tag: I, comm: I, mode: Mode) -> Outcome<c_int> {
    // SAFETY: as the caller's.
    let begun = unsafe { send(world, buffer, to, tag, comm, mode) }?;
    Ok(request_of(world, begun))
}

/// Begins a receive of the program's own messages, which are in lane 0.
pub(crate) fn receive(world: &mut World, buffer: (M, i64, I), from: I, tag: I, comm: I) -> Outcome<c_int> {
    world.comms.get(comm)?;
    let values = values(world, buffer, buffer.0 as usize)?;
    if from == PROC_NULL {
        world.charge();
        return Ok(world.requests.add(Request::done(Status::NOBODY)));
    }
    receive_in(world, Lane::PROGRAM, values, from, tag, comm)
}

/// Begins a receive of messages of a lane.
pub(crate) fn receive_in(
    world: &mut World,
    lane: Lane,
    (buffer, count, ty): Values<M>,
    from: I,
    tag: I,
    comm: I,
) -> Outcome<c_int> {
    world.charge();
    let found = world.comms.get(comm)?;
    if from == PROC_NULL {
        return Ok(world.requests.add(Request::done(Status::NOBODY)));
    }
    let (from, tag) = filter(found, from, tag)?;
    let tag = tag.map(|tag| lane.tag(tag));
    let (context, members) = (found.context ^ lane.bits, Rc::clone(found.partners()));
    let bytes = ty.bytes(count);
    let what = What::Receive { buffer: buffer as usize, count, ty, from, tag, members, context: found.context };
    let request = world.requests.add(Request::new(what, State::Pending).on(comm));
    let owner = Owner::Request(request);
    delivery::announce(world, owner, (from, tag), context, bytes);
    if from.is_none() {
        waiting::catch_up(world);
    }
    let now = world.now();
    if let Some(message) = world.mail.post(owner, (from, tag), context, now) {
        delivery::deliver(world, owner, message);
    }
    Ok(request)
}

/// Sends and waits until the program may reuse its buffer.
unsafe fn blocking_send(world: &mut World, buffer: (P, i64, I), to: I, tag: I, comm: I, mode: Mode) -> Outcome {
    // SAFETY: as the caller's.
    match unsafe { send(world, buffer, to, tag, comm, mode) }? {
        Some(request) => wait_own(world, request),
        None => Ok(()),
    }
}

/// The part of a call that sends or receives both: buffer, count and datatype; the other rank; tag.
type End<A> = ((A, i64, I), I, I);

/// Begins a receive and a send; returns the requests of the send and of the receive.
unsafe fn sendrecv(world: &mut World, sent: End<P>, received: End<M>, comm: I) -> Outcome<(c_int, c_int)> {
    let (buffer, from, tag) = received;
    let receiving = receive(world, buffer, from, tag, comm)?;
    let (buffer, to, tag) = sent;
    // SAFETY: as the caller's.
    match unsafe { isend(world, buffer, to, tag, comm, Mode::Standard) } {
        Ok(sending) => Ok((sending, receiving)),
        Err(failure) => {
            withdraw(world, receiving);
            Err(failure)
        }
    }
}

large! {
    |world|
    fn MPI_Send / MPI_Send_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I) {
        blocking_send(world, (buffer, count.into(), ty), to, tag, comm, Mode::Standard)
    }
    fn MPI_Ssend / MPI_Ssend_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I) {
        blocking_send(world, (buffer, count.into(), ty), to, tag, comm, Mode::Synchronous)
    }
    fn MPI_Rsend / MPI_Rsend_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I) {
        blocking_send(world, (buffer, count.into(), ty), to, tag, comm, Mode::Standard)
    }
    fn MPI_Bsend / MPI_Bsend_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I) {
        // The message has been copied: the program does not wait, and the request frees itself at its end.
        let begun = send(world, (buffer, count.into(), ty), to, tag, comm, Mode::Standard)?;
        if let Some(request) = begun.and_then(|begun| world.requests.get_mut(begun)) {
            request.freed = true;
        }
        Ok(())
    }
    fn MPI_Recv / MPI_Recv_c(buffer: M, count: N, ty: I, from: I, tag: I, comm: I, status: *mut Status) {
        let request = receive(world, (buffer, count.into(), ty), from, tag, comm)?;
        wait(world, request, status)
    }
    fn MPI_Isend / MPI_Isend_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        put(request, isend(world, (buffer, count.into(), ty), to, tag, comm, Mode::Standard)?);
        Ok(())
    }
    fn MPI_Issend / MPI_Issend_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        put(request, isend(world, (buffer, count.into(), ty), to, tag, comm, Mode::Synchronous)?);
        Ok(())
    }
    fn MPI_Irsend / MPI_Irsend_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        put(request, isend(world, (buffer, count.into(), ty), to, tag, comm, Mode::Standard)?);
        Ok(())
    }
    fn MPI_Ibsend / MPI_Ibsend_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        put(request, isend(world, (buffer, count.into(), ty), to, tag, comm, Mode::Standard)?);
        Ok(())
    }
    fn MPI_Irecv / MPI_Irecv_c(buffer: M, count: N, ty: I, from: I, tag: I, comm: I, request: Ip) {
        put(request, receive(world, (buffer, count.into(), ty), from, tag, comm)?);
        Ok(())
    }
    fn MPI_Sendrecv / MPI_Sendrecv_c(
        buffer: P, sent: N, sent_type: I, to: I, sent_tag: I,
        into: M, count: N, ty: I, from: I, tag: I, comm: I, status: *mut Status,
    ) {
        let (sending, receiving) = sendrecv(
            world,
            ((buffer, sent.into(), sent_type), to, sent_tag),
            ((into, count.into(), ty), from, tag),
            comm,
        )?;
        let received = wait(world, receiving, status);
        wait_own(world, sending)?;
        received
    }
    fn MPI_Sendrecv_replace / MPI_Sendrecv_replace_c(
        buffer: M, count: N, ty: I, to: I, sent_tag: I, from: I, tag: I, comm: I, status: *mut Status,
    ) {
        // The data are copied when they are sent, before anything is received.
        let sending = isend(world, (buffer, count.into(), ty), to, sent_tag, comm, Mode::Standard)?;
        let receiving = receive(world, (buffer, count.into(), ty), from, tag, comm)?;
        let received = wait(world, receiving, status);
        wait_own(world, sending)?;
        received
    }
    fn MPI_Isendrecv / MPI_Isendrecv_c(
        buffer: P, sent: N, sent_type: I, to: I, sent_tag: I,
        into: M, count: N, ty: I, from: I, tag: I, comm: I, request: Ip,
    ) {
        let (sending, receiving) = sendrecv(
            world,
            ((buffer, sent.into(), sent_type), to, sent_tag),
            ((into, count.into(), ty), from, tag),
            comm,
        )?;
        // The status is that of the receive.
        put(request, together(world, vec![sending, receiving]));
        Ok(())
    }
    fn MPI_Isendrecv_replace / MPI_Isendrecv_replace_c(
        buffer: M, count: N, ty: I, to: I, sent_tag: I, from: I, tag: I, comm: I, request: Ip,
    ) {
        let sending = isend(world, (buffer, count.into(), ty), to, sent_tag, comm, Mode::Standard)?;
        let receiving = receive(world, (buffer, count.into(), ty), from, tag, comm)?;
        put(request, together(world, vec![sending, receiving]));
        Ok(())
    }
    fn MPI_Send_init / MPI_Send_init_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        put(request, persistent_send(world, (buffer, count.into(), ty), to, tag, comm, Mode::Standard)?);
        Ok(())
    }
    fn MPI_Ssend_init / MPI_Ssend_init_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        put(request, persistent_send(world, (buffer, count.into(), ty), to, tag, comm, Mode::Synchronous)?);
        Ok(())
    }
    fn MPI_Rsend_init / MPI_Rsend_init_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        put(request, persistent_send(world, (buffer, count.into(), ty), to, tag, comm, Mode::Standard)?);
        Ok(())
    }
    fn MPI_Bsend_init / MPI_Bsend_init_c(buffer: P, count: N, ty: I, to: I, tag: I, comm: I, request: Ip) {
        put(request, persistent_send(world, (buffer, count.into(), ty), to, tag, comm, Mode::Standard)?);
        Ok(())
    }
    fn MPI_Recv_init / MPI_Recv_init_c(buffer: M, count: N, ty: I, from: I, tag: I, comm: I, request: Ip) {
        put(request, persistent_receive(world, (buffer, count.into(), ty), from, tag, comm)?);
        Ok(())
    }
    fn MPI_Mrecv / MPI_Mrecv_c(buffer: M, count: N, ty: I, message: Ip, status: *mut Status) {
        let request = receive_matched(world, (buffer, count.into(), ty), message)?;
        wait(world, request, status)
    }
    fn MPI_Imrecv / MPI_Imrecv_c(buffer: M, count: N, ty: I, message: Ip, request: Ip) {
        put(request, receive_matched(world, (buffer, count.into(), ty), message)?);
        Ok(())
    }
    fn MPI_Buffer_attach / MPI_Buffer_attach_c(buffer: M, size: N) {
        if i64::from(size) < 0 {
            return error(ERR_ARG, format!("the buffer has a size of {size} bytes"));
        }
        world.buffer = (buffer as usize, size.into());
        Ok(())
    }
    fn MPI_Buffer_detach / MPI_Buffer_detach_c(buffer: *mut M, size: *mut N) {
        let (at, length) = std::mem::take(&mut world.buffer);
        put(buffer, at as M);
        put(size, length as N);
        Ok(())
    }
}

/// One request for several, which ends when all of them have ended.
pub(crate) fn together(world: &mut World, all: Vec<c_int>) -> c_int {
    world.requests.add(Request::new(What::Several(all), State::Done))
}

/// A persistent request of a communicator, which it holds; each start begins an operation.
pub(crate) fn persistent(
    world: &mut World,
    comm: c_int,
    begin: impl Fn(&mut World) -> Outcome<c_int> + 'static,
) -> c_int {
    let request = world.requests.add(Request::new(What::Persistent { active: None }, State::Done));
    world.comms.hold(comm);
    world.begins.insert(request, (Rc::new(begin) as Begin, comm));
    request
}

/// A persistent send, whose arguments are checked now.
fn persistent_send(world: &mut World, buffer: (P, i64, I), to: I, tag: I, comm: I, mode: Mode) -> Outcome<c_int> {
    let found = world.comms.get(comm)?;
    tag_of(tag)?;
    let (buffer, count, ty) = values(world, buffer, buffer.0 as usize)?;
    if to == PROC_NULL {
        return Ok(persistent(world, comm, |world| Ok(request_of(world, None))));
    }
    found.world_of(to)?;
    let begin = move |world: &mut World| {
        // SAFETY: the buffer of the program.
        let begun = unsafe { send_in(world, Lane::PROGRAM, (buffer, count, Rc::clone(&ty)), to, tag, comm, mode) }?;
        Ok(request_of(world, begun))
    };
    Ok(persistent(world, comm, begin))
}

/// A persistent receive, whose arguments are checked now.
fn persistent_receive(world: &mut World, buffer: (M, i64, I), from: I, tag: I, comm: I) -> Outcome<c_int> {
    let found = world.comms.get(comm)?;
    let (buffer, count, ty) = values(world, buffer, buffer.0 as usize)?;
    if from == PROC_NULL {
        return Ok(persistent(world, comm, |world| Ok(world.requests.add(Request::done(Status::NOBODY)))));
    }
    filter(found, from, tag)?;
    let begin =
        move |world: &mut World| receive_in(world, Lane::PROGRAM, (buffer, count, Rc::clone(&ty)), from, tag, comm);
    Ok(persistent(world, comm, begin))
}

/// Begins to receive a message that a matching probe has taken out of the queue. Returns its request.
fn receive_matched(world: &mut World, buffer: (M, i64, I), message: Ip) -> Outcome<c_int> {
    world.charge();
    // SAFETY: the handle of the program.
    let handle = unsafe { *message };
    if handle == MESSAGE_NO_PROC {
        // SAFETY: as above.
        unsafe { *message = MESSAGE_NULL };
        return Ok(world.requests.add(Request::done(Status::NOBODY)));
    }
    if !world.mail.probed.contains_key(&handle) {
        return error(ERR_REQUEST, format!("{handle:#x} is not a message"));
    }
    let (buffer, count, ty) = values(world, buffer, buffer.0 as usize)?;
    let Some((taken, comm, members)) = world.mail.probed.remove(&handle) else { return Ok(REQUEST_NULL) };
    // SAFETY: as above.
    unsafe { *message = MESSAGE_NULL };
    let (from, tag, context) = (Some(taken.source), Some(taken.tag), taken.context);
    let what = What::Receive { buffer: buffer as usize, count, ty, from, tag, members, context };
    let request = world.requests.add(Request::new(what, State::Pending).on(comm));
    delivery::deliver(world, Owner::Request(request), taken);
    Ok(request)
}

/// The status that a probe reports for a message.
fn status_of(message: &Message, comm: &Comm) -> Status {
    let mut status = Status { tag: message.tag as c_int, ..Status::EMPTY };
    status.source = comm.rank_of(message.source).map_or(ANY_SOURCE, |rank| rank as c_int);
    status.set_bytes(message.data.len() as u64);
    status
}

/// Searches for a message, and waits for it if `blocks`. Returns its position in the queue of unexpected messages and
/// its status.
fn probe(world: &mut World, from: I, tag: I, comm: I, blocks: bool) -> Outcome<Option<(usize, Status)>> {
    let found = world.comms.get(comm)?;
    let ((source, tag), context) = (filter(found, from, tag)?, found.context);
    if blocks {
        let awaited = Awaited::Probe { source, tag, context };
        let until = source.map_or(Until::Any, Until::From);
        waiting::wait(world, awaited, until, |world| world.mail.find(source, tag, context).is_some());
    } else {
        waiting::poll(world);
    }
    let found = world.comms.get(comm)?;
    let waiting = world.mail.find(source, tag, context);
    let waiting = waiting.map(|(position, message)| (position, status_of(message, found)));
    if waiting.is_none() {
        world.pay(POLL);
    }
    Ok(waiting)
}

/// Takes a message out of the queue of unexpected messages and returns a handle for it.
fn handle_of(world: &mut World, position: usize, comm: c_int) -> Outcome<c_int> {
    let members = Rc::clone(world.comms.get(comm)?.partners());
    let Some(message) = world.mail.take_out(position) else { return Ok(MESSAGE_NULL) };
    if let Some(log) = &mut world.log {
        let number = log.receive(Some(message.source), Some(message.tag), message.context, message.data.len() as u64);
        log.wait(number);
    }
    let handle = 0xac80_0000_u32 as c_int | world.mail.next_probed;
    world.mail.next_probed += 1;
    world.mail.probed.insert(handle, (message, comm, members));
    Ok(handle)
}

mpi! {
    |world|
    fn MPI_Probe(from: I, tag: I, comm: I, status: *mut Status) {
        if from == PROC_NULL {
            put_status(status, &Status::NOBODY);
        } else if let Some((_, found)) = probe(world, from, tag, comm, true)? {
            put_status(status, &found);
        }
        Ok(())
    }
    fn MPI_Iprobe(from: I, tag: I, comm: I, flag: Ip, status: *mut Status) {
        let found = if from == PROC_NULL { Some((0, Status::NOBODY)) } else { probe(world, from, tag, comm, false)? };
        put(flag, c_int::from(found.is_some()));
        found.iter().for_each(|(_, found)| put_status(status, found));
        Ok(())
    }
    fn MPI_Mprobe(from: I, tag: I, comm: I, message: Ip, status: *mut Status) {
        if from == PROC_NULL {
            put(message, MESSAGE_NO_PROC);
            put_status(status, &Status::NOBODY);
        } else if let Some((position, found)) = probe(world, from, tag, comm, true)? {
            put(message, handle_of(world, position, comm)?);
            put_status(status, &found);
        }
        Ok(())
    }
    fn MPI_Improbe(from: I, tag: I, comm: I, flag: Ip, message: Ip, status: *mut Status) {
        put(flag, 1);
        if from == PROC_NULL {
            put(message, MESSAGE_NO_PROC);
            put_status(status, &Status::NOBODY);
        } else if let Some((position, found)) = probe(world, from, tag, comm, false)? {
            put(message, handle_of(world, position, comm)?);
            put_status(status, &found);
        } else {
            put(flag, 0);
            put(message, MESSAGE_NULL);
        }
        Ok(())
    }
}
