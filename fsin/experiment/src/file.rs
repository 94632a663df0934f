//! Experiment files: TOML with one key for each flag, or a configuration of [another simulator](super::foreign).

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use fsin_core::topology::{self, TOPOLOGIES};

use super::foreign;
use super::keys::{Kind, key, many_key};
use super::meaning::{self, Meaning, Refusal};
use super::settings::{Origin, Setting, Settings, SettingsError};

/// Lists of values by key, from the file of a sweep. A key with one value has a list of one. Either all values of a key
/// apply to every topology, or each applies to one.
pub type Lists = BTreeMap<&'static str, Vec<Setting>>;

/// The nominal place of a text that is in no file.
pub(crate) const NO_FILE: &str = "settings";

/// Reads an experiment file into `settings`. A file is flat: one `key = value` for each flag, without the dashes.
///
/// # Errors
/// A file that cannot be read or is not TOML; a key that is unknown or of the wrong type; a list. The error carries the
/// place in the text.
pub fn read_file(path: &Path, settings: &mut Settings) -> Result<(), SettingsError> {
    read_text(path, &file_text(path)?, settings)
}

/// Reads an experiment file whose values may be lists.
///
/// # Errors
/// As [`read_file`]; lists are allowed, empty ones are not.
pub fn read_lists(path: &Path) -> Result<Lists, SettingsError> {
    lists_of(path, &file_text(path)?)
}

/// The text of an experiment file.
fn file_text(path: &Path) -> Result<String, SettingsError> {
    std::fs::read_to_string(path).map_err(|error| {
        let what = format!("cannot read the experiment {}: {error}", path.display());
        let remedy = match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::IsADirectory => {
                foreign::taken_by(path, foreign::Kind::Experiment).unwrap_or_else(
                    || phrase!["an experiment is a TOML file; if this is a trace, use ", ["trace" => path.display()]],
                )
            }
            _ => match path.to_str() {
                Some(spec) if topology::row(spec).is_some() => phrase!["a topology is ", ["topology" => spec]],
                _ => "give the path of a TOML file, or flags alone".into(),
            },
        };
        SettingsError { error: SpecError::new(ErrorKind::Unreadable, what, remedy), origin: Origin::Flag }
    })
}

/// Parses the text of an experiment file, with `path` as its actual or nominal location, into `settings`.
///
/// # Errors
/// As [`read_file`].
pub fn read_text(path: &Path, text: &str, settings: &mut Settings) -> Result<(), SettingsError> {
    if let Some(found) = meaning_of(path, &text.into()) {
        settings.note(found?.notes);
    }
    for (name, values) in lists_of(path, text)? {
        if let (Some(key), [value, ..]) = (many_key(name), &*values) {
            settings.note_of_many(key, value.origin.clone());
            continue;
        }
        match &*values {
            [value] if !value.listed => settings.set(name, &value.value, value.origin.clone())?,
            [value, ..] => {
                let key = key(name).map_or("...", |key| key.default.unwrap_or("..."));
                let (several, means) = match value.topology {
                    None => ("a list", "a list is an axis of a sweep"),
                    Some(_) => ("values of topologies", "values of several topologies are for a sweep"),
                };
                let what = format!("`{name}` takes one value in a run, not {several}");
                let remedy = format!("{means}: use fsin sweep, or write {name} = {key}");
                let error = SpecError::new(ErrorKind::Malformed, what, remedy).of(name);
                return Err(SettingsError { error, origin: value.origin.clone() });
            }
            [] => {}
        }
    }
    Ok(())
}

/// What a configuration of another simulator means; `None` for any other text.
fn meaning_of(path: &Path, text: &Arc<str>) -> Option<Result<Meaning, SettingsError>> {
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    let found = foreign::meaning(text, folder)?;
    Some(found.map_err(|refusals| {
        let Refusal { error, span } = meaning::together(refusals);
        SettingsError { error, origin: Origin::File { path: path.to_owned(), text: text.clone(), span } }
    }))
}

