//! The communication matrix of an application. Only pairs that exchange messages are stored.

use std::collections::BTreeMap;

#[cfg(feature = "formats")]
use super::container::{ContainerError, Reader};
use super::goal::{Graph, Kind};
use super::program::{Event, Program, Rounds};

/// Traffic from one task to another, or to itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The task that sends.
    pub source: u32,
    /// The task that receives.
    pub destination: u32,
    /// Number of messages.
    pub messages: u64,
    /// \[bytes\] Total size.
    pub bytes: u64,
}

/// Messages and bytes of each ordered pair of tasks that exchange any.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Matrix {
    tasks: usize,
    pairs: Vec<Pair>,
}

/// Traffic of one sender: messages and bytes by destination.
#[derive(Default)]
struct Row(BTreeMap<u32, (u64, u64)>);

impl Row {
    /// Adds messages to a destination.
    fn add(&mut self, destination: u32, messages: u64, bytes: u64) {
        let (count, sum) = self.0.entry(destination).or_default();
        *count += messages;
        *sum = sum.saturating_add(bytes);
    }

    /// Adds the message of an event, if it is a send.
    fn add_event(&mut self, event: &Event) {
        if let Event::Send(send) | Event::Isend(send, _) = event {
            self.add(send.to.0, 1, send.bytes);
        }
    }
}

impl Matrix {
    /// The matrix of programs.
    #[must_use]
    pub fn of_program(program: &Program) -> Self {
        let mut matrix = Self::default();
        for events in &program.tasks {
            let mut row = Row::default();
            events.iter().for_each(|event| row.add_event(event));
            matrix.push(row);
        }
        matrix
    }

    /// The matrix of all rounds of a program.
    #[must_use]
    pub fn of_rounds(rounds: &Rounds) -> Self {
        let mut matrix = Self::of_program(&rounds.first);
        for pair in &mut matrix.pairs {
            pair.messages = pair.messages.saturating_mul(rounds.count);
            pair.bytes = pair.bytes.saturating_mul(rounds.count);
        }
        matrix
    }

    /// The matrix of a graph.
    #[must_use]
    pub fn of_graph(graph: &Graph) -> Self {
        let mut matrix = Self::default();
        for rank in graph.ranks() {
            let mut row = Row::default();
            let sends = rank.nodes().iter().filter(|node| node.kind == Kind::Send);
            sends.for_each(|node| row.add(node.peer, 1, node.size));
            matrix.push(row);
        }
        matrix
    }

    /// The matrix of a Chakra trace, its collectives as the messages of their algorithms of one level.
    #[cfg(feature = "formats")]
    #[must_use]
    pub fn of_chakra(trace: &super::chakra::Trace) -> Self {
        use super::chakra::collective::Layout;

        let mut matrix = Self::default();
        for (rank, row) in trace.traffic(&Layout::flat(&trace.groups)).into_iter().enumerate() {
            debug_assert_eq!(rank, matrix.tasks);
            matrix.push(Row(row));
        }
        matrix
    }

    /// The matrix of the programs of a container, which is read once, block by block: this takes the time to read all
    /// of it, and memory for the pairs.
    ///
    /// # Errors
    /// A damaged block; a container of graphs.
    #[cfg(feature = "formats")]
    pub fn of_container(container: &Reader) -> Result<Self, ContainerError> {
        let mut matrix = Self::default();
        for task in 0..container.summaries().len() {
            let mut row = Row::default();
            let mut cursor = container.cursor(task);
            while let Some(event) = cursor.next_event()? {
                row.add_event(&event);
            }
            matrix.push(row);
        }
        Ok(matrix)
    }

    /// Appends the row of the next task.
    fn push(&mut self, row: Row) {
        let source = self.tasks as u32;
        self.tasks += 1;
        let pair = |(destination, (messages, bytes))| Pair { source, destination, messages, bytes };
        self.pairs.extend(row.0.into_iter().map(pair));
    }

    /// Number of tasks.
    #[must_use]
    pub const fn tasks(&self) -> usize {
        self.tasks
    }

    /// The pairs, by source and then by destination.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The matrix of groups of `each` consecutive tasks, at least 1; the last group may be smaller.
    #[must_use]
    pub fn grouped(&self, each: usize) -> Self {
        let mut matrix = Self::default();
        let mut rest = self.pairs.iter().peekable();
        for group in 0..self.tasks.div_ceil(each) {
            let mut row = Row::default();
            while let Some(pair) = rest.next_if(|pair| pair.source as usize / each == group) {
                row.add((pair.destination as usize / each) as u32, pair.messages, pair.bytes);
            }
            matrix.push(row);
        }
        matrix
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::program::{Send, Tag};
    use crate::units::TaskId;

    #[test]
    fn pairs_are_counted_and_groups_are_sums() {
        let send = |to, bytes| Event::Send(Send { to: TaskId(to), tag: Tag::user(0), bytes });
        let tasks = vec![vec![send(2, 5), send(1, 7), send(2, 5)], vec![send(1, 1)], vec![send(0, 9)]];
        let matrix = Matrix::of_program(&Program { tasks });
        let told = |matrix: &Matrix| -> Vec<(u32, u32, u64, u64)> {
            matrix.pairs().iter().map(|pair| (pair.source, pair.destination, pair.messages, pair.bytes)).collect()
        };
        assert_eq!(told(&matrix), [(0, 1, 1, 7), (0, 2, 2, 10), (1, 1, 1, 1), (2, 0, 1, 9)]);
        assert_eq!(matrix.grouped(1), matrix);
        let pairs = matrix.grouped(2);
        assert_eq!((pairs.tasks(), told(&pairs)), (2, vec![(0, 0, 2, 8), (0, 1, 2, 10), (1, 0, 1, 9)]));
        assert_eq!(told(&matrix.grouped(8)), [(0, 0, 5, 27)]);
    }
}
