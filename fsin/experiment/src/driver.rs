//! The workload of an experiment: its traffic source, with warnings and notes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::synthetic::source::Config;
use trgen::synthetic::spatial::of_a_grid;
use trgen::synthetic::traffic::{self, Misfit, Shot, Word};
use trgen::synthetic::{Background, Traffic as Synthetic};
use trgen::trace::collectives::NAMES;
use trgen::trace::container::Content;
use trgen::trace::formats::{self, Application, GraphTrace, ReadOptions, unused_options};
use trgen::trace::goal::Graph;
use trgen::trace::goal::hosts::HostParams;
use trgen::trace::goal::routed::Routed;
use trgen::trace::jobs::JobMix;
use trgen::trace::kernels;
use trgen::trace::matrix::Matrix;
use trgen::trace::placement::{self, Descent, Known};
use trgen::trace::program::Program;
use trgen::trace::replay::{Replay, ReplayReport};
use trgen::{Geometry, NodeId, SourceError, TrGen};

use super::execute::Trouble;
use super::hosts::in_units;
use super::jobs::{About, job_mix, together};
use super::resolve::Experiment;
use super::settings::{Origin, SettingsError};
use super::traffic::Traffic;
use fsin_core::topology::Distances;

/// The traffic source of an experiment.
#[derive(Debug)]
pub struct Driver {
    pub(super) kind: Kind,
    /// Warnings for readers of the results.
    pub warnings: Vec<Phrase>,
    /// Notes for readers of the results.
    pub notes: Vec<Phrase>,
    pub(super) collectives: BTreeMap<&'static str, u64>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Synthetic(Box<Synthetic>),
    Application(Box<Replay>),
    /// Hosts that execute a graph.
    Hosts(Box<Routed>),
    /// Applications that arrive one after another.
    Jobs(Box<JobMix>),
    /// An application, and background traffic of nodes without a task.
    Beside(Box<Background<Replay>>),
}

impl Driver {
    /// Builds the source for a network of this shape.
    ///
    /// # Errors
    /// Settings that prove inconsistent, a trace that cannot be read.
    pub fn new(experiment: &Experiment, geometry: &Geometry) -> Result<Self, Trouble> {
        let mut notes = Vec::new();
        let mut driver = Self {
            kind: match &experiment.traffic {
                Traffic::Synthetic(config) => Kind::Synthetic(Box::new(synthetic(experiment, config)?)),
                Traffic::Kernel { spec, beside } => {
                    let program = kernel(experiment, spec, geometry)?;
                    application(experiment, program, geometry, "kernel", beside.as_ref(), &mut notes)?
                }
                Traffic::Jobs { .. } => {
                    let (mix, about) = job_mix(experiment, geometry)?;
                    let About { warnings, notes, collectives, .. } = about;
                    return Ok(Self { kind: Kind::Jobs(Box::new(mix)), warnings, notes, collectives });
                }
                Traffic::Trace { path, options, beside } => {
                    let mut driver = trace(experiment, path, options, geometry, beside.as_ref())?;
                    driver.note_beside();
                    return Ok(driver);
                }
            },
            warnings: Vec::new(),
            notes,
            collectives: BTreeMap::new(),
        };
        driver.note_beside();
        driver.notes.extend(note_on_grids(experiment).map(Phrase::from));
        Ok(driver)
    }

    fn note_beside(&mut self) {
        if let Kind::Beside(_) = self.kind {
            self.notes.push("packets of all figures include those of the traffic beside the application".into());
        }
    }

    /// The source itself.
    pub fn source(&mut self) -> &mut dyn TrGen {
        match &mut self.kind {
            Kind::Synthetic(traffic) => &mut **traffic,
            Kind::Application(replay) => &mut **replay,
            Kind::Hosts(hosts) => &mut **hosts,
            Kind::Jobs(mix) => &mut **mix,
            Kind::Beside(background) => &mut **background,
        }
    }

