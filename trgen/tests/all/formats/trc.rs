//! FSIN's `.trc` files.

use trgen::trace::formats::{ComputeUnit, FORMATS, Fault, ReadError, ReadOptions, RecvOrder, Trace, read_bytes};
use trgen::trace::program::{Event, Receive, Send, Tag, TagFilter};
use trgen::{Picoseconds, TaskId};

fn parse_with(text: &str, change: impl FnOnce(&mut ReadOptions)) -> Result<Trace, ReadError> {
    let mut options = ReadOptions::default();
    change(&mut options);
    read_bytes("a.trc", text.as_bytes(), &options)
}

fn parse(text: &str) -> Result<Trace, ReadError> {
    parse_with(text, |_| {})
}

fn send(to: u32, label: i64, bytes: u64) -> Event {
    Event::Send(Send { to: TaskId(to), tag: Tag::user(label), bytes })
}

fn recv(from: u32, label: i64, bytes: u64) -> Event {
    Event::Recv(Receive { from: Some(TaskId(from)), tag: TagFilter::Exactly(Tag::user(label)), bytes })
}

const RING: &str = "# three tasks\nc 0 100\n\ns 0 1 7 64\nr 0 1 7 64\ns 1 2 7 32\nr 1 2 7 32\ns 2 0 7 16\nr 2 0 7 16\n";

#[test]
fn lines_go_to_the_program_of_their_task() {
    let trace = parse(RING).unwrap();
    assert_eq!(trace.format, "fsin-trc");
    assert_eq!(trace.lines, 9);
    assert_eq!(
        trace.program.tasks,
        [
            vec![Event::Compute(Picoseconds(100_000)), send(1, 7, 64), recv(2, 7, 16)],
            vec![recv(0, 7, 64), send(2, 7, 32)],
            vec![recv(1, 7, 32), send(0, 7, 16)],
        ]
    );
    assert_eq!(trace.notes.len(), 1);
    assert!(trace.notes[0].contains("0 as `r src dst`, 6 as `r dst src`"), "{}", trace.notes[0]);
    assert_eq!(trace.warnings, Vec::<String>::new());
}

#[test]
fn the_order_of_receive_lines_is_detected() {
    let swapped = RING.replace("r 0 1", "r 1 0").replace("r 1 2", "r 2 1").replace("r 2 0", "r 0 2");
    let trace = parse(&swapped).unwrap();
    assert_eq!(trace.program, parse(RING).unwrap().program);
    assert!(trace.notes[0].starts_with("receive lines are read as `r dst src"));

    let stated = parse_with(&swapped, |options| options.recv_order = RecvOrder::DstSrc).unwrap();
    assert_eq!(stated.program, trace.program);
    assert_eq!(stated.notes, Vec::<String>::new());
    let wrong = parse_with(&swapped, |options| options.recv_order = RecvOrder::SrcDst).unwrap();
    assert_ne!(wrong.program, trace.program);
}

#[test]
fn an_order_that_cannot_be_told_is_warned_of() {
    let symmetric = "s 0 1 0 8\ns 1 0 0 8\nr 0 1 0 8\nr 1 0 0 8\n";
    let trace = parse(symmetric).unwrap();
    assert_eq!(trace.program.tasks[1], [send(0, 0, 8), recv(0, 0, 8)]);
    assert!(trace.warnings[0].contains("match equally well"), "{:?}", trace.warnings);
    // A message of a task to itself yields the same program in both orders.
    assert_eq!(parse("s 0 0 7 64\nr 0 0 7 64\n").unwrap().warnings, Vec::<String>::new());
    let unmatched = parse("s 0 1 0 8\ns 0 1 0 8\nr 0 1 0 8\n").unwrap();
    assert!(unmatched.warnings.iter().any(|warning| warning.starts_with("1 send or receive has")));
    assert!(parse("s 0 1 0 8\n").unwrap().warnings[0].contains("none is received"));
    assert_eq!("dst-src".parse::<RecvOrder>().unwrap(), RecvOrder::DstSrc);
    assert!("dst-scr".parse::<RecvOrder>().unwrap_err().remedy().to_string().contains("dst-src"));
}

