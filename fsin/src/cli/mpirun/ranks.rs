//! The processes of the ranks.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tui::feed::Feed;

use crate::cli::processes::Processes;
use crate::cli::{Complaint, Exit};

/// How the ranks are started: the program, and the settings that each rank finds in its environment.
pub(super) struct Launch<'a> {
    /// The program and its arguments.
    pub(super) program: &'a [OsString],
    /// Number of ranks.
    pub(super) ranks: usize,
    /// The folder of the run.
    pub(super) folder: &'a Path,
    /// The address at which the network listens.
    pub(super) address: String,
    /// How long computing takes.
    pub(super) compute: &'a str,
    /// The algorithms of collectives.
    pub(super) collectives: &'a str,
    /// \[bytes\] Longest message whose send ends at once.
    pub(super) buffered: u64,
    /// True with `--sync deterministic`.
    pub(super) deterministic: bool,
    /// True with `--mode realtime`.
    pub(super) realtime: bool,
    /// True if ranks record their calls.
    pub(super) records: bool,
    /// Where the output of the ranks goes.
    pub(super) output: &'a Forward,
}

/// A function that is called with each line of output.
type Sink = Box<dyn FnMut(&[u8]) + Send>;

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
    fn sink(&self, rank: usize, to: impl Write + Send + 'static, is_error: bool) -> Sink {
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
            _ => Box::new(move |line| {
                let line = [format!("[{rank}] ").as_bytes(), line].concat();
                // An error does not end the program: the reader may have gone.
                let _ = to.write_all(&line).and_then(|()| to.flush());
            }),
        }
    }
}

/// The processes of the ranks; those that still run are ended when this value is dropped.
pub(super) struct Ranks {
    pub(super) processes: Processes,
    /// The threads that pass on output.
    forwarders: Vec<JoinHandle<()>>,
}

impl Ranks {
    /// Starts the ranks.
    pub(super) fn start(launch: &Launch<'_>) -> Result<Self, Complaint> {
        let mut ranks = Self { processes: Processes::default(), forwarders: Vec::new() };
        let mut libraries = launch.folder.as_os_str().to_owned();
        if let Some(others) = env::var_os("LD_LIBRARY_PATH").filter(|others| !others.is_empty()) {
            libraries.push(":");
            libraries.push(others);
        }
        let out = Arc::new(Mutex::new(()));
        // With a dashboard no rank reads stdin, because the dashboard reads the keys.
        let on_board = matches!(launch.output, Forward::Board(..));
        for rank in 0..launch.ranks {
            let mut command = Command::new(&launch.program[0]);
            command
                .args(&launch.program[1..])
                .env("LD_LIBRARY_PATH", &libraries)
                .env("FSIN_MPI_RANK", rank.to_string())
                .env("FSIN_MPI_SIZE", launch.ranks.to_string())
                .env("FSIN_MPI_ADDRESS", &launch.address)
                .env("FSIN_MPI_FOLDER", launch.folder)
                .env("FSIN_MPI_COMPUTE", launch.compute)
                .env("FSIN_MPI_COLLECTIVES", launch.collectives)
                .env("FSIN_MPI_BUFFERED", launch.buffered.to_string())
                .stdin(if rank == 0 && !on_board { Stdio::inherit() } else { Stdio::null() });
            // A variable of the user's environment must not switch on what the command line does not.
            for (name, value, is_on) in [
                ("FSIN_MPI_MODE", "realtime", launch.realtime),
                ("FSIN_MPI_SYNC", "deterministic", launch.deterministic),
                ("FSIN_MPI_RECORD", "1", launch.records),
            ] {
                if is_on {
                    command.env(name, value);
                } else {
                    command.env_remove(name);
                }
            }
            let (stdout, stderr) = launch.output.pipes();
            command.stdout(stdout).stderr(stderr);
            let mut child = command.spawn().map_err(|error| {
                let program = launch.program[0].to_string_lossy();
                let what = format!("cannot start rank {rank}, {program}: {error}");
                Complaint::new(Exit::Usage, what, "name a program that can be executed, ./app for one in this folder")
            })?;
            let (from, errors) = (child.stdout.take(), child.stderr.take());
            let (lines, words) =
                (launch.output.sink(rank, io::stdout(), false), launch.output.sink(rank, io::stderr(), true));
            ranks.forwarders.extend(from.map(|from| forward(from, lines, &out)));
            ranks.forwarders.extend(errors.map(|from| forward(from, words, &out)));
            ranks.processes.push(child);
        }
        Ok(ranks)
    }

    /// Waits for ranks that end by themselves, and ends the others: at once if `now`.
    pub(super) fn end(&mut self, now: bool) {
        self.processes.end(now);
        for forwarder in self.forwarders.drain(..) {
            // The thread ends when the output of its rank ends.
            let _ = forwarder.join();
        }
    }
}

/// Starts a thread that passes output on line by line. The lock `out` keeps lines of different ranks apart.
fn forward(from: impl Read + Send + 'static, mut to: Sink, out: &Arc<Mutex<()>>) -> JoinHandle<()> {
    let out = Arc::clone(out);
    thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        loop {
            line.clear();
            match from.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            if line.last() != Some(&b'\n') {
                line.push(b'\n');
            }
            let _one = out.lock().unwrap_or_else(PoisonError::into_inner);
            to(&line);
        }
    })
}
