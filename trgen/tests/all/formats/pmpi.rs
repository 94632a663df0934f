//! Logs of MPI calls: translation of lines, including communicators.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;
use trgen::trace::formats::{ReadOptions, Trace, read, read_bytes};
use trgen::trace::program::{Event, Request, Tag};
use trgen::{Picoseconds, TaskId};

/// Reads a folder of these files.
fn parse(ranks: &[&str]) -> Result<Trace, String> {
    let folder = tempfile::tempdir().unwrap();
    for (rank, lines) in ranks.iter().enumerate() {
        fs::write(folder.path().join(format!("rank-{rank}.txt")), lines).unwrap();
    }
    read(folder.path(), &ReadOptions::default())
        .map_err(|error| format!("{error} / {}", error.remedy().unwrap_or_default()))
}

#[test]
fn calls_become_events_with_the_time_between_them() {
    let trace = parse(&[
        "MPI_Init:-:0:0:100.5\nMPI_Send:102.000:8:10:17,8,8:1:7:0,0,2:103\nMPI_Isend:103:8:3:1,4,4:1:8:0,0,2:64:104\n\
         MPI_Irecv:104:8:3:1,4,4:-1:-1:0,0,2:72:105\nMPI_Waitall:105.25:2:64:0:106\nMPI_Finalize:106:-\n",
        "MPI_Init:-:0:0:0\nMPI_Recv:0:8:10:17,8,8:0:7:0,1,2:0:1\nMPI_Sendrecv:1:8:2:1,4,4:0:9:8:3:1,4,4:0:8:0,1,2:0:2\n\
         MPI_Send:2:8:1:1,4,4:-2:0:0,1,2:3\nMPI_Finalize:3:-\n",
    ])
    .unwrap();
    let [first, second] = &trace.program.tasks[..] else { panic!("two tasks") };
    let bytes = |event: &Event| match event {
        Event::Send(send) | Event::Isend(send, _) => send.bytes,
        Event::Recv(receive) | Event::Irecv(receive, _) => receive.bytes,
        _ => 0,
    };
    assert_eq!(first[0], Event::Compute(Picoseconds(1_500_000)));
    assert_eq!(first.iter().map(bytes).collect::<Vec<_>>(), [0, 80, 12, 12, 0, 0]);
    assert!(matches!(&first[3], Event::Irecv(receive, _) if receive.from.is_none()));
    assert_eq!(first[4], Event::Compute(Picoseconds(250_000)));
    assert_eq!(first[5], Event::WaitAll(Box::new([Request(0), Request(1)])));
    // A message to the null process is dropped.
    assert_eq!(second.len(), 4);
    assert!(matches!(second[3], Event::WaitAll(_)));
}

#[test]
fn requests_may_stand_four_bytes_apart() {
    let waits = "MPI_Irecv:0:8:1:1,4,4:1:0:0,0,2:64:1\nMPI_Irecv:1:8:1:1,4,4:1:0:0,0,2:68:2\n\
                 MPI_Irecv:2:8:1:1,4,4:1:0:0,0,2:72:3\nMPI_Waitall:3:3:64:0:4\n";
    let sends = "MPI_Send:0:8:1:1,4,4:0:0:0,1,2:1\n".repeat(3);
    let trace = parse(&[waits, &sends]).unwrap();
    let Event::WaitAll(requests) = &trace.program.tasks[0][3] else { panic!("a wait") };
    assert_eq!(requests.len(), 3);
}

