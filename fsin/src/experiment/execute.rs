//! Running an experiment.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use trgen::synthetic::source::{Config, Synthetic};
use trgen::synthetic::{size, spatial, temporal};
use trgen::trace::formats::{self, ReadError};
use trgen::trace::kernels;
use trgen::trace::placement::place;
use trgen::trace::program::Program;
use trgen::trace::replay::{Replay, ReplayReport};
use trgen::{Geometry, TrGen};

use super::resolve::{EngineKind, Experiment, RunPlan, Traffic};
use super::settings::SettingsError;
use crate::couple::Coupled;
use crate::engine::fast::{self, MAX_QUEUES};
use crate::engine::reference::Reference;
use crate::network::Network;
use crate::router::SourceQueue;
use crate::run::{Outcome, Progress, batch, fixed, to_end};
use crate::topology;

/// Why an experiment could not begin.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// A setting cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] ReadError),
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
    /// What a reader of the figures may want to know, without being a warning.
    pub notes: Vec<String>,
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
    let settings = &experiment.settings();
    let topology = topology::parse(&experiment.topology, experiment.ways)
        .map_err(|refusal| settings.refused("topology", &refusal))?;
    let geometry = topology.geometry().clone();
    let nodes = topology.nodes();
    let mut network: Box<dyn Network> = match experiment.engine {
        EngineKind::Reference => Box::new(Reference::new(topology, experiment.router.clone())),
        EngineKind::Fast => fast::build(topology, experiment.router.clone(), experiment.threads).ok_or_else(|| {
            let what = format!("--engine fast simulates routers of at most {MAX_QUEUES} queues");
            settings.error("engine", what, "use fewer virtual channels, dimensions or injectors, or --engine reference")
        })?,
    };
    let mut finished = match &experiment.traffic {
        Traffic::Synthetic(config) => {
            let mut source = synthetic(experiment, config)?;
            let outcome = run(experiment, &mut source, &mut *network, stop, progress);
            let saturated = saturated(config, &outcome, experiment.router.packet_phits);
            Finished { outcome, trace: None, saturated, notes: Vec::new() }
        }
        Traffic::Trace { path, options } => {
            let trace = formats::read(path, options)?;
            let mut replay = replay(experiment, trace.program, nodes, "trace")?;
            let mut outcome = run(experiment, &mut replay, &mut *network, stop, progress);
            outcome.warnings.splice(0..0, trace.warnings);
            let facts = TraceFacts {
                tasks: replay.report().tasks.len(),
                collectives: trace.collectives,
                report: replay.report(),
            };
            Finished { outcome, trace: Some(facts), saturated: None, notes: trace.notes }
        }
        Traffic::Kernel { spec } => {
            let program = kernel(experiment, spec, &geometry)?;
            let mut replay = replay(experiment, program, nodes, "kernel")?;
            let outcome = run(experiment, &mut replay, &mut *network, stop, progress);
            let report = replay.report();
            let facts = TraceFacts { tasks: report.tasks.len(), collectives: BTreeMap::new(), report };
            Finished { outcome, trace: Some(facts), saturated: None, notes: Vec::new() }
        }
    };
    add_warnings(experiment, &mut finished);
    Ok(finished)
}

