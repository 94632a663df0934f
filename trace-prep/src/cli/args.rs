//! The command line and its arguments.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, crate_version, value_parser};
use trgen::catalog::suggestion;
use trgen::trace::formats::FORMATS;

use super::{Complaint, Exit};

/// The last paragraph of every help text: the exit statuses.
const EXIT: &str = "Exit status: 0 done, 1 failed while working, 2 the command line or an input cannot be used, 3 the \
                    trace deadlocks, 130 a recording was interrupted.";

/// A paragraph in the help of `record`: the calls that it does not support.
const NOT_RECORDED: &str = "Programs in C, C++ and Fortran (mpif.h, mpi, mpi_f08) are recorded. Not supported: non-blocking, \
                            persistent and neighbourhood collectives, matched probes (MPI_Mprobe), one-sided communication \
                            (windows synchronised by fence, post, start or lock), calls with MPI_Count counts (MPI_Send_c), \
                            dynamic processes, intercommunicators, and communicators made by MPI_Comm_create_group or \
                            MPI_Comm_idup. The first rank that makes such a call reports it at once; when the program has \
                            ended, the trace is refused with the name of the call. Use blocking collectives, MPI_Isend and \
                            MPI_Irecv, MPI_Comm_split and MPI_Comm_dup instead. Communication through files is omitted, with \
                            a warning, as are shared-memory windows without that synchronisation. Calls of several threads \
                            (MPI_THREAD_MULTIPLE) are recorded in order of completion; each thread has its own clock, so \
                            that computing times between their calls are wrong. If a rank is killed (SIGKILL), its last \
                            calls are lost, up to 4 KiB of its log.";

/// Formats that `export` writes.
pub(super) const TARGETS: [&str; 5] = ["trg", "fsin-trc", "simgrid-ti", "goal", "goal-bin"];

/// Rarely needed flags, which the short help omits.
const RARE: [&str; 4] = ["flop-rate", "trace-unit", "recv-order", "max-events"];

/// Examples of a command.
fn examples(name: &str) -> &'static [&'static str] {
    match name {
        "import" => &["trace-prep import lu.S.16.ti.tar.xz -o lu.trg", "trace-prep import traces.otf2 -o app.trg -q"],
        "expand" => &["trace-prep expand app.trg --collectives mpich,allreduce=ring -o ring.trg"],
        "export" => &["trace-prep export app.trg --to goal -o app.goal"],
        "check" => &["trace-prep check app.trg", "trace-prep check app.trg --synchronous -o verdict.txt"],
        "info" => &["trace-prep info app.trg", "trace-prep info app.trg --format json -o app.json"],
        "matrix" => &["trace-prep matrix app.trg -o app.csv --svg app.svg"],
        "scale" => &["trace-prep scale app.trg --compute 0.5 --bytes 2 -o faster.trg"],
        "slice" => &[
            "trace-prep slice app.trg --tasks 0..8 -o half.trg",
            "trace-prep slice app.trg --between 3..34 -o timed.trg",
        ],
        "merge" => &["trace-prep merge a.trg b.trg -o both.trg"],
        "remap" => &["trace-prep remap app.trg --permutation random:1 -o shuffled.trg"],
        "generate" => &[
            "trace-prep generate waterfall:tasks=64,bytes=4096 -o waterfall.trg",
            "trace-prep generate --list",
            "trace-prep generate completions bash -o trace-prep.bash",
            "trace-prep generate man -o trace-prep.1",
            "trace-prep generate reference pages",
        ],
        "completions" => &["trace-prep generate completions bash -o trace-prep.bash"],
        "man" => &["trace-prep generate man -o trace-prep.1"],
        "reference" => &["trace-prep generate reference pages"],
        "record" => &["trace-prep record -o app.trg -- mpiexec -n 16 ./app"],
        _ => &[],
    }
}

/// Gives a command and its subcommands their common parts: a short help of one screen, and examples and exit status in
/// the long one.
fn with_common_help(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(&name, |sub| {
            let sub = with_common_help(sub).mut_args(|arg| {
                let is_rare = RARE.contains(&arg.get_id().as_str());
                arg.hide_short_help(is_rare)
            });
            let own = sub.get_after_long_help().map(ToString::to_string);
            let examples = format!("Examples:\n  {}", examples(&name).join("\n  "));
            let parts: Vec<String> = own.into_iter().chain([examples, EXIT.to_owned()]).collect();
            sub.after_help("With --help: every flag, examples, exit status.").after_long_help(parts.join("\n\n"))
        })
    })
}

/// The whole command line.
pub(super) fn command() -> Command {
    with_common_help(commands())
}

