//! Common parts of all commands: a short help of one screen, examples and exit status in the long one, `--quiet` and
//! `--output`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, Command, value_parser};
use fsin::experiment::key;

use crate::cli::notation::of_table;

/// Keys that most runs set, with their lines of the short help. The long help shows all keys.
const COMMON: &[(&str, &str)] = &[
    ("topology", "torus:16x16, mesh:8x8, ...: fsin list topologies [torus:8x8]"),
    ("routing", "such as dally:trc, dor: fsin list routings [that of the topology]"),
    ("vcs", "virtual channels of each link [3]"),
    ("packet", "length of every packet (phits) [16]"),
    ("traffic", "transpose, hotspot(0.1,0), ...: fsin list traffic [uniform]"),
    ("load", "offered load, in the unit of the network [0.3]"),
    ("trace", "replay a trace instead: fsin list formats"),
    ("kernel", "run an application kernel instead: fsin list kernels"),
    ("warmup", "time before anything is measured (cycles) [5000]"),
    ("samples", "batches to measure [10]"),
    ("cycles", "a fixed run instead (cycles)"),
    ("threads", "threads to simulate with [1]"),
    ("seed", "seed of every random draw [1]"),
];

/// Flags that the short help leaves out.
const RARE: &[&str] = &[
    "buffered",
    "clock-read",
    "detach",
    "digest-every",
    "factor",
    "find-limit",
    "guest-limit",
    "lengthen",
    "measure",
    "message-log",
    "monitor",
    "pack",
    "packet-log",
    "pcap",
    "pcap-link",
    "range",
    "ranks-per-node",
    "receive-overhead",
    "record-every",
    "record-view",
    "send-overhead",
    "skip-invalid",
    "stop-after",
    "timeline",
    "verbose",
    "slurm-option",
    "warm-up",
    "wire-log",
];

/// Commands to which this module adds `--quiet`: they print more than results and errors.
const QUIET: &[&str] = &[
    "compare",
    "console",
    "down",
    "guest",
    "mpirun",
    "point",
    "prepare",
    "record-view",
    "relay",
    "serve",
    "traffic",
    "up",
];

/// Commands to which this module adds `--output`: they print a document.
const PRINT: &[&str] = &[
    "booksim",
    "compare",
    "completions",
    "config",
    "explain",
    "guest",
    "hpcc",
    "init",
    "list",
    "man",
    "python",
    "relay",
    "rerun",
    "schema",
    "serve",
    "topology",
    "traffic",
];

/// Exit status of commands that describe or convert.
const DESCRIBES: &str = "Exit status: 0 done, 1 it cannot be written, 2 the command line or an input cannot be used.";
/// Exit status of commands that read results.
const READS: &str = "Exit status: 0 done, 1 failed while working, 2 the command line or a folder cannot be used.";
/// Exit status of commands that take part in a run of guests.
const CONNECTS: &str = "Exit status: 0 done, 1 a connection or a run failed, 2 the command line or an input cannot be used, 130 interrupted.";

/// Exit status of commands that work on machines.
const WORKS: &str =
    "Exit status: 0 done, 1 it failed while working, 2 the command line or a folder cannot be used, 130 interrupted.";

