//! `fsin list` and `fsin explain`: descriptions of components.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::ArgMatches;
use fsin::experiment::key;
use fsin::family::{Key, ModelFamily};
use fsin::models::wormhole::components;
use fsin::models::{MODELS, ethernet, myrinet, wormhole};
use fsin::router::arbitration::ARBITRATIONS;
use fsin::router::injection::INJECTIONS;
use fsin::routing::{ROUTINGS, Routing};
use fsin::topology::TOPOLOGIES;
use serde_json::{Map, Value, json};
use trgen::catalog::{Component, suggestion};
use trgen::rng::{Purpose, stream};
use trgen::synthetic::expr::Expr;
use trgen::synthetic::{size, spatial, temporal, traffic};
use trgen::trace::{collectives, formats, jobs, kernels, placement};
use trgen::{Geometry, NodeId};

use super::notation::of_table;
use super::output::Document;
use super::{Complaint, Exit, Flags};

/// A family: its name in `fsin list`, and its components.
type Family = (&'static str, Vec<&'static Component>);

/// All families.
fn catalogue() -> Vec<Family> {
    vec![
        ("networks", MODELS.components().collect()),
        ("topologies", TOPOLOGIES.components().collect()),
        ("routings", ROUTINGS.iter().collect()),
        ("wormhole-routings", wormhole::ROUTINGS.iter().map(|row| &row.component).collect()),
        ("wormhole-presets", components::PRESETS.iter().collect()),
        ("wormhole-allocators", components::ALLOCATORS.iter().collect()),
        ("wormhole-vc-classes", components::VC_CLASSES.iter().collect()),
        ("wormhole-switch-holds", components::HOLDS.iter().collect()),
        ("ethernet-switchings", ethernet::components::SWITCHINGS.iter().collect()),
        ("ethernet-forwardings", ethernet::components::FORWARDINGS.iter().collect()),
        ("ethernet-recoveries", ethernet::components::RECOVERIES.iter().collect()),
        ("ethernet-port-stats", ethernet::components::PORT_STATISTICS.iter().collect()),
        ("myrinet-routings", myrinet::ROUTINGS.iter().collect()),
        ("arbitrations", ARBITRATIONS.iter().collect()),
        ("injections", INJECTIONS.iter().collect()),
        ("traffic", spatial::components().collect()),
        ("sums", traffic::components().collect()),
        ("temporal", temporal::components().collect()),
        ("sizes", size::components().collect()),
        ("kernels", kernels::components().collect()),
        ("collectives", collectives::ALGORITHMS.iter().collect()),
        ("placements", placement::PLACEMENTS.components().collect()),
        ("schedulers", jobs::SCHEDULERS.iter().collect()),
        ("allocations", jobs::ALLOCATIONS.iter().collect()),
        ("formats", formats::FORMATS.components().collect()),
    ]
}

/// Names of all families.
pub(crate) fn families() -> Vec<&'static str> {
    catalogue().iter().map(|&(name, _)| name).collect()
}

/// The names that a key's value can have or begin with, for completions of a shell; empty for other arguments.
pub(crate) fn names_of(argument: &str) -> Vec<&'static str> {
    let families: &[&str] = match argument {
        "network" => &["networks"],
        "topology" | "spec" => &["topologies"],
        "routing" => &["routings", "wormhole-routings", "myrinet-routings"],
        "traffic" => &["traffic", "sums"],
        "temporal" => &["temporal"],
        "size" => &["sizes"],
        "kernel" => &["kernels"],
        "placement" => &["placements"],
        "scheduler" => &["schedulers"],
        "allocation" => &["allocations"],
        "name" => &families(),
        _ => {
            let components = key(argument).map_or(&[][..], |key| key.components);
            return components.iter().map(|component| component.name).collect();
        }
    };
    let mut names: Vec<&str> = Vec::new();
    for (_, components) in catalogue().iter().filter(|(family, _)| families.contains(family)) {
        for component in components.iter().filter(|component| !component.name.contains(' ')) {
            if !names.contains(&component.name) {
                names.push(component.name);
            }
        }
    }
    names
}

