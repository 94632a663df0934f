//! One run of an MPI program as a self-contained HTML page: times and lower bounds, critical path, time by call,
//! placement, loads of links, timeline, sizes of messages, and who sends to whom.

mod critical;
mod placement;
mod spans;

pub use trgen::trace::timeline::Passage;

use maud::{Markup, PreEscaped, html};
use serde_json::Value;
use trgen::NodeId;
use trgen::trace::timeline::Span;

use super::super::links::{Map, Net, Scale, loads};
use super::super::plot::short;
use super::super::ranks::traffic_picture;
use super::html::Table;
use super::{links, whole};
use fsin_core::topology::Topology;
use fsin_experiment::result::{Figure, RunResult};

/// Maximum number of ranks with a row of their own in the table of times; of more, those that computed or waited
/// longest.
const MOST_ROWS: usize = 64;

/// A run of an MPI program for the page.
#[derive(Clone, Copy, Debug)]
pub struct ProgramRun<'a> {
    /// The program and its network, for the title.
    pub title: &'a str,
    /// The result, with its ranks.
    pub result: &'a RunResult,
    /// The topology of the network, if it has one.
    pub topology: Option<&'a dyn Topology>,
    /// \[nodes\] Number of nodes on which ranks can be.
    pub nodes: usize,
    /// The node of each rank.
    pub places: &'a [NodeId],
    /// What the ranks did over time.
    pub spans: &'a [Span],
    /// The messages between ranks, as far as they were kept.
    pub messages: &'a [Passage],
    /// What bounds the completion, as a sentence; `None` where nothing is known.
    pub binding: Option<&'a str>,
}

/// The HTML page of a run of an MPI program.
#[must_use]
pub fn program_page(run: &ProgramRun<'_>) -> String {
    let net = run.topology.map(Net::of);
    let body = html! {
        header {
            h1 { (run.title) }
            p { (summary(run)) }
        }
        main {
            @if !run.result.warnings.is_empty() {
                section.warnings { h2 { "Warnings" } ul { @for warning in &run.result.warnings { li { (warning) } } } }
            }
            (bounds(run))
            (critical::section(run))
            (critical::calls(run))
            (times(run))
            (placement::section(net.as_ref(), run))
            @if let Some(net) = &net { (link_loads(net, run.result)) }
            (spans::section(run.spans, run.places.len()))
            (critical::sizes(run.messages))
            (traffic(run.result))
            (origin(run.result))
        }
    };
    whole(run.title, body)
}

/// The run in a sentence.
fn summary(run: &ProgramRun<'_>) -> String {
    let messages = run.result.messages.unwrap_or(0);
    let time = run.result.completion_seconds.map_or("it did not end".to_owned(), |time| format!("{} s", short(time)));
    format!("{} ranks, {time} of virtual time, {messages} messages", run.places.len())
}

/// The completion and its lower bounds.
fn bounds(run: &ProgramRun<'_>) -> Markup {
    let result = run.result;
    let (Some(cycles), Some(seconds)) = (result.number(Figure::CompletionCycles), result.completion_seconds) else {
        return Markup::default();
    };
    let each = result.completion_bounds_cycles.clone().unwrap_or_default();
    let named = [
        ("injection", each.injection, "phits of the node that sends most, over its links or interface"),
        ("interface", each.interface, "messages of a node one after another, towards their destinations"),
        ("ejection", each.ejection, "phits of the node that receives most, over its links or ports"),
        ("bisection", each.bisection, "phits that cross a middle of the network, over the links there"),
        ("links", each.links, "all phits times hops of shortest routes, over all links"),
        ("computing", each.computing, "the rank that computes longest"),
    ];
    let mut table = Table::new(["", "cycles", "us", "share of the time", "what needs it"]);
    let mut row = |name: &str, time: f64, about: &str| {
        let share = if cycles > 0.0 { 100.0 * time / cycles } else { 0.0 };
        let us = short(time * 1e6 * seconds / cycles.max(1.0));
        table.row("", &[name.to_owned(), short(time), us, format!("{share:.1} %"), about.to_owned()]);
    };
    row("completion", cycles, "the program");
    for (name, bound, about) in named {
        if let Some(bound) = bound {
            row(name, bound as f64, about);
        }
    }
    html! {
        section id="bounds" {
            h2 { "Time and its lower bounds" }
            (table.end())
            @if let Some(binding) = run.binding { p.note { (super::capital(binding)) "." } }
        }
    }
}

