//! Mean, spread, extremes and percentiles of a quantity in whole cycles.

use hdrhistogram::Histogram;

/// Count, sum and sum of squares: exact integers, so that the result does not depend on the order of recording.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Moments {
    /// Number of values.
    count: u64,
    /// Sum of the values.
    sum: u128,
    /// Sum of the squares of the values.
    sum_of_squares: u128,
    /// Greatest value; 0 without values.
    max: u64,
}

impl Moments {
    /// Adds a value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
        self.sum_of_squares += u128::from(value) * u128::from(value);
        self.max = self.max.max(value);
    }

    /// Adds a value `count` times.
    pub fn record_many(&mut self, value: u64, count: u64) {
        let squares = (u128::from(value) * u128::from(value)).saturating_mul(count.into());
        let max = if count > 0 { value } else { 0 };
        self.merge(&Self { count, sum: u128::from(value) * u128::from(count), sum_of_squares: squares, max });
    }

    /// Adds all values of `other`.
    #[inline]
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
        self.max = self.max.max(other.max);
    }

    /// Adds `times` times more the values recorded since the moments were `earlier`.
    pub(super) fn repeat_since(&mut self, earlier: &Self, times: u64) {
        self.count += times * (self.count - earlier.count);
        self.sum += u128::from(times) * (self.sum - earlier.sum);
        self.sum_of_squares += u128::from(times) * (self.sum_of_squares - earlier.sum_of_squares);
    }

    /// Number of values.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Sum of all values.
    #[must_use]
    pub const fn sum(&self) -> u128 {
        self.sum
    }

    /// Mean; `None` without values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Standard deviation of the values (not of their mean); `None` without values, and where the sum of their squares
    /// exceeds 128 bits.
    #[must_use]
    pub fn std(&self) -> Option<f64> {
        (self.count > 0 && self.sum_of_squares < u128::MAX).then(|| {
            // n * sum(x^2) - sum(x)^2 is exact in integers; only the last steps round. It is computed for the distances
            // from the integer part of the mean, whose squares are small enough for latencies in picoseconds.
            let n = u128::from(self.count);
            let (mean, rest) = (self.sum / n, self.sum % n);
            let squares = self.sum_of_squares - mean * self.sum - mean * rest;
            match n.checked_mul(squares) {
                Some(product) => (product.saturating_sub(rest * rest) as f64).sqrt() / self.count as f64,
                None => (squares as f64 / self.count as f64).sqrt(),
            }
        })
    }

    /// Largest value; `None` without values.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }
}

/// Each value below this one has its own bin, as in a histogram of 3 digits.
const SMALL: usize = 2048;

/// Moments and a histogram, precise to 3 digits.
#[derive(Clone, PartialEq, Debug)]
pub struct Distribution {
    /// Exact count, mean, spread and maximum.
    moments: Moments,
    /// Frequency of each value below [`SMALL`]. Most values are, and counting one is a single addition here.
    small: Box<[u64]>,
    /// Frequencies of all other values.
    large: Histogram<u64>,
}

impl Default for Distribution {
    fn default() -> Self {
        let large = Histogram::new(3).expect("3 significant digits are within the histogram's 0 to 5");
        Self { moments: Moments::default(), small: vec![0; SMALL].into(), large }
    }
}

impl Distribution {
    /// Adds a value.
    #[inline(always)]
    pub fn record(&mut self, value: u64) {
        self.moments.record(value);
        match self.small.get_mut(value as usize) {
            Some(count) => *count += 1,
            None => self.record_large(value),
        }
    }

    /// Counts a value that is not [`SMALL`].
    #[cold]
    fn record_large(&mut self, value: u64) {
        // Not `saturating_record`: that function clamps to the present range, which here is the range of an empty
        // histogram.
        self.large.record(value).expect("an auto-resizing histogram takes every value");
    }

    /// Adds a value `count` times.
    pub fn record_many(&mut self, value: u64, count: u64) {
        self.moments.record_many(value, count);
        match self.small.get_mut(value as usize) {
            Some(frequency) => *frequency += count,
            None => self.large.record_n(value, count).expect("an auto-resizing histogram takes every value"),
        }
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.moments.merge(&other.moments);
        for (count, more) in self.small.iter_mut().zip(&other.small) {
            *count += more;
        }
        // An auto-resizing histogram takes every value of another one.
        let _ = self.large.add(&other.large);
    }

    /// Adds `times` times more the values recorded since the distribution was `earlier`.
    pub(super) fn repeat_since(&mut self, earlier: &Self, times: u64) {
        self.moments.repeat_since(&earlier.moments, times);
        for (count, before) in self.small.iter_mut().zip(&earlier.small) {
            *count += times * (*count - before);
        }
        let now: Vec<(u64, u64)> =
            self.large.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
        for (value, count) in now {
            let before = if value > earlier.large.max() { 0 } else { earlier.large.count_at(value) };
            // The value is within the range of the histogram, which recorded it.
            let _ = self.large.record_n(value, times * (count - before));
        }
    }

