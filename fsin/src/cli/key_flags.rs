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
        Kind::Switch => bare(key),
        _ => bare(key).action(ArgAction::Append),
    })
}

/// Adds the experiment file and one flag for each key.
pub(crate) fn experiment(command: Command) -> Command {
    with_flags(command, bare)
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
    let (models, is_read) = (models_named(), reads_help(&invocation::texts()));
    keys().iter().fold(command, |command, key| {
        let arg = of_models(flag(key), key, &models);
        command.arg(if is_read { arg.help(help(key, &models)) } else { arg })
    })
}

/// False if nothing reads the help of flags: writing all of them takes as long as a short run.
fn reads_help(words: &[String]) -> bool {
    let runs = ["run", "sweep", "saturation", "serve", "mpirun"];
    let is_run = words.get(1).is_some_and(|word| runs.contains(&word.as_str()));
    !is_run || words.iter().any(|word| asks_for_help(word))
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

/// The flag of a key, where these network models are named: help shows what they understand.
fn of_models(arg: Arg, key: &Key, models: &[&'static ModelFamily]) -> Arg {
    let is_of_models = MODELS.rows().iter().any(|model| model.understands(key.name));
    arg.hide(is_of_models && !models.is_empty() && !models.iter().any(|model| model.understands(key.name)))
}

/// The help of a key, where these network models are named: a single one explains it by its own components and defaults.
fn help(key: &Key, models: &[&'static ModelFamily]) -> StyledStr {
    let [model] = models else { return about(key) };
    if key.name == "routing" && model.understands(key.name) {
        let mut names: Vec<&str> = Vec::new();
        for carried in routings_of(model) {
            if !names.contains(&carried.component.name) {
                names.push(carried.component.name);
            }
        }
        let model = model.component.name;
        let list = format!("fsin list routings --network {model}");
        return format!("{}; that of the topology if absent: {list}", names.join(", ")).into();
    }
    about(&Key { default: model.default_of(key.name).or(key.default), ..*key })
}

/// The flag of a key.
pub(crate) fn flag(key: &Key) -> Arg {
    bare(key).help(about(key))
}

/// The flag of a key, without its help.
fn bare(key: &Key) -> Arg {
    let arg = Arg::new(key.name).long(key.name).help_heading(heading(key));
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
