//! Logs of the MPI calls of each process, one file per process: the common part of all such formats.
//!
//! A format turns a file into [`Record`]s, in two passes: one to track the communicators of all processes together, one
//! for the events.

pub(super) mod call;
mod comms;
mod rank;

use std::collections::{BTreeMap, HashMap};

use self::call::Record;
use self::comms::{Number, Step};
use self::rank::{Rank, Shared, Tally};
use super::calls::Calls;
use super::error::{Fault, ReadError, plural};
use super::input::{Entry, Source, folder_of};
use super::options::ReadOptions;
use super::text::Lines;
use super::{Candidate, Layout, Trace};
use crate::trace::collectives::Agreement;
use crate::trace::program::{Event, Program};

/// Which calls a pass over the files needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pass {
    /// Calls that create communicators and groups; others may be omitted.
    Communicators,
    /// Every call.
    Events,
}

/// Receives the number of a line and the call in it.
pub(super) type Each<'e> = dyn FnMut(u64, Record) -> Result<(), ReadError> + 'e;

/// A format of one file per process.
pub(super) trait Log {
    /// Reads the file of a rank; called once for each rank and pass.
    fn read(&mut self, rank: usize, pass: Pass, lines: &mut Lines<'_>, each: &mut Each<'_>) -> Result<(), ReadError>;
}

/// Splits the name of a file into the name without its rank, and the rank: the last number in the name.
pub(super) fn rank_of_name(name: &str) -> Option<(String, u64)> {
    let file = name.rsplit('/').next()?;
    let end = file.rfind(|c: char| c.is_ascii_digit())? + 1;
    let digits = file[..end].bytes().rev().take_while(u8::is_ascii_digit).count();
    let rank = file[end - digits..end].parse().ok()?;
    Some((format!("{}/{}\0{}", folder_of(name), &file[..end - digits], &file[end..]), rank))
}

/// The traces among the files of a source for which `belongs` holds. Files whose names differ only in the rank belong
/// to one trace.
pub(super) fn families(source: &Source<'_>, belongs: fn(&Entry) -> bool) -> Vec<Candidate> {
    let mut families: BTreeMap<String, Vec<(u64, &str)>> = BTreeMap::new();
    for entry in source.entries() {
        if let (true, Some((family, rank))) = (belongs(entry), rank_of_name(&entry.name)) {
            families.entry(family).or_default().push((rank, &entry.name));
        }
    }
    let mut in_folder: HashMap<String, usize> = HashMap::new();
    for files in families.values() {
        *in_folder.entry(folder_of(files[0].1).to_owned()).or_default() += 1;
    }
    let of_family = |mut files: Vec<(u64, &str)>| {
        files.sort_unstable();
        let folder = folder_of(files[0].1);
        let alone = in_folder.get(folder) == Some(&1) && !folder.is_empty();
        let label = if alone { folder } else { files[0].1 };
        let files = files.iter().map(|(_, file)| (*file).to_owned()).collect();
        Candidate { label: label.to_owned(), layout: Layout::PerRank(files) }
    };
    families.into_values().map(of_family).collect()
}

/// The files of a candidate; none may be missing.
pub(super) fn files_of(source: &Source<'_>, candidate: &Candidate) -> Result<Vec<String>, ReadError> {
    let files: Vec<String> = match &candidate.layout {
        Layout::PerRank(files) => files.clone(),
        Layout::Whole(file) | Layout::Index(file) => vec![file.clone()],
    };
    for (position, file) in (0_u64..).zip(&files) {
        let rank = rank_of_name(file).map_or(position, |(_, rank)| rank);
        if rank != position && files.len() > 1 {
            let (highest, rank) = (files.len() as u32, position as u32);
            return Err(source.place().error(Fault::MissingRank { rank, highest }));
        }
    }
    Ok(files)
}

