//! Common elements of all pictures: a frame with titles and ticks, a legend, markers that differ in shape and colour.

use super::Frame;
use super::scale::{Axis, label};
use crate::letters::width;
use crate::lines::{balanced, in_lines};
use crate::svg::{Anchor, BLACK, COLOURS, Colour, Ink, Place, Svg, WHITE};

/// \[units\] Width of a picture: 85 mm, half the width of a page.
pub(super) const WIDTH: i32 = 1000;
/// \[units\] Height of a picture whose legend is low and whose words need one line.
const HEIGHT: i32 = 720;
/// \[units\] Least height of the frame. A picture with a high legend is higher instead.
const PLOT: i32 = 450;
/// Maximum number of lines of a legend in letters of the usual size.
const LEGEND_LINES: i32 = 4;
/// \[units\] Usual letter size: 6.6 points at half the width of a page.
pub(super) const LETTERS: f64 = 27.4;
/// \[units\] Letter size of a legend that would otherwise have many lines: 5 points at half the width of a page.
const SMALL: f64 = 21.0;
/// \[units\] Line spacing of such a legend.
const CLOSE: i32 = 32;
/// \[units\] Minimum space left of the frame, for the title of the axis and numbers of five digits.
const LEFT: i32 = 160;
/// \[units\] Space between the edge of the picture, the title of the vertical axis and its numbers.
const MARGIN: i32 = 14;
/// \[units\] Space between the numbers of an axis and the frame, into which markers at the edge of the frame extend.
pub(super) const GAP: i32 = 18;
/// \[units\] Space above the first line, or above the frame if there is no line.
const HEAD: i32 = 28;
/// \[units\] Space right of the frame.
const RIGHT: i32 = 30;
/// \[units\] Space below the frame, for numbers and a title of one line.
const BOTTOM: i32 = 112;
/// \[units\] Usual line spacing.
const LINE: i32 = 46;
/// \[units\] Spacing of lines of words below the frame.
pub(super) const WORDS: i32 = 38;

/// Colour of the grid lines.
pub(crate) const GRID: Colour = Colour(0xE0, 0xE0, 0xE0);

/// Colour of the broken line.
const DASHES: Colour = Colour(0x88, 0x88, 0x88);

/// The symbol in front of a legend's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Key {
    /// A line with a marker.
    Curve,
    /// A marker.
    Marker,
    /// A box.
    Bar,
}

/// The text of a legend's entry, with the number of its curve; `None` for the broken line.
pub(super) type Label<'a> = (Option<usize>, &'a str);

/// Legend of the broken line across the picture, on which accepted load equals offered load.
pub(super) const DIAGONAL: &str = "all of it accepted";

/// What is inside a marker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fill {
    /// Its colour.
    Full,
    /// Nothing: a saturated point.
    Hollow,
    /// A dot: a point whose run was too short to tell whether it is saturated.
    Dotted,
}

/// A picture being drawn.
pub(super) struct Canvas {
    /// The picture so far.
    svg: Svg,
    /// \[units\] Left edge of the frame.
    pub(super) left: i32,
    /// \[units\] Right edge of the frame.
    pub(super) right: i32,
    /// \[units\] Upper edge of the frame.
    pub(super) top: i32,
    /// \[units\] Lower edge of the frame.
    pub(super) bottom: i32,
    /// \[units\] Total height.
    pub(super) height: i32,
    /// The title of the horizontal axis, in lines.
    x_title: Vec<String>,
    /// The title of the vertical axis, in lines.
    y_title: Vec<String>,
}

