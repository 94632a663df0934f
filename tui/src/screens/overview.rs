//! The overview: a summary of everything.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;

use super::{latency, links, network};
use crate::app::App;
use crate::theme::{Role, Theme};
use crate::view::{Point, Snapshot};
use crate::widgets::{Chart, Gauge, Series, count, fixed, line, paint, percent, scale};

/// \[columns\] Width of the figures on the left of the map.
const FIGURES: u16 = 44;

/// Draws the overview.
pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let Some(snapshot) = app.latest() else {
        paint(buffer, area, 1, 0, "waiting for the first snapshot", app.theme.faint());
        return;
    };
    let inner = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let large = inner.width >= 110 && inner.height >= 30;
    let left = match (inner.width, large) {
        (..64, _) => inner,
        (_, true) => Rect { width: inner.width / 2 - 1, ..inner },
        (_, false) => Rect { width: FIGURES, ..inner },
    };
    let right = Rect { x: left.x + left.width + 2, width: (inner.width - left.width).saturating_sub(2), ..inner };
    let rows = figures(app, snapshot, left, buffer);
    let rest = Rect { y: left.y + rows, height: left.height.saturating_sub(rows), ..left };
    if large {
        charts(app, rest, buffer);
    } else {
        busiest(app, rest, buffer);
    }
    if right.width >= 12 && right.height >= 4 {
        let title = format!("{} (2: larger)", app.metric.name());
        paint(buffer, right, 0, 0, &title, app.theme.title());
        let links = if large { 12.min(right.height / 3) } else { 0 };
        let map = Rect { y: right.y + 1, height: right.height - 2 - links, ..right };
        network::map(app, map, buffer);
        line(buffer, right, right.height - 1 - links, scale(app.theme, app.metric.of(), right.width));
        busiest(app, Rect { y: right.y + right.height - links, height: links, ..right }, buffer);
    }
}

/// A series as a line of block characters: the latest `width` values, scaled to their maximum.
fn sparkline(values: impl DoubleEndedIterator<Item = Option<f64>>, width: usize) -> String {
    const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let mut latest: Vec<Option<f64>> = values.rev().take(width).collect();
    latest.reverse();
    let most = latest.iter().flatten().copied().fold(0.0, f64::max);
    let step = |value: Option<f64>| match value {
        Some(value) if most > 0.0 => STEPS[((value / most * 7.0).round() as usize).min(7)],
        Some(_) => STEPS[0],
        None => ' ',
    };
    latest.into_iter().map(step).collect()
}

