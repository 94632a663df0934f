//! One run of an MPI program, from its start to its result.

use std::sync::atomic::{AtomicBool, Ordering};

use adapters::address::Address;
use adapters::endpoint::Endpoint;
use adapters::live::{Live, Protocol, Rules, Synchronisation, Watch};
use adapters::protocol::Mode;
use clap::ArgMatches;
use fsin::experiment::{Bounds, Experiment, link_packets, small_packets};
use fsin::result::{RankRow, RunResult, SentRow, of_guests};
use fsin::run::Outcome;
use fsin::words::counted;
use serde_json::json;
use trgen::NodeId;
use trgen::clock::Clock;
use trgen::collective::Row;
use trgen::trace::flow::Flow;

use super::ending::{Ended, NotBegun, ending, never_began, refused};
use super::foreign::Part;
use super::launcher::Launcher;
use super::library::{self, Folder};
use super::ranks::{self, Forward, Launch, Ranks};
use super::reports::{self, Report, Unusable};
use super::shared::Shared;
use super::{flags, sync};
use crate::cli::live::descriptors;
use crate::cli::live::serve::model::{Model, model};
use crate::cli::live::serve::waiting::Waiting;
use crate::cli::live::serve::warnings;
use crate::cli::run::perform::Stopwatch;
use crate::cli::watch::looking::Looking;
use crate::cli::{Complaint, Exit, Flags, manifest, output};

/// A program to be run, and its network and ranks, as the command line specifies.
pub(super) struct Order {
    /// Number of ranks.
    ranks: usize,
    /// The programs, with the ranks of each.
    parts: Vec<Part>,
    /// By rank: how long computing takes, in the form that the environment of the ranks has.
    compute: Vec<String>,
    /// The algorithms of collectives, in the form that the environment of the ranks has.
    collectives: String,
    /// Algorithms among them that the library of ranks does not have.
    private: Vec<&'static Row>,
    /// \[bytes\] Longest message that is sent without waiting for its receive.
    rendezvous: u64,
    /// \[ps\] Virtual time that a reading of a clock takes.
    clock_read: u64,
    /// The MPI library that ranks load.
    library: std::path::PathBuf,
    /// The network.
    pub(super) model: Model,
    /// The rules for the ranks as guests.
    rules: Rules,
    /// The synchronisation of the ranks; `None` for a central order.
    synchronisation: Option<Synchronisation>,
    /// True if ranks record their calls.
    pub(super) records: bool,
    /// True if ranks keep their timelines.
    pub(super) has_timeline: bool,
    /// True if the packets of each link are counted.
    counts_links: bool,
    /// What happens to the output of ranks.
    pub(super) output: Forward,
    /// What starts the ranks, if it is not this command.
    launcher: Option<Launcher>,
}

impl Order {
    /// Reads a command line; `stop` ends the run when it becomes true.
    pub(super) fn of(matches: &ArgMatches, stop: &'static AtomicBool) -> Result<Self, Complaint> {
        let parts = flags::parts(matches)?;
        let ranks = parts.iter().map(|part| part.ranks).sum();
        let mode = flags::mode(matches)?;
        let compute = flags::by_rank(matches, &flags::compute(matches, mode.0)?, ranks, mode.0)?;
        let (collectives, private) = flags::collectives(matches, ranks)?;
        let collectives = collectives.to_owned();
        let (rendezvous, clock_read) = (flags::rendezvous(matches)?, flags::clock_read(matches)?);
        let launcher = Launcher::of(matches)?;
        let library = library::LIBRARY.find()?;
        let mut model = model(matches, Some(flags::nodes(matches, ranks).max(2)))?;
        let mut rules = flags::rules(matches, &model, ranks, mode, stop)?;
        let synchronisation = sync::protocol(matches, &model, &mut rules)?;
        flags::settle(&mut model.settings, matches, ranks, &rules.terms);
        let counts_links = flags::counts_links(matches, &model.experiment)?;
        model.settings.insert("link-loads".to_owned(), json!(counts_links));
        let (records, has_timeline, output) = (false, false, Forward::Plain);
        if launcher.is_some() && parts.len() > 1 {
            let what = "--launcher: it starts one program, and there are several with colons between them";
            return Err(Complaint::new(Exit::Usage, what, "let a script choose the program by the rank"));
        }
        Ok(Self {
            ranks,
            parts,
            compute,
            collectives,
            private,
            rendezvous,
            clock_read,
            library,
            model,
            rules,
            synchronisation,
            records,
            has_timeline,
            counts_links,
            output,
            launcher,
        })
    }

    /// \[thousandths\] Wall-clock time divided by virtual time, for runs in real time.
    pub(super) fn pace(&self) -> u32 {
        self.rules.terms.pace
    }

