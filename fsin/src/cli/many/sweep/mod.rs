//! `fsin sweep`, `fsin point` and `fsin collect`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ArgMatches;
use clap::parser::ValueSource;
use fsin::experiment::{Carried, Key, keys, variable};
use fsin::sweep::{
    Collected, Grid, Plan, Slurm, Store, StoreError, Stored, as_several, collect, remarks, write_results,
};
use fsin::words::counted;
use serde_json::json;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::quote::shell;

use crate::cli::watch::showing::{self, Request, Showing};
use crate::cli::{Complaint, Exit, Flags, interrupt, output, settings, stamp};

mod elsewhere;
mod lists;
mod local;
mod worker;

use elsewhere::{commands, in_slurm};
pub(crate) use lists::{Unused, lists};
pub(crate) use local::point;
use local::{Watched, locally};

/// The values of `--backend`: the executors of points.
pub(crate) const BACKENDS: [&str; 3] = ["local", "commands", "slurm"];

impl From<StoreError> for Complaint {
    fn from(error: StoreError) -> Self {
        let exit = if error.usage { Exit::Usage } else { Exit::Failed };
        Self::new(exit, error.what, Phrase::of_template(error.remedy))
    }
}

/// The plan of a command line, or the stored plan if the command line has only `--resume`.
fn planned(matches: &ArgMatches, store: &Store) -> Result<Plan, Complaint> {
    let (lists, many, unused) = lists(matches, "sweep")?;
    let resume = matches.get_flag("resume");
    if resume && lists.is_empty() {
        let is_given = |flag: &&str| matches.value_source(flag) == Some(clap::parser::ValueSource::CommandLine);
        if let Some(flag) = ["stop-after", "skip-invalid"].into_iter().find(is_given) {
            let what = format!("--{flag} has no meaning with --resume alone, which goes on as the sweep was planned");
            return Err(Complaint::new(Exit::Usage, what, "leave it out, or sweep into a new folder"));
        }
        if !store.exists() && store.is_unplanned() {
            let what = format!("-o {}: the sweep was stopped before it was planned", store.root().display());
            return Err(Complaint::new(
                Exit::Usage,
                what,
                "give its whole command line again, with or without --resume",
            ));
        }
        return Ok(store.plan()?);
    }
    if !matches.get_flag("quiet") {
        warn_of_unused(&unused);
    }
    let grid = Grid::new(lists)?;
    let mut plan = Plan::new(&grid, many.stop_after, many.skip_invalid, &Flags).map_err(|error| {
        // The remedy shows how several values are written for a flag whose value is not split at commas.
        let parted = |key: &Key| grid.axes.iter().any(|axis| axis.key.name == key.name);
        // A switch has no words to split.
        let words = |key: &Key| matches.try_get_many::<String>(key.name).ok().flatten();
        let given = |key: &Key| words(key).into_iter().flatten();
        let several = |key: &Key| if parted(key) { None } else { given(key).find_map(|word| as_several(key, word)) };
        settings::with_several(error, several, |flags| phrase!["give it once for each value: ", flags])
    })?;
    if resume && store.has_lost_its_plan() {
        // `sweep` puts this plan in its place.
        return Ok(plan);
    }
    if store.exists() {
        let dry = matches.get_flag("dry-run");
        if !resume && !dry {
            let what = format!("-o {}: a sweep is already there", store.root().display());
            return Err(Complaint::new(Exit::Usage, what, "use --resume to finish it, or name a new folder"));
        }
        let stored = store.plan()?;
        plan.carry();
        if stored.same_points(&plan) {
            return Ok(stored);
        }
        if !dry {
            let what =
                format!("-o {}: the sweep there has other points than this command line", store.root().display());
            let of_environment =
                keys().iter().map(|key| variable(key.name)).filter(|name| std::env::var_os(name).is_some());
            let without = match of_environment.collect::<Vec<_>>().join(", ") {
                names if names.is_empty() => String::new(),
                names => format!(", without {names} in the environment"),
            };
            let remedy = format!("use `fsin sweep --resume -o DIR` alone to finish it{without}, or name a new folder");
            return Err(Complaint::new(Exit::Usage, what, remedy));
        }
    } else if !matches.get_flag("dry-run") && !store.is_unplanned() {
        output::check_folder(store.root())?;
    }
    Ok(plan)
}

