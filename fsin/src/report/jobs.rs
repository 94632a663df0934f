//! Figures of jobs.

use serde_json::{Value, json};
use trgen::{Cycle, NodeId};

use super::figures::{mean, sum};
use crate::experiment::JobFacts;
use crate::run::Outcome;

/// How often a job runs as long as alone, and the like; a mean is that of the jobs that have it.
pub(super) fn job_figures(jobs: &[JobFacts], outcome: &Outcome, put: &mut impl FnMut(&str, Value)) {
    let rows: Vec<Row<'_>> = jobs.iter().map(Row::new).collect();
    let mean = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let of = |pick: fn(&Row<'_>) -> Option<f64>| json!(mean(rows.iter().filter_map(pick).collect()));
    put("jobs_finished", json!(jobs.iter().filter(|job| job.record.finish.is_some()).count()));
    put("job_wait_mean_cycles", of(|row| row.wait.map(|cycles| cycles as f64)));
    put("job_run_mean_cycles", of(|row| row.run.map(|cycles| cycles as f64)));
    put("job_slowdown_mean", of(|row| row.slowdown));
    let end = Cycle::FIRST + outcome.cycles;
    let used: u64 = rows.iter().map(|row| row.node_cycles(end)).sum();
    let all = outcome.nodes as f64 * outcome.cycles as f64;
    put("node_utilization", json!((all > 0.0).then(|| used as f64 / all)));
    put("jobs", rows.iter().map(Row::json).collect());
}

struct Row<'a> {
    facts: &'a JobFacts,
    /// In ascending order, each once.
    nodes: Vec<NodeId>,
    wait: Option<u64>,
    run: Option<u64>,
    slowdown: Option<f64>,
}

impl<'a> Row<'a> {
    fn new(facts: &'a JobFacts) -> Self {
        let record = &facts.record;
        let mut nodes = record.placement.clone();
        nodes.sort_unstable();
        nodes.dedup();
        let run = record.finish.zip(record.start).map(|(finish, start)| finish.since(start));
        let alone = facts.alone_cycles.filter(|&cycles| cycles > 0);
        Self {
            facts,
            nodes,
            wait: record.start.map(|start| start.since(record.arrival)),
            run,
            slowdown: run.zip(alone).map(|(run, alone)| run as f64 / alone as f64),
        }
    }

    /// \[nodes x cycles\] That it had up to the cycle `end`, whether or not it was over by then.
    fn node_cycles(&self, end: Cycle) -> u64 {
        let record = &self.facts.record;
        let held = record.start.map_or(0, |start| record.finish.unwrap_or(end).since(start));
        self.nodes.len() as u64 * held
    }

    fn json(&self) -> Value {
        let record = &self.facts.record;
        let tasks = &record.report.tasks;
        let bytes = tasks.iter().map(|task| task.sent_bytes).sum::<u64>();
        let cycle = |cycle: Option<Cycle>| cycle.map(|cycle| cycle.0);
        json!({
            "name": record.name,
            "tasks": record.tasks,
            "nodes": record.start.map(|_| self.nodes.len()),
            "arrival_cycle": record.arrival.0,
            "start_cycle": cycle(record.start),
            "finish_cycle": cycle(record.finish),
            "wait_cycles": self.wait,
            "run_cycles": self.run,
            "alone_cycles": self.facts.alone_cycles,
            "slowdown": self.slowdown,
            "messages": tasks.iter().map(|task| task.sent_point_to_point + task.sent_collective).sum::<u64>(),
            "bytes_sent": bytes,
            "hop_bytes": self.facts.hop_bytes.map(sum),
            "hops_per_byte": self.facts.hop_bytes.and_then(|far| mean(far, bytes)),
            "task_nodes": record.start.map(|_| record.placement.iter().map(|node| node.0).collect::<Vec<u32>>()),
        })
    }
}
