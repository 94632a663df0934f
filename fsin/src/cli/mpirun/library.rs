//! The library that ranks load instead of MPICH.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::cli::{Complaint, Exit};

/// The file that cargo builds.
const FILE: &str = "libfsin_mpi.so";
/// Names under which programs look for MPICH's ABI.
const NAMES: [&str; 4] = ["libmpich.so.12", "libmpi.so.12", "libmpich.so", "libmpi.so"];
/// The variable that names the library.
const VARIABLE: &str = "FSIN_MPI_LIBRARY";

/// Finds the library: where `FSIN_MPI_LIBRARY` says, beside the command, or in `../lib/fsin` from there.
pub(super) fn find() -> Result<PathBuf, Complaint> {
    if let Some(path) = env::var_os(VARIABLE).map(PathBuf::from) {
        return path.canonicalize().map_err(|error| {
            let what = format!("{VARIABLE}={}: {error}", path.display());
            Complaint::new(Exit::Usage, what, format!("name the file {FILE}, or unset the variable"))
        });
    }
    let folder = env::current_exe().ok().and_then(|path| path.canonicalize().ok());
    let folder = folder.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
    let places = [folder.join(FILE), folder.join("../lib/fsin").join(FILE)];
    places.iter().find_map(|path| path.canonicalize().ok()).ok_or_else(|| {
        let what = format!(
            "{FILE}, which ranks load instead of MPICH, is neither in {} nor in ../lib/fsin from there",
            folder.display()
        );
        let remedy = format!("build it with `cargo build -p fsin-mpi`, copy it there, or name it in {VARIABLE}");
        Complaint::new(Exit::Usage, what, remedy)
    })
}

/// A private folder of this run: the socket, the library under the names that programs look for, and the reports of
/// the ranks. It is removed at the end.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
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

    pub(super) fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed lies in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