impl Canvas {
    /// An empty picture with the title, heading and legend of a frame, each label behind its `key`, and room for words
    /// that are `words` units high below it.
    pub(super) fn new(frame: &Frame, key: Key, words: i32) -> Self {
        let (left, right) = (left(frame), WIDTH - RIGHT);
        let room = f64::from(right - left);
        let labels = if frame.has_legend { frame.labels() } else { Vec::new() };
        let mut heading = in_lines(frame.title, room, LETTERS);
        heading.extend(in_lines(&frame.heading, room, LETTERS));
        let x_title = in_lines(&frame.x_title, room, LETTERS);
        let legend = Legend::of(&labels, left, right);
        let above = LINE * heading.len() as i32 + legend.height();
        let below = BOTTOM + (words - WORDS).max(0) + WORDS * (x_title.len() as i32 - 1).max(0);
        let plot = (HEIGHT - BOTTOM - HEAD - above).max(PLOT);
        let height = HEAD + above + plot + below;
        let mut canvas = Self::blank((WIDTH, height));
        (canvas.left, canvas.right, canvas.bottom, canvas.x_title) = (left, right, height - below, x_title);
        canvas.y_title = y_title(frame);
        for (number, line) in (0..).zip(&heading) {
            canvas.words(line, (left, HEAD + LINE * number), Anchor::Left);
        }
        canvas.legend(&legend, key, above - legend.height());
        canvas.top = HEAD + above;
        canvas
    }

    /// An empty picture of this size.
    fn blank((width, height): (i32, i32)) -> Self {
        Self {
            svg: Svg::new(width, height),
            left: 0,
            right: width,
            top: HEAD,
            bottom: height,
            height,
            x_title: Vec::new(),
            y_title: Vec::new(),
        }
    }

    /// A picture with a title and the legend that several pictures share, of this width. Returns it and its height.
    pub(super) fn strip(title: &str, labels: &[Label], key: Key, width: i32) -> (String, i32) {
        let title = in_lines(title, f64::from(width - LEFT - RIGHT), LETTERS);
        let legend = Legend::of(labels, LEFT, width - RIGHT);
        let above = LINE * title.len() as i32;
        let mut canvas = Self::blank((width, HEAD + above + legend.height()));
        for (number, line) in (0..).zip(&title) {
            canvas.words(line, (LEFT, HEAD + LINE * number), Anchor::Left);
        }
        canvas.legend(&legend, key, above);
        let height = canvas.height;
        (canvas.finish(), height)
    }

    /// A rectangle between two corners, the upper left one first.
    pub(super) fn rectangle(&mut self, from: Place, to: Place, ink: Ink) {
        self.svg.rectangle(from, to, ink);
    }

    /// Text at a position.
    pub(super) fn words(&mut self, text: &str, at: Place, anchor: Anchor) {
        self.svg.text(text, at, LETTERS, anchor);
    }

    /// Draws the legend from height `above` downwards.
    fn legend(&mut self, legend: &Legend, key: Key, above: i32) {
        for entry in &legend.entries {
            let (x, y) = (entry.x, HEAD + above + legend.pitch * entry.line);
            match (entry.number, key) {
                (None, _) => self.dashes((x, y), (x + SAMPLE, y)),
                (Some(number), Key::Curve) => {
                    let y_of = f64::from(y);
                    self.curve(number, &[(f64::from(x), y_of), (f64::from(x + SAMPLE), y_of)]);
                    self.marker(number, (x + SAMPLE / 2, y), Fill::Full);
                }
                (Some(number), Key::Marker) => self.marker(number, (x + SAMPLE / 2, y), Fill::Full),
                (Some(number), Key::Bar) => {
                    let corners = [(x + SAMPLE / 2 - 16, y - 14), (x + SAMPLE / 2 + 16, y + 14)];
                    self.rectangle(corners[0], corners[1], Ink::Filled(colour(number)));
                }
            }
            for (below, line) in (0..).zip(&entry.words) {
                let at = (x + KEY, y + legend.pitch * below);
                self.svg.text(line, at, legend.letters, Anchor::Left);
            }
        }
    }

