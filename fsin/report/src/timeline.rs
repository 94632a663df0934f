//! Timelines as trace events, which viewers such as Perfetto and `chrome://tracing` show.
//!
//! The application is a process, each rank a thread. Spans of a rank that lie within one another are complete events; one
//! that overlaps another without lying within it is a pair of asynchronous events. A second process has the messages:
//! those of a rank lie in as many threads as there are under way at once, each from its sending to its arrival, under the
//! name of the collective to which it belongs. A third has a counter for each class of links: the bytes of the interval
//! that begins. Times are in us.
//!
//! Source: *Trace Event Format*, Google, 2016.
//!
//! Decision: docs/decisions/0610-messages-in-timelines.md.

use std::cmp::Reverse;
use std::io::{self, Write};

use serde_json::{Value, json};
use trgen::trace::timeline::{Passage, Span, Timeline};

/// Number of the process of the ranks, of that of their messages, and of that of the links.
const RANKS: u32 = 1;
const MESSAGES: u32 = 2;
const LINKS: u32 = 3;

/// Writes the timeline of an application of this name.
///
/// # Errors
/// When `out` fails.
pub fn write_timeline(name: &str, timeline: &Timeline, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}", process(RANKS, name))?;
    write_spans(timeline.spans(), out)?;
    write_messages(timeline.messages(), out)?;
    write_counters(timeline, out)?;
    writeln!(out, "\n]}}")
}

/// \[us\] A time \[ps\].
fn us(time: u64) -> f64 {
    time as f64 / 1e6
}

/// Writes what the ranks do.
fn write_spans(spans: &[Span], out: &mut dyn Write) -> io::Result<()> {
    let mut ordered: Vec<&Span> = spans.iter().collect();
    ordered.sort_by_key(|span| (span.rank, span.begin, Reverse(span.end), span.doing));
    let mut rank = None;
    // Ends of the complete events within which the next one may lie.
    let mut open: Vec<u64> = Vec::new();
    for (number, span) in ordered.into_iter().enumerate() {
        if rank != Some(span.rank) {
            rank = Some(span.rank);
            open.clear();
            write!(out, ",\n{}", thread(RANKS, span.rank, &format!("rank {}", span.rank)))?;
        }
        while open.last().is_some_and(|&end| end <= span.begin) {
            open.pop();
        }
        let (category, title) = (span.doing.name(), if span.name.is_empty() { span.doing.name() } else { &span.name });
        if open.last().is_none_or(|&end| span.end <= end) {
            open.push(span.end);
            let event = json!({
                "name": title, "cat": category, "ph": "X", "ts": us(span.begin), "dur": us(span.end - span.begin),
                "pid": RANKS, "tid": span.rank,
            });
            write!(out, ",\n{event}")?;
        } else {
            for (phase, time) in [("b", span.begin), ("e", span.end)] {
                let event = json!({
                    "name": title, "cat": category, "ph": phase, "id": number, "ts": us(time), "pid": RANKS,
                    "tid": span.rank,
                });
                write!(out, ",\n{event}")?;
            }
        }
    }
    Ok(())
}

/// Writes the messages: those of a rank in threads in which none overlaps another.
fn write_messages(messages: &[Passage], out: &mut dyn Write) -> io::Result<()> {
    if messages.is_empty() {
        return Ok(());
    }
    write!(out, ",\n{}", process(MESSAGES, "messages"))?;
    let mut ordered: Vec<&Passage> = messages.iter().collect();
    ordered.sort_by_key(|message| (message.from, message.sent, message.arrived, message.to));
    let mut threads = 0;
    for of_rank in ordered.chunk_by(|one, other| one.from == other.from) {
        // Ends of the last messages of the threads of this rank.
        let mut ends: Vec<u64> = Vec::new();
        for message in of_rank {
            let end = message.arrived.unwrap_or(message.sent);
            let lane = ends.iter().position(|&end| end <= message.sent).unwrap_or_else(|| {
                ends.push(0);
                ends.len() - 1
            });
            let number = threads + lane as u32;
            if ends[lane] == 0 {
                let more = if lane == 0 { String::new() } else { format!(" ({})", lane + 1) };
                write!(out, ",\n{}", thread(MESSAGES, number, &format!("from rank {}{more}", message.from)))?;
            }
            ends[lane] = end.max(1);
            write!(out, ",\n{}", of_message(message, number))?;
        }
        threads += ends.len() as u32;
    }
    Ok(())
}

