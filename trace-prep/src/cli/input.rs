//! Opens the inputs given on the command line.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap::parser::ValueSource::CommandLine;
use fsin_archives::open;
use trace_prep::output;
use trgen::trace::formats::{Application, ChakraTrace, ComputeUnit, ReadOptions, Trace, unused_options};
use trgen::trace::goal::Graph;

use super::meter::Meter;
use super::{Complaint, Exit, write_stderr};

/// A trace that a command has read.
#[derive(Debug)]
pub(super) struct Loaded {
    /// The trace, with the remarks of its reader.
    pub(super) application: Application,
    /// True if the user wants no progress, notes or warnings.
    pub(super) quiet: bool,
}

/// True if the flag `-q` is given.
pub(super) fn quiet(matches: &ArgMatches) -> bool {
    matches.get_flag("quiet")
}

/// The options of trace readers that the flags give.
pub(super) fn read_options(matches: &ArgMatches) -> Result<ReadOptions, Complaint> {
    let word = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let compute_unit = match word("trace-unit") {
        Some("us") => ComputeUnit::Microseconds,
        Some("ms") => ComputeUnit::Milliseconds,
        _ => ComputeUnit::Nanoseconds,
    };
    let defaults = ReadOptions::default();
    Ok(ReadOptions {
        flop_rate: matches.get_one("flop-rate").copied().unwrap_or(defaults.flop_rate),
        compute_unit,
        recv_order: word("recv-order").unwrap_or("detect").parse()?,
        collectives: word("collectives").map(str::parse).transpose()?.unwrap_or_default(),
        from: word("from").map(str::to_owned),
        max_events: matches.get_one("max-events").copied().unwrap_or(defaults.max_events),
        groups: None,
    })
}

/// The path in the required argument `name`.
pub(super) fn path_argument(matches: &ArgMatches, name: &str) -> Result<PathBuf, Complaint> {
    let missing = || Complaint::new(Exit::Usage, format!("no {name} given"), "see --help");
    matches.get_one::<PathBuf>(name).cloned().ok_or_else(missing)
}

/// The output path in the argument `name`, checked before any work for whether it can be written.
pub(super) fn output(matches: &ArgMatches, name: &str) -> Result<PathBuf, Complaint> {
    let path = path_argument(matches, name)?;
    let flag = if name == "output" { "-o".to_owned() } else { format!("--{name}") };
    output::check(&path).map_err(|error| Complaint::new(Exit::Usage, format!("{flag} {error}"), error.remedy()))?;
    Ok(path)
}

/// Reads the trace given by the argument `input`, and reports the reader's remarks.
pub(super) fn load(matches: &ArgMatches) -> Result<Loaded, Complaint> {
    let loaded = load_silently(&path_argument(matches, "input")?, matches)?;
    if !loaded.quiet {
        let (notes, warnings) = loaded.remarks();
        report_remarks(notes, warnings);
    }
    Ok(loaded)
}

/// Prints the remarks of a reader on stderr.
pub(super) fn report_remarks(notes: &[String], warnings: &[String]) {
    notes.iter().for_each(|note| write_stderr(&format!("note: {note}")));
    warnings.iter().for_each(|warning| write_stderr(&format!("warning: {warning}")));
}

/// Reads a trace without reporting the remarks, which the caller reports once the command is known to be possible.
pub(super) fn load_silently(path: &Path, matches: &ArgMatches) -> Result<Loaded, Complaint> {
    let quiet = quiet(matches);
    let meter = Meter::new(quiet, &format!("reading {}", path.display()));
    let options = read_options(matches)?;
    let application = open(path, &options)?;
    drop(meter);
    let expandable = matches!(&application, Application::Programs(trace) if !trace.algorithms.is_empty());
    if matches.get_one::<String>("collectives").is_some() && !expandable {
        let what = format!("{}: --collectives has nothing to act on: no collectives, or expanded ones", path.display());
        return Err(Complaint::new(Exit::Usage, what, "leave it out, or give the original trace"));
    }
    if expandable {
        options.collectives.check_programs()?;
    }
    let format = match &application {
        Application::Programs(trace) => trace.format,
        Application::Graphs(trace) => trace.format,
        Application::Chakra(trace) => trace.format,
    };
    let is_flag = |key: &str| matches.try_contains_id(key).is_ok() && matches.value_source(key) == Some(CommandLine);
    // The format simgrid-ti counts operations, so that writing it needs a flop rate, whatever the input format.
    let to = matches.try_get_one::<String>("to").ok().flatten();
    let is_used = |key: &str| key == "flop-rate" && to.is_some_and(|to| to == "simgrid-ti");
    if let Some((key, readable)) = unused_options(format).find(|(key, _)| is_flag(key) && !is_used(key)) {
        let what = format!("{}: --{key} says how {readable} is read, and this is {format}", path.display());
        return Err(Complaint::new(Exit::Usage, what, "leave it out"));
    }
    Ok(Loaded { application, quiet })
}

impl Loaded {
    /// The notes and the warnings of the reader.
    fn remarks(&self) -> (&[String], &[String]) {
        match &self.application {
            Application::Programs(trace) => (&trace.notes, &trace.warnings),
            Application::Graphs(graph) => (&graph.notes, &[]),
            Application::Chakra(trace) => (&trace.notes, &[]),
        }
    }

    /// The programs; a graph is rejected.
    pub(super) fn programs(self, command: &str) -> Result<Trace, Complaint> {
        match self.application {
            Application::Programs(trace) => Ok(trace),
            Application::Graphs(graph) => Err(Complaint::new(
                Exit::Usage,
                format!("`{command}` takes programs of events, and this is a graph ({})", graph.format),
                "graphs can be imported, exported, checked and described",
            )),
            Application::Chakra(trace) => Err(only_described(&trace)),
        }
    }

    /// The graph; programs are converted to one.
    pub(super) fn graph(self) -> Result<Graph, Complaint> {
        match self.application {
            Application::Programs(trace) => Ok(trgen::trace::goal::chain::graph(&trace.program)?),
            Application::Graphs(graph) => Ok(graph.graph),
            Application::Chakra(trace) => Err(only_described(&trace)),
        }
    }
}

/// The error of a command that cannot take a Chakra trace.
pub(super) fn only_described(trace: &ChakraTrace) -> Complaint {
    Complaint::new(
        Exit::Usage,
        format!("this is a graph of computations and collectives ({}), which `info` and `matrix` take", trace.format),
        "`fsin run --trace` runs it; with --network zero it shows whether all ranks end",
    )
}
