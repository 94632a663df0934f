//! Shares after a change, computed where the change reaches.
//!
//! The rates of new flows are open, and of those that got theirs at a link that another flow has left. The **region** is all
//! links of open flows; all other flows there stand at its border, with the keys (level, link) at which they got their
//! rates. The region is filled in the order of keys:
//!
//! - A flow at the border whose key is of a link outside keeps its rate, and takes it off its links when its key is passed.
//! - If its key is of a link of the region and that link is picked at it, nothing has changed for the flow. If the key is
//!   passed without that pick, the rate of the flow is open from then on, and its links join the region.
//! - If one of its links is picked before its key, the flow gets its rate there, and its links join the region.
//!
//! A link that joins has already lost the rates of the flows whose keys have been passed. At every pick the same flows have
//! taken the same rates as if all links were filled, so that the result is the same to the bit. Where the region carries an
//! eighth of what all links carry, links themselves counted, everything is filled anew, and after such an attempt the next
//! ones are left out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::services::Services;
use crate::share::{Flow, Key, Level, NO_LINK, Shares};

/// Links that a fill of everything looks at in the time of one that carries a flow.
const LOOKS: usize = 8;

/// Part of all links and what they carry that the region carries at most: a flow at the border costs several times as
/// much as one in a fill of everything.
const PART: usize = 8;

/// Most changes in a row that are filled anew without an attempt to repair.
const MOST_SKIPPED: u32 = 31;

/// A link while rates are computed.
#[derive(Clone, Copy, Default, Debug)]
struct Room {
    /// \[2^-50 bytes/ns\] What is left of it.
    rest: u64,
    /// \[flows\] Without a rate.
    count: u64,
}

impl Room {
    /// The level of the link; `None` if all its flows have a rate.
    fn level(self) -> Option<Level> {
        self.rest.checked_div(self.count)
    }

    /// A flow of the link gets its rate.
    fn take(&mut self, rate: u64) {
        self.rest = self.rest.saturating_sub(rate);
        self.count -= 1;
    }
}

/// Repairs of shares, with memory that they use again.
#[derive(Debug)]
pub(crate) struct Repairs {
    /// By link: the repair in which it was last in the region.
    region: Vec<u64>,
    /// Flows whose rates are open, from the first one on.
    open: Vec<u32>,
    /// Links of the region, from the first one on.
    links: Vec<u32>,
    /// Flows at the border, by key.
    border: BinaryHeap<Reverse<(Key, u32)>>,
    /// Flows of all links of the region.
    visits: usize,
    /// By link of the region.
    rooms: Vec<Room>,
    /// New bottlenecks of open flows, with their levels.
    found: Vec<(u32, Key)>,
    /// Links of the region that were picked, with their levels.
    picks: Vec<(u32, Level)>,
    /// By link, where everything is filled anew: the level at which it was picked before.
    before: Vec<Level>,
    /// Number of changes that are filled anew after the last attempt that failed, and of those that are still to come.
    skipped: u32,
    to_skip: u32,
    /// Everything is filled anew if links of the region carry this part of all links and what they carry.
    pub(crate) part: usize,
}

impl Repairs {
    pub(crate) fn new(links: usize) -> Self {
        Self {
            region: vec![0; links],
            open: Vec::new(),
            links: Vec::new(),
            border: BinaryHeap::new(),
            visits: 0,
            rooms: vec![Room::default(); links],
            found: Vec::new(),
            picks: Vec::new(),
            before: Vec::new(),
            skipped: 0,
            to_skip: 0,
            part: PART,
        }
    }

