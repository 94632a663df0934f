//! GML: `graph [ node [ id 0 label "a" ] edge [ source 0 target 1 ] ]`.
//!
//! Nodes are called by their labels; where two have the same one, their numbers are part of their names. Format:
//! Himsolt, GML: a portable graph file format, Passau 1997.

use std::borrow::Cow;

use trgen::catalog::SpecError;

use super::{MOST_ATTRIBUTES, malformed, speeds, word};
use fsin_core::topology::graph::{Attributes, Description, Labels, Places, Reading, Word, short};

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

/// States a graph. The text is read several times, since what stands in it takes more memory than it does: labels that
/// repeat are known when all nodes have been read, and edges may stand before nodes.
pub(crate) fn parse(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    let of = to.reading();
    let places = &of.places;
    let in_capitals = graph_as(text).is_some_and(|word| word != "graph");
    let whole = Reader { text, at: 0, places, in_capitals };
    // The whole text first: what is behind the graph may be wrong.
    let mut graph = None;
    let mut reader = whole;
    while let Some(key) = reader.key(false)? {
        let (at, value) = (reader.at, reader.value(DEPTH)?);
        if value.is_none() && key.text == "graph" && graph.is_none() {
            graph = Some(Reader { at: at + 1, ..whole });
        }
    }
    let graph = graph.ok_or_else(|| malformed(places, 0, "no `graph [ ... ]`", FORM))?;
    let mut is_directed = false;
    let mut labels = Labels::default();
    // By label: whether it repeats.
    let mut repeats: Vec<bool> = Vec::new();
    graph.each(|reader, key| {
        if key.text == "node" && reader.is_list() {
            let (list, _) = reader.fields()?;
            let label = list.iter().find(|(key, _)| key.text == "label").map_or("", |(_, value)| &value.text);
            let number = labels.number(label) as usize;
            match repeats.get_mut(number) {
                Some(repeats) => *repeats = true,
                None => repeats.push(false),
            }
            return Ok(());
        }
        // What else is said of the graph says nothing of the network.
        if let Some(value) = reader.value(DEPTH - 1)?.filter(|_| key.text == "directed") {
            is_directed = value.text == "1";
        }
        Ok(())
    })?;
    let several = repeats.iter().filter(|&&repeats| repeats).count();
    if several > 0 {
        of.note(format!("labels of nodes repeat ({several}): there the id is part of the name"));
    }
    // By id: the number of the node.
    let (mut ids, mut nodes) = (Labels::default(), Vec::new());
    graph.each(|reader, key| {
        if key.text != "node" || !reader.is_list() {
            return reader.value(DEPTH - 1).map(|_| ());
        }
        let mut attributes = plain(reader.fields()?, of);
        let number =
            take(&mut attributes, "id").ok_or_else(|| malformed(places, key.at, "a node without its id", FORM))?;
        let label = take(&mut attributes, "label").filter(|label| !label.text.is_empty());
        if ids.number(&number.text) as usize != nodes.len() {
            return Err(malformed(places, number.at, format!("node {} stands twice", short(&number.text)), FORM));
        }
        let name = match label {
            None => number,
            Some(label) if labels.get(&label.text).is_some_and(|label| repeats[label as usize]) => {
                word(format!("{} ({})", label.text, number.text), label.at)
            }
            Some(label) => label,
        };
        nodes.push(to.node(&name, &attributes)?);
        Ok(())
    })?;
    graph.each(|reader, key| {
        if key.text != "edge" || !reader.is_list() {
            return reader.value(DEPTH - 1).map(|_| ());
        }
        let mut attributes = plain(reader.fields()?, of);
        let mut end = |name: &str| {
            let number = take(&mut attributes, name);
            let number =
                number.ok_or_else(|| malformed(places, key.at, format!("an edge without its {name}"), FORM))?;
            let what = || format!("an edge names node {}, which is not there", short(&number.text));
            let node = ids.get(&number.text).map(|id| (nodes[id as usize], number.at));
            node.ok_or_else(|| malformed(places, number.at, what(), FORM))
        };
        let [(one, _), (other, at)] = [end("source")?, end("target")?];
        take(&mut attributes, "key");
        take(&mut attributes, "id");
        to.link([one, other], at, is_directed, &speeds::plain(attributes, of))
    })
}

