//! The flags of `fsin serve`, and their meaning.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::time::Duration;

use adapters::clock::parse_span;
use adapters::live::{Capture, Region, WarmUp, Watch, WireLog};
use adapters::protocol::Mode;
use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, value_parser};
use fsin::experiment::live_keys;
use fsin::pcapng::{LinkType, Node, Writer};

use crate::cli::live::guest::token_file;
use crate::cli::watch::looking;
use crate::cli::{Complaint, Exit, key_flags, output};

/// The command `fsin serve`.
pub(crate) fn command() -> Command {
    let command = Command::new("serve")
        .about("A network for live guests: programs whose messages travel through it (docs/protocol.md)")
        .next_help_heading("Guests")
        .arg(word(
            "listen",
            "ADDRESS",
            "127.0.0.1:7100",
            "Where guests connect: HOST:PORT, port 0 for a free one, or unix:PATH [127.0.0.1:7100]",
        ))
        .arg(
            Arg::new("guests")
                .long("guests")
                .value_name("NODES")
                .value_parser(value_parser!(usize))
                .help("Nodes that must have a guest before time begins [all]"),
        );
    let command = of_output(of_time(command).arg(token_file()).next_help_heading("Output"));
    let command = looking::flags(command);
    live_keys().fold(command, |command, key| command.arg(key_flags::flag(key)))
}

/// A flag that takes a word and has a default.
fn word(name: &'static str, value: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).default_value(default).hide_default_value(true).help(help)
}

/// The flags for the time of guests, and for guests that are lost.
pub(in crate::cli) fn of_time(command: Command) -> Command {
    command
        .arg(
            word(
                "mode",
                "MODE",
                "exact",
                "exact: no message is late, steps are at most the horizon; quantised: any step; realtime: quantised, and \
                 no faster than the wall clock [exact]",
            )
            .value_parser(PossibleValuesParser::new(["exact", "quantised", "realtime"])),
        )
        .arg(factor())
        .arg(
            Arg::new("step")
                .long("step")
                .value_name("TIME")
                .help("Step of stepped guests that ask for none [the horizon; 100us in real-time mode]"),
        )
        .arg(word("send-overhead", "TIME", "0ns", "From a guest to the interface of its node [0ns]"))
        .arg(word("receive-overhead", "TIME", "0ns", "From the interface of a node to its guest [0ns]"))
        .arg(word(
            "warm-up",
            "TIME|mark",
            "0ns",
            "First grant of stepped guests: up to this time, or until each sets a mark or waits; what arrives meanwhile is \
             handed over at its end [0ns]",
        ))
        .arg(
            word(
                "lost-guest",
                "POLICY",
                "abort",
                "When a guest dies, stalls or errs: abort, drop-node (go on without it), or freeze (stand still until \
                 interrupted) [abort]",
            )
            .value_parser(PossibleValuesParser::new(["abort", "drop-node", "freeze"])),
        )
        .arg(
            word("stall", "SECONDS", "60", "How long a guest may be silent when its turn is waited for (s) [60]")
                .value_parser(value_parser!(u64).range(1..=86_400)),
        )
        .arg(guest_limit_flag("60"))
}

/// The flag `--guest-limit`, with its default.
pub(in crate::cli) fn guest_limit_flag(default: &'static str) -> Arg {
    Arg::new("guest-limit")
        .long("guest-limit")
        .value_name("SECONDS")
        .value_parser(value_parser!(u64).range(1..=7 * 86_400))
        .default_value(default)
        .hide_default_value(true)
        .help(format!(
            "How long a guest may hold its turns without progress: no message, no later time (s) [{default}]"
        ))
}

/// The value of `--guest-limit`.
pub(in crate::cli) fn guest_limit(matches: &ArgMatches) -> Option<Duration> {
    matches.get_one::<u64>("guest-limit").copied().map(Duration::from_secs)
}

/// The flags for the files that are written during a run of guests, and for the results.
pub(in crate::cli) fn of_output(command: Command) -> Command {
    let file = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("FILE").value_parser(value_parser!(PathBuf)).help(help)
    };
    command
        .arg(
            Arg::new("measure").long("measure").value_name("FROM..TO").help(
                "Measure from when all guests have set the mark FROM to when the first one sets TO [the whole run]",
            ),
        )
        .arg(Arg::new("digest-every").long("digest-every").value_name("TIME").help(
            "Running digests at these times, by which two runs can be compared; in long runs at every second of them, \
             and so on [none]",
        ))
        .arg(file("wire-log", "A line for each frame that is exchanged with guests"))
        .arg(file("pcap", "What messages carry, as packets with virtual times (pcapng)"))
        .arg(
            word("pcap-link", "TYPE", "user", "What they carry: ethernet, or user (link type 147) [user]")
                .value_parser(PossibleValuesParser::new(["ethernet", "user"])),
        )
        .arg(
            word("format", "FORMAT", "json", "How results are written to stdout [json]")
                .value_parser(PossibleValuesParser::new(["csv", "json", "jsonl"])),
        )
}

