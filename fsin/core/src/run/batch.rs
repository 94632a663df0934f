//! Batch means: warm up, wait for a steady state, measure in batches.
//!
//! Decision: docs/decisions/0009-steady-state.md.

use trgen::Cycle;
use trgen::phrase;

use super::steady::INTERVALS;
use super::{Conductor, Outcome, Progress, Warning, WarningKind};
use crate::couple::{Coupled, Failure, Reached};
use crate::stats::Window;

/// Plan of a batch run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BatchPlan {
    /// \[cycles\] Warm-up, without any measurement.
    pub warmup: u64,
    /// \[cycles\] Convergence check interval.
    pub conv_period: u64,
    /// \[share\] Threshold below which a change of accepted load and of mean delay counts as small.
    pub conv_threshold: f64,
    /// \[cycles\] Maximum wait for convergence after the warm-up; then measuring begins in any case. 0: no convergence
    /// check.
    pub max_conv_time: u64,
    /// \[batches\] Number of batches to measure.
    pub samples: u64,
    /// \[cycles\] Minimum length of each batch.
    pub sample_size: u64,
    /// \[packets\] Minimum number that a batch must receive. A batch is extended to at most 10 times its length to
    /// reach it.
    pub min_batch_packets: u64,
    /// \[cycles\] Time from the start of the run before which no state is steady: the first packets are still on their
    /// way, and nothing changes until they arrive.
    pub settles: u64,
}

impl Default for BatchPlan {
    fn default() -> Self {
        Self {
            warmup: 5_000,
            conv_period: 1_000,
            conv_threshold: 0.05,
            max_conv_time: 20_000,
            samples: 10,
            sample_size: 2_000,
            min_batch_packets: 30,
            settles: 0,
        }
    }
}

/// Number of consecutive small changes after which a state is steady.
const STEADY: u32 = 3;
/// Maximum factor by which a batch is extended to receive its packets.
const STRETCH: u64 = 10;

/// Warms up, waits for a steady state, and measures.
///
/// The state is steady after three small changes in a row from one period to the next. A change is small if it is below
/// the threshold, or within two standard errors of the chance variation between two periods of so few packets.
pub fn batch(coupled: &mut Coupled<'_>, plan: &BatchPlan, progress: &mut dyn FnMut(Progress)) -> Outcome {
    let mut conductor = Conductor::new(coupled, progress);
    let mut converged = None;
    let end = measure(&mut conductor, plan, &mut converged);
    if end.is_err() && conductor.samples.is_empty() {
        conductor.warnings.push("the run failed before measuring began: there are no loads and no delays".into());
    }
    if converged == Some(false) {
        let BatchPlan { max_conv_time: most, conv_period: period, .. } = *plan;
        let why = match most.div_ceil(period) <= STEADY.into() {
            true => {
                phrase![
                    ("it takes {} periods of ", STEADY + 1),
                    ["conv-period" => period],
                    " to see one: use ",
                    ["max-conv-time" => period.saturating_mul(u64::from(STEADY) + 1)],
                    " or more, or 0"
                ]
            }
            false => "a saturated network, or too short a warm-up".into(),
        };
        let text = phrase![
            "not converged: no steady state within {most} cycles after the warm-up; the figures are of a state that \
             may still be changing (",
            why,
            ")"
        ];
        conductor.warnings.push(Warning { kind: WarningKind::Unsteady, text });
    }
    conductor.finish(end, converged)
}

/// Warms up, waits for a steady state, and measures all batches. Sets `converged` once it is known whether a steady
/// state was found.
fn measure(
    conductor: &mut Conductor<'_, '_>,
    plan: &BatchPlan,
    converged: &mut Option<bool>,
) -> Result<Reached, Failure> {
    let measuring = plan.samples * plan.sample_size;
    let start = conductor.clock();
    let reached = run_through(conductor, "warm-up", start + plan.warmup, start + plan.warmup + measuring)?;
    if reached == Reached::Interrupted {
        return Ok(reached);
    }
    if plan.max_conv_time > 0 {
        *converged = Some(false);
        let limit = conductor.clock() + plan.max_conv_time;
        let mut before: Option<Window> = None;
        let mut small = 0;
        while *converged == Some(false) && conductor.clock() < limit {
            conductor.coupled.network().recorder_mut().take_window();
            let target = (conductor.clock() + plan.conv_period).min(limit);
            let reached = run_through(conductor, "waiting for the steady state", target, limit + measuring)?;
            if reached == Reached::Interrupted {
                return Ok(reached);
            }
            let now = conductor.coupled.network().recorder_mut().take_window();
            let is_filled = conductor.clock().since(Cycle::FIRST) >= plan.settles.saturating_add(2 * plan.conv_period);
            if let Some(before) = before.as_ref().filter(|_| is_filled) {
                small = if is_small(before, &now, plan.conv_threshold) { small + 1 } else { 0 };
            }
            before = Some(now);
            *converged = Some(small >= STEADY);
        }
    }
    conductor.coupled.network().begin_measuring();
    conductor.begin_crossings();
    conductor.begin_interval();
    let end = conductor.clock() + measuring;
    for _ in 0..plan.samples {
        let start = conductor.clock();
        let parts = INTERVALS.div_ceil(plan.samples);
        let mut reached = conductor.run_in_intervals("measuring", start + plan.sample_size, Some(end), parts);
        while reached.as_ref().is_ok_and(|&reached| reached != Reached::Interrupted)
            && conductor.coupled.network().settled().recorder.window().counts.received < plan.min_batch_packets
            && conductor.clock().since(start) < STRETCH * plan.sample_size
        {
            let target = conductor.clock() + plan.sample_size;
            reached = conductor.run_in_intervals("measuring", target, Some(end), 1);
        }
        // Measurements up to a deadlock count.
        conductor.close_sample(start);
        if reached? == Reached::Interrupted {
            return Ok(Reached::Interrupted);
        }
    }
    Ok(Reached::Target)
}

/// Runs to `target`, also if the traffic ends before (load 0): the clock of the empty network then advances to
/// `target`.
fn run_through(
    conductor: &mut Conductor<'_, '_>,
    phase: &'static str,
    target: Cycle,
    end: Cycle,
) -> Result<Reached, Failure> {
    let reached = conductor.run(phase, target, Some(end))?;
    if reached == Reached::End {
        conductor.coupled.pass(target)?;
    }
    Ok(reached)
}

/// True if accepted load and mean delay hardly changed from one period to the next.
fn is_small(before: &Window, now: &Window, threshold: f64) -> bool {
    let (a, b) = (before.counts.received as f64, now.counts.received as f64);
    let load_is_small = (a - b).abs() <= (threshold * a.max(b)).max(2.0 * (a + b).sqrt());
    let (before, now) = (before.latency.moments(), now.latency.moments());
    let delay_is_small = match (before.mean(), now.mean(), before.std(), now.std()) {
        (Some(x), Some(y), Some(dx), Some(dy)) => {
            (x - y).abs() <= (threshold * x.max(y)).max(2.0 * (dx * dx / a + dy * dy / b).sqrt())
        }
        _ => before.mean() == now.mean(),
    };
    load_is_small && delay_is_small
}
