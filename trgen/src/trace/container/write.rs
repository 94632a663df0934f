//! Writing a container: events of any task in any order, block by block.

use std::io::{self, Write};

use super::codec::{self, BlockRow, IndexRow, TaskRow};
use super::{BLOCK_HEADER, BlockKind, Header, MAGIC, MAX_RAW, VERSION, checksum};
use crate::trace::goal::{Graph, Kind, Operation};
use crate::trace::program::{Event, Program};

/// \[bytes\] A block is complete when its rows have at least this size.
const BLOCK: usize = 128 << 10;
/// \[bytes\] Limit of the buffered rows of all tasks. When it is exceeded, all blocks are written, complete or not.
const WAITING: usize = 64 << 20;
/// Compression level: fast, and within a few per cent of the slower levels on such rows.
const LEVEL: i32 = 3;

/// The block of a task that is under construction.
#[derive(Clone, Default, Debug)]
struct OpenBlock {
    rows: u32,
    /// The rows, before compression.
    raw: Vec<u8>,
    /// Number of the block among those of its task.
    ordinal: u32,
    /// Totals of the task so far, which the index will contain.
    summary: TaskRow,
}

/// Writes a container.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    /// \[bytes\] Number of bytes written so far.
    offset: u64,
    /// The block under construction of each task.
    open: Vec<OpenBlock>,
    /// \[bytes\] Buffered rows of all tasks.
    waiting: usize,
    /// A block is complete when it has this number of rows.
    rows_per_block: u32,
    /// Rows of the index so far, before compression.
    index: Vec<u8>,
    /// Number of rows of the index so far.
    index_rows: u32,
}

