//! Numbers for readers, with their significant digits only.

use super::plot::short;

/// The texts of a figure and of half the width of its confidence interval: the latter with two digits, the figure up to
/// the same decimal place. Without an interval, or with one of width 0, the figure has the digits of `short`.
#[must_use]
pub fn rounded(value: f64, ci95: Option<f64>) -> (String, Option<String>) {
    // Rounding errors in sums of equal numbers are not an uncertainty.
    let ci95 = ci95.map(|ci95| if ci95 > EXACT * value.abs() { ci95 } else { 0.0 });
    let Some(place) = ci95.and_then(place) else { return (short(value), ci95.map(short)) };
    (to_place(value, place), ci95.map(|ci95| to_place(ci95, place)))
}

/// Share of a figure. Smaller intervals are rounding errors.
const EXACT: f64 = 1e-12;

/// A share as a change in percent, such as `+8.2 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    match format!("{:+.1}", 100.0 * share) {
        none if none.ends_with("0.0") && none.len() == 4 => "0.0 %".to_owned(),
        some => format!("{some} %"),
    }
}

/// A share as a percentage without a sign.
#[must_use]
pub(crate) fn share(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A figure with its interval, such as `30.2 ± 1.3`.
#[must_use]
pub fn with_interval(value: f64, ci95: Option<f64>) -> String {
    match rounded(value, ci95) {
        (value, Some(ci95)) if ci95 != "0" => format!("{value} ± {ci95}"),
        (value, _) => value,
    }
}

/// The power of ten of the second digit of an interval; `None` for an interval of width 0.
fn place(ci95: f64) -> Option<i32> {
    let first = |value: f64| value.log10().floor() as i32;
    // Rounding may add a digit: 0.0996 is 0.10.
    let rounded = |power: i32| (ci95 / 10_f64.powi(power)).round() * 10_f64.powi(power);
    (ci95 > 0.0 && ci95.is_finite()).then(|| first(rounded(first(ci95) - 1) * (1.0 + 1e-9)) - 1)
}

/// A number rounded to a power of ten, with all its digits up to there.
fn to_place(value: f64, place: i32) -> String {
    /// More digits are meaningless for numbers of 64 bits.
    const MOST: i32 = 17;
    if place > 0 {
        let unit = 10_f64.powi(place);
        return super::plot::grouped(&format!("{:.0}", (value / unit).round() * unit + 0.0));
    }
    let text = format!("{value:.*}", place.abs().min(MOST) as usize);
    // A negative number that is rounded to 0 has no sign.
    let is_zero = text.chars().all(|letter| matches!(letter, '-' | '0' | '.'));
    let text = if is_zero { text.trim_start_matches('-') } else { &text };
    match text.split_once('.') {
        Some((whole, rest)) => format!("{}.{rest}", super::plot::grouped(whole)),
        None => super::plot::grouped(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_end_where_their_uncertainty_does() {
        for (value, ci95, text) in [
            (30.271_828, 1.314, "30.3 ± 1.3"),
            (0.299_283_4, 0.000_412, "0.29928 ± 0.00041"),
            (0.3, 0.000_412, "0.30000 ± 0.00041"),
            (3810.4, 1570.2, "3800 ± 1600"),
            (113.26, 99.6, "110 ± 100"),
            (113.26, 0.099_6, "113.26 ± 0.10"),
            (1_090_921.4, 13.2, "1\u{2009}090\u{2009}921 ± 13"),
            (12_345.678, 0.012, "12\u{2009}345.678 ± 0.012"),
            (50.0, 0.0, "50"),
            (0.100_000_000_000_000_02, 3e-17, "0.1"),
            (-0.000_01, 0.003_8, "0.0000 ± 0.0038"),
            (-3.0, 170.0, "0 ± 170"),
        ] {
            assert_eq!(with_interval(value, Some(ci95)), text);
        }
        assert_eq!(with_interval(30.271_828, None), "30.27");
        assert_eq!([0.0821, -0.0004, 0.0004, -0.2].map(percent), ["+8.2 %", "0.0 %", "0.0 %", "-20.0 %"]);
        assert_eq!(rounded(-2.0, Some(0.51)), ("-2.00".to_owned(), Some("0.51".to_owned())));
    }
}
