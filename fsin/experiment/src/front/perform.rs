//! From an experiment to its result.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use fsin_core::couple::{Failure, PacketLog};
use fsin_core::network::Network;
use fsin_core::run::Progress;
use fsin_core::watch::{Glimpse, Watch};
use trgen::Cycle;
use trgen::phrase::{Notation, Plain};
use trgen::trace::timeline::Timeline;

use crate::carried::Carried;
use crate::details::MessageTime;
use crate::energy::Counts;
use crate::execute::{Finished, Observers, execute_over, network};
use crate::ideal::execute_ideal;
use crate::inputs::Inputs;
use crate::memory;
use crate::resolve::Experiment;
use crate::result::{Costs, InputFile, Manifest, RunResult, SCHEMA, of_hosts, of_network};
use crate::trouble::Trouble;

/// Progress of a run, told after a bounded amount of work.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Step {
    /// Progress of a run over a network, in cycles.
    Cycles(Progress),
    /// \[events\] Progress of a run over an ideal network (`loggops`), which has no cycles.
    Events(u64),
}

/// The costs of a run, and what is needed to run it again. Called once, when it has ended.
pub type Account<'a> = Box<dyn FnOnce(&Experiment) -> (Costs, Manifest) + 'a>;

/// Options of a run. No result depends on them, unless it ends early.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use fsin_experiment::{Experiment, Options, Step};
///
/// let stop = AtomicBool::new(false);
/// let mut progress = |step| {
///     if let Step::Cycles(progress) = step && progress.clock.0 > 10_000 {
///         stop.store(true, Ordering::Relaxed);
///     }
/// };
/// let options = Options::default().stop(&stop).progress(&mut progress);
/// let result = Experiment::builder().topology("torus:4x4").cycles(1_000_000).run_with(options)?.result;
/// assert!(!result.complete && result.cycles < Some(100_000));
/// # Ok::<(), fsin_experiment::Trouble>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct Options<'a> {
    stop: Option<&'a AtomicBool>,
    limit: Option<u64>,
    progress: Option<&'a mut dyn FnMut(Step)>,
    watch: Option<&'a mut dyn Watch>,
    network: Option<Box<dyn Network>>,
    log: Option<PacketLog<'a>>,
    timeline: bool,
    events: bool,
    notation: Option<&'a dyn Notation>,
    account: Option<Account<'a>>,
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("limit", &self.limit).field("timeline", &self.timeline).finish_non_exhaustive()
    }
}

impl<'a> Options<'a> {
    /// Ends the run soon after the flag becomes true. Its result has the figures so far and is not `complete`.
    pub fn stop(self, stop: &'a AtomicBool) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Ends the run as if it had been stopped after this many cycles, or events over an ideal network. Such a run has
    /// no [`watch`](Self::watch).
    pub fn limit(self, limit: u64) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Calls this with the progress of the run.
    pub fn progress(self, progress: &'a mut dyn FnMut(Step)) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Attaches an observer, which sees the network and the source between two cycles. Ideal networks have none.
    pub fn watch(self, watch: &'a mut dyn Watch) -> Self {
        Self { watch: Some(watch), ..self }
    }

    /// Runs over this network, which the caller has built of the same experiment, for example to capture its packets.
    pub fn network(self, network: Box<dyn Network>) -> Self {
        Self { network: Some(network), ..self }
    }

    /// Passes every packet that arrives to `log`, ordered by arrival, source, destination and number.
    pub fn log(self, log: PacketLog<'a>) -> Self {
        Self { log: Some(log), ..self }
    }

    /// Keeps what each rank does over time.
    pub fn timeline(self, timeline: bool) -> Self {
        Self { timeline, ..self }
    }

    /// Counts events at routers and on links.
    pub fn events(self, events: bool) -> Self {
        Self { events, ..self }
    }

    /// Writes settings in warnings and notes in this notation; else as `vcs 3`.
    pub fn notation(self, notation: &'a dyn Notation) -> Self {
        Self { notation: Some(notation), ..self }
    }

    /// Takes costs and manifest of the result from `account`; else the result knows its wall-clock time, experiment,
    /// seed and input files.
    pub fn account(self, account: Account<'a>) -> Self {
        Self { account: Some(account), ..self }
    }
}

/// A run that has ended.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Performed {
    /// Its figures.
    pub result: RunResult,
    /// Why it failed, if it did; the result has the same in words.
    pub failure: Option<Failure>,
    /// The time of each message that arrived while measuring, where `message-stats` keeps it.
    pub messages: Option<Vec<MessageTime>>,
    /// What each rank did over time, if that was [asked for](Options::timeline).
    pub timeline: Timeline,
    /// Counts of events, if they were [asked for](Options::events) or cost energy.
    pub counts: Option<Counts>,
}

impl Experiment {
    /// Runs the experiment to its end, on the thread of the caller (and `threads` - 1 more).
    ///
    /// A run that fails, such as by a deadlock, has a result, which says so: [`RunResult::why_failed`]. A saturated
    /// network is no failure.
    ///
    /// # Errors
    /// An experiment that cannot begin: settings that prove inconsistent, a network that does not fit in memory, a trace
    /// that cannot be read.
    pub fn run(&self) -> Result<RunResult, Trouble> {
        self.run_with(Options::default()).map(|performed| performed.result)
    }

