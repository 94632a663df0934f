//! Pictures of one figure as panels of one picture, with the same axes and one legend.

use super::canvas::{Canvas, DIAGONAL, Key, Label, WIDTH};
use super::{Drawn, Frame, Hint, MOST_CURVES, Picture, Sheet, pgf};

/// Number of panels side by side. More would not be legible across a page.
pub(super) const ABREAST: usize = 2;

/// One picture of all sheets of a figure.
pub(super) fn draw(figure: &Drawn<'_>, sheets: &[Sheet<'_>]) -> Picture {
    let shared = shared_legend(sheets);
    let frame = |sheet| Frame { has_legend: shared.is_none(), ..figure.frame(sheet, "", true) };
    let frames: Vec<Frame<'_>> = sheets.iter().map(frame).collect();
    let width = WIDTH * ABREAST as i32;
    let mut labels: Vec<Label<'_>> = shared.unwrap_or_default();
    if !labels.is_empty() && frames.iter().any(|frame| frame.diagonal) {
        labels.push((None, DIAGONAL));
    }
    let key = match (figure.curves.numeric, figure.extent.log) {
        (true, _) => Key::Curve,
        (false, true) => Key::Marker,
        (false, false) => Key::Bar,
    };
    let (strip, top) = if labels.is_empty() && figure.style.title.is_empty() {
        (String::new(), 0)
    } else {
        Canvas::strip(&figure.style.title, &labels, key, width)
    };
    let drawn: Vec<(String, Vec<Hint>, i32)> = frames.iter().map(Frame::draw).collect();
    let (mut inside, mut hints, mut y) = (within(&strip).to_owned(), Vec::new(), top);
    for row in drawn.chunks(ABREAST) {
        let high = row.iter().map(|(.., height)| *height).max().unwrap_or(0);
        for (column, (svg, said, height)) in (0..).zip(row) {
            // Frames of a row end at the same height.
            let (x, y) = (WIDTH * column, y + high - height);
            inside.push_str(&format!("<g transform=\"translate({x} {y})\">\n{}</g>\n", within(svg)));
            hints.extend(said.iter().map(|hint| Hint { x: hint.x + x, y: hint.y + y, text: hint.text.clone() }));
        }
        y += high;
    }
    let svg = format!(
        "<svg width=\"{width}\" height=\"{y}\" viewBox=\"0 0 {width} {y}\" xmlns=\"http://www.w3.org/2000/svg\">\n\
         <rect width=\"{width}\" height=\"{y}\" fill=\"#FFFFFF\"/>\n{inside}</svg>\n"
    );
    let kind = figure.of.2;
    Picture {
        kind,
        name: kind.to_owned(),
        caption: format!("{}, in {} panels", figure.caption(""), sheets.len()),
        hidden: figure.hidden(&frames),
        svg,
        pgf: Some(pgf::with_data(&pgf::source(&frames, figure), kind)),
        data: figure.data(&frames),
        hints,
    }
}

/// The legend that all sheets share, empty if there is nothing to distinguish; `None` if curves of the same label
/// differ in style between sheets.
fn shared_legend<'a>(sheets: &'a [Sheet<'_>]) -> Option<Vec<Label<'a>>> {
    let mut labels: Vec<Label<'_>> = Vec::new();
    for series in sheets.iter().flat_map(|sheet| &sheet.series) {
        let label = (Some(series.number), &*series.label);
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels.sort_by_key(|(number, _)| *number);
    if labels.iter().all(|(_, label)| label.is_empty()) {
        return Some(Vec::new());
    }
    let is_told = labels.windows(2).all(|pair| pair[0].0 != pair[1].0);
    (is_told && labels.len() <= MOST_CURVES).then_some(labels)
}

/// The content of a picture's outermost element.
fn within(svg: &str) -> &str {
    let inside = svg.find("<svg").and_then(|at| svg[at..].find('>').map(|end| &svg[at + end + 1..])).unwrap_or("");
    inside.trim_start().trim_end().trim_end_matches("</svg>")
}
