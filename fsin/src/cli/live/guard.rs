//! The guard of a run: a process that ends the run's other processes, and removes its folder, if the command itself is
//! killed and cannot do so.
//!
//! It is the executable of the command under another name, in a session of its own, so that no signal for the command
//! reaches it. It waits for the end of its input, which is a pipe from the command. Processes of the run are known by a
//! variable in their environment, which their own children inherit.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal, setsid};

use crate::cli::{Complaint, Exit, invocation};

/// The name of the process. It does not contain that of the command, so that `pkill` of the command spares it.
const NAME: &str = "mpirun-guard";
/// The last word of the command to its guard, if the run has ended in order.
const DONE: &[u8] = b"done";
/// How long processes may take to end by themselves, as they do when they lose the network.
const GRACE: Duration = Duration::from_secs(1);
/// How long the guard tries to end them.
const LIMIT: Duration = Duration::from_secs(10);
/// Interval between two checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// A guard, as the command sees it. When this value is dropped, the run has ended in order.
#[derive(Debug)]
pub(crate) struct Guard(Child);

impl Guard {
    /// Starts the guard of processes with the variable `name` of this value in their environment, and of a folder.
    pub(crate) fn start(name: &str, value: &OsStr, folder: &Path) -> Result<Self, Complaint> {
        let begin = || -> io::Result<Child> {
            let mut command = match invocation::is_executable() {
                true => Command::new("/proc/self/exe"),
                false => invocation::command()?,
            };
            match invocation::is_executable() {
                true => command.arg0(NAME),
                false => command.arg(NAME),
            };
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.env_clear().current_dir("/").spawn()?;
            if let Some(input) = &mut child.stdin {
                for part in [name.as_bytes(), b"=", value.as_bytes(), b"\0", folder.as_os_str().as_bytes(), b"\0"] {
                    input.write_all(part)?;
                }
            }
            Ok(child)
        };
        begin().map(Self).map_err(|error| {
            let what = format!("cannot start the process that cleans up if this one is killed: {error}");
            Complaint::new(Exit::Failed, what, "allow more processes (ulimit -u), or end others")
        })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(mut input) = self.0.stdin.take() {
            // An error means that the guard has been killed.
            let _ = input.write_all(DONE);
        }
        let _ = self.0.wait();
    }
}

/// True if this process is to be a guard.
pub(crate) fn is_wanted() -> bool {
    // A command that an interpreter has called cannot choose the name of its process.
    let at = if invocation::is_executable() { 0 } else { 1 };
    invocation::words().get(at).is_some_and(|name| name == NAME)
}

/// The guard.
pub(crate) fn main() -> Exit {
    // An error means that it has a session of its own already.
    let _ = setsid();
    let mut words = Vec::new();
    if io::stdin().read_to_end(&mut words).is_err() {
        return Exit::Failed;
    }
    let mut parts = words.split(|&byte| byte == 0);
    if let (Some(mark), Some(folder), Some(rest)) = (parts.next(), parts.next(), parts.next())
        && rest != DONE
    {
        end_processes(mark);
        let folder = PathBuf::from(std::ffi::OsString::from_vec(folder.to_vec()));
        let _ = fs::remove_dir_all(folder);
    }
    Exit::Done
}

/// Ends the processes with this variable in their environment that are left when a run has ended, also those in sessions of
/// their own: each may end by itself for a moment. Returns their numbers and names.
pub(crate) fn end_left(name: &str, value: &OsStr) -> Vec<String> {
    let mark = [name.as_bytes(), b"=", value.as_bytes()].concat();
    let left = || {
        let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        numbers.filter(|&number| is_marked(number, &mark, false)).collect::<Vec<i32>>()
    };
    let begin = Instant::now();
    let mut found = left();
    while !found.is_empty() && begin.elapsed() < GRACE {
        thread::sleep(CHECK_INTERVAL);
        found = left();
    }
    let named = |&number: &i32| {
        let name = fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
        format!("{number} ({})", name.trim_end())
    };
    let names = found.iter().map(named).collect();
    if !found.is_empty() {
        end_processes(&mark);
    }
    names
}

/// Waits for the processes with this entry in their environment to end, and kills those that do not.
fn end_processes(mark: &[u8]) {
    let begin = Instant::now();
    while begin.elapsed() < LIMIT {
        let kills = begin.elapsed() >= GRACE;
        let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        if numbers.filter(|&number| is_marked(number, mark, kills)).count() == 0 {
            return;
        }
        thread::sleep(CHECK_INTERVAL);
    }
}

/// True if the process has this entry in its environment; kills it, if `kills`.
fn is_marked(number: i32, mark: &[u8], kills: bool) -> bool {
    // The descriptor stands for the process even if its number is used again.
    let Some(process) = Pid::from_raw(number).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
        return false;
    };
    // The environment of processes of other users cannot be read, and that of ended processes is empty.
    let is_marked = fs::read(format!("/proc/{number}/environ"))
        .is_ok_and(|environment| environment.split(|&byte| byte == 0).any(|entry| entry == mark));
    if is_marked && kills {
        let _ = pidfd_send_signal(process, Signal::KILL);
    }
    is_marked
}
