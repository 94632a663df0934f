//! Lines over cycles, in braille dots, with axes. Each line has its own mark, repeated along it.

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
    /// Its points (cycle, value), in order of cycles. A value that is absent leaves a gap.
    pub points: Vec<(u64, Option<f64>)>,
    /// Its style.
    pub style: Style,
}

/// Lines over the same cycles.
#[derive(Clone, Debug)]
pub struct Chart<'a> {
    /// Plotted quantity, with its unit.
    pub title: &'a str,
    /// The lines. Later ones are drawn over earlier ones.
    pub series: &'a [Series],
    /// Number of decimals of values.
    pub decimals: usize,
    /// Style of the axes.
    pub axis: Style,
}

/// Marks of lines, which distinguish them without colour.
const MARKS: [char; 6] = ['o', 'x', '+', '#', '@', '%'];

/// \[columns\] Distance between two marks of a line.
const MARK_DISTANCE: usize = 12;

/// The mark of a line.
fn mark(number: usize) -> char {
    MARKS[number % MARKS.len()]
}

/// The least of 1, 2, 3, 5 and 7.5 times a power of ten that is not below `value`, within 0.1 %; 1 for values that are
/// not positive.
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
        let named = |(number, series): (usize, &Series)| format!(" ━{} {}", mark(number), series.name);
        let valued = |(number, series): (usize, &Series)| {
            let last = series.points.iter().rev().find_map(|point| point.1);
            format!("{} {}", named((number, series)), fixed(last, self.decimals))
        };
        let mut texts: Vec<String> = self.series.iter().enumerate().map(valued).collect();
        let length: usize = texts.iter().map(|text| text.chars().count()).sum();
        // A truncated number would be misread.
        if self.title.chars().count() + 1 + length > usize::from(area.width) {
            texts = self.series.iter().enumerate().map(named).collect();
        }
        names.extend(texts.into_iter().zip(self.series).map(|(text, series)| Span::styled(text, series.style)));
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
        let places: Vec<_> = self.series.iter().map(|series| draw(buffer, plot, series, (first, last), top)).collect();
        // Marks are drawn after all lines, so that no line hides the mark of another.
        for (number, (places, series)) in places.iter().zip(self.series).enumerate() {
            // Marks of different lines are in different columns.
            let shift = MARK_DISTANCE / 2 + number * MARK_DISTANCE / self.series.len().max(1);
            for &(x, y) in marked(places, shift % MARK_DISTANCE) {
                paint(buffer, plot, x as u16, y as u16, mark(number).encode_utf8(&mut [0; 4]), series.style);
            }
        }
    }
}

/// The cells of a line that show its mark: one in every [`MARK_DISTANCE`] columns, and at least one.
fn marked(places: &[(usize, usize)], shift: usize) -> impl Iterator<Item = &(usize, usize)> {
    let mut before = None;
    let regular: Vec<_> =
        places.iter().filter(|&&(x, _)| x % MARK_DISTANCE == shift && before.replace(x) != Some(x)).collect();
    let last = places.last().filter(|_| regular.is_empty());
    regular.into_iter().chain(last)
}

/// Draws a line; returns the cells along it, in order.
fn draw(buffer: &mut Buffer, plot: Rect, series: &Series, (first, last): (u64, u64), top: f64) -> Vec<(usize, usize)> {
    let mut cells = Vec::new();
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
        cells.extend(braille::line(buffer, plot, before.unwrap_or((x, y)), (x, y), series.style));
        before = Some((x, y));
    }
    cells
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
            "share  ━o load 1.0      ",
            "1.0           ⣀⣀⡠⠤⠤⠒⠒⠒⠉⠉",
            "  0 ⣀⣀⡠⠤⠤⠒o⠒⠉⠉          ",
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

    #[test]
    fn lines_are_told_apart_without_colours() {
        let series = ["p50", "p90", "p99"].map(|name| Series {
            name: name.to_owned(),
            points: (0..=10).map(|at| (at * 10, Some(1.0))).collect(),
            style: Style::new(),
        });
        let mut buffer = Buffer::empty(Rect::new(0, 0, 44, 6));
        Chart { title: "cycles", series: &series, decimals: 0, axis: Style::new() }.render(buffer.area, &mut buffer);
        let text = |y: u16| (0..44).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        assert_eq!(text(0).trim_end(), "cycles  ━o p50 1 ━x p90 1 ━+ p99 1");
        // All of them have the same values, and each is visible.
        let count = |mark| text(1).matches(mark).count();
        assert!(count('o') >= 3 && count('x') >= 3 && count('+') >= 3, "{}", text(1));
        // Values that do not fit are omitted.
        let mut narrow = Buffer::empty(Rect::new(0, 0, 32, 6));
        Chart { title: "cycles", series: &series, decimals: 0, axis: Style::new() }.render(narrow.area, &mut narrow);
        let head: String = (0..32).map(|x| narrow[(x, 0)].symbol()).collect();
        assert_eq!(head.trim_end(), "cycles  ━o p50 ━x p90 ━+ p99");
        // A line of a single point has its mark too.
        let one = [Series { name: "p50".to_owned(), points: vec![(7, Some(1.0))], style: Style::new() }];
        let mut buffer = Buffer::empty(Rect::new(0, 0, 44, 6));
        Chart { title: "", series: &one, decimals: 0, axis: Style::new() }.render(buffer.area, &mut buffer);
        assert!(buffer.content[44..].iter().any(|cell| cell.symbol() == "o"));
    }
}
