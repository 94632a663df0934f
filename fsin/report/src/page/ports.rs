//! Ports with classes on the page: slow-down over size, pauses with the pausing node, and marks.

use super::super::plot::{Style, by_size, short};
use super::super::ports::{name, port_pictures};
use super::html::Table;
use super::{Scale, figure};
use fsin_core::words::counted;
use fsin_experiment::result::{ClassRow, PortRow};
use fsin_experiment::sweep::{Collected, Curves, Plan, Row};
use maud::{Markup, html};

/// Maximum number of ports in the table of a page: those that were paused longest.
const MOST: usize = 100;

/// The pictures of slow-down over the size of messages; empty if no result has them.
pub(super) fn sizes(curves: &Curves, collected: &Collected, scale: Scale) -> Markup {
    let pictures = by_size(curves, collected, &Style { scale, ..Style::default() });
    html! {
        @if !pictures.is_empty() {
            section {
                h2 { "Messages by size" }
                div.plots { @for picture in &pictures { (figure(picture)) } }
                p.note { "Each tenth of the messages of a run, from the shortest to the longest, named by its greatest size." }
            }
        }
    }
}

/// The section on ports; empty if no result has ports with classes.
pub(super) fn section(plan: &Plan, collected: &Collected) -> Markup {
    let (pictures, others) = port_pictures(plan, collected);
    let mut found: Vec<(&Row, &PortRow, &ClassRow)> = Vec::new();
    for row in &collected.rows {
        for port in row.result.ports.iter().flatten() {
            let of_row = port.classes.iter().map(|class| (row, port, class));
            found.extend(of_row.filter(|(.., class)| {
                class.paused_seconds > 0.0 || class.frames_marked > 0 || class.frames_dropped > 0 || class.watchdogs > 0
            }));
        }
    }
    if found.is_empty() {
        return Markup::default();
    }
    // Stable: ports with equal values keep the order of the plan.
    let key = |class: &ClassRow| (class.paused_seconds, class.frames_marked as f64, class.frames_dropped as f64);
    found.sort_by(|(.., one), (.., other)| {
        let ((a, b, c), (d, e, f)) = (key(other), key(one));
        a.total_cmp(&d).then(b.total_cmp(&e)).then(c.total_cmp(&f))
    });
    let axes = plan.axes.iter().map(|axis| axis.key.as_str());
    let titles = [
        "port of",
        "link to",
        "class",
        "paused by it (us)",
        "frames marked",
        "frames dropped",
        "dropped by a watchdog",
        "queue, mean (bytes)",
        "queue, max (bytes)",
    ];
    let mut table = Table::new(axes.chain(titles));
    for (row, port, class) in found.iter().take(MOST) {
        let mut cells = plan.points[row.index].values.clone();
        cells.extend([name(port.of, port.node), name(port.to, port.to_node), class.class.to_string()]);
        cells.push(short((class.paused_seconds * 1e8).round() / 100.0));
        cells.extend([class.frames_marked, class.frames_dropped, class.watchdogs].map(|count| count.to_string()));
        cells.extend([short(class.queue_mean_bytes.round()), class.queue_max_bytes.to_string()]);
        table.row(if class.frames_dropped > 0 { "bad" } else { "" }, &cells);
    }
    html! {
        section {
            h2 { "Ports" }
            div.plots { @for picture in &pictures { (figure(picture)) } }
            @if others > 0 { p.note { "No pictures of " (counted(others, "further result", "further results")) "." } }
            (table.end())
            p.note {
                "A class of a port is paused by the node to which its link leads."
                @if found.len() > MOST { " The other " (found.len() - MOST) " are in the results." }
            }
        }
    }
}
