//! Arguments by keyword as settings. They have the names of keys, with `_` for `-`, and the values of flags.

use std::path::PathBuf;

use fsin::experiment::{
    Experiment, Lists, MANY_KEYS, Origin, Setting, Settings, key, keys, many_key, read_file, read_lists,
};
use trgen::catalog::SpecError;

use crate::fault::Fault;
use crate::notation::argument;

/// Arguments: each a name, and its values as the words of a command line. Several values are a list.
pub(crate) type Arguments = Vec<(String, Vec<String>)>;

/// The name of the key of an argument.
///
/// # Errors
/// No such key.
fn key_of(name: &str) -> Result<&'static str, Fault> {
    let hyphened = name.replace('_', "-");
    // `injection_rate` has both forms.
    let found = [name, &hyphened].into_iter().find_map(key).or_else(|| many_key(&hyphened));
    found.map(|key| key.name).ok_or_else(|| {
        let known: Vec<String> = keys().iter().chain(MANY_KEYS).map(|key| argument(key.name)).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        Fault::from(&SpecError::unknown("argument", name, &known))
    })
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
        if many_key(key).is_some() {
            let what = format!("{name} has no meaning for one run");
            return Err(Fault::new(what, "leave it out, or call fsin.sweep or fsin.saturation").of(&name));
        }
        match &*values {
            [value] => settings.set(key, value, Origin::Flag)?,
            _ => {
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
        let setting = |value| Setting { value, origin: Origin::Flag, listed: true, topology: None };
        lists.insert(key_of(&name)?, values.into_iter().map(setting).collect());
    }
    Ok(lists)
}
