//! Warnings about a run, from its settings and its outcome.

use trgen::phrase::Phrase;
use trgen::{Cycle, phrase};

use super::Finished;
use crate::plan::RunPlan;
use crate::resolve::Experiment;
use fsin_core::family::Unloaded;
use fsin_core::run::{DRIFT, Outcome, SHORTFALL, Saturation, Verdict, Warning, WarningKind};
use fsin_core::stats::{Counts, Estimate};
use fsin_core::words::counted;

/// Warnings that follow from the experiment and its outcome together.
pub(super) fn add(experiment: &Experiment, finished: &mut Finished) {
    let mut warnings: Vec<Warning> = experiment.warnings().map(Warning::from).collect();
    warnings.append(&mut finished.outcome.warnings);
    let outcome = &finished.outcome;
    match &finished.trace {
        None if outcome.silent_nodes > 0 => {
            let share = 100.0 * outcome.silent_nodes as f64 / outcome.nodes as f64;
            let effect = match finished.shots {
                Some(_) => "they owe nothing in a shot".into(),
                None if !experiment.uses_load() => "the others have loads of their own".into(),
                None => phrase!["the offered load is lower than ", ["load"], " by that share"],
            };
            let (silent, nodes) = (outcome.silent_nodes, outcome.nodes);
            let text = phrase!["{silent} of {nodes} nodes ({share:.1} %) never send under this pattern: ", effect];
            warnings.push(Warning { kind: WarningKind::SilentNodes, text });
        }
        Some(trace) => warnings.extend(trace.report.misfits.warning().map(Warning::from)),
        None => {}
    }
    if outcome.failure.is_none() {
        warnings.extend(late_failures(experiment, outcome).map(Warning::from));
        warnings.extend(without_a_route(finished).map(Warning::from));
        warnings.extend(unsteady_warning(experiment, finished));
        warnings.extend(undecided_warning(experiment, finished));
        warnings.extend(short_measurement_warnings(experiment, finished).into_iter().map(Warning::from));
    }
    let bounds = finished.bounds.as_ref().zip(outcome.completion);
    finished.notes.extend(bounds.and_then(|(bounds, completion)| bounds.explain(completion.0)));
    if let RunPlan::ToEnd(limit) = experiment.plan
        && !outcome.complete
        && outcome.failure.is_none()
        && outcome.cycles >= limit.since(Cycle::FIRST)
    {
        let text = phrase![
            (
                "incomplete: the limit of {} cycles ended the run before its traffic had ended; there is no \
                 completion time. Use a larger ",
                outcome.cycles
            ),
            ["max-cycles"],
            "; with ",
            ["strict"],
            " this is exit status 3"
        ];
        warnings.push(text.into());
    }
    finished.outcome.warnings = warnings;
}

/// A warning about failures and repairs that the run did not reach.
fn late_failures(experiment: &Experiment, outcome: &Outcome) -> Option<Phrase> {
    let changes = &experiment.network.failures()?.changes;
    let late: Vec<String> =
        changes.iter().filter(|change| change.at > outcome.cycles).flat_map(|change| change.words.clone()).collect();
    let ended = counted(outcome.cycles, "cycle", "cycles");
    (!late.is_empty()).then(|| phrase![["fail" => late.join(",")], ": the run ended after {ended}, before that time"])
}

/// A warning that a verdict is not on all messages.
fn without_a_route(finished: &Finished) -> Option<Phrase> {
    let counts = &finished.outcome.measured.counts;
    let lost = counts.without_a_route();
    (lost > 0 && finished.steadiness.verdict.is_some()).then(|| {
        let all = counted(counts.generated, "packet", "packets");
        format!(
            "{lost} of {all} generated in the measured time have no route, and are lost: the verdict is on the others"
        )
        .into()
    })
}

/// Warnings about a run that measured too little.
fn short_measurement_warnings(experiment: &Experiment, finished: &Finished) -> Vec<Phrase> {
    let (outcome, cycles) = (&finished.outcome, finished.outcome.measured_cycles());
    let Counts { generated, received, .. } = outcome.measured.counts;
    let mut warnings = Vec::new();
    let longer = match experiment.plan {
        RunPlan::Batch(_) => phrase!["use a larger ", ["sample-size"], " or ", ["samples"]],
        RunPlan::Fixed(_) => phrase!["use more ", ["cycles"]],
        RunPlan::ToEnd(_) => {
            if outcome.complete && outcome.totals.generated == 0 {
                warnings.push("no packet entered the network: no message was sent to another node".into());
            }
            return warnings;
        }
    };
    if cycles == 0 {
        return warnings;
    }
    let within = format!("in the {}", counted(cycles, "measured cycle", "measured cycles"));
    warnings.extend(unfilled(experiment, outcome, &longer).filter(|_| received > 0));
    if received == 0 {
        let cause = match generated {
            0 => "none was generated",
            _ => "those that were generated were still on their way",
        };
        warnings.push(phrase!["no packet was received {within}, so that there is no latency: {cause}; ", &longer]);
    }
    warnings
}

