//! OTF2 archives as printed text: translation of records, on communicators and with requests.

use trgen::trace::formats::{ReadOptions, Trace, read_bytes};
use trgen::trace::program::{Event, Receive, Request, Send, Tag, TagFilter};
use trgen::{Picoseconds, TaskId};

/// Two processes, locations 5 and 9; communicator 1 is the world, 2 the same two in the other order.
const DEFINITIONS: &str = r#"
=== OTF2-PRINT ===
Creator                        CREATOR
=== Global Definitions ===
CLOCK_PROPERTIES        Ticks per Seconds: 2000000000, Global Offset: 0, Length: 1, Date: UNDEFINED
LOCATION          5  Name: "T" <12>, Type: CPU_THREAD, # Events: 60, Group: "MPI Rank 0" <0>
LOCATION          9  Name: "T" <12>, Type: CPU_THREAD, # Events: 60, Group: "MPI Rank 1" <1>
GROUP             0  Name: "" <0>, Type: COMM_LOCATIONS, Paradigm: "MPI" <4>, Flags: NONE, 2 Members: "T" <5>, "T" <9>
GROUP             4  Name: "" <0>, Type: COMM_GROUP, Paradigm: "MPI" <4>, Flags: NONE, 2 Members: 0 ("T" <5>), 1 ("T" <9>)
GROUP             5  Name: "" <0>, Type: COMM_GROUP, Paradigm: "MPI" <4>, Flags: NONE, 2 Members: 0 ("T" <9>), 1 ("T" <5>)
COMM              1  Name: "MPI_COMM_WORLD" <257>, Group: "" <4>, Parent: UNDEFINED, Flags: NONE
COMM              2  Name: "turned" <258>, Group: "" <5>, Parent: "MPI_COMM_WORLD" <1>, Flags: NONE
=== Events ===
Event     Location  Timestamp  Attributes
"#;

fn parse(creator: &str, events: &str) -> Result<Trace, String> {
    let text = format!("{}{events}", DEFINITIONS.replace("CREATOR", creator));
    read_bytes("t", text.as_bytes(), &ReadOptions::default())
        .map_err(|error| format!("{error} / {}", error.remedy().unwrap_or_default()))
}

fn tag(context: u32, label: i64) -> Tag {
    Tag { context, label }
}

#[test]
fn messages_requests_and_the_time_between_calls() {
    let trace = parse(
        "",
        r#"ENTER 5 1000 Region: "MPI_Send" <42>
MPI_SEND 5 1010 Receiver: 1 ("T" <9>), Communicator: "MPI_COMM_WORLD" <1>, Tag: 7, Length: 16384
LEAVE 5 1100 Region: "MPI_Send" <42>
ENTER 5 1150 Region: "solve" <43>
LEAVE 5 1200 Region: "solve" <43>
ENTER 5 1300 Region: "mpi_isend_" <44>
MPI_ISEND 5 1310 Receiver: 0 ("T" <9>), Communicator: "turned" <2>, Tag: 8, Length: 4, Request: 77
LEAVE 5 1320 Region: "mpi_isend_" <44>
MPI_ISEND_COMPLETE 5 1320 Request: 77
MPI_IRECV_REQUEST 9 900 Request: 5
MPI_RECV 9 1200 Sender: 1 ("T" <5>), Communicator: "turned" <2>, Tag: 8, Length: 4
MPI_IRECV 9 1200 Sender: 0 ("T" <5>), Communicator: "MPI_COMM_WORLD" <1>, Tag: 7, Length: 16384, Request: 5
MPI_IRECV_REQUEST 9 1201 Request: 6
"#,
    )
    .unwrap();
    let request = Request(0);
    assert_eq!(
        trace.program.tasks[0],
        [
            Event::Send(Send { to: TaskId(1), tag: tag(0, 7), bytes: 16384 }),
            // 200 ticks of half a nanosecond between two calls, whatever the program did meanwhile.
            Event::Compute(Picoseconds(100_000)),
            Event::Isend(Send { to: TaskId(1), tag: tag(2, 8), bytes: 4 }, request),
            Event::Wait(request),
        ]
    );
    let receive =
        |label, context, bytes| Receive { from: Some(TaskId(0)), tag: TagFilter::Exactly(tag(context, label)), bytes };
    let messages: Vec<&Event> =
        trace.program.tasks[1].iter().filter(|event| !matches!(event, Event::Compute(_))).collect();
    assert_eq!(*messages[0], Event::Irecv(receive(7, 0, 16384), request), "filled in when it completes");
    assert_eq!(*messages[1], Event::Recv(receive(8, 2, 4)));
    assert_eq!(*messages[2], Event::Wait(request));
    assert!(matches!(messages[3], Event::Irecv(Receive { from: None, .. }, _)), "never completed: any message");
    assert!(trace.warnings.iter().any(|warning| warning.contains("receives without a completion")));
}

