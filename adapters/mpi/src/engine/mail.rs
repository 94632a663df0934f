//! Messages and posted receives, and how they are matched.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ffi::c_int;
use std::rc::Rc;

use adapters::content;
use adapters::guest::Event;
use bytes::Bytes;

use crate::shared::Place;

/// What a rank waits for, for the description of a deadlock.
#[derive(Clone, Default, Debug)]
pub(crate) enum Awaited {
    #[default]
    Nothing,
    Requests(Vec<c_int>),
    /// Something of a window, which has this name.
    Window {
        what: &'static str,
        name: String,
    },
    Probe {
        source: Option<usize>,
        tag: Option<i64>,
        context: u64,
    },
}

/// Kind of a message of the program.
pub(crate) const PLAIN: u8 = 0;
/// Kind of a synchronous message: its sender waits until it is received. The note is the handle of the sender's
/// request.
pub(crate) const SYNCHRONOUS: u8 = 1;
/// Kind of the answer to a synchronous message, after its receive has begun. The note is that of the synchronous
/// message.
pub(crate) const MATCHED: u8 = 2;
/// Kind of a message of a collective. The note is a code of the operation and its root, which the receiver compares
/// with its own.
pub(crate) const COLLECTIVE: u8 = 3;
/// Kind of a message of a window, which is carried out when it arrives.
pub(crate) const WINDOW: u8 = 9;
/// Kind of a message of the library itself.
pub(crate) const OWN: u8 = 8;
/// Kinds of the request to send of a message of the program, and of a collective: the first part of a rendezvous. It has
/// the envelope of the message, and carries its data, which the model does not count.
pub(crate) const ANNOUNCED: u8 = 4;
/// See [`ANNOUNCED`].
pub(crate) const ANNOUNCED_PART: u8 = 5;
/// Kind of the answer to a request to send, clear to send. The note is the number of the request.
pub(crate) const CLEAR: u8 = 6;
/// Kind of the message with the modelled size that follows. The note is the number of the request.
pub(crate) const BODY: u8 = 7;
/// \[bytes\] Size of the envelope that precedes the data: kind, form, tag, context, number, note.
const ENVELOPE: usize = 36;
/// \[bytes\] Size of the envelope of long data: with a hash of them, which makes a digest of them unnecessary.
pub(super) const LONG_ENVELOPE: usize = ENVELOPE + 8;
/// \[bytes\] Shortest long data.
pub(super) const LONG: usize = 8 << 10;
/// Forms of a message: its data follow the envelope; they follow the long envelope and one byte, [`HERE`] or [`STORED`].
const SHORT: u8 = 0;
const HASHED: u8 = 1;
/// The data follow, or their offset and length in shared memory.
const HERE: u8 = 0;
const STORED: u8 = 1;
/// \[bytes\] Room for any envelope before data.
const ROOM: usize = LONG_ENVELOPE + 4;

/// The data of a message: here, or in shared memory.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Here(Bytes),
    Stored(Place),
}

impl Content {
    /// \[bytes\] Length of the data.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Here(bytes) => bytes.len(),
            Self::Stored(place) => place.length as usize,
        }
    }
}

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
    pub(crate) data: Content,
    /// \[ps\] Time of its arrival.
    pub(super) time: u64,
    /// Number among the messages of its sender to this rank.
    pub(super) sequence: u64,
    /// Place in the order of arrivals. A message of this rank to itself comes after all messages processed before it.
    pub(super) order: Order,
}

impl Message {
    /// True for a request to send.
    pub(crate) const fn is_announced(&self) -> bool {
        matches!(self.kind, ANNOUNCED | ANNOUNCED_PART)
    }

    /// The message that a request to send has announced.
    pub(super) fn whole(self) -> Self {
        let kind = if self.kind == ANNOUNCED { PLAIN } else { COLLECTIVE };
        Self { kind, ..self }
    }
}

/// A send that has been announced and waits until it is clear.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) owner: Option<Owner>,
    pub(super) context: u64,
    pub(super) tag: i64,
    /// \[bytes\] Modelled size.
    pub(super) bytes: u64,
    /// The collective that it belongs to: its note and its number.
    pub(super) of: Option<(u64, u64)>,
    /// The number of the receive of the answer in the log, if there is one.
    pub(super) answer: Option<u32>,
}

