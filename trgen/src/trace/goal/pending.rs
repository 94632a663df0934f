//! Posted receives that wait for a message, or messages that wait for a receive: who comes first among those that match.
//!
//! Entries stay in the order in which they came. Usually the first one matches, and looking through the list finds it at
//! once. A list through which a search had to walk is **indexed** by source and tag until it is empty again, so that a
//! thousand receives posted in another order than that of their messages cost no thousand looks each. Entries and searches
//! with a wildcard walk the list.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::trace::goal::ANY;

/// No entry.
const NONE: u32 = u32::MAX;

/// Entries that a search walks past before the list is indexed.
const WALK: u32 = 16;

/// One receive or message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The source; [`ANY`] in a receive from anybody.
    pub(super) peer: u32,
    /// The tag, or [`ANY`].
    pub(super) tag: u32,
    /// The operation: the receive, or the send of the message.
    pub(super) node: u32,
}

impl Entry {
    fn is_wild(self) -> bool {
        self.peer == ANY || self.tag == ANY
    }

    fn key(self) -> u64 {
        u64::from(self.peer) << 32 | u64::from(self.tag)
    }

    fn matches(self, peer: u32, tag: u32) -> bool {
        agree(self.peer, peer) && agree(self.tag, tag)
    }
}

fn agree(wanted: u32, given: u32) -> bool {
    wanted == given || wanted == ANY || given == ANY
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    entry: Entry,
    before: u32,
    /// The next entry; of a vacant slot, the next vacant one.
    after: u32,
    /// The next entry of the same source and tag; where the list is indexed.
    same: u32,
}

/// A multiplication spreads the few bits in which sources and tags differ.
#[derive(Clone, Copy, Default, Debug)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ mixed >> 32;
    }
}

/// How a search ended that found nothing.
enum Walk {
    /// There is no such entry.
    Ended,
    /// It would have to go on.
    Long,
}

/// First and last entry of each source and tag.
type Index = HashMap<u64, (u32, u32), BuildHasherDefault<Mix>>;

/// Entries in the order in which they came.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    slots: Vec<Slot>,
    first: u32,
    last: u32,
    vacant: u32,
    count: u32,
    wild: u32,
    index: Option<Box<Index>>,
}

impl Default for Pending {
    fn default() -> Self {
        Self { slots: Vec::new(), first: NONE, last: NONE, vacant: NONE, count: 0, wild: 0, index: None }
    }
}

impl Pending {
    /// Entries.
    pub(super) const fn len(&self) -> usize {
        self.count as usize
    }

    /// The one that came first.
    pub(super) fn front(&self) -> Option<Entry> {
        self.slots.get(self.first as usize).map(|slot| slot.entry)
    }

    /// Adds an entry.
    pub(super) fn push(&mut self, entry: Entry) {
        let slot = Slot { entry, before: self.last, after: NONE, same: NONE };
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
        if entry.is_wild() {
            self.wild += 1;
            // What came before a wildcard and what came after it would have to be told apart.
            self.index = None;
        } else if self.index.is_some() {
            self.enter(place);
        }
    }

    /// Takes the first entry that matches.
    pub(super) fn take(&mut self, peer: u32, tag: u32) -> Option<Entry> {
        let wild = peer == ANY || tag == ANY;
        if self.index.is_none() {
            let place = self.walk(peer, tag, if wild || self.wild > 0 { u32::MAX } else { WALK });
            match place {
                Ok(place) => return Some(self.remove(place)),
                Err(Walk::Ended) => return None,
                Err(Walk::Long) => self.build(),
            }
        }
        let place = match &self.index {
            Some(index) if !wild => index.get(&Entry { peer, tag, node: 0 }.key())?.0,
            _ => self.walk(peer, tag, u32::MAX).ok()?,
        };
        // The first that matches is the first of its own source and tag.
        self.leave(place);
        Some(self.remove(place))
    }

    /// The first entry that matches, if it is among the first `most`.
    fn walk(&self, peer: u32, tag: u32, most: u32) -> Result<u32, Walk> {
        let mut place = self.first;
        let mut left = most;
        while place != NONE {
            let slot = &self.slots[place as usize];
            if slot.entry.matches(peer, tag) {
                return Ok(place);
            }
            if left == 0 {
                return Err(Walk::Long);
            }
            left -= 1;
            place = slot.after;
        }
        Err(Walk::Ended)
    }

    /// The entry that is first of its source and tag leaves the index.
    fn leave(&mut self, place: u32) {
        let slot = self.slots[place as usize];
        let Some(index) = &mut self.index else { return };
        if slot.same == NONE {
            index.remove(&slot.entry.key());
        } else if let Some(ends) = index.get_mut(&slot.entry.key()) {
            ends.0 = slot.same;
        }
    }

    fn remove(&mut self, place: u32) -> Entry {
        let Slot { entry, before, after, .. } = self.slots[place as usize];
        match before {
            NONE => self.first = after,
            before => self.slots[before as usize].after = after,
        }
        match after {
            NONE => self.last = before,
            after => self.slots[after as usize].before = before,
        }
        self.slots[place as usize].after = self.vacant;
        self.vacant = place;
        self.count -= 1;
        self.wild -= u32::from(entry.is_wild());
        if self.count == 0 {
            self.index = None;
        }
        entry
    }

    fn build(&mut self) {
        self.index = Some(Box::default());
        let mut place = self.first;
        while place != NONE {
            self.slots[place as usize].same = NONE;
            self.enter(place);
            place = self.slots[place as usize].after;
        }
    }

    /// The entry that is last of its source and tag goes into the index.
    fn enter(&mut self, place: u32) {
        let Some(index) = &mut self.index else { return };
        let key = self.slots[place as usize].entry.key();
        let ends = index.entry(key).or_insert((place, place));
        if ends.1 != place {
            self.slots[ends.1 as usize].same = place;
            ends.1 = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    /// Sources and tags, few enough to meet, with a wildcard now and then where there are any.
    fn name(wild: bool, among: u32) -> impl Strategy<Value = u32> {
        (0..among, 0..16_u32).prop_map(move |(name, draw)| if wild && draw == 0 { ANY } else { name })
    }

    fn steps() -> impl Strategy<Value = Vec<(bool, u32, u32)>> {
        (any::<bool>(), any::<bool>(), 1..40_u32).prop_flat_map(|(wild, wild_search, among)| {
            let step = (any::<bool>(), name(wild, among), name(wild, among), name(wild_search, among));
            proptest::collection::vec(step, 0..400).prop_map(|steps| {
                let step = |(push, peer, tag, search)| (push, if push { peer } else { search }, tag);
                steps.into_iter().map(step).collect()
            })
        })
    }

    proptest! {
        /// Whatever comes and is asked for in whatever order: as a search through a plain list.
        #[test]
        fn the_first_that_matches_is_taken(steps in steps()) {
            let mut pending = Pending::default();
            let mut plain: VecDeque<Entry> = VecDeque::new();
            for (node, (push, peer, tag)) in (0..).zip(steps) {
                if push {
                    pending.push(Entry { peer, tag, node });
                    plain.push_back(Entry { peer, tag, node });
                } else {
                    let found = plain.iter().position(|entry| entry.matches(peer, tag));
                    let expected = found.and_then(|found| plain.remove(found)).map(|entry| entry.node);
                    prop_assert_eq!(pending.take(peer, tag).map(|entry| entry.node), expected);
                }
                prop_assert_eq!(pending.len(), plain.len());
                prop_assert_eq!(pending.front().map(|entry| entry.node), plain.front().map(|entry| entry.node));
            }
        }
    }
}
