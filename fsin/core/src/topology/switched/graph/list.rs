//! Lists of links: `A B` a line, with attributes behind it.
//!
//! `A B` is a link both ways, `A -> B` one direction of a link, `A endpoints 2` says something of a node. Attributes
//! are words and their values: `A B rate 10Gb/s delay 4us`. `#` begins a comment.

use trgen::catalog::{ErrorKind, SpecError};

use super::attribute::{refusal, short};
use super::lines::words_of;
use super::reading::Reading;
use super::statement::{Attributes, Edge, End, Graph, Places, Statement, Word, check_count};

/// Words of a line after a node that are attributes of it, and not another node.
const OF_NODES: &[&str] = &["endpoints", "kind"];

/// The form of lines, as errors state it.
const FORM: &str = "write `A B` for a link both ways, `A B delay 5`, `A -> B delay 4us` for one direction, `A endpoints 2`, or a \
                    comment after #";

/// The statements of a list.
///
/// # Errors
/// A line of another form, with its place.
pub(super) fn parse<'a>(text: &'a str, of: &Reading<'_>) -> Result<Graph<'a>, SpecError> {
    let places = &of.places;
    let mut statements = Vec::new();
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        if let Some(statement) = statement(&words_of(line, begin), places)? {
            statements.push(statement);
            check_count(&statements, begin, places)?;
        }
        begin += line.len();
    }
    Ok(Graph { statements, ..Graph::default() })
}

/// The statement of a line; `None` for an empty one.
fn statement<'a>(words: &[Word<'a>], places: &Places<'_>) -> Result<Option<Statement<'a>>, SpecError> {
    let [first, rest @ ..] = words else { return Ok(None) };
    let malformed = |word: &Word<'_>, what: &str| {
        let what = format!("`{}`: {what}", short(&word.text));
        refusal(places, word.at, ErrorKind::Malformed, what, FORM)
    };
    let attributes = |words: &[Word<'a>]| -> Result<Attributes<'a>, SpecError> {
        let pairs = words.chunks(2).map(|pair| match pair {
            [key, value] => Ok((key.clone(), value.clone())),
            _ => Err(malformed(&pair[0], "an attribute without a value")),
        });
        pairs.collect()
    };
    let (is_directed, rest) = match rest {
        [] => return Err(malformed(first, "a node without a link")),
        [key, ..] if OF_NODES.contains(&&*key.text) => {
            return Ok(Some(Statement::Node(first.clone(), attributes(rest)?)));
        }
        [mark, rest @ ..] if mark.text == "->" || mark.text == "--" => (mark.text == "->", rest),
        rest => (false, rest),
    };
    let [other, rest @ ..] = rest else { return Err(malformed(first, "a link to no node")) };
    let ends = vec![End::Node(first.clone()), End::Node(other.clone())];
    Ok(Some(Statement::Edge(Edge { ends, is_directed, attributes: attributes(rest)? })))
}
