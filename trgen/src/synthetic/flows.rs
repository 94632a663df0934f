//! Flows: messages of a list, each with its start, whatever happens to the others.
//!
//! # Formats
//! - CSV whose first line names the columns `src`, `dst`, `bytes`, `start` and, optionally, `class` (in any order; also
//!   `source`, `destination`, `size`). Sizes may have a unit (`64kB`, `1MiB`), starts must (`0ns`, `12.5us`), but 0.
//! - The list of HPCC and SimAI: the number of flows, then a line `source destination class port bytes start` for each,
//!   with starts in seconds.
//!
//! `#` begins a comment, and empty lines are skipped.

use crate::clock::Clock;
use crate::message::{Delivery, Message};
use crate::source::{Next, Outbox, SourceError, TrGen};
use crate::units::{self, Cycle, NodeId, parse_span};

/// \[bytes\] The longest flow.
const LONGEST: u64 = 1 << 50;
/// \[ps\] The latest start: eleven days.
const LATEST: u64 = 1_000_000_000_000_000_000;
/// Number of classes.
const CLASSES: u8 = 8;

/// A message of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// The node that sends it.
    pub source: NodeId,
    /// Another node, which receives it.
    pub destination: NodeId,
    /// \[bytes\] Its size, 1 or more.
    pub bytes: u64,
    /// \[ps\] Its start, from the beginning of the run.
    pub start: u64,
    /// Its traffic class, below 8.
    pub class: u8,
}

/// A list that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}{what}", .line.map_or_else(String::new, |line| format!("line {line}: ")))]
pub struct FlowsError {
    /// Number of the line, from 1; `None` if it is about the whole list.
    pub line: Option<usize>,
    /// The fault.
    pub what: String,
    /// The remedy.
    pub remedy: &'static str,
}

/// Reads a list of flows.
///
/// # Errors
/// The first line that cannot be used.
///
/// # Example
/// ```
/// use trgen::synthetic::flows::parse;
///
/// let flows = parse("src,dst,bytes,start\n0,1,64kB,0\n2,1,1000,1.5us\n")?;
/// assert_eq!((flows[0].bytes, flows[1].start), (64_000, 1_500_000));
/// assert_eq!(parse("1\n3 4 3 100 5000 2.000001\n")?[0].start, 2_000_001_000_000);
/// # Ok::<(), trgen::synthetic::flows::FlowsError>(())
/// ```
pub fn parse(text: &str) -> Result<Vec<Flow>, FlowsError> {
    let lines = text.lines().zip(1..).map(|(line, number)| (line.split('#').next().unwrap_or("").trim(), number));
    let mut lines = lines.filter(|(line, _)| !line.is_empty());
    let Some((head, at)) = lines.next() else {
        return Err(FlowsError { line: None, what: "no flows".to_owned(), remedy: "begin with src,dst,bytes,start" });
    };
    let Ok(count) = head.parse::<u64>() else {
        let columns = Columns::of(head, at)?;
        return lines.map(|(line, number)| columns.flow(line, number)).collect();
    };
    let flows: Vec<Flow> = lines.map(|(line, number)| of_hpcc(line, number)).collect::<Result<_, _>>()?;
    if flows.len() as u64 != count {
        let what = format!("{count} flows are announced, and {} follow", flows.len());
        return Err(FlowsError { line: Some(at), what, remedy: "begin with the number of the lines that follow" });
    }
    Ok(flows)
}

/// The positions of the columns of a table.
struct Columns {
    /// Of source, destination, bytes and start.
    of: [usize; 4],
    class: Option<usize>,
    count: usize,
}

