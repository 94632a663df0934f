//! The commands and their flags.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ColorChoice, Command, crate_version, value_parser};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use fsin::experiment::legacy::glossary;
use fsin::report::FORMATS;

use super::describe::help::{self, quiet};
use super::key_flags::{experiment, verbose};
#[cfg(feature = "live")]
use super::live;
use super::stderr::color;
#[cfg(feature = "tui")]
use super::watch;
use super::{Complaint, Exit, Flags, describe, invocation, many};

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

/// A command by its name.
type Named = (&'static str, fn() -> Command);

/// All commands, in the order of the help.
const COMMANDS: &[Named] = &[
    ("run", run),
    ("init", many::init),
    ("sweep", many::sweep),
    ("point", many::point),
    ("collect", many::collect),
    ("saturation", many::saturation),
    ("plot", many::plot),
    ("report", many::report),
    ("compare", many::compare),
    ("rerun", many::rerun),
    ("pack", many::pack_command),
    ("schema", many::schema),
    ("generate", many::generate),
    #[cfg(feature = "live")]
    ("serve", live::serve::command),
    #[cfg(feature = "live")]
    ("mpirun", live::mpirun::command),
    #[cfg(feature = "live")]
    ("machines", live::machines::command),
    #[cfg(feature = "live")]
    ("guest", live::guest::command),
    #[cfg(feature = "tui")]
    ("top", watch::top::command),
    #[cfg(feature = "tui")]
    ("record-view", watch::top::record_command),
    #[cfg(feature = "live")]
    ("relay", live::relay::command),
    ("traffic", traffic),
    ("config", config),
    ("import", imports),
    ("legacy", legacy),
    ("topology", topology),
    ("routes", describe::routes::command),
    ("energy", describe::energy::command),
    ("list", list),
    ("explain", explain),
];

/// The command line with these commands, complete.
fn with(commands: &[Named]) -> Command {
    help::complete(root().subcommands(commands.iter().map(|(_, command)| command())))
}

/// The whole command line.
pub(crate) fn command() -> Command {
    with(COMMANDS)
}

/// The command of this name, before its help is completed.
pub(crate) fn named(name: &str) -> Option<Command> {
    COMMANDS.iter().find(|&&(known, _)| known == name).map(|(_, command)| command())
}

/// The part of the command line that these words (the program's name first) need: a single command if they begin with
/// its name, none for the version. Building the flags of all commands takes longer than a short run.
pub(crate) fn command_of(words: &[OsString]) -> Command {
    let first = words.get(1).and_then(|word| word.to_str());
    match (first, COMMANDS.iter().position(|&(name, _)| first == Some(name))) {
        (_, Some(at)) => with(&COMMANDS[at..=at]),
        (Some("--version" | "-V"), None) => with(&[]),
        _ => command(),
    }
}

/// The program, without its commands.
fn root() -> Command {
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
}

/// The command `fsin traffic`.
fn traffic() -> Command {
    experiment(Command::new("traffic"))
        .about("Lists the messages that a source would send, without a network: cycle, source, destination, phits")
        .long_about(
            "Lists the messages that a source would send over a network that takes every message at once and \
             delivers it in the same cycle: cycle, source, destination, phits, one line each. 1000 cycles \
             unless --cycles says otherwise; shots, traces and kernels to their end.",
        )
        .arg(
            format_of(describe::traffic::FORMATS, "How messages are written to stdout [csv]")
                .default_value("csv")
                .hide_default_value(true),
        )
}

/// The command `fsin config`.
fn config() -> Command {
    experiment(Command::new("config"))
        .about("Prints the effective experiment, complete, as a file that `fsin run` takes")
        .arg(
            Arg::new("resolved")
                .long("resolved")
                .action(ArgAction::SetTrue)
                .help("Defaults included (always so; the word is accepted for clarity)")
                .help_heading("Output"),
        )
}

/// The command `fsin import`.
fn imports() -> Command {
    Command::new("import")
        .about("Prints the experiment that a configuration of another simulator means")
        .subcommand_required(true)
        .subcommand(
            experiment(Command::new("booksim"))
                .about("Prints the experiment that a configuration of BookSim 2 means, which `fsin run` takes as it is")
                .long_about(
                    "Prints the experiment that a configuration file of BookSim 2 means, complete, as a file that `fsin \
                     run` takes. Names and values without an equal here are refused, each with its place and what has \
                     one. `fsin run FILE.cfg`, sweep and saturation take such a file too.",
                ),
        )
        .subcommand(
            experiment(Command::new("hpcc"))
                .about("Prints the experiment that a configuration of HPCC, SimAI or ns3-rdma means, which `fsin run` takes as it is")
                .long_about(
                    "Prints the experiment that a configuration file of the simulators of HPCC, SimAI or ns3-rdma means, with \
                     the topology and the flows that it names, complete, as a file that `fsin run` takes. What changes nothing \
                     that is simulated is noted with the reason; names and values without an equal here are refused, all in \
                     one error. `fsin run config.txt` and sweep take such a file too.",
                ),
        )
}

/// The command `fsin legacy`.
fn legacy() -> Command {
    Command::new("legacy")
        .about("Runs a command line of the original simulator, and prints the `fsin run` that it means on stderr")
        .long_about(
            "Translates words of the original simulator (FSIN, INSEE), such as topo=torus_16_16 mode=smart3 \
             load=0.3, and runs the experiment that they mean. The equivalent `fsin run` line is printed on \
             stderr, and a note where ours treats a word otherwise. A word without `=` names a configuration \
             file; where none is named, fsin.conf is read first if it is there. Words may be cut short. What is \
             not given has the original's default where that is known, and sources are throttled as its are. \
             Words that have no part are named, unknown ones are refused.",
        )
        .after_long_help(glossary().written(&Flags))
        .arg(
            Arg::new("words")
                .value_name("KEY=VALUE|FILE")
                .action(ArgAction::Append)
                .num_args(0..)
                .help("Words of the original, or files of them; later ones override earlier ones"),
        )
        .arg(format_of(FORMATS.iter().map(|&(name, _)| name), "How results are written to stdout [table]"))
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("DIR")
                .help("Also keep result.json, manifest.json and experiment.toml in a new folder")
                .help_heading("Output"),
        )
        .arg(quiet())
}

