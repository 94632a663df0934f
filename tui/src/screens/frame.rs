//! The frame around every screen: title, tabs, state and keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::{App, Mode, Screen};
use crate::theme::Role;
use crate::view::{RunState, Snapshot};
use crate::widgets::{count, exact, fitting, line, paint, percent, seconds};

/// Draws title, tabs, state and keys; returns the remaining area.
pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer) -> Rect {
    let theme = app.theme;
    let name = paint(buffer, area, 0, 0, "fsin  ", theme.title());
    let title = fitting(&title(app), usize::from(area.width.saturating_sub(name)));
    paint(buffer, area, name, 0, &title, theme.faint());

    let mut x = 0;
    let short = area.width < 72;
    let gap = u16::from(area.width >= 100);
    for (number, &screen) in app.screens().iter().enumerate() {
        let chosen = screen == app.screen;
        let name = if short && !chosen { "" } else { screen.name() };
        let style = if chosen { theme.chosen() } else { theme.faint() };
        x = paint(buffer, area, x, 1, &format!(" {} {name} ", number + 1), style) + gap;
    }
    let keys = ["? keys  q quit", "? keys", "?"].into_iter().find(|keys| area.width > x + keys.len() as u16);
    if let Some(keys) = keys {
        paint(buffer, area, area.width - keys.len() as u16, 1, keys, theme.faint());
    }

    let last = area.height - 1;
    match (&app.prompt, &app.notice) {
        (Some(prompt), _) => {
            let x = paint(buffer, area, 0, last, prompt.text(), theme.chosen());
            paint(buffer, area, x, last, &format!("{}_", prompt.answer), theme.title());
        }
        (None, Some(notice)) => {
            paint(buffer, area, 0, last, notice, theme.role(Role::Alarm));
        }
        (None, None) => line(buffer, area, last, status(app, area.width)),
    }
    Rect { y: area.y + 2, height: area.height - 3, ..area }
}

/// The title: the run, or the sweep and the displayed point.
fn title(app: &App) -> String {
    match &app.sweep {
        None => app.about.title.clone(),
        Some(sweep) if app.screen == Screen::Sweep || app.screen == Screen::Log => sweep.title.clone(),
        Some(sweep) => match sweep.watched {
            Some(point) => format!("point {} of {}: {}", point + 1, sweep.points.len(), app.about.title),
            None => format!("no point runs yet: {}", sweep.title),
        },
    }
}

/// The state of the run: as much as fits, the most important part first.
fn status(app: &App, width: u16) -> Line<'static> {
    let theme = app.theme;
    let latest = app.latest();
    if latest.is_none() && app.sweep.is_none() {
        return Line::styled(" WAITING for the run ", theme.chosen());
    }
    let failed = app.has_failed();
    let state = match (latest.map(|snapshot| snapshot.state), app.quitting) {
        _ if failed => "FAILED",
        _ if app.is_over() => "ENDED",
        (_, true) => "STOPPING",
        (Some(RunState::Starting), _) => "STARTING",
        (Some(RunState::Paused), _) => "PAUSED",
        // Another point of the sweep is about to be shown.
        (Some(RunState::Running | RunState::Ended), _) => "RUNNING",
        (None, _) => "WAITING for a point",
    };
    let whose = match app.mode {
        Mode::Live => "",
        Mode::Viewer => " (viewer)",
        Mode::Replay => " (recording)",
    };
    // Each part has one or more shorter forms, for narrow terminals.
    let mut parts: Vec<Vec<String>> = Vec::new();
    if failed {
        parts.push(vec!["6: why".to_owned()]);
    }
    if app.is_over() {
        let words = match (app.mode, &app.sweep) {
            (Mode::Live, None) => vec!["q: leave, and print the results".to_owned(), "q: leave".to_owned()],
            _ => vec!["q: leave".to_owned()],
        };
        parts.push(words);
    }
    if let Some(sweep) = &app.sweep {
        let counts = sweep.counts();
        let ended = counts.done + counts.failed + counts.left_out;
        parts.push(vec![format!("{ended} of {} points", sweep.points.len())]);
    }
    match latest {
        Some(snapshot) if app.sweep.is_none() || !app.is_over() => add_progress(app, snapshot, &mut parts),
        _ => {}
    }
    let elapsed = app.sweep.as_ref().map(|sweep| sweep.elapsed_seconds);
    let elapsed = elapsed.or(latest.map(|snapshot| snapshot.elapsed_seconds));
    parts.extend(elapsed.map(|elapsed| vec![format!("{} elapsed", seconds(elapsed))]));
    let mut text = String::new();
    let room = usize::from(width).saturating_sub(state.len() + whose.len() + 3);
    for part in parts {
        let used = text.chars().count() + 3;
        let Some(part) = part.iter().find(|part| used + part.chars().count() <= room) else { break };
        text.push_str("  ");
        text.push_str(part);
    }
    Line::from(vec![Span::styled(format!(" {state}{whose} "), theme.chosen()), Span::raw(text)])
}

/// Adds the progress and the speed of the run to the parts of the status line.
fn add_progress(app: &App, snapshot: &Snapshot, parts: &mut Vec<Vec<String>>) {
    let point = app.sweep.as_ref().and_then(|sweep| sweep.watched);
    parts.extend(point.map(|point| vec![format!("point {}", point + 1)]));
    parts.push(vec![snapshot.phase.clone()]);
    // The numbers of a paused run are exact, so that a single step is visible.
    let number = if snapshot.state == RunState::Paused { exact } else { count };
    let cycle = format!("cycle {}", number(snapshot.cycle));
    match (snapshot.end, snapshot.share()) {
        (Some(end), Some(done)) => {
            let of = format!("{cycle} of {}", count(end));
            parts.push(vec![format!("{of}, {}", percent(done)), of, cycle]);
        }
        _ => parts.push(vec![cycle]),
    }
    if let Some(speed) = snapshot.cycles_per_second.filter(|_| snapshot.state == RunState::Running) {
        let limit = snapshot.speed_limit.map_or_else(String::new, |limit| format!(" (limit {})", count(limit)));
        parts.push(vec![format!("{} cycles/s{limit}", count(speed as u64))]);
        if let Some(end) = snapshot.end.filter(|&end| end >= snapshot.cycle && speed > 0.0) {
            parts.push(vec![format!("{} left", seconds((end - snapshot.cycle) as f64 / speed))]);
        }
    }
}
