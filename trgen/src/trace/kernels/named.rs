//! Collectives by the names of their algorithms ([`COLLECTIVES`](crate::collective::COLLECTIVES)), on groups of tasks:
//! `all-reduce:algorithm=double-tree,group=8,chunks=4`.
//!
//! The vector is cut into a part for each **lane** of the algorithm: two rings in opposite directions, two trees, or
//! the rings of a torus in every order of dimensions and both directions. A part is cut into chunks. Each chunk goes
//! through the steps of its lane by itself: a task sends a piece on as soon as it has it, whatever it waits for in other
//! chunks and lanes. A pipeline of c chunks over s steps, of latency L each, and of time t for the whole vector takes
//! max(s (L + t / (s c)) + (c - 1) t / (s c), t + L): the greater of the last step of the last chunk, which has followed the first
//! one, and of what a task sends without a pause.
//!
//! # How the model departs from reality, and who could notice
//! With one chunk a task receives in the order of rounds, and works on no later round before it has all messages of one. A
//! library with a thread for each lane would go on with another lane; where lanes are not equally fast, it gains from that.
//! With several chunks a task has room for all of them; libraries have a few buffers for each connection.
//!
//! Decision: docs/decisions/0560-pipelines-of-chunks.md.

use std::collections::VecDeque;

use super::{Entry, ITERATIONS, Kernel, KernelContext, Steps, TASKS, any_number};
use crate::catalog::{Component, Parameter, SpecError};
use crate::collective::{Action, Row, Schedule, Shape as Members, Step, size_of};
use crate::synthetic::expr::Call;
use crate::trace::collectives::{Algorithm, Choice, Collective, RequestPool, expand};
use crate::trace::kind::CollectiveKind;
use crate::units::TaskId;

const BYTES: Parameter =
    Parameter { name: "bytes", about: "size of the whole vector [bytes]", range: "0..=2^36", default: "65536" };
const GROUP: Parameter = Parameter {
    name: "group",
    about: "number of tasks of a group, each of which does the same among itself",
    range: "1..=tasks, a divisor of tasks/stride",
    default: "all",
};
const STRIDE: Parameter = Parameter {
    name: "stride",
    about: "distance of the tasks of a group: i, i+stride, ...",
    range: "1..=tasks/group",
    default: "1",
};
const CHUNKS: Parameter = Parameter {
    name: "chunks",
    about: "number of pieces of the vector that follow each other through the algorithm",
    range: "1..=65536",
    default: "1",
};
const TORUS: Parameter = Parameter {
    name: "grid",
    about: "with algorithm=torus: sizes of the grid of the tasks of a group, x first, such as 4x4x8",
    range: "1.. each",
    default: "the network's if it has as many nodes, else as square as the group permits, in two dimensions",
};

