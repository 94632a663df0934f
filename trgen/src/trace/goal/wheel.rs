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

use super::agenda::{Entry, Item};

/// \[bits\] Of a time within its block.
const WITHIN: u32 = 12;
/// Blocks on the wheel.
const BLOCKS: u64 = 2;
/// Slots of the wheel.
const SLOTS: usize = (BLOCKS as usize) << WITHIN;
/// Words of bits for a block.
const WORDS: usize = 1 << (WITHIN - 6);
/// With the number of a run instead of a place in the store. There are no more of either than slots.
const RUN: u16 = 1 << 15;
/// No place in the store.
const NONE: u16 = RUN - 1;
const _: () = assert!(SLOTS <= NONE as usize);

/// The block of a time.
pub(super) const fn block_of(time: u64) -> u64 {
    time >> WITHIN
}

/// An entry without its time, which its slot says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbered {
    pub(super) number: u64,
    pub(super) item: Item,
}

/// A place of the store.
#[derive(Clone, Copy, Debug)]
struct Place {
    number: u64,
    item: Item,
    /// If the place is vacant, the next one that is.
    next: u16,
}

/// Entries of the present block of time and the next.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    /// The first block.
    block: u64,
    /// By slot: the place of its entry, or [`RUN`] and the run of its entries. Means nothing where its bit is not set.
    held: Box<[u16; SLOTS]>,
    /// By slot: whether there is an entry.
    filled: Box<[u64; WORDS * BLOCKS as usize]>,
    /// By word of those: whether a bit is set.
    words: [u64; BLOCKS as usize],
    store: Vec<Place>,
    vacant: u16,
    runs: Vec<Vec<Numbered>>,
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

    /// Adds an entry to a slot that holds something.
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

    /// Takes an entry out of the store.
    #[inline]
    fn unstore(&mut self, place: u16) -> Place {
        let taken = &mut self.store[place as usize];
        let entry = *taken;
        taken.next = std::mem::replace(&mut self.vacant, place);
        entry
    }

    /// Makes an entry the first of a run; what its slot holds.
    fn start_run(&mut self, entry: Numbered) -> u16 {
        let run = self.idle_runs.pop().unwrap_or_else(|| {
            self.runs.push(Vec::new());
            self.runs.len() as u16 - 1
        });
        self.runs[run as usize].push(entry);
        run | RUN
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
        blocks.find_map(|block| Some(Self::time(block, self.first(block)?)))
    }

    /// The time of a slot of a block.
    const fn time(block: u64, slot: usize) -> u64 {
        (block << WITHIN) + (slot % (1 << WITHIN)) as u64
    }

    /// Takes out all entries of the next time, which is in the present block. A single one is returned; several are put into
    /// `all`, which is empty, in the order of their numbers, and the first of them is returned.
    #[inline]
    pub(super) fn take(&mut self, all: &mut Vec<Numbered>) -> Option<Entry> {
        let slot = self.first(self.block)?;
        self.clear(slot);
        let held = self.held[slot];
        let time = Self::time(self.block, slot);
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
        // The room of either is kept.
        std::mem::swap(all, &mut self.runs[run as usize]);
        if !all.is_sorted_by_key(|entry| entry.number) {
            all.sort_unstable_by_key(|entry| entry.number);
        }
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
