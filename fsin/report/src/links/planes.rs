//! Tori and meshes as planes: links between their nodes, one line for each direction.

use super::net::Net;
use super::{Bar, LETTERS, Map, WIDTH, within, words};
use crate::letters::width;

/// Maximum number of planes.
const MOST_PLANES: usize = 64;

/// \[units\] Maximum distance between neighbouring nodes.
const WIDEST: f64 = 110.0;

/// Half the size of a node, as a share of the distance between neighbouring nodes.
const NODE: f64 = 0.2;
/// Distance from the outermost nodes to the edge of the plane, where links that wrap end, as the same share.
const EDGE: f64 = 0.62;
/// Width of the line of a link, as the same share.
const LINE: f64 = 0.15;
/// Distance of a line from the middle between its nodes, as the same share.
const MIDDLE: f64 = 0.02;
/// Distance between two planes, as the same share.
const BETWEEN: f64 = 0.4;

/// The picture of a torus or mesh of up to three dimensions; `None` for other networks.
pub(super) fn map(net: &Net) -> Option<Map> {
    let sizes = net.grid.as_ref().filter(|sizes| sizes.len() <= 3)?;
    let size = |dimension: usize| sizes.get(dimension).copied().unwrap_or(1);
    let (wide, high, planes) = (size(0), size(1), size(2));
    if planes > MOST_PLANES || wide * high * planes != net.routers {
        return None;
    }
    let (across, up) = ((wide - 1) as f64 + 2.0 * EDGE, (high - 1) as f64 + 2.0 * EDGE);
    let columns = columns(planes, across / up);
    let lines = planes.div_ceil(columns);
    let title = if planes > 1 { 1.5 * LETTERS } else { 0.0 };
    let left = match planes == 1 && high > 1 {
        true => (width(&(high - 1).to_string(), LETTERS) + 0.5 * LETTERS).max(1.6 * LETTERS),
        false => 0.0,
    };
    // Links that wrap at the right edge of a plane do not meet those at the left edge of the next.
    let beside = across + if planes > 1 { BETWEEN } else { 0.0 };
    let pitch = ((WIDTH - left) / (beside * columns as f64)).min(WIDEST);
    let margin = left + (WIDTH - left - pitch * beside * columns as f64) / 2.0 + (beside - across) / 2.0 * pitch;
    let block = up * pitch + title;
    let place = |node: usize| {
        let (x, y, plane) = (node % wide, node / wide % high, node / (wide * high));
        let corner = (margin + (plane % columns) as f64 * beside * pitch, (plane / columns) as f64 * block + title);
        (corner.0 + (EDGE + x as f64) * pitch, corner.1 + (EDGE + (high - 1 - y) as f64) * pitch)
    };
    let mut behind = String::new();
    for node in 0..net.routers {
        let (x, y) = place(node);
        let half = NODE * pitch;
        behind.push_str(&format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{2:.1}\" fill=\"#E0E0E0\"/>\n",
            x - half,
            y - half,
            2.0 * half
        ));
    }
    // Narrow planes have only their number, very narrow ones only some of them.
    let room = beside * pitch - 0.2 * LETTERS;
    let longest = format!("z = {}", planes - 1);
    let is_short = width(&longest, LETTERS) > room;
    let every = if is_short { (width(&longest[4..], LETTERS) / room).ceil().max(1.0) as usize } else { 1 };
    for plane in (0..planes).filter(|plane| planes > 1 && (plane % columns).is_multiple_of(every)) {
        let x = margin + ((plane % columns) as f64 * beside + 0.5 * across) * pitch;
        let y = (plane / columns) as f64 * block + title / 2.0;
        behind.push_str(&words(
            &if is_short { plane.to_string() } else { format!("z = {plane}") },
            (x, y),
            "middle",
            false,
        ));
    }
    let mut height = lines as f64 * block;
    if planes == 1 {
        height += 0.6 * LETTERS;
        let half = |text: &str| width(text, LETTERS) / 2.0 + 0.1 * LETTERS;
        for (text, x) in labels("x", wide - 1, (place(0).0, place(wide - 1).0), &half) {
            behind.push_str(&words(&text, (within(x, &text), height), "middle", false));
        }
        height += 0.8 * LETTERS;
        if high > 1 {
            let at = margin - left / 2.0;
            for (text, y) in labels("y", high - 1, (place(0).1, place(wide * (high - 1)).1), &|_| 0.6 * LETTERS) {
                behind.push_str(&words(&text, (at, y), "middle", false));
            }
        }
    }
    let bars = net.links.iter().map(|link| {
        let name = net.classes[link.class].as_bytes();
        bar(place(link.from), (name[0], name[1] == b'+'), at_end(link.from, (wide, high), name), pitch)
    });
    let reading = match sizes.len() {
        3 => {
            "Nodes of each plane, x to the right and y upwards, and the links between them, one line for each direction: \
             traffic keeps to the right. Links to the next plane (z+) are the right halves of nodes, those to the plane \
             before (z-) the left ones. Links that wrap end at the edge."
        }
        _ => {
            "Nodes and the links between them, one line for each direction: traffic keeps to the right. Links that wrap \
             end at the edge."
        }
    };
    Some(Map { height, behind, bars: bars.collect(), reading, pairs: true })
}

