//! DUMPI text: translation of calls, unknown sizes, and the one real dump available.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use proptest::prelude::*;
use trgen::trace::formats::{Fault, ReadOptions, Trace, dumpi_binaries, read, read_bytes};
use trgen::trace::program::{Event, Receive, Send, Tag, TagFilter};
use trgen::{Picoseconds, TaskId};

const HALVES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/dumpi");

const WORLD: &str = "MPI_Comm comm=2 (MPI_COMM_WORLD)";
const INT: &str = "MPI_Datatype datatype=9 (MPI_INT)";

/// Calls without computing time, as text: each is its name and its arguments in one line, separated by `;`.
fn calls(calls: &[&str]) -> String {
    let mut text = String::new();
    for (number, call) in (0..).zip(calls) {
        let mut lines = call.split(';');
        let name = lines.next().unwrap();
        text += &format!("{name} entering at walltime {number}.5, cputime 1.0 seconds in thread 0.\n");
        lines.for_each(|line| text += &format!("{}\n", line.replace("$w", WORLD).replace("$i", INT)));
        text += &format!("{name} returning at walltime {number}.75, cputime 1.0 seconds in thread 0.\n");
    }
    text
}

/// Reads a folder of these files.
fn parse(ranks: &[String]) -> Result<Trace, String> {
    let folder = tempfile::tempdir().unwrap();
    for (rank, text) in ranks.iter().enumerate() {
        fs::write(folder.path().join(format!("t-{rank:04}.txt")), text).unwrap();
    }
    read(folder.path(), &ReadOptions::default())
        .map_err(|error| format!("{error} / {}", error.remedy().unwrap_or_default()))
}

/// Reads the calls of one process, beside an idle process.
fn first(list: &[&str]) -> Result<Vec<Event>, String> {
    parse(&[calls(list), calls(&["MPI_Finalize"])]).map(|trace| trace.program.tasks[0].clone())
}

fn sends(events: &[Event]) -> Vec<&Send> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Send(send) | Event::Isend(send, _) => Some(send),
            _ => None,
        })
        .collect()
}

fn receives(events: &[Event]) -> Vec<&Receive> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Recv(receive) | Event::Irecv(receive, _) => Some(receive),
            _ => None,
        })
        .collect()
}

#[test]
fn four_ranks_with_a_ring_a_split_and_a_derived_type() {
    let trace = read(Path::new(HALVES), &ReadOptions::default()).unwrap();
    assert_eq!(trace.format, "dumpi-ascii");
    assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
    assert!(
        trace.notes.iter().any(|note| note == "2 communicators beside the world were followed"),
        "{:?}",
        trace.notes
    );
    assert!(trace.notes.iter().any(|note| note.contains("CPU time")), "{:?}", trace.notes);
    let counts: Vec<_> = trace.collectives.iter().map(|(name, count)| (*name, *count)).collect();
    assert_eq!(counts, [("allreduce", 4), ("barrier", 4), ("gatherv", 4)]);
    for (rank, events) in trace.program.tasks.iter().enumerate() {
        let messages: Vec<&Send> = sends(events).into_iter().filter(|send| !send.tag.is_collective()).collect();
        // A vector of 100 blocks of 2 doubles round the ring; within a half, three integers to its first rank.
        assert_eq!(*messages[0], Send { to: TaskId::at((rank + 1) % 4), tag: Tag::user(7), bytes: 1600 });
        let within = messages.get(1).map(|send| (send.to.0, send.tag.label, send.bytes));
        assert_eq!(within, [Some((2, 8, 12)), Some((3, 8, 12)), None, None][rank]);
        // An allreduce of five doubles, with the other rank of the half only.
        let reduce: Vec<_> = sends(events).into_iter().filter(|send| send.bytes == 40).map(|send| send.to.0).collect();
        assert_eq!(reduce, [[2], [3], [0], [1]][rank]);
        // CPU time runs at half the speed here: 400 and 10 µs of wall time are 200 and 5 µs.
        let compute: u64 = events.iter().map(|event| if let Event::Compute(time) = event { time.0 } else { 0 }).sum();
        assert_eq!(compute, (12 * 5 + 200 + 100) * 1_000_000);
    }
    assert_eq!(receives(&trace.program.tasks[2])[0].from, None);
    // Shares of a gather: rank + 1 integers.
    let shares: Vec<u64> = (1..4)
        .map(|rank| sends(&trace.program.tasks[rank]).iter().rev().find(|s| s.to.0 == 0 && s.bytes > 0).unwrap().bytes)
        .collect();
    assert_eq!(shares, [8, 12, 16]);
}