    /// Count, mean, spread and maximum: exact.
    #[must_use]
    pub const fn moments(&self) -> &Moments {
        &self.moments
    }

    /// The recorded values as (value, frequency), in ascending order. Values have a precision of 3 digits.
    fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        let small = (0..).zip(self.small.iter().copied());
        small.chain(self.large.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())))
    }

    /// Frequency of the recorded values that agree with `value` to 3 digits.
    fn count_at(&self, value: u64) -> u64 {
        // Beyond its range the histogram returns the count of its last value.
        let large = || if value > self.large.max() { 0 } else { self.large.count_at(value) };
        self.small.get(value as usize).copied().unwrap_or_else(large)
    }

    /// The values recorded since `earlier`, a former state of this distribution, as (value, frequency), in ascending
    /// order; values to 3 digits.
    #[must_use]
    pub fn since(&self, earlier: Option<&Self>) -> Vec<(u64, u64)> {
        let before = |value: u64| earlier.map_or(0, |earlier| earlier.count_at(value));
        let steps = self.recorded().map(|(value, count)| (value, count.saturating_sub(before(value))));
        steps.filter(|&(_, count)| count > 0).collect()
    }

    /// Quantile: the smallest recorded value that at least this share (0 to 1) of the values do not exceed, to 3
    /// digits; `None` without values.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let max = self.moments.max()?;
        let rank = ((share.clamp(0.0, 1.0) * self.moments.count() as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let value = self.recorded().find(|&(_, count)| {
            seen += count;
            seen >= rank
        });
        value.map(|(value, _)| value.min(max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_quantiles_of_one_to_a_thousand() {
        let mut all = Distribution::default();
        let mut half = Distribution::default();
        for value in 1..=1000 {
            if value % 2 == 0 { &mut all } else { &mut half }.record(value);
        }
        all.merge(&half);
        assert_eq!(all.moments().count(), 1000);
        assert_eq!(all.moments().mean(), Some(500.5));
        assert!((all.moments().std().unwrap() - 288.674_989_6).abs() < 1e-6);
        assert_eq!(all.moments().max(), Some(1000));
        assert_eq!(all.quantile(0.5), Some(500));
        assert_eq!(all.quantile(0.999), Some(999));
    }

    #[test]
    fn many_equal_values_are_recorded_at_once() {
        let (mut one_by_one, mut at_once) = (Distribution::default(), Distribution::default());
        for (value, count) in [(7, 3), (5_000, 2), (9, 0)] {
            (0..count).for_each(|_| one_by_one.record(value));
            at_once.record_many(value, count);
        }
        assert_eq!(one_by_one, at_once);
        at_once.record_many(1 << 52, 1 << 43);
        assert_eq!((at_once.moments().std(), at_once.quantile(0.5).is_some()), (None, true));
    }

    #[test]
    fn quantiles_of_large_values_are_theirs() {
        let mut all = Distribution::default();
        let mut large = Distribution::default();
        for value in [1, 2047, 2048, 100_000, 1 << 40] {
            if value < 2048 { &mut all } else { &mut large }.record(value);
        }
        all.merge(&large);
        let precise = |share: f64, expected: u64| {
            let found = all.quantile(share).unwrap();
            assert!(found.abs_diff(expected) <= expected / 1000, "{share}: {found}, not {expected}");
        };
        precise(0.2, 1);
        precise(0.4, 2047);
        precise(0.6, 2048);
        precise(0.8, 100_000);
        precise(1.0, 1 << 40);
        Distribution::default().record(u64::MAX);
    }

    #[test]
    fn what_came_since_is_the_difference() {
        let mut all = Distribution::default();
        all.record(3);
        all.record(7);
        let before = all.clone();
        all.record(7);
        all.record(100_000);
        assert_eq!(before.since(None), [(3, 1), (7, 1)]);
        let since = all.since(Some(&before));
        assert_eq!((since[0], since.len(), since[1].1), ((7, 1), 2, 1));
        assert!(since[1].0.abs_diff(100_000) <= 100);
        assert_eq!(all.since(Some(&all.clone())), []);
        // The range of the former state ends before the new value.
        let mut all = Distribution::default();
        all.record(4095);
        let before = all.clone();
        all.record(100_000);
        assert_eq!(all.since(Some(&before)).len(), 1);
    }

    #[test]
    fn nothing_recorded_is_absent_not_zero() {
        let none = Distribution::default();
        assert_eq!(none.moments().mean(), None);
        assert_eq!(none.moments().std(), None);
        assert_eq!(none.quantile(0.5), None);
    }
}
