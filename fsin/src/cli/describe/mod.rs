//! `fsin list` and `fsin explain`: descriptions of components.

pub(crate) mod energy;
pub(crate) mod generate;
pub(crate) mod help;
pub(crate) mod picture;
mod python;
pub(crate) mod routes;
pub(crate) mod schema;
pub(crate) mod topology;
pub(crate) mod traffic;

use std::fmt::Write as _;

use clap::ArgMatches;
use fsin::catalogue::{Carrier, Kind, Member, described, kinds, routings_for, routings_of, routings_of_models};
use fsin::experiment::{self, named};
use fsin::family::{Is, ModelFamily, Need};
use fsin::models::MODELS;
use fsin::models::wormhole::components::preset_values;
use fsin::result::Figure;
use fsin::words::joined;
use serde_json::{Value, json};
use trgen::catalog::suggestion;
use trgen::rng::{Purpose, stream};
use trgen::synthetic::expr::Expr;
use trgen::synthetic::spatial;
use trgen::{Geometry, NodeId};

use crate::cli::notation::of_table;
use crate::cli::output::Document;
use crate::cli::{Complaint, Exit, Flags};

/// The names that a value of an argument can have or begin with, for completions of a shell; empty for other arguments.
pub(crate) fn names_of(argument: &str) -> Vec<String> {
    let kinds = kinds();
    if argument == "kind" {
        return kinds.iter().map(|kind| kind.name.clone()).collect();
    }
    let mut names: Vec<String> = Vec::new();
    for kind in kinds.iter().filter(|kind| argument == "name" || kind.keys.contains(&argument)) {
        for name in kind.members.iter().map(|member| member.component.name).filter(|name| !name.contains(' ')) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

/// The model whose components alone are asked for.
fn model_of(matches: &ArgMatches) -> Result<Option<&'static ModelFamily>, Complaint> {
    let Some(word) = matches.get_one::<String>("network") else { return Ok(None) };
    named(word).map(Some).ok_or_else(|| {
        let error = MODELS.unknown(word.split(':').next().unwrap_or(word));
        Complaint::new(Exit::Usage, error.what(), error.remedy())
    })
}

/// The catalogue, or the part of it that a model has. A topology is the model's if the model has a routing for it.
fn catalogue(model: Option<&'static ModelFamily>) -> Vec<Kind> {
    let mut all = kinds().to_vec();
    let Some(model) = model else { return all };
    let carried = routings_of(model);
    for kind in &mut all {
        let is_of = |member: &Member| match kind.name.as_str() {
            "networks" => member.component.name == model.component.name,
            "topologies" if !carried.is_empty() => {
                carried.iter().any(|routing| routing.topologies.contains(&member.component.name))
            }
            _ => member.is_of(model),
        };
        kind.members.retain(is_of);
        for member in &mut kind.members {
            member.carriers.retain(|carrier| carrier.model.component.name == model.component.name);
        }
    }
    all.retain(|kind| !kind.members.is_empty());
    all
}

/// True if the output is to be JSON.
fn wants_json(matches: &ArgMatches) -> bool {
    matches.get_one::<String>("format").is_some_and(|format| format == "json")
}

/// The names of the models that have a component, separated by commas.
fn models(carriers: &[Carrier]) -> String {
    carriers.iter().map(|carrier| carrier.model.component.name).collect::<Vec<_>>().join(", ")
}

/// The models that have a member of a kind, separated by commas; empty if the kind does not depend on the model.
fn models_of(kind: &Kind) -> String {
    let has =
        |model: &&&ModelFamily| kind.members.iter().any(|member| !member.carriers.is_empty() && member.is_of(model));
    MODELS.rows().iter().filter(has).map(|model| model.component.name).collect::<Vec<_>>().join(", ")
}

/// `fsin list`: prints the components of a kind, or the kinds.
pub(crate) fn list(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let model = model_of(matches)?;
    let mut all = catalogue(model);
    let wanted = matches.get_one::<String>("kind");
    if let Some(wanted) = wanted {
        let is_name = kinds().iter().any(|kind| kind.name == *wanted);
        let is_wanted = |kind: &Kind| kind.name == *wanted || !is_name && kind.keys.contains(&wanted.as_str());
        if !all.iter().any(is_wanted) {
            return Err(unknown_kind(wanted, model));
        }
        all.retain(is_wanted);
    }
    let mut text = String::new();
    if wants_json(matches) {
        let all: Vec<Value> =
            all.iter().flat_map(|kind| kind.members.iter().map(|member| described(kind, member, &Flags))).collect();
        text = format!("{:#}\n", Value::Array(all));
    } else if wanted.is_none() {
        let width = all.iter().map(|kind| kind.name.len()).max().unwrap_or(0);
        for kind in &all {
            let line = format!("{:width$}  {:3}  {}", kind.name, kind.members.len(), models_of(kind));
            let _ = writeln!(text, "{}", line.trim_end());
        }
    } else {
        let members = || all.iter().flat_map(|kind| &kind.members);
        let width = members().map(|member| member.component.name.len()).max().unwrap_or(0);
        // The column of models is for those who have not named one.
        let names = |member: &Member| if model.is_some() { String::new() } else { models(&member.carriers) };
        let column = members().map(|member| names(member).len()).max().unwrap_or(0);
        for member in members() {
            let (name, about) = (member.component.name, of_table(member.component.about));
            let models = if column == 0 { String::new() } else { format!("  {:column$}", names(member)) };
            let _ = writeln!(text, "{name:width$}{models}  {about}");
        }
    }
    Document::open(matches)?.print(&text)?;
    Ok(Exit::Done)
}

/// The error of a kind that there is not, or that a model does not have.
fn unknown_kind(wanted: &str, model: Option<&ModelFamily>) -> Complaint {
    let all = kinds();
    let is_kind = |word: &str| all.iter().find(|kind| kind.name == word || kind.keys.contains(&word));
    // `wormhole-routings`: a model and one of its kinds.
    let of_model = MODELS.rows().iter().find_map(|model| {
        let word = wanted.strip_prefix(model.component.name)?.strip_prefix('-')?;
        Some((model.component.name, is_kind(word)?))
    });
    if let Some((model, kind)) = of_model {
        let what = format!("there is no list `{wanted}`: {} of all network models are one list", kind.name);
        return Complaint::new(Exit::Usage, what, format!("use `fsin list {} --network {model}`", kind.name));
    }
    if let (Some(model), Some(kind)) = (model, is_kind(wanted)) {
        let what = format!("network model {} has no {wanted}", model.component.name);
        return Complaint::new(Exit::Usage, what, format!("those that have some: {}", models_of(kind)));
    }
    let names: Vec<&str> = all.iter().map(|kind| kind.name.as_str()).collect();
    let what = format!("there is no list `{wanted}`");
    Complaint::new(Exit::Usage, what, format!("{}; `fsin list` names all lists", suggestion(wanted, &names)))
}

/// What is said of a component beside its definition, parameters and settings: labels and texts.
fn facts(kind: &Kind, member: &Member) -> Vec<(String, String)> {
    let name = member.component.name;
    let mut facts = Vec::new();
    let mut add = |label: &str, text: String| {
        if !text.is_empty() {
            facts.push((label.to_owned(), text));
        }
    };
    add("also called", member.aliases.join(", "));
    for Carrier { model, routing } in &member.carriers {
        let Some(routing) = routing else { continue };
        let marked = |topology: &&'static str| match routing.default_of.contains(topology) {
            true => format!("{topology} (default)"),
            false => (*topology).to_owned(),
        };
        let topologies: Vec<String> = routing.topologies.iter().map(marked).collect();
        let channels =
            if routing.channels.is_empty() { String::new() } else { format!("; channels: {}", routing.channels) };
        add(&format!("in {}", model.component.name), format!("{}{channels}", topologies.join(", ")));
    }
    match kind.name.as_str() {
        "networks" => {
            if let Some(model) = named(name) {
                for (what, text) in model.discipline.named() {
                    add(what, of_table(text));
                }
                add("unit of load", model.load_unit.to_owned());
                add("understands also", model.shared.join(", "));
            }
        }
        "topologies" => {
            for (model, routings) in routings_for(name) {
                let first = routings.iter().enumerate();
                let names = first.map(|(at, one)| if at == 0 { format!("{one} (default)") } else { (*one).to_owned() });
                add(&format!("routings of {model}"), names.collect::<Vec<_>>().join(", "));
            }
        }
        _ => {
            if member.carriers.iter().all(|carrier| carrier.routing.is_none()) {
                add("network", models(&member.carriers));
            }
            if kind.keys.contains(&"preset") {
                let sets = preset_values(name).into_iter();
                add("sets", sets.map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", "));
            }
        }
    }
    facts
}

