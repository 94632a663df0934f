//! Failures and repairs of links and nodes, by name and time.
//!
//! A [`Failures`] says which links are dead from the start, and which die or are repaired later. It is made from the
//! value of `fail` and a topology, here alone: models see links by their nodes and ports.
//!
//! - `link:A-B` means all links between two nodes, `node:A` all links of a node, `class:NAME` all links of a class, and
//!   `class:NAME#N` so many of them. A failure draws them among the links of the class that are alive then, a repair
//!   among those that are dead then.
//! - Events take effect in the order of their times, and at one time in the order in which they are written. One that
//!   changes nothing is an error.
//! - Links die and are repaired in both directions, or in the only one.
//!
//! Decision: docs/decisions/0220-failures.md.

mod drawn;
mod names;
mod parse;
mod reconfiguration;
mod timetable;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::rng::{Purpose, mix2, pick};
use trgen::{Geometry, NodeId};

use crate::topology::{DeadLink, Port, Topology, damaged};
use names::Names;
use parse::{At, Event};

pub use drawn::drawn;
pub use parse::file;
pub use reconfiguration::Reconfiguration;
pub use timetable::{Outage, Timetable};

/// Links that die or are repaired at one time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// \[cycles\] Since the start; at least 1.
    pub at: u64,
    /// Links that were alive before, and are dead from then on.
    pub dies: Vec<DeadLink>,
    /// Links that were dead before, and are alive from then on.
    pub revives: Vec<DeadLink>,
    /// The events of this time, as they are written.
    pub words: Vec<String>,
}

impl Change {
    /// The warning that no route is left for these pairs of nodes after this change.
    #[must_use]
    pub fn warning(&self, lost: &LostPairs, geometry: &Geometry) -> Phrase {
        let lost = lost.in_words(geometry);
        phrase![["fail" => self.words.join(",")], ": no route is left for {lost}; their messages are lost"]
    }
}

/// Which links are dead, and when.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Failures {
    /// Links that are dead from the start.
    pub start: Vec<DeadLink>,
    /// What happens later, in the order of times.
    pub changes: Vec<Change>,
}

impl Failures {
    /// What a value of `fail` says of a topology: a list of events, or the path of a file of them, relative to
    /// `folder`. `cycle` is the length of a cycle in ps, as numerator and denominator.
    ///
    /// # Errors
    /// The first event that cannot be parsed, that names what the topology does not have, or that changes nothing.
    pub fn parse(
        value: &str,
        folder: &Path,
        topology: &dyn Topology,
        seed: u64,
        cycle: (u64, u64),
    ) -> Result<Self, SpecError> {
        Self::resolve(parse::events(value, folder)?, topology, seed, cycle)
    }

    /// True if no link ever dies.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start.is_empty() && self.changes.is_empty()
    }

    fn resolve(events: Vec<Event>, topology: &dyn Topology, seed: u64, cycle: (u64, u64)) -> Result<Self, SpecError> {
        let names = Names::new(topology);
        let mut timed = Vec::new();
        for event in events {
            let at = match event.at {
                At::Cycles(cycles) => Some(cycles),
                // The first cycle that does not begin earlier.
                At::Time(span) => u64::try_from((u128::from(span) * u128::from(cycle.1)).div_ceil(cycle.0.into())).ok(),
            };
            let Some(at) = at.filter(|&at| at < u64::MAX / 2) else {
                return Err(event.error(ErrorKind::OutOfRange, "it is too late", "use a time within the run"));
            };
            timed.push((at, event));
        }
        timed.sort_by_key(|(at, _)| *at);
        let key = mix2(seed, Purpose::Setup as u64);
        let mut is_dead = vec![false; names.links.len()];
        let mut failures = Self::default();
        for (index, group) in (0..).zip(timed.chunk_by(|(one, _), (other, _)| one == other)) {
            let before = is_dead.clone();
            for (number, (_, event)) in (0..).zip(group) {
                let mut links = names.links_of(event)?;
                links.retain(|&link| is_dead[link] == event.is_repair);
                if links.len() < event.count.unwrap_or(1) {
                    return Err(too_few(event, links.len()));
                }
                let mut left = event.count.unwrap_or(links.len());
                let draws = mix2(key, index << 32 | number);
                while left > 0 {
                    let drawn = match event.count {
                        Some(_) => pick(mix2(draws, left as u64), links.len() as u32) as usize,
                        None => 0,
                    };
                    is_dead[links.swap_remove(drawn)] = !event.is_repair;
                    left -= 1;
                }
            }
            let changed = |dies: bool| {
                let all = names.links.iter().zip(before.iter().zip(&is_dead));
                all.filter(move |(_, (before, after))| before != after && **after == dies)
                    .map(|(link, _)| *link)
                    .collect::<Vec<_>>()
            };
            let (at, _) = group[0];
            match at {
                0 => failures.start = changed(true),
                _ => failures.changes.push(Change {
                    at,
                    dies: changed(true),
                    revives: changed(false),
                    words: group.iter().map(|(_, event)| event.word.clone()).collect(),
                }),
            }
        }
        Ok(failures)
    }

    /// The dead links after each change, those of the start first.
    pub fn phases(&self) -> impl Iterator<Item = Vec<DeadLink>> + '_ {
        let later = self.changes.iter().scan(self.start.clone(), |dead, change| {
            dead.retain(|link| !change.revives.contains(link));
            dead.extend(&change.dies);
            Some(dead.clone())
        });
        std::iter::once(self.start.clone()).chain(later)
    }

    /// The topology at the start.
    #[must_use]
    pub fn at_first(&self, whole: &Arc<dyn Topology>) -> Arc<dyn Topology> {
        damaged(whole, &self.start)
    }

    /// The topology at the start and after each change.
    #[must_use]
    pub fn topologies(&self, whole: &Arc<dyn Topology>) -> Vec<Arc<dyn Topology>> {
        self.phases().map(|dead| damaged(whole, &dead)).collect()
    }
}

