//! Running an experiment: the passes of a run, one after another.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::synthetic::RoundTrips;
use trgen::synthetic::traffic::Shot;
use trgen::trace::jobs::JobRecord;
use trgen::trace::replay::ReplayReport;
use trgen::trace::timeline::{CollectiveRecord, Counter, Timeline};
use trgen::{Cycle, NodeId};

mod jobs;
mod warnings;

use crate::bounds::Bounds;
use crate::collective_links::{Confines, confines};
use crate::details::{MessageTime, message_times};
use crate::energy::{self, counts_of_run, energy_of};
use crate::load_bound::LoadBound;
use crate::plan::RunPlan;
use crate::resolve::Experiment;
use crate::settings::SettingsError;
use crate::trouble::Trouble;
use crate::workload::{Driver, small_packets};
use fsin_core::classes::{Both, ClassCounts};
use fsin_core::couple::{Coupled, Failure, PacketLog};
use fsin_core::family::Unloaded;
use fsin_core::network::{Figures, Measure, Network, PortFigures, QueueFigures, RouterEvents, Settled};
use fsin_core::repetition::Skipped;
use fsin_core::run::{Demand, Outcome, Progress, Steadiness, Warning, batch, fixed, to_end};
use fsin_core::stats::{Details, Keep};
use fsin_core::topology::{Port, Topology};
use fsin_core::watch::Watch;
use fsin_core::words::counted;

/// Measurements of a trace or kernel beside those of the network.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceFacts {
    /// Number of tasks of the application.
    pub tasks: usize,
    /// Calls of collective operations, summed over tasks, by name.
    pub collectives: BTreeMap<&'static str, u64>,
    /// The reports of all tasks.
    pub report: ReplayReport,
    /// True if the blocking times of tasks are known: hosts of graphs wait for many things at once.
    pub blocking: bool,
    /// \[bytes x hops\] Sum over all messages sent, of bytes times hops of minimal routes; `None` for several
    /// applications, and where distances would take too long.
    pub hop_bytes: Option<u128>,
}

/// A job of a mix.
#[derive(Clone, PartialEq, Debug)]
pub struct JobFacts {
    /// Outcome of the job.
    pub record: JobRecord,
    /// \[cycles\] Run time of the job alone on the same nodes of an empty network; `None` if either run did not finish.
    pub alone_cycles: Option<u64>,
    /// \[bytes x hops\] Sum over its messages, of bytes times hops of minimal routes; `None` if the job did not finish,
    /// or distances would take too long.
    pub hop_bytes: Option<u128>,
}

