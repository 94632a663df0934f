//! Settings, their origins and locations: defaults < file < environment < flags.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;

use super::job_classes;
use super::keys::{Key, Kind, MANY_KEYS, key, keys};
use super::models;
use super::text_file;
use fsin_core::family::Values;

/// Where a value was set.
#[derive(Clone, PartialEq, Debug)]
pub enum Origin {
    /// The value is not set: the default applies.
    Default,
    /// An experiment file.
    File {
        /// Its path.
        path: PathBuf,
        /// Its text.
        text: Arc<str>,
        /// \[bytes\] Location of the value in the text.
        span: Range<usize>,
    },
    /// An environment variable.
    Environment,
    /// A flag of the command.
    Flag,
}

/// A value and its origin.
#[derive(Clone, PartialEq, Debug)]
pub struct Setting {
    /// The value in canonical form.
    pub value: String,
    /// Its origin.
    pub origin: Origin,
    /// True if it is an element of a list.
    pub listed: bool,
    /// The topology, or family of topologies, that it applies to; `None` for all.
    pub topology: Option<String>,
}

/// A setting that cannot be used.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{error}")]
pub struct SettingsError {
    /// The setting, why it cannot be used, and the remedy.
    pub error: SpecError,
    /// Its origin.
    pub origin: Origin,
}

/// All settings of an experiment.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Settings {
    /// By key: the value and its origin, where it is set.
    set: BTreeMap<&'static str, Setting>,
    /// Keys of commands on many experiments that a file sets, with their origins.
    of_many: Vec<(&'static Key, Origin)>,
    /// What the file that they are from says without effect, or in a way that may be misunderstood.
    notes: Vec<String>,
}

impl Settings {
    /// Sets a key; a later layer overrides an earlier one.
    ///
    /// # Errors
    /// An unknown key.
    pub fn set(&mut self, name: &str, value: impl Into<String>, origin: Origin) -> Result<(), SettingsError> {
        match key(name) {
            Some(key) => {
                let value = canonical(key, value.into());
                self.set.insert(key.name, Setting { value, origin, listed: false, topology: None });
                Ok(())
            }
            None => {
                let known: Vec<&str> = keys().iter().chain(MANY_KEYS).map(|key| key.name).collect();
                let error = SpecError::unknown("key", name, &known);
                Err(SettingsError { error, origin })
            }
        }
    }

    /// Notes that a file sets a key of commands on many experiments.
    pub(super) fn note_of_many(&mut self, key: &'static Key, origin: Origin) {
        self.of_many.push((key, origin));
    }

    /// Keys of commands on many experiments that a file sets, with their origins: a single run does not use them.
    #[must_use]
    pub fn of_many(&self) -> &[(&'static Key, Origin)] {
        &self.of_many
    }

    /// Adds notes on the file from which settings are read.
    pub(super) fn note(&mut self, notes: Vec<String>) {
        self.notes.extend(notes);
    }

    /// Notes on the file from which settings were read: what has no effect there, or may be misunderstood.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// True if this key is set explicitly.
    #[must_use]
    pub fn is_set(&self, name: &str) -> bool {
        self.origin(name) != Origin::Default
    }

    /// True if this key has a value that is none of the table's: it is set, or what its absence means is known.
    pub(super) fn has(&self, name: &str) -> bool {
        self.set.contains_key(name)
    }

    /// Replaces the value of a key, or its absence, by what it means. The origin stays.
    pub(super) fn settle(&mut self, name: &'static str, value: &str) {
        let setting = Setting { value: String::new(), origin: Origin::Default, listed: false, topology: None };
        value.clone_into(&mut self.set.entry(name).or_insert(setting).value);
    }

    /// The base folder of paths in a topology, pattern or placement: that of the experiment file if they are set there.
    pub(super) fn folder_of(&self, key: &str) -> PathBuf {
        match self.origin(key) {
            Origin::File { path, .. } => path.parent().map(Into::into).unwrap_or_default(),
            Origin::Default | Origin::Environment | Origin::Flag => PathBuf::new(),
        }
    }

    /// The origin of this key's value.
    #[must_use]
    pub fn origin(&self, name: &str) -> Origin {
        self.set.get(name).map_or(Origin::Default, |setting| setting.origin.clone())
    }

    /// The value of a key: as set, or its default; `None` if it is absent.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.set.get(name).map(|setting| setting.value.as_str()).or_else(|| self.usual(name))
    }

