//! Programs as graphs: each event depends on the previous one.
//!
//! A blocking operation must finish before the next may start (`requires`); a non-blocking one must only have started
//! (`irequires`); a wait is a calculation of 0 that requires the operations that it waits for. Times are converted to
//! ns; the remainder is carried to the next calculation of the task. Source: the schedule generator of LogGOPSim.
//!
//! # How the model departs from reality, and who could notice
//! Graphs have a single tag space and no communicators: a receive with any tag also accepts messages of other
//! communicators. It does not match messages of collectives. The formats of files cannot express that difference, and
//! `trace-prep` writes no such graph.
//!
//! Decision: docs/decisions/0532-graphs-of-wildcards.md.

use std::collections::HashMap;

use super::{ANY, After, Graph, GraphError, Operation, RankBuilder};
use crate::trace::labels::Labels;
use crate::trace::program::{Event, Program, Receive, Request, Tag, TagFilter};

/// Why a program cannot be converted to a graph.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ChainError {
    /// A wait for any of several requests: all dependencies of a graph must be met.
    #[error("event {event} of task {task} waits for any of several requests; all dependencies of a graph must be met")]
    WaitAny {
        /// The task.
        task: usize,
        /// Its event, counted from 1.
        event: usize,
    },
    /// The graph cannot be executed.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// Converts a program to a graph.
///
/// # Errors
/// Waits for any of several requests; messages or times beyond the limits of graphs.
pub fn graph(program: &Program) -> Result<Graph, ChainError> {
    let (tags, own) = Labels::parted(ANY, program);
    let mut ranks = Vec::new();
    for (task, events) in program.tasks.iter().enumerate() {
        let mut chain = Chain {
            builder: RankBuilder::default(),
            last: None,
            requests: HashMap::new(),
            after: Vec::new(),
            carry: 0,
        };
        for (event, step) in (1..).zip(events) {
            chain.add_event(step, &tags)?.then_some(()).ok_or(ChainError::WaitAny { task, event })?;
        }
        ranks.push(chain.builder.build()?);
    }
    let graph = Graph::new(ranks)?;
    Ok(if own < ANY { graph.with_own_tags_below(own) } else { graph })
}

/// The graph of one task under construction.
struct Chain {
    builder: RankBuilder,
    /// The last operation, and whether the next one waits for its end or its start.
    last: Option<(u32, After)>,
    /// The operation of each outstanding request.
    requests: HashMap<Request, u32>,
    /// The operations whose end the non-blocking sends that follow wait for.
    after: Vec<u32>,
    /// \[ps\] Remainder of the computing time below a nanosecond.
    carry: u64,
}

impl Chain {
    /// Adds the operations of an event. False if a graph cannot express it.
    fn add_event(&mut self, event: &Event, tags: &Labels) -> Result<bool, GraphError> {
        // The fallback is never used: a program with 4 billion different tags does not fit in memory.
        let number = |tag: &Tag| tags.number(*tag).unwrap_or(ANY - 1);
        let receive = |receive: &Receive| {
            let tag = match receive.tag {
                TagFilter::Exactly(tag) => number(&tag),
                TagFilter::AnyIn(_) => ANY,
            };
            Operation::recv(receive.bytes, receive.from.map_or(ANY, |from| from.0), tag)
        };
        match event {
            Event::Compute(time) => {
                let total = time.0.saturating_add(self.carry);
                self.carry = total % 1000;
                if total >= 1000 {
                    self.add(Operation::calc(total / 1000), After::Finish)?;
                }
            }
            Event::Send(send) => {
                self.add(Operation::send(send.bytes, send.to.0, number(&send.tag)), After::Finish)?;
            }
            Event::Isend(send, request) => {
                let node = self.add(Operation::send(send.bytes, send.to.0, number(&send.tag)), After::Start)?;
                self.after.iter().try_for_each(|&other| self.builder.depend(node, other, After::Finish))?;
                self.requests.insert(*request, node);
            }
            Event::After(requests) => {
                self.after = requests.iter().filter_map(|request| self.requests.get(request)).copied().collect();
            }
            Event::Recv(wanted) => {
                self.add(receive(wanted), After::Finish)?;
            }
            Event::Irecv(wanted, request) => {
                let node = self.add(receive(wanted), After::Start)?;
                self.requests.insert(*request, node);
            }
            Event::Wait(request) => self.wait(&[*request])?,
            Event::WaitAll(requests) => self.wait(requests)?,
            Event::WaitAny(_) => return Ok(false),
        }
        Ok(true)
    }

    /// Adds an operation that waits for the last one; `next` is what the following operation waits for.
    fn add(&mut self, operation: Operation, next: After) -> Result<u32, GraphError> {
        let node = self.builder.add(operation)?;
        if let Some((last, after)) = self.last {
            self.builder.depend(node, last, after)?;
        }
        self.last = Some((node, next));
        Ok(node)
    }

    /// Adds an operation that waits for these requests.
    fn wait(&mut self, requests: &[Request]) -> Result<(), GraphError> {
        let waited: Vec<u32> = requests.iter().filter_map(|request| self.requests.remove(request)).collect();
        if waited.is_empty() {
            return Ok(());
        }
        let node = self.add(Operation::calc(0), After::Finish)?;
        waited.into_iter().try_for_each(|other| self.builder.depend(node, other, After::Finish))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::goal::{hosts::HostParams, ideal};
    use crate::trace::program::Send;
    use crate::units::TaskId;

    /// A receive from any rank with any tag that is posted before the message of a collective arrives does not match
    /// it.
    #[test]
    fn a_receive_with_any_tag_leaves_collectives_alone() {
        let (first, second) = (Tag::collective(0), Tag::user(7));
        let send = |to: u32, tag| Event::Send(Send { to: TaskId(to), tag, bytes: 8 });
        let recv =
            |from: u32, tag| Event::Recv(Receive { from: Some(TaskId(from)), tag: TagFilter::Exactly(tag), bytes: 8 });
        let wild = Receive { from: None, tag: TagFilter::AnyIn(Tag::POINT_TO_POINT), bytes: 8 };
        let program = Program {
            tasks: vec![
                vec![Event::Irecv(wild, Request(0)), recv(1, first), send(1, Tag::user(9)), Event::Wait(Request(0))],
                vec![send(0, first), recv(0, Tag::user(9)), send(0, second)],
            ],
        };
        let graph = graph(&program).expect("nothing waits for any of several");
        // A file could not say so.
        assert!(!graph.fits_files());
        let execution = ideal::execute(graph, HostParams::default(), 2500, &mut |_| true);
        assert!(execution.remains.is_nothing(), "{:?}", execution.remains);
    }
}
