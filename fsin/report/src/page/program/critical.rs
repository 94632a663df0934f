//! The critical path of a program: the chain of computations and messages that leads to its end, with the share of each
//! part in the time.
//!
//! The path is followed backwards from the end of the last rank. Computing leads to its own begin. A wait that ended
//! with the arrival of a message leads to the sending of that message at its sender. A wait for a local event, such as
//! the departure of the rank's own message, leads to the begin of the wait. The parts follow one another without gap,
//! so they sum to the time of the last rank.
//!
//! # How the model departs from reality, and who could notice
//! Of several messages that arrive in the same instant, the one that was sent last is taken.

use std::collections::{BTreeMap, HashMap};

use fsin_core::words::counted;
use maud::{Markup, html};
use trgen::trace::timeline::{Doing, Passage, Span};

use super::super::super::plot::short;
use super::super::super::rounded::share;
use super::super::html::Table;
use super::ProgramRun;

/// Maximum number of rows of the table.
const MOST_ROWS: usize = 20;
/// Maximum number of parts that are listed one by one.
const MOST_PARTS: usize = 500;

/// The kind of a part of the path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum What {
    /// A rank computes.
    Computing(u32),
    /// A rank waits in a call for a local event.
    Own(u32, String),
    /// A message from a rank to another is under way; the call in which the receiver waits for it.
    Message(u32, u32, String),
    /// A rank is outside all spans.
    Other(u32),
}

impl What {
    fn words(&self) -> String {
        match self {
            Self::Computing(rank) => format!("rank {rank} computes"),
            Self::Own(rank, call) => format!("rank {rank} waits in {call} for its own message to leave"),
            Self::Message(from, to, call) if call.is_empty() => format!("message from rank {from} to rank {to}"),
            Self::Message(from, to, call) => format!("message from rank {from} to rank {to}, which waits in {call}"),
            Self::Other(rank) => format!("rank {rank}, between calls"),
        }
    }
}

/// A part of the path.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Piece {
    what: What,
    /// \[ps\] Begin.
    begin: u64,
    /// \[ps\] End.
    end: u64,
}

/// The path to `end` \[ps\] at a rank, from 0 on: pieces that follow one another without gap.
fn path(spans: &[Span], messages: &[Passage], last: u32, end: u64) -> Vec<Piece> {
    // By rank: its spans that do not overlap, by their begins.
    let mut doing: HashMap<u32, Vec<&Span>> = HashMap::new();
    for span in spans.iter().filter(|span| span.doing != Doing::Collective && span.end > span.begin) {
        doing.entry(span.rank).or_default().push(span);
    }
    doing.values_mut().for_each(|spans| spans.sort_by_key(|span| span.begin));
    let mut arrivals: HashMap<(u32, u64), &Passage> = HashMap::new();
    for message in messages.iter().filter(|message| message.from != message.to) {
        let Some(arrived) = message.arrived else { continue };
        let kept = arrivals.entry((message.to, arrived)).or_insert(message);
        if (message.sent, std::cmp::Reverse(message.from)) > (kept.sent, std::cmp::Reverse(kept.from)) {
            *kept = message;
        }
    }
    let (mut rank, mut now) = (last, end);
    let mut pieces: Vec<Piece> = Vec::new();
    while now > 0 {
        let of_rank = doing.get(&rank).map_or(&[][..], Vec::as_slice);
        let at = of_rank.partition_point(|span| span.begin < now);
        let span = at.checked_sub(1).map(|at| of_rank[at]);
        let call = match span {
            Some(span) if span.end >= now && span.doing == Doing::Computing => {
                pieces.push(Piece { what: What::Computing(rank), begin: span.begin, end: now });
                now = span.begin;
                continue;
            }
            Some(span) if span.end >= now => Some(span),
            _ => None,
        };
        // A message that took no time would not advance the search.
        let message = arrivals.get(&(rank, now)).filter(|message| message.sent < now && call.is_some());
        match (message, call) {
            (Some(message), call) => {
                let call = call.map(|span| span.name.clone()).unwrap_or_default();
                pieces.push(Piece { what: What::Message(message.from, rank, call), begin: message.sent, end: now });
                (rank, now) = (message.from, message.sent);
            }
            (None, Some(span)) => {
                pieces.push(Piece { what: What::Own(rank, span.name.clone()), begin: span.begin, end: now });
                now = span.begin;
            }
            (None, None) => {
                let begin = span.map_or(0, |span| span.end);
                pieces.push(Piece { what: What::Other(rank), begin, end: now });
                now = begin;
            }
        }
    }
    pieces.reverse();
    pieces
}

