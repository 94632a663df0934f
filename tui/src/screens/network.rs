//! The heat map of the network.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

use crate::app::App;
use crate::view::Layout;
use crate::widgets::{Arrow, Gauge, Grid, LinkCell, Rows, count, fixed, line, paint, percent, scale};

/// \[columns\] Width of a router's details beside the map.
const BESIDE: u16 = 40;
/// \[rows\] Height of a router's details below the map.
const BELOW: u16 = 3;

/// Draws the screen of the heat map.
pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    if area.height < 3 {
        return;
    }
    let theme = app.theme;
    let what = format!("{} (m: next){}", app.metric.name(), describe_plane(app));
    paint(buffer, area, 1, 0, &what, theme.title());
    line(
        buffer,
        Rect { x: area.x + 1, width: area.width - 1, ..area },
        area.height - 1,
        scale(theme, app.metric.of(), area.width),
    );
    let inner = Rect { x: area.x + 1, y: area.y + 1, width: area.width - 1, height: area.height - 2 };
    let map = match app.focus {
        None => inner,
        Some(router) if area.width >= 2 * BESIDE + 20 => {
            let beside = Rect { x: inner.x + inner.width - BESIDE, width: BESIDE, ..inner };
            router_in_full(app, router, beside, buffer);
            Rect { width: inner.width - BESIDE - 2, ..inner }
        }
        Some(router) if inner.height > BELOW + 6 => {
            let below = Rect { y: inner.y + inner.height - BELOW, height: BELOW, ..inner };
            router_in_short(app, router, below, buffer);
            Rect { height: inner.height - BELOW, ..inner }
        }
        Some(_) => inner,
    };
    self::map(app, map, buffer);
}

/// Draws only the routers, as large as possible.
pub(super) fn map(app: &App, area: Rect, buffer: &mut Buffer) {
    let about = &*app.about;
    if about.routers == 0 {
        paint(buffer, area, 0, 0, "this network has no routers to look at", app.theme.faint());
        return;
    }
    let heat = |router: usize| app.heat(router);
    match &about.layout {
        Layout::Grid { sizes } => draw_grid(app, sizes, area, buffer),
        Layout::Rows { name, rows } => {
            let rows: Vec<(String, Vec<u32>)> =
                rows.iter().enumerate().map(|(at, routers)| (format!("{name} {at}"), routers.clone())).collect();
            Rows { rows: &rows, router: &heat, focus: app.focus, theme: app.theme }.render(area, buffer);
        }
        Layout::List => {
            let across = usize::from(area.width / 3).max(1).min(about.routers);
            let rows: Vec<(String, Vec<u32>)> = (0..about.routers)
                .step_by(across)
                .map(|first| {
                    (first.to_string(), (first..(first + across).min(about.routers)).map(|at| at as u32).collect())
                })
                .collect();
            Rows { rows: &rows, router: &heat, focus: app.focus, theme: app.theme }.render(area, buffer);
        }
    }
}

/// The routers of a plane, by their position in it.
struct Plane<'a> {
    app: &'a App,
    /// Routers in each dimension of the grid.
    sizes: &'a [u32],
    /// The dimension from left to right.
    across: usize,
    /// The dimension from top to bottom; `None` for a grid of one dimension.
    down: Option<usize>,
}

impl Plane<'_> {
    /// The router at a position.
    fn router(&self, x: usize, y: usize) -> usize {
        let at = |dimension: usize| match dimension {
            d if d == self.across => x,
            d if Some(d) == self.down => y,
            d => self.app.plane.get(d).map_or(0, |&at| at as usize),
        };
        let sizes = self.sizes.iter().enumerate().rev();
        sizes.fold(0, |number, (dimension, &size)| number * size as usize + at(dimension))
    }

    /// Number of routers across and down.
    fn size(&self) -> (usize, usize) {
        let down = self.down.map_or(1, |down| self.sizes[down] as usize);
        (self.sizes[self.across] as usize, down)
    }

    /// The links between two routers, by their fuller direction; `None` if there is none.
    fn link(&self, from: usize, to: usize) -> Option<LinkCell> {
        let heat = |from: usize, to: usize| {
            let ports = self.app.about.linked_ports(from).filter(|&(_, end)| end == to);
            ports.map(|(port, _)| self.app.link_heat(from, port)).reduce(f64::max)
        };
        let (forth, back) = (heat(from, to), heat(to, from));
        forth.or(back)?;
        let (forth, back) = (forth.unwrap_or(0.0), back.unwrap_or(0.0));
        let arrow = match forth - back {
            more if more > 0.1 => Arrow::Forth,
            less if less < -0.1 => Arrow::Back,
            _ => Arrow::Both,
        };
        Some(LinkCell { share: forth.max(back), arrow })
    }
}

