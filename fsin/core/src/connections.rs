//! Connections of models without packets: which messages of a node are in the network, and which wait for their turn.
//!
//! A connection is a source, a destination and a class. Real senders (queue pairs, TCP, channels of collective
//! libraries) send the messages of a connection one after another; as rivals on the same links they would all end
//! together.
//!
//! Decision: docs/decisions/0420-connections-in-order.md.

use std::collections::hash_map::Entry;
use std::fmt;
use std::str::FromStr;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::hashing::Table;
use trgen::{Message, phrase};

/// Which messages of a node are in the network at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Connections {
    /// One of each connection, in the order in which they were issued; connections run beside each other.
    PerDestination,
    /// \[messages\] At most so many of a node, in the order in which they were issued.
    Serial(u32),
    /// Every message as soon as it is issued.
    AtOnce,
}

impl Connections {
    /// \[messages\] Maximum number of messages of a node in the network.
    pub const MOST: u32 = 1 << 16;

    /// \[messages\] How many of a line may be in the network.
    const fn most(self) -> u32 {
        match self {
            Self::PerDestination => 1,
            Self::Serial(most) => most,
            Self::AtOnce => u32::MAX,
        }
    }

    /// The line in which a message waits; `None` for one that never waits.
    fn line_of(self, message: &Message) -> Option<LineName> {
        let Message { source, destination, class, .. } = *message;
        if source.0 == destination.0 {
            return None;
        }
        match self {
            Self::PerDestination => Some((u64::from(source.0) << 32 | u64::from(destination.0), class.into())),
            Self::Serial(_) => Some((source.0.into(), u32::MAX)),
            Self::AtOnce => None,
        }
    }
}

impl fmt::Display for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerDestination => f.write_str("per-destination"),
            Self::Serial(1) => f.write_str("serial"),
            Self::Serial(most) => write!(f, "serial:{most}"),
            Self::AtOnce => f.write_str("at-once"),
        }
    }
}

impl FromStr for Connections {
    type Err = SpecError;

    fn from_str(word: &str) -> Result<Self, SpecError> {
        match (word, word.strip_prefix("serial:").map(str::parse)) {
            ("per-destination", _) => Ok(Self::PerDestination),
            ("serial", _) => Ok(Self::Serial(1)),
            ("at-once", _) => Ok(Self::AtOnce),
            (_, Some(Ok(most @ 1..=Self::MOST))) => Ok(Self::Serial(most)),
            _ => Err(SpecError::new(
                ErrorKind::UnknownName,
                phrase![("`{word}` is no interface of a model without packets")],
                phrase![(
                    "use per-destination, serial, at-once, or serial:N with 1 to {} messages in the network",
                    Self::MOST
                )],
            )),
        }
    }
}

/// Source, destination and class; the source where all its messages share a line.
type LineName = (u64, u32);

/// No message.
const NONE: u32 = u32::MAX;

/// Messages of which only so many are in the network.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Messages in the network.
    under_way: u32,
    /// The first and the last one of those that wait, by their handles; [`NONE`] if none waits.
    first: u32,
    last: u32,
}

/// The connections of a network that have messages. A message is known by a handle of the network's own, of which no
/// two are the same at a time, and which are small numbers.
#[derive(Debug)]
pub struct Turns {
    rule: Connections,
    lines: Table<LineName, Line>,
    /// By handle of a message that waits: the one behind it in its line, [`NONE`] behind the last one.
    next: Vec<u32>,
}

impl Turns {
    /// No messages yet.
    #[must_use]
    pub fn new(rule: Connections) -> Self {
        Self { rule, lines: Table::default(), next: Vec::new() }
    }

    /// True if a message may enter the network now, and then it counts as in the network; otherwise it has to
    /// [wait](Self::wait).
    pub fn begin(&mut self, message: &Message) -> bool {
        let Some(name) = self.rule.line_of(message) else { return true };
        let line = self.lines.entry(name).or_insert(Line { under_way: 0, first: NONE, last: NONE });
        let may = line.under_way < self.rule.most();
        line.under_way += u32::from(may);
        may
    }

