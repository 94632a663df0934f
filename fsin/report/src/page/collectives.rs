//! Collectives on the page: a row for each group of similar ones, with their share of the time, their bandwidths beside
//! the bound, and their bottleneck.

use super::super::grouped::{Alike, BoundBy, alike};
use super::super::plot::short;
use super::super::rounded::share;
use super::html::Table;
use fsin_experiment::result::RunResult;
use fsin_experiment::sweep::{Collected, Plan};
use maud::{Markup, html};

/// Maximum number of rows on a page; the first ones in the plan are shown.
const MOST: usize = 500;

/// The section on collectives; empty if no result has any.
pub(super) fn section(plan: &Plan, collected: &Collected) -> Markup {
    if collected.rows.iter().all(|row| row.result.collectives.is_none()) {
        return Markup::default();
    }
    let axes = plan.axes.iter().map(|axis| axis.key.as_str());
    let titles = [
        "collective",
        "group",
        "ranks",
        "bytes",
        "calls",
        "share of time",
        "min (us)",
        "mean (us)",
        "max (us)",
        "algorithm bandwidth (GB/s)",
        "bus bandwidth (GB/s)",
        "bound (GB/s)",
        "bound by",
    ];
    let mut table = Table::new(axes.chain(titles));
    let (mut shown, mut left) = (0, 0);
    for row in &collected.rows {
        let all = row.result.collectives.as_deref().unwrap_or_default();
        let values = &plan.points[row.index].values;
        let line = |one: &Alike<'_>| [values.clone(), cells(&row.result, one)].concat();
        let single = alike(all, true);
        for one in alike(all, false) {
            if shown >= MOST {
                left += 1;
                continue;
            }
            let is_same = |other: &&Alike<'_>| {
                (&other.first.kind, &other.first.algorithm, other.first.ranks, other.first.bytes)
                    == (&one.first.kind, &one.first.algorithm, one.first.ranks, one.first.bytes)
            };
            let of_groups: Vec<&Alike<'_>> = single.iter().filter(is_same).filter(|_| one.groups > 1).collect();
            let below: Vec<(&str, Vec<String>)> =
                of_groups.iter().take(MOST - shown).map(|one| (class(one), line(one))).collect();
            shown += 1 + below.len();
            table.group(class(&one), &line(&one), values.len(), &below);
        }
    }
    html! {
        section id="collectives" {
            h2 { "Collectives" }
            (table.end())
            p.note {
                "A row is what is alike: kind, algorithm, size; a click on it shows its groups. Times are those of a call at a rank, from its \
                 own begin; the share is that of the time of all ranks. The algorithm bandwidth is the size over the time of the slowest rank; \
                 the bus bandwidth, with the factors of NCCL's tests, compares with the bound, the rate at which a node can send. A rank bounds \
                 what the others wait for most of the time; else the fullest link between the nodes does, with the share of the whole run in \
                 which it carried something."
                @if left > 0 { " " (left) " more are in the results." }
            }
        }
    }
}

/// The class of a row.
fn class(one: &Alike<'_>) -> &'static str {
    if one.unended > 0 { "bad" } else { "" }
}

/// The cells of a row, without those of the axes.
fn cells(result: &RunResult, one: &Alike<'_>) -> Vec<String> {
    let first = one.first;
    let us = |time: Option<f64>| time.map_or("-".to_owned(), |ns| short(ns * 1e-3));
    let rate = |rate: Option<f64>| rate.map_or("-".to_owned(), short);
    let group = match one.groups {
        1 => first.group.clone().unwrap_or_else(|| "all".to_owned()),
        groups => format!("{groups} groups"),
    };
    let all = result.completion_seconds.zip(result.tasks).map(|(seconds, tasks)| seconds * 1e9 * tasks as f64);
    let of_all = all.filter(|&all| all > 0.0).map_or("-".to_owned(), |all| share(one.of_ranks / all));
    vec![
        format!("{}, {}", first.kind, first.algorithm),
        group,
        first.ranks.to_string(),
        first.bytes.to_string(),
        one.calls.to_string(),
        of_all,
        us(one.least),
        us(one.mean()),
        us(one.most),
        rate(one.algorithm_bandwidth()),
        rate(one.bus_bandwidth()),
        rate(one.bound),
        bound_by(one),
    ]
}

/// The bottleneck in words.
fn bound_by(one: &Alike<'_>) -> String {
    match one.bound_by() {
        BoundBy::Rank(rank) => {
            let (times, waited) = one.late.get(&rank).copied().unwrap_or_default();
            // If several ranks are late, the one that the others wait for longest is named.
            let several = if 2.0 * waited < one.waited() { "late ranks, most of all " } else { "" };
            format!("{several}rank {rank}, last in {times} of {}", one.calls)
        }
        BoundBy::Link(link, load) => format!("link {link}, {}", share(load)),
        BoundBy::Network => "network".to_owned(),
        BoundBy::Unknown => "-".to_owned(),
    }
}
