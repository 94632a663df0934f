//! Heat maps on the page: one picture of each network, for the point that the reader selects.
//!
//! Without a script, and in print, it shows the most informative point: the highest load that the first curve carried.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::links::{Map, Net, Paint, STEPS, Scale, loads, order, ramp, svg};
use super::super::plot::short;
use crate::svg::escape;
use fsin_core::words::counted;
use fsin_experiment::sweep::{Collected, Curves, Plan};

/// \[loads\] Maximum on a page: some megabytes. The most informative points are kept.
const MOST_LOADS: usize = 1_000_000;

/// A network of the page.
struct Drawn {
    net: Net,
    map: Option<Map>,
}

/// A point of the page.
struct Shown {
    /// Its value on each axis.
    values: Vec<String>,
    /// Its network, as an index among those of the page.
    net: usize,
    loads: Vec<f64>,
}

/// The section; empty if no result has link loads.
pub(super) fn section(plan: &Plan, curves: &Curves, collected: &Collected) -> String {
    let order = order(curves, collected);
    if order.is_empty() {
        return String::new();
    }
    let (drawn, shown) = gather(plan, collected, &order);
    let Some(first) = shown.first() else {
        let text = "The results have the loads of links, but the network cannot be built any more: the file of its links \
                    is not where it was.";
        return format!("<section><h2>Links</h2><p class=\"note\">{text}</p></section>\n");
    };
    let scale = Scale::up_to(shown.iter().flat_map(|shown| &shown.loads).copied().fold(0.0, f64::max));
    let mut html = "<section id=\"links\"><h2>Links</h2>\n".to_owned();
    html.push_str(&picks(plan, &shown));
    for (number, Drawn { net, map }) in drawn.iter().enumerate() {
        let hidden = if number == first.net { "" } else { " hidden" };
        html.push_str(&format!("<div class=\"map\"{hidden}>\n"));
        let at = shown.iter().find(|shown| shown.net == number).map_or(&[][..], |shown| &shown.loads);
        match map {
            Some(map) => html.push_str(&figure(net, map, at, scale)),
            None => html.push_str("<p class=\"note\">The network is too large to be drawn link by link.</p>"),
        }
        html.push_str(&classes(net, at));
        html.push_str("</div>\n");
    }
    html.push_str("<p class=\"note\" id=\"no-links\" hidden>There are no loads of links for this combination.</p>\n");
    let left = order.len() - shown.len();
    let left = if left > 0 {
        format!(" {} not on this page, to keep it small.", counted(left, "point", "points"))
    } else {
        String::new()
    };
    html.push_str(&format!(
        "<p class=\"note\">Load of a link: the share of cycles in which it carries a phit; 1 phit/cycle is all that it \
         can.{left}</p>\n<script type=\"application/json\" id=\"link-data\">{}</script></section>\n",
        data(&drawn, &shown, scale)
    ));
    html
}

/// The networks and points on the page.
fn gather(plan: &Plan, collected: &Collected, order: &[usize]) -> (Vec<Drawn>, Vec<Shown>) {
    let mut drawn: Vec<Drawn> = Vec::new();
    // Points with the same network settings have the same links.
    let mut known: HashMap<String, Option<usize>> = HashMap::new();
    let (mut shown, mut held): (Vec<Shown>, usize) = (Vec::new(), 0);
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
        let Some((net, loads)) = net.and_then(|net| Some((net, loads(&drawn[net].net, row)?))) else { continue };
        held += loads.len();
        if held > MOST_LOADS && !shown.is_empty() {
            break;
        }
        shown.push(Shown { values: plan.points[row.index].values.clone(), net, loads });
    }
    (drawn, shown)
}

/// A selection list for each axis.
fn picks(plan: &Plan, shown: &[Shown]) -> String {
    let pick = |(axis, about): (usize, &fsin_experiment::sweep::PlanAxis)| {
        let here = shown.iter().any(|one| one.values.get(axis) != shown[0].values.get(axis));
        let options: String = about
            .values
            .iter()
            .filter(|value| shown.iter().any(|shown| shown.values.get(axis) == Some(value)))
            .map(|value| {
                let chosen = if shown[0].values.get(axis) == Some(value) { " selected" } else { "" };
                format!("<option{chosen}>{}</option>", escape(value))
            })
            .collect();
        let hidden = if here { "" } else { " hidden" };
        format!("<label{hidden}>{} <select>{options}</select></label>\n", escape(&about.key))
    };
    let picks: String = plan.axes.iter().enumerate().map(pick).collect();
    if picks.is_empty() { picks } else { format!("<form class=\"picks\" autocomplete=\"off\">{picks}</form>\n") }
}

/// The picture of a network, with the loads of one point.
fn figure(net: &Net, map: &Map, loads: &[f64], scale: Scale) -> String {
    let svg = svg(map, loads, scale, "", Paint::Class);
    // The page sets the size; the box keeps the aspect ratio.
    let svg =
        svg.replace("#000000", "currentColor").replace("#E0E0E0", "var(--grid)").replacen(" width=\"1000\"", "", 1);
    let head = svg.find('>').unwrap_or(0);
    let (head, rest) = svg.split_at(head);
    let head = head.split(" height=").next().unwrap_or(head);
    let spec = escape(&net.spec);
    format!(
        "<figure aria-label=\"Load of the links of {spec}\">{head} role=\"img\"{rest}<figcaption>{spec}. {}</figcaption></figure>\n",
        map.reading
    )
}

/// A line for each link class: number, mean, maximum, and the location of the maximum.
fn classes(net: &Net, loads: &[f64]) -> String {
    let mut rows = String::new();
    for (class, name) in net.classes.iter().enumerate() {
        let of = || net.links.iter().zip(loads).filter(move |(link, _)| link.class == class);
        let count = net.links.iter().filter(|link| link.class == class).count();
        let mean = of().map(|(_, load)| load).sum::<f64>() / count.max(1) as f64;
        // The first one, of several with the same load.
        let most = of().reduce(|most, one| if one.1 > most.1 { one } else { most });
        let (most, place) = most.map_or((0.0, String::new()), |(link, &load)| (load, net.name(link)));
        rows.push_str(&format!(
            "<tr><td>{}</td><td class=\"n\">{count}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
            escape(name),
            short(rounded(mean)),
            short(rounded(most)),
            escape(&place)
        ));
    }
    format!(
        "<div class=\"wide\"><table><thead><tr><th scope=\"col\">links</th><th scope=\"col\">number</th>\
         <th scope=\"col\">mean load</th><th scope=\"col\">largest</th><th scope=\"col\">at</th></tr></thead>\
         <tbody>\n{rows}</tbody></table></div>\n"
    )
}

/// A load rounded to the precision of the page.
fn rounded(load: f64) -> f64 {
    (load * 1000.0).round() / 1000.0
}

/// Data for the script: names of links, and the loads of every point in thousandths.
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

/// The colours of loads as variables of the style sheet, light and dark.
pub(super) fn load_colours() -> String {
    let declared = |dark: bool| -> String {
        ramp(dark).iter().enumerate().map(|(step, colour)| format!("--h{step}:{colour};")).collect()
    };
    let classes: String = (0..STEPS).map(|step| format!(".h{step}{{fill:var(--h{step})}}")).collect();
    format!(
        ":root{{{}}}\n@media (prefers-color-scheme: dark) and (not print) {{:root{{{}}}}}\n{classes}\n",
        declared(false),
        declared(true)
    )
}
