//! Output files that are complete or absent: written under a temporary name in the same folder, then renamed. A name in
//! use is rejected at the start; a file that another process creates in the meantime is replaced.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use trgen::trace::formats::write::WriteError;

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The name is in use.
    #[error("{}: {what}", .path.display())]
    Taken {
        /// The output path.
        path: PathBuf,
        /// What uses the name.
        what: &'static str,
    },
    /// The parent folder does not exist.
    #[error("{}: there is no folder {}", .path.display(), .folder.display())]
    NoFolder {
        /// The output path.
        path: PathBuf,
        /// The missing folder.
        folder: PathBuf,
    },
    /// Writing failed.
    #[error("{}: cannot write: {error}", .path.display())]
    Io {
        /// The output path.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The format cannot express the trace.
    #[error("{}: {error}", .path.display())]
    Inexpressible {
        /// The output path.
        path: PathBuf,
        /// The cause.
        error: WriteError,
    },
}

impl OutputError {
    /// The remedy for the user.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Taken { .. } => "name one that does not exist yet; nothing is overwritten",
            Self::NoFolder { .. } => "make the folder first, or name a file in one that exists",
            Self::Io { .. } => "choose a folder that is writable, on a disk with free space",
            Self::Inexpressible { .. } => "export to another format: trg and simgrid-ti know more events",
        }
    }
}

/// Converts an error of writing to one that names the output path.
fn at_path(path: &Path) -> impl Fn(WriteError) -> OutputError {
    move |error| {
        let path = path.to_owned();
        match error {
            WriteError::Io(error) => OutputError::Io { path, error },
            error @ WriteError::Inexpressible { .. } => OutputError::Inexpressible { path, error },
        }
    }
}

/// Rejects a name that is in use.
fn check_vacant(path: &Path) -> Result<(), OutputError> {
    let taken = |what| Err(OutputError::Taken { path: path.to_owned(), what });
    // A dangling link counts as in use.
    match path.symlink_metadata() {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(()),
        Err(error) => Err(OutputError::Io { path: path.to_owned(), error }),
        Ok(there) if there.is_dir() => taken("a folder of this name exists"),
        Ok(_) => taken("a file of this name exists"),
    }
}

/// Checks before long work that a path can be written: the name must be free, and the folder must exist and be
/// writable.
///
/// # Errors
/// The failed condition.
pub fn check(path: &Path) -> Result<(), OutputError> {
    check_vacant(path)?;
    // The folder of a plain name is empty, which means the working directory.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    if let Some(folder) = folder {
        return Err(OutputError::NoFolder { path: path.to_owned(), folder: folder.to_owned() });
    }
    let probe = temporary(path);
    let refused = |error| OutputError::Io { path: path.to_owned(), error };
    File::create_new(&probe).and_then(|_| fs::remove_file(&probe)).map_err(refused)
}

/// The temporary name under which a file or folder is written: hidden, in the same folder.
fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.partial", std::process::id()))
}

/// Writes a file with `write`; on an error no file is left.
///
/// # Errors
/// Those of `write`, or of the file system; the name is in use.
pub fn file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), WriteError>,
) -> Result<(), OutputError> {
    check_vacant(path)?;
    let temporary = temporary(path);
    let written = (|| {
        let mut out = BufWriter::with_capacity(1 << 16, File::create(&temporary)?);
        write(&mut out)?;
        out.flush()?;
        Ok(fs::rename(&temporary, path)?)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(at_path(path))
}

/// Fills a new folder with `write`; on an error no folder is left.
///
/// # Errors
/// Those of `write`, or of the file system; the name is in use.
pub fn folder(path: &Path, write: impl FnOnce(&Path) -> Result<(), WriteError>) -> Result<(), OutputError> {
    check_vacant(path)?;
    let temporary = temporary(path);
    let written = (|| {
        fs::create_dir(&temporary)?;
        write(&temporary)?;
        Ok(fs::rename(&temporary, path)?)
    })();
    if written.is_err() {
        let _ = fs::remove_dir_all(&temporary);
    }
    written.map_err(at_path(path))
}
