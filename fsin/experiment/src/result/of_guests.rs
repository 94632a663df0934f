//! The result of a run of live guests.

use adapters::live::{GuestReport, LiveReport, Mark, Waymark};
use adapters::protocol::Class;
use serde_json::{Map, Value};

use super::manifest::Manifest;
use super::of_network::{self, failure, hex};
use super::rows::{GuestRow, MachineRow, MarkRow, RankRow, RunningDigest};
use super::table::{OF_GUESTS, OF_LINKS, RunResult, of_machines, of_ranks};
use super::{Costs, SCHEMA};
use crate::Bounds;
use fsin_core::run::Outcome;
use trgen::phrase::Notation;

/// The result of a run; `picoseconds` converts the end of a cycle to time, and `settings` are those of the run. Texts
/// name settings in the `notation`.
#[must_use]
pub fn of_guests(
    outcome: &Outcome,
    report: &LiveReport,
    picoseconds: &dyn Fn(u64) -> u64,
    costs: Costs,
    settings: Map<String, Value>,
    manifest: Manifest,
    notation: &dyn Notation,
) -> RunResult {
    let latency = &outcome.measured.latency;
    let of_messages = report.latency.as_ref();
    let completion = outcome.completion.map(|cycle| cycle.0);
    let guests = &report.guests;
    let lost = guests.iter().filter(|guest| guest.lost.is_some()).count();
    let turns: u64 = guests.iter().map(|guest| guest.turns).sum();
    let late: u64 = guests.iter().map(|guest| guest.late).sum();
    let late_sum: f64 = guests.iter().filter_map(|guest| Some(guest.late_mean? * guest.late as f64)).sum();
    let per_second = |count: u64| (costs.wall_seconds > 0.0).then(|| count as f64 / costs.wall_seconds);
    let waymark = |mark: &Waymark| RunningDigest { time_ps: mark.time, digest: hex(mark.digest) };
    let result = RunResult {
        schema: SCHEMA,
        complete: outcome.complete && lost == 0,
        failure: outcome.failure.as_ref().map(failure),
        warnings: outcome.warnings.iter().map(|warning| warning.text.written(notation)).collect(),
        cycles: Some(outcome.cycles),
        nodes: Some(outcome.nodes as u64),
        guests_lost: Some(lost as u64),
        messages: Some(report.injects),
        messages_delivered: Some(report.deliveries),
        messages_undelivered: Some(report.undelivered),
        messages_late: Some(late),
        late_mean_ps: (late > 0).then(|| late_sum / late as f64),
        late_max_ps: guests.iter().map(|guest| guest.late_max).max(),
        behind_max_ps: report.behind.map(|behind| behind.max),
        behind_mean_ps: report.behind.and_then(|behind| behind.mean()),
        measured_cycles: Some(outcome.measured_cycles()),
        messages_measured: Some(of_messages.map_or(0, |latency| latency.count)),
        message_latency_mean_ps: of_messages.map(|latency| latency.mean),
        message_latency_p50_ps: of_messages.map(|latency| latency.p50),
        message_latency_p99_ps: of_messages.map(|latency| latency.p99),
        message_latency_max_ps: of_messages.map(|latency| latency.max),
        packets_measured: Some(outcome.measured.counts.received),
        latency_mean_cycles: latency.moments().mean(),
        latency_max_cycles: latency.moments().max(),
        latency_p50_cycles: latency.quantile(0.5),
        latency_p99_cycles: latency.quantile(0.99),
        packets_received: Some(outcome.totals.received),
        packets_in_flight: Some(outcome.in_flight),
        completion_cycles: completion,
        completion_seconds: completion.map(|cycle| picoseconds(cycle) as f64 * 1e-12),
        turns: Some(turns),
        turns_per_second: per_second(turns),
        messages_per_second: per_second(report.injects),
        cpu_seconds: costs.cpu_seconds,
        wall_seconds: Some(costs.wall_seconds),
        peak_memory_bytes: costs.peak_memory_bytes,
        digest: Some(hex(outcome.digest)),
        guest_digest: Some(hex(report.digest)),
        running_digests: Some(report.waymarks.iter().map(waymark).collect()),
        guests: Some(guests.iter().map(guest).collect()),
        experiment: settings,
        manifest,
        ..RunResult::default()
    };
    result.writing(OF_GUESTS.iter().copied())
}

