//! Decodes the files of a trace: messages of protocol buffers, each preceded by its length.
//!
//! Read by hand: the schema is small, and its writers differ in the width of integers, in packed or plain lists, and in
//! the presence of a version. Nothing is allocated for a length that the file does not have.

use std::io::{BufRead, Read};

use super::groups;
use super::{CollectiveKind, Group, Node, Work};

/// Name of the node that lists the groups.
const GROUPS: &str = "## process_group:init ##";

/// A collective whose group is still a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unresolved {
    /// Index of the node.
    pub node: usize,
    /// Name of the group; empty for all ranks.
    pub group: Box<str>,
}

/// What one file holds.
#[derive(Clone, Default, Debug)]
pub struct RankFile {
    /// Nodes by ascending number; the groups of collectives are not yet known.
    pub nodes: Vec<Node>,
    /// The groups that collectives name.
    pub groups: Vec<Unresolved>,
    /// Groups that the file defines.
    pub defined: Vec<Group>,
    /// Collectives without data, which calls on the host stand for.
    pub host_calls: u64,
}

/// A file that cannot be read, with the offset of the message.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct WireError {
    /// Offset of the message in the file.
    pub byte: u64,
    /// The fault.
    pub what: String,
}

/// The value of an attribute.
#[derive(Clone, Copy, Default)]
enum Value<'a> {
    /// None, or a list.
    #[default]
    Other,
    Integer(i128),
    Real(f64),
    Text(&'a str),
}

/// A field of a message.
enum Field<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

/// The bytes of a message that are not read yet.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0_u64;
        for (place, &byte) in self.0.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7F).checked_shl(7 * place as u32).unwrap_or(0);
            if byte < 0x80 {
                self.0 = &self.0[place + 1..];
                return Ok(value);
            }
        }
        Err("a number that does not end".to_owned())
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8], String> {
        let count = usize::try_from(count).ok().filter(|&count| count <= self.0.len());
        let Some(count) = count else { return Err("a field that is longer than its message".to_owned()) };
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        Ok(taken)
    }

    /// The next field and its number.
    fn next(&mut self) -> Result<Option<(u64, Field<'a>)>, String> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let array = |bytes: &[u8]| bytes.try_into().unwrap_or_default();
        let field = match tag & 7 {
            0 => Field::Varint(self.varint()?),
            1 => Field::Fixed64(u64::from_le_bytes(array(self.take(8)?))),
            2 => {
                let length = self.varint()?;
                Field::Bytes(self.take(length)?)
            }
            5 => Field::Fixed32(u32::from_le_bytes(self.take(4)?.try_into().unwrap_or_default())),
            other => return Err(format!("wire type {other}, which no message of the format has")),
        };
        match tag >> 3 {
            0 => Err("a field with number 0".to_owned()),
            number => Ok(Some((number, field))),
        }
    }
}

/// Text of a field.
fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|_| "a name that is not UTF-8".to_owned())
}

/// Adds the numbers of a list, packed or not.
fn numbers(field: &Field<'_>, list: &mut Vec<u64>) -> Result<(), String> {
    match *field {
        Field::Varint(number) => list.push(number),
        Field::Bytes(bytes) => {
            let mut packed = Fields(bytes);
            while !packed.0.is_empty() {
                list.push(packed.varint()?);
            }
        }
        Field::Fixed64(_) | Field::Fixed32(_) => return Err("a list of dependencies of another type".to_owned()),
    }
    Ok(())
}

