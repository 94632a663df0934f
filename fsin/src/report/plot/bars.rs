//! Bars for settings that are words.

use plotters::prelude::{Color, Rectangle};
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{Canvas, colour};
use super::scale::Axis;
use super::{Frame, Hint};

/// Letters of a word below its bars; longer ones are cut.
const LETTERS: usize = 18;

/// Draws bars, one group for each word; also what they say.
pub(super) fn draw(frame: &Frame) -> (String, Vec<Hint>) {
    let mut svg = String::new();
    let mut hints = Vec::new();
    let labels: Vec<&str> = frame.series.iter().map(|series| series.label.as_str()).collect();
    let canvas = Canvas::new(&mut svg, &labels);
    let spots = || frame.series.iter().flat_map(|series| &series.spots);
    let mut words: Vec<(f64, &str)> = Vec::new();
    for spot in spots() {
        if !words.iter().any(|&(_, word)| word == spot.word) {
            words.push((spot.x, &spot.word));
        }
    }
    words.sort_by(|a, b| a.0.total_cmp(&b.0));
    let upper = spots().map(|spot| spot.value.mean + spot.value.ci95.unwrap_or(0.0)).fold(0.0, f64::max);
    let y = if frame.log {
        let least = spots().map(|spot| spot.value.mean).fold(f64::MAX, f64::min);
        Axis::log(least / 2.0, upper, canvas.bottom, canvas.top)
    } else {
        Axis::linear(0.0, upper, canvas.bottom, canvas.top)
    };
    canvas.frame(frame, None, &y);
    let group = (canvas.right - canvas.left) / words.len().max(1) as i32;
    let width = (group * 4 / 5 / frame.series.len().max(1) as i32).max(2);
    for (place, (_, word)) in words.iter().enumerate() {
        let middle = canvas.left + group * place as i32 + group / 2;
        let letters = (group as usize / 18).clamp(4, LETTERS.max(group as usize / 18));
        let cut = if word.chars().count() > letters {
            format!("{}…", word.chars().take(letters - 1).collect::<String>())
        } else {
            (*word).to_owned()
        };
        canvas.words(&cut, (middle, canvas.bottom + 10), HPos::Center, VPos::Top);
        for (number, series) in frame.series.iter().enumerate() {
            let Some(mark) = series.spots.iter().find(|spot| spot.word == *word) else { continue };
            let left = middle + width * number as i32 - width * frame.series.len() as i32 / 2;
            let top = y.place(mark.value.mean);
            let style = if mark.saturated { colour(number).stroke_width(4) } else { colour(number).filled() };
            canvas.put(Rectangle::new([(left + 2, top), (left + width - 2, canvas.bottom)], style));
            if let Some(ci95) = mark.value.ci95 {
                let low = (mark.value.mean - ci95).max(f64::MIN_POSITIVE);
                canvas.interval(7, left + width / 2, (y.place(low), y.place(mark.value.mean + ci95)));
            }
            let text = mark.hint(&series.label, &frame.x_title, frame.y_title);
            hints.push(Hint { x: left + width / 2, y: top, text });
        }
    }
    canvas.finish();
    (svg, hints)
}