    /// Draws the frame with ticks along both axes. Without a horizontal axis, `x`, it has no numbers there: words
    /// replace them.
    pub(super) fn frame(&mut self, x: Option<&Axis>, y: &Axis) {
        let Self { left, right, top, bottom, .. } = *self;
        // A number that would overlap its neighbour is left out, also at the other axis.
        let mut free = i32::MAX;
        for tick in y.ticks() {
            let at = y.place(tick);
            self.svg.line(&[(left, at), (right, at)], GRID, 2);
            if at + WORDS / 2 <= free {
                self.words(&label(tick), (left - GAP, at), Anchor::Right);
                free = at - WORDS / 2;
            }
        }
        let mut free = 0;
        for tick in x.iter().flat_map(|x| x.ticks().into_iter().map(|tick| (tick, x.place(tick)))) {
            self.svg.line(&[(tick.1, top), (tick.1, bottom)], GRID, 2);
            let text = label(tick.0);
            let half = wide(&text) / 2 + 2;
            let at = tick.1.min(WIDTH - half);
            if at - half >= free {
                self.words(&text, (at, bottom + GAP), Anchor::Top);
                free = at + half + GAP;
            }
        }
        self.svg.line(&[(left, top), (left, bottom), (right, bottom)], BLACK, 3);
        let x_title = std::mem::take(&mut self.x_title);
        for (number, line) in (1..).zip(&x_title) {
            let y = self.height - 12 - WORDS * (x_title.len() as i32 - number);
            self.words(line, ((left + right) / 2, y), Anchor::Bottom);
        }
        for (number, line) in (0..).zip(&std::mem::take(&mut self.y_title)) {
            self.words(line, (MARGIN / 2 + WORDS * number, (top + bottom) / 2), Anchor::Upright);
        }
    }

    /// The marker of a curve; markers of a baseline are smaller.
    pub(super) fn marker(&mut self, number: usize, (x, y): Place, fill: Fill) {
        let scaled = |size: i32| if number < BASELINE { size } else { size * 3 / 5 };
        let colour = colour(number);
        let shape: Vec<Place> = match number % 4 {
            0 => Vec::new(),
            1 => vec![(-9, -9), (9, -9), (9, 9), (-9, 9)],
            2 => vec![(0, -12), (12, 9), (-12, 9)],
            _ => vec![(0, -13), (13, 0), (0, 13), (-13, 0)],
        };
        let shape: Vec<Place> = shape.into_iter().map(|(dx, dy)| (x + scaled(dx), y + scaled(dy))).collect();
        let inside = if fill == Fill::Full { colour } else { WHITE };
        if shape.is_empty() {
            self.svg.circle((x, y), scaled(10), Ink::Filled(inside));
            self.svg.circle((x, y), scaled(10), Ink::Edge(colour, 4));
        } else {
            let mut edge = shape.clone();
            edge.push(shape[0]);
            edge.push(shape[1]);
            self.svg.polygon(&shape, inside);
            self.svg.line(&edge, colour, 4);
        }
        if fill == Fill::Dotted {
            self.svg.circle((x, y), scaled(4), Ink::Filled(colour));
        }
    }

    /// Draws a broken line that is visible behind curves.
    pub(super) fn dashes(&mut self, from: Place, to: Place) {
        /// \[units\] Length of a dash, and of the gap behind it.
        const DASH: f64 = 12.0;
        let length = f64::from(to.0 - from.0).hypot(f64::from(to.1 - from.1));
        let parts = (length / DASH).ceil().max(1.0) as i32;
        let at = |part: i32| (from.0 + (to.0 - from.0) * part / parts, from.1 + (to.1 - from.1) * part / parts);
        for part in (0..parts).step_by(2) {
            self.svg.line(&[at(part), at(part + 1)], DASHES, 3);
        }
    }

    /// Draws a line through points in the colour and with the dashes of a curve; nothing for fewer than two points.
    pub(super) fn curve(&mut self, number: usize, places: &[(f64, f64)]) {
        let rounded = |(x, y): (f64, f64)| (x.round() as i32, y.round() as i32);
        for part in dashed(places, pattern(number)) {
            let places: Vec<Place> = part.into_iter().map(rounded).collect();
            self.svg.line(&places, colour(number), 4);
        }
    }

