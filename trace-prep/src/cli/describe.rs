//! `check`, `info` and `matrix`: describe a trace without changing it.

use std::fmt::Write as _;

use clap::ArgMatches;
use serde_json::{Map, Value, json};
use trace_prep::check::{self, Verdict};
use trace_prep::facts::{self, Facts};
use trace_prep::matrix::{csv, svg};
use trace_prep::output;
use trgen::Picoseconds;
use trgen::trace::container::Content;
use trgen::trace::formats::{self, Application, plural};
use trgen::trace::matrix::Matrix;

use super::input::{self, load};
use super::meter::Meter;
use super::{Complaint, Exit, write_stderr, write_stdout};

/// The command `check`.
pub(super) fn check(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let synchronous = matches.get_flag("synchronous");
    let quiet = input::quiet(matches);
    // Why the trace is incomplete, if one of its notes says so.
    let mut incomplete = None;
    let mut find_incomplete = |notes: &[String]| {
        incomplete = notes.iter().find_map(|note| Some(note.split_once("not complete: ")?.1.to_owned()));
    };
    let verdict = match formats::open_container(&input::path_argument(matches, "input")?)? {
        Some(container) if container.header().content == Content::Programs => {
            find_incomplete(&container.header().notes);
            let _meter = Meter::new(quiet, "executing");
            check::container(&container, synchronous)?
        }
        _ => {
            let loaded = load(matches)?;
            let _meter = Meter::new(loaded.quiet, "executing");
            match &loaded.application {
                Application::Programs(trace) => {
                    find_incomplete(&trace.notes);
                    check::program(&trace.program, synchronous)?
                }
                Application::Graphs(graph) => check::graph(&graph.graph),
                Application::Chakra(trace) => return Err(input::only_described(trace)),
            }
        }
    };
    super::write_document(matches, &report(&verdict))?;
    let misfits = verdict.misfits.count;
    if misfits > 0 && !quiet {
        let receives = plural(misfits as usize, "receive does", "receives do");
        let all = if misfits > 16 { ", of which 16 are listed" } else { "" };
        write_stderr(&format!(
            "warning: {misfits} {receives} not fit the message{all}: MPI refuses a receive that is smaller (truncation), and a \
             replay goes on"
        ));
    }
    let waiting = verdict.waits.len();
    let (exit, what, remedy) = if verdict.deadlock() {
        let tasks = plural(waiting, "task waits", "tasks wait");
        let remedy = match (verdict.is_circle(), synchronous) {
            (false, _) => "every receive needs a send of the same source, destination and tag",
            (true, false) => {
                "every send has its receive, but tasks wait for each other in a circle: change the order of their events; \
                 the receive lines of a .trc may have been read in the wrong order (--recv-order)"
            }
            (true, true) => {
                "every send has its receive, but tasks wait for each other in a circle: the trace relies on sends that end \
                 before they are received; without --synchronous they do"
            }
        };
        (Exit::Deadlock, format!("the trace deadlocks: {waiting} {tasks} for ever"), remedy)
    } else if verdict.unmatched > 0 {
        let alone = plural(verdict.unmatched as usize, "send or receive has", "sends or receives have");
        let remedy = "the trace may be cut, or its receive lines read in the wrong order";
        (Exit::Deadlock, format!("{} {alone} no counterpart", verdict.unmatched), remedy)
    } else {
        return Ok(Exit::Done);
    };
    Err(match incomplete {
        Some(how) => {
            let remedy =
                "the last calls of some ranks are missing; `trace-prep slice --events N` keeps the beginning of all";
            Complaint::new(exit, format!("{what}; the trace is not complete: {how}"), remedy)
        }
        None => Complaint::new(exit, what, remedy),
    })
}

/// The output of `check`: one line per count, then the waits, unmatched messages and misfits.
fn report(verdict: &Verdict) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &dyn std::fmt::Display| {
        let _ = writeln!(text, "{name:<27} {value}");
    };
    line("tasks", &verdict.tasks);
    line("messages", &verdict.messages);
    line("bytes", &verdict.bytes);
    line("messages received", &verdict.received);
    line("without counterpart", &verdict.unmatched);
    line("receives that do not fit", &verdict.misfits.count);
    line("receives from any source", &verdict.wildcards);
    line("tasks with wildcard races", &verdict.races.len());
    line("tasks that wait for ever", &verdict.waits.len());
    if let Some(path) = verdict.critical_path {
        // Nanoseconds suffice: the check charges every message one picosecond.
        line("critical path (s)", &format!("{:.9}", path.seconds()));
    }
    let waits = verdict.waits.iter().take(16).map(|wait| &wait.text);
    for line in waits.chain(&verdict.unmatched_shown).chain(&verdict.misfits.shown) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// The command `info`.
