//! Pictures as SVG, element by element, and the colours that they share.

use std::fmt::{self, Display, Write as _};

/// A colour: red, green and blue, 0 to 255 each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Colour(pub u8, pub u8, pub u8);

impl Display for Colour {
    /// The colour as in style sheets, such as `#0072B2`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "#{:02X}{:02X}{:02X}", self.0, self.1, self.2)
    }
}

pub(crate) const BLACK: Colour = Colour(0, 0, 0);
pub(crate) const WHITE: Colour = Colour(0xFF, 0xFF, 0xFF);

/// Colours that colour-blind readers can distinguish (Okabe and Ito, 2008), then brown and grey.
pub const COLOURS: [Colour; 8] = [
    Colour(0x00, 0x72, 0xB2),
    Colour(0xD5, 0x5E, 0x00),
    Colour(0x00, 0x9E, 0x73),
    Colour(0xCC, 0x79, 0xA7),
    Colour(0xE6, 0x9F, 0x00),
    Colour(0x56, 0xB4, 0xE9),
    Colour(0x7A, 0x4F, 0x2B),
    Colour(0x66, 0x66, 0x66),
];

/// Text escaped for SVG and HTML, also within quotation marks.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML has no control characters, not even escaped ones.
            _ if letter.is_control() && !matches!(letter, '\n' | '\t') => escaped.push('\u{fffd}'),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// \[units\] A position: distances from the left edge and from the upper edge.
pub(crate) type Place = (i32, i32);

/// How a shape is painted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ink {
    /// The shape is filled.
    Filled(Colour),
    /// Only the edge is painted, with this width in units.
    Edge(Colour, i32),
}

impl Display for Ink {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Filled(colour) => write!(out, "fill=\"{colour}\" stroke=\"none\""),
            Self::Edge(colour, width) => write!(out, "fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\""),
        }
    }
}

/// Which point of a text lies at its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Anchor {
    /// The middle of its left end.
    Left,
    /// The middle of its right end.
    Right,
    /// The middle of its upper edge.
    Top,
    /// The middle of its lower edge.
    Bottom,
    /// The middle of its upper edge, and the text reads upwards.
    Upright,
    /// As [`Anchor::Right`], and the text reads upwards.
    UprightEnd,
}

/// A picture being written. Lengths are in units, positions count from the upper left corner.
#[derive(Debug)]
pub(crate) struct Svg(String);

impl Svg {
    /// A white picture of this size.
    pub(crate) fn new(width: i32, height: i32) -> Self {
        let mut svg = Self(String::new());
        svg.element(format_args!(
            "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             xmlns=\"http://www.w3.org/2000/svg\">"
        ));
        svg.rectangle((0, 0), (width, height), Ink::Filled(WHITE));
        svg
    }

    /// Adds an element.
    fn element(&mut self, element: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(element);
        self.0.push('\n');
    }

    /// Adds an element whose attribute `points` has these places.
    fn path(&mut self, element: &str, style: &str, places: &[Place]) {
        let mut points = String::new();
        for (x, y) in places {
            let _ = write!(points, "{x},{y} ");
        }
        self.element(format_args!("<{element} {style} points=\"{points}\"/>"));
    }

    /// Draws a line through points.
    pub(crate) fn line(&mut self, places: &[Place], colour: Colour, width: i32) {
        let style = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"");
        self.path("polyline", &style, places);
    }

    /// Draws a filled polygon.
    pub(crate) fn polygon(&mut self, corners: &[Place], colour: Colour) {
        self.path("polygon", &format!("fill=\"{colour}\""), corners);
    }

    /// Draws a circle about a point.
    pub(crate) fn circle(&mut self, (x, y): Place, radius: i32, ink: Ink) {
        self.element(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" {ink}/>"));
    }

    /// Draws a rectangle between two corners, the upper left one first.
    pub(crate) fn rectangle(&mut self, (x, y): Place, (right, bottom): Place, ink: Ink) {
        let (width, height) = (right - x, bottom - y);
        self.element(format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" {ink}/>"));
    }

    /// Writes a text at a position, in letters of this size.
    pub(crate) fn text(&mut self, text: &str, (x, y): Place, size: f64, anchor: Anchor) {
        let (aligned, shift) = match anchor {
            Anchor::Left => ("start", "0.5ex"),
            Anchor::Right | Anchor::UprightEnd => ("end", "0.5ex"),
            Anchor::Top | Anchor::Upright => ("middle", "0.76em"),
            Anchor::Bottom => ("middle", "-0.5ex"),
        };
        let turned = if matches!(anchor, Anchor::Upright | Anchor::UprightEnd) {
            format!(" transform=\"rotate(270, {x}, {y})\"")
        } else {
            String::new()
        };
        self.element(format_args!(
            "<text x=\"{x}\" y=\"{y}\" dy=\"{shift}\" text-anchor=\"{aligned}\" font-family=\"sans-serif\" \
             font-size=\"{size:.1}\" fill=\"{BLACK}\"{turned}>{}</text>",
            escape(text)
        ));
    }

    /// The whole picture.
    pub(crate) fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}
