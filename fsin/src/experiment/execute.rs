//! Running an experiment.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use trgen::synthetic::source::{Config, Synthetic};
use trgen::synthetic::{size, spatial, temporal};
use trgen::trace::collectives::NAMES;
use trgen::trace::container::{self, Content};
use trgen::trace::formats::{self, Application, GraphTrace, ReadError, ReadOptions};
use trgen::trace::goal::routed::Routed;
use trgen::trace::kernels;
use trgen::trace::placement::place;
use trgen::trace::program::Program;
use trgen::trace::replay::{Replay, ReplayReport};
use trgen::{Geometry, NodeId, SourceError, TrGen};

use super::resolve::{EngineKind, Experiment, RunPlan, Traffic};
use super::settings::SettingsError;
use crate::couple::Coupled;
use crate::engine::fast::{Fast, MAX_QUEUES};
use crate::engine::reference::Reference;
use crate::network::Network;
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
    /// True if it is known how long tasks were blocked: hosts of graphs wait for many things at once.
    pub blocking: bool,
}

impl TraceFacts {
    fn new(collectives: BTreeMap<&'static str, u64>, report: ReplayReport, blocking: bool) -> Self {
        Self { tasks: report.tasks.len(), collectives, report, blocking }
    }
}

/// A run that has ended, one way or another.
#[derive(Clone, PartialEq, Debug)]
pub struct Finished {
    /// What the network showed.
    pub outcome: Outcome,
    /// What the tasks did, for traces and kernels.
    pub trace: Option<TraceFacts>,
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
        EngineKind::Fast => Box::new(Fast::new(topology, experiment.router.clone()).ok_or_else(|| {
            let what = format!("--engine fast simulates routers of at most {MAX_QUEUES} queues");
            settings.error("engine", what, "use fewer virtual channels, dimensions or injectors, or --engine reference")
        })?),
    };
    let mut finished = match &experiment.traffic {
        Traffic::Synthetic(config) => {
            let mut source = synthetic(experiment, config)?;
            let outcome = run(experiment, &mut source, &mut *network, stop, progress);
            Finished { outcome, trace: None, notes: Vec::new() }
        }
        Traffic::Trace { path, options } => {
            let mut run = |source: &mut dyn TrGen| run(experiment, source, &mut *network, stop, progress);
            match load(path, options)? {
                Loaded::Stored(container) => {
                    let placement = placement(experiment, container.summaries().len(), nodes)?;
                    let replay = Replay::stored(&container, &placement, nodes, experiment.pace);
                    let mut replay = started(experiment, replay, "trace")?.with_protocol(experiment.protocol);
                    let outcome = run(&mut replay);
                    let header = container.header();
                    let facts = TraceFacts::new(container_collectives(header), replay.report(), true);
                    Finished { outcome, trace: Some(facts), notes: header.notes.clone() }
                }
                Loaded::Application(Application::Programs(trace)) => {
                    let mut replay = replay(experiment, trace.program, nodes, "trace")?;
                    let mut outcome = run(&mut replay);
                    outcome.warnings.splice(0..0, trace.warnings);
                    let facts = TraceFacts::new(trace.collectives, replay.report(), true);
                    Finished { outcome, trace: Some(facts), notes: trace.notes }
                }
                Loaded::Application(Application::Graphs(GraphTrace { mut graph, notes, .. })) => {
                    graph.scale_work(experiment.pace.compute_scale);
                    let placement = placement(experiment, graph.ranks().len(), nodes)?;
                    let hosts = Routed::new(graph, experiment.hosts, &placement, nodes, experiment.pace.cycle);
                    let mut hosts = started(experiment, hosts, "trace")?;
                    let outcome = run(&mut hosts);
                    let facts = TraceFacts::new(BTreeMap::new(), hosts.report(), false);
                    Finished { outcome, trace: Some(facts), notes }
                }
            }
        }
        Traffic::Kernel { spec } => {
            let program = kernel(experiment, spec, &geometry)?;
            let mut replay = replay(experiment, program, nodes, "kernel")?;
            let outcome = run(experiment, &mut replay, &mut *network, stop, progress);
            let facts = TraceFacts::new(BTreeMap::new(), replay.report(), true);
            Finished { outcome, trace: Some(facts), notes: Vec::new() }
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
    let placement = placement(experiment, program.tasks.len(), nodes)?;
    let replay = Replay::new(program, &placement, nodes, experiment.pace);
    Ok(started(experiment, replay, key)?.with_protocol(experiment.protocol))
}

/// The node of each task.
fn placement(experiment: &Experiment, tasks: usize, nodes: usize) -> Result<Vec<NodeId>, SettingsError> {
    let settings = experiment.settings();
    let (seed, each) = (experiment.router.seed, experiment.tasks_per_node);
    let used = tasks.div_ceil(each);
    let placed = place(&experiment.placement, used, nodes, seed).map_err(|refusal| {
        let key = if used > nodes { "topology" } else { "placement" };
        settings.refused(key, &refusal)
    })?;
    Ok((0..tasks).map(|task| placed[task / each]).collect())
}

fn started<T>(experiment: &Experiment, source: Result<T, SourceError>, key: &'static str) -> Result<T, SettingsError> {
    source.map_err(|error| experiment.settings().error(key, format!("--{key}: {error}"), "check the trace"))
}

/// A trace, as far as it must be in memory.
enum Loaded {
    /// Programs that are read block by block while they run.
    Stored(container::Reader),
    Application(Application),
}

fn load(path: &Path, options: &ReadOptions) -> Result<Loaded, ReadError> {
    match formats::open_container(path)? {
        Some(container) if container.header().content == Content::Programs => Ok(Loaded::Stored(container)),
        _ => formats::open(path, options).map(Loaded::Application),
    }
}

fn container_collectives(header: &container::Header) -> BTreeMap<&'static str, u64> {
    let known = |name: &String| NAMES.iter().copied().find(|known| known == name).unwrap_or("other");
    header.collectives.iter().map(|(name, calls)| (known(name), *calls)).collect()
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
            "{} messages arrived that no task receives: the trace may be cut or its receive lines read in the wrong order",
            trace.report.unreceived
        )),
        _ => {}
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
