//! Settings of a network model by name, without the command: for the tests of models.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fsin_core::family::{Key, ModelFamily, NetworkSpec, Values};
use trgen::catalog::SpecError;

/// Settings of a model by name, and the defaults of those that are declared elsewhere.
struct Set<'a> {
    family: &'static ModelFamily,
    set: BTreeMap<&'a str, &'a str>,
}

impl Values for Set<'_> {
    fn key(&self, name: &str) -> Option<&'static Key> {
        self.family.keys.iter().find(|key| key.name == name)
    }

    fn value(&self, name: &str) -> Option<&str> {
        let elsewhere = || match name {
            "ways" => Some("2"),
            "interface" => Some("serial"),
            "engine" => Some("fast"),
            "source" => Some("open"),
            "bandwidth" => Some("10Gb/s"),
            "watchdog" => Some("20000"),
            "injectors" | "threads" | "seed" => Some("1"),
            _ => None,
        };
        let own = || self.family.default_of(name).or_else(|| self.key(name).and_then(|key| key.default));
        self.set.get(name).copied().or_else(own).or_else(elsewhere)
    }

    fn is_set(&self, name: &str) -> bool {
        self.set.contains_key(name)
    }

    fn is_insisted(&self, name: &str) -> bool {
        self.is_set(name)
    }

    fn folder_of(&self, _: &str) -> PathBuf {
        PathBuf::new()
    }

    fn text(&self, path: &Path, _: u64) -> io::Result<String> {
        std::fs::read_to_string(path)
    }
}

/// What a model makes of settings.
pub(crate) fn parse<'a>(
    family: &'static ModelFamily,
    set: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Arc<dyn NetworkSpec>, SpecError> {
    (family.parse)(&Set { family, set: set.into_iter().collect() })
}
