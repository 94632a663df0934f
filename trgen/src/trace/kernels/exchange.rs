//! The order in which the messages of an all-to-all are sent: whom a task sends to in which step, in which pieces, and
//! how many messages take turns.
//!
//! The destinations of a task are cut into groups of K = `interleave`. Of the messages of a group, the first pieces are
//! sent in turn, then the second pieces, and so on. Up to K pieces of a task are under way: a piece is issued when the
//! one that is K before it has been sent. The interface of the node decides how many of them progress at a time.
//!
//! Decision: docs/decisions/0254-all-to-all.md.

use std::path::Path;

use super::{KernelContext, MOST_TASKS, Shape, Steps};
use crate::Geometry;
use crate::catalog::{Parameter, SpecError};
use crate::rng::{Purpose, mix2, pick};
use crate::synthetic::expr::{Call, Expr};
use crate::synthetic::file;

pub(super) const ORDER: Parameter = Parameter {
    name: "order",
    about: "whom task i sends to in step k = 1, 2, ...: ring, i+k (mod N); pairwise, i xor k where N is a power of two, else k-i (mod N); \
            torus, on a grid of nodes the one k further in it, X first, whatever the edges: at every step all tasks send equally \
            far; latin, all other tasks in a random order that is the same for all but for a shift of the tasks, which are renumbered at \
            random; shuffled, in a random order of its own; file:F, as line i of a file lists them",
    range: "ring, pairwise, torus, latin, shuffled, file:F",
    default: "ring",
};
pub(super) const PIECE: Parameter = Parameter {
    name: "piece",
    about: "what of a message is sent before it is the next one's turn: packet, what a packet of the network carries; so many bytes; or \
            message, the whole message",
    range: "packet, 1..=2^36, message",
    default: "message",
};
pub(super) const INTERLEAVE: Parameter = Parameter {
    name: "interleave",
    about: "number of messages of a task that take turns, and of its pieces that may be under way: one after another at 1",
    range: "1..=1048576, all",
    default: "1",
};

/// The order of an all-to-all.
#[derive(Debug)]
enum Order {
    /// i+k (mod N).
    Ring,
    /// i xor k, or k-i (mod N).
    Pairwise,
    /// i+k in every digit of a grid of these sizes.
    Torus(Vec<u32>),
    /// `task(number(i) + shifts[k])`, the sum mod N.
    Latin { tasks: Vec<u32>, numbers: Vec<u32>, shifts: Vec<u32> },
    /// Random orders with this key.
    Shuffled(u64),
    /// By task: the destinations.
    Listed(Vec<Vec<u32>>),
}

/// How the messages of an all-to-all are sent.
#[derive(Debug)]
pub(super) struct Exchange {
    order: Order,
    /// \[bytes\] Length of a piece; `None` for whole messages.
    piece: Option<u64>,
    /// Number of messages that take turns, 1 or more.
    interleave: u32,
}

impl Exchange {
    /// Reads the parameters.
    pub(super) fn read(call: &Call, shape: &Shape, context: &KernelContext) -> Result<Self, SpecError> {
        let is_word =
            |parameter: &str, word: &str| call.given(parameter).is_some_and(|given| given.word() == Some(word));
        let piece = match call.given("piece") {
            None => None,
            Some(_) if is_word("piece", "message") => None,
            Some(given) if is_word("piece", "packet") => Some(context.packet_bytes.ok_or_else(|| {
                let problem = "piece = packet: the network is not known here, or has no packets";
                call.refuse(given, problem, "give the bytes of a piece, such as piece=64")
            })?),
            Some(given) if given.bytes().is_none() => {
                let problem = format!("piece does not know `{given}`");
                return Err(call.refuse(given, &problem, "use packet, message, or a size such as 4096 or 4KiB"));
            }
            Some(_) => Some(call.bytes("piece", 1..=super::LARGEST)? as u64),
        };
        let interleave = match is_word("interleave", "all") {
            true => MOST_TASKS,
            false => call.integer("interleave", 1..=i64::from(MOST_TASKS))? as u32,
        };
        let order = Order::read(call, shape, context)?;
        Ok(Self { order, piece, interleave: interleave.min(shape.tasks.max(2) - 1) })
    }

    /// Number of pieces of a message.
    pub(super) fn pieces(&self, bytes: u64) -> u64 {
        self.piece.map_or(1, |piece| bytes.div_ceil(piece).max(1))
    }

    /// Writes the steps of a task: all pieces to their destinations, then receives from i-1, i-2, ...
    pub(super) fn write(&self, shape: &Shape, task: u32, steps: &mut Steps) {
        let (whole, pieces) = (shape.bytes, self.pieces(shape.bytes));
        let length = |piece: u64| match self.piece {
            Some(most) => most.min(whole - piece * most),
            None => whole,
        };
        let mut issued = 0u64;
        let slots = u64::from(self.interleave);
        for group in self.order.destinations(shape.tasks, task).chunks(self.interleave as usize) {
            for (piece, &to) in (0..pieces).flat_map(|piece| group.iter().map(move |to| (piece, to))) {
                steps.bytes = length(piece);
                if slots == 1 {
                    steps.send(to, piece);
                    continue;
                }
                let slot = (issued % slots) as u32;
                if issued >= slots {
                    steps.wait(slot);
                }
                steps.start_send(to, piece, slot);
                issued += 1;
            }
        }
        if issued > 0 {
            steps.wait_all(0..issued.min(slots) as u32);
        }
        for k in 1..shape.tasks {
            for piece in 0..pieces {
                steps.bytes = length(piece);
                steps.receive((task + shape.tasks - k) % shape.tasks, piece);
            }
        }
    }
}

