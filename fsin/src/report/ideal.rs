//! Figures of an execution over an ideal network.

use serde_json::{Map, Value, json};
use trgen::phrase::{Notation, Phrase};

use super::figures::{Costs, SCHEMA, failure, settings};
use crate::experiment::{Experiment, IdealRun};

/// The figures, in the order in which they are written. Times are in ns, the unit of graphs; texts name settings
/// as `notation` says.
#[must_use]
pub fn ideal_figures(
    experiment: &Experiment,
    run: &IdealRun,
    costs: Costs,
    manifest: Value,
    notation: &dyn Notation,
) -> Map<String, Value> {
    let IdealRun { execution, messages, message_bytes, complete, notes, warnings } = run;
    let finish = &execution.finish;
    let remains = &execution.remains;
    let sound = *complete && remains.is_nothing();
    // A task that still waits for a message has not ended.
    let ended = *complete && remains.unstarted == 0 && remains.unserved == 0;
    // Whole where G and O are.
    let ticks = execution.ticks;
    let ns =
        |time: u64| if time.is_multiple_of(ticks) { json!(time / ticks) } else { json!(time as f64 / ticks as f64) };
    let last = execution.last();
    let mut all = Map::new();
    let mut put = |name: &str, value: Value| {
        all.insert(name.to_owned(), value);
    };
    put("schema", json!(SCHEMA));
    put("complete", json!(sound));
    put("failure", failure(run.failure().as_ref()));
    let written = |texts: &[Phrase]| texts.iter().map(|text| json!(text.written(notation))).collect();
    put("warnings", written(warnings));
    put("notes", written(notes));
    // As they were used, defaults too.
    put("network_latency_ns", json!(experiment.ideal_latency));
    put("network_gap_per_byte_ns", ns(experiment.hosts.gap_per_byte));
    put("host_overhead_ns", json!(experiment.hosts.overhead));
    put("host_gap_ns", json!(experiment.hosts.gap));
    put("host_overhead_per_byte_ns", ns(experiment.hosts.overhead_per_byte));
    put("host_eager_bytes", json!(experiment.hosts.rendezvous));
    put("tasks", json!(finish.len()));
    put("messages", json!(messages));
    put("message_bytes", json!(message_bytes));
    put("events", json!(execution.events));
    put("completion_seconds", json!(last.filter(|_| ended).map(|(_, time)| seconds_of(time, ticks))));
    put("finish_max_ns", last.map_or(Value::Null, |(_, time)| ns(time)));
    put("finish_max_task", json!(last.map(|(task, _)| task)));
    put("finish_min_ns", finish.iter().min().map_or(Value::Null, |&time| ns(time)));
    put("finish_sum_ns", ns(finish.iter().fold(0_u64, |sum, time| sum.saturating_add(*time))));
    put("operations_not_started", json!(remains.unstarted));
    put("receives_without_message", json!(remains.unserved));
    put("messages_without_receive", json!(remains.unreceived));
    put("per_task", finish.iter().map(|time| json!({ "finish_ns": ns(*time) })).collect());
    put("cpu_seconds", json!(costs.cpu_seconds));
    let seconds = costs.cpu_seconds.filter(|&seconds| seconds > 0.0);
    put("events_per_second", json!(seconds.map(|seconds| execution.events as f64 / seconds)));
    put("peak_memory_bytes", json!(costs.peak_memory_bytes));
    put("experiment", settings(experiment));
    put("manifest", manifest);
    all
}

/// \[s\] Of a time in ticks, of which `ticks` are a nanosecond.
fn seconds_of(time: u64, ticks: u64) -> f64 {
    if ticks == 1 { time as f64 * 1e-9 } else { time as f64 / (ticks as f64 * 1e9) }
}
