//! SimGrid's time-independent traces (TI): one action of one rank per line, in one file per rank or in a common file.
//!
//! ```text
//! init [1]                      1: default type is double, else byte
//! compute FLOPS                 sleep SECONDS
//! send|isend DST TAG COUNT [T]  recv|irecv SRC TAG COUNT [T]
//! wait SRC DST TAG              test SRC DST TAG         waitall [N]
//! sendRecv SCOUNT DST RCOUNT SRC [T T]
//! barrier                       bcast COUNT [ROOT [T]]      ...
//! ```
//!
//! An index names the file of each rank, in order of ranks; a name is searched for beside the index, from the parent
//! folder, and by its last component beside the index. An index of one name (or of the same name throughout) means a
//! file common to all ranks. A folder of rank files needs no index: each file's first line gives its rank.
//!
//! # How the model departs from reality, and who could notice
//! - Communicators are lost in this format: every collective involves all ranks, as in SimGrid's own replay. If the
//!   ranks do not all call the same collectives in the same order, the trace is rejected.
//! - Sizes of elements are those of x86-64 ([`datatype_bytes`]).
//! - `wait` finds its request by source, destination and tag, in order of creation. A wait that finds none is complete
//!   (the recording omits requests that a `test` has completed), and is counted in a warning. `waitall` waits for all
//!   outstanding requests, whatever number it gives. `test` is omitted: its request stays outstanding.
//! - `sendRecv` posts its receive, starts its send (both with tag 0) and waits for both.
//! - Every rank performs the computation of a reduction after its communication.
//! - Source -555 and tag -444 are SimGrid's any source and any tag.

mod actions;
mod datatype;
mod outstanding;
mod rank;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

pub use datatype::datatype_bytes;

use self::rank::{Rank, Shared};
use super::error::{Fault, Place, ReadError};
use super::input::{Source, folder_of};
use super::options::ReadOptions;
use super::text::{self, Lines, MAX_TASKS};
use super::{Application, Candidate, Layout, Reader, Trace};
use crate::catalog::{Component, Parameter};
use crate::trace::program::Program;

pub(super) const READER: Reader = Reader {
    component: Component {
        name: "simgrid-ti",
        about: "lines `rank action arguments`, in one file or in one file per rank with an index",
        parameters: &[Parameter {
            name: "flop-rate",
            about: "[flop/s] speed of a task",
            range: "above 0",
            default: "5e9",
        }],
        source: "SimGrid SMPI, time-independent traces (Desprez, Markomanolis, Quinson, Suter 2011)",
    },
    find,
    read: |source, candidate, options| read(source, candidate, options).map(Application::Programs),
};

/// The remark on lines that only older versions of SimGrid wrote.
const OLDER_DIALECT: &str = "an older dialect; SimGrid's simgrid_convert_TI_traces converts it";

/// How a trace of that dialect becomes one of today's.
const CONVERT: &str = "convert the whole trace with SimGrid's simgrid_convert_TI_traces";

/// The rank at the beginning of a line of actions, with or without `p`; `None` for other lines.
fn rank_of_line(line: &str) -> Option<u32> {
    let mut words = line.split_ascii_whitespace();
    let rank = words.next().map(|word| word.strip_prefix('p').unwrap_or(word))?;
    words.next().filter(|word| word.starts_with(|first: char| first.is_ascii_alphabetic()))?;
    let digits = !rank.is_empty() && rank.bytes().all(|byte| byte.is_ascii_digit());
    // A number that is too large still counts as a rank; the reader rejects it.
    digits.then(|| rank.parse().unwrap_or(u32::MAX))
}

/// The traces in a source.
fn find(source: &Source<'_>) -> Vec<Candidate> {
    let mut indices = Vec::new();
    let mut rank_files: BTreeMap<&str, Vec<(u32, &str)>> = BTreeMap::new();
    let mut indexed_folders = HashSet::new();
    let single = source.only_entry().is_some();
    for entry in source.entries() {
        let Some(first) = entry.head.first() else { continue };
        let folder = folder_of(&entry.name);
        if let Some(rank) = rank_of_line(first) {
            rank_files.entry(folder).or_default().push((rank, &entry.name));
            continue;
        }
        let named: Vec<String> = entry.head.iter().filter_map(|line| source.resolve(folder, line)).collect();
        let file = entry.name.rsplit('/').next().unwrap_or_default();
        // An index whose files are all missing is recognised only by its own name; reading it then reports what is
        // missing.
        let is_index = !named.is_empty() || (file.starts_with("index") && (single || file == "index.txt"));
        if is_index {
            indexed_folders.insert(folder.to_owned());
            indexed_folders.extend(named.iter().map(|name| folder_of(name).to_owned()));
            indices.push(entry.name.clone());
        }
    }
    let mut indices_in: HashMap<&str, usize> = HashMap::new();
    for index in &indices {
        *indices_in.entry(folder_of(index)).or_default() += 1;
    }
    let mut candidates = Vec::new();
    for index in &indices {
        let folder = folder_of(index);
        let alone = indices_in.get(folder) == Some(&1);
        let label = if alone && !folder.is_empty() { folder.to_owned() } else { index.clone() };
        candidates.push(Candidate { label, layout: Layout::Index(index.clone()) });
    }
    for (folder, mut files) in rank_files {
        if indexed_folders.contains(folder) {
            continue;
        }
        files.sort_unstable();
        let label = if folder.is_empty() || files.len() == 1 { files[0].1 } else { folder };
        let layout = match files[..] {
            [(_, file)] => Layout::Whole(file.to_owned()),
            _ => Layout::PerRank(files.iter().map(|(_, file)| (*file).to_owned()).collect()),
        };
        candidates.push(Candidate { label: label.to_owned(), layout });
    }
    candidates
}

