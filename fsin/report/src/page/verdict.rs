//! Bottlenecks of a program, in a few lines at the top of the page: slow rank, dead links, the link with the highest
//! load, exposed communication; and the times of its ranks.

use std::collections::BTreeMap;

use super::super::grouped::alike;
use super::super::plot::short;
use super::super::rounded::share;
use super::html::Table;
use fsin_core::words::counted;
use fsin_experiment::result::{Figure, Number, RunResult, TaskRow};
use fsin_experiment::sweep::{Collected, Plan};
use maud::{Markup, html};

/// Maximum number of results with lines of their own: of more, tables compare them.
const MOST_RESULTS: usize = 4;
/// Maximum number of ranks with a row of their own; of more, those that computed longest and waited longest.
const MOST_RANKS: usize = 32;
/// A rank is slow if it computes this many times as long as half of the ranks.
const SLOW: f64 = 1.05;

/// \[ns\] The times of a rank.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Times {
    rank: usize,
    all: f64,
    computing: f64,
    exposed: f64,
}

/// The times of the ranks, as far as they are known.
fn times(result: &RunResult) -> Vec<Times> {
    let number = |number: &Option<Number>| number.map(|number| number.as_f64());
    let of = |(rank, task): (usize, &TaskRow)| {
        let (computing, exposed) = match task {
            TaskRow::OfHost(task) => (number(&task.compute_ns)?, number(&task.exposed_communication_ns)?),
            TaskRow::Replayed(task) => (number(&task.compute_ns)?, number(&task.exposed_communication_ns)?),
        };
        Some(Times { rank, all: computing + exposed, computing, exposed })
    };
    result.per_task.iter().flatten().enumerate().filter_map(of).collect()
}

/// The section on the bottlenecks of each program; empty if there are no programs.
pub(super) fn section(plan: &Plan, collected: &Collected) -> Markup {
    let programs: Vec<_> = collected.rows.iter().filter(|row| row.result.tasks.is_some()).collect();
    let found: Vec<_> = programs
        .iter()
        .map(|row| (plan.points[row.index].values.join(", "), lines(&row.result), times(&row.result)))
        .filter(|(_, lines, _)| !lines.is_empty())
        .collect();
    if found.is_empty() || found.len() > MOST_RESULTS {
        return Markup::default();
    }
    html! {
        section.verdict id="bound" {
            h2 { "What bounds it" }
            @for (values, lines, _) in &found {
                @if !values.is_empty() { h3 { (values) } }
                ul { @for (what, text) in lines { li { strong { (what) ":" } " " (text) } } }
            }
        }
    }
}

/// The lines on a result: the subject and the text of each.
fn lines(result: &RunResult) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    if let (Some(seconds), Some(cycles)) = (result.completion_seconds, result.number(Figure::CompletionCycles)) {
        let bound = result.completion_bound_by.as_ref().zip(result.number(Figure::CompletionBound));
        let by = bound.map_or_else(String::new, |(by, bound)| {
            format!("; bound by its {by}, {} of that time", share(bound / cycles.max(1.0)))
        });
        lines.push(("Completion".to_owned(), format!("after {}{by}.", time(seconds * 1e9))));
    }
    let ranks = times(result);
    let collectives = result.collectives.as_deref().unwrap_or_default();
    lines.extend(slow_ranks(&ranks).or_else(|| set_slow(result)));
    lines.extend(late_rank(collectives));
    if let Some(dead) = result.dead_links.as_ref().filter(|dead| !dead.is_empty()) {
        let some: Vec<&str> = dead.iter().take(4).map(String::as_str).collect();
        let more = if dead.len() > some.len() { format!("; ... ({} in all)", dead.len()) } else { String::new() };
        let what = format!("Dead {}", if dead.len() == 1 { "link" } else { "links" });
        lines.push((what, format!("{}{more}.", some.join("; "))));
    }
    let fullest = collectives.iter().filter_map(|one| Some((one.fullest_link.as_ref()?, one.fullest_link_load?)));
    if let Some((link, load)) = fullest.reduce(|most, one| if one.1 > most.1 { one } else { most }) {
        let text =
            format!("between ranks of a collective: {link}, which carries something {} of the time.", share(load));
        lines.push(("Fullest link".to_owned(), text));
    }
    let all: f64 = ranks.iter().map(|rank| rank.all).sum();
    if let Some(most) = ranks.iter().reduce(|most, one| if one.exposed > most.exposed { one } else { most })
        && all > 0.0
    {
        let exposed: f64 = ranks.iter().map(|rank| rank.exposed).sum();
        let alike = ranks.iter().filter(|rank| rank.exposed >= most.exposed).count() - 1;
        let and = if alike == 0 { String::new() } else { format!(" and {alike} more") };
        let text = format!(
            "takes {} of the time of the ranks, in the mean; most at rank {}{and}, {} of {}.",
            share(exposed / all),
            most.rank,
            time(most.exposed),
            time(most.all)
        );
        lines.push(("Exposed communication".to_owned(), text));
    }
    lines
}

