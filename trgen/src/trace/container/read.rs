//! Reading a container: the index on opening, the tasks block by block.

use std::fmt;
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex};

use zstd::stream::read::Decoder;
use zstd::zstd_safe::{DCtx, ResetDirective, get_error_name};

use super::codec::{self, BlockRow, IndexRow};
use super::{
    BLOCK_HEADER, BlockKind, ContainerError, Content, Header, MAGIC, MAX_RATIO, MAX_RAW, MAX_ROWS, MAX_WINDOW,
    SMALL_RAW, TRAILER, VERSION, checksum, damaged, max_tasks, unreadable,
};
use crate::trace::goal::{After, Graph, RankBuilder};
use crate::trace::program::{Event, Program};
use crate::units::Picoseconds;

/// A source that can be read at any position.
trait Store: Read + Seek + Send {}
impl<T: Read + Seek + Send> Store for T {}

/// An open file and its decompressor. One `context` serves all blocks, since creating one takes longer than
/// decompressing a short block.
struct OpenFile {
    store: Positioned,
    context: DCtx<'static>,
}

/// A source and its current position. A read at this position needs no seek, which would discard the
/// read-ahead buffer of the source.
struct Positioned {
    store: Box<dyn Store>,
    /// \[bytes\] The position; `None` if it is unknown.
    position: Option<u64>,
}

/// Index entry of a task.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TaskSummary {
    /// Events or operations.
    pub rows: u64,
    /// Number of messages sent.
    pub messages: u64,
    /// \[bytes\] Total size of these messages.
    pub bytes: u64,
    /// Total computing time; in the unit of the graph, if it is one.
    pub compute: Picoseconds,
}

/// An open container. Clones share the file.
#[derive(Clone)]
pub struct Reader {
    opened: Arc<Mutex<OpenFile>>,
    /// The name of the container in errors of a run.
    name: Option<Arc<str>>,
    header: Arc<Header>,
    /// Offset of the index.
    index_at: u64,
    summaries: Arc<[TaskSummary]>,
    /// Blocks of each task, in order.
    blocks: Arc<[Vec<BlockRow>]>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("header", &self.header).finish_non_exhaustive()
    }
}

/// A block without its header.
struct Block {
    /// Number of rows.
    rows: u32,
    /// The rows, decompressed.
    raw: Vec<u8>,
}

