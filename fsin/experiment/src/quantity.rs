//! Rates with units, such as `10Gb/s` and `5Gflop/s`.

/// Prefixes of rates, with their factors.
const PREFIXES: &[(&str, f64)] = &[
    ("T", 1e12),
    ("G", 1e9),
    ("M", 1e6),
    ("k", 1e3),
    ("K", 1e3),
    ("Ti", (1u64 << 40) as f64),
    ("Gi", (1u64 << 30) as f64),
    ("Mi", (1u64 << 20) as f64),
    ("Ki", 1024.0),
    ("", 1.0),
];

/// A rate in `unit` per second: `10Gb/s` or `10Gbps` with unit `b` is 1e10. `None` if malformed, not positive, or not finite.
pub(super) fn rate(text: &str, unit: &str) -> Option<f64> {
    let text = text.trim();
    let number_ends = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | 'e' | 'E')))?;
    let (number, rest) = text.split_at(number_ends);
    let rest = rest.trim_start();
    let prefix = rest.strip_suffix("/s").or_else(|| rest.strip_suffix("ps"))?.strip_suffix(unit)?;
    let &(_, factor) = PREFIXES.iter().find(|&&(name, _)| name == prefix)?;
    let rate = number.parse::<f64>().ok()? * factor;
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

/// \[b/s\] A rate in bits per second, or in bytes per second: `10Gb/s`, `450GB/s`.
pub(super) fn bits_per_second(text: &str) -> Option<f64> {
    rate(text, "b").or_else(|| Some(8.0 * rate(text, "B")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_a_number_a_prefix_and_a_unit() {
        assert_eq!(rate("10Gb/s", "b"), Some(10e9));
        assert_eq!(rate("2.5 Tb/s", "b"), Some(2.5e12));
        assert_eq!(rate("100b/s", "b"), Some(100.0));
        assert_eq!((rate("10Gbps", "b"), bits_per_second("450GBps")), (Some(10e9), Some(3.6e12)));
        assert_eq!(rate("5Gflop/s", "flop"), Some(5e9));
        assert_eq!(
            (rate("1.5Gib/s", "b"), bits_per_second("46GiB/s")),
            (Some(1.5 * 1073741824.0), Some(46.0 * 8.0 * 1073741824.0))
        );
        assert_eq!((bits_per_second("450GB/s"), bits_per_second("3.6Tb/s")), (Some(3.6e12), Some(3.6e12)));
        for bad in ["", "10", "Gb/s", "10Gb", "10GB/s", "0Gb/s", "-1Gb/s", "1e999Gb/s", "10Xb/s"] {
            assert_eq!(rate(bad, "b"), None, "{bad}");
        }
    }
}
