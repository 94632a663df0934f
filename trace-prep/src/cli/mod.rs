//! The command line: words in, files and exit codes out. Everything else is the libraries'.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};
use trgen::SourceError;
use trgen::catalog::Refusal;
use trgen::trace::container::ContainerError;
use trgen::trace::formats::ReadError;
use trgen::trace::formats::write::WriteError;

mod args;
mod change;
mod input;
mod look;
mod meter;
mod record;
mod store;

/// Exit codes: done, failed while working, unusable command line or input, deadlock of the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Deadlock = 3,
}

/// An error on its way to the user.
#[derive(Debug)]
pub(crate) struct Complaint {
    what: String,
    remedy: String,
    exit: Exit,
}

impl Complaint {
    pub(crate) fn new(exit: Exit, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into(), exit }
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
        let remedy = error.remedy().unwrap_or_else(|| "correct the line, or give another file".to_owned());
        Self::new(Exit::Usage, error.to_string(), remedy)
    }
}

impl From<ContainerError> for Complaint {
    fn from(error: ContainerError) -> Self {
        let place = error.byte.map_or_else(String::new, |byte| format!(" at byte {byte}"));
        Self::new(Exit::Usage, format!("the container{place}: {error}"), error.remedy)
    }
}

impl From<Refusal> for Complaint {
    fn from(refusal: Refusal) -> Self {
        Self::new(Exit::Usage, refusal.to_string(), refusal.remedy())
    }
}

impl From<io::Error> for Complaint {
    fn from(error: io::Error) -> Self {
        Self::new(
            Exit::Failed,
            format!("cannot write: {error}"),
            "name a file in a place where you may write, with room",
        )
    }
}

impl From<WriteError> for Complaint {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Io(error) => error.into(),
            other => Self::new(Exit::Usage, other.to_string(), "export to another format: trg and ti know more events"),
        }
    }
}

impl From<SourceError> for Complaint {
    fn from(error: SourceError) -> Self {
        Self::new(Exit::Usage, error.to_string(), "the trace contradicts itself: record or import it again")
    }
}

impl From<trace_prep::otf2::PrintError> for Complaint {
    fn from(error: trace_prep::otf2::PrintError) -> Self {
        let remedy =
            "install the tools of OTF2 (Debian: otf2-tools), or print it elsewhere: otf2-print -A FILE > TRACE.txt";
        Self::new(Exit::Usage, error.to_string(), remedy)
    }
}

impl From<trace_prep::dumpi::PrintError> for Complaint {
    fn from(error: trace_prep::dumpi::PrintError) -> Self {
        use trace_prep::dumpi::PrintError;
        match error {
            PrintError::Read(error) => error.into(),
            PrintError::Io { .. } => Self::new(
                Exit::Usage,
                error.to_string(),
                "install the tools of DUMPI (sst-dumpi), or print each rank elsewhere: dumpi2ascii NAME-0000.bin > \
                 NAME-0000.txt and so on; the folder of the texts can be imported",
            ),
            PrintError::Refused { .. } => Self::new(
                Exit::Usage,
                error.to_string(),
                "the file may be damaged or cut short, or the tool older than it: print it by hand to see more",
            ),
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
        Self::new(Exit::Usage, error.to_string(), "export to trg or ti instead")
    }
}

/// A line for the user, on stderr. Nobody listening is no error.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Writes results to stdout. A reader that has gone is no error.
pub(crate) fn print(text: &str) -> Result<(), Complaint> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

pub(crate) fn main() -> ExitCode {
    let matches = args::command().get_matches();
    let result = match matches.subcommand() {
        Some(("import", matches)) => store::import(matches),
        Some(("expand", matches)) => store::expand(matches),
        Some(("export", matches)) => store::export(matches),
        Some(("check", matches)) => look::check(matches),
        Some(("info", matches)) => look::info(matches),
        Some(("matrix", matches)) => look::matrix(matches),
        Some(("scale", matches)) => change::scale(matches),
        Some(("slice", matches)) => change::slice(matches),
        Some(("merge", matches)) => change::merge(matches),
        Some(("remap", matches)) => change::remap(matches),
        Some(("generate", matches)) => change::generate(matches),
        Some(("record", matches)) => record::record(matches),
        Some(("completions", matches)) => args::completions(matches),
        Some(("man", _)) => args::man(),
        // Clap has already refused a missing or unknown subcommand.
        _ => Ok(Exit::Usage),
    };
    let exit = result.unwrap_or_else(|complaint| {
        let mut text = String::new();
        let theme = GraphicalTheme::unicode_nocolor();
        let shown = GraphicalReportHandler::new_themed(theme).with_width(120).render_report(&mut text, &complaint);
        tell(if shown.is_ok() { text.trim_end() } else { &complaint.what });
        complaint.exit
    });
    ExitCode::from(exit as u8)
}
