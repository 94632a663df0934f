//! Arrival times of the instances of a job.

use crate::rng::{Purpose, stream};
use crate::synthetic::draw::{ln, positive_unit};
use crate::units::Picoseconds;

/// Law of the times between instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gaps {
    /// All equal.
    Regular,
    /// Exponential, with the given mean: a Poisson process.
    Poisson,
}

/// \[ps\] Arrivals of `count` instances, the first at `first`, the others at gaps of mean `every`, drawn for entry
/// number `entry` of the list of jobs.
#[must_use]
pub fn arrivals(
    first: Picoseconds,
    every: Picoseconds,
    count: u32,
    gaps: Gaps,
    seed: u64,
    entry: u64,
) -> Vec<Picoseconds> {
    let mut rng = stream(seed, entry, Purpose::Arrival);
    let mut at = first.0;
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(Picoseconds(at));
        let gap = match gaps {
            Gaps::Regular => every.0,
            Gaps::Poisson => (-ln(positive_unit(&mut rng)) * every.0 as f64).round() as u64,
        };
        at = at.saturating_add(gap);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_have_the_mean_that_is_asked_for() {
        let drawn_with = |gaps, seed| arrivals(Picoseconds(7), Picoseconds(1000), 10_001, gaps, seed, 0);
        assert_eq!(drawn_with(Gaps::Regular, 1)[..3], [7, 1007, 2007].map(Picoseconds));
        let drawn = drawn_with(Gaps::Poisson, 1);
        assert_eq!(drawn[0], Picoseconds(7));
        assert!(drawn.is_sorted());
        // The standard error of the mean of 10 000 exponential gaps is 1 % of it.
        assert!((9_600_000..10_400_000).contains(&drawn[10_000].0), "{:?}", drawn[10_000]);
        assert_ne!(drawn, drawn_with(Gaps::Poisson, 2));
    }
}
