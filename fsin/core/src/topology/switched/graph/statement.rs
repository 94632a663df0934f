//! The statements of a description, whatever its syntax: the tree that every reader of graphs builds and that
//! `network` alone gives a meaning.

use std::borrow::Cow;
use std::sync::Arc;

use trgen::catalog::{ErrorKind, SpecError};

use super::super::links::Place;
use super::super::platform::Routes;
use super::attribute::refusal;
use super::network::MAX_LINKS;

/// Maximum number of nodes that a description names: endpoints and switches.
const MAX_NODES: usize = 1 << 20;

/// A word of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word<'a> {
    /// Without its quotation marks.
    pub text: Cow<'a, str>,
    /// \[bytes\] Offset in the text.
    pub at: usize,
}

/// Names and values in their order.
pub type Attributes<'a> = Vec<(Word<'a>, Word<'a>)>;

/// Traffic: source, destination, and a value of 0 or more.
pub type Demand<'a> = (Word<'a>, Word<'a>, f64);

/// A description.
#[derive(Debug, Default)]
pub struct Graph<'a> {
    /// True if at most one edge may join two nodes.
    pub is_strict: bool,
    /// What is said of it, in order.
    pub statements: Vec<Statement<'a>>,
    /// Traffic beside the network: names of source and destination, and the value.
    pub demands: Vec<Demand<'a>>,
    /// \[b/s\] What a demand of 1 stands for; `None` if the text does not say.
    pub demand_unit: Option<f64>,
    /// Routes that are stated link by link, and why no graph has them, if none has.
    pub platform: Option<(Arc<dyn Routes>, Option<SpecError>)>,
    /// True if names are numbers by which lists of flows name nodes.
    pub is_numbered: bool,
}

/// A statement of a graph.
#[derive(Debug)]
pub enum Statement<'a> {
    /// A node, with its attributes.
    Node(Word<'a>, Attributes<'a>),
    /// Edges.
    Edge(Edge<'a>),
    /// Defaults for later items of a kind, or attributes of the graph itself.
    Defaults(Item, Attributes<'a>),
    /// A subgraph, as its statements.
    Subgraph(Vec<Statement<'a>>),
}

/// Refuses statements beyond those of any network, before they take more memory; `at` is the offset of the last one.
///
/// # Errors
/// More statements than a network has nodes and links.
pub fn check_count(statements: &[Statement<'_>], at: usize, places: &Places<'_>) -> Result<(), SpecError> {
    if statements.len() <= MAX_LINKS + MAX_NODES {
        return Ok(());
    }
    let what = format!("more than {MAX_LINKS} links and {MAX_NODES} nodes");
    Err(refusal(places, at, ErrorKind::TooLarge, what, "use a smaller network"))
}

/// Two ends or more, each linked with the next one.
#[derive(Debug)]
pub struct Edge<'a> {
    /// Its ends, in their order.
    pub ends: Vec<End<'a>>,
    /// True if the edge is one direction of a link.
    pub is_directed: bool,
    /// What is said of it.
    pub attributes: Attributes<'a>,
}

/// One end of an edge.
#[derive(Debug)]
pub enum End<'a> {
    /// A node.
    Node(Word<'a>),
    /// Each node of a subgraph.
    Subgraph(Vec<Statement<'a>>),
}

/// Kinds of items that have attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// A node.
    Node,
    /// An edge.
    Edge,
    /// The graph itself.
    Graph,
}

impl Item {
    /// The item in an error.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Node => "a node",
            Self::Edge => "an edge",
            Self::Graph => "a graph",
        }
    }
}

/// Offsets of lines, for places in errors.
#[derive(Clone, Debug)]
pub struct Places<'a> {
    text: &'a str,
    /// \[bytes\] By line: its offset.
    lines: Vec<usize>,
}

impl<'a> Places<'a> {
    /// The lines of a text.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        let after_newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
        Self { text, lines: std::iter::once(0).chain(after_newlines).collect() }
    }

    /// The line and column of an offset.
    #[must_use]
    pub fn of(&self, at: usize) -> Place {
        let line = self.lines.partition_point(|&begin| begin <= at).max(1);
        let begin = self.lines.get(line - 1).copied().unwrap_or(0);
        let before = self.text.get(begin..at).unwrap_or("");
        Place { line: line as u32, column: before.chars().count() as u32 + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_from_1() {
        let text = "é b\n\nxyz";
        let places = Places::new(text);
        let of = |at| (places.of(at).line, places.of(at).column);
        assert_eq!([of(0), of(2), of(4), of(5), of(8), of(99)], [(1, 1), (1, 2), (1, 4), (2, 1), (3, 3), (3, 1)]);
    }
}
