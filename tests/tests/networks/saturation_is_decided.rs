//! Saturation is decided, not assumed: carried, saturated or undecided; never above a proven bound.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "its figures are what it is run for")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::run;

/// Two switches with four endpoints each and one link between them: 4/7 of the uniform traffic of four nodes crosses it.
const TWO_SWITCHES: &str = "west endpoints 4\neast endpoints 4\nwest east\n";

#[track_caller]
fn json(folder: &Path, line: &str) -> Value {
    let output = run(folder, &format!("{line} -q --format json"));
    assert_eq!(output.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or_else(|| panic!("{name}: {}", value[name]))
}

/// A network whose load is bounded, and loads between which its capacity lies by runs of 10^6 cycles.
struct Bounded {
    network: &'static str,
    bound: f64,
    /// Carried, and not carried.
    bracket: (f64, f64),
}

/// The interval of a search overlaps the bracket, and lies below the bound.
fn is_right(found: &Value, of: &Bounded) -> bool {
    let (low, high) = (number(found, "saturation_low"), number(found, "saturation_high"));
    assert!(high <= of.bound * (1.0 + 1e-12), "{}: {high} is above the bound {}", of.network, of.bound);
    low <= of.bracket.1 && high >= of.bracket.0
}

#[test]
fn no_answer_is_above_a_proven_bound() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("two"), TWO_SWITCHES).unwrap();
    for network in ["graph:two", "mesh:8x1"] {
        let of = Bounded { network, bound: 0.4375, bracket: (0.42, 0.4375) };
        let found = json(folder.path(), &format!("saturation --topology {network} --lengthen 8 --tolerance 0.01"));
        assert!(is_right(&found, &of), "{found}");
        assert!(number(&found, "saturation_low") > 0.36, "{found}");
        assert_eq!(number(&found, "load_bound_phits_per_node_cycle"), 0.4375);
    }
    let hot = "saturation --topology star:8 --traffic hotspot(1,0) --lengthen 4 --tolerance 0.02";
    let hot = json(folder.path(), &hot.replace("star:8", "graph:two"));
    assert_eq!(hot["load_bound_by"], "ejection");
    // Seven nodes send all to node 0, and node 0 to the others.
    assert!((number(&hot, "load_bound_phits_per_node_cycle") - 1.0 / 7.0).abs() < 1e-12, "{hot}");
    assert!(number(&hot, "saturation_high") <= 1.0 / 7.0 + 1e-12);
}

#[test]
fn a_network_that_carries_a_fraction_is_saturated() {
    let folder = tempfile::tempdir().unwrap();
    let hot = "run --network ethernet --topology fattree:4,2 --load 0.9 --traffic hotspot(0.5,0)";
    for line in [
        format!("{hot} --transport none --port-queue 10"),
        hot.to_owned(),
        "run --topology torus:8x8 --global-cc 1 --load 0.4".to_owned(),
        "run --topology torus:8x8 --global-cc 1 --load 0.8".to_owned(),
    ] {
        let run = json(folder.path(), &line);
        assert_eq!((&run["verdict"], &run["saturated"]), (&"saturated".into(), &true.into()), "{line}");
        assert!(run["warning_kinds"].as_array().unwrap().contains(&"saturated".into()), "{line}");
    }
}

#[test]
fn what_is_too_short_is_undecided_and_says_what_decides() {
    let folder = tempfile::tempdir().unwrap();
    let line = "run --topology mesh:8x1 --load 0.3";
    let short = json(folder.path(), &format!("{line} --samples 5 --sample-size 100"));
    assert_eq!((&short["verdict"], &short["saturated"]), (&"undecided".into(), &false.into()));
    assert!(short["warning_kinds"].as_array().unwrap().contains(&"undecided".into()));
    let cycles = short["deciding_cycles"].as_u64().unwrap();
    assert!(cycles >= 1000, "{cycles}");
    let longer = json(folder.path(), &format!("{line} --samples 5 --sample-size 10000"));
    assert_eq!((&longer["verdict"], &longer["deciding_cycles"]), (&"carried".into(), &Value::Null));
    // Shots and programs are asked for no load.
    let shots = json(folder.path(), "run --topology mesh:8x1 --shot 1 --samples 2");
    assert_eq!((&shots["verdict"], &shots["deciding_cycles"]), (&Value::Null, &Value::Null));
    let table = run(folder.path(), &format!("{line} --samples 5 --sample-size 100 -q")).stdout;
    let table = String::from_utf8(table).unwrap();
    assert!(table.lines().next().unwrap().ends_with("UNDECIDED") && table.contains("expected to decide"), "{table}");
}

/// Number of verdicts of each kind over runs of several seeds: carried, saturated, undecided.
fn verdicts(folder: &Path, line: &str, seeds: u64) -> [usize; 3] {
    let swept = run(folder, &format!("sweep {line} --seed 1..{seeds} -q -o verdicts"));
    assert_eq!(swept.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&swept.stderr));
    let rows = fs::read_to_string(folder.join("verdicts/results.jsonl")).unwrap();
    fs::remove_dir_all(folder.join("verdicts")).unwrap();
    ["carried", "saturated", "undecided"].map(|verdict| {
        let is = |row: &&str| serde_json::from_str::<Value>(row).unwrap()["verdict"] == verdict;
        rows.lines().filter(is).count()
    })
}

