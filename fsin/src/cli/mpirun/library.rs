//! The library that ranks load instead of MPICH.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::cli::beside::Library;
use crate::cli::{Complaint, Exit};

/// Names under which programs look for MPICH's ABI.
const NAMES: [&str; 4] = ["libmpich.so.12", "libmpi.so.12", "libmpich.so", "libmpi.so"];
/// The library that cargo builds.
pub(super) const LIBRARY: Library = Library {
    file: "libfsin_mpi.so",
    variable: "FSIN_MPI_LIBRARY",
    package: "fsin-mpi",
    role: "ranks load instead of MPICH",
};

/// A private folder of this run: the socket, the library under the names that programs look for, and the reports of
/// the ranks. It is removed at the end.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Creates the folder, with links to the library.
    pub(super) fn create(library: &Path) -> Result<Self, Complaint> {
        let failed = |path: &Path, error: io::Error| {
            let what = format!("cannot make the folder {} of this run: {error}", path.display());
            Complaint::new(Exit::Failed, what, "free some space, or set TMPDIR to a folder that can be written to")
        };
        let moment = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let path = env::temp_dir().join(format!("fsin-mpi.{}.{moment:x}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(|error| failed(&path, error))?;
        let folder = Self(path);
        for name in NAMES {
            symlink(library, folder.0.join(name)).map_err(|error| failed(&folder.0, error))?;
        }
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// The path of the socket at which the network listens.
    pub(super) fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // An error does no harm: the folder is in that for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