/// Draws loads, latencies and queues. Returns the number of rows used.
fn figures(app: &App, snapshot: &Snapshot, area: Rect, buffer: &mut Buffer) -> u16 {
    let theme = app.theme;
    let points = app.history.points();
    let last = points.back();
    let spark_at = 24;
    let width = usize::from(area.width.saturating_sub(spark_at));
    let mut y = 0;
    let mut series = |title: &str, value: String, role: Role, of: &dyn Fn(&Point) -> Option<f64>| {
        let end = paint(buffer, area, 0, y, title, Style::new());
        if value.is_empty() && end > 13 {
            // This line is only the heading of those below.
            y += 1;
            return;
        }
        paint(buffer, area, 13, y, &value, theme.role(role));
        paint(buffer, area, spark_at, y, &sparkline(points.iter().map(of), width), theme.role(role));
        y += 1;
    };
    let asked = app.about.offered.map_or_else(String::new, |load| format!(" (asked: {load:.3})"));
    let unit = &app.about.load_unit;
    let title = format!("load{}{unit}{asked}", if unit.is_empty() { "" } else { ", " });
    series(&title, String::new(), Role::First, &|_| None);
    let load = |of: fn(&Point) -> f64| fixed(last.map(of), 4);
    series("  generated", load(|point| point.generated), Role::First, &|point| Some(point.generated));
    series("  injected", load(|point| point.injected), Role::Second, &|point| Some(point.injected));
    series("  accepted", load(|point| point.accepted), Role::Third, &|point| Some(point.accepted));
    series("latency lately, cycles", String::new(), Role::First, &|_| None);
    let cycles = |at: usize| last.and_then(|point| point.latency).map_or_else(|| "-".to_owned(), |of| count(of[at]));
    let percentile = |at: usize| move |point: &Point| point.latency.map(|latency| latency[at] as f64);
    series("  p50", cycles(0), Role::First, &percentile(0));
    series("  p90", cycles(1), Role::Second, &percentile(1));
    series("  p99", cycles(2), Role::Third, &percentile(2));
    series("queues", last.map_or_else(|| "-".to_owned(), |p| percent(p.fill)), Role::Second, &|p| Some(p.fill));
    let packets = &snapshot.packets;
    let counts = format!("packets: {} in flight, {} received", count(packets.in_flight), count(packets.received));
    paint(buffer, area, 0, y, &counts, Style::new());
    let dropped = if packets.dropped > 0 { format!(", {} lost", count(packets.dropped)) } else { String::new() };
    let seconds = app.about.cycle_seconds.map(|seconds| (snapshot.cycle.saturating_sub(1)) as f64 * seconds * 1e6);
    let time = seconds.map_or_else(String::new, |time| format!("simulated {time:.2} us{dropped}"));
    paint(buffer, area, 0, y + 1, &time, theme.faint());
    let extra = u16::from(!time.is_empty());
    if let Some(end) = snapshot.end.filter(|&end| end > 1) {
        let share = snapshot.cycle.saturating_sub(1) as f64 / (end - 1) as f64;
        let bar = Rect { y: area.y + y + 1 + extra, height: 1, ..area };
        if y + 1 + extra < area.height {
            Gauge { share, style: theme.role(Role::Third) }.render(bar, buffer);
        }
    }
    y + 3 + extra
}

/// Draws as many of the busiest links as fit.
fn busiest(app: &App, area: Rect, buffer: &mut Buffer) {
    if area.height < 2 || app.about.links.is_empty() {
        return;
    }
    let theme = app.theme;
    let by = if app.by_queue { "fullest queues behind links" } else { "busiest links" };
    paint(buffer, area, 0, 0, &format!("{by}, phits/cycle, queue"), theme.faint());
    for (at, link) in links::busiest(app).iter().take(usize::from(area.height) - 1).enumerate() {
        let about = &app.about;
        let name = about.link_name(link.router, link.port, link.to);
        let y = at as u16 + 1;
        paint(buffer, area, 0, y, &name, Style::new());
        let bar = Rect { x: area.x + 18, y: area.y + y, width: area.width.saturating_sub(32).min(30), height: 1 };
        let share = link.used.unwrap_or(0.0);
        Gauge { share, style: theme.line(Theme::level(share).max(1)) }.render(bar, buffer);
        let words = format!("{} {:>5}", fixed(link.used, 3), percent(link.queue));
        paint(buffer, area, 19 + bar.width, y, &words, theme.faint());
    }
}

/// Draws the charts of loads and latencies.
fn charts(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = app.theme;
    let points = app.history.points();
    let series = |name: &str, role: Role, of: fn(&Point) -> f64| Series {
        name: name.to_owned(),
        points: points.iter().map(|point| (point.cycle, Some(of(point)))).collect(),
        style: theme.role(role),
    };
    let loads = [
        series("generated", Role::First, |point| point.generated),
        series("injected", Role::Second, |point| point.injected),
        series("accepted", Role::Third, |point| point.accepted),
    ];
    let half = area.height / 2;
    let upper = Rect { height: half.saturating_sub(1), ..area };
    Chart { title: "load", series: &loads, decimals: 3, axis: theme.faint() }.render(upper, buffer);
    let lower = Rect { y: area.y + half, height: area.height - half, ..area };
    let percentiles = latency::percentiles(app);
    Chart { title: "latency (cycles)", series: &percentiles, decimals: 0, axis: theme.faint() }.render(lower, buffer);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparkline_shows_the_latest_values() {
        let values = [9.0, 0.0, 1.0, 2.0].map(Some);
        assert_eq!(sparkline(values.into_iter(), 3), "▁▅█");
        assert_eq!(sparkline([None, Some(0.0)].into_iter(), 9), " ▁");
    }
}
