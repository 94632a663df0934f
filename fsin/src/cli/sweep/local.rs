//! Points that this process runs.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::ArgMatches;
use fsin::dashboard::of_result;
use fsin::sweep::{Plan, Point, StopRule, Store};
use fsin::watch::Watch;
use serde_json::{Value, json};
use tui::board::Board;
use tui::view::PointState;

use crate::cli::perform::perform_watched;
use crate::cli::progress::Points;
use crate::cli::showing::watcher;
use crate::cli::{Complaint, Exit, interrupt, output};

/// Who looks at points, and may end them.
#[derive(Clone, Copy)]
pub(super) struct Watched<'a> {
    /// Where is said what becomes of points, if somebody wants to know.
    pub(super) board: Option<&'a Board>,
    pub(super) stop: &'a AtomicBool,
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

/// Runs points on threads of this process.
pub(super) fn locally(
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

/// What the first Ctrl-C is answered: what becomes of the points, and how to go on.
pub(super) fn stopping(root: &Path) -> String {
    format!(
        "stopping: points that are done are kept, those that run are given up, and fsin sweep --resume -o {} goes on; again \
         to stop at once",
        root.display()
    )
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
    let stop = interrupt::listen(stopping(store.root()))?;
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