/// Name and value of an attribute. A value of zero may be absent.
fn attribute(bytes: &[u8]) -> Result<(&str, Value<'_>), String> {
    let (mut name, mut value) = ("", Value::Other);
    let mut fields = Fields(bytes);
    while let Some((number, field)) = fields.next()? {
        let zigzag = |word: u64| i128::from((word >> 1) as i64 ^ -((word & 1) as i64));
        value = match (number, field) {
            (1, Field::Bytes(bytes)) => {
                name = text(bytes)?;
                continue;
            }
            (3, Field::Fixed64(bits)) => Value::Real(f64::from_bits(bits)),
            (5, Field::Fixed32(bits)) => Value::Real(f64::from(f32::from_bits(bits))),
            // A negative int32 is written with ten bytes.
            (7 | 9, Field::Varint(word)) => Value::Integer(i128::from(word as i64)),
            (11 | 13 | 27, Field::Varint(word)) => Value::Integer(i128::from(word)),
            (15 | 17, Field::Varint(word)) => Value::Integer(zigzag(word)),
            (19, Field::Fixed32(word)) => Value::Integer(i128::from(word)),
            (21, Field::Fixed64(word)) => Value::Integer(i128::from(word)),
            (23, Field::Fixed32(word)) => Value::Integer(i128::from(word as i32)),
            (25, Field::Fixed64(word)) => Value::Integer(i128::from(word as i64)),
            (29, Field::Bytes(bytes)) => Value::Text(text(bytes)?),
            _ => continue,
        };
    }
    Ok((name, value))
}

/// The attributes of a node that a replay needs.
#[derive(Default)]
struct Attributes<'a> {
    kind: Option<i128>,
    size: Option<i128>,
    source: Option<i128>,
    destination: Option<i128>,
    tag: Option<i128>,
    operations: Option<i128>,
    tensor: Option<i128>,
    group: Option<&'a str>,
}

