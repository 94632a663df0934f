//! Flags: one for each key of the experiment, and those of the command itself.

use clap::builder::{PossibleValuesParser, StyledStr};
use clap::{Arg, ArgAction, ColorChoice, Command, ValueEnum, crate_version, value_parser};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use fsin::catalogue::routings_of;
use fsin::experiment::{Key, Kind, heading, keys, legacy, named, other_names};
use fsin::family::ModelFamily;
use fsin::models::MODELS;
use fsin::report::FORMATS;

use super::help::{self, quiet};
use super::notation::of_table;
use super::{Complaint, Exit, Flags};

/// The text after the help of `fsin run`.
const EXAMPLES: &str = "Examples:
  fsin run                                               an 8x8 torus at load 0.3
  fsin run --topology torus:16x16 --load 0.1 --format json
  fsin run --topology mesh:8x8 --routing bubble:oblivious --vcs 1 --traffic transpose
  fsin run --traffic 'uniform@5000 then 3:uniform + 1:hotspot(0.5,0)' --size 'bimodal(4,64,0.2)'
  fsin run --shot 10 --traffic transpose --samples 20
  fsin run --kernel bintree --topology torus:4x4x4
  fsin run --trace lu.S.16.ti.tar.xz --topology torus:4x4 --compute 0

Exit status: 0 done (a saturated network is a result), 1 failed while running, 2 the command line, the experiment or an
input cannot be used, 3 deadlock, a message or receive without counterpart, or (--strict) the cycle limit, 130 interrupted,
with partial results.";

/// The whole command line.
pub(crate) fn command() -> Command {
    help::complete(commands())
}

/// The command line, if no two flags of a command have the same name: a setting of an added model may have that of a
/// flag.
pub(super) fn checked(command: Command) -> Result<Command, Complaint> {
    for sub in command.get_subcommands() {
        let mut flags: Vec<&str> = sub.get_arguments().filter_map(Arg::get_long).collect();
        flags.sort_unstable();
        if let Some([name, _]) = flags.array_windows().find(|[one, other]| one == other) {
            let what = format!("{} has two flags --{name}: its own, and that of a setting", sub.get_name());
            return Err(Complaint::new(Exit::Usage, what, "give the setting of the network model another name"));
        }
    }
    Ok(command)
}

/// All commands, before their help texts are completed.
fn commands() -> Command {
    Command::new("fsin")
        .version(crate_version!())
        .about("Evaluates interconnection networks: routers and topologies under synthetic traffic and MPI traces")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .color(color())
        .max_term_width(120)
        .arg(
            Arg::new("color")
                .long("color")
                .value_name("WHEN")
                .default_value("auto")
                .hide_default_value(true)
                .value_parser(value_parser!(ColorChoice))
                .global(true)
                .hide_short_help(true)
                .help("Colour in messages; auto: on a terminal, unless NO_COLOR is set [auto]")
                .help_heading("Diagnostics"),
        )
        .subcommand(run())
        .subcommands(super::many::commands())
        .subcommands(feature_commands())
        .subcommand(
            experiment(Command::new("traffic"))
                .about(
                    "Lists the messages that a source would send, without a network: cycle, source, destination, phits",
                )
                .long_about(
                    "Lists the messages that a source would send over a network that takes every message at once and \
                     delivers it in the same cycle: cycle, source, destination, phits, one line each. 1000 cycles \
                     unless --cycles says otherwise; shots, traces and kernels to their end.",
                )
                .arg(
                    Arg::new("format")
                        .long("format")
                        .value_name("FORMAT")
                        .default_value("csv")
                        .hide_default_value(true)
                        .value_parser(PossibleValuesParser::new(super::traffic::FORMATS))
                        .help("How messages are written to stdout [csv]")
                        .help_heading("Output"),
                ),
        )
        .subcommand(
            experiment(Command::new("config"))
                .about("Prints the effective experiment, complete, as a file that `fsin run` takes")
                .arg(
                    Arg::new("resolved")
                        .long("resolved")
                        .action(ArgAction::SetTrue)
                        .help("Defaults included (always so; the word is accepted for clarity)")
                        .help_heading("Output"),
                ),
        )
        .subcommand(
            Command::new("legacy")
                .about("Runs what the original simulator's words mean, and says on stderr as which `fsin run`")
                .long_about(
                    "Translates words of the original simulator (FSIN, INSEE), such as topo=torus_16_16 mode=smart3 \
                     load=0.3, and runs the experiment that they mean. The equivalent `fsin run` line is printed on \
                     stderr, and a note where ours treats a word otherwise. A word without `=` names a configuration \
                     file; where none is named, fsin.conf is read first if it is there. Words may be cut short. What is \
                     not given has the original's default where that is known, and sources are throttled as its are. \
                     Words that have no part are named, unknown ones are refused.",
                )
                .after_long_help(legacy::glossary().written(&Flags))
                .arg(
                    Arg::new("words")
                        .value_name("KEY=VALUE|FILE")
                        .action(ArgAction::Append)
                        .num_args(0..)
                        .help("Words of the original, or files of them; later ones override earlier ones"),
                )
                .arg(
                    Arg::new("format")
                        .long("format")
                        .value_name("FORMAT")
                        .value_parser(PossibleValuesParser::new(FORMATS.iter().map(|&(name, _)| name)))
                        .help("How results are written to stdout [table]")
                        .help_heading("Output"),
                )
                .arg(
                    Arg::new("output")
                        .short('o')
                        .long("output")
                        .value_name("DIR")
                        .help("Also keep result.json, manifest.json and experiment.toml in a new folder")
                        .help_heading("Output"),
                )
                .arg(quiet()),
        )
        .subcommand(
            Command::new("topology")
                .about("Describes a topology: nodes, links, degree, distances, a bound on uniform load")
                .long_about(
                    "Describes a topology, counted link by link: nodes, links, degree, diameter, mean distance of \
                     different nodes, and a bound on uniform load that no routing can exceed. --format dot writes the \
                     graph for Graphviz instead, --format svg draws it. With --network the links that it blocks are \
                     listed, and drawn as broken lines.",
                )
                .arg(Arg::new("spec").value_name("SPEC").required(true).help("As for run --topology: `twisted:16x8:8`"))
                .arg(
                    Arg::new("ways")
                        .long("ways")
                        .value_name("1|2")
                        .default_value("2")
                        .hide_default_value(true)
                        .value_parser(value_parser!(usize))
                        .help("Directions of the links of each dimension [2]")
                        .help_heading("Network"),
                )
                .arg(
                    Arg::new("network")
                        .long("network")
                        .value_name("MODEL[:key=value,...]")
                        .help("What this network makes of it: dead links (vct), links that a spanning tree cuts (ethernet)")
                        .help_heading("Network"),
                )
                .arg(
                    Arg::new("format")
                        .long("format")
                        .value_name("FORMAT")
                        .default_value("table")
                        .hide_default_value(true)
                        .value_parser(PossibleValuesParser::new(super::topology::FORMATS))
                        .help("How it is written to stdout [table]")
                        .help_heading("Output"),
                ),
        )
        .subcommand(
            Command::new("list")
                .about("Lists the components of a kind, or the kinds")
                .arg(Arg::new("kind").help("What to list [the kinds, how many each has, and for which network models]"))
                .arg(of_network())
                .arg(text_or_json()),
        )
        .subcommand(
            Command::new("explain")
                .about("Explains a component: definition, parameters, source; for patterns, where node 0 sends")
                .arg(
                    Arg::new("name")
                        .required(true)
                        .help("Its name, as in `uniform` or `bubble:smart`; patterns also with arguments: `zipf(2)`"),
                )
                .arg(of_network())
                .arg(text_or_json()),
        )
}

