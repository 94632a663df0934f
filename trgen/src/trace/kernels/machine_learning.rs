//! Collectives of machine-learning systems. `bytes` is the whole vector; [`schedule`](super::schedule) explains how it
//! is cut.

use super::schedule::{Action, Algorithm, Ring, Step, core, doubling, folded, halving, rings, unfold};
use super::{Collective, Entry, ITERATIONS, Kernel, Shape, Steps, TASKS, any_number};
use crate::catalog::{Component, Parameter};
use crate::trace::kind::CollectiveKind;

pub(super) const VECTOR: Parameter =
    Parameter { name: "bytes", about: "size of the whole vector [bytes]", range: "0..=2^36", default: "65536" };
const SPREAD: Parameter = Parameter {
    name: "spread",
    about: "how much the size of a piece differs from the mean at most, as a share of it, drawn by the seed",
    range: "0..=1",
    default: "0",
};
const PARAMETERS: &[Parameter] = &[TASKS, VECTOR, ITERATIONS];
/// The parameters of the ring of all tasks.
const ON_RING: &[Parameter] = &[TASKS, VECTOR, ITERATIONS, SPREAD];
const ON_GRID: &[Parameter] = &[TASKS, VECTOR, ITERATIONS, super::GRID];

const RING: &str = "Patarasuk and Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations (2009)";
const THAKUR: &str = "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005)";
const TORUS: &str =
    "Jain and Sabharwal, Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects (2010)";

/// A kernel without aliases.
const fn entry(
    name: &'static str,
    about: &'static str,
    parameters: &'static [Parameter],
    source: &'static str,
    build: Kernel,
) -> Entry {
    Entry { component: Component { name, about, parameters, source }, aliases: &[], build }
}

/// The properties of a kernel whose messages are numbered by round.
const fn kernel(
    collective: Option<Collective>,
    dimensions: &'static [usize],
    refuses: fn(u32) -> Option<&'static str>,
    messages: fn(&Shape) -> u64,
    task: fn(&Shape, u32, &mut Steps),
) -> Kernel {
    // Upper bound on the rounds: two turns of the ring of all tasks, or two turns of a ring in every dimension.
    Kernel { dimensions, refuses, messages, labels: |shape| 2 * u64::from(shape.tasks) + 64, task, collective }
}

/// The condition of a kernel that needs a power of two of tasks.
const fn power_of_two(tasks: u32) -> Option<&'static str> {
    if tasks.is_power_of_two() { None } else { Some("a power of two") }
}

/// Number of tasks, which many algorithms also use as their number of pieces.
const fn tasks(shape: &Shape) -> u32 {
    shape.tasks
}

/// Number of messages of all tasks in one turn of the ring of all tasks.
fn ring_messages(shape: &Shape) -> u64 {
    u64::from(shape.tasks) * u64::from(shape.tasks - 1)
}

/// Number of messages of all tasks in one turn of the rings along every dimension of the grid.
fn grid_ring_messages(shape: &Shape) -> u64 {
    shape.grid.iter().map(|&size| u64::from(shape.tasks) * u64::from(size - 1)).sum()
}

/// Number of messages if, in each round, every task of the core (the largest power of two of tasks) sends one message
/// to its partner of the round.
fn exchanges(shape: &Shape) -> u64 {
    u64::from(core(shape.tasks)) * u64::from(core(shape.tasks).ilog2())
}

/// Number of additional messages for the tasks outside the core: each sends one at the beginning and receives one at
/// the end.
fn folds(shape: &Shape) -> u64 {
    2 * u64::from(shape.tasks - core(shape.tasks))
}

// The algorithms of the kernels below, which the tests use too.

