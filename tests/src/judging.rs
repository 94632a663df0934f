//! Comparison of ours with the measured rows of the original.
//!
//! The mean over a case's seeds is compared with the mean over ours.
//!
//! - Accepted load agrees within 2 %, in a saturated case within 4 %.
//! - Mean delay agrees within 3 % up to a share of 0.6, and where the share is unknown; within 8 % beyond.
//!
//! A mean over a few seeds is uncertain by its standard error, both the original's and ours. A figure within its
//! tolerance is *inside*. Beyond it, it is *noise* if chance can explain the difference ([`Difference`]), else
//! *outside*. With a bubble of one packet a torus may deadlock, as every run says; such runs of ours are left out, and
//! counted. [`by_chance`] computes the expected verdicts of an exact copy. Injection delay and path length are shown,
//! but not judged.

use fsin::couple::Failure;
use fsin::network::NetworkFailure;
use fsin::run::BatchPlan;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::figure::{Difference, Figure, Verdict};
use crate::fsin_original::Case;
use crate::parallel::parallel;
use crate::setup::accepted_load;
use crate::table::Table;

/// Beginning of measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begin {
    /// As in the original.
    Usual,
    /// 100 000 cycles after the row's warm-up, to check whether a state drifts.
    Late,
}

impl Begin {
    fn of(self, case: &Case) -> BatchPlan {
        let warmup = match self {
            Self::Usual => case.begin,
            Self::Late => case.plan.warmup + 100_000,
        };
        BatchPlan { max_conv_time: 0, warmup, ..case.plan }
    }
}

/// A case, and the measurements of ours.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// The case.
    pub case: Case,
    /// \[phit/node/cycle\] Accepted by ours.
    pub accepted: Figure,
    /// \[cycles\] Mean delay of ours.
    pub delay: Figure,
    /// \[cycles\] Mean injection delay of ours.
    pub injection_delay: Figure,
    /// \[links\] Mean path length of ours.
    pub hops: Figure,
    /// \[runs\] Runs of ours that ended in a deadlock, which a bubble of one packet does not exclude.
    pub deadlocks: usize,
}

/// Runs every case with every one of these seeds, on all cores.
///
/// # Panics
/// When a run fails; when more than an eighth of the runs of a case with a bubble of one packet deadlock.
#[must_use]
pub fn judge(cases: &[Case], seeds: &[u64], begin: Begin) -> Vec<Judged> {
    let mut jobs: Vec<(usize, u64)> =
        (0..cases.len()).flat_map(|case| seeds.iter().map(move |&seed| (case, seed))).collect();
    // The longest first.
    jobs.sort_by_key(|&(case, seed)| {
        let plan = begin.of(&cases[case]);
        let cycles = plan.warmup + plan.samples * plan.sample_size;
        (std::cmp::Reverse(cases[case].setup.shape().nodes() as u64 * cycles), case, seed)
    });
    let mut runs: Vec<(_, Option<[f64; 4]>)> = parallel(&jobs, |&(case, seed)| {
        let setup = &cases[case].setup;
        let outcome = setup.clone().seed(seed).batch(&begin.of(&cases[case]));
        let is_deadlock = matches!(outcome.failure, Some(Failure::Network(NetworkFailure::Deadlock(_))));
        if is_deadlock && setup.params.bubble == 1 && setup.params.routing.uses_bubble() {
            return ((case, seed), None);
        }
        assert_eq!(outcome.failure, None, "{}", cases[case]);
        let measured = &outcome.measured;
        let means = [measured.latency.moments(), &measured.injection_latency, &measured.hops];
        let [delay, injection_delay, hops] = means.map(|moments| moments.mean().expect("every case delivers packets"));
        ((case, seed), Some([accepted_load(&outcome, setup.params.packet_phits), delay, injection_delay, hops]))
    });
    runs.sort_by_key(|&(job, _)| job);
    let per_case = runs.chunks_exact(seeds.len());
    cases
        .iter()
        .zip(per_case)
        .map(|(case, runs)| {
            let done: Vec<[f64; 4]> = runs.iter().filter_map(|&(_, run)| run).collect();
            let deadlocks = runs.len() - done.len();
            assert!(8 * deadlocks <= runs.len(), "{case}: {deadlocks} of {} runs deadlock", runs.len());
            let figure = |which: usize| Figure::of(&done.iter().map(|run| run[which]).collect::<Vec<_>>());
            Judged {
                case: case.clone(),
                accepted: figure(0),
                delay: figure(1),
                injection_delay: figure(2),
                hops: figure(3),
                deadlocks,
            }
        })
        .collect()
}

impl Judged {
    /// The comparison of accepted load.
    #[must_use]
    pub fn accepted_difference(&self) -> Difference {
        Difference::new(&self.accepted, &self.case.accepted, self.case.accepted_tolerance())
    }

