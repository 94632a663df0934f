//! Flags of the commands that run or show many experiments.

pub(crate) mod compare;
pub(crate) mod pack;
pub(crate) mod page;
pub(crate) mod plot;
pub(crate) mod saturation;
pub(crate) mod sweep;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, value_parser};

use crate::cli::describe::help::quiet;
use crate::cli::key_flags::{experiments, verbose};
use crate::cli::watch::showing;

/// The text after the help of `fsin sweep`.
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

/// The text after the help of `fsin saturation`.
const SATURATION_EXAMPLES: &str = "Examples:
  fsin saturation --topology torus:16x16
  fsin saturation --traffic tornado --routing bubble:smart --tolerance 0.002 --format json
  fsin saturation --topology torus:8x8 --routing bubble:smart,bubble:oblivious --tolerance 0.1 --seeds 3 -o s

A value may be a list or a range, as of fsin sweep: every combination is searched, and of several loads the highest one is the upper
end. With -o, fsin report DIR shows what was found; DIR may be the folder of a sweep.

Exit status: 0 done, 1 failed while running, 2 the command line, the experiment or the folder cannot be used, 3 a deadlock (of one
search), 4 some searches failed (of several), 130 interrupted.";

/// The text after the help of `fsin plot`.
const PLOT_EXAMPLES: &str = "Examples:
  fsin plot r                                      more than 8 curves: as few pictures as can be read
  fsin plot r --each traffic                       pictures for every traffic
  fsin plot r --along vcs --only load=0.5 -o one   what channels do at one load
  fsin plot r --only routing=bubble:smart --only routing=dally:adaptive -o two
  fsin plot r --panels --format pdf,png --title 'Torus of 64 nodes' --name bubble:smart=Adaptive
  fsin plot r --xmax 0.6 --ymax 200 --range accepted=0..0.6 --saturated

Exit status: 0 done, 1 a picture cannot be written, 2 the command line or the folder cannot be used.";

/// The text after the help of `fsin compare`.
const COMPARE_EXAMPLES: &str = "Examples:
  fsin compare before after
  fsin compare before after --margin 5 --format csv -o differences.csv

Verdicts are those of the 95 % confidence interval of the difference B - A. same: it lies within the margin (an equivalence
test); higher, lower: it does not, and 0 is outside it; unclear: neither. Where both sides have the same seeds, three at
least, it is that of their pairs (Student); else of the seeds of each side or, where they are fewer, of the batches of all
its runs, of which correlated ones count as fewer (Welch). Figures without batches, such as percentiles and completion
times, need at least three seeds on both sides.

Exit status: 0 compared, whatever the verdicts; 1 the table cannot be written; 2 the command line or a folder cannot be used.";
/// A required argument that is a folder.
fn folder(help: &'static str) -> Arg {
    Arg::new("folder").value_name("DIR").required(true).value_parser(value_parser!(PathBuf)).help(help)
}

/// A flag with a choice of values.
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

/// The flag `--jobs`.
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

/// The command `fsin init`.
pub(super) fn init() -> Command {
    Command::new("init").about("Prints a commented experiment that runs in seconds, to begin with")
}

/// The command `fsin sweep`.
pub(super) fn sweep() -> Command {
    let command = experiments(Command::new("sweep"))
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
                .help("Run only what is missing in the folder; alone, as it was planned")
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
            Arg::new("compact")
                .long("compact")
                .action(ArgAction::SetTrue)
                .requires("output")
                .hide_short_help(true)
                .help("Keep small points in one file of the folder, instead of a folder for each")
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
                .value_parser(PossibleValuesParser::new(sweep::BACKENDS))
                .help("Who runs points: local, slurm (a job array), commands (on stdout) [local]")
                .help_heading("Run control"),
        )
        .arg(jobs("Points at the same time [processors / --threads; slurm: no limit]"))
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
                .help("slurm: a further option of sbatch, such as --slurm-option=--partition=short; repeatable")
                .help_heading("Run control"),
        )
        .arg(
            Arg::new("detach")
                .long("detach")
                .action(ArgAction::SetTrue)
                .help("slurm: submit and leave; later, `fsin collect DIR`")
                .help_heading("Run control"),
        );
    showing::flags(command).arg(quiet()).arg(verbose("Also say on stderr when each point has run"))
}