pub(super) const ALL_REDUCE_RING_STEPS: Algorithm = Algorithm {
    pieces: tasks,
    steps: |shape, task, out| {
        let ring = Ring::all(shape.tasks, task);
        let round = ring.reduce_scatter(0, out);
        ring.all_gather(round, out);
    },
};
pub(super) const REDUCE_SCATTER_RING_STEPS: Algorithm = Algorithm {
    pieces: tasks,
    steps: |shape, task, out| {
        Ring::all(shape.tasks, task).reduce_scatter(0, out);
    },
};
pub(super) const ALL_GATHER_RING_STEPS: Algorithm = Algorithm {
    pieces: tasks,
    steps: |shape, task, out| {
        Ring::all(shape.tasks, task).all_gather(0, out);
    },
};
pub(super) const ALL_REDUCE_DOUBLING_STEPS: Algorithm = Algorithm {
    pieces: |_| 1,
    steps: |shape, task, out| {
        let rounds = core(shape.tasks).ilog2();
        folded(shape.tasks, task, 1, rounds + 1, out, |number, out| {
            for k in 0..rounds {
                let peer = unfold(shape.tasks, number ^ (1 << k));
                out(Step { action: Action::Send, peer, pieces: (0, 1), round: k + 1 });
                out(Step { action: Action::Combine, peer, pieces: (0, 1), round: k + 1 });
            }
        });
    },
};
pub(super) const ALL_REDUCE_HALVING_STEPS: Algorithm = Algorithm {
    pieces: |shape| core(shape.tasks),
    steps: |shape, task, out| {
        let size = core(shape.tasks);
        folded(shape.tasks, task, size, 2 * size.ilog2() + 1, out, |number, out| {
            let round = halving(size, number, 1, |number| unfold(shape.tasks, number), out);
            doubling(size, number, round, |number| unfold(shape.tasks, number), out);
        });
    },
};
pub(super) const REDUCE_SCATTER_HALVING_STEPS: Algorithm = Algorithm {
    pieces: tasks,
    steps: |shape, task, out| {
        halving(shape.tasks, task, 0, |number| number, out);
    },
};
pub(super) const ALL_GATHER_DOUBLING_STEPS: Algorithm = Algorithm {
    pieces: tasks,
    steps: |shape, task, out| {
        doubling(shape.tasks, task, 0, |number| number, out);
    },
};
pub(super) const REDUCE_SCATTER_TORUS_STEPS: Algorithm = Algorithm {
    pieces: tasks,
    steps: |shape, task, out| {
        rings(shape, task).iter().fold(0, |round, ring| ring.reduce_scatter(round, out));
    },
};
pub(super) const ALL_GATHER_TORUS_STEPS: Algorithm = Algorithm {
    pieces: tasks,
    steps: |shape, task, out| {
        rings(shape, task).iter().rev().fold(0, |round, ring| ring.all_gather(round, out));
    },
};
pub(super) const ALL_REDUCE_TORUS_STEPS: Algorithm = Algorithm {
    pieces: tasks,
    steps: |shape, task, out| {
        let rings = rings(shape, task);
        let round = rings.iter().fold(0, |round, ring| ring.reduce_scatter(round, out));
        rings.iter().rev().fold(round, |round, ring| ring.all_gather(round, out));
    },
};

pub(super) static ALL_REDUCE_RING: Entry = entry(
    "all-reduce-ring",
    "every task gets the sum of all vectors: N pieces go round the ring of tasks, once gathering the sum, once spreading it",
    ON_RING,
    RING,
    kernel(
        Collective::of_vectors(CollectiveKind::AllReduce, "ring"),
        &[],
        any_number,
        |shape| 2 * ring_messages(shape),
        |shape, task, steps| ALL_REDUCE_RING_STEPS.write(shape, task, steps),
    ),
);
pub(super) static ALL_REDUCE_DOUBLING: Entry = entry(
    "all-reduce-doubling",
    "the same by recursive doubling: in round k the whole vector to and from i xor 2^k; tasks beyond a power of two give \
     theirs to a neighbour first and get the sum last",
    PARAMETERS,
    THAKUR,
    kernel(
        Collective::of_vectors(CollectiveKind::AllReduce, "recursive doubling"),
        &[],
        any_number,
        |shape| exchanges(shape) + folds(shape),
        |shape, task, steps| ALL_REDUCE_DOUBLING_STEPS.write(shape, task, steps),
    ),
);
pub(super) static ALL_REDUCE_HALVING: Entry = entry(
    "all-reduce-halving",
    "the same by recursive halving, of which each task has the sum of a piece, and recursive doubling, which spreads the \
     pieces (Rabenseifner); tasks beyond a power of two as in all-reduce-doubling",
    PARAMETERS,
    THAKUR,
    kernel(
        Collective::of_vectors(CollectiveKind::AllReduce, "recursive halving"),
        &[],
        any_number,
        |shape| 2 * exchanges(shape) + folds(shape),
        |shape, task, steps| ALL_REDUCE_HALVING_STEPS.write(shape, task, steps),
    ),
);
pub(super) static REDUCE_SCATTER_RING: Entry = entry(
    "reduce-scatter-ring",
    "task i gets the sum of everyone's piece i: N pieces go once round the ring of tasks",
    ON_RING,
    RING,
    kernel(
        Collective::of_vectors(CollectiveKind::ReduceScatter, "ring"),
        &[],
        any_number,
        ring_messages,
        |shape, task, steps| REDUCE_SCATTER_RING_STEPS.write(shape, task, steps),
    ),
);
pub(super) static REDUCE_SCATTER_HALVING: Entry = entry(
    "reduce-scatter-halving",
    "the same by recursive halving: half of what is left to and from i xor N/2, i xor N/4, ...; tasks a power of two",
    PARAMETERS,
    THAKUR,
    kernel(
        Collective::of_vectors(CollectiveKind::ReduceScatter, "recursive halving"),
        &[],
        power_of_two,
        exchanges,
        |shape, task, steps| {
            REDUCE_SCATTER_HALVING_STEPS.write(shape, task, steps);
        },
    ),
);
pub(super) static ALL_GATHER_RING: Entry = entry(
    "all-gather-ring",
    "every task gets piece i of every task i: N pieces go once round the ring of tasks",
    ON_RING,
    RING,
    kernel(
        Collective::of_vectors(CollectiveKind::AllGather, "ring"),
        &[],
        any_number,
        ring_messages,
        |shape, task, steps| ALL_GATHER_RING_STEPS.write(shape, task, steps),
    ),
);
pub(super) static ALL_GATHER_DOUBLING: Entry = entry(
    "all-gather-doubling",
    "the same by recursive doubling: all that is held to and from i xor 1, i xor 2, i xor 4, ...; tasks a power of two",
    PARAMETERS,
    THAKUR,
    kernel(
        Collective::of_vectors(CollectiveKind::AllGather, "recursive doubling"),
        &[],
        power_of_two,
        exchanges,
        |shape, task, steps| ALL_GATHER_DOUBLING_STEPS.write(shape, task, steps),
    ),
);