#[test]
fn wall_time_is_computing_where_cpu_time_is_missing() {
    let text = "MPI_Init entering at walltime 5.000000000 seconds in thread 0.\n\
                MPI_Init returning at walltime 5.100000000 seconds in thread 0.\n\
                MPI_Finalize entering at walltime 5.100001234 seconds in thread 0.\n\
                MPI_Finalize returning at walltime 5.2 seconds in thread 0.\n";
    let trace = parse(&[text.to_owned()]).unwrap();
    assert_eq!(trace.program.tasks, [[Event::Compute(Picoseconds(1_234_000))]]);
}

#[test]
fn waits_are_for_what_completed_in_the_recording() {
    let begin = "MPI_Irecv;int count=1;$i;int source=1;int tag=1;$w;MPI_Request request=";
    let begins: Vec<String> = [5, 6, 7, 8].iter().map(|request| format!("{begin}[{request}]")).collect();
    let mut list: Vec<&str> = begins.iter().map(String::as_str).collect();
    list.extend([
        "MPI_Test;MPI_Request request=[6];int flag=0;MPI_Status status=<IGNORED>",
        "MPI_Waitany;int count=4;MPI_Request requests[4]=[5, 6, 7, 8];int index=1;MPI_Status status=<IGNORED>",
        "MPI_Waitsome;int count=3;MPI_Request requests[3]=[5, 7, 8];int outcount=2;int indices[2]=[0, 2]",
        "MPI_Testany;int count=1;MPI_Request requests[1]=[7];int index=-1;int flag=0",
        "MPI_Test;MPI_Request request=[7];int flag=1;MPI_Status status=<IGNORED>",
        "MPI_Wait;MPI_Request request=[1] (MPI_REQUEST_NULL);MPI_Status status=<IGNORED>",
    ]);
    let events = first(&list).unwrap();
    let posted: Vec<_> =
        events.iter().filter_map(|e| if let Event::Irecv(_, request) = e { Some(*request) } else { None }).collect();
    let waits: Vec<Event> = events.iter().filter(|e| !matches!(e, Event::Irecv(..))).cloned().collect();
    let some = Event::WaitAll(Box::new([posted[0], posted[3]]));
    assert_eq!(waits, [Event::Wait(posted[1]), some, Event::Wait(posted[2])]);
}

#[test]
fn persistent_requests_are_begun_again_and_again() {
    let events = first(&[
        "MPI_Send_init;int count=4;$i;int dest=1;int tag=3;$w;MPI_Request request=[5]",
        "MPI_Recv_init;int count=4;$i;int source=1;int tag=3;$w;MPI_Request request=[6]",
        "MPI_Startall;int count=2;MPI_Request requests[2]=[5, 6]",
        "MPI_Waitall;int count=2;MPI_Request requests[2]=[5, 6]",
        "MPI_Start;MPI_Request request=[5]",
        "MPI_Wait;MPI_Request request=[5]",
        "MPI_Request_free;MPI_Request request=[5]",
    ])
    .unwrap();
    assert_eq!((sends(&events).len(), receives(&events).len()), (2, 1));
    assert!(sends(&events).iter().all(|send| send.bytes == 16 && send.to == TaskId(1)));
    assert_eq!(events.iter().filter(|event| matches!(event, Event::Wait(_) | Event::WaitAll(_))).count(), 2);
    let error = first(&["MPI_Start;MPI_Request request=[5]"]).unwrap_err();
    assert!(error.contains("request is `5`"), "{error}");
}

#[test]
fn messages_with_nobody_are_none_and_cancelled_receives_neither() {
    let trace = parse(&[
        calls(&[
            "MPI_Send;int count=1;$i;int dest=-2 (MPI_PROC_NULL);int tag=1;$w",
            "MPI_Irecv;int count=1;$i;int source=-9 (MPI_PROC_NULL);int tag=1;$w;MPI_Request request=[4]",
            "MPI_Wait;MPI_Request request=[4]",
            "MPI_Irecv;int count=1;$i;int source=1;int tag=-1 (MPI_ANY_TAG);$w;MPI_Request request=[4]",
            "MPI_Cancel;MPI_Request request=[4]",
            "MPI_Wait;MPI_Request request=[4];MPI_Status status=[{bytes=0, cancelled=1, source=1, tag=1, error=0}]",
            "MPI_Finalize",
        ]),
        calls(&["MPI_Finalize"]),
    ])
    .unwrap();
    assert!(trace.program.tasks[0].is_empty(), "{:?}", trace.program.tasks[0]);
    assert_eq!(trace.warnings.len(), 1, "{:?}", trace.warnings);
}

