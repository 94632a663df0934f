//! Memory that the ranks of one machine share: data of long messages pass through it, and the network carries their
//! envelopes.
//!
//! It is a file without a name, which the launcher has made and ranks open. Its first page holds the number of bytes that
//! are on their way. Each rank has a part of its own, with two ways to pass data:
//!
//! - A few slots, which all ranks map, for data that fit one. A receiver marks a slot as free again; its pages stay, so that
//!   neither system calls nor new pages are needed.
//! - Ever higher places behind them. The receiver returns the pages to the system, so that only data under way take
//!   memory. No place is used twice, until the part is used up.
//!
//! Decisions: docs/decisions/0360-shared-payload.md, docs/decisions/0510-slots.md.

use std::ffi::{c_int, c_long, c_void};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// \[bytes\] Size of a page, or a multiple of it.
const PAGE: u64 = 4096;
/// \[bytes\] Size of the part of each rank, and of what precedes the first one.
const PART: u64 = 1 << 44;
/// Number of slots of each rank.
const SLOTS: u64 = 8;
/// \[bytes\] Size of a slot.
const SLOT: u64 = 128 << 10;
/// \[bytes\] Size of the slots of a rank, and of the page before them, which says which are in use.
const LOT: u64 = PAGE + SLOTS * SLOT;

/// Where the shared memory is, and how much of it may be in use: `BYTES:PATH`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Location {
    limit: u64,
    path: PathBuf,
}

impl FromStr for Location {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        let (limit, path) = word.split_once(':').ok_or(())?;
        Ok(Self { limit: limit.parse().map_err(drop)?, path: path.into() })
    }
}

/// Where the data of a message are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    /// \[bytes\] Their length.
    pub(crate) length: u64,
}

/// Why data cannot be written.
#[derive(Debug)]
pub(crate) enum Unwritten {
    /// They exceed what may be on its way; this is.
    Limit {
        on_the_way: u64,
        limit: u64,
    },
    Failed(io::Error),
}

/// The slots of a rank, mapped.
#[derive(Clone, Copy, Debug)]
struct Lot {
    /// The page that says which slots are in use, and the slots.
    at: *mut u8,
}

impl Lot {
    /// Maps the slots of a rank; `None` if the system cannot.
    fn map(file: &File, rank: u64) -> Option<Self> {
        let begin = (rank + 1) * PART;
        // The file must extend to their end; unlike `ftruncate`, this cannot shorten it if ranks open it concurrently.
        // SAFETY: a function of the C library.
        if unsafe { fallocate(file.as_raw_fd(), 0, (begin + LOT - 1) as c_long, 1) } != 0 {
            return None;
        }
        map(file, begin, LOT).map(|at| Self { at })
    }

    /// Whether a slot is in use: 1 or 0.
    fn state(&self, slot: u64) -> &AtomicU64 {
        // SAFETY: the first page stays mapped and is aligned, and all processes change these numbers by atomic
        // operations only.
        unsafe { &*self.at.add(8 * slot as usize).cast::<AtomicU64>() }
    }

    /// The bytes of a slot.
    fn bytes(&self, slot: u64) -> *mut u8 {
        // SAFETY: within the mapping.
        unsafe { self.at.add((PAGE + slot * SLOT) as usize) }
    }
}

/// Maps a part of the file for reading and writing until the process ends; `None` if the system cannot.
fn map(file: &File, offset: u64, length: u64) -> Option<*mut u8> {
    /// `PROT_READ | PROT_WRITE`, and `MAP_SHARED`.
    const BOTH: c_int = 3;
    const SHARED: c_int = 1;
    // SAFETY: a new mapping, which is never removed.
    let at = unsafe { mmap(std::ptr::null_mut(), length as usize, BOTH, SHARED, file.as_raw_fd(), offset as c_long) };
    (!at.is_null() && at.addr() != usize::MAX).then_some(at.cast())
}

/// The shared memory, as a rank has it.
#[derive(Debug)]
pub(crate) struct Shared {
    file: File,
    /// \[bytes\] What is on its way, in all ranks.
    on_the_way: &'static AtomicU64,
    limit: u64,
    /// \[bytes\] Where this rank's part begins, and what of it has been used.
    begin: u64,
    used: u64,
    /// The slots of this rank; `None` if they could not be mapped.
    own: Option<Lot>,
    /// By rank: the slots of others, mapped when data first arrive through one.
    others: Vec<Option<Lot>>,
}

// SAFETY: mappings belong to the process, and their content is changed by atomic operations, or only by the rank that
// owns the slot at that time.
unsafe impl Send for Shared {}

unsafe extern "C" {
    fn mmap(at: *mut c_void, length: usize, access: c_int, flags: c_int, file: c_int, offset: c_long) -> *mut c_void;
    fn fallocate(file: c_int, mode: c_int, offset: c_long, length: c_long) -> c_int;
}

impl Shared {
    /// Opens the memory; `None` if this process cannot, and its data must pass through the network's connection.
    pub(crate) fn open(location: &Location, rank: usize) -> Option<Self> {
        let file = OpenOptions::new().read(true).write(true).open(&location.path).ok()?;
        Self::of(file, location.limit, rank)
    }

    fn of(file: File, limit: u64, rank: usize) -> Option<Self> {
        if file.metadata().ok()?.len() < PAGE {
            return None;
        }
        let first = map(&file, 0, PAGE)?;
        // SAFETY: the page is aligned, and all processes change this number by atomic operations only.
        let on_the_way = unsafe { &*first.cast::<AtomicU64>() };
        let own = Lot::map(&file, rank as u64);
        Some(Self { file, on_the_way, limit, begin: (rank as u64 + 1) * PART, used: LOT, own, others: Vec::new() })
    }

