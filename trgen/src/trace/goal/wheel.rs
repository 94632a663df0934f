//! Events of the near future: a wheel with a slot for each unit of time.
//!
//! The wheel holds the current block of 4096 units and the next; more would not stay in the L1 cache. CPUs become free,
//! and messages arrive, after some thousand units, so that nearly all entries go straight to their slot. Insertion is
//! one write, and the next entry is found by a bitmap of 64 words of 64 slots per block. The single entry of a slot is
//! in a **store** with a free list, last in first out: the few hundred live entries stay in the L1 cache, whatever
//! their slots. Several entries of one slot, thousands where ranks work in lockstep, are contiguous in a **run**. A run
//! is taken as a whole when its time has come, and sorted if need be: entries come in the order of their numbers,
//! except for the few that are inserted a second time.
//!
//! Source: Varghese, Lauck, *Hashed and Hierarchical Timing Wheels*, SOSP 1987.

use super::agenda::{Entry, Item};

/// Number of bits of a time within its block.
const WITHIN: u32 = 12;
/// Blocks on the wheel.
const BLOCKS: u64 = 2;
/// Slots of the wheel.
const SLOTS: usize = (BLOCKS as usize) << WITHIN;
/// Words of the bitmap per block.
const WORDS: usize = 1 << (WITHIN - 6);
/// Flag: the value is the number of a run, not an index in the store. There are never more of either than slots.
const RUN: u16 = 1 << 15;
/// No index in the store.
const NONE: u16 = RUN - 1;
const _: () = assert!(SLOTS <= NONE as usize);

/// The block of a time.
pub(super) const fn block_of(time: u64) -> u64 {
    time >> WITHIN
}

/// An entry without its time, which its slot implies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbered {
    pub(super) number: u64,
    pub(super) item: Item,
}

/// A place in the store: an entry, or vacant.
#[derive(Clone, Copy, Debug)]
struct Place {
    number: u64,
    item: Item,
    /// In a vacant place, the next vacant one.
    next: u16,
}

/// Entries of the current block of time and the next.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    /// The current block.
    block: u64,
    /// By slot: the index of its entry in the store, or [`RUN`] and the run of its entries. Undefined where the slot's
    /// bit is not set.
    held: Box<[u16; SLOTS]>,
    /// By slot: whether it has an entry.
    filled: Box<[u64; WORDS * BLOCKS as usize]>,
    /// By word of `filled`: whether any bit is set.
    words: [u64; BLOCKS as usize],
    /// Single entries of slots, and vacant places.
    store: Vec<Place>,
    /// The first vacant place of the store, or [`NONE`].
    vacant: u16,
    /// Several entries of one slot; empty where not in use.
    runs: Vec<Vec<Numbered>>,
    /// Numbers of the runs that are not in use.
    idle_runs: Vec<u16>,
}

impl Default for Wheel {
    fn default() -> Self {
        Self {
            block: 0,
            held: Box::new([0; SLOTS]),
            filled: Box::new([0; WORDS * BLOCKS as usize]),
            words: [0; BLOCKS as usize],
            store: Vec::new(),
            vacant: NONE,
            runs: Vec::new(),
            idle_runs: Vec::new(),
        }
    }
}

impl Wheel {
    /// The current block.
    pub(super) const fn block(&self) -> u64 {
        self.block
    }

    /// The last block that the wheel holds.
    pub(super) const fn last_block(&self) -> u64 {
        self.block + BLOCKS - 1
    }

    /// True if the wheel covers a time, which is not before the current block.
    pub(super) const fn reaches(&self, time: u64) -> bool {
        block_of(time) - self.block < BLOCKS
    }

    /// True if the current block has an entry.
    pub(super) const fn is_due(&self) -> bool {
        self.words[(self.block % BLOCKS) as usize] != 0
    }

    /// True if there are no entries.
    pub(super) fn is_empty(&self) -> bool {
        self.words == [0; BLOCKS as usize]
    }

    /// Makes a later block the current one; all earlier blocks must be empty.
    pub(super) const fn set_block(&mut self, block: u64) {
        self.block = block;
    }

