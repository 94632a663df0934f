//! BRITE: `Topology: ( 20 Nodes, 37 Edges )`, the nodes with their places, and edges with length, delay and bandwidth.
//!
//! Format: Medina, Lakhina, Matta, Byers, BRITE: universal topology generation from a user's perspective, user manual,
//! 2001: an edge is `id from to length delay bandwidth as-from as-to type [direction]`, delays in ms and bandwidths in
//! Mb/s; of two levels, nodes and edges of both stand in one list.

use trgen::catalog::{ErrorKind, SpecError};

use super::lines::number;
use super::{head, implied, malformed, word};
use fsin_core::topology::graph::{Description, refusal, short, words_of};

const FORM: &str = "write what BRITE gives: `Topology: ( 2 Nodes, 1 Edges )`, `Nodes: (2)`, a line `id x y in out as type` for each, `Edges: (1)`, and \
                    a line `id from to length delay bandwidth as as type direction` for each";

/// True for a text that begins with `Topology: (`.
pub(crate) fn begins(text: &str) -> bool {
    head(text).strip_prefix("Topology:").is_some_and(|rest| rest.trim_start().starts_with('('))
}

/// A line that is not empty: where it begins and ends.
#[derive(Clone, Copy)]
struct Line {
    begin: u32,
    end: u32,
}

impl Line {
    /// Without the remark.
    fn code(self, text: &str) -> &str {
        text.get(self.begin as usize..self.end as usize).unwrap_or("").split('#').next().unwrap_or("")
    }

    /// \[bytes\] Where its first word stands.
    fn at(self, text: &str) -> usize {
        let code = self.code(text);
        self.begin as usize + code.len() - code.trim_start().len()
    }

    fn first(self, text: &str) -> &str {
        self.code(text).split_whitespace().next().unwrap_or("")
    }

    /// The numbers between its brackets.
    fn counts(self, text: &str) -> Vec<usize> {
        let numbers = self.code(text).split(|letter: char| !letter.is_ascii_digit());
        numbers.filter_map(|word| word.parse().ok()).take(8).collect()
    }
}

/// The lines of a text that are not empty.
fn lines_of(text: &str) -> Vec<Line> {
    let (mut lines, mut begin) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let new = Line { begin, end: begin + line.len() as u32 };
        begin = new.end;
        if !new.first(text).is_empty() {
            lines.push(new);
        }
    }
    lines
}

/// States a file.
pub(crate) fn parse(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    let of = to.reading();
    let places = &of.places;
    let lines = lines_of(text);
    let is = |line: &Line, name: &str| line.first(text).trim_end_matches(':').eq_ignore_ascii_case(name);
    let section = |name: &str| {
        lines
            .iter()
            .skip(1)
            .position(|line| is(line, name))
            .map(|at| at + 1)
            .ok_or_else(|| malformed(places, text.len(), format!("no `{name}:`"), FORM))
    };
    let (of_nodes, of_edges) = (section("Nodes")?, section("Edges")?);
    let stated = lines.first().map_or_else(Vec::new, |line| line.counts(text));
    let rows = |at: usize, name: &str, stated: Option<usize>| -> Result<&[Line], SpecError> {
        let head = lines[at];
        let count = head
            .counts(text)
            .first()
            .copied()
            .or(stated)
            .ok_or_else(|| malformed(places, head.at(text), "how many are missing", FORM))?;
        let rows = lines[at + 1..].get(..count).unwrap_or(&lines[at + 1..]);
        let whole = rows.iter().position(|line| line.first(text).parse::<u64>().is_err()).unwrap_or(rows.len());
        if whole < count || stated.is_some_and(|stated| stated != count) {
            let what = format!(
                "{whole} {name} are listed where the file says {}",
                stated.filter(|stated| *stated != count).unwrap_or(count)
            );
            let remedy = "the file ends too early, or counts more than it has";
            return Err(malformed(places, head.at(text), what, remedy));
        }
        Ok(rows)
    };
    for row in rows(of_nodes, "nodes", stated.first().copied())? {
        to.node(&word(row.first(text), row.at(text)), &[])?;
    }
    for row in rows(of_edges, "edges", stated.get(1).copied())? {
        let line = text.get(row.begin as usize..row.end as usize).unwrap_or("");
        let row = words_of(line, row.begin as usize);
        let [_, from, there, _length, delay, bandwidth, ..] = &row[..] else {
            return Err(malformed(places, row[0].at, "an edge lacks its delay or bandwidth", FORM));
        };
        if let Some(end) = [from, there].into_iter().find(|end| to.number_of(&end.text).is_none()) {
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
        to.edge([from, there], is_directed, &attributes)?;
    }
    of.unit("rates in Mb/s, delays in ms (BRITE's manual)".to_owned());
    for column in ["x, y, degrees, AS and type of nodes", "length, AS and type of edges"] {
        of.decorated(column);
    }
    Ok(())
}
