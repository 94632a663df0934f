//! Replays as sources of traffic: the conformance battery, waits for any, rendezvous, containers, hosts of graphs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Cursor;

use trgen::clock::Clock;
use trgen::conformance::{self, End};
use trgen::trace::container::{Content, Header, Reader, Writer};
use trgen::trace::flow::Flow;
use trgen::trace::goal::hosts::HostParams;
use trgen::trace::goal::patterns;
use trgen::trace::goal::routed::Routed;
use trgen::trace::kernels;
use trgen::trace::program::{Event, Program, Receive, Request, Send, Tag, TagFilter};
use trgen::trace::replay::{Pace, Protocol, Replay};
use trgen::{Cycle, Delivery, Message, Next, NodeId, Outbox, Picoseconds, TaskId, TrGen};

const PACE: Pace = Pace { cycle: Clock::whole(1000), compute_scale: 1.0 };
const HORIZON: Cycle = Cycle(1_000_000);

fn nodes(count: usize) -> Vec<NodeId> {
    (0..count).map(NodeId::at).collect()
}

fn send(to: u32, bytes: u64) -> Send {
    Send { to: TaskId(to), tag: Tag::user(1), bytes }
}

fn receive(from: u32) -> Receive {
    Receive { from: Some(TaskId(from)), tag: TagFilter::Exactly(Tag::user(1)), bytes: 0 }
}

fn work(cycles: u64) -> Event {
    Event::Compute(Picoseconds(cycles * 1000))
}

fn ends(name: &str, make: &mut dyn FnMut() -> Box<dyn TrGen>) -> u64 {
    let report = conformance::check(name, make, HORIZON).unwrap_or_else(|violation| panic!("{name}: {violation}"));
    assert!(report.runs.iter().all(|run| run.end == End::Done && run.delivered == run.messages), "{name}: {report:?}");
    report.runs[0].messages
}

#[test]
fn replays_keep_the_contract_eager_or_not() {
    for spec in ["all-to-all:tasks=6,bytes=500", "sweep2d:grid=3x2,bytes=64", "bintree:tasks=8", "mesh2d:grid=2x3"] {
        let program = kernels::parse(spec, 6, None).unwrap();
        let tasks = program.tasks.len();
        let of = |limit| {
            let program = program.clone();
            move || -> Box<dyn TrGen> {
                let replay = Replay::new(program.clone(), &nodes(tasks), tasks + 1, PACE).unwrap();
                Box::new(replay.with_protocol(Protocol { eager_limit: limit }))
            }
        };
        let messages = program.totals().point_to_point_messages;
        assert_eq!(ends(spec, &mut of(None)), messages);
        // Announcement, answer and data. Where every task sends first, a rendezvous deadlocks.
        if spec.starts_with("sweep2d") || spec.starts_with("bintree") {
            assert_eq!(ends(spec, &mut of(Some(10))), 3 * messages, "{spec}");
        }
        assert_eq!(ends(spec, &mut of(Some(500_000))), messages, "{spec}");
    }
}

#[test]
fn a_container_replays_as_the_program_in_it() {
    let program = kernels::parse("butterfly:tasks=8,bytes=300,iterations=40", 8, None).unwrap();
    let (origin, collectives, notes) = (String::new(), Vec::new(), Vec::new());
    let header = Header { content: Content::Programs, tasks: 8, origin, collectives, notes };
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    writer.program(&program).unwrap();
    let reader = Reader::open(Cursor::new(writer.finish().unwrap())).unwrap();
    let stored = &mut || -> Box<dyn TrGen> { Box::new(Replay::stored(&reader, &nodes(8), 8, PACE).unwrap()) };
    let memory = &mut || -> Box<dyn TrGen> { Box::new(Replay::new(program.clone(), &nodes(8), 8, PACE).unwrap()) };
    let runs = |make| conformance::check("container", make, HORIZON).unwrap();
    assert_eq!(runs(stored), runs(memory));
}

#[test]
fn hosts_of_graphs_keep_the_contract() {
    for spec in ["dissemination:ranks=8,bytes=100", "linbarrier:ranks=5", "pipelinedringdep:ranks=4,bytes=5000"] {
        let graph = patterns::parse(spec).unwrap();
        let ranks = graph.ranks().len();
        for rendezvous in [65_535, 10] {
            let params = HostParams { rendezvous, ..HostParams::default() };
            let make = &mut || -> Box<dyn TrGen> {
                let cycle = Picoseconds(3200);
                Box::new(Routed::new(graph.clone(), params, &nodes(ranks), ranks, cycle).unwrap())
            };
            assert_eq!(ends(spec, make), graph.counts().sends, "{spec}");
        }
    }
}

