//! Definitions of an archive: its clock, its processes, its communicators.

use std::collections::{HashMap, HashSet};

use super::line::{number, reference};
use crate::trace::formats::error::Fault;
use crate::trace::formats::members::Members;
use crate::units::TaskId;

/// Definitions under construction.
#[derive(Default, Debug)]
pub(super) struct Definitions {
    /// Ticks of the clock per second, if stated.
    pub(super) ticks: Option<u64>,
    /// True if records of collectives count bytes in total, as Score-P does.
    pub(super) totals: bool,
    /// Locations in order of definition.
    locations: Vec<u64>,
    /// Locations of the processes, by rank in the world.
    processes: Option<Vec<u64>>,
    /// Locations of each group.
    groups: HashMap<u64, Vec<u64>>,
    /// Groups that stand for each process alone.
    alone: HashSet<u64>,
    /// Group of each communicator.
    communicators: HashMap<u64, u64>,
}

/// The processes and communicators of an archive.
#[derive(Debug)]
pub(super) struct World {
    /// Task of each location.
    pub(super) tasks: HashMap<u64, TaskId>,
    /// Number of each communicator: 0 is the world, or the first one that holds all processes in order.
    pub(super) numbers: HashMap<u64, usize>,
    /// Members of each communicator, by its number; none for one that stands for each process alone.
    pub(super) members: Vec<Members>,
    /// Kind of each communicator, by its number.
    pub(super) kinds: Vec<Kind>,
}

/// Kind of a communicator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// All processes, in order.
    Whole,
    /// Some of them, or in another order.
    Part,
    /// Each process alone.
    Alone,
}

/// The locations in a list of members.
fn members(text: &str) -> Vec<u64> {
    let after = |piece: &str| piece.split_once('>').and_then(|(number, _)| number.parse().ok());
    text.split("\" <").skip(1).filter_map(after).collect()
}

impl Definitions {
    /// Reads one line of the definitions; unneeded ones are skipped.
    pub(super) fn line(&mut self, line: &str) -> Result<(), Fault> {
        let Some((word, rest)) = line.split_once(' ') else { return Ok(()) };
        let rest = rest.trim_start();
        if word == "Creator" {
            self.totals = rest.starts_with("Score-P");
            return Ok(());
        }
        if word == "CLOCK_PROPERTIES" {
            let ticks = rest.strip_prefix("Ticks per Seconds: ").and_then(|rest| rest.split_once(','));
            if let Some((ticks, _)) = ticks {
                self.ticks = Some(number("ticks per second", ticks)?.max(1));
            }
            return Ok(());
        }
        let Some((id, attributes)) = rest.split_once(' ') else { return Ok(()) };
        let id = || number(NUMBER_OF, id);
        match word {
            "LOCATION" if attributes.contains("Type: CPU_THREAD") => self.locations.push(id()?),
            "GROUP" => {
                let (kind, list) = attributes.split_once("Members: ").unwrap_or((attributes, ""));
                if kind.contains("Type: COMM_GROUP") {
                    self.groups.insert(id()?, members(list));
                } else if kind.contains("Type: COMM_SELF") {
                    self.alone.insert(id()?);
                } else if kind.contains("Type: COMM_LOCATIONS") && !kind.contains("Paradigm: MEASUREMENT_SYSTEM") {
                    self.processes = Some(members(list));
                }
            }
            "COMM" => {
                let group = attributes.split_once("Group: ").map(|(_, rest)| rest);
                let group =
                    group.and_then(|rest| rest.split_once(", Parent: ")).and_then(|(group, _)| reference(group));
                if let Some(group) = group {
                    self.communicators.insert(id()?, group);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Numbers processes and communicators.
    pub(super) fn world(self) -> Result<World, Fault> {
        let processes = self.processes.unwrap_or(self.locations);
        let mut tasks = HashMap::new();
        for &location in &processes {
            if tasks.insert(location, TaskId::at(tasks.len())).is_some() {
                return Err(Fault::Structure {
                    what: format!("location {location} is two processes of the archive"),
                    remedy: "the text may be of two archives; print one",
                });
            }
        }
        if tasks.is_empty() {
            return Err(Fault::Structure {
                what: "no processes are defined before the events".to_owned(),
                remedy: "print definitions and events: `otf2-print -A ARCHIVE.otf2`",
            });
        }
        let world = Members::world(processes.len());
        let mut numbers = HashMap::new();
        let (mut all, mut kinds) = (vec![world.clone()], vec![Kind::Whole]);
        // By group: its members, and whether they are the world. Communicators of one group share the list of members,
        // which may be long.
        let mut lists: HashMap<u64, Option<(Members, bool)>> = HashMap::new();
        let mut ids: Vec<(u64, u64)> = self.communicators.into_iter().collect();
        ids.sort_unstable();
        let mut world_taken = false;
        for (id, group) in ids {
            if self.alone.contains(&group) {
                numbers.insert(id, all.len());
                all.push(Members::new(Vec::new()));
                kinds.push(Kind::Alone);
                continue;
            }
            let listed = lists.entry(group).or_insert_with(|| {
                let locations = self.groups.get(&group).filter(|locations| !locations.is_empty())?;
                let listed = locations.iter().map(|location| tasks.get(location).copied());
                let listed = listed.collect::<Option<Vec<TaskId>>>()?;
                let whole = listed == world.tasks();
                Some((if whole { world.clone() } else { Members::new(listed) }, whole))
            });
            let Some((listed, whole)) = listed else { continue };
            if !world_taken && *whole {
                world_taken = true;
                numbers.insert(id, 0);
            } else {
                numbers.insert(id, all.len());
                all.push(listed.clone());
                kinds.push(if *whole { Kind::Whole } else { Kind::Part });
            }
        }
        Ok(World { tasks, numbers, members: all, kinds })
    }
}

/// Meaning of the number after the first word of a line, for errors.
const NUMBER_OF: &str = "number of a definition";
