//! The figures of a run of live guests.

use adapters::live::{GuestReport, LiveReport};
use adapters::protocol::Class;
use serde_json::{Map, Value, json};

use super::figures::{Costs, SCHEMA, failure};
use crate::run::Outcome;
use trgen::phrase::Notation;

/// The figures, in the order in which they are written; `picoseconds` tells the time of the end of a cycle, and `settings`
/// are what the run was asked for; texts name settings as `notation` says. A figure that cannot be computed is null.
#[must_use]
pub fn live_figures(
    outcome: &Outcome,
    report: &LiveReport,
    picoseconds: &dyn Fn(u64) -> u64,
    costs: Costs,
    settings: Map<String, Value>,
    manifest: Value,
    notation: &dyn Notation,
) -> Map<String, Value> {
    let latency = &outcome.measured.latency;
    let completion = outcome.completion.map(|cycle| cycle.0);
    let lost = report.guests.iter().filter(|guest| guest.lost.is_some()).count();
    let turns: u64 = report.guests.iter().map(|guest| guest.turns).sum();
    let late: u64 = report.guests.iter().map(|guest| guest.late).sum();
    let late_sum: f64 = report.guests.iter().filter_map(|guest| Some(guest.late_mean? * guest.late as f64)).sum();
    let per_second = |count: u64| (costs.wall_seconds > 0.0).then(|| count as f64 / costs.wall_seconds);
    let mut all = Map::new();
    let mut put = |name: &str, value: Value| {
        all.insert(name.to_owned(), value);
    };
    put("schema", json!(SCHEMA));
    put("complete", json!(outcome.complete && lost == 0));
    put("failure", failure(outcome.failure.as_ref()));
    put("warnings", outcome.warnings.iter().map(|warning| json!(warning.text.written(notation))).collect());
    put("cycles", json!(outcome.cycles));
    put("nodes", json!(outcome.nodes));
    put("guests_lost", json!(lost));
    put("messages", json!(report.injects));
    put("messages_delivered", json!(report.deliveries));
    put("messages_undelivered", json!(report.undelivered));
    put("messages_late", json!(late));
    put("late_mean_ps", json!((late > 0).then(|| late_sum / late as f64)));
    put("late_max_ps", json!(report.guests.iter().map(|guest| guest.late_max).max()));
    put("behind_max_ps", json!(report.behind.map(|behind| behind.max)));
    put("behind_mean_ps", json!(report.behind.and_then(|behind| behind.mean())));
    put("measured_cycles", json!(outcome.measured_cycles()));
    let latency_ps = report.latency.as_ref();
    put("messages_measured", json!(latency_ps.map_or(0, |latency| latency.count)));
    put("message_latency_mean_ps", json!(latency_ps.map(|latency| latency.mean)));
    put("message_latency_p50_ps", json!(latency_ps.map(|latency| latency.p50)));
    put("message_latency_p99_ps", json!(latency_ps.map(|latency| latency.p99)));
    put("message_latency_max_ps", json!(latency_ps.map(|latency| latency.max)));
    put("packets_measured", json!(outcome.measured.counts.received));
    put("latency_mean_cycles", json!(latency.moments().mean()));
    put("latency_max_cycles", json!(latency.moments().max()));
    for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
        put(&format!("latency_{name}_cycles"), json!(latency.quantile(share)));
    }
    put("packets_received", json!(outcome.totals.received));
    put("packets_in_flight", json!(outcome.in_flight));
    put("completion_cycles", json!(completion));
    put("completion_seconds", json!(completion.map(|cycle| picoseconds(cycle) as f64 * 1e-12)));
    put("turns", json!(turns));
    put("turns_per_second", json!(per_second(turns)));
    put("messages_per_second", json!(per_second(report.injects)));
    put("cpu_seconds", json!(costs.cpu_seconds));
    put("wall_seconds", json!(costs.wall_seconds));
    put("peak_memory_bytes", json!(costs.peak_memory_bytes));
    put("digest", json!(hex(outcome.digest)));
    put("guest_digest", json!(hex(report.digest)));
    let waymark = |mark: &adapters::live::Waymark| json!({ "time_ps": mark.time, "digest": hex(mark.digest) });
    put("running_digests", report.waymarks.iter().map(waymark).collect());
    put("guests", report.guests.iter().map(guest).collect());
    put("experiment", Value::Object(settings));
    put("manifest", manifest);
    all
}

fn hex(digest: u64) -> String {
    format!("{digest:016x}")
}

fn guest(guest: &GuestReport) -> Value {
    let manifest: String = guest.manifest.iter().map(|byte| format!("{byte:02x}")).collect();
    let mark = |mark: &adapters::live::Mark| json!({ "time_ps": mark.time, "label": mark.label });
    json!({
        "name": guest.name,
        "nodes": guest.nodes,
        "class": match guest.class { Class::Stepped => "stepped", Class::Causal => "causal" },
        "manifest": guest.manifest.iter().any(|&byte| byte != 0).then_some(manifest),
        "time_ps": guest.time,
        "left": guest.left,
        "lost": guest.lost,
        "turns": guest.turns,
        "messages_sent": guest.injects,
        "notices": guest.notices,
        "messages_late": guest.late,
        "late_mean_ps": guest.late_mean,
        "late_max_ps": guest.late_max,
        "marks": guest.marks.iter().map(mark).collect::<Vec<_>>(),
    })
}