/// Examples and the text on the exit status for a command; empty for a command whose own help has them.
fn examples_and_status(name: &str) -> (&'static [&'static str], &'static str) {
    match name {
        "init" => (&["fsin init > e.toml", "fsin init -o e.toml"], DESCRIBES),
        "point" => (
            &["fsin point r 0a1b2c3d4e5f6071", "fsin point r --list points.txt"],
            "Exit status: 0 every point has a result, 1 failed while running, 2 the command line or the folder cannot be used, 4 some \
             points failed, 130 interrupted.",
        ),
        "collect" => (
            &["fsin collect r"],
            "Exit status: 0 every point has a result, 1 failed while working, 2 the folder cannot be used, 4 points failed or are \
             missing.",
        ),
        "report" => (
            &[
                "fsin report r",
                "fsin report r --baseline before -o page.html",
                "fsin report all-to-all all-reduce -o page.html",
            ],
            READS,
        ),
        "rerun" => (&["fsin rerun r", "fsin rerun r --jobs 4 -q", "fsin rerun r.tar.xz"], ""),
        "pack" => (&["fsin pack r", "fsin pack r -o parcel.tar.xz"], ""),
        "schema" => (&["fsin schema", "fsin schema -o result.schema.json"], DESCRIBES),
        "completions" => (&["fsin generate completions bash -o fsin.bash"], DESCRIBES),
        "man" => (&["fsin generate man -o fsin.1"], DESCRIBES),
        "python" => (&["fsin generate python -o _named.py"], DESCRIBES),
        "reference" => (&["fsin generate reference pages"], DESCRIBES),
        "generate" => (
            &["fsin generate completions zsh -o _fsin", "fsin generate man -o fsin.1", "fsin generate reference pages"],
            DESCRIBES,
        ),
        "serve" => (
            &[
                "fsin serve --topology torus:4x4 --guests 2",
                "fsin serve --network switch:delay=100us,nodes=2 --mode quantised --step 1ms",
                "fsin serve --listen unix:net --token-file token -o live.json",
            ],
            "Exit status: 0 done, 1 a guest or the network failed, with partial results, 2 the command line cannot be used, 3 all \
             guests wait for each other, 130 interrupted, with partial results.",
        ),
        "mpirun" => (
            &[
                "fsin mpirun -n 16 --topology torus:4x4 -- ./app",
                "fsin mpirun -n 4 --network switch:delay=1us,nodes=4 --compute fixed:100ns --label -- ./app input",
                "fsin mpirun -n 16 --record app.trg -o result.json -- ./app",
                "fsin mpirun -n 4 --network switch:delay=1us,nodes=4 --mode realtime --factor 64 -- ./app",
            ],
            "Exit status: 0 done, otherwise that of the program; 1 a rank has failed, 2 the command line cannot be used, 3 the \
             program is in deadlock, 130 interrupted.",
        ),
        "machines" => (&["fsin machines prepare", "fsin machines up -n 2 --command 'ping -c 5 machine1'"], WORKS),
        "up" => (
            &[
                "fsin machines up -n 2 --network switch:delay=100us --command 'mpiexec -n 2 cpi' -o result.json",
                "fsin machines up -n 4 --topology torus:4x4 --node 0,5,10,15 --send-overhead 110us --step 50us",
            ],
            "Exit status: 0 done, 1 a machine, a command or the network failed, with partial results, 2 the command line cannot be \
             used, 130 interrupted, with partial results.",
        ),
        "console" => (&["fsin machines console 2"], WORKS),
        "down" => (&["fsin machines down"], WORKS),
        "prepare" => (&["fsin machines prepare", "fsin machines prepare ./app --image image"], WORKS),
        "guest" => (
            &[
                "fsin guest ping --node 0..1",
                "fsin guest --kernel all-to-all:tasks=16,bytes=512 --connect unix:net --token-file token",
            ],
            CONNECTS,
        ),
        "relay" => (&["fsin relay --node 4..5 --peers 4..5 --machines 127.0.0.1:7200"], CONNECTS),
        "top" => (
            &["fsin top 127.0.0.1:7300", "fsin top run.view", "fsin top run.view --svg network.svg --at 5000"],
            CONNECTS,
        ),
        "record-view" => (&["fsin record-view run.view --from 127.0.0.1:7300"], CONNECTS),
        "traffic" => (
            &[
                "fsin traffic --traffic transpose --load 0.1 --cycles 100",
                "fsin traffic --kernel bintree --format jsonl -o sent.jsonl",
            ],
            "Exit status: 0 done, 1 it cannot be written, 2 the command line, the experiment or an input cannot be used, 3 the traffic is \
             in deadlock, 130 interrupted.",
        ),
        "config" => (&["fsin config --load 0.1", "fsin config e.toml --vcs 4 -o resolved.toml"], DESCRIBES),
        "import" => (&["fsin import booksim mesh88.cfg", "fsin import hpcc mix/config.txt -o incast.toml"], DESCRIBES),
        "booksim" => {
            (&["fsin import booksim mesh88.cfg", "fsin import booksim mesh88.cfg --seed 7 -o mesh88.toml"], DESCRIBES)
        }
        "hpcc" => (
            &[
                "fsin import hpcc mix/config.txt",
                "fsin import hpcc SimAI.conf --topology graph:topo --trace workload.trg",
            ],
            DESCRIBES,
        ),
        "legacy" => (
            &["fsin legacy topo=torus_16_16 mode=smart3 load=0.3", "fsin legacy fsin.conf load=0.5 --format json"],
            "Exit status: 0 done, 1 failed while running, 2 the words cannot be used, 3 deadlock, 130 interrupted, with \
             partial results.",
        ),
        "topology" => {
            (&["fsin topology twisted:16x8:8", "fsin topology dragonfly:2,4,2 --format svg -o network.svg"], DESCRIBES)
        }
        "routes" => (
            &[
                "fsin routes --topology mesh:8x8 --routing dor -o dor.csv",
                "fsin routes --topology tpu:4x4x8_twisted --balance -o balanced.csv.gz",
                "fsin routes --topology torus:4x4 --routes given.csv.gz",
            ],
            DESCRIBES,
        ),
        "list" => (&["fsin list", "fsin list topologies", "fsin list routings --network wormhole"], DESCRIBES),
        "explain" => (&["fsin explain bubble:smart", "fsin explain 'zipf(2)'"], DESCRIBES),
        _ => (&[], ""),
    }
}

