//! The busiest links.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

use crate::app::App;
use crate::theme::{Role, Theme};
use crate::view::Layout;
use crate::widgets::{Gauge, fixed, paint, percent};

/// A link and its load.
pub(super) struct Busy {
    /// The router that it leaves.
    pub(super) router: usize,
    /// The port by which it leaves this router.
    pub(super) port: usize,
    /// The router to which it leads.
    pub(super) to: usize,
    /// \[phits/cycle\] Recent utilisation; `None` if unknown.
    pub(super) used: Option<f64>,
    /// Occupancy, 0 to 1, of the queues behind the link.
    pub(super) queue: f64,
}

/// All links, the busiest first: by utilisation, or by the queue behind them.
pub(super) fn busiest(app: &App) -> Vec<Busy> {
    let (about, Some(snapshot)) = (&*app.about, app.latest()) else { return Vec::new() };
    let ports = about.ports.len();
    let of_router = |router: usize| {
        about.linked_ports(router).map(move |(port, to)| Busy {
            router,
            port,
            to,
            used: app.history.link_use(about, router * ports + port),
            queue: snapshot.link_fill(about, router, port),
        })
    };
    let mut links: Vec<Busy> = (0..about.routers).flat_map(of_router).collect();
    let key = |link: &Busy| match app.by_queue {
        true => (link.queue, link.used.unwrap_or(0.0)),
        false => (link.used.unwrap_or(0.0), link.queue),
    };
    // The sort is stable: equally busy links are in the order of routers and ports.
    links.sort_by(|a, b| key(b).0.total_cmp(&key(a).0).then(key(b).1.total_cmp(&key(a).1)));
    links
}

/// Draws the screen of links.
pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let (about, theme) = (&*app.about, app.theme);
    if about.links.is_empty() {
        let why =
            if about.routers == 0 { "this network has no links" } else { "too many links to be shown one by one" };
        paint(buffer, area, 1, 0, why, theme.faint());
        return;
    }
    let links = busiest(app);
    let by = if app.by_queue { "by the queue behind them" } else { "by use" };
    paint(buffer, area, 1, 0, &format!("{} links, {by} (o: the other way)", links.len()), theme.title());
    let wide = area.width >= 100;
    let bar = (area.width.saturating_sub(if wide { 62 } else { 54 }) / 2).min(40);
    let (use_at, queue_at) = (32, 32 + bar + 8);
    paint(buffer, area, 1, 1, "link", theme.faint());
    let column = usize::from(bar + 8);
    let mut heading = |x: u16, words: [&str; 2]| {
        if let Some(words) =
            words.into_iter().find(|words| words.len() < column && usize::from(area.width - x) >= column)
        {
            paint(buffer, area, x, 1, words, theme.faint());
        }
    };
    heading(use_at.min(area.width), ["phits/cycle", "use"]);
    heading(queue_at.min(area.width), ["queue behind", "queue"]);
    // The lower part summarises all links.
    let summary = if area.height >= 16 { 5 } else { 0 };
    let rows = usize::from(area.height.saturating_sub(3 + summary));
    let first = app.scroll.min(links.len().saturating_sub(rows));
    for (at, link) in links.iter().skip(first).take(rows).enumerate() {
        let y = at as u16 + 2;
        let (from, to) = (about.router_name(link.router), about.router_name(link.to));
        let name = match about.layout {
            // The port numbers of switches have no meaning for the user.
            Layout::Rows { .. } => format!("{from} to {to}"),
            _ => format!("{from} {} to {to}", about.ports[link.port]),
        };
        paint(buffer, Rect { width: area.width.min(use_at - 1), ..area }, 1, y, &name, ratatui::style::Style::new());
        let mut gauge = |x: u16, share: f64, words: String| {
            if x + bar + 8 > area.width {
                return;
            }
            let place = Rect { x: area.x + x, y: area.y + y, width: bar, height: 1 };
            Gauge { share, style: theme.line(Theme::level(share).max(1)) }.render(place, buffer);
            paint(buffer, area, x + bar + 1, y, &words, theme.faint());
        };
        gauge(use_at, link.used.unwrap_or(0.0), fixed(link.used, 3));
        gauge(queue_at, link.queue, percent(link.queue));
    }
    if summary > 0 {
        let place = Rect { y: area.y + area.height - summary, height: summary, ..area };
        draw_ports(app, &links, place, buffer);
    }
}

/// Draws, for each port, the mean and the maximum of the utilisation of its links, and the mean occupancy of the queues
/// behind them.
fn draw_ports(app: &App, links: &[Busy], area: Rect, buffer: &mut Buffer) {
    let (about, theme) = (&*app.about, app.theme);
    paint(buffer, area, 1, 0, "of all links", theme.title());
    paint(buffer, area, 16, 0, "mean / most (phits/cycle)   mean queue behind", theme.faint());
    let column = 66;
    let rows = usize::from(area.height - 1);
    for (port, name) in about.ports.iter().enumerate().take(rows * usize::from((area.width / column).max(1))) {
        let of_port: Vec<&Busy> = links.iter().filter(|link| link.port == port).collect();
        let number = of_port.len().max(1) as f64;
        let mean = of_port.iter().filter_map(|link| link.used).sum::<f64>() / number;
        let most = of_port.iter().filter_map(|link| link.used).fold(0.0, f64::max);
        let queue = of_port.iter().map(|link| link.queue).sum::<f64>() / number;
        let (x, y) = ((port / rows) as u16 * column, (port % rows) as u16 + 1);
        paint(buffer, area, x + 2, y, name, theme.role(Role::Third));
        paint(buffer, area, x + 16, y, &format!("{mean:.3} / {most:.3}"), ratatui::style::Style::new());
        paint(buffer, area, x + 44, y, &percent(queue), ratatui::style::Style::new());
    }
}
