//! Notation of settings in this command.

use trgen::phrase::{Notation, Phrase};

/// Flags: `--vcs 3`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flags;

impl Notation for Flags {
    fn setting(&self, key: &str, value: Option<&str>) -> String {
        value.map_or_else(|| format!("--{key}"), |value| format!("--{key} {value}"))
    }
}

/// A text of a table of the library, with its settings, which are in braces, written as flags.
pub(crate) fn of_table(text: &'static str) -> String {
    Phrase::of_template(text).written(&Flags)
}