    /// The report of the application's tasks, if there is one. The flag says whether their blocking times are known:
    /// hosts of graphs wait for many things at once.
    #[must_use]
    pub fn report(&self) -> Option<(ReplayReport, bool)> {
        match &self.kind {
            Kind::Synthetic(_) => None,
            Kind::Application(replay) => Some((replay.report(), true)),
            Kind::Hosts(hosts) => Some((hosts.report(), false)),
            Kind::Jobs(mix) => Some((together(mix.records()), true)),
            Kind::Beside(background) => Some((background.main().report(), true)),
        }
    }

    /// \[phit/cycle\] Offered by all nodes together; `None` without a steady offered load.
    #[must_use]
    pub fn offered(&self) -> Option<f64> {
        match &self.kind {
            Kind::Synthetic(traffic) => traffic.offered(),
            _ => None,
        }
    }

    /// The shots that have ended, for traffic of shots.
    #[must_use]
    pub fn shots(&self) -> Option<&[Shot]> {
        match &self.kind {
            Kind::Synthetic(traffic) => traffic.shots(),
            _ => None,
        }
    }
}

/// A note where grid patterns are used in a network that is not a grid.
fn note_on_grids(experiment: &Experiment) -> Option<String> {
    let Traffic::Synthetic(config) = &experiment.traffic else { return None };
    let names = of_a_grid(&config.pattern);
    let is_switched = experiment.topology().is_some_and(|topology| topology.switched().is_some());
    let meet = is_switched && !names.is_empty();
    meet.then(|| {
        format!(
            "endpoints of a network of switches are one dimension, in the order of their numbers: {} is another pattern there \
             than on a grid of nodes",
            names.join(", ")
        )
    })
}

/// \[nodes\] Maximum size for which kernels are built during a check: larger ones take seconds, and their runs report
/// errors soon enough.
const MOST_CHECKED: usize = 1024;

/// The settings that determine the result of [`check_traffic`].
pub const CHECKED: &[&str] = &[
    "topology",
    "ways",
    "packet",
    "phit-bytes",
    "traffic",
    "temporal",
    "shot",
    "size",
    "load",
    "kernel",
    "tasks-per-node",
    "placement",
];

/// Rejects traffic that cannot be built, before a sweep begins. Traces are not read.
///
/// # Errors
/// The setting that cannot be used.
pub fn check_traffic(experiment: &Experiment) -> Result<(), SettingsError> {
    match &experiment.traffic {
        Traffic::Synthetic(config) => synthetic(experiment, config).map(|_| ()),
        Traffic::Kernel { spec, beside } => {
            let geometry = experiment.geometry();
            if let Some(config) = beside {
                traffic::background(config).map_err(|error| misfit(experiment, &error))?;
            }
            if geometry.nodes() > MOST_CHECKED {
                return Ok(());
            }
            let program = kernel(experiment, spec, geometry)?;
            let tasks = program.tasks.len();
            let used = tasks.div_ceil(experiment.tasks_per_node);
            placement::check(&experiment.placement, used, geometry, experiment.seed)
                .map_err(|refusal| misplaced(experiment, tasks, geometry.nodes(), refusal))
        }
        Traffic::Trace { .. } | Traffic::Jobs { .. } => Ok(()),
    }
}

/// Attributes an error to the setting that it is about.
fn misfit(experiment: &Experiment, misfit: &Misfit) -> SettingsError {
    let settings = experiment.settings();
    let key = match misfit.word {
        Word::Lengths => "packet",
        Word::Pattern => "traffic",
        Word::Size => "size",
        Word::Process if settings.is_set("shot") => "shot",
        Word::Process if settings.is_set("temporal") => "temporal",
        Word::Process => "load",
    };
    settings.refused(key, misfit.refusal.clone())
}

fn synthetic(experiment: &Experiment, config: &Config) -> Result<Synthetic, SettingsError> {
    let settings = experiment.settings();
    let traffic = Synthetic::new(config).map_err(|error| misfit(experiment, &error))?;
    if !traffic.uses_load() && settings.origin("load") == Origin::Flag {
        let what = phrase![["load"], " has no meaning where every source has a load of its own"];
        return Err(settings.error(
            "load",
            ErrorKind::Meaningless,
            what,
            "leave it out, or leave out load= of one source",
        ));
    }
    Ok(traffic)
}

