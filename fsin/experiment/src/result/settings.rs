//! Settings in results.

use serde_json::{Map, Value, json};

use crate::{Experiment, Key, Kind};

/// The effective settings of an experiment, by name.
pub(super) fn settings(experiment: &Experiment) -> Map<String, Value> {
    typed(experiment.effective())
}

/// Settings by name: integers and numbers as JSON numbers (null if unreadable), switches as booleans, words and paths
/// as strings.
#[must_use]
pub fn typed(settings: Vec<(&'static Key, String)>) -> Map<String, Value> {
    let entry = |(key, value): (&'static Key, String)| {
        let value = match key.kind {
            // A number of things, or a size with its unit.
            Kind::Integer if key.unit.contains("bytes") && value.ends_with('B') => json!(value),
            Kind::Integer => value.parse::<u64>().map_or(Value::Null, |number| json!(number)),
            Kind::Number => value.parse::<f64>().map_or(Value::Null, |number| json!(number)),
            Kind::Switch => json!(value == "true"),
            Kind::Word | Kind::Path => json!(value),
        };
        (key.name.to_owned(), value)
    };
    settings.into_iter().map(entry).collect()
}
