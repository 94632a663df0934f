//! The flags of `fsin mpirun`, and their meaning.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use adapters::clock::parse_span;
use adapters::endpoint::Terms;
use adapters::live::{LostGuest, Overheads, Rules, WarmUp};
use adapters::protocol::{MAX_PAYLOAD, Mode};
use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use fsin::experiment::{Experiment, live_keys};
use serde_json::{Map, Value, json};
use trgen::NodeId;
use trgen::collective::{Row, given};
use trgen::trace::collectives::Choice;
use trgen::trace::placement::{Placement, PlacementContext};
use trgen::trace::slow::Slow;
use trgen::units;

use super::foreign::{self, Part};
use super::shared;
use crate::cli::live::guest::span;
use crate::cli::live::serve;
use crate::cli::live::serve::model::Model;
use crate::cli::watch::looking;
use crate::cli::{Complaint, Exit, key_flags};

/// \[messages\] Largest number of messages of one rank that have not left its node.
const WINDOW: u32 = 1 << 20;
/// How long a rank may compute between two calls. It can be long, because the end of a rank is detected by its closed
/// connection.
const STALL: Duration = Duration::from_secs(7 * 86_400);
/// Time after which a warning names the ranks that the network waits for.
const WARN: Duration = Duration::from_secs(10);
/// Largest number of ranks of a program.
const MAX_RANKS: u64 = 4096;