/// How the members of a group do it.
#[derive(Clone, Copy, Debug)]
enum How {
    /// By steps, chunk by chunk.
    Steps(&'static dyn Schedule),
    /// By the messages of an algorithm of MPI.
    Messages(Algorithm),
}

/// A collective among the tasks of each group, whose **members** are numbered from 0.
#[derive(Debug)]
pub(super) struct Plan {
    how: How,
    /// The name of the algorithm.
    pub(super) word: &'static str,
    /// The members.
    shape: Members,
    stride: u32,
    chunks: u32,
    /// True if chunks of several lanes leave a task in turn.
    is_paced: bool,
}

impl Plan {
    /// Reads the parameters for a kind of collectives; `grid` reads the grid of a number of tasks. `choice` names the
    /// algorithm where the call does not.
    pub(super) fn read(
        call: &Call,
        kind: CollectiveKind,
        tasks: u32,
        choice: Option<&Choice>,
        grid: impl Fn(u32) -> Result<Vec<u32>, SpecError>,
    ) -> Result<Self, SpecError> {
        let rows: Vec<&'static Row> = Row::of(kind).collect();
        let names = |(at, row): (usize, &&'static Row)| {
            std::iter::once(row.name())
                .chain(row.aliases.iter().copied())
                .map(move |name| (name, at))
                .collect::<Vec<_>>()
        };
        let names: Vec<(&str, usize)> = rows.iter().enumerate().flat_map(names).collect();
        let default = || rows.iter().position(|row| row.name() == usual(kind)).unwrap_or(0);
        let chosen = choice.and_then(|choice| choice.row(kind.name()));
        let row = match (call.given("algorithm"), chosen) {
            (Some(_), _) => rows[call.choice("algorithm", &names)?],
            (None, Some(row)) => row,
            (None, None) => rows[default()],
        };
        let word = row.name();
        let parameter = |name: &'static str, most: u32| {
            if call.declares(name) { call.integer(name, 1..=most.into()).map(|value| value as u32) } else { Ok(1) }
        };
        let stride = parameter("stride", tasks)?;
        let group = if call.declares("group") { call.given("group") } else { None };
        let is_all = group.is_none_or(|given| given.word() == Some("all"));
        let group = if is_all { tasks / stride } else { parameter("group", tasks)? };
        if u64::from(group) * u64::from(stride) == 0
            || !u64::from(tasks).is_multiple_of(u64::from(group) * u64::from(stride))
        {
            let problem = format!("{tasks} tasks are no whole number of groups of {group} at distances of {stride}");
            return Err(call.refuse_all(&problem, "use a group and a stride whose product divides the number of tasks"));
        }
        let how = match (row.steps_of(kind), row.algorithm(kind.name())) {
            (Some(steps), _) => How::Steps(steps),
            (None, Some(algorithm)) => How::Messages(algorithm),
            (None, None) => {
                let problem = format!("`{}` by {word} needs the nodes of a network", call.name());
                return Err(call.refuse_all(
                    &problem,
                    "use it on a network whose nodes have several GPUs, such as cluster:nodes=4,gpus=8",
                ));
            }
        };
        let grid = match row.needs_grid {
            true => grid(group)?,
            false if call.declares("grid") && call.given("grid").is_some() => {
                return Err(call.refuse_all(&format!("grid has no meaning with algorithm={word}"), "leave it out"));
            }
            false => Vec::new(),
        };
        let shape = Members { kind, size: group, grid };
        if let (How::Steps(_), Some(needs)) = (how, (row.refuses)(&shape)) {
            let problem = format!("`{}` by {word} needs groups of {needs}, not {group}", call.name());
            return Err(call.refuse_all(&problem, "use algorithm=ring, or another group"));
        }
        let chunks = parameter("chunks", 65_536)?;
        if chunks > 1 && matches!(how, How::Messages(_)) {
            let with_steps = rows.iter().filter(|row| row.steps_of(kind).is_some()).map(|row| row.name());
            let with_steps: Vec<&str> = with_steps.collect();
            let problem = format!("`{}` by {word} is not cut into chunks", call.name());
            let remedy = match with_steps.is_empty() {
                true => "leave chunks out".to_owned(),
                false => format!("leave chunks out, or use one of {}", with_steps.join(", ")),
            };
            return Err(call.refuse_all(&problem, remedy));
        }
        Ok(Self { how, word, shape, stride, chunks, is_paced: false })
    }

    /// The same on a network.
    pub(super) fn paced(self, context: &KernelContext) -> Self {
        Self { is_paced: context.sends_end_at_departure && self.lanes() > 1, ..self }
    }

    /// Number of lanes.
    fn lanes(&self) -> u32 {
        if let How::Steps(steps) = self.how { steps.lanes(&self.shape) } else { 1 }
    }

    /// Upper bound on the number of rounds of a lane.
    fn rounds(&self) -> u64 {
        if let How::Steps(steps) = self.how { steps.rounds(&self.shape) } else { 1 }
    }

    /// Number of labels of a pair of tasks in one iteration.
    pub(super) fn labels(&self) -> u64 {
        self.rounds() * u64::from(self.lanes()) * u64::from(self.chunks)
    }

    /// Number of messages of all tasks in one iteration, at most.
    pub(super) fn messages(&self, tasks: u32) -> u64 {
        let (members, groups) = (u64::from(self.shape.size), u64::from(tasks / self.shape.size));
        let of_group = match self.how {
            How::Steps(steps) => steps.messages(&self.shape),
            How::Messages(
                Algorithm::PairwiseExchange | Algorithm::Scattered | Algorithm::Ring | Algorithm::ScatterRing,
            ) => (members - 1) * (members + 1),
            How::Messages(_) => (members - 1) * 2 * u64::from(self.shape.size.ilog2() + 2),
        };
        of_group.saturating_mul(u64::from(self.chunks)).saturating_mul(groups)
    }

