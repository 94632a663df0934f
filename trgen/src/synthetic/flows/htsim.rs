//! Connection matrices of htsim (`.cm`): flows, and triggers by which some wait for others.
//!
//! `Nodes N`, `Connections n`, perhaps `Triggers t` and `Failures f`; then a line for each: `A->B [id N] [msg [N]] (start T
//! | trigger N) size BYTES [send_done_trigger N] [recv_done_trigger N] [prio N]`, `trigger id N (oneshot | multishot |
//! barrier count M)`, `failure ...`. What follows is text. htsim's programs count starts in microseconds or in
//! picoseconds; the reader must be told.
//!
//! A size of 0 is a flow without end in htsim; here it is a message without bytes, and a note says so.
//!
//! Decisions: docs/decisions/0521-what-a-source-knows.md, docs/decisions/0531-lists-that-are-too-short.md.

use std::collections::HashMap;

use super::read::{Reading, behind, class, ends, not, short};
use super::{Flow, FlowsError, LATEST, LONGEST, Links, List, Trigger};

/// The name of the format.
pub(super) const FORMAT: &str = "a connection matrix of htsim (.cm)";

const FORM: &str = "write Nodes, Connections, then for each flow `0->1 id 1 start 0 size 2000000`, and for each trigger `trigger id 1 oneshot`";

/// True for the first line of such a list.
pub(super) fn begins(head: &str) -> bool {
    let mut words = head.split_whitespace();
    words.next().is_some_and(|word| word.eq_ignore_ascii_case("nodes"))
        && words.next().is_some_and(|word| word.parse::<u64>().is_ok())
}

/// The list of these lines, each with its number.
pub(super) fn read<'t>(lines: impl Iterator<Item = (&'t str, usize)>, of: &Reading<'_>) -> Result<List, FlowsError> {
    let mut lines = lines.peekable();
    let error = |line, what: String, remedy| FlowsError { line: Some(line), what, remedy };
    // Nodes, connections, triggers, failures.
    const COUNTS: [&str; 4] = ["nodes", "connections", "triggers", "failures"];
    let mut counts: [Option<u64>; 4] = [None; 4];
    let mut last = 1;
    while let Some(&(text, line)) = lines.peek() {
        let words: Vec<&str> = text.split_whitespace().collect();
        let Some(which) = COUNTS.iter().position(|count| words[0].eq_ignore_ascii_case(count)) else { break };
        let number = words.get(1).and_then(|word| word.parse().ok()).filter(|_| words.len() == 2);
        let number = number.ok_or_else(|| not(text, "a count", FORM, line))?;
        if counts[which].replace(number).is_some() {
            return Err(error(line, format!("{} stands twice", short(words[0])), "give it once"));
        }
        last = line;
        lines.next();
    }
    let [Some(nodes), Some(connections), triggers, failures] = counts else {
        return Err(error(last, "Nodes or Connections is missing".to_owned(), FORM));
    };
    if failures.unwrap_or(0) > 0 {
        return Err(error(last, "failures in a list of flows".to_owned(), "failures are a setting of the run: fail"));
    }
    let mut list = List { format: FORMAT, ..List::default() };
    let mut triggers_by_id: HashMap<u64, (u32, usize)> = HashMap::new();
    // Ids of triggers, as flows name them, with the line.
    let mut named: Vec<[Option<u64>; 3]> = Vec::new();
    let mut at: Vec<usize> = Vec::new();
    let (mut flows, mut found, mut endless) = (0_u64, 0_u64, 0_u64);
    while flows < connections || found < triggers.unwrap_or(0) {
        // Fewer than announced: the list ends, or text or a flow too many stands where the rest should.
        let too_few = |behind: &str| {
            let what = format!(
                "{connections} connections and {} triggers are announced, and {flows} and {found} {behind}",
                triggers.unwrap_or(0)
            );
            let remedy = "the file ends too early, counts more than it has, or a line of it is none such as `0->1 id 1 start 0 size 2000000`";
            error(last, what, remedy)
        };
        let Some((text, line)) = lines.next() else { return Err(too_few("follow")) };
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_trigger = words[0].eq_ignore_ascii_case("trigger");
        if !(is_trigger || words[0].contains("->") && flows < connections) {
            return Err(too_few(&format!("stand before line {line}, `{}`", short(text))));
        }
        if is_trigger {
            let (id, trigger) = trigger(&words).ok_or_else(|| not(text, "a trigger", FORM, line))?;
            if triggers_by_id.insert(id, (list.triggers.len() as u32, line)).is_some() {
                return Err(error(line, format!("trigger {id} stands twice"), "give it once"));
            }
            list.triggers.push(trigger);
            found += 1;
            continue;
        }
        let (flow, links) = connection(&words, text, line, nodes, of)?;
        endless += u64::from(flow.bytes == 0);
        list.flows.push(flow);
        named.push(links);
        at.push(line);
        flows += 1;
    }
    list.notes.extend(behind(lines));
    if endless > 0 {
        list.notes
            .push(format!("{endless} flows of size 0, which have no end in htsim, are messages without bytes here"));
    }
    if named.iter().flatten().any(Option::is_some) {
        for (links, &line) in named.iter().zip(&at) {
            let known = |id: Option<u64>| {
                id.map(|id| {
                    triggers_by_id.get(&id).map(|&(index, _)| index).ok_or_else(|| {
                        error(
                            line,
                            format!("trigger {id} is none of the list"),
                            "describe each: `trigger id 1 oneshot`",
                        )
                    })
                })
                .transpose()
            };
            list.links.push(Links { after: known(links[0])?, known: known(links[1])?, arrived: known(links[2])? });
        }
    }
    Ok(list)
}