#[test]
fn collectives_and_messages_of_a_split_stay_in_it() {
    // Ranks 0 and 2 are colour 0, in the order 2, 0; rank 1 is colour 1; rank 3 is in none.
    let rank = |rank: u32, color: i64, key: i64, tail: &str| {
        format!("MPI_Comm_split:0:0,{rank},4:{color}:{key}:5:1\n{tail}MPI_Finalize:9:-\n")
    };
    let trace = parse(&[
        &rank(0, 0, 9, "MPI_Bcast:2:8:1:1,4,4:0:5,1,2:3\nMPI_Recv:3:8:1:1,4,4:0:3:5,1,2:0:4\n"),
        &rank(1, 1, 0, "MPI_Barrier:2:5,0,1:3\n"),
        &rank(2, 0, 1, "MPI_Bcast:2:8:1:1,4,4:0:5,0,2:3\nMPI_Send:3:8:1:1,4,4:1:3:5,0,2:4\n"),
        &rank(3, -32766, 0, ""),
    ])
    .unwrap();
    let sends: Vec<_> = trace.program.tasks[2]
        .iter()
        .filter_map(|event| if let Event::Send(send) = event { Some(send) } else { None })
        .collect();
    let [broadcast, message] = sends[..] else { panic!("{sends:?}") };
    assert_eq!((broadcast.to, broadcast.tag.is_collective()), (TaskId(0), true));
    assert_eq!((message.to, message.tag.label, message.tag.is_collective()), (TaskId(0), 3, false));
    assert_ne!(message.tag.context, Tag::POINT_TO_POINT);
    assert_eq!(broadcast.tag.context, message.tag.context + 1);
    // A barrier of one rank, and the rank outside: no messages.
    assert!(trace.program.tasks[1].iter().chain(&trace.program.tasks[3]).all(|e| matches!(e, Event::Compute(_))));
}

#[test]
fn faults_name_file_and_line() {
    let send = "MPI_Send:0:8:1:1,4,4:1:0:0,0,2:1\n";
    let other = "MPI_Recv:0:8:1:1,4,4:0:0:0,1,2:0:1\n";
    for (first, expected) in [
        ("MPI_Sand:0:8:1\n", "rank-0.txt:2: unknown call `MPI_Sand`"),
        ("MPI_Send:0:8:1:1,4,4:1:0\n", "rank-0.txt:2: `MPI_Send` with 6 arguments"),
        ("MPI_Send:0:8:1:1,4,4:2:0:0,0,2:1\n", "rank-0.txt:2: rank is `2`"),
        ("MPI_Send:0:8:99999999999999:1,4,4:1:0:0,0,2:1\n", "rank-0.txt:2: count is"),
        ("MPI_Send:0:8:1:1,4:1:0:0,0,2:1\n", "rank-0.txt:2: datatype is"),
        ("MPI_Send:x:8:1:1,4,4:1:0:0,0,2:1\n", "rank-0.txt:2: time is `x`"),
        ("MPI_Barrier:0:7,0,3:1\n", "rank-0.txt:2: communicator 7 of 3 ranks"),
        ("MPI_Comm_dup:0:0,0,2:4:1\n", "rank-0.txt:2: not all ranks"),
    ] {
        let error = parse(&[&format!("{send}{first}"), other]).unwrap_err();
        assert!(error.contains(expected), "{first}: {error}");
    }
}

#[test]
fn calls_that_are_not_followed_are_named_with_what_to_call_instead() {
    for (line, expected) in [
        ("MPI_Ibcast:0:1\n", "`MPI_Ibcast` is not followed, a non-blocking collective: call MPI_Bcast instead"),
        ("MPI_Start:0:1\n", "`MPI_Start` is not followed, a persistent operation"),
        ("MPI_Startall:0:1\n", "MPI_Isend or MPI_Irecv instead"),
        ("MPI_Ireduce_scatter_block:0:1\n", "a non-blocking collective: call MPI_Reduce_scatter_block instead"),
        ("MPI_Bcast_init:0:1\n", "a persistent collective: call MPI_Bcast instead"),
        ("MPIX_Allreduce_init:0:1\n", "`MPIX_Allreduce_init` is not followed, a persistent collective"),
        ("MPI_Send_c:0:1\n", "a call with counts of MPI_Count: call MPI_Send instead"),
        ("MPI_Ialltoallw_c:0:1\n", "a non-blocking collective: call MPI_Alltoallw instead"),
        ("MPI_Ineighbor_alltoallv:0:1\n", "a collective of neighbours"),
        ("MPI_Improbe:0:1\n", "call MPI_Probe and MPI_Recv instead"),
        ("MPI_Rget_accumulate:0:1\n", "messages that no receive asks for"),
        ("MPI_Win_fence:0:1\n", "a window that ranks synchronise: exchange by messages"),
        ("MPI_Win_lock:0:1\n", "`MPI_Win_lock` is not followed, a window that ranks synchronise"),
        ("MPI_Send_init_c:0:1\n", "a call with counts of MPI_Count: call MPI_Send_init instead"),
        ("MPI_Bsend_init_c:0:1\n", "a call with counts of MPI_Count: call MPI_Bsend_init instead"),
        ("MPI_Ssend_init_c:0:1\n", "a call with counts of MPI_Count: call MPI_Ssend_init instead"),
        ("MPI_Rsend_init_c:0:1\n", "a call with counts of MPI_Count: call MPI_Rsend_init instead"),
        ("MPI_Sendrecv_replace_c:0:1\n", "a call with counts of MPI_Count: call MPI_Sendrecv_replace instead"),
        ("MPI_Comm_spawn:0:1\n", "start all ranks together instead"),
        ("MPI_Intercomm_merge:0:1\n", "a communicator between groups"),
        ("MPI_Comm_idup:0:1\n", "call MPI_Comm_dup instead"),
    ] {
        let error = parse(&[&format!("MPI_Init:-:0:0:0\n{line}")]).unwrap_err();
        assert!(error.contains(expected) && !error.contains("did you mean"), "{error}");
        assert!(error.contains("rank-0.txt:2: "), "{error}");
    }
}

