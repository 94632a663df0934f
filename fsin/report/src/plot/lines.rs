//! Curves along an axis of numbers.

use super::canvas::{Canvas, Key};
use super::{Frame, Hint, Mark};

/// A position in a picture or outside it, in units.
type Spot = (f64, f64);

/// Draws curves. Returns the picture, the hints of its markers, and its height.
pub(super) fn draw(frame: &Frame) -> (String, Vec<Hint>, i32) {
    let mut hints = Vec::new();
    let mut canvas = Canvas::new(frame, Key::Curve, 0);
    let y = frame.extent.y(canvas.bottom, canvas.top);
    let x = frame.extent.x(canvas.left, canvas.right);
    canvas.frame(Some(&x), &y);
    let frame_of =
        ((f64::from(canvas.left), f64::from(canvas.top)), (f64::from(canvas.right), f64::from(canvas.bottom)));
    if frame.diagonal {
        let end = x.ends().1.min(y.ends().1);
        let from = x.ends().0.max(y.ends().0);
        if from < end {
            canvas.dashes((x.place(from), y.place(from)), (x.place(end), y.place(end)));
        }
    }
    let place = |mark: &Mark| (x.exact(mark.x), y.exact(mark.value.mean));
    for series in frame.series {
        let drawn: Vec<&Mark> = series.drawn().collect();
        let mut line: Vec<Spot> = Vec::new();
        for pair in drawn.windows(2).filter(|pair| !pair[0].saturated && !pair[1].saturated) {
            let Some((from, to)) = clipped(place(pair[0]), place(pair[1]), frame_of) else { continue };
            if line.last() != Some(&from) {
                canvas.curve(series.number, &line);
                line = vec![from];
            }
            line.push(to);
        }
        canvas.curve(series.number, &line);
        let shown: Vec<&Mark> = drawn.into_iter().filter(|mark| x.holds(mark.x) && y.holds(mark.value.mean)).collect();
        for mark in &shown {
            if let Some(ends) = mark.ends() {
                canvas.interval(series.number, x.place(mark.x), ends, &y);
            }
        }
        for mark in shown {
            let (x, y) = (x.place(mark.x), y.place(mark.value.mean));
            canvas.marker(series.number, (x, y), mark.fill());
            hints.push(Hint { x, y, text: mark.hint(&series.label, &frame.x_title, &frame.y_title) });
        }
    }
    let height = canvas.height;
    (canvas.finish(), hints, height)
}

/// The part of a line within the frame with these upper left and lower right corners, if there is one (Liang and
/// Barsky, 1984).
fn clipped(from: Spot, to: Spot, ((left, top), (right, bottom)): (Spot, Spot)) -> Option<(Spot, Spot)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut begin, mut end) = (0.0_f64, 1.0_f64);
    for (along, free) in [(-dx, from.0 - left), (dx, right - from.0), (-dy, from.1 - top), (dy, bottom - from.1)] {
        // Half a unit of slack: places are rounded when they are drawn.
        let free = free + 0.5;
        if along == 0.0 {
            if free < 0.0 {
                return None;
            }
        } else if along < 0.0 {
            begin = begin.max(free / along);
        } else {
            end = end.min(free / along);
        }
    }
    let at = |share: f64| (from.0 + dx * share, from.1 + dy * share);
    (begin < end).then(|| (if begin > 0.0 { at(begin) } else { from }, if end < 1.0 { at(end) } else { to }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_the_frame() {
        let frame = ((0.0, 0.0), (100.0, 100.0));
        assert_eq!(clipped((10.0, 90.0), (20.0, 80.0), frame), Some(((10.0, 90.0), (20.0, 80.0))));
        let (_, end) = clipped((10.0, 50.0), (20.0, -50.0), frame).unwrap();
        assert!((end.1 - 0.0).abs() <= 0.6 && (end.0 - 15.0).abs() < 0.1, "{end:?}");
        assert_eq!(clipped((10.0, -5.0), (20.0, -50.0), frame), None);
        assert_eq!(clipped((-10.0, -5.0), (-10.0, 50.0), frame), None);
        let (from, end) = clipped((-50.0, 50.0), (150.0, 50.0), frame).unwrap();
        assert!((from.0 + 0.5).abs() < 1e-9 && (end.0 - 100.5).abs() < 1e-9);
    }
}
