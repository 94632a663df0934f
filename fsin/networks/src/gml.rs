//! GML: `graph [ node [ id 0 label "a" ] edge [ source 0 target 1 ] ]`.
//!
//! Nodes are called by their labels; where two have the same one, their numbers are part of their names. Format:
//! Himsolt, GML: a portable graph file format, Passau 1997.

use std::collections::HashMap;

use trgen::catalog::SpecError;

use super::{Builder, malformed, speeds, word};
use fsin_core::topology::graph::{Attributes, Graph, Places, Reading, Word, short};

const FORM: &str = "write `graph [ node [ id 0 label \"s1\" ] node [ id 1 label \"s2\" ] edge [ source 0 target 1 rate \"10Gb/s\" ] ]`";

/// Depth of lists that are read.
const DEPTH: usize = 16;

/// True for a text with a list `graph [`, after pairs of a key and a value.
pub(crate) fn begins(text: &str) -> bool {
    graph_as(text).is_some()
}

/// The word `graph` as it stands before its list: some write keys in capitals.
fn graph_as(text: &str) -> Option<&str> {
    let mut last = "";
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('#') {
            continue;
        }
        // Up to the first bracket of the text: the word before it.
        let open = line.find(['[', '{']);
        let code = &line[..open.unwrap_or(line.len())];
        last = code.split_whitespace().next_back().unwrap_or(last);
        if let Some(open) = open {
            return (line[open..].starts_with('[') && last.eq_ignore_ascii_case("graph")).then_some(last);
        }
    }
    None
}

/// True for GML of TopoHub, which signs with statistics of the graph.
pub(crate) fn is_topohub(text: &str) -> bool {
    let is_list = |(at, name): (usize, &str)| text[at + name.len()..].trim_start().starts_with('[');
    begins(text) && text.contains("avg_degree") && text.match_indices("stats").any(is_list)
}

/// A value of a key.
enum Value<'a> {
    Text(Word<'a>),
    List(Vec<(Word<'a>, Value<'a>)>),
}

/// The statements of a graph.
pub(crate) fn parse<'a>(text: &'a str, of: &Reading<'_>) -> Result<Graph<'a>, SpecError> {
    let places = &of.places;
    let in_capitals = graph_as(text).is_some_and(|word| word != "graph");
    let mut reader = Reader { text, at: 0, places, in_capitals };
    let top = reader.list(DEPTH, false)?;
    let graph = top.into_iter().find_map(|(key, value)| match value {
        Value::List(list) if key.text == "graph" => Some(list),
        _ => None,
    });
    let graph = graph.ok_or_else(|| malformed(places, 0, "no `graph [ ... ]`", FORM))?;
    let mut is_directed = false;
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for (key, value) in graph {
        match (&*key.text, value) {
            ("directed", Value::Text(value)) => is_directed = value.text == "1",
            ("node", Value::List(list)) => nodes.push((key, list)),
            ("edge", Value::List(list)) => edges.push((key, list)),
            // What else is said of the graph says nothing of the network.
            _ => {}
        }
    }
    let mut known: HashMap<String, Word<'a>> = HashMap::new();
    let mut declared = Vec::new();
    for (at, list) in nodes {
        let mut attributes = plain(list, of);
        let number =
            take(&mut attributes, "id").ok_or_else(|| malformed(places, at.at, "a node without its id", FORM))?;
        let label = take(&mut attributes, "label").filter(|label| !label.text.is_empty());
        declared.push((number, label, attributes));
    }
    let mut labels: HashMap<String, usize> = HashMap::new();
    for (_, label, _) in &declared {
        *labels.entry(label.as_ref().map_or_else(String::new, |label| label.text.to_string())).or_default() += 1;
    }
    let several = labels.values().filter(|&&count| count > 1).count();
    if several > 0 {
        of.note(format!("labels of nodes repeat ({several}): there the id is part of the name"));
    }
    let mut builder = Builder::default();
    for (number, label, attributes) in declared {
        let name = match label {
            None => number.clone(),
            Some(label) if labels.get(&*label.text).is_some_and(|&count| count > 1) => {
                word(format!("{} ({})", label.text, number.text), label.at)
            }
            Some(label) => label,
        };
        if known.insert(number.text.to_string(), name.clone()).is_some() {
            return Err(malformed(places, number.at, format!("node {} stands twice", short(&number.text)), FORM));
        }
        builder.node(name, attributes);
    }
    for (at, list) in edges {
        let mut attributes = plain(list, of);
        let mut end = |name: &str| {
            let number = take(&mut attributes, name);
            let number = number.ok_or_else(|| malformed(places, at.at, format!("an edge without its {name}"), FORM))?;
            let node = known.get(&*number.text).map(|node| word(node.text.clone(), number.at));
            let what = || format!("an edge names node {}, which is not there", short(&number.text));
            node.ok_or_else(|| malformed(places, number.at, what(), FORM))
        };
        let ends = [end("source")?, end("target")?];
        take(&mut attributes, "key");
        take(&mut attributes, "id");
        builder.edge(ends, is_directed, speeds::plain(attributes, of));
    }
    Ok(builder.graph())
}

