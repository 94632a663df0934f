//! What must hold of the runs of any experiment.

use serde_json::{Map, Value};

use super::run::{Given, Runs};

/// Figures that depend on the machine, or say what was asked for.
const OTHERS: [&str; 8] = [
    "experiment",
    "manifest",
    "cpu_seconds",
    "wall_seconds",
    "cycles_per_second",
    "events_per_second",
    "peak_memory_bytes",
    "cpu_nanoseconds_per_packet_hop",
];

/// Figures that observers fill, and nothing else does.
const OF_OBSERVERS: [&str; 24] = [
    "collectives[].fullest_link",
    "collectives[].fullest_link_load",
    "flows",
    "latency_histogram",
    "link_load_max_phits_per_cycle",
    "link_load_mean_phits_per_cycle",
    "link_packets",
    "message_classes",
    "message_completion_max_cycles",
    "message_completion_mean_cycles",
    "message_completion_p50_cycles",
    "message_completion_p90_cycles",
    "message_completion_p95_cycles",
    "message_completion_p99_cycles",
    "message_completion_p999_cycles",
    "message_deciles",
    "message_slowdown_max",
    "message_slowdown_mean",
    "message_slowdown_p50",
    "message_slowdown_p95",
    "message_slowdown_p99",
    "message_slowdown_p999",
    "messages_unfinished",
    "per_node",
];

/// Share by which a mean of numbers of at least 1 may be less, by rounding.
const SLACK: f64 = 1e-12;

/// A rule that a run breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// The rule.
    pub rule: &'static str,
    /// How it is broken.
    pub how: String,
}

/// The rules, by name.
pub const RULES: [&str; 14] = [
    "ends properly",
    "repeats",
    "engines are equal",
    "threads are equal",
    "flags and file are equal",
    "observers change nothing",
    "packets are conserved",
    "no verdict against the bound",
    "accepted is at most generated",
    "accepted is at most the bound",
    "latency is at least that without load",
    "completion is at least its bounds",
    "JSON and CSV are equal",
    "rerun is equal",
];

/// The rules that these runs break.
#[must_use]
pub fn broken(runs: &Runs) -> Vec<Broken> {
    let mut broken = Vec::new();
    let mut add = |rule: &'static str, how: Option<String>| {
        if let Some(how) = how {
            broken.push(Broken { rule, how });
        }
    };
    // 3 is a deadlock or a limit, which is a result.
    let is_end = |given: &Given| matches!(given.code, Some(0 | 3));
    if !is_end(&runs.base) {
        add("ends properly", Some(runs.base.in_short()));
        return broken;
    }
    let Some(base) = runs.base.figures() else {
        add("ends properly", Some("its output is no JSON".to_owned()));
        return broken;
    };
    let same = |other: &Given| difference(&runs.base, &base, other, &[]);
    add("repeats", same(&runs.again));
    // Models with one engine, or one thread, refuse the setting.
    add("engines are equal", if runs.reference.code == Some(2) { None } else { same(&runs.reference) });
    add("threads are equal", if runs.threads.code == Some(2) { None } else { same(&runs.threads) });
    add("flags and file are equal", same(&runs.file));
    add("observers change nothing", difference(&runs.base, &base, &runs.observed, &OF_OBSERVERS));
    add("packets are conserved", not_conserved(&base));
    add("no verdict against the bound", against_bound(runs, &base));
    add("accepted is at most generated", more_than_generated(runs, &base));
    add("accepted is at most the bound", more_than_bound(runs, &base));
    add("latency is at least that without load", too_early(runs, &base));
    add("completion is at least its bounds", before_bound(&base));
    add("JSON and CSV are equal", unequal_csv(&base, &runs.csv));
    let is_rerun = runs.rerun.code == Some(0) || runs.rerun.is_stopped || runs.base.code == Some(3);
    add("rerun is equal", (!is_rerun).then(|| format!("{}{}", runs.rerun.in_short(), runs.rerun.out)));
    broken
}

/// The first difference between two runs. The second one may have the figures `filled`, by path, which the first one
/// lacks.
fn difference(one: &Given, base: &Map<String, Value>, other: &Given, filled: &[&str]) -> Option<String> {
    if other.is_stopped {
        return None;
    }
    if one.code != other.code {
        return Some(format!("exit {:?}, then {}", one.code, other.in_short()));
    }
    let Some(figures) = other.figures() else { return Some("its output is no JSON".to_owned()) };
    let names = base.keys().chain(figures.keys());
    let null = Value::Null;
    names
        .filter(|name| !OTHERS.contains(&name.as_str()))
        .find_map(|name| differing(name, [base, &figures].map(|all| all.get(name).unwrap_or(&null)), filled))
}

/// Where two values differ first, with its path.
fn differing(path: &str, values: [&Value; 2], filled: &[&str]) -> Option<String> {
    let null = Value::Null;
    match values {
        [a, b] if a == b => None,
        [Value::Null, _] if filled.contains(&path) => None,
        [Value::Object(a), Value::Object(b)] => a.keys().chain(b.keys()).find_map(|name| {
            differing(&format!("{path}.{name}"), [a, b].map(|all| all.get(name).unwrap_or(&null)), filled)
        }),
        [Value::Array(a), Value::Array(b)] if a.len() == b.len() => {
            a.iter().zip(b).find_map(|(a, b)| differing(&format!("{path}[]"), [a, b], filled))
        }
        [a, b] => {
            let short = |value: &Value| value.to_string().chars().take(120).collect::<String>();
            Some(format!("{path}: {}, then {}", short(a), short(b)))
        }
    }
}