/// The values by key in the text of an experiment file.
fn lists_of(path: &Path, text: &str) -> Result<Lists, SettingsError> {
    let text: Arc<str> = text.into();
    let origin_at = |span| Origin::File { path: path.to_owned(), text: text.clone(), span };
    if let Some(found) = meaning_of(path, &text) {
        let Meaning { settings, .. } = found?;
        let setting =
            |(key, value, span)| (key, vec![Setting { value, origin: origin_at(span), listed: false, topology: None }]);
        return Ok(settings.into_iter().map(setting).collect());
    }
    let table: BTreeMap<Spanned<String>, Spanned<toml::Value>> =
        toml::from_str(&text).map_err(|error: toml::de::Error| {
            let span = error.span().unwrap_or(0..0);
            let what = format!("{} is not TOML: {}", path.display(), error.message());
            let is_file = path != Path::new(NO_FILE) && path.extension().is_none_or(|extension| extension != "toml");
            let taken_by = || if is_file { foreign::taken_by(path, foreign::Kind::Experiment) } else { None };
            let remedy = match (taken_by(), text.get(span.clone())) {
                (Some(remedy), _) => remedy,
                // A word of digits only is rejected for its magnitude alone.
                (_, Some(word)) if is_whole(word) => "use a smaller number".into(),
                _ if is_file => {
                    phrase!["an experiment is a TOML file; if this is a trace, use ", ["trace" => path.display()]]
                }
                _ => "write one `key = value` a line, words in quotes".into(),
            };
            SettingsError { error: SpecError::new(ErrorKind::Malformed, what, remedy), origin: origin_at(span) }
        })?;
    let mut lists = Lists::new();
    for (name, value) in table {
        // A table may hold values by topology, which belong to a key, or keys of an experiment, as in a section.
        let section =
            |table: &toml::Table| key(name.get_ref()).is_none_or(|key| key.name == "topology") || holds_keys(table);
        if value.get_ref().as_table().is_some_and(section) {
            let what = format!("an experiment has no sections, such as `{}`", name.get_ref());
            let remedy = "write the keys without it: they are the names of the flags";
            let error = SpecError::new(ErrorKind::Malformed, what, remedy);
            return Err(SettingsError { error, origin: origin_at(name.span()) });
        }
        let Some(key) = key(name.get_ref()).or_else(|| many_key(name.get_ref())) else {
            Settings::default().set(name.get_ref(), "", origin_at(name.span()))?;
            continue;
        };
        let wrong = |expected: &str| {
            let what = format!("`{}` takes {expected}", key.name);
            let remedy = format!("write {} = {}", key.name, example(key));
            let error = SpecError::new(ErrorKind::Malformed, what, remedy).of(key.name);
            SettingsError { error, origin: origin_at(value.span()) }
        };
        let mut values = Vec::new();
        let mut add = |value_or_list: &toml::Value, topology: Option<&String>| {
            let (items, listed) = match value_or_list {
                toml::Value::Array(_) if many_key(key.name).is_some() => return Err(wrong("one value, not a list")),
                toml::Value::Array(items) if items.is_empty() => return Err(wrong("a value, or a list of some")),
                toml::Value::Array(items) => (&**items, true),
                one => (std::slice::from_ref(one), topology.is_some()),
            };
            for item in items {
                let word = word_of(path, key, item).map_err(wrong)?;
                let topology = topology.cloned();
                values.push(Setting { value: word, origin: origin_at(value.span()), listed, topology });
            }
            Ok(())
        };
        match value.get_ref() {
            // Values by topology: `routing = { torus = "bubble:smart", dragonfly = "dragonfly:ugal" }`.
            toml::Value::Table(of_topologies) => {
                if many_key(key.name).is_some() {
                    return Err(wrong("one value"));
                }
                if of_topologies.is_empty() {
                    return Err(wrong("a value for each topology"));
                }
                for (topology, value_or_list) in of_topologies {
                    check_family(topology).map_err(|refusal| SettingsError {
                        error: refusal.within(format!("`{}`: ", key.name)),
                        origin: origin_at(value.span()),
                    })?;
                    add(value_or_list, Some(topology))?;
                }
            }
            one => add(one, None)?,
        }
        lists.insert(key.name, values);
    }
    Ok(lists)
}