#[test]
fn bytes_of_collectives_are_totals_where_the_recorder_is_score_p() {
    let events = r#"MPI_COLLECTIVE_END 5 1 Operation: ALLREDUCE, Communicator: "turned" <2>, Root: NONE, Sent: 16, Received: 16
MPI_COLLECTIVE_END 9 1 Operation: ALLREDUCE, Communicator: "turned" <2>, Root: NONE, Sent: 16, Received: 16
MPI_COLLECTIVE_END 5 2 Operation: BCAST, Communicator: "MPI_COMM_WORLD" <1>, Root: 0 ("T" <5>), Sent: 8, Received: 4
MPI_COLLECTIVE_END 9 2 Operation: BCAST, Communicator: "MPI_COMM_WORLD" <1>, Root: 0 ("T" <5>), Sent: 0, Received: 4
"#;
    for (creator, bytes) in [("Score-P 7.1", 2 * 8 + 4), ("", 2 * 16 + 4)] {
        let trace = parse(creator, events).unwrap();
        let totals = trace.program.totals();
        assert_eq!((totals.collective_messages, totals.collective_bytes), (3, bytes), "{creator}");
        assert_eq!(trace.collectives["allreduce"], 2);
    }
}

#[test]
fn duplicates_of_the_world_and_communicators_of_one_process() {
    let more = r#"GROUP 6  Name: "" <0>, Type: COMM_SELF, Paradigm: "MPI" <4>, Flags: NONE, 0 Members
COMM 3  Name: "MPI_COMM_SELF" <9>, Group: "" <6>, Parent: UNDEFINED, Flags: NONE
COMM 4  Name: "dup" <9>, Group: "" <4>, Parent: "MPI_COMM_WORLD" <1>, Flags: NONE
=== Events ==="#;
    let events = r#"MPI_SEND 5 1 Receiver: 0 ("T" <5>), Communicator: "MPI_COMM_SELF" <3>, Tag: 1, Length: 2
MPI_COLLECTIVE_END 9 1 Operation: BARRIER, Communicator: "MPI_COMM_SELF" <3>, Root: NONE, Sent: 0, Received: 0
MPI_SEND 5 2 Receiver: 1 ("T" <9>), Communicator: "MPI_COMM_WORLD" <1>, Tag: 1, Length: 2
MPI_RECV 9 3 Sender: 0 ("T" <5>), Communicator: "dup" <4>, Tag: 1, Length: 2
"#;
    for (creator, same) in [("Score-P 7.1", false), ("", true)] {
        let text = DEFINITIONS.replace("CREATOR", creator).replace("=== Events ===", more);
        let trace = read_bytes("t", format!("{text}{events}").as_bytes(), &ReadOptions::default()).unwrap();
        let Event::Send(own) = trace.program.tasks[0][0] else { panic!("a message to itself") };
        assert_eq!((own.to, trace.program.totals().collective_messages), (TaskId(0), 0));
        let sends = trace.program.tasks[0].iter().filter_map(|event| match event {
            Event::Send(send) if send.to == TaskId(1) => Some(send.tag.context),
            _ => None,
        });
        let receives = trace.program.tasks[1].iter().filter_map(|event| match event {
            Event::Recv(receive) => Some(receive.tag.context()),
            _ => None,
        });
        assert_eq!(sends.eq(receives), same, "{creator}");
    }
}

#[test]
fn faults_name_the_line() {
    let send = r#"MPI_SEND 5 1 Receiver: 1 ("T" <9>), Communicator: "MPI_COMM_WORLD" <1>, Tag: 7, Length: 4"#;
    for (from, to, expected) in [
        ("<9>", "<8>", ":15: location is `8`"),
        ("<1>", "<3>", ":15: communicator is `3`"),
        ("Length: 4", "Length: 9223372036854775808", ":15: length is"),
        ("Tag: 7", "Tag: x", ":15: tag is"),
        (", Tag: 7", "", ":15: record is"),
        ("SEND 5 1 ", "SEND 5 99999999999999999999 ", ":15: time is"),
    ] {
        let wrong = send.replacen(from, to, 1);
        assert_ne!(wrong, send);
        let error = parse("", &wrong).unwrap_err();
        assert!(error.contains(expected), "{to}: {error}");
    }
    let error = parse("", "").unwrap_err();
    assert!(error.contains("ends without the events") && error.contains("otf2-print -A"), "{error}");
    let error = read_bytes("t", b"\x03BOTF2\0\x03\x02", &ReadOptions::default()).unwrap_err();
    assert!(error.remedy().unwrap().to_string().contains("otf2-print -A"), "{error}");
}