/// Reads a trace of the format called `format`.
pub(super) fn read(
    source: &Source<'_>,
    candidate: &Candidate,
    options: &ReadOptions,
    format: &'static str,
    log: &mut dyn Log,
) -> Result<Trace, ReadError> {
    let files = files_of(source, candidate)?;
    let mut steps: Vec<Vec<Step>> = vec![Vec::new(); files.len()];
    let mut lines_read = 0;
    source.visit(&files, &mut |rank, place, reader| {
        let mut lines = Lines::new(reader, place);
        log.read(rank, Pass::Communicators, &mut lines, &mut |line, record| {
            steps[rank].extend(Step::from_call(record.call, line));
            Ok(())
        })?;
        lines_read += lines.number();
        Ok(())
    })?;
    let place_of = |task: usize| source.place_of(&files[task]);
    let communicators = comms::resolve(&steps).map_err(|(task, line, fault)| place_of(task).line(line).error(fault))?;
    drop(steps);
    let agreement =
        |number: Number| Agreement::new(options.collectives.clone(), communicators.members(number, 0).len());
    let agreements = (0..communicators.count()).map(agreement).collect();
    let mut shared = Shared { communicators, agreements, calls: Calls::default(), tally: Tally::default() };
    let mut program = Program::new(files.len());
    let mut events = 0;
    let mut called = vec![HashMap::new(); files.len()];
    source.visit(&files, &mut |position, place, reader| {
        let mut rank = Rank::new(position);
        let mut lines = Lines::new(reader, place);
        log.read(position, Pass::Events, &mut lines, &mut |line, record| {
            let before = rank.events.len();
            rank.record(&mut shared, &record, line).map_err(|fault| place.line(line).error(fault))?;
            events += rank.events[before..].iter().map(event_weight).sum::<u64>();
            if events > options.max_events {
                return Err(place.line(line).error(Fault::TooManyEvents { limit: options.max_events }));
            }
            Ok(())
        })?;
        (program.tasks[position], called[position]) = rank.finish();
        Ok(())
    })?;
    Ok(finish(shared, program, &called, lines_read, format))
}

/// The weight of an event in the limit of events. A list of requests counts by its length: lines that name the same
/// requests again and again could otherwise take memory that grows with the square of the size of the file.
fn event_weight(event: &Event) -> u64 {
    match event {
        Event::After(requests) | Event::WaitAll(requests) | Event::WaitAny(requests) => 1 + requests.len() as u64 / 8,
        _ => 1,
    }
}

/// The trace, with notes and warnings.
fn finish(
    shared: Shared,
    program: Program,
    called: &[HashMap<Number, usize>],
    lines: u64,
    format: &'static str,
) -> Trace {
    let created = shared.communicators.count() - 1;
    let tally = &shared.tally;
    let mut notes: Vec<String> = shared.calls.note("each as one of its communicator").into_iter().collect();
    if created > 0 {
        let followed = plural(created, "communicator", "communicators");
        let was = plural(created, "was", "were");
        notes.push(format!("{created} {followed} beside the world {was} followed"));
    }
    if tally.alone > 0 {
        notes.push(format!("{} collective calls of one process alone, which send nothing", tally.alone));
    }
    if tally.cpu_gaps > 0 {
        let wall = if tally.wall_gaps > 0 { ", where there is one, else wall time" } else { "" };
        notes.push(format!("computing is the CPU time between calls{wall}"));
    }
    let counted = [
        ("waits that name no outstanding request (taken for complete)", tally.waits_without_request),
        ("calls that begin before the one before has ended (no computing between them)", tally.clock_steps_back),
        ("calls of MPI_Cancel (receives are taken for cancelled, sends for sent)", tally.cancelled),
        ("requests given up before they were complete (never waited for)", tally.forgotten),
    ];
    let counted = counted.iter().filter(|(_, count)| *count > 0);
    let mut warnings: Vec<String> = counted.map(|(what, count)| format!("{what}: {count}")).collect();
    if let [called] = called
        && !called.is_empty()
    {
        warnings.push(
            "there is one rank, and it calls collectives: if this is its file of several, give their folder".to_owned(),
        );
    }
    for number in 0..shared.communicators.count() {
        let members = shared.communicators.members(number, 0);
        let calls = |task: usize| called[task].get(&number).copied().unwrap_or_default();
        let most = members.iter().map(|task| calls(task.index())).max().unwrap_or_default();
        if let Some(task) = members.iter().find(|task| calls(task.index()) < most) {
            let count = calls(task.index());
            warnings.push(format!(
                "rank {task} ends after {count} collectives of communicator {number}, where others call {most}: it may \
                 have been killed"
            ));
        }
    }
    Trace {
        program,
        format,
        lines,
        collectives: shared.calls.by_operation(),
        algorithms: shared.calls.by_algorithm(),
        called: shared.calls.called(),
        notes,
        warnings,
    }
}
