//! Applications as traffic sources: programs on nodes, with traffic beside them, and the settings that apply to them.

use std::sync::Arc;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::synthetic::{Background, Config, traffic};
use trgen::trace::chakra::{Group, groups};
use trgen::trace::collectives::Choice;
use trgen::trace::flow::Flow;
use trgen::trace::formats::{ComputeUnit, ReadOptions, unused_options};
use trgen::trace::goal::{Graph, Kind};
use trgen::trace::matrix::Matrix;
use trgen::trace::placement::{Descent, Known, PlacementContext};
use trgen::trace::program::{Event, Program, Rounds};
use trgen::trace::replay::{Replay, ReplayReport, Rule, TimesAlone};
use trgen::trace::timeline::{Called, CollectiveRecord, Timeline};
use trgen::{Cycle, Geometry, NodeId, Picoseconds, SourceError, TrGen};

use super::synthetic::misfit;
use super::{Driven, Request};
use crate::quantity::rate;
use crate::resolve::Experiment;
use crate::settings::{Origin, Settings, SettingsError};
use crate::trouble::Trouble;
use fsin_core::topology::Distances;

/// An application alone.
impl Driven for Replay {
    fn source(&mut self) -> &mut dyn TrGen {
        self
    }

    fn report(&self) -> Option<(ReplayReport, bool)> {
        Some((self.report(), true))
    }

    fn flows(&self) -> Option<Vec<Flow>> {
        Some(self.flows().collect())
    }

    fn completion_alone(&mut self, rule: Rule<'_>) -> Result<Option<Cycle>, SourceError> {
        Self::completion_alone(self, rule)
    }

    fn keep_clocks(&mut self, most: u64, rule: &dyn Fn() -> Option<TimesAlone>) {
        if self.may_keep_clocks(most) {
            self.keep_clocks(rule());
        }
    }

    fn completions_alone(&self) -> Option<(Cycle, Option<Cycle>)> {
        self.completions_alone()
    }

    fn record(&mut self) {
        self.record();
    }

    fn timeline(&self) -> Option<&Timeline> {
        Some(self.timeline())
    }

    fn places(&self) -> Vec<NodeId> {
        self.places()
    }
}

/// An application, and background traffic of nodes without a task.
impl<M: Driven + TrGen> Driven for Background<M> {
    fn source(&mut self) -> &mut dyn TrGen {
        self
    }

    fn report(&self) -> Option<(ReplayReport, bool)> {
        self.main().report()
    }

    fn flows(&self) -> Option<Vec<Flow>> {
        self.main().flows()
    }

    fn has_background(&self) -> bool {
        true
    }

    fn record(&mut self) {
        self.main_mut().record();
    }

    fn timeline(&self) -> Option<&Timeline> {
        self.main().timeline()
    }

    fn collectives(&self) -> Vec<CollectiveRecord> {
        self.main().collectives()
    }

    fn places(&self) -> Vec<NodeId> {
        self.main().places()
    }
}

/// The traffic source of a program: its tasks on their nodes, with traffic beside them if configured.
pub(super) fn application(
    experiment: &Experiment,
    program: Rounds,
    geometry: &Geometry,
    key: &'static str,
    beside: Option<&Config>,
    (called, notes): (Called, &mut Vec<Phrase>),
) -> Result<Box<dyn Driven>, Trouble> {
    check_slow(experiment, &program.first)?;
    let matrix = || Ok(Matrix::of_rounds(&program));
    let placement = placement(experiment, program.first.tasks.len(), geometry, &matrix, notes)?;
    let replay = Replay::in_rounds(program, &placement, geometry.nodes(), experiment.pace);
    let replay = replay.map(|replay| replay.with_calls(Arc::new(called)));
    Ok(replaying(experiment, started(experiment, replay, key)?, &placement, geometry, beside)?)
}

/// Rejects slow tasks that do not exist or compute nothing.
pub(super) fn check_slow(experiment: &Experiment, program: &Program) -> Result<(), SettingsError> {
    let computes = |task: u32| program.tasks[task as usize].iter().any(|event| matches!(event, Event::Compute(_)));
    slow_among(experiment, program.tasks.len(), computes)
}

