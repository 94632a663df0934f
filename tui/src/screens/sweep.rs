//! The points of a sweep: progress, the curves so far, and the state of each point.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::Widget;

use crate::app::App;
use crate::theme::{Role, Theme};
use crate::view::{Figure, Figures, Pace, PointState, Sweep, SweepPoint};
use crate::widgets::{Gauge, Plot, Trace, count, fixed, paint, percent, seconds};

/// Largest number of curves that are drawn at the same time: one for each letter.
const LETTERS: usize = 26;
/// \[rows\] Height of the part above the curves.
const HEAD: u16 = 2;

/// Draws the screen of a sweep.
pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let Some(sweep) = &app.sweep else { return };
    let inner = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    head(app, sweep, inner, buffer);
    let rest = inner.height.saturating_sub(HEAD);
    // Half of the rest, but not more than is readable.
    let curves = if rest >= 12 { (rest / 2).min(inner.width / 4).max(6) } else { 0 };
    let legend = u16::from(curves > 0);
    if curves > 0 {
        let place = Rect { y: inner.y + HEAD, height: curves, ..inner };
        plots(app, sweep, place, buffer);
        self::legend(app, sweep, Rect { y: place.y + curves, height: 1, ..inner }, buffer);
    }
    let used = HEAD + curves + legend;
    let below = Rect { y: inner.y + used, height: inner.height.saturating_sub(used), ..inner };
    points(app, sweep, below, buffer);
}

/// Draws the progress and the estimated remaining time.
fn head(app: &App, sweep: &Sweep, area: Rect, buffer: &mut Buffer) {
    let counts = sweep.counts();
    let ended = counts.done + counts.failed + counts.left_out;
    let mut text = format!("{} of {} points done", counts.done, sweep.points.len());
    if counts.saturated > 0 {
        text.push_str(&format!(" ({} saturated)", counts.saturated));
    }
    if !sweep.over {
        match sweep.left_seconds() {
            Some(left) => text.push_str(&format!(", about {} left", seconds(left))),
            None => text.push_str(", time left not known yet"),
        }
    }
    for (number, what) in [
        (counts.failed, "failed"),
        (counts.running, "running"),
        (counts.waiting, if sweep.over { "not run" } else { "to run" }),
        (counts.left_out, "left out beyond saturation"),
    ] {
        if number > 0 {
            text.push_str(&format!(", {number} {what}"));
        }
    }
    let style = if counts.failed > 0 { app.theme.role(Role::Alarm) } else { app.theme.title() };
    paint(buffer, area, 0, 0, &text, style);
    if area.height > 1 {
        let share = ended as f64 / sweep.points.len().max(1) as f64;
        let bar = Rect { y: area.y + 1, height: 1, ..area };
        Gauge { share, style: app.theme.role(Role::Third) }.render(bar, buffer);
    }
}

/// Index of the first curve to draw. Curves are drawn in groups of [`LETTERS`], and the group with the selected point
/// is shown.
fn first_curve(app: &App, sweep: &Sweep) -> usize {
    let chosen = app.chosen_point().and_then(|point| sweep.points.get(point)).map_or(0, |point| point.curve);
    chosen / LETTERS * LETTERS
}

/// The letter of a curve.
fn letter(curve: usize) -> char {
    char::from(b'a' + (curve % LETTERS) as u8)
}

/// Draws a plot for each figure over the axis of the sweep, side by side.
fn plots(app: &App, sweep: &Sweep, area: Rect, buffer: &mut Buffer) {
    let mut figures = sweep.figures();
    if area.width < 60 {
        figures.truncate(1);
    }
    let (first, ends) = (first_curve(app, sweep), sweep.ends());
    let number = figures.len().max(1) as u16;
    let width = (area.width - (number - 1) * 2) / number;
    for (at, figure) in figures.into_iter().enumerate() {
        let drawn = first..sweep.curves.len().min(first + LETTERS);
        let trace = |curve: usize| Trace {
            letter: letter(curve),
            spots: sweep.spots(curve, figure),
            style: app.theme.curve(curve),
        };
        let traces: Vec<Trace> = drawn.map(trace).collect();
        let place = Rect { x: area.x + at as u16 * (width + 2), width, ..area };
        Plot {
            title: &figure.title(&sweep.load_unit),
            traces: &traces,
            ends,
            labels: labels(sweep, ends),
            decimals: figure.decimals(),
            diagonal: figure == Figure::Accepted && sweep.axis.starts_with("load"),
            may_be_log: figure != Figure::Accepted,
            joined: sweep.words.is_empty(),
            axis: app.theme.faint(),
        }
        .render(place, buffer);
    }
}

