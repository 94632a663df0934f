//! What a reader must know before believing a figure.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::html::escape;
use crate::sweep::{Collected, Plan};
use crate::words::counted;

/// Points that are named one by one; of more, the first ones.
const NAMED: usize = 6;

/// Warnings first: failures, what is missing, what the runs said.
pub(super) fn section(plan: &Plan, collected: &Collected) -> String {
    let mut items: Vec<(&str, String)> = Vec::new();
    for (index, why) in &collected.failed {
        let point = plan.describe(&plan.points[*index]);
        items.push(("bad", format!("<b>Failed:</b> {}: {}", escape(&point), escape(why))));
    }
    if !collected.missing.is_empty() {
        items.push(("bad", format!("<b>Not run yet:</b> {}", named(plan, &collected.missing))));
    }
    let versions: BTreeSet<String> = collected.rows.iter().map(|row| row.manifest["commit"].to_string()).collect();
    if versions.len() > 1 {
        let list = versions.iter().map(|version| escape(version)).collect::<Vec<_>>().join(", ");
        items.push(("bad", format!("<b>Made by different builds</b> of fsin: {list}")));
    }
    for (text, points) in said(collected, "warnings") {
        items.push(("", format!("{} <span class=\"where\">{}</span>", escape(&text), named(plan, &points))));
    }
    if collected.left_out > 0 {
        items.push((
            "",
            format!("{} beyond saturation left out by the stop rule.", counted(collected.left_out, "point", "points")),
        ));
    }
    items.extend(plan.left_out().iter().map(|line| ("", escape(line))));
    let single = plan.axis("seed").is_none();
    if single && collected.rows.iter().any(|row| row.figures.get("accepted_load_ci95") != Some(&json!(null))) {
        let text = "One seed: confidence intervals are those of batches of one run. Several seeds say more.";
        items.push(("", text.to_owned()));
    }
    let warnings = if items.is_empty() {
        "<p>None.</p>".to_owned()
    } else {
        let list: String = items.iter().map(|(class, item)| format!("<li class=\"{class}\">{item}</li>\n")).collect();
        format!("<ul>{list}</ul>")
    };
    format!("<section class=\"warnings\"><h2>Warnings</h2>{warnings}</section>\n")
}

/// What the runs note of what they did: nothing that a reader must beware of. Empty if they note nothing.
pub(super) fn notes(plan: &Plan, collected: &Collected) -> String {
    let note = |(text, points): (String, Vec<usize>)| {
        format!("<li>{} <span class=\"where\">{}</span></li>\n", escape(&text), named(plan, &points))
    };
    let list: String = said(collected, "notes").into_iter().map(note).collect();
    if list.is_empty() { list } else { format!("<section><h2>Notes</h2><ul>{list}</ul></section>\n") }
}

/// The texts of a figure, with the points that say them. What several runs say is said once.
fn said(collected: &Collected, figure: &str) -> Vec<(String, Vec<usize>)> {
    let mut said: Vec<(String, Vec<usize>)> = Vec::new();
    for row in &collected.rows {
        for text in row.figures.get(figure).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            // Of the same text with other numbers, the beginning is the same.
            let head = text.split([':', '(']).next().unwrap_or(text);
            match said.iter_mut().find(|(known, _)| known.split([':', '(']).next() == Some(head)) {
                Some((_, points)) => points.push(row.index),
                None => said.push((text.to_owned(), vec![row.index])),
            }
        }
    }
    said
}

fn named(plan: &Plan, points: &[usize]) -> String {
    let mut names: Vec<String> =
        points.iter().take(NAMED).map(|&index| escape(&plan.describe(&plan.points[index]))).collect();
    if points.len() > NAMED {
        names.push(format!("and {} more", points.len() - NAMED));
    }
    format!("<details><summary>{}</summary>{}</details>", counted(points.len(), "point", "points"), names.join("; "))
}
