//! The log.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::App;
use crate::widgets::paint;

/// Draws the screen of the log.
pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let lines: Vec<&String> = match &app.sweep {
        Some(sweep) => sweep.log.iter().collect(),
        None => app.latest().iter().flat_map(|snapshot| &snapshot.log).collect(),
    };
    if lines.is_empty() {
        paint(buffer, area, 1, 0, "nothing has been said yet: warnings and notes appear here", app.theme.faint());
        return;
    }
    let width = usize::from(area.width.saturating_sub(2)).max(8);
    let lines: Vec<String> = lines.into_iter().flat_map(|line| wrap(line, width)).collect();
    let height = usize::from(area.height);
    let last = lines.len().saturating_sub(app.scroll.min(lines.len().saturating_sub(height)));
    for (y, text) in lines[last.saturating_sub(height)..last].iter().enumerate() {
        paint(buffer, area, 1, y as u16, text, app.theme.faint().remove_modifier(ratatui::style::Modifier::DIM));
    }
}

/// Splits a line into pieces of at most `width` characters, between words if possible; later pieces are indented.
fn wrap(line: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for word in line.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let last = pieces.len() - 1;
            let used = pieces[last].chars().count();
            let is_first = used == 0 || pieces[last].trim().is_empty();
            if used + word.len() + usize::from(!is_first) <= width {
                if !is_first {
                    pieces[last].push(' ');
                }
                pieces[last].extend(word);
                break;
            }
            if is_first {
                // The word is longer than a line, and is cut.
                let room = width.saturating_sub(used).max(1);
                pieces[last].extend(word.drain(..room.min(word.len())));
            }
            pieces.push("  ".to_owned());
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn lines_are_cut_between_words() {
        assert_eq!(wrap("a network of switches", 12), ["a network of", "  switches"]);
        assert_eq!(wrap("switches", 12), ["switches"]);
        assert_eq!(wrap("a /very/long/path", 8), ["a", "  /very/", "  long/p", "  ath"]);
        assert_eq!(wrap("", 8), [""]);
    }
}
