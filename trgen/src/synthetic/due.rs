//! A timing wheel of the cycles in which nodes are due. Its cost is per entry and not per cycle.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::{Cycle, NodeId};

/// \[cycle\] The wheel's span, a power of two. Most gaps are shorter; longer ones cost one more heap operation.
const SLOTS: usize = 4096;
/// The end of a list.
const END: u32 = u32::MAX;

/// Nodes and the cycles in which they are due, at most one entry per node. Entries of a window of the next [`SLOTS`]
/// cycles are in the wheel, in one list per cycle, linked through the nodes; later ones are in a heap until the window
/// reaches them.
#[derive(Debug)]
pub(super) struct DueNodes {
    /// Per slot: the first node of its list.
    heads: Box<[u32]>,
    /// One bit per slot, set if its list is not empty.
    occupied: Box<[u64]>,
    /// Per node: the next one in the same list.
    links: Vec<u32>,
    /// Entries beyond the window: cycle and node.
    far: BinaryHeap<Reverse<(u64, u32)>>,
    /// First cycle of the window; all earlier entries have been taken.
    start: u64,
}

impl DueNodes {
    /// No entries.
    pub(super) fn new() -> Self {
        Self {
            heads: vec![END; SLOTS].into(),
            occupied: vec![0; SLOTS / 64].into(),
            links: Vec::new(),
            far: BinaryHeap::new(),
            start: 0,
        }
    }

    /// Adds an entry for a node that has none. A past cycle makes it due at once.
    pub(super) fn insert(&mut self, cycle: Cycle, node: NodeId) {
        let cycle = cycle.0.max(self.start);
        if cycle - self.start < SLOTS as u64 {
            self.link(cycle, node.0);
        } else {
            self.far.push(Reverse((cycle, node.0)));
        }
    }

    /// Adds an entry to the list of its cycle, which is in the window.
    fn link(&mut self, cycle: u64, node: u32) {
        let slot = cycle as usize % SLOTS;
        if self.links.len() <= node as usize {
            self.links.resize(node as usize + 1, END);
        }
        self.links[node as usize] = std::mem::replace(&mut self.heads[slot], node);
        self.occupied[slot / 64] |= 1 << (slot % 64);
    }

    /// The earliest cycle with an entry.
    pub(super) fn next(&self) -> Option<Cycle> {
        let first = self.start as usize % SLOTS;
        let words = self.occupied.len();
        // The word of the first slot is read twice. The first step reads the slots from `first` on; the last step reads
        // the slots before `first`, which belong to the next turn of the ring.
        for step in 0..=words {
            let word = (first / 64 + step) % words;
            let mut bits = self.occupied[word];
            if step == 0 {
                bits &= u64::MAX << (first % 64);
            }
            if bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                return Some(Cycle(self.start + (slot.wrapping_sub(first) % SLOTS) as u64));
            }
        }
        self.far.peek().map(|&Reverse((cycle, _))| Cycle(cycle))
    }

    /// Takes the entries of the earliest nonempty cycle up to `now`, in node order, and returns that cycle. `None` if
    /// none is left; later insertions are then due after `now`.
    pub(super) fn take(&mut self, now: Cycle, due: &mut Vec<NodeId>) -> Option<Cycle> {
        due.clear();
        let Some(cycle) = self.next().filter(|&cycle| cycle <= now) else {
            self.move_to(now.0.saturating_add(1));
            return None;
        };
        self.move_to(cycle.0);
        let slot = cycle.0 as usize % SLOTS;
        let mut node = std::mem::replace(&mut self.heads[slot], END);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        while node != END {
            due.push(NodeId(node));
            node = self.links[node as usize];
        }
        due.sort_unstable();
        self.move_to(cycle.0 + 1);
        Some(cycle)
    }

    /// Moves the window forward. No entry may lie before its new start.
    fn move_to(&mut self, start: u64) {
        if start <= self.start {
            return;
        }
        self.start = start;
        while let Some(&Reverse((cycle, node))) = self.far.peek()
            && cycle - start < SLOTS as u64
        {
            self.far.pop();
            self.link(cycle, node);
        }
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
