//! `fsin sweep`, `fsin point` and `fsin collect`.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::ArgMatches;
use clap::parser::ValueSource;
use fsin::dashboard::of_result;
use fsin::experiment::{KEYS, Key, Kind, Lists, Origin, Setting, SettingsError, read_lists, variable};
use fsin::sweep::{
    Collected, Grid, Plan, Point, Slurm, StopRule, Store, StoreError, as_several, collect, split_at_commas,
    write_results,
};
use fsin::watch::Watch;
use serde_json::{Value, json};
use tui::board::Board;
use tui::view::PointState;

use super::perform::perform_watched;
use super::progress::Points;
use super::showing::{Showing, watcher};
use super::{Complaint, Exit, args, interrupt, looking, output};

/// Who runs points, by the names that `--backend` knows.
pub(crate) const BACKENDS: [&str; 3] = ["local", "commands", "slurm"];

impl From<StoreError> for Complaint {
    fn from(error: StoreError) -> Self {
        let exit = if error.usage { Exit::Usage } else { Exit::Failed };
        Self::new(exit, error.what, error.remedy)
    }
}

/// The lists of values that a command line means: file, then environment, then flags.
pub(crate) fn lists(matches: &ArgMatches) -> Result<Lists, SettingsError> {
    let mut lists = match matches.get_one::<PathBuf>("experiment") {
        Some(path) => read_lists(path)?,
        None => Lists::new(),
    };
    for key in KEYS {
        let split = |word: &String, origin: Origin| {
            split_at_commas(key, word)
                .into_iter()
                .map(move |value| Setting { value, origin: origin.clone(), listed: true })
                .collect::<Vec<_>>()
        };
        let flags: Vec<Setting> = match key.kind {
            Kind::Switch if matches.get_flag(key.name) => split(&true.to_string(), Origin::Flag),
            Kind::Switch => Vec::new(),
            _ => matches
                .get_many::<String>(key.name)
                .into_iter()
                .flatten()
                .flat_map(|word| split(word, Origin::Flag))
                .collect(),
        };
        if !flags.is_empty() {
            lists.insert(key.name, flags);
        } else if let Some(value) = std::env::var_os(variable(key.name)) {
            lists.insert(key.name, split(&value.to_string_lossy().into_owned(), Origin::Environment));
        }
    }
    if let Some(&replicas) = matches.get_one::<u64>("seeds") {
        let given = lists.remove("seed").unwrap_or_default();
        let first = match &*given {
            [] => 1,
            [only] if only.value.parse::<u64>().is_ok_and(|seed| seed < i64::MAX as u64 - replicas) => {
                only.value.parse().unwrap_or(1)
            }
            [first, ..] => {
                return Err(SettingsError {
                    what: format!("--seeds {replicas} takes one first seed, not `{}`", first.value),
                    remedy: "leave out --seeds, or give one seed".to_owned(),
                    origin: first.origin.clone(),
                });
            }
        };
        let seed = |seed: u64| Setting { value: seed.to_string(), origin: Origin::Flag, listed: true };
        lists.insert("seed", (first..first + replicas).map(seed).collect());
    }
    Ok(lists)
}

