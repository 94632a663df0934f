//! A process that runs points of a sweep, one after the other: `fsin point --of-sweep`.
//!
//! The sweep writes the identity of a point to its standard input, and reads an answer of one line when the point is
//! done. A process that dies takes with it the point that it was running; the points after it get another process. The
//! standard input closes when the sweep ends in any way, which ends the process.
//!
//! Decision: docs/decisions/0262-processes-of-a-sweep.md.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

use fsin::sweep::Store;
use serde_json::{Value, json};

use crate::cli::{Exit, invocation, output};

/// Outcome of a point.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Answer {
    /// It has a result; `saturated` says which.
    Done { saturated: bool },
    /// It has none, or that of a run that failed, for this reason.
    Failed(String),
}

impl Answer {
    /// The line of an answer.
    fn line(&self) -> String {
        let value = match self {
            Self::Done { saturated } => json!({ "saturated": saturated }),
            Self::Failed(why) => json!({ "failed": why }),
        };
        format!("{value}\n")
    }

    /// The answer of a line.
    fn of_line(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        match (value["saturated"].as_bool(), value["failed"].as_str()) {
            (Some(saturated), _) => Some(Self::Done { saturated }),
            (_, Some(why)) => Some(Self::Failed(why.to_owned())),
            (None, None) => None,
        }
    }
}

/// The processes that run points, to be ended when the sweep is stopped.
#[derive(Debug, Default)]
pub(super) struct Processes(Mutex<Vec<Arc<Mutex<Child>>>>);

impl Processes {
    /// Ends all of them.
    pub(super) fn end(&self) {
        let Ok(children) = self.0.lock() else { return };
        for child in &*children {
            if let Ok(mut child) = child.lock() {
                // An error means that the process has just ended by itself. The result of a point is complete or absent.
                let _ = child.kill();
            }
        }
    }

    /// Adds a process.
    fn add(&self, child: &Arc<Mutex<Child>>) {
        if let Ok(mut children) = self.0.lock() {
            children.retain(|child| Arc::strong_count(child) > 1);
            children.push(Arc::clone(child));
        }
    }
}

/// A process that runs points.
#[derive(Debug)]
pub(super) struct Worker {
    child: Arc<Mutex<Child>>,
    input: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// What it has written to standard error since its point began.
    said: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
    /// True if it has run a point.
    pub(super) has_run: bool,
}

impl Worker {
    /// Starts a process for the points of a sweep.
    ///
    /// # Errors
    /// The system has no room for it.
    pub(super) fn start(store: &Store, processes: &Processes) -> io::Result<Self> {
        let mut command = invocation::command()?;
        command.args(["point", "--of-sweep", "--"]).arg(store.root());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let input = child.stdin.take().ok_or_else(missing)?;
        let answers = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        let mut words = child.stderr.take().ok_or_else(missing)?;
        let said = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&said);
        let reader = std::thread::spawn(move || {
            let mut part = [0; 4096];
            // If the output cannot be read, it is not reported.
            while let Ok(count @ 1..) = words.read(&mut part) {
                if let Ok(mut kept) = kept.lock() {
                    kept.extend_from_slice(&part[..count]);
                }
            }
        });
        let child = Arc::new(Mutex::new(child));
        processes.add(&child);
        Ok(Self { child, input, answers, said, reader, has_run: false })
    }

    /// Runs a point; `None` if the process ends before it answers.
    pub(super) fn run(&mut self, id: &str) -> Option<Answer> {
        self.has_run = true;
        if let Ok(mut said) = self.said.lock() {
            said.clear();
        }
        writeln!(self.input, "{id}").ok()?;
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        Answer::of_line(&line)
    }

    /// Waits for a process that has ended without an answer; returns how it ended, and what it wrote to standard error.
    ///
    /// # Errors
    /// The system does not tell how it ended.
    pub(super) fn ended(self) -> io::Result<(ExitStatus, String)> {
        drop((self.input, self.answers));
        let status = self.child.lock().map_err(|_| io::Error::other("its process is lost"))?.wait()?;
        let _ = self.reader.join();
        let said = self.said.lock().map(|said| String::from_utf8_lossy(&said).trim().to_owned());
        Ok((status, said.unwrap_or_default()))
    }

    /// Ends a process that runs no point.
    pub(super) fn close(self) {
        // How it ends does not matter: it has answered for all its points.
        let _ = self.ended();
    }
}

/// The identities of points that the sweep writes to the standard input of this process, which ends when that closes.
pub(super) fn requests() -> mpsc::Receiver<String> {
    let (requests, received) = mpsc::channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if requests.send(line).is_err() {
                return;
            }
        }
        crate::cli::signals::leave(Exit::Interrupted as i32);
    });
    received
}

/// Answers the sweep.
///
/// # Errors
/// The sweep has ended.
pub(super) fn answer(answer: &Answer) -> Result<(), crate::cli::Complaint> {
    output::print_text(&answer.line())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_they_were_written() {
        for answer in [
            Answer::Done { saturated: true },
            Answer::Done { saturated: false },
            Answer::Failed("two\nlines, \"quoted\"".to_owned()),
        ] {
            let line = answer.line();
            assert_eq!(line.matches('\n').count(), 1, "{line}");
            assert_eq!(Answer::of_line(&line), Some(answer));
        }
        assert_eq!(Answer::of_line(""), None);
        assert_eq!(Answer::of_line("{}"), None);
    }
}
