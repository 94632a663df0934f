//! `fsin mpirun`: an MPI program on a simulated network.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;

use adapters::address::Address;
use adapters::endpoint::{Endpoint, EndpointError};
use adapters::live::{Live, Protocol};
use clap::ArgMatches;
use fsin::couple::{Coupled, Failure};
use fsin::report::{Format, write};
use fsin::result::{RankRow, of_guests};
use fsin::run::{Outcome, to_end};
use fsin::words::counted;
use trgen::Cycle;

use super::output::Document;
use super::perform::Stopwatch;
use super::serve;
use super::{Complaint, Exit, Flags, interrupt, manifest, output, processes};

mod flags;
mod library;
mod ranks;
mod recording;
mod reports;
mod sync;

pub(super) use flags::command;
use library::Folder;
use ranks::{Ranks, Telling};
use reports::Report;

/// How the program has ended.
enum Ended {
    /// All ranks have finalized and ended with this status.
    Program(i32),
    Failed(Complaint),
}

pub(crate) fn mpirun(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let count = matches.get_one::<usize>("guests").copied().unwrap_or(1);
    let (compute, collectives) = (flags::compute(matches)?, flags::collectives(matches)?);
    let library = library::LIBRARY.find()?;
    let mut model = serve::model::model(matches, Some(flags::nodes(matches, count).max(2)))?;
    let stop = interrupt::listen(interrupt::OF_A_RUN)?;
    let rules = flags::rules(matches, &model, count, stop)?;
    let by = sync::protocol(matches, &model, &rules)?;
    let shortest = rules.overheads.horizon(model.clock);
    flags::settle(&mut model.settings, matches, count);
    let document = matches.contains_id("output").then(|| Document::open(matches)).transpose()?;
    let recording = match matches.get_one::<PathBuf>("record") {
        Some(path) => Some((path.clone(), output::create_file(&format!("--record {}", path.display()), path)?)),
        None => None,
    };
    let watch = serve::flags::watch(matches)?;
    let folder = Folder::create(&library)?;
    let socket = Address::Unix(folder.socket());
    let endpoint = Endpoint::bind(&socket, None).map_err(refused)?;
    let program: Vec<OsString> = matches.get_many("program").map(|words| words.cloned().collect()).unwrap_or_default();
    let mut ranks = Ranks::start(&Telling {
        program: &program,
        ranks: count,
        folder: folder.path(),
        address: socket.to_string(),
        compute: &compute,
        collectives,
        buffered: matches.get_one::<u64>("buffered").copied().unwrap_or(0),
        deterministic: by.is_some_and(|by| by.protocol == Protocol::Deterministic),
        records: recording.is_some(),
        label: matches.get_flag("label"),
    })?;
    let quiet = matches.get_flag("quiet");
    let tell = move |line: String| {
        if !quiet {
            output::tell(&format!("warning: {line}"));
        }
    };
    let mut lost = None;
    let gathered = endpoint.gather(
        &rules.terms,
        count,
        &mut |_| {
            ranks.processes.look();
            // Before time begins, no rank of an MPI program can end.
            lost = ranks.processes.first_ended();
            lost.is_none() && !stop.load(Ordering::Relaxed)
        },
        &mut |_| {},
    );
    let connections = match gathered {
        Ok(connections) => connections,
        Err(error) => {
            ranks.end(true);
            return Err(lost.map_or_else(|| refused(error), |(rank, status)| never_began(&folder, rank, status)));
        }
    };
    let opening = manifest::Opening::of_guests(std::mem::take(&mut model.inputs));
    let stopwatch = Stopwatch::start();
    let mut live = Live::new(connections, rules, Box::new(tell)).watched(watch);
    if let Some(by) = by {
        live = live.synchronised(by);
    }
    let mut coupled = Coupled::new(&mut live, &mut *model.network, stop);
    let mut outcome = to_end(&mut coupled, Cycle::NEVER, &mut |_| {});
    drop(coupled);
    match &outcome.failure {
        Some(failure) => live.close(&format!("the run has failed: {failure}")),
        None if stop.load(Ordering::Relaxed) => live.close("the run was interrupted"),
        None => live.close("the run has ended"),
    }
    let costs = stopwatch.costs(true, 1);
    ranks.end(stop.load(Ordering::Relaxed));
    let reports = reports::read(folder.path(), count);
    let ended = ending(&outcome, &live, &mut ranks, &reports);
    if matches!(ended, Ended::Failed(_)) {
        outcome.complete = false;
    }
    if outcome.failure.is_none() {
        warn(&mut outcome, &reports);
    }
    let written = live.flush();
    let manifest = opening.close_guests(model.seed, costs);
    let picoseconds = |cycle: u64| model.clock.span(cycle);
    let report = live.report();
    let mut rows: Vec<RankRow> = reports.iter().flatten().map(|report| report.row.clone()).collect();
    sync::account(&mut rows, &report, shortest);
    let result = of_guests(&outcome, &report, &picoseconds, costs, model.settings, manifest, &Flags).of_ranks(rows);
    if let Some(document) = document {
        let format = match matches.get_one::<String>("format").map_or("", String::as_str) {
            "csv" => Format::Csv,
            "jsonl" => Format::Jsonl,
            _ => Format::Json,
        };
        document.write(&mut |out| write(format, &result, out))?;
    }
    if !quiet {
        outcome.warnings.iter().for_each(|warning| output::tell(&format!("warning: {}", warning.text.written(&Flags))));
    }
    if stop.load(Ordering::Relaxed) {
        return Ok(Exit::Interrupted);
    }
    let status = match ended {
        Ended::Failed(complaint) => return Err(complaint),
        Ended::Program(status) => status,
    };
    written
        .map_err(|what| Complaint::new(Exit::Failed, what, "the program has run to its end; the file is not whole"))?;
    if let Some((path, file)) = recording {
        let all = collectives_of(&reports);
        recording::write(folder.path(), all, count, file).map_err(|error| {
            let what = format!("--record {}: {error}", path.display());
            Complaint::new(Exit::Failed, what, "free some space, or write elsewhere")
        })?;
    }
    if !quiet && outcome.failure.is_none() {
        output::tell(&summary(&result));
        sync::line(matches, &result).into_iter().for_each(|line| output::tell(&line));
    }
    if status == 0 {
        return Ok(Exit::Done);
    }
    drop(folder);
    // The status of the program is any number.
    std::process::exit(status)
}

