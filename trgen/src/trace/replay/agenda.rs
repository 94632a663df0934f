//! Which tasks continue when.
//!
//! Most tasks that continue do so in the cycle after something happened, many in the same one and nearly in order: those
//! of one cycle have a list of their own, and only others a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::{Cycle, TaskId};

/// Tasks that will continue, in the order of cycles and tasks.
#[derive(Clone, Debug)]
pub(super) struct Agenda {
    /// The cycle in which the tasks of the list continue.
    due: Cycle,
    list: Vec<TaskId>,
    /// Number of tasks that have been taken off the list. None comes to it after the first.
    taken: usize,
    /// True if the list is in the order of tasks.
    is_sorted: bool,
    /// All others.
    others: BinaryHeap<Reverse<(Cycle, TaskId)>>,
}

impl Agenda {
    /// So many tasks, which all begin in the first cycle.
    pub(super) fn new(tasks: usize) -> Self {
        let list = (0..tasks).map(TaskId::at).collect();
        Self { due: Cycle::FIRST, list, taken: 0, is_sorted: true, others: BinaryHeap::new() }
    }

    /// Lets a task continue in cycle `due`.
    #[inline]
    pub(super) fn add(&mut self, due: Cycle, task: TaskId) {
        if self.taken == self.list.len() {
            self.begin(due, task);
        } else if due == self.due && self.taken == 0 {
            self.is_sorted &= self.list.last() < Some(&task);
            self.list.push(task);
        } else if due < self.due {
            let later = &self.list[self.taken..];
            self.others.extend(later.iter().map(|&task| Reverse((self.due, task))));
            self.begin(due, task);
        } else {
            self.others.push(Reverse((due, task)));
        }
    }

    /// Begins a new list.
    fn begin(&mut self, due: Cycle, task: TaskId) {
        self.list.clear();
        self.list.push(task);
        (self.due, self.taken, self.is_sorted) = (due, 0, true);
    }

    /// The cycle in which the next task continues.
    #[inline]
    pub(super) fn next(&self) -> Option<Cycle> {
        let other = self.others.peek().map(|&Reverse((due, _))| due);
        if self.taken == self.list.len() {
            return other;
        }
        Some(other.map_or(self.due, |other| other.min(self.due)))
    }

    /// Takes the next task, if it continues at the latest in cycle `now`.
    #[inline]
    pub(super) fn take(&mut self, now: Cycle) -> Option<TaskId> {
        if !self.is_sorted {
            self.list.sort_unstable();
            self.is_sorted = true;
        }
        let listed = self.list.get(self.taken).map(|&task| (self.due, task));
        let other = self.others.peek().map(|&Reverse(other)| other);
        match (listed, other) {
            (Some((due, task)), other) if due <= now && other.is_none_or(|other| (due, task) < other) => {
                self.taken += 1;
                Some(task)
            }
            (_, Some((due, task))) if due <= now => {
                self.others.pop();
                Some(task)
            }
            _ => None,
        }
    }

    /// All tasks with their cycles, in order.
    pub(super) fn all(&self) -> Vec<(Cycle, TaskId)> {
        let listed = self.list[self.taken..].iter().map(|&task| (self.due, task));
        let mut all: Vec<_> = listed.chain(self.others.iter().map(|&Reverse(other)| other)).collect();
        all.sort_unstable();
        all
    }

    /// Lets all continue so many cycles later.
    pub(super) fn pass(&mut self, cycles: u64) {
        self.due += cycles;
        self.others = self.others.drain().map(|Reverse((due, task))| Reverse((due + cycles, task))).collect();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Tasks come in the order of cycles and tasks, whenever they were added.
        #[test]
        fn the_next_comes_first(steps in prop::collection::vec((0..6_u8, 0..4_u64, 0..9_usize), 0..300)) {
            let mut agenda = Agenda::new(3);
            let mut plain: BTreeSet<_> = (0..3).map(|task| (Cycle::FIRST, TaskId::at(task))).collect();
            let mut now = Cycle::FIRST;
            for (what, later, task) in steps {
                match what {
                    0..=2 => {
                        let entry = (now + later, TaskId::at(task));
                        if plain.insert(entry) {
                            agenda.add(entry.0, entry.1);
                        }
                    }
                    3 | 4 => {
                        let next = plain.first().copied().filter(|next| next.0 <= now);
                        plain.retain(|entry| Some(*entry) != next);
                        prop_assert_eq!(agenda.take(now), next.map(|next| next.1));
                    }
                    _ if plain.first().is_none_or(|next| next.0 > now) => now += later,
                    _ => {
                        plain = plain.iter().map(|&(due, task)| (due + later, task)).collect();
                        agenda.pass(later);
                    }
                }
                prop_assert_eq!(agenda.next(), plain.first().map(|next| next.0));
                prop_assert_eq!(agenda.all(), plain.iter().copied().collect::<Vec<_>>());
            }
        }
    }
}
