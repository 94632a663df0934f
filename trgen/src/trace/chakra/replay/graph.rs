//! A trace as a graph for LogGOPS hosts.
//!
//! A node becomes a calculation, a send or a receive, with the duration that it has on devices; a node of a collective
//! becomes the messages of its algorithm. Each send of a collective waits for the arrivals that its rank has taken by
//! then, and a collective ends when its last message has been received; that of a rank that receives none, when its
//! sends have ended as LogGOPS has it. What is added of arrivals is a calculation too, where the memory has a rate.
//!
//! With streams, CPU 0 computes and CPU 1 communicates, so that a computation holds back no message. By the classic rules
//! a host has one CPU, which computes or has the overhead of a message.
//!
//! # How the model departs from reality, and who could notice
//! - Hosts begin whatever is ready: the rooms of devices for computations and communications do not exist.
//! - Collectives of a group are matched in the order of the numbers of their nodes.
//!
//! Decision: docs/decisions/0611-traces-on-loggops-hosts.md.

use std::collections::{HashMap, VecDeque};

use super::{NANOSECOND, Replay, combining};
use crate::trace::chakra::collective::Part;
use crate::trace::chakra::{CollectiveKind, Work};
use crate::trace::goal::{After, Graph, GraphError, Operation, Rank, RankBuilder};

/// A trace that no graph expresses.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GraphOfRanksError {
    /// The graph would be too large, or has sizes beyond its limits.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// Ranks call different collectives under one number.
    #[error(
        "collective {number} of group `{group}` is {} at rank {a} and {} at rank {b}, in the order of their nodes",
        .kind_a.name(), .kind_b.name()
    )]
    Order {
        /// Name of the group.
        group: String,
        /// Number within the group, from 1.
        number: u32,
        /// A rank.
        a: u32,
        /// What it calls.
        kind_a: CollectiveKind,
        /// Another rank.
        b: u32,
        /// What it calls.
        kind_b: CollectiveKind,
    },
}

/// What tells messages of a pair of ranks apart.
#[derive(PartialEq, Eq, Hash)]
enum Name {
    /// A message of the trace's own, by its tag.
    Own(i64),
    /// Group, number of the collective, phase, and number among the messages of the pair in it.
    Piece(u32, u32, usize, u32),
}

/// Numbers for the names of messages.
#[derive(Default)]
struct Tags(HashMap<Name, u32>);

impl Tags {
    fn number(&mut self, name: Name) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(name).or_insert(next)
    }
}

/// By sender, receiver and tag: the sizes \[bytes\] of the messages that no receive has taken, in the order of sending.
type Sizes = HashMap<(u32, u32, u32), VecDeque<u64>>;

/// The size of the next message of a pair with a tag; 0 if there is none, and the receive waits in vain.
fn next(sizes: &mut Sizes, name: (u32, u32, u32)) -> u64 {
    sizes.get_mut(&name).and_then(VecDeque::pop_front).unwrap_or(0)
}

/// The number of the next message of a phase to or from a rank.
fn count(of: &mut HashMap<(usize, u32), u32>, name: (usize, u32)) -> u32 {
    let next = of.entry(name).or_default();
    std::mem::replace(next, *next + 1)
}

/// The operations of a rank under construction.
struct Operations {
    builder: RankBuilder,
    /// The CPU of communications.
    cpu: u8,
}

impl Operations {
    /// Adds an operation of communication.
    fn add(&mut self, operation: Operation) -> Result<u32, GraphError> {
        self.builder.add(Operation { cpu: self.cpu, ..operation })
    }

    fn after(&mut self, dependent: u32, other: u32) -> Result<(), GraphError> {
        self.builder.depend(dependent, other, After::Finish)
    }

    /// An operation that ends when all of these have ended.
    fn join(&mut self, others: &[u32]) -> Result<u32, GraphError> {
        if let [one] = *others {
            return Ok(one);
        }
        let join = self.add(Operation::calc(0))?;
        others.iter().try_for_each(|&other| self.after(join, other))?;
        Ok(join)
    }
}