/// One line on the run.
fn summary(result: &fsin::result::RunResult) -> String {
    let time = result.ranks.iter().flatten().map(|rank| rank.time_ps).max().unwrap_or(0);
    format!(
        "virtual time {:.9} s; {}, {:.0} messages/s on the wall; digest {}",
        time as f64 * 1e-12,
        counted(result.messages.unwrap_or(0), "message", "messages"),
        result.messages_per_second.unwrap_or(0.0),
        result.guest_digest.as_deref().unwrap_or("")
    )
}

/// Number of collectives of all ranks, by operation.
fn collectives_of(reports: &[Option<Report>]) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (name, count) in reports.iter().flatten().flat_map(|report| &report.collectives) {
        *all.entry(name.clone()).or_default() += count;
    }
    all
}

fn warn(outcome: &mut Outcome, reports: &[Option<Report>]) {
    let unreceived: u64 = reports.iter().flatten().map(|report| report.unreceived).sum();
    if unreceived > 0 {
        let were = if unreceived == 1 { "was" } else { "were" };
        outcome.warnings.push(format!("{} {were} never received", counted(unreceived, "message", "messages")).into());
    }
}

/// The error of an endpoint that cannot work, or of a wait that was interrupted.
fn refused(error: EndpointError) -> Complaint {
    match error {
        EndpointError::Interrupted { .. } => {
            Complaint::new(Exit::Interrupted, "interrupted before all ranks had called MPI_Init", "start it again")
        }
        error => Complaint::new(Exit::Failed, error.to_string(), error.remedy()),
    }
}

/// The error of a rank that has ended before time began.
fn never_began(folder: &Folder, rank: usize, status: ExitStatus) -> Complaint {
    let report = reports::read(folder.path(), rank + 1).pop().flatten();
    if let Some(failure) = report.and_then(|report| report.failure) {
        return Complaint::new(Exit::Failed, failure, "correct the program");
    }
    let what = format!("rank {rank} {} before MPI_Init", processes::words(status));
    let remedy = "see what it has written; the program must be linked dynamically with MPICH (libmpich.so.12: see ldd)";
    Complaint::new(Exit::Failed, what, remedy)
}

/// How the program has ended, and whose fault it is.
fn ending(outcome: &Outcome, live: &Live, ranks: &mut Ranks, reports: &[Option<Report>]) -> Ended {
    const SHOWN: usize = 16;
    match &outcome.failure {
        None => {
            let worst = ranks.processes.look().map_or(0, |(_, status)| processes::code(status));
            Ended::Program(worst)
        }
        Some(Failure::TrafficDeadlock { .. }) => {
            let wait = |(rank, report): (usize, &Option<Report>)| {
                let awaits = report.as_ref().and_then(|report| report.awaits.clone());
                Some(format!("\n  rank {rank}, {}", awaits?))
            };
            let waits: Vec<String> = reports.iter().enumerate().filter_map(wait).collect();
            let more = waits.len().saturating_sub(SHOWN);
            let tail = if more > 0 { format!("\n  ... and {more} more") } else { String::new() };
            let what = format!(
                "the program is in deadlock: nothing is on its way, and{}{tail}",
                waits[..waits.len().min(SHOWN)].concat()
            );
            let remedy = "each of these ranks waits for something that no rank does: compare calls, ranks, tags and \
                          communicators";
            Ended::Failed(Complaint::new(Exit::Watchdog, what, remedy))
        }
        Some(failure) => {
            let lost = live.report().guests.iter().position(|guest| guest.lost.is_some());
            let Some(rank) = lost else { return Ended::Failed(Complaint::of_failure(failure)) };
            let status = ranks.processes.status(rank);
            let said = reports.get(rank).and_then(|report| report.as_ref()?.failure.clone());
            if let (Some(failure), Some(code)) = (said, status.and_then(|status| status.code())) {
                // It has said why itself, on stderr.
                output::tell(&format!("fsin mpirun: the run has ended because of this error: {failure}"));
                return Ended::Program(code.max(1));
            }
            let how = status.map_or_else(|| "was lost".to_owned(), processes::words);
            let reason = live.report().guests[rank].lost.clone().unwrap_or_default();
            let what = match status {
                Some(status) if status.success() => format!("rank {rank} ended without a call of MPI_Finalize"),
                Some(status) if status.code().is_none() => format!("rank {rank} {how}, and the other ranks were ended"),
                _ => format!("rank {rank} {how}, and the other ranks were ended: {reason}"),
            };
            let code = status.map_or(1, processes::code);
            let complaint = Complaint::new(Exit::Failed, what, "see what it has written before its end");
            if code == 0 || code == 1 {
                return Ended::Failed(complaint);
            }
            super::diagnostic::show(&complaint);
            Ended::Program(code)
        }
    }
}
