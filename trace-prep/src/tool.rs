//! Formats whose binary form only their own tool reads: the tool is run, and its text is read.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A tool did not print.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It is not there, or there is no room for the text.
    Io(io::Error),
    /// It refused its input; what it said last.
    Refused(String),
}

/// Runs `tool` with `arguments`, its output to the file `out`.
pub(crate) fn print(tool: &str, arguments: &[&OsStr], out: &Path) -> Result<(), Failure> {
    let out = File::create(out).map_err(Failure::Io)?;
    let child = Command::new(tool).args(arguments).stdin(Stdio::null()).stdout(out).stderr(Stdio::piped()).spawn();
    let done = child.and_then(Child::wait_with_output).map_err(Failure::Io)?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    Err(Failure::Refused(last.map_or_else(|| format!("no reason given ({})", done.status), str::to_owned)))
}
