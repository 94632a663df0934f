//! The documented form of results: a JSON Schema, and its parts for reference pages.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::table::{
    Figure, OF_COLLECTIVES, OF_DEAD_LINKS, OF_FLOWS, OF_GUESTS, OF_HISTOGRAM, OF_HOSTS, OF_JOBS, OF_LINKS, OF_MESSAGES,
    OF_NODES, RunResult, of_network,
};

/// The JSON Schema (draft 2020-12) of the result of a run.
#[must_use]
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<RunResult>().to_value();
    plain(&mut schema);
    if let Value::Object(root) = &mut schema {
        root.insert("title".to_owned(), json!("Result of a run of fsin"));
        let about = "Every figure of a run. Those that this kind of run does not have are absent, or null where they cannot be computed.";
        root.insert("description".to_owned(), json!(about));
        let required: Vec<&str> = everywhere().map(Figure::name).collect();
        root.insert("required".to_owned(), json!(required));
    }
    schema
}

/// The figures of every kind of run.
fn everywhere() -> impl Iterator<Item = Figure> {
    const SOMETIMES: [&[Figure]; 8] =
        [OF_COLLECTIVES, OF_DEAD_LINKS, OF_LINKS, OF_JOBS, OF_NODES, OF_FLOWS, OF_HISTOGRAM, OF_MESSAGES];
    let is_sometimes = |figure: &Figure| SOMETIMES.iter().any(|figures| figures.contains(figure));
    of_network().filter(move |figure| !is_sometimes(figure) && OF_HOSTS.contains(figure) && OF_GUESTS.contains(figure))
}

/// Descriptions without rustdoc markup, and without parts for Rust alone.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(text)) = map.get_mut("description") {
                *text = text.replace("\\[", "[").replace("\\]", "]").replace('\n', " ");
            }
            map.remove("default");
            map.remove("format");
            map.values_mut().for_each(plain);
        }
        Value::Array(list) => list.iter_mut().for_each(plain),
        _ => {}
    }
}

/// A figure of several parts, or a row of a tabular figure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The figures that are such objects or lists of them.
    pub of: Vec<&'static str>,
    /// Description.
    pub about: String,
    /// The fields: name, unit (empty if there is none), meaning.
    pub fields: Vec<(String, String, String)>,
}

/// The parts of figures that are not scalars, in the order of the table.
#[must_use]
pub fn parts() -> Vec<Part> {
    let schema = schema();
    let definitions = schema["$defs"].as_object().cloned().unwrap_or_default();
    let mut parts: Vec<(String, Part)> = Vec::new();
    for &figure in Figure::ALL {
        for name in reached(&schema["properties"][figure.name()], &definitions) {
            match parts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, part)) => part.of.push(figure.name()),
                None => parts.extend(part(figure, &definitions[&name]).map(|part| (name, part))),
            }
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

/// The definitions that a schema refers to, followed by those that they refer to.
fn reached(schema: &Value, definitions: &Map<String, Value>) -> Vec<String> {
    match schema {
        Value::Object(map) => {
            let own = map.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
            let own = own.into_iter().flat_map(|name| {
                let inner = definitions.get(name).map_or_else(Vec::new, |inner| reached(inner, definitions));
                std::iter::once(name.to_owned()).chain(inner)
            });
            own.chain(map.values().flat_map(|value| reached(value, definitions))).collect()
        }
        Value::Array(list) => list.iter().flat_map(|value| reached(value, definitions)).collect(),
        _ => Vec::new(),
    }
}

/// The part of results that `figure` refers to, from its definition in the schema; `None` if the definition has no
/// fields.
fn part(figure: Figure, definition: &Value) -> Option<Part> {
    let field = |(name, schema): (&String, &Value)| {
        let about = schema["description"].as_str().unwrap_or("");
        let (unit, meaning) = about.strip_prefix('[').and_then(|rest| rest.split_once("] ")).unwrap_or(("", about));
        (name.clone(), unit.to_owned(), meaning.to_owned())
    };
    let fields = definition["properties"].as_object()?.iter().map(field).collect();
    let about = definition["description"].as_str().unwrap_or("").to_owned();
    Some(Part { of: vec![figure.name()], about, fields })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_figure_is_documented_and_nothing_else() {
        let schema = schema();
        let documented: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let table: Vec<&str> = Figure::ALL.iter().map(|figure| figure.name()).collect();
        assert_eq!(documented, table);
        let about = |figure: Figure| schema["properties"][figure.name()]["description"].as_str().unwrap().to_owned();
        assert_eq!(about(Figure::HopsMean), format!("[links] {}", Figure::HopsMean.meaning()));
        assert_eq!(about(Figure::Complete), Figure::Complete.meaning());
    }

    #[test]
    fn types_are_those_of_the_table() {
        let schema = schema();
        for figure in Figure::ALL {
            let own = &schema["properties"][figure.name()];
            let types = match &own["type"] {
                Value::String(word) => vec![word.clone()],
                Value::Array(words) => words.iter().map(|word| word.as_str().unwrap().to_owned()).collect(),
                // A reference, or one of it and null, is to a definition of an object.
                _ => vec!["object".to_owned()],
            };
            assert!(types.contains(&figure.shape().to_string()), "{}: {own}", figure.name());
        }
    }

    #[test]
    fn fields_of_rows_have_meanings() {
        let parts = parts();
        let named: BTreeSet<&str> = parts.iter().flat_map(|part| part.of.iter().copied()).collect();
        for table in ["failure", "samples", "shots", "per_task", "jobs", "guests", "manifest", "running_digests"] {
            assert!(named.contains(table), "{table}: {named:?}");
        }
        for (name, _, meaning) in parts.iter().flat_map(|part| &part.fields) {
            assert!(!meaning.is_empty(), "{name}");
        }
        let samples = parts.iter().find(|part| part.of == ["samples"]).unwrap();
        assert!(samples.fields.contains(&("cycles".to_owned(), "cycles".to_owned(), "Its length.".to_owned())));
    }
}
