//! Posted receives that wait for a message, or messages that wait for a receive; finds the oldest match.
//!
//! Entries form a **list** in order of arrival. Usually the first one matches, and a linear search finds it at once.
//! Once a search has had to walk along a list, its entries are distributed to **[lanes](Lanes)**, and stay there: a
//! search for one neighbour's message then skips those of another that is far ahead, and a thousand receives posted in
//! an order other than that of their messages do not cost a thousand steps each. A wildcard in an entry or in a search
//! needs the order of all entries, and turns the lanes back into a list.

use super::lanes::Lanes;
use crate::trace::goal::ANY;

/// No slot.
const NONE: u32 = u32::MAX;

/// Entries that a search may pass before they are distributed to lanes.
pub(super) const WALK: usize = 16;

/// One receive or message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The source; [`ANY`] in a receive from any source.
    pub(super) peer: u32,
    /// The tag, or [`ANY`].
    pub(super) tag: u32,
    /// The operation: the receive, or the send of the message.
    pub(super) operation: u32,
}

impl Entry {
    /// True for a receive from any source, or with any tag.
    fn is_wild(self) -> bool {
        self.peer == ANY || self.tag == ANY
    }

    /// True if the entry matches a source and a tag, of which either may be [`ANY`]: any tag below `own`.
    fn matches(self, peer: u32, tag: u32, own: u32) -> bool {
        compatible(self.peer, peer, ANY) && compatible(self.tag, tag, own)
    }
}

/// True if two sources or two tags match, of which either may be [`ANY`]: that is any below `own`.
fn compatible(wanted: u32, given: u32, own: u32) -> bool {
    wanted == given || wanted == ANY && given < own || given == ANY && wanted < own
}

/// An entry of the list.
#[derive(Clone, Copy, Debug)]
struct Slot {
    entry: Entry,
    /// Slot of the previous entry.
    before: u32,
    /// Slot of the next entry; in a vacant slot, the next vacant one.
    after: u32,
}

/// Why a search found nothing.
pub(super) enum NotFound {
    /// There is no match.
    Ended,
    /// The search reached its limit.
    Long,
}

/// Entries in order of arrival.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// The list, unless there are lanes.
    slots: Vec<Slot>,
    /// Slot of the oldest entry.
    first: u32,
    /// Slot of the newest entry.
    last: u32,
    /// The first vacant slot.
    vacant: u32,
    /// Number of entries.
    count: u32,
    /// Number of entries with a wildcard.
    wild: u32,
    /// All entries, if they are not in the list. There are no wildcards among them.
    lanes: Option<Box<Lanes>>,
    /// Receives with any tag match tags below this.
    own: u32,
}

impl Default for Pending {
    fn default() -> Self {
        Self::new(ANY)
    }
}

impl Pending {
    /// No entries, of a graph in which receives with any tag match tags below `own`.
    pub(super) const fn new(own: u32) -> Self {
        Self { slots: Vec::new(), first: NONE, last: NONE, vacant: NONE, count: 0, wild: 0, lanes: None, own }
    }

    /// Number of entries.
    pub(super) const fn len(&self) -> usize {
        self.count as usize
    }

    /// The oldest entry.
    pub(super) fn front(&self) -> Option<Entry> {
        match &self.lanes {
            None => self.slots.get(self.first as usize).map(|slot| slot.entry),
            Some(lanes) => lanes.front(),
        }
    }

    /// Adds an entry.
    pub(super) fn push(&mut self, entry: Entry) {
        if let Some(lanes) = &mut self.lanes {
            if !entry.is_wild() && !lanes.is_exhausted() {
                self.count += 1;
                lanes.push(entry);
                return;
            }
            self.gather();
        }
        let slot = Slot { entry, before: self.last, after: NONE };
        let place = if self.vacant == NONE {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        } else {
            let place = self.vacant;
            self.vacant = std::mem::replace(&mut self.slots[place as usize], slot).after;
            place
        };
        match self.last {
            NONE => self.first = place,
            last => self.slots[last as usize].after = place,
        }
        self.last = place;
        self.count += 1;
        self.wild += u32::from(entry.is_wild());
    }

