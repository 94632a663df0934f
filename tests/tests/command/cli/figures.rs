//! Figures of results: their names, their sanity, and the agreement of all formats.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tests::command::run;

use super::{QUICK, folder, json, number, positive_integer, reproducible, text};

/// The sanity check of a figure.
type Sane = fn(&Value) -> bool;

/// The names in the JSON result that scripts use, each with its sanity check.
const FIGURES: &[(&str, Sane)] = &[
    ("schema", positive_integer),
    ("complete", Value::is_boolean),
    ("verdict", |value| value.is_null() || ["carried", "saturated", "undecided"].iter().any(|word| value == word)),
    ("deciding_cycles", |value| value.is_null() || positive_integer(value)),
    ("saturated", |value| value.is_null() || value.is_boolean()),
    ("converged", |value| value.is_null() || value.is_boolean()),
    ("cycles", positive_integer),
    ("nodes", positive_integer),
    ("offered_load_phits_per_node_cycle", number_or_null),
    ("generated_load_phits_per_node_cycle", number),
    ("injected_load_phits_per_node_cycle", number),
    ("accepted_load_phits_per_node_cycle", number),
    ("accepted_load_ci95", number_or_null),
    ("latency_mean_cycles", number_or_null),
    ("latency_std_cycles", number_or_null),
    ("latency_max_cycles", number_or_null),
    ("latency_p50_cycles", number_or_null),
    ("latency_p90_cycles", number_or_null),
    ("latency_p99_cycles", number_or_null),
    ("latency_p999_cycles", number_or_null),
    ("injection_latency_mean_cycles", number_or_null),
    ("hops_mean", number_or_null),
    ("packets_generated", Value::is_u64),
    ("packets_injected", Value::is_u64),
    ("packets_received", Value::is_u64),
    ("packets_dropped", Value::is_u64),
    ("packets_in_flight", Value::is_u64),
    ("packet_hops", Value::is_u64),
    ("silent_nodes", Value::is_u64),
    ("fairness_min", share_or_null),
    ("fairness_jain", share_or_null),
    ("samples", |value| value.as_array().is_some_and(|samples| !samples.is_empty())),
    ("completion_cycles", |value| value.is_null() || positive_integer(value)),
    ("completion_seconds", number_or_null),
    ("messages", |value| value.is_null() || value.is_u64()),
    ("cpu_seconds", number),
    ("wall_seconds", number),
    ("cycles_per_second", number_or_null),
    ("peak_memory_bytes", |value| value.is_null() || positive_integer(value)),
    ("digest", |value| value.as_str().is_some_and(|digest| digest.len() == 16)),
    ("experiment", Value::is_object),
    ("manifest", Value::is_object),
];

fn number_or_null(value: &Value) -> bool {
    value.is_null() || number(value)
}

fn share_or_null(value: &Value) -> bool {
    value.is_null() || value.as_f64().is_some_and(|share| (0.0..=1.0).contains(&share))
}

#[track_caller]
fn check_figures(figures: &Map<String, Value>) {
    for (name, sane) in FIGURES {
        let value = figures.get(*name).unwrap_or_else(|| panic!("no `{name}`"));
        assert!(sane(value), "{name}: {value}");
    }
    let count = |name: &str| figures[name].as_u64().unwrap();
    assert!(count("packets_generated") >= count("packets_injected"));
    assert!(count("packets_injected") >= count("packets_received"));
    let load = |name: &str| figures[name].as_f64().unwrap();
    assert!(load("accepted_load_phits_per_node_cycle") <= 4.0);
    let latency = |name: &str| figures[&format!("latency_{name}_cycles")].as_f64();
    if let [Some(p50), Some(p90), Some(p99), Some(p999), Some(max)] = ["p50", "p90", "p99", "p999", "max"].map(latency)
    {
        assert!(p50 <= p90 && p90 <= p99 && p99 <= p999 && p999 <= max);
        assert!(latency("mean").unwrap() <= max);
    }
}

