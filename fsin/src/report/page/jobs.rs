//! Jobs of the page: what became of each, and of the mixes as wholes.

use serde_json::{Map, Value};

use super::super::plot::short;
use super::html::Table;
use crate::sweep::{Collected, Plan, Row};

/// Jobs that a page lists; of more runs, those that were planned first.
const MOST_JOBS: usize = 5000;

/// Columns of a mix: title, and its figure.
const MIX: &[(&str, &str)] = &[
    ("finished", "jobs_finished"),
    ("mean wait", "job_wait_mean_cycles"),
    ("mean run", "job_run_mean_cycles"),
    ("mean slowdown", "job_slowdown_mean"),
    ("nodes in use", "node_utilization"),
];

/// Columns of a job: title, and its figure.
const JOB: &[(&str, &str)] = &[
    ("tasks", "tasks"),
    ("nodes", "nodes"),
    ("arrival", "arrival_cycle"),
    ("start", "start_cycle"),
    ("finish", "finish_cycle"),
    ("wait", "wait_cycles"),
    ("run", "run_cycles"),
    ("alone", "alone_cycles"),
    ("slowdown", "slowdown"),
];

/// The section; empty if no result has jobs.
pub(super) fn section(plan: &Plan, collected: &Collected) -> String {
    let mixes: Vec<(&Row, &Vec<Value>)> =
        collected.rows.iter().filter_map(|row| Some((row, row.figures.get("jobs")?.as_array()?))).collect();
    if mixes.is_empty() {
        return String::new();
    }
    let axes = || plan.axes.iter().map(|axis| axis.key.as_str());
    let place = |row: &Row| plan.points[row.index].values.clone();
    let mut whole = Table::new(axes().chain(["jobs"]).chain(MIX.iter().map(|column| column.0)));
    let mut each = Table::new(axes().chain(["job"]).chain(JOB.iter().map(|column| column.0)));
    let (mut listed, mut left) = (0, 0);
    for (row, jobs) in mixes {
        let mut cells = place(row);
        cells.push(jobs.len().to_string());
        cells.extend(MIX.iter().map(|(_, figure)| cell(&row.figures, figure)));
        whole.row("", &cells);
        if listed + jobs.len() > MOST_JOBS && listed > 0 {
            left += jobs.len();
            continue;
        }
        listed += jobs.len();
        for job in jobs.iter().filter_map(Value::as_object) {
            let mut cells = place(row);
            cells.push(job.get("name").and_then(Value::as_str).unwrap_or("-").to_owned());
            cells.extend(JOB.iter().map(|(_, figure)| cell(job, figure)));
            each.row(if job.get("finish_cycle").is_some_and(Value::is_u64) { "" } else { "bad" }, &cells);
        }
    }
    let left = if left > 0 { format!(" {left} jobs are not on this page, to keep it small.") } else { String::new() };
    format!(
        "<section id=\"jobs\"><h2>Jobs</h2>{}{}<p class=\"note\">Times in cycles. A job waits from its arrival to its start \
         and runs from there to its finish; slowdown is its run over that of the same job alone on the same nodes. Nodes in \
         use: the share of nodes and cycles in which there was a job, finished or not.{left}</p></section>\n",
        whole.end(),
        each.end()
    )
}

/// A figure as a cell; `-` if it is absent.
fn cell(figures: &Map<String, Value>, name: &str) -> String {
    match figures.get(name) {
        Some(value) if name == "node_utilization" => {
            value.as_f64().map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
        }
        // No digit of a cycle is left out.
        Some(value) if value.is_u64() => value.to_string(),
        Some(value) => value.as_f64().map_or("-".to_owned(), short),
        None => "-".to_owned(),
    }
}
