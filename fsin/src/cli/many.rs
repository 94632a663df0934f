//! Flags of the commands that run or show many experiments.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, value_parser};

use super::args::{experiment, experiments, quiet, verbose};

const SWEEP_EXAMPLES: &str = "Examples:
  fsin init > e.toml && fsin sweep e.toml -o r && fsin plot r && fsin report r
  fsin sweep --load 0.05..1.0/20 --routing bubble:smart,bubble:random --seeds 3 -o r
  fsin sweep --kernel bintree:tasks=64 --kernel butterfly:tasks=64 --vcs 3,4 -o k
  fsin sweep --resume -o r                         runs what is missing
  fsin sweep e.toml -o r --tui                     shows the curves as they grow, and the points that run
  fsin sweep e.toml -o r --backend commands | parallel && fsin collect r

A value may be a list (a,b,c; keys whose values have commas of their own are given several times) or a range
(FIRST..LAST/COUNT): the sweep runs every combination.

Exit status: 0 every point has a result, 1 failed while running, 2 the command line, the experiment or the folder cannot be
used, 4 some points failed (the others have results), 130 interrupted; continue with --resume.";

const SATURATION_EXAMPLES: &str = "Examples:
  fsin saturation --topology torus:16x16
  fsin saturation --traffic tornado --routing bubble:smart --tolerance 0.002 --format json";

const PLOT_EXAMPLES: &str = "Examples:
  fsin plot r                                      more than 8 curves: as few pictures as can be read
  fsin plot r --each traffic                       pictures for every traffic
  fsin plot r --along vcs --only load=0.5 -o one   what channels do at one load
  fsin plot r --only routing=bubble:smart --only routing=dally:adaptive -o two

Exit status: 0 done, 1 a picture cannot be written, 2 the command line or the folder cannot be used.";

/// The commands.
pub(crate) fn commands() -> Vec<Command> {
    vec![init(), sweep(), point(), collect(), saturation(), plot(), report(), compare(), rerun(), generate()]
}

fn folder(help: &'static str) -> Arg {
    Arg::new("folder").value_name("DIR").required(true).value_parser(value_parser!(PathBuf)).help(help)
}

fn choice(
    name: &'static str,
    metavar: &'static str,
    default: &'static str,
    values: &[&'static str],
    help: &'static str,
) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name(metavar)
        .default_value(default)
        .hide_default_value(true)
        .value_parser(PossibleValuesParser::new(values.to_vec()))
        .help(help)
        .help_heading("Output")
}

fn jobs(help: &'static str) -> Arg {
    Arg::new("jobs")
        .long("jobs")
        .short('j')
        .value_name("N")
        .value_parser(|word: &str| match word.parse::<usize>() {
            Ok(jobs) if (1..=4096).contains(&jobs) => Ok(jobs),
            _ => Err("use 1 to 4096"),
        })
        .help(help)
        .help_heading("Run control")
}

fn init() -> Command {
    Command::new("init").about("Prints a commented experiment that runs in seconds, to begin with")
}

fn sweep() -> Command {
    experiments(Command::new("sweep"))
        .about("Runs every combination of lists of values into one folder; can be interrupted and resumed")
        .after_help(SWEEP_EXAMPLES)
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("DIR")
                .required_unless_present("dry-run")
                .value_parser(value_parser!(PathBuf))
                .help("Folder of the results: new, or one to --resume")
                .help_heading("Output"),
        )
        .arg(
            Arg::new("seeds")
                .long("seeds")
                .value_name("K")
                .value_parser(value_parser!(u64).range(1..=10_000))
                .help("Replicas of every point, with K seeds from --seed on")
                .help_heading("Run control"),
        )
        .arg(
            Arg::new("stop-after")
                .long("stop-after")
                .value_name("N")
                .value_parser(value_parser!(u64).range(1..))
                .help("Ends a curve after N saturated loads in a row; else it goes to its last load")
                .help_heading("Run control"),
        )
        .arg(
            Arg::new("resume")
                .long("resume")
                .action(ArgAction::SetTrue)
                .requires("output")
                .help("Run only what is missing in the folder; without an experiment, as it was planned")
                .help_heading("Run control"),
        )
        .arg(
            Arg::new("skip-invalid")
                .long("skip-invalid")
                .action(ArgAction::SetTrue)
                .help("Leave out combinations that are no valid experiments, instead of refusing the sweep")
                .help_heading("Run control"),
        )
        .arg(
            Arg::new("dry-run")
                .long("dry-run")
                .action(ArgAction::SetTrue)
                .help("List the points and run none")
                .help_heading("Run control"),
        )
        .arg(
            Arg::new("backend")
                .long("backend")
                .value_name("NAME")
                .default_value("local")
                .hide_default_value(true)
                .value_parser(PossibleValuesParser::new(super::sweep::BACKENDS))
                .help("Who runs points: local (threads), slurm (a job array), commands (written to stdout) [local]")
                .help_heading("Run control"),
        )
        .arg(jobs("Points that run at the same time; absent: processors / --threads (slurm: no limit)"))
        .arg(
            Arg::new("pack")
                .long("pack")
                .value_name("N")
                .value_parser(|word: &str| match word.parse::<usize>() {
                    Ok(pack) if (1..=1_000_000).contains(&pack) => Ok(pack),
                    _ => Err("use 1 to 1000000"),
                })
                .help("slurm: points of each task of the array [1]")
                .help_heading("Run control"),
        )
        .arg(
            Arg::new("slurm-option")
                .long("slurm-option")
                .value_name("OPTION")
                .action(ArgAction::Append)
                .allow_hyphen_values(true)
                .help("slurm: a further option of sbatch, such as --slurm-option=--partition=short; repeatable")
                .help_heading("Run control"),
        )
        .arg(
            Arg::new("detach")
                .long("detach")
                .action(ArgAction::SetTrue)
                .help("slurm: submit and leave; later, `fsin collect DIR`")
                .help_heading("Run control"),
        )
        .arg(
            Arg::new("tui")
                .long("tui")
                .action(ArgAction::SetTrue)
                .conflicts_with("dry-run")
                .help("Show the curves so far, the points, and those that run, on the terminal (backend local)")
                .help_heading("Output"),
        )
        .arg(quiet())
        .arg(verbose("Also say on stderr when each point has run"))
}

