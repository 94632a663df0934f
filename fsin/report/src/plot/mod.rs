//! Curves as pictures: SVG, legible at half the width of a page, and distinguishable without colours.
//!
//! An undecided point, whose run was too short to tell whether it is saturated, has a marker with a dot inside. A
//! saturated point is drawn as a hollow marker only, without a line to it: beyond saturation, mean latency depends
//! only on run length. All pictures of a figure have the same axes.

mod bars;
mod by_part;
mod by_size;
mod canvas;
#[cfg(feature = "plots")]
mod convert;
mod extent;
mod lines;
mod mark;
mod panels;
mod parts;
mod pgf;
#[cfg(all(test, feature = "plots"))]
mod random;
mod scale;
mod search;
mod transient;
mod unit;

pub use by_part::by_part;
pub use by_size::by_size;
pub(super) use canvas::GRID;
#[cfg(feature = "plots")]
pub(super) use convert::tree;
#[cfg(feature = "plots")]
pub use convert::{ConvertError, Graphic};
pub(crate) use parts::slug;
pub(crate) use scale::{grouped, short};
pub use search::searches;
pub use transient::transients;

use canvas::{DIAGONAL, Label};
use extent::{Extent, is_log};
use mark::{Mark, range_of};
use parts::{MOST_CURVES, Part, parts};
use unit::Unit;

use super::sources;
use fsin_core::words::counted;
use fsin_experiment::key;
use fsin_experiment::result::Figure;
use fsin_experiment::sweep::{Collected, Curve, Curves, Reading, Spot, cycle_seconds};

/// Figures to draw: the figure, the title of its axis with the unit (`LOAD` is replaced by the unit of loads), and the
/// beginning of the name of its file.
const PICTURES: &[(Figure, &str, &str)] = &[
    (Figure::CompletionCycles, "Completion time (cycles)", "completion"),
    (Figure::CompletionSeconds, "Completion time (s)", "completion"),
    (Figure::FinishMaxNs, "Completion time (ns)", "completion"),
    (Figure::LatencyMean, "Mean latency (cycles)", "latency"),
    (Figure::LatencyP99, "99th-percentile latency (cycles)", "latency-p99"),
    (Figure::AcceptedLoadOfSenders, "Accepted load of each sending node (LOAD)", "accepted"),
    (Figure::AcceptedLoad, "Accepted load (LOAD)", "accepted"),
    (Figure::ShotCyclesMean, "Cycles per shot", "shots"),
    (Figure::MessageSlowdownMean, "Mean slow-down of a message", "slowdown"),
    (Figure::MessageSlowdownP99, "99th-percentile slow-down of a message", "slowdown-p99"),
    (Figure::MessageCompletionP99, "99th-percentile time of a message (cycles)", "message-p99"),
    (Figure::JobWaitMean, "Mean wait of a job (cycles)", "job-wait"),
    (Figure::JobSlowdownMean, "Mean slowdown of a job", "job-slowdown"),
    (Figure::EnergyJoules, "Energy, estimated (J)", "energy"),
    (Figure::EnergyWatts, "Mean power, estimated (W)", "power"),
    (Figure::EnergyPerBit, "Energy per bit delivered, estimated (pJ/bit)", "energy-per-bit"),
];

/// Scale of the vertical axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scale {
    /// Linear for latencies over loads, up to five times the latency at the lowest load. Other curves are logarithmic
    /// if the largest value is more than twenty times the smallest. Bars begin at 0; values along words that differ by
    /// more than a factor of ten are markers on a logarithmic axis instead.
    #[default]
    Auto,
    /// Linear; latencies over loads up to five times the latency at the lowest load.
    Linear,
    /// Logarithmic, with every value.
    Log,
}

/// The ends of an axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Range {
    /// `x`, or one of [`Picture::KINDS`] for the vertical axis of these pictures.
    pub of: String,
    /// \[units of the axis\] Lower end.
    pub low: f64,
    /// \[units of the axis\] Upper end, above `low`.
    pub high: f64,
}

