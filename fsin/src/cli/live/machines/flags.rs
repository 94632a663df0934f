//! The flags of `fsin machines`, and their meaning.

use std::env;
use std::path::{Path, PathBuf};

use adapters::machine::NODES;
use clap::builder::RangedU64ValueParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use fsin::experiment::live_keys;

use crate::cli::describe::help;
use crate::cli::live::serve::flags::{of_output, of_time};
use crate::cli::{Complaint, Exit, key_flags};

/// Largest number of machines: their addresses are 10.0.0.1 to 10.0.0.250.
const MAX_MACHINES: u64 = 250;

/// A flag that takes a path.
fn path_flag(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).value_parser(value_parser!(PathBuf)).help(help)
}

/// The flag `--folder`.
fn folder() -> Arg {
    path_flag("folder", "DIR", "Folder of the machines: their consoles, and how to reach them [machines]")
        .default_value("machines")
        .hide_default_value(true)
}

/// The flag `--image`.
fn image() -> Arg {
    path_flag("image", "DIR", "What they boot, as `fsin machines prepare` has made it [~/.cache/fsin/machines]")
}

/// The flag `--on`.
fn on_flag(help: &'static str) -> Arg {
    Arg::new("on").long("on").value_name("LIST|all").default_value("0").hide_default_value(true).help(help)
}

/// The command `fsin machines up`.
pub(super) fn up() -> Command {
    let command = Command::new("up")
        .about("Starts machines and the network between them, and prints the results when they have ended")
        .long_about(
            "Starts machines and the network between them, and prints the results when they have ended. With --command they \
             run it and end: every run is the same then. Without, they run until `fsin machines down`; meanwhile `fsin \
             machines run` and `console` reach them. Machine i has the address 10.0.0.(i+1) and the name machine<i>.",
        )
        .next_help_heading("Machines")
        .arg(
            Arg::new("guests")
                .short('n')
                .long("machines")
                .value_name("N")
                .default_value("2")
                .hide_default_value(true)
                .value_parser(RangedU64ValueParser::<usize>::new().range(1..=MAX_MACHINES))
                .help("Number of machines [2]"),
        )
        .arg(
            Arg::new("node")
                .long("node")
                .value_name("LIST")
                .help("Their nodes, such as 0,5,10 or 4..7 [the first ones]"),
        )
        .arg(
            Arg::new("command")
                .long("command")
                .value_name("COMMAND")
                .help("Run this by the shell once all machines are up, then end them all"),
        )
        .arg(on_flag("Machines that run --command, such as 0,2 [0]"))
        .arg(image())
        .arg(folder())
        .arg(
            Arg::new("memory")
                .long("memory")
                .value_name("MIB")
                .default_value("256")
                .hide_default_value(true)
                .value_parser(value_parser!(u64).range(128..=65_536))
                .hide_short_help(true)
                .help("Memory of a machine (MiB) [256]"),
        )
        .arg(Arg::new("listen").long("listen").value_name("ADDRESS").hide_short_help(true).help(
            "Where the network listens for its machines: HOST:PORT, or unix:PATH [a socket that only this user reaches]",
        ));
    let command = of_output(of_time(command).next_help_heading("Output"))
        .mut_arg("warm-up", |arg| {
            arg.default_value("mark").help(
                "Boot without steps, up to this time, or until each machine is up (mark); 0ns: with steps from the start \
                 [mark]",
            )
        })
        .mut_arg("pcap-link", |arg| arg.default_value("ethernet").hide(true))
        .mut_arg("lost-guest", |arg| arg.hide_short_help(true))
        .mut_arg("stall", |arg| {
            arg.hide_short_help(true).default_value("600").help("How long a machine may take for a step, or for its boot (s) [600]")
        })
        .mut_arg("guest-limit", |arg| {
            arg.hide_short_help(true)
                .default_value("600")
                .help("How long a machine may hold its turns without progress: no frame, no later time (s) [600]")
        })
        .arg(path_flag("output", "FILE", "Write the results to a new file").short('o'));
    live_keys().fold(command, |command, key| command.arg(key_flags::flag(key)))
}