/// A network that delivers each message `delay` cycles after its offer. Returns cycle and message of each delivery, and
/// the clock at the end; `None` if the source waits for ever.
fn run(source: &mut dyn TrGen, delay: u64) -> Option<(Vec<(u64, Message)>, u64)> {
    let mut outbox = Outbox::new(source.nodes());
    let mut flying: Vec<(u64, Message)> = Vec::new();
    let mut delivered = Vec::new();
    let mut now = Cycle::FIRST;
    loop {
        match source.next() {
            Next::At(due) if due <= now => source.generate(now, &mut outbox).unwrap(),
            Next::Done if flying.is_empty() => return Some((delivered, now.0)),
            Next::Waiting if flying.is_empty() => return None,
            _ => {}
        }
        let mut taken = Vec::new();
        outbox.offer(|message| {
            taken.push(message);
            true
        });
        for message in taken {
            source.sent(now, &message);
            flying.push((now.0 + delay, message));
        }
        for (at, message) in flying.extract_if(.., |(at, _)| *at == now.0).collect::<Vec<_>>() {
            delivered.push((at, message));
            source.delivered(now, &Delivery { message, offered: Cycle(at - delay), delivered: now });
        }
        now = now.next();
    }
}

/// A graph that has run over one network runs over another as a new one does, by both rules, also where it was left in the
/// middle.
#[test]
fn a_graph_begins_anew_as_a_new_one() {
    let deadlock = "num_ranks 2\nrank 0 {\nl1: recv 8b from 1\nl2: send 8b to 1\nl3: calc 700\nl2 requires l1\n}\n\
                    rank 1 {\nl1: recv 8b from 0\nl2: send 8b to 0\nl2 requires l1\n}\n";
    let mut reader = trgen::trace::goal::text::Reader::default();
    deadlock.lines().for_each(|line| reader.line(line).unwrap());
    let specs = ["dissemination:ranks=7,bytes=100", "linbarrier:ranks=5", "pipelinedringdep:ranks=4,bytes=5000"];
    let graphs = specs.map(|spec| patterns::parse(spec).unwrap()).into_iter().chain([reader.finish().unwrap()]);
    for (graph, streams) in graphs.flat_map(|graph| [(graph.clone(), false), (graph, true)]) {
        let ranks = graph.ranks().len();
        // A cycle of 1 ps, so that hosts count in parts of a ns.
        for (rendezvous, cycle) in [(65_535, 3200), (10, 3200), (65_535, 1)] {
            let params = HostParams { rendezvous, streams, overhead: 3, gap: 2, ..HostParams::default() };
            let new = || Routed::new(graph.clone(), params, &nodes(ranks), ranks, Picoseconds(cycle)).unwrap();
            let mut used = new();
            let first = run(&mut used, 17);
            used.begin_anew();
            let (mut again, mut other) = (used.clone(), new());
            assert_eq!(run(&mut again, 17), first, "{ranks} ranks");
            assert_eq!(run(&mut used, 5), run(&mut other, 5), "{ranks} ranks");
            assert_eq!((used.report(), used.finish()), (other.report(), other.finish()), "{ranks} ranks");
        }
    }
}

#[test]
fn a_wait_for_any_takes_each_completion_once() {
    // Task 0 waits twice for any of two receives; task 1 sends at once, task 2 after computing for 50 cycles.
    let any = || Event::WaitAny(Box::new([Request(0), Request(1)]));
    let waiting = |waits: usize| {
        let mut events = vec![Event::Irecv(receive(1), Request(0)), Event::Irecv(receive(2), Request(1))];
        events.extend((0..waits).map(|_| any()));
        events.push(Event::Send(send(1, 8)));
        let one = vec![Event::Send(send(0, 8)), Event::Recv(receive(0))];
        Program { tasks: vec![events, one, vec![work(50), Event::Send(send(0, 8))]] }
    };
    let last = |waits| {
        let mut replay = Replay::new(waiting(waits), &nodes(3), 3, PACE).unwrap();
        run(&mut replay, 10).unwrap().0.iter().find(|(_, message)| message.source == NodeId(0)).unwrap().0
    };
    // The message of cycle 1 arrives in 11 and is answered in 12; that of cycle 50, the last of computing, arrives in
    // 60.
    assert_eq!(last(1), 12 + 10);
    assert_eq!(last(2), 61 + 10);
    // No request is left for a third wait: it ends at once.
    assert_eq!(last(3), 61 + 10);
}

