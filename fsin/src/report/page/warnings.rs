//! What a reader must know before believing a figure.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::html::escape;
use crate::sweep::{Collected, Curves, Plan};
use crate::words::counted;

/// Texts with the same beginning that are shown; of more, the first ones.
const TEXTS: usize = 50;

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
    items.extend(said(collected, "warnings").iter().map(|one| ("", one.html(plan))));
    if Curves::of(plan, collected).cycles_differ() {
        let text = "Cycles are not equally long in all points: their numbers compare no times, seconds do.";
        items.push(("", text.to_owned()));
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
    let list: String = said(collected, "notes").iter().map(|one| format!("<li>{}</li>\n", one.html(plan))).collect();
    if list.is_empty() { list } else { format!("<section><h2>Notes</h2><ul>{list}</ul></section>\n") }
}

/// Texts that begin in the same way: often they differ in numbers alone.
struct Said {
    head: String,
    /// With the points that say them.
    texts: Vec<(String, Vec<usize>)>,
}

impl Said {
    /// One text and its points; of several, their beginning, and below it each of them.
    fn html(&self, plan: &Plan) -> String {
        let item = |(text, points): &(String, Vec<usize>)| {
            format!("{} <span class=\"where\">{}</span>", escape(text), named(plan, points))
        };
        if let [only] = &self.texts[..] {
            return item(only);
        }
        let points: usize = self.texts.iter().map(|(_, points)| points.len()).sum();
        let list: String = self.texts.iter().take(TEXTS).map(|text| format!("<li>{}</li>", item(text))).collect();
        let more = match self.texts.len().saturating_sub(TEXTS) {
            0 => String::new(),
            more => format!("<li>and {more} more</li>"),
        };
        format!(
            "{}: {} in {} <details><summary>each</summary><ul>{list}{more}</ul></details>",
            escape(self.head.trim_end()),
            counted(self.texts.len(), "text", "texts"),
            counted(points, "point", "points")
        )
    }
}

/// The texts of a figure. What several runs say is said once.
fn said(collected: &Collected, figure: &str) -> Vec<Said> {
    let mut all: Vec<Said> = Vec::new();
    for row in &collected.rows {
        for text in row.figures.get(figure).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            let head = text.split([':', '(']).next().unwrap_or(text);
            let said = match all.iter().position(|known| known.head == head) {
                Some(at) => &mut all[at],
                None => {
                    all.push(Said { head: head.to_owned(), texts: Vec::new() });
                    let last = all.len() - 1;
                    &mut all[last]
                }
            };
            match said.texts.iter_mut().find(|(known, _)| known == text) {
                Some((_, points)) => points.push(row.index),
                None => said.texts.push((text.to_owned(), vec![row.index])),
            }
        }
    }
    all
}

fn named(plan: &Plan, points: &[usize]) -> String {
    let mut names: Vec<String> =
        points.iter().take(NAMED).map(|&index| escape(&plan.describe(&plan.points[index]))).collect();
    if points.len() > NAMED {
        names.push(format!("and {} more", points.len() - NAMED));
    }
    format!("<details><summary>{}</summary>{}</details>", counted(points.len(), "point", "points"), names.join("; "))
}
