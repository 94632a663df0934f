//! Job mixes: the contract of a source, and start times and nodes worked out by hand.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use trgen::clock::Clock;
use trgen::conformance::{self, End};
use trgen::trace::jobs::{Allocation, Job, JobMix, JobRecord, Scheduler, Terms};
use trgen::trace::kernels;
use trgen::trace::placement::Placement;
use trgen::trace::program::{Event, Program};
use trgen::trace::replay::{Pace, Protocol};
use trgen::{Activity, Cycle, Geometry, Next, Outbox, Picoseconds, TrGen};

const CYCLE: Picoseconds = Picoseconds(3200);

fn terms(scheduler: Scheduler, allocation: Allocation) -> Terms {
    Terms {
        scheduler,
        allocation,
        placement: Placement::default(),
        tasks_per_node: 1,
        pace: Pace { cycle: Clock::whole(CYCLE.0), compute_scale: 1.0 },
        protocol: Protocol::default(),
        seed: 1,
    }
}

/// Tasks that compute for this many cycles and send nothing.
fn quiet(name: &str, tasks: usize, cycles: u64, arrival: u64) -> Job {
    let events = vec![Event::Compute(Picoseconds(CYCLE.0 * cycles))];
    let program = Arc::new(Program { tasks: vec![events; tasks] });
    Job { name: name.to_owned(), program, arrival: Cycle(arrival), estimate: cycles, class: 0 }
}

fn kernel(spec: &str, arrival: u64) -> Job {
    let program = Arc::new(kernels::parse(spec, 16, None).unwrap());
    Job { name: spec.to_owned(), program, arrival: Cycle(arrival), estimate: 5000, class: 0 }
}

/// Runs jobs that send nothing.
fn run(mut mix: JobMix) -> Vec<JobRecord> {
    let mut out = Outbox::new(mix.nodes());
    while let trgen::Next::At(cycle) = mix.next() {
        mix.generate(cycle, &mut out).unwrap();
    }
    assert_eq!(mix.next(), trgen::Next::Done);
    mix.records()
}

/// First and last cycle of each job on 8 nodes in a line.
fn times(scheduler: Scheduler, jobs: &[Job]) -> Vec<(u64, u64)> {
    let line = Geometry::new(&[8]).unwrap();
    let records = run(JobMix::new(jobs.to_vec(), terms(scheduler, Allocation::Contiguous), &line).unwrap());
    records.iter().map(|record| (record.start.unwrap().0, record.finish.unwrap().0)).collect()
}

#[test]
fn jobs_keep_to_the_contract_of_a_source() {
    let grid = Geometry::new(&[4, 4]).unwrap();
    let jobs = [
        kernel("all-to-all:tasks=8,bytes=600", 1),
        kernel("bintree:tasks=16,bytes=64", 40),
        kernel("waterfall:tasks=4,bytes=200,iterations=5", 40),
        kernel("butterfly:tasks=8,bytes=100", 3),
    ];
    for scheduler in [Scheduler::Fcfs, Scheduler::FirstFit, Scheduler::Easy] {
        for allocation in [Allocation::Contiguous, Allocation::QuasiContiguous, Allocation::Random] {
            let terms = terms(scheduler, allocation);
            let make = &mut || Box::new(JobMix::new(jobs.to_vec(), terms.clone(), &grid).unwrap()) as Box<dyn TrGen>;
            let name = format!("{scheduler:?} {allocation:?}");
            let report = conformance::check(&name, make, Cycle(1_000_000)).unwrap_or_else(|error| panic!("{error}"));
            let all = jobs.iter().map(|job| job.program.totals());
            let messages: u64 = all.map(|totals| totals.point_to_point_messages + totals.collective_messages).sum();
            for run in report.runs {
                assert_eq!((run.end, run.messages, run.delivered), (End::Done, messages, messages), "{name}");
            }
        }
    }
}

#[test]
fn the_next_starts_in_the_cycle_after_the_last_one_ended() {
    let jobs = [quiet("a", 8, 100, 1), quiet("b", 8, 50, 10)];
    // Computing takes cycles 1 to 100; the nodes are free in 101.
    assert_eq!(times(Scheduler::Fcfs, &jobs), [(1, 100), (101, 150)]);
}

