//! Warnings for readers of the results of a run of guests.

use adapters::live::{Behind, GuestReport, LiveReport, LostGuest, Region};
use fsin::words::counted;

/// Maximum number of lost guests to name.
const SHOWN: usize = 16;

/// A warning if the measured region differs from the requested one. `phase` is the phase of the measurement at the end
/// of the run: 0 before, 1 during, 2 after it.
pub(in crate::cli) fn of_region(Region { from, to }: &Region, phase: u64) -> Option<String> {
    match phase {
        0 => Some(format!("nothing was measured: no guest, or not all of them, set the mark `{from}`")),
        1 => Some(format!("measured to the end of the run: no guest set the mark `{to}`")),
        _ => None,
    }
}

/// \[ps\] Lag of virtual time behind the wall clock that deserves a warning: more than late wake-ups explain.
const BEHIND: u64 = 10_000_000_000;

/// A warning if the network did not keep up with the wall clock. `factor` is the wall-clock time of a second of virtual
/// time, in seconds.
pub(in crate::cli) fn of_pace(behind: Option<Behind>, factor: f64) -> Option<String> {
    let behind = behind.filter(|behind| behind.max >= BEHIND)?;
    let seconds = |time: f64| time * 1e-12;
    let enough = factor * (behind.at as f64 + behind.max as f64) / behind.at.max(1) as f64;
    Some(format!(
        "virtual time came up to {:.3} s behind the wall clock, {:.3} s on the average of all grants: guests that live by \
         that clock took the network for slower than it is; {}",
        seconds(behind.max as f64),
        seconds(behind.mean().unwrap_or(0.0)),
        match (enough * 10.0).ceil() / 10.0 {
            enough if enough <= 1e6 => format!("use --factor {enough} or more, or a smaller network"),
            _ => "use a greater --factor, or a smaller network".to_owned(),
        }
    ))
}

/// Warnings of lost guests, and of messages that were not delivered or not captured. `pcap` is true if payloads were to
/// be captured.
pub(in crate::cli) fn of_guests(report: &LiveReport, lost: LostGuest, pcap: bool) -> Vec<String> {
    let mut all = Vec::new();
    // With another policy a lost guest ends the run, whose error names it.
    if lost == LostGuest::DropNode {
        let gone = |guest: &GuestReport| Some((guest.name.clone(), nodes(&guest.nodes), guest.lost.clone()?));
        let gone: Vec<_> = report.guests.iter().filter_map(gone).collect();
        all.extend(gone.iter().take(SHOWN).map(|(name, nodes, why)| {
            format!("the run went on without guest `{name}` ({nodes}), which was lost: {why}")
        }));
        if gone.len() > SHOWN {
            let more = counted(gone.len() - SHOWN, "more guest, which was", "more guests, which were");
            all.push(format!("the run went on without {more} lost"));
        }
    }
    if report.undelivered > 0 {
        all.push(format!(
            "{} of {} arrived and {}; messages_delivered and latencies are without {}",
            report.undelivered,
            counted(report.injects, "message", "messages"),
            match report.undelivered {
                1 => "was handed over to nobody: its node has no guest, or it had left",
                _ => "were handed over to nobody: their nodes have no guest, or it had left",
            },
            if report.undelivered == 1 { "it" } else { "them" }
        ));
    }
    if pcap && report.bare > 0 {
        let what = format!("{} of {} carried nothing", report.bare, counted(report.injects, "message", "messages"));
        let are = if report.bare == 1 { "is" } else { "are" };
        all.push(format!("{what}, and {are} not among the captured packets (--pcap)"));
    }
    all
}

/// Nodes as text, such as "4 nodes, 3 to 6".
fn nodes(all: &[u32]) -> String {
    match all {
        [] => "no node".to_owned(),
        [node] => format!("node {node}"),
        [first, .., last] => format!("{} nodes, {first} to {last}", all.len()),
    }
}
