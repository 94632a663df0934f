//! Latency: percentiles over time, and their histogram.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;

use crate::app::App;
use crate::theme::Role;
use crate::view::Summary;
use crate::widgets::{Chart, Histogram, Series, count, fixed, paint};

/// p50, p90 and p99 over time.
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

pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = app.theme;
    let inner = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let Some(snapshot) = app.latest() else { return };
    paint(
        buffer,
        inner,
        0,
        0,
        "latency (cycles)   packets      mean     p50     p90     p99   p99.9     max",
        theme.faint(),
    );
    summary(inner, 1, "lately", &snapshot.latency.recent, buffer);
    summary(inner, 2, "since it is seen", &snapshot.latency.all, buffer);
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

fn summary(area: Rect, y: u16, name: &str, of: &Summary, buffer: &mut Buffer) {
    let cycles = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), count);
    let text = format!(
        "{name:<17}{:>9}{:>10}{:>8}{:>8}{:>8}{:>8}{:>8}",
        count(of.count),
        fixed(of.mean, 1),
        cycles(of.p50),
        cycles(of.p90),
        cycles(of.p99),
        cycles(of.p999),
        cycles(of.max)
    );
    paint(buffer, area, 0, y, &text, Style::new());
}
