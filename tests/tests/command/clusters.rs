//! Machines of two levels: latency and rate of each level by formula, and rails against one rail.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::run;

/// Rates and delays: 400 Gb/s and 100 ns within a node, 100 Gb/s and 1 us between nodes.
const LEVELS: &str = "up-rate=400Gb/s,up-delay=100ns,out-rate=100Gb/s,out-delay=1us";

fn json(folder: &Path, line: &str) -> Value {
    let output = run(folder, &format!("{line} --format json"));
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// \[ps\] By source and destination: how long 1 MB takes, where all begin at once in fluid flows.
fn times(folder: &Path, cluster: &str, pairs: &[(u32, u32)]) -> BTreeMap<(u32, u32), u64> {
    let rows: Vec<String> = pairs.iter().map(|(from, to)| format!("{from},{to},1000000,0\n")).collect();
    fs::write(folder.join("flows.csv"), format!("src,dst,bytes,start\n{}", rows.concat())).unwrap();
    let _ = fs::remove_file(folder.join("m.csv"));
    let line = format!(
        "run --network flow --topology cluster:{cluster} --flows flows.csv --message-stats --message-log m.csv"
    );
    json(folder, &line);
    let rows = csv::Reader::from_path(folder.join("m.csv")).unwrap().into_deserialize();
    let of_row = |row: Result<BTreeMap<String, String>, csv::Error>| {
        let row = row.unwrap();
        let number = |name: &str| row[name].parse::<u64>().unwrap();
        ((number("source") as u32, number("destination") as u32), number("completion_cycles"))
    };
    rows.map(of_row).collect()
}

/// A time in ps is another one, but for the rounding of its ends.
fn is(found: u64, expected: u64) -> bool {
    found.abs_diff(expected) <= 3
}

#[test]
fn each_level_has_its_latency_and_rate() {
    let folder = tempfile::tempdir().unwrap();
    let (us, ns) = (1_000_000, 1_000);
    // 1 MB takes 20 us within a node, and 80 us between nodes.
    for (cluster, pair, expected) in [
        ("nodes=2,gpus=4", (0, 3), 20 * us + 2 * 100 * ns),
        ("nodes=2,gpus=4", (1, 5), 80 * us + 2 * us),
        ("nodes=2,gpus=4", (1, 7), 80 * us + 2 * us + 2 * 100 * ns),
        ("nodes=2,gpus=4,up=ring", (0, 2), 20 * us + 2 * 100 * ns),
        ("nodes=2,gpus=4,up=ring", (0, 3), 20 * us + 100 * ns),
        ("nodes=2,gpus=4,up=full", (0, 2), 20 * us + 100 * ns),
        ("nodes=2,gpus=4,rails=1", (0, 7), 80 * us + 4 * us),
        ("nodes=4,gpus=2,out=(torus:4)", (0, 4), 80 * us + 4 * us),
        ("nodes=4,gpus=2,out=(fattree:2,2)", (0, 6), 80 * us + 4 * us),
    ] {
        let found = times(folder.path(), &format!("{cluster},{LEVELS}"), &[pair])[&pair];
        assert!(is(found, expected), "{cluster} {pair:?}: {found}, not {expected}");
    }
}

#[test]
fn rails_carry_as_much_more_as_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let us = 1_000_000;
    let pairs: Vec<(u32, u32)> = (0..4).map(|gpu| (gpu, 4 + gpu)).collect();
    for (rails, expected) in [(4, 80 * us + 2 * us), (2, 160 * us + 4 * us), (1, 320 * us + 4 * us)] {
        let found = times(folder.path(), &format!("nodes=2,gpus=4,rails={rails},{LEVELS}"), &pairs);
        assert!(found.values().all(|&time| is(time, expected)), "{rails}: {found:?}, not {expected}");
    }
}

#[test]
fn packets_cross_a_cluster_too() {
    let folder = tempfile::tempdir().unwrap();
    for network in ["vct", "wormhole"] {
        let vcs = "--vcs 6 --routing shortest";
        let line =
            format!("run --network {network} --topology cluster:nodes=3,gpus=2,up=ring {vcs} --load 0.1 --cycles 2000");
        assert!(json(folder.path(), &line)["digest"].is_string());
    }
    let line = format!(
        "run --network ethernet:forwarding=static --topology cluster:nodes=2,gpus=2,{LEVELS} --load 0.1 --cycles 20000000000"
    );
    assert!(json(folder.path(), &line)["digest"].is_string());
    let found = json(folder.path(), "topology cluster:nodes=16,gpus=8,out=(fattree:4,2)");
    // 128 GPUs and as many routers, 16 switches within nodes, 8 rails of 8 switches.
    assert_eq!((found["nodes"].as_u64(), found["switches"].as_u64()), (Some(128), Some(128 + 16 + 8 * 8)));
}

#[test]
fn a_network_of_a_file_joins_the_nodes() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("out.txt"), "a b rate 50Gb/s delay 3us\n").unwrap();
    let found = times(folder.path(), &format!("nodes=2,gpus=1,out=(graph:out.txt),{LEVELS}"), &[(0, 1)])[&(0, 1)];
    assert!(is(found, 160_000_000 + 5_000_000), "{found}");
}

#[test]
fn wrong_clusters_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (words, what, remedy) in [
        ("nodes=2", "lacks gpus=", "write it as in"),
        ("nodes=2,gpus=0", "gpus = 0", "use 1 to 4096"),
        ("nodes=2,gpus=4,rails=3", "do not share 3 rails evenly", "divides"),
        ("nodes=2,gpus=4,rail=4", "`rail` in", "did you mean `rails`"),
        ("nodes=2,gpus=4,gpus=4", "`gpus` stands twice", "give it once"),
        ("nodes=2,gpus=4,up=rings", "up=rings", "did you mean `ring`?"),
        ("nodes=2,gpus=4,up-rate=10Gb/s", "the rate of one level", "give both"),
        ("nodes=2,gpus=4,up-rate=10,out-rate=10Gb/s", "no data rate", "with its unit"),
        ("nodes=2,gpus=4,up-delay=soon", "is no delay", "300ns"),
        ("nodes=2,gpus=4,out=star:2", "not in parentheses", "write it as in"),
        ("nodes=4,gpus=4,out=(star:2)", "has 2 endpoints", "a larger network"),
        ("nodes=4,gpus=4,out=(stra:4)", "stra", "star"),
        ("nodes=200,gpus=32", "routers and switches", "use at most 4096"),
    ] {
        let output = run(folder.path(), &format!("topology cluster:{words}"));
        let text = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{words}: {text}");
        assert!(text.contains(what) && text.contains(remedy), "{words}: {text}");
    }
}
