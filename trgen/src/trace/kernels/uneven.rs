//! All-to-alls of unequal blocks: byte matrices from a file, and those of mixtures of experts.
//!
//! In each exchange every task posts a receive for each message that it will get, begins all its sends, the k-th of them
//! to the task k further, and waits for all. Blocks of 0 bytes, and those of a task for itself, are no messages. The next
//! exchange of a task follows at once; there is no barrier.
//!
//! # Mixtures of experts
//! Tokens are shared out among the tasks, and so are experts. Every token goes to `topk` different experts, drawn one after
//! another with probabilities that follow Zipf's law: the expert of rank r has weight r^-skew, and a permutation drawn
//! for each layer says which expert has which rank. One matrix sends every token to its experts, the transposed one brings
//! the results back.
//!
//! Departs from reality: routers of models are trained, have capacities that drop tokens, and favour experts for whole
//! sequences of tokens. A study of these should record matrices and give them as a file.
//!
//! Source: Shazeer and others, *Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer* (2017);
//! Lepikhin and others, *GShard* (2021).

use std::collections::BTreeMap;
use std::path::Path;

use super::{BYTES, Call, ITERATIONS, KernelContext, LARGEST, MOST_ITERATIONS, MOST_MESSAGES};
use crate::catalog::{Component, Parameter, SpecError};
use crate::rng::{Purpose, mix2, pick};
use crate::synthetic::draw::inverse_power;
use crate::synthetic::expr;
use crate::synthetic::file::numbers;
use crate::trace::program::{Event, Program, Receive, Request, Send, Tag, TagFilter};
use crate::units::{Picoseconds, TaskId};

/// \[bytes\] Most bytes of all messages.
const MOST_BYTES: u64 = 1 << 62;

/// Most tasks: a matrix has an entry for each pair.
const MOST_PAIRED: i64 = 4096;

/// Exchanges one after another, and how often all of them are done.
#[derive(Debug)]
pub struct Exchanges {
    /// Number of tasks.
    tasks: u32,
    list: Vec<Exchange>,
    iterations: u64,
}

/// An all-to-all of unequal blocks.
#[derive(Clone, Debug)]
struct Exchange {
    /// \[bytes\] By source and destination, without what a task has for itself.
    blocks: BTreeMap<(u32, u32), u64>,
    /// \[bytes\] What tasks have for themselves.
    local: u64,
    /// \[ps\] By task: how long it computes after the exchange; empty if no task does.
    compute: Vec<u64>,
}

/// A function that makes the exchanges of a kernel.
pub type Make = fn(&Call, &KernelContext) -> Result<Exchanges, SpecError>;

impl Exchanges {
    /// The program of every task.
    pub(super) fn program(&self) -> Program {
        let mut program = Program::new(self.tasks as usize);
        let all = (0..self.iterations).flat_map(|_| &self.list);
        for (number, exchange) in (0..).zip(all) {
            let tag = Tag::user(number);
            let block = |from: u32, to: u32| exchange.blocks.get(&(from, to)).copied();
            for (task, events) in (0_u32..).zip(&mut program.tasks) {
                let others = 1..self.tasks;
                let from = |by: u32| (task + self.tasks - by) % self.tasks;
                let to = |by: u32| (task + by) % self.tasks;
                let mut requests = Vec::new();
                for (from, bytes) in others.clone().filter_map(|by| Some((from(by), block(from(by), task)?))) {
                    let receive = Receive { from: Some(TaskId(from)), tag: TagFilter::Exactly(tag), bytes };
                    requests.push(Request(requests.len() as u32));
                    events.push(Event::Irecv(receive, requests[requests.len() - 1]));
                }
                for (to, bytes) in others.clone().filter_map(|by| Some((to(by), block(task, to(by))?))) {
                    requests.push(Request(requests.len() as u32));
                    events.push(Event::Isend(Send { to: TaskId(to), tag, bytes }, requests[requests.len() - 1]));
                }
                if !requests.is_empty() {
                    events.push(Event::WaitAll(requests.into()));
                }
                if let Some(&time) = exchange.compute.get(task as usize).filter(|&&time| time > 0) {
                    events.push(Event::Compute(Picoseconds(time)));
                }
            }
        }
        program
    }