impl Columns {
    /// The columns that the first line names.
    fn of(head: &str, line: usize) -> Result<Self, FlowsError> {
        const REMEDY: &str =
            "begin with src,dst,bytes,start and perhaps class, or with the number of flows of an HPCC list";
        let names: Vec<String> = head.split(',').map(|name| name.trim().trim_matches('"').to_lowercase()).collect();
        let known = [&["src", "source"][..], &["dst", "destination"], &["bytes", "size"], &["start"], &["class"]];
        if let Some(other) = names.iter().find(|name| !known.iter().any(|known| known.contains(&name.as_str()))) {
            return Err(FlowsError {
                line: Some(line),
                what: format!("no column is called `{other}`"),
                remedy: REMEDY,
            });
        }
        let find = |known: &[&str]| names.iter().position(|name| known.contains(&name.as_str()));
        let mut of = [0; 4];
        for (at, known) in of.iter_mut().zip(known) {
            let missing = || format!("there is no column `{}`", known[0]);
            *at = find(known).ok_or_else(|| FlowsError { line: Some(line), what: missing(), remedy: REMEDY })?;
        }
        Ok(Self { of, class: find(known[4]), count: names.len() })
    }

    /// The flow of a line.
    fn flow(&self, text: &str, line: usize) -> Result<Flow, FlowsError> {
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        if cells.len() != self.count {
            let what = format!("{} cells in {} columns", cells.len(), self.count);
            return Err(FlowsError { line: Some(line), what, remedy: "one cell in each column" });
        }
        let [source, destination, bytes, start] = self.of.map(|at| cells[at]);
        let start = if start == "0" { Some(0) } else { parse_span(start) };
        let remedy = "a start with its unit, such as 12.5us, below 10^6 s";
        let start = start.ok_or_else(|| not(cells[self.of[3]], "a start", remedy, line))?;
        flow([source, destination, bytes, self.class.map_or("0", |at| cells[at])], start, line)
    }
}

/// The flow of a line of HPCC's list.
fn of_hpcc(text: &str, line: usize) -> Result<Flow, FlowsError> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [source, destination, class, _port, bytes, start] = words[..] else {
        let what = format!("{} words", words.len());
        return Err(FlowsError { line: Some(line), what, remedy: "write source destination class port bytes start" });
    };
    let remedy = "a start in seconds, such as 2.000001, below 10^6";
    let start = parse_span(&format!("{start}s")).ok_or_else(|| not(start, "a start", remedy, line))?;
    flow([source, destination, bytes, class], start, line)
}

/// The error of a word that is not what is expected.
fn not(word: &str, what: &str, remedy: &'static str, line: usize) -> FlowsError {
    FlowsError { line: Some(line), what: format!("`{word}` is not {what}"), remedy }
}

/// The flow of these words: source, destination, bytes, class.
fn flow([source, destination, size, class]: [&str; 4], start: u64, line: usize) -> Result<Flow, FlowsError> {
    let node =
        |word: &str| word.parse::<u32>().map(NodeId).map_err(|_| not(word, "a node", "numbers of nodes, from 0", line));
    let (source, destination) = (node(source)?, node(destination)?);
    if source == destination {
        let what = format!("node {source} sends to itself");
        return Err(FlowsError { line: Some(line), what, remedy: "name two nodes" });
    }
    let remedy = "a size of 1 to 2^50 bytes, such as 1500, 64kB or 1MiB";
    let bytes = bytes(size).ok_or_else(|| not(size, "a size", remedy, line))?;
    let known = class.parse().ok().filter(|&class: &u8| class < CLASSES);
    let class = known.ok_or_else(|| not(class, "a class", "classes 0 to 7", line))?;
    if start > LATEST {
        let what = format!("a start of {start} ps");
        return Err(FlowsError { line: Some(line), what, remedy: "starts up to 10^6 s" });
    }
    Ok(Flow { source, destination, bytes, start, class })
}

/// \[bytes\] A [size](units::bytes) from 1 byte to 2^50; `None` for anything else.
#[must_use]
pub fn bytes(word: &str) -> Option<u64> {
    units::bytes(word).filter(|bytes| (1..=LONGEST).contains(bytes))
}

/// The source of a list of flows. Flows have the numbers of their order in the list as ids; a flow begins in the first
/// cycle that does not begin before its start.
#[derive(Debug)]
pub struct Flows {
    nodes: usize,
    /// Cycle and message, the latest first.
    waiting: Vec<(Cycle, Message)>,
}

