//! Whether every text of a picture can be read, as it is in PNG and PDF: with the built-in font, after layout.
//!
//! A text must lie within the picture, apart from every other text, and no line or edge may run through its letters. A
//! shape that holds a text whole, such as the circle of a node with its number, hides what lies below both.
//!
//! Decision: docs/decisions/0155-legible-pictures.md.

use std::fmt::{self, Display};

use resvg::tiny_skia::{PathSegment, Point};
use svg2pdf::usvg::{Group, Node, Path, Rect};

use super::plot::{ConvertError, tree};

/// \[units\] Least distance between the letters of two texts, and between letters and the edge of the picture.
const APART: f32 = 1.0;

/// Number of straight parts that stand for a bent one.
const PARTS: u16 = 8;

/// A text that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Illegible {
    /// The text leaves the picture.
    Outside(String),
    /// Two texts overlap.
    Overlap(String, String),
    /// A line or the edge of a shape runs through the text, or something covers it.
    Crossed(String),
}

impl Display for Illegible {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside(text) => write!(out, "the text `{text}` leaves the picture"),
            Self::Overlap(one, other) => write!(out, "the texts `{one}` and `{other}` overlap"),
            Self::Crossed(text) => write!(out, "something is drawn through the text `{text}`"),
        }
    }
}

/// Everything that is drawn, in the order in which it is.
enum Drawn<'a> {
    /// A text and the rectangle about its letters.
    Text(String, Rect),
    /// A line or a shape.
    Shape(&'a Path),
}

/// What a shape is to a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Relation {
    /// They are apart.
    Apart,
    /// A line or an edge runs through the text.
    Through,
    /// The shape is filled and holds the whole text.
    Around,
}

/// The texts of a picture (SVG) that cannot be read; none if all is well.
///
/// # Errors
/// Invalid SVG.
pub fn illegible(svg: &str) -> Result<Vec<Illegible>, ConvertError> {
    let tree = tree(svg)?;
    let mut drawn = Vec::new();
    gather(tree.root(), &mut drawn);
    let (width, height) = (tree.size().width(), tree.size().height());
    let mut found = Vec::new();
    let mut before: Vec<(&str, Rect)> = Vec::new();
    for (at, item) in drawn.iter().enumerate() {
        let Drawn::Text(text, place) = item else { continue };
        let is_outside = place.left() < APART
            || place.top() < APART
            || place.right() > width - APART
            || place.bottom() > height - APART;
        if is_outside {
            found.push(Illegible::Outside(text.clone()));
        }
        let overlaps = |other: &Rect| !apart(place, other, APART);
        let others = before.iter().filter(|(_, other)| overlaps(other));
        found.extend(others.map(|&(other, _)| Illegible::Overlap(other.to_owned(), text.clone())));
        before.push((text, *place));
        let relation = |item: &Drawn<'_>| match item {
            Drawn::Shape(path) => relation(path, place),
            Drawn::Text(..) => Relation::Apart,
        };
        // What was drawn last lies on top: the nearest shape around the text hides everything before it.
        let below = drawn[..at].iter().rev().map(relation).find(|relation| *relation != Relation::Apart);
        // The edge of the picture is that of its background too.
        let is_covered = drawn[at + 1..].iter().any(|item| relation(item) != Relation::Apart);
        if !is_outside && (below == Some(Relation::Through) || is_covered) {
            found.push(Illegible::Crossed(text.clone()));
        }
    }
    Ok(found)
}

/// Collects what a group draws.
fn gather<'a>(group: &'a Group, drawn: &mut Vec<Drawn<'a>>) {
    for node in group.children() {
        match node {
            Node::Group(group) => gather(group, drawn),
            Node::Path(path) if path.is_visible() => drawn.push(Drawn::Shape(path)),
            Node::Text(text) => {
                let words: String = text.chunks().iter().map(|chunk| chunk.text()).collect();
                if !words.trim().is_empty() {
                    // With the transformation of the text; its letters have only their own.
                    let letters = text.flattened().bounding_box().transform(text.abs_transform());
                    drawn.push(Drawn::Text(words, letters.unwrap_or_else(|| text.abs_bounding_box())));
                }
            }
            Node::Path(_) | Node::Image(_) => {}
        }
    }
}

/// True if two rectangles are at least this far apart.
fn apart(one: &Rect, other: &Rect, distance: f32) -> bool {
    one.right() + distance <= other.left()
        || other.right() + distance <= one.left()
        || one.bottom() + distance <= other.top()
        || other.bottom() + distance <= one.top()
}

