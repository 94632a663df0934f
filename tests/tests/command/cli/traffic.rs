//! Traffic: as a list, in shots, in sums and phases, and as background.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Map, Value};
use tests::command::{fsin, run};
use trgen::TaskId;
use trgen::trace::matrix::Matrix;
use trgen::trace::program::{Event, Program, Send, Tag};

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
    let sizes = "--topology torus:4x4 --traffic tornado+2:shift(1) --size bimodal(2,9,0.5) --load 1";
    // Virtual cut-through sends whole packets.
    assert!(listed(sizes).iter().all(|row| row[3] == 16));
    let sizes = listed(&format!("{sizes} --network wormhole"));
    assert!(sizes.iter().all(|row| row[0] <= 1000 && (row[3] == 2 || row[3] == 9)));
    assert!(sizes.iter().any(|row| row[0] > 900));
    // Finite traffic is listed to its end: shots, and the messages of an application.
    assert_eq!(listed("--topology torus:4x4 --shot 3 --samples 5").len(), 16 * 3 * 5);
    let tree = listed("--topology torus:4x4 --kernel bintree:bytes=100");
    assert_eq!(tree.len(), 15);
    // 25 phits, in packets of 16.
    assert!(tree.iter().all(|row| row[3] == 32));
    let folder = folder();
    let lines = text(&run(folder.path(), "traffic --topology torus:4x4 --cycles 100 --format jsonl"));
    for line in lines.lines() {
        let object: Map<String, Value> = serde_json::from_str(line).unwrap();
        assert!(["cycle", "source", "destination", "phits"].into_iter().eq(object.keys()));
    }
}

/// What a network that sends whole packets does with smaller messages is said, and listed as the run sends it.
#[test]
fn sizes_below_a_packet_are_noted() {
    let folder = folder();
    let digest = |size: &str| {
        let found = json(folder.path(), &format!("run --topology mesh:4x4 --packet 5 --size {size} --cycles 500 -q"));
        (found["digest"].clone(), found["notes"].to_string().contains("whole packets of 5 phits"))
    };
    let (whole, is_noted) = digest("constant(5)");
    assert!(!is_noted);
    for size in ["bimodal(1,5,0.5)", "constant(1)"] {
        assert_eq!(digest(size), (whole.clone(), true), "{size}");
        assert!(
            listed(&format!("--topology mesh:4x4 --packet 5 --size {size}")).iter().all(|row| row[3] == 5),
            "{size}"
        );
    }
    let found =
        json(folder.path(), "run --network wormhole --topology mesh:4x4 --packet 5 --size constant(1) --cycles 500 -q");
    assert_eq!(found["notes"], Value::Array(Vec::new()));
}

/// Rates of pairs are offered as the file states them, and sums of lines of weights are said to play no part.
#[test]
fn rates_of_pairs_are_what_the_file_states() {
    let folder = folder();
    let matrix = "0 0.05 0 0\n0 0 0 0\n0 0 0 0.2\n0 0 0 0\n";
    fs::write(folder.path().join("rates.txt"), matrix).unwrap();
    fs::write(folder.path().join("rates.csv"), "# a table\nsource,destination,rate\n2,3,0.2\n0,1,0.05\n").unwrap();
    let line = |traffic: &str| format!("run --topology mesh:2x2 --packet 1 --cycles 100000 --traffic {traffic} -q");
    let [dense, sparse] = ["rates(rates.txt)", "rates(rates.csv)"].map(|traffic| json(folder.path(), &line(traffic)));
    assert_eq!(dense["digest"], sparse["digest"]);
    let offered = |found: &Map<String, Value>| found["offered_load_phits_per_node_cycle"].as_f64().unwrap();
    assert!((offered(&dense) - 0.0625).abs() < 1e-12);
    let accepted = dense["accepted_load_phits_per_node_cycle"].as_f64().unwrap();
    assert!((accepted / 0.0625 - 1.0).abs() < 0.03, "{accepted}");
    assert!(dense["experiment"].get("load").is_none());
    let rows = text(&run(folder.path(), &line("rates(rates.txt)").replace("run", "traffic").replace("-q", "--quiet")));
    let count = |pair: &str| rows.lines().filter(|row| row.contains(pair)).count() as f64 / 100_000.0;
    assert!((count(",0,1,") / 0.05 - 1.0).abs() < 0.05 && (count(",2,3,") / 0.2 - 1.0).abs() < 0.05);
    for wrong in ["--load 0.1", "--temporal shot(3)"] {
        assert_eq!(
            run(folder.path(), &format!("{} {wrong}", line("rates(rates.txt)"))).status.code(),
            Some(2),
            "{wrong}"
        );
    }
    for wrong in ["map(block:2,rates(rates.txt))", "2:rates(rates.txt)+uniform", "source(rates(rates.txt),load=0.1)"] {
        assert_eq!(run(folder.path(), &line(wrong)).status.code(), Some(2), "{wrong}");
    }
    let weights = json(folder.path(), &format!("{} --load 0.1", line("matrix(rates.txt)")));
    assert!(weights["notes"].to_string().contains("sums of lines of"), "{}", weights["notes"]);
    let ethernet = json(
        folder.path(),
        "run --network ethernet --topology mesh:2x2 --traffic rates(rates.txt) --cycles 2000000000 -q",
    );
    assert!((offered(&ethernet) - 0.0625).abs() < 1e-12);
}

/// The matrix that `trace-prep` writes is one that `matrix(FILE)` reads.
#[test]
fn our_own_matrix_is_readable() {
    let folder = folder();
    let mut program = Program::new(4);
    for (to, bytes) in [(1, 64), (2, 192)] {
        program.tasks[0].push(Event::Send(Send { to: TaskId(to), tag: Tag::user(0), bytes }));
    }
    let mut table = Vec::new();
    trace_prep::matrix::csv(&Matrix::of_program(&program), &mut table).unwrap();
    fs::write(folder.path().join("m.csv"), table).unwrap();
    let line = "--topology mesh:2x2 --cycles 20000 --traffic matrix(m.csv) --load 0.5";
    let rows = text(&run(folder.path(), &format!("traffic {line} --quiet")));
    let count = |pair: &str| rows.lines().filter(|row| row.contains(pair)).count() as f64;
    assert!((count(",0,2,") / count(",0,1,") - 3.0).abs() < 0.6, "by bytes: {} {}", count(",0,1,"), count(",0,2,"));
    done(&run(folder.path(), &format!("run {line} -q")));
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