/// All commands with their arguments, without the common parts of their help.
fn commands() -> Command {
    Command::new("trace-prep")
        .version(crate_version!())
        .about("Prepares MPI traces for replay over a simulated network")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(120)
        .after_help(EXIT)
        .subcommand(
            reading(Command::new("import"))
                .about("Reads a trace of any known format and writes it as a .trg container")
                .arg(output("OUT.trg")),
        )
        .subcommand(
            reading(Command::new("expand"))
                .about("Expands the collectives of a trace by named algorithms, as import does, and reports them")
                .arg(output("OUT.trg").required(false)),
        )
        .subcommand(
            reading(Command::new("export")).about("Writes a trace in another format").arg(output("OUT")).arg(
                Arg::new("to")
                    .long("to")
                    .value_name("FORMAT")
                    .required(true)
                    .value_parser(parse_target)
                    .help("Format to write: trg, fsin-trc, simgrid-ti, goal, goal-bin; simgrid-ti makes a folder of an index and a file per rank"),
            ),
        )
        .subcommand(
            reading(Command::new("check"))
                .about("Executes a trace on an ideal network: reports unmatched messages, deadlocks and wildcard races")
                .arg(printed())
                .arg(
                    Arg::new("synchronous")
                        .long("synchronous")
                        .action(ArgAction::SetTrue)
                        .help("Every send waits for its receive: finds programs that rely on buffering"),
                ),
        )
        .subcommand(
            reading(Command::new("info")).about("Summarises a trace: tasks, messages, sizes, pairs, computing time").arg(printed()).arg(
                Arg::new("format")
                    .long("format")
                    .value_name("FORMAT")
                    .default_value("table")
                    .value_parser(PossibleValuesParser::new(["table", "json"]))
                    .help("Output format"),
            ),
        )
        .subcommand(
            reading(Command::new("matrix"))
                .about("The communication matrix as CSV on stdout or in a file, and as an SVG picture")
                .arg(path("output", "OUT.csv").short('o').long("output").help("File for the CSV [stdout]"))
                .arg(path("svg", "OUT.svg").long("svg").help("Also draw it")),
        )
        .subcommand(
            reading(Command::new("scale"))
                .about("Multiplies computing times and message sizes")
                .arg(factor("compute", "Factor on computing times; 0 removes computing [1]"))
                .arg(factor("bytes", "Factor on message sizes [1]"))
                .arg(
                    Arg::new("tasks")
                        .long("tasks")
                        .value_name("FIRST..END")
                        .help("Scale the computing of tasks FIRST to END - 1 only (a faster or slower processor)"),
                )
                .arg(output("OUT.trg")),
        )
        .subcommand(
            reading(Command::new("slice"))
                .about("Keeps a part that can be executed on its own; messages with one end outside are left out")
                .arg(
                    Arg::new("tasks")
                        .long("tasks")
                        .value_name("FIRST..END")
                        .help("Tasks FIRST to END - 1, renumbered from 0"),
                )
                .arg(
                    Arg::new("between")
                        .long("between")
                        .value_name("FIRST..LAST")
                        .help("Events between collective calls FIRST and LAST of all tasks, numbered from 0")
                        .long_help(
                            "What every task does after call FIRST of a collective of all tasks and before call LAST, \
                             numbered from 0: the timed section of a benchmark, for example. `3..` goes up to the end, `..34` \
                             starts at the beginning.",
                        ),
                )
                .arg(
                    Arg::new("events")
                        .long("events")
                        .value_name("N")
                        .value_parser(value_parser!(usize))
                        .help("The first N events of every task"),
                )
                .arg(output("OUT.trg")),
        )
        .subcommand(
            options(Command::new("merge"))
                .about("Puts traces side by side as one application of several parts that exchange nothing")
                .arg(path("inputs", "IN").required(true).num_args(2..).help("Traces"))
                .arg(output("OUT.trg")),
        )
        .subcommand(
            reading(Command::new("remap"))
                .about("Renumbers tasks")
                .arg(
                    Arg::new("permutation")
                        .long("permutation")
                        .value_name("P")
                        .required(true)
                        .help("reverse, shift:S, random:SEED, or the new numbers of tasks 0, 1, ...: 2,0,1"),
                )
                .arg(output("OUT.trg")),
        )
        .subcommand(
            Command::new("generate")
                .about("Writes an application kernel or a graph pattern as a container (`--list` names them), shell completions, the man page, or the command reference")
                .args_conflicts_with_subcommands(true)
                .subcommand_negates_reqs(true)
                .subcommand(
                    Command::new("completions")
                        .about("Completions for a shell")
                        .arg(Arg::new("shell").required(true).value_parser(value_parser!(clap_complete::Shell)).help("The shell"))
                        .arg(printed()),
                )
                .subcommand(Command::new("man").about("The man page, with every top-level command").arg(printed()))
                .subcommand(
                    Command::new("reference")
                        .about("A Markdown page with the help of every top-level command")
                        .arg(path("folder", "DIR").required(true).help("Folder for it")),
                )
                .arg(quiet())
                .arg(
                    Arg::new("spec")
                        .value_name("KERNEL")
                        .required_unless_present("list")
                        .help("As in waterfall:tasks=64,bytes=4096, or dissemination:ranks=16"),
                )
                .arg(Arg::new("list").long("list").action(ArgAction::SetTrue).help("Name kernels and patterns"))
                .arg(
                    Arg::new("repeat")
                        .long("repeat")
                        .value_name("K")
                        .default_value("1")
                        .value_parser(value_parser!(u64).range(1..=1_000_000_000))
                        .help("Write the events of every task K times; tags repeat"),
                )
                .arg(output("OUT.trg").required(false).required_unless_present("list")),
        )
        .subcommand(
            Command::new("record")
                .about("Runs an unmodified MPI program and records its MPI calls: record -o OUT.trg -- mpiexec -n 16 ./app")
                .after_long_help(NOT_RECORDED)
                .arg(output("OUT.trg"))
                .arg(
                    Arg::new("mpicc")
                        .long("mpicc")
                        .env("MPICC")
                        .value_name("PROGRAM")
                        .default_value("mpicc")
                        .help("Compiler wrapper of the MPI library that the program uses"),
                )
                .arg(path("logs", "DIR").long("logs").help("Keep the log of each rank in a new folder"))
                .arg(quiet())
                .arg(
                    Arg::new("command")
                        .value_name("COMMAND")
                        .required(true)
                        .num_args(1..)
                        .last(true)
                        .value_parser(value_parser!(std::ffi::OsString))
                        .help("Command that starts the program, such as mpiexec -n 16 ./app"),
                ),
        )
}

