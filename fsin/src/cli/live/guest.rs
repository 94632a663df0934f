//! `fsin guest`: guests that follow a script, or execute the tasks of a kernel.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use adapters::address::{Address, NotAnAddress};
use adapters::clock::parse_span;
use adapters::guest::script::{Played, Script};
use adapters::guest::{Company, Config, Guest, GuestError, program};
use adapters::protocol::Class;
use adapters::token::Token;
use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, value_parser};
use fsin::words::counted;
use trgen::phrase;
use trgen::trace::kernels;

use crate::cli::live::descriptors;
use crate::cli::{Complaint, Exit, output};

/// Time after which the user is warned that no guest has been admitted yet.
const SILENCE: Duration = Duration::from_secs(2);
/// The environment variable with the token, if no file provides it.
const TOKEN: &str = "FSIN_TOKEN";

/// The command `fsin guest`.
pub(crate) fn command() -> Command {
    Command::new("guest")
        .about("Connects guests that follow a script, or a kernel, to `fsin serve`; prints what each did")
        .after_help(
            "A script has a line for each thing that a guest does:
  send WHOM BYTES      WHOM is a node, `next` or `prev`
  receive [COUNT]      waits for a message, or for so many
  advance TIME         lets time pass: 100us, 2.5ns
  mark LABEL           gives the moment a name in the results
  repeat COUNT ... end
  node N: LINE         only on node N; `others N: LINE` only on the others",
        )
        .arg(
            Arg::new("script")
                .value_name("SCRIPT")
                .required_unless_present("kernel")
                .value_parser(value_parser!(PathBuf))
                .help("What to do"),
        )
        .arg(
            Arg::new("kernel")
                .long("kernel")
                .value_name("NAME:KEY=VALUE,...")
                .conflicts_with("script")
                .help("Instead of a script, the tasks of a kernel (fsin list kernels), one on each node"),
        )
        .arg(
            Arg::new("connect")
                .long("connect")
                .value_name("ADDRESS")
                .default_value("127.0.0.1:7100")
                .hide_default_value(true)
                .help("Where `fsin serve` listens: HOST:PORT or unix:PATH [127.0.0.1:7100]"),
        )
        .arg(Arg::new("node").long("node").value_name("N|N..M").default_value("0").hide_default_value(true).help(
            "Node of the guest, or a range: one guest for each, the last one included [0; all tasks of a kernel]",
        ))
        .arg(
            Arg::new("class")
                .long("class")
                .value_name("CLASS")
                .default_value("causal")
                .hide_default_value(true)
                .value_parser(PossibleValuesParser::new(["causal", "stepped"]))
                .help("How its time passes: with what it does, or by itself, step by step [causal]"),
        )
        .arg(
            Arg::new("step")
                .long("step")
                .value_name("TIME")
                .help("Step of a stepped guest, such as 100us [that of `fsin serve`]"),
        )
        .arg(
            Arg::new("wait")
                .long("wait")
                .value_name("SECONDS")
                .default_value("3600")
                .hide_default_value(true)
                .value_parser(value_parser!(u64))
                .help("How long to try to connect, and to wait for a turn (s) [3600]"),
        )
        .arg(token_file())
}

/// The flag `--token-file`.
pub(crate) fn token_file() -> Arg {
    Arg::new("token-file")
        .long("token-file")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("File with the token of the run, which nobody else can read; without it FSIN_TOKEN is the token, if set")
}

/// The token of the command line or the environment.
pub(crate) fn token(matches: &ArgMatches) -> Result<Option<Token>, Complaint> {
    let (token, place) = match (matches.get_one::<PathBuf>("token-file"), std::env::var_os(TOKEN)) {
        (Some(path), _) => (Token::read(path), format!("--token-file {}", path.display())),
        (None, Some(value)) => (Token::new(value.as_encoded_bytes()), TOKEN.to_owned()),
        (None, None) => return Ok(None),
    };
    token.map(Some).map_err(|error| Complaint::new(Exit::Usage, format!("{place}: {error}"), error.remedy()))
}

/// The address of a flag.
pub(crate) fn address(matches: &ArgMatches, flag: &str) -> Result<Address, Complaint> {
    let word = matches.get_one::<String>(flag).map_or("", String::as_str);
    word.parse()
        .map_err(|error: NotAnAddress| Complaint::new(Exit::Usage, format!("--{flag}: {error}"), NotAnAddress::REMEDY))
}

