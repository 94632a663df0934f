//! Against the means over seeds of BookSim 2 (`../shared/reference/booksim2-multiseed.csv`), with the preset `booksim`.
//!
//! The rule: latency within 2 % up to 80 % of saturation, within 5 % or two standard errors of both sides up to 95 %.
//! Beyond, the mean of a finite run says little: the same rule is applied, and nothing fails. Traffic is that of the
//! table, messages of a node to itself included.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::fmt::Write as _;

use fsin_core::topology;
use fsin_wormhole::fast;

use crate::common::{self, shared};

/// Highest loads that are stable, with long windows.
const STABLE: [(&str, f64); 24] = [
    ("m8-dor-trp-p8", 0.154),
    ("m8-dor-uni-p1", 0.415),
    ("t16-bal-bcp-p1", 0.230),
    ("t16-dor-uni-p16", 0.225),
    ("t8-dor-hot-p1", 0.139),
    ("t8-dor-tor-p8", 0.167),
    ("t8-dor-uni-p1", 0.445),
    ("t888-dor-uni-p8", 0.370),
    ("t8-dor-uni-p1-bal-vc2", 0.472),
    ("t8-dor-uni-p1-bal-vc4", 0.609),
    ("t8-dor-uni-p1-buf16", 0.623),
    ("t8-dor-uni-p1-default-pipe", 0.234),
    ("t8-dor-uni-p1-is2", 0.590),
    ("t8-dor-uni-p1-vc4", 0.589),
    ("val-m8-vc1-trp-p8-fast", 0.152),
    ("val-m8-vc1-trp-p8-is2", 0.153),
    ("val-m8-vc1-uni-p1-fast", 0.387),
    ("val-m8-vc1-uni-p1-is2", 0.463),
    ("val-m8-vc1-uni-p8-fast", 0.345),
    ("val-m8-vc1-uni-p8-is2", 0.391),
    ("val-t8-vc2-bcp-p8-fast", 0.424),
    ("val-t8-vc2-bcp-p8-is2", 0.451),
    ("val-t8-vc2-uni-p8-fast", 0.473),
    ("val-t8-vc2-uni-p8-is2", 0.630),
];