#[test]
fn sizes_of_derived_types_follow_their_constructors() {
    for (maker, bytes) in [
        ("MPI_Type_contiguous;int count=3;MPI_Datatype oldtype=9 (MPI_INT);MPI_Datatype newtype=[30]", 12),
        (
            "MPI_Type_hvector;int count=3;int blocklength=2;int stride=99;MPI_Datatype oldtype=9 (MPI_INT);MPI_Datatype newtype=30",
            24,
        ),
        (
            "MPI_Type_indexed;int count=2;int lengths[2]=[1, 4];int indices[2]=[0, 9];MPI_Datatype oldtype=9 (MPI_INT);MPI_Datatype newtype=30",
            20,
        ),
        (
            "MPI_Type_struct;int count=2;int lengths[2]=[1, 4];int indices[2]=[0, 8];\
             MPI_Datatype oldtypes[2]=[14 (MPI_DOUBLE), 9 (MPI_INT)];MPI_Datatype newtype=30",
            24,
        ),
        (
            "MPI_Type_create_subarray;int ndims=2;int sizes[2]=[9, 9];int subsizes[2]=[3, 2];int starts[2]=[0, 0];MPI_Datatype oldtype=9 (MPI_INT);MPI_Datatype newtype=30",
            24,
        ),
        ("MPI_Type_size;MPI_Datatype datatype=30 (user-defined-datatype);int size=77", 77),
    ] {
        let send = "MPI_Send;int count=2;MPI_Datatype datatype=30 (user-defined-datatype);int dest=1;int tag=1;$w";
        let events = first(&[maker, send]).unwrap();
        assert_eq!(sends(&events)[0].bytes, 2 * bytes, "{maker}");
    }
}

#[test]
fn the_end_of_the_file_tells_sizes() {
    let send = "MPI_Send;int count=2;MPI_Datatype datatype=31;int dest=1;int tag=1;$w";
    let text = calls(&[send]) + "Datatype 31 (user-defined-datatype) has size 13\n";
    let trace = parse(&[text, calls(&["MPI_Finalize"])]).unwrap();
    assert_eq!(sends(&trace.program.tasks[0])[0].bytes, 26);
}

#[test]
fn communicators_of_groups_and_grids() {
    // Of four ranks, the group holds 3 and 1, in this order; the grid is 2 x 2, and its rows are kept.
    let made = |rank: usize| {
        let within = match rank {
            3 => "MPI_Send;int count=1;$i;int dest=1;int tag=9;MPI_Comm comm=4",
            1 => "MPI_Recv;int count=1;$i;int source=0;int tag=9;MPI_Comm comm=4",
            _ => "MPI_Wtime",
        };
        let row = format!("MPI_Comm_rank;MPI_Comm comm=6;int rank={}", rank % 2);
        calls(&[
            "MPI_Comm_group;$w;MPI_Group group=3",
            "MPI_Group_incl;MPI_Group group=3;int count=2;int ranks[2]=[3, 1];MPI_Group newgroup=4",
            "MPI_Comm_create;$w;MPI_Group group=4;MPI_Comm newcomm=4",
            within,
            "MPI_Cart_create;MPI_Comm oldcomm=2 (MPI_COMM_WORLD);int ndims=2;int dims[2]=[2, 2];int periods[2]=[0, 0];int reorder=0;MPI_Comm newcomm=5",
            "MPI_Cart_sub;MPI_Comm oldcomm=5;int remain_dims[2]=[0, 1];MPI_Comm newcomm=6",
            &row,
            "MPI_Bcast;int count=1;$i;int root=0;MPI_Comm comm=6",
            "MPI_Barrier;MPI_Comm comm=3 (MPI_COMM_SELF)",
            "MPI_Finalize",
        ])
    };
    let trace = parse(&[made(0), made(1), made(2), made(3)]).unwrap();
    assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
    let sent: Vec<Vec<(u32, i64)>> = trace
        .program
        .tasks
        .iter()
        .map(|task| sends(task).iter().map(|send| (send.to.0, send.tag.label)).collect())
        .collect();
    assert_eq!(sent, [vec![(1, 0)], vec![], vec![(3, 0)], vec![(1, 9)]]);
}