impl<'a> Attributes<'a> {
    fn read(&mut self, bytes: &'a [u8]) -> Result<(), String> {
        let (name, value) = attribute(bytes)?;
        let place = match name {
            "comm_type" => &mut self.kind,
            "comm_size" => &mut self.size,
            "comm_src" => &mut self.source,
            "comm_dst" => &mut self.destination,
            "comm_tag" => &mut self.tag,
            "num_ops" => &mut self.operations,
            "tensor_size" => &mut self.tensor,
            "pg_name" => {
                match value {
                    Value::Text(name) => self.group = Some(name),
                    Value::Other => self.group = Some(""),
                    _ => return Err("attribute `pg_name` is no text".to_owned()),
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        *place = match value {
            Value::Integer(number) => Some(number),
            Value::Other => Some(0),
            Value::Real(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(number as i128),
            Value::Real(_) | Value::Text(_) => return Err(format!("attribute `{name}` is no whole number")),
        };
        Ok(())
    }
}

/// \[bytes\] Largest message or tensor: 2^53, so that products with times fit.
const MAX_BYTES: u64 = 1 << 53;

/// A number from 0 on.
fn whole(name: &str, value: Option<i128>, most: u64) -> Result<u64, String> {
    let value = value.unwrap_or(0);
    u64::try_from(value)
        .ok()
        .filter(|&value| value <= most)
        .ok_or_else(|| format!("attribute `{name}` is {value}, expected 0 to {most}"))
}

/// The rank that an attribute names.
fn rank_of(name: &str, value: i128) -> Result<u32, String> {
    let rank = u32::try_from(value).ok().filter(|&rank| rank < groups::MAX_RANKS);
    rank.ok_or_else(|| format!("attribute `{name}` is {value}, which is no rank"))
}

/// A node under construction, beside its work.
struct Decoded<'a> {
    node: Node,
    /// Name of the group of a collective.
    group: Option<&'a str>,
    /// True for a collective without data.
    is_host_call: bool,
    /// Groups that it defines.
    defined: Vec<Group>,
}

/// Decodes a node of rank `own`.
fn node(bytes: &[u8], own: u32) -> Result<Decoded<'_>, String> {
    let (mut id, mut name, mut kind, mut micros) = (0, "", 0, 0_u64);
    let (mut data, mut control) = (Vec::new(), Vec::new());
    let mut attributes = Attributes::default();
    let mut inputs: &[u8] = &[];
    let mut fields = Fields(bytes);
    while let Some((number, field)) = fields.next()? {
        match (number, field) {
            (1, Field::Varint(number)) => id = number,
            (2, Field::Bytes(bytes)) => name = text(bytes)?,
            (3, Field::Varint(number)) => kind = number,
            (4, field) => numbers(&field, &mut control)?,
            (5, field) => numbers(&field, &mut data)?,
            (7, Field::Varint(number)) => micros = number,
            (8, Field::Bytes(bytes)) => inputs = bytes,
            (10, Field::Bytes(bytes)) => {
                attributes.read(bytes).map_err(|what| format!("node {id} `{}`: {what}", name.escape_debug()))?
            }
            (1..=3 | 7 | 10, _) => return Err(format!("field {number} of a node has another type")),
            _ => {}
        }
    }
    let shown = || format!("node {id} `{}`", name.escape_debug());
    if micros > MAX_BYTES {
        return Err(format!("{} lasts {micros} us, more than {MAX_BYTES}", shown()));
    }
    let mut is_host_call = false;
    let work = (|| {
        let bytes = whole("comm_size", attributes.size, MAX_BYTES)?;
        let tag = i64::try_from(attributes.tag.unwrap_or(0))
            .map_err(|_| "attribute `comm_tag` exceeds 64 bits".to_owned())?;
        let rank = |name: &'static str, value: Option<i128>| value.map_or(Ok(own), |value| rank_of(name, value));
        Ok(match kind {
            0 | 1 => Work::Nothing,
            2..=4 => Work::Compute {
                micros,
                operations: whole("num_ops", attributes.operations, u64::MAX)?,
                tensor: whole("tensor_size", attributes.tensor, MAX_BYTES)?,
            },
            5 => {
                let to = attributes.destination.ok_or("a send without attribute `comm_dst`")?;
                Work::Send { to: rank_of("comm_dst", to)?, tag, bytes }
            }
            6 => Work::Receive { from: rank("comm_src", attributes.source)?, tag },
            7 => {
                let number = attributes.kind.and_then(|number| i64::try_from(number).ok());
                match number.map(CollectiveKind::of_number) {
                    Some(None) => {
                        return Err(format!("collective {} (`comm_type`); 0 to 9 are known", number.unwrap_or(0)));
                    }
                    Some(Some(kind)) if bytes > 0 || kind == CollectiveKind::Barrier => {
                        Work::Collective { kind, group: 0, bytes }
                    }
                    None if bytes > 0 => return Err("a collective without attribute `comm_type`".to_owned()),
                    _ => {
                        is_host_call = true;
                        Work::Nothing
                    }
                }
            }
            other => {
                return Err(format!(
                    "type {other}; 1 metadata, 2 and 3 memory, 4 computing, 5 send, 6 receive, 7 collective"
                ));
            }
        })
    })()
    .map_err(|what: String| format!("{}: {what}", shown()))?;
    let group = matches!(work, Work::Collective { .. }).then_some(attributes.group.unwrap_or(""));
    let defined =
        if name == GROUPS { definition(inputs).map_err(|what| format!("{}: {what}", shown()))? } else { Vec::new() };
    let node = Node { id, name: name.into(), work, data: data.into(), control: control.into() };
    Ok(Decoded { node, group, is_host_call, defined })
}

/// The groups in the inputs of a node: its first value, a text that may be quoted and within brackets.
fn definition(inputs: &[u8]) -> Result<Vec<Group>, String> {
    let mut fields = Fields(inputs);
    while let Some((number, field)) = fields.next()? {
        if let (1, Field::Bytes(bytes)) = (number, field) {
            let values = text(bytes)?;
            // A list of one text, or the text itself.
            let inner = serde_json::from_str::<Vec<String>>(values).ok().and_then(|list| list.into_iter().next());
            return groups::parse(inner.as_deref().unwrap_or(values));
        }
    }
    Ok(Vec::new())
}

/// The length of the next message; `None` at the end of the file.
fn length(input: &mut dyn BufRead, at: &mut u64) -> Result<Option<u64>, String> {
    let begin = *at;
    let mut value = 0_u64;
    for place in 0..10_u32 {
        let byte = match input.fill_buf().map_err(|error| error.to_string())?.first() {
            Some(&byte) => byte,
            None if *at == begin => return Ok(None),
            None => return Err("the file ends within the length of a message".to_owned()),
        };
        input.consume(1);
        *at += 1;
        value |= u64::from(byte & 0x7F).checked_shl(7 * place).unwrap_or(0);
        if byte < 0x80 {
            return Ok(Some(value));
        }
    }
    Err("a length that does not end".to_owned())
}

/// True if a file that begins like this can be a trace: a message of metadata, whose version and attributes come in order.
#[must_use]
pub fn is_trace(beginning: &[u8]) -> bool {
    let mut fields = Fields(beginning);
    let Ok(length) = fields.varint() else { return false };
    // Metadata of no field, of a version (`0.0.4`), or of attributes.
    match (length, fields.0) {
        // The first field of a node: its number, its name or its type.
        (0, rest) => matches!(rest, [_, 0x08 | 0x12 | 0x18, ..]),
        (_, [0x0A, count, rest @ ..]) => {
            let version = &rest[..rest.len().min(*count as usize)];
            *count < 32 && !version.is_empty() && version.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
        }
        (_, [0x12, _, 0x0A, ..]) => true,
        _ => false,
    }
}

/// Reads the file of rank `own`; at most `limit` nodes.
///
/// # Errors
/// Anything that is not of the format, with its byte; two nodes of one number.
pub fn read(input: &mut dyn BufRead, own: u32, limit: u64) -> Result<RankFile, WireError> {
    let mut file = RankFile::default();
    let mut names: Vec<Option<Box<str>>> = Vec::new();
    let mut message = Vec::new();
    let mut at = 0_u64;
    let mut is_first = true;
    loop {
        let byte = at;
        let fault = |what: String| WireError { byte, what };
        let Some(length) = length(input, &mut at).map_err(fault)? else { break };
        message.clear();
        Read::take(&mut *input, length).read_to_end(&mut message).map_err(|error| fault(error.to_string()))?;
        if message.len() as u64 != length {
            return Err(fault(format!("a message of {length} bytes, of which the file has {}", message.len())));
        }
        at += length;
        if std::mem::take(&mut is_first) {
            // Version and attributes of the trace; nothing of it is needed.
            let mut fields = Fields(&message);
            while fields.next().map_err(fault)?.is_some() {}
            continue;
        }
        if file.nodes.len() as u64 >= limit || file.nodes.len() >= u32::MAX as usize {
            return Err(fault(format!("more than {limit} nodes")));
        }
        let Decoded { node, group, is_host_call, defined } = node(&message, own).map_err(fault)?;
        names.push(group.map(Into::into));
        file.nodes.push(node);
        file.host_calls += u64::from(is_host_call);
        file.defined.extend(defined);
    }
    if is_first {
        return Err(WireError { byte: 0, what: "the file is empty".to_owned() });
    }
    // Nodes by their numbers, each with the name of its group.
    let mut order: Vec<usize> = (0..file.nodes.len()).collect();
    order.sort_by_key(|&at| file.nodes[at].id);
    if let Some(pair) = order.windows(2).find(|pair| file.nodes[pair[0]].id == file.nodes[pair[1]].id) {
        return Err(WireError { byte: 0, what: format!("two nodes have the number {}", file.nodes[pair[0]].id) });
    }
    let mut nodes: Vec<Option<Node>> = file.nodes.into_iter().map(Some).collect();
    file.nodes = order.iter().filter_map(|&at| nodes[at].take()).collect();
    let named = order.iter().enumerate().filter_map(|(node, &at)| Some(Unresolved { node, group: names[at].take()? }));
    file.groups = named.collect();
    Ok(file)
}
