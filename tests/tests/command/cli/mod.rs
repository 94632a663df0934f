//! Output, files and exit codes of `fsin` for valid input.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Output;

use serde_json::{Map, Value};
use tempfile::TempDir;
use tests::command::run;

mod booksim;
mod booksim_corpus;
mod booksim_points;
mod components;
mod energy;
mod figures;
mod folders;
mod hpcc;
mod listed;
mod networks;
mod nothing_ignored;
mod outside;
mod schema;
mod settings;
mod streams;
mod traffic;

/// Runs in milliseconds, and yields every figure of synthetic traffic.
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

/// The reproducible figures of a run, without its cost and date.
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

fn positive_integer(value: &Value) -> bool {
    value.as_u64().is_some_and(|number| number > 0)
}

fn number(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number.is_finite() && number >= 0.0)
}
