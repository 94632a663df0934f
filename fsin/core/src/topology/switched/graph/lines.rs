//! Words of lines, for formats that consist of lines of words.

use trgen::catalog::{ErrorKind, SpecError};

use super::attribute::refusal;
use super::statement::{Places, Word};

/// Maximum number of words of a line: more than any valid network needs. Words take more memory than their text.
const MOST: usize = 1 << 18;

/// By line that is not empty: its words, one line after the other. `#` begins a comment.
///
/// # Errors
/// For a line of too many words.
pub fn words<'a>(text: &'a str, places: &Places<'_>) -> impl Iterator<Item = Result<Vec<Word<'a>>, SpecError>> {
    let mut begin = 0;
    let of_line = move |line: &'a str| {
        let at = begin;
        begin += line.len();
        let words = words_of(line, at);
        if words.len() <= MOST {
            return Ok(words);
        }
        let what = format!("a line of more than {MOST} words");
        Err(refusal(places, at, ErrorKind::TooLarge, what, "write shorter lines"))
    };
    text.split_inclusive('\n').map(of_line).filter(|words| words.as_ref().map_or(true, |words| !words.is_empty()))
}

/// The words of a line that begins at an offset, or a few more of them than a line may have. `#` begins a comment.
#[must_use]
pub fn words_of(line: &str, begin: usize) -> Vec<Word<'_>> {
    let code = line.split('#').next().unwrap_or("");
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(skipped) = code[at..].find(|letter: char| !letter.is_whitespace())
        && words.len() <= MOST
    {
        let rest = &code[at + skipped..];
        let text = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        words.push(Word::new(text, begin + at + skipped));
        at += skipped + text.len();
    }
    words
}
