//! The processes of the ranks.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, ErrorKind, IsTerminal, Read, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::{env, fs};

use trgen::collective::{Row, given};
use tui::feed::Feed;

use super::foreign::Part;
use super::launcher::{COMPUTE, Launcher};
use super::library::{FOLDER, first_library};
use crate::cli::live::guard;
use crate::cli::live::processes::{Processes, describe_end};
use crate::cli::{Complaint, Exit};

/// How the ranks are started: the program, and the settings that each rank finds in its environment.
pub(super) struct Launch<'a> {
    /// What starts the ranks, if it is not this command.
    pub(super) launcher: Option<&'a Launcher>,
    /// The programs, with the ranks of each.
    pub(super) parts: &'a [Part],
    /// Number of ranks.
    pub(super) ranks: usize,
    /// The folder of the run.
    pub(super) folder: &'a Path,
    /// The address at which the network listens.
    pub(super) address: String,
    /// By rank: how long computing takes.
    pub(super) compute: &'a [String],
    /// The algorithms of collectives.
    pub(super) collectives: &'a str,
    /// Algorithms among them that the library of ranks does not have.
    pub(super) private: &'a [&'static Row],
    /// \[bytes\] Longest message whose send ends at once.
    pub(super) buffered: u64,
    /// \[bytes\] Longest message that is sent without waiting for its receive.
    pub(super) rendezvous: u64,
    /// \[ps\] Virtual time that a reading of a clock takes.
    pub(super) clock_read: u64,
    /// The memory that ranks share: where it is, and how much may be in use.
    pub(super) shared: Option<String>,
    /// \[ms\] How long threads of a rank wait for one that runs on.
    pub(super) thread_limit: u64,
    /// True with `--sync deterministic`.
    pub(super) deterministic: bool,
    /// True with `--mode realtime`.
    pub(super) realtime: bool,
    /// True if ranks record their calls.
    pub(super) records: bool,
    /// True if ranks keep their timelines.
    pub(super) has_timeline: bool,
    /// Where the output of the ranks goes.
    pub(super) output: &'a Forward,
}

/// A function that is called with each line of output.
type Sink = Box<dyn FnMut(&[u8]) + Send>;

/// The first failure to pass on output. It does not end the program; the reader may also have gone, which is none.
#[derive(Clone, Default)]
struct Unwritten(Arc<Mutex<Option<io::Error>>>);

impl Unwritten {
    fn note<T>(&self, outcome: io::Result<T>) {
        if let Err(error) = outcome
            && error.kind() != ErrorKind::BrokenPipe
        {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }
}

/// Where the output of the ranks goes.
#[derive(Clone)]
pub(super) enum Forward {
    /// To the output of the command.
    Plain,
    /// To the output of the command, line by line, each with its rank.
    Labelled,
    /// Nowhere; only stderr goes to that of the command.
    Nowhere,
    /// To the log of the dashboard. The bytes of stdout are also kept, and written when the terminal is free again.
    Board(Arc<Feed>, Arc<Mutex<Vec<u8>>>),
}

impl Forward {
    /// Number of descriptors that a rank takes, besides that of its connection.
    pub(super) const fn descriptors(&self) -> u64 {
        match self {
            Self::Plain | Self::Nowhere => 0,
            Self::Labelled | Self::Board(..) => 2,
        }
    }

    /// How stdout and stderr of a rank are connected.
    fn pipes(&self) -> (Stdio, Stdio) {
        match self {
            Self::Plain => (Stdio::inherit(), Stdio::inherit()),
            Self::Labelled => (Stdio::piped(), Stdio::piped()),
            Self::Nowhere => (Stdio::null(), Stdio::inherit()),
            Self::Board(..) if io::stdout().is_terminal() => (Stdio::piped(), Stdio::piped()),
            Self::Board(..) => (Stdio::inherit(), Stdio::piped()),
        }
    }

