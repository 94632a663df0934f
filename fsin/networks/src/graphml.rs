//! GraphML: `key` elements declare attributes, `data` elements give their values.
//!
//! Format: Brandes, Eiglsperger, Herman, Himsolt, Marshall, GraphML progress report, GD 2001. Ports, hyperedges and
//! nested graphs are refused.

use std::collections::HashMap;

use roxmltree::{Document, Node};
use trgen::catalog::{ErrorKind, SpecError};

use super::{Builder, head, malformed, speeds, word};
use fsin_core::topology::graph::{Attributes, Graph, Places, Reading, refusal, short};

const FORM: &str = "write what networkx.write_graphml gives: <graphml>, a <key> for each attribute, <graph edgedefault=\"undirected\"> \
                    with <node id=\"s1\"/> and <edge source=\"s1\" target=\"s2\"> and <data key=\"d0\">";

/// True for XML whose outermost element is `graphml`.
pub(crate) fn begins(text: &str) -> bool {
    is_xml(text, "<graphml")
}

/// XML from its first element on, without declarations and comments before it; empty for another text.
pub(crate) fn root(text: &str) -> &str {
    if !text.trim_start().starts_with('<') {
        return "";
    }
    let mut rest = head(text);
    // `<!DOCTYPE x [<!ENTITY ...>]>`: declarations stand in each other.
    while rest.starts_with("<!") {
        rest = rest[1..].find('<').map_or("", |next| head(&rest[1 + next..]));
    }
    rest
}

/// True for XML whose first element has this tag.
pub(crate) fn is_xml(text: &str, tag: &str) -> bool {
    root(text).starts_with(tag)
}

/// Maximum depth of elements. The parser calls itself for each level.
const MAX_DEPTH: usize = 64;

/// A place of a text, as an offset, and what is wrong there.
type Fault = (usize, String);