/// Networks with a known capacity, in the unit of their loads.
const CAPACITIES: [(&str, f64); 4] = [
    ("--topology mesh:8x1", 0.43),
    ("--topology torus:4x4", 0.89),
    ("--topology torus:4x4 --source throttled", 0.89),
    ("--network ethernet --topology fattree:4,1 --traffic hotspot(1,0)", 0.333),
];

#[test]
fn half_of_the_capacity_is_carried_and_105_per_cent_are_not() {
    let folder = tempfile::tempdir().unwrap();
    for (network, capacity) in CAPACITIES {
        let half = verdicts(folder.path(), &format!("{network} --load {}", 0.5 * capacity), 10);
        assert_eq!(half, [10, 0, 0], "{network}: carried, saturated, undecided");
        let more = verdicts(folder.path(), &format!("{network} --load {}", 1.05 * capacity), 10);
        assert_eq!(more[0], 0, "{network}: carried at 105 %");
    }
}

/// Thirty networks whose load is bounded by a cut, a ring or an ejection port.
const BOUNDED: [&str; 30] = [
    "--topology mesh:4x1",
    "--topology mesh:8x1",
    "--topology mesh:12x1",
    "--topology mesh:4x2",
    "--topology mesh:8x2",
    "--topology torus:8",
    "--topology torus:12",
    "--topology torus:16",
    "--topology graph:two",
    "--topology graph:three",
    "--topology mesh:4x4",
    "--topology torus:8 --traffic hotspot(1,0) --consumption single",
    "--topology torus:4x4 --traffic hotspot(1,0) --consumption single",
    "--topology torus:4x4 --traffic hotspot(0.5,0) --consumption single",
    "--topology mesh:4x4 --traffic hotspot(0.5,0) --consumption single",
    "--topology fattree:4,2 --traffic hotspot(1,0)",
    "--topology fattree:4,2 --traffic hotspot(0.5,0)",
    "--topology thintree:4,2,1",
    "--network wormhole --topology mesh:4x1",
    "--network wormhole --topology mesh:8x1",
    "--network wormhole --topology torus:8",
    "--network wormhole --topology mesh:4x4 --traffic hotspot(1,0)",
    "--network wormhole --topology mesh:4x4 --traffic hotspot(0.5,0)",
    "--network wormhole --topology torus:4x4 --traffic hotspot(1,0)",
    "--network ethernet --topology graph:two",
    "--network ethernet --topology graph:three",
    "--network ethernet --topology fattree:4,1 --traffic hotspot(1,0)",
    "--network ethernet --topology fattree:4,2 --traffic hotspot(1,0)",
    "--network ethernet --topology fattree:4,2 --traffic hotspot(0.5,0)",
    "--network ethernet --topology mesh:4x1",
];

/// The capacity of a network lies between loads of a fine grid that long runs carry and do not.
#[test]
#[ignore = "an hour: long runs of thirty networks, five searches each, and 200 runs at two loads"]
fn searches_of_thirty_networks_overlap_the_bracket_of_long_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("two"), TWO_SWITCHES).unwrap();
    fs::write(path.join("three"), "a endpoints 3\nb endpoints 3\nc endpoints 3\na b\nb c\n").unwrap();
    let (mut right, mut all, mut verdict) = (0, 0, [[0; 3]; 2]);
    for network in BOUNDED {
        // The time of Ethernet is in ps: one of its default batches is 2 ms.
        let long = if network.contains("ethernet") { "--sample-size 50000000000" } else { "--sample-size 100000" };
        let first = json(path, &format!("saturation {network}"));
        let bound = number(&first, "load_bound_phits_per_node_cycle");
        // Long runs on a grid of 2 % of the bound, from above and below.
        let at = |share: f64| json(path, &format!("run {network} {long} --load {}", share * bound))["verdict"].clone();
        let shares: Vec<f64> = (25..=50).map(|step| f64::from(step) / 50.0).collect();
        let carried = shares.iter().rev().find(|&&share| at(share) == "carried").copied().unwrap_or(0.0);
        let not = shares.iter().find(|&&share| share > carried && at(share) == "saturated").copied().unwrap_or(1.0);
        let of = Bounded { network, bound, bracket: (carried * bound, not * bound) };
        for seed in 1..=5 {
            let found = json(path, &format!("saturation {network} --seed {seed}"));
            let is_right = is_right(&found, &of);
            let interval = (number(&found, "saturation_low"), number(&found, "saturation_high"));
            println!("{network} seed {seed}: {interval:?} of {:?}, bound {bound}: {is_right}", of.bracket);
            (right, all) = (right + usize::from(is_right), all + 1);
        }
        // 7 seeds of 30 networks: 210 runs at each load.
        for (row, load) in [0.5 * of.bracket.0, 1.05 * of.bracket.1].into_iter().enumerate() {
            let found = verdicts(path, &format!("{network} --load {load}"), 7);
            (0..3).for_each(|column| verdict[row][column] += found[column]);
        }
    }
    println!("{right} of {all} overlap; at 50 %: {:?}, at 105 %: {:?}", verdict[0], verdict[1]);
    assert!(right * 100 >= 95 * all, "{right} of {all}");
    assert_eq!((verdict[0][1], verdict[0][2], verdict[1][0]), (0, 0, 0), "{verdict:?}");
}
