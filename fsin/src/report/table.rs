//! A table for people: the figures that matter, with their units.

use std::io::{self, Write};

use serde_json::{Map, Value};

use super::source_policy;

/// A line of the table: its label, the figures in it, their decimals, and the unit.
struct Line(&'static str, &'static [&'static str], usize, &'static str);

const OF_SENDERS: &str = "  of each sending node";

const LINES: &[Line] = &[
    Line("offered load", &["offered_load_phits_per_node_cycle"], 5, "phits/node/cycle"),
    Line("generated load", &["generated_load_phits_per_node_cycle"], 5, "phits/node/cycle"),
    Line("injected load", &["injected_load_phits_per_node_cycle"], 5, "phits/node/cycle"),
    Line("accepted load", &["accepted_load_phits_per_node_cycle", "accepted_load_ci95"], 5, "phits/node/cycle"),
    Line(
        OF_SENDERS,
        &["accepted_load_of_senders_phits_per_node_cycle", "accepted_load_of_senders_ci95"],
        5,
        "phits/node/cycle",
    ),
    Line("queue growth", &["queue_growth_phits_per_node_cycle", "queue_growth_ci95"], 5, "phits/node/cycle"),
    Line("latency", &["latency_mean_cycles"], 2, "cycles, mean"),
    Line("  standard deviation", &["latency_std_cycles"], 2, "cycles"),
    Line(
        "  p50 / p90 / p99 / p99.9",
        &["latency_p50_cycles", "latency_p90_cycles", "latency_p99_cycles", "latency_p999_cycles"],
        0,
        "cycles",
    ),
    Line("  max", &["latency_max_cycles"], 0, "cycles"),
    Line("injection latency", &["injection_latency_mean_cycles"], 2, "cycles, mean"),
    Line("path length", &["hops_mean"], 3, "links, mean"),
    Line("packets generated", &["packets_generated"], 0, "packets"),
    Line("packets received", &["packets_received"], 0, "packets"),
    Line("packets in flight", &["packets_in_flight"], 0, "packets"),
    Line("packets dropped", &["packets_dropped"], 0, "packets"),
    Line("fairness min / Jain", &["fairness_min", "fairness_jain"], 3, ""),
    Line("cycles per shot", &["shot_cycles_mean", "shot_cycles_ci95"], 2, "cycles, mean"),
    Line("tasks", &["tasks"], 0, "tasks"),
    Line("messages", &["messages"], 0, "messages"),
    Line("  point to point / collective", &["messages_point_to_point", "messages_collective"], 0, "messages"),
    Line("bytes x hops", &["hop_bytes"], 0, "bytes x links"),
    Line("  per byte", &["hops_per_byte"], 4, "links, mean"),
    Line("jobs finished", &["jobs_finished"], 0, "jobs"),
    Line("  wait", &["job_wait_mean_cycles"], 2, "cycles, mean"),
    Line("  run", &["job_run_mean_cycles"], 2, "cycles, mean"),
    Line("  slowdown", &["job_slowdown_mean"], 4, "against running alone, mean"),
    Line("nodes with a job", &["node_utilization"], 4, "of all, mean"),
    Line("completion", &["completion_cycles"], 0, "cycles"),
    Line("completion", &["completion_seconds"], 9, "s"),
    Line("  at least, for its", &["completion_bound_cycles", "completion_bound_by"], 0, "(cycles)"),
    Line("finish, first / last task", &["finish_min_ns", "finish_max_ns"], 0, "ns"),
    Line("events", &["events"], 0, "events"),
    Line("simulated", &["cycles"], 0, "cycles"),
    Line("processor time", &["cpu_seconds"], 2, "s"),
    Line("speed", &["cycles_per_second"], 0, "cycles/s"),
    Line("speed", &["events_per_second"], 0, "events/s"),
    Line("digest", &["digest"], 0, ""),
];

pub(super) fn write(figures: &Map<String, Value>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", headline(figures))?;
    if figures.get("saturated") == Some(&Value::Bool(true)) {
        writeln!(out, "{:<30} yes: less is accepted than is asked for", "saturated")?;
    }
    for Line(label, names, decimals, unit) in LINES {
        // Runs over an ideal network have figures of their own.
        let values: Vec<&Value> = names.iter().map(|name| figures.get(*name).unwrap_or(&Value::Null)).collect();
        let is_usual = match names[0] {
            "packets_dropped" => *values[0] == 0,
            _ if *label == OF_SENDERS => figures.get("silent_nodes") == Some(&Value::from(0)),
            // Of a network that is not saturated it is that of chance.
            "queue_growth_phits_per_node_cycle" => figures.get("saturated") != Some(&Value::Bool(true)),
            _ => false,
        };
        if values.iter().all(|value| value.is_null()) || is_usual {
            continue;
        }
        let separator = if names.iter().any(|name| name.ends_with("_ci95")) { " ± " } else { " / " };
        let cells: Vec<String> =
            values.iter().filter(|value| !value.is_null()).map(|value| cell(value, *decimals)).collect();
        let unit = if cells == ["1"] && !unit.contains('/') { unit.trim_end_matches('s') } else { unit };
        writeln!(out, "{}", format!("{label:<30} {} {unit}", cells.join(separator)).trim_end())?;
    }
    jobs(figures.get("jobs").and_then(Value::as_array).map_or(&[][..], Vec::as_slice), out)
}

/// A line for each job.
fn jobs(jobs: &[Value], out: &mut dyn Write) -> io::Result<()> {
    const COLUMNS: [(&str, &str, &str); 7] = [
        ("nodes", "nodes", ""),
        ("arrival_cycle", "arrival", "cycle"),
        ("start_cycle", "start", "cycle"),
        ("finish_cycle", "finish", "cycle"),
        ("wait_cycles", "wait", "cycles"),
        ("run_cycles", "run", "cycles"),
        ("slowdown", "slowdown", "x alone"),
    ];
    let shown = |job: &Value, name: &str| match &job[name] {
        Value::Null => "-".to_owned(),
        value => cell(value, 4),
    };
    let names: Vec<String> = jobs.iter().map(|job| shown(job, "name")).collect();
    let Some(width) = names.iter().map(|name| name.chars().count()).max() else { return Ok(()) };
    let head: String = COLUMNS.iter().map(|(_, title, _)| format!(" {title:>10}")).collect();
    let units: String = COLUMNS.iter().map(|(.., unit)| format!(" {unit:>10}")).collect();
    writeln!(out, "\n{:<width$}{head}\n{:<width$}{units}", "job", "", width = width.max(3))?;
    for (job, name) in jobs.iter().zip(names) {
        let row: String = COLUMNS.iter().map(|(column, ..)| format!(" {:>10}", shown(job, column))).collect();
        writeln!(out, "{name:<width$}{row}", width = width.max(3))?;
    }
    Ok(())
}

/// What was simulated, in one line.
fn headline(figures: &Map<String, Value>) -> String {
    let experiment = &figures["experiment"];
    let word = |key: &str| match &experiment[key] {
        Value::String(word) => word.clone(),
        other => other.to_string(),
    };
    let traffic = if !experiment["trace"].is_null() {
        format!("trace {}", word("trace"))
    } else if !experiment["kernel"].is_null() {
        format!("kernel {}", word("kernel"))
    } else if !experiment["job-mix"].is_null() {
        format!("jobs {} {} {}", word("job-mix"), word("scheduler"), word("allocation"))
    } else if !experiment["shot"].is_null() {
        format!("{} shot({})", word("traffic"), word("shot"))
    } else if experiment["load"].is_null() {
        format!("{} {}", word("traffic"), word("temporal"))
    } else {
        format!("{} {} load {}", word("traffic"), word("temporal"), word("load"))
    };
    let traffic = source_policy(experiment).map_or(traffic.clone(), |policy| format!("{traffic} | {policy} sources"));
    let is = |name: &str, value: bool| figures.get(name) == Some(&Value::Bool(value));
    let state = match () {
        () if !is("complete", true) => "   INCOMPLETE",
        () if is("saturated", true) => "   SATURATED",
        () if is("converged", false) => "   NOT CONVERGED",
        () => "",
    };
    if let Some(latency) = figures.get("network_latency_ns") {
        let number = |name: &str| figures.get(name).unwrap_or(&Value::Null);
        return format!(
            "ideal:L={latency},G={} hosts o={},g={},O={},S={} | {traffic}{state}",
            number("network_gap_per_byte_ns"),
            number("host_overhead_ns"),
            number("host_gap_ns"),
            number("host_overhead_per_byte_ns"),
            number("host_eager_bytes"),
        );
    }
    format!(
        "{} {} vcs {} packet {} | {traffic} | seed {}{state}",
        word("topology"),
        word("routing"),
        word("vcs"),
        word("packet"),
        word("seed")
    )
}

fn cell(value: &Value, decimals: usize) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => format!("{:.decimals$}", number.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}
