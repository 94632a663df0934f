//! Means with confidence intervals, over replicas with different seeds or over batches of runs.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean and its confidence interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval, by Student's t; `None` for one value.
    pub ci95: Option<f64>,
    /// Number of values.
    pub count: usize,
}

/// The mean of values; `None` without values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The variance of a population from which these values are a sample with this mean.
fn variance(values: &[f64], mean: f64) -> f64 {
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

/// The 97.5 % quantile of Student's t distribution with these degrees of freedom.
fn t975(freedom: f64) -> Option<f64> {
    StudentsT::new(0.0, 1.0, freedom).ok().map(|t| t.inverse_cdf(0.975))
}

/// A quantile of Student's t distribution with these degrees of freedom; infinite where there is none.
pub(super) fn quantile(probability: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(probability))
}

/// The mean of independent values and its confidence interval; `None` without values.
#[must_use]
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let centre = mean(values)?;
    let count = values.len();
    let ci95 = (count > 1).then(|| t975(count as f64 - 1.0)).flatten();
    let ci95 = ci95.map(|t| t * (variance(values, centre) / count as f64).sqrt());
    Some(Estimate { mean: centre, ci95, count })
}

/// The slope of values at equal distances by least squares, as the change from one to the next, and its confidence
/// interval: wider by sqrt((1 + r) / (1 - r)) where the residuals of neighbours correlate by r > 0. `None` for fewer
/// than three values.
///
/// Source: Santer et al., Statistical significance of trends, Journal of Geophysical Research 105 (2000), equation 6.
#[must_use]
pub fn trend(values: &[f64]) -> Option<Estimate> {
    let count = values.len();
    let centre = mean(values).filter(|_| count > 2)?;
    let middle = (count as f64 - 1.0) / 2.0;
    let spread: f64 = (0..count).map(|at| (at as f64 - middle).powi(2)).sum();
    let slope =
        values.iter().enumerate().map(|(at, value)| (at as f64 - middle) * (value - centre)).sum::<f64>() / spread;
    let rest = |(at, value): (usize, &f64)| value - centre - slope * (at as f64 - middle);
    let rests: Vec<f64> = values.iter().enumerate().map(rest).collect();
    // Residuals of few values correlate by chance.
    let correlation = lag1(&rests).unwrap_or(0.0).clamp(0.0, 0.9);
    let freedom = count as f64 - 2.0;
    let squares = rests.iter().map(|rest| rest * rest).sum::<f64>();
    let error = (squares / freedom / spread * (1.0 + correlation) / (1.0 - correlation)).sqrt();
    Some(Estimate { mean: slope, ci95: t975(freedom).map(|t| t * error), count })
}

/// Lag-1 autocorrelation, -1 to 1: correlated batch means have a confidence interval that is too narrow. `None` for
/// fewer than three values, or where all are equal.
#[must_use]
pub fn lag1(values: &[f64]) -> Option<f64> {
    let centre = mean(values).filter(|_| values.len() > 2)?;
    let total: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    let products: f64 = values.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).sum();
    (total > 0.0).then(|| products / total)
}

/// Half the width of the 95 % confidence interval of the ratio of the sums of `values` and `weights`, pairs that follow
/// one another in time and may be correlated. `None` for fewer than two, or weights of 0.
///
/// Neighbours are merged into 16 batches. The interval over them is widened by the lag-1 correlation of their means,
/// corrected for its bias, and counts them as so many fewer. More and shorter batches hide slow fluctuations beneath
/// fast ones; fewer leave the spread uncertain.
///
/// Sources: Law and Kelton, Simulation Modeling and Analysis, on batch means and ratios; Steiger and others, ASAP3
/// (2005), for the correction of correlated batch means. Decision: docs/decisions/0139-intervals.md.
#[must_use]
pub fn half_width_of_series(values: &[f64], weights: &[f64]) -> Option<f64> {
    /// Number of batches, where there are as many values.
    const BATCHES: usize = 16;
    /// Upper limit of the correlation, and lower limit of the degrees of freedom: beyond them a run is too short to
    /// know.
    const LIMITS: (f64, f64) = (0.9, 3.0);
    let count = values.len().min(weights.len());
    let weight = weights.iter().sum::<f64>() / count as f64;
    if count < 2 || weight <= 0.0 {
        return None;
    }
    let ratio = values.iter().sum::<f64>() / (weight * count as f64);
    let rests: Vec<f64> = values.iter().zip(weights).map(|(value, of)| (value - ratio * of) / weight).collect();
    let batches = count.min(BATCHES);
    let end = |batch: usize| batch * count / batches;
    let means: Vec<f64> = (0..batches).filter_map(|batch| mean(&rests[end(batch)..end(batch + 1)])).collect();
    let batches = batches as f64;
    let correlation = lag1(&means).unwrap_or(-1.0);
    let correlation = (correlation + (1.0 + 3.0 * correlation) / batches).clamp(0.0, LIMITS.0);
    let widening = (1.0 + correlation) / (1.0 - correlation);
    let spread = variance(&means, mean(&means)?) / batches * widening;
    let freedom = (batches / widening - 1.0).max(LIMITS.1.min(batches - 1.0));
    Some(t975(freedom)? * spread.sqrt())
}

