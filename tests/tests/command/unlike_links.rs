//! Links of unlike rate from outside: files, bounds, the length of a cycle, refusals.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::run;

/// Two switches with two hosts each; every link has a rate.
const UPLINK: &str = "H0 west rate 40Gb/s\nH1 west rate 40Gb/s\nH2 east rate 40Gb/s\nH3 east rate 40Gb/s\n\
                      west -> east rate 10Gb/s delay 8ns\neast -> west rate 30Gb/s\n";

fn json(folder: &Path, line: &str) -> Value {
    let output = run(folder, &format!("{line} --format json"));
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The text of a refusal, with exit code 2.
fn refused(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{line}: {text}");
    // Lines of the terminal are joined.
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

#[test]
fn engines_agree_and_a_link_carries_its_rate() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("uplink.txt"), UPLINK).unwrap();
    let topology = json(folder.path(), "topology graph:uplink.txt");
    // Each of two nodes sends two thirds of its packets over a link of a quarter.
    let bound = topology["uniform_load_bound_phits_per_node_cycle"].as_f64().unwrap();
    assert!((bound - 0.25 * 3.0 / 4.0).abs() < 1e-9, "{bound}");
    for network in ["vct", "wormhole"] {
        let line =
            format!("run --topology graph:uplink.txt --network {network} --load 0.9 --cycles 40000 --link-loads -q");
        let results = ["fast", "reference"].map(|engine| json(folder.path(), &format!("{line} --engine {engine}")));
        assert_eq!(results[0]["digest"], results[1]["digest"], "{network}");
        // The switch in the west is the first after four hosts, and its third link leads to the east.
        let packets = results[0]["link_packets"][4][2].as_u64().unwrap() as f64;
        let rate = packets * 16.0 / 40_000.0;
        assert!((0.24..0.251).contains(&rate), "{network}: {rate}");
    }
}

#[test]
fn a_cycle_is_a_phit_on_the_fastest_link() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("uplink.txt"), UPLINK).unwrap();
    // A message of 16 phits of 4 bytes from west to east: 3 hops, 3 + 10 cycles more on the slow link, and 15 phits
    // of 4 cycles, of 0.8 ns each.
    fs::write(folder.path().join("one.csv"), "src,dst,bytes,start\n0,2,64,0\n").unwrap();
    let found = json(folder.path(), "run --topology graph:uplink.txt --flows one.csv -q");
    let cycles = 3 + 3 + 10 + 15 * 4;
    assert_eq!(found["latency_max_cycles"].as_u64(), Some(cycles));
    let [completion, seconds] = ["cycles", "seconds"].map(|unit| found[format!("completion_{unit}")].as_f64().unwrap());
    assert!((seconds - completion * 0.8e-9).abs() < 1e-15, "{seconds}");
    let text = refused(folder.path(), "run --topology graph:uplink.txt --flows one.csv --bandwidth 10Gb/s");
    assert!(text.contains("--bandwidth has no meaning") && text.contains("have rates of their own"), "{text}");
}

#[test]
fn rates_without_a_ratio_are_refused_at_their_place() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("odd.txt"), UPLINK.replace("rate 10Gb/s", "rate 9.9Gb/s")).unwrap();
    for network in ["vct", "wormhole"] {
        let text = refused(folder.path(), &format!("run --topology graph:odd.txt --network {network}"));
        for part in ["odd.txt: line 5, column", "rate=9.9Gb/s of a link: it is 0.2475 of the fastest rate, 40Gb/s"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(text.contains("the nearest is 15/61"), "{text}");
    }
    // Links without a rate have the bandwidth.
    fs::write(folder.path().join("some.txt"), "H0 a\nH1 b\na b rate 1Tb/s\n").unwrap();
    let text = refused(folder.path(), "run --topology graph:some.txt");
    assert!(text.contains("--bandwidth 10Gb/s of links without a rate: it is 0.0100 of the fastest rate"), "{text}");
    let output = run(folder.path(), "run --topology graph:some.txt --bandwidth 500Gb/s --cycles 1000 -q");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
