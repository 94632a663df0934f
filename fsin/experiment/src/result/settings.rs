//! Settings in results.

use serde_json::{Map, Value, json};

use crate::{Experiment, Key, Kind};

/// The resolved experiment.
pub(super) fn settings(experiment: &Experiment) -> Map<String, Value> {
    typed(experiment.effective())
}

/// Settings by their names: numbers as numbers, words as words.
#[must_use]
pub fn typed(settings: Vec<(&'static Key, String)>) -> Map<String, Value> {
    let entry = |(key, value): (&'static Key, String)| {
        let value = match key.kind {
            Kind::Integer => value.parse::<u64>().map_or(Value::Null, |number| json!(number)),
            Kind::Number => value.parse::<f64>().map_or(Value::Null, |number| json!(number)),
            Kind::Switch => json!(value == "true"),
            Kind::Word | Kind::Path => json!(value),
        };
        (key.name.to_owned(), value)
    };
    settings.into_iter().map(entry).collect()
}
