//! Experiment files: TOML with one key for each flag.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use toml::Spanned;

use super::keys::{Kind, key};
use super::settings::{Origin, Settings, SettingsError};

/// Reads an experiment file into `settings`. A file is flat: one `key = value` for each flag, without the dashes.
///
/// # Errors
/// A file that cannot be read, that is not TOML, or that has a key that is unknown or of the wrong kind; the error
/// carries the place in the text.
pub fn read_file(path: &Path, settings: &mut Settings) -> Result<(), SettingsError> {
    let text = std::fs::read_to_string(path).map_err(|error| SettingsError {
        what: format!("cannot read the experiment {}: {error}", path.display()),
        remedy: "give the path of a TOML file, or flags alone".to_owned(),
        origin: Origin::Flag,
    })?;
    read_text(path, &text, settings)
}

fn read_text(path: &Path, text: &str, settings: &mut Settings) -> Result<(), SettingsError> {
    let text: Arc<str> = text.into();
    let at = |span| Origin::File { path: path.to_owned(), text: text.clone(), span };
    let table: BTreeMap<Spanned<String>, Spanned<toml::Value>> =
        toml::from_str(&text).map_err(|error| SettingsError {
            what: format!("{} is not TOML: {}", path.display(), error.message()),
            remedy: match error.message() {
                // The parser's words for it speak of types.
                message if ["i128", "overflow", "too large"].iter().any(|word| message.contains(word)) => {
                    "use a smaller number".to_owned()
                }
                _ if path.extension().is_none_or(|extension| extension != "toml") => {
                    format!("an experiment is a TOML file; if this is a trace, use --trace {}", path.display())
                }
                _ => "write one `key = value` a line, words in quotes".to_owned(),
            },
            origin: at(error.span().unwrap_or(0..0)),
        })?;
    for (name, value) in table {
        if value.get_ref().is_table() {
            return Err(SettingsError {
                what: format!("an experiment has no sections, such as `{}`", name.get_ref()),
                remedy: "write the keys without it: they are the names of the flags".to_owned(),
                origin: at(name.span()),
            });
        }
        let Some(key) = key(name.get_ref()) else {
            settings.set(name.get_ref(), "", at(name.span()))?;
            continue;
        };
        let wrong = |expected: &str| SettingsError {
            what: format!("`{}` takes {expected}", key.name),
            remedy: format!("write {} = {}", key.name, super::settings::toml_value(key, key.default.unwrap_or("..."))),
            origin: at(value.span()),
        };
        let word = match (key.kind, value.get_ref()) {
            (Kind::Integer | Kind::Number, toml::Value::Integer(number)) => number.to_string(),
            (Kind::Number, toml::Value::Float(number)) => number.to_string(),
            (Kind::Switch, toml::Value::Boolean(on)) => on.to_string(),
            (Kind::Word, toml::Value::String(word)) => word.clone(),
            (Kind::Path, toml::Value::String(word)) => beside(path, word),
            (_, toml::Value::Array(_)) => return Err(wrong("one value in a run, not a list")),
            (Kind::Integer, _) => return Err(wrong("a whole number")),
            (Kind::Number, _) => return Err(wrong("a number")),
            (Kind::Switch, _) => return Err(wrong("true or false")),
            (Kind::Word | Kind::Path, _) => return Err(wrong("a word in quotes")),
        };
        settings.set(key.name, word, at(value.span()))?;
    }
    Ok(())
}

/// A path that stands in an experiment file is relative to that file.
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
    fn errors_point_at_the_place() {
        for (text, place, what, remedy) in [
            ("vcs = 2\nlaod = 0.5\n", "laod", "unknown key `laod`", "did you mean `load`?"),
            ("load = \"high\"", "\"high\"", "`load` takes a number", "write load = 0.3"),
            ("load = [0.1, 0.2]", "[0.1, 0.2]", "`load` takes one value", "write load = 0.3"),
            ("vcs = 2.5", "2.5", "whole number", "write vcs = 3"),
            ("[network]\nvcs = 2", "network", "no sections, such as `network`", "without it"),
            ("colour = 2", "colour", "unknown key `colour`", "known:"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.what.contains(what), "{text}: {error}");
            assert!(error.remedy.contains(remedy), "{text}: {}", error.remedy);
            let Origin::File { span, .. } = error.origin else { panic!("{text}: no place") };
            assert_eq!(&text[span], place);
        }
        assert!(matches!(read("load = = 3").unwrap_err().origin, Origin::File { .. }));
    }
}
