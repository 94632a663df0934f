//! Words of lines, for formats that consist of lines of words.

use std::str::FromStr;

use trgen::catalog::SpecError;

use super::malformed;
use fsin_core::topology::graph::{Places, Word, short, words_of};

/// By line that is not empty: its words. `#` begins a comment. Lines are taken one by one, since words take more memory
/// than their text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Vec<Word<'_>>> {
    let mut begin = 0;
    let of_line = move |line| {
        begin += str::len(line);
        words_of(line, begin - line.len())
    };
    text.split_inclusive('\n').map(of_line).filter(|words| !words.is_empty())
}

/// A word as a number.
///
/// # Errors
/// Another word, with its place.
pub(crate) fn number<T: FromStr>(places: &Places<'_>, word: &Word<'_>, what: &str, form: &str) -> Result<T, SpecError> {
    word.text.parse().map_err(|_| malformed(places, word.at, format!("`{}` is not {what}", short(&word.text)), form))
}