#[test]
fn collectives_carry_the_side_that_counts() {
    // Two ranks; the root's sendcount and the other's recvcount are meaningless.
    let rank = |rank: usize| {
        let (send, receive) = if rank == 1 { (99999, 3) } else { (3, 99999) };
        let gather = format!(
            "MPI_Gather;int sendcount={send};MPI_Datatype sendtype=9 (MPI_INT);int recvcount={receive};\
             MPI_Datatype recvtype=9 (MPI_INT);int root=1;$w"
        );
        calls(&[
            &gather,
            "MPI_Alltoallw;int sendcounts[2]=[1, 2];MPI_Datatype sendtypes[2]=[9 (MPI_INT), 14 (MPI_DOUBLE)];\
             int recvcounts[2]=[1, 1];MPI_Datatype recvtypes[2]=[9 (MPI_INT), 9 (MPI_INT)];$w",
            "MPI_Finalize",
        ])
    };
    let trace = parse(&[rank(0), rank(1)]).unwrap();
    let bytes: Vec<u64> = sends(&trace.program.tasks[0]).iter().map(|send| send.bytes).collect();
    assert_eq!(bytes, [12, 16]);
    assert_eq!(sends(&trace.program.tasks[1])[0].bytes, 4);
}

#[test]
fn a_fault_on_the_side_that_counts_is_not_covered_by_the_other_side() {
    const KNOWN: &str = "9 (MPI_INT)";
    let gather = |send: &str, receive: &str| {
        calls(&[&format!(
            "MPI_Gather;int sendcount=3;MPI_Datatype sendtype={send};int recvcount=99999;\
             MPI_Datatype recvtype={receive};int root=1;$w"
        )])
    };
    // Rank 0 sends, rank 1 collects; the size of datatype 40 is unknown.
    let error = parse(&[gather("40", KNOWN), gather(KNOWN, KNOWN)]).unwrap_err();
    assert!(error.contains("t-0000.txt:1: line 3: the size of datatype 40 is not known"), "{error}");
    let error = parse(&[gather(KNOWN, "40"), gather(KNOWN, "40")]).unwrap_err();
    assert!(error.contains("t-0001.txt:1: line 5: the size of datatype 40 is not known"), "{error}");
    let trace = parse(&[gather(KNOWN, "40"), gather("40", KNOWN)]).unwrap();
    assert_eq!(sends(&trace.program.tasks[0])[0].bytes, 12);
}

#[test]
fn both_halves_of_a_sendrecv_have_counts_and_tags_of_their_own() {
    let sendrecv = |to: usize| {
        calls(&[
            &format!(
                "MPI_Sendrecv;int sendcount=3;MPI_Datatype sendtype=9 (MPI_INT);int dest={to};int sendtag={};\
                 int recvcount=5;MPI_Datatype recvtype=14 (MPI_DOUBLE);int source={to};int recvtag={};$w",
                10 + to,
                11 - to
            ),
            &format!(
                "MPI_Sendrecv_replace;int count=7;$i;int dest={to};int sendtag=5;int source={to};int recvtag=5;$w"
            ),
        ])
    };
    let trace = parse(&[sendrecv(1), sendrecv(0)]).unwrap();
    for (rank, events) in trace.program.tasks.iter().enumerate() {
        let other = TaskId::at(1 - rank);
        let sent: Vec<_> = sends(events).iter().map(|send| (send.to, send.tag.label, send.bytes)).collect();
        assert_eq!(sent, [(other, 11 - rank as i64, 12), (other, 5, 28)]);
        let received: Vec<_> = receives(events).iter().map(|receive| (receive.from, receive.bytes)).collect();
        assert_eq!(received, [(Some(other), 40), (Some(other), 28)]);
        let tags: Vec<_> = receives(events).iter().map(|receive| receive.tag).collect();
        assert_eq!(tags[0], TagFilter::Exactly(Tag::user(10 + rank as i64)));
    }
}

#[test]
fn groups_that_are_freed_take_no_memory() {
    // More members in all than may be held at a time, each list freed before the next one is created.
    let mut list = vec!["MPI_Comm_group;$w;MPI_Group group=3"];
    let all: Vec<String> = (0..2048).map(|_| "0".to_owned()).collect();
    let made = format!(
        "MPI_Group_incl;MPI_Group group=3;int count=2048;int ranks[2048]=[{}];MPI_Group newgroup=4",
        all.join(", ")
    );
    let rounds = (1 << 24) / 2048 + 1;
    for _ in 0..rounds {
        list.extend([made.as_str(), "MPI_Group_free;MPI_Group group=4"]);
    }
    first(&list).unwrap();
}