    /// Gives flows their rates after changes, max-min fair, each flow with its whole rate on each of its links, and tells
    /// `services` from which link a flow has its rate from `now` on. Returns the number of flows whose rate has changed.
    pub(crate) fn repair(&mut self, shares: &mut Shares, all: &mut [Flow], services: &mut Services, now: u64) -> u64 {
        if self.to_skip > 0 {
            self.to_skip -= 1;
            return self.fill_all(shares, all, services, now);
        }
        shares.fills += 1;
        for list in [&mut self.open, &mut self.links] {
            list.clear();
        }
        self.border.clear();
        self.visits = 0;
        self.found.clear();
        self.picks.clear();
        shares.queue.clear();
        self.release(shares, all);
        for index in 0..self.open.len() {
            self.join(self.open[index], (0, 0), shares, all);
        }
        // Filling everything looks at all links as well, however few flows there are.
        let all_uses = shares.uses + self.rooms.len() / LOOKS;
        if !self.fill_region(shares, all, all_uses / self.part) {
            self.skipped = (2 * self.skipped + 1).min(MOST_SKIPPED);
            self.to_skip = self.skipped;
            return self.fill_all(shares, all, services, now);
        }
        self.skipped = 0;
        let mut changes = 0;
        for &(slot, (level, link)) in &self.found {
            changes += u64::from(shares.rate(slot) != level);
            turn(slot, link, shares, all, services, now);
        }
        shares.changes.entered.clear();
        for link in shares.changes.links.drain(..).chain(self.links.iter().copied()) {
            shares.picked[link as usize] = Level::MAX;
        }
        for &(link, level) in &self.picks {
            shares.picked[link as usize] = level;
            services.pick((level, link), now);
        }
        changes
    }