/// The command `fsin point`.
pub(super) fn point() -> Command {
    Command::new("point")
        .about("Runs single points of a planned sweep: what batch systems call")
        .arg(folder("Folder of the sweep"))
        .arg(Arg::new("points").value_name("ID").num_args(1..).help("Points, by the names that --dry-run lists"))
        .arg(
            Arg::new("list")
                .long("list")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .required_unless_present_any(["points", "of-sweep"])
                .help("Points in a file, one a line"),
        )
        .arg(
            Arg::new("of-sweep")
                .long("of-sweep")
                .action(ArgAction::SetTrue)
                .hide(true)
                .help("A sweep has the folder and waits for this process, which ends with its standard input"),
        )
}

/// The command `fsin collect`.
pub(super) fn collect() -> Command {
    Command::new("collect")
        .about("Writes results.csv and results.jsonl of all points that have run, in this process or in others")
        .arg(folder("Folder of the sweep"))
        .arg(quiet())
}

/// The command `fsin saturation`.
pub(super) fn saturation() -> Command {
    experiments(Command::new("saturation"))
        .about("Finds the load at which the accepted load falls behind the offered one, by bisection")
        .after_help(SATURATION_EXAMPLES)
        .mut_arg("load", |arg| arg.help("Highest load to look at, in the unit of the network [1]"))
        .arg(
            Arg::new("seeds")
                .long("seeds")
                .value_name("K")
                .value_parser(value_parser!(u64).range(1..=10_000))
                .help("Searches with K seeds from --seed on, for the confidence of the load that is found")
                .help_heading("Run control"),
        )
        .arg(
            Arg::new("skip-invalid")
                .long("skip-invalid")
                .action(ArgAction::SetTrue)
                .help("Leave out combinations that are no valid experiments, instead of refusing all")
                .help_heading("Run control"),
        )
        .arg(jobs("Searches that run at the same time; absent: processors / --threads"))
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Also keep the results in a folder, new or of a sweep: saturation.json, saturation.csv, and curves of the loads tried in plots")
                .help_heading("Output"),
        )
        .arg(
            Arg::new("lengthen")
                .long("lengthen")
                .value_name("N")
                .value_parser(value_parser!(u64).range(1..=1_000_000))
                .help(
                    "Factor by which warm-up and batches are lengthened at most where a load is undecided, rounded down \
                     to a power of two; 1: never [32]",
                )
                .help_heading("Run control"),
        )
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
                .help("Width of the interval that is found, in the unit of loads [0.005]")
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

/// The flag `--scale`.
fn scale() -> Arg {
    choice("scale", "SCALE", "auto", &["auto", "linear", "log"], "Axis of latencies: auto, linear, log [auto]")
}

/// The command `fsin plot`.
pub(super) fn plot() -> Command {
    Command::new("plot")
        .about("Draws the curves of a sweep, with the data of each picture beside it, into DIR/plots")
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
                .help("Only results with this value of a setting, or in a range: load=0.1..0.3; may be given for several values, and settings [all]")
                .help_heading("Curves"),
        )
        .args(picture_flags())
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