fn kernel(experiment: &Experiment, spec: &str, geometry: &Geometry) -> Result<Program, SettingsError> {
    kernels::parse_seeded(spec, geometry.nodes(), Some(geometry), experiment.seed)
        .map_err(|refusal| experiment.settings().refused("kernel", refusal))
}

fn application(
    experiment: &Experiment,
    program: Program,
    geometry: &Geometry,
    key: &'static str,
    beside: Option<&Config>,
    notes: &mut Vec<Phrase>,
) -> Result<Kind, Trouble> {
    let matrix = || Ok(Matrix::of_program(&program));
    let placement = placement(experiment, program.tasks.len(), geometry, &matrix, notes)?;
    let replay = Replay::new(program, &placement, geometry.nodes(), experiment.pace);
    Ok(replaying(experiment, started(experiment, replay, key)?, &placement, geometry, beside)?)
}

/// A trace, as far as it must be in memory: programs of a container are read block by block while they run.
fn trace(
    experiment: &Experiment,
    path: &Path,
    options: &ReadOptions,
    geometry: &Geometry,
    beside: Option<&Config>,
) -> Result<Driver, Trouble> {
    let nodes = geometry.nodes();
    let (kind, warnings, notes, collectives) = match formats::open_container(path)? {
        Some(container) if container.header().content == Content::Programs => {
            expanded(experiment, "a container holds them expanded")?;
            looked_at(experiment, &["trg"], &[HOSTS])?;
            let header = container.header();
            let mut notes = phrases(header.notes.clone());
            let matrix = || Ok(formats::container_matrix(path, &container)?);
            let placement = placement(experiment, container.summaries().len(), geometry, &matrix, &mut notes)?;
            let replay = Replay::stored(&container, &placement, nodes, experiment.pace);
            let kind = replaying(experiment, started(experiment, replay, "trace")?, &placement, geometry, beside)?;
            let known = |name: &String| NAMES.iter().copied().find(|known| known == name).unwrap_or("other");
            let collectives = header.collectives.iter().map(|(name, calls)| (known(name), *calls)).collect();
            (kind, Vec::new(), notes, collectives)
        }
        _ => match trace_prep::open(path, options)? {
            Application::Programs(trace) => {
                if trace.algorithms.is_empty() {
                    expanded(experiment, "this trace has none to expand")?;
                }
                looked_at(experiment, &[trace.format], &[HOSTS])?;
                let mut notes = phrases(trace.notes);
                let kind = application(experiment, trace.program, geometry, "trace", beside, &mut notes)?;
                (kind, phrases(trace.warnings), notes, trace.collectives)
            }
            Application::Graphs(GraphTrace { mut graph, notes, format }) => {
                let mut notes = phrases(notes);
                expanded(experiment, "a graph holds them expanded")?;
                looked_at(experiment, &[format], &[EAGER])?;
                if beside.is_some() {
                    let what = "`background` is traffic beside programs, and this trace is a graph";
                    return Err(experiment
                        .settings()
                        .error("temporal", ErrorKind::Malformed, what, "leave it out")
                        .into());
                }
                graph.scale_work(experiment.pace.compute_scale);
                let matrix = || Ok(Matrix::of_graph(&graph));
                let placement = placement(experiment, graph.ranks().len(), geometry, &matrix, &mut notes)?;
                let HostParams { overhead, gap, overhead_per_byte, rendezvous, ticks, .. } = experiment.hosts;
                let overhead_per_byte = in_units(overhead_per_byte, ticks);
                notes.push(phrase![
                    "hosts of the graph: o={overhead} ns, g={gap} ns, O={overhead_per_byte} ns/byte, S={rendezvous} \
                     bytes (",
                    ["hosts"],
                    ")"
                ]);
                fits_ticks(experiment, &graph)?;
                let warnings = interfaces(&graph).map(Phrase::from).into_iter().collect();
                let hosts = Routed::new(graph, experiment.hosts, &placement, nodes, experiment.pace.cycle);
                (Kind::Hosts(Box::new(started(experiment, hosts, "trace")?)), warnings, notes, BTreeMap::new())
            }
        },
    };
    Ok(Driver { kind, warnings, notes, collectives })
}

