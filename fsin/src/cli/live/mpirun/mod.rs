//! `fsin mpirun`: an MPI program on a simulated network.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use clap::ArgMatches;
use clap::parser::ValueSource;
use fsin::experiment::Experiment;
use fsin::report::{ProgramRun, program_page, write, write_timeline};
use fsin::result::RunResult;
use fsin::words::counted;

use crate::cli::live::serve;
use crate::cli::output::{Document, NewFile};
use crate::cli::watch::looking::Looking;
use crate::cli::{Complaint, Exit, diagnostic, interrupt, output};

mod ending;
mod factor;
mod flags;
mod foreign;
mod launcher;
mod library;
mod once;
mod picture;
mod program;
mod ranks;
mod recording;
mod reports;
mod shared;
mod sync;
mod timeline;

use ending::{Ended, NotBegun};
pub(crate) use flags::command;
pub(crate) use foreign::translated;
use once::{Finished, Order};
use ranks::Forward;
use reports::{Report, Unusable};

/// `fsin mpirun`: runs the program and writes the results.
pub(crate) fn mpirun(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let stop = interrupt::listen(interrupt::OF_A_RUN)?;
    let document = matches.contains_id("output").then(|| Document::open(matches)).transpose()?;
    if document.is_none() && matches.value_source("format") == Some(ValueSource::CommandLine) {
        let what = "--format is of the file of results, and stdout belongs to the program";
        return Err(Complaint::new(Exit::Usage, what, "name the file: -o FILE"));
    }
    let quiet = matches.get_flag("quiet");
    if matches.get_flag("find-factor") {
        return factor::find(matches, document, stop);
    }
    let mut order = Order::of(matches, stop)?;
    let map = matches.get_one::<PathBuf>("heat-map").map(|path| picture::open(path)).transpose()?;
    let recording = match matches.get_one::<PathBuf>("record") {
        Some(path) => Some(NewFile::create(format!("--record {}", path.display()), path)?),
        None => None,
    };
    order.records = recording.is_some();
    let new_file = |flag: &str| -> Result<Option<NewFile>, Complaint> {
        let path = matches.get_one::<PathBuf>(flag);
        path.map(|path| NewFile::create(format!("--{flag} {}", path.display()), path)).transpose()
    };
    let (spans_file, page_file) = (new_file("timeline")?, new_file("report")?);
    order.has_timeline = spans_file.is_some() || page_file.is_some();
    let watch = serve::flags::watch(matches)?;
    let about = order.model.about.clone();
    let mut looking = Looking::begin(matches, || about, stop)?;
    let board = looking.as_ref().filter(|looking| looking.has_terminal()).map(Looking::feed);
    order.output = match &board {
        Some(feed) => Forward::Board(Arc::clone(feed), Arc::default()),
        None if matches.get_flag("label") => Forward::Labelled,
        None => Forward::Plain,
    };
    let cycle = order.model.clock.span(1);
    let shown = order.output.clone();
    let finished = once::run(matches, order, watch, looking.as_mut(), stop);
    let words: Vec<String> = match &finished {
        Ok(Finished { ended: Ended::Failed(complaint), .. }) | Err(NotBegun { complaint, .. }) => {
            vec![format!("error: {complaint}")]
        }
        Ok(_) => Vec::new(),
    };
    let view_closed = looking.map_or(Ok(()), |looking| looking.end(&words));
    let printed = match shown {
        // The output of the program has been kept while the dashboard had the terminal.
        Forward::Board(_, kept) => io::stdout().write_all(&kept.lock().unwrap_or_else(PoisonError::into_inner)),
        _ => Ok(()),
    };
    let finished = match finished {
        Ok(finished) => finished,
        Err(NotBegun { complaint, status: Some(status) }) => {
            drop((document, map, recording, spans_file, page_file));
            diagnostic::show(&complaint);
            std::process::exit(status)
        }
        Err(NotBegun { complaint, status: None }) => return Err(complaint),
    };
    if let Some(document) = document {
        write_result(matches, &finished.result, document)?;
    }
    // The ranks of a run that has not come to its end have no figures.
    if let Some(map) = map.filter(|_| !finished.interrupted && matches!(finished.ended, Ended::Program(_))) {
        map.draw(&finished.result)?;
    }
    if !quiet {
        finished.warnings.iter().for_each(|warning| output::tell(&format!("warning: {warning}")));
        finished.result.notes.iter().for_each(|note| output::tell(&format!("note: {note}")));
    }
    view_closed?;
    if finished.interrupted {
        return Ok(Exit::Interrupted);
    }
    let Finished { result, ended, reports, folder, written, experiment, places, bounds, .. } = finished;
    let status = match ended {
        Ended::Failed(complaint) => return Err(complaint),
        Ended::Program(status) => status,
    };
    written
        .map_err(|what| Complaint::new(Exit::Failed, what, "the program has run to its end; the file is not whole"))?;
    output::ignore_broken_pipe(printed)?;
    if let Some(file) = recording {
        let collectives = collectives_of(&reports);
        file.write(&mut |out| recording::write(folder.path(), &collectives, (reports.len(), cycle), out))?;
    }
    if spans_file.is_some() || page_file.is_some() {
        let timeline = timeline::read(folder.path(), reports.len())?;
        let title = title(matches, &experiment);
        if let Some(file) = spans_file {
            file.write(&mut |out| write_timeline(&title, &timeline, out))?;
        }
        if let Some(file) = page_file {
            let run = ProgramRun {
                title: &title,
                result: &result,
                topology: experiment.topology().map(|topology| &**topology),
                nodes: experiment.geometry().nodes(),
                places: &places,
                spans: timeline.spans(),
                messages: timeline.messages(),
                binding: bounds.as_deref(),
            };
            file.write(&mut |out| out.write_all(program_page(&run).as_bytes()))?;
        }
    }
    if !quiet && result.failure.is_none() {
        output::tell(&summary(&result));
        sync::line(matches, &result).into_iter().for_each(|line| output::tell(&line));
    }
    if status == 0 {
        return Ok(Exit::Done);
    }
    drop(folder);
    // The exit status of a program need not be one of [`Exit`].
    std::process::exit(status)
}