/// The flags for the style and formats of pictures.
fn picture_flags() -> Vec<Arg> {
    let end = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("X")
            .allow_negative_numbers(true)
            .value_parser(|word: &str| match word.parse::<f64>() {
                Ok(end) if end.is_finite() && end > 0.0 => Ok(end),
                _ => Err("use a number above 0"),
            })
            .help(help)
            .help_heading("Axes")
    };
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    vec![
        end("xmax", "Where the horizontal axis ends (its unit) [the largest value]"),
        end(
            "ymax",
            "Where vertical axes end (their unit), but that of the accepted load [latency over load: 5 times that at the lowest \
             load; others: the largest value]",
        ),
        Arg::new("range")
            .long("range")
            .value_name("NAME=LOW..HIGH")
            .action(ArgAction::Append)
            .allow_hyphen_values(true)
            .value_parser(plot::range)
            .help("Both ends of an axis: of x, or of the vertical one of latency, latency-p99, accepted, completion, shots, slowdown, \
                   slowdown-p99, message-p99, job-wait, job-slowdown, energy, power or energy-per-bit; may be repeated")
            .help_heading("Axes"),
        flag("over-time", "Draw load and latency over time instead: each measured batch of each run, joined")
            .help_heading("Curves"),
        flag("by-size", "Draw slow-down and time of messages over their sizes instead: each tenth of the messages of each run")
            .conflicts_with("over-time")
            .help_heading("Curves"),
        flag("ports", "Draw paused time, marks and mean queues of ports with classes instead")
            .conflicts_with_all(["over-time", "by-size"])
            .help_heading("Curves"),
        flag("saturated", "Latency over load: draw saturated points too, as hollow markers; their values depend on the length of the run")
            .help_heading("Curves"),
        Arg::new("name")
            .long("name")
            .value_name("VALUE=NAME")
            .action(ArgAction::Append)
            .value_parser(|word: &str| match word.rsplit_once('=') {
                Some((from, to)) if !from.is_empty() && !to.is_empty() => Ok((from.to_owned(), to.to_owned())),
                _ => Err("write VALUE=NAME, such as bubble:smart=Adaptive"),
            })
            .help("What pictures call a value (or KEY=VALUE, or the whole label of a curve); may be repeated")
            .help_heading("Curves"),
        flag("panels", "Pictures of one figure as panels of one picture, with one legend").help_heading("Output"),
        Arg::new("title")
            .long("title")
            .value_name("TEXT")
            .help("Stands above every picture [nothing]")
            .help_heading("Output"),
        Arg::new("format")
            .long("format")
            .value_name("FORMAT")
            .action(ArgAction::Append)
            .value_delimiter(',')
            .default_value("svg")
            .hide_default_value(true)
            .value_parser(PossibleValuesParser::new(plot::FORMATS.iter().copied()))
            .help("Formats: svg, pdf, png, pgf (LaTeX source for pgfplots) [svg]")
            .help_heading("Output"),
    ]
}

/// The flag `--margin`.
fn margin() -> Arg {
    Arg::new("margin")
        .long("margin")
        .value_name("PERCENT")
        .value_parser(|word: &str| match word.trim_end_matches('%').trim_end().parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
            _ => Err("write a number of percent from 0 to 100, such as 2"),
        })
        .help("Difference that does not matter, in percent of the baseline: shown to be within it, figures are the same [1]")
        .help_heading("Output")
}

