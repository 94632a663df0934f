//! Point-by-point comparison of two sweeps.
//!
//! Decision: docs/decisions/0124-comparisons.md.

use std::collections::BTreeMap;

use super::collect::Collected;
use super::curves::{Curves, Spot};
use super::reading::Reading;
use crate::result::Figure;
use fsin_core::stats::{ROUNDING, Spread, mean, welch};

/// A figure of one point in both sweeps.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// The curve of the point.
    pub curve: String,
    /// The point's value on the axis.
    pub word: String,
    /// The figure, as it can be compared.
    pub reading: Reading,
    /// Mean of the baseline.
    pub baseline: f64,
    /// Mean of the candidate.
    pub candidate: f64,
    /// Half the width of the 95 % confidence interval of the difference; `None` where the spread is unknown. It is that
    /// of pairs with the same seed (Student), or else of two independent samples (Welch).
    pub ci95: Option<f64>,
    /// Samples behind the spread of the baseline.
    pub baseline_samples: Samples,
    /// Samples behind the spread of the candidate.
    pub candidate_samples: Samples,
    /// \[unit of the figure\] Differences up to this size are irrelevant.
    pub margin: f64,
    /// True if any run of either sweep is saturated.
    pub saturated: bool,
    /// True if any run of either sweep was too short to tell whether it is.
    pub undecided: bool,
}

/// The samples from which the spread of a mean is estimated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Samples {
    /// This number of runs with different seeds.
    Seeds(usize),
    /// This number of pairs of runs with the same seed: randomness common to both cancels (common random numbers).
    Pairs(usize),
    /// This number of batches of runs.
    Batches(usize),
    /// This number of shots of runs.
    Shots(usize),
    /// Every run is identical to its counterpart, packet by packet.
    Identical,
    /// Too few samples of any kind.
    TooFew,
}

/// Verdict on a difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Significantly higher.
    Higher,
    /// Significantly lower.
    Lower,
    /// Shown to be within the margin.
    Same,
    /// The difference is neither significant nor shown to be within the margin: more samples may decide.
    Unclear,
}

/// \[share of the baseline\] The default margin of a comparison.
pub const MARGIN: f64 = 0.01;

/// Minimum number of seeds for an estimate of their spread: the variance of two values is no more than a guess.
const SEEDS: usize = 3;

/// Minimum number of batches, or shots, for an estimate of their spread.
const BATCHES: usize = 5;

impl Samples {
    /// The samples in words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Seeds(count) => format!("{count} seeds"),
            Self::Pairs(count) => format!("{count} paired seeds"),
            Self::Batches(count) => format!("{count} batches"),
            Self::Shots(count) => format!("{count} shots"),
            Self::Identical => "identical runs".to_owned(),
            Self::TooFew => "too few".to_owned(),
        }
    }
}

impl Difference {
    /// The figure of the candidate less that of the baseline.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.candidate - self.baseline
    }

    /// The verdict: an equivalence test first, whether the confidence interval lies within the margin; then whether it
    /// is on one side of 0.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let difference = self.difference();
        match self.ci95 {
            None => Verdict::Unclear,
            Some(ci95) if difference.abs() + ci95 <= self.margin => Verdict::Same,
            Some(ci95) if difference > ci95 => Verdict::Higher,
            Some(ci95) if -difference > ci95 => Verdict::Lower,
            Some(_) => Verdict::Unclear,
        }
    }

    /// What the runs say of saturation, in a word; empty if all carry their load.
    #[must_use]
    pub const fn load_verdict(&self) -> &'static str {
        match (self.saturated, self.undecided) {
            (true, _) => "saturated",
            (false, true) => "undecided",
            (false, false) => "",
        }
    }

    /// The samples of both sides.
    #[must_use]
    pub fn samples(&self) -> String {
        match (self.baseline_samples, self.candidate_samples) {
            (a, b) if a == b => a.words(),
            (a, b) => format!("{}, {}", a.words(), b.words()),
        }
    }
}