/// The flag `--factor`.
pub(in crate::cli) fn factor() -> Arg {
    Arg::new("factor")
        .long("factor")
        .value_name("X")
        .help("In real-time mode: seconds of wall-clock time per second of virtual time, 0.001 to 1000000 [1]")
}

/// The error of a flag that cannot be used.
fn refused(what: String, remedy: &str) -> Complaint {
    Complaint::new(Exit::Usage, what, remedy)
}

/// The mode, and the pace of real time in thousandths.
pub(in crate::cli) fn mode(matches: &ArgMatches) -> Result<(Mode, u32), Complaint> {
    let mode = match matches.get_one::<String>("mode").map_or("exact", String::as_str) {
        "quantised" => Mode::Quantised,
        "realtime" => Mode::Realtime,
        _ => Mode::Exact,
    };
    if mode == Mode::Realtime {
        return Ok((mode, pace(matches)?));
    }
    match matches.contains_id("factor") {
        true => Err(refused(
            "--factor has a meaning in real-time mode only".to_owned(),
            "add --mode realtime, or leave it out",
        )),
        false => Ok((mode, 0)),
    }
}

/// The factor of `--factor`, in thousandths; 1 without it.
pub(in crate::cli) fn pace(matches: &ArgMatches) -> Result<u32, Complaint> {
    let Some(factor) = matches.get_one::<String>("factor") else { return Ok(1000) };
    let thousandths = factor.parse::<f64>().ok().map(|factor| (factor * 1000.0).round());
    match thousandths.filter(|thousandths| (1.0..=1e9).contains(thousandths)) {
        Some(thousandths) => Ok(thousandths as u32),
        None => Err(refused(
            format!("--factor takes a number from 0.001 to 1000000, not `{factor}`"),
            "write --factor 10 for a run ten times slower than real time",
        )),
    }
}

/// The warm-up of stepped guests.
pub(super) fn warm_up(matches: &ArgMatches) -> Result<WarmUp, Complaint> {
    let word = matches.get_one::<String>("warm-up").map_or("0ns", String::as_str);
    match (word, parse_span(word)) {
        ("mark", _) => Ok(WarmUp::Mark),
        (_, Some(0)) => Ok(WarmUp::None),
        (_, Some(time)) => Ok(WarmUp::Until(time)),
        (_, None) => Err(refused(
            format!("--warm-up takes a time with its unit, or `mark`, not `{word}`"),
            "write --warm-up 2s (units ps, ns, us, ms, s), or --warm-up mark",
        )),
    }
}

/// The measured region of the run.
pub(super) fn region(matches: &ArgMatches) -> Result<Option<Region>, Complaint> {
    let Some(word) = matches.get_one::<String>("measure") else { return Ok(None) };
    match word.split_once("..") {
        Some((from, to)) if !from.is_empty() && !to.is_empty() && from != to => {
            Ok(Some(Region { from: from.to_owned(), to: to.to_owned() }))
        }
        _ => Err(refused(
            format!("--measure takes two different marks, not `{word}`"),
            "write --measure begin..end, if the guests set the marks `begin` and `end`",
        )),
    }
}

/// Creates the files that are written during the run.
pub(in crate::cli) fn watch(matches: &ArgMatches) -> Result<Watch, Complaint> {
    let create = |flag: &str| -> Result<Option<Box<BufWriter<File>>>, Complaint> {
        let Some(path) = matches.get_one::<PathBuf>(flag) else { return Ok(None) };
        let file = output::create_file(&format!("--{flag} {}", path.display()), path)?;
        Ok(Some(Box::new(BufWriter::new(file))))
    };
    let link = matches.get_one::<String>("pcap-link").map_or("user", String::as_str);
    let is_given = matches.value_source("pcap-link") == Some(ValueSource::CommandLine);
    if is_given && !matches.contains_id("pcap") {
        return Err(refused(
            "--pcap-link has no meaning without --pcap".to_owned(),
            "add --pcap FILE, or leave it out",
        ));
    }
    let link = if link == "ethernet" { LinkType::Ethernet } else { LinkType::User };
    let capture = match create("pcap")? {
        Some(out) => {
            let capture = Writer::<Node>::new(out, link);
            let capture = capture.map_err(|what| refused(what, "give a file in a folder with room"))?;
            Some(Box::new(capture) as Box<dyn Capture>)
        }
        None => None,
    };
    Ok(Watch { wire_log: create("wire-log")?.map(|out| WireLog::new(out)), capture })
}
