//! Shares after a change, computed where the change reaches.
//!
//! 1. The rates of new flows are open, and of those that got theirs at a link that another flow has left.
//! 2. The region is all links of open flows. All other flows there are at its border, with the keys at which they got
//!    their rates.
//! 3. The region is filled in the order of keys; a flow at the border takes its rate off its links when its key is
//!    passed, or, if its key is of a link of the region, when that link is picked.
//! 4. A flow at the border whose links are picked before its key, or at another level than its key, is open too: from 2
//!    on again.
//!
//! Without such a flow, the keys within the region and without are those of filling all links, to the bit: at each pick the
//! same flows have taken the same rates. Where a sixth of all flows is open, everything is filled anew.

use std::cmp::Reverse;

use crate::share::{Flow, Key, Level, Shares, taken};

/// Everything is filled anew if this part of all flows is open.
const PART: usize = 6;

/// Memory that repairs use again.
#[derive(Debug)]
pub(crate) struct Memory {
    /// Number of repairs, and of rounds of all repairs.
    repairs: u64,
    /// By link: the round in which it was last in the region.
    region: Vec<u64>,
    /// Flows whose rates are open.
    open: Vec<u32>,
    /// Links of the region.
    links: Vec<u32>,
    /// Flows at the border, by key.
    border: Vec<(Key, u32)>,
    /// By link of the region: flows without a rate.
    counts: Vec<u64>,
    /// Flows whose rates turn out to be open.
    violated: Vec<u32>,
    /// New keys of open flows.
    found: Vec<(u32, Key)>,
    /// Links of the region that were picked, with their levels.
    picks: Vec<(u32, Level)>,
}

impl Memory {
    pub(crate) fn new(links: usize) -> Self {
        Self {
            repairs: 0,
            region: vec![0; links],
            open: Vec::new(),
            links: Vec::new(),
            border: Vec::new(),
            counts: vec![0; links],
            violated: Vec::new(),
            found: Vec::new(),
            picks: Vec::new(),
        }
    }
}

impl Shares {
    /// Gives flows their rates after changes, max-min fair, each flow with its whole rate on each of its links. Calls
    /// `changed` as [`fill`](Self::fill) does.
    pub(crate) fn repair(&mut self, all: &mut [Flow], active: &[u32], mut changed: impl FnMut(u32, &mut Flow, u64)) {
        self.memory.repairs += 1;
        let repair = self.memory.repairs;
        let mut open = std::mem::take(&mut self.memory.open);
        open.clear();
        for &slot in &self.changes.entered {
            // It may have ended at the instant of its entry.
            let flow = &mut all[slot as usize];
            if flow.places.len() == flow.uses.len() && !flow.uses.is_empty() && flow.released != repair {
                flow.released = repair;
                open.push(slot);
            }
        }
        for &link in &self.changes.links {
            if std::mem::replace(&mut self.picked[link as usize], Level::MAX) == Level::MAX {
                continue;
            }
            for &(slot, _) in &self.flows[link as usize] {
                let flow = &mut all[slot as usize];
                if flow.key.1 == link && flow.released != repair {
                    flow.released = repair;
                    open.push(slot);
                }
            }
        }
        let is_done = loop {
            if open.len() * PART > active.len() {
                break false;
            }
            if self.round(&open, all) {
                break true;
            }
            for slot in self.memory.violated.drain(..) {
                let flow = &mut all[slot as usize];
                if flow.released != repair {
                    flow.released = repair;
                    open.push(slot);
                }
            }
        };
        self.memory.open = open;
        if !is_done {
            self.fill(all, active, changed);
            return;
        }
        self.changes.entered.clear();
        self.changes.links.clear();
        for &link in &self.memory.links {
            self.picked[link as usize] = Level::MAX;
        }
        for &(link, level) in &self.memory.picks {
            self.picked[link as usize] = level;
        }
        for &(slot, key) in &self.memory.found {
            let flow = &mut all[slot as usize];
            flow.key = key;
            if flow.rate != key.0 {
                changed(slot, flow, key.0);
            }
        }
    }

    /// Fills the region of these open flows. True if no flow at its border is in the way; otherwise those are noted.
    fn round(&mut self, open: &[u32], all: &mut [Flow]) -> bool {
        self.fills += 1;
        let (round, repair) = (self.fills, self.memory.repairs);
        let Memory { region, links, border, counts, violated, found, picks, .. } = &mut self.memory;
        for list in [&mut *links, &mut *violated] {
            list.clear();
        }
        border.clear();
        found.clear();
        picks.clear();
        for &slot in open {
            for of in &all[slot as usize].uses {
                if std::mem::replace(&mut region[of.link as usize], round) != round {
                    links.push(of.link);
                }
            }
        }
        self.queue.clear();
        for &link in links.iter() {
            let at = link as usize;
            (self.rest[at], counts[at]) = (self.capacities[at], self.flows[at].len() as u64);
            self.queue.push(Reverse((self.rest[at] / counts[at], link)));
            for &(slot, _) in &self.flows[at] {
                let flow = &all[slot as usize];
                if flow.released != repair && region[flow.key.1 as usize] != round {
                    border.push((flow.key, slot));
                }
            }
        }
        border.sort_unstable();
        border.dedup();
        let mut passed = 0;
        loop {
            let pick = loop {
                let Some(&Reverse((level, link))) = self.queue.peek() else { break None };
                let at = link as usize;
                if counts[at] == 0 {
                    self.queue.pop();
                    continue;
                }
                let now = self.rest[at] / counts[at];
                if now == level {
                    break Some((level, link));
                }
                self.queue.pop();
                self.queue.push(Reverse((now, link)));
            };
            let next = border.get(passed).copied();
            let mut fix = |slot: u32, rate: u64, all: &mut [Flow]| {
                let flow = &mut all[slot as usize];
                if flow.filled == round {
                    return false;
                }
                flow.filled = round;
                for of in &flow.uses {
                    let at = of.link as usize;
                    if region[at] == round {
                        self.rest[at] = self.rest[at].saturating_sub(taken(rate, of.share));
                        counts[at] -= 1;
                    }
                }
                true
            };
            match (pick, next) {
                (None, None) => break,
                (pick, Some((key, slot))) if pick.is_none_or(|pick| key < pick) => {
                    passed += 1;
                    let rate = all[slot as usize].rate;
                    fix(slot, rate, all);
                }
                (Some(pick), _) => {
                    let (level, link) = pick;
                    picks.push((link, level));
                    for &(slot, _) in &self.flows[link as usize] {
                        if !fix(slot, level, all) {
                            continue;
                        }
                        let flow = &all[slot as usize];
                        if flow.released == repair {
                            found.push((slot, pick));
                        } else if flow.key != pick {
                            violated.push(slot);
                        }
                    }
                }
                // A key is passed whenever there is no pick.
                (None, Some(_)) => break,
            }
        }
        violated.is_empty()
    }
}
