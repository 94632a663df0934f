//! What is to happen in the near future: a wheel with a slot for each unit of time.
//!
//! The wheel holds the block of 4096 units that is the present one, and the next: more would not stay in the nearest
//! cache. A CPU is free again after some thousand units, and a message arrives after some thousand, so that nearly
//! everything goes straight to its slot: entering is one write, and what comes next is found by the bits that are set,
//! in 64 words of 64 slots for each block. A single entry of a slot lies in a **store** whose places are used again,
//! the last left first: the few hundred that are under way stay in the nearest cache, whatever slots they are in.
//! Several entries of a slot, thousands where ranks work in step, lie side by side in a **run**, which is taken as it
//! is when its time has come, and sorted if need be: entries come in the order of their numbers but for the few that
//! enter a second time.
//!
//! Source: Varghese, Lauck, *Hashed and Hierarchical Timing Wheels*, SOSP 1987.

use super::agenda::Entry;

/// \[bits\] Of a time within its block.
const WITHIN: u32 = 12;
/// Blocks on the wheel.
const BLOCKS: u64 = 2;
/// Slots of the wheel.
const SLOTS: usize = (BLOCKS as usize) << WITHIN;
/// Words of bits for a block.
const WORDS: usize = 1 << (WITHIN - 6);
/// No place in the store.
const NONE: u32 = u32::MAX;
/// With the number of a run instead of a place in the store.
const RUN: u32 = 1 << 31;

/// The block of a time.
pub(super) const fn block_of(time: u64) -> u64 {
    time >> WITHIN
}

/// A place of the store.
#[derive(Clone, Copy, Debug)]
struct Place {
    entry: Entry,
    /// If the place is vacant, the next one that is.
    next: u32,
}

/// Entries of the present block of time and the next.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    /// The first block.
    block: u64,
    /// By slot: the place of its entry, or [`RUN`] and the run of its entries. Means nothing where its bit is not set.
    held: Box<[u32; SLOTS]>,
    /// By slot: whether there is an entry.
    filled: Box<[u64; WORDS * BLOCKS as usize]>,
    /// By word of those: whether a bit is set.
    words: [u64; BLOCKS as usize],
    store: Vec<Place>,
    vacant: u32,
    runs: Vec<Vec<Entry>>,
    idle_runs: Vec<u32>,
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
    /// The block of the present.
    pub(super) const fn block(&self) -> u64 {
        self.block
    }

    /// The last block that the wheel holds.
    pub(super) const fn last_block(&self) -> u64 {
        self.block + BLOCKS - 1
    }

    /// True if a time that is not before the present block is on the wheel.
    pub(super) const fn reaches(&self, time: u64) -> bool {
        block_of(time) - self.block < BLOCKS
    }

    /// True if there is something in the present block.
    pub(super) const fn is_due(&self) -> bool {
        self.words[(self.block % BLOCKS) as usize] != 0
    }

    /// True if there is nothing at all.
    pub(super) fn is_empty(&self) -> bool {
        self.words == [0; BLOCKS as usize]
    }

    /// A later block becomes the present one; nothing is left in those before it.
    pub(super) const fn turn(&mut self, block: u64) {
        self.block = block;
    }

    /// Adds an entry of a time that the wheel reaches.
    pub(super) fn push(&mut self, entry: Entry) {
        let slot = entry.time as usize % SLOTS;
        let (word, bit) = (slot / 64, 1 << (slot % 64));
        if self.filled[word] & bit == 0 {
            self.filled[word] |= bit;
            self.words[word / WORDS] |= 1 << (word % WORDS);
            self.held[slot] = self.store(entry);
            return;
        }
        let held = self.held[slot];
        let run = if held & RUN == 0 { self.start_run(slot, held) } else { held & !RUN };
        self.runs[run as usize].push(entry);
    }

    /// Puts an entry into the store.
    fn store(&mut self, entry: Entry) -> u32 {
        let place = self.vacant;
        match self.store.get_mut(place as usize) {
            Some(vacant) => {
                self.vacant = vacant.next;
                vacant.entry = entry;
                place
            }
            None => {
                self.store.push(Place { entry, next: NONE });
                self.store.len() as u32 - 1
            }
        }
    }

    /// Takes an entry out of the store.
    fn unstore(&mut self, place: u32) -> Entry {
        let taken = &mut self.store[place as usize];
        taken.next = std::mem::replace(&mut self.vacant, place);
        taken.entry
    }

    /// Makes the single entry of a slot the first of a run; which run.
    fn start_run(&mut self, slot: usize, place: u32) -> u32 {
        let single = self.unstore(place);
        let run = self.idle_runs.pop().unwrap_or_else(|| {
            self.runs.push(Vec::new());
            self.runs.len() as u32 - 1
        });
        self.runs[run as usize].push(single);
        self.held[slot] = run | RUN;
        run
    }

    /// The first slot of a block that holds something.
    fn first(&self, block: u64) -> Option<usize> {
        let block = (block % BLOCKS) as usize;
        if self.words[block] == 0 {
            return None;
        }
        let word = block * WORDS + self.words[block].trailing_zeros() as usize;
        Some(word * 64 + self.filled[word].trailing_zeros() as usize)
    }

    /// Time of what comes next.
    pub(super) fn next_time(&self) -> Option<u64> {
        let mut blocks = self.block..self.block + BLOCKS;
        blocks.find_map(|block| Some((block << WITHIN) + (self.first(block)? % (1 << WITHIN)) as u64))
    }

    /// Takes out all entries of the next time, which is in the present block. A single one is returned; several are put into
    /// `all`, which is empty, in the order of their numbers, and the first of them is returned.
    pub(super) fn take(&mut self, all: &mut Vec<Entry>) -> Option<Entry> {
        let slot = self.first(self.block)?;
        self.clear(slot);
        let held = self.held[slot];
        if held & RUN == 0 {
            return Some(self.unstore(held));
        }
        let run = held & !RUN;
        self.idle_runs.push(run);
        // The room of either is kept.
        std::mem::swap(all, &mut self.runs[run as usize]);
        if !all.is_sorted_by_key(|entry| entry.number) {
            all.sort_unstable_by_key(|entry| entry.number);
        }
        all.first().copied()
    }

    /// Nothing is left in a slot.
    fn clear(&mut self, slot: usize) {
        let word = slot / 64;
        self.filled[word] &= !(1 << (slot % 64));
        if self.filled[word] == 0 {
            self.words[word / WORDS] &= !(1 << (word % WORDS));
        }
    }
}
