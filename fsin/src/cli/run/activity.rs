//! `--activity`: what links and injection queues do over time.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use fsin::activity::Activity;
use fsin::experiment::Experiment;
use fsin::report::{activity_csv, activity_svg};
use fsin::watch::Watch;

use crate::cli::output::NewFile;
use crate::cli::watch::looking;
use crate::cli::{Complaint, Exit};

/// The flag.
const FLAG: &str = "activity";

/// Adds the flag to a command.
pub(crate) fn flags(command: Command) -> Command {
    let help = "Shares of links and injection queues that are idle or busy over time, as a picture (FILE.svg) or a table (FILE.csv); \
                with --link-loads";
    command
        .next_help_heading("Output")
        .arg(Arg::new(FLAG).long(FLAG).value_name("FILE").value_parser(value_parser!(PathBuf)).help(help))
}

/// True if the flag is given.
pub(crate) fn is_asked(matches: &ArgMatches) -> bool {
    matches.contains_id(FLAG)
}

/// What is kept, and the file for it.
pub(crate) struct Kept {
    activity: Activity,
    file: NewFile,
    is_csv: bool,
    title: String,
}

impl Kept {
    /// Begins with the run, if the flag is given.
    ///
    /// # Errors
    /// A network without routers whose packets all have the same length, another observer, an ending that says nothing, a
    /// file that cannot be created.
    pub(crate) fn begin(matches: &ArgMatches, experiment: &Experiment) -> Result<Option<Self>, Complaint> {
        let Some(path) = matches.get_one::<PathBuf>(FLAG) else { return Ok(None) };
        let named = format!("--{FLAG} {}", path.display());
        let refuse = |what: String, remedy: &str| Err(Complaint::new(Exit::Usage, what, remedy));
        if let Some(other) = looking::asked(matches) {
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
        let (Some(topology), Some(room), true) =
            (experiment.topology(), experiment.network.room(), experiment.units.is_padded)
        else {
            let network = experiment.model.component.name;
            let what = format!("--{FLAG} counts packets of one length at routers, and --network {network} has none");
            return refuse(what, "leave it out, or use --network vct");
        };
        if !experiment.link_loads {
            return refuse(format!("--{FLAG} needs the loads of links"), "add --link-loads");
        }
        let outputs = topology.outputs();
        let ends = outputs.all().enumerate();
        let links =
            ends.filter(|&(_, (node, port))| topology.neighbour(node, port).is_some()).map(|(at, _)| at).collect();
        let activity = Activity::new(links, topology.endpoints(), experiment.units.packet_phits, room.injection_phits);
        Ok(Some(Self { activity, file: NewFile::create(named, path)?, is_csv, title: title(experiment) }))
    }

    /// The observer of the run.
    pub(crate) fn watch(&mut self) -> &mut dyn Watch {
        &mut self.activity
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn end(self) -> Result<(), Complaint> {
        let shares = self.activity.shares();
        let text = if self.is_csv { activity_csv(&shares) } else { activity_svg(&self.title, &shares) };
        self.file.write(&mut |out| out.write_all(text.as_bytes()))
    }
}

/// The network and the traffic of an experiment in words.
pub(crate) fn title(experiment: &Experiment) -> String {
    let effective = experiment.effective();
    let value = |name: &str| effective.iter().find(|(key, _)| key.name == name).map(|(_, value)| value.to_string());
    let traffic = experiment.workload.title(&|key| value(key).unwrap_or_default());
    format!("{}, {traffic}", value("topology").unwrap_or_default())
}