/// What a shape is to a text in this place.
fn relation(path: &Path, place: &Rect) -> Relation {
    if apart(&path.abs_stroke_bounding_box(), place, 0.0) {
        return Relation::Apart;
    }
    let half = path.stroke().map_or(0.0, |stroke| stroke.width().get() / 2.0);
    let wide = place.outset(half, half).unwrap_or(*place);
    let Some(outline) = path.data().clone().transform(path.abs_transform()) else { return Relation::Apart };
    let (mut from, mut start) = (Point::zero(), Point::zero());
    let mut is_through = false;
    let mut line = |from: &mut Point, to: Point| {
        is_through |= crosses((*from, to), &wide);
        *from = to;
    };
    for segment in outline.segments() {
        match segment {
            PathSegment::MoveTo(to) => (from, start) = (to, to),
            PathSegment::LineTo(to) => line(&mut from, to),
            PathSegment::QuadTo(by, to) => {
                let begin = from;
                for part in 1..=PARTS {
                    let t = f32::from(part) / f32::from(PARTS);
                    let at = |a: f32, b: f32, c: f32| (1.0 - t).powi(2) * a + 2.0 * t * (1.0 - t) * b + t * t * c;
                    line(&mut from, Point::from_xy(at(begin.x, by.x, to.x), at(begin.y, by.y, to.y)));
                }
            }
            PathSegment::CubicTo(first, second, to) => {
                let begin = from;
                for part in 1..=PARTS {
                    let t = f32::from(part) / f32::from(PARTS);
                    let s = 1.0 - t;
                    let at = |a: f32, b: f32, c: f32, d: f32| {
                        s.powi(3) * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t.powi(3) * d
                    };
                    let x = at(begin.x, first.x, second.x, to.x);
                    line(&mut from, Point::from_xy(x, at(begin.y, first.y, second.y, to.y)));
                }
            }
            PathSegment::Close => line(&mut from, start),
        }
    }
    let box_of = path.abs_bounding_box();
    let holds = box_of.left() <= place.left()
        && box_of.right() >= place.right()
        && box_of.top() <= place.top()
        && box_of.bottom() >= place.bottom();
    match (is_through, path.fill()) {
        (true, _) => Relation::Through,
        (false, Some(_)) if holds => Relation::Around,
        (false, _) => Relation::Apart,
    }
}

/// True if a part of a line lies within a rectangle (Liang and Barsky, 1984).
fn crosses((from, to): (Point, Point), place: &Rect) -> bool {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let (mut begin, mut end) = (0.0_f32, 1.0_f32);
    let sides = [
        (-dx, from.x - place.left()),
        (dx, place.right() - from.x),
        (-dy, from.y - place.top()),
        (dy, place.bottom() - from.y),
    ];
    for (along, free) in sides {
        if along == 0.0 {
            if free <= 0.0 {
                return false;
            }
        } else if along < 0.0 {
            begin = begin.max(free / along);
        } else {
            end = end.min(free / along);
        }
    }
    begin < end
}

/// \[units\] Widths of the texts of a picture, in their order, as the font has them.
#[cfg(test)]
pub(crate) fn widths(svg: &str) -> Result<Vec<f64>, ConvertError> {
    fn texts(group: &Group, found: &mut Vec<f64>) {
        for node in group.children() {
            match node {
                Node::Group(group) => texts(group, found),
                Node::Text(text) => found.push(f64::from(text.bounding_box().width())),
                Node::Path(_) | Node::Image(_) => {}
            }
        }
    }
    let tree = tree(svg)?;
    let mut found = Vec::new();
    texts(tree.root(), &mut found);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(content: &str) -> Vec<Illegible> {
        let head = "<svg width=\"400\" height=\"100\" viewBox=\"0 0 400 100\" xmlns=\"http://www.w3.org/2000/svg\" \
                    font-family=\"sans-serif\" font-size=\"20\"><rect width=\"400\" height=\"100\" fill=\"#FFFFFF\"/>";
        illegible(&format!("{head}{content}</svg>")).unwrap()
    }

    #[test]
    fn what_cannot_be_read_is_found() {
        let one = || "one".to_owned();
        assert_eq!(found("<text x=\"10\" y=\"50\">one</text><text x=\"100\" y=\"50\">two</text>"), []);
        assert_eq!(found("<text x=\"380\" y=\"50\">one</text>"), [Illegible::Outside(one())]);
        assert_eq!(found("<text x=\"10\" y=\"104\">one</text>"), [Illegible::Outside(one())]);
        assert_eq!(
            found("<text x=\"10\" y=\"50\">one</text><text x=\"30\" y=\"55\">two</text>"),
            [Illegible::Overlap(one(), "two".to_owned())]
        );
        let line = "<path d=\"M0 60L60 30\" stroke=\"#000000\"/>";
        let crossed = [Illegible::Crossed(one())];
        assert_eq!(found(&format!("{line}<text x=\"10\" y=\"50\">one</text>")), crossed);
        assert_eq!(found(&format!("<text x=\"10\" y=\"50\">one</text>{line}")), crossed);
        assert_eq!(found(&format!("<text x=\"200\" y=\"50\">one</text>{line}")), []);
        let cover = "<rect x=\"0\" y=\"20\" width=\"90\" height=\"60\" fill=\"#DDDDDD\"/>";
        assert_eq!(found(&format!("{line}{cover}<text x=\"10\" y=\"50\">one</text>")), [], "hidden by the rectangle");
        assert_eq!(found(&format!("{cover}{line}<text x=\"10\" y=\"50\">one</text>")), crossed);
        assert_eq!(found(&format!("<text x=\"10\" y=\"50\">one</text>{cover}")), crossed, "hidden itself");
        let turned = "<text x=\"40\" y=\"90\" transform=\"rotate(270, 40, 90)\">one</text>";
        assert_eq!(found(turned), []);
        assert_eq!(found(&format!("{turned}<text x=\"20\" y=\"70\">two</text>")).len(), 1);
        let refused = illegible("<svg").unwrap_err();
        assert_eq!(refused.format, "a picture", "{refused}");
    }

    #[test]
    fn circles_hold_their_numbers() {
        let node =
            "<path d=\"M0 50L400 50\" stroke=\"#000000\"/><circle cx=\"50\" cy=\"50\" r=\"20\" fill=\"#FFFFFF\"/>";
        let number = |text: &str| format!("{node}<text x=\"50\" y=\"57\" text-anchor=\"middle\">{text}</text>");
        assert_eq!(found(&number("7")), []);
        assert_eq!(found(&number("77777")), [Illegible::Crossed("77777".to_owned())]);
    }
}
