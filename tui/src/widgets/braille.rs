//! Lines of braille dots: two columns and four rows of dots in a cell.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// The bits of braille dots, by column (0, 1) and row (0 to 3) of a cell.
const DOTS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// Number of columns and rows of dots in an area.
pub(super) fn size(area: Rect) -> (usize, usize) {
    (usize::from(area.width) * 2, usize::from(area.height) * 4)
}

/// Draws a line between two dots, where (0, 0) is the dot at the upper left. It adds to the dots of other lines in a
/// cell, and replaces letters. Returns the cells along the line, in order.
pub(super) fn line(
    buffer: &mut Buffer,
    area: Rect,
    (x0, y0): (usize, usize),
    (x, y): (usize, usize),
    style: Style,
) -> Vec<(usize, usize)> {
    let mut cells = Vec::new();
    let steps = x.abs_diff(x0).max(y.abs_diff(y0)).max(1);
    for step in 0..=steps {
        let share = step as f64 / steps as f64;
        let dot = |a: usize, b: usize| (a as f64 + (b as f64 - a as f64) * share).round() as usize;
        let (x, y) = (dot(x0, x), dot(y0, y));
        let (column, row) = ((x / 2) as u16, (y / 4) as u16);
        if column >= area.width || row >= area.height {
            continue;
        }
        let Some(cell) = buffer.cell_mut((area.x + column, area.y + row)) else { continue };
        let dots = cell.symbol().chars().next().map_or(0, u32::from);
        let dots = if (0x2800..0x2900).contains(&dots) { dots } else { 0x2800 };
        if let Some(symbol) = char::from_u32(dots | DOTS[x % 2][y % 4]) {
            cell.set_char(symbol).set_style(style);
            if cells.last() != Some(&(x / 2, y / 4)) {
                cells.push((x / 2, y / 4));
            }
        }
    }
    cells
}