/// Rejects slow ranks that do not exist or compute nothing.
pub(super) fn slow_among(
    experiment: &Experiment,
    ranks: usize,
    computes: impl Fn(u32) -> bool,
) -> Result<(), SettingsError> {
    experiment.slow.check(ranks, computes).map_err(|refusal| experiment.settings().refused("slow", refusal))
}

/// Makes the calculations of slow ranks of a graph last longer.
pub(crate) fn slow_down(experiment: &Experiment, graph: &mut Graph) -> Result<(), SettingsError> {
    let computes =
        |rank: u32| graph.ranks()[rank as usize].nodes().iter().any(|node| node.kind == Kind::Calc && node.size > 0);
    slow_among(experiment, graph.ranks().len(), computes)?;
    for (rank, factor) in experiment.slow.ranks() {
        graph.scale_work_of(rank as usize..rank as usize + 1, factor);
    }
    Ok(())
}

/// Lines that name no settings, as phrases.
pub(crate) fn phrases(lines: Vec<String>) -> Vec<Phrase> {
    lines.into_iter().map(Phrase::from).collect()
}

/// Rejects decimals of G and O with which the times of a graph might overflow 64 bits.
pub(crate) fn check_ticks(experiment: &Experiment, graph: &Graph) -> Result<(), SettingsError> {
    let ticks = experiment.hosts.ticks;
    if ticks == 1 || graph.counts().work <= u64::MAX / 4 / ticks {
        return Ok(());
    }
    let what =
        phrase![["hosts"], ": 1/{ticks} ns, which O or G counts in, is too little for the calculations of this graph"];
    Err(experiment.settings().error("hosts", ErrorKind::TooLarge, what, "give O and G fewer decimals"))
}

