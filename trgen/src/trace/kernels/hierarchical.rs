//! Collectives of machines with two levels: within groups of tasks, and between the groups.
//!
//! The tasks form groups of equal size, `group` consecutive ones each: the GPUs of a node. Tasks of the same place in
//! their groups exchange data between groups, each over the rail of its own place. So each group moves a share of the
//! vector over each of its rails at once, and data cross the slower level once.
//!
//! With N groups of g tasks, a vector of S bytes, and a message of B bytes within (between) groups that takes
//! a + B / b (A + B / R), where messages do not share links, an all-reduce takes
//! 2 (g - 1) (a + S / (g b)) + 2 (N - 1) (A + S / (g N R)). A reduce-scatter and an all-gather take half of that.
//!
//! # How the model departs from reality, and who could notice
//! Groups are of consecutive tasks, wherever a placement puts them; a study of placements on such machines should replay a
//! Chakra trace, whose collectives follow the placement.
//!
//! Libraries cut the shares into chunks that follow one another through the levels, which then overlap. A study of that
//! overlap should replay a trace with the chunks as messages.
//!
//! Decision: docs/decisions/0250-collectives-of-two-levels.md.

use super::exchange::{INTERLEAVE, ORDER, PIECE};
use super::machine_learning::{ALL_GATHER_TORUS_STEPS, ALL_REDUCE_TORUS_STEPS, REDUCE_SCATTER_TORUS_STEPS, VECTOR};
use super::schedule::{Action, Algorithm, Ring, Step, broadcast};
use super::{Choice, Collective, Entry, ITERATIONS, Kernel, Shape, Steps, TASKS, any_number};
use super::{collective, named, pairwise};
use crate::catalog::{Component, Parameter};
use crate::synthetic::expr;
use crate::trace::kind::CollectiveKind;

const GROUP: Parameter = Parameter {
    name: "group",
    about: "tasks of a group, which divides their number",
    range: "1..=1048576",
    default: "GPUs of a node of the network",
};
const BLOCK: Parameter =
    Parameter { name: "bytes", about: "size of the block of each pair of tasks [bytes]", ..super::BYTES };
const OF_VECTORS: &[Parameter] = &[TASKS, VECTOR, ITERATIONS, GROUP];
const OF_BLOCKS: &[Parameter] = &[TASKS, BLOCK, ITERATIONS, GROUP];

const LEVELS: &str = "Cho, Finkler, Serrano, Kung, Hunter, BlueConnect: Decomposing All-Reduce for Deep Learning on \
                      Heterogeneous Network Hierarchy (2019)";
const TREE: &str = "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005)";

/// Tasks of a group, and groups.
fn levels(shape: &Shape) -> (u32, u32) {
    // A kernel of this file is not written without groups.
    (shape.grid.first().copied().unwrap_or(1), shape.grid.get(1).copied().unwrap_or(shape.tasks))
}

/// Number of messages of all tasks if each sends one to every other of its group, and to every other of its place.
fn once_each(shape: &Shape) -> u64 {
    let (group, groups) = levels(shape);
    u64::from(shape.tasks) * (u64::from(group - 1) + u64::from(groups - 1))
}

/// Upper bound on the rounds of a kernel of this file.
fn rounds(shape: &Shape) -> u64 {
    2 * u64::from(shape.tasks) + 64
}

/// A kernel of this file.
const fn entry(
    name: &'static str,
    about: &'static str,
    parameters: &'static [Parameter],
    collective: Option<Collective>,
    messages: fn(&Shape) -> u64,
    task: fn(&Shape, u32, &mut Steps),
) -> Entry {
    Entry {
        component: Component { name, about, parameters, source: LEVELS },
        aliases: &[],
        build: Kernel { dimensions: &[], refuses: any_number, messages, labels: rounds, task, collective },
    }
}

pub(super) const BROADCAST_STEPS: Algorithm = Algorithm {
    pieces: |shape| levels(shape).0,
    steps: |shape, task, out| {
        let (group, groups) = levels(shape);
        let (number, place) = (task / group, task % group);
        let ring = Ring::within(group, task, 1);
        if task == 0 {
            (1..group).for_each(|peer| out(Step { action: Action::Send, peer, pieces: (peer, 1), round: 0 }));
        } else if number == 0 {
            out(Step { action: Action::Keep, peer: 0, pieces: (place, 1), round: 0 });
        }
        let round = broadcast(groups, number, 1, (place, 1), |number| number * group + place, out);
        ring.all_gather(round, out);
    },
};

