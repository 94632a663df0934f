//! Running one experiment to figures, for commands that run many.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cpu_time::{ProcessTime, ThreadTime};
use fsin::experiment::{Experiment, execute, execute_ideal, execute_watched};
use fsin::report::{Costs, figures, ideal_figures};
use fsin::run::SLICE;
use fsin::watch::{Glimpse, Watch};
use serde_json::{Map, Value};
use trgen::Cycle;

use super::{Complaint, Exit, Flags, manifest, memory};

/// Runs an experiment; `None` if somebody asked to stop. `alone`: nothing else runs in this process, so that its memory
/// and processor time are those of the experiment.
///
/// # Errors
/// An experiment that cannot begin. One that ends in a failure has figures, which say so.
pub(crate) fn perform(
    experiment: &Experiment,
    stop: &AtomicBool,
    alone: bool,
) -> Result<Option<Map<String, Value>>, Complaint> {
    perform_watched(experiment, stop, alone, None)
}

/// As [`perform`], but only as far as a run came that was stopped after so many cycles; over an ideal network, events.
///
/// # Errors
/// As [`perform`].
pub(crate) fn perform_up_to(
    experiment: &Experiment,
    count: u64,
    stop: &AtomicBool,
    alone: bool,
) -> Result<Option<Map<String, Value>>, Complaint> {
    let reached = AtomicBool::new(false);
    let mut until = Until { count, stop, reached: &reached };
    memory::check(experiment)?;
    let figures = guarded(|| {
        let mut events = |events| {
            if events >= count || stop.load(Ordering::Relaxed) {
                reached.store(true, Ordering::Relaxed);
            }
        };
        run(experiment, &reached, alone, Some(&mut until), &mut events)
    })?;
    Ok((!stop.load(Ordering::Relaxed)).then_some(figures))
}

/// Ends a run where another was stopped.
struct Until<'a> {
    count: u64,
    stop: &'a AtomicBool,
    reached: &'a AtomicBool,
}

impl Watch for Until<'_> {
    fn look(&mut self, glimpse: Glimpse<'_>) -> u64 {
        let left = self.count.saturating_sub(glimpse.progress.clock.since(Cycle::FIRST));
        if left == 0 || self.stop.load(Ordering::Relaxed) {
            self.reached.store(true, Ordering::Relaxed);
        }
        left.min(SLICE)
    }
}

/// As [`perform`], while `watch` looks at the run.
///
/// # Errors
/// As [`perform`].
pub(crate) fn perform_watched(
    experiment: &Experiment,
    stop: &AtomicBool,
    alone: bool,
    watch: Option<&mut dyn Watch>,
) -> Result<Option<Map<String, Value>>, Complaint> {
    memory::check(experiment)?;
    let figures = guarded(|| run(experiment, stop, alone, watch, &mut |_| {}))?;
    let partial = stop.load(Ordering::Relaxed) && figures["complete"] == Value::Bool(false);
    Ok((!partial).then_some(figures))
}

/// A defect in a model must not cost the other points of a sweep.
fn guarded(run: impl FnOnce() -> Result<Map<String, Value>, Complaint>) -> Result<Map<String, Value>, Complaint> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let what = format!("the simulator panicked: {}", said.unwrap_or("without a message"));
        Err(Complaint::new(Exit::Failed, what, "this is a defect of fsin: please report it with the experiment"))
    })
}

fn run(
    experiment: &Experiment,
    stop: &AtomicBool,
    alone: bool,
    watch: Option<&mut dyn Watch>,
    events: &mut dyn FnMut(u64),
) -> Result<Map<String, Value>, Complaint> {
    if alone {
        manifest::forget_peak_memory();
    }
    let opening = manifest::Opening::new(experiment);
    let (process, thread, wall) = (ProcessTime::now(), ThreadTime::now(), Instant::now());
    let costs = || Costs {
        cpu_seconds: match (alone, experiment.threads) {
            (true, _) => Some(process.elapsed().as_secs_f64()),
            (false, 1) => Some(thread.elapsed().as_secs_f64()),
            // Several threads of several points cannot be told apart.
            (false, _) => None,
        },
        wall_seconds: wall.elapsed().as_secs_f64(),
        peak_memory_bytes: manifest::peak_memory_bytes().filter(|_| alone),
    };
    let of_trouble = |trouble| Complaint::of_trouble(trouble, experiment.settings());
    Ok(if experiment.ideal_latency.is_some() {
        let run = execute_ideal(experiment, stop, events).map_err(of_trouble)?;
        let costs = costs();
        let manifest = opening.close(experiment, costs.cpu_seconds, costs.peak_memory_bytes);
        ideal_figures(experiment, &run, costs, manifest, &Flags)
    } else {
        let finished = match watch {
            Some(watch) => execute_watched(experiment, stop, &mut |_| {}, watch),
            None => execute(experiment, stop, &mut |_| {}),
        };
        let finished = finished.map_err(of_trouble)?;
        let costs = costs();
        let manifest = opening.close(experiment, costs.cpu_seconds, costs.peak_memory_bytes);
        figures(experiment, &finished, costs, manifest, &Flags)
    })
}
