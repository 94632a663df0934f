//! DUMPI traces, by way of the text that their own tool prints, one rank after another.

use std::fs::{self, File};
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use trgen::trace::formats::{DumpiBinaries, ReadError, dumpi_binaries};

use crate::tool::{self, Failure};

/// The tool of the DUMPI library.
const TOOL: &str = "dumpi2ascii";

/// A trace as text, in a folder that goes with this value.
#[derive(Debug)]
pub struct Printed {
    _scratch: TempDir,
    folder: PathBuf,
}

impl Printed {
    /// The folder, which holds a text for each rank and nothing else.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// A trace cannot be printed.
#[derive(Debug, thiserror::Error)]
pub enum PrintError {
    /// Its files cannot be read, are not complete, or are those of several traces.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The tool is not there, or there is no room for the text.
    #[error("{place}: rank {rank} of a DUMPI trace, which `{TOOL}` prints: {cause}")]
    Io {
        /// The file of the rank.
        place: String,
        /// The rank.
        rank: usize,
        /// What the operating system says.
        cause: io::Error,
    },
    /// The tool refused a file.
    #[error("{place}: `{TOOL}` refuses rank {rank}: {what}")]
    Refused {
        /// The file of the rank.
        place: String,
        /// The rank.
        rank: usize,
        /// What the tool says last.
        what: String,
    },
}

/// Prints the DUMPI trace that `path` means (see [`dumpi_binaries`]); `None` where there is none in binary form.
///
/// # Errors
/// When the trace is not complete, there is no `dumpi2ascii` on the path, no room for the text, or a file is damaged.
pub fn print(path: &Path) -> Result<Option<Printed>, PrintError> {
    let Some(binaries) = dumpi_binaries(path)? else { return Ok(None) };
    let failed = |cause| PrintError::Io { place: path.display().to_string(), rank: 0, cause };
    let scratch = tempfile::tempdir().map_err(failed)?;
    let folder = scratch.path().join(binaries.name());
    fs::create_dir(&folder).map_err(failed)?;
    let copy = scratch.path().join("rank.bin");
    binaries.visit(|rank, place, bytes| -> Result<(), PrintError> {
        let text = folder.join(format!("{}-{rank:04}.txt", binaries.name()));
        print_rank(&binaries, rank, bytes, &copy, &text).map_err(|failure| {
            let place = place.to_string();
            match failure {
                Failure::Io(cause) => PrintError::Io { place, rank, cause },
                Failure::Refused(what) => PrintError::Refused { place, rank, what },
            }
        })
    })?;
    Ok(Some(Printed { _scratch: scratch, folder }))
}

/// Prints one rank: its file, or what an archive holds of it, which is copied first.
fn print_rank(
    binaries: &DumpiBinaries,
    rank: usize,
    bytes: &mut dyn BufRead,
    copy: &Path,
    text: &Path,
) -> Result<(), Failure> {
    let file = match binaries.on_disk(rank) {
        // A name that begins with `-` must not be taken for an option.
        Some(file) => std::path::absolute(file).map_err(Failure::Io)?,
        None => {
            let mut out = File::create(copy).map_err(Failure::Io)?;
            io::copy(bytes, &mut out).map_err(Failure::Io)?;
            copy.to_owned()
        }
    };
    tool::print(TOOL, &[file.as_os_str()], text)
}
