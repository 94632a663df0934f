//! Events a fixed number of cycles ahead: a ring of lists, one for each cycle.

/// Calendar queue of the next cycles. Most events are scheduled the same number of cycles ahead: a tail follows its
/// header by the packet length less one.
#[derive(Debug)]
pub(super) struct Ring<E> {
    /// Events scheduled in the present cycle for `ahead` cycles later.
    entered: Vec<E>,
    /// By cycle modulo the number of lists: its events.
    lists: Vec<Vec<E>>,
    /// Number of lists less one; the number of lists is a power of two.
    mask: u64,
    /// \[cycles\] Time from scheduling an event to the event, for most events.
    ahead: u64,
    /// Number of pending events.
    len: usize,
}

impl<E> Ring<E> {
    /// A ring for events that occur `ahead` cycles after they are scheduled; with 0, in the same cycle.
    pub(super) fn new(ahead: u64) -> Self {
        let size = (ahead + 1).next_power_of_two();
        Self { entered: Vec::new(), lists: (0..size).map(|_| Vec::new()).collect(), mask: size - 1, ahead, len: 0 }
    }

    /// Schedules an event in the present cycle.
    #[inline]
    pub(super) fn enter(&mut self, event: E) {
        self.entered.push(event);
    }

    /// Schedules an event for cycle `at`, at most `ahead` cycles from now. `at` may be the present cycle unless that
    /// has ended.
    pub(super) fn put(&mut self, at: u64, event: E) {
        self.len += 1;
        self.lists[(at & self.mask) as usize].push(event);
    }

    /// The events of the present cycle `now`, without those that were scheduled in it.
    pub(super) fn due(&self, now: u64) -> &[E] {
        &self.lists[(now & self.mask) as usize]
    }

    /// Closes cycle `now` and takes its events. The caller returns the list with [`keep`](Self::keep) to reuse its
    /// memory.
    pub(super) fn turn(&mut self, now: u64) -> Vec<E> {
        if !self.entered.is_empty() {
            self.len += self.entered.len();
            // The list is empty: its events occurred a full turn ago or earlier.
            std::mem::swap(&mut self.entered, &mut self.lists[((now + self.ahead) & self.mask) as usize]);
        }
        let events = std::mem::take(&mut self.lists[(now & self.mask) as usize]);
        self.len -= events.len();
        events
    }

    /// Takes back the list that [`turn`](Self::turn) gave for cycle `now`.
    pub(super) fn keep(&mut self, now: u64, mut events: Vec<E>) {
        events.clear();
        self.lists[(now & self.mask) as usize] = events;
    }

    /// The pending events with their cycles, at the start of cycle `now`.
    pub(super) fn entries(&self, now: u64) -> impl Iterator<Item = (u64, &E)> {
        (now..=now + self.mask)
            .flat_map(|at| self.lists[(at & self.mask) as usize].iter().map(move |event| (at, event)))
    }

    /// The first cycle from `now` on with an event; `None` if there is none.
    pub(super) fn next(&self, now: u64) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        (now..=now + self.mask).find(|at| !self.lists[(at & self.mask) as usize].is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_happen_so_many_cycles_later() {
        for ahead in 0..6u64 {
            let mut ring = Ring::new(ahead);
            let mut happened = Vec::new();
            for now in 100..130 {
                if now < 120 && now % 3 == 0 {
                    ring.enter(now);
                    ring.enter(now);
                }
                let due = ring.due(now).len();
                let events = ring.turn(now);
                assert_eq!(due, if ahead > 0 { events.len() } else { 0 });
                happened.extend(events.iter().map(|&event| (event, now)));
                ring.keep(now, events);
            }
            let expected: Vec<(u64, u64)> =
                (100..120).filter(|now| now % 3 == 0).flat_map(|now| [(now, now + ahead); 2]).collect();
            assert_eq!(happened, expected);
            assert_eq!(ring.next(130), None);
        }
    }

    #[test]
    fn events_may_be_some_cycles_away() {
        let mut ring = Ring::new(3);
        let mut happened = Vec::new();
        for now in 10..20u64 {
            if now <= 13 {
                ring.put(now + now % 4, now);
            }
            let events = ring.turn(now);
            happened.extend(events.iter().map(|&event| (event, now)));
            ring.keep(now, events);
        }
        happened.sort_unstable();
        assert_eq!(happened, [(10, 12), (11, 14), (12, 12), (13, 14)]);
        assert_eq!(ring.next(20), None);
    }

    #[test]
    fn the_next_event_is_found() {
        let mut ring = Ring::new(5);
        ring.enter(());
        let events = ring.turn(7);
        ring.keep(7, events);
        assert_eq!(ring.next(8), Some(12));
    }
}