/// The flag `-o` of a command that prints to stdout by default.
fn printed() -> Arg {
    path("output", "FILE").short('o').long("output").help("Write to this new file [stdout]")
}

/// An argument that is a path; `value` is its placeholder in the help.
fn path(name: &'static str, value: &'static str) -> Arg {
    Arg::new(name).value_name(value).value_parser(value_parser!(PathBuf))
}

/// The required flag `-o` of a command that writes a trace.
fn output(value: &'static str) -> Arg {
    path("output", value)
        .short('o')
        .long("output")
        .required(true)
        .help("Output path, which must not exist yet; nothing is left if the command fails")
}

/// The flag `-q`.
fn quiet() -> Arg {
    Arg::new("quiet").short('q').long("quiet").action(ArgAction::SetTrue).help("No progress, notes or warnings")
}

/// A flag whose value is a factor.
fn factor(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("X").allow_negative_numbers(true).value_parser(parse_factor).help(help)
}

/// Parses a factor; the error for a percentage names the equivalent factor.
fn parse_factor(word: &str) -> Result<f64, String> {
    let percent = word.strip_suffix('%').and_then(|share| share.trim().parse::<f64>().ok());
    match (word.parse::<f64>(), percent) {
        (Ok(factor), _) => Ok(factor),
        (_, Some(percent)) => Err(format!("it is a factor: write {}", percent / 100.0)),
        _ => Err("it is a factor: write 0.5 for half, 2 for twice as much".to_owned()),
    }
}

/// Parses the name of an output format.
fn parse_target(word: &str) -> Result<String, String> {
    if TARGETS.contains(&word) {
        return Ok(word.to_owned());
    }
    // A part of a name, such as `ti`, is too short for the similarity search.
    let part = TARGETS.iter().find(|target| target.split('-').any(|part| part.eq_ignore_ascii_case(word)));
    Err(part.map_or_else(|| suggestion(word, &TARGETS).to_string(), |target| format!("did you mean `{target}`?")))
}

/// Adds the argument and the options of a command that reads one trace.
fn reading(command: Command) -> Command {
    options(command).arg(
        path("input", "IN")
            .required(true)
            .help("A trace: file, folder or archive; `archive.tar.xz#name` chooses one of several"),
    )
}

