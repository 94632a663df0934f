//! One line of a time-independent trace, checked and with its sizes in bytes.

use super::datatype::element_bytes;
use super::outstanding::Key;
use super::{CONVERT, OLDER_DIALECT};
use crate::catalog::suggestion;
use crate::trace::collectives::Collective;
use crate::trace::formats::error::Fault;
use crate::trace::formats::text::{self, MAX_MESSAGE, invalid};

/// SimGrid's number for any source.
const ANY_SOURCE: &str = "-555";
/// SimGrid's number for any tag.
const ANY_TAG: &str = "-444";

/// Actions with their syntax. `n` stands for the number of ranks.
const USAGE: &[(&str, &str)] = &[
    ("init", "init [1]"),
    ("finalize", "finalize"),
    ("comm_size", "comm_size SIZE"),
    ("comm_split", "comm_split ..."),
    ("comm_dup", "comm_dup ..."),
    ("location", "location FILE LINE"),
    ("compute", "compute FLOPS"),
    ("sleep", "sleep SECONDS"),
    ("send", "send DST TAG COUNT [TYPE]"),
    ("isend", "isend DST TAG COUNT [TYPE]"),
    ("recv", "recv SRC TAG COUNT [TYPE]"),
    ("irecv", "irecv SRC TAG COUNT [TYPE]"),
    ("sendRecv", "sendRecv SCOUNT DST RCOUNT SRC [STYPE RTYPE]"),
    ("wait", "wait SRC DST TAG"),
    ("test", "test SRC DST TAG"),
    ("waitall", "waitall [COUNT]"),
    ("barrier", "barrier"),
    ("bcast", "bcast COUNT [ROOT [TYPE]]"),
    ("reduce", "reduce COUNT FLOPS [ROOT [TYPE]]"),
    ("allreduce", "allreduce COUNT FLOPS [TYPE]"),
    ("scan", "scan COUNT FLOPS [TYPE]"),
    ("exscan", "exscan COUNT FLOPS [TYPE]"),
    ("alltoall", "alltoall SCOUNT RCOUNT [STYPE RTYPE]"),
    ("alltoallv", "alltoallv SSIZE SCOUNT0..SCOUNTn-1 RSIZE RCOUNT0..RCOUNTn-1 [STYPE RTYPE]"),
    ("gather", "gather SCOUNT RCOUNT [ROOT [STYPE RTYPE]]"),
    ("scatter", "scatter SCOUNT RCOUNT [ROOT [STYPE RTYPE]]"),
    ("allgather", "allgather SCOUNT RCOUNT [STYPE RTYPE]"),
    ("gatherv", "gatherv SCOUNT RCOUNT0..RCOUNTn-1 [ROOT [STYPE RTYPE]]"),
    ("scatterv", "scatterv SCOUNT0..SCOUNTn-1 RCOUNT [ROOT [STYPE RTYPE]]"),
    ("allgatherv", "allgatherv SCOUNT RCOUNT0..RCOUNTn-1 [STYPE RTYPE [DISPLACEMENTS]]"),
    ("reducescatter", "reducescatter RCOUNT0..RCOUNTn-1 FLOPS [TYPE]"),
];

/// One action. Sizes are in bytes; `None` as source or tag means any.
pub(super) enum Action {
    /// An action without events.
    Ignored,
    Finalize,
    /// \[bytes\] From here on, elements without a datatype have this size.
    Init {
        default_bytes: u64,
    },
    Compute {
        operations: f64,
    },
    Sleep {
        seconds: f64,
    },
    Send {
        to: u32,
        label: i64,
        bytes: u64,
    },
    Isend {
        to: u32,
        label: i64,
        bytes: u64,
    },
    Recv {
        from: Option<u32>,
        label: Option<i64>,
        bytes: u64,
    },
    Irecv {
        from: Option<u32>,
        label: Option<i64>,
        bytes: u64,
    },
    SendRecv {
        to: u32,
        sent: u64,
        from: Option<u32>,
        received: u64,
    },
    Wait(Key),
    WaitAll {
        count: Option<u64>,
    },
    Collective {
        collective: Collective,
        operations: f64,
    },
}

