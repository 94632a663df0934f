//! `--queues`: lengths of the fullest queues of ports over time.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use fsin::experiment::Experiment;
use fsin::report::{Queues, queues_csv, queues_svg};
use fsin::watch::Watch;

use crate::cli::output::NewFile;
use crate::cli::run::activity;
use crate::cli::watch::looking;
use crate::cli::{Complaint, Exit};

/// The flag.
const FLAG: &str = "queues";

/// Adds the flag to a command.
pub(crate) fn flags(command: Command) -> Command {
    let help = "Lengths of the fullest queues of ports over time, as a picture (FILE.svg) or a table (FILE.csv)";
    command.next_help_heading("Output").arg(
        Arg::new(FLAG)
            .long(FLAG)
            .value_name("FILE")
            .hide_short_help(true)
            .value_parser(value_parser!(PathBuf))
            .help(help),
    )
}

/// What is kept, and the file for it.
pub(crate) struct Kept {
    queues: Queues,
    file: NewFile,
    is_csv: bool,
    title: String,
    /// The unit of time of the picture, in cycles, and the name of the items that wait.
    unit: (&'static str, f64),
    packets: &'static str,
}

impl Kept {
    /// Begins with the run, if the flag is given.
    ///
    /// # Errors
    /// A network without ports, another observer, an unknown extension, a file that cannot be created.
    pub(crate) fn begin(matches: &ArgMatches, experiment: &Experiment) -> Result<Option<Self>, Complaint> {
        let Some(path) = matches.get_one::<PathBuf>(FLAG) else { return Ok(None) };
        let named = format!("--{FLAG} {}", path.display());
        let refuse = |what: String, remedy: &str| Err(Complaint::new(Exit::Usage, what, remedy));
        let other = looking::asked(matches).or_else(|| activity::is_asked(matches).then_some("activity"));
        if let Some(other) = other {
            return refuse(format!("a run has one observer: --{FLAG} or --{other}"), "leave one of them out");
        }
        let is_csv = match path.extension().and_then(|end| end.to_str()) {
            Some("csv") => true,
            Some("svg") => false,
            _ => {
                let what = format!("{named}: the ending of the name says what is written, and is .svg or .csv");
                return refuse(what, "name it so");
            }
        };
        let (Some(topology), Some(_)) = (experiment.topology(), experiment.network.room()) else {
            let network = experiment.model.component.name;
            let what = format!("--{FLAG} shows ports of routers, and --network {network} has none");
            return refuse(what, "leave it out, or use --network vct, wormhole or ethernet");
        };
        // A cycle of exactly a picosecond.
        let (unit, packets) = match experiment.network.cycle() {
            Some((1, 1)) => (("us", 1e6), "packets"),
            _ => (("cycles", 1.0), "phits"),
        };
        let queues = Queues::new(topology.outputs());
        let title = activity::title(experiment);
        Ok(Some(Self { queues, file: NewFile::create(named, path)?, is_csv, title, unit, packets }))
    }

    /// The observer of the run.
    pub(crate) fn watch(&mut self) -> &mut dyn Watch {
        &mut self.queues
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn end(self) -> Result<(), Complaint> {
        let Self { queues, file, is_csv, title, unit, packets } = self;
        let time = if unit.1 == 1.0 { "cycle" } else { "time_ps" };
        let text = if is_csv { queues_csv(&queues, time) } else { queues_svg(&title, &queues, unit, packets) };
        file.write(&mut |out| out.write_all(text.as_bytes()))
    }
}
