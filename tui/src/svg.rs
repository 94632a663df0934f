//! The dashboard as a picture: a buffer as SVG.

use std::fmt::Write;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use crate::app::App;
use crate::screens;

/// \[pixels\] Size of a cell.
const CELL: (usize, usize) = (9, 18);
/// \[pixels\] Margin on all sides.
const MARGIN: usize = 8;
/// Default colours of the background and of text.
const BACKGROUND: &str = "#16161c";
const FOREGROUND: &str = "#d8d8de";

/// The dashboard on a terminal of this size.
#[must_use]
pub fn picture(app: &App, width: u16, height: u16) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    screens::draw(app, buffer.area, &mut buffer);
    svg(&buffer)
}

/// The buffer as a self-contained SVG, in a monospaced font.
#[must_use]
pub fn svg(buffer: &Buffer) -> String {
    let (columns, rows) = (usize::from(buffer.area.width), usize::from(buffer.area.height));
    let (width, height) = (columns * CELL.0 + 2 * MARGIN, rows * CELL.1 + 2 * MARGIN);
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"15\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{BACKGROUND}\"/>"
    );
    for y in 0..rows {
        write_row(buffer, y, columns, &mut out);
    }
    out.push_str("</svg>\n");
    out
}

/// Writes row `y` of the buffer: first the backgrounds, then the text.
fn write_row(buffer: &Buffer, y: usize, columns: usize, out: &mut String) {
    let top = MARGIN + y * CELL.1;
    let cell = |x: usize| &buffer[(buffer.area.x + x as u16, buffer.area.y + y as u16)];
    // Adjacent cells of the same style are written together.
    let mut x = 0;
    while x < columns {
        let (_, background) = colours(cell(x));
        let end = (x..columns).find(|&at| colours(cell(at)).1 != background).unwrap_or(columns);
        if let Some(background) = background {
            let _ = writeln!(
                out,
                "<rect x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{}\" fill=\"{background}\"/>",
                MARGIN + x * CELL.0,
                (end - x) * CELL.0,
                CELL.1
            );
        }
        x = end;
    }
    let mut x = 0;
    while x < columns {
        let text_style = |at: usize| (colours(cell(at)).0, cell(at).modifier.contains(Modifier::BOLD));
        let (colour, bold) = text_style(x);
        let blank = |at: usize| cell(at).symbol().trim().is_empty();
        if blank(x) {
            x += 1;
            continue;
        }
        let end = (x..columns).find(|&at| text_style(at) != (colour.clone(), bold) || blank(at)).unwrap_or(columns);
        let text: String = (x..end).map(|at| cell(at).symbol()).collect();
        let weight = if bold { " font-weight=\"bold\"" } else { "" };
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" fill=\"{}\"{weight} textLength=\"{}\" xml:space=\"preserve\">{}</text>",
            MARGIN + x * CELL.0,
            top + 14,
            colour.unwrap_or_else(|| FOREGROUND.to_owned()),
            (end - x) * CELL.0,
            escaped(&text)
        );
        x = end;
    }
}

/// Colours of text and background; `None` for the picture's defaults.
fn colours(cell: &Cell) -> (Option<String>, Option<String>) {
    let (mut foreground, mut background) = (hex(cell.fg), hex(cell.bg));
    if cell.modifier.contains(Modifier::REVERSED) {
        let front = foreground.unwrap_or_else(|| FOREGROUND.to_owned());
        foreground = Some(background.unwrap_or_else(|| BACKGROUND.to_owned()));
        background = Some(front);
    }
    if cell.modifier.contains(Modifier::DIM) && foreground.is_none() {
        foreground = Some("#8a8a92".to_owned());
    }
    (foreground, background)
}

/// A colour in the notation of SVG; `None` for the default.
fn hex(colour: Color) -> Option<String> {
    let (r, g, b) = match colour {
        Color::Reset => return None,
        Color::Rgb(r, g, b) => (r, g, b),
        Color::Indexed(number) => indexed(number),
        Color::Black => (0, 0, 0),
        Color::Red => (205, 49, 49),
        Color::Green => (13, 188, 121),
        Color::Yellow => (229, 229, 16),
        Color::Blue => (36, 114, 200),
        Color::Magenta => (188, 63, 188),
        Color::Cyan => (17, 168, 205),
        Color::Gray => (204, 204, 204),
        Color::DarkGray => (118, 118, 118),
        Color::LightRed => (241, 76, 76),
        Color::LightGreen => (35, 209, 139),
        Color::LightYellow => (245, 245, 67),
        Color::LightBlue => (59, 142, 234),
        Color::LightMagenta => (214, 112, 214),
        Color::LightCyan => (41, 184, 219),
        Color::White => (255, 255, 255),
    };
    Some(format!("#{r:02x}{g:02x}{b:02x}"))
}

/// A colour of the 256-colour palette as red, green and blue. After the first 16, which are not used, the palette has a
/// cube of 6 x 6 x 6 colours and 24 greys.
fn indexed(number: u8) -> (u8, u8, u8) {
    match number {
        0..16 => (128, 128, 128),
        16..232 => {
            let step = |value: u8| if value == 0 { 0 } else { 55 + 40 * value };
            let cube = number - 16;
            (step(cube / 36), step(cube / 6 % 6), step(cube % 6))
        }
        232.. => [8 + 10 * (number - 232); 3].into(),
    }
}

/// A text with the special characters of XML replaced.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn text_and_colours_are_in_the_picture() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 2));
        buffer.set_string(1, 0, "a<b", Style::new().fg(Color::Rgb(1, 2, 3)));
        buffer.set_string(0, 1, "9", Style::new().bg(Color::Indexed(220)));
        let picture = svg(&buffer);
        assert!(picture.contains("fill=\"#010203\"") && picture.contains(">a&lt;b</text>"), "{picture}");
        assert!(picture.contains("fill=\"#ffd700\"") && picture.ends_with("</svg>\n"), "{picture}");
    }
}
