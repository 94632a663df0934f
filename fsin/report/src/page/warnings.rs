//! Warnings that a reader must know before trusting a figure.

use std::collections::BTreeSet;

use super::head::goes_along_loads;
use fsin_core::words::counted;
use fsin_experiment::result::WarningKind;
use fsin_experiment::sweep::{Collected, Curves, Plan, Row, remarks};
use maud::{Markup, html};

/// The section on failures, missing points and unexpected warnings; empty if there are none.
pub(super) fn section(plan: &Plan, collected: &Collected) -> Markup {
    let mut items: Vec<(&str, Markup)> = Vec::new();
    for (index, why) in &collected.failed {
        let point = plan.describe(&plan.points[*index]);
        items.push(("bad", html! { b { "Failed:" } " " (point) ": " (why) }));
    }
    if !collected.missing.is_empty() {
        items.push(("bad", html! { b { "Not run yet:" } " " (named(plan, &collected.missing)) }));
    }
    let versions: BTreeSet<String> = collected.rows.iter().map(commit).collect();
    if versions.len() > 1 {
        let list = versions.into_iter().collect::<Vec<_>>().join(", ");
        items.push(("bad", html! { b { "Made by different builds" } " of fsin: " (list) }));
    }
    items.extend(grouped(collected, |row| surprises(plan, row)).iter().map(|one| ("", one.html(plan))));
    items.extend(remarks(plan, collected).iter().map(|remark| ("", html! { (remark) })));
    html! {
        @if !items.is_empty() {
            section.warnings {
                h2 { "Warnings" }
                ul { @for (class, item) in &items { li class=[(!class.is_empty()).then_some(class)] { (item) } } }
            }
        }
    }
}

/// The commit of the program that made a result, in quotes, or `unknown`.
fn commit(row: &Row) -> String {
    row.result.manifest.commit.as_ref().map_or_else(|| "unknown".to_owned(), |commit| format!("\"{commit}\""))
}

/// The warnings of a run, each with whether it is to be expected from the settings. Silent nodes of a pattern always
/// are. Saturation and its effects are if the loads vary.
fn warnings<'a>(plan: &Plan, row: &'a Row) -> Vec<(&'a str, bool)> {
    let saturated = row.result.is_saturated() && goes_along_loads(plan);
    let expected = |kind: Option<WarningKind>| match kind {
        Some(WarningKind::SilentNodes) => true,
        Some(WarningKind::Saturated | WarningKind::NotConverged) => saturated,
        Some(WarningKind::Other) | None => false,
    };
    row.result.warnings_by_kind().map(|(text, kind)| (text, expected(kind))).collect()
}

/// The warnings that are not to be expected.
fn surprises<'a>(plan: &Plan, row: &'a Row) -> Vec<&'a str> {
    warnings(plan, row).into_iter().filter(|(_, expected)| !expected).map(|(text, _)| text).collect()
}

/// The warnings that are to be expected, and the notes of a run.
fn harmless<'a>(plan: &Plan, row: &'a Row) -> Vec<&'a str> {
    let expected = warnings(plan, row).into_iter().filter(|(_, expected)| *expected).map(|(text, _)| text);
    expected.chain(row.result.notes.iter().map(String::as_str)).collect()
}

/// The section on expected warnings, and on notes of the runs on their methods; empty if there are none.
pub(super) fn notes(plan: &Plan, collected: &Collected) -> Markup {
    let mut items: Vec<Markup> = Vec::new();
    let mut add = |text: &str| items.push(html! { (text) });
    if Curves::of(plan, collected).cycles_differ() {
        add("The length of a cycle differs between points: compare times in seconds, not in cycles.");
    }
    if collected.left_out > 0 {
        let points = counted(collected.left_out, "point", "points");
        add(&format!("{points} beyond saturation left out by the stop rule."));
    }
    plan.left_out().iter().for_each(|line| add(line));
    let has_intervals = |row: &Row| row.result.accepted_load_ci95.is_some();
    if plan.axis("seed").is_none() && collected.rows.iter().any(has_intervals) {
        add("One seed: confidence intervals are those of batches of one run. Several seeds say more.");
    }
    items.extend(grouped(collected, |row| harmless(plan, row)).iter().map(|one| one.html(plan)));
    html! {
        @if !items.is_empty() {
            section {
                h2 { "Notes" }
                ul { @for item in &items { li { (item) } } }
            }
        }
    }
}

/// Texts with the same beginning, up to the first colon or parenthesis. Often they differ only in the numbers after it.
/// The grouping saves space on the page; no figure or colour depends on it.
struct SimilarTexts {
    /// The common beginning of the texts.
    head: String,
    /// The texts, each with the indices of its points.
    texts: Vec<(String, Vec<usize>)>,
}

impl SimilarTexts {
    /// A single text with its points; or the common beginning of several texts, followed by the rest of each.
    fn html(&self, plan: &Plan) -> Markup {
        let item = |(text, points): &(String, Vec<usize>)| html! { (text) " " span.where { (named(plan, points)) } };
        if let [only] = &self.texts[..] {
            return item(only);
        }
        let points: usize = self.texts.iter().map(|(_, points)| points.len()).sum();
        html! {
            (self.head.trim_end()) ": " (counted(self.texts.len(), "variant", "variants")) " at "
            (counted(points, "point", "points")) " "
            details {
                summary { "each" }
                ul { @for text in &self.texts { li { (item(text)) } } }
            }
        }
    }
}

/// The texts of all runs, grouped by their beginnings. A text that occurs in several runs is shown once, with its
/// points.
fn grouped<'a>(collected: &'a Collected, texts: impl Fn(&'a Row) -> Vec<&'a str>) -> Vec<SimilarTexts> {
    let mut all: Vec<SimilarTexts> = Vec::new();
    for row in &collected.rows {
        for text in texts(row) {
            let head = text.split([':', '(']).next().unwrap_or(text);
            let group = match all.iter().position(|known| known.head == head) {
                Some(at) => &mut all[at],
                None => {
                    all.push(SimilarTexts { head: head.to_owned(), texts: Vec::new() });
                    let last = all.len() - 1;
                    &mut all[last]
                }
            };
            match group.texts.iter_mut().find(|(known, _)| known == text) {
                Some((_, points)) => points.push(row.index),
                None => group.texts.push((text.to_owned(), vec![row.index])),
            }
        }
    }
    all
}

/// The points with a text, in words; `all points` if it occurs in all.
fn named(plan: &Plan, points: &[usize]) -> Markup {
    if points.len() == plan.points.len() && points.len() > 1 {
        return html! { "all points" };
    }
    let names: Vec<String> = points.iter().map(|&index| plan.describe(&plan.points[index])).collect();
    html! {
        details { summary { (counted(points.len(), "point", "points")) } (names.join("; ")) }
    }
}
