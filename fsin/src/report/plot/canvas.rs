//! What every picture has: a frame with titles and marks, a legend, markers that differ in shape and colour.

use plotters::coord::Shift;
use plotters::element::Drawable;
use plotters::prelude::{
    BLACK, Circle, Color, DrawingArea, EmptyElement, IntoDrawingArea, IntoFont, PathElement, Polygon, RGBColor,
    Rectangle, SVGBackend, ShapeStyle, Text, WHITE,
};
use plotters::style::FontTransform;
use plotters::style::TextStyle;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::Frame;
use super::scale::{Axis, short};
use crate::report::lines::in_lines;

/// \[units\] Width of a picture. Letters of 34 units, which plotters writes as 27.4, are 6.6 points high at half the width of
/// a page (85 mm).
pub(super) const WIDTH: i32 = 1000;
/// \[units\] Height of a picture whose legend and words need no more lines than these.
const HEIGHT: i32 = 720;
const LEGEND_LINES: i32 = 4;
const LETTERS: i32 = 34;
/// \[units\] Those of a legend that would else have many lines, and between its lines: 5 points high at half the width.
const SMALL: i32 = 26;
const CLOSE: i32 = 32;
/// Mean width of a letter, of its size.
const LETTER: f64 = 0.45;
/// \[units\] Left of the frame, at least: the title of the axis and numbers of five digits.
const LEFT: i32 = 160;
/// \[units\] The title of the vertical axis with what is free beside it, and between numbers and the frame.
const UPRIGHT: i32 = 52;
const GAP: i32 = 12;
const RIGHT: i32 = 30;
const BOTTOM: i32 = 104;
const LINE: i32 = 46;
/// \[units\] Between lines of words below the frame.
pub(super) const WORDS: i32 = 38;

/// Colours that colour-blind readers tell apart (Okabe and Ito, 2008), then grey.
pub(crate) const COLOURS: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0x7A, 0x4F, 0x2B),
    RGBColor(0x66, 0x66, 0x66),
];
/// Colour of the lines behind.
pub(crate) const GRID: RGBColor = RGBColor(0xE0, 0xE0, 0xE0);

const DASHES: RGBColor = RGBColor(0x88, 0x88, 0x88);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// What stands before the words of a legend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Key {
    /// A line with a marker.
    Curve,
    /// A box.
    Bar,
}

/// What a broken line across the picture says.
const DIAGONAL: &str = "all of it accepted";

/// A picture being drawn.
pub(super) struct Canvas<'a> {
    area: Area<'a>,
    /// \[units\] Edges of the frame.
    pub(super) left: i32,
    pub(super) right: i32,
    pub(super) top: i32,
    pub(super) bottom: i32,
    /// \[units\] Of the whole.
    pub(super) height: i32,
    /// The title of the horizontal axis.
    x_title: Vec<String>,
}

impl<'a> Canvas<'a> {
    /// An empty picture with the heading and the legend of a frame, each label behind its `key`, and room for `lines` lines of
    /// words below it; the frame begins at `left`.
    pub(super) fn new(svg: &'a mut String, frame: &Frame, key: Key, lines: usize, left: i32) -> Self {
        let labels: Vec<&str> = frame.series.iter().map(|series| series.label.as_str()).collect();
        let right = WIDTH - RIGHT;
        let mut labels = if labels.iter().all(|label| label.is_empty()) { Vec::new() } else { labels };
        let curves = labels.len();
        labels.extend(frame.diagonal.then_some(DIAGONAL));
        let heading = in_lines(&frame.heading, fitting(right - left, LETTERS));
        let x_title = in_lines(&frame.x_title, fitting(right - left, LETTERS));
        let legend = Legend::of(&labels, left, right);
        let above = LINE * heading.len() as i32;
        let below = BOTTOM + WORDS * (lines as i32 - 1) + WORDS * (x_title.len() as i32 - 1).max(0);
        let height = HEIGHT + (above + legend.height() - LINE * LEGEND_LINES).max(0) + below - BOTTOM;
        let area = SVGBackend::with_string(svg, (WIDTH as u32, height as u32)).into_drawing_area();
        let mut canvas = Self { area, left, right, top: 30, bottom: height - below, height, x_title };
        // A string takes whatever is written, so drawing does not fail.
        let _ = canvas.area.fill(&WHITE);
        for (number, line) in (0..).zip(&heading) {
            canvas.words(line, (left, 28 + LINE * number), HPos::Left, VPos::Center);
        }
        canvas.legend(&legend, curves, key, above);
        if !heading.is_empty() || !labels.is_empty() {
            canvas.top = 28 + above + legend.height();
        }
        canvas
    }

