//! Kernels that combine a value of every task, in rounds over powers of two.

use super::{Entry, Kernel, PLAIN, any, one};
use crate::catalog::Component;

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
        refuses: any,
        messages: |shape| u64::from(shape.tasks) - 1,
        labels: one,
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
        labels: one,
        task: |shape, task, steps| {
            for k in 0..shape.tasks.ilog2() {
                let partner = task ^ (1 << k);
                steps.send(partner, 0);
                steps.receive(partner, 0);
            }
        },
    },
};