impl Order {
    fn read(call: &Call, shape: &Shape, context: &KernelContext) -> Result<Self, SpecError> {
        let tasks = shape.tasks;
        let Some(given) = call.given("order") else { return Ok(Self::Ring) };
        if let ("file", [argument]) = (given.name.as_str(), &*given.arguments)
            && let (None, Some(name)) = (&argument.key, argument.value.word())
        {
            return listed(call, &argument.value, Path::new(name), tasks).map(Self::Listed);
        }
        let key = mix2(context.seed, Purpose::Setup as u64);
        match given.word() {
            Some("ring") => Ok(Self::Ring),
            Some("pairwise") => Ok(Self::Pairwise),
            Some("torus") => {
                let same = |geometry: &&Geometry| geometry.nodes() == tasks as usize;
                match context.geometry.filter(same).map(Geometry::sizes) {
                    Some(sizes) => Ok(Self::Torus(sizes.to_vec())),
                    None => {
                        let problem = format!("order = torus: {tasks} tasks are not the nodes of a grid here");
                        Err(call.refuse(given, &problem, "use it with a task on each node of a torus, or order=ring"))
                    }
                }
            }
            Some("latin") => {
                let numbered = shuffled(0..tasks, mix2(key, 0));
                let mut numbers = vec![0; tasks as usize];
                for (&task, number) in numbered.iter().zip(0..) {
                    numbers[task as usize] = number;
                }
                Ok(Self::Latin { tasks: numbered, numbers, shifts: shuffled(1..tasks, mix2(key, 1)) })
            }
            Some("shuffled") => Ok(Self::Shuffled(mix2(key, 2))),
            _ => {
                let problem = format!("order does not know `{given}`");
                Err(call.refuse(given, &problem, "use ring, pairwise, torus, latin, shuffled, or file:FILE"))
            }
        }
    }

    /// All other tasks in the order in which a task sends to them.
    fn destinations(&self, tasks: u32, task: u32) -> Vec<u32> {
        // The sums stay below 2^21 and cannot overflow.
        match self {
            Self::Ring => (1..tasks).map(|k| (task + k) % tasks).collect(),
            Self::Pairwise if tasks.is_power_of_two() => (1..tasks).map(|k| task ^ k).collect(),
            Self::Pairwise => (0..tasks).map(|k| (k + tasks - task) % tasks).filter(|&to| to != task).collect(),
            Self::Torus(sizes) => (1..tasks).map(|k| further(sizes, task, k)).collect(),
            Self::Latin { tasks: numbered, numbers, shifts } => {
                let number = numbers[task as usize];
                shifts.iter().map(|shift| numbered[((number + shift) % tasks) as usize]).collect()
            }
            Self::Shuffled(key) => shuffled((0..tasks).filter(|&to| to != task), mix2(*key, task.into())),
            Self::Listed(listed) => listed[task as usize].clone(),
        }
    }
}

/// The task whose digits on a grid of these sizes are the sums of those of two tasks, without carries.
fn further(sizes: &[u32], task: u32, by: u32) -> u32 {
    let (mut found, mut stride) = (0, 1);
    for size in sizes {
        found += (task / stride + by / stride) % size * stride;
        stride *= size;
    }
    found
}

/// The items in random order, every order equally likely.
fn shuffled(items: impl Iterator<Item = u32>, key: u64) -> Vec<u32> {
    let mut order: Vec<u32> = items.collect();
    for last in (1..order.len()).rev() {
        order.swap(last, pick(mix2(key, last as u64), last as u32 + 1) as usize);
    }
    order
}

/// The destinations of every task, as the lines of a file list them.
fn listed(call: &Call, given: &Expr, path: &Path, tasks: u32) -> Result<Vec<Vec<u32>>, SpecError> {
    let shown = path.display();
    let refuse = |problem: String, remedy: &str| call.refuse(given, &problem, remedy.to_owned());
    let text = file::text_of(path, refuse)?;
    let mut orders: Vec<Vec<u32>> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let words = line.split('#').next().unwrap_or("").split([' ', '\t', ',', ';', '\r']);
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        if words.is_empty() {
            continue;
        }
        let task = orders.len() as u32;
        let at = format!("{shown}, line {number}");
        let remedy =
            "write a line for each task, with the numbers of all others in the order in which it sends to them";
        let mut seen = vec![false; tasks as usize];
        let mut order = Vec::new();
        for word in words {
            let to = word.parse().ok().filter(|&to: &u32| to < tasks && to != task);
            let Some(to) = to.filter(|&to| !std::mem::replace(&mut seen[to as usize], true)) else {
                return Err(refuse(
                    format!("{at}: task {task} of {tasks} cannot send to `{word}`, or does twice"),
                    remedy,
                ));
            };
            order.push(to);
        }
        if task >= tasks || order.len() + 1 != tasks as usize {
            let problem = format!("{at}: {} destinations for task {task} of {tasks}", order.len());
            return Err(refuse(problem, remedy));
        }
        orders.push(order);
    }
    if orders.len() != tasks as usize {
        let problem = format!("{shown} has {} lines of destinations for {tasks} tasks", orders.len());
        return Err(refuse(problem, "write a line for each task, or change the number of tasks"));
    }
    Ok(orders)
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