/// The plan of a command line, or the one in the folder with `--resume` and nothing else.
fn planned(matches: &ArgMatches, store: &Store) -> Result<Plan, Complaint> {
    let lists = lists(matches)?;
    let resume = matches.get_flag("resume");
    if resume && lists.is_empty() {
        let is_given = |flag: &&str| matches.value_source(flag) == Some(clap::parser::ValueSource::CommandLine);
        if let Some(flag) = ["stop-after", "skip-invalid"].into_iter().find(is_given) {
            let what = format!("--{flag} has no meaning with --resume alone, which goes on as the sweep was planned");
            return Err(Complaint::new(Exit::Usage, what, "leave it out, or sweep into a new folder"));
        }
        return Ok(store.plan()?);
    }
    let stop_after = matches.get_one::<u64>("stop-after").copied().unwrap_or(0);
    let grid = Grid::new(lists)?;
    let plan = Plan::new(&grid, stop_after, matches.get_flag("skip-invalid")).map_err(|error| {
        // Of flags that were not parted at commas.
        let parted = |key: &Key| grid.axes.iter().any(|axis| axis.key.name == key.name);
        let given = |key: &Key| matches.get_many::<String>(key.name).into_iter().flatten();
        let several = |key: &Key| if parted(key) { None } else { given(key).find_map(|word| as_several(key, word)) };
        args::with_several(error, several, |flags| format!("give it once for each value: {flags}"))
    })?;
    if store.exists() && !matches.get_flag("dry-run") {
        if !resume {
            let what = format!("-o {}: a sweep is already there", store.root().display());
            return Err(Complaint::new(Exit::Usage, what, "use --resume to finish it, or name a new folder"));
        }
        if !store.plan()?.same_points(&plan) {
            let what =
                format!("-o {}: the sweep there has other points than this command line", store.root().display());
            let of_environment =
                KEYS.iter().map(|key| variable(key.name)).filter(|name| std::env::var_os(name).is_some());
            let without = match of_environment.collect::<Vec<_>>().join(", ") {
                names if names.is_empty() => String::new(),
                names => format!(", without {names} in the environment"),
            };
            let remedy = format!("use `fsin sweep --resume -o DIR` alone to finish it{without}, or name a new folder");
            return Err(Complaint::new(Exit::Usage, what, remedy));
        }
    } else if !matches.get_flag("dry-run") {
        output::check_folder(store.root())?;
    }
    Ok(plan)
}

/// Runs a sweep.
pub(crate) fn sweep(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let root = matches.get_one::<PathBuf>("output").cloned().unwrap_or_default();
    let store = Store::at(&root);
    let backend = matches.get_one::<String>("backend").map_or("local", String::as_str);
    let tui = matches.get_flag("tui");
    if tui {
        can_be_shown(backend)?;
    }
    has_effect(matches, backend)?;
    let plan = planned(matches, &store)?;
    let quiet = matches.get_flag("quiet");
    if !quiet {
        for warning in args::misspelt_variables() {
            output::tell(&format!("warning: {warning}"));
        }
        if plan.version != env!("CARGO_PKG_VERSION") {
            let line =
                "warning: this sweep was begun by version {} of fsin; its points may differ from those of this one";
            output::tell(&line.replace("{}", &plan.version));
        }
        plan.left_out().iter().for_each(|line| output::tell(line));
    }
    if matches.get_flag("dry-run") {
        return dry_run(&store, &plan);
    }
    if !store.exists() {
        store.create(&plan)?;
    }
    let mut lock = Some(store.lock(true)?);
    store.clean();
    let before = collect(&store, &plan)?;
    // Points without result are tried again; one that ended in a deadlock would do so again.
    let has = |index: usize| before.rows.iter().any(|row| row.index == index);
    let todo: Vec<usize> = (0..plan.points.len())
        .filter(|&index| {
            before.missing.contains(&index) || before.failed.iter().any(|&(at, _)| at == index) && !has(index)
        })
        .collect();
    store.note("begin", None, json!({ "points": plan.points.len(), "to_run": todo.len(), "backend": backend }));
    let jobs = matches.get_one::<usize>("jobs").copied();
    let stop = interrupt::listen()?;
    let mut showing = None;
    match backend {
        "commands" => {
            drop(lock.take());
            commands(&store, &plan, &todo)?;
            return Ok(Exit::Done);
        }
        "slurm" => {
            // Its tasks share the folder.
            drop(lock.take());
            let options = matches.get_many::<String>("slurm-option").into_iter().flatten().cloned().collect();
            let pack = matches.get_one::<usize>("pack").copied().unwrap_or(1);
            let threads = plan.points.first().map_or(Ok(1), |point| point.resolve().map(|one| one.threads))?;
            let slurm = Slurm { at_once: jobs.unwrap_or(0), pack, threads, options };
            if !in_slurm(&store, &plan, &todo, &slurm, matches.get_flag("detach"), stop, quiet)? {
                return Ok(Exit::Done);
            }
        }
        _ => {
            let threads = plan.points.first().map_or(Ok(1), |point| point.resolve().map(|one| one.threads))?;
            let processors = || std::thread::available_parallelism().map_or(1, usize::from);
            let jobs = jobs.unwrap_or_else(|| (processors() / threads).max(1));
            if tui {
                showing = Some(Showing::begin(&store, &plan, &before, jobs, stop)?);
            }
            let watched = Watched { board: showing.as_ref().and_then(Showing::board), stop };
            locally(&store, &plan, &todo, jobs, watched, quiet, matches.get_flag("verbose"))?;
        }
    }
    let collected = collect(&store, &plan)?;
    write_results(&store, &plan, &collected)?;
    store.note("end", None, json!({ "results": collected.rows.len(), "failed": collected.failed.len(), "missing": collected.missing.len() }));
    // The results are there, and the folder is free, however long somebody looks at them.
    drop(lock.take());
    if let Some(showing) = showing {
        showing.end(&plan, &collected);
    }
    if !quiet {
        summary(&store, &plan, &collected);
    }
    if stop.load(Ordering::Relaxed) && !collected.missing.is_empty() {
        output::tell(&format!("interrupted; continue with: fsin sweep --resume -o {}", root.display()));
        return Ok(Exit::Interrupted);
    }
    Ok(if collected.is_whole() { Exit::Done } else { Exit::PointsFailed })
}

