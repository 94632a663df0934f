//! Containers: reading restores what was written, and every changed byte is detected.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Cursor;

use proptest::prelude::*;
use trgen::trace::container::{Content, Header, Reader, Writer};
use trgen::trace::goal::{Graph, patterns};
use trgen::trace::program::{Event, Program, Receive, Request, Send, Tag, TagFilter};
use trgen::{Picoseconds, TaskId};

fn header(content: Content, tasks: usize) -> Header {
    let (origin, notes) = ("a test".to_owned(), vec!["a note".to_owned()]);
    Header { content, tasks: tasks as u32, origin, collectives: vec![("bcast".to_owned(), 7)], notes }
}

fn store(program: &Program) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &header(Content::Programs, program.tasks.len())).unwrap();
    writer.program(program).unwrap();
    writer.finish().unwrap()
}

fn open(bytes: &[u8]) -> Result<Reader, String> {
    Reader::open(Cursor::new(bytes.to_vec())).map_err(|error| error.to_string())
}

fn events(tasks: u32) -> impl Strategy<Value = Event> {
    let tag = (0..3_u32, any::<i64>()).prop_map(|(context, label)| Tag { context, label });
    let send = (0..tasks, tag.clone(), 0..1_u64 << 40).prop_map(|(to, tag, bytes)| Send { to: TaskId(to), tag, bytes });
    let filter = prop_oneof![tag.prop_map(TagFilter::Exactly), (0..3_u32).prop_map(TagFilter::AnyIn)];
    let receive = (proptest::option::of(0..tasks), filter, 0..1_u64 << 40).prop_map(|(from, tag, bytes)| Receive {
        from: from.map(TaskId),
        tag,
        bytes,
    });
    let request = any::<u32>().prop_map(Request);
    let requests = proptest::collection::vec(any::<u32>().prop_map(Request), 0..5).prop_map(Vec::into_boxed_slice);
    prop_oneof![
        (0..1_u64 << 63).prop_map(|time| Event::Compute(Picoseconds(time))),
        send.clone().prop_map(Event::Send),
        (send, request.clone()).prop_map(|(send, request)| Event::Isend(send, request)),
        receive.clone().prop_map(Event::Recv),
        (receive, request.clone()).prop_map(|(receive, request)| Event::Irecv(receive, request)),
        request.prop_map(Event::Wait),
        requests.clone().prop_map(Event::WaitAll),
        requests.prop_map(Event::WaitAny),
    ]
}

fn programs() -> impl Strategy<Value = Program> {
    (1_u32..6).prop_flat_map(|tasks| {
        let task = proptest::collection::vec(events(tasks), 0..40);
        proptest::collection::vec(task, tasks as usize).prop_map(|tasks| Program { tasks })
    })
}

/// Reads everything; any error fails.
fn read_all(bytes: &[u8]) -> Result<Program, String> {
    open(bytes)?.program(1 << 20).map_err(|error| error.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_is_read(program in programs()) {
        prop_assert_eq!(read_all(&store(&program)).unwrap(), program);
    }

    #[test]
    fn events_of_any_task_may_come_in_any_order(program in programs()) {
        let mut writer = Writer::new(Vec::new(), &header(Content::Programs, program.tasks.len())).unwrap();
        let longest = program.tasks.iter().map(Vec::len).max().unwrap();
        for step in 0..longest {
            for (task, events) in (0..).zip(&program.tasks) {
                if let Some(event) = events.get(step) {
                    writer.event(task, event).unwrap();
                }
            }
        }
        prop_assert_eq!(read_all(&writer.finish().unwrap()).unwrap(), program);
    }

    #[test]
    fn every_changed_byte_is_found_out(program in programs(), at in any::<prop::sample::Index>(), flip in 1_u8..) {
        let mut bytes = store(&program);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        prop_assert!(read_all(&bytes).is_err(), "byte {} of {}", at, bytes.len());
    }

    #[test]
    fn every_truncation_is_found_out(program in programs(), at in any::<prop::sample::Index>()) {
        let bytes = store(&program);
        prop_assert!(read_all(&bytes[..at.index(bytes.len())]).is_err());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut container = b"FSIN\x89TRG\x01\0\0\0".to_vec();
        container.extend(bytes);
        let _ = read_all(&container);
    }
}

#[test]
fn blocks_that_change_places_are_found_out() {
    // Two tasks of the same length and content yield two blocks that differ only in their task.
    let steps = vec![Event::Compute(Picoseconds(5)); 10];
    let bytes = store(&Program { tasks: vec![steps.clone(), steps] });
    let reader = open(&bytes).unwrap();
    assert_eq!(reader.summaries()[1].rows, 10);
    let blocks: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(&[2]) && at > 12).collect();
    // The two row blocks: kind 2, task 0 and 1, ordinal 0, 10 rows.
    let block = |task: u8| {
        let head = [2, task, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0];
        *blocks.iter().find(|&&at| bytes[at..].starts_with(&head)).unwrap()
    };
    let (first, second) = (block(0), block(1));
    let length = second - first;
    let mut swapped = bytes.clone();
    swapped[first..second].copy_from_slice(&bytes[second..second + length]);
    swapped[second..second + length].copy_from_slice(&bytes[first..second]);
    let error = read_all(&swapped).unwrap_err();
    assert!(error.contains("block 0 of task 1"), "{error}");
}

#[test]
fn many_blocks_of_a_task_keep_their_order() {
    let steps: Vec<Event> = (0..20_000).map(|step| Event::Compute(Picoseconds(step + 1))).collect();
    let program = Program { tasks: vec![steps, Vec::new()] };
    let bytes = store(&program);
    let reader = open(&bytes).unwrap();
    assert_eq!(reader.program(1 << 20).unwrap(), program);
    assert!(reader.program(19_999).is_err(), "more events than permitted");
    assert_eq!(reader.summaries()[0].compute, Picoseconds(20_000 * 20_001 / 2));
}

#[test]
fn graphs_come_back_with_their_dependents_in_order() {
    for spec in ["pipelinedringdep:ranks=9,bytes=5000,segment=512", "linbarrier:ranks=7", "doublering:ranks=5"] {
        let graph: Graph = patterns::parse(spec).unwrap();
        let mut writer = Writer::new(Vec::new(), &header(Content::Graphs, graph.ranks().len())).unwrap();
        writer.graph(&graph).unwrap();
        let reader = open(&writer.finish().unwrap()).unwrap();
        assert_eq!(reader.graph().unwrap(), graph, "{spec}");
        assert!(reader.program(1 << 20).is_err());
    }
}

#[test]
fn another_version_is_named() {
    let mut bytes = store(&Program::new(1));
    bytes[8] = 9;
    assert!(open(&bytes).unwrap_err().contains("version 9"));
}
