//! Messages, matching and requests.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ffi::c_int;
use std::rc::Rc;

use adapters::guest::{Arrival, Event};
use adapters::protocol::Inject;
use bytes::Bytes;

use crate::abi::*;
use crate::collective::{self, Running};
use crate::communicator;
use crate::datatype::Type;
use crate::world::{self, Error, Outcome, error, w};

/// A message of the program.
const PLAIN: u8 = 0;
/// One whose sender waits for its receive; the note is the sender's request.
const SYNCHRONOUS: u8 = 1;
/// The answer to it; the note is that request.
const MATCHED: u8 = 2;
/// A message of a collective; the note describes the collective.
pub(crate) const COLLECTIVE: u8 = 3;
/// \[bytes\] Envelope before the data.
const ENVELOPE: usize = 36;

/// A message that has arrived.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) kind: u8,
    /// The sender, as a rank of the world.
    pub(crate) source: usize,
    pub(crate) tag: i64,
    pub(crate) context: u64,
    pub(crate) note: u64,
    pub(crate) data: Bytes,
    /// \[ps\] Of its arrival.
    time: u64,
    /// Number among the messages of its sender to this rank.
    sequence: u64,
    /// Place in the order of arrivals: of a message to oneself, after all that had been processed.
    order: Order,
}

/// Time, source and number of a message.
type Order = (u64, usize, u64);

/// A request that waits for a message to arrive or to leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Request(c_int),
    /// An operation of a collective.
    Part(c_int, u32),
}

/// A posted receive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    pub(crate) owner: Owner,
    pub(crate) source: Option<usize>,
    pub(crate) tag: Option<i64>,
    pub(crate) context: u64,
    /// \[ps\] Of its posting.
    time: u64,
    /// The last message that had been processed then.
    frontier: Order,
}

impl Posted {
    fn accepts(&self, message: &Message) -> bool {
        self.context == message.context
            && self.source.is_none_or(|source| source == message.source)
            && self.tag.is_none_or(|tag| tag == message.tag)
    }
}

/// Messages and receives that wait for each other.
#[derive(Debug)]
pub(crate) struct Mail {
    posted: VecDeque<Posted>,
    unexpected: VecDeque<Message>,
    /// Messages sent to each rank, and taken from it.
    sent: Vec<u64>,
    seen: Vec<u64>,
    /// Messages that have overtaken an earlier one of the same sender.
    early: HashMap<usize, BTreeMap<u64, Message>>,
    /// Messages whose departure is awaited, by cookie.
    leaving: HashMap<u64, Owner>,
    cookie: u64,
    /// Messages taken out by matching probes.
    pub(crate) probed: HashMap<c_int, (Message, c_int)>,
    pub(crate) next_probed: c_int,
    /// What this rank waits for.
    pub(crate) awaited: Awaited,
    /// The last message that has been processed, in the order of arrivals.
    frontier: Order,
    /// True if earlier messages may still come: the last waits were for named sources.
    is_behind: bool,
    /// Events whose turn has not come.
    held: VecDeque<Event>,
}

/// When a wait ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    /// With this request.
    Over(c_int),
    /// With a message of this rank of the world.
    From(usize),
    /// With any of several messages.
    Any,
}

/// What a rank waits for, for the description of a deadlock.
#[derive(Clone, Debug)]
pub(crate) enum Awaited {
    Nothing,
    Requests(Vec<c_int>),
    Probe { source: Option<usize>, tag: Option<i64>, context: u64 },
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
            cookie: 0,
            probed: HashMap::new(),
            next_probed: 1,
            awaited: Awaited::Nothing,
            frontier: (0, 0, 0),
            is_behind: false,
            held: VecDeque::new(),
        }
    }

    /// Messages that have arrived and match no receive yet.
    pub(crate) fn unreceived(&self) -> usize {
        self.unexpected.len()
    }
}

/// State of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Pending,
    Done,
}

/// The operation of a request.
pub(crate) enum What {
    Send {
        to: usize,
        tag: i64,
        context: u64,
        bytes: u64,
        synchronous: bool,
    },
    Receive {
        buffer: usize,
        count: i64,
        ty: Rc<Type>,
        from: Option<usize>,
        tag: Option<i64>,
        comm: c_int,
    },
    Collective(Option<Box<Running>>),
    /// A generalized request: query, free and cancel functions, and their argument.
    General {
        query: usize,
        free: usize,
        cancel: usize,
        extra: usize,
    },
    /// A persistent request: how its operation begins, and the request of the operation in progress.
    Persistent {
        begin: Rc<dyn Fn() -> Outcome<c_int>>,
        active: Option<c_int>,
    },
    /// Several operations, whose requests these are.
    Several(Vec<c_int>),
    Nothing,
}

/// An operation in progress.
pub(crate) struct Request {
    pub(crate) what: What,
    pub(crate) state: State,
    pub(crate) status: Status,
    /// Released by the program before its end.
    pub(crate) freed: bool,
    /// For the log: its number, unless its wait has been recorded.
    pub(crate) number: Option<u32>,
    pub(crate) failure: Option<String>,
}

