//! Memory that the ranks of this machine share, for the data of long messages: a file without a name, whose pages are
//! those of messages on their way.

use std::fs::File;
use std::os::fd::AsRawFd;

use fsin::experiment::memory::{control_groups, limits};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::process::{Resource, getrlimit};

/// \[bytes\] Size of the first page, which counts what is on its way.
const PAGE: u64 = 4096;
/// \[bytes\] What messages on their way may hold where the system does not tell its memory.
const UNKNOWN: u64 = 2 << 30;

/// \[bytes\] What messages on their way may hold: three quarters of the memory that is left at the start.
pub(super) fn room() -> u64 {
    let least = limits(&control_groups()).iter().map(|limit| limit.left).min();
    least.map_or(UNKNOWN, |left| left / 4 * 3)
}

/// The shared memory of a run.
pub(super) struct Shared(File);

impl Shared {
    /// Creates the shared memory. `None` if the system has none, or limits the size of files and would end a process
    /// that exceeds the limit. Data then pass through the connections of the ranks.
    pub(super) fn create() -> Option<Self> {
        if getrlimit(Resource::Fsize).current.is_some() {
            return None;
        }
        let file = memfd_create("fsin-messages", MemfdFlags::CLOEXEC).ok()?;
        ftruncate(&file, PAGE).ok()?;
        Some(Self(file.into()))
    }

    /// How ranks find it, and how much of it may be in use.
    pub(super) fn location(&self) -> String {
        format!("{}:/proc/{}/fd/{}", room(), std::process::id(), self.0.as_raw_fd())
    }
}
