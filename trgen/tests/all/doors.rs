//! Every algorithm of collectives has the same messages by every door: kernel, MPI program, Chakra trace, graph.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use trgen::TaskId;
use trgen::collective::{COLLECTIVES, Row};
use trgen::trace::chakra::Group;
use trgen::trace::chakra::collective::Layout;
use trgen::trace::collectives::{Choice, Collective, RequestPool, expand};
use trgen::trace::goal::{Kind, chain};
use trgen::trace::kernels::parse;
use trgen::trace::kind::CollectiveKind;
use trgen::trace::program::{Event, Tag};

use CollectiveKind::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};

/// Sender, receiver and size \[bytes\] of messages.
type Messages = Vec<(u32, u32, u64)>;

fn sorted(mut messages: Messages) -> Messages {
    messages.sort_unstable();
    messages
}

fn of_events(tasks: &[Vec<Event>]) -> Messages {
    let of = |(task, events): (u32, &Vec<Event>)| -> Messages {
        let sent = events.iter().filter_map(|event| match event {
            Event::Send(send) | Event::Isend(send, _) => Some((task, send.to.0, send.bytes)),
            _ => None,
        });
        sent.collect()
    };
    sorted((0..).zip(tasks).flat_map(of).collect())
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
    let layout = Layout::flat(&[group]).by(choice);
    let mut of_trace = Vec::new();
    let mut received = vec![0; size];
    for rank in 0..size as u32 {
        let part = layout.part(kind, 0, rank, of_chakra).unwrap();
        for taken in 0..=part.arrivals() {
            part.sends(taken, |_, place, bytes| {
                received[place as usize] += 1;
                of_trace.push((rank, layout.rank(0, place), bytes));
            });
        }
    }
    let arrivals = |rank: u32| layout.part(kind, 0, rank, of_chakra).unwrap().arrivals();
    assert!((0..).zip(&received).all(|(rank, &count)| arrivals(rank) == count), "{kernel} {}", row.name());

    let graph = chain::graph(&program).unwrap();
    let of_rank = |(rank, nodes): (u32, &trgen::trace::goal::Rank)| -> Messages {
        let sends = nodes.nodes().iter().filter(|node| node.kind == Kind::Send);
        sends.map(|node| (rank, node.peer, node.size)).collect()
    };
    let of_graph = (0..).zip(graph.ranks()).flat_map(of_rank).collect();
    Some([of_events(&program.tasks), of_events(&of_mpi), sorted(of_trace), sorted(of_graph)])
}

#[test]
fn an_algorithm_has_the_same_messages_by_every_door() {
    let mut seen = 0;
    for kind in [AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, Gather, Scatter, AllToAll, Barrier] {
        for row in Row::of(kind).filter(|row| !row.has_levels(kind)) {
            for (size, block) in [(1, 64), (2, 1000), (3, 840), (5, 12_000), (8, 2_520), (12, 333)] {
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