fn run(
    experiment: &Experiment,
    source: &mut dyn TrGen,
    network: &mut dyn Network,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Outcome {
    let mut coupled = Coupled::new(source, network, stop);
    match &experiment.plan {
        RunPlan::Batch(plan) => batch(&mut coupled, plan, progress),
        RunPlan::Fixed(cycles) => fixed(&mut coupled, *cycles, progress),
        RunPlan::ToEnd(limit) => to_end(&mut coupled, *limit, progress),
    }
}

/// The synthetic source, part by part, so that a refusal names the setting that it is about.
fn synthetic(experiment: &Experiment, config: &Config) -> Result<Synthetic, SettingsError> {
    let settings = experiment.settings();
    let law = size::parse(&config.size, config.packet_phits).map_err(|refusal| settings.refused("size", &refusal))?;
    let pattern = spatial::parse(&config.pattern, &config.geometry, config.seed)
        .map_err(|refusal| settings.refused("traffic", &refusal))?;
    let site =
        temporal::Site { nodes: config.geometry.nodes(), load: config.load, mean_phits: law.mean(), seed: config.seed };
    let key = if settings.is_set("temporal") { "temporal" } else { "load" };
    let process = temporal::parse(&config.process, site).map_err(|refusal| settings.refused(key, &refusal))?;
    Ok(Synthetic::from_parts(pattern, process, law, config.phit_bytes, config.mode, config.seed))
}

fn kernel(experiment: &Experiment, spec: &str, geometry: &Geometry) -> Result<Program, SettingsError> {
    kernels::parse(spec, geometry.nodes(), Some(geometry))
        .map_err(|refusal| experiment.settings().refused("kernel", &refusal))
}

fn replay(experiment: &Experiment, program: Program, nodes: usize, key: &'static str) -> Result<Replay, SettingsError> {
    let settings = experiment.settings();
    let tasks = program.tasks.len();
    let placement = place(&experiment.placement, tasks, nodes, experiment.router.seed).map_err(|refusal| {
        let key = if tasks > nodes { "topology" } else { "placement" };
        settings.refused(key, &refusal)
    })?;
    Replay::new(program, &placement, nodes, experiment.pace)
        .map_err(|error| settings.error(key, format!("--{key}: {error}"), "check the trace"))
}

/// \[share\] Of the load that is asked for: a network that accepts less is saturated.
const ACCEPTED: f64 = 0.97;

/// True if a network accepted less than [`ACCEPTED`] of what is asked for, beyond what chance explains (three standard
/// deviations of the number of packets). `None` if nothing was asked for or measured.
fn saturated(config: &Config, outcome: &Outcome, packet_phits: u32) -> Option<bool> {
    let sending = (outcome.nodes - outcome.silent_nodes) as f64;
    let asked = config.load * sending * outcome.measured_cycles() as f64 / f64::from(packet_phits);
    let accepted = outcome.measured.counts.received as f64;
    (asked > 0.0).then(|| accepted < ACCEPTED * asked - 3.0 * asked.sqrt())
}

/// Warnings that follow from the experiment and its outcome together.
fn add_warnings(experiment: &Experiment, finished: &mut Finished) {
    let mut warnings = experiment.router.warnings();
    warnings.append(&mut finished.outcome.warnings);
    let outcome = &finished.outcome;
    match &finished.trace {
        None if outcome.silent_nodes > 0 => {
            let share = 100.0 * outcome.silent_nodes as f64 / outcome.nodes as f64;
            warnings.push(format!(
                "{} of {} nodes ({share:.1} %) never send under this pattern: the offered load is lower than --load by \
                 that share",
                outcome.silent_nodes, outcome.nodes
            ));
        }
        Some(trace) if outcome.complete && trace.report.unreceived > 0 => warnings.push(format!(
            "{} arrived that no task receives: the trace may be cut or its receive lines read in the wrong order",
            match trace.report.unreceived {
                1 => "1 message".to_owned(),
                many => format!("{many} messages"),
            }
        )),
        _ => {}
    }
    if finished.saturated == Some(true) && outcome.failure.is_none() {
        let open = experiment.router.source_queue == SourceQueue::Open;
        warnings.push(format!(
            "saturated: the network accepts less than {ACCEPTED} of the load that is asked for{}",
            if open { "; with an open source delays grow as long as the run lasts" } else { "" }
        ));
    }
    if let RunPlan::ToEnd(limit) = experiment.plan
        && !outcome.complete
        && outcome.failure.is_none()
        && outcome.cycles >= limit.since(trgen::Cycle::FIRST)
    {
        warnings.push(format!("the limit of {} cycles ended the run", outcome.cycles));
    }
    finished.outcome.warnings = warnings;
}