#[test]
fn durations_have_a_unit_and_merge() {
    let time = |unit, text: &str| {
        let trace = parse_with(text, |options| options.compute_unit = unit).unwrap();
        let [Event::Compute(time)] = trace.program.tasks[0][..] else { panic!("one event") };
        time.0
    };
    assert_eq!(time(ComputeUnit::Nanoseconds, "c 0 3\nc 0 4"), 7_000);
    assert_eq!(time(ComputeUnit::Nanoseconds, "c 0 2.5"), 2_500);
    assert_eq!(time(ComputeUnit::Microseconds, "c 0 3"), 3_000_000);
    assert_eq!(time(ComputeUnit::Milliseconds, "c 0 1e3"), 1_000_000_000_000);
    assert_eq!(time(ComputeUnit::Cycles(Picoseconds(3_200)), "c 0 10"), 32_000);
    assert_eq!(parse("c 0 0\n").unwrap().program.tasks, [[]]);
}

#[test]
fn tasks_are_as_many_as_the_highest_number_says() {
    assert_eq!(parse("s 0 9 0 1\nr 0 9 0 1\n").unwrap().program.tasks.len(), 10);
    let error = parse("c 16777215 1\n").unwrap_err();
    assert!(matches!(*error.fault, Fault::TooManyTasks { found: 16_777_216, .. }), "{error}");
}

#[test]
fn faults_name_line_finding_and_expectation() {
    let message = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(message("c 0 1\ns 0 1 2\n"), "a.trc:2: `s` with 3 arguments, expected `s SRC DST TAG BYTES`");
    assert_eq!(message("c 0 1x\n"), "a.trc:1: duration is `1x`, expected a finite number from 0 on");
    assert_eq!(message("c 0 1\nx 0 1\n"), "a.trc:2: unknown record `x`");
    assert_eq!(message("c 0 nan\n"), "a.trc:1: duration is `nan`, expected a finite number from 0 on");
    assert_eq!(message("c 0 1e30\n"), "a.trc:1: duration is `1e30`, expected at most 106 days");
    assert_eq!(
        message("s 1000000000000000000 1 2 3\n"),
        "a.trc:1: task is `1000000000000000000`, expected a whole number from 0 to 16777215"
    );
    assert_eq!(
        message("s 0 1 2 9223372036854775808\n"),
        "a.trc:1: size is `9223372036854775808`, expected a whole number from 0 to 1099511627776"
    );
    assert_eq!(message("s 0 1 1.5 3\n"), "a.trc:1: tag is `1.5`, expected a whole number");
    assert_eq!(message(""), "a.trc: is empty: a trace was expected");
    assert_eq!(message("# nothing\n\n"), "a.trc: is empty: a trace was expected");
}

#[test]
fn other_text_is_answered_with_the_known_formats() {
    let error = parse("#OTHER\nsome text\n").unwrap_err();
    assert_eq!(error.to_string(), "a.trc: unknown trace format: the first line is `some text`");
    let remedy = error.remedy().unwrap();
    assert!(FORMATS.names().iter().all(|name| remedy.to_string().contains(name)), "{remedy}");

    let forced = parse_with("some text\n", |options| options.from = Some("fsin-trc".to_owned())).unwrap_err();
    assert_eq!(forced.to_string(), "a.trc:1: unknown record `some`");
    let unknown = parse_with(RING, |options| options.from = Some("fsin".to_owned())).unwrap_err();
    assert!(unknown.remedy().unwrap().to_string().contains("fsin-trc"), "{unknown}");
}

#[test]
fn options_without_sense_are_refused() {
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = parse_with(RING, |options| options.flop_rate = rate).unwrap_err();
        assert!(matches!(*error.fault, Fault::Option(_)), "{error}");
        assert!(error.remedy().is_some());
    }
    let cycle = parse_with(RING, |options| options.compute_unit = ComputeUnit::Cycles(Picoseconds(0))).unwrap_err();
    assert!(matches!(*cycle.fault, Fault::Option(_)));
    let few = parse_with(RING, |options| options.max_events = 2).unwrap_err();
    assert!(matches!(*few.fault, Fault::TooManyEvents { limit: 2 }));
    assert_eq!(few.place.line, Some(5));
}
