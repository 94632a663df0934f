//! `fsin run` and `fsin config`.

pub(crate) mod activity;
pub(crate) mod events;
pub(crate) mod legacy;
pub(crate) mod log;
pub(crate) mod memory;
pub(crate) mod pcap;
pub(crate) mod perform;
pub(crate) mod progress;
pub(crate) mod queues;
pub(crate) mod rerun;
pub(crate) mod timeline;

use std::collections::HashMap;
use std::path::PathBuf;

use clap::ArgMatches;
use fsin::couple::PacketLog;
use fsin::experiment::memory::check as check_memory;
use fsin::experiment::{
    Carried, Experiment, Inputs, Options, Origin, Performed, check, energy, simulator_of, variable,
};
use fsin::report::{FORMATS, Format, write_timeline};
use fsin::stats::Arrival;

use crate::cli::many::sweep::tell_left;
use crate::cli::run::log::Log;
use crate::cli::run::perform::perform;
use crate::cli::run::progress::Meter;
use crate::cli::watch::looking::{self, Looking};
use crate::cli::{Complaint, Exit, Flags, interrupt, output, settings};

/// Runs one experiment.
pub(crate) fn run(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let experiment = settings::one_experiment(settings::read(matches)?)?;
    let quiet = matches.get_flag("quiet");
    let folder = matches.get_one::<PathBuf>("output");
    if let Some(folder) = folder {
        output::check_folder(folder)?;
    }
    let is_ideal = experiment.runs.by_hosts();
    if is_ideal && let Some(flag) = looking::asked(matches) {
        let what = format!(
            "--{flag} has no meaning with --network {}, which has no cycles and no routers",
            experiment.model.component.name
        );
        return Err(Complaint::new(Exit::Usage, what, "leave it out, or use --network vct"));
    }
    check_memory(&experiment)?;
    let verbose = matches.get_flag("verbose");
    // The inputs as they are now, before a run that may take hours.
    let kept = folder.map(|_| {
        let mut inputs = Carried::default();
        let text = inputs.text(&mut Inputs::default(), &experiment.to_toml());
        (inputs, text)
    });
    if verbose {
        tell_settings(&experiment);
    }
    if !quiet {
        kept.iter().for_each(|(inputs, _)| tell_left(inputs));
        let foreseen = experiment.foreseen.iter().map(|warning| warning.written(&Flags));
        for warning in settings::without_effect(&experiment).into_iter().chain(foreseen) {
            output::tell(&format!("warning: {warning}"));
        }
    }
    let stop = interrupt::listen(interrupt::OF_A_RUN)?;
    let mut looking = match is_ideal {
        true => None,
        false => Looking::of_experiment(matches, &experiment, stop)?,
    };
    let (network, capture) = pcap::begin(matches, &experiment)?.unzip();
    let timeline = timeline::begin(matches, &experiment)?;
    let mut activity = activity::Kept::begin(matches, &experiment)?;
    let mut queues = queues::Kept::begin(matches, &experiment)?;
    let events = events::begin(matches, &experiment)?;
    let mut packets = Log::of_packets(matches, &experiment)?;
    let messages = Log::of_messages(matches, &experiment)?;
    let mut log = packets.as_mut().map(|log| |arrivals: &[Arrival]| log.packets(arrivals));
    let log = log.as_mut().map(|log| log as PacketLog<'_>);
    let mut meter = Meter::new(quiet || looking.as_ref().is_some_and(Looking::has_terminal));
    let mut progress = |step| {
        interrupt::loaded();
        meter.show(step);
    };
    interrupt::loading();
    let watch = match (&mut activity, &mut queues) {
        (Some(kept), _) => Some(kept.watch()),
        (_, Some(kept)) => Some(kept.watch()),
        _ => looking.as_mut().map(Looking::watch),
    };
    let mut options =
        Options::default().stop(stop).progress(&mut progress).timeline(timeline.is_some()).events(events.is_some());
    if let Some(watch) = watch {
        options = options.watch(watch);
    }
    if let Some(network) = network {
        options = options.network(network);
    }
    if let Some(log) = log {
        options = options.log(log);
    }
    let performed = perform(&experiment, options, true);
    interrupt::loaded();
    drop(meter);
    let recorded = match looking {
        Some(looking) => looking.end(&last_words(&performed)),
        None => Ok(()),
    };
    let acted = activity.map_or(Ok(()), activity::Kept::end).and(queues.map_or(Ok(()), queues::Kept::end));
    let captured = capture.map_or(Ok(()), pcap::Recording::end);
    let logged = packets.map_or(Ok(()), Log::end);
    let Performed { result, failure, messages: times, timeline: over_time, counts, .. } = performed?;
    let counted = match (events, counts) {
        (Some(file), Some(counts)) => file.write(&mut |mut out| energy::write(&counts, &mut out)),
        _ => Ok(()),
    };
    let timed = messages.map_or(Ok(()), |mut log| {
        log.messages(times.as_deref().unwrap_or_default());
        log.end()
    });
    let drawn = timeline.map_or(Ok(()), |file| {
        let effective: HashMap<&str, String> =
            experiment.effective().into_iter().map(|(key, value)| (key.name, value.to_string())).collect();
        let name = experiment.workload.title(&|key| effective.get(key).cloned().unwrap_or_default());
        file.write(&mut |out| write_timeline(&name, &over_time, out))
    });
    if !quiet {
        for note in &result.notes {
            output::tell(&format!("note: {note}"));
        }
        // Warnings known before the run have been printed.
        let foreseen: Vec<String> = experiment.foreseen.iter().map(|text| text.written(&Flags)).collect();
        for warning in result.warnings.iter().filter(|warning| !foreseen.contains(warning)) {
            output::tell(&format!("warning: {warning}"));
        }
    }
    if verbose && let Some(cycles) = result.warmup_cycles {
        let state = if result.converged == Some(false) { "the state is not steady" } else { "then measured" };
        output::tell(&format!("measuring: {cycles} cycles passed before, {state}"));
    }
    let format = format(matches);
    let mut stored = result.clone();
    kept.iter().for_each(|(inputs, _)| inputs.rename(&mut stored));
    // A failure of stdout must not lose the results in the folder. A table is read where the inputs have their names.
    let printed = output::print(format, if format == Format::Table { &result } else { &stored });
    if let Some((folder, (inputs, text))) = folder.zip(kept) {
        output::keep(folder, &stored, &text, &inputs)?;
    }
    printed?;
    recorded?;
    acted?;
    captured?;
    logged?;
    timed?;
    drawn?;
    counted?;
    match &failure {
        Some(failure) => Err(Complaint::of_failure(failure)),
        None if result.complete => Ok(Exit::Done),
        None if stop.load(std::sync::atomic::Ordering::Relaxed) => Ok(Exit::Interrupted),
        // Otherwise only the limit of cycles ends a run.
        None if experiment.strict => Ok(Exit::Watchdog),
        None => Ok(Exit::Done),
    }
}

/// The messages at the end of a run, for the log of the dashboard.
fn last_words(performed: &Result<Performed, Complaint>) -> Vec<String> {
    match performed {
        Ok(Performed { result, failure, .. }) => {
            let notes = result.notes.iter().map(|note| format!("note: {note}"));
            let warnings = result.warnings.iter().map(|warning| format!("warning: {warning}"));
            let failure = failure.iter().map(|failure| format!("error: {failure}"));
            notes.chain(warnings).chain(failure).collect()
        }
        Err(complaint) => vec![format!("error: {complaint}")],
    }
}

/// Reports the origin of every setting that is not a default.
fn tell_settings(experiment: &Experiment) {
    let settings = experiment.settings();
    for (key, value) in experiment.effective() {
        let by = match settings.origin(key.name) {
            Origin::Default => continue,
            Origin::File { path, .. } => path.display().to_string(),
            Origin::Environment => variable(key.name),
            Origin::Flag => format!("--{}", key.name),
        };
        output::tell(&format!("{} = {value}, set by {by}", key.name));
    }
}

/// Prints the effective experiment, if it can be run.
pub(crate) fn config(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let experiment = settings::one_experiment(settings::read(matches)?)?;
    check_memory(&experiment)?;
    check(&experiment).map_err(|trouble| Complaint::of_trouble(trouble, experiment.settings()))?;
    output::Document::open(matches)?.print(&experiment.to_toml())?;
    Ok(Exit::Done)
}

/// Prints the experiment that a configuration of a simulator means.
pub(crate) fn import(simulator: &str, matches: &ArgMatches) -> Result<Exit, Complaint> {
    let path = matches.get_one::<PathBuf>("experiment");
    // A file that cannot be read is refused where the settings are read.
    let text = path.and_then(|path| std::fs::read_to_string(path).ok());
    if let (Some(path), Some(text)) = (path, text) {
        let (what, form) = match (simulator_of(&text), simulator) {
            (Some(of), _) if of != simulator => (format!("of {of}"), format!("use fsin import {of}")),
            (None, "hpcc") => {
                ("of none".to_owned(), "a line of a configuration is `NAME VALUE`, as in CC_MODE 1".to_owned())
            }
            _ => return config(matches),
        };
        let what = format!("{}: no configuration of {simulator}, but {what}", path.display());
        return Err(Complaint::new(Exit::Usage, what, form));
    }
    config(matches)
}

/// The format that `--format` chooses.
fn format(matches: &ArgMatches) -> Format {
    let name = matches.get_one::<String>("format").map_or("table", String::as_str);
    FORMATS.iter().find(|&&(known, _)| known == name).map_or(Format::Table, |&(_, format)| format)
}