    /// Number of pieces into which the part of a lane is cut.
    fn pieces(&self) -> u32 {
        if let How::Steps(steps) = self.how { steps.pieces(&self.shape) } else { 1 }
    }

    /// The tasks of the group of a task, and its number among them.
    pub(super) fn group_of(&self, task: u32) -> (impl Fn(u32) -> u32 + use<>, u32) {
        let block = self.shape.size * self.stride;
        let (first, stride) = (task / block * block + task % self.stride, self.stride);
        (move |member| first + member * stride, task % block / self.stride)
    }

    /// The groups, each with its name and its tasks; a group of all tasks has no name.
    pub(super) fn groups(&self, tasks: u32) -> impl Iterator<Item = (Option<String>, Vec<u32>)> {
        let of_first = move |first: u32| {
            let (task_of, _) = self.group_of(first);
            let ranks: Vec<u32> = (0..self.shape.size).map(task_of).collect();
            let last = ranks.last().copied().unwrap_or(first);
            let name =
                if self.stride > 1 { format!("{first}-{last}/{}", self.stride) } else { format!("{first}-{last}") };
            (Some(name).filter(|_| self.shape.size < tasks), ranks)
        };
        (0..tasks).filter(|&task| self.group_of(task).1 == 0).map(of_first)
    }

    /// Writes the steps of a task: of one chunk in the order of rounds; several follow each other.
    pub(super) fn write(&self, task: u32, steps: &mut Steps) {
        let (task_of, member) = self.group_of(task);
        let schedule = match self.how {
            How::Steps(schedule) => schedule,
            How::Messages(algorithm) => return self.write_messages(algorithm, member, task_of, steps),
        };
        let scripts: Vec<Vec<Step>> = (0..self.lanes())
            .map(|lane| {
                let mut script = Vec::new();
                schedule.steps(&self.shape, lane, member, &mut |step| script.push(step));
                // Of a round, a member sends before it receives.
                script.sort_by_key(|step| (step.round, step.action != Action::Send));
                script
            })
            .collect();
        match self.chunks {
            1 => self.write_rounds(&scripts, task_of, steps),
            _ => self.write_pipeline(&scripts, task_of, steps),
        }
    }

    /// Writes the messages of an algorithm of MPI, which have one tag: those of a pair are received in their order.
    fn write_messages(&self, algorithm: Algorithm, member: u32, task_of: impl Fn(u32) -> u32, steps: &mut Steps) {
        let operation = operation(self.shape.kind, self.shape.size, steps.bytes);
        let communicator: Vec<TaskId> = (0..self.shape.size).map(|member| TaskId(task_of(member))).collect();
        let (tag, mut requests) = (steps.tag(0), RequestPool::new());
        let done = expand(&operation, algorithm, &communicator, member as usize, tag, &mut requests, steps.events);
        // The row serves the kind, and every member is one of the communicator.
        debug_assert!(done.is_ok(), "{done:?}");
    }

    /// Size \[bytes\] and label of the message of a step of a chunk in a lane.
    fn message(&self, (lane, chunk, step): (u32, u32, &Step), bytes: u64) -> (u64, u64) {
        let parts = u64::from(self.lanes()) * u64::from(self.chunks);
        let part = u64::from(lane) * u64::from(self.chunks) + u64::from(chunk);
        let size = size_of(bytes, (part, parts), self.pieces(), step.pieces);
        (size, part * self.rounds() + u64::from(step.round))
    }

