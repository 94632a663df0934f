//! Shares after a change, recomputed only for the flows and links that the change affects.
//!
//! Open are the rates of new flows, and of flows whose bottleneck another flow has left. The **region** is the set of
//! all links of open flows. Rates are assigned in the order of keys (level, link), as if all links were filled; all
//! other flows keep their rates, unless a link of the region changes them:
//!
//! - A link of the region is **lazy** at first: two numbers hold the capacity that is left beside the flows that keep
//!   their rates, and the number of open flows that share it. Their quotient is a lower bound of the level of the link,
//!   since flows that keep their rates at a link have at least its level there. Only when that bound is the least key
//!   is the link **expanded**: its flows are visited, and its level is exact from then on.
//! - A link of the region that was picked in the last filling is checked at the key of that pick. If its level is the
//!   same again, its flows keep their rates and its open flows get that level, without a visit to the others. Otherwise
//!   its flows become open.
//! - A flow of an expanded link that is not open waits at the border with its key. When the filling passes that key,
//!   the flow keeps its rate, or becomes open if its bottleneck is expanded too and has not been picked at that key. If
//!   one of its links is picked earlier, it gets its rate there.
//! - A link that was not picked in the last filling and has ample room is left out. If too little room is left at the
//!   end, the repair is repeated with that link in the region.
//!
//! At every pick the same flows have taken the same rates as if all links were filled, so that the result is the same
//! to the bit. If a repair visits an eighth of the flows of all links, links themselves counted, everything is filled
//! anew instead, and the next changes are filled without an attempt to repair.
//!
//! Flows that end at the same instant, as those of a coarse tick do, are repaired [one after the other](Repairs::is_cheap)
//! if they are few: one repair for all of them visits more, since its bounds are lower, and a link that was left out
//! wrongly makes all of it again.
//!
//! Decisions: docs/decisions/0471-lazy-links.md, docs/decisions/0580-ends-one-after-another.md.

mod fill;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::services::Services;
use crate::share::{Flow, Key, Level, NO_LINK, OPEN, Shares};

/// Links without flows that a fill of everything passes in the time of one use of a link by a flow.
const LOOKS: usize = 8;

/// A repair may visit one part in so many of all links and their flows: a flow at the border costs several times as
/// much as one in a fill of everything.
const PART: usize = 8;

/// Repairs after single ends may visit so many times as much together: most of what they visit are two numbers of a
/// link.
const SINGLE: usize = 4;

/// The visits of past repairs count for one part in so many less with each later one.
const MEMORY: usize = 16;

/// Most changes in a row that are filled anew without an attempt to repair.
const MOST_SKIPPED: u32 = 31;

/// A link while rates are computed.
#[derive(Clone, Copy, Default, Debug)]
struct Room {
    /// \[2^-50 bytes/ns\] Capacity left.
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

/// State of a link during repairs, on one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Place {
    /// \[2^-50 bytes/ns\] Capacity left by the flows that have a rate. Negative while a link is left out wrongly.
    rest: i128,
    /// The exact room of an expanded link; during a fill of everything, that of every link.
    room: Room,
    /// The repair in which it was last in the region.
    region: u64,
    /// \[flows\] Number of those of which it is the bottleneck and that are not open.
    held: u32,
    /// \[flows\] In the region: number of open ones without a new rate yet.
    open: u32,
    /// In the region: its flows have been visited.
    is_expanded: bool,
    /// In the region: it is left out.
    is_left_out: bool,
    /// In the region: it was left out for some of its open flows.
    was_left_out: bool,
    /// It must not be left out in this repair.
    is_forced: bool,
}

impl Place {
    /// In the region, not expanded: a lower bound of its level; `None` without open flows. It has `flows` flows.
    fn bound(&self, flows: usize) -> Option<Level> {
        // Rounding of the level leaves less than a unit for each flow.
        let rest = u64::try_from(self.rest).unwrap_or(0).saturating_sub(flows as u64);
        rest.checked_div(self.open.into())
    }
}

/// The rate of a flow before the repairs of an instant.
#[derive(Debug)]
struct Former {
    /// The slot of the flow, and source and number of its message: another flow may have the slot afterwards.
    flow: (u32, u32, u64),
    rate: u64,
}

