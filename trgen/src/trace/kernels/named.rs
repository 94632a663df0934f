//! Collectives by the names of their algorithms, on groups of tasks:
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

use super::hierarchical::HIERARCHICAL;
use super::schedule::{Action, Ring, Step, core, doubling, folded, halving, unfold};
use super::{Collective, Entry, ITERATIONS, Kernel, KernelContext, Shape, Steps, TASKS, any_number};
use crate::catalog::{Component, Parameter, SpecError};
use crate::synthetic::expr::Call;
use crate::trace::kind::CollectiveKind;

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

/// The algorithms of a kind, with what they are.
type Words = &'static [(&'static str, Name)];

const ALL: Words = &[
    ("ring", Name::Ring),
    ("bidirectional-ring", Name::Rings),
    ("tree", Name::Tree),
    ("double-tree", Name::Trees),
    ("doubling", Name::Doubling),
    ("halving", Name::Halving),
    ("direct", Name::Direct),
    ("torus", Name::Torus),
];
const GATHERING: Words = &[
    ("ring", Name::Ring),
    ("bidirectional-ring", Name::Rings),
    ("doubling", Name::Doubling),
    ("direct", Name::Direct),
    ("torus", Name::Torus),
];
const SCATTERING: Words = &[
    ("ring", Name::Ring),
    ("bidirectional-ring", Name::Rings),
    ("halving", Name::Halving),
    ("direct", Name::Direct),
    ("torus", Name::Torus),
];

/// A named algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Name {
    Ring,
    /// Two rings in opposite directions.
    Rings,
    Tree,
    /// Two trees: no task has children in both.
    Trees,
    Doubling,
    Halving,
    Direct,
    Torus,
}

/// What the tasks of a group do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    AllReduce,
    AllGather,
    ReduceScatter,
}

/// A collective among the tasks of each group, whose **members** are numbered from 0.
#[derive(Debug)]
pub(super) struct Plan {
    what: What,
    name: Name,
    /// The word for the algorithm.
    pub(super) word: &'static str,
    /// Number of members.
    pub(super) group: u32,
    stride: u32,
    chunks: u32,
    /// True if chunks of several lanes leave a task in turn.
    is_paced: bool,
    /// Sizes of the grid of the members; empty unless the algorithm needs one.
    grid: Vec<u32>,
}

impl Plan {
    /// Reads the parameters; `grid` reads the grid of a number of tasks.
    pub(super) fn read(
        call: &Call,
        tasks: u32,
        grid: impl Fn(u32) -> Result<Vec<u32>, SpecError>,
    ) -> Result<Self, SpecError> {
        let (what, words) = match call.name() {
            "all-gather" => (What::AllGather, GATHERING),
            "reduce-scatter" => (What::ReduceScatter, SCATTERING),
            _ => (What::AllReduce, ALL),
        };
        let mut indices: Vec<(&str, usize)> = words.iter().zip(0..).map(|(&(word, _), index)| (word, index)).collect();
        // Named in errors; a call that asks for it is one of another kernel.
        indices.push((HIERARCHICAL, 0));
        let is_given = call.given("algorithm").is_some();
        let (word, name) = words[if is_given { call.choice("algorithm", &indices)? } else { 0 }];
        let stride = call.integer("stride", 1..=tasks.into())? as u32;
        let is_all = call.given("group").is_none_or(|given| given.word() == Some("all"));
        let group = if is_all { tasks / stride } else { call.integer("group", 1..=tasks.into())? as u32 };
        if u64::from(group) * u64::from(stride) == 0
            || !u64::from(tasks).is_multiple_of(u64::from(group) * u64::from(stride))
        {
            let problem = format!("{tasks} tasks are no whole number of groups of {group} at distances of {stride}");
            return Err(call.refuse_all(&problem, "use a group and a stride whose product divides the number of tasks"));
        }
        let is_cube = matches!((what, name), (What::AllGather, Name::Doubling) | (What::ReduceScatter, Name::Halving));
        if is_cube && !group.is_power_of_two() {
            let problem = format!("`{}` by {word} needs groups of a power of two of tasks, not {group}", call.name());
            return Err(call.refuse_all(&problem, "use algorithm=ring, or another group"));
        }
        let grid = match name {
            Name::Torus => grid(group)?,
            _ if call.given("grid").is_some() => {
                return Err(call.refuse_all(&format!("grid has no meaning with algorithm={word}"), "leave it out"));
            }
            _ => Vec::new(),
        };
        Ok(Self {
            what,
            name,
            word,
            group,
            stride,
            chunks: call.integer("chunks", 1..=65_536)? as u32,
            is_paced: false,
            grid,
        })
    }

    /// The same on a network.
    pub(super) fn paced(self, context: &KernelContext) -> Self {
        Self { is_paced: context.sends_end_at_departure && self.lanes() > 1, ..self }
    }

    /// Number of lanes.
    fn lanes(&self) -> u32 {
        match self.name {
            Name::Rings | Name::Trees => 2,
            Name::Torus => 2 * self.grid.len() as u32,
            Name::Ring | Name::Tree | Name::Doubling | Name::Halving | Name::Direct => 1,
        }
    }

