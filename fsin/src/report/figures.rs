//! Every figure of a run, by name and unit.

use serde_json::{Map, Value, json};
use trgen::phrase::Notation;
use trgen::synthetic::traffic::Shot;

use super::jobs::job_figures;
use crate::couple::Failure;
use crate::experiment::{Bounds, Experiment, Finished, Key, Kind, RunPlan, TraceFacts};
use crate::run::Sample;
use crate::stats::{Moments, Summary};
use crate::sweep::{estimate, lag1};

/// Version of the names and meanings of figures.
pub const SCHEMA: u64 = 2;

/// Figures that depend on the machine and not on the experiment alone.
pub const COSTS: &[&str] =
    &["cpu_seconds", "wall_seconds", "cycles_per_second", "events_per_second", "peak_memory_bytes"];

/// What a run cost. Unlike all other figures these depend on the machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Costs {
    /// \[s\] Of processor time, of all threads.
    pub cpu_seconds: Option<f64>,
    /// \[s\] By the clock on the wall.
    pub wall_seconds: f64,
    /// \[bytes\] Most memory that the process held; `None` where the system does not tell.
    pub peak_memory_bytes: Option<u64>,
}

/// The figures of a run, in the order in which they are written; texts name settings as `notation` says. A figure that cannot be computed is null.
#[must_use]
pub fn figures(
    experiment: &Experiment,
    finished: &Finished,
    costs: Costs,
    manifest: Value,
    notation: &dyn Notation,
) -> Map<String, Value> {
    let outcome = &finished.outcome;
    let window = &outcome.measured;
    let phits = f64::from(experiment.router.packet_phits);
    let node_cycles = outcome.measured_cycles() as f64 * outcome.nodes as f64;
    let load = |packets: u64| (node_cycles > 0.0).then(|| packets as f64 * phits / node_cycles);
    let loads: Vec<f64> = outcome
        .samples
        .iter()
        .map(|sample| sample.summary.counts.received as f64 * phits / (sample.cycles as f64 * outcome.nodes as f64))
        .collect();
    let delays: Vec<f64> = outcome.samples.iter().filter_map(|sample| sample.summary.latency.mean()).collect();
    let latency = &window.latency;
    let totals = &outcome.totals;
    let mut all = Map::new();
    let mut put = |name: &str, value: Value| {
        all.insert(name.to_owned(), value);
    };
    put("schema", json!(SCHEMA));
    put("complete", json!(outcome.complete));
    put("converged", json!(outcome.converged));
    put("saturated", json!(finished.steadiness.saturation.map(|saturation| saturation.is_some())));
    put("failure", failure(outcome.failure.as_ref()));
    put("warnings", outcome.warnings.iter().map(|warning| json!(warning.text.written(notation))).collect());
    put("warning_kinds", outcome.warnings.iter().map(|warning| json!(warning.kind.name())).collect());
    put("notes", finished.notes.iter().map(|note| json!(note.written(notation))).collect());
    put("cycles", json!(outcome.cycles));
    put("measured_cycles", json!(outcome.measured_cycles()));
    let batch = matches!(experiment.plan, RunPlan::Batch(_));
    let first = outcome.samples.first().filter(|_| batch);
    put("warmup_cycles", json!(first.map(|sample| sample.start.since(trgen::Cycle::FIRST))));
    put("nodes", json!(outcome.nodes));
    put("offered_load_phits_per_node_cycle", json!(finished.offered.map(|offered| offered / outcome.nodes as f64)));
    put("generated_load_phits_per_node_cycle", json!(load(window.counts.generated)));
    put("injected_load_phits_per_node_cycle", json!(load(window.counts.injected)));
    put("accepted_load_phits_per_node_cycle", json!(load(window.counts.received)));
    put("accepted_load_ci95", json!(half_width_95(&loads)));
    put("accepted_load_lag1", json!(lag1(&loads)));
    let growth = finished.steadiness.queue_growth;
    let of_a_node = |packets: f64| packets * phits / outcome.nodes as f64;
    // A silent node of a pattern, or one without a task, has no part in what the others send.
    let of_a_sender = outcome.nodes as f64 / (outcome.nodes - outcome.silent_nodes) as f64;
    let of_senders = |load: Option<f64>| load.map(|load| load * of_a_sender).filter(|load| load.is_finite());
    let offered = finished.offered.map(|offered| offered / outcome.nodes as f64);
    put("offered_load_of_senders_phits_per_node_cycle", json!(of_senders(offered)));
    put("accepted_load_of_senders_phits_per_node_cycle", json!(of_senders(load(window.counts.received))));
    put("accepted_load_of_senders_ci95", json!(of_senders(half_width_95(&loads))));
    put("queue_growth_phits_per_node_cycle", json!(growth.map(|growth| of_a_node(growth.mean))));
    put("queue_growth_ci95", json!(growth.and_then(|growth| growth.ci95).map(of_a_node)));
    moments("latency", latency.moments(), &mut put);
    put("latency_ci95", json!(half_width_95(&delays)));
    let drift = finished.steadiness.drift;
    put("latency_drift", json!(drift.map(|drift| drift.mean)));
    put("latency_drift_ci95", json!(drift.and_then(|drift| drift.ci95)));
    put("latency_lag1", json!(lag1(&delays)));
    for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)] {
        put(&format!("latency_{name}_cycles"), json!(latency.quantile(share)));
    }
    moments("injection_latency", &window.injection_latency, &mut put);
    put("hops_mean", json!(window.hops.mean()));
    put("packets_generated", json!(totals.generated));
    put("packets_injected", json!(totals.injected));
    put("packets_received", json!(totals.received));
    put("packets_dropped", json!(totals.dropped));
    put("packets_in_flight", json!(outcome.in_flight));
    put("packet_hops", json!(totals.hops));
    put("silent_nodes", json!(outcome.silent_nodes));
    put("fairness_min", json!(outcome.fairness.map(|fairness| fairness.min)));
    put("fairness_jain", json!(outcome.fairness.map(|fairness| fairness.jain)));
    put("samples", samples(&outcome.samples, outcome.nodes, phits));
    shots(finished.shots.as_deref(), &mut put);
    links(finished.links.as_deref(), outcome.measured_cycles() as f64 / phits, &mut put);
    let completion = outcome.completion.map(|cycle| cycle.0);
    put("completion_cycles", json!(completion));
    put("completion_seconds", json!(completion.map(|cycles| cycles as f64 * experiment.cycle_seconds)));
    bounds(finished.bounds.as_ref(), &mut put);
    tasks(finished.trace.as_ref(), &mut put);
    if let Some(jobs) = &finished.jobs {
        job_figures(jobs, outcome, &mut put);
    }
    put("cpu_seconds", json!(costs.cpu_seconds));
    put("wall_seconds", json!(costs.wall_seconds));
    // One thread's processor time is disturbed least by others; of several, the sum says nothing.
    let seconds = if experiment.threads == 1 { costs.cpu_seconds } else { Some(costs.wall_seconds) };
    let seconds = seconds.filter(|&seconds| seconds > 0.0);
    put("cycles_per_second", json!(seconds.map(|seconds| outcome.cycles as f64 / seconds)));
    put("peak_memory_bytes", json!(costs.peak_memory_bytes));
    put("digest", json!(format!("{:016x}", outcome.digest)));
    put("experiment", settings(experiment));
    put("manifest", manifest);
    all
}