    /// Number of tasks.
    pub(super) const fn tasks(&self) -> u32 {
        self.tasks
    }

    /// Number of exchanges of all iterations, and the mean size of what a task has for all in one of them \[bytes\];
    /// `None` if tasks compute between them.
    pub(super) fn measured(&self) -> Option<(u64, u64)> {
        if self.list.is_empty() || self.list.iter().any(|exchange| !exchange.compute.is_empty()) {
            return None;
        }
        let bytes = |exchange: &Exchange| exchange.local + exchange.blocks.values().sum::<u64>();
        let count = self.list.len() as u64;
        let mean = self.list.iter().map(bytes).sum::<u64>() / count / u64::from(self.tasks);
        Some((count * self.iterations, mean))
    }

    /// Rejects more messages than a kernel may have, and more bytes than are counted. Exchanges in which nothing happens
    /// are left out.
    fn checked(mut self, call: &Call) -> Result<Self, SpecError> {
        self.list.retain(|exchange| !exchange.blocks.is_empty() || exchange.compute.iter().any(|&time| time > 0));
        if self.list.is_empty() {
            self.iterations = 0;
        }
        let total =
            |of: fn(&Exchange) -> u128| self.list.iter().map(of).sum::<u128>().saturating_mul(self.iterations.into());
        let messages = total(|exchange| exchange.blocks.len() as u128);
        let bytes = total(|exchange| exchange.blocks.values().map(|&bytes| u128::from(bytes)).sum());
        if messages > u128::from(MOST_MESSAGES) {
            let problem = format!("`{}` is {messages} messages", call.text());
            return Err(
                call.refuse_all(&problem, format!("fewer tasks or iterations: at most {MOST_MESSAGES} messages"))
            );
        }
        if bytes > u128::from(MOST_BYTES) {
            let problem = format!("`{}` is {bytes} bytes", call.text());
            return Err(call.refuse_all(&problem, "smaller blocks or fewer iterations: at most 2^62 bytes"));
        }
        Ok(self)
    }
}

pub(super) static ALL_TO_ALL_MATRIX: expr::Entry<Make> = expr::Entry {
    component: Component {
        name: "all-to-all-matrix",
        about: "all-to-alls of unequal blocks, one after another: a file has, for each, a line for every task with the bytes that it \
                has for task 0, 1, ...; blocks of 0 bytes are not sent",
        parameters: &[
            Parameter { name: "file", about: "the matrices, one below another", range: "a CSV file", default: "" },
            ITERATIONS,
        ],
        source: "MPI_Alltoallv of the MPI standard",
    },
    aliases: &["all-to-allv", "alltoallv"],
    build: |call, _| {
        let file = numbers(call, Path::new(""))?;
        let tasks = file.lines.first().map_or(0, |(_, line)| line.len());
        if tasks == 0 || tasks > MOST_PAIRED as usize || !file.lines.len().is_multiple_of(tasks) {
            let what = format!("{} lines of numbers, the first of {tasks}", file.lines.len());
            let remedy =
                format!("a matrix has as many lines as columns: one for each task, 1 to {MOST_PAIRED} of them");
            return Err(file.refuse(call, None, &what, &remedy));
        }
        let mut list = Vec::new();
        for lines in file.lines.chunks(tasks) {
            let mut exchange = Exchange { blocks: BTreeMap::new(), local: 0, compute: Vec::new() };
            for (from, (line, numbers)) in (0_u32..).zip(lines) {
                if numbers.len() != tasks {
                    let what = format!("{} numbers in a matrix of {tasks} columns", numbers.len());
                    return Err(file.refuse(call, Some(*line), &what, "one number of bytes for each task"));
                }
                for (to, &bytes) in (0_u32..).zip(numbers) {
                    if bytes < 0.0 || bytes.fract() != 0.0 || bytes > LARGEST as f64 {
                        let what = format!("{bytes} is no number of bytes");
                        return Err(file.refuse(call, Some(*line), &what, "whole numbers from 0 to 2^36"));
                    }
                    match bytes as u64 {
                        0 => {}
                        bytes if from == to => exchange.local += bytes,
                        bytes => {
                            exchange.blocks.insert((from, to), bytes);
                        }
                    }
                }
            }
            list.push(exchange);
        }
        let iterations = call.integer("iterations", 0..=MOST_ITERATIONS)? as u64;
        Exchanges { tasks: tasks as u32, list, iterations }.checked(call)
    },
};

