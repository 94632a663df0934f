//! Serialization of results: a result that was read is written again in the same order and to the same digit, figures
//! of other versions included.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::table::{Figure, RunResult};

/// An entry of a result as written.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Written {
    /// A figure of the table; with the value that was read, if this version would write it differently.
    Figure(Figure, Option<Value>),
    /// An entry that this version cannot interpret: an unknown figure, or one of another type.
    Foreign(String, Value),
}

impl Written {
    /// The key of the entry.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Figure(figure, _) => figure.name(),
            Self::Foreign(name, _) => name,
        }
    }

    /// The value written under the key.
    pub(super) fn value(&self, result: &RunResult) -> Value {
        match self {
            Self::Figure(figure, None) => result.value(*figure),
            Self::Figure(_, Some(value)) | Self::Foreign(_, value) => value.clone(),
        }
    }
}

impl Serialize for RunResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.written.len()))?;
        for entry in &self.written {
            match entry {
                Written::Figure(figure, None) => self.write_entry(*figure, &mut map)?,
                Written::Figure(figure, Some(value)) => map.serialize_entry(figure.name(), value)?,
                Written::Foreign(name, value) => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for RunResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

/// Reads a result from a map.
struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = RunResult;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RunResult, A::Error> {
        // A result is incomplete only if it says so.
        let mut result = RunResult { complete: true, ..RunResult::default() };
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            let entry = match Figure::find(&name) {
                Some(figure) if result.read_entry(figure, &value).is_ok() => {
                    // Rows of other versions may have other fields.
                    let differs = result.value(figure) != value;
                    Written::Figure(figure, differs.then_some(value))
                }
                _ => Written::Foreign(name, value),
            };
            result.written.push(entry);
        }
        Ok(result)
    }
}

impl RunResult {
    /// This result, with exactly these figures written.
    pub(super) fn writing(mut self, figures: impl IntoIterator<Item = Figure>) -> Self {
        self.written = figures.into_iter().map(|figure| Written::Figure(figure, None)).collect();
        self
    }

    /// True if the figure is written, even as null.
    #[must_use]
    pub fn has(&self, figure: Figure) -> bool {
        self.written.iter().any(|entry| matches!(entry, Written::Figure(written, _) if *written == figure))
    }

    /// Removes the written figures for which `keep` is false.
    pub(super) fn retain(&mut self, keep: impl Fn(Figure) -> bool) {
        self.written.retain(|entry| match entry {
            Written::Figure(figure, _) => keep(*figure),
            Written::Foreign(..) => true,
        });
    }

    /// The written entries, as names and values.
    #[must_use]
    pub fn to_map(&self) -> Map<String, Value> {
        self.written.iter().map(|entry| (entry.name().to_owned(), entry.value(self))).collect()
    }
}

// Its results are those of live runs.
#[cfg(test)]
#[cfg(feature = "live")]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::super::table::{OF_HOSTS, of_machines, of_network, of_ranks};
    use super::*;

    fn again(text: &str) -> String {
        let result: RunResult = serde_json::from_str(text).unwrap();
        serde_json::to_string(&result).unwrap()
    }

    #[test]
    fn the_keys_are_those_of_the_table() {
        let all = RunResult::default().writing(Figure::ALL.iter().copied());
        let text = serde_json::to_value(&all).unwrap();
        let keys: Vec<&str> = text.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, Figure::ALL.iter().map(|figure| figure.name()).collect::<Vec<_>>());
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len(), "names are unique");
        for &figure in Figure::ALL {
            assert_eq!(Figure::find(figure.name()), Some(figure));
            assert_eq!(all.value(figure), text[figure.name()]);
        }
        assert_eq!(Figure::find("latency"), None);
    }

    #[test]
    fn every_figure_is_of_some_kind_of_run() {
        let guests = of_ranks().chain(of_machines());
        let kinds: BTreeSet<Figure> = of_network().chain(OF_HOSTS.iter().copied()).chain(guests).collect();
        assert_eq!(kinds, Figure::ALL.iter().copied().collect());
    }

    #[test]
    fn what_is_read_is_written_again_to_the_last_digit() {
        for text in [
            r#"{"schema":2,"complete":false,"latency_mean_cycles":0.1,"latency_max_cycles":null,"hop_bytes":3.5e+20}"#,
            // Another order, no version, and unknown figures.
            r#"{"hop_bytes":7,"zebra":[1,{"b":2.5,"a":null}],"cycles":18446744073709551615,"experiment":{"load":0.30000000000000004}}"#,
            r#"{"schema":2,"per_task":[{"finish_ns":2.5},{"finish_ns":3}],"warning_kinds":["saturated"]}"#,
        ] {
            assert_eq!(again(text), text);
        }
    }

    #[test]
    fn what_other_versions_say_is_kept_as_far_as_it_can_be_read() {
        let text = json!({"cycles": "many", "experiment": [], "samples": [{"cycles": 7, "zebra": 1}]}).to_string();
        let result: RunResult = serde_json::from_str(&text).unwrap();
        assert_eq!(result.cycles, None);
        assert!(!result.has(Figure::Experiment) && result.has(Figure::Samples));
        assert_eq!(result.samples.as_ref().unwrap()[0].cycles, 7);
        assert_eq!(serde_json::to_string(&result).unwrap(), text);
        assert_eq!(Value::Object(result.to_map()).to_string(), text);
    }

    #[test]
    fn only_a_result_that_says_so_is_incomplete() {
        assert!(serde_json::from_str::<RunResult>("{}").unwrap().complete);
        assert!(!serde_json::from_str::<RunResult>(r#"{"complete":false}"#).unwrap().complete);
    }
}
