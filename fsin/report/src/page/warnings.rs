//! Warnings that a reader must know before trusting a figure.

use std::collections::BTreeSet;

use super::head::goes_along_loads;
use super::merged::{Merged, merged};
use fsin_core::words::counted;
use fsin_experiment::result::WarningKind;
use fsin_experiment::sweep::{Collected, Curves, Plan, Row, remarks};
use maud::{Markup, html};

/// Failures, missing points, and unexpected warnings of the runs; empty if there is nothing.
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
    items.extend(grouped(plan, collected, |row| surprises(plan, row)).into_iter().map(|item| ("", item)));
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

/// A warning or a note of a run, with what it is about.
struct Item<'a> {
    subject: &'static str,
    text: &'a str,
}

/// The warnings of a run, each with whether it is to be expected from the settings. Silent nodes of a pattern always
/// are. Saturation and its effects are if the loads vary.
fn warnings<'a>(plan: &Plan, row: &'a Row) -> Vec<(Item<'a>, bool)> {
    let saturated = row.result.is_saturated() && goes_along_loads(plan);
    let about = |(text, kind)| {
        let (subject, expected) = match kind {
            Some(WarningKind::SilentNodes) => ("Silent nodes", true),
            Some(WarningKind::Saturated) => ("Saturation", saturated),
            Some(WarningKind::Undecided) => ("Undecided", false),
            Some(WarningKind::NotConverged) => ("No steady state", saturated),
            Some(WarningKind::Other) | None => ("Other warnings", false),
        };
        (Item { subject, text }, expected)
    };
    row.result.warnings_by_kind().map(about).collect()
}

/// The warnings that are not to be expected.
fn surprises<'a>(plan: &Plan, row: &'a Row) -> Vec<Item<'a>> {
    warnings(plan, row).into_iter().filter(|(_, expected)| !expected).map(|(item, _)| item).collect()
}

/// The warnings that are to be expected, and the notes of a run.
fn harmless<'a>(plan: &Plan, row: &'a Row) -> Vec<Item<'a>> {
    let expected = warnings(plan, row).into_iter().filter(|(_, expected)| *expected).map(|(item, _)| item);
    let notes = row.result.notes.iter().map(|text| Item { subject: "Notes of the runs", text });
    expected.chain(notes).collect()
}

/// Expected warnings, and notes of the runs on their methods: nothing alarming. Empty if there is nothing.
pub(super) fn notes(plan: &Plan, collected: &Collected) -> Markup {
    let mut items: Vec<Markup> = Vec::new();
    let mut add = |text: &str| items.push(html! { (text) });
    if Curves::of(plan, collected).cycles_differ(&collected.rows) {
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
    items.extend(grouped(plan, collected, |row| harmless(plan, row)));
    html! {
        @if !items.is_empty() {
            section {
                h2 { "Notes" }
                ul { @for item in &items { li { (item) } } }
            }
        }
    }
}

/// Most kinds of texts on one subject that are all shown at once.
const SHOWN: usize = 3;

/// The texts on one subject.
struct Subject<'a> {
    name: &'static str,
    /// Each text, with its points.
    texts: Vec<(&'a str, Vec<usize>)>,
}

impl Subject<'_> {
    /// A list item for each text; for many texts, one item that names the subject and opens a list of them.
    fn html(&self, plan: &Plan) -> Vec<Markup> {
        let texts: Vec<&str> = self.texts.iter().map(|(text, _)| *text).collect();
        let merged = merged(&texts);
        let item = |one: &Merged| {
            let mut points: Vec<usize> = one.of.iter().flat_map(|&at| self.texts[at].1.iter().copied()).collect();
            points.sort_unstable();
            html! { (one.text) " " span.where { (span(plan, &points)) (named(plan, &points)) } }
        };
        let items: Vec<Markup> = merged.iter().map(item).collect();
        if items.len() <= SHOWN {
            return items;
        }
        let points: BTreeSet<usize> = self.texts.iter().flat_map(|(_, points)| points.iter().copied()).collect();
        vec![html! {
            (self.name) ": " (counted(items.len(), "kind of text", "kinds of texts")) " at "
            (counted(points.len(), "point", "points")) " "
            details {
                summary { "each" }
                ul { @for item in &items { li { (item) } } }
            }
        }]
    }
}

/// List items for the texts of all runs, by subject. A text that occurs in several runs is shown once, with its points.
fn grouped<'a>(plan: &Plan, collected: &'a Collected, items: impl Fn(&'a Row) -> Vec<Item<'a>>) -> Vec<Markup> {
    let mut subjects: Vec<Subject<'a>> = Vec::new();
    for row in &collected.rows {
        for Item { subject, text } in items(row) {
            let at = subjects.iter().position(|known| known.name == subject).unwrap_or_else(|| {
                subjects.push(Subject { name: subject, texts: Vec::new() });
                subjects.len() - 1
            });
            let texts = &mut subjects[at].texts;
            match texts.iter_mut().find(|(known, _)| *known == text) {
                Some((_, points)) => points.push(row.index),
                None => texts.push((text, vec![row.index])),
            }
        }
    }
    subjects.iter().flat_map(|subject| subject.html(plan)).collect()
}

/// The values of the axes at several points, in words: `load 0.4 to 0.6, vcs 2 and 3; `. Axes along which the points have
/// every value are left out; so are those with many words.
fn span(plan: &Plan, points: &[usize]) -> String {
    const MOST: usize = 3;
    let mut words = Vec::new();
    for (at, axis) in plan.axes.iter().enumerate().filter(|(_, axis)| axis.key != "seed") {
        let has = |value: &&String| points.iter().any(|&point| &plan.points[point].values[at] == *value);
        let values: Vec<&String> = axis.values.iter().filter(has).collect();
        let mut numbers: Vec<f64> = values.iter().filter_map(|value| value.parse().ok()).collect();
        numbers.sort_by(f64::total_cmp);
        match (&*values, &*numbers) {
            _ if values.len() == axis.values.len() => {}
            ([one], _) => words.push(format!("{} {one}", axis.key)),
            (_, [low, .., high]) if numbers.len() == values.len() => {
                words.push(format!("{} {low} to {high}", axis.key))
            }
            _ if values.len() <= MOST => {
                let values: Vec<&str> = values.iter().map(|value| value.as_str()).collect();
                words.push(format!("{} {}", axis.key, values.join(", ")));
            }
            _ => {}
        }
    }
    if words.is_empty() || points.len() < 2 { String::new() } else { format!("{}: ", words.join(", ")) }
}

/// The points with a text; `all points` if there are no others.
fn named(plan: &Plan, points: &[usize]) -> Markup {
    if points.len() == plan.points.len() && points.len() > 1 {
        return html! { "all points" };
    }
    let names: Vec<String> = points.iter().map(|&index| plan.describe(&plan.points[index])).collect();
    html! {
        details { summary { (counted(points.len(), "point", "points")) } (names.join("; ")) }
    }
}
