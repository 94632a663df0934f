//! Every network model under every command: a row of the table is all that a model needs.

use std::fs;
use std::path::Path;
use std::process::Output;

use fsin::family::ModelFamily;
use fsin::models::MODELS;
use serde_json::Value;
use tests::command::{results, run, serve};

/// Two ranks that exchange a message, and compute between.
const GRAPH: &str = "num_ranks 2
rank 0 {
s: send 100b to 1 tag 1
r: recv 50b from 1 tag 2
r requires s
}
rank 1 {
r: recv 100b from 0 tag 1
c: calc 1000
s: send 50b to 0 tag 2
c requires r
s requires c
}
";

/// A program of two tasks, as SimGrid writes it.
const PROGRAM: [(&str, &str); 2] = [
    ("0.ti", "0 init\n0 send 1 0 100 6\n0 recv 1 1 50 6\n0 finalize\n"),
    ("1.ti", "1 init\n1 recv 0 0 100 6\n1 compute 10000\n1 send 0 1 50 6\n1 finalize\n"),
];

/// Models between whose nodes single messages travel.
fn networks() -> impl Iterator<Item = &'static str> {
    MODELS.rows().iter().map(|model| model.component.name).filter(|&name| name != "loggops")
}

/// \[cycles\] Two lengths of a run, a short one and a longer one: local area networks count picoseconds.
fn lengths(name: &str) -> [u64; 2] {
    if matches!(name, "ethernet" | "myrinet" | "flow") { [1_000_000_000, 20_000_000_000] } else { [2000, 5000] }
}

fn json(folder: &Path, line: &str) -> Value {
    let output = run(folder, &format!("{line} --format json"));
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON was asked for")
}

fn refused(folder: &Path, line: &str) -> String {
    let Output { status, stderr, .. } = run(folder, line);
    assert_eq!(status.code(), Some(2), "{line}");
    String::from_utf8(stderr).expect("errors are text")
}

#[test]
fn every_model_carries_every_workload() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("pair.goal"), GRAPH).unwrap();
    fs::create_dir(folder.join("pair")).unwrap();
    for (name, text) in PROGRAM {
        fs::write(folder.join("pair").join(name), text).unwrap();
    }
    fs::write(folder.join("pair.txt"), "pair/0.ti\npair/1.ti\n").unwrap();
    for name in networks() {
        let network = format!("--network {name} --topology torus:4x4");
        let [_, cycles] = lengths(name);
        let loaded = json(folder, &format!("run {network} --load 0.02 --cycles {cycles}"));
        let [asked, accepted] = ["offered_load_phits_per_node_cycle", "accepted_load_phits_per_node_cycle"]
            .map(|figure| loaded[figure].as_f64().unwrap());
        assert!((accepted - asked).abs() < 0.01, "{name} accepts {accepted} of {asked}");
        // Messages that do not fill their packets: load counts what is sent.
        for size in ["5", "100"] {
            let line = format!("run {network} --load 0.02 --cycles {} --size constant({size})", cycles.max(100_000));
            let figures = json(folder, &line);
            let [asked, accepted] = ["offered_load_phits_per_node_cycle", "accepted_load_phits_per_node_cycle"]
                .map(|figure| figures[figure].as_f64().unwrap());
            assert!((accepted - asked).abs() < 0.006, "{line}: accepts {accepted} of {asked}");
        }
        let kernel = json(folder, &format!("run {network} --kernel all-to-all:tasks=16,bytes=200"));
        assert_eq!((&kernel["complete"], &kernel["messages"]), (&Value::from(true), &Value::from(240)), "{name}");
        for (trace, messages) in [("pair.goal", 2), ("pair.txt", 2)] {
            let traced = json(folder, &format!("run {network} --trace {trace}"));
            assert_eq!(
                (&traced["complete"], &traced["messages"]),
                (&Value::from(true), &Value::from(messages)),
                "{name}"
            );
            assert!(traced["completion_seconds"].as_f64().unwrap() > 1e-6, "{name} {trace}: computing takes 1 or 2 us");
        }
        // Reactions, shots, and the same bits again.
        let shot = json(folder, &format!("run {network} --shot 3 --samples 4"));
        assert_eq!(shot["complete"], true, "{name}");
        let again = json(folder, &format!("run {network} --load 0.02 --cycles {cycles}"));
        assert_eq!(loaded["digest"], again["digest"], "{name}");
    }
    let ideal = json(folder, "run --network loggops:L=1000,G=2 --trace pair.goal");
    assert_eq!((&ideal["network_latency_ns"], &ideal["complete"]), (&Value::from(1000), &Value::from(true)));
}