/// Repairs of shares, with memory that they use again.
#[derive(Debug)]
pub(crate) struct Repairs {
    /// By link.
    places: Vec<Place>,
    /// Flows whose rates are open, from the first one on.
    open: Vec<u32>,
    /// Links of the region, from the first one on.
    links: Vec<u32>,
    /// Links that must not be left out in this repair.
    forced: Vec<u32>,
    /// Flows at the border, by key.
    border: BinaryHeap<Reverse<(Key, u32)>>,
    /// Number of visits to flows in this repair.
    visits: usize,
    /// New bottlenecks of open flows, with their levels.
    found: Vec<(u32, Key)>,
    /// Links that were picked, with their levels.
    picks: Vec<(u32, Level)>,
    /// By link, during a fill of everything: the level at which it was picked in the last filling.
    before: Vec<Level>,
    /// During a fill of everything: the initial levels of links with flows, in order, and how many have been passed.
    levels: Vec<Key>,
    kinds: fill::Kinds,
    passed: usize,
    /// Number of changes that are filled without an attempt after the last failed repair, and how many of these are
    /// left.
    skipped: u32,
    to_skip: u32,
    /// Flows whose rates have changed in repairs of this instant before the last one.
    former: Vec<Former>,
    /// True if there were such repairs.
    is_begun: bool,
    /// Visits of repairs after single ends, on average.
    usual: usize,
    /// Everything is filled anew if a repair would visit more than one in so many of all links and their flows.
    pub(crate) part: usize,
}

impl Repairs {
    pub(crate) fn new(capacities: &[u64]) -> Self {
        let place = |&capacity: &u64| Place {
            rest: capacity.into(),
            room: Room::default(),
            region: 0,
            held: 0,
            open: 0,
            is_expanded: false,
            is_left_out: false,
            was_left_out: false,
            is_forced: false,
        };
        Self {
            places: capacities.iter().map(place).collect(),
            open: Vec::new(),
            links: Vec::new(),
            forced: Vec::new(),
            border: BinaryHeap::new(),
            visits: 0,
            found: Vec::new(),
            picks: Vec::new(),
            before: Vec::new(),
            levels: Vec::new(),
            kinds: fill::Kinds::default(),
            passed: 0,
            skipped: 0,
            to_skip: 0,
            former: Vec::new(),
            is_begun: false,
            usual: 0,
            part: PART,
        }
    }

    /// Removes a flow from its links. Call before [`Shares::leave`].
    pub(crate) fn leave(&mut self, slot: u32, shares: &Shares, flow: &Flow) {
        let (level, link) = shares.key(slot);
        if link == NO_LINK {
            return;
        }
        self.places[link as usize].held -= 1;
        shares.of_flows[slot as usize].each_link(flow, |at| self.places[at].rest += i128::from(level));
    }

    /// Number of visits from which on everything is filled instead. A fill passes all links, however few flows there are.
    fn most(&self, shares: &Shares) -> usize {
        (shares.uses + self.places.len() / LOOKS) / self.part
    }

    /// True if repairs after each of `ends` flows that end now are expected to take less than a fill of everything.
    pub(crate) fn is_cheap(&self, ends: usize, shares: &Shares) -> bool {
        self.usual.saturating_mul(ends) <= SINGLE * self.most(shares)
    }

    /// [`repair`](Self::repair) after one of several flows that end at an instant; changes of rates are counted by the
    /// last repair of that instant.
    pub(crate) fn repair_one(&mut self, shares: &mut Shares, all: &mut [Flow], services: &mut Services, now: u64) {
        self.is_begun = true;
        let visits = self.renew(shares, all, services, now).unwrap_or_else(|| self.most(shares));
        self.usual = self.usual - self.usual / MEMORY + visits / MEMORY;
    }

    /// Gives flows their rates, and remembers those that change. Returns the number of visits; `None` if everything was
    /// filled.
    fn renew(&mut self, shares: &mut Shares, all: &mut [Flow], services: &mut Services, now: u64) -> Option<usize> {
        let visits = self.attempt(shares, all);
        if visits.is_some() {
            for index in 0..self.found.len() {
                let (slot, (level, _)) = self.found[index];
                if shares.rate(slot) != level {
                    self.remember(slot, shares, all);
                }
            }
            self.apply(shares, all, services, now);
        } else {
            for (slot, _) in (0..).zip(all.iter()).filter(|(_, flow)| flow.has_links()) {
                self.remember(slot, shares, all);
            }
            self.fill_all(shares, all, services, now);
        }
        visits
    }

