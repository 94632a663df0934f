//! Tracks the pieces held by every member after every round.

use std::collections::HashMap;

use super::super::super::program::Event;
use super::super::parse;
use super::super::schedule::{Action, Step};
use super::{ALL, GATHERING, Name, Plan, SCATTERING, What};

fn plan(what: What, name: Name, group: u32, grid: &[u32]) -> Plan {
    Plan { what, name, word: "", group, stride: 1, chunks: 1, is_paced: false, grid: grid.to_vec() }
}

/// Runs a lane round by round, sends first, with the contributions (a bit for each) that `begin` gives each member's
/// pieces. Adding one twice is an error, and so is sending or replacing what is not there.
fn run(plan: &Plan, lane: u32, begin: impl Fn(u32, u32) -> u64) -> Vec<Vec<u64>> {
    let members = 0..plan.group;
    let mut held: Vec<Vec<u64>> =
        members.clone().map(|member| (0..plan.pieces()).map(|piece| begin(member, piece)).collect()).collect();
    let mut steps: Vec<(u32, bool, u32, Step)> = Vec::new();
    for member in members {
        plan.steps(lane, member, &mut |step| steps.push((step.round, step.action != Action::Send, member, step)));
    }
    steps.sort_by_key(|&(round, receives, member, _)| (round, receives, member));
    // By sender, receiver and round: the pieces, and what they hold.
    let mut letters = HashMap::new();
    for (round, receives, member, Step { action, peer, pieces, .. }) in steps {
        assert!(u64::from(round) < plan.rounds());
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
fn plans(what: What, group: u32) -> Vec<Plan> {
    let words = match what {
        What::AllReduce => ALL,
        What::AllGather => GATHERING,
        What::ReduceScatter => SCATTERING,
    };
    let is_cube =
        |name| matches!((what, name), (What::AllGather, Name::Doubling) | (What::ReduceScatter, Name::Halving));
    let fits = |&&(_, name): &&(&str, Name)| group.is_power_of_two() || !is_cube(name);
    let of_name = |&(_, name): &(&str, Name)| -> Vec<Plan> {
        if name != Name::Torus {
            return vec![plan(what, name, group, &[])];
        }
        let divisors = || (1..=group).filter(|size| group.is_multiple_of(*size));
        let pairs =
            divisors().flat_map(|x| divisors().filter(move |y| (group / x).is_multiple_of(*y)).map(move |y| (x, y)));
        pairs.map(|(x, y)| plan(what, name, group, &[x, y, group / x / y])).collect()
    };
    words.iter().filter(fits).flat_map(of_name).collect()
}

#[test]
fn every_algorithm_does_what_its_kind_says() {
    for group in (1..=17).chain([24, 32, 36]) {
        let everyone = (1u64 << group) - 1;
        for plan in plans(What::AllReduce, group) {
            for lane in 0..plan.lanes() {
                let held = run(&plan, lane, |member, _| 1 << member);
                assert!(held.iter().flatten().all(|&sum| sum == everyone), "{plan:?}, lane {lane}: {held:?}");
            }
        }
        // What each member has in the end of a reduce-scatter is what it begins an all-gather with.
        for scatter in plans(What::ReduceScatter, group) {
            let name = if scatter.name == Name::Halving { Name::Doubling } else { scatter.name };
            let gather = plan(What::AllGather, name, group, &scatter.grid);
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
        let trees = plan(What::AllReduce, Name::Trees, group, &[]);
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
        for what in [What::AllReduce, What::AllGather, What::ReduceScatter] {
            for plan in plans(what, group) {
                let mut sends = 0;
                for (lane, member) in (0..plan.lanes()).flat_map(|lane| (0..group).map(move |member| (lane, member))) {
                    plan.steps(lane, member, &mut |step| sends += u64::from(step.action == Action::Send));
                }
                assert_eq!(plan.messages(group), sends, "{plan:?}");
            }
        }
    }
}

#[test]
fn groups_send_what_they_receive() {
    for (kernel, words) in [("all-reduce", ALL), ("all-gather", GATHERING), ("reduce-scatter", SCATTERING)] {
        for (word, _) in words {
            for (group, rest) in
                [(32, ""), (8, ",group=8"), (4, ",group=4,stride=4,chunks=3"), (2, ",group=2,stride=16")]
            {
                let text = format!("{kernel}:tasks=32,algorithm={word},bytes=6000{rest}");
                let program = parse(&text, 32, None).unwrap_or_else(|error| panic!("{text}: {error}"));
                let sent = program.totals().point_to_point_bytes;
                // Rings, tori and direct exchanges are optimal in bytes.
                if matches!(*word, "ring" | "bidirectional-ring" | "torus" | "direct") {
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
        ("all-gather:tasks=12,algorithm=doubling", "a power of two of tasks, not 12"),
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