/// The tag of the message that follows a request to send with this tag: in a recording it is told apart from answers by it.
pub(super) const fn body_tag(tag: i64) -> i64 {
    -1 - tag
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
    pub(super) time: u64,
    /// The place of the last message that had been processed when the receive was posted.
    pub(super) frontier: Order,
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
    /// Sends that wait until they are clear, by receiver and number of their request to send.
    pub(super) waiting: HashMap<(usize, u64), Waiting>,
    /// Receives whose message is on its way, by sender and number of the request to send: what gets the message.
    pub(super) cleared: HashMap<(usize, u64), (Owner, Message)>,
    /// Requests of which an operation has ended since this list was cleared.
    pub(super) ended: Vec<c_int>,
    /// Messages for collectives that execute a function of the program, by request and slot; without a message, the end of a send.
    pub(super) deferred: Vec<(c_int, u32, Option<Message>)>,
    /// Number of the last message given to the network.
    pub(super) cookie: u64,
    /// Messages taken out by matching probes, by handle, with their communicators and the ranks of these.
    pub(crate) probed: HashMap<c_int, (Message, c_int, Rc<Vec<usize>>)>,
    /// Number of the next handle of such a message.
    pub(crate) next_probed: c_int,
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
            waiting: HashMap::new(),
            cleared: HashMap::new(),
            ended: Vec::new(),
            deferred: Vec::new(),
            cookie: 0,
            probed: HashMap::new(),
            next_probed: 1,
            frontier: (0, 0, 0),
            is_behind: false,
            held: VecDeque::new(),
        }
    }

    /// Number of messages that have arrived and match no receive yet.
    pub(crate) fn unreceived(&self) -> usize {
        self.unexpected.len()
    }

    /// The number that [`Self::number`] will return next for a rank.
    pub(super) fn next_number(&self, to: usize) -> u64 {
        self.sent[to]
    }

    /// The number of the next message to a rank, among those to it.
    pub(super) fn number(&mut self, to: usize) -> u64 {
        let number = self.sent[to];
        self.sent[to] += 1;
        number
    }

    /// Posts a receive at `now` \[ps\]. If its message is present already, takes it out of the queue and returns it.
    pub(crate) fn post(
        &mut self,
        owner: Owner,
        (source, tag): (Option<usize>, Option<i64>),
        context: u64,
        now: u64,
    ) -> Option<Message> {
        let posted = Posted { owner, source, tag, context, time: now, frontier: self.frontier };
        match self.unexpected.iter().position(|message| posted.accepts(message)) {
            Some(position) => self.unexpected.remove(position),
            None => {
                self.posted.push_back(posted);
                None
            }
        }
    }

    /// Removes a posted receive. Returns false if it has a message already.
    pub(super) fn unpost(&mut self, owner: Owner) -> bool {
        let position = self.posted.iter().position(|posted| posted.owner == owner);
        position.and_then(|position| self.posted.remove(position)).is_some()
    }

    /// The first message that a probe accepts, with its position.
    pub(crate) fn find(&self, source: Option<usize>, tag: Option<i64>, context: u64) -> Option<(usize, &Message)> {
        let probe = Posted { owner: Owner::Request(0), source, tag, context, time: 0, frontier: (0, 0, 0) };
        self.unexpected.iter().enumerate().find(|(_, message)| probe.accepts(message))
    }

    /// Removes the message at a position that [`Self::find`] has returned.
    pub(crate) fn take_out(&mut self, position: usize) -> Option<Message> {
        self.unexpected.remove(position)
    }

    /// Takes a message that has arrived, and returns it when its turn has come. The messages of one sender are processed
    /// in the order in which they were sent: one that has overtaken another waits for it.
    pub(super) fn admit(&mut self, message: Message) -> Option<Message> {
        let seen = self.seen.get_mut(message.source)?;
        if message.sequence != *seen {
            self.early.entry(message.source).or_default().insert(message.sequence, message);
            return None;
        }
        *seen += 1;
        Some(message)
    }

    /// The message of a sender that has waited for the one admitted last, which came at `time` in the order of arrivals.
    pub(super) fn overtaken(&mut self, source: usize, time: u64) -> Option<Message> {
        let due = self.seen[source];
        let mut next = self.early.get_mut(&source)?.remove(&due)?;
        self.seen[source] += 1;
        // In the order of arrivals it comes after the message that it had overtaken.
        next.order.0 = next.order.0.max(time);
        Some(next)
    }

    /// Returns the first receive that accepts a message, with the message; keeps a message without one in the order of
    /// arrivals.
    pub(super) fn offer(&mut self, message: Message) -> Option<(Posted, Message)> {
        let position = self.posted.iter().position(|posted| posted.accepts(&message));
        if let Some(posted) = position.and_then(|position| self.posted.remove(position)) {
            return Some((posted, message));
        }
        let later = self.unexpected.iter().position(|other| other.order > message.order);
        self.unexpected.insert(later.unwrap_or(self.unexpected.len()), message);
        None
    }
}

