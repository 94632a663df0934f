//! Programs on links ten times slower: the table of `docs/validation.md`, to the digit.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use tests::command::fsin;
use tests::shared::{aloud, shared_dir};

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

/// Of bt, cg, ep, ft, is, lu, mg: bandwidths before and after, and by how much each takes longer.
type Row = (&'static [&'static str], &'static str, &'static str, [f64; 7]);

const PROGRAMS: [&str; 7] = ["bt", "cg", "ep", "ft", "is", "lu", "mg"];

const TORUS: &[&str] = &["--topology", "torus:4x4"];
const TREE: &[&str] = &["--topology", "fattree:4,2", "--routing", "tree:adaptive"];

const ROWS: &[Row] = &[
    (TORUS, "100Gb/s", "10Gb/s", [1.302, 1.534, 1.000, 1.544, 1.270, 1.115, 1.202]),
    (TORUS, "10Gb/s", "1Gb/s", [3.496, 4.621, 1.001, 4.911, 3.306, 2.077, 2.814]),
    (TREE, "10Gb/s", "1Gb/s", [4.190, 4.483, 1.002, 7.655, 3.202, 2.256, 3.270]),
];

#[test]
fn slower_links_hurt_as_the_table_says() {
    let Some(shared) = shared_dir().filter(|shared| shared.join("traces/npb-ti").is_dir()) else {
        aloud("SKIPPED: no folder `shared` with traces beside the workspace\n");
        return;
    };
    for &(network, fast, slow, expected) in ROWS {
        let found = PROGRAMS.map(|program| {
            let trace = shared.join(format!("traces/npb-ti/{program}.S.16.ti.tar.xz"));
            completion(&trace, network, slow) / completion(&trace, network, fast)
        });
        let rounded = found.map(|ratio| (ratio * 1000.0).round() / 1000.0);
        assert_eq!(rounded, expected, "{network:?} {fast}");
        // What hardly communicates suffers least.
        assert!(found.iter().all(|&ratio| ratio >= found[2]), "{found:?}");
    }
}