    /// Draws the bar of a confidence interval, given its mean and half its width. It is clipped to the axis; an end
    /// beyond the axis is an arrow.
    pub(super) fn interval(&mut self, number: usize, x: i32, ends: (f64, f64), axis: &Axis) {
        let (low, high) = (axis.place(ends.0), axis.place(ends.1));
        if low - high < 4 {
            return;
        }
        self.svg.line(&[(x, low), (x, high)], colour(number), 3);
        // Upwards means smaller coordinates.
        for (y, value, inwards) in [(low, ends.0, -1), (high, ends.1, 1)] {
            if axis.holds(value) {
                self.svg.line(&[(x - 8, y), (x + 8, y)], colour(number), 3);
            } else {
                self.arrow(number, (x, y), inwards);
            }
        }
    }

    /// The head of an arrow that points out of the frame; `inwards` is 1 at its upper edge, and -1 at its lower one.
    pub(super) fn arrow(&mut self, number: usize, (x, y): Place, inwards: i32) {
        let head = [(x - 9, y + 14 * inwards), (x, y), (x + 9, y + 14 * inwards)];
        self.svg.polygon(&head, colour(number));
    }

    /// The picture.
    pub(super) fn finish(self) -> String {
        self.svg.finish()
    }
}

/// The title of the vertical axis, in lines that are not longer than the lowest frame is high.
fn y_title(frame: &Frame) -> Vec<String> {
    balanced(&frame.y_title, f64::from(PLOT), LETTERS)
}

/// \[units\] Left edge of a frame: the numbers of its vertical axis are between the title and the frame.
fn left(frame: &Frame) -> i32 {
    let widest = frame.extent.y(1, 0).ticks().into_iter().map(|tick| wide(&label(tick))).max().unwrap_or(0);
    LEFT.max(MARGIN + WORDS * y_title(frame).len() as i32 + widest + GAP)
}

/// \[units\] Width available for a frame.
pub(super) fn breadth(frame: &Frame) -> i32 {
    WIDTH - RIGHT - left(frame)
}

/// \[units\] Width of a text in letters of the usual size.
pub(super) fn wide(text: &str) -> i32 {
    width(text, LETTERS).ceil() as i32
}

/// \[units\] Length of the sample of a line in a legend, which has a marker in its middle.
const SAMPLE: i32 = 76;
/// \[units\] Width of a legend's symbol and the gap behind it.
const KEY: i32 = 88;
/// \[units\] Space behind the text of a legend's entry.
const ENTRY_GAP: i32 = 30;
/// \[units\] Left edge of a legend that needs the whole width.
const EDGE: i32 = 20;

/// Layout of a legend: columns as wide as their longest label, row by row.
#[derive(Clone, PartialEq, Debug)]
struct Legend {
    /// The entries, in their order.
    entries: Vec<Entry>,
    /// Number of lines.
    lines: i32,
    /// \[units\] Line spacing.
    pitch: i32,
    /// \[units\] Letter size.
    letters: f64,
}

/// An entry of a legend.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Entry {
    /// The number of its curve; `None` for the broken line.
    number: Option<usize>,
    /// \[units\] Left edge.
    x: i32,
    /// Its first line, from 0.
    line: i32,
    /// Its label, in lines.
    words: Vec<String>,
}

impl Legend {
    /// A legend in letters of the usual size if that takes few lines, else in small ones.
    fn of(labels: &[Label], left: i32, right: i32) -> Self {
        let usual = Self::sized(labels, left, right, (LETTERS, LINE));
        if usual.lines <= LEGEND_LINES { usual } else { Self::sized(labels, left, right, (SMALL, CLOSE)) }
    }

