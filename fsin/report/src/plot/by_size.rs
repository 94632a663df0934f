//! Slow-down over the size of messages: each tenth of the messages of each run, from the shortest to the longest.

use super::transient::renamed;
use super::{Picture, Style, pictures};
use fsin_experiment::result::{MessageClass, RunResult};
use fsin_experiment::sweep::{Collected, Curve, Curves, Row, Spot};

/// The axis of these pictures, in place of a setting.
pub(super) const SIZE: &str = "size";

/// Pictures of slow-down and completion time over the size of messages, a curve for each point of the selected curves:
/// the tenths of the messages by size, each as a mean over seeds, named by its greatest size. Nothing for runs without
/// message statistics.
#[must_use]
pub fn by_size(curves: &Curves, collected: &Collected, style: &Style) -> Vec<Picture> {
    let is_single = curves.curves.iter().map(|curve| curve.spots.len()).sum::<usize>() == 1;
    let mut over_size =
        Curves { axis: SIZE.to_owned(), numeric: false, is_along: true, curves: Vec::new(), ..curves.clone() };
    let mut rows: Vec<Row> = Vec::new();
    for curve in &curves.curves {
        for spot in &curve.spots {
            let mut settings = curve.settings.clone();
            if !is_single {
                settings.push((curves.axis.clone(), spot.word.clone()));
            }
            let runs: Vec<&Row> = spot.rows.iter().map(|&row| &collected.rows[row]).collect();
            let parts = |run: &Row| run.result.message_deciles.clone().unwrap_or_default();
            let tenths: Vec<(&Row, Vec<MessageClass>)> = runs.into_iter().map(|run| (run, parts(run))).collect();
            // Runs of few messages have fewer parts, which do not correspond to those of others.
            let count = tenths.iter().map(|(_, parts)| parts.len()).min().unwrap_or(0);
            let mut spots: Vec<Spot> = Vec::new();
            for number in 0..count {
                let sizes: u64 = tenths.iter().map(|(_, parts)| parts[number].to_bytes).max().unwrap_or(0);
                let from = rows.len();
                rows.extend(
                    tenths
                        .iter()
                        .map(|(run, parts)| Row { index: run.index, result: of_part(&parts[number], &run.result) }),
                );
                let word = format!("{}% to {}", (number + 1) * 100 / count, size(sizes));
                let x = number as f64;
                // Of a saturated run every part is shown: which messages suffer is the question.
                spots.push(Spot { x, word, rows: (from..rows.len()).collect(), saturated: false, undecided: false });
            }
            let label = over_size.legend(&settings);
            if !spots.is_empty() {
                over_size.curves.push(Curve { label, settings, spots, is_baseline: curve.is_baseline });
            }
        }
    }
    let collected = Collected { rows, ..Collected::default() };
    renamed(pictures(&over_size, &collected, style), "by-size")
}

/// A size with a unit, to three digits.
fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1_000 => (1, "B"),
        1_000..1_000_000 => (1_000, "kB"),
        1_000_000..1_000_000_000 => (1_000_000, "MB"),
        _ => (1_000_000_000, "GB"),
    };
    let value = bytes as f64 / f64::from(unit);
    let digits = if value < 10.0 && unit > 1 { 1 } else { 0 };
    format!("{value:.digits$} {name}")
}

/// The figures of a part of the messages in a result of its own.
fn of_part(part: &MessageClass, of: &RunResult) -> RunResult {
    let mut result = RunResult::default();
    result.message_slowdown_mean = part.slowdown_mean;
    result.message_slowdown_p99 = part.slowdown_p99;
    result.message_completion_p99_cycles = part.completion_p99_cycles;
    result.experiment.clone_from(&of.experiment);
    result.nodes = of.nodes;
    result
}
