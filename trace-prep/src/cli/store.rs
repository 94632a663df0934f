//! `import` and `export`: from any format to a container, and back.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use clap::ArgMatches;
use trace_prep::{output, transform};
use trgen::trace::container::{Content, Header, Writer};
use trgen::trace::formats::write::WriteError;
use trgen::trace::formats::{Application, Trace, plural, write};
use trgen::trace::goal::{Graph, Kind, binary, text};
use trgen::trace::program::{Event, Program, Totals};

use super::input::{self, Loaded, load};
use super::meter::Meter;
use super::{Complaint, Exit, write_stderr, write_stdout};

/// The format of containers.
const CONTAINER: &str = "trg";

/// Returns the origin to be written to the container of an unchanged trace. It is the name of the format that was read.
/// If that was a container, it is the origin of that container; its reader gives it as the first note, which is removed
/// from `notes`.
pub(super) fn origin(format: &str, notes: &mut Vec<String>) -> String {
    if format == CONTAINER && !notes.is_empty() { notes.remove(0) } else { format.to_owned() }
}

/// Returns the origin to be written to the container of a changed trace. As in [`origin`], the first note may be
/// removed from `notes`.
pub(super) fn history(format: &str, notes: &mut Vec<String>) -> String {
    match origin(format, notes) {
        name if name == format => format!("imported from {format}"),
        history => history,
    }
}

/// The header of a container for a trace.
pub(super) fn header(trace: &Trace, origin: &str) -> Header {
    let collectives = trace.collectives.iter().map(|(name, calls)| ((*name).to_owned(), *calls)).collect();
    let notes = trace.notes.iter().cloned().chain(trace.warnings.iter().map(|text| format!("warning: {text}")));
    programs_header(trace.program.tasks.len(), origin, collectives, notes.collect())
}

/// The header of a container of programs.
pub(super) fn programs_header(
    tasks: usize,
    origin: &str,
    collectives: Vec<(String, u64)>,
    notes: Vec<String>,
) -> Header {
    // Readers limit tasks to 2^24.
    Header { content: Content::Programs, tasks: tasks as u32, origin: origin.to_owned(), collectives, notes }
}

/// Writes programs as a container.
pub(super) fn store_program(path: &Path, header: &Header, program: &Program, quiet: bool) -> Result<(), Complaint> {
    let meter = Meter::new(quiet, &format!("writing {}", path.display()));
    output::file(path, |out| {
        let mut writer = Writer::new(out, header)?;
        writer.program(program)?;
        meter.set_events(program.tasks.iter().map(|events| events.len() as u64).sum());
        writer.finish()?;
        Ok(())
    })?;
    Ok(())
}

/// Writes a graph as a container.
pub(super) fn store_graph(path: &Path, graph: &Graph, origin: &str) -> Result<(), Complaint> {
    let header = Header {
        content: Content::Graphs,
        tasks: graph.ranks().len() as u32,
        origin: origin.to_owned(),
        collectives: Vec::new(),
        notes: Vec::new(),
    };
    output::file(path, |out| {
        let mut writer = Writer::new(out, &header)?;
        writer.graph(graph)?;
        writer.finish()?;
        Ok(())
    })?;
    Ok(())
}

/// Writes an unchanged trace or graph as a container.
fn store(path: &Path, loaded: Loaded) -> Result<(), Complaint> {
    match loaded.application {
        Application::Programs(trace) => store_trace(path, trace, loaded.quiet),
        Application::Graphs(mut graph) => store_graph(path, &graph.graph, &origin(graph.format, &mut graph.notes)),
        Application::Chakra(trace) => Err(input::only_described(&trace)),
    }
}

/// Writes unchanged programs as a container.
fn store_trace(path: &Path, mut trace: Trace, quiet: bool) -> Result<(), Complaint> {
    let origin = origin(trace.format, &mut trace.notes);
    store_program(path, &header(&trace, &origin), &trace.program, quiet)
}

/// The command `import`.
pub(super) fn import(matches: &ArgMatches) -> Result<Exit, Complaint> {
    store(&input::output(matches, "output")?, load(matches)?)?;
    Ok(Exit::Done)
}

/// The command `expand`.
pub(super) fn expand(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let output = matches.contains_id("output").then(|| input::output(matches, "output")).transpose()?;
    let loaded = load(matches)?;
    let quiet = loaded.quiet;
    let trace = loaded.programs("expand")?;
    if trace.algorithms.is_empty() {
        let what = "the trace has no collectives, or they have been expanded before".to_owned();
        return Err(Complaint::new(Exit::Usage, what, "give the trace that was imported, with its calls"));
    }
    let mut table = format!("{:<16}{:<20}{:>12}\n", "operation", "algorithm", "calls");
    for ((operation, algorithm), calls) in &trace.algorithms {
        let _ = writeln!(table, "{operation:<16}{algorithm:<20}{calls:>12}");
    }
    let totals = trace.program.totals();
    let _ = writeln!(table, "messages {}, bytes {}", totals.collective_messages, totals.collective_bytes);
    if let Some(path) = &output {
        store_trace(path, trace, quiet)?;
    }
    write_stdout(&table)?;
    Ok(Exit::Done)
}

