//! The completion of a program whose tasks are followed with clocks of their own is that of its simulation, to the cycle.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fsin::couple::Coupled;
use fsin::models::ConstantDelay;
use fsin::models::constant_delay::Passage;
use fsin::run::to_end;
use trgen::clock::Clock;
use trgen::rng::mix2;
use trgen::trace::program::{Event, Program, Receive, Request, Send, Tag, TagFilter};
use trgen::trace::replay::{Pace, Protocol, Replay};
use trgen::{Cycle, Message, NodeId, Picoseconds, TaskId};

/// Draws, each of its own number.
struct Draws(u64, u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.1 += 1;
        mix2(self.0, self.1) % end
    }
}

/// A program that ends: what is received has been sent before in the order in which events are drawn.
fn drawn(seed: u64) -> (Program, Vec<NodeId>) {
    let mut draws = Draws(seed, 0);
    let tasks = 2 + draws.below(7) as usize;
    let mut all: Vec<Vec<Event>> = vec![Vec::new(); tasks];
    // By task: requests that have not been waited for, and the number of the next one.
    let mut open: Vec<Vec<Request>> = vec![Vec::new(); tasks];
    let mut next: Vec<u32> = (0..tasks).map(|task| if task == 1 { 65_530 } else { 0 }).collect();
    let mut request = |open: &mut Vec<Vec<Request>>, task: usize| {
        next[task] += 1;
        open[task].push(Request(next[task]));
        Request(next[task])
    };
    for _ in 0..30 + draws.below(90) {
        let (from, to) = (draws.below(tasks as u64) as usize, draws.below(tasks as u64) as usize);
        match draws.below(6) {
            0 => all[from].push(Event::Compute(Picoseconds(draws.below(40_000)))),
            1 if !open[from].is_empty() => {
                let at = draws.below(open[from].len() as u64) as usize;
                all[from].push(Event::Wait(open[from].remove(at)));
            }
            2 if !open[from].is_empty() => {
                let count = draws.below(open[from].len() as u64 + 1) as usize;
                all[from].push(Event::WaitAll(open[from].drain(..count).collect()));
            }
            _ if from == to => {}
            _ => {
                let (bytes, tag) = (draws.below(3_000), Tag::user(draws.below(3) as i64));
                let send = Send { to: TaskId::at(to), tag, bytes };
                let receive = Receive { from: Some(TaskId::at(from)), tag: TagFilter::Exactly(tag), bytes };
                all[from].push(match draws.below(2) {
                    0 => Event::Send(send),
                    _ => Event::Isend(send, request(&mut open, from)),
                });
                all[to].push(match draws.below(2) {
                    0 => Event::Recv(receive),
                    _ => Event::Irecv(receive, request(&mut open, to)),
                });
            }
        }
    }
    for (events, open) in all.iter_mut().zip(open) {
        events.push(Event::WaitAll(open.into()));
        events.push(Event::Compute(Picoseconds(draws.below(9_000))));
    }
    let nodes = (0..tasks).map(|_| NodeId(draws.below(tasks as u64) as u32)).collect();
    (Program { tasks: all }, nodes)
}

/// Times of a message that depend on it alone, so that later messages overtake earlier ones.
fn times(seed: u64, message: &Message) -> (u64, u64) {
    if seed.is_multiple_of(4) {
        return (0, 0);
    }
    let of_pair = mix2(seed, u64::from(message.source.0) << 32 | u64::from(message.destination.0));
    (message.bytes / 8, of_pair % 20 + message.bytes / (1 + seed % 11))
}

#[test]
fn tasks_followed_by_themselves_end_when_they_end_in_a_simulation() {
    for seed in 0..600 {
        let (program, placement) = drawn(seed);
        let nodes = placement.len();
        for cycle in [1, 1_000, 3_300] {
            let pace = Pace { cycle: Clock::whole(cycle), compute_scale: 1.0 };
            let replay = || Replay::new(program.clone(), &placement, nodes, pace).unwrap();
            let found = replay().completion_alone(&mut |message| times(seed, message)).unwrap();
            let rule = Box::new(move |_: Cycle, message: &Message| {
                let (leaves, arrives) = times(seed, message);
                Passage { leaves, arrives }
            });
            let (mut source, mut network) = (replay(), ConstantDelay::ruled(nodes, rule));
            let stop = AtomicBool::new(false);
            let outcome = to_end(&mut Coupled::new(&mut source, &mut network, &stop), Cycle::NEVER, &mut |_| {});
            assert_eq!(outcome.failure, None, "{seed}");
            assert_eq!(found, outcome.completion, "{seed}, a cycle of {cycle} ps: {program:?} {placement:?}");
        }
    }
}

