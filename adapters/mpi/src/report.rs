//! The files that the launcher reads at the end: the statistics of this rank, and its recording.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Statistics of this rank.
#[derive(Clone, Default, Debug)]
pub(crate) struct Statistics {
    /// \[ps\] Time that the program has spent on computing.
    pub(crate) computing: u64,
    /// \[ps\] Time of waiting, by call and by the rank that was waited for; `None` for any rank.
    waiting: BTreeMap<(&'static str, Option<usize>), u64>,
    /// Number of calls of each MPI function.
    pub(crate) calls: BTreeMap<&'static str, u64>,
    /// Number of collectives, and the sum of their durations \[ps\], by operation.
    collectives: BTreeMap<&'static str, (u64, u64)>,
    /// Number of messages and bytes sent to each rank.
    sent: BTreeMap<usize, (u64, u64)>,
    /// Number of messages received.
    pub(crate) received: u64,
    /// Number of messages that arrived before their receive was posted.
    pub(crate) unexpected: u64,
    /// The error that ended this rank.
    pub(crate) failure: Option<String>,
    /// What helps against it, where it is no error of the program.
    pub(crate) remedy: Option<&'static str>,
    /// True if the simulation ended before this rank.
    pub(crate) ended_by_run: bool,
}

impl Statistics {
    /// Those of a rank that has not begun.
    pub(crate) fn not_begun(failure: String, remedy: &'static str) -> Self {
        Self { failure: Some(failure), remedy: Some(remedy), ..Self::default() }
    }

    /// Adds a wait of `time` picoseconds for the rank `peer`.
    pub(crate) fn waited(&mut self, call: &'static str, peer: Option<usize>, time: u64) {
        if time > 0 {
            *self.waiting.entry((call, peer)).or_default() += time;
        }
    }

    /// Counts a message to a rank.
    pub(crate) fn sent(&mut self, to: usize, bytes: u64) {
        let (messages, sum) = self.sent.entry(to).or_default();
        *messages += 1;
        *sum += bytes;
    }

    /// Counts a collective that has begun.
    pub(crate) fn collective(&mut self, name: &'static str) {
        self.collectives.entry(name).or_default().0 += 1;
    }

    /// Adds the duration of a collective that has ended \[ps\].
    pub(crate) fn collective_took(&mut self, name: &'static str, time: u64) {
        self.collectives.entry(name).or_default().1 += time;
    }
}

/// What a rank reports beside its statistics.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) rank: usize,
    /// \[ps\] Its clock.
    pub(crate) time: u64,
    /// True if it has called `MPI_Finalize`.
    pub(crate) finalized: bool,
    /// Number of messages that match no receive.
    pub(crate) unreceived: usize,
    /// What it waits for, if the run has ended before it.
    pub(crate) awaits: Option<String>,
}

/// Ends the recording, if there is one.
///
/// # Errors
/// It could not be written.
pub(crate) fn end_recording(folder: &Path, log: Option<&mut Log>) -> io::Result<()> {
    log.map_or(Ok(()), Log::finish).map_err(|error| in_words("its recording", folder, &error))
}

/// Writes the report: a line for each figure, its name first, and `end`.
///
/// # Errors
/// The report cannot be written.
pub(crate) fn write(folder: &Path, summary: &Summary, statistics: &Statistics) -> io::Result<()> {
    let (draft, path) = (folder.join(format!(".rank.{}", summary.rank)), folder.join(format!("rank.{}", summary.rank)));
    let write = || {
        let mut file = Quiet(File::create(&draft)?);
        file.write_all(lines(summary, statistics).as_bytes())?;
        fs::rename(&draft, &path)
    };
    write().map_err(|error| in_words("its report", folder, &error))
}

/// The same error with its place and a remedy.
pub(crate) fn in_words(what: &str, folder: &Path, error: &io::Error) -> io::Error {
    let remedy = "free some space there, set TMPDIR to another folder, or raise the limit of file sizes (ulimit -f)";
    io::Error::new(error.kind(), format!("{what} cannot be written in {}: {error}; {remedy}", folder.display()))
}

