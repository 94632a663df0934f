//! Commands that derive a trace from traces, or from a short specification.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use trace_prep::transform::Left;
use trace_prep::{output, transform};
use trgen::catalog::{Component, suggestion};
use trgen::trace::container::Writer;
use trgen::trace::formats::{Application, GraphTrace, Trace, plural};
use trgen::trace::goal::chain;
use trgen::trace::goal::patterns;
use trgen::trace::kernels;
use trgen::trace::program::Program;

use super::input::{self, Loaded, load_silently, report_remarks};
use super::meter::Meter;
use super::store::{header, history, programs_header, store_graph, store_program};
use super::{Complaint, Exit, write_stdout};

/// Reads programs, changes them and writes them. `how` is the command with its flags, which the new trace appends to
/// its history. `change` returns remarks on the change.
fn change(
    matches: &ArgMatches,
    command: &str,
    how: &str,
    change: impl FnOnce(&mut Trace) -> Result<Vec<String>, Complaint>,
) -> Result<Exit, Complaint> {
    let path = input::output(matches, "output")?;
    let loaded = load_silently(&input::path_argument(matches, "input")?, matches)?;
    change_loaded(&path, loaded, command, how, change)
}

/// Changes a trace that has been read, as `change` does, and writes it to `path`.
fn change_loaded(
    path: &Path,
    loaded: Loaded,
    command: &str,
    how: &str,
    change: impl FnOnce(&mut Trace) -> Result<Vec<String>, Complaint>,
) -> Result<Exit, Complaint> {
    let quiet = loaded.quiet;
    let mut trace: Trace = loaded.programs(command)?;
    let (notes, warnings) = (trace.notes.clone(), trace.warnings.clone());
    let history = history(trace.format, &mut trace.notes);
    let remarks = change(&mut trace)?;
    if !quiet {
        report_remarks(&notes, &warnings);
        report_remarks(&remarks, &[]);
    }
    trace.notes.extend(remarks);
    let origin = format!("{history}, then {command} {how}");
    store_program(path, &header(&trace, &origin), &trace.program, quiet)?;
    Ok(Exit::Done)
}

/// The command `scale`.
pub(super) fn scale(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let factor = |name: &str| matches.get_one::<f64>(name).copied().unwrap_or(1.0);
    let tasks = range(matches)?;
    if !matches.contains_id("compute") && !matches.contains_id("bytes") {
        let remedy = "give --compute 0.5, --bytes 2, or both";
        return Err(Complaint::new(Exit::Usage, "nothing to scale by", remedy));
    }
    let how = given_flags(matches, &["compute", "bytes", "tasks"]);
    if tasks.is_some() && factor("bytes") != 1.0 {
        let what = "--bytes with --tasks: a message has the same size on both sides";
        return Err(Complaint::new(Exit::Usage, what, "scale computing of some tasks, or bytes of all"));
    }
    let path = input::output(matches, "output")?;
    let loaded = load_silently(&input::path_argument(matches, "input")?, matches)?;
    if let Application::Graphs(GraphTrace { mut graph, format, mut notes }) = loaded.application {
        if !loaded.quiet {
            report_remarks(&notes, &[]);
        }
        transform::scale_graph(&mut graph, factor("compute"), factor("bytes"), tasks)?;
        let history = history(format, &mut notes);
        store_graph(&path, &graph, &format!("{history}, then scale {how}"))?;
        return Ok(Exit::Done);
    }
    change_loaded(&path, loaded, "scale", &how, |trace| {
        match tasks {
            Some((first, end)) => {
                transform::speed(&mut trace.program, first, end, factor("compute"))?;
            }
            None => transform::scale(&mut trace.program, factor("compute"), factor("bytes"))?,
        }
        Ok(Vec::new())
    })
}

