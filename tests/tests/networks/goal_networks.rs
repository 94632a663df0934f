//! GOAL graphs over an ideal network, a torus, a fat tree and a mesh: the table of `docs/validation/goal.md`, to the digit.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use serde_json::Value;
use tests::command::fsin;
use tests::shared::{shared_dir, skipped, workspace};

/// Replacements of L and G. A byte takes 6 ns on a link of 1.3333 Gb/s, as with G = 6.
const NETWORKS: [&str; 4] = [
    "--network ideal:L=2500,G=6",
    "--topology torus:4x4x4 --bandwidth 1.3333Gb/s",
    "--topology fattree:4,3 --routing tree:adaptive --bandwidth 1.3333Gb/s",
    "--topology mesh:8x8 --bandwidth 1.3333Gb/s",
];

/// Graphs, and the end of their last host \[us\].
const ROWS: [(&str, [&str; 4]); 5] = [
    ("allreduce_ring_16_1048576", ["11961.30", "11888.41", "11889.32", "11888.89"]),
    ("dissemination_64_1", ["33.00", "21.82", "22.32", "23.23"]),
    ("linear_alltoall_32_512", ["265.55", "120.00", "109.95", "225.20"]),
    ("stencil3d_4x4x4_i2", ["2625.22", "2565.50", "2829.17", "6034.93"]),
    ("incast_16", ["1927.84", "573.23", "1735.41", "1157.26"]),
];

#[test]
fn five_graphs_end_when_the_table_says() {
    let Some(goal) = shared_dir().map(|shared| shared.join("goal")).filter(|goal| goal.is_dir()) else {
        skipped("no folder `shared` with graphs beside the workspace");
        return;
    };
    let page = std::fs::read_to_string(workspace().join("docs/validation/goal.md")).unwrap();
    for (name, expected) in ROWS {
        let trace = goal.join(format!("{name}.goal"));
        let found = NETWORKS.map(|network| microseconds(network, &trace));
        assert_eq!(found, expected, "{name}");
        let row = format!("| {name} | {} |", expected.join(" | "));
        assert!(page.contains(&row), "docs/validation/goal.md lacks {row}");
    }
}

/// The end of the last host, with two decimals.
fn microseconds(network: &str, trace: &Path) -> String {
    let arguments = format!("run {network} --format json --quiet");
    let output = fsin(Path::new("/")).args(arguments.split(' ')).arg("--trace").arg(trace).output().unwrap();
    assert!(output.status.success(), "{network}: {}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let nanoseconds = result["finish_max_ns"].as_f64();
    let time = nanoseconds.map(|ns| ns / 1e3).or(result["completion_seconds"].as_f64().map(|seconds| seconds * 1e6));
    format!("{:.2}", time.unwrap())
}
