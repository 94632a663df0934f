//! Two sweeps, point by point.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::collect::Collected;
use super::curves::{Curves, Spot};
use crate::stats::{ROUNDING, Spread, mean, welch};

/// A figure of one point in both sweeps.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// The curve of the point.
    pub curve: String,
    /// Where on it.
    pub word: String,
    /// Name of the figure.
    pub figure: &'static str,
    /// Mean of the baseline.
    pub baseline: f64,
    /// Mean of the candidate.
    pub candidate: f64,
    /// Half the width of the 95 % confidence interval of the difference: of pairs with the same seed (Student), else of two
    /// independent lots (Welch). `None` where nothing is known of the spread.
    pub ci95: Option<f64>,
    /// What is known of the spread of the baseline.
    pub baseline_samples: Samples,
    /// What is known of the spread of the candidate.
    pub candidate_samples: Samples,
    /// \[unit of the figure\] Differences up to this do not matter.
    pub margin: f64,
    /// True if any run of either is saturated.
    pub saturated: bool,
}

/// What the spread of a mean is known from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Samples {
    /// Runs with different seeds, so many.
    Seeds(usize),
    /// Pairs of runs with the same seed, so many: what chance does to both alike does not count (common random numbers).
    Pairs(usize),
    /// Batches of runs, so many.
    Batches(usize),
    /// Shots of runs, so many.
    Shots(usize),
    /// Every run is the same as that of the other side, packet by packet.
    Identical,
    /// Too few of any.
    TooFew,
}

/// What a difference means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Above what chance explains.
    Higher,
    /// The same, downwards.
    Lower,
    /// Shown to be within the margin.
    Same,
    /// None of these is shown: more samples may show one.
    Unclear,
}

/// \[share of the baseline\] The margin unless another is asked for.
pub const MARGIN: f64 = 0.01;

/// Seeds from which on their spread is believed: the variance of two values is no more than a guess.
const SEEDS: usize = 3;

/// Batches, or shots, from which on their spread is believed.
const BATCHES: usize = 5;

impl Samples {
    /// As users read it.
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
    /// Candidate less baseline.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.candidate - self.baseline
    }

    /// What the difference means: an equivalence test first, that is whether the confidence interval lies within the margin;
    /// then whether it is on one side of 0.
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

    /// What the spread of both sides is known from.
    #[must_use]
    pub fn samples(&self) -> String {
        match (self.baseline_samples, self.candidate_samples) {
            (a, b) if a == b => a.words(),
            (a, b) => format!("{}, {}", a.words(), b.words()),
        }
    }
}

impl Verdict {
    /// As users read it.
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

/// Figures that are compared.
const FIGURES: &[&str] = &[
    "accepted_load_phits_per_node_cycle",
    "latency_mean_cycles",
    "latency_p99_cycles",
    "completion_cycles",
    "completion_seconds",
    "finish_max_ns",
    "shot_cycles_mean",
];

/// Those that are whole numbers by definition.
const WHOLE: &[&str] = &["latency_p99_cycles", "completion_cycles", "finish_max_ns"];

/// Every point that both have, and how many only one of them has. Points are the same if they are at the same place of
/// curves with the same settings, along the same axis; settings that do not vary within a sweep may differ. `margin` is a
/// share of the baseline, 0 to 1.
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
            for figure in FIGURES {
                let row = difference((other, baseline.1), (spot, candidate.1), figure, margin);
                found.extend(row.map(|row| Difference { curve: curve.label.clone(), ..row }));
            }
        }
    }
    alone += spots(baseline.0) + spots(candidate.0) - 2 * both;
    (found, alone)
}

fn difference(a: (&Spot, &Collected), b: (&Spot, &Collected), figure: &'static str, margin: f64) -> Option<Difference> {
    let centre = |(spot, collected): (&Spot, &Collected)| mean(&spot.values(&collected.rows, figure)?);
    let (baseline, candidate) = (centre(a)?, centre(b)?);
    let (of_a, of_b, ci95) = match digests(a).filter(|all| Some(all) == digests(b).as_ref()) {
        Some(_) => (Samples::Identical, Samples::Identical, Some(0.0)),
        None => interval(a, b, figure),
    };
    Some(Difference {
        curve: String::new(),
        word: b.0.word.clone(),
        figure,
        baseline,
        candidate,
        ci95,
        baseline_samples: of_a,
        candidate_samples: of_b,
        margin: margin * baseline.abs(),
        saturated: a.0.saturated || b.0.saturated,
    })
}

/// The digests of the runs of a spot, each of which tells every delivery; `None` if one has none.
fn digests((spot, collected): (&Spot, &Collected)) -> Option<Vec<String>> {
    let digest = |&row: &usize| collected.rows[row].figures.get("digest").and_then(Json::as_str).map(str::to_owned);
    spot.rows.iter().map(digest).collect()
}

/// How sure the difference of a figure is, and what from: pairs of seeds if both have the same, else each side's own samples.
fn interval(a: (&Spot, &Collected), b: (&Spot, &Collected), figure: &str) -> (Samples, Samples, Option<f64>) {
    let by_seed = |(spot, collected): (&Spot, &Collected)| -> Option<BTreeMap<u64, f64>> {
        let run = |&row: &usize| {
            let figures = &collected.rows[row].figures;
            Some((figures.get("experiment")?["seed"].as_u64()?, figures.get(figure)?.as_f64()?))
        };
        let runs = spot.rows.iter().map(run).collect::<Option<BTreeMap<_, _>>>()?;
        (runs.len() == spot.rows.len() && runs.len() >= SEEDS).then_some(runs)
    };
    if let (Some(before), Some(after)) = (by_seed(a), by_seed(b))
        && before.keys().eq(after.keys())
    {
        let differences: Vec<f64> = before.values().zip(after.values()).map(|(before, after)| after - before).collect();
        let pairs = Samples::Pairs(differences.len());
        return (pairs, pairs, Spread::of_values(&differences, 2.0 * rounding(figure)).map(|spread| spread.ci95()));
    }
    let ((of_a, spread_a), (of_b, spread_b)) = (samples(a, figure), samples(b, figure));
    (of_a, of_b, spread_a.zip(spread_b).map(|(a, b)| welch(&a, &b)))
}

