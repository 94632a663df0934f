//! Lists of flows as texts.

use super::{Flow, FlowsError, LATEST, LONGEST, List, htsim};
use crate::units::{self, NodeId, parse_span};

/// Number of classes.
const CLASSES: u8 = 8;

/// How a list is read.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The node of a word; the reason why it is none. Numbers from 0 where the network says nothing else.
    pub node: &'a dyn Fn(&str) -> Result<NodeId, String>,
    /// \[ps\] What starts of htsim's lists count, which the programs read differently; `None` if that is not said.
    pub cm_unit: Option<u64>,
    /// True to take all flows as class 0, whatever the list says.
    pub ignores_classes: bool,
}

impl Default for Reading<'_> {
    fn default() -> Self {
        Self { node: &by_number, cm_unit: None, ignores_classes: false }
    }
}

/// The node of a number.
fn by_number(word: &str) -> Result<NodeId, String> {
    word.parse::<u32>().map(NodeId).map_err(|_| format!("`{}` is not a node", short(word)))
}

/// Reads a list of flows between nodes that have numbers.
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
    read(text, &Reading::default()).map(|list| list.flows)
}

/// Reads a list of flows.
///
/// # Errors
/// The first line that cannot be used.
pub fn read(text: &str, of: &Reading<'_>) -> Result<List, FlowsError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().zip(1..).map(|(line, number)| (line.split('#').next().unwrap_or("").trim(), number));
    let mut lines = lines.filter(|(line, _)| !line.is_empty());
    let Some((head, at)) = lines.next() else {
        return Err(FlowsError { line: None, what: "no flows".to_owned(), remedy: "begin with src,dst,bytes,start" });
    };
    if htsim::begins(head) {
        return htsim::read(std::iter::once((head, at)).chain(lines), of);
    }
    let list = |format, flows| List { format, flows, ..List::default() };
    let Ok(count) = head.parse::<u64>() else {
        let words = head.split_whitespace().count();
        if !head.contains(',') && (3..=4).contains(&words) {
            let flows = std::iter::once((head, at)).chain(lines).map(|(line, number)| plain(line, number, of));
            return Ok(list("lines of source, destination, bytes and start", flows.collect::<Result<_, _>>()?));
        }
        let columns = Columns::of(head, at)?;
        let flows = lines.map(|(line, number)| columns.flow(line, number, of)).collect::<Result<_, _>>()?;
        return Ok(list("CSV", flows));
    };
    let mut flows = Vec::new();
    while (flows.len() as u64) < count {
        let too_few = |behind: &str| {
            let what = format!("{count} flows are announced, and {} {behind}", flows.len());
            let remedy = "the file ends too early: begin with the number of the lines that follow";
            FlowsError { line: Some(at), what, remedy }
        };
        let Some((line, number)) = lines.next() else { return Err(too_few("follow")) };
        // Text, where a flow has four numbers at least.
        if line.split_whitespace().all(|word| word.parse::<f64>().is_err()) {
            let one = if flows.len() == 1 { "stands" } else { "stand" };
            return Err(too_few(&format!("{one} before line {number}, `{}`", short(line))));
        }
        flows.push(of_ns3(line, number, of)?);
    }
    let mut list = list("a list of ns-3", flows);
    list.notes.extend(behind(lines));
    Ok(list)
}

/// What stands behind the last flow, in a sentence.
pub(super) fn behind<'t>(mut lines: impl Iterator<Item = (&'t str, usize)>) -> Option<String> {
    let (first, at) = lines.next()?;
    let more = lines.count() + 1;
    let (lines, are) = if more == 1 { ("line", "is") } else { ("lines", "are") };
    Some(format!("{more} {lines} behind the last flow {are} left out, from line {at} on: `{}`", short(first)))
}

