//! `--no-skip` and `--no-digest`: kernels whose iterations repeat each other exactly.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use serde_json::Value;
use tests::command::run;

#[track_caller]
fn json(line: &str) -> Value {
    let output = run(Path::new("."), &format!("run {line} --quiet --format json"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{line}: {error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// All figures that do not depend on the machine, without how much was skipped.
fn figures(mut result: Value) -> Value {
    let table = result.as_object_mut().unwrap();
    for name in ["cpu_seconds", "wall_seconds", "cycles_per_second", "peak_memory_bytes"] {
        table.remove(name);
    }
    for name in ["periods_skipped", "notes", "experiment", "manifest"] {
        table.remove(name);
    }
    result
}

#[test]
fn a_run_that_skips_equals_the_one_that_does_not() {
    for network in
        ["--topology torus:8 --routing dally:basic --vcs 2", "--network constant-delay:delay=100ns --topology torus:8"]
    {
        let line = format!("--kernel all-reduce-ring:bytes=4096,iterations=200 {network}");
        let (skipped, full) = (json(&line), json(&format!("{line} --no-skip")));
        let periods = skipped["periods_skipped"].as_u64().unwrap();
        assert!(periods > 50, "{network}: {periods} periods");
        assert_eq!(full["periods_skipped"], Value::Null);
        let note = skipped["notes"].to_string();
        assert!(note.contains("repeats itself exactly") && note.contains("no-skip"), "{note}");
        assert_eq!(figures(skipped), figures(full.clone()), "{network}");
        let mut quick = json(&format!("{line} --no-digest"));
        assert_eq!((quick["digest"].clone(), quick["periods_skipped"].as_u64()), (Value::Null, Some(periods)));
        quick["digest"] = full["digest"].clone();
        assert_eq!(figures(quick), figures(full), "{network}");
    }
}

#[test]
fn a_run_with_random_draws_skips_nothing() {
    let result =
        json("--kernel all-reduce-ring:bytes=256,iterations=20 --topology torus:4x4 --routing bubble:smart --vcs 3");
    assert_eq!(result["periods_skipped"], 0);
    assert_eq!(json("--kernel all-reduce-ring:bytes=256 --topology torus:4x4").get("periods_skipped"), None);
}

#[test]
fn the_keys_are_those_of_a_kernel() {
    for (line, word) in [
        ("--load 0.1 --no-skip", "without"),
        ("--load 0.1 --no-digest", "without"),
        ("--kernel bintree:tasks=8 --temporal background(0.1) --no-digest", "draws at random"),
    ] {
        let output = run(Path::new("."), &format!("run --topology torus:4x4 {line}"));
        let error = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains("has no meaning") && error.contains(word), "{error}");
    }
}
