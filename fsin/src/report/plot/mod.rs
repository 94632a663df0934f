//! Curves as pictures: SVG, legible at half the width of a page, told apart without colours too.
//!
//! Of a saturated point only the marker is drawn, hollow, and no line leads to it: beyond saturation a mean delay is that
//! of a run of this length and of nothing else.

mod bars;
mod canvas;
mod lines;
mod parts;
mod scale;

use serde_json::Value as Json;

pub(super) use canvas::{COLOURS, GRID};
pub(crate) use scale::short;

use parts::{MOST_CURVES, Part, parts};

use crate::experiment::key;
use crate::sweep::{Collected, Curve, Curves, Spot, Value};

/// Completion where cycles are not equally long.
const SECONDS: &str = "completion_seconds";

/// What can be drawn: figure, title of its axis with the unit, name of its file.
const PICTURES: &[(&str, &str, &str)] = &[
    ("completion_cycles", "Completion time (cycles)", "completion"),
    (SECONDS, "Completion time (s)", "completion"),
    ("finish_max_ns", "Completion time (ns)", "completion"),
    ("latency_mean_cycles", "Mean latency (cycles)", "latency"),
    ("latency_p99_cycles", "99th-percentile latency (cycles)", "latency-p99"),
    ("accepted_load_phits_per_node_cycle", "Accepted load (phits/node/cycle)", "accepted"),
    ("shot_cycles_mean", "Cycles per shot", "shots"),
    ("job_wait_mean_cycles", "Mean wait of a job (cycles)", "job-wait"),
    ("job_slowdown_mean", "Mean slowdown of a job", "job-slowdown"),
];

/// How the vertical axis is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// Logarithmic where the largest value of curves is more than twenty times the smallest; bars begin at 0.
    Auto,
    /// Evenly.
    Linear,
    /// By factors.
    Log,
}

/// Something of a picture that a pointer may rest on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hint {
    /// \[units of the picture\] Where.
    pub x: i32,
    /// \[units of the picture\] Where.
    pub y: i32,
    /// What it is.
    pub text: String,
}

/// A finished picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// What is drawn, the beginning of the name: of figures `latency` or the like, of heat maps `links`.
    pub kind: &'static str,
    /// Name for its file.
    pub name: String,
    /// What it shows, in a few words.
    pub caption: String,
    /// The picture.
    pub svg: String,
    /// Its values: axis, curve, mean, confidence.
    pub data: String,
    /// What its markers say.
    pub hints: Vec<Hint>,
}

/// One curve as it is drawn.
struct Series {
    /// What tells it from the others of its picture.
    label: String,
    /// What tells it from all others.
    name: String,
    spots: Vec<Mark>,
}

/// One point as it is drawn.
struct Mark {
    x: f64,
    word: String,
    value: Value,
    saturated: bool,
}

/// A picture before it is drawn.
struct Frame<'a> {
    /// What all curves share; said above the legend.
    heading: String,
    series: &'a [Series],
    x_title: String,
    y_title: &'a str,
    log: bool,
    /// Whether equal values of both axes are a line worth seeing.
    diagonal: bool,
    /// Whether an axis of numbers begins at 0; else it goes from the least value to the greatest, which are marked.
    from_zero: bool,
}

impl Mark {
    fn hint(&self, label: &str, x_title: &str, y_title: &str) -> String {
        let head = if label.is_empty() { String::new() } else { format!("{label}\n") };
        let ci95 = self.value.ci95.map_or(String::new(), |ci95| format!(" ± {}", scale::short(ci95)));
        let end = if self.saturated { "\nsaturated" } else { "" };
        format!("{head}{x_title}: {}\n{y_title}: {}{ci95}{end}", self.word, scale::short(self.value.mean))
    }
}

