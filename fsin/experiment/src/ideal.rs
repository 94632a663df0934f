//! A trace over an ideal (LogGOPS) network: no router, no cycles, host times only.

use std::sync::atomic::{AtomicBool, Ordering};

use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::trace::formats::Application;
use trgen::trace::goal::hosts::Remains;
use trgen::trace::goal::ideal::{self, Execution};
use trgen::trace::goal::{Graph, chain};
use trgen::trace::replay::SHOWN;
use trgen::{Cycle, NodeId, Wait, WaitCause};

use super::archives;
use super::hosts::{self, Holds};
use super::resolve::{Experiment, Runs};
use super::trouble::Trouble;
use super::workload::{check_expanded, check_ticks, of_ranks, phrases, ranks_of, reject_inapplicable, slow_down};
use fsin_core::couple::Failure;

/// Outcome of an execution over an ideal network.
#[derive(Clone, PartialEq, Debug)]
pub struct IdealRun {
    /// Times and unfinished work.
    pub execution: Execution,
    /// Number of messages of the graph.
    pub messages: u64,
    /// \[bytes\] Size of these messages.
    pub message_bytes: u64,
    /// False if the user stopped the execution.
    pub complete: bool,
    /// Notes on the reader's interpretation of the trace.
    pub notes: Vec<Phrase>,
    /// Warnings for readers of the results.
    pub warnings: Vec<Phrase>,
}

impl IdealRun {
    /// Why a completed execution is not a success.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        let Remains { unstarted, unserved, unreceived, waits } = &self.execution.remains;
        let count = unserved + unreceived;
        if self.execution.is_past_end {
            return Some(Failure::ClockEnd { at: Cycle::LAST });
        }
        match (self.complete, unstarted, count) {
            (false, ..) | (true, 0, 0) => None,
            (true, 0, _) => Some(Failure::Unmatched { count, shown: waits.iter().take(SHOWN).cloned().collect() }),
            _ => {
                let waits = waits.iter().cloned().map(|text| Wait { cause: WaitCause::Message, text });
                Some(Failure::Stuck { waits: waits.collect() })
            }
        }
    }
}

/// Executes the trace of an experiment over its ideal network: a message arrives L after it has left. Programs become
/// graphs. Reports events to `progress`.
///
/// # Errors
/// An experiment without trace or ideal network, a trace that cannot be read or that is not a graph.
pub fn execute_ideal(
    experiment: &Experiment,
    stop: &AtomicBool,
    timeline: bool,
    progress: &mut dyn FnMut(u64),
) -> Result<IdealRun, Trouble> {
    let Ready { graph, latency, notes, mut warnings } = prepare(experiment)?;
    let counts = graph.counts();
    let mut complete = true;
    let execution = ideal::execute_recorded(graph, experiment.hosts, latency, timeline, &mut |events| {
        progress(events);
        complete = !stop.load(Ordering::Relaxed);
        complete
    });
    warnings.extend(execution.misfits.warning().map(Phrase::from));
    Ok(IdealRun { execution, messages: counts.sends, message_bytes: counts.bytes, complete, notes, warnings })
}

/// An execution that can begin.
struct Ready {
    /// The graph to execute.
    graph: Graph,
    /// \[ns\] L of the network.
    latency: u64,
    /// Notes on the reader's interpretation of the trace.
    notes: Vec<Phrase>,
    /// Warnings for readers of the results.
    warnings: Vec<Phrase>,
}

/// Rejects what [`execute_ideal`] would not begin.
///
/// # Errors
/// As [`execute_ideal`].
pub(super) fn check(experiment: &Experiment) -> Result<(), Trouble> {
    prepare(experiment).map(|_| ())
}

/// Reads the trace, and prepares its execution.
fn prepare(experiment: &Experiment) -> Result<Ready, Trouble> {
    let settings = experiment.settings();
    let (Some((path, options)), Runs::Hosts(wire)) = (experiment.workload.trace(), experiment.runs) else {
        return Err(settings
            .error(
                "network",
                ErrorKind::Conflict,
                phrase![["network" => experiment.model.component.name], " takes a trace"],
                phrase!["give ", ["trace" => "FILE"]],
            )
            .into());
    };
    let (mut graph, mut notes, warnings) = match archives::open(path, options)? {
        Application::Graphs(trace) => {
            check_expanded(experiment, "a graph holds them expanded")?;
            reject_inapplicable(experiment, &[trace.format], &[])?;
            hosts::check_kind(settings, Holds::Graph, true)?;
            (trace.graph, phrases(trace.notes), Vec::new())
        }
        Application::Chakra(trace) => {
            let format = trace.format;
            reject_inapplicable(experiment, &[format], &[])?;
            hosts::check_kind(settings, Holds::Chakra, true)?;
            let places: Vec<NodeId> = (0..trace.trace.ranks.len()).map(NodeId::at).collect();
            let (ranks, warnings) = ranks_of(experiment, trace.trace, &places, places.len())?;
            let graph = of_ranks(experiment, &ranks)?;
            check_ticks(experiment, &graph)?;
            let notes = phrases(trace.notes);
            return Ok(Ready { graph, latency: wire.latency, notes, warnings });
        }
        Application::Programs(trace) => {
            if trace.algorithms.is_empty() {
                check_expanded(experiment, "this trace has none to expand")?;
            }
            reject_inapplicable(experiment, &[trace.format], &[])?;
            hosts::check_kind(settings, Holds::Programs, true)?;
            let graph = chain::graph(&trace.program).map_err(|error| {
                let what = phrase![["network" => experiment.model.component.name], ": {error}"];
                settings.error("network", ErrorKind::Malformed, what, "replay this trace over the router")
            })?;
            (graph, phrases(trace.notes), phrases(trace.warnings))
        }
    };
    graph.scale_work(experiment.pace.compute_scale);
    slow_down(experiment, &mut graph)?;
    check_ticks(experiment, &graph)?;
    notes.extend(hosts::dialect(&graph, &experiment.hosts));
    Ok(Ready { graph, latency: wire.latency, notes, warnings })
}