#[test]
fn a_rendezvous_waits_for_the_receive() {
    let program = Program { tasks: vec![vec![Event::Send(send(1, 100))], vec![work(40), Event::Recv(receive(0))]] };
    let with = |limit| {
        let replay = Replay::new(program.clone(), &nodes(2), 2, PACE).unwrap();
        let mut replay = replay.with_protocol(Protocol { eager_limit: limit });
        let (delivered, _) = run(&mut replay, 10).unwrap();
        let steps: Vec<(u64, u64)> = delivered.iter().map(|(at, message)| (*at, message.bytes)).collect();
        (steps, replay.report().tasks[0].finished.unwrap().0)
    };
    assert_eq!(with(Some(100)), (vec![(11, 100)], 2));
    // Announced in 1, arrived in 11; received from 40 on: the answer arrives in 50, the data leave in 51.
    assert_eq!(with(Some(99)), (vec![(11, 0), (50, 0), (61, 100)], 52));
}

#[test]
fn two_rendezvous_that_wait_for_each_other_deadlock() {
    let task = |other| vec![Event::Send(send(other, 100)), Event::Recv(receive(other))];
    let program = Program { tasks: vec![task(1), task(0)] };
    let replay = || Replay::new(program.clone(), &nodes(2), 2, PACE).unwrap();
    assert!(run(&mut replay(), 10).is_some());
    let mut strict = replay().with_protocol(Protocol { eager_limit: Some(0) });
    assert!(run(&mut strict, 10).is_none());
    let waits = strict.waits();
    assert_eq!(waits.len(), 2);
    assert!(waits[0].text.ends_with("event 1 of 2: waits for task 1 to receive its message with tag 1"), "{waits:?}");
}

#[test]
fn a_graph_in_deadlock_has_done_what_it_has_done() {
    // Rank 0 sends to rank 2 first; then ranks 0 and 1 receive before they send.
    let text = "num_ranks 3\nrank 0 {\nl1: send 8b to 2\nl2: recv 10b from 1\nl3: send 10b to 1\nl3 requires l2\n}\n\
                rank 1 {\nl1: recv 10b from 0\nl2: send 10b to 0\nl2 requires l1\n}\nrank 2 {\nl1: recv 8b from 0\n}\n";
    let mut reader = trgen::trace::goal::text::Reader::default();
    text.lines().for_each(|line| reader.line(line).unwrap());
    let graph = reader.finish().unwrap();
    let mut hosts = Routed::new(graph, HostParams::default(), &nodes(3), 3, Picoseconds(1000)).unwrap();
    assert!(run(&mut hosts, 10).is_none());
    let report = hosts.report();
    let done = report.tasks.iter().map(|task| (task.sent_point_to_point, task.sent_bytes, task.received));
    assert_eq!(done.collect::<Vec<_>>(), [(1, 8, 0), (0, 0, 0), (0, 0, 1)]);
    let finished: Vec<bool> = report.tasks.iter().map(|task| task.finished.is_some()).collect();
    assert_eq!((finished, report.unfinished), (vec![false, false, true], 2));
    let flow = Flow { from: NodeId(0), to: NodeId(2), bytes: 8, messages: 1 };
    assert_eq!(hosts.flows().collect::<Vec<_>>(), [flow]);
}

#[test]
fn a_message_between_hosts_takes_overhead_network_and_overhead() {
    let text =
        "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\nl2: calc 700\nl2 requires l1\n}\n";
    let mut reader = trgen::trace::goal::text::Reader::default();
    text.lines().for_each(|line| reader.line(line).unwrap());
    let params = HostParams { overhead: 5, gap: 1, overhead_per_byte: 2, ..HostParams::default() };
    let cycle = Picoseconds(1000);
    let mut hosts = Routed::new(reader.finish().unwrap(), params, &nodes(2), 2, cycle).unwrap();
    let (delivered, _) = run(&mut hosts, 10).unwrap();
    // A cycle is a ns, and cycle 1 begins at 0: the message leaves at 5, in cycle 6, and arrives at the end of cycle
    // 16.
    assert_eq!(delivered[0].0, 16);
    // The sender's CPU is free after o + 7 O; the receiver's after the same time from 16 on, and the calculation.
    assert_eq!(hosts.finish(), [5 + 14, 16 + 5 + 14 + 700]);
}
