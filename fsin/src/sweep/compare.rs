//! Two sweeps, point by point.

use super::collect::Collected;
use super::curves::{Curves, Spot};
use super::statistics::{mean, welch};

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
    /// Half the width of the 95 % confidence interval of the difference: over seeds (Welch), or over the batches of two
    /// single runs. `None` where nothing is known of the spread.
    pub ci95: Option<f64>,
    /// True if any run of either is saturated.
    pub saturated: bool,
}

/// What a difference means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Above what chance explains.
    Higher,
    /// The same, downwards.
    Lower,
    /// Within what chance explains.
    Same,
    /// Nothing is known of chance: give several seeds.
    Unknown,
}

impl Difference {
    /// Candidate less baseline.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.candidate - self.baseline
    }

    /// What the difference means.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self.ci95 {
            _ if self.difference() == 0.0 => Verdict::Same,
            None => Verdict::Unknown,
            Some(ci95) if self.difference().abs() <= ci95 => Verdict::Same,
            Some(_) if self.difference() > 0.0 => Verdict::Higher,
            Some(_) => Verdict::Lower,
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
            Self::Unknown => "unknown",
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

/// Every point that both have, and how many only one of them has. Points are the same if they are at the same place of
/// curves with the same settings, along the same axis; settings that do not vary within a sweep may differ.
#[must_use]
pub fn compare(baseline: (&Curves, &Collected), candidate: (&Curves, &Collected)) -> (Vec<Difference>, usize) {
    let (mut found, mut alone) = (Vec::new(), 0);
    let spots = |curves: &Curves| curves.curves.iter().map(|curve| curve.spots.len()).sum::<usize>();
    let mut both = 0;
    let same_axis = baseline.0.axis == candidate.0.axis;
    for curve in candidate.0.curves.iter().filter(|_| same_axis) {
        let lone = candidate.0.curves.len() == 1 && baseline.0.curves.len() == 1;
        let other = baseline.0.curves.iter().find(|other| lone || other.settings == curve.settings);
        for spot in &curve.spots {
            let Some(other) = other.and_then(|other| other.spots.iter().find(|other| other.word == spot.word)) else {
                continue;
            };
            both += 1;
            for figure in FIGURES {
                let row = difference((other, baseline.1), (spot, candidate.1), figure);
                found.extend(row.map(|row| Difference { curve: curve.label.clone(), ..row }));
            }
        }
    }
    alone += spots(baseline.0) + spots(candidate.0) - 2 * both;
    (found, alone)
}

fn difference(a: (&Spot, &Collected), b: (&Spot, &Collected), figure: &'static str) -> Option<Difference> {
    let values = |(spot, collected): (&Spot, &Collected)| spot.values(&collected.rows, figure);
    let (before, after) = (values(a)?, values(b)?);
    let of_batches = || {
        let half = |(spot, collected): (&Spot, &Collected)| spot.value(&collected.rows, figure)?.ci95;
        Some(half(a)?.hypot(half(b)?))
    };
    Some(Difference {
        curve: String::new(),
        word: b.0.word.clone(),
        figure,
        baseline: mean(&before)?,
        candidate: mean(&after)?,
        ci95: welch(&before, &after)?.ci95.or_else(of_batches),
        saturated: a.0.saturated || b.0.saturated,
    })
}
