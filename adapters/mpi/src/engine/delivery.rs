//! Sends and delivers messages, and continues the collectives that they belong to.
//!
//! What arrives can let a collective send, and a message of a rank to itself arrives at once: sending, delivering and
//! continuing call each other.

use std::ffi::c_int;

use adapters::protocol::Inject;
use bytes::Bytes;

use super::mail::{ANSWERS, COLLECTIVE, MATCHED, Message, Owner, SYNCHRONOUS, seal};
use super::requests::{Request, State, What};
use crate::abi::*;
use crate::collective::{Disagreement, Running, Step};
use crate::communicator::Comms;
use crate::datatype::Type;
use crate::world::World;

/// A message to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    /// One of the kinds of `mail`.
    pub(crate) kind: u8,
    /// The receiver, as a rank of the world.
    pub(crate) to: usize,
    /// The context of its communicator, with the bits of its lane and kind.
    pub(crate) context: u64,
    pub(crate) tag: i64,
    /// Its meaning depends on the kind.
    pub(crate) note: u64,
    /// \[bytes\] Its modelled size.
    pub(crate) bytes: u64,
}

/// Sends a message with these data. Returns true if the send is complete for the program. Otherwise the send of `owner`
/// is completed when the message has left.
pub(crate) fn transmit(world: &mut World, message: Outgoing, data: &[u8], owner: Option<Owner>) -> bool {
    let Outgoing { kind, to, context, tag, note, bytes } = message;
    let sequence = world.mail.number(to);
    world.statistics.sent(to, bytes);
    if let Some(log) = &mut world.log {
        log.send(to, tag, context, bytes);
    }
    if to == world.settings.rank {
        let (time, order) = (world.now(), world.mail.frontier);
        let data = Bytes::copy_from_slice(data);
        arrive(world, Message { kind, source: to, tag, context, note, data, time, sequence, order });
        return true;
    }
    let payload = seal(kind, (context, tag), sequence, note, data).into();
    let notify = owner.is_some() && bytes > world.settings.buffered;
    world.mail.cookie += 1;
    let cookie = world.mail.cookie;
    if let (true, Some(owner)) = (notify, owner) {
        world.mail.leaving.insert(cookie, (owner, to));
    }
    let inject = Inject { destination: to as u32, notify, size: bytes, cookie, unmodelled: true, payload };
    let Some(guest) = &mut world.guest else { world.end("a message is sent before MPI_Init or after MPI_Finalize", 1) };
    if let Err(failure) = guest.inject(0, inject) {
        world.lost(&failure);
    }
    !notify
}

/// Processes a message that has arrived, and those of its sender that it has let overtake it.
pub(super) fn arrive(world: &mut World, message: Message) {
    let source = message.source;
    let mut next = world.mail.admit(message);
    while let Some(message) = next {
        let time = message.order.0;
        dispatch(world, message);
        next = world.mail.overtaken(source, time);
    }
}

/// Gives a message to the first receive that accepts it, or keeps it as an unexpected message.
fn dispatch(world: &mut World, message: Message) {
    if message.kind == MATCHED {
        return complete(world, Owner::Request(message.note as c_int));
    }
    let Some((posted, message)) = world.mail.offer(message) else {
        world.statistics.unexpected += 1;
        return;
    };
    // Events are processed when the rank waits: a receive may have been posted after the arrival. A wait for named
    // sources processes some events before others that precede them in the order of arrivals.
    let deterministic = world.settings.deterministic;
    let before = message.time < posted.time || deterministic && message.order < posted.frontier;
    world.statistics.unexpected += u64::from(before);
    if message.kind == SYNCHRONOUS && deterministic && message.order < world.mail.frontier {
        world.end("the answer to a synchronous send would be late: use --sync combined for this program", 1);
    }
    deliver(world, posted.owner, message);
}

/// Gives a message to the receive of `owner`, which ends.
pub(crate) fn deliver(world: &mut World, owner: Owner, message: Message) {
    world.statistics.received += 1;
    world.mail.ended.push(owner.request());
    match owner {
        Owner::Part(handle, slot) => {
            let Some(mut running) = world.requests.take_running(handle) else { return };
            receive_part(world, &mut running, slot, message);
            progress(world, handle, running);
        }
        Owner::Request(handle) => {
            let Some(request) = world.requests.get_mut(handle) else { return };
            let What::Receive { buffer, count, ty, comm, .. } = &request.what else { return };
            let (status, failure) = receive(&world.comms, &message, *buffer, *count, ty, *comm);
            (request.status, request.failure, request.state) = (status, failure, State::Done);
            if message.kind == SYNCHRONOUS {
                answer(world, &message);
            }
            world.requests.end(handle);
        }
    }
}

/// Tells the sender of a synchronous message that its receive has begun.
pub(crate) fn answer(world: &mut World, message: &Message) {
    let (to, context, note) = (message.source, message.context ^ ANSWERS, message.note);
    transmit(world, Outgoing { kind: MATCHED, to, context, tag: message.tag, note, bytes: 0 }, &[], None);
}

