//! Heat maps on the page: one picture of each network, for the point that the reader selects.
//!
//! Without a script, and in print, it shows the most informative point: the highest load that the first curve carried.

use std::collections::HashMap;

use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};

use super::super::links::{Map, Net, Paint, STEPS, Scale, loads, order, ramp, svg};
use super::super::plot::short;
use fsin_core::words::counted;
use fsin_experiment::sweep::{Collected, Curves, Plan};

/// \[loads\] Maximum number on a page, which takes some megabytes. The most informative points are kept.
const MOST_LOADS: usize = 1_000_000;

/// A network on the page.
struct Drawn {
    /// The network.
    net: Net,
    /// Positions of its links; `None` if it is too large to be drawn.
    map: Option<Map>,
}

/// A point on the page.
struct Shown {
    /// By axis: the point's value.
    values: Vec<String>,
    /// Index of its network among the networks of the page.
    net: usize,
    /// \[phits/cycle\] By link: its load.
    loads: Vec<f64>,
}

/// The section on links; empty if no result has link loads.
pub(super) fn section(plan: &Plan, curves: &Curves, collected: &Collected) -> Markup {
    let order = order(curves, collected);
    if order.is_empty() {
        return Markup::default();
    }
    let (drawn, shown) = gather(plan, collected, &order);
    let Some(first) = shown.first() else {
        let text = "The results have the loads of links, but the network cannot be built any more: the file of its links \
                    is not where it was.";
        return html! { section { h2 { "Links" } p.note { (text) } } };
    };
    let scale = Scale::up_to(shown.iter().flat_map(|shown| &shown.loads).copied().fold(0.0, f64::max));
    let loads_of = |number: usize| shown.iter().find(|shown| shown.net == number).map_or(&[][..], |shown| &shown.loads);
    let left = order.len() - shown.len();
    html! {
        section.links {
            h2 { "Links" }
            (picks(plan, &shown))
            @for (number, Drawn { net, map }) in drawn.iter().enumerate() {
                div.map hidden[number != first.net] {
                    @if let Some(map) = map {
                        (figure(net, map, loads_of(number), scale))
                    } @else {
                        p.note { "The network is too large to be drawn link by link." }
                    }
                    (classes(net, loads_of(number)))
                }
            }
            p.note.absent hidden { "There are no loads of links for this combination." }
            p.note {
                "Load of a link: the share of cycles in which it carries a phit; 1 phit/cycle is all that it can."
                @if left > 0 { " " (counted(left, "point", "points")) " not on this page, to keep it small." }
            }
            script.loads-of-points type="application/json" { (PreEscaped(data(&drawn, &shown, scale))) }
        }
    }
}

/// The networks and points of the page. `order` has the indices of results in the order of interest.
fn gather(plan: &Plan, collected: &Collected, order: &[usize]) -> (Vec<Drawn>, Vec<Shown>) {
    let mut drawn: Vec<Drawn> = Vec::new();
    // Points with the same network settings have the same links.
    let mut known: HashMap<String, Option<usize>> = HashMap::new();
    let (mut shown, mut loads_held): (Vec<Shown>, usize) = (Vec::new(), 0);
    for &at in order {
        let row = &collected.rows[at];
        let settings = &row.result.experiment;
        let word = |key: &str| settings.get(key).map_or_else(String::new, ToString::to_string);
        let mut words = vec![word("topology"), word("ways")];
        if settings.contains_key("faults") {
            words.extend([word("faults"), word("seed")]);
        }
        let net = *known.entry(words.join(" ")).or_insert_with(|| {
            let net = Net::of(&**plan.points[row.index].resolve().ok()?.topology()?);
            let map = Map::of(&net);
            drawn.push(Drawn { net, map });
            Some(drawn.len() - 1)
        });
        let Some((net, loads)) = net.and_then(|net| Some((net, loads(&drawn[net].net, &row.result)?))) else {
            continue;
        };
        loads_held += loads.len();
        if loads_held > MOST_LOADS && !shown.is_empty() {
            break;
        }
        shown.push(Shown { values: plan.points[row.index].values.clone(), net, loads });
    }
    (drawn, shown)
}

