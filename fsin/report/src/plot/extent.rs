//! Extents of axes: the same for all pictures of one figure, so that they can be compared by eye.

use super::scale::Axis;
use super::{Mark, Scale, Series, Style};

/// Upper end of a linear latency axis, as a multiple of the latency at the lowest load (the largest among the curves).
/// At saturation latency grows without bound, and an axis with all of it would compress the rest into a line along its
/// bottom.
pub(super) const CUT_FACTOR: f64 = 5.0;

/// Ratio of largest to least value above which the axis of curves is logarithmic.
const LOG_RATIO: f64 = 20.0;

/// The same of values along words: bars of a tenth of the height can hardly be compared.
const LOG_RATIO_OF_BARS: f64 = 10.0;

/// Extent of both axes.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Extent {
    /// True for a logarithmic vertical axis.
    pub(super) log: bool,
    /// Upper end of a truncated vertical axis; `None` if no value lies above it.
    pub(super) cut: Option<f64>,
    /// The lowest mean or end of a range; and the upper end of a truncated axis, or else the greatest upper end of a
    /// range or confidence interval.
    values: (f64, f64),
    /// Values along the horizontal axis.
    places: Vec<f64>,
    /// True if the horizontal axis includes 0. Otherwise it covers the range of values, and up to 12 of them are its
    /// ticks.
    from_zero: bool,
    /// Lower and upper end of the horizontal axis, where the user sets them.
    x_ends: (Option<f64>, Option<f64>),
    /// Lower and upper end of the vertical axis, where the user sets them.
    y_ends: (Option<f64>, Option<f64>),
}

impl Extent {
    /// The extent of a figure over the series of all its pictures. `kind` names the vertical axis, such as `latency`.
    /// `may_cut` says whether a linear axis may be truncated.
    pub(super) fn of(
        series: &[&Series],
        kind: &str,
        (log, may_cut): (bool, bool),
        from_zero: bool,
        style: &Style,
    ) -> Self {
        let marks = || series.iter().flat_map(|series| series.drawn());
        let least = marks().map(lower).fold(f64::MAX, f64::min);
        let most = marks().map(upper).fold(0.0, f64::max);
        let first = |series: &&Series| series.drawn().find(|mark| !mark.saturated).map(|mark| mark.value.mean);
        let zero_load = series.iter().filter_map(first).fold(0.0, f64::max);
        let cut = (may_cut && !log && zero_load > 0.0).then_some(CUT_FACTOR * zero_load).filter(|&cut| cut < most);
        let range = |of: &str| style.ranges.iter().rev().find(|range| range.of == of);
        let x = range("x");
        let y = range(kind);
        let is_load = kind == "accepted";
        Self {
            log,
            cut: cut.filter(|_| y.is_none() && (style.ymax.is_none() || is_load)),
            values: (least, cut.unwrap_or(most)),
            places: series.iter().flat_map(|series| &series.spots).map(|mark| mark.x).collect(),
            from_zero,
            x_ends: (x.map(|range| range.low), x.map(|range| range.high).or(style.xmax)),
            y_ends: (y.map(|range| range.low), y.map(|range| range.high).or(style.ymax.filter(|_| !is_load))),
        }
    }

    /// The vertical axis, between the positions `from` and `to`.
    pub(super) fn y(&self, from: i32, to: i32) -> Axis {
        let (low, high) = self.values;
        let axis = if self.log { Axis::log(low, high, from, to) } else { Axis::linear(0.0, high, from, to) };
        axis.between(self.y_ends.0, self.y_ends.1)
    }

    /// The horizontal axis of numbers, between the positions `from` and `to`.
    pub(super) fn x(&self, from: i32, to: i32) -> Axis {
        let least = self.places.iter().copied().fold(f64::MAX, f64::min);
        let most = self.places.iter().copied().fold(f64::MIN, f64::max);
        let axis = if self.from_zero {
            Axis::linear(least.min(0.0), most, from, to)
        } else {
            Axis::through(self.places.clone(), from, to)
        };
        axis.between(self.x_ends.0, self.x_ends.1)
    }
}

