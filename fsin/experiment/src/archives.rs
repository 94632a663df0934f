//! Opening of traces: archives of other tools, and compressed files, with the feature `archives`.

use std::path::Path;

use trgen::trace::formats::{Application, ReadOptions};

use super::trouble::Trouble;

/// Reads a trace; without the feature, archives are refused with the command that prints or unpacks them.
///
/// # Errors
/// A trace that cannot be read.
#[cfg(not(feature = "archives"))]
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Application, Trouble> {
    Ok(trgen::trace::formats::open(path, options)?)
}

/// Reads a trace, or the text that its own tool prints.
///
/// # Errors
/// A trace that cannot be read; a tool that is missing or rejects the trace.
#[cfg(feature = "archives")]
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Application, Trouble> {
    use fsin_archives::OpenError;

    fsin_archives::open(path, options).map_err(|error| match error {
        OpenError::Read(error) => Trouble::Trace(error),
        OpenError::Printed { what, remedy, no_room } => Trouble::Unprinted { what, remedy, no_room },
    })
}