/// The number of 4 bytes at a position; 0 beyond the end.
fn u32_at(bytes: &[u8], position: usize) -> u32 {
    bytes.get(position..position + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// The number of 8 bytes at a position; 0 beyond the end.
fn u64_at(bytes: &[u8], position: usize) -> u64 {
    u64::from(u32_at(bytes, position)) | u64::from(u32_at(bytes, position + 4)) << 32
}

/// \[bytes\] Most memory that is allocated before the data for it have been read.
const AT_ONCE: u64 = 1 << 16;

/// Reads `length` bytes from `offset` on. Memory is allocated as data are read: a damaged length does not exhaust it.
fn read_at(
    Positioned { store, position }: &mut Positioned,
    offset: u64,
    length: u64,
) -> Result<Vec<u8>, ContainerError> {
    if position.take() != Some(offset) {
        store.seek(SeekFrom::Start(offset)).map_err(|error| unreadable(offset, &error))?;
    }
    let mut bytes = Vec::with_capacity(length.min(AT_ONCE) as usize);
    store.take(length).read_to_end(&mut bytes).map_err(|error| unreadable(offset, &error))?;
    *position = Some(offset + bytes.len() as u64);
    if (bytes.len() as u64) < length {
        return Err(damaged(offset + bytes.len() as u64, "the file ends within a block"));
    }
    Ok(bytes)
}

/// Reads and checks the block at `offset`, whose rows may have at most `limit` bytes. `expected` is its kind, task and
/// number.
fn read_block(
    opened: &mut OpenFile,
    offset: u64,
    expected: (BlockKind, u32, u32),
    limit: u64,
) -> Result<Block, ContainerError> {
    let OpenFile { store, context } = opened;
    let head = read_at(store, offset, BLOCK_HEADER as u64)?;
    let (raw_length, stored_length) = (u32_at(&head, 13), u32_at(&head, 17));
    if u64::from(raw_length) > limit || u64::from(stored_length) > limit + (1 << 16) {
        return Err(damaged(offset, format!("a block of {raw_length} bytes, more than {limit}")));
    }
    if u64::from(raw_length) > SMALL_RAW + MAX_RATIO * u64::from(stored_length) {
        let what = format!("a block of {raw_length} bytes in {stored_length}, more than {MAX_RATIO} times as many");
        return Err(damaged(offset, what));
    }
    let stored = read_at(store, offset + BLOCK_HEADER as u64, u64::from(stored_length))?;
    if checksum(&[&head[..21], &stored]) != u32_at(&head, 21) {
        return Err(damaged(offset, "a block does not have its checksum"));
    }
    let (kind, task, ordinal) = expected;
    if (head[0], u32_at(&head, 1), u32_at(&head, 5)) != (kind as u8, task, ordinal) {
        let what = format!(
            "block {} of task {}, kind {}, where block {ordinal} of task {task}, kind {} was expected",
            u32_at(&head, 5),
            u32_at(&head, 1),
            head[0],
            kind as u8
        );
        return Err(damaged(offset, what));
    }
    let mut raw = Vec::with_capacity(u64::from(raw_length).min(AT_ONCE) as usize + 1);
    // Discards any unfinished state of the previous block.
    let reset = context.reset(ResetDirective::SessionOnly);
    reset.map_err(|code| damaged(offset, format!("a block cannot be decompressed: {}", get_error_name(code))))?;
    let mut decoder = Decoder::with_context(&stored[..], context);
    decoder.window_log_max(MAX_WINDOW).map_err(|error| unreadable(offset, &error))?;
    decoder
        .single_frame()
        .take(u64::from(raw_length) + 1)
        .read_to_end(&mut raw)
        .map_err(|error| damaged(offset, format!("a block cannot be decompressed: {error}")))?;
    if raw.len() as u64 != u64::from(raw_length) {
        return Err(damaged(offset, format!("a block does not decompress to its {raw_length} bytes")));
    }
    Ok(Block { rows: u32_at(&head, 9), raw })
}

impl Reader {
    /// Opens a container and reads its index.
    ///
    /// # Errors
    /// A file that is not a container, of another version, cut short, damaged, or beyond the limits.
    pub fn open(store: impl Read + Seek + Send + 'static) -> Result<Self, ContainerError> {
        let mut store = store;
        let length = store.seek(SeekFrom::End(0)).map_err(|error| unreadable(0, &error))?;
        let mut store = Positioned { store: Box::new(store), position: None };
        let begin = (MAGIC.len() + 4) as u64;
        let head = read_at(&mut store, 0, length.min(begin))?;
        if !head.starts_with(&MAGIC) {
            return Err(damaged(0, "does not begin like a .trg container"));
        }
        let version = u32_at(&head, MAGIC.len());
        if length >= begin && version != VERSION {
            return Err(ContainerError {
                byte: Some(8),
                what: format!("a container of version {version}; this program reads version {VERSION}"),
                remedy: "import the original trace with this version",
            });
        }
        let cut = || damaged(length, "the container ends without its index: it was cut short or never finished");
        let trailer_at = length.checked_sub(TRAILER as u64).filter(|&at| at >= begin).ok_or_else(cut)?;
        let trailer = read_at(&mut store, trailer_at, TRAILER as u64)?;
        if trailer[16..] != MAGIC {
            return Err(cut());
        }
        if checksum(&[&trailer[..12]]) != u32_at(&trailer, 12) {
            return Err(damaged(trailer_at, "the trailer does not have its checksum"));
        }
        let (offset, index_length) = (u64_at(&trailer, 0), u64::from(u32_at(&trailer, 8)));
        if offset.checked_add(index_length) != Some(trailer_at) || offset < begin {
            return Err(damaged(trailer_at, "the trailer points elsewhere than to the index"));
        }
        let mut opened = OpenFile { store, context: DCtx::create() };
        let header_block = read_block(&mut opened, begin, (BlockKind::Header, 0, 0), MAX_RAW as u64)?;
        let header =
            codec::take_header(&header_block.raw, &mut 0).map_err(|what| damaged(begin, format!("header: {what}")))?;
        // A bound on the size of the index, against damaged lengths. The index has one row for each block and one for
        // each task. A row has at most 60 bytes, a block in the file at least 25.
        let limit = length.saturating_mul(4).saturating_add(1 << 16);
        let block = read_block(&mut opened, offset, (BlockKind::Index, 0, 0), limit)?;
        let (summaries, blocks) = parse_index(&block, &header, offset, begin)?;
        Ok(Self {
            opened: Arc::new(Mutex::new(opened)),
            name: None,
            header: Arc::new(header),
            index_at: offset,
            summaries: summaries.into(),
            blocks: blocks.into(),
        })
    }

    /// The same container with this name in the errors of a run.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// The name of the container, if set.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The metadata of the container.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The index entry of each task.
    #[must_use]
    pub fn summaries(&self) -> &[TaskSummary] {
        &self.summaries
    }

    /// The events of a task, one after another.
    #[must_use]
    pub fn cursor(&self, task: usize) -> Cursor {
        Cursor { reader: self.clone(), task, next_block: 0, raw: Vec::new(), at: 0, left: 0, block_offset: 0 }
    }

    /// All events, in memory.
    ///
    /// # Errors
    /// A damaged block; a container of graphs; more than `limit` events.
    pub fn program(&self, limit: u64) -> Result<Program, ContainerError> {
        let rows = self.summaries.iter().fold(0_u64, |sum, task| sum.saturating_add(task.rows));
        if self.header.content != Content::Programs {
            return Err(self.wrong_content("a graph where programs were expected"));
        }
        if rows > limit {
            return Err(ContainerError {
                byte: Some(self.index_at),
                what: format!("{rows} events, more than {limit} at once"),
                remedy: "replay the container itself: that reads it block by block",
            });
        }
        let mut program = Program::new(self.summaries.len());
        for (task, events) in program.tasks.iter_mut().enumerate() {
            let mut cursor = self.cursor(task);
            while let Some(event) = cursor.next_event()? {
                events.push(event);
            }
        }
        Ok(program)
    }

    /// The whole graph.
    ///
    /// # Errors
    /// A damaged block; a container of programs; invalid dependencies.
    pub fn graph(&self) -> Result<Graph, ContainerError> {
        if self.header.content != Content::Graphs {
            return Err(self.wrong_content("programs where a graph was expected"));
        }
        let mut ranks = Vec::new();
        for task in 0..self.summaries.len() {
            let mut builder = RankBuilder::default();
            let mut edges = Vec::new();
            let mut cursor = self.cursor(task);
            while cursor.fill()? {
                let place = cursor.block_offset;
                let failed = |what: String| damaged(place, format!("an operation of rank {task}: {what}"));
                let stored = codec::take_node(&cursor.raw, &mut cursor.at).map_err(failed)?;
                cursor.left -= 1;
                let number = builder.add(stored.operation).map_err(|error| failed(error.to_string()))?;
                edges.extend(stored.on_finish.into_iter().map(|dependent| (dependent, number, After::Finish)));
                edges.extend(stored.on_start.into_iter().map(|dependent| (dependent, number, After::Start)));
            }
            let failed =
                |error: crate::trace::goal::GraphError| damaged(cursor.block_offset, format!("rank {task}: {error}"));
            for (dependent, other, after) in edges {
                builder.depend(dependent, other, after).map_err(failed)?;
            }
            ranks.push(builder.build().map_err(failed)?);
        }
        Graph::new(ranks).map_err(|error| damaged(0, error.to_string()))
    }

    /// The error for a container of programs instead of graphs, or of graphs instead of programs. It names the byte of
    /// the header, which follows magic number and version.
    fn wrong_content(&self, what: &str) -> ContainerError {
        let byte = Some((MAGIC.len() + 4) as u64);
        ContainerError { byte, what: what.to_owned(), remedy: "see `trace-prep info` for what it holds" }
    }
}

/// The index: the summary of each task, and its blocks.
type Index = (Vec<TaskSummary>, Vec<Vec<BlockRow>>);

/// Decodes and checks the index. `offset` is its place in the file, `begin` that of the first block.
fn parse_index(block: &Block, header: &Header, offset: u64, begin: u64) -> Result<Index, ContainerError> {
    let wrong = |what: String| damaged(offset, format!("index: {what}"));
    let mut rows = 0_u64;
    let mut listed = Vec::new();
    let mut tasks = Vec::new();
    let mut at = 0;
    while at < block.raw.len() {
        match codec::take_index(&block.raw, &mut at).map_err(wrong)? {
            IndexRow::Task(task) => tasks.push(task),
            IndexRow::Block(row) => {
                let sensible = row.rows > 0 && row.rows <= MAX_ROWS && row.task < header.tasks;
                if !sensible || row.offset < begin || row.offset.saturating_add(BLOCK_HEADER as u64) > offset {
                    return Err(wrong(format!("a block of task {} at byte {}", row.task, row.offset)));
                }
                rows += u64::from(row.rows);
                listed.push(row);
            }
        }
    }
    if (listed.len() + tasks.len()) as u64 != u64::from(block.rows) {
        return Err(wrong(format!("{} rows where {} were announced", listed.len() + tasks.len(), block.rows)));
    }
    if u64::from(header.tasks) > max_tasks(rows) {
        return Err(damaged(begin, format!("{} tasks with {rows} events together", header.tasks)));
    }
    let mut blocks = vec![Vec::new(); header.tasks as usize];
    for row in listed {
        blocks[row.task as usize].push(row);
    }
    let mut summaries = vec![TaskSummary::default(); header.tasks as usize];
    for task in tasks {
        let Some(summary) = summaries.get_mut(task.task as usize) else {
            return Err(wrong(format!("a line of task {}", task.task)));
        };
        let (rows, compute) = (task.rows, Picoseconds(task.compute));
        *summary = TaskSummary { rows, messages: task.messages, bytes: task.bytes, compute };
    }
    for (task, (summary, blocks)) in summaries.iter().zip(&blocks).enumerate() {
        let rows: u64 = blocks.iter().map(|block| u64::from(block.rows)).sum();
        if rows != summary.rows {
            return Err(wrong(format!("task {task} has {} events, its blocks {rows}", summary.rows)));
        }
    }
    Ok((summaries, blocks))
}

/// Reads one task's events in order, with one block in memory.
#[derive(Clone, Debug)]
pub struct Cursor {
    reader: Reader,
    task: usize,
    /// Number of the next block among those of the task.
    next_block: usize,
    /// The rows of the current block, decompressed.
    raw: Vec<u8>,
    /// \[byte\] Position of the next row in `raw`.
    at: usize,
    /// Number of rows of the block that have not been read.
    left: u32,
    /// \[byte\] Offset of the current block in the file.
    block_offset: u64,
}

impl Cursor {
    /// The name of the container, if set.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.reader.name()
    }

    /// The next event; `None` after the last.
    ///
    /// # Errors
    /// A damaged block.
    pub fn next_event(&mut self) -> Result<Option<Event>, ContainerError> {
        if !self.fill()? {
            return Ok(None);
        }
        let event = codec::take_event(&self.raw, &mut self.at, self.reader.header.tasks)
            .map_err(|what| damaged(self.block_offset, format!("an event of task {}: {what}", self.task)))?;
        self.left -= 1;
        Ok(Some(event))
    }

    /// Loads the next block if the current one is exhausted; false after the last block.
    fn fill(&mut self) -> Result<bool, ContainerError> {
        while self.left == 0 {
            if self.at < self.raw.len() {
                return Err(damaged(self.block_offset, "a block has more bytes than events"));
            }
            let Some(row) = self.reader.blocks.get(self.task).and_then(|blocks| blocks.get(self.next_block)) else {
                self.raw = Vec::new();
                self.at = 0;
                return Ok(false);
            };
            let expected = (BlockKind::Rows, row.task, self.next_block as u32);
            let block = {
                // A panic under the lock leaves no broken state: the position is unknown during a read, so that the
                // next one seeks.
                let mut opened = self.reader.opened.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                read_block(&mut opened, row.offset, expected, MAX_RAW as u64)?
            };
            if block.rows != row.rows {
                return Err(damaged(row.offset, format!("{} events, {} by the index", block.rows, row.rows)));
            }
            self.block_offset = row.offset;
            self.next_block += 1;
            (self.raw, self.at, self.left) = (block.raw, 0, block.rows);
        }
        Ok(true)
    }
}
