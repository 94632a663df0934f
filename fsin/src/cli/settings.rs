//! The settings of a command, from the experiment file, the environment and the flags.

use clap::ArgMatches;
use std::path::PathBuf;

use fsin::experiment::{Experiment, Key, Kind, Origin, Settings, SettingsError, key, keys, read_file, variable};
use fsin::sweep::as_several;
use trgen::catalog::Allowed;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::trace::formats::is_anchor;

use crate::cli::output;

/// Reads the settings of a command. Flags override the environment, and the environment overrides the experiment file.
pub(crate) fn read(matches: &ArgMatches) -> Result<Settings, SettingsError> {
    let mut settings = Settings::default();
    if let Some(path) = matches.get_one::<PathBuf>("experiment") {
        // The anchor file of an OTF2 archive can be given instead of an experiment: it names a trace.
        if is_anchor(path) {
            settings.set("trace", path.to_string_lossy(), Origin::Flag)?;
        } else {
            read_file(path, &mut settings)?;
            let is_quiet = matches.try_get_one::<bool>("quiet").ok().flatten().is_some_and(|&quiet| quiet);
            for note in settings.notes().iter().filter(|_| !is_quiet) {
                output::tell(&format!("note: {note}"));
            }
        }
    }
    for key in keys() {
        if let Some((value, origin)) = given(matches, key) {
            settings.set(key.name, value, origin)?;
        }
    }
    Ok(settings)
}

/// The value of a key on the command line, or else in the environment.
pub(crate) fn given(matches: &ArgMatches, key: &Key) -> Option<(String, Origin)> {
    let flag = match key.kind {
        Kind::Switch => matches.get_flag(key.name).then(|| true.to_string()),
        _ => matches.get_one::<String>(key.name).cloned(),
    };
    // Clap could read the environment, but its errors would name flags that the user did not give.
    let environment = || std::env::var_os(variable(key.name)).map(|value| value.to_string_lossy().into_owned());
    let flag = flag.map(|value| (value, Origin::Flag));
    flag.or_else(|| environment().map(|value| (value, Origin::Environment)))
}

/// The single experiment of a command line. For a flag with several values the error points to sweeps.
pub(crate) fn one_experiment(settings: Settings) -> Result<Experiment, SettingsError> {
    Experiment::resolve(settings.clone()).map_err(|error| {
        let given = |key: &Key| settings.value(key.name).filter(|_| settings.origin(key.name) == Origin::Flag);
        let several = |key: &Key| as_several(key, given(key)?);
        with_several(error, several, |flags| phrase!["several values are a sweep: fsin sweep ", flags, " -o DIR"])
    })
}

/// Adds to an error of a flag the syntax for several values, if the word looks like several values. `several` returns
/// the flags to write, and `say` makes the remedy of them.
pub(crate) fn with_several(
    SettingsError { error, origin }: SettingsError,
    several: impl Fn(&Key) -> Option<Phrase>,
    say: impl Fn(Phrase) -> Phrase,
) -> SettingsError {
    let Some(flags) = error.setting().and_then(key).and_then(several) else {
        return SettingsError { error, origin };
    };
    // If the remedy lists all accepted names, it is replaced: it does not help a user who gave a list of values.
    let lists_all = matches!(error.accepted(), Some(Allowed::Names(names)) if names.near.is_empty());
    let remedy = match lists_all {
        true => say(flags),
        false => phrase![say(flags), "; or ", error.remedy()],
    };
    SettingsError { error: error.remedied(remedy), origin }
}

/// Warnings of settings in a file or the environment that an experiment does not use.
pub(crate) fn without_effect(experiment: &Experiment) -> Vec<String> {
    let settings = experiment.settings();
    let said = |key: &'static Key| without_effect_of(key, &settings.origin(key.name));
    let of_many = settings.of_many().iter().filter_map(|(key, origin)| without_effect_of(key, origin));
    experiment.without_effect().into_iter().filter_map(said).chain(of_many).collect()
}

/// The warning of a setting in a file or the environment that has no effect.
pub(crate) fn without_effect_of(key: &Key, origin: &Origin) -> Option<String> {
    match origin {
        Origin::File { path, .. } => Some(format!("{} sets `{}`, which has no effect here", path.display(), key.name)),
        Origin::Environment => Some(format!("{} has no effect here", variable(key.name))),
        Origin::Default | Origin::Flag => None,
    }
}