pub(super) static MOE: expr::Entry<Make> = expr::Entry {
    component: Component {
        name: "moe",
        about: "layers of a mixture of experts: all-to-all of the tokens to their experts, computing, and all-to-all of the results \
                back; loads of experts follow Zipf's law",
        parameters: &[
            Parameter { name: "ranks", about: "number of tasks", range: "1..=4096", default: "number of nodes" },
            Parameter {
                name: "tokens",
                about: "tokens of all tasks in a layer",
                range: "0..=16777216",
                default: "8192",
            },
            Parameter { name: "bytes", about: "size of a token [bytes]", default: "8192", ..BYTES },
            Parameter {
                name: "experts",
                about: "number of experts, which the tasks share evenly",
                range: "1..=65536",
                default: "64",
            },
            Parameter { name: "topk", about: "experts of a token", range: "1..=64", default: "2" },
            Parameter { name: "skew", about: "exponent of Zipf's law; 0 is uniform", range: "0..=8", default: "0" },
            Parameter { name: "compute", about: "time of an expert for a token [ns]", range: "0..=10^9", default: "0" },
            Parameter { name: "iterations", about: "number of layers", ..ITERATIONS },
        ],
        source: "Lepikhin and others, GShard (2021)",
    },
    aliases: &[],
    build: moe,
};

/// The exchanges of a mixture of experts.
fn moe(call: &Call, context: &KernelContext) -> Result<Exchanges, SpecError> {
    let ranks = match call.given("ranks") {
        Some(_) => call.integer("ranks", 1..=MOST_PAIRED)? as u32,
        None => u32::try_from(context.tasks).ok().filter(|ranks| (1..=MOST_PAIRED as u32).contains(ranks)).ok_or_else(
            || call.refuse_all(&format!("`moe` cannot have {} tasks", context.tasks), "give ranks=, 1 to 4096"),
        )?,
    };
    let experts = call.integer("experts", 1..=65_536)? as u32;
    if !experts.is_multiple_of(ranks) && !ranks.is_multiple_of(experts) {
        let problem = format!("{ranks} tasks do not share {experts} experts evenly");
        return Err(call.refuse_all(&problem, "use a number of experts that divides that of tasks, or the other way"));
    }
    let topk = call.integer("topk", 1..=64)? as u32;
    if topk > experts {
        let problem = format!("a token goes to {topk} experts, and there are {experts}");
        return Err(call.refuse_all(&problem, "give topk= at most the number of experts"));
    }
    let routing = Routing {
        tokens: call.integer("tokens", 0..=1 << 24)? as u32,
        experts,
        topk,
        skew: call.number("skew", 0.0..=8.0)?,
        seed: context.seed,
    };
    let bytes = call.bytes("bytes", 0..=LARGEST)? as u64;
    let compute = (call.number("compute", 0.0..=1e9)? * 1e3).round() as u64;
    let layers = call.integer("iterations", 0..=MOST_ITERATIONS)? as u64;
    let most = u64::from(routing.tokens) * u64::from(topk);
    if layers.saturating_mul(most.max(1)) > 1 << 32 {
        let problem = format!("`{}` sends {most} tokens in each of {layers} layers", call.text());
        return Err(call.refuse_all(&problem, "fewer layers or tokens: at most 2^32 in all"));
    }
    if u128::from(most) * u128::from(bytes) * u128::from(layers) * 2 > u128::from(MOST_BYTES) {
        let problem = format!("`{}` sends {most} tokens of {bytes} bytes in each of {layers} layers", call.text());
        return Err(call.refuse_all(&problem, "smaller or fewer tokens, or fewer layers: at most 2^62 bytes"));
    }
    let mut list = Vec::new();
    // Layers without tokens are none.
    let layers = if most == 0 { 0 } else { layers };
    let mut messages = 0;
    for layer in 0..layers {
        let mut there = Exchange { blocks: BTreeMap::new(), local: 0, compute: vec![0; ranks as usize] };
        let tasks = |part: u32, of: u32| (u64::from(part) * u64::from(ranks) / u64::from(of)) as u32;
        routing.draw(layer, |token, expert| {
            let (from, to) = (tasks(token, routing.tokens), tasks(expert, experts));
            let time = &mut there.compute[to as usize];
            *time = time.saturating_add(compute);
            if from == to {
                there.local += bytes;
            } else if bytes > 0 {
                *there.blocks.entry((from, to)).or_default() += bytes;
            }
        });
        if compute == 0 {
            there.compute = Vec::new();
        }
        messages += 2 * there.blocks.len().max(1) as u64;
        if messages > MOST_MESSAGES {
            let problem = format!("`{}` is more than {MOST_MESSAGES} messages", call.text());
            return Err(call.refuse_all(&problem, "fewer tasks, tokens or layers"));
        }
        let blocks = there.blocks.iter().map(|(&(from, to), &bytes)| ((to, from), bytes)).collect();
        let back = Exchange { blocks, local: there.local, compute: Vec::new() };
        list.extend([there, back]);
    }
    Exchanges { tasks: ranks, list, iterations: 1 }.checked(call)
}

