//! Time-independent traces: translation of each action, and rejected lines.

use std::path::Path;

use trgen::trace::collectives::Choice;
use trgen::trace::formats::{Fault, ReadError, ReadOptions, Trace, datatype_bytes, read, read_bytes};
use trgen::trace::program::{Event, Receive, Request, Send, Tag, TagFilter};
use trgen::{Picoseconds, TaskId};

fn parse(text: &str) -> Result<Trace, ReadError> {
    read_bytes("t", text.as_bytes(), &ReadOptions { from: Some("simgrid-ti".to_owned()), ..ReadOptions::default() })
}

fn fault(text: &str) -> Fault {
    *parse(text).expect_err(text).fault
}

/// Events of rank 0 in a trace whose other rank does nothing of interest.
fn steps(lines: &[&str]) -> Vec<Event> {
    let text: String = lines.iter().map(|line| format!("0 {line}\n")).collect();
    parse(&format!("{text}1 init\n")).unwrap().program.tasks.remove(0)
}

fn send(bytes: u64, label: i64) -> Send {
    Send { to: TaskId(1), tag: Tag::user(label), bytes }
}

fn receive(bytes: u64, label: i64) -> Receive {
    Receive { from: Some(TaskId(1)), tag: TagFilter::Exactly(Tag::user(label)), bytes }
}

#[test]
fn blocking_messages_have_sizes_in_bytes() {
    assert_eq!(
        steps(&["send 1 5 10 0", "recv 1 6 1e3 1", "send 1 -7 3 43"]),
        [Event::Send(send(80, 5)), Event::Recv(receive(4000, 6)), Event::Send(send(48, -7))]
    );
}

#[test]
fn the_default_type_is_byte_and_double_after_init_1() {
    assert_eq!(steps(&["send 1 0 10"]), [Event::Send(send(10, 0))]);
    assert_eq!(steps(&["init", "send 1 0 10"]), [Event::Send(send(10, 0))]);
    assert_eq!(steps(&["init 1", "send 1 0 10"]), [Event::Send(send(80, 0))]);
    assert_eq!(steps(&["init 1", "send 1 0 10 6"]), [Event::Send(send(10, 0))]);
}

#[test]
fn work_takes_the_time_of_the_flop_rate_and_merges() {
    assert_eq!(steps(&["compute 5e9", "compute 5", "sleep 2"]), [Event::Compute(Picoseconds(3_000_000_001_000))]);
    assert_eq!(steps(&["compute 0"]), []);
    let slow = ReadOptions { flop_rate: 1e6, ..ReadOptions::default() };
    let trace = read_bytes("t", b"0 compute 1\n", &slow).unwrap();
    assert_eq!(trace.program.tasks, [[Event::Compute(Picoseconds(1_000_000))]]);
}

#[test]
fn waits_find_requests_by_source_destination_and_tag_first_in_first_out() {
    let events = steps(&[
        "isend 1 4 1",
        "irecv 1 4 1",
        "irecv 1 4 2",
        "irecv 1 9 3",
        "wait 1 0 4",
        "wait 1 0 9",
        "wait 0 1 4",
        "wait 1 0 4",
        "isend 1 4 5",
    ]);
    let waits: Vec<u32> = events.iter().filter_map(|e| if let Event::Wait(r) = e { Some(r.0) } else { None }).collect();
    assert_eq!(waits, [1, 3, 0, 2]);
    // A number is free again after its wait.
    assert_eq!(events[8], Event::Isend(send(5, 4), Request(2)));
}

#[test]
fn waitall_waits_for_everything_in_order() {
    let events = steps(&["irecv 1 1 1", "isend 1 2 1", "irecv 1 0 1", "waitall 3", "waitall"]);
    assert_eq!(events.len(), 4, "a waitall of nothing is nothing");
    assert_eq!(events[3], Event::WaitAll(Box::new([Request(0), Request(1), Request(2)])));
}

#[test]
fn waits_for_nothing_are_counted() {
    let trace =
        parse("0 irecv 0 1 4\n0 isend 0 1 4\n0 wait 0 0 2\n0 test 0 0 1\n0 irecv 0 3 0\n0 waitall 1\n").unwrap();
    assert_eq!(trace.warnings.len(), 2, "{:?}", trace.warnings);
    assert!(trace.warnings[0].ends_with("(taken for complete): 1"));
    assert!(trace.warnings[1].starts_with("waitalls that give a smaller number"));
}

