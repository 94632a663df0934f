//! Events in the order of their times.
//!
//! Source: Brown, Calendar queues: a fast O(1) priority queue implementation for the simulation event set problem, CACM
//! 31(10), 1988. The width of a day is fixed when the network is built. What lies beyond a year waits in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::rules::slab::Slab;

/// Days of a year.
const DAYS: usize = 8192;

/// The end of a list.
const END: u32 = u32::MAX;

/// An event. Those at the same instant and of the same order are alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Event {
    /// \[ps\]
    pub(super) at: u64,
    pub(super) order: u64,
    /// The frame, or the connection of a timer.
    pub(super) handle: u32,
}

impl Event {
    #[inline(always)]
    const fn key(&self) -> u128 {
        (self.at as u128) << 64 | self.order as u128
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    #[inline(always)]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// All events to come.
#[derive(Debug)]
pub(super) struct Calendar {
    /// A day has 2 to the power of `shift` ps.
    shift: u32,
    /// The day up to which events are in `today`.
    day: u64,
    /// Events of `day` and before, the earliest last.
    today: Vec<Event>,
    /// By day of the year from `day` on: a list of its events, without order.
    days: Vec<u32>,
    /// Events of these lists, each with the next one.
    waiting: Slab<(Event, u32)>,
    /// By day of the year: whether there are any.
    busy: Vec<u64>,
    later: BinaryHeap<Reverse<Event>>,
}

impl Calendar {
    /// For events that lie up to `span` ps ahead, of which about one in `spacing` ps happens under full load.
    pub(super) fn new(span: u64, spacing: u64) -> Self {
        let width = spacing.max(span / (DAYS as u64 - 2)).clamp(1, 1 << 50);
        Self {
            shift: width.next_power_of_two().trailing_zeros(),
            day: 0,
            today: Vec::new(),
            days: vec![END; DAYS],
            waiting: Slab::new(),
            busy: vec![0; DAYS / 64],
            later: BinaryHeap::new(),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, event: Event) {
        let day = event.at >> self.shift;
        if day <= self.day {
            let place = self.today.partition_point(|other| *other > event);
            self.today.insert(place, event);
        } else if day < self.day + DAYS as u64 {
            self.put(day, event);
        } else {
            self.later.push(Reverse(event));
        }
    }

    #[inline(always)]
    fn put(&mut self, day: u64, event: Event) {
        let slot = day as usize % DAYS;
        let next = self.days[slot];
        self.days[slot] = self.waiting.store((event, next));
        self.busy[slot / 64] |= 1 << (slot % 64);
    }

    /// \[ps\] The instant of the next event.
    #[inline]
    pub(super) fn next_at(&mut self) -> Option<u64> {
        if self.today.is_empty() {
            self.turn();
        }
        self.today.last().map(|event| event.at)
    }

    /// The next event, after [`next_at`](Self::next_at).
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Event> {
        self.today.pop()
    }

    /// Goes on to the next day with events, if there is one.
    fn turn(&mut self) {
        let day = match self.next_busy_day() {
            Some(day) => day,
            None => match self.later.peek() {
                Some(Reverse(event)) => event.at >> self.shift,
                None => return,
            },
        };
        self.day = day;
        let slot = day as usize % DAYS;
        let mut place = std::mem::replace(&mut self.days[slot], END);
        while place != END {
            let (event, next) = self.waiting[place];
            self.today.push(event);
            self.waiting.release(place);
            place = next;
        }
        self.busy[slot / 64] &= !(1 << (slot % 64));
        while let Some(Reverse(event)) = self.later.peek().copied() {
            let then = event.at >> self.shift;
            if then >= day + DAYS as u64 {
                break;
            }
            self.later.pop();
            if then == day {
                self.today.push(event);
            } else {
                self.put(then, event);
            }
        }
        if self.today.len() > 1 {
            self.today.sort_unstable_by_key(|event| Reverse(event.key()));
        }
    }

    /// The next day of the year with events.
    fn next_busy_day(&self) -> Option<u64> {
        let first = (self.day as usize + 1) % DAYS;
        let words = self.busy.len();
        for step in 0..=words {
            let word = (first / 64 + step) % words;
            let mut bits = self.busy[word];
            if step == 0 {
                bits &= u64::MAX << (first % 64);
            } else if step == words {
                bits &= !(u64::MAX << (first % 64));
            }
            if bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                return Some(self.day + 1 + ((slot + DAYS - first) % DAYS) as u64);
            }
        }
        None
    }

    /// Visits all events, without order.
    pub(super) fn visit(&self, mut visit: impl FnMut(&Event)) {
        self.today.iter().for_each(&mut visit);
        self.later.iter().for_each(|Reverse(event)| visit(event));
        for &first in &self.days {
            let mut place = first;
            while place != END {
                visit(&self.waiting[place].0);
                place = self.waiting[place].1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Events come in order, whatever their distances, and later ones may come before those that wait.
        #[test]
        fn a_calendar_is_a_sorted_list(
            steps in prop::collection::vec((any::<bool>(), 0u32..50, any::<u64>(), 0u64..5), 1..300),
            span in 1u64..1_000_000,
            spacing in 1u64..10_000,
        ) {
            let mut calendar = Calendar::new(span, spacing);
            let mut list: Vec<(u64, u64)> = Vec::new();
            let (mut now, mut number) = (0, 0);
            for (adds, bits, draw, order) in steps {
                if adds {
                    number += 1;
                    let (at, order) = (now + (draw >> (63 - bits)), order << 32 | number);
                    list.push((at, order));
                    calendar.add(Event { at, order, handle: 0 });
                } else {
                    list.sort_unstable();
                    let first = (!list.is_empty()).then(|| list.remove(0));
                    prop_assert_eq!(calendar.next_at(), first.map(|(at, _)| at));
                    let found = calendar.pop().map(|event| (event.at, event.order));
                    prop_assert_eq!(found, first);
                    now = first.map_or(now, |(at, _)| at);
                }
                let mut count = 0;
                calendar.visit(|_| count += 1);
                prop_assert_eq!(count, list.len());
            }
        }
    }
}
