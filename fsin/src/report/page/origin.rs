//! Where results come from: enough to run them again.

use std::collections::BTreeSet;

use serde_json::Value;

use super::html::{Table, escape};
use crate::sweep::{Collected, Plan, Row};

/// Builds, machines, costs, input files, digests.
pub(super) fn section(plan: &Plan, collected: &Collected) -> String {
    let rows = &collected.rows;
    let mut facts: Vec<(&str, String)> = Vec::new();
    for (name, field) in [("version", "version"), ("commit", "commit"), ("target", "target"), ("host", "host")] {
        facts.push((name, several(rows, field)));
    }
    let times = |field: &str| {
        rows.iter().filter_map(|row| row.manifest[field].as_str().map(str::to_owned)).collect::<BTreeSet<_>>()
    };
    if let (Some(first), Some(last)) = (times("start").first(), times("end").last()) {
        facts.push(("run", format!("{first} to {last}")));
    }
    let seconds: f64 = rows.iter().filter_map(|row| row.manifest["cpu_seconds"].as_f64()).sum();
    facts.push(("processor time", format!("{seconds:.1} s")));
    if let Some(Value::Array(words)) = rows.first().map(|row| &row.manifest["command"]) {
        facts.push(("command", words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")));
    }
    let list: String = facts.iter().map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>", escape(value))).collect();
    let mut inputs: BTreeSet<(String, String)> = BTreeSet::new();
    for input in rows.iter().filter_map(|row| row.manifest["inputs"].as_array()).flatten() {
        let word = |name: &str| input[name].as_str().unwrap_or("").to_owned();
        inputs.insert((word("path"), word("sha256")));
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

/// What tells whether a run of a point elsewhere is the same.
fn digests(plan: &Plan, collected: &Collected) -> String {
    let mut table = Table::new(plan.axes.iter().map(|axis| axis.key.as_str()).chain(["digest"]));
    let mut any = false;
    for row in &collected.rows {
        let Some(digest) = row.figures.get("digest").and_then(Value::as_str) else { continue };
        table.row("", &[plan.points[row.index].values.clone(), vec![digest.to_owned()]].concat());
        any = true;
    }
    match any {
        true => format!("<details><summary>Digests of all deliveries, run by run</summary>{}</details>\n", table.end()),
        false => String::new(),
    }
}

/// The values of a field of manifests, each once.
fn several(rows: &[Row], field: &str) -> String {
    let values: BTreeSet<&str> = rows.iter().filter_map(|row| row.manifest[field].as_str()).collect();
    values.into_iter().collect::<Vec<_>>().join(", ")
}
