//! Messages and posted receives, and how they are matched.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ffi::c_int;

use adapters::guest::{Arrival, Event};
use adapters::protocol::Inject;
use bytes::Bytes;

use super::State;
use super::requests::{self, What};
use super::waiting::{Awaited, catch_up};
use crate::abi::*;
use crate::collective;
use crate::communicator;
use crate::datatype::Type;
use crate::world::{self, w};

/// Kind of a message of the program.
const PLAIN: u8 = 0;
/// Kind of a synchronous message: its sender waits until it is received. The note is the handle of the sender's
/// request.
const SYNCHRONOUS: u8 = 1;
/// Kind of the answer to a synchronous message, after its receive has begun. The note is that of the synchronous
/// message.
const MATCHED: u8 = 2;
/// Kind of a message of a collective. The note is a code of the operation and its root, which the receiver compares
/// with its own.
pub(crate) const COLLECTIVE: u8 = 3;
/// \[bytes\] Size of the envelope that precedes the data: kind, tag, context, number, note.
const ENVELOPE: usize = 36;

/// A message that has arrived.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// One of the kinds above.
    pub(crate) kind: u8,
    /// The sender, as a rank of the world.
    pub(crate) source: usize,
    pub(crate) tag: i64,
    /// The context of its communicator, with the bits of its lane and kind.
    pub(crate) context: u64,
    /// Its meaning depends on the kind.
    pub(crate) note: u64,
    pub(crate) data: Bytes,
    /// \[ps\] Time of its arrival.
    time: u64,
    /// Number among the messages of its sender to this rank.
    sequence: u64,
    /// Place in the order of arrivals. A message of this rank to itself comes after all messages processed before it.
    pub(super) order: Order,
}

/// Place of a message in the order of arrivals: its time \[ps\], its source, and its number among those of the source.
pub(super) type Order = (u64, usize, u64);

/// A request that waits for a message to arrive or to leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Request(c_int),
    /// A send or receive of a collective: the request of the collective, and the slot of the operation.
    Part(c_int, u32),
}

impl Owner {
    /// The request of the program to which the operation belongs.
    pub(super) const fn request(self) -> c_int {
        match self {
            Self::Request(handle) | Self::Part(handle, _) => handle,
        }
    }
}

/// A posted receive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    /// The operation that gets the message.
    pub(crate) owner: Owner,
    /// The expected sender, as a rank of the world; `None` for any.
    pub(crate) source: Option<usize>,
    /// The expected tag; `None` for any.
    pub(crate) tag: Option<i64>,
    pub(crate) context: u64,
    /// \[ps\] Time of its posting.
    time: u64,
    /// The place of the last message that had been processed when the receive was posted.
    frontier: Order,
}

impl Posted {
    /// True if the message matches the receive.
    fn accepts(&self, message: &Message) -> bool {
        self.context == message.context
            && self.source.is_none_or(|source| source == message.source)
            && self.tag.is_none_or(|tag| tag == message.tag)
    }
}

/// Messages and receives that wait for each other.
#[derive(Debug)]
pub(crate) struct Mail {
    /// Receives without a message, in the order of their posting.
    pub(super) posted: VecDeque<Posted>,
    /// Messages without a receive, in the order of arrivals.
    unexpected: VecDeque<Message>,
    /// Number of messages sent to each rank.
    sent: Vec<u64>,
    /// Number of messages processed from each rank: the sequence number of the next one.
    seen: Vec<u64>,
    /// Messages that have overtaken an earlier one of the same sender, by sender and sequence number.
    early: HashMap<usize, BTreeMap<u64, Message>>,
    /// Messages whose departure is awaited, by cookie: the request that waits, and the rank to which the message goes.
    pub(super) leaving: HashMap<u64, (Owner, usize)>,
    /// Requests of which an operation has ended since this list was cleared.
    pub(super) ended: Vec<c_int>,
    /// Number of the last message given to the network.
    cookie: u64,
    /// Messages taken out by matching probes, by handle, with their communicators.
    pub(crate) probed: HashMap<c_int, (Message, c_int)>,
    /// Number of the next handle of such a message.
    pub(crate) next_probed: c_int,
    /// What this rank waits for.
    pub(crate) awaited: Awaited,
    /// The greatest place in the order of arrivals among the processed messages.
    pub(super) frontier: Order,
    /// True if messages before the frontier may still be unprocessed, because a wait was for named sources only.
    pub(super) is_behind: bool,
    /// Events that were fetched from the network and come after the frontier.
    pub(super) held: VecDeque<Event>,
}