/// The section on the critical path; empty if nothing is known of the ranks over time.
pub(super) fn section(run: &ProgramRun<'_>) -> Markup {
    let ranks = run.result.ranks.iter().flatten();
    let Some(last) = ranks.reduce(|last, rank| if rank.time_ps > last.time_ps { rank } else { last }) else {
        return Markup::default();
    };
    if run.spans.is_empty() || last.time_ps == 0 {
        return Markup::default();
    }
    let pieces = path(run.spans, run.messages, last.rank as u32, last.time_ps);
    let whole = last.time_ps as f64;
    let mut sums: BTreeMap<&What, (u64, u64)> = BTreeMap::new();
    for piece in &pieces {
        let sum = sums.entry(&piece.what).or_default();
        *sum = (sum.0 + 1, sum.1 + piece.end - piece.begin);
    }
    let mut sums: Vec<(&What, (u64, u64))> = sums.into_iter().collect();
    sums.sort_by(|one, other| other.1.1.cmp(&one.1.1).then(one.0.cmp(other.0)));
    let row = |what: &str, times: u64, time: u64| {
        [what.to_owned(), times.to_string(), time.to_string(), share(time as f64 / whole)]
    };
    let mut table = Table::new(["", "times", "time (ps)", "share"]);
    for (what, (times, time)) in sums.iter().take(MOST_ROWS) {
        table.row("", &row(&what.words(), *times, *time));
    }
    let rest = sums.iter().skip(MOST_ROWS).fold((0, 0), |sum, (_, one)| (sum.0 + one.0, sum.1 + one.1));
    if rest.0 > 0 {
        table.row("", &row("all others", rest.0, rest.1));
    }
    let all = pieces.iter().map(|piece| piece.end - piece.begin).sum();
    table.row("", &row("the whole path", pieces.len() as u64, all));
    let kind = |is: fn(&What) -> bool| -> u64 { sums.iter().filter(|(what, _)| is(what)).map(|(_, one)| one.1).sum() };
    let computing = kind(|what| matches!(what, What::Computing(_)));
    let messages = kind(|what| matches!(what, What::Message(..)));
    let mut parts = Table::new(["", "begin (ps)", "end (ps)"]);
    for piece in pieces.iter().take(MOST_PARTS) {
        parts.row("", &[piece.what.words(), piece.begin.to_string(), piece.end.to_string()]);
    }
    html! {
        section id="critical" {
            h2 { "Critical path" }
            p {
                "What the end of rank " (last.rank) " waited for: " (share(computing as f64 / whole)) " of the time ranks compute, "
                (share(messages as f64 / whole)) " of it messages are under way."
            }
            (table.end())
            details {
                summary { (counted(pieces.len().min(MOST_PARTS), "part", "parts")) " in order" }
                (parts.end())
                @if pieces.len() > MOST_PARTS { p.note { "The first of " (pieces.len()) "." } }
            }
        }
    }
}

/// The section on the sizes of messages; empty if they are not known.
pub(super) fn sizes(messages: &[Passage]) -> Markup {
    if messages.is_empty() {
        return Markup::default();
    }
    let mut classes: BTreeMap<u32, (u64, u64, u64)> = BTreeMap::new();
    for message in messages {
        let class = classes.entry(u64::BITS - message.bytes.leading_zeros()).or_default();
        let under_way = message.arrived.map_or(0, |arrived| arrived.saturating_sub(message.sent));
        *class = (class.0 + 1, class.1 + message.bytes, class.2 + under_way);
    }
    let mut table = Table::new(["size below (bytes)", "messages", "bytes", "mean time under way (us)"]);
    for (class, (count, bytes, time)) in &classes {
        let below = 1u128 << class;
        let mean = short(*time as f64 * 1e-6 / *count as f64);
        table.row("", &[below.to_string(), count.to_string(), bytes.to_string(), mean]);
    }
    html! { section id="sizes" { h2 { "Sizes of messages" } (table.end()) } }
}

