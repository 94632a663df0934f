//! Running an experiment.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use trace_prep::OpenError;
use trgen::synthetic::traffic::Shot;
use trgen::trace::formats::ReadError;
use trgen::trace::jobs::{Job, JobMix, JobRecord};
use trgen::trace::matrix::Matrix;
use trgen::trace::placement::hop_bytes;
use trgen::trace::program::Program;
use trgen::trace::replay::{Replay, ReplayReport};
use trgen::{Cycle, Geometry, NodeId};

use super::driver::{Driver, Kind};
use super::plan::RunPlan;
use super::resolve::{EngineKind, Experiment};
use super::settings::SettingsError;
use crate::couple::{Coupled, Failure};
use crate::engine::fast;
use crate::engine::reference::Reference;
use crate::network::Network;
use crate::router::SourceQueue;
use crate::run::{Outcome, Progress, batch, fixed, to_end};
use crate::stats::Counts;
use crate::sweep::lag1;
use crate::topology::{self, Distances, Port, Topology};
use crate::watch::Watch;

/// Why an experiment could not begin.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// A setting cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] ReadError),
    /// The trace is of a format that its own tool prints, and was not printed.
    #[error("{what}")]
    Unprinted {
        /// What happened.
        what: String,
        /// What the user can do about it.
        remedy: String,
        /// True if nothing is wrong with the trace: there was no room for the text.
        no_room: bool,
    },
}

impl From<OpenError> for Trouble {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Read(error) => Self::Trace(error),
            OpenError::Printed { what, remedy, no_room } => Self::Unprinted { what, remedy, no_room },
        }
    }
}

/// What is known of a trace or kernel beside the network's figures.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceFacts {
    /// Tasks of the application.
    pub tasks: usize,
    /// Calls of collective operations, summed over tasks, by name.
    pub collectives: BTreeMap<&'static str, u64>,
    /// What each task did.
    pub report: ReplayReport,
    /// True if it is known how long tasks were blocked: hosts of graphs wait for many things at once.
    pub blocking: bool,
    /// \[bytes x hops\] Of all messages that were sent, by shortest routes; `None` of several applications, and where
    /// distances would take too long.
    pub hop_bytes: Option<u128>,
}

/// A job of a mix.
#[derive(Clone, PartialEq, Debug)]
pub struct JobFacts {
    /// What became of it.
    pub record: JobRecord,
    /// \[cycles\] That it runs alone on the same nodes of an empty network; `None` if it did not finish, or that run did not.
    pub alone_cycles: Option<u64>,
    /// \[bytes x hops\] Of its messages, by shortest routes; `None` if it did not finish, or distances would take too long.
    pub hop_bytes: Option<u128>,
}

/// A run that has ended, one way or another.
#[derive(Clone, PartialEq, Debug)]
pub struct Finished {
    /// What the network showed.
    pub outcome: Outcome,
    /// What the tasks did, for traces and kernels.
    pub trace: Option<TraceFacts>,
    /// Whether the network accepted clearly less than was asked for; `None` where no load is asked for.
    pub saturated: Option<bool>,
    /// How long each shot took, for traffic of shots.
    pub shots: Option<Vec<Shot>>,
    /// \[packets\] What each link carried while measuring, by router and port, `None` where there is no link; for experiments
    /// that keep it.
    pub links: Option<Vec<Vec<Option<u64>>>>,
    /// What a reader of the figures may want to know, without being a warning.
    pub notes: Vec<String>,
    /// What became of each job of a mix.
    pub jobs: Option<Vec<JobFacts>>,
}

