//! Load and latency over time: each measured batch of each run, from the beginning of its measurement.

use std::collections::BTreeMap;

use super::{Picture, Style, pictures};
use fsin_experiment::result::{Batch, RunResult};
use fsin_experiment::sweep::{Collected, Curve, Curves, Row, Spot};

/// The axis of these pictures, in place of a setting.
pub(super) const TIME: &str = "time";

/// Pictures of accepted load and mean latency over time, a curve for each point of the selected curves: each batch in
/// the middle of its time, as a mean over seeds whose batches have the same times. Nothing for runs of a single batch.
#[must_use]
pub fn transients(curves: &Curves, collected: &Collected, style: &Style) -> Vec<Picture> {
    let is_single = curves.curves.iter().map(|curve| curve.spots.len()).sum::<usize>() == 1;
    let mut over_time =
        Curves { axis: TIME.to_owned(), numeric: true, is_along: true, curves: Vec::new(), ..curves.clone() };
    let mut rows: Vec<Row> = Vec::new();
    for curve in &curves.curves {
        for spot in &curve.spots {
            let mut settings = curve.settings.clone();
            if !is_single {
                settings.push((curves.axis.clone(), spot.word.clone()));
            }
            // By beginning and length.
            let mut batches: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
            for &row in &spot.rows {
                let Row { index, result } = &collected.rows[row];
                let samples = result.samples.as_deref().unwrap_or_default();
                // Warm-ups of seeds differ in length.
                let began = samples.first().map_or(0, |first| first.start_cycle);
                for batch in samples.iter().filter(|_| samples.len() > 1) {
                    let start = batch.start_cycle.saturating_sub(began);
                    batches.entry((start, batch.cycles)).or_default().push(rows.len());
                    rows.push(Row { index: *index, result: of_batch(batch, result) });
                }
            }
            let spot = |((start, cycles), rows): ((u64, u64), Vec<usize>)| {
                let x = start as f64 + cycles as f64 / 2.0;
                // Of a saturated run every batch is shown, and joined: what it does over time is the question.
                Spot { x, word: x.to_string(), rows, saturated: false, undecided: false }
            };
            let label = over_time.legend(&settings);
            let spots: Vec<Spot> = batches.into_iter().map(spot).collect();
            if !spots.is_empty() {
                over_time.curves.push(Curve { label, settings, spots, is_baseline: curve.is_baseline });
            }
        }
    }
    let collected = Collected { rows, ..Collected::default() };
    renamed(pictures(&over_time, &collected, style), "over-time")
}

/// The pictures with these words behind their kinds, so that they do not replace those along the axis of the sweep.
pub(super) fn renamed(mut pictures: Vec<Picture>, words: &str) -> Vec<Picture> {
    for picture in &mut pictures {
        let name = format!("{}-{words}{}", picture.kind, &picture.name[picture.kind.len()..]);
        // The LaTeX source names its data.
        picture.pgf =
            picture.pgf.take().map(|source| source.replace(&format!("{}.csv", picture.name), &format!("{name}.csv")));
        picture.name = name;
    }
    pictures
}

/// The figures of a batch in a result of its own.
fn of_batch(batch: &Batch, of: &RunResult) -> RunResult {
    let mut result = RunResult::default();
    result.latency_mean_cycles = batch.latency_mean_cycles;
    result.accepted_load_phits_per_node_cycle = Some(batch.accepted_load_phits_per_node_cycle);
    result.experiment.clone_from(&of.experiment);
    result.nodes = of.nodes;
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_batch_is_a_point() {
        let result = |shift: f64| -> RunResult {
            let batch = |at: u64| {
                json!({"start_cycle": 1000 * at, "cycles": 1000, "latency_mean_cycles": 20.0 + shift + at as f64,
                    "accepted_load_phits_per_node_cycle": 0.3})
            };
            serde_json::from_value(json!({"experiment": {"load": 0.3, "topology": "torus:8x8"},
                "samples": (0..4).map(batch).collect::<Vec<_>>()}))
            .expect("it is a result")
        };
        let rows = [0.0, 2.0].map(|shift| Row { index: 0, result: result(shift) }).to_vec();
        let spot = Spot { x: 0.3, word: "0.3".to_owned(), rows: vec![0, 1], saturated: true, undecided: false };
        let curve = Curve { label: String::new(), settings: Vec::new(), spots: vec![spot], is_baseline: false };
        let curves = Curves {
            axis: "load".to_owned(),
            numeric: true,
            is_along: true,
            curves: vec![curve],
            each: Vec::new(),
            only: String::new(),
            names: Vec::new(),
            axes: Vec::new(),
        };
        let collected = Collected { rows, ..Collected::default() };
        let drawn = transients(&curves, &collected, &Style::default());
        let names: Vec<&str> = drawn.iter().map(|picture| picture.name.as_str()).collect();
        assert_eq!(names, ["latency-over-time", "accepted-over-time"]);
        let rows: Vec<Vec<&str>> = drawn[0].data.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!(rows[0][2..4], ["time", "latency_mean_cycles"]);
        let values: Vec<(&str, &str)> = rows[1..].iter().map(|row| (row[2], row[3])).collect();
        assert_eq!(values, [("500", "21"), ("1500", "22"), ("2500", "23"), ("3500", "24")]);
        assert!(
            drawn[0].svg.contains("Time since measuring began (cycles)")
                && drawn[0].pgf.as_ref().unwrap().contains("{latency-over-time.csv}")
        );
        let single = Collected { rows: vec![], ..Collected::default() };
        let none = Curves { curves: Vec::new(), ..curves };
        assert!(transients(&none, &single, &Style::default()).is_empty());
    }
}
