//! Run control: the length of a run, and its measured part.
//!
//! [`batch`] is for endless traffic at a given load: warm up, wait for a steady state, measure in batches. [`fixed`]
//! measures every cycle of a given number. [`to_end`] is for finite traffic: traces, kernels, live programs.
//!
//! Decision: docs/decisions/0146-steps.md.

use crate::couple::{Coupled, Failure, Reached};
use crate::network::Settled;
use crate::repetition::Skipped;
use crate::stats::{Counts, Fairness, Mark, Summary, Window, fairness};
use crate::view::Occupancy;
use trgen::Cycle;
use trgen::phrase::Phrase;

mod batch;
mod fixed;
mod steady;
mod to_end;

pub use batch::{BatchPlan, batch};
pub use fixed::fixed;
pub use steady::{DRIFT, Demand, Interval, LOSS, RESOLUTION, SHORTFALL, Saturation, Steadiness, Verdict};
pub use to_end::to_end;

/// \[batches\] Maximum number of measured batches, and of shots: each is a row of the results, and is kept until the
/// run ends.
pub const MAX_SAMPLES: u64 = 100_000;

/// One batch of measured cycles.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// \[cycle\] First cycle of the batch.
    pub start: Cycle,
    /// \[cycles\] Length of the batch.
    pub cycles: u64,
    /// Measurements of the batch.
    pub summary: Summary,
}

/// Outcome of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// True if the run went to its planned end.
    pub complete: bool,
    /// Whether a steady state was found before measuring; `None` where the run does not wait for one. [`Steadiness`]
    /// says whether the state remained steady during the measurement.
    pub converged: Option<bool>,
    /// \[cycles\] Simulated cycles in all.
    pub cycles: u64,
    /// \[cycle\] Clock at the end of the last task, for finite traffic.
    pub completion: Option<Cycle>,
    /// Measured batches, in order.
    pub samples: Vec<Sample>,
    /// The intervals of the measured time, in order; empty for finite traffic.
    pub intervals: Vec<Interval>,
    /// All batches together.
    pub measured: Window,
    /// \[packets\] Counts of the whole run, warm-up included.
    pub totals: Counts,
    /// \[packets\] Packets still in the network at the end.
    pub in_flight: u64,
    /// \[nodes\] Number of endpoints of the network.
    pub nodes: usize,
    /// \[nodes\] Nodes that never send.
    pub silent_nodes: usize,
    /// Evenness of service over the measured batches.
    pub fairness: Option<Fairness>,
    /// \[packets\] Headers that crossed each link in the measured batches, by the link's router and port (index router
    /// x ports + port); empty unless the network is [observed](crate::network::Network::observe).
    pub crossings: Vec<u64>,
    /// The phases of the whole run between failures and repairs of links; empty if none happened.
    pub phases: Vec<Phase>,
    /// Hash over all deliveries of the run.
    pub digest: u64,
    /// What of the run was not simulated, because it repeated itself; `None` where everything had to be.
    pub skipped: Option<Skipped>,
    /// Why the run ended early, if it did.
    pub failure: Option<Failure>,
    /// Warnings for readers of the results.
    pub warnings: Vec<Warning>,
}

/// A part of a run between two failures or repairs of links.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Phase {
    /// \[cycle\] Its first cycle.
    pub start: Cycle,
    /// \[cycles\] Its length.
    pub cycles: u64,
    /// Packets in it.
    pub counts: Counts,
    /// \[cycles\] Mean latency of the packets received in it; `None` if there were none.
    pub latency_mean: Option<f64>,
}

impl Phase {
    /// The phases that the marks of a run make, and its end.
    fn between(marks: &[Mark], end: Mark) -> Vec<Self> {
        if marks.is_empty() {
            return Vec::new();
        }
        let first = Mark { at: Cycle::FIRST, counts: Counts::default(), latency: (0, 0) };
        let all: Vec<Mark> = std::iter::once(first).chain(marks.iter().copied()).chain([end]).collect();
        let phase = |[one, next]: &[Mark; 2]| {
            let (packets, cycles) = (next.latency.0 - one.latency.0, next.latency.1 - one.latency.1);
            Self {
                start: one.at,
                cycles: next.at.since(one.at),
                counts: next.counts.since(&one.counts),
                latency_mean: (packets > 0).then(|| cycles as f64 / packets as f64),
            }
        };
        all.array_windows().map(phase).collect()
    }
}

