//! Figures of jobs.

use trgen::{Cycle, NodeId};

use super::datum::Number;
use super::of_network::{per_byte, sent};
use super::rows::JobRow;
use super::table::RunResult;
use crate::JobFacts;
use fsin_core::run::Outcome;
use fsin_core::stats::mean;

/// Sets the figures of the jobs of a mix, and means over them. Each mean is over the jobs that have the figure.
pub(super) fn jobs(result: &mut RunResult, jobs: &[JobFacts], outcome: &Outcome) {
    let rows: Vec<JobRow> = jobs.iter().map(row).collect();
    let mean_of = |pick: fn(&JobRow) -> Option<f64>| mean(&rows.iter().filter_map(pick).collect::<Vec<f64>>());
    result.jobs_finished = Some(jobs.iter().filter(|job| job.record.finish.is_some()).count() as u64);
    result.job_wait_mean_cycles = mean_of(|row| row.wait_cycles.map(|cycles| cycles as f64));
    result.job_run_mean_cycles = mean_of(|row| row.run_cycles.map(|cycles| cycles as f64));
    result.job_slowdown_mean = mean_of(|row| row.slowdown);
    let end = Cycle::FIRST + outcome.cycles;
    let used: u64 = jobs.iter().map(|job| node_cycles(job, end)).sum();
    let all = outcome.nodes as f64 * outcome.cycles as f64;
    result.node_utilization = (all > 0.0).then(|| used as f64 / all);
    result.jobs = Some(rows);
}

/// \[nodes\] Number of distinct nodes of a job.
fn nodes(job: &JobFacts) -> u64 {
    let mut nodes: Vec<NodeId> = job.record.placement.clone();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.len() as u64
}

/// \[nodes x cycles\] Node time that a job used up to the cycle `end`, whether or not it had finished.
fn node_cycles(job: &JobFacts, end: Cycle) -> u64 {
    let record = &job.record;
    let held = record.start.map_or(0, |start| record.finish.unwrap_or(end).since(start));
    nodes(job) * held
}

/// The row of a job.
fn row(job: &JobFacts) -> JobRow {
    let record = &job.record;
    let tasks = &record.report.tasks;
    let bytes = tasks.iter().map(|task| task.sent_bytes).sum::<u64>();
    let run = record.finish.zip(record.start).map(|(finish, start)| finish.since(start));
    let alone = job.alone_cycles.filter(|&cycles| cycles > 0);
    JobRow {
        name: record.name.clone(),
        tasks: record.tasks as u64,
        nodes: record.start.map(|_| nodes(job)),
        arrival_cycle: record.arrival.0,
        start_cycle: record.start.map(|cycle| cycle.0),
        finish_cycle: record.finish.map(|cycle| cycle.0),
        wait_cycles: record.start.map(|start| start.since(record.arrival)),
        run_cycles: run,
        alone_cycles: job.alone_cycles,
        slowdown: run.zip(alone).map(|(run, alone)| run as f64 / alone as f64),
        messages: tasks.iter().map(sent).sum(),
        bytes_sent: bytes,
        hop_bytes: job.hop_bytes.map(Number::of_sum),
        hops_per_byte: job.hop_bytes.and_then(|far| per_byte(far, bytes)),
        task_nodes: record.start.map(|_| record.placement.iter().map(|node| node.0).collect()),
    }
}
