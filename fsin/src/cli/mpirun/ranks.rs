//! The processes of the ranks.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::cli::{Complaint, Exit};

/// How long ranks may take to end by themselves, once the run has ended.
const GRACE: Duration = Duration::from_secs(10);
/// Interval between looks at the processes.
const LOOK: Duration = Duration::from_millis(5);

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
    pub(super) records: bool,
    pub(super) label: bool,
}

/// The processes of the ranks; those that still run are ended when this value is dropped.
pub(super) struct Ranks {
    children: Vec<Child>,
    ended: Vec<Option<ExitStatus>>,
    forwarders: Vec<JoinHandle<()>>,
}

impl Ranks {
    /// Starts the ranks.
    pub(super) fn start(telling: &Telling<'_>) -> Result<Self, Complaint> {
        let mut ranks = Self { children: Vec::new(), ended: vec![None; telling.ranks], forwarders: Vec::new() };
        let mut libraries = telling.folder.as_os_str().to_owned();
        if let Some(others) = env::var_os("LD_LIBRARY_PATH").filter(|others| !others.is_empty()) {
            libraries.push(":");
            libraries.push(others);
        }
        let out = Arc::new(Mutex::new(()));
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
                .stdin(if rank == 0 { Stdio::inherit() } else { Stdio::null() });
            if telling.deterministic {
                command.env("FSIN_MPI_SYNC", "deterministic");
            }
            if telling.records {
                command.env("FSIN_MPI_RECORD", "1");
            }
            if telling.label {
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
            }
            let mut child = command.spawn().map_err(|error| {
                let program = telling.program[0].to_string_lossy();
                let what = format!("cannot start rank {rank}, {program}: {error}");
                Complaint::new(Exit::Usage, what, "name a program that can be executed, ./app for one in this folder")
            })?;
            let (from, errors) = (child.stdout.take(), child.stderr.take());
            ranks.forwarders.extend(from.map(|from| forward(rank, from, io::stdout(), &out)));
            ranks.forwarders.extend(errors.map(|from| forward(rank, from, io::stderr(), &out)));
            ranks.children.push(child);
        }
        Ok(ranks)
    }

    /// Looks which ranks have ended; the first one that has ended with a failure.
    pub(super) fn look(&mut self) -> Option<(usize, ExitStatus)> {
        for (child, ended) in self.children.iter_mut().zip(&mut self.ended) {
            if ended.is_none() {
                *ended = child.try_wait().ok().flatten();
            }
        }
        let failed = self.ended.iter().enumerate();
        failed.filter_map(|(rank, ended)| Some((rank, (*ended)?))).find(|(_, status)| !status.success())
    }

    /// The first rank that has ended.
    pub(super) fn first_ended(&self) -> Option<(usize, ExitStatus)> {
        self.ended.iter().enumerate().find_map(|(rank, ended)| Some((rank, (*ended)?)))
    }

    /// How a rank has ended.
    pub(super) fn status(&self, rank: usize) -> Option<ExitStatus> {
        self.ended.get(rank).copied().flatten()
    }

    /// Waits for ranks that end by themselves, and ends the others: at once if `now`.
    pub(super) fn end(&mut self, now: bool) {
        let begin = Instant::now();
        while !now && begin.elapsed() < GRACE {
            self.look();
            if self.ended.iter().all(Option::is_some) {
                break;
            }
            thread::sleep(LOOK);
        }
        self.kill();
        for forwarder in self.forwarders.drain(..) {
            // It ends with the output that it forwards.
            let _ = forwarder.join();
        }
    }

    fn kill(&mut self) {
        for (child, ended) in self.children.iter_mut().zip(&mut self.ended) {
            if ended.is_none() {
                // It may have ended by itself just now.
                let _ = child.kill();
                *ended = child.wait().ok();
            }
        }
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The exit status of a process as that of a shell: 128 and its signal, if that has ended it.
pub(super) fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// The end of a process in words.
pub(super) fn words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// Copies output line by line, each with its rank.
fn forward(
    rank: usize,
    from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    out: &Arc<Mutex<()>>,
) -> JoinHandle<()> {
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
            // A reader that has gone does not end the program.
            let _ = to
                .write_all(format!("[{rank}] ").as_bytes())
                .and_then(|()| to.write_all(&line))
                .and_then(|()| to.flush());
        }
    })
}
