//! Readers of trace formats: from files, folders and archives to the [`Program`] of each task.
//!
//! A format is one file of this module and one row of the table of readers. Formats are recognised by content, never by
//! the name of the file. All input is hostile until checked: no allocation follows a number in a file, and every error
//! gives the file and line, what was found and what was expected.
//!
//! Decision: docs/decisions/0045-hostile-input.md.

mod alog;
mod calls;
mod chakra;
mod dimemas;
mod dumpi;
mod error;
mod foreign;
mod goal;
mod input;
mod marks;
mod members;
mod mpi;
mod options;
mod otf2;
mod pmpi;
mod text;
mod ti;
mod trc;
mod trg;
pub mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use dumpi::{DumpiBinaries, dumpi_binaries};
pub use error::{Fault, Place, ReadError, plural};
pub use options::{ComputeUnit, ReadOptions, RecvOrder, unused_options};
pub use otf2::is_anchor;
pub use ti::datatype_bytes;

pub use self::input::{Entry, ReadFile, Source};

use self::input::Archive;
use super::chakra as chakra_trace;
use super::container;
use super::goal::Graph;
use super::matrix::Matrix;
use super::program::{Event, Program};
use super::timeline::Called;
use crate::catalog::{Component, Described, Table};
use crate::units::Picoseconds;

/// The formats that can be read. A new one is one file and one line here.
pub static FORMATS: Table<Reader> = Table::new(
    "trace format",
    &[
        &trg::READER,
        &trc::READER,
        &ti::READER,
        &goal::TEXT,
        &goal::BINARY,
        &chakra::READER,
        &pmpi::READER,
        &otf2::READER,
        &dumpi::READER,
        &dimemas::READER,
        &alog::READER,
    ],
);

/// How one format is recognised and read.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// Name, definition, source.
    pub component: Component,
    /// The traces of this format among the files of a source.
    pub find: fn(&Source<'_>) -> Vec<Candidate>,
    /// Reads one of these traces.
    pub read: fn(&Source<'_>, &Candidate, &ReadOptions) -> Result<Application, ReadError>,
}

impl Described for Reader {
    fn component(&self) -> &Component {
        &self.component
    }
}

/// A trace that was found in a source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// Name of the trace for the user: a file, or a folder if that holds nothing else.
    pub label: String,
    /// The files of the trace.
    pub layout: Layout,
}

/// How a trace is divided into files. Names are relative to the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Layout {
    /// One file holds everything.
    Whole(String),
    /// One file names the others.
    Index(String),
    /// One file per rank, in order of ranks.
    PerRank(Vec<String>),
}

/// An application that was read.
#[derive(Clone, PartialEq, Debug)]
pub enum Application {
    /// Every task is a sequence of events.
    Programs(Trace),
    /// Every task is a graph of operations.
    Graphs(GraphTrace),
    /// Every task is a graph of computations, messages and collectives.
    Chakra(ChakraTrace),
}

/// A Chakra trace that was read.
#[derive(Clone, PartialEq, Debug)]
pub struct ChakraTrace {
    /// Nodes of each rank, and groups.
    pub trace: chakra_trace::Trace,
    /// Name of the format, as in [`FORMATS`].
    pub format: &'static str,
    /// Decisions of the reader.
    pub notes: Vec<String>,
}

/// A graph that was read.
#[derive(Clone, PartialEq, Debug)]
pub struct GraphTrace {
    /// Operations and dependencies of each rank.
    pub graph: Graph,
    /// Name of the format, as in [`FORMATS`].
    pub format: &'static str,
    /// Decisions of the reader.
    pub notes: Vec<String>,
}

/// A trace that was read.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    /// The program of each task.
    pub program: Program,
    /// Name of the format, as in [`FORMATS`].
    pub format: &'static str,
    /// Lines read, blank ones and comments included.
    pub lines: u64,
    /// Collective calls that were expanded, summed over ranks, by name of the operation.
    pub collectives: BTreeMap<&'static str, u64>,
    /// The same calls by operation and algorithm; empty if they were expanded before the file was written.
    pub algorithms: BTreeMap<(&'static str, &'static str), u64>,
    /// Which of the calls a message belongs to.
    pub called: Called,
    /// Decisions of the reader.
    pub notes: Vec<String>,
    /// Suspicious findings that did not prevent reading.
    pub warnings: Vec<String>,
}

