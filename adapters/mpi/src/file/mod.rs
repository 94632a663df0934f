//! Files of the program: local files of the host, as the standard's chapter on input and output has them.
//!
//! Data of files pass no network and take no virtual time. What the ranks of a file agree upon are messages of its own
//! communicator, and the shared pointer is a number in a window of its first rank.
//!
//! Decision: docs/decisions/0272-files-of-ranks.md.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::abi::*;
use crate::error::{Error, Outcome, error};
use crate::table::Table;

pub(crate) mod view;

use view::View;

/// Modes of access, as `mpi.h` numbers them.
pub(crate) mod mode {
    use std::ffi::c_int;

    pub(crate) const CREATE: c_int = 1;
    pub(crate) const READ_ONLY: c_int = 2;
    pub(crate) const WRITE_ONLY: c_int = 4;
    pub(crate) const READ_WRITE: c_int = 8;
    pub(crate) const DELETE_ON_CLOSE: c_int = 16;
    pub(crate) const EXCLUSIVE: c_int = 64;
    pub(crate) const APPEND: c_int = 128;
    pub(crate) const SEQUENTIAL: c_int = 256;
    /// All bits that have a meaning; 32 says that no other program opens the file.
    pub(crate) const ALL: c_int = 511;
}

/// `MPI_File`, which is a pointer in `mpi.h`: the handle in the library's table, or 0 for `MPI_FILE_NULL`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(crate) struct Fh(pub(crate) usize);

impl Fh {
    pub(crate) const NULL: Self = Self(0);

    /// The file with a handle of [`Files`].
    pub(crate) const fn of(handle: c_int) -> Self {
        Self(handle.cast_unsigned() as usize)
    }

    /// The handle in [`Files`]. Anything that is no file has one, too, by which the error handler of no file is found.
    pub(crate) const fn handle(self) -> c_int {
        KIND as c_int | (self.0 & 0x03ff_ffff) as c_int
    }
}

/// The upper bits of handles of files.
const KIND: u32 = 0xb000_0000;

/// A file that is open.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) data: fs::File,
    pub(crate) path: PathBuf,
    /// The file's own communicator.
    pub(crate) comm: c_int,
    pub(crate) mode: c_int,
    pub(crate) view: View,
    /// \[etypes\] The individual pointer.
    pub(crate) position: i64,
    pub(crate) is_atomic: bool,
    /// The window with the shared pointer, on the first rank.
    pub(crate) window: c_int,
    /// The kind of the split collective that has begun, and its status.
    pub(crate) split: Option<(&'static str, Status)>,
    pub(crate) errhandler: c_int,
    pub(crate) info: BTreeMap<String, String>,
}

/// Whether data come from the file or go to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    Read,
    Write,
}

impl File {
    /// An error if the file is not open for this, with a place that the program gives if `is_explicit`.
    pub(crate) fn check(&self, direction: Direction, is_explicit: bool) -> Outcome {
        if direction == Direction::Read && self.mode & mode::WRITE_ONLY != 0 {
            return error(ERR_ACCESS, format!("{} is open for writing only", self.path.display()));
        }
        if direction == Direction::Write && self.mode & mode::READ_ONLY != 0 {
            return error(ERR_READ_ONLY, format!("{} is open for reading only", self.path.display()));
        }
        if is_explicit && self.mode & mode::SEQUENTIAL != 0 {
            return error(ERR_UNSUPPORTED_OPERATION, "a sequential file has the shared pointer only");
        }
        Ok(())
    }

    /// An error if the file has no individual pointer.
    pub(crate) fn check_pointer(&self) -> Outcome {
        if self.mode & mode::SEQUENTIAL == 0 {
            return Ok(());
        }
        error(ERR_UNSUPPORTED_OPERATION, "a sequential file has the shared pointer only")
    }