/// The command `fsin mpirun`.
pub(crate) fn command() -> Command {
    let word = |name: &'static str, value: &'static str, default: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).default_value(default).hide_default_value(true).help(help)
    };
    let file = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("FILE").value_parser(value_parser!(PathBuf)).help(help)
    };
    let command = Command::new("mpirun")
        .about("Runs an MPI program whose messages travel through a simulated network, in virtual time")
        .long_about(
            "Runs an unmodified program that is linked with MPICH (libmpich.so.12), in C or Fortran: its ranks are \
             processes of this machine, its messages travel through the network below, and its clocks (MPI_Wtime, \
             gettimeofday, clock_gettime) read the time of that network. A rank's time passes by waiting for messages, \
             and by computing as --compute says. With --mode realtime its time is the wall clock, slowed down by --factor. \
             The exit status is that of the program.",
        )
        .next_help_heading("Program")
        .arg(
            Arg::new("program")
                .value_name("PROGRAM")
                .required(true)
                .num_args(1..)
                .trailing_var_arg(true)
                .value_parser(value_parser!(OsString))
                .help("The program and its arguments; others after colons: ./a : -n 3 ./b"),
        )
        .arg(
            Arg::new("guests")
                .short('n')
                .long("ranks")
                .value_name("N")
                .required(true)
                .value_parser(RangedU64ValueParser::<usize>::new().range(1..=MAX_RANKS))
                .help("Ranks of the program, also -np; R consecutive ones share a node"),
        )
        .arg(Arg::new("launcher").long("launcher").value_name("COMMAND").help(
            "What starts the ranks, such as 'srun -n 64'; with {rank} in it once for each: 'ssh node{rank}' [this command]",
        ).long_help(
            "What starts the ranks, before the words of the program: 'srun -n 64', 'mpiexec -n 64 -hosts a,b'. With \
             {rank} in it, it is called once for each rank: 'ssh node{rank}'. The network stays in this command, and ranks \
             reach it by TCP. The folder for temporary files (TMPDIR) must be one that all hosts share [this command]",
        ))
        .arg(Arg::new("listen").long("listen").value_name("ADDRESS").hide_short_help(true).help(
            "Where ranks of a --launcher reach the network, such as 10.0.0.1:0 [a free port at the name of this host]",
        ))
        .arg(
            word("ranks-per-node", "R", "1", "Ranks on each node; messages within a node take one cycle [1]")
                .value_parser(RangedU64ValueParser::<usize>::new().range(1..=MAX_RANKS)),
        )
        .arg(word(
            "placement",
            "PLACEMENT",
            "consecutive",
            "The nodes of ranks: an order of nodes, such as random or file:nodes.txt (fsin list placements) [consecutive]",
        ))
        .arg(word(
            "compute",
            "HOW",
            "none",
            "How long computing takes: none; fixed:TIME before each call that communicates; measured[:FACTOR], the \
             processor time of the rank, which is not deterministic [none; measured in real-time mode]",
        ))
        .arg(
            Arg::new("slow")
                .long("slow")
                .value_name("rank:NxF,...")
                .help("Factors of the computing times of ranks: rank:3x1.2, rank:8-11x2; with --compute fixed or measured"),
        )
        .arg(
            word(
                "mode",
                "MODE",
                "exact",
                "exact: virtual time, no message is late; realtime: by the wall clock, not deterministic [exact]",
            )
            .long_help(
                "exact: virtual time, no message is late; realtime: the program computes in real time, stretched by the \
                 factor, and the network runs no faster than the wall clock: not deterministic [exact]",
            )
            .value_parser(PossibleValuesParser::new(["exact", "realtime"])),
        )
        .arg(serve::flags::factor())
        .arg(
            Arg::new("find-factor")
                .long("find-factor")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["tui", "monitor", "record-view", "record", "wire-log", "pcap", "label", "digest-every", "heat-map", "timeline", "report"])
                .help("Run it in real time with ever larger factors until time and unexpected messages settle")
                .long_help(
                    "Run the program in real time again and again, each time with twice the factor, until its time and the \
                     number of unexpected messages settle; print a line for each run instead of the program's output. If \
                     they do not settle, the exit status is 3",
                ),
        )
        .arg(
            Arg::new("find-limit")
                .long("find-limit")
                .value_name("TIME")
                .requires("find-factor")
                .help("Wall-clock time after which --find-factor gives up, such as 90s or 30min [10min]"),
        )
        .arg(
            word(
                "buffered",
                "BYTES",
                "65536",
                "Longest message whose send ends at once; a longer one has left its node [65536]",
            )
            .value_parser(size),
        )
        .arg(
            word(
                "rendezvous",
                "BYTES",
                "off",
                "A send of more bytes waits for its receive; off: none does [off]",
            )
            .long_help(
                "A send of more bytes is a rendezvous: it announces itself, and its data leave when the receiver has answered, \
                 as in MPI libraries. A program whose sends wait for each other is then in deadlock; --eager is the same of \
                 traces. off: no send waits for its receive [off]",
            ),
        )
        .arg(word("clock-read", "TIME", "1ns", "Virtual time that the program's reading of a clock takes [1ns]"))
        .arg(word(
            "collectives",
            "CHOICE",
            "mpich",
            "Algorithms of collectives: mpich, basic, or OPERATION=ALGORITHM,... (fsin list collectives) [mpich]",
        ))
        .arg(word(
            "sync",
            "HOW",
            "central",
            "How the clocks of ranks are kept in order: central, quantum:TIME, null-message, conditional-event, combined, \
             deterministic [central]",
        ).hide_short_help(true).long_help(
            "How the clocks of ranks are kept in order: central; where every message takes the same time also \
             quantum:TIME, null-message, conditional-event, combined, deterministic. All give the same results, except \
             with a quantum longer than the delay, which is approximate [central]",
        ))
        .arg(word("send-overhead", "TIME", "0ns", "From a rank to the interface of its node [0ns]"))
        .arg(word("receive-overhead", "TIME", "0ns", "From the interface of a node to its rank [0ns]"))
        .arg(
            word(
                "thread-limit",
                "SECONDS",
                "20",
                "How long threads of a rank wait for one that runs on without a call; then they go on, and runs need not repeat (s) [20]",
            )
            .hide_short_help(true),
        )
        .arg(serve::flags::guest_limit_flag("604800").help(
            "How long the network waits for a rank that sends no message and reaches no later call; a rank that computes \
             does neither (s) [a week]",
        ))
        .next_help_heading("Output")
        .arg(
            Arg::new("label")
                .long("label")
                .action(ArgAction::SetTrue)
                .help("Begin each line of the program's output with its [rank]"),
        )
        .arg(file("record", "Keep what the ranks did as a trace (.trg), which `fsin run --trace FILE` replays"))
        .arg(Arg::new("digest-every").long("digest-every").value_name("TIME").help(
            "Running digests at these times, by which two runs can be compared; in long runs at every second of them, \
             and so on [none]",
        ))
        .arg(file("wire-log", "A line for each frame that is exchanged with ranks"))
        .arg(file("pcap", "What messages carry, as packets with virtual times (pcapng)"))
        .arg(
            word("pcap-link", "TYPE", "user", "What they carry: ethernet, or user (link type 147) [user]")
                .value_parser(PossibleValuesParser::new(["ethernet", "user"])),
        )
        .arg(file("heat-map", "Draw who sends how much to whom, as a new file: NAME.svg, or NAME.png"))
        .arg(
            Arg::new("link-loads")
                .long("link-loads")
                .action(ArgAction::SetTrue)
                .help("Count the packets that each link carries, for the results and the report; packets of one length at routers"),
        )
        .arg(file("timeline", "What each rank does over time, as trace events in JSON, which Perfetto shows"))
        .arg(
            file("report", "A page (HTML): times, bounds, placement, links, timeline, messages").long_help(
                "A page (HTML), as a new file, with the times of ranks, the lower bounds of the completion, the placement, the \
                 loads of links where the network counts packets at routers, the timeline, and who sends how much to whom",
            ),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Write the results to a new file"),
        )
        .arg(
            word("format", "FORMAT", "json", "How results are written [json]")
                .value_parser(PossibleValuesParser::new(["csv", "json", "jsonl"])),
        );
    let command = looking::flags(command);
    live_keys().fold(command, |command, key| command.arg(key_flags::flag(key)))
}

