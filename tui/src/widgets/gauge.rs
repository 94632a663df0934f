//! A bar that is filled from the left, by eighths of a cell.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;

use super::paint;

/// One bar, in the first row of its area.
#[derive(Clone, Copy, Debug)]
pub struct Gauge {
    /// Filled share, 0 to 1.
    pub share: f64,
    /// Its style.
    pub style: Style,
}

/// A cell that is filled from the left by 0 to 7 eighths.
const PARTS: [&str; 8] = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

impl Widget for Gauge {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let share = if self.share.is_finite() { self.share.clamp(0.0, 1.0) } else { 0.0 };
        let eighths = (share * f64::from(area.width) * 8.0).round() as u16;
        for x in 0..area.width {
            let part = match eighths.saturating_sub(x * 8) {
                8.. => "█",
                0 => "·",
                some => PARTS[usize::from(some)],
            };
            paint(buffer, area, x, 0, part, self.style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        for (share, expected) in
            [(0.0, "····"), (0.5, "██··"), (0.53, "██▏·"), (1.0, "████"), (7.0, "████"), (f64::NAN, "····")]
        {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
            Gauge { share, style: Style::new() }.render(buffer.area, &mut buffer);
            assert_eq!(buffer, Buffer::with_lines([expected]), "{share}");
        }
    }
}
