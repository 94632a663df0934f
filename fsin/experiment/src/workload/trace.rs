//! Tasks of a trace: programs, or graphs on hosts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::synthetic::Config;
use trgen::trace::chakra::replay as chakra;
use trgen::trace::chakra::{Dependencies, Trace as ChakraRanks, Work};
use trgen::trace::collectives::NAMES;
use trgen::trace::container::Content;
use trgen::trace::flow::Flow;
use trgen::trace::formats::{self, Application, ChakraTrace, Fault, GraphTrace, ReadOptions};
use trgen::trace::goal::hosts::HostParams;
use trgen::trace::goal::routed::Routed;
use trgen::trace::goal::{Graph, chain};
use trgen::trace::matrix::Matrix;
use trgen::trace::program::{Program, Rounds};
use trgen::trace::replay::{Replay, ReplayReport};
use trgen::trace::timeline::{CollectiveRecord, Timeline};
use trgen::{Geometry, NodeId, TrGen};

use super::programs::{
    application, check_expanded, check_programs, check_ticks, choice_without_rules, phrases, placement, read_options,
    reject_inapplicable, replaying, slow_among, slow_down, started, with_background,
};
use super::{Driven, Driver, Workload, WorkloadFamily, whole_cycle};
use crate::archives;
use crate::conflicts::{RANKS, SKIPS, TASKS, TRACE};
use crate::foreign;
use crate::hosts::{Holds, are_loggops, check_kind, dialect, in_units};
use crate::resolve::Experiment;
use crate::trouble::Trouble;

pub(super) static ROW: WorkloadFamily = WorkloadFamily {
    key: Some("trace"),
    keys: &[TASKS, TRACE, RANKS, SKIPS],
    parse: |request| {
        Ok(Arc::new(Trace {
            path: request.settings.word("trace").into(),
            options: read_options(request)?,
            groups: request.settings.is_set("groups").then(|| request.settings.word("groups").into()),
            beside: request.beside()?,
        }))
    },
};

/// The tasks of a trace.
#[derive(Debug)]
struct Trace {
    /// Path of the trace.
    path: PathBuf,
    /// How the trace is read.
    options: ReadOptions,
    /// Path of the groups of its ranks, if given.
    groups: Option<PathBuf>,
    /// Background traffic of nodes without a task.
    beside: Option<Config>,
}

impl Workload for Trace {
    fn title(&self, _: &dyn Fn(&str) -> String) -> String {
        format!("trace {}", self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy())
    }

    fn understands(&self, key: &str) -> bool {
        ROW.understands(key, self.beside.is_some()) && !(self.beside.is_some() && SKIPS.contains(&key))
    }

    fn has_timeline(&self) -> bool {
        true
    }

    fn sources(&self) -> Option<&Config> {
        self.beside.as_ref()
    }

    fn trace(&self) -> Option<(&Path, &ReadOptions)> {
        Some((&self.path, &self.options))
    }

    fn files(&self) -> Vec<PathBuf> {
        [&self.path].into_iter().chain(&self.groups).cloned().collect()
    }

    fn build(&self, experiment: &Experiment, geometry: &Geometry) -> Result<Driver, Trouble> {
        let driver = driver(experiment, &self.path, &self.options, geometry, self.beside.as_ref());
        driver.map_err(|trouble| of_another_kind(experiment, &self.path, trouble))
    }
}

/// The error of a file that is no trace: it names what takes the file, if that is known.
fn of_another_kind(experiment: &Experiment, path: &Path, trouble: Trouble) -> Trouble {
    let Trouble::Trace(error) = &trouble else { return trouble };
    if !matches!(*error.fault, Fault::UnknownFormat { .. } | Fault::Foreign { .. }) {
        return trouble;
    }
    match foreign::taken_by(path, foreign::Kind::Trace) {
        Some(remedy) => experiment.settings().error("trace", ErrorKind::Malformed, error.to_string(), remedy).into(),
        None => trouble,
    }
}

/// Hosts that execute a graph.
impl Driven for Routed {
    fn source(&mut self) -> &mut dyn TrGen {
        self
    }

    fn report(&self) -> Option<(ReplayReport, bool)> {
        Some((self.report(), false))
    }

