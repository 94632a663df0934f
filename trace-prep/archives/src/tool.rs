//! Formats whose binary form only their own tool reads: runs the tool and reads its text.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::trace::formats::{Fault, Place, ReadError};

use crate::scratch::Scratch;

/// Why a tool did not print.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The tool cannot be run, most often because it is missing.
    NotRun(io::Error),
    /// The tool rejected its input; the last line that it printed on stderr.
    Refused(String),
    /// The output of the tool cannot be stored; the error names the file.
    Scratch(io::Error),
}

/// Runs `tool` with `arguments`, with its output in the file `out`.
pub(crate) fn print(tool: &str, arguments: &[&OsStr], out: &Path) -> Result<(), Failure> {
    let scratch = |cause| Failure::Scratch(with_path(out, cause));
    let mut text = File::create(out).map_err(scratch)?;
    let mut errors = tempfile::tempfile().map_err(Failure::Scratch)?;
    let stderr = errors.try_clone().map_err(Failure::Scratch)?;
    let mut child = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn()
        .map_err(Failure::NotRun)?;
    // The output is written here and not by the tool, which may not notice a full disk.
    let copied = child.stdout.take().map_or(Ok(0), |mut printed| io::copy(&mut printed, &mut text));
    if copied.is_err() {
        // Nothing reads the output of the tool any more. An error means that the tool has already ended.
        let _ = child.kill();
    }
    let status = child.wait().map_err(Failure::NotRun)?;
    copied.map_err(scratch)?;
    if status.success() {
        return Ok(());
    }
    let mut bytes = Vec::new();
    errors.rewind().and_then(|()| errors.read_to_end(&mut bytes)).map_err(Failure::Scratch)?;
    let errors = String::from_utf8_lossy(&bytes);
    let last = errors.lines().rev().find(|line| !line.trim().is_empty());
    Err(Failure::Refused(last.map_or_else(|| format!("no reason given ({status})"), str::to_owned)))
}

/// Adds the path of the file to an error.
pub(crate) fn with_path(path: &Path, cause: io::Error) -> io::Error {
    io::Error::new(cause.kind(), format!("{cause} at path {path:?}"))
}

/// A trace as text, in a folder that is removed with this value.
#[derive(Debug)]
pub struct Printed {
    /// The folder that contains the text.
    scratch: Scratch,
    /// Name of the tool.
    tool: &'static str,
    /// The command line of the tool for the user.
    command: &'static str,
    /// The path given by the user.
    given: PathBuf,
    /// The file or folder of the text.
    text: PathBuf,
    /// The origin of each file of the text, if it is not the path given by the user.
    origins: HashMap<PathBuf, Place>,
}

impl Printed {
    /// An empty folder for the text printed from the path `given`.
    pub(crate) fn new(tool: &'static str, command: &'static str, given: &Path) -> io::Result<Self> {
        let scratch = Scratch::adopt(tempfile::tempdir()?.keep());
        let text = scratch.path().join("text");
        Ok(Self { scratch, tool, command, given: given.to_owned(), text, origins: HashMap::new() })
    }

    /// The text: a file, or a folder with one file per rank and nothing else.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.text
    }

    /// The path of a file beside the text.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// The path of a file of the text, to be printed from `origin`.
    pub(crate) fn file(&mut self, name: &str, origin: &Place) -> PathBuf {
        let path = self.text.join(name);
        self.origins.insert(path.clone(), origin.clone());
        path
    }

    /// Restates an error in the text as one in its origin, since the user never sees the text.
    #[must_use]
    pub fn misread(&self, error: ReadError) -> Misread {
        let own = phrase!["to see the text, run `", self.command, "`"];
        let remedy = match *error.fault {
            // The remedies of these faults refer to files of the user, not to printed text.
            Fault::SeveralTraces { .. }
            | Fault::UnknownFormat { .. }
            | Fault::NoTrace { .. }
            | Fault::Archives { .. }
            | Fault::MissingRank { .. } => own,
            _ => error.remedy().unwrap_or(own),
        };
        let place = match *error.fault {
            Fault::Option(_) => self.given.display().to_string(),
            _ => self.describe_origin(&error.place),
        };
        Misread { place, fault: error.fault, remedy }
    }

    /// The origin of a place in the text, for the user.
    fn describe_origin(&self, place: &Place) -> String {
        let given = || self.given.display().to_string();
        let origin = self.origins.get(&place.path).map_or_else(given, Place::to_string);
        let line = place.line.map_or_else(String::new, |line| format!(", line {line}"));
        format!("{origin}, as `{}` prints it{line}", self.tool)
    }
}

/// The text printed by a tool is not a valid trace.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct Misread {
    /// The origin, and the line of its text.
    pub place: String,
    /// The fault.
    pub fault: Box<Fault>,
    /// The remedy.
    pub remedy: Phrase,
}
