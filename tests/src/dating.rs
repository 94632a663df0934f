//! Infers when the original began to measure, from its maximum delays.
//!
//! The original waited for a steady state before it measured, for a time that its rows do not record. In most cases
//! that does not matter. In a few cases the state drifts for long, or a few packets starve and their delay is the age
//! of the run: there the maximum delay grows with the time at which measurement begins. That column is not compared
//! with anything else, so it can date the original's measurement.

use fsin::run::BatchPlan;

use crate::figure::Figure;
use crate::fsin_original::Case;
use crate::parallel::parallel;

/// \[cycles\] Candidate times for the beginning of measurement: from, to, step.
const BEGINS: (usize, usize, usize) = (6_000, 40_000, 1_000);
/// Least growth of the maximum delay, from the first candidate to the last, in cases that indicate the time.
const GROWTH: f64 = 1.35;
/// Seeds used to select cases.
const CHOOSING: u64 = 6;

/// A case whose maximum delay grows.
#[derive(Clone, PartialEq, Debug)]
pub struct Ageing {
    /// The case.
    pub case: Case,
    /// \[cycles\] Beginning of measurement, and the maximum delay then: mean over batches and seeds, as in the
    /// original.
    pub greatest: Vec<(u64, f64)>,
}

/// Fit of the original's maximum delays, for one beginning of measurement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fit {
    /// \[cycle\] Beginning of measurement.
    pub begin: u64,
    /// Root mean square, over cases, of the logarithm of ours divided by the original's.
    pub deviation: f64,
    /// Mean of that logarithm.
    pub bias: f64,
}

/// The cases among `cases` whose maximum delay grows, with its growth over this many seeds of ours.
///
/// # Panics
/// When a run fails.
#[must_use]
pub fn ageing(cases: &[Case], seeds: u64) -> Vec<Ageing> {
    let grows = |ageing: &Ageing| {
        let ends = ageing.greatest.first().zip(ageing.greatest.last());
        ends.is_some_and(|(first, last)| last.1 > GROWTH * first.1)
    };
    let grown: Vec<Case> = measure(cases, CHOOSING.min(seeds)).into_iter().filter(grows).map(|one| one.case).collect();
    measure(&grown, seeds)
}

fn measure(cases: &[Case], seeds: u64) -> Vec<Ageing> {
    let jobs: Vec<(usize, u64)> = (0..cases.len()).flat_map(|case| (1..=seeds).map(move |seed| (case, seed))).collect();
    let runs = parallel(&jobs, |&(case, seed)| greatest(&cases[case], seed));
    let per_case = runs.chunks_exact(seeds as usize);
    let mean = |runs: &[Vec<(u64, f64)>], at: usize| {
        let values: Vec<f64> = runs.iter().map(|run| run[at].1).collect();
        (runs[0][at].0, Figure::of(&values).mean)
    };
    let ageing = |(case, runs): (&Case, &[Vec<(u64, f64)>])| Ageing {
        case: case.clone(),
        greatest: (0..runs[0].len()).map(|at| mean(runs, at)).collect(),
    };
    cases.iter().zip(per_case).map(ageing).collect()
}

/// By beginning of measurement: the mean over batches of the maximum delay in each.
fn greatest(case: &Case, seed: u64) -> Vec<(u64, f64)> {
    let (from, to, step) = BEGINS;
    let (batch, batches) = (case.plan.sample_size as usize / step, case.plan.samples as usize);
    let samples = (to / step + batch * batches) as u64;
    let plan = BatchPlan {
        warmup: 0,
        max_conv_time: 0,
        samples,
        sample_size: step as u64,
        min_batch_packets: 0,
        ..BatchPlan::default()
    };
    let outcome = case.setup.clone().seed(seed).batch(&plan);
    assert_eq!(outcome.failure, None, "{case}");
    let maxima: Vec<u64> =
        outcome.samples.iter().map(|sample| sample.summary.latency.max().unwrap_or_default()).collect();
    let measured = |begin: usize| {
        let batches = maxima[begin / step..][..batch * batches].chunks_exact(batch);
        let each: Vec<f64> = batches.map(|batch| batch.iter().copied().max().unwrap_or_default() as f64).collect();
        (begin as u64, Figure::of(&each).mean)
    };
    (from..=to).step_by(step).map(measured).collect()
}

/// The fit of each candidate.
#[must_use]
pub fn fits(ageing: &[Ageing]) -> Vec<Fit> {
    let begins = ageing.first().map_or(0, |one| one.greatest.len());
    let fit = |at: usize| {
        let ratio = |one: &Ageing| (one.greatest[at].1 / one.case.greatest.mean).ln();
        let (ratios, n) = (ageing.iter().map(ratio).collect::<Vec<_>>(), ageing.len() as f64);
        Fit {
            begin: ageing[0].greatest[at].0,
            deviation: (ratios.iter().map(|ratio| ratio * ratio).sum::<f64>() / n).sqrt(),
            bias: ratios.iter().sum::<f64>() / n,
        }
    };
    (0..begins).map(fit).collect()
}