    fn flows(&self) -> Option<Vec<Flow>> {
        Some(self.flows().collect())
    }

    fn begin_anew(&mut self) -> bool {
        self.begin_anew();
        true
    }

    fn record(&mut self) {
        self.record();
    }

    fn timeline(&self) -> Option<&Timeline> {
        Some(self.timeline())
    }
}

/// Ranks of a Chakra trace.
impl Driven for chakra::Replay {
    fn source(&mut self) -> &mut dyn TrGen {
        self
    }

    fn report(&self) -> Option<(ReplayReport, bool)> {
        Some((self.report(), false))
    }

    fn flows(&self) -> Option<Vec<Flow>> {
        Some(self.flows())
    }

    fn record(&mut self) {
        self.record();
    }

    fn timeline(&self) -> Option<&Timeline> {
        Some(self.timeline())
    }

    fn collectives(&self) -> Vec<CollectiveRecord> {
        self.records().to_vec()
    }

    fn places(&self) -> Vec<NodeId> {
        self.places().to_vec()
    }
}

/// A setting that does not apply to graphs, and why.
const EAGER: (&str, &str) = ("eager", "is of programs, and this trace is a graph, whose hosts have {hosts} S=BYTES");

/// The same of programs on hosts of graphs.
const EAGER_OF_HOSTS: (&str, &str) = ("eager", "is of replayed programs, and LogGOPS hosts have {hosts} S=BYTES");

/// The same of Chakra traces.
const EAGER_OF_CHAKRA: (&str, &str) =
    ("eager", "is of programs, and this trace is a graph, whose sends end when their message arrives");

/// The traffic source of a trace. Only what must be in memory is read: programs of a container are read block by block
/// while they run.
fn driver(
    experiment: &Experiment,
    path: &Path,
    options: &ReadOptions,
    geometry: &Geometry,
    beside: Option<&Config>,
) -> Result<Driver, Trouble> {
    let nodes = geometry.nodes();
    let on_loggops = are_loggops(experiment.settings());
    let (driven, warnings, notes, collectives) = match formats::open_container(path)? {
        Some(container) if container.header().content == Content::Programs && !on_loggops => {
            check_expanded(experiment, "a container holds them expanded")?;
            reject_inapplicable(experiment, &["trg"], &[])?;
            check_kind(experiment.settings(), Holds::Programs, false)?;
            let header = container.header();
            let mut notes = phrases(header.notes.clone());
            let matrix = || Ok(formats::container_matrix(path, &container)?);
            slow_among(experiment, container.summaries().len(), |_| true)?;
            let placement = placement(experiment, container.summaries().len(), geometry, &matrix, &mut notes)?;
            let replay = Replay::stored(&container, &placement, nodes, experiment.pace);
            let driven = replaying(experiment, started(experiment, replay, "trace")?, &placement, geometry, beside)?;
            let known = |name: &String| NAMES.iter().copied().find(|known| known == name).unwrap_or("other");
            let collectives = header.collectives.iter().map(|(name, calls)| (known(name), *calls)).collect();
            (driven, Vec::new(), notes, collectives)
        }
        _ => match archives::open(path, options)? {
            Application::Programs(trace) => {
                if trace.algorithms.is_empty() {
                    check_expanded(experiment, "this trace has none to expand")?;
                }
                check_programs(experiment, options)?;
                reject_inapplicable(experiment, &[trace.format], if on_loggops { &[EAGER_OF_HOSTS] } else { &[] })?;
                check_kind(experiment.settings(), Holds::Programs, on_loggops)?;
                let mut notes = phrases(trace.notes);
                if on_loggops {
                    let graph = of_programs(experiment, &trace.program)?;
                    let warnings = phrases(trace.warnings);
                    return on_hosts(experiment, graph, geometry, beside, (warnings, notes, trace.collectives));
                }
                let driven = application(
                    experiment,
                    Rounds::once(trace.program),
                    geometry,
                    "trace",
                    beside,
                    (trace.called, &mut notes),
                )?;
                (driven, phrases(trace.warnings), notes, trace.collectives)
            }
            Application::Chakra(ChakraTrace { trace, notes, format }) => {
                let mut notes = phrases(notes);
                let of_eager = if on_loggops { EAGER_OF_HOSTS } else { EAGER_OF_CHAKRA };
                reject_inapplicable(experiment, &[format], &[of_eager])?;
                check_kind(experiment.settings(), Holds::Chakra, on_loggops)?;
                let matrix = || Ok(Matrix::of_chakra(&trace));
                let placement = placement(experiment, trace.ranks.len(), geometry, &matrix, &mut notes)?;
                let calls = calls(&trace);
                let (replay, warnings) = ranks_of(experiment, trace, &placement, nodes)?;
                if on_loggops {
                    let graph = of_ranks(experiment, &replay)?;
                    let hosts = hosts_of(experiment, graph, &placement, (nodes, &mut notes))?;
                    let driven = with_background(experiment, hosts, &placement, geometry, beside)?;
                    return Ok(Driver { driven, warnings, notes, collectives: calls, known: Vec::new() });
                }
                if replay.has_levels() {
                    notes.push(phrase![
                        "collectives of groups with several GPUs in each of several nodes are hierarchical (",
                        ["hosts" => "algorithm=ring"],
                        ": as the others)"
                    ]);
                }
                (with_background(experiment, replay, &placement, geometry, beside)?, warnings, notes, calls)
            }
            Application::Graphs(GraphTrace { graph, notes, format }) => {
                let notes = phrases(notes);
                check_expanded(experiment, "a graph holds them expanded")?;
                reject_inapplicable(experiment, &[format], &[EAGER])?;
                check_kind(experiment.settings(), Holds::Graph, true)?;
                let warnings = interfaces(&graph).map(Phrase::from).into_iter().collect();
                return on_hosts(experiment, graph, geometry, beside, (warnings, notes, BTreeMap::new()));
            }
        },
    };
    Ok(Driver { driven, warnings, notes, collectives, known: Vec::new() })
}

