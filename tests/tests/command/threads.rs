//! Networks on several threads: the results of one thread, and combinations that are refused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::run;

/// What two runs of one experiment differ in: times, memory, and the setting itself.
const VOLATILE: [&str; 6] =
    ["cpu_seconds", "wall_seconds", "cycles_per_second", "peak_memory_bytes", "experiment", "manifest"];

/// Results of a line, without what is [volatile](VOLATILE).
#[track_caller]
fn result(folder: &Path, line: &str) -> Value {
    let output = run(folder, &format!("run {line} -q --format json"));
    let is_known = output.status.success() || output.status.code() == Some(3);
    assert!(is_known, "fsin run {line}: {}", String::from_utf8_lossy(&output.stderr));
    let mut found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = found.as_object_mut().unwrap();
    for volatile in VOLATILE {
        all.remove(volatile);
    }
    found
}

/// The same experiment with 1, 2, 3 and 4 threads.
#[track_caller]
fn same(folder: &Path, line: &str) -> Value {
    let one = result(folder, line);
    for threads in 2..5 {
        let other = result(folder, &format!("{line} --threads {threads}"));
        assert_eq!(one["digest"], other["digest"], "{line}: {threads} threads");
        for (name, value) in one.as_object().unwrap() {
            assert_eq!(*value, other[name], "{line}: {name} with {threads} threads");
        }
    }
    one
}

/// Lengths of runs with synthetic traffic: short ones.
const SHORT: &str = "--warmup 50000000 --sample-size 20000000 --max-conv-time 0 --samples 3";

#[test]
fn ethernet_gives_the_results_of_one_thread() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let static_ = "--forwarding static --ecmp true";
    for line in [
        format!(
            "--topology fattree:4,3 {static_} --load .6 --port-queue 2 --port-stats histogram --link-loads {SHORT}"
        ),
        format!("--topology torus:4x4 --load .3 --per .01 --transport backoff {SHORT}"),
        format!("--topology hyperx:3x2:2 --load .5 --pause true --xoff 2 --xon 1 {SHORT}"),
        format!(
            "--topology fattree:4,2 {static_} --load .4 --transport window --port-queue 5 --switching cut-through {SHORT}"
        ),
        format!(
            "--topology mesh:4x4 {static_} --load .3 --fail link:1-2@60us,repair:link:1-2@90us --transport none {SHORT}"
        ),
        "--topology fattree:4,2 --kernel all-to-all(bytes=20000)".to_owned(),
    ] {
        let found = same(folder, &format!("--network ethernet {line}"));
        let figures = found["model_figures"].as_array().unwrap();
        let hops = figures.iter().find(|figure| figure["name"] == "frame_hops").unwrap();
        assert!(hops["value"].as_f64().unwrap() > 100.0, "{line}: {hops}");
    }
}

#[test]
fn flows_and_details_are_those_of_one_thread() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let flows = (1..16).map(|host| format!("{host},0,30000,{}us\n", host % 3)).collect::<String>();
    fs::write(folder.join("flows.csv"), format!("source,destination,bytes,start\n{flows}")).unwrap();
    same(folder, "--network ethernet --topology fattree:4,2 --flows flows.csv --port-queue 4 --transport window");
}

#[test]
fn a_deadlock_is_that_of_one_thread() {
    let folder = tempfile::tempdir().unwrap();
    let line = "--network ethernet --topology torus:8 --forwarding static --pause true --xoff 1 --xon 0 --load 1";
    let found = same(folder.path(), &format!("{line} --traffic tornado --propagation 0ns {SHORT}"));
    assert!(found.to_string().contains("deadlock"), "{found}");
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (line, why) in [
        ("--network myrinet --topology mesh:4x4", "vanishes from all switches"),
        ("--network ethernet --engine reference", "the reference engine runs on one thread"),
        ("--network ethernet --pcap frames.pcapng", "frames are captured in one order"),
        ("--network flow --topology torus:4x4", "--threads has no meaning"),
    ] {
        let refused = run(folder.path(), &format!("run {line} --threads 2"));
        let text = String::from_utf8_lossy(&refused.stderr).replace("\n", " ");
        assert_eq!(refused.status.code(), Some(2), "{line}: {text}");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(why) && text.contains("--threads"), "{line}: {text}");
    }
}