    /// Gives flows their rates after changes, max-min fair, each flow with its whole rate on each of its links, and
    /// tells `services` from which link a flow has its rate from `now` on. Returns the number of flows whose rate has
    /// changed at this instant.
    pub(crate) fn repair(&mut self, shares: &mut Shares, all: &mut [Flow], services: &mut Services, now: u64) -> u64 {
        if std::mem::take(&mut self.is_begun) {
            self.renew(shares, all, services, now);
            return self.count(shares, all);
        }
        // Tried again some time, also where one was dear.
        self.usual -= self.usual / MEMORY;
        if self.to_skip > 0 {
            self.to_skip -= 1;
            return self.fill_all(shares, all, services, now);
        }
        if self.attempt(shares, all).is_none() {
            self.skipped = (2 * self.skipped + 1).min(MOST_SKIPPED);
            self.to_skip = self.skipped;
            return self.fill_all(shares, all, services, now);
        }
        self.skipped = 0;
        let is_new = |&&(slot, (level, _)): &&(u32, Key)| shares.rate(slot) != level;
        let changes = self.found.iter().filter(is_new).count() as u64;
        self.apply(shares, all, services, now);
        changes
    }

    /// Finds new rates where changes reach. Returns the number of visits; `None` if they are too many: everything has to
    /// be filled then.
    fn attempt(&mut self, shares: &mut Shares, all: &mut [Flow]) -> Option<usize> {
        let most = self.most(shares);
        let mut visits = 0;
        let is_done = loop {
            self.begin(shares, all);
            let is_done = self.fill_region(shares, all, most);
            visits += self.visits;
            if !is_done || !self.misses_room(shares) {
                break is_done;
            }
            self.undo(shares, all);
        };
        while let Some(link) = self.forced.pop() {
            self.places[link as usize].is_forced = false;
        }
        is_done.then_some(visits)
    }

    /// Gives flows and links the rates that were found.
    fn apply(&mut self, shares: &mut Shares, all: &[Flow], services: &mut Services, now: u64) {
        for &(slot, (_, link)) in &self.found {
            self.places[link as usize].held += 1;
            turn(slot, link, shares, all, services, now);
        }
        shares.changes.entered.clear();
        for link in shares.changes.links.drain(..) {
            shares.picked[link as usize] = Level::MAX;
        }
        for &link in &self.links {
            let place = &self.places[link as usize];
            if place.is_expanded || place.held == 0 {
                shares.picked[link as usize] = Level::MAX;
            }
        }
        for &(link, level) in &self.picks {
            shares.picked[link as usize] = level;
            services.pick((level, link), now);
        }
    }

    /// Remembers the rate of a flow before it changes.
    fn remember(&mut self, slot: u32, shares: &Shares, all: &[Flow]) {
        let flow = &all[slot as usize];
        self.former.push(Former { flow: (slot, flow.source, flow.number), rate: shares.rate(slot) });
    }

    /// Number of flows whose rates are others than before this instant.
    fn count(&mut self, shares: &Shares, all: &[Flow]) -> u64 {
        // Stable: the first rate of each flow stays.
        self.former.sort_by_key(|former| former.flow);
        self.former.dedup_by_key(|former| former.flow);
        let is_other = |former: &Former| {
            let (slot, source, number) = former.flow;
            let flow = &all[slot as usize];
            let is_same = (flow.source, flow.number) == (source, number) && flow.has_links();
            is_same && shares.rate(slot) != former.rate
        };
        self.former.drain(..).filter(is_other).count() as u64
    }

    /// Begins a repair: opens the first flows.
    fn begin(&mut self, shares: &mut Shares, all: &mut [Flow]) {
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
    }

    /// True if too little room is left of a link that was left out, so that it might have been picked. It must not be
    /// left out again.
    fn misses_room(&mut self, shares: &Shares) -> bool {
        let before = self.forced.len();
        for &link in &self.links {
            let place = &mut self.places[link as usize];
            // With a unit for each of its flows its level is above all their rates.
            if place.was_left_out && !place.is_forced && place.rest < shares.flows[link as usize].len() as i128 {
                place.is_forced = true;
                self.forced.push(link);
            }
        }
        self.forced.len() > before
    }

