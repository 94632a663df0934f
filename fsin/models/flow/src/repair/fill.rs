//! Recomputes all rates: for changes that affect so many flows that a repair would take longer.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;

use super::{Repairs, Room, turn};
use crate::services::Services;
use crate::share::{Flow, Key, Level, NO_LINK, Shares};

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
        // Sorted at once: levels are often equal, and then in order already.
        self.levels.sort_unstable();
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
                on.is_bottleneck
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