    /// The same order with another pace, in thousandths.
    pub(super) fn paced(mut self, thousandths: u32) -> Self {
        self.rules.terms.pace = thousandths;
        self.model.settings.insert("factor".to_owned(), json!(f64::from(thousandths) / 1000.0));
        self
    }
}

/// A run that has ended.
pub(super) struct Finished {
    pub(super) result: RunResult,
    /// How it ended.
    pub(super) ended: Ended,
    /// The warnings of the results, for the user.
    pub(super) warnings: Vec<String>,
    /// True if the user has stopped it.
    pub(super) interrupted: bool,
    /// The report of each rank.
    pub(super) reports: Vec<Result<Report, Unusable>>,
    /// The folder with the recordings of the ranks.
    pub(super) folder: Folder,
    /// An error if output, logs and captures of the run are incomplete, with the reason.
    pub(super) written: Result<(), String>,
    /// The experiment whose network it was.
    pub(super) experiment: Experiment,
    /// The node of each rank.
    pub(super) places: Vec<NodeId>,
    /// What bounds the completion, in words.
    pub(super) bounds: Option<String>,
}

/// Runs the program once.
///
/// # Errors
/// The run cannot begin. Later failures are in the [outcome](Finished::ended).
pub(super) fn run(
    matches: &ArgMatches,
    order: Order,
    watch: Watch,
    mut looking: Option<&mut Looking>,
    stop: &'static AtomicBool,
) -> Result<Finished, NotBegun> {
    let Order {
        ranks: count,
        parts,
        compute,
        collectives,
        private,
        rendezvous,
        clock_read,
        library,
        mut model,
        rules,
        synchronisation,
        records,
        has_timeline,
        counts_links,
        output,
        launcher,
    } = order;
    let places = rules.places.clone().unwrap_or_default();
    let thread_limit = flags::thread_limit(matches)?;
    if counts_links {
        model.observe();
    }
    let shortest = rules.overheads.horizon(model.clock);
    let factor = f64::from(rules.terms.pace) / 1000.0;
    let needed = count as u64 * (1 + output.descriptors());
    descriptors::reserve(needed, &counted(count as u64, "rank", "ranks"))?;
    let folder = Folder::create(&library)?;
    let socket = Address::Unix(folder.socket());
    let listen = launcher.as_ref().map_or(&socket, Launcher::listen);
    if launcher.is_some() && !folder.is_plain() {
        let what =
            format!("--launcher: ranks on other hosts cannot use the folder {} of the run", folder.path().display());
        return Err(Complaint::new(Exit::Usage, what, "set TMPDIR to a short path without blanks and colons").into());
    }
    let endpoint = Endpoint::bind(listen, launcher.as_ref().and_then(Launcher::token)).map_err(refused)?;
    let bound = endpoint.address().map_err(|error| refused(error.into()))?;
    // A capture has the data of messages, which pass through this process then. Ranks elsewhere share no memory.
    let shared = (launcher.is_none() && watch.capture.is_none()).then(Shared::create).flatten();
    let mut ranks = Ranks::start(&Launch {
        launcher: launcher.as_ref(),
        parts: &parts,
        ranks: count,
        folder: folder.access(),
        address: if launcher.is_some() { Launcher::address(&bound) } else { socket.to_string() },
        compute: &compute,
        collectives: &collectives,
        private: &private,
        buffered: matches.get_one::<u64>("buffered").copied().unwrap_or(0),
        rendezvous,
        clock_read,
        thread_limit,
        shared: shared.as_ref().map(Shared::location),
        deterministic: synchronisation.is_some_and(|used| used.protocol == Protocol::Deterministic),
        realtime: rules.terms.mode == Mode::Realtime,
        records,
        has_timeline,
        output: &output,
    })?;
    let quiet = matches.get_flag("quiet");
    let board = looking.as_ref().map(|looking| looking.feed());
    let on_board = looking.as_ref().is_some_and(|looking| looking.has_terminal());
    let mut waiting = Waiting::new(board.clone(), count);
    let tell = move |line: String| {
        let line = format!("warning: {line}");
        if !quiet && !on_board {
            output::tell(&line);
        }
        if let Some(board) = &board {
            board.log(line);
        }
    };
    let mut lost = None;
    let gathered = endpoint.gather(
        &rules.terms,
        count,
        &mut |missing| {
            ranks.processes.poll();
            // A rank that ends before time begins has failed.
            lost = ranks.processes.first_ended();
            waiting.go_on(missing, stop) && lost.is_none()
        },
        &mut |_| {},
    );
    let connections = match gathered {
        Ok(connections) => connections,
        Err(error) => {
            ranks.end(true);
            return Err(match lost {
                Some((process, status)) => {
                    never_began(&folder, ranks::program_of(&parts, process), &ranks, process, status)
                }
                None => refused(error).into(),
            });
        }
    };
    let opening = manifest::Opening::of_guests(std::mem::take(&mut model.inputs));
    let stopwatch = Stopwatch::start();
    let mut live = Live::new(connections, rules, Box::new(tell)).watched(watch);
    if let Some(synchronisation) = synchronisation {
        live = live.synchronised(synchronisation);
    }
    let mut outcome = model.run(&mut live, stop, looking.as_mut().map(|looking| looking.watch()));
    let interrupted = stop.load(Ordering::Relaxed);
    match &outcome.failure {
        Some(failure) => live.close(&format!("the run has failed: {failure}")),
        None if interrupted => live.close("the run was interrupted"),
        None => live.close("the run has ended"),
    }
    let costs = stopwatch.costs(true, 1);
    ranks.end(interrupted);
    let reports = reports::read(folder.path(), count);
    let ended = ending(&outcome, &live, &mut ranks, &reports);
    if matches!(ended, Ended::Failed(_)) {
        outcome.complete = false;
    }
    let report = live.report();
    if outcome.failure.is_none() {
        warn_of_unreceived(&mut outcome, &reports);
    }
    let late = synchronisation.and_then(|_| sync::lateness(matches, &report, shortest));
    let pace = warnings::of_pace(report.behind, factor);
    outcome.warnings.extend(late.into_iter().chain(pace).chain(ranks.warning()).map(Into::into));
    let written = live.flush().and_then(|()| ranks.passed_on());
    let manifest = opening.close_guests(model.seed, costs);
    let picoseconds = |cycle: u64| model.clock.span(cycle);
    let mut rows: Vec<RankRow> = reports.iter().flatten().map(|report| report.row.clone()).collect();
    sync::add_costs(&mut rows, &report, shortest);
    let result = of_guests(&outcome, &report, &picoseconds, costs, model.settings, manifest, &Flags);
    let experiment = &model.experiment;
    let flows = flows(&rows, &places);
    let bounds = match outcome.completion {
        Some(_) if outcome.complete => bounds(experiment, &rows, &flows, model.clock),
        _ => Bounds::default(),
    };
    let notes = small_packets(experiment, &flows).map(|note| note.written(&Flags)).into_iter().collect();
    let links =
        experiment.topology().filter(|_| counts_links).map(|topology| link_packets(&**topology, &outcome.crossings));
    let capacity = outcome.measured_cycles() as f64 / experiment.load_of_a_packet();
    let result = result.of_ranks(rows, &bounds, notes, links.as_deref().map(|links| (links, capacity)));
    let warnings = outcome.warnings.iter().map(|warning| warning.text.written(&Flags)).collect();
    let bounds = bounds.explain(outcome.completion.map_or(0, |cycle| cycle.0)).map(|text| text.written(&Flags));
    let experiment = model.experiment;
    Ok(Finished { result, ended, warnings, interrupted, reports, folder, written, experiment, places, bounds })
}