/// The ranks that compute longer than the median rank.
fn slow_ranks(ranks: &[Times]) -> Option<(String, String)> {
    let mut computing: Vec<f64> = ranks.iter().map(|rank| rank.computing).collect();
    computing.sort_by(f64::total_cmp);
    let median = *computing.get(computing.len() / 2)?;
    let mut slow: Vec<&Times> = ranks.iter().filter(|rank| median > 0.0 && rank.computing > SLOW * median).collect();
    // If many ranks exceed the median, the load is uneven and no single rank is slow.
    if slow.is_empty() || 4 * slow.len() > ranks.len() {
        return None;
    }
    slow.sort_by(|one, other| other.computing.total_cmp(&one.computing).then(one.rank.cmp(&other.rank)));
    let named: Vec<String> = slow
        .iter()
        .take(4)
        .map(|rank| {
            format!(
                "rank {} computes for {}, {} times as long as the median rank",
                rank.rank,
                time(rank.computing),
                short(rank.computing / median)
            )
        })
        .collect();
    let more = if slow.len() > 4 { format!("; and {} more", slow.len() - 4) } else { String::new() };
    let what = if slow.len() == 1 { "Slow rank" } else { "Slow ranks" };
    Some((what.to_owned(), format!("{}{more}.", named.join("; "))))
}

/// The ranks that the setting `slow` names, if their times do not stand out.
fn set_slow(result: &RunResult) -> Option<(String, String)> {
    let words = result.experiment.get("slow")?.as_str().filter(|words| !words.is_empty())?;
    let one = |word: &str| {
        let (ranks, factor) = word.trim().strip_prefix("rank:")?.split_once('x')?;
        let (noun, verb) = if ranks.contains('-') { ("ranks", "compute") } else { ("rank", "computes") };
        Some(format!("{noun} {ranks} {verb} {factor} times as long as without the setting `slow`"))
    };
    let named: Vec<String> = words.split(',').filter_map(one).collect();
    let what = if named.len() == 1 && !words.contains('-') { "Slow rank" } else { "Slow ranks" };
    (!named.is_empty()).then(|| (what.to_owned(), format!("{}.", named.join("; "))))
}

/// The rank for which the others wait longest when collectives begin.
fn late_rank(collectives: &[fsin_experiment::result::CollectiveTimes]) -> Option<(String, String)> {
    let mut late: BTreeMap<u64, (u64, f64)> = BTreeMap::new();
    for (&rank, &(count, waited)) in alike(collectives, false).iter().flat_map(|one| &one.late) {
        let of_rank = late.entry(rank).or_default();
        *of_rank = (of_rank.0 + count, of_rank.1 + waited);
    }
    let (rank, (count, waited)) = late.into_iter().reduce(|most, one| if one.1.1 > most.1.1 { one } else { most })?;
    let text = format!(
        "rank {rank} begins last in {} of {}; the first rank waits {} for it, all together.",
        count,
        counted(collectives.len(), "collective", "collectives"),
        time(waited)
    );
    Some(("Late rank".to_owned(), text))
}

/// A time \[ns\] in a suitable unit.
pub(super) fn time(ns: f64) -> String {
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    let (unit, size) = units.into_iter().rfind(|&(_, size)| ns >= size).unwrap_or(units[0]);
    format!("{} {unit}", short(ns / size))
}