/// Runs a program over a network in which messages take what another seed says, with clocks of the rule of `seed`.
fn clocks_beside(mut source: Replay, seed: u64, nodes: usize) -> Option<(Cycle, Option<Cycle>)> {
    source.keep_clocks(Some(Arc::new(move |message: &Message| times(seed, message))));
    let other = Box::new(move |now: Cycle, message: &Message| {
        let (leaves, arrives) = times(seed + 1, message);
        Passage { leaves, arrives: arrives + now.0 % 7 }
    });
    let mut network = ConstantDelay::ruled(nodes, other);
    let stop = AtomicBool::new(false);
    to_end(&mut Coupled::new(&mut source, &mut network, &stop), Cycle::NEVER, &mut |_| {});
    source.completions_alone()
}

#[test]
fn clocks_that_travel_with_messages_find_what_following_the_tasks_finds() {
    for seed in 0..600 {
        let (program, placement) = drawn(seed);
        let nodes = placement.len();
        for cycle in [1, 1_000, 3_300] {
            let pace = Pace { cycle: Clock::whole(cycle), compute_scale: 1.0 };
            let replay = || Replay::new(program.clone(), &placement, nodes, pace).unwrap();
            assert!(replay().may_keep_clocks(1_000) && !replay().may_keep_clocks(0));
            let at_once = replay().completion_alone(&mut |_| (0, 0)).unwrap().unwrap();
            let of_rule = replay().completion_alone(&mut |message| times(seed, message)).unwrap();
            let found = clocks_beside(replay(), seed, nodes);
            assert_eq!(found, Some((at_once, of_rule)), "{seed}, a cycle of {cycle} ps: {program:?} {placement:?}");
        }
    }
}

#[test]
fn programs_whose_order_of_arrivals_matters_are_simulated() {
    let (send, tag) = (|to| Send { to: TaskId(to), tag: Tag::user(1), bytes: 8 }, TagFilter::Exactly(Tag::user(1)));
    let any = Receive { from: None, tag, bytes: 8 };
    let pace = Pace { cycle: Clock::whole(1_000), compute_scale: 1.0 };
    let nodes = [NodeId(0), NodeId(1), NodeId(2)];
    let of = |tasks: Vec<Vec<Event>>| Replay::new(Program { tasks }, &nodes, 3, pace).unwrap();
    let rule = &mut |_: &Message| (1, 2);
    let wildcard =
        vec![vec![Event::Send(send(1))], vec![Event::Recv(any), Event::Recv(any)], vec![Event::Send(send(1))]];
    assert_eq!(of(wildcard.clone()).completion_alone(rule).unwrap(), None);
    assert_eq!(clocks_beside(of(wildcard), 1, 3), None);
    let one = Receive { from: Some(TaskId(0)), ..any };
    let either = vec![
        vec![Event::Send(send(1))],
        vec![Event::Irecv(one, Request(0)), Event::WaitAny([Request(0)].into())],
        Vec::new(),
    ];
    assert_eq!(of(either.clone()).completion_alone(rule).unwrap(), None);
    assert_eq!(clocks_beside(of(either), 1, 3), None);
    // A request that is named anew before its end has been waited for.
    let anew = vec![
        vec![Event::Send(send(1)), Event::Send(send(1))],
        vec![Event::Irecv(one, Request(0)), Event::Irecv(one, Request(0)), Event::Wait(Request(0))],
        Vec::new(),
    ];
    assert_eq!(clocks_beside(of(anew), 1, 3), None);
    let plain = || vec![vec![Event::Send(send(1))], vec![Event::Recv(one)], Vec::new()];
    assert_eq!(of(plain()).completion_alone(rule).unwrap(), Some(Cycle(4)));
    let announced = of(plain()).with_protocol(Protocol { eager_limit: Some(4) });
    assert_eq!(announced.clone().completion_alone(rule).unwrap(), None);
    assert!(!announced.may_keep_clocks(1));
    // A program that never ends.
    assert_eq!(of(vec![Vec::new(), vec![Event::Recv(one)], Vec::new()]).completion_alone(rule).unwrap(), None);
}