/// A mean and its variance, from independent samples.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// The mean of the samples.
    pub mean: f64,
    /// Variance of that mean.
    pub variance: f64,
    /// Degrees of freedom of the variance, 1 at least.
    pub freedom: f64,
}

/// Variance of rounding to integers: that of a uniform distribution of width 1.
pub const ROUNDING: f64 = 1.0 / 12.0;

impl Spread {
    /// The spread of independent values; `None` for fewer than two. `least` is the variance of each value even where
    /// all are equal: [`ROUNDING`] for values that are integers by definition, 0 for others.
    #[must_use]
    pub fn of_values(values: &[f64], least: f64) -> Option<Self> {
        let centre = mean(values).filter(|_| values.len() > 1)?;
        let count = values.len() as f64;
        Some(Self { mean: centre, variance: variance(values, centre).max(least) / count, freedom: count - 1.0 })
    }

    /// The spread of the batches of some runs, which follow one another in time. Correlated batches count as fewer: for
    /// a first-order autoregressive process with correlation r, as (1 - r) / (1 + r) of their number. `None` for fewer
    /// than two.
    #[must_use]
    pub fn of_batches(runs: &[Vec<f64>]) -> Option<Self> {
        /// Upper limit of a meaningful estimate from a few batches.
        const MOST: f64 = 0.8;
        let all = runs.concat();
        let centre = mean(&all).filter(|_| all.len() > 1)?;
        let correlations: Vec<f64> = runs.iter().filter_map(|run| lag1(run)).collect();
        let r = mean(&correlations).unwrap_or(0.0).clamp(0.0, MOST);
        let count = (all.len() as f64 * (1.0 - r) / (1.0 + r)).max(2.0);
        Some(Self { mean: centre, variance: variance(&all, centre) / count, freedom: count - 1.0 })
    }
}

impl Spread {
    /// Half the width of the 95 % confidence interval of the mean.
    #[must_use]
    pub fn ci95(&self) -> f64 {
        if self.variance == 0.0 {
            return 0.0;
        }
        // The distribution exists for every positive number of degrees of freedom.
        t975(self.freedom).map_or(f64::INFINITY, |t| t * self.variance.sqrt())
    }
}