/// Runs a sweep.
pub(crate) fn sweep(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let root = matches.get_one::<PathBuf>("output").cloned().unwrap_or_default();
    let store = Store::at(&root).timed(stamp::now);
    let backend = matches.get_one::<String>("backend").map_or("local", String::as_str);
    let request = showing::request(matches, backend)?;
    check_flags(matches, backend)?;
    if backend != "local" {
        elsewhere::check_name(store.root())?;
    }
    let mut plan = planned(matches, &store)?;
    let quiet = matches.get_flag("quiet");
    if !quiet {
        warn_of(&plan);
    }
    if matches.get_flag("dry-run") {
        return dry_run(&store, &plan);
    }
    if matches.get_flag("resume") && store.has_lost_its_plan() {
        let _lock = store.lock(true)?;
        store.set_plan_aside(&plan)?;
        output::tell("note: plan.json is damaged or missing: the sweep is planned again from this command line");
    }
    let inputs = if store.exists() { Carried::default() } else { plan.carry() };
    if !quiet {
        tell_left(&inputs);
    }
    let mut lock = Some(store.begin(&plan, &inputs)?);
    // As any process reads it that runs points.
    let plan = store.plan()?;
    if matches.get_flag("compact") {
        store.make_compact()?;
    }
    store.clean();
    for (index, why) in store.set_damaged_aside(&plan)? {
        let point = plan.describe(&plan.points[index]);
        output::tell(&format!("note: {point}: the stored result is damaged ({why}): it is run again"));
    }
    let before = collect(&store, &plan)?;
    let todo = to_run(&plan, &before);
    store.note("begin", None, json!({ "points": plan.points.len(), "to_run": todo.len(), "backend": backend }));
    let stop = interrupt::listen(local::stopping(&root))?;
    let mut showing = None;
    if backend == "local" {
        showing = run_here(matches, &store, &plan, (&before, &todo), request, stop)?;
    } else {
        // The processes that run the points share the folder.
        drop(lock.take());
        if !run_elsewhere(matches, backend, &store, &plan, &todo, stop)? {
            return Ok(Exit::Done);
        }
    }
    let collected = collect(&store, &plan)?;
    write_results(&store, &plan, &collected)?;
    store.note("end", None, json!({ "results": collected.rows.len(), "failed": collected.failed.len(), "missing": collected.missing.len() }));
    // The results are stored and the folder is unlocked, however long the dashboard stays open.
    drop(lock.take());
    if let Some(showing) = showing {
        showing.end(&plan, &collected);
    }
    if !quiet {
        print_summary(&store, &plan, &collected);
    }
    if stop.load(Ordering::Relaxed) && !collected.missing.is_empty() {
        output::tell(&format!("interrupted; continue with: fsin sweep --resume -o {}", shell(&root.to_string_lossy())));
        return Ok(Exit::Interrupted);
    }
    Ok(if collected.is_whole() { Exit::Done } else { Exit::PointsFailed })
}

/// Says which inputs are not kept with results.
pub(crate) fn tell_left(inputs: &Carried) {
    for input in inputs.left() {
        output::tell(&format!(
            "note: this input is not kept with the results, which can be run again only here: {input}"
        ));
    }
}

/// Prints warnings of settings of other commands on many experiments.
pub(crate) fn warn_of_unused(unused: &Unused) {
    let unused = unused.iter().filter_map(|(key, origin)| settings::without_effect_of(key, origin));
    unused.for_each(|warning| output::tell(&format!("warning: {warning}")));
}

/// Prints warnings about a plan.
fn warn_of(plan: &Plan) {
    let unused = plan.without_effect.iter().filter_map(|(key, origin)| settings::without_effect_of(key, origin));
    unused.for_each(|warning| output::tell(&format!("warning: {warning}")));
    if plan.version != env!("CARGO_PKG_VERSION") {
        let version = &plan.version;
        output::tell(&format!(
            "warning: this sweep was begun by version {version} of fsin; its points may differ from those of this one"
        ));
    }
    plan.left_out().iter().for_each(|line| output::tell(line));
}

/// The indices of the points to run: those that have not run, and those that failed without a result. A deadlock has a
/// result, and would recur.
fn to_run(plan: &Plan, before: &Collected) -> Vec<usize> {
    let has = |index: usize| before.rows.iter().any(|row| row.index == index);
    let failed = |index: usize| before.failed.iter().any(|&(at, _)| at == index) && !has(index);
    (0..plan.points.len()).filter(|&index| before.missing.contains(&index) || failed(index)).collect()
}

/// Number of threads of each point.
fn threads(plan: &Plan) -> Result<usize, Complaint> {
    Ok(plan.points.first().map_or(Ok(1), |point| point.resolve().map(|one| one.network.threads()))?)
}

