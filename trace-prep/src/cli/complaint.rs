//! Errors for the user: the fault and the remedy.

use fsin_archives::OpenError;
use std::fmt;
use std::io;

use miette::Diagnostic;
use trace_prep::output::OutputError;
use trgen::SourceError;
use trgen::catalog::SpecError;
use trgen::phrase::{Notation, Phrase};
use trgen::trace::container::ContainerError;
use trgen::trace::formats::ReadError;

use super::Exit;

/// An error for the user.
#[derive(Debug)]
pub(crate) struct Complaint {
    /// What is wrong.
    pub(super) what: String,
    /// What the user can do.
    remedy: String,
    /// Exit status of the command.
    pub(super) exit: Exit,
}

impl Complaint {
    pub(crate) fn new(exit: Exit, what: impl Into<Phrase>, remedy: impl Into<Phrase>) -> Self {
        Self { what: what.into().written(&Flags), remedy: remedy.into().written(&Flags), exit }
    }
}

/// Writes settings as flags of the command line: `--from goal`.
struct Flags;

impl Notation for Flags {
    fn setting(&self, key: &str, value: Option<&str>) -> String {
        value.map_or_else(|| format!("--{key}"), |value| format!("--{key} {value}"))
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Complaint {}

impl Diagnostic for Complaint {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.remedy))
    }
}

impl From<ReadError> for Complaint {
    fn from(error: ReadError) -> Self {
        let remedy = error.remedy().unwrap_or_else(|| "correct the line, or give another file".into());
        Self::new(Exit::Usage, error.to_string(), remedy)
    }
}

impl From<ContainerError> for Complaint {
    fn from(error: ContainerError) -> Self {
        let place = error.byte.map_or_else(String::new, |byte| format!(" at byte {byte}"));
        Self::new(Exit::Usage, format!("the container{place}: {error}"), error.remedy)
    }
}

impl From<SpecError> for Complaint {
    fn from(refusal: SpecError) -> Self {
        Self::new(Exit::Usage, refusal.what(), refusal.remedy())
    }
}

impl From<io::Error> for Complaint {
    fn from(error: io::Error) -> Self {
        Self::new(Exit::Failed, format!("cannot write to stdout: {error}"), "free some space, or write elsewhere")
    }
}

impl From<OutputError> for Complaint {
    fn from(error: OutputError) -> Self {
        let exit = if matches!(error, OutputError::Io { .. }) { Exit::Failed } else { Exit::Usage };
        Self::new(exit, error.to_string(), error.remedy())
    }
}

impl From<SourceError> for Complaint {
    fn from(error: SourceError) -> Self {
        Self::new(Exit::Usage, error.to_string(), "the trace contradicts itself: record or import it again")
    }
}

impl From<OpenError> for Complaint {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Read(error) => error.into(),
            OpenError::Printed { what, remedy, no_room } => {
                Self::new(if no_room { Exit::Failed } else { Exit::Usage }, what, remedy)
            }
        }
    }
}

impl From<trace_prep::transform::TransformError> for Complaint {
    fn from(error: trace_prep::transform::TransformError) -> Self {
        Self::new(Exit::Usage, error.what, error.remedy)
    }
}

impl From<trgen::trace::goal::chain::ChainError> for Complaint {
    fn from(error: trgen::trace::goal::chain::ChainError) -> Self {
        Self::new(Exit::Usage, error.to_string(), "export to trg or simgrid-ti instead")
    }
}