/// A trigger and its id.
fn trigger(words: &[&str]) -> Option<(u64, Trigger)> {
    let [_, id, number, kind, rest @ ..] = words else { return None };
    let number = number.parse().ok().filter(|_| id.eq_ignore_ascii_case("id"))?;
    let kind = match (kind.to_ascii_lowercase().as_str(), rest) {
        ("oneshot", []) => Trigger::Oneshot,
        ("multishot", []) => Trigger::Multishot,
        ("barrier", [name, count]) if name.eq_ignore_ascii_case("count") => {
            Trigger::Barrier(count.parse().ok().filter(|&count: &u32| count > 0)?)
        }
        _ => return None,
    };
    Some((number, kind))
}

/// A flow, and the ids of the triggers that start it, and that it calls when its source knows of its arrival, and when it has arrived.
fn connection(
    words: &[&str],
    text: &str,
    line: usize,
    nodes: u64,
    of: &Reading<'_>,
) -> Result<(Flow, [Option<u64>; 3]), FlowsError> {
    let error = |what: String, remedy| FlowsError { line: Some(line), what, remedy };
    let (source, destination) = words[0].split_once("->").ok_or_else(|| not(text, "a connection", FORM, line))?;
    for word in [source, destination] {
        if word.parse::<u64>().map_or(true, |node| node >= nodes) {
            return Err(error(
                format!("node `{}` where the list says {nodes} nodes", short(word)),
                "number nodes from 0",
            ));
        }
    }
    let [source, destination] = ends([source, destination], line, of)?;
    let (mut start, mut bytes, mut of_class, mut links) = (None, None, None, [None; 3]);
    let mut rest = words[1..].iter().copied().peekable();
    while let Some(key) = rest.next() {
        let name = key.to_ascii_lowercase();
        if name == "msg" {
            // The number may be missing.
            rest.next_if(|word| word.parse::<u64>().is_ok());
            continue;
        }
        let value = rest.next().ok_or_else(|| error(format!("`{}` without its value", short(key)), FORM))?;
        let number = || value.parse::<u64>().map_err(|_| not(value, "a number", FORM, line));
        let is_twice = match name.as_str() {
            "id" | "flowid" => number().map(|_| false)?,
            "start" => start.replace(time(value, line, of)?).is_some(),
            "size" => bytes.replace(number()?).is_some(),
            "prio" => of_class.replace(class(value, line, of)?).is_some(),
            "trigger" => links[0].replace(number()?).is_some(),
            "send_done_trigger" => links[1].replace(number()?).is_some(),
            "recv_done_trigger" => links[2].replace(number()?).is_some(),
            _ => {
                let known = "known: id, msg, start, trigger, size, send_done_trigger, recv_done_trigger, prio";
                return Err(error(format!("unknown `{}` of a connection", short(key)), known));
            }
        };
        if is_twice {
            return Err(error(format!("`{}` stands twice", short(key)), "give it once"));
        }
    }
    let bytes = bytes
        .filter(|&bytes| bytes <= LONGEST)
        .ok_or_else(|| error("a connection without its size".to_owned(), FORM))?;
    match (start, links[0]) {
        (None, None) => {
            return Err(error("a connection without its start".to_owned(), "write `start 0` or `trigger 1`"));
        }
        (Some(start), Some(_)) if start > 0 => {
            return Err(error("a connection with a start and a trigger".to_owned(), "write one of them"));
        }
        _ => {}
    }
    Ok((Flow { source, destination, bytes, start: start.unwrap_or(0), class: of_class.unwrap_or(0) }, links))
}

/// \[ps\] A start.
fn time(word: &str, line: usize, of: &Reading<'_>) -> Result<u64, FlowsError> {
    let remedy = "a start of 0 or more";
    let number = word.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let number = number.ok_or_else(|| not(word, "a start", remedy, line))?;
    let unit = match of.cm_unit {
        Some(unit) => unit,
        None if number == 0.0 => 1,
        None => {
            let what = format!("a start of {}, whose unit the file does not say", short(word));
            let remedy = "say which program it is for: cm-unit us (UEC) or ps (NDP)";
            return Err(FlowsError { line: Some(line), what, remedy });
        }
    };
    let time = number * unit as f64;
    if time > LATEST as f64 {
        return Err(not(word, "a start", "starts up to 10^6 s", line));
    }
    Ok(time.round() as u64)
}
