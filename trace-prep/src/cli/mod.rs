//! The command line: arguments in, files and exit codes out. Everything else is in the libraries.

use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal, Write};

use clap::ArgMatches;
use miette::{GraphicalReportHandler, GraphicalTheme};
use trace_prep::output;
use trgen::quote::visible;

mod args;
mod change;
mod complaint;
mod describe;
mod input;
mod meter;
mod record;
mod store;

pub(crate) use self::complaint::Complaint;

/// Exit codes: success, failure during the work, unusable command line or input, deadlock of the trace, interrupted by
/// the user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Deadlock = 3,
    Interrupted = 130,
}

/// Prints an error to stderr, in the form used by clap and `fsin`. Lines are not wrapped: the terminal does so, and
/// scripts search them.
fn print_error(complaint: &Complaint) {
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let plain = rendered(complaint, GraphicalTheme::none());
    // A name that holds what a terminal would obey is shown without colours.
    if colour && visible(&plain) == plain {
        let _ = writeln!(io::stderr(), "{}", rendered(complaint, GraphicalTheme::unicode()));
    } else {
        write_stderr(&plain);
    }
}

/// The text of an error.
fn rendered(complaint: &Complaint, mut theme: GraphicalTheme) -> String {
    theme.characters.error = "error:".to_owned();
    let handler = GraphicalReportHandler::new_themed(theme).with_wrap_lines(false).with_links(false);
    let mut text = String::new();
    match handler.render_report(&mut text, complaint) {
        Ok(()) => text.trim().to_owned(),
        Err(_) => format!("error: {complaint}"),
    }
}

/// Writes a line for the user to stderr. A closed stderr is not an error.
pub(crate) fn write_stderr(line: &str) {
    let _ = writeln!(io::stderr(), "{}", visible(line));
}

/// Writes results to stdout. A reader that has gone is not an error.
pub(crate) fn write_stdout(text: &str) -> Result<(), Complaint> {
    match io::stdout().lock().write_all(visible(text).as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes a document to the new file given by `--output`, or to stdout.
pub(crate) fn write_document(matches: &ArgMatches, text: &str) -> Result<(), Complaint> {
    if !matches.contains_id("output") {
        return write_stdout(text);
    }
    output::file(&input::output(matches, "output")?, |out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(())
}

/// Prints what clap has to say of the command line, which may hold anything; returns the exit code.
fn refuse(error: &clap::Error) -> Exit {
    let plain = error.render().to_string();
    if !error.use_stderr() || visible(&plain) == plain {
        error.exit();
    }
    write_stderr(plain.trim_end());
    Exit::Usage
}

/// Runs the command with these words, its name and arguments; returns its exit code.
pub(crate) fn main(words: impl IntoIterator<Item = OsString>) -> Exit {
    let matches = match args::command().try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => return refuse(&error),
    };
    let result = match matches.subcommand() {
        Some(("import", matches)) => store::import(matches),
        Some(("expand", matches)) => store::expand(matches),
        Some(("export", matches)) => store::export(matches),
        Some(("check", matches)) => describe::check(matches),
        Some(("info", matches)) => describe::info(matches),
        Some(("matrix", matches)) => describe::matrix(matches),
        Some(("scale", matches)) => change::scale(matches),
        Some(("slice", matches)) => change::slice(matches),
        Some(("merge", matches)) => change::merge(matches),
        Some(("remap", matches)) => change::remap(matches),
        Some(("generate", matches)) => match matches.subcommand() {
            Some(("completions", matches)) => args::completions(matches),
            Some(("man", matches)) => args::man(matches),
            Some(("reference", matches)) => args::reference(matches),
            _ => change::generate(matches),
        },
        Some(("record", matches)) => record::record(matches),
        // Clap has already refused a missing or unknown subcommand.
        _ => Ok(Exit::Usage),
    };
    result.unwrap_or_else(|complaint| {
        print_error(&complaint);
        complaint.exit
    })
}
