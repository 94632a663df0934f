//! Traffic: as a list, in shots, in sums and phases, and as background.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Map, Value};
use tests::command::{fsin, run};

use super::{QUICK, done, figures, folder, json, text};

/// Cycles, sources, destinations and phits that `fsin traffic` lists.
fn listed(line: &str) -> Vec<[u64; 4]> {
    let folder = folder();
    let listed = text(&run(folder.path(), &format!("traffic {line}")));
    let mut lines = listed.lines();
    assert_eq!(lines.next(), Some("cycle,source,destination,phits"));
    let row = |line: &str| -> [u64; 4] {
        let cells: Vec<u64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        cells.try_into().unwrap()
    };
    lines.map(row).collect()
}

#[test]
fn traffic_is_listed_without_a_network() {
    let line = "--topology torus:4x4 --load 0.5 --cycles 20000";
    let all = listed(line);
    assert!(all.is_sorted_by_key(|row| row[0]) && all.iter().all(|row| (1..=20_000).contains(&row[0])));
    assert!(all.iter().all(|row| row[1] != row[2] && row[1] < 16 && row[2] < 16 && row[3] == 16));
    let load = all.iter().map(|row| row[3]).sum::<u64>() as f64 / 16.0 / 20_000.0;
    assert!((load / 0.5 - 1.0).abs() < 0.05, "{load}");
    assert_eq!(all, listed(line), "the same again");
    assert_ne!(all, listed(&format!("{line} --seed 2")));
    // The default of --cycles is 1000; the syntax is that of a run.
    let sizes = listed("--topology torus:4x4 --traffic tornado+2:shift(1) --size bimodal(2,9,0.5) --load 1");
    assert!(sizes.iter().all(|row| row[0] <= 1000 && (row[3] == 2 || row[3] == 9)));
    assert!(sizes.iter().any(|row| row[0] > 900));
    // Finite traffic is listed to its end: shots, and the messages of an application.
    assert_eq!(listed("--topology torus:4x4 --shot 3 --samples 5").len(), 16 * 3 * 5);
    let tree = listed("--topology torus:4x4 --kernel bintree:bytes=100");
    assert_eq!(tree.len(), 15);
    assert!(tree.iter().all(|row| row[3] == 25));
    let folder = folder();
    let lines = text(&run(folder.path(), "traffic --topology torus:4x4 --cycles 100 --format jsonl"));
    for line in lines.lines() {
        let object: Map<String, Value> = serde_json::from_str(line).unwrap();
        assert!(["cycle", "source", "destination", "phits"].into_iter().eq(object.keys()));
    }
}

#[test]
fn shots_are_reported_one_by_one() {
    let folder = folder();
    let shots = json(folder.path(), "run --topology torus:4x4 --shot 10 --samples 7");
    let rows = shots["shots"].as_array().unwrap();
    assert_eq!(rows.len(), 7);
    let mut start = 1;
    let mut cycles = Vec::new();
    for row in rows {
        assert_eq!((row["start_cycle"].as_u64(), row["messages"].as_u64()), (Some(start), Some(160)));
        cycles.push(row["cycles"].as_u64().unwrap());
        start += cycles.last().unwrap();
    }
    let mean = cycles.iter().sum::<u64>() as f64 / 7.0;
    assert!((shots["shot_cycles_mean"].as_f64().unwrap() - mean).abs() < 1e-9);
    let variance = cycles.iter().map(|&c| (c as f64 - mean).powi(2)).sum::<f64>() / 6.0;
    // Student's t for 6 degrees of freedom: 2.446912.
    let half_width = 2.446_912 * (variance / 7.0).sqrt();
    assert!((shots["shot_cycles_ci95"].as_f64().unwrap() / half_width - 1.0).abs() < 1e-6);
    assert_eq!(shots["packets_received"], 1120);
    assert_eq!(shots["complete"], true);
    // A shot of 10 packets of 16 phits takes at least as many cycles as phits.
    assert!(cycles.iter().all(|&cycles| cycles > 160), "{cycles:?}");
    // The same in equivalent words, on the other engine, and from a file.
    let other = json(folder.path(), "run --topology torus:4x4 --temporal shot(10) --samples 7 --engine reference");
    assert_eq!((&other["shots"], &other["digest"]), (&shots["shots"], &shots["digest"]));
    fs::write(folder.path().join("e.toml"), "topology = 'torus:4x4'\nshot = 10\nsamples = 7\nload = 0.1\n").unwrap();
    assert_eq!(json(folder.path(), "run e.toml")["shots"], shots["shots"]);
    let resolved = text(&run(folder.path(), "config --topology torus:4x4 --shot 10 --samples 7"));
    assert!(resolved.contains("shot = 10") && !resolved.contains("load =") && !resolved.contains("warmup ="));
    fs::write(folder.path().join("r.toml"), resolved).unwrap();
    assert_eq!(json(folder.path(), "run r.toml")["digest"], shots["digest"]);
    // Other traffic has no shots.
    let steady = json(folder.path(), QUICK);
    assert!(["shots", "shot_cycles_mean", "shot_cycles_ci95"].into_iter().all(|name| steady[name].is_null()));
}