#[test]
fn json_has_every_name_that_scripts_use() {
    let folder = folder();
    for line in [QUICK, "run --cycles 1000 --topology mesh:4x4", "run --kernel bintree --topology torus:4x4"] {
        let figures = json(folder.path(), line);
        check_figures(&figures);
        assert_eq!(figures["complete"], true, "{line}");
        let tasks = line.contains("--kernel");
        assert_eq!(figures["completion_cycles"].is_u64(), tasks, "{line}");
        assert_eq!(figures["messages"].is_u64(), tasks, "{line}");
        assert_eq!(figures["converged"].is_boolean(), line == QUICK, "{line}");
    }
}

#[test]
fn all_formats_tell_the_same() {
    let folder = folder();
    let json = reproducible(json(folder.path(), QUICK));

    let line = text(&run(folder.path(), &format!("{QUICK} --format jsonl")));
    assert_eq!(line.matches('\n').count(), 1);
    assert!(line.starts_with('{') && line.ends_with("}\n"));
    let jsonl: Map<String, Value> = serde_json::from_str(&line).unwrap();
    let mut jsonl = reproducible(jsonl);
    // The command lines differ only in the format.
    jsonl["manifest"]["command"] = json["manifest"]["command"].clone();
    assert_eq!(jsonl, json);

    let csv = text(&run(folder.path(), &format!("{QUICK} --format csv")));
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 1);
    let names: BTreeSet<&str> = header.iter().collect();
    assert_eq!(names.len(), header.len(), "every column has its own name");
    for (name, cell) in header.iter().zip(&rows[0]) {
        let value = match name.strip_prefix("experiment.") {
            Some(key) => &json["experiment"][key],
            None => match json.get(name) {
                Some(value) => value,
                None => continue,
            },
        };
        let expected = match value {
            Value::Null => String::new(),
            Value::String(word) => word.clone(),
            other => other.to_string(),
        };
        // A JSON parser may miss the last bit of a number.
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-14 * a.abs();
        let equal = value.is_f64() && near(cell.parse().unwrap(), expected.parse().unwrap());
        assert!(equal || cell == expected, "{name}: {cell}, {expected} in JSON");
    }
    for (name, _) in FIGURES.iter().filter(|(name, _)| !matches!(*name, "samples" | "experiment" | "manifest")) {
        assert!(names.contains(name), "csv lacks {name}");
    }

    let table = text(&run(folder.path(), QUICK));
    assert!(table.starts_with("torus:4x4 "), "the first byte is data");
    assert!(table.contains(json["digest"].as_str().unwrap()));
    assert!(table.lines().all(|line| line == line.trim_end()));
}

#[test]
fn patterns_that_permute_all_nodes_have_no_silent_ones() {
    let folder = folder();
    for (pattern, silent) in [("uniform", 0), ("complement", 0), ("transpose", 4), ("tornado", 0)] {
        // Long enough to decide that the load is carried: a shorter run has a warning of its own.
        let figures = json(folder.path(), &format!("run --cycles 8000 --topology torus:4x4 --traffic {pattern}"));
        assert_eq!(figures["silent_nodes"], silent, "{pattern}");
        let kinds: &[&str] = if silent > 0 { &["silent-nodes"] } else { &[] };
        assert_eq!(figures["warning_kinds"], serde_json::json!(kinds), "{pattern}");
    }
}

/// Messages of nodes to themselves cross no link between routers, and both engines agree on them.
#[test]
fn messages_of_nodes_to_themselves_arrive_over_no_link() {
    let folder = folder();
    for (network, own) in [
        ("--topology torus:4x4", 0.0),
        ("--topology torus:4x4 --injection dor --injectors 4 --consumption single", 0.0),
        ("--topology fattree:4,2", 0.0),
        ("--topology torus:4x4 --network wormhole", 0.0),
        // To the switch of the host and back.
        ("--topology fattree:4,2 --network wormhole", 2.0),
    ] {
        let of = |pattern: &str, engine: &str| {
            let line = format!("run --cycles 10000 --load 0.2 {network} --traffic {pattern} --engine {engine}");
            json(folder.path(), &line)
        };
        let any = of("uniform(self=true)", "fast");
        assert_eq!(any["digest"], of("uniform(self=true)", "reference")["digest"], "{network}");
        assert_eq!(any["silent_nodes"], 0, "{network}");
        // One of 16 destinations is the sender.
        let hops = |figures: &Map<String, Value>| figures["hops_mean"].as_f64().unwrap();
        let (found, expected) = (hops(&any), (15.0 * hops(&of("uniform", "fast")) + own) / 16.0);
        assert!((found / expected - 1.0).abs() < 0.02, "{network}: {found}, not {expected}");
    }
}