/// The section on the times of ranks; empty if they are not known, or for more than [`MOST_RESULTS`] results.
pub(super) fn ranks(plan: &Plan, collected: &Collected) -> Markup {
    let found: Vec<_> = collected
        .rows
        .iter()
        .map(|row| (plan.points[row.index].values.join(", "), times(&row.result)))
        .filter(|(_, times)| !times.is_empty())
        .collect();
    if found.is_empty() || found.len() > MOST_RESULTS {
        return Markup::default();
    }
    html! {
        section id="ranks" {
            h2 { "Time by rank" }
            p.note {
                span.key.computing {} " computing " span.key.exposed {} " exposed communication: what no computation hides, waiting included"
            }
            @for (values, times) in &found {
                @if !values.is_empty() { h3 { (values) } }
                (bars(times))
            }
        }
    }
}

/// A bar and the numbers of each rank.
fn bars(times: &[Times]) -> Markup {
    let longest = times.iter().map(|rank| rank.all).fold(0.0, f64::max);
    let mut shown: Vec<&Times> = times.iter().collect();
    if shown.len() > MOST_RANKS {
        shown.sort_by(|one, other| other.computing.max(other.exposed).total_cmp(&one.computing.max(one.exposed)));
        shown.truncate(MOST_RANKS);
        shown.sort_by_key(|rank| rank.rank);
    }
    let us = |ns: f64| short(ns * 1e-3);
    let width = |ns: f64| format!("width:{:.2}%", if longest > 0.0 { 100.0 * ns / longest } else { 0.0 });
    let mut table = Table::new(["rank", "", "computing (us)", "exposed (us)", "exposed"]);
    for rank in &shown {
        let bar = html! {
            div.times title={ "rank " (rank.rank) } {
                span.computing style=(width(rank.computing)) {}
                span.exposed style=(width(rank.exposed)) {}
            }
        };
        let part = if rank.all > 0.0 { rank.exposed / rank.all } else { 0.0 };
        let cell = |text: String| html! { (text) };
        table.drawn([
            cell(rank.rank.to_string()),
            bar,
            cell(us(rank.computing)),
            cell(us(rank.exposed)),
            cell(share(part)),
        ]);
    }
    html! {
        (table.end())
        @if shown.len() < times.len() {
            p.note { "The " (shown.len()) " ranks of " (times.len()) " that compute or wait longest." }
        }
    }
}

#[cfg(test)]
mod tests {
    use fsin_experiment::result::ReplayedTask;

    use super::*;

    fn result(computing: &[u64]) -> RunResult {
        let task = |&computing: &u64| {
            let (compute_ns, exposed_communication_ns) = (Some(computing.into()), Some((4000 - computing).into()));
            TaskRow::Replayed(ReplayedTask { compute_ns, exposed_communication_ns, ..ReplayedTask::default() })
        };
        let mut result = RunResult::default();
        result.tasks = Some(computing.len() as u64);
        result.per_task = Some(computing.iter().map(task).collect());
        result.dead_links = Some(vec!["16 port 0 - 20 port 4".to_owned()]);
        result
    }

    #[test]
    fn the_slow_rank_and_the_dead_link_are_named() {
        let found = lines(&result(&[1000, 1000, 1000, 2000, 1000]));
        let named = |what: &str| found.iter().find(|(known, _)| known == what).map(|(_, text)| text.as_str());
        assert_eq!(named("Slow rank"), Some("rank 3 computes for 2 us, 2 times as long as the median rank."));
        assert_eq!(named("Dead link"), Some("16 port 0 - 20 port 4."));
        assert_eq!(
            named("Exposed communication"),
            Some("takes 70.0 % of the time of the ranks, in the mean; most at rank 0 and 3 more, 3 us of 4 us.")
        );
        assert_eq!(named("Late rank"), None);
        // Where all ranks differ, the setting says which are slow.
        let mut uneven = result(&[1000, 2000, 3000, 3100, 1200]);
        uneven.experiment.insert("slow".to_owned(), "rank:3x1.2,rank:0-1x2".into());
        let found = lines(&uneven);
        let said = "rank 3 computes 1.2 times as long as without the setting `slow`; ranks 0-1 compute 2 times as long as \
                    without the setting `slow`.";
        assert!(found.contains(&("Slow ranks".to_owned(), said.to_owned())), "{found:?}");
        // Ranks of two kinds are no slow ranks, and one that computes as long as others is none.
        for even in [&[1000, 2000, 1000, 2000][..], &[1000, 1000, 1000]] {
            assert!(lines(&result(even)).iter().all(|(what, _)| !what.starts_with("Slow")));
        }
    }
}
