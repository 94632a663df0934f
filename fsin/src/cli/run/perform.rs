//! From an experiment to its result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cpu_time::{ProcessTime, ThreadTime};
use fsin::couple::{Failure, PacketLog};
use fsin::experiment::{Experiment, MessageTime, Observers, execute_ideal, execute_over, network};
use fsin::network::Network;
use fsin::result::{Costs, RunResult, of_hosts, of_network};
use fsin::run::Progress;
use fsin::watch::{Glimpse, Watch};
use trgen::Cycle;
use trgen::trace::timeline::Span;

use crate::cli::run::memory;
use crate::cli::{Complaint, Exit, Flags, manifest};

/// Progress of a run.
pub(crate) enum Step {
    /// Progress of a run over a network of routers.
    Cycles(Progress),
    /// Number of events of a run over an ideal network.
    Events(u64),
}

/// Options of a run.
pub(crate) struct Options<'a> {
    /// Ends the run when it becomes true.
    pub(crate) stop: &'a AtomicBool,
    /// True if nothing else runs in this process, so that its memory and processor time are those of the experiment.
    pub(crate) alone: bool,
    /// The run ends as if it had been stopped after this many cycles, or events over an ideal network.
    pub(crate) limit: Option<u64>,
    /// Observer of the progress.
    pub(crate) progress: Option<&'a mut dyn FnMut(Step)>,
    /// Observer of a run over a network of routers. A run with a limit has no other observer.
    pub(crate) watch: Option<&'a mut dyn Watch>,
    /// The network, if its packets are captured; otherwise the experiment builds one.
    pub(crate) network: Option<Box<dyn Network>>,
    /// Observer of the packets that arrive in a run over a network.
    pub(crate) log: Option<PacketLog<'a>>,
    /// Keeps what each rank does over time.
    pub(crate) timeline: bool,
}

impl<'a> Options<'a> {
    /// A complete run without an observer.
    pub(crate) const fn new(stop: &'a AtomicBool, alone: bool) -> Self {
        Self { stop, alone, limit: None, progress: None, watch: None, network: None, log: None, timeline: false }
    }
}

/// A run that has ended.
pub(crate) struct Performed {
    pub(crate) result: RunResult,
    /// Why it failed, if it did.
    pub(crate) failure: Option<Failure>,
    /// The time of each message that arrived while measuring, where that is kept.
    pub(crate) messages: Option<Vec<MessageTime>>,
    /// What each rank did over time, if that is kept.
    pub(crate) timeline: Vec<Span>,
}

/// Runs an experiment whose memory has been checked.
///
/// # Errors
/// An experiment that cannot begin, or a defect of the simulator. A run that fails has a result, which contains the
/// failure.
pub(crate) fn perform(experiment: &Experiment, options: Options<'_>) -> Result<Performed, Complaint> {
    // A defect in a model must not affect the other points of a sweep.
    catch_unwind(AssertUnwindSafe(|| run(experiment, options))).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let what = format!("the simulator panicked: {}", message.unwrap_or("without a message"));
        Err(Complaint::new(Exit::Failed, what, "this is a defect of fsin: please report it with the experiment"))
    })
}

/// Runs one of several experiments; `None` if it was stopped before its end.
///
/// # Errors
/// As [`perform`], and a network that does not fit in memory.
pub(crate) fn perform_one(experiment: &Experiment, options: Options<'_>) -> Result<Option<RunResult>, Complaint> {
    memory::check(experiment)?;
    let (stop, limit) = (options.stop, options.limit);
    let result = perform(experiment, options)?.result;
    let stopped = stop.load(Ordering::Relaxed) && (limit.is_some() || !result.complete);
    Ok((!stopped).then_some(result))
}

/// Runs an experiment; panics are not caught.
fn run(experiment: &Experiment, options: Options<'_>) -> Result<Performed, Complaint> {
    let Options { stop, alone, limit, progress, watch, network: built, log, timeline } = options;
    if alone {
        manifest::reset_peak_memory();
    }
    let opening = manifest::Opening::new(experiment);
    let stopwatch = Stopwatch::start();
    let ended = AtomicBool::new(false);
    let until = limit.map(|count| Until { count, stop, ended: &ended });
    let mut observer = until;
    let (stop, watch) = match &mut observer {
        Some(until) => (&ended, Some(until as &mut dyn Watch)),
        None => (stop, watch.map(|watch| watch as &mut dyn Watch)),
    };
    let mut ignore = |_| {};
    let progress = progress.unwrap_or(&mut ignore);
    let of_trouble = |trouble| Complaint::of_trouble(trouble, experiment.settings());
    let costs = || stopwatch.costs(alone, experiment.network.threads());
    if experiment.runs.by_hosts() {
        let mut events = |events| {
            if let Some(until) = until {
                until.reached(events);
            }
            progress(Step::Events(events));
        };
        let run = execute_ideal(experiment, stop, timeline, &mut events).map_err(of_trouble)?;
        let costs = costs();
        let result = of_hosts(experiment, &run, costs, opening.close(experiment, costs), &Flags);
        let failure = run.failure();
        return Ok(Performed { result, failure, messages: None, timeline: run.execution.timeline });
    }
    let mut cycles = |cycles| progress(Step::Cycles(cycles));
    let network = match built {
        Some(network) => network,
        None => network(experiment).map_err(|error| of_trouble(error.into()))?,
    };
    let observers = Observers { watch, log, timeline };
    let finished = execute_over(network, experiment, stop, &mut cycles, observers).map_err(of_trouble)?;
    let costs = costs();
    let result = of_network(experiment, &finished, costs, opening.close(experiment, costs), &Flags);
    let (failure, messages, timeline) = (finished.outcome.failure, finished.messages, finished.timeline);
    Ok(Performed { result, failure, messages, timeline })
}

/// An observer that ends a run at a limit, or when the user stops it.
#[derive(Clone, Copy)]
struct Until<'a> {
    /// \[cycles or events\] The limit.
    count: u64,
    /// True once the user has requested a stop.
    stop: &'a AtomicBool,
    /// Ends the run when it becomes true.
    ended: &'a AtomicBool,
}

impl Until<'_> {
    /// Records the number of cycles or events, and returns how many are left.
    fn reached(&self, count: u64) -> u64 {
        let left = self.count.saturating_sub(count);
        if left == 0 || self.stop.load(Ordering::Relaxed) {
            self.ended.store(true, Ordering::Relaxed);
        }
        left
    }
}

impl Watch for Until<'_> {
    fn look(&mut self, glimpse: Glimpse<'_>) -> u64 {
        self.reached(glimpse.progress.clock.since(Cycle::FIRST))
    }
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
