//! OTF2 archives, by way of the text that their own tool prints.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::tool::{self, Failure};

/// First bytes of the file that names an archive.
const MAGIC: &[u8] = b"\x03BOTF2";
/// The tool of the OTF2 library.
const TOOL: &str = "otf2-print";

/// An archive as text, in a file that goes with this value.
#[derive(Debug)]
pub struct Printed {
    _folder: TempDir,
    path: PathBuf,
}

impl Printed {
    /// The text.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// An archive cannot be printed.
#[derive(Debug, thiserror::Error)]
pub enum PrintError {
    /// The tool is not there, or there is no room for the text.
    #[error("{path}: an OTF2 archive, which `{TOOL}` prints: {cause}")]
    Io {
        /// The archive.
        path: PathBuf,
        /// What the operating system says.
        cause: io::Error,
    },
    /// The tool refused the archive.
    #[error("{path}: `{TOOL} -A` refuses it: {what}")]
    Refused {
        /// The archive.
        path: PathBuf,
        /// What the tool says last.
        what: String,
    },
}

/// Prints `path` if it is the anchor file of an OTF2 archive; `None` for any other file.
///
/// # Errors
/// When there is no `otf2-print` on the path, no room for the text, or the archive is damaged.
pub fn print(path: &Path) -> Result<Option<Printed>, PrintError> {
    let mut beginning = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut beginning));
    // A file that cannot be read is the reader's to report.
    if opened.is_err() || beginning != MAGIC {
        return Ok(None);
    }
    let failed = |cause| PrintError::Io { path: path.to_owned(), cause };
    let folder = tempfile::tempdir().map_err(failed)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let text = folder.path().join(format!("{stem}.otf2-print.txt"));
    tool::print(TOOL, &["-A".as_ref(), "--".as_ref(), path.as_os_str()], &text).map_err(|failure| match failure {
        Failure::Io(cause) => failed(cause),
        Failure::Refused(what) => PrintError::Refused { path: path.to_owned(), what },
    })?;
    Ok(Some(Printed { _folder: folder, path: text }))
}
