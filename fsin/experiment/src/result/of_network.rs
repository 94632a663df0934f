//! The result of a run over a network of routers.

use trgen::clock::Clock;
use trgen::synthetic::traffic::Shot;
use trgen::trace::replay::TaskReport;

use super::datum::Number;
use super::manifest::Manifest;
use super::of_collectives::{CollectiveTimes, ns};
use super::of_details::details;
use super::of_energy::of_energy;
use super::of_jobs::jobs;
use super::rows::{
    Batch, BufferRow, ClassRow, CompletionBounds, FailureKind, FailureReport, PhaseRow, ReplayedTask, ShotRow, TaskRow,
};
use super::settings::settings;
use super::table::{
    self, OF_CLASSES, OF_COLLECTIVES, OF_DEAD_LINKS, OF_ENERGY, OF_FAILURES, OF_FLOWS, OF_HISTOGRAM, OF_JOBS, OF_LINKS,
    OF_MESSAGES, OF_NODES, OF_ROUNDS, RunResult,
};
use super::{Costs, SCHEMA};
use fsin_core::couple;
use fsin_core::family::Units;
use fsin_core::network::NetworkFailure;
use fsin_core::topology::{DeadLink, dead_link_name, links_of};
use trgen::phrase::Notation;

use crate::{Bound, Bounds, Experiment, Finished, RunPlan, TraceFacts};
use fsin_core::run::{Outcome, Phase, Sample, Saturation, Verdict};
use fsin_core::stats::{Summary, Whole, estimate, half_width_of_series, lag1, mean};

