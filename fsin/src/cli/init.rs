//! `fsin init`: an example experiment.

use clap::ArgMatches;

use super::output::Document;
use super::{Complaint, Exit};

/// It runs in seconds and gives a meaningful page, which tests check.
const EXPERIMENT: &str = include_str!("init.toml");

/// Prints the experiment.
pub(crate) fn init(matches: &ArgMatches) -> Result<Exit, Complaint> {
    Document::open(matches)?.print(EXPERIMENT)?;
    Ok(Exit::Done)
}