impl Replay {
    /// The trace as a graph; with `streams`, for hosts whose CPUs are streams.
    ///
    /// # Errors
    /// Sizes beyond the limits of graphs; ranks of a group that call different collectives.
    pub fn graph(&self, streams: bool) -> Result<Graph, GraphOfRanksError> {
        let mut tags = Tags::default();
        let mut sizes = self.sizes(&mut tags);
        let mut called: HashMap<(u32, u32), (u32, CollectiveKind)> = HashMap::new();
        let mut ranks: Vec<Rank> = Vec::new();
        for rank in 0..self.trace.ranks.len() as u32 {
            let mut operations = Operations { builder: RankBuilder::default(), cpu: u8::from(streams) };
            // By node: its first operation, which waits for others, and its last one, for which others wait.
            let mut ends: Vec<(u32, u32)> = Vec::new();
            let mut numbers: HashMap<u32, u32> = HashMap::new();
            for node in &self.trace.ranks[rank as usize] {
                let both = |operation| (operation, operation);
                ends.push(match node.work {
                    Work::Nothing => both(operations.add(Operation::calc(0))?),
                    Work::Compute { micros, operations: count, tensor } => {
                        let time = self.duration(rank, micros, count, tensor).div_ceil(NANOSECOND);
                        both(operations.builder.add(Operation::calc(time))?)
                    }
                    Work::Send { to, tag, bytes } => {
                        both(operations.add(Operation::send(bytes, to, tags.number(Name::Own(tag))))?)
                    }
                    Work::Receive { from, tag } => {
                        let tag = tags.number(Name::Own(tag));
                        both(operations.add(Operation::recv(next(&mut sizes, (from, rank, tag)), from, tag))?)
                    }
                    Work::Collective { kind, group, bytes } => {
                        let number = numbers.entry(group).or_default();
                        let number = std::mem::replace(number, *number + 1);
                        let (a, kind_a) = *called.entry((group, number)).or_insert((rank, kind));
                        if kind_a != kind {
                            let group = self.trace.groups[group as usize].name.to_string();
                            let number = number + 1;
                            return Err(GraphOfRanksError::Order { group, number, a, kind_a, b: rank, kind_b: kind });
                        }
                        let begin = operations.add(Operation::calc(0))?;
                        let Some(part) = self.layout.part(kind, group, rank, bytes) else {
                            ends.push(both(begin));
                            continue;
                        };
                        let end = self.add_part(
                            &mut operations,
                            (&mut tags, &mut sizes),
                            (rank, group, number),
                            &part,
                            begin,
                        )?;
                        (begin, end)
                    }
                });
            }
            let dag = &self.dags[rank as usize];
            for (node, &(_, end)) in (0..).zip(&ends) {
                for at in dag.dependents(node) {
                    operations.after(ends[dag.dependent(at) as usize].0, end)?;
                }
            }
            ranks.push(operations.builder.build()?);
        }
        Ok(Graph::new(ranks)?)
    }

    /// The sizes of all messages.
    fn sizes(&self, tags: &mut Tags) -> Sizes {
        let mut sizes = Sizes::new();
        for (rank, nodes) in (0..).zip(&self.trace.ranks) {
            let mut numbers: HashMap<u32, u32> = HashMap::new();
            for node in nodes {
                match node.work {
                    Work::Send { to, tag, bytes } => {
                        sizes.entry((rank, to, tags.number(Name::Own(tag)))).or_default().push_back(bytes);
                    }
                    Work::Collective { kind, group, bytes } => {
                        let number = numbers.entry(group).or_default();
                        let number = std::mem::replace(number, *number + 1);
                        let Some(part) = self.layout.part(kind, group, rank, bytes) else { continue };
                        let mut sent = HashMap::new();
                        for taken in 0..=part.arrivals() {
                            part.sends(taken, |phase, place, bytes| {
                                let to = self.layout.rank(group, place);
                                let name = Name::Piece(group, number, phase, count(&mut sent, (phase, to)));
                                sizes.entry((rank, to, tags.number(name))).or_default().push_back(bytes);
                            });
                        }
                    }
                    _ => {}
                }
            }
        }
        sizes
    }

    /// Adds the part of a rank in a collective, which begins with an operation; returns that with which it ends.
    fn add_part(
        &self,
        operations: &mut Operations,
        (tags, sizes): (&mut Tags, &mut Sizes),
        (rank, group, number): (u32, u32, u32),
        part: &Part,
        begin: u32,
    ) -> Result<u32, GraphError> {
        // By phase and other rank: messages so far.
        let mut sent: HashMap<(usize, u32), u32> = HashMap::new();
        let mut received: HashMap<(usize, u32), u32> = HashMap::new();
        // What has arrived since the last sends, the last addition, and the first of the last sends.
        let (mut fresh, mut added, mut before) = (Vec::new(), None, None);
        let (mut arrived, mut all_sent) = (Vec::new(), Vec::new());
        for taken in 0..=part.arrivals() {
            let mut sends = Vec::new();
            part.sends(taken, |phase, place, bytes| sends.push((phase, self.layout.rank(group, place), bytes)));
            if !sends.is_empty() {
                if sends.len() > 1 && fresh.len() > 1 {
                    fresh = vec![operations.join(&fresh)?];
                }
                let mut first = None;
                for (phase, to, bytes) in sends {
                    let tag = tags.number(Name::Piece(group, number, phase, count(&mut sent, (phase, to))));
                    let send = operations.add(Operation::send(bytes, to, tag))?;
                    match before {
                        // What those waited for has arrived when they begin.
                        Some(before) => operations.builder.depend(send, before, After::Start)?,
                        None => operations.after(send, begin)?,
                    }
                    fresh.iter().try_for_each(|&other| operations.after(send, other))?;
                    first.get_or_insert(send);
                    all_sent.push(send);
                }
                before = first;
                fresh.clear();
            }
            let Some((phase, place)) = part.source(taken) else { continue };
            let from = self.layout.rank(group, place);
            let tag = tags.number(Name::Piece(group, number, phase, count(&mut received, (phase, from))));
            let receive = operations.add(Operation::recv(next(sizes, (from, rank, tag)), from, tag))?;
            operations.after(receive, begin)?;
            let time = match (self.params.memory, part.combined(taken)) {
                (Some(memory), Some(bytes)) => combining(bytes, memory),
                _ => 0,
            };
            let mut taken = receive;
            if time > 0 {
                taken = operations.add(Operation::calc(time))?;
                operations.after(taken, receive)?;
                if let Some(last) = added.replace(taken) {
                    operations.after(taken, last)?;
                }
            }
            fresh.push(taken);
            arrived.push(taken);
        }
        match (arrived.is_empty(), all_sent.is_empty()) {
            (true, true) => Ok(begin),
            (true, false) => operations.join(&all_sent),
            (false, _) => operations.join(&arrived),
        }
    }
}
