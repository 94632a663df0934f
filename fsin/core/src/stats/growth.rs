//! Growth of a level, such as a backlog, from its changes over successive intervals.
//!
//! A level that wanders without bound (a queue at or beyond saturation) and one that keeps returning to its mean (a
//! queue below it) need different errors. The changes of the first are independent, so their spread is the error of
//! their mean. The changes of the second cancel: that error is far too wide, and the slope of a straight line through
//! the levels is the better estimate. Which of the two it is, is decided by a test for a unit root around a trend.
//!
//! Sources: Fuller, Introduction to Statistical Time Series (1976), table 8.5.1, for the test; Santer et al.,
//! Statistical significance of trends, Journal of Geophysical Research 105 (2000), for correlated residuals.
//!
//! Decision: docs/decisions/0137-verdicts.md.

use super::estimate::quantile;

/// The change of a level over an interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// \[cycles\] Length of the interval, above 0.
    pub cycles: f64,
    /// Change of the level.
    pub change: f64,
}

/// Mean growth of a level per cycle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Growth {
    /// Estimate of the growth per cycle.
    pub rate: f64,
    /// Standard error of the estimate.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
    /// True if the level returns to a straight line; false if it may wander.
    pub returns: bool,
    /// Factor by which the interval would have to be longer for the level to be seen to return to a line, at least 1;
    /// infinite where the levels do not show it.
    pub lengthening: f64,
}

/// Number of intervals, at most, from which independent changes are taken.
const CHANGES: usize = 20;
/// Number of levels, at most, through which a line is laid: more have no more information.
const LEVELS: usize = 128;
/// Fewest levels for a line.
const FEWEST: usize = 25;
/// Limit of the estimated correlation of neighbouring residuals.
const MOST_CORRELATION: f64 = 0.99;

impl Growth {
    /// Estimates the growth; `None` for fewer than two steps.
    #[must_use]
    pub fn of(steps: &[Step]) -> Option<Self> {
        let wandering = Self::of_changes(&merged(steps, CHANGES))?;
        let line = Self::of_levels(&merged(steps, LEVELS));
        Some(match line {
            Some(line) if line.returns => line,
            Some(line) => Self { lengthening: line.lengthening, ..wandering },
            None => wandering,
        })
    }

    /// From changes that are independent.
    fn of_changes(steps: &[Step]) -> Option<Self> {
        let count = steps.len() as f64;
        let cycles: f64 = steps.iter().map(|step| step.cycles).sum();
        let rate = steps.iter().map(|step| step.change).sum::<f64>() / cycles;
        // Weighted by length: the variance of a change is proportional to it.
        let squares: f64 = steps.iter().map(|step| (step.change - rate * step.cycles).powi(2) / step.cycles).sum();
        let error = (squares / (count - 1.0) / cycles).sqrt();
        (steps.len() > 1).then_some(Self { rate, error, freedom: count - 1.0, returns: false, lengthening: 1.0 })
    }

    /// From a straight line through the levels at the ends of the steps, by least squares.
    fn of_levels(steps: &[Step]) -> Option<Self> {
        let count = steps.len() as f64;
        if steps.len() < FEWEST {
            return None;
        }
        let (mut time, mut level) = (0.0, 0.0);
        let points: Vec<(f64, f64)> = steps
            .iter()
            .map(|step| {
                time += step.cycles;
                level += step.change;
                (time, level)
            })
            .collect();
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (middle, centre) = (mean(|point| point.0), mean(|point| point.1));
        let spread: f64 = points.iter().map(|point| (point.0 - middle).powi(2)).sum();
        let rate = points.iter().map(|point| (point.0 - middle) * (point.1 - centre)).sum::<f64>() / spread;
        let rests: Vec<f64> = points.iter().map(|point| point.1 - centre - rate * (point.0 - middle)).collect();
        let squares: f64 = rests.iter().map(|rest| rest * rest).sum();
        if squares <= 1e-12 * (1.0 + level * level) {
            return Some(Self { rate, error: 0.0, freedom: count - 2.0, returns: true, lengthening: 1.0 });
        }
        let products: f64 = rests.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let before: f64 = rests[..rests.len() - 1].iter().map(|rest| rest * rest).sum();
        let correlation = products / before;
        // The critical value of the test at 1 %, for this number of levels.
        let returns = count * (correlation - 1.0) < -29.5 + 190.0 / count;
        // Few residuals underestimate their correlation.
        let correlation = (correlation + (2.0 + 4.0 * correlation) / count).clamp(0.0, MOST_CORRELATION);
        let widening = (1.0 + correlation) / (1.0 - correlation);
        let error = (squares / (count - 2.0) / spread * widening).sqrt();
        let needed = (1.0 - 35.0 / count).max(0.5);
        let lengthening = match correlation {
            // As good as none that wanders.
            MOST_CORRELATION.. => f64::INFINITY,
            _ if correlation > needed => needed.ln() / correlation.ln(),
            _ => 1.0,
        };
        Some(Self { rate, error, freedom: (count / widening - 2.0).max(1.0), returns, lengthening })
    }

