//! `fsin init`: an example experiment.

use clap::ArgMatches;

use super::output::Document;
use super::{Complaint, Exit};

/// The example. Tests check that it runs within seconds and gives a meaningful page.
const EXPERIMENT: &str = include_str!("init.toml");

/// Prints the example.
pub(crate) fn init(matches: &ArgMatches) -> Result<Exit, Complaint> {
    Document::open(matches)?.print(EXPERIMENT)?;
    Ok(Exit::Done)
}