/// The flow of a line `source destination bytes [start]`.
fn plain(text: &str, line: usize, of: &Reading<'_>) -> Result<Flow, FlowsError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (source, destination, bytes, start) = match words[..] {
        [source, destination, bytes] => (source, destination, bytes, "0"),
        [source, destination, bytes, start] => (source, destination, bytes, start),
        _ => {
            let what = format!("{} words", words.len());
            return Err(FlowsError {
                line: Some(line),
                what,
                remedy: "write source, destination, bytes and perhaps a start",
            });
        }
    };
    let time = if start == "0" { Some(0) } else { parse_span(start) };
    let time =
        time.ok_or_else(|| not(start, "a start", "a start with its unit, such as 12.5us, below 10^6 s", line))?;
    flow([source, destination, bytes, "0"], time, line, of)
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
        const REMEDY: &str = "begin with src,dst,bytes,start and perhaps class, or with the number of flows of a list of ns-3, or with Nodes and Connections of htsim";
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
    fn flow(&self, text: &str, line: usize, of: &Reading<'_>) -> Result<Flow, FlowsError> {
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        if cells.len() != self.count {
            let what = format!("{} cells in {} columns", cells.len(), self.count);
            return Err(FlowsError { line: Some(line), what, remedy: "one cell in each column" });
        }
        let [source, destination, bytes, start] = self.of.map(|at| cells[at]);
        let start = if start == "0" { Some(0) } else { parse_span(start) };
        let remedy = "a start with its unit, such as 12.5us, below 10^6 s";
        let start = start.ok_or_else(|| not(cells[self.of[3]], "a start", remedy, line))?;
        flow([source, destination, bytes, self.class.map_or("0", |at| cells[at])], start, line, of)
    }
}

/// The flow of a line of a list of ns-3, with or without a port.
fn of_ns3(text: &str, line: usize, of: &Reading<'_>) -> Result<Flow, FlowsError> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [source, destination, class, _port, bytes, start] = words[..] else {
        let what = format!("{} words", words.len());
        return Err(FlowsError { line: Some(line), what, remedy: "write source destination class port bytes start" });
    };
    let remedy = "a start in seconds, such as 2.000001, below 10^6";
    let start = parse_span(&format!("{start}s")).ok_or_else(|| not(start, "a start", remedy, line))?;
    if self::bytes(bytes).is_none() && parse_span(&format!("{bytes}s")).is_some() {
        let what = format!("`{}` is not a size: packets, start and end, as in lists of ns3-rdma", short(bytes));
        let remedy = "write source destination class port bytes start, with the bytes of all packets";
        return Err(FlowsError { line: Some(line), what, remedy });
    }
    flow([source, destination, bytes, class], start, line, of)
}

/// The error of a word that is not what is expected.
pub(super) fn not(word: &str, what: &str, remedy: &'static str, line: usize) -> FlowsError {
    FlowsError { line: Some(line), what: format!("`{}` is not {what}", short(word)), remedy }
}

/// The part of a text that an error shows.
pub(super) fn short(text: &str) -> String {
    text.chars().take(60).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// Both nodes of a flow.
pub(super) fn ends(words: [&str; 2], line: usize, of: &Reading<'_>) -> Result<[NodeId; 2], FlowsError> {
    let remedy = "name hosts of the network, or write their numbers, from 0";
    let node = |word: &str| (of.node)(word).map_err(|what| FlowsError { line: Some(line), what, remedy });
    let [source, destination] = [node(words[0])?, node(words[1])?];
    if source == destination {
        let what = format!("node {} sends to itself", short(words[0]));
        return Err(FlowsError { line: Some(line), what, remedy: "name two nodes" });
    }
    Ok([source, destination])
}

/// The class of a flow.
pub(super) fn class(word: &str, line: usize, of: &Reading<'_>) -> Result<u8, FlowsError> {
    if of.ignores_classes {
        return Ok(0);
    }
    let known = word.parse().ok().filter(|&class: &u8| class < CLASSES);
    known.ok_or_else(|| not(word, "a class", "classes 0 to 7, or read the list without them: FILE,ignore=class", line))
}

/// The flow of these words: source, destination, bytes, class.
fn flow(
    [source, destination, size, of_class]: [&str; 4],
    start: u64,
    line: usize,
    of: &Reading<'_>,
) -> Result<Flow, FlowsError> {
    let [source, destination] = ends([source, destination], line, of)?;
    let remedy = "a size of 1 to 2^50 bytes, such as 1500, 64kB or 1MiB";
    let bytes = bytes(size).ok_or_else(|| not(size, "a size", remedy, line))?;
    let class = class(of_class, line, of)?;
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