/// Mean, and standard error of the mean.
fn mean(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// Compares the points that `takes` picks by their number and name, over `seeds` seeds. The table goes to `report`.
fn compare(report: &str, seeds: u64, takes: impl Fn(usize, &str, f64) -> bool) {
    let Some(rows) = common::rows("reference/booksim2.csv") else { return };
    let Some(points) = common::rows("reference/booksim2-multiseed.csv") else { return };
    let mut table =
        String::from("name,rate,of_saturation,theirs,theirs_se,ours,ours_se,difference_percent,unstable,verdict\n");
    let (mut inside, mut outside, mut beyond) = (0, Vec::new(), [0, 0]);
    for (number, point) in points.iter().enumerate() {
        let name = point["name"].as_str();
        let (_, saturation) = STABLE.iter().find(|&&(known, _)| known == name).expect("its saturation is known");
        let share = point["inj_rate"].parse::<f64>().expect("a load") / saturation;
        if !takes(number, name, share) {
            continue;
        }
        let same = |row: &&std::collections::HashMap<String, String>| {
            row["name"] == name && row["inj_rate"] == point["inj_rate"] && !row["extra_params"].contains("kind=full")
        };
        let row = rows.iter().find(same).unwrap_or_else(|| panic!("{name} at {} has a row", point["inj_rate"]));
        let experiment = common::experiment(|column| row[column].clone()).expect("a row of dimension-order routing");
        let mut latencies = Vec::new();
        for seed in 1..=seeds {
            let experiment = common::Experiment { seed, ..experiment.clone() };
            let topology = topology::parse(&experiment.topology, 2).unwrap();
            let mut network =
                fast::build(&*topology, fsin_wormhole::Params { seed, ..experiment.params.clone() }, 1).unwrap();
            let measured = common::run(&experiment, &mut *network);
            if !measured.is_unstable {
                latencies.push(measured.latency);
            }
        }
        let number = |column: &str| point[column].parse::<f64>().expect("a number");
        let (theirs, theirs_se) = (number("latency_mean"), number("latency_se"));
        let (ours, ours_se) = mean(&latencies);
        let difference = ours - theirs;
        let noise = 2.0 * (theirs_se.powi(2) + ours_se.powi(2)).sqrt();
        let bound = if share <= 0.8 { 0.02 * theirs } else { noise.max(0.05 * theirs) };
        let verdict = if share > 0.95 {
            let is_inside = difference.abs() <= bound;
            beyond[usize::from(is_inside)] += 1;
            if is_inside { "beyond, inside" } else { "beyond, outside" }
        } else if difference.abs() <= bound {
            inside += 1;
            "inside"
        } else {
            outside.push(format!(
                "{name} at {}: {ours:.3} +- {ours_se:.3}, not {theirs:.3} +- {theirs_se:.3}",
                experiment.rate
            ));
            "outside"
        };
        let unstable = seeds - latencies.len() as u64;
        writeln!(
            table,
            "{name},{},{share:.3},{theirs:.3},{theirs_se:.3},{ours:.3},{ours_se:.3},{:.2},{unstable},{verdict}",
            experiment.rate,
            100.0 * difference / theirs
        )
        .expect("text grows");
    }
    std::fs::write(shared::report_dir().unwrap().join(report), &table).unwrap();
    shared::aloud(&format!(
        "{report}: {inside} inside, {} outside; beyond 95 % of saturation {} inside, {} outside\n",
        outside.len(),
        beyond[1],
        beyond[0]
    ));
    assert!(outside.is_empty(), "{}", outside.join("\n"));
    assert!(inside + beyond[0] + beyond[1] > 0, "some point was compared");
}

#[test]
fn a_sample_of_the_points() {
    compare("wormhole-booksim-sample.csv", 4, |number, name, _| number.is_multiple_of(4) && !name.starts_with("t888"));
}

/// Every point, in minutes with optimisation: `cargo test --release -p fsin-wormhole --test all booksim:: --
/// --ignored`.
#[test]
#[ignore = "minutes"]
fn all_points() {
    compare("wormhole-booksim.csv", 8, |_, _, _| true);
}

/// The points beyond 95 % of saturation, with as many seeds as the table has. Minutes.
#[test]
#[ignore = "minutes"]
fn points_near_saturation() {
    compare("wormhole-booksim-near.csv", 16, |_, _, share| share > 0.95);
}

/// Loads at which mean latency is three times that without load, of the same long windows: 3000-cycle periods, 3 of
/// warm-up.
const THREE_T0: [(&str, f64); 24] = [
    ("m8-dor-trp-p8", 0.141),
    ("m8-dor-uni-p1", 0.402),
    ("t16-bal-bcp-p1", 0.226),
    ("t16-dor-uni-p16", 0.218),
    ("t8-dor-hot-p1", 0.136),
    ("t8-dor-tor-p8", 0.157),
    ("t8-dor-uni-p1", 0.432),
    ("t888-dor-uni-p8", 0.344),
    ("t8-dor-uni-p1-bal-vc2", 0.457),
    ("t8-dor-uni-p1-bal-vc4", 0.594),
    ("t8-dor-uni-p1-buf16", 0.603),
    ("t8-dor-uni-p1-default-pipe", 0.228),
    ("t8-dor-uni-p1-is2", 0.572),
    ("t8-dor-uni-p1-vc4", 0.579),
    ("val-m8-vc1-trp-p8-fast", 0.144),
    ("val-m8-vc1-trp-p8-is2", 0.141),
    ("val-m8-vc1-uni-p1-fast", 0.372),
    ("val-m8-vc1-uni-p1-is2", 0.445),
    ("val-m8-vc1-uni-p8-fast", 0.325),
    ("val-m8-vc1-uni-p8-is2", 0.362),
    ("val-t8-vc2-bcp-p8-fast", 0.386),
    ("val-t8-vc2-bcp-p8-is2", 0.410),
    ("val-t8-vc2-uni-p8-fast", 0.446),
    ("val-t8-vc2-uni-p8-is2", 0.580),
];

/// \[flits/node/cycle\] The load at which the mean over seeds of latency is `factor` times that without load.
fn load_of_latency(experiment: &common::Experiment, factor: f64, (mut low, mut high): (f64, f64)) -> f64 {
    let latency = |rate: f64| {
        let of_seed = |seed: u64| {
            let experiment = common::Experiment { seed, rate, period: 3000, max_periods: 8, ..experiment.clone() };
            let topology = topology::parse(&experiment.topology, 2).unwrap();
            let params = fsin_wormhole::Params { seed, ..experiment.params.clone() };
            let measured = common::run(&experiment, &mut *fast::build(&*topology, params, 1).unwrap());
            if measured.is_unstable { f64::INFINITY } else { measured.latency }
        };
        (of_seed(1) + of_seed(2)) / 2.0
    };
    let bound = factor * latency(0.01);
    while high - low > 0.005 * high {
        let middle = (low + high) / 2.0;
        if latency(middle) < bound { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The loads at which latency is three times that without load are within 2 %. Minutes.
#[test]
#[ignore = "minutes"]
fn saturation_of_every_set() {
    let Some(rows) = common::rows("reference/booksim2.csv") else { return };
    let mut table = String::from("name,theirs,ours,difference_percent\n");
    let mut outside = Vec::new();
    for (name, theirs) in THREE_T0 {
        let row = rows.iter().find(|row| row["name"] == name).expect("a row of the set");
        let experiment = common::experiment(|column| row[column].clone()).expect("a row of dimension-order routing");
        let experiment = common::Experiment { is_throughput: false, ..experiment };
        let ours = load_of_latency(&experiment, 3.0, (0.5 * theirs, 1.3 * theirs));
        let difference = 100.0 * (ours / theirs - 1.0);
        writeln!(table, "{name},{theirs},{ours:.4},{difference:.1}").expect("text grows");
        if difference.abs() > 2.0 {
            outside.push(format!("{name}: {ours:.4}, not {theirs}"));
        }
    }
    std::fs::write(shared::report_dir().unwrap().join("wormhole-saturation.csv"), &table).unwrap();
    shared::aloud(&table);
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}