/// A graph that a file can hold.
fn written(graph: Graph) -> Result<Graph, Complaint> {
    if graph.fits_files() {
        return Ok(graph);
    }
    let what = "a receive with any tag stands beside collectives, whose messages it would take from a graph in a file";
    Err(Complaint::new(
        Exit::Usage,
        what.to_owned(),
        "export to trg, which keeps them apart, or record without wildcards",
    ))
}

/// The command `export`.
pub(super) fn export(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let path = input::output(matches, "output")?;
    let mut loaded = load(matches)?;
    if let Application::Programs(trace) = &mut loaded.application
        && matches.get_one::<String>("to").is_some_and(|to| to != "trg")
    {
        transform::fill_sizes(&mut trace.program);
    }
    let (quiet, options) = (loaded.quiet, input::read_options(matches)?);
    let becomes_graph = matches!(loaded.application, Application::Programs(_));
    let (totals, empty) = match &loaded.application {
        Application::Programs(trace) => (trace.program.totals(), empty_sends(&trace.program)),
        Application::Graphs(trace) => (Totals::default(), empty_operations(&trace.graph)),
        Application::Chakra(trace) => return Err(input::only_described(trace)),
    };
    match matches.get_one::<String>("to").map(String::as_str) {
        Some("trg") => store(&path, loaded)?,
        Some("goal") => {
            let graph = written(loaded.graph()?)?;
            output::file(&path, |out| Ok(text::write(&graph, out)?))?;
        }
        Some("goal-bin") => {
            let graph = written(loaded.graph()?)?;
            output::file(&path, |out| Ok(binary::write(&graph, out)?))?;
        }
        Some("simgrid-ti") => {
            let trace = loaded.programs("export --to simgrid-ti")?;
            output::folder(&path, |folder| write_ti(folder, &trace.program, options.flop_rate))?;
        }
        _ => {
            let trace = loaded.programs("export --to fsin-trc")?;
            output::file(&path, |out| write::trc(&trace.program, out))?;
        }
    }
    if !quiet {
        write_stderr(&format!("note: wrote {}", path.display()));
        let to_graph = matches.get_one::<String>("to").is_some_and(|to| to.starts_with("goal"));
        let to = matches.get_one::<String>("to").map_or("", String::as_str);
        let collectives = totals.collective_messages;
        if collectives > 0 && to != "trg" {
            let messages = plural(collectives as usize, "message", "messages");
            write_stderr(&format!(
                "note: collectives are written as the messages that they were expanded to: {collectives} {messages} \
                 point to point, {} bytes; their calls cannot be told from them",
                totals.collective_bytes
            ));
        }
        if to == "simgrid-ti" {
            let rate = options.flop_rate;
            write_stderr(&format!(
                "note: computing is written as operations of tasks with {rate:e} flop/s, whatever the trace was read with: \
                 read it with --flop-rate {rate:e}, or write it with another"
            ));
        }
        if becomes_graph && to_graph {
            write_stderr(&format!("note: {HOSTS}"));
        }
        if empty > 0 && to_graph {
            let messages = plural(empty as usize, "message is", "messages are");
            write_stderr(&format!(
                "note: {empty} {messages} empty and written with size 0, as the format allows; LogGOPSim itself charges them \
                 g - G and o - O, a byte less than nothing, where this simulator charges g and o"
            ));
        }
    }
    Ok(Exit::Done)
}

/// Number of sends without payload in programs.
fn empty_sends(program: &Program) -> u64 {
    let sends = program.tasks.iter().flatten().filter_map(|event| match event {
        Event::Send(send) | Event::Isend(send, _) => Some(send),
        _ => None,
    });
    sends.filter(|send| send.bytes == 0).count() as u64
}

/// Number of sends without payload in a graph.
fn empty_operations(graph: &Graph) -> u64 {
    let operations = graph.ranks().iter().flat_map(|rank| rank.nodes());
    operations.filter(|node| node.kind == Kind::Send && node.size == 0).count() as u64
}

/// Remark on exported graphs: the host costs, which a graph lacks and which determine its execution time.
const HOSTS: &str = "a graph does not say what sending costs its hosts: `fsin run --trace` of it takes o=1500,g=1000,O=0,S=65535 \
                     (ns, ns, ns/byte, bytes), where the program had none; --hosts o=0,g=0 sets them";

/// Writes the format simgrid-ti into a folder: an index, and one file per task.
fn write_ti(folder: &Path, program: &Program, flop_rate: f64) -> Result<(), WriteError> {
    let labels = write::labels(program);
    let mut index = BufWriter::new(File::create(folder.join("index.txt"))?);
    for task in 0..program.tasks.len() {
        let name = format!("rank-{task}.txt");
        writeln!(index, "{name}")?;
        let mut file = BufWriter::new(File::create(folder.join(name))?);
        write::ti(program, &labels, task, flop_rate, &mut file)?;
        file.flush()?;
    }
    index.flush()?;
    Ok(())
}
