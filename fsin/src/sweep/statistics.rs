//! Means with confidence, over replicas with different seeds or over batches of one run.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean and how sure it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval, by Student's t; `None` for one value.
    pub ci95: Option<f64>,
    /// Number of values.
    pub count: usize,
}

/// The mean of values; `None` of none.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn variance(values: &[f64], mean: f64) -> f64 {
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

/// The value that a Student's t variable of so many degrees of freedom exceeds with a probability of 2.5 %.
fn t975(freedom: f64) -> Option<f64> {
    StudentsT::new(0.0, 1.0, freedom).ok().map(|t| t.inverse_cdf(0.975))
}

/// The mean of independent values and its confidence; `None` of none.
#[must_use]
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let centre = mean(values)?;
    let count = values.len();
    let ci95 = (count > 1).then(|| t975(count as f64 - 1.0)).flatten();
    let ci95 = ci95.map(|t| t * (variance(values, centre) / count as f64).sqrt());
    Some(Estimate { mean: centre, ci95, count })
}

/// Correlation of each value with the next, -1 to 1: batch means that are correlated have a confidence interval that is
/// too narrow. `None` for fewer than three values, or where all are equal.
#[must_use]
pub fn lag1(values: &[f64]) -> Option<f64> {
    let centre = mean(values).filter(|_| values.len() > 2)?;
    let total: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    let products: f64 = values.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).sum();
    (total > 0.0).then(|| products / total)
}

/// The difference of the means of two independent lots, `b - a`, and its confidence by Welch's approximation. `None` if
/// one is empty.
#[must_use]
pub fn welch(a: &[f64], b: &[f64]) -> Option<Estimate> {
    let difference = mean(b)? - mean(a)?;
    let count = a.len() + b.len();
    if a.len() < 2 || b.len() < 2 {
        return Some(Estimate { mean: difference, ci95: None, count });
    }
    let spread = |values: &[f64]| variance(values, mean(values).unwrap_or(0.0)) / values.len() as f64;
    let (va, vb) = (spread(a), spread(b));
    let freedom = (va + vb).powi(2) / (va.powi(2) / (a.len() as f64 - 1.0) + vb.powi(2) / (b.len() as f64 - 1.0));
    let ci95 = if va + vb == 0.0 { Some(0.0) } else { t975(freedom).map(|t| t * (va + vb).sqrt()) };
    Some(Estimate { mean: difference, ci95, count })
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
    fn correlation_of_neighbours() {
        assert!((lag1(&[1.0, -1.0, 1.0, -1.0]).unwrap() + 0.75).abs() < 1e-12);
        // 1 to 5: products 2 + 0 + 0 + 2 over 10.
        assert!((lag1(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap() - 0.4).abs() < 1e-12);
        assert_eq!(lag1(&[1.0, 1.0, 1.0]), None);
        assert_eq!(lag1(&[1.0, 2.0]), None);
    }

    #[test]
    fn differences_of_unequal_lots() {
        // Means 2 and 5, variances 1 and 4, three each: freedom 2.941, t = 3.2186.
        let found = welch(&[1.0, 2.0, 3.0], &[3.0, 5.0, 7.0]).unwrap();
        assert!((found.mean - 3.0).abs() < 1e-12);
        assert!((found.ci95.unwrap() - 3.2186 * (5.0_f64 / 3.0).sqrt()).abs() < 2e-2, "{found:?}");
        assert_eq!(welch(&[1.0], &[2.0]).unwrap().ci95, None);
    }
}