/// Refuses a dashboard where there is nothing to look at, or nowhere to show it.
fn can_be_shown(backend: &str) -> Result<(), Complaint> {
    if backend != "local" {
        let what = format!("--tui shows points that run in this process, and --backend {backend} runs them elsewhere");
        let remedy = "leave it out, or use --backend local; `fsin collect DIR` tells how far the others are";
        return Err(Complaint::new(Exit::Usage, what, remedy));
    }
    looking::need_terminal("--tui", "leave it out: a sweep needs no terminal, and can be interrupted and resumed")
}

/// Refuses flags that mean nothing to who runs the points.
fn has_effect(matches: &ArgMatches, backend: &str) -> Result<(), Complaint> {
    for (flag, backends) in [
        ("pack", ["slurm"].as_slice()),
        ("slurm-option", &["slurm"]),
        ("detach", &["slurm"]),
        ("jobs", &["slurm", "local"]),
    ] {
        if matches.value_source(flag) == Some(ValueSource::CommandLine) && !backends.contains(&backend) {
            let what = format!("--{flag} has no effect with --backend {backend}");
            let remedy = format!("leave it out, or use --backend {}", backends[0]);
            return Err(Complaint::new(Exit::Usage, what, remedy));
        }
    }
    Ok(())
}

/// Who looks at points, and may end them.
#[derive(Clone, Copy)]
struct Watched<'a> {
    /// Where is said what becomes of points, if somebody wants to know.
    board: Option<&'a Board>,
    stop: &'a AtomicBool,
}

impl Watched<'_> {
    fn is_over(self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// A point has become this.
    fn tell(self, index: usize, state: PointState) {
        if let Some(board) = self.board {
            board.became(index, state);
        }
    }
}

/// Lists the points, without running any: identity and values.
fn dry_run(store: &Store, plan: &Plan) -> Result<Exit, Complaint> {
    let mut text = String::new();
    let mut todo = 0;
    for point in &plan.points {
        let state = if store.folder(point).exists() { "done" } else { "to run" };
        todo += usize::from(state == "to run");
        text.push_str(&format!("{}  {state:6}  {}\n", point.id, plan.describe(point)));
    }
    output::print_text(&text)?;
    output::tell(&format!("{} points, {todo} to run", plan.points.len()));
    Ok(Exit::Done)
}

/// One command per line, for GNU parallel, HyperQueue or a shell.
fn commands(store: &Store, plan: &Plan, todo: &[usize]) -> Result<(), Complaint> {
    let quoted = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
    let absolute = std::path::absolute(store.root()).unwrap_or_else(|_| store.root().to_owned());
    let program = std::env::current_exe().unwrap_or_else(|_| "fsin".into());
    let line = |&index: &usize| format!("{} point {} {}\n", quoted(&program), quoted(&absolute), plan.points[index].id);
    output::print_text(&todo.iter().map(line).collect::<String>())?;
    output::tell(&format!("{} commands; when they have run: fsin collect {}", todo.len(), store.root().display()));
    Ok(())
}

