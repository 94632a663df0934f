//! Why an experiment cannot begin.

use trgen::phrase::Phrase;
use trgen::trace::formats::{Fault, ReadError};

use super::settings::SettingsError;

/// Why an experiment could not begin.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// A setting cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] ReadError),
    /// The trace is in a format that its own tool must print, and printing failed.
    #[error("{what}")]
    Unprinted {
        /// Description of the failure.
        what: String,
        /// Remedy.
        remedy: Phrase,
        /// True if the trace is valid, but there was no room for the text.
        no_room: bool,
    },
}

impl Trouble {
    /// Description of the error.
    #[must_use]
    pub fn what(&self) -> Phrase {
        match self {
            Self::Settings(error) => error.error.what().clone(),
            Self::Trace(_) | Self::Unprinted { .. } => self.to_string().into(),
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn remedy(&self) -> Phrase {
        match self {
            Self::Settings(error) => error.error.remedy().clone(),
            Self::Trace(error) => error.remedy().unwrap_or_else(|| remedy_of_trace(error).into()),
            Self::Unprinted { remedy, .. } => remedy.clone(),
        }
    }

    /// The key of the setting that cannot be used, if it is the setting's fault.
    #[must_use]
    pub fn setting(&self) -> Option<&str> {
        match self {
            Self::Settings(error) => error.error.setting(),
            Self::Trace(_) => Some("trace"),
            Self::Unprinted { .. } => None,
        }
    }
}

/// The remedy for an error in a trace that has none of its own.
fn remedy_of_trace(error: &ReadError) -> &'static str {
    match *error.fault {
        Fault::Io(_) => "check that it is a file that you may read",
        Fault::NotText => "give a trace as text, or an archive of one (fsin list formats)",
        Fault::TooLarge { .. } | Fault::TooManyTasks { .. } => "check that it is the file you mean",
        _ if error.place.line.is_some() => "correct this line, or record the trace again",
        _ => "correct the trace, or record it again",
    }
}
