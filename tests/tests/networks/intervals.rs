//! 95 % confidence intervals of accepted load and mean latency contain the true mean in 95 % of runs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "its figures are what it is run for")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::run;

/// A figure, and half the width of its interval.
const FIGURES: [(&str, &str); 2] =
    [("accepted_load_phits_per_node_cycle", "accepted_load_ci95"), ("latency_mean_cycles", "latency_ci95")];

/// The number of seeds whose interval contains the mean over all seeds: of accepted load, and of mean latency.
fn covered(folder: &Path, line: &str, seeds: usize) -> [usize; 2] {
    let swept = run(folder, &format!("sweep {line} --seed 1..{seeds} -q -o coverage"));
    assert_eq!(swept.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&swept.stderr));
    let text = fs::read_to_string(folder.join("coverage/results.jsonl")).unwrap();
    fs::remove_dir_all(folder.join("coverage")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    FIGURES.map(|(figure, ci95)| {
        let number = |row: &Value, name: &str| row[name].as_f64().unwrap_or(f64::NAN);
        let mean = rows.iter().map(|row| number(row, figure)).sum::<f64>() / rows.len() as f64;
        rows.iter().filter(|row| (number(row, figure) - mean).abs() <= number(row, ci95)).count()
    })
}

#[test]
fn most_intervals_contain_the_mean() {
    let folder = tempfile::tempdir().unwrap();
    for line in ["--topology mesh:4x4 --load 0.4", "--topology torus:4x4 --source throttled --load 0.6"] {
        let covered = covered(folder.path(), line, 20);
        assert!(covered.iter().all(|&covered| covered >= 16), "{line}: {covered:?} of 20");
    }
}

#[test]
fn latency_has_no_interval_where_queues_grow() {
    let folder = tempfile::tempdir().unwrap();
    let figures = |line: &str| -> Value {
        serde_json::from_slice(&run(folder.path(), &format!("{line} -q --format json")).stdout).unwrap()
    };
    let open = figures("run --topology torus:4x4 --load 1");
    assert_eq!((&open["verdict"], &open["latency_ci95"]), (&"saturated".into(), &Value::Null));
    assert!(open["accepted_load_ci95"].is_f64() && open["latency_mean_cycles"].is_f64());
    let throttled = figures("run --topology torus:4x4 --load 1 --source throttled");
    assert_eq!(throttled["verdict"], "saturated");
    assert!(throttled["latency_ci95"].is_f64(), "a full network is steady");
    let table = run(folder.path(), "run --topology torus:4x4 --load 0.3 -q").stdout;
    let table = String::from_utf8(table).unwrap();
    let intervals = table.lines().filter(|line| line.contains(" ± ")).count();
    assert!(intervals >= 2 && table.lines().any(|line| line.starts_with("latency") && line.contains(" ± ")), "{table}");
}

/// Points of many kinds; the last three are close to saturation or beyond it.
const POINTS: [&str; 20] = [
    "--topology torus:4x4 --load 0.1",
    "--topology torus:4x4 --load 0.5",
    "--topology torus:4x4 --load 0.7",
    "--topology torus:4x4 --source throttled --load 0.5",
    "--topology torus:4x4 --source throttled --load 1",
    "--topology mesh:8x1 --load 0.2",
    "--topology mesh:8x1 --load 0.3",
    "--topology mesh:4x4 --load 0.4",
    "--topology mesh:4x4 --traffic transpose --load 0.3",
    "--topology torus:4x4 --traffic hotspot(0.1,0) --load 0.3",
    "--topology torus:4x4 --packet 4 --load 0.5",
    "--topology torus:4x4 --temporal cburst(8) --load 0.3",
    "--topology torus:8x8 --load 0.3",
    "--topology torus:8x8 --load 0.5",
    "--topology fattree:4,2 --load 0.5",
    "--network wormhole --topology mesh:4x4 --load 0.2",
    "--network wormhole --topology mesh:4x4 --load 0.3",
    "--topology torus:8x8 --load 0.68",
    "--topology torus:8x8 --traffic transpose --source throttled --load 1",
    "--network wormhole --topology torus:8x8 --load 0.3",
];

#[test]
#[ignore = "minutes: 20 points with 40 seeds each"]
fn intervals_of_twenty_points_contain_the_mean() {
    const SEEDS: usize = 40;
    let folder = tempfile::tempdir().unwrap();
    let mut sums = [0, 0];
    println!("| point | accepted load | mean latency |\n| --- | --- | --- |");
    for line in POINTS {
        let covered = covered(folder.path(), line, SEEDS);
        println!("| `{line}` | {} | {} |", covered[0], covered[1]);
        sums = [sums[0] + covered[0], sums[1] + covered[1]];
    }
    let all = (POINTS.len() * SEEDS) as f64;
    let shares = sums.map(|sum| sum as f64 / all);
    println!("| all of {all} | {:.1} % | {:.1} % |", 100.0 * shares[0], 100.0 * shares[1]);
    assert!(shares.iter().all(|share| (0.92..=0.98).contains(share)), "{shares:?}");
}