#[test]
fn faults_name_file_line_and_reason() {
    let send = "MPI_Send;int count=1;$i;int dest=1;int tag=0;$w";
    for (call, expected) in [
        ("MPI_Send;int count=x;$i;int dest=1;int tag=0;$w", "t-0000.txt:9: argument is `count=x`"),
        ("MPI_Send;int count=1;$i;int dest=2;int tag=0;$w", "t-0000.txt:8: rank is `2`"),
        ("MPI_Send;int count=1;$i;int tag=0;$w", "t-0000.txt:8: MPI_Send without its argument `dest`"),
        ("MPI_Send;int count=99999999999999;$i;int dest=1;int tag=0;$w", "t-0000.txt:9: argument is `count="),
        (
            "MPI_Send;int count=1;MPI_Datatype datatype=40;int dest=1;int tag=0;$w",
            "t-0000.txt:10: the size of datatype 40 is not known",
        ),
        (
            "MPI_Type_create_darray;MPI_Datatype oldtype=9 (MPI_INT);MPI_Datatype newtype=40",
            "MPI_Type_create_darray (line 8) made it, whose result is not followed / record a run that makes the datatype",
        ),
        ("MPI_Sand;int count=1", "t-0000.txt:8: unknown call `MPI_Sand`"),
        ("MPI_Barrier;MPI_Comm comm=7", "t-0000.txt:8: communicator 7 was not created"),
        ("MPI_Comm_size;$w;int size=4", "t-0000.txt:8: the size of MPI_COMM_WORLD is 4 here, and 2"),
        ("MPI_Intercomm_create;MPI_Comm newcomm=4", "t-0000.txt:8: MPI_Intercomm_create makes"),
        ("MPI_Comm_create;$w;MPI_Group group=9;MPI_Comm newcomm=4", "t-0000.txt:8: "),
        ("MPI_Comm_dup;$w;MPI_Comm newcomm=4", "t-0000.txt:8: not all ranks"),
        ("MPI_Waitany;int count=1;MPI_Request requests[1]=[3];int index=1", "t-0000.txt:11: argument is `index=1`"),
    ] {
        let derived = "MPI_Send;int count=1;MPI_Datatype datatype=40;int dest=1;int tag=0;$w";
        let list = if call.contains("darray") { vec![send, call, derived] } else { vec![send, call] };
        let error = first(&list).unwrap_err();
        assert!(error.contains(expected), "{call}: {error}");
    }
    // A group that both ranks use but never created.
    let create = calls(&["MPI_Comm_create;$w;MPI_Group group=9;MPI_Comm newcomm=4"]);
    let error = parse(&[create.clone(), create]).unwrap_err();
    assert!(error.contains("t-0000.txt:1: group 9 was not made"), "{error}");
    // Truncated or reordered text.
    let whole = calls(&[send, send]);
    let cut: Vec<&str> = whole.lines().collect();
    for (lines, expected) in [
        (cut[..12].join("\n"), "t-0000.txt:12: the file ends, and MPI_Send (line 8) has not returned"),
        (
            cut[..6].join("\n") + "\n" + &cut[7..].join("\n"),
            "t-0000.txt:7: MPI_Send begins, and MPI_Send has not returned",
        ),
        (cut[..7].join("\n") + "\nint count=1", "t-0000.txt:8: `int count` outside of the call"),
        ("version=1.0.0\nstarttime=x\n".to_owned(), "t-0000.txt:2: the file ends without a call"),
        (cut[0].replace("0.5", "0.x"), "t-0000.txt:1: time is `0.x`"),
    ] {
        let error = parse(&[lines, calls(&["MPI_Finalize"])]).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn what_is_missing_is_warned_of() {
    let text = calls(&["MPI_Win_fence;int assert=0", "MPI_Put;int dest=1"])
        + "MPI_ALL_FUNCTIONS called 5 times and ignored 0 times\n";
    let silent = calls(&["MPI_Finalize"]) + "MPI_ALL_FUNCTIONS called 4 times and ignored 3 times\n";
    let warnings = parse(&[text, silent]).unwrap().warnings.join("\n");
    for expected in [
        "one-sided operations, which are left out: 2",
        "switched off, which are missing: 3",
        "rank 0 made 5 calls",
        "without MPI_Finalize: 1",
    ] {
        assert!(warnings.contains(expected), "{expected}: {warnings}");
    }
}

#[test]
fn the_real_dump_of_a_rank_is_read() {
    let Some(traces) = crate::shared::shared_folder("traces/third-party") else { return };
    let archive = traces.join("sstdumpi_dumpi_4_ranks_with_ascii.tar.xz");
    let mut bytes = Vec::new();
    liblzma::read::XzDecoder::new(fs::File::open(&archive).unwrap()).read_to_end(&mut bytes).unwrap();
    let mut text = None;
    for member in tar::Archive::new(&bytes[..]).entries().unwrap() {
        let mut member = member.unwrap();
        if member.path().unwrap().ends_with("testtrace-0000.txt") {
            let mut content = String::new();
            member.read_to_string(&mut content).unwrap();
            text = Some(content);
        }
    }
    let text = text.expect("the archive holds the dump of rank 0");
    // The program is a ring: the other ranks differ only in their number and their neighbours.
    let rank = |rank: u32| {
        let (next, before) = ((rank + 1) % 4, (rank + 3) % 4);
        text.replace("int rank=0", &format!("int rank={rank}"))
            .replace("int dest=1", &format!("int dest={next}"))
            .replace("int source=3", &format!("int source={before}"))
    };
    let trace = parse(&[rank(0), rank(1), rank(2), rank(3)]).unwrap();
    assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
    let events = &trace.program.tasks[0];
    let messages: Vec<&Send> = sends(events).into_iter().filter(|send| !send.tag.is_collective()).collect();
    assert_eq!(messages, [&Send { to: TaskId(1), tag: Tag::user(1337), bytes: 4 }]);
    let received: Vec<&Receive> =
        receives(events).into_iter().filter(|receive| receive.from == Some(TaskId(3)) && receive.bytes == 4).collect();
    assert!(!received.is_empty());
    let counts: Vec<_> = trace.collectives.iter().map(|(name, count)| (*name, *count)).collect();
    assert_eq!(counts, [("allreduce", 4), ("barrier", 4)]);
    // Between the calls, by the CPU clock: 23, 6, 6, 16, 11, 8, 14 and 7 µs.
    let compute: u64 = events.iter().map(|event| if let Event::Compute(time) = event { time.0 } else { 0 }).sum();
    assert_eq!(compute, (23 + 6 + 6 + 16 + 11 + 8 + 14 + 7) * 1_000_000);
    // Alone, the rank is rejected: it refers to others.
    let error = parse(&[text]).unwrap_err();
    assert!(error.contains("the size of MPI_COMM_WORLD is 4 here, and 1"), "{error}");
}

#[test]
fn binary_traces_are_told_by_what_prints_them() {
    let Some(traces) = crate::shared::shared_folder("traces/third-party") else { return };
    let archive = traces.join("sstdumpi_dumpi_4_ranks_with_ascii.tar.xz");
    let error = read(&archive, &ReadOptions::default()).unwrap_err();
    assert!(matches!(*error.fault, Fault::Unprinted { tool: "dumpi2ascii", .. }), "{error}");
    let found = dumpi_binaries(&archive).unwrap().unwrap();
    assert_eq!((found.ranks(), found.name(), found.on_disk(0)), (4, "testtrace", None));
    let two = traces.join("sstmacro_dumpi_7_and_4_ranks.tar.xz");
    let error = dumpi_binaries(&two).err().unwrap().to_string();
    assert!(error.contains("2 traces") && error.contains("testbgp.meta"), "{error}");
    let one = dumpi_binaries(Path::new(&format!("{}#tests/test_traces/testbgp.meta", two.display()))).unwrap().unwrap();
    assert_eq!(one.ranks(), 7);
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(
        lines in prop::collection::vec(prop::sample::select(
            fs::read_to_string(format!("{HALVES}/halves-0002.txt")).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
        ), 0..40),
        noise in "\\PC{0,40}",
    ) {
        let text = lines.join("\n") + "\n" + &noise;
        let options = ReadOptions { from: Some("dumpi-ascii".to_owned()), ..ReadOptions::default() };
        if let Err(error) = read_bytes("t-0000.txt", text.as_bytes(), &options) {
            prop_assert!(error.to_string().starts_with("t-0000.txt"), "{}", error);
        }
    }
}