/// The times of ranks.
fn times(run: &ProgramRun<'_>) -> Markup {
    let Some(ranks) = &run.result.ranks else { return Markup::default() };
    let mut shown: Vec<_> = ranks.iter().collect();
    if shown.len() > MOST_ROWS {
        shown.sort_by_key(|rank| std::cmp::Reverse(rank.computing_ps.max(rank.waiting_ps)));
        shown.truncate(MOST_ROWS);
        shown.sort_by_key(|rank| rank.rank);
    }
    let us = |time: u64| short(time as f64 * 1e-6);
    let titles =
        ["rank", "node", "time (us)", "computing (us)", "waiting (us)", "waits most in", "messages", "bytes sent"];
    let mut table = Table::new(titles);
    for rank in &shown {
        let node = run.places.get(rank.rank as usize).map_or("-".to_owned(), ToString::to_string);
        let most = rank.waits.iter().reduce(|most, one| if one.waiting_ps > most.waiting_ps { one } else { most });
        let most = most.map_or("-".to_owned(), |wait| match wait.peer {
            Some(peer) => format!("{}, for rank {peer}", wait.call),
            None => wait.call.clone(),
        });
        let times = [rank.time_ps, rank.computing_ps, rank.waiting_ps].map(us);
        let [time, computing, waiting] = times;
        let sent = [rank.messages_sent, rank.bytes_sent].map(|count| count.to_string());
        let [messages, bytes] = sent;
        table.row("", &[rank.rank.to_string(), node, time, computing, waiting, most, messages, bytes]);
    }
    html! {
        section id="ranks" {
            h2 { "Ranks" }
            (table.end())
            @if shown.len() < ranks.len() {
                p.note { "The " (shown.len()) " ranks of " (ranks.len()) " that computed or waited longest." }
            }
        }
    }
}

/// The loads of links; empty if they were not counted.
fn link_loads(net: &Net, result: &RunResult) -> Markup {
    let Some(loads) = loads(net, result) else { return Markup::default() };
    let scale = Scale::up_to(loads.iter().copied().fold(0.0, f64::max));
    html! {
        section id="links" {
            h2 { "Links" }
            div.map {
                @match Map::of(net) {
                    Some(map) => (links::figure(net, &map, &loads, scale)),
                    None => p.note { "The network is too large to be drawn link by link." },
                }
                (links::classes(net, &loads))
            }
            p.note { "Load of a link: the share of all cycles in which it carries a phit." }
        }
    }
}

/// Who sends how much to whom.
fn traffic(result: &RunResult) -> Markup {
    let Some(svg) = traffic_picture(result) else { return Markup::default() };
    // The page sets the colours of texts and of the paper.
    let svg = svg.replace("#000000", "currentColor").replace("fill=\"#FFFFFF\"", "fill=\"var(--paper)\"");
    html! {
        section id="traffic" {
            h2 { "Who sends to whom" }
            div.map { figure aria-label="Bytes from rank to rank" { (PreEscaped(svg)) figcaption { "Bytes from each rank to each other" } } }
        }
    }
}

/// What is needed to run it again: settings, command, digests.
fn origin(result: &RunResult) -> Markup {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let settings = result.experiment.iter().filter(|(_, value)| !value.is_null());
    let manifest = &result.manifest;
    let facts = [
        ("version", manifest.version.clone()),
        ("commit", manifest.commit.clone()),
        ("run", manifest.start.clone()),
        ("digest", result.digest.clone()),
        ("digest of messages", result.guest_digest.clone()),
        ("command", (!manifest.command.is_empty()).then(|| manifest.command.join(" "))),
    ];
    html! {
        section id="origin" {
            h2 { "Manifest" }
            dl { @for (name, value) in facts { @if let Some(value) = value { dt { (name) } dd { (value) } } } }
            details {
                summary { "Settings" }
                dl { @for (name, value) in settings { dt { (name) } dd { (word(value)) } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use fsin_core::topology::parse;
    use fsin_experiment::result::{RankRow, SentRow};
    use trgen::trace::timeline::Doing;

    use super::*;

    #[test]
    fn a_page_has_every_part_that_there_is_something_to_say_about() {
        let rank = |rank: u64| RankRow {
            rank,
            time_ps: 2_000_000,
            computing_ps: 500_000,
            sent: vec![SentRow { to: 1 - rank, messages: 1, bytes: 64 }],
            ..RankRow::default()
        };
        let mut result = RunResult::default();
        result.ranks = Some(vec![rank(0), rank(1)]);
        (result.completion_cycles, result.completion_seconds) = (Some(625), Some(2e-6));
        let topology = parse("mesh:2x2", 2).unwrap();
        let span = Span { rank: 1, doing: Doing::Waiting, name: "MPI_Recv".to_owned(), begin: 0, end: 2_000_000 };
        let run = ProgramRun {
            title: "a <b>",
            result: &result,
            topology: Some(&*topology),
            nodes: 4,
            places: &[NodeId(3), NodeId(0)],
            spans: &[span],
            messages: &[],
            binding: None,
        };
        let page = program_page(&run);
        for part in ["bounds", "critical", "ranks", "placement", "timeline", "traffic", "origin"] {
            assert!(page.contains(&format!("<section id=\"{part}\"")), "{part}: {page}");
        }
        // Links were not counted, and the title is text.
        assert!(!page.contains("id=\"links\"") && page.contains("a &lt;b&gt;") && !page.contains("<b>"));
        assert!(page.contains("(1,1): rank 0") && page.contains("rank 1: waiting"), "{page}");
        let empty = ProgramRun { result: &RunResult::default(), spans: &[], places: &[], topology: None, ..run };
        assert!(!program_page(&empty).contains("<section id=\"ranks\""));
    }
}