/// The lower bounds of the completion of a program whose ranks sent this.
fn bounds(experiment: &Experiment, ranks: &[RankRow], flows: &[Flow], clock: Clock) -> Bounds {
    // Of ranks that compute equally long, the first.
    let most = ranks.iter().map(|rank| (rank.rank, clock.cycles_within(rank.computing_ps)));
    let most = most.reduce(|most, one| if one.1 > most.1 { one } else { most });
    Bounds::of_ranks(experiment, flows, most)
}

/// What the ranks at these places sent.
fn flows(ranks: &[RankRow], places: &[NodeId]) -> Vec<Flow> {
    let node = |rank: u64| usize::try_from(rank).ok().and_then(|rank| places.get(rank)).copied();
    let sent = ranks.iter().flat_map(|rank| rank.sent.iter().map(move |sent| (rank.rank, sent)));
    let flow = |(rank, sent): (u64, &SentRow)| {
        Some(Flow { from: node(rank)?, to: node(sent.to)?, bytes: sent.bytes, messages: sent.messages })
    };
    sent.filter_map(flow).collect()
}

/// Adds a warning if messages were never received.
fn warn_of_unreceived(outcome: &mut Outcome, reports: &[Result<Report, Unusable>]) {
    let unreceived: u64 = reports.iter().flatten().map(|report| report.unreceived).sum();
    if unreceived > 0 {
        let were = if unreceived == 1 { "was" } else { "were" };
        outcome.warnings.push(format!("{} {were} never received", counted(unreceived, "message", "messages")).into());
    }
}