const ALL_REDUCE_GRID: &str = "every task gets the sum of all vectors: a reduce-scatter on the rings along X, of its \
                               result along Y, ..., then all-gathers back in the other order";
const REDUCE_SCATTER_GRID: &str =
    "every task gets the sum of a piece of its own: a reduce-scatter on the rings along X, of its result along Y, ...";
const ALL_GATHER_GRID: &str =
    "every task gets the pieces of all: an all-gather on the rings along the last dimension, ..., then along X";

/// A kernel on the rings of a grid.
const fn on_grid(
    name: &'static str,
    about: &'static str,
    kind: CollectiveKind,
    dimensions: &'static [usize],
    messages: fn(&Shape) -> u64,
    task: fn(&Shape, u32, &mut Steps),
) -> Entry {
    entry(
        name,
        about,
        ON_GRID,
        TORUS,
        kernel(Collective::of_vectors(kind, "rings of a torus"), dimensions, any_number, messages, task),
    )
}

fn all_reduce_torus(shape: &Shape, task: u32, steps: &mut Steps) {
    ALL_REDUCE_TORUS_STEPS.write(shape, task, steps);
}

fn reduce_scatter_torus(shape: &Shape, task: u32, steps: &mut Steps) {
    REDUCE_SCATTER_TORUS_STEPS.write(shape, task, steps);
}

fn all_gather_torus(shape: &Shape, task: u32, steps: &mut Steps) {
    ALL_GATHER_TORUS_STEPS.write(shape, task, steps);
}

pub(super) static ALL_REDUCE_TORUS2D: Entry = on_grid(
    "all-reduce-torus2d",
    ALL_REDUCE_GRID,
    CollectiveKind::AllReduce,
    &[2],
    |shape| 2 * grid_ring_messages(shape),
    all_reduce_torus,
);
pub(super) static ALL_REDUCE_TORUS3D: Entry = on_grid(
    "all-reduce-torus3d",
    ALL_REDUCE_GRID,
    CollectiveKind::AllReduce,
    &[3],
    |shape| 2 * grid_ring_messages(shape),
    all_reduce_torus,
);
pub(super) static REDUCE_SCATTER_TORUS2D: Entry = on_grid(
    "reduce-scatter-torus2d",
    REDUCE_SCATTER_GRID,
    CollectiveKind::ReduceScatter,
    &[2],
    grid_ring_messages,
    reduce_scatter_torus,
);
pub(super) static REDUCE_SCATTER_TORUS3D: Entry = on_grid(
    "reduce-scatter-torus3d",
    REDUCE_SCATTER_GRID,
    CollectiveKind::ReduceScatter,
    &[3],
    grid_ring_messages,
    reduce_scatter_torus,
);
pub(super) static ALL_GATHER_TORUS2D: Entry = on_grid(
    "all-gather-torus2d",
    ALL_GATHER_GRID,
    CollectiveKind::AllGather,
    &[2],
    grid_ring_messages,
    all_gather_torus,
);
pub(super) static ALL_GATHER_TORUS3D: Entry = on_grid(
    "all-gather-torus3d",
    ALL_GATHER_GRID,
    CollectiveKind::AllGather,
    &[3],
    grid_ring_messages,
    all_gather_torus,
);