/// Adds the options of every command that reads a trace.
fn options(command: Command) -> Command {
    let formats = FORMATS.names();
    command
        .arg(
            Arg::new("from")
                .long("from")
                .value_name("FORMAT")
                .value_parser(PossibleValuesParser::new(formats))
                .help("Format of the input [detected by content]"),
        )
        .arg(
            Arg::new("flop-rate")
                .long("flop-rate")
                .value_name("FLOP/S")
                .default_value("5e9")
                .value_parser(value_parser!(f64))
                .help("Operations per second of a task: converts operation counts to time and back"),
        )
        .arg(
            Arg::new("trace-unit")
                .long("trace-unit")
                .value_name("UNIT")
                .default_value("ns")
                .value_parser(PossibleValuesParser::new(["ns", "us", "ms"]))
                .help("Unit of computing times in .trc files"),
        )
        .arg(
            Arg::new("recv-order")
                .long("recv-order")
                .value_name("ORDER")
                .default_value("detect")
                .value_parser(PossibleValuesParser::new(["src-dst", "dst-src", "detect"]))
                .help("Order of tasks in receive lines of .trc files"),
        )
        .arg(Arg::new("collectives").long("collectives").value_name("RULES").help(
            "Algorithms of collectives: mpich (by size and ranks) [default], basic, or exceptions: \
                 mpich,all-reduce=double-tree",
        ))
        .arg(
            Arg::new("max-events")
                .long("max-events")
                .value_name("N")
                .default_value("268435456")
                .value_parser(value_parser!(u64))
                .help("Largest number of events held in memory, about 48 bytes each"),
        )
        .arg(quiet())
}

/// The command `generate completions`.
pub(super) fn completions(matches: &ArgMatches) -> Result<Exit, Complaint> {
    if let Some(shell) = matches.get_one::<clap_complete::Shell>("shell") {
        let mut text = Vec::new();
        clap_complete::generate(*shell, &mut command(), "trace-prep", &mut text);
        super::write_document(matches, &String::from_utf8_lossy(&text))?;
    }
    Ok(Exit::Done)
}

/// The command `generate man`: one page with a section for every top-level command.
pub(super) fn man(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let mut text = Vec::new();
    let mut command = command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let man = clap_mangen::Man::new(sub.clone());
        text.extend_from_slice(format!(".SH COMMAND {}\n", sub.get_name().to_uppercase()).as_bytes());
        man.render_description_section(&mut text)?;
        man.render_options_section(&mut text)?;
    }
    super::write_document(matches, &String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}

/// The command `generate reference`: a Markdown page with the help of every top-level command.
pub(super) fn reference(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let mut text =
        "<!-- Made by `trace-prep generate reference`; do not edit. -->\n\n# Commands of trace-prep\n\nThe output of \
                    `--help` of every top-level command.\n"
            .to_owned();
    let mut command = command().term_width(100).color(clap::ColorChoice::Never);
    command.build();
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for name in names.into_iter().filter(|name| name != "help") {
        let help = command.find_subcommand_mut(&name).map(Command::render_long_help);
        let help = help.map(|help| help.to_string()).unwrap_or_default();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        text.push_str(&format!("\n## trace-prep {name}\n\n```text\n{}\n```\n", help.join("\n").trim_end()));
    }
    let folder = matches.get_one::<PathBuf>("folder").cloned().unwrap_or_default();
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("trace-prep.md"), text)?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_short_help_of_one_screen_examples_exit_status_and_the_common_flags() {
        fn all(command: &Command, found: &mut Vec<Command>) {
            for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
                found.push(sub.clone());
                all(sub, found);
            }
        }
        let mut root = command().term_width(100).color(clap::ColorChoice::Never);
        root.build();
        let mut found = Vec::new();
        all(&root, &mut found);
        assert!(found.len() >= 15);
        for mut command in found {
            let name = command.get_name().to_owned();
            let short = command.render_help().to_string();
            assert!(short.lines().count() <= 40, "{name} -h has {} lines:\n{short}", short.lines().count());
            let long = command.render_long_help().to_string();
            for part in ["Examples:\n  trace-prep ", "Exit status: 0 "] {
                assert_eq!(long.matches(part).count(), 1, "{name} --help: {part}\n{long}");
            }
            for example in examples(&name) {
                let parsed = super::command().try_get_matches_from(example.split_whitespace());
                assert!(parsed.is_ok(), "{example}: {:?}", parsed.err());
            }
            let has = |short: char, long: &str| {
                command.get_arguments().any(|arg| arg.get_short() == Some(short) && arg.get_long() == Some(long))
            };
            // The three commands that print a fixed text have no -q.
            assert!(
                has('q', "quiet") || ["completions", "man", "reference"].contains(&name.as_str()),
                "{name} has no -q"
            );
            assert!(has('o', "output") || name == "reference", "{name} has no -o");
        }
    }
}
