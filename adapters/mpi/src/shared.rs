//! Memory that the ranks of one machine share: data of long messages pass through it, and the network carries their
//! envelopes.
//!
//! It is a file without a name, which the launcher has made and ranks open. Its first page holds the number of bytes that
//! are on their way. Each rank writes into a part of its own, at ever higher places, and the receiver of a message returns
//! the pages to the system: memory is taken by what is on its way alone. No place is used twice, until the part is used up.
//!
//! Decision: docs/decisions/0360-shared-payload.md.

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
}

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
        /// `PROT_READ | PROT_WRITE`, and `MAP_SHARED`.
        const BOTH: c_int = 3;
        const SHARED: c_int = 1;
        if file.metadata().ok()?.len() < PAGE {
            return None;
        }
        // SAFETY: a new mapping of the first page, which is never removed.
        let first = unsafe { mmap(std::ptr::null_mut(), PAGE as usize, BOTH, SHARED, file.as_raw_fd(), 0) };
        if first.is_null() || first.addr() == usize::MAX {
            return None;
        }
        // SAFETY: the page is aligned, and all processes change this number by atomic operations only.
        let on_the_way = unsafe { &*first.cast::<AtomicU64>() };
        Some(Self { file, on_the_way, limit, begin: (rank as u64 + 1) * PART, used: 0 })
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
        if self.used + room > PART {
            self.used = 0;
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
    pub(crate) fn take(&self, place: Place, to: &mut [u8]) -> io::Result<()> {
        /// `FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE`
        const HOLE: c_int = 1 | 2;
        let read = self.file.read_exact_at(to, place.offset);
        let room = place.length.next_multiple_of(PAGE);
        // SAFETY: a function of the C library. Without an effect of it the memory is given back at the end of the run.
        unsafe { fallocate(self.file.as_raw_fd(), HOLE, place.offset as c_long, room as c_long) };
        self.on_the_way.fetch_sub(place.length, Ordering::Relaxed);
        read
    }
}

#[cfg(test)]
mod tests {
    use super::{Location, PAGE, PART, Shared, Unwritten};

    #[test]
    fn data_pass_from_rank_to_rank_and_the_limit_is_kept() {
        // A file system in memory, as that of the file without a name: others have no places so high.
        let path = std::path::PathBuf::from(format!("/dev/shm/fsin-shared-{}", std::process::id()));
        let file = std::fs::File::create(&path).expect("a file");
        file.set_len(PAGE).expect("a page");
        let location: Location = format!("100000:{}", path.display()).parse().expect("a location");
        assert!("x:/there".parse::<Location>().is_err() && "17".parse::<Location>().is_err());
        let (mut one, other) =
            (Shared::open(&location, 0).expect("shared"), Shared::open(&location, 3).expect("shared"));
        let _ = std::fs::remove_file(&path);
        let data: Vec<u8> = (0..70_001_u32).map(|at| at as u8).collect();
        let first = one.write(&data).expect("room");
        let second = one.write(&data[..17]).expect("room");
        assert_eq!((first.offset, second.offset), (PART, PART + 18 * PAGE));
        assert!(matches!(one.write(&data), Err(Unwritten::Limit { on_the_way: 70_018, limit: 100_000 })));
        let mut found = vec![0; 70_001];
        other.take(first, &mut found).expect("data");
        assert_eq!(found, data);
        // A receive with less room takes the first bytes, and gives all memory back.
        other.take(second, &mut found[..5]).expect("data");
        assert!(Shared::open(&location, 0).is_none());
    }
}