/// The command `fsin machines run`.
pub(super) fn run() -> Command {
    Command::new("run")
        .about("Runs a command on machines that are up, and prints what it writes")
        .arg(Arg::new("command").value_name("COMMAND").required(true).help("The command, for the shell of the machine"))
        .arg(on_flag("Machines that run it, one after another, such as 0,2, or all [0]"))
        .arg(folder())
        .arg(help::quiet())
        .arg(path_flag("output", "FILE", "A new file for what the command writes [stdout]").short('o').help_heading("Output"))
        .after_help(
            "Examples:
  fsin machines run 'mpiexec -n 4 cpi'
  fsin machines run 'ip addr' --on all

Exit status: 0 done, otherwise that of the command; 1 a machine has ended, 2 the command line or a folder cannot be used, \
             130 interrupted.",
        )
}

/// The command `fsin machines console`.
pub(super) fn console() -> Command {
    Command::new("console")
        .about("Connects the terminal to the console of a machine, on which a shell runs; Ctrl-] leaves it")
        .arg(
            Arg::new("machine")
                .value_name("MACHINE")
                .required(true)
                .value_parser(value_parser!(usize))
                .help("Number of the machine, from 0"),
        )
        .arg(folder())
}

/// The command `fsin machines down`.
pub(super) fn down() -> Command {
    Command::new("down").about("Switches machines off that are up").arg(folder())
}

/// The command `fsin machines prepare`.
pub(super) fn prepare() -> Command {
    Command::new("prepare")
        .about("Makes what machines boot: a Debian kernel, busybox, and MPICH where it is installed")
        .long_about(
            "Makes what machines boot: a Debian kernel, busybox, and MPICH where it is installed, with the programs cpi and \
             pingpong. It needs Debian (apt install busybox-static cpio gcc libc6-dev; for MPI mpich libmpich-dev).",
        )
        .arg(
            Arg::new("program")
                .value_name("PROGRAM")
                .num_args(0..)
                .value_parser(value_parser!(PathBuf))
                .help("Programs of this host to put into /bin of the machines, with the libraries that they need"),
        )
        .arg(image())
}

/// The folder of the machines.
pub(super) fn folder_of(matches: &ArgMatches) -> &Path {
    matches.get_one::<PathBuf>("folder").map_or(Path::new("machines"), PathBuf::as_path)
}

/// The folder with the kernel and the file system that the machines boot.
pub(super) fn image_of(matches: &ArgMatches) -> Result<PathBuf, Complaint> {
    if let Some(path) = matches.get_one::<PathBuf>("image") {
        return Ok(path.clone());
    }
    let cache = env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    cache.or_else(home).map(|cache| cache.join("fsin/machines")).ok_or_else(|| {
        Complaint::new(Exit::Usage, "there is no home folder for what machines boot", "name a folder: --image DIR")
    })
}

/// Parses a list of numbers such as `0,5,10` or `4..7`. All must be different and below `limit`.
fn list(flag: &str, word: &str, limit: u32) -> Result<Vec<u32>, Complaint> {
    let parse = |part: &str| {
        let (first, last) = part.split_once("..").unwrap_or((part, part));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        (first <= last && last < limit && u64::from(last - first) < MAX_MACHINES).then_some(first..=last)
    };
    let numbers: Option<Vec<u32>> =
        word.split(',').map(parse).collect::<Option<Vec<_>>>().map(|all| all.into_iter().flatten().collect());
    let once = |numbers: &Vec<u32>| (1..numbers.len()).all(|index| !numbers[..index].contains(&numbers[index]));
    numbers.filter(once).ok_or_else(|| {
        let what = format!("--{flag} takes different numbers below {limit}, not `{word}`");
        Complaint::new(Exit::Usage, what, format!("write --{flag} 0,2 or --{flag} 0..3"))
    })
}

/// The node of each machine.
pub(super) fn nodes(matches: &ArgMatches, count: usize) -> Result<Vec<u32>, Complaint> {
    let Some(word) = matches.get_one::<String>("node") else { return Ok((0..count as u32).collect()) };
    let nodes = list("node", word, NODES)?;
    if nodes.len() != count {
        let what = format!("--node {word} names {} nodes for {count} machines", nodes.len());
        return Err(Complaint::new(Exit::Usage, what, "name a node for each of the --machines"));
    }
    Ok(nodes)
}

/// The machines that run the command; `count` is the number of all machines.
pub(super) fn runners(matches: &ArgMatches, count: usize) -> Result<Vec<usize>, Complaint> {
    match matches.get_one::<String>("on").map_or("0", String::as_str) {
        "all" => Ok((0..count).collect()),
        word => Ok(list("on", word, count as u32)?.into_iter().map(|machine| machine as usize).collect()),
    }
}
