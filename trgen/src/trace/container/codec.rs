//! Encoding of rows. The only module that knows the encoding (bincode 2.0.1: variable-length little-endian integers).

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::de::{BorrowDecode, BorrowDecoder, Decoder};
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};

use super::{Content, Header, MAX_MESSAGE, MAX_RAW};
use crate::trace::goal::{Kind, Operation};
use crate::trace::program::{Event, Receive, Request, Send, Tag, TagFilter};
use crate::units::{Picoseconds, TaskId};

/// The configuration of bincode, with a limit of [`MAX_RAW`] bytes per row.
type Config = Configuration<LittleEndian, Varint, Limit<MAX_RAW>>;

const CONFIG: Config = bincode::config::standard().with_limit::<MAX_RAW>();

/// Why rows cannot be decoded.
pub(super) type CodecError = String;

/// A sequence in bincode's form: its length, then its elements. Decoded element by element, so that memory grows with
/// the data present and not with the stored length.
struct List<T>(Vec<T>);

impl<T: Encode + 'static> Encode for List<T> {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.0.encode(encoder)
    }
}

impl<C, T: Decode<C>> Decode<C> for List<T> {
    fn decode<D: Decoder<Context = C>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let length = u64::decode(decoder)?;
        let mut elements = Vec::new();
        for _ in 0..length {
            elements.push(T::decode(decoder)?);
        }
        Ok(Self(elements))
    }
}

impl<'de, C, T: Decode<C>> BorrowDecode<'de, C> for List<T> {
    fn borrow_decode<D: BorrowDecoder<'de, Context = C>>(decoder: &mut D) -> Result<Self, DecodeError> {
        Self::decode(decoder)
    }
}

/// Converts a stored text.
fn text(bytes: List<u8>) -> Result<String, CodecError> {
    String::from_utf8(bytes.0).map_err(|_| "a text that is not UTF-8".to_owned())
}

/// An event. Variants keep their order: the stored number is the index of the variant.
#[derive(Encode, Decode)]
enum EventRow {
    Compute(u64),
    Send(SendRow),
    Isend(SendRow, u32),
    Recv(ReceiveRow),
    Irecv(ReceiveRow, u32),
    Wait(u32),
    WaitAll(List<u32>),
    WaitAny(List<u32>),
    After(List<u32>),
}

/// A message to send.
#[derive(Encode, Decode)]
struct SendRow {
    to: u32,
    context: u32,
    label: i64,
    bytes: u64,
}

/// A receive; `from` is `None` for any source, `label` is `None` for any tag.
#[derive(Encode, Decode)]
struct ReceiveRow {
    from: Option<u32>,
    context: u32,
    label: Option<i64>,
    bytes: u64,
}

/// The metadata of a container.
#[derive(Encode, Decode)]
struct HeaderRow {
    /// True for a container of graphs, false for programs.
    graphs: bool,
    tasks: u32,
    origin: List<u8>,
    collectives: List<(List<u8>, u64)>,
    notes: List<List<u8>>,
}

/// An operation of a graph, with its dependents.
#[derive(Encode, Decode)]
struct NodeRow {
    kind: u8,
    size: u64,
    peer: u32,
    tag: u32,
    cpu: u8,
    nic: u8,
    on_finish: List<u32>,
    on_start: List<u32>,
}

/// One operation of a stored graph.
pub(super) struct StoredNode {
    pub(super) operation: Operation,
    /// Numbers of the operations that may start when this one has finished.
    pub(super) on_finish: Vec<u32>,
    /// Numbers of the operations that may start when this one has started.
    pub(super) on_start: Vec<u32>,
}

/// Position of a block, as stored in the index.
#[derive(Encode, Decode, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BlockRow {
    pub(super) task: u32,
    /// Number of rows of the block.
    pub(super) rows: u32,
    /// \[byte\] Offset of the block in the file.
    pub(super) offset: u64,
}

/// Index entry of a task with rows.
#[derive(Encode, Decode, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct TaskRow {
    pub(super) task: u32,
    /// Number of events or operations.
    pub(super) rows: u64,
    /// Number of messages sent.
    pub(super) messages: u64,
    /// \[bytes\] Total size of these messages.
    pub(super) bytes: u64,
    /// Total computing time: \[ps\], or the unit of the graph.
    pub(super) compute: u64,
}

/// A row of the index.
#[derive(Encode, Decode)]
pub(super) enum IndexRow {
    Task(TaskRow),
    Block(BlockRow),
}

/// Appends an encoded row to `out`.
fn put(row: impl Encode, out: &mut Vec<u8>) -> Result<(), CodecError> {
    bincode::encode_into_std_write(row, out, CONFIG).map(|_| ()).map_err(|error| error.to_string())
}

/// Decodes the row at byte `at` of `raw` and moves `at` past it. The functions `take_...` below do the same for one
/// type.
fn take<T: Decode<()>>(raw: &[u8], at: &mut usize) -> Result<T, CodecError> {
    let (row, length) =
        bincode::decode_from_slice(&raw[(*at).min(raw.len())..], CONFIG).map_err(|error| error.to_string())?;
    *at += length;
    Ok(row)
}

pub(super) fn put_index(row: &IndexRow, out: &mut Vec<u8>) -> Result<(), CodecError> {
    put(row, out)
}

pub(super) fn take_index(raw: &[u8], at: &mut usize) -> Result<IndexRow, CodecError> {
    take(raw, at)
}

pub(super) fn put_header(header: &Header, out: &mut Vec<u8>) -> Result<(), CodecError> {
    let bytes = |text: &String| List(text.clone().into_bytes());
    let row = HeaderRow {
        graphs: header.content == Content::Graphs,
        tasks: header.tasks,
        origin: bytes(&header.origin),
        collectives: List(header.collectives.iter().map(|(name, calls)| (bytes(name), *calls)).collect()),
        notes: List(header.notes.iter().map(bytes).collect()),
    };
    put(row, out)
}

