//! Formats whose binary form only their own tool reads: the tool is run, and its text is read.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::trace::formats::{Fault, Place, ReadError};

/// A tool did not print.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It cannot be run, most often because it is not there.
    NotRun(io::Error),
    /// It refused its input; what it said last.
    Refused(String),
    /// Its text cannot be kept; says where.
    Scratch(io::Error),
}

/// Runs `tool` with `arguments`, its output to the file `out`.
pub(crate) fn print(tool: &str, arguments: &[&OsStr], out: &Path) -> Result<(), Failure> {
    let scratch = |cause| Failure::Scratch(at(out, cause));
    let mut text = File::create(out).map_err(scratch)?;
    let mut said = tempfile::tempfile().map_err(Failure::Scratch)?;
    let stderr = said.try_clone().map_err(Failure::Scratch)?;
    let mut child = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn()
        .map_err(Failure::NotRun)?;
    // Written here and not by the tool, which may not look whether there is room.
    let kept = child.stdout.take().map_or(Ok(0), |mut printed| io::copy(&mut printed, &mut text));
    if kept.is_err() {
        // Nobody reads what it prints any more; if it has ended by itself, there is nothing to end.
        let _ = child.kill();
    }
    let status = child.wait().map_err(Failure::NotRun)?;
    kept.map_err(scratch)?;
    if status.success() {
        return Ok(());
    }
    let mut bytes = Vec::new();
    said.rewind().and_then(|()| said.read_to_end(&mut bytes)).map_err(Failure::Scratch)?;
    let said = String::from_utf8_lossy(&bytes);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    Err(Failure::Refused(last.map_or_else(|| format!("no reason given ({status})"), str::to_owned)))
}

/// An error with the file that it is about.
pub(crate) fn at(path: &Path, cause: io::Error) -> io::Error {
    io::Error::new(cause.kind(), format!("{cause} at path {path:?}"))
}

/// A trace as text, in a folder that goes with this value.
#[derive(Debug)]
pub struct Printed {
    scratch: TempDir,
    tool: &'static str,
    /// How the user runs the tool.
    command: &'static str,
    /// What the user gave.
    given: PathBuf,
    text: PathBuf,
    /// What each file of the text was printed of, where that is not what was given.
    origins: HashMap<PathBuf, Place>,
}

impl Printed {
    /// Room for the text of `given`.
    pub(crate) fn new(tool: &'static str, command: &'static str, given: &Path) -> io::Result<Self> {
        let scratch = tempfile::tempdir()?;
        let text = scratch.path().join("text");
        Ok(Self { scratch, tool, command, given: given.to_owned(), text, origins: HashMap::new() })
    }

    /// The text: a file, or a folder that holds a file for each rank and nothing else.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.text
    }

    /// A file that is no part of the text.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// A file of the text, which is printed of `origin`.
    pub(crate) fn file(&mut self, name: &str, origin: &Place) -> PathBuf {
        let path = self.text.join(name);
        self.origins.insert(path.clone(), origin.clone());
        path
    }

    /// What is wrong with the text, told by what it was printed of: the text is gone when the user looks for it.
    #[must_use]
    pub fn misread(&self, error: ReadError) -> Misread {
        let own = phrase!["to see the text, run `", &*self.command, "`"];
        let remedy = match *error.fault {
            // What they advise is about files that the user gave.
            Fault::SeveralTraces { .. }
            | Fault::UnknownFormat { .. }
            | Fault::NoTrace { .. }
            | Fault::Archives { .. }
            | Fault::MissingRank { .. } => own,
            _ => error.remedy().unwrap_or(own),
        };
        let place = match *error.fault {
            Fault::Option(_) => self.given.display().to_string(),
            _ => self.whose(&error.place),
        };
        Misread { place, fault: error.fault, remedy }
    }

    fn whose(&self, place: &Place) -> String {
        let given = || self.given.display().to_string();
        let origin = self.origins.get(&place.path).map_or_else(given, Place::to_string);
        let line = place.line.map_or_else(String::new, |line| format!(", line {line}"));
        format!("{origin}, as `{}` prints it{line}", self.tool)
    }
}

/// The text that a tool printed is not that of a trace.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct Misread {
    /// Whose text, and which line of it.
    pub place: String,
    /// Why.
    pub fault: Box<Fault>,
    /// What the user can do about it.
    pub remedy: Phrase,
}