    /// A function that passes on a line of output of this rank. `is_error` is true for its stderr.
    fn sink(&self, rank: usize, to: impl Write + Send + 'static, is_error: bool, unwritten: &Unwritten) -> Sink {
        let mut to = to;
        match self {
            Self::Board(feed, kept) => {
                let (feed, kept) = (Arc::clone(feed), Arc::clone(kept));
                Box::new(move |line| {
                    feed.log(format!("[{rank}] {}", String::from_utf8_lossy(line).trim_end()));
                    if !is_error {
                        kept.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(line);
                    }
                })
            }
            _ => {
                let unwritten = unwritten.clone();
                Box::new(move |line| {
                    let line = [format!("[{rank}] ").as_bytes(), line].concat();
                    unwritten.note(to.write_all(&line).and_then(|()| to.flush()));
                })
            }
        }
    }
}

impl Launch<'_> {
    /// The settings of all ranks: the names of variables and their values.
    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("FSIN_MPI_SIZE", self.ranks.to_string()),
            ("FSIN_MPI_ADDRESS", self.address.clone()),
            ("FSIN_MPI_COLLECTIVES", self.collectives.to_owned()),
            ("FSIN_MPI_BUFFERED", self.buffered.to_string()),
            ("FSIN_MPI_RENDEZVOUS", self.rendezvous.to_string()),
            ("FSIN_MPI_CLOCK_READ", self.clock_read.to_string()),
            ("FSIN_MPI_THREAD_LIMIT", self.thread_limit.to_string()),
        ];
        all.extend(self.shared.iter().map(|location| ("FSIN_MPI_SHARED", location.clone())));
        let switches = self.switches().into_iter().filter(|(.., is_on)| *is_on);
        all.extend(switches.map(|(name, value, _)| (name, value.to_owned())));
        all
    }

    /// Settings that are on or off: the name of the variable, its only value, and whether it is on.
    fn switches(&self) -> [(&'static str, &'static str, bool); 4] {
        [
            ("FSIN_MPI_MODE", "realtime", self.realtime),
            ("FSIN_MPI_SYNC", "deterministic", self.deterministic),
            ("FSIN_MPI_RECORD", "1", self.records),
            ("FSIN_MPI_TIMELINE", "1", self.has_timeline),
        ]
    }
}

/// The processes of the ranks; those that still run are ended when this value is dropped.
pub(super) struct Ranks {
    pub(super) processes: Processes,
    /// The name of the launcher, if one process starts all ranks.
    launcher: Option<String>,
    /// Number of ranks.
    count: usize,
    /// The folder of the run, by which the processes of ranks are known.
    folder: OsString,
    /// Processes that ranks had started and left, which were ended.
    left: Vec<String>,
    /// The threads that pass on output.
    forwarders: Vec<JoinHandle<()>>,
    unwritten: Unwritten,
}

