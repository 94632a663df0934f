//! What `fsin` prints, keeps and returns when nothing is wrong with its input.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use fsin::experiment::{KEYS, Kind};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tests::command::{fsin, run};

/// Runs in milliseconds, and every figure of synthetic traffic can be computed.
const QUICK: &str = "run --topology torus:4x4 --warmup 500 --samples 3 --sample-size 500";

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[track_caller]
fn done(output: &Output) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[track_caller]
fn text(output: &Output) -> String {
    done(output);
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Figures of a run that writes JSON, whatever its exit status.
#[track_caller]
fn figures(output: &Output) -> Map<String, Value> {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

#[track_caller]
fn json(folder: &Path, line: &str) -> Map<String, Value> {
    let output = run(folder, &format!("{line} --format json"));
    done(&output);
    figures(&output)
}

/// What the figures of a run are, apart from what it cost and when it was.
fn reproducible(mut figures: Map<String, Value>) -> Map<String, Value> {
    for name in ["cpu_seconds", "wall_seconds", "cycles_per_second", "peak_memory_bytes"] {
        figures.remove(name);
        figures["manifest"].as_object_mut().unwrap().remove(name);
    }
    for name in ["start", "end"] {
        figures["manifest"].as_object_mut().unwrap().remove(name);
    }
    figures
}

/// What a figure must be.
type Sane = fn(&Value) -> bool;

/// The names of the JSON result that scripts use, and what each must be.
const FIGURES: &[(&str, Sane)] = &[
    ("schema", positive_integer),
    ("complete", Value::is_boolean),
    ("saturated", |value| value.is_null() || value.is_boolean()),
    ("converged", |value| value.is_null() || value.is_boolean()),
    ("cycles", positive_integer),
    ("nodes", positive_integer),
    ("offered_load_phits_per_node_cycle", number),
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

fn positive_integer(value: &Value) -> bool {
    value.as_u64().is_some_and(|number| number > 0)
}

fn number(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number.is_finite() && number >= 0.0)
}

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
    // The command lines differ in the format.
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
        // A reader of JSON may miss the last bit of a number.
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
fn quiet_means_nothing_on_stderr() {
    let folder = folder();
    let warned = "run --cycles 100 --topology torus:4x4 --traffic transpose";
    let output = run(folder.path(), warned);
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("warning: 4 of 16 nodes"));
    let output = run(folder.path(), &format!("{warned} -q --format json"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let figures = figures(&output);
    assert_eq!(figures["silent_nodes"], 4);
    assert!(figures["warnings"][0].as_str().unwrap().starts_with("4 of 16 nodes"), "the warning stays in the results");
}

#[test]
fn patterns_that_permute_all_nodes_have_no_silent_ones() {
    let folder = folder();
    for (pattern, silent) in [("uniform", 0), ("complement", 0), ("transpose", 4), ("tornado", 0)] {
        let figures = json(folder.path(), &format!("run --cycles 100 --topology torus:4x4 --traffic {pattern}"));
        assert_eq!(figures["silent_nodes"], silent, "{pattern}");
        assert_eq!(figures["warnings"].as_array().unwrap().len(), usize::from(silent > 0), "{pattern}");
    }
}

#[test]
fn defaults_then_file_then_environment_then_flags() {
    let folder = folder();
    fs::write(folder.path().join("e.toml"), "vcs = 4\nqueue = 5\nlbr = 1\nphit-bytes = 8\n").unwrap();
    let output = fsin(folder.path())
        .args(["config", "e.toml", "--queue", "7"])
        .env("FSIN_VCS", "6")
        .env("FSIN_QUEUE", "9")
        .env("FSIN_PHIT_BYTES", "2")
        .output()
        .unwrap();
    let config: toml::Table = text(&output).parse().unwrap();
    for (key, value, who) in [
        ("queue", 7, "flag over environment and file"),
        ("vcs", 6, "environment over file"),
        ("phit-bytes", 2, "environment over file, dashes as underscores"),
        ("lbr", 1, "file over default"),
        ("packet", 16, "default"),
    ] {
        assert_eq!(config[key].as_integer(), Some(value), "{who}");
    }
}

#[test]
fn a_misspelt_variable_is_noticed_and_a_foreign_one_is_not() {
    let folder = folder();
    let output =
        fsin(folder.path()).args(["run", "--cycles", "10"]).env("FSIN_LAOD", "1").env("FSIN_HOME", "/").output();
    let stderr = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(stderr.contains("FSIN_LAOD") && stderr.contains("`load`") && !stderr.contains("HOME"), "{stderr}");
}

#[test]
fn a_switch_can_be_set_by_file_and_environment() {
    let folder = folder();
    let line = ["run", "--kernel", "bintree", "--topology", "torus:4x4", "--max-cycles", "50", "-q"];
    let strict = |variable: &str| fsin(folder.path()).args(line).env("FSIN_STRICT", variable).output().unwrap();
    assert_eq!(strict("true").status.code(), Some(3));
    assert_eq!(strict("false").status.code(), Some(0));
    fs::write(folder.path().join("e.toml"), "strict = true\n").unwrap();
    assert_eq!(fsin(folder.path()).args(line).arg("e.toml").output().unwrap().status.code(), Some(3));
}

#[test]
fn the_effective_experiment_runs_again_to_the_same_digest() {
    let folder = folder();
    fs::write(folder.path().join("pair.trc"), "c 0 100\ns 0 1 5 256\nr 0 1 5 256\n").unwrap();
    for arguments in [
        "--topology torus:4x4 --warmup 500 --samples 3 --sample-size 500 --load 0.45 --routing bubble:shortest",
        "--topology mesh:3x5 --cycles 700 --traffic hotspot(0.2,3) --seed 99 --source open",
        "--topology torus:3x3x3 --kernel all-to-all:tasks=27,bytes=300 --placement random --seed 5",
        "--topology torus:4 --trace pair.trc --placement shift:2 --bandwidth 1Gb/s --recv-order src-dst",
    ] {
        let first = json(folder.path(), &format!("run {arguments}"));
        let config = text(&run(folder.path(), &format!("config {arguments}")));
        // Somewhere else: paths must not depend on the folder.
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("e.toml"), &config).unwrap();
        let second = json(elsewhere.path(), "run e.toml");
        assert_eq!(first["digest"], second["digest"], "{arguments}");
        assert_eq!(first["cycles"], second["cycles"], "{arguments}");
        let again = text(&run(elsewhere.path(), "config e.toml"));
        assert_eq!(again, config, "the effective experiment is its own effective experiment");
    }
}

#[test]
fn the_same_experiment_gives_the_same_figures() {
    let folder = folder();
    let once = || reproducible(json(folder.path(), QUICK));
    assert_eq!(once(), once());
    assert_ne!(once()["digest"], json(folder.path(), &format!("{QUICK} --seed 2"))["digest"]);
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_folder_keeps_what_is_needed_to_run_it_again() {
    let folder = folder();
    let trace = "c 0 100\ns 0 1 5 256\nr 0 1 5 256\n";
    fs::write(folder.path().join("pair.trc"), trace).unwrap();
    let output = run(folder.path(), "run --trace pair.trc --topology torus:4 --format json -o results/one");
    done(&output);
    let printed = figures(&output);
    let kept = folder.path().join("results/one");
    let names: BTreeSet<String> =
        fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names, ["experiment.toml", "manifest.json", "result.json"].map(String::from).into());
    let read = |name: &str| fs::read(kept.join(name)).unwrap();
    let result: Map<String, Value> = serde_json::from_slice(&read("result.json")).unwrap();
    assert_eq!(result, printed);
    let manifest: Map<String, Value> = serde_json::from_slice(&read("manifest.json")).unwrap();
    assert_eq!(Value::Object(manifest.clone()), printed["manifest"]);

    for name in ["version", "commit", "target", "host"] {
        assert!(manifest[name].as_str().is_some_and(|word| !word.is_empty()), "{name}");
    }
    assert_eq!(manifest["experiment_sha256"], sha256(&read("experiment.toml")));
    assert_eq!(manifest["seeds"], serde_json::json!([1]));
    assert_eq!(manifest["command"].as_array().unwrap()[1..4], ["run", "--trace", "pair.trc"].map(Value::from));
    assert!(manifest["start"].as_str().unwrap() <= manifest["end"].as_str().unwrap());
    assert!(number(&manifest["cpu_seconds"]));
    assert!(manifest["peak_memory_bytes"].is_null() || positive_integer(&manifest["peak_memory_bytes"]));
    let inputs = manifest["inputs"].as_array().unwrap();
    assert_eq!(inputs.len(), 1);
    assert!(inputs[0]["path"].as_str().unwrap().ends_with("pair.trc"));
    assert_eq!(inputs[0]["bytes"], trace.len());
    assert_eq!(inputs[0]["sha256"], sha256(trace.as_bytes()));

    let elsewhere = tempfile::tempdir().unwrap();
    let again = json(elsewhere.path(), &format!("run {}", kept.join("experiment.toml").display()));
    assert_eq!(again["digest"], result["digest"]);
    assert_eq!(again["manifest"]["experiment_sha256"], manifest["experiment_sha256"]);

    let beside: Vec<_> = fs::read_dir(folder.path().join("results")).unwrap().collect();
    assert_eq!(beside.len(), 1, "nothing temporary is left");
}

#[test]
fn an_empty_folder_may_be_filled() {
    let folder = folder();
    fs::create_dir(folder.path().join("empty")).unwrap();
    done(&run(folder.path(), "run --cycles 10 -o empty/"));
    assert!(folder.path().join("empty/result.json").is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_stdout_does_not_cost_the_folder() {
    let folder = folder();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = fsin(folder.path()).args(["run", "--cycles", "10", "-o", "kept"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("stdout"));
    assert!(folder.path().join("kept/result.json").is_file());
}

/// A trace is read more than once: a pipe would be empty the second time, a device may have no end.
#[cfg(target_os = "linux")]
#[test]
fn traces_are_files() {
    let folder = folder();
    for path in ["/dev/zero", "/dev/null"] {
        let output = run(folder.path(), &format!("run --trace {path}"));
        assert_eq!(output.status.code(), Some(2), "{path}");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains(path) && stderr.contains("write it to a file first"), "{stderr}");
    }
}

#[test]
fn idle_time_costs_nothing() {
    let folder = folder();
    fs::write(folder.path().join("long.trc"), "c 0 1e14\ns 0 1 0 64\nr 0 1 0 64\n").unwrap();
    let asked = Instant::now();
    let figures = json(folder.path(), "run --trace long.trc --topology torus:4");
    // 10^14 ns are 3.125 * 10^13 cycles of 3.2 ns; looked at every 10 000 cycles they would take minutes.
    assert!(figures["completion_cycles"].as_u64().unwrap() > 31_250_000_000_000);
    assert!(asked.elapsed() < Duration::from_secs(30));
}

#[test]
fn percentiles_hold_for_long_delays_too() {
    let folder = folder();
    let figures = json(folder.path(), "run --cycles 20000 --topology torus:4x4 --load 3 --source open");
    let cycles = |name: &str| figures[&format!("latency_{name}_cycles")].as_f64().unwrap();
    assert!(cycles("mean") > 4096.0, "long beyond saturation");
    // Delays grow evenly: the median is near the mean.
    assert!((0.8..1.25).contains(&(cycles("p50") / cycles("mean"))));
    assert!(cycles("p99") > cycles("mean"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = folder();
    for line in ["run --cycles 100 --format json", "run --cycles 100", "list kernels", "explain uniform", "config"] {
        let mut command = fsin(folder.path());
        command.args(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
    }
}

/// Waits until a process handles interrupts, and a little more, so that it is in the midst of its work.
#[cfg(unix)]
fn await_handler(process: u32) {
    const SIGINT: u64 = 1 << 1;
    let status = format!("/proc/{process}/status");
    let handles = || {
        let text = fs::read_to_string(&status).ok()?;
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:"))?.trim().to_owned();
        Some(u64::from_str_radix(&mask, 16).ok()? & SIGINT != 0)
    };
    let asked = Instant::now();
    // Where the system does not tell, two seconds are ample.
    let patience = Duration::from_secs(if handles().is_some() { 30 } else { 2 });
    while handles() != Some(true) && asked.elapsed() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(200));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_prints_what_it_has() {
    let folder = folder();
    for line in [
        "run --cycles 1000000000 --topology torus:4x4 --format json -o results",
        "run --kernel all-to-all:tasks=16,bytes=1073741824 --topology torus:4x4 --format json",
        "run --engine reference --samples 1000000 --topology torus:4x4 --format json",
    ] {
        let mut command = fsin(folder.path());
        command.args(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        await_handler(child.id());
        let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let asked = Instant::now();
        let mut stdout = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(asked.elapsed() < Duration::from_secs(20), "{line}");
        assert_eq!(output.status.code(), Some(130), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        let figures: Map<String, Value> = serde_json::from_slice(&stdout).unwrap();
        assert_eq!(figures["complete"], false, "{line}");
        assert!(figures["cycles"].is_u64(), "{line}");
        assert_eq!(figures["completion_cycles"], Value::Null, "{line}");
    }
    let kept: Value = serde_json::from_slice(&fs::read(folder.path().join("results/result.json")).unwrap()).unwrap();
    assert_eq!(kept["complete"], false);
}

#[test]
fn a_limit_of_cycles_is_a_failure_only_if_asked() {
    let folder = folder();
    let line = "run --kernel all-to-all:tasks=16,bytes=65536 --topology torus:4x4 --format json --max-cycles 100";
    for (strict, status) in [("", 0), (" --strict", 3)] {
        let output = run(folder.path(), &format!("{line}{strict}"));
        assert_eq!(output.status.code(), Some(status));
        let figures = figures(&output);
        assert_eq!(figures["complete"], false);
        assert_eq!(figures["cycles"], 100);
        assert_eq!(figures["completion_cycles"], Value::Null);
        assert!(String::from_utf8_lossy(&output.stderr).contains("limit of 100 cycles"));
    }
    let roomy = json(folder.path(), "run --kernel bintree --topology torus:4x4 --max-cycles 1000000 --strict");
    assert_eq!(roomy["complete"], true);
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
fn a_network_beyond_the_memory_is_refused() {
    let folder = folder();
    if !Path::new("/proc/meminfo").exists() {
        return;
    }
    let output = run(folder.path(), "run --topology torus:32767x32767 --vcs 32");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.starts_with("error: --topology torus:32767x32767: 1073676289 nodes need at least "), "{stderr}");
    assert!(stderr.contains("  help: use at most "), "{stderr}");
}

#[test]
fn every_component_is_listed_and_explains_itself() {
    let folder = folder();
    // The families are those that the command knows.
    let refused = String::from_utf8_lossy(&run(folder.path(), "list nothing").stderr).into_owned();
    let known = refused.split_once("[possible values: ").unwrap().1.split_once(']').unwrap().0;
    let families: Vec<&str> = known.split(", ").collect();
    assert!(families.len() >= 12, "{families:?}");
    let counts = text(&run(folder.path(), "list"));
    assert_eq!(counts.lines().count(), families.len(), "{counts}");
    for (family, count) in families.into_iter().zip(counts.lines()) {
        let listed = text(&run(folder.path(), &format!("list {family}")));
        assert!(listed.lines().count() > 0, "{family}");
        let counted: Vec<&str> = count.split_whitespace().collect();
        assert_eq!(counted, [family, &listed.lines().count().to_string()]);
        for line in listed.lines() {
            let (name, about) = line.split_once(' ').unwrap();
            assert!(about.trim().len() > 10, "{family}: {line}");
            let explained = text(&run(folder.path(), &format!("explain {name}")));
            assert!(explained.starts_with(&format!("{name}  (")), "{explained}");
            assert!(explained.contains(&format!("({family})")), "{explained}");
            assert!(explained.contains("source: ") && explained.contains(about.trim()), "{explained}");
        }
    }
}

#[test]
fn what_is_listed_can_be_run() {
    let folder = folder();
    for pattern in text(&run(folder.path(), "list traffic")).lines() {
        let name = pattern.split_whitespace().next().unwrap();
        // Without arguments a pattern either runs with its defaults or says which it needs.
        let output = run(folder.path(), &format!("run --cycles 200 --topology torus:4x4 --traffic {name}"));
        let stderr = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => {}
            Some(2) => assert!(stderr.contains("--traffic") && stderr.contains("  help: "), "{name}: {stderr}"),
            status => panic!("{name}: {status:?} {stderr}"),
        }
    }
    for routing in text(&run(folder.path(), "list routings")).lines() {
        let name = routing.split_whitespace().next().unwrap();
        let (topology, vcs) = match name {
            "double:hexa-oblivious" | "double:hexa-adaptive" => ("torus:4x4x4", 6),
            "dally:adaptive" => ("torus:4x4", 3),
            name if name.starts_with("tree:") => ("fattree:2,3", 1),
            name if name.starts_with("dragonfly:") => ("dragonfly:p=1,a=2,h=1", 3),
            name if name.starts_with("hyperx:") => ("hyperx:2x3:2", 2),
            name if name.starts_with("cube:") => ("icube:3x2:2", 2),
            name if name.starts_with("graph:") => ("rrg:s=6,d=3,p=1", 3),
            _ => ("torus:4x4", 2),
        };
        done(&run(folder.path(), &format!("run --cycles 200 --topology {topology} --routing {name} --vcs {vcs}")));
    }
    std::fs::write(folder.path().join("net.txt"), "a b\nb c\nc a\n").unwrap();
    for topology in text(&run(folder.path(), "list topologies")).lines() {
        let name = topology.split_whitespace().next().unwrap();
        // Each refuses what lacks its sizes with an example of them, which runs.
        let refused = String::from_utf8(run(folder.path(), &format!("run --topology {name}")).stderr).unwrap();
        let example =
            refused.split('`').find(|word| word.starts_with(&format!("{name}:")) && word.len() > name.len() + 1);
        let example = example.unwrap_or_else(|| panic!("{name}: {refused}"));
        let routing = match name {
            "fattree" | "thintree" | "slimtree" => "tree:static",
            "dragonfly" => "dragonfly:minimal",
            "hyperx" => "hyperx:dor",
            "icube" => "cube:oblivious",
            "rrg" | "graph" => "graph:updown",
            _ => "bubble:smart",
        };
        done(&run(folder.path(), &format!("run --cycles 200 --topology {example} --routing {routing}")));
        done(&run(folder.path(), &format!("topology {example}")));
    }
    for mode in text(&run(folder.path(), "list arbitrations")).lines() {
        let name = mode.split_whitespace().next().unwrap();
        done(&run(folder.path(), &format!("run --cycles 200 --topology torus:4x4 --arbitration {name}")));
    }
    for mode in text(&run(folder.path(), "list injections")).lines() {
        let name = mode.split_whitespace().next().unwrap();
        done(&run(folder.path(), &format!("run --cycles 200 --topology torus:4x4 --injectors 4 --injection {name}")));
    }
    for kernel in text(&run(folder.path(), "list kernels")).lines() {
        let name = kernel.split_whitespace().next().unwrap();
        let output = run(folder.path(), &format!("run --topology torus:4x4x4 --kernel {name} --format json"));
        done(&output);
        assert_eq!(figures(&output)["complete"], true, "{name}");
    }
}

#[test]
fn a_topology_is_described_in_every_format() {
    let folder = folder();
    let described = figures(&run(folder.path(), "topology twisted:8x4:4 --format json"));
    assert_eq!(described["nodes"], 32);
    assert_eq!(described["links"], 128);
    assert_eq!(described["diameter_hops"], 4);
    // 84 hops to 31 others.
    assert_eq!(described["distance_mean_hops"], 84.0 / 31.0);
    assert_eq!(figures(&run(folder.path(), "topology torus:6 --ways 1 --format json"))["diameter_hops"], 5);
    // A ring of 6 with links across: 6 edges both ways, 6 one way.
    let graph = text(&run(folder.path(), "topology spidergon:6 --format dot"));
    assert_eq!(graph.matches("dir=both").count(), 6);
    assert_eq!(graph.matches(" -> ").count(), 12);
}

/// Cycles, sources, destinations and phits that `fsin traffic` lists.
fn listed(line: &str) -> Vec<[u64; 4]> {
    let folder = folder();
    let listed = text(&run(folder.path(), &format!("traffic {line}")));
    let mut lines = listed.lines();
    assert_eq!(lines.next(), Some("cycle,source,destination,phits"));
    let row = |line: &str| -> [u64; 4] {
        let cells: Vec<u64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        cells.try_into().unwrap()
    };
    lines.map(row).collect()
}

#[test]
fn traffic_is_listed_without_a_network() {
    let line = "--topology torus:4x4 --load 0.5 --cycles 20000";
    let all = listed(line);
    assert!(all.is_sorted_by_key(|row| row[0]) && all.iter().all(|row| (1..=20_000).contains(&row[0])));
    assert!(all.iter().all(|row| row[1] != row[2] && row[1] < 16 && row[2] < 16 && row[3] == 16));
    let load = all.iter().map(|row| row[3]).sum::<u64>() as f64 / 16.0 / 20_000.0;
    assert!((load / 0.5 - 1.0).abs() < 0.05, "{load}");
    assert_eq!(all, listed(line), "the same again");
    assert_ne!(all, listed(&format!("{line} --seed 2")));
    // Without --cycles, 1000 of them; the same words as in a run.
    let sizes = listed("--topology torus:4x4 --traffic tornado+2:shift(1) --size bimodal(2,9,0.5) --load 1");
    assert!(sizes.iter().all(|row| row[0] <= 1000 && (row[3] == 2 || row[3] == 9)));
    assert!(sizes.iter().any(|row| row[0] > 900));
    // What ends is listed to its end: shots, and the messages of an application.
    assert_eq!(listed("--topology torus:4x4 --shot 3 --samples 5").len(), 16 * 3 * 5);
    let tree = listed("--topology torus:4x4 --kernel bintree:bytes=100");
    assert_eq!(tree.len(), 15);
    assert!(tree.iter().all(|row| row[3] == 25));
    let folder = folder();
    let lines = text(&run(folder.path(), "traffic --topology torus:4x4 --cycles 100 --format jsonl"));
    for line in lines.lines() {
        let object: Map<String, Value> = serde_json::from_str(line).unwrap();
        assert!(["cycle", "source", "destination", "phits"].into_iter().eq(object.keys()));
    }
}

#[test]
fn shots_are_reported_one_by_one() {
    let folder = folder();
    let shots = json(folder.path(), "run --topology torus:4x4 --shot 10 --samples 7");
    let rows = shots["shots"].as_array().unwrap();
    assert_eq!(rows.len(), 7);
    let mut start = 1;
    let mut cycles = Vec::new();
    for row in rows {
        assert_eq!((row["start_cycle"].as_u64(), row["messages"].as_u64()), (Some(start), Some(160)));
        cycles.push(row["cycles"].as_u64().unwrap());
        start += cycles.last().unwrap();
    }
    let mean = cycles.iter().sum::<u64>() as f64 / 7.0;
    assert!((shots["shot_cycles_mean"].as_f64().unwrap() - mean).abs() < 1e-9);
    let variance = cycles.iter().map(|&c| (c as f64 - mean).powi(2)).sum::<f64>() / 6.0;
    // Student's t for 6 degrees of freedom: 2.446912.
    let half_width = 2.446_912 * (variance / 7.0).sqrt();
    assert!((shots["shot_cycles_ci95"].as_f64().unwrap() / half_width - 1.0).abs() < 1e-6);
    assert_eq!(shots["packets_received"], 1120);
    assert_eq!(shots["complete"], true);
    // A shot of 10 packets of 16 phits takes no less than their phits.
    assert!(cycles.iter().all(|&cycles| cycles > 160), "{cycles:?}");
    // The same in other words, on the other engine, and out of a file.
    let other = json(folder.path(), "run --topology torus:4x4 --temporal shot(10) --samples 7 --engine reference");
    assert_eq!((&other["shots"], &other["digest"]), (&shots["shots"], &shots["digest"]));
    fs::write(folder.path().join("e.toml"), "topology = 'torus:4x4'\nshot = 10\nsamples = 7\nload = 0.1\n").unwrap();
    assert_eq!(json(folder.path(), "run e.toml")["shots"], shots["shots"]);
    let resolved = text(&run(folder.path(), "config --topology torus:4x4 --shot 10 --samples 7"));
    assert!(resolved.contains("shot = 10") && !resolved.contains("load =") && !resolved.contains("warmup ="));
    fs::write(folder.path().join("r.toml"), resolved).unwrap();
    assert_eq!(json(folder.path(), "run r.toml")["digest"], shots["digest"]);
    // Other traffic has no shots.
    let steady = json(folder.path(), QUICK);
    assert!(["shots", "shot_cycles_mean", "shot_cycles_ci95"].into_iter().all(|name| steady[name].is_null()));
}

#[test]
fn sums_phases_and_reactions_run_with_the_load_asked_for() {
    let folder = folder();
    for (traffic, temporal) in [
        ("uniform+transpose", "bernoulli"),
        ("3:uniform+1:hotspot(0.1,0)", "cburst(4)"),
        ("uniform@1000 then tornado@1000", "poisson"),
        ("mix(0.9:uniform,0.1:zipf(1,distance))", "markov(2,0.05)"),
        ("local-gauss(2)", "reactive(0.5,1)"),
    ] {
        let mut digests = BTreeSet::new();
        for engine in ["fast", "reference"] {
            let words = ["run", "--topology", "torus:5x5", "--load", "0.2", "--cycles", "20000", "--format", "json"];
            let words = words.into_iter().chain(["--traffic", traffic, "--temporal", temporal, "--engine", engine]);
            // 25 nodes are no power of two.
            let words =
                words.map(|word| if traffic.contains("transpose") { word.replace("5x5", "4x4") } else { word.into() });
            let output = fsin(folder.path()).args(words).output().unwrap();
            done(&output);
            let figures = figures(&output);
            let accepted = figures["accepted_load_phits_per_node_cycle"].as_f64().unwrap();
            let silent = if traffic.contains("transpose") { 0.1 * 4.0 / 16.0 } else { 0.0 };
            assert!((accepted / (0.2 - silent) - 1.0).abs() < 0.06, "{traffic}, {temporal}: {accepted}");
            digests.insert(figures["digest"].as_str().unwrap().to_owned());
        }
        assert_eq!(digests.len(), 1, "{traffic}, {temporal}");
    }
}

#[test]
fn traffic_beside_an_application_slows_it_down_and_ends_with_it() {
    let folder = folder();
    let figures = |words: &str| {
        json(
            folder.path(),
            &format!("run --topology torus:8x8 --kernel all-to-all:tasks=32,bytes=4096 --placement random {words}"),
        )
    };
    let alone = figures("");
    let nothing = figures("--temporal background(0)");
    for name in ["completion_cycles", "messages", "digest"] {
        assert_eq!(alone[name], nothing[name], "{name}");
    }
    let beside = figures("--temporal background(0.5)");
    assert!(beside["completion_cycles"].as_u64() > alone["completion_cycles"].as_u64());
    assert_eq!(beside["messages"], alone["messages"]);
    assert!(beside["packets_received"].as_u64() > alone["packets_received"].as_u64());
    assert_eq!((&beside["complete"], &beside["packets_in_flight"]), (&Value::Bool(true), &0.into()));
    let reference = figures("--temporal background(0.5) --engine reference");
    assert_eq!(reference["digest"], beside["digest"]);
}

#[test]
fn files_of_patterns_are_beside_the_experiment_and_in_the_manifest() {
    let folder = folder();
    let rows = ["0 1 1 1", "1 0 0 0", "1 0 0 0", "1 0 0 0"];
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("sub/m.txt"), rows.join("\n")).unwrap();
    fs::write(folder.path().join("sub/e.toml"), "topology = 'torus:2x2'\ntraffic = 'mix(1:matrix(m.txt))'\n").unwrap();
    let from_file = json(folder.path(), "run sub/e.toml --cycles 2000");
    let input = &from_file["manifest"]["inputs"][0];
    assert_eq!(input["sha256"], format!("{:x}", Sha256::digest(rows.join("\n"))));
    let by_flag = json(folder.path(), "run --topology torus:2x2 --traffic mix(1:matrix(sub/m.txt)) --cycles 2000");
    assert_eq!(by_flag["digest"], from_file["digest"]);
    // The resolved experiment runs from anywhere.
    let resolved = text(&run(folder.path(), "config sub/e.toml --cycles 2000"));
    let elsewhere = self::folder();
    fs::write(elsewhere.path().join("r.toml"), resolved).unwrap();
    assert_eq!(json(elsewhere.path(), "run r.toml")["digest"], from_file["digest"]);
}

#[test]
fn patterns_explain_where_node_0_sends() {
    let folder = folder();
    let explain = |name: &str| {
        let output = fsin(folder.path()).args(["explain", name]).output().unwrap();
        text(&output)
    };
    // Node 0 has coordinates (0,0); tornado on 4x4 is one step in both dimensions.
    let tornado = explain("tornado");
    assert!(tornado.contains("`tornado` on a 4x4 grid, seed 1"), "{tornado}");
    assert!(tornado.contains("  y=1       . 100.0     .     .\n"), "{tornado}");
    assert!(explain("transpose").contains("node 0 is silent"));
    assert!(explain("hotspot").contains("`hotspot(0.1, 0)` on a 4x4 grid"));
    assert!(explain("map(block:2, uniform)").contains("  y=0       . 100.0     .     .\n"));
    assert!(explain("local").contains("`local` on a 16x16 grid"));
    assert!(explain("matrix").contains("no table of destinations: `matrix` needs its parameter file"));
    assert!(!explain("bernoulli").contains("grid, seed"));
}

/// The flags that scripts use, and their defaults.
const FLAGS: &[(&str, &str)] = &[
    ("topology", "torus:8x8"),
    ("ways", "2"),
    ("vcs", "3"),
    ("routing", "bubble:smart"),
    ("order", "dim"),
    ("packet", "16"),
    ("phit-bytes", "4"),
    ("queue", "4"),
    ("injection-queue", "8"),
    ("injectors", "1"),
    ("injection", "shortest"),
    ("inject", "parallel"),
    ("consumption", "multiple"),
    ("arbitration", "rr"),
    ("bubble", "2"),
    ("lbr", "0"),
    ("in-transit-priority", "0"),
    ("source", "throttled"),
    ("traffic", "uniform"),
    ("temporal", "bernoulli"),
    ("size", "constant"),
    ("load", "0.3"),
    ("warmup", "5000"),
    ("samples", "10"),
    ("sample-size", "2000"),
    ("cycles", ""),
    ("trace", ""),
    ("kernel", ""),
    ("placement", "consecutive"),
    ("bandwidth", "10Gb/s"),
    ("compute", "1"),
    ("flop-rate", "5Gflop/s"),
    ("engine", "fast"),
    ("threads", "1"),
    ("seed", "1"),
];

#[test]
fn help_shows_every_flag_with_its_default() {
    let folder = folder();
    for (verb, flag) in [("run", "--help"), ("run", "-h"), ("config", "--help")] {
        let help = text(&run(folder.path(), &format!("{verb} {flag}")));
        // Help wraps: compared without regard to lines.
        let words: Vec<&str> = help.split_whitespace().collect();
        let entry = |name: &str| {
            let start = words.iter().position(|word| *word == format!("--{name}"))?;
            let length = words[start + 1..].iter().position(|word| word.starts_with("--"));
            Some(words[start..length.map_or(words.len(), |length| start + 1 + length)].join(" "))
        };
        for &(name, default) in FLAGS {
            let shown = entry(name).unwrap_or_else(|| panic!("{verb} {flag} lacks --{name}"));
            if !default.is_empty() {
                assert!(shown.contains(&format!("[{default}]")), "{shown}");
            }
        }
        for heading in ["Network:", "Traffic:", "Run control:", "Output:", "Diagnostics:"] {
            assert!(help.lines().any(|line| line == heading), "{verb} {flag} lacks {heading}");
        }
        for key in KEYS {
            let shown = entry(key.name).unwrap_or_else(|| panic!("{verb} {flag} lacks --{}", key.name));
            assert!(key.kind == Kind::Switch || shown.contains(key.metavar), "{shown}");
            assert!(key.unit.is_empty() || shown.contains(&format!("({})", key.unit)), "{shown}");
            assert!(key.unit.is_empty() || !key.about.contains(key.unit), "the unit is said twice: {shown}");
        }
    }
    let help = text(&run(folder.path(), "run --help"));
    assert!(help.contains("FSIN_PHIT_BYTES") && help.contains("Exit status"));
    assert!(text(&run(folder.path(), "--version")).starts_with("fsin "));
}

#[test]
fn the_table_of_keys_has_the_defaults_that_scripts_rely_on() {
    for &(name, default) in FLAGS {
        let key = fsin::experiment::key(name).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(key.default.unwrap_or(""), default, "{name}");
    }
}

#[test]
fn colour_is_as_asked() {
    let folder = folder();
    for (arguments, coloured) in
        [("run --load -1", false), ("run --load -1 --color always", true), ("--color=always run --load -1", true)]
    {
        let output = run(folder.path(), arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr.contains("\u{1b}["), coloured, "{arguments}: {stderr:?}");
        assert_eq!(output.status.code(), Some(2));
    }
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
    assert!(table.starts_with("ideal:L=2500,G=6 hosts o=100,g=0,O=0,S=65535 | trace two.goal\n"), "{table}");
    assert!(table.contains(&format!("{finish} ns")), "{table}");
    let csv = text(&run(folder.path(), &format!("{line} --format csv")));
    assert!(csv.lines().next().unwrap().split(',').any(|name| name == "finish_max_ns"), "{csv}");
    let jsonl = text(&run(folder.path(), &format!("{line} --format jsonl")));
    assert_eq!(jsonl.matches('\n').count(), 1);
}

#[test]
fn what_has_no_effect_in_a_file_or_the_environment_is_said() {
    let folder = folder();
    fs::write(folder.path().join("e.toml"), "kernel = 'bintree'\ntopology = 'torus:4x4'\nwarmup = 10\n").unwrap();
    let output = fsin(folder.path()).args(["run", "e.toml"]).env("FSIN_LOAD", "0.2").output().unwrap();
    done(&output);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("e.toml sets `warmup`, which has no effect"), "{stderr}");
    assert!(stderr.contains("FSIN_LOAD has no effect"), "{stderr}");
    assert!(!stderr.contains("topology"), "{stderr}");
}

#[test]
fn verbose_says_who_set_what_and_when_measuring_began() {
    let folder = folder();
    let output = fsin(folder.path()).args(QUICK.split_whitespace()).args(["-v"]).env("FSIN_VCS", "2").output().unwrap();
    done(&output);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    for line in ["topology = torus:4x4, set by --topology", "vcs = 2, set by FSIN_VCS", "measuring: "] {
        assert!(stderr.contains(line), "{line}: {stderr}");
    }
}

#[test]
fn other_names_of_components_are_explained() {
    let folder = folder();
    let text = text(&run(folder.path(), "explain nbodies"));
    assert!(text.contains("n-bodies  (kernels)") && text.contains("also called: nbodies"), "{text}");
}

#[test]
fn a_trace_in_folders_of_folders_is_in_the_manifest() {
    let folder = folder();
    fs::create_dir_all(folder.path().join("t/ranks")).unwrap();
    fs::write(folder.path().join("t/index"), "ranks/r0\nranks/r1\n").unwrap();
    fs::write(folder.path().join("t/ranks/r0"), "0 init\n0 send 1 0 64\n0 finalize\n").unwrap();
    fs::write(folder.path().join("t/ranks/r1"), "1 init\n1 recv 0 0 64\n1 finalize\n").unwrap();
    let figures = json(folder.path(), "run --topology torus:4 --trace t");
    assert_eq!(figures["manifest"]["inputs"].as_array().unwrap().len(), 3);
}