/// Writes the data of a message into a buffer. Returns the status, and a description if the message is truncated.
pub(crate) fn receive(
    comms: &Comms,
    message: &Message,
    buffer: usize,
    count: i64,
    ty: &Type,
    comm: c_int,
) -> (Status, Option<String>) {
    let room = ty.bytes(count);
    let rank = comms.get(comm).ok().and_then(|comm| comm.rank_of(message.source));
    let mut status = Status { tag: message.tag as c_int, ..Status::EMPTY };
    status.source = rank.map_or(ANY_SOURCE, |rank| rank as c_int);
    let length = (message.data.len() as u64).min(room);
    status.set_bytes(length);
    // SAFETY: the buffer that the program has given for this receive.
    unsafe { ty.unpack(&message.data[..length as usize], buffer as M, count) };
    let failure = (message.data.len() as u64 > room).then(|| {
        format!(
            "message truncated: {} bytes from rank {} with tag {} do not fit a buffer of {room} bytes",
            message.data.len(),
            status.source,
            message.tag
        )
    });
    if failure.is_some() {
        status.error = ERR_TRUNCATE;
    }
    (status, failure)
}

/// Ends the send of `owner`, because its message has left or its receiver has answered a synchronous message.
pub(super) fn complete(world: &mut World, owner: Owner) {
    world.mail.ended.push(owner.request());
    match owner {
        Owner::Request(handle) => world.requests.end(handle),
        Owner::Part(handle, slot) => {
            let Some(mut running) = world.requests.take_running(handle) else { return };
            let number = running.closed(slot);
            world.log_wait(number);
            progress(world, handle, running);
        }
    }
}

/// Records a receive of at most `bytes` that is about to be posted.
pub(crate) fn announce(
    world: &mut World,
    owner: Owner,
    (source, tag): (Option<usize>, Option<i64>),
    context: u64,
    bytes: u64,
) {
    if let Some(log) = &mut world.log {
        let number = log.receive(source, tag, context, bytes);
        if let Owner::Request(handle) = owner
            && let Some(request) = world.requests.get_mut(handle)
        {
            request.number = Some(number);
        }
    }
}

/// Executes the first steps of a collective and returns the handle of its request.
pub(super) fn start(world: &mut World, running: Running) -> c_int {
    world.statistics.collective(running.name());
    let handle = world.requests.add(Request::new(What::Collective(None), State::Pending));
    progress(world, handle, Box::new(running));
    handle
}

/// Executes a collective until it waits or ends, and puts it back into its request.
fn progress(world: &mut World, handle: c_int, mut running: Box<Running>) {
    let is_over = run(world, handle, &mut running);
    if is_over {
        let took = world.now().saturating_sub(running.begin);
        world.statistics.collective_took(running.name(), took);
        if let Err(fatal) = running.finish(&mut |terms, left, right| world.combine(terms, left, right)) {
            world.end(&fatal.text, fatal.code);
        }
    }
    if let Some(request) = world.requests.get_mut(handle) {
        request.what = What::Collective(Some(running));
        if is_over {
            world.requests.end(handle);
        }
    }
}

/// Executes the steps of a collective until it waits. Returns true at its end.
fn run(world: &mut World, handle: c_int, running: &mut Running) -> bool {
    loop {
        match running.next(&mut |terms, left, right| world.combine(terms, left, right)) {
            Err(disagreement) => disagree(world, running, &disagreement),
            Ok(Step::Wait) => return false,
            Ok(Step::End) => return true,
            Ok(Step::Send { to, bytes, slot, payload }) => {
                let (context, tag, note) = (running.context, running.number as i64, running.note());
                let message = Outgoing { kind: COLLECTIVE, to, context, tag, note, bytes };
                if !transmit(world, message, &payload, Some(Owner::Part(handle, slot))) {
                    running.opened(slot, world.last_logged());
                }
            }
            Ok(Step::Receive { from, bytes, slot }) => {
                let (owner, tag) = (Owner::Part(handle, slot), Some(running.number as i64));
                announce(world, owner, (Some(from), tag), running.context, bytes);
                let now = world.now();
                let message = world.mail.post(owner, (Some(from), tag), running.context, now);
                running.opened(slot, world.last_logged());
                if let Some(message) = message {
                    world.statistics.received += 1;
                    receive_part(world, running, slot, message);
                }
            }
        }
    }
}

/// Gives a message to the receive in a slot of a collective.
fn receive_part(world: &mut World, running: &mut Running, slot: u32, message: Message) {
    match running.received(slot, (message.source, message.note), message.data) {
        Ok(number) => world.log_wait(number),
        Err(disagreement) => disagree(world, running, &disagreement),
    }
}

/// Ends the program because ranks of a collective do not do the same.
fn disagree(world: &mut World, running: &Running, disagreement: &Disagreement) -> ! {
    let fatal = running.explain(disagreement, &world.comms);
    world.end(&fatal.text, fatal.code)
}
