//! Timelines as trace events, which viewers such as Perfetto and `chrome://tracing` show.
//!
//! The application is a process, each rank a thread. Spans of a rank that lie within one another are complete events; one
//! that overlaps another without lying within it is a pair of asynchronous events. Times are in us.
//!
//! Source: *Trace Event Format*, Google, 2016.

use std::io::{self, Write};

use serde_json::{Value, json};
use trgen::trace::timeline::Span;

/// Number of the process.
const PROCESS: u32 = 1;

/// Writes the spans of an application of this name.
///
/// # Errors
/// When `out` fails.
pub fn write_timeline(name: &str, spans: &[Span], out: &mut dyn Write) -> io::Result<()> {
    let mut ordered: Vec<&Span> = spans.iter().collect();
    ordered.sort_by_key(|span| (span.rank, span.begin, std::cmp::Reverse(span.end), span.doing));
    write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}", named("process_name", 0, name))?;
    let mut rank = None;
    // Ends of the complete events within which the next one may lie.
    let mut open: Vec<u64> = Vec::new();
    for (number, span) in ordered.into_iter().enumerate() {
        if rank != Some(span.rank) {
            rank = Some(span.rank);
            open.clear();
            write!(out, ",\n{}", named("thread_name", span.rank, &format!("rank {}", span.rank)))?;
        }
        while open.last().is_some_and(|&end| end <= span.begin) {
            open.pop();
        }
        let begin = json!(span.begin as f64 / 1e6);
        let (category, title) = (span.doing.name(), if span.name.is_empty() { span.doing.name() } else { &span.name });
        if open.last().is_none_or(|&end| span.end <= end) {
            open.push(span.end);
            let event = json!({
                "name": title, "cat": category, "ph": "X", "ts": begin, "dur": (span.end - span.begin) as f64 / 1e6,
                "pid": PROCESS, "tid": span.rank,
            });
            write!(out, ",\n{event}")?;
        } else {
            for (phase, time) in [("b", begin), ("e", json!(span.end as f64 / 1e6))] {
                let event = json!({
                    "name": title, "cat": category, "ph": phase, "id": number, "ts": time, "pid": PROCESS,
                    "tid": span.rank,
                });
                write!(out, ",\n{event}")?;
            }
        }
    }
    writeln!(out, "\n]}}")
}

/// The event that names a process or thread.
fn named(what: &str, thread: u32, name: &str) -> Value {
    json!({ "name": what, "ph": "M", "pid": PROCESS, "tid": thread, "args": { "name": name } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trgen::trace::timeline::Doing;

    #[test]
    fn what_overlaps_without_lying_within_is_asynchronous() {
        let span = |rank, doing, begin, end| Span { rank, doing, name: String::new(), begin, end };
        let spans = [
            span(0, Doing::Computing, 0, 10_000_000),
            span(0, Doing::Sending, 2_000_000, 3_500_000),
            span(0, Doing::Receiving, 8_000_000, 12_000_000),
            span(0, Doing::Computing, 12_000_000, 13_000_000),
            span(1, Doing::Computing, 0, 1),
        ];
        let mut text = Vec::new();
        write_timeline("kernel a\"b", &spans, &mut text).unwrap();
        let value: Value = serde_json::from_slice(&text).unwrap();
        let events = value["traceEvents"].as_array().unwrap();
        let found: Vec<(String, u64, f64)> = events
            .iter()
            .filter(|event| event["ph"] != "M")
            .map(|event| {
                let phase = event["ph"].as_str().unwrap().to_owned();
                (phase, event["tid"].as_u64().unwrap(), event["ts"].as_f64().unwrap())
            })
            .collect();
        let expected = [("X", 0, 0.0), ("X", 0, 2.0), ("b", 0, 8.0), ("e", 0, 12.0), ("X", 0, 12.0), ("X", 1, 0.0)];
        assert_eq!(found, expected.map(|(phase, rank, time)| (phase.to_owned(), rank, time)));
        assert_eq!(events[0]["args"]["name"], "kernel a\"b");
    }
}