impl Ranks {
    /// Starts the ranks.
    pub(super) fn start(launch: &Launch<'_>) -> Result<Self, Complaint> {
        let unwritten = Unwritten::default();
        let mut ranks = Self {
            processes: Processes::default(),
            launcher: launch.launcher.filter(|launcher| !launcher.is_per_rank()).map(Launcher::name),
            count: launch.ranks,
            folder: launch.folder.as_os_str().to_owned(),
            left: Vec::new(),
            forwarders: Vec::new(),
            unwritten: unwritten.clone(),
        };
        // Programs find the library in this folder by its name, also those that load it while they run.
        let libraries = list([launch.folder.as_os_str().to_owned()], "LD_LIBRARY_PATH", []);
        // The library precedes all others, so that its clocks replace those of the C library, and its calls those of an
        // MPI library that is found by a path in the program. What the user has loaded first remains first: a library
        // of the user may replace calls of MPI.
        let preloads = list([], "LD_PRELOAD", [first_library(launch.folder).into_os_string()]);
        // A program with the address sanitizer otherwise insists that the sanitizer is loaded first.
        let sanitizer = list([], "ASAN_OPTIONS", [OsString::from("verify_asan_link_order=0")]);
        let out = Arc::new(Mutex::new(()));
        // With a dashboard no rank reads stdin, because the dashboard reads the keys.
        let on_board = matches!(launch.output, Forward::Board(..));
        let settings = launch.settings();
        let variables = [
            ("LD_LIBRARY_PATH", libraries),
            ("LD_PRELOAD", preloads),
            ("ASAN_OPTIONS", sanitizer),
            (FOLDER, launch.folder.as_os_str().to_owned()),
        ];
        if !launch.private.is_empty() {
            let path = launch.folder.join(given::FILE);
            fs::write(&path, given::write(launch.private, launch.ranks as u32)).map_err(|error| {
                let what = format!("{}: {error}", path.display());
                Complaint::new(Exit::Failed, what, "make room there, or set TMPDIR")
            })?;
        }
        if let Some(launcher) = launch.launcher {
            launcher.write_settings(launch.folder, &settings, launch.compute)?;
            ranks.processes.asks_first();
        }
        let processes = if ranks.launcher.is_some() { 1 } else { launch.ranks };
        for rank in 0..processes {
            let mut words = launch.launcher.map_or_else(Vec::new, |launcher| launcher.command(rank, &variables));
            let part = part_of(launch.parts, rank);
            words.extend_from_slice(&launch.parts[part].words);
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).stdin(if rank == 0 && !on_board { Stdio::inherit() } else { Stdio::null() });
            if launch.launcher.is_some() {
                // The launcher itself loads no library; the guard knows it by this variable.
                command.env(FOLDER, launch.folder).env_remove("FSIN_MPI_RANK");
            } else {
                command.envs(variables.iter().cloned()).env("FSIN_MPI_RANK", rank.to_string());
                command.env("FSIN_MPI_PART", part.to_string());
                command.envs(settings.iter().cloned()).env(COMPUTE, &launch.compute[rank]);
                // A variable of the user's environment must not switch on what the command line does not.
                for (name, ..) in launch.switches().into_iter().filter(|(.., is_on)| !is_on) {
                    command.env_remove(name);
                }
                if launch.shared.is_none() {
                    command.env_remove("FSIN_MPI_SHARED");
                }
            }
            let (stdout, stderr) = launch.output.pipes();
            command.stdout(stdout).stderr(stderr);
            let mut child = command.spawn().map_err(|error| cannot_start(&ranks.name(rank), &words[0], &error))?;
            let (from, errors) = (child.stdout.take(), child.stderr.take());
            let lines = launch.output.sink(rank, io::stdout(), false, &unwritten);
            let words = launch.output.sink(rank, io::stderr(), true, &unwritten);
            ranks.processes.push(child);
            if let Some(from) = from {
                ranks
                    .forwarders
                    .push(forward(from, lines, (&out, &unwritten)).map_err(|error| no_thread(rank, &error))?);
            }
            if let Some(errors) = errors {
                ranks
                    .forwarders
                    .push(forward(errors, words, (&out, &unwritten)).map_err(|error| no_thread(rank, &error))?);
            }
        }
        Ok(ranks)
    }

    /// The name of a process in messages.
    pub(super) fn name(&self, process: usize) -> String {
        self.launcher
            .as_ref()
            .map_or_else(|| format!("rank {process}"), |launcher| format!("the launcher `{launcher}`"))
    }

    /// The ranks that a process has started.
    pub(super) fn of(&self, process: usize) -> Range<usize> {
        if self.launcher.is_some() { 0..self.count } else { process..process + 1 }
    }

    /// How a rank has ended, if that is known.
    pub(super) fn status(&self, rank: usize) -> Option<ExitStatus> {
        if self.launcher.is_some() { None } else { self.processes.status(rank) }
    }

    /// The signal that has ended the launcher, in words, if there is one for all ranks and it was killed.
    pub(super) fn launcher_killed(&self) -> Option<String> {
        let status = self.processes.status(0).filter(|status| self.launcher.is_some() && status.code().is_none())?;
        Some(format!("{} {}", self.name(0), describe_end(status)))
    }

    /// Waits for ranks that end by themselves, and ends the others: at once if `now`.
    pub(super) fn end(&mut self, now: bool) {
        self.processes.end(now);
        // Processes that ranks have started may keep their output open.
        self.left = guard::end_left(FOLDER, &self.folder);
        for forwarder in self.forwarders.drain(..) {
            // The thread ends when the output of its rank ends.
            let _ = forwarder.join();
        }
    }

    /// A warning of the processes that ranks had left.
    pub(super) fn warning(&self) -> Option<String> {
        let names = match self.left.as_slice() {
            [] => return None,
            [one] => format!("the process {one}"),
            all => format!("the processes {}", all.join(", ")),
        };
        Some(format!("ranks had started {names}, which outlived them and were ended with the run"))
    }

    /// Fails if output could not be passed on.
    pub(super) fn passed_on(&self) -> Result<(), String> {
        let error = self.unwritten.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        error.map_or(Ok(()), |error| Err(format!("cannot pass on the output of the ranks: {error}")))
    }
}