    /// In atomic mode, keeps other ranks from the file until the value is dropped.
    pub(crate) fn lock(&self) -> Outcome<Option<Locked<'_>>> {
        if !self.is_atomic {
            return Ok(None);
        }
        self.data.lock().map_err(|failure| self.failed("cannot be locked", &failure))?;
        Ok(Some(Locked(&self.data)))
    }

    /// Reads up to `bytes` bytes from a place of the view \[etypes\]: fewer where the file ends.
    pub(crate) fn read(&self, place: i64, bytes: u64) -> Outcome<Vec<u8>> {
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        let mut data = Vec::new();
        if data.try_reserve_exact(length).is_err() {
            return error(ERR_NO_MEM, format!("there is no memory for {bytes} bytes of a file"));
        }
        for (at, length) in self.view.regions(place, bytes)? {
            let begin = data.len();
            data.resize(begin + length as usize, 0);
            let mut found = 0;
            while found < length as usize {
                match self.data.read_at(&mut data[begin + found..], at + found as u64) {
                    Ok(0) => break,
                    Ok(more) => found += more,
                    Err(failure) if failure.kind() == ErrorKind::Interrupted => {}
                    Err(failure) => return Err(self.failed("cannot be read", &failure)),
                }
            }
            data.truncate(begin + found);
            if found < length as usize {
                break;
            }
        }
        Ok(data)
    }

    /// Writes data to a place of the view \[etypes\].
    pub(crate) fn write(&self, place: i64, data: &[u8]) -> Outcome {
        let mut rest = data;
        for (at, length) in self.view.regions(place, data.len() as u64)? {
            let (now, later) = rest.split_at(length as usize);
            self.data.write_all_at(now, at).map_err(|failure| self.failed("cannot be written", &failure))?;
            rest = later;
        }
        Ok(())
    }

    /// \[bytes\] The size of the file.
    pub(crate) fn size(&self) -> Outcome<u64> {
        self.data.metadata().map(|about| about.len()).map_err(|failure| self.failed("has no size", &failure))
    }

    /// The error of an operation of the host on the file.
    pub(crate) fn failed(&self, what: &str, failure: &io::Error) -> Error {
        Error { class: class_of(failure), text: format!("{} {what}: {failure}", self.path.display()), comm: None }
    }
}

/// A file that is locked.
pub(crate) struct Locked<'a>(&'a fs::File);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // An error leaves the lock until the file is closed.
        let _ = self.0.unlock();
    }
}

/// The class of an error of the host.
pub(crate) fn class_of(failure: &io::Error) -> c_int {
    match failure.kind() {
        ErrorKind::NotFound => ERR_NO_SUCH_FILE,
        ErrorKind::PermissionDenied => ERR_ACCESS,
        ErrorKind::AlreadyExists => ERR_FILE_EXISTS,
        ErrorKind::StorageFull | ErrorKind::FileTooLarge => ERR_NO_SPACE,
        ErrorKind::QuotaExceeded => ERR_QUOTA,
        ErrorKind::ReadOnlyFilesystem => ERR_READ_ONLY,
        ErrorKind::IsADirectory | ErrorKind::NotADirectory | ErrorKind::InvalidFilename => ERR_BAD_FILE,
        _ => ERR_IO,
    }
}

/// The files by handle.
#[derive(Debug)]
pub(crate) struct Files {
    all: Table<File>,
    /// The error handler of `MPI_FILE_NULL`, which new files get.
    pub(crate) errhandler: c_int,
    /// Names of the representations that the program has registered.
    pub(crate) representations: BTreeSet<String>,
}

impl Files {
    pub(crate) fn new() -> Self {
        Self { all: Table::new(KIND, 1), errhandler: ERRORS_RETURN, representations: BTreeSet::new() }
    }

    pub(crate) fn add(&mut self, file: File) -> Fh {
        Fh::of(self.all.add(file))
    }

    pub(crate) fn get(&self, file: Fh) -> Outcome<&File> {
        let found = (file != Fh::NULL).then(|| self.all.get(file.handle())).flatten();
        found.map_or_else(|| error(ERR_FILE, format!("{:#x} is not an open file", file.0)), Ok)
    }

    pub(crate) fn get_mut(&mut self, file: Fh) -> Outcome<&mut File> {
        let found = (file != Fh::NULL).then(|| self.all.get_mut(file.handle())).flatten();
        found.map_or_else(|| error(ERR_FILE, format!("{:#x} is not an open file", file.0)), Ok)
    }

    pub(crate) fn remove(&mut self, file: Fh) -> Option<File> {
        self.all.remove(file.handle())
    }

    /// The error handler of a handle of this table, of a file or of none; `None` for a handle of another kind.
    pub(crate) fn errhandler(&self, handle: c_int) -> Option<c_int> {
        let is_file = handle.cast_unsigned() & 0xfc00_0000 == KIND;
        is_file.then(|| self.all.get(handle).map_or(self.errhandler, |file| file.errhandler))
    }
}