/// Parses a line without its rank, in a trace of `ranks` ranks; elements without a datatype have `default_bytes`.
pub(super) fn parse(line: &str, ranks: usize, default_bytes: u64) -> Result<Action, Fault> {
    let mut words = line.split_ascii_whitespace();
    let action = words.next().unwrap_or_default();
    let args = Args { action, words: words.collect(), ranks, default_bytes };
    let collective = |collective| Ok(Action::Collective { collective, operations: 0.0 });
    match action {
        "finalize" => Ok(Action::Finalize),
        "comm_size" | "comm_split" | "comm_dup" | "location" => Ok(Action::Ignored),
        "init" => {
            args.check_count(&[0, 1])?;
            Ok(Action::Init { default_bytes: if args.words.is_empty() { 1 } else { 8 } })
        }
        "compute" => {
            args.check_count(&[1])?;
            Ok(Action::Compute { operations: text::decimal("number of operations", args.words[0])? })
        }
        "sleep" => {
            args.check_count(&[1])?;
            Ok(Action::Sleep { seconds: text::decimal("time", args.words[0])? })
        }
        "send" | "isend" => {
            args.check_count(&[3, 4])?;
            let (to, label, bytes) = (args.rank("destination", 0)?, text::tag(args.words[1])?, args.bytes(2, 3)?);
            Ok(if action == "send" { Action::Send { to, label, bytes } } else { Action::Isend { to, label, bytes } })
        }
        "recv" | "irecv" => {
            args.check_count(&[3, 4])?;
            let (from, label, bytes) = (args.source(0)?, args.tag(1)?, args.receive_bytes(2, 3)?);
            Ok(if action == "recv" {
                Action::Recv { from, label, bytes }
            } else {
                Action::Irecv { from, label, bytes }
            })
        }
        "sendRecv" | "sendrecv" => {
            args.check_count(&[4, 6])?;
            let (to, from) = (args.rank("destination", 1)?, args.source(3)?);
            Ok(Action::SendRecv { to, sent: args.bytes(0, 4)?, from, received: args.receive_bytes(2, 5)? })
        }
        "wait" | "test" => {
            args.check_count(&[3])?;
            let key = Key { from: args.source(0)?, to: args.rank("destination", 1)?, label: args.tag(2)? };
            Ok(if action == "wait" { Action::Wait(key) } else { Action::Ignored })
        }
        "waitall" => {
            args.check_count(&[0, 1])?;
            let count = args.words.first().map(|word| text::whole("number of requests", word, u64::MAX));
            Ok(Action::WaitAll { count: count.transpose()? })
        }
        "barrier" => {
            args.check_count(&[0])?;
            collective(Collective::Barrier)
        }
        "bcast" => {
            args.check_count(&[1, 2, 3])?;
            collective(Collective::Broadcast { root: args.root(1)?, bytes: args.bytes(0, 2)? })
        }
        "reduce" => {
            args.check_count(&[2, 3, 4])?;
            let collective = Collective::Reduce { root: args.root(2)?, bytes: args.bytes(0, 3)? };
            Ok(Action::Collective { collective, operations: args.operations(1)? })
        }
        "allreduce" | "scan" | "exscan" => {
            args.check_count(&[2, 3])?;
            let bytes = args.bytes(0, 2)?;
            let collective = match action {
                "allreduce" => Collective::Allreduce { bytes },
                "scan" => Collective::Scan { bytes },
                _ => Collective::Exscan { bytes },
            };
            Ok(Action::Collective { collective, operations: args.operations(1)? })
        }
        "alltoall" | "allgather" => {
            args.check_count(&[2, 3, 4])?;
            let (bytes, _) = (args.bytes(0, 2)?, args.bytes(1, 3)?);
            collective(match action {
                "alltoall" => Collective::Alltoall { bytes },
                _ => Collective::Allgather { bytes },
            })
        }
        "gather" | "scatter" => {
            args.check_count(&[2, 3, 5])?;
            let (root, sent, received) = (args.root(2)?, args.bytes(0, 3)?, args.bytes(1, 4)?);
            // Both sides give the same size; a side whose own block stays in place may give none.
            let bytes = sent.max(received);
            collective(match action {
                "gather" => Collective::Gather { root, bytes },
                _ => Collective::Scatter { root, bytes },
            })
        }
        "alltoallv" => {
            let n = args.ranks;
            args.check_count(&[2 * n + 2, 2 * n + 3, 2 * n + 4])?;
            args.number("size of the send buffer", 0)?;
            args.number("size of the receive buffer", n + 1)?;
            let (send, receive) = (args.blocks(1, 2 * n + 2)?, args.blocks(n + 2, 2 * n + 3)?);
            collective(Collective::Alltoallv { send, receive })
        }
        "gatherv" => {
            let n = args.ranks;
            args.check_count(&[n + 1, n + 2, n + 4])?;
            let (root, send, receive) = (args.root(n + 1)?, args.bytes(0, n + 2)?, args.blocks(1, n + 3)?);
            collective(Collective::Gatherv { root, send, receive })
        }
        "scatterv" => {
            let n = args.ranks;
            args.check_count(&[n + 1, n + 2, n + 4])?;
            let (root, send, receive) = (args.root(n + 1)?, args.blocks(0, n + 2)?, args.bytes(n, n + 3)?);
            collective(Collective::Scatterv { root, send, receive })
        }
        "allgatherv" => {
            let n = args.ranks;
            args.check_count(&[n + 1, n + 2, n + 3, 2 * n + 3])?;
            args.bytes(0, n + 1)?;
            for position in n + 3..args.words.len() {
                args.number("displacement", position)?;
            }
            collective(Collective::Allgatherv { blocks: args.blocks(1, n + 2)? })
        }
        "reducescatter" => {
            let n = args.ranks;
            args.check_count(&[n + 1, n + 2])?;
            let collective = Collective::ReduceScatter { blocks: args.blocks(0, n + 1)? };
            Ok(Action::Collective { collective, operations: args.operations(n)? })
        }
        // Names in the older dialect have capitals: Isend, waitAll, allToAllV.
        other if USAGE.iter().any(|(name, _)| name.eq_ignore_ascii_case(other)) => Err(Fault::Structure {
            what: format!("`{other}` is an action of an older dialect of SimGrid's traces"),
            remedy: CONVERT,
        }),
        other => {
            let known: Vec<&str> = USAGE.iter().map(|(name, _)| *name).collect();
            let remedy = suggestion(other, &known).to_string();
            Err(Fault::UnknownWord { what: "action", found: other.to_owned(), remedy })
        }
    }
}

