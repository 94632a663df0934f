//! Origin of the results: what is needed to reproduce them.

use std::collections::BTreeSet;

use super::html::Table;
use fsin_experiment::result::Manifest;
use fsin_experiment::sweep::{Collected, Plan, Row};
use maud::{Markup, html};

/// The section on builds, machines, costs, input files and digests.
pub(super) fn section(plan: &Plan, collected: &Collected) -> Markup {
    let rows = &collected.rows;
    let mut facts: Vec<(&str, String)> = Vec::new();
    const FIELDS: [(&str, Field); 3] = [
        ("version", |manifest| manifest.version.as_deref()),
        ("commit", |manifest| manifest.commit.as_deref()),
        ("target", |manifest| manifest.target.as_deref()),
    ];
    for (name, field) in FIELDS {
        facts.push((name, values(rows, field).into_iter().collect::<Vec<_>>().join(", ")));
    }
    let (starts, ends) =
        (values(rows, |manifest| manifest.start.as_deref()), values(rows, |manifest| manifest.end.as_deref()));
    if let (Some(first), Some(last)) = (starts.first(), ends.last()) {
        facts.push(("run", format!("{first} to {last}")));
    }
    let seconds: f64 = rows.iter().filter_map(|row| row.result.manifest.cpu_seconds).sum();
    facts.push(("processor time", format!("{seconds:.1} s")));
    if let Some(first) = rows.first().filter(|row| !row.result.manifest.command.is_empty()) {
        facts.push(("command", first.result.manifest.command.join(" ")));
    }
    let mut inputs: BTreeSet<(String, String)> = BTreeSet::new();
    for input in rows.iter().flat_map(|row| &row.result.manifest.inputs) {
        inputs.insert((input.path.clone(), input.sha256.clone()));
    }
    let experiment = plan.points.first().map_or("", |point| point.experiment.as_str());
    html! {
        section {
            h2 { "Manifest" }
            dl { @for (name, value) in &facts { dt { (name) } dd { (value) } } }
            @if !inputs.is_empty() {
                h3 { "Input files (SHA-256)" }
                dl { @for (path, hash) in &inputs { dt { (path) } dd { code { (hash) } } } }
            }
            (digests(plan, collected))
            details {
                summary { "The complete experiment of the first point" }
                pre { (experiment) }
            }
        }
    }
}

/// The digests, for comparison with a run of a point elsewhere.
fn digests(plan: &Plan, collected: &Collected) -> Markup {
    let mut table = Table::new(plan.axes.iter().map(|axis| axis.key.as_str()).chain(["digest"]));
    let mut any = false;
    for row in &collected.rows {
        let Some(digest) = &row.result.digest else { continue };
        table.row("", &[plan.points[row.index].values.clone(), vec![digest.clone()]].concat());
        any = true;
    }
    html! {
        @if any {
            details { summary { "Digests of all deliveries, run by run" } (table.end()) }
        }
    }
}

/// A field of a manifest.
type Field = fn(&Manifest) -> Option<&str>;

/// The distinct values of a field of manifests.
fn values(rows: &[Row], field: Field) -> BTreeSet<&str> {
    rows.iter().filter_map(|row| field(&row.result.manifest)).collect()
}