impl RunResult {
    /// The result of an MPI program with these ranks as guests, the bounds of its completion, and notes about it. `links`
    /// has the packets that each link carried, by router and port, if they were counted, and how many a link can carry
    /// meanwhile.
    #[must_use]
    pub fn of_ranks(
        self,
        ranks: Vec<RankRow>,
        bounds: &Bounds,
        notes: Vec<String>,
        links: Option<(&[Vec<Option<u64>>], f64)>,
    ) -> Self {
        let unexpected: u64 = ranks.iter().map(|rank| rank.messages_unexpected).sum();
        let received: u64 = ranks.iter().map(|rank| rank.messages_received).sum();
        let (messages_expected, messages_unexpected) = (Some(received.saturating_sub(unexpected)), Some(unexpected));
        let mut result = Self { ranks: Some(ranks), messages_expected, messages_unexpected, notes, ..self };
        of_network::bounds(&mut result, Some(bounds));
        if let Some((links, packets)) = links {
            of_network::link_loads(&mut result, links, packets);
        }
        result.writing(of_ranks().filter(|figure| links.is_some() || !OF_LINKS.contains(figure)))
    }

    /// The result of virtual machines, which are the guests of this report.
    #[must_use]
    pub fn of_machines(self, report: &LiveReport, cycle: &dyn Fn(u64) -> u64, machines: Vec<MachineRow>) -> Self {
        let boot_seconds = report.warm.map(|warm| warm.as_secs_f64());
        // The first turn of each is its boot.
        let steps = report.guests.iter().map(|guest| guest.turns.saturating_sub(1)).max();
        let steps = steps.filter(|_| boot_seconds.is_some());
        let seconds = self.wall_seconds.zip(boot_seconds).map(|(wall, boot)| wall - boot).filter(|&left| left > 0.0);
        let steps_per_second = steps.zip(seconds).map(|(steps, seconds)| steps as f64 / seconds);
        // The network may have gone further than the last machine, by a time that depends on its last steps.
        let end = report.guests.iter().filter(|guest| guest.left).map(|guest| guest.time).max();
        let end = end.filter(|_| self.completion_cycles.is_some());
        let (completion_cycles, completion_seconds) = (end.map(cycle), end.map(|end| end as f64 * 1e-12));
        Self {
            completion_cycles,
            completion_seconds,
            boot_seconds,
            steps,
            steps_per_second,
            machines: Some(machines),
            ..self
        }
        .writing(of_machines())
    }
}

/// The row of a guest.
fn guest(guest: &GuestReport) -> GuestRow {
    let manifest: String = guest.manifest.iter().map(|byte| format!("{byte:02x}")).collect();
    let mark = |mark: &Mark| MarkRow { time_ps: mark.time, label: mark.label.clone() };
    let class = match guest.class {
        Class::Stepped => "stepped",
        Class::Causal => "causal",
        Class::Realtime => "realtime",
    };
    GuestRow {
        name: guest.name.clone(),
        nodes: guest.nodes.clone(),
        class: class.to_owned(),
        manifest: guest.manifest.iter().any(|&byte| byte != 0).then_some(manifest),
        time_ps: guest.time,
        left: guest.left,
        lost: guest.lost.clone(),
        turns: guest.turns,
        messages_sent: guest.injects,
        notices: guest.notices,
        messages_late: guest.late,
        late_mean_ps: guest.late_mean,
        late_max_ps: guest.late_max,
        marks: guest.marks.iter().map(mark).collect(),
    }
}
