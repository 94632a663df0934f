//! Child processes of a run: detects which of them have ended, and ends the others with the run.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long processes may take to end by themselves after the run has ended.
pub(crate) const GRACE: Duration = Duration::from_secs(10);
/// How long processes may take to end that are asked to.
const ASKED: Duration = Duration::from_secs(5);
/// The number of the signal that kills.
const KILL: i32 = 9;
/// Polling interval while processes are awaited.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Processes; those that still run are ended when this value is dropped.
#[derive(Default)]
pub(crate) struct Processes {
    /// The processes by number.
    children: Vec<Child>,
    /// The status of each process; `None` while it runs.
    ended: Vec<Option<ExitStatus>>,
    /// True for each process that was killed.
    killed: Vec<bool>,
    /// The first process whose status the system does not tell.
    unknown: Option<Unknown>,
    /// True if a process is asked to end before it is killed.
    asks: bool,
}

/// A process whose status is not known.
#[derive(Debug)]
pub(crate) struct Unknown {
    /// Its number.
    pub(crate) number: usize,
    /// The error of the system.
    pub(crate) error: io::Error,
}

impl Processes {
    /// Adds a process.
    pub(crate) fn push(&mut self, child: Child) {
        self.children.push(child);
        self.ended.push(None);
        self.killed.push(false);
    }

    /// Polls all processes. Returns the first that has ended with a failure, by its number.
    pub(crate) fn poll(&mut self) -> Option<(usize, ExitStatus)> {
        for (number, (child, ended)) in self.children.iter_mut().zip(&mut self.ended).enumerate() {
            if ended.is_none() {
                match child.try_wait() {
                    Ok(status) => *ended = status,
                    Err(error) => drop(self.unknown.get_or_insert(Unknown { number, error })),
                }
            }
        }
        let failed = self.ended.iter().enumerate();
        failed.filter_map(|(number, ended)| Some((number, (*ended)?))).find(|(_, status)| !status.success())
    }

    /// The first process that has ended, by its number.
    pub(crate) fn first_ended(&self) -> Option<(usize, ExitStatus)> {
        self.ended.iter().enumerate().find_map(|(number, ended)| Some((number, (*ended)?)))
    }

    /// The first process whose status the system does not tell, as if another process had asked for it.
    pub(crate) const fn unknown(&self) -> Option<&Unknown> {
        self.unknown.as_ref()
    }

    /// The first process that had to be killed, by its number.
    pub(crate) fn first_killed(&self) -> Option<usize> {
        self.killed.iter().position(|&killed| killed)
    }

    /// The status of a process, if it has ended by itself.
    pub(crate) fn status(&self, number: usize) -> Option<ExitStatus> {
        self.ended.get(number).copied().flatten().filter(|_| !self.killed[number])
    }

    /// Waits for processes to end by themselves, and then kills the others. If `now`, kills them at once.
    pub(crate) fn end(&mut self, now: bool) {
        let begin = Instant::now();
        while !now && begin.elapsed() < GRACE {
            self.poll();
            if self.ended.iter().all(Option::is_some) || self.unknown.is_some() {
                break;
            }
            thread::sleep(POLL_INTERVAL);
        }
        self.kill();
    }

    /// From now on processes that are to end are asked first: they have started others, which only they can end.
    pub(crate) const fn asks_first(&mut self) {
        self.asks = true;
    }

    /// Asks the processes that still run to end, and waits for a while.
    fn ask(&mut self) {
        self.poll();
        for (child, _) in self.children.iter().zip(&self.ended).filter(|(_, ended)| ended.is_none()) {
            // An error means that the process has just ended.
            let _ = kill_process(Pid::from_child(child), Signal::TERM);
        }
        let begin = Instant::now();
        while begin.elapsed() < ASKED && self.ended.iter().any(Option::is_none) {
            thread::sleep(POLL_INTERVAL);
            self.poll();
        }
    }

    /// Kills all processes that still run.
    fn kill(&mut self) {
        if self.asks {
            self.ask();
        }
        let all = self.children.iter_mut().zip(&mut self.ended).zip(&mut self.killed);
        for (number, ((child, ended), killed)) in all.enumerate() {
            if ended.is_none() {
                // An error means that the process has just ended by itself.
                let _ = child.kill();
                match child.wait() {
                    Ok(status) => (*killed, *ended) = (status.signal() == Some(KILL), Some(status)),
                    Err(error) => drop(self.unknown.get_or_insert(Unknown { number, error })),
                }
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
pub(crate) fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// Describes how a process has ended, as the end of a sentence.
pub(crate) fn describe_end(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit status {code}"),
        (None, Some(signal)) => match meaning(signal) {
            Some(meaning) => format!("was ended by signal {signal} ({meaning})"),
            None => format!("was ended by signal {signal}"),
        },
        (None, None) => "ended".to_owned(),
    }
}

/// What a signal means, if that is a reason for the end of a program.
const fn meaning(signal: i32) -> Option<&'static str> {
    Some(match signal {
        4 => "illegal instruction",
        6 => "aborted",
        7 => "bus error",
        8 => "arithmetic error",
        KILL => "killed",
        11 => "segmentation fault",
        24 => "limit of processor time: ulimit -t",
        25 => "limit of file sizes: ulimit -f",
        31 => "forbidden system call",
        _ => return None,
    })
}