#[test]
fn wildcards_of_the_recorder_are_wildcards() {
    let events = steps(&["irecv -555 -444 8", "irecv -555 3 8", "wait 1 0 3", "wait 1 0 3"]);
    let any = Receive { from: None, tag: TagFilter::AnyIn(Tag::POINT_TO_POINT), bytes: 8 };
    assert_eq!(events[0], Event::Irecv(any, Request(0)));
    assert_eq!(events[2..], [Event::Wait(Request(0)), Event::Wait(Request(1))]);
}

#[test]
fn a_receive_of_unknown_size_is_read() {
    assert_eq!(steps(&["recv 1 0 -1 0"]), [Event::Recv(receive(0, 0))]);
}

#[test]
fn sendrecv_posts_its_receive_first_and_waits_for_both() {
    assert_eq!(
        steps(&["sendRecv 3 1 4 1 0 1"]),
        [
            Event::Irecv(receive(16, 0), Request(0)),
            Event::Isend(send(24, 0), Request(1)),
            Event::WaitAll(Box::new([Request(0), Request(1)])),
        ]
    );
}

#[test]
fn what_does_not_matter_is_left_out() {
    let idle = ["init", "comm_size 2", "comm_split 1 2 3", "comm_dup 4", "location main.c 7", "finalize"];
    assert_eq!(steps(&idle), []);
}

/// Bytes sent, by rank.
fn sent(trace: &Trace) -> Vec<u64> {
    let bytes = |event: &Event| if let Event::Send(s) | Event::Isend(s, _) = event { s.bytes } else { 0 };
    trace.program.tasks.iter().map(|events| events.iter().map(bytes).sum()).collect()
}

#[test]
fn every_collective_is_read_with_its_sizes() {
    let check = |lines: [&str; 3], name: &str, expected: [u64; 3]| {
        let text: String = lines.iter().enumerate().map(|(rank, line)| format!("{rank} {line}\n")).collect();
        // By algorithms that do not depend on the size.
        let options = ReadOptions { collectives: Choice::basic(), ..ReadOptions::default() };
        let trace = read_bytes("t", text.as_bytes(), &options).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(trace.collectives.get(name), Some(&3), "{text}");
        assert_eq!(sent(&trace), expected, "{text}");
        assert_eq!(trace.program.totals().point_to_point_messages, 0);
    };
    let same = |line| [line; 3];
    check(same("barrier"), "barrier", [0, 0, 0]);
    check(same("bcast 5 1 1"), "bcast", [0, 40, 0]);
    check(same("bcast 5"), "bcast", [10, 0, 0]);
    check(same("reduce 5 0 2 1"), "reduce", [20, 20, 0]);
    check(same("allreduce 5 0 1"), "allreduce", [20, 40, 20]);
    check(same("scan 2 0 1"), "scan", [16, 8, 8]);
    check(same("exscan 2 0"), "exscan", [4, 2, 2]);
    check(same("alltoall 2 2 0 0"), "alltoall", [32, 32, 32]);
    check(same("gather 2 2 0 0 0"), "gather", [0, 16, 16]);
    check(same("scatter 2 2 0 0 0"), "scatter", [32, 0, 0]);
    check(same("allgather 2 2 0 0"), "allgather", [32, 32, 32]);
    check(same("allgatherv 2 2 3 4 1 1"), "allgatherv", [24, 20, 28]);
    check(same("allgatherv 2 2 3 4 1 1 0 2 5"), "allgatherv", [24, 20, 28]);
    check(same("reducescatter 1 2 3 0 1"), "reduce_scatter", [20, 16, 12]);
    check(["gatherv 7 7 8 9 0 1 1", "gatherv 8 0 0 0 0 1 1", "gatherv 9 0 0 0 0 1 1"], "gatherv", [0, 32, 36]);
    check(same("scatterv 7 8 9 7 0 1 1"), "scatterv", [68, 0, 0]);
    check(
        ["alltoallv 9 0 1 2 9 0 10 20 1 1", "alltoallv 9 10 0 12 9 1 0 21 1 1", "alltoallv 9 20 21 0 9 2 12 0 1 1"],
        "alltoallv",
        [12, 88, 164],
    );
}

