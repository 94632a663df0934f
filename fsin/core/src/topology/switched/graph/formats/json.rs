//! Node-link JSON, as networkx writes it: `{"nodes": [{"id": ...}], "links": [{"source": ..., "target": ...}]}`,
//! `edges` in place of `links` since networkx 3.4.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use trgen::catalog::{ErrorKind, SpecError};

use super::super::attribute::short;
use super::super::statement::{Attributes, Graph, Places, Word};
use super::{Builder, malformed, word};

const FORM: &str = "write what networkx.node_link_data gives: {\"directed\": false, \"nodes\": [{\"id\": \"s1\"}, ...], \
                    \"links\": [{\"source\": \"s1\", \"target\": \"s2\", \"rate\": \"10Gb/s\"}, ...]}";

/// The members of an object, each as it is written.
type Members<'a> = BTreeMap<String, &'a RawValue>;

/// True for a text that begins as JSON does.
pub(super) fn begins(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// The statements of an object of nodes and links.
pub(super) fn parse<'a>(text: &'a str, places: &Places<'_>) -> Result<Graph<'a>, SpecError> {
    let at = |value: &RawValue| value.get().as_ptr() as usize - text.as_ptr() as usize;
    let members: Members<'a> = serde_json::from_str(text).map_err(|error| {
        let place = format!("line {}, column {}", error.line().max(1), error.column().max(1));
        if error.is_eof() {
            let what = format!("{place}: the text ends within an object, a list or a string of JSON");
            return SpecError::new(ErrorKind::Malformed, what, "write a `}`, `]` or `\"` for each that is open");
        }
        SpecError::new(ErrorKind::Malformed, format!("{place}: not an object of JSON"), FORM)
    })?;
    let list = |name: &str| -> Result<Option<Vec<&'a RawValue>>, SpecError> {
        let Some(value) = members.get(name) else { return Ok(None) };
        let list = serde_json::from_str(value.get());
        list.map(Some).map_err(|_| malformed(places, at(value), format!("`{name}` is not a list"), FORM))
    };
    let object = |value: &'a RawValue| -> Result<Members<'a>, SpecError> {
        serde_json::from_str(value.get()).map_err(|_| malformed(places, at(value), "not an object", FORM))
    };
    let missing = |what: &str| malformed(places, 0, format!("`{what}` is missing"), FORM);
    let nodes = list("nodes")?.ok_or_else(|| missing("nodes"))?;
    let links = match list("links")? {
        Some(links) => links,
        None => list("edges")?.ok_or_else(|| missing("links"))?,
    };
    let is_directed = members.get("directed").is_some_and(|value| value.get() == "true");
    let text_of = |value: &'a RawValue| word(plain(value), at(value));
    let take = |object: &mut Members<'a>, value: &'a RawValue, name: &str| -> Result<Word<'a>, SpecError> {
        let lacks = || malformed(places, at(value), format!("`{name}` is missing"), FORM);
        object.remove(name).map(text_of).ok_or_else(lacks)
    };
    let attributes = |object: Members<'a>| -> Attributes<'a> {
        let given = object.into_iter().filter(|(_, value)| value.get() != "null");
        given.map(|(key, value)| (word(key, at(value)), text_of(value))).collect()
    };
    let mut builder = Builder::default();
    for value in nodes {
        let mut node = object(value)?;
        let name = take(&mut node, value, "id")?;
        builder.node(name, attributes(node));
    }
    let known: std::collections::HashSet<String> = builder
        .statements
        .iter()
        .filter_map(|statement| match statement {
            super::Statement::Node(name, _) => Some(name.text.to_string()),
            _ => None,
        })
        .collect();
    for value in links {
        let mut link = object(value)?;
        let ends = [take(&mut link, value, "source")?, take(&mut link, value, "target")?];
        if let Some(end) = ends.iter().find(|end| !known.contains(&*end.text)) {
            let what = format!("a link names `{}`, which is no `id` of a node", short(&end.text));
            return Err(malformed(places, end.at, what, "list every node under `nodes`"));
        }
        // The number of a parallel edge in a multigraph.
        link.remove("key");
        builder.edge(ends, is_directed, attributes(link));
    }
    Ok(builder.graph())
}

/// A text without its quotation marks; any other value as it is written.
fn plain(value: &RawValue) -> String {
    serde_json::from_str(value.get()).unwrap_or_else(|_| value.get().to_owned())
}