    /// A legend with as many columns as fit. It begins beside the frame's left edge, or at the edge of the picture if
    /// that gives more columns.
    fn sized(labels: &[Label], left: i32, right: i32, (letters, pitch): (f64, i32)) -> Self {
        let wide = |(_, label): &Label| KEY + width(label, letters).ceil() as i32;
        // The widths of as many columns: no column is used by the first rows alone.
        let columns = |abreast: usize| -> Vec<i32> {
            let columns = labels.len().div_ceil(labels.len().div_ceil(abreast.max(1)).max(1)).max(1);
            let widest = |column| labels.iter().skip(column).step_by(columns).map(wide).max().unwrap_or(0);
            (0..columns).map(widest).collect()
        };
        let fit = |from: i32| {
            let fits = |columns: &Vec<i32>| {
                columns.iter().sum::<i32>() + ENTRY_GAP * (columns.len() as i32 - 1) <= right - from
            };
            (1..=labels.len()).rev().map(&columns).find(fits)
        };
        let (beside, whole) = (fit(left), fit(EDGE));
        let count = |columns: &Option<Vec<i32>>| columns.as_ref().map_or(0, Vec::len);
        let (from, columns) = match count(&whole) > count(&beside) || beside.is_none() {
            true => (EDGE, whole),
            false => (left, beside),
        };
        let columns = columns.unwrap_or_else(|| vec![right - from]);
        let (mut entries, mut line) = (Vec::new(), 0);
        for row in labels.chunks(columns.len()) {
            let words = |label: &str| in_lines(label, f64::from(right - from - KEY), letters);
            let words: Vec<_> = row.iter().map(|&(number, label)| (number, words(label))).collect();
            let high = words.iter().map(|(_, words)| words.len()).max().unwrap_or(0).max(1);
            let mut x = from;
            for ((number, words), wide) in words.into_iter().zip(&columns) {
                entries.push(Entry { number, x, line, words });
                x += wide + ENTRY_GAP;
            }
            line += high as i32;
        }
        Self { entries, lines: line, pitch, letters }
    }

    /// \[units\] Height of the legend.
    const fn height(&self) -> i32 {
        self.pitch * self.lines
    }
}

/// Colour of a curve.
pub(super) fn colour(number: usize) -> Colour {
    let Colour(red, green, blue) = COLOURS[number % COLOURS.len()];
    if number < BASELINE {
        return Colour(red, green, blue);
    }
    let pale = |part: u8| 255 - (255 - part) / 2;
    Colour(pale(red), pale(green), pale(blue))
}

/// Offset of the numbers of curves of a baseline. They have the marker and the dashes of the curve without the offset,
/// smaller and in a pale colour.
pub(super) const BASELINE: usize = 1 << 16;

/// \[units\] Dash patterns of the curves, which distinguish them in print without colours. Curves with the same marker
/// have different patterns.
const PATTERNS: [&[f64]; 4] = [&[], &[20.0, 12.0], &[5.0, 9.0], &[24.0, 9.0, 5.0, 9.0]];

/// The dash pattern of a curve; empty for a solid line.
pub(super) const fn pattern(number: usize) -> &'static [f64] {
    PATTERNS[(number + number / 4) % PATTERNS.len()]
}