/// A selection list for each axis.
fn picks(plan: &Plan, shown: &[Shown]) -> Markup {
    let is_at = |shown: &Shown, axis: usize, value: &String| shown.values.get(axis) == Some(value);
    let varies = |axis: usize| shown.iter().any(|one| one.values.get(axis) != shown[0].values.get(axis));
    html! {
        @if !plan.axes.is_empty() {
            form.picks autocomplete="off" {
                @for (axis, about) in plan.axes.iter().enumerate() {
                    label hidden[!varies(axis)] {
                        (about.key) " "
                        select {
                            @for value in &about.values {
                                @if shown.iter().any(|shown| is_at(shown, axis, value)) {
                                    option selected[is_at(&shown[0], axis, value)] { (value) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The picture of a network, with the loads of one point.
pub(super) fn figure(net: &Net, map: &Map, loads: &[f64], scale: Scale) -> Markup {
    let svg = svg(map, loads, scale, "", Paint::Class);
    // The page sets the size; the box keeps the aspect ratio.
    let svg =
        svg.replace("#000000", "currentColor").replace("#E0E0E0", "var(--grid)").replacen(" width=\"1000\"", "", 1);
    let head = svg.find('>').unwrap_or(0);
    let (head, rest) = svg.split_at(head);
    let head = head.split(" height=").next().unwrap_or(head);
    html! {
        figure aria-label={ "Load of the links of " (net.spec) } {
            (PreEscaped(format!("{head} role=\"img\"{rest}")))
            figcaption { (net.spec) ". " (map.reading) }
        }
    }
}

/// A table with a line for each link class: number of links, mean load, maximum load and where it is.
pub(super) fn classes(net: &Net, loads: &[f64]) -> Markup {
    let row = |(class, name): (usize, &String)| {
        let links_of_class = || net.links.iter().zip(loads).filter(move |(link, _)| link.class == class);
        let count = net.links.iter().filter(|link| link.class == class).count();
        let mean = links_of_class().map(|(_, load)| load).sum::<f64>() / count.max(1) as f64;
        // Of several links with the same load, the first one.
        let most = links_of_class().reduce(|most, one| if one.1 > most.1 { one } else { most });
        let (most, place) = most.map_or((0.0, String::new()), |(link, &load)| (load, net.name(link)));
        html! {
            tr {
                td { (name) }
                @for number in [count.to_string(), short(rounded(mean)), short(rounded(most))] { td.n { (number) } }
                td { (place) }
            }
        }
    };
    html! {
        div.wide {
            table {
                thead {
                    tr {
                        @for title in ["links", "number", "mean load", "largest", "at"] { th scope="col" { (title) } }
                    }
                }
                tbody { @for class in net.classes.iter().enumerate() { (row(class)) } }
            }
        }
    }
}

/// A load rounded to the precision of the page.
fn rounded(load: f64) -> f64 {
    (load * 1000.0).round() / 1000.0
}

/// Data for the script, as JSON: names of links, and the loads of every point in thousandths.
fn data(drawn: &[Drawn], shown: &[Shown], scale: Scale) -> String {
    let map = |Drawn { net, .. }: &Drawn| {
        let names: Vec<String> = net.links.iter().map(|link| net.name(link)).collect();
        let classes: Vec<usize> = net.links.iter().map(|link| link.class).collect();
        json!({ "names": names, "classes": classes })
    };
    let point = |shown: &Shown| {
        let loads: Vec<u64> = shown.loads.iter().map(|load| (load * 1000.0).round() as u64).collect();
        json!({ "values": shown.values, "map": shown.net, "loads": loads })
    };
    let data: Value = json!({
        "top": scale.top,
        "maps": drawn.iter().map(map).collect::<Vec<_>>(),
        "points": shown.iter().map(point).collect::<Vec<_>>(),
    });
    // The data must not end the script element.
    data.to_string().replace('<', "\\u003c")
}

/// The colours of loads as variables of the style sheet, for light and dark pages.
pub(super) fn load_colours() -> String {
    let declared = |dark: bool| -> String {
        ramp(dark).iter().enumerate().map(|(step, colour)| format!("--h{step}:{colour};")).collect()
    };
    let classes: String = (0..STEPS).map(|step| format!(".h{step}{{fill:var(--h{step})}}")).collect();
    format!(
        ":root{{{}}}\n@media screen and (prefers-color-scheme: dark) {{:root{{{}}}}}\n{classes}\n",
        declared(false),
        declared(true)
    )
}