/// The flags among `flags` that the user has given, as written and in the same order.
fn given_flags(matches: &ArgMatches, flags: &[&str]) -> String {
    let words = flags.iter().filter_map(|flag| {
        let values = matches.get_raw(flag)?.map(|value| value.to_string_lossy().into_owned());
        Some((matches.index_of(flag), format!("--{flag} {}", values.collect::<Vec<_>>().join(" "))))
    });
    let mut words: Vec<_> = words.collect();
    words.sort();
    words.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

/// The range of tasks given by `--tasks FIRST..END`.
fn range(matches: &ArgMatches) -> Result<Option<(usize, usize)>, Complaint> {
    let Some(text) = matches.get_one::<String>("tasks") else { return Ok(None) };
    let parsed = text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    let bad = || Complaint::new(Exit::Usage, format!("--tasks `{text}` is no range"), "write --tasks 0..8");
    parsed.map(Some).ok_or_else(bad)
}

/// A part of a run, given by the numbers of two calls of collectives. Either may be absent.
struct Between {
    /// The part begins after this call; `None` for the beginning of the run.
    after: Option<u64>,
    /// The part ends before this call; `None` for the end of the run.
    before: Option<u64>,
}

/// The part given by `--between FIRST..LAST`.
fn between(matches: &ArgMatches) -> Result<Option<Between>, Complaint> {
    let Some(text) = matches.get_one::<String>("between") else { return Ok(None) };
    let bad = || {
        let what = format!("--between `{text}` names no calls of collectives");
        Complaint::new(Exit::Usage, what, "write --between 3..34, 3.. up to the end, or ..34 from the beginning")
    };
    let (after, before) = text.split_once("..").ok_or_else(bad)?;
    let call = |text: &str| match text {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| bad()),
    };
    match (call(after)?, call(before)?) {
        (None, None) => Err(bad()),
        (after, before) => Ok(Some(Between { after, before })),
    }
}

/// The command `slice`.
pub(super) fn slice(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let events = matches.get_one::<usize>("events").copied();
    let range = range(matches)?;
    let between = between(matches)?;
    if events.is_none() && range.is_none() && between.is_none() {
        let remedy = "give --tasks 0..8, --between 3..34, --events 1000, or several";
        return Err(Complaint::new(Exit::Usage, "nothing to cut by", remedy));
    }
    change(matches, "slice", &given_flags(matches, &["tasks", "between", "events"]), |trace| {
        let mut program = std::mem::take(&mut trace.program);
        // The reader's remarks apply to the whole trace.
        for note in trace.notes.iter_mut().chain(&mut trace.warnings) {
            *note = format!("before the slice: {note}");
        }
        let mut remarks = Vec::new();
        let mut cut = |(part, left): (Program, Left), by: &str, outside: &str| {
            if left != Left::default() {
                remarks.push(format!("by --{by}, {}", left_out(&left, outside)));
            }
            part
        };
        // First, while the program still has all tasks: calls are counted over all of them.
        if let Some(Between { after, before }) = between {
            program = cut(transform::between(program, after, before)?, "between", "whose other end is outside");
        }
        if let Some((first, end)) = range {
            program = cut(transform::tasks(program, first, end)?, "tasks", "with tasks outside");
        }
        if let Some(events) = events {
            program = cut(transform::prefix(program, events)?, "events", "whose other end is outside");
        }
        trace.program = program;
        // The number of remaining calls is unknown.
        trace.collectives.clear();
        Ok(remarks)
    })
}

/// Describes the messages that a slice omits; `outside` says why.
fn left_out(left: &Left, outside: &str) -> String {
    let count = |messages: u64, bytes: u64, how: &str| {
        let (word, unit) = (plural(messages as usize, "message", "messages"), plural(bytes as usize, "byte", "bytes"));
        format!("{messages} {word} {how} ({bytes} {unit})")
    };
    let sent = count(left.sent, left.sent_bytes, "sent");
    let received = count(left.received, left.received_bytes, "received");
    format!("messages {outside} are left out: {sent}, {received}")
}

/// The command `merge`.
pub(super) fn merge(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let path = input::output(matches, "output")?;
    let mut programs = Vec::new();
    let (mut notes, mut remarks) = (Vec::new(), Vec::new());
    for input in matches.get_many::<PathBuf>("inputs").into_iter().flatten() {
        let mut trace = load_silently(input, matches)?.programs("merge")?;
        remarks.push((trace.notes.clone(), trace.warnings.clone()));
        let history = history(trace.format, &mut trace.notes);
        let tasks = trace.program.tasks.len();
        let word = plural(tasks, "task", "tasks");
        notes.push(format!("{tasks} {word} from {}: {history}", input.display()));
        programs.push(trace.program);
    }
    let origin = format!("merged from {} {}", programs.len(), plural(programs.len(), "trace", "traces"));
    let merged = transform::merge(programs)?;
    if !input::quiet(matches) {
        remarks.iter().for_each(|(notes, warnings)| report_remarks(notes, warnings));
    }
    let header = programs_header(merged.tasks.len(), &origin, Vec::new(), notes);
    store_program(&path, &header, &merged, input::quiet(matches))?;
    Ok(Exit::Done)
}

