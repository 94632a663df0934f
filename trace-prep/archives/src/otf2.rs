//! OTF2 archives, read as the text that their own tool prints.

use std::io;
use std::path::{Path, PathBuf};

use trgen::trace::formats::is_anchor;

use crate::tool::{self, Failure};

pub use crate::tool::{Misread, Printed};

/// The tool of the OTF2 library that prints an archive.
const TOOL: &str = "otf2-print";
/// The command with which the user can print an archive.
const COMMAND: &str = "otf2-print -A ARCHIVE.otf2";

/// An archive cannot be printed.
#[derive(Debug, thiserror::Error)]
pub enum PrintError {
    /// The tool cannot be run: it is missing (`ErrorKind::NotFound`), or not usable.
    #[error("{path}: `{TOOL}`, which prints an OTF2 archive, cannot be run: {cause}")]
    NotRun {
        /// The archive.
        path: PathBuf,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The tool rejected the archive.
    #[error("{path}: `{TOOL} -A` refuses it: {what}")]
    Refused {
        /// The archive.
        path: PathBuf,
        /// The last message of the tool.
        what: String,
    },
    /// The text cannot be stored, for example because the disk is full.
    #[error("the scratch files for `{TOOL}` cannot be written: {0}")]
    Scratch(io::Error),
}

/// The anchor file of an archive: `path` itself, or the only one in the folder `path`, as Score-P writes it; `None` if
/// there is none.
#[must_use]
pub fn anchor(path: &Path) -> Option<PathBuf> {
    if !path.is_dir() {
        return is_anchor(path).then(|| path.to_owned());
    }
    let files = std::fs::read_dir(path).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut anchors = files.filter(|file| file.extension().is_some_and(|suffix| suffix == "otf2") && is_anchor(file));
    anchors.next().filter(|_| anchors.next().is_none())
}

/// Prints `path` if it is the anchor file of an OTF2 archive, or the folder of one; `None` for any other file.
///
/// # Errors
/// When `otf2-print` is not on the path, the text cannot be stored, or the archive is damaged.
pub fn print(path: &Path) -> Result<Option<Printed>, PrintError> {
    // An unreadable file is left for the reader to report.
    let Some(anchor) = anchor(path) else { return Ok(None) };
    let path = &*anchor;
    let printed = Printed::new(TOOL, COMMAND, path).map_err(PrintError::Scratch)?;
    let arguments = ["-A".as_ref(), "--".as_ref(), path.as_os_str()];
    tool::print(TOOL, &arguments, printed.path()).map_err(|failure| match failure {
        Failure::NotRun(cause) => PrintError::NotRun { path: path.to_owned(), cause },
        Failure::Refused(what) => PrintError::Refused { path: path.to_owned(), what },
        Failure::Scratch(cause) => PrintError::Scratch(cause),
    })?;
    Ok(Some(printed))
}