/// The result of a run; texts name settings in the `notation`.
#[must_use]
pub fn of_network(
    experiment: &Experiment,
    finished: &Finished,
    costs: Costs,
    manifest: Manifest,
    notation: &dyn Notation,
) -> RunResult {
    let outcome = &finished.outcome;
    let completion = outcome.completion.map(|cycle| cycle.0);
    // The processor time of a single thread is least disturbed by other processes; the sum over several threads is
    // meaningless.
    let seconds = if experiment.network.threads() == 1 { costs.cpu_seconds } else { Some(costs.wall_seconds) };
    let seconds = seconds.filter(|&seconds| seconds > 0.0);
    let batch = matches!(experiment.plan, RunPlan::Batch(_));
    let first = outcome.samples.first().filter(|_| batch);
    let mut result = RunResult {
        schema: SCHEMA,
        complete: outcome.complete,
        converged: outcome.converged,
        failure: outcome.failure.as_ref().map(failure),
        warnings: outcome.warnings.iter().map(|warning| warning.text.written(notation)).collect(),
        warning_kinds: outcome.warnings.iter().map(|warning| warning.kind.into()).collect(),
        notes: finished.notes.iter().map(|note| note.written(notation)).collect(),
        cycles: Some(outcome.cycles),
        measured_cycles: Some(outcome.measured_cycles()),
        warmup_cycles: first.map(|sample| sample.start.since(trgen::Cycle::FIRST)),
        nodes: Some(outcome.nodes as u64),
        node_ejection_phits_per_cycle: ejection(experiment),
        silent_nodes: Some(outcome.silent_nodes as u64),
        completion_cycles: completion,
        completion_seconds: completion.map(|cycles| cycles as f64 * experiment.cycle_seconds),
        cpu_seconds: costs.cpu_seconds,
        wall_seconds: Some(costs.wall_seconds),
        cycles_per_second: seconds.map(|seconds| outcome.cycles as f64 / seconds),
        peak_memory_bytes: costs.peak_memory_bytes,
        digest: experiment.has_digest.then(|| hex(outcome.digest)),
        periods_skipped: outcome.skipped.map(|skipped| skipped.periods),
        experiment: settings(experiment),
        manifest,
        ..RunResult::default()
    };
    verdict(&mut result, finished.steadiness.verdict, outcome.measured.counts.received);
    loads(&mut result, experiment, finished);
    latencies(&mut result, finished);
    steadiness(&mut result, experiment, finished);
    counts(&mut result, outcome);
    result.samples = Some(batches(&outcome.samples, outcome.nodes, experiment));
    shots(&mut result, finished.shots.as_deref());
    if let Some(times) = &finished.round_trips {
        let is_any = times.count > 0;
        result.round_trips = Some(times.count);
        result.round_trip_mean_cycles = times.mean();
        result.round_trip_min_cycles = is_any.then_some(times.least);
        result.round_trip_max_cycles = is_any.then_some(times.greatest);
    }
    if let Some(links) = &finished.links {
        link_loads(&mut result, links, outcome.measured_cycles() as f64 / experiment.load_of_a_packet());
    }
    bounds(&mut result, finished.bounds.as_ref());
    if let Some(trace) = &finished.trace {
        tasks(&mut result, trace, experiment.pace.cycle);
    }
    if let Some(facts) = &finished.jobs {
        jobs(&mut result, facts, outcome);
    }
    let confined = finished.collectives.iter().zip(&finished.confines);
    let collectives: Vec<CollectiveTimes> = confined.map(|(record, by)| CollectiveTimes::of(record, by)).collect();
    result.collectives = (!collectives.is_empty()).then_some(collectives);
    details(&mut result, experiment, finished);
    result.model_figures = rows(&finished.measures);
    result.ports = rows(&finished.ports);
    let queues = finished.queues.as_ref();
    result.pause_frames = queues.map(|queues| queues.pause_frames);
    let node_cycles = outcome.nodes as f64 * outcome.measured_cycles() as f64;
    let row = |class| ClassRow::of_network(class, node_cycles);
    result.classes = queues.map(|queues| queues.classes.iter().map(row).collect());
    result.buffers = queues.map(|queues| queues.buffers.iter().map(BufferRow::from).collect());
    of_energy(&mut result, experiment, finished);
    result.dead_links = dead_links(experiment);
    result.phases = phases(experiment, outcome);
    let left_out = [
        (result.dead_links.is_none(), OF_DEAD_LINKS),
        (result.phases.is_none(), OF_FAILURES),
        (result.periods_skipped.is_none(), OF_ROUNDS),
        (finished.links.is_none(), OF_LINKS),
        (finished.collectives.is_empty(), OF_COLLECTIVES),
        (finished.jobs.is_none(), OF_JOBS),
        (finished.measures.is_empty(), &[table::Figure::ModelFigures]),
        (finished.ports.is_empty(), &[table::Figure::Ports]),
        (finished.queues.is_none(), OF_CLASSES),
        (result.per_node.is_none(), OF_NODES),
        (result.flows.is_none(), OF_FLOWS),
        (result.latency_histogram.is_none(), OF_HISTOGRAM),
        (finished.messages.is_none(), OF_MESSAGES),
        (finished.energy.is_none(), OF_ENERGY),
    ]
    .map(|(out, figures)| match out {
        true => figures,
        false => &[],
    });
    result.writing(table::of_network().filter(|figure| !left_out.iter().any(|out| out.contains(figure))))
}

/// The names of dead links; `None` if there are none.
fn dead_links(experiment: &Experiment) -> Option<Vec<String>> {
    let topology = experiment.topology()?;
    let dead = experiment.network.dead_links();
    (!dead.is_empty()).then(|| dead.iter().map(|dead| dead_link_name(&**topology, dead)).collect())
}

