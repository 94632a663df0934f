//! Events in the order of their times.
//!
//! Source: Brown, Calendar queues: a fast O(1) priority queue implementation for the simulation event set problem, CACM
//! 31(10), 1988. A day is a short interval of time, and a year has [`DAYS`] days. The events of the present day are
//! sorted; those of the rest of the year have an unsorted list for each day, which is sorted when the day begins.
//! Events beyond the year wait in a heap. Unlike in the source, the length of a day is fixed when the network is built.
//!
//! The engine calls [`Calendar::add`] for each new event, and [`Calendar::next_at`] followed by [`Calendar::pop`] for
//! the earliest one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fsin_core::slab::Slab;

/// Number of days of a year; a power of two.
const DAYS: usize = 8192;

/// The end of a list.
const END: u32 = u32::MAX;

/// An event. Events with equal `at` and `order` are interchangeable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Event {
    /// \[ps\] Time of the event.
    pub(super) at: u64,
    /// The order of events that happen at the same time: the least is first.
    pub(super) order: u64,
    /// The frame, or the connection of a timer, that the event concerns.
    pub(super) handle: u32,
}

impl Event {
    /// The event's place in the order of events.
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
    /// A day lasts 2^`shift` ps.
    shift: u32,
    /// The present day, counted from time 0.
    day: u64,
    /// The events of the present day and of earlier days, the earliest last.
    today: Vec<Event>,
    /// By day modulo [`DAYS`], for the days of the year that begins with the present one: index in `waiting` of the
    /// first event; [`END`] if there are none.
    days: Vec<u32>,
    /// The events in the lists of days, each with the index of the next one in its list.
    waiting: Slab<(Event, u32)>,
    /// By day modulo [`DAYS`], a bit: whether the list of the day has events.
    busy: Vec<u64>,
    /// The events beyond the year.
    later: BinaryHeap<Reverse<Event>>,
}

impl Calendar {
    /// A calendar for events that are mostly added at most `span` ps before they happen, and of which about one happens
    /// every `spacing` ps under full load. These numbers affect the speed only.
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

    /// Adds an event, which may be earlier than others in the calendar.
    #[inline]
    pub(super) fn add(&mut self, event: Event) {
        let day = event.at >> self.shift;
        if day <= self.day {
            let place = self.today.partition_point(|other| *other > event);
            self.today.insert(place, event);
        } else if day < self.day + DAYS as u64 {
            self.put_in_list(day, event);
        } else {
            self.later.push(Reverse(event));
        }
    }

    /// Adds an event to the list of a day of the year other than the present one.
    #[inline(always)]
    fn put_in_list(&mut self, day: u64, event: Event) {
        let slot = day as usize % DAYS;
        let next = self.days[slot];
        self.days[slot] = self.waiting.store((event, next));
        self.busy[slot / 64] |= 1 << (slot % 64);
    }

    /// \[ps\] Time of the next event; `None` if there is none. Must be called before each [`pop`](Self::pop).
    #[inline]
    pub(super) fn next_at(&mut self) -> Option<u64> {
        if self.today.is_empty() {
            self.begin_next_day();
        }
        self.today.last().map(|event| event.at)
    }

    /// Removes the next event. Call [`next_at`](Self::next_at) first, which begins its day.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Event> {
        self.today.pop()
    }

    /// Makes the next day with events the present one, if there is one.
    fn begin_next_day(&mut self) {
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
                self.put_in_list(then, event);
            }
        }
        if self.today.len() > 1 {
            self.today.sort_unstable_by_key(|event| Reverse(event.key()));
        }
    }

    /// The next day of the year with events, counted from time 0.
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

    /// Visits all events, in no particular order.
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
