//! The words of the command line.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, crate_version, value_parser};
use trgen::catalog::suggestion;
use trgen::trace::formats::FORMATS;

use super::{Complaint, Exit};

const EXIT: &str = "Exit status: 0 done, 1 failed while working, 2 the command line or an input cannot be used, 3 the \
                    trace deadlocks, 130 a recording was interrupted.";

/// Said in the help of `record`.
const NOT_RECORDED: &str = "Programs in C, C++ and Fortran (mpif.h, mpi, mpi_f08) are recorded. What cannot be followed: \
                            collectives that are non-blocking, persistent or of neighbours, matched receives (MPI_Mprobe), \
                            one-sided messages, windows that ranks synchronise by fence, post, start or lock, \
                            calls with counts of MPI_Count (MPI_Send_c), processes that are spawned, and \
                            communicators between groups or made by MPI_Comm_create_group or MPI_Comm_idup. The first rank \
                            that calls one of these says so at once, and when the program has ended the trace is refused with \
                            the name of the call. In their place, call blocking collectives, MPI_Isend and MPI_Irecv, \
                            MPI_Comm_split and MPI_Comm_dup. What ranks exchange by files is left out, with a warning, and so are windows \
                            of shared memory that are not synchronised in these ways. Calls of several threads \
                            (MPI_THREAD_MULTIPLE) are recorded in the order in which they end; each thread has a clock of its \
                            own, so that the computing between them is not right. Of a rank that is killed (SIGKILL) the last calls are lost, up to 4 KiB of \
                            its log.";

/// Formats that `export` writes.
pub(super) const TARGETS: [&str; 5] = ["trg", "fsin-trc", "simgrid-ti", "goal", "goal-bin"];

pub(super) fn command() -> Command {
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
                .about("Expands the collectives of a trace by named algorithms, as import does, and says by which")
                .arg(output("OUT.trg").required(false)),
        )
        .subcommand(
            reading(Command::new("export")).about("Writes a trace in another format").arg(output("OUT")).arg(
                Arg::new("to")
                    .long("to")
                    .value_name("FORMAT")
                    .required(true)
                    .value_parser(target)
                    .help("Format to write: trg, fsin-trc, simgrid-ti, goal, goal-bin; simgrid-ti makes a folder of an index and a file per rank"),
            ),
        )
        .subcommand(
            reading(Command::new("check"))
                .about("Executes a trace over a perfect network: unmatched messages, deadlocks, races of wildcards")
                .arg(
                    Arg::new("synchronous")
                        .long("synchronous")
                        .action(ArgAction::SetTrue)
                        .help("Every send waits for its receive: finds programs that rely on buffering"),
                ),
        )
        .subcommand(
            reading(Command::new("info")).about("Tasks, messages, sizes, pairs, computing").arg(
                Arg::new("format")
                    .long("format")
                    .value_name("FORMAT")
                    .default_value("table")
                    .value_parser(PossibleValuesParser::new(["table", "json"]))
                    .help("How it is written to stdout"),
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
                        .help("Computing of tasks FIRST to END - 1 only: processors of another speed"),
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
                        .help("What comes after collective call FIRST of all tasks and before call LAST, from 0")
                        .long_help(
                            "What every task does after call FIRST of a collective of all tasks and before call LAST, \
                             numbered from 0: the timed section of a benchmark, for one. `3..` goes up to the end, `..34` \
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
                .about("Writes an application kernel or a graph pattern as a container (`--list` names them)")
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
                .about("Runs an unmodified MPI program and keeps what it did: record -o OUT.trg -- mpiexec -n 16 ./app")
                .after_long_help(NOT_RECORDED)
                .after_help(NOT_RECORDED)
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
                        .help("What starts the program on this machine"),
                ),
        )
        .subcommand(
            Command::new("completions")
                .about("Prints a completion script for a shell")
                .arg(Arg::new("shell").required(true).value_parser(value_parser!(clap_complete::Shell))),
        )
        .subcommand(Command::new("man").about("Prints the manual page"))
        .subcommand(Command::new("reference").about("Prints the help of every command as a page of Markdown"))
}

fn path(name: &'static str, value: &'static str) -> Arg {
    Arg::new(name).value_name(value).value_parser(value_parser!(PathBuf))
}

fn output(value: &'static str) -> Arg {
    path("output", value)
        .short('o')
        .long("output")
        .required(true)
        .help("Where to write: a name that does not exist yet; absent unless complete")
}

fn quiet() -> Arg {
    Arg::new("quiet").short('q').long("quiet").action(ArgAction::SetTrue).help("No progress, notes or warnings")
}

fn factor(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("X").allow_negative_numbers(true).value_parser(number).help(help)
}

/// A factor; what is meant by per cent is said.
fn number(word: &str) -> Result<f64, String> {
    let meant = word.strip_suffix('%').and_then(|share| share.trim().parse::<f64>().ok());
    match (word.parse::<f64>(), meant) {
        (Ok(factor), _) => Ok(factor),
        (_, Some(percent)) => Err(format!("it is a factor: write {}", percent / 100.0)),
        _ => Err("it is a factor: write 0.5 for half, 2 for twice as much".to_owned()),
    }
}

/// A format that can be written.
fn target(word: &str) -> Result<String, String> {
    if TARGETS.contains(&word) {
        return Ok(word.to_owned());
    }
    // A part of a name is too short to be near it: `ti`.
    let part = TARGETS.iter().find(|target| target.split('-').any(|part| part.eq_ignore_ascii_case(word)));
    Err(part.map_or_else(|| suggestion(word, &TARGETS), |target| format!("did you mean `{target}`?")))
}

fn reading(command: Command) -> Command {
    options(command).arg(
        path("input", "IN")
            .required(true)
            .help("A trace: file, folder or archive; `archive.tar.xz#name` chooses one of several"),
    )
}

/// What a reader must be told because the file does not say it.
fn options(command: Command) -> Command {
    let formats: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
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
                .help("Speed of a task, for formats that count operations, read or written"),
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
                 mpich,allreduce=ring",
        ))
        .arg(
            Arg::new("max-events")
                .long("max-events")
                .value_name("N")
                .default_value("268435456")
                .value_parser(value_parser!(u64))
                .help("Events to hold in memory, about 48 bytes each"),
        )
        .arg(
            Arg::new("quiet")
                .short('q')
                .long("quiet")
                .action(ArgAction::SetTrue)
                .help("No progress, notes or warnings"),
        )
}

pub(super) fn completions(matches: &ArgMatches) -> Result<Exit, Complaint> {
    if let Some(shell) = matches.get_one::<clap_complete::Shell>("shell") {
        let mut text = Vec::new();
        clap_complete::generate(*shell, &mut command(), "trace-prep", &mut text);
        super::print(&String::from_utf8_lossy(&text))?;
    }
    Ok(Exit::Done)
}

pub(super) fn man() -> Result<Exit, Complaint> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command()).render(&mut text)?;
    super::print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}

/// The page of the book: the help of every command.
pub(super) fn reference() -> Result<Exit, Complaint> {
    let mut text =
        "<!-- Made by `trace-prep reference`; do not edit. -->\n\n# Commands of trace-prep\n\nThe output of \
                    `--help` of every command.\n"
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
    super::print(&text)?;
    Ok(Exit::Done)
}