    /// Adds an entry at a time that the wheel covers.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        let Entry { time, number, item } = entry;
        let slot = time as usize % SLOTS;
        let (word, bit) = (slot / 64, 1 << (slot % 64));
        if self.filled[word] & bit != 0 {
            self.push_beside(slot, Numbered { number, item });
            return;
        }
        self.filled[word] |= bit;
        self.words[word / WORDS] |= 1 << (word % WORDS);
        self.held[slot] = match self.store.get_mut(self.vacant as usize) {
            Some(vacant) => {
                let next = vacant.next;
                *vacant = Place { number, item, next };
                std::mem::replace(&mut self.vacant, next)
            }
            None => self.store_anew(Numbered { number, item }),
        };
    }

    /// Adds an entry to a nonempty slot.
    #[inline(never)]
    fn push_beside(&mut self, slot: usize, entry: Numbered) {
        let held = self.held[slot];
        if held & RUN != 0 {
            self.runs[(held & !RUN) as usize].push(entry);
            return;
        }
        let Place { number, item, .. } = self.unstore(held);
        let held = self.start_run(Numbered { number, item });
        self.runs[(held & !RUN) as usize].push(entry);
        self.held[slot] = held;
    }

    /// Puts an entry into a new place of the store.
    #[inline(never)]
    fn store_anew(&mut self, entry: Numbered) -> u16 {
        self.store.push(Place { number: entry.number, item: entry.item, next: NONE });
        self.store.len() as u16 - 1
    }

    /// Removes an entry from the store.
    #[inline]
    fn unstore(&mut self, place: u16) -> Place {
        let taken = &mut self.store[place as usize];
        let entry = *taken;
        taken.next = std::mem::replace(&mut self.vacant, place);
        entry
    }

    /// Makes an entry the first of a run; returns the value for its slot.
    fn start_run(&mut self, entry: Numbered) -> u16 {
        let run = self.idle_runs.pop().unwrap_or_else(|| {
            self.runs.push(Vec::new());
            self.runs.len() as u16 - 1
        });
        self.runs[run as usize].push(entry);
        run | RUN
    }

    /// The first nonempty slot of a block.
    fn first_slot(&self, block: u64) -> Option<usize> {
        let block = (block % BLOCKS) as usize;
        if self.words[block] == 0 {
            return None;
        }
        let word = block * WORDS + self.words[block].trailing_zeros() as usize;
        Some(word * 64 + self.filled[word].trailing_zeros() as usize)
    }

    /// Time of the next entry.
    pub(super) fn next_time(&self) -> Option<u64> {
        let mut blocks = self.block..self.block + BLOCKS;
        blocks.find_map(|block| Some(Self::slot_time(block, self.first_slot(block)?)))
    }

    /// The time of a slot of a block.
    const fn slot_time(block: u64, slot: usize) -> u64 {
        (block << WITHIN) + (slot % (1 << WITHIN)) as u64
    }

    /// Removes all entries of the next time, which must be in the current block. A single one is returned; several are
    /// put into the empty `all` in the order of their numbers, and the first of them is returned.
    #[inline]
    pub(super) fn take(&mut self, all: &mut Vec<Numbered>) -> Option<Entry> {
        let slot = self.first_slot(self.block)?;
        self.clear(slot);
        let held = self.held[slot];
        let time = Self::slot_time(self.block, slot);
        if held & RUN == 0 {
            let Place { number, item, .. } = self.unstore(held);
            return Some(Entry { time, number, item });
        }
        self.take_run(held & !RUN, all);
        all.first().map(|&Numbered { number, item }| Entry { time, number, item })
    }

    /// Moves a run to `all`, in the order of its numbers.
    #[inline(never)]
    fn take_run(&mut self, run: u16, all: &mut Vec<Numbered>) {
        self.idle_runs.push(run);
        // The allocations of both lists are kept.
        std::mem::swap(all, &mut self.runs[run as usize]);
        if !all.is_sorted_by_key(|entry| entry.number) {
            all.sort_unstable_by_key(|entry| entry.number);
        }
    }

    /// Marks a slot as empty.
    fn clear(&mut self, slot: usize) {
        let word = slot / 64;
        self.filled[word] &= !(1 << (slot % 64));
        if self.filled[word] == 0 {
            self.words[word / WORDS] &= !(1 << (word % WORDS));
        }
    }
}
