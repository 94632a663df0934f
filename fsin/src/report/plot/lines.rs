//! Curves along an axis of numbers.

use plotters::prelude::Color;

use super::canvas::{Canvas, Key, colour, left};
use super::scale::Axis;
use super::{Frame, Hint, Mark};

/// Draws curves; also what their markers say.
pub(super) fn draw(frame: &Frame) -> (String, Vec<Hint>) {
    let mut svg = String::new();
    let mut hints = Vec::new();
    let spots = || frame.series.iter().flat_map(|series| &series.spots);
    let most = |value: &dyn Fn(&Mark) -> f64| spots().map(value).fold(f64::MIN, f64::max);
    let least = |value: &dyn Fn(&Mark) -> f64| spots().map(value).fold(f64::MAX, f64::min);
    let upper = |mark: &Mark| mark.value.mean + mark.value.ci95.unwrap_or(0.0);
    let y = |from, to| {
        if frame.log {
            Axis::log(least(&|mark| mark.value.mean), most(&upper), from, to)
        } else {
            Axis::linear(0.0, most(&upper), from, to)
        }
    };
    let canvas = Canvas::new(&mut svg, frame, Key::Curve, 1, left(&y(1, 0)));
    let y = y(canvas.bottom, canvas.top);
    let x = if frame.from_zero {
        Axis::linear(least(&|mark| mark.x).min(0.0), most(&|mark| mark.x), canvas.left, canvas.right)
    } else {
        Axis::through(spots().map(|mark| mark.x).collect(), canvas.left, canvas.right)
    };
    canvas.frame(frame, Some(&x), &y);
    if frame.diagonal {
        let end = most(&|mark| mark.x).min(most(&upper));
        canvas.dashes((x.place(0.0), y.place(0.0)), (x.place(end), y.place(end)));
    }
    for (number, series) in frame.series.iter().enumerate() {
        let place = |mark: &Mark| (x.place(mark.x), y.place(mark.value.mean));
        for pair in series.spots.windows(2).filter(|pair| !pair[0].saturated && !pair[1].saturated) {
            canvas.line(pair.iter().map(place).collect(), colour(number).stroke_width(4));
        }
        for mark in &series.spots {
            if let Some(ci95) = mark.value.ci95 {
                let low = (mark.value.mean - ci95).max(if frame.log { f64::MIN_POSITIVE } else { 0.0 });
                canvas.interval(number, x.place(mark.x), (y.place(low), y.place(mark.value.mean + ci95)));
            }
        }
        for mark in &series.spots {
            let (x, y) = place(mark);
            canvas.marker(number, (x, y), !mark.saturated);
            hints.push(Hint { x, y, text: mark.hint(&series.label, &frame.x_title, frame.y_title) });
        }
    }
    canvas.finish();
    (svg, hints)
}
