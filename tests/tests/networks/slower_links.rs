//! Programs on links ten times slower: the tables of `docs/validation/slower-links.md`, to the digit.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::path::{Path, PathBuf};

use tests::command::fsin;
use tests::shared::{shared_dir, skipped};
use trace_prep::transform;
use trgen::trace::container::{Content, Header, Writer};
use trgen::trace::formats::{ReadOptions, read};

/// Completion \[s\] of a program of class S on 16 ranks.
fn completion(trace: &Path, network: &[&str], bandwidth: &str) -> f64 {
    let output = fsin(Path::new("/"))
        .args(["run", "--trace"])
        .arg(trace)
        .args(["--bandwidth", bandwidth, "--format", "json", "--quiet"])
        .args(network)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}: {}", trace.display(), String::from_utf8_lossy(&output.stderr));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    result["completion_seconds"].as_f64().unwrap()
}

/// For bt, cg, ep, ft, is, lu, mg: bandwidths before and after, and the slowdown of each.
type Row = (&'static [&'static str], &'static str, &'static str, [f64; 7]);

const PROGRAMS: [&str; 7] = ["bt", "cg", "ep", "ft", "is", "lu", "mg"];

const TORUS: &[&str] = &["--topology", "torus:4x4"];
const TREE: &[&str] = &["--topology", "fattree:4,2", "--routing", "tree:adaptive"];

/// Of the table, one row of each network.
const ROWS: &[Row] = &[
    (TORUS, "10Gb/s", "1Gb/s", [3.494, 4.614, 1.001, 4.743, 3.322, 2.075, 2.797]),
    (TREE, "10Gb/s", "1Gb/s", [4.164, 4.389, 1.002, 6.537, 3.167, 2.218, 3.246]),
];

/// The other one.
const MORE_ROWS: &[Row] = &[(TORUS, "100Gb/s", "10Gb/s", [1.302, 1.534, 1.000, 1.565, 1.271, 1.114, 1.204])];

/// The calls of collectives between which each program times itself: after the first, before the second.
const TIMED: [(u64, Option<u64>); 7] =
    [(6, Some(7)), (1, Some(2)), (1, Some(5)), (6, None), (3, Some(34)), (14, Some(16)), (96, Some(101))];

const TIMED_ROWS: &[Row] = &[(TORUS, "10Gb/s", "1Gb/s", [3.857, 4.950, 1.001, 5.272, 5.663, 2.138, 3.650])];

/// The other network, and other speeds of the links.
const MORE_TIMED_ROWS: &[Row] = &[
    (TREE, "10Gb/s", "1Gb/s", [4.600, 4.706, 1.001, 7.417, 5.553, 2.287, 4.233]),
    (TORUS, "100Gb/s", "10Gb/s", [1.362, 1.615, 1.000, 1.700, 1.787, 1.122, 1.329]),
    (TORUS, "200Gb/s", "20Gb/s", [1.180, 1.317, 1.000, 1.304, 1.390, 1.061, 1.162]),
    (TORUS, "40Gb/s", "4Gb/s", [1.883, 2.413, 1.000, 2.691, 2.821, 1.302, 1.810]),
    (TORUS, "1Gb/s", "0.1Gb/s", [8.442, 9.047, 1.009, 9.184, 9.235, 7.849, 8.560]),
];

/// The traces of the programs, if available.
fn traces() -> Option<[PathBuf; 7]> {
    let found = shared_dir().map(|shared| shared.join("traces/npb-ti")).filter(|traces| traces.is_dir());
    if found.is_none() {
        skipped("no folder `shared` with traces beside the workspace");
    }
    found.map(|traces| PROGRAMS.map(|program| traces.join(format!("{program}.S.16.ti.tar.xz"))))
}

/// Checks the slowdown of each program, with three decimals; that of EP must be the least.
fn ratios(traces: &[PathBuf; 7], rows: &[Row]) {
    for &(network, fast, slow, expected) in rows {
        let found = traces.each_ref().map(|trace| completion(trace, network, slow) / completion(trace, network, fast));
        let rounded = found.map(|ratio| (ratio * 1000.0).round() / 1000.0);
        assert_eq!(rounded, expected, "{network:?} {fast}");
        // A program that hardly communicates suffers least.
        assert!(found.iter().all(|&ratio| ratio >= found[2]), "{found:?}");
    }
}

#[test]
fn slower_links_hurt_as_the_table_says() {
    if let Some(traces) = traces() {
        ratios(&traces, ROWS);
    }
}

/// In the sections that NPB times, IS suffers most on the torus, at any speed, and EP least.
fn timed_sections_suffer(rows: &[Row]) {
    let Some(traces) = traces() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut timed = traces.clone();
    for (path, (after, before)) in timed.iter_mut().zip(TIMED) {
        let program = read(path, &ReadOptions::default()).unwrap().program;
        let (section, _) = transform::between(program, Some(after), before).unwrap();
        *path = folder.path().join(path.file_name().unwrap()).with_extension("trg");
        let origin = "timed section".to_owned();
        let header =
            Header { content: Content::Programs, tasks: 16, origin, collectives: Vec::new(), notes: Vec::new() };
        let mut writer = Writer::new(File::create(path).unwrap(), &header).unwrap();
        writer.program(&section).unwrap();
        writer.finish().unwrap();
    }
    ratios(&timed, rows);
    for (_, fast, _, expected) in rows.iter().filter(|row| row.0 == TORUS) {
        assert!(expected.iter().all(|&ratio| ratio <= expected[4]), "{fast}");
    }
}

#[test]
fn slower_links_hurt_is_most_while_it_times_itself() {
    timed_sections_suffer(TIMED_ROWS);
}

#[test]
#[ignore = "a minute: more speeds"]
fn slower_links_hurt_is_most_at_any_speed() {
    if let Some(traces) = traces() {
        ratios(&traces, MORE_ROWS);
    }
    timed_sections_suffer(MORE_TIMED_ROWS);
}
