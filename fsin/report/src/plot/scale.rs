//! Axes: from values to positions, with ticks at round numbers.

/// A range of values mapped to a range of positions.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Value at the lower end.
    low: f64,
    /// Value at the upper end.
    high: f64,
    /// \[units\] Position of the lower end.
    from: i32,
    /// \[units\] Position of the upper end.
    to: i32,
    /// Distance of ticks of a linear axis; `None` for a logarithmic axis.
    step: Option<f64>,
    /// Explicit ticks of a linear axis; empty if they follow from `step`.
    marks: Vec<f64>,
}

impl Axis {
    /// A linear axis from 0, or from `low`, up to a round number above `high`.
    pub(super) fn linear(low: f64, high: f64, from: i32, to: i32) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        let step = step(high - low);
        Self {
            low: (low / step).floor() * step,
            high: (high / step - 1e-9).ceil() * step,
            from,
            to,
            step: Some(step),
            marks: Vec::new(),
        }
    }

    /// A linear axis through some values. If they are few they are its ticks; if they are many, the axis begins at the
    /// lowest of them.
    pub(super) fn through(mut values: Vec<f64>, from: i32, to: i32) -> Self {
        const FEW: usize = 12;
        values.sort_by(f64::total_cmp);
        values.dedup();
        let (low, high) = (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(1.0));
        if values.len() > FEW {
            return Self::linear(low, high, from, to);
        }
        let beside = if high > low { (high - low) / 20.0 } else { 1.0 };
        Self { low: low - beside, high: high + beside, from, to, step: Some(beside), marks: values }
    }

    /// A logarithmic axis around positive values.
    pub(super) fn log(low: f64, high: f64, from: i32, to: i32) -> Self {
        let marks = [1.0, 2.0, 5.0, 10.0];
        let below = |value: f64| {
            let power = 10_f64.powf(value.log10().floor());
            marks.iter().map(|mark| mark * power).filter(|&mark| mark <= value * (1.0 + 1e-9)).fold(power, f64::max)
        };
        let above = |value: f64| {
            let power = 10_f64.powf(value.log10().floor());
            marks.iter().map(|mark| mark * power).find(|&mark| mark >= value * (1.0 - 1e-9)).unwrap_or(10.0 * power)
        };
        let (low, high) = (below(low), above(high));
        Self { low, high: if high > low { high } else { 10.0 * low }, from, to, step: None, marks: Vec::new() }
    }

    /// The same axis with exactly the given ends.
    pub(super) fn between(mut self, low: Option<f64>, high: Option<f64>) -> Self {
        let (low, high) = (low.unwrap_or(self.low), high.unwrap_or(self.high));
        // An axis has an extent, and a logarithmic one is positive.
        if low >= high || self.step.is_none() && low <= 0.0 || !(high - low).is_finite() {
            return self;
        }
        self.marks.retain(|mark| (low..=high).contains(mark));
        (self.low, self.high) = (low, high);
        if self.step.is_some() && self.marks.is_empty() {
            self.step = Some(step(high - low));
        }
        self
    }

    /// The values at the lower and upper end.
    pub(super) const fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// True for a logarithmic axis.
    pub(super) const fn is_log(&self) -> bool {
        self.step.is_none()
    }

    /// True if a value lies on the axis.
    pub(super) fn holds(&self, value: f64) -> bool {
        let slack = 1e-9 * (self.high - self.low);
        (self.low - slack..=self.high + slack).contains(&value)
    }

    /// \[units\] The position of a value. Values beyond the axis are at its end.
    pub(super) fn place(&self, value: f64) -> i32 {
        self.exact(value.clamp(self.low, self.high)).round() as i32
    }

    /// \[units\] The position of a value, also beyond the ends of the axis. On a logarithmic axis, values that are not
    /// positive are far below it.
    pub(super) fn exact(&self, value: f64) -> f64 {
        const FAR: f64 = -1e3;
        let share = if self.step.is_none() {
            if value > 0.0 { (value / self.low).ln() / (self.high / self.low).ln() } else { FAR }
        } else {
            (value - self.low) / (self.high - self.low)
        };
        f64::from(self.from) + f64::from(self.to - self.from) * share
    }

    /// Round values along the axis.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if !self.marks.is_empty() {
            return self.marks.clone();
        }
        if let Some(step) = self.step {
            let first = (self.low / step - 1e-9).ceil();
            let count = ((self.high / step + 1e-9).floor() - first).max(0.0) as usize;
            return (0..=count).map(|at| (first + at as f64) * step).collect();
        }
        let (mut ticks, mut power) = (Vec::new(), 10_f64.powf(self.low.log10().floor()));
        // Over many powers of ten 2 and 5 would overlap.
        let marks: &[f64] = if self.high / self.low > 3e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        while power <= self.high * (1.0 + 1e-9) {
            let within = |tick: &f64| (self.low * (1.0 - 1e-9)..=self.high * (1.0 + 1e-9)).contains(tick);
            ticks.extend(marks.iter().map(|mark| mark * power).filter(within));
            power *= 10.0;
        }
        ticks
    }
}