/// Labels along a dimension with their positions: its name in the middle, and the numbers of the nodes at its ends,
/// where they do not overlap the name. `half` is half the room of a label.
fn labels(name: &str, last: usize, ends: (f64, f64), half: &dyn Fn(&str) -> f64) -> Vec<(String, f64)> {
    let middle = f64::midpoint(ends.0, ends.1);
    let mut labels = vec![(name.to_owned(), middle)];
    for (number, at) in [(0, ends.0), (last, ends.1)] {
        let text = number.to_string();
        if (at - middle).abs() >= half(name) + half(&text) {
            labels.push((text, at));
        }
    }
    labels
}

/// True if a link leaves a node at the edge of its plane. `name` is the name of its class, such as `X+`.
fn at_end(node: usize, (wide, high): (usize, usize), name: &[u8]) -> bool {
    match (name[0], name[1]) {
        (b'X', b'+') => node % wide == wide - 1,
        (b'X', _) => node.is_multiple_of(wide),
        (b'Y', b'+') => node / wide % high == high - 1,
        _ => (node / wide).is_multiple_of(high),
    }
}

/// The line of a link that leaves the node at a place, in a dimension (`X`, `Y` or `Z`) and direction. `ends` says
/// whether it ends at the edge of the plane, and `pitch` is the distance between nodes.
fn bar((x, y): (f64, f64), (dimension, positive): (u8, bool), ends: bool, pitch: f64) -> Bar {
    let (start, line, middle) = (NODE * pitch, LINE * pitch, MIDDLE * pitch);
    let length = if ends { EDGE * pitch - start } else { pitch - 2.0 * start };
    // A line that leads right (or up) is below (or right of) the middle: traffic keeps to the right.
    let aside = if positive { middle } else { -middle - line };
    match dimension {
        b'X' => {
            let x = if positive { x + start } else { x - start - length };
            Bar { x, y: y + aside, width: length, height: line }
        }
        b'Y' => {
            let y = if positive { y - start - length } else { y + start };
            Bar { x: x + aside, y, width: line, height: length }
        }
        _ => Bar { x: if positive { x } else { x - start }, y: y - start, width: start, height: 2.0 * start },
    }
}

/// Number of columns of planes with which the whole picture is about square. `shape` is the width of a plane over its
/// height.
fn columns(planes: usize, shape: f64) -> usize {
    let deviation = |columns: usize| {
        let lines = planes.div_ceil(columns);
        (columns as f64 * shape / lines as f64).ln().abs()
    };
    (1..=planes).min_by(|&a, &b| deviation(a).total_cmp(&deviation(b))).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_a_pair_stand_beside_each_other() {
        let (here, there) = ((100.0, 100.0), (190.0, 100.0));
        let right = bar(here, (b'X', true), false, 90.0);
        let left = bar(there, (b'X', false), false, 90.0);
        assert!((right.x - left.x).abs() < 1e-9 && (right.width - left.width).abs() < 1e-9);
        assert!(right.y > 100.0 && left.y + left.height < 100.0, "traffic keeps to the right");
        let up = bar(here, (b'Y', true), false, 90.0);
        assert!(up.x > 100.0 && up.y + up.height < 100.0, "up is towards smaller y of the picture, on its right");
    }

    #[test]
    fn planes_fill_a_square() {
        assert_eq!((columns(1, 1.0), columns(4, 1.0), columns(8, 1.0)), (1, 2, 3));
        assert_eq!(columns(4, 8.0), 1);
    }
}