    /// Draws one thing.
    pub(super) fn put<E>(&self, element: E)
    where
        for<'b> &'b E: plotters::element::PointCollection<'b, (i32, i32)>,
        E: Drawable<SVGBackend<'a>>,
    {
        let _ = self.area.draw(&element);
    }

    /// A line through places.
    pub(super) fn line(&self, places: Vec<(i32, i32)>, style: ShapeStyle) {
        self.put(PathElement::new(places, style));
    }

    /// Words at a place.
    pub(super) fn words(&self, text: &str, at: (i32, i32), hpos: HPos, vpos: VPos) {
        self.put(Text::new(text.to_owned(), at, style(LETTERS, hpos, vpos)));
    }

    /// The first entries are of curves, as many as there are of these; the legend begins this far down.
    fn legend(&self, legend: &Legend, curves: usize, key: Key, above: i32) {
        for (number, entry) in legend.entries.iter().enumerate() {
            let (x, y) = (entry.x, 28 + above + legend.pitch * entry.line);
            match key {
                _ if number >= curves => self.dashes((x, y), (x + 48, y)),
                Key::Curve => {
                    self.line(vec![(x, y), (x + 48, y)], colour(number).stroke_width(4));
                    self.marker(number, (x + 24, y), true);
                }
                Key::Bar => self.put(Rectangle::new([(x + 12, y - 14), (x + 44, y + 14)], colour(number).filled())),
            }
            for (below, line) in (0..).zip(&entry.words) {
                let at = (x + KEY, y + legend.pitch * below);
                self.put(Text::new(line.clone(), at, style(legend.letters, HPos::Left, VPos::Center)));
            }
        }
    }

    /// The frame with marks along both axes; `words` stand along the horizontal one instead of numbers.
    pub(super) fn frame(&self, frame: &Frame, x: Option<&Axis>, y: &Axis) {
        let Self { left, right, top, bottom, .. } = *self;
        for tick in y.ticks() {
            let at = y.place(tick);
            self.line(vec![(left, at), (right, at)], GRID.stroke_width(2));
            self.words(&short(tick), (left - GAP, at), HPos::Right, VPos::Center);
        }
        let mut free = i32::MIN;
        for tick in x.iter().flat_map(|x| x.ticks().into_iter().map(|tick| (tick, x.place(tick)))) {
            self.line(vec![(tick.1, top), (tick.1, bottom)], GRID.stroke_width(2));
            let (text, at) = (short(tick.0), tick.1);
            let half = width(&text) / 2;
            // A number that would lie over its neighbour is left out.
            if at - half >= free {
                self.words(&text, (at.min(WIDTH - half), bottom + 10), HPos::Center, VPos::Top);
                free = at + half + GAP;
            }
        }
        let ink = BLACK.stroke_width(3);
        self.line(vec![(left, top), (left, bottom), (right, bottom)], ink);
        for (number, line) in (1..).zip(&self.x_title) {
            let y = self.height - 12 - WORDS * (self.x_title.len() as i32 - number);
            self.words(line, ((left + right) / 2, y), HPos::Center, VPos::Bottom);
        }
        let upright = ("sans-serif", LETTERS).into_font().transform(FontTransform::Rotate270);
        let upright = TextStyle::from(upright).color(&BLACK).pos(Pos::new(HPos::Center, VPos::Top));
        self.put(Text::new(frame.y_title.to_owned(), (8, (top + bottom) / 2), upright));
    }

    /// The marker of a curve: full, or hollow.
    pub(super) fn marker(&self, number: usize, (x, y): (i32, i32), full: bool) {
        const SIZE: i32 = 10;
        let colour = COLOURS[number % COLOURS.len()];
        let shape: Vec<(i32, i32)> = match number % 4 {
            0 => Vec::new(),
            1 => vec![(-9, -9), (9, -9), (9, 9), (-9, 9)],
            2 => vec![(0, -12), (12, 9), (-12, 9)],
            _ => vec![(0, -13), (13, 0), (0, 13), (-13, 0)],
        };
        let shape: Vec<(i32, i32)> = shape.into_iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        let inside = if full { colour.filled() } else { WHITE.filled() };
        if shape.is_empty() {
            self.put(Circle::new((x, y), SIZE, inside));
            self.put(Circle::new((x, y), SIZE, colour.stroke_width(4)));
        } else {
            let mut edge = shape.clone();
            edge.push(shape[0]);
            edge.push(shape[1]);
            self.put(Polygon::new(shape, inside));
            self.line(edge, colour.stroke_width(4));
        }
    }