fn moments(name: &str, moments: &Moments, put: &mut impl FnMut(&str, Value)) {
    put(&format!("{name}_mean_cycles"), json!(moments.mean()));
    put(&format!("{name}_std_cycles"), json!(moments.std()));
    put(&format!("{name}_max_cycles"), json!(moments.max()));
}

/// Half the width of the 95 % confidence interval of the mean of batches. `None` for fewer than two.
fn half_width_95(batches: &[f64]) -> Option<f64> {
    estimate(batches).and_then(|estimate| estimate.ci95)
}

fn samples(samples: &[Sample], nodes: usize, phits: f64) -> Value {
    let row = |sample: &Sample| {
        let Summary { counts, latency, injection_latency, hops } = &sample.summary;
        let node_cycles = sample.cycles as f64 * nodes as f64;
        let load = |packets: u64| packets as f64 * phits / node_cycles;
        json!({
            "start_cycle": sample.start.0,
            "cycles": sample.cycles,
            "generated_load_phits_per_node_cycle": load(counts.generated),
            "injected_load_phits_per_node_cycle": load(counts.injected),
            "accepted_load_phits_per_node_cycle": load(counts.received),
            "latency_mean_cycles": latency.mean(),
            "latency_max_cycles": latency.max(),
            "injection_latency_mean_cycles": injection_latency.mean(),
            "hops_mean": hops.mean(),
            "packets_received": counts.received,
        })
    };
    samples.iter().map(row).collect()
}

/// How long each shot took, with mean and confidence; null for traffic that is not of shots.
fn shots(shots: Option<&[Shot]>, put: &mut impl FnMut(&str, Value)) {
    let row = |shot: &Shot| json!({"start_cycle": shot.start.0, "cycles": shot.cycles, "messages": shot.messages});
    let cycles: Vec<f64> = shots.unwrap_or_default().iter().map(|shot| shot.cycles as f64).collect();
    let mean = cycles.iter().sum::<f64>() / cycles.len() as f64;
    put("shots", shots.map_or(Value::Null, |shots| shots.iter().map(row).collect()));
    put("shot_cycles_mean", json!((!cycles.is_empty()).then_some(mean)));
    put("shot_cycles_ci95", json!(half_width_95(&cycles)));
}

/// What links carried, for experiments that keep it: packets whose header crossed while measuring, and \[phits/cycle\]
/// mean and largest load. `packets` is how many a link can carry in that time.
fn links(links: Option<&[Vec<Option<u64>>]>, packets: f64, put: &mut impl FnMut(&str, Value)) {
    let Some(links) = links else { return };
    let carried: Vec<u64> = links.iter().flatten().flatten().copied().collect();
    let load = |carried: f64| (packets > 0.0).then(|| carried / packets);
    let mean = carried.iter().sum::<u64>() as f64 / carried.len() as f64;
    put("link_load_mean_phits_per_cycle", json!(load(mean)));
    put("link_load_max_phits_per_cycle", json!(carried.iter().max().and_then(|&most| load(most as f64))));
    put("link_packets", json!(links));
}

