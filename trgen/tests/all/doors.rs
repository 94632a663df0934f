//! Every algorithm of collectives has the same messages by every door: kernel, MPI program, Chakra trace, graph.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{HashMap, VecDeque};

use trgen::clock::Clock;
use trgen::collective::{COLLECTIVES, Row};
use trgen::trace::chakra::Group;
use trgen::trace::chakra::collective::{Layout, Part};
use trgen::trace::collectives::{Choice, Collective, RequestPool, expand};
use trgen::trace::goal::hosts::HostParams;
use trgen::trace::goal::ideal::execute_recorded;
use trgen::trace::goal::{Graph, chain};
use trgen::trace::kernels::parse;
use trgen::trace::kind::CollectiveKind;
use trgen::trace::program::{Event, Program, Tag};
use trgen::trace::replay::{Pace, Replay};
use trgen::trace::timeline::Timeline;
use trgen::{Cycle, Delivery, Message, Next, NodeId, Outbox, TaskId, TrGen};

use CollectiveKind::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};

/// Messages: sender, receiver, size \[bytes\] and round. The round is the number of messages that must have arrived one after
/// another before this one is sent: the time at which it is sent over a network that takes a unit of time for any message,
/// between ranks that take none.
type Messages = Vec<(u32, u32, u64, u64)>;

fn sorted(mut messages: Messages) -> Messages {
    messages.sort_unstable();
    messages
}

/// \[cycles\] The unit of time: so much more than a cycle that blocking sends, which end a cycle later, do not count.
const UNIT: u64 = 100_000;

fn of_timeline(timeline: &Timeline, unit: u64) -> Messages {
    assert!(timeline.messages().iter().all(|message| message.arrived.is_some()), "all have arrived");
    let round = |sent: u64| (sent + unit / 2) / unit;
    sorted(timeline.messages().iter().map(|each| (each.from, each.to, each.bytes, round(each.sent))).collect())
}

/// The messages of a program, over a network in which each takes a unit.
fn of_program(program: Program) -> Messages {
    let tasks = program.tasks.len();
    let places: Vec<NodeId> = (0..tasks).map(NodeId::at).collect();
    // A cycle is a picosecond.
    let pace = Pace { cycle: Clock::whole(1), compute_scale: 1.0 };
    let mut replay = Replay::new(program, &places, tasks, pace).unwrap();
    replay.record();
    let (mut outbox, mut under_way) = (Outbox::new(tasks), VecDeque::<(Cycle, Message)>::new());
    let mut now = Cycle::FIRST;
    loop {
        replay.generate(now, &mut outbox).unwrap();
        let mut sent = Vec::new();
        outbox.offer(|message| {
            sent.push(message);
            true
        });
        sent.iter().for_each(|message| replay.sent(now, message));
        under_way.extend(sent.into_iter().map(|message| (now, message)));
        while let Some((offered, message)) = under_way.pop_front_if(|(offered, _)| *offered + (UNIT - 1) <= now) {
            replay.delivered(now, &Delivery { message, offered, delivered: now });
        }
        let arrival = under_way.front().map(|&(offered, _)| offered + (UNIT - 1));
        let next = match replay.next() {
            Next::At(cycle) => Some(cycle.max(now.next())),
            Next::Waiting => None,
            Next::Done => break,
        };
        now = next.into_iter().chain(arrival).min().expect("the program ends");
    }
    of_timeline(replay.timeline(), UNIT)
}

/// The messages of a graph on hosts that take no time, over a wire that takes 1 ns.
fn of_graph(graph: Graph) -> Messages {
    let hosts = HostParams {
        overhead: 0,
        gap: 0,
        gap_per_byte: 0,
        overhead_per_byte: 0,
        rendezvous: u64::MAX,
        ..HostParams::default()
    };
    let run = execute_recorded(graph, hosts, 1, true, &mut |_| true);
    assert!(run.remains.is_nothing());
    of_timeline(&run.timeline, 1000)
}

/// The messages of a collective of a Chakra trace, unit of time by unit of time.
fn of_layout(layout: &Layout, kind: CollectiveKind, size: u32, bytes: u64) -> Messages {
    let parts: Vec<Part> = (0..size).map(|rank| layout.part(kind, 0, rank, bytes).unwrap()).collect();
    let mut arrived: Vec<HashMap<u32, u32>> = vec![HashMap::new(); size as usize];
    let (mut taken, mut all) = (vec![0; size as usize], Vec::new());
    // Receiver, and the number under which the message counts.
    let mut under_way: Vec<(u32, u32)> = Vec::new();
    for round in 0.. {
        for (to, counted) in std::mem::take(&mut under_way) {
            *arrived[to as usize].entry(counted).or_default() += 1;
        }
        for (rank, part) in (0..size).zip(&parts) {
            let mut send = |taken| {
                part.sends(taken, |phase, place, bytes| {
                    let to = layout.rank(0, place);
                    all.push((rank, to, bytes, round));
                    under_way.push((to, layout.counted(part, 0, rank, phase)));
                });
            };
            if round == 0 {
                send(0);
            }
            while let Some((counted, count)) = part.needs(taken[rank as usize])
                && arrived[rank as usize].get(&counted).is_some_and(|&arrived| arrived >= count)
            {
                taken[rank as usize] += 1;
                send(taken[rank as usize]);
            }
        }
        if under_way.is_empty() {
            break;
        }
    }
    assert!(parts.iter().zip(taken).all(|(part, taken)| part.arrivals() == taken), "{kind:?}: all is received");
    sorted(all)
}