    /// The lower end of the interval that is exceeded with probability `confidence`.
    #[must_use]
    pub fn at_least(&self, confidence: f64) -> f64 {
        self.rate - self.width(confidence)
    }

    /// The upper end of the interval that the growth is below with probability `confidence`.
    #[must_use]
    pub fn at_most(&self, confidence: f64) -> f64 {
        self.rate + self.width(confidence)
    }

    /// Half the width of the one-sided interval of this confidence.
    #[must_use]
    pub fn width(&self, confidence: f64) -> f64 {
        if self.error == 0.0 { 0.0 } else { quantile(confidence, self.freedom) * self.error }
    }
}

/// At most `most` steps: neighbours are merged, the same number of them into each.
fn merged(steps: &[Step], most: usize) -> Vec<Step> {
    let add = |sum: Step, step: &Step| Step { cycles: sum.cycles + step.cycles, change: sum.change + step.change };
    let parts = steps.len().min(most);
    let end = |part: usize| part * steps.len() / parts;
    let part = |part: usize| steps[end(part)..end(part + 1)].iter().fold(Step { cycles: 0.0, change: 0.0 }, add);
    (0..parts).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trgen::rng::mix2;

    /// Draws with mean 0 and variance 1/12.
    fn noise(seed: u64, at: u64) -> f64 {
        (mix2(seed, at) >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    /// The steps of a level with a drift: a share `keep` of each deviation remains in the next step.
    fn level(seed: u64, drift: f64, keep: f64) -> Vec<Step> {
        let (mut deviation, mut last) = (0.0, 0.0);
        (0..120)
            .map(|at| {
                deviation = keep * deviation + noise(seed, at);
                let level = deviation + drift * at as f64;
                let change = level - std::mem::replace(&mut last, level);
                Step { cycles: 1.0, change }
            })
            .collect()
    }

    #[test]
    fn a_level_that_returns_is_told_from_one_that_wanders() {
        let returns = |keep| (0..200).filter(|&seed| Growth::of(&level(seed, 0.0, keep)).unwrap().returns).count();
        assert!(returns(0.2) >= 198 && returns(0.5) >= 190 && returns(1.0) <= 6, "{} {}", returns(0.5), returns(1.0));
    }

    #[test]
    fn growth_is_seldom_found_where_there_is_none() {
        for keep in [0.0, 0.5, 0.8, 0.95, 1.0] {
            let growths = (0..2000).map(|seed| Growth::of(&level(seed, 0.0, keep)).unwrap());
            let wrong = growths.filter(|growth| growth.at_least(0.999) > 0.0).count();
            assert!(wrong <= 12, "{keep}: {wrong} of 2000, 2 were expected");
        }
    }

    #[test]
    fn growth_is_found_where_it_is() {
        let found = |keep, drift| {
            (0..100).filter(|&seed| Growth::of(&level(seed, drift, keep)).unwrap().at_least(0.999) > 0.0).count()
        };
        assert!(found(0.0, 0.01) >= 95 && found(1.0, 0.2) >= 95, "{} {}", found(0.0, 0.01), found(1.0, 0.2));
        let exact = Growth::of(&vec![Step { cycles: 2.0, change: 1.0 }; 40]).unwrap();
        assert!((exact.rate - 0.5).abs() < 1e-12 && exact.at_least(0.999) > 0.499);
    }
}