/// How long computing takes, in the form that the environment of the ranks has.
pub(super) fn compute(matches: &ArgMatches, mode: Mode) -> Result<String, Complaint> {
    let given = matches.value_source("compute") != Some(ValueSource::DefaultValue);
    let word = match matches.get_one::<String>("compute").map_or("none", String::as_str) {
        "none" if mode == Mode::Realtime && !given => "measured",
        word => word,
    };
    if mode == Mode::Realtime && word == "none" {
        let what = "--compute none: in real time computing takes time";
        return Err(Complaint::new(Exit::Usage, what, "leave it out, or write --compute fixed:1us or measured:2.5"));
    }
    let refused = |what: String| {
        let remedy = "write --compute none, --compute fixed:1us (units ps, ns, us, ms, s), or --compute measured:2.5";
        Err(Complaint::new(Exit::Usage, format!("--compute {word}: {what}"), remedy))
    };
    match word.split_once(':') {
        None if word == "none" => Ok("none".to_owned()),
        None if word == "measured" => Ok("measured:1".to_owned()),
        Some(("fixed", time)) => match parse_span(time) {
            Some(time) => Ok(format!("fixed:{time}")),
            None => refused(format!("`{time}` is not a time with its unit")),
        },
        Some(("measured", factor)) => match factor.parse::<f64>() {
            Ok(number) if (1e-6..=1e6).contains(&number) => Ok(format!("measured:{number}")),
            _ => refused(format!("`{factor}` is not a factor from 0.000001 to 1000000")),
        },
        _ => refused("it is neither none, fixed:TIME nor measured:FACTOR".to_owned()),
    }
}

/// How long computing takes for each rank, where `compute` says how long for those that are not slow.
pub(super) fn by_rank(matches: &ArgMatches, compute: &str, ranks: usize, mode: Mode) -> Result<Vec<String>, Complaint> {
    let Some(word) = matches.get_one::<String>("slow") else { return Ok(vec![compute.to_owned(); ranks]) };
    let refused =
        |what: String, remedy: &str| Err(Complaint::new(Exit::Usage, format!("--slow {word}: {what}"), remedy));
    if compute == "none" {
        return refused("no rank computes".to_owned(), "add --compute fixed:1us or measured, or leave --slow out");
    }
    if mode == Mode::Realtime {
        return refused("in real time ranks compute as fast as this machine".to_owned(), "leave out --mode, or --slow");
    }
    let slow = match Slow::parse(word).and_then(|slow| slow.check(ranks, |_| true).map(|()| slow)) {
        Ok(slow) => slow,
        Err(error) => return refused(error.to_string(), "write --slow rank:3x1.2, of a rank that there is"),
    };
    let of_rank = |rank: usize| {
        let factor = slow.factor(rank as u32);
        match compute.split_once(':') {
            Some(("fixed", time)) if factor != 1.0 => {
                let time = time.parse::<f64>().unwrap_or(0.0) * factor;
                format!("fixed:{}", time.round() as u64)
            }
            Some(("measured", of_all)) if factor != 1.0 => {
                format!("measured:{}", (of_all.parse::<f64>().unwrap_or(1.0) * factor).clamp(1e-6, 1e6))
            }
            _ => compute.to_owned(),
        }
    };
    Ok((0..ranks).map(of_rank).collect())
}

/// The mode, and the pace of real time in thousandths.
pub(super) fn mode(matches: &ArgMatches) -> Result<(Mode, u32), Complaint> {
    let (mode, pace) = match matches.get_flag("find-factor") {
        true => (Mode::Realtime, serve::flags::pace(matches)?),
        false => serve::flags::mode(matches)?,
    };
    let sync = matches.get_one::<String>("sync").map_or("central", String::as_str);
    if mode == Mode::Realtime && sync != "central" {
        let what = format!("--sync {sync}: in real time the wall clock keeps ranks together");
        return Err(Complaint::new(Exit::Usage, what, "leave it out, or use --mode exact"));
    }
    Ok((mode, pace))
}