/// The data of a message to be sent. Before them is room for its envelope, so that they are not copied again.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Letter(Vec<u8>);

impl Letter {
    /// No data.
    pub(crate) fn empty() -> Self {
        Self::with_room(0)
    }

    /// No data yet; room for so many bytes.
    pub(crate) fn with_room(bytes: usize) -> Self {
        let mut payload = Vec::with_capacity(ROOM.saturating_add(bytes));
        payload.resize(ROOM, 0);
        Self(payload)
    }

    /// Where data are appended.
    pub(crate) const fn end(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    /// The data.
    pub(crate) fn into_data(self) -> Bytes {
        Bytes::from(self.0).split_off(ROOM)
    }

    /// The data.
    pub(super) fn data(&self) -> &[u8] {
        &self.0[ROOM..]
    }

    /// The bytes of the message on the wire: its envelope, and its data or their place in shared memory. Of long data the
    /// first [`LONG_ENVELOPE`] bytes tell the message from others.
    pub(super) fn seal(
        mut self,
        kind: u8,
        (context, tag): (u64, i64),
        sequence: u64,
        note: u64,
        stored: Option<Place>,
    ) -> Bytes {
        let is_long = self.data().len() >= LONG;
        let hash = if is_long { content::hash(self.data()) } else { 0 };
        let begin = if is_long { ROOM - LONG_ENVELOPE - 1 } else { ROOM - ENVELOPE };
        let fields = [tag as u64, context, sequence, note, hash];
        let form = if is_long { HASHED } else { SHORT };
        let bytes = [kind, form, 0, 0].into_iter().chain(fields.into_iter().flat_map(u64::to_le_bytes));
        let length = if is_long { LONG_ENVELOPE } else { ENVELOPE };
        self.0[begin..].iter_mut().zip(bytes.take(length)).for_each(|(place, byte)| *place = byte);
        if is_long {
            self.0[ROOM - 1] = HERE;
        }
        if let (true, Some(place)) = (is_long, stored) {
            self.0.truncate(ROOM);
            self.0[ROOM - 1] = STORED;
            self.0.extend_from_slice(&place.offset.to_le_bytes());
            self.0.extend_from_slice(&place.length.to_le_bytes());
            self.0.shrink_to_fit();
        }
        Bytes::from(self.0).split_off(begin)
    }
}

/// Reads a message that has come from `source` at `time` and has its place at `place` in the order of arrivals
/// \[ps\]; `None` if it is shorter than an envelope.
pub(super) fn open(source: usize, payload: &Bytes, time: u64, place: u64) -> Option<Message> {
    let head = payload.first_chunk::<ENVELOPE>()?;
    let field = |index: usize| {
        let at = 4 + 8 * index;
        head[at..at + 8].try_into().map(u64::from_le_bytes).ok()
    };
    let sequence = field(2)?;
    let data = match head[1] {
        SHORT => Content::Here(payload.slice(ENVELOPE..)),
        HASHED => {
            let (form, rest) = payload.get(LONG_ENVELOPE..)?.split_first()?;
            match *form {
                HERE => Content::Here(payload.slice(LONG_ENVELOPE + 1..)),
                STORED => {
                    let number = |at: usize| rest.get(at..at + 8)?.try_into().map(u64::from_le_bytes).ok();
                    Content::Stored(Place { offset: number(0)?, length: number(8)? })
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(Message {
        kind: head[0],
        source,
        tag: field(0)? as i64,
        context: field(1)?,
        sequence,
        order: (place, source, sequence),
        note: field(3)?,
        data,
        time,
    })
}

/// Bit that distinguishes the context of answers to synchronous sends from that of the messages.
pub(crate) const ANSWERS: u64 = 1 << 63;

/// Kind of a message of the program.
pub(crate) const fn kind_of(synchronous: bool) -> u8 {
    if synchronous { SYNCHRONOUS } else { PLAIN }
}

#[cfg(test)]
mod tests;
