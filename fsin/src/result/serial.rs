//! Results as text and back: what is read is written again in the same order and to the same digit, figures of other versions
//! too.

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::SCHEMA;
use super::table::{Figure, RunResult};

/// An entry of a result as it is written.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Written {
    /// A figure of the table.
    Figure(Figure),
    /// Of another version, which has other figures.
    Foreign(String, Value),
}

impl Serialize for RunResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.written.len()))?;
        for entry in &self.written {
            match entry {
                Written::Figure(figure) => self.write_entry(*figure, &mut map)?,
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

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = RunResult;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the figures of a run")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RunResult, A::Error> {
        // Only a result that says so is incomplete.
        let mut result = RunResult { complete: true, ..RunResult::default() };
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            let Some(figure) = Figure::find(&name) else {
                result.written.push(Written::Foreign(name, value));
                continue;
            };
            match result.read_entry(figure, &value) {
                Ok(()) => result.written.push(Written::Figure(figure)),
                Err(error) if result.schema == SCHEMA => {
                    return Err(A::Error::custom(format_args!("`{name}`: {error}")));
                }
                // Other versions may have meant something else.
                Err(_) => result.written.push(Written::Foreign(name, value)),
            }
        }
        Ok(result)
    }
}

impl RunResult {
    /// The same with exactly these figures written.
    pub(super) fn writing(mut self, figures: impl IntoIterator<Item = Figure>) -> Self {
        self.written = figures.into_iter().map(Written::Figure).collect();
        self
    }

    /// True if the figure is written, be it null.
    #[must_use]
    pub fn has(&self, figure: Figure) -> bool {
        self.written.contains(&Written::Figure(figure))
    }

    /// Leaves out figures of which `keep` is false.
    pub(super) fn retain(&mut self, keep: impl Fn(Figure) -> bool) {
        self.written.retain(|entry| match entry {
            Written::Figure(figure) => keep(*figure),
            Written::Foreign(..) => true,
        });
    }

    /// What is written, as names and values.
    #[must_use]
    pub fn to_map(&self) -> Map<String, Value> {
        let entry = |entry: &Written| match entry {
            Written::Figure(figure) => (figure.name().to_owned(), self.value(*figure)),
            Written::Foreign(name, value) => (name.clone(), value.clone()),
        };
        self.written.iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::super::table::{OF_GUESTS, OF_HOSTS, of_network};
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
        let kinds: BTreeSet<Figure> =
            of_network().chain(OF_HOSTS.iter().copied()).chain(OF_GUESTS.iter().copied()).collect();
        assert_eq!(kinds, Figure::ALL.iter().copied().collect());
    }

    #[test]
    fn what_is_read_is_written_again_to_the_last_digit() {
        for text in [
            r#"{"schema":2,"complete":false,"latency_mean_cycles":0.1,"latency_max_cycles":null,"hop_bytes":3.5e20}"#,
            // Another order, no version, and figures that nobody knows.
            r#"{"hop_bytes":7,"zebra":[1,{"b":2.50,"a":null}],"cycles":18446744073709551615,"experiment":{"load":0.30000000000000004}}"#,
            r#"{"schema":2,"per_task":[{"finish_ns":2.5},{"finish_ns":3}],"warning_kinds":["saturated"]}"#,
        ] {
            assert_eq!(again(text), text.replace("2.50", "2.5").replace("3.5e20", "3.5e20"));
        }
    }

    #[test]
    fn a_figure_of_the_wrong_type_is_an_error_of_this_version_alone() {
        let of = |schema: u64| json!({"schema": schema, "cycles": "many"}).to_string();
        let error = serde_json::from_str::<RunResult>(&of(SCHEMA)).unwrap_err().to_string();
        assert!(error.contains("`cycles`"), "{error}");
        assert_eq!(again(&of(SCHEMA - 1)), of(SCHEMA - 1));
        assert_eq!(serde_json::from_str::<RunResult>(&of(SCHEMA - 1)).unwrap().cycles, None);
    }

    #[test]
    fn only_a_result_that_says_so_is_incomplete() {
        assert!(serde_json::from_str::<RunResult>("{}").unwrap().complete);
        assert!(!serde_json::from_str::<RunResult>(r#"{"complete":false}"#).unwrap().complete);
    }
}
