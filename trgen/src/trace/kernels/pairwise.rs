//! Kernels in which one task or all tasks communicate with all.

use super::exchange::{INTERLEAVE, ORDER, PIECE};
use super::{BYTES, Collective, Entry, ITERATIONS, Kernel, PLAIN, Shape, TASKS, any_number, one_label};
use crate::catalog::Component;
use crate::trace::kind::CollectiveKind;

/// Source of most kernels of this file.
const SOURCE: &str = "FSIN application kernels";

/// A kernel without aliases.
const fn entry(name: &'static str, about: &'static str, kernel: Kernel) -> Entry {
    Entry { component: Component { name, about, parameters: PLAIN, source: SOURCE }, aliases: &[], build: kernel }
}

pub(super) static ONE_TO_ALL: Entry = entry(
    "one-to-all",
    "task 0 sends to 1, 2, ...; each receives",
    Kernel {
        dimensions: &[],
        refuses: any_number,
        messages: |shape| u64::from(shape.tasks) - 1,
        collective: None,
        labels: one_label,
        task: |shape, task, steps| match task {
            0 => (1..shape.tasks).for_each(|to| steps.send(to, 0)),
            _ => steps.receive(0, 0),
        },
    },
);

pub(super) static ALL_TO_ONE: Entry = entry(
    "all-to-one",
    "every task sends to task 0, which receives from 1, 2, ...",
    Kernel {
        dimensions: &[],
        refuses: any_number,
        messages: |shape| u64::from(shape.tasks) - 1,
        collective: None,
        labels: one_label,
        task: |shape, task, steps| match task {
            0 => (1..shape.tasks).for_each(|from| steps.receive(from, 0)),
            _ => steps.send(0, 0),
        },
    },
);

pub(super) static ALL_TO_ALL_PAIRWISE: Entry = Entry {
    component: Component {
        name: "all-to-all-pairwise",
        about: "in step k = 1, 2, ... task i sends to i+k and waits for the message of i-k (mod N)",
        parameters: PLAIN,
        source: "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005)",
    },
    aliases: &[],
    build: Kernel {
        dimensions: &[],
        refuses: any_number,
        messages: each_to_each,
        collective: Collective::of_blocks(CollectiveKind::AllToAll, "pairwise"),
        labels: one_label,
        task: |shape, task, steps| {
            let tasks = shape.tasks;
            for k in 1..tasks {
                steps.send((task + k) % tasks, 0);
                steps.receive((task + tasks - k) % tasks, 0);
            }
        },
    },
};

pub(super) static ALL_TO_ALL: Entry = Entry {
    component: Component {
        name: "all-to-all",
        about: "every task sends to all others, then receives from i-1, i-2, ...; by default to i+1, i+2, ... (mod N), one message after \
                another: everyone's k-th message travels k further",
        parameters: &[TASKS, BYTES, ITERATIONS, ORDER, PIECE, INTERLEAVE],
        source: SOURCE,
    },
    aliases: &["all-to-all-linear", "alltoall", "AllToAll", "all_to_all"],
    build: Kernel {
        dimensions: &[],
        refuses: any_number,
        messages: |shape| each_to_each(shape).saturating_mul(pieces(shape)),
        collective: Collective::of_blocks(CollectiveKind::AllToAll, "direct"),
        labels: pieces,
        task: |shape, task, steps| {
            if let Some(exchange) = &shape.exchange {
                exchange.write(shape, task, steps);
            }
        },
    },
};

/// Number of pieces of a message of an all-to-all.
fn pieces(shape: &Shape) -> u64 {
    shape.exchange.as_ref().map_or(1, |exchange| exchange.pieces(shape.bytes))
}

pub(super) static ALL_TO_ALL_PLAIN: Entry = entry(
    "all-to-all-plain",
    "every task sends to 0, 1, 2, ... but itself, then receives in that order: all messages to one task meet",
    Kernel {
        dimensions: &[],
        refuses: any_number,
        messages: each_to_each,
        collective: Collective::of_blocks(CollectiveKind::AllToAll, "direct"),
        labels: one_label,
        task: |shape, task, steps| {
            let others = || (0..shape.tasks).filter(move |&other| other != task);
            others().for_each(|to| steps.send(to, 0));
            others().for_each(|from| steps.receive(from, 0));
        },
    },
);

/// Number of messages if every task sends one to every other task.
fn each_to_each(shape: &Shape) -> u64 {
    let tasks = u64::from(shape.tasks);
    tasks * (tasks - 1)
}