impl Verdict {
    /// The verdict in a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::Same => "same",
            Self::Unclear => "unclear",
        }
    }
}

/// A point of one of the two sweeps.
type Side<'a> = (&'a Spot, &'a Collected);

/// Figures to compare.
const FIGURES: &[Figure] = &[
    Figure::AcceptedLoad,
    Figure::LatencyMean,
    Figure::LatencyP99,
    Figure::CompletionCycles,
    Figure::CompletionSeconds,
    Figure::FinishMaxNs,
    Figure::ShotCyclesMean,
];

/// Every point that both sweeps have, and the number of points that only one has. Points match if they are at the same
/// place of curves with the same settings, along the same axis; settings that do not vary within a sweep may differ.
/// Figures in cycles are compared in seconds where cycles differ in length, and figures without a [`Reading`] in both are
/// left out. `margin` is a share of the baseline, 0 to 1.
#[must_use]
pub fn compare(
    baseline: (&Curves, &Collected),
    candidate: (&Curves, &Collected),
    margin: f64,
) -> (Vec<Difference>, usize) {
    let (mut found, mut alone) = (Vec::new(), 0);
    let spots = |curves: &Curves| curves.curves.iter().map(|curve| curve.spots.len()).sum::<usize>();
    let mut both = 0;
    for (curve, other) in candidate.0.curves.iter().map(|curve| (curve, candidate.0.counterpart(curve, baseline.0))) {
        for spot in &curve.spots {
            let Some(other) = other.and_then(|other| other.spots.iter().find(|other| other.word == spot.word)) else {
                continue;
            };
            both += 1;
            let sides = [(other, baseline.1), (spot, candidate.1)];
            let results = sides.iter().flat_map(|(spot, of)| spot.rows.iter().map(|&row| &of.rows[row].result));
            for reading in FIGURES.iter().filter_map(|&figure| Reading::comparable(figure, results.clone())) {
                let row = difference(sides, reading, margin);
                found.extend(row.map(|row| Difference { curve: curve.label.clone(), ..row }));
            }
        }
    }
    alone += spots(baseline.0) + spots(candidate.0) - 2 * both;
    (found, alone)
}

/// The difference of a figure between two spots; `None` if one of them lacks the figure.
fn difference([a, b]: [Side<'_>; 2], reading: Reading, margin: f64) -> Option<Difference> {
    let centre = |(spot, collected): Side<'_>| mean(&spot.values(&collected.rows, reading)?);
    let (baseline, candidate) = (centre(a)?, centre(b)?);
    let (of_a, of_b, ci95) = match digests(a).filter(|all| Some(all) == digests(b).as_ref()) {
        Some(_) => (Samples::Identical, Samples::Identical, Some(0.0)),
        None => interval(a, b, reading),
    };
    Some(Difference {
        curve: String::new(),
        word: b.0.word.clone(),
        reading,
        baseline,
        candidate,
        ci95,
        baseline_samples: of_a,
        candidate_samples: of_b,
        margin: margin * baseline.abs(),
        saturated: a.0.saturated || b.0.saturated,
        undecided: a.0.undecided || b.0.undecided,
    })
}

/// The digests of the runs of a spot, each of which covers every delivery; `None` if a run has none.
fn digests((spot, collected): Side<'_>) -> Option<Vec<String>> {
    let digest = |&row: &usize| collected.rows[row].result.digest.clone();
    spot.rows.iter().map(digest).collect()
}

/// The confidence interval of the difference of a figure, and its samples: pairs of seeds if both sides have the same,
/// else each side's own samples.
fn interval(a: Side<'_>, b: Side<'_>, reading: Reading) -> (Samples, Samples, Option<f64>) {
    let by_seed = |(spot, collected): Side<'_>| -> Option<BTreeMap<u64, f64>> {
        let run = |&row: &usize| {
            let result = &collected.rows[row].result;
            Some((result.experiment.get("seed")?.as_u64()?, reading.of(result)?))
        };
        let runs = spot.rows.iter().map(run).collect::<Option<BTreeMap<_, _>>>()?;
        (runs.len() == spot.rows.len() && runs.len() >= SEEDS).then_some(runs)
    };
    if let (Some(before), Some(after)) = (by_seed(a), by_seed(b))
        && before.keys().eq(after.keys())
    {
        let differences: Vec<f64> = before.values().zip(after.values()).map(|(before, after)| after - before).collect();
        let pairs = Samples::Pairs(differences.len());
        let rounded = rounding(a, reading) + rounding(b, reading);
        return (pairs, pairs, Spread::of_values(&differences, rounded).map(|spread| spread.ci95()));
    }
    let ((of_a, spread_a), (of_b, spread_b)) = (samples(a, reading), samples(b, reading));
    (of_a, of_b, spread_a.zip(spread_b).map(|(a, b)| welch(&a, &b)))
}