    /// The default of a key, which can be the model's own; `None` if it has none.
    pub(super) fn usual(&self, name: &str) -> Option<&'static str> {
        let model = self.set.get("network").and_then(|setting| models::named(&setting.value));
        model.and_then(|model| model.default_of(name)).or_else(|| key(name).and_then(|key| key.default))
    }

    /// An error about the value of a key.
    #[must_use]
    pub fn error(
        &self,
        name: &'static str,
        kind: ErrorKind,
        what: impl Into<Phrase>,
        remedy: impl Into<Phrase>,
    ) -> SettingsError {
        self.placed(name, SpecError::new(kind, what, remedy))
    }

    /// An error about the value of a key that names the key.
    #[must_use]
    pub fn placed(&self, name: &'static str, error: SpecError) -> SettingsError {
        let error = match self.origin(name) {
            Origin::Environment => {
                let what = phrase![error.what(), (" (set by {})", variable(name))];
                error.saying(what)
            }
            Origin::Default | Origin::File { .. } | Origin::Flag => error,
        };
        SettingsError { error: error.of(name), origin: self.origin(name) }
    }

    /// An error about the value of a key that does not name the key.
    #[must_use]
    pub fn refused(&self, name: &'static str, refusal: SpecError) -> SettingsError {
        self.placed(name, refusal.within(phrase![[name], ": "]))
    }

    /// The value of a key that always has one.
    pub(super) fn word(&self, name: &'static str) -> &str {
        self.value(name).unwrap_or("")
    }

    /// The value of a key as an integer below 2^63, the range of integers in an experiment file.
    pub(super) fn integer<T: FromStr>(&self, name: &'static str) -> Result<T, SettingsError> {
        self.values().integer(name).map_err(|error| self.placed(name, error))
    }

    /// The value of a key as a finite number.
    pub(super) fn number(&self, name: &'static str) -> Result<f64, SettingsError> {
        self.values().number(name).map_err(|error| self.placed(name, error))
    }

    /// The value of a key as one of a few words.
    pub(super) fn choice<T: Copy>(&self, name: &'static str, choices: &[(&str, T)]) -> Result<T, SettingsError> {
        self.values().choice(name, choices).map_err(|error| self.placed(name, error))
    }

    /// The value of a key, parsed.
    pub(super) fn parsed<T: FromStr<Err = SpecError>>(&self, name: &'static str) -> Result<T, SettingsError> {
        self.word(name).parse().map_err(|refusal| self.refused(name, refusal))
    }

    /// The values, as models read them.
    pub fn values(&self) -> &dyn Values {
        // Topologies of files are among them.
        fsin_networks::install();
        self
    }

    /// Every key that has a value and satisfies `keep`, with its value, in the order of [`keys`].
    pub fn effective(&self, keep: impl Fn(&Key) -> bool) -> Vec<(&'static Key, String)> {
        keys()
            .iter()
            .filter(|key| keep(key))
            .filter_map(|key| self.value(key.name).map(|value| (key, value.to_owned())))
            .collect()
    }
}

impl Values for Settings {
    fn key(&self, name: &str) -> Option<&'static Key> {
        key(name)
    }

    fn value(&self, name: &str) -> Option<&str> {
        Self::value(self, name)
    }

    fn is_set(&self, name: &str) -> bool {
        Self::is_set(self, name)
    }

    fn is_insisted(&self, name: &str) -> bool {
        self.origin(name) == Origin::Flag
    }

    fn folder_of(&self, name: &str) -> PathBuf {
        Self::folder_of(self, name)
    }

    fn text(&self, path: &Path, most: u64) -> io::Result<String> {
        text_file::read(path, most)
    }

    fn classes_of_jobs(&self) -> u8 {
        job_classes::of(Path::new(self.word("job-mix")))
    }

    fn unit(&self, name: &str) -> &'static str {
        match name {
            "load" => models::load_unit(self.word("network")),
            name => key(name).map_or("", |key| key.unit),
        }
    }

    fn write(&self, name: &'static str, value: &str) -> Phrase {
        match self.origin(name) {
            Origin::File { .. } => phrase!["write {name} = {value}"],
            Origin::Environment => phrase![("write {}={value}", variable(name))],
            Origin::Default | Origin::Flag => phrase!["write ", [name => value]],
        }
    }
}

/// The environment variable of a key.
#[must_use]
pub fn variable(name: &str) -> String {
    format!("FSIN_{}", name.to_uppercase().replace('-', "_"))
}

/// The whole number that a word means for a key: sizes in bytes may have a unit.
pub(super) fn whole(key: &Key, word: &str) -> Option<u64> {
    if key.unit.ends_with("bytes") { trgen::units::bytes(word) } else { word.parse().ok() }
}

/// The canonical form of a value: equal numbers give the same word.
#[must_use]
pub fn canonical(key: &Key, value: String) -> String {
    match key.kind {
        Kind::Integer => whole(key, &value).map_or(value, |number| number.to_string()),
        Kind::Number => canonical_number(value),
        Kind::Word | Kind::Path | Kind::Switch => value,
    }
}

/// The canonical form of a number.
pub(super) fn canonical_number(value: String) -> String {
    value.parse::<f64>().ok().filter(|number| number.is_finite()).map_or(value, decimal)
}

/// A number as written in a file: without an exponent, unless it would be too long to be parsed again.
pub(super) fn decimal(number: f64) -> String {
    // Turns -0 into 0.
    let number = number + 0.0;
    if number.abs() < 1e15 { number.to_string() } else { format!("{number:e}") }
}

/// A value as TOML writes it.
pub(super) fn toml_value(key: &Key, value: &str) -> String {
    let plain = match key.kind {
        Kind::Integer => value.parse::<u64>().is_ok(),
        Kind::Number => value.parse::<f64>().is_ok_and(f64::is_finite),
        Kind::Switch => matches!(value, "true" | "false"),
        Kind::Word | Kind::Path => false,
    };
    if plain { value.to_owned() } else { quoted(value) }
}

/// A text as TOML quotes it.
fn quoted(value: impl Display) -> String {
    toml::Value::String(value.to_string()).to_string()
}