/// Style of pictures.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Style {
    /// Scale of the latency axis; load axes are linear.
    pub scale: Scale,
    /// True if latencies over loads show all their points, on a logarithmic axis if necessary, instead of a truncated
    /// linear one.
    pub is_whole: bool,
    /// True if latencies over loads include saturated points.
    pub saturated: bool,
    /// True if pictures of one figure are panels of one picture.
    pub panels: bool,
    /// Title of the picture; empty for none.
    pub title: String,
    /// \[units of the axis\] Upper end of the horizontal axis.
    pub xmax: Option<f64>,
    /// \[units of the axis\] Upper end of vertical axes, except that of the accepted load.
    pub ymax: Option<f64>,
    /// Ranges of some axes; the last one of an axis counts.
    pub ranges: Vec<Range>,
}

/// A hint at an element of a picture, shown when the pointer rests on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hint {
    /// \[units of the picture\] Horizontal position.
    pub x: i32,
    /// \[units of the picture\] Vertical position.
    pub y: i32,
    /// Text of the hint.
    pub text: String,
}

/// A finished picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// Kind of picture, with which the file name begins: `latency` and the like for figures, `links` for heat maps.
    pub kind: &'static str,
    /// File name.
    pub name: String,
    /// Content in a few words.
    pub caption: String,
    /// Description of values not shown; empty if all are shown.
    pub hidden: String,
    /// The picture as SVG.
    pub svg: String,
    /// LaTeX source of the picture with pgfplots, which reads `NAME.csv` beside it; `None` for heat maps.
    pub pgf: Option<String>,
    /// The values as CSV without quotation marks: number and label of the curve, a column for each varying setting,
    /// value, confidence interval, and whether it is saturated (1) or not (0). In words `;` replaces a comma.
    pub data: String,
    /// Hints of the markers.
    pub hints: Vec<Hint>,
}

impl Picture {
    /// The kinds of pictures with a vertical axis.
    pub const KINDS: [&'static str; 13] = [
        "latency",
        "latency-p99",
        "accepted",
        "completion",
        "shots",
        "slowdown",
        "slowdown-p99",
        "message-p99",
        "job-wait",
        "job-slowdown",
        "energy",
        "power",
        "energy-per-bit",
    ];
}

/// A curve to be drawn.
#[derive(Clone, Default)]
struct Series {
    /// Index of colour, marker and dashes: the same in all pictures if possible.
    number: usize,
    /// Text that distinguishes the curve from others of its picture.
    label: String,
    /// Text that distinguishes the curve from all others.
    name: String,
    /// The values of the varying settings, without that along the axis.
    settings: Vec<(String, String)>,
    /// The distinguishing settings, without the name of the results. Curves that agree in them have the same style.
    alike: Vec<(String, String)>,
    /// True for the baseline, which is pale.
    is_baseline: bool,
    /// True if its saturated points are left out.
    hides_saturated: bool,
    /// The points of the curve.
    spots: Vec<Mark>,
}

/// A picture before it is drawn.
#[derive(Clone)]
struct Frame<'a> {
    /// Title of the picture.
    title: &'a str,
    /// Common settings of all curves, written above the legend.
    heading: String,
    /// The curves.
    series: &'a [Series],
    /// Title of the horizontal axis.
    x_title: String,
    /// Title of the vertical axis.
    y_title: String,
    /// True if the line of equal values on both axes is drawn.
    diagonal: bool,
    /// True if the horizontal axis is numeric.
    numeric: bool,
    /// True if the frame has its own legend.
    has_legend: bool,
    /// Extents of the axes.
    extent: &'a Extent,
}

impl Series {
    /// The points that are drawn.
    fn drawn(&self) -> impl Iterator<Item = &Mark> {
        self.spots.iter().filter(|mark| !(self.hides_saturated && mark.saturated))
    }
}