#[test]
fn every_job_is_seen_once_and_those_that_run_by_name() {
    let line = Geometry::new(&[8]).unwrap();
    let jobs = vec![quiet("a", 4, 100, 1), quiet("wide", 8, 10, 2), quiet("late", 2, 20, 500)];
    let mut mix = JobMix::new(jobs, terms(Scheduler::Fcfs, Allocation::Contiguous), &line).unwrap();
    let mut out = Outbox::new(mix.nodes());
    let mut seen = Vec::new();
    loop {
        let Activity::Jobs(jobs) = mix.activity() else { panic!("jobs are seen as such") };
        let listed: Vec<String> = jobs.listed.iter().map(|job| format!("{} {}", job.name, job.tasks.len())).collect();
        seen.push((jobs.coming, jobs.waiting, jobs.running, jobs.ended, listed.join(", ")));
        let Next::At(cycle) = mix.next() else { break };
        mix.generate(cycle, &mut out).unwrap();
    }
    seen.dedup();
    let row = |coming, waiting, running, ended, listed: &str| (coming, waiting, running, ended, listed.to_owned());
    let expected = [
        row(3, 0, 0, 0, ""),
        row(2, 0, 1, 0, "a 4"),
        row(1, 1, 1, 0, "a 4"),
        row(1, 1, 0, 1, "a 4"),
        row(1, 0, 1, 1, "wide 8"),
        row(1, 0, 0, 2, "wide 8"),
        row(0, 0, 1, 2, "late 2"),
        row(0, 0, 0, 3, "late 2"),
    ];
    assert_eq!(seen, expected, "{seen:?}");
}

#[test]
fn schedulers_differ_in_who_overtakes() {
    // `wide` has to wait for `a`; `short` fits beside `a` and ends before it, `long` does not end before it.
    let jobs = [quiet("a", 4, 100, 1), quiet("wide", 8, 10, 2), quiet("long", 2, 200, 3), quiet("short", 4, 50, 4)];
    assert_eq!(times(Scheduler::Fcfs, &jobs), [(1, 100), (101, 110), (111, 310), (111, 160)]);
    assert_eq!(times(Scheduler::FirstFit, &jobs), [(1, 100), (203, 212), (3, 202), (101, 150)]);
    assert_eq!(times(Scheduler::Easy, &jobs), [(1, 100), (101, 110), (111, 310), (4, 53)]);
}

#[test]
fn a_job_of_several_tasks_per_node_takes_fewer_nodes() {
    let line = Geometry::new(&[4]).unwrap();
    let terms = Terms { tasks_per_node: 2, ..terms(Scheduler::Fcfs, Allocation::Contiguous) };
    let records = run(JobMix::new(vec![quiet("a", 5, 1, 1)], terms, &line).unwrap());
    assert_eq!(records[0].placement.iter().map(|node| node.0).collect::<Vec<_>>(), [0, 0, 1, 1, 2]);
}

#[test]
fn what_can_never_run_is_refused() {
    let line = Geometry::new(&[4]).unwrap();
    let refused = |job: Job| JobMix::new(vec![job], terms(Scheduler::Fcfs, Allocation::Random), &line).unwrap_err();
    let error = refused(quiet("big", 5, 1, 1));
    assert_eq!(error.to_string(), "job `big` needs 5 nodes, and the network has 4");
    assert!(error.remedy().to_string().contains("5 nodes or more"));
    assert_eq!(refused(quiet("none", 0, 1, 1)).to_string(), "job `none` has no task");
}

#[test]
fn jobs_that_wait_for_ever_are_named() {
    let grid = Geometry::new(&[4]).unwrap();
    let receive = trgen::trace::program::Receive {
        from: None,
        tag: trgen::trace::program::TagFilter::AnyIn(trgen::trace::program::Tag::POINT_TO_POINT),
        bytes: 0,
    };
    let program = Arc::new(Program { tasks: vec![vec![Event::Recv(receive)]] });
    let stuck = Job { name: "stuck".to_owned(), program, arrival: Cycle(1), estimate: 1, class: 0 };
    let mut mix = JobMix::new(vec![stuck], terms(Scheduler::Fcfs, Allocation::Contiguous), &grid).unwrap();
    mix.generate(Cycle(1), &mut Outbox::new(4)).unwrap();
    assert_eq!(mix.next(), trgen::Next::Waiting);
    assert!(mix.waits()[0].text.starts_with("job `stuck`: task 0 on node 0"), "{:?}", mix.waits());
}
