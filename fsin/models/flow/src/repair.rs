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
//! taken the same rates as if all links were filled, so that the result is the same to the bit. Where a sixth of all flows is
//! open, everything is filled anew, and after such an attempt the next ones are left out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::share::{Flow, Key, Level, Share, Shares};

/// Everything is filled anew if this part of all flows is open.
const PART: usize = 6;

/// Most changes in a row that are filled anew without an attempt to repair.
const MOST_SKIPPED: u32 = 31;

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
    /// By link of the region: flows without a rate.
    counts: Vec<u64>,
    /// New keys of open flows.
    found: Vec<(u32, Key)>,
    /// Links of the region that were picked, with their levels.
    picks: Vec<(u32, Level)>,
    /// Number of changes that are filled anew after the last attempt that failed, and of those that are still to come.
    skipped: u32,
    to_skip: u32,
}

impl Repairs {
    pub(crate) fn new(links: usize) -> Self {
        Self {
            region: vec![0; links],
            open: Vec::new(),
            links: Vec::new(),
            border: BinaryHeap::new(),
            counts: vec![0; links],
            found: Vec::new(),
            picks: Vec::new(),
            skipped: 0,
            to_skip: 0,
        }
    }

    /// Gives flows their rates after changes, max-min fair, each flow with its whole rate on each of its links. Calls
    /// `changed` for each of these flows, before it has its new key.
    pub(crate) fn repair(
        &mut self,
        shares: &mut Shares,
        all: &mut [Flow],
        active: usize,
        mut changed: impl FnMut(u32, &mut Share, &[Flow], Key),
    ) {
        if self.to_skip > 0 {
            self.to_skip -= 1;
            self.fill_all(shares, all, changed);
            return;
        }
        shares.fills += 1;
        for list in [&mut self.open, &mut self.links] {
            list.clear();
        }
        self.border.clear();
        self.found.clear();
        self.picks.clear();
        shares.queue.clear();
        self.release(shares, all);
        for index in 0..self.open.len() {
            self.join(self.open[index], (0, 0), shares, all);
        }
        if !self.fill_region(shares, all, active / PART) {
            self.skipped = (2 * self.skipped + 1).min(MOST_SKIPPED);
            self.to_skip = self.skipped;
            self.fill_all(shares, all, changed);
            return;
        }
        self.skipped = 0;
        shares.changes.entered.clear();
        shares.changes.links.clear();
        for &link in &self.links {
            shares.picked[link as usize] = Level::MAX;
        }
        for &(link, level) in &self.picks {
            shares.picked[link as usize] = level;
        }
        for &(slot, key) in &self.found {
            changed(slot, &mut shares.of_flows[slot as usize], all, key);
        }
    }

    /// Gives all flows their rates anew.
    fn fill_all(&mut self, shares: &mut Shares, all: &[Flow], mut changed: impl FnMut(u32, &mut Share, &[Flow], Key)) {
        shares.fills += 1;
        let fill = shares.fills;
        shares.changes.entered.clear();
        for link in shares.changes.links.drain(..) {
            shares.picked[link as usize] = Level::MAX;
        }
        let mut queue = std::mem::take(&mut shares.queue).into_vec();
        queue.clear();
        for (link, flows) in (0_u32..).zip(&shares.flows).filter(|(_, flows)| !flows.is_empty()) {
            let at = link as usize;
            (shares.rest[at], self.counts[at], shares.picked[at]) =
                (shares.capacities[at], flows.len() as u64, Level::MAX);
            queue.push(Reverse((shares.capacities[at] / flows.len() as u64, link)));
        }
        shares.queue = queue.into();
        while let Some(pick) = self.next_pick(shares) {
            let (level, link) = pick;
            shares.picked[link as usize] = level;
            for &(slot, _) in &shares.flows[link as usize] {
                let share = &mut shares.of_flows[slot as usize];
                if std::mem::replace(&mut share.filled, fill) == fill {
                    continue;
                }
                share.each_link(&all[slot as usize], |at| {
                    shares.rest[at] = shares.rest[at].saturating_sub(level);
                    self.counts[at] -= 1;
                });
                changed(slot, share, all, pick);
            }
        }
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
        for &link in &shares.changes.links {
            if std::mem::replace(&mut shares.picked[link as usize], Level::MAX) == Level::MAX {
                continue;
            }
            for &(slot, _) in &shares.flows[link as usize] {
                let flow = &mut all[slot as usize];
                if shares.of_flows[slot as usize].key.1 == link {
                    add(slot, flow);
                }
            }
        }
    }

    /// The links of an open flow join the region, when keys below `passed` have been passed.
    fn join(&mut self, slot: u32, passed: Key, shares: &mut Shares, all: &mut [Flow]) {
        let (repair, Self { region, links, border, counts, .. }) = (shares.fills, self);
        for index in 0..all[slot as usize].uses.len() {
            let link = all[slot as usize].uses[index].link;
            let at = link as usize;
            if std::mem::replace(&mut region[at], repair) == repair {
                continue;
            }
            links.push(link);
            (shares.rest[at], counts[at]) = (shares.capacities[at], 0);
            for &(other, _) in &shares.flows[at] {
                let (flow, share) = (&mut all[other as usize], &mut shares.of_flows[other as usize]);
                if share.filled != repair && flow.released != repair && share.key < passed {
                    (share.filled, flow.fresh) = (repair, share.rate);
                }
                if share.filled == repair {
                    shares.rest[at] = shares.rest[at].saturating_sub(flow.fresh);
                    continue;
                }
                counts[at] += 1;
                if flow.released != repair {
                    border.push(Reverse((share.key, other)));
                }
            }
            if let Some(level) = shares.rest[at].checked_div(counts[at]) {
                shares.queue.push(Reverse((level, link)));
            }
        }
    }

    /// The pick of the region that is next.
    fn next_pick(&self, shares: &mut Shares) -> Option<Key> {
        while let Some(mut first) = shares.queue.peek_mut() {
            let Reverse((level, link)) = *first;
            match shares.rest[link as usize].checked_div(self.counts[link as usize]) {
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
                shares.rest[at] = shares.rest[at].saturating_sub(rate);
                self.counts[at] -= 1;
            }
        }
    }

    /// Fills the region. False if more than `most` flows are open.
    fn fill_region(&mut self, shares: &mut Shares, all: &mut [Flow], most: usize) -> bool {
        let repair = shares.fills;
        loop {
            if self.open.len() > most {
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
                    let rate = shares.of_flows[slot as usize].rate;
                    self.settle(slot, rate, shares, all);
                }
                continue;
            }
            let Some(pick) = pick else { return true };
            let (level, link) = pick;
            self.picks.push((link, level));
            for index in 0..shares.flows[link as usize].len() {
                let (slot, _) = shares.flows[link as usize][index];
                let share = &shares.of_flows[slot as usize];
                if share.filled == repair {
                    continue;
                }
                let flow = &mut all[slot as usize];
                if flow.released != repair && share.key != pick {
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
