//! Latencies in the form in which viewers show them.

use tui::view::Summary;

use fsin_core::stats::Distribution;

/// A summary of the latencies that are in `now` and not in `earlier`, of which `now` is a continuation.
pub(super) fn summary(now: &Distribution, earlier: Option<&Distribution>) -> Summary {
    let values = now.since(earlier);
    let count: u64 = values.iter().map(|(_, count)| count).sum();
    let sum: f64 = values.iter().map(|&(value, count)| value as f64 * count as f64).sum();
    // The smallest value that at least this share of the packets does not exceed.
    let quantile = |share: f64| {
        let rank = (share * count as f64).ceil().max(1.0) as u64;
        let mut passed = 0;
        values.iter().find_map(|&(value, count)| {
            passed += count;
            (passed >= rank).then_some(value)
        })
    };
    Summary {
        count,
        mean: (count > 0).then(|| sum / count as f64),
        p50: quantile(0.5),
        p90: quantile(0.9),
        p99: quantile(0.99),
        p999: quantile(0.999),
        max: values.last().map(|&(value, _)| value),
        bins: bins(&values),
    }
}

/// Puts values and their counts into bins, sixteen for each doubling of the value. A bin is its largest value and its
/// count.
fn bins(values: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut bins: Vec<(u64, u64)> = Vec::new();
    for &(value, count) in values {
        let shift = value.checked_ilog2().map_or(0, |log| log.saturating_sub(4));
        let end = value | ((1 << shift) - 1);
        match bins.last_mut() {
            Some(last) if last.0 == end => last.1 += count,
            _ => bins.push((end, count)),
        }
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_what_came_since() {
        let mut all = Distribution::default();
        (1..=100).for_each(|_| all.record(5));
        let before = all.clone();
        (1..=1000).for_each(|value| all.record(value));
        let since = summary(&all, Some(&before));
        assert_eq!((since.count, since.mean, since.p50, since.p999), (1000, Some(500.5), Some(500), Some(999)));
        assert_eq!((since.max, since.bins.iter().map(|bin| bin.1).sum::<u64>()), (Some(1000), 1000));
        // 15 below 16, and 16 for each of 16 to 31, 32 to 63, ..., 512 to 1000.
        assert_eq!(since.bins.len(), 15 + 6 * 16);
        assert!(since.bins.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let none = summary(&all, Some(&all.clone()));
        assert_eq!((none.count, none.mean, none.p50, none.max), (0, None, None, None));
    }
}
