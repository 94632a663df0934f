//! Algorithms as data: their steps for some numbers of ranks, for programs that do not have their code.
//!
//! A line for each algorithm, kind and number of ranks (`NAME KIND RANKS LANES PIECES`), and below it one for each step
//! (`RANK LANE ACTION PEER FIRST COUNT ROUND`), which begins with a space.

use std::collections::HashMap;
use std::fmt::Write;
use std::str::FromStr;

use super::{Action, COLLECTIVES, Row, Schedule, Shape, Step};
use crate::catalog::Component;
use crate::trace::kind::CollectiveKind;

/// Name of the file in the folder of a run of programs, where some of its algorithms are in no library of fsin.
pub const FILE: &str = "collectives";

/// Largest number of ranks for which steps are written: their number grows with the third power of it.
pub const MOST_RANKS: u32 = 64;

/// The steps of an algorithm, by kind and number of ranks.
#[derive(Debug, Default)]
struct Given {
    groups: HashMap<(CollectiveKind, u32), Group>,
}

/// The steps of a number of ranks.
#[derive(Debug)]
struct Group {
    lanes: u32,
    pieces: u32,
    /// By rank and lane.
    steps: HashMap<(u32, u32), Vec<Step>>,
}

/// Actions and their words.
const ACTIONS: [(&str, Action); 3] = [("send", Action::Send), ("combine", Action::Combine), ("keep", Action::Keep)];

impl Schedule for Given {
    fn lanes(&self, shape: &Shape) -> u32 {
        self.group(shape).map_or(1, |group| group.lanes)
    }

    fn pieces(&self, shape: &Shape) -> u32 {
        self.group(shape).map_or(1, |group| group.pieces)
    }

    fn steps(&self, shape: &Shape, lane: u32, rank: u32, out: &mut dyn FnMut(Step)) {
        let steps = self.group(shape).and_then(|group| group.steps.get(&(rank, lane)));
        steps.into_iter().flatten().for_each(|&step| out(step));
    }
}

impl Given {
    fn group(&self, shape: &Shape) -> Option<&Group> {
        self.groups.get(&(shape.kind, shape.size))
    }
}

/// Writes the steps of algorithms for 1 to `most` ranks.
#[must_use]
pub fn write(rows: &[&'static Row], most: u32) -> String {
    let mut text = String::new();
    for row in rows {
        for &kind in row.kinds {
            let Some(schedule) = row.steps_of(kind) else { continue };
            for size in 1..=most.min(MOST_RANKS) {
                let shape = super::shape(row, kind, size);
                if (row.refuses)(&shape).is_none() {
                    group(row.name(), schedule, &shape, &mut text);
                }
            }
        }
    }
    text
}

/// Writes the steps for a number of ranks.
fn group(name: &str, schedule: &dyn Schedule, shape: &Shape, text: &mut String) {
    let (lanes, pieces) = (schedule.lanes(shape), schedule.pieces(shape));
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{name} {} {} {lanes} {pieces}", shape.kind.name(), shape.size);
    for (rank, lane) in (0..shape.size).flat_map(|rank| (0..lanes).map(move |lane| (rank, lane))) {
        schedule.steps(shape, lane, rank, &mut |step| {
            let word = ACTIONS.iter().find(|(_, action)| *action == step.action).map_or("", |(word, _)| word);
            let Step { peer, pieces: (first, count), round, .. } = step;
            let _ = writeln!(text, " {rank} {lane} {word} {peer} {first} {count} {round}");
        });
    }
}

/// Reads what [`write()`] has written, as rows for a table that lasts as long as the program. `None` if it is something else,
/// or a step names a rank or a piece that does not exist.
#[must_use]
pub fn read(text: &str) -> Option<Vec<&'static Row>> {
    let mut all: Vec<(String, Given)> = Vec::new();
    let mut open: Option<(CollectiveKind, u32)> = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with(' ') {
            let [rank, lane, action, peer, first, count, round] = *words else { return None };
            let action = ACTIONS.iter().find(|(word, _)| *word == action)?.1;
            let (kind, size) = open?;
            let group = all.last_mut()?.1.groups.get_mut(&(kind, size))?;
            let (rank, lane, peer): (u32, u32, u32) = (number(rank)?, number(lane)?, number(peer)?);
            let (first, count): (u32, u32) = (number(first)?, number(count)?);
            let fits = first.checked_add(count).is_some_and(|end| end <= group.pieces);
            if rank >= size || peer >= size || lane >= group.lanes || !fits {
                return None;
            }
            let step = Step { action, peer, pieces: (first, count), round: number(round)? };
            group.steps.entry((rank, lane)).or_default().push(step);
            continue;
        }
        let [name, kind, size, lanes, pieces] = *words else { return None };
        let (kind, size) = (CollectiveKind::of_operation(kind)?, number(size)?);
        if all.last().is_none_or(|(last, _)| last != name) {
            all.push((name.to_owned(), Given::default()));
        }
        let group = Group { lanes: number(lanes)?, pieces: number(pieces)?, steps: HashMap::new() };
        all.last_mut()?.1.groups.insert((kind, size), group);
        open = Some((kind, size));
    }
    Some(all.into_iter().map(|(name, given)| row(name, given)).collect())
}

/// A number of a line.
fn number<N: FromStr>(word: &str) -> Option<N> {
    word.parse().ok()
}

/// The row of an algorithm, which is kept to the end of the program.
fn row(name: String, given: Given) -> &'static Row {
    let mut kinds: Vec<CollectiveKind> = given.groups.keys().map(|&(kind, _)| kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let component =
        Component { name: String::leak(name), about: "given by its steps", parameters: &[], source: "the command" };
    Box::leak(Box::new(Row::new(component, Vec::leak(kinds), Box::leak(Box::new(given)))))
}

/// The rows among these that are part of no library of fsin.
pub fn private(rows: impl Iterator<Item = &'static Row>) -> Vec<&'static Row> {
    let mut found: Vec<&'static Row> = Vec::new();
    for row in rows {
        if !COLLECTIVES.standard().contains(&row) && !found.contains(&row) {
            found.push(row);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_are_written_are_read_again() {
        let rows: Vec<&Row> = COLLECTIVES.standard().iter().copied().filter(|row| row.steps.is_some()).collect();
        let text = write(&rows, 9);
        let read = read(&text).unwrap();
        assert_eq!(read.len(), rows.len());
        for (row, given) in rows.iter().zip(&read) {
            for (&kind, size) in row.kinds.iter().flat_map(|kind| (1..=9).map(move |size| (kind, size))) {
                let shape = super::super::shape(row, kind, size);
                if (row.refuses)(&shape).is_some() {
                    continue;
                }
                for rank in 0..size {
                    let of = |row: &Row| super::super::script(row.steps_of(kind).unwrap(), &shape, rank, 1003);
                    assert_eq!(of(row), of(given), "{} {kind:?} {size} {rank}", row.name());
                }
            }
        }
        for damaged in [
            "ring",
            " 0 0 send 1 0 1 0",
            "a allreduce 2 1 2\n 0 0 send 2 0 1 0",
            "a allreduce 2 1 2\n 0 0 send 1 1 2 0",
        ] {
            assert!(super::read(damaged).is_none(), "{damaged}");
        }
    }
}
