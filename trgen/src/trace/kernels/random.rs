//! Kernels with random destinations. The draws are hashes of (run seed, iteration, task, message).

use super::{Entry, ITERATIONS, Kernel, Shape, Steps, TASKS, any_number};
use crate::catalog::{Component, Parameter};
use crate::rng::{Purpose, mix2, pick};

const MESSAGES: Parameter =
    Parameter { name: "messages", about: "messages of each task in an iteration", range: "1..=1048576", default: "64" };
const BYTES: Parameter = Parameter { default: "8", ..super::BYTES };

pub(super) static GUPS: Entry = Entry {
    component: Component {
        name: "gups",
        about: "random updates: every task sends many small messages, each to another task drawn uniformly, then receives those that \
                came to it",
        parameters: &[TASKS, BYTES, ITERATIONS, MESSAGES],
        source: "HPC Challenge, RandomAccess (2005)",
    },
    aliases: &[],
    build: KERNEL,
};

pub(super) static RANDOM_WAVES: Entry = Entry {
    component: Component {
        name: "random-waves",
        about: "waves one after another: in each, every task sends a few messages, each to another task drawn uniformly, and goes on \
                when it has received those that came to it",
        parameters: &[
            TASKS,
            super::BYTES,
            Parameter { default: "10", ..ITERATIONS },
            Parameter { default: "2", ..MESSAGES },
        ],
        source: "INSEE, Interconnection Network Simulation and Evaluation Environment",
    },
    aliases: &[],
    build: KERNEL,
};

/// The properties of both kernels.
const KERNEL: Kernel = Kernel {
    dimensions: &[],
    refuses: any_number,
    messages: |shape| if shape.tasks == 1 { 0 } else { u64::from(shape.tasks) * u64::from(shape.messages_per_task) },
    collective: None,
    labels: |shape| u64::from(shape.messages_per_task),
    task,
};

/// The destinations of every task in every iteration, and its sources.
#[derive(Debug)]
pub(super) struct Draws {
    /// By iteration, task and message: the receiver.
    to: Vec<u32>,
    /// Sender and number of every message, by iteration and receiver.
    from: Vec<(u32, u32)>,
    /// By iteration and receiver: index of its first entry in `from`; then the length of `from`.
    starts: Vec<usize>,
}

impl Draws {
    /// Requires two tasks or more. The caller bounds the number of messages.
    pub(super) fn new(shape: &Shape, iterations: u64) -> Self {
        let (tasks, per_task) = (shape.tasks as usize, shape.messages_per_task);
        let key = mix2(shape.seed, Purpose::Spatial as u64);
        let mut draws = Self { to: Vec::new(), from: Vec::new(), starts: vec![0] };
        for iteration in 0..iterations {
            let mut incoming = vec![Vec::new(); tasks];
            for task in 0..shape.tasks {
                for message in 0..per_task {
                    let drawn = mix2(mix2(mix2(key, iteration), u64::from(task)), u64::from(message));
                    let other = pick(drawn, shape.tasks - 1);
                    let to = other + u32::from(other >= task);
                    draws.to.push(to);
                    incoming[to as usize].push((task, message));
                }
            }
            for senders in incoming {
                draws.from.extend(senders);
                draws.starts.push(draws.from.len());
            }
        }
        draws
    }
}

/// Writes the steps of a task: sends to the drawn destinations, then receives.
fn task(shape: &Shape, task: u32, steps: &mut Steps) {
    let Some(draws) = &shape.draws else { return };
    let row = steps.iteration as usize * shape.tasks as usize + task as usize;
    let per_task = shape.messages_per_task as usize;
    for (message, &to) in draws.to[row * per_task..(row + 1) * per_task].iter().enumerate() {
        steps.send(to, message as u64);
    }
    for &(from, message) in &draws.from[draws.starts[row]..draws.starts[row + 1]] {
        steps.receive(from, u64::from(message));
    }
}
