//! Snapshots of a run between two cycles.

use std::time::Instant;

use trgen::{Activity, TaskState};
use tui::view::{Guest, Job, Jobs, Latency, Packets, RunState, Snapshot, Sources, Task};

use super::latencies::summary;
use fsin_core::stats::Distribution;
use fsin_core::view::Occupancy;
use fsin_core::watch::Glimpse;

/// Takes snapshots; keeps the values of the latest one, to compute rates since then.
#[derive(Debug)]
pub struct Sampler {
    /// When the run began.
    start: Instant,
    /// Time and clock of the latest snapshot.
    latest: Option<(Instant, u64)>,
    /// The latencies at the latest snapshot.
    latency: Option<Distribution>,
    /// The occupancy at the latest snapshot; kept for its memory.
    occupancy: Occupancy,
}

impl Default for Sampler {
    fn default() -> Self {
        Self { start: Instant::now(), latest: None, latency: None, occupancy: Occupancy::default() }
    }
}

impl Sampler {
    /// Ends a pause: the speed is measured from now on.
    pub fn resume(&mut self, cycle: u64) {
        self.latest = Some((Instant::now(), cycle));
    }

    /// Takes a snapshot.
    pub fn sample(&mut self, glimpse: &Glimpse<'_>, state: RunState, speed_limit: Option<u64>) -> Snapshot {
        let Glimpse { progress, network, source } = glimpse;
        let (now, cycle) = (Instant::now(), progress.clock.0);
        let speed = self
            .latest
            .filter(|&(_, before)| before < cycle)
            .map(|(then, before)| (cycle - before) as f64 / now.duration_since(then).as_secs_f64().max(1e-6));
        self.latest = Some((now, cycle));
        let recorder = network.recorder;
        let totals = recorder.totals();
        let mut latency = Latency::default();
        if let Some(observed) = recorder.observed() {
            latency.recent = summary(&observed, self.latency.as_ref());
            latency.all = summary(&observed, None);
            self.latency = Some(observed);
        }
        if let Some(view) = network.view {
            view.occupancy(&mut self.occupancy);
        }
        let Occupancy { mut transit, injection, waiting, mut crossed, is_ragged } = self.occupancy.clone();
        if is_ragged {
            // Viewers have rows of the same length.
            transit.clear();
            crossed.clear();
        }
        Snapshot {
            cycle,
            end: progress.end.map(|end| end.0),
            phase: progress.phase.to_owned(),
            state,
            elapsed_seconds: now.duration_since(self.start).as_secs_f64(),
            cycles_per_second: speed,
            speed_limit,
            packets: Packets {
                generated: totals.generated,
                injected: totals.injected,
                received: totals.received,
                dropped: totals.dropped,
                hops: totals.hops,
                in_flight: progress.in_flight,
            },
            latency,
            transit,
            injection,
            waiting,
            crossed,
            sources: match source.activity() {
                Activity::Nodes => Sources::Nodes(recorder.received_by_source().to_vec()),
                Activity::Tasks(tasks) => Sources::Tasks(tasks.iter().map(task).collect()),
                Activity::Jobs(activity) => Sources::Jobs(jobs(activity)),
                Activity::Guests(guests) => Sources::Guests(guests.into_iter().map(guest).collect()),
            },
            log: Vec::new(),
        }
    }
}

/// A task in the form in which viewers show it.
fn task(task: &trgen::TaskActivity) -> Task {
    let state = match task.state {
        TaskState::Computing => tui::view::TaskState::Computing,
        TaskState::Sending => tui::view::TaskState::Sending,
        TaskState::Receiving => tui::view::TaskState::Receiving,
        TaskState::Waiting => tui::view::TaskState::Waiting,
        TaskState::Finished => tui::view::TaskState::Finished,
    };
    Task { node: task.node.0, state, done: task.done, events: task.events, sent_bytes: task.sent_bytes }
}

/// Jobs in the form in which viewers show them.
fn jobs(jobs: trgen::JobsActivity) -> Jobs {
    let job = |job: trgen::JobActivity| Job {
        number: u32::try_from(job.number).unwrap_or(u32::MAX),
        name: job.name,
        tasks: job.tasks.iter().map(task).collect(),
    };
    Jobs {
        coming: jobs.coming as u64,
        waiting: jobs.waiting as u64,
        running: jobs.running as u64,
        ended: jobs.ended as u64,
        listed: jobs.listed.into_iter().map(job).collect(),
    }
}

/// A guest in the form in which viewers show it.
fn guest(guest: trgen::GuestActivity) -> Guest {
    Guest {
        name: guest.name,
        nodes: guest.nodes.iter().map(|node| node.0).collect(),
        state: guest.state,
        connected: guest.connected,
        clock_ps: guest.clock.0,
        injected: guest.injected,
        notices: guest.notices,
        late: guest.late,
    }
}
