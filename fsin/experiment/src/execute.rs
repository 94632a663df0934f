//! Running an experiment.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::synthetic::RoundTrips;
use trgen::synthetic::traffic::Shot;
use trgen::trace::jobs::{Job, JobMix, JobRecord};
use trgen::trace::matrix::Matrix;
use trgen::trace::placement::hop_bytes;
use trgen::trace::program::Program;
use trgen::trace::replay::{Replay, ReplayReport};
use trgen::trace::timeline::{CollectiveRecord, Counter, Timeline};
use trgen::{Cycle, NodeId};

use super::bounds::Bounds;
use super::collective_links::{Confines, confines};
use super::details::{MessageTime, message_times};
use super::energy::{self, counts_of_run, energy_of};
use super::load_bound::LoadBound;
use super::plan::RunPlan;
use super::resolve::Experiment;
use super::settings::SettingsError;
use super::trouble::Trouble;
use super::workload::{Driven, Driver, small_packets};
use fsin_core::classes::{Both, ClassCounts};
use fsin_core::couple::{Coupled, Failure, PacketLog};
use fsin_core::family::Unloaded;
use fsin_core::network::{Figures, Measure, Network, PortFigures, QueueFigures, Settled};
use fsin_core::repetition::Skipped;
use fsin_core::run::{
    DRIFT, Demand, Outcome, Progress, SHORTFALL, Saturation, Steadiness, Verdict, Warning, WarningKind, batch, fixed,
    to_end,
};
use fsin_core::stats::{Counts, Details, Estimate, Keep};
use fsin_core::topology::{Distances, Port, Topology};
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
    let Observers { watch, log, timeline, events } = observers;
    let mut driver = Driver::new(experiment, experiment.geometry())?;
    if timeline {
        driver.driven.record();
    }
    // Where paths are chosen by a hash, a program may wait for one link: what links carry explains its time. Periods of
    // a run that is observed are not skipped. What links carry for an observer is no part of the bounds, or they would
    // depend on who observes.
    let explains = experiment.network.chooses_by_hash()
        && matches!(experiment.plan, RunPlan::ToEnd(_))
        && driver.source().round().is_none();
    Bounds::prepare(experiment, &mut *driver.driven);
    let counts_events = events || experiment.energy.is_some();
    if counts_events {
        network.count_events();
    }
    let mut classes = experiment.topology().filter(|_| timeline).map(ClassCounts::new);
    if experiment.link_loads || counts_events || explains || classes.is_some() {
        network.observe();
    }
    network.recorder_mut().keep(Keep { packets: log.is_some(), ..experiment.keep });
    let mut coupled = Coupled::new(driver.source(), &mut *network, stop);
    if let Some(log) = log {
        coupled = coupled.logged(log);
    }
    let mut both;
    let watch: Option<&mut dyn Watch> = match (watch, &mut classes) {
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
    let mut outcome = run(experiment, coupled, progress);
    if classes.is_some() && !(experiment.link_loads || counts_events || explains) {
        // No result depends on a timeline.
        outcome.crossings.clear();
    }
    let Settled { recorder, figures, .. } = network.settled();
    let measures = figures.map(Figures::measures).unwrap_or_default();
    let ports = figures.map(Figures::ports).unwrap_or_default();
    let queues = figures.and_then(Figures::queues);
    let at_routers = figures.filter(|_| counts_events).and_then(Figures::events);
    outcome.warnings.extend(figures.into_iter().flat_map(Figures::remarks).map(Warning::from));
    let details = recorder.details().cloned();
    let timed = details.as_ref().filter(|details| details.keep().messages);
    let messages = timed.map(|details| message_times(experiment, details, stop));
    let report = driver.driven.report();
    if let Some((report, _)) = &report
        && driver.driven.has_background()
        && outcome.completion.is_some()
    {
        // The network empties later, when the background traffic has arrived too.
        let ends = report.tasks.iter().map(|task| task.finished);
        outcome.completion = ends.max().flatten().map(|end| network.instant(end.next()));
    }
    if let Some((report, _)) = &report {
        fail_if_unmatched(&mut outcome, report);
    }
    let shots = driver.driven.shots().map(<[Shot]>::to_vec);
    let round_trips = driver.driven.round_trips().copied();
    outcome.warnings.splice(0..0, std::mem::take(&mut driver.warnings).into_iter().map(Warning::from));
    let trace = report.map(|(report, blocking)| TraceFacts {
        tasks: report.tasks.len(),
        collectives: driver.collectives.clone(),
        report,
        blocking,
        hop_bytes: hop_bytes_of_application(experiment, &*driver.driven),
    });
    let jobs = match driver.driven.jobs() {
        Some(mix) => Some(compare_jobs_with_alone(experiment, mix, stop, progress)?),
        None => None,
    };
    let offered = driver.driven.offered();
    let steadiness = steadiness(experiment, offered, &outcome);
    let is_batch = matches!(experiment.plan, RunPlan::Batch(_));
    if is_batch && steadiness.is_changing() {
        outcome.converged = Some(false);
    }
    let topology = experiment.topology().filter(|_| experiment.link_loads);
    let links = topology.map(|topology| link_packets(&**topology, &outcome.crossings));
    let collectives = driver.collectives_measured(experiment.pace.cycle);
    let confines =
        confines(experiment, &collectives, &driver.driven.places(), &outcome.crossings, outcome.measured_cycles());
    let mut timeline = driver.driven.timeline().cloned().unwrap_or_default();
    if !driver.known.is_empty() {
        timeline.add_collectives(&collectives);
    }
    timeline.add_counters(classes.as_ref().map_or_else(Vec::new, |classes| counters(experiment, classes)));
    let mut notes = driver.notes;
    notes.extend(driver.driven.flows().and_then(|flows| small_packets(experiment, &flows)));
    notes.extend(greatest_scale(experiment));
    // What was dropped or taken otherwise than written concerns every figure on this network.
    let understood = experiment.topology().and_then(|topology| topology.switched()?.understood());
    notes.extend(understood.map(|understood| understood.remarks()).unwrap_or_default().into_iter().map(Phrase::from));
    notes.extend(outcome.skipped.filter(|skipped| skipped.periods > 0).map(skipped_in_words));
    let counts = match counts_events {
        true => counts_of_run(experiment, &outcome, at_routers.as_deref(), &ports),
        false => None,
    };
    let energy = match &experiment.energy {
        Some(named) => {
            let placed = |error| Trouble::from(experiment.settings().placed("energy", error));
            Some(energy_of(named, counts.as_ref()).map_err(placed)?)
        }
        None => None,
    };
    outcome.warnings.extend(
        energy.iter().flat_map(|energy| &energy.warnings).map(|text| Warning::from(Phrase::from(text.clone()))),
    );
    // Bounds come last: they may run the program once more, after everything has been read from it, and need no network.
    drop(network);
    let sent = trace.iter().flat_map(|trace| &trace.report.tasks);
    let sent = sent.map(|task| task.sent_point_to_point + task.sent_collective).sum();
    let bounds = match outcome.completion {
        Some(completion) if outcome.complete => {
            let crossings = if explains { &outcome.crossings[..] } else { &[] };
            Bounds::of(experiment, &mut *driver.driven, completion.0, sent, crossings, stop)?
        }
        _ => None,
    };
    let mut finished = Finished {
        counts,
        energy,
        outcome,
        trace,
        offered,
        steadiness,
        shots,
        round_trips,
        links,
        notes,
        jobs,
        measures,
        ports,
        queues,
        bounds,
        details,
        messages,
        collectives,
        confines,
        timeline,
    };
    add_warnings(experiment, &mut finished);
    Ok(finished)
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

/// \[bytes x hops\] Sum over the messages that an application sends.
fn hop_bytes_of_application(experiment: &Experiment, driven: &dyn Driven) -> Option<u128> {
    let flows = driven.flows()?;
    let distances = Distances::few(Arc::clone(experiment.topology()?))?;
    Some(hop_bytes(flows.iter().map(|flow| (flow.from, flow.to, flow.bytes)), &distances))
}

/// \[bytes x hops\] Sum over the messages of a job that has finished.
fn hop_bytes_of_job(job: &Job, record: &JobRecord, distances: &Distances) -> Option<u128> {
    record.finish?;
    let node = |task: u32| record.placement[task as usize];
    let matrix = Matrix::of_program(&job.program);
    let flows = matrix.pairs().iter().map(|pair| (node(pair.source), node(pair.destination), pair.bytes));
    Some(hop_bytes(flows, distances))
}

/// The outcome of each job of a mix, with its run time alone.
fn compare_jobs_with_alone(
    experiment: &Experiment,
    mix: &JobMix,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<JobFacts>, Trouble> {
    // Instances of one job on the same nodes have the same run time alone.
    let mut known: Vec<(&Arc<Program>, Vec<NodeId>, Option<u64>)> = Vec::new();
    let mut facts = Vec::new();
    let distances = experiment.topology().and_then(|topology| Distances::few(Arc::clone(topology)));
    for (job, record) in mix.jobs().iter().zip(mix.records()) {
        let same = |other: &&(&Arc<Program>, Vec<NodeId>, Option<u64>)| {
            Arc::ptr_eq(other.0, &job.program) && other.1 == record.placement
        };
        let alone_cycles = match (record.finish, known.iter().find(same)) {
            (None, _) => None,
            (Some(_), Some(&(_, _, alone))) => alone,
            (Some(_), None) => {
                let alone = run_job_alone(experiment, &job.program, &record.placement, stop, progress)?;
                known.push((&job.program, record.placement.clone(), alone));
                alone
            }
        };
        let hop_bytes = distances.as_ref().and_then(|distances| hop_bytes_of_job(job, &record, distances));
        facts.push(JobFacts { record, alone_cycles, hop_bytes });
    }
    Ok(facts)
}

/// \[cycles\] Run time of a program alone, with its tasks on these nodes; `None` if it does not finish.
fn run_job_alone(
    experiment: &Experiment,
    program: &Program,
    placement: &[NodeId],
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<u64>, Trouble> {
    let mut network = network(experiment)?;
    let nodes = network.nodes();
    let Ok(replay) = Replay::new(program.clone(), placement, nodes, experiment.pace) else {
        return Ok(None);
    };
    let mut replay = replay.with_protocol(experiment.protocol);
    let outcome = run(experiment, Coupled::new(&mut replay, &mut *network, stop), progress);
    let last = replay.report().tasks.iter().map(|task| task.finished).max().flatten();
    Ok(last.filter(|_| outcome.complete).map(|last| last.since(Cycle::FIRST)))
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

/// Warnings that follow from the experiment and its outcome together.
fn add_warnings(experiment: &Experiment, finished: &mut Finished) {
    let mut warnings: Vec<Warning> = experiment.warnings().map(Warning::from).collect();
    warnings.append(&mut finished.outcome.warnings);
    let outcome = &finished.outcome;
    match &finished.trace {
        None if outcome.silent_nodes > 0 => {
            let share = 100.0 * outcome.silent_nodes as f64 / outcome.nodes as f64;
            let effect = match finished.shots {
                Some(_) => "they owe nothing in a shot".into(),
                None if !experiment.uses_load() => "the others have loads of their own".into(),
                None => phrase!["the offered load is lower than ", ["load"], " by that share"],
            };
            let (silent, nodes) = (outcome.silent_nodes, outcome.nodes);
            let text = phrase!["{silent} of {nodes} nodes ({share:.1} %) never send under this pattern: ", effect];
            warnings.push(Warning { kind: WarningKind::SilentNodes, text });
        }
        Some(trace) => warnings.extend(trace.report.misfits.warning().map(Warning::from)),
        None => {}
    }
    if outcome.failure.is_none() {
        warnings.extend(late_failures(experiment, outcome).map(Warning::from));
        warnings.extend(without_a_route(finished).map(Warning::from));
        warnings.extend(unsteady_warning(experiment, finished));
        warnings.extend(undecided_warning(experiment, finished));
        warnings.extend(short_measurement_warnings(experiment, finished).into_iter().map(Warning::from));
    }
    let bounds = finished.bounds.as_ref().zip(outcome.completion);
    finished.notes.extend(bounds.and_then(|(bounds, completion)| bounds.explain(completion.0)));
    if let RunPlan::ToEnd(limit) = experiment.plan
        && !outcome.complete
        && outcome.failure.is_none()
        && outcome.cycles >= limit.since(Cycle::FIRST)
    {
        let text = phrase![
            (
                "incomplete: the limit of {} cycles ended the run before its traffic had ended; there is no \
                 completion time. Use a larger ",
                outcome.cycles
            ),
            ["max-cycles"],
            "; with ",
            ["strict"],
            " this is exit status 3"
        ];
        warnings.push(text.into());
    }
    finished.outcome.warnings = warnings;
}

/// A warning about failures and repairs that the run did not reach.
fn late_failures(experiment: &Experiment, outcome: &Outcome) -> Option<Phrase> {
    let changes = &experiment.network.failures()?.changes;
    let late: Vec<String> =
        changes.iter().filter(|change| change.at > outcome.cycles).flat_map(|change| change.words.clone()).collect();
    let ended = counted(outcome.cycles, "cycle", "cycles");
    (!late.is_empty()).then(|| phrase![["fail" => late.join(",")], ": the run ended after {ended}, before that time"])
}

/// A warning that a verdict is not on all messages.
fn without_a_route(finished: &Finished) -> Option<Phrase> {
    let counts = &finished.outcome.measured.counts;
    let lost = counts.without_a_route();
    (lost > 0 && finished.steadiness.verdict.is_some()).then(|| {
        let all = counted(counts.generated, "packet", "packets");
        format!(
            "{lost} of {all} generated in the measured time have no route, and are lost: the verdict is on the others"
        )
        .into()
    })
}

/// Warnings about a run that measured too little.
fn short_measurement_warnings(experiment: &Experiment, finished: &Finished) -> Vec<Phrase> {
    let (outcome, cycles) = (&finished.outcome, finished.outcome.measured_cycles());
    let Counts { generated, received, .. } = outcome.measured.counts;
    let mut warnings = Vec::new();
    let longer = match experiment.plan {
        RunPlan::Batch(_) => phrase!["use a larger ", ["sample-size"], " or ", ["samples"]],
        RunPlan::Fixed(_) => phrase!["use more ", ["cycles"]],
        RunPlan::ToEnd(_) => {
            if outcome.complete && outcome.totals.generated == 0 {
                warnings.push("no packet entered the network: no message was sent to another node".into());
            }
            return warnings;
        }
    };
    if cycles == 0 {
        return warnings;
    }
    let within = format!("in the {}", counted(cycles, "measured cycle", "measured cycles"));
    warnings.extend(unfilled(experiment, outcome, &longer).filter(|_| received > 0));
    if received == 0 {
        let cause = match generated {
            0 => "none was generated",
            _ => "those that were generated were still on their way",
        };
        warnings.push(phrase!["no packet was received {within}, so that there is no latency: {cause}; ", &longer]);
    }
    warnings
}

/// A warning that the first packets over long routes arrive late in the measured time, or after it.
fn unfilled(experiment: &Experiment, outcome: &Outcome, longer: &Phrase) -> Option<Phrase> {
    /// Share of the measured time in which they may still be missing.
    const SHARE: f64 = 0.1;
    let latency = experiment.unloaded?.latency;
    let start = outcome.samples.first()?.start.since(Cycle::FIRST);
    let missing = latency.saturating_sub(start);
    let measured = outcome.measured_cycles();
    (missing as f64 > SHARE * measured as f64).then(|| {
        let remedy = match experiment.plan {
            RunPlan::Batch(_) => phrase!["use ", ["warmup" => latency.saturating_mul(2)], " or more"],
            _ => longer.clone(),
        };
        phrase![
            (
                "packets take up to {latency} cycles without load, and measuring began after {start} and lasted for \
                 {measured}: accepted load is too low, and latency is no mean of all packets but that of those with short \
                 routes; "
            ),
            remedy
        ]
    })
}

/// A warning about a saturated network, or about latency that changes with the length of the run.
fn unsteady_warning(experiment: &Experiment, finished: &Finished) -> Option<Warning> {
    let (outcome, steadiness) = (&finished.outcome, &finished.steadiness);
    let share = experiment.load_of_a_packet() / outcome.nodes as f64;
    let load = |estimate: Estimate| {
        let ci95 = estimate.ci95.map_or(String::new(), |ci95| format!(" ± {:.5}", ci95 * share));
        format!("{:.5}{ci95}", estimate.mean * share)
    };
    let unit = experiment.model.load_unit;
    let shortfall = steadiness.shortfall.map_or(String::new(), load);
    let (kind, text) = match steadiness.saturation() {
        Some(Saturation::Growing) if steadiness.queue_growth.is_none_or(|growth| growth.mean <= 0.0) => (
            WarningKind::Saturated,
            format!("saturated: the network accepts {shortfall} {unit} less than the load asked for").into(),
        ),
        Some(Saturation::Growing) => (
            WarningKind::Saturated,
            format!(
                "saturated: the network accepts {shortfall} {unit} less than the load asked for, and queues grow \
                 by {} {unit}: latency grows as long as the run lasts, and its mean is that of this length alone",
                steadiness.queue_growth.map_or(String::new(), load)
            )
            .into(),
        ),
        Some(Saturation::HeldBack) if !experiment.throttled => (
            WarningKind::Saturated,
            format!(
                "saturated: the network accepts {shortfall} {unit} less than the load asked for: congestion control \
                 keeps nodes from generating the rest"
            )
            .into(),
        ),
        Some(Saturation::Losing) => (
            WarningKind::Saturated,
            format!(
                "saturated: the network accepts {shortfall} {unit} less than the load asked for: it loses {} of the {} \
                 packets generated in the measured time",
                outcome.measured.counts.dropped_inside, outcome.measured.counts.generated
            )
            .into(),
        ),
        Some(Saturation::HeldBack) => (
            WarningKind::Saturated,
            format!(
                "saturated: the network accepts {shortfall} {unit} less than the load asked for, which is more than \
                 {:.0} % of it: throttled sources are held back",
                100.0 * SHORTFALL
            )
            .into(),
        ),
        None if steadiness.has_drift() && matches!(experiment.plan, RunPlan::Batch(_)) => {
            let drift = steadiness.drift?;
            let text = phrase![
                (
                    "not converged: mean latency changed by {:+.0} ± {:.0} % of its mean while it was measured, more \
                     than {:.0} % and more than its spread explains, so that it depends on the length of the run (a \
                     load close to saturation, or too short a warm-up): use a larger ",
                    100.0 * drift.mean,
                    100.0 * drift.ci95.unwrap_or(0.0),
                    100.0 * DRIFT
                ),
                ["warmup"],
                " and ",
                ["sample-size"]
            ];
            (WarningKind::Unsteady, text)
        }
        None => return None,
    };
    Some(Warning { kind, text })
}

/// A warning about a run too short for a verdict, with the length that is expected to decide.
fn undecided_warning(experiment: &Experiment, finished: &Finished) -> Option<Warning> {
    let Some(Verdict::Undecided { deciding_cycles }) = finished.steadiness.verdict else { return None };
    let measured = counted(finished.outcome.measured_cycles(), "measured cycle", "measured cycles");
    let Unloaded { latency, settles, .. } = experiment.unloaded.unwrap_or(Unloaded::shared(0));
    let start = finished.outcome.samples.first().map_or(0, |sample| sample.start.since(Cycle::FIRST));
    let why = match start + finished.outcome.measured_cycles() <= settles {
        true => format!(", since packets can be on their way for {latency} cycles without load"),
        false => String::new(),
    };
    let begun = format!("undecided: whether the network carries this load cannot be told from {measured}{why}");
    let text = match (&experiment.plan, deciding_cycles) {
        (RunPlan::Batch(plan), Some(cycles)) => {
            let settling = settles.saturating_sub(start);
            let size = (cycles - settling.min(cycles)).max(1).div_ceil(plan.samples.max(1));
            let warmup = if settling > 0 { phrase![["warmup" => settles], " and "] } else { phrase![""] };
            phrase![("{begun}; about {cycles} are expected to decide: use "), warmup, ["sample-size" => size]]
        }
        (RunPlan::Fixed(total), Some(cycles)) => {
            let total = cycles.max(*total);
            phrase![("{begun}; about {total} are expected to decide: use "), ["cycles" => total]]
        }
        (RunPlan::Batch(_), None) => phrase![("{begun}: use a larger "), ["sample-size"], " or ", ["samples"]],
        _ => phrase![("{begun}: use more "), ["cycles"]],
    };
    Some(Warning { kind: WarningKind::Undecided, text })
}