impl Mail {
    pub(crate) fn new(size: usize) -> Self {
        Self {
            posted: VecDeque::new(),
            unexpected: VecDeque::new(),
            sent: vec![0; size],
            seen: vec![0; size],
            early: HashMap::new(),
            leaving: HashMap::new(),
            ended: Vec::new(),
            cookie: 0,
            probed: HashMap::new(),
            next_probed: 1,
            awaited: Awaited::Nothing,
            frontier: (0, 0, 0),
            is_behind: false,
            held: VecDeque::new(),
        }
    }

    /// Number of messages that have arrived and match no receive yet.
    pub(crate) fn unreceived(&self) -> usize {
        self.unexpected.len()
    }
}

/// Sends data with the modelled size of `bytes`. Returns true if the send is complete for the program. Otherwise the
/// send of `owner` is completed when the message has left.
pub(crate) fn transmit(
    kind: u8,
    to: usize,
    (context, tag): (u64, i64),
    note: u64,
    data: &[u8],
    bytes: u64,
    owner: Option<Owner>,
) -> bool {
    let world = w();
    let sequence = world.mail.sent[to];
    world.mail.sent[to] += 1;
    world.statistics.sent(to, bytes);
    if let Some(log) = &mut world.log {
        log.send(to, tag, context, bytes);
    }
    if to == world.rank {
        let now = world.now();
        let data = Bytes::copy_from_slice(data);
        let order = world.mail.frontier;
        arrive(Message { kind, source: to, tag, context, note, data, time: now, sequence, order });
        return true;
    }
    let mut payload = Vec::with_capacity(ENVELOPE + data.len());
    payload.extend_from_slice(&[kind, 0, 0, 0]);
    for field in [tag as u64, context, sequence, note] {
        payload.extend_from_slice(&field.to_le_bytes());
    }
    payload.extend_from_slice(data);
    let notify = owner.is_some() && bytes > world.buffered;
    world.mail.cookie += 1;
    let cookie = world.mail.cookie;
    if let (true, Some(owner)) = (notify, owner) {
        world.mail.leaving.insert(cookie, (owner, to));
    }
    let (destination, payload) = (to as u32, payload.into());
    let inject = Inject { destination, notify, size: bytes, cookie, unmodelled: true, payload };
    let Some(guest) = &mut world.guest else {
        world::end("a message is sent before MPI_Init or after MPI_Finalize", 1)
    };
    if let Err(failure) = guest.inject(0, inject) {
        world::lost(&failure);
    }
    !notify
}

/// Posts a receive of at most `bytes`. If its message is present already, takes it out of the queue and returns it.
pub(crate) fn post(owner: Owner, source: Option<usize>, tag: Option<i64>, context: u64, bytes: u64) -> Option<Message> {
    if let Some(log) = &mut w().log {
        let number = log.receive(source, tag, context, bytes);
        if let Owner::Request(handle) = owner
            && let Some(request) = w().requests.get_mut(handle)
        {
            request.number = Some(number);
        }
    }
    if source.is_none() {
        catch_up();
    }
    let posted = Posted { owner, source, tag, context, time: w().now(), frontier: w().mail.frontier };
    let mail = &mut w().mail;
    match mail.unexpected.iter().position(|message| posted.accepts(message)) {
        Some(position) => mail.unexpected.remove(position),
        None => {
            mail.posted.push_back(posted);
            None
        }
    }
}

/// Removes a posted receive. Returns false if it has a message already.
pub(super) fn unpost(owner: Owner) -> bool {
    let mail = &mut w().mail;
    let position = mail.posted.iter().position(|posted| posted.owner == owner);
    position.and_then(|position| mail.posted.remove(position)).is_some()
}

/// Position of the first message that a probe accepts.
pub(crate) fn find(source: Option<usize>, tag: Option<i64>, context: u64) -> Option<usize> {
    let probe = Posted { owner: Owner::Request(0), source, tag, context, time: 0, frontier: (0, 0, 0) };
    w().mail.unexpected.iter().position(|message| probe.accepts(message))
}

/// The message at a position that [`find`] has returned.
pub(crate) fn found(position: usize) -> &'static Message {
    &w().mail.unexpected[position]
}

/// Removes the message at a position that [`find`] has returned.
pub(crate) fn take_out(position: usize) -> Option<Message> {
    w().mail.unexpected.remove(position)
}