    /// A message that may not [begin](Self::begin) waits behind those that were issued before it.
    pub fn wait(&mut self, message: &Message, handle: u32) {
        let name = self.rule.line_of(message).expect("a message without a line may always begin");
        let line = self.lines.get_mut(&name).expect("others of its line are in the network");
        if self.next.len() <= handle as usize {
            self.next.resize(handle as usize + 1, NONE);
        }
        self.next[handle as usize] = NONE;
        match std::mem::replace(&mut line.last, handle) {
            NONE => line.first = handle,
            before => self.next[before as usize] = handle,
        }
    }

    /// A message has left the network. Returns the one whose turn it is now, which counts as in the network.
    pub fn end(&mut self, message: &Message) -> Option<u32> {
        let Entry::Occupied(mut entry) = self.lines.entry(self.rule.line_of(message)?) else { return None };
        let line = entry.get_mut();
        if line.first == NONE {
            line.under_way -= 1;
            if line.under_way == 0 {
                entry.remove();
            }
            return None;
        }
        let handle = line.first;
        line.first = self.next[handle as usize];
        if line.first == NONE {
            line.last = NONE;
        }
        Some(handle)
    }

    /// The messages that wait, in no particular order.
    pub fn waiting(&self) -> impl Iterator<Item = u32> {
        let behind = |&handle: &u32| Some(self.next[handle as usize]).filter(|&next| next != NONE);
        let first = |line: &Line| Some(line.first).filter(|&first| first != NONE);
        self.lines.values().flat_map(move |line| std::iter::successors(first(line), behind))
    }
}

#[cfg(test)]
mod tests {
    use trgen::NodeId;

    use super::*;

    fn message(source: u32, destination: u32, class: u8) -> Message {
        Message { id: 0, source: NodeId(source), destination: NodeId(destination), bytes: 1, class }
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        for word in ["per-destination", "serial", "serial:2", "serial:65536", "at-once"] {
            assert_eq!(word.parse::<Connections>().map(|rule| rule.to_string()), Ok(word.to_owned()));
        }
        for word in ["", "serial:0", "serial:65537", "interleaved:8", "per-port", "Serial"] {
            assert_eq!(
                word.parse::<Connections>().map_err(|error| error.kind()),
                Err(ErrorKind::UnknownName),
                "{word}"
            );
        }
    }

    #[test]
    fn a_connection_is_source_destination_and_class() {
        let mut turns = Turns::new(Connections::PerDestination);
        assert!(turns.begin(&message(0, 1, 0)));
        for other in [message(0, 2, 0), message(1, 1, 0), message(0, 1, 1), message(2, 1, 0), message(1, 1, 0)] {
            assert!(turns.begin(&other), "{other:?}");
        }
        for handle in [7, 3] {
            assert!(!turns.begin(&message(0, 1, 0)));
            turns.wait(&message(0, 1, 0), handle);
        }
        assert_eq!(turns.waiting().collect::<Vec<_>>(), [7, 3]);
        assert_eq!(turns.end(&message(0, 2, 0)), None);
        assert_eq!([7, 3].map(|_| turns.end(&message(0, 1, 0))), [Some(7), Some(3)]);
        assert!(!turns.begin(&message(0, 1, 0)));
        assert_eq!(turns.end(&message(0, 1, 0)), None);
        assert!(turns.begin(&message(0, 1, 0)));
    }

    #[test]
    fn a_source_has_so_many_messages_in_the_network() {
        let mut turns = Turns::new(Connections::Serial(2));
        assert!(turns.begin(&message(0, 1, 0)) && turns.begin(&message(0, 2, 3)) && turns.begin(&message(1, 2, 0)));
        assert!(!turns.begin(&message(0, 3, 0)));
        turns.wait(&message(0, 3, 0), 9);
        assert_eq!(turns.end(&message(0, 1, 0)), Some(9));
        assert_eq!((turns.end(&message(0, 3, 0)), turns.end(&message(0, 2, 3))), (None, None));
        assert_eq!(turns.end(&message(1, 2, 0)), None);
        assert_eq!(turns.waiting().count(), 0);
        let mut all = Turns::new(Connections::AtOnce);
        assert!((0..1000).all(|_| all.begin(&message(0, 1, 0))) && all.end(&message(0, 1, 0)).is_none());
    }
}
