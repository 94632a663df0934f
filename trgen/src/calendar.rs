//! Events in the order of their times: a calendar queue.
//!
//! A day is a short interval of time, and a year has [`DAYS`] days. The events of the present day are sorted; those of
//! the rest of the year have an unsorted list for each day, which is sorted when the day begins. The next day with
//! events is found in a bitmap of two levels. Events beyond the year wait in a heap. An event costs a few steps,
//! however many wait and however long nothing happens.
//!
//! Source: Brown, *Calendar queues: a fast O(1) priority queue implementation for the simulation event set problem*,
//! CACM 31(10), 1988. Unlike there, the length of a day is fixed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of days of a year; a power of two.
pub const DAYS: usize = 8192;
/// Words of the bitmap of days.
const WORDS: usize = DAYS / 64;
/// The end of a list.
const END: u32 = u32::MAX;

/// An event of a calendar. The order of events is that of their times, and beyond that as the source of events says.
/// Events that compare as equal are interchangeable.
pub trait Event: Copy + Ord {
    /// Time of the event.
    fn time(&self) -> u64;
}

/// An event in the list of its day, or a vacant place.
#[derive(Clone, Copy, Debug)]
struct Waiting<E> {
    event: E,
    /// The next one in the same list, or the next vacant place.
    next: u32,
}

/// Events to come.
#[derive(Clone, Debug)]
pub struct Calendar<E> {
    /// A day lasts 2^`shift` units of time.
    shift: u32,
    /// The present day, counted from time 0.
    day: u64,
    /// The events of the present day and of earlier days, sorted; those from index `taken` on remain.
    today: Vec<E>,
    taken: usize,
    /// By day modulo [`DAYS`], for the days of the year that begins with the present one: index in `waiting` of the
    /// first event. Undefined where the bit of the day is not set.
    days: Box<[u32]>,
    /// By day modulo [`DAYS`], a bit: whether the list of the day has events.
    busy: Box<[u64; WORDS]>,
    /// By word of `busy`, a bit: whether any bit is set.
    words: [u64; WORDS / 64],
    /// The events in the lists of days, and vacant places.
    waiting: Vec<Waiting<E>>,
    /// The first vacant place.
    vacant: u32,
    /// The events beyond the year.
    later: BinaryHeap<Reverse<E>>,
}

impl<E: Event> Calendar<E> {
    /// A calendar for events that are mostly added at most `span` units of time before they happen, and of which about
    /// one happens every `spacing` units. These numbers affect the speed alone.
    #[must_use]
    pub fn new(span: u64, spacing: u64) -> Self {
        let width = spacing.max(span / (DAYS as u64 - 2)).clamp(1, 1 << 50);
        Self {
            shift: width.next_power_of_two().trailing_zeros(),
            day: 0,
            today: Vec::new(),
            taken: 0,
            days: vec![END; DAYS].into(),
            busy: Box::new([0; WORDS]),
            words: [0; WORDS / 64],
            waiting: Vec::new(),
            vacant: END,
            later: BinaryHeap::new(),
        }
    }

    /// Adds an event, which may be earlier than others in the calendar.
    #[inline]
    pub fn add(&mut self, event: E) {
        let day = event.time() >> self.shift;
        if day.wrapping_sub(self.day).wrapping_sub(1) < DAYS as u64 - 1 {
            self.put_in_list(day, event);
        } else {
            self.add_elsewhere(day, event);
        }
    }

    /// Adds an event that belongs to no list of the year.
    #[inline(never)]
    fn add_elsewhere(&mut self, day: u64, event: E) {
        if day > self.day {
            return self.later.push(Reverse(event));
        }
        if self.today.last().is_none_or(|last| *last <= event) {
            return self.today.push(event);
        }
        match self.today[self.taken..].partition_point(|other| *other <= event) {
            // The event takes the place of one that has been taken, so that no other is moved.
            0 if self.taken > 0 => {
                self.taken -= 1;
                self.today[self.taken] = event;
            }
            place => self.today.insert(self.taken + place, event),
        }
    }