#[test]
fn a_reduction_computes_after_it() {
    let trace = parse("0 allreduce 1 5 0\n1 allreduce 1 5 0\n").unwrap();
    assert_eq!(trace.program.tasks[0].last(), Some(&Event::Compute(Picoseconds(1000))));
    assert_eq!(trace.program.totals().compute, Picoseconds(2000));
}

#[test]
fn collectives_follow_one_another_under_different_tags() {
    let trace = parse("0 barrier\n0 bcast 1\n1 barrier\n1 bcast 1\n").unwrap();
    assert!(matches!(trace.program.tasks[0][1], Event::Isend(Send { tag, .. }, _) if tag == Tag::collective(0)));
    assert!(matches!(trace.program.tasks[0][3], Event::Send(Send { tag, .. }) if tag == Tag::collective(1)));
}

#[test]
fn ranks_that_disagree_on_a_collective_are_refused_with_both_places() {
    let error = parse("0 barrier\n0 bcast 1 0\n1 barrier\n1 bcast 1 1\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "t:4: rank 1 calls bcast with root 1 as collective number 2, where rank 0 calls bcast with root 0 (t:2)"
    );
    assert!(error.remedy().unwrap().to_string().contains("communicators"));
    let error = parse("0 barrier\n1 barrier\n1 barrier\n").unwrap_err();
    assert_eq!(error.to_string(), "t:3: rank 0 calls nothing as collective number 2, where rank 1 calls barrier (t:3)");
}

#[test]
fn numbers_are_checked() {
    let refused = |line: &str, expected_what: &str| {
        let text = format!("0 init\n1 init\n0 {line}\n");
        let error = parse(&text).expect_err(line);
        assert_eq!(error.place.line, Some(3), "{line}");
        let Fault::Number { what, .. } = *error.fault else { panic!("{line}: {error}") };
        assert_eq!(what, expected_what, "{line}");
    };
    refused("send 2 0 1", "destination");
    refused("send -1 0 1", "destination");
    refused("send 1000000000000000000 0 1", "destination");
    refused("recv 7 0 1", "source");
    refused("send 1 x 1", "tag");
    refused("send 1 0 12a4", "count");
    refused("send 1 0 -1", "count");
    refused("send 1 0 1.5", "count");
    refused("send 1 0 9223372036854775808", "count");
    refused("send 1 0 1e13", "count");
    refused("send 1 0 inf", "count");
    refused("send 1 0 nan", "count");
    refused("send 1 0 1 double", "datatype");
    refused("compute nan", "number of operations");
    refused("compute -5", "number of operations");
    refused("compute 1e400", "number of operations");
    refused("compute 1e30", "work");
    refused("sleep 1e9", "sleep");
    refused("bcast 1 2", "root");
    refused("alltoallv x 1 1 2 1 1", "size of the send buffer");
    refused("wait 0 9 1", "destination");
}

#[test]
fn arguments_are_counted() {
    let refused = |line: &str| match fault(&format!("0 init\n1 {line}\n")) {
        Fault::Arguments { usage, found, .. } => (usage, found),
        other => panic!("{line}: {other}"),
    };
    assert_eq!(refused("send 0"), ("send DST TAG COUNT [TYPE]".to_owned(), 1));
    assert_eq!(refused("barrier 1").1, 1);
    assert_eq!(
        refused("alltoallv 1 2 3"),
        ("alltoallv SSIZE SCOUNT0..SCOUNTn-1 RSIZE RCOUNT0..RCOUNTn-1 [STYPE RTYPE] with n = 2".to_owned(), 3)
    );
    for line in
        ["compute", "compute 1 2", "wait 0 1", "waitall 1 2", "reduce 1", "gatherv 1", "reducescatter 1", "init 1 2"]
    {
        refused(line);
    }
}

#[test]
fn an_older_dialect_is_told_where_to_go() {
    let error = parse("0 send 1 100\n1 recv 0 100\n").unwrap_err();
    assert!(error.remedy().unwrap().to_string().contains("simgrid_convert_TI_traces"));
    let error = read_bytes("t", b"p0 compute 5\n", &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("simgrid_convert_TI_traces"), "{error}");
}

