//! The values of a command line whose flags may have lists of values.

use std::path::PathBuf;

use clap::ArgMatches;
use fsin::experiment::{Kind, Lists, Origin, Setting, SettingsError, keys, read_lists, variable};
use fsin::sweep::split_at_commas;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

/// Reads the lists of values of a command line. Flags override the environment, and the environment overrides the
/// experiment file.
pub(crate) fn lists(matches: &ArgMatches) -> Result<Lists, SettingsError> {
    let mut lists = match matches.get_one::<PathBuf>("experiment") {
        Some(path) => read_lists(path)?,
        None => Lists::new(),
    };
    for key in keys() {
        let split = |word: &String, origin: Origin| {
            split_at_commas(key, word)
                .into_iter()
                .map(move |value| Setting { value, origin: origin.clone(), listed: true, topology: None })
                .collect::<Vec<_>>()
        };
        let flags: Vec<Setting> = match key.kind {
            Kind::Switch if matches.get_flag(key.name) => split(&true.to_string(), Origin::Flag),
            Kind::Switch => Vec::new(),
            _ => matches
                .get_many::<String>(key.name)
                .into_iter()
                .flatten()
                .flat_map(|word| split(word, Origin::Flag))
                .collect(),
        };
        if !flags.is_empty() {
            lists.insert(key.name, flags);
        } else if let Some(value) = std::env::var_os(variable(key.name)) {
            lists.insert(key.name, split(&value.to_string_lossy().into_owned(), Origin::Environment));
        }
    }
    if let Some(&replicas) = matches.get_one::<u64>("seeds") {
        let given = lists.remove("seed").unwrap_or_default();
        let first = match &*given {
            [] => 1,
            [only] if only.value.parse::<u64>().is_ok_and(|seed| seed < i64::MAX as u64 - replicas) => {
                only.value.parse().unwrap_or(1)
            }
            [first, ..] => {
                let what = phrase![["seeds" => replicas], (" takes one first seed, not `{}`", first.value)];
                let remedy = phrase!["leave out ", ["seeds"], ", or give one seed"];
                let error = SpecError::new(ErrorKind::Conflict, what, remedy);
                return Err(SettingsError { error, origin: first.origin.clone() });
            }
        };
        let seed = |seed: u64| Setting { value: seed.to_string(), origin: Origin::Flag, listed: true, topology: None };
        lists.insert("seed", (first..first + replicas).map(seed).collect());
    }
    Ok(lists)
}
