//! What there was to be said.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::App;
use crate::widgets::paint;

pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let lines = app.latest().map_or(&[][..], |snapshot| &snapshot.log);
    if lines.is_empty() {
        paint(buffer, area, 1, 0, "nothing has been said yet: warnings and notes appear here", app.theme.faint());
        return;
    }
    let height = usize::from(area.height);
    let last = lines.len().saturating_sub(app.scroll.min(lines.len().saturating_sub(height)));
    for (y, text) in lines[last.saturating_sub(height)..last].iter().enumerate() {
        paint(buffer, area, 1, y as u16, text, app.theme.faint().remove_modifier(ratatui::style::Modifier::DIM));
    }
}