pub(super) static ALL_REDUCE_HIERARCHICAL: Entry = entry(
    "all-reduce-hierarchical",
    "every task gets the sum of all vectors: a reduce-scatter on the ring of each group, an all-reduce of each share on the ring \
     of the tasks with the same place in their groups, an all-gather on the ring of each group",
    OF_VECTORS,
    Collective::of_vectors(CollectiveKind::AllReduce, HIERARCHICAL),
    |shape| 2 * once_each(shape),
    |shape, task, steps| ALL_REDUCE_TORUS_STEPS.write(shape, task, steps),
);
pub(super) static REDUCE_SCATTER_HIERARCHICAL: Entry = entry(
    "reduce-scatter-hierarchical",
    "every task gets the sum of a piece of its own: a reduce-scatter on the ring of each group, then of each share on the ring of \
     the tasks with the same place in their groups",
    OF_VECTORS,
    Collective::of_vectors(CollectiveKind::ReduceScatter, HIERARCHICAL),
    once_each,
    |shape, task, steps| REDUCE_SCATTER_TORUS_STEPS.write(shape, task, steps),
);
pub(super) static ALL_GATHER_HIERARCHICAL: Entry = entry(
    "all-gather-hierarchical",
    "every task gets the pieces of all: an all-gather on the ring of the tasks with the same place in their groups, then on the \
     ring of each group",
    OF_VECTORS,
    Collective::of_vectors(CollectiveKind::AllGather, HIERARCHICAL),
    once_each,
    |shape, task, steps| ALL_GATHER_TORUS_STEPS.write(shape, task, steps),
);
pub(super) static BROADCAST_HIERARCHICAL: Entry = entry(
    "broadcast-hierarchical",
    "every task gets the vector of task 0, which sends a share to each task of its group; each share goes down a binomial tree of \
     the tasks with the same place in their groups, and an all-gather on the ring of each group joins them",
    OF_VECTORS,
    Collective::of_vectors(CollectiveKind::Broadcast, HIERARCHICAL),
    |shape| {
        let (group, groups) = levels(shape);
        let (group, groups, tasks) = (u64::from(group), u64::from(groups), u64::from(shape.tasks));
        (group - 1) + group * (groups - 1) + tasks * (group - 1)
    },
    |shape, task, steps| BROADCAST_STEPS.write(shape, task, steps),
);
pub(super) static ALL_TO_ALL_HIERARCHICAL: Entry = entry(
    "all-to-all-hierarchical",
    "every task has a block for every other: each gives every task of its group the blocks for that place of all groups, then every \
     task of its place those for that group, partner after partner",
    OF_BLOCKS,
    Collective::of_blocks(CollectiveKind::AllToAll, HIERARCHICAL),
    once_each,
    |shape, task, steps| {
        let (group, groups) = levels(shape);
        let (number, place) = (task / group, task % group);
        steps.bytes = shape.bytes.saturating_mul(groups.into());
        for by in 1..group {
            steps.send(number * group + (place + by) % group, 0);
            steps.receive(number * group + (place + group - by) % group, 0);
        }
        steps.bytes = shape.bytes.saturating_mul(group.into());
        for by in 1..groups {
            steps.send((number + by) % groups * group + place, 1);
            steps.receive((number + groups - by) % groups * group + place, 1);
        }
    },
);

/// The name of the algorithm, in results too.
pub(super) const HIERARCHICAL: &str = "hierarchical";

pub(super) const BROADCAST_TREE_STEPS: Algorithm = Algorithm {
    pieces: |_| 1,
    steps: |shape, task, out| {
        broadcast(shape.tasks, task, 0, (0, 1), |number| number, out);
    },
};

pub(super) static BROADCAST_TREE: Entry = Entry {
    component: Component {
        name: "broadcast-tree",
        about: "every task gets the vector of task 0, down a binomial tree: one that has it gives it to the task half the rest of the \
                tasks away",
        parameters: &[TASKS, VECTOR, ITERATIONS],
        source: TREE,
    },
    aliases: &[],
    build: Kernel {
        dimensions: &[],
        refuses: any_number,
        messages: |shape| u64::from(shape.tasks - 1),
        labels: rounds,
        task: |shape, task, steps| BROADCAST_TREE_STEPS.write(shape, task, steps),
        collective: Collective::of_vectors(CollectiveKind::Broadcast, "binomial tree"),
    },
};

/// A kernel of two levels on networks that have them, and else the one that is `flat`, whose name and parameters it has.
const fn chosen(flat: &'static Entry, levels: &'static Entry) -> expr::Entry<Choice> {
    let build = Choice { levels, flat, named: flat, is_by_network: true };
    expr::Entry { component: flat.component, aliases: flat.aliases, build }
}

