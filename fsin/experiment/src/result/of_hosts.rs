//! The result of an execution over an ideal network.

use super::datum::Number;
use super::manifest::Manifest;
use super::of_network::failure;
use super::rows::{HostTask, TaskRow};
use super::settings::settings;
use super::table::{OF_HOSTS, RunResult};
use super::{Costs, SCHEMA};
use crate::{Experiment, IdealRun, Runs};
use trgen::phrase::Notation;

/// The result of an execution. Times are in ns, the unit of graphs; texts name settings in the `notation`.
#[must_use]
pub fn of_hosts(
    experiment: &Experiment,
    run: &IdealRun,
    costs: Costs,
    manifest: Manifest,
    notation: &dyn Notation,
) -> RunResult {
    let IdealRun { execution, messages, message_bytes, complete, notes, warnings } = run;
    let (finish, remains, hosts) = (&execution.finish, &execution.remains, &experiment.hosts);
    // A task that still waits for a message has not ended.
    let complete = *complete && !execution.is_past_end;
    let ended = complete && remains.unstarted == 0 && remains.unserved == 0;
    let ticks = execution.ticks;
    let ns = |time: u64| Number::of_ratio(time, ticks);
    let task = |(&finish, &computing): (&u64, &Option<u64>)| {
        TaskRow::OfHost(HostTask {
            finish_ns: ns(finish),
            compute_ns: computing.map(ns),
            exposed_communication_ns: computing.map(|computing| ns(finish.saturating_sub(computing))),
        })
    };
    let last = execution.last();
    let seconds = costs.cpu_seconds.filter(|&seconds| seconds > 0.0);
    let result = RunResult {
        schema: SCHEMA,
        complete: complete && remains.is_nothing(),
        failure: run.failure().as_ref().map(failure),
        warnings: warnings.iter().map(|text| text.written(notation)).collect(),
        notes: notes.iter().map(|text| text.written(notation)).collect(),
        // The effective values, defaults included.
        network_latency_ns: match experiment.runs {
            Runs::Network => None,
            Runs::Hosts(wire) => Some(wire.latency),
        },
        network_gap_per_byte_ns: Some(ns(hosts.gap_per_byte)),
        host_overhead_ns: Some(hosts.overhead),
        host_gap_ns: Some(hosts.gap),
        host_overhead_per_byte_ns: Some(ns(hosts.overhead_per_byte)),
        host_eager_bytes: Some(hosts.rendezvous),
        host_streams: Some(hosts.streams),
        tasks: Some(finish.len() as u64),
        messages: Some(*messages),
        message_bytes: Some(*message_bytes),
        events: Some(execution.events),
        completion_seconds: last.filter(|_| ended).map(|(_, time)| seconds_of(time, ticks)),
        finish_max_ns: last.map(|(_, time)| ns(time)),
        finish_max_task: last.map(|(task, _)| task as u64),
        finish_min_ns: finish.iter().min().map(|&time| ns(time)),
        finish_sum_ns: Some(ns(finish.iter().fold(0_u64, |sum, time| sum.saturating_add(*time)))),
        operations_not_started: Some(remains.unstarted),
        receives_without_message: Some(remains.unserved),
        messages_without_receive: Some(remains.unreceived),
        per_task: Some(finish.iter().zip(&execution.computing).map(task).collect()),
        cpu_seconds: costs.cpu_seconds,
        events_per_second: seconds.map(|seconds| execution.events as f64 / seconds),
        peak_memory_bytes: costs.peak_memory_bytes,
        experiment: settings(experiment),
        manifest,
        ..RunResult::default()
    };
    result.writing(OF_HOSTS.iter().copied())
}

/// \[s\] A time of `time` ticks, where a nanosecond has `ticks` ticks.
fn seconds_of(time: u64, ticks: u64) -> f64 {
    if ticks == 1 { time as f64 * 1e-9 } else { time as f64 / (ticks as f64 * 1e9) }
}
