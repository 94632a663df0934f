//! GraphML: `key` elements declare attributes, `data` elements give their values.
//!
//! Format: Brandes, Eiglsperger, Herman, Himsolt, Marshall, GraphML progress report, GD 2001. Ports, hyperedges and
//! nested graphs are refused.

use std::collections::HashMap;

use trgen::catalog::{ErrorKind, SpecError};

use super::xml::{Document, Node, is_xml};
use super::{MOST_ATTRIBUTES, malformed, speeds, word};
use fsin_core::topology::graph::{Attributes, Description, refusal, short};

const FORM: &str = "write what networkx.write_graphml gives: <graphml>, a <key> for each attribute, <graph edgedefault=\"undirected\"> \
                    with <node id=\"s1\"/> and <edge source=\"s1\" target=\"s2\"> and <data key=\"d0\">";

/// True for XML whose outermost element is `graphml`.
pub(crate) fn begins(text: &str) -> bool {
    is_xml(text, "<graphml")
}

/// Maximum number of keys.
const MOST_KEYS: usize = 1 << 12;

/// An attribute that a `key` declares.
struct Key {
    name: String,
    /// `node`, `edge`, `graph` or `all`.
    of: String,
    default: Option<String>,
}

/// States a document.
pub(crate) fn parse(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    let of = to.reading();
    let places = &of.places;
    let document = Document::new(text, places)?;
    let root = document.root();
    let elements = |name: &'static str| root.children().filter(move |child| child.name() == name);
    let mut keys: HashMap<&str, Key> = HashMap::new();
    for key in elements("key") {
        let (Some(id), name) = (key.attribute("id"), key.attribute("attr.name")) else {
            return Err(malformed(places, key.at(), "a key without its id", FORM));
        };
        if keys.len() >= MOST_KEYS {
            let what = format!("more than {MOST_KEYS} keys");
            return Err(refusal(places, key.at(), ErrorKind::TooLarge, what, "leave out those that nothing uses"));
        }
        let default = key.children().find(|child| child.name() == "default");
        let default = default.and_then(Node::text).map(|text| text.trim().to_owned());
        let name = name.unwrap_or(id).to_owned();
        keys.insert(id, Key { name, of: key.attribute("for").unwrap_or("all").to_owned(), default });
    }
    let mut graphs = elements("graph");
    let (Some(graph), 0) = (graphs.next(), graphs.count()) else {
        let count = elements("graph").count();
        return Err(malformed(places, 0, format!("{count} graphs in the file"), "write one graph"));
    };
    let directed = match graph.attribute("edgedefault") {
        None | Some("undirected") => false,
        Some("directed") => true,
        Some(other) => {
            let what = format!("edgedefault `{}`", short(other));
            return Err(malformed(places, graph.at(), what, "write directed or undirected"));
        }
    };
    let attributes = |of: Node<'_>, kind: &str| -> Result<Attributes<'static>, SpecError> {
        let mut given: Attributes<'static> = Vec::new();
        for child in of.children() {
            let at = child.at();
            if child.name() != "data" {
                let name = child.name();
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
            if given.len() > MOST_ATTRIBUTES {
                return Err(refusal(places, at, ErrorKind::TooLarge, "too many <data>", "leave out what says nothing"));
            }
            let value = child.text().map_or_else(String::new, |text| text.trim().to_owned());
            given.push((word(name.name.clone(), at), word(value, at)));
        }
        let mut usual: Vec<(&&str, &Key)> =
            keys.iter().filter(|(_, key)| (key.of == kind || key.of == "all") && key.default.is_some()).collect();
        usual.sort_by_key(|(id, _)| **id);
        for (_, key) in usual {
            if !given.iter().any(|(name, _)| name.text == key.name) {
                let value = key.default.clone().unwrap_or_default();
                given.push((word(key.name.clone(), of.at()), word(value, of.at())));
            }
        }
        given.retain(|(_, value)| !value.text.is_empty());
        Ok(given)
    };
    let mut has_edges = false;
    for child in graph.children() {
        let at = child.at();
        match child.name() {
            "node" => {
                let id = child.attribute("id").ok_or_else(|| malformed(places, at, "a node without its id", FORM))?;
                to.node(&word(id, at), &attributes(child, "node")?)?;
            }
            "edge" => has_edges = true,
            "data" => {}
            other => {
                let what = format!("<{}> in a graph", short(other));
                return Err(refusal(places, at, ErrorKind::Unsupported, what, "write nodes and edges alone"));
            }
        }
    }
    for edge in graph.children().filter(|child| has_edges && child.name() == "edge") {
        let at = edge.at();
        let end = |name: &str| -> Result<u32, SpecError> {
            let node = edge
                .attribute(name)
                .ok_or_else(|| malformed(places, at, format!("an edge without its {name}"), FORM))?;
            let unknown = || malformed(places, at, format!("an edge names `{}`, which is no node", short(node)), FORM);
            to.number_of(node).ok_or_else(unknown)
        };
        let ends = [end("source")?, end("target")?];
        let is_directed = edge.attribute("directed").map_or(directed, |given| given == "true");
        to.link(ends, at, is_directed, &speeds::plain(attributes(edge, "edge")?, of))?;
    }
    Ok(())
}
