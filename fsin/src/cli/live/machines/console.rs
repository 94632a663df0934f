//! `fsin machines console`: the terminal as the console of a machine.

use std::io::{self, IsTerminal, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::thread;

use clap::ArgMatches;

use super::{flags, folder};
use crate::cli::{Complaint, Exit, output};

/// The key Ctrl-], which leaves the console.
const ESCAPE: u8 = 0x1d;

/// The terminal in raw mode. The value is its former settings, which are restored when it is dropped; `None` if stdin
/// is not a terminal.
struct Raw(Option<String>);

/// Runs `stty` and returns its output; `None` if it fails.
fn stty(words: &[&str]) -> Option<String> {
    let ran = Command::new("stty").args(words).stdin(Stdio::inherit()).stderr(Stdio::null()).output().ok()?;
    ran.status.success().then(|| String::from_utf8_lossy(&ran.stdout).trim().to_owned())
}

impl Raw {
    /// Puts the terminal into raw mode: keys are passed on unchanged and not echoed.
    fn new() -> Self {
        let before = if io::stdin().is_terminal() { stty(&["-g"]) } else { None };
        if before.is_some() {
            stty(&["raw", "-echo"]);
        }
        Self(before)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            stty(&[before]);
        }
    }
}

/// `fsin machines console`: copies between the terminal and the console of a machine.
pub(super) fn console(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let sockets = folder::sockets(flags::folder_of(matches))?;
    let machine = matches.get_one::<usize>("machine").copied().unwrap_or(0);
    let failed = |error: io::Error| {
        let count = folder::count(&sockets);
        let what = format!("the console of machine {machine} of {count} cannot be reached: {error}");
        Complaint::new(Exit::Failed, what, "give the number of a machine that is up; one terminal at a time")
    };
    let mut stream = UnixStream::connect(sockets.join(folder::console(machine))).map_err(failed)?;
    if !matches.get_flag("quiet") && io::stdin().is_terminal() {
        output::tell(&format!("console of machine {machine}; Ctrl-] leaves it"));
    }
    let raw = Raw::new();
    let mut from = stream.try_clone().map_err(failed)?;
    let shown = thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            let mut out = io::stdout();
            if out.write_all(&buffer[..read]).and_then(|()| out.flush()).is_err() {
                break;
            }
        }
    });
    let mut key = [0];
    while !shown.is_finished() && matches!(io::stdin().read(&mut key), Ok(1)) && key[0] != ESCAPE {
        if stream.write_all(&key).is_err() {
            break;
        }
    }
    // Later output of the machine goes to its log.
    let _ = stream.shutdown(Shutdown::Both);
    let _ = shown.join();
    drop(raw);
    Ok(Exit::Done)
}