    /// Removes the oldest entry that matches a source and a tag, of which either may be [`ANY`].
    pub(super) fn take(&mut self, peer: u32, tag: u32) -> Option<Entry> {
        if self.count == 0 {
            return None;
        }
        let wild = peer == ANY || tag == ANY;
        if wild && self.lanes.is_some() {
            self.gather();
        }
        if self.lanes.is_none() {
            match self.search_list(peer, tag, if wild || self.wild > 0 { usize::MAX } else { WALK }) {
                Ok(place) => return Some(self.remove(place)),
                Err(NotFound::Ended) => return None,
                Err(NotFound::Long) => self.distribute(false),
            }
        }
        let operation = match self.lanes.as_mut()?.take(peer, tag) {
            Err(NotFound::Long) => {
                self.distribute(true);
                self.lanes.as_mut()?.take(peer, tag)
            }
            found => found,
        };
        let operation = operation.ok()?;
        self.count -= 1;
        Some(Entry { peer, tag, operation })
    }

    /// The first entry of the list that matches, if it is among the first `most`.
    fn search_list(&self, peer: u32, tag: u32, most: usize) -> Result<u32, NotFound> {
        let mut place = self.first;
        let mut left = most;
        while place != NONE {
            let slot = &self.slots[place as usize];
            if slot.entry.matches(peer, tag, self.own) {
                return Ok(place);
            }
            if left == 0 {
                return Err(NotFound::Long);
            }
            left -= 1;
            place = slot.after;
        }
        Err(NotFound::Ended)
    }

    /// Removes an entry from the list.
    fn remove(&mut self, place: u32) -> Entry {
        let Slot { before, after, .. } = self.slots[place as usize];
        match before {
            NONE => self.first = after,
            before => self.slots[before as usize].after = after,
        }
        match after {
            NONE => self.last = before,
            after => self.slots[after as usize].before = before,
        }
        let slot = &mut self.slots[place as usize];
        let entry = slot.entry;
        slot.after = std::mem::replace(&mut self.vacant, place);
        self.count -= 1;
        self.wild -= u32::from(entry.is_wild());
        entry
    }

    /// Distributes all entries to lanes.
    fn distribute(&mut self, by_tag: bool) {
        self.gather();
        let mut lanes = Lanes::new(by_tag);
        let mut place = self.first;
        while place != NONE {
            let slot = &self.slots[place as usize];
            lanes.push(slot.entry);
            place = slot.after;
        }
        *self = Self { lanes: Some(Box::new(lanes)), count: self.count, ..Self::default() };
    }

    /// Turns the lanes back into a list.
    fn gather(&mut self) {
        let Some(lanes) = self.lanes.take() else { return };
        self.count = 0;
        lanes.into_entries().for_each(|entry| self.push(entry));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    /// Sources and tags from a range small enough for matches, sometimes with a wildcard if `wild`.
    fn name(wild: bool, among: u32) -> impl Strategy<Value = u32> {
        (0..among, 0..16_u32).prop_map(move |(name, draw)| if wild && draw == 0 { ANY } else { name })
    }

    fn steps() -> impl Strategy<Value = Vec<(bool, u32, u32)>> {
        // Few sources with many tags make long lanes, many sources with few tags make many lanes.
        let among = (1..40_u32, 1..40_u32);
        (any::<bool>(), any::<bool>(), among).prop_flat_map(|(wild, wild_search, (peers, tags))| {
            let step = (any::<bool>(), name(wild, peers), name(wild, tags), name(wild_search, peers));
            proptest::collection::vec(step, 0..400).prop_map(|steps| {
                let step = |(push, peer, tag, search)| (push, if push { peer } else { search }, tag);
                steps.into_iter().map(step).collect()
            })
        })
    }

    proptest! {
        /// Entries and searches in any order behave like a search through a plain list.
        #[test]
        fn the_first_that_matches_is_taken(steps in steps()) {
            let mut pending = Pending::default();
            let mut plain: VecDeque<Entry> = VecDeque::new();
            for (operation, (push, peer, tag)) in (0..).zip(steps) {
                if push {
                    pending.push(Entry { peer, tag, operation });
                    plain.push_back(Entry { peer, tag, operation });
                } else {
                    let found = plain.iter().position(|entry| entry.matches(peer, tag, ANY));
                    let expected = found.and_then(|found| plain.remove(found)).map(|entry| entry.operation);
                    prop_assert_eq!(pending.take(peer, tag).map(|entry| entry.operation), expected);
                }
                prop_assert_eq!(pending.len(), plain.len());
                prop_assert_eq!(pending.front().map(|entry| entry.operation), plain.front().map(|entry| entry.operation));
            }
        }
    }
}
