//! Dimemas and alog: translation of records.

use trgen::trace::formats::{ReadOptions, Trace, read_bytes};
use trgen::trace::program::{Event, Receive, Request, Send, Tag, TagFilter};
use trgen::{Picoseconds, TaskId};

fn parse(text: &str) -> Result<Trace, String> {
    read_bytes("t", text.as_bytes(), &ReadOptions::default())
        .map_err(|error| format!("{error} / {}", error.remedy().unwrap_or_default()))
}

const HEADER: &str = "#DIMEMAS:cg:1,100:3(1,1,1)\n";

#[test]
fn records_of_dimemas_become_events() {
    let text = "d:1:5:2:2:0\no:0:1\n1:0:0:0.0000015\n1:0:0:0.0000005\n2:0:0:1:100:7:0:0\n3:1:0:0:100:7:0:1\n\
                3:1:0:0:100:7:0:2\n2:2:0:0:8:3:5:2\n3:0:0:2:8:-1:5:0\n";
    let trace = parse(&format!("{HEADER}{text}")).unwrap();
    let tag = Tag::user(7);
    let first = &trace.program.tasks[0];
    assert_eq!(first[0], Event::Compute(Picoseconds(2_000_000)), "joined");
    assert_eq!(first[1], Event::Send(Send { to: TaskId(1), tag, bytes: 100 }));
    let sub = Tag::context_of(1);
    assert_eq!(first[2], Event::Recv(Receive { from: Some(TaskId(2)), tag: TagFilter::AnyIn(sub), bytes: 8 }));
    let receive = Receive { from: Some(TaskId(0)), tag: TagFilter::Exactly(tag), bytes: 100 };
    assert_eq!(trace.program.tasks[1], [Event::Irecv(receive, Request(0)), Event::Wait(Request(0))]);
    let send = Send { to: TaskId(0), tag: Tag { context: sub, label: 3 }, bytes: 8 };
    assert_eq!(trace.program.tasks[2], [Event::Isend(send, Request(0))]);
}

#[test]
fn collectives_of_dimemas_stay_in_their_communicator() {
    let text = "d:1:5:2:2:0\n10:0:0:1:5:1:0:64:64\n10:2:0:1:5:1:0:64:64\n10:0:0:0:0:0:0:0\n10:1:0:0:0:0:0:0\n\
                10:2:0:0:0:0:0:0\n";
    let trace = parse(&format!("{HEADER}{text}")).unwrap();
    assert_eq!((trace.collectives["bcast"], trace.collectives["barrier"]), (2, 3));
    // Rank 1 of communicator 5 is task 0.
    assert!(matches!(trace.program.tasks[0][0], Event::Send(send) if send.to == TaskId(2) && send.bytes == 64));
    assert!(matches!(trace.program.tasks[2][0], Event::Recv(_)));
    assert_eq!(trace.program.totals().collective_messages, 1 + 3 * 2);
}

#[test]
fn faults_of_dimemas_name_the_line() {
    for (line, expected) in [
        ("2:0:0:3:1:1:0:0", ":2: task is `3`, expected 0 to 2"),
        ("2:0:0:1:1:1:0:4", ":2: type of a send is `4`"),
        ("2:0:0:1:1", ":2: `2` with 4 arguments"),
        ("1:0:0:-1", ":2: time is `-1`"),
        ("1:0:1:1", ":2: thread 1 of a task"),
        ("3:0:0:1:9223372036854775808:1:0:0", ":2: size is"),
        ("10:0:0:14:0:0:0:0", ":2: operation is `14`"),
        ("10:0:0:1:0:3:0:0", ":2: root is `3`"),
        ("7:0:0", ":2: record is `7`"),
        ("d:1:5:9:1:2", ":2: `d` with 5 arguments"),
    ] {
        let error = parse(&format!("{HEADER}{line}\n")).unwrap_err();
        assert!(error.contains(expected), "{line}: {error}");
    }
    let error = parse("#DIMEMAS:cg:1,100:4294967295(1,1)\n").unwrap_err();
    assert!(error.contains(":1: number of tasks is `4294967295`"), "{error}");
}

#[test]
fn alog_holds_sends_and_receives() {
    let text = "-1 0 0 0 0 0 begin\n-101 0 0 1 0 100 7 64\n-102 1 0 0 0 120 7 64\n-12 0 0 0 0 0 a state\n";
    let trace = parse(text).unwrap();
    let tag = Tag::user(7);
    assert_eq!(trace.program.tasks[0], [Event::Send(Send { to: TaskId(1), tag, bytes: 64 })]);
    let receive = Receive { from: Some(TaskId(0)), tag: TagFilter::Exactly(tag), bytes: 64 };
    assert_eq!(trace.program.tasks[1], [Event::Recv(receive)]);
    assert!(trace.notes[0].starts_with("2 lines"), "{:?}", trace.notes);
    for (line, expected) in [
        ("-101 0 0 1 0 100 7", "t:2: `-101` with 6 arguments"),
        ("-101 0 0 1 0 100 7 9223372036854775808", "t:2: size is"),
        ("-102 16000000 0 1 0 100 7 1", "t:2: 16000001 tasks"),
        ("x", "t:2: operation is `x`"),
    ] {
        let error = parse(&format!("-1 0 0 0 0 0 begin\n{line}\n")).unwrap_err();
        assert!(error.contains(expected), "{line}: {error}");
    }
    assert!(parse("-1 0 0 0 0 0 begin\n").unwrap_err().contains("t:1: no line"));
}

/// The records of today, since 5.1.1: what the older form of the same trace says.
#[test]
fn records_of_today_and_of_before_are_the_same_program() {
    let header = "#DIMEMAS:\"now\":1,321:2(1,1),1,0\nd:1:1:2:0:1\n";
    let before =
        "1:0:0:0.001\n2:0:0:1:4000:7:1:0\n10:0:0:11:1:0:0:8:8\n1:1:0:0.002\n3:1:0:0:4000:7:1:0\n10:1:0:11:1:0:0:8:8\n";
    let today = "0:0:0\n1:0:0:0.001\n11:0:0:0.5\n2:0:0:1:0:4000:7:1:0\n10:0:0:11:1:0:0:8:8:0\n0:1:0\n1:1:0:0.002\n\
                 3:1:0:0:-1:4000:7:1:0\n10:1:0:11:1:0:0:8:8:1\n";
    let (before, today) = (parse(&format!("{header}{before}")).unwrap(), parse(&format!("{header}{today}")).unwrap());
    assert_eq!(today.program, before.program);
    assert_eq!(today.collectives["allreduce"], 2);
    let totals = today.program.totals();
    assert_eq!((totals.point_to_point_messages, totals.point_to_point_bytes), (1, 4_000));
    assert!(today.warnings.iter().any(|warning| warning.contains("bursts of a GPU")), "{:?}", today.warnings);
    let error = parse(&format!("{header}2:0:0:1:3:4000:7:1:0\n")).unwrap_err();
    assert!(error.contains(":3: thread 3 of a task"), "{error}");
}
