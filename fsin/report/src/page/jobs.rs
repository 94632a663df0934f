//! Jobs on the page: the outcome of each, and of the mixes as a whole.

use super::super::plot::short;
use super::html::Table;
use fsin_experiment::result::{Figure, JobRow, Number, RunResult};
use fsin_experiment::sweep::{Collected, Plan, Row};
use maud::{Markup, html};

/// Maximum number of jobs on a page; the first ones in the plan are shown.
const MOST_JOBS: usize = 5000;

/// Columns of a mix: title, and its figure.
const MIX: &[(&str, Figure)] = &[
    ("finished", Figure::JobsFinished),
    ("mean wait", Figure::JobWaitMean),
    ("mean run", Figure::JobRunMean),
    ("mean slowdown", Figure::JobSlowdownMean),
    ("nodes in use", Figure::NodeUtilization),
];

/// A column of jobs: title, and its value for a job.
type Column = (&'static str, fn(&JobRow) -> Option<Number>);

/// Columns of jobs.
const JOB: &[Column] = &[
    ("tasks", |job| Some(job.tasks.into())),
    ("nodes", |job| job.nodes.map(Number::from)),
    ("arrival", |job| Some(job.arrival_cycle.into())),
    ("start", |job| job.start_cycle.map(Number::from)),
    ("finish", |job| job.finish_cycle.map(Number::from)),
    ("wait", |job| job.wait_cycles.map(Number::from)),
    ("run", |job| job.run_cycles.map(Number::from)),
    ("alone", |job| job.alone_cycles.map(Number::from)),
    ("slowdown", |job| job.slowdown.map(Number::from)),
];

/// The section on jobs; empty if no result has jobs.
pub(super) fn section(plan: &Plan, collected: &Collected) -> Markup {
    let mixes: Vec<(&Row, &Vec<JobRow>)> =
        collected.rows.iter().filter_map(|row| Some((row, row.result.jobs.as_ref()?))).collect();
    if mixes.is_empty() {
        return Markup::default();
    }
    let axes = || plan.axes.iter().map(|axis| axis.key.as_str());
    let place = |row: &Row| plan.points[row.index].values.clone();
    let mut whole = Table::new(axes().chain(["jobs"]).chain(MIX.iter().map(|column| column.0)));
    let mut each = Table::new(axes().chain(["job"]).chain(JOB.iter().map(|column| column.0)));
    let (mut listed, mut left) = (0, 0);
    for (row, jobs) in mixes {
        let mut cells = place(row);
        cells.push(jobs.len().to_string());
        cells.extend(MIX.iter().map(|&(_, figure)| cell_of_mix(&row.result, figure)));
        whole.row("", &cells);
        if listed + jobs.len() > MOST_JOBS && listed > 0 {
            left += jobs.len();
            continue;
        }
        listed += jobs.len();
        for job in jobs {
            let mut cells = place(row);
            cells.push(job.name.clone());
            cells.extend(JOB.iter().map(|(_, of)| cell(of(job))));
            each.row(if job.finish_cycle.is_some() { "" } else { "bad" }, &cells);
        }
    }
    html! {
        section {
            h2 { "Jobs" }
            (whole.end())
            (each.end())
            p.note {
                "Times in cycles. A job waits from its arrival to its start and runs from there to its finish; slowdown is \
                 its run over that of the same job alone on the same nodes. Nodes in use: the share of nodes and cycles in \
                 which there was a job, finished or not."
                @if left > 0 { " " (left) " jobs are not on this page, to keep it small." }
            }
        }
    }
}

/// A figure of a mix as a cell; `-` if it is absent.
fn cell_of_mix(result: &RunResult, figure: Figure) -> String {
    match figure {
        Figure::NodeUtilization => {
            result.node_utilization.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
        }
        Figure::JobsFinished => cell(result.jobs_finished.map(Number::from)),
        figure => cell(result.number(figure).map(Number::from)),
    }
}

/// A number as a cell; `-` if it is absent. All digits of a cycle are shown.
fn cell(number: Option<Number>) -> String {
    match number {
        Some(Number::Whole(number)) => number.to_string(),
        Some(Number::Real(number)) => short(number),
        None => "-".to_owned(),
    }
}
