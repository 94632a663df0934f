//! Opens a trace of any format, including archives of OTF2 and binary DUMPI, which their own tool must print first.
//!
//! Decision: docs/decisions/0180-opening-of-traces.md.

pub mod dumpi;
pub mod otf2;
pub mod scratch;
mod tool;

use std::io::{self, ErrorKind};
use std::path::Path;

use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::trace::formats::{self, Application, Fault, ReadError, ReadOptions};

/// A trace cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The reader of its format rejects the trace.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The tool of its format did not print the trace, or the text cannot be read.
    #[error("{what}")]
    Printed {
        /// The fault.
        what: String,
        /// The remedy.
        remedy: Phrase,
        /// True if the trace itself is not at fault: the text could not be stored.
        no_room: bool,
    },
}

/// Reads a trace, or the text that its own tool prints. For an OTF2 archive, give its anchor file; for DUMPI, a path
/// that identifies the binary files.
///
/// # Errors
/// A trace that cannot be read; a tool that is missing or rejects the trace.
pub fn open(path: &Path, options: &ReadOptions) -> Result<Application, OpenError> {
    let printed = match otf2::print(path)? {
        Some(printed) => printed,
        None => match formats::open(path, options) {
            Err(error) if matches!(*error.fault, Fault::Unprinted { .. }) => dumpi::print(path)?.ok_or(error)?,
            opened => return Ok(opened?),
        },
    };
    Ok(formats::open(printed.path(), options).map_err(|error| printed.misread(error))?)
}

impl From<tool::Misread> for OpenError {
    fn from(misread: tool::Misread) -> Self {
        Self::Printed { what: misread.to_string(), remedy: misread.remedy, no_room: false }
    }
}

impl From<otf2::PrintError> for OpenError {
    fn from(error: otf2::PrintError) -> Self {
        use otf2::PrintError;
        let what = error.to_string();
        match error {
            PrintError::NotRun { cause, .. } => {
                let first = start_remedy(&cause, "install the tools of OTF2 (Debian: otf2-tools)");
                let remedy = format!("{first}, or print it elsewhere: otf2-print -A FILE > TRACE.txt");
                Self::Printed { what, remedy: remedy.into(), no_room: false }
            }
            PrintError::Refused { .. } => Self::Printed { what, remedy: REFUSED.into(), no_room: false },
            PrintError::Scratch(_) => Self::Printed { what, remedy: NO_ROOM.into(), no_room: true },
        }
    }
}

impl From<dumpi::PrintError> for OpenError {
    fn from(error: dumpi::PrintError) -> Self {
        use dumpi::PrintError;
        let what = error.to_string();
        match error {
            PrintError::Read(error) => error.into(),
            PrintError::NotRun { cause, .. } => {
                let first = start_remedy(&cause, "install the tools of DUMPI (sst-dumpi)");
                let elsewhere = "or print each rank elsewhere: dumpi2ascii NAME-0000.bin > NAME-0000.txt and so on; the \
                                 folder of the texts can be imported";
                Self::Printed { what, remedy: phrase!["{first}, {elsewhere}"], no_room: false }
            }
            PrintError::Refused { .. } => Self::Printed { what, remedy: REFUSED.into(), no_room: false },
            PrintError::Scratch(_) => Self::Printed { what, remedy: NO_ROOM.into(), no_room: true },
        }
    }
}

/// Remedy for a trace that its tool rejects.
const REFUSED: &str = "the file may be damaged or cut short, or the tool older than it: print it by hand to see more";
/// Remedy for a text that cannot be stored.
const NO_ROOM: &str = "make room there, or set TMPDIR to a folder where you may write, with room";

/// The remedy for a tool that cannot be run: `install` if it is missing.
fn start_remedy(cause: &io::Error, install: &'static str) -> &'static str {
    match cause.kind() {
        ErrorKind::NotFound => install,
        _ => "see to it that the tool on your PATH can be run",
    }
}