/// A warning for readers of the results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// Subject of the warning.
    pub kind: WarningKind,
    /// Text of the warning.
    pub text: Phrase,
}

/// Subject of a warning: effects of a load or pattern are no surprise where the load or pattern was chosen for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WarningKind {
    /// The network accepts less than the offered load.
    Saturated,
    /// Whether the network accepts the offered load cannot be told from so short a measurement.
    Undecided,
    /// No steady state was found before measuring began.
    Unsteady,
    /// Some nodes never send under the pattern.
    SilentNodes,
    /// Anything else.
    Other,
}

impl WarningKind {
    /// Name of the subject in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Saturated => "saturated",
            Self::Undecided => "undecided",
            Self::Unsteady => "not-converged",
            Self::SilentNodes => "silent-nodes",
            Self::Other => "other",
        }
    }
}

impl<T: Into<Phrase>> From<T> for Warning {
    fn from(text: T) -> Self {
        Self { kind: WarningKind::Other, text: text.into() }
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.text.fmt(f)
    }
}

impl Outcome {
    /// \[cycles\] Length of `measured`.
    #[must_use]
    pub fn measured_cycles(&self) -> u64 {
        self.samples.iter().map(|sample| sample.cycles).sum()
    }
}

/// Progress of a run: reported after a bounded amount of work ([`STEPS`](crate::network::STEPS)), and rarely while
/// nothing moves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// `warm-up`, `waiting for the steady state`, `measuring` or `running`; [`ENDED`] after the end.
    pub phase: &'static str,
    /// \[cycle\] The network's clock.
    pub clock: Cycle,
    /// \[cycle\] End of the run, if known.
    pub end: Option<Cycle>,
    /// \[packets\] Packets in the network.
    pub in_flight: u64,
}

/// The phase after the end of a run. A [`Watch`](crate::watch::Watch) sees it once.
pub const ENDED: &str = "ended";

/// A run under way: the coupled pair, the observer of progress, and the measurements so far.
struct Conductor<'a, 'b> {
    /// The source and the network.
    coupled: &'a mut Coupled<'b>,
    /// The observer of progress.
    progress: &'a mut dyn FnMut(Progress),
    /// Batches measured so far.
    samples: Vec<Sample>,
    /// Intervals of the measured time so far.
    intervals: Vec<Interval>,
    /// State at the beginning of the present interval: clock, counts of the run, and latency summed over the open
    /// window.
    interval_start: (Cycle, Counts, u128),
    /// \[phits\] What sources had not generated at that time because they waited for the network.
    held_back: Option<f64>,
    /// All batches together.
    measured: Window,
    /// \[packets\] Link counts at the beginning of the measurement, and at the end of the latest batch.
    crossings: [Vec<u64>; 2],
    /// Warnings so far.
    warnings: Vec<Warning>,
}

impl<'a, 'b> Conductor<'a, 'b> {
    fn new(coupled: &'a mut Coupled<'b>, progress: &'a mut dyn FnMut(Progress)) -> Self {
        let mut conductor = Self {
            coupled,
            progress,
            samples: Vec::new(),
            measured: Window::default(),
            intervals: Vec::new(),
            interval_start: (Cycle::FIRST, Counts::default(), 0),
            held_back: None,
            crossings: [Vec::new(), Vec::new()],
            warnings: Vec::new(),
        };
        conductor.begin_interval();
        conductor
    }

    /// Begins an interval.
    fn begin_interval(&mut self) {
        let network = self.coupled.network();
        let clock = network.clock();
        let recorder = network.settled().recorder;
        self.interval_start = (clock, recorder.totals(), recorder.window().latency.moments().sum());
        self.held_back = self.coupled.held_back_phits();
    }

    /// Ends the present interval and begins the next one.
    fn end_interval(&mut self) {
        let (clock, counts, latency_sum) = self.interval_start;
        let held_back = self.held_back;
        self.begin_interval();
        let cycles = self.interval_start.0.since(clock);
        if cycles > 0 {
            let latency_sum = self.interval_start.2 - latency_sum;
            self.intervals.push(Interval {
                start: clock.since(Cycle::FIRST),
                cycles,
                counts: self.interval_start.1.since(&counts),
                latency_sum,
                held_back_phits: self.held_back.zip(held_back).map(|(now, before)| now - before),
                in_flight: self.coupled.network().in_flight(),
            });
        }
    }

