//! Kernels that combine a value of every task, in rounds over powers of two.

use super::{Collective, Entry, Kernel, PLAIN, any_number, one_label};
use crate::catalog::Component;
use crate::trace::kind::CollectiveKind;

pub(super) static BINTREE: Entry = Entry {
    component: Component {
        name: "bintree",
        about: "reduction up a binomial tree: at level k, p = 2^k, task i with i mod 2p = p sends to i-p, and one with \
                i mod 2p = 0 receives from i+p if that exists; any number of tasks",
        parameters: PLAIN,
        source: "FSIN application kernels; Thakur, Rabenseifner, Gropp, Optimization of Collective Communication \
                 Operations in MPICH (2005)",
    },
    aliases: &[],
    build: Kernel {
        dimensions: &[],
        refuses: any_number,
        messages: |shape| u64::from(shape.tasks) - 1,
        collective: Collective::of_vectors(CollectiveKind::Reduce, "binomial tree"),
        labels: one_label,
        task: |shape, task, steps| {
            // A task receives at every level until its lowest 1 bit, where it sends and is done.
            let mut p = 1;
            while p < shape.tasks {
                if task & p != 0 {
                    steps.send(task - p, 0);
                    break;
                }
                if task + p < shape.tasks {
                    steps.receive(task + p, 0);
                }
                p *= 2;
            }
        },
    },
};

pub(super) static GATHER: Entry = Entry {
    component: Component {
        name: "gather",
        about: "the tree of bintree with blocks that add up: a task passes on its own block of `bytes` and those that it \
                received; any number of tasks",
        parameters: PLAIN,
        source: "FSIN application kernels; Thakur, Rabenseifner, Gropp, Optimization of Collective Communication \
                 Operations in MPICH (2005)",
    },
    aliases: &[],
    build: Kernel {
        dimensions: &[],
        refuses: any_number,
        messages: |shape| u64::from(shape.tasks) - 1,
        collective: Collective::of_blocks(CollectiveKind::Gather, "binomial tree"),
        labels: one_label,
        task: |shape, task, steps| {
            // The blocks of a task's subtree: up to its lowest 1 bit, as far as there are tasks.
            let blocks = |task: u32, p: u32| u64::from(p.min(shape.tasks - task));
            let mut p = 1;
            while p < shape.tasks {
                if task & p != 0 {
                    steps.bytes = shape.bytes.saturating_mul(blocks(task, p));
                    steps.send(task - p, 0);
                    break;
                }
                if task + p < shape.tasks {
                    steps.bytes = shape.bytes.saturating_mul(blocks(task + p, p));
                    steps.receive(task + p, 0);
                }
                p *= 2;
            }
        },
    },
};

pub(super) static BUTTERFLY_ALL_TO_ALL: Entry = Entry {
    component: Component {
        name: "butterfly-all-to-all",
        about: "all-to-all in log2 N rounds: in round k task i sends to i xor 2^k the N/2 blocks of `bytes` that it holds \
                for tasks whose bit k is the other, then receives as many; tasks a power of two",
        parameters: PLAIN,
        source: "FSIN application kernels; Johnsson and Ho, Optimum Broadcasting and Personalized Communication in \
                 Hypercubes (1989)",
    },
    aliases: &[],
    build: Kernel {
        dimensions: &[],
        refuses: |tasks| (!tasks.is_power_of_two()).then_some("a power of two"),
        messages: |shape| u64::from(shape.tasks) * u64::from(shape.tasks.ilog2()),
        collective: Collective::of_blocks(CollectiveKind::AllToAll, "butterfly"),
        labels: one_label,
        task: |shape, task, steps| {
            steps.bytes = shape.bytes.saturating_mul(u64::from(shape.tasks / 2));
            for k in 0..shape.tasks.ilog2() {
                let partner = task ^ (1 << k);
                steps.send(partner, 0);
                steps.receive(partner, 0);
            }
        },
    },
};

pub(super) static BUTTERFLY: Entry = Entry {
    component: Component {
        name: "butterfly",
        about: "all-reduce by recursive doubling: in round k task i sends to i xor 2^k, then receives from it; tasks a \
                power of two",
        parameters: PLAIN,
        source: "FSIN application kernels; Thakur, Rabenseifner, Gropp, Optimization of Collective Communication \
                 Operations in MPICH (2005)",
    },
    aliases: &[],
    build: Kernel {
        dimensions: &[],
        refuses: |tasks| (!tasks.is_power_of_two()).then_some("a power of two"),
        messages: |shape| u64::from(shape.tasks) * u64::from(shape.tasks.ilog2()),
        collective: Collective::of_vectors(CollectiveKind::AllReduce, "recursive doubling"),
        labels: one_label,
        task: |shape, task, steps| {
            for k in 0..shape.tasks.ilog2() {
                let partner = task ^ (1 << k);
                steps.send(partner, 0);
                steps.receive(partner, 0);
            }
        },
    },
};