/// Takes an attribute out of a list.
fn take<'a>(attributes: &mut Attributes<'a>, name: &str) -> Option<Word<'a>> {
    let at = attributes.iter().position(|(key, _)| key.text == name)?;
    Some(attributes.remove(at).1)
}

/// The attributes of a node or edge. Lists, such as `graphics [ ... ]`, say nothing of a network.
fn plain<'a>(list: Vec<(Word<'a>, Value<'a>)>, of: &Reading<'_>) -> Attributes<'a> {
    let mut attributes = Vec::new();
    for (key, value) in list {
        match value {
            Value::Text(value) => attributes.push((key, value)),
            Value::List(_) => of.decorated(&key.text),
        }
    }
    attributes
}

/// Reads keys and values.
struct Reader<'a, 'p> {
    text: &'a str,
    /// \[bytes\] What has been read.
    at: usize,
    places: &'p Places<'p>,
    /// True if keys of the language are read whatever their case.
    in_capitals: bool,
}

/// Keys of the language.
const KEYS: [&str; 8] = ["graph", "node", "edge", "id", "label", "source", "target", "directed"];

impl<'a> Reader<'a, '_> {
    fn skip(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.len() - rest.trim_start().len();
            let rest = &self.text[self.at..];
            if !rest.starts_with('#') {
                return;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// Keys and values up to the end of the text, or of the list.
    fn list(&mut self, depth: usize, is_inner: bool) -> Result<Vec<(Word<'a>, Value<'a>)>, SpecError> {
        let mut list = Vec::new();
        loop {
            self.skip();
            let rest = &self.text[self.at..];
            if rest.is_empty() && is_inner {
                return Err(malformed(self.places, self.at, "a list without its `]`", FORM));
            }
            if rest.is_empty() || (is_inner && rest.starts_with(']')) {
                self.at += usize::from(is_inner);
                return Ok(list);
            }
            let mut key = self.word()?;
            if self.in_capitals
                && let Some(known) = KEYS.iter().find(|known| known.eq_ignore_ascii_case(&key.text))
            {
                key.text = (*known).into();
            }
            self.skip();
            let rest = &self.text[self.at..];
            let value = if rest.starts_with('[') {
                if depth == 0 {
                    return Err(malformed(self.places, self.at, "lists within lists within lists", FORM));
                }
                self.at += 1;
                Value::List(self.list(depth - 1, true)?)
            } else if let Some(quoted) = rest.strip_prefix('"') {
                let end = quoted.find('"');
                let end = end.ok_or_else(|| malformed(self.places, self.at, "a text without its end", FORM))?;
                let at = self.at;
                self.at += end + 2;
                Value::Text(word(without_entities(&quoted[..end]), at))
            } else {
                Value::Text(self.word()?)
            };
            list.push((key, value));
        }
    }

    fn word(&mut self) -> Result<Word<'a>, SpecError> {
        let rest = &self.text[self.at..];
        let end = rest.find(|letter: char| letter.is_whitespace() || matches!(letter, '[' | ']' | '"'));
        let text = &rest[..end.unwrap_or(rest.len())];
        if text.is_empty() {
            return Err(malformed(self.places, self.at, "a key or value is missing", FORM));
        }
        let found = word(text, self.at);
        self.at += text.len();
        Ok(found)
    }
}

/// A text with characters in place of their names.
fn without_entities(text: &str) -> String {
    [("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&apos;", "'"), ("&amp;", "&")]
        .iter()
        .fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
}
