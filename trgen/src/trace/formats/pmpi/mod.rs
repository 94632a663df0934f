//! Logs of MPI calls, one file per process and one call per line, as liballprof and this project's recorder write them.
//!
//! ```text
//! MPI_Send:<t>:<buf>:<count>:<type,size,extent>:<dest>:<tag>:<comm,rank,size>:<t>
//! MPI_Irecv:<t>:<buf>:<count>:<type,size,extent>:<source>:<tag>:<comm,rank,size>:<request>:<t>
//! MPI_Waitall:<t>:<count>:<address of the first request>:<statuses>:<t>
//! MPI_Comm_split:<t>:<comm,rank,size>:<color>:<key>:<new comm>:<t>
//! ```
//!
//! The recorder of this project names each request of an array, `a;b;`, by its handle instead. Times are in
//! microseconds; what passes between two calls is the program's computing. The last number in a file's name is its
//! rank. Communicators are followed through splits and duplicates, so that a collective is one of its members.
//!
//! # How the model departs from reality, and who could notice
//! - Source or tag -1 is any, peer -2 is nobody (as Open MPI has it; MPICH has its own numbers for them).
//! - `MPI_Alltoallv` tells what is sent only; receives have a size of 0, which matching does not look at.
//! - A wait for any of several requests does not say which one completed: the replay takes the first that does.
//! - Calls that only test (`MPI_Test`, `MPI_Iprobe`) are left out; their requests stay outstanding until a wait.

mod call;
mod comms;
mod rank;

use std::collections::{BTreeMap, HashMap};

use self::comms::Creation;
use self::rank::{Rank, Shared};
use super::calls::Calls;
use super::error::{Fault, ReadError};
use super::input::{Source, folder_of};
use super::options::ReadOptions;
use super::text::Lines;
use super::{Application, Candidate, Layout, Reader, Trace};
use crate::catalog::Component;
use crate::trace::collectives::Agreement;
use crate::trace::program::{Event, Program};
use crate::units::TaskId;

pub(super) const READER: Reader = Reader {
    component: Component {
        name: "liballprof",
        about: "lines `MPI_Send:time:...:time`, one file per rank",
        parameters: &[],
        source: "liballprof (schedgen, LogGOPSim), LSAP 2010",
    },
    find,
    read: |source, candidate, options| read(source, candidate, options).map(Application::Programs),
};

/// The name of a file without its rank, and the rank: the last number in it.
fn rank_of_name(name: &str) -> Option<(String, u64)> {
    let file = name.rsplit('/').next()?;
    let end = file.rfind(|c: char| c.is_ascii_digit())? + 1;
    let digits = file[..end].bytes().rev().take_while(u8::is_ascii_digit).count();
    let rank = file[end - digits..end].parse().ok()?;
    Some((format!("{}/{}\0{}", folder_of(name), &file[..end - digits], &file[end..]), rank))
}

fn find(source: &Source<'_>) -> Vec<Candidate> {
    let mut families: BTreeMap<String, Vec<(u64, &str)>> = BTreeMap::new();
    for entry in source.entries() {
        let looks = entry.head.first().is_some_and(|line| line.starts_with("MPI_") && line.contains(':'));
        if let (true, Some((family, rank))) = (looks, rank_of_name(&entry.name)) {
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

fn read(source: &Source<'_>, candidate: &Candidate, options: &ReadOptions) -> Result<Trace, ReadError> {
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
    let mut creations: Vec<Vec<Creation>> = vec![Vec::new(); files.len()];
    let mut lines_read = 0;
    source.visit(&files, &mut |position, place, reader| {
        let mut lines = Lines::new(reader, place);
        while let Some((number, line)) = lines.next()? {
            let record = call::parse(line).map_err(|fault| place.line(number).error(fault))?;
            creations[position].extend(Creation::of(&record.call, number));
        }
        lines_read += lines.number();
        Ok(())
    })?;
    let place_of = |task: usize| source.place_of(&files[task]);
    let communicators =
        comms::resolve(&creations).map_err(|(task, line, fault)| place_of(task).line(line).error(fault))?;
    let agreement = |members: &Vec<TaskId>| Agreement::new(options.collectives.clone(), members.len());
    let agreements = communicators.members.iter().map(agreement).collect();
    let (waits_without_request, clock_steps_back) = (0, 0);
    let calls = Calls::default();
    let mut shared = Shared { communicators, agreements, calls, waits_without_request, clock_steps_back };
    let mut program = Program::new(files.len());
    let mut events = 0;
    let mut called = vec![HashMap::new(); files.len()];
    source.visit(&files, &mut |position, place, reader| {
        let mut rank = Rank::new(position);
        let mut lines = Lines::new(reader, place);
        while let Some((number, line)) = lines.next()? {
            let before = rank.events.len();
            let done = call::parse(line).and_then(|record| rank.record(&mut shared, record, number));
            done.map_err(|fault| place.line(number).error(fault))?;
            events += rank.events[before..].iter().map(weight).sum::<u64>();
            if events > options.max_events {
                return Err(place.line(number).error(Fault::TooManyEvents { limit: options.max_events }));
            }
        }
        called[position] = rank.called;
        program.tasks[position] = rank.events;
        Ok(())
    })?;
    Ok(finish(shared, program, &called, lines_read))
}

/// What an event counts for in the limit: a list of requests counts by its length, since lines that name the same
/// requests again and again would grow with the square of the file.
fn weight(event: &Event) -> u64 {
    match event {
        Event::WaitAll(requests) | Event::WaitAny(requests) => 1 + requests.len() as u64 / 8,
        _ => 1,
    }
}

fn finish(shared: Shared, program: Program, called: &[HashMap<usize, usize>], lines: u64) -> Trace {
    let created = shared.communicators.members.len() - 1;
    let mut notes: Vec<String> = shared.calls.note("each as one of its communicator").into_iter().collect();
    if created > 0 {
        notes.push(format!("{created} communicators beside the world were followed"));
    }
    let counted = [
        ("waits that name no outstanding request (taken for complete)", shared.waits_without_request),
        ("calls that begin before the one before has ended (no computing between them)", shared.clock_steps_back),
    ];
    let counted = counted.iter().filter(|(_, count)| *count > 0);
    let warnings = counted.map(|(what, count)| format!("{what}: {count}")).collect();
    let mut warnings: Vec<String> = warnings;
    for (number, members) in shared.communicators.members.iter().enumerate() {
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
        format: READER.component.name,
        lines,
        collectives: shared.calls.by_operation(),
        algorithms: shared.calls.by_algorithm(),
        notes,
        warnings,
    }
}