    /// Undoes the changes of this repair to flows and links.
    fn undo(&mut self, shares: &Shares, all: &[Flow]) {
        for &slot in &self.open {
            let (share, flow) = (&shares.of_flows[slot as usize], &all[slot as usize]);
            let fresh = if share.filled == shares.fills { i128::from(flow.fresh) } else { 0 };
            let before = match shares.key(slot) {
                OPEN => 0,
                (level, link) => {
                    self.places[link as usize].held += 1;
                    i128::from(level)
                }
            };
            share.each_link(flow, |at| self.places[at].rest += fresh - before);
        }
    }

    /// Opens the rates of new flows, and of those whose link another flow has left.
    fn release(&mut self, shares: &mut Shares, all: &mut [Flow]) {
        let entered = std::mem::take(&mut shares.changes.entered);
        for &slot in &entered {
            // Excludes flows that ended at the instant of their entry.
            let flow = &all[slot as usize];
            if flow.has_links() && flow.released != shares.fills {
                self.open(slot, shares, all);
            }
        }
        shares.changes.entered = entered;
        let left = std::mem::take(&mut shares.changes.links);
        for &link in &left {
            if shares.picked[link as usize] != Level::MAX {
                self.open_held(link, shares, all);
            }
        }
        shares.changes.links = left;
    }

    /// Opens the rates of the flows whose bottleneck is `link`.
    fn open_held(&mut self, link: u32, shares: &mut Shares, all: &mut [Flow]) {
        let mut index = 0;
        while self.places[link as usize].held > 0 && index < shares.flows[link as usize].len() {
            let slot = shares.flows[link as usize][index].slot;
            index += 1;
            if shares.of_flows[slot as usize].bottleneck == link && all[slot as usize].released != shares.fills {
                self.open(slot, shares, all);
            }
        }
        self.visits += index;
    }

    /// Opens the rate of a flow that is not open: its links belong to the region.
    fn open(&mut self, slot: u32, shares: &mut Shares, all: &mut [Flow]) {
        let repair = shares.fills;
        let key = shares.key(slot);
        let before = match key {
            OPEN => 0,
            (level, link) => {
                self.places[link as usize].held -= 1;
                level
            }
        };
        all[slot as usize].released = repair;
        self.open.push(slot);
        let Self { places, links, visits, .. } = self;
        let Shares { of_flows, flows, picked, queue, .. } = shares;
        of_flows[slot as usize].each_link(&all[slot as usize], |at| {
            *visits += 1;
            let place = &mut places[at];
            let is_new = std::mem::replace(&mut place.region, repair) != repair;
            if is_new {
                (place.open, place.is_expanded) = (0, false);
                (place.is_left_out, place.was_left_out) = (false, false);
                links.push(at as u32);
                // A check at its former key, when the rates of all flows with other bottlenecks are known.
                if picked[at] != Level::MAX && place.held > 0 {
                    queue.push(Reverse((picked[at], at as u32)));
                }
            }
            let room = place.rest;
            place.rest += i128::from(before);
            place.open += 1;
            if place.is_expanded {
                return;
            }
            // The bottleneck so far is never left out: the flow gets its rate there at the latest.
            let may_be_left_out =
                place.held == 0 && !place.is_forced && at as u32 != key.1 && (is_new || place.is_left_out);
            place.is_left_out = may_be_left_out && before > 0 && room > i128::from(before / 2);
            place.was_left_out |= place.is_left_out;
            if place.is_left_out {
                return;
            }
            let bound = place.bound(flows[at].len()).unwrap_or(Level::MAX);
            // From the key of its check on, the check decides.
            if place.held == 0 || bound < picked[at] {
                queue.push(Reverse((bound, at as u32)));
            }
        });
    }

    /// Visits the flows of a link of the region, when keys below `passed` have been passed.
    fn expand(&mut self, link: u32, passed: Key, shares: &mut Shares, all: &mut [Flow]) {
        let (repair, Self { places, border, visits, .. }) = (shares.fills, self);
        let at = link as usize;
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
        (places[at].room, places[at].is_expanded) = (room, true);
        shares.queue.extend(room.level().map(|level| Reverse((level, link))));
    }

    /// Sets the rate of a flow for this repair, and subtracts it from the links of the region.
    fn settle(&mut self, slot: u32, rate: u64, shares: &mut Shares, all: &mut [Flow]) {
        let (repair, places) = (shares.fills, &mut self.places);
        let flow = &mut all[slot as usize];
        flow.fresh = rate;
        let is_open = flow.released == repair;
        shares.of_flows[slot as usize].filled = repair;
        shares.of_flows[slot as usize].each_link(flow, |at| {
            let place = &mut places[at];
            if place.region != repair {
                return;
            }
            if place.is_expanded {
                place.room.take(rate);
            }
            if is_open {
                place.rest -= i128::from(rate);
                place.open -= 1;
            }
        });
    }

