//! Latency of messages from guest to guest.

use hdrhistogram::Histogram;

use crate::clock::Time;

/// Significant digits of quantiles.
const DIGITS: u8 = 3;

/// Latency of messages from guest to guest. Quantiles are at most 0.1 % too large; the other figures are exact.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Latency {
    /// Number of messages.
    pub count: u64,
    /// \[ps\] Arithmetic mean.
    pub mean: f64,
    /// \[ps\] Median.
    pub p50: Time,
    /// \[ps\] 99 % of all latencies are at most this long.
    pub p99: Time,
    /// \[ps\] Maximum.
    pub max: Time,
}

/// Collects latencies of messages.
pub(super) struct Latencies {
    histogram: Histogram<u64>,
    /// \[ps\] Sum of all latencies.
    sum: u128,
    /// \[ps\] Greatest latency.
    max: Time,
}

impl Default for Latencies {
    fn default() -> Self {
        let histogram = Histogram::new(DIGITS).expect("three digits are within 0 to 5");
        Self { histogram, sum: 0, max: 0 }
    }
}

impl Latencies {
    /// Adds a latency \[ps\].
    pub(super) fn record(&mut self, latency: Time) {
        // This cannot fail: the histogram resizes itself.
        let _ = self.histogram.record(latency);
        self.sum += u128::from(latency);
        self.max = self.max.max(latency);
    }

    /// The statistics of all recorded latencies; `None` if there are none.
    pub(super) fn figures(&self) -> Option<Latency> {
        let count = self.histogram.len();
        let quantile = |share| self.histogram.value_at_quantile(share).min(self.max);
        (count > 0).then(|| Latency {
            count,
            mean: self.sum as f64 / count as f64,
            p50: quantile(0.5),
            p99: quantile(0.99),
            max: self.max,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_maximum_are_exact() {
        let mut all = Latencies::default();
        assert_eq!(all.figures(), None);
        for latency in [54_400, 3_280_000, 1_000_000_000_007] {
            all.record(latency);
        }
        let figures = all.figures().unwrap();
        assert_eq!((figures.count, figures.max, figures.p99), (3, 1_000_000_000_007, 1_000_000_000_007));
        assert_eq!(figures.mean, 1_000_003_334_407.0 / 3.0);
        assert!((3_280_000..3_283_300).contains(&figures.p50));
    }
}
