//! A histogram of latencies over a logarithmic axis.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Widget;

use super::{count, paint};

/// Bins as columns, with an axis below.
#[derive(Clone, Copy, Debug)]
pub struct Histogram<'a> {
    /// Upper end \[cycles\] and number of packets of each bin, in ascending order.
    pub bins: &'a [(u64, u64)],
    /// Style of the columns.
    pub style: Style,
    /// Style of the axis.
    pub axis: Style,
}

/// A cell that is filled from below by 0 to 7 eighths.
const PARTS: [&str; 8] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇"];

impl Widget for Histogram<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let (Some(&(low, _)), Some(&(high, _))) = (self.bins.first(), self.bins.last()) else {
            paint(buffer, area, 0, 0, "no packet has been received yet", self.axis);
            return;
        };
        if area.height < 3 || area.width < 12 {
            return;
        }
        let columns = usize::from(area.width);
        let (low, high) = (low.max(1) as f64, high.max(2) as f64);
        let span = (high.ln() - low.ln()).max(0.2);
        let mut packets = vec![0u64; columns];
        for &(value, number) in self.bins {
            let at = ((value.max(1) as f64).ln() - low.ln()) / span * (columns - 1) as f64;
            let column = &mut packets[(at as usize).min(columns - 1)];
            *column = column.saturating_add(number);
        }
        let most = packets.iter().copied().max().unwrap_or(0).max(1);
        let rows = area.height - 2;
        // Height of a column in eighths of a row. A bin that is not empty is always visible.
        let height = |number: u64| (number as f64 / most as f64 * f64::from(rows) * 8.0).ceil() as u16;
        for (x, &number) in packets.iter().enumerate() {
            let eighths = height(number);
            for row in 0..rows {
                let part = match eighths.saturating_sub(row * 8) {
                    8.. => "█",
                    0 => continue,
                    some => PARTS[usize::from(some)],
                };
                paint(buffer, area, x as u16, rows - 1 - row, part, self.style);
            }
        }
        let top = format!("tallest: {} packets", count(most));
        // The text is placed where no column is as tall.
        let length = top.chars().count().min(columns);
        let is_free = |from: usize| packets[from..from + length].iter().all(|&number| height(number) <= (rows - 1) * 8);
        let at = [columns - length, 0].into_iter().find(|&from| is_free(from)).unwrap_or(columns - length);
        paint(buffer, area, at as u16, 0, &top, self.axis);
        paint(buffer, area, 0, rows, &"─".repeat(columns), self.axis);
        let ticks = (columns / 12).clamp(2, 9);
        for tick in 0..ticks {
            let share = tick as f64 / (ticks - 1) as f64;
            let value = (low.ln() + share * span).exp().round() as u64;
            let label = if tick + 1 == ticks { format!("{} cycles", count(value)) } else { count(value) };
            let width = label.chars().count();
            let x = ((share * (columns - 1) as f64) as usize).min(columns.saturating_sub(width));
            // The last label has the unit; labels that would overlap it are omitted.
            let last = count(high as u64).chars().count() + " cycles".len();
            if tick + 1 < ticks && x + width + 1 > columns.saturating_sub(last) {
                continue;
            }
            super::line(
                buffer,
                Rect { x: area.x + x as u16, width: width.min(columns - x) as u16, ..area },
                rows + 1,
                Line::styled(label, self.axis),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_where_their_values_are() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 40, 4));
        let bins = [(10, 1), (100, 4), (1000, 2)];
        Histogram { bins: &bins, style: Style::new(), axis: Style::new() }.render(buffer.area, &mut buffer);
        let expected = Buffer::with_lines([
            "                   █  tallest: 4 packets",
            "▄                  █                   █",
            "────────────────────────────────────────",
            "10                 100       1000 cycles",
        ]);
        assert_eq!(buffer, expected);
    }
}