/// Runs an experiment to its end, or until `stop` becomes true.
///
/// # Errors
/// Settings that turn out to be unusable together, a trace that cannot be read. What goes wrong while running is part of
/// the outcome.
pub fn execute(
    experiment: &Experiment,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Finished, Trouble> {
    run_to_end(experiment, stop, progress, None)
}

/// Refuses an experiment that [`execute`] or, over an ideal network, [`execute_ideal`](super::execute_ideal) would refuse to
/// begin. Reads the trace, if there is one.
///
/// # Errors
/// As [`execute`].
pub fn check(experiment: &Experiment) -> Result<(), Trouble> {
    if experiment.ideal_latency.is_some() {
        return super::ideal::check(experiment);
    }
    let (_, geometry) = network(experiment)?;
    Driver::new(experiment, &geometry).map(|_| ())
}

/// As [`execute`], while `watch` looks at the run.
///
/// # Errors
/// As [`execute`].
pub fn execute_watched(
    experiment: &Experiment,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
    watch: &mut dyn Watch,
) -> Result<Finished, Trouble> {
    run_to_end(experiment, stop, progress, Some(watch))
}

fn run_to_end(
    experiment: &Experiment,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
    watch: Option<&mut dyn Watch>,
) -> Result<Finished, Trouble> {
    let (mut network, geometry) = network(experiment)?;
    let mut driver = Driver::new(experiment, &geometry)?;
    if experiment.link_loads {
        network.observe();
    }
    let mut coupled = Coupled::new(driver.source(), &mut *network, stop);
    if let Some(watch) = watch {
        coupled = coupled.watched(watch);
    }
    let mut outcome = run(experiment, coupled, progress);
    if let Kind::Beside(background) = &driver.kind
        && outcome.completion.is_some()
    {
        // The network empties later, when the traffic beside has arrived too.
        let ends = background.main().report().tasks.into_iter().map(|task| task.finished);
        outcome.completion = ends.max().flatten().map(Cycle::next);
    }
    let report = driver.report();
    if let Some((report, _)) = &report {
        leave_alone(&mut outcome, report);
    }
    let shots = driver.shots().map(<[Shot]>::to_vec);
    outcome.warnings.splice(0..0, std::mem::take(&mut driver.warnings));
    let trace = report.map(|(report, blocking)| TraceFacts {
        tasks: report.tasks.len(),
        collectives: driver.collectives.clone(),
        report,
        blocking,
        hop_bytes: sent_far(experiment, &driver.kind),
    });
    let jobs = match &driver.kind {
        Kind::Jobs(mix) => Some(beside_alone(experiment, mix, stop, progress)?),
        _ => None,
    };
    let saturated = saturated(driver.offered(), &outcome, experiment.router.packet_phits);
    let links = if experiment.link_loads { Some(links(experiment, &outcome.crossings)?) } else { None };
    let mut finished = Finished { outcome, trace, saturated, shots, links, notes: driver.notes, jobs };
    add_warnings(experiment, &mut finished);
    Ok(finished)
}

/// A run in which every task ended and some message or receive has no counterpart is no success: the program that was
/// recorded would not have ended so, and with sends that wait for their receiver it does not end here either.
fn leave_alone(outcome: &mut Outcome, report: &ReplayReport) {
    let count = report.unreceived + report.unserved;
    if !outcome.complete || outcome.failure.is_some() || count == 0 {
        return;
    }
    outcome.complete = false;
    outcome.failure = Some(Failure::Unmatched { count, shown: report.unmatched.clone() });
    if report.unserved > 0 {
        // A task that still waits for a message has not ended.
        outcome.completion = None;
    }
}

/// The topology of an experiment, without its dead links.
///
/// # Errors
/// A file of links that has changed since the experiment was checked.
pub fn topology_of(experiment: &Experiment) -> Result<Box<dyn Topology>, SettingsError> {
    topology::parse_with_faults(&experiment.topology, experiment.ways, &experiment.faults)
        .map_err(|refusal| experiment.settings().refused("topology", &refusal))
}

/// What was carried, by router and port, where there are links.
fn links(experiment: &Experiment, crossings: &[u64]) -> Result<Vec<Vec<Option<u64>>>, SettingsError> {
    let topology = topology_of(experiment)?;
    let ports = topology.shape().ports();
    // Of a run that ended before anything was measured nothing is known.
    let crossed = |node: usize, port: usize| crossings.get(node * ports + port).copied().unwrap_or(0);
    let link =
        |node: usize, port: usize| topology.neighbour(NodeId::at(node), Port(port as u8)).map(|_| crossed(node, port));
    Ok((0..topology.nodes()).map(|node| (0..ports).map(|port| link(node, port)).collect()).collect())
}

/// \[bytes x hops\] Of what an application has sent.
fn sent_far(experiment: &Experiment, kind: &Kind) -> Option<u128> {
    if matches!(kind, Kind::Synthetic(_) | Kind::Jobs(_)) {
        return None;
    }
    let distances = Distances::few(topology_of(experiment).ok()?)?;
    match kind {
        Kind::Application(replay) => Some(hop_bytes(replay.flows(), &distances)),
        Kind::Hosts(hosts) => Some(hop_bytes(hosts.flows(), &distances)),
        Kind::Beside(background) => Some(hop_bytes(background.main().flows(), &distances)),
        Kind::Synthetic(_) | Kind::Jobs(_) => None,
    }
}

/// \[bytes x hops\] Of a job that has finished.
fn job_far(job: &Job, record: &JobRecord, distances: &Distances) -> Option<u128> {
    record.finish?;
    let node = |task: u32| record.placement[task as usize];
    let matrix = Matrix::of_program(&job.program);
    let flows = matrix.pairs().iter().map(|pair| (node(pair.source), node(pair.destination), pair.bytes));
    Some(hop_bytes(flows, distances))
}

/// What became of the jobs of a mix, and how long each of them runs alone.
fn beside_alone(
    experiment: &Experiment,
    mix: &JobMix,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<JobFacts>, Trouble> {
    // Instances of one job on the same nodes run alone in the same way.
    let mut known: Vec<(&Arc<Program>, Vec<NodeId>, Option<u64>)> = Vec::new();
    let mut facts = Vec::new();
    let distances = Distances::few(topology_of(experiment)?);
    for (job, record) in mix.jobs().iter().zip(mix.records()) {
        let same = |other: &&(&Arc<Program>, Vec<NodeId>, Option<u64>)| {
            Arc::ptr_eq(other.0, &job.program) && other.1 == record.placement
        };
        let alone_cycles = match (record.finish, known.iter().find(same)) {
            (None, _) => None,
            (Some(_), Some(&(_, _, alone))) => alone,
            (Some(_), None) => {
                let alone = alone(experiment, &job.program, &record.placement, stop, progress)?;
                known.push((&job.program, record.placement.clone(), alone));
                alone
            }
        };
        let hop_bytes = distances.as_ref().and_then(|distances| job_far(job, &record, distances));
        facts.push(JobFacts { record, alone_cycles, hop_bytes });
    }
    Ok(facts)
}

/// \[cycles\] That a program takes alone, with its tasks on these nodes; `None` if it does not come to its end.
fn alone(
    experiment: &Experiment,
    program: &Program,
    placement: &[NodeId],
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<u64>, Trouble> {
    let (mut network, geometry) = network(experiment)?;
    let Ok(replay) = Replay::new(program.clone(), placement, geometry.nodes(), experiment.pace) else {
        return Ok(None);
    };
    let mut replay = replay.with_protocol(experiment.protocol);
    let outcome = run(experiment, Coupled::new(&mut replay, &mut *network, stop), progress);
    let last = replay.report().tasks.iter().map(|task| task.finished).max().flatten();
    Ok(last.filter(|_| outcome.complete).map(|last| last.since(Cycle::FIRST)))
}

/// The network of an experiment, and its geometry.
pub(super) fn network(experiment: &Experiment) -> Result<(Box<dyn Network>, Geometry), Trouble> {
    let settings = &experiment.settings();
    let topology = topology_of(experiment)?;
    let geometry = topology.geometry().clone();
    let network: Box<dyn Network> = match experiment.engine {
        EngineKind::Reference => Box::new(Reference::new(topology, experiment.router.clone())),
        EngineKind::Fast => fast::build(topology, experiment.router.clone(), experiment.threads).ok_or_else(|| {
            settings.error("engine", "--engine fast simulates fewer than 2^31 nodes", "use a smaller network")
        })?,
    };
    Ok((network, geometry))
}

fn run(experiment: &Experiment, mut coupled: Coupled<'_>, progress: &mut dyn FnMut(Progress)) -> Outcome {
    match &experiment.plan {
        RunPlan::Batch(plan) => batch(&mut coupled, plan, progress),
        RunPlan::Fixed(cycles) => fixed(&mut coupled, *cycles, progress),
        RunPlan::ToEnd(limit) => to_end(&mut coupled, *limit, progress),
    }
}

/// \[share\] Of the load that is asked for: a network that accepts less is saturated.
const ACCEPTED: f64 = 0.97;

/// True if a network accepted less than [`ACCEPTED`] of what is asked for, and less than chance explains (three standard
/// deviations of the number of packets). `None` if nothing was asked for or measured.
///
/// Where it was empty when measuring began, what fills it counts as accepted: what is on its way at the end, but no more
/// than a network that carries the load holds (Little's law, by the latency in the last batch).
fn saturated(offered: Option<f64>, outcome: &Outcome, packet_phits: u32) -> Option<bool> {
    let asked = offered? * outcome.measured_cycles() as f64 / f64::from(packet_phits);
    let Counts { generated, dropped, injected, received, .. } = outcome.measured.counts;
    // What no route is left for is not asked of the network: as large a share of it as of what was generated.
    let asked = asked * (1.0 - dropped as f64 / generated.max(1) as f64);
    let was_empty = outcome.samples.first().is_some_and(|sample| sample.start == Cycle::FIRST);
    let last = outcome.samples.last().filter(|_| was_empty);
    let latency = last.and_then(|sample| sample.window.latency.moments().mean()).unwrap_or(0.0);
    let carried = asked * latency / outcome.measured_cycles() as f64;
    let filling = (injected.saturating_sub(received) as f64).min(carried);
    let missing = asked - received as f64 - filling;
    (asked > 0.0).then(|| missing > (1.0 - ACCEPTED) * asked && missing > 3.0 * asked.sqrt())
}

/// Warnings that follow from the experiment and its outcome together.
fn add_warnings(experiment: &Experiment, finished: &mut Finished) {
    let mut warnings = experiment.foreseen.clone();
    warnings.append(&mut experiment.router.warnings());
    warnings.append(&mut finished.outcome.warnings);
    let outcome = &finished.outcome;
    match &finished.trace {
        None if outcome.silent_nodes > 0 => {
            let share = 100.0 * outcome.silent_nodes as f64 / outcome.nodes as f64;
            let effect = match finished.shots {
                Some(_) => "they owe nothing in a shot",
                None => "the offered load is lower than --load by that share",
            };
            warnings.push(format!(
                "{} of {} nodes ({share:.1} %) never send under this pattern: {effect}",
                outcome.silent_nodes, outcome.nodes
            ));
        }
        Some(trace) => warnings.extend(trace.report.misfits.warning()),
        None => {}
    }
    if finished.saturated == Some(true) && outcome.failure.is_none() {
        let open = experiment.router.source_queue == SourceQueue::Open;
        warnings.push(format!(
            "saturated: the network accepts less than {ACCEPTED} of the load that is asked for{}",
            if open { "; with an open source delays grow as long as the run lasts" } else { "" }
        ));
    }
    finished.notes.extend(correlation(outcome));
    if let RunPlan::ToEnd(limit) = experiment.plan
        && !outcome.complete
        && outcome.failure.is_none()
        && outcome.cycles >= limit.since(Cycle::FIRST)
    {
        warnings.push(format!("the limit of {} cycles ended the run", outcome.cycles));
    }
    finished.outcome.warnings = warnings;
}

/// A note if batches are not as independent as their confidence interval takes them to be: a correlation of neighbours
/// above two standard errors (Law and Kelton, Simulation Modeling and Analysis, on batch means).
fn correlation(outcome: &Outcome) -> Option<String> {
    const FEWEST: usize = 8;
    let loads: Vec<f64> =
        outcome.samples.iter().map(|sample| sample.window.counts.received as f64 / sample.cycles as f64).collect();
    let delays: Vec<f64> = outcome.samples.iter().filter_map(|sample| sample.window.latency.moments().mean()).collect();
    let limit = 2.0 / (loads.len() as f64).sqrt();
    let found = [("accepted load", loads), ("latency", delays)];
    let (what, value) = found.iter().find_map(|(what, values)| {
        let value = lag1(values).filter(|&value| values.len() >= FEWEST && value > limit)?;
        Some((*what, value))
    })?;
    Some(format!(
        "the batches of {what} are correlated ({value:.2} from one to the next): its confidence interval is too narrow; use \
         a larger --sample-size, or --seeds in a sweep"
    ))
}
