//! `fsin schema`: the documented form of results.

use clap::ArgMatches;
use fsin::result::{schema as of_results, write_pretty};

use crate::cli::output::Document;
use crate::cli::{Complaint, Exit};

/// Prints the JSON Schema of the result of a run.
pub(crate) fn schema(matches: &ArgMatches) -> Result<Exit, Complaint> {
    Document::open(matches)?.write(&mut |out| write_pretty(&of_results(), out))?;
    Ok(Exit::Done)
}
