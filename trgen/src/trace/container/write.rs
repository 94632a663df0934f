//! Writing a container: events of any task in any order, block by block.

use std::io::{self, Write};

use super::codec::{self, BlockRow, IndexRow, TaskRow};
use super::{BLOCK_HEADER, BlockKind, Header, MAGIC, MAX_RAW, VERSION, checksum};
use crate::trace::goal::{Graph, Kind, Operation};
use crate::trace::program::{Event, Program};

/// \[bytes\] Rows of a block; the last row may exceed it.
const BLOCK: usize = 128 << 10;
/// \[bytes\] Rows of all tasks that wait for their block to fill; then all are written as they are.
const WAITING: usize = 64 << 20;
/// Level of compression: fast, and within a few per cent of the slower ones on rows like these.
const LEVEL: i32 = 3;

/// A block that is being filled.
#[derive(Clone, Default, Debug)]
struct Open {
    rows: u32,
    raw: Vec<u8>,
    ordinal: u32,
    summary: TaskRow,
}

/// Writes a container.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    offset: u64,
    open: Vec<Open>,
    waiting: usize,
    rows_per_block: u32,
    index: Vec<u8>,
    index_rows: u32,
}

fn failed(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl<W: Write> Writer<W> {
    /// Begins a container.
    ///
    /// # Errors
    /// When `out` refuses, or the header has more than 16 MiB.
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        let tasks = header.tasks;
        // A replay holds a block of every task: with many tasks, blocks are smaller.
        let rows_per_block = ((4 << 20) / tasks.max(1)).clamp(256, 4096);
        let open = vec![Open::default(); tasks as usize];
        let offset = (MAGIC.len() + 4) as u64;
        let (index, index_rows) = (Vec::new(), 0);
        let mut writer = Self { out, offset, open, waiting: 0, rows_per_block, index, index_rows };
        let mut raw = Vec::new();
        codec::put_header(header, &mut raw).map_err(failed)?;
        writer.block(BlockKind::Header, 0, 0, 1, &raw)?;
        Ok(writer)
    }

    /// Adds an event at the end of a task's program.
    ///
    /// # Errors
    /// When the output refuses; a task that the header does not have; a wait for more than a million requests.
    pub fn event(&mut self, task: u32, event: &Event) -> io::Result<()> {
        self.row(task, |open| {
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

    /// Adds an operation at the end of a rank's graph, with those that wait for it.
    ///
    /// # Errors
    /// As [`event`](Self::event).
    pub fn node(&mut self, rank: u32, operation: &Operation, on_finish: &[u32], on_start: &[u32]) -> io::Result<()> {
        self.row(rank, |open| {
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

    /// Writes what is left, the index and the trailer. Without this call the file is recognised as cut short.
    ///
    /// # Errors
    /// When the output refuses.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush_all()?;
        for (task, open) in (0..).zip(&self.open) {
            if open.summary.rows > 0 {
                codec::put_index(&IndexRow::Task(TaskRow { task, ..open.summary }), &mut self.index).map_err(failed)?;
                self.index_rows += 1;
            }
        }
        let index = std::mem::take(&mut self.index);
        let offset = self.offset;
        self.block(BlockKind::Index, 0, 0, self.index_rows, &index)?;
        let length = u32::try_from(self.offset - offset).map_err(|_| failed("the index is too long".to_owned()))?;
        let (offset, length) = (offset.to_le_bytes(), length.to_le_bytes());
        self.out.write_all(&offset)?;
        self.out.write_all(&length)?;
        self.out.write_all(&checksum(&[&offset, &length]).to_le_bytes())?;
        self.out.write_all(&MAGIC)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn row(&mut self, task: u32, put: impl FnOnce(&mut Open) -> Result<(), String>) -> io::Result<()> {
        let Some(open) = self.open.get_mut(task as usize) else {
            return Err(failed(format!("task {task} of {} tasks", self.open.len())));
        };
        let before = open.raw.len();
        put(open).map_err(failed)?;
        open.rows += 1;
        open.summary.rows += 1;
        self.waiting += open.raw.len() - before;
        if open.raw.len() > MAX_RAW {
            return Err(failed("an event is longer than 16 MiB".to_owned()));
        }
        if open.rows >= self.rows_per_block || open.raw.len() >= BLOCK {
            self.flush_task(task)?;
        }
        if self.waiting > WAITING { self.flush_all() } else { Ok(()) }
    }

    fn flush_all(&mut self) -> io::Result<()> {
        (0..self.open.len() as u32).try_for_each(|task| self.flush_task(task))
    }

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
        codec::put_index(&row, &mut self.index).map_err(failed)?;
        self.index_rows += 1;
        self.block(BlockKind::Rows, task, ordinal, rows, &raw)?;
        // The room is kept for the next block of the task.
        let mut raw = raw;
        raw.clear();
        self.open[task as usize].raw = raw;
        Ok(())
    }

    fn block(&mut self, kind: BlockKind, task: u32, ordinal: u32, rows: u32, raw: &[u8]) -> io::Result<()> {
        let stored = zstd::bulk::compress(raw, LEVEL)?;
        let too_long = |_| failed("a block is longer than 4 GiB".to_owned());
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