/// A warning that the first packets over long routes arrive late in the measured time, or after it.
fn unfilled(experiment: &Experiment, outcome: &Outcome, longer: &Phrase) -> Option<Phrase> {
    /// Share of the measured time in which they may still be missing.
    const SHARE: f64 = 0.1;
    let latency = experiment.unloaded?.latency;
    let start = outcome.samples.first()?.start.since(Cycle::FIRST);
    let missing = latency.saturating_sub(start);
    let measured = outcome.measured_cycles();
    (missing as f64 > SHARE * measured as f64).then(|| {
        let remedy = match experiment.plan {
            RunPlan::Batch(_) => phrase!["use ", ["warmup" => latency.saturating_mul(2)], " or more"],
            _ => longer.clone(),
        };
        phrase![
            (
                "packets take up to {latency} cycles without load, and measuring began after {start} and lasted for \
                 {measured}: accepted load is too low, and latency is no mean of all packets but that of those with short \
                 routes; "
            ),
            remedy
        ]
    })
}

/// A warning about a saturated network, or about latency that changes with the length of the run.
fn unsteady_warning(experiment: &Experiment, finished: &Finished) -> Option<Warning> {
    let (outcome, steadiness) = (&finished.outcome, &finished.steadiness);
    let share = experiment.load_of_a_packet() / outcome.nodes as f64;
    let load = |estimate: Estimate| {
        let ci95 = estimate.ci95.map_or(String::new(), |ci95| format!(" ± {:.5}", ci95 * share));
        format!("{:.5}{ci95}", estimate.mean * share)
    };
    let unit = experiment.model.load_unit;
    let shortfall = steadiness.shortfall.map_or(String::new(), load);
    let (kind, text) = match steadiness.saturation() {
        Some(Saturation::Growing) if steadiness.queue_growth.is_none_or(|growth| growth.mean <= 0.0) => (
            WarningKind::Saturated,
            format!("saturated: the network accepts {shortfall} {unit} less than the load asked for").into(),
        ),
        Some(Saturation::Growing) => (
            WarningKind::Saturated,
            format!(
                "saturated: the network accepts {shortfall} {unit} less than the load asked for, and queues grow \
                 by {} {unit}: latency grows as long as the run lasts, and its mean is that of this length alone",
                steadiness.queue_growth.map_or(String::new(), load)
            )
            .into(),
        ),
        Some(Saturation::HeldBack) if !experiment.throttled => (
            WarningKind::Saturated,
            format!(
                "saturated: the network accepts {shortfall} {unit} less than the load asked for: congestion control \
                 keeps nodes from generating the rest"
            )
            .into(),
        ),
        Some(Saturation::Losing) => (
            WarningKind::Saturated,
            format!(
                "saturated: the network accepts {shortfall} {unit} less than the load asked for: it loses {} of the {} \
                 packets generated in the measured time",
                outcome.measured.counts.dropped_inside, outcome.measured.counts.generated
            )
            .into(),
        ),
        Some(Saturation::HeldBack) => (
            WarningKind::Saturated,
            format!(
                "saturated: the network accepts {shortfall} {unit} less than the load asked for, which is more than \
                 {:.0} % of it: throttled sources are held back",
                100.0 * SHORTFALL
            )
            .into(),
        ),
        None if steadiness.has_drift() && matches!(experiment.plan, RunPlan::Batch(_)) => {
            let drift = steadiness.drift?;
            let text = phrase![
                (
                    "not converged: mean latency changed by {:+.0} ± {:.0} % of its mean while it was measured, more \
                     than {:.0} % and more than its spread explains, so that it depends on the length of the run (a \
                     load close to saturation, or too short a warm-up): use a larger ",
                    100.0 * drift.mean,
                    100.0 * drift.ci95.unwrap_or(0.0),
                    100.0 * DRIFT
                ),
                ["warmup"],
                " and ",
                ["sample-size"]
            ];
            (WarningKind::Unsteady, text)
        }
        None => return None,
    };
    Some(Warning { kind, text })
}

/// A warning about a run too short for a verdict, with the length that is expected to decide.
fn undecided_warning(experiment: &Experiment, finished: &Finished) -> Option<Warning> {
    let Some(Verdict::Undecided { deciding_cycles }) = finished.steadiness.verdict else { return None };
    let measured = counted(finished.outcome.measured_cycles(), "measured cycle", "measured cycles");
    let Unloaded { latency, settles, .. } = experiment.unloaded.unwrap_or(Unloaded::shared(0));
    let start = finished.outcome.samples.first().map_or(0, |sample| sample.start.since(Cycle::FIRST));
    let why = match start + finished.outcome.measured_cycles() <= settles {
        true => format!(", since packets can be on their way for {latency} cycles without load"),
        false => String::new(),
    };
    let begun = format!("undecided: whether the network carries this load cannot be told from {measured}{why}");
    let text = match (&experiment.plan, deciding_cycles) {
        (RunPlan::Batch(plan), Some(cycles)) => {
            let settling = settles.saturating_sub(start);
            let size = (cycles - settling.min(cycles)).max(1).div_ceil(plan.samples.max(1));
            let warmup = if settling > 0 { phrase![["warmup" => settles], " and "] } else { phrase![""] };
            phrase![("{begun}; about {cycles} are expected to decide: use "), warmup, ["sample-size" => size]]
        }
        (RunPlan::Fixed(total), Some(cycles)) => {
            let total = cycles.max(*total);
            phrase![("{begun}; about {total} are expected to decide: use "), ["cycles" => total]]
        }
        (RunPlan::Batch(_), None) => phrase![("{begun}: use a larger "), ["sample-size"], " or ", ["samples"]],
        _ => phrase![("{begun}: use more "), ["cycles"]],
    };
    Some(Warning { kind: WarningKind::Undecided, text })
}
