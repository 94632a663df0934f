//! Node-link JSON, as networkx writes it: `{"nodes": [{"id": ...}], "links": [{"source": ..., "target": ...}]}`,
//! `edges` in place of `links` since networkx 3.4.

use std::collections::BTreeMap;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use trgen::catalog::{ErrorKind, SpecError};

use super::{MOST_ATTRIBUTES, malformed, speeds, word};
use fsin_core::topology::graph::{Attributes, Description, Labels, Reading, Word, refusal, short};

const FORM: &str = "write what networkx.node_link_data gives: {\"directed\": false, \"nodes\": [{\"id\": \"s1\"}, ...], \
                    \"links\": [{\"source\": \"s1\", \"target\": \"s2\", \"rate\": \"10Gb/s\"}, ...]}";

/// The members of an object, each as it is written.
#[derive(Default)]
struct Members<'a> {
    of: BTreeMap<String, &'a RawValue>,
    /// The first name that stands twice, with its second value.
    twice: Option<(String, &'a RawValue)>,
    is_too_many: bool,
}

/// Something that is done with each value of a list.
struct Each<F>(F);

impl<'de, F: FnMut(&'de RawValue)> DeserializeSeed<'de> for Each<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(&'de RawValue)> Visitor<'de> for Each<F> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(value) = list.next_element()? {
            (self.0)(value);
        }
        Ok(())
    }
}

/// Does something with each value of a list, until it fails. False if it is no list.
fn each<'a>(
    list: &'a RawValue,
    mut take: impl FnMut(&'a RawValue) -> Result<(), SpecError>,
) -> Result<bool, SpecError> {
    let mut taken = Ok(());
    let take = |value| {
        if taken.is_ok() {
            taken = take(value);
        }
    };
    let is_list = Each(take).deserialize(&mut serde_json::Deserializer::from_str(list.get())).is_ok();
    taken.map(|()| is_list)
}

impl<'a> Members<'a> {
    fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.of.get(name).copied()
    }

    fn remove(&mut self, name: &str) -> Option<&'a RawValue> {
        self.of.remove(name)
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;

        impl<'de> Visitor<'de> for All {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Members::default();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    if members.of.len() >= MOST_ATTRIBUTES {
                        members.is_too_many = true;
                    } else if members.of.insert(name.clone(), value).is_some() {
                        members.twice.get_or_insert((name, value));
                    }
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(All)
    }
}

