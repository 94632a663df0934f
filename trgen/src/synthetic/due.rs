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
    #[inline]
    pub(super) fn insert(&mut self, cycle: Cycle, node: NodeId) {
        self.entries.add(Due { cycle: cycle.0.max(self.start), node });
    }

    /// The earliest cycle with an entry.
    pub(super) fn next(&self) -> Option<Cycle> {
        self.entries.next_time().map(Cycle)
    }

    /// Takes the earliest entry up to `now`, of one cycle in node order. Later insertions are due after its cycle, or
    /// after `now` if there is none.
    #[inline]
    pub(super) fn take(&mut self, now: Cycle) -> Option<(Cycle, NodeId)> {
        let due = self.entries.pop_until(now.0);
        self.start = self.start.max(due.map_or(now.0, |due| due.cycle).saturating_add(1));
        due.map(|Due { cycle, node }| (Cycle(cycle), node))
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
        let mut now = 0;
        for _ in 0..20_000 {
            now += u64::from(below(12, &mut rng));
            while let Some((cycle, node)) = calendar.take(Cycle(now)) {
                assert_eq!(set.pop_first(), Some((cycle.0, node.0)));
                insert(&mut calendar, &mut set, node.0, cycle.0, &mut rng);
            }
            let first = set.first().expect("as many entries as nodes").0;
            assert!(first > now);
            assert_eq!(calendar.next(), Some(Cycle(first)));
        }
    }

    #[test]
    fn the_past_is_due_at_once() {
        let mut calendar = DueNodes::new();
        assert_eq!(calendar.take(Cycle(100)), None);
        calendar.insert(Cycle(7), NodeId(1));
        assert_eq!(calendar.next(), Some(Cycle(101)));
        assert_eq!(calendar.take(Cycle(101)), Some((Cycle(101), NodeId(1))));
        assert_eq!(calendar.next(), None);
    }
}
