//! In models of continuous time a program ends when its last action does, to the picosecond, and no bound is later.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::run;

/// Completion and greatest bound \[ps\], and latency of messages, of a program of two ranks over a network.
fn ends(folder: &Path, network: &str, ranks: [&str; 2]) -> (u64, u64, f64) {
    for (rank, events) in ranks.iter().enumerate() {
        let lines: String = events.split(';').map(|event| format!("{rank} {}\n", event.trim())).collect();
        fs::write(folder.join(format!("r{rank}")), format!("{rank} init\n{lines}{rank} finalize\n")).unwrap();
    }
    fs::write(folder.join("all.txt"), "r0\nr1\n").unwrap();
    let output = run(folder, &format!("run --trace all.txt --network {network} --topology star:2 -q --format json"));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let latency = found["latency_mean_cycles"].as_f64().unwrap_or(0.0);
    (found["completion_cycles"].as_u64().unwrap(), found["completion_bound_cycles"].as_u64().unwrap(), latency)
}

/// 5000 of what traces count are 1 us of computing.
#[test]
fn computing_takes_what_it_takes_wherever_it_stands() {
    const US: u64 = 1_000_000;
    let folder = tempfile::tempdir().unwrap();
    for network in ["flow", "ethernet:forwarding=static", "myrinet"] {
        let alone = ends(folder.path(), network, ["compute 5000", "compute 2500"]);
        assert_eq!((alone.0, alone.1), (US, US), "{network}");
        let (sent, _, latency) = ends(folder.path(), network, ["send 1 0 100", "recv 0 0 100"]);
        assert!(sent.abs_diff(latency as u64) <= 1, "{network}: {sent} {latency}");
        for (ranks, computing) in [
            (["compute 5000; send 1 0 100", "recv 0 0 100"], 1),
            (["send 1 0 100", "recv 0 0 100; compute 5000"], 1),
            (["compute 5000; send 1 0 100", "recv 0 0 100; compute 10000"], 3),
            (["compute 5000; compute 2500; compute 2500; send 1 0 100", "recv 0 0 100; compute 10000"], 4),
        ] {
            let (end, bound, _) = ends(folder.path(), network, ranks);
            assert_eq!(end, sent + computing * US, "{network}: {ranks:?}");
            assert!(bound <= end + 1, "{network}: {ranks:?}: {bound} of {end}");
        }
    }
}
