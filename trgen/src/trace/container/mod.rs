//! `.trg`: the project's own container of traces, read and written block by block.
//!
//! # Layout, version 1 (little endian)
//! ```text
//! magic "FSIN\x89TRG"                          8 bytes
//! version                                      u32
//! block ...                                    header first, then the tasks' blocks in any order, the index last
//! trailer: offset of the index, its length, checksum of both, magic again    u64 u32 u32 8 bytes
//! ```
//! A block is `kind u8, task u32, ordinal u32, rows u32, raw length u32, stored length u32, checksum u32`, then the
//! stored bytes: rows (bincode, variable-length integers) compressed by zstd. The checksum is a CRC-32 of the preceding
//! fields and of the stored bytes. `ordinal` numbers the blocks of a task, so that exchanged blocks are detected.
//!
//! A task's rows are its events ([`Event`]) or, in the container of a graph, its operations with their dependents
//! ([`Graph`]). A reader needs one block per task in memory, whatever the size of the file.
//!
//! All input is hostile until checked: sizes are limited, and no buffer is allocated at a size that the file merely
//! claims.
//!
//! Decision: docs/decisions/0045-hostile-input.md.
//!
//! [`Event`]: super::program::Event
//! [`Graph`]: super::goal::Graph

mod codec;
mod read;
mod write;

pub use read::{Cursor, Reader, TaskSummary};
pub use write::Writer;

/// The bytes with which a container begins and ends.
const MAGIC: [u8; 8] = *b"FSIN\x89TRG";
/// The version of the layout that is written, and the only one that can be read.
pub const VERSION: u32 = 1;

/// \[bytes\] Size of the header of a block.
const BLOCK_HEADER: usize = 25;
/// \[bytes\] Size of the trailer.
const TRAILER: usize = 24;
/// \[bytes\] Largest size of the rows of one block, before compression.
const MAX_RAW: usize = 16 << 20;
/// Largest ratio of uncompressed to stored bytes of a block, beyond [`SMALL_RAW`]: memory is bounded by the file size.
const MAX_RATIO: u64 = 64;
/// \[bytes\] Size of rows allowed to any block: what the writer puts into a block, plus one long row.
const SMALL_RAW: u64 = 256 << 10;
/// Base-2 logarithm of the largest decoder window, in bytes, that a block may demand.
const MAX_WINDOW: u32 = 24;
/// Most rows of one block.
const MAX_ROWS: u32 = 1 << 16;
/// Most tasks of a container; see also [`max_tasks`].
const MAX_TASKS: u64 = 1 << 24;
/// \[bytes\] Size of the largest message.
const MAX_MESSAGE: u64 = 1 << 40;

/// Most tasks of a container with this number of rows: a small file must not stand for millions of idle tasks.
const fn max_tasks(rows: u64) -> u64 {
    let most = 4096 + rows;
    if most < MAX_TASKS { most } else { MAX_TASKS }
}

/// Kind of a block, as stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BlockKind {
    Header = 1,
    Rows = 2,
    Index = 3,
}

/// Kind of the tasks of a container.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Programs: events in sequence.
    Programs,
    /// Graphs: operations and dependencies.
    Graphs,
}

/// Metadata of a container.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Kind of the tasks.
    pub content: Content,
    /// Number of tasks.
    pub tasks: u32,
    /// Format from which the trace was imported, or a description of how it was made and changed
    /// ([`history`](Self::history)).
    pub origin: String,
    /// Expanded collective calls, summed over tasks, by name of the operation.
    pub collectives: Vec<(String, u64)>,
    /// Decisions and warnings of the import, for the user of the trace.
    pub notes: Vec<String>,
}

impl Header {
    /// A description of the trace's origin, such as `imported from simgrid-ti, then scale --bytes 2`.
    #[must_use]
    pub fn history(&self) -> String {
        /// Beginnings of origins that are descriptions and not names.
        const WORDS: [&str; 4] = ["generated as ", "imported from ", "merged from ", "recorded"];
        match &*self.origin {
            // Written by earlier versions.
            "record" => "recorded".to_owned(),
            "merge" => "merged from several traces".to_owned(),
            origin if WORDS.iter().any(|word| origin.starts_with(word)) => origin.to_owned(),
            format => format!("imported from {format}"),
        }
    }
}

/// Why a container cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct ContainerError {
    /// Offset in the file, if known.
    pub byte: Option<u64>,
    /// The fault, and the expected content.
    pub what: String,
    /// The remedy.
    pub remedy: &'static str,
}

/// Remedy for a damaged container.
const DAMAGED_REMEDY: &str = "the file may be an incomplete or damaged copy: fetch it or import it again";

/// The error for wrong contents at an offset in the file.
fn damaged(byte: u64, what: impl Into<String>) -> ContainerError {
    ContainerError { byte: Some(byte), what: what.into(), remedy: DAMAGED_REMEDY }
}

/// The error of the operating system at an offset in the file.
fn unreadable(byte: u64, error: &std::io::Error) -> ContainerError {
    ContainerError { byte: Some(byte), what: format!("cannot be read: {error}"), remedy: "check the file and its disk" }
}

/// The CRC-32 of the parts, one after another.
fn checksum(parts: &[&[u8]]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    parts.iter().for_each(|part| sum.update(part));
    sum.finalize()
}

/// True if a file that begins like this is a container.
#[must_use]
pub fn is_container(beginning: &[u8]) -> bool {
    beginning.starts_with(&MAGIC)
}