/// Half the width of the 95 % confidence interval of the difference of two independent means, by Welch's approximation.
#[must_use]
pub fn welch(a: &Spread, b: &Spread) -> f64 {
    let variance = a.variance + b.variance;
    let freedom = variance.powi(2) / (a.variance.powi(2) / a.freedom + b.variance.powi(2) / b.freedom);
    Spread { mean: b.mean - a.mean, variance, freedom }.ci95()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_tables() {
        // t(0.975, 9) = 2.262157; 1 to 10 have standard deviation 3.027650.
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let found = estimate(&values).unwrap();
        assert!((found.mean - 5.5).abs() < 1e-12);
        assert!((found.ci95.unwrap() - 2.262_157 * 3.027_650 / 10_f64.sqrt()).abs() < 1e-5);
        assert_eq!(estimate(&[2.0]), Some(Estimate { mean: 2.0, ci95: None, count: 1 }));
        assert_eq!(estimate(&[]), None);
    }

    #[test]
    fn slopes_are_those_of_least_squares() {
        assert_eq!(trend(&[1.0, 2.0]), None);
        let line = trend(&[1.0, 3.0, 5.0, 7.0]).unwrap();
        assert!((line.mean - 2.0).abs() < 1e-12 && line.ci95.unwrap() < 1e-9);
        // Residuals -1/2, 1, -1/2 around a slope of 1/2; t(0.975, 1) = 12.7062.
        let bent = trend(&[1.0, 3.0, 2.0]).unwrap();
        assert!((bent.mean - 0.5).abs() < 1e-12, "{bent:?}");
        assert!((bent.ci95.unwrap() - 12.7062 * (1.5_f64 / 2.0).sqrt()).abs() < 1e-3, "{bent:?}");
        // With the same residuals around no slope, correlated neighbours carry less information than uncorrelated ones.
        let width = |values: &[f64]| trend(values).unwrap().ci95.unwrap();
        let alike = width(&[1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0]);
        let apart = width(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0]);
        assert!(alike > 1.5 * apart, "{alike} {apart}");
    }

    #[test]
    fn correlation_of_neighbours() {
        assert!((lag1(&[1.0, -1.0, 1.0, -1.0]).unwrap() + 0.75).abs() < 1e-12);
        // 1 to 5: products 2 + 0 + 0 + 2 over 10.
        assert!((lag1(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap() - 0.4).abs() < 1e-12);
        assert_eq!(lag1(&[1.0, 1.0, 1.0]), None);
        assert_eq!(lag1(&[1.0, 2.0]), None);
    }

    #[test]
    fn intervals_of_correlated_series_contain_the_mean() {
        use trgen::rng::mix2;
        // Autoregressive series with mean 0; the share whose interval contains it.
        let covered = |keep: f64| {
            let series = |seed: u64| {
                let mut value = 0.0;
                let draw = |at| (mix2(seed, at) >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
                let all: Vec<f64> = (0..520)
                    .map(|at| {
                        value = keep * value + draw(at);
                        value
                    })
                    .collect();
                all[400..].to_vec()
            };
            let contains = |seed: &u64| {
                let series = series(*seed);
                mean(&series).unwrap().abs() <= half_width_of_series(&series, &[1.0; 120]).unwrap()
            };
            (0..1000).filter(contains).count()
        };
        for (keep, least) in [(0.0, 940), (0.7, 930), (0.9, 920)] {
            let covered = covered(keep);
            assert!((least..=980).contains(&covered), "{keep}: {covered} of 1000");
        }
        assert_eq!((half_width_of_series(&[1.0], &[1.0]), half_width_of_series(&[1.0; 9], &[0.0; 9])), (None, None));
        // A ratio of sums: latencies over packets.
        let exact = half_width_of_series(&[20.0, 40.0, 60.0], &[1.0, 2.0, 3.0]).unwrap();
        assert!(exact < 1e-9, "{exact}");
    }

    #[test]
    fn differences_of_unequal_lots() {
        // Means 2 and 5.5, variances 1 and 4.33, three each.
        let (a, b) =
            (Spread::of_values(&[1.0, 2.0, 3.0], 0.0).unwrap(), Spread::of_values(&[3.5, 5.0, 7.5], 0.0).unwrap());
        assert!((b.variance - 4.083_333 / 3.0).abs() < 1e-5);
        // Freedom 2.9235, t = 3.2330.
        assert!((welch(&a, &b) - 3.2330 * (5.083_333_f64 / 3.0).sqrt()).abs() < 3e-2, "{}", welch(&a, &b));
        assert_eq!(Spread::of_values(&[1.0], 0.0), None);
    }

    #[test]
    fn equal_values_have_the_least_variance() {
        let equal = Spread::of_values(&[50.0; 3], ROUNDING).unwrap();
        assert!((equal.variance - 1.0 / 36.0).abs() < 1e-12);
        assert_eq!(Spread::of_values(&[50.0; 3], 0.0).unwrap().ci95(), 0.0);
    }

    #[test]
    fn correlated_batches_count_as_fewer() {
        let apart = Spread::of_batches(&[vec![1.0, 2.0, 1.0, 2.0, 1.0, 2.0]]).unwrap();
        assert!((apart.variance - 0.3 / 6.0).abs() < 1e-12 && apart.freedom == 5.0, "{apart:?}");
        // Lag-1 correlation 0.5: a third counts.
        let runs = [vec![1.0, 1.0, 1.0, 2.0, 2.0, 2.0]];
        assert!((lag1(&runs[0]).unwrap() - 0.5).abs() < 1e-12);
        let together = Spread::of_batches(&runs).unwrap();
        assert!((together.variance - 0.3 / 2.0).abs() < 1e-12 && together.freedom == 1.0, "{together:?}");
        // The batches of all runs together are samples.
        assert_eq!(Spread::of_batches(&[vec![1.0, 2.0, 1.0], vec![2.0, 1.0, 2.0]]).unwrap().freedom, 5.0);
    }
}
