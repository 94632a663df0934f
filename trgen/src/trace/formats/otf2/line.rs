//! One line of `otf2-print`: a word, one or two numbers, and named attributes in a fixed order.

use crate::trace::formats::error::Fault;
use crate::trace::formats::text::{self, MAX_MESSAGE, invalid};

/// An event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Kind of the record.
    pub(super) record: &'a str,
    /// Number of the process or thread.
    pub(super) location: &'a str,
    /// \[ticks\] Reading of the clock.
    pub(super) time: &'a str,
    pub(super) attributes: &'a str,
}

impl<'a> Line<'a> {
    /// Parses a line. `None` for lines that are not events: headings, rules, attributes of the previous line.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let (record, rest) = line.split_once(' ')?;
        let named = record.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit());
        let (location, rest) = rest.trim_start().split_once(' ')?;
        let rest = rest.trim_start();
        let (time, attributes) = rest.split_once(' ').unwrap_or((rest, ""));
        let numbers = [location, time].iter().all(|word| word.starts_with(|first: char| first.is_ascii_digit()));
        (named && numbers).then_some(Self { record, location, time, attributes: attributes.trim_start() })
    }

    /// The fault of a record whose attributes do not have the form `usage`.
    fn wrong(&self, usage: &'static str) -> Fault {
        invalid("record", self.attributes, format!("`{} LOCATION TIME {usage}`", self.record))
    }

    /// The number of the request, in records without other attributes.
    pub(super) fn request(&self) -> Result<u64, Fault> {
        let word = self.attributes.strip_prefix("Request: ").ok_or_else(|| self.wrong("Request: N"))?;
        number("request", word)
    }

    /// Name of the region entered or left.
    pub(super) fn region(&self) -> &'a str {
        let name = self.attributes.strip_prefix("Region: \"").unwrap_or_default();
        name.rsplit_once("\" <").map_or(name, |(name, _)| name)
    }

    /// The message of a record, and its request, which is present if `request` is true and 0 otherwise.
    pub(super) fn message(&self, request: bool) -> Result<(Message, u64), Fault> {
        const USAGE: &str =
            "Sender|Receiver: RANK (\"NAME\" <LOCATION>), Communicator: \"NAME\" <ID>, Tag: N, Length: N";
        let wrong = || self.wrong(USAGE);
        let (rest, request) = match request {
            true => self.attributes.rsplit_once(", Request: ").ok_or_else(wrong)?,
            false => (self.attributes, "0"),
        };
        let (rest, length) = rest.rsplit_once(", Length: ").ok_or_else(wrong)?;
        let (rest, tag) = rest.rsplit_once(", Tag: ").ok_or_else(wrong)?;
        let (peer, communicator) = rest.rsplit_once(", Communicator: ").ok_or_else(wrong)?;
        let peer = peer.split_once(": ").map(|(_, peer)| peer).ok_or_else(wrong)?;
        let message = Message {
            peer: reference(peer.trim_end_matches(')')).ok_or_else(wrong)?,
            communicator: reference(communicator).ok_or_else(wrong)?,
            label: text::tag(tag)?,
            bytes: text::whole("length", length, MAX_MESSAGE)?,
        };
        Ok((message, number("request", request)?))
    }

    /// The collective operation whose end is recorded.
    pub(super) fn collective(&self) -> Result<Collected<'a>, Fault> {
        const USAGE: &str = "Operation: NAME, Communicator: \"NAME\" <ID>, Root: NONE|RANK (...), Sent: N, Received: N";
        let wrong = || self.wrong(USAGE);
        let (rest, received) = self.attributes.rsplit_once(", Received: ").ok_or_else(wrong)?;
        let (rest, sent) = rest.rsplit_once(", Sent: ").ok_or_else(wrong)?;
        let (rest, root) = rest.rsplit_once(", Root: ").ok_or_else(wrong)?;
        let (operation, communicator) = rest.split_once(", Communicator: ").ok_or_else(wrong)?;
        let root = match root {
            "NONE" | "UNDEFINED" | "SELF" | "THREAD" | "PROC_NULL" => None,
            root => {
                let rank = root.split_once(' ').map_or(root, |(rank, _)| rank);
                Some(text::whole("root", rank, u64::from(u32::MAX))? as usize)
            }
        };
        Ok(Collected {
            operation: operation.strip_prefix("Operation: ").ok_or_else(wrong)?,
            communicator: reference(communicator).ok_or_else(wrong)?,
            root,
            sent: text::whole("bytes sent", sent, MAX_MESSAGE)?,
            received: text::whole("bytes received", received, MAX_MESSAGE)?,
        })
    }
}

/// Records beside those of MPI that determine the events of a task. A truncated one must not be taken for a heading.
const RECORDS: &[&str] = &["ENTER", "LEAVE"];

/// Rejects a line that begins like a relevant event but does not parse as one.
pub(super) fn reject_truncated(line: &str) -> Result<(), Fault> {
    let record = line.split(' ').next().unwrap_or_default();
    if !record.starts_with("MPI_") && !RECORDS.contains(&record) {
        return Ok(());
    }
    Err(Fault::Structure {
        what: format!("`{record}` without a location, a time and what belongs to it"),
        remedy: "the text may be cut short: print it again, by `otf2-print -A ARCHIVE.otf2`",
    })
}

/// The attributes of a message record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    /// Location of the other side.
    pub(super) peer: u64,
    pub(super) communicator: u64,
    /// Tag.
    pub(super) label: i64,
    pub(super) bytes: u64,
}

/// The attributes of a collective record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Collected<'a> {
    pub(super) operation: &'a str,
    pub(super) communicator: u64,
    pub(super) root: Option<usize>,
    /// \[bytes\] Size of the data sent.
    pub(super) sent: u64,
    /// \[bytes\] Size of the data received.
    pub(super) received: u64,
}

/// Parses a number, which errors call `what`.
pub(super) fn number(what: &'static str, word: &str) -> Result<u64, Fault> {
    word.parse().map_err(|_| invalid(what, word, "a whole number of 64 bits"))
}

/// The number in the last `<...>` of a reference such as `"MPI_COMM_WORLD" <0>`.
pub(super) fn reference(text: &str) -> Option<u64> {
    text.strip_suffix('>')?.rsplit_once('<')?.1.parse().ok()
}
