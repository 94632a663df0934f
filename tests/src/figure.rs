//! A figure over several seeds, and the comparison of two figures.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// \[probability\] Of a difference by chance beyond the limit of [`Difference`]: that of a normal variable beyond two
/// standard deviations.
const BEYOND: f64 = 0.045_5;

/// A figure over several seeds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Figure {
    /// Mean over seeds.
    pub mean: f64,
    /// Standard deviation between seeds; `None` for a single seed.
    pub spread: Option<f64>,
    /// Number of seeds.
    pub seeds: usize,
}

impl Figure {
    /// Mean and spread of one value per seed; needs at least one.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, spread: (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt()), seeds: values.len() }
    }
}

/// Verdict on a figure; that of a case is the worst of its figures.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// Within the tolerance.
    Inside,
    /// Beyond the tolerance, but within the uncertainty of the mean over so few seeds.
    Noise,
    /// Beyond both.
    Outside,
}

/// A figure of ours compared with the original's; all values are relative to the original's.
///
/// The standard error is that of two samples with a common spread, which is estimated from both: an exact copy would
/// vary between seeds as the original does, and three seeds of the original alone do not determine the spread. For a
/// known spread the limit is two standard errors; for one that is estimated from few seeds, Student's factor of the
/// same probability replaces two (2.05 for 3 and 48 seeds, 2.87 for 3 and 3).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Difference {
    /// Ours less the original's.
    pub relative: f64,
    /// Standard error of the difference; 0 if both sides have a single seed, which says nothing about it.
    pub error: f64,
    /// Limit of differences by chance.
    pub limit: f64,
    /// Permitted difference.
    pub tolerance: f64,
}

impl Difference {
    /// The difference of two figures.
    ///
    /// # Panics
    /// Never: a Student distribution with a positive number of degrees of freedom exists.
    #[must_use]
    pub fn new(ours: &Figure, original: &Figure, tolerance: f64) -> Self {
        let freedom = (ours.seeds + original.seeds - 2) as f64;
        let squares = [ours, original]
            .map(|figure| figure.spread.map_or(0.0, |spread| spread.powi(2) * (figure.seeds - 1) as f64));
        let (error, limit) = if freedom > 0.0 {
            let spread = (squares.iter().sum::<f64>() / freedom).sqrt() / original.mean;
            let error = spread * (1.0 / ours.seeds as f64 + 1.0 / original.seeds as f64).sqrt();
            let student = StudentsT::new(0.0, 1.0, freedom).expect("degrees of freedom are positive");
            (error, error * student.inverse_cdf(1.0 - BEYOND / 2.0))
        } else {
            (0.0, 0.0)
        };
        Self { relative: (ours.mean - original.mean) / original.mean, error, limit, tolerance }
    }

    /// The verdict on the difference.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self.relative.abs() {
            difference if difference <= self.tolerance => Verdict::Inside,
            difference if difference <= self.limit => Verdict::Noise,
            _ => Verdict::Outside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_seeds_widen_the_limit() {
        let original = Figure::of(&[99.0, 100.0, 101.0]);
        for (seeds, factor) in [(1, 4.53), (3, 2.87), (48, 2.05), (4_000, 2.00)] {
            // With spread 1, like the original's.
            let ours = Figure { mean: 103.0, spread: (seeds > 1).then_some(1.0), seeds };
            let difference = Difference::new(&ours, &original, 0.02);
            let error = (1.0 / seeds as f64 + 1.0 / 3.0).sqrt() / 100.0;
            assert!((difference.error - error).abs() < 1e-9, "{difference:?}");
            assert!((difference.limit / difference.error - factor).abs() < 5e-3, "{difference:?}");
            assert!((difference.relative - 0.03).abs() < 1e-9);
        }
    }

    #[test]
    fn beyond_the_tolerance_is_noise_or_outside() {
        let verdict = |relative| Difference { relative, error: 0.02, limit: 0.04, tolerance: 0.03 }.verdict();
        assert_eq!(
            [0.0, -0.03, 0.035, -0.04, 0.041].map(verdict),
            [Verdict::Inside, Verdict::Inside, Verdict::Noise, Verdict::Noise, Verdict::Outside]
        );
        // A single seed on both sides: the effect of chance is unknown.
        let one = |mean| Figure::of(&[mean]);
        assert_eq!(Difference::new(&one(1.03), &one(1.0), 0.02).verdict(), Verdict::Outside);
    }
}