/// A round tick distance for a range: 1, 2 or 5 times a power of ten, three to nine of them.
fn step(range: f64) -> f64 {
    let rough = range / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let share = rough / power;
    power
        * if share < 1.5 {
            1.0
        } else if share < 3.5 {
            2.0
        } else if share < 7.5 {
            5.0
        } else {
            10.0
        }
}

/// A number for readers, with four significant digits.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { grouped(&text) }
}

/// A number at a tick of an axis: as [`short`], or with a power of ten if that has too many digits for an axis.
pub(super) fn label(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-4..1e7).contains(&size) {
        return short(value);
    }
    let text = format!("{value:.3e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// A number with thin spaces between its thousands.
pub(crate) fn grouped(digits: &str) -> String {
    if digits.trim_start_matches('-').len() < 5 {
        return digits.to_owned();
    }
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        let follows = text.ends_with(|before: char| before.is_ascii_digit());
        if follows && (digits.len() - at).is_multiple_of(3) && digit.is_ascii_digit() {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_enclose_the_values() {
        let axis = Axis::linear(0.0, 0.97, 0, 100);
        let ticks: Vec<String> = axis.ticks().into_iter().map(short).collect();
        assert_eq!(ticks, ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!((axis.place(0.0), axis.place(0.5), axis.place(1.0), axis.place(7.0)), (0, 50, 100, 100));
        let axis = Axis::log(19.0, 430.0, 100, 0);
        assert_eq!(axis.ticks(), [10.0, 20.0, 50.0, 100.0, 200.0, 500.0]);
        assert_eq!((axis.place(10.0), axis.place(500.0)), (100, 0));
        assert_eq!(Axis::linear(3.0, 3.0, 0, 1).ticks().len(), 6, "one value is a range too");
        let axis = Axis::through(vec![3.0, 2.0, 3.0], 0, 110);
        assert_eq!((axis.ticks(), axis.place(2.0), axis.place(3.0)), (vec![2.0, 3.0], 5, 105));
        assert_eq!(Axis::through(vec![7.0], 0, 10).place(7.0), 5);
    }

    #[test]
    fn ends_that_are_given_are_the_ends() {
        let axis = Axis::linear(0.0, 97.0, 0, 130).between(None, Some(130.0));
        assert_eq!((axis.ends(), axis.ticks()), ((0.0, 130.0), vec![0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0]));
        assert!(axis.holds(130.0) && !axis.holds(131.0));
        assert_eq!((axis.place(500.0), axis.exact(260.0)), (130, 260.0));
        let axis = Axis::linear(0.0, 1.0, 0, 100).between(Some(0.3), Some(0.55));
        assert_eq!(
            axis.ticks().into_iter().map(short).collect::<Vec<_>>(),
            ["0.3", "0.35", "0.4", "0.45", "0.5", "0.55"]
        );
        let axis = Axis::log(20.0, 400.0, 0, 100).between(None, Some(300.0));
        assert_eq!((axis.ends(), axis.ticks()), ((20.0, 300.0), vec![20.0, 50.0, 100.0, 200.0]));
        assert!(axis.exact(0.0) < -1e4, "nothing is logarithmically far");
        // Invalid ends change nothing.
        assert_eq!(Axis::linear(0.0, 1.0, 0, 1).between(Some(2.0), Some(2.0)).ends(), (0.0, 1.0));
        assert_eq!(Axis::log(20.0, 400.0, 0, 1).between(Some(0.0), None).ends(), (20.0, 500.0));
        assert_eq!(Axis::through(vec![2.0, 3.0, 4.0], 0, 1).between(None, Some(3.5)).ticks(), [2.0, 3.0]);
    }

    #[test]
    fn a_mark_stands_where_its_value_is() {
        for high in (1..2000).map(|high| f64::from(high) * 0.37) {
            let axis = Axis::linear(0.0, high, 0, 1_000_000);
            let ticks = axis.ticks();
            let last = ticks[ticks.len() - 1];
            assert!((4..=10).contains(&ticks.len()), "{high}: {ticks:?}");
            assert!(last >= high * (1.0 - 1e-9), "{high}: {ticks:?}");
            for &tick in &ticks {
                assert_eq!(axis.place(tick), (1e6 * tick / last).round() as i32, "{high}: {tick} of {ticks:?}");
            }
        }
    }

    #[test]
    fn numbers_have_the_digits_that_matter() {
        for (value, text) in [
            (0.0, "0"),
            (0.299_283, "0.2993"),
            (30.27, "30.27"),
            (286.4, "286.4"),
            (1_090_921.0, "1\u{2009}090\u{2009}921"),
        ] {
            assert_eq!(short(value), text);
        }
        for (value, text) in
            [(0.0, "0"), (5e-5, "5e-5"), (3e12, "3e12"), (1.25e7, "1.25e7"), (-2e8, "-2e8"), (0.25, "0.25")]
        {
            assert_eq!(label(value), text);
        }
    }
}