/// The command `remap`.
pub(super) fn remap(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let spec = matches.get_one::<String>("permutation").cloned().unwrap_or_default();
    change(matches, "remap", &given_flags(matches, &["permutation"]), |trace| {
        let numbers = transform::permutation(&spec, trace.program.tasks.len())?;
        trace.program = transform::remap(std::mem::take(&mut trace.program), &numbers);
        Ok(Vec::new())
    })
}

/// The command `generate` without a subcommand: writes a kernel or a graph pattern, or lists them.
pub(super) fn generate(matches: &ArgMatches) -> Result<Exit, Complaint> {
    if matches.get_flag("list") {
        return list();
    }
    let spec = matches.get_one::<String>("spec").map_or("", String::as_str);
    let path = input::output(matches, "output")?;
    let repeat = matches.get_one::<u64>("repeat").copied().unwrap_or(1);
    let (family, spec) = match spec.split_once('/') {
        Some((family @ ("kernel" | "pattern"), spec)) => (Some(family), spec),
        _ => (None, spec),
    };
    let name = spec.split([':', '(']).next().unwrap_or_default().trim();
    let is_kernel = family != Some("pattern") && kernels::components().any(|component| component.name == name);
    let is_pattern = family != Some("kernel") && patterns::components().any(|component| component.name == name);
    // If a kernel and a pattern share a name, `tasks` chooses the kernel and `ranks` the pattern.
    if is_kernel && is_pattern && !spec.contains("ranks") && !spec.contains("tasks") {
        let what = format!("`{name}` is a kernel and a graph pattern");
        return Err(Complaint::new(Exit::Usage, what, format!("write kernel/{spec} or pattern/{spec}")));
    }
    // A collective as a graph: the program of its kernel. Some have a pattern of the same name, whose ranks are `ranks`.
    let is_known =
        || kernels::components().any(|known| known.name == name || kernels::aliases(known.name).contains(&name));
    let is_chain = family == Some("pattern") && is_known() && (!is_pattern || spec.contains("tasks"));
    if is_pattern && !is_chain && !(is_kernel && spec.contains("tasks")) {
        if repeat != 1 {
            return Err(Complaint::new(Exit::Usage, "--repeat with a graph pattern", "use it with a kernel"));
        }
        store_graph(&path, &patterns::parse(spec)?, &format!("generated as {spec}"))?;
        return Ok(Exit::Done);
    }
    if is_chain && !kernels::collectives(spec, 16, None)?.is_empty() {
        let graph = chain::graph(&kernels::parse(spec, 16, None)?).map_err(|error| {
            Complaint::new(Exit::Usage, format!("`{spec}` is no graph: {error}"), "write it as a kernel")
        })?;
        store_graph(&path, &graph, &format!("generated as {spec}"))?;
        return Ok(Exit::Done);
    }
    if !is_kernel {
        let names: Vec<&str> = kernels::components().chain(patterns::components()).map(|known| known.name).collect();
        let remedy = suggestion(name, &names);
        let remedy = format!("{remedy}; `trace-prep generate --list` describes kernels and patterns");
        let sought = match family {
            Some("pattern") => "graph pattern",
            Some(family) => family,
            None => "kernel or graph pattern",
        };
        return Err(Complaint::new(Exit::Usage, format!("no {sought} is called `{name}`"), remedy));
    }
    let program = kernels::parse(spec, 16, None)?;
    let repeat_flag = if repeat == 1 { String::new() } else { format!(" --repeat {repeat}") };
    let header =
        programs_header(program.tasks.len(), &format!("generated as {spec}{repeat_flag}"), Vec::new(), Vec::new());
    let meter = Meter::new(matches.get_flag("quiet"), &format!("writing {}", path.display()));
    output::file(&path, |out| {
        let mut writer = Writer::new(out, &header)?;
        let mut events = 0_u64;
        for (task, steps) in (0..).zip(&program.tasks) {
            for _ in 0..repeat {
                for event in steps {
                    writer.event(task, event)?;
                }
                events += steps.len() as u64;
                meter.set_events(events);
            }
        }
        writer.finish()?;
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// Prints the names and definitions of kernels and graph patterns.
fn list() -> Result<Exit, Complaint> {
    let mut text = String::new();
    let mut add = |title: &str, components: &mut dyn Iterator<Item = &'static Component>| {
        let _ = writeln!(text, "{title}");
        for component in components {
            let _ = writeln!(text, "  {:<24}{}", component.name, component.about);
        }
    };
    add("kernels (programs)", &mut kernels::components());
    add("patterns (graphs)", &mut patterns::components());
    write_stdout(&text)?;
    Ok(Exit::Done)
}
