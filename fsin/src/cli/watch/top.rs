//! `fsin top` and `fsin record-view`: viewing a run of another process, and recordings.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use adapters::address::Address;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use tui::app::{App, Mode, Screen};
use tui::dashboard::{Ending, Recording, Source, Viewer, cut_off};
use tui::stream::{Reader, StreamError, write_about, write_snapshot};
use tui::theme::{Depth, Theme};
use tui::view::RunState;

use crate::cli::watch::looking;
use crate::cli::{Complaint, Exit, interrupt, output};

/// Longest time to establish a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// \[cells\] Least and greatest number of columns and of rows of a picture.
const CELLS: std::ops::RangeInclusive<u16> = 20..=500;

/// The command `fsin top`.
pub(crate) fn command() -> Command {
    Command::new("top")
        .about("Shows a run of another process (its --monitor ADDRESS), or a recording (--record-view FILE)")
        .arg(
            Arg::new("from")
                .value_name("ADDRESS|FILE")
                .required(true)
                .help("127.0.0.1:PORT, unix:PATH, or a recording"),
        )
        .next_help_heading("Picture of a recording")
        .arg(
            Arg::new("svg")
                .long("svg")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Draw a moment of the recording as SVG instead of showing it"),
        )
        .arg(
            Arg::new("screen")
                .long("screen")
                .value_name("SCREEN")
                .default_value("network")
                .hide_default_value(true)
                .value_parser(PossibleValuesParser::new(Screen::ALL.map(Screen::name)))
                .help("The screen [network]"),
        )
        .arg(
            Arg::new("size")
                .long("size")
                .value_name("COLUMNSxROWS")
                .default_value("120x40")
                .hide_default_value(true)
                .help("Size of the terminal (cells) [120x40]"),
        )
        .arg(
            Arg::new("at")
                .long("at")
                .value_name("CYCLE")
                .value_parser(value_parser!(u64))
                .requires("svg")
                .help("The last snapshot up to this cycle [the last one]"),
        )
        .arg(
            Arg::new("focus")
                .long("focus")
                .value_name("ROUTER")
                .value_parser(value_parser!(usize))
                .requires("svg")
                .help("The router that is looked at [none]"),
        )
}

/// The command `fsin record-view`.
pub(crate) fn record_command() -> Command {
    Command::new("record-view")
        .about(
            "Keeps what a run shows (its --monitor ADDRESS) in a file, until the run ends; `fsin top FILE` replays it",
        )
        .arg(Arg::new("file").value_name("FILE").required(true).value_parser(value_parser!(PathBuf)).help("Is written"))
        .arg(
            Arg::new("from")
                .long("from")
                .value_name("ADDRESS")
                .required(true)
                .help("Where the run listens: 127.0.0.1:PORT or unix:PATH"),
        )
}

/// `fsin top`: shows a run or a recording, or draws a picture of a recording.
pub(crate) fn top(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let from = matches.get_one::<String>("from").map_or("", String::as_str);
    let kind = fs::metadata(from).ok().map(|data| data.file_type());
    let picture = matches.get_one::<PathBuf>("svg");
    if let Some(kind) = &kind
        && !kind.is_socket()
    {
        let file = File::open(from).map_err(|error| unreadable(from, &error.into()))?;
        let reader = Reader::new(BufReader::new(file)).map_err(|error| unreadable(from, &error))?;
        if let Some(picture) = picture {
            return draw(matches, reader, picture, from);
        }
        let about = Arc::new(reader.about().clone());
        let recording = Recording::new(reader).map_err(|error| unreadable(from, &error))?;
        return show(App::new(about, Mode::Replay, looking::theme()), recording, from);
    }
    if picture.is_some() {
        let what = format!("--svg draws a recording, and there is no file {from}");
        return Err(Complaint::new(Exit::Usage, what, "make one with fsin run --record-view FILE"));
    }
    let word = if kind.is_some() { format!("unix:{from}") } else { from.to_owned() };
    if word.parse::<Address>().is_err() {
        let what = format!("fsin top: there is no file `{from}`, and it is not an address");
        let remedy = "name a recording, or write 127.0.0.1:7200 or unix:PATH, where a run has its --monitor";
        return Err(Complaint::new(Exit::Usage, what, remedy));
    }
    let reader = connect(&word)?;
    let about = Arc::new(reader.about().clone());
    let viewer = Viewer::new(reader).map_err(|error| unreadable(from, &error.into()))?;
    show(App::new(about, Mode::Viewer, looking::theme()), viewer, from)
}

/// Shows `source` on the terminal until the user leaves.
fn show(app: App, source: impl Source + Send + 'static, from: &str) -> Result<Exit, Complaint> {
    looking::need_terminal("fsin top", looking::ELSEWHERE)?;
    let stop = interrupt::listen(interrupt::OF_NOTHING)?;
    let ending = looking::join(looking::spawn(app, source, stop)?);
    match ending.map_err(|why| Complaint::new(Exit::Failed, why, "use another terminal"))? {
        Ending::Lost(why) => {
            let remedy = "the run may have been killed; look at what it has said itself";
            Err(Complaint::new(Exit::Failed, format!("{from}: {why}"), remedy))
        }
        Ending::Left | Ending::Aborted if stop.load(Ordering::Relaxed) => Ok(Exit::Interrupted),
        Ending::Left | Ending::Aborted => Ok(Exit::Done),
    }
}