    /// Gives all flows their rates anew. Returns the number of those whose rate has changed.
    fn fill_all(&mut self, shares: &mut Shares, all: &[Flow], services: &mut Services, now: u64) -> u64 {
        shares.fills += 1;
        shares.changes.entered.clear();
        shares.changes.links.clear();
        self.before.clone_from(&shares.picked);
        shares.picked.fill(Level::MAX);
        let mut queue = std::mem::take(&mut shares.queue).into_vec();
        queue.clear();
        for (link, flows) in (0_u32..).zip(&shares.flows).filter(|(_, flows)| !flows.is_empty()) {
            let room = Room { rest: shares.capacities[link as usize], count: flows.len() as u64 };
            self.rooms[link as usize] = room;
            queue.extend(room.level().map(|level| Reverse((level, link))));
        }
        shares.queue = queue.into();
        let mut changes = 0;
        while let Some(pick) = self.next_pick(shares) {
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
        changes
    }

    /// Gives the flows of a link their rate that have none in this fill. Those of another link before are `open`
    /// afterwards; returns the number of the others.
    fn fix_all(&mut self, (level, link): Key, shares: &mut Shares, all: &[Flow]) -> u64 {
        let Self { rooms, open, .. } = self;
        open.clear();
        let mut kept = 0;
        for on in &shares.flows[link as usize] {
            let is_kept = if on.other == NO_LINK {
                let share = &mut shares.of_flows[on.slot as usize];
                if std::mem::replace(&mut share.filled, shares.fills) == shares.fills {
                    continue;
                }
                share.each_link(&all[on.slot as usize], |at| rooms[at].take(level));
                share.bottleneck == link
            } else {
                // It has a rate if the other link has been picked, where no flow without a rate is left then.
                let other = &mut rooms[on.other as usize];
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
        rooms[link as usize].count = 0;
        kept
    }

    /// Opens the rates of new flows, and of those whose link another flow has left.
    fn release(&mut self, shares: &mut Shares, all: &mut [Flow]) {
        let (repair, open) = (shares.fills, &mut self.open);
        let mut add = |slot: u32, flow: &mut Flow| {
            if flow.released != repair {
                flow.released = repair;
                open.push(slot);
            }
        };
        for &slot in &shares.changes.entered {
            // It may have ended at the instant of its entry.
            let flow = &mut all[slot as usize];
            if flow.places.len() == flow.uses.len() && !flow.uses.is_empty() {
                add(slot, flow);
            }
        }
        shares.changes.links.sort_unstable();
        shares.changes.links.dedup();
        for &link in shares.changes.links.iter().filter(|&&link| shares.picked[link as usize] != Level::MAX) {
            for on in &shares.flows[link as usize] {
                if shares.of_flows[on.slot as usize].bottleneck == link {
                    add(on.slot, &mut all[on.slot as usize]);
                }
            }
        }
    }

    /// The links of an open flow join the region, when keys below `passed` have been passed.
    fn join(&mut self, slot: u32, passed: Key, shares: &mut Shares, all: &mut [Flow]) {
        let (repair, Self { region, links, border, rooms, visits, .. }) = (shares.fills, self);
        for index in 0..all[slot as usize].uses.len() {
            let link = all[slot as usize].uses[index].link;
            let at = link as usize;
            if std::mem::replace(&mut region[at], repair) == repair {
                continue;
            }
            links.push(link);
            *visits += shares.flows[at].len();
            let mut room = Room { rest: shares.capacities[at], count: 0 };
            for on in &shares.flows[at] {
                let (key, other) = (shares.key(on.slot), on.slot as usize);
                let (flow, filled) = (&mut all[other], &mut shares.of_flows[other].filled);
                if *filled != repair && flow.released != repair && key < passed {
                    (*filled, flow.fresh) = (repair, key.0);
                }
                if *filled == repair {
                    room.rest = room.rest.saturating_sub(flow.fresh);
                    continue;
                }
                room.count += 1;
                if flow.released != repair {
                    border.push(Reverse((key, on.slot)));
                }
            }
            rooms[at] = room;
            shares.queue.extend(room.level().map(|level| Reverse((level, link))));
        }
    }

    /// The pick of the region that is next.
    fn next_pick(&self, shares: &mut Shares) -> Option<Key> {
        while let Some(mut first) = shares.queue.peek_mut() {
            let Reverse((level, link)) = *first;
            match self.rooms[link as usize].level() {
                Some(now) if now == level => return Some((level, link)),
                Some(now) => *first = Reverse((now, link)),
                None => _ = PeekMut::pop(first),
            }
        }
        None
    }

    /// Gives a flow its rate for this repair, and takes it off the links of the region.
    fn settle(&mut self, slot: u32, rate: u64, shares: &mut Shares, all: &mut [Flow]) {
        let flow = &mut all[slot as usize];
        flow.fresh = rate;
        shares.of_flows[slot as usize].filled = shares.fills;
        for of in &flow.uses {
            let at = of.link as usize;
            if self.region[at] == shares.fills {
                self.rooms[at].take(rate);
            }
        }
    }

    /// Fills the region. False if its links carry more than `most` flows.
    fn fill_region(&mut self, shares: &mut Shares, all: &mut [Flow], most: usize) -> bool {
        let repair = shares.fills;
        loop {
            if self.visits > most {
                return false;
            }
            let pick = self.next_pick(shares);
            let next = self.border.peek().map(|&Reverse(next)| next);
            if let Some((key, slot)) = next
                && pick.is_none_or(|pick| key < pick)
            {
                self.border.pop();
                let flow = &mut all[slot as usize];
                if shares.of_flows[slot as usize].filled == repair || flow.released == repair {
                    continue;
                }
                if self.region[key.1 as usize] == repair {
                    flow.released = repair;
                    self.open.push(slot);
                    self.join(slot, key, shares, all);
                } else {
                    self.settle(slot, key.0, shares, all);
                }
                continue;
            }
            let Some(pick) = pick else { return true };
            let (level, link) = pick;
            self.picks.push((link, level));
            for index in 0..shares.flows[link as usize].len() {
                let slot = shares.flows[link as usize][index].slot;
                if shares.of_flows[slot as usize].filled == repair {
                    continue;
                }
                let flow = &mut all[slot as usize];
                if flow.released != repair && shares.key(slot) != pick {
                    flow.released = repair;
                    self.open.push(slot);
                    self.join(slot, pick, shares, all);
                }
                if all[slot as usize].released == repair {
                    self.found.push((slot, pick));
                }
                self.settle(slot, level, shares, all);
            }
        }
    }
}

/// A flow has its rate from `link` from `now` on.
fn turn(slot: u32, link: u32, shares: &mut Shares, all: &[Flow], services: &mut Services, now: u64) {
    let flow = &all[slot as usize];
    let before = shares.of_flows[slot as usize].bottleneck;
    if before != link {
        services.turn(slot, flow, (before, link), now);
        shares.hold(slot, link, flow);
    }
}
