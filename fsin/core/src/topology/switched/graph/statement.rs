//! The statements of a description, whatever its syntax: the tree that every reader of graphs builds and that
//! [`super::network`] alone gives a meaning.

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
pub(super) struct Word<'a> {
    pub(super) text: Cow<'a, str>,
    /// \[bytes\] Offset in the text.
    pub(super) at: usize,
}

/// Names and values in their order.
pub(super) type Attributes<'a> = Vec<(Word<'a>, Word<'a>)>;

/// Traffic: source, destination, and a value of 0 or more.
pub(super) type Demand<'a> = (Word<'a>, Word<'a>, f64);

/// A description.
#[derive(Debug, Default)]
pub(super) struct Graph<'a> {
    /// True if at most one edge may join two nodes.
    pub(super) is_strict: bool,
    pub(super) statements: Vec<Statement<'a>>,
    /// Traffic beside the network: names of source and destination, and the value.
    pub(super) demands: Vec<Demand<'a>>,
    /// \[b/s\] What a demand of 1 stands for; `None` if the text does not say.
    pub(super) demand_unit: Option<f64>,
    /// Routes that are stated link by link, and why no graph has them, if none has.
    pub(super) platform: Option<(Arc<dyn Routes>, Option<SpecError>)>,
    /// True if names are numbers by which lists of flows name nodes.
    pub(super) is_numbered: bool,
}

/// A statement of a graph.
#[derive(Debug)]
pub(super) enum Statement<'a> {
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
pub(super) fn check_count(statements: &[Statement<'_>], at: usize, places: &Places<'_>) -> Result<(), SpecError> {
    if statements.len() <= MAX_LINKS + MAX_NODES {
        return Ok(());
    }
    let what = format!("more than {MAX_LINKS} links and {MAX_NODES} nodes");
    Err(refusal(places, at, ErrorKind::TooLarge, what, "use a smaller network"))
}

/// Two ends or more, each linked with the next one.
#[derive(Debug)]
pub(super) struct Edge<'a> {
    pub(super) ends: Vec<End<'a>>,
    /// True if the edge is one direction of a link.
    pub(super) is_directed: bool,
    pub(super) attributes: Attributes<'a>,
}

/// One end of an edge.
#[derive(Debug)]
pub(super) enum End<'a> {
    Node(Word<'a>),
    Subgraph(Vec<Statement<'a>>),
}

/// Kinds of items that have attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Item {
    Node,
    Edge,
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
pub(super) struct Places<'a> {
    text: &'a str,
    /// \[bytes\] By line: its offset.
    lines: Vec<usize>,
}

impl<'a> Places<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let after_newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
        Self { text, lines: std::iter::once(0).chain(after_newlines).collect() }
    }

    /// The line and column of an offset.
    pub(super) fn of(&self, at: usize) -> Place {
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
