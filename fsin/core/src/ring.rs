//! Events of the next cycles: a ring of lists, one for each cycle.

/// Events that are due within a known number of cycles. A cycle is of any length: some engines count steps.
#[derive(Debug)]
pub struct Ring<T> {
    /// By cycle modulo the number of lists, which is a power of two: the events due.
    lists: Vec<Vec<T>>,
}

impl<T> Ring<T> {
    /// A ring for events at most `longest` cycles ahead.
    #[must_use]
    pub fn new(longest: u64) -> Self {
        let size = (longest as usize + 2).next_power_of_two();
        Self { lists: (0..size).map(|_| Vec::new()).collect() }
    }

    /// Index of the list for a cycle.
    #[inline(always)]
    const fn at(&self, cycle: u64) -> usize {
        cycle as usize & (self.lists.len() - 1)
    }

    /// Adds an event that is due in `cycle`: the present one, if its events have not been taken, or one that is at most
    /// the longest time ahead.
    #[inline(always)]
    pub fn add(&mut self, cycle: u64, event: T) {
        let at = self.at(cycle);
        self.lists[at].push(event);
    }

    /// The events that are due in cycle `now`.
    #[must_use]
    #[inline(always)]
    pub fn due(&self, now: u64) -> &[T] {
        &self.lists[self.at(now)]
    }

    /// Takes the list of the events due now. The caller [returns](Self::restore) it, to reuse its memory.
    #[inline(always)]
    pub fn take(&mut self, now: u64) -> Vec<T> {
        let at = self.at(now);
        std::mem::take(&mut self.lists[at])
    }

    /// Takes back a list from [`take`](Self::take), and empties it.
    #[inline(always)]
    pub fn restore(&mut self, now: u64, mut due: Vec<T>) {
        due.clear();
        let at = self.at(now);
        self.lists[at] = due;
    }

    /// Takes all events with their cycles, if cycle `now` is the first that may have some.
    pub fn take_all(&mut self, now: u64) -> Vec<(u64, T)> {
        let mut all = Vec::new();
        for cycle in now..now + self.lists.len() as u64 {
            let at = self.at(cycle);
            all.extend(self.lists[at].drain(..).map(|event| (cycle, event)));
        }
        all
    }

    /// True if no event is due.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lists.iter().all(Vec::is_empty)
    }

    /// All events with their cycles, if cycle `now` is the first that may have some.
    pub fn entries(&self, now: u64) -> impl Iterator<Item = (u64, &T)> {
        let cycles = now..now + self.lists.len() as u64;
        cycles.flat_map(|cycle| self.due(cycle).iter().map(move |event| (cycle, event)))
    }

    /// Makes every event due so many cycles later.
    pub fn pass(&mut self, cycles: u64) {
        let by = self.at(cycles);
        self.lists.rotate_right(by);
    }

    /// The first cycle from `now` on in which an event is due; `None` if there is none.
    #[must_use]
    pub fn next(&self, now: u64) -> Option<u64> {
        (now..now + self.lists.len() as u64).find(|&cycle| !self.due(cycle).is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_gives_what_is_due() {
        let mut ring = Ring::new(5);
        ring.add(3, 'a');
        ring.add(5, 'b');
        ring.add(3, 'c');
        assert_eq!((ring.next(1), ring.due(3)), (Some(3), &['a', 'c'][..]));
        assert!(ring.entries(1).eq([(3, &'a'), (3, &'c'), (5, &'b')]));
        let due = ring.take(3);
        assert_eq!(due, ['a', 'c']);
        ring.restore(3, due);
        assert_eq!((ring.next(4), ring.is_empty()), (Some(5), false));
        ring.pass(1_000_003);
        assert_eq!(ring.next(1_000_004), Some(1_000_008));
        ring.pass(8 - 1_000_003 % 8);
        assert_eq!(ring.take(5), ['b']);
        assert_eq!((ring.next(6), ring.is_empty()), (None, true));
    }

    #[test]
    fn events_are_as_far_ahead_as_is_said() {
        for ahead in 0..6u64 {
            let mut ring = Ring::new(ahead);
            let mut happened = Vec::new();
            for now in 100..130 {
                if now < 120 && now % 3 == 0 {
                    ring.add(now + ahead, now);
                }
                let due = ring.take(now);
                happened.extend(due.iter().map(|&entered| (entered, now)));
                ring.restore(now, due);
            }
            assert!(happened.into_iter().eq((102..120).step_by(3).map(|now| (now, now + ahead))));
        }
    }
}