/// Reads a trace.
fn read(source: &Source<'_>, candidate: &Candidate, options: &ReadOptions) -> Result<Trace, ReadError> {
    match &candidate.layout {
        Layout::Whole(file) => read_common(source, file, options),
        Layout::PerRank(files) => {
            check_ranks(source, files)?;
            let mut trace = read_per_rank(source, files, options)?;
            trace.notes.push("no index: each file's first line says which rank's it is".to_owned());
            Ok(trace)
        }
        Layout::Index(index) => {
            let (files, lines) = read_index(source, index)?;
            let mut trace = match &files[..] {
                [file] => read_common(source, file, options)?,
                [file, rest @ ..] if rest.iter().all(|other| other == file) => read_common(source, file, options)?,
                _ => read_per_rank(source, &files, options)?,
            };
            trace.lines += lines;
            Ok(trace)
        }
    }
}

/// The files that an index names; none if `path` is no index. Archives are not opened.
pub(super) fn indexed(path: &Path) -> Vec<PathBuf> {
    /// \[bytes\] An index has a line for each rank.
    const MOST: u64 = 1 << 26;
    let is_text = |path: &Path| {
        let mut beginning = [0; 256];
        let count = File::open(path)?.read(&mut beginning)?;
        // No index begins with an action, and no archive is text.
        let text = std::str::from_utf8(&beginning[..count]);
        Ok::<_, io::Error>(text.is_ok_and(|text| text.lines().next().is_some_and(|line| rank_of_line(line).is_none())))
    };
    let is_plain = std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= MOST);
    if !is_plain || !is_text(path).unwrap_or(false) {
        return Vec::new();
    }
    let Ok(source) = Source::open(path) else { return Vec::new() };
    let named = |index: &String| read_index(&source, index).map(|(files, _)| files).unwrap_or_default();
    let files = find(&source).into_iter().filter_map(|candidate| match candidate.layout {
        Layout::Index(index) => Some(named(&index)),
        Layout::Whole(_) | Layout::PerRank(_) => None,
    });
    files.flatten().filter_map(|file| source.plain_file(&file)).collect()
}

/// Checks files that were found without an index: the ranks at their beginnings must be 0, 1, 2, ...
pub(super) fn check_ranks(source: &Source<'_>, files: &[String]) -> Result<(), ReadError> {
    let ranks: HashMap<&str, u32> = source
        .entries()
        .iter()
        .filter_map(|entry| Some((entry.name.as_str(), rank_of_line(entry.head.first()?)?)))
        .collect();
    let rank_of = |file: &String| ranks.get(file.as_str()).copied().unwrap_or_default();
    let highest = files.last().map(rank_of).unwrap_or_default();
    for (position, file) in files.iter().enumerate() {
        let (rank, expected) = (rank_of(file), position as u32);
        if rank < expected {
            let other = files[position - 1].clone();
            return Err(source.place_of(file).error(Fault::RankTwice { rank, other }));
        }
        if rank > expected {
            return Err(source.place().error(Fault::MissingRank { rank: expected, highest }));
        }
    }
    Ok(())
}