/// The upper end of a range or confidence interval.
fn upper(mark: &Mark) -> f64 {
    mark.ends().map_or(mark.value.mean, |(_, high)| high)
}

/// The lower end of a range if a logarithmic axis can show it, otherwise the value.
fn lower(mark: &Mark) -> f64 {
    mark.range.map(|(low, _)| low * mark.factor).filter(|&low| low > 0.0).unwrap_or(mark.value.mean)
}

/// True if an axis of these values is logarithmic. `numeric` says whether the values are along numbers, `may_cut` whether
/// the axis may be truncated instead.
pub(super) fn is_log(series: &[&Series], scale: Scale, is_load: bool, (numeric, may_cut): (bool, bool)) -> bool {
    let ratio = if numeric { LOG_RATIO } else { LOG_RATIO_OF_BARS };
    let values = || series.iter().flat_map(|series| series.drawn().map(|mark| mark.value.mean));
    let positive = values().all(|value| value > 0.0);
    let (least, most) = values().fold((f64::MAX, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
    match scale {
        _ if !positive || is_load || most == 0.0 => false,
        Scale::Auto => !may_cut && most > ratio * least,
        Scale::Linear => false,
        Scale::Log => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsin_experiment::sweep::Value;

    fn series(values: &[(f64, f64, bool)]) -> Series {
        let mark = |&(x, mean, saturated): &(f64, f64, bool)| {
            let value = Value { mean, ci95: None };
            Mark { x, word: x.to_string(), value, raw: value, saturated, undecided: false, range: None, factor: 1.0 }
        };
        Series { spots: values.iter().map(mark).collect(), ..Series::default() }
    }

    fn ends(series: &[&Series], scale: Scale, style: &Style) -> ((f64, f64), bool) {
        let log = is_log(series, scale, false, (true, true));
        let extent = Extent::of(series, "latency", (log, true), true, style);
        (extent.y(0, 100).ends(), extent.cut.is_some())
    }

    #[test]
    fn even_axes_end_at_a_multiple_of_the_latency_at_the_lowest_load() {
        let steep = series(&[(0.1, 20.0, false), (0.5, 60.0, false), (0.6, 4000.0, false)]);
        let slow = series(&[(0.1, 24.0, false), (0.5, 30.0, false)]);
        let plain = Style::default();
        assert_eq!(ends(&[&steep, &slow], Scale::Auto, &plain), ((0.0, 120.0), true), "5 times 24");
        assert_eq!(ends(&[&steep, &slow], Scale::Linear, &plain), ((0.0, 120.0), true));
        assert_eq!(ends(&[&steep, &slow], Scale::Log, &plain), ((20.0, 5000.0), false));
        assert_eq!(ends(&[&slow], Scale::Auto, &plain), ((0.0, 30.0), false), "nothing to cut");
        let given = Style { ymax: Some(250.0), ..Style::default() };
        assert_eq!(ends(&[&steep], Scale::Auto, &given), ((0.0, 250.0), false));
    }

    #[test]
    fn values_that_differ_by_more_than_a_decade_have_a_logarithmic_axis() {
        let of = |most: f64, numeric: bool| {
            is_log(&[&series(&[(0.0, 1.0, false), (1.0, most, false)])], Scale::Auto, false, (numeric, false))
        };
        assert_eq!([of(9.0, false), of(14.0, false), of(14.0, true), of(21.0, true)], [false, true, false, true]);
    }

    #[test]
    fn what_is_not_drawn_needs_no_room() {
        let mut with = series(&[(0.1, 20.0, false), (0.5, 90.0, true)]);
        assert_eq!(ends(&[&with], Scale::Auto, &Style::default()).0, (0.0, 100.0));
        with.hides_saturated = true;
        assert_eq!(ends(&[&with], Scale::Auto, &Style::default()).0, (0.0, 20.0));
    }
}