/// Runs points in this process; returns the dashboard, if there is one.
fn run_here(
    matches: &ArgMatches,
    store: &Store,
    plan: &Plan,
    (before, todo): (&Collected, &[usize]),
    request: Option<Request>,
    stop: &'static AtomicBool,
) -> Result<Option<Showing>, Complaint> {
    let threads = threads(plan)?;
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = matches.get_one::<usize>("jobs").copied().unwrap_or_else(|| (processors() / threads).max(1));
    let showing = match request {
        Some(request) => Some(Showing::begin(request, store, plan, before, jobs, stop)?),
        None => None,
    };
    let watched = Watched { board: showing.as_ref().and_then(Showing::board), stop };
    locally(store, plan, todo, jobs, watched, matches.get_flag("quiet"), matches.get_flag("verbose"))?;
    Ok(showing)
}

/// Delegates points to other processes. Returns true if these have ended.
fn run_elsewhere(
    matches: &ArgMatches,
    backend: &str,
    store: &Store,
    plan: &Plan,
    todo: &[usize],
    stop: &AtomicBool,
) -> Result<bool, Complaint> {
    if backend == "commands" {
        commands(store, plan, todo)?;
        return Ok(false);
    }
    let options = matches.get_many::<String>("slurm-option").into_iter().flatten().cloned().collect();
    let pack = matches.get_one::<usize>("pack").copied().unwrap_or(1);
    let at_once = matches.get_one::<usize>("jobs").copied().unwrap_or(0);
    let slurm = Slurm { at_once, pack, threads: threads(plan)?, options };
    in_slurm(store, plan, todo, &slurm, matches.get_flag("detach"), stop, matches.get_flag("quiet"))
}

/// Rejects flags that do not apply to the executor of the points.
fn check_flags(matches: &ArgMatches, backend: &str) -> Result<(), Complaint> {
    for (flag, backends) in [
        ("pack", ["slurm"].as_slice()),
        ("slurm-option", &["slurm"]),
        ("detach", &["slurm"]),
        ("jobs", &["slurm", "local"]),
        // Appending to one file from several hosts is not safe everywhere.
        ("compact", &["local"]),
    ] {
        if matches.value_source(flag) == Some(ValueSource::CommandLine) && !backends.contains(&backend) {
            let what = format!("--{flag} has no effect with --backend {backend}");
            let remedy = format!("leave it out, or use --backend {}", backends[0]);
            return Err(Complaint::new(Exit::Usage, what, remedy));
        }
    }
    Ok(())
}

/// Lists the points with their identities and values, and runs none.
fn dry_run(store: &Store, plan: &Plan) -> Result<Exit, Complaint> {
    let mut text = String::new();
    let mut todo = 0;
    for point in &plan.points {
        let state = match store.stored(point, plan.has_checksums())? {
            Stored::Whole(_) => "done",
            Stored::Absent => "to run",
            Stored::Damaged(why) => {
                let point = plan.describe(point);
                output::tell(&format!("note: {point}: the stored result is damaged ({why}): it will be run again"));
                "to run"
            }
        };
        todo += usize::from(state == "to run");
        text.push_str(&format!("{}  {state:6}  {}\n", point.id, plan.describe(point)));
    }
    output::print_text(&text)?;
    output::tell(&format!("{}, {todo} to run", counted(plan.points.len(), "point", "points")));
    Ok(Exit::Done)
}

/// Prints how many points have results, and which have failed.
fn print_summary(store: &Store, plan: &Plan, collected: &Collected) {
    for (index, why) in &collected.failed {
        output::tell(&format!("failed: {}: {why}", plan.describe(&plan.points[*index])));
    }
    let saturated = collected.rows.iter().filter(|row| row.result.is_saturated()).count();
    let undecided = collected.rows.iter().filter(|row| row.result.is_undecided()).count();
    let points = counted(plan.points.len(), "point has", "points have");
    let mut line = format!("{} of {points} results", collected.rows.len());
    for (count, what) in [
        (saturated, "saturated"),
        (undecided, "undecided"),
        (collected.incomplete(), "of runs that did not come to their end"),
        (collected.left_out, "beyond saturation and left out"),
        (collected.failed.len(), "failed"),
        (collected.missing.len(), "missing"),
    ] {
        if count > 0 {
            line.push_str(&format!(", {count} {what}"));
        }
    }
    output::tell(&format!("{line}: {}", store.root().join("results.csv").display()));
    output::warn_of_runs("", collected);
    remarks(plan, collected).iter().for_each(|remark| output::tell(&format!("note: {remark}")));
}

/// `fsin collect`: collects the available results, whichever executor ran the points.
pub(crate) fn gather(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let store =
        Store::at(matches.get_one::<PathBuf>("folder").map_or(Path::new(""), PathBuf::as_path)).timed(stamp::now);
    let plan = store.plan()?;
    let collected = collect(&store, &plan)?;
    write_results(&store, &plan, &collected)?;
    if !matches.get_flag("quiet") {
        print_summary(&store, &plan, &collected);
    }
    Ok(if collected.is_whole() { Exit::Done } else { Exit::PointsFailed })
}
