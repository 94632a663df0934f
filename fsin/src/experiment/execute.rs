//! Running an experiment.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use trgen::TrGen;
use trgen::synthetic::traffic::Shot;
use trgen::trace::formats::ReadError;
use trgen::trace::replay::ReplayReport;

use super::driver::{Driver, Kind};
use super::resolve::{EngineKind, Experiment, RunPlan};
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
}

/// A run that has ended, one way or another.
#[derive(Clone, PartialEq, Debug)]
pub struct Finished {
    /// What the network showed.
    pub outcome: Outcome,
    /// What the tasks did, for traces and kernels.
    pub trace: Option<TraceFacts>,
    /// How long each shot took, for traffic of shots.
    pub shots: Option<Vec<Shot>>,
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
    let mut network: Box<dyn Network> = match experiment.engine {
        EngineKind::Reference => Box::new(Reference::new(topology, experiment.router.clone())),
        EngineKind::Fast => Box::new(Fast::new(topology, experiment.router.clone()).ok_or_else(|| {
            let what = format!("--engine fast simulates routers of at most {MAX_QUEUES} queues");
            settings.error("engine", what, "use fewer virtual channels, dimensions or injectors, or --engine reference")
        })?),
    };
    let mut driver = Driver::new(experiment, &geometry)?;
    let mut outcome = run(experiment, driver.source(), &mut *network, stop, progress);
    if let Kind::Beside(background) = &driver.kind
        && outcome.completion.is_some()
    {
        // The network empties later, when the traffic beside has arrived too.
        let ends = background.main().report().tasks.into_iter().map(|task| task.finished);
        outcome.completion = ends.max().flatten().map(trgen::Cycle::next);
    }
    let shots = driver.shots().map(<[Shot]>::to_vec);
    outcome.warnings.splice(0..0, std::mem::take(&mut driver.warnings));
    let trace = driver.replay().map(|replay| {
        let report = replay.report();
        TraceFacts { tasks: report.tasks.len(), collectives: driver.collectives.clone(), report }
    });
    let mut finished = Finished { outcome, trace, shots, notes: driver.notes };
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

/// Warnings that follow from the experiment and its outcome together.
fn add_warnings(experiment: &Experiment, finished: &mut Finished) {
    let mut warnings = experiment.router.warnings();
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