    /// Writes data, and returns where.
    ///
    /// # Errors
    /// There is no room.
    pub(crate) fn write(&mut self, data: &[u8]) -> Result<Place, Unwritten> {
        let length = data.len() as u64;
        let room = length.next_multiple_of(PAGE);
        let before = self.on_the_way.fetch_add(length, Ordering::Relaxed);
        if before.saturating_add(length) > self.limit {
            self.on_the_way.fetch_sub(length, Ordering::Relaxed);
            return Err(Unwritten::Limit { on_the_way: before, limit: self.limit });
        }
        if let Some(lot) = self.own.filter(|_| length <= SLOT)
            && let Some(slot) = (0..SLOTS).find(|&slot| lot.state(slot).load(Ordering::Acquire) == 0)
        {
            lot.state(slot).store(1, Ordering::Relaxed);
            // SAFETY: the slot is free, so no rank reads it, and only this rank writes it.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), lot.bytes(slot), data.len()) };
            return Ok(Place { offset: self.begin + PAGE + slot * SLOT, length });
        }
        if self.used + room > PART {
            self.used = LOT;
        }
        let offset = self.begin + self.used;
        self.file.write_all_at(data, offset).map_err(Unwritten::Failed)?;
        self.used += room;
        Ok(Place { offset, length })
    }

    /// Reads the first data of a message into `to`, and gives back all of its memory.
    ///
    /// # Errors
    /// The system cannot read them.
    pub(crate) fn take(&mut self, place: Place, to: &mut [u8]) -> io::Result<()> {
        /// `FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE`
        const HOLE: c_int = 1 | 2;
        let (rank, within) = ((place.offset / PART).wrapping_sub(1), place.offset % PART);
        let read = if within < LOT && to.len() as u64 <= SLOT {
            self.lot(rank as usize).map(|lot| {
                let slot = within.saturating_sub(PAGE) / SLOT;
                // SAFETY: the slot holds at least so many bytes, and its rank leaves it alone until it is marked as free.
                unsafe { std::ptr::copy_nonoverlapping(lot.bytes(slot), to.as_mut_ptr(), to.len()) };
                lot.state(slot).store(0, Ordering::Release);
            })
        } else {
            let read = self.file.read_exact_at(to, place.offset);
            let room = place.length.next_multiple_of(PAGE);
            // SAFETY: a function of the C library. If it fails, the memory is returned at the end of the run.
            unsafe { fallocate(self.file.as_raw_fd(), HOLE, place.offset as c_long, room as c_long) };
            read
        };
        self.on_the_way.fetch_sub(place.length, Ordering::Relaxed);
        read
    }

    /// The slots of another rank.
    fn lot(&mut self, rank: usize) -> io::Result<Lot> {
        if self.others.len() <= rank {
            self.others.resize(rank + 1, None);
        }
        let lot = self.others[rank].or_else(|| Lot::map(&self.file, rank as u64));
        self.others[rank] = lot;
        lot.ok_or_else(|| io::Error::other("it cannot be mapped"))
    }
}

#[cfg(test)]
mod tests {
    use super::{LOT, Location, Ordering, PAGE, PART, SLOT, SLOTS, Shared, Unwritten};

    #[test]
    fn data_pass_from_rank_to_rank_and_the_limit_is_kept() {
        // A file system in memory, as that of the file without a name: others have no places so high.
        let path = std::path::PathBuf::from(format!("/dev/shm/fsin-shared-{}", std::process::id()));
        let file = std::fs::File::create(&path).expect("a file");
        file.set_len(PAGE).expect("a page");
        let location: Location = format!("750000:{}", path.display()).parse().expect("a location");
        assert!("x:/there".parse::<Location>().is_err() && "17".parse::<Location>().is_err());
        let (mut one, mut other) =
            (Shared::open(&location, 0).expect("shared"), Shared::open(&location, 3).expect("shared"));
        let _ = std::fs::remove_file(&path);
        let data: Vec<u8> = (0..70_001_u32).map(|at| at as u8).collect();
        let mut found = vec![0; 70_001];
        // As many as there are slots, then behind them.
        let mut places: Vec<_> = (0..SLOTS + 2).map(|_| one.write(&data).expect("room")).collect();
        let end = places.len() - 1;
        assert_eq!((places[0].offset, places[1].offset), (PART + PAGE, PART + PAGE + SLOT));
        assert_eq!((places[end - 1].offset, places[end].offset), (PART + LOT, PART + LOT + 18 * PAGE));
        assert!(matches!(one.write(&data), Err(Unwritten::Limit { on_the_way: 700_010, limit: 750_000 })));
        // A receive with less room takes the first bytes, and gives all memory back.
        other.take(places[3], &mut found[..5]).expect("data");
        let again = one.write(&data[7..]).expect("room");
        assert_eq!((found[4], again.offset), (4, places[3].offset));
        places[3] = again;
        for (place, begin) in places.iter().zip(0..) {
            let begin = if begin == 3 { 7 } else { 0 };
            found.fill(0);
            other.take(*place, &mut found[begin..]).expect("data");
            assert_eq!(found[begin..], data[begin..]);
        }
        // Data that are too long for a slot.
        let long = vec![9; SLOT as usize + 1];
        let place = one.write(&long).expect("room");
        assert_eq!(place.offset, PART + LOT + 36 * PAGE);
        found.resize(long.len(), 0);
        other.take(place, &mut found).expect("data");
        assert_eq!((found == long, one.on_the_way.load(Ordering::Relaxed)), (true, 0));
        assert!(one.write(&data).expect("room").offset < PART + LOT);
        assert!(Shared::open(&location, 0).is_none());
    }
}