    /// The next link of the region with its key: an expanded one to pick, or a lazy one to check or expand.
    fn next(&self, shares: &mut Shares) -> Option<Key> {
        while let Some(mut first) = shares.queue.peek_mut() {
            let Reverse((level, link)) = *first;
            let place = &self.places[link as usize];
            let now = match place.is_expanded {
                true => place.room.level(),
                // The key of its check.
                false if place.held > 0 && shares.picked[link as usize] == level => Some(level),
                false => place.bound(shares.flows[link as usize].len()),
            };
            match now {
                Some(now) if now <= level => return Some((level, link)),
                // The check has an entry of its own.
                Some(now) if !place.is_expanded && place.held > 0 && now >= shares.picked[link as usize] => {
                    PeekMut::pop(first);
                }
                Some(now) => *first = Reverse((now, link)),
                None => _ = PeekMut::pop(first),
            }
        }
        None
    }

    /// Fills the region. Returns false if it would visit more than `most` flows.
    fn fill_region(&mut self, shares: &mut Shares, all: &mut [Flow], most: usize) -> bool {
        let repair = shares.fills;
        loop {
            if self.visits > most {
                return false;
            }
            let first = self.next(shares);
            let next = self.border.peek().map(|&Reverse(next)| next);
            if let Some((key, slot)) = next
                && first.is_none_or(|first| key < first)
            {
                self.border.pop();
                if shares.of_flows[slot as usize].filled == repair || all[slot as usize].released == repair {
                    continue;
                }
                let own = &self.places[key.1 as usize];
                if own.region == repair && own.is_expanded {
                    self.open(slot, shares, all);
                } else {
                    self.settle(slot, key.0, shares, all);
                }
                continue;
            }
            let Some(first) = first else { return true };
            let (level, link) = first;
            let place = &self.places[link as usize];
            if place.is_expanded {
                self.pick(first, shares, all);
                continue;
            }
            shares.queue.pop();
            if place.held > 0 && shares.picked[link as usize] == level {
                self.check(first, shares, all);
            } else {
                self.expand(link, first, shares, all);
            }
        }
    }

    /// Picks an expanded link.
    fn pick(&mut self, pick: Key, shares: &mut Shares, all: &mut [Flow]) {
        let (level, link) = pick;
        self.picks.push((link, level));
        for index in 0..shares.flows[link as usize].len() {
            let slot = shares.flows[link as usize][index].slot;
            if shares.of_flows[slot as usize].filled == shares.fills {
                continue;
            }
            if all[slot as usize].released != shares.fills && shares.key(slot) != pick {
                self.open(slot, shares, all);
            }
            if all[slot as usize].released == shares.fills {
                self.found.push((slot, pick));
            }
            self.settle(slot, level, shares, all);
        }
    }

    /// Checks a lazy link at the key at which it was picked in the last filling. All flows with other bottlenecks have
    /// their rates by then, or are open.
    fn check(&mut self, key: Key, shares: &mut Shares, all: &mut [Flow]) {
        let (level, link) = key;
        let place = &self.places[link as usize];
        let count = u64::from(place.held) + u64::from(place.open);
        let rest = place.rest + i128::from(level) * i128::from(place.held);
        let rest = u64::try_from(rest).unwrap_or(0);
        if rest / count == level {
            if place.open == 0 {
                return;
            }
            self.visits += shares.flows[link as usize].len();
            for index in 0..shares.flows[link as usize].len() {
                let slot = shares.flows[link as usize][index].slot;
                let is_filled = shares.of_flows[slot as usize].filled == shares.fills;
                if !is_filled && all[slot as usize].released == shares.fills {
                    self.found.push((slot, key));
                    self.settle(slot, level, shares, all);
                }
            }
            return;
        }
        self.expand(link, key, shares, all);
        self.open_held(link, shares, all);
    }
}

/// Makes `link` the bottleneck of a flow from `now` on.
fn turn(slot: u32, link: u32, shares: &mut Shares, all: &[Flow], services: &mut Services, now: u64) {
    let flow = &all[slot as usize];
    let before = shares.of_flows[slot as usize].bottleneck;
    if before != link {
        services.turn(slot, flow, (before, link), now);
        shares.hold(slot, link, flow);
    }
}
