//! Replayed programs and kernels keep the contract of a traffic source.

use trgen::clock::Clock;
use trgen::conformance::{self, End};
use trgen::trace::kernels;
use trgen::trace::program::{Event, Program, Receive, Request, Send, Tag, TagFilter};
use trgen::trace::replay::{Pace, Replay};
use trgen::{Cycle, NodeId, Picoseconds, TaskId, TrGen};

/// \[ps\] Length of a network cycle.
const CYCLE: Picoseconds = Picoseconds(3200);

/// Drives the program over the toy networks, tasks on nodes in reverse order; all of its messages must be delivered.
fn check(name: &str, program: &Program) {
    let nodes = program.tasks.len();
    let placement: Vec<NodeId> = (0..nodes).rev().map(NodeId::at).collect();
    let pace = Pace { cycle: Clock::whole(CYCLE.0), compute_scale: 1.0 };
    let make = &mut || Box::new(Replay::new(program.clone(), &placement, nodes, pace).unwrap()) as Box<dyn TrGen>;
    let report = conformance::check(name, make, Cycle(10_000_000)).unwrap_or_else(|violation| panic!("{violation}"));
    let totals = program.totals();
    for run in report.runs {
        assert_eq!(run.end, End::Done, "{name}: {run:?}");
        assert_eq!(run.messages, totals.point_to_point_messages + totals.collective_messages, "{name}: {run:?}");
        assert_eq!(run.delivered, run.messages, "{name}: {run:?}");
    }
}

#[test]
fn every_kernel_keeps_to_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.csv");
    std::fs::write(&file, "0,1,200\n3,9,0\n0,70,0\n").unwrap();
    for kernel in kernels::components() {
        let has = |name: &str| kernel.parameters.iter().any(|parameter| parameter.name == name);
        if has("file") {
            let text = format!("{}:file=\"{}\",iterations=3", kernel.name, file.display());
            check(&text, &kernels::parse(&text, 64, None).unwrap());
            continue;
        }
        for words in ["tasks=16", "tasks=16,iterations=3,bytes=5000", "tasks=64,bytes=0"] {
            let words = if has("ranks") { words.replace("tasks", "ranks") } else { words.to_owned() };
            let sized = has("bytes");
            let words = if sized { words } else { words.replace(",bytes=5000", "").replace(",bytes=0", "") };
            // One that computes does so in no time.
            let more = if has("madd") { ",madd=0" } else { "" };
            let group = if has("group") { ",group=4" } else { "" };
            let text = format!("{}:{words}{more}{group}", kernel.name);
            check(&text, &kernels::parse(&text, 64, None).unwrap());
        }
    }
}

#[test]
fn a_program_of_every_step_keeps_to_the_contract() {
    let compute = |cycles: u64| Event::Compute(Picoseconds(CYCLE.0 * cycles + 7));
    let send = |to: u32, label| Send { to: TaskId(to), tag: Tag::user(label), bytes: 300 };
    let any = Receive { from: None, tag: TagFilter::AnyIn(Tag::POINT_TO_POINT), bytes: 300 };
    let from =
        |task: u32, label| Receive { from: Some(TaskId(task)), tag: TagFilter::Exactly(Tag::user(label)), bytes: 300 };
    // Task 0 distributes work to 1, 2 and 3 while it computes, and receives their answers in any order.
    let mut master = Vec::new();
    for worker in 1..4 {
        master.push(Event::Isend(send(worker, 1), Request(worker)));
        master.push(Event::Irecv(any, Request(10 + worker)));
        master.push(compute(u64::from(worker) * 11));
    }
    master.push(Event::WaitAll([1, 2, 3].map(Request).into()));
    master.extend((11..14).map(|request| Event::Wait(Request(request))));
    let mut tasks = vec![master];
    for worker in 1..4u32 {
        let answer = Event::Send(send(0, i64::from(worker)));
        tasks.push(vec![Event::Recv(from(0, 1)), compute(1000 / u64::from(worker)), answer]);
    }
    check("master and workers", &Program { tasks });
}

#[test]
fn a_program_that_waits_for_ever_is_reported_with_who_waits() {
    let receive = |task: u32| Receive { from: Some(TaskId(task)), tag: TagFilter::Exactly(Tag::user(0)), bytes: 0 };
    let program = Program { tasks: vec![vec![Event::Recv(receive(1))], vec![Event::Recv(receive(0))]] };
    let placement = [NodeId(0), NodeId(1)];
    let pace = Pace { cycle: Clock::whole(CYCLE.0), compute_scale: 1.0 };
    let make = &mut || Box::new(Replay::new(program.clone(), &placement, 2, pace).unwrap()) as Box<dyn TrGen>;
    let violation = conformance::check("circle", make, Cycle(1000)).unwrap_err().to_string();
    assert!(violation.contains("task 0") && violation.contains("task 1"), "{violation}");
}
