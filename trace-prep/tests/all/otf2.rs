//! Real OTF2 archives compared with a table of facts obtained by other means.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use trgen::trace::formats::{ReadOptions, Trace, read};
use trgen::trace::program::Event;

use crate::shared;

/// The folder of real traces, if both it and `otf2-print` are available.
fn traces() -> Option<PathBuf> {
    if Command::new("otf2-print").arg("--version").output().is_err() {
        shared::skipped("no otf2-print on this machine (Debian: otf2-tools)");
        return None;
    }
    shared::shared_folder("traces")
}

/// Imports and checks the archive in a tar file: the trace, and whether `check` accepts it.
fn import(archive: &Path, anchor: &str) -> (Trace, bool) {
    let folder = tempfile::tempdir().unwrap();
    let unpacked = Command::new("tar").arg("xf").arg(archive).arg("-C").arg(folder.path()).status().unwrap();
    assert!(unpacked.success());
    let out = folder.path().join("out.trg");
    let mut import = assert_cmd::Command::cargo_bin("trace-prep").unwrap();
    import.args(["import", "-o"]).arg(&out).arg(folder.path().join(anchor)).assert().success();
    let mut check = assert_cmd::Command::cargo_bin("trace-prep").unwrap();
    let sound = check.arg("check").arg(&out).output().unwrap().status.success();
    (read(&out, &ReadOptions::default()).unwrap(), sound)
}

#[test]
fn archives_of_the_nas_benchmarks_hold_what_the_table_says() {
    let Some(traces) = traces() else { return };
    let folder = traces.join("npb-otf2");
    let table = fs::read_to_string(folder.join("otf2_facts.csv")).unwrap();
    for row in table.lines().skip(1) {
        let row: Vec<&str> = row.split(',').collect();
        let (name, number) = (row[1], |at: usize| row[at].parse::<u64>().unwrap());
        let program = name.split('.').next().unwrap();
        let anchor = format!("{program}.S.x_trace/eztrace_log.otf2");
        let (trace, sound) = import(&folder.join(format!("{name}.otf2.tar.xz")), &anchor);
        assert!(sound, "{name}");
        let totals = trace.program.totals();
        let collectives: u64 = trace.collectives.values().sum();
        let found = [trace.program.tasks.len() as u64, totals.point_to_point_messages, collectives];
        assert_eq!(found, [number(2), number(4) + number(5), number(8)], "{name}");
        assert_eq!(totals.point_to_point_bytes, number(9), "{name}");
    }
}

#[test]
fn other_archives_are_sound() {
    let Some(traces) = traces() else { return };
    let folder = traces.join("third-party");
    for (file, anchor, tasks, messages) in [
        ("tracer_stencil4d_otf2_32_64", "examples/stencil4d-otf/traces-32/traces.otf2", 32, 512),
        ("tracer_stencil4d_otf2_32_64", "examples/stencil4d-otf/traces-64/traces.otf2", 64, 1024),
        ("sstmacro_otf2_10_ranks", "tests/otf2_test_traces/traces.otf2", 10, 1440),
        ("pipit_otf2_pingpong_2_ranks", "pipit/tests/data/ping-pong-otf2/traces.otf2", 2, 16),
    ] {
        let (trace, sound) = import(&folder.join(format!("{file}.tar.xz")), anchor);
        assert!(sound, "{anchor}");
        assert_eq!(trace.program.tasks.len(), tasks, "{anchor}");
        assert_eq!(trace.program.totals().point_to_point_messages, messages, "{anchor}");
    }
}

/// Point-to-point messages by (source, destination, tag, bytes).
fn messages(trace: &Trace) -> BTreeMap<(usize, u32, i64, u64), u64> {
    let mut all = BTreeMap::new();
    for (task, events) in trace.program.tasks.iter().enumerate() {
        for event in events {
            if let Event::Send(send) | Event::Isend(send, _) = event
                && !send.tag.is_collective()
            {
                *all.entry((task, send.to.0, send.tag.label, send.bytes)).or_default() += 1;
            }
        }
    }
    all
}

#[test]
fn an_archive_and_a_log_of_calls_hold_the_same_messages() {
    let Some(traces) = traces() else { return };
    for (name, program) in [("is.S.16", "is"), ("mg.S.16", "mg"), ("lu.S.4", "lu"), ("cg.S.4", "cg")] {
        let archive = traces.join(format!("npb-otf2/{name}.otf2.tar.xz"));
        let (trace, _) = import(&archive, &format!("{program}.S.x_trace/eztrace_log.otf2"));
        let log = read(&traces.join(format!("npb-pmpi/{name}.pmpi.tar.xz")), &ReadOptions::default()).unwrap();
        assert_eq!(messages(&trace), messages(&log), "{name}");
    }
}
