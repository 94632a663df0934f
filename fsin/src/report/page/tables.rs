//! Tables of the page: saturation, comparison, points.

use serde_json::Value;

use super::super::plot::short;
use super::html::{Table, escape};
use crate::sweep::{Collected, Curves, Plan, compare};
use crate::words::counted;

const ACCEPTED: &str = "accepted_load_phits_per_node_cycle";

/// Where each curve saturates, as far as the loads that were run can tell.
pub(super) fn saturation(curves: &Curves, collected: &Collected) -> String {
    if curves.axis != "load" || !curves.curves.iter().any(|curve| curve.spots.len() > 1) {
        return String::new();
    }
    let mut table = Table::new([
        "curve",
        "latency at lowest load",
        "highest load carried",
        "lowest load saturated",
        "peak accepted",
        "at load",
        "accepted at highest load",
    ]);
    for curve in &curves.curves {
        let value =
            |spot: &crate::sweep::Spot, figure: &str| spot.value(&collected.rows, figure).map(|value| value.mean);
        let (Some(first), Some(last)) = (curve.spots.first(), curve.spots.last()) else { continue };
        let saturated = curve.spots.iter().find(|spot| spot.saturated);
        let carried = curve.spots.iter().take_while(|spot| !spot.saturated).last();
        let peak = curve.spots.iter().filter_map(|spot| value(spot, ACCEPTED).map(|accepted| (accepted, spot)));
        let peak = peak.max_by(|a, b| a.0.total_cmp(&b.0));
        let number = |value: Option<f64>| value.map_or("-".to_owned(), short);
        let word = |spot: Option<&crate::sweep::Spot>| spot.map_or("-".to_owned(), |spot| spot.word.clone());
        let label = if curve.label.is_empty() { "all" } else { &curve.label };
        table.row(
            "",
            &[
                label.to_owned(),
                number(value(first, "latency_mean_cycles")),
                word(carried),
                word(saturated),
                number(peak.map(|peak| peak.0)),
                word(peak.map(|peak| peak.1)),
                number(value(last, ACCEPTED)),
            ],
        );
    }
    format!(
        "<section><h2>Saturation</h2>{}<p class=\"note\">Loads in phits/node/cycle, latency in cycles. \
         <code>fsin saturation</code> finds the load between two rows of the sweep.</p></section>\n",
        table.end()
    )
}

/// Every point against the same one of the baseline.
pub(super) fn comparison(name: &str, baseline: (&Curves, &Collected), candidate: (&Curves, &Collected)) -> String {
    let (rows, alone) = compare(baseline, candidate);
    let mut table = Table::new([
        "curve",
        candidate.0.axis.as_str(),
        "figure",
        "baseline",
        "here",
        "difference",
        "± 95 %",
        "verdict",
    ]);
    for row in &rows {
        let verdict = row.verdict().word();
        let class = if row.saturated { "saturated" } else { verdict };
        table.row(
            class,
            &[
                row.curve.clone(),
                row.word.clone(),
                row.figure.to_owned(),
                short(row.baseline),
                short(row.candidate),
                if row.baseline == 0.0 {
                    short(row.difference())
                } else {
                    format!("{:+.2} %", 100.0 * row.difference() / row.baseline)
                },
                row.ci95.map_or("-".to_owned(), |ci95| {
                    if row.baseline == 0.0 {
                        short(ci95)
                    } else {
                        format!("{:.2} %", 100.0 * ci95 / row.baseline.abs())
                    }
                }),
                if row.saturated { format!("{verdict} (saturated)") } else { verdict.to_owned() },
            ],
        );
    }
    let alone = if alone > 0 {
        format!("<p class=\"note\">{} in one of the two only.</p>", counted(alone, "point", "points"))
    } else {
        String::new()
    };
    format!("<section><h2>Against {}</h2>{}{alone}</section>\n", escape(name), table.end())
}

/// Columns of the table of points: title, figure, and the figure of its confidence.
const COLUMNS: &[(&str, &str, Option<&str>)] = &[
    ("offered", "offered_load_phits_per_node_cycle", None),
    ("accepted", ACCEPTED, Some("accepted_load_ci95")),
    ("latency", "latency_mean_cycles", Some("latency_ci95")),
    ("p50", "latency_p50_cycles", None),
    ("p99", "latency_p99_cycles", None),
    ("max", "latency_max_cycles", None),
    ("hops", "hops_mean", None),
    ("fairness (Jain)", "fairness_jain", None),
    ("completion (cycles)", "completion_cycles", None),
    ("completion (s)", "completion_seconds", None),
    ("completion (ns)", "finish_max_ns", None),
    ("cycles per shot", "shot_cycles_mean", Some("shot_cycles_ci95")),
    ("warm-up (cycles)", "warmup_cycles", None),
    ("packets", "packets_received", None),
];

/// Every point with its figures.
pub(super) fn points(plan: &Plan, collected: &Collected) -> String {
    let have = |figure: &str| collected.rows.iter().any(|row| row.figures.get(figure).is_some_and(Value::is_number));
    let columns: Vec<_> = COLUMNS.iter().filter(|column| have(column.1)).collect();
    let titles = plan.axes.iter().map(|axis| axis.key.as_str()).chain(columns.iter().map(|column| column.0));
    let mut table = Table::new(titles.chain(["state", "digest"]));
    for row in &collected.rows {
        let figure = |name: &str| row.figures.get(name).and_then(Value::as_f64);
        let is = |name: &str, value: bool| row.figures.get(name) == Some(&value.into());
        let mut cells = plan.points[row.index].values.clone();
        for (_, name, ci95) in &columns {
            let ci95 = ci95.and_then(figure).map_or(String::new(), |ci95| format!(" ± {}", short(ci95)));
            cells.push(figure(name).map_or("-".to_owned(), |value| format!("{}{ci95}", short(value))));
        }
        let (class, state) = match () {
            () if row.figures.get("failure").is_some_and(Value::is_object) => ("bad", "failed"),
            () if is("complete", false) => ("bad", "incomplete"),
            () if is("saturated", true) => ("saturated", "saturated"),
            () if is("converged", false) => ("bad", "not steady"),
            () => ("", "done"),
        };
        cells.push(state.to_owned());
        cells.push(row.figures.get("digest").and_then(Value::as_str).unwrap_or("-").to_owned());
        table.row(class, &cells);
    }
    format!(
        "<section><h2>Points</h2>{}<p class=\"note\">Loads in phits/node/cycle, latencies in cycles; ± is half the 95 % \
         confidence interval over the batches of a run.</p></section>\n",
        table.end()
    )
}