/// Draws every figure that the results have; none if there is nothing along which they could be drawn. `scale` is that of
/// delays; loads are linear.
#[must_use]
pub fn pictures(curves: &Curves, collected: &Collected, scale: Scale) -> Vec<Picture> {
    let mut pictures: Vec<Picture> = Vec::new();
    let parts = parts(curves);
    let cycles_differ = curves.cycles_differ();
    let is_meant = |figure: &str| match figure {
        "completion_cycles" => !cycles_differ,
        SECONDS => cycles_differ,
        _ => true,
    };
    let is_drawn = |figure: &str| curves.is_along && is_meant(figure) && curves.have(&collected.rows, figure);
    let drawn = PICTURES.iter().filter(|(figure, ..)| is_drawn(figure));
    for (&(figure, title, kind), part) in drawn.flat_map(|what| parts.iter().map(move |part| (what, part))) {
        let y_title = &*match cycles_differ {
            true => title.replace("(cycles)", "(cycles of different lengths)"),
            false => title.to_owned(),
        };
        let all = series(part, collected, figure);
        let sheets = all.len().div_ceil(MOST_CURVES);
        for (sheet, series) in all.chunks(MOST_CURVES).enumerate() {
            let frame = Frame {
                heading: part.heading(),
                series,
                x_title: axis_title(&curves.axis),
                y_title,
                log: is_log(figure, series, if curves.numeric || scale == Scale::Log { scale } else { Scale::Linear }),
                diagonal: figure.starts_with("accepted") && curves.axis == "load",
                from_zero: curves.axis == "load",
            };
            let (svg, hints) = if curves.numeric { lines::draw(&frame) } else { bars::draw(&frame) };
            let what = y_title.split(" (").next().unwrap_or(y_title);
            let against = if curves.axis == "load" { "load of each sending node" } else { &curves.axis };
            let mut caption = format!("{what} against {against}");
            let mut name = kind.to_owned();
            let shared = [&*frame.heading, &*curves.only].into_iter().filter(|words| !words.is_empty());
            match shared.collect::<Vec<_>>() {
                none if none.is_empty() => {}
                shared => caption.push_str(&format!(": {}", shared.join(", "))),
            }
            if !part.fixed.is_empty() {
                name.push_str(&format!("-{}", part.slug()));
            }
            if sheets > 1 {
                caption.push_str(&format!(", part {} of {sheets}", sheet + 1));
                name.push_str(&format!("-{}", sheet + 1));
            }
            // Other words may have the same letters.
            let same =
                pictures.iter().filter(|before| before.name == name || before.name.starts_with(&format!("{name}--")));
            if let again @ 1.. = same.count() {
                name.push_str(&format!("--{}", again + 1));
            }
            let data = data(&curves.axis, figure, &frame);
            pictures.push(Picture { kind, name, caption, svg, data, hints });
        }
    }
    pictures
}

/// The curves of a part that have a figure.
fn series(part: &Part<'_>, collected: &Collected, figure: &str) -> Vec<Series> {
    let mark = |spot: &Spot| {
        let value = spot.value(&collected.rows, figure)?;
        Some(Mark { x: spot.x, word: spot.word.clone(), value, saturated: spot.saturated })
    };
    let series = |curve: &&Curve| Series {
        label: part.label(curve),
        name: curve.label.clone(),
        spots: curve.spots.iter().filter_map(mark).collect(),
    };
    part.curves.iter().map(series).filter(|series| !series.spots.is_empty()).collect()
}

fn is_log(figure: &str, series: &[Series], scale: Scale) -> bool {
    let values = || series.iter().flat_map(|series| series.spots.iter().map(|spot| spot.value.mean));
    let positive = values().all(|value| value > 0.0);
    let (least, most) = values().fold((f64::MAX, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
    match scale {
        _ if !positive || figure.starts_with("accepted") => false,
        Scale::Auto => most > 20.0 * least,
        Scale::Linear => false,
        Scale::Log => true,
    }
}

fn axis_title(axis: &str) -> String {
    match key(axis) {
        _ if axis == "load" => "Load of each sending node (phits/node/cycle)".to_owned(),
        Some(key) if !key.unit.is_empty() => format!("{axis} ({})", key.unit),
        _ => axis.to_owned(),
    }
}

/// The values of a picture as CSV.
fn data(axis: &str, figure: &str, frame: &Frame<'_>) -> String {
    let mut text = format!("curve,{axis},{figure},ci95,saturated\n");
    for series in frame.series {
        for Mark { word, value, saturated, .. } in &series.spots {
            let label = series.name.replace('"', "\"\"");
            let ci95 = value.ci95.map_or(String::new(), |ci95| Json::from(ci95).to_string());
            text.push_str(&format!("\"{label}\",\"{word}\",{},{ci95},{saturated}\n", Json::from(value.mean)));
        }
    }
    text
}