/// True for a text that begins as JSON does.
pub(crate) fn begins(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// True for an object of TopoHub, which signs with statistics of the graph.
pub(crate) fn is_topohub(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("\"stats\"") && text.contains("\"avg_degree\"")
}

/// A text of JSON while it is read.
#[derive(Clone, Copy)]
struct Json<'a, 'r> {
    text: &'a str,
    of: &'r Reading<'r>,
}

impl<'a> Json<'a, '_> {
    /// \[bytes\] Where a value stands.
    fn at(&self, value: &RawValue) -> usize {
        value.get().as_ptr() as usize - self.text.as_ptr() as usize
    }

    fn malformed(&self, value: &RawValue, what: impl std::fmt::Display) -> SpecError {
        malformed(&self.of.places, self.at(value), what, FORM)
    }

    /// The members of an object, each of which may stand once.
    fn once(&self, members: Members<'a>, at: usize) -> Result<Members<'a>, SpecError> {
        let places = &self.of.places;
        if members.is_too_many {
            let what = format!("an object of more than {MOST_ATTRIBUTES} members");
            return Err(refusal(places, at, ErrorKind::TooLarge, what, "leave out what says nothing of the network"));
        }
        match members.twice {
            Some((name, value)) => {
                let what = format!("`{}` stands twice in an object", short(&name));
                Err(refusal(places, self.at(value), ErrorKind::Conflict, what, "give it once"))
            }
            None => Ok(members),
        }
    }

    fn object(&self, value: &'a RawValue) -> Result<Members<'a>, SpecError> {
        let members = serde_json::from_str(value.get()).map_err(|_| self.malformed(value, "not an object"))?;
        self.once(members, self.at(value))
    }

    /// Does something with each value of a list with this name.
    fn each(
        &self,
        name: &str,
        list: &'a RawValue,
        take: impl FnMut(&'a RawValue) -> Result<(), SpecError>,
    ) -> Result<(), SpecError> {
        match each(list, take)? {
            true => Ok(()),
            false => Err(self.malformed(list, format!("`{name}` is not a list"))),
        }
    }

    /// Takes a member out of an object that stands as `value`.
    fn take(&self, object: &mut Members<'a>, value: &'a RawValue, name: &str) -> Result<Word<'a>, SpecError> {
        let lacks = || self.malformed(value, format!("`{name}` is missing"));
        object.remove(name).map(|value| self.word(value)).ok_or_else(lacks)
    }

    fn word(&self, value: &'a RawValue) -> Word<'a> {
        word(plain(value), self.at(value))
    }

    /// What is left of an object.
    fn attributes(&self, object: Members<'a>) -> Attributes<'a> {
        let given = object.of.into_iter().filter(|(_, value)| value.get() != "null");
        given.map(|(key, value)| (word(key, self.at(value)), self.word(value))).collect()
    }
}

/// The name of a node beside its id, if it has one.
fn name_of<'a>(json: &Json<'a, '_>, node: &Members<'a>) -> Option<Word<'a>> {
    let name = node.get("name").filter(|value| value.get().starts_with('"')).map(|value| json.word(value));
    name.filter(|name| !name.text.is_empty())
}

/// States an object of nodes and links, and the traffic that TopoHub states among them. Lists are read value by value,
/// since values take more memory than their text.
pub(crate) fn parse(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    let of = to.reading();
    let places = &of.places;
    let json = Json { text, of };
    let members: Members<'_> = serde_json::from_str(text).map_err(|error| {
        let place = format!("line {}, column {}", error.line().max(1), error.column().max(1));
        if error.is_eof() {
            let what = format!("{place}: the text ends within an object, a list or a string of JSON");
            return SpecError::new(ErrorKind::Malformed, what, "write a `}`, `]` or `\"` for each that is open");
        }
        SpecError::new(ErrorKind::Malformed, format!("{place}: not an object of JSON"), FORM)
    })?;
    let members = json.once(members, 0)?;
    let missing = |what: &str| malformed(places, 0, format!("`{what}` is missing"), FORM);
    let nodes = members.get("nodes").ok_or_else(|| missing("nodes"))?;
    // The names of nodes, and which of them repeat.
    let (mut names, mut repeats) = (Labels::default(), Vec::new());
    json.each("nodes", nodes, |value| {
        let node = json.object(value)?;
        if let Some(name) = name_of(&json, &node) {
            let number = names.number(&name.text) as usize;
            match repeats.get_mut(number) {
                Some(repeats) => *repeats = true,
                None => repeats.push(false),
            }
        }
        Ok(())
    })?;
    let (name, links) = match members.get("links") {
        Some(links) => ("links", links),
        None => ("edges", members.get("edges").ok_or_else(|| missing("links"))?),
    };
    let is_directed = members.get("directed").is_some_and(|value| value.get() == "true");
    // By id: the number of the node, which is called by its `name` if that is no other's.
    let (mut ids, mut numbers) = (Labels::default(), Vec::new());
    let has_names = !names.is_empty();
    json.each("nodes", nodes, |value| {
        let mut node = json.object(value)?;
        let id = json.take(&mut node, value, "id")?;
        let name = name_of(&json, &node);
        if name.is_some() {
            node.remove("name");
        }
        // Ids that are names need no numbers beside those of nodes.
        let is_new = match has_names {
            true => ids.number(&id.text) as usize == numbers.len(),
            false => to.number_of(&id.text).is_none(),
        };
        if !is_new {
            return Err(malformed(places, id.at, format!("node {} stands twice", short(&id.text)), FORM));
        }
        let name = match name {
            Some(name) if names.get(&name.text).is_some_and(|number| !repeats[number as usize]) => name,
            Some(name) => word(format!("{} ({})", name.text, id.text), name.at),
            None => id,
        };
        let number = to.node(&name, &json.attributes(node))?;
        if has_names {
            numbers.push(number);
        }
        Ok(())
    })?;
    drop((names, repeats));
    json.each(name, links, |value| {
        let mut link = json.object(value)?;
        let ends = [json.take(&mut link, value, "source")?, json.take(&mut link, value, "target")?];
        let number = |end: &Word<'_>, to: &Description<'_>| {
            called(&ids, &numbers, to, &end.text).ok_or_else(|| {
                let what = format!("a link names `{}`, which is no `id` of a node", short(&end.text));
                malformed(places, end.at, what, "list every node under `nodes`")
            })
        };
        let (one, other) = (number(&ends[0], to)?, number(&ends[1], to)?);
        // The number of a parallel edge in a multigraph.
        link.remove("key");
        to.link([one, other], ends[1].at, is_directed, &speeds::plain(json.attributes(link), of))
    })?;
    let graph = members.get("graph").filter(|_| is_topohub(text));
    if let Some(demands) = graph.map(|graph| json.object(graph)).transpose()?.and_then(|graph| graph.get("demands")) {
        topohub(&json, demands, |id, to| called(&ids, &numbers, to, id), to)?;
    }
    Ok(())
}

/// The node of an id: by the numbers of ids, or by name where ids are the names.
fn called(ids: &Labels, numbers: &[u32], to: &Description<'_>, id: &str) -> Option<u32> {
    match ids.is_empty() {
        true => to.number_of(id),
        false => ids.get(id).and_then(|id| numbers.get(id as usize).copied()),
    }
}

/// States the traffic of TopoHub: by source, then by destination, a value.
fn topohub<'a>(
    json: &Json<'a, '_>,
    demands: &'a RawValue,
    called: impl Fn(&str, &Description<'_>) -> Option<u32>,
    to: &mut Description<'_>,
) -> Result<(), SpecError> {
    let node = |id: &str, value: &RawValue, to: &Description<'_>| {
        called(id, to).ok_or_else(|| {
            let what = format!("a demand names `{}`, which is no `id` of a node", short(id));
            malformed(&json.of.places, json.at(value), what, "list every node under `nodes`")
        })
    };
    for (source, destinations) in json.object(demands)?.of {
        for (destination, value) in json.object(destinations)?.of {
            let number = value.get().parse::<f64>().ok().filter(|&number| number >= 0.0 && number.is_finite());
            let number = number.ok_or_else(|| json.malformed(value, "a demand that is no number of 0 or more"))?;
            let ends = [node(&source, value, to)?, node(&destination, value, to)?];
            to.demand_of(ends, json.at(value), number);
        }
    }
    Ok(())
}

/// A text without its quotation marks; any other value as it is written.
fn plain(value: &RawValue) -> String {
    serde_json::from_str(value.get()).unwrap_or_else(|_| value.get().to_owned())
}
