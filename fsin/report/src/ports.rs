//! Bar charts of ports by paused time, marks and mean queue, the longest bar first.
//!
//! A class of a port is paused by the node at the other end of its link.

use fsin_core::words::counted;
use fsin_experiment::result::{Device, PortRow, RunResult};
use fsin_experiment::sweep::{Collected, Plan};

use crate::letters::width;
use crate::plot::{Picture, free_name, short, slug};
use crate::svg::{Anchor, COLOURS, Ink, Svg};

/// Maximum number of bars of a picture.
const BARS: usize = 20;

/// Maximum number of results that are drawn, the first ones in the plan.
const RESULTS: usize = 12;

/// The value of a class of a port.
struct Bar {
    /// The port; for pauses, with the node that has paused it.
    label: String,
    value: f64,
}

/// Description of a picture: kind, caption, title of the axis, and the values of a result.
type Drawing = (&'static str, &'static str, &'static str, fn(&RunResult) -> Vec<Bar>);

/// All pictures.
const DRAWINGS: [Drawing; 3] = [
    ("paused", "Paused time by port", "Paused time of the class (us)", paused),
    ("marked", "Marks by port", "Frames marked", marked),
    ("queue", "Mean queue by port", "Mean queue of the class (kB)", queued),
];

/// The name of a node with a port.
pub(crate) fn name(of: Device, node: u32) -> String {
    match of {
        Device::Host => format!("host {node}"),
        Device::Switch => format!("switch {node}"),
    }
}

/// Every class of every port with a value that is not 0, the greatest first.
fn bars(result: &RunResult, of: impl Fn(&PortRow, usize) -> (f64, String)) -> Vec<Bar> {
    let ports = result.ports.iter().flatten();
    let all = ports.flat_map(|port| (0..port.classes.len()).map(move |class| (port, class)));
    let bar = |(port, class): (&PortRow, usize)| {
        let (value, label) = of(port, class);
        Bar { label, value }
    };
    let mut bars: Vec<Bar> = all.map(bar).filter(|bar| bar.value > 0.0).collect();
    // Ports with equal values keep their order.
    bars.sort_by(|one, other| other.value.total_cmp(&one.value));
    bars
}

fn paused(result: &RunResult) -> Vec<Bar> {
    bars(result, |port, class| {
        let of = &port.classes[class];
        let (from, by) = (name(port.of, port.node), name(port.to, port.to_node));
        (of.paused_seconds * 1e6, format!("{from}, class {}, by {by}", of.class))
    })
}

fn marked(result: &RunResult) -> Vec<Bar> {
    bars(result, |port, class| {
        let of = &port.classes[class];
        let (from, to) = (name(port.of, port.node), name(port.to, port.to_node));
        (of.frames_marked as f64, format!("{from}, class {}, to {to}", of.class))
    })
}

/// Ports of switches, where a queue is one of the network.
fn queued(result: &RunResult) -> Vec<Bar> {
    bars(result, |port, class| {
        let of = &port.classes[class];
        let (from, to) = (name(port.of, port.node), name(port.to, port.to_node));
        let bytes = if port.of == Device::Switch { of.queue_mean_bytes } else { 0.0 };
        (bytes / 1e3, format!("{from}, class {}, to {to}", of.class))
    })
}

/// Pictures of paused time, of marks and of queues by port, for the first results in which there were any; and the number
/// of further ones.
#[must_use]
pub fn port_pictures(plan: &Plan, collected: &Collected) -> (Vec<Picture>, usize) {
    let mut pictures: Vec<Picture> = Vec::new();
    let mut drawn = 0;
    let has = |row: &&fsin_experiment::sweep::Row| DRAWINGS.iter().any(|(.., values)| !values(&row.result).is_empty());
    let rows: Vec<_> = collected.rows.iter().filter(has).collect();
    for row in rows.iter().take(RESULTS) {
        drawn += 1;
        let values = plan.axes.iter().zip(&plan.points[row.index].values);
        let title = values.map(|(axis, value)| format!("{} {value}", axis.key)).collect::<Vec<_>>().join(", ");
        for (kind, caption, axis, values) in DRAWINGS {
            let bars = values(&row.result);
            if bars.is_empty() {
                continue;
            }
            let name = if title.is_empty() { kind.to_owned() } else { format!("{kind}-{}", slug(&title)) };
            let more = bars.len().saturating_sub(BARS);
            pictures.push(Picture {
                kind,
                name: free_name(name, &pictures),
                caption: if title.is_empty() { caption.to_owned() } else { format!("{caption}, {title}") },
                hidden: if more > 0 { format!("{} not drawn", counted(more, "port", "ports")) } else { String::new() },
                svg: svg(&title, axis, &bars),
                pgf: None,
                data: data(kind, &bars),
                hints: Vec::new(),
            });
        }
    }
    (pictures, rows.len() - drawn)
}

/// The values as CSV; in words `;` replaces a comma.
fn data(kind: &str, bars: &[Bar]) -> String {
    let unit = match kind {
        "paused" => "paused_us",
        "queue" => "queue_mean_kb",
        _ => "frames_marked",
    };
    let lines = bars.iter().map(|bar| format!("{},{}\n", bar.label.replace(',', ";"), bar.value));
    std::iter::once(format!("port,{unit}\n")).chain(lines).collect()
}

/// \[points\] Size of letters.
const LETTERS: f64 = 14.0;
/// \[units\] Width of the picture, height of a bar with its gap, edge.
const WIDTH: i32 = 760;
const STEP: i32 = 24;
const EDGE: i32 = 14;

/// The bars, a line for each: its port, the bar, its value.
fn svg(title: &str, axis: &str, bars: &[Bar]) -> String {
    let shown = &bars[..bars.len().min(BARS)];
    let wide = |text: &str| width(text, LETTERS).ceil() as i32;
    let left = EDGE + shown.iter().map(|bar| wide(&bar.label)).max().unwrap_or(0) + 8;
    let values: Vec<String> = shown.iter().map(|bar| short((bar.value * 100.0).round() / 100.0)).collect();
    let room = (WIDTH - EDGE - left - values.iter().map(|value| wide(value)).max().unwrap_or(0) - 8).max(40);
    let titles = crate::lines::in_lines(title, f64::from(WIDTH - 2 * EDGE), LETTERS);
    let top = EDGE + 20 * (titles.len() as i32 + 1) + 8;
    let mut svg = Svg::new(left + room + WIDTH / 8, top + STEP * shown.len() as i32 + EDGE);
    svg.text(axis, (EDGE, EDGE + 4), LETTERS, Anchor::Left);
    for (line, text) in titles.iter().enumerate() {
        svg.text(text, (EDGE, EDGE + 4 + 20 * (line as i32 + 1)), LETTERS, Anchor::Left);
    }
    let most = shown.first().map_or(1.0, |bar| bar.value);
    for ((line, bar), value) in shown.iter().enumerate().zip(&values) {
        let above = top + STEP * line as i32;
        let end = left + (bar.value / most * f64::from(room)).round().max(1.0) as i32;
        svg.text(&bar.label, (left - 8, above + STEP / 2), LETTERS, Anchor::Right);
        svg.rectangle((left, above + 4), (end, above + STEP - 4), Ink::Filled(COLOURS[0]));
        svg.text(value, (end + 6, above + STEP / 2), LETTERS, Anchor::Left);
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsin_experiment::result::ClassRow;

    fn port(node: u32, paused_seconds: f64, frames_marked: u64) -> PortRow {
        let class = ClassRow { class: 3, paused_seconds, frames_marked, ..ClassRow::default() };
        PortRow { node, to: Device::Switch, to_node: 8, classes: vec![class], ..PortRow::default() }
    }

    #[test]
    fn ports_are_named_with_the_node_that_paused_them() {
        let mut result = RunResult::default();
        result.ports = Some(vec![port(0, 2e-6, 0), port(1, 0.0, 7), port(2, 5e-6, 0)]);
        let found = paused(&result);
        let labels: Vec<&str> = found.iter().map(|bar| &*bar.label).collect();
        assert_eq!(labels, ["host 2, class 3, by switch 8", "host 0, class 3, by switch 8"]);
        assert!((found[0].value - 5.0).abs() < 1e-9);
        assert_eq!(marked(&result).len(), 1);
        let svg = svg("cc dcqcn, load 0.3", "Paused time of the class (us)", &found);
        assert!(svg.contains("by switch 8") && svg.contains(">5</text>"), "{svg}");
        #[cfg(feature = "plots")]
        assert_eq!(crate::illegible(&svg).unwrap(), []);
        assert_eq!(data("paused", &found).lines().nth(1), Some("host 2; class 3; by switch 8,5"));
    }
}