    /// Runs to `target` in `parts` intervals of equal length. Traffic that has ended (load 0) leaves an
    /// empty network, whose clock advances to `target`.
    fn run_in_intervals(
        &mut self,
        phase: &'static str,
        target: Cycle,
        end: Option<Cycle>,
        parts: u64,
    ) -> Result<Reached, Failure> {
        let first = self.clock();
        let cycles = target.since(first);
        let parts = parts.clamp(1, cycles.max(1));
        for part in 1..=parts {
            // Parts differ by at most one cycle; u128 because cycles x parts may not fit.
            let until = first + (u128::from(cycles) * u128::from(part) / u128::from(parts)) as u64;
            let reached = self.run(phase, until, end);
            if reached == Ok(Reached::End) {
                self.coupled.pass(until)?;
            }
            self.end_interval();
            if reached? == Reached::Interrupted {
                return Ok(Reached::Interrupted);
            }
        }
        Ok(Reached::Target)
    }

    /// \[cycle\] The network's clock.
    fn clock(&mut self) -> Cycle {
        self.coupled.network().clock()
    }

    /// Runs to `target`, with progress reports on the way.
    fn run(&mut self, phase: &'static str, target: Cycle, end: Option<Cycle>) -> Result<Reached, Failure> {
        // The network is built, and time begins: from now on a run that is stopped has results.
        let (clock, in_flight) = (self.clock(), self.coupled.network().in_flight());
        (self.progress)(Progress { phase, clock, end, in_flight });
        loop {
            let clock = self.clock();
            let in_flight = self.coupled.network().in_flight();
            let wanted = self.coupled.show(Progress { phase, clock, end, in_flight });
            let stop = wanted.map_or(target, |wanted| (clock + wanted).min(target));
            let reached = self.coupled.run_some(stop)?;
            let network = self.coupled.network();
            let in_flight = network.in_flight();
            (self.progress)(Progress { phase, clock: network.clock(), end, in_flight });
            if let Some(reached) = reached.filter(|&reached| reached != Reached::Target || stop == target) {
                return Ok(reached);
            }
        }
    }

    /// Closes the window that began at `start` as a batch.
    fn close_sample(&mut self, start: Cycle) {
        let network = self.coupled.network();
        let cycles = network.clock().since(start);
        let window = network.recorder_mut().take_window();
        // The latency sum restarts with the window.
        self.interval_start.2 = 0;
        self.crossings[1] = self.crossed();
        if cycles > 0 {
            self.samples.push(Sample { start, cycles, summary: Summary::from(&window) });
            self.measured.merge(&window);
        }
    }

    /// Starts the measurement of links: earlier traffic does not count.
    fn begin_crossings(&mut self) {
        self.crossings[0] = self.crossed();
    }

    /// \[packets\] By router and port: the link counts. Empty unless link statistics are enabled.
    fn crossed(&mut self) -> Vec<u64> {
        let mut occupancy = Occupancy::default();
        let Settled { recorder, view, .. } = self.coupled.network().settled();
        if let Some(view) = view.filter(|_| recorder.is_observed()) {
            view.occupancy(&mut occupancy);
        }
        occupancy.crossed
    }

    /// The outcome of a run that has ended as `end` says.
    fn finish(self, end: Result<Reached, Failure>, converged: Option<bool>) -> Outcome {
        let (clock, in_flight) = (self.coupled.network().clock(), self.coupled.network().in_flight());
        self.coupled.show(Progress { phase: ENDED, clock, end: None, in_flight });
        let silent_nodes = self.coupled.silent_nodes();
        let skipped = self.coupled.skipped();
        let network = self.coupled.network();
        let [before, after] = self.crossings;
        let before = before.into_iter().chain(std::iter::repeat(0));
        let (nodes, cycles) = (network.nodes(), network.clock().since(Cycle::FIRST));
        let in_flight = network.in_flight();
        let recorder = network.settled().recorder;
        let fairness =
            fairness(recorder.received_by_source(), nodes - silent_nodes).filter(|_| !self.samples.is_empty());
        Outcome {
            complete: matches!(end, Ok(Reached::Target | Reached::End)),
            converged,
            cycles,
            completion: None,
            samples: self.samples,
            intervals: self.intervals,
            measured: self.measured,
            totals: recorder.totals(),
            in_flight,
            nodes,
            silent_nodes,
            fairness,
            crossings: after.into_iter().zip(before).map(|(after, before)| after - before).collect(),
            phases: Phase::between(recorder.marks(), recorder.totals_at(clock)),
            digest: recorder.digest(),
            skipped,
            failure: end.err(),
            warnings: self.warnings,
        }
    }
}
