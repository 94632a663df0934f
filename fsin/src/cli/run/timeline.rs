//! `--timeline`: what each rank of an application does over time.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use fsin::experiment::Experiment;

use crate::cli::output::NewFile;
use crate::cli::{Complaint, Exit};

/// The flag.
const FLAG: &str = "timeline";

/// Adds the flag to a command.
pub(crate) fn flags(command: Command) -> Command {
    let help = "What each rank does over time, as trace events in JSON, which Perfetto shows: kernels and traces";
    command
        .next_help_heading("Output")
        .arg(Arg::new(FLAG).long(FLAG).value_name("FILE").value_parser(value_parser!(PathBuf)).help(help))
}

/// The file that the flag names; `None` without the flag.
///
/// # Errors
/// Traffic without ranks, a file that cannot be created.
pub(crate) fn begin(matches: &ArgMatches, experiment: &Experiment) -> Result<Option<NewFile>, Complaint> {
    let Some(path) = matches.get_one::<PathBuf>(FLAG) else { return Ok(None) };
    if !experiment.workload.has_timeline() {
        let what = "--timeline shows the ranks of one application, and this traffic has none";
        return Err(Complaint::new(Exit::Usage, what, "leave it out, or give --kernel or --trace"));
    }
    NewFile::create(format!("--timeline {}", path.display()), path).map(Some)
}
