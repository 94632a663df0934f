//! Slow-down over the size of messages: each tenth of the messages of each run, from the shortest to the longest.

use super::transient::renamed;
use super::{Picture, Style, pictures};
use fsin_experiment::result::{MessageClass, RunResult};
use fsin_experiment::sweep::{Collected, Curve, Curves, Row, Spot};

/// The axis of these pictures, in place of a setting.
pub(super) const SIZE: &str = "size";

/// Number of parts.
const TENTHS: usize = 10;

/// Pictures of slow-down and completion time over the size of messages, a curve for each point of the selected curves:
/// the tenths of the messages by size, each as a mean over seeds, named by the greatest size in any of them. Nothing
/// for runs without message statistics or with fewer than ten messages.
#[must_use]
pub fn by_size(curves: &Curves, collected: &Collected, style: &Style) -> Vec<Picture> {
    let is_single = curves.curves.iter().map(|curve| curve.spots.len()).sum::<usize>() == 1;
    let mut over_size =
        Curves { axis: SIZE.to_owned(), numeric: false, is_along: true, curves: Vec::new(), ..curves.clone() };
    let tenths = |row: usize| collected.rows[row].result.message_deciles.as_deref().unwrap_or_default();
    let spots = || curves.curves.iter().flat_map(|curve| &curve.spots);
    // Runs of few messages have fewer parts, which do not correspond to those of others.
    let is_whole = |spot: &Spot| spot.rows.iter().all(|&row| tenths(row).len() == TENTHS);
    let greatest = |number: usize| {
        let runs = spots().filter(|spot| is_whole(spot)).flat_map(|spot| &spot.rows);
        runs.map(|&row| tenths(row)[number].to_bytes).max().unwrap_or(0)
    };
    // The same for all curves, which share the axis.
    let words: Vec<String> = (0..TENTHS).map(|at| format!("{}% to {}", 10 * (at + 1), size(greatest(at)))).collect();
    let mut rows: Vec<Row> = Vec::new();
    for curve in &curves.curves {
        for spot in curve.spots.iter().filter(|spot| is_whole(spot)) {
            let mut settings = curve.settings.clone();
            if !is_single {
                settings.push((curves.axis.clone(), spot.word.clone()));
            }
            let part = |(number, word): (usize, &String)| {
                let from = rows.len();
                rows.extend(spot.rows.iter().map(|&row| {
                    let Row { index, result } = &collected.rows[row];
                    Row { index: *index, result: of_part(&tenths(row)[number], result) }
                }));
                let (x, rows) = (number as f64, (from..rows.len()).collect());
                // Of a saturated run every part is shown: which messages suffer is the question.
                Spot { x, word: word.clone(), rows, saturated: false, undecided: false }
            };
            let spots: Vec<Spot> = words.iter().enumerate().map(part).collect();
            let label = over_size.legend(&settings);
            over_size.curves.push(Curve { label, settings, spots, is_baseline: curve.is_baseline });
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