/// Lines that name no settings, as phrases.
pub(super) fn phrases(lines: Vec<String>) -> Vec<Phrase> {
    lines.into_iter().map(Phrase::from).collect()
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

/// Rejects decimals of G and O with which the times of a graph might overflow 64 bits.
pub(super) fn fits_ticks(experiment: &Experiment, graph: &Graph) -> Result<(), SettingsError> {
    let ticks = experiment.hosts.ticks;
    if ticks == 1 || graph.counts().work <= u64::MAX / 4 / ticks {
        return Ok(());
    }
    let what =
        phrase![["hosts"], ": 1/{ticks} ns, which O or G counts in, is too little for the calculations of this graph"];
    Err(experiment.settings().error("hosts", ErrorKind::TooLarge, what, "give O and G fewer decimals"))
}

const HOSTS: (&str, &str) = ("hosts", "are those of a graph, and this trace holds programs");
const EAGER: (&str, &str) = ("eager", "is of programs, and this trace is a graph, whose hosts have {hosts} S=BYTES");

/// Rejects flags that do not apply to traces of these formats, with the reason.
pub(super) fn looked_at(
    experiment: &Experiment,
    formats: &[&str],
    others: &[(&'static str, &'static str)],
) -> Result<(), SettingsError> {
    let settings = experiment.settings();
    let is_flag = |key: &str| settings.origin(key) == Origin::Flag;
    if let Some(&(key, why)) = others.iter().find(|(key, _)| is_flag(key)) {
        return Err(settings.error(
            key,
            ErrorKind::Meaningless,
            phrase![[key], " ", Phrase::of_template(why)],
            "leave it out",
        ));
    }
    let is_unused = |key: &str| formats.iter().all(|format| unused_options(format).any(|(unused, _)| unused == key));
    match formats.iter().flat_map(|format| unused_options(format)).find(|&(key, _)| is_flag(key) && is_unused(key)) {
        Some((key, of)) => {
            let are = if formats.len() == 1 { "this trace is" } else { "these traces are" };
            let what = phrase![[key], (" says how {of} is read, and {are} {}", formats.join(", "))];
            Err(settings.error(key, ErrorKind::Meaningless, what, "leave it out"))
        }
        None => Ok(()),
    }
}

/// Rejects algorithms of collectives where there are none to expand.
pub(super) fn expanded(experiment: &Experiment, why: &str) -> Result<(), SettingsError> {
    let settings = experiment.settings();
    if !settings.is_set("collectives") {
        return Ok(());
    }
    let what = phrase![["collectives"], " chooses algorithms of collectives, and {why}"];
    Err(settings.error("collectives", ErrorKind::Meaningless, what, "leave it out, or import the original with it"))
}

/// The error of an impossible placement of tasks: too few nodes are attributed to the network.
fn misplaced(experiment: &Experiment, tasks: usize, nodes: usize, refusal: SpecError) -> SettingsError {
    let (settings, each) = (experiment.settings(), experiment.tasks_per_node);
    let used = tasks.div_ceil(each);
    if used <= nodes || nodes == 0 {
        return settings.refused("placement", refusal);
    }
    let on_each = if each == 1 { "one task on each".to_owned() } else { format!("{each} on each") };
    let what = phrase![["topology"], ": {tasks} tasks do not fit on {nodes} nodes, {on_each}"];
    let least = tasks.div_ceil(nodes);
    let remedy = phrase!["use a topology of {used} nodes or more, or ", ["tasks-per-node" => least]];
    settings.error("topology", ErrorKind::Conflict, what, remedy)
}

/// The node of each task. The traffic matrix and distances are computed only if the placement uses them.
fn placement(
    experiment: &Experiment,
    tasks: usize,
    geometry: &Geometry,
    matrix: &dyn Fn() -> Result<Matrix, Trouble>,
    notes: &mut Vec<Phrase>,
) -> Result<Vec<NodeId>, Trouble> {
    let spec = &experiment.placement;
    let (seed, each, nodes) = (experiment.seed, experiment.tasks_per_node, geometry.nodes());
    let used = tasks.div_ceil(each);
    let refused = |refusal: SpecError| misplaced(experiment, tasks, nodes, refusal);
    placement::check(spec, used, geometry, seed).map_err(refused)?;
    let known = match placement::looks_at_traffic(spec) {
        true => Some((distances(experiment)?, matrix()?.grouped(each))),
        false => None,
    };
    let known = known.as_ref().map(|(distance, matrix)| Known { matrix, distance });
    let placed = placement::place(spec, used, geometry, seed, known).map_err(refused)?;
    notes.extend(placed.descent.map(told).map(Phrase::from));
    Ok((0..tasks).map(|task| placed.nodes[task / each]).collect())
}

/// Distances for a placement that depends on communication.
pub(super) fn distances(experiment: &Experiment) -> Result<Distances, SettingsError> {
    let placement = &experiment.placement;
    let Some(topology) = experiment.topology() else {
        let what = phrase![["placement" => placement], " looks at distances, and the network has no topology"];
        let remedy = "use another placement, or a topology";
        return Err(experiment.settings().error("placement", ErrorKind::Conflict, what, remedy));
    };
    Distances::many(Arc::clone(topology)).ok_or_else(|| {
        let topology = topology.spec();
        let what =
            phrase![["placement" => placement], ": {topology} has too many switches for a table of their distances"];
        experiment.settings().error(
            "placement",
            ErrorKind::TooLarge,
            what,
            "use another placement, or a smaller network",
        )
    })
}

/// The outcome of a descent, in words.
fn told(descent: Descent) -> String {
    let Descent { rounds, swaps, before, after, local_optimum } = descent;
    let end = if local_optimum { "no exchange makes it less" } else { "its rounds are used up: more may make it less" };
    format!("placement: {swaps} exchanges in {rounds} rounds, from {before} to {after} bytes x hops; {end}")
}

fn started<T>(experiment: &Experiment, source: Result<T, SourceError>, key: &'static str) -> Result<T, SettingsError> {
    source.map_err(|error| {
        experiment.settings().error(key, ErrorKind::Malformed, phrase![[key], ": {error}"], "check the trace")
    })
}

/// A replay by the protocol of the experiment, with background traffic if configured.
fn replaying(
    experiment: &Experiment,
    replay: Replay,
    placement: &[NodeId],
    geometry: &Geometry,
    beside: Option<&Config>,
) -> Result<Kind, SettingsError> {
    let (settings, nodes) = (experiment.settings(), geometry.nodes());
    let replay = replay.with_protocol(experiment.protocol);
    let Some(config) = beside else { return Ok(Kind::Application(Box::new(replay))) };

    let mut busy = vec![false; nodes];
    for node in placement {
        busy[node.index()] = true;
    }
    let idle: Vec<NodeId> = (0..nodes).filter(|&node| !busy[node]).map(NodeId::at).collect();
    let refused =
        |what: String, remedy: &str| settings.refused("temporal", SpecError::new(ErrorKind::Conflict, what, remedy));
    let line = u32::try_from(idle.len()).ok().and_then(|count| Geometry::new(&[count]));
    let Some(line) = line else {
        let what = format!("all {nodes} nodes have a task, and none is left for `background`");
        return Err(refused(what, "use a larger network or fewer tasks, or leave it out"));
    };
    let config = Config { geometry: line, ..config.clone() };
    let traffic = traffic::background(&config).map_err(|error| misfit(experiment, &error))?;
    match Background::new(replay, traffic, idle) {
        Some(background) => Ok(Kind::Beside(Box::new(background))),
        None => Err(refused("`background` does not fit the network".to_owned(), "leave it out")),
    }
}