/// The flag `--network` of commands that describe components.
fn of_network() -> Arg {
    Arg::new("network").long("network").value_name("MODEL").help("Only what this network model has [all models]")
}

/// The flag `--format` of commands that describe components.
fn text_or_json() -> Arg {
    Arg::new("format")
        .long("format")
        .value_name("FORMAT")
        .default_value("text")
        .hide_default_value(true)
        .value_parser(PossibleValuesParser::new(["text", "json"]))
        .help("How it is written to stdout; json: components with all that is said of them [text]")
        .help_heading("Output")
}

/// The commands that depend on features of the build.
fn feature_commands() -> Vec<Command> {
    Vec::from([
        #[cfg(feature = "live")]
        super::serve::command(),
        #[cfg(feature = "live")]
        super::mpirun::command(),
        #[cfg(feature = "live")]
        super::machines::command(),
        #[cfg(feature = "live")]
        super::guest::command(),
        #[cfg(feature = "tui")]
        super::top::command(),
        #[cfg(feature = "tui")]
        super::top::record_command(),
        #[cfg(feature = "live")]
        super::relay::command(),
    ])
}

/// The command `fsin run`.
fn run() -> Command {
    super::log::flags(super::pcap::flags(super::looking::flags(experiment(Command::new("run")))))
        .about("Runs one experiment and prints what it found; defaults in [brackets], units in (parentheses)")
        .after_help(EXAMPLES)
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("FORMAT")
                .default_value("table")
                .hide_default_value(true)
                .value_parser(PossibleValuesParser::new(FORMATS.iter().map(|&(name, _)| name)))
                .help("How results are written to stdout [table]")
                .help_heading("Output"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Also keep result.json, manifest.json and experiment.toml in a new folder")
                .help_heading("Output"),
        )
        .arg(quiet())
        .arg(verbose("Also say on stderr what is set by whom, and when measuring began"))
}

/// The flag `--verbose`.
pub(super) fn verbose(help: &'static str) -> Arg {
    Arg::new("verbose")
        .short('v')
        .long("verbose")
        .action(ArgAction::SetTrue)
        .conflicts_with("quiet")
        .help(help)
        .help_heading("Output")
}

/// Adds the experiment file and one flag for each key. The flags may be given several times, as in `fsin sweep`.
pub(super) fn experiments(command: Command) -> Command {
    with_flags(command, |key| match key.kind {
        Kind::Switch => flag(key),
        _ => flag(key).action(ArgAction::Append),
    })
}

/// Adds the experiment file and one flag for each key.
pub(super) fn experiment(command: Command) -> Command {
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
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let joined = words.iter().filter_map(|word| word.strip_prefix("--network="));
    let apart = words.windows(2).filter(|pair| pair[0] == "--network").map(|pair| &*pair[1]);
    joined.chain(apart).filter_map(named).collect()
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
    if key.name == "routing" {
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

/// The name of the program, which may be one with components of its own.
pub(super) fn program() -> String {
    let path = std::env::args_os().next().map(PathBuf::from);
    let name = path.as_deref().and_then(Path::file_stem).and_then(OsStr::to_str);
    name.unwrap_or("fsin").to_owned()
}

/// The flag of a key.
pub(super) fn flag(key: &Key) -> Arg {
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

/// The value of `--color`, which clap must know before it parses the command line.
pub(crate) fn color() -> ColorChoice {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let joined = words.iter().find_map(|word| word.strip_prefix("--color="));
    let apart = words.iter().position(|word| word == "--color").and_then(|at| words.get(at + 1)).map(String::as_str);
    joined.or(apart).and_then(|word| ColorChoice::from_str(word, false).ok()).unwrap_or(ColorChoice::Auto)
}