fn number(figures: &Map<String, Value>, name: &str) -> Option<f64> {
    figures.get(name)?.as_f64()
}

/// What is generated arrives, is dropped, or is in flight.
fn not_conserved(figures: &Map<String, Value>) -> Option<String> {
    let of = |name: &str| figures.get(name).and_then(Value::as_u64);
    let (generated, received) = (of("packets_generated")?, of("packets_received")?);
    let (dropped, in_flight) = (of("packets_dropped").unwrap_or(0), of("packets_in_flight")?);
    // Batches count what is generated and received while they last, and what was in flight before them arrives in them.
    let begins_empty = figures.get("warmup_cycles").is_none_or(Value::is_null);
    let holds = if begins_empty { generated == received + dropped + in_flight } else { true };
    (!holds).then(|| format!("{generated} generated, {received} received, {dropped} dropped, {in_flight} in flight"))
}

/// Statistical slack of a bound.
fn slack(figures: &Map<String, Value>) -> f64 {
    3.0 * number(figures, "accepted_load_ci95").unwrap_or(f64::INFINITY)
}

fn against_bound(runs: &Runs, figures: &Map<String, Value>) -> Option<String> {
    let verdict = figures.get("verdict")?.as_str()?;
    if verdict == "saturated" && runs.has_no_limit {
        return Some("a network without a limit is saturated".to_owned());
    }
    let load = runs.load?;
    match (verdict, runs.bound) {
        ("carried", Some(bound)) if load > 1.05 * bound => {
            Some(format!("load {load} is carried, and the bound is {bound}"))
        }
        _ => None,
    }
}

/// Of a fixed run, which begins empty.
fn more_than_generated(runs: &Runs, figures: &Map<String, Value>) -> Option<String> {
    let generated = number(figures, "generated_load_phits_per_node_cycle")?;
    let accepted = number(figures, "accepted_load_phits_per_node_cycle")?;
    (runs.is_fixed && accepted > generated * (1.0 + 1e-9)).then(|| format!("{accepted} of {generated}"))
}

fn more_than_bound(runs: &Runs, figures: &Map<String, Value>) -> Option<String> {
    let bound = runs.bound?;
    let accepted = number(figures, "accepted_load_phits_per_node_cycle")?;
    (accepted - slack(figures) > 1.05 * bound).then(|| format!("{accepted}, and the bound is {bound}"))
}

/// A message never takes less than alone, a packet never less than its hops and its length.
fn too_early(runs: &Runs, figures: &Map<String, Value>) -> Option<String> {
    let network = figures.get("experiment").and_then(|experiment| experiment.get("network")?.as_str()).unwrap_or("vct");
    let observed = runs.observed.figures().unwrap_or_default();
    for name in ["message_slowdown_mean", "message_slowdown_p50"] {
        if let Some(slowdown) = number(&observed, name)
            && slowdown < 1.0 - SLACK
        {
            return Some(format!("{name} {slowdown}"));
        }
    }
    let latency = number(figures, "latency_mean_cycles")?;
    if latency < 0.0 {
        return Some(format!("latency {latency}"));
    }
    let is_routed = network.starts_with("vct") || network.starts_with("wormhole");
    let hops = number(figures, "hops_mean").filter(|_| is_routed)?;
    (latency < hops - 1e-6).then(|| format!("latency {latency} for {hops} hops"))
}

/// No bound is above the completion time, and the one that is reported is the greatest.
fn before_bound(figures: &Map<String, Value>) -> Option<String> {
    let completion = figures.get("completion_cycles")?.as_u64()?;
    let bounds = figures.get("completion_bounds_cycles")?.as_object()?;
    let greatest = bounds.values().filter_map(Value::as_u64).max();
    let reported = figures.get("completion_bound_cycles").and_then(Value::as_u64);
    (greatest > Some(completion) || reported != greatest)
        .then(|| format!("{reported:?} is reported of {bounds:?}, and the completion is {completion}"))
}

/// Every figure of the table is the same number in CSV.
fn unequal_csv(figures: &Map<String, Value>, csv: &Given) -> Option<String> {
    if csv.is_stopped {
        return None;
    }
    let mut reader = csv::Reader::from_reader(csv.out.as_bytes());
    let names = reader.headers().ok()?.clone();
    let Some(Ok(row)) = reader.records().next() else { return Some(format!("no row: {}", csv.in_short())) };
    for (name, cell) in names.iter().zip(&row) {
        let Some(value) = figures.get(name).filter(|_| !OTHERS.contains(&name)) else { continue };
        let is_same = match value {
            Value::Null => cell.is_empty(),
            Value::Number(number) => cell.parse().ok() == number.as_f64(),
            Value::String(text) => cell == text,
            Value::Bool(is) => cell == is.to_string(),
            Value::Array(_) | Value::Object(_) => true,
        };
        if !is_same {
            return Some(format!("{name}: {value}, and {cell} in CSV"));
        }
    }
    // A figure that is missing altogether would not be noticed above.
    let missing = ["digest", "cycles"]
        .into_iter()
        .find(|name| figures.contains_key(*name) && !names.iter().any(|cell| cell == *name));
    missing.map(|name| format!("{name} is missing in CSV"))
}