impl Failures {
    /// The pairs of nodes without a route from the start, as an error of `fail`; `None` if there are none.
    #[must_use]
    pub fn unreachable(&self, whole: &dyn Topology) -> Option<SpecError> {
        let lost = LostPairs::between(&parts(whole, &dead_ports(&self.start)))?;
        let lost = lost.in_words(whole.geometry());
        let what = phrase![["fail"], ": no route is left for {lost}"];
        Some(SpecError::new(ErrorKind::Conflict, what, "let fewer links fail, or others").of("fail"))
    }

    /// The pairs of nodes without a route after each later change that leaves some.
    #[must_use]
    pub fn warnings(&self, whole: &dyn Topology) -> Vec<Phrase> {
        let lost_of =
            |(change, dead): (_, Vec<DeadLink>)| Some((change, LostPairs::between(&parts(whole, &dead_ports(&dead)))?));
        let lost = self.changes.iter().zip(self.phases().skip(1)).filter_map(lost_of);
        lost.map(|(change, lost): (&Change, LostPairs)| change.warning(&lost, whole.geometry())).collect()
    }
}

/// The error of an event with too few links for what it asks.
fn too_few(event: &Event, links: usize) -> SpecError {
    let state = if event.is_repair { "dead" } else { "alive" };
    let what = match (event.count, links) {
        (Some(count), links) => format!("{links} of its links are {state} then, and not {count}"),
        (None, _) => format!("nothing of it is {state} then"),
    };
    event.error(ErrorKind::Conflict, &what, "leave it out, or name others or another time")
}

/// Which of the ports of a topology lead nowhere because their links are dead.
#[must_use]
pub fn dead_ports(dead: &[DeadLink]) -> HashSet<(NodeId, Port)> {
    dead.iter().flat_map(DeadLink::ports).collect()
}

/// Pairs of nodes between which no route is left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LostPairs {
    /// \[pairs\] How many ordered pairs.
    pub count: usize,
    /// \[pairs\] Number of all ordered pairs of different nodes.
    pub of: usize,
    /// The first of them: source and destination.
    pub some: Vec<(NodeId, NodeId)>,
}

impl LostPairs {
    /// The pairs of nodes that are in different parts of a network, by node; `None` if there are none.
    #[must_use]
    pub fn between(parts: &[u32]) -> Option<Self> {
        /// Pairs that are named.
        const NAMED: usize = 4;
        let nodes = parts.len();
        let mut sizes = HashMap::<u32, usize>::new();
        parts.iter().for_each(|&part| *sizes.entry(part).or_default() += 1);
        let count = sizes.values().map(|size| size * (nodes - size)).sum();
        let to_others = |from: usize| {
            let others = (0..nodes).filter(move |&to| parts[from] != parts[to]);
            others.map(move |to| (NodeId::at(from), NodeId::at(to)))
        };
        let some = || (0..nodes).flat_map(to_others).take(NAMED).collect();
        (count > 0).then(|| Self { count, of: nodes * (nodes - 1), some: some() })
    }
}

/// The part of the network to which each endpoint belongs: two in one part can reach each other over links both ways,
/// other than those that leave the ports `dead`.
#[must_use]
pub fn parts(topology: &dyn Topology, dead: &HashSet<(NodeId, Port)>) -> Vec<u32> {
    let mut parts = vec![u32::MAX; topology.nodes()];
    for start in 0..topology.nodes() {
        let mut reached = vec![NodeId::at(start)];
        while let Some(node) = reached.pop() {
            if parts[node.index()] == u32::MAX {
                parts[node.index()] = start as u32;
                let alive = topology.ports_of(node).filter(|&port| !dead.contains(&(node, port)));
                let there = alive.filter_map(|port| topology.neighbour(node, port));
                reached.extend(there.filter(|there| parts[there.index()] == u32::MAX));
            }
        }
    }
    parts.truncate(topology.endpoints());
    parts
}

impl LostPairs {
    /// The text that completes "no route is left for ...", with the names that nodes have.
    #[must_use]
    pub fn in_words(&self, geometry: &Geometry) -> String {
        let names = geometry.names();
        self.written(|node| names.get(&node).map_or_else(|| node.to_string(), |&name| name.to_owned()))
    }

    fn written(&self, name: impl Fn(NodeId) -> String) -> String {
        let named: Vec<String> =
            self.some.iter().map(|&(from, to)| format!("{} to {}", name(from), name(to))).collect();
        let more = if self.count > self.some.len() { ", ..." } else { "" };
        format!("{} of {} pairs of nodes ({}{more})", self.count, self.of, named.join(", "))
    }
}

impl std::fmt::Display for LostPairs {
    /// The text that completes "no route is left for ...", with numbers of nodes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.written(|node| node.to_string()))
    }
}

#[cfg(test)]
mod tests;