    /// Writes the steps of one chunk, round after round: what a task sends, without waiting, and what it receives; in the
    /// end it waits until everything has been sent.
    fn write_rounds(&self, scripts: &[Vec<Step>], task_of: impl Fn(u32) -> u32, steps: &mut Steps) {
        let mut order: Vec<(u32, &Step)> =
            (0..).zip(scripts).flat_map(|(lane, script)| script.iter().map(move |step| (lane, step))).collect();
        order.sort_by_key(|&(lane, step)| (step.round, step.action != Action::Send, lane));
        let (all, mut requests) = (steps.bytes, 0);
        for (lane, step) in order {
            let (bytes, label) = self.message((lane, 0, step), all);
            steps.bytes = bytes;
            if step.action == Action::Send {
                steps.start_send(task_of(step.peer), label, requests);
                requests += 1;
            } else {
                steps.receive(task_of(step.peer), label);
            }
        }
        steps.bytes = all;
        if requests > 0 {
            steps.wait_all(0..requests);
        }
    }

    /// Writes the steps of all chunks: every receive is posted at once, and every send begins when the pieces that it
    /// carries are there, whatever else is under way. Data that the task has from the beginning are not all sent at once
    /// where they would stand before those of another lane in the queue of the node.
    fn write_pipeline(&self, scripts: &[Vec<Step>], task_of: impl Fn(u32) -> u32, steps: &mut Steps) {
        let all = steps.bytes;
        // By lane and step: the steps of the lane whose data a send carries.
        let sources: Vec<Vec<Vec<u32>>> = scripts.iter().map(|script| sources(script, self.pieces())).collect();
        // Round, chunk, lane, number of the step.
        let mut order: Vec<(u32, u32, u32, usize)> = Vec::new();
        for (lane, script) in (0..).zip(scripts) {
            for (number, step) in script.iter().enumerate() {
                order.extend((0..self.chunks).map(|chunk| (step.round, chunk, lane, number)));
            }
        }
        order.sort_unstable();
        // By lane: the first request of its receives. Those of a step stand together, in the order of chunks.
        let mut requests = 0;
        let mut request_of: Vec<Vec<u32>> = Vec::new();
        for script in scripts {
            let next = |step: &Step| {
                let first = requests;
                requests += if step.action == Action::Send { 0 } else { self.chunks };
                first
            };
            request_of.push(script.iter().map(next).collect());
        }
        for &(_, chunk, lane, number) in &order {
            let step = &scripts[lane as usize][number];
            if step.action != Action::Send {
                let (bytes, label) = self.message((lane, chunk, step), all);
                steps.bytes = bytes;
                steps.start_receive(task_of(step.peer), label, request_of[lane as usize][number] + chunk);
            }
        }
        let mut after = Vec::new();
        // By lane: the requests of the last sends of data of the task itself, the older first.
        let mut own: Vec<VecDeque<u32>> = vec![VecDeque::new(); scripts.len()];
        for &(_, chunk, lane, number) in &order {
            let step = &scripts[lane as usize][number];
            if step.action != Action::Send {
                continue;
            }
            let of_step = |&source: &u32| request_of[lane as usize][source as usize] + chunk;
            let mut needed: Vec<u32> = sources[lane as usize][number].iter().map(of_step).collect();
            if needed.is_empty() && self.is_paced {
                let own = &mut own[lane as usize];
                own.push_back(requests);
                needed.extend((own.len() > WINDOW).then(|| own.pop_front()).flatten());
            }
            if needed != after {
                steps.after(&needed);
                after = needed;
            }
            let (bytes, label) = self.message((lane, chunk, step), all);
            steps.bytes = bytes;
            steps.start_send(task_of(step.peer), label, requests);
            requests += 1;
        }
        steps.bytes = all;
        if !after.is_empty() {
            steps.after(&[]);
        }
        if requests > 0 {
            steps.wait_all(0..requests);
        }
    }
}

/// Number of messages of a task's own data that a lane has in the queue of its node.
const WINDOW: usize = 2;

/// For each step of a script that sends: the receives before it whose data it carries.
fn sources(script: &[Step], pieces: u32) -> Vec<Vec<u32>> {
    // By piece: the receives that its present data consist of, beside those of the task itself.
    let mut held: Vec<Vec<u32>> = vec![Vec::new(); pieces as usize];
    let of_step = |(number, step): (u32, &Step)| {
        let (first, count) = step.pieces;
        let range = &mut held[first as usize..(first + count) as usize];
        match step.action {
            Action::Send => {
                let mut all: Vec<u32> = range.iter().flatten().copied().collect();
                all.sort_unstable();
                all.dedup();
                return all;
            }
            Action::Combine => range.iter_mut().for_each(|piece| piece.push(number)),
            Action::Keep => range.iter_mut().for_each(|piece| *piece = vec![number]),
        }
        Vec::new()
    };
    (0..).zip(script).map(of_step).collect()
}

