//! Points that run on this machine. Each runs in a separate process, so that a failure affects that point alone, also
//! if it runs out of memory. With a dashboard, which needs access to the points, they are threads of this process.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::ArgMatches;
use fsin::result::RunResult;
use fsin::sweep::{Plan, Point, StopRule, Store};
use fsin::watch::Watch;
use serde_json::{Value, json};

use crate::cli::run::perform::{OneOfMany, perform_one};
use crate::cli::run::progress::Points;
use crate::cli::watch::showing::Board;
use crate::cli::{Complaint, Exit, interrupt, output, stamp};

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
    let work = || {
        while !watched.is_over() {
            let Some(index) = take() else { return };
            let point = &plan.points[index];
            let ran = match watched.board {
                Some(_) => run_here(store, (index, point), watched, alone),
                None => run_in_process(store, point, watched.stop),
            };
            match ran {
                Ok(Ran::Interrupted) => return,
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
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, todo.len().max(1)) {
            scope.spawn(work);
        }
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

/// Runs a point in this process, and stores its result or the reason why there is none.
fn run_here(
    store: &Store,
    (index, point): (usize, &Point),
    watched: Watched<'_>,
    alone: bool,
) -> Result<Ran, Complaint> {
    let begun = Instant::now();
    store.note("start", Some(point), Value::Null);
    let result = match point.resolve() {
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

/// Runs a point in a separate process, which stores its result or the reason why there is none.
fn run_in_process(store: &Store, point: &Point, stop: &AtomicBool) -> Result<Ran, Complaint> {
    let begun = Instant::now();
    let failed = |error: std::io::Error| {
        Complaint::new(
            Exit::Failed,
            format!("cannot run a point: {error}"),
            "use fewer --jobs, and go on with --resume",
        )
    };
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.args(["point", "--of-sweep", "--"]).arg(store.root()).arg(&point.id);
    // The standard input of the child is never written to. It closes when this process ends, which ends the child.
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let words = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut output = Vec::new();
        // If the output cannot be read, it is not reported.
        let _ = words.map(|mut words| words.read_to_end(&mut output));
        String::from_utf8_lossy(&output).trim().to_owned()
    });
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if stop.load(Ordering::Relaxed) {
            // An error means that the process has just ended by itself. The result of a point is complete or absent.
            let _ = child.kill();
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    };
    let output = reader.join().unwrap_or_default();
    let exit = |exit: Exit| status.code() == Some(exit as i32);
    if let Some(result) = store.result(point, true)? {
        return Ok(outcome(&result, begun.elapsed().as_secs_f64()));
    }
    if stop.load(Ordering::Relaxed) || exit(Exit::Interrupted) {
        return Ok(Ran::Interrupted);
    }
    if exit(Exit::PointsFailed)
        && let Some(why) = store.failure(point)
    {
        return Ok(Ran::Failed(why));
    }
    let why = describe_end(status, &output);
    store.fail(point, &why)?;
    store.note("failed", Some(point), json!({ "why": why }));
    Ok(Ran::Failed(why))
}

/// Longest interval between two checks whether a process has ended.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

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

/// Starts a thread that ends this process when its standard input closes, because its sweep has ended.
fn end_with_the_sweep() {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(Exit::Interrupted as i32);
    });
}

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
    let of_sweep = matches.get_flag("of-sweep");
    let _shared = if of_sweep { None } else { Some(store.lock(false)?) };
    if of_sweep {
        end_with_the_sweep();
    }
    let stop = interrupt::listen(stopping(store.root()))?;
    let mut exit = Exit::Done;
    for id in ids {
        let point = plan.points.iter().find(|point| point.id == id).ok_or_else(|| {
            let what = format!("{} has no point `{id}`", store.root().display());
            Complaint::new(Exit::Usage, what, "list its points with `fsin sweep --resume --dry-run -o DIR`")
        })?;
        if store.result(point, plan.has_checksums())?.is_some() {
            continue;
        }
        let unseen = Watched { board: None, stop };
        match run_here(&store, (0, point), unseen, true)? {
            Ran::Done { .. } => {}
            Ran::Interrupted => return Ok(Exit::Interrupted),
            Ran::Failed(why) => {
                if !of_sweep && !matches.get_flag("quiet") {
                    output::tell(&format!("failed: {}: {why}", plan.describe(point)));
                }
                exit = Exit::PointsFailed;
            }
        }
    }
    Ok(exit)
}
