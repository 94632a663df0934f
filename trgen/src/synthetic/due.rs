//! The cycles in which nodes are due. The cost is per entry and not per cycle.

use crate::calendar::{Calendar, Event};
use crate::units::{Cycle, NodeId};

/// A node, and the cycle in which it is due.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Due {
    cycle: u64,
    node: NodeId,
}

impl Event for Due {
    fn time(&self) -> u64 {
        self.cycle
    }
}

/// Nodes and the cycles in which they are due, at most one entry per node.
#[derive(Debug)]
pub(super) struct DueNodes {
    entries: Calendar<Due>,
    /// \[cycle\] All entries of earlier cycles have been taken.
    start: u64,
}

impl DueNodes {
    /// No entries.
    pub(super) fn new() -> Self {
        Self { entries: Calendar::new(1, 1), start: 0 }
    }

    /// Adds an entry for a node that has none. A past cycle makes it due at once.
    pub(super) fn insert(&mut self, cycle: Cycle, node: NodeId) {
        self.entries.add(Due { cycle: cycle.0.max(self.start), node });
    }

    /// The earliest cycle with an entry.
    pub(super) fn next(&self) -> Option<Cycle> {
        self.entries.next_time().map(Cycle)
    }

    /// Takes the entries of the earliest nonempty cycle up to `now`, in node order, and returns that cycle. `None` if
    /// none is left; later insertions are then due after `now`.
    pub(super) fn take(&mut self, now: Cycle, due: &mut Vec<NodeId>) -> Option<Cycle> {
        due.clear();
        let cycle = self.next().filter(|&cycle| cycle <= now);
        self.start = self.start.max(cycle.unwrap_or(now).0.saturating_add(1));
        cycle?;
        while let Some(&Due { node, .. }) = self.entries.first().filter(|entry| Some(Cycle(entry.cycle)) == cycle) {
            due.push(node);
            self.entries.pop();
        }
        cycle
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::synthetic::draw::below;

    /// Compared with a sorted set, with gaps of all lengths and calls both late and early.
    #[test]
    fn agrees_with_a_sorted_set() {
        let mut rng = stream(5, 0, Purpose::Setup);
        let mut calendar = DueNodes::new();
        let mut set: BTreeSet<(u64, u32)> = BTreeSet::new();
        let insert = |calendar: &mut DueNodes, set: &mut BTreeSet<_>, node: u32, from: u64, rng: &mut _| {
            let gap = 1 + u64::from(below([2, 100, 5000, 20_000][below(4, rng) as usize], rng));
            calendar.insert(Cycle(from + gap), NodeId(node));
            set.insert((from + gap, node));
        };
        for node in 0..50 {
            insert(&mut calendar, &mut set, node, 0, &mut rng);
        }
        let (mut now, mut due) = (0, Vec::new());
        for _ in 0..20_000 {
            now += u64::from(below(12, &mut rng));
            while let Some(cycle) = calendar.take(Cycle(now), &mut due) {
                for node in due.clone() {
                    assert_eq!(set.pop_first(), Some((cycle.0, node.0)));
                    insert(&mut calendar, &mut set, node.0, cycle.0, &mut rng);
                }
            }
            let first = set.first().expect("as many entries as nodes").0;
            assert!(first > now);
            assert_eq!(calendar.next(), Some(Cycle(first)));
        }
    }

    #[test]
    fn the_past_is_due_at_once() {
        let mut calendar = DueNodes::new();
        let mut due = Vec::new();
        assert_eq!(calendar.take(Cycle(100), &mut due), None);
        calendar.insert(Cycle(7), NodeId(1));
        assert_eq!(calendar.next(), Some(Cycle(101)));
        assert_eq!(calendar.take(Cycle(101), &mut due), Some(Cycle(101)));
        assert_eq!(due, [NodeId(1)]);
        assert_eq!(calendar.next(), None);
    }
}