    /// Adds an event to the list of a day of the year other than the present one.
    #[inline(always)]
    fn put_in_list(&mut self, day: u64, event: E) {
        let slot = day as usize % DAYS;
        let (word, bit) = (slot / 64, 1 << (slot % 64));
        let next = if self.busy[word] & bit == 0 { END } else { self.days[slot] };
        self.busy[word] |= bit;
        self.words[word / 64] |= 1 << (word % 64);
        let place = self.vacant;
        self.days[slot] = match self.waiting.get_mut(place as usize) {
            Some(vacant) => {
                self.vacant = std::mem::replace(vacant, Waiting { event, next }).next;
                place
            }
            None => self.put_anew(Waiting { event, next }),
        };
    }

    /// Puts an event into a new place.
    #[inline(never)]
    fn put_anew(&mut self, waiting: Waiting<E>) -> u32 {
        self.waiting.push(waiting);
        self.waiting.len() as u32 - 1
    }

    /// The next event, and makes its day the present one; `None` if there is none.
    #[inline]
    pub fn first(&mut self) -> Option<&E> {
        if self.taken == self.today.len() {
            self.begin_next_day();
        }
        self.today.get(self.taken)
    }

    /// Removes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<E> {
        let event = *self.first()?;
        self.taken += 1;
        Some(event)
    }

    /// Removes the next event if its time is at most `until`. Otherwise the present day stays.
    #[inline]
    pub fn pop_until(&mut self, until: u64) -> Option<E> {
        let Some(&event) = self.today.get(self.taken) else { return self.pop_of_another_day(until) };
        let is_due = event.time() <= until;
        self.taken += usize::from(is_due);
        is_due.then_some(event)
    }

    /// The same when the present day has no event left.
    #[inline(never)]
    fn pop_of_another_day(&mut self, until: u64) -> Option<E> {
        self.next_time().filter(|&time| time <= until)?;
        self.pop()
    }

    /// Time of the next event; `None` if there is none. The present day stays.
    #[must_use]
    pub fn next_time(&self) -> Option<u64> {
        if let Some(event) = self.today.get(self.taken) {
            return Some(event.time());
        }
        let Some(day) = self.next_busy_day() else { return self.later.peek().map(|Reverse(event)| event.time()) };
        if self.shift == 0 {
            return Some(day);
        }
        self.list(day as usize % DAYS).map(Event::time).min()
    }

    /// The events in the list of a day that has some.
    fn list(&self, slot: usize) -> impl Iterator<Item = &E> {
        let mut place = self.days[slot];
        std::iter::from_fn(move || {
            let Waiting { event, next } = self.waiting.get(place as usize)?;
            place = *next;
            Some(event)
        })
    }

    /// Makes the next day with events the present one, if there is one.
    fn begin_next_day(&mut self) {
        self.today.clear();
        self.taken = 0;
        let Some(day) = self.next_busy_day() else { return self.begin_next_year() };
        self.day = day;
        let slot = day as usize % DAYS;
        let word = slot / 64;
        self.busy[word] &= !(1 << (slot % 64));
        if self.busy[word] == 0 {
            self.words[word / 64] &= !(1 << (word % 64));
        }
        let mut place = self.days[slot];
        while let Some(waiting) = self.waiting.get_mut(place as usize) {
            self.today.push(waiting.event);
            let next = std::mem::replace(&mut waiting.next, self.vacant);
            self.vacant = std::mem::replace(&mut place, next);
        }
        if !self.later.is_empty() {
            self.fetch_later();
        }
        if self.today.len() > 1 {
            self.sort_today();
        }
    }

    /// Sorts the events of the present day, of which those that were added last come first.
    #[inline(never)]
    fn sort_today(&mut self) {
        self.today.reverse();
        if !self.today.is_sorted() {
            self.today.sort_unstable();
        }
    }

    /// Makes the day of the first event beyond the year the present one, if there is one.
    #[inline(never)]
    fn begin_next_year(&mut self) {
        let Some(Reverse(event)) = self.later.peek() else { return };
        self.day = event.time() >> self.shift;
        self.fetch_later();
        self.today.sort_unstable();
    }

    /// Takes the events from the heap that belong to the year that begins with the present day.
    fn fetch_later(&mut self) {
        while let Some(&Reverse(event)) = self.later.peek() {
            let day = event.time() >> self.shift;
            if day - self.day >= DAYS as u64 {
                break;
            }
            self.later.pop();
            if day == self.day { self.today.push(event) } else { self.put_in_list(day, event) }
        }
    }

    /// The next day of the year with events, counted from time 0.
    #[inline]
    fn next_busy_day(&self) -> Option<u64> {
        let first = (self.day as usize + 1) % DAYS;
        let bits = self.busy[first / 64] & u64::MAX << (first % 64);
        let slot = if bits != 0 {
            first / 64 * 64 + bits.trailing_zeros() as usize
        } else {
            let word = self.next_word((first / 64 + 1) % WORDS)?;
            word * 64 + self.busy[word].trailing_zeros() as usize
        };
        Some(self.day + 1 + (slot.wrapping_sub(first) % DAYS) as u64)
    }

    /// The first word of `busy` from `first` on, cyclically, with a bit set.
    #[inline]
    fn next_word(&self, first: usize) -> Option<usize> {
        // The word of the first bit is read twice: the second time, the bits before it count.
        for step in 0..=self.words.len() {
            let at = (first / 64 + step) % self.words.len();
            let bits = self.words[at] & if step == 0 { u64::MAX << (first % 64) } else { u64::MAX };
            if bits != 0 {
                return Some(at * 64 + bits.trailing_zeros() as usize);
            }
        }
        None
    }

    /// All events, in no particular order.
    pub fn all(&self) -> impl Iterator<Item = &E> {
        let has_events = |&slot: &usize| self.busy[slot / 64] >> (slot % 64) & 1 != 0;
        let lists = (0..DAYS).filter(has_events).flat_map(|slot| self.list(slot));
        self.today[self.taken..].iter().chain(lists).chain(self.later.iter().map(|Reverse(event)| event))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Time and number.
    impl Event for (u64, u64) {
        fn time(&self) -> u64 {
            self.0
        }
    }

    proptest! {
        /// Events come in order, whatever their distances, and later ones may come before those that wait.
        #[test]
        fn a_calendar_is_a_sorted_set(
            steps in prop::collection::vec((any::<bool>(), 0u32..50, any::<u64>(), 0u64..5), 1..300),
            span in prop_oneof![Just(1u64), 1u64..1_000_000],
            spacing in prop_oneof![Just(1u64), 1u64..10_000],
        ) {
            let mut calendar = Calendar::new(span, spacing);
            let mut set: BTreeSet<(u64, u64)> = BTreeSet::new();
            let (mut now, mut number) = (0, 0);
            for (adds, bits, draw, order) in steps {
                if adds {
                    number += 1;
                    let event = (now + (draw >> (63 - bits)), order << 32 | number);
                    set.insert(event);
                    calendar.add(event);
                } else {
                    let first = set.pop_first();
                    prop_assert_eq!(calendar.next_time(), first.map(|(at, _)| at));
                    if order > 2 {
                        prop_assert_eq!(calendar.first().copied(), first);
                    }
                    if let Some((time @ 1.., _)) = first {
                        prop_assert_eq!(calendar.pop_until(time - 1), None);
                        prop_assert_eq!(calendar.next_time(), Some(time));
                    }
                    let popped = if order > 3 { calendar.pop() } else { calendar.pop_until(u64::MAX) };
                    prop_assert_eq!(popped, first);
                    now = first.map_or(now, |(at, _)| at);
                }
                prop_assert_eq!(calendar.all().copied().collect::<BTreeSet<_>>(), set.clone());
            }
        }
    }

    /// Many events at one time, added while others of it are being taken, and some before it.
    #[test]
    fn events_may_be_added_to_the_present_day() {
        let mut calendar = Calendar::new(1, 1);
        (0..100).for_each(|number| calendar.add((7, number)));
        for number in 0..100 {
            assert_eq!(calendar.pop(), Some((7, number)));
            calendar.add((7, 100 + number));
            if number % 10 == 0 {
                calendar.add((6, number));
                assert_eq!((calendar.next_time(), calendar.pop()), (Some(6), Some((6, number))));
            }
        }
        assert!(std::iter::from_fn(|| calendar.pop()).eq((100..200).map(|number| (7, number))));
        assert_eq!(calendar.next_time(), None);
    }
}
