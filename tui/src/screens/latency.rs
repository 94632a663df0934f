//! Latency: percentiles over time, and their histogram.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;

use crate::app::App;
use crate::theme::Role;
use crate::view::Summary;
use crate::widgets::{Chart, Histogram, Series, count, fixed, paint};

/// The curves of p50, p90 and p99 over time.
pub(super) fn percentiles(app: &App) -> Vec<Series> {
    let roles = [("p50", Role::First), ("p90", Role::Second), ("p99", Role::Third)];
    let series = roles.into_iter().enumerate().map(|(at, (name, role))| {
        let points = app.history.points().iter();
        Series {
            name: name.to_owned(),
            points: points.map(|point| (point.cycle, point.latency.map(|latency| latency[at] as f64))).collect(),
            style: app.theme.role(role),
        }
    });
    series.collect()
}

/// Draws the screen of latencies.
pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = app.theme;
    let inner = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let Some(snapshot) = app.latest() else { return };
    let shown = columns(usize::from(inner.width));
    let heads = row("latency (cycles)", &shown, |column| COLUMNS[column].0.to_owned());
    paint(buffer, inner, 0, 0, &heads, theme.faint());
    for (y, name, of) in [(1, "lately", &snapshot.latency.recent), (2, "since it is seen", &snapshot.latency.all)] {
        let figures = figures(of);
        paint(buffer, inner, 0, y, &row(name, &shown, |column| figures[column].clone()), Style::new());
    }
    if inner.height < 9 {
        return;
    }
    let rest = inner.height - 4;
    let upper = Rect { y: inner.y + 4, height: rest / 2, ..inner };
    let series = percentiles(app);
    Chart { title: "latency lately (cycles)", series: &series, decimals: 0, axis: theme.faint() }.render(upper, buffer);
    let lower = Rect { y: upper.y + upper.height + 1, height: rest - rest / 2 - 1, ..inner };
    paint(buffer, lower, 0, 0, "packets by latency (cycles, logarithmic), since it is seen", theme.faint());
    let below = Rect { y: lower.y + 1, height: lower.height.saturating_sub(1), ..lower };
    Histogram { bins: &snapshot.latency.all.bins, style: theme.role(Role::First), axis: theme.faint() }
        .render(below, buffer);
}

/// \[columns\] Width of the name of a row.
const NAME: usize = 17;
/// The statistics of a row: heading, width, and rank. Where there is little room, columns with a lower rank are kept
/// longer.
const COLUMNS: [(&str, usize, usize); 7] =
    [("packets", 9, 0), ("mean", 10, 1), ("p50", 8, 3), ("p90", 8, 5), ("p99", 8, 2), ("p99.9", 8, 6), ("max", 8, 4)];

/// The indices of the statistics that fit, in their order. Others are left out, because a truncated number would be
/// misread.
fn columns(width: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..COLUMNS.len()).collect();
    order.sort_by_key(|&column| COLUMNS[column].2);
    let mut used = NAME;
    order.retain(|&column| {
        used += COLUMNS[column].1;
        used <= width
    });
    order.sort_unstable();
    order
}

/// A line with a name and a word for each column.
fn row(name: &str, columns: &[usize], word: impl Fn(usize) -> String) -> String {
    let cells = columns.iter().map(|&column| format!("{:>width$}", word(column), width = COLUMNS[column].1));
    format!("{name:<NAME$}{}", cells.collect::<String>())
}

/// The words of the statistics.
fn figures(of: &Summary) -> [String; COLUMNS.len()] {
    let cycles = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), count);
    let mean = fixed(of.mean, 1);
    [count(of.count), mean, cycles(of.p50), cycles(of.p90), cycles(of.p99), cycles(of.p999), cycles(of.max)]
}
