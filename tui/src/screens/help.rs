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

const VIEWER: &str = "another process runs it: pause, step and g hold the picture only";
const REPLAY: &str = "a recording: s is a snapshot, S ten; - and + are its pace";

pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let width = 68.min(area.width);
    let height = (KEYS.len() as u16 + 4).min(area.height);
    let (left, top) = ((area.width - width) / 2, (area.height - height) / 2);
    let place = Rect { x: area.x + left, y: area.y + top, width, height };
    Clear.render(place, buffer);
    let block = Block::bordered().title(" keys (any key: back) ");
    let inside = block.inner(place);
    block.render(place, buffer);
    for (y, (key, what)) in KEYS.iter().enumerate() {
        paint(buffer, inside, 1, y as u16, key, app.theme.title());
        paint(buffer, inside, 23, y as u16, what, app.theme.faint());
    }
    let about = match app.mode {
        Mode::Live => "pausing and looking change no result",
        Mode::Viewer => VIEWER,
        Mode::Replay => REPLAY,
    };
    paint(buffer, inside, 1, KEYS.len() as u16 + 1, about, app.theme.faint());
}