/// The offsets of the elements that do not end.
///
/// # Errors
/// The first place at which elements are nested too deep, a tag does not end, or an entity is declared, which may hold
/// elements.
fn unclosed(text: &str) -> Result<Vec<usize>, Fault> {
    let (mut open, mut next) = (Vec::new(), 0);
    while let Some(at) = text[next..].find('<').map(|skipped| next + skipped) {
        let rest = &text[at..];
        let endless = |what: &str| (at, format!("{what} does not end"));
        // What ends by a word of its own, and holds no elements.
        let remark =
            [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")].iter().find(|(begin, _)| rest.starts_with(begin));
        if let Some((begin, end)) = remark {
            next = at + begin.len() + rest[begin.len()..].find(end).ok_or_else(|| endless(begin))?;
            continue;
        }
        let mut quote = None;
        let end = rest.char_indices().find(|&(_, letter)| match (quote, letter) {
            (Some(open), _) if letter == open => {
                quote = None;
                false
            }
            (None, '"' | '\'') => {
                quote = Some(letter);
                false
            }
            (None, '>') => true,
            _ => false,
        });
        // What does not end may hide what follows from this search, and not from the parser.
        let Some((end, _)) = end else { return Err(endless("a tag")) };
        next = at + end;
        let entity = || (at, "the file declares entities".to_owned());
        match () {
            // An internal subset of declarations, in which quotes and comments have rules of their own.
            () if rest.starts_with("<!DOCTYPE") && text[at..next].contains('[') => return Err(entity()),
            () if rest.starts_with("</") => drop(open.pop()),
            () if rest.starts_with("<!") && text[at..next].contains("<!ENTITY") => return Err(entity()),
            () if rest.starts_with("<!") || text[..next].ends_with('/') => {}
            () => open.push(at),
        }
        if open.len() > MAX_DEPTH {
            return Err((at, format!("elements are nested deeper than {MAX_DEPTH}")));
        }
    }
    Ok(open)
}

/// The document of a text.
pub(crate) fn document<'a>(text: &'a str, places: &Places<'_>) -> Result<Document<'a>, SpecError> {
    let open = unclosed(text).map_err(|(at, what)| {
        malformed(places, at, what, "write what describes a network alone, each tag with its `>`")
    })?;
    let close = "write an element that ends for each that begins";
    Document::parse_with_options(text, roxmltree::ParsingOptions { allow_dtd: true, nodes_limit: 1 << 22 }).map_err(
        |error| match (error, open.last()) {
            (roxmltree::Error::UnclosedRootNode, Some(&at)) => {
                let name = text[at + 1..].split(|letter: char| letter.is_whitespace() || letter == '>').next();
                malformed(places, at, format!("<{}> is not closed", short(name.unwrap_or_default())), close)
            }
            (error, _) => {
                let place = error.pos();
                let what = format!("line {}, column {}: not XML: {error}", place.row, place.col);
                SpecError::new(ErrorKind::Malformed, what, close)
            }
        },
    )
}

/// An attribute that a `key` declares.
struct Key {
    name: String,
    /// `node`, `edge`, `graph` or `all`.
    of: String,
    default: Option<String>,
}

/// The statements of a document.
pub(crate) fn parse<'a>(text: &'a str, of: &Reading<'_>) -> Result<Graph<'a>, SpecError> {
    let places = &of.places;
    let document = document(text, places)?;
    let root = document.root_element();
    let elements = |of: Node<'_, '_>, name: &'static str| {
        of.children().filter(move |child| child.has_tag_name_any(name)).map(|child| child.id()).collect::<Vec<_>>()
    };
    let element = |id| document.get_node(id).unwrap_or(root);
    let mut keys: HashMap<&str, Key> = HashMap::new();
    for key in elements(root, "key").into_iter().map(element) {
        let (Some(id), name) = (key.attribute("id"), key.attribute("attr.name")) else {
            return Err(malformed(places, key.range().start, "a key without its id", FORM));
        };
        let default = key.children().find(|child| child.has_tag_name_any("default"));
        let default = default.and_then(|child| child.text()).map(|text| text.trim().to_owned());
        let name = name.unwrap_or(id).to_owned();
        keys.insert(id, Key { name, of: key.attribute("for").unwrap_or("all").to_owned(), default });
    }
    let graphs = elements(root, "graph");
    let [graph] = graphs[..] else {
        return Err(malformed(places, 0, format!("{} graphs in the file", graphs.len()), "write one graph"));
    };
    let graph = element(graph);
    let directed = match graph.attribute("edgedefault") {
        None | Some("undirected") => false,
        Some("directed") => true,
        Some(other) => {
            let what = format!("edgedefault `{}`", short(other));
            return Err(malformed(places, graph.range().start, what, "write directed or undirected"));
        }
    };
    let attributes = |of: Node<'_, '_>, kind: &str| -> Result<Attributes<'a>, SpecError> {
        let mut given: Attributes<'a> = Vec::new();
        for child in of.children().filter(Node::is_element) {
            let at = child.range().start;
            if !child.has_tag_name_any("data") {
                let name = child.tag_name().name();
                let what = format!("<{}> in a {kind}", short(name));
                return Err(refusal(
                    places,
                    at,
                    ErrorKind::Unsupported,
                    what,
                    "leave it out: only <data> is read there",
                ));
            }
            let key = child.attribute("key").unwrap_or("");
            let declared = keys.get(key);
            let name = declared.ok_or_else(|| {
                malformed(places, at, format!("no <key> declares `{}`", short(key)), "declare the key of every <data>")
            })?;
            given.push((word(name.name.clone(), at), word(child.text().unwrap_or("").trim().to_owned(), at)));
        }
        let mut usual: Vec<(&&str, &Key)> =
            keys.iter().filter(|(_, key)| (key.of == kind || key.of == "all") && key.default.is_some()).collect();
        usual.sort_by_key(|(id, _)| **id);
        for (_, key) in usual {
            if !given.iter().any(|(name, _)| name.text == key.name) {
                let value = key.default.clone().unwrap_or_default();
                given.push((word(key.name.clone(), of.range().start), word(value, of.range().start)));
            }
        }
        given.retain(|(_, value)| !value.text.is_empty());
        Ok(given)
    };
    let mut builder = Builder::default();
    let mut known = std::collections::HashSet::new();
    let mut edges = Vec::new();
    for child in graph.children().filter(Node::is_element) {
        let at = child.range().start;
        match child.tag_name().name() {
            "node" => {
                let id = child.attribute("id").ok_or_else(|| malformed(places, at, "a node without its id", FORM))?;
                known.insert(id.to_owned());
                builder.node(word(id.to_owned(), at), attributes(child, "node")?);
            }
            "edge" => edges.push(child.id()),
            "data" => {}
            other => {
                let what = format!("<{}> in a graph", short(other));
                return Err(refusal(places, at, ErrorKind::Unsupported, what, "write nodes and edges alone"));
            }
        }
    }
    for edge in edges.into_iter().map(element) {
        let at = edge.range().start;
        let end = |name: &str| {
            let node = edge
                .attribute(name)
                .ok_or_else(|| malformed(places, at, format!("an edge without its {name}"), FORM))?;
            if known.contains(node) {
                return Ok(word(node.to_owned(), at));
            }
            Err(malformed(places, at, format!("an edge names `{}`, which is no node", short(node)), FORM))
        };
        let is_directed = edge.attribute("directed").map_or(directed, |given| given == "true");
        builder.edge([end("source")?, end("target")?], is_directed, speeds::plain(attributes(edge, "edge")?, of));
    }
    Ok(builder.graph())
}

/// Elements by their name, in whatever namespace.
trait Named {
    fn has_tag_name_any(&self, name: &str) -> bool;
}

impl Named for Node<'_, '_> {
    fn has_tag_name_any(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}