/// Reads the programs of a trace.
///
/// `path` is a trace file, a folder, an index file, or an archive (`.tar`, `.tar.xz`) or xz-compressed file that holds
/// a trace. If an archive holds several, `archive.tar.xz#name` selects one by folder or file.
///
/// # Errors
/// When there is no such file, it holds no trace or several, the text violates the format, or the trace is a graph.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Trace, ReadError> {
    programs(open(path, options)?, path)
}

/// Reads an application of any kind. `path` is as in [`read`].
///
/// # Errors
/// As [`read`].
pub fn open(path: &Path, options: &ReadOptions) -> Result<Application, ReadError> {
    options.check().map_err(|refusal| Place::of(path).error(Fault::Option(refusal)))?;
    read_source(&Source::open(path)?, options)
}

/// Reads the programs of a trace from the bytes of one file, which may be an archive. `name` stands for its path in
/// errors.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Trace, ReadError> {
    programs(open_bytes(name, bytes, options)?, Path::new(name))
}

/// Reads an application of any kind from the bytes of one file, like [`read_bytes`].
///
/// # Errors
/// As [`read`].
pub fn open_bytes(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Application, ReadError> {
    options.check().map_err(|refusal| Place::of(Path::new(name)).error(Fault::Option(refusal)))?;
    read_source(&Source::memory(name, bytes)?, options)
}

/// Opens a `.trg` container on disk, to be read block by block; `None` if the file is something else.
///
/// # Errors
/// When the file cannot be opened, or is a container that cannot be read.
pub fn open_container(path: &Path) -> Result<Option<container::Reader>, ReadError> {
    trg::open_file(path)
}

/// The other files of a trace that `path`, a file, names: those of the ranks in an index. None of a trace of any other form.
#[must_use]
pub fn companions(path: &Path) -> Vec<PathBuf> {
    ti::indexed(path)
}

/// The communication matrix of the programs in a container on disk, which is read once, block by block.
///
/// # Errors
/// A damaged block, with its place in the file.
pub fn container_matrix(path: &Path, container: &container::Reader) -> Result<Matrix, ReadError> {
    trg::matrix(path, container)
}

/// The programs of an application; a graph is rejected.
fn programs(application: Application, path: &Path) -> Result<Trace, ReadError> {
    match application {
        Application::Programs(trace) => Ok(trace),
        Application::Graphs(GraphTrace { format, .. }) | Application::Chakra(ChakraTrace { format, .. }) => {
            Err(Place::of(path).error(Fault::Structure {
                what: format!("a graph of operations ({format}), where programs of events are expected"),
                remedy: "a graph cannot be made a sequence of events; use a command that takes graphs",
            }))
        }
    }
}

/// Recognises and reads the only trace in a source, or the selected one.
fn read_source(source: &Source<'_>, options: &ReadOptions) -> Result<Application, ReadError> {
    let readers: Vec<&Reader> = match &options.from {
        None => FORMATS.rows().to_vec(),
        Some(name) => {
            let unknown = || source.place().error(Fault::Option(FORMATS.unknown(name)));
            vec![FORMATS.find(name).ok_or_else(unknown)?]
        }
    };
    let mut found: Vec<(&Reader, Candidate)> = Vec::new();
    for &reader in &readers {
        found.extend((reader.find)(source).into_iter().map(|candidate| (reader, candidate)));
    }
    let dumpi = options.from.as_deref().is_none_or(|from| from == dumpi::READER.component.name);
    let binaries = dumpi && dumpi::holds_binaries(source);
    if found.is_empty() && binaries {
        return Err(nothing_found(source));
    }
    // A format given by the user is tried even if the file does not look like it: its error explains why.
    if let (true, Some(entry), [reader]) = (found.is_empty(), source.only_entry(), &readers[..])
        && options.from.is_some()
    {
        found.push((reader, Candidate { label: entry.name.clone(), layout: Layout::Whole(entry.name.clone()) }));
    }
    if let Some(selection) = source.selection() {
        let labels: Vec<&str> = found.iter().map(|(_, candidate)| candidate.label.as_str()).collect();
        let error = source.no_such_member(selection, &labels);
        found.retain(|(_, candidate)| candidate.is_selected_by(selection));
        if found.is_empty() || !source.is_archive() {
            return Err(if binaries { nothing_found(source) } else { error });
        }
    }
    match &found[..] {
        [(reader, candidate)] => {
            if let Some(fault) = one_of_set(source, reader, candidate) {
                return Err(source.place().error(fault));
            }
            (reader.read)(source, candidate, options)
        }
        [] => Err(nothing_found(source)),
        several => {
            let choices = several.iter().map(|(_, candidate)| candidate.label.clone()).collect();
            Err(source.place().error(Fault::SeveralTraces { choices, archive: source.is_archive() }))
        }
    }
}

/// The fault of the file of one rank, given alone, if the files of the other ranks are beside it: alone it would be
/// another program.
fn one_of_set(source: &Source<'_>, reader: &Reader, candidate: &Candidate) -> Option<Fault> {
    let file = match &candidate.layout {
        Layout::Whole(file) => file,
        Layout::PerRank(files) if files.len() == 1 => &files[0],
        Layout::PerRank(_) | Layout::Index(_) => return None,
    };
    let (family, _) = mpi::rank_of_name(file).filter(|_| source.is_single_file())?;
    let is_family = |name: &str| mpi::rank_of_name(name).is_some_and(|(other, _)| other == family);
    let beside = Source::beside(&source.place().path, &is_family).ok()?;
    // The whole of it must be one trace in the eyes of the same reader, with ranks 0, 1, 2, ...
    let found = (reader.find)(&beside);
    let [Candidate { layout: Layout::PerRank(files), .. }] = &found[..] else { return None };
    let in_order = |(rank, file): (u64, &String)| mpi::rank_of_name(file).is_some_and(|(_, of_name)| of_name == rank);
    // Files for all ranks, of several traces, begin with the same rank.
    let is_set = reader.component.name != ti::READER.component.name || ti::check_ranks(&beside, files).is_ok();
    let is_whole = is_set && files.len() > 1 && (0..).zip(files).all(in_order);
    let rank = files.iter().position(|other| other == file).filter(|_| is_whole)?;
    Some(Fault::OneOfSet { rank, ranks: files.len() })
}

/// The fault of a folder that holds archives and no trace.
fn archives_fault(found: &[Archive]) -> Fault {
    let names = found.iter().map(|archive| archive.name.clone()).collect();
    // Prefer an archive that can be read directly.
    let first = found.iter().find(|archive| archive.command.is_none()).or(found.first());
    let (first, command) = first.map_or((String::new(), None), |first| (first.name.clone(), first.command));
    Fault::Archives { names, first, command }
}

/// The error for a source without a trace that can be read.
fn nothing_found(source: &Source<'_>) -> ReadError {
    let known = format!("known formats: {}; `fsin list formats` describes them", FORMATS.names().join(", "));
    let known_otherwise = otf2::archive(source)
        .or_else(|| dumpi::holds_binaries(source).then(dumpi::unprinted))
        .or_else(|| foreign::fault(source))
        .or_else(|| (!source.archives().is_empty()).then(|| archives_fault(source.archives())));
    let fault = known_otherwise.unwrap_or_else(|| match source.only_entry() {
        Some(entry) if !source.is_archive() => match entry.head.first() {
            None => Fault::Empty,
            Some(line) => Fault::UnknownFormat { found: line.clone(), known },
        },
        _ => Fault::NoTrace { files: source.entries().len(), known },
    });
    source.place().error(fault)
}

impl Candidate {
    /// True if the name that the user selected is the trace, or a folder that contains it.
    fn is_selected_by(&self, selection: &str) -> bool {
        let below =
            |name: &str| name.strip_prefix(selection).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        below(&self.label)
            || match &self.layout {
                Layout::Whole(file) | Layout::Index(file) => below(file),
                Layout::PerRank(files) => files.first().is_some_and(|file| below(input::folder_of(file))),
            }
    }
}

/// Appends computing time, merged with an immediately preceding one; nothing for a time of 0.
fn push_compute(events: &mut Vec<Event>, time: Picoseconds) {
    match events.last_mut() {
        _ if time.0 == 0 => {}
        Some(Event::Compute(before)) => before.0 = before.0.saturating_add(time.0),
        _ => events.push(Event::Compute(time)),
    }
}
