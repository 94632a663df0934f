//! Words of lines, for formats that consist of lines of words.

use std::str::FromStr;

use trgen::catalog::SpecError;

use super::super::attribute::short;
use super::super::statement::{Places, Word};
use super::{malformed, word};

/// By line that is not empty: its words. `#` begins a comment. Lines are taken one by one, since words take more memory
/// than their text.
pub(super) fn words(text: &str) -> impl Iterator<Item = Vec<Word<'_>>> {
    let mut begin = 0;
    let of_line = move |line| {
        begin += str::len(line);
        words_of(line, begin - line.len())
    };
    text.split_inclusive('\n').map(of_line).filter(|words| !words.is_empty())
}

/// The words of a line that begins at an offset.
pub(in super::super) fn words_of(line: &str, begin: usize) -> Vec<Word<'_>> {
    let code = line.split('#').next().unwrap_or("");
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(skipped) = code[at..].find(|letter: char| !letter.is_whitespace()) {
        let rest = &code[at + skipped..];
        let text = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        words.push(word(text, begin + at + skipped));
        at += skipped + text.len();
    }
    words
}

/// A word as a number.
///
/// # Errors
/// Another word, with its place.
pub(super) fn number<T: FromStr>(places: &Places<'_>, word: &Word<'_>, what: &str, form: &str) -> Result<T, SpecError> {
    word.text.parse().map_err(|_| malformed(places, word.at, format!("`{}` is not {what}", short(&word.text)), form))
}
