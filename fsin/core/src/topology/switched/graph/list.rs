//! Lists of links: `A B` a line, with attributes behind it.
//!
//! `A B` is a link both ways, `A -> B` one direction of a link, `A endpoints 2` says something of a node. Attributes
//! are words and their values: `A B rate 10Gb/s delay 4us`. `#` begins a comment.

use trgen::catalog::{ErrorKind, SpecError};

use super::attribute::{refusal, short};
use super::description::Description;
use super::lines::words;
use super::statement::{Attributes, Places, Word};

/// Words of a line after a node that are attributes of it, and not another node.
const OF_NODES: &[&str] = &["endpoints", "kind"];

/// The form of lines, as errors state it.
const FORM: &str = "write `A B` for a link both ways, `A B delay 5`, `A -> B delay 4us` for one direction, `A endpoints 2`, or a \
                    comment after #";

/// States a list.
///
/// # Errors
/// A line of another form, with its place.
pub(super) fn parse(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    for line in words(text, &to.reading().places) {
        state(&line?, to)?;
    }
    Ok(())
}

/// States a line, which has a word.
fn state(words: &[Word<'_>], to: &mut Description<'_>) -> Result<(), SpecError> {
    let [first, rest @ ..] = words else { return Ok(()) };
    let places = &to.reading().places;
    let (is_directed, rest) = match rest {
        [] => return Err(malformed(places, first, "a node without a link")),
        [key, ..] if OF_NODES.contains(&&*key.text) => {
            return to.node(first, &attributes(places, rest)?).map(|_| ());
        }
        [mark, rest @ ..] if mark.text == "->" || mark.text == "--" => (mark.text == "->", rest),
        rest => (false, rest),
    };
    let [other, rest @ ..] = rest else { return Err(malformed(places, first, "a link to no node")) };
    to.edge([first, other], is_directed, &attributes(places, rest)?)
}

fn malformed(places: &Places<'_>, word: &Word<'_>, what: &str) -> SpecError {
    let what = format!("`{}`: {what}", short(&word.text));
    refusal(places, word.at, ErrorKind::Malformed, what, FORM)
}

/// Words and their values.
fn attributes<'a>(places: &Places<'_>, words: &[Word<'a>]) -> Result<Attributes<'a>, SpecError> {
    let pairs = words.chunks(2).map(|pair| match pair {
        [key, value] => Ok((key.clone(), value.clone())),
        _ => Err(malformed(places, &pair[0], "an attribute without a value")),
    });
    pairs.collect()
}
