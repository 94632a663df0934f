//! Words of lines.

use std::borrow::Cow;

use super::statement::Word;

/// The words of a line that begins at an offset. `#` begins a comment.
#[must_use]
pub fn words_of(line: &str, begin: usize) -> Vec<Word<'_>> {
    let code = line.split('#').next().unwrap_or("");
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(skipped) = code[at..].find(|letter: char| !letter.is_whitespace()) {
        let rest = &code[at + skipped..];
        let text = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        words.push(Word { text: Cow::Borrowed(text), at: begin + at + skipped });
        at += skipped + text.len();
    }
    words
}