/// Name of the kernel of a kind, the operation of MPI on `size` ranks with blocks of `block` bytes, and its size \[bytes\] in a
/// kernel and in a Chakra trace.
fn of_kind(kind: CollectiveKind, size: usize, block: u64) -> (&'static str, Collective, u64, u64) {
    let (whole, root) = (block * size as u64, 0);
    match kind {
        AllReduce => ("all-reduce", Collective::Allreduce { bytes: whole }, whole, whole),
        AllGather => ("all-gather", Collective::Allgather { bytes: block }, whole, block),
        ReduceScatter => ("reduce-scatter", Collective::ReduceScatter { blocks: vec![block; size] }, whole, whole),
        Broadcast => ("broadcast", Collective::Broadcast { root, bytes: whole }, whole, whole),
        Reduce => ("reduce", Collective::Reduce { root, bytes: whole }, whole, whole),
        Gather => ("gather", Collective::Gather { root, bytes: block }, block, whole),
        Scatter => ("scatter", Collective::Scatter { root, bytes: block }, block, whole),
        AllToAll => ("all-to-all", Collective::Alltoall { bytes: block }, block, whole),
        Barrier => ("barrier", Collective::Barrier, 0, 0),
    }
}

/// The messages of an algorithm by every door; `None` if a kernel refuses it.
fn by_doors(row: &'static Row, kind: CollectiveKind, size: usize, block: u64) -> Option<[Messages; 4]> {
    let (kernel, operation, of_kernel, of_chakra) = of_kind(kind, size, block);
    let bytes = if kind == Barrier { String::new() } else { format!(",bytes={of_kernel}") };
    let program = parse(&format!("{kernel}:tasks={size},algorithm={}{bytes}", row.name()), size, None).ok()?;

    let choice: Choice = format!("{kernel}={}", row.name()).parse().unwrap();
    assert_eq!(choice, format!("{}={}", kind.name(), row.name()).parse().unwrap());
    let ranks: Vec<TaskId> = (0..size).map(TaskId::at).collect();
    let algorithm = choice.algorithm(&operation, size);
    let rank = |rank: usize| {
        let (mut events, mut requests) = (Vec::new(), RequestPool::new());
        expand(&operation, algorithm, &ranks, rank, Tag::collective(0), &mut requests, &mut events).unwrap();
        events
    };
    let of_mpi: Vec<Vec<Event>> = (0..size).map(rank).collect();

    let group = Group { name: "all".into(), ranks: (0..size as u32).collect() };
    let of_trace = of_layout(&Layout::flat(&[group]).by(choice), kind, size as u32, of_chakra);
    let of_graph = of_graph(chain::graph(&program).unwrap());
    Some([of_program(program), of_program(Program { tasks: of_mpi }), of_trace, of_graph])
}

#[test]
fn an_algorithm_has_the_same_messages_in_the_same_rounds_by_every_door() {
    let mut seen = 0;
    for kind in [AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, Gather, Scatter, AllToAll, Barrier] {
        for row in Row::of(kind).filter(|row| !row.has_levels(kind)) {
            for (size, block) in [(1, 64), (2, 1000), (3, 840), (4, 77), (5, 12_000), (7, 1001), (8, 2_520), (12, 333)]
            {
                let Some([kernel, mpi, chakra, goal]) = by_doors(row, kind, size, block) else {
                    // Only these two need a power of two of ranks, with kernels; programs then do something else.
                    assert!(
                        !size.is_power_of_two() && matches!(kind, AllGather | ReduceScatter),
                        "{kind:?} {}",
                        row.name()
                    );
                    assert!(matches!(row.name(), "doubling" | "halving"), "{kind:?} {}", row.name());
                    continue;
                };
                let what = format!("{} by {} of {size}", kind.name(), row.name());
                assert_eq!(kernel, mpi, "{what}: programs of MPI");
                assert_eq!(kernel, chakra, "{what}: Chakra");
                assert_eq!(kernel, goal, "{what}: graphs");
                assert!(size == 1 || !kernel.is_empty(), "{what} sends nothing");
                seen += 1;
            }
        }
    }
    assert!(seen > 150, "{seen} cases");
}

#[test]
fn names_mean_one_algorithm_everywhere() {
    for (one, other) in [
        ("all-reduce=recursive-doubling", "allreduce=doubling"),
        ("ReduceScatter=recursive-halving", "reduce_scatter=halving"),
        ("all-to-all=pairwise", "alltoall=pairwise-exchange"),
        ("broadcast=binomial-tree", "bcast=binomial-tree"),
    ] {
        assert_eq!(one.parse::<Choice>().unwrap(), other.parse().unwrap());
    }
    for (text, what) in [
        ("all-reduce=bruck", "`bruck` is no algorithm of allreduce"),
        ("all-reduce=duobling", "unknown collective algorithm `duobling`"),
        ("all-redcue=ring", "unknown collective operation `all-redcue`"),
    ] {
        assert_eq!(text.parse::<Choice>().unwrap_err().to_string(), what);
    }
    let levels: Choice = "all-reduce=hierarchical".parse().unwrap();
    assert!(levels.check_programs().unwrap_err().to_string().contains("do not know the nodes"));
    assert!(COLLECTIVES.names().len() >= 18);
}
