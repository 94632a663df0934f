//! Syntaxes of other tools: each is a file that turns a text into [statements](super::statement), which
//! [`super::network`] alone gives a meaning.
//!
//! A format is known by how its text begins ([`reader`]), whatever the name of the file.
//!
//! Decision: docs/decisions/0190-formats-of-networks.md.

mod anynet;
mod csv;
mod edge_list;
mod gml;
mod graphml;
mod htsim;
mod json;
mod lines;
mod ns3;
pub(super) mod simgrid;
mod zoo;

use std::borrow::Cow;

use trgen::catalog::{ErrorKind, SpecError};

use super::attribute::refusal;
use super::statement::{Attributes, Edge, End, Graph, Places, Statement, Word};

/// Reads a text as the statements of a graph.
pub(super) type Reader = for<'a> fn(&'a str, &Places<'_>) -> Result<Graph<'a>, SpecError>;

/// A format: whether a text begins as it does, and how it is read.
struct Format {
    begins: fn(&str) -> bool,
    read: Reader,
}

/// All formats; the first that a text begins as reads it.
const FORMATS: &[Format] = &[
    Format { begins: graphml::begins, read: graphml::parse },
    Format { begins: json::begins, read: json::parse },
    Format { begins: gml::begins, read: gml::parse },
    Format { begins: htsim::begins, read: htsim::parse },
    Format { begins: ns3::begins, read: ns3::parse },
    Format { begins: anynet::begins, read: anynet::parse },
    Format { begins: csv::begins, read: csv::parse },
    Format { begins: edge_list::begins, read: edge_list::parse },
];

/// The reader of a text; `None` for a text of none of these formats.
pub(super) fn reader(text: &str) -> Option<Reader> {
    FORMATS.iter().find(|format| (format.begins)(text)).map(|format| format.read)
}

/// Formats of graphs that are not read: how they begin, and their names.
const FOREIGN: &[(&str, &str)] = &[
    ("*vertices", "a network of Pajek"),
    ("*network", "a network of Pajek"),
    ("<gexf", "GEXF"),
    (">>graph6<<", "graph6"),
    (">>sparse6<<", "sparse6"),
    ("<graphviz", "XML of Graphviz"),
];

/// Refuses a text of a known format that is not read.
///
/// # Errors
/// A text that begins as one of them.
pub(super) fn check_not_foreign(text: &str, places: &Places<'_>) -> Result<(), SpecError> {
    // A declaration of XML, which others have too.
    let begin = text.trim_start();
    let begin =
        if begin.starts_with("<?") { begin.split_once("?>").map_or("", |(_, rest)| rest).trim_start() } else { begin };
    let word = begin.get(..begin.len().min(12)).unwrap_or("").to_ascii_lowercase();
    let found = FOREIGN.iter().find(|(begin, _)| word.starts_with(begin));
    found.map_or(Ok(()), |(_, name)| {
        let what = format!("this is {name}, which is not read");
        let remedy = "write it as GraphML, as networkx does: nx.write_graphml(G, \"net.graphml\")";
        Err(malformed(places, text.len() - begin.len(), what, remedy))
    })
}

/// Statements under construction.
#[derive(Default)]
struct Builder<'a> {
    statements: Vec<Statement<'a>>,
}

impl<'a> Builder<'a> {
    fn node(&mut self, name: Word<'a>, attributes: Attributes<'a>) {
        self.statements.push(Statement::Node(name, attributes));
    }

    fn edge(&mut self, [one, other]: [Word<'a>; 2], is_directed: bool, attributes: Attributes<'a>) {
        let ends = vec![End::Node(one), End::Node(other)];
        self.statements.push(Statement::Edge(Edge { ends, is_directed, attributes }));
    }

    fn graph(self) -> Graph<'a> {
        Graph { is_strict: false, statements: self.statements }
    }
}

/// A word that stands at an offset, as it is or as it is meant.
fn word<'a>(text: impl Into<Cow<'a, str>>, at: usize) -> Word<'a> {
    Word { text: text.into(), at }
}

/// An attribute that a format implies; errors name the place `at`.
fn implied<'a>(key: &'static str, value: impl Into<Cow<'a, str>>, at: usize) -> (Word<'a>, Word<'a>) {
    (word(key, at), word(value, at))
}

/// The error of a text of another form than its format has.
fn malformed(places: &Places<'_>, at: usize, what: impl std::fmt::Display, remedy: &str) -> SpecError {
    refusal(places, at, ErrorKind::Malformed, what, remedy)
}

#[cfg(test)]
mod tests;