/// The phases of a run between failures and repairs; `None` if there were none.
fn phases(experiment: &Experiment, outcome: &Outcome) -> Option<Vec<PhaseRow>> {
    let failures = experiment.network.failures()?;
    let words = failures.changes.iter().map(|change| change.words.clone());
    let dead = std::iter::once(Vec::new()).chain(words).zip(failures.phases());
    let Units { packet_phits, phit_bytes, .. } = experiment.units;
    let row = |(phase, (events, dead)): (&Phase, (Vec<String>, Vec<DeadLink>))| {
        let node_cycles = phase.cycles as f64 * outcome.nodes as f64;
        let whole = phase.counts.whole(packet_phits);
        let load = |packets: f64| (phase.cycles > 0).then(|| packets * experiment.load_of_a_packet() / node_cycles);
        let phits = u128::from(phase.counts.dropped) * u128::from(packet_phits);
        let bytes = phits.saturating_sub(phase.counts.short.dropped.into()) * u128::from(phit_bytes);
        PhaseRow {
            start_cycle: phase.start.0,
            cycles: phase.cycles,
            events,
            dead_links: dead.len() as u64,
            generated_load_phits_per_node_cycle: load(whole.generated),
            accepted_load_phits_per_node_cycle: load(whole.received),
            latency_mean_cycles: phase.latency_mean,
            packets_received: phase.counts.received,
            packets_dropped: phase.counts.dropped,
            bytes_dropped: u64::try_from(bytes).unwrap_or(u64::MAX),
        }
    };
    (!outcome.phases.is_empty()).then(|| outcome.phases.iter().zip(dead).map(row).collect())
}

/// A tabular figure; `None` without rows.
fn rows<'a, T, R: From<&'a T>>(of: &'a [T]) -> Option<Vec<R>> {
    (!of.is_empty()).then(|| of.iter().map(R::from).collect())
}

/// Half the width of the 95 % confidence interval of the mean of batches. `None` for fewer than two.
fn half_width_95(batches: &[f64]) -> Option<f64> {
    estimate(batches).and_then(|estimate| estimate.ci95)
}

/// \[phits/cycle\] Greatest rate at which a node of the network takes packets.
fn ejection(experiment: &Experiment) -> Option<f64> {
    let (topology, rates) = (experiment.topology()?, experiment.network.rates()?);
    let mut entering = vec![0u32; topology.nodes()];
    for &there in links_of(&**topology).iter().flatten() {
        entering[there] += 1;
    }
    let taken = entering.iter().zip(&rates.ejection).map(|(&links, &own)| own.min(f64::from(links) * rates.link));
    taken.reduce(f64::max)
}

/// Sets the figures of the verdict on a network that has delivered `received` packets while measuring.
fn verdict(result: &mut RunResult, verdict: Option<Verdict>, received: u64) {
    result.verdict = verdict.map(|verdict| verdict.name().to_owned());
    result.saturated = match verdict {
        None | Some(Verdict::Undecided { deciding_cycles: None }) => None,
        // Without deliveries there is no evidence either way.
        Some(Verdict::Undecided { .. }) if received == 0 => None,
        Some(verdict) => Some(matches!(verdict, Verdict::Saturated(_))),
    };
    result.deciding_cycles = match verdict {
        Some(Verdict::Undecided { deciding_cycles }) => deciding_cycles,
        _ => None,
    };
}

/// Sets the figures of offered and accepted load.
fn loads(result: &mut RunResult, experiment: &Experiment, finished: &Finished) {
    let outcome = &finished.outcome;
    let counts = &outcome.measured.counts;
    let phits = experiment.load_of_a_packet();
    let node_cycles = outcome.measured_cycles() as f64 * outcome.nodes as f64;
    let longest = experiment.units.packet_phits;
    let load = |packets: f64| (node_cycles > 0.0).then(|| packets * phits / node_cycles);
    let load_of_a_cycle = |packets: f64| load(packets * outcome.measured_cycles() as f64);
    let of_batch = |sample: &Sample| {
        let received = sample.summary.counts.whole(longest).received;
        received * phits / (sample.cycles as f64 * outcome.nodes as f64)
    };
    let counts = counts.whole(longest);
    let of_batches: Vec<f64> = outcome.samples.iter().map(of_batch).collect();
    let offered = finished.offered.map(|offered| offered / (outcome.nodes as f64 * experiment.units.capacity));
    // A silent node of a pattern, or one without a task, does not affect the load per sender.
    let of_a_sender = outcome.nodes as f64 / (outcome.nodes - outcome.silent_nodes) as f64;
    let of_senders = |load: Option<f64>| load.map(|load| load * of_a_sender).filter(|load| load.is_finite());
    result.offered_load_phits_per_node_cycle = offered;
    result.generated_load_phits_per_node_cycle = load(counts.generated);
    result.injected_load_phits_per_node_cycle = load(counts.injected);
    result.accepted_load_phits_per_node_cycle = load(counts.received);
    let accepted_half_width = accepted_half_width(finished, longest).and_then(load_of_a_cycle);
    result.accepted_load_ci95 = accepted_half_width;
    result.accepted_load_lag1 = lag1(&of_batches);
    result.offered_load_of_senders_phits_per_node_cycle = of_senders(offered);
    result.accepted_load_of_senders_phits_per_node_cycle = of_senders(load(counts.received));
    result.accepted_load_of_senders_ci95 = of_senders(accepted_half_width);
}

