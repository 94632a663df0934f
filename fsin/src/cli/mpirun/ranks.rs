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

/// What each rank is told by its environment.
pub(super) struct Telling<'a> {
    pub(super) program: &'a [OsString],
    pub(super) ranks: usize,
    pub(super) folder: &'a Path,
    pub(super) address: String,
    pub(super) compute: &'a str,
    pub(super) collectives: &'a str,
    pub(super) buffered: u64,
    pub(super) deterministic: bool,
    pub(super) realtime: bool,
    pub(super) records: bool,
    pub(super) output: &'a Forward,
}

/// Takes a line of output.
type Sink = Box<dyn FnMut(&[u8]) + Send>;

/// Where the output of the ranks goes.
#[derive(Clone)]
pub(super) enum Forward {
    /// To that of the command.
    Plain,
    /// The same, line by line, each with its rank.
    Labelled,
    /// Nowhere, but for errors.
    Nowhere,
    /// To the log of the dashboard, which owns the terminal; what is meant for it follows at the end.
    Board(Arc<Feed>, Arc<Mutex<Vec<u8>>>),
}

impl Forward {
    /// How the output and the errors of a rank are connected.
    fn pipes(&self) -> (Stdio, Stdio) {
        match self {
            Self::Plain => (Stdio::inherit(), Stdio::inherit()),
            Self::Labelled => (Stdio::piped(), Stdio::piped()),
            Self::Nowhere => (Stdio::null(), Stdio::inherit()),
            Self::Board(..) if io::stdout().is_terminal() => (Stdio::piped(), Stdio::piped()),
            Self::Board(..) => (Stdio::inherit(), Stdio::piped()),
        }
    }

    /// Returns what writes a line of output of this rank.
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
                // A reader that has gone does not end the program.
                let _ = to.write_all(&line).and_then(|()| to.flush());
            }),
        }
    }
}

/// The processes of the ranks; those that still run are ended when this value is dropped.
pub(super) struct Ranks {
    pub(super) processes: Processes,
    forwarders: Vec<JoinHandle<()>>,
}

impl Ranks {
    /// Starts the ranks.
    pub(super) fn start(telling: &Telling<'_>) -> Result<Self, Complaint> {
        let mut ranks = Self { processes: Processes::default(), forwarders: Vec::new() };
        let mut libraries = telling.folder.as_os_str().to_owned();
        if let Some(others) = env::var_os("LD_LIBRARY_PATH").filter(|others| !others.is_empty()) {
            libraries.push(":");
            libraries.push(others);
        }
        let out = Arc::new(Mutex::new(()));
        // The dashboard reads the keys.
        let on_board = matches!(telling.output, Forward::Board(..));
        for rank in 0..telling.ranks {
            let mut command = Command::new(&telling.program[0]);
            command
                .args(&telling.program[1..])
                .env("LD_LIBRARY_PATH", &libraries)
                .env("FSIN_MPI_RANK", rank.to_string())
                .env("FSIN_MPI_SIZE", telling.ranks.to_string())
                .env("FSIN_MPI_ADDRESS", &telling.address)
                .env("FSIN_MPI_FOLDER", telling.folder)
                .env("FSIN_MPI_COMPUTE", telling.compute)
                .env("FSIN_MPI_COLLECTIVES", telling.collectives)
                .env("FSIN_MPI_BUFFERED", telling.buffered.to_string())
                .stdin(if rank == 0 && !on_board { Stdio::inherit() } else { Stdio::null() });
            if telling.realtime {
                command.env("FSIN_MPI_MODE", "realtime");
            }
            if telling.deterministic {
                command.env("FSIN_MPI_SYNC", "deterministic");
            }
            if telling.records {
                command.env("FSIN_MPI_RECORD", "1");
            }
            let (stdout, stderr) = telling.output.pipes();
            command.stdout(stdout).stderr(stderr);
            let mut child = command.spawn().map_err(|error| {
                let program = telling.program[0].to_string_lossy();
                let what = format!("cannot start rank {rank}, {program}: {error}");
                Complaint::new(Exit::Usage, what, "name a program that can be executed, ./app for one in this folder")
            })?;
            let (from, errors) = (child.stdout.take(), child.stderr.take());
            let (lines, words) =
                (telling.output.sink(rank, io::stdout(), false), telling.output.sink(rank, io::stderr(), true));
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
            // It ends with the output that it forwards.
            let _ = forwarder.join();
        }
    }
}

/// Passes output on line by line.
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