/// Runs points on threads of this process.
fn locally(
    store: &Store,
    plan: &Plan,
    todo: &[usize],
    jobs: usize,
    watched: Watched<'_>,
    quiet: bool,
    verbose: bool,
) -> Result<(), Complaint> {
    let mut saturated = vec![None; plan.points.len()];
    for (index, point) in plan.points.iter().enumerate() {
        let figures = store.result(point)?;
        saturated[index] = figures.map(|figures| figures.get("saturated") == Some(&Value::Bool(true)));
    }
    // Low loads of every curve come first: they are cheap, and decide whether higher ones are run at all.
    let mut queue = todo.to_vec();
    let load = |index: usize| plan.axis("load").and_then(|axis| plan.points[index].values[axis].parse::<f64>().ok());
    queue.sort_by(|&a, &b| load(b).partial_cmp(&load(a)).unwrap_or(std::cmp::Ordering::Equal).then(b.cmp(&a)));
    let rule = StopRule::new(plan);
    let shared = Mutex::new((queue, saturated));
    let trouble: Mutex<Option<Complaint>> = Mutex::new(None);
    let points = Points::new(quiet || watched.board.is_some(), todo.len());
    let say = |line: String| match watched.board {
        Some(board) => board.say(line),
        None if verbose => points.say(&line),
        None => {}
    };
    let alone = jobs == 1;
    let take = || {
        let mut shared = shared.lock().ok()?;
        loop {
            let index = shared.0.pop()?;
            if !rule.leaves_out(index, &shared.1) {
                return Some(index);
            }
            watched.tell(index, PointState::LeftOut);
            points.skip();
        }
    };
    let work = || {
        while !watched.is_over() {
            let Some(index) = take() else { return };
            let point = &plan.points[index];
            match one(store, (index, point), watched, alone) {
                Ok(Ran::Interrupted) => return,
                // The summary names failures at the end.
                Ok(Ran::Failed(why)) => say(format!("failed: {}: {why}", plan.describe(point))),
                Ok(Ran::Done { saturated, seconds }) => {
                    if let Ok(mut shared) = shared.lock() {
                        shared.1[index] = Some(saturated);
                    }
                    let said = if saturated { ", saturated" } else { "" };
                    say(format!("{}: {seconds:.2} s{said}", plan.describe(point)));
                }
                Err(complaint) => {
                    if let Ok(mut trouble) = trouble.lock() {
                        trouble.get_or_insert(complaint);
                    }
                    return;
                }
            }
            points.one_more();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, todo.len().max(1)) {
            scope.spawn(work);
        }
    });
    drop(points);
    trouble.into_inner().ok().flatten().map_or(Ok(()), Err)
}

/// What became of a point.
enum Ran {
    Done { saturated: bool, seconds: f64 },
    Failed(String),
    Interrupted,
}

/// Runs a point and keeps its result, or why there is none.
fn one(store: &Store, (index, point): (usize, &Point), watched: Watched<'_>, alone: bool) -> Result<Ran, Complaint> {
    let begun = Instant::now();
    store.note("start", Some(point), Value::Null);
    let result = match point.resolve() {
        Ok(experiment) if !point.is_as_planned(&experiment) => {
            let what = "its input files, or this version's defaults, are not those that it was planned with";
            Err(Complaint::new(Exit::Failed, what, "sweep into a new folder"))
        }
        Ok(experiment) => {
            let mut watcher = watcher(watched.board, index, &experiment, watched.stop);
            let watch = watcher.as_mut().map(|watcher| watcher as &mut dyn Watch);
            perform_watched(&experiment, watched.stop, alone, watch)
        }
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(Some(figures)) => {
            store.keep(point, &figures)?;
            let seconds = begun.elapsed().as_secs_f64();
            store.note("done", Some(point), json!({ "seconds": seconds }));
            watched.tell(index, of_result(&figures, Some(seconds)));
            if let Value::Object(failure) = &figures.get("failure").unwrap_or(&Value::Null) {
                return Ok(Ran::Failed(failure.get("what").and_then(Value::as_str).unwrap_or("").to_owned()));
            }
            Ok(Ran::Done { saturated: figures.get("saturated") == Some(&Value::Bool(true)), seconds })
        }
        Ok(None) => {
            watched.tell(index, PointState::Waiting);
            Ok(Ran::Interrupted)
        }
        Err(complaint) => {
            let why = complaint.to_string();
            store.fail(point, &why)?;
            store.note("failed", Some(point), json!({ "why": why }));
            watched.tell(index, PointState::Failed(why.clone()));
            Ok(Ran::Failed(why))
        }
    }
}