/// \[packets/cycle\] Half the width of the 95 % confidence interval of the packets accepted by all nodes.
fn accepted_half_width(finished: &Finished, packet_phits: u32) -> Option<f64> {
    let intervals = &finished.outcome.intervals;
    let cycles: Vec<f64> = intervals.iter().map(|interval| interval.cycles as f64).collect();
    let half_width = |of: fn(&Whole) -> f64| {
        let packets: Vec<f64> = intervals.iter().map(|interval| of(&interval.counts.whole(packet_phits))).collect();
        half_width_of_series(&packets, &cycles)
    };
    let accepted = half_width(|whole| whole.received)?;
    // Queues smooth what they accept over a time that may exceed the run; what is generated shows the slow fluctuations
    // as well. A saturated network accepts what it can, whatever is generated.
    let generated = match finished.steadiness.saturation() {
        None => half_width(|whole| whole.generated).unwrap_or(0.0),
        Some(_) => 0.0,
    };
    Some(accepted.max(generated))
}

/// \[cycles\] Half the width of the 95 % confidence interval of the mean latency.
fn latency_half_width(outcome: &Outcome) -> Option<f64> {
    let sums: Vec<f64> = outcome.intervals.iter().map(|interval| interval.latency_sum as f64).collect();
    let packets: Vec<f64> = outcome.intervals.iter().map(|interval| interval.counts.received as f64).collect();
    half_width_of_series(&sums, &packets)
}

/// Sets the figures of latency and of hops.
fn latencies(result: &mut RunResult, finished: &Finished) {
    let outcome = &finished.outcome;
    let window = &outcome.measured;
    let (latency, injection) = (&window.latency, &window.injection_latency);
    let delays: Vec<f64> = outcome.samples.iter().filter_map(|sample| sample.summary.latency.mean()).collect();
    result.latency_mean_cycles = latency.moments().mean();
    result.latency_std_cycles = latency.moments().std();
    result.latency_max_cycles = latency.moments().max();
    // While queues grow, there is no mean of which an interval could be known.
    let is_growing = finished.steadiness.saturation() == Some(Saturation::Growing);
    result.latency_ci95 = latency_half_width(outcome).filter(|_| !is_growing);
    result.latency_lag1 = lag1(&delays);
    result.latency_p50_cycles = latency.quantile(0.5);
    result.latency_p90_cycles = latency.quantile(0.9);
    result.latency_p99_cycles = latency.quantile(0.99);
    result.latency_p999_cycles = latency.quantile(0.999);
    result.injection_latency_mean_cycles = injection.mean();
    result.injection_latency_std_cycles = injection.std();
    result.injection_latency_max_cycles = injection.max();
    result.hops_mean = window.hops.mean();
}

/// Sets the figures of saturation and of the steady state.
fn steadiness(result: &mut RunResult, experiment: &Experiment, finished: &Finished) {
    let (growth, drift) = (finished.steadiness.queue_growth, finished.steadiness.drift);
    let phits = experiment.load_of_a_packet();
    let of_a_node = |packets: f64| packets * phits / finished.outcome.nodes as f64;
    result.queue_growth_phits_per_node_cycle = growth.map(|growth| of_a_node(growth.mean));
    result.queue_growth_ci95 = growth.and_then(|growth| growth.ci95).map(of_a_node);
    result.latency_drift = drift.map(|drift| drift.mean);
    result.latency_drift_ci95 = drift.and_then(|drift| drift.ci95);
}