#[test]
fn what_is_no_collective_is_not_called_one() {
    for call in ["MPI_Iwait", "MPI_Icancel", "MPI_Wait_init", "MPI_Comm_dup_init"] {
        let error = parse(&[&format!("MPI_Init:-:0:0:0\n{call}:0:1\n")]).unwrap_err();
        assert!(error.contains(call) && !error.contains("collective"), "{error}");
    }
}

#[test]
fn calls_on_files_are_left_out_and_counted() {
    let trace = parse(&["MPI_File_open:0:1\nMPI_File_write_all_c:1:2\nMPI_Win_allocate_shared:2:3\n"]).unwrap();
    let expected = ["calls on files, which are left out: 2", "windows of shared memory, whose use is left out: 1"];
    assert_eq!(trace.warnings, expected);
}

#[test]
fn persistent_requests_are_begun_again_and_again() {
    let rank = |number: usize, peer: usize| {
        let comm = format!("0,{number},2");
        format!(
            "MPI_Send_init:0:0:5:0,4,0:{peer}:3:{comm}:7:1\nMPI_Recv_init:1:0:5:0,4,0:{peer}:3:{comm}:8:2\n\
             MPI_Startall:2:2:7;8;:0:3\nMPI_Waitall:3:2:7;8;:0:4\nMPI_Start:4:8:0:5\nMPI_Start:5:7:0:6\n\
             MPI_Wait:6:7:0:7\nMPI_Wait:7:8:0:8\nMPI_Wait:8:8:0:9\nMPI_Request_free:9:7:0:10\n"
        )
    };
    let trace = parse(&[&rank(0, 1), &rank(1, 0)]).unwrap();
    let totals = trace.program.totals();
    assert_eq!((totals.point_to_point_messages, totals.point_to_point_bytes), (4, 4 * 20));
    let is_wait = |event: &&Event| matches!(event, Event::Wait(_) | Event::WaitAll(_));
    assert_eq!(trace.program.tasks[0].iter().filter(is_wait).count(), 3);
    assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
    let error = parse(&["MPI_Start:0:7:0:1\n"]).unwrap_err();
    assert!(error.contains("rank-0.txt:1: request is `7`"), "{error}");
}

#[test]
fn a_receive_that_was_called_off_is_none() {
    let lines = "MPI_Irecv:0:0:5:0,4,0:-1:3:0,0,1:7:1\nMPI_Cancel:1:7:0:2\nMPI_Wait:2:7:0:3\n";
    let trace = parse(&[lines]).unwrap();
    assert!(trace.program.tasks[0].iter().all(|event| matches!(event, Event::Compute(_))));
}

#[test]
fn tables_of_counts_are_those_of_the_root() {
    let rank = |number: usize, gather: &str, scatter: &str| {
        format!("MPI_Gatherv:0:0:{gather}:1:0,{number},3:1\nMPI_Scatterv:1:0:{scatter}:1:0,{number},3:2\n")
    };
    let trace = parse(&[
        &rank(0, "2:0,4,0:0:0:0,0,0", "0:0,0,0:0:1:0,8,0"),
        &rank(1, "0:0,0,0:0:2;9;3:0,4,0", "1;9;5:0,8,0:0:0:0,0,0"),
        &rank(2, "3:0,4,0:0:0:0,0,0", "0:0,0,0:0:5:0,8,0"),
    ])
    .unwrap();
    let sent = |task: usize| -> Vec<(u32, u64)> {
        let sends = trace.program.tasks[task].iter().filter_map(|event| match event {
            Event::Send(send) | Event::Isend(send, _) => Some((send.to.0, send.bytes)),
            _ => None,
        });
        sends.collect()
    };
    assert_eq!(sent(0), [(1, 8)]);
    assert_eq!(sent(2), [(1, 12)]);
    assert_eq!(BTreeMap::from_iter(sent(1)), BTreeMap::from([(0, 8), (2, 40)]));
    let error = parse(&["MPI_Gatherv:0:0:0:0,0,0:0:2;9:0,4,0:0:0,0,1:1\n"]).unwrap_err();
    assert!(error.contains("rank-0.txt:1: collective is `gatherv`"), "{error}");
}