#[test]
fn the_same_experiment_gives_the_same_figures() {
    let folder = folder();
    let once = || reproducible(json(folder.path(), QUICK));
    assert_eq!(once(), once());
    assert_ne!(once()["digest"], json(folder.path(), &format!("{QUICK} --seed 2"))["digest"]);
}

#[test]
fn idle_time_costs_nothing() {
    let folder = folder();
    fs::write(folder.path().join("long.trc"), "c 0 1e14\ns 0 1 0 64\nr 0 1 0 64\n").unwrap();
    let asked = Instant::now();
    let figures = json(folder.path(), "run --trace long.trc --topology torus:4");
    // 10^14 ns are 3.125 * 10^13 cycles of 3.2 ns; stopping at every 10 000 cycles would take minutes.
    assert!(figures["completion_cycles"].as_u64().unwrap() > 31_250_000_000_000);
    assert!(asked.elapsed() < Duration::from_secs(120));
}

#[test]
fn percentiles_hold_for_long_delays_too() {
    let folder = folder();
    let figures = json(folder.path(), "run --cycles 20000 --topology torus:4x4 --load 3 --source open");
    let cycles = |name: &str| figures[&format!("latency_{name}_cycles")].as_f64().unwrap();
    assert!(cycles("mean") > 4096.0, "long beyond saturation");
    // Delays grow evenly: the median is close to the mean.
    assert!((0.8..1.25).contains(&(cycles("p50") / cycles("mean"))));
    assert!(cycles("p99") > cycles("mean"));
}

#[test]
fn nothing_sent_is_null_and_not_nan() {
    let folder = folder();
    for line in [
        "run --topology torus:4x4 --load 0 --samples 2 --sample-size 100 --warmup 10",
        "run --topology torus:1 --samples 2 --sample-size 100 --warmup 10",
        "run --topology torus:1x1x1 --cycles 10",
        "run --topology mesh:1 --cycles 10 --load 1",
    ] {
        let figures = json(folder.path(), line);
        check_figures(&figures);
        assert_eq!(figures["packets_received"], 0, "{line}");
        for name in ["latency_mean_cycles", "latency_std_cycles", "latency_p99_cycles", "hops_mean", "fairness_jain"] {
            assert_eq!(figures[name], Value::Null, "{line}: {name}");
        }
        let csv = text(&run(folder.path(), &format!("{line} --format csv")));
        let table = text(&run(folder.path(), line));
        assert!(!csv.to_lowercase().contains("nan") && !table.to_lowercase().contains("nan"), "{line}");
    }
}

#[test]
fn two_nodes_are_one_hop_apart() {
    let folder = folder();
    for topology in ["torus:2", "mesh:2", "torus:2x1", "mesh:1x2"] {
        let figures = json(folder.path(), &format!("run --topology {topology} --cycles 5000 --load 0.2"));
        check_figures(&figures);
        assert_eq!(figures["hops_mean"], 1.0, "{topology}");
        assert_eq!(figures["packet_hops"], figures["packets_received"], "{topology}: all have arrived or none moves");
    }
}

#[test]
fn a_saturated_network_is_a_result() {
    let folder = folder();
    let figures = json(folder.path(), &format!("{QUICK} --load 3 --routing bubble:oblivious --vcs 1"));
    assert_eq!(figures["complete"], true);
    let load = |name: &str| figures[&format!("{name}_load_phits_per_node_cycle")].as_f64().unwrap();
    assert!(load("accepted") < 2.0);
}