/// A component as JSON.
fn described(family: &str, component: &Component) -> Value {
    let parameters: Vec<Value> = component
        .parameters
        .iter()
        .map(|parameter| {
            json!({
                "name": parameter.name,
                "about": of_table(parameter.about),
                "range": parameter.range,
                "default": (!parameter.default.is_empty()).then(|| of_table(parameter.default)),
            })
        })
        .collect();
    let settings: Vec<Value> = settings(family, component)
        .map(|(key, _, default)| {
            json!({
                "name": key.name,
                "about": of_table(key.about),
                "unit": key.unit,
                "default": (default != "-").then_some(default),
                "values": key.components.iter().map(|one| one.name).collect::<Vec<_>>(),
            })
        })
        .collect();
    let mut object = Map::new();
    let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
    add("family", json!(family));
    add("name", json!(component.name));
    add("about", json!(of_table(component.about)));
    add("also_called", json!(aliases(family, component.name)));
    add("parameters", json!(parameters));
    if let Some(model) = model(family, component) {
        add("settings", json!(settings));
        add("unit_of_load", json!(model.load_unit));
        add("understands_also", json!(model.shared));
    }
    if family == "topologies" {
        add("routings", json!(Routing::serving(component.name).iter().map(|one| one.name()).collect::<Vec<_>>()));
    }
    if family == "wormhole-presets" {
        let sets = components::preset_values(component.name);
        add("sets", json!(sets.into_iter().collect::<BTreeMap<&str, String>>()));
    }
    add("source", json!(component.source));
    Value::Object(object)
}

/// True if the output is to be JSON.
fn wants_json(matches: &ArgMatches) -> bool {
    matches.get_one::<String>("format").is_some_and(|format| format == "json")
}

/// `fsin list`: prints the components of a family, or the families.
pub(crate) fn list(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let mut text = String::new();
    if wants_json(matches) {
        let wanted = matches.get_one::<String>("family");
        let catalogue = catalogue();
        let chosen = catalogue.iter().filter(|(name, _)| wanted.is_none_or(|wanted| name == wanted));
        let all: Vec<Value> =
            chosen.flat_map(|(family, components)| components.iter().map(|one| described(family, one))).collect();
        Document::open(matches)?.print(&format!("{:#}\n", Value::Array(all)))?;
        return Ok(Exit::Done);
    }
    let Some(wanted) = matches.get_one::<String>("family") else {
        let catalogue = catalogue();
        let width = catalogue.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, components) in &catalogue {
            let _ = writeln!(text, "{name:width$}  {:3}", components.len());
        }
        Document::open(matches)?.print(&text)?;
        return Ok(Exit::Done);
    };
    for (_, components) in catalogue().iter().filter(|&&(name, _)| name == wanted) {
        let width = components.iter().map(|component| component.name.len()).max().unwrap_or(0);
        for component in components {
            let _ = writeln!(text, "{:width$}  {}", component.name, of_table(component.about));
        }
    }
    Document::open(matches)?.print(&text)?;
    Ok(Exit::Done)
}

/// The network model that a component describes; `None` for components of other families.
fn model(family: &str, component: &Component) -> Option<&'static ModelFamily> {
    MODELS.rows().iter().copied().find(|model| family == "networks" && model.component.name == component.name)
}

/// The settings that only this network model has: key, name with its short form, and default.
fn settings(family: &str, component: &Component) -> impl Iterator<Item = (&'static Key, String, &'static str)> {
    let model = model(family, component).into_iter();
    model.flat_map(|model| {
        model.keys.iter().map(|key| {
            let short = model.short.iter().find(|(_, name)| *name == key.name);
            let name = short.map_or_else(|| key.name.to_owned(), |(short, _)| format!("{} or {short}", key.name));
            (key, name, model.default_of(key.name).or(key.default).unwrap_or("-"))
        })
    })
}

/// The settings that a network model shares with others, separated by commas; empty for other components.
fn shared(family: &str, component: &Component) -> String {
    model(family, component).map_or_else(String::new, |model| model.shared.join(", "))
}

/// The other names of a network model, pattern, kernel or routing.
fn aliases(family: &str, name: &str) -> Vec<&'static str> {
    let table = match family {
        "wormhole-routings" => wormhole::ALIASES,
        "myrinet-routings" => myrinet::ALIASES,
        "networks" | "routings" | "traffic" | "kernels" => &[],
        _ => return Vec::new(),
    };
    if !table.is_empty() {
        return table.iter().find(|(known, _)| *known == name).map_or_else(Vec::new, |(_, names)| names.to_vec());
    }
    if let Some(model) = MODELS.rows().iter().find(|model| model.component.name == name) {
        return model.aliases.to_vec();
    }
    match (spatial::aliases(name), Routing::parse(name)) {
        (_, Ok(routing)) => routing.aliases().collect(),
        ([], _) => kernels::aliases(name).to_vec(),
        (found, _) => found.to_vec(),
    }
}

