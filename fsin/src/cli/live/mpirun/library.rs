//! The library that ranks load instead of MPICH.
//!
//! Decision: docs/decisions/0150-first-library.md.

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::cli::live::beside::Library;
use crate::cli::live::guard::Guard;
use crate::cli::{Complaint, Exit};

/// Names under which programs look for MPICH's ABI.
const NAMES: [&str; 4] = ["libmpich.so.12", "libmpi.so.12", "libmpich.so", "libmpi.so"];
/// The environment variable that names the folder of the run to its ranks.
pub(super) const FOLDER: &str = "FSIN_MPI_FOLDER";
/// The library that cargo builds.
pub(super) const LIBRARY: Library = Library {
    file: "libfsin_mpi.so",
    variable: "FSIN_MPI_LIBRARY",
    package: "fsin-mpi",
    role: "ranks load instead of MPICH",
};

/// A private folder of this run: the socket, the library under the names that programs look for, and the reports of
/// the ranks. It is removed at the end: by this process, by its [guard](Guard) if it is killed, or by a later run if the
/// guard is killed, too.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// The path by which ranks find it. The dynamic linker splits lists of paths at some characters, and the path of a
    /// socket is short; where the folder for temporary files has another path, ranks find it by `handle`.
    access: PathBuf,
    /// Keeps `access` valid.
    _handle: File,
    /// Locked while this process runs, so that another one knows whether the folder is in use.
    _lock: File,
    /// Removes the folder if this process is killed.
    guard: Option<Guard>,
}

/// The beginning of the names of folders.
const PREFIX: &str = "fsin-mpi.";
/// The file in a folder that is locked by the process to which it belongs.
const LOCK: &str = "lock";
/// A folder is left alone for this time, in which its owner may not have locked it yet.
const YOUNG: Duration = Duration::from_secs(60);

/// Removes the folders of runs that were killed together with their guards.
fn sweep(temporary: &Path) {
    let is_old = |path: &Path| {
        let changed = fs::symlink_metadata(path).and_then(|there| there.modified());
        changed.is_ok_and(|time| time.elapsed().is_ok_and(|age| age >= YOUNG))
    };
    let entries = fs::read_dir(temporary).into_iter().flatten().flatten();
    for path in entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())) {
        let path = path.path();
        let lock = path.join(LOCK);
        let is_file = fs::symlink_metadata(&lock).is_ok_and(|there| there.is_file());
        // Those of other users cannot be opened.
        if is_old(&path) && is_file && File::open(&lock).is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// \[bytes\] Longest path of the folder, so that the socket in it can be made under a temporary name.
const LONGEST: usize = 80;

/// True if the dynamic linker and sockets can use a path as it is.
fn is_plain(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes.len() <= LONGEST && !bytes.iter().any(|byte| byte.is_ascii_whitespace() || b":;$".contains(byte))
}

impl Folder {
    /// Creates the folder, with links to the library.
    pub(super) fn create(library: &Path) -> Result<Self, Complaint> {
        let failed = |path: &Path, error: io::Error| {
            let what = format!("cannot make the folder {} of this run: {error}", path.display());
            Complaint::new(Exit::Failed, what, "free some space, or set TMPDIR to a folder that can be written to")
        };
        let moment = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let path = std::path::absolute(env::temp_dir()).map_err(|error| failed(&env::temp_dir(), error))?;
        sweep(&path);
        let path = path.join(format!("{PREFIX}{}.{moment:x}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(|error| failed(&path, error))?;
        let filled = (|| {
            let lock = File::create_new(path.join(LOCK))?;
            lock.lock()?;
            for name in NAMES {
                symlink(library, path.join(name))?;
            }
            Ok((File::open(&path)?, lock))
        })();
        let (handle, lock) = filled.map_err(|error| {
            let _ = fs::remove_dir_all(&path);
            failed(&path, error)
        })?;
        let access = match is_plain(&path) {
            true => path.clone(),
            false => format!("/proc/{}/fd/{}", std::process::id(), handle.as_raw_fd()).into(),
        };
        let mut folder = Self { path, access, _handle: handle, _lock: lock, guard: None };
        folder.guard = Some(Guard::start(FOLDER, folder.access.as_os_str(), &folder.path)?);
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// True if ranks find the folder by its own path.
    pub(super) fn is_plain(&self) -> bool {
        self.path == self.access
    }

    /// The path by which ranks find the folder.
    pub(super) fn access(&self) -> &Path {
        &self.access
    }

    /// The path of the socket at which the network listens.
    pub(super) fn socket(&self) -> PathBuf {
        self.access.join("socket")
    }
}

/// The library, by a name of [`NAMES`], in a folder: loaded before all other libraries of a rank.
pub(super) fn first_library(folder: &Path) -> PathBuf {
    folder.join(NAMES[0])
}

impl Drop for Folder {
    fn drop(&mut self) {
        // An error does no harm: the folder is in that for temporary files.
        let _ = fs::remove_dir_all(&self.path);
    }
}
