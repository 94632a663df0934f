//! Collectives by the names of their algorithms, on groups of tasks:
//! `all-reduce:algorithm=double-tree,group=8,chunks=4`.
//!
//! The vector is cut into a part for each **lane** of the algorithm: two rings in opposite directions, two trees, or
//! the rings of a torus in every order of dimensions and both directions. A part is cut into chunks. Each chunk goes
//! through the steps of its lane; chunks follow each other at a distance of one round. So a task takes part in many
//! rounds at a time: of each round it sends what it has without waiting, then receives.
//!
//! # How the model departs from reality, and who could notice
//! A task receives in the order of rounds, and works on no later round before it has all messages of one. A library
//! with a thread for each lane would go on with another lane; where lanes are not equally fast, it gains from that.

use super::hierarchical::HIERARCHICAL;
use super::schedule::{Action, Ring, Step, core, doubling, folded, halving, unfold};
use super::{Collective, Entry, ITERATIONS, Kernel, Shape, Steps, TASKS, any_number};
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
        Ok(Self { what, name, word, group, stride, chunks: call.integer("chunks", 1..=65_536)? as u32, grid })
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

    /// Writes the steps of a task: of each round of all chunks what it sends, without waiting, and what it receives; in
    /// the end it waits until everything has been sent.
    pub(super) fn write(&self, task: u32, steps: &mut Steps) {
        let (task_of, member) = self.group_of(task);
        let (lanes, chunks, whole) = (self.lanes(), self.chunks, u128::from(steps.bytes));
        let parts = u128::from(lanes) * u128::from(chunks);
        let scripts: Vec<Vec<Step>> = (0..lanes)
            .map(|lane| {
                let mut script = Vec::new();
                self.steps(lane, member, &mut |step| script.push(step));
                script
            })
            .collect();
        // Round, receives after sends, chunk, lane, number of the step.
        let mut order: Vec<(u32, bool, u32, u32, usize)> = Vec::new();
        for (lane, script) in (0..).zip(&scripts) {
            for (number, step) in script.iter().enumerate() {
                let receives = step.action != Action::Send;
                order.extend((0..chunks).map(|chunk| (step.round + chunk, receives, chunk, lane, number)));
            }
        }
        order.sort_unstable();
        let mut requests = 0;
        for (_, receives, chunk, lane, number) in order {
            let Step { peer, pieces: (first, count), round, .. } = scripts[lane as usize][number];
            // Offsets in the vector: of the part of this chunk, and of a piece in it.
            let part = u64::from(lane) * u64::from(chunks) + u64::from(chunk);
            let begin = |part: u64| (whole * u128::from(part) / parts) as u64;
            let (length, pieces) = (begin(part + 1) - begin(part), u64::from(self.pieces()));
            let start = |piece: u32| u64::from(piece) * (length / pieces) + u64::from(piece).min(length % pieces);
            let label = part * self.rounds() + u64::from(round);
            let all = steps.bytes;
            steps.bytes = start(first + count) - start(first);
            if receives {
                steps.receive(task_of(peer), label);
            } else {
                steps.start_send(task_of(peer), label, requests);
                requests += 1;
            }
            steps.bytes = all;
        }
        if requests > 0 {
            steps.wait_all(0..requests);
        }
    }
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
