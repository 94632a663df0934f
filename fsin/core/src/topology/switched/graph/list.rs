//! Lists of links: `A B` a line, with attributes behind it.
//!
//! `A B` is a link both ways, `A -> B` one direction of a link, `A endpoints 2` says something of a node. Attributes
//! are words and their values: `A B rate 10Gb/s delay 4us`. `#` begins a comment.

use trgen::catalog::{ErrorKind, SpecError};

use super::attribute::{refusal, short};
use super::description::Description;
use super::format::FORMATS;
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
        let line = line?;
        line.iter().try_for_each(|word| own(&to.reading().places, word))?;
        state(&line, to)?;
    }
    Ok(())
}

/// Characters that no word of a list has: they belong to formats that have a grammar. Without this, the first line of
/// `graph {` would be a link between two nodes, for a program that knows lists alone.
const OF_OTHERS: [char; 7] = ['{', '}', ';', '"', '<', '>', '='];

/// Refuses a word that no list has.
fn own(places: &Places<'_>, word: &Word<'_>) -> Result<(), SpecError> {
    match word.text.contains(OF_OTHERS) && word.text != "->" {
        true => Err(foreign(places, word, "is no word of a list of links")),
        false => Ok(()),
    }
}

/// Refuses a name of a node without a letter or digit.
fn name(places: &Places<'_>, word: &Word<'_>) -> Result<(), SpecError> {
    match word.text.contains(char::is_alphanumeric) {
        true => Ok(()),
        false => Err(foreign(places, word, "is no name of a node in a list of links")),
    }
}

/// The refusal of a text that may be of another format.
fn foreign(places: &Places<'_>, word: &Word<'_>, what: &str) -> SpecError {
    let remedy = match FORMATS.rows().len() {
        1 => format!("{FORM}; formats of other tools are read after `fsin_networks::install()`"),
        _ => FORM.to_owned(),
    };
    refusal(places, word.at, ErrorKind::Malformed, format!("`{}` {what}", short(&word.text)), remedy)
}

/// States a line, which has a word.
fn state(words: &[Word<'_>], to: &mut Description<'_>) -> Result<(), SpecError> {
    let [first, rest @ ..] = words else { return Ok(()) };
    let places = &to.reading().places;
    let (is_directed, rest) = match rest {
        [] => return Err(malformed(places, first, "a node without a link")),
        [key, ..] if OF_NODES.contains(&&*key.text) => {
            name(places, first)?;
            return to.node(first, &attributes(places, rest)?).map(|_| ());
        }
        [mark, rest @ ..] if mark.text == "->" || mark.text == "--" => (mark.text == "->", rest),
        rest => (false, rest),
    };
    let [other, rest @ ..] = rest else { return Err(malformed(places, first, "a link to no node")) };
    name(places, first)?;
    name(places, other)?;
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::super::network;

    /// Files of other formats, as a program sees them that knows lists alone.
    #[test]
    fn other_formats_are_no_links() {
        for text in [
            "graph { a -- b -- c -- a }",
            "graph {\n  a -- b;\n}\n",
            "strict digraph x {\n  a -> b\n}\n",
            "graph [\n  node [\n    id 0\n  ]\n]\n",
            "{\n  \"nodes\": []\n}\n",
            "<graphml>\n  <graph id=\"G\">\n",
            "SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\n",
            "NODES (\n  a ( 1 2 )\n)\n",
            "Switch 36 \"S-0002c9\" # switch\n",
        ] {
            let refusal = network(text, "graph:x".to_owned(), None).unwrap_err();
            let words = format!("{refusal}: {}", refusal.remedy());
            assert!(words.contains("line 1") || words.contains(":1"), "{text}: {words}");
            assert!(words.contains("fsin_networks::install()"), "{text}: {words}");
        }
        assert!(network("h[0] s-1\ns-1 10.0.0.2:4 delay 3\n", "graph:x".to_owned(), None).is_ok());
    }
}