/// Submits points and waits for them, unless `detach`; true if they have ended.
fn in_slurm(
    store: &Store,
    plan: &Plan,
    todo: &[usize],
    slurm: &Slurm,
    detach: bool,
    stop: &AtomicBool,
    quiet: bool,
) -> Result<bool, Complaint> {
    if todo.is_empty() {
        return Ok(true);
    }
    let program = std::env::current_exe().map_err(|error| {
        Complaint::new(Exit::Failed, format!("cannot find this program: {error}"), "call it by its full path")
    })?;
    let points: Vec<&Point> = todo.iter().map(|&index| &plan.points[index]).collect();
    let job = slurm.submit(store, &program, &points)?;
    store.note("submitted", None, json!({ "slurm_job": job.id, "tasks": job.tasks }));
    output::tell(&format!("submitted job {} of {} tasks", job.id, job.tasks));
    if detach {
        output::tell(&format!("when it has ended: fsin collect {}", store.root().display()));
        return Ok(false);
    }
    let meter = Points::new(quiet, todo.len());
    let mut silent = 0;
    loop {
        let ended = |point: &&&Point| store.folder(point).exists() || store.failure(point).is_some();
        meter.set(points.iter().filter(ended).count());
        match job.is_alive() {
            Ok(false) => break,
            Ok(true) => silent = 0,
            // The controller of a busy cluster is sometimes silent for a while.
            Err(error) if silent >= 30 => return Err(error.into()),
            Err(_) => silent += 1,
        }
        if stop.load(Ordering::Relaxed) {
            job.cancel()?;
            return Ok(true);
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    for point in points {
        if !store.folder(point).exists() && store.failure(point).is_none() {
            store.fail(point, &format!("the job ended without a result; see {}/slurm", store.root().display()))?;
        }
    }
    Ok(true)
}

fn summary(store: &Store, plan: &Plan, collected: &Collected) {
    for (index, why) in &collected.failed {
        output::tell(&format!("failed: {}: {why}", plan.describe(&plan.points[*index])));
    }
    let saturated =
        collected.rows.iter().filter(|row| row.figures.get("saturated") == Some(&Value::Bool(true))).count();
    let mut line = format!("{} of {} points have results", collected.rows.len(), plan.points.len());
    for (count, what) in [
        (saturated, "saturated"),
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
}

/// Runs single points of a planned sweep: what batch systems call.
pub(crate) fn point(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let store = Store::at(matches.get_one::<PathBuf>("folder").map_or(Path::new(""), PathBuf::as_path));
    let plan = store.plan()?;
    let mut ids: Vec<String> = matches.get_many::<String>("points").into_iter().flatten().cloned().collect();
    if let Some(list) = matches.get_one::<PathBuf>("list") {
        let text = std::fs::read_to_string(list).map_err(|error| {
            Complaint::new(
                Exit::Usage,
                format!("--list {}: {error}", list.display()),
                "name a file of one identity per line",
            )
        })?;
        ids.extend(text.lines().map(str::to_owned));
    }
    let _shared = store.lock(false)?;
    let stop = interrupt::listen()?;
    let mut exit = Exit::Done;
    for id in ids {
        let point = plan.points.iter().find(|point| point.id == id).ok_or_else(|| {
            let what = format!("{} has no point `{id}`", store.root().display());
            Complaint::new(Exit::Usage, what, "list its points with `fsin sweep --resume --dry-run -o DIR`")
        })?;
        if store.result(point)?.is_some() {
            continue;
        }
        let unseen = Watched { board: None, stop };
        match one(&store, (0, point), unseen, true)? {
            Ran::Done { .. } => {}
            Ran::Interrupted => return Ok(Exit::Interrupted),
            Ran::Failed(why) => {
                output::tell(&format!("failed: {}: {why}", plan.describe(point)));
                exit = Exit::PointsFailed;
            }
        }
    }
    Ok(exit)
}

/// Collects what has run, whoever ran it.
pub(crate) fn gather(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let store = Store::at(matches.get_one::<PathBuf>("folder").map_or(Path::new(""), PathBuf::as_path));
    let plan = store.plan()?;
    let collected = collect(&store, &plan)?;
    write_results(&store, &plan, &collected)?;
    if !matches.get_flag("quiet") {
        summary(&store, &plan, &collected);
    }
    Ok(if collected.is_whole() { Exit::Done } else { Exit::PointsFailed })
}
