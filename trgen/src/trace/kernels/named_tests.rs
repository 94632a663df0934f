//! Tracks the pieces held by every member after every round.

use std::collections::HashMap;

use super::super::super::program::{Event, TagFilter};
use super::super::parse;
use crate::collective::{Action, COLLECTIVES, Row, Schedule, Shape, Step};
use crate::trace::kind::CollectiveKind::{self, AllGather, AllReduce, ReduceScatter};

/// An algorithm among so many members.
#[derive(Clone, Debug)]
struct Case {
    row: &'static Row,
    shape: Shape,
}

impl Case {
    fn schedule(&self) -> &'static dyn Schedule {
        self.row.steps_of(self.shape.kind).unwrap()
    }

    fn lanes(&self) -> u32 {
        self.schedule().lanes(&self.shape)
    }

    fn steps(&self, lane: u32, member: u32, out: &mut dyn FnMut(Step)) {
        self.schedule().steps(&self.shape, lane, member, out);
    }
}

fn case(kind: CollectiveKind, name: &str, size: u32, grid: &[u32]) -> Case {
    Case { row: COLLECTIVES.find(name).unwrap(), shape: Shape { kind, size, grid: grid.to_vec() } }
}

/// Runs a lane round by round, sends first, with the contributions (a bit for each) that `begin` gives each member's
/// pieces. Adding one twice is an error, and so is sending or replacing what is not there.
fn run(plan: &Case, lane: u32, begin: impl Fn(u32, u32) -> u64) -> Vec<Vec<u64>> {
    let members = 0..plan.shape.size;
    let mut held: Vec<Vec<u64>> = members
        .clone()
        .map(|member| (0..plan.schedule().pieces(&plan.shape)).map(|piece| begin(member, piece)).collect())
        .collect();
    let mut steps: Vec<(u32, bool, u32, Step)> = Vec::new();
    for member in members {
        plan.steps(lane, member, &mut |step| steps.push((step.round, step.action != Action::Send, member, step)));
    }
    steps.sort_by_key(|&(round, receives, member, _)| (round, receives, member));
    // By sender, receiver and round: the pieces, and what they hold.
    let mut letters = HashMap::new();
    for (round, receives, member, Step { action, peer, pieces, .. }) in steps {
        assert!(u64::from(round) < plan.schedule().rounds(&plan.shape));
        let range = pieces.0 as usize..(pieces.0 + pieces.1) as usize;
        let own = &mut held[member as usize][range];
        if !receives {
            assert!(own.iter().all(|&sum| sum != 0), "{plan:?}: {member} sends what it does not have");
            let twice = letters.insert((member, peer, round), (pieces, own.to_vec()));
            assert!(twice.is_none(), "{plan:?}: one message of a pair in a round");
            continue;
        }
        let (sent, content) = letters.remove(&(peer, member, round)).expect("a message for every receive");
        assert_eq!(sent, pieces);
        for (own, received) in own.iter_mut().zip(content) {
            assert!(action == Action::Keep || *own & received == 0, "{plan:?}: {member} adds a contribution twice");
            *own = if action == Action::Combine { *own | received } else { received };
        }
    }
    assert!(letters.is_empty(), "every message is received");
    held
}

/// Every algorithm of a kind, for groups of so many members, with every grid that divides them.
fn plans(kind: CollectiveKind, group: u32) -> Vec<Case> {
    let of_row = |row: &'static Row| -> Vec<Case> {
        if !row.needs_grid {
            return vec![case(kind, row.name(), group, &[])];
        }
        let divisors = || (1..=group).filter(|size| group.is_multiple_of(*size));
        let pairs =
            divisors().flat_map(|x| divisors().filter(move |y| (group / x).is_multiple_of(*y)).map(move |y| (x, y)));
        pairs.map(|(x, y)| case(kind, row.name(), group, &[x, y, group / x / y])).collect()
    };
    let rows = COLLECTIVES.rows().iter().copied().filter(|row| row.steps_of(kind).is_some());
    rows.flat_map(of_row).filter(|case| (case.row.refuses)(&case.shape).is_none()).collect()
}

#[test]
fn every_algorithm_does_what_its_kind_says() {
    for group in (1..=17).chain([24, 32, 36]) {
        let everyone = (1u64 << group) - 1;
        for plan in plans(AllReduce, group) {
            for lane in 0..plan.lanes() {
                let held = run(&plan, lane, |member, _| 1 << member);
                assert!(held.iter().flatten().all(|&sum| sum == everyone), "{plan:?}, lane {lane}: {held:?}");
            }
        }
        // What each member has in the end of a reduce-scatter is what it begins an all-gather with.
        for scatter in plans(ReduceScatter, group) {
            let name = if scatter.row.name() == "halving" { "doubling" } else { scatter.row.name() };
            let gather = case(AllGather, name, group, &scatter.shape.grid);
            for lane in 0..scatter.lanes() {
                let held = run(&scatter, lane, |member, _| 1 << member);
                let own: Vec<Vec<bool>> =
                    held.iter().map(|pieces| pieces.iter().map(|&sum| sum == everyone).collect()).collect();
                assert!(own.iter().all(|pieces| pieces.iter().filter(|&&own| own).count() == 1), "{scatter:?}");
                let gathered = run(
                    &gather,
                    lane,
                    |member, piece| {
                        if own[member as usize][piece as usize] { 1 << piece } else { 0 }
                    },
                );
                let all = |pieces: &Vec<u64>| (0..).zip(pieces).all(|(piece, &sum)| sum == 1 << piece);
                assert!(gathered.iter().all(all), "{gather:?}: {gathered:?}");
            }
        }
    }
}

