//! Truncated logs: reported by a warning, or rejected with the line.

use trgen::trace::formats::{ReadError, ReadOptions, Trace, read, read_bytes};

fn ti(text: &str) -> Trace {
    read_bytes("t", text.as_bytes(), &ReadOptions::default()).unwrap()
}

fn warned(trace: &Trace, what: &str) -> bool {
    trace.warnings.iter().any(|warning| warning.contains(what))
}

#[test]
fn ranks_of_ti_without_finalize_are_counted() {
    let whole = "0 init\n1 init\n0 send 1 7 8\n1 recv 0 7 8\n0 finalize\n1 finalize\n";
    assert!(ti(whole).warnings.is_empty());
    for (cut, expected) in [
        ("0 init\n1 init\n0 send 1 7 8\n1 recv 0 7 8\n0 finalize\n", "ranks without `finalize`: 1 (the first is 1)"),
        ("0 init\n1 init\n0 send 1 7 8\n1 recv 0 7 8\n", "ranks without `finalize`: 2 (the first is 0)"),
        ("0 send 1 7 8\n1 recv 0 7 8\n1 finalize\n", "ranks without `finalize`: 1 (the first is 0)"),
    ] {
        let trace = ti(cut);
        assert!(warned(&trace, expected), "{:?}", trace.warnings);
    }
    // Written by hand, without begin and end marks.
    assert!(ti("0 send 1 7 8\n1 recv 0 7 8\n").warnings.is_empty());
}

/// A log of two ranks, as text each.
fn pmpi(ranks: [&str; 2]) -> Result<Trace, ReadError> {
    let folder = tempfile::tempdir().unwrap();
    for (rank, text) in ranks.iter().enumerate() {
        std::fs::write(folder.path().join(format!("log-{rank}.txt")), text).unwrap();
    }
    read(folder.path(), &ReadOptions::default())
}

#[test]
fn ranks_of_pmpi_without_finalize_are_counted() {
    let send = "MPI_Init:-:0:0:1\nMPI_Send:2:0:8:6,1,1:1:7:0,0,2:3\n";
    let receive = "MPI_Init:-:0:0:1\nMPI_Recv:2:0:8:6,1,1:0:7:0,1,2:0:3\n";
    let end = "MPI_Finalize:4:-\n";
    assert!(pmpi([&(send.to_owned() + end), &(receive.to_owned() + end)]).unwrap().warnings.is_empty());
    let cut = pmpi([&(send.to_owned() + end), receive]).unwrap();
    assert!(warned(&cut, "ranks without MPI_Finalize: 1 (the first is 1)"), "{:?}", cut.warnings);
    let both = pmpi([send, receive]).unwrap();
    assert!(warned(&both, "ranks without MPI_Finalize: 2 (the first is 0)"), "{:?}", both.warnings);
}

const DEFINITIONS: &str = r#"=== OTF2-PRINT ===
=== Global Definitions ===
LOCATION          5  Name: "T" <12>, Type: CPU_THREAD, # Events: 60, Group: "MPI Rank 0" <0>
LOCATION          9  Name: "T" <12>, Type: CPU_THREAD, # Events: 60, Group: "MPI Rank 1" <1>
GROUP             0  Name: "" <0>, Type: COMM_LOCATIONS, Paradigm: "MPI" <4>, Flags: NONE, 2 Members: "T" <5>, "T" <9>
GROUP             4  Name: "" <0>, Type: COMM_GROUP, Paradigm: "MPI" <4>, Flags: NONE, 2 Members: 0 ("T" <5>), 1 ("T" <9>)
COMM              1  Name: "MPI_COMM_WORLD" <257>, Group: "" <4>, Parent: UNDEFINED, Flags: NONE
=== Events ===
"#;

const EVENTS: &str = r#"ENTER 5 1 Region: "MPI_Init" <41>
LEAVE 5 2 Region: "MPI_Init" <41>
ENTER 9 1 Region: "mpi_init_" <41>
LEAVE 9 2 Region: "mpi_init_" <41>
ENTER 5 10 Region: "MPI_Send" <42>
MPI_SEND 5 11 Receiver: 1 ("T" <9>), Communicator: "MPI_COMM_WORLD" <1>, Tag: 7, Length: 64
LEAVE 5 12 Region: "MPI_Send" <42>
ENTER 9 10 Region: "mpi_recv_" <43>
MPI_RECV 9 11 Sender: 0 ("T" <5>), Communicator: "MPI_COMM_WORLD" <1>, Tag: 7, Length: 64
LEAVE 9 12 Region: "mpi_recv_" <43>
ENTER 5 20 Region: "MPI_Finalize" <44>
LEAVE 5 21 Region: "MPI_Finalize" <44>
ENTER 9 20 Region: "mpi_finalize_" <44>
LEAVE 9 21 Region: "mpi_finalize_" <44>
"#;

fn otf2(events: &str) -> Result<Trace, ReadError> {
    read_bytes("t", format!("{DEFINITIONS}{events}").as_bytes(), &ReadOptions::default())
}

#[test]
fn otf2_text_that_is_cut_between_lines_is_warned_of() {
    let whole = otf2(EVENTS).unwrap();
    assert!(whole.warnings.is_empty(), "{:?}", whole.warnings);
    let lines: Vec<&str> = EVENTS.lines().collect();
    for (kept, expected) in [
        (13, "ranks that end within a call of MPI: 1"),
        (12, "ranks without an end (MPI_Finalize, PROGRAM_END): 1 (the first is 1)"),
        (10, "ranks without an end (MPI_Finalize, PROGRAM_END): 2 (the first is 0)"),
    ] {
        let trace = otf2(&lines[..kept].join("\n")).unwrap();
        assert!(warned(&trace, expected), "{kept}: {:?}", trace.warnings);
    }
}

#[test]
fn otf2_text_with_half_a_record_is_refused_and_a_call_without_record_counted() {
    for bare in ["MPI_SEND", "MPI_SEND 5", "MPI_SEND          5  ", "ENTER", "MPI_COLLECTIVE_END 5"] {
        let events = EVENTS.replace("ENTER 5 20", &format!("{bare}\nENTER 5 20"));
        let error = otf2(&events).unwrap_err();
        let said = format!("{error} / {}", error.remedy().unwrap_or_default());
        assert!(said.contains("without a location, a time") && said.contains("otf2-print"), "{bare}: {said}");
        assert_eq!(error.place.line, Some(19), "{bare}: {said}");
    }
    let error = otf2(&EVENTS.replace("ENTER 5 20", "MPI_SEND 5 19\nENTER 5 20")).unwrap_err();
    assert!(error.to_string().contains("MPI_SEND LOCATION TIME"), "{error}");
    // The call is present, its record is not.
    let lost: String = EVENTS
        .lines()
        .filter(|line| !line.starts_with("MPI_SEND"))
        .fold(String::new(), |text, line| text + line + "\n");
    let trace = otf2(&lost).unwrap();
    let expected =
        "calls that send or receive without a record of a message (to MPI_PROC_NULL, or the record is missing): 1";
    assert!(warned(&trace, expected), "{:?}", trace.warnings);
}
