//! Networks as text: DOT and other syntaxes, from one list of nodes and edges.

mod dot;

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use trgen::catalog::{ErrorKind, SpecError};

use fsin_core::topology::Topology;

use dot::{Attribute, Declared, Written};

pub use dot::dot;

/// Syntaxes beside DOT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Syntax {
    /// `A B rate 10Gb/s`.
    List,
    /// Columns `source,target,directed`, then attributes of links.
    Csv,
    /// JSON, as networkx's `node_link_graph` reads it.
    NodeLink,
}

/// Attributes that are written; those of drawings are not.
const KEPT: &[&str] = &["kind", "endpoints", "rate", "delay", "queue", "routes", "dead"];

/// A network in another syntax than DOT. Reading it yields the same network; from CSV, which names no nodes, with nodes
/// numbered in the order of the links.
///
/// # Errors
/// A name or an attribute that the syntax cannot state.
pub fn rewritten(topology: &dyn Topology, syntax: Syntax) -> Result<String, SpecError> {
    let network = Written::of(topology, &[]);
    match syntax {
        Syntax::List => list(&network),
        Syntax::Csv => csv(&network),
        Syntax::NodeLink => Ok(node_link(&network)),
    }
}

/// The attributes that say something of the network.
fn kept(attributes: &[Attribute]) -> impl Iterator<Item = (&str, &str)> {
    attributes.iter().map(|of| (of.key, of.value.as_str())).filter(|(key, _)| KEPT.contains(key))
}

/// True for a host: in DOT a name that begins with H says so, and in other syntaxes it does not.
fn is_host(node: &Declared) -> bool {
    let kind = node.attributes.iter().find(|of| of.key == "kind");
    kind.map_or_else(|| node.name.starts_with('H'), |kind| kind.value == "host")
}

impl Written {
    /// By edge: the names of its ends, whether it is one direction of a link, and its attributes.
    fn links(&self) -> impl Iterator<Item = ([&str; 2], bool, &[Attribute])> {
        self.edges.iter().map(|edge| {
            let ends = edge.ends.map(|end| self.nodes[end].name.as_str());
            (ends, self.is_directed && !edge.is_both, &edge.attributes[..])
        })
    }
}

/// The error of something that a syntax cannot state.
fn unwritable(what: String) -> SpecError {
    SpecError::new(ErrorKind::Unsupported, what, "write it as dot or node-link")
}

/// Nodes and links as lines.
fn list(network: &Written) -> Result<String, SpecError> {
    let word = |word: &str| {
        if word.is_empty() || word.contains(char::is_whitespace) || word.contains('#') {
            return Err(unwritable(format!("`{}` is not one word, as a list needs it", word.escape_debug())));
        }
        Ok(word.to_owned())
    };
    let mut text = String::new();
    for Declared { name, attributes, .. } in &network.nodes {
        let _ = write!(text, "{}", word(name)?);
        let mut said = false;
        for (key, value) in kept(attributes) {
            let _ = write!(text, " {key} {}", word(value)?);
            said = true;
        }
        // A line needs something to say.
        let usual = if name.starts_with('H') { " kind host" } else { " endpoints 1" };
        let _ = writeln!(text, "{}", if said { "" } else { usual });
    }
    for ([one, other], is_directed, attributes) in network.links() {
        let mark = if is_directed { " ->" } else { "" };
        let _ = write!(text, "{}{mark} {}", word(one)?, word(other)?);
        for (key, value) in kept(attributes) {
            let _ = write!(text, " {key} {}", word(value)?);
        }
        text.push('\n');
    }
    Ok(text)
}

/// Links as rows.
fn csv(network: &Written) -> Result<String, SpecError> {
    let hosts: HashSet<&str> =
        network.nodes.iter().filter(|node| is_host(node)).map(|node| node.name.as_str()).collect();
    for Declared { name, attributes, .. } in &network.nodes {
        let usual = if hosts.is_empty() { "1" } else { "0" };
        let is_said =
            |&(key, value): &(&str, &str)| (key, value) == ("endpoints", usual) || (key == "kind" && value != "nic");
        if let Some((key, value)) = kept(attributes).find(|pair| !is_said(pair)) {
            return Err(unwritable(format!("{key}={value} of node `{}`: CSV has links alone", name.escape_debug())));
        }
    }
    let columns: Vec<&str> = KEPT
        .iter()
        .copied()
        .filter(|key| network.links().any(|(_, _, of)| kept(of).any(|(own, _)| own == *key)))
        .collect();
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let failed = |error: ::csv::Error| unwritable(error.to_string());
    let kinds: &[&str] = if hosts.is_empty() { &[] } else { &["source_kind", "target_kind"] };
    let names = ["source", "target", "directed"].into_iter().chain(kinds.iter().copied());
    writer.write_record(names.chain(columns.iter().copied())).map_err(failed)?;
    for ([one, other], is_directed, attributes) in network.links() {
        let value = |key: &&str| kept(attributes).find(|(own, _)| own == key).map_or("", |(_, value)| value);
        let directed = if is_directed { "true" } else { "false" };
        let kind = |end: &str| if hosts.contains(end) { "host" } else { "" };
        let kinds = [one, other].into_iter().map(kind).take(kinds.len());
        let ends = [one, other, directed].into_iter().chain(kinds);
        writer.write_record(ends.chain(columns.iter().map(value))).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| unwritable(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Nodes and links as JSON. Where a link has two directions, `dir` says of a link both ways that it is one.
fn node_link(network: &Written) -> String {
    let directed = network.links().any(|(_, is_directed, _)| is_directed);
    let object = |attributes: &[Attribute]| -> Map<String, Value> {
        kept(attributes).map(|(key, value)| (key.to_owned(), json!(value))).collect()
    };
    let node = |node: &Declared| {
        let mut object = object(&node.attributes);
        if is_host(node) {
            object.insert("kind".to_owned(), json!("host"));
        }
        object.insert("id".to_owned(), json!(node.name));
        Value::Object(object)
    };
    let link = |([one, other], is_directed, attributes): ([&str; 2], bool, &[Attribute])| {
        let mut link = object(attributes);
        link.insert("source".to_owned(), json!(one));
        link.insert("target".to_owned(), json!(other));
        if directed && !is_directed {
            link.insert("dir".to_owned(), json!("both"));
        }
        Value::Object(link)
    };
    let graph = json!({
        "directed": directed,
        "multigraph": true,
        "graph": {},
        "nodes": network.nodes.iter().map(node).collect::<Vec<_>>(),
        "edges": network.links().map(link).collect::<Vec<_>>(),
    });
    format!("{graph:#}\n")
}