/// True if a word is a whole number of any size.
fn is_whole(word: &str) -> bool {
    let digits = word.trim().trim_start_matches(['+', '-']).replace('_', "");
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// True if a key of an experiment is in a table, and cannot be the name of a topology.
fn holds_keys(table: &toml::Table) -> bool {
    table.keys().any(|name| key(name).is_some() && check_family(name).is_err())
}

/// Rejects words that are neither a topology nor a family of topologies.
fn check_family(topology: &str) -> Result<(), SpecError> {
    let known = TOPOLOGIES.names();
    let family = topology.split(':').next().unwrap_or(topology);
    if known.contains(&family) { Ok(()) } else { Err(SpecError::unknown("topology", family, &known)) }
}

/// A value as written in a file: the default, or an example.
fn example(key: &super::keys::Key) -> String {
    match (key.kind, key.default) {
        // The default is off, so the example switches it on.
        (Kind::Switch, _) => "true".to_owned(),
        (Kind::Integer, None) => "N, a whole number without quotes".to_owned(),
        (Kind::Number, None) => "X, a number without quotes".to_owned(),
        (_, default) => super::settings::toml_value(key, default.unwrap_or("...")),
    }
}

/// A value of a file as it would be written after a flag; else the expected type.
fn word_of(path: &Path, key: &super::keys::Key, value: &toml::Value) -> Result<String, &'static str> {
    Ok(match (key.kind, value) {
        (Kind::Integer | Kind::Number, toml::Value::Integer(number)) => number.to_string(),
        (Kind::Number, toml::Value::Float(number)) => super::settings::decimal(*number),
        // A range; a run rejects the word where it needs the number.
        (Kind::Integer | Kind::Number, toml::Value::String(word)) if word.contains("..") => word.clone(),
        // A size with its unit.
        (Kind::Integer, toml::Value::String(word)) if key.unit.contains("bytes") => word.clone(),
        (Kind::Switch, toml::Value::Boolean(on)) => on.to_string(),
        (Kind::Word, toml::Value::String(word)) => word.clone(),
        (Kind::Path, toml::Value::String(word)) => beside(path, word),
        (Kind::Integer, _) => return Err("a whole number"),
        (Kind::Number, _) => return Err("a number"),
        (Kind::Switch, _) => return Err("true or false"),
        (Kind::Word | Kind::Path, _) => return Err("a word in quotes"),
    })
}

/// Resolves a path in an experiment file relative to that file.
fn beside(file: &Path, word: &str) -> String {
    match file.parent() {
        Some(folder) if Path::new(word).is_relative() => folder.join(word).display().to_string(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, SettingsError> {
        let mut settings = Settings::default();
        read_text(Path::new("dir/e.toml"), text, &mut settings).map(|()| settings)
    }

    #[test]
    fn a_file_sets_keys_and_paths_are_beside_it() {
        let settings = read("load = 0.5\nvcs = 2\nstrict = true\ntrace = 'a.trc'\n").unwrap();
        assert_eq!(settings.value("load"), Some("0.5"));
        assert_eq!(settings.value("vcs"), Some("2"));
        assert_eq!(settings.value("strict"), Some("true"));
        assert_eq!(settings.value("trace"), Some("dir/a.trc"));
        assert_eq!(settings.value("seed"), Some("1"), "defaults show through");
        assert_eq!(settings.value("cycles"), None);
    }

    #[test]
    fn every_switch_is_answered_with_what_can_be_written() {
        for key in crate::keys().iter().filter(|key| key.kind == Kind::Switch) {
            for wrong in ["'yes'", "1", "[]"] {
                let error = read(&format!("{} = {wrong}", key.name)).unwrap_err();
                let remedy = error.error.remedy().to_string();
                let example = remedy.strip_prefix("write ").unwrap();
                assert_eq!(example, format!("{} = true", key.name), "{wrong}");
                assert_eq!(read(example).unwrap().value(key.name), Some("true"));
            }
        }
    }

    #[test]
    fn errors_point_at_the_place() {
        for (text, place, what, remedy) in [
            ("vcs = 2\nlaod = 0.5\n", "laod", "unknown key `laod`", "did you mean `load`?"),
            ("load = \"high\"", "\"high\"", "`load` takes a number", "write load = 0.3"),
            ("load = [0.1, 0.2]", "[0.1, 0.2]", "`load` takes one value", "use fsin sweep, or write load = 0.3"),
            ("vcs = 2.5", "2.5", "whole number", "write vcs = 3"),
            ("tasks-per-node = 'two'", "'two'", "whole number", "write tasks-per-node = N, a whole number"),
            ("[network]\nvcs = 2", "network", "no sections, such as `network`", "without it"),
            ("colour = 2", "colour", "unknown key `colour`", "known:"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.to_string().contains(what), "{text}: {error}");
            let said = error.error.remedy().to_string();
            assert!(said.contains(remedy), "{text}: {said}");
            let Origin::File { span, .. } = error.origin else { panic!("{text}: no place") };
            assert_eq!(&text[span], place);
        }
        assert!(matches!(read("load = = 3").unwrap_err().origin, Origin::File { .. }));
    }
}
