//! Sends and delivers messages, and continues the collectives that they belong to.
//!
//! What arrives can let a collective send, and a message of a rank to itself arrives at once: sending, delivering and
//! continuing call each other.
//!
//! Decision: docs/decisions/0224-rendezvous.md.

use std::ffi::c_int;
use std::rc::Rc;

use adapters::protocol::Inject;
use bytes::Bytes;

use super::mail::{
    ANNOUNCED, ANNOUNCED_PART, ANSWERS, BODY, CLEAR, COLLECTIVE, Content, LONG, LONG_ENVELOPE, Letter, MATCHED,
    Message, Owner, PLAIN, SYNCHRONOUS, WINDOW, Waiting, body_tag,
};
use super::requests::{Request, State, What};
use crate::abi::*;
use crate::collective::{Disagreement, Running, Step, name_of_note, place_of};
use crate::communicator::rank_in;
use crate::datatype::Type;
use crate::shared::{Place, Unwritten};
use crate::spans::Doing;
use crate::window::Order;
use crate::window::target::carry_out;
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
    /// The collective that it belongs to: its note and its number.
    pub(crate) of: Option<(u64, u64)>,
}

/// Sends a message with these data. Returns true if the send is complete for the program. Otherwise the send of `owner`
/// is completed when the message has left.
pub(crate) fn transmit(world: &mut World, message: Outgoing, data: Letter, owner: Option<Owner>) -> bool {
    if is_rendezvous(world, message) {
        announce_send(world, message, data, owner);
        return false;
    }
    let Outgoing { kind, to, context, tag, note, bytes, of } = message;
    let sequence = world.mail.number(to);
    world.statistics.sent(to, bytes);
    if let Some(log) = &mut world.log {
        log.send(to, tag, context, bytes);
    }
    if to == world.settings.rank {
        let (time, order) = (world.now(), world.mail.frontier);
        let data = Content::Here(data.into_data());
        arrive(world, Message { kind, source: to, tag, context, note, data, time, sequence, order });
        return true;
    }
    let now = world.now();
    if let Some(spans) = &mut world.spans {
        spans.sent(to, sequence, now, bytes, of.map(|(note, number)| (name_of_note(note), place_of(number))));
    }
    let is_long = data.data().len() >= LONG;
    let stored = if is_long { store(world, data.data()) } else { None };
    let payload = data.seal(kind, (context, tag), sequence, note, stored);
    let identified = is_long.then_some(LONG_ENVELOPE as u32);
    let notify = owner.is_some() && bytes > world.settings.buffered;
    world.mail.cookie += 1;
    let cookie = world.mail.cookie;
    if let (true, Some(owner)) = (notify, owner) {
        world.mail.leaving.insert(cookie, (owner, to));
    }
    let inject = Inject { destination: to as u32, notify, size: bytes, cookie, unmodelled: true, identified, payload };
    let Some(guest) = &mut world.guest else { world.end("a message is sent before MPI_Init or after MPI_Finalize", 1) };
    if let Err(failure) = guest.inject(0, inject) {
        world.lost(&failure);
    }
    !notify
}

/// Writes long data into shared memory, if there is some. Returns their place.
fn store(world: &mut World, data: &[u8]) -> Option<Place> {
    match world.shared.as_mut()?.write(data) {
        Ok(place) => Some(place),
        Err(Unwritten::Limit { on_the_way, limit }) => {
            let text = format!(
                "a message of {} bytes does not fit: messages on their way hold {on_the_way} bytes, and this machine has memory \
                 for {limit}; receive earlier, or use shorter messages or fewer ranks",
                data.len()
            );
            world.end(&text, 1)
        }
        Err(Unwritten::Failed(failure)) => {
            world.end(&format!("shared memory for a message of {} bytes: {failure}", data.len()), 1)
        }
    }
}

/// The data of a message, which are taken out of shared memory.
fn load(world: &mut World, data: Content) -> Bytes {
    let place = match data {
        Content::Here(bytes) => return bytes,
        Content::Stored(place) => place,
    };
    let length = place.length as usize;
    let mut bytes: Vec<u8> = Vec::new();
    if bytes.try_reserve_exact(length).is_err() {
        world.end(&format!("there is no memory for a message of {length} bytes"), 1);
    }
    // SAFETY: bytes need no value before they are written, and `take` writes all of them or ends the process.
    unsafe {
        take(world, place, std::slice::from_raw_parts_mut(bytes.as_mut_ptr(), length));
        bytes.set_len(length);
    }
    bytes.into()
}