/// The routings of a family of topologies, the default first, separated by commas; empty for other components.
fn routings(family: &str, component: &Component) -> String {
    let serving = if family == "topologies" { Routing::serving(component.name) } else { Vec::new() };
    let names = serving.iter().enumerate();
    let names =
        names.map(|(at, one)| if at == 0 { format!("{} (default)", one.name()) } else { one.name().to_owned() });
    names.collect::<Vec<_>>().join(", ")
}

/// `fsin explain`: prints the definition, parameters and source of all components of a name.
pub(crate) fn explain(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let wanted = matches.get_one::<String>("name").map_or("", String::as_str);
    let mut catalogue = catalogue();
    // A name that occurs in several families may be qualified by one.
    let (wanted_family, wanted) = match wanted.split_once('/') {
        Some((family, name)) if catalogue.iter().any(|(known, _)| *known == family) => (Some(family), name),
        _ => (None, wanted),
    };
    catalogue.retain(|(family, _)| wanted_family.is_none_or(|wanted_family| wanted_family == *family));
    let all = || catalogue.iter().flat_map(|(family, components)| components.iter().map(move |&one| (*family, one)));
    // A pattern may have arguments: `zipf(2)`, `map(block:4, uniform)`. They are parsed only if no component has this
    // name. True if this is the name or an alias of the component.
    let called = |family: &str, component: &Component, name: &str| {
        component.name == name || aliases(family, component.name).contains(&name)
    };
    let known = |name: &str| all().any(|(family, component)| called(family, component, name));
    let expr = Expr::parse(wanted).ok().filter(|expr| !known(wanted) && !expr.arguments.is_empty());
    let name = match &expr {
        Some(expr) if spatial::components().any(|component| called("traffic", component, &expr.name)) => &expr.name,
        _ => wanted,
    };
    let mut text = String::new();
    // Names take precedence over aliases.
    let mut meant: Vec<_> = all().filter(|(family, component)| called(family, component, name)).collect();
    meant.sort_by_key(|(_, component)| component.name != name);
    if wants_json(matches) && !meant.is_empty() {
        let all: Vec<Value> = meant.iter().map(|(family, component)| described(family, component)).collect();
        Document::open(matches)?.print(&format!("{:#}\n", Value::Array(all)))?;
        return Ok(Exit::Done);
    }
    for (family, component) in meant {
        let _ = writeln!(text, "{}  ({family})\n  {}", component.name, of_table(component.about));
        let others = aliases(family, component.name);
        if !others.is_empty() {
            let _ = writeln!(text, "  also called: {}", others.join(", "));
        }
        let routings = routings(family, component);
        if !routings.is_empty() {
            let _ = writeln!(text, "  routings: {routings}");
        }
        for parameter in component.parameters {
            let default = of_table(if parameter.default.is_empty() { "required" } else { parameter.default });
            let about = of_table(parameter.about);
            let _ = writeln!(text, "  {}: {about} ({}) [{default}]", parameter.name, parameter.range);
        }
        for (key, name, default) in settings(family, component) {
            let unit = if key.unit.is_empty() { String::new() } else { format!(" ({})", key.unit) };
            let _ = writeln!(text, "  {name}: {}{unit} [{default}]", of_table(key.about));
        }
        if let Some(model) = model(family, component) {
            let _ = writeln!(text, "  unit of load: {}", model.load_unit);
        }
        let shared = shared(family, component);
        if !shared.is_empty() {
            let _ = writeln!(text, "  understands also: {shared}");
        }
        if family == "wormhole-presets" {
            let sets = components::preset_values(component.name);
            let sets: Vec<String> = sets.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            let _ = writeln!(text, "  sets: {}", sets.join(", "));
        }
        let _ = writeln!(text, "  source: {}", component.source);
        if family == "traffic" {
            let example = spatial::example(name).filter(|_| expr.is_none());
            destinations(example.unwrap_or(wanted), &mut text);
        }
    }
    if text.is_empty() {
        let names: Vec<&str> = all().map(|(_, component)| component.name).collect();
        let what = format!("no component is called `{wanted}`");
        let near = expr.as_ref().map_or(wanted, |expr| &expr.name);
        let list = "`fsin list` names the families, `fsin list FAMILY` what is in one";
        let near = suggestion(near, &names);
        // A list of all names would scroll the message away.
        let remedy = if near.near.is_empty() { list.to_owned() } else { format!("{near} Else: {list}") };
        return Err(Complaint::new(Exit::Usage, what, remedy));
    }
    Document::open(matches)?.print(&text)?;
    Ok(Exit::Done)
}