#[test]
fn sums_phases_and_reactions_run_with_the_load_asked_for() {
    let folder = folder();
    for (traffic, temporal) in [
        ("uniform+transpose", "bernoulli"),
        ("3:uniform+1:hotspot(0.1,0)", "cburst(4)"),
        ("uniform@1000 then tornado@1000", "poisson"),
        ("mix(0.9:uniform,0.1:zipf(1,distance))", "markov(2,0.05)"),
        ("local-gauss(2)", "reactive(0.5,1)"),
    ] {
        let mut digests = BTreeSet::new();
        for engine in ["fast", "reference"] {
            let words = ["run", "--topology", "torus:5x5", "--load", "0.2", "--cycles", "20000", "--format", "json"];
            let words = words.into_iter().chain(["--traffic", traffic, "--temporal", temporal, "--engine", engine]);
            // 25 nodes are not a power of two.
            let words =
                words.map(|word| if traffic.contains("transpose") { word.replace("5x5", "4x4") } else { word.into() });
            let output = fsin(folder.path()).args(words).output().unwrap();
            done(&output);
            let figures = figures(&output);
            let accepted = figures["accepted_load_phits_per_node_cycle"].as_f64().unwrap();
            let silent = if traffic.contains("transpose") { 0.1 * 4.0 / 16.0 } else { 0.0 };
            assert!((accepted / (0.2 - silent) - 1.0).abs() < 0.06, "{traffic}, {temporal}: {accepted}");
            digests.insert(figures["digest"].as_str().unwrap().to_owned());
        }
        assert_eq!(digests.len(), 1, "{traffic}, {temporal}");
    }
}

#[test]
fn traffic_beside_an_application_slows_it_down_and_ends_with_it() {
    let folder = folder();
    let figures = |words: &str| {
        json(
            folder.path(),
            &format!("run --topology torus:8x8 --kernel all-to-all:tasks=32,bytes=4096 --placement random {words}"),
        )
    };
    let alone = figures("");
    let nothing = figures("--temporal background(0)");
    for name in ["completion_cycles", "messages", "digest"] {
        assert_eq!(alone[name], nothing[name], "{name}");
    }
    let beside = figures("--temporal background(0.5)");
    assert!(beside["completion_cycles"].as_u64() > alone["completion_cycles"].as_u64());
    assert_eq!(beside["messages"], alone["messages"]);
    assert!(beside["packets_received"].as_u64() > alone["packets_received"].as_u64());
    assert_eq!((&beside["complete"], &beside["packets_in_flight"]), (&Value::Bool(true), &0.into()));
    let reference = figures("--temporal background(0.5) --engine reference");
    assert_eq!(reference["digest"], beside["digest"]);
}
