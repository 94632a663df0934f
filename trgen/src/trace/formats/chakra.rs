//! Chakra execution traces, a file per rank: `NAME.0.et`, `NAME.1.et`, ...
//!
//! Groups of ranks are those given by the user, else those of the only JSON file beside the trace, else those that the
//! trace defines itself. A collective without a group, or of a group `0` that is not defined, is of all ranks.

use std::collections::HashMap;
use std::io::Read as _;

use super::error::{Fault, ReadError};
use super::input::{self, Source};
use super::mpi::{families, files_of};
use super::options::ReadOptions;
use super::{Application, Candidate, ChakraTrace, Reader};
use crate::catalog::Component;
use crate::collective::Row;
use crate::trace::chakra::collective::algorithm;
use crate::trace::chakra::wire::{self, RankFile};
use crate::trace::chakra::{CollectiveKind, Group, Trace, Work, groups};
use crate::trace::collectives::Choice;

pub(super) const READER: Reader = Reader {
    component: Component {
        name: "chakra",
        about: "`NAME.0.et`, `NAME.1.et`, ...: graphs of computations, messages and collectives of each rank; groups of ranks \
                from a JSON file beside them",
        parameters: &[],
        source: "MLCommons Chakra, schema 0.0.4; Sridharan and others 2023",
    },
    find: |source| families(source, |entry| wire::is_trace(&entry.magic)),
    read,
};

/// \[bytes\] Largest file of groups.
const MAX_GROUPS: u64 = 64 << 20;

fn read(source: &Source<'_>, candidate: &Candidate, options: &ReadOptions) -> Result<Application, ReadError> {
    let files = files_of(source, candidate)?;
    let mut ranks: Vec<RankFile> = Vec::with_capacity(files.len());
    let mut total = 0;
    source.visit(&files, &mut |rank, place, input| {
        let left = options.max_events.saturating_sub(total);
        let read = wire::read(input, rank as u32, left).map_err(|error| {
            place.byte(error.byte).error(Fault::Structure {
                what: error.what,
                remedy: "write the trace again, by schema 0.0.4 of Chakra (`fsin explain chakra`)",
            })
        })?;
        total += read.nodes.len() as u64;
        if ranks.len() <= rank {
            ranks.resize_with(rank + 1, RankFile::default);
        }
        ranks[rank] = read;
        Ok(())
    })?;
    let mut notes = Vec::new();
    let (defined, whence) = definitions(source, &files, &ranks, options)?;
    if !defined.is_empty() {
        notes.push(format!("{} groups of ranks, {whence}", defined.len()));
    }
    let host_calls: u64 = ranks.iter().map(|rank| rank.host_calls).sum();
    if host_calls > 0 {
        notes.push(format!("{host_calls} collectives without data are calls on the host, and take no time"));
    }
    let count = ranks.len() as u32;
    let mut trace = Trace { ranks: Vec::new(), groups: Vec::new() };
    let mut numbers: HashMap<Box<str>, u32> = HashMap::new();
    for (file, read) in files.iter().zip(ranks) {
        let mut nodes = read.nodes;
        for unresolved in read.groups {
            let number = match numbers.get(&unresolved.group) {
                Some(&number) => number,
                None => {
                    let found = defined.iter().find(|group| group.name == unresolved.group);
                    let group = match found {
                        Some(group) => group.clone(),
                        None if matches!(&*unresolved.group, "" | "0") => {
                            Group { name: unresolved.group.clone(), ranks: (0..count).collect() }
                        }
                        None => {
                            let node = &nodes[unresolved.node];
                            let what = format!(
                                "node {} `{}` takes part in a collective of group `{}`, which nothing defines",
                                node.id,
                                node.name.escape_debug(),
                                unresolved.group.escape_debug()
                            );
                            let remedy = "give the groups as JSON, {\"NAME\": [0, 1, ...], ...}, in the only .json file beside the \
                                          trace or by the setting `groups`";
                            return Err(source.place_of(file).error(Fault::Structure { what, remedy }));
                        }
                    };
                    trace.groups.push(group);
                    let number = trace.groups.len() as u32 - 1;
                    numbers.insert(unresolved.group.clone(), number);
                    number
                }
            };
            if let Work::Collective { group, .. } = &mut nodes[unresolved.node].work {
                *group = number;
            }
        }
        trace.ranks.push(nodes);
    }
    let by: Vec<String> = used_kinds(&trace, &options.collectives)
        .into_iter()
        .map(|(kind, algorithm)| format!("{kind} {algorithm}"))
        .collect();
    if !by.is_empty() {
        notes.push(format!("algorithms of collectives: {}", by.join(", ")));
    }
    Ok(Application::Chakra(ChakraTrace { trace, format: READER.component.name, notes }))
}

/// Kinds of collectives in a trace, with their algorithms.
fn used_kinds(trace: &Trace, choice: &Choice) -> Vec<(&'static str, &'static str)> {
    let mut kinds: Vec<CollectiveKind> = trace
        .ranks
        .iter()
        .flatten()
        .filter_map(|node| match node.work {
            Work::Collective { kind, .. } => Some(kind),
            _ => None,
        })
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    let by = |kind: CollectiveKind| choice.row(kind.name()).map_or_else(|| algorithm(kind), Row::name);
    kinds.into_iter().map(|kind| (kind.name(), by(kind))).collect()
}

/// The groups, and where they are from.
fn definitions(
    source: &Source<'_>,
    files: &[String],
    ranks: &[RankFile],
    options: &ReadOptions,
) -> Result<(Vec<Group>, String), ReadError> {
    if let Some(groups) = &options.groups {
        return Ok((groups.clone(), "as given".to_owned()));
    }
    let folder = files.first().map_or("", |file| input::folder_of(file));
    let beside: Vec<String> = source
        .entries()
        .iter()
        .filter(|entry| input::folder_of(&entry.name) == folder && entry.name.ends_with(".json"))
        .map(|entry| entry.name.clone())
        .collect();
    if let [json] = &beside[..] {
        let mut text = String::new();
        source.visit(&beside, &mut |_, place, input| {
            input.take(MAX_GROUPS).read_to_string(&mut text).map_err(|error| input::failed(place, error))?;
            Ok(())
        })?;
        // Another JSON file, of a profiler, may lie beside a trace.
        if let Ok(groups) = groups::parse(&text) {
            return Ok((groups, format!("from {json}")));
        }
    }
    let of_trace = ranks.iter().find(|rank| !rank.defined.is_empty()).map(|rank| rank.defined.clone());
    Ok((of_trace.unwrap_or_default(), "defined in the trace".to_owned()))
}