/// Appends a table of node 0's destinations in a small grid: 4x4, or 16x16 for patterns that need more nodes.
fn destinations(pattern: &str, text: &mut String) {
    const DRAWS: u32 = 1_000_000;
    let tried = [[4, 4], [16, 16]].into_iter().find_map(|sizes| {
        let grid = Geometry::new(&sizes)?;
        let pattern = spatial::parse(pattern, &grid, 1).ok()?;
        Some((grid, pattern))
    });
    let Some((grid, mut built)) = tried else {
        // The reason is, for example, a file or a number of nodes that the pattern requires.
        if let Some(Err(refusal)) = Geometry::new(&[4, 4]).map(|grid| spatial::parse(pattern, &grid, 1)) {
            let reason = refusal.what().written(&Flags);
            let _ = writeln!(text, "\n  no table of destinations: {}", reason.lines().next().unwrap_or_default());
        }
        return;
    };
    let sizes = grid.sizes();
    let (width, shape) = (sizes[0] as usize, format!("{}x{}", sizes[0], sizes[1]));
    let source = NodeId(0);
    let _ = writeln!(text, "\n  `{pattern}` on a {shape} grid, seed 1: share of node 0's messages to each node [%]");
    if built.is_silent(source) {
        let _ = writeln!(text, "  node 0 is silent");
        return;
    }
    let mut counts = vec![0u32; grid.nodes()];
    let mut rng = stream(1, 0, Purpose::Spatial);
    for _ in 0..DRAWS {
        if let Some(to) = built.destination(source, &mut rng) {
            counts[to.index()] += 1;
        }
    }
    for (row, shares) in counts.chunks(width).enumerate() {
        let _ = write!(text, "  y={row:<3}");
        for &count in shares {
            let share = 100.0 * f64::from(count) / f64::from(DRAWS);
            let cell = if count == 0 { ".".to_owned() } else { format!("{share:.1}") };
            let _ = write!(text, " {cell:>5}");
        }
        text.push('\n');
    }
}

/// Every component of every family as one page of Markdown.
pub(crate) fn markdown() -> String {
    let mut text =
        "<!-- Made by `fsin generate reference`; do not edit. -->\n\n# Components\n\nWhat `fsin explain` says \
                    of every name.\n"
            .to_owned();
    let cell = |word: &str| word.replace('|', "\\|").replace('<', "&lt;");
    for (family, components) in catalogue() {
        let _ = writeln!(text, "\n## {family}");
        for component in components {
            let _ = writeln!(text, "\n### {}\n\n{}", component.name, cell(&of_table(component.about)));
            let others = aliases(family, component.name);
            if !others.is_empty() {
                let _ = writeln!(text, "\nAlso called {}.", others.join(", "));
            }
            let routings = routings(family, component);
            if !routings.is_empty() {
                let _ = writeln!(text, "\nRoutings: {routings}.");
            }
            if !component.parameters.is_empty() {
                let _ = writeln!(text, "\n| parameter | meaning | range | default |\n| --- | --- | --- | --- |");
            }
            for parameter in component.parameters {
                let default = if parameter.default.is_empty() { "required" } else { parameter.default };
                let [about, range, default] =
                    [parameter.about, parameter.range, default].map(|word| cell(&of_table(word)));
                let _ = writeln!(text, "| `{}` | {about} | {range} | {default} |", parameter.name);
            }
            for (at, (key, name, default)) in settings(family, component).enumerate() {
                if at == 0 {
                    let _ = writeln!(text, "\n| setting | meaning | unit | default |\n| --- | --- | --- | --- |");
                }
                let about = cell(&of_table(key.about));
                let _ = writeln!(text, "| `{name}` | {about} | {} | {default} |", key.unit);
            }
            if let Some(model) = model(family, component) {
                let _ = writeln!(text, "\nUnit of load: {}.", model.load_unit);
            }
            let shared = shared(family, component);
            if !shared.is_empty() {
                let _ = writeln!(text, "\nIt understands also: {shared}.");
            }
            if family == "wormhole-presets" {
                let sets = components::preset_values(component.name);
                let sets: Vec<String> = sets.iter().map(|(key, value)| format!("`{key} = {value}`")).collect();
                let _ = writeln!(text, "\nIt sets {}.", sets.join(", "));
            }
            let _ = writeln!(text, "\nSource: {}", cell(component.source));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_component_that_a_key_names_is_listed() {
        let catalogue = catalogue();
        for key in fsin::experiment::keys() {
            for component in key.components {
                let known = |known: &&Component| known.name == component.name && known.about == component.about;
                let is_listed = catalogue.iter().flat_map(|(_, components)| components).any(known);
                assert!(is_listed, "{}: {}", key.name, component.name);
            }
        }
    }
}