pub(super) fn take_header(raw: &[u8], at: &mut usize) -> Result<Header, CodecError> {
    let HeaderRow { graphs, tasks, origin, collectives, notes } = take(raw, at)?;
    let content = if graphs { Content::Graphs } else { Content::Programs };
    let collectives = collectives.0.into_iter().map(|(name, calls)| Ok((text(name)?, calls)));
    let collectives = collectives.collect::<Result<_, CodecError>>()?;
    let notes = notes.0.into_iter().map(text).collect::<Result<_, _>>()?;
    let origin = text(origin)?;
    Ok(Header { content, tasks, origin, collectives, notes })
}

pub(super) fn put_event(event: &Event, out: &mut Vec<u8>) -> Result<(), CodecError> {
    let numbers = |requests: &[Request]| List(requests.iter().map(|request| request.0).collect());
    put(
        match event {
            Event::Compute(time) => EventRow::Compute(time.0),
            Event::Send(send) => EventRow::Send(send_row(send)),
            Event::Isend(send, request) => EventRow::Isend(send_row(send), request.0),
            Event::Recv(receive) => EventRow::Recv(receive_row(receive)),
            Event::Irecv(receive, request) => EventRow::Irecv(receive_row(receive), request.0),
            Event::Wait(request) => EventRow::Wait(request.0),
            Event::WaitAll(requests) => EventRow::WaitAll(numbers(requests)),
            Event::WaitAny(requests) => EventRow::WaitAny(numbers(requests)),
            Event::After(requests) => EventRow::After(numbers(requests)),
        },
        out,
    )
}

/// Decodes an event of a trace of `tasks` tasks.
pub(super) fn take_event(raw: &[u8], at: &mut usize, tasks: u32) -> Result<Event, CodecError> {
    let requests = |numbers: List<u32>| numbers.0.into_iter().map(Request).collect();
    Ok(match take(raw, at)? {
        EventRow::Compute(time) if time < 1 << 63 => Event::Compute(Picoseconds(time)),
        EventRow::Compute(time) => return Err(format!("computing of {time} ps, more than 106 days")),
        EventRow::Send(row) => Event::Send(send(&row, tasks)?),
        EventRow::Isend(row, request) => Event::Isend(send(&row, tasks)?, Request(request)),
        EventRow::Recv(row) => Event::Recv(receive(&row, tasks)?),
        EventRow::Irecv(row, request) => Event::Irecv(receive(&row, tasks)?, Request(request)),
        EventRow::Wait(request) => Event::Wait(Request(request)),
        EventRow::WaitAll(numbers) => Event::WaitAll(requests(numbers)),
        EventRow::WaitAny(numbers) => Event::WaitAny(requests(numbers)),
        EventRow::After(numbers) => Event::After(requests(numbers)),
    })
}

fn send_row(send: &Send) -> SendRow {
    SendRow { to: send.to.0, context: send.tag.context, label: send.tag.label, bytes: send.bytes }
}

fn receive_row(receive: &Receive) -> ReceiveRow {
    let (context, label) = match receive.tag {
        TagFilter::Exactly(tag) => (tag.context, Some(tag.label)),
        TagFilter::AnyIn(context) => (context, None),
    };
    ReceiveRow { from: receive.from.map(|task| task.0), context, label, bytes: receive.bytes }
}

/// Decodes a send of a trace of `tasks` tasks.
fn send(row: &SendRow, tasks: u32) -> Result<Send, CodecError> {
    let &SendRow { to, context, label, bytes } = row;
    check_message(Some(to), bytes, tasks)?;
    Ok(Send { to: TaskId(to), tag: Tag { context, label }, bytes })
}

/// Decodes a receive of a trace of `tasks` tasks.
fn receive(row: &ReceiveRow, tasks: u32) -> Result<Receive, CodecError> {
    let &ReceiveRow { from, context, label, bytes } = row;
    check_message(from, bytes, tasks)?;
    let tag = label.map_or(TagFilter::AnyIn(context), |label| TagFilter::Exactly(Tag { context, label }));
    Ok(Receive { from: from.map(TaskId), tag, bytes })
}

/// Checks that the peer of a message exists and that the message is not too large.
fn check_message(peer: Option<u32>, bytes: u64, tasks: u32) -> Result<(), CodecError> {
    if let Some(peer) = peer.filter(|&peer| peer >= tasks) {
        return Err(format!("a message with task {peer}, of {tasks} tasks"));
    }
    if bytes > MAX_MESSAGE { Err(format!("a message of {bytes} bytes, more than {MAX_MESSAGE}")) } else { Ok(()) }
}

pub(super) fn put_node(
    operation: &Operation,
    on_finish: &[u32],
    on_start: &[u32],
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    let &Operation { kind, size, peer, tag, cpu, nic } = operation;
    let (on_finish, on_start) = (List(on_finish.to_vec()), List(on_start.to_vec()));
    put(NodeRow { kind: kind as u8, size, peer, tag, cpu, nic, on_finish, on_start }, out)
}

pub(super) fn take_node(raw: &[u8], at: &mut usize) -> Result<StoredNode, CodecError> {
    let NodeRow { kind, size, peer, tag, cpu, nic, on_finish: List(on_finish), on_start: List(on_start) } =
        take(raw, at)?;
    let kind = match kind {
        1 => Kind::Send,
        2 => Kind::Recv,
        3 => Kind::Calc,
        other => return Err(format!("an operation of kind {other}")),
    };
    Ok(StoredNode { operation: Operation { kind, size, peer, tag, cpu, nic }, on_finish, on_start })
}