/// Warnings and notes of a trace, and its calls of collectives.
type Remarks = (Vec<Phrase>, Vec<Phrase>, BTreeMap<&'static str, u64>);

/// LogGOPS hosts that execute a graph, in which no time has been scaled yet.
fn on_hosts(
    experiment: &Experiment,
    mut graph: Graph,
    geometry: &Geometry,
    beside: Option<&Config>,
    (warnings, mut notes, collectives): Remarks,
) -> Result<Driver, Trouble> {
    graph.scale_work(experiment.pace.compute_scale);
    slow_down(experiment, &mut graph)?;
    let matrix = || Ok(Matrix::of_graph(&graph));
    let placement = placement(experiment, graph.ranks().len(), geometry, &matrix, &mut notes)?;
    let hosts = hosts_of(experiment, graph, &placement, (geometry.nodes(), &mut notes))?;
    let driven = with_background(experiment, hosts, &placement, geometry, beside)?;
    Ok(Driver { driven, warnings, notes, collectives, known: Vec::new() })
}

/// The hosts of a graph on the nodes of a network.
fn hosts_of(
    experiment: &Experiment,
    graph: Graph,
    placement: &[NodeId],
    (nodes, notes): (usize, &mut Vec<Phrase>),
) -> Result<Routed, Trouble> {
    let HostParams { overhead, gap, overhead_per_byte, rendezvous, ticks, .. } = experiment.hosts;
    let overhead_per_byte = in_units(overhead_per_byte, ticks);
    notes.push(phrase![
        "hosts of the graph: o={overhead} ns, g={gap} ns, O={overhead_per_byte} ns/byte, S={rendezvous} bytes (",
        ["hosts"],
        ")"
    ]);
    notes.extend(dialect(&graph, &experiment.hosts));
    check_ticks(experiment, &graph)?;
    let hosts = Routed::new(graph, experiment.hosts, placement, nodes, whole_cycle(experiment)?);
    Ok(started(experiment, hosts, "trace")?)
}

/// The programs of a trace as a graph.
pub(crate) fn of_programs(experiment: &Experiment, program: &Program) -> Result<Graph, Trouble> {
    let refused = |error| {
        let what = phrase![["trace"], ": LogGOPS hosts execute graphs: {error}"];
        let remedy =
            phrase!["leave out o, g, O, S and streams of ", ["hosts"], ", and replay it over a network of links"];
        experiment.settings().error("trace", ErrorKind::Malformed, what, remedy)
    };
    Ok(chain::graph(program).map_err(refused)?)
}

/// The ranks of a Chakra trace as a graph; their times have been scaled.
pub(crate) fn of_ranks(experiment: &Experiment, ranks: &chakra::Replay) -> Result<Graph, Trouble> {
    let refused = |error| {
        let what = phrase![["trace"], ": LogGOPS hosts execute graphs: {error}"];
        let remedy = phrase!["leave out o, g, O, S and streams of ", ["hosts"], ", and run it on devices"];
        experiment.settings().error("trace", ErrorKind::Malformed, what, remedy)
    };
    Ok(ranks.graph(experiment.hosts.streams).map_err(refused)?)
}

/// Ranks of a Chakra trace on nodes, and the warnings of their times.
pub(crate) fn ranks_of(
    experiment: &Experiment,
    trace: ChakraRanks,
    placement: &[NodeId],
    nodes: usize,
) -> Result<(chakra::Replay, Vec<Phrase>), Trouble> {
    let collectives = choice_without_rules(experiment.settings(), "a Chakra trace")?.unwrap_or_default();
    let warnings = untimed(&trace, &experiment.ranks).into_iter().collect();
    let params = chakra::Params { slow: experiment.slow.clone(), collectives, ..experiment.ranks.clone() };
    let replay = chakra::Replay::new(trace, params, placement, nodes, whole_cycle(experiment)?)
        .map_err(|error| refused(experiment, error))?;
    Ok((replay, warnings))
}

/// A warning where computations have no duration.
fn untimed(trace: &ChakraRanks, params: &chakra::Params) -> Option<Phrase> {
    let count: u64 = (0..trace.ranks.len()).map(|rank| trace.counts(rank).untimed).sum();
    (count > 0 && params.peak.is_none() && params.least == 0).then(|| {
        phrase![
            ("{count} computations have no recorded duration, and take no time; "),
            ["peak" => "RATE"],
            " and ",
            ["memory-bandwidth" => "RATE"],
            " give them one"
        ]
    })
}

/// Number of collectives by name, once for each group.
fn calls(trace: &ChakraRanks) -> BTreeMap<&'static str, u64> {
    let mut calls = BTreeMap::new();
    for (rank, nodes) in (0_u32..).zip(&trace.ranks) {
        for node in nodes {
            if let Work::Collective { kind, group, .. } = node.work
                && trace.groups[group as usize].ranks.first() == Some(&rank)
            {
                *calls.entry(kind.name()).or_default() += 1;
            }
        }
    }
    calls
}

