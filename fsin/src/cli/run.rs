//! `fsin run` and `fsin config`.

use std::path::PathBuf;
use std::time::Instant;

use clap::ArgMatches;
use cpu_time::ProcessTime;
use fsin::dashboard;
use fsin::experiment::{
    Experiment, Finished, KEYS, Origin, Trouble, check, execute, execute_ideal, execute_watched, variable,
};
use fsin::report::{Costs, FORMATS, Format, figures, ideal_figures};

use super::looking::Looking;
use super::progress::Meter;
use super::{Complaint, Exit, Flags, args, interrupt, manifest, memory, output};

/// Runs one experiment.
pub(crate) fn run(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let experiment = args::one_experiment(args::settings(matches)?)?;
    let quiet = matches.get_flag("quiet");
    let folder = matches.get_one::<PathBuf>("output");
    if let Some(folder) = folder {
        output::check_folder(folder)?;
    }
    let is_ideal = experiment.ideal_latency.is_some();
    if is_ideal {
        let looking = ["tui", "monitor", "record-view"].into_iter().find(|flag| match *flag {
            "tui" => matches.get_flag(flag),
            flag => matches.contains_id(flag),
        });
        if let Some(flag) = looking {
            let what = format!("--{flag} has no meaning with --network ideal, which has no cycles and no routers");
            return Err(Complaint::new(Exit::Usage, what, "leave it out, or use --network router"));
        }
    } else {
        memory::check(&experiment)?;
    }
    let verbose = matches.get_flag("verbose");
    if verbose {
        tell_settings(&experiment);
    }
    if !quiet {
        let known = args::misspelt_variables().into_iter().chain(without_effect(&experiment));
        let foreseen = experiment.foreseen.iter().map(|warning| warning.written(&Flags));
        for warning in known.chain(foreseen) {
            output::tell(&format!("warning: {warning}"));
        }
    }
    if is_ideal {
        return ideal(matches, &experiment);
    }
    let stop = interrupt::listen(interrupt::OF_A_RUN)?;
    let opening = manifest::Opening::new(&experiment);
    let watch = Watch::start();

    let mut looking = Looking::begin(matches, || dashboard::of_experiment(&experiment), stop)?;
    let mut meter = Meter::new(quiet || looking.as_ref().is_some_and(Looking::has_terminal));
    let mut progress = |progress| {
        interrupt::loaded();
        meter.show(progress);
    };
    interrupt::loading();
    let finished = match &mut looking {
        Some(looking) => execute_watched(&experiment, stop, &mut progress, looking.watch()),
        None => execute(&experiment, stop, &mut progress),
    };
    interrupt::loaded();
    drop(meter);
    let costs = watch.costs();
    let recorded = match looking {
        Some(looking) => looking.end(&last_words(&finished)),
        None => Ok(()),
    };
    let finished = finished.map_err(|trouble| Complaint::of_trouble(trouble, experiment.settings()))?;

    let manifest = opening.close(&experiment, costs.cpu_seconds, costs.peak_memory_bytes);
    let figures = figures(&experiment, &finished, costs, manifest, &Flags);
    if !quiet {
        for note in &finished.notes {
            output::tell(&format!("note: {}", note.written(&Flags)));
        }
        // What was foreseen has been said.
        for warning in finished.outcome.warnings.iter().filter(|warning| !experiment.foreseen.contains(&warning.text)) {
            output::tell(&format!("warning: {}", warning.text.written(&Flags)));
        }
    }
    if verbose && let Some(cycles) = figures["warmup_cycles"].as_u64() {
        let state = if finished.outcome.converged == Some(false) { "the state is not steady" } else { "then measured" };
        output::tell(&format!("measuring: {cycles} cycles passed before, {state}"));
    }
    // A stdout that fails must not cost the results in the folder.
    let printed = output::print(format(matches), &figures);
    if let Some(folder) = folder {
        output::keep(folder, &figures, &experiment.to_toml())?;
    }
    printed?;
    recorded?;
    match &finished.outcome.failure {
        Some(failure) => Err(Complaint::of_failure(failure)),
        None if finished.outcome.complete => Ok(Exit::Done),
        None if stop.load(std::sync::atomic::Ordering::Relaxed) => Ok(Exit::Interrupted),
        // Only the limit of cycles ends a run otherwise.
        None if experiment.strict => Ok(Exit::Watchdog),
        None => Ok(Exit::Done),
    }
}

