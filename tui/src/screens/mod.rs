//! The dashboard as a picture: a pure function of the state of the user interface.

mod frame;
mod help;
mod latency;
mod links;
mod log;
mod network;
mod overview;
mod sources;
mod sweep;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::{App, Screen};
use crate::widgets::paint;

/// \[columns, rows\] Smallest terminal on which the dashboard is drawn.
const SMALLEST: (u16, u16) = (24, 6);

/// Draws the dashboard: the frame, the current screen, and the help.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        paint(buffer, area, 0, 0, "terminal too small", app.theme.title());
        return;
    }
    let body = frame::draw(app, area, buffer);
    match app.screen {
        Screen::Overview => overview::draw(app, body, buffer),
        Screen::Network => network::draw(app, body, buffer),
        Screen::Links => links::draw(app, body, buffer),
        Screen::Latency => latency::draw(app, body, buffer),
        Screen::Sources => sources::draw(app, body, buffer),
        Screen::Log => log::draw(app, body, buffer),
        Screen::Sweep => sweep::draw(app, body, buffer),
    }
    if app.help {
        help::draw(app, body, buffer);
    }
}
