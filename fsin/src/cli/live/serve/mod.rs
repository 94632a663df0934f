//! `fsin serve`: a network for live guests.

use std::sync::atomic::{AtomicBool, Ordering};

use adapters::endpoint::{Endpoint, EndpointError};
use adapters::live::Live;
use clap::ArgMatches;
use fsin::couple::Failure;
use fsin::report::{Format, write};
use fsin::result::{Costs, of_guests};
use fsin::run::Outcome;
use fsin::words::counted;
use trgen::TrGen;

use crate::cli::live::descriptors;
use crate::cli::live::guest::{address, token};
use crate::cli::output::Document;
use crate::cli::run::perform::Stopwatch;
use crate::cli::watch::looking::Looking;
use crate::cli::{Complaint, Exit, Flags, interrupt, manifest, output};

pub(crate) mod flags;
pub(crate) mod model;
pub(crate) mod rules;
pub(crate) mod waiting;
pub(crate) mod warnings;

pub(crate) use flags::command;
use model::{Model, model};
use waiting::Waiting;

/// Connections that are not guests yet, for which there are open files besides those of the guests.
const STRANGERS: u64 = 256;

/// `fsin serve`: waits for guests, runs the network between them, and prints the results.
pub(crate) fn serve(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let mut model = model(matches, matches.get_one::<usize>("guests").copied())?;
    let stop = interrupt::listen(interrupt::OF_A_RUN)?;
    let rules = rules::rules(matches, &model, stop)?;
    let wanted = rules::wanted(matches, &model)?;
    rules::settle(&mut model.settings, matches, &rules);
    // A guest may have many nodes, so that fewer files can be enough. If they are not, the endpoint says so.
    let _ = descriptors::raise(wanted as u64 + STRANGERS);
    let endpoint = Endpoint::bind(&address(matches, "listen")?, token(matches)?).map_err(refused)?;
    let document = Document::open(matches)?;
    let watch = flags::watch(matches)?;
    let listening = endpoint.address().map_err(|error| refused(error.into()))?;
    let listening = format!("listening on {listening} for guests of {}", counted(wanted, "node", "nodes"));
    let quiet = matches.get_flag("quiet");
    if !quiet {
        output::tell(&format!("{listening}; the horizon is {} ps", rules.terms.horizon));
    }
    let about = model.about.clone();
    let mut looking = Looking::begin(matches, || about, stop)?;
    let board = looking.as_ref().map(Looking::feed);
    let on_board = looking.as_ref().is_some_and(Looking::has_terminal);
    if let Some(board) = &board {
        board.log(listening);
    }
    let mut waiting = Waiting::new(board.clone(), wanted);
    let mut tell = move |line: String| {
        let line = format!("warning: {line}");
        if !on_board && !quiet {
            output::tell(&line);
        }
        if let Some(board) = &board {
            board.log(line);
        }
    };
    let connections = endpoint
        .gather(&rules.terms, wanted, &mut |missing| waiting.go_on(missing, stop), &mut tell)
        .map_err(refused)?;

    let opening = manifest::Opening::of_guests(std::mem::take(&mut model.inputs));
    let stopwatch = Stopwatch::start();
    let mut live = Live::new(connections, rules.clone(), Box::new(tell)).watched(watch);
    let mut outcome = model.run(&mut live, stop, looking.as_mut().map(Looking::watch));
    outcome
        .warnings
        .extend(rules.region.as_ref().and_then(|region| Some(warnings::of_region(region, live.phase())?.into())));
    let pcap = matches.contains_id("pcap");
    let report = live.report();
    let pace = warnings::of_pace(report.behind, f64::from(rules.terms.pace) / 1000.0);
    let guests = warnings::of_guests(&report, rules.lost, pcap);
    outcome.warnings.extend(pace.into_iter().chain(guests).map(Into::into));
    match &outcome.failure {
        Some(failure) => live.close(&format!("the run has failed: {failure}")),
        None if stop.load(Ordering::Relaxed) => live.close("the run was interrupted"),
        None => live.close("the run has ended"),
    }
    let costs = stopwatch.costs(true, 1);
    let words: Vec<String> = outcome.failure.iter().map(|failure| format!("error: {failure}")).collect();
    let recorded = looking.map_or(Ok(()), |looking| looking.end(&words));
    let written = live.flush();
    print(matches, document, &outcome, &live, model, costs, opening)?;
    recorded?;
    ending(&outcome, written, stop)
}

/// The error of a failed wait for guests.
fn refused(error: EndpointError) -> Complaint {
    let exit = match error {
        EndpointError::Interrupted { .. } => Exit::Interrupted,
        EndpointError::Open { .. } | EndpointError::Listen { .. } => Exit::Usage,
        EndpointError::System(_) => Exit::Failed,
    };
    Complaint::new(exit, error.to_string(), error.remedy())
}

/// Prints the results, with warnings.
fn print(
    matches: &ArgMatches,
    document: Document,
    outcome: &Outcome,
    live: &Live,
    model: Model,
    costs: Costs,
    opening: manifest::Opening,
) -> Result<(), Complaint> {
    let manifest = opening.close_guests(model.seed, costs);
    let picoseconds = |cycle: u64| model.clock.span(cycle);
    let result = of_guests(outcome, &live.report(), &picoseconds, costs, model.settings, manifest, &Flags);
    let format = format(matches);
    document.write(&mut |out| write(format, &result, out))?;
    if !matches.get_flag("quiet") {
        outcome.warnings.iter().for_each(|warning| output::tell(&format!("warning: {}", warning.text.written(&Flags))));
    }
    Ok(())
}

/// The exit status; `written` says whether the files written during the run are complete.
fn ending(outcome: &Outcome, written: Result<(), String>, stop: &AtomicBool) -> Result<Exit, Complaint> {
    if stop.load(Ordering::Relaxed) {
        return Ok(Exit::Interrupted);
    }
    match &outcome.failure {
        Some(failure @ Failure::TrafficDeadlock { .. }) => {
            let remedy = "each of these guests waits for a message that nobody sends: see which messages they sent \
                          (--wire-log FILE), and what they wait for";
            Err(Complaint::of_failure(failure).with_remedy(remedy))
        }
        Some(failure) => Err(Complaint::of_failure(failure)),
        None => {
            let remedy = "the figures above are complete; the file is not";
            written.map(|()| Exit::Done).map_err(|what| Complaint::new(Exit::Failed, what, remedy))
        }
    }
}

/// How results of guests are written.
pub(in crate::cli::live) fn format(matches: &ArgMatches) -> Format {
    match matches.get_one::<String>("format").map_or("", String::as_str) {
        "csv" => Format::Csv,
        "jsonl" => Format::Jsonl,
        _ => Format::Json,
    }
}