/// Processes a message that has arrived. The messages of one sender are processed in the order in which they were sent:
/// one that has overtaken another waits for it.
pub(super) fn arrive(message: Message) {
    let mail = &mut w().mail;
    let Some(seen) = mail.seen.get_mut(message.source) else { return };
    if message.sequence != *seen {
        mail.early.entry(message.source).or_default().insert(message.sequence, message);
        return;
    }
    *seen += 1;
    let (source, mut time) = (message.source, message.order.0);
    dispatch(message);
    loop {
        let mail = &mut w().mail;
        let due = mail.seen[source];
        let Some(mut next) = mail.early.get_mut(&source).and_then(|early| early.remove(&due)) else { return };
        mail.seen[source] += 1;
        // In the order of arrivals it comes after the message that it had overtaken.
        next.order.0 = next.order.0.max(time);
        time = next.order.0;
        dispatch(next);
    }
}

/// Gives a message to the first receive that accepts it, or keeps it as an unexpected message.
fn dispatch(message: Message) {
    if message.kind == MATCHED {
        requests::complete(Owner::Request(message.note as c_int));
        return;
    }
    let mail = &mut w().mail;
    match mail.posted.iter().position(|posted| posted.accepts(&message)) {
        Some(position) => {
            if let Some(posted) = mail.posted.remove(position) {
                // Events are processed when the rank waits: a receive may have been posted after the arrival. A wait
                // for named sources processes some events before others that precede them in the order of arrivals.
                let is_behind = |frontier: Order| w().deterministic && message.order < frontier;
                let before = message.time < posted.time || is_behind(posted.frontier);
                w().statistics.unexpected += u64::from(before);
                if message.kind == SYNCHRONOUS && is_behind(w().mail.frontier) {
                    let what = "the answer to a synchronous send would be late: use --sync combined for this program";
                    world::end(what, 1);
                }
                deliver(posted.owner, message);
            }
        }
        None => {
            w().statistics.unexpected += 1;
            let later = mail.unexpected.iter().position(|other| other.order > message.order);
            mail.unexpected.insert(later.unwrap_or(mail.unexpected.len()), message);
        }
    }
}

/// Gives a message to the receive of `owner`, which ends.
pub(crate) fn deliver(owner: Owner, message: Message) {
    w().statistics.received += 1;
    w().mail.ended.push(owner.request());
    match owner {
        Owner::Part(handle, slot) => collective::arrived(handle, slot, &message),
        Owner::Request(handle) => {
            let Some(request) = w().requests.get_mut(handle) else { return };
            let What::Receive { buffer, count, ty, comm, .. } = &request.what else { return };
            let (status, failure) = receive(&message, *buffer, *count, ty, *comm);
            (request.status, request.failure, request.state) = (status, failure, State::Done);
            if message.kind == SYNCHRONOUS {
                answer(&message);
            }
            requests::release(handle);
        }
    }
}

/// Tells the sender of a synchronous message that its receive has begun.
pub(crate) fn answer(message: &Message) {
    let key = (message.context ^ ANSWERS, message.tag);
    transmit(MATCHED, message.source, key, message.note, &[], 0, None);
}

/// Bit that distinguishes the context of answers to synchronous sends from that of the messages.
pub(crate) const ANSWERS: u64 = 1 << 63;

/// Writes the data of a message into a buffer. Returns the status, and a description if the message is truncated.
pub(crate) fn receive(
    message: &Message,
    buffer: usize,
    count: i64,
    ty: &Type,
    comm: c_int,
) -> (Status, Option<String>) {
    let room = ty.bytes(count);
    let rank = communicator::get(comm).ok().and_then(|comm| comm.rank_of(message.source));
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

/// Reads the envelope of an arrived message; `None` if it is too short.
pub(super) fn parse(arrival: &Arrival) -> Option<Message> {
    let payload = &arrival.payload;
    let head = payload.first_chunk::<ENVELOPE>()?;
    let field = |index: usize| {
        let at = 4 + 8 * index;
        head[at..at + 8].try_into().map(u64::from_le_bytes).ok()
    };
    let (source, sequence) = (arrival.source as usize, field(2)?);
    // In real time a message is handed over after its arrival, and messages are ordered by their hand-over.
    let (late, first) = if w().realtime { (arrival.late, w().mail.frontier.0) } else { (0, 0) };
    Some(Message {
        kind: head[0],
        source,
        tag: field(0)? as i64,
        context: field(1)?,
        sequence,
        order: (arrival.time.max(first), source, sequence),
        note: field(3)?,
        data: payload.slice(ENVELOPE..),
        time: arrival.time.saturating_sub(late),
    })
}

/// Kind of a message of the program.
pub(crate) const fn kind_of(synchronous: bool) -> u8 {
    if synchronous { SYNCHRONOUS } else { PLAIN }
}
