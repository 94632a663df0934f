//! What keys do, over the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Clear, Widget};

use crate::app::{App, Mode};
use crate::widgets::paint;

const KEYS: &[(&str, &str)] = &[
    ("1 .. 6, Tab", "screens"),
    ("p, space", "pause and go on"),
    ("s, S", "step: 1 cycle, 1000 cycles; then pause"),
    ("g", "run to a cycle; then pause"),
    ("-, +, 0", "speed limit: half, double, none"),
    ("m", "heat map: queues, links, injection"),
    ("a, [ and ]", "axes and plane of a grid"),
    ("f, arrows, Esc", "look at a router; at none"),
    ("o", "links: by use, by the queue behind"),
    ("up, down, PgUp, PgDn", "move a list"),
    ("q", "quit; a run ends with partial results"),
    ("Ctrl-C", "the same; again: at once, without results"),
];

const SWEEP: &[(&str, &str)] = &[
    ("7", "the sweep: its points and curves"),
    ("w", "look at the next point that runs"),
    ("7, then up, down, Enter", "choose a point, and look at it"),
];

const VIEWER: &str = "another process runs it: pause, step and g hold the picture only";
const REPLAY: &str = "a recording: s is a snapshot, S ten; - and + are its pace";

pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let sweep = if app.sweep.is_some() { SWEEP } else { &[] };
    let keys = || sweep.iter().chain(KEYS);
    let rows = keys().count() as u16;
    let width = 72.min(area.width);
    let height = (rows + 4).min(area.height);
    let (left, top) = ((area.width - width) / 2, (area.height - height) / 2);
    let place = Rect { x: area.x + left, y: area.y + top, width, height };
    Clear.render(place, buffer);
    let block = Block::bordered().title(" keys (any key: back) ");
    let inside = block.inner(place);
    block.render(place, buffer);
    for (y, (key, what)) in keys().enumerate() {
        let what = match (*key, app.sweep.is_some()) {
            ("q", true) => "end the sweep; --resume runs what is missing",
            ("p, space", true) => "pause the point that is looked at, and go on",
            _ => *what,
        };
        paint(buffer, inside, 1, y as u16, key, app.theme.title());
        paint(buffer, inside, 25, y as u16, what, app.theme.faint());
    }
    let about = match app.mode {
        Mode::Live if app.sweep.is_some() => "pause, steps and speed limit end when another point is looked at",
        Mode::Live => "pausing and looking change no result",
        Mode::Viewer => VIEWER,
        Mode::Replay => REPLAY,
    };
    paint(buffer, inside, 1, rows + 1, about, app.theme.faint());
}
