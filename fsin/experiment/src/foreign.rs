//! Configurations of other simulators, which are read where an experiment is.

use std::path::Path;

use super::meaning::{Meaning, Refusal};
use super::{booksim, hpcc};

/// The simulators whose configurations are read, as `fsin import` names them, each with its test of a text.
const SIMULATORS: [(&str, fn(&str) -> bool); 2] = [("booksim", booksim::is_config), ("hpcc", hpcc::is_config)];

/// The simulator whose configuration a text is, as `fsin import` names it; `None` for any other text.
#[must_use]
pub fn simulator_of(text: &str) -> Option<&'static str> {
    SIMULATORS.iter().find(|(_, is_config)| is_config(text)).map(|&(name, _)| name)
}

/// What a configuration in a folder means; `None` if the text is none.
///
/// # Errors
/// Everything in it that cannot be taken, in the order of the text.
pub(super) fn meaning(text: &str, folder: &Path) -> Option<Result<Meaning, Vec<Refusal>>> {
    match simulator_of(text)? {
        "booksim" => Some(booksim::meaning(text, &|file| folder.join(file).exists())),
        _ => Some(hpcc::meaning(text, &|file| hpcc::found(folder, file))),
    }
}
