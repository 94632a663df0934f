//! Child processes of a run: detects which of them have ended, and ends the others with the run.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// How long processes may take to end by themselves after the run has ended.
const GRACE: Duration = Duration::from_secs(10);
/// Polling interval while processes are awaited.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Processes; those that still run are ended when this value is dropped.
#[derive(Default)]
pub(super) struct Processes {
    /// The processes by number.
    children: Vec<Child>,
    /// The status of each process; `None` while it runs.
    ended: Vec<Option<ExitStatus>>,
    /// True for each process that was killed.
    killed: Vec<bool>,
}

impl Processes {
    /// Adds a process.
    pub(super) fn push(&mut self, child: Child) {
        self.children.push(child);
        self.ended.push(None);
        self.killed.push(false);
    }

    /// Polls all processes. Returns the first that has ended with a failure, by its number.
    pub(super) fn poll(&mut self) -> Option<(usize, ExitStatus)> {
        for (child, ended) in self.children.iter_mut().zip(&mut self.ended) {
            if ended.is_none() {
                *ended = child.try_wait().ok().flatten();
            }
        }
        let failed = self.ended.iter().enumerate();
        failed.filter_map(|(number, ended)| Some((number, (*ended)?))).find(|(_, status)| !status.success())
    }

    /// The first process that has ended, by its number.
    pub(super) fn first_ended(&self) -> Option<(usize, ExitStatus)> {
        self.ended.iter().enumerate().find_map(|(number, ended)| Some((number, (*ended)?)))
    }

    /// The status of a process, if it has ended by itself.
    pub(super) fn status(&self, number: usize) -> Option<ExitStatus> {
        self.ended.get(number).copied().flatten().filter(|_| !self.killed[number])
    }

    /// Waits for processes to end by themselves, and then kills the others. If `now`, kills them at once.
    pub(super) fn end(&mut self, now: bool) {
        let begin = Instant::now();
        while !now && begin.elapsed() < GRACE {
            self.poll();
            if self.ended.iter().all(Option::is_some) {
                break;
            }
            thread::sleep(POLL_INTERVAL);
        }
        self.kill();
    }

    /// Kills all processes that still run.
    fn kill(&mut self) {
        for ((child, ended), killed) in self.children.iter_mut().zip(&mut self.ended).zip(&mut self.killed) {
            if ended.is_none() {
                // An error means that the process has just ended by itself.
                *killed = child.kill().is_ok();
                *ended = child.wait().ok();
            }
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The exit status of a process as a shell gives it: 128 plus the number of the signal, if a signal has ended it.
pub(super) fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// Describes how a process has ended, as the end of a sentence.
pub(super) fn describe_end(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}
