//! `--event-counts`: counts of events at routers and links, for `fsin energy`.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use fsin::experiment::Experiment;

use crate::cli::output::NewFile;
use crate::cli::{Complaint, Exit};

/// The flag.
const FLAG: &str = "event-counts";

/// Adds the flag to a command.
pub(crate) fn flags(command: Command) -> Command {
    let help = "Flits from each input to each output of each router, and on each link, while measuring, as JSON lines for fsin energy: wormhole";
    command.next_help_heading("Output").arg(
        Arg::new(FLAG)
            .long(FLAG)
            .value_name("FILE")
            .hide_short_help(true)
            .value_parser(value_parser!(PathBuf))
            .help(help),
    )
}

/// The file that the flag names; `None` without the flag.
///
/// # Errors
/// A network that does not count flits at routers, a file that cannot be created.
pub(crate) fn begin(matches: &ArgMatches, experiment: &Experiment) -> Result<Option<NewFile>, Complaint> {
    let Some(path) = matches.get_one::<PathBuf>(FLAG) else { return Ok(None) };
    if !experiment.network.counts_events() {
        let network = experiment.model.component.name;
        let what = format!("--{FLAG} counts flits at routers, and --network {network} does not");
        return Err(Complaint::new(Exit::Usage, what, "leave it out, or use --network wormhole"));
    }
    NewFile::create(format!("--{FLAG} {}", path.display()), path).map(Some)
}