/// The command `fsin topology`.
fn topology() -> Command {
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
            Arg::new("fail")
                .long("fail")
                .value_name("EVENTS|FILE")
                .help("Failures and repairs of links, as for run --fail: those that they mean are named")
                .help_heading("Network"),
        )
        .arg(
            format_of(describe::topology::FORMATS, "How it is written to stdout [table]")
                .default_value("table")
                .hide_default_value(true),
        )
}

/// The command `fsin list`.
fn list() -> Command {
    Command::new("list")
        .about("Lists the components of a kind, or the kinds")
        .arg(Arg::new("kind").help("What to list [the kinds, how many each has, and for which network models]"))
        .arg(of_network())
        .arg(text_or_json())
}

/// The command `fsin explain`.
fn explain() -> Command {
    Command::new("explain")
        .about("Explains a component: definition, parameters, source; for patterns, where node 0 sends")
        .arg(
            Arg::new("name")
                .required(true)
                .help("Its name, as in `uniform` or `bubble:smart`; patterns also with arguments: `zipf(2)`"),
        )
        .arg(of_network())
        .arg(text_or_json())
}

/// The flag `--network` of commands that describe components.
fn of_network() -> Arg {
    Arg::new("network").long("network").value_name("MODEL").help("Only what this network model has [all models]")
}

/// `--format`: in which of these formats something is written.
fn format_of(formats: impl IntoIterator<Item = impl Into<PossibleValue>>, help: &'static str) -> Arg {
    Arg::new("format")
        .long("format")
        .value_name("FORMAT")
        .value_parser(PossibleValuesParser::new(formats))
        .help(help)
        .help_heading("Output")
}

/// The flag `--format` of commands that describe components.
fn text_or_json() -> Arg {
    format_of(["text", "json"], "How it is written to stdout; json: components with all that is said of them [text]")
        .default_value("text")
        .hide_default_value(true)
}

/// The command `fsin run`.
fn run() -> Command {
    super::run::queues::flags(super::run::activity::flags(super::run::events::flags(super::run::timeline::flags(
        super::run::log::flags(super::run::pcap::flags(super::watch::looking::flags(experiment(Command::new("run"))))),
    ))))
    .about("Runs one experiment and prints what it found; defaults in [brackets], units in (parentheses)")
    .after_help(EXAMPLES)
    .arg(
        format_of(FORMATS.iter().map(|&(name, _)| name), "How results are written to stdout [table]")
            .default_value("table")
            .hide_default_value(true),
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

/// The name of the program, which may be one with components of its own.
pub(super) fn program() -> String {
    let path = invocation::words().into_iter().next().map(PathBuf::from);
    let name = path.as_deref().and_then(Path::file_stem).and_then(OsStr::to_str);
    name.unwrap_or("fsin").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_builds_the_command_that_it_names() {
        for &(name, command) in COMMANDS {
            assert_eq!(command().get_name(), name);
            let called = command_of(&["fsin".into(), name.into(), "--help".into()]);
            let names: Vec<&str> = called.get_subcommands().map(Command::get_name).collect();
            assert_eq!(names, [name]);
        }
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(command_of(&words(&["fsin", "--version"])).get_subcommands().count(), 0);
        for others in [&["fsin"][..], &["fsin", "--help"], &["fsin", "help", "run"], &["fsin", "walk"], &["fsin", "-h"]]
        {
            assert_eq!(command_of(&words(others)).get_subcommands().count(), COMMANDS.len(), "{others:?}");
        }
    }
}