#[test]
fn inner_tasks_of_one_tree_are_leaves_of_the_other() {
    for group in 2..40 {
        let trees = case(AllReduce, "double-tree", group, &[]);
        let children = |lane, member| {
            let mut count = 0;
            trees.steps(lane, member, &mut |step| count += u32::from(step.action == Action::Combine));
            count
        };
        assert!((0..group).all(|member| children(0, member) == 0 || children(1, member) == 0), "{group}");
    }
}

#[test]
fn messages_are_counted_before_they_are_written() {
    for group in [1, 2, 7, 12, 16] {
        for what in [AllReduce, AllGather, ReduceScatter] {
            for plan in plans(what, group) {
                let mut sends = 0;
                for (lane, member) in (0..plan.lanes()).flat_map(|lane| (0..group).map(move |member| (lane, member))) {
                    plan.steps(lane, member, &mut |step| sends += u64::from(step.action == Action::Send));
                }
                assert_eq!(plan.schedule().messages(&plan.shape), sends, "{plan:?}");
            }
        }
    }
}

#[test]
fn groups_send_what_they_receive() {
    for (kernel, kind) in [("all-reduce", AllReduce), ("all-gather", AllGather), ("reduce-scatter", ReduceScatter)] {
        for row in COLLECTIVES.rows().iter().filter(|row| row.steps_of(kind).is_some()) {
            let word = row.name();
            for (group, rest) in
                [(32, ""), (8, ",group=8"), (4, ",group=4,stride=4,chunks=3"), (2, ",group=2,stride=16")]
            {
                let text = format!("{kernel}:tasks=32,algorithm={word},bytes=6000{rest}");
                let program = parse(&text, 32, None).unwrap_or_else(|error| panic!("{text}: {error}"));
                let sent = program.totals().point_to_point_bytes;
                // Rings, tori and direct exchanges are optimal in bytes.
                if matches!(word, "ring" | "bidirectional-ring" | "torus" | "direct") {
                    let turns = if kernel == "all-reduce" { 2 } else { 1 };
                    assert_eq!(sent, turns * (group - 1) * 6000 * (32 / group), "{text}");
                }
                let received = program.tasks.iter().flatten().map(|event| match event {
                    Event::Recv(receive) | Event::Irecv(receive, _) => receive.bytes,
                    _ => 0,
                });
                assert_eq!(received.sum::<u64>(), sent, "{text}");
            }
        }
    }
}

#[test]
fn words_that_fit_no_group_are_refused() {
    for (text, fault) in [
        ("all-reduce:algorithm=rings", "algorithm does not know `rings`"),
        ("all-reduce:tasks=12,group=5", "no whole number of groups of 5"),
        ("all-reduce:tasks=12,group=6,stride=4", "groups of 6 at distances of 4"),
        ("all-gather:tasks=12,algorithm=doubling", "groups of a power of two of ranks, not 12"),
        ("all-reduce:algorithm=rabenseifner,chunks=2", "is not cut into chunks"),
        ("all-to-all:algorithm=bruck,order=random", "is of the kernel without a named algorithm"),
        ("gather:algorithm=hierarchical", "algorithm does not know `hierarchical`"),
        ("all-gather:algorithm=tree", "algorithm does not know `tree`"),
        ("all-reduce:tasks=12,grid=3x4", "grid has no meaning with algorithm=ring"),
        ("all-reduce:tasks=24,group=12,algorithm=torus,grid=3x5", "a grid of 15 tasks for groups of 12"),
        ("all-reduce:tasks=24,algorithm=torus,grid=1024x1024x1024", "grid"),
        ("all-reduce:tasks=1048576", "messages"),
    ] {
        let what = parse(text, 8, None).unwrap_err().to_string();
        assert!(what.contains(fault), "{text}: {what}");
    }
    for same in ["allreduce", "AllReduce", "all_reduce"] {
        assert_eq!(parse(same, 8, None).unwrap(), parse("all-reduce", 8, None).unwrap());
    }
}

/// A send waits for receives of its own lane and chunk, of earlier rounds: on a ring for the piece summed and the piece as it
/// comes, on a cube of 8 with folded tasks at most for all 3 + 3 rounds and the folded task.
#[test]
fn a_chunk_waits_for_its_own_data_alone() {
    for (word, most) in [("ring", 2), ("bidirectional-ring", 2), ("double-tree", 2), ("halving", 7), ("torus", 7)] {
        let text = format!("all-reduce:algorithm={word},chunks=5,bytes=70000,tasks=12");
        let rounds = 2 * 12 + 64;
        for events in parse(&text, 12, None).unwrap().tasks {
            let (mut received, mut after) = (Vec::new(), Vec::new());
            for event in events {
                match event {
                    Event::Irecv(receive, request) => {
                        let TagFilter::Exactly(tag) = receive.tag else { panic!("{text}") };
                        received.push((request, tag.label));
                    }
                    Event::After(requests) => after = requests.to_vec(),
                    Event::Isend(send, _) => {
                        assert!(after.len() <= most, "{text}: {after:?}");
                        for request in &after {
                            let label = received.iter().find(|(known, _)| known == request).unwrap().1;
                            assert_eq!(label / rounds, send.tag.label / rounds, "{text}");
                            assert!(label < send.tag.label, "{text}");
                        }
                    }
                    Event::Recv(_) | Event::Send(_) => panic!("{text}: {event:?} blocks"),
                    _ => {}
                }
            }
        }
    }
}
