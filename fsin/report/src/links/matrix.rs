//! Networks of switches, and others that are not grids, as an adjacency matrix: a cell for each linked pair.

use std::collections::HashMap;

use super::net::Net;
use super::{Bar, LETTERS, Map, WIDTH, within, words};
use crate::letters::width;

/// Maximum number of routers of a matrix: with more, cells are too small to be seen.
const MOST_ROUTERS: usize = 256;

/// The picture of a network; `None` if it has too many switches.
pub(super) fn map(net: &Net) -> Option<Map> {
    let mut inner: Vec<usize> = (net.endpoints..net.routers).collect();
    // Switches of a row are adjacent.
    let rows = net.places();
    inner.sort_by_key(|&router| (rows[router], router));
    if inner.is_empty() || inner.len() > MOST_ROUTERS {
        return None;
    }
    let position: HashMap<usize, usize> = inner.iter().enumerate().map(|(at, &router)| (router, at)).collect();
    let (left, top) = (2.8 * LETTERS, 2.8 * LETTERS);
    // Half a number may extend beyond the last cell.
    let cell = (WIDTH - left - 0.8 * LETTERS) / inner.len() as f64;
    let side = cell * inner.len() as f64;
    let mut behind = format!(
        "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{side:.1}\" height=\"{side:.1}\" fill=\"none\" stroke=\"#000000\" \
         stroke-width=\"2\"/>\n"
    );
    // Endpoints of trees are level 0; switches begin with level 1, as in the names of classes of links.
    let (what, first) = match &net.rows {
        Some(rows) if rows.name == "group" => ("group", 0),
        Some(rows) if rows.members.len() > 2 => ("level", 0),
        _ if net.endpoints > 0 => ("switch", 0),
        _ => ("node", 0),
    };
    let blocks = blocks(&inner, &rows);
    let labels: Vec<(String, f64)> = if matches!(what, "group" | "level") {
        for &(_, start, _) in &blocks[1..] {
            let at = start as f64 * cell;
            behind.push_str(&format!(
                "<path d=\"M{left:.1} {:.1}h{side:.1}M{:.1} {top:.1}v{side:.1}\" stroke=\"#E0E0E0\" stroke-width=\"2\"/>\n",
                top + at,
                left + at
            ));
        }
        let label = |&(row, start, end): &(usize, usize, usize)| {
            (row.saturating_sub(first).to_string(), (start + end) as f64 / 2.0 * cell)
        };
        blocks.iter().map(label).collect()
    } else {
        let name = |at: usize| (inner[at].to_string(), (at as f64 + 0.5) * cell);
        vec![name(0), name(inner.len() - 1)]
    };
    // Overlapping labels are left out.
    let mut free = f64::MIN;
    for (label, at) in labels {
        let half = width(&label, LETTERS) / 2.0 + 0.1 * LETTERS;
        if at - half < free {
            continue;
        }
        free = at + half;
        behind.push_str(&words(&label, (within(left + at, &label), top - 0.6 * LETTERS), "middle", false));
        behind.push_str(&words(&label, (left - 0.25 * LETTERS, top + at), "end", false));
    }
    behind.push_str(&words(&format!("to {what}"), (left + side / 2.0, 0.8 * LETTERS), "middle", false));
    behind.push_str(&words(&format!("from {what}"), (0.8 * LETTERS, top + side / 2.0), "middle", true));
    let bars = bars(net, &position, (left, top), cell);
    let reading = if net.endpoints > 0 {
        "A cell for each link between switches: it leads from the switch of its line to that of its column. Links of \
         endpoints are in the table only."
    } else {
        "A cell for each link: it leads from the node of its line to that of its column."
    };
    Some(Map { height: top + side + 0.4 * LETTERS, behind, bars, reading, pairs: false })
}

/// Runs of consecutive routers of the same row: the row, the position of its first router, and the position after its
/// last one.
fn blocks(inner: &[usize], rows: &[usize]) -> Vec<(usize, usize, usize)> {
    let mut blocks: Vec<(usize, usize, usize)> = Vec::new();
    for (at, &router) in inner.iter().enumerate() {
        match blocks.last_mut() {
            Some((row, _, end)) if *row == rows[router] => *end = at + 1,
            _ => blocks.push((rows[router], at, at + 1)),
        }
    }
    blocks
}

/// The cells of all links. Parallel links share a cell. Links of endpoints have cells of size 0.
fn bars(net: &Net, position: &HashMap<usize, usize>, (left, top): (f64, f64), cell: f64) -> Vec<Bar> {
    let mut sharing: HashMap<(usize, usize), usize> = HashMap::new();
    for link in &net.links {
        *sharing.entry((link.from, link.to)).or_default() += 1;
    }
    let mut used: HashMap<(usize, usize), usize> = HashMap::new();
    let bar = |link: &super::net::Link| {
        let (Some(&row), Some(&column)) = (position.get(&link.from), position.get(&link.to)) else {
            return Bar { x: 0.0, y: 0.0, width: 0.0, height: 0.0 };
        };
        let share = cell / sharing[&(link.from, link.to)] as f64;
        let number = used.entry((link.from, link.to)).or_default();
        let aside = share * *number as f64;
        *number += 1;
        Bar { x: left + column as f64 * cell + aside, y: top + row as f64 * cell, width: share, height: cell }
    };
    net.links.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_blocks() {
        assert_eq!(blocks(&[4, 5, 6, 7], &[0, 0, 0, 0, 1, 1, 2, 2]), [(1, 0, 2), (2, 2, 4)]);
    }
}
