//! Against the means over seeds of BookSim 2 (`../shared/reference/booksim2-multiseed.csv`), with the preset `booksim`.
//!
//! The rule: latency within 2 % or two standard errors of both sides up to 80 % of saturation, within 5 % or two standard
//! errors up to 95 %. Beyond, both sides are noise. Traffic is that of the table, messages of a node to itself included.

#![allow(missing_docs, reason = "a test")]

use std::fmt::Write as _;

use fsin_core::topology;
use fsin_wormhole::fast;

mod common;

use common::shared;

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
fn compare(report: &str, seeds: u64, takes: impl Fn(usize, &str) -> bool) {
    let Some(rows) = common::rows("reference/booksim2.csv") else { return };
    let Some(points) = common::rows("reference/booksim2-multiseed.csv") else { return };
    let mut table =
        String::from("name,rate,of_saturation,theirs,theirs_se,ours,ours_se,difference_percent,unstable,verdict\n");
    let (mut inside, mut outside, mut beyond) = (0, Vec::new(), 0);
    for (number, point) in points.iter().enumerate() {
        let name = point["name"].as_str();
        if !takes(number, name) {
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
                fast::build(&*topology, fsin_wormhole::Params { seed, ..experiment.params.clone() }).unwrap();
            let measured = common::run(&experiment, &mut *network);
            if !measured.is_unstable {
                latencies.push(measured.latency);
            }
        }
        let number = |column: &str| point[column].parse::<f64>().expect("a number");
        let (_, saturation) = STABLE.iter().find(|&&(known, _)| known == name).expect("its saturation is known");
        let share = experiment.rate / saturation;
        let (theirs, theirs_se) = (number("latency_mean"), number("latency_se"));
        let (ours, ours_se) = mean(&latencies);
        let difference = ours - theirs;
        let noise = 2.0 * (theirs_se.powi(2) + ours_se.powi(2)).sqrt();
        let bound = if share <= 0.8 { 0.02 } else { 0.05 } * theirs;
        let verdict = if share > 0.95 {
            beyond += 1;
            "beyond"
        } else if difference.abs() <= bound.max(noise) {
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
        "{report}: {inside} inside, {} outside, {beyond} beyond 95 % of saturation\n",
        outside.len()
    ));
    assert!(outside.is_empty(), "{}", outside.join("\n"));
    assert!(inside > 0, "some point was compared");
}

#[test]
fn a_sample_of_the_points() {
    let sample = ["m8-dor-uni-p1", "t8-dor-uni-p1", "val-t8-vc2-uni-p8-is2", "t8-dor-uni-p1-default-pipe"];
    compare("wormhole-booksim-sample.csv", 2, |number, name| number % 3 == 0 && sample.contains(&name));
}

/// Every point, in minutes with optimisation: `cargo test --release -p fsin-wormhole --test booksim -- --ignored`.
#[test]
#[ignore = "minutes"]
fn all_points() {
    compare("wormhole-booksim.csv", 8, |_, _| true);
}