fn point() -> Command {
    Command::new("point")
        .about("Runs single points of a planned sweep: what batch systems call")
        .arg(folder("Folder of the sweep"))
        .arg(Arg::new("points").value_name("ID").num_args(1..).help("Points, by the names that --dry-run lists"))
        .arg(
            Arg::new("list")
                .long("list")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .required_unless_present("points")
                .help("Points in a file, one a line"),
        )
}

fn collect() -> Command {
    Command::new("collect")
        .about("Writes results.csv and results.jsonl of the points that have run, whoever ran them")
        .arg(folder("Folder of the sweep"))
        .arg(quiet())
}

fn saturation() -> Command {
    experiment(Command::new("saturation"))
        .about("Finds the load at which the accepted load falls behind the offered one, by bisection")
        .after_help(SATURATION_EXAMPLES)
        .mut_arg("load", |arg| arg.help("Highest load to look at (phits/node/cycle) [1]"))
        .arg(
            Arg::new("tolerance")
                .long("tolerance")
                .value_name("X")
                .allow_negative_numbers(true)
                .default_value("0.005")
                .hide_default_value(true)
                .value_parser(|word: &str| match word.parse::<f64>() {
                    Ok(width) if (1e-6..=0.5).contains(&width) => Ok(width),
                    _ => Err("use 0.000001 to 0.5"),
                })
                .help("Width of the interval that is found (phits/node/cycle) [0.005]")
                .help_heading("Run control"),
        )
        .arg(choice(
            "format",
            "FORMAT",
            "table",
            &["table", "csv", "json"],
            "How results are written to stdout [table]",
        ))
        .arg(quiet())
}

fn scale() -> Arg {
    choice("scale", "SCALE", "auto", &["auto", "linear", "log"], "Axis of latencies: auto, linear, log [auto]")
}

fn plot() -> Command {
    Command::new("plot")
        .about("Draws the curves of a sweep as SVG, with the data of each beside it, into DIR/plots")
        .after_help(PLOT_EXAMPLES)
        .arg(folder("Folder of a sweep"))
        .arg(scale())
        .arg(
            Arg::new("along")
                .long("along")
                .value_name("KEY")
                .help("The setting along the axis [the load if it varies, else the first number, else the first word]")
                .help_heading("Curves"),
        )
        .arg(
            Arg::new("each")
                .long("each")
                .value_name("KEY")
                .action(ArgAction::Append)
                .help("Pictures for each value of this setting; may be repeated [as few as leave at most 8 curves in each, where one can]")
                .help_heading("Curves"),
        )
        .arg(
            Arg::new("only")
                .long("only")
                .value_name("KEY=VALUE")
                .action(ArgAction::Append)
                .value_parser(|word: &str| match word.split_once('=') {
                    Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
                    _ => Err("write KEY=VALUE, such as routing=bubble:smart"),
                })
                .help("Only results with this value of a setting; may be given for several values, and settings [all]")
                .help_heading("Curves"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Another folder for the pictures; files of the same names are replaced")
                .help_heading("Output"),
        )
        .arg(quiet())
}

fn report() -> Command {
    Command::new("report")
        .about("Writes one self-contained HTML page of a sweep: warnings, curves, tables, manifest")
        .arg(folder("Folder of a sweep, or of a run"))
        .arg(scale())
        .arg(
            Arg::new("baseline")
                .long("baseline")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Results to compare with, point by point")
                .help_heading("Output"),
        )
        .arg(
            Arg::new("title")
                .long("title")
                .value_name("TEXT")
                .help("Title of the page [the name of DIR]")
                .help_heading("Output"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("The page [DIR/report.html]; replaced if it exists")
                .help_heading("Output"),
        )
        .arg(quiet())
}

fn compare() -> Command {
    Command::new("compare")
        .about("Compares two sweeps point by point: differences with 95 % confidence")
        .arg(
            Arg::new("baseline")
                .value_name("A")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("The baseline"),
        )
        .arg(
            Arg::new("candidate")
                .value_name("B")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("The candidate"),
        )
        .arg(choice("format", "FORMAT", "table", &["table", "csv", "json"], "How it is written to stdout [table]"))
}

fn rerun() -> Command {
    Command::new("rerun")
        .about("Runs stored results again and checks that they are the same to the last digit")
        .after_help(
            "Exit status: 0 all the same, 1 some differ (each difference is on stdout), 2 the folder cannot be used.",
        )
        .arg(folder("Folder of a run, a sweep, or one point of a sweep"))
        .arg(jobs("Points that run at the same time; as many as there are processors if absent"))
        .arg(quiet())
}

fn generate() -> Command {
    Command::new("generate")
        .about("Prints completions for a shell or the man page, or the reference pages of the book into a folder")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("completions").about("Completions for a shell").arg(
                Arg::new("shell").required(true).value_parser(value_parser!(clap_complete::Shell)).help("The shell"),
            ),
        )
        .subcommand(Command::new("man").about("The man page, with all commands"))
        .subcommand(
            Command::new("reference")
                .about("Pages of Markdown: every command, key and component")
                .arg(folder("Folder for them")),
        )
}