/// Draws the current plane of a grid.
fn draw_grid(app: &App, sizes: &[u32], area: Rect, buffer: &mut Buffer) {
    let plane = Plane { app, sizes, across: app.axes.0, down: (app.axes.1 != app.axes.0).then_some(app.axes.1) };
    let size = plane.size();
    let focus = app.focus.and_then(|focus| {
        let coordinates = app.about.coordinates(focus)?;
        let shown = |dimension: usize| dimension == plane.across || Some(dimension) == plane.down;
        let here = (0..sizes.len()).all(|dimension| shown(dimension) || coordinates[dimension] == app.plane[dimension]);
        let y = plane.down.map_or(0, |down| coordinates[down] as usize);
        here.then_some((coordinates[plane.across] as usize, y))
    });
    Grid {
        size,
        router: &|x, y| app.heat(plane.router(x, y)),
        right: &|x, y| plane.link(plane.router(x, y), plane.router((x + 1) % size.0, y)),
        below: &|x, y| plane.link(plane.router(x, y), plane.router(x, (y + 1) % size.1)),
        focus,
        theme: app.theme,
    }
    .render(area, buffer);
}

/// The name of a dimension.
fn dimension_name(dimension: usize) -> String {
    match dimension {
        0..3 => ["X", "Y", "Z"][dimension].to_owned(),
        _ => format!("dimension {dimension}"),
    }
}

/// The text that explains which routers are shown, and how they are arranged.
fn describe_plane(app: &App) -> String {
    let sizes = match &app.about.layout {
        Layout::Grid { sizes } => sizes,
        Layout::Rows { name, .. } if name == "stage" => {
            return "  stage 0: endpoints; stage n: switches n links away".to_owned();
        }
        Layout::Rows { name, .. } => return format!("  each {name}: its endpoints, then its switches"),
        Layout::List => return "  in the order of their numbers".to_owned(),
    };
    let others: Vec<String> = (0..sizes.len())
        .filter(|&dimension| dimension != app.axes.0 && dimension != app.axes.1)
        .map(|dimension| format!("{} = {} of {}", dimension_name(dimension), app.plane[dimension], sizes[dimension]))
        .collect();
    let (across, down) = (dimension_name(app.axes.0), dimension_name(app.axes.1));
    match (sizes.len(), others.is_empty()) {
        (1, _) => String::new(),
        (_, true) => format!("  {across} across, {down} down"),
        (_, false) => format!("  {across} across, {down} down (a); plane {} ([ ])", others.join(", ")),
    }
}

/// Draws the details of a router in a few lines.
fn router_in_short(app: &App, router: usize, area: Rect, buffer: &mut Buffer) {
    let Some(snapshot) = app.latest() else { return };
    let (about, theme) = (&*app.about, app.theme);
    let waiting = snapshot.waiting.get(router).copied().unwrap_or(0);
    let head = format!(
        "router {}: queues {}, injection {}, {} packets before it",
        about.router_name(router),
        percent(snapshot.queue_fill(about, router)),
        percent(snapshot.injection_fill(about, router)),
        count(waiting)
    );
    paint(buffer, area, 0, 0, &head, theme.title());
    let mut x = 0;
    let mut y = 1;
    for (port, to) in about.linked_ports(router) {
        let share = app.history.link_use(about, router * about.ports.len() + port);
        let queue = percent(snapshot.link_fill(about, router, port));
        let text = format!("{} to {to}: {} phits/cycle, queue {queue}   ", about.ports[port], fixed(share, 2));
        if x + text.len() as u16 > area.width {
            (x, y) = (0, y + 1);
        }
        x = paint(buffer, area, x, y, &text, theme.faint());
    }
}

/// Draws the details of a router, with a bar for each queue and link.
fn router_in_full(app: &App, router: usize, area: Rect, buffer: &mut Buffer) {
    let Some(snapshot) = app.latest() else { return };
    let (about, theme) = (&*app.about, app.theme);
    paint(buffer, area, 0, 0, &format!("router {}", about.router_name(router)), theme.title());
    let mut gauge = |y: u16, name: &str, share: f64, value: String| {
        paint(buffer, area, 0, y, name, theme.faint());
        let bar = Rect { x: area.x + 18, y: area.y + y, width: 12, height: 1 };
        if y < area.height {
            Gauge { share, style: theme.line(crate::theme::Theme::level(share).max(4)) }.render(bar, buffer);
        }
        paint(buffer, area, 31, y, &value, theme.faint());
    };
    let (transit, injection) = (snapshot.queue_fill(about, router), snapshot.injection_fill(about, router));
    gauge(2, "transit queues", transit, percent(transit));
    gauge(3, "injection queues", injection, percent(injection));
    let ports: Vec<(usize, usize)> = about.linked_ports(router).collect();
    for (at, &(port, to)) in ports.iter().enumerate() {
        let y = 8 + 2 * at as u16;
        let queue = snapshot.link_fill(about, router, port);
        gauge(y, &format!("{} queue at {to}", about.ports[port]), queue, percent(queue));
        let used = app.history.link_use(about, router * about.ports.len() + port);
        gauge(y + 1, "   phits/cycle", used.unwrap_or(0.0), fixed(used, 2));
    }
    let waiting = snapshot.waiting.get(router).copied().unwrap_or(0);
    paint(buffer, area, 0, 4, &format!("before injection  {} packets", count(waiting)), theme.faint());
    paint(buffer, area, 0, 6, "links that leave it", theme.title());
}