/// The words after the action. Methods take the position of a word, from 0.
struct Args<'a> {
    /// Name of the action.
    action: &'a str,
    words: Vec<&'a str>,
    /// Number of ranks of the trace.
    ranks: usize,
    /// \[bytes\] Size of an element without a datatype.
    default_bytes: u64,
}

impl Args<'_> {
    /// Rejects a line whose number of arguments is none of these.
    fn check_count(&self, permitted: &[usize]) -> Result<(), Fault> {
        let found = self.words.len();
        if permitted.contains(&found) {
            return Ok(());
        }
        let usage =
            USAGE.iter().find(|(name, _)| name.eq_ignore_ascii_case(self.action)).map_or("", |(_, usage)| usage);
        // Only the syntax of operations with a table contains n.
        let tables = if usage.contains("n-1") { format!(" with n = {}", self.ranks) } else { String::new() };
        let usage = format!("{usage}{tables}");
        // In the older dialect without tags, messages were written `send DST COUNT`.
        let old = matches!(self.action, "send" | "isend" | "recv" | "irecv" | "wait") && found < 3;
        let remedy = old.then_some(OLDER_DIALECT);
        Err(Fault::Arguments { word: self.action.to_owned(), found, usage, remedy })
    }

    /// A rank, which errors call `what`.
    fn rank(&self, what: &'static str, position: usize) -> Result<u32, Fault> {
        let word = self.words[position];
        word.parse::<u32>()
            .ok()
            .filter(|&rank| (rank as usize) < self.ranks)
            .ok_or_else(|| invalid(what, word, format!("a rank from 0 to {}", self.ranks - 1)))
    }

    /// The source of a message; `None` for any.
    fn source(&self, position: usize) -> Result<Option<u32>, Fault> {
        if self.words[position] == ANY_SOURCE { Ok(None) } else { self.rank("source", position).map(Some) }
    }

    /// The tag of a message; `None` for any.
    fn tag(&self, position: usize) -> Result<Option<i64>, Fault> {
        if self.words[position] == ANY_TAG { Ok(None) } else { text::tag(self.words[position]).map(Some) }
    }

    /// The root of a collective; rank 0 if the word is absent.
    fn root(&self, position: usize) -> Result<usize, Fault> {
        if position < self.words.len() { self.rank("root", position).map(|rank| rank as usize) } else { Ok(0) }
    }

    /// The number of floating-point operations of a reduction.
    fn operations(&self, position: usize) -> Result<f64, Fault> {
        text::decimal("number of operations", self.words[position])
    }

    /// A number, which errors call `what`.
    fn number(&self, what: &'static str, position: usize) -> Result<u64, Fault> {
        text::whole(what, self.words[position], u64::MAX)
    }

    /// \[bytes\] Size of an element of the datatype at `position`, if present.
    fn element(&self, position: usize) -> Result<u64, Fault> {
        self.words.get(position).map_or(Ok(self.default_bytes), |word| element_bytes(word))
    }

    /// \[bytes\] A count times the size of an element.
    fn size(&self, count: usize, element: u64) -> Result<u64, Fault> {
        Ok(text::whole("count", self.words[count], MAX_MESSAGE / element.max(1))? * element)
    }

    /// \[bytes\] A count at one position times the size of the datatype at another.
    fn bytes(&self, count: usize, kind: usize) -> Result<u64, Fault> {
        self.size(count, self.element(kind)?)
    }

    /// As [`Self::bytes`]; a receive may also have a negative count, for an unknown size.
    fn receive_bytes(&self, count: usize, kind: usize) -> Result<u64, Fault> {
        let unknown = self.words[count].parse::<i64>().is_ok_and(|count| count < 0);
        if unknown { self.element(kind).map(|_| 0) } else { self.bytes(count, kind) }
    }

    /// \[bytes\] One count per rank, from a position on, times the size of a datatype.
    fn blocks(&self, first: usize, kind: usize) -> Result<Vec<u64>, Fault> {
        let element = self.element(kind)?;
        (first..first + self.ranks).map(|position| self.size(position, element)).collect()
    }
}
