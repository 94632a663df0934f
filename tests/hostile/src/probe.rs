//! One attempt to read, and the guarantees that it must keep.

use std::time::{Duration, Instant};

use trgen::trace::formats::{Application, Fault, ReadError, ReadOptions, open_bytes};
use trgen::trace::goal::Graph;
use trgen::trace::program::{Event, Program};

use crate::allocations;

/// Events allowed to a trace here; their memory is part of [`ALLOWANCE`].
const MAX_EVENTS: u64 = 1 << 12;
/// \[bytes\] Allowed in addition to four times the file: read buffers, 4096 events, and a block of a container.
pub const ALLOWANCE: usize = 1 << 20;
/// Reading a file of some kilobytes takes less than a millisecond, but the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// Outcome of reading a file.
#[derive(Debug)]
pub enum Outcome {
    /// It was read.
    Accepted,
    /// It was rejected with this message.
    Refused(String),
}

/// Reads `bytes` as a file of format `from` and panics if a guarantee is broken: memory in proportion to the file, an
/// end in time, a valid program or an error with its place.
///
/// # Panics
/// When a guarantee is broken.
#[must_use]
pub fn read(from: &str, bytes: &[u8]) -> Outcome {
    let options = ReadOptions { from: Some(from.to_owned()), max_events: MAX_EVENTS, ..ReadOptions::default() };
    let begin = Instant::now();
    let (result, usage) = allocations::of(|| open_bytes("rank-0", bytes, &options));
    let elapsed = begin.elapsed();
    let limit = 4 * unpacked(bytes) + ALLOWANCE;
    assert!(usage.peak <= limit, "{from}: {} bytes held for a file of {}: {result:.200?}", usage.peak, bytes.len());
    assert!(elapsed < PATIENCE, "{from}: {elapsed:?} for {} bytes", bytes.len());
    match result {
        Ok(Application::Programs(trace)) => {
            program(&trace.program);
            Outcome::Accepted
        }
        Ok(Application::Graphs(trace)) => {
            graph(&trace.graph);
            Outcome::Accepted
        }
        Ok(Application::Chakra(_)) => Outcome::Accepted,
        Err(error) => Outcome::Refused(refusal(&error)),
    }
}

/// \[bytes\] Size of the file after decompression, if it is a valid xz file.
fn unpacked(bytes: &[u8]) -> usize {
    let mut counted = 0;
    let mut decoder = liblzma::read::XzDecoder::new(bytes);
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = std::io::Read::read(&mut decoder, &mut buffer) {
        counted += length;
    }
    counted.max(bytes.len())
}

/// Checks that an error is one line, names a line or a byte, and has a remedy unless that is obvious.
fn refusal(error: &ReadError) -> String {
    let text = error.to_string();
    assert!(text.starts_with("rank-0"), "{text}");
    assert!(!text.contains('\n'), "one line: {text}");
    assert!(text.len() < 2000, "short: {text}");
    let place = &error.place;
    let located = place.line.is_some() || place.byte.is_some() || place.member.is_some();
    // An error of the whole file has no line.
    let whole = matches!(
        *error.fault,
        Fault::Empty
            | Fault::NoTrace { .. }
            | Fault::SeveralTraces { .. }
            | Fault::MissingRank { .. }
            | Fault::Packed { .. }
            | Fault::RankTwice { .. }
            | Fault::NotFound
    );
    assert!(located || whole, "neither line, byte nor member: {text}");
    let _ = error.remedy();
    text
}

/// Peers exist, times and sizes are within limits, and no request is started twice.
fn program(program: &Program) {
    let tasks = program.tasks.len();
    let events: usize = program.tasks.iter().map(Vec::len).sum();
    assert!(events as u64 <= MAX_EVENTS, "{events} events");
    for event in program.tasks.iter().flatten() {
        match event {
            Event::Send(send) | Event::Isend(send, _) => assert!(send.to.index() < tasks && send.bytes <= 1 << 50),
            Event::Recv(receive) | Event::Irecv(receive, _) => {
                assert!(receive.from.is_none_or(|from| from.index() < tasks));
            }
            Event::Compute(time) => assert!(time.0 < 1 << 63),
            Event::After(_) | Event::Wait(_) | Event::WaitAll(_) | Event::WaitAny(_) => {}
        }
    }
}

/// Dependents exist, and there is an order in which all can start.
fn graph(graph: &Graph) {
    for rank in graph.ranks() {
        let mut waits: Vec<u32> = rank.nodes().iter().map(|node| node.waits_for).collect();
        let mut ready: Vec<usize> = (0..waits.len()).filter(|&node| waits[node] == 0).collect();
        let mut started = 0;
        while let Some(number) = ready.pop() {
            started += 1;
            let node = &rank.nodes()[number];
            for &dependent in rank.on_finish(node).iter().chain(rank.on_start(node)) {
                waits[dependent as usize] -= 1;
                if waits[dependent as usize] == 0 {
                    ready.push(dependent as usize);
                }
            }
        }
        assert_eq!(started, rank.nodes().len(), "a circle was accepted");
    }
}