#[test]
fn every_model_is_swept_searched_and_served() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("ask"), "node 0: send 1 64\nnode 1: receive\nnode 1: send 0 32\nnode 0: receive\n").unwrap();
    for name in networks() {
        let network = format!("--network {name} --topology torus:4x4");
        let [cycles, _] = lengths(name);
        let line = format!("sweep {network} --load 0.01,0.02 --cycles {cycles} -o {name} --quiet");
        assert!(run(folder, &line).status.success(), "{line}");
        let points = fs::read_to_string(folder.join(name).join("results.csv")).unwrap();
        assert_eq!(points.lines().count(), 3, "{name}: a heading and two points");
        if !matches!(name, "zero" | "constant-delay") {
            let length = format!("--samples 3 --sample-size {cycles} --warmup {cycles} --lengthen 2 --tolerance 0.1");
            let line = format!("saturation {network} {length} --quiet");
            let found = run(folder, &line);
            assert!(found.status.success(), "{name}: {}", String::from_utf8_lossy(&found.stderr));
        }
        let (server, address) = serve(folder, &format!("{network} --guests 2"));
        let guests = run(folder, &format!("guest ask --connect {address} --node 0..1"));
        assert!(guests.status.success(), "{name}: {}", String::from_utf8_lossy(&guests.stderr));
        let results = results(server);
        assert_eq!(
            (&results["complete"], &results["messages_delivered"]),
            (&Value::from(true), &Value::from(2)),
            "{name}"
        );
    }
}

/// All figures of the detailed router but its costs are the same on any number of threads, stalls and stages included.
#[test]
fn threads_do_not_show_in_the_detailed_router() {
    let folder = tempfile::tempdir().unwrap();
    for line in [
        "--topology torus:8x8 --load 0.3 --cycles 3000",
        "--topology torus:8x8 --kernel all-to-all:tasks=64,bytes=100",
        "--topology dragonfly:p=2,a=4,h=2 --routing ugal --vcs 3 --load 0.2 --samples 3 --sample-size 1000",
    ] {
        let figures = |threads: u32| {
            let line = format!("run --network wormhole {line} --threads {threads}");
            let mut figures = json(folder.path(), &line);
            let fields = figures.as_object_mut().unwrap();
            let costs = ["cpu_seconds", "wall_seconds", "cycles_per_second", "peak_memory_bytes"];
            fields.retain(|name, _| !costs.contains(&name.as_str()) && name != "experiment" && name != "manifest");
            figures
        };
        let expected = figures(1);
        assert!(expected["digest"].as_str().is_some_and(|digest| !digest.is_empty()), "{expected}");
        for threads in [2, 3] {
            assert_eq!(expected, figures(threads), "{line}");
        }
    }
}

/// Short runs with packets of 1 to 64 flits at a tenth of the saturation load: what is on its way by chance is no queue.
#[test]
fn short_runs_with_mixed_lengths_are_not_saturated() {
    let folder = tempfile::tempdir().unwrap();
    let line = "sweep --network wormhole --topology torus:8x8 --packet 64 --buffer 16 --size uniform(1,256) --load 0.05 \
                --seed 1..40 --samples 3 --sample-size 200 -o short --quiet";
    let swept = run(folder.path(), line);
    assert!(swept.status.success(), "{}", String::from_utf8_lossy(&swept.stderr));
    let table = fs::read_to_string(folder.path().join("short/results.csv")).unwrap();
    let (heading, rows) = table.split_once('\n').unwrap();
    let column = heading.split(',').position(|name| name == "saturated").unwrap();
    let saturated = rows.lines().filter(|row| row.split(',').nth(column) == Some("true")).count();
    assert_eq!(rows.lines().count(), 40, "{table}");
    // Two were found when this was written: decision 0137 leaves some runs that short to chance.
    assert!(saturated <= 2, "{saturated} of 40");
}