/// The error of a Chakra trace that cannot be executed.
fn refused(experiment: &Experiment, error: chakra::ReplayError) -> Trouble {
    if let chakra::ReplayError::Slow(refusal) = error {
        return experiment.settings().refused("slow", refusal).into();
    }
    if let chakra::ReplayError::Algorithm(what) = error {
        let what = phrase![["collectives"], ": {what}"];
        return experiment
            .settings()
            .error("collectives", ErrorKind::Unsupported, what, "name another algorithm")
            .into();
    }
    let what = phrase![["trace"], ": {error}"];
    let remedy = match error {
        chakra::ReplayError::Dag(_) if experiment.ranks.dependencies == Dependencies::All => phrase![
            ["hosts" => "deps=data"],
            " leaves out dependencies of control, which recorders of Python write for the nesting of calls"
        ],
        chakra::ReplayError::NoSuchRank { .. } => {
            phrase!["give the files of all ranks, or groups of those present by ", ["groups" => "FILE"]]
        }
        _ => "check the trace".into(),
    };
    experiment.settings().error("trace", ErrorKind::Malformed, what, remedy).into()
}

/// A warning where hosts have several network interfaces: a node of the network has one.
fn interfaces(graph: &Graph) -> Option<String> {
    let interfaces = u32::from(graph.highest_resources().1) + 1;
    (interfaces > 1).then(|| {
        format!(
            "the graph names {interfaces} network interfaces of a host (`nic`): g is charged on each of them, but all their \
             messages enter and leave the network at the one node of the host, in their order; several nodes of a \
             network cannot be one host"
        )
    })
}