/// Variance of a figure by rounding.
fn rounding(figure: &str) -> f64 {
    if WHOLE.contains(&figure) { ROUNDING } else { 0.0 }
}

/// How sure the mean of a figure is: from seeds if they are enough, else from the batches of all runs, if there are any.
fn samples((spot, collected): (&Spot, &Collected), figure: &str) -> (Samples, Option<Spread>) {
    let of_seeds = spot.values(&collected.rows, figure).filter(|values| values.len() >= SEEDS);
    if let Some((values, spread)) =
        of_seeds.and_then(|values| Some((values.len(), Spread::of_values(&values, rounding(figure))?)))
    {
        return (Samples::Seeds(values), Some(spread));
    }
    let (list, name, samples): (_, _, fn(usize) -> Samples) = match figure {
        "shot_cycles_mean" => ("shots", "cycles", Samples::Shots),
        _ => ("samples", figure, Samples::Batches),
    };
    let of_run = |&row: &usize| -> Vec<f64> {
        let list = collected.rows[row].figures.get(list).and_then(Json::as_array);
        list.into_iter().flatten().filter_map(|batch| batch[name].as_f64()).collect()
    };
    let runs: Vec<Vec<f64>> = spot.rows.iter().map(of_run).collect();
    let count = runs.iter().map(Vec::len).sum();
    match Spread::of_batches(&runs).filter(|_| count >= BATCHES) {
        Some(spread) => (samples(count), Some(spread)),
        None => (Samples::TooFew, None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::super::collect::Row;
    use super::*;

    /// Runs with these figures at one spot.
    fn runs(figures: &[Json]) -> (Spot, Collected) {
        let row = |figures: &Json| Row {
            index: 0,
            figures: figures.as_object().cloned().unwrap_or_else(Map::new),
            manifest: Json::Null,
        };
        let spot = Spot { x: 0.0, word: "0".to_owned(), rows: (0..figures.len()).collect(), saturated: false };
        (spot, Collected { rows: figures.iter().map(row).collect(), ..Collected::default() })
    }

    #[track_caller]
    fn check(figure: &'static str, a: &[Json], b: &[Json], samples: &str, verdict: Verdict) {
        let (a, b) = (runs(a), runs(b));
        let found = difference((&a.0, &a.1), (&b.0, &b.1), figure, MARGIN).unwrap();
        assert_eq!((found.samples().as_str(), found.verdict()), (samples, verdict), "{found:?}");
    }

    fn completions(values: &[u64]) -> Vec<Json> {
        values.iter().map(|value| json!({ "completion_cycles": value })).collect()
    }

    #[track_caller]
    fn completion(a: &[u64], b: &[u64], samples: &str, verdict: Verdict) {
        check("completion_cycles", &completions(a), &completions(b), samples, verdict);
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
        // Far apart, and as far spread.
        completion(&[100, 120, 119], &[400, 7000, 4030], "3 seeds", Verdict::Unclear);
        completion(&[1000, 1002, 1001], &[1003, 1001, 1002], "3 seeds", Verdict::Same);
        // Sure to be higher, and by less than matters.
        completion(&[10_000, 10_001, 10_002], &[10_020, 10_021, 10_022], "3 seeds", Verdict::Same);
        completion(&[10_000, 10_001, 10_002], &[10_120, 10_121, 10_122], "3 seeds", Verdict::Higher);
    }

    #[test]
    fn the_same_seeds_are_pairs() {
        let runs = |values: [f64; 3], seeds: [u64; 3]| {
            let run = |(value, seed)| json!({ "latency_mean_cycles": value, "experiment": { "seed": seed } });
            values.into_iter().zip(seeds).map(run).collect::<Vec<_>>()
        };
        // What chance does to both alike is far more than the difference.
        let a = runs([100.0, 200.0, 300.0], [1, 2, 3]);
        let b = runs([310.0, 110.0, 210.0], [3, 1, 2]);
        check("latency_mean_cycles", &a, &b, "3 paired seeds", Verdict::Higher);
        let others = runs([110.0, 210.0, 310.0], [4, 5, 6]);
        check("latency_mean_cycles", &a, &others, "3 seeds", Verdict::Unclear);
    }

    #[test]
    fn batches_stand_in_for_seeds() {
        let low = batches(&[112.0, 114.0, 113.0, 112.5, 113.5, 113.0]);
        let rising = batches(&[1500.0, 5000.0, 2400.0, 4600.0, 3300.0, 6060.0]);
        check("latency_mean_cycles", &[low.clone()], &[rising], "6 batches", Verdict::Higher);
        let close = batches(&[113.0, 112.0, 114.0, 113.5, 112.5, 113.0]);
        check("latency_mean_cycles", &[low.clone(), low.clone()], &[close], "12 batches, 6 batches", Verdict::Same);
        check("latency_mean_cycles", &[batches(&[1.0, 2.0])], &[low], "too few, 6 batches", Verdict::Unclear);
    }

    #[test]
    fn runs_that_are_the_same_need_no_statistics() {
        let run = json!({ "completion_cycles": 7, "digest": "0f" });
        check("completion_cycles", &[run.clone()], &[run], "identical runs", Verdict::Same);
    }
}