/// A connection to a run.
type Connection = BufReader<Box<dyn Read + Send>>;

/// Connects to a run at an address.
fn connect(word: &str) -> Result<Reader<Connection>, Complaint> {
    let address: Address = looking::local_address("fsin top", word)?;
    let connected = || -> io::Result<Box<dyn Read + Send>> {
        Ok(match &address {
            Address::Tcp(address) => Box::new(TcpStream::connect_timeout(address, PATIENCE)?),
            Address::Unix(path) => Box::new(UnixStream::connect(path)?),
        })
    };
    let stream = connected().map_err(|error| {
        let remedy = format!("start a run with --monitor {address}, or name a recording");
        Complaint::new(Exit::Usage, format!("nobody answers at {address}: {error}"), remedy)
    })?;
    Reader::new(BufReader::new(stream)).map_err(|error| unreadable(&address.to_string(), &error))
}

/// The error of a run or a recording that cannot be read.
fn unreadable(from: &str, error: &StreamError) -> Complaint {
    let remedy = "name a run (its --monitor ADDRESS) or a recording (fsin run --record-view FILE)";
    Complaint::new(Exit::Usage, format!("{from}: {error}"), remedy)
}

/// Draws one snapshot of a recording.
fn draw(matches: &ArgMatches, mut reader: Reader<impl BufRead>, picture: &Path, from: &str) -> Result<Exit, Complaint> {
    let word = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let size = word("size").split_once('x').and_then(|(width, height)| {
        let cells = |word: &str| word.parse::<u16>().ok().filter(|cells| CELLS.contains(cells));
        Some((cells(width)?, cells(height)?))
    });
    let (width, height) = size.ok_or_else(|| {
        let what = format!("--size {}: columns and rows are {} to {}", word("size"), CELLS.start(), CELLS.end());
        Complaint::new(Exit::Usage, what, "write --size 120x40")
    })?;
    let mut app = App::new(Arc::new(reader.about().clone()), Mode::Replay, Theme { depth: Depth::True });
    app.screen = Screen::of_name(word("screen")).unwrap_or(Screen::Network);
    app.focus = matches.get_one::<usize>("focus").copied();
    if let Some(router) = app.focus.filter(|&router| router >= app.about.routers) {
        let what = format!("--focus {router}: the recording is of {} routers", app.about.routers);
        return Err(Complaint::new(Exit::Usage, what, "count them from 0"));
    }
    let until = matches.get_one::<u64>("at").copied().unwrap_or(u64::MAX);
    let mut is_cut = true;
    while let Some(snapshot) = reader.next_snapshot().map_err(|error| unreadable(from, &error))? {
        is_cut = snapshot.cycle <= until && snapshot.state != RunState::Ended;
        if snapshot.cycle > until {
            break;
        }
        app.push(Arc::new(snapshot));
    }
    let Some(last) = app.latest() else {
        let what = format!("{from} has no snapshot up to cycle {until}");
        return Err(Complaint::new(Exit::Usage, what, "name a later cycle"));
    };
    if is_cut {
        output::tell(&format!("warning: {from}: {}", cut_off(last.cycle)));
    }
    let named = format!("--svg {}", picture.display());
    let mut file = output::create_file(&named, picture)?;
    file.write_all(tui::svg::picture(&app, width, height).as_bytes())
        .map_err(|error| Complaint::new(Exit::Failed, format!("{named}: {error}"), "free some space"))?;
    Ok(Exit::Done)
}

/// `fsin record-view`: writes the snapshots of a run into a file.
pub(crate) fn record(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let from = matches.get_one::<String>("from").map_or("", String::as_str);
    let path = matches.get_one::<PathBuf>("file").cloned().unwrap_or_default();
    let stop = interrupt::listen(interrupt::OF_NOTHING)?;
    let mut reader = connect(from)?;
    let failed = |error: io::Error| {
        let what = format!("{}: {error}", path.display());
        Complaint::new(Exit::Failed, what, "free some space, or write elsewhere")
    };
    let mut out = BufWriter::new(output::create_file(&path.display().to_string(), &path)?);
    write_about(&mut out, reader.about()).map_err(failed)?;
    let mut ended = false;
    let mut count = 0u64;
    while !ended && !stop.load(Ordering::Relaxed) {
        let Some(snapshot) = reader.next_snapshot().map_err(|error| unreadable(from, &error))? else { break };
        ended = snapshot.state == RunState::Ended;
        count += 1;
        write_snapshot(&mut out, &snapshot).map_err(failed)?;
    }
    out.flush().map_err(failed)?;
    if !matches.get_flag("quiet") {
        output::tell(&format!("{count} snapshots in {}", path.display()));
    }
    match (ended, stop.load(Ordering::Relaxed)) {
        (true, _) => Ok(Exit::Done),
        (false, true) => Ok(Exit::Interrupted),
        (false, false) => {
            let what = format!("{from}: the connection was lost before the run had ended");
            Err(Complaint::new(Exit::Failed, what, "what came is in the file"))
        }
    }
}