impl Flows {
    /// The flows between the first `nodes` nodes, in cycles of this length.
    ///
    /// # Errors
    /// The index of a flow of a node that does not exist.
    pub fn new(flows: &[Flow], nodes: usize, cycle: Clock) -> Result<Self, usize> {
        let is_outside = |flow: &Flow| flow.source.index().max(flow.destination.index()) >= nodes;
        if let Some(outside) = flows.iter().position(is_outside) {
            return Err(outside);
        }
        let message = |(id, flow): (u64, &Flow)| {
            let &Flow { source, destination, bytes, class, start } = flow;
            (cycle.cycle(start), Message { id, source, destination, bytes, class })
        };
        let mut waiting: Vec<(Cycle, Message)> = (0..).zip(flows).map(message).collect();
        waiting.sort_by_key(|&(cycle, message)| std::cmp::Reverse((cycle, message.id)));
        Ok(Self { nodes, waiting })
    }
}

impl TrGen for Flows {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        while let Some((_, message)) = self.waiting.pop_if(|(cycle, _)| *cycle <= now) {
            out.push(message);
        }
        Ok(())
    }

    fn sent(&mut self, _: Cycle, _: &Message) {}

    fn delivered(&mut self, _: Cycle, _: &Delivery) {}

    fn dropped(&mut self, _: Cycle, _: &Message) {}

    fn next(&self) -> Next {
        self.waiting.last().map_or(Next::Done, |&(cycle, _)| Next::At(cycle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_may_have_any_order_and_synonyms() {
        let flow = Flow { source: NodeId(3), destination: NodeId(4), bytes: 65_536, start: 7_000, class: 2 };
        let text = "# a list\n\nstart, class, size, Destination, source\n7ns, 2, 64KiB, 4, 3 # one\n";
        assert_eq!(parse(text).unwrap(), [flow]);
        assert_eq!(parse("src,dst,bytes,start\n").unwrap(), []);
    }

    #[test]
    fn faults_are_named_with_their_line() {
        for (text, fault) in [
            ("", "no flows"),
            ("a,b", "line 1: no column is called `a`"),
            ("src,dst,bytes", "line 1: there is no column `start`"),
            ("src,dst,bytes,start\n0,1,5", "line 2: 3 cells in 4 columns"),
            ("src,dst,bytes,start\n0,1,5,7", "line 2: `7` is not a start"),
            ("src,dst,bytes,start\n0,1,0,0", "line 2: `0` is not a size"),
            ("src,dst,bytes,start\n0,1,5TB,0", "line 2: `5TB` is not a size"),
            ("src,dst,bytes,start\n0,x,5,0", "line 2: `x` is not a node"),
            ("src,dst,bytes,start\n\n1,1,5,0", "line 3: node 1 sends to itself"),
            ("src,dst,bytes,start,class\n1,0,5,0,8", "line 2: `8` is not a class"),
            ("src,dst,bytes,start\n1,0,5,1000001s", "line 2: a start of 1000001000000000000 ps"),
            ("2\n0 1 3 100 5 2.0", "line 1: 2 flows are announced, and 1 follow"),
            ("1\n0 1 3 100 5", "line 2: 5 words"),
            ("1\n0 1 3 100 5 -2", "line 2: `-2` is not a start"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.to_string(), fault, "{text}");
            assert!(!error.remedy.is_empty());
        }
    }

    #[test]
    fn flows_begin_when_they_say_and_in_the_order_of_the_list() {
        let text = "src,dst,bytes,start\n2,0,7,10ps\n0,1,5,0\n1,2,6,10ps\n0,2,8,11ps\n";
        let mut flows = Flows::new(&parse(text).unwrap(), 4, Clock::whole(10)).unwrap();
        let (mut out, mut found) = (Outbox::new(4), Vec::new());
        while let Next::At(cycle) = flows.next() {
            flows.generate(cycle, &mut out).unwrap();
            out.offer(|message| {
                found.push((cycle.0, message.id, message.bytes));
                true
            });
        }
        assert_eq!(found, [(1, 1, 5), (2, 0, 7), (2, 2, 6), (3, 3, 8)]);
        assert_eq!(flows.next(), Next::Done);
        assert_eq!(Flows::new(&parse(text).unwrap(), 2, Clock::whole(10)).unwrap_err(), 0);
    }
}