#[test]
fn models_in_one_sweep_are_curves() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line =
        "sweep --topology torus:4x4 --network vct --network wormhole --load 0.1,0.2 --cycles 3000 -o both --quiet";
    let swept = run(folder, line);
    assert!(swept.status.success(), "{}", String::from_utf8_lossy(&swept.stderr));
    let table = fs::read_to_string(folder.join("both/results.csv")).unwrap();
    for name in ["vct", "wormhole"] {
        assert_eq!(table.lines().filter(|line| line.contains(name)).count(), 2, "{table}");
    }
    let drawn = run(folder, "plot both -o pictures");
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    let picture = fs::read_to_string(folder.join("pictures/latency.svg")).unwrap();
    assert!(picture.contains("wormhole") && picture.contains("vct"), "both curves are named");
}

#[test]
fn two_sweeps_are_compared_in_one_picture() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["vct", "wormhole"] {
        let line =
            format!("sweep --topology torus:4x4 --network {name} --load 0.1,0.2 --cycles 2000 -o {name} --quiet");
        assert!(run(folder, &line).status.success(), "{line}");
    }
    let compared = run(folder, "compare vct wormhole --plots both --quiet");
    assert!(compared.status.success(), "{}", String::from_utf8_lossy(&compared.stderr));
    let picture = fs::read_to_string(folder.join("both/latency.svg")).unwrap();
    assert!(picture.contains("wormhole") && picture.contains("vct"), "both curves are named");
}

#[test]
fn settings_are_those_of_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let help = String::from_utf8(run(folder, "run --help").stdout).unwrap();
    let keys = MODELS.rows().iter().flat_map(|model| model.keys.iter().map(move |key| (model, key)));
    for (model, key) in keys {
        let ModelFamily { component, .. } = model;
        assert!(help.contains(&format!("--{} ", key.name)), "{}", key.name);
        let explained = String::from_utf8(run(folder, &format!("explain networks/{}", component.name)).stdout).unwrap();
        assert!(explained.contains(&format!("  {}", key.name)), "{explained}");
    }
    // A parameter of the name is the setting of that name, and gives the same bits.
    let one = json(folder, "run --network bus:arbitration=3,nodes=6 --load 0.05 --cycles 2000");
    let other = json(folder, "run --network bus --bus-arbitration 3 --nodes 6 --load 0.05 --cycles 2000");
    assert_eq!(one["digest"], other["digest"]);
    let slower = json(folder, "run --network bus --nodes 6 --load 0.05 --cycles 2000");
    assert_ne!(one["digest"], slower["digest"]);

    for (line, words) in [
        ("run --network bos", "did you mean `bus`?"),
        ("run --network bus --vcs 2", "--vcs has no meaning with --network bus"),
        ("run --bus-arbitration 2", "or use --network bus"),
        ("run --network bus:speed=3", "`speed` is no setting of bus"),
        ("run --network bus:arbitration", "`arbitration` has no value"),
        ("run --network bus:arbitration=1,arbitration=2", "stands twice"),
        ("run --network bus:arbitration=1 --bus-arbitration 2", "give it once"),
        ("run --network bus:nodes=0", "use 1 to 1048576"),
        ("run --network bus:nodes=4 --topology torus:4x4", "exclude each other"),
        ("run --network constant-delay:delay=1.5ns", "not a whole number of ns"),
        ("run --network constant-delay:delay=soon", "takes a time"),
        ("run --network loggops --load 0.1", "no meaning with --network loggops"),
        ("run --network wormhole:buffer=0", "--buffer 0 is out of range"),
        ("run --network wormhole --topology torus:4x4 --vcs 1", "use --vcs 2 or more"),
        ("run --network wormhole --routing nosuch", "known: dor"),
        ("run --network myrinet:slack=75 --topology fattree:8,1", "use --slack 76 or more"),
        ("run --network myrinet:high=30 --topology fattree:8,1", "--low-mark 40 is out of range"),
        ("run --network myrinet --topology torus:5 --routing shortest", "may wait for each other in a cycle"),
        ("serve --network loggops", "takes a trace"),
    ] {
        let found = refused(folder, line);
        assert!(found.contains(words), "{line}: {found}");
    }
}