impl Request {
    pub(crate) fn new(what: What, state: State) -> Self {
        Self { what, state, status: Status::EMPTY, freed: false, number: None, failure: None }
    }

    /// One that has ended already.
    pub(crate) fn done(status: Status) -> Self {
        Self { status, ..Self::new(What::Nothing, State::Done) }
    }
}

/// Sends data with the modelled size of `bytes`. Returns true if the message has left, as far as the program is
/// concerned; otherwise `owner` is told.
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
        world.mail.leaving.insert(cookie, owner);
    }
    let (destination, payload) = (to as u32, payload.into());
    let inject = Inject { destination, notify, size: bytes, cookie, unmodelled: true, payload };
    let Some(guest) = &mut world.guest else { world::end("a message is sent outside of the program's time", 1) };
    if let Err(failure) = guest.inject(0, inject) {
        world::lost(&failure);
    }
    !notify
}

/// Posts a receive of at most `bytes`; returns the message that it takes, if that is present.
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

/// Takes back a receive that has not got a message; false if it has.
fn unpost(owner: Owner) -> bool {
    let mail = &mut w().mail;
    let position = mail.posted.iter().position(|posted| posted.owner == owner);
    position.and_then(|position| mail.posted.remove(position)).is_some()
}

/// The first message that a probe finds.
pub(crate) fn find(source: Option<usize>, tag: Option<i64>, context: u64) -> Option<usize> {
    let probe = Posted { owner: Owner::Request(0), source, tag, context, time: 0, frontier: (0, 0, 0) };
    w().mail.unexpected.iter().position(|message| probe.accepts(message))
}

/// The message at a place that [`find`] has returned.
pub(crate) fn found(position: usize) -> &'static Message {
    &w().mail.unexpected[position]
}

/// Removes that message.
pub(crate) fn take_out(position: usize) -> Option<Message> {
    w().mail.unexpected.remove(position)
}

/// A message goes to the first receive that accepts it, in the order in which its sender sent them.
fn arrive(message: Message) {
    let mail = &mut w().mail;
    let Some(seen) = mail.seen.get_mut(message.source) else { return };
    if message.sequence != *seen {
        mail.early.entry(message.source).or_default().insert(message.sequence, message);
        return;
    }
    *seen += 1;
    let source = message.source;
    pass(message);
    loop {
        let mail = &mut w().mail;
        let due = mail.seen[source];
        let Some(next) = mail.early.get_mut(&source).and_then(|early| early.remove(&due)) else { return };
        mail.seen[source] += 1;
        pass(next);
    }
}

