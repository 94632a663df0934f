//! Texts and numbers in a buffer, and numbers in words.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Widget;

/// Writes `text` into row `y` of `area` from column `x` on, cut at the right edge. Returns the column after it.
pub fn paint(buffer: &mut Buffer, area: Rect, x: u16, y: u16, text: &str, style: Style) -> u16 {
    if y >= area.height || x >= area.width {
        return x;
    }
    let room = usize::from(area.width - x);
    let (end, _) = buffer.set_stringn(area.x + x, area.y + y, text, room, style);
    end - area.x
}

/// Writes a styled line into row `y` of `area`.
pub fn line(buffer: &mut Buffer, area: Rect, y: u16, line: Line<'_>) {
    if y < area.height {
        line.render(Rect { y: area.y + y, height: 1, ..area }, buffer);
    }
}

/// A count in a few characters: `812`, `12 345`, `1.23 M`.
#[must_use]
pub fn count(value: u64) -> String {
    match value {
        0..10_000 => value.to_string(),
        10_000..1_000_000 => format!("{} {:03}", value / 1000, value % 1000),
        1_000_000..1_000_000_000 => format!("{:.2} M", value as f64 / 1e6),
        1_000_000_000..1_000_000_000_000 => format!("{:.2} G", value as f64 / 1e9),
        _ => format!("{:.3e}", value as f64),
    }
}

/// All digits of a count, in groups of three.
#[must_use]
pub fn exact(value: u64) -> String {
    let digits = value.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group));
    groups.collect::<Vec<_>>().join(" ")
}

/// As many words of a text as fit into `width` columns, followed by three dots if some are omitted.
#[must_use]
pub fn fitting(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut shown = String::new();
    for word in text.split(' ') {
        if shown.chars().count() + word.chars().count() + 4 > width {
            break;
        }
        shown.push_str(word);
        shown.push(' ');
    }
    format!("{}...", shown.trim_end_matches([' ', '|']).to_owned() + if shown.is_empty() { "" } else { " " })
}

/// As many parts as fit completely into `width` columns, with `between` between them. The first one is cut if it does
/// not fit.
#[must_use]
pub fn whole(parts: &[String], between: &str, width: usize) -> String {
    let Some((first, others)) = parts.split_first() else { return String::new() };
    let mut shown = fitting(first, width);
    for part in others {
        if shown.chars().count() + between.len() + part.chars().count() > width {
            break;
        }
        shown.push_str(between);
        shown.push_str(part);
    }
    shown
}

/// A number with this many decimals; `-` if absent.
#[must_use]
pub fn fixed(value: Option<f64>, decimals: usize) -> String {
    match value {
        Some(value) if value.is_finite() => format!("{value:.decimals$}"),
        _ => "-".to_owned(),
    }
}

/// A share as a whole number of per cent.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A time: `7 s`, `3 min 12 s`, `2 h 05 min`.
#[must_use]
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() || s < 0.0 => "-".to_owned(),
        s if s < 60.0 => format!("{s:.0} s"),
        s if s < 3600.0 => format!("{} min {:02} s", s as u64 / 60, s as u64 % 60),
        s => format!("{} h {:02} min", s as u64 / 3600, s as u64 % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_readable() {
        let words = [812, 12_345, 1_234_567, 5_000_000_000].map(count);
        assert_eq!(words, ["812", "12 345", "1.23 M", "5.00 G"]);
        assert_eq!([7.2, 192.0, 7500.0, f64::NAN].map(seconds), ["7 s", "3 min 12 s", "2 h 05 min", "-"]);
        assert_eq!((fixed(Some(0.25), 3), fixed(None, 3), percent(0.256)), ("0.250".into(), "-".into(), "26 %".into()));
    }

    #[test]
    fn a_long_text_ends_with_a_whole_word() {
        assert_eq!([0, 999, 2_430_123].map(exact), ["0", "999", "2 430 123"]);
        assert_eq!(fitting("torus:4x4 | load 0.25", 21), "torus:4x4 | load 0.25");
        assert_eq!(fitting("torus:4x4 | load 0.25", 20), "torus:4x4 | load ...");
        assert_eq!(fitting("torus:4x4 | load 0.25", 17), "torus:4x4 ...");
        assert_eq!(fitting("torus:4x4", 5), "...");
    }

    #[test]
    fn parts_that_do_not_fit_are_left_out_whole() {
        let parts = ["16 tasks", "3 finished", "80 events"].map(str::to_owned);
        let at = |width| whole(&parts, "; ", width);
        assert_eq!(
            [31, 30, 20, 19].map(at),
            ["16 tasks; 3 finished; 80 events", "16 tasks; 3 finished", "16 tasks; 3 finished", "16 tasks"]
        );
        assert_eq!((at(7), whole(&[], "; ", 9)), ("16 ...".to_owned(), String::new()));
    }

    #[test]
    fn text_is_cut_at_the_edge() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 1));
        let area = Rect::new(2, 0, 5, 1);
        assert_eq!(paint(&mut buffer, area, 3, 0, "abc", Style::new()), 5);
        assert_eq!(buffer, Buffer::with_lines(["     ab   "]));
        paint(&mut buffer, area, 0, 1, "below", Style::new());
        assert_eq!(buffer, Buffer::with_lines(["     ab   "]));
    }
}
