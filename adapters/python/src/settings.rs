//! Arguments by keyword as settings. They have the names of keys, with `_` for `-`, and the values of flags.

use std::path::PathBuf;

use fsin::experiment::{
    Experiment, Key, Kind, Lists, MANY_KEYS, Origin, Setting, Settings, key, keys, many_key, read_file, read_lists,
};
use trgen::catalog::{Allowed, SpecError};

use crate::fault::Fault;
use crate::notation::argument;

/// Arguments: each a name, and its values as the words of a command line. Several values are a list.
pub(crate) type Arguments = Vec<(String, Vec<String>)>;

/// The key of an argument.
///
/// # Errors
/// No such key.
fn key_of(name: &str) -> Result<&'static Key, Fault> {
    let hyphened = name.replace('_', "-");
    // `injection_rate` has both forms.
    let found = [name, &hyphened].into_iter().find_map(key).or_else(|| many_key(&hyphened));
    found.ok_or_else(|| {
        let known: Vec<String> = keys().iter().chain(MANY_KEYS).map(|key| argument(key.name)).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let error = SpecError::unknown("argument", name, &known);
        let is_near = matches!(error.accepted(), Some(Allowed::Names(names)) if !names.near.is_empty());
        Fault::from(&if is_near { error } else { error.remedied("fsin.keys() has all arguments") })
    })
}

/// The value of a key. A count may be a float of Python, such as 1e6.
fn value_of(key: &Key, word: String) -> String {
    let whole = |number: &f64| number.fract() == 0.0 && (0.0..9e15).contains(number);
    match word.parse().ok().filter(whole) {
        Some(number) if key.kind == Kind::Integer && word.parse::<u64>().is_err() => (number as u64).to_string(),
        _ => word,
    }
}

/// The settings of one run: those of an experiment file, and over them the arguments.
///
/// # Errors
/// A file that cannot be used; an unknown argument, or one with several values.
pub(crate) fn of_run(file: Option<PathBuf>, arguments: Arguments) -> Result<Settings, Fault> {
    let mut settings = Settings::default();
    if let Some(path) = file {
        read_file(&path, &mut settings)?;
    }
    for (name, values) in arguments {
        let key = key_of(&name)?;
        if many_key(key.name).is_some() {
            let what = format!("{name} has no meaning for one run");
            return Err(Fault::new(what, "leave it out, or call fsin.sweep or fsin.saturation").of(&name));
        }
        match <[String; 1]>::try_from(values) {
            Ok([value]) => settings.set(key.name, value_of(key, value), Origin::Flag)?,
            Err(values) => {
                let what = format!("{name} takes one value in a run, not {}", values.len());
                return Err(Fault::new(what, "several values are a sweep: call fsin.sweep").of(&name));
            }
        }
    }
    Ok(settings)
}

/// The experiment of one run.
///
/// # Errors
/// As [`of_run`], and settings that cannot be used together.
pub(crate) fn experiment(file: Option<PathBuf>, arguments: Arguments) -> Result<Experiment, Fault> {
    Ok(Experiment::resolve(of_run(file, arguments)?)?)
}

/// The lists of values of many runs: those of an experiment file, and over them the arguments.
///
/// # Errors
/// A file that cannot be used; an unknown argument.
pub(crate) fn lists(file: Option<PathBuf>, arguments: Arguments) -> Result<Lists, Fault> {
    let mut lists = match file {
        Some(path) => read_lists(&path)?,
        None => Lists::new(),
    };
    for (name, values) in arguments {
        let key = key_of(&name)?;
        let setting =
            |value| Setting { value: value_of(key, value), origin: Origin::Flag, listed: true, topology: None };
        lists.insert(key.name, values.into_iter().map(setting).collect());
    }
    Ok(lists)
}
