//! Points that run on this machine. Each runs in a separate process, so that a failure affects that point alone, also
//! if it runs out of memory; a process in which nothing fails runs many points. With a dashboard, which needs access to
//! the points, they are threads of this process.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use clap::ArgMatches;
use fsin::experiment::Networks;
use fsin::result::RunResult;
use fsin::sweep::{Plan, Point, StopRule, Store};
use fsin::watch::Watch;
use serde_json::{Value, json};

use crate::cli::run::perform::{OneOfMany, perform_one};
use crate::cli::run::progress::Points;
use crate::cli::watch::showing::Board;
use crate::cli::{Complaint, Exit, interrupt, output, stamp};

use super::worker::{self, Answer, Processes, Worker};

/// The dashboard that shows points, and the flag that ends them.
#[derive(Clone, Copy)]
pub(super) struct Watched<'a> {
    /// The board for the state of points, if there is an observer.
    pub(super) board: Option<&'a Board>,
    /// Ends all points when it becomes true.
    pub(super) stop: &'a AtomicBool,
}

impl Watched<'_> {
    /// True if no further point may begin.
    fn is_over(self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Runs the points whose indices are in `todo`, `jobs` at the same time.
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
        saturated[index] = store.result(point, plan.has_checksums())?.as_ref().map(RunResult::is_saturated);
    }
    // Low loads of every curve come first: they are cheap, and decide whether higher ones are run at all.
    let mut queue = todo.to_vec();
    let load = |index: usize| plan.axis("load").and_then(|axis| plan.points[index].values[axis].parse::<f64>().ok());
    queue.sort_by(|&a, &b| load(b).partial_cmp(&load(a)).unwrap_or(std::cmp::Ordering::Equal).then(b.cmp(&a)));
    let rule = StopRule::new(plan);
    // The points that have not begun, in reverse order, and for each point of the plan whether it is saturated.
    let shared = Mutex::new((queue, saturated));
    let first_error: Mutex<Option<Complaint>> = Mutex::new(None);
    let points = Points::new(quiet || watched.board.is_some(), todo.len());
    let say = |line: String| match watched.board {
        Some(board) => board.say(line),
        None if verbose => points.print_above(&line),
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
            if let Some(board) = watched.board {
                board.left_out(index);
            }
            points.skip();
        }
    };
    let processes = Processes::default();
    let work = || {
        let mut worker = None;
        while !watched.is_over() {
            let Some(index) = take() else { break };
            let point = &plan.points[index];
            let ran = match watched.board {
                Some(_) => run_here(store, (index, point), watched, alone, &mut Networks::default()),
                None => run_in_process(store, point, watched.stop, &processes, &mut worker),
            };
            match ran {
                Ok(Ran::Interrupted) => break,
                // All failures are named again in the summary at the end.
                Ok(Ran::Failed(why)) => say(format!("failed: {}: {why}", plan.describe(point))),
                Ok(Ran::Done { saturated, seconds }) => {
                    if let Ok(mut shared) = shared.lock() {
                        shared.1[index] = Some(saturated);
                    }
                    let note = if saturated { ", saturated" } else { "" };
                    say(format!("{}: {seconds:.2} s{note}", plan.describe(point)));
                }
                Err(complaint) => {
                    if let Ok(mut first_error) = first_error.lock() {
                        first_error.get_or_insert(complaint);
                    }
                    return;
                }
            }
            points.one_more();
        }
        if let Some(worker) = worker {
            worker.close();
        }
    };
    std::thread::scope(|scope| {
        let (over, ends) = mpsc::channel::<()>();
        scope.spawn(|| {
            let ends = ends;
            while let Err(RecvTimeoutError::Timeout) = ends.recv_timeout(STOP_CHECK) {
                if watched.is_over() {
                    processes.end();
                }
            }
        });
        let workers: Vec<_> = (0..jobs.clamp(1, todo.len().max(1))).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
        drop(over);
    });
    drop(points);
    first_error.into_inner().ok().flatten().map_or(Ok(()), Err)
}

/// Outcome of a point.
enum Ran {
    /// It has a result, after this time.
    Done {
        saturated: bool,
        seconds: f64,
    },
    /// It has none, for this reason.
    Failed(String),
    Interrupted,
}

/// The outcome of a point with this result, which took `seconds`.
fn outcome(result: &RunResult, seconds: f64) -> Ran {
    match &result.failure {
        Some(failure) => Ran::Failed(failure.what.clone()),
        None => Ran::Done { saturated: result.is_saturated(), seconds },
    }
}

/// Runs a point in this process, over one of `networks` if it has been made, and stores its result or the reason why there
/// is none.
fn run_here(
    store: &Store,
    (index, point): (usize, &Point),
    watched: Watched<'_>,
    alone: bool,
    networks: &mut Networks,
) -> Result<Ran, Complaint> {
    let begun = Instant::now();
    store.note("start", Some(point), Value::Null);
    let result = match point.resolve_among(networks) {
        Ok(experiment) if !point.is_as_planned(&experiment) => {
            let what = "its input files, or this version's defaults, are not those that it was planned with";
            Err(Complaint::new(Exit::Failed, what, "sweep into a new folder"))
        }
        Ok(experiment) => {
            let mut watcher = watched.board.and_then(|board| board.watcher(index, &experiment, watched.stop));
            let watch = watcher.as_mut().map(|watcher| &mut **watcher as &mut dyn Watch);
            perform_one(&experiment, OneOfMany { watch, ..OneOfMany::new(watched.stop, alone) })
        }
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(Some(result)) => {
            store.keep(point, &result)?;
            let seconds = begun.elapsed().as_secs_f64();
            store.note("done", Some(point), json!({ "seconds": seconds }));
            if let Some(board) = watched.board {
                board.done(index, &result, seconds);
            }
            Ok(outcome(&result, seconds))
        }
        Ok(None) => {
            if let Some(board) = watched.board {
                board.waits(index);
            }
            Ok(Ran::Interrupted)
        }
        Err(complaint) => {
            let why = complaint.to_string();
            store.fail(point, &why)?;
            store.note("failed", Some(point), json!({ "why": why }));
            if let Some(board) = watched.board {
                board.failed(index, &why);
            }
            Ok(Ran::Failed(why))
        }
    }
}