#[test]
fn a_rank_that_ends_early_is_warned_of() {
    let barrier = "MPI_Barrier:0:0,0,2:1\n";
    let trace = parse(&[barrier, "MPI_Init:-:0:0:1\n"]).unwrap();
    assert!(trace.warnings[0].contains("rank 1 ends after 0 collectives"), "{:?}", trace.warnings);
}

/// Messages by (source, destination, tag, bytes), except those of collectives.
fn messages(trace: &Trace) -> BTreeMap<(usize, u32, i64, u64), u64> {
    let mut all = BTreeMap::new();
    for (task, events) in trace.program.tasks.iter().enumerate() {
        for event in events {
            if let Event::Send(send) | Event::Isend(send, _) = event
                && !send.tag.is_collective()
            {
                *all.entry((task, send.to.0, send.tag.label, send.bytes)).or_default() += 1;
            }
        }
    }
    all
}

#[test]
fn two_recordings_of_a_program_hold_the_same_messages() {
    let Some(traces) = crate::shared::shared_folder("traces") else { return };
    for name in ["is.S.16", "lu.S.16", "mg.S.16", "bt.S.16", "ft.S.16"] {
        let open = |path: String| read(&traces.join(path), &ReadOptions::default()).unwrap();
        let log = open(format!("npb-pmpi/{name}.pmpi.tar.xz"));
        let independent = open(format!("npb-ti/{name}.ti.tar.xz"));
        assert_eq!(messages(&log), messages(&independent), "{name}");
        let table = fs::read_to_string(traces.join("npb-pmpi/facts_and_schedgen_loggopsim.csv")).unwrap();
        let row: Vec<&str> = table.lines().find(|line| line.contains(name)).unwrap().split(',').collect();
        let totals = log.program.totals();
        assert_eq!(totals.point_to_point_messages.to_string(), row[4], "{name}");
        assert_eq!(totals.point_to_point_bytes.to_string(), row[5], "{name}");
    }
}

const LOG: &str = "MPI_Init:-:0:0:1\nMPI_Send:2:8:1:1,4,4:0:7:0,0,1:3\nMPI_Irecv:3:8:1:1,4,4:-1:-1:0,0,1:64:4\n\
                   MPI_Waitany:4:1:64:0:0:5\nMPI_Comm_split:5:0,0,1:0:0:3:6\nMPI_Alltoallv:6:8:1;:1,4,4:3,0,1:7\n\
                   MPI_Recv_init:7:8:1:1,4,4:-1:7:0,0,1:72:7\nMPI_Startall:7:1:72;:0:7\nMPI_Cancel:7:72:0:7\n\
                   MPI_Wait:7:72:0:7\nMPI_Gatherv:7:8:5:1,4,4:8:5:1,4,4:0:3,0,1:7\nMPI_File_sync:7:7\n\
                   MPI_Allreduce:7:8:8:5:17,8,8:3:3,0,1:8\nMPI_Finalize:9:-\n";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn changed_bytes_never_panic(at in any::<prop::sample::Index>(), with in any::<[u8; 4]>(), length in 0_usize..5) {
        let mut bytes = LOG.replace("1;:", "1:").into_bytes();
        let at = at.index(bytes.len());
        let end = (at + length).min(bytes.len());
        bytes.splice(at..end, with.into_iter().take(length));
        let _ = read_bytes("rank-0.txt", &bytes, &ReadOptions::default());
    }
}

#[test]
fn the_log_that_is_changed_is_sound() {
    let trace = read_bytes("rank-0.txt", LOG.replace("1;:", "1:").as_bytes(), &ReadOptions::default()).unwrap();
    assert!(trace.program.tasks[0].iter().any(|event| matches!(event, Event::WaitAny(_))));
}