impl Frame<'_> {
    /// The entries of the legend; empty if there is nothing to distinguish.
    fn labels(&self) -> Vec<Label<'_>> {
        let curves = self.series.iter().map(|series| (Some(series.number), &*series.label));
        let bare = self.series.iter().all(|series| series.label.is_empty());
        let curves = curves.filter(|_| !bare);
        curves.chain(self.diagonal.then_some((None, DIAGONAL))).collect()
    }

    /// The picture, the hints of its markers, and its height.
    fn draw(&self) -> (String, Vec<Hint>, i32) {
        if self.numeric { lines::draw(self) } else { bars::draw(self) }
    }
}

/// A figure of a sweep, with everything that its pictures have in common.
struct Drawn<'a> {
    /// The figure, the title of its axis, the name of its pictures.
    of: (Reading, String, &'static str),
    /// The curves of the sweep.
    curves: &'a Curves,
    /// The source policy in words.
    sources: &'a str,
    /// Style of the pictures.
    style: &'a Style,
    /// Extents of the axes.
    extent: Extent,
    /// The unit of loads.
    load_unit: &'static str,
    /// Factor by which values of results are multiplied for the axis.
    factor: f64,
}

/// The curves of one picture or panel.
struct Sheet<'a> {
    /// The part of the curves to which the sheet belongs.
    part: &'a Part<'a>,
    /// The curves to draw.
    series: Vec<Series>,
    /// Number of the sheet within its part, from 1.
    number: usize,
    /// Number of sheets of the part.
    of: usize,
}

/// True for accepted loads, which are compared with the load on the axis.
const fn is_accepted(figure: Figure) -> bool {
    matches!(figure, Figure::AcceptedLoad | Figure::AcceptedLoadOfSenders)
}