/// How tokens find their experts.
struct Routing {
    tokens: u32,
    experts: u32,
    topk: u32,
    skew: f64,
    seed: u64,
}

impl Routing {
    /// Weight of each rank of an expert.
    fn weights(&self) -> Vec<f64> {
        (1..=self.experts).map(|rank| inverse_power(f64::from(rank), self.skew)).collect()
    }

    /// Calls `add` with every token and each of its experts.
    fn draw(&self, layer: u64, mut add: impl FnMut(u32, u32)) {
        let key = mix2(mix2(self.seed, Purpose::Spatial as u64), layer);
        let mut order: Vec<u32> = (0..self.experts).collect();
        order.sort_by_key(|&expert| (mix2(mix2(key, u64::from(u32::MAX)), expert.into()), expert));
        let sums: Vec<f64> = self
            .weights()
            .into_iter()
            .scan(0.0, |sum, weight| {
                *sum += weight;
                Some(*sum)
            })
            .collect();
        let total = sums.last().copied().unwrap_or(0.0);
        let mut taken: Vec<usize> = Vec::new();
        for token in 0..self.tokens {
            let key = mix2(key, token.into());
            taken.clear();
            let mut draws = 0_u64;
            while taken.len() < self.topk as usize {
                let draw = mix2(key, draws);
                let share = (draw >> 11) as f64 / (1_u64 << 53) as f64;
                let mut rank = sums.partition_point(|&sum| sum <= share * total).min(sums.len() - 1);
                if taken.contains(&rank) {
                    draws += 1;
                    if draws < FEW {
                        continue;
                    }
                    // All that is left is unlikely: any of it.
                    let left: Vec<usize> = (0..sums.len()).filter(|rank| !taken.contains(rank)).collect();
                    rank = left[pick(draw, left.len() as u32) as usize];
                }
                draws += 1;
                taken.push(rank);
                add(token, order[rank]);
            }
        }
    }
}