/// Runs a point in a separate process, which stores its result or the reason why there is none: in the process `kept`,
/// which may have run other points, or in a new one, which is kept.
fn run_in_process(
    store: &Store,
    point: &Point,
    stop: &AtomicBool,
    processes: &Processes,
    kept: &mut Option<Worker>,
) -> Result<Ran, Complaint> {
    let begun = Instant::now();
    let failed = |error: std::io::Error| {
        Complaint::new(
            Exit::Failed,
            format!("cannot run a point: {error}"),
            "use fewer --jobs, and go on with --resume",
        )
    };
    loop {
        let mut worker = match kept.take() {
            Some(worker) => worker,
            None => Worker::start(store, processes).map_err(failed)?,
        };
        let has_run = worker.has_run;
        if let Some(answer) = worker.run(&point.id) {
            *kept = Some(worker);
            return Ok(match answer {
                Answer::Done { saturated } => Ran::Done { saturated, seconds: begun.elapsed().as_secs_f64() },
                Answer::Failed(why) => Ran::Failed(why),
            });
        }
        let (status, output) = worker.ended().map_err(failed)?;
        if let Some(result) = store.result(point, true)? {
            return Ok(outcome(&result, begun.elapsed().as_secs_f64()));
        }
        if stop.load(Ordering::Relaxed) || crate::cli::signals::is_status(status.code()) {
            return Ok(Ran::Interrupted);
        }
        // The points before it may have left too little memory. What a process of its own makes of the point counts.
        if has_run {
            continue;
        }
        let why = describe_end(status, &output);
        store.fail(point, &why)?;
        store.note("failed", Some(point), json!({ "why": why }));
        return Ok(Ran::Failed(why));
    }
}

/// Interval between two looks at whether the user has stopped the sweep.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// Describes why the process of a point ended without a result, with the first lines of its output. Later lines may be
/// a backtrace.
fn describe_end(status: ExitStatus, output: &str) -> String {
    let how = match status.signal() {
        // The kernel sends SIGKILL when memory runs out. Terminals send other signals, and a batch system would send it
        // to the sweep.
        Some(9) => {
            "its process was killed (signal 9), as the system does when memory runs out; use fewer --jobs, or a smaller \
             network or load"
                .to_owned()
        }
        Some(signal) => format!("its process was ended by signal {signal}"),
        None => format!("its process ended with status {}", status.code().unwrap_or(1)),
    };
    let first: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).take(LINES).collect();
    if first.is_empty() { how } else { format!("{how}: {}", first.join(" ")) }
}

/// Number of lines of output that are shown of a process without a result.
const LINES: usize = 4;

/// Message at the first Ctrl-C: what happens to the points, and how to resume the sweep.
pub(super) fn stopping(root: &Path) -> String {
    format!(
        "stopping: points that are done are kept, those that run are given up, and fsin sweep --resume -o {} goes on; again \
         to stop at once",
        root.display()
    )
}

/// `fsin point`: runs single points of a planned sweep, for batch systems.
pub(crate) fn point(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let store =
        Store::at(matches.get_one::<PathBuf>("folder").map_or(Path::new(""), PathBuf::as_path)).timed(stamp::now);
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
    if matches.get_flag("of-sweep") {
        return points_of_sweep(&store, &plan);
    }
    let _shared = store.lock(false)?;
    let stop = interrupt::listen(stopping(store.root()))?;
    let (mut exit, mut networks) = (Exit::Done, Networks::default());
    for id in ids {
        let point = point_named(&store, &plan, &id)?;
        if store.result(point, plan.has_checksums())?.is_some() {
            continue;
        }
        let unseen = Watched { board: None, stop };
        match run_here(&store, (0, point), unseen, true, &mut networks)? {
            Ran::Done { .. } => {}
            Ran::Interrupted => return Ok(Exit::Interrupted),
            Ran::Failed(why) => {
                if !matches.get_flag("quiet") {
                    output::tell(&format!("failed: {}: {why}", plan.describe(point)));
                }
                exit = Exit::PointsFailed;
            }
        }
    }
    Ok(exit)
}

/// The point of this identity.
fn point_named<'a>(store: &Store, plan: &'a Plan, id: &str) -> Result<&'a Point, Complaint> {
    plan.points.iter().find(|point| point.id == id).ok_or_else(|| {
        let what = format!("{} has no point `{id}`", store.root().display());
        Complaint::new(Exit::Usage, what, "list its points with `fsin sweep --resume --dry-run -o DIR`")
    })
}

/// Runs the points that a sweep requests, until it ends.
fn points_of_sweep(store: &Store, plan: &Plan) -> Result<Exit, Complaint> {
    let requests = worker::requests();
    let stop = interrupt::listen(stopping(store.root()))?;
    let mut networks = Networks::default();
    for id in requests {
        let unseen = Watched { board: None, stop };
        let answer = match run_here(store, (0, point_named(store, plan, &id)?), unseen, true, &mut networks)? {
            Ran::Done { saturated, .. } => Answer::Done { saturated },
            Ran::Failed(why) => Answer::Failed(why),
            Ran::Interrupted => break,
        };
        worker::answer(&answer)?;
    }
    Ok(Exit::Interrupted)
}