    /// Runs the experiment with options.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_with(&self, options: Options<'_>) -> Result<Performed, Trouble> {
        let Options { stop, limit, progress, watch, network: built, log, timeline, events, notation, account } =
            options;
        if built.is_none() {
            memory::check(self)?;
        }
        let account = account.unwrap_or_else(|| own_account(self));
        let notation = notation.unwrap_or(&Plain);
        let never = AtomicBool::new(false);
        let stop = stop.unwrap_or(&never);
        let ended = AtomicBool::new(false);
        let until = limit.map(|count| Until { count, stop, ended: &ended });
        let mut observer = until;
        let (stop, watch) = match &mut observer {
            Some(until) => (&ended, Some(until as &mut dyn Watch)),
            None => (stop, watch.map(|watch| watch as &mut dyn Watch)),
        };
        let mut ignore = |_| {};
        let progress = progress.unwrap_or(&mut ignore);
        if self.runs.by_hosts() {
            let mut events = |events| {
                if let Some(until) = until {
                    until.reached(events);
                }
                progress(Step::Events(events));
            };
            let run = execute_ideal(self, stop, timeline, &mut events)?;
            let (costs, manifest) = account(self);
            let result = of_hosts(self, &run, costs, manifest, notation);
            let failure = run.failure();
            return Ok(Performed { result, failure, messages: None, timeline: run.execution.timeline, counts: None });
        }
        let mut cycles = |cycles| progress(Step::Cycles(cycles));
        let network = match built {
            Some(network) => network,
            None => network(self)?,
        };
        let observers = Observers { watch, log, timeline, events };
        let finished = execute_over(network, self, stop, &mut cycles, observers)?;
        let (costs, manifest) = account(self);
        let result = of_network(self, &finished, costs, manifest, notation);
        let Finished { outcome, messages, timeline, counts, .. } = finished;
        Ok(Performed { result, failure: outcome.failure, messages, timeline, counts })
    }
}

/// The account of a run whose caller keeps none, from now on.
fn own_account(experiment: &Experiment) -> Account<'static> {
    let mut read = Inputs::default();
    let inputs = read.of(experiment).into_iter().map(InputFile::from).collect();
    let experiment_sha256 = Some(Carried::sha256(&mut read, experiment));
    let start = Instant::now();
    Box::new(move |experiment| {
        let wall_seconds = start.elapsed().as_secs_f64();
        let manifest = Manifest {
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            schema: Some(SCHEMA),
            experiment_sha256,
            seeds: vec![experiment.seed],
            inputs,
            ..Manifest::default()
        };
        (Costs { cpu_seconds: None, wall_seconds, peak_memory_bytes: None }, manifest)
    })
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