    /// A broken line, to be seen behind curves.
    pub(super) fn dashes(&self, from: (i32, i32), to: (i32, i32)) {
        /// \[units\] Of a dash, and of the gap behind it.
        const DASH: f64 = 12.0;
        let length = f64::from(to.0 - from.0).hypot(f64::from(to.1 - from.1));
        let parts = (length / DASH).ceil().max(1.0) as i32;
        let at = |part: i32| (from.0 + (to.0 - from.0) * part / parts, from.1 + (to.1 - from.1) * part / parts);
        for part in (0..parts).step_by(2) {
            self.line(vec![at(part), at(part + 1)], DASHES.stroke_width(3));
        }
    }

    /// Bars of a confidence interval.
    pub(super) fn interval(&self, number: usize, x: i32, (low, high): (i32, i32)) {
        if (high - low).abs() < 4 {
            return;
        }
        let style = colour(number).stroke_width(3);
        self.line(vec![(x, low), (x, high)], style);
        for y in [low, high] {
            self.line(vec![(x - 8, y), (x + 8, y)], style);
        }
    }

    /// Ends the picture.
    pub(super) fn finish(self) {
        self.put(EmptyElement::at((0, 0)));
        let _ = self.area.present();
    }
}

/// \[units\] Where a frame begins that has this vertical axis: its numbers stand between the title and the frame.
pub(super) fn left(y: &Axis) -> i32 {
    let widest = y.ticks().into_iter().map(|tick| width(&short(tick))).max().unwrap_or(0);
    LEFT.max(UPRIGHT + widest + GAP)
}

/// \[units\] Right of a frame that begins at `left`: what is free for it.
pub(super) const fn breadth(left: i32) -> i32 {
    WIDTH - RIGHT - left
}

/// \[units\] Width of a number, in the widest of the usual fonts.
fn width(number: &str) -> i32 {
    let letter = |letter| match letter {
        '\u{2009}' => 0.17,
        '.' | '-' => 0.3,
        _ => 0.52,
    };
    (number.chars().map(letter).sum::<f64>() * f64::from(LETTERS)).ceil() as i32
}

/// How many letters of a size fit into a width.
fn fitting(width: i32, size: i32) -> usize {
    (f64::from(width) / (LETTER * f64::from(size))) as usize
}

/// \[units\] What stands before the words of a legend, and is free behind them.
const KEY: i32 = 60;
const BEHIND: i32 = 30;
/// \[units\] Where a legend begins that needs the whole width.
const EDGE: i32 = 20;

/// Where everything of a legend stands: in columns of the same width, row by row.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Legend {
    entries: Vec<Entry>,
    lines: i32,
    /// \[units\] Between lines.
    pitch: i32,
    /// \[units\] Their size.
    letters: i32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Entry {
    x: i32,
    line: i32,
    /// Its label, in lines.
    words: Vec<String>,
}

impl Legend {
    /// In letters of the usual size if that makes few lines, else in small ones.
    fn of(labels: &[&str], left: i32, right: i32) -> Self {
        let usual = Self::sized(labels, left, right, (LETTERS, LINE));
        if usual.lines <= LEGEND_LINES { usual } else { Self::sized(labels, left, right, (SMALL, CLOSE)) }
    }

