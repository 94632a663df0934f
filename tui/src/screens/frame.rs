//! What surrounds every screen: title, tabs, state and keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::{App, Mode, Screen};
use crate::theme::Role;
use crate::view::RunState;
use crate::widgets::{count, line, paint, percent, seconds};

/// Draws title, tabs, state and keys; returns what is left for the screen.
pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer) -> Rect {
    let theme = app.theme;
    let name = paint(buffer, area, 0, 0, "fsin  ", theme.title());
    paint(buffer, area, name, 0, &app.about.title, theme.faint());

    let mut x = 0;
    let short = area.width < 72;
    for (number, screen) in Screen::ALL.into_iter().enumerate() {
        let chosen = screen == app.screen;
        let name = if short && !chosen { "" } else { screen.name() };
        let style = if chosen { theme.chosen() } else { theme.faint() };
        x = paint(buffer, area, x, 1, &format!(" {} {name} ", number + 1), style) + 1;
    }
    let keys = "? keys  q quit";
    let at = area.width.saturating_sub(keys.len() as u16);
    if at > x {
        paint(buffer, area, at, 1, keys, theme.faint());
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

/// The state of the run: what there is room for, the most important first.
fn status(app: &App, width: u16) -> Line<'static> {
    let theme = app.theme;
    let Some(snapshot) = app.latest() else { return Line::styled(" WAITING for the run ", theme.chosen()) };
    let state = match (snapshot.state, app.quitting) {
        (RunState::Ended, _) => "ENDED",
        (_, true) => "STOPPING",
        (RunState::Starting, _) => "STARTING",
        (RunState::Paused, _) => "PAUSED",
        (RunState::Running, _) => "RUNNING",
    };
    let whose = match app.mode {
        Mode::Live => "",
        Mode::Viewer => " (viewer)",
        Mode::Replay => " (recording)",
    };
    let mut parts = vec![snapshot.phase.clone()];
    match snapshot.end {
        Some(end) if end > 1 && end >= snapshot.cycle => {
            let done = snapshot.cycle.saturating_sub(1) as f64 / (end - 1) as f64;
            parts.push(format!("cycle {} of {}, {}", count(snapshot.cycle), count(end), percent(done)));
        }
        _ => parts.push(format!("cycle {}", count(snapshot.cycle))),
    }
    match snapshot.cycles_per_second {
        Some(speed) if snapshot.state == RunState::Running => {
            let limit = snapshot.speed_limit.map_or_else(String::new, |limit| format!(" (limit {})", count(limit)));
            parts.push(format!("{} cycles/s{limit}", count(speed as u64)));
            if let Some(end) = snapshot.end.filter(|&end| end >= snapshot.cycle && speed > 0.0) {
                parts.push(format!("{} left", seconds((end - snapshot.cycle) as f64 / speed)));
            }
        }
        _ => {}
    }
    if snapshot.state == RunState::Ended {
        parts.push(if app.mode == Mode::Live { "q: leave, and print the results" } else { "q: leave" }.to_owned());
    }
    parts.push(format!("{} elapsed", seconds(snapshot.elapsed_seconds)));
    let mut text = String::new();
    let room = usize::from(width).saturating_sub(state.len() + whose.len() + 3);
    for part in parts {
        if text.chars().count() + part.chars().count() + 3 > room {
            break;
        }
        text.push_str("  ");
        text.push_str(&part);
    }
    Line::from(vec![Span::styled(format!(" {state}{whose} "), theme.chosen()), Span::raw(text)])
}
