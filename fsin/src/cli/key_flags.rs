//! The flags of an experiment: one for each key.

use std::path::PathBuf;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command, value_parser};
use fsin::catalogue::routings_of;
use fsin::experiment::{Key, Kind, heading, keys, named, other_names};
use fsin::family::ModelFamily;
use fsin::models::MODELS;

use super::invocation;
use super::notation::of_table;

/// The flag `--verbose`.
pub(crate) fn verbose(help: &'static str) -> Arg {
    Arg::new("verbose")
        .short('v')
        .long("verbose")
        .action(ArgAction::SetTrue)
        .conflicts_with("quiet")
        .help(help)
        .help_heading("Output")
}

/// Adds the experiment file and one flag for each key. The flags may be given several times, as in `fsin sweep`.
pub(crate) fn experiments(command: Command) -> Command {
    with_flags(command, |key| match key.kind {
        Kind::Switch => flag(key),
        _ => flag(key).action(ArgAction::Append),
    })
}

/// Adds the experiment file and one flag for each key.
pub(crate) fn experiment(command: Command) -> Command {
    with_flags(command, flag)
}

/// Adds the experiment file, and for each key the argument that `flag` returns.
fn with_flags(command: Command, flag: impl Fn(&Key) -> Arg) -> Command {
    let command = command.arg(
        Arg::new("experiment")
            .value_name("EXPERIMENT.toml")
            .value_parser(value_parser!(PathBuf))
            .help("A file of `key = value` lines; keys are the flags of Network, Traffic and Run control")
            .long_help(
                "A file of `key = value` lines (TOML); keys are the flags of Network, Traffic and Run control, without \
                 the dashes. Each can also be set in the environment: phit-bytes as FSIN_PHIT_BYTES. Flags override \
                 the environment, the environment overrides the file, the file overrides the defaults.",
            ),
    );
    let models = models_named();
    keys().iter().fold(command, |command, key| command.arg(of_models(flag(key), key, &models)))
}

/// The network models that the command line names, which help must know before the command line is parsed.
fn models_named() -> Vec<&'static ModelFamily> {
    let words = invocation::texts();
    let joined = words.iter().filter_map(|word| word.strip_prefix("--network="));
    let apart = words.windows(2).filter(|pair| pair[0] == "--network").map(|pair| &*pair[1]);
    joined.chain(apart).filter_map(named).collect()
}

/// True of a word of the command line that asks for help.
fn asks_for_help(word: &str) -> bool {
    let is_short = |word: &str| !word.starts_with('-') && word.contains('h');
    ["help", "--help"].contains(&word) || word.strip_prefix('-').is_some_and(is_short)
}

/// The flag of a key, where these network models are named: help shows what they understand, and explains it by their
/// own components and defaults.
fn of_models(arg: Arg, key: &Key, models: &[&'static ModelFamily]) -> Arg {
    let is_of_models = MODELS.rows().iter().any(|model| model.understands(key.name));
    let [model] = models else {
        let is_useless = is_of_models && !models.is_empty() && !models.iter().any(|model| model.understands(key.name));
        return arg.hide(is_useless);
    };
    if is_of_models && !model.understands(key.name) {
        return arg.hide(true);
    }
    // To list them takes as long as a short run: only where it is read.
    if key.name == "routing" && invocation::texts().iter().any(|word| asks_for_help(word)) {
        let mut names: Vec<&str> = Vec::new();
        for carried in routings_of(model) {
            if !names.contains(&carried.component.name) {
                names.push(carried.component.name);
            }
        }
        let model = model.component.name;
        let list = format!("fsin list routings --network {model}");
        return arg.help(format!("{}; that of the topology if absent: {list}", names.join(", ")));
    }
    match model.default_of(key.name) {
        Some(_) => arg.help(about(&Key { default: model.default_of(key.name), ..*key })),
        None => arg,
    }
}

/// The flag of a key.
pub(crate) fn flag(key: &Key) -> Arg {
    let arg = Arg::new(key.name).long(key.name).help(about(key)).help_heading(heading(key));
    let arg = other_names(key.name).fold(arg, |arg, name| arg.alias(name));
    match key.kind {
        Kind::Switch => arg.action(ArgAction::SetTrue),
        // A flag is no value: `--traffic --load 0.3` lacks one.
        _ => arg.value_name(key.metavar).allow_negative_numbers(true),
    }
}

/// The help text of a key, with its unit and default.
fn about(key: &Key) -> StyledStr {
    let unit = if key.unit.is_empty() { String::new() } else { format!(" ({})", key.unit) };
    let default = match key.default {
        Some(default) if key.kind != Kind::Switch => format!(" [{default}]"),
        _ => String::new(),
    };
    StyledStr::from(format!("{}{unit}{default}", of_table(key.about)))
}
