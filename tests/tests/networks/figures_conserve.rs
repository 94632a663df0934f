//! The figures of a run mean the same in every model and with every setting: what is generated is received, dropped or
//! in flight, and figures that follow from others do so. Kind L7: a figure's meaning depends on a setting.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::run;

#[track_caller]
fn json(folder: &Path, line: &str) -> Value {
    let output = run(folder, &format!("{line} -q --format json"));
    assert_eq!(output.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Models with settings that change what happens to packets.
const NETWORKS: [&str; 22] = [
    "--topology torus:4x3",
    "--topology torus:4x3 --packet 5 --injectors 2 --consumption single",
    "--topology mesh:5x2 --link-delay 40 --router-delay 3",
    "--topology torus:4x4 --source throttled --injection-queue 1",
    "--topology torus:4x4 --global-cc 2",
    "--topology fattree:3,2 --routing graph:updown",
    "--network wormhole --topology mesh:4x3",
    "--network wormhole --topology torus:3x3 --preset booksim --size uniform(1,40)",
    "--network ethernet --topology star:8 --link-rate 10Gb/s",
    "--network ethernet:recovery=window,completion=acked --topology star:8 --link-rate 10Gb/s",
    "--network ethernet:recovery=window,per=0.01 --topology star:5 --link-rate 10Gb/s",
    "--network ethernet:recovery=none,port-queue=2 --topology fattree:2,2 --link-rate 10Gb/s --traffic hotspot(0.5,0)",
    "--network ethernet:forwarding=static,switching=cut-through --topology fattree:3,2 --link-rate 10Gb/s",
    "--network ethernet:pause=true,xoff=20,xon=10 --topology star:4 --link-rate 10Gb/s --traffic hotspot(0.5,0)",
    "--network myrinet --topology star:5",
    "--network myrinet --topology mesh:3x2 --packet-timeout 60us --traffic hotspot(0.8,0)",
    "--network flow --topology torus:3x3",
    "--network flow --topology fattree:3,2 --flow-preset simgrid-lv08 --propagation 1us",
    "--network constant-delay:delay=300ns,nodes=6",
    "--network constant-delay:delay=300ns,rate=8Gb/s,nodes=6",
    "--network zero --topology torus:3x3",
    "--network bus --topology torus:3x3",
];

/// \[cycles\] A length in which some hundred packets are sent.
fn cycles(network: &str) -> u64 {
    match () {
        () if network.contains("myrinet") => 2_000_000_000,
        () if network.contains("ethernet") || network.contains("flow") => 100_000_000,
        () => 3000,
    }
}

#[test]
fn l7_packets_are_conserved_in_every_model() {
    let folder = tempfile::tempdir().unwrap();
    for network in NETWORKS {
        for load in ["0.05", "0.9"] {
            let long = cycles(network);
            for plan in [
                format!("--cycles {long}"),
                format!("--warmup {long} --max-conv-time 0 --samples 3 --sample-size {}", long / 3),
                // Ends while much is on its way.
                format!("--cycles {}", long / 37),
            ] {
                let line = format!("run {network} --load {load} {plan} --seed 3");
                let run = json(folder.path(), &line);
                check(&run, &line);
            }
        }
    }
}

/// Figures that follow from others.
#[track_caller]
fn check(run: &Value, line: &str) {
    let count = |name: &str| run[name].as_u64().unwrap_or_else(|| panic!("{line}: {name}: {}", run[name]));
    let number = |name: &str| run[name].as_f64();
    let gone = count("packets_received") + count("packets_dropped");
    assert_eq!(count("packets_generated"), gone + count("packets_in_flight"), "{line}");
    assert!(count("packets_injected") <= count("packets_generated"), "{line}");
    assert!(count("packets_received") <= count("packets_injected"), "{line}");
    let measured = count("measured_cycles");
    let batches = run["samples"].as_array().unwrap();
    assert_eq!(batches.iter().map(|batch| batch["cycles"].as_u64().unwrap()).sum::<u64>(), measured, "{line}");
    // Loads of the whole are means of those of batches, by their lengths.
    for figure in
        ["generated_load", "injected_load", "accepted_load"].map(|name| format!("{name}_phits_per_node_cycle"))
    {
        let of_batch = |batch: &Value| batch[&figure].as_f64().unwrap() * batch["cycles"].as_f64().unwrap();
        let mean = batches.iter().map(of_batch).sum::<f64>() / measured as f64;
        let whole = number(&figure).unwrap();
        assert!((mean - whole).abs() <= 1e-9 * whole.max(1.0), "{line}: {figure}: {mean}, {whole}");
    }
    let received: u64 = batches.iter().map(|batch| batch["packets_received"].as_u64().unwrap()).sum();
    match number("latency_mean_cycles") {
        None => assert_eq!(received, 0, "{line}"),
        Some(mean) => {
            assert!(received > 0, "{line}");
            let of_batch = |batch: &Value| {
                batch["latency_mean_cycles"].as_f64().unwrap_or(0.0) * batch["packets_received"].as_f64().unwrap()
            };
            let sum: f64 = batches.iter().map(of_batch).sum();
            assert!((sum / received as f64 - mean).abs() < 1e-6 * mean.max(1.0), "{line}: {mean}");
            let most = number("latency_max_cycles").unwrap();
            let percentiles =
                ["p50", "p90", "p99", "p999"].map(|name| number(&format!("latency_{name}_cycles")).unwrap());
            assert!(percentiles.is_sorted() && percentiles[3] <= most && mean <= most, "{line}");
        }
    }
}

/// The figure of a model.
fn of_model(run: &Value, name: &str) -> f64 {
    let figures = run["model_figures"].as_array().unwrap();
    figures.iter().find(|figure| figure["name"] == name).unwrap()["value"].as_f64().unwrap()
}

#[test]
fn l7_an_acknowledged_frame_is_in_flight_once() {
    let line =
        "run --network ethernet:recovery=window,completion=acked --topology star:8 --load 0.3 --cycles 100000000";
    let run = json(Path::new("."), line);
    let counts = ["generated", "received", "dropped", "in_flight"].map(|name| run[format!("packets_{name}")].as_u64());
    assert_eq!(counts, [19, 12, 0, 7].map(Some));
}

#[test]
fn l7_a_message_that_begins_at_a_beat_waits_for_no_other() {
    let folder = tempfile::tempdir().unwrap();
    for (start, arrives) in [("10us", 16_399.0), ("10.003us", 16_399.0), ("9.999us", 16_392.0), ("20us", 26_399.0)] {
        fs::write(folder.path().join("beat.csv"), format!("src,dst,bytes,start\n0,1,1000,{start}\n")).unwrap();
        let [fast, reference] = ["fast", "reference"].map(|engine| {
            let line = format!(
                "run --network myrinet --topology star:2 --flows beat.csv --beat 10us --message-stats --engine {engine}"
            );
            json(folder.path(), &line)
        });
        assert_eq!(fast["digest"], reference["digest"], "{start}");
        assert_eq!(fast["completion_cycles"], reference["completion_cycles"], "{start}");
        let at = fast["completion_cycles"].as_f64().unwrap() / 1000.0;
        assert!((at - arrives).abs() < 8.0, "{start}: {at}");
    }
}

#[test]
fn l7_flit_hops_are_those_of_the_measured_time() {
    // Without load each flit makes a hop at each router on its way: the links between routers, and one.
    let line =
        "run --network wormhole --topology mesh:4x4 --load 0.05 --max-conv-time 0 --samples 5 --sample-size 20000";
    for warmup in [1000, 100_000] {
        let run = json(Path::new("."), &format!("{line} --warmup {warmup}"));
        let phits = run["accepted_load_phits_per_node_cycle"].as_f64().unwrap() * 16.0 * 100_000.0;
        let expected = phits * (run["hops_mean"].as_f64().unwrap() + 1.0);
        let hops = of_model(&run, "flit_hops");
        assert!((hops / expected - 1.0).abs() < 0.01, "{warmup}: {hops}, {expected}");
    }
}

#[test]
fn l7_the_default_lengths_are_in_the_scale_of_the_network() {
    let lengths = |line: &str| {
        let output = run(Path::new("."), &format!("config --resolved {line}"));
        let text = String::from_utf8(output.stdout).unwrap();
        let of = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(&format!("{name} ="))).unwrap();
            line.split(" = ").nth(1).unwrap().parse::<u64>().unwrap()
        };
        (of("warmup"), of("sample-size"))
    };
    assert_eq!(lengths("--topology torus:8x8"), (5000, 2000));
    assert_eq!(lengths("--network ethernet --topology star:4"), (5_000_000_000, 2_000_000_000));
    // A frame takes 12 ms.
    let (warmup, size) = lengths("--network ethernet --topology star:4 --link-rate 1Mb/s");
    assert!(size >= 12 * 12_000_000_000 && warmup >= 2 * size, "{warmup} {size}");
    let (warmup, size) = lengths("--network constant-delay:delay=1ms,nodes=4");
    assert_eq!((warmup, size), (2_500_000, 1_000_000));
    // What is written is read again.
    let folder = tempfile::tempdir().unwrap();
    let file = run(Path::new("."), "config --resolved --topology torus:8x8 --link-delay 3001").stdout;
    fs::write(folder.path().join("a.toml"), &file).unwrap();
    assert_eq!(run(folder.path(), "config --resolved a.toml").stdout, file);
}