/// What the completion cannot be less than, and which of it binds.
fn bounds(bounds: Option<&Bounds>, put: &mut impl FnMut(&str, Value)) {
    let binding = bounds.and_then(Bounds::binding);
    put("completion_bound_cycles", json!(binding.map(|(_, cycles)| cycles)));
    put("completion_bound_by", json!(binding.map(|(name, _)| name)));
    let named = |bounds: &Bounds| -> Map<String, Value> {
        bounds.named().into_iter().map(|(name, cycles)| (name.replace(' ', "_"), json!(cycles))).collect()
    };
    put("completion_bounds_cycles", json!(bounds.map(named)));
}

fn tasks(trace: Option<&TraceFacts>, put: &mut impl FnMut(&str, Value)) {
    let rows = |pick: &dyn Fn(&trgen::trace::replay::TaskReport) -> u64| {
        trace.map(|trace| trace.report.tasks.iter().map(pick).sum::<u64>())
    };
    put("tasks", json!(trace.map(|trace| trace.tasks)));
    put("messages", json!(rows(&|task| task.sent_point_to_point + task.sent_collective)));
    put("messages_point_to_point", json!(rows(&|task| task.sent_point_to_point)));
    put("messages_collective", json!(rows(&|task| task.sent_collective)));
    put("messages_received", json!(rows(&|task| task.received)));
    put("message_bytes", json!(rows(&|task| task.sent_bytes)));
    let hop_bytes = trace.and_then(|trace| trace.hop_bytes);
    put("hop_bytes", json!(hop_bytes.map(sum)));
    put("hops_per_byte", json!(hop_bytes.zip(rows(&|task| task.sent_bytes)).and_then(|(far, all)| mean(far, all))));
    put("collective_calls", json!(trace.map(|trace| &trace.collectives)));
    let per_task = |trace: &TraceFacts| -> Value {
        let row = |task: &trgen::trace::replay::TaskReport| {
            json!({
                "finished_cycle": task.finished.map(|cycle| cycle.0),
                "compute_cycles": task.compute_cycles,
                "blocked_on_send_cycles": trace.blocking.then_some(task.blocked_on_send_cycles),
                "blocked_on_receive_cycles": trace.blocking.then_some(task.blocked_on_receive_cycles),
                "blocked_on_wait_cycles": trace.blocking.then_some(task.blocked_on_wait_cycles),
                "messages_sent": task.sent_point_to_point + task.sent_collective,
                "messages_received": task.received,
                "bytes_sent": task.sent_bytes,
            })
        };
        trace.report.tasks.iter().map(row).collect()
    };
    put("per_task", trace.map_or(Value::Null, per_task));
}

/// A sum that may be greater than 64 bits hold, which is then rounded.
pub(super) fn sum(sum: u128) -> Value {
    u64::try_from(sum).map_or_else(|_| json!(sum as f64), |sum| json!(sum))
}

/// \[hops\] Of a byte, in the mean; `None` without bytes.
pub(super) fn mean(hop_bytes: u128, bytes: u64) -> Option<f64> {
    (bytes > 0).then(|| hop_bytes as f64 / bytes as f64)
}

pub(super) fn failure(failure: Option<&Failure>) -> Value {
    match failure {
        None => Value::Null,
        Some(failure) => {
            let (kind, involved): (&str, Vec<String>) = match failure {
                Failure::NetworkDeadlock(deadlock) => {
                    ("network-deadlock", deadlock.cycle.iter().map(ToString::to_string).collect())
                }
                Failure::TrafficDeadlock { waits, .. } | Failure::Stuck { waits } => {
                    ("traffic-deadlock", waits.iter().map(ToString::to_string).collect())
                }
                Failure::Unmatched { shown, .. } => ("unmatched", shown.clone()),
                Failure::Source(_) => ("source", Vec::new()),
            };
            json!({ "kind": kind, "what": failure.to_string(), "waits": involved })
        }
    }
}

/// The resolved experiment.
pub(super) fn settings(experiment: &Experiment) -> Value {
    Value::Object(typed(experiment.effective()))
}

/// Settings by their names: numbers as numbers, words as words.
#[must_use]
pub fn typed(settings: Vec<(&'static Key, String)>) -> Map<String, Value> {
    let entry = |(key, value): (&'static Key, String)| {
        let value = match key.kind {
            Kind::Integer => value.parse::<u64>().map_or(Value::Null, |number| json!(number)),
            Kind::Number => value.parse::<f64>().map_or(Value::Null, |number| json!(number)),
            Kind::Switch => json!(value == "true"),
            Kind::Word | Kind::Path => json!(value),
        };
        (key.name.to_owned(), value)
    };
    settings.into_iter().map(entry).collect()
}
