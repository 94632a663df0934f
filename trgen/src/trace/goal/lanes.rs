//! Waiting entries, in lanes: one per source, or one per source and tag.
//!
//! The messages of one source usually arrive in the order of their receives, whatever their tags are and however far
//! another source has proceeded. A **lane per source** therefore usually has the match at its front; its entries are
//! contiguous in memory, so that a lane of thousands is filled and emptied cache line by cache line. Once a search has
//! had to walk along such a lane, there are **lanes per source and tag**, in which the first entry always matches.
//!
//! Lanes are found in a small hash table with multiplicative hashing and linear probing. A lane stores its first entry
//! inline, since most lanes with a tag hold one entry at a time. Empty lanes remain in the table, since their source
//! usually sends again; when half of the table is in use, the nonempty ones move to a new table.

use std::collections::VecDeque;

use super::pending::{Entry, NotFound, WALK};

/// An entry of a lane.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Sequence number over all lanes.
    number: u32,
    tag: u32,
    /// The receive, or the send of the message.
    operation: u32,
}

/// The entries of one source, or of one source and tag.
#[derive(Clone, Debug)]
struct Lane {
    /// The source of all entries.
    peer: u32,
    /// The tag of all entries; 0 in a lane for all tags.
    tag: u32,
    /// The oldest entry; `None` in an empty lane.
    first: Option<Waiting>,
    /// The entries after the first.
    others: VecDeque<Waiting>,
}

/// Smallest number of slots of a table.
const FEWEST: usize = 4;

/// All lanes. Entries have no wildcards.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    /// True if there are lanes per tag.
    by_tag: bool,
    /// Slots: a power of two, at most half of them in use.
    table: Vec<Option<Lane>>,
    /// Number of slots in use, those of empty lanes included.
    used: usize,
    /// Number of the next entry.
    next: u32,
}

impl Lanes {
    /// Lanes without entries.
    pub(super) fn new(by_tag: bool) -> Self {
        Self { by_tag, table: vec![None; FEWEST], used: 0, next: 0 }
    }

    /// True if the numbers for entries are used up.
    pub(super) const fn is_exhausted(&self) -> bool {
        self.next == u32::MAX
    }

    /// Adds an entry to its lane.
    pub(super) fn push(&mut self, entry: Entry) {
        let Entry { peer, tag, operation } = entry;
        let waiting = Waiting { number: self.next, tag, operation };
        self.next += 1;
        let slot = self.slot(peer, tag);
        match &mut self.table[slot] {
            Some(lane) if lane.first.is_some() => lane.others.push_back(waiting),
            Some(lane) => lane.first = Some(waiting),
            None => {
                let tag = if self.by_tag { tag } else { 0 };
                self.insert_lane(Lane { peer, tag, first: Some(waiting), others: VecDeque::new() });
            }
        }
    }

    /// Removes the first entry of a source and tag; returns its operation.
    pub(super) fn take(&mut self, peer: u32, tag: u32) -> Result<u32, NotFound> {
        let slot = self.slot(peer, tag);
        let Some(lane) = &mut self.table[slot] else { return Err(NotFound::Ended) };
        let Some(first) = lane.first else { return Err(NotFound::Ended) };
        if first.tag == tag {
            lane.first = lane.others.pop_front();
            return Ok(first.operation);
        }
        let found = lane.others.iter().take(WALK).position(|waiting| waiting.tag == tag);
        match found.and_then(|found| lane.others.remove(found)) {
            Some(found) => Ok(found.operation),
            None if lane.others.len() > WALK => Err(NotFound::Long),
            None => Err(NotFound::Ended),
        }
    }

    /// The oldest entry.
    pub(super) fn front(&self) -> Option<Entry> {
        let held = self.table.iter().flatten().filter_map(|lane| Some((lane.peer, lane.first?)));
        let (peer, Waiting { tag, operation, .. }) = held.min_by_key(|(_, first)| first.number)?;
        Some(Entry { peer, tag, operation })
    }

    /// All entries, oldest first.
    pub(super) fn into_entries(self) -> impl Iterator<Item = Entry> {
        let mut all = Vec::new();
        for Lane { peer, first, others, .. } in self.table.into_iter().flatten() {
            let entries = first.into_iter().chain(others);
            all.extend(entries.map(|Waiting { number, tag, operation }| (number, Entry { peer, tag, operation })));
        }
        all.sort_unstable_by_key(|&(number, _)| number);
        all.into_iter().map(|(_, entry)| entry)
    }

    /// The slot of the lane of a source and tag, or the slot for a new one.
    fn slot(&self, peer: u32, tag: u32) -> usize {
        let tag = if self.by_tag { tag } else { 0 };
        let mask = self.table.len() - 1;
        let key = u64::from(peer) << 32 | u64::from(tag);
        // Multiplication spreads the few bits in which sources and tags differ.
        let mut slot = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
        while self.table[slot].as_ref().is_some_and(|lane| lane.peer != peer || lane.tag != tag) {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Inserts a lane for a source and tag that has none.
    fn insert_lane(&mut self, lane: Lane) {
        if self.used >= self.table.len() / 2 {
            self.rebuild_table();
        }
        self.used += 1;
        let slot = self.slot(lane.peer, lane.tag);
        self.table[slot] = Some(lane);
    }

    /// Moves the nonempty lanes to a new table, of which they occupy at most a quarter.
    fn rebuild_table(&mut self) {
        let all = std::mem::take(&mut self.table).into_iter().flatten();
        let held: Vec<Lane> = all.filter(|lane| lane.first.is_some()).collect();
        self.used = held.len();
        self.table = vec![None; (4 * self.used).next_power_of_two().max(FEWEST)];
        for lane in held {
            let slot = self.slot(lane.peer, lane.tag);
            self.table[slot] = Some(lane);
        }
    }
}
