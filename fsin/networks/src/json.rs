//! Node-link JSON, as networkx writes it: `{"nodes": [{"id": ...}], "links": [{"source": ..., "target": ...}]}`,
//! `edges` in place of `links` since networkx 3.4.

use std::collections::{BTreeMap, HashMap};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use trgen::catalog::{ErrorKind, SpecError};

use super::{Builder, malformed, speeds, word};
use fsin_core::topology::graph::{Attributes, Demand, Graph, Places, Reading, Word, refusal, short};

const FORM: &str = "write what networkx.node_link_data gives: {\"directed\": false, \"nodes\": [{\"id\": \"s1\"}, ...], \
                    \"links\": [{\"source\": \"s1\", \"target\": \"s2\", \"rate\": \"10Gb/s\"}, ...]}";

/// The members of an object, each as it is written.
#[derive(Default)]
struct Members<'a> {
    of: BTreeMap<String, &'a RawValue>,
    /// The first name that stands twice, with its second value.
    twice: Option<(String, &'a RawValue)>,
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
        struct Each;

        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Members::default();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    if members.of.insert(name.clone(), value).is_some() {
                        members.twice.get_or_insert((name, value));
                    }
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Each)
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

/// The statements of an object of nodes and links, and the traffic that TopoHub states among them.
pub(crate) fn parse<'a>(text: &'a str, of: &Reading<'_>) -> Result<Graph<'a>, SpecError> {
    let places = &of.places;
    let at = |value: &RawValue| value.get().as_ptr() as usize - text.as_ptr() as usize;
    let members: Members<'a> = serde_json::from_str(text).map_err(|error| {
        let place = format!("line {}, column {}", error.line().max(1), error.column().max(1));
        if error.is_eof() {
            let what = format!("{place}: the text ends within an object, a list or a string of JSON");
            return SpecError::new(ErrorKind::Malformed, what, "write a `}`, `]` or `\"` for each that is open");
        }
        SpecError::new(ErrorKind::Malformed, format!("{place}: not an object of JSON"), FORM)
    })?;
    let once = |members: Members<'a>| match members.twice {
        Some((name, value)) => {
            let what = format!("`{}` stands twice in an object", short(&name));
            Err(refusal(places, at(value), ErrorKind::Conflict, what, "give it once"))
        }
        None => Ok(members),
    };
    let members = once(members)?;
    let list = |name: &str| -> Result<Option<Vec<&'a RawValue>>, SpecError> {
        let Some(value) = members.get(name) else { return Ok(None) };
        let list = serde_json::from_str(value.get());
        list.map(Some).map_err(|_| malformed(places, at(value), format!("`{name}` is not a list"), FORM))
    };
    let object = |value: &'a RawValue| -> Result<Members<'a>, SpecError> {
        let members = serde_json::from_str(value.get());
        once(members.map_err(|_| malformed(places, at(value), "not an object", FORM))?)
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
        let given = object.of.into_iter().filter(|(_, value)| value.get() != "null");
        given.map(|(key, value)| (word(key, at(value)), text_of(value))).collect()
    };
    let mut builder = Builder::default();
    // By id: what the node is called, its `name` if that is no other's.
    let mut called: HashMap<String, Word<'a>> = HashMap::new();
    let mut declared = Vec::new();
    let mut names: HashMap<String, usize> = HashMap::new();
    for value in nodes {
        let mut node = object(value)?;
        let id = take(&mut node, value, "id")?;
        let name = node
            .get("name")
            .filter(|value| value.get().starts_with('"'))
            .map(text_of)
            .filter(|name| !name.text.is_empty());
        if let Some(name) = &name {
            *names.entry(name.text.to_string()).or_default() += 1;
        }
        if name.is_some() {
            node.remove("name");
        }
        // Not the members: a map takes hundreds of bytes, even an empty one from which all was taken.
        declared.push((id, name, attributes(node)));
    }
    for (id, name, attributes) in declared {
        let name = match name {
            Some(name) => {
                let is_own = names.get(&*name.text) == Some(&1);
                if is_own { name } else { word(format!("{} ({})", name.text, id.text), name.at) }
            }
            None => id.clone(),
        };
        if called.insert(id.text.to_string(), name.clone()).is_some() {
            return Err(malformed(places, id.at, format!("node {} stands twice", short(&id.text)), FORM));
        }
        builder.node(name, attributes);
    }
    for value in links {
        let mut link = object(value)?;
        let ends = [take(&mut link, value, "source")?, take(&mut link, value, "target")?];
        let [one, other] = ends.map(|end| {
            called.get(&*end.text).map(|name| word(name.text.clone(), end.at)).ok_or_else(|| {
                let what = format!("a link names `{}`, which is no `id` of a node", short(&end.text));
                malformed(places, end.at, what, "list every node under `nodes`")
            })
        });
        // The number of a parallel edge in a multigraph.
        link.remove("key");
        builder.edge([one?, other?], is_directed, speeds::plain(attributes(link), of));
    }
    if let Some(graph) = members.get("graph").filter(|_| is_topohub(text)) {
        let demands = object(graph)?.get("demands");
        builder.graph.demands =
            demands.map_or(Ok(Vec::new()), |demands| topohub(demands, &called, &object, places, at))?;
    }
    Ok(builder.graph())
}

/// The traffic of TopoHub: by source, then by destination, a value.
fn topohub<'a>(
    demands: &'a RawValue,
    called: &HashMap<String, Word<'a>>,
    object: &dyn Fn(&'a RawValue) -> Result<Members<'a>, SpecError>,
    places: &Places<'_>,
    at: impl Fn(&RawValue) -> usize,
) -> Result<Vec<Demand<'a>>, SpecError> {
    let mut all = Vec::new();
    let name = |id: &str, value: &RawValue| {
        called.get(id).map(|name| word(name.text.clone(), at(value))).ok_or_else(|| {
            let what = format!("a demand names `{}`, which is no `id` of a node", short(id));
            malformed(places, at(value), what, "list every node under `nodes`")
        })
    };
    for (source, destinations) in object(demands)?.of {
        for (destination, value) in object(destinations)?.of {
            let number = value.get().parse::<f64>().ok().filter(|&number| number >= 0.0 && number.is_finite());
            let number =
                number.ok_or_else(|| malformed(places, at(value), "a demand that is no number of 0 or more", FORM))?;
            all.push((name(&source, value)?, name(&destination, value)?, number));
        }
    }
    Ok(all)
}

/// A text without its quotation marks; any other value as it is written.
fn plain(value: &RawValue) -> String {
    serde_json::from_str(value.get()).unwrap_or_else(|_| value.get().to_owned())
}
