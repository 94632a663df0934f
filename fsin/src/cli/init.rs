//! `fsin init`: an experiment to begin with.

use super::{Complaint, Exit, output};

/// Runs in seconds, and makes a page worth showing: tests hold it.
const EXPERIMENT: &str = include_str!("init.toml");

/// Prints the experiment.
pub(crate) fn init() -> Result<Exit, Complaint> {
    output::print_text(EXPERIMENT)?;
    Ok(Exit::Done)
}