/// Adds the common parts to a command and its subcommands.
pub(crate) fn complete(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(&name, |sub| with_examples(with_common_flags(complete(sub), &name), &name))
    })
}

/// Adds the common flags to a command, and hides the flags that the short help leaves out.
fn with_common_flags(mut command: Command, name: &str) -> Command {
    if QUIET.contains(&name) {
        command = command.arg(quiet());
    }
    if PRINT.contains(&name) {
        command = command.arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("A new file for what is printed [stdout]")
                .help_heading("Output"),
        );
    }
    command.mut_args(|arg| {
        let id = arg.get_id().to_string();
        let arg = with_values(arg);
        if id == "experiment" {
            return arg.help("A file of `key = value` lines, as `fsin init` prints");
        }
        if RARE.contains(&id.as_str()) {
            return arg.hide_short_help(true);
        }
        match (COMMON.iter().find(|(common, _)| *common == id), key(&id)) {
            // A command that has its own text for a key keeps it.
            (Some((_, brief)), Some(key))
                if arg.get_help().is_some_and(|help| help.to_string().starts_with(&of_table(key.about))) =>
            {
                let long = arg.get_help().cloned().unwrap_or_default();
                arg.help(*brief).long_help(long)
            }
            // What stands under no heading is the command's own.
            (None, Some(_)) if arg.get_help_heading().is_some() => arg.hide_short_help(true),
            _ => arg,
        }
    })
}

/// Adds the possible values of a flag to its help text, unless the text names them: clap would list them in a line of
/// its own.
fn with_values(arg: Arg) -> Arg {
    let values: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let Some(help) = arg.get_help().map(ToString::to_string) else { return arg };
    if values.is_empty() || values.len() > 8 || matches!(arg.get_action(), ArgAction::SetTrue) {
        return arg;
    }
    let arg = arg.hide_possible_values(true);
    if values.iter().all(|value| help.contains(value.as_str())) {
        return arg;
    }
    let help = match help.rsplit_once(" [") {
        Some((about, default)) => format!("{about}: {} [{default}", values.join(", ")),
        None => format!("{help}: {}", values.join(", ")),
    };
    arg.help(help)
}