#[test]
fn l7_defaults_that_are_shown_are_those_of_the_model() {
    let text = |line: &str| String::from_utf8(run(Path::new("."), line).stdout).unwrap();
    for (model, default) in [("flow", "[0ns]"), ("ethernet", "[500ns]")] {
        for line in [format!("run --network {model} --help"), format!("explain networks/{model}")] {
            let shown = text(&line);
            let found =
                shown.lines().find(|line| line.contains("propagation") && line.contains("delay of links")).unwrap();
            assert!(found.trim_end().ends_with(default), "{line}: {found}");
        }
    }
    assert!(text("explain networks/myrinet").contains("[1.28Gb/s]"));
    assert!(text("explain networks/ethernet").contains("[5000000000]"));
}

#[test]
fn l7_settings_without_effect_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (line, key) in [
        ("--topology torus:4x4 --routing updown --order dir", "order"),
        ("--topology mesh:4x4 --routing shortest --vcs 6 --order dir", "order"),
        ("--topology spinnaker:5x4 --order long", "order"),
        // It has no longest dimension: packets used to stay for ever.
        ("--topology spinnaker:4x5 --order long", "order"),
        ("--topology circulant:12:1,5 --order long", "order"),
        ("--network flow --topology star:4 --latency-factor 2", "latency-factor"),
    ] {
        let output = run(folder.path(), &format!("run {line} --cycles 300 -q"));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {text}");
        assert!(text.contains(&format!("--{key}")) && text.contains("has no meaning"), "{line}: {text}");
    }
    // In a file they may stand, and are noted.
    fs::write(folder.path().join("a.toml"), "topology = \"spinnaker:4x5\"\norder = \"long\"\ncycles = 300\n").unwrap();
    let output = run(folder.path(), "run a.toml --format json");
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("order"), "{output:?}");
    let preset = json(folder.path(), "run --network flow --topology star:4 --flow-preset simgrid-lv08 --cycles 300");
    assert!(preset["warnings"].to_string().contains("no link has any"), "{}", preset["warnings"]);
    assert!(json(folder.path(), "run --topology torus:4x4 --order dir --cycles 300")["complete"] == true);
}
