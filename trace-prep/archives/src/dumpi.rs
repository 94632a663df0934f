//! Binary DUMPI traces, read as the text that their own tool prints, one rank after another.

use std::fs::{self, File};
use std::io::{self, BufRead, ErrorKind, Write};
use std::path::Path;

use trgen::trace::formats::{DumpiBinaries, Fault, Place, ReadError, dumpi_binaries};

use crate::tool::{self, Failure};

pub use crate::tool::{Misread, Printed};

/// The tool of the DUMPI library that prints a trace.
const TOOL: &str = "dumpi2ascii";
/// The command with which the user can print a trace.
const COMMAND: &str = "dumpi2ascii NAME-0000.bin";

/// A trace cannot be printed.
#[derive(Debug, thiserror::Error)]
pub enum PrintError {
    /// Its files cannot be read, are incomplete, or belong to several traces.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The tool cannot be run: it is missing (`ErrorKind::NotFound`), or not usable.
    #[error("{place}: `{TOOL}`, which prints rank {rank} of a DUMPI trace, cannot be run: {cause}")]
    NotRun {
        /// The file of the rank.
        place: String,
        /// The rank.
        rank: usize,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The tool rejected a file.
    #[error("{place}: `{TOOL}` refuses rank {rank}: {what}")]
    Refused {
        /// The file of the rank.
        place: String,
        /// The rank.
        rank: usize,
        /// The last message of the tool.
        what: String,
    },
    /// The text cannot be stored, for example because the disk is full.
    #[error("the scratch files for `{TOOL}` cannot be written: {0}")]
    Scratch(io::Error),
}

/// Prints the DUMPI trace to which `path` refers (see [`dumpi_binaries`]); `None` if there is none in binary form.
///
/// # Errors
/// When the trace is incomplete, `dumpi2ascii` is not on the path, the text cannot be stored, or a file is damaged.
pub fn print(path: &Path) -> Result<Option<Printed>, PrintError> {
    let Some(binaries) = dumpi_binaries(path)? else { return Ok(None) };
    let mut printed = Printed::new(TOOL, COMMAND, path).map_err(PrintError::Scratch)?;
    fs::create_dir(printed.path()).map_err(|cause| PrintError::Scratch(tool::with_path(printed.path(), cause)))?;
    let copy = printed.beside("rank.bin");
    binaries.visit(|rank, place, bytes| {
        let text = printed.file(&format!("rank-{rank:04}.txt"), place);
        print_rank(&binaries, rank, place, bytes, &copy, &text)
    })?;
    Ok(Some(printed))
}

/// Prints one rank into the file `text`: from its own file, or from `copy` if the rank is in an archive.
fn print_rank(
    binaries: &DumpiBinaries,
    rank: usize,
    place: &Place,
    bytes: &mut dyn BufRead,
    copy: &Path,
    text: &Path,
) -> Result<(), PrintError> {
    let file = match binaries.on_disk(rank) {
        // A name that begins with `-` must not be taken for an option.
        Some(file) => std::path::absolute(file).map_err(|cause| place.error(Fault::Io(cause)))?,
        None => {
            unpack(place, bytes, copy)?;
            copy.to_owned()
        }
    };
    tool::print(TOOL, &[file.as_os_str()], text).map_err(|failure| {
        let place = place.to_string();
        match failure {
            Failure::NotRun(cause) => PrintError::NotRun { place, rank, cause },
            Failure::Refused(what) => PrintError::Refused { place, rank, what },
            Failure::Scratch(cause) => PrintError::Scratch(cause),
        }
    })
}

/// Copies `bytes`, which come from `place`, to the file `copy`; errors of reading and of writing are kept apart.
fn unpack(place: &Place, bytes: &mut dyn BufRead, copy: &Path) -> Result<(), PrintError> {
    let scratch = |cause| PrintError::Scratch(tool::with_path(copy, cause));
    let mut out = File::create(copy).map_err(scratch)?;
    loop {
        let read = match bytes.fill_buf() {
            Ok([]) => return Ok(()),
            Ok(read) => {
                out.write_all(read).map_err(scratch)?;
                read.len()
            }
            Err(cause) if cause.kind() == ErrorKind::Interrupted => 0,
            Err(cause) => return Err(place.error(Fault::Io(cause)).into()),
        };
        bytes.consume(read);
    }
}