/// Variance of a figure due to rounding. The runs of a spot have cycles of one length.
fn rounding((spot, collected): Side<'_>, reading: Reading) -> f64 {
    let factor = spot.rows.first().and_then(|&row| reading.factor(&collected.rows[row].result)).unwrap_or(1.0);
    if reading.figure.is_whole() { ROUNDING * factor * factor } else { 0.0 }
}

/// The spread of the mean of a figure: from seeds if they are enough, else from the batches of all runs, if there are
/// any.
fn samples(side: Side<'_>, reading: Reading) -> (Samples, Option<Spread>) {
    let (spot, collected) = side;
    let of_seeds = spot.values(&collected.rows, reading).filter(|values| values.len() >= SEEDS);
    if let Some((values, spread)) =
        of_seeds.and_then(|values| Some((values.len(), Spread::of_values(&values, rounding(side, reading))?)))
    {
        return (Samples::Seeds(values), Some(spread));
    }
    let is_of_shots = reading.figure == Figure::ShotCyclesMean;
    let of_run = |&row: &usize| -> Vec<f64> {
        let result = &collected.rows[row].result;
        let values: Vec<f64> = match is_of_shots {
            true => result.shots.iter().flatten().map(|shot| shot.cycles as f64).collect(),
            false => result.samples.iter().flatten().filter_map(|batch| batch.number(reading.figure)).collect(),
        };
        reading.factor(result).map_or_else(Vec::new, |factor| values.iter().map(|value| value * factor).collect())
    };
    let runs: Vec<Vec<f64>> = spot.rows.iter().map(of_run).collect();
    let count = runs.iter().map(Vec::len).sum();
    match Spread::of_batches(&runs).filter(|_| count >= BATCHES) {
        Some(spread) if is_of_shots => (Samples::Shots(count), Some(spread)),
        Some(spread) => (Samples::Batches(count), Some(spread)),
        None => (Samples::TooFew, None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::super::collect::Row;
    use super::*;

    /// Runs with these figures at one spot.
    fn runs(figures: &[Json]) -> (Spot, Collected) {
        let row =
            |figures: &Json| Row { index: 0, result: serde_json::from_value(figures.clone()).expect("it is a result") };
        let spot = Spot {
            x: 0.0,
            word: "0".to_owned(),
            rows: (0..figures.len()).collect(),
            saturated: false,
            undecided: false,
        };
        (spot, Collected { rows: figures.iter().map(row).collect(), ..Collected::default() })
    }

    #[track_caller]
    fn check(figure: Figure, a: &[Json], b: &[Json], samples: &str, verdict: Verdict) {
        let (a, b) = (runs(a), runs(b));
        let found = difference([(&a.0, &a.1), (&b.0, &b.1)], figure.into(), MARGIN).unwrap();
        assert_eq!((found.samples().as_str(), found.verdict()), (samples, verdict), "{found:?}");
    }

    fn completions(values: &[u64]) -> Vec<Json> {
        values.iter().map(|value| json!({ "completion_cycles": value })).collect()
    }

    #[track_caller]
    fn completion(a: &[u64], b: &[u64], samples: &str, verdict: Verdict) {
        check(Figure::CompletionCycles, &completions(a), &completions(b), samples, verdict);
    }

    /// A run whose batches have these mean latencies.
    fn batches(values: &[f64]) -> Json {
        let samples: Vec<Json> = values.iter().map(|value| json!({ "latency_mean_cycles": value })).collect();
        json!({ "latency_mean_cycles": mean(values), "samples": samples })
    }

    #[test]
    fn two_seeds_are_not_enough() {
        completion(&[50, 50], &[53, 53], "too few", Verdict::Unclear);
        completion(&[50], &[53], "too few", Verdict::Unclear);
        completion(&[50, 50, 50], &[53, 53, 53], "3 seeds", Verdict::Higher);
        completion(&[53, 53, 53], &[50, 50, 50], "3 seeds", Verdict::Lower);
        completion(&[50, 50, 50], &[53, 53], "3 seeds, too few", Verdict::Unclear);
    }

    #[test]
    fn what_is_not_shown_to_be_the_same_is_unclear() {
        // Far apart, and widely spread.
        completion(&[100, 120, 119], &[400, 7000, 4030], "3 seeds", Verdict::Unclear);
        completion(&[1000, 1002, 1001], &[1003, 1001, 1002], "3 seeds", Verdict::Same);
        // Significantly higher, but by less than the margin.
        completion(&[10_000, 10_001, 10_002], &[10_020, 10_021, 10_022], "3 seeds", Verdict::Same);
        completion(&[10_000, 10_001, 10_002], &[10_120, 10_121, 10_122], "3 seeds", Verdict::Higher);
    }

    #[test]
    fn the_same_seeds_are_pairs() {
        let runs = |values: [f64; 3], seeds: [u64; 3]| {
            let run = |(value, seed)| json!({ "latency_mean_cycles": value, "experiment": { "seed": seed } });
            values.into_iter().zip(seeds).map(run).collect::<Vec<_>>()
        };
        // The common randomness is far greater than the difference.
        let a = runs([100.0, 200.0, 300.0], [1, 2, 3]);
        let b = runs([310.0, 110.0, 210.0], [3, 1, 2]);
        check(Figure::LatencyMean, &a, &b, "3 paired seeds", Verdict::Higher);
        let others = runs([110.0, 210.0, 310.0], [4, 5, 6]);
        check(Figure::LatencyMean, &a, &others, "3 seeds", Verdict::Unclear);
    }

    #[test]
    fn batches_stand_in_for_seeds() {
        let low = batches(&[112.0, 114.0, 113.0, 112.5, 113.5, 113.0]);
        let rising = batches(&[1500.0, 5000.0, 2400.0, 4600.0, 3300.0, 6060.0]);
        check(Figure::LatencyMean, std::slice::from_ref(&low), &[rising], "6 batches", Verdict::Higher);
        let close = batches(&[113.0, 112.0, 114.0, 113.5, 112.5, 113.0]);
        check(Figure::LatencyMean, &[low.clone(), low.clone()], &[close], "12 batches, 6 batches", Verdict::Same);
        check(Figure::LatencyMean, &[batches(&[1.0, 2.0])], &[low], "too few, 6 batches", Verdict::Unclear);
    }

    #[test]
    fn runs_that_are_the_same_need_no_statistics() {
        let run = json!({ "completion_cycles": 7, "digest": "0f" });
        check(
            Figure::CompletionCycles,
            std::slice::from_ref(&run),
            std::slice::from_ref(&run),
            "identical runs",
            Verdict::Same,
        );
    }
}