/// Draws every figure of the results; nothing if there is no axis.
#[must_use]
pub fn pictures(curves: &Curves, collected: &Collected, style: &Style) -> Vec<Picture> {
    let mut pictures: Vec<Picture> = Vec::new();
    let parts = parts(curves);
    let (cycles_differ, load_unit) = (curves.cycles_differ(&collected.rows), collected.load_unit());
    let sources = sources(collected);
    let of_senders = curves.have(&collected.rows, Figure::AcceptedLoadOfSenders);
    // For traces, kernels and shots the sent load follows from the accepted load: there is no offered load for
    // comparison.
    let has_load = collected.rows.iter().any(|row| row.result.load().is_some());
    // Programs have a time; kernels and shots are of the network alone.
    let is_of_programs = collected.rows.iter().any(|row| row.result.experiment.contains_key("trace"));
    // A cycle of Ethernet and Myrinet, whose loads are fractions of capacity, is a picosecond.
    let is_in_ps = load_unit == "fraction of capacity";
    let is_timed = cycles_differ || is_of_programs || is_in_ps;
    // Cycles of different lengths have a common unit where all lengths are known.
    let has_seconds = cycles_differ && collected.rows.iter().all(|row| cycle_seconds(&row.result).is_some());
    let is_meant = |figure: Figure| match figure {
        // Results of older versions have only this one.
        Figure::AcceptedLoad => has_load && !of_senders,
        Figure::AcceptedLoadOfSenders => has_load,
        Figure::CompletionCycles => !is_timed,
        Figure::CompletionSeconds => is_timed,
        // That of traffic without an end depends on the length of the run alone.
        Figure::EnergyJoules => !has_load,
        _ => true,
    };
    let is_drawn = |figure: Figure| curves.is_along && is_meant(figure) && curves.have(&collected.rows, figure);
    for &(figure, title, kind) in PICTURES.iter().filter(|(figure, ..)| is_drawn(*figure)) {
        let is_in_cycles = figure.unit() == "cycles";
        let reading = Reading { figure, is_time: is_in_cycles && has_seconds };
        let cycles = match (has_seconds, cycles_differ, is_in_ps) {
            (true, ..) => "(s)",
            (_, _, true) => "(ps)",
            (_, true, _) => "(cycles of different lengths)",
            _ => "(cycles)",
        };
        let title = title.replace("(cycles)", cycles).replace("LOAD", load_unit);
        let is_over_loads = kind.starts_with("latency") && curves.axis == "load";
        let hides = is_over_loads && !style.saturated;
        let own = match (has_seconds, is_in_ps) {
            (true, _) if is_in_cycles => "s",
            (_, true) if is_in_cycles => "ps",
            _ => figure.unit(),
        };
        let (title, unit) = Unit::of(own, &title, largest(&parts, collected, reading));
        let mut sheets: Vec<Sheet<'_>> =
            parts.iter().flat_map(|part| sheets(part, collected, reading, unit, hides)).collect();
        assign_styles(&mut sheets);
        // If all points are saturated, they are shown: else there would be nothing to see.
        let bare = sheets.iter().flat_map(|sheet| &sheet.series).all(|series| series.drawn().next().is_none());
        for series in sheets.iter_mut().flat_map(|sheet| &mut sheet.series) {
            series.hides_saturated &= !bare;
            if series.drawn().next().is_none() {
                series.label = [&*series.label, "saturated"]
                    .into_iter()
                    .filter(|word| !word.is_empty())
                    .collect::<Vec<_>>()
                    .join(", ");
            }
        }
        let all: Vec<&Series> = sheets.iter().flat_map(|sheet| &sheet.series).collect();
        if all.is_empty() {
            continue;
        }
        let has_ranges = all.iter().flat_map(|series| &series.spots).any(|mark| mark.range.is_some());
        let title = if has_ranges { title.replace("estimated", "estimated, with its range") } else { title };
        let is_load = is_accepted(figure);
        let may_cut = is_over_loads && curves.numeric && !style.is_whole;
        let log = is_log(&all, style.scale, is_load, (curves.numeric, may_cut));
        let extent = Extent::of(&all, kind, (log, may_cut), curves.axis == "load", style);
        let figure = Drawn {
            of: (reading, title, kind),
            curves,
            sources: &sources,
            style,
            extent,
            load_unit,
            factor: unit.factor(),
        };
        if style.panels && sheets.len() > 1 {
            pictures.push(panels::draw(&figure, &sheets));
            continue;
        }
        for sheet in &sheets {
            let mut picture = figure.picture(sheet);
            picture.name = free_name(picture.name, &pictures);
            picture.pgf = picture.pgf.map(|source| pgf::with_data(&source, &picture.name));
            pictures.push(picture);
        }
    }
    pictures
}

/// A file name that no picture has yet: different words may give the same one.
pub(crate) fn free_name(name: String, pictures: &[Picture]) -> String {
    let again = format!("{name}--");
    let same = pictures.iter().filter(|before| before.name == name || before.name.starts_with(&again));
    match same.count() {
        0 => name,
        others => format!("{again}{}", others + 1),
    }
}