/// The command `fsin report`.
pub(super) fn report() -> Command {
    Command::new("report")
        .about("Writes one self-contained HTML page of a sweep, or of several: warnings, curves, tables, manifest")
        .arg(folder("Folder of a sweep, or of a run; several make the parts of one page").num_args(1..))
        .arg(scale())
        .arg(
            Arg::new("baseline")
                .long("baseline")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Results to compare with: their curves beside these, and a table of differences point by point")
                .help_heading("Output"),
        )
        .arg(margin().requires("baseline"))
        .arg(
            Arg::new("title")
                .long("title")
                .value_name("TEXT")
                .help("Title of the page [what was simulated; of several folders: their names]")
                .help_heading("Output"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("The page [DIR/report.html; of several folders: required]; replaced if it exists")
                .help_heading("Output"),
        )
        .arg(quiet())
}

/// The command `fsin compare`.
pub(super) fn compare() -> Command {
    Command::new("compare")
        .about("Compares two sweeps point by point: higher, lower, shown to be the same, or unclear")
        .after_help(COMPARE_EXAMPLES)
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
        .arg(margin())
        .arg(choice("format", "FORMAT", "table", &["table", "csv", "json"], "How it is written to stdout [table]"))
        .arg(
            Arg::new("plots")
                .long("plots")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Curves of both in one picture, for each figure, as SVG into a folder")
                .help_heading("Output"),
        )
}

/// The command `fsin rerun`.
pub(super) fn rerun() -> Command {
    Command::new("rerun")
        .about("Runs stored results again and checks that they are the same to the last digit")
        .after_help(
            "Exit status: 0 all the same, 1 some differ (each difference is on stdout), 2 the folder cannot be used.",
        )
        .arg(folder("Folder of a run, a sweep, or one point of a sweep; or a parcel of one (fsin pack)"))
        .arg(jobs("Points that run at the same time; as many as there are processors if absent"))
        .arg(quiet())
}

/// The command `fsin pack`.
pub(super) fn pack_command() -> Command {
    Command::new("pack")
        .about("Packs a folder of results with its inputs into one file, which others run again by fsin rerun FILE")
        .after_help("Exit status: 0 packed, 1 failed while working, 2 the folder cannot be packed.")
        .arg(folder("Folder of a run or a sweep"))
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("The parcel, a new file [the name of the folder with .tar.xz]")
                .help_heading("Output"),
        )
        .arg(quiet())
}

/// The command `fsin schema`.
pub(super) fn schema() -> Command {
    Command::new("schema").about("Prints the JSON Schema of the result of a run: every figure with its unit and meaning").long_about(
        "Prints the JSON Schema (draft 2020-12) of the result of a run, as `fsin run --format json`, `fsin serve` and the \
         `result.json` of folders have it: every figure with its unit and meaning. A figure that a kind of run does not \
         have is absent; one that cannot be computed is null.",
    )
}

/// The command `fsin generate`.
pub(super) fn generate() -> Command {
    Command::new("generate")
        .about("Prints completions for a shell, the man page, names for Python, or the reference pages of the book into a folder")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("completions").about("Completions for a shell").arg(
                Arg::new("shell").required(true).value_parser(value_parser!(clap_complete::Shell)).help("The shell"),
            ),
        )
        .subcommand(Command::new("man").about("The man page, with all commands"))
        .subcommand(Command::new("python").about("The module of the Python package with the types of all arguments and figures"))
        .subcommand(
            Command::new("reference")
                .about("Pages of Markdown: every command, key, component and figure")
                .arg(folder("Folder for them")),
        )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::cli::args;
    use fsin::experiment::{MANY_KEYS, key};

    /// Flags that say what this invocation does with the experiment, and change neither its results nor its points.
    const OF_INVOCATION: &[&str] = &[
        "activity",
        "backend",
        "color",
        "compact",
        "detach",
        "dry-run",
        "event-counts",
        "experiment",
        "format",
        "help",
        "jobs",
        "message-log",
        "monitor",
        "output",
        "pack",
        "packet-log",
        "pcap",
        "pcap-at",
        "queues",
        "quiet",
        "record-every",
        "record-view",
        "resume",
        "slurm-option",
        "timeline",
        "tui",
        "verbose",
        "version",
    ];

    #[test]
    fn a_file_can_hold_the_whole_experiment() {
        let mut command = args::command();
        command.build();
        let mut used = BTreeSet::new();
        for name in ["run", "sweep", "saturation"] {
            let sub = command.find_subcommand(name).expect("the command exists");
            for arg in sub.get_arguments() {
                let id = arg.get_id().as_str();
                let is_key = key(id).is_some() || MANY_KEYS.iter().any(|key| key.name == id);
                let is_of_invocation = OF_INVOCATION.contains(&id);
                assert!(
                    is_key != is_of_invocation,
                    "fsin {name}: the flag {id} needs a key of the file, or to be one of this invocation only"
                );
                used.insert(id.to_owned());
            }
        }
        for key in MANY_KEYS {
            assert!(used.contains(key.name), "no command has the flag of the key {}", key.name);
        }
    }
}
