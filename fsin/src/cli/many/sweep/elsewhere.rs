//! Points of a sweep that other processes run: the processes of a tool of the user, or those of a Slurm cluster.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fsin::sweep::{Plan, Point, Slurm, Store};
use fsin::words::counted;
use serde_json::json;
use trgen::quote::{is_of_one_line, shell};

use crate::cli::run::progress::Points;
use crate::cli::{Complaint, Exit, invocation, output};

/// Refuses a folder whose name cannot stand in a list of commands or in a batch script, before anything is written.
pub(super) fn check_name(root: &Path) -> Result<(), Complaint> {
    let absolute = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let program = invocation::program().unwrap_or_default().into_iter().map(PathBuf::from);
    match std::iter::once(absolute).chain(program).find(|path| !path.to_str().is_some_and(is_of_one_line)) {
        Some(path) => {
            let what = format!("the path {path:?} cannot stand in commands for others: a control character is in it");
            Err(Complaint::new(Exit::Usage, what, "rename it, or use --backend local"))
        }
        None => Ok(()),
    }
}

/// Prints one command per point, each on a line, for GNU parallel, HyperQueue or a shell.
pub(super) fn commands(store: &Store, plan: &Plan, todo: &[usize]) -> Result<(), Complaint> {
    let quoted = |path: &Path| shell(&path.to_string_lossy());
    let absolute = std::path::absolute(store.root()).unwrap_or_else(|_| store.root().to_owned());
    let program = invocation::program_for_shell().unwrap_or_else(|_| "fsin".to_owned());
    let line = |&index: &usize| format!("{program} point {} {}\n", quoted(&absolute), plan.points[index].id);
    output::print_text(&todo.iter().map(line).collect::<String>())?;
    let commands = counted(todo.len(), "command", "commands");
    output::tell(&format!("{commands}; when they have run: fsin collect {}", quoted(store.root())));
    Ok(())
}

/// Submits points to Slurm and waits for them, unless `detach` is set. Returns true if the job has ended or has been
/// cancelled.
pub(super) fn in_slurm(
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
    let program = invocation::program().map_err(|error| {
        Complaint::new(Exit::Failed, format!("cannot find this program: {error}"), "call it by its full path")
    })?;
    let points: Vec<&Point> = todo.iter().map(|&index| &plan.points[index]).collect();
    let job = slurm.submit(store, &program, &points)?;
    store.note("submitted", None, json!({ "slurm_job": job.id, "tasks": job.tasks }));
    output::tell(&format!("submitted job {} of {} tasks", job.id, job.tasks));
    if detach {
        output::tell(&format!("when it has ended: fsin collect {}", shell(&store.root().to_string_lossy())));
        return Ok(false);
    }
    let meter = Points::new(quiet, todo.len());
    let mut failed_queries = 0;
    loop {
        let ended = |point: &&&Point| store.folder(point).exists() || store.failure(point).is_some();
        meter.set(points.iter().filter(ended).count());
        match job.is_alive() {
            Ok(false) => break,
            Ok(true) => failed_queries = 0,
            // The controller of a busy cluster may be unresponsive for a while.
            Err(error) if failed_queries >= 30 => return Err(error.into()),
            Err(_) => failed_queries += 1,
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