/// Sets the counts of packets.
fn counts(result: &mut RunResult, outcome: &Outcome) {
    let totals = &outcome.totals;
    result.packets_generated = Some(totals.generated);
    result.packets_injected = Some(totals.injected);
    result.packets_received = Some(totals.received);
    result.packets_dropped = Some(totals.dropped);
    result.packets_in_flight = Some(outcome.in_flight);
    result.packet_hops = Some(totals.hops);
    result.fairness_min = outcome.fairness.map(|fairness| fairness.min);
    result.fairness_jain = outcome.fairness.map(|fairness| fairness.jain);
}

/// The rows of the measured batches.
fn batches(samples: &[Sample], nodes: usize, experiment: &Experiment) -> Vec<Batch> {
    let phits = experiment.load_of_a_packet();
    let row = |sample: &Sample| {
        let Summary { counts, latency, injection_latency, hops } = &sample.summary;
        let node_cycles = sample.cycles as f64 * nodes as f64;
        let load = |packets: f64| packets * phits / node_cycles;
        let whole = counts.whole(experiment.units.packet_phits);
        Batch {
            start_cycle: sample.start.0,
            cycles: sample.cycles,
            generated_load_phits_per_node_cycle: load(whole.generated),
            injected_load_phits_per_node_cycle: load(whole.injected),
            accepted_load_phits_per_node_cycle: load(whole.received),
            latency_mean_cycles: latency.mean(),
            latency_max_cycles: latency.max(),
            injection_latency_mean_cycles: injection_latency.mean(),
            hops_mean: hops.mean(),
            packets_received: counts.received,
        }
    };
    samples.iter().map(row).collect()
}

/// Sets the figures of shots: the duration of each, with mean and confidence interval.
fn shots(result: &mut RunResult, shots: Option<&[Shot]>) {
    let row = |shot: &Shot| ShotRow { start_cycle: shot.start.0, cycles: shot.cycles, messages: shot.messages };
    let cycles: Vec<f64> = shots.unwrap_or_default().iter().map(|shot| shot.cycles as f64).collect();
    result.shots = shots.map(|shots| shots.iter().map(row).collect());
    result.shot_cycles_mean = mean(&cycles);
    result.shot_cycles_ci95 = half_width_95(&cycles);
}

/// Sets the figures of link loads. `packets` is the capacity of a link during the measurement.
pub(super) fn link_loads(result: &mut RunResult, links: &[Vec<Option<u64>>], packets: f64) {
    let carried: Vec<u64> = links.iter().flatten().flatten().copied().collect();
    let load = |carried: f64| (packets > 0.0).then(|| carried / packets);
    let mean = carried.iter().sum::<u64>() as f64 / carried.len() as f64;
    result.link_load_mean_phits_per_cycle = load(mean).filter(|load| load.is_finite());
    result.link_load_max_phits_per_cycle = carried.iter().max().and_then(|&most| load(most as f64));
    result.link_packets = Some(links.to_vec());
}

/// Sets the lower bounds of the completion time, and the binding one.
pub(super) fn bounds(result: &mut RunResult, bounds: Option<&Bounds>) {
    let binding = bounds.and_then(Bounds::binding);
    result.completion_bound_cycles = binding.map(|(_, bound)| bound.cycles);
    result.completion_bound_by = binding.map(|(name, _)| name.to_owned());
    let cycles = |bound: &Option<Bound>| bound.as_ref().map(|bound| bound.cycles);
    result.completion_bounds_cycles = bounds.map(|bounds| CompletionBounds {
        injection: cycles(&bounds.injection),
        interface: cycles(&bounds.interface),
        ejection: cycles(&bounds.ejection),
        bisection: cycles(&bounds.bisection),
        links: cycles(&bounds.links),
        critical_path: cycles(&bounds.critical_path),
        sequence: cycles(&bounds.sequence),
        fullest_link: cycles(&bounds.fullest_link),
        computing: cycles(&bounds.computing),
    });
}