/// The part of the command line to which a rank belongs.
fn part_of(parts: &[Part], rank: usize) -> usize {
    let mut end = 0;
    let place = parts.iter().position(|part| {
        end += part.ranks;
        rank < end
    });
    place.unwrap_or(0)
}

/// The program that a process executes.
pub(super) fn program_of(parts: &[Part], process: usize) -> &OsStr {
    parts[part_of(parts, process)].words.first().map_or(OsStr::new(""), OsString::as_os_str)
}

/// The error of a rank that cannot be started.
fn cannot_start(name: &str, program: &OsStr, error: &io::Error) -> Complaint {
    let what = format!("cannot start {name}, {}: {error}", program.to_string_lossy());
    match error.kind() {
        // The name or the file is at fault.
        ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::NotADirectory | ErrorKind::IsADirectory => {
            Complaint::new(Exit::Usage, what, "name a program that can be executed, ./app for one in this folder")
        }
        ErrorKind::WouldBlock => {
            Complaint::new(Exit::Failed, what, "allow more processes (ulimit -u), or use fewer ranks")
        }
        ErrorKind::OutOfMemory => Complaint::new(Exit::Failed, what, "end other programs, or use fewer ranks"),
        ErrorKind::ArgumentListTooLong => Complaint::new(Exit::Usage, what, "use shorter arguments, or a file of them"),
        _ if error.raw_os_error() == Some(EXEC_FORMAT) => {
            Complaint::new(Exit::Usage, what, "name a program for this machine, or a script that begins with #!")
        }
        _ => Complaint::new(Exit::Failed, what, "see what the system says of it, or use fewer ranks"),
    }
}

/// The number of the error that a file is not in a format that can be executed (`ENOEXEC`).
const EXEC_FORMAT: i32 = 8;

/// The error of a rank whose output cannot be passed on.
fn no_thread(rank: usize, error: &io::Error) -> Complaint {
    let what = format!("cannot pass on the output of rank {rank}: {error}");
    Complaint::new(Exit::Failed, what, "allow more processes (ulimit -u), use fewer ranks, or leave out --label")
}

/// A list of paths: those of the environment variable `name`, between others.
fn list<const B: usize, const A: usize>(before: [OsString; B], name: &str, after: [OsString; A]) -> OsString {
    let own = env::var_os(name).filter(|own| !own.is_empty());
    let all: Vec<OsString> = before.into_iter().chain(own).chain(after).collect();
    all.join(OsStr::new(":"))
}

/// Starts a thread that passes output on line by line. The lock `out` keeps lines of different ranks apart.
fn forward(
    from: impl Read + Send + 'static,
    mut to: Sink,
    (out, unwritten): (&Arc<Mutex<()>>, &Unwritten),
) -> io::Result<JoinHandle<()>> {
    let (out, unwritten) = (Arc::clone(out), unwritten.clone());
    thread::Builder::new().spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        loop {
            line.clear();
            match from.read_until(b'\n', &mut line) {
                Ok(0) => return,
                Ok(_) => {}
                failed @ Err(_) => return unwritten.note(failed),
            }
            if line.last() != Some(&b'\n') {
                line.push(b'\n');
            }
            let _one = out.lock().unwrap_or_else(PoisonError::into_inner);
            to(&line);
        }
    })
}
