//! Collectives on the page: when each ran, and at which bandwidths.

use super::super::plot::short;
use super::html::Table;
use fsin_experiment::result::{CollectiveTimes, Number};
use fsin_experiment::sweep::{Collected, Plan, Row};
use maud::{Markup, html};

/// Maximum number of collectives on a page; the first ones in the plan are shown.
const MOST: usize = 2000;

/// The section on collectives; empty if no result has any.
pub(super) fn section(plan: &Plan, collected: &Collected) -> Markup {
    let found: Vec<(&Row, &CollectiveTimes)> = collected
        .rows
        .iter()
        .flat_map(|row| row.result.collectives.iter().flatten().map(move |collective| (row, collective)))
        .collect();
    if found.is_empty() {
        return Markup::default();
    }
    let axes = plan.axes.iter().map(|axis| axis.key.as_str());
    let titles = [
        "collective",
        "algorithm",
        "group",
        "ranks",
        "calls",
        "bytes",
        "first begin (ns)",
        "end (ns)",
        "time, mean (ns)",
        "time, max (ns)",
        "algorithm bandwidth (GB/s)",
        "bus bandwidth (GB/s)",
    ];
    let mut table = Table::new(axes.chain(titles));
    for (row, of) in found.iter().take(MOST) {
        let mut cells = plan.points[row.index].values.clone();
        cells.extend([of.kind.clone(), of.algorithm.clone(), of.group.clone().unwrap_or_else(|| "all".to_owned())]);
        cells.extend([of.ranks, of.calls, of.bytes].map(|count| count.to_string()));
        cells.extend([of.first_begin_ns, of.end_ns, of.time_mean_ns, of.time_max_ns].map(time));
        cells.extend(
            [of.algorithm_bandwidth_gb_per_s, of.bus_bandwidth_gb_per_s].map(|rate| rate.map_or("-".to_owned(), short)),
        );
        table.row(if of.end_ns.is_some() { "" } else { "bad" }, &cells);
    }
    html! {
        section {
            h2 { "Collectives" }
            (table.end())
            p.note {
                "Times are those of ranks, each from its own begin. The algorithm bandwidth is the size over the time of the slowest rank; the \
                 bus bandwidth compares with the rate of a link, whatever the number of ranks."
                @if found.len() > MOST { " The other " (found.len() - MOST) " are in the results." }
            }
        }
    }
}

/// A time that may be absent.
fn time(time: Option<Number>) -> String {
    match time {
        None => "-".to_owned(),
        Some(Number::Whole(time)) => time.to_string(),
        Some(Number::Real(time)) => short(time),
    }
}
