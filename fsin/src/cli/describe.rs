//! `fsin list` and `fsin explain`: every component speaks for itself.

use std::fmt::Write as _;

use clap::ArgMatches;
use fsin::routing::ROUTINGS;
use fsin::topology::TOPOLOGIES;
use trgen::catalog::{Component, suggestion};
use trgen::synthetic::{size, spatial, temporal};
use trgen::trace::{collectives, formats, kernels, placement};

use super::{Complaint, Exit, output};

/// A family: its name in `fsin list`, and its components.
type Family = (&'static str, Vec<&'static Component>);

fn catalogue() -> Vec<Family> {
    vec![
        ("topologies", TOPOLOGIES.iter().collect()),
        ("routings", ROUTINGS.iter().collect()),
        ("traffic", spatial::components().collect()),
        ("temporal", temporal::components().collect()),
        ("sizes", size::components().collect()),
        ("kernels", kernels::components().collect()),
        ("collectives", collectives::ALGORITHMS.iter().collect()),
        ("placements", placement::PLACEMENTS.iter().collect()),
        ("formats", formats::FORMATS.iter().collect()),
    ]
}

/// Names of all families.
pub(crate) fn families() -> Vec<&'static str> {
    catalogue().iter().map(|&(name, _)| name).collect()
}

pub(crate) fn list(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let wanted = matches.get_one::<String>("family").map_or("", String::as_str);
    let mut text = String::new();
    for (_, components) in catalogue().iter().filter(|&&(name, _)| name == wanted) {
        let width = components.iter().map(|component| component.name.len()).max().unwrap_or(0);
        for component in components {
            let _ = writeln!(text, "{:width$}  {}", component.name, component.about);
        }
    }
    output::print_text(&text)?;
    Ok(Exit::Done)
}

pub(crate) fn explain(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let wanted = matches.get_one::<String>("name").map_or("", String::as_str);
    let catalogue = catalogue();
    let all = || catalogue.iter().flat_map(|(family, components)| components.iter().map(move |&one| (*family, one)));
    let mut text = String::new();
    for (family, component) in all().filter(|(_, component)| component.name == wanted) {
        let _ = writeln!(text, "{}  ({family})\n  {}", component.name, component.about);
        for parameter in component.parameters {
            let default = if parameter.default.is_empty() { "required" } else { parameter.default };
            let _ = writeln!(text, "  {}: {} ({}) [{default}]", parameter.name, parameter.about, parameter.range);
        }
        let _ = writeln!(text, "  source: {}", component.source);
    }
    if text.is_empty() {
        let names: Vec<&str> = all().map(|(_, component)| component.name).collect();
        let what = format!("no component is called `{wanted}`");
        return Err(Complaint::new(Exit::Usage, what, suggestion(wanted, &names)));
    }
    output::print_text(&text)?;
    Ok(Exit::Done)
}