/// The error for data that the format cannot express.
fn invalid_data(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl<W: Write> Writer<W> {
    /// Begins a container.
    ///
    /// # Errors
    /// When writing to `out` fails, or the header exceeds 16 MiB.
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        let tasks = header.tasks;
        // A replay holds a block of every task in memory. With many tasks, blocks are therefore smaller.
        let rows_per_block = ((4 << 20) / tasks.max(1)).clamp(256, 4096);
        let open = vec![OpenBlock::default(); tasks as usize];
        let offset = (MAGIC.len() + 4) as u64;
        let (index, index_rows) = (Vec::new(), 0);
        let mut writer = Self { out, offset, open, waiting: 0, rows_per_block, index, index_rows };
        let mut raw = Vec::new();
        codec::put_header(header, &mut raw).map_err(invalid_data)?;
        writer.write_block(BlockKind::Header, 0, 0, 1, &raw)?;
        Ok(writer)
    }

    /// Appends an event to a task's program.
    ///
    /// # Errors
    /// When writing fails, the header has no such task, or the event waits for more than a million requests.
    pub fn event(&mut self, task: u32, event: &Event) -> io::Result<()> {
        self.add_row(task, |open| {
            let summary = &mut open.summary;
            match event {
                Event::Send(send) | Event::Isend(send, _) => {
                    summary.messages += 1;
                    summary.bytes = summary.bytes.saturating_add(send.bytes);
                }
                Event::Compute(time) => summary.compute = summary.compute.saturating_add(time.0),
                _ => {}
            }
            codec::put_event(event, &mut open.raw)
        })
    }

    /// Appends an operation to a rank's graph, with its dependents.
    ///
    /// # Errors
    /// As [`event`](Self::event).
    pub fn node(&mut self, rank: u32, operation: &Operation, on_finish: &[u32], on_start: &[u32]) -> io::Result<()> {
        self.add_row(rank, |open| {
            let summary = &mut open.summary;
            match operation.kind {
                Kind::Send => {
                    summary.messages += 1;
                    summary.bytes = summary.bytes.saturating_add(operation.size);
                }
                Kind::Calc => summary.compute = summary.compute.saturating_add(operation.size),
                Kind::Recv => {}
            }
            codec::put_node(operation, on_finish, on_start, &mut open.raw)
        })
    }

    /// Adds a whole program.
    ///
    /// # Errors
    /// As [`event`](Self::event).
    pub fn program(&mut self, program: &Program) -> io::Result<()> {
        for (task, events) in (0..).zip(&program.tasks) {
            events.iter().try_for_each(|event| self.event(task, event))?;
            self.flush_task(task)?;
        }
        Ok(())
    }

    /// Adds a whole graph.
    ///
    /// # Errors
    /// As [`event`](Self::event).
    pub fn graph(&mut self, graph: &Graph) -> io::Result<()> {
        for (number, rank) in (0..).zip(graph.ranks()) {
            for node in rank.nodes() {
                self.node(number, &node.operation(), rank.on_finish(node), rank.on_start(node))?;
            }
            self.flush_task(number)?;
        }
        Ok(())
    }

    /// Writes the remaining blocks, the index and the trailer. Without this call the file is recognised as cut short.
    ///
    /// # Errors
    /// When writing fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush_all()?;
        for (task, open) in (0..).zip(&self.open) {
            if open.summary.rows > 0 {
                codec::put_index(&IndexRow::Task(TaskRow { task, ..open.summary }), &mut self.index)
                    .map_err(invalid_data)?;
                self.index_rows += 1;
            }
        }
        let index = std::mem::take(&mut self.index);
        let offset = self.offset;
        self.write_block(BlockKind::Index, 0, 0, self.index_rows, &index)?;
        let length =
            u32::try_from(self.offset - offset).map_err(|_| invalid_data("the index is too long".to_owned()))?;
        let (offset, length) = (offset.to_le_bytes(), length.to_le_bytes());
        self.out.write_all(&offset)?;
        self.out.write_all(&length)?;
        self.out.write_all(&checksum(&[&offset, &length]).to_le_bytes())?;
        self.out.write_all(&MAGIC)?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Adds a row, which `put` writes, to the block of a task.
    fn add_row(&mut self, task: u32, put: impl FnOnce(&mut OpenBlock) -> Result<(), String>) -> io::Result<()> {
        let Some(open) = self.open.get_mut(task as usize) else {
            return Err(invalid_data(format!("task {task} of {} tasks", self.open.len())));
        };
        let before = open.raw.len();
        put(open).map_err(invalid_data)?;
        open.rows += 1;
        open.summary.rows += 1;
        self.waiting += open.raw.len() - before;
        if open.raw.len() > MAX_RAW {
            return Err(invalid_data("an event is longer than 16 MiB".to_owned()));
        }
        if open.rows >= self.rows_per_block || open.raw.len() >= BLOCK {
            self.flush_task(task)?;
        }
        if self.waiting > WAITING { self.flush_all() } else { Ok(()) }
    }

    /// Writes the blocks of all tasks.
    fn flush_all(&mut self) -> io::Result<()> {
        (0..self.open.len() as u32).try_for_each(|task| self.flush_task(task))
    }

    /// Writes the block of a task, if it has rows.
    fn flush_task(&mut self, task: u32) -> io::Result<()> {
        let open = &mut self.open[task as usize];
        if open.rows == 0 {
            return Ok(());
        }
        let (rows, ordinal, raw) = (open.rows, open.ordinal, std::mem::take(&mut open.raw));
        open.rows = 0;
        open.ordinal += 1;
        self.waiting -= raw.len();
        let row = IndexRow::Block(BlockRow { task, rows, offset: self.offset });
        codec::put_index(&row, &mut self.index).map_err(invalid_data)?;
        self.index_rows += 1;
        self.write_block(BlockKind::Rows, task, ordinal, rows, &raw)?;
        // The allocation is kept for the next block of the task.
        let mut raw = raw;
        raw.clear();
        self.open[task as usize].raw = raw;
        Ok(())
    }

    /// Compresses a block and writes it with its header.
    fn write_block(&mut self, kind: BlockKind, task: u32, ordinal: u32, rows: u32, raw: &[u8]) -> io::Result<()> {
        let stored = zstd::bulk::compress(raw, LEVEL)?;
        let too_long = |_| invalid_data("a block is longer than 4 GiB".to_owned());
        let (raw_length, stored_length) =
            (u32::try_from(raw.len()).map_err(too_long)?, u32::try_from(stored.len()).map_err(too_long)?);
        let mut header = Vec::with_capacity(BLOCK_HEADER);
        header.push(kind as u8);
        for field in [task, ordinal, rows, raw_length, stored_length] {
            header.extend(field.to_le_bytes());
        }
        let sum = checksum(&[&header, &stored]);
        header.extend(sum.to_le_bytes());
        self.out.write_all(&header)?;
        self.out.write_all(&stored)?;
        self.offset += (header.len() + stored.len()) as u64;
        Ok(())
    }
}