    /// As many columns as fit: beside the frame's left edge, or from the edge of the picture if that makes more of them.
    fn sized(labels: &[&str], left: i32, right: i32, (letters, pitch): (i32, i32)) -> Self {
        let wide = |label: &&str| KEY + (LETTER * f64::from(letters) * label.chars().count() as f64) as i32;
        let widest = labels.iter().map(wide).max().unwrap_or(KEY);
        let abreast = |from: i32| ((right - from + BEHIND) / (widest + BEHIND)).clamp(0, labels.len() as i32);
        let from = if abreast(EDGE) > abreast(left) || abreast(left) == 0 { EDGE } else { left };
        // No column is for the first rows alone.
        let rows = labels.len().div_ceil(abreast(from).max(1) as usize).max(1);
        let columns = labels.len().div_ceil(rows).max(1);
        let (mut entries, mut line) = (Vec::new(), 0);
        for row in labels.chunks(columns) {
            let words: Vec<_> = row.iter().map(|label| in_lines(label, fitting(right - from - KEY, letters))).collect();
            let high = words.iter().map(Vec::len).max().unwrap_or(0).max(1);
            let entry = |(x, words)| Entry { x: from + x * (widest + BEHIND), line, words };
            entries.extend((0..).zip(words).map(entry));
            line += high as i32;
        }
        Self { entries, lines: line, pitch, letters }
    }

    const fn height(&self) -> i32 {
        self.pitch * self.lines
    }
}

/// Colour of a curve.
pub(super) fn colour(number: usize) -> RGBColor {
    COLOURS[number % COLOURS.len()]
}

fn style(letters: i32, hpos: HPos, vpos: VPos) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", letters).into_font()).color(&BLACK).pos(Pos::new(hpos, vpos))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(labels: &[&str]) -> Vec<(i32, i32)> {
        Legend::of(labels, 160, 970).entries.iter().map(|entry| (entry.x, entry.line)).collect()
    }

    #[test]
    fn legends_have_columns_of_the_same_width() {
        // A short label does not shift those of its row.
        let short = ["a label of some length", "ugal", "minimal", "valiant"];
        assert_eq!(places(&short), [(20, 0), (446, 0), (20, 1), (446, 1)]);
        let eight = ["bubble:smart, uniform"; 8];
        let found = places(&eight);
        assert_eq!((found[0].0, found[1].0, found[7].1), (160, 571, 3), "{found:?}");
        // Columns are equally long as far as that can be.
        assert_eq!(places(&["abcdef"; 6]).iter().filter(|place| place.1 == 0).count(), 3);
        assert_eq!(Legend::of(&[], 160, 970).height(), 0);
    }

    #[test]
    fn wide_legends_begin_at_the_edge_and_lose_nothing() {
        // Two columns fit there, and one beside the frame.
        assert_eq!(places(&["twenty-five letters or so"; 2]), [(EDGE, 0), (492, 0)]);
        let long = "dragonfly:p=2,a=8,h=2,g=16, dragonfly:ugal, groupshift(16,1), injection-queue 16";
        let legend = Legend::of(&[long, "short", "all of it accepted"], 160, 970);
        let lines: Vec<i32> = legend.entries.iter().map(|entry| entry.line).collect();
        assert_eq!((lines, legend.lines), (vec![0, 2, 3], 4));
        assert_eq!(legend.entries[0].words.join(" "), long);
        let width = |line: &String| (LETTER * f64::from(LETTERS) * line.chars().count() as f64) as i32;
        assert!(legend.entries[0].words.iter().all(|line| EDGE + KEY + width(line) <= 970));
    }

    #[test]
    fn legends_of_many_lines_are_small() {
        let of = |letters: usize| Legend::of(&["x".repeat(letters).as_str(); 8], 160, 970);
        assert_eq!((of(20).letters, of(20).lines), (LETTERS, 4));
        // Two columns fit in small letters.
        assert_eq!((of(30).letters, of(30).lines, of(30).height()), (SMALL, 4, 128));
        // The longest ones have a line each, and less than a third of the picture.
        assert_eq!((of(60).lines, of(60).height()), (8, 256));
    }

    #[test]
    fn numbers_stand_between_the_title_and_the_frame() {
        let of = |most: f64| left(&Axis::linear(0.0, most, 1, 0));
        assert_eq!((of(1.0), of(80_000.0)), (LEFT, LEFT), "pictures of the usual numbers have the usual frame");
        // Digits of the widest usual font (DejaVu Sans) are 0.636 of a letter high, which is written as 34 / 1.24.
        for (most, digits, spaces) in [(150_000.0, 6, 1), (8_000_000.0, 7, 2), (3e12, 13, 4)] {
            let needed = f64::from(digits) * 17.44 + f64::from(spaces) * 5.5;
            let free = f64::from(of(most) - GAP - UPRIGHT);
            assert!((needed..1.1 * needed + 2.0).contains(&free), "{most}: {free} for {needed}");
        }
    }
}
