//! Settings in which two sets of results differ.

use std::collections::BTreeSet;

use serde_json::Value;

use super::collect::{Collected, Row};
use crate::result::InputFile;
use crate::settings::canonical_number;
use crate::{Kind, key, without_folders};

/// A setting or other input whose values differ between two sets of results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangedSetting {
    /// Name of the setting; `fsin` is the build of the program, `contents of NAME` an input file.
    pub key: String,
    /// The values in the baseline, each once; empty if no experiment of the baseline has the setting.
    pub baseline: Vec<String>,
    /// The values in the candidate, in the same way.
    pub candidate: Vec<String>,
}

impl ChangedSetting {
    /// The values of both sides in words; for many values their number, the first and the last.
    #[must_use]
    pub fn words(&self) -> [String; 2] {
        const MANY: usize = 4;
        [&self.baseline, &self.candidate].map(|values| match &values[..] {
            [] => "-".to_owned(),
            [first, .., last] if values.len() > MANY => format!("{} values, {first} ... {last}", values.len()),
            few => few.join(", "),
        })
    }
}

/// The differences: settings in the order of the experiments, then input files, then the build.
#[must_use]
pub fn changed_settings(baseline: &Collected, candidate: &Collected) -> Vec<ChangedSetting> {
    let (before, after) = (inputs(&baseline.rows), inputs(&candidate.rows));
    let mut keys: Vec<&String> = Vec::new();
    for (key, _) in before.iter().chain(&after) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.sort_by_key(|key| if *key == BUILD { 2 } else { u8::from(key.starts_with(CONTENTS)) });
    let values_of = |inputs: &[(String, Vec<String>)], key: &str| -> Vec<String> {
        inputs.iter().find(|(known, _)| known == key).map(|(_, values)| values.clone()).unwrap_or_default()
    };
    let both = keys.into_iter().map(|key| ChangedSetting {
        key: key.clone(),
        baseline: values_of(&before, key),
        candidate: values_of(&after, key),
    });
    let set = |values: &[String]| values.iter().cloned().collect::<BTreeSet<_>>();
    both.filter(|changed| set(&changed.baseline) != set(&changed.candidate)).collect()
}

/// The key of the build of the program.
const BUILD: &str = "fsin";
/// The beginning of the key of the contents of a file.
const CONTENTS: &str = "contents of ";

/// The inputs of experiments, with their values in order of occurrence.
pub fn inputs(rows: &[Row]) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    let mut put = |name: &str, value: String| {
        let values = match all.iter().position(|(known, _)| known == name) {
            Some(at) => &mut all[at].1,
            None => {
                all.push((name.to_owned(), Vec::new()));
                let last = all.len() - 1;
                &mut all[last].1
            }
        };
        if !values.contains(&value) {
            values.push(value);
        }
    };
    for row in rows {
        for (name, value) in &row.result.experiment {
            match value {
                Value::Null => {}
                // Files are identified by content, not by location.
                Value::String(word) if key(name).is_some_and(|key| key.kind == Kind::Path) => {
                    put(name, word.rsplit('/').next().unwrap_or(word).to_owned());
                }
                Value::String(word) => put(name, without_folders(name, word.clone())),
                other => put(name, canonical_number(other.to_string())),
            }
        }
        let manifest = &row.result.manifest;
        for InputFile { path, sha256, .. } in &manifest.inputs {
            put(&format!("{CONTENTS}{}", path.rsplit('/').next().unwrap_or(path)), sha256.chars().take(12).collect());
        }
        if let (Some(version), Some(commit)) = (&manifest.version, &manifest.commit) {
            put(BUILD, format!("{version} ({commit})"));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn results(experiments: &[Value]) -> Collected {
        let row = |experiment: &Value| {
            let manifest = json!({ "version": "1", "commit": "a" });
            let result = json!({ "experiment": experiment, "manifest": manifest });
            Row { index: 0, result: serde_json::from_value(result).expect("it is a result") }
        };
        Collected { rows: experiments.iter().map(row).collect(), ..Collected::default() }
    }

    #[test]
    fn settings_that_are_not_shared_are_named() {
        let before = results(&[json!({"vcs": 1, "load": 0.1, "trace": "a/x"}), json!({"vcs": 1, "load": 0.2})]);
        let after = results(&[json!({"vcs": 3, "load": 0.2, "trace": "b/x"}), json!({"vcs": 3, "load": 0.1})]);
        let found = changed_settings(&before, &after);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].key.as_str(), found[0].words()), ("vcs", ["1".to_owned(), "3".to_owned()]));
        let more = results(&[json!({"vcs": 1, "load": 0.1, "trace": "a/x", "size": "constant"}), json!({"load": 0.3})]);
        let words: Vec<_> = changed_settings(&before, &more)
            .into_iter()
            .map(|changed| (changed.key.clone(), changed.words()))
            .collect();
        let expected = [("load", ["0.1, 0.2", "0.1, 0.3"]), ("size", ["-", "constant"])];
        assert_eq!(words, expected.map(|(key, words)| (key.to_owned(), words.map(str::to_owned))));
    }
}