/// Takes an attribute out of a list.
fn take<'a>(attributes: &mut Attributes<'a>, name: &str) -> Option<Word<'a>> {
    let at = attributes.iter().position(|(key, _)| key.text == name)?;
    Some(attributes.remove(at).1)
}

/// The attributes of a node or edge. Lists, such as `graphics [ ... ]`, say nothing of a network.
fn plain<'a>((attributes, lists): (Attributes<'a>, Vec<Word<'a>>), of: &Reading<'_>) -> Attributes<'a> {
    lists.iter().for_each(|key| of.decorated(&key.text));
    attributes
}

/// Reads keys and values.
#[derive(Clone, Copy)]
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

    /// The next key, before its value; `None` behind the end of the text, or of the list.
    fn key(&mut self, is_inner: bool) -> Result<Option<Word<'a>>, SpecError> {
        self.skip();
        let rest = &self.text[self.at..];
        if rest.is_empty() && is_inner {
            return Err(malformed(self.places, self.at, "a list without its `]`", FORM));
        }
        if rest.is_empty() || (is_inner && rest.starts_with(']')) {
            self.at += usize::from(is_inner);
            return Ok(None);
        }
        let mut key = self.word()?;
        if self.in_capitals
            && let Some(known) = KEYS.iter().find(|known| known.eq_ignore_ascii_case(&key.text))
        {
            key.text = (*known).into();
        }
        self.skip();
        Ok(Some(key))
    }

    /// True if the value that is next is a list.
    fn is_list(&self) -> bool {
        self.text[self.at..].starts_with('[')
    }

    /// Reads a value: its text, or `None` for a list, which is read past. `depth` lists may stand in each other.
    fn value(&mut self, depth: usize) -> Result<Option<Word<'a>>, SpecError> {
        if self.is_list() {
            if depth == 0 {
                return Err(malformed(self.places, self.at, "lists within lists within lists", FORM));
            }
            self.at += 1;
            while self.key(true)?.is_some() {
                self.value(depth - 1)?;
            }
            return Ok(None);
        }
        let Some(quoted) = self.text[self.at..].strip_prefix('"') else { return self.word().map(Some) };
        let end = quoted.find('"');
        let end = end.ok_or_else(|| malformed(self.places, self.at, "a text without its end", FORM))?;
        let at = self.at;
        self.at += end + 2;
        Ok(Some(word(without_entities(&quoted[..end]), at)))
    }

    /// Reads the list of a node or edge: its attributes, and the keys of the lists in it.
    fn fields(&mut self) -> Result<(Attributes<'a>, Vec<Word<'a>>), SpecError> {
        let (mut attributes, mut lists) = (Vec::new(), Vec::new());
        self.at += 1;
        while let Some(key) = self.key(true)? {
            if attributes.len() + lists.len() > MOST_ATTRIBUTES {
                return Err(malformed(self.places, key.at, "too many attributes", FORM));
            }
            match self.value(DEPTH - 2)? {
                Some(value) => attributes.push((key, value)),
                None => lists.push(key),
            }
        }
        Ok((attributes, lists))
    }

    /// Calls something for each key of the list that was begun, before its value, which it must read.
    fn each(mut self, mut take: impl FnMut(&mut Self, Word<'a>) -> Result<(), SpecError>) -> Result<(), SpecError> {
        while let Some(key) = self.key(true)? {
            take(&mut self, key)?;
        }
        Ok(())
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
fn without_entities(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let plain = [("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&apos;", "'"), ("&amp;", "&")]
        .iter()
        .fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter));
    Cow::Owned(plain)
}