/// Names with capitals, whatever their arguments.
#[test]
fn every_action_of_the_older_dialect_is_named_as_such() {
    for action in [
        "Isend 1 2000",
        "Irecv 1 2000",
        "Isend 1 2000 6",
        "waitAll",
        "allReduce 100 50",
        "allToAll 8 8",
        "allToAllV 8 1 1 8 1 1",
        "allGather 8 8",
        "allGatherV 8 8 8",
        "reduceScatter 8 8 5",
        "gatherV 8 8 8",
        "scatterV 8 8 8",
        "Bcast 8",
        "Send 1 8",
        "Recv 1 8",
        "Wait",
        "send 1 2000",
        "isend 1 2000",
        "recv 1 2000",
        "irecv 1 2000",
        "wait",
    ] {
        let error = parse(&format!("0 init\n1 init\n0 {action}\n")).unwrap_err();
        let said = format!("{error} / {}", error.remedy().unwrap_or_default());
        assert!(said.contains("t:3: ") && said.contains("older dialect"), "{action}: {said}");
        assert!(said.contains("simgrid_convert_TI_traces"), "{action}: {said}");
    }
}

#[test]
fn an_unknown_action_names_the_nearest() {
    let error = parse("0 init\n0 alltoal 1 1\n").unwrap_err();
    assert_eq!(error.to_string(), "t:2: unknown action `alltoal`");
    assert!(error.remedy().unwrap().to_string().starts_with("did you mean `alltoall`"), "{:?}", error.remedy());
}

#[test]
fn sizes_of_datatypes() {
    let sizes: Vec<u64> = (0..=14).map(|number| datatype_bytes(number).unwrap()).collect();
    assert_eq!(sizes, [8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16]);
    assert_eq!(datatype_bytes(43), Some(16));
    for unknown in ["44", "45", "56", "99999999999"] {
        let text = format!("0 send 0 0 1 {unknown}\n");
        assert!(matches!(fault(&text), Fault::Datatype { .. }), "{unknown}");
        assert!(parse(&text).unwrap_err().remedy().is_some());
    }
    assert_eq!(sent(&parse("0 send 0 0 0 -1\n").unwrap()), [0], "no elements of the null type");
}

#[test]
fn windows_line_ends_blanks_and_comments_are_tolerated() {
    let trace = parse("# recorded\r\n\r\n  0\tsend  1 0 5 \r\n1 recv 0 0 5").unwrap();
    assert_eq!(trace.program.tasks[0], [Event::Send(send(5, 0))]);
    assert_eq!(trace.lines, 4);
}

#[test]
fn the_number_of_events_is_limited() {
    let options = ReadOptions { max_events: 10, ..ReadOptions::default() };
    let text: String = (0..8).map(|rank| format!("{rank} alltoall 1 1\n")).collect();
    let error = read_bytes("t", text.as_bytes(), &options).unwrap_err();
    assert!(matches!(*error.fault, Fault::TooManyEvents { limit: 10 }), "{error}");
    assert!(error.remedy().is_some());
}

