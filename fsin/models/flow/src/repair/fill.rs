//! Recomputes all rates: for changes that affect so many flows that a repair would take longer.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;

use super::{Repairs, Room, turn};
use crate::services::Services;
use crate::share::{Flow, Key, Level, NO_LINK, Shares};

/// Most different levels that are put in order by counting.
const FEW: usize = 64;

/// Places of a table of levels, a power of two: four times as many as there are levels.
const PLACES: usize = 4 * FEW;

/// Puts keys in order whose links are. Links of a network have few rates and few flows each, so that most levels are
/// equal: keys are counted by level, which takes a tenth of the time of a comparison of all.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    /// By key: the number of its level, in the order in which levels came.
    of: Vec<u8>,
    /// By key: its link.
    links: Vec<u32>,
}

impl Kinds {
    pub(super) fn sort(&mut self, keys: &mut [Key]) {
        if keys.len() < PLACES || !self.count(keys) {
            keys.sort_unstable();
        }
    }

    /// The same; false, and nothing has changed, if there are more than [`FEW`] levels.
    fn count(&mut self, keys: &mut [Key]) -> bool {
        // An open table; a level of 0 marks a free place.
        let mut table = [(0, 0_u8); PLACES];
        let mut counts: Vec<(Level, usize)> = Vec::with_capacity(FEW);
        self.of.clear();
        for &(level, _) in &*keys {
            if level == 0 {
                return false;
            }
            let mut place = (level.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize;
            while table[place].0 != level {
                if table[place].0 == 0 {
                    if counts.len() == FEW {
                        return false;
                    }
                    table[place] = (level, counts.len() as u8);
                    counts.push((level, 0));
                } else {
                    place = (place + 1) % PLACES;
                }
            }
            let kind = table[place].1;
            counts[usize::from(kind)].1 += 1;
            self.of.push(kind);
        }
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_unstable_by_key(|&kind| counts[kind].0);
        let mut next = [0_usize; FEW];
        let mut sum = 0;
        for kind in order {
            next[kind] = sum;
            sum += counts[kind].1;
        }
        self.links.clear();
        self.links.extend(keys.iter().map(|key| key.1));
        for (&link, &kind) in self.links.iter().zip(&self.of) {
            let place = &mut next[usize::from(kind)];
            keys[*place] = (counts[usize::from(kind)].0, link);
            *place += 1;
        }
        true
    }
}

impl Repairs {
    /// Recomputes the rates of all flows. Returns the number of flows whose rate has changed.
    pub(super) fn fill_all(&mut self, shares: &mut Shares, all: &[Flow], services: &mut Services, now: u64) -> u64 {
        shares.fills += 1;
        shares.changes.entered.clear();
        shares.changes.links.clear();
        self.before.clone_from(&shares.picked);
        shares.picked.fill(Level::MAX);
        shares.queue.clear();
        self.levels.clear();
        for (link, flows) in (0_u32..).zip(&shares.flows).filter(|(_, flows)| !flows.is_empty()) {
            let room = Room { rest: shares.capacities[link as usize], count: flows.len() as u64 };
            let place = &mut self.places[link as usize];
            (place.room, place.held) = (room, 0);
            self.levels.extend(room.level().map(|level| (level, link)));
        }
        self.kinds.sort(&mut self.levels);
        self.passed = 0;
        let mut changes = 0;
        while let Some(pick) = self.next_exact(shares) {
            let (level, link) = pick;
            let kept = self.fix_all(pick, shares, all);
            changes += if self.before[link as usize] == level { 0 } else { kept };
            services.pick(pick, now);
            shares.picked[link as usize] = level;
            for index in 0..self.open.len() {
                let slot = self.open[index];
                let rate = match shares.of_flows[slot as usize].bottleneck {
                    NO_LINK => shares.of_flows[slot as usize].rate,
                    link => self.before[link as usize],
                };
                changes += u64::from(rate != level);
                turn(slot, link, shares, all, services, now);
            }
        }
        for (place, _) in self.places.iter_mut().zip(&shares.flows).filter(|(_, flows)| !flows.is_empty()) {
            place.rest = place.room.rest.into();
        }
        changes
    }

    /// The next pick: the least of the initial levels and of the levels that have risen since.
    fn next_exact(&mut self, shares: &mut Shares) -> Option<Key> {
        loop {
            let at_first = self.levels.get(self.passed).copied();
            let risen = shares.queue.peek().map(|&Reverse(key)| key);
            let is_risen = risen.is_some_and(|risen| at_first.is_none_or(|first| risen < first));
            let (level, link) = if is_risen { risen } else { at_first }?;
            let now = self.places[link as usize].room.level();
            if now == Some(level) {
                return Some((level, link));
            }
            if !is_risen {
                self.passed += 1;
                shares.queue.extend(now.map(|now| Reverse((now, link))));
            } else if let Some(mut first) = shares.queue.peek_mut() {
                match now {
                    Some(now) => *first = Reverse((now, link)),
                    None => _ = PeekMut::pop(first),
                }
            }
        }
    }

    /// Assigns the rate of a picked link to its flows that have none in this fill. Those with another bottleneck before
    /// are in `open` afterwards; returns the number of the others.
    fn fix_all(&mut self, (level, link): Key, shares: &mut Shares, all: &[Flow]) -> u64 {
        let Self { places, open, .. } = self;
        open.clear();
        let mut kept = 0;
        for on in &shares.flows[link as usize] {
            let is_kept = if on.other == NO_LINK {
                let share = &mut shares.of_flows[on.slot as usize];
                if std::mem::replace(&mut share.filled, shares.fills) == shares.fills {
                    continue;
                }
                share.each_link(&all[on.slot as usize], |at| places[at].room.take(level));
                share.bottleneck == link
            } else {
                // A picked link has no flow without a rate: if that is true of the other link, this flow has its rate.
                let other = &mut places[on.other as usize].room;
                if other.count == 0 {
                    continue;
                }
                other.take(level);
                on.is_bottleneck()
            };
            if is_kept {
                kept += 1;
            } else {
                open.push(on.slot);
            }
        }
        let place = &mut places[link as usize];
        place.held = (kept + open.len() as u64) as u32;
        // Flows of two links have been subtracted from the other link only.
        place.room.rest = place.room.rest.saturating_sub(level.saturating_mul(place.room.count));
        place.room.count = 0;
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of links in ascending order are sorted, whatever their levels are: few, as many as are counted, more, or 0.
    #[test]
    fn keys_are_in_order() {
        let mut kinds = Kinds::default();
        for (levels, factor) in [(1, 5), (7, 1 << 40), (64, 3), (65, 3), (300, 1 << 50), (5, 0)] {
            for count in [0, 10, 255, 256, 3001] {
                let key = |link: u32| ((u64::from(link) * 2_654_435_761 % levels + 1) * factor, link);
                let mut keys: Vec<Key> = (0..count).map(key).collect();
                let mut expected = keys.clone();
                expected.sort_unstable();
                kinds.sort(&mut keys);
                assert_eq!(keys, expected, "{levels} levels, {count} links");
            }
        }
    }
}