fn pass(message: Message) {
    if message.kind == MATCHED {
        complete(Owner::Request(message.note as c_int));
        return;
    }
    let mail = &mut w().mail;
    match mail.posted.iter().position(|posted| posted.accepts(&message)) {
        Some(position) => {
            if let Some(posted) = mail.posted.remove(position) {
                // Events are processed when the rank waits: a receive may have been posted after the arrival.
                let before = message.time < posted.time || message.order < posted.frontier;
                w().statistics.unexpected += u64::from(before);
                if message.kind == SYNCHRONOUS && message.order < w().mail.frontier {
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

/// The receive of `owner` has its message.
pub(crate) fn deliver(owner: Owner, message: Message) {
    w().statistics.received += 1;
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
            release(handle);
        }
    }
}

/// Answers a synchronous send.
pub(crate) fn answer(message: &Message) {
    let key = (message.context ^ ANSWERS, message.tag);
    transmit(MATCHED, message.source, key, message.note, &[], 0, None);
}

/// Context of the answers to synchronous sends.
pub(crate) const ANSWERS: u64 = 1 << 63;

/// Writes the data of a message into a buffer: the status, and the description of an error.
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

/// The message of `owner` has left, or has been matched.
fn complete(owner: Owner) {
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

/// Removes a request that the program has released, and that has ended.
fn release(handle: c_int) {
    if w().requests.get(handle).is_some_and(|request| request.freed && request.state == State::Done) {
        w().requests.remove(handle);
    }
}

/// Processes an event.
fn take(event: Event) {
    match event {
        Event::Sent { cookie, .. } => {
            if let Some(owner) = w().mail.leaving.remove(&cookie) {
                complete(owner);
            }
        }
        Event::Message(arrival) => match parse(&arrival) {
            Some(message) => {
                w().mail.frontier = w().mail.frontier.max(message.order);
                arrive(message);
            }
            None => world::end(&format!("rank {} has sent a message without an envelope", arrival.source), 1),
        },
    }
}

fn parse(arrival: &Arrival) -> Option<Message> {
    let payload = &arrival.payload;
    let head = payload.first_chunk::<ENVELOPE>()?;
    let field = |index: usize| {
        let at = 4 + 8 * index;
        head[at..at + 8].try_into().map(u64::from_le_bytes).ok()
    };
    let (source, sequence) = (arrival.source as usize, field(2)?);
    Some(Message {
        kind: head[0],
        source,
        tag: field(0)? as i64,
        context: field(1)?,
        sequence,
        order: (arrival.time, source, sequence),
        note: field(3)?,
        data: payload.slice(ENVELOPE..),
        time: arrival.time,
    })
}

/// The sources of the messages for which a request waits; `None` if the order of other messages matters too.
fn sources(until: Until) -> Option<Vec<u32>> {
    let own = match until {
        Until::Over(handle) => actual(handle),
        _ => REQUEST_NULL,
    };
    // Messages of other sources may match a wildcard, or carry another collective on.
    let is_open = |posted: &Posted| match posted.owner {
        Owner::Part(handle, _) => handle != own,
        Owner::Request(_) => posted.source.is_none(),
    };
    if !w().deterministic || w().mail.posted.iter().any(is_open) {
        return None;
    }
    let all = match until {
        Until::Any => return None,
        Until::From(rank) => vec![rank],
        Until::Over(_) => match &w().requests.get(own)?.what {
            What::Send { to, synchronous: true, .. } => vec![*to],
            What::Send { .. } => Vec::new(),
            What::Receive { from, .. } => vec![(*from)?],
            What::Collective(running) => running.as_ref()?.sources(),
            What::Several(all) => return sources(Until::Over(all.iter().copied().find(|&one| !is_over(one))?)),
            _ => return None,
        },
    };
    Some(all.into_iter().map(|rank| rank as u32).collect())
}

/// True if an event precedes a message in the order of arrivals.
fn is_before(event: &Event, message: Order) -> bool {
    match event {
        Event::Message(arrival) => parse(arrival).is_none_or(|parsed| parsed.order < message),
        Event::Sent { time, .. } => *time < message.0,
    }
}

/// Processes what should have been processed before, where waits for named sources have left other messages behind.
pub(crate) fn catch_up() {
    if !std::mem::take(&mut w().mail.is_behind) {
        return;
    }
    let frontier = w().mail.frontier;
    loop {
        let Some(guest) = &mut w().guest else { return };
        let event = match guest.poll() {
            Ok(Some(event)) => event,
            Ok(None) => return,
            Err(failure) => world::lost(&failure),
        };
        if is_before(&event, frontier) { take(event) } else { w().mail.held.push_back(event) }
    }
}

/// The next event; waits for it.
fn next(until: Until) -> Event {
    let world = w();
    if let Some(event) = world.mail.held.pop_front() {
        return event;
    }
    let named = sources(until);
    world.mail.is_behind |= named.is_some();
    let Some(guest) = &mut world.guest else { world::end("waits outside of the program's time", 1) };
    let event = match named {
        Some(sources) => guest.receive_from(&sources),
        None => guest.receive(),
    };
    event.unwrap_or_else(|failure| world::lost(&failure))
}

/// Waits until `is_over`, as far as messages bring it about.
pub(crate) fn wait(awaited: Awaited, until: Until, is_over: impl Fn() -> bool) {
    w().charge();
    if matches!(until, Until::Any) {
        catch_up();
    }
    let frontier = w().mail.frontier;
    let peer_now = || match until {
        Until::Over(handle) => peer(handle),
        Until::From(rank) => Some(rank),
        Until::Any => None,
    };
    let mut peer = peer_now();
    if is_over() {
        return;
    }
    w().mail.awaited = awaited;
    while !is_over() {
        let world = w();
        let before = world.now();
        let event = next(until);
        let now = world.now();
        world.statistics.waited(world.calling, peer, now - before);
        let is_late = is_before(&event, frontier);
        take(event);
        if is_late {
            // The wait began after it.
            peer = peer_now();
        }
    }
    w().mail.awaited = Awaited::Nothing;
}

/// Processes all events up to now.
pub(crate) fn poll() {
    w().charge();
    while let Some(event) = w().mail.held.pop_front() {
        take(event);
    }
    loop {
        let Some(guest) = &mut w().guest else { return };
        match guest.poll() {
            Ok(Some(event)) => take(event),
            Ok(None) => return,
            Err(failure) => world::lost(&failure),
        }
    }
}

/// The request of the operation in progress, for a persistent request.
fn actual(handle: c_int) -> c_int {
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

/// The rank that a request waits for.
pub(crate) fn peer(handle: c_int) -> Option<usize> {
    match &w().requests.get(actual(handle))?.what {
        What::Send { to, .. } => Some(*to),
        What::Receive { from, .. } => *from,
        What::Collective(running) => running.as_ref()?.peer(),
        What::Several(all) => all.iter().find(|&&one| !is_over(one)).and_then(|&one| peer(one)),
        _ => None,
    }
}

/// Waits for one request.
pub(crate) fn wait_for(handle: c_int) {
    if is_over(handle) {
        w().charge();
        return;
    }
    wait(Awaited::Requests(vec![handle]), Until::Over(handle), || is_over(handle));
}

/// Ends a request that has ended for the program: writes its status, and frees it or makes it inactive.
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

/// Kind of a message of the program.
pub(crate) const fn kind_of(synchronous: bool) -> u8 {
    if synchronous { SYNCHRONOUS } else { PLAIN }
}