/// The section on the time by call over all ranks; empty if there is none.
pub(super) fn calls(run: &ProgramRun<'_>) -> Markup {
    let mut calls: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
    let (mut computing, mut all) = (0, 0);
    for rank in run.result.ranks.iter().flatten() {
        for (name, count) in &rank.calls {
            calls.entry(name).or_default().0 += count;
        }
        let mut waited: BTreeMap<&str, u64> = BTreeMap::new();
        rank.waits.iter().for_each(|wait| *waited.entry(&wait.call).or_default() += wait.waiting_ps);
        for (name, time) in waited {
            let call = calls.entry(name).or_default();
            *call = (call.0, call.1 + time, call.2.max(time));
        }
        computing += rank.computing_ps;
        all += rank.time_ps;
    }
    if calls.is_empty() || all == 0 {
        return Markup::default();
    }
    let mut sorted: Vec<_> = calls.into_iter().collect();
    sorted.sort_by(|one, other| other.1.1.cmp(&one.1.1).then(one.0.cmp(other.0)));
    let us = |time: u64| short(time as f64 * 1e-6);
    let mut table = Table::new(["", "calls", "waiting, all ranks (us)", "share of time", "most at a rank (us)"]);
    let part = |time: u64| share(time as f64 / all as f64);
    table.row("", &["computing".to_owned(), "-".to_owned(), us(computing), part(computing), "-".to_owned()]);
    for (name, (count, time, most)) in sorted {
        table.row("", &[name.to_owned(), count.to_string(), us(time), part(time), us(most)]);
    }
    html! {
        section id="calls" {
            h2 { "Time by call" }
            (table.end())
            p.note { "Waiting within a call, over all ranks; the share is that of the time of all ranks." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(rank: u32, doing: Doing, begin: u64, end: u64) -> Span {
        let name = if doing == Doing::Waiting { "MPI_Recv" } else { "" };
        Span { rank, doing, name: name.to_owned(), begin, end }
    }

    fn passage(from: u32, to: u32, sent: u64, arrived: u64) -> Passage {
        Passage { from, to, sent, arrived: Some(arrived), bytes: 8, collective: None }
    }

    #[test]
    fn the_path_leads_from_the_last_end_over_messages_to_the_begin_without_gap() {
        // 1 computes up to 50 and sends; 0 waits for it from 10 on until 70, computes, and sends at 100 to 2, which is
        // last.
        let spans = [
            span(0, Doing::Computing, 0, 10),
            span(0, Doing::Waiting, 10, 70),
            span(0, Doing::Collective, 5, 80),
            span(0, Doing::Computing, 70, 100),
            span(1, Doing::Computing, 0, 50),
            span(2, Doing::Waiting, 0, 130),
            span(2, Doing::Computing, 130, 140),
        ];
        let messages = [passage(1, 0, 50, 70), passage(0, 2, 100, 130), passage(1, 2, 20, 60)];
        let found = path(&spans, &messages, 2, 145);
        let whats: Vec<String> = found.iter().map(|piece| piece.what.words()).collect();
        assert_eq!(
            whats,
            [
                "rank 1 computes",
                "message from rank 1 to rank 0, which waits in MPI_Recv",
                "rank 0 computes",
                "message from rank 0 to rank 2, which waits in MPI_Recv",
                "rank 2 computes",
                "rank 2, between calls"
            ]
        );
        assert_eq!((found[0].begin, found[found.len() - 1].end), (0, 145));
        assert!(found.windows(2).all(|pair| pair[0].end == pair[1].begin));
    }

    #[test]
    fn local_waits_and_ranks_without_spans_end_the_path_too() {
        let spans = [span(0, Doing::Waiting, 4, 9), span(0, Doing::Computing, 9, 12)];
        let found = path(&spans, &[passage(1, 0, 9, 9)], 0, 12);
        let whats: Vec<What> = found.into_iter().map(|piece| piece.what).collect();
        assert_eq!(whats, [What::Other(0), What::Own(0, "MPI_Recv".to_owned()), What::Computing(0)]);
        assert_eq!(path(&[], &[], 3, 5), [Piece { what: What::Other(3), begin: 0, end: 5 }]);
        assert!(path(&[], &[], 3, 0).is_empty());
    }
}
