//! From an experiment to its result, with the costs and the manifest of the command.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cpu_time::{ProcessTime, ThreadTime};
use fsin::experiment::{Experiment, Options, Performed};
use fsin::result::{Costs, RunResult};
use fsin::watch::Watch;

use crate::cli::{Complaint, Exit, Flags, manifest};

/// Runs an experiment. `alone` means that nothing else runs in this process, so that its memory and processor time are
/// those of the experiment.
///
/// # Errors
/// An experiment that cannot begin, or a defect of the simulator. A run that fails has a result, which contains the
/// failure.
pub(crate) fn perform(experiment: &Experiment, options: Options<'_>, alone: bool) -> Result<Performed, Complaint> {
    if alone {
        manifest::reset_peak_memory();
    }
    let opening = manifest::Opening::new(experiment);
    let stopwatch = Stopwatch::start();
    let account = Box::new(move |experiment: &Experiment| {
        let costs = stopwatch.costs(alone, experiment.network.threads());
        (costs, opening.close(experiment, costs))
    });
    let options = options.notation(&Flags).account(account);
    // A defect in a model must not affect the other points of a sweep.
    let performed = catch_unwind(AssertUnwindSafe(|| experiment.run_with(options))).map_err(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let what = format!("the simulator panicked: {}", message.unwrap_or("without a message"));
        Complaint::new(Exit::Failed, what, "this is a defect of fsin: please report it with the experiment")
    })?;
    performed.map_err(|trouble| Complaint::of_trouble(trouble, experiment.settings()))
}

/// How one of several experiments runs.
pub(crate) struct OneOfMany<'a> {
    /// Ends the run when it becomes true.
    pub(crate) stop: &'a AtomicBool,
    /// True if nothing else runs in this process.
    pub(crate) alone: bool,
    /// The run ends as if it had been stopped after this many cycles, or events over an ideal network.
    pub(crate) limit: Option<u64>,
    /// Observer of a run over a network of routers. A run with a limit has no other observer.
    pub(crate) watch: Option<&'a mut dyn Watch>,
}

impl<'a> OneOfMany<'a> {
    /// A complete run without an observer.
    pub(crate) const fn new(stop: &'a AtomicBool, alone: bool) -> Self {
        Self { stop, alone, limit: None, watch: None }
    }
}

/// Runs one of several experiments; `None` if it was stopped before its end.
///
/// # Errors
/// As [`perform`].
pub(crate) fn perform_one(experiment: &Experiment, how: OneOfMany<'_>) -> Result<Option<RunResult>, Complaint> {
    let OneOfMany { stop, alone, limit, watch } = how;
    let options = Options::default().stop(stop);
    let options = limit.into_iter().fold(options, Options::limit);
    let options = match watch {
        Some(watch) => options.watch(watch),
        None => options,
    };
    let result = perform(experiment, options, alone)?.result;
    let stopped = stop.load(Ordering::Relaxed) && (limit.is_some() || !result.complete);
    Ok((!stopped).then_some(result))
}

/// Measures the costs of a run from its creation on.
pub(crate) struct Stopwatch {
    // Processor time of the process and of the thread, and wall-clock time.
    process: ProcessTime,
    thread: ThreadTime,
    wall: Instant,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { process: ProcessTime::now(), thread: ThreadTime::now(), wall: Instant::now() }
    }

    /// The costs of a run on this number of threads. `alone` means that nothing else runs in this process.
    pub(crate) fn costs(&self, alone: bool, threads: usize) -> Costs {
        Costs {
            cpu_seconds: match (alone, threads) {
                (true, _) => Some(self.process.elapsed().as_secs_f64()),
                (false, 1) => Some(self.thread.elapsed().as_secs_f64()),
                // Threads of concurrent points cannot be separated.
                (false, _) => None,
            },
            wall_seconds: self.wall.elapsed().as_secs_f64(),
            peak_memory_bytes: manifest::peak_memory_bytes().filter(|_| alone),
        }
    }
}