pub(super) fn info(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let loaded = load(matches)?;
    let (facts, format, collectives) = match &loaded.application {
        Application::Programs(trace) => (facts::program(&trace.program), trace.format, Some(&trace.collectives)),
        Application::Graphs(graph) => (facts::graph(&graph.graph), graph.format, None),
        Application::Chakra(trace) => (facts::chakra(&trace.trace), trace.format, None),
    };
    if matches.get_one::<String>("format").is_some_and(|format| format == "json") {
        let text = serde_json::to_string_pretty(&as_json(&facts, format, collectives)).unwrap_or_default();
        super::write_document(matches, &format!("{text}\n"))?;
    } else {
        super::write_document(matches, &as_table(&facts, format, collectives))?;
    }
    Ok(Exit::Done)
}

/// Calls of collectives by name; `None` for a graph.
type Collectives<'a> = Option<&'a std::collections::BTreeMap<&'static str, u64>>;

/// The output of `info --format json`.
fn as_json(facts: &Facts, format: &str, collectives: Collectives<'_>) -> Value {
    let counts = |entries: &mut dyn Iterator<Item = (String, u64)>| -> Value {
        entries.map(|(name, count)| (name, json!(count))).collect::<Map<String, Value>>().into()
    };
    json!({
        "schema": 1,
        "format": format,
        "tasks": facts.tasks,
        "events": counts(&mut facts.events.iter().map(|(name, count)| ((*name).to_owned(), *count))),
        "point_to_point_messages": facts.point_to_point_messages,
        "point_to_point_bytes": facts.point_to_point_bytes,
        "collective_messages": facts.collective_messages,
        "collective_bytes": facts.collective_bytes,
        "collective_calls": counts(
            &mut collectives.into_iter().flatten().map(|(name, count)| ((*name).to_owned(), *count))
        ),
        "pairs": facts.pairs,
        "messages_by_size_bytes_up_to": counts(&mut facts.sizes.iter().map(|(size, count)| (size.to_string(), *count))),
        "compute_seconds": seconds(facts.compute),
    })
}

/// The output of `info` as a table.
fn as_table(facts: &Facts, format: &str, collectives: Collectives<'_>) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &dyn std::fmt::Display| {
        let _ = writeln!(text, "{name:<27} {value}");
    };
    line("format", &format);
    line("tasks", &facts.tasks);
    for (name, count) in &facts.events {
        line(&format!("events {name}"), count);
    }
    line("point-to-point messages", &facts.point_to_point_messages);
    line("point-to-point bytes", &facts.point_to_point_bytes);
    line("collective messages", &facts.collective_messages);
    line("collective bytes", &facts.collective_bytes);
    for (name, count) in collectives.into_iter().flatten() {
        line(&format!("calls of {name}"), count);
    }
    line("pairs of tasks", &facts.pairs);
    line("computing, all tasks (s)", &seconds(facts.compute));
    for (size, count) in &facts.sizes {
        line(&format!("messages up to {size} {}", plural(*size as usize, "byte", "bytes")), count);
    }
    text
}

/// \[s\] A time. Divides, since multiplication by 10^-12 would be wrong in the last digit.
fn seconds(time: Picoseconds) -> f64 {
    time.0 as f64 / 1e12
}

/// The command `matrix`.
pub(super) fn matrix(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let given = |name: &str| matches.contains_id(name).then(|| input::output(matches, name)).transpose();
    let (table, picture) = (given("output")?, given("svg")?);
    if table.is_some() && table == picture {
        let what = "-o and --svg name the same file";
        return Err(Complaint::new(Exit::Usage, what, "name a file for the CSV and another one for the picture"));
    }
    let loaded = load(matches)?;
    let matrix = match &loaded.application {
        Application::Programs(trace) => Matrix::of_program(&trace.program),
        Application::Graphs(graph) => Matrix::of_graph(&graph.graph),
        Application::Chakra(trace) => Matrix::of_chakra(&trace.trace),
    };
    if let Some(path) = picture {
        output::file(&path, |out| Ok(svg(&matrix, out)?))?;
    }
    match table {
        Some(path) => output::file(&path, |out| Ok(csv(&matrix, out)?))?,
        None => {
            let mut text = Vec::new();
            csv(&matrix, &mut text)?;
            write_stdout(&String::from_utf8_lossy(&text))?;
        }
    }
    Ok(Exit::Done)
}
