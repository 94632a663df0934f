//! Lines over cycles, in braille dots, with axes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{braille, count, fixed, paint};

/// One line.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points (cycle, value), in order; values that are absent leave a gap.
    pub points: Vec<(u64, Option<f64>)>,
    /// How it is drawn.
    pub style: Style,
}

/// Lines over the same cycles.
#[derive(Clone, Debug)]
pub struct Chart<'a> {
    /// What is drawn, with its unit.
    pub title: &'a str,
    /// The lines; later ones over earlier ones.
    pub series: &'a [Series],
    /// Decimals of values.
    pub decimals: usize,
    /// How axes are drawn.
    pub axis: Style,
}

/// The least of 1, 2, 5, 10, 20, 50, ... (times a power of ten) that is not below `value`; 1 for what is not positive.
#[must_use]
pub fn nice(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 3.0, 5.0, 7.5, 10.0]
        .map(|step| step * power)
        .into_iter()
        .find(|&top| top >= value * 0.999)
        .unwrap_or(value)
}

impl Widget for Chart<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let mut names = vec![Span::styled(format!("{} ", self.title), self.axis)];
        for series in self.series {
            let last = series.points.iter().rev().find_map(|point| point.1);
            names.push(Span::styled(format!(" ━ {} {}", series.name, fixed(last, self.decimals)), series.style));
        }
        super::line(buffer, area, 0, Line::from(names));
        if area.height < 4 || area.width < 20 {
            return;
        }
        let values = || self.series.iter().flat_map(|series| &series.points);
        let cycles = (values().map(|point| point.0).min(), values().map(|point| point.0).max());
        let (Some(first), Some(last)) = cycles else {
            paint(buffer, area, 0, 1, "nothing has been measured yet", self.axis);
            return;
        };
        let top = nice(values().filter_map(|point| point.1).fold(0.0, f64::max));
        let label = fixed(Some(top), self.decimals);
        let margin = label.chars().count() as u16 + 1;
        let plot = Rect { x: area.x + margin, y: area.y + 1, width: area.width - margin, height: area.height - 2 };
        paint(buffer, area, 0, 1, &label, self.axis);
        paint(buffer, area, 0, area.height - 2, &format!("{:>width$}", 0, width = label.chars().count()), self.axis);
        let (from, to) = (count(first), format!("cycle {}", count(last)));
        paint(buffer, area, margin, area.height - 1, &from, self.axis);
        let end = area.width.saturating_sub(to.chars().count() as u16);
        paint(buffer, area, end, area.height - 1, &to, self.axis);
        for series in self.series {
            draw(buffer, plot, series, (first, last), top);
        }
    }
}

fn draw(buffer: &mut Buffer, plot: Rect, series: &Series, (first, last): (u64, u64), top: f64) {
    let (columns, rows) = braille::size(plot);
    let span = (last - first).max(1) as f64;
    let place = |(cycle, value): (u64, f64)| {
        let x = ((cycle - first) as f64 / span * (columns - 1) as f64).round() as usize;
        let y = ((1.0 - (value / top).clamp(0.0, 1.0)) * (rows - 1) as f64).round() as usize;
        (x.min(columns - 1), y.min(rows - 1))
    };
    let mut before: Option<(usize, usize)> = None;
    for &(cycle, value) in &series.points {
        let Some(value) = value else {
            before = None;
            continue;
        };
        let (x, y) = place((cycle, value));
        braille::line(buffer, plot, before.unwrap_or((x, y)), (x, y), series.style);
        before = Some((x, y));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tops_are_round_and_never_too_low() {
        for (value, top) in [(0.3, 0.3), (0.31, 0.5), (42.0, 50.0), (99.0, 100.0), (0.0, 1.0), (f64::NAN, 1.0)] {
            assert!((nice(value) - top).abs() < 1e-9, "{value}: {}", nice(value));
        }
    }

    #[test]
    fn a_rising_line_rises() {
        let series = [Series {
            name: "load".to_owned(),
            points: vec![(0, Some(0.0)), (50, Some(0.5)), (100, Some(1.0))],
            style: Style::new(),
        }];
        let mut buffer = Buffer::empty(Rect::new(0, 0, 24, 4));
        let chart = Chart { title: "share", series: &series, decimals: 1, axis: Style::new() };
        chart.render(buffer.area, &mut buffer);
        let expected = Buffer::with_lines([
            "share  ━ load 1.0       ",
            "1.0           ⣀⣀⡠⠤⠤⠒⠒⠒⠉⠉",
            "  0 ⣀⣀⡠⠤⠤⠒⠒⠒⠉⠉          ",
            "    0          cycle 100",
        ]);
        assert_eq!(buffer.content.len(), expected.content.len());
        let text = |buffer: &Buffer, y: u16| (0..24).map(|x| buffer[(x, y)].symbol().to_owned()).collect::<String>();
        assert_eq!((text(&buffer, 0), text(&buffer, 3)), (text(&expected, 0), text(&expected, 3)));
        assert_ne!(buffer[(23, 1)].symbol(), " ");
        assert_ne!(buffer[(4, 2)].symbol(), " ");
        assert_eq!((buffer[(23, 2)].symbol(), buffer[(4, 1)].symbol()), (" ", " "));
    }

    #[test]
    fn a_gap_stays_a_gap() {
        let points = vec![(0, Some(1.0)), (50, None), (100, Some(1.0))];
        let series = [Series { name: "p99".to_owned(), points, style: Style::new() }];
        let mut buffer = Buffer::empty(Rect::new(0, 0, 24, 5));
        Chart { title: "", series: &series, decimals: 0, axis: Style::new() }.render(buffer.area, &mut buffer);
        assert_eq!(buffer[(12, 1)].symbol(), " ");
    }
}
