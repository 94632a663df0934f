//! Curves of measured points over an axis: the results of a sweep.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;

use super::{braille, fixed, nice, paint};
use crate::view::Spot;

/// A curve.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The letter that marks its points; a capital letter if they are saturated.
    pub letter: char,
    /// Its points, in order of the axis.
    pub spots: Vec<Spot>,
    /// Its style.
    pub style: Style,
}

/// Curves over the same axis. Saturated points are not joined: values beyond saturation depend on the length of the
/// run.
#[derive(Clone, Debug)]
pub struct Plot<'a> {
    /// Plotted quantity, with its unit.
    pub title: &'a str,
    /// The curves. Later ones are drawn over earlier ones.
    pub traces: &'a [Trace],
    /// The ends of the axis.
    pub ends: (f64, f64),
    /// Labels at the ends of the axis.
    pub labels: (String, String),
    /// Number of decimals of values.
    pub decimals: usize,
    /// True to draw a faint line where the figure equals the axis.
    pub diagonal: bool,
    /// True to use a logarithmic scale for values of very different size.
    pub may_be_log: bool,
    /// True to join the points of a curve by lines; false for an axis of words.
    pub joined: bool,
    /// Style of the axes.
    pub axis: Style,
}

/// Least ratio of the greatest to the least value with a logarithmic scale.
const WIDE: f64 = 10.0;

/// A scale of values.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Scale {
    /// Value at the lower end.
    low: f64,
    /// Value at the upper end.
    high: f64,
    /// True for a logarithmic scale.
    log: bool,
}

impl Scale {
    /// The scale of all values; `None` if there are none.
    fn of(traces: &[Trace], may_be_log: bool) -> Option<Self> {
        let values = || traces.iter().flat_map(|trace| &trace.spots).map(|spot| spot.value);
        let (least, most) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
        let log = may_be_log && least > 0.0 && most / least >= WIDE;
        Some(Self { low: if log { round_below(least) } else { 0.0 }, high: nice(most), log })
    }