/// The files named in an index, and its number of lines.
fn read_index(source: &Source<'_>, index: &str) -> Result<(Vec<String>, u64), ReadError> {
    let folder = folder_of(index);
    let mut files: Vec<String> = Vec::new();
    let mut count = 0;
    source.visit(&[index.to_owned()], &mut |_, place, reader| {
        let mut lines = Lines::new(reader, place);
        while let Some((number, line)) = lines.next()? {
            if files.len() as u64 == MAX_TASKS {
                let fault =
                    Fault::TooManyTasks { found: MAX_TASKS + 1, limit: MAX_TASKS, why: "that any trace may have" };
                return Err(place.line(number).error(fault));
            }
            let fault = || Fault::MissingFile { name: line.to_owned(), rank: files.len() };
            files.push(source.resolve(folder, line).ok_or_else(|| place.line(number).error(fault()))?);
        }
        count = lines.number();
        if files.is_empty() { Err(place.error(Fault::Empty)) } else { Ok(()) }
    })?;
    let mut seen: HashSet<&str> = HashSet::new();
    let all_same = files.iter().all(|file| *file == files[0]);
    if let Some(rank) = files.iter().position(|file| !seen.insert(file))
        && !all_same
    {
        let fault = Fault::FileTwice { name: files[rank].clone(), rank };
        return Err(source.place_of(index).error(fault));
    }
    Ok((files, count))
}

/// Reads a trace of one file per rank.
fn read_per_rank(source: &Source<'_>, files: &[String], options: &ReadOptions) -> Result<Trace, ReadError> {
    let mut shared = Shared::new(files.len(), options);
    let mut program = Program::new(files.len());
    let place_of = |rank: usize| source.place_of(&files[rank]);
    source.visit(files, &mut |position, place, reader| {
        let mut rank = Rank::new(position);
        let mut lines = Lines::new(reader, place);
        while let Some((number, line)) = lines.next()? {
            let at = |fault| place.line(number).error(fault);
            let (found, rest) = split_rank(line).map_err(at)?;
            if found as usize != position {
                return Err(at(Fault::WrongRank { found, expected: position as u32 }));
            }
            rank.line(&mut shared, rest, number, &place_of).map_err(at)?;
        }
        shared.lines += lines.number();
        if lines.number() == 0 {
            return Err(place.error(Fault::Empty));
        }
        let number = lines.number();
        program.tasks[position] = rank.end(&mut shared, &place_of).map_err(|fault| place.line(number).error(fault))?;
        Ok(())
    })?;
    Ok(shared.finish(program, READER.component.name))
}

/// Reads a trace of one file for all ranks.
fn read_common(source: &Source<'_>, file: &str, options: &ReadOptions) -> Result<Trace, ReadError> {
    let files = [file.to_owned()];
    let mut ranks = BTreeSet::new();
    source.visit(&files, &mut |_, place, reader| {
        each_line(place, reader, &mut |rank, _, _| {
            ranks.insert(rank);
            Ok(())
        })
        .map(|_| ())
    })?;
    let place = source.place_of(file);
    let Some(&highest) = ranks.last() else { return Err(place.error(Fault::Empty)) };
    if let Some((rank, _)) = (0..).zip(&ranks).find(|(expected, rank)| expected != *rank) {
        return Err(place.error(Fault::MissingRank { rank, highest }));
    }

    let mut shared = Shared::new(ranks.len(), options);
    let mut tasks: Vec<Rank> = (0..ranks.len()).map(Rank::new).collect();
    let place_of = |_: usize| place.clone();
    source.visit(&files, &mut |_, place, reader| {
        shared.lines = each_line(place, reader, &mut |rank, rest, number| {
            let missing = || Fault::WrongRank { found: rank, expected: highest };
            tasks.get_mut(rank as usize).ok_or_else(missing)?.line(&mut shared, rest, number, &place_of)
        })?;
        Ok(())
    })?;
    let mut program = Program::new(0);
    for task in tasks {
        let last = place.line(shared.lines);
        program.tasks.push(task.end(&mut shared, &place_of).map_err(|fault| last.error(fault))?);
    }
    Ok(shared.finish(program, READER.component.name))
}

/// Calls `each` with the rank, the rest and the number of each line; returns the number of lines.
fn each_line(
    place: &Place,
    reader: &mut dyn BufRead,
    each: &mut dyn FnMut(u32, &str, u64) -> Result<(), Fault>,
) -> Result<u64, ReadError> {
    let mut lines = Lines::new(reader, place);
    while let Some((number, line)) = lines.next()? {
        split_rank(line)
            .and_then(|(rank, rest)| each(rank, rest, number))
            .map_err(|fault| place.line(number).error(fault))?;
    }
    Ok(lines.number())
}

/// Splits a line into the rank and the rest.
fn split_rank(line: &str) -> Result<(u32, &str), Fault> {
    let (word, rest) = line.split_once(|blank: char| blank.is_ascii_whitespace()).unwrap_or((line, ""));
    if word.strip_prefix('p').is_some_and(|rank| rank.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err(text::invalid("rank", word, format!("a number without `p`, which is of {OLDER_DIALECT}")));
    }
    Ok((text::whole("rank", word, MAX_TASKS - 1)? as u32, rest))
}