/// Labels at the ends of the axis.
fn labels(sweep: &Sweep, (first, last): (f64, f64)) -> (String, String) {
    let word = |x: f64| match sweep.words.get(x as usize) {
        Some(word) => word.clone(),
        None => format!("{}", (x * 1e6).round() / 1e6),
    };
    (word(first), format!("{} {}", sweep.axis, word(last)))
}

/// Draws the letters and names of the curves.
fn legend(app: &App, sweep: &Sweep, area: Rect, buffer: &mut Buffer) {
    // Capital letters are explained only if there are any.
    let note = if sweep.counts().saturated > 0 { "  capital: saturated" } else { "" };
    if sweep.curves.len() == 1 && sweep.curves[0].is_empty() {
        paint(buffer, area, 0, 0, note.trim_start(), app.theme.faint());
        return;
    }
    let room = area.width.saturating_sub(note.len() as u16);
    let (first, all) = (first_curve(app, sweep), sweep.curves.len());
    let mut x = 0;
    for (curve, name) in sweep.curves.iter().enumerate().skip(first).take(LETTERS) {
        let text = if name.is_empty() { letter(curve).to_string() } else { format!("{} {name}", letter(curve)) };
        let more = format!("and {} more", all - curve);
        let last = curve + 1 == all;
        let needed = text.chars().count() + if last { 0 } else { more.len() + 3 };
        if x > 0 && usize::from(x) + needed > usize::from(room) {
            x = paint(buffer, Rect { width: room, ..area }, x, 0, &more, app.theme.faint());
            break;
        }
        x = paint(buffer, Rect { width: room, ..area }, x, 0, &text, app.theme.curve(curve)) + 3;
    }
    paint(
        buffer,
        area,
        area.width.saturating_sub(note.len() as u16).max(x.min(area.width)),
        0,
        note,
        app.theme.faint(),
    );
}

/// Draws the list of points with their states: as many as fit, around the selected one.
fn points(app: &App, sweep: &Sweep, area: Rect, buffer: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let figures = sweep.figures();
    let wide = area.width >= 60;
    let columns = Columns::new(area.width, if wide { figures.len() } else { 0 });
    let keys =
        if wide { "point (up, down: choose; Enter, w: look at a running one)" } else { "point (up, down, Enter)" };
    let theme = app.theme;
    let name_room = Rect { width: columns.state.saturating_sub(1), ..area };
    paint(buffer, name_room, 0, 0, keys, theme.faint());
    paint(buffer, area, columns.state, 0, "state", theme.faint());
    for (at, figure) in figures.iter().enumerate().filter(|_| wide) {
        paint(buffer, area, columns.figure(at), 0, &format!("{:>10}", figure.short()), theme.faint());
    }
    if wide {
        paint(buffer, area, columns.figure(figures.len()), 0, &format!("{:>12}", "took"), theme.faint());
    }
    let rows = usize::from(area.height - 1);
    let chosen = app.chosen_point();
    // The selected one is in the middle, if there are enough above and below.
    let first = chosen.map_or(0, |chosen| chosen.saturating_sub(rows / 2)).min(sweep.points.len().saturating_sub(rows));
    for (y, (number, point)) in sweep.points.iter().enumerate().skip(first).take(rows).enumerate() {
        let row = Rect { y: area.y + y as u16 + 1, height: 1, ..area };
        let shown = sweep.watched == Some(number) && !sweep.over;
        self::point(theme, &columns, &figures, (number, point, shown), row, buffer);
        if Some(number) == chosen && app.chosen.is_some() {
            buffer.set_style(row, Style::new().add_modifier(Modifier::REVERSED));
        }
    }
}