/// The program and its network, as a title.
fn title(matches: &ArgMatches, experiment: &Experiment) -> String {
    let program = matches.get_many::<OsString>("program").and_then(|mut words| words.next());
    let name =
        program.map(Path::new).and_then(Path::file_name).map_or_else(String::new, |name| name.display().to_string());
    let network =
        experiment.topology().map_or_else(|| experiment.model.component.name.to_owned(), |shape| shape.spec());
    format!("{name} on {network}")
}

/// Writes the results to the file of `-o`.
fn write_result(matches: &ArgMatches, result: &RunResult, document: Document) -> Result<(), Complaint> {
    let format = serve::format(matches);
    document.write(&mut |out| write(format, result, out))
}

/// \[ps\] The clock of the last rank at its end.
fn virtual_time(result: &RunResult) -> u64 {
    result.ranks.iter().flatten().map(|rank| rank.time_ps).max().unwrap_or(0)
}

/// A line of text about the run. For a deterministic run it contains the digest, which is the same in each repetition.
fn summary(result: &RunResult) -> String {
    let setting = |name: &str| result.experiment.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
    let tail = if setting("mode") == "realtime" {
        let behind = result.behind_max_ps.unwrap_or(0) as f64 * 1e-12;
        let factor = result.experiment.get("factor").and_then(serde_json::Value::as_f64).unwrap_or(1.0);
        format!("real time, factor {factor}, at most {behind:.9} s behind: not deterministic")
    } else if setting("compute").starts_with("measured") {
        "computing was measured: not deterministic".to_owned()
    } else {
        format!("digest {}", result.guest_digest.as_deref().unwrap_or(""))
    };
    format!(
        "virtual time {:.9} s; {}, {:.0} per second of wall-clock time; {tail}",
        virtual_time(result) as f64 * 1e-12,
        counted(result.messages.unwrap_or(0), "message", "messages"),
        result.messages_per_second.unwrap_or(0.0),
    )
}

/// Number of collectives of all ranks, by operation.
fn collectives_of(reports: &[Result<Report, Unusable>]) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (name, count) in reports.iter().flatten().flat_map(|report| &report.collectives) {
        *all.entry(name.clone()).or_default() += count;
    }
    all
}