/// Draws of a token after which an expert that it has already is replaced by any other.
const FEW: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::kernels::{KernelContext, collectives, parse_in};

    /// Gini coefficient of loads: the mean difference of all pairs over twice the mean.
    fn gini(loads: &[f64]) -> f64 {
        let differences: f64 = loads.iter().flat_map(|a| loads.iter().map(move |b| (a - b).abs())).sum();
        differences / (2.0 * loads.len() as f64 * loads.iter().sum::<f64>())
    }

    #[test]
    fn loads_of_experts_follow_zipfs_law() {
        for (skew, expected) in [(0.2, 0.10), (0.45, 0.24), (0.7, 0.40)] {
            let routing = Routing { tokens: 8192, experts: 64, topk: 2, skew, seed: 7 };
            let formula = gini(&routing.weights());
            assert!((formula - expected).abs() < 0.02, "{skew}: {formula}");
            for layer in 0..4 {
                let mut loads = vec![0.0; 64];
                let mut of_token = BTreeMap::new();
                routing.draw(layer, |token, expert| {
                    loads[expert as usize] += 1.0;
                    assert!(of_token.insert((token, expert), ()).is_none(), "a token goes to an expert once");
                });
                assert_eq!(of_token.len(), 2 * 8192);
                assert!((gini(&loads) - formula).abs() < 0.02, "{skew}: {} {formula}", gini(&loads));
            }
        }
        // What chance alone gives.
        let routing = Routing { tokens: 8192, experts: 64, topk: 2, skew: 0.0, seed: 7 };
        let mut loads = vec![0.0; 64];
        routing.draw(0, |_, expert| loads[expert as usize] += 1.0);
        assert!((0.02..0.05).contains(&gini(&loads)), "{}", gini(&loads));
    }

    #[test]
    fn tokens_are_conserved_and_come_back() {
        let text = "moe:ranks=8,tokens=1000,bytes=10,experts=16,topk=3,skew=0.5,compute=2,iterations=2";
        let program = parse_in(text, &KernelContext { seed: 3, ..KernelContext::new(64, None) }).unwrap();
        let mut bytes = vec![[0_u64; 2]; 8];
        for (task, event) in (0..).zip(&program.tasks).flat_map(|(task, events)| events.iter().map(move |e| (task, e)))
        {
            match event {
                Event::Isend(send, _) => bytes[task][0] += send.bytes,
                Event::Irecv(receive, _) => bytes[task][1] += receive.bytes,
                _ => {}
            }
        }
        // Each layer sends as much as it brings back.
        assert!(bytes.iter().all(|[sent, received]| sent == received), "{bytes:?}");
        let (sent, computed) = (program.totals().point_to_point_bytes, program.totals().compute.0);
        assert_eq!(computed, 2 * 3 * 1000 * 2000);
        // An eighth of the tokens stays where it is, but for chance.
        let expected = (2 * 2 * 3 * 1000 * 10) as f64 * 7.0 / 8.0;
        assert!((sent as f64 / expected - 1.0).abs() < 0.05, "{sent} {expected}");
        assert_ne!(
            parse_in(text, &KernelContext { seed: 4, ..KernelContext::new(64, None) }).unwrap(),
            program,
            "the seed decides"
        );
        assert!(collectives(text, 64, None).unwrap().is_empty(), "computing is no part of a collective");
    }

    #[test]
    fn layers_in_which_nothing_happens_cost_nothing_and_too_many_bytes_are_refused() {
        let parse = |text: &str| parse_in(text, &KernelContext::new(4, None));
        let idle = parse("moe:ranks=4,tokens=0,experts=4,iterations=1000000000").unwrap();
        assert!(idle.tasks.iter().all(Vec::is_empty));
        for (text, problem) in [
            ("moe:ranks=2,tokens=16777216,topk=64,experts=65536,bytes=68719476736", "bytes"),
            ("moe:ranks=4,tokens=64,experts=4,topk=1,iterations=60000000", "messages"),
        ] {
            let refusal = parse(text).unwrap_err().to_string();
            assert!(refusal.contains(problem), "{refusal}");
        }
    }
}