/// Takes data out of shared memory, as many as fit.
fn take(world: &mut World, place: Place, to: &mut [u8]) {
    let taken = match &mut world.shared {
        Some(shared) => shared.take(place, to).map_err(|failure| failure.to_string()),
        None => Err("it is not open here".to_owned()),
    };
    if let Err(failure) = taken {
        world.end(&format!("a message of {} bytes in shared memory: {failure}", place.length), 1);
    }
}

/// True if a message is sent only when its receive has begun: longer than the limit, and not to this rank itself.
fn is_rendezvous(world: &World, message: Outgoing) -> bool {
    needs_receive(world, message.to, message.bytes) && matches!(message.kind, PLAIN | COLLECTIVE)
}

/// True if a message of `bytes` bytes to a rank waits for its receive.
pub(crate) fn needs_receive(world: &World, to: usize, bytes: u64) -> bool {
    bytes > world.settings.rendezvous && to != world.settings.rank
}

/// Sends the request to send a message.
fn announce_send(world: &mut World, message: Outgoing, data: Letter, owner: Option<Owner>) {
    let Outgoing { kind, to, context, tag, bytes, of, .. } = message;
    let number = world.mail.next_number(to);
    // The receive of the answer is recorded before the request is sent.
    let answer = world.log.as_mut().map(|log| log.receive(Some(to), Some(tag), context ^ ANSWERS, 0));
    world.mail.waiting.insert((to, number), Waiting { owner, context, tag, bytes, of, answer });
    let kind = if kind == PLAIN { ANNOUNCED } else { ANNOUNCED_PART };
    transmit(world, Outgoing { kind, bytes: 0, ..message }, data, None);
}

/// Sends the message whose request to send has been answered: its receiver, and the number of the request.
fn send_body(world: &mut World, to: usize, number: u64) {
    let Some(waiting) = world.mail.waiting.remove(&(to, number)) else { return };
    let Waiting { owner, context, tag, bytes, of, answer } = waiting;
    world.log_wait(answer);
    let body = Outgoing { kind: BODY, to, context: context ^ ANSWERS, tag: body_tag(tag), note: number, bytes, of };
    let has_left = transmit(world, body, Letter::empty(), owner);
    // The wait for the send is that for this message.
    let sent = world.last_logged();
    match owner {
        Some(owner) if has_left => complete(world, owner),
        Some(Owner::Request(handle)) => {
            if let Some(request) = world.requests.get_mut(handle) {
                request.number = sent;
            }
        }
        Some(Owner::Part(handle, slot)) => {
            if let Some(running) = world.requests.running(handle) {
                running.opened(slot, sent);
            }
        }
        None => {}
    }
}