    /// Position of a value: 0 at the lower end, 1 at the upper one.
    fn share(self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// The greatest of 1, 2, 5, 10, 20, 50, ... (times a power of ten) that is not above a positive `value`.
fn round_below(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [5.0, 2.0, 1.0].map(|step| step * power).into_iter().find(|&low| low <= value).unwrap_or(power)
}

impl Widget for Plot<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let scale = Scale::of(self.traces, self.may_be_log);
        let log = scale.is_some_and(|scale| scale.log);
        paint(buffer, area, 0, 0, &format!("{}{}", self.title, if log { ", log" } else { "" }), self.axis);
        if area.height < 4 || area.width < 16 {
            return;
        }
        let Some(scale) = scale else {
            paint(buffer, area, 0, 1, "nothing has been measured yet", self.axis);
            return;
        };
        // Labels of the bounds have no decimals if these are whole numbers, and otherwise at most two.
        let text = |bound: f64| fixed(Some(bound), if bound == bound.round() { 0 } else { self.decimals.min(2) });
        let (high, low) = (text(scale.high), text(scale.low));
        let width = high.len().max(low.len());
        let margin = width as u16 + 1;
        let plot = Rect { x: area.x + margin, y: area.y + 1, width: area.width - margin, height: area.height - 2 };
        paint(buffer, area, 0, 1, &format!("{high:>width$}"), self.axis);
        paint(buffer, area, 0, area.height - 2, &format!("{low:>width$}"), self.axis);
        let (from, to) = &self.labels;
        let end = area.width.saturating_sub(to.chars().count() as u16);
        if margin + (from.chars().count() as u16) < end {
            paint(buffer, area, margin, area.height - 1, from, self.axis);
        }
        paint(buffer, area, end.max(margin), area.height - 1, to, self.axis);

        let (columns, rows) = braille::size(plot);
        let (first, last) = self.ends;
        let place = |x: f64, value: f64| {
            let across = if last > first { ((x - first) / (last - first)).clamp(0.0, 1.0) } else { 0.5 };
            let column = (across * (columns - 1) as f64).round() as usize;
            (column, ((1.0 - scale.share(value)) * (rows - 1) as f64).round() as usize)
        };
        if self.diagonal && last > first && !scale.log {
            let top = last.min(scale.high);
            if top > first {
                braille::line(buffer, plot, place(first, first), place(top, top), self.axis);
            }
        }
        for Trace { spots, style, .. } in self.traces.iter().filter(|_| self.joined) {
            for pair in spots.windows(2).filter(|pair| !pair[0].saturated && !pair[1].saturated) {
                let (a, b) = (place(pair[0].x, pair[0].value), place(pair[1].x, pair[1].value));
                braille::line(buffer, plot, a, b, *style);
            }
        }
        for Trace { letter, spots, style } in self.traces {
            for spot in spots {
                let (x, y) = place(spot.x, spot.value);
                let letter = if spot.saturated { letter.to_ascii_uppercase() } else { *letter };
                let mark = letter.encode_utf8(&mut [0; 4]).to_owned();
                paint(buffer, plot, (x / 2) as u16, (y / 4) as u16, &mark, *style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spots(values: &[(f64, f64, bool)]) -> Vec<Spot> {
        values.iter().map(|&(x, value, saturated)| Spot { x, value, saturated }).collect()
    }

    fn drawn(values: &[(f64, f64, bool)]) -> Vec<String> {
        let traces = [Trace { letter: 'a', spots: spots(values), style: Style::new() }];
        let mut buffer = Buffer::empty(Rect::new(0, 0, 24, 7));
        let plot = Plot {
            title: "latency",
            traces: &traces,
            ends: (0.0, 1.0),
            labels: ("0".to_owned(), "load 1".to_owned()),
            decimals: 1,
            diagonal: false,
            may_be_log: true,
            joined: true,
            axis: Style::new(),
        };
        plot.render(buffer.area, &mut buffer);
        (0..7).map(|y| (0..24).map(|x| buffer[(x, y)].symbol().to_owned()).collect()).collect()
    }

    #[test]
    fn saturated_places_are_capitals_and_not_joined() {
        let rows = drawn(&[(0.0, 10.0, false), (0.5, 20.0, false), (1.0, 50.0, true)]);
        assert_eq!(rows[0].trim_end(), "latency");
        assert_eq!(rows[1], "50                     A");
        assert!(rows[3].contains('a') && rows[5].starts_with(" 0 "), "{rows:?}");
        assert_eq!(rows[6], "   0              load 1");
        // Beyond the second point no line leads to the third.
        assert!(rows[2..6].iter().all(|row| row.chars().skip(16).take(6).all(|letter| letter == ' ')), "{rows:?}");
    }

    #[test]
    fn values_of_different_size_have_a_logarithmic_scale() {
        let rows = drawn(&[(0.0, 25.0, false), (0.5, 250.0, false), (1.0, 2000.0, false)]);
        assert_eq!(rows[0].trim_end(), "latency, log");
        assert!(rows[1].starts_with("2000 ") && rows[5].starts_with("  20 "), "{rows:?}");
        // Halfway up on the logarithmic scale, not an eighth.
        assert!(rows[3].contains('a'), "{rows:?}");
        let none = drawn(&[]);
        assert!(none[1].starts_with("nothing has been meas"));
        assert!(drawn(&[(0.3, 0.0, false)])[5].contains('a'), "zero is a value");
    }

    #[test]
    fn bounds_are_round() {
        let found = [25.0, 99.0, 100.0, 0.34].map(round_below);
        for (found, expected) in found.into_iter().zip([20.0, 50.0, 100.0, 0.2]) {
            assert!((found - expected).abs() < 1e-9, "{found}");
        }
    }
}
