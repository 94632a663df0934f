//! Networks as text: DOT, and other syntaxes from the statements of that DOT, so that what is said of a network stands
//! in one place.

mod dot;

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use trgen::catalog::{ErrorKind, SpecError};

use fsin_core::topology::graph::{Attributes, Edge, End, Statement};

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

/// A description in DOT in another syntax. Reading it yields the same network; from CSV, which names no nodes, with
/// nodes numbered in the order of the links.
///
/// # Errors
/// A name or an attribute that the syntax cannot state.
pub fn rewritten(text: &str, syntax: Syntax) -> Result<String, SpecError> {
    let graph = crate::dot::parse(text)?;
    let mut nodes: Vec<(&str, &Attributes<'_>)> = Vec::new();
    let mut edges: Vec<([&str; 2], bool, &Attributes<'_>)> = Vec::new();
    for statement in &graph.statements {
        match statement {
            Statement::Node(name, attributes) => nodes.push((&name.text, attributes)),
            Statement::Edge(Edge { ends, is_directed, attributes }) => {
                if let [End::Node(one), End::Node(other)] = &ends[..] {
                    let is_both = attributes.iter().any(|(key, value)| key.text == "dir" && value.text == "both");
                    edges.push(([&one.text, &other.text], *is_directed && !is_both, attributes));
                }
            }
            Statement::Defaults(..) | Statement::Subgraph(_) => {}
        }
    }
    match syntax {
        Syntax::List => list(&nodes, &edges),
        Syntax::Csv => csv(&nodes, &edges),
        Syntax::NodeLink => Ok(node_link(&nodes, &edges)),
    }
}

/// The attributes that say something of the network.
fn kept<'a>(attributes: &'a Attributes<'_>) -> impl Iterator<Item = (&'a str, &'a str)> {
    attributes.iter().map(|(key, value)| (&*key.text, &*value.text)).filter(|(key, _)| KEPT.contains(key))
}

/// True for a host: in DOT a name that begins with H says so, and in other syntaxes it does not.
fn is_host(name: &str, attributes: &Attributes<'_>) -> bool {
    let kind = attributes.iter().find(|(key, _)| key.text == "kind");
    kind.map_or_else(|| name.starts_with('H'), |(_, kind)| kind.text == "host")
}

/// The error of something that a syntax cannot state.
fn unwritable(what: String) -> SpecError {
    SpecError::new(ErrorKind::Unsupported, what, "write it as dot or node-link")
}

/// Nodes and links as lines.
fn list(nodes: &[(&str, &Attributes<'_>)], edges: &[([&str; 2], bool, &Attributes<'_>)]) -> Result<String, SpecError> {
    let word = |word: &str| {
        if word.is_empty() || word.contains(char::is_whitespace) || word.contains('#') {
            return Err(unwritable(format!("`{}` is not one word, as a list needs it", word.escape_debug())));
        }
        Ok(word.to_owned())
    };
    let mut text = String::new();
    for (name, attributes) in nodes {
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
    for ([one, other], is_directed, attributes) in edges {
        let mark = if *is_directed { " ->" } else { "" };
        let _ = write!(text, "{}{mark} {}", word(one)?, word(other)?);
        for (key, value) in kept(attributes) {
            let _ = write!(text, " {key} {}", word(value)?);
        }
        text.push('\n');
    }
    Ok(text)
}

/// Links as rows.
fn csv(nodes: &[(&str, &Attributes<'_>)], edges: &[([&str; 2], bool, &Attributes<'_>)]) -> Result<String, SpecError> {
    let hosts: HashSet<&str> =
        nodes.iter().filter(|(name, attributes)| is_host(name, attributes)).map(|&(name, _)| name).collect();
    for (name, attributes) in nodes {
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
        .filter(|key| edges.iter().any(|(_, _, of)| kept(of).any(|(own, _)| own == *key)))
        .collect();
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let failed = |error: ::csv::Error| unwritable(error.to_string());
    let kinds: &[&str] = if hosts.is_empty() { &[] } else { &["source_kind", "target_kind"] };
    let names = ["source", "target", "directed"].into_iter().chain(kinds.iter().copied());
    writer.write_record(names.chain(columns.iter().copied())).map_err(failed)?;
    for ([one, other], is_directed, attributes) in edges {
        let value = |key: &&str| kept(attributes).find(|(own, _)| own == key).map_or("", |(_, value)| value);
        let directed = if *is_directed { "true" } else { "false" };
        let kind = |end: &&str| if hosts.contains(*end) { "host" } else { "" };
        let kinds = [one, other].into_iter().map(kind).take(kinds.len());
        let ends = [*one, *other, directed].into_iter().chain(kinds);
        writer.write_record(ends.chain(columns.iter().map(value))).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| unwritable(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Nodes and links as JSON. Where a link has two directions, `dir` says of a link both ways that it is one.
fn node_link(nodes: &[(&str, &Attributes<'_>)], edges: &[([&str; 2], bool, &Attributes<'_>)]) -> String {
    let directed = edges.iter().any(|(_, is_directed, _)| *is_directed);
    let object = |attributes: &Attributes<'_>| -> Map<String, Value> {
        kept(attributes).map(|(key, value)| (key.to_owned(), json!(value))).collect()
    };
    let node = |(name, attributes): &(&str, &Attributes<'_>)| {
        let mut node = object(attributes);
        if is_host(name, attributes) {
            node.insert("kind".to_owned(), json!("host"));
        }
        node.insert("id".to_owned(), json!(name));
        Value::Object(node)
    };
    let link = |([one, other], is_directed, attributes): &([&str; 2], bool, &Attributes<'_>)| {
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
        "nodes": nodes.iter().map(node).collect::<Vec<_>>(),
        "edges": edges.iter().map(link).collect::<Vec<_>>(),
    });
    format!("{graph:#}\n")
}