/// The dashes of a broken line through points, each as a line.
fn dashed(places: &[(f64, f64)], pattern: &[f64]) -> Vec<Vec<(f64, f64)>> {
    if pattern.is_empty() || places.len() < 2 {
        return if places.len() < 2 { Vec::new() } else { vec![places.to_vec()] };
    }
    let (mut parts, mut part) = (Vec::new(), vec![places[0]]);
    let (mut at, mut left) = (0, pattern[0]);
    for pair in places.windows(2) {
        let length = (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1);
        let mut gone = 0.0;
        while length - gone > left {
            gone += left;
            let share = gone / length;
            let place = (pair[0].0 + (pair[1].0 - pair[0].0) * share, pair[0].1 + (pair[1].1 - pair[0].1) * share);
            if at % 2 == 0 {
                part.push(place);
                parts.push(std::mem::take(&mut part));
            } else {
                part = vec![place];
            }
            at += 1;
            left = pattern[at % pattern.len()];
        }
        left -= length - gone;
        if at % 2 == 0 {
            part.push(pair[1]);
        }
    }
    if part.len() > 1 {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legend(labels: &[&str]) -> Legend {
        Legend::of(&labels.iter().map(|&label| (Some(0), label)).collect::<Vec<_>>(), 160, 970)
    }

    fn places(labels: &[&str]) -> Vec<(i32, i32)> {
        legend(labels).entries.iter().map(|entry| (entry.x, entry.line)).collect()
    }

    /// The right end of the widest line of a legend.
    fn end(legend: &Legend) -> i32 {
        let of = |entry: &Entry| {
            entry.words.iter().map(|line| entry.x + KEY + width(line, legend.letters).ceil() as i32).max().unwrap_or(0)
        };
        legend.entries.iter().map(of).max().unwrap_or(0)
    }

    #[test]
    fn legends_have_columns_as_wide_as_their_labels() {
        // A short label does not shift the others of its row.
        let found = places(&["a label of some length", "ugal", "minimal", "valiant"]);
        assert_eq!(found.iter().map(|place| place.1).collect::<Vec<_>>(), [0, 0, 1, 1]);
        assert!(found[0].0 == found[2].0 && found[1].0 == found[3].0, "{found:?}");
        let found = places(&["bubble:smart, uniform"; 8]);
        assert_eq!((found[0].0, found[7].1), (20, 3), "{found:?}");
        // Columns have equal lengths as far as possible.
        assert_eq!(places(&["abcdefghijkl"; 6]).iter().filter(|place| place.1 == 0).count(), 3);
        assert_eq!(legend(&[]).height(), 0);
    }

    #[test]
    fn wide_legends_begin_at_the_edge_and_lose_nothing() {
        let long = "dragonfly:p=2,a=8,h=2,g=16, dragonfly:ugal, groupshift(16,1), injection-queue 16";
        let legend = legend(&[long, "short", "all of it accepted"]);
        let lines: Vec<i32> = legend.entries.iter().map(|entry| entry.line).collect();
        assert_eq!((lines, legend.lines), (vec![0, 2, 3], 4));
        assert_eq!(legend.entries[0].words.join(" "), long);
        assert!(end(&legend) <= 970);
    }

    #[test]
    fn legends_of_many_lines_are_small() {
        let of = |letters: usize| legend(&["x".repeat(letters).as_str(); 8]);
        assert_eq!((of(18).letters, of(18).lines), (LETTERS, 4));
        // Two columns fit in small letters.
        assert_eq!((of(28).letters, of(28).lines, of(28).height()), (SMALL, 4, 128));
        // The longest ones have a line each, and less than a third of the picture.
        assert_eq!((of(60).lines, of(60).height()), (8, 256));
        const { assert!(256 * 3 < HEAD + 256 + PLOT + BOTTOM) };
        for letters in 1..200 {
            assert!(end(&of(letters)) <= 970, "{letters}");
        }
    }

    #[test]
    fn curves_differ_without_colours() {
        let looks: Vec<(usize, &[f64])> = (0..8).map(|number| (number % 4, pattern(number))).collect();
        for (at, style) in looks.iter().enumerate() {
            assert!(!looks[..at].contains(style), "{at}: marker and dashes of another curve");
        }
    }

    #[test]
    fn dashes_go_around_corners() {
        let corner = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)];
        assert_eq!(dashed(&corner, &[]), [corner.to_vec()]);
        assert_eq!(dashed(&corner, &[8.0, 4.0]), [vec![(0.0, 0.0), (8.0, 0.0)], vec![(10.0, 2.0), (10.0, 10.0)]]);
        assert_eq!(dashed(&corner, &[12.0, 40.0]), [vec![(0.0, 0.0), (10.0, 0.0), (10.0, 2.0)]]);
        assert!(dashed(&corner[..1], &[8.0, 4.0]).is_empty() && dashed(&[], &[]).is_empty());
    }
}