pub(super) static ALL_REDUCE: expr::Entry<Choice> = chosen(&named::ALL_REDUCE, &ALL_REDUCE_HIERARCHICAL);
pub(super) static REDUCE_SCATTER: expr::Entry<Choice> = chosen(&named::REDUCE_SCATTER, &REDUCE_SCATTER_HIERARCHICAL);
pub(super) static ALL_GATHER: expr::Entry<Choice> = chosen(&named::ALL_GATHER, &ALL_GATHER_HIERARCHICAL);
pub(super) static BROADCAST: expr::Entry<Choice> = expr::Entry {
    component: Component {
        name: "broadcast",
        about: "broadcast-hierarchical where the nodes of the network have several GPUs; else broadcast-tree",
        parameters: &[TASKS, VECTOR, ITERATIONS, named::NAMED],
        source: "fsin",
    },
    aliases: &["bcast", "Broadcast"],
    build: Choice {
        levels: &BROADCAST_HIERARCHICAL,
        flat: &BROADCAST_TREE,
        named: &named::BROADCAST,
        is_by_network: true,
    },
};
pub(super) static ALL_TO_ALL: expr::Entry<Choice> = expr::Entry {
    component: Component {
        parameters: &[TASKS, super::BYTES, ITERATIONS, ORDER, PIECE, INTERLEAVE, named::NAMED],
        ..pairwise::ALL_TO_ALL.component
    },
    aliases: pairwise::ALL_TO_ALL.aliases,
    build: Choice {
        levels: &ALL_TO_ALL_HIERARCHICAL,
        flat: &pairwise::ALL_TO_ALL,
        named: &named::ALL_TO_ALL,
        is_by_network: false,
    },
};
pub(super) static GATHER: expr::Entry<Choice> = expr::Entry {
    component: Component {
        parameters: &[TASKS, super::BYTES, ITERATIONS, named::NAMED],
        ..collective::GATHER.component
    },
    aliases: collective::GATHER.aliases,
    // A gather has no algorithm of two levels, and does not name one.
    build: Choice {
        levels: &collective::GATHER,
        flat: &collective::GATHER,
        named: &named::GATHER,
        is_by_network: false,
    },
};

#[cfg(test)]
mod tests {
    use crate::Geometry;
    use crate::trace::kernels::{collectives, parse};

    #[test]
    fn the_network_decides_where_the_kernel_does_not() {
        let machine = Geometry::new(&[16]).unwrap().with_group(4).unwrap();
        let flat = Geometry::new(&[16]).unwrap();
        let named = |text: &str, geometry: &Geometry| {
            let found = &collectives(text, 16, Some(geometry)).unwrap()[0];
            (found.algorithm, parse(text, 16, Some(geometry)).unwrap().totals().point_to_point_messages)
        };
        for (text, geometry, algorithm, messages) in [
            ("all-reduce", &machine, "hierarchical", 2 * 16 * (3 + 3)),
            ("AllReduce", &flat, "ring", 2 * 16 * 15),
            ("all-reduce-hierarchical:group=2", &flat, "hierarchical", 2 * 16 * (1 + 7)),
            ("all-reduce:algorithm=hierarchical", &machine, "hierarchical", 2 * 16 * (3 + 3)),
            ("all-reduce:algorithm=ring", &machine, "ring", 2 * 16 * 15),
            ("all-reduce:group=4", &machine, "ring", 4 * 2 * 4 * 3),
            ("all-reduce:tasks=6", &machine, "ring", 2 * 6 * 5),
            ("all-reduce:tasks=8", &machine, "hierarchical", 2 * 8 * (3 + 1)),
            ("all-gather", &machine, "hierarchical", 16 * (3 + 3)),
            ("reduce-scatter", &machine, "hierarchical", 16 * (3 + 3)),
            ("broadcast", &machine, "hierarchical", 3 + 4 * 3 + 16 * 3),
            ("broadcast", &flat, "binomial tree", 15),
            ("all-to-all-hierarchical", &machine, "hierarchical", 16 * (3 + 3)),
        ] {
            assert_eq!(named(text, geometry), (algorithm, messages), "{text}");
        }
        // Blocks for every other task travel twice, but for those within a group or between tasks of one place.
        let bytes = parse("all-to-all-hierarchical:bytes=10", 16, Some(&machine)).unwrap().totals();
        assert_eq!(bytes.point_to_point_bytes, 16 * 10 * (3 * 4 + 3 * 4));
        for (text, geometry, what) in [
            ("all-reduce-hierarchical", &flat, "needs groups of tasks"),
            ("all-reduce-hierarchical:tasks=6", &machine, "needs groups of tasks"),
            ("all-reduce-hierarchical:group=3", &machine, "16 tasks do not form groups of 3"),
            ("all-reduce:algorithm=hierarchical", &flat, "needs groups of tasks"),
            ("all-reduce:algorithm=hierarchical,group=4", &machine, "are those of the other algorithms"),
        ] {
            let error = parse(text, 16, Some(geometry)).unwrap_err().to_string();
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
