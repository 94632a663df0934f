//! Errors as users read them: problem, location and remedy.

use std::fmt;

use fsin::couple::Failure;
use fsin::experiment::{Origin, Settings, SettingsError, Trouble};
use fsin::network::NetworkFailure;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::quote::visible;
use trgen::trace::formats::Fault;
use trgen::{Wait, WaitCause};

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
        const REMEDY_OF_DEADLOCK: &str = "with --network vct use a routing that avoids deadlock (fsin list routings), or --bubble 2; \
                                          with --network wormhole leave out --unsafe-routing; with --network ethernet use \
                                          forwarding=learning, whose tree has no circle, or pause=false";
        let (exit, lines, remedy) = match failure {
            Failure::Network(NetworkFailure::Deadlock(deadlock)) => {
                let waits = if deadlock.refusing.is_empty() { "waits for room in" } else { "waits for" };
                let mut lines: Vec<String> = deadlock
                    .cycle
                    .iter()
                    .zip(deadlock.cycle.iter().cycle().skip(1))
                    .map(|(channel, next)| format!("{channel} {waits} {next}"))
                    .collect();
                lines.extend(deadlock.refusals());
                let remedy = match deadlock.refusing[..] {
                    [] => REMEDY_OF_DEADLOCK,
                    _ => {
                        "requests hold up the replies that would make room for them: give both virtual channels of their own, with \
                         --message-classes 2"
                    }
                };
                (Exit::Watchdog, lines, remedy)
            }
            Failure::Network(NetworkFailure::Storm(storm)) => {
                let lines = storm.cycle.iter().map(ToString::to_string).collect();
                (Exit::Watchdog, lines, "use a spanning tree, or a network without a circle of switches")
            }
            Failure::Network(NetworkFailure::Livelock(_)) => (
                Exit::Watchdog,
                Vec::new(),
                "hosts that repeat what is lost at once meet the same full queues again and again: use recovery=backoff, or \
                 longer queues (port-queue)",
            ),
            Failure::ClockEnd { .. } => (
                Exit::Watchdog,
                Vec::new(),
                "the results so far are marked complete: false; check the times and rates that were given, or end the run \
                 before (--max-cycles)",
            ),
            Failure::TrafficDeadlock { waits, .. } | Failure::Stuck { waits } => {
                (Exit::Watchdog, waits.iter().map(ToString::to_string).collect(), remedy_of_waits(waits))
            }
            Failure::Unmatched { shown, .. } => (
                Exit::Watchdog,
                shown.clone(),
                "all tasks ended, but the program cannot have ended so: the trace may be cut, or its receive lines read in the \
                 wrong order; the results have `complete: false`",
            ),
            Failure::Source(error) => {
                let exit = if error.of_input { Exit::Usage } else { Exit::Failed };
                (exit, Vec::new(), "the results so far are marked complete: false")
            }
        };
        let mut what = failure.to_string();
        for line in lines.iter().take(SHOWN) {
            what.push_str("\n  ");
            what.push_str(line);
        }
        if lines.len() > SHOWN {
            what.push_str(&format!("\n  ... and {} more", lines.len() - SHOWN));
        }
        Self::new(exit, what, remedy)
    }
}

/// The remedy for tasks that wait forever.
fn remedy_of_waits(waits: &[Wait]) -> &'static str {
    if waits.iter().any(|wait| wait.cause == WaitCause::Receiver) {
        "sends above --eager wait for their receiver: raise --eager or leave it out; if the receive lines of a .trc were \
         read in the wrong order, give the other --recv-order"
    } else if waits.iter().any(|wait| wait.cause == WaitCause::Loss) {
        "a program does not send a lost message again: let the network recover losses (--recovery of ethernet), and with \
         --fail let fewer links fail, or repair them before they are needed"
    } else {
        "check that every receive of the trace has a matching send (source, destination, tag), and that tasks do not wait \
         for each other in a circle: `trace-prep check` says which it is"
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