/// The lines of the report.
fn lines(summary: &Summary, statistics: &Statistics) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "time {}", summary.time);
    let _ = writeln!(text, "computing {}", statistics.computing);
    let _ = writeln!(text, "finalized {}", u8::from(summary.finalized));
    let _ = writeln!(text, "received {}", statistics.received);
    let _ = writeln!(text, "unexpected {}", statistics.unexpected);
    let _ = writeln!(text, "unreceived {}", summary.unreceived);
    for ((call, peer), time) in &statistics.waiting {
        let peer = peer.map_or_else(|| "any".to_owned(), |peer| peer.to_string());
        let _ = writeln!(text, "waiting {call} {peer} {time}");
    }
    for (call, count) in &statistics.calls {
        let _ = writeln!(text, "call {call} {count}");
    }
    for (name, (count, time)) in &statistics.collectives {
        let _ = writeln!(text, "collective {name} {count} {time}");
    }
    for (to, (messages, bytes)) in &statistics.sent {
        let _ = writeln!(text, "sent {to} {messages} {bytes}");
    }
    if let Some(failure) = &statistics.failure {
        let _ = writeln!(text, "failure {}", failure.replace('\n', " "));
    }
    if let Some(remedy) = statistics.remedy {
        let _ = writeln!(text, "remedy {remedy}");
    }
    if let Some(wait) = &summary.awaits {
        let _ = writeln!(text, "awaits {wait}");
    }
    text.push_str("end\n");
    text
}

/// A file of the library, for which a limit of file sizes is an error, and not the end of the program by a signal.
pub(crate) struct Quiet(File);

/// Creates a file of the library, whose lines are written in larger pieces.
pub(crate) fn create(path: &Path) -> io::Result<BufWriter<Quiet>> {
    Ok(BufWriter::new(Quiet(File::create(path)?)))
}

impl Write for Quiet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unsafe extern "C" {
            fn signal(number: c_int, handler: usize) -> usize;
        }
        const FILE_SIZE: c_int = 25;
        const IGNORE: usize = 1;
        // SAFETY: functions of the C library; the handler of the program is restored.
        let before = unsafe { signal(FILE_SIZE, IGNORE) };
        let written = self.0.write(bytes);
        unsafe { signal(FILE_SIZE, before) };
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A recording in progress: a line for each event.
pub(crate) struct Log {
    out: BufWriter<Quiet>,
    /// \[ps\] Time of computing that has not been written.
    computing: u64,
    /// The number of the next operation.
    next: u32,
    /// The number of the last operation.
    pub(crate) last: u32,
    /// The first error of writing.
    failure: Option<io::Error>,
}

impl Log {
    /// Creates the file of the recording.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { out: create(path)?, computing: 0, next: 0, last: 0, failure: None })
    }

    /// Writes the line of an event, after a line for the computing before it.
    fn write_event(&mut self, line: std::fmt::Arguments<'_>) {
        if self.computing > 0 {
            let time = std::mem::take(&mut self.computing);
            self.write_line(format_args!("c {time}"));
        }
        self.write_line(line);
    }

    /// Writes a line and keeps the first error.
    fn write_line(&mut self, line: std::fmt::Arguments<'_>) {
        if let Err(failure) = writeln!(self.out, "{line}") {
            self.failure.get_or_insert(failure);
        }
    }

    /// Takes the number of a new operation.
    fn number(&mut self) -> u32 {
        self.last = self.next;
        self.next += 1;
        self.last
    }

    /// Adds computing of `time` picoseconds.
    pub(crate) fn compute(&mut self, time: u64) {
        self.computing += time;
    }

    /// Records a send to a rank of the world.
    pub(crate) fn send(&mut self, to: usize, tag: i64, context: u64, bytes: u64) {
        let number = self.number();
        self.write_event(format_args!("s {to} {tag} {context} {bytes} {number}"));
    }

    /// Records a receive and returns its number; `None` is a wildcard.
    pub(crate) fn receive(&mut self, from: Option<usize>, tag: Option<i64>, context: u64, bytes: u64) -> u32 {
        let number = self.number();
        let any = || "any".to_owned();
        let (from, tag) = (from.map_or_else(any, |from| from.to_string()), tag.map_or_else(any, |tag| tag.to_string()));
        self.write_event(format_args!("r {from} {tag} {context} {bytes} {number}"));
        number
    }

    /// Records the end of the wait for an operation.
    pub(crate) fn wait(&mut self, number: u32) {
        self.write_event(format_args!("w {number}"));
    }

    /// Records that a receive has been cancelled.
    pub(crate) fn cancelled(&mut self, number: u32) {
        self.write_event(format_args!("x {number}"));
    }

    /// Writes what is left and the last line, and returns the first error.
    fn finish(&mut self) -> io::Result<()> {
        self.write_event(format_args!("end"));
        self.out.flush()?;
        self.failure.take().map_or(Ok(()), Err)
    }
}