/// The event of a message in a thread: an instant if it has not arrived.
fn of_message(message: &Passage, thread: u32) -> Value {
    let Passage { from, to, sent, arrived, bytes, collective } = message;
    let own = format!("to rank {to}");
    let mut event = json!({
        "name": collective.as_deref().unwrap_or(&own), "cat": "message", "ts": us(*sent), "pid": MESSAGES, "tid": thread,
        "args": { "from": from, "to": to, "bytes": bytes, "collective": collective.as_deref() },
    });
    match arrived {
        Some(arrived) => {
            event["ph"] = json!("X");
            event["dur"] = json!(us(arrived.saturating_sub(*sent)));
        }
        None => {
            event["ph"] = json!("i");
            event["s"] = json!("t");
            event["args"]["arrived"] = json!(false);
        }
    }
    event
}

/// Writes what the links carry.
fn write_counters(timeline: &Timeline, out: &mut dyn Write) -> io::Result<()> {
    let counters = timeline.counters();
    if !counters.is_empty() {
        write!(out, ",\n{}", process(LINKS, "links"))?;
    }
    for counter in counters {
        let name = format!("bytes on links of {}", counter.name);
        let mut event = |time: u64, bytes: u64| {
            let event = json!({ "name": name, "ph": "C", "ts": us(time), "pid": LINKS, "args": { "bytes": bytes } });
            write!(out, ",\n{event}")
        };
        for [begin, end] in counter.samples.array_windows() {
            event(begin.0, end.1 - begin.1)?;
        }
        if let Some(last) = counter.samples.last() {
            event(last.0, 0)?;
        }
    }
    Ok(())
}

/// The event that names a process.
fn process(number: u32, name: &str) -> Value {
    json!({ "name": "process_name", "ph": "M", "pid": number, "tid": 0, "args": { "name": name } })
}

/// The event that names a thread.
fn thread(process: u32, number: u32, name: &str) -> Value {
    json!({ "name": "thread_name", "ph": "M", "pid": process, "tid": number, "args": { "name": name } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trgen::trace::timeline::{Counter, Doing};

    fn events(timeline: &Timeline) -> Vec<Value> {
        let mut text = Vec::new();
        write_timeline("kernel a\"b", timeline, &mut text).unwrap();
        let value: Value = serde_json::from_slice(&text).unwrap();
        value["traceEvents"].as_array().unwrap().clone()
    }

    #[test]
    fn what_overlaps_without_lying_within_is_asynchronous() {
        let span = |rank, doing, begin, end| Span { rank, doing, name: String::new(), begin, end };
        let spans = vec![
            span(0, Doing::Computing, 0, 10_000_000),
            span(0, Doing::Sending, 2_000_000, 3_500_000),
            span(0, Doing::Receiving, 8_000_000, 12_000_000),
            span(0, Doing::Computing, 12_000_000, 13_000_000),
            span(1, Doing::Computing, 0, 1),
        ];
        let events = events(&Timeline::of(spans, Vec::new()));
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

    #[test]
    fn messages_under_way_at_once_lie_in_threads_of_their_own() {
        let message = |from, sent, arrived, collective: Option<&str>| {
            let collective = collective.map(Into::into);
            Passage { from, to: from + 1, sent, arrived, bytes: 64, collective }
        };
        let messages = vec![
            message(0, 0, Some(5_000_000), Some("all-reduce ring 0")),
            message(0, 2_000_000, Some(4_000_000), None),
            message(0, 5_000_000, Some(6_000_000), None),
            message(1, 0, None, None),
        ];
        let events = events(&Timeline::of(Vec::new(), messages));
        let of_messages: Vec<(&str, u64, f64)> = events
            .iter()
            .filter(|event| event["cat"] == "message")
            .map(|event| {
                let (name, thread) = (event["name"].as_str().unwrap(), event["tid"].as_u64().unwrap());
                (name, thread, event["dur"].as_f64().unwrap_or(-1.0))
            })
            .collect();
        let expected =
            [("all-reduce ring 0", 0, 5.0), ("to rank 1", 1, 2.0), ("to rank 1", 0, 1.0), ("to rank 2", 2, -1.0)];
        assert_eq!(of_messages, expected);
    }

    #[test]
    fn counters_have_the_bytes_of_the_interval_that_begins() {
        let mut timeline = Timeline::of(Vec::new(), Vec::new());
        let samples = vec![(0, 0), (1_000_000, 640), (3_000_000, 704)];
        timeline.add_counters(vec![Counter { name: "class up".to_owned(), samples }]);
        let found: Vec<(f64, u64)> = events(&timeline)
            .iter()
            .filter(|event| event["ph"] == "C")
            .map(|event| (event["ts"].as_f64().unwrap(), event["args"]["bytes"].as_u64().unwrap()))
            .collect();
        assert_eq!(found, [(0.0, 640), (1.0, 64), (3.0, 0)]);
    }
}