/// Sets the figures of tasks.
fn tasks(result: &mut RunResult, trace: &TraceFacts, clock: Clock) {
    let tasks = &trace.report.tasks;
    let sum = |pick: fn(&TaskReport) -> u64| tasks.iter().map(pick).sum::<u64>();
    let bytes = sum(|task| task.sent_bytes);
    let blocked = |cycles: u64| trace.blocking.then_some(cycles);
    let row = |task: &TaskReport| {
        let in_cycles = task.finished.map(|cycle| cycle.next().0);
        let ended = task.ended.or(in_cycles.filter(|_| trace.blocking).map(|cycles| clock.span(cycles)));
        let computing = match trace.blocking {
            true => Some(clock.span(task.compute_cycles)),
            false => task.computing,
        };
        let exposed = ended.zip(computing).map(|(ended, computing)| ended.saturating_sub(computing));
        TaskRow::Replayed(ReplayedTask {
            finished_cycle: task.finished.map(|cycle| cycle.0),
            compute_cycles: task.compute_cycles,
            blocked_on_send_cycles: blocked(task.blocked_on_send_cycles),
            blocked_on_receive_cycles: blocked(task.blocked_on_receive_cycles),
            blocked_on_wait_cycles: blocked(task.blocked_on_wait_cycles),
            messages_sent: sent(task),
            messages_received: task.received,
            bytes_sent: task.sent_bytes,
            finished_ns: ended.map(ns),
            compute_ns: computing.map(ns),
            exposed_communication_ns: exposed.map(ns),
        })
    };
    result.tasks = Some(trace.tasks as u64);
    result.messages = Some(sum(sent));
    result.messages_point_to_point = Some(sum(|task| task.sent_point_to_point));
    result.messages_collective = Some(sum(|task| task.sent_collective));
    result.messages_received = Some(sum(|task| task.received));
    result.message_bytes = Some(bytes);
    result.hop_bytes = trace.hop_bytes.map(Number::of_sum);
    result.hops_per_byte = trace.hop_bytes.and_then(|far| per_byte(far, bytes));
    result.collective_calls = Some(trace.collectives.iter().map(|(&name, &calls)| (name.to_owned(), calls)).collect());
    result.per_task = Some(tasks.iter().map(row).collect());
}

/// \[messages\] Messages sent by a task.
pub(super) const fn sent(task: &TaskReport) -> u64 {
    task.sent_point_to_point + task.sent_collective
}

/// \[links\] Mean path length of a byte; `None` without bytes.
pub(super) fn per_byte(hop_bytes: u128, bytes: u64) -> Option<f64> {
    (bytes > 0).then(|| hop_bytes as f64 / bytes as f64)
}

/// A digest as hexadecimal digits.
pub(super) fn hex(digest: u64) -> String {
    format!("{digest:016x}")
}

/// The failure of a run, as data.
pub(super) fn failure(failure: &couple::Failure) -> FailureReport {
    use couple::Failure;
    let (kind, waits) = match failure {
        Failure::Network(NetworkFailure::Deadlock(deadlock)) => {
            let channels = deadlock.cycle.iter().map(ToString::to_string);
            (FailureKind::NetworkDeadlock, channels.chain(deadlock.refusals()).collect())
        }
        Failure::Network(NetworkFailure::Storm(storm)) => {
            (FailureKind::NetworkStorm, storm.cycle.iter().map(ToString::to_string).collect())
        }
        Failure::Network(NetworkFailure::Livelock(_)) => (FailureKind::NetworkLivelock, Vec::new()),
        Failure::ClockEnd { .. } => (FailureKind::ClockEnd, Vec::new()),
        Failure::TrafficDeadlock { waits, .. } | Failure::Stuck { waits } => {
            (FailureKind::TrafficDeadlock, waits.iter().map(ToString::to_string).collect())
        }
        Failure::Unmatched { shown, .. } => (FailureKind::Unmatched, shown.clone()),
        Failure::Source(_) => (FailureKind::Source, Vec::new()),
    };
    FailureReport { kind, what: failure.to_string(), waits }
}