/// What there is to be said of a run that is over.
fn last_words(finished: &Result<Finished, Trouble>) -> Vec<String> {
    match finished {
        Ok(finished) => {
            let notes = finished.notes.iter().map(|note| format!("note: {}", note.written(&Flags)));
            let warnings =
                finished.outcome.warnings.iter().map(|warning| format!("warning: {}", warning.text.written(&Flags)));
            let failure = finished.outcome.failure.iter().map(|failure| format!("error: {failure}"));
            notes.chain(warnings).chain(failure).collect()
        }
        Err(trouble) => vec![format!("error: {}", trouble.what().written(&Flags))],
    }
}

/// Warnings of what a file or the environment sets and this experiment does not use. (Such a flag is refused.)
fn without_effect(experiment: &Experiment) -> Vec<String> {
    let (settings, effective) = (experiment.settings(), experiment.effective());
    let unused = KEYS.iter().filter(|key| !effective.iter().any(|(used, _)| used.name == key.name));
    unused
        .filter_map(|key| match settings.origin(key.name) {
            Origin::File { path, .. } => {
                Some(format!("{} sets `{}`, which has no effect here", path.display(), key.name))
            }
            Origin::Environment => Some(format!("{} has no effect here", variable(key.name))),
            Origin::Default | Origin::Flag => None,
        })
        .collect()
}

/// Says of every setting that is not a default who set it.
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

/// What a run costs.
struct Watch {
    processor: ProcessTime,
    wall: Instant,
}

impl Watch {
    fn start() -> Self {
        Self { processor: ProcessTime::now(), wall: Instant::now() }
    }

    fn costs(&self) -> Costs {
        Costs {
            cpu_seconds: Some(self.processor.elapsed().as_secs_f64()),
            wall_seconds: self.wall.elapsed().as_secs_f64(),
            peak_memory_bytes: manifest::peak_memory_bytes(),
        }
    }
}

/// Runs one experiment over an ideal network.
fn ideal(matches: &ArgMatches, experiment: &Experiment) -> Result<Exit, Complaint> {
    let quiet = matches.get_flag("quiet");
    let stop = interrupt::listen(interrupt::OF_A_RUN)?;
    let opening = manifest::Opening::new(experiment);
    let watch = Watch::start();
    let meter = Meter::new(quiet);
    let mut progress = |events| {
        interrupt::loaded();
        meter.events(events);
    };
    interrupt::loading();
    let run = execute_ideal(experiment, stop, &mut progress)
        .map_err(|trouble| Complaint::of_trouble(trouble, experiment.settings()))?;
    interrupt::loaded();
    drop(meter);
    let costs = watch.costs();
    let manifest = opening.close(experiment, costs.cpu_seconds, costs.peak_memory_bytes);
    let figures = ideal_figures(experiment, &run, costs, manifest, &Flags);
    if !quiet {
        run.notes.iter().for_each(|note| output::tell(&format!("note: {}", note.written(&Flags))));
        run.warnings.iter().for_each(|warning| output::tell(&format!("warning: {}", warning.written(&Flags))));
    }
    output::print(format(matches), &figures)?;
    if let Some(folder) = matches.get_one::<PathBuf>("output") {
        output::keep(folder, &figures, &experiment.to_toml())?;
    }
    match run.failure() {
        Some(failure) => Err(Complaint::of_failure(&failure)),
        None if run.complete => Ok(Exit::Done),
        None => Ok(Exit::Interrupted),
    }
}

/// Prints the effective experiment, if it is one that can be run.
pub(crate) fn config(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let experiment = args::one_experiment(args::settings(matches)?)?;
    if experiment.ideal_latency.is_none() {
        memory::check(&experiment)?;
    }
    check(&experiment).map_err(|trouble| Complaint::of_trouble(trouble, experiment.settings()))?;
    output::Document::open(matches)?.print(&experiment.to_toml())?;
    Ok(Exit::Done)
}

fn format(matches: &ArgMatches) -> Format {
    let name = matches.get_one::<String>("format").map_or("table", String::as_str);
    FORMATS.iter().find(|&&(known, _)| known == name).map_or(Format::Table, |&(_, format)| format)
}
