//! The help, over the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Clear, Widget};

use crate::app::{App, Mode};
use crate::widgets::paint;

/// A line of the help: the name of a key, its action, and the short forms of both.
type Key = (&'static str, &'static str, &'static str, &'static str);

/// Keys with the same action for every kind of run.
const COMMON: [Key; 6] = [
    ("1 .. 6, Tab", "screens", "1-6", "screens"),
    ("m", "heat map: queues, links, injection", "m", "map of"),
    ("a, [ and ]", "axes and plane of a grid", "a [ ]", "plane"),
    ("f, arrows, Esc", "look at a router; at none", "f", "a router"),
    ("o", "links: by use, by the queue behind", "o", "links by"),
    ("up, down, PgUp, PgDn", "move a list", "up", "move a list"),
];

/// Keys that control a run of this process.
const LIVE: [Key; 6] = [
    ("p, space", "pause and go on", "p", "pause"),
    ("s, S", "step: 1 cycle, 1000 cycles; then pause", "s S", "1, 1000 on"),
    ("g", "run to a cycle; then pause", "g", "to a cycle"),
    ("-, +, 0", "speed limit: half, double, none", "- + 0", "speed"),
    ("q", "quit; a run ends with partial results", "q", "end it"),
    ("Ctrl-C", "the same; again: at once, without results", "^C", "end it"),
];

/// Keys for a run of another process, which they do not control.
const VIEWER: [Key; 5] = [
    ("p, space", "hold the picture, and follow the run again", "p", "hold"),
    ("s, S", "the next snapshot, the next ten", "s S", "1, 10 on"),
    ("g", "follow to a cycle; then hold", "g", "to a cycle"),
    ("q", "leave; the run goes on", "q", "leave"),
    ("Ctrl-C", "the same", "^C", "leave"),
];

/// Keys for a recording.
const REPLAY: [Key; 6] = [
    ("p, space", "hold, and go on", "p", "hold"),
    ("s, S", "the next snapshot, the next ten", "s S", "1, 10 on"),
    ("g", "to a cycle, back and forth; then hold", "g", "to a cycle"),
    ("-, +", "pace: half, double", "- +", "pace"),
    ("q", "leave", "q", "leave"),
    ("Ctrl-C", "the same", "^C", "leave"),
];

/// Keys for a sweep.
const SWEEP: [Key; 3] = [
    ("7", "the sweep: its points and curves", "7", "the sweep"),
    ("w", "look at the next point that runs", "w", "next point"),
    ("7, then up, down, Enter", "choose a point, and look at it", "Enter", "look at it"),
];

/// The lines of the help for the displayed run.
fn keys(app: &App) -> Vec<Key> {
    let is_sweep = app.sweep.is_some();
    let time: &[Key] = match app.mode {
        Mode::Live => &LIVE,
        Mode::Viewer => &VIEWER,
        Mode::Replay => &REPLAY,
    };
    // The keys that control time come early, and the last two of each kind, which end the run or leave it, at the end.
    let (time, end) = time.split_at(time.len() - 2);
    let mut all = if is_sweep { SWEEP.to_vec() } else { Vec::new() };
    all.extend_from_slice(&COMMON[..1]);
    all.extend_from_slice(time);
    all.extend_from_slice(&COMMON[1..]);
    all.extend_from_slice(end);
    if is_sweep {
        for key in &mut all {
            match key.0 {
                "q" => key.1 = "end the sweep; --resume runs what is missing",
                "p, space" => key.1 = "pause the point that is looked at, and go on",
                _ => {}
            }
        }
    }
    all
}

/// Draws the help over the screen.
pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    /// \[columns\] Width.
    const WIDTH: u16 = 72;
    let keys = keys(app);
    let rows = keys.len() as u16;
    let is_small = area.width < WIDTH || area.height < rows + 4;
    // On a small screen two keys are side by side.
    let rows = if is_small { rows.div_ceil(2) } else { rows };
    let width = if is_small { 40 } else { WIDTH }.min(area.width);
    let height = (rows + if is_small { 2 } else { 4 }).min(area.height);
    let (left, top) = ((area.width - width) / 2, (area.height - height) / 2);
    let place = Rect { x: area.x + left, y: area.y + top, width, height };
    Clear.render(place, buffer);
    let block = Block::bordered().title(" keys (any key: back) ");
    let inside = block.inner(place);
    block.render(place, buffer);
    if is_small {
        for (at, (_, _, key, what)) in keys.iter().enumerate() {
            let (x, y) = (at as u16 / rows * (inside.width / 2) + 1, at as u16 % rows);
            paint(buffer, inside, x, y, key, app.theme.title());
            paint(buffer, inside, x + 6, y, what, app.theme.faint());
        }
        return;
    }
    for (y, (key, what, ..)) in keys.iter().enumerate() {
        paint(buffer, inside, 1, y as u16, key, app.theme.title());
        paint(buffer, inside, 25, y as u16, what, app.theme.faint());
    }
    let about = match app.mode {
        Mode::Live if app.sweep.is_some() => "pause, steps and speed limit end when another point is looked at",
        Mode::Live => "pausing and looking change no result",
        Mode::Viewer => "another process runs it: it goes on whatever keys do here",
        Mode::Replay => "a recording: nothing of the run changes",
    };
    paint(buffer, inside, 1, rows + 1, about, app.theme.faint());
}
