//! Routers in named rows: stages of a tree, groups of a dragonfly, or simply their numbers.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::widgets::Widget;

use super::paint;
use crate::theme::Theme;

/// Rows of routers. If a row is too long, adjacent routers share a cell, which shows the fullest of them. The number of
/// rows that do not fit is shown.
pub struct Rows<'a> {
    /// Name and routers of each row.
    pub rows: &'a [(String, Vec<u32>)],
    /// The fill of a router's buffers, 0 to 1.
    pub router: &'a dyn Fn(usize) -> f64,
    /// The focused router.
    pub focus: Option<usize>,
    /// Colours and marks.
    pub theme: Theme,
}

impl Widget for Rows<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let names = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0) as u16 + 1;
        if area.width <= names + 1 {
            return;
        }
        let room = usize::from(area.width - names);
        let longest = self.rows.iter().map(|(_, routers)| routers.len()).max().unwrap_or(0);
        let width = if longest * 2 <= room { 2 } else { 1 };
        let block = longest.div_ceil(room / width).max(1);
        let shown = if self.rows.len() <= usize::from(area.height) {
            self.rows.len()
        } else {
            usize::from(area.height.saturating_sub(1))
        };
        for (y, (name, routers)) in self.rows.iter().take(shown).enumerate() {
            paint(buffer, area, 0, y as u16, name, self.theme.faint());
            for (at, routers) in routers.chunks(block).enumerate() {
                let share = routers.iter().map(|&router| (self.router)(router as usize)).fold(0.0, f64::max);
                let level = Theme::level(share);
                let mut style = self.theme.cell(level);
                if self.focus.is_some_and(|focus| routers.contains(&(focus as u32))) {
                    style = style.add_modifier(Modifier::REVERSED | Modifier::UNDERLINED);
                }
                let text = format!("{:>width$}", Theme::mark(level));
                paint(buffer, area, names + (at * width) as u16, y as u16, &text, style);
            }
        }
        if shown < self.rows.len() && area.height > 0 {
            let more = format!("and {} rows more: a larger terminal shows them", self.rows.len() - shown);
            paint(buffer, area, 0, shown as u16, &more, self.theme.faint());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Depth;

    #[test]
    fn stages_stand_below_each_other() {
        let rows = [("stage 0".to_owned(), vec![0, 1, 2, 3]), ("stage 1".to_owned(), vec![4, 5])];
        let draw = |width, height| {
            let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
            let theme = Theme { depth: Depth::Mono };
            let router = |router: usize| if router == 5 { 0.3 } else { 0.0 };
            Rows { rows: &rows, router: &router, focus: None, theme }.render(buffer.area, &mut buffer);
            let text = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol().to_owned()).collect::<String>();
            (0..height).map(text).collect::<Vec<_>>()
        };
        assert_eq!(draw(16, 2), ["stage 0  · · · ·", "stage 1  · 3    "]);
        assert_eq!(draw(12, 2), ["stage 0 ····", "stage 1 ·3  "]);
        assert_eq!(draw(10, 2), ["stage 0 ··", "stage 1 3 "]);
        assert_eq!(draw(16, 1), ["and 2 rows more:"]);
    }
}
