//! Output on stdout and stderr, signals, limits.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Map, Value};
use tests::command::{fsin, run};

use super::{figures, folder, json};

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
fn a_reader_that_goes_away_is_no_error() {
    let folder = folder();
    let runs = ["run --cycles 100 --format json -q", "run --cycles 100 -q"];
    for line in runs.into_iter().chain(["list kernels", "explain uniform", "config"]) {
        let mut command = fsin(folder.path());
        command.args(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_prints_what_it_has() {
    let folder = folder();
    fs::write(folder.path().join("long.csv"), "src,dst,bytes,start\n0,1,562949953421312,0\n").unwrap();
    for line in [
        "run --network bus --nodes 4 --flows long.csv --format json",
        "run --cycles 1000000000 --topology torus:4x4 --format json -o results",
        "run --kernel all-to-all:tasks=16,bytes=1073741824 --topology torus:4x4 --format json",
        "run --engine reference --samples 100000 --sample-size 1000000 --topology torus:4x4 --format json",
    ] {
        // While a network is built there is nothing to print yet; a busy machine may need longer.
        let output = [0, 1, 5, 25]
            .into_iter()
            .map(|seconds| interrupted(folder.path(), line, Duration::from_secs(seconds)))
            .find(|output| !output.stdout.is_empty());
        let output = output.unwrap_or_else(|| panic!("{line}: no results"));
        let figures: Map<String, Value> = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(figures["complete"], false, "{line}");
        assert!(figures["cycles"].is_u64(), "{line}");
        assert_eq!(figures["completion_cycles"], Value::Null, "{line}");
    }
    let kept: Value = serde_json::from_slice(&fs::read(folder.path().join("results/result.json")).unwrap()).unwrap();
    assert_eq!(kept["complete"], false);
}

/// Starts the command, interrupts it after this time in the middle of its work, and waits for its end.
#[cfg(unix)]
fn interrupted(folder: &Path, line: &str, later: Duration) -> std::process::Output {
    let mut command = fsin(folder);
    command.args(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    tests::command::interrupt(&child, later);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_is_run_again_up_to_where_it_was_stopped() {
    let folder = folder();
    for (line, name) in [
        ("run --cycles 100000000000 --topology torus:4x4", "fixed"),
        ("run --samples 100000 --sample-size 1000000 --topology torus:4x4 --link-loads", "batch"),
        ("run --kernel all-to-all:tasks=16,bytes=1073741824 --topology torus:4x4", "kernel"),
    ] {
        interrupted(folder.path(), &format!("{line} -o {name} -q"), Duration::ZERO);
        let place = folder.path().join(name);
        let kept: Value = serde_json::from_slice(&fs::read(place.join("result.json")).unwrap()).unwrap();
        let cycles = kept["cycles"].as_u64().unwrap();
        let again = run(folder.path(), &format!("rerun {name}"));
        let said = String::from_utf8_lossy(&again.stderr).into_owned();
        assert_eq!(again.status.code(), Some(0), "{line}: {}{said}", String::from_utf8_lossy(&again.stdout));
        assert!(said.contains(&format!("was stopped after {cycles} cycles, before its end")), "{line}: {said}");
        // A wrong digit is detected there, too.
        let wrong = fs::read_to_string(place.join("result.json")).unwrap().replacen(
            &format!("\"packets_received\": {}", kept["packets_received"]),
            "\"packets_received\": 7",
            1,
        );
        fs::write(place.join("result.json"), wrong).unwrap();
        let again = run(folder.path(), &format!("rerun {name} -q"));
        assert_eq!(again.status.code(), Some(1), "{line}");
        assert!(String::from_utf8_lossy(&again.stdout).contains("packets_received: stored 7"), "{line}");
        assert_eq!(String::from_utf8_lossy(&again.stderr), "", "{line}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_search_prints_the_loads_that_it_tried() {
    let folder = folder();
    // The first load ends soon, the next ones take practically for ever.
    let search = "saturation --topology torus:16x16 --load 0.3 --warmup 10000000000 --samples 10 -q";
    let none = interrupted(folder.path(), search, Duration::ZERO);
    assert_eq!(
        String::from_utf8_lossy(&none.stdout).lines().next(),
        Some("INCOMPLETE: interrupted, these are the loads tried so far")
    );
    let search = "saturation --topology torus:32x32 --tolerance 0.000001 --warmup 3000 --samples 2 --sample-size 1000 --max-conv-time 0 -q";
    let table = String::from_utf8_lossy(&interrupted(folder.path(), search, Duration::ZERO).stdout).into_owned();
    let json = interrupted(folder.path(), &format!("{search} --format json"), Duration::ZERO);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(table.starts_with("INCOMPLETE"), "{table}");
    assert_eq!(json["complete"], false);
    assert!(json["probes"].is_array(), "{json}");
    let whole = json_of_search(folder.path());
    assert_eq!(whole["complete"], true);
    assert!(!whole["probes"].as_array().unwrap().is_empty());
}

/// A search that completes.
#[cfg(unix)]
fn json_of_search(folder: &Path) -> Value {
    let line =
        "saturation --topology torus:4x4 --tolerance 0.5 --warmup 20 --samples 2 --sample-size 20 --max-conv-time 0 -q";
    let output = run(folder, &format!("{line} --format json"));
    assert_eq!(output.status.code(), Some(0));
    let table = String::from_utf8_lossy(&run(folder, line).stdout).into_owned();
    assert!(!table.contains("INCOMPLETE") && table.contains(" phits/node/cycle     cycles\n"), "{table}");
    serde_json::from_slice(&output.stdout).unwrap()
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