    /// The comparison of mean delay.
    #[must_use]
    pub fn delay_difference(&self) -> Difference {
        Difference::new(&self.delay, &self.case.delay, self.case.delay_tolerance())
    }

    /// The verdict on the case: the worst of those on accepted load and mean delay.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.accepted_difference().verdict().max(self.delay_difference().verdict())
    }

    /// Description of the figures that are not inside.
    #[must_use]
    pub fn words(&self) -> String {
        let figures = [("accepted", self.accepted_difference()), ("delay", self.delay_difference())];
        let of = |verdict: Verdict| {
            figures.iter().filter(|(_, one)| one.verdict() == verdict).map(|&(name, _)| name).collect::<Vec<_>>()
        };
        let said =
            [(Verdict::Outside, "outside"), (Verdict::Noise, "noise")].map(|(verdict, word)| match &*of(verdict) {
                [] => String::new(),
                names => format!("{word}: {}", names.join(", ")),
            });
        said.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

/// The mean number of cases that an exact copy of the original would have outside the tolerances, and the probability
/// that it would have none: by the spread of the original's own seeds, for `seeds` seeds of the copy.
///
/// # Panics
/// Never: a normal distribution is built only with a positive standard deviation.
#[must_use]
pub fn by_chance(cases: &[Case], seeds: usize) -> (f64, f64) {
    let inside = |figure: &Figure, tolerance: f64| match figure.spread {
        Some(spread) if spread > 0.0 => {
            let error = spread * (1.0 / figure.seeds as f64 + 1.0 / seeds as f64).sqrt() / figure.mean;
            let normal = Normal::new(0.0, error).expect("positive");
            1.0 - 2.0 * normal.cdf(-tolerance)
        }
        _ => 1.0,
    };
    let probabilities = cases
        .iter()
        .map(|case| inside(&case.accepted, case.accepted_tolerance()) * inside(&case.delay, case.delay_tolerance()));
    probabilities.fold((0.0, 1.0), |(outside, none), inside| (outside + 1.0 - inside, none * inside))
}

fn percent(share: f64) -> String {
    format!("{:+.2} %", 100.0 * share)
}

fn unsigned(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// The configuration, and the load with an `s` if it is saturated.
fn name(case: &Case) -> [String; 2] {
    [case.configuration.clone(), format!("{}{}", case.load, if case.saturated { " s" } else { "" })]
}

/// The comparison as a table: "noise" is the standard error of the difference.
#[must_use]
pub fn table(judged: &[&Judged]) -> Table {
    let mut table = Table::new(&[
        "configuration",
        "load",
        "accepted, ours",
        "original",
        "difference",
        "noise",
        "tolerance",
        "delay, ours",
        "original",
        "difference",
        "noise",
        "tolerance",
        "",
    ]);
    for one in judged {
        let compared = |difference: Difference| {
            [percent(difference.relative), unsigned(difference.error), unsigned(difference.tolerance)]
        };
        let mut row = Vec::from(name(&one.case));
        row.extend([format!("{:.5}", one.accepted.mean), format!("{:.5}", one.case.accepted.mean)]);
        row.extend(compared(one.accepted_difference()));
        row.extend([format!("{:.2}", one.delay.mean), format!("{:.2}", one.case.delay.mean)]);
        row.extend(compared(one.delay_difference()));
        row.push(one.words());
        table.row(row);
    }
    table
}

/// Figures that help to find the cause of a difference but are not judged: standard deviations between seeds, injection
/// delay, path length.
#[must_use]
pub fn diagnosis(judged: &[&Judged]) -> Table {
    let mut table = Table::new(&[
        "configuration",
        "load",
        "share",
        "spread of accepted, ours",
        "original",
        "spread of delay, ours",
        "original",
        "injection delay, ours",
        "original",
        "difference",
        "hops, ours",
        "original",
        "difference",
    ]);
    for Judged { case, accepted, delay, injection_delay, hops, .. } in judged.iter().copied() {
        let spreads = |ours: &Figure, original: &Figure| {
            [ours, original]
                .map(|figure| figure.spread.map_or_else(String::new, |spread| unsigned(spread / figure.mean)))
        };
        let means = |ours: &Figure, original: &Figure| {
            let difference = percent((ours.mean - original.mean) / original.mean);
            [format!("{:.3}", ours.mean), format!("{:.3}", original.mean), difference]
        };
        let mut row = Vec::from(name(case));
        row.push(case.share.map_or_else(String::new, |share| format!("{share:.2}")));
        row.extend(spreads(accepted, &case.accepted));
        row.extend(spreads(delay, &case.delay));
        row.extend(means(injection_delay, &case.injection_delay));
        row.extend(means(hops, &case.hops));
        table.row(row);
    }
    table
}