#[test]
fn an_ideal_network_is_told_in_every_format() {
    let folder = folder();
    let graph = "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 5\n}\nrank 1 {\nl1: recv 8b from 0 tag 5\n}\n";
    fs::write(folder.path().join("two.goal"), graph).unwrap();
    let line = "run --trace two.goal --network ideal:L=2500,G=6 --hosts o=100,g=0,O=0,S=65535";
    // Both overheads, the latency, and 7 gaps between 8 bytes.
    let finish = 100 + 2500 + 7 * 6 + 100;
    assert_eq!(json(folder.path(), line)["finish_max_ns"], finish);
    let table = text(&run(folder.path(), line));
    assert!(table.starts_with("loggops:L=2500,G=6 hosts o=100,g=0,O=0,S=65535 | trace two.goal\n"), "{table}");
    assert!(table.contains(&format!("{finish} ns")), "{table}");
    // Defaults are reported like explicit settings.
    let bare = "run --trace two.goal --network ideal";
    let table = text(&run(folder.path(), bare));
    assert!(table.starts_with("loggops:L=2500,G=6 hosts o=1500,g=1000,O=0,S=65535 | trace two.goal\n"), "{table}");
    assert_eq!(json(folder.path(), bare)["host_overhead_ns"], 1500);
    let csv = text(&run(folder.path(), &format!("{line} --format csv")));
    assert!(csv.lines().next().unwrap().split(',').any(|name| name == "finish_max_ns"), "{csv}");
    let jsonl = text(&run(folder.path(), &format!("{line} --format jsonl")));
    assert_eq!(jsonl.matches('\n').count(), 1);
}

#[test]
fn a_graph_with_several_cpus_says_by_which_rules_it_runs() {
    let folder = folder();
    // A calculation on CPU 1 requires one on CPU 0.
    let graph = "num_ranks 1\nrank 0 {\na: calc 100\nb: calc 30 cpu 1\nb requires a\n}\n";
    fs::write(folder.path().join("two.goal"), graph).unwrap();
    let line = "run --trace two.goal --network loggops:L=0,G=0";
    let classic = json(folder.path(), line);
    assert_eq!((&classic["finish_max_ns"], &classic["host_streams"]), (&100.into(), &false.into()));
    assert!(classic["notes"].to_string().contains("2 CPUs of a host: classic rules"), "{classic:?}");
    let streams = json(folder.path(), &format!("{line} --hosts streams=true"));
    assert_eq!((&streams["finish_max_ns"], &streams["host_streams"]), (&130.into(), &true.into()));
    assert!(streams["notes"].to_string().contains("2 CPUs of a host: streams"), "{streams:?}");
    let table = text(&run(folder.path(), &format!("{line} --hosts streams=true")));
    assert!(table.starts_with("loggops:L=0,G=0 hosts o=1500,g=1000,O=0,S=65535,streams=true | "), "{table}");
    let wrong = run(folder.path(), &format!("{line} --hosts streams=2"));
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn the_table_says_what_a_placement_comes_to() {
    let folder = folder();
    let line = "run --kernel bintree:tasks=16 --topology torus:4x4 -q";
    let found = json(folder.path(), line.trim_end_matches(" -q"));
    let table = String::from_utf8_lossy(&run(folder.path(), line).stdout).into_owned();
    let cell =
        |label: &str| table.lines().find_map(|row| row.strip_prefix(label)).unwrap().split_whitespace().next().unwrap();
    assert_eq!(cell("bytes x hops "), found["hop_bytes"].to_string());
    assert_eq!(cell("  per byte "), format!("{:.4}", found["hops_per_byte"].as_f64().unwrap()));
    // Traffic without tasks has no placement.
    let table = run(folder.path(), "run --topology torus:4x4 --cycles 100 -q").stdout;
    assert!(!String::from_utf8_lossy(&table).contains("bytes x hops"));
}