/// The duration of a flag, in picoseconds.
pub(crate) fn span(matches: &ArgMatches, flag: &str) -> Result<Option<u64>, Complaint> {
    let Some(word) = matches.get_one::<String>(flag) else { return Ok(None) };
    parse_span(word).map(Some).ok_or_else(|| {
        let what = format!("--{flag} takes a time with its unit, not `{word}`");
        Complaint::new(Exit::Usage, what, format!("write --{flag} 100us (units ps, ns, us, ms, s)"))
    })
}

/// The behaviour of guests.
#[derive(Clone)]
enum Behaviour {
    Script(Script),
    Kernel(Arc<program::Script>),
}

impl Behaviour {
    /// Executes the behaviour at a node, to its end.
    fn play(&self, node: u32, guest: Guest) -> Result<Played, GuestError> {
        match self {
            Self::Script(script) => script.play(node, guest),
            Self::Kernel(script) => script.play(node, guest),
        }
    }
}

/// The behaviour, name and nodes of a command's guests.
fn behaviour(matches: &ArgMatches) -> Result<(Behaviour, String, RangeInclusive<u32>), Complaint> {
    let nodes = nodes_of(matches, "node")?;
    let given = matches.value_source("node") == Some(ValueSource::CommandLine);
    let Some(kernel) = matches.get_one::<String>("kernel") else {
        let path = matches.get_one::<PathBuf>("script").map_or(Path::new(""), PathBuf::as_path);
        let text = std::fs::read_to_string(path).map_err(|error| {
            let what = format!("cannot read the script {}: {error}", path.display());
            Complaint::new(Exit::Usage, what, "give the path of a text file")
        })?;
        let script = Script::parse(&text).map_err(|error| {
            Complaint::new(Exit::Usage, format!("{}, {error}", path.display()), "correct this line (fsin guest --help)")
        })?;
        let idle: Vec<(usize, u32)> = script.idle_lines(nodes.clone()).collect();
        if let Some((line, node)) = idle.first() {
            let more = match idle.len() - 1 {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            output::tell(&format!(
                "warning: {}, line {line}{more}: it is for node {node}, and this command has no guest there (--node); it \
                 is left to another command",
                path.display()
            ));
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        return Ok((Behaviour::Script(script), name, nodes));
    };
    // Unlike `fsin run`, this command has no experiment in which an error could be marked.
    let program = kernels::parse(kernel, nodes.clone().count(), None).map_err(|refusal| {
        Complaint::new(
            Exit::Usage,
            phrase![["kernel" => kernel], ": ", refusal.what()],
            "see `fsin list kernels` and `fsin explain NAME`",
        )
    })?;
    let script = program::Script::new(program);
    let last = script.tasks().saturating_sub(1) as u32;
    if given && nodes != (0..=last) {
        let what = format!("--kernel {kernel} has {} tasks, task i on node i", script.tasks());
        return Err(Complaint::new(Exit::Usage, what, format!("write --node 0..{last}, or leave it out")));
    }
    let name = kernel.split(':').next().unwrap_or_default().to_owned();
    Ok((Behaviour::Kernel(Arc::new(script)), name, 0..=last))
}

/// `fsin guest`: runs the guests, each in a thread, and prints a row for each.
pub(crate) fn guest(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let (behaviour, name, nodes) = behaviour(matches)?;
    let document = output::Document::open(matches)?;
    let address = address(matches, "connect")?;
    let token = token(matches)?;
    let step = span(matches, "step")?;
    let stepped = matches.get_one::<String>("class").is_some_and(|class| class == "stepped");
    if step.is_some() && !stepped {
        let what = "--step has no meaning for a causal guest, which stops only to wait";
        return Err(Complaint::new(Exit::Usage, what, "leave it out, or add --class stepped"));
    }
    let patience = Duration::from_secs(matches.get_one::<u64>("wait").copied().unwrap_or(3600));
    let count = nodes.clone().count() as u64;
    descriptors::reserve(count, &counted(count, "guest", "guests"))?;
    let mut threads = Vec::new();
    let (met, meetings) = mpsc::channel();
    let company = Company::default();
    for node in nodes {
        let config = Config {
            class: if stepped { Class::Stepped } else { Class::Causal },
            step: step.unwrap_or(0),
            token: token.clone(),
            patience,
            company: company.clone(),
            ..Config::new(format!("{name} {node}"), node)
        };
        let (behaviour, address, met) = (behaviour.clone(), address.clone(), met.clone());
        let play = move || {
            let guest = Guest::connect(&address, &config);
            // Only the first connection is waited for: later messages have no receiver.
            let _ = met.send(());
            behaviour.play(node, guest.map_err(Ended::Outside)?).map_err(Ended::Inside)
        };
        let thread = thread::Builder::new().spawn(play).map_err(|error| {
            let what = format!("cannot start the guest at node {node}: {error}");
            Complaint::new(Exit::Failed, what, "allow more processes (ulimit -u), or give it fewer nodes")
        })?;
        threads.push((node, thread));
    }
    if !matches.get_flag("quiet") && meetings.recv_timeout(SILENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
        output::tell(&format!(
            "nobody has answered at {address}: is `fsin serve` running there? Trying for {} s (--wait)",
            patience.as_secs()
        ));
    }
    drop(meetings);
    let mut table = String::from("node,time_ps,sent,received,turns\n");
    let mut failures = Failures::default();
    for (node, thread) in threads {
        match thread.join() {
            Ok(Ok(Played { time, sent, received, turns })) => {
                failures.played += 1;
                let _ = writeln!(table, "{node},{time},{sent},{received},{turns}");
            }
            Ok(Err(ended)) => failures.add(node, ended),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    document.print(&table)?;
    failures.complaint().map_or(Ok(Exit::Done), Err)
}

/// How a guest failed: before or after its admission.
enum Ended {
    /// Before its admission.
    Outside(GuestError),
    /// After its admission.
    Inside(GuestError),
}

/// Guests that failed, and the number of the others.
#[derive(Default)]
struct Failures {
    /// Nodes and errors of guests that failed after their admission.
    inside: Vec<(u32, GuestError)>,
    /// Nodes and errors of guests that were not admitted.
    outside: Vec<(u32, GuestError)>,
    /// Number of guests that reached their end.
    played: usize,
}

impl Failures {
    /// Adds the failure of the guest at a node.
    fn add(&mut self, node: u32, ended: Ended) {
        match ended {
            Ended::Outside(error) => self.outside.push((node, error)),
            Ended::Inside(error) => self.inside.push((node, error)),
        }
    }

    /// The error of the command: the first failure of an admitted guest, which is the most informative one, and the
    /// number of guests that were not admitted. `None` if all reached their end.
    fn complaint(self) -> Option<Complaint> {
        let guests = self.played + self.inside.len() + self.outside.len();
        let outside = self.outside.len();
        // The endpoint's answer to a rejected guest is more informative than a refused connection.
        let answered =
            self.outside.iter().position(|(_, error)| !matches!(error, GuestError::Late { .. })).unwrap_or(0);
        let (node, error) = self.inside.first().or_else(|| self.outside.get(answered))?;
        let mut what = format!("the guest of node {node}: {error}");
        let mut remedy = error.remedy().to_owned();
        if outside > 0 && guests > 1 {
            let were = if outside == 1 { "was" } else { "were" };
            let _ = write!(what, "; {outside} of {guests} guests {were} not let in");
        }
        if outside > 0 && outside < guests {
            let inside = guests - outside;
            let _ = write!(
                remedy,
                "; of these guests the run took {inside}: `fsin serve --guests {guests}` takes all, or start fewer"
            );
        }
        Some(Complaint::new(Exit::Failed, what, remedy))
    }
}

/// The nodes of a flag: one, or a range.
pub(crate) fn nodes_of(matches: &ArgMatches, flag: &str) -> Result<RangeInclusive<u32>, Complaint> {
    /// Largest number of guests, each of which is a thread.
    const MOST: u32 = 4096;
    let word = matches.get_one::<String>(flag).map_or("0", String::as_str);
    let (first, last) = word.split_once("..").unwrap_or((word, word));
    match (first.parse::<u32>(), last.parse::<u32>()) {
        (Ok(first), Ok(last)) if first <= last && last - first < MOST => Ok(first..=last),
        _ => {
            let what = format!("--{flag} takes a node, or a range of at most {MOST}, not `{word}`");
            Err(Complaint::new(Exit::Usage, what, format!("write --{flag} 3, or --{flag} 0..63")))
        }
    }
}
