//! The option `--sync`: how ranks are synchronised, and what the synchronisation costs.

use adapters::clock::parse_span;
use adapters::live::{LiveReport, Protocol, Rules, Synchronisation};
use adapters::protocol::Mode;
use clap::ArgMatches;
use fsin::result::{RankRow, RunResult};
use fsin::words::counted;

use crate::cli::live::serve::model::Model;
use crate::cli::{Complaint, Exit};

/// The synchronisation that `--sync` names; `None` for a central order. Sets the mode in `rules` to quantised, if
/// messages may be late.
pub(super) fn protocol(
    matches: &ArgMatches,
    model: &Model,
    rules: &mut Rules,
) -> Result<Option<Synchronisation>, Complaint> {
    let word = matches.get_one::<String>("sync").map_or("central", String::as_str);
    let refused = |what: &str, remedy: &str| Err(Complaint::new(Exit::Usage, format!("--sync {word}: {what}"), remedy));
    let protocol = match word.split_once(':') {
        None if word == "central" => return Ok(None),
        None if word == "null-message" => Protocol::NullMessage,
        None if word == "conditional-event" => Protocol::ConditionalEvent,
        None if word == "combined" => Protocol::Combined,
        None if word == "deterministic" => Protocol::Deterministic,
        Some(("quantum", time)) => match parse_span(time).filter(|&time| time > 0) {
            Some(time) => Protocol::Quantum(time),
            None => return refused("the quantum is not a time above 0 with a unit", "write --sync quantum:1us"),
        },
        _ => {
            let all = "write central, quantum:TIME, null-message, conditional-event, combined, or deterministic";
            return refused("there is no such synchronisation", all);
        }
    };
    let Some(delay) = model.delay else {
        let what = "in this network, the time that a message takes is not known when it is sent";
        return refused(what, "use --sync central, or --network constant-delay");
    };
    if rules.overheads.response != delay {
        let what = "ranks share nodes, and messages within a node take one cycle";
        return refused(what, "use --sync central, or --ranks-per-node 1");
    }
    // In a longer quantum, a message may arrive before the quantum ends; it is handed over at the end, late.
    if let Protocol::Quantum(quantum) = protocol
        && quantum > rules.overheads.horizon(model.clock)
    {
        rules.terms.mode = Mode::Quantised;
    }
    Ok(Some(Synchronisation { protocol, delay }))
}

/// A warning if messages were handed over late, which makes the run approximate. `shortest` is the delay in
/// picoseconds.
pub(super) fn lateness(matches: &ArgMatches, report: &LiveReport, shortest: u64) -> Option<String> {
    let late: u64 = report.guests.iter().map(|guest| guest.late).sum();
    let sum: f64 = report.guests.iter().filter_map(|guest| Some(guest.late_mean? * guest.late as f64)).sum();
    let max = report.guests.iter().map(|guest| guest.late_max).max().unwrap_or(0);
    let word = matches.get_one::<String>("sync").map_or("", String::as_str);
    (late > 0).then(|| {
        format!(
            "approximate: with --sync {word}, {late} of {} were handed over late, by {:.0} ps on average and {max} ps at \
             most; the delay is {shortest} ps",
            counted(report.deliveries, "message", "messages"),
            sum / late as f64,
        )
    })
}

/// Adds the costs of the synchronisation to the rows of the ranks; a message takes `shortest` ps.
pub(super) fn add_costs(rows: &mut [RankRow], report: &LiveReport, shortest: u64) {
    let end = rows.iter().map(|row| row.time_ps).max().unwrap_or(0);
    for row in rows {
        let Some(counts) = report.guests.get(row.rank as usize).and_then(|guest| guest.sync) else { continue };
        let delays = row.time_ps as f64 / shortest as f64;
        row.sync_rounds = Some(counts.rounds);
        row.sync_rounds_relative = Some(counts.rounds as f64 / end.div_ceil(shortest).max(1) as f64);
        row.uninterrupted_mean_delays = (counts.stops > 0).then(|| delays / counts.stops as f64);
    }
}

/// The costs of the synchronisation in one line, as means over all ranks; `None` with a central order.
pub(super) fn line(matches: &ArgMatches, result: &RunResult) -> Option<String> {
    let mean = |figure: &dyn Fn(&RankRow) -> Option<f64>| {
        let all: Vec<f64> = result.ranks.iter().flatten().filter_map(figure).collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    };
    let rounds = mean(&|row| row.sync_rounds.map(|rounds| rounds as f64))?;
    let relative = mean(&|row| row.sync_rounds_relative)?;
    let run = mean(&|row| row.uninterrupted_mean_delays);
    let run =
        run.map_or_else(|| "never interrupted".to_owned(), |run| format!("{run:.1} delays between interruptions"));
    let word = matches.get_one::<String>("sync").map_or("", String::as_str);
    Some(format!(
        "--sync {word}: {rounds:.0} rounds per rank, {relative:.3} times as many as with quanta of one delay; {run}"
    ))
}
