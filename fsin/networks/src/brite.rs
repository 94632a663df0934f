//! BRITE: `Topology: ( 20 Nodes, 37 Edges )`, the nodes with their places, and edges with length, delay and bandwidth.
//!
//! Format: Medina, Lakhina, Matta, Byers, BRITE: universal topology generation from a user's perspective, user manual,
//! 2001: an edge is `id from to length delay bandwidth as-from as-to type [direction]`, delays in ms and bandwidths in
//! Mb/s; of two levels, nodes and edges of both stand in one list.

use std::collections::HashSet;

use trgen::catalog::{ErrorKind, SpecError};

use super::lines::{number, words};
use super::{Builder, head, implied, malformed, word};
use fsin_core::topology::graph::{Graph, Reading, Word, refusal, short};

const FORM: &str = "write what BRITE gives: `Topology: ( 2 Nodes, 1 Edges )`, `Nodes: (2)`, a line `id x y in out as type` for each, `Edges: (1)`, and \
                    a line `id from to length delay bandwidth as as type direction` for each";

/// True for a text that begins with `Topology: (`.
pub(crate) fn begins(text: &str) -> bool {
    head(text).strip_prefix("Topology:").is_some_and(|rest| rest.trim_start().starts_with('('))
}

/// The numbers between brackets of a line.
fn counts(line: &[Word<'_>]) -> Vec<usize> {
    let text: Vec<&str> = line.iter().map(|word| &*word.text).collect();
    text.join(" ").split(|letter: char| !letter.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
}

/// The statements of a file.
pub(crate) fn parse<'a>(text: &'a str, of: &Reading<'_>) -> Result<Graph<'a>, SpecError> {
    let places = &of.places;
    let lines: Vec<Vec<Word<'a>>> = words(text).collect();
    let is = |line: &[Word<'_>], name: &str| {
        line.first().is_some_and(|word| word.text.trim_end_matches(':').eq_ignore_ascii_case(name))
    };
    let section = |name: &str| {
        lines
            .iter()
            .skip(1)
            .position(|line| is(line, name))
            .map(|at| at + 1)
            .ok_or_else(|| malformed(places, text.len(), format!("no `{name}:`"), FORM))
    };
    let (of_nodes, of_edges) = (section("Nodes")?, section("Edges")?);
    let stated = lines.first().map_or_else(Vec::new, |line| counts(line));
    let rows = |at: usize, name: &str, stated: Option<usize>| -> Result<&[Vec<Word<'a>>], SpecError> {
        let head = &lines[at];
        let count = counts(head)
            .first()
            .copied()
            .or(stated)
            .ok_or_else(|| malformed(places, head[0].at, "how many are missing", FORM))?;
        let rows = lines[at + 1..].get(..count).unwrap_or(&lines[at + 1..]);
        let whole = rows.iter().position(|line| line[0].text.parse::<u64>().is_err()).unwrap_or(rows.len());
        if whole < count || stated.is_some_and(|stated| stated != count) {
            let what = format!(
                "{whole} {name} are listed where the file says {}",
                stated.filter(|stated| *stated != count).unwrap_or(count)
            );
            return Err(malformed(places, head[0].at, what, "the file ends too early, or counts more than it has"));
        }
        Ok(rows)
    };
    let mut builder = Builder::default();
    let mut known: HashSet<&str> = HashSet::new();
    for row in rows(of_nodes, "nodes", stated.first().copied())? {
        builder.node(row[0].clone(), Vec::new());
        known.insert(&row[0].text);
    }
    let edges = rows(of_edges, "edges", stated.get(1).copied())?;
    for row in edges {
        let [_, from, to, _length, delay, bandwidth, ..] = &row[..] else {
            return Err(malformed(places, row[0].at, "an edge lacks its delay or bandwidth", FORM));
        };
        if let Some(end) = [from, to].into_iter().find(|end| !known.contains(&*end.text)) {
            let what = format!("an edge names node {}, which is not there", short(&end.text));
            return Err(refusal(places, end.at, ErrorKind::UnknownName, what, FORM));
        }
        let (time, rate): (f64, f64) =
            (number(places, delay, "a delay", FORM)?, number(places, bandwidth, "a bandwidth", FORM)?);
        let mut attributes = Vec::new();
        // -1 stands for what was not assigned.
        if rate > 0.0 {
            attributes.push(implied("rate", format!("{}b/s", (rate * 1e6).round()), bandwidth.at));
        }
        if time >= 0.0 {
            attributes.push(implied("delay", format!("{}ms", delay.text), delay.at));
        }
        let is_directed = row.last().is_some_and(|word| word.text == "D");
        builder.edge([word(from.text.clone(), from.at), word(to.text.clone(), to.at)], is_directed, attributes);
    }
    of.unit("rates in Mb/s, delays in ms (BRITE's manual)".to_owned());
    for column in ["x, y, degrees, AS and type of nodes", "length, AS and type of edges"] {
        of.decorated(column);
    }
    Ok(builder.graph())
}