/// Rejects flags that do not apply to traces of these formats, with the reason.
pub(crate) fn reject_inapplicable(
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

/// Rejects settings for the algorithms of collectives where there are no collectives to expand. `why` is the reason.
pub(crate) fn check_expanded(experiment: &Experiment, why: &str) -> Result<(), SettingsError> {
    let settings = experiment.settings();
    if !settings.is_set("collectives") {
        return Ok(());
    }
    let what = phrase![["collectives"], " chooses algorithms of collectives, and {why}"];
    Err(settings.error("collectives", ErrorKind::Meaningless, what, "leave it out, or import the original with it"))
}

/// The algorithms of collectives that the settings name, for ranks that are `of` something without rules of a library.
pub(super) fn choice_without_rules(settings: &Settings, of: &str) -> Result<Option<Choice>, SettingsError> {
    if !settings.is_set("collectives") {
        return Ok(None);
    }
    let choice: Choice = settings.parsed("collectives")?;
    if !choice.has_rules() {
        return Ok(Some(choice));
    }
    let what = phrase![["collectives"], (": mpich and basic are rules for programs of MPI, and this is {of}")];
    let remedy = phrase!["name algorithms alone, such as ", ["collectives" => "all-reduce=double-tree"]];
    Err(settings.error("collectives", ErrorKind::Meaningless, what, remedy))
}

/// Refuses algorithms of collectives that programs do not have.
pub(super) fn check_programs(experiment: &Experiment, options: &ReadOptions) -> Result<(), SettingsError> {
    options.collectives.check_programs().map_err(|refusal| experiment.settings().refused("collectives", refusal))
}

/// The error of an impossible placement of tasks: too few nodes are attributed to the network.
pub(super) fn misplaced(experiment: &Experiment, tasks: usize, nodes: usize, refusal: SpecError) -> SettingsError {
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
pub(super) fn placement(
    experiment: &Experiment,
    tasks: usize,
    geometry: &Geometry,
    matrix: &dyn Fn() -> Result<Matrix, Trouble>,
    notes: &mut Vec<Phrase>,
) -> Result<Vec<NodeId>, Trouble> {
    let (placement, each) = (&experiment.placement, experiment.tasks_per_node);
    let refused = |refusal: SpecError| misplaced(experiment, tasks, geometry.nodes(), refusal);
    let context = PlacementContext { geometry, tasks: tasks.div_ceil(each), seed: experiment.seed };
    placement.check(&context).map_err(refused)?;
    let known = match placement.looks_at_traffic() {
        true => Some((distances(experiment)?, matrix()?.grouped(each))),
        false => None,
    };
    let known = known.as_ref().map(|(distance, matrix)| Known { matrix, distance });
    let placed = placement.place(&context, known).map_err(refused)?;
    notes.extend(placed.descent.map(descent_in_words).map(Phrase::from));
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
fn descent_in_words(descent: Descent) -> String {
    let Descent { rounds, swaps, before, after, local_optimum } = descent;
    let end = if local_optimum { "no exchange makes it less" } else { "its rounds are used up: more may make it less" };
    format!("placement: {swaps} exchanges in {rounds} rounds, from {before} to {after} bytes x hops; {end}")
}

/// The source, or its error as one of the setting `key`.
pub(super) fn started<T>(
    experiment: &Experiment,
    source: Result<T, SourceError>,
    key: &'static str,
) -> Result<T, SettingsError> {
    source.map_err(|error| {
        experiment.settings().error(key, ErrorKind::Malformed, phrase![[key], ": {error}"], "check the trace")
    })
}

/// A replay by the protocol of the experiment, with background traffic if configured.
pub(super) fn replaying(
    experiment: &Experiment,
    replay: Replay,
    placement: &[NodeId],
    geometry: &Geometry,
    beside: Option<&Config>,
) -> Result<Box<dyn Driven>, SettingsError> {
    let replay = replay.with_protocol(experiment.protocol).with_slow(&experiment.slow);
    with_background(experiment, replay, placement, geometry, beside)
}

/// A source of an application, with background traffic if configured.
pub(super) fn with_background<M: Driven + TrGen + 'static>(
    experiment: &Experiment,
    main: M,
    placement: &[NodeId],
    geometry: &Geometry,
    beside: Option<&Config>,
) -> Result<Box<dyn Driven>, SettingsError> {
    let Some(config) = beside else { return Ok(Box::new(main)) };
    let (settings, nodes) = (experiment.settings(), geometry.nodes());
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
    match Background::new(main, traffic, idle) {
        Some(background) => Ok(Box::new(background)),
        None => Err(refused("`background` does not fit the network".to_owned(), "leave it out")),
    }
}

/// The groups of ranks in a file.
fn groups_of(settings: &Settings) -> Result<Vec<Group>, SettingsError> {
    let path = settings.word("groups");
    let fault = |what: String| {
        let remedy = "give a JSON file such as {\"0\": [0, 1], \"1\": [2, 3]}";
        settings.error("groups", ErrorKind::Malformed, phrase![["groups" => path], ": {what}"], remedy)
    };
    let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
    groups::parse(&text).map_err(fault)
}

/// How traces are read.
pub(super) fn read_options(request: &Request<'_>) -> Result<ReadOptions, SettingsError> {
    let Request { settings, pace, .. } = *request;
    let flop_rate = settings.word("flop-rate");
    let flop_rate = rate(flop_rate, "flop").ok_or_else(|| {
        let what = phrase![["flop-rate"], " takes a rate in operations per second, not `{flop_rate}`"];
        settings.error(
            "flop-rate",
            ErrorKind::Malformed,
            what,
            phrase!["write ", ["flop-rate" => "5Gflop/s"], " (prefixes k, M, G, T)"],
        )
    })?;
    let units = [
        ("ns", ComputeUnit::Nanoseconds),
        ("us", ComputeUnit::Microseconds),
        ("ms", ComputeUnit::Milliseconds),
        ("cycles", ComputeUnit::Cycles(Picoseconds(pace.cycle.nearly_whole().unwrap_or(pace.cycle.span(1))))),
    ];
    let compute_unit = settings.choice("trace-unit", &units)?;
    if matches!(compute_unit, ComputeUnit::Cycles(_)) && pace.cycle.nearly_whole().is_none() {
        let what = phrase![["trace-unit" => "cycles"], ": a cycle is no whole number of picoseconds here"];
        return Err(settings.error(
            "trace-unit",
            ErrorKind::Conflict,
            what,
            phrase!["use another ", ["bandwidth"], " or ", ["phit-bytes"]],
        ));
    }
    Ok(ReadOptions {
        flop_rate,
        compute_unit,
        recv_order: settings.parsed("recv-order")?,
        collectives: match settings.is_set("collectives") {
            true => settings.parsed("collectives")?,
            false => Choice::default(),
        },
        groups: match settings.is_set("groups") {
            true => Some(groups_of(settings)?),
            false => None,
        },
        ..ReadOptions::default()
    })
}
