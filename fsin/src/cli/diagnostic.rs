//! Errors as users read them: problem, location and remedy.

use std::fmt;

use fsin::couple::Failure;
use fsin::experiment::{Origin, Settings, SettingsError, Trouble, remedy_of};
use fsin::network::NetworkFailure;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::quote::visible;
use trgen::trace::formats::Fault;

use super::{Exit, Flags};

/// An error on its way to the user.
#[derive(Debug)]
pub(crate) struct Complaint {
    /// What is wrong.
    what: String,
    /// What the user can do about it.
    remedy: Option<String>,
    /// Keys of the settings named by `what`, in order.
    settings: Vec<&'static str>,
    /// The text of the experiment file, and the part of it that is wrong.
    place: Option<Box<(NamedSource<String>, LabeledSpan)>>,
    /// The exit status of the command.
    pub(crate) exit: Exit,
}

impl Complaint {
    /// An error with this exit status.
    pub(crate) fn new(exit: Exit, what: impl Into<Phrase>, remedy: impl Into<Phrase>) -> Self {
        let (what, remedy) = (what.into(), remedy.into().written(&Flags));
        let settings = what.settings().collect();
        Self { what: what.written(&Flags), remedy: Some(remedy), settings, place: None, exit }
    }

    /// Keys of the settings that the error is about, in order.
    pub(crate) fn settings(&self) -> &[&'static str] {
        &self.settings
    }

    /// The same error with another remedy.
    #[cfg(feature = "live")]
    pub(crate) fn with_remedy(self, remedy: impl Into<Phrase>) -> Self {
        Self { remedy: Some(remedy.into().written(&Flags)), ..self }
    }

    /// The same error with its subject in front.
    pub(crate) fn with_subject(self, about: &str) -> Self {
        Self { what: format!("{about}: {}", self.what), ..self }
    }

    /// The error of a run that could not begin.
    pub(crate) fn of_trouble(trouble: Trouble, settings: &Settings) -> Self {
        let remedy = trouble.remedy();
        match trouble {
            Trouble::Settings(error) => error.into(),
            Trouble::Unprinted { what, no_room, .. } => {
                Self::new(if no_room { Exit::Failed } else { Exit::Usage }, what, remedy)
            }
            Trouble::Trace(error) => match *error.fault {
                // If the trace is missing, the error is that of the setting that names it.
                Fault::NotFound => {
                    let what = phrase![["trace"], " {error}"];
                    settings.error("trace", ErrorKind::Unreadable, what, remedy).into()
                }
                _ => Self::new(Exit::Usage, error.to_string(), remedy),
            },
        }
    }

    /// The error of a run that failed; its results have been written.
    pub(crate) fn of_failure(failure: &Failure) -> Self {
        /// Maximum number of waits to list; more scroll the message away.
        const SHOWN: usize = 16;
        let mut exit = Exit::Watchdog;
        let lines: Vec<String> = match failure {
            Failure::Network(NetworkFailure::Deadlock(deadlock)) => {
                let waits = if deadlock.refusing.is_empty() { "waits for room in" } else { "waits for" };
                let circle = deadlock.cycle.iter().zip(deadlock.cycle.iter().cycle().skip(1));
                circle.map(|(channel, next)| format!("{channel} {waits} {next}")).chain(deadlock.refusals()).collect()
            }
            Failure::Network(NetworkFailure::Storm(storm)) => storm.cycle.iter().map(ToString::to_string).collect(),
            Failure::TrafficDeadlock { waits, .. } | Failure::Stuck { waits } => {
                waits.iter().map(ToString::to_string).collect()
            }
            Failure::Unmatched { shown, .. } => shown.clone(),
            Failure::Source(error) => {
                exit = if error.of_input { Exit::Usage } else { Exit::Failed };
                Vec::new()
            }
            Failure::Network(NetworkFailure::Livelock(_)) | Failure::ClockEnd { .. } => Vec::new(),
        };
        let mut what = failure.to_string();
        for line in lines.iter().take(SHOWN) {
            what.push_str("\n  ");
            what.push_str(line);
        }
        if lines.len() > SHOWN {
            what.push_str(&format!("\n  ... and {} more", lines.len() - SHOWN));
        }
        Self::new(exit, what, remedy_of(failure))
    }
}

impl From<SettingsError> for Complaint {
    fn from(error: SettingsError) -> Self {
        let place = match &error.origin {
            Origin::File { path, text, span } => {
                let source = NamedSource::new(path.display().to_string(), text.to_string());
                Some(Box::new((source, LabeledSpan::underline(span.clone()))))
            }
            Origin::Default | Origin::Environment | Origin::Flag => None,
        };
        let complaint = Self::new(Exit::Usage, error.error.what(), error.error.remedy());
        Self { place, ..complaint }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.what.fmt(f)
    }
}

impl std::error::Error for Complaint {}

impl Diagnostic for Complaint {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.remedy.as_ref().map(|remedy| Box::new(remedy) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place.as_ref().map(|place| &place.0 as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.place.as_ref()?;
        Some(Box::new(std::iter::once(place.1.clone())))
    }
}

/// Prints an error to stderr: in colour on a terminal that wants it, plain elsewhere, and where a name in it holds what
/// a terminal would obey.
pub(crate) fn show(complaint: &Complaint) {
    let plain = rendered(complaint, GraphicalTheme::none());
    if super::stderr::stderr_wants_colour() && visible(&plain) == plain {
        super::stderr::tell_styled(&rendered(complaint, GraphicalTheme::unicode()));
    } else {
        super::stderr::tell(&plain);
    }
}

/// The text of an error.
fn rendered(complaint: &Complaint, mut theme: GraphicalTheme) -> String {
    // The first line begins like clap's errors. Lines are not wrapped: the terminal wraps them, and scripts search
    // them.
    theme.characters.error = "error:".to_owned();
    let handler = GraphicalReportHandler::new_themed(theme).with_wrap_lines(false).with_links(false);
    let mut text = String::new();
    match handler.render_report(&mut text, complaint) {
        Ok(()) => text.trim().to_owned(),
        Err(_) => format!("error: {complaint}"),
    }
}