impl Drawn<'_> {
    /// The picture of a sheet. Its LaTeX source does not name its data file yet.
    fn picture(&self, sheet: &Sheet<'_>) -> Picture {
        let frame = self.frame(sheet, &self.style.title, true);
        let (svg, hints, _) = frame.draw();
        let kind = self.of.2;
        let mut name = kind.to_owned();
        if !sheet.part.fixed.is_empty() {
            name.push_str(&format!("-{}", sheet.part.slug()));
        }
        let mut caption = self.caption(&frame.heading);
        if sheet.of > 1 {
            caption.push_str(&format!(", part {} of {}", sheet.number, sheet.of));
            name.push_str(&format!("-{}", sheet.number));
        }
        let frames = [frame];
        Picture {
            kind,
            name,
            caption,
            hidden: self.hidden(&frames),
            svg,
            pgf: Some(pgf::source(&frames, self)),
            data: self.data(&frames),
            hints,
        }
    }

    /// The frame of a sheet.
    fn frame<'a>(&'a self, sheet: &'a Sheet<'_>, title: &'a str, has_legend: bool) -> Frame<'a> {
        let (Reading { figure, .. }, y_title, _) = &self.of;
        let axis = &self.curves.axis;
        Frame {
            title,
            heading: sheet.part.heading(),
            series: &sheet.series,
            x_title: axis_title(axis, self.load_unit, self.sources),
            y_title: y_title.clone(),
            diagonal: is_accepted(*figure) && axis == "load",
            numeric: self.curves.numeric,
            has_legend,
            extent: &self.extent,
        }
    }

    /// A caption: the axes of the picture, and the common settings of all curves.
    fn caption(&self, heading: &str) -> String {
        let (_, y_title, _) = &self.of;
        // The load on the axis is labelled as that of each sending node.
        let what = y_title.split(" (").next().unwrap_or(y_title).trim_end_matches(" of each sending node");
        let axis = &self.curves.axis;
        let against = if axis == "load" { "load of each sending node" } else { axis };
        let shared = [heading, &*self.curves.only, self.sources].into_iter().filter(|words| !words.is_empty());
        match shared.collect::<Vec<_>>() {
            none if none.is_empty() => format!("{what} against {against}"),
            shared => format!("{what} against {against}: {}", shared.join(", ")),
        }
    }

    /// A description of the values that are not visible; empty if all are.
    fn hidden(&self, frames: &[Frame<'_>]) -> String {
        let series = || frames.iter().flat_map(|frame| frame.series);
        let saturated: usize = series().map(|series| series.spots.len() - series.drawn().count()).sum();
        let (x, y) = (self.extent.x(0, 1), self.extent.y(0, 1));
        let is_seen = |mark: &&Mark| y.holds(mark.value.mean) && (!self.curves.numeric || x.holds(mark.x));
        let beyond = series().flat_map(Series::drawn).filter(|mark| !is_seen(mark)).count();
        let mut remarks = Vec::new();
        if self.extent.cut.is_some() {
            remarks.push(format!("up to {} times the latency at the lowest load", extent::CUT_FACTOR));
        }
        if saturated > 0 {
            remarks.push(format!("without {}", counted(saturated, "saturated point", "saturated points")));
        }
        if beyond > 0 {
            remarks.push(format!("{} beyond the axes", counted(beyond, "point", "points")));
        }
        remarks.join(", ")
    }

    /// The values of frames as CSV.
    fn data(&self, frames: &[Frame<'_>]) -> String {
        let Curves { axis, numeric, .. } = self.curves;
        let keys: Vec<&str> = frames
            .iter()
            .flat_map(|frame| frame.series)
            .next()
            .map_or(Vec::new(), |series| series.settings.iter().map(|(key, _)| key.as_str()).collect());
        let position = if *numeric { None } else { Some("position") };
        let columns = ["curve", "label"].into_iter().chain(keys).chain([axis.as_str()]).chain(position);
        let name = self.of.0.name();
        let marks = || frames.iter().flat_map(|frame| frame.series).flat_map(|series| &series.spots);
        let ends: &[&str] = if marks().any(|mark| mark.range.is_some()) { &["low", "high"] } else { &[] };
        let columns: Vec<&str> = columns.chain([&*name, "ci95", "saturated"]).chain(ends.iter().copied()).collect();
        let mut text = format!("{}\n", columns.join(","));
        for (number, series) in (1..).zip(frames.iter().flat_map(|frame| frame.series)) {
            for Mark { x, word, raw, saturated, range, .. } in &series.spots {
                let mut cells = vec![number.to_string(), plain(&series.name)];
                cells.extend(series.settings.iter().map(|(_, value)| plain(value)));
                cells.push(plain(word));
                cells.extend(position.map(|_| x.to_string()));
                cells.push(raw.mean.to_string());
                cells.push(raw.ci95.map_or_else(|| "nan".to_owned(), |ci95| ci95.to_string()));
                cells.push(u8::from(*saturated).to_string());
                if !ends.is_empty() {
                    let (low, high) = range.unwrap_or((raw.mean, raw.mean));
                    cells.extend([low.to_string(), high.to_string()]);
                }
                text.push_str(&format!("{}\n", cells.join(",")));
            }
        }
        text
    }
}

/// A word as a CSV cell that needs no quotation marks, which not all CSV readers support, and has no special characters
/// of TeX.
fn plain(word: &str) -> String {
    let letter = |letter| match letter {
        ',' => ';',
        '"' => '\'',
        '#' | '%' | '&' | '$' | '\\' | '{' | '}' | '~' | '^' | '\n' | '\r' | '\t' => '-',
        other => other,
    };
    word.chars().map(letter).collect()
}

/// The curves of a part with this figure, on sheets with as many curves as can be distinguished. If `hides`, saturated
/// points are left out.
fn sheets<'a>(part: &'a Part<'a>, collected: &Collected, reading: Reading, unit: Unit, hides: bool) -> Vec<Sheet<'a>> {
    let mark = |spot: &Spot| {
        let raw = spot.value(&collected.rows, reading)?;
        let word = part.word(&spot.word);
        Some(Mark {
            x: spot.x,
            word,
            value: unit.scaled(raw),
            raw,
            saturated: spot.saturated,
            undecided: spot.undecided,
            range: range_of(spot, collected, reading),
            factor: unit.factor(),
        })
    };
    let series = |curve: &&Curve| Series {
        number: 0,
        label: part.label(curve),
        name: part.named(curve),
        settings: curve.settings.clone(),
        alike: curve.settings.iter().filter(|one| !one.0.is_empty() && !part.fixed.contains(one)).cloned().collect(),
        is_baseline: curve.is_baseline,
        hides_saturated: hides,
        spots: curve.spots.iter().filter_map(mark).collect(),
    };
    let all: Vec<Series> = part.curves.iter().map(series).filter(|series| !series.spots.is_empty()).collect();
    let of = all.len().div_ceil(MOST_CURVES);
    let sheet = |(number, series): (usize, &[Series])| Sheet { part, series: series.to_vec(), number, of };
    (1..).zip(all.chunks(MOST_CURVES)).map(sheet).collect()
}

/// The largest mean of a figure over all parts.
fn largest(parts: &[Part<'_>], collected: &Collected, reading: Reading) -> f64 {
    let spots = parts.iter().flat_map(|part| &part.curves).flat_map(|curve| &curve.spots);
    spots.filter_map(|spot| spot.value(&collected.rows, reading)).map(|value| value.mean).fold(0.0, f64::max)
}

/// Gives curves with the same settings the same style in all sheets, if there are enough styles. Otherwise each sheet
/// has its own assignment of styles.
fn assign_styles(sheets: &mut [Sheet<'_>]) {
    let mut known: Vec<Vec<(String, String)>> = Vec::new();
    for series in sheets.iter().flat_map(|sheet| &sheet.series) {
        if !known.contains(&series.alike) {
            known.push(series.alike.clone());
        }
    }
    for sheet in sheets {
        for (place, series) in sheet.series.iter_mut().enumerate() {
            let shared = known.iter().position(|alike| *alike == series.alike);
            series.number = shared.filter(|_| known.len() <= MOST_CURVES).unwrap_or(place);
            if series.is_baseline {
                series.number += canvas::BASELINE;
            }
        }
    }
}

/// The title of the horizontal axis.
fn axis_title(axis: &str, load_unit: &str, sources: &str) -> String {
    let title = match key(axis) {
        _ if axis == "load" => format!("Load of each sending node ({load_unit})"),
        _ if axis == by_part::PART => "Part of the network".to_owned(),
        _ if axis == by_size::SIZE => "Messages by size: a tenth of them each, to its greatest".to_owned(),
        _ if axis == transient::TIME => "Time since measuring began (cycles)".to_owned(),
        Some(key) if !key.unit.is_empty() => format!("{axis} ({})", key.unit),
        _ => axis.to_owned(),
    };
    if sources.is_empty() { title } else { format!("{title}, {sources}") }
}