/// \[columns\] Width of a state, such as `running 45 %`.
const STATE: u16 = 13;

/// Positions of the columns of the list.
struct Columns {
    /// Column at which the state begins.
    state: u16,
    /// Column at which the figures begin.
    figures: u16,
}

impl Columns {
    fn new(width: u16, figures: usize) -> Self {
        // State, then figures of 10 columns each and the time of 12.
        let right = STATE + if figures > 0 { 10 * figures as u16 + 12 } else { 0 };
        let state = width.saturating_sub(right);
        Self { state, figures: state + STATE }
    }

    /// Column at which figure `at` begins.
    const fn figure(&self, at: usize) -> u16 {
        self.figures + 10 * at as u16
    }
}

/// Draws a line of the list: number, point, and whether the other screens show it.
fn point(
    theme: Theme,
    columns: &Columns,
    figures: &[Figure],
    (number, point, shown): (usize, &SweepPoint, bool),
    row: Rect,
    buffer: &mut Buffer,
) {
    let room = Rect { width: columns.state.saturating_sub(1), ..row };
    let number = format!("{}{:>4} ", if shown { "▶" } else { " " }, number + 1);
    let mut x = paint(buffer, room, 0, 0, &number, Style::new());
    x = paint(buffer, room, x, 0, letter(point.curve).encode_utf8(&mut [0; 4]), theme.curve(point.curve));
    paint(buffer, room, x + 1, 0, &point.name, Style::new());
    let (state, style) = match &point.state {
        PointState::Waiting => ("-".to_owned(), theme.faint()),
        PointState::Running(pace) => (running(pace), theme.role(Role::First)),
        PointState::Done(Figures { saturated: true, .. }) => ("saturated".to_owned(), theme.role(Role::Second)),
        PointState::Done(_) => ("done".to_owned(), Style::new()),
        PointState::Failed(_) => ("FAILED".to_owned(), theme.role(Role::Alarm)),
        PointState::LeftOut => ("left out".to_owned(), theme.faint()),
    };
    paint(buffer, row, columns.state, 0, &state, style);
    if columns.figures >= row.width {
        return;
    }
    match &point.state {
        PointState::Done(done) => {
            for (at, figure) in figures.iter().enumerate() {
                let value = fixed(done.get(*figure), figure.decimals());
                paint(buffer, row, columns.figure(at), 0, &format!("{value:>10}"), Style::new());
            }
            // A point from an earlier part of the sweep was timed in another process.
            let took = done.seconds.map_or_else(|| "earlier".to_owned(), short_seconds);
            paint(buffer, row, columns.figure(figures.len()), 0, &format!("{took:>12}"), theme.faint());
        }
        PointState::Running(pace) => {
            let speed =
                pace.cycles_per_second.map_or_else(String::new, |speed| format!("{} cycles/s", count(speed as u64)));
            paint(buffer, row, columns.figures, 0, &speed, theme.faint());
            let took = format!("{:>12}", short_seconds(pace.seconds));
            paint(buffer, row, columns.figure(figures.len()), 0, &took, theme.faint());
        }
        PointState::Failed(why) => {
            paint(buffer, row, columns.figures, 0, why, theme.role(Role::Alarm));
        }
        PointState::Waiting | PointState::LeftOut => {}
    }
}

/// The state of a running point.
fn running(pace: &Pace) -> String {
    let share = pace.share.map_or_else(String::new, |share| format!(" {}", percent(share)));
    match (pace.paused, pace.phase.as_str()) {
        (true, _) => format!("paused{share}"),
        (false, "warm-up") => "warm-up".to_owned(),
        (false, _) => format!("running{share}"),
    }
}

/// A duration in seconds with two decimals below 10 s.
fn short_seconds(time: f64) -> String {
    if time < 10.0 { format!("{time:.2} s") } else { seconds(time) }
}