    /// Upper bound on the number of rounds of a lane.
    const fn rounds(&self) -> u64 {
        2 * self.group as u64 + 64
    }

    /// Number of labels of a pair of tasks in one iteration.
    pub(super) fn labels(&self) -> u64 {
        self.rounds() * u64::from(self.lanes()) * u64::from(self.chunks)
    }

    /// Number of messages of all tasks in one iteration.
    pub(super) fn messages(&self, tasks: u32) -> u64 {
        let members = u64::from(self.group);
        let shape = self.members();
        let (core, folded) = (u64::from(core(&shape)), u64::from(self.group - core(&shape)));
        let turns = if self.what == What::AllReduce { 2 } else { 1 };
        let of_lane = match self.name {
            Name::Ring | Name::Rings | Name::Direct => turns * members * (members - 1),
            Name::Torus => turns * members * self.grid.iter().map(|&size| u64::from(size) - 1).sum::<u64>(),
            Name::Tree | Name::Trees => 2 * (members - 1),
            Name::Doubling => core * u64::from(core.ilog2()) + 2 * folded,
            Name::Halving => turns * core * u64::from(core.ilog2()) + 2 * folded,
        };
        let groups = u64::from(tasks / self.group);
        of_lane.saturating_mul(u64::from(self.lanes())).saturating_mul(u64::from(self.chunks)).saturating_mul(groups)
    }

    /// The members as a shape of their own.
    const fn members(&self) -> Shape {
        Shape::new(self.group, Vec::new())
    }

    /// Number of pieces into which the part of a lane is cut.
    pub(super) fn pieces(&self) -> u32 {
        match self.name {
            Name::Ring | Name::Rings | Name::Direct | Name::Torus => self.group,
            Name::Tree | Name::Trees => 1,
            Name::Doubling if self.what == What::AllReduce => 1,
            Name::Doubling => self.group,
            Name::Halving => core(&self.members()),
        }
    }

    /// The tasks of the group of a task, and its number among them.
    pub(super) fn group_of(&self, task: u32) -> (impl Fn(u32) -> u32 + use<>, u32) {
        let block = self.group * self.stride;
        let (first, stride) = (task / block * block + task % self.stride, self.stride);
        (move |member| first + member * stride, task % block / self.stride)
    }

    /// The groups, each with its name and its tasks; a group of all tasks has no name.
    pub(super) fn groups(&self, tasks: u32) -> impl Iterator<Item = (Option<String>, Vec<u32>)> {
        let of_first = move |first: u32| {
            let (task_of, _) = self.group_of(first);
            let ranks: Vec<u32> = (0..self.group).map(task_of).collect();
            let last = ranks.last().copied().unwrap_or(first);
            let name =
                if self.stride > 1 { format!("{first}-{last}/{}", self.stride) } else { format!("{first}-{last}") };
            (Some(name).filter(|_| self.group < tasks), ranks)
        };
        (0..tasks).filter(|&task| self.group_of(task).1 == 0).map(of_first)
    }

    /// Writes a member's steps in a lane. Of a round, a member sends before it receives.
    pub(super) fn steps(&self, lane: u32, member: u32, out: &mut dyn FnMut(Step)) {
        let reduces = self.what != What::AllGather;
        let gathers = self.what != What::ReduceScatter;
        match self.name {
            Name::Ring | Name::Rings | Name::Torus => {
                let rings = self.rings(lane, member);
                let mut round = 0;
                if reduces {
                    round = rings.iter().fold(round, |round, ring| ring.reduce_scatter(round, out));
                }
                if gathers {
                    rings.iter().rev().fold(round, |round, ring| ring.all_gather(round, out));
                }
            }
            Name::Tree | Name::Trees => self.tree(lane, member, out),
            Name::Direct => {
                let others = || (1..self.group).map(move |k| (member + k) % self.group);
                if reduces {
                    others().for_each(|peer| out(Step { action: Action::Send, peer, pieces: (peer, 1), round: 0 }));
                    let own = (member, 1);
                    others().for_each(|peer| out(Step { action: Action::Combine, peer, pieces: own, round: 0 }));
                }
                if gathers {
                    let own = (member, 1);
                    others().for_each(|peer| out(Step { action: Action::Send, peer, pieces: own, round: 1 }));
                    others().for_each(|peer| out(Step { action: Action::Keep, peer, pieces: (peer, 1), round: 1 }));
                }
            }
            Name::Doubling if self.what == What::AllGather => {
                doubling(self.group, member, 0, |number| number, out);
            }
            Name::Halving if self.what == What::ReduceScatter => {
                halving(self.group, member, 0, |number| number, out);
            }
            Name::Doubling => {
                let shape = self.members();
                let rounds = core(&shape).ilog2();
                folded(&shape, member, 1, rounds + 1, out, |number, out| {
                    for round in 1..=rounds {
                        let peer = unfold(&shape, number ^ (1 << (round - 1)));
                        out(Step { action: Action::Send, peer, pieces: (0, 1), round });
                        out(Step { action: Action::Combine, peer, pieces: (0, 1), round });
                    }
                });
            }
            Name::Halving => {
                let shape = self.members();
                let size = core(&shape);
                folded(&shape, member, size, 2 * size.ilog2() + 1, out, |number, out| {
                    let round = halving(size, number, 1, |number| unfold(&shape, number), out);
                    doubling(size, number, round, |number| unfold(&shape, number), out);
                });
            }
        }
    }