/// The operation of MPI of a kind: of a whole vector of so many bytes, or of blocks of so many.
fn operation(kind: CollectiveKind, size: u32, bytes: u64) -> Collective {
    let blocks = || (0..size).map(|piece| size_of(bytes, (0, 1), size, (piece, 1))).collect();
    let root = 0;
    match kind {
        CollectiveKind::AllReduce => Collective::Allreduce { bytes },
        CollectiveKind::Reduce => Collective::Reduce { root, bytes },
        CollectiveKind::AllGather => Collective::Allgatherv { blocks: blocks() },
        CollectiveKind::ReduceScatter => Collective::ReduceScatter { blocks: blocks() },
        CollectiveKind::Broadcast => Collective::Broadcast { root, bytes },
        CollectiveKind::Gather => Collective::Gather { root, bytes },
        CollectiveKind::Scatter => Collective::Scatter { root, bytes },
        CollectiveKind::AllToAll => Collective::Alltoall { bytes },
        CollectiveKind::Barrier => Collective::Barrier,
    }
}

/// The name of the algorithm of a kind where none is given.
const fn usual(kind: CollectiveKind) -> &'static str {
    match kind {
        CollectiveKind::AllReduce | CollectiveKind::AllGather | CollectiveKind::ReduceScatter => "ring",
        CollectiveKind::Reduce | CollectiveKind::Broadcast | CollectiveKind::Gather | CollectiveKind::Scatter => {
            "binomial-tree"
        }
        CollectiveKind::AllToAll => "direct",
        CollectiveKind::Barrier => "dissemination",
    }
}

/// The default of kinds that have an algorithm of two levels.
const BY_NETWORK: &str =
    "hierarchical on a network whose nodes have several GPUs, unless group, stride, chunks or grid is given; else ring";

/// The algorithm of a kind of collectives.
const fn algorithm(range: &'static str, default: &'static str) -> Parameter {
    Parameter {
        name: "algorithm",
        about: "algorithm, of those that {collectives} names too (`fsin list collectives`)",
        range,
        default,
    }
}

/// A kernel of this kind.
const fn kernel(kind: CollectiveKind) -> Kernel {
    Kernel {
        dimensions: &[],
        refuses: any_number,
        messages: |shape| shape.plan.as_ref().map_or(0, |plan| plan.messages(shape.tasks)),
        labels: |shape| shape.plan.as_ref().map_or(1, Plan::labels),
        task: |shape, task, steps| {
            if let Some(plan) = &shape.plan {
                // The steps of an all-to-all cut a vector of the blocks for all.
                if plan.shape.kind == CollectiveKind::AllToAll && matches!(plan.how, How::Steps(_)) {
                    steps.bytes = steps.bytes.saturating_mul(plan.shape.size.into());
                }
                plan.write(task, steps);
            }
        },
        collective: super::Collective::of_vectors(kind, ""),
    }
}

const SOURCE: &str = "Patarasuk and Yuan (2009), rings; Thakur, Rabenseifner, Gropp (2005), doubling, halving; Sanders, Speck, Traff, \
                      Two-tree algorithms for full bandwidth broadcast, reduction and scan (2009); Jain and Sabharwal (2010), tori";

pub(super) static ALL_REDUCE: Entry = Entry {
    component: Component {
        name: "all-reduce",
        about: "every task of a group gets the sum of all vectors, by a named algorithm, chunk by chunk",
        parameters: &[
            TASKS,
            BYTES,
            ITERATIONS,
            algorithm(
                "ring, bidirectional-ring, tree, double-tree, doubling, halving, rabenseifner, direct, torus, hierarchical",
                BY_NETWORK,
            ),
            GROUP,
            STRIDE,
            CHUNKS,
            TORUS,
        ],
        source: SOURCE,
    },
    aliases: &["allreduce", "AllReduce", "all_reduce"],
    build: kernel(CollectiveKind::AllReduce),
};

