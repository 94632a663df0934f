//! Origin of results: enough to reproduce them.

use std::collections::BTreeSet;

use super::html::Table;
use crate::svg::escape;
use fsin_experiment::result::Manifest;
use fsin_experiment::sweep::{Collected, Plan, Row};

/// Builds, machines, costs, input files, digests.
pub(super) fn section(plan: &Plan, collected: &Collected) -> String {
    let rows = &collected.rows;
    let mut facts: Vec<(&str, String)> = Vec::new();
    const FIELDS: [(&str, Field); 4] = [
        ("version", |manifest| manifest.version.as_deref()),
        ("commit", |manifest| manifest.commit.as_deref()),
        ("target", |manifest| manifest.target.as_deref()),
        ("host", |manifest| manifest.host.as_deref()),
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
    let list: String = facts.iter().map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>", escape(value))).collect();
    let mut inputs: BTreeSet<(String, String)> = BTreeSet::new();
    for input in rows.iter().flat_map(|row| &row.result.manifest.inputs) {
        inputs.insert((input.path.clone(), input.sha256.clone()));
    }
    let inputs: String = inputs
        .iter()
        .map(|(path, hash)| format!("<dt>{}</dt><dd><code>{}</code></dd>", escape(path), escape(hash)))
        .collect();
    let inputs = if inputs.is_empty() { inputs } else { format!("<h3>Input files (SHA-256)</h3><dl>{inputs}</dl>") };
    let experiment = plan.points.first().map_or("", |point| point.experiment.as_str());
    format!(
        "<section><h2>Manifest</h2><dl>{list}</dl>{inputs}{}<details><summary>The complete experiment of the first \
         point</summary><pre>{}</pre></details></section>\n",
        digests(plan, collected),
        escape(experiment)
    )
}

/// The digests, for comparison with a run of a point elsewhere.
fn digests(plan: &Plan, collected: &Collected) -> String {
    let mut table = Table::new(plan.axes.iter().map(|axis| axis.key.as_str()).chain(["digest"]));
    let mut any = false;
    for row in &collected.rows {
        let Some(digest) = &row.result.digest else { continue };
        table.row("", &[plan.points[row.index].values.clone(), vec![digest.clone()]].concat());
        any = true;
    }
    match any {
        true => format!("<details><summary>Digests of all deliveries, run by run</summary>{}</details>\n", table.end()),
        false => String::new(),
    }
}

/// A field of a manifest.
type Field = fn(&Manifest) -> Option<&str>;

/// The distinct values of a field of manifests.
fn values(rows: &[Row], field: Field) -> BTreeSet<&str> {
    rows.iter().filter_map(|row| field(&row.result.manifest)).collect()
}
