//! Numbers in lines of words.

use std::str::FromStr;

use trgen::catalog::SpecError;

use super::malformed;
use fsin_core::topology::graph::{Places, Word, short};

/// A word as a number.
///
/// # Errors
/// Another word, with its place.
pub(crate) fn number<T: FromStr>(places: &Places<'_>, word: &Word<'_>, what: &str, form: &str) -> Result<T, SpecError> {
    word.text.parse().map_err(|_| malformed(places, word.at, format!("`{}` is not {what}", short(&word.text)), form))
}