pub(super) static ALL_GATHER: Entry = Entry {
    component: Component {
        name: "all-gather",
        about: "every task of a group gets the pieces of all, by a named algorithm, chunk by chunk",
        parameters: &[
            TASKS,
            BYTES,
            ITERATIONS,
            algorithm("ring, bidirectional-ring, doubling, direct, torus, hierarchical, bruck", BY_NETWORK),
            GROUP,
            STRIDE,
            CHUNKS,
            TORUS,
        ],
        source: SOURCE,
    },
    aliases: &["allgather", "AllGather", "all_gather"],
    build: kernel(CollectiveKind::AllGather),
};

pub(super) static REDUCE_SCATTER: Entry = Entry {
    component: Component {
        name: "reduce-scatter",
        about: "every task of a group gets the sum of a piece of its own, by a named algorithm, chunk by chunk",
        parameters: &[
            TASKS,
            BYTES,
            ITERATIONS,
            algorithm("ring, bidirectional-ring, halving, direct, torus, hierarchical, pairwise-exchange", BY_NETWORK),
            GROUP,
            STRIDE,
            CHUNKS,
            TORUS,
        ],
        source: SOURCE,
    },
    aliases: &["reducescatter", "ReduceScatter", "reduce_scatter"],
    build: kernel(CollectiveKind::ReduceScatter),
};

/// A kind without groups or chunks.
const fn plain(
    kind: CollectiveKind,
    name: &'static str,
    about: &'static str,
    parameters: &'static [Parameter],
    aliases: &'static [&'static str],
) -> Entry {
    let of_blocks = matches!(kind, CollectiveKind::Gather | CollectiveKind::Scatter | CollectiveKind::AllToAll);
    let collective = Some(super::Collective { kind, algorithm: "", of_blocks });
    Entry {
        component: Component { name, about, parameters, source: SOURCE },
        aliases,
        build: Kernel { collective, ..kernel(kind) },
    }
}

const BLOCK: Parameter = Parameter { about: "size of the block of each task [bytes]", ..super::BYTES };

pub(super) static REDUCE: Entry = plain(
    CollectiveKind::Reduce,
    "reduce",
    "task 0 gets the sum of all vectors, by a named algorithm",
    &[TASKS, BYTES, ITERATIONS, algorithm("binomial-tree, linear, rabenseifner", "binomial-tree")],
    &["Reduce"],
);

pub(super) static SCATTER: Entry = plain(
    CollectiveKind::Scatter,
    "scatter",
    "every task gets its block of those of task 0, by a named algorithm",
    &[TASKS, BLOCK, ITERATIONS, algorithm("binomial-tree, linear", "binomial-tree")],
    &["Scatter"],
);

pub(super) static BARRIER: Entry = plain(
    CollectiveKind::Barrier,
    "barrier",
    "no task goes on before every task has come, by a named algorithm",
    &[TASKS, ITERATIONS, algorithm("dissemination, linear, direct", "dissemination")],
    &["Barrier"],
);

/// The parameter of kernels that have an algorithm of their own unless one is named.
pub(super) const NAMED: Parameter = Parameter {
    name: "algorithm",
    about: "algorithm, of those that {collectives} names too (`fsin list collectives`)",
    range: "one of the kind",
    default: "the kernel's own",
};

pub(super) static BROADCAST: Entry = plain(
    CollectiveKind::Broadcast,
    "broadcast",
    "every task gets the vector of task 0, by a named algorithm",
    &[TASKS, BYTES, ITERATIONS, NAMED],
    &[],
);

pub(super) static GATHER: Entry = plain(
    CollectiveKind::Gather,
    "gather",
    "task 0 gets the blocks of all tasks, by a named algorithm",
    &[TASKS, BLOCK, ITERATIONS, NAMED],
    &[],
);

pub(super) static ALL_TO_ALL: Entry = plain(
    CollectiveKind::AllToAll,
    "all-to-all",
    "every task has a block for every other, by a named algorithm",
    &[TASKS, BLOCK, ITERATIONS, NAMED],
    &[],
);

#[cfg(test)]
#[path = "named_tests.rs"]
mod tests;