/// The algorithms of collectives that the command line names, after a check, and those of them that the library of ranks does
/// not have.
pub(super) fn collectives(matches: &ArgMatches, ranks: usize) -> Result<(&str, Vec<&'static Row>), Complaint> {
    let word = matches.get_one::<String>("collectives").map_or("mpich", String::as_str);
    let checked = word.parse::<Choice>().and_then(|choice| choice.check_programs().map(|()| choice));
    let choice = checked.map_err(|error| {
        let remedy = "write --collectives basic, or --collectives all-reduce=ring (fsin list collectives)";
        Complaint::new(Exit::Usage, format!("--collectives {word}: {error}"), remedy)
    })?;
    let private = given::private(choice.rows());
    match private.first().filter(|_| ranks > given::MOST_RANKS as usize) {
        None => Ok((word, private)),
        Some(row) => {
            let what = format!(
                "--collectives {word}: the library of ranks gets `{}` as a list of steps, for {} ranks at most",
                row.name(),
                given::MOST_RANKS
            );
            Err(Complaint::new(Exit::Usage, what, "use fewer ranks, or an algorithm of fsin"))
        }
    }
}

/// \[bytes\] A size of the command line.
fn size(word: &str) -> Result<u64, String> {
    units::bytes(word).ok_or_else(|| "write a size such as 65536, 64kB or 1MiB".to_owned())
}

/// \[bytes\] Longest message that is sent without waiting for its receive; without limit if none waits.
pub(super) fn rendezvous(matches: &ArgMatches) -> Result<u64, Complaint> {
    let word = matches.get_one::<String>("rendezvous").map_or("off", String::as_str);
    if word == "off" {
        return Ok(u64::MAX);
    }
    let refused =
        |what: &str, remedy: &str| Err(Complaint::new(Exit::Usage, format!("--rendezvous {word}: {what}"), remedy));
    let Some(bytes) = units::bytes(word) else {
        return refused("it is not a size", "write --rendezvous 64KiB, or --rendezvous off");
    };
    if matches.get_one::<String>("sync").is_some_and(|sync| sync == "deterministic") {
        let what = "with --sync deterministic the answer of a receiver could come too late";
        return refused(what, "use --sync combined, or leave it out");
    }
    Ok(bytes)
}

/// \[ps\] Virtual time that a reading of a clock takes.
pub(super) fn clock_read(matches: &ArgMatches) -> Result<u64, Complaint> {
    let time = span(matches, "clock-read")?.unwrap_or(0);
    if time == 0 {
        let what = "--clock-read 0: a program that waits for a time by reading the clock would not end";
        return Err(Complaint::new(Exit::Usage, what, "write a time above 0, such as --clock-read 25ns"));
    }
    Ok(time)
}

/// \[ms\] How long threads of a rank wait for one that runs on without a call.
pub(super) fn thread_limit(matches: &ArgMatches) -> Result<u64, Complaint> {
    let word = matches.get_one::<String>("thread-limit").map_or("20", String::as_str);
    match word.parse::<f64>() {
        Ok(seconds) if (0.001..=1e7).contains(&seconds) => Ok((seconds * 1000.0).round() as u64),
        _ => {
            let what = format!("--thread-limit {word}: it is not a number of seconds from 0.001 to 10000000");
            Err(Complaint::new(Exit::Usage, what, "write --thread-limit 60, or leave it out"))
        }
    }
}

/// The programs, with the ranks of each.
pub(super) fn parts(matches: &ArgMatches) -> Result<Vec<Part>, Complaint> {
    let first = matches.get_one::<usize>("guests").copied().unwrap_or(1);
    let words: Vec<OsString> = matches.get_many("program").map(|words| words.cloned().collect()).unwrap_or_default();
    let parts = foreign::parts(&words, first)?;
    let total = parts.iter().fold(0_u64, |total, part| total.saturating_add(part.ranks as u64));
    if total > MAX_RANKS {
        let what = format!("{total} ranks of {} programs: at most {MAX_RANKS} are possible", parts.len());
        return Err(Complaint::new(Exit::Usage, what, "use fewer ranks"));
    }
    Ok(parts)
}

/// Number of nodes that `ranks` ranks need.
pub(super) fn nodes(matches: &ArgMatches, ranks: usize) -> usize {
    ranks.div_ceil(matches.get_one::<usize>("ranks-per-node").copied().unwrap_or(1))
}