/// Appends the examples and the exit status to the long help of a command.
fn with_examples(command: Command, name: &str) -> Command {
    let own = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let (examples, exit) = examples_and_status(name);
    let examples = match examples {
        [] => String::new(),
        lines => format!("Examples:\n  {}", lines.join("\n  ")),
    };
    let parts: Vec<String> =
        own.into_iter().chain([examples, exit.to_owned()]).filter(|part| !part.is_empty()).collect();
    command.after_help("With --help: every flag, examples, exit status.").after_long_help(parts.join("\n\n"))
}

/// The flag `--quiet`.
pub(crate) fn quiet() -> Arg {
    Arg::new("quiet")
        .short('q')
        .long("quiet")
        .action(ArgAction::SetTrue)
        .help("No progress bar, notes or warnings on stderr (warnings stay in the results)")
        .help_heading("Output")
}

#[cfg(test)]
mod tests {
    use crate::cli::args;
    use clap::Command;

    /// Every command with its path, subcommands included.
    fn all(command: &Command, path: &str, found: &mut Vec<(String, Command)>) {
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
            let path = format!("{path} {}", sub.get_name());
            found.push((path.clone(), sub.clone()));
            all(sub, &path, found);
        }
    }

    /// The words of an example, split as by a shell with single quotes.
    fn words(line: &str) -> Vec<String> {
        let parts = line.split('\'').enumerate();
        parts
            .flat_map(|(index, part)| match index % 2 {
                0 => part.split_whitespace().map(str::to_owned).collect(),
                _ => vec![part.to_owned()],
            })
            .collect()
    }

    #[test]
    fn every_command_has_a_short_help_of_one_screen_examples_exit_status_and_the_common_flags() {
        let mut root = args::command().term_width(100).color(clap::ColorChoice::Never);
        root.build();
        let mut found = Vec::new();
        all(&root, "fsin", &mut found);
        assert!(found.len() > 24, "{found:?}");
        let mut too_long = Vec::new();
        for (path, mut command) in found {
            let short = command.render_help().to_string();
            let lines = short.lines().count();
            if lines > 40 {
                too_long.push(format!("{path} -h has {lines} lines:\n{short}"));
            }
            let long = command.render_long_help().to_string();
            for part in ["Examples:\n", "Exit status: 0 "] {
                assert_eq!(long.matches(part).count(), 1, "{path} --help: {part}\n{long}");
            }
            let examples: Vec<&str> = long
                .lines()
                .skip_while(|line| *line != "Examples:")
                .skip(1)
                .take_while(|line| line.starts_with("  "))
                .collect();
            for example in &examples {
                let line = example.trim().split("   ").next().unwrap_or_default();
                for part in line.split(['|', '>', '&']).map(str::trim).filter(|part| part.starts_with("fsin ")) {
                    let parsed = args::command().try_get_matches_from(words(part));
                    assert!(parsed.is_ok(), "{path}: {part}: {:?}", parsed.err());
                }
            }
            let has = |short: char, long: &str| {
                command.get_arguments().any(|arg| arg.get_short() == Some(short) && arg.get_long() == Some(long))
            };
            let name = path.rsplit(' ').next().unwrap_or_default();
            // These commands print only what was requested.
            let says_nothing = [
                "booksim",
                "completions",
                "config",
                "energy",
                "explain",
                "generate",
                "hpcc",
                "import",
                "init",
                "legacy",
                "list",
                "machines",
                "man",
                "python",
                "reference",
                "routes",
                "schema",
                "top",
                "topology",
            ];
            assert!(has('q', "quiet") || says_nothing.contains(&name), "{path} has no -q");
            // These commands write into a given folder, or require a file.
            let writes_nothing = [
                "collect",
                "console",
                "down",
                "generate",
                "import",
                "machines",
                "point",
                "prepare",
                "record-view",
                "reference",
                "top",
            ];
            assert!(has('o', "output") || writes_nothing.contains(&name), "{path} has no -o");
        }
        assert!(too_long.is_empty(), "{}", too_long.join("\n"));
    }
}