/// Answers a request to send for the receive of `owner`, whose number in the log is `posted`. Returns the number of the
/// receive of the message that follows.
fn answer_request(world: &mut World, owner: Owner, posted: Option<u32>, request: Message) -> Option<u32> {
    world.log_wait(posted);
    let (to, context, note) = (request.source, request.context ^ ANSWERS, request.sequence);
    let of = (request.kind == ANNOUNCED_PART).then_some((request.note, request.tag as u64));
    transmit(world, Outgoing { kind: CLEAR, to, context, tag: request.tag, note, bytes: 0, of }, Letter::empty(), None);
    let bytes = request.data.len() as u64;
    let tag = body_tag(request.tag);
    world.mail.cleared.insert((to, note), (owner, request));
    world.log.as_mut().map(|log| log.receive(Some(to), Some(tag), context, bytes))
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
    match message.kind {
        MATCHED => return complete(world, Owner::Request(message.note as c_int)),
        WINDOW => return arrive_at_window(world, message),
        CLEAR => return send_body(world, message.source, message.note),
        BODY => {
            if let Some((owner, request)) = world.mail.cleared.remove(&(message.source, message.note)) {
                deliver(world, owner, request.whole());
            }
            return;
        }
        _ => {}
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

/// Sends a message of the window with this context to a rank of the world. `bytes` is its modelled size.
pub(super) fn send_order(world: &mut World, context: u64, to: usize, order: &Order, data: &[u8], bytes: u64) {
    let message = Outgoing { kind: WINDOW, to, context, tag: 0, note: 0, bytes, of: None };
    transmit(world, message, order.write(data), None);
}

/// Carries out a message of a window. Its window exists: no rank uses a window before all have begun to make it, or after
/// all have begun to free it.
fn arrive_at_window(world: &mut World, message: Message) {
    let (context, source) = (message.context, message.source);
    if let Some(log) = &mut world.log {
        let number = log.receive(Some(source), Some(message.tag), context, message.data.len() as u64);
        log.wait(number);
    }
    world.statistics.received += 1;
    let data = load(world, message.data);
    let Some((order, start)) = Order::read(&data) else {
        world.end(&format!("rank {source} has sent a message of a window that cannot be read"), 1)
    };
    let data = &data[start..];
    let Some(window) = world.windows.of_context(context) else { return };
    let Some(members) = world.comms.get(window.comm).ok().map(|comm| Rc::clone(&comm.group)) else { return };
    let Some(rank) = rank_in(&members, source) else { return };
    match carry_out(window, rank, &order, data) {
        Ok(carried) => {
            for (to, reply, found) in carried.replies {
                send_order(world, context, members[to], &reply, &found, found.len() as u64);
            }
            if let Some(landing) = carried.answer.and_then(|id| world.answers.remove(&id)) {
                // SAFETY: the buffer that the program has given for the result.
                unsafe { landing.ty.unpack(data, landing.address as M, landing.count) };
                if let Some(request) = landing.request {
                    world.requests.end(request);
                }
            }
        }
        Err(failure) => world.end(&format!("rank {source} accesses {} here", failure.text), failure.class),
    }
}

/// Gives a message to the receive of `owner`, which ends. If it is a request to send, the receive waits for the message.
pub(crate) fn deliver(world: &mut World, owner: Owner, message: Message) {
    if message.is_announced() {
        match owner {
            Owner::Part(handle, slot) => {
                let posted = world.requests.running(handle).and_then(|running| running.number_of(slot));
                let number = answer_request(world, owner, posted, message);
                if let Some(running) = world.requests.running(handle) {
                    running.opened(slot, number);
                }
            }
            Owner::Request(handle) => {
                let posted = world.requests.get_mut(handle).and_then(|request| request.number.take());
                let number = answer_request(world, owner, posted, message);
                if let Some(request) = world.requests.get_mut(handle) {
                    request.number = number;
                }
            }
        }
        return;
    }
    world.statistics.received += 1;
    world.mail.ended.push(owner.request());
    match owner {
        Owner::Part(handle, slot) => continue_with(world, handle, slot, Some(message)),
        Owner::Request(handle) => {
            let Some(request) = world.requests.get_mut(handle) else { return };
            let What::Receive { buffer, count, ty, members, .. } = &request.what else { return };
            let (buffer, count, ty, members) = (*buffer, *count, Rc::clone(ty), Rc::clone(members));
            if message.kind == SYNCHRONOUS {
                answer(world, &message);
            }
            let (status, failure) = receive(world, &members, message, buffer, count, &ty);
            let Some(request) = world.requests.get_mut(handle) else { return };
            (request.status, request.failure, request.state) = (status, failure, State::Done);
            world.requests.end(handle);
        }
    }
}

/// Tells the sender of a synchronous message that its receive has begun.
pub(crate) fn answer(world: &mut World, message: &Message) {
    let (to, context, note) = (message.source, message.context ^ ANSWERS, message.note);
    let answer = Outgoing { kind: MATCHED, to, context, tag: message.tag, note, bytes: 0, of: None };
    transmit(world, answer, Letter::empty(), None);
}

/// Writes the data of a message into a buffer. `members` are the ranks of its communicator. Returns the status, and class
/// and description of the error if the message is truncated.
fn receive(
    world: &mut World,
    members: &[usize],
    message: Message,
    buffer: usize,
    count: i64,
    ty: &Type,
) -> (Status, Option<(c_int, String)>) {
    let room = ty.bytes(count);
    let rank = rank_in(members, message.source);
    let mut status = Status { tag: message.tag as c_int, ..Status::EMPTY };
    status.source = rank.map_or(ANY_SOURCE, |rank| rank as c_int);
    let found = message.data.len() as u64;
    let length = found.min(room);
    status.set_bytes(length);
    match message.data {
        // SAFETY: the buffer that the program has given for this receive, which holds as many bytes.
        Content::Stored(place) if ty.is_contiguous() && length > 0 => unsafe {
            take(world, place, std::slice::from_raw_parts_mut((buffer as M).cast::<u8>(), length as usize));
        },
        data => {
            let data = load(world, data);
            // SAFETY: the buffer that the program has given for this receive.
            unsafe { ty.unpack(&data[..length as usize], buffer as M, count) };
        }
    }
    let failure = (found > room).then(|| {
        let text = format!(
            "message truncated: {found} bytes from rank {} with tag {} do not fit a buffer of {room} bytes",
            status.source, message.tag
        );
        (ERR_TRUNCATE, text)
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
        Owner::Part(handle, slot) => continue_with(world, handle, slot, None),
    }
}

/// Continues a collective with a message for the receive in one of its slots, or with the end of the send there. A collective that
/// executes a function of the program, in which this or another thread calls, continues when that has returned.
fn continue_with(world: &mut World, handle: c_int, slot: u32, message: Option<Message>) {
    let Some(mut running) = world.requests.take_running(handle) else {
        if world.requests.get(handle).is_some() {
            world.mail.deferred.push((handle, slot, message));
        }
        return;
    };
    match message {
        Some(message) => receive_part(world, &mut running, slot, message),
        None => {
            let number = running.closed(slot);
            world.log_wait(number);
        }
    }
    progress(world, handle, running);
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
pub(super) fn start(world: &mut World, running: Running, comm: c_int) -> c_int {
    world.statistics.collective(running.name());
    let handle = world.requests.add(Request::new(What::Collective(None), State::Pending).on(comm));
    progress(world, handle, Box::new(running));
    handle
}

/// Executes a collective until it waits or ends, and puts it back into its request.
fn progress(world: &mut World, handle: c_int, mut running: Box<Running>) {
    let is_over = run(world, handle, &mut running);
    let mut failure = None;
    if is_over {
        let took = world.now().saturating_sub(running.begin);
        world.statistics.collective_took(running.name(), took);
        world.span(Doing::Collective(running.name()), running.begin, world.now());
        let finished = running.finish(&mut |terms, left, right| world.combine(terms, left, right));
        failure = finished.err().map(|failure| (failure.code, failure.text));
    }
    if let Some(request) = world.requests.get_mut(handle) {
        request.what = What::Collective(Some(running));
        request.failure = failure;
        if is_over {
            world.requests.end(handle);
        }
    }
    if let Some(at) = world.mail.deferred.iter().position(|&(of, ..)| of == handle) {
        let (_, slot, message) = world.mail.deferred.remove(at);
        continue_with(world, handle, slot, message);
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
                let of = Some((note, running.number));
                let message = Outgoing { kind: COLLECTIVE, to, context, tag, note, bytes, of };
                if !transmit(world, message, payload, Some(Owner::Part(handle, slot))) {
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
                    if message.is_announced() {
                        let number = answer_request(world, owner, running.number_of(slot), message);
                        running.opened(slot, number);
                        continue;
                    }
                    world.statistics.received += 1;
                    receive_part(world, running, slot, message);
                }
            }
        }
    }
}

/// Gives a message to the receive in a slot of a collective.
fn receive_part(world: &mut World, running: &mut Running, slot: u32, message: Message) {
    let data = load(world, message.data);
    match running.received(slot, (message.source, message.note), data) {
        Ok(number) => world.log_wait(number),
        Err(disagreement) => disagree(world, running, &disagreement),
    }
}

/// Ends the program because ranks of a collective do not do the same.
fn disagree(world: &mut World, running: &Running, disagreement: &Disagreement) -> ! {
    let fatal = running.explain(disagreement, &world.comms);
    world.end(&fatal.text, fatal.code)
}