#[test]
fn ranks_of_a_common_file_must_be_complete() {
    let error = parse("0 init\n3 init\n").unwrap_err();
    assert_eq!(error.to_string(), "t: rank 1 has no lines, but rank 3 has");
    assert!(matches!(fault("99999999 init\n"), Fault::Number { what: "rank", .. }));
    assert!(matches!(fault("1000000000000000000 init\n"), Fault::Number { what: "rank", .. }));
    assert!(matches!(fault("0 init\nx1 init\n"), Fault::Number { what: "rank", .. }));
    assert!(matches!(fault("0\n"), Fault::UnknownWord { .. }));
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn read_folder(files: &[(&str, &str)]) -> Result<Trace, ReadError> {
    read(folder(files).path(), &ReadOptions::default())
}

const RANK_0: (&str, &str) = ("rank-0.txt", "0 send 1 0 5\n");
const RANK_1: (&str, &str) = ("rank-1.txt", "1 recv 0 0 5\n");

#[test]
fn a_folder_with_an_index() {
    let trace = read_folder(&[("index.txt", "rank-0.txt\nrank-1.txt\n"), RANK_0, RANK_1]).unwrap();
    assert_eq!(
        trace.program.tasks,
        [vec![Event::Send(send(5, 0))], vec![Event::Recv(Receive { from: Some(TaskId(0)), ..receive(5, 0) })]]
    );
    assert_eq!((trace.format, trace.lines, trace.notes), ("simgrid-ti", 4, vec![]));
    let nested = [
        ("run/index", "run/a\nrun/b\n"),
        ("run/a", RANK_0.1),
        ("run/b", RANK_1.1),
        ("README", "What this is, in words that name no file.\n"),
    ];
    assert_eq!(read_folder(&nested).unwrap().program, trace.program);
}

#[test]
fn an_index_of_one_common_file() {
    let text = "0 send 1 0 5\n1 recv 0 0 5\n";
    let files = [("traces.txt", "all.txt\n"), ("all.txt", text)];
    assert_eq!(read_folder(&files).unwrap().program.tasks.len(), 2);
    let repeated = [("traces.txt", "all.txt\nall.txt\n"), ("all.txt", text)];
    assert_eq!(read_folder(&repeated).unwrap().program.tasks.len(), 2);
}

#[test]
fn faults_of_an_index() {
    let missing = read_folder(&[("index.txt", "rank-0.txt\nrank-1.txt\nrank-2.txt\n"), RANK_0, RANK_1]).unwrap_err();
    assert!(matches!(&*missing.fault, Fault::MissingFile { name, rank: 2 } if name == "rank-2.txt"), "{missing}");
    assert_eq!(missing.place.line, Some(3));
    assert!(missing.place.path.ends_with("index.txt"));
    let none = read_folder(&[("index.txt", "rank-0.txt\n"), ("rank-1.txt", RANK_1.1)]).unwrap_err();
    assert!(matches!(*none.fault, Fault::MissingFile { rank: 0, .. }), "{none}");

    let swapped = read_folder(&[("index.txt", "rank-1.txt\nrank-0.txt\n"), RANK_0, RANK_1]).unwrap_err();
    assert!(matches!(*swapped.fault, Fault::WrongRank { found: 1, expected: 0 }), "{swapped}");
    assert!(swapped.place.path.ends_with("rank-1.txt") && swapped.place.line == Some(1));

    let twice = read_folder(&[("index.txt", "rank-0.txt\nrank-1.txt\nrank-0.txt\n"), RANK_0, RANK_1]).unwrap_err();
    assert!(matches!(*twice.fault, Fault::FileTwice { rank: 2, .. }), "{twice}");

    let empty = read_folder(&[("index.txt", "rank-0.txt\nrank-1.txt\n"), RANK_0, ("rank-1.txt", "")]).unwrap_err();
    assert!(matches!(*empty.fault, Fault::Empty) && empty.place.path.ends_with("rank-1.txt"), "{empty}");
}

#[test]
fn rank_files_without_an_index_are_put_in_order() {
    let trace = read_folder(&[("b", RANK_0.1), ("a", RANK_1.1)]).unwrap();
    assert!(matches!(trace.program.tasks[0][..], [Event::Send(_)]));
    assert_eq!(trace.notes.len(), 1);
    let gap = read_folder(&[("a", "0 init\n"), ("b", "2 init\n")]).unwrap_err();
    assert!(matches!(*gap.fault, Fault::MissingRank { rank: 1, highest: 2 }), "{gap}");
    let twice = read_folder(&[("a", "0 init\n"), ("b", "0 init\n")]).unwrap_err();
    assert!(matches!(*twice.fault, Fault::RankTwice { rank: 0, .. }), "{twice}");
}

#[test]
fn an_index_and_a_rank_file_can_be_given_by_name() {
    let folder = folder(&[("list.of.files", "rank-0.txt\nrank-1.txt\n"), RANK_0, RANK_1]);
    let read = |name: &str| read(&folder.path().join(name), &ReadOptions::default());
    assert_eq!(read("list.of.files").unwrap().program.tasks.len(), 2);
    let error = read("rank-1.txt").unwrap_err();
    assert!(matches!(*error.fault, Fault::OneOfSet { rank: 1, ranks: 2 }), "{error}");
    assert!(error.remedy().unwrap().to_string().contains("give the folder"));
    let error = self::read(Path::new("no/such/file"), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "no/such/file: no such file or folder");
}
