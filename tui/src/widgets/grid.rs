//! A plane of a grid of routers, with the links between them where there is room.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::Widget;

use super::paint;
use crate::theme::Theme;

/// The fuller direction of a pair of links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrow {
    /// To the right, or down.
    Forth,
    /// To the left, or up.
    Back,
    /// Both directions are equally full.
    Both,
}

/// The links between a router and the next one, in the fuller direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkCell {
    /// Use of the link, 0 to 1.
    pub share: f64,
    /// Its direction.
    pub arrow: Arrow,
}

/// A plane of routers. y grows downwards.
pub struct Grid<'a> {
    /// Number of routers across and down.
    pub size: (usize, usize),
    /// The fill of the buffers of the router at (x, y), 0 to 1.
    pub router: &'a dyn Fn(usize, usize) -> f64,
    /// The link to the right of (x, y); `None` where there is none.
    pub right: &'a dyn Fn(usize, usize) -> Option<LinkCell>,
    /// The link below (x, y).
    pub below: &'a dyn Fn(usize, usize) -> Option<LinkCell>,
    /// The focused router.
    pub focus: Option<(usize, usize)>,
    /// Colours and marks.
    pub theme: Theme,
}

/// Spacing in columns and rows between adjacent routers, and the number of routers (along each axis) that share a cell:
/// (columns, rows, block). Links are drawn if there are two rows or more.
#[must_use]
pub fn best_pitch(size: (usize, usize), width: u16, height: u16) -> (u16, u16, usize) {
    let (width, height) = (usize::from(width.max(1)), usize::from(height.max(1)));
    let fits = |columns: usize, rows: usize| size.0 * columns <= width && size.1 * rows <= height;
    for (columns, rows) in [(8, 3), (6, 3), (6, 2), (5, 2), (4, 2), (3, 1), (2, 1), (1, 1)] {
        if fits(columns, rows) {
            return (columns as u16, rows as u16, 1);
        }
    }
    let block = size.0.div_ceil(width).max(size.1.div_ceil(height)).max(2);
    (1, 1, block)
}

/// A link with a lower share has no arrow and a thin line.
const FAINT: f64 = 0.15;

impl Widget for Grid<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        if area.width == 0 || area.height == 0 || self.size.0 == 0 || self.size.1 == 0 {
            return;
        }
        let (columns, rows, block) = best_pitch(self.size, area.width, area.height);
        let body = if columns >= 4 { 2 } else { columns };
        for cell_y in 0..self.size.1.div_ceil(block) {
            for cell_x in 0..self.size.0.div_ceil(block) {
                let (x, y) = (cell_x * block, cell_y * block);
                let across = x..(x + block).min(self.size.0);
                let down = y..(y + block).min(self.size.1);
                let inside = |(fx, fy): (usize, usize)| across.contains(&fx) && down.contains(&fy);
                let share = down.clone().flat_map(|y| across.clone().map(move |x| (x, y)));
                let share = share.map(|(x, y)| (self.router)(x, y)).fold(0.0, f64::max);
                let level = Theme::level(share);
                let mut style = self.theme.cell(level);
                if self.focus.is_some_and(inside) {
                    style = style.add_modifier(Modifier::REVERSED | Modifier::BOLD | Modifier::UNDERLINED);
                }
                let (px, py) = (cell_x as u16 * columns, cell_y as u16 * rows);
                let text = format!("{:>width$}", Theme::mark(level), width = usize::from(body));
                paint(buffer, area, px, py, &text, style);
                if rows >= 2 {
                    if let Some(link) = (self.right)(x, y) {
                        self.horizontal(buffer, area, (px + body, py), columns - body, link);
                    }
                    if let Some(link) = (self.below)(x, y) {
                        self.vertical(buffer, area, (px + body - 1, py + 1), rows - 1, link);
                    }
                }
            }
        }
    }
}

impl Grid<'_> {
    /// The style of a link.
    fn style(&self, link: LinkCell) -> Style {
        self.theme.line(Theme::level(link.share))
    }

    /// Draws a link to the right.
    fn horizontal(&self, buffer: &mut Buffer, area: Rect, (x, y): (u16, u16), length: u16, link: LinkCell) {
        let dash = if link.share >= FAINT { "━" } else { "─" };
        for at in 0..length {
            let symbol = match link.arrow {
                Arrow::Forth if at + 1 == length && link.share >= FAINT => "▶",
                Arrow::Back if at == 0 && link.share >= FAINT => "◀",
                _ => dash,
            };
            paint(buffer, area, x + at, y, symbol, self.style(link));
        }
    }

    /// Draws a link downwards.
    fn vertical(&self, buffer: &mut Buffer, area: Rect, (x, y): (u16, u16), length: u16, link: LinkCell) {
        let dash = if link.share >= FAINT { "┃" } else { "│" };
        for at in 0..length {
            let symbol = match link.arrow {
                Arrow::Forth if at + 1 == length && link.share >= FAINT => "▼",
                Arrow::Back if at == 0 && link.share >= FAINT => "▲",
                _ => dash,
            };
            paint(buffer, area, x, y + at, symbol, self.style(link));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Depth;

    fn drawn(width: u16, height: u16, size: (usize, usize)) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        let grid = Grid {
            size,
            router: &|x, y| if (x, y) == (1, 1) { 0.55 } else { 0.0 },
            right: &|x, y| {
                (y == 1).then_some(LinkCell { share: 0.5, arrow: if x == 0 { Arrow::Forth } else { Arrow::Back } })
            },
            below: &|x, y| (x == 1 && y == 0).then_some(LinkCell { share: 0.9, arrow: Arrow::Forth }),
            focus: None,
            theme: Theme { depth: Depth::Mono },
        };
        grid.render(buffer.area, &mut buffer);
        buffer
    }

    fn text(buffer: &Buffer) -> Vec<String> {
        let (width, height) = (buffer.area.width, buffer.area.height);
        (0..height).map(|y| (0..width).map(|x| buffer[(x, y)].symbol().to_owned()).collect()).collect()
    }

    #[test]
    fn arrows_point_to_where_the_queues_are_full() {
        assert_eq!(
            text(&drawn(12, 6, (3, 3))),
            [" ·   ·   ·  ", "     ▼      ", " ·━▶ 5◀━ ·◀━", "            ", " ·   ·   ·  ", "            ",]
        );
    }

    #[test]
    fn where_there_is_little_room_routers_come_first_and_then_share_cells() {
        assert_eq!(text(&drawn(6, 3, (3, 3))), [" · · ·", " · 5 ·", " · · ·"]);
        assert_eq!(text(&drawn(3, 3, (6, 6))), ["5··", "···", "···"]);
        assert_eq!(best_pitch((16, 16), 78, 18), (3, 1, 1));
        assert_eq!(best_pitch((16, 16), 100, 33), (6, 2, 1));
        assert_eq!(best_pitch((1000, 1000), 80, 20), (1, 1, 50));
        drawn(0, 0, (3, 3));
        drawn(1, 1, (3, 3));
    }
}
