//! `fsin init`: an experiment to begin with.

use clap::ArgMatches;

use super::output::Document;
use super::{Complaint, Exit};

/// Runs in seconds, and makes a page worth showing: tests hold it.
const EXPERIMENT: &str = include_str!("init.toml");

/// Prints the experiment.
pub(crate) fn init(matches: &ArgMatches) -> Result<Exit, Complaint> {
    Document::open(matches)?.print(EXPERIMENT)?;
    Ok(Exit::Done)
}