/// The settings that only this network model has, and those of which it has another default: name with its short form,
/// meaning, unit, default.
fn settings(kind: &Kind, member: &Member) -> Vec<[String; 4]> {
    let model = named(member.component.name).filter(|_| kind.name == "networks");
    let own = model.into_iter().flat_map(|model| model.keys.iter().map(move |key| (model, key)));
    // Of settings that it shares, those with a default of its own.
    let shared = model.into_iter().flat_map(|model| {
        let keys = experiment::keys().iter().filter(|key| model.default_of(key.name).is_some());
        keys.filter(|key| model.keys.iter().all(|own| own.name != key.name)).map(move |key| (model, key))
    });
    let keys = own.chain(shared);
    keys.map(|(model, key)| {
        let short = model.short.iter().find(|(_, name)| *name == key.name);
        let name = short.map_or_else(|| key.name.to_owned(), |(short, _)| format!("{} or {short}", key.name));
        let default = model.default_of(key.name).or(key.default).unwrap_or("-");
        [name, of_table(key.about), key.unit.to_owned(), default.to_owned()]
    })
    .collect()
}

/// `fsin explain`: prints all that is known of every component of a name.
pub(crate) fn explain(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let wanted = matches.get_one::<String>("name").map_or("", String::as_str);
    let mut catalogue = catalogue(model_of(matches)?);
    // A name that occurs in several kinds may be qualified by one.
    let (wanted_kind, wanted) = match wanted.split_once('/') {
        Some((kind, name)) if catalogue.iter().any(|known| known.name == kind) => (Some(kind), name),
        _ => (None, wanted),
    };
    catalogue.retain(|kind| wanted_kind.is_none_or(|wanted| wanted == kind.name));
    let all = || catalogue.iter().flat_map(|kind| kind.members.iter().map(move |member| (kind, member)));
    // A pattern may have arguments: `zipf(2)`, `map(block:4, uniform)`. They are parsed only if no component has this
    // name.
    let is_known = |name: &str| all().any(|(_, member)| member.is_called(name));
    let expr = Expr::parse(wanted).ok().filter(|expr| !is_known(wanted) && !expr.arguments.is_empty());
    let name = match &expr {
        Some(expr) if spatial::PATTERNS.find(&expr.name).is_some() => &expr.name,
        _ => wanted,
    };
    // Names take precedence over aliases.
    let mut meant: Vec<_> = all().filter(|(_, member)| member.is_called(name)).collect();
    meant.sort_by_key(|(_, member)| member.component.name != name);
    if let (true, None, Some(text)) = (meant.is_empty(), wanted_kind, setting_or_figure(wanted)) {
        let text = if wants_json(matches) { format!("{:#}\n", text.1) } else { text.0 };
        Document::open(matches)?.print(&text)?;
        return Ok(Exit::Done);
    }
    if meant.is_empty() {
        let names: Vec<&str> = all().map(|(_, member)| member.component.name).collect();
        let what = format!("no component is called `{wanted}`");
        let near = expr.as_ref().map_or(wanted, |expr| &expr.name);
        let list = "`fsin list` names the kinds, `fsin list KIND` what is of one";
        let near = suggestion(near, &names);
        // A list of all names would scroll the message away.
        let remedy = if near.near.is_empty() { list.to_owned() } else { format!("{near} Else: {list}") };
        return Err(Complaint::new(Exit::Usage, what, remedy));
    }
    if wants_json(matches) {
        let all: Vec<Value> = meant.iter().map(|(kind, member)| described(kind, member, &Flags)).collect();
        Document::open(matches)?.print(&format!("{:#}\n", Value::Array(all)))?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for (kind, member) in meant {
        let component = member.component;
        let _ = writeln!(text, "{}  ({})\n  {}", component.name, kind.name, of_table(component.about));
        for parameter in component.parameters {
            let default = of_table(if parameter.default.is_empty() { "required" } else { parameter.default });
            let about = of_table(parameter.about);
            let _ = writeln!(text, "  {}: {about} ({}) [{default}]", parameter.name, parameter.range);
        }
        for [name, about, unit, default] in settings(kind, member) {
            let unit = if unit.is_empty() { unit } else { format!(" ({unit})") };
            let _ = writeln!(text, "  {name}: {about}{unit} [{default}]");
        }
        for (label, fact) in facts(kind, member) {
            let _ = writeln!(text, "  {label}: {fact}");
        }
        let _ = writeln!(text, "  source: {}", component.source);
        if kind.name == "traffic" {
            let example = spatial::example(name).filter(|_| expr.is_none());
            destinations(example.unwrap_or(wanted), &mut text);
        }
    }
    Document::open(matches)?.print(&text)?;
    Ok(Exit::Done)
}

/// What is known of a setting or a figure of results of this name, as text and as JSON; `None` if it is neither.
fn setting_or_figure(wanted: &str) -> Option<(String, Value)> {
    let wanted = wanted.trim_start_matches("--");
    let dashed = wanted.replace('_', "-");
    let known = experiment::key(&dashed).or_else(|| experiment::many_key(&dashed));
    if let Some(key) = known {
        let about = of_table(key.about);
        let unit = if key.unit.is_empty() { String::new() } else { format!(" ({})", key.unit) };
        let default = key.default.map_or(String::new(), |default| format!(" [{}]", of_table(default)));
        let models: Vec<&str> = MODELS
            .rows()
            .iter()
            .filter(|model| model.understands(key.name))
            .map(|model| model.component.name)
            .collect();
        let mut text = format!("{}  (setting)\n  {about}{unit}{default}\n", key.name);
        if !models.is_empty() {
            let _ = writeln!(text, "  network models: {}", models.join(", "));
        }
        let need = |need: &Need| match need.is {
            Is::Set => format!("--{}", need.key),
            Is::Value(value) => format!("--{} {value}", need.key),
            Is::NotValue(value) => format!("--{} other than {value}", need.key),
            Is::Names(names) => format!("--{} {}", need.key, joined(&names(), "or")),
        };
        let needs: Vec<String> = key.needs.iter().map(need).collect();
        if !needs.is_empty() {
            let _ = writeln!(text, "  has an effect with: {}", needs.join("; "));
        }
        let of_table = key.table.map_or_else(Vec::new, |table| (table.rows)());
        let names = key.components.iter().chain(of_table.iter().map(|row| row.0)).map(|component| component.name);
        let names: Vec<&str> = names.collect();
        if !names.is_empty() {
            let _ = writeln!(text, "  values: {} (fsin explain NAME)", names.join(", "));
        }
        let flag = format!("--{} {}", key.name, key.metavar);
        let variable = format!("FSIN_{}", key.name.to_uppercase().replace('-', "_"));
        let _ = writeln!(text, "  flag: {}; in experiment files: {}; variable: {variable}", flag.trim_end(), key.name);
        let value = json!({
            "name": key.name, "kind": "setting", "about": about, "unit": key.unit, "default": key.default,
            "network_models": models,
        });
        return Some((text, value));
    }
    let underscored = wanted.replace('-', "_");
    let figure = Figure::ALL.iter().find(|figure| figure.name() == underscored)?;
    let unit = if figure.unit().is_empty() { String::new() } else { format!(" ({})", figure.unit()) };
    let text = format!("{}  (figure of results)\n  {}{unit}\n", figure.name(), figure.meaning());
    let value = json!({ "name": figure.name(), "kind": "figure", "about": figure.meaning(), "unit": figure.unit() });
    Some((text, value))
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

/// A word in a cell of a table.
fn cell(word: &str) -> String {
    word.replace('|', "\\|").replace('<', "&lt;")
}

/// Every component of every kind as one page of Markdown.
pub(crate) fn components_page() -> String {
    let mut text = "# Components\n\nWhat `fsin explain` says of every name.\n".to_owned();
    for kind in kinds() {
        let _ = writeln!(text, "\n## {}", kind.name);
        for member in &kind.members {
            let component = member.component;
            let _ = writeln!(text, "\n### {}\n\n{}", component.name, cell(&of_table(component.about)));
            if !component.parameters.is_empty() {
                let _ = writeln!(text, "\n| parameter | meaning | range | default |\n| --- | --- | --- | --- |");
            }
            for parameter in component.parameters {
                let default = if parameter.default.is_empty() { "required" } else { parameter.default };
                let [about, range, default] =
                    [parameter.about, parameter.range, default].map(|word| cell(&of_table(word)));
                let _ = writeln!(text, "| `{}` | {about} | {range} | {default} |", parameter.name);
            }
            for (at, [name, about, unit, default]) in settings(kind, member).into_iter().enumerate() {
                if at == 0 {
                    let _ = writeln!(text, "\n| setting | meaning | unit | default |\n| --- | --- | --- | --- |");
                }
                let _ = writeln!(text, "| `{name}` | {} | {unit} | {default} |", cell(&about));
            }
            for (label, fact) in facts(kind, member) {
                let label = label[..1].to_uppercase() + &label[1..];
                let _ = writeln!(text, "\n{label}: {}.", cell(&fact));
            }
            let _ = writeln!(text, "\nSource: {}", cell(component.source));
        }
    }
    text
}

/// What is in order, what shares and who is busy in every network model, as one page of Markdown.
pub(crate) fn disciplines_page() -> String {
    let mut text = "# What is in order, what shares, who is busy\n\nNetwork models differ in what they divide among messages, \
                    and in how long a sender is occupied. Each states it (`fsin explain vct`), and tests measure every cell of \
                    this table. An occupation makes others wait, a delay does not: a link is busy for the bytes of a message at its \
                    rate, and the time of flight comes after that. What follows for programs whose ranks are not in step is in \
                    [another page](../howto/stragglers.md).\n\n| model | in order | shares | busy |\n| --- | --- | --- | --- |\n"
        .to_owned();
    for model in MODELS.rows() {
        let cells = model.discipline.named().map(|(_, said)| cell(&of_table(said)));
        let _ = writeln!(text, "| `{}` | {} |", model.component.name, cells.join(" | "));
    }
    text
}

/// The routings of every topology in every model, and the channels of every routing, as one page of Markdown.
pub(crate) fn routings_page() -> String {
    let names: Vec<&str> = routings_of_models().iter().map(|(model, _)| model.component.name).collect();
    let head = |first: &str, columns: &[&str]| {
        format!("\n| {first} | {} |\n| --- |{}\n", columns.join(" | "), " --- |".repeat(columns.len()))
    };
    let mut text = "# Routings\n\nWhich network model carries which routing in which topology, as the models state it. \
                    `fsin list routings --network NAME` has the definitions.\n\n## By topology\n\nThe first routing of a \
                    cell is the default.\n"
        .to_owned();
    text.push_str(&head("topology", &names));
    for topology in fsin::topology::TOPOLOGIES.names() {
        let routings = routings_for(topology);
        let cells = names.iter().map(|model| {
            let of_model = routings.iter().find(|(name, _)| name == model);
            let names = of_model.map_or(&[][..], |(_, names)| names).iter().map(|name| format!("`{name}`"));
            names.collect::<Vec<_>>().join(", ")
        });
        let _ = writeln!(text, "| {topology} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    text.push_str("\n## By routing\n");
    text.push_str(&head("routing", &["network", "topologies", "channels", "also called"]));
    let routings = kinds().iter().find(|kind| kind.name == "routings");
    for member in routings.into_iter().flat_map(|kind| &kind.members) {
        for Carrier { model, routing } in &member.carriers {
            let Some(routing) = routing else { continue };
            let (name, topologies) = (member.component.name, routing.topologies.join(", "));
            let (channels, aliases) = (cell(&routing.channels), cell(&routing.aliases.join(", ")));
            let _ = writeln!(text, "| `{name}` | {} | {topologies} | {channels} | {aliases} |", model.component.name);
        }
    }
    text
}