/// The nodes of ranks, which take the first `count` of them in this order.
fn placement(matches: &ArgMatches, experiment: &Experiment, count: usize) -> Result<Vec<NodeId>, Complaint> {
    let word = matches.get_one::<String>("placement").map_or("consecutive", String::as_str);
    let context = PlacementContext { geometry: experiment.geometry(), tasks: count, seed: experiment.seed };
    let placed = word.parse().and_then(|placement: Placement| placement.place(&context, None));
    placed.map(|placed| placed.nodes).map_err(|error| {
        let remedy = "write --placement consecutive, random, shift:4 or file:FILE (fsin list placements)";
        Complaint::new(Exit::Usage, format!("--placement {word}: {error}"), remedy)
    })
}

/// True if the packets of each link are counted: asked for, or for a report of a network that can.
///
/// # Errors
/// They are asked for, and the network has no links that carry packets of one length.
pub(super) fn counts_links(matches: &ArgMatches, experiment: &Experiment) -> Result<bool, Complaint> {
    let is_asked = matches.get_flag("link-loads");
    let can =
        experiment.model.understands("link-loads") && experiment.topology().is_some() && experiment.units.is_padded;
    if is_asked && !can {
        let network = experiment.model.component.name;
        let what = format!("--link-loads counts packets of one length at routers, and --network {network} has none");
        return Err(Complaint::new(Exit::Usage, what, "leave it out, or use --network vct"));
    }
    Ok(can && (is_asked || matches.contains_id("report")))
}

/// The rules of a run of this many ranks.
pub(super) fn rules(
    matches: &ArgMatches,
    model: &Model,
    ranks: usize,
    (mode, pace): (Mode, u32),
    stop: &'static AtomicBool,
) -> Result<Rules, Complaint> {
    let each = matches.get_one::<usize>("ranks-per-node").copied().unwrap_or(1);
    let network_nodes = model.nodes();
    let needed = nodes(matches, ranks);
    if needed > network_nodes {
        let what = format!("{ranks} ranks, {each} on a node, need {needed} nodes, and the network has {network_nodes}");
        return Err(Complaint::new(Exit::Usage, what, "use a larger --topology, or more --ranks-per-node"));
    }
    let places = placement(matches, &model.experiment, needed)?;
    let overheads = Overheads {
        send: span(matches, "send-overhead")?.unwrap_or(0),
        receive: span(matches, "receive-overhead")?.unwrap_or(0),
        // Messages within a node take one cycle.
        response: if each > 1 { 1 } else { model.response },
    };
    let horizon = overheads.horizon(model.clock);
    let terms = Terms {
        nodes: ranks,
        mode,
        step: horizon,
        horizon,
        clock: model.clock,
        max_payload: MAX_PAYLOAD,
        window: WINDOW,
        stall: STALL,
        handshake: Duration::from_secs(60),
        token: None,
        seed: model.seed,
        pace,
    };
    Ok(Rules {
        terms,
        overheads,
        lost: LostGuest::Abort,
        warn: WARN,
        hold: serve::flags::guest_limit(matches).unwrap_or(STALL),
        payload_limit: shared::room(),
        stop,
        warm_up: WarmUp::None,
        region: None,
        network_nodes,
        places: Some((0..ranks).map(|rank| places[rank / each]).collect()),
        digest_every: span(matches, "digest-every")?.unwrap_or(0),
    })
}

/// Adds the flags of this command to the settings of the results.
pub(super) fn settle(settings: &mut Map<String, Value>, matches: &ArgMatches, ranks: usize, terms: &Terms) {
    settings.insert("ranks".to_owned(), json!(ranks));
    settings.insert("ranks-per-node".to_owned(), json!(matches.get_one::<usize>("ranks-per-node")));
    settings.insert("buffered".to_owned(), json!(matches.get_one::<u64>("buffered")));
    let mode = match terms.mode {
        Mode::Exact => "exact",
        Mode::Quantised => "quantised",
        Mode::Realtime => "realtime",
    };
    settings.insert("mode".to_owned(), json!(mode));
    if terms.pace > 0 {
        settings.insert("factor".to_owned(), json!(f64::from(terms.pace) / 1000.0));
    }
    let compute = match matches.get_one::<String>("compute").map_or("", String::as_str) {
        "none" if terms.mode == Mode::Realtime => "measured",
        word => word,
    };
    settings.insert("compute".to_owned(), json!(compute));
    if let Some(slow) = matches.get_one::<String>("slow") {
        settings.insert("slow".to_owned(), json!(slow));
    }
    for name in ["placement", "collectives", "sync", "rendezvous", "clock-read", "send-overhead", "receive-overhead"] {
        settings.insert(name.to_owned(), json!(matches.get_one::<String>(name)));
    }
}
