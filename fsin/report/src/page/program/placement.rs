//! The nodes of ranks, as a grid of cells.

use maud::{Markup, PreEscaped, html};

use super::super::super::links::{LETTERS, Net, WIDTH, words};
use super::ProgramRun;

/// Maximum number of nodes that are drawn; cells of more are too small to be read.
const MOST_NODES: usize = 1024;
/// Number of nodes in a row where the network has no rows of its own.
const ROW: usize = 16;

/// The section on the placement.
pub(super) fn section(net: Option<&Net>, run: &ProgramRun<'_>) -> Markup {
    if run.places.is_empty() {
        return Markup::default();
    }
    let word = run.result.experiment.get("placement").and_then(serde_json::Value::as_str).unwrap_or("consecutive");
    let used = run.places.iter().collect::<std::collections::BTreeSet<_>>().len();
    let svg = (run.nodes <= MOST_NODES).then(|| svg(net, run));
    html! {
        section id="placement" {
            h2 { "Placement" }
            @match svg {
                Some(svg) => div.map { figure aria-label="The node of each rank" { (PreEscaped(svg)) } },
                None => p.note { "The network is too large to be drawn node by node; the table of ranks has their nodes." },
            }
            p.note { "Placement " (word) ": " (run.places.len()) " ranks on " (used) " of " (run.nodes) " nodes." }
        }
    }
}

/// The ranks of a node in a few letters, such as `3` and `4-7`.
fn label(ranks: &[usize]) -> String {
    match ranks {
        [] => String::new(),
        [one] => one.to_string(),
        [first, .., last] if last - first + 1 == ranks.len() => format!("{first}-{last}"),
        [first, ..] => format!("{first}…"),
    }
}

/// The grid: a cell for each node, with its ranks.
fn svg(net: Option<&Net>, run: &ProgramRun<'_>) -> String {
    let mut ranks: Vec<Vec<usize>> = vec![Vec::new(); run.nodes];
    for (rank, node) in run.places.iter().enumerate() {
        if let Some(there) = ranks.get_mut(node.index()) {
            there.push(rank);
        }
    }
    // As in the picture of links, the rows of a grid go upwards.
    let (columns, upwards) = match net.and_then(|net| net.grid.as_deref()) {
        Some([first, _, ..]) => (*first, true),
        _ => (ROW, false),
    };
    let columns = columns.clamp(1, run.nodes.max(1));
    let rows = run.nodes.div_ceil(columns);
    let cell = (WIDTH / columns.max(8) as f64).min(90.0);
    let longest = ranks.iter().map(|ranks| label(ranks).len()).max().unwrap_or(1).max(2) as f64;
    let size = (cell * 0.8 / (0.65 * longest)).min(LETTERS);
    let mut drawn = String::new();
    for (node, ranks) in ranks.iter().enumerate() {
        let row = if upwards { rows - 1 - node / columns } else { node / columns };
        let (x, y) = ((node % columns) as f64 * cell, row as f64 * cell);
        let name = net.map_or_else(|| format!("node {node}"), |net| net.router(node));
        let there = match &ranks[..] {
            [] => "no rank".to_owned(),
            [one] => format!("rank {one}"),
            several => format!("ranks {}", several.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        };
        let fill = if ranks.is_empty() { "none" } else { "var(--h4)" };
        drawn.push_str(&format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\" stroke=\"var(--line)\">\
             <title>{name}: {there}</title></rect>\n",
            x + 1.0,
            y + 1.0,
            cell - 2.0,
            cell - 2.0
        ));
        if !ranks.is_empty() {
            let text = words(&label(ranks), (x + cell / 2.0, y + cell / 2.0), "middle", false);
            let text = text.replace(&format!("font-size=\"{LETTERS}\""), &format!("font-size=\"{size:.1}\""));
            drawn.push_str(&text.replace("<text ", "<text pointer-events=\"none\" "));
        }
    }
    let drawn = drawn.replace("#000000", "currentColor");
    let (width, height) = (columns as f64 * cell, rows as f64 * cell);
    format!(
        "<svg viewBox=\"0 0 {:.0} {height:.0}\" xmlns=\"http://www.w3.org/2000/svg\">\n{drawn}</svg>",
        width.max(800.0)
    )
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn ranks_of_a_node_are_a_range_where_they_can() {
        assert_eq!([&[][..], &[3], &[4, 5, 6], &[0, 8]].map(label), ["", "3", "4-6", "0…"]);
    }
}