/// A finished run, successful or not.
#[derive(Clone, PartialEq, Debug)]
pub struct Finished {
    /// Outcome of the network.
    pub outcome: Outcome,
    /// The report of the tasks, for traces and kernels.
    pub trace: Option<TraceFacts>,
    /// \[phits/cycle\] Load offered by all nodes together; `None` without an offered load.
    pub offered: Option<f64>,
    /// Whether the network is saturated, and whether the measured state is steady.
    pub steadiness: Steadiness,
    /// Duration of each shot, for traffic of shots.
    pub shots: Option<Vec<Shot>>,
    /// Times from requests to their replies, for traffic of these.
    pub round_trips: Option<RoundTrips>,
    /// \[packets\] By router and port: packets carried during the measurement, `None` where there is no link. For
    /// experiments with `link_loads`.
    pub links: Option<Vec<Vec<Option<u64>>>>,
    /// Notes for readers of the results that are not warnings.
    pub notes: Vec<Phrase>,
    /// Outcome of each job of a mix.
    pub jobs: Option<Vec<JobFacts>>,
    /// Figures that only the network model has.
    pub measures: Vec<(&'static Measure, f64)>,
    /// Figures of each output port, of network models that keep them.
    pub ports: Vec<PortFigures>,
    /// Figures of traffic classes and shared buffers, of networks whose ports have classes.
    pub queues: Option<QueueFigures>,
    /// Lower bounds of the program's completion.
    pub bounds: Option<Bounds>,
    /// What was kept of single nodes and flows.
    pub details: Option<Details>,
    /// The time that each message took which arrived while measuring, where that is kept.
    pub messages: Option<Vec<MessageTime>>,
    /// The collectives of the application, where it has some that are known as such.
    pub collectives: Vec<CollectiveRecord>,
    /// The bounds of each of them.
    pub confines: Vec<Confines>,
    /// What each rank did over time, if that was asked for.
    pub timeline: Timeline,
    /// Counts of events, of runs with a table of energies or that are asked for them.
    pub counts: Option<energy::Counts>,
    /// The energy of these events by the table.
    pub energy: Option<energy::Estimate>,
}

/// Observers of a run.
#[derive(Default)]
pub struct Observers<'a, 'b> {
    /// Observer of the network.
    pub watch: Option<&'a mut dyn Watch>,
    /// Observer of the packets that arrive, ordered by arrival, source, destination and number.
    pub log: Option<PacketLog<'b>>,
    /// Keeps what each rank does over time.
    pub timeline: bool,
    /// Counts events at routers and on links.
    pub events: bool,
}

/// Runs an experiment to its end, or until `stop` becomes true.
///
/// # Errors
/// Settings that prove inconsistent, a trace that cannot be read. Failures during the run are part of the outcome.
pub fn execute(
    experiment: &Experiment,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Finished, Trouble> {
    execute_over(network(experiment)?, experiment, stop, progress, Observers::default())
}

/// Rejects an experiment that [`execute`] or, over an ideal network, [`execute_ideal`](super::execute_ideal) would not
/// begin. Reads the trace, if there is one.
///
/// # Errors
/// As [`execute`].
pub fn check(experiment: &Experiment) -> Result<(), Trouble> {
    if experiment.runs.by_hosts() {
        return super::ideal::check(experiment);
    }
    network(experiment)?;
    Driver::new(experiment, experiment.geometry()).map(|_| ())
}

/// As [`execute`], with `watch` as the observer of the run.
///
/// # Errors
/// As [`execute`].
pub fn execute_watched(
    experiment: &Experiment,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
    watch: &mut dyn Watch,
) -> Result<Finished, Trouble> {
    let observers = Observers { watch: Some(watch), ..Observers::default() };
    execute_over(network(experiment)?, experiment, stop, progress, observers)
}

/// As [`execute`], over a network of this experiment that the caller has built, for example to observe its packets, and
/// with observers.
///
/// # Errors
/// As [`execute`].
pub fn execute_over(
    mut network: Box<dyn Network>,
    experiment: &Experiment,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
    observers: Observers<'_, '_>,
) -> Result<Finished, Trouble> {
    let mut driver = Driver::new(experiment, experiment.geometry())?;
    let kept = Kept::prepare(experiment, &mut driver, &mut *network, &observers);
    let mut classes = experiment.topology().filter(|_| kept.timeline).map(ClassCounts::new);
    let mut outcome =
        simulate(experiment, &mut driver, (&mut *network, classes.as_mut()), observers, (stop, &mut *progress));
    if classes.is_some() && !kept.explains_links(experiment) {
        // No result depends on a timeline.
        outcome.crossings.clear();
    }
    let measured = Measured::of(experiment, &mut *network, &kept, stop);
    outcome.warnings.extend(measured.remarks);
    let trace = application(experiment, &mut driver, &*network, &mut outcome);
    outcome.warnings.splice(0..0, std::mem::take(&mut driver.warnings).into_iter().map(Warning::from));
    // What follows reads the outcome, or simulates something else.
    drop(network);
    let jobs = match driver.driven.jobs() {
        Some(mix) => Some(jobs::compare_with_alone(experiment, mix, stop, progress)?),
        None => None,
    };
    let offered = driver.driven.offered();
    let steadiness = steadiness(experiment, offered, &outcome);
    if matches!(experiment.plan, RunPlan::Batch(_)) && steadiness.is_changing() {
        outcome.converged = Some(false);
    }
    let topology = experiment.topology().filter(|_| experiment.link_loads);
    let links = topology.map(|topology| link_packets(&**topology, &outcome.crossings));
    let collectives = driver.collectives_measured(experiment.pace.cycle);
    let confines =
        confines(experiment, &collectives, &driver.driven.places(), &outcome.crossings, outcome.measured_cycles());
    let counts = match kept.events {
        true => counts_of_run(experiment, &outcome, measured.at_routers.as_deref(), &measured.ports),
        false => None,
    };
    let energy = energy_of_run(experiment, counts.as_ref(), &mut outcome)?;
    let mut finished = Finished {
        counts,
        energy,
        offered,
        steadiness,
        shots: driver.driven.shots().map(<[Shot]>::to_vec),
        round_trips: driver.driven.round_trips().copied(),
        links,
        jobs,
        measures: measured.measures,
        ports: measured.ports,
        queues: measured.queues,
        details: measured.details,
        messages: measured.messages,
        timeline: timeline(experiment, &driver, &collectives, classes.as_ref()),
        collectives,
        confines,
        notes: notes(experiment, &mut driver, &outcome),
        // They may run the program once more, after everything has been read from it.
        bounds: bounds(experiment, &mut driver, trace.as_ref(), &outcome, (&kept, stop))?,
        trace,
        outcome,
    };
    warnings::add(experiment, &mut finished);
    Ok(finished)
}

/// What a run keeps beside its figures.
struct Kept {
    /// Events at routers and on links.
    events: bool,
    /// What each rank does over time.
    timeline: bool,
    /// Paths are chosen by a hash, so that a program may wait for one link: what links carry explains its time.
    by_hash: bool,
}

impl Kept {
    /// Lets the source and the network keep what the experiment, and who observes, want to read afterwards.
    fn prepare(
        experiment: &Experiment,
        driver: &mut Driver,
        network: &mut dyn Network,
        observers: &Observers<'_, '_>,
    ) -> Self {
        if observers.timeline {
            driver.driven.record();
        }
        // Periods of a run that is observed are not skipped. What links carry for an observer is no part of the bounds,
        // or they would depend on who observes.
        let by_hash = experiment.network.chooses_by_hash()
            && matches!(experiment.plan, RunPlan::ToEnd(_))
            && driver.source().round().is_none();
        let events = observers.events || experiment.energy.is_some();
        let kept = Self { events, timeline: observers.timeline, by_hash };
        Bounds::prepare(experiment, &mut *driver.driven);
        if events {
            network.count_events();
        }
        if kept.explains_links(experiment) || kept.timeline && experiment.topology().is_some() {
            network.observe();
        }
        network.recorder_mut().keep(Keep { packets: observers.log.is_some(), ..experiment.keep });
        kept
    }

    /// True if a result depends on what links carried.
    const fn explains_links(&self, experiment: &Experiment) -> bool {
        experiment.link_loads || self.events || self.by_hash
    }
}

/// Couples the source to the network, with its observers, and runs them by the plan.
fn simulate(
    experiment: &Experiment,
    driver: &mut Driver,
    (network, classes): (&mut dyn Network, Option<&mut ClassCounts>),
    observers: Observers<'_, '_>,
    (stop, progress): (&AtomicBool, &mut dyn FnMut(Progress)),
) -> Outcome {
    let mut coupled = Coupled::new(driver.source(), network, stop);
    if let Some(log) = observers.log {
        coupled = coupled.logged(log);
    }
    let mut both;
    let watch: Option<&mut dyn Watch> = match (observers.watch, classes) {
        (Some(watch), Some(classes)) => {
            both = Both(watch as &mut dyn Watch, classes);
            Some(&mut both)
        }
        (None, Some(classes)) => Some(classes),
        (Some(watch), None) => Some(watch as &mut dyn Watch),
        (None, None) => None,
    };
    if let Some(watch) = watch {
        coupled = coupled.watched(watch);
    }
    run(experiment, coupled, progress)
}

/// What the network measured, beside the outcome.
struct Measured {
    measures: Vec<(&'static Measure, f64)>,
    ports: Vec<PortFigures>,
    queues: Option<QueueFigures>,
    /// Events of each router, if they are counted.
    at_routers: Option<Vec<RouterEvents>>,
    /// What a reader of the figures must know.
    remarks: Vec<Warning>,
    details: Option<Details>,
    messages: Option<Vec<MessageTime>>,
}

impl Measured {
    fn of(experiment: &Experiment, network: &mut dyn Network, kept: &Kept, stop: &AtomicBool) -> Self {
        let Settled { recorder, figures, .. } = network.settled();
        let details = recorder.details().cloned();
        let timed = details.as_ref().filter(|details| details.keep().messages);
        Self {
            measures: figures.map(Figures::measures).unwrap_or_default(),
            ports: figures.map(Figures::ports).unwrap_or_default(),
            queues: figures.and_then(Figures::queues),
            at_routers: figures.filter(|_| kept.events).and_then(Figures::events),
            remarks: figures.into_iter().flat_map(Figures::remarks).map(Warning::from).collect(),
            messages: timed.map(|details| message_times(experiment, details, stop)),
            details,
        }
    }
}

/// The facts of the application, if there is one. Completes the outcome by them: when it ended, whether all its
/// messages were received.
fn application(
    experiment: &Experiment,
    driver: &mut Driver,
    network: &dyn Network,
    outcome: &mut Outcome,
) -> Option<TraceFacts> {
    let (report, blocking) = driver.driven.report()?;
    if driver.driven.has_background() && outcome.completion.is_some() {
        // The network empties later, when the background traffic has arrived too.
        let ends = report.tasks.iter().map(|task| task.finished);
        outcome.completion = ends.max().flatten().map(|end| network.instant(end.next()));
    }
    fail_if_unmatched(outcome, &report);
    Some(TraceFacts {
        tasks: report.tasks.len(),
        collectives: driver.collectives.clone(),
        report,
        blocking,
        hop_bytes: jobs::hop_bytes_of_application(experiment, &*driver.driven),
    })
}

/// What each rank did over time, and what links of each class carried meanwhile.
fn timeline(
    experiment: &Experiment,
    driver: &Driver,
    collectives: &[CollectiveRecord],
    classes: Option<&ClassCounts>,
) -> Timeline {
    let mut timeline = driver.driven.timeline().cloned().unwrap_or_default();
    if !driver.known.is_empty() {
        timeline.add_collectives(collectives);
    }
    timeline.add_counters(classes.map_or_else(Vec::new, |classes| counters(experiment, classes)));
    timeline
}

/// Notes for readers of the results.
fn notes(experiment: &Experiment, driver: &mut Driver, outcome: &Outcome) -> Vec<Phrase> {
    let mut notes = std::mem::take(&mut driver.notes);
    notes.extend(driver.driven.flows().and_then(|flows| small_packets(experiment, &flows)));
    notes.extend(greatest_scale(experiment));
    // What was dropped or taken otherwise than written concerns every figure on this network.
    let understood = experiment.topology().and_then(|topology| topology.switched()?.understood());
    notes.extend(understood.map(|understood| understood.remarks()).unwrap_or_default().into_iter().map(Phrase::from));
    notes.extend(outcome.skipped.filter(|skipped| skipped.periods > 0).map(skipped_in_words));
    notes
}

/// The energy of the events of a run, with a table of energies. What the table lacks becomes a warning.
fn energy_of_run(
    experiment: &Experiment,
    counts: Option<&energy::Counts>,
    outcome: &mut Outcome,
) -> Result<Option<energy::Estimate>, Trouble> {
    let Some(named) = &experiment.energy else { return Ok(None) };
    let placed = |error| Trouble::from(experiment.settings().placed("energy", error));
    let energy = energy_of(named, counts).map_err(placed)?;
    outcome.warnings.extend(energy.warnings.iter().map(|text| Warning::from(Phrase::from(text.clone()))));
    Ok(Some(energy))
}

/// Lower bounds of the completion of a program that has come to its end.
fn bounds(
    experiment: &Experiment,
    driver: &mut Driver,
    trace: Option<&TraceFacts>,
    outcome: &Outcome,
    (kept, stop): (&Kept, &AtomicBool),
) -> Result<Option<Bounds>, Trouble> {
    let Some(completion) = outcome.completion.filter(|_| outcome.complete) else { return Ok(None) };
    let tasks = trace.iter().flat_map(|trace| &trace.report.tasks);
    let sent = tasks.map(|task| task.sent_point_to_point + task.sent_collective).sum();
    let crossings = if kept.by_hash { &outcome.crossings[..] } else { &[] };
    Bounds::of(experiment, &mut *driver.driven, completion.0, sent, crossings, stop)
}

/// What the links of each class carried, each packet as a full one.
fn counters(experiment: &Experiment, classes: &ClassCounts) -> Vec<Counter> {
    let (clock, bytes) = (experiment.pace.cycle, experiment.units.packet_bytes());
    let sample = |(at, packets): (u64, u64)| (clock.span(Cycle(at).since(Cycle::FIRST)), packets.saturating_mul(bytes));
    let counter = |(name, samples): (&str, Vec<(u64, u64)>)| Counter {
        name: name.to_owned(),
        samples: samples.into_iter().map(sample).collect(),
    };
    classes.counts().into_iter().map(counter).collect()
}

/// What was not simulated, in words.
fn skipped_in_words(skipped: Skipped) -> Phrase {
    let Skipped { periods, cycles } = skipped;
    let each = counted((cycles / periods) as usize, "cycle", "cycles");
    phrase![
        (
            "the run repeats itself exactly: {} of {each} were not simulated; ",
            counted(periods as usize, "period", "periods")
        ),
        ["no-skip"],
        " simulates them"
    ]
}

/// Marks a run as failed if every task ended and some message or receive is unmatched. The recorded program would not
/// have ended like that; with sends that wait for their receiver, the run would not end here either.
fn fail_if_unmatched(outcome: &mut Outcome, report: &ReplayReport) {
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

/// A note on the largest factor of stated demands that the links admit, if a factor is given.
fn greatest_scale(experiment: &Experiment) -> Option<Phrase> {
    let settings = experiment.settings();
    if !settings.is_set("scale") {
        return None;
    }
    let (factor, load) = (settings.number("scale").ok()?, settings.number("load").ok()?);
    let bound = LoadBound::of(experiment)?;
    let greatest = factor * bound.load / load;
    let by = bound.by;
    Some(
        phrase![["scale" => factor], (": links admit {greatest:.4} times the demands at most, whatever the routing ({by})")],
    )
}

/// \[packets\] By router and port: packets carried, of the counts of an [`Outcome`]; `None` where there is no link.
#[must_use]
pub fn link_packets(topology: &dyn Topology, crossings: &[u64]) -> Vec<Vec<Option<u64>>> {
    let outputs = topology.outputs();
    // A run that ended before the measurement has no counts.
    let crossed =
        |node: NodeId, port: Port| crossings.get(outputs.at(node.index(), port.index())).copied().unwrap_or(0);
    let link = |node: NodeId, port: Port| topology.neighbour(node, port).map(|_| crossed(node, port));
    let nodes = (0..topology.nodes()).map(NodeId::at);
    nodes.map(|node| topology.ports_of(node).map(|port| link(node, port)).collect()).collect()
}

/// The network of an experiment, empty.
///
/// # Errors
/// Settings of the model that prove inconsistent.
pub fn network(experiment: &Experiment) -> Result<Box<dyn Network>, SettingsError> {
    experiment.network.build().map_err(|refusal| {
        let key = refusal.setting().unwrap_or("network");
        experiment.settings().placed(key, refusal)
    })
}

/// Runs a coupled source and network by the plan of the experiment.
pub(super) fn run(experiment: &Experiment, mut coupled: Coupled<'_>, progress: &mut dyn FnMut(Progress)) -> Outcome {
    if experiment.skips {
        coupled = coupled.skipping(experiment.has_digest);
    }
    match &experiment.plan {
        RunPlan::Batch(plan) => batch(&mut coupled, plan, progress),
        RunPlan::Fixed(cycles) => fixed(&mut coupled, *cycles, progress),
        RunPlan::ToEnd(limit) => to_end(&mut coupled, *limit, progress),
    }
}

/// Tests of the measured time for saturation and for a steady state.
fn steadiness(experiment: &Experiment, offered: Option<f64>, outcome: &Outcome) -> Steadiness {
    let demand = offered.filter(|&offered| offered > 0.0).map(|offered| Demand {
        packets_per_cycle: offered / f64::from(experiment.units.packet_phits),
        throttled: experiment.throttled,
        from_empty: outcome.samples.first().is_some_and(|sample| sample.start == Cycle::FIRST),
        unloaded: experiment.unloaded.unwrap_or(Unloaded::shared(0)),
    });
    Steadiness::of(&outcome.intervals, experiment.units.packet_phits, demand)
}