    /// The rings of a member in a lane: of two lanes the second goes the other way round; of those of a torus each
    /// begins with another dimension, and the second half goes the other way round.
    fn rings(&self, lane: u32, member: u32) -> Vec<Ring> {
        let whole = [self.group];
        let grid = if self.name == Name::Torus { &*self.grid } else { &whole };
        let dimensions = grid.len();
        let is_reversed = lane as usize >= dimensions;
        let (mut first, mut part) = (0, self.group);
        let ring = |at: usize| {
            let dimension = (at + lane as usize) % dimensions;
            let (size, stride) = (grid[dimension], grid[..dimension].iter().product::<u32>());
            let place = member / stride % size;
            let at = |to: u32| member - place * stride + to % size * stride;
            let (after, before) = (at(place + 1), at(place + size - 1));
            part /= size;
            let (place, before, after) =
                if is_reversed { (size - 1 - place, after, before) } else { (place, before, after) };
            let ring = Ring { size, place, before, after, first, part };
            first += place * part;
            ring
        };
        (0..dimensions).map(ring).collect()
    }

    /// Up a binary tree and down again. Member m of the first tree has children 2m+1 and 2m+2; the second is its mirror
    /// image, in which those with children have none in the first.
    fn tree(&self, lane: u32, member: u32, out: &mut dyn FnMut(Step)) {
        let mirrored = |member: u32| if lane == 0 { member } else { self.group - 1 - member };
        let (own, pieces) = (mirrored(member), (0, 1));
        let depth_of = |member: u32| (member + 1).ilog2();
        let (depth, deepest) = (depth_of(own), depth_of(self.group - 1));
        let children = || [2 * own + 1, 2 * own + 2].into_iter().filter(|&child| child < self.group).map(mirrored);
        let parent = (own > 0).then(|| mirrored((own.max(1) - 1) / 2));
        for peer in children() {
            out(Step { action: Action::Combine, peer, pieces, round: deepest - depth - 1 });
        }
        if let Some(peer) = parent {
            out(Step { action: Action::Send, peer, pieces, round: deepest - depth });
            out(Step { action: Action::Keep, peer, pieces, round: deepest + depth - 1 });
        }
        for peer in children() {
            out(Step { action: Action::Send, peer, pieces, round: deepest + depth });
        }
    }

    /// Writes the steps of a task: of one chunk in the order of rounds; several follow each other.
    pub(super) fn write(&self, task: u32, steps: &mut Steps) {
        let (task_of, member) = self.group_of(task);
        let scripts: Vec<Vec<Step>> = (0..self.lanes())
            .map(|lane| {
                let mut script = Vec::new();
                self.steps(lane, member, &mut |step| script.push(step));
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

    /// Size \[bytes\] and label of the message of a step of a chunk in a lane.
    fn message(&self, (lane, chunk, step): (u32, u32, &Step), bytes: u64) -> (u64, u64) {
        let parts = u128::from(self.lanes()) * u128::from(self.chunks);
        // Offsets in the vector: of the part of this chunk, and of a piece in it.
        let part = u64::from(lane) * u64::from(self.chunks) + u64::from(chunk);
        let begin = |part: u64| (u128::from(bytes) * u128::from(part) / parts) as u64;
        let (length, pieces) = (begin(part + 1) - begin(part), u64::from(self.pieces()));
        let start = |piece: u32| u64::from(piece) * (length / pieces) + u64::from(piece).min(length % pieces);
        let (first, count) = step.pieces;
        (start(first + count) - start(first), part * self.rounds() + u64::from(step.round))
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

/// The algorithm of a kind of collectives.
const fn algorithm(range: &'static str) -> Parameter {
    Parameter {
        name: "algorithm",
        about: "ring; bidirectional-ring, half of the vector each way round; tree, up a binary tree and down; double-tree, half of it \
                on a second tree whose inner tasks are leaves of the first; doubling, recursive doubling; halving, recursive halving, then \
                doubling; direct, each to each; torus, on the rings of a grid, a part of the vector in every order of dimensions and both \
                directions at once; hierarchical, within the nodes of the network, which have several GPUs, and between them",
        range,
        default: "hierarchical on such a network unless group, stride, chunks or grid is given, else ring",
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
                plan.write(task, steps);
            }
        },
        collective: Collective::of_vectors(kind, ""),
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
            algorithm("ring, bidirectional-ring, tree, double-tree, doubling, halving, direct, torus, hierarchical"),
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
            algorithm("ring, bidirectional-ring, doubling, direct, torus, hierarchical"),
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
            algorithm("ring, bidirectional-ring, halving, direct, torus, hierarchical"),
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

#[cfg(test)]
#[path = "named_tests.rs"]
mod tests;
