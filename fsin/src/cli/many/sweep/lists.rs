//! The values of a command line whose flags may have lists of values.

use std::path::PathBuf;

use clap::ArgMatches;
use clap::parser::ValueSource;
use fsin::experiment::{Key, Kind, Lists, MANY_KEYS, Origin, Setting, SettingsError, keys, read_lists, variable};
use fsin::sweep::{Many, split_at_commas};
use fsin::topology::TOPOLOGIES;

use crate::cli::args;

/// Reads the lists of values of the command line of `command`. Flags override the environment, and the environment
/// overrides the experiment file.
pub(crate) fn lists(matches: &ArgMatches, command: &str) -> Result<(Lists, Many, Unused), SettingsError> {
    let mut lists = match matches.get_one::<PathBuf>("experiment") {
        Some(path) => read_lists(path)?,
        None => Lists::new(),
    };
    for key in keys() {
        let split = |word: &String, origin: Origin| {
            let (topology, word) = of_topology(key, word);
            split_at_commas(key, word)
                .into_iter()
                .map(move |value| Setting { value, origin: origin.clone(), listed: true, topology: topology.clone() })
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
    let (many, unused) = of_many(matches, command, &mut lists)?;
    many.replicate(&mut lists)?;
    Ok((lists, many, unused))
}

/// Keys that a command does not have, and that are set in the file or the environment.
pub(crate) type Unused = Vec<(&'static Key, Origin)>;

/// Takes the keys of commands on many experiments out of the lists of a file. Flags override variables, and variables
/// override the file.
fn of_many(matches: &ArgMatches, command: &str, lists: &mut Lists) -> Result<(Many, Unused), SettingsError> {
    let (mut many, mut unused) = (Many::default(), Unused::new());
    // Without debug assertions, the matches do not tell an unknown flag from one that is not given.
    let own = args::named(command);
    for key in MANY_KEYS {
        let of_file = lists.remove(key.name).and_then(|mut values| values.pop());
        let of_file = of_file.map(|setting| (setting.value, setting.origin));
        let variable = std::env::var_os(variable(key.name));
        let of_environment = variable.map(|value| (value.to_string_lossy().into_owned(), Origin::Environment));
        let has_flag = own.as_ref().is_some_and(|own| own.get_arguments().any(|arg| arg.get_id().as_str() == key.name));
        let flag = (has_flag && matches.value_source(key.name) == Some(ValueSource::CommandLine))
            .then(|| flag_of(matches, key))
            .flatten();
        let set = flag.map(|value| (value, Origin::Flag)).or(of_environment).or(of_file);
        let Some((value, origin)) = set else { continue };
        if !has_flag {
            unused.push((key, origin));
            continue;
        }
        many.set(key, &value, origin)?;
    }
    Ok((many, unused))
}

/// The value of a flag of commands on many experiments, as a file would have it.
fn flag_of(matches: &ArgMatches, key: &Key) -> Option<String> {
    match key.kind {
        Kind::Switch => matches.get_flag(key.name).then(|| true.to_string()),
        Kind::Number => matches.get_one::<f64>(key.name).map(ToString::to_string),
        _ => matches.get_one::<u64>(key.name).map(ToString::to_string),
    }
}

/// The topology, or family of topologies, that a value is for, and the value: `torus=bubble:smart`, as a table of the file
/// has it. Values of most keys have no `=`; those of networks, kernels and hosts are never split.
fn of_topology<'a>(key: &Key, word: &'a str) -> (Option<String>, &'a str) {
    match word.split_once('=') {
        Some((topology, value)) if is_for_topologies(key, topology) => (Some(topology.to_owned()), value),
        _ => (None, word),
    }
}

/// True if a word before `=` names a topology, and values of this key can be for one.
fn is_for_topologies(key: &Key, word: &str) -> bool {
    let family = word.split(':').next().unwrap_or(word);
    let has_own = ["network", "topology", "kernel", "hosts", "traffic", "temporal", "size", "placement", "collectives"];
    !has_own.contains(&key.name) && TOPOLOGIES.names().contains(&family)
}
