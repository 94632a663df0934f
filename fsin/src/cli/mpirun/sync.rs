//! Synchronisation of ranks, and its account.

use adapters::clock::parse_span;
use adapters::live::{Ahead, LiveReport, Protocol, Rules};
use clap::ArgMatches;
use fsin::result::{RankRow, RunResult};

use crate::cli::serve::model::Model;
use crate::cli::{Complaint, Exit};

/// The protocol that `--sync` names; `None` for a central order.
pub(super) fn protocol(matches: &ArgMatches, model: &Model, rules: &Rules) -> Result<Option<Ahead>, Complaint> {
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
            None => return refused("the quantum is not a time above 0 with its unit", "write --sync quantum:1us"),
        },
        _ => {
            let all = "write central, quantum:TIME, null-message, conditional-event, combined, or deterministic";
            return refused("no such synchronisation", all);
        }
    };
    let Some(delay) = model.delay else {
        let what = "in this network the time that a message takes is not known when it is sent";
        return refused(what, "use --sync central, or --network constant-delay");
    };
    if rules.overheads.response != delay {
        let what = "ranks share nodes, and messages within a node take one cycle";
        return refused(what, "use --sync central, or --ranks-per-node 1");
    }
    let shortest = rules.overheads.horizon(model.clock);
    if let Protocol::Quantum(quantum) = protocol
        && quantum > shortest
    {
        let what = format!("a message may arrive within a quantum, as it takes {shortest} ps, which is not exact");
        return refused(&what, &format!("write a quantum of at most {shortest}ps"));
    }
    Ok(Some(Ahead { protocol, delay }))
}

/// Adds the account of the synchronisation; a message takes `shortest` ps.
pub(super) fn account(rows: &mut [RankRow], report: &LiveReport, shortest: u64) {
    let end = rows.iter().map(|row| row.time_ps).max().unwrap_or(0);
    for row in rows {
        let Some(counts) = report.guests.get(row.rank as usize).and_then(|guest| guest.sync) else { continue };
        let delays = row.time_ps as f64 / shortest as f64;
        row.sync_rounds = Some(counts.rounds);
        row.sync_rounds_relative = Some(counts.rounds as f64 / end.div_ceil(shortest).max(1) as f64);
        row.uninterrupted_mean_delays = (counts.stops > 0).then(|| delays / counts.stops as f64);
    }
}

/// The account in one line, as means of all ranks.
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
    Some(format!("--sync {word}: {rounds:.0} rounds of a rank, {relative:.3} of those of quanta of a delay; {run}"))
}
