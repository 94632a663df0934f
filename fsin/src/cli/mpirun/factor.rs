//! `--find-factor`: runs the program in real time with growing factors, until its results no longer change.
//!
//! Decision: docs/decisions/0136-real-time.md.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use adapters::live::Watch;
use clap::ArgMatches;
use fsin::result::RunResult;

use super::ending::Ended;
use super::once::{self, Finished, Order};
use super::ranks::Forward;
use super::{virtual_time, write_result};
use crate::cli::output::Document;
use crate::cli::{Complaint, Exit, output};

/// \[share\] Largest change of the number of unexpected messages at twice the factor, as a share of all messages.
const MESSAGES: f64 = 0.05;
/// \[share\] Largest change of the virtual time at twice the factor.
const TIME: f64 = 0.05;
/// \[thousandths\] Largest factor.
const LARGEST: u32 = 1_000_000_000;

/// The figures of a run that are compared with those of another.
#[derive(Clone, Copy)]
struct Row {
    /// \[thousandths\] The factor.
    pace: u32,
    /// \[ps\] Virtual time of the program.
    time: u64,
    /// Number of messages that arrived before their receive was posted.
    unexpected: u64,
    /// Number of all messages received.
    received: u64,
}

impl Row {
    /// True if the run with twice the factor gives the same figures, within [`MESSAGES`] and [`TIME`].
    fn is_settled(self, twice: Self) -> bool {
        let messages = self.unexpected.abs_diff(twice.unexpected) as f64 / twice.received.max(1) as f64;
        let time = self.time.abs_diff(twice.time) as f64 / twice.time.max(1) as f64;
        messages <= MESSAGES && time <= TIME
    }
}

/// The line of a run in the printed table.
fn line(row: Row, result: &RunResult) -> String {
    let seconds = |time: u64| time as f64 * 1e-12;
    format!(
        "{:>9} {:>16.9} {:>13.9} {:>10} {:>12} {:>8.1}",
        f64::from(row.pace) / 1000.0,
        seconds(row.time),
        seconds(result.behind_max_ps.unwrap_or(0)),
        row.received - row.unexpected,
        row.unexpected,
        result.wall_seconds.unwrap_or(0.0)
    )
}

/// Doubles the factor until time and unexpected messages settle, and prints a line for each run.
pub(super) fn find(
    matches: &ArgMatches,
    first: Order,
    document: Option<Document>,
    stop: &'static AtomicBool,
) -> Result<Exit, Complaint> {
    let say = |line: &str| {
        let mut out = std::io::stdout().lock();
        // An error does not end the search: the reader of stdout may have gone.
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    };
    say("   factor virtual time (s)    behind (s)   expected   unexpected wall (s)");
    let (mut order, mut before) = (first, None);
    loop {
        let pace = order.pace();
        order.output = Forward::Nowhere;
        let Finished { result, ended, interrupted, .. } = once::run(matches, order, Watch::default(), None, stop)?;
        if interrupted {
            return Ok(Exit::Interrupted);
        }
        match ended {
            Ended::Program(0) => {}
            Ended::Failed(complaint) => return Err(complaint),
            Ended::Program(status) => std::process::exit(status),
        }
        let sum = |figure: fn(&fsin::result::RankRow) -> u64| result.ranks.iter().flatten().map(figure).sum::<u64>();
        let (unexpected, received) = (sum(|rank| rank.messages_unexpected), sum(|rank| rank.messages_received));
        let row = Row { pace, time: virtual_time(&result), unexpected, received };
        say(&line(row, &result));
        let is_settled = before.is_some_and(|before: Row| before.is_settled(row));
        let next = pace.saturating_mul(2);
        if is_settled || next > LARGEST {
            if let Some(document) = document {
                write_result(matches, &result, document)?;
            }
            if !is_settled {
                let what = format!("nothing has settled up to the factor {}", f64::from(pace) / 1000.0);
                return Err(Complaint::new(Exit::Failed, what, "use virtual time: leave out --mode and --find-factor"));
            }
            if !matches.get_flag("quiet") {
                let settled = f64::from(before.map_or(pace, |before| before.pace)) / 1000.0;
                output::tell(&format!("settled at factor {settled}: real time, not deterministic"));
            }
            return Ok(Exit::Done);
        }
        before = Some(row);
        order = Order::of(matches, stop)?.paced(next);
    }
}
